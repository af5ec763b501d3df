//! Sums, differences, products, quotients, extremes, powers, and operations derived from them.

use super::op::operations;
use super::{number_tensor, promote, promote_scalar};
use crate::cpu::engine::{CHEAP, COSTLY, Work};
use crate::cpu::map;
use crate::cpu::number::{self, Number, max, min};
use crate::cpu::real::Real;
use crate::cpu::vmath;
use crate::dtype::{Bool, Category, Domain, Dtype, Element};
use crate::error::{Result, bail};
use crate::launch::{Numbers, Op};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use smallvec::SmallVec;

macro_rules! arithmetic_functions {
    ($do:ident $($to:tt)*) => { $do! { $($to)*
        /// `r = -t`. Not for Bool.
        neg(r: out, t: input) { numeric same CHEAP, |_, t| t.neg(); bits neg_bits }
        /// `r = |t|`. Not for Bool.
        abs(r: out, t: input) { numeric same CHEAP, |_, t| Element::abs(t); bits abs_bits }
        /// `r = -1 where t < 0, 0 where t is 0 or NaN, 1 where t > 0`.
        sign(r: out, t: input) { all same CHEAP, |_, t| number::sign(t) }
        /// `r = floor(t)`. Not for Bool; integers are unchanged.
        floor(r: out, t: input) { numeric same CHEAP, |_, t| Number::floor(t) }
        /// `r = ceil(t)`. Not for Bool; integers are unchanged.
        ceil(r: out, t: input) { numeric same CHEAP, |_, t| Number::ceil(t) }
        /// `r = t rounded to the nearest integer`, ties to even. Not for Bool; integers are unchanged.
        round(r: out, t: input) { numeric same CHEAP, |_, t| Number::round(t) }
        /// `r = t rounded towards zero`. Not for Bool; integers are unchanged.
        trunc(r: out, t: input) { numeric same CHEAP, |_, t| Number::trunc(t) }
        /// `r = t - trunc(t)`. Floats only.
        frac(r: out, t: input) { float same CHEAP, |_, t| t - Number::trunc(t) }
        /// `r = t^2`. Not for Bool; integers wrap.
        square(r: out, t: input) { numeric same CHEAP, |_, t| t.mul(t) }
        /// `r = 1 / t`. Integers give the default dtype.
        cinv(r: out, t: input) { float real CHEAP, |_, t| T::from_i64(1) / t }

        /// `r = t + value`. With a whole `value` integers keep their dtype, otherwise they give the default dtype.
        add(r: out, t: input, value: number) { all same CHEAP, |_, t| t.add(value) }
        /// `r = t - value`. With a whole `value` integers keep their dtype, otherwise they give the default dtype.
        sub(r: out, t: input, value: number) { numeric same CHEAP, |_, t| t.sub(value) }
        /// `r = t * value`. With a whole `value` integers keep their dtype, otherwise they give the default dtype.
        mul(r: out, t: input, value: factor) { all same CHEAP, |_, t| t.mul(value) }
        /// `r = t / value`, true division: integers give the default dtype.
        div(r: out, t: input, value: factor) { float real CHEAP, |_, t| t / value }

        /// `r = a * b`, with broadcasting and promotion; on Bool this is *and*.
        cmul(r: out, a: input, b: input) { all same CHEAP, transposed |_, a, b| a.mul(b) }
        /// `r = a / b`, with broadcasting; true division: integers give the default dtype.
        cdiv(r: out, a: input, b: input) { float real CHEAP, transposed |_, a, b| a / b }
        /// `r = a^b`, with broadcasting and promotion. Not for Bool. Integers wrap. A negative power of an integer is 1 divided by the
        /// positive power, rounded towards zero; for 0 it is 0.
        cpow(r: out, a: input, b: input) { numeric same COSTLY, kernel power_of_tensor }
        /// `r = value^t`. Not for Bool; negative powers of integers are as for cpow.
        tpow(r: out, value: number, t: input) { numeric same COSTLY, kernel power_of_number }

        /// `r = t + value * a * b`, with broadcasting and promotion. For integers `value` must be whole; not for Bool.
        addcmul(r: out, t: input, value: parameter, a: input, b: input) { numeric same CHEAP, |_, t, a, b| t.add(value.mul(a).mul(b)) }
        /// `r = t + value * a / b`, with broadcasting and promotion. Floats only.
        addcdiv(r: out, t: input, value: parameter, a: input, b: input) { float same CHEAP, |_, t, a, b| t + value * a / b }
        /// `r = a + weight * (b - a)`, exact for weights 0 and 1, with broadcasting and promotion. Floats only.
        lerp(r: out, a: input, b: input, weight: parameter) { float same CHEAP, kernel between_of_number }
        /// `r = a + weight * (b - a)` with a weight for each element, with broadcasting and promotion. Floats only.
        lerpTensor(r: out, a: input, b: input, weight: input) { float same CHEAP, |_, a, b, weight| between(a, b, weight) }
    } };
}
pub(crate) use arithmetic_functions;

