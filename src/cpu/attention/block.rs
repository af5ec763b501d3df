//! Blocks of scores: masks, exponentials and dropout, row by row.

use super::Problem;
use super::Side;
use crate::cpu::matmul::Mat;
use crate::cpu::random::{Chance, fill};
use crate::cpu::real::Real;
use crate::cpu::simd::Isa;
use crate::cpu::softmax::{greatest, sum};
use crate::cpu::sweep::{Item, map};
use crate::cpu::tuning::ATTENTION_COLS;
use crate::cpu::vector::Partial;
use crate::dtype::{Bool, Dtype, Element};
use crate::launch::attention::Dropout;
use std::mem::MaybeUninit;

/// The positions that a row excludes, and the numbers that are added to its scores.
#[derive(Clone, Copy)]
pub(super) enum Masking<T> {
    None,
    /// Column `j` of row `i` is excluded if `j > i`.
    Causal,
    /// False elements exclude.
    Truth(Mat<Bool>),
    Added(Mat<T>),
}

impl<T> Masking<T> {
    /// Returns the mask of batch entry `b`.
    pub fn of(problem: &Problem, mask: Option<&Side>, b: usize) -> Masking<T> {
        match mask {
            Some(mask) if mask.dtype == Dtype::Bool => Masking::Truth(mask.matrix(&problem.batch, b)),
            Some(mask) => Masking::Added(mask.matrix(&problem.batch, b)),
            None if problem.work.causal => Masking::Causal,
            None => Masking::None,
        }
    }
}

/// Dropout of the rows of one batch entry.
#[derive(Clone, Copy)]
pub(super) struct Dropped {
    dropout: Dropout,
    /// The number of the batch entry, and of all entries.
    entry: (usize, usize),
    s: usize,
}

impl Dropped {
    pub fn of(problem: &Problem, b: usize) -> Option<Dropped> {
        Some(Dropped { dropout: problem.work.dropout?, entry: (b, problem.entries), s: problem.s })
    }

    /// Returns, for `cols` columns of row `i` from `j` on, true where the weight is kept.
    fn kept(self, i: usize, j: usize, cols: usize) -> [MaybeUninit<Bool>; ATTENTION_COLS] {
        let mut kept = [MaybeUninit::uninit(); ATTENTION_COLS];
        let of_words = ((1.0 - self.dropout.p) * 4_294_967_296.0).round() as u64;
        let (b, entries) = self.entry;
        let block = Dropout::block((i * entries + b) as u64, j, self.s);
        // SAFETY: a block has at most as many columns as there is room for.
        unsafe { fill(kept.as_mut_ptr().cast::<Bool>(), cols, self.dropout.seed, block, Chance { of_words }) };
        kept
    }
}

/// A block of scores.
#[derive(Clone, Copy)]
pub(super) struct Block<T> {
    /// The scores; rows are contiguous.
    pub scores: Mat<T>,
    /// The number of the first row and column.
    pub at: (usize, usize),
    pub masking: Masking<T>,
    pub dropped: Option<Dropped>,
}

/// The state of rows whose columns are added block by block.
#[derive(Clone, Copy)]
pub(super) struct Running<T> {
    /// The greatest score.
    pub most: *mut T,
    /// The sum of `e^(score - most)`.
    pub sums: *mut f64,
    /// Scratch for a number of each row.
    pub factors: *mut T,
    /// The weighted sums of the rows of `v`; rows are contiguous.
    pub results: Mat<T>,
}

/// Returns the number that is subtracted from scores whose greatest is `most`.
#[inline(always)]
fn usable<T: Real>(most: T) -> T {
    if most == T::from_f64(f64::NEG_INFINITY) { T::ZERO } else { most }
}

impl<T: Real> Block<T> {
    #[inline(always)]
    fn row(&self, i: usize) -> *mut T {
        self.scores.data.wrapping_offset(i as isize * self.scores.row_stride)
    }

    /// Masks row `i` of the block.
    ///
    /// # Safety
    /// The block must hold its rows, and the mask the positions of the block.
    #[inline(always)]
    unsafe fn mask_row(&self, i: usize) {
        let (row, cols, none) = (self.row(i), self.scores.cols, T::from_f64(f64::NEG_INFINITY));
        let (first, col) = (self.at.0 + i, self.at.1);
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            match self.masking {
                Masking::None => {}
                Masking::Causal => {
                    for j in (first + 1).saturating_sub(col)..cols {
                        row.add(j).write(none);
                    }
                }
                Masking::Truth(mask) => {
                    let (from, step) = (mask.at(first, col), mask.col_stride);
                    for j in 0..cols {
                        let shown = from.wrapping_offset(j as isize * step).read().get();
                        row.add(j).write(if shown { row.add(j).read() } else { none });
                    }
                }
                Masking::Added(mask) if mask.col_stride == 1 => {
                    let from = mask.at(first, col);
                    for j in 0..cols {
                        row.add(j).write(row.add(j).read().add(from.add(j).read()));
                    }
                }
                Masking::Added(mask) => {
                    let (from, step) = (mask.at(first, col), mask.col_stride);
                    for j in 0..cols {
                        row.add(j).write(row.add(j).read().add(from.wrapping_offset(j as isize * step).read()));
                    }
                }
            }
        }
    }

    /// Multiplies the elements at `row` by `factor` where row `i` keeps its weights, else by 0.
    ///
    /// # Safety
    /// `row` must hold the columns of the block.
    #[inline(always)]
    unsafe fn drop_row(&self, dropped: Dropped, i: usize, rows: &[*mut T], factor: T) {
        let kept = dropped.kept(self.at.0 + i, self.at.1, self.scores.cols);
        for row in rows {
            for j in 0..self.scores.cols {
                // SAFETY: the caller keeps this function's contract, and `kept` has written the columns.
                unsafe {
                    let x = row.add(j).read().mul(factor);
                    row.add(j).write(if kept[j].assume_init().get() { x } else { T::ZERO });
                }
            }
        }
    }
}

