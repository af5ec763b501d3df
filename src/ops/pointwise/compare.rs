//! Comparisons, classification, truth values, and equality of whole tensors.

use super::op::operations;
use super::promote;
use crate::cpu::engine::CHEAP;
use crate::cpu::real::Real;
use crate::dtype::{Bool, Dtype, Element};
use crate::error::{Result, bail};
use crate::ops::reduce::nonzero_everywhere;
use crate::ops::view::view_dtype;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

macro_rules! compare_functions {
    ($do:ident $($to:tt)*) => { $do! { $($to)*
        /// `r = t < value`, as Bool unless `r` has a dtype. Integers are compared with any number exactly: 300 is greater than every uint8,
        /// and 2^63 than every int64. Floats are compared with the number rounded to their dtype. The other five comparisons with a number
        /// follow the same rules.
        ltValue(r: truth, t: input, value: number) { all truth CHEAP comparing, |_, t| t < value }
        /// `r = t <= value`, as Bool unless `r` has a dtype.
        leValue(r: truth, t: input, value: number) { all truth CHEAP comparing, |_, t| t <= value }
        /// `r = t > value`, as Bool unless `r` has a dtype.
        gtValue(r: truth, t: input, value: number) { all truth CHEAP comparing, |_, t| t > value }
        /// `r = t >= value`, as Bool unless `r` has a dtype.
        geValue(r: truth, t: input, value: number) { all truth CHEAP comparing, |_, t| t >= value }
        /// `r = t == value`, as Bool unless `r` has a dtype.
        eqValue(r: truth, t: input, value: number) { all truth CHEAP comparing, |_, t| t == value }
        /// `r = t != value`, as Bool unless `r` has a dtype.
        neValue(r: truth, t: input, value: number) { all truth CHEAP comparing, |_, t| t != value }

        /// `r = a < b`, with broadcasting, as Bool unless `r` has a dtype. Integers of two dtypes are compared exactly, including 0-d
        /// tensors. The other five comparisons of tensors follow the same rules.
        ltTensor(r: truth, a: input, b: input) { all truth CHEAP, |_, a, b| a < b }
        /// `r = a <= b`, with broadcasting, as Bool unless `r` has a dtype.
        leTensor(r: truth, a: input, b: input) { all truth CHEAP, |_, a, b| a <= b }
        /// `r = a > b`, with broadcasting, as Bool unless `r` has a dtype.
        gtTensor(r: truth, a: input, b: input) { all truth CHEAP, |_, a, b| a > b }
        /// `r = a >= b`, with broadcasting, as Bool unless `r` has a dtype.
        geTensor(r: truth, a: input, b: input) { all truth CHEAP, |_, a, b| a >= b }
        /// `r = a == b`, with broadcasting, as Bool unless `r` has a dtype.
        eqTensor(r: truth, a: input, b: input) { all truth CHEAP, |_, a, b| a == b }
        /// `r = a != b`, with broadcasting, as Bool unless `r` has a dtype.
        neTensor(r: truth, a: input, b: input) { all truth CHEAP, |_, a, b| a != b }

        /// `r = whether t is NaN`, as Bool unless `r` has a dtype.
        isnan(r: truth, t: input) { all truth CHEAP, |_, t| t.is_nan() }
        /// `r = whether t is inf or -inf`, as Bool unless `r` has a dtype.
        isinf(r: truth, t: input) { all truth CHEAP, |_, t| !t.is_nan() & t.sub(t).is_nan() }
        /// `r = whether t is neither infinite nor NaN`, as Bool unless `r` has a dtype.
        isfinite(r: truth, t: input) { all truth CHEAP, |_, t| !t.sub(t).is_nan() }

        /// `r = whether t is 0`, as Bool unless `r` has a dtype.
        logicalNot(r: truth, t: input) { all truth CHEAP, |_, t| t == T::ZERO }
        /// `r = a and b`, with broadcasting, where every number except 0 is true; as Bool unless `r` has a dtype.
        logicalAnd(r: truth, a: input, b: input) { all truth CHEAP, |_, a, b| (a != T::ZERO) & (b != T::ZERO) }
        /// `r = a or b`, with broadcasting, where every number except 0 is true; as Bool unless `r` has a dtype.
        logicalOr(r: truth, a: input, b: input) { all truth CHEAP, |_, a, b| (a != T::ZERO) | (b != T::ZERO) }
        /// `r = a xor b`, with broadcasting, where every number except 0 is true; as Bool unless `r` has a dtype.
        logicalXor(r: truth, a: input, b: input) { all truth CHEAP, |_, a, b| (a != T::ZERO) ^ (b != T::ZERO) }
    } };
}
pub(crate) use compare_functions;

compare_functions!(operations COMPARISONS;);

/// The limits within which numbers are close: `|a - b| <= absolute + relative * |b|`.
#[derive(Debug, Clone, Copy)]
pub struct Tolerance {
    /// The factor of the second number's magnitude.
    pub relative: f64,
    /// The limit that does not depend on the numbers.
    pub absolute: f64,
    /// True if NaN is close to NaN.
    pub nan: bool,
}

operations! {
    CLOSENESS;
    /// `r = |a - b| <= absolute + relative * |b|`; if `nan` is not 0, NaN is close to NaN
    close(r: truth, a: input, b: input, relative: parameter, absolute: parameter, nan: parameter) {
        float truth CHEAP, |_, a, b| {
            let distance = Element::abs(a.sub(b));
            let near = distance <= absolute.add(Element::abs(relative.mul(b)));
            // The right side may be infinite. Then an infinite distance is not close.
            (a == b) | (near & Real::is_finite(distance)) | ((nan != 0.0) & a.is_nan() & b.is_nan())
        }
    }
}

/// `r = |a - b| <= absolute + relative * |b|`; integers are compared as float64
pub fn isclose(r: &Tensor, a: &Tensor, b: &Tensor, tolerance: Tolerance) -> Result<()> {
    if !(tolerance.relative >= 0.0 && tolerance.absolute >= 0.0) {
        bail!(Argument, "tolerances are not negative, got {} and {}", Scalar::from(tolerance.relative), Scalar::from(tolerance.absolute))
    }
    let dtype = promote(&[a, b])?;
    let dtype = if dtype.is_float() { dtype } else { Dtype::Float64 };
    let numbers = [tolerance.relative, tolerance.absolute, tolerance.nan.into()].map(Scalar::Float);
    close.run_in(dtype, &[r, a, b], &numbers)
}

/// `r = whether the sign bit of t is set`: the integer with the same bits is negative
pub fn signbit(r: &Tensor, t: &Tensor) -> Result<()> {
    let bits = match t.defined()? {
        Dtype::Float16 | Dtype::Bfloat16 => Dtype::Int16,
        Dtype::Float32 => Dtype::Int32,
        Dtype::Float64 => Dtype::Int64,
        integers => integers,
    };
    ltValue.run_inlined([r, &view_dtype(t, bits)?], &[Scalar::Int(0)])
}

/// Returns true if all elements are close.
pub fn allclose(a: &Tensor, b: &Tensor, tolerance: Tolerance) -> Result<bool> {
    let r = Tensor::fresh()?;
    isclose(&r, a, b, tolerance)?;
    nonzero_everywhere(&r)
}

/// Returns true if both have the same shape and equal elements.
pub fn equal(a: &Tensor, b: &Tensor) -> Result<bool> {
    promote(&[a, b])?;
    if a.layout()?.shape != b.layout()?.shape {
        return Ok(false);
    }
    let same = Tensor::fresh()?;
    eqTensor.run_inlined([&same, a, b], &[])?;
    nonzero_everywhere(&same)
}
