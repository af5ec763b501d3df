//! The kernels of operations over lines.

use super::engine::{CHEAP, COSTLY};
use super::keys::{Key, Ordered};
use super::lines::{Kernels, Line};
use super::quantile::{self, Quantiles};
use super::real::Real;
use super::scan::{self, Scanned};
use super::select::{count_nans, first, scratch_bytes, select};
use super::sort::{self, Sorted};
use super::vector::Vectored;
use super::{mode, softmax};
use crate::cpu::tuning::{SELECTED_LINE, SOFTMAX_TRANSPOSED, SORTED_LINE};
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::Result;
use crate::launch::LineOp;
use crate::launch::lines::{Rank, Softmax, Top};

/// A function that is called with the kernels.
type Use<'a> = &'a mut dyn FnMut(&Kernels<'_>);

/// Calls `f` with the kernels of `op` for lines of `n` elements of a compute type. Positions are computed only if `positions` is true.
pub fn with_kernels(op: LineOp<'_>, compute: Dtype, n: usize, positions: bool, f: Use<'_>) -> Result<()> {
    match op {
        LineOp::Totals { product: false } => dispatch!(all, compute, T => totals::<T, false>(f)),
        LineOp::Totals { product: true } => dispatch!(all, compute, T => totals::<T, true>(f)),
        LineOp::Extremes { max: true } => dispatch!(all, compute, T => extremes::<T, true>(f)),
        LineOp::Extremes { max: false } => dispatch!(all, compute, T => extremes::<T, false>(f)),
        LineOp::Softmax(kind) => dispatch!(float, compute, T => softmax::<T>(kind, f)),
        LineOp::LogSums => dispatch!(float, compute, T => f(&Kernels::line(&softmax::log_sums::<T>, COSTLY))),
        LineOp::Sort { descending } => dispatch!(all, compute, T => sort::<T>(descending, n, positions, f)),
        LineOp::Top(top) => dispatch!(all, compute, T => take_top::<T>(top, n, f)),
        LineOp::Select(rank) => dispatch!(numeric, compute, T => ranked::<T>(rank, n, f)),
        LineOp::Mode => dispatch!(all, compute, T => most_frequent::<T>(n, f)),
        LineOp::Quantiles { shares, interpolation, skip_nan } => dispatch!(float, compute, T => {
            // SAFETY: the shares are a vector of elements of the compute type.
            let shares = unsafe { std::slice::from_raw_parts(shares.first().cast::<T>(), shares.layout().numel() as usize) };
            quantiles(Quantiles { shares, interpolation, skip_nan }, n, f)
        }),
    }
    Ok(())
}

fn totals<T: Scanned, const PRODUCT: bool>(f: Use<'_>) {
    let lines = Kernels::stack(&scan::totals_of_lines::<T, PRODUCT>, CHEAP);
    f(&Kernels { columns: Some(&scan::totals_of_columns::<T, PRODUCT>), batch: T::batch, ..lines })
}

fn extremes<T: Element, const MAX: bool>(f: Use<'_>) {
    f(&Kernels { columns: Some(&scan::extremes_of_columns::<T, MAX>), ..Kernels::line(&scan::extremes::<T, MAX>, CHEAP) })
}

fn softmax<T: Real + Vectored>(kind: Softmax, f: Use<'_>) {
    let (stack, columns) = (move |s| softmax::stack::<T>(kind, s), move |p| softmax::columns::<T>(kind, p));
    let (max_lines, area) = (softmax::MOST_COLUMNS, softmax::most_area(kind));
    f(&Kernels { columns: Some(&columns), max_lines, area, max_transposed: SOFTMAX_TRANSPOSED, ..Kernels::stack(&stack, COSTLY) })
}

/// Returns kernels of one line that write only the results that the caller wants.
fn chosen<'a>(line: &'a (dyn Fn(Line) + Sync), scratch: usize, grain: usize) -> Kernels<'a> {
    Kernels { scratch, writes_all: false, ..Kernels::line(line, grain) }
}

