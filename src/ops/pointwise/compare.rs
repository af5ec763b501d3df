//! Comparisons, classification, truth values, and equality of whole tensors.

use super::{promote, promote_scalar, rounded};
use crate::cpu::engine::CHEAP;
use crate::cpu::map;
use crate::cpu::real::Real;
use crate::dtype::{Bool, Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::ops::prepare::elementwise;
use crate::ops::reduce;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `dtype`, or int64 where the number lies beyond an integer type: 300 is greater than every uint8, not 44.
#[inline]
fn comparable(dtype: Dtype, value: Scalar) -> Dtype {
    let fits = match (dtype, value) {
        (Dtype::Uint8, Scalar::Int(x)) => u8::try_from(x).is_ok(),
        (Dtype::Int8, Scalar::Int(x)) => i8::try_from(x).is_ok(),
        (Dtype::Int16, Scalar::Int(x)) => i16::try_from(x).is_ok(),
        (Dtype::Int32, Scalar::Int(x)) => i32::try_from(x).is_ok(),
        _ => true,
    };
    if fits { dtype } else { Dtype::Int64 }
}

/// A comparison with a tensor and with a number; the result is Bool unless it has a dtype: `tensor_form / number_form: |a, b| expression`.
macro_rules! comparison {
    ($($(#[$doc:meta])* $tensor:ident / $number:ident: |$a:ident, $b:ident| $f:expr;)*) => { $(
        binary! { $(#[$doc])* $tensor(): all Bool CHEAP, |_, $a, $b| $f; }

        /// The same with one number for every element.
        pub fn $number(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
            let dtype = comparable(promote_scalar(t, value)?, value);
            elementwise([r, t], dtype, Dtype::Bool, CHEAP, &|work| {
                dispatch!(all, dtype, T => {
                let $b: T = rounded(value, dtype);
                map::map1::<T, Bool>(work, #[inline(always)] move |_, $a| ($f).into())
                });
                Ok(())
            })
        }
    )* };
}

comparison! {
    /// `r = a < b`
    lt_tensor / lt_value: |a, b| a < b;
    /// `r = a <= b`
    le_tensor / le_value: |a, b| a <= b;
    /// `r = a > b`
    gt_tensor / gt_value: |a, b| a > b;
    /// `r = a >= b`
    ge_tensor / ge_value: |a, b| a >= b;
    /// `r = a == b`
    eq_tensor / eq_value: |a, b| a == b;
    /// `r = a != b`
    ne_tensor / ne_value: |a, b| a != b;
}

unary! {
    /// `r = whether t is NaN`
    isnan(): all Bool CHEAP, |_, x| x.is_nan();
    /// `r = whether t is inf or -inf`
    isinf(): all Bool CHEAP, |_, x| !x.is_nan() & x.sub(x).is_nan();
    /// `r = whether t is neither infinite nor NaN`
    isfinite(): all Bool CHEAP, |_, x| !x.sub(x).is_nan();
    /// `r = whether t is 0`
    logical_not(): all Bool CHEAP, |_, x| x == T::ZERO;
}

binary! {
    /// `r = a and b`, as truth values
    logical_and(): all Bool CHEAP, |_, a, b| (a != T::ZERO) & (b != T::ZERO);
    /// `r = a or b`, as truth values
    logical_or(): all Bool CHEAP, |_, a, b| (a != T::ZERO) | (b != T::ZERO);
    /// `r = either a or b`, as truth values
    logical_xor(): all Bool CHEAP, |_, a, b| (a != T::ZERO) ^ (b != T::ZERO);
}

/// How near numbers count as equal: `|a - b| <= absolute + relative * |b|`.
#[derive(Debug, Clone, Copy)]
pub struct Tolerance {
    /// Grows with the second number.
    pub relative: f64,
    /// Does not.
    pub absolute: f64,
    /// Whether NaN is close to NaN.
    pub nan: bool,
}

impl Tolerance {
    #[inline(always)]
    fn close<T: Real>(self, a: T, b: T) -> bool {
        let (relative, absolute) = (T::from_f64(self.relative), T::from_f64(self.absolute));
        let apart = Element::abs(a.sub(b));
        let near = apart <= absolute.add(Element::abs(relative.mul(b)));
        // The right side may be infinite, but what is infinitely far away is not close.
        (a == b) | (near & apart.is_finite()) | (self.nan & a.is_nan() & b.is_nan())
    }
}

/// `r = |a - b| <= absolute + relative * |b|`; integers are compared as float64
pub fn isclose(r: &Tensor, a: &Tensor, b: &Tensor, tolerance: Tolerance) -> Result<()> {
    if !(tolerance.relative >= 0.0 && tolerance.absolute >= 0.0) {
        bail!(Argument, "tolerances are not negative, got {} and {}", tolerance.relative, tolerance.absolute)
    }
    let dtype = promote(&[a, b])?;
    let dtype = if dtype.is_float() { dtype } else { Dtype::Float64 };
    elementwise([r, a, b], dtype, Dtype::Bool, CHEAP, &|work| {
        dispatch!(float, dtype, T => {
        map::map2::<T, T, Bool>(work, #[inline(always)] move |_, a, b| tolerance.close(a, b).into())
        });
        Ok(())
    })
}

/// Whether all elements are close.
pub fn allclose(a: &Tensor, b: &Tensor, tolerance: Tolerance) -> Result<bool> {
    let close = Tensor::fresh()?;
    isclose(&close, a, b, tolerance)?;
    nonzero_everywhere(&close)
}

/// Whether both have the same shape and equal elements.
pub fn equal(a: &Tensor, b: &Tensor) -> Result<bool> {
    promote(&[a, b])?;
    if a.layout()?.shape != b.layout()?.shape {
        return Ok(false);
    }
    let same = Tensor::fresh()?;
    eq_tensor(&same, a, b)?;
    nonzero_everywhere(&same)
}

/// Whether no element is 0.
pub fn nonzero_everywhere(t: &Tensor) -> Result<bool> {
    Ok(reduce::number(|to| reduce::logic(true, to, t, reduce::Over::Dims(&[])))? != 0.0)
}
