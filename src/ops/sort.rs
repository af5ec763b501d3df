//! Sorting: sort, argsort and topk along a dimension, lexsort by several keys.

use super::dense::dense;
use super::lines::{LineResult, Want, along, length};
use super::reduce::TH_ALL_DIMS;
use super::result::deliver;
use super::view;
use crate::backend::launch;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::lines::Top;
use crate::launch::{Index, LineOp, Lines, Move};
use crate::layout::{Layout, wrap_dim};
use crate::operand::Operand;
use crate::tensor::Tensor;

/// The handles of the values and of the indices. Either may be absent.
type Results<'a> = (Option<&'a Tensor>, Option<&'a Tensor>);

/// `values` = the elements of `t` sorted along `dim`, `indices` = their previous positions. Sorting is always stable.
pub fn sort(results: Results<'_>, t: &Tensor, dim: i32, descending: bool, _stable: bool) -> Result<()> {
    let dtype = t.defined()?;
    let work = Lines { op: LineOp::Sort { descending }, compute: dtype.compute() };
    along(t, dim, work, LineResult::Same, wants(results, dtype)?)
}

/// `values` = all elements of a row-major `t` in ascending order
pub(super) fn sort_all(values: &Tensor, t: &Tensor) -> Result<()> {
    sort((Some(values), None), &flat(t)?, 0, false, true)
}

/// A row-major tensor as a vector.
pub(super) fn flat(t: &Tensor) -> Result<Tensor> {
    let layout = t.layout()?;
    view::of(t, &Layout { offset: layout.offset, ..Layout::contiguous(&[layout.numel()]) })
}

/// `values` = the `k` least or greatest elements of `t` along `dim`, `indices` = their positions
pub fn topk(results: Results<'_>, t: &Tensor, k: i64, dim: i32, largest: bool, sorted: bool) -> Result<()> {
    let (dtype, n) = (t.defined()?, length(t, dim)?);
    if k < (t.ndim() == 0) as i64 || k > n {
        bail!(Argument, "k = {k} is out of range for {n} elements")
    }
    let op = LineOp::Top(Top { k: k as usize, largest, sorted });
    along(t, dim, Lines { op, compute: dtype.compute() }, LineResult::Resized { n: k }, wants(results, dtype)?)
}

/// `r` = the positions along `dim` sorted by the last of `keys`, then by the one before, and so on. Sorting is stable.
pub fn lexsort(r: &Tensor, keys: &[&Tensor], dim: i32) -> Result<()> {
    let Some(first) = keys.first() else { bail!(Argument, "expected at least one key") };
    if dim == TH_ALL_DIMS {
        bail!(Argument, "needs one dimension, not all")
    }
    Want::indices(Some(r))?;
    let (shape, dim) = (first.layout()?.shape, wrap_dim(dim, first.ndim())?);
    let last = shape.len().saturating_sub(1);
    let mut order: Option<Tensor> = None;
    for (k, key) in keys.iter().enumerate() {
        let (dtype, have) = (key.defined()?, key.layout()?.shape);
        if have != shape {
            bail!(Shape, "key {k} has shape {:?}, the first one {:?}", have.as_slice(), shape.as_slice())
        }
        let lines = dense(&view::derive(key, |l| l.move_dim(dim, last))?, dtype.compute())?;
        let lines = order.as_ref().map_or_else(|| Ok(lines.clone()), |order| taken(&lines, order))?;
        let places = Tensor::fresh()?;
        sort((None, Some(&places)), &lines, -1, false, true)?;
        order = Some(order.map_or_else(|| Ok(places.clone()), |order| taken(&order, &places))?);
    }
    let order = order.map(|order| view::derive(&order, |l| l.move_dim(last, dim))).transpose()?;
    deliver([order.as_ref().map(|order| (r, Dtype::Int64, order))])
}

/// `r[l, i] = lines[l, places[l, i]]` for row-major lines and positions, which run along the last dimension
pub(super) fn taken(lines: &Tensor, places: &Tensor) -> Result<Tensor> {
    let (from, to) = (lines.layout()?, places.layout()?);
    let (n, m) = (from.shape.last().copied().unwrap_or(1), to.shape.last().copied().unwrap_or(1));
    let made = Tensor::empty(lines.defined()?, &to.shape)?;
    if to.numel() > 0 {
        let rows =
            |strides: [i64; 2], offset| Layout { shape: [to.numel() / m, m].as_slice().into(), strides: strides.as_slice().into(), offset };
        let [r, lines, places] = [&made, lines, places].map(Operand::of);
        let (r, lines, places) = (r?, lines?, places?);
        let [r, places] = [&r, &places].map(|operand| operand.view(rows([m, 1], operand.layout().offset)));
        let work = Index { movement: Move::Gather, step: 1, range: None };
        launch(&work, &r, &[&places, &lines.view(rows([n, 0], lines.layout().offset))])?;
    }
    Ok(made)
}

/// The two results: elements of `dtype` and their positions.
pub(super) fn wants(results: Results<'_>, dtype: Dtype) -> Result<[Want<'_>; 2]> {
    Ok([Want { r: results.0, dtype }, Want::indices(results.1)?])
}
