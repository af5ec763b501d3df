//! Functions of real numbers, and activation functions.

use super::op::operations;
use super::{arithmetic, number_tensor, promote_scalar};
use crate::cpu::engine::{CHEAP, COSTLY, Work};
use crate::cpu::map;
use crate::cpu::number;
use crate::cpu::real::Real;
use crate::cpu::simd::Isa;
use crate::cpu::tuning::COSTLIEST;
use crate::cpu::vmath;
use crate::dtype::{Dtype, Element};
use crate::error::{Result, bail};
#[cfg(feature = "cuda")]
use crate::launch::{Elementwise, Formula};
use crate::launch::{Numbers, Op, ResultDtype, Role};
use crate::plan::each;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

macro_rules! function_functions {
    ($do:ident $($to:tt)*) => { $do! { $($to)*
        /// `r = sqrt(t)`. Integers give the default dtype.
        sqrt(r: out, t: input) { float real CHEAP, vectorized sqrt_run }
        /// `r = 1 / sqrt(t)`. Integers give the default dtype.
        rsqrt(r: out, t: input) { float real CHEAP, |isa, t| Real::rsqrt(t, isa) }
        /// `r = e^t`. Integers give the default dtype.
        exp(r: out, t: input) { float real COSTLY, vectorized exp_run }
        /// `r = 2^t`. Integers give the default dtype.
        exp2(r: out, t: input) { float real COSTLY, |isa, t| Real::exp2(t, isa) }
        /// `r = e^t - 1`, accurate near 0. Integers give the default dtype.
        expm1(r: out, t: input) { float real COSTLY, |isa, t| Real::expm1(t, isa) }
        /// `r = log(t)`, the natural logarithm. Integers give the default dtype.
        log(r: out, t: input) { float real COSTLY, vectorized log_run }
        /// `r = log(1 + t)`, accurate near 0. Integers give the default dtype.
        log1p(r: out, t: input) { float real COSTLY, vectorized log1p_run }
        /// `r = log2(t)`. Integers give the default dtype.
        log2(r: out, t: input) { float real COSTLY, vectorized log2_run }
        /// `r = log10(t)`. Integers give the default dtype.
        log10(r: out, t: input) { float real COSTLY, vectorized log10_run }
        /// `r = sin(t)`, in radians. Integers give the default dtype.
        sin(r: out, t: input) { float real COSTLY, slow_path(|isa, t| Real::sin(t, isa), Real::huge_angle(t, isa), Real::sin_slow(t, isa)) }
        /// `r = cos(t)`, in radians. Integers give the default dtype.
        cos(r: out, t: input) { float real COSTLY, slow_path(|isa, t| Real::cos(t, isa), Real::huge_angle(t, isa), Real::cos_slow(t, isa)) }
        /// `r = tan(t)`, in radians. Integers give the default dtype.
        tan(r: out, t: input) { float real COSTLY, slow_path(|isa, t| Real::tan(t, isa), Real::huge_angle(t, isa), Real::tan_slow(t, isa)) }
        /// `r = asin(t)`; NaN outside [-1, 1]. Integers give the default dtype.
        asin(r: out, t: input) { float real COSTLY, vectorized asin_run }
        /// `r = acos(t)`; NaN outside [-1, 1]. Integers give the default dtype.
        acos(r: out, t: input) { float real COSTLY, vectorized acos_run }
        /// `r = atan(t)`. Integers give the default dtype.
        atan(r: out, t: input) { float real COSTLY, |isa, t| Real::atan(t, isa) }
        /// `r = sinh(t)`. Integers give the default dtype.
        sinh(r: out, t: input) { float real COSTLY, compact |isa, t| Real::sinh(t, isa) }
        /// `r = cosh(t)`. Integers give the default dtype.
        cosh(r: out, t: input) { float real COSTLY, vectorized cosh_run }
        /// `r = tanh(t)`. Integers give the default dtype.
        tanh(r: out, t: input) { float real COSTLY, vectorized tanh_run }
        /// `r = asinh(t)`, the inverse of sinh. Integers give the default dtype.
        asinh(r: out, t: input) { in_float64 real COSTLY, plain |isa, t| vmath::asinh(isa, t) }
        /// `r = acosh(t)`, the inverse of cosh; NaN below 1. Integers give the default dtype.
        acosh(r: out, t: input) { in_float64 real COSTLY, plain |isa, t| vmath::acosh(isa, t) }
        /// `r = atanh(t)`, the inverse of tanh; NaN outside [-1, 1]. Integers give the default dtype.
        atanh(r: out, t: input) { in_float64 real COSTLY, plain |isa, t| vmath::atanh(isa, t) }
        /// `r = sin(pi t) / (pi t)`; 1 at 0, 0 at the other integers, NaN at the infinities. Integers give the default dtype.
        sinc(r: out, t: input) { in_float64 real COSTLY, plain |isa, t| vmath::sinc(isa, t) }
        /// `r = 1 / (1 + e^-t)`. Integers give the default dtype.
        sigmoid(r: out, t: input) { float real COSTLY, vectorized sigmoid_run }
        /// `r = erf(t)`, the error function. Integers give the default dtype.
        erf(r: out, t: input) { float real COSTLY, vectorized erf_run }
        /// `r = 1 - erf(t)`, accurate even where the result is small. Integers give the default dtype.
        erfc(r: out, t: input) { float real COSTLY, vectorized erfc_run }
        /// `r = the number whose erf is t`; NaN outside [-1, 1]. Integers give the default dtype.
        erfinv(r: out, t: input) { float real COSTLY, vectorized erfinv_run }
        /// `r = log |gamma(t)|`; inf at 0, -1, -2, ... Integers give the default dtype.
        lgamma(r: out, t: input) { float real COSTLY, vectorized lgamma_run }
        /// `r = the derivative of lgamma at t`; NaN at -1, -2, ..., -inf at 0. Integers give the default dtype.
        digamma(r: out, t: input) { float real COSTLY, vectorized digamma_run }
        /// `r = t * (1 + erf(t / sqrt 2)) / 2`. Floats only.
        gelu(r: out, t: input) { float same COSTLY, vectorized gelu_run }
        /// `r = t * (1 + tanh(sqrt(2 / pi) * (t + 0.044715 t^3))) / 2`, the common approximation of gelu. Floats only.
        geluTanh(r: out, t: input) { float same COSTLY, |isa, t| Real::gelu_tanh(t, isa) }
        /// `r = max(t, 0)`; NaN stays NaN. Not for Bool.
        relu(r: out, t: input) { numeric same CHEAP, |_, t| number::relu(t) }
        /// `r = t where t > 0, else value * t`. Floats only.
        leakyRelu(r: out, t: input, value: parameter) { float same CHEAP, |_, t| if t > T::ZERO { t } else { t.mul(value) } }
        /// `r = t where t > 0, else value * (e^t - 1)`. Floats only.
        elu(r: out, t: input, value: parameter) {
            float same COSTLY, compact |isa, t| {
                // Both cases are computed, because a branch would prevent vectorisation.
                let negative = value.mul(Real::expm1(t, isa));
                if t > T::ZERO { t } else { negative }
            }
        }
        /// `r = log(1 + e^(beta * t)) / beta`, or `t` where `beta * t > threshold` (PyTorch's defaults are 1 and 20). Floats only.
        softplus(r: out, t: input, beta: parameter, threshold: parameter) {
            float same COSTLY, compact |isa, t| Real::softplus(t, beta, threshold, isa)
        }
        /// `r = -log(1 + e^-t)`, the logarithm of sigmoid. Floats only.
        logSigmoid(r: out, t: input) {
            float same COSTLY, compact |isa, t| Real::softplus(t.neg(), T::from_i64(1), T::from_i64(1000), isa).neg()
        }
        /// `r = t / (1 + e^-t)`, also called swish (Elfwing, Uchibe and Doya, 2017). At -inf the result is the limit -0. PyTorch gives NaN
        /// there. Floats only.
        silu(r: out, t: input) { float same COSTLY, |isa, t| Real::silu(t, isa) }
        /// `r = t * tanh(log(1 + e^t))` (Misra, 2019). At -inf the result is the limit -0. PyTorch gives NaN there. Floats only.
        mish(r: out, t: input) { float same COSTLY, compact |isa, t| Real::mish(t, isa) }
        /// `r = 0 where t <= -3, t where t >= 3, else t * (t + 3) / 6` (Howard et al., 2019). Floats only.
        hardswish(r: out, t: input) {
            float same CHEAP, compact |_, t| {
                let middle = t * (t + 3.0) / 6.0;
                let from_below = if t < T::from_f64(3.0) { middle } else { t };
                if t <= T::from_f64(-3.0) { T::ZERO } else { from_below }
            }
        }
        /// `r = min(max(t + 3, 0), 6) / 6`; NaN stays NaN. Floats only.
        hardsigmoid(r: out, t: input) {
            float same CHEAP, compact |_, t| {
                let middle = (t + 3.0) / 6.0;
                let from_below = if middle > T::from_i64(1) { T::from_i64(1) } else { middle };
                if middle < T::ZERO { T::ZERO } else { from_below }
            }
        }
        /// `r = 1.0507... * t where t > 0, else 1.7580... * (e^t - 1)`: elu with the numbers that keep mean 0 and variance 1 (Klambauer et
        /// al., 2017). Floats only.
        selu(r: out, t: input) {
            float same COSTLY, compact |isa, t| {
                let positive = T::from_f64(1.0507009873554805).mul(t);
                let negative = T::from_f64(1.7580993408473768).mul(Real::expm1(t, isa));
                if t > T::ZERO { positive } else { negative }
            }
        }
        /// `r = t / (1 + |t|)`; -1 and 1 at the infinities, where PyTorch gives NaN. Floats only.
        softsign(r: out, t: input) {
            float same CHEAP, compact |_, t| {
                let quotient = t / (Element::abs(t) + 1.0);
                if Element::abs(t) == T::INFINITY { Real::copysign(T::from_i64(1), t) } else { quotient }
            }
        }
        /// `r = 0 where -lambda <= t <= lambda, else t`. Floats only.
        hardshrink(r: out, t: input, lambda: parameter) {
            float same CHEAP, compact |_, t| if (t >= -lambda) & (t <= lambda) { T::ZERO } else { t }
        }

        /// `r = the angle of the point (b, a)` in (-pi, pi], with broadcasting. Integers give the default dtype.
        atan2(r: out, a: input, b: input) { float real COSTLY, |isa, a, b| Real::atan2(a, b, isa) }
        /// `r = sqrt(a^2 + b^2)` without intermediate overflow, with broadcasting. Integers give the default dtype.
        hypot(r: out, a: input, b: input) { float real COSTLY, compact |isa, a, b| Real::hypot(a, b, isa) }
        /// `r = log(e^a + e^b)` without intermediate overflow, with broadcasting. Integers give the default dtype.
        logaddexp(r: out, a: input, b: input) { float real COSTLY, kernel log_add_exp }
        /// `r = a * log(b)`, with broadcasting; 0 where `a` is 0 and `b` is not NaN. Integers give the default dtype.
        xlogy(r: out, a: input, b: input) {
            in_float64 real COSTLY, plain |isa, a, b| {
                let product = a * vmath::log_f64(isa, b);
                if (a == 0.0) & !b.is_nan() { 0.0 } else { product }
            }
        }
        /// `r = |a| with the sign of b`, with broadcasting. Integers give the default dtype.
        copysign(r: out, a: input, b: input) { float real CHEAP, |_, a, b| Real::copysign(a, b) }
        /// `r = the next representable number after a in the direction of b`, with broadcasting and promotion. Floats only.
        nextafter(r: out, a: input, b: input) { float same CHEAP, |_, a, b| Neighbour::next(a, b); bits next_of_16_bits }
    } };
}
pub(crate) use function_functions;

