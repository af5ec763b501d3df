//! Triangles: the lower and upper parts of matrices, and where their elements are.

use super::copy;
use super::create::{disjoint, placed, placed_row_major};
use super::operand::Operand;
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
    let (dtype, shape) = (t.defined()?, t.layout()?.shape);
    let [.., rows, cols] = *shape.as_slice() else { bail!(Shape, "expected at least 2 dimensions, got {}", shape.len()) };
    Operand::of(t)?;
    let src = if r.is(t) { t.clone() } else { disjoint(r, t)? };
    let (placed, mut from) = (placed(r, dtype, &shape)?, Operand::of(&src)?);
    if shape.contains(&0) {
        return placed.commit();
    }
    let r = &placed.tensor()?;
    let mut to = Operand::of(r)?;
    let mut triangle = Triangle { rows: rows as usize, cols: cols as usize, k, upper };
    let last = shape.len() - 1;
    if to.layout.strides[last] > to.layout.strides[last - 1] {
        // Rows are the dimension elements lie side by side in.
        triangle = triangle.transposed();
        for layout in [&mut to.layout, &mut from.layout] {
            layout.transpose(-1, -2)?;
        }
    }
    let at_once = to.dtype == from.dtype && to.layout.strides[last] == 1 && from.layout.strides[last] == 1;
    if !at_once && !r.is(t) {
        copy::copy(r, &src)?;
    }
    let input = (at_once && !r.is(t)).then(|| rows_of(&from));
    let batch = &shape[..last - 1];
    let sides = [(&to.layout, to.dtype.size()), (&from.layout, from.dtype.size())];
    let at = |matrix: usize| sides.map(|(layout, size)| (offset(batch, layout, matrix as i64) * size as i64) as isize);
    // SAFETY: `Operand::of` checked both sides, and `disjoint` has kept them apart.
    unsafe { keep(triangle, to.dtype.size(), rows_of(&to), input, batch.iter().product::<i64>() as usize, &at) };
    placed.commit()
}

fn rows_of(side: &Operand) -> Rows {
    let (last, size) = (side.layout.ndim() - 1, side.dtype.size() as i64);
    let step = |d: usize| (side.layout.strides[d] * size) as isize;
    Rows { data: side.first(), row_step: step(last - 1), col_step: step(last) }
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
    let placed = placed_row_major(r, Dtype::Int64, &[2, n])?;
    let direct = placed.written.dtype == Dtype::Int64;
    let list = if direct { placed.tensor()? } else { Tensor::empty(Dtype::Int64, &[2, n])? };
    if n > 0 {
        let data = Operand::of(&list)?.first().cast::<i64>();
        // SAFETY: a row-major tensor of 2 x n.
        unsafe { indices(triangle, data, data.add(n as usize)) };
    }
    if !direct {
        copy::copy(&placed.tensor()?, &list)?;
    }
    placed.commit()
}
