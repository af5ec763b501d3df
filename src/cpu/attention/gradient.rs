//! The gradients, block of columns by block of columns.
//!
//! A part has a chunk of the columns of one `k` and `v`, and all batch entries that share them. The gradient of `q` is a sum over chunks:
//! each chunk after the first has separate memory for it. The number of chunks depends on shapes alone.

use super::block::{Block, Dropped, Masking, back};
use super::{Problem, Rooms, Side, bytes, copy_rows, pitch};
use crate::cpu::matmul::{Gemm, Mat, gemm_here};
use crate::cpu::parallel::{COSTLY, parallel};
use crate::cpu::real::Real;
use crate::cpu::scratch::{Elements, ThreadScratch};
use crate::cpu::simd::simd;
use crate::cpu::tuning::{ATTENTION_CHUNKS, ATTENTION_COLS, ATTENTION_ROWS};
use crate::cpu::vector::{Vectored, with_register};
use crate::error::{Result, bail};
use crate::launch::AttentionGradient;
use crate::operand::Operand;
use std::ops::Range;

/// Computes the gradients in `out`. The inputs are the gradient of the result, the logarithms, delta, `q`, `k` and `v`.
pub fn gradient(work: AttentionGradient, out: [Option<&Operand>; 4], inputs: [&Operand; 6], mask: Option<&Operand>) -> Result<()> {
    let [g, logs, delta, q, k, v] = inputs;
    let problem = Problem::new(work.0, [q, k, v]);
    let sides = Sides { g: Side::of(g), logs: Side::of(logs), delta: Side::of(delta), q: Side::of(q), k: Side::of(k), v: Side::of(v) };
    let [of_q, of_k, of_v, of_mask] = out.map(|out| out.map(Side::of));
    let gradient = Gradient { problem, sides, mask: mask.map(Side::of), of_q, of_k, of_v, of_mask };
    gradient.run::<f32>()?;
    gradient.run_mask::<f32>()
}

struct Sides {
    g: Side,
    logs: Side,
    delta: Side,
    q: Side,
    k: Side,
    v: Side,
}

struct Gradient {
    problem: Problem,
    sides: Sides,
    mask: Option<Side>,
    of_q: Option<Side>,
    of_k: Option<Side>,
    of_v: Option<Side>,
    of_mask: Option<Side>,
}

/// Batch entries in groups that share the elements of an operand.
struct Groups {
    /// The sizes of the dimensions between groups and within a group, each with the distance between its entries.
    dims: [Vec<(usize, usize)>; 2],
}

impl Groups {
    /// Divides a batch. `shares` says whether entries along a dimension share elements.
    fn new(batch: &[i64], shares: impl Fn(usize) -> bool) -> Groups {
        let (mut dims, mut step) = ([Vec::new(), Vec::new()], 1);
        for d in (0..batch.len()).rev() {
            dims[usize::from(shares(d))].push((batch[d] as usize, step));
            step *= batch[d] as usize;
        }
        Groups { dims }
    }

    /// Returns the number of groups, or of entries in a group.
    fn count(&self, within: bool) -> usize {
        self.dims[usize::from(within)].iter().map(|(size, _)| size).product()
    }

    /// Returns the number of batch entry `member` of a group.
    fn entry(&self, group: usize, member: usize) -> usize {
        [group, member].iter().zip(&self.dims).fold(0, |entry, (&at, dims)| {
            let mut rest = at;
            dims.iter().fold(entry, |entry, &(size, step)| {
                let index = rest % size;
                rest /= size;
                entry + index * step
            })
        })
    }
}

/// A thread's memory for one block.
struct Memory<T> {
    scores: *mut T,
    slopes: *mut T,
    q: *mut T,
    g: *mut T,
}

/// A block whose weights and gradients of scores have been computed.
struct Computed<T> {
    weights: Mat<T>,
    slopes: Mat<T>,
    q: Mat<T>,
    g: Mat<T>,
}

impl Gradient {
    fn rooms<T>(&self) -> Rooms<4> {
        let Problem { l, s, e, ev, .. } = self.problem;
        let (rows, cols) = (ATTENTION_ROWS.min(l), pitch(ATTENTION_COLS.min(s)));
        Rooms::new([bytes::<T>(rows, cols), bytes::<T>(rows, cols), bytes::<T>(rows, pitch(e)), bytes::<T>(rows, pitch(ev))])
    }

    fn memory<T>(rooms: &Rooms<4>, start: *mut u8) -> Memory<T> {
        Memory { scores: rooms.at(start, 0), slopes: rooms.at(start, 1), q: rooms.at(start, 2), g: rooms.at(start, 3) }
    }