fn sort<T: Ordered>(descending: bool, n: usize, positions: bool, f: Use<'_>) {
    let line = move |line: Line| {
        // SAFETY: the driver passes lines and results of `T` and int64, and the requested scratch.
        unsafe { sort::sort(elements::<T>(line), descending, sorted(line), line.scratch) }
    };
    f(&chosen(&line, sort::scratch_bytes::<T>(n, positions), SORTED_LINE))
}

fn take_top<T: Ordered>(top: Top, n: usize, f: Use<'_>) {
    let line = move |line: Line| {
        // SAFETY: the driver passes lines of `T`, results with room for `k`, and the requested scratch.
        unsafe { top.of(elements::<T>(line), sorted(line), line.scratch) }
    };
    f(&chosen(&line, top.scratch_bytes::<T>(n), SORTED_LINE))
}

fn ranked<T: Ordered>(rank: Rank, n: usize, f: Use<'_>) {
    let line = move |line: Line| {
        // SAFETY: the driver passes lines of `n` elements, the requested scratch, and results of one element.
        unsafe {
            let x = elements::<T>(line);
            let key = key_of_rank(x, rank, line.scratch);
            put(line, 0, T::from_key(key));
            if !line.out[1].is_null() {
                put(line, 1, first(x, key) as i64);
            }
        }
    };
    f(&chosen(&line, scratch_bytes::<T>(n), SELECTED_LINE))
}

fn most_frequent<T: Ordered>(n: usize, f: Use<'_>) {
    let line = |line: Line| {
        // SAFETY: the driver passes lines of `n` elements, the requested scratch, and results of one element.
        unsafe {
            let (key, at) = mode::mode(elements::<T>(line), line.scratch);
            put(line, 0, T::from_key(key));
            put(line, 1, at as i64);
        }
    };
    f(&chosen(&line, mode::scratch_bytes::<T>(n), SELECTED_LINE))
}

fn quantiles<T: Real + Ordered>(quantiles: Quantiles<'_, T>, n: usize, f: Use<'_>) {
    let line = |line: Line| {
        // SAFETY: the driver passes lines of `T`, the requested scratch, and a result with an element for each share.
        unsafe { quantiles.of(elements::<T>(line), line.out[0].cast(), line.scratch) }
    };
    f(&chosen(&line, quantile::scratch_bytes::<T>(n), SELECTED_LINE))
}

/// # Safety
/// As for [`select`].
unsafe fn key_of_rank<T: Ordered>(line: &[T], rank: Rank, scratch: *mut u8) -> T::Key {
    let k = match rank {
        Rank::At(k) => k,
        Rank::Median => (line.len() - 1) / 2,
        Rank::MedianOfNumbers => (line.len() - count_nans(line)).saturating_sub(1) / 2,
    };
    // SAFETY: the caller keeps this function's contract; k < line.len().
    let choice = unsafe { select(line, k, scratch) };
    if choice.nan && matches!(rank, Rank::Median) { T::Key::MAX } else { choice.key }
}

/// # Safety
/// The line holds elements of `T`.
unsafe fn elements<'a, T>(line: Line) -> &'a [T] {
    // SAFETY: the caller keeps this function's contract.
    unsafe { std::slice::from_raw_parts(line.x.cast::<T>(), line.n) }
}

/// Writes the one element of result `k`, if the caller wants this result.
///
/// # Safety
/// The result must hold an element of `T`.
unsafe fn put<T>(line: Line, k: usize, value: T) {
    if !line.out[k].is_null() {
        // SAFETY: the caller keeps this function's contract.
        unsafe { line.out[k].cast::<T>().write(value) }
    }
}

fn sorted<T>(line: Line) -> Sorted<T> {
    Sorted { values: line.out[0].cast(), positions: line.out[1].cast() }
}
