//! Inputs that are transposed in registers when the kernel reads them.

use super::stage::{Buffer, STAGE, Stager};
use super::{CHEAP, Job, Kernel, parallel};
use crate::cpu::copy::Side;
use crate::cpu::simd::{Level, level};
use crate::cpu::stream::{self, LINE};
use crate::cpu::transpose::gains_streamed;
use crate::plan::{Plan, each};

/// Columns of a tile. The narrower tile at the edge goes through the buffers of a [`Stager`].
const COLS: usize = 128;
/// Bytes of a row of the transposed input that are read together: two cache lines, which the processor fetches as a pair.
const HEIGHT: usize = 2 * LINE;

/// A kernel over a tile that is at least one cache line wide and high. It uses the operands in place: all of them have contiguous rows,
/// except one input, which has contiguous columns.
pub type TransposedKernel<'a, const N: usize> = &'a (dyn Fn(TransposedTile<N>) + Sync);

/// The tile that a [`TransposedKernel`] computes.
#[derive(Clone, Copy)]
pub struct TransposedTile<const N: usize> {
    /// The operands.
    pub at: [Side; N],
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub cols: usize,
    /// The way in which the job is run.
    pub how: How,
}

/// The way in which a job with a transposed input is run.
#[derive(Clone, Copy)]
pub struct How {
    /// The input that is transposed.
    pub input: usize,
    /// True if results are stored past the caches. Lines of a tile are then cache lines of memory.
    pub past: bool,
}

impl<const N: usize> Job<N> {
    /// Returns how the job is run if one input is transposed, all other operands are contiguous, and a register of this processor holds a
    /// cache line. Otherwise returns `None`.
    pub(super) fn transposed_input(&self, plan: &Plan<N>, streamed: bool) -> Option<How> {
        let [first, second, ..] = plan.loops() else { return None };
        // Kernels with costly formulas gain nothing.
        if level() != Level::Avx512 || self.dtype != self.compute || self.grain != CHEAP {
            return None;
        }
        let item = plan.item.map(|bytes| bytes as isize);
        let input = (1..N).find(|&k| first.step[k] != item[k])?;
        // Inputs with one value for each row are left to the kernel over rows.
        let lies_well = |k: usize| if k == input { first.step[k] != 0 && second.step[k] == item[k] } else { first.step[k] == item[k] };
        let line = LINE / plan.item[0];
        // If the result aliases an input, no element may be computed twice. The last squares of a tile overlap others unless the tile's
        // width and height are multiples of a cache line.
        let fits = |n: usize| if self.result_is_input() { n.is_multiple_of(line) } else { n >= line };
        if !(0..N).all(lies_well) || !fits(first.n) || !fits(second.n) {
            return None;
        }
        let in_lines = |bytes: isize| bytes % LINE as isize == 0;
        let rows_begin_alike = in_lines(self.data[0].addr() as isize) && plan.loops()[1..].iter().all(|l| in_lines(l.step[0]));
        // `gains_streamed` expects the bytes of two operands. With the bytes of all three operands, it returns true a little earlier, which
        // was right in all measurements.
        let past = rows_begin_alike && (streamed || gains_streamed(plan.bytes(), second.step[0]));
        (past || !streamed).then_some(How { input, past })
    }

    /// Runs the job tile by tile, as [`Job::transposed_input`] decided.
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
                    // SAFETY: the plan's tiles are inside their operands, and the buffers have room for such a low or narrow tile.
                    unsafe { stager.tile(&tile, None, buffers, &mut [(std::ptr::null_mut(), 0); N], kernel) }
                }
            }
            if how.past {
                stream::fence();
            }
        });
    }
}