/// Replaces scores by `e^(score - most)`, and updates the state of the rows. `first` is true for the first columns of the rows.
///
/// # Safety
/// The block and the state must hold the rows, and the mask the positions of the block; as for
/// [`Register`](crate::cpu::vector::Register).
#[inline(always)]
pub(super) unsafe fn step<V: Partial<Item: Real>>(isa: Isa, block: Block<Item<V>>, state: Running<Item<V>>, first: bool) {
    let (rows, cols) = (block.scores.rows, block.scores.cols);
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        for i in 0..rows {
            block.mask_row(i);
            let (most, before) = (greatest::<V>(block.row(i), cols), state.most.add(i).read());
            let now = if most > before { most } else { before };
            state.most.add(i).write(now);
            state.factors.add(i).write(before.sub(usable(now)));
        }
        Item::<V>::exp_run(isa, state.factors, state.factors, rows);
        for i in 0..rows {
            let (row, factor) = (block.row(i), state.factors.add(i).read());
            let less = V::all(usable(state.most.add(i).read()));
            map::<V, 1>(
                row,
                [row],
                cols,
                #[inline(always)]
                |[x]| x - less,
            );
            Item::<V>::exp_run(isa, row, row, cols);
            let total = sum::<V>(row, cols).to_f64();
            let sums = state.sums.add(i);
            sums.write(if first { total } else { sums.read() * factor.to_f64() + total });
            if !first && factor != Item::<V>::from_f64(1.0) {
                let (result, factor) = (state.results.at(i, 0), V::all(factor));
                map::<V, 1>(
                    result,
                    [result],
                    state.results.cols,
                    #[inline(always)]
                    |[x]| x * factor,
                );
            }
            if let Some(dropped) = block.dropped {
                block.drop_row(dropped, i, &[row], Item::<V>::from_f64(1.0));
            }
        }
    }
}

/// Writes the results and the logarithms of finished rows. `factor` is the factor of dropout.
///
/// # Safety
/// As for [`step`]. `r` and `logs` must have the rows of the state; the rows of `r` must be contiguous.
#[inline(always)]
pub(super) unsafe fn finish<V: Partial<Item: Real>>(
    isa: Isa,
    state: Running<Item<V>>,
    r: Mat<Item<V>>,
    logs: Option<Mat<Item<V>>>,
    factor: f64,
) {
    for i in 0..r.rows {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let (most, total) = (state.most.add(i).read(), state.sums.add(i).read());
            let share = V::all(Element::from_f64(if total == 0.0 { 0.0 } else { factor / total }));
            map::<V, 1>(
                r.at(i, 0),
                [state.results.at(i, 0).cast_const()],
                r.cols,
                #[inline(always)]
                |[x]| x * share,
            );
            if let Some(logs) = logs {
                logs.at(i, 0).write(Element::from_f64(usable(most).to_f64() + Real::log(total, isa)));
            }
        }
    }
}

/// Replaces the scores of a block by the weights, and the products `slopes` of the result's gradient and `v` by the gradients of the
/// scores. `logs` and `delta` have a number for each row.
///
/// # Safety
/// As for [`step`]. `slopes` must have the shape of the block and contiguous rows.
#[inline(always)]
pub(super) unsafe fn back<V: Partial<Item: Real>>(isa: Isa, block: Block<Item<V>>, slopes: Mat<Item<V>>, [logs, delta]: [Mat<Item<V>>; 2]) {
    let cols = block.scores.cols;
    let none = Item::<V>::from_f64(f64::NEG_INFINITY);
    for i in 0..block.scores.rows {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            block.mask_row(i);
            let (row, slope, log) = (block.row(i), slopes.at(i, 0), logs.at(i, 0).read());
            // A row without a position has weights 0.
            let less = V::all(if log == none { Element::from_f64(f64::INFINITY) } else { log });
            map::<V, 1>(
                row,
                [row],
                cols,
                #[inline(always)]
                |[x]| x - less,
            );
            Item::<V>::exp_run(isa, row, row, cols);
            let delta = V::all(delta.at(i, 0).read());
            let Some(dropped) = block.dropped else {
                map::<V, 2>(
                    slope,
                    [slope.cast_const(), row],
                    cols,
                    #[inline(always)]
                    |[x, weight]| weight * (x - delta),
                );
                continue;
            };
            let factor = Element::from_f64(dropped.dropout.factor());
            block.drop_row(dropped, i, &[slope], factor);
            map::<V, 2>(
                slope,
                [slope.cast_const(), row],
                cols,
                #[inline(always)]
                |[x, weight]| weight * (x - delta),
            );
            block.drop_row(dropped, i, &[row], factor);
        }
    }
}
