//! Sums, differences, products, quotients, extremes, powers and what is made of them.

use super::{exact, promote, promote_scalar, rounded, whole_factor};
use crate::cpu::engine::{CHEAP, COSTLY};
use crate::cpu::map;
use crate::cpu::number::{self, Number, max, min};
use crate::cpu::vmath;
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::ops::prepare::{elementwise, typed};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

unary! {
    /// `r = -t`, but for 16-bit floats
    neg_wide(): numeric same CHEAP, |_, x| x.neg();
    /// `r = |t|`, but for 16-bit floats
    abs_wide(): numeric same CHEAP, |_, x| Element::abs(x);
    /// `r = -1, 0 or 1`, as `t` is negative, neither, or positive
    sign(): all same CHEAP, |_, x| number::sign(x);
    /// `r = floor(t)`
    floor(): numeric same CHEAP, |_, x| Number::floor(x);
    /// `r = ceil(t)`
    ceil(): numeric same CHEAP, |_, x| Number::ceil(x);
    /// `r = the integer nearest to t`, ties to even
    round(): numeric same CHEAP, |_, x| Number::round(x);
    /// `r = t rounded towards zero`
    trunc(): numeric same CHEAP, |_, x| Number::trunc(x);
    /// `r = t - trunc(t)`
    frac(): float same CHEAP, |_, x| x - Number::trunc(x);
    /// `r = 1 / t`
    cinv(): float real CHEAP, |_, x| T::from_i64(1) / x;
}

/// `r = -t`
pub fn neg(r: &Tensor, t: &Tensor) -> Result<()> {
    sign_bit(r, t, neg_wide, |bits| bits ^ i16::MIN)
}

/// `r = |t|`
pub fn abs(r: &Tensor, t: &Tensor) -> Result<()> {
    sign_bit(r, t, abs_wide, |bits| bits & i16::MAX)
}

/// What concerns nothing but the sign needs no conversion of 16-bit floats.
#[inline(always)]
fn sign_bit(r: &Tensor, t: &Tensor, wide: fn(&Tensor, &Tensor) -> Result<()>, narrow: impl Fn(i16) -> i16 + Copy + Sync) -> Result<()> {
    let dtype = t.defined()?;
    if dtype == dtype.compute() {
        return wide(r, t);
    }
    typed([r, t], [dtype; 2], dtype, CHEAP, &|work| {
        map::map1::<i16, i16>(
            work,
            #[inline(always)]
            move |_, bits| narrow(bits),
        );
        Ok(())
    })
}

both! {
    /// `r = a + b`; on Bool this is *or*.
    sum_of / add: all same CHEAP rounded by map2_transposed, |_, a, b| a.add(b);
    /// `r = a - b`
    difference / sub: numeric same CHEAP rounded by map2_transposed, |_, a, b| a.sub(b);
    /// `r = a * b`; on Bool this is *and*.
    cmul / mul: all same CHEAP exact by map2_transposed, |_, a, b| a.mul(b);
    /// `r = a / b`, true division
    cdiv / div: float real CHEAP exact by map2_transposed, |_, a, b| a / b;
}

binary! {
    /// `r = the larger of a and b`
    cmax(): all same CHEAP by map2_transposed, |_, a, b| max(a, b);
    /// `r = the smaller of a and b`
    cmin(): all same CHEAP by map2_transposed, |_, a, b| min(a, b);
}

/// `r = t + value * src`
pub fn cadd(r: &Tensor, t: &Tensor, value: Scalar, src: &Tensor) -> Result<()> {
    if value == Scalar::Int(1) { sum_of(r, t, src) } else { scaled(r, t, value, src, false) }
}

/// `r = t - value * src`
pub fn csub(r: &Tensor, t: &Tensor, value: Scalar, src: &Tensor) -> Result<()> {
    if value == Scalar::Int(1) { difference(r, t, src) } else { scaled(r, t, value, src, true) }
}