    /// Computes the weights and the gradients of scores of the block of batch entry `b` from row and column `at` on.
    ///
    /// # Safety
    /// The memory must have room for a block, and belong to this thread.
    unsafe fn block<T: Real + Vectored + Gemm>(&self, b: usize, at: (usize, usize), memory: &Memory<T>) -> Computed<T> {
        let Problem { work, ref batch, l, s, .. } = self.problem;
        let (first, col) = at;
        let (rows, cols) = (ATTENTION_ROWS.min(l - first), ATTENTION_COLS.min(s - col));
        let row = pitch(ATTENTION_COLS.min(s)) as isize;
        let block = |data| Mat { data, rows, cols, row_stride: row, col_stride: 1 };
        let (scores, slopes) = (block(memory.scores), block(memory.slopes));
        let [q, g] = [&self.sides.q, &self.sides.g].map(|t| t.matrix::<T>(batch, b));
        let [k, v] = [&self.sides.k, &self.sides.v].map(|t| {
            let t = t.matrix::<T>(batch, b);
            t.block(col, cols, 0, t.cols).transposed()
        });
        let numbers = [&self.sides.logs, &self.sides.delta].map(|t| t.vector::<T>(batch, b).block(first, rows, 0, 1));
        let masking = Masking::of(&self.problem, self.mask.as_ref(), b);
        let block = Block { scores, at, masking, dropped: Dropped::of(&self.problem, b) };
        // SAFETY: the caller guarantees the memory. The operands were checked against their storages.
        unsafe {
            let q = copy_rows(memory.q, pitch(q.cols), q.block(first, rows, 0, q.cols));
            let g = copy_rows(memory.g, pitch(g.cols), g.block(first, rows, 0, g.cols));
            gemm_here(T::from_f64(0.0), scores, T::from_f64(work.scale), q, k);
            gemm_here(T::from_f64(0.0), slopes, T::from_f64(1.0), g, v);
            simd(
                #[inline(always)]
                move |isa| with_register!(isa, T => back(isa, block, slopes, numbers)),
            );
            Computed { weights: scores, slopes, q, g }
        }
    }

    /// Computes the gradients of `q`, `k` and `v`.
    fn run<T: Real + Vectored + Gemm>(&self) -> Result<()> {
        let Problem { ref batch, l, s, e, entries, .. } = self.problem;
        if self.of_q.is_none() && self.of_k.is_none() && self.of_v.is_none() {
            return Ok(());
        }
        let of_columns = || [&self.of_k, &self.of_v].into_iter().flatten();
        let is_shared = |d: usize| of_columns().next().is_some() && of_columns().all(|t| batch[d] > 1 && t.layout.strides[d] == 0);
        let groups = Groups::new(batch, is_shared);
        let count = groups.count(false);
        if count == 0 {
            return Ok(());
        }
        let blocks = s.div_ceil(ATTENTION_COLS);
        let chunks = if entries == 0 || l == 0 { 1 } else { ATTENTION_CHUNKS.div_ceil(count).clamp(1, blocks.max(1)) };
        let rooms = self.rooms::<T>();
        let size = if self.of_q.is_some() { bytes::<T>(entries.saturating_mul(l), e) } else { 0 };
        let sums = ThreadScratch::zeroed(size.saturating_mul(chunks - 1), 1);
        let (Some(sums), Some(scratch)) = (sums, ThreadScratch::new(rooms.bytes, count * chunks)) else {
            bail!(NoMem, "no memory for gradients of chunks, and for a block of weights of each thread")
        };
        let of_chunks = Elements(sums.start::<T>());
        scratch.each::<u8>(count * chunks, &|part, start| {
            let (group, chunk) = (part / chunks, part % chunks);
            let columns = blocks * chunk / chunks * ATTENTION_COLS..s.min(blocks * (chunk + 1) / chunks * ATTENTION_COLS);
            // The gradient of `q` of this chunk, and the distance between its rows.
            let of_q = |b: usize| match &self.of_q {
                Some(of_q) if chunk == 0 => Some(of_q.matrix::<T>(batch, b)),
                Some(_) => {
                    let data = of_chunks.at(((chunk - 1) * entries + b) * l * e);
                    Some(Mat { data, rows: l, cols: e, row_stride: e as isize, col_stride: 1 })
                }
                None => None,
            };
            self.columns(&groups, group, columns, &of_q, &Self::memory(&rooms, start));
        });
        if let Some(of_q) = self.of_q.as_ref().filter(|_| chunks > 1) {
            parallel(entries * l, e * chunks, COSTLY, &|rows| {
                for row in rows {
                    let end = of_q.matrix::<T>(batch, row / l).at(row % l, 0);
                    for chunk in 1..chunks {
                        for j in 0..e {
                            // SAFETY: the rows of the result are contiguous, and each is summed once; the chunks have as many rows.
                            unsafe {
                                let more = of_chunks.at((((chunk - 1) * entries * l) + row) * e + j).read();
                                end.add(j).write(end.add(j).read().add(more));
                            }
                        }
                    }
                }
            });
        }
        Ok(())
    }