function_functions!(operations FUNCTIONS;);

operations! {
    DERIVED;
    /// `r = the derivative of digamma at t`
    trigamma(r: out, t: input) { float real COSTLY, vectorized trigamma_run }
}

/// `r = t` with numbers in place of NaN and the infinities. NaN as the number for an infinity means the greatest or the least finite
/// number.
pub fn nan_to_num(r: &Tensor, t: &Tensor, nan: Scalar, infinity: Scalar, minus_infinity: Scalar) -> Result<()> {
    let dtype = t.defined()?;
    let greatest = match dtype {
        Dtype::Float16 => half::f16::MAX.to_f64(),
        Dtype::Bfloat16 => half::bf16::MAX.to_f64(),
        Dtype::Float32 => f32::MAX.into(),
        Dtype::Float64 => f64::MAX,
        _ => return arithmetic::unchanged(r, t, dtype),
    };
    let or = |number: Scalar, finite: f64| if number.to_f64().is_nan() { Scalar::Float(finite) } else { number };
    let numbers = [nan, or(infinity, greatest), or(minus_infinity, -greatest), Scalar::Float(f64::INFINITY)];
    FINITE.run_in(dtype, &[r, t], &numbers)
}

/// `r = t` with numbers in place of NaN, infinity and -infinity. The fourth number is infinity.
static FINITE: Op<2> = Op {
    #[cfg(feature = "cuda")]
    formula: Formula {
        name: "finite",
        arguments: "r out;t input;nan parameter;most parameter;least parameter;infinity parameter;",
        kernel: "kernel finite",
    },
    result: ResultDtype::Same,
    role: Role::Parameters,
    checked: false,
    grain: CHEAP,
    kernels: [None, None, None, None, None, Some(finite_i32), Some(finite_i64), None],
    bits: Some(finite_i16),
    masked: false,
};

