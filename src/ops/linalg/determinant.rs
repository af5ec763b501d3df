//! Determinants.

use super::{Batch, Matrices, float};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::{Decomposition, Determinant};
use crate::ops::result::deliver;
use crate::ops::view;
use crate::tensor::Tensor;

/// `r` = the determinants
pub fn det(r: &Tensor, t: &Tensor) -> Result<()> {
    let (dtype, values) = numbers(t, Determinant::Value)?;
    deliver([Some((r, dtype, &part(&values, 0)?))])
}

/// `sign` = the signs of the determinants, or 0; `logarithm` = the logarithms of their magnitudes
pub fn slogdet(sign: Option<&Tensor>, logarithm: Option<&Tensor>, t: &Tensor) -> Result<()> {
    let (dtype, values) = numbers(t, Determinant::SignAndLogarithm)?;
    let (signs, logarithms) = (part(&values, 0)?, part(&values, 1)?);
    deliver([sign.map(|r| (r, dtype, &signs)), logarithm.map(|r| (r, dtype, &logarithms))])
}

/// `r` = the logarithms of the determinants; NaN for a negative determinant
pub fn logdet(r: &Tensor, t: &Tensor) -> Result<()> {
    let (dtype, values) = numbers(t, Determinant::Logarithm)?;
    deliver([Some((r, dtype, &part(&values, 0)?))])
}

/// Number `k` of the two numbers that each matrix has.
fn part(values: &Tensor, k: i64) -> Result<Tensor> {
    view::derive(values, |l| l.select(-1, k))
}

/// Two numbers that describe the determinant of each matrix in this form.
fn numbers(t: &Tensor, form: Determinant) -> Result<(Dtype, Tensor)> {
    let dtype = float(&[t])?;
    let of = Matrices::square(t)?;
    let batch = Batch::new(of.batch())?;
    let (lu, values) = (batch.columns(t)?, batch.empty(Dtype::Float64, &[2])?);
    // Room for the pivots and the exponent of the scale factor.
    let integers = batch.empty(Dtype::Int32, &[of.cols.saturating_add(1)])?;
    batch.decompose(Decomposition::Det { n: of.n(), form }, [&lu, &values], Some(&integers))?;
    Ok((dtype, values))
}
