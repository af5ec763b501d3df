//! Diagonals: taken out, put in, summed; the identity.

use super::create::{disjoint, placed};
use super::{copy, reduce, view};
use crate::dtype::default_dtype;
use crate::error::{Result, bail};
use crate::layout::{Dims, wrap_dim};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r` = `n` x `m` zeros with ones on the main diagonal.
pub fn eye(r: &Tensor, n: i64, m: i64) -> Result<()> {
    let placed = placed(r, r.dtype().unwrap_or_else(default_dtype), &[n, m])?;
    let matrix = placed.tensor()?;
    let diagonal = of(&matrix, 0)?;
    copy::fill(&matrix, Scalar::Int(0))?;
    copy::fill(&diagonal, Scalar::Int(1))?;
    placed.commit()
}

/// The view of diagonal `k` of a matrix.
fn of(matrix: &Tensor, k: i64) -> Result<Tensor> {
    view::derive(matrix, |l| l.diagonal(k, 0, 1))
}

/// `r` = diagonal `k` of a matrix, or the matrix with vector `t` on its diagonal `k`.
pub fn diag(r: &Tensor, t: &Tensor, k: i64) -> Result<()> {
    let layout = t.layout()?;
    match layout.ndim() {
        1 => embed(r, t, k, 0, 1),
        2 => {
            let dtype = t.defined()?;
            let diagonal = disjoint(r, &of(t, k)?)?;
            let placed = placed(r, dtype, &diagonal.layout()?.shape)?;
            copy::copy(&placed.tensor()?, &diagonal)?;
            placed.commit()
        }
        n => bail!(Shape, "expected a vector or a matrix, got {n} dimensions"),
    }
}

/// `r` = matrices with the last dimension of `t` on diagonal `offset` of dimensions `dim1` and `dim2`, zeros elsewhere.
pub fn diag_embed(r: &Tensor, t: &Tensor, offset: i64, dim1: i32, dim2: i32) -> Result<()> {
    embed(r, t, offset, dim1, dim2)
}

fn embed(r: &Tensor, t: &Tensor, offset: i64, dim1: i32, dim2: i32) -> Result<()> {
    let (dtype, layout) = (t.defined()?, t.layout()?);
    let Some((&length, batch)) = layout.shape.split_last() else { bail!(Shape, "expected at least 1 dimension, got a 0-d tensor") };
    let (a, b) = (wrap_dim(dim1, layout.ndim() + 1)?, wrap_dim(dim2, layout.ndim() + 1)?);
    if a == b {
        bail!(Argument, "dimensions {dim1} and {dim2} are the same one")
    }
    let Some(n) = offset.checked_abs().and_then(|offset| length.checked_add(offset)) else {
        bail!(Shape, "a diagonal of {length} elements at offset {offset} overflows")
    };
    let mut shape: Dims = batch.into();
    shape.insert(a.min(b), n);
    shape.insert(a.max(b), n);
    let src = disjoint(r, t)?;
    let placed = placed(r, dtype, &shape)?;
    let matrices = placed.tensor()?;
    let diagonal = view::derive(&matrices, |l| l.diagonal(offset, dim1, dim2))?;
    copy::fill(&matrices, Scalar::Int(0))?;
    copy::copy(&diagonal, &src)?;
    placed.commit()
}

/// The sum of the main diagonal of a matrix.
pub fn trace(t: &Tensor) -> Result<f64> {
    let ndim = t.layout()?.ndim();
    if ndim != 2 {
        bail!(Shape, "expected a matrix, got {ndim} dimensions")
    }
    let diagonal = of(t, 0)?;
    reduce::number(|to| reduce::sum(to, &diagonal, reduce::Over::Dims(&[]), None))
}