/// Operations that no macro of rows defines.
#[cfg(feature = "cuda")]
pub static NUMBERS: &[Elementwise] = &[FINITE.as_elementwise()];

/// Kernels of [`FINITE`] over the bits of floats. As integers, bits without the sign are ordered by magnitude.
macro_rules! finite {
    ($($name:ident($int:ident);)*) => { $(
        fn $name(work: &Work<2>, numbers: &Numbers<'_>) {
            let [nan, most, least, infinity]: [$int; 4] = each(|k| numbers.bits(k));
            map::map1::<$int, $int>(
                work,
                #[inline(always)]
                move |_, bits| {
                    let number = if bits == infinity { most } else { bits };
                    let number = if bits == (infinity | $int::MIN) { least } else { number };
                    if (bits & $int::MAX) > infinity { nan } else { number }
                },
            )
        }
    )* };
}

finite! {
    finite_i16(i16);
    finite_i32(i32);
    finite_i64(i64);
}

/// `r = a * log(value)`
pub fn xlogy_value(r: &Tensor, a: &Tensor, value: Scalar) -> Result<()> {
    let common = promote_scalar(a, value)?.to_float();
    xlogy.run_in(common, &[r, a, &number_tensor(value, common)?], &[])
}

/// The lowest order of a derivative of digamma that is not supported.
const MOST_DERIVED: i64 = (1 << 20) + 1;

