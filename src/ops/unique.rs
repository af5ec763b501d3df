//! Each element once, or each slice along a dimension: in ascending order, or as runs follow one another.

use super::dense::{dense, elements, elements_mut};
use super::lines::Want;
use super::reduce::TH_ALL_DIMS;
use super::result::deliver;
use super::{sort, view};
use crate::cpu::keys::Ordered;
use crate::cpu::unique::{Rows, count_runs, keys_of, runs};
use crate::dtype::{Dtype, dispatch};
use crate::error::{Result, bail};
use crate::layout::wrap_dim;
use crate::tensor::Tensor;

/// Where results go; each may be absent.
#[derive(Clone, Copy)]
pub struct Results<'a> {
    /// One of each.
    pub values: Option<&'a Tensor>,
    /// Where each element of the input is among the values.
    pub inverse: Option<&'a Tensor>,
    /// How often each value is in the input.
    pub counts: Option<&'a Tensor>,
}

/// What there is to give.
struct Found {
    values: Tensor,
    inverse: Option<Tensor>,
    counts: Tensor,
}

/// `values` = the elements of `t` in ascending order, each once, or slices along `dim`; with `consecutive` one of each run, in the order of `t`.
pub fn unique(results: Results<'_>, t: &Tensor, dim: i32, consecutive: bool) -> Result<()> {
    let dtype = t.defined()?;
    Want::indices(results.inverse)?;
    Want::indices(results.counts)?;
    let inverted = results.inverse.is_some();
    let found = if dim == TH_ALL_DIMS || (t.ndim() == 0 && wrap_dim(dim, 0)? == 0) {
        dispatch!(all, dtype, T => elements_once::<T>(t, consecutive, inverted)?)
    } else {
        let dim = wrap_dim(dim, t.ndim())?;
        slices_once(t, dim, consecutive, inverted)?
    };
    let given = |r: Option<_>, dtype: Dtype, made: Option<_>| r.zip(made).map(|(r, made)| (r, dtype, made));
    deliver([
        given(results.values, dtype, Some(&found.values)),
        given(results.inverse, Dtype::Int64, found.inverse.as_ref()),
        given(results.counts, Dtype::Int64, Some(&found.counts)),
    ])
}

fn elements_once<T: Ordered>(t: &Tensor, consecutive: bool, inverted: bool) -> Result<Found> {
    let x = dense(t, T::DTYPE)?;
    let n = x.layout()?.numel();
    let (mut line, mut order) = (sort::flat(&x)?, None);
    if !consecutive {
        let values = Tensor::empty(T::DTYPE, &[n])?;
        order = inverted.then(|| Tensor::empty(Dtype::Int64, &[n])).transpose()?;
        sort::sort((Some(&values), order.as_ref()), &line, 0, false, true)?;
        line = values;
    }
    let line = elements::<T>(&line)?;
    let count = count_runs(line) as i64;
    let mut inverse = inverted.then(|| Tensor::empty(Dtype::Int64, &t.layout()?.shape)).transpose()?;
    let (mut counts, mut values) = (Tensor::empty(Dtype::Int64, &[count])?, Tensor::empty(T::DTYPE, &[count])?);
    let ends = elements_mut::<i64>(&mut counts)?;
    let order = order.as_ref().map(elements::<i64>).transpose()?;
    runs(line, order, ends, inverse.as_mut().map(elements_mut::<i64>).transpose()?);
    let starts = std::iter::once(0).chain(ends.iter().copied());
    elements_mut::<T>(&mut values)?.iter_mut().zip(starts).for_each(|(value, start)| *value = line[start as usize]);
    lengths(ends);
    Ok(Found { values, inverse, counts })
}

/// Makes lengths of where runs end.
fn lengths(ends: &mut [i64]) {
    let mut start = 0;
    ends.iter_mut().for_each(|end| *end -= std::mem::replace(&mut start, *end));
}

fn slices_once(t: &Tensor, dim: usize, consecutive: bool, inverted: bool) -> Result<Found> {
    let dtype = t.defined()?.compute();
    let moved = dense(&view::derive(t, |l| l.move_dim(dim, 0))?, dtype)?;
    let mut shape = moved.layout()?.shape;
    let n = shape[0];
    let width: i64 = shape[1..].iter().product();
    if width == 0 && n > 0 {
        bail!(Shape, "the slices of shape {:?} along dimension {dim} have no elements", t.layout()?.shape.as_slice())
    }
    let numbers = || Tensor::empty(Dtype::Int64, &[n]);
    let (mut order, mut ends, mut inverse) = (numbers()?, numbers()?, inverted.then(numbers).transpose()?);
    let (places, ends) = (elements_mut::<i64>(&mut order)?, elements_mut::<i64>(&mut ends)?);
    places.iter_mut().enumerate().for_each(|(i, place)| *place = i as i64);
    let inverse_of = inverse.as_mut().map(elements_mut::<i64>).transpose()?;
    let count = dispatch!(all, dtype, T => {
        let room = Tensor::empty(if size_of::<<T as Ordered>::Key>() == 4 { Dtype::Int32 } else { Dtype::Int64 }, &[n, width])?;
        // SAFETY: there is room for as many keys.
        let keys = unsafe { keys_of(elements::<T>(&moved)?, room.data()) };
        let rows = Rows { keys, width: width as usize, float: dtype.is_float() };
        if !consecutive {
            rows.sort(places);
        }
        rows.runs(places, ends, inverse_of)
    });
    let mut counts = Tensor::empty(Dtype::Int64, &[count as i64])?;
    let lengths_of = elements_mut::<i64>(&mut counts)?;
    lengths_of.copy_from_slice(&ends[..count]);
    lengths(lengths_of);
    shape[0] = count as i64;
    let values = Tensor::empty(dtype, &shape)?;
    let mut start = 0;
    for (i, &end) in ends[..count].iter().enumerate() {
        let row = width as usize * dtype.size();
        // SAFETY: both hold as many rows, and lie apart.
        unsafe { values.data().add(i * row).copy_from_nonoverlapping(moved.data().add(places[start] as usize * row), row) };
        start = end as usize;
    }
    Ok(Found { values: view::derive(&values, |l| l.move_dim(0, dim))?, inverse, counts })
}
