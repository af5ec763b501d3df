//! Runs of equal elements, and of equal rows.
//!
//! A NaN equals no other NaN, so each NaN is a separate run.

use super::keys::{Key, Ordered, to_keys};
use super::simd::simd;
use super::sort::{Sorted, scratch_bytes, sort};
use crate::cpu::tuning::UNIQUE_PIECE;
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::Result;
use crate::launch::Unique;
use crate::operand::Operand;
use std::ptr::null_mut;

/// Returns the distinct elements of a row-major vector, or the distinct rows of a matrix. The flags request the inverse and, of elements,
/// the counts; rows are always counted.
pub fn unique(x: &Operand, consecutive: bool, [inverted, counted]: [bool; 2]) -> Result<Unique> {
    match x.layout().ndim() {
        1 => dispatch!(all, x.dtype, T => elements_once::<T>(x, consecutive, [inverted, counted])),
        _ => rows_once(x, consecutive, inverted),
    }
}

fn elements_once<T: Ordered>(x: &Operand, consecutive: bool, [inverted, counted]: [bool; 2]) -> Result<Unique> {
    let n = x.layout().numel();
    // SAFETY: the operand is row-major and of this type.
    let mut line = unsafe { x.elements::<T>() };
    let (sorted, mut order) = (Operand::row(T::DTYPE, if consecutive { 0 } else { n })?, None);
    if !consecutive {
        order = inverted.then(|| Operand::row(Dtype::Int64, n)).transpose()?;
        let scratch = Operand::row(Dtype::Uint8, scratch_bytes::<T>(line.len(), inverted) as i64)?;
        let positions = order.as_ref().map_or(null_mut(), |order| order.first().cast());
        // SAFETY: the elements, their positions and the scratch are new memory.
        line = unsafe {
            sort(line, false, Sorted { values: sorted.first().cast(), positions }, scratch.first());
            sorted.elements::<T>()
        };
    }
    let count = count_runs(line) as i64;
    let mut inverse = inverted.then(|| Operand::row(Dtype::Int64, n)).transpose()?;
    let mut values = Operand::row(T::DTYPE, count)?;
    // SAFETY: the values are new memory of this type.
    let to = unsafe { values.elements_mut::<T>() };
    if !inverted && !counted {
        firsts(line, to);
        return Ok(Unique { values, inverse: None, counts: None });
    }
    let mut counts = Operand::row(Dtype::Int64, count)?;
    // SAFETY: the counts are new memory of int64.
    let ends = unsafe { counts.elements_mut::<i64>() };
    // SAFETY: the inverse is new memory of int64.
    runs(
        line,
        order.as_ref().map(|order| unsafe { order.elements() }),
        ends,
        inverse.as_mut().map(|inverse| unsafe { inverse.elements_mut() }),
    );
    let starts = std::iter::once(0).chain(ends.iter().copied());
    to.iter_mut().zip(starts).for_each(|(value, start)| *value = line[start as usize]);
    lengths(ends);
    Ok(Unique { values, inverse, counts: Some(counts) })
}

/// Writes the first element of each run to `values`, which has an element for each run.
fn firsts<T: Element>(line: &[T], values: &mut [T]) {
    // From the end to the start, and every element is written: the first of a run is written last, and there is no branch to predict.
    let mut run = values.len();
    for i in (0..line.len()).rev() {
        run -= usize::from(i + 1 == line.len() || line[i] != line[i + 1]);
        values[run] = line[i];
    }
}

/// Replaces the ends of runs by their lengths.
fn lengths(ends: &mut [i64]) {
    let mut start = 0;
    ends.iter_mut().for_each(|end| *end -= std::mem::replace(&mut start, *end));
}

