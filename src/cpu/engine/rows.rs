//! The rows that a kernel gets, and the operands that a kernel uses in place.

use super::{Job, Rows, parallel};
use crate::cpu::copy::Side;
use crate::cpu::stream::LINE;
use crate::cpu::tuning::{ROWS_AREA, SHORT_RUN};
use crate::plan::each;

/// A kernel over contiguous elements of each operand, of the types that were given to `Work::run`. The kernel gets one row, or several if
/// it is [`Options::by_rows`]. The rows are inside the operands, or inside buffers for them.
pub type Kernel<'a, const N: usize> = &'a (dyn Fn(&Rows<N>) + Sync);

/// The maximum number of elements in a chunk, which a kernel over rows reads before it writes.
pub(crate) const CHUNK: usize = 64;

/// Returns the number of elements in a chunk of operands with these element sizes: a cache line if all sizes are equal, otherwise 32
/// elements, since a cache line of the widest operand would be few elements of the others.
pub const fn lanes(sizes: &[usize]) -> usize {
    let mut k = 1;
    while k < sizes.len() {
        if sizes[k] != sizes[0] {
            return CHUNK / 2;
        }
        k += 1;
    }
    LINE / sizes[0]
}

impl<const N: usize> Job<N> {
    /// Returns true if a kernel over rows uses the operands in place. Rows that are too short for the kernel are gathered instead. So are
    /// short rows without gaps that share an input row; that input row is repeated once.
    pub(super) fn lies_in_rows(&self) -> bool {
        let (first, item) = (self.plan.loops()[0], self.plan.item);
        let steps = |k: usize| (first.step[k], self.plan.loops().get(1).map_or(0, |l| l.step[k]), item[k] as isize);
        let lies = |k: usize| matches!(steps(k), (step, _, item) if step == item || (k > 0 && step == 0));
        let shared = |k: usize| matches!(steps(k), (step, 0, item) if k > 0 && step == item);
        let joined = |k: usize| matches!(steps(k), (step, next, item) if step == item && next == first.n as isize * item);
        let repeats = (1..N).any(shared) && (0..N).all(|k| shared(k) || joined(k));
        let gathered = repeats && first.n < 2 * SHORT_RUN;
        first.n >= lanes(&item) && self.dtype == self.compute && (0..N).all(lies) && !gathered
    }

    /// Runs the kernel on the operands in place.
    pub(super) fn run_rows(&self, kernel: Kernel<'_, N>) {
        let (data, first) = (self.shared(), self.plan.loops()[0]);
        let row_scalar = each(|k| first.step[k] == 0);
        // A tile has half of the elements that are worth a thread. With all of them, two tiles that lack a few elements would go to one
        // thread.
        let area = (self.grain / 2).max(ROWS_AREA);
        let tiles = self.plan.tiles((area / first.n).max(1), area);
        parallel(tiles.count(), tiles.area(), self.grain, &|range| {
            for tile in range.map(|i| tiles.get(i)) {
                let at = each(|k| Side::of(&tile, k, data[k].get()).data);
                kernel(&Rows { at, step: tile.row_step, row_scalar, rows: tile.rows, cols: tile.cols });
            }
        });
    }
}
