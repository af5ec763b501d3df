//! Arithmetic that integers and floats define differently, under common names for the table of operations.

use super::real::Real;
use super::simd::Isa;
use crate::dtype::{Bool, Element};

/// The numbers: every compute type except Bool.
pub trait Number: Element {
    /// Returns the largest integer that is not greater. Integers are returned unchanged.
    fn floor(self) -> Self;
    /// Returns the smallest integer that is not less. Integers are returned unchanged.
    fn ceil(self) -> Self;
    /// Returns the nearest integer, ties to even. Integers are returned unchanged.
    fn round(self) -> Self;
    /// Returns the nearest integer towards zero. Integers are returned unchanged.
    fn trunc(self) -> Self;
    /// Returns the remainder of truncated division, with the sign of `self`. Integers: `b` must not be 0.
    fn fmod(self, b: Self, isa: Isa) -> Self;
    /// Returns the remainder of floored division, with the sign of `b`. Integers: `b` must not be 0.
    fn remainder(self, b: Self, isa: Isa) -> Self;
    /// Returns the quotient rounded down. Integers: `b` must not be 0.
    fn floor_div(self, b: Self, isa: Isa) -> Self;
    /// Returns the quotient rounded towards zero. Integers: `b` must not be 0.
    fn trunc_div(self, b: Self, isa: Isa) -> Self;
    /// Returns true if the four functions above are inexact for this quotient, so that their slow forms are needed.
    fn quotient_rare(self, b: Self, isa: Isa) -> bool;
    /// [`Number::fmod`] for all arguments.
    fn fmod_slow(self, b: Self, isa: Isa) -> Self;
    /// [`Number::remainder`] for all arguments.
    fn remainder_slow(self, b: Self, isa: Isa) -> Self;
    /// [`Number::floor_div`] for all arguments.
    fn floor_div_slow(self, b: Self, isa: Isa) -> Self;
    /// [`Number::trunc_div`] for all arguments.
    fn trunc_div_slow(self, b: Self, isa: Isa) -> Self;
    /// `self^b`. Integers wrap. With a negative `b` they return 1 divided by the power, rounded towards zero, and 0 for 0.
    fn pow(self, b: Self, isa: Isa) -> Self;
    /// `r[i] = a[i]^b[i]`. An operand with step 0 is one element for all `i`; other steps are 1.
    ///
    /// # Safety
    /// The operands must have `n` elements or one; `r` must be an operand, or overlap none.
    #[inline(always)]
    unsafe fn pow_run(isa: Isa, r: *mut Self, [a, b]: [*const Self; 2], steps: [usize; 2], n: usize) {
        for i in 0..n {
            // SAFETY: the caller keeps this function's contract.
            unsafe { r.add(i).write(a.add(i * steps[0]).read().pow(b.add(i * steps[1]).read(), isa)) }
        }
    }
    /// `self * 2^b`. Integers lose the bits that are shifted out: all bits if `b` is negative or too large.
    fn shl(self, b: Self, isa: Isa) -> Self;
    /// `self / 2^b`, rounded down for integers. All bits are shifted out if `b` is negative or too large.
    fn shr(self, b: Self, isa: Isa) -> Self;
}

/// Exact division of integers as floats. A quotient that is not an integer differs from the next integer by at least the reciprocal of the
/// dividend, which is more than the rounding error. Processors can divide vectors of floats, but not of integers.
trait Divided: Copy {
    /// A float wide enough for the product of quotient and divisor.
    type Float;
    /// Returns true if the number is too large for [`Divided::widen`].
    fn is_wide(self) -> bool;
    /// Returns the number as a float.
    fn widen(self) -> Self::Float;
    /// Converts back. The one quotient that does not fit, the smallest integer divided by -1, wraps.
    fn narrow(x: Self::Float) -> Self;
}

macro_rules! wide {
    ($($t:ident $float:ident)*) => { $(
        impl Divided for $t {
            type Float = $float;
            #[inline(always)]
            fn is_wide(self) -> bool {
                false
            }
            #[inline(always)]
            fn widen(self) -> $float {
                self as $float
            }
            #[inline(always)]
            fn narrow(x: $float) -> $t {
                (f64::from(x) + SHIFT).to_bits() as $t
            }
        }
    )* };
}
wide!(u8 f32 i8 f32 i16 f32 i32 f64);

