//! Functions of the reals and activations.

use super::promote;
use crate::cpu::engine::{CHEAP, COSTLY};
use crate::cpu::map;
use crate::cpu::number;
use crate::cpu::real::Real;
use crate::cpu::vmath;
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::ops::prepare::elementwise;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

unary! {
    /// `r = 1 / sqrt(t)`
    rsqrt(): float real CHEAP, |isa, x| Real::rsqrt(x, isa);
    /// `r = 2^t`
    exp2(): float real COSTLY, |isa, x| Real::exp2(x, isa);
    /// `r = e^t - 1`
    expm1(): float real COSTLY, |isa, x| Real::expm1(x, isa);
    /// `r = atan(t)`
    atan(): float real COSTLY, |isa, x| Real::atan(x, isa);
    /// `r = sinh(t)`
    sinh(): float real COSTLY, |isa, x| Real::sinh(x, isa);
    /// `r = the approximation of gelu by tanh`
    gelu_tanh(): float same COSTLY, |isa, x| Real::gelu_tanh(x, isa);
    /// `r = max(t, 0)`
    relu(): numeric same CHEAP, |_, x| number::relu(x);
    /// `r = t where t > 0, else slope * t`
    leaky_relu(slope): float same CHEAP, |_, x| if x > T::ZERO { x } else { x.mul(slope) };
    /// `r = t where t > 0, else alpha * (e^t - 1)`
    elu(alpha): float same COSTLY, |isa, x| {
        // Whatever the sign is: a branch would keep chunks from being computed at once.
        let negative = alpha.mul(Real::expm1(x, isa));
        if x > T::ZERO { x } else { negative }
    };
    /// `r = log(1 + e^(beta t)) / beta`, or t where `beta t > threshold`
    softplus(beta, threshold): float same COSTLY, |isa, x| Real::softplus(x, beta, threshold, isa);
}

