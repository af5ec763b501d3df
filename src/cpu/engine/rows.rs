//! What a kernel is given, and operands it takes as they lie.

use super::{Job, Kernel, parallel};
use crate::cpu::copy::Side;
use crate::cpu::stream::LINE;
use crate::plan::each;

/// Rows of contiguous elements of each operand.
pub struct Rows<const N: usize> {
    /// First element of each.
    pub at: [*mut u8; N],
    /// Bytes from row to row.
    pub step: [isize; N],
    /// Inputs with one value for a row.
    pub still: [bool; N],
    /// Rows.
    pub rows: usize,
    /// Elements of a row.
    pub cols: usize,
}

impl<const N: usize> Rows<N> {
    /// One row of `n` elements.
    #[inline(always)]
    pub fn one(at: [*mut u8; N], n: usize) -> Rows<N> {
        Rows { at, step: [0; N], still: [false; N], rows: 1, cols: n }
    }
}

/// Most elements a kernel that takes rows takes at once.
pub(crate) const LANES: usize = 64;

/// So many elements of these sizes it does take at once: a line, or where sizes differ more of the wider ones, as there would be little of the
/// others.
pub const fn lanes(sizes: &[usize]) -> usize {
    let mut k = 1;
    while k < sizes.len() {
        if sizes[k] != sizes[0] {
            return LANES / 2;
        }
        k += 1;
    }
    LINE / sizes[0]
}

/// Elements of a tile: enough to forget the call, few enough for the threads to share.
const AREA: usize = 4096;

impl<const N: usize> Job<N> {
    /// Whether a kernel that takes rows takes the operands as they lie. Rows that are too short for it are better gathered.
    pub(super) fn lies_in_rows(&self) -> bool {
        let (first, item) = (self.plan.loops()[0], self.plan.item);
        let lies = |k: usize| first.step[k] == item[k] as isize || (k > 0 && first.step[k] == 0);
        first.n >= lanes(&item) && self.dtype == self.compute && (0..N).all(lies)
    }

    /// Runs the kernel on the operands as they lie.
    pub(super) fn run_rows(&self, kernel: Kernel<'_, N>) {
        let (data, first) = (self.shared(), self.plan.loops()[0]);
        let still = each(|k| first.step[k] == 0);
        let tiles = self.plan.tiles((AREA / first.n).max(1), AREA);
        parallel(tiles.count(), tiles.area(), self.grain, &|range| {
            for tile in range.map(|i| tiles.get(i)) {
                let at = each(|k| Side::of(&tile, k, data[k].get()).data);
                kernel(&Rows { at, step: tile.row_step, still, rows: tile.rows, cols: tile.cols });
            }
        });
    }
}