// After this is added, the low bits of the float64 are an integer of less than 51 bits, in two's complement.
const SHIFT: f64 = 6_755_399_441_055_744.0;

impl Divided for i64 {
    type Float = f64;
    #[inline(always)]
    fn is_wide(self) -> bool {
        self.wrapping_add(1 << 49) as u64 >= 1 << 50
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from_bits(self.wrapping_add(SHIFT.to_bits() as i64) as u64) - SHIFT
    }
    #[inline(always)]
    fn narrow(x: f64) -> i64 {
        ((x + SHIFT).to_bits() as i64).wrapping_sub(SHIFT.to_bits() as i64)
    }
}

macro_rules! integer_number {
    ($($t:ident),*) => { $(
        impl Number for $t {
            #[inline(always)]
            fn floor(self) -> $t {
                self
            }
            #[inline(always)]
            fn ceil(self) -> $t {
                self
            }
            #[inline(always)]
            fn round(self) -> $t {
                self
            }
            #[inline(always)]
            fn trunc(self) -> $t {
                self
            }
            #[inline(always)]
            fn fmod(self, b: $t, _: Isa) -> $t {
                let (a, b) = (self.widen(), b.widen());
                <$t>::narrow(a - (a / b).trunc() * b)
            }
            #[inline(always)]
            fn remainder(self, b: $t, _: Isa) -> $t {
                let (a, b) = (self.widen(), b.widen());
                <$t>::narrow(a - (a / b).floor() * b)
            }
            #[inline(always)]
            fn floor_div(self, b: $t, _: Isa) -> $t {
                <$t>::narrow((self.widen() / b.widen()).floor())
            }
            #[inline(always)]
            fn trunc_div(self, b: $t, _: Isa) -> $t {
                <$t>::narrow((self.widen() / b.widen()).trunc())
            }
            #[inline(always)]
            fn quotient_rare(self, b: $t, _: Isa) -> bool {
                self.is_wide() | b.is_wide()
            }
            #[inline(always)]
            fn fmod_slow(self, b: $t, _: Isa) -> $t {
                self.wrapping_rem(b)
            }
            #[inline(always)]
            fn remainder_slow(self, b: $t, _: Isa) -> $t {
                let rest = self.wrapping_rem(b);
                if rest != 0 && ((rest ^ b) as i64) < 0 { rest.wrapping_add(b) } else { rest }
            }
            #[inline(always)]
            fn floor_div_slow(self, b: $t, _: Isa) -> $t {
                let quotient = self.wrapping_div(b);
                let rest = self.wrapping_sub(quotient.wrapping_mul(b));
                quotient.wrapping_sub((rest != 0 && ((rest ^ b) as i64) < 0) as $t)
            }
            #[inline(always)]
            fn trunc_div_slow(self, b: $t, _: Isa) -> $t {
                self.wrapping_div(b)
            }
            #[inline(always)]
            fn pow(self, b: $t, _: Isa) -> $t {
                let odd = b & 1 == 1;
                if (b as i64) < 0 {
                    let minus_one = (0 as $t).wrapping_sub(1);
                    return if self == 1 || (self == minus_one && !odd) { 1 } else if self == minus_one { minus_one } else { 0 };
                }
                let (mut base, mut left, mut power) = (self, b, 1 as $t);
                while left != 0 {
                    power = if left & 1 == 1 { power.wrapping_mul(base) } else { power };
                    base = base.wrapping_mul(base);
                    left >>= 1;
                }
                power
            }
            #[inline(always)]
            fn shl(self, b: $t, _: Isa) -> $t {
                let inside = (b as u64) < <$t>::BITS as u64;
                if inside { self.wrapping_shl(b as u32) } else { 0 }
            }
            #[inline(always)]
            fn shr(self, b: $t, _: Isa) -> $t {
                let inside = (b as u64) < <$t>::BITS as u64;
                // Shifting by the width minus one leaves only sign bits. For an unsigned number the result is 0.
                let most = self.wrapping_shr(<$t>::BITS - 1);
                if inside { self.wrapping_shr(b as u32) } else if <$t>::MIN == 0 { 0 } else { most }
            }
        }
    )* };
}
integer_number!(u8, i8, i16, i32, i64);

