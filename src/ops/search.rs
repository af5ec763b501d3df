//! Binary search in ascending sequences: searchsorted, bucketize; membership: isin.

use super::dense::dense;
use super::device;
use super::lines::Want;
use super::result::deliver;
use super::{copy, sort};
use crate::backend::launch;
use crate::dtype::{Dtype, Promotion};
use crate::error::{Result, bail};
use crate::launch::Search;
use crate::operand::Operand;
use crate::tensor::Tensor;

/// The dtype in which elements of both tensors are compared.
fn common(a: &Tensor, b: &Tensor) -> Result<Dtype> {
    let (a, b) = ((a.defined()?, a.ndim()), (b.defined()?, b.ndim()));
    Ok(Promotion::default().tensor(a.0, a.1).tensor(b.0, b.1).result().unwrap_or(a.0))
}

/// `t` as row-major numbers of `dtype`, in its compute type.
fn numbers(t: &Tensor, dtype: Dtype) -> Result<Tensor> {
    dense(&copy::to_dtype(t, dtype)?, dtype.compute())
}

/// `r` = the position of each element of `t` in `sequence`: before elements equal to it, or with `right` after them. `sequence` ascends
/// along its last dimension, directly or in the order of `sorter`.
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
    let made = Tensor::empty(Dtype::Int64, &to)?;
    found(Search::Place { right }, &made, &sequences, &x)?;
    deliver([Some((r, Dtype::Int64, &made))])
}

/// Runs the search on the device of the operands.
fn found(work: Search, to: &Tensor, sequences: &Tensor, x: &Tensor) -> Result<()> {
    launch(&work, &Operand::of(to)?, &[&Operand::of(sequences)?, &Operand::of(x)?])
}

/// The sorter of sequences of this shape, row-major and with checked positions.
fn places(sorter: &Tensor, shape: &[i64], n: i64) -> Result<Tensor> {
    let (dtype, have) = (sorter.defined()?, sorter.layout()?.shape);
    if !matches!(dtype, Dtype::Int64 | Dtype::Int32) {
        bail!(Dtype, "a sorter is int64 or int32, not {dtype}")
    }
    if have.as_slice() != shape {
        bail!(Shape, "the sorter has shape {:?}, the sequence {shape:?}", have.as_slice())
    }
    let sorter = dense(sorter, Dtype::Int64)?;
    if let Some(place) = device::elements::<i64>(&sorter)?.iter().find(|place| !(0..n).contains(*place)) {
        bail!(Argument, "place {place} of the sorter is out of range for {n} elements")
    }
    Ok(sorter)
}

/// [`searchsorted`] in a single sequence, the `boundaries` of buckets.
pub fn bucketize(r: &Tensor, t: &Tensor, boundaries: &Tensor, right: bool) -> Result<()> {
    if boundaries.ndim() != 1 {
        bail!(Shape, "expected a vector of boundaries, got shape {:?}", boundaries.layout()?.shape.as_slice())
    }
    searchsorted(r, boundaries, t, right, None)
}

/// `r` = true where an element of `t` is among `tests`, or with `invert` where it is not. The hint that all elements are distinct is
/// ignored.
pub fn isin(r: &Tensor, t: &Tensor, tests: &Tensor, _unique: bool, invert: bool) -> Result<()> {
    let dtype = common(t, tests)?;
    let (x, tests) = (numbers(t, dtype)?, numbers(tests, dtype)?);
    let sorted = Tensor::empty(dtype.compute(), &[tests.layout()?.numel()])?;
    sort::sort_all(&sorted, &tests)?;
    let made = Tensor::empty(Dtype::Bool, &t.layout()?.shape)?;
    found(Search::Contains { invert }, &made, &sorted, &x)?;
    deliver([Some((r, Dtype::Bool, &made))])
}
