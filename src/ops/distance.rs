//! Distances of tensors.

use super::copy;
use super::pointwise::arithmetic::csub;
use super::reduce::{Over, norm, number};
use crate::dtype::{Dtype, Promotion};
use crate::error::Result;
use crate::tensor::Tensor;

/// The p-norm of `a - b`, which broadcast against each other; in float64 from the difference on.
pub fn dist(a: &Tensor, b: &Tensor, p: f64) -> Result<f64> {
    let (of_a, of_b) = (a.defined()?, b.defined()?);
    let common = Promotion::default().tensor(of_a, a.ndim()).tensor(of_b, b.ndim()).result().unwrap_or(of_a);
    let difference = Tensor::fresh()?;
    if common.is_float() {
        let widened = |t: &Tensor| copy::to_dtype(&copy::to_dtype(t, common)?, Dtype::Float64);
        csub(&difference, &widened(a)?, 1.into(), &widened(b)?)?;
    } else {
        csub(&difference, a, 1.into(), b)?;
    }
    number(|to| norm(to, &difference, p, Over::Dims(&[]), None))
}
