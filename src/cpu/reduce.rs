//! The driver of reductions: folds the elements of every result position, along rows or over columns, on any number of threads.
//!
//! The result does not depend on the number of threads: work is cut at fixed places and partial results meet in order.

use super::copy::{Side, TileCopy};
use super::engine::{CHEAP, Shared, parallel};
use crate::dtype::Dtype;
use crate::layout::{INLINE_DIMS, Layout};
use crate::plan::Loop;
use smallvec::SmallVec;
use std::mem::MaybeUninit;

/// A reduction over one compute type. Accumulators are plain bytes to the driver.
pub trait Fold: Sync {
    /// Bytes of an accumulator, at most [`ACC`].
    fn acc_size(&self) -> usize;
    /// # Safety
    /// `acc` has room for `n` accumulators.
    unsafe fn start(&self, acc: *mut u8, n: usize);
    /// Folds `n` contiguous elements, the first of which is number `index`, into one accumulator.
    ///
    /// # Safety
    /// `acc` is started, `x` holds `n` elements.
    unsafe fn row(&self, acc: *mut u8, x: *const u8, n: usize, index: i64);
    /// Folds element `j` of `n` into accumulator `j`; all are number `index` of their fold.
    ///
    /// # Safety
    /// `accs` holds `n` started accumulators, `x` `n` elements.
    unsafe fn column(&self, accs: *mut u8, x: *const u8, n: usize, index: i64);
    /// Folds `other`, whose elements come later, into `acc`.
    ///
    /// # Safety
    /// Both are started.
    unsafe fn merge(&self, acc: *mut u8, other: *const u8);
    /// Writes the results of `n` accumulators to one or two runs.
    ///
    /// # Safety
    /// The runs have room for `n` results in the fold's result types.
    unsafe fn finish(&self, accs: *const u8, n: usize, out: [*mut u8; 2]);
}

/// The most bytes an accumulator takes.
pub(crate) const ACC: usize = 16;
/// Columns folded at a time.
const COLUMNS: usize = 256;
/// Fewer kept neighbours than this are not worth folding as columns.
const FEW_COLUMNS: usize = 16;
/// Elements staged at a time.
const STAGE: usize = 1024;
/// Elements of a row folded before partial results meet.
const PIECE: usize = 32 * 1024;

/// A reduction ready to run.
pub struct Reduction<'a> {
    /// What to compute.
    pub fold: &'a dyn Fold,
    /// First element of the input, and what lies there.
    pub data: *const u8,
    /// What lies in memory.
    pub dtype: Dtype,
    /// What the fold reads.
    pub compute: Dtype,
    /// The dims that stay: input step, and step of each result.
    pub kept: Loops,
    /// The dims folded, fastest first, numbered row-major.
    pub folded: SmallVec<[Loop<1>; INLINE_DIMS]>,
    /// The results: memory, what lies there, what the fold writes.
    pub out: [Option<(*mut u8, Dtype, Dtype)>; 2],
}

// SAFETY: threads share it only inside `run`, which divides the results among them.
unsafe impl Sync for Reduction<'_> {}

/// Loops over input and both results.
pub type Loops = SmallVec<[Loop<3>; INLINE_DIMS]>;

/// Splits `input` into the dims that stay and those in `dims`; `out` are the results with the folded dims at size 1.
pub fn split(input: &Layout, item: usize, dims: &[usize], out: [Option<(&Layout, usize)>; 2]) -> (Loops, SmallVec<[Loop<1>; INLINE_DIMS]>) {
    let (mut kept, mut folded) = (Loops::new(), SmallVec::new());
    for d in (0..input.ndim()).rev() {
        let (n, step) = (input.shape[d] as usize, input.strides[d] as isize * item as isize);
        if dims.contains(&d) {
            push_merged(&mut folded, Loop { n, step: [step] });
        } else if n != 1 {
            let at = |o: Option<(&Layout, usize)>| o.map_or(0, |(l, item)| l.strides[d] as isize * item as isize);
            kept.push(Loop { n, step: [step, at(out[0]), at(out[1])] });
        }
    }
    kept.sort_by_key(|l| l.step[0]);
    (kept, folded)
}

