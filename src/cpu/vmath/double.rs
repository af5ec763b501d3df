//! Numbers of 106 bits as sums of two f64, for the few arguments whose results are small differences. Errors are a few units of 2^-104.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `2^n` for -1023 <= n <= 1023
#[inline(always)]
fn two_to(n: i32) -> f64 {
    if n == -1023 { 0.5 * f64::MIN_POSITIVE } else { f64::from_bits(((n + 1023) as u64) << 52) }
}

/// `high + low`, where `high` is the rounded sum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Double {
    pub high: f64,
    pub low: f64,
}

impl Double {
    pub(super) const ZERO: Double = Double { high: 0.0, low: 0.0 };
    pub(super) const ONE: Double = Double { high: 1.0, low: 0.0 };
    const LN_2: Double = Double { high: std::f64::consts::LN_2, low: 2.319_046_813_846_299_6e-17 };

    /// Returns `a + b` exactly.
    #[inline(always)]
    pub fn sum(a: f64, b: f64) -> Double {
        let high = a + b;
        let part = high - a;
        Double { high, low: (a - (high - part)) + (b - part) }
    }

    /// Returns `a * b` exactly.
    #[inline(always)]
    pub fn product(a: f64, b: f64) -> Double {
        let high = a * b;
        Double { high, low: a.mul_add(b, -high) }
    }

    /// [`Double::sum`] for `|a| >= |b|`.
    #[inline(always)]
    fn ordered(a: f64, b: f64) -> Double {
        let high = a + b;
        Double { high, low: (a - high) + b }
    }

    /// `self^n`
    #[inline(always)]
    pub fn power(mut self, mut n: u64) -> Double {
        let mut r = Double::ONE;
        while n > 1 {
            if n & 1 == 1 {
                r = r * self;
            }
            self = self * self;
            n >>= 1;
        }
        if n == 1 { r * self } else { r }
    }

    /// `self * 2^n` for -1023 <= n <= 1023, exactly unless it is subnormal.
    #[inline(always)]
    pub fn scaled(self, n: i32) -> Double {
        let two = two_to(n);
        Double { high: self.high * two, low: self.low * two }
    }

    /// `e^self` for -1000 < self <= 0
    #[inline(always)]
    pub fn exp(self) -> Double {
        let n = (self.high * std::f64::consts::LOG2_E).round();
        // The series of a sixteenth of the rest needs 17 terms, of which the last ones need only 53 bits.
        let r = (self - Double::LN_2 * n.into()).scaled(-4);
        let end = (11..18).rev().fold(1.0, |end, k| 1.0 + end * r.high / f64::from(k));
        let sum = (1..11).rev().fold(Double::from(end), |sum, k| Double::ONE + sum * r / Double::from(f64::from(k)));
        let sum = sum * sum;
        let sum = sum * sum;
        let sum = sum * sum;
        (sum * sum).scaled(n as i32)
    }

    /// The natural logarithm of a positive normal number.
    #[inline(always)]
    pub fn log(self) -> Double {
        // self = 2^e m, log m = 2 atanh(s) with |s| < 0.18.
        let e = (self.high * std::f64::consts::FRAC_1_SQRT_2).log2().ceil() as i32;
        let m = self.scaled(-e);
        Double::LN_2 * f64::from(e).into() + ((m - Double::ONE) / (m + Double::ONE)).atanh_twice()
    }

    /// `log(1 + self)` for 0 <= self <= 1
    #[inline(always)]
    pub fn log1p(self) -> Double {
        if self.high < 0.4 { (self / (self + 2.0.into())).atanh_twice() } else { (Double::ONE + self).log() }
    }

    /// `2 atanh(self)` for |self| < 0.18
    #[inline(always)]
    fn atanh_twice(self) -> Double {
        let z = self * self;
        // The last terms of the series need only 53 bits.
        let end = (11..22).rev().fold(0.0, |end, k| end * z.high + 1.0 / f64::from(2 * k + 1));
        let sum = (0..11).rev().fold(Double::from(end), |sum, k| sum * z + Double::ONE / Double::from(f64::from(2 * k + 1)));
        self.scaled(1) * sum
    }
}

