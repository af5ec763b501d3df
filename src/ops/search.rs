//! Places in ascending sequences: searchsorted, bucketize; membership: isin.

use super::copy;
use super::dense::{dense, elements, elements_mut};
use super::lines::Want;
use super::result::deliver;
use super::sort;
use crate::cpu::engine::{CHEAP, Shared, parallel};
use crate::cpu::search::{contains, search};
use crate::dtype::{Bool, Dtype, Promotion, dispatch};
use crate::error::{Result, bail};
use crate::tensor::Tensor;
use std::ops::Range;

/// Elements that are searched together, by one thread.
const SEARCHED_PIECE: usize = 1024;

/// The dtype in which elements of both are compared.
fn common(a: &Tensor, b: &Tensor) -> Result<Dtype> {
    let (a, b) = ((a.defined()?, a.ndim()), (b.defined()?, b.ndim()));
    Ok(Promotion::default().tensor(a.0, a.1).tensor(b.0, b.1).result().unwrap_or(a.0))
}

/// `t` row-major and as numbers of `dtype`.
fn numbers(t: &Tensor, dtype: Dtype) -> Result<Tensor> {
    dense(&copy::to_dtype(t, dtype)?, dtype.compute())
}

/// `r` = the place of each element of `t` in `sequence`, which ascends along its last dimension, or does in the order of `sorter`: before elements
/// equal to it, or with `right` behind them.
pub fn searchsorted(r: &Tensor, sequence: &Tensor, t: &Tensor, right: bool, sorter: Option<&Tensor>) -> Result<()> {
    let dtype = common(sequence, t)?;
    Want::indices(Some(r))?;
    let (from, to) = (sequence.layout()?.shape, t.layout()?.shape);
    let Some((&n, outer)) = from.split_last() else { bail!(Shape, "the sequence has no dimension to search along") };
    if !outer.is_empty() && (to.len() != from.len() || to[..outer.len()] != *outer) {
        bail!(Shape, "shape {:?} does not go with sequences of shape {:?}", to.as_slice(), from.as_slice())
    }
    let (mut sequences, x) = (numbers(sequence, dtype)?, numbers(t, dtype)?);
    if let Some(sorter) = sorter {
        sequences = sort::taken(&sequences, &places(sorter, &from, n)?)?;
    }
    let mut made = Tensor::empty(Dtype::Int64, &to)?;
    let (n, all) = (n as usize, made.layout()?.numel() as usize);
    // One sequence is for all elements; else each row of them has its own.
    let row = if outer.is_empty() { all } else { to[outer.len()] as usize };
    let out = Shared(elements_mut::<i64>(&mut made)?.as_mut_ptr().cast());
    dispatch!(all, dtype, T => {
        let (sequences, x) = (elements::<T>(&sequences)?, elements::<T>(&x)?);
        in_pieces(all, &|range| {
            let mut start = range.start;
            while start < range.end {
                let line = start / row;
                let end = range.end.min((line + 1) * row);
                // SAFETY: ranges are apart and inside of the result.
                let out = unsafe { std::slice::from_raw_parts_mut(out.get().cast::<i64>().add(start), end - start) };
                search(&sequences[line * n..][..n], &x[start..end], right, out);
                start = end;
            }
        })
    });
    deliver([Some((r, Dtype::Int64, &made))])
}

/// The sorter of sequences of this shape, row-major, its places checked.
fn places(sorter: &Tensor, shape: &[i64], n: i64) -> Result<Tensor> {
    let (dtype, have) = (sorter.defined()?, sorter.layout()?.shape);
    if !matches!(dtype, Dtype::Int64 | Dtype::Int32) {
        bail!(Dtype, "a sorter is int64 or int32, not {dtype}")
    }
    if have.as_slice() != shape {
        bail!(Shape, "the sorter has shape {:?}, the sequence {shape:?}", have.as_slice())
    }
    let sorter = dense(sorter, Dtype::Int64)?;
    if let Some(place) = elements::<i64>(&sorter)?.iter().find(|place| !(0..n).contains(*place)) {
        bail!(Argument, "place {place} of the sorter is out of range for {n} elements")
    }
    Ok(sorter)
}

/// [`searchsorted`] in one sequence, the `boundaries` of buckets.
pub fn bucketize(r: &Tensor, t: &Tensor, boundaries: &Tensor, right: bool) -> Result<()> {
    if boundaries.ndim() != 1 {
        bail!(Shape, "expected a vector of boundaries, got shape {:?}", boundaries.layout()?.shape.as_slice())
    }
    searchsorted(r, boundaries, t, right, None)
}

/// `r` = whether each element of `t` is among `tests`, or with `invert` whether it is not. That neither has an element twice saves nothing here.
pub fn isin(r: &Tensor, t: &Tensor, tests: &Tensor, _unique: bool, invert: bool) -> Result<()> {
    let dtype = common(t, tests)?;
    let (x, tests) = (numbers(t, dtype)?, numbers(tests, dtype)?);
    let sorted = Tensor::empty(dtype.compute(), &[tests.layout()?.numel()])?;
    sort::sort_all(&sorted, &tests)?;
    let mut made = Tensor::empty(Dtype::Bool, &t.layout()?.shape)?;
    let out = Shared(elements_mut::<Bool>(&mut made)?.as_mut_ptr().cast());
    dispatch!(all, dtype, T => {
        let (sorted, x) = (elements::<T>(&sorted)?, elements::<T>(&x)?);
        in_pieces(x.len(), &|range| {
            // SAFETY: ranges are apart and inside of the result, whose elements are bytes.
            let out = unsafe { std::slice::from_raw_parts_mut(out.get().add(range.start), range.len()) };
            contains(sorted, &x[range], invert, out);
        })
    });
    deliver([Some((r, Dtype::Bool, &made))])
}

/// Hands `n` elements out in pieces.
fn in_pieces(n: usize, task: &(dyn Fn(Range<usize>) + Sync)) {
    parallel(n.div_ceil(SEARCHED_PIECE), SEARCHED_PIECE, CHEAP / 8, &|units| {
        task(units.start * SEARCHED_PIECE..n.min(units.end * SEARCHED_PIECE))
    });
}