arithmetic_functions!(operations ARITHMETIC;);

/// The sign bit of a 16-bit float is flipped without a conversion to float32.
fn neg_bits(work: &Work<2>, _: &Numbers<'_>) {
    map::map1::<i16, i16>(
        work,
        #[inline(always)]
        |_, bits| bits ^ i16::MIN,
    )
}

/// The sign bit of a 16-bit float is cleared without a conversion to float32.
fn abs_bits(work: &Work<2>, _: &Numbers<'_>) {
    map::map1::<i16, i16>(
        work,
        #[inline(always)]
        |_, bits| bits & i16::MAX,
    )
}

operations! {
    SUMS;
    /// `r = a + b`
    add_tensor(r: out, a: input, b: input) { all same CHEAP, transposed |_, a, b| a.add(b) }
    /// `r = a - b`
    sub_tensor(r: out, a: input, b: input) { numeric same CHEAP, transposed |_, a, b| a.sub(b) }
    /// `r = t + value * src`
    add_scaled(r: out, t: input, value: parameter, src: input) { all same CHEAP, transposed |_, t, src| t.add(value.mul(src)) }
}

/// `r = t + value * src`
pub fn cadd(r: &Tensor, t: &Tensor, value: Scalar, src: &Tensor) -> Result<()> {
    if value == Scalar::Int(1) {
        return add_tensor.run_inlined([r, t, src], &[]);
    }
    let common = promote(&[t, src])?;
    add_scaled.run_in(common, &[r, t, src], &[rounded(value, common)])
}

/// `r = t - value * src`
pub fn csub(r: &Tensor, t: &Tensor, value: Scalar, src: &Tensor) -> Result<()> {
    if value == Scalar::Int(1) {
        return sub_tensor.run_inlined([r, t, src], &[]);
    }
    let common = Domain::Numeric.check(promote(&[t, src])?)?;
    super::check_whole(common, value)?;
    let minus = match value {
        Scalar::Int(x) if !common.is_float() => Scalar::Int(x.wrapping_neg()),
        value => Scalar::Float(-value.to_f64()),
    };
    add_scaled.run_in(common, &[r, t, src], &[rounded(minus, common)])
}

/// `r = value - t`
pub fn rsub(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
    let common = promote_scalar(t, value)?;
    sub_tensor.run_in(common, &[r, &number_tensor(value, common)?, t], &[])
}

/// `r = value / t`
pub fn rdiv(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
    number_over.run_inlined([r, t], &[value])
}

/// The number, rounded to `common` if that is a 16-bit float.
fn rounded(value: Scalar, common: Dtype) -> Scalar {
    if common == common.compute() { value } else { Scalar::Float(Numbers::new(&[value], common).rounded::<f64>(0)) }
}