fn push_merged(loops: &mut SmallVec<[Loop<1>; INLINE_DIMS]>, next: Loop<1>) {
    match loops.last_mut() {
        _ if next.n == 1 => {}
        Some(last) if next.step[0] == last.step[0] * last.n as isize => last.n *= next.n,
        _ => loops.push(next),
    }
}

fn count<const N: usize>(loops: &[Loop<N>]) -> usize {
    loops.iter().map(|l| l.n).product()
}

/// Where position `index` of some loops lies, for each operand.
fn position<const N: usize>(loops: &[Loop<N>], mut index: usize) -> [isize; N] {
    let mut at = [0; N];
    for l in loops {
        let i = (index % l.n) as isize;
        index /= l.n;
        for k in 0..N {
            at[k] += i * l.step[k];
        }
    }
    at
}

impl Reduction<'_> {
    /// Computes every result.
    ///
    /// # Safety
    /// All positions must lie inside their memory; results overlap neither each other nor the input.
    pub unsafe fn run(&self) {
        if count(&self.kept) == 0 {
            return;
        }
        let run = self.folded.first().copied().unwrap_or(Loop { n: 1, step: [self.dtype.size() as isize] });
        let contiguous = run.step[0] == self.dtype.size() as isize;
        let columns = self.kept.first().is_some_and(|l| l.n >= FEW_COLUMNS && l.step[0] == self.dtype.size() as isize);
        // SAFETY: the caller's.
        unsafe { if columns && !contiguous { self.over_columns() } else { self.along_rows(run) } }
    }

    /// One result at a time; a few long ones are cut into pieces for the threads.
    unsafe fn along_rows(&self, run: Loop<1>) {
        let outputs = count(&self.kept);
        let rows = count(self.folded.get(1..).unwrap_or(&[]));
        let per_row = run.n.div_ceil(PIECE);
        let pieces = rows * per_row;
        debug_assert!(self.fold.acc_size() <= ACC);
        // Enough results keep all threads busy, each alone; otherwise the pieces of one result are shared out, memory permitting: folding them
        // one after the other is the same sum.
        let mut partial = Vec::new();
        let shared_out = outputs < 64 && pieces > 1 && partial.try_reserve_exact(pieces).is_ok();
        if !shared_out {
            return parallel(outputs, count(&self.folded).max(1), CHEAP, &|range| {
                for o in range {
                    let mut acc = Acc::new();
                    // SAFETY: the caller's; each result is written by one thread.
                    unsafe {
                        self.fold.start(acc.data(), 1);
                        (0..pieces).for_each(|p| self.piece(acc.data(), o, p, per_row, run));
                        self.store(acc.data(), 1, position(&self.kept, o), [0; 3]);
                    }
                }
            });
        }
        for o in 0..outputs {
            partial.clear();
            partial.resize(pieces, Acc::new());
            let shared = Shared(partial.as_mut_ptr().cast());
            parallel(pieces, run.n.min(PIECE), CHEAP, &|range| {
                for p in range {
                    // SAFETY: each piece has its own accumulator; `parallel` returns before `partial` goes.
                    unsafe {
                        let acc = shared.get().add(p * size_of::<Acc>());
                        self.fold.start(acc, 1);
                        self.piece(acc, o, p, per_row, run);
                    }
                }
            });
            let (first, rest) = partial.split_at_mut(1);
            // SAFETY: all accumulators are started.
            unsafe {
                rest.iter_mut().for_each(|acc| self.fold.merge(first[0].data(), acc.data()));
                self.store(first[0].data(), 1, position(&self.kept, o), [0; 3]);
            }
        }
    }

    /// Folds piece `p` of result `o` into `acc`.
    unsafe fn piece(&self, acc: *mut u8, o: usize, p: usize, per_row: usize, run: Loop<1>) {
        let (row, start) = (p / per_row, p % per_row * PIECE);
        let outer = position(self.folded.get(1..).unwrap_or(&[]), row)[0];
        let (n, index) = ((run.n - start).min(PIECE), (row * run.n + start) as i64);
        // SAFETY: the caller's: the position lies inside the input.
        unsafe {
            let x = self.data.offset(position(&self.kept, o)[0] + outer + start as isize * run.step[0]);
            if run.step[0] == self.dtype.size() as isize && self.dtype == self.compute {
                return self.fold.row(acc, x, n, index);
            }
            let (mut stage, copy) = (Stage::new(), TileCopy::new(self.compute, self.dtype));
            for s in (0..n).step_by(STAGE) {
                let len = STAGE.min(n - s);
                stage.load(&copy, self.compute, x.offset(s as isize * run.step[0]), run.step[0], len);
                self.fold.row(acc, stage.data(), len, index + s as i64);
            }
        }
    }

    /// Blocks of neighbouring results, one row of input after the other.
    unsafe fn over_columns(&self) {
        let (first, outer) = (self.kept[0], &self.kept[1..]);
        let blocks = first.n.div_ceil(COLUMNS);
        let (rows, size) = (count(&self.folded), self.dtype.size());
        parallel(blocks * count(outer), first.n.min(COLUMNS) * rows, CHEAP, &|range| {
            let copy = TileCopy::new(self.compute, self.dtype);
            for unit in range {
                let start = unit % blocks * COLUMNS;
                let n = COLUMNS.min(first.n - start);
                let mut at = position(outer, unit / blocks);
                (0..3).for_each(|k| at[k] += start as isize * first.step[k]);
                let (mut accs, mut stage) = ([const { Acc::new() }; COLUMNS], Stage::new());
                let accs = accs.as_mut_ptr().cast::<u8>();
                // SAFETY: the caller's; each block is written by one thread.
                unsafe {
                    self.fold.start(accs, n);
                    for row in 0..rows {
                        let mut x = self.data.offset(at[0] + position(&self.folded, row)[0]);
                        if self.dtype != self.compute {
                            stage.load(&copy, self.compute, x, size as isize, n);
                            x = stage.data();
                        }
                        self.fold.column(accs, x, n, row as i64);
                    }
                    self.store(accs, n, at, first.step);
                }
            }
        });
    }

    /// Writes the results of `n` accumulators that lie `step` apart.
    unsafe fn store(&self, accs: *const u8, n: usize, at: [isize; 3], step: [isize; 3]) {
        let mut results = [const { Stage::new() }; 2];
        let [a, b] = &mut results;
        let runs = [a.data(), b.data()];
        // SAFETY: `n` <= COLUMNS results fit the buffers; the rest is the caller's.
        unsafe {
            self.fold.finish(accs, n, runs);
            for k in 0..2 {
                if let Some((data, dtype, compute)) = self.out[k] {
                    let from = Side { data: runs[k], row_step: 0, col_step: compute.size() as isize };
                    let to = Side { data: data.offset(at[k + 1]), row_step: 0, col_step: step[k + 1] };
                    TileCopy::new(dtype, compute).copy(to, from, 1, n);
                }
            }
        }
    }
}

/// An accumulator, or the room for one.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Acc(#[allow(dead_code)] MaybeUninit<[u8; ACC]>);

impl Acc {
    const fn new() -> Acc {
        Acc(MaybeUninit::uninit())
    }
    fn data(&mut self) -> *mut u8 {
        (self as *mut Acc).cast()
    }
}

/// Room for STAGE elements in a compute type.
#[repr(align(64))]
struct Stage(MaybeUninit<[u8; STAGE * 8]>);

impl Stage {
    const fn new() -> Stage {
        Stage(MaybeUninit::uninit())
    }

    fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    /// # Safety
    /// `x` holds `n` <= STAGE elements at `step`.
    unsafe fn load(&mut self, copy: &TileCopy, compute: Dtype, x: *const u8, step: isize, n: usize) {
        let to = Side { data: self.data(), row_step: 0, col_step: compute.size() as isize };
        // SAFETY: the caller's.
        unsafe { copy.copy(to, Side { data: x.cast_mut(), row_step: 0, col_step: step }, 1, n) }
    }
}
