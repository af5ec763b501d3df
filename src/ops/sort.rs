//! Elements in order: sort, argsort and topk along a dimension, lexsort by several keys.

use super::dense::{dense, elements as elements_of};
use super::lines::{Form, Kernels, Source, Want};
use super::reduce::TH_ALL_DIMS;
use super::result::deliver;
use super::view;
use crate::cpu::engine::CHEAP;
use crate::cpu::lines::Line;
use crate::cpu::sort::permute::take;
use crate::cpu::sort::top::Top;
use crate::cpu::sort::{self as lines, Sorted};
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::layout::{Layout, wrap_dim};
use crate::tensor::Tensor;

/// Where values and indices go; either may be absent.
type Results<'a> = (Option<&'a Tensor>, Option<&'a Tensor>);

/// `values` = the elements of `t` in order along `dim`, `indices` = where each stood. Equal elements keep their order, whether asked to or not.
pub fn sort(results: Results<'_>, t: &Tensor, dim: i32, descending: bool, _stable: bool) -> Result<()> {
    let source = Source::one(t, dim)?;
    let (n, wants) = (source.n() as usize, wants(results, &source)?);
    let wanted = results.1.is_some();
    dispatch!(all, source.dtype(), T => {
        let line = |line: Line| {
            // SAFETY: the driver passes lines and results of `T` and int64, and the scratch asked for.
            unsafe { lines::sort(elements::<T>(line), descending, sorted(line), line.scratch) }
        };
        source.run(T::DTYPE, Form::Same, wants, Kernels { scratch: lines::scratch_bytes::<T>(n, wanted), ..Kernels::line(&line, GRAIN) })
    })
}

/// `values` = all elements of a row-major `t` in ascending order.
pub(super) fn sort_all(values: &Tensor, t: &Tensor) -> Result<()> {
    sort((Some(values), None), &flat(t)?, 0, false, true)
}

/// A row-major tensor as a vector.
pub(super) fn flat(t: &Tensor) -> Result<Tensor> {
    let layout = t.layout()?;
    view::of(t, &Layout { offset: layout.offset, ..Layout::contiguous(&[layout.numel()]) })
}

/// `values` = the `k` least or greatest elements of `t` along `dim`, `indices` = where they stand.
pub fn topk(results: Results<'_>, t: &Tensor, k: i64, dim: i32, largest: bool, sorted_: bool) -> Result<()> {
    let source = Source::one(t, dim)?;
    if k < (t.ndim() == 0) as i64 || k > source.n() {
        bail!(Argument, "k = {k} is out of range for {} elements", source.n())
    }
    let (n, wants) = (source.n() as usize, wants(results, &source)?);
    let top = Top { k: k as usize, largest, sorted: sorted_ };
    dispatch!(all, source.dtype(), T => {
        let line = |line: Line| {
            // SAFETY: the driver passes lines of `T`, results with room for `k`, and the scratch asked for.
            unsafe { top.of(elements::<T>(line), sorted(line), line.scratch) }
        };
        source.run(T::DTYPE, Form::Resized { n: k }, wants, Kernels { scratch: top.scratch_bytes::<T>(n), ..Kernels::line(&line, GRAIN) })
    })
}

/// `r` = the order of the places along `dim` by the last of `keys`, where that has them alike by the one before, and so on; ties stay as they are.
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

/// `r[l, i] = lines[l, places[l, i]]` for row-major lines and places in them, each along its last dimension.
pub(super) fn taken(lines: &Tensor, places: &Tensor) -> Result<Tensor> {
    let (from, to) = (lines.layout()?, places.layout()?);
    let n = from.shape.last().copied().unwrap_or(1) as usize;
    let dtype = lines.defined()?;
    let made = Tensor::empty(dtype, &to.shape)?;
    if to.numel() > 0 {
        let count = from.numel() as usize / n;
        // SAFETY: all three are row-major; the caller's places lie in the lines.
        unsafe { take(dtype.size(), made.data(), lines.data(), n, elements_of::<i64>(places)?, count) };
    }
    Ok(made)
}

/// Elements that a thread must have to be worth waking: each takes several nanoseconds.
const GRAIN: usize = CHEAP / 8;

fn wants<'a>(results: Results<'a>, source: &Source) -> Result<[Want<'a>; 2]> {
    let dtype = source.dtype();
    let values = Want { r: results.0, dtype, compute: results.0.map(|_| dtype.compute()) };
    let indices = Want::indices(results.1)?;
    Ok([values, Want { compute: indices.compute.filter(|_| results.1.is_some()), ..indices }])
}

/// # Safety
/// The line holds elements of `T`.
unsafe fn elements<'a, T>(line: Line) -> &'a [T] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(line.x.cast::<T>(), line.n) }
}

fn sorted<T>(line: Line) -> Sorted<T> {
    Sorted { values: line.out[0].cast(), positions: line.out[1].cast() }
}