fn scaled(r: &Tensor, t: &Tensor, value: Scalar, src: &Tensor, minus: bool) -> Result<()> {
    let dtype = promote(&[t, src])?;
    if minus {
        require!(numeric, dtype);
    }
    whole_factor(dtype, value)?;
    elementwise([r, t, src], dtype, dtype, CHEAP, &|work| {
        dispatch!(all, dtype, T => {
        let factor: T = rounded(value, dtype);
        let factor = if minus { factor.neg() } else { factor };
        map::map2::<T, T, T>(work, #[inline(always)] move |_, a, b| a.add(factor.mul(b)))
        });
        Ok(())
    })
}

/// `r = t + value * a * b`
pub fn addcmul(r: &Tensor, t: &Tensor, value: Scalar, a: &Tensor, b: &Tensor) -> Result<()> {
    let dtype = promote(&[t, a, b])?;
    require!(numeric, dtype);
    whole_factor(dtype, value)?;
    elementwise([r, t, a, b], dtype, dtype, CHEAP, &|work| {
        dispatch!(numeric, dtype, T => {
        let factor = T::from_scalar(value);
        map::map3::<T, T, T, T>(work, #[inline(always)] move |_, t, a, b| t.add(factor.mul(a).mul(b)))
        });
        Ok(())
    })
}

/// `r = t + value * a / b`; floats only
pub fn addcdiv(r: &Tensor, t: &Tensor, value: Scalar, a: &Tensor, b: &Tensor) -> Result<()> {
    let dtype = promote(&[t, a, b])?;
    require!(float, dtype);
    elementwise([r, t, a, b], dtype, dtype, CHEAP, &|work| {
        dispatch!(float, dtype, T => {
        let factor = T::from_scalar(value);
        map::map3::<T, T, T, T>(work, #[inline(always)] move |_, t, a, b| t + factor * a / b)
        });
        Ok(())
    })
}

/// `a + weight * (b - a)`, exact at both ends.
#[inline(always)]
fn between<T: crate::cpu::real::Real>(a: T, b: T, weight: T) -> T {
    let (apart, half) = (b.sub(a), T::from_f64(0.5));
    let (from_a, from_b) = (a.add(weight.mul(apart)), b.sub(apart.mul(T::from_f64(1.0).sub(weight))));
    // Beyond a, the way from b is the longer one and may overflow alone.
    let beyond = (weight < T::ZERO) & (Element::abs(from_b) == T::from_f64(f64::INFINITY));
    if (Element::abs(weight) < half) | beyond { from_a } else { from_b }
}

/// `r = a + weight * (b - a)`; floats only
pub fn lerp(r: &Tensor, a: &Tensor, b: &Tensor, weight: Scalar) -> Result<()> {
    let dtype = promote(&[a, b])?;
    require!(float, dtype);
    elementwise([r, a, b], dtype, dtype, CHEAP, &|work| {
        dispatch!(float, dtype, T => {
        let weight = T::from_scalar(weight);
        map::map2::<T, T, T>(work, #[inline(always)] move |_, a, b| between(a, b, weight))
        });
        Ok(())
    })
}

/// `r = a + weight * (b - a)` with a weight for each element; floats only
pub fn lerp_tensor(r: &Tensor, a: &Tensor, b: &Tensor, weight: &Tensor) -> Result<()> {
    let dtype = promote(&[a, b, weight])?;
    require!(float, dtype);
    elementwise([r, a, b, weight], dtype, dtype, CHEAP, &|work| {
        dispatch!(float, dtype, T => {
        map::map3::<T, T, T, T>(work, #[inline(always)] move |_, a, b, weight| between(a, b, weight))
        });
        Ok(())
    })
}

/// The value of `T` nearest to a bound.
#[inline(always)]
fn bound<T: Element>(value: Scalar) -> T {
    match value {
        Scalar::Int(x) if T::from_i64(x).to_i64() == x => T::from_i64(x),
        other => T::from_f64(other.to_f64()),
    }
}

/// `r = min(max(t, least), most)`; -inf as least and inf as most bound nothing
pub fn clamp(r: &Tensor, t: &Tensor, least: Scalar, most: Scalar) -> Result<()> {
    clamped(r, t, [least, most], [least.to_f64() != f64::NEG_INFINITY, most.to_f64() != f64::INFINITY])
}

/// `r = the larger of t and value`
pub fn cmax_value(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
    clamped(r, t, [value; 2], [true, false])
}

/// `r = the smaller of t and value`
pub fn cmin_value(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
    clamped(r, t, [value; 2], [false, true])
}

/// `r = t` kept within the bounds that `binds` says there are.
fn clamped(r: &Tensor, t: &Tensor, bounds: [Scalar; 2], binds: [bool; 2]) -> Result<()> {
    let mut dtype = t.defined()?;
    let mut to_nan = false;
    for (bound, _) in bounds.into_iter().zip(binds).filter(|&(_, binds)| binds) {
        to_nan |= bound.to_f64().is_nan();
        dtype = dtype.promote(promote_scalar(t, bound)?);
    }
    elementwise([r, t], dtype, dtype, CHEAP, &|work| {
        dispatch!(all, dtype, T => {
        // Compared this way round NaN stays, by one instruction.
        let (not_below, not_above) = (
            #[inline(always)] |x: T, least: T| if least > x { least } else { x },
            #[inline(always)] |x: T, most: T| if most < x { most } else { x },
        );
        let [least, most] = bounds.map(bound::<T>);
        match binds.map(|binds| binds && !to_nan) {
            [true, true] => map::map1::<T, T>(work, #[inline(always)] move |_, x| not_above(not_below(x, least), most)),
            [true, false] => map::map1::<T, T>(work, #[inline(always)] move |_, x| not_below(x, least)),
            [false, true] => map::map1::<T, T>(work, #[inline(always)] move |_, x| not_above(x, most)),
            [false, false] => map::map1::<T, T>(work, #[inline(always)] move |_, x| if to_nan { T::from_f64(f64::NAN) } else { x }),
        }
        });
        Ok(())
    })
}

/// [`clamp`], where the bounds must be in order
pub fn hardtanh(r: &Tensor, t: &Tensor, least: Scalar, most: Scalar) -> Result<()> {
    if least.to_f64() > most.to_f64() {
        bail!(Argument, "the bounds {} and {} are not in order", least.to_f64(), most.to_f64())
    }
    clamp(r, t, least, most)
}

/// `r = a^b`
pub fn cpow(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let dtype = promote(&[a, b])?;
    require!(numeric, dtype);
    elementwise([r, a, b], dtype, dtype, COSTLY, &|work| {
        dispatch!(numeric, dtype, T => {
        // SAFETY: `n` elements of each operand.
        map::map2_run::<T>(work, #[inline(always)] move |isa, r, ab, n| unsafe { <T as Number>::pow_run(isa, r, ab, [1, 1], n) })
        });
        Ok(())
    })
}

/// Powers with a number: `name: |value, t| base and exponent, their steps`.
macro_rules! powers {
    ($($(#[$doc:meta])* $name:ident: |$value:ident, $t:ident| $operands:expr, $steps:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
            let dtype = promote_scalar(t, value)?;
            require!(numeric, dtype);
            elementwise([r, t], dtype, dtype, COSTLY, &|work| {
                dispatch!(numeric, dtype, T => {
                let value: T = rounded(value, dtype);
                map::map1_run::<T>(work, #[inline(always)] move |isa, r, $t: *const T, n| {
                    let $value = &raw const value;
                    // SAFETY: `n` elements of each operand, and the number, which stands still.
                    unsafe { <T as Number>::pow_run(isa, r, $operands, $steps, n) }
                })
                });
                Ok(())
            })
        }
    )* };
}

powers! {
    /// `r = t^value` in general
    power: |value, t| [t, value], [1, 0];
    /// `r = value^t`
    tpow: |value, t| [value, t], [0, 1];
}

unary! {
    /// `r = t^2`
    square(): numeric same CHEAP, |_, x| x.mul(x);
    /// `r = t^3`
    cube(): numeric same CHEAP, |_, x| x.mul(x).mul(x);
    /// `r = t^0.5`: unlike the square root it has no negative zero, and -inf gives inf
    half_power(): float same CHEAP, |_, x| if x == -T::INFINITY { T::INFINITY } else { x.sqrt() + 0.0 };
}

/// Elements whose powers are computed in float64 at a time.
const PIECE: usize = 128;

/// `r = t^value` of float32 in float64, for a finite exponent that float32 does not hold.
fn power_wide(r: &Tensor, t: &Tensor, value: f64) -> Result<()> {
    let (whole, odd) = (value.trunc() == value, value.trunc() == value && value % 2.0 != 0.0);
    elementwise([r, t], Dtype::Float32, Dtype::Float32, COSTLY, &|work| {
        map::map1_run::<f32>(
            work,
            #[inline(always)]
            move |isa, r, t: *const f32, n| {
                let mut room = [0f64; PIECE];
                let wide = room.as_mut_ptr();
                for at in (0..n).step_by(PIECE) {
                    let len = PIECE.min(n - at);
                    // SAFETY: `n` elements of each operand; a piece fits its room.
                    unsafe {
                        let (t, r) = (t.add(at), r.add(at));
                        for i in 0..len {
                            wide.add(i).write(f64::from(t.add(i).read().abs()));
                        }
                        // The detour by the logarithm costs the last bits, which float32 does not have.
                        vmath::log_run_f64(isa, wide, wide, len);
                        for i in 0..len {
                            *wide.add(i) *= value;
                        }
                        vmath::exp_run_f64(isa, wide, wide, len);
                        for i in 0..len {
                            let (x, power) = (t.add(i).read(), wide.add(i).read() as f32);
                            let power = if odd { power.copysign(x) } else { power };
                            let nowhere = !whole & (x < 0.0) & (x > f32::NEG_INFINITY);
                            r.add(i).write(if nowhere { f32::NAN } else { power });
                        }
                    }
                }
            },
        );
        Ok(())
    })
}

/// `r = t^value`
pub fn pow(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
    let dtype = promote_scalar(t, value)?;
    require!(numeric, dtype);
    if !dtype.is_float() && value.to_f64() < 0.0 {
        bail!(Argument, "integers have no integer power {}", value.to_f64())
    }
    match value {
        _ if dtype == Dtype::Float32 && value.to_f64().is_finite() && f64::from(value.to_f64() as f32) != value.to_f64() => {
            power_wide(r, t, value.to_f64())
        }
        _ if t.defined()? != dtype => power(r, t, value),
        Scalar::Int(2) => square(r, t),
        Scalar::Int(3) => cube(r, t),
        Scalar::Int(-1) => cinv(r, t),
        Scalar::Float(0.5) => half_power(r, t),
        _ => power(r, t, value),
    }
}
