//! The fast paths of movements by position: host tensors of one dtype, valid int64 positions, and a contiguous tensor that is written.
//!
//! [`gather`] and [`put`] move along a dimension, and [`take`] and [`put_all`] to and from single elements of a contiguous tensor. The long
//! path serves all other calls and reports the errors.

use super::Range;
use crate::cpu::index::{first_outside, run};
use crate::cpu::small::SMALL;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::{Index, Move};
use crate::layout::{INLINE_DIMS, wrap_dim};
use crate::ops::fast_path::are_apart;
use crate::plan::{Loop, Plan, each};
use crate::tensor::Tensor;

/// The tensor that positions index.
#[derive(Clone, Copy)]
pub(super) struct Indexed<'a> {
    pub t: &'a Tensor,
    pub dim: i32,
    pub index: &'a Tensor,
    pub range: Range,
    /// The index is a vector, whose positions select whole entries. Otherwise there is a position for each element.
    pub whole: bool,
}

/// `r` = elements of `t`. Returns true if this path has done the work. Otherwise returns false and changes nothing.
pub(super) fn gather(r: &Tensor, indexed: Indexed<'_>) -> Result<bool> {
    let Some(walk) = Walk::of(indexed) else { return Ok(false) };
    if r.is_unused(walk.dtype) {
        r.renew(walk.dtype, walk.shape())?;
    }
    let row = walk.row_of(r, |sizes| sizes == walk.shape()).filter(|_| walk.is_apart(r, [indexed.t, indexed.index]));
    let Some(row) = row else { return Ok(false) };
    // SAFETY: `row_of` checks the elements of the result, and `Walk` the others. The result overlaps none of them.
    unsafe { walk.run(Move::Gather, row) }.map(|()| true)
}

/// Writes elements of `src` to `t`, or combines them with the elements of `t`. Returns as [`gather`].
pub(super) fn put(movement: Move, src: &Tensor, indexed: Indexed<'_>) -> Result<bool> {
    let Some(walk) = Walk::of(indexed).filter(|walk| walk.is_apart(indexed.t, [src, indexed.index])) else { return Ok(false) };
    // Sums of 16-bit floats are computed in float32.
    if movement != Move::Scatter && walk.dtype != walk.dtype.compute() {
        return Ok(false);
    }
    let fits =
        |sizes: &[i64]| if indexed.whole { sizes == walk.shape() } else { sizes.iter().zip(walk.shape()).all(|(have, n)| have >= n) };
    let Some(row) = walk.row_of(src, fits) else { return Ok(false) };
    // SAFETY: `Walk` and `row_of` check all elements. `t` is contiguous and overlaps no other operand.
    unsafe { walk.run(movement, row) }.map(|()| true)
}

/// The positions of a call, which are checked, and the steps of its tensors in elements.
struct Walk {
    dtype: Dtype,
    t: *mut u8,
    places: *mut u8,
    ndim: usize,
    sizes: [i64; INLINE_DIMS],
    of_places: [i64; INLINE_DIMS],
    of_t: [i64; INLINE_DIMS],
    step: i64,
    range: [i64; 2],
}

/// The elements in a row.
struct Row<'a> {
    data: *mut u8,
    strides: &'a [i64],
}

impl Walk {
    #[inline(always)]
    fn of(Indexed { t, dim, index, range, whole }: Indexed<'_>) -> Option<Walk> {
        let (dtype, data, capacity) = t.memory()?;
        let (sizes, strides) = t.peek();
        let ndim = sizes.len();
        if !(1..=INLINE_DIMS).contains(&ndim) || t.reach()? > capacity || index.ndim() != if whole { 1 } else { ndim } {
            return None;
        }
        let d = wrap_dim(dim, ndim).ok()?;
        let (places, count) = index.flat_like(Dtype::Int64, index)?;
        let least = if matches!(range, Range::FromStart) { 0 } else { -sizes[d] };
        if !places.cast::<i64>().is_aligned() {
            return None;
        }
        // SAFETY: `flat_like` found `count` positions, and the address is aligned.
        let list = unsafe { std::slice::from_raw_parts(places.cast_const().cast::<i64>(), count as usize) };
        if first_outside(list, least, sizes[d]).is_some() {
            return None;
        }
        let none = [0; INLINE_DIMS];
        let mut walk =
            Walk { dtype, t: data, places, ndim, sizes: none, of_places: none, of_t: none, step: strides[d], range: [least, sizes[d]] };
        let mut next = 1;
        for k in (0..ndim).rev() {
            let own = if whole { if k == d { count } else { sizes[k] } } else { index.peek().0[k] };
            if k != d && own > sizes[k] {
                return None;
            }
            (walk.sizes[k], walk.of_t[k]) = (own, if k == d { 0 } else { strides[k] });
            if whole {
                walk.of_places[k] = i64::from(k == d);
            } else {
                walk.of_places[k] = next;
                next *= own;
            }
        }
        Some(walk)
    }

    fn shape(&self) -> &[i64] {
        &self.sizes[..self.ndim]
    }

