//! The check of integer divisors, before anything is written.

use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::ops::copy::to_dtype;
use crate::ops::reduce::nonzero_everywhere;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Fails if integers of `common` would be divided by zero. `operands` are the dividend and the divisor, or only the dividend; the divisor
/// is then the first of `numbers`. A dividend without elements passes.
pub fn check(common: Dtype, operands: &[&Tensor], numbers: &[Scalar]) -> Result<()> {
    if operands[0].peek().0.contains(&0) {
        return Ok(());
    }
    // Divisors are converted first, because 256 is 0 as uint8.
    let fine = match (operands, numbers) {
        ([_, divisors], _) => nonzero_everywhere(&to_dtype(divisors, common)?)?,
        (_, [value, ..]) => dispatch!(numeric, common, T => T::from_scalar(*value) != T::ZERO),
        _ => true,
    };
    if fine { Ok(()) } else { by_zero() }
}

#[cold]
fn by_zero() -> Result<()> {
    bail!(Argument, "integers divided by zero")
}
