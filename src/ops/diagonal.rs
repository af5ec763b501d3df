//! Diagonals: extraction, insertion and sums; the identity matrix.

use super::result::{Inputs, Writes, ready};
use super::{copy, reduce, view};
use crate::dtype::default_dtype;
use crate::error::{Result, bail};
use crate::layout::{Dims, wrap_dim};
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r` = the `n` x `m` matrix of zeros with ones on the main diagonal
pub fn eye(r: &Tensor, n: i64, m: i64) -> Result<()> {
    let ready = ready(r, (r.dtype().unwrap_or_else(default_dtype), &[n, m]), Writes::STRIDED, Inputs::NONE)?;
    let mut diagonal = ready.layout().clone();
    diagonal.diagonal(0, 0, 1)?;
    ready.write(|to| {
        copy::fill_part(to, to.layout(), Scalar::Int(0))?;
        copy::fill_part(to, &diagonal, Scalar::Int(1))
    })
}

/// A view of diagonal `k` of a matrix.
fn of(matrix: &Tensor, k: i64) -> Result<Tensor> {
    view::derive(matrix, |l| l.diagonal(k, 0, 1))
}

/// `r` = diagonal `k` of the matrix `t`, or the matrix with the vector `t` on diagonal `k`
pub fn diag(r: &Tensor, t: &Tensor, k: i64) -> Result<()> {
    let layout = t.layout()?;
    match layout.ndim() {
        1 => embed(r, t, k, 0, 1),
        2 => {
            let diagonal = Operand::of(&of(t, k)?)?;
            let (dtype, shape) = (diagonal.dtype, diagonal.layout().shape.clone());
            let ready = ready(r, (dtype, &shape), Writes::STRIDED, Inputs::anywhere(std::slice::from_ref(&diagonal)))?;
            ready.write(|to| copy::copy_to_part(to, to.layout(), &diagonal))
        }
        n => bail!(Shape, "expected a vector or a matrix, got {n} dimensions"),
    }
}

/// `r` = matrices with the last dimension of `t` on diagonal `offset` of dimensions `dim1` and `dim2`, and zeros elsewhere
pub fn diag_embed(r: &Tensor, t: &Tensor, offset: i64, dim1: i32, dim2: i32) -> Result<()> {
    embed(r, t, offset, dim1, dim2)
}

fn embed(r: &Tensor, t: &Tensor, offset: i64, dim1: i32, dim2: i32) -> Result<()> {
    let src = Operand::of(t)?;
    let layout = src.layout();
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
    let ready = ready(r, (src.dtype, &shape), Writes::STRIDED, Inputs::anywhere(std::slice::from_ref(&src)))?;
    let mut diagonal = ready.layout().clone();
    diagonal.diagonal(offset, dim1, dim2)?;
    ready.write(|to| {
        copy::fill_part(to, to.layout(), Scalar::Int(0))?;
        copy::copy_to_part(to, &diagonal, &src)
    })
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