    /// The elements of `row` if they are inside its storage, and have the dtype of this walk and sizes that fit.
    #[inline(always)]
    fn row_of<'a>(&self, row: &'a Tensor, fits: impl Fn(&[i64]) -> bool) -> Option<Row<'a>> {
        let (dtype, data, capacity) = row.memory()?;
        let (sizes, strides) = row.peek();
        let same = dtype == self.dtype && sizes.len() == self.ndim && fits(sizes);
        (same && row.reach()? <= capacity).then_some(Row { data, strides })
    }

    /// Returns true if `written` is contiguous and overlaps none of the other tensors.
    #[inline(always)]
    fn is_apart(&self, written: &Tensor, others: [&Tensor; 2]) -> bool {
        let Some((data, n)) = written.flat_like(self.dtype, written) else { return false };
        let bytes = n as usize * self.dtype.size();
        others.iter().all(|other| {
            let Some((dtype, from, reach)) = other.memory().zip(other.reach()).map(|((dtype, from, _), reach)| (dtype, from, reach)) else {
                return false;
            };
            are_apart((data, bytes), (from, reach * dtype.size()))
        })
    }

    /// # Safety
    /// All elements are inside their storages, and the tensor that is written is contiguous and overlaps no other.
    #[inline(always)]
    unsafe fn run(&self, movement: Move, row: Row<'_>) -> Result<()> {
        let item = [self.dtype.size(), size_of::<i64>(), self.dtype.size()];
        let (mut loops, mut count) = ([Loop { n: 1, step: [0; 3] }; INLINE_DIMS], 0);
        for k in (0..self.ndim).rev().filter(|&k| self.sizes[k] != 1) {
            let steps = [row.strides[k], self.of_places[k], self.of_t[k]];
            loops[count] = Loop { n: self.sizes[k] as usize, step: each(|i| steps[i] as isize * item[i] as isize) };
            count += 1;
        }
        let plan = Plan::of_loops(&mut loops[..count], item);
        // SAFETY: the caller keeps this function's contract, and every position is inside the dimension.
        unsafe { run(&Index { movement, step: self.step, range: Some(self.range) }, self.dtype, &plan, [row.data, self.places, self.t]) }
    }
}

/// Single elements of a contiguous tensor: a list of their positions in row-major order.
struct Elements<'a> {
    /// An index tensor, which has the shape of the elements.
    like: &'a Tensor,
    dtype: Dtype,
    t: *mut u8,
    offsets: [i64; SMALL],
    count: usize,
}

impl<'a> Elements<'a> {
    /// The elements at `positions`: a tensor for each dimension, or one with positions in row-major order if `flat`.
    #[inline(always)]
    fn of(t: &Tensor, positions: &[Option<&'a Tensor>], flat: bool) -> Option<Elements<'a>> {
        let like = (*positions.first()?)?;
        let dtype = t.dtype()?;
        let (data, numel) = t.flat_like(dtype, t)?;
        let sizes = if flat { std::slice::from_ref(&numel) } else { t.peek().0 };
        let mut found = Elements { like, dtype, t: data, offsets: [0; SMALL], count: like.flat_like(Dtype::Int64, like)?.1 as usize };
        if positions.len() != sizes.len() || found.count > SMALL {
            return None;
        }
        for (index, &size) in positions.iter().zip(sizes) {
            let places = (*index)?.flat_like(Dtype::Int64, like)?.0.cast_const().cast::<i64>();
            for (i, offset) in found.offsets[..found.count].iter_mut().enumerate() {
                // SAFETY: `flat_like` found `count` positions.
                let place = unsafe { places.add(i).read_unaligned() };
                if place < -size || place >= size {
                    return None;
                }
                *offset = *offset * size + if place < 0 { place + size } else { place };
            }
        }
        Some(found)
    }

    /// Moves elements between `row` and these elements. The offsets were copied, so that only `row` and `t` must not overlap.
    #[inline(always)]
    fn run(&mut self, movement: Move, row: &Tensor, t: &Tensor) -> Option<Result<()>> {
        let (data, n) = row.flat_like(self.dtype, self.like)?;
        let (of_row, of_t) = (n as usize * self.dtype.size(), t.flat_like(self.dtype, t)?.1 as usize * self.dtype.size());
        let sums = matches!(movement, Move::Accumulate(_));
        if !are_apart((data, of_row), (self.t, of_t)) || (sums && self.dtype != self.dtype.compute()) {
            return None;
        }
        let item = [self.dtype.size(), size_of::<i64>(), self.dtype.size()];
        let step = [item[0] as isize, item[1] as isize, 0];
        let plan = Plan::of_loops(&mut [Loop { n: self.count, step }][..usize::from(self.count > 1)], item);
        let data = [data, self.offsets.as_mut_ptr().cast(), self.t];
        // SAFETY: every offset is inside `t`, which does not overlap `row`.
        Some(unsafe { run(&Index { movement, step: 1, range: None }, self.dtype, &plan, data) })
    }
}

/// `r` = the elements of `t` at `positions`, which are as for [`Elements::of`]. Returns as [`gather`].
pub(super) fn take(r: &Tensor, t: &Tensor, positions: &[Option<&Tensor>], flat: bool) -> Result<bool> {
    let Some(mut elements) = Elements::of(t, positions, flat) else { return Ok(false) };
    if r.is_unused(elements.dtype) {
        r.renew_like(elements.dtype, elements.like)?;
    }
    elements.run(Move::Gather, r, t).transpose().map(|done| done.is_some())
}

/// Writes `src` to the elements of `t` at `positions`, or combines them. Returns as [`gather`].
pub(super) fn put_all(movement: Move, t: &Tensor, positions: &[Option<&Tensor>], flat: bool, src: &Tensor) -> Result<bool> {
    let Some(mut elements) = Elements::of(t, positions, flat) else { return Ok(false) };
    elements.run(movement, src, t).transpose().map(|done| done.is_some())
}
