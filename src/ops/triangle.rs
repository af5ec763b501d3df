//! Triangles: the lower and upper parts of matrices, and the indices of their elements.

use super::result::{Inputs, Writes, ready};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Triangle, TriangleIndices};
use crate::operand::Operand;
use crate::tensor::Tensor;

/// `r` = the matrices `t` with zeros above diagonal `k`
pub fn tril(r: &Tensor, t: &Tensor, k: i64) -> Result<()> {
    part(r, t, k, false)
}

/// `r` = the matrices `t` with zeros below diagonal `k`
pub fn triu(r: &Tensor, t: &Tensor, k: i64) -> Result<()> {
    part(r, t, k, true)
}

fn part(r: &Tensor, t: &Tensor, k: i64, upper: bool) -> Result<()> {
    let from = Operand::of(t)?;
    let shape = from.layout().shape.clone();
    let [.., rows, cols] = *shape.as_slice() else { bail!(Shape, "expected at least 2 dimensions, got {}", shape.len()) };
    let ready = ready(r, (from.dtype, &shape), Writes::STRIDED, Inputs::in_step(std::slice::from_ref(&from)))?;
    let triangle = Triangle { rows: rows as usize, cols: cols as usize, k, upper };
    ready.launch(&triangle, &[&from])
}

/// `r` = a 2 x n int64 tensor: the rows and columns of the elements of a `rows` x `cols` matrix on and below diagonal `offset`
pub fn tril_indices(r: &Tensor, rows: i64, cols: i64, offset: i64) -> Result<()> {
    positions(r, rows, cols, offset, false)
}

/// `r` = a 2 x n int64 tensor: the rows and columns of the elements of a `rows` x `cols` matrix on and above diagonal `offset`
pub fn triu_indices(r: &Tensor, rows: i64, cols: i64, offset: i64) -> Result<()> {
    positions(r, rows, cols, offset, true)
}

fn positions(r: &Tensor, rows: i64, cols: i64, k: i64, upper: bool) -> Result<()> {
    if rows < 0 || cols < 0 {
        bail!(Argument, "{rows} rows and {cols} columns must not be negative")
    }
    let triangle = Triangle { rows: rows as usize, cols: cols as usize, k, upper };
    let Ok(n) = i64::try_from(triangle.before(rows as usize)) else {
        bail!(Argument, "a triangle of {rows} x {cols} has more elements than can be counted")
    };
    let ready = ready(r, (Dtype::Int64, &[2, n]), Writes::ROW_MAJOR.of(Dtype::Int64), Inputs::NONE)?;
    ready.launch(&TriangleIndices(triangle), &[])
}