/// Functions with kernels over many elements: `name: kind kernel grain`, kinds as in `unary`.
macro_rules! by_runs {
    ($($(#[$doc:meta])* $name:ident: $kind:ident $run:ident $grain:ident;)*) => { $(
        $(#[$doc])*
        pub fn $name(r: &Tensor, t: &Tensor) -> Result<()> {
            let dtype = unary!(@dtype $kind, t.defined()?);
            require!(float, dtype);
            elementwise([r, t], dtype, dtype, $grain, &|work| {
                dispatch!(float, dtype, T => {
                // SAFETY: `n` elements of each operand.
                map::map1_run::<T>(work, #[inline(always)] move |isa, r, a, n| unsafe { <T as Real>::$run(isa, r, a, n) })
                });
                Ok(())
            })
        }
    )* };
}

by_runs! {
    /// `r = asin(t)`
    asin: real asin_run COSTLY;
    /// `r = acos(t)`
    acos: real acos_run COSTLY;
    /// `r = sqrt(t)`
    sqrt: real sqrt_run CHEAP;
    /// `r = e^t`
    exp: real exp_run COSTLY;
    /// `r = log(t)`
    log: real log_run COSTLY;
    /// `r = log(1 + t)`
    log1p: real log1p_run COSTLY;
    /// `r = log2(t)`
    log2: real log2_run COSTLY;
    /// `r = log10(t)`
    log10: real log10_run COSTLY;
    /// `r = cosh(t)`
    cosh: real cosh_run COSTLY;
    /// `r = tanh(t)`
    tanh: real tanh_run COSTLY;
    /// `r = 1 / (1 + e^-t)`
    sigmoid: real sigmoid_run COSTLY;
    /// `r = erf(t)`
    erf: real erf_run COSTLY;
    /// `r = 1 - erf(t)`
    erfc: real erfc_run COSTLY;
    /// `r = the number whose erf is t`
    erfinv: real erfinv_run COSTLY;
    /// `r = t * (1 + erf(t / sqrt 2)) / 2`
    gelu: same gelu_run COSTLY;
    /// `r = log |gamma(t)|`
    lgamma: real lgamma_run COSTLY;
    /// `r = the derivative of lgamma at t`
    digamma: real digamma_run COSTLY;
    /// `r = the derivative of digamma at t`
    trigamma: real trigamma_run COSTLY;
}

/// Functions that a few arguments need more care for: `name: fast, rare, slow`.
macro_rules! careful {
    ($($(#[$doc:meta])* $name:ident: $fast:ident, $rare:ident, $slow:ident;)*) => { $(
        $(#[$doc])*
        pub fn $name(r: &Tensor, t: &Tensor) -> Result<()> {
            let dtype = t.defined()?.to_float();
            elementwise([r, t], dtype, dtype, COSTLY, &|work| {
                dispatch!(float, dtype, T => {
                map::map1_rare::<T, T>(
                    work,
                    #[inline(always)] move |isa, x| Real::$fast(x, isa),
                    #[inline(always)] move |isa, x| Real::$rare(x, isa),
                    #[inline(always)] move |isa, x| Real::$slow(x, isa),
                )
                });
                Ok(())
            })
        }
    )* };
}

careful! {
    /// `r = sin(t)`
    sin: sin, huge_angle, sin_slow;
    /// `r = cos(t)`
    cos: cos, huge_angle, cos_slow;
    /// `r = tan(t)`
    tan: tan, huge_angle, tan_slow;
}

/// The first derivative of digamma that is not computed.
const MOST_DERIVED: i64 = (1 << 20) + 1;

/// `r = the n-th derivative of digamma at t`
pub fn polygamma(r: &Tensor, n: i64, t: &Tensor) -> Result<()> {
    match n {
        ..0 => bail!(Argument, "a derivative of order {n}"),
        // Each order takes some nanoseconds to prepare for.
        MOST_DERIVED.. => bail!(Unsupported, "a derivative of order {n}, at most {} is computed", MOST_DERIVED - 1),
        0 => return digamma(r, t),
        1 => return trigamma(r, t),
        _ => {}
    }
    let (dtype, derivative) = (t.defined()?.to_float(), vmath::Polygamma::new(n as u64));
    elementwise([r, t], dtype, dtype, COSTLY / 16, &|work| {
        match dtype.compute() {
            Dtype::Float64 => map::map1::<f64, f64>(
                work,
                #[inline(always)]
                move |_, x| derivative.at(x),
            ),
            _ => map::map1::<f32, f32>(
                work,
                #[inline(always)]
                move |_, x| derivative.at(f64::from(x)) as f32,
            ),
        }
        Ok(())
    })
}

/// `r = log(pi) p (p - 1) / 4 + the sum of lgamma(t - k / 2) over k from 0 to p - 1`
pub fn mvlgamma(r: &Tensor, t: &Tensor, p: i64) -> Result<()> {
    const MOST: i64 = 1 << 16;
    if !(1..=MOST).contains(&p) {
        bail!(Argument, "a dimension of {p}, expected 1 to {MOST}")
    }
    let dtype = t.defined()?.to_float();
    elementwise([r, t], dtype, dtype, COSTLY, &|work| {
        dispatch!(float, dtype, T => {
        map::map1_blocks::<T>(work, #[inline(always)] move |isa, xs| vmath::mvlgamma_f64(isa, p as u64, xs))
        });
        Ok(())
    })
}

binary! {
    /// `r = the angle of the point (b, a)`
    atan2(): float real COSTLY, |isa, a, b| Real::atan2(a, b, isa);
    /// `r = sqrt(a^2 + b^2)`
    hypot(): float real COSTLY, |isa, a, b| Real::hypot(a, b, isa);
    /// `r = |a| with the sign of b`
    copysign(): float real CHEAP, |_, a, b| Real::copysign(a, b);
}

/// `r = log(e^a + e^b)`
pub fn logaddexp(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let dtype = promote(&[a, b])?.to_float();
    elementwise([r, a, b], dtype, dtype, COSTLY, &|work| {
        match dtype.compute() {
            Dtype::Float64 => map::map2_run::<f64>(
                work,
                #[inline(always)]
                // SAFETY: `n` elements of each operand.
                move |isa, r, operands, n| unsafe { vmath::logaddexp_run_f64(isa, r, operands, n) },
            ),
            _ => map::map2_run::<f32>(
                work,
                #[inline(always)]
                // SAFETY: as above.
                move |isa, r, operands, n| unsafe { vmath::logaddexp_run_f32(isa, r, operands, n) },
            ),
        }
        Ok(())
    })
}

/// `r = the number next to a, towards b`; floats only
pub fn nextafter(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let dtype = promote(&[a, b])?;
    require!(float, dtype);
    elementwise([r, a, b], dtype, dtype, CHEAP, &|work| {
        match dtype {
            Dtype::Float64 => map::map2::<f64, f64, f64>(
                work,
                #[inline(always)]
                move |_, a, b| next_f64(a, b),
            ),
            Dtype::Bfloat16 => map::map2::<f32, f32, f32>(
                work,
                #[inline(always)]
                move |_, a, b| next_f32(a, b, 1 << 16),
            ),
            Dtype::Float16 => map::map2::<f32, f32, f32>(
                work,
                #[inline(always)]
                move |_, a, b| next_f16(a, b),
            ),
            _ => map::map2::<f32, f32, f32>(
                work,
                #[inline(always)]
                move |_, a, b| next_f32(a, b, 1),
            ),
        }
        Ok(())
    })
}

/// The neighbour of `a`, whose bits below those of `step` are 0, among such numbers.
#[inline(always)]
fn next_f32(a: f32, b: f32, step: u32) -> f32 {
    let away = (b > a) == (a > 0.0);
    let moved = f32::from_bits(if away { a.to_bits().wrapping_add(step) } else { a.to_bits().wrapping_sub(step) });
    let from_zero = f32::from_bits(step).copysign(b);
    let next = if a == 0.0 { from_zero } else { moved };
    if a == b {
        b
    } else if a.is_nan() || b.is_nan() {
        f32::NAN
    } else {
        next
    }
}

/// The neighbour of `a`, a float16, among the float16.
#[inline(always)]
fn next_f16(a: f32, b: f32) -> f32 {
    // Below 2^-14, and at it when going down, float16 lie 2^-24 apart; above, their mantissa has 13 bits less.
    let (least_normal, step) = (6.103_515_6e-5, 5.960_464_5e-8);
    let inward = (b > a) != (a > 0.0);
    let even = a.abs() < least_normal || (a.abs() == least_normal && inward);
    let moved = if even { if b > a { a + step } else { a - step } } else { next_f32(a, b, 1 << 13) };
    let signed = if moved == 0.0 { moved.copysign(a) } else { moved };
    let signed = if a.abs() == f32::INFINITY { 65_504f32.copysign(a) } else { signed };
    if a == b {
        b
    } else if a.is_nan() || b.is_nan() {
        f32::NAN
    } else {
        signed
    }
}

/// The neighbour of `a`.
#[inline(always)]
fn next_f64(a: f64, b: f64) -> f64 {
    let away = (b > a) == (a > 0.0);
    let moved = f64::from_bits(if away { a.to_bits().wrapping_add(1) } else { a.to_bits().wrapping_sub(1) });
    let next = if a == 0.0 { f64::from_bits(1).copysign(b) } else { moved };
    if a == b {
        b
    } else if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_16_bit_floats_are_those_of_their_own_type() {
        for bits in 0..=0x7bffu16 {
            let up = |bits: u16| half::f16::from_bits(bits).to_f32();
            let largest = bits == 0x7bff;
            let next = half::f16::from_f32(next_f16(up(bits), f32::INFINITY));
            assert_eq!(next.to_bits(), bits + 1, "after {:e}", up(bits));
            if !largest {
                assert_eq!(half::f16::from_f32(next_f16(up(bits + 1), 0.0)).to_bits(), bits, "before {:e}", up(bits + 1));
            }
        }
        assert_eq!(next_f16(f32::INFINITY, 0.0), 65_504.0);
        assert_eq!(next_f32(1.0, 2.0, 1 << 16), 1.0078125);
    }

    #[test]
    fn neighbours_pass_zero_and_the_ends() {
        assert_eq!(next_f64(0.0, -1.0), -5e-324);
        assert_eq!(next_f64(5e-324, -1.0).to_bits(), 0);
        assert_eq!(next_f64(-5e-324, 1.0).to_bits(), 1 << 63);
        assert_eq!(next_f64(f64::MAX, f64::INFINITY), f64::INFINITY);
        assert_eq!(next_f64(f64::NEG_INFINITY, 0.0), f64::MIN);
        assert!(next_f64(f64::NAN, 1.0).is_nan() && next_f32(1.0, f32::NAN, 1).is_nan());
        assert_eq!(next_f32(2.0, 2.0, 1), 2.0);
    }
}