/// `a + weight * (b - a)`, exact for weights 0 and 1. If the difference overflows, the result is `a * (1 - weight) + b * weight`, where a
/// term of weight 0 is 0.
#[inline(always)]
fn between<T: Real>(a: T, b: T, weight: T) -> T {
    let (distance, half, infinity) = (b.sub(a), T::from_f64(0.5), T::from_f64(f64::INFINITY));
    let rest = T::from_f64(1.0).sub(weight);
    let (from_a, from_b) = (a.add(weight.mul(distance)), b.sub(distance.mul(rest)));
    // For negative weights the formula from `b` covers the longer distance and may overflow alone.
    let beyond = (weight < T::ZERO) & (Element::abs(from_b) == infinity);
    let near = if (Element::abs(weight) < half) | beyond { from_a } else { from_b };
    let of_a = if (rest == T::ZERO) & (Element::abs(a) == infinity) { T::ZERO } else { a.mul(rest) };
    let of_b = if (weight == T::ZERO) & (Element::abs(b) == infinity) { T::ZERO } else { b.mul(weight) };
    if Element::abs(distance) < infinity { near } else { of_a.add(of_b) }
}

/// [`between`] with one weight. Weights from 0 to 1, both exclusive, need none of the tests for special weights, which would take more time
/// than the memory does.
fn between_of_number<T: Real>(work: &Work<3>, numbers: &Numbers<'_>) {
    let weight: T = numbers.exact(0);
    let (rest, half) = (T::from_f64(1.0).sub(weight), T::from_f64(0.5));
    if weight > T::ZERO && weight < half {
        map::map2::<T, T, T>(
            work,
            #[inline(always)]
            move |_, a, b| finite_or_sum(a.add(weight.mul(b.sub(a))), [a, b], [rest, weight]),
        )
    } else if weight >= half && weight < T::from_f64(1.0) {
        map::map2::<T, T, T>(
            work,
            #[inline(always)]
            move |_, a, b| finite_or_sum(b.sub(b.sub(a).mul(rest)), [a, b], [rest, weight]),
        )
    } else {
        map::map2::<T, T, T>(
            work,
            #[inline(always)]
            move |_, a, b| between(a, b, weight),
        )
    }
}

/// `near` if `b - a` is finite, otherwise `a * rest + b * weight`
#[inline(always)]
fn finite_or_sum<T: Real>(near: T, [a, b]: [T; 2], [rest, weight]: [T; 2]) -> T {
    if Element::abs(b.sub(a)) < T::from_f64(f64::INFINITY) { near } else { a.mul(rest).add(b.mul(weight)) }
}

operations! {
    BOUNDS;
    /// `r = the larger of a and b`
    cmax(r: out, a: input, b: input) { all same CHEAP, transposed |_, a, b| max(a, b) }
    /// `r = the smaller of a and b`
    cmin(r: out, a: input, b: input) { all same CHEAP, transposed |_, a, b| min(a, b) }
    /// `r = value / t`
    number_over(r: out, value: factor, t: input) { float real CHEAP, |_, t| value / t }
    /// `r = the larger of t and value`; compared this way round NaN stays, by one instruction
    not_below(r: out, t: input, value: parameter) { all same CHEAP, |_, t| if value > t { value } else { t } }
    /// `r = the smaller of t and value`
    not_above(r: out, t: input, value: parameter) { all same CHEAP, |_, t| if value < t { value } else { t } }
    /// `r = min(max(t, least), most)`
    within(r: out, t: input, least: parameter, most: parameter) {
        all same CHEAP, |_, t| {
            let t = if least > t { least } else { t };
            if most < t { most } else { t }
        }
    }
    /// `r = min(max(t, least), most)` with bounds for each element. Floats only, to keep the library small.
    between_bounds(r: out, t: input, least: input, most: input) { float same CHEAP, |_, t, least, most| min(max(t, least), most) }
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

/// `r = t`, limited by the bounds for which `binds` is true; NaN if such a bound is NaN.
fn clamped(r: &Tensor, t: &Tensor, bounds: [Scalar; 2], binds: [bool; 2]) -> Result<()> {
    let mut common = t.defined()?;
    let mut to_nan = false;
    for (bound, _) in bounds.into_iter().zip(binds).filter(|&(_, binds)| binds) {
        to_nan |= bound.to_f64().is_nan();
        // An integral bound beyond int64 has the same effect as the nearest int64, so that integers stay integers.
        let whole = matches!(bound, Scalar::Float(x) if x.is_finite() && x.fract() == 0.0);
        common = common.promote(promote_scalar(t, if whole { Scalar::Int(0) } else { bound })?);
    }
    if to_nan {
        // A product with NaN is NaN.
        return mul.run_in(common, &[r, t], &[Scalar::Float(f64::NAN)]);
    }
    let [least, most] = bounds.map(|bound| nearest(common, bound));
    match binds {
        [true, true] => within.run_in(common, &[r, t], &[least, most]),
        [true, false] => not_below.run_in(common, &[r, t], &[least]),
        [false, true] => not_above.run_in(common, &[r, t], &[most]),
        [false, false] => unchanged(r, t, common),
    }
}

/// `r = t` in the dtype `common`. Adding -0.0 changes no float, and adding 0 no integer.
pub(super) fn unchanged(r: &Tensor, t: &Tensor, common: Dtype) -> Result<()> {
    add.run_in(common, &[r, t], &[if common.is_float() { Scalar::Float(-0.0) } else { Scalar::Int(0) }])
}

/// `r = the larger of a and b`
pub fn cmax_tensor(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    extreme(&cmax, r, a, b)
}

/// `r = the smaller of a and b`
pub fn cmin_tensor(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    extreme(&cmin, r, a, b)
}

fn extreme(op: &'static Op<3>, r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    if a.dtype() == b.dtype() {
        return op.run_inlined([r, a, b], &[]);
    }
    let common = promote(&[a, b])?;
    op.run_in(common, &[r, &fitting(a, common)?, &fitting(b, common)?], &[])
}