impl From<f64> for Double {
    #[inline(always)]
    fn from(high: f64) -> Double {
        Double { high, low: 0.0 }
    }
}

impl Neg for Double {
    type Output = Double;
    #[inline(always)]
    fn neg(self) -> Double {
        Double { high: -self.high, low: -self.low }
    }
}

impl Add for Double {
    type Output = Double;
    #[inline(always)]
    fn add(self, b: Double) -> Double {
        let (high, low) = (Double::sum(self.high, b.high), Double::sum(self.low, b.low));
        let high = Double::ordered(high.high, high.low + low.high);
        Double::ordered(high.high, high.low + low.low)
    }
}

impl Sub for Double {
    type Output = Double;
    #[inline(always)]
    fn sub(self, b: Double) -> Double {
        self + -b
    }
}

impl Mul for Double {
    type Output = Double;
    #[inline(always)]
    fn mul(self, b: Double) -> Double {
        let p = Double::product(self.high, b.high);
        Double::ordered(p.high, self.low.mul_add(b.high, self.high.mul_add(b.low, p.low)))
    }
}

impl Div for Double {
    type Output = Double;
    #[inline(always)]
    fn div(self, b: Double) -> Double {
        let q = self.high / b.high;
        let rest = self - b * q.into();
        Double::ordered(q, rest.high / b.high)
    }
}

/// `value * 2^exponent`, which neither overflows nor underflows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scaled {
    value: Double,
    exponent: i64,
}

impl Scaled {
    /// Returns `value * 2^exponent`; the value must be normal.
    #[inline(always)]
    pub fn new(value: Double, exponent: i64) -> Scaled {
        let e = (value.high.to_bits() >> 52 & 0x7ff) as i32 - 1023;
        if value.high == 0.0 {
            Scaled { value, exponent: i64::MIN / 2 }
        } else {
            Scaled { value: value.scaled(-e), exponent: exponent + i64::from(e) }
        }
    }

    /// `self^n`
    #[inline(always)]
    pub fn power(mut self, mut n: u64) -> Scaled {
        let mut r = Scaled { value: Double::ONE, exponent: 0 };
        while n > 0 {
            if n & 1 == 1 {
                r = r * self;
            }
            self = self * self;
            n >>= 1;
        }
        r
    }

    /// Returns the nearest f64, or nearly the nearest if that is subnormal.
    #[inline(always)]
    pub fn to_f64(self) -> f64 {
        let e = self.exponent.clamp(-2000, 2000) as i32;
        (self.value.high + self.value.low) * two_to(e / 2) * two_to(e - e / 2)
    }
}

impl Neg for Scaled {
    type Output = Scaled;
    #[inline(always)]
    fn neg(self) -> Scaled {
        Scaled { value: -self.value, ..self }
    }
}

impl Add for Scaled {
    type Output = Scaled;
    #[inline(always)]
    fn add(self, b: Scaled) -> Scaled {
        let (more, less) = if self.exponent > b.exponent { (self, b) } else { (b, self) };
        let down = more.exponent.saturating_sub(less.exponent).min(1000) as i32;
        Scaled::new(more.value + less.value.scaled(-down), more.exponent)
    }
}

impl Mul for Scaled {
    type Output = Scaled;
    #[inline(always)]
    fn mul(self, b: Scaled) -> Scaled {
        Scaled::new(self.value * b.value, self.exponent.saturating_add(b.exponent))
    }
}

impl Div for Scaled {
    type Output = Scaled;
    #[inline(always)]
    fn div(self, b: Scaled) -> Scaled {
        Scaled::new(self.value / b.value, self.exponent.saturating_sub(b.exponent))
    }
}