fn rows_once(x: &Operand, consecutive: bool, inverted: bool) -> Result<Unique> {
    let [n, width] = [0, 1].map(|d| x.layout().shape[d]);
    let numbers = || Operand::row(Dtype::Int64, n);
    let (mut order, mut ends, mut inverse) = (numbers()?, numbers()?, inverted.then(numbers).transpose()?);
    // SAFETY: both are new memory of int64.
    let (places, ends) = unsafe { (order.elements_mut::<i64>(), ends.elements_mut::<i64>()) };
    places.iter_mut().enumerate().for_each(|(i, place)| *place = i as i64);
    // SAFETY: the inverse is new memory of int64.
    let inverse_of = inverse.as_mut().map(|inverse| unsafe { inverse.elements_mut() });
    let count = dispatch!(all, x.dtype, T => runs_of_rows::<T>(x, width as usize, consecutive, [&mut *places, &mut *ends], inverse_of)?);
    let mut counts = Operand::row(Dtype::Int64, count as i64)?;
    // SAFETY: the counts are new memory of int64.
    let lengths_of = unsafe { counts.elements_mut::<i64>() };
    lengths_of.copy_from_slice(&ends[..count]);
    lengths(lengths_of);
    let values = Operand::row(x.dtype, count as i64 * width)?;
    let (mut start, row) = (0, width as usize * x.dtype.size());
    for (i, &end) in ends[..count].iter().enumerate() {
        // SAFETY: both hold as many rows, and do not overlap.
        unsafe { values.first().add(i * row).copy_from_nonoverlapping(x.first().add(places[start] as usize * row), row) };
        start = end as usize;
    }
    Ok(Unique { values, inverse, counts: Some(counts) })
}

/// Sorts the rows `places`, unless only consecutive rows are compared. Writes the ends of the runs and returns their number.
fn runs_of_rows<T: Ordered>(
    x: &Operand,
    width: usize,
    consecutive: bool,
    [places, ends]: [&mut [i64]; 2],
    inverse: Option<&mut [i64]>,
) -> Result<usize> {
    let buffer = Operand::row(if size_of::<T::Key>() == 4 { Dtype::Int32 } else { Dtype::Int64 }, x.layout().numel())?;
    // SAFETY: the operand is row-major and of this type, and the buffer has room for its keys.
    let keys = unsafe { keys_of(x.elements::<T>(), buffer.first()) };
    let rows = KeyRows { keys, width, float: T::DTYPE.is_float() };
    if !consecutive {
        rows.sort(places);
    }
    Ok(rows.runs(places, ends, inverse))
}

/// Returns the number of runs in a line.
pub fn count_runs<T: Element>(line: &[T]) -> usize {
    let (mut runs, mut last) = (line.len().min(1), 0);
    while last + 1 < line.len() {
        let part = &line[last..line.len().min(last + UNIQUE_PIECE)];
        runs += simd(
            #[inline(always)]
            move |_| {
                let mut changes = 0u32;
                for i in 1..part.len() {
                    changes += (part[i] != part[i - 1]) as u32;
                }
                changes as usize
            },
        );
        last += part.len() - 1;
    }
    runs
}

/// Writes the end of each run of a line to `ends`, and to `inverse[order[i]]` the number of the run that contains element `i`. Without
/// `order`, to `inverse[i]`.
pub fn runs<T: Element>(line: &[T], order: Option<&[i64]>, ends: &mut [i64], inverse: Option<&mut [i64]>) {
    mark(line.len(), |i| line[i] != line[i - 1], order, ends, inverse)
}

/// Marks the runs of `n` elements or rows; `differs(i)` says whether number `i` differs from the one before.
#[inline(always)]
fn mark(n: usize, differs: impl Fn(usize) -> bool, order: Option<&[i64]>, ends: &mut [i64], inverse: Option<&mut [i64]>) {
    // `ends[run]` is written for every element, and finally by the last of the run, so that there is no branch to predict.
    let mut run = 0;
    let mut next = |i: usize| {
        run += (i > 0 && differs(i)) as usize;
        ends[run] = i as i64 + 1;
        run as i64
    };
    match (inverse, order) {
        (None, _) => (0..n).for_each(|i| _ = next(i)),
        (Some(inverse), None) => (0..n).for_each(|i| inverse[i] = next(i)),
        (Some(inverse), Some(order)) => (0..n).for_each(|i| inverse[order[i] as usize] = next(i)),
    }
}