/// A float that can be multiplied by a power of two.
trait Scaled {
    /// `self * 2^n`, even if the power alone would overflow or underflow. 0 and infinity are unchanged for every finite n.
    fn scaled(self, n: Self, isa: Isa) -> Self;
}

impl Scaled for f32 {
    #[inline(always)]
    fn scaled(self, n: f32, isa: Isa) -> f32 {
        // More than the distance from one end of float32's range to the other.
        let n = f64::from(if (n > 400.0) & (n < f32::INFINITY) { 400.0 } else { n });
        let n = if (n < -400.0) & (n > f64::NEG_INFINITY) { -400.0 } else { n };
        (f64::from(self) * Real::exp2(n, isa)) as f32
    }
}

impl Scaled for f64 {
    #[inline(always)]
    fn scaled(self, n: f64, isa: Isa) -> f64 {
        const STEP: f64 = 600.0;
        let (up, down) = (f64::from_bits((1023 + 600) << 52), f64::from_bits((1023 - 600) << 52));
        let n = if (n > 2200.0) & (n < f64::INFINITY) { 2200.0 } else { n };
        let (mut x, mut n) = (self, if (n < -2200.0) & (n > f64::NEG_INFINITY) { -2200.0 } else { n });
        // A step rounds or overflows only if the final result does.
        for _ in 0..2 {
            x *= if n > 1000.0 { up } else { 1.0 };
            x *= if n < -1000.0 { down } else { 1.0 };
            n = if n > 1000.0 {
                n - STEP
            } else if n < -1000.0 {
                n + STEP
            } else {
                n
            };
        }
        x * Real::exp2(n, isa)
    }
}

macro_rules! float_number {
    ($($t:ident)*) => { $(
        impl Number for $t {
            #[inline(always)]
            fn floor(self) -> $t {
                $t::floor(self)
            }
            #[inline(always)]
            fn ceil(self) -> $t {
                $t::ceil(self)
            }
            #[inline(always)]
            fn round(self) -> $t {
                self.round_ties_even()
            }
            #[inline(always)]
            fn trunc(self) -> $t {
                $t::trunc(self)
            }
            #[inline(always)]
            fn fmod(self, b: $t, isa: Isa) -> $t {
                Real::fmod(self, b, isa)
            }
            #[inline(always)]
            fn remainder(self, b: $t, isa: Isa) -> $t {
                Real::remainder(self, b, isa)
            }
            #[inline(always)]
            fn floor_div(self, b: $t, isa: Isa) -> $t {
                Real::floor_div(self, b, isa)
            }
            #[inline(always)]
            fn quotient_rare(self, b: $t, isa: Isa) -> bool {
                Real::quotient_rare(self, b, isa)
            }
            #[inline(always)]
            fn fmod_slow(self, b: $t, isa: Isa) -> $t {
                Real::fmod_slow(self, b, isa)
            }
            #[inline(always)]
            fn remainder_slow(self, b: $t, isa: Isa) -> $t {
                Real::remainder_slow(self, b, isa)
            }
            #[inline(always)]
            fn floor_div_slow(self, b: $t, isa: Isa) -> $t {
                Real::floor_div_slow(self, b, isa)
            }
            #[inline(always)]
            fn trunc_div(self, b: $t, _: Isa) -> $t {
                (self / b).trunc()
            }
            #[inline(always)]
            fn trunc_div_slow(self, b: $t, _: Isa) -> $t {
                (self / b).trunc()
            }
            #[inline(always)]
            fn pow(self, b: $t, isa: Isa) -> $t {
                Real::pow(self, b, isa)
            }
            #[inline(always)]
            unsafe fn pow_run(isa: Isa, r: *mut $t, operands: [*const $t; 2], steps: [usize; 2], n: usize) {
                // SAFETY: the caller keeps this function's contract.
                unsafe { <$t as Real>::pow_run(isa, r, operands, steps, n) }
            }
            #[inline(always)]
            fn shl(self, b: $t, isa: Isa) -> $t {
                <$t>::scaled(self, b, isa)
            }
            #[inline(always)]
            fn shr(self, b: $t, isa: Isa) -> $t {
                <$t>::scaled(self, -b, isa)
            }
        }
    )* };
}
float_number!(f32 f64);

