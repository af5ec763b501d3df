//! The results, block of rows by block of rows.

use super::block::{Block, Dropped, Masking, Running, finish, step};
use super::{Problem, Rooms, Side, bytes, copy_rows, pitch};
use crate::cpu::matmul::{Gemm, Mat, gemm_here};
use crate::cpu::real::Real;
use crate::cpu::scratch::ThreadScratch;
use crate::cpu::simd::simd;
use crate::cpu::tuning::{ATTENTION_COLS, ATTENTION_ROWS};
use crate::cpu::vector::{Vectored, with_register};
use crate::error::{Result, bail};
use crate::launch::Attention;
use crate::operand::Operand;

/// Computes the results and, if `logs` is given, the logarithms.
pub fn forward(work: Attention, [r, logs]: [Option<&Operand>; 2], inputs: [&Operand; 3], mask: Option<&Operand>) -> Result<()> {
    let problem = Problem::new(work, inputs);
    if problem.l == 0 || problem.entries == 0 || (problem.ev == 0 && logs.is_none()) {
        return Ok(());
    }
    let [q, k, v] = inputs.map(Side::of);
    let (r, logs, mask) = (r.map(Side::of), logs.map(Side::of), mask.map(Side::of));
    Forward { problem, q, k, v, r, logs, mask }.run::<f32>()
}

struct Forward {
    problem: Problem,
    q: Side,
    k: Side,
    v: Side,
    r: Option<Side>,
    logs: Option<Side>,
    mask: Option<Side>,
}

impl Forward {
    fn run<T: Real + Vectored + Gemm>(&self) -> Result<()> {
        let Problem { l, s, e, ev, entries, .. } = self.problem;
        let (rows, cols, down) = (ATTENTION_ROWS.min(l), pitch(ATTENTION_COLS.min(s)), l.div_ceil(ATTENTION_ROWS));
        let rooms = Rooms::new([
            bytes::<T>(rows, cols),
            bytes::<T>(rows, pitch(e)),
            bytes::<T>(rows, pitch(ev)),
            bytes::<T>(rows, 1),
            bytes::<T>(rows, 1),
            bytes::<f64>(rows, 1),
        ]);
        let parts = entries * down;
        let Some(scratch) = ThreadScratch::new(rooms.bytes, parts) else { bail!(NoMem, "no memory for a block of weights of each thread") };
        scratch.each::<u8>(parts, &|part, start| self.rows::<T>(part / down, part % down * ATTENTION_ROWS, &rooms, start));
        Ok(())
    }

    /// Computes a block of rows of batch entry `b`, beginning with row `first`.
    fn rows<T: Real + Vectored + Gemm>(&self, b: usize, first: usize, rooms: &Rooms<6>, start: *mut u8) {
        let Problem { work, ref batch, l, s, ev, .. } = self.problem;
        let rows = ATTENTION_ROWS.min(l - first);
        let row = pitch(ATTENTION_COLS.min(s));
        let (k, v) = (self.k.matrix::<T>(batch, b), self.v.matrix::<T>(batch, b));
        let q = self.q.matrix::<T>(batch, b);
        let masking = Masking::of(&self.problem, self.mask.as_ref(), b);
        let results = Mat { data: rooms.at::<T>(start, 2), rows, cols: ev, row_stride: pitch(ev) as isize, col_stride: 1 };
        let state = Running { most: rooms.at::<T>(start, 3), factors: rooms.at(start, 4), sums: rooms.at(start, 5), results };
        // SAFETY: the rooms hold these rows, and belong to this thread. The operands were checked against their storages, and the results
        // overlap no operand. Each part has different rows of the results.
        unsafe {
            let q = copy_rows(rooms.at(start, 1), pitch(q.cols), q.block(first, rows, 0, q.cols));
            for i in 0..rows {
                state.most.add(i).write(T::from_f64(f64::NEG_INFINITY));
                state.sums.add(i).write(0.0);
                results.at(i, 0).write_bytes(0, ev);
            }
            for col in (0..self.problem.visible(first + rows)).step_by(ATTENTION_COLS) {
                let cols = ATTENTION_COLS.min(s - col);
                let scores = Mat { data: rooms.at::<T>(start, 0), rows, cols, row_stride: row as isize, col_stride: 1 };
                gemm_here(T::from_f64(0.0), scores, T::from_f64(work.scale), q, k.block(col, cols, 0, k.cols).transposed());
                let block = Block { scores, at: (first, col), masking, dropped: Dropped::of(&self.problem, b) };
                simd(
                    #[inline(always)]
                    move |isa| with_register!(isa, T => step(isa, block, state, col == 0)),
                );
                let one = T::from_f64(1.0);
                gemm_here(one, results, one, scores, v.block(col, cols, 0, v.cols));
            }
            let Some(r) = self.r.as_ref().map(|r| r.matrix::<T>(batch, b).block(first, rows, 0, ev)) else { return };
            let logs = self.logs.as_ref().map(|logs| logs.vector::<T>(batch, b).block(first, rows, 0, 1));
            let factor = work.dropout.map_or(1.0, |dropout| dropout.factor());
            simd(
                #[inline(always)]
                move |isa| with_register!(isa, T => finish(isa, state, r, logs, factor)),
            );
        }
    }
}