    /// Computes the gradients of columns of the `k` and `v` of a group, and the share of these columns in the gradient of `q`.
    fn columns<T: Real + Vectored + Gemm>(
        &self,
        groups: &Groups,
        group: usize,
        columns: Range<usize>,
        of_q: &dyn Fn(usize) -> Option<Mat<T>>,
        memory: &Memory<T>,
    ) {
        let Problem { work, ref batch, l, s, e, .. } = self.problem;
        let (one, scale, members) = (T::from_f64(1.0), T::from_f64(work.scale), groups.count(true));
        let first = groups.entry(group, 0);
        let [of_k, of_v] = [&self.of_k, &self.of_v].map(|t| t.as_ref().map(|t| t.matrix::<T>(batch, first)));
        // SAFETY: the memory belongs to this thread. The results have contiguous rows, overlap no operand, and each part has different
        // elements of them.
        unsafe {
            // Rows of the first chunk are cleared here; the memory of other chunks is clear.
            for of_q in (0..members).filter_map(|member| of_q(groups.entry(group, member))).filter(|_| columns.start == 0) {
                (0..l).for_each(|i| of_q.at(i, 0).write_bytes(0, e));
            }
            for col in columns.step_by(ATTENTION_COLS) {
                let cols = ATTENTION_COLS.min(s - col);
                let [of_k, of_v] = [of_k, of_v].map(|t| t.map(|t| t.block(col, cols, 0, t.cols)));
                for t in [of_k, of_v].into_iter().flatten() {
                    (0..cols).for_each(|j| t.at(j, 0).write_bytes(0, t.cols));
                }
                for b in (0..members).map(|member| groups.entry(group, member)) {
                    let k = self.sides.k.matrix::<T>(batch, b).block(col, cols, 0, e);
                    let of_q = of_q(b);
                    let start = if work.causal { col / ATTENTION_ROWS * ATTENTION_ROWS } else { 0 };
                    for row in (start..l).step_by(ATTENTION_ROWS) {
                        let Computed { weights, slopes, q, g } = self.block(b, (row, col), memory);
                        if let Some(of_v) = of_v {
                            gemm_here(one, of_v, one, weights.transposed(), g);
                        }
                        if let Some(of_k) = of_k {
                            gemm_here(one, of_k, scale, slopes.transposed(), q);
                        }
                        if let Some(of_q) = of_q {
                            gemm_here(one, of_q.block(row, slopes.rows, 0, e), scale, slopes, k);
                        }
                    }
                }
            }
        }
    }

    /// Computes the gradient of the mask.
    fn run_mask<T: Real + Vectored + Gemm>(&self) -> Result<()> {
        let Some(of_mask) = &self.of_mask else { return Ok(()) };
        let Problem { ref batch, l, s, .. } = self.problem;
        let strides = &of_mask.layout.strides;
        let groups = Groups::new(batch, |d| batch[d] > 1 && strides[d] == 0);
        let [has_rows, has_cols] = [0, 1].map(|k| strides[batch.len() + k] != 0 || of_mask.layout.shape[batch.len() + k] < 2);
        let down = if has_rows { l.div_ceil(ATTENTION_ROWS) } else { usize::from(l > 0) };
        let parts = groups.count(false) * down;
        if parts == 0 || s == 0 {
            return Ok(());
        }
        let rooms = self.rooms::<T>();
        let Some(scratch) = ThreadScratch::new(rooms.bytes, parts) else { bail!(NoMem, "no memory for a block of weights of each thread") };
        scratch.each::<u8>(parts, &|part, start| {
            let (group, first) = (part / down, part % down * ATTENTION_ROWS);
            let memory = Self::memory::<T>(&rooms, start);
            let end = if has_rows { l.min(first + ATTENTION_ROWS) } else { l };
            let to = of_mask.matrix::<T>(batch, groups.entry(group, 0));
            // SAFETY: the memory belongs to this thread, and each part has different elements of the result.
            unsafe {
                for i in first..if has_rows { end } else { first + 1 } {
                    (0..if has_cols { s } else { 1 }).for_each(|j| to.at(i, j).write(T::from_f64(0.0)));
                }
                for b in (0..groups.count(true)).map(|member| groups.entry(group, member)) {
                    for row in (first..end).step_by(ATTENTION_ROWS) {
                        for col in (0..s).step_by(ATTENTION_COLS) {
                            let slopes = self.block(b, (row, col), &memory).slopes;
                            add_block(to.block(row, slopes.rows, col, slopes.cols), slopes, [has_rows, has_cols]);
                        }
                    }
                }
            }
        });
        Ok(())
    }
}

/// `to += slopes`, where rows or columns of `to` that do not exist separately receive sums.
///
/// # Safety
/// Both must hold the block, and must not overlap.
unsafe fn add_block<T: Real>(to: Mat<T>, slopes: Mat<T>, [has_rows, has_cols]: [bool; 2]) {
    let add = |x: *mut T, y: T| {
        // SAFETY: the caller keeps this function's contract.
        unsafe { x.write(x.read().add(y)) }
    };
    // SAFETY: the caller keeps this function's contract.
    let value = |i: usize, j: usize| unsafe { slopes.at(i, j).read() };
    if !has_rows {
        for i in 1..slopes.rows {
            (0..slopes.cols).for_each(|j| add(slopes.at(0, j), value(i, j)));
        }
    }
    for i in 0..if has_rows { slopes.rows } else { 1 } {
        if has_cols {
            (0..slopes.cols).for_each(|j| add(to.at(i, j), value(i, j)));
        } else {
            add(to.at(i, 0), (0..slopes.cols).fold(T::ZERO, |sum, j| sum.add(value(i, j))));
        }
    }
}