/// Rows of `width` keys.
#[derive(Clone, Copy)]
pub struct KeyRows<'a, K> {
    /// The keys.
    pub keys: &'a [K],
    /// The number of keys in a row, at least one.
    pub width: usize,
    /// True if the greatest key is NaN's.
    pub float: bool,
}

impl<K: Key> KeyRows<'_, K> {
    fn row(&self, i: i64) -> &[K] {
        &self.keys[i as usize * self.width..][..self.width]
    }

    /// Sorts the numbers of rows into ascending order of the rows; equal rows keep their order. The first key in which two rows differ
    /// decides.
    pub fn sort(self, order: &mut [i64]) {
        order.sort_unstable_by(|&a, &b| self.row(a).cmp(self.row(b)).then(a.cmp(&b)));
    }

    /// [`runs`] of rows in a given order. Returns the number of runs.
    pub fn runs(self, order: &[i64], ends: &mut [i64], inverse: Option<&mut [i64]>) -> usize {
        let differs = |i: usize| {
            let (a, b) = (self.row(order[i]), self.row(order[i - 1]));
            a != b || (self.float && a.contains(&K::MAX))
        };
        mark(order.len(), differs, Some(order), ends, inverse);
        ends.iter().position(|&end| end == order.len() as i64).map_or(0, |last| last + 1)
    }
}

/// Writes the keys of `x` to `keys` and returns them.
///
/// # Safety
/// `keys` must have room for the keys.
pub unsafe fn keys_of<'a, T: Ordered>(x: &[T], keys: *mut u8) -> &'a [T::Key] {
    if x.is_empty() {
        return &[];
    }
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        to_keys(x, keys.cast::<T::Key>());
        std::slice::from_raw_parts(keys.cast(), x.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_where_elements_change() {
        let line = [1.0f32, 1.0, 2.0, -0.0, 0.0, f32::NAN, f32::NAN];
        assert_eq!(count_runs(&line), 5);
        let (mut ends, mut inverse) = ([0; 5], [9; 7]);
        runs(&line, None, &mut ends, Some(&mut inverse));
        assert_eq!((ends, inverse), ([2, 3, 5, 6, 7], [0, 0, 1, 2, 2, 3, 4]));
        runs(&line, Some(&[6, 5, 4, 3, 2, 1, 0]), &mut ends, Some(&mut inverse));
        assert_eq!(inverse, [4, 3, 2, 2, 1, 0, 0]);
        assert_eq!(count_runs::<i64>(&[]), 0);
        let mut values = [9.0; 5];
        firsts(&line, &mut values);
        assert_eq!(values.map(f32::to_bits), [1.0, 2.0, -0.0, f32::NAN, f32::NAN].map(f32::to_bits));
        firsts::<i64>(&[], &mut []);
    }

    #[test]
    fn runs_are_counted_over_pieces() {
        for n in [UNIQUE_PIECE - 1, UNIQUE_PIECE, UNIQUE_PIECE + 1, 3 * UNIQUE_PIECE] {
            let line: Vec<i64> = (0..n as i64).map(|i| i / 3).collect();
            assert_eq!(count_runs(&line), n.div_ceil(3));
        }
    }

    #[test]
    fn rows_are_ordered_by_the_first_key_that_differs() {
        let rows = KeyRows { keys: &[2, 1, 1, 5, 2, 0, 1, 5], width: 2, float: false };
        let (mut order, mut ends, mut inverse) = ([0, 1, 2, 3], [0; 4], [0; 4]);
        rows.sort(&mut order);
        assert_eq!(order, [1, 3, 2, 0]);
        assert_eq!(rows.runs(&order, &mut ends, Some(&mut inverse)), 3);
        assert_eq!((&ends[..3], inverse), (&[2, 3, 4][..], [2, 0, 1, 0]));
        let nans = KeyRows { keys: &[i32::MAX, 1, i32::MAX, 1], width: 2, float: true };
        assert_eq!(nans.runs(&[0, 1], &mut ends[..2], None), 2);
    }
}
