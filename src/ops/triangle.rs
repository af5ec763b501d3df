//! Triangles: the lower and upper parts of matrices, and where their elements are.

use super::copy;
use super::operand::Operand;
use super::result::{Inputs, Writes, ready};
use crate::cpu::triangle::{Rows, Triangle, indices, keep};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::Layout;
use crate::tensor::Tensor;

/// `r` = the matrices `t` with zeros above diagonal `k`.
pub fn tril(r: &Tensor, t: &Tensor, k: i64) -> Result<()> {
    part(r, t, k, false)
}

/// `r` = the matrices `t` with zeros below diagonal `k`.
pub fn triu(r: &Tensor, t: &Tensor, k: i64) -> Result<()> {
    part(r, t, k, true)
}

fn part(r: &Tensor, t: &Tensor, k: i64, upper: bool) -> Result<()> {
    let mut from = Operand::of(t)?;
    let shape = from.layout.shape.clone();
    let [.., rows, cols] = *shape.as_slice() else { bail!(Shape, "expected at least 2 dimensions, got {}", shape.len()) };
    let ready = ready(r, (from.dtype, &shape), Writes::STRIDED, Inputs::in_step(std::slice::from_ref(&from)))?;
    let (last, mut of_result) = (shape.len() - 1, ready.layout().clone());
    let mut triangle = Triangle { rows: rows as usize, cols: cols as usize, k, upper };
    // Rows are the dimension elements lie side by side in.
    let swapped = of_result.strides[last] > of_result.strides[last - 1];
    if swapped {
        triangle = triangle.transposed();
        of_result.transpose(-1, -2)?;
    }
    ready.write(|to| {
        let in_place = to.dtype == from.dtype && to.in_step_with(&from);
        if shape.contains(&0) {
            return;
        }
        if swapped {
            from.layout.shape.swap(last - 1, last);
            from.layout.strides.swap(last - 1, last);
        }
        let at_once = to.dtype == from.dtype && of_result.strides[last] == 1 && from.layout.strides[last] == 1;
        if !at_once && !in_place {
            copy::copy_to_part(to, &of_result, &from);
        }
        let input = (at_once && !in_place).then(|| rows_of(&from, &from.layout));
        let batch = &shape[..last - 1];
        let sides = [(&of_result, to.dtype.size()), (&from.layout, from.dtype.size())];
        let at = |matrix: usize| sides.map(|(layout, size)| (offset(batch, layout, matrix as i64) * size as i64) as isize);
        // SAFETY: both sides lie inside their storages, and apart where there is an input.
        unsafe { keep(triangle, to.dtype.size(), rows_of(to, &of_result), input, batch.iter().product::<i64>() as usize, &at) };
    })
}

fn rows_of(side: &Operand, layout: &Layout) -> Rows {
    let (last, size) = (layout.ndim() - 1, side.dtype.size() as i64);
    let step = |d: usize| (layout.strides[d] * size) as isize;
    Rows { data: side.first_of(layout), row_step: step(last - 1), col_step: step(last) }
}

/// Elements from the first matrix to matrix `index`, counted row-major.
fn offset(batch: &[i64], layout: &Layout, mut index: i64) -> i64 {
    let mut at = 0;
    for d in (0..batch.len()).rev() {
        at += index % batch[d] * layout.strides[d];
        index /= batch[d];
    }
    at
}

/// `r` = rows and columns of the elements of a `rows` x `cols` matrix on and below diagonal `offset`, as 2 x n int64.
pub fn tril_indices(r: &Tensor, rows: i64, cols: i64, offset: i64) -> Result<()> {
    positions(r, rows, cols, offset, false)
}

/// `r` = rows and columns of the elements of a `rows` x `cols` matrix on and above diagonal `offset`, as 2 x n int64.
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
    ready(r, (Dtype::Int64, &[2, n]), Writes::ROW_MAJOR.of(Dtype::Int64), Inputs::NONE)?.write(|to| {
        let data = to.first().cast::<i64>();
        if n > 0 {
            // SAFETY: a row-major result of 2 x n.
            unsafe { indices(triangle, data, data.add(n as usize)) };
        }
    })
}
