//! Inputs that are transposed in registers on their way into the kernel.

use super::stage::{Buffer, STAGE, Stager};
use super::{CHEAP, Job, Kernel, parallel};
use crate::cpu::copy::Side;
use crate::cpu::simd::{Level, level};
use crate::cpu::stream::{self, LINE};
use crate::cpu::transpose::gains_streamed;
use crate::plan::{Plan, each};

/// Columns of a tile: what is left of one at the edge goes through the buffers of a [`Stager`].
const COLS: usize = 128;
/// Bytes of a row of the transposed input that are read together: two lines, which come as one.
const HEIGHT: usize = 2 * LINE;

/// A kernel over a tile, at least a line wide and high, of operands as they lie: all rows contiguous, but for one input's, whose columns
/// are.
pub type TransposedKernel<'a, const N: usize> = &'a (dyn Fn(TransposedTile<N>) + Sync);

/// The tile that such a kernel is to compute.
#[derive(Clone, Copy)]
pub struct TransposedTile<const N: usize> {
    /// The operands.
    pub at: [Side; N],
    /// Rows of the tile.
    pub rows: usize,
    /// Columns of the tile.
    pub cols: usize,
    /// How.
    pub how: How,
}

/// How a job with a transposed input is run.
#[derive(Clone, Copy)]
pub struct How {
    /// The input that is transposed.
    pub input: usize,
    /// Results go past the caches. Lines of a tile are lines of memory then.
    pub past: bool,
}

impl<const N: usize> Job<N> {
    /// How the job is run if one input is transposed, all other operands are contiguous, and a register of this machine holds a cache line.
    pub(super) fn transposed_input(&self, plan: &Plan<N>, streamed: bool) -> Option<How> {
        let [first, second, ..] = plan.loops() else { return None };
        // Kernels that compute gain nothing.
        if level() != Level::Avx512 || self.dtype != self.compute || self.grain != CHEAP {
            return None;
        }
        let item = plan.item.map(|bytes| bytes as isize);
        let input = (1..N).find(|&k| first.step[k] != item[k])?;
        // Inputs with one value for a row are left to the kernel that takes rows.
        let lies_well = |k: usize| if k == input { first.step[k] != 0 && second.step[k] == item[k] } else { first.step[k] == item[k] };
        let line = LINE / plan.item[0];
        // No element may be computed twice if the result lies on an input. The last squares of a tile overlap others unless its sides
        // are whole lines.
        let fits = |n: usize| if self.result_is_input() { n.is_multiple_of(line) } else { n >= line };
        if !(0..N).all(lies_well) || !fits(first.n) || !fits(second.n) {
            return None;
        }
        let in_lines = |bytes: isize| bytes % LINE as isize == 0;
        let rows_begin_alike = in_lines(self.data[0].addr() as isize) && plan.loops()[1..].iter().all(|l| in_lines(l.step[0]));
        // `gains_streamed` expects the bytes of two operands. Those of all three make it agree a little earlier, which was right wherever
        // it was measured.
        let past = rows_begin_alike && (streamed || gains_streamed(plan.bytes(), second.step[0]));
        (past || !streamed).then_some(How { input, past })
    }

    /// Runs the job as [`Job::transposed_input`] says, tile by tile.
    pub(super) fn run_transposed(
        &self,
        plan: &Plan<N>,
        stager: &Stager<N>,
        how: How,
        kernel: Kernel<'_, N>,
        transposed: TransposedKernel<'_, N>,
    ) {
        let line = LINE / plan.item[0];
        let (tiles, data) = (plan.tiles(HEIGHT / plan.item[0], COLS), self.shared());
        parallel(tiles.count(), tiles.area(), self.grain, &|range| {
            let mut buffers: [Buffer; N] = [const { Buffer::new() }; N];
            let buffers = buffers.each_mut().map(Buffer::data);
            for tile in range.map(|i| tiles.get(i)) {
                let (rows, cols) = (tile.rows, tile.cols);
                if rows >= line && cols >= line {
                    transposed(TransposedTile { at: each(|k| Side::of(&tile, k, data[k].get())), rows, cols, how });
                } else {
                    const LEAST_ITEM: usize = 4;
                    const { assert!(LINE * COLS <= LEAST_ITEM * STAGE && HEIGHT * LINE <= LEAST_ITEM * STAGE) }
                    // SAFETY: the plan's tiles lie inside their operands; buffers hold one so low or narrow.
                    unsafe { stager.tile(&tile, None, buffers, &mut [(std::ptr::null_mut(), 0); N], kernel) }
                }
            }
            if how.past {
                stream::fence();
            }
        });
    }
}