/// `r = the n-th derivative of digamma at t`
pub fn polygamma(r: &Tensor, n: i64, t: &Tensor) -> Result<()> {
    match n {
        ..0 => bail!(Argument, "a derivative of order {n}"),
        // The preparation takes some nanoseconds for each order.
        MOST_DERIVED.. => bail!(Unsupported, "a derivative of order {n}, at most {} is computed", MOST_DERIVED - 1),
        0 => return digamma.run_inlined([r, t], &[]),
        1 => return trigamma.run_inlined([r, t], &[]),
        _ => {}
    }
    derivative.run_in(t.defined()?.to_float(), &[r, t], &[Scalar::Int(n)])
}

operations! {
    GAMMA;
    /// `r = the n-th derivative of digamma at t`
    derivative(r: out, t: input, n: parameter) { float same COSTLIEST, kernel derivative_kernel }
    /// `r = the logarithm of the multivariate gamma function of dimension p`
    multivariate(r: out, t: input, p: parameter) { float same COSTLY, kernel multivariate_kernel }
}

fn derivative_kernel<T: Real>(work: &Work<2>, numbers: &Numbers<'_>) {
    let of_order = vmath::Polygamma::new(numbers.exact::<i64>(0) as u64);
    map::map1::<T, T>(
        work,
        #[inline(always)]
        move |_, x| T::from_f64(of_order.at(x.to_f64())),
    )
}

fn multivariate_kernel<T: Real>(work: &Work<2>, numbers: &Numbers<'_>) {
    let p = numbers.exact::<i64>(0) as u64;
    map::map1_blocks::<T>(
        work,
        #[inline(always)]
        move |isa, xs| vmath::mvlgamma_f64(isa, p, xs),
    )
}

/// `r = log(pi) p (p - 1) / 4 + the sum of lgamma(t - k / 2) over k from 0 to p - 1`
pub fn mvlgamma(r: &Tensor, t: &Tensor, p: i64) -> Result<()> {
    const MOST: i64 = 1 << 16;
    if !(1..=MOST).contains(&p) {
        bail!(Argument, "a dimension of {p}, expected 1 to {MOST}")
    }
    multivariate.run_in(t.defined()?.to_float(), &[r, t], &[Scalar::Int(p)])
}

/// `r = log(e^a + e^b)`
fn log_add_exp<T: LogAddExp>(work: &Work<3>, _: &Numbers<'_>) {
    map::map2_run::<T>(
        work,
        #[inline(always)]
        // SAFETY: each operand has `n` elements.
        |isa, r, operands, n| unsafe { T::run(isa, r, operands, n) },
    )
}