/// Bitwise operations: the integers and Bool.
pub trait Bits: Element {
    /// Returns the bits set in both.
    fn and(self, b: Self) -> Self;
    /// Returns the bits set in one or both.
    fn or(self, b: Self) -> Self;
    /// Returns the bits set in exactly one.
    fn xor(self, b: Self) -> Self;
    /// Returns the bits that are not set; for Bool the other truth value.
    fn not(self) -> Self;
}

macro_rules! bits {
    ($($t:ident),*) => { $(
        impl Bits for $t {
            #[inline(always)]
            fn and(self, b: $t) -> $t {
                self & b
            }
            #[inline(always)]
            fn or(self, b: $t) -> $t {
                self | b
            }
            #[inline(always)]
            fn xor(self, b: $t) -> $t {
                self ^ b
            }
            #[inline(always)]
            fn not(self) -> $t {
                !self
            }
        }
    )* };
}
bits!(u8, i8, i16, i32, i64);

impl Bits for Bool {
    #[inline(always)]
    fn and(self, b: Bool) -> Bool {
        (self.get() & b.get()).into()
    }
    #[inline(always)]
    fn or(self, b: Bool) -> Bool {
        (self.get() | b.get()).into()
    }
    #[inline(always)]
    fn xor(self, b: Bool) -> Bool {
        (self.get() ^ b.get()).into()
    }
    #[inline(always)]
    fn not(self) -> Bool {
        (!self.get()).into()
    }
}

/// Returns the larger number, or NaN if one is NaN.
#[inline(always)]
pub fn max<T: Element>(a: T, b: T) -> T {
    if a >= b || a.is_nan() { a } else { b }
}

/// Returns the smaller number, or NaN if one is NaN.
#[inline(always)]
pub fn min<T: Element>(a: T, b: T) -> T {
    if a <= b || a.is_nan() { a } else { b }
}

/// Returns -1, 0 or 1. NaN is neither negative nor positive, so it returns 0.
#[inline(always)]
pub fn sign<T: Element>(x: T) -> T {
    let (one, minus_one) = (T::from_i64(1), T::from_i64(-1));
    let not_above = if T::ZERO > x { minus_one } else { T::ZERO };
    if x > T::ZERO { one } else { not_above }
}

/// Returns the positive part; NaN is returned unchanged.
#[inline(always)]
pub fn relu<T: Element>(x: T) -> T {
    if T::ZERO > x { T::ZERO } else { x }
}

#[cfg(test)]
mod tests {
    use super::super::simd::simd;
    use super::*;

    #[test]
    fn integers_divide_as_python_and_c_do() {
        let all = |a: i32, b: i32| simd(move |isa| (a.trunc_div(b, isa), a.fmod(b, isa), a.floor_div(b, isa), a.remainder(b, isa)));
        assert_eq!(all(7, 2), (3, 1, 3, 1));
        assert_eq!(all(-7, 2), (-3, -1, -4, 1));
        assert_eq!(all(7, -2), (-3, 1, -4, -1));
        assert_eq!(all(-7, -2), (3, -1, 3, -1));
        assert_eq!(all(i32::MIN, -1), (i32::MIN, 0, i32::MIN, 0));
        assert_eq!(simd(|isa| (200u8.floor_div(7, isa), 200u8.remainder(7, isa))), (28, 4));
    }

    #[test]
    fn fast_quotients_are_those_of_the_machine() {
        let mut bits = 0x0123_4567_89ab_cdef_u64;
        let mut next = move || {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (bits >> 14) as i64
        };
        for round in 0..100_000 {
            let (a, b) = (next() - (1 << 49), (next() - (1 << 49)) >> (round % 50) | 1);
            // Dividends next to a multiple of the divisor are the difficult ones.
            for a in [a, a / b * b, a / b * b - 1, a / b * b + 1] {
                let all = simd(move |isa| {
                    (a.quotient_rare(b, isa), a.trunc_div(b, isa), a.fmod(b, isa), a.floor_div(b, isa), a.remainder(b, isa))
                });
                if !all.0 {
                    let floor = a.div_euclid(b) - (b < 0 && a.rem_euclid(b) != 0) as i64;
                    assert_eq!(all, (false, a / b, a % b, floor, a - floor * b), "{a} / {b}");
                }
                let (a, b) = (a as i32, b as i32);
                assert_eq!(simd(move |isa| (a.trunc_div(b, isa), a.fmod(b, isa))), (a.wrapping_div(b), a.wrapping_rem(b)), "{a} / {b}");
            }
        }
        for (a, b) in (i16::MIN..=i16::MAX).flat_map(|a| [1, -1, 3, -7, 181, 32_767, i16::MIN].map(|b| (a, b))) {
            assert_eq!(simd(move |isa| (a.trunc_div(b, isa), a.fmod(b, isa))), (a.wrapping_div(b), a.wrapping_rem(b)), "{a} / {b}");
        }
    }