/// `t`, whose elements are replaced by the nearest elements of `common` if that is an integer dtype with a smaller range. This happens for
/// 0-d tensors, which do not affect promotion.
fn fitting(t: &Tensor, common: Dtype) -> Result<Tensor> {
    let dtype = t.defined()?;
    if common.is_float() || common.promote(dtype) == common {
        return Ok(t.clone());
    }
    let r = Tensor::fresh()?;
    let ends = [i64::MIN, i64::MAX].map(|end| nearest(dtype, nearest(common, Scalar::Int(end))));
    within.run_in(dtype, &[&r, t], &ends)?;
    Ok(r)
}

/// [`clamp`] with tensors as bounds; an absent bound does not limit
pub fn clamp_tensor(r: &Tensor, t: &Tensor, least: Option<&Tensor>, most: Option<&Tensor>) -> Result<()> {
    let bounds = [least, most].into_iter().flatten();
    let common = promote(&[t].into_iter().chain(bounds).collect::<SmallVec<[&Tensor; 3]>>())?;
    match (least, most) {
        (Some(least), Some(most)) => {
            let (t, least, most) = (fitting(t, common)?, fitting(least, common)?, fitting(most, common)?);
            if common.is_float() {
                return between_bounds.run_in(common, &[r, &t, &least, &most], &[]);
            }
            let above = Tensor::fresh()?;
            cmax.run_in(common, &[&above, &t, &least], &[])?;
            cmin.run_in(common, &[r, &above, &most], &[])
        }
        (Some(least), None) => cmax_tensor(r, t, least),
        (None, Some(most)) => cmin_tensor(r, t, most),
        (None, None) => bail!(Argument, "'minimum' and 'maximum' are both NULL"),
    }
}

/// The value of `dtype` that is nearest to a bound.
fn nearest(dtype: Dtype, bound: Scalar) -> Scalar {
    macro_rules! within {
        ($T:ty) => {
            match bound {
                Scalar::Int(x) => Scalar::Int(x.clamp(<$T>::MIN.into(), <$T>::MAX.into())),
                Scalar::Float(x) => Scalar::Int((x as $T).into()),
            }
        };
    }
    match dtype {
        Dtype::Uint8 => within!(u8),
        Dtype::Int8 => within!(i8),
        Dtype::Int16 => within!(i16),
        Dtype::Int32 => within!(i32),
        Dtype::Int64 => within!(i64),
        _ => bound,
    }
}

/// [`clamp`] that fails if the bounds are not in order
pub fn hardtanh(r: &Tensor, t: &Tensor, least: Scalar, most: Scalar) -> Result<()> {
    if least.to_f64() > most.to_f64() {
        bail!(Argument, "the bounds {least} and {most} are not in order")
    }
    clamp(r, t, least, most)
}