/// The loops of [`log_add_exp`] for each type.
trait LogAddExp: Element {
    /// # Safety
    /// Each operand has `n` elements.
    unsafe fn run(isa: Isa, r: *mut Self, operands: [*const Self; 2], n: usize);
}

impl LogAddExp for f32 {
    #[inline(always)]
    unsafe fn run(isa: Isa, r: *mut f32, operands: [*const f32; 2], n: usize) {
        // SAFETY: the caller keeps the same promise.
        unsafe { vmath::logaddexp_run_f32(isa, r, operands, n) }
    }
}

impl LogAddExp for f64 {
    #[inline(always)]
    unsafe fn run(isa: Isa, r: *mut f64, operands: [*const f64; 2], n: usize) {
        // SAFETY: the caller keeps the same promise.
        unsafe { vmath::logaddexp_run_f64(isa, r, operands, n) }
    }
}

/// Floats that are adjacent in their type.
trait Neighbour {
    /// The number adjacent to this one, in the direction of `b`.
    fn next(self, b: Self) -> Self;
}

/// Adjacent numbers, found by the bits of floats: without the sign, they are ordered by magnitude. `name(bits): float type`
macro_rules! neighbours {
    ($($name:ident($int:ident) $($float:ident)?;)*) => { $(
        #[inline(always)]
        fn $name(a: $int, b: $int, infinity: $int) -> $int {
            let magnitude = |x: $int| x & $int::MAX;
            let key = |x: $int| if x < 0 { -magnitude(x) } else { x };
            let outward = (key(b) > key(a)) == (a >= 0);
            let next = if outward { a.wrapping_add(1) } else { a.wrapping_sub(1) };
            let from_zero = 1 | (b & $int::MIN);
            let next = if magnitude(a) == 0 { from_zero } else { next };
            let nan = (magnitude(a) > infinity) | (magnitude(b) > infinity);
            if nan {
                $int::MAX
            } else if key(a) == key(b) {
                b
            } else {
                next
            }
        }

        $(impl Neighbour for $float {
            #[inline(always)]
            fn next(self, b: $float) -> $float {
                let bits = |x: $float| x.to_bits().cast_signed();
                $float::from_bits($name(bits(self), bits(b), bits($float::INFINITY)).cast_unsigned())
            }
        })?
    )* };
}

neighbours! {
    next_i16(i16);
    next_i32(i32) f32;
    next_i64(i64) f64;
}

fn next_of_16_bits(work: &Work<3>, numbers: &Numbers<'_>) {
    let infinity =
        if numbers.common() == Dtype::Float16 { half::f16::INFINITY.to_bits() } else { half::bf16::INFINITY.to_bits() }.cast_signed();
    map::map2::<i16, i16, i16>(
        work,
        #[inline(always)]
        move |_, a, b| next_i16(a, b, infinity),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_16_bit_floats_are_those_of_their_own_type() {
        let infinity = half::f16::INFINITY.to_bits().cast_signed();
        for bits in 0..infinity {
            let after = half::f16::from_bits(next_i16(bits, infinity, infinity).cast_unsigned());
            let here = half::f16::from_bits(bits.cast_unsigned());
            let between = (here.to_f64() + after.to_f64()) / 2.0;
            let rounded = half::f16::from_f64(between);
            assert!(after > here && (rounded == here || rounded == after), "after {here:e}");
            assert_eq!(next_i16(bits + 1, 0, infinity), bits, "before {after:e}");
        }
        let up = half::bf16::from_bits(next_i16(0x3f80, 0x4000, half::bf16::INFINITY.to_bits().cast_signed()).cast_unsigned());
        assert_eq!(up.to_f32(), 1.0078125);
    }

    #[test]
    fn neighbours_pass_zero_and_the_ends() {
        assert_eq!(Neighbour::next(0.0, -1.0), -5e-324);
        assert_eq!(Neighbour::next(5e-324, -1.0f64).to_bits(), 0);
        assert_eq!(Neighbour::next(-5e-324, 1.0f64).to_bits(), 1 << 63);
        assert_eq!(Neighbour::next(f64::MAX, f64::INFINITY), f64::INFINITY);
        assert_eq!(Neighbour::next(f64::NEG_INFINITY, 0.0), f64::MIN);
        assert!(Neighbour::next(f64::NAN, 1.0).is_nan() && Neighbour::next(1.0, f32::NAN).is_nan());
        assert_eq!(Neighbour::next(2.0f32, 2.0), 2.0);
        assert_eq!(Neighbour::next(0.0f32, -0.0).to_bits(), (-0.0f32).to_bits());
    }
}