    #[test]
    fn integer_powers_wrap_and_have_no_fractions() {
        let pow = |a: i64, b: i64| simd(move |isa| Number::pow(a, b, isa));
        assert_eq!((pow(3, 4), pow(-2, 3), pow(0, 0), pow(5, 0)), (81, -8, 1, 1));
        assert_eq!((pow(1, -1), pow(2, -1), pow(-1, -3), pow(-1, -2), pow(0, -1)), (1, 0, -1, 1, 0));
        assert_eq!(simd(|isa| Number::pow(200u8, 2, isa)), 64);
    }

    #[test]
    fn shifts_past_the_width_leave_nothing_but_the_sign() {
        let (shl, shr) =
            (|a: i64, b: i64| simd(move |isa| Number::shl(a, b, isa)), |a: i64, b: i64| simd(move |isa| Number::shr(a, b, isa)));
        assert_eq!((shl(1, 63), shl(1, 64), shl(1, -1), shr(-5, 1)), (i64::MIN, 0, 0, -3));
        assert_eq!((shr(-1, 70), shr(-5, -1), shr(5, 64)), (-1, -1, 0));
        assert_eq!(simd(|isa| (Number::shr(200u8, 8, isa), Number::shr(200u8, 7, isa))), (0, 1));
        assert_eq!(
            simd(|isa| (Number::shl(1.5f32, 2.0, isa), Number::shr(1.5f32, 1.0, isa), Number::shl(1f32, f32::NAN, isa).is_nan())),
            (6.0, 0.75, true)
        );
    }

    #[test]
    fn floats_are_shifted_across_their_whole_range() {
        let (shl, shr) =
            (|a: f32, b: f32| simd(move |isa| Number::shl(a, b, isa)), |a: f32, b: f32| simd(move |isa| Number::shr(a, b, isa)));
        let (tiny, big) = (f32::from_bits(1), f32::powi(2.0, 127));
        assert_eq!((shl(tiny, 149.0), shl(tiny, 276.0), shl(big, -276.0), shl(big, 1.0)), (1.0, big, tiny, f32::INFINITY));
        assert_eq!((shr(0.0, -149.2), shr(0.0, -1e30), shl(f32::INFINITY, -1e30), shr(1.0, 150.0)), (0.0, 0.0, f32::INFINITY, 0.0));
        // 1e-40 is 71362 times 2^-149.
        assert_eq!(shl(1e-40, 130.0), 71_362.0 / 524_288.0);
        let (shl, shr) =
            (|a: f64, b: f64| simd(move |isa| Number::shl(a, b, isa)), |a: f64, b: f64| simd(move |isa| Number::shr(a, b, isa)));
        let (tiny, big) = (f64::from_bits(1), f64::powi(2.0, 1023));
        assert_eq!((shl(tiny, 1074.0), shl(tiny, 2097.0), shl(big, -2097.0), shl(big, 1.0)), (1.0, big, tiny, f64::INFINITY));
        assert_eq!((shr(0.0, -1e300), shl(f64::INFINITY, -1e300), shr(1.0, 1075.0), shl(0.75, -1074.0)), (0.0, f64::INFINITY, 0.0, tiny));
        // The exact results are ties, which are rounded once, to even.
        let (three, five) = (f64::from_bits(3), f64::from_bits(5));
        assert_eq!((shr(three, 1.0), shr(five, 1.0), shl(1.25, -1073.0)), (f64::from_bits(2), f64::from_bits(2), f64::from_bits(2)));
    }

    #[test]
    fn nan_wins_the_larger_and_the_smaller() {
        assert!(max(f32::NAN, 1.0).is_nan() && max(1.0, f32::NAN).is_nan() && min(f32::NAN, 1.0).is_nan() && min(1.0, f32::NAN).is_nan());
        assert_eq!((max(1, 2), min(1, 2), max(Bool(0), Bool(7))), (2, 1, Bool(1)));
    }
}