/// `r = a^b`
fn power_of_tensor<T: Number>(work: &Work<3>, _: &Numbers<'_>) {
    map::map2_run::<T>(
        work,
        #[inline(always)]
        // SAFETY: each operand has `n` elements.
        |isa, r, ab, n| unsafe { T::pow_run(isa, r, ab, [1, 1], n) },
    )
}

/// `r = t^value` in general
fn power<T: Number>(work: &Work<2>, numbers: &Numbers<'_>) {
    let exponent: f64 = numbers.exact(0);
    // An exponent that float32 does not represent exactly is used in float64.
    if numbers.common() == Dtype::Float32 && exponent.is_finite() && f64::from(exponent as f32) != exponent {
        return power_in_float64(work, exponent);
    }
    let value: T = numbers.rounded(0);
    map::map1_run::<T>(
        work,
        #[inline(always)]
        // SAFETY: each operand has `n` elements.
        move |isa, r, t, n| unsafe { T::pow_run(isa, r, [t, &raw const value], [1, 0], n) },
    )
}

/// `r = value^t`
fn power_of_number<T: Number>(work: &Work<2>, numbers: &Numbers<'_>) {
    let value: T = numbers.rounded(0);
    map::map1_run::<T>(
        work,
        #[inline(always)]
        // SAFETY: each operand has `n` elements.
        move |isa, r, t, n| unsafe { T::pow_run(isa, r, [&raw const value, t], [0, 1], n) },
    )
}

operations! {
    POWERS;
    /// `r = t^value` in general
    general_power(r: out, t: input, value: number) { numeric same COSTLY, kernel power }
    /// `r = t^3`
    cube(r: out, t: input) { numeric same CHEAP, |_, t| t.mul(t).mul(t) }
    /// `r = t^0.5`: unlike the square root it has no negative zero, and -inf gives inf
    half_power(r: out, t: input) { float same CHEAP, |_, t| if t == -T::INFINITY { T::INFINITY } else { t.sqrt() + 0.0 } }
}

/// The number of elements whose powers are computed in float64 at a time.
const PIECE: usize = 128;

/// `r = t^value` of float32, computed in float64.
fn power_in_float64(work: &Work<2>, value: f64) {
    let (whole, odd) = (value.trunc() == value, value.trunc() == value && value % 2.0 != 0.0);
    map::map1_run::<f32>(
        work,
        #[inline(always)]
        move |isa, r, t: *const f32, n| {
            let mut buffer = [0f64; PIECE];
            let wide = buffer.as_mut_ptr();
            for at in (0..n).step_by(PIECE) {
                let len = PIECE.min(n - at);
                // SAFETY: each operand has `n` elements, and the buffer has room for a piece.
                unsafe {
                    let (t, r) = (t.add(at), r.add(at));
                    for i in 0..len {
                        wide.add(i).write(f64::from(t.add(i).read().abs()));
                    }
                    // The power by logarithm loses the last bits of float64, which float32 does not have.
                    vmath::log_run_f64(isa, wide, wide, len);
                    for i in 0..len {
                        *wide.add(i) *= value;
                    }
                    vmath::exp_run_f64(isa, wide, wide, len);
                    for i in 0..len {
                        let (x, power) = (t.add(i).read(), wide.add(i).read() as f32);
                        let power = if odd { power.copysign(x) } else { power };
                        let undefined = !whole & (x < 0.0) & (x > f32::NEG_INFINITY);
                        r.add(i).write(if undefined { f32::NAN } else { power });
                    }
                }
            }
        },
    )
}

/// `r = t^value`
pub fn pow(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
    let common = promote_scalar(t, value)?;
    if common.category() == Category::Integer && value.to_f64() < 0.0 {
        bail!(Argument, "integers have no integer power {value}")
    }
    match value {
        _ if t.defined()? != common => general_power.run_in(common, &[r, t], &[value]),
        Scalar::Int(2) => square.run_inlined([r, t], &[]),
        Scalar::Int(3) => cube.run_inlined([r, t], &[]),
        Scalar::Int(-1) => cinv.run_inlined([r, t], &[]),
        Scalar::Float(0.5) => half_power.run_inlined([r, t], &[]),
        _ => general_power.run_in(common, &[r, t], &[value]),
    }
}
