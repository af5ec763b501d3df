//! The kernel of a fold, and the tiles and accumulators that it works on.

use crate::dtype::Dtype;

/// The accumulators of neighbouring results: planes of `capacity` entries of at most 8 bytes.
#[derive(Clone, Copy)]
pub struct Accumulators {
    /// The first entry of the first plane, aligned to 8 bytes.
    pub data: *mut u8,
    /// The number of entries in a plane.
    pub capacity: usize,
}

impl Accumulators {
    /// Returns the first entry of plane `k`.
    #[inline(always)]
    pub(super) fn plane<T>(self, k: usize) -> *mut T {
        self.data.wrapping_add(k * self.capacity * 8).cast()
    }
}

/// Elements to be folded: `rows` runs of `cols` elements.
#[derive(Clone, Copy)]
pub struct FoldTile {
    /// The first element.
    pub x: *const u8,
    /// The number of runs.
    pub rows: usize,
    /// The number of contiguous elements in a run.
    pub cols: usize,
    /// Bytes from one run to the next.
    pub step: isize,
    /// The number of elements that every accumulator has folded before.
    pub done: usize,
    /// The index of the first element of a fold, for folds that return indices.
    pub index: i64,
    /// The difference between the indices of two consecutive elements of a fold.
    pub weight: i64,
}

impl FoldTile {
    #[inline(always)]
    pub(super) fn row<T>(&self, r: usize) -> *const T {
        self.x.wrapping_offset(r as isize * self.step).cast()
    }
}

/// A reduction over one compute type.
///
/// # Safety
/// For all methods: accumulators must be started and have room for as many entries as are used, and tiles must be inside their memory.
#[allow(clippy::missing_safety_doc)]
pub trait FoldKernel: Sync {
    /// Returns the number of planes of an accumulator.
    fn planes(&self) -> usize;
    /// Returns the dtype that the fold reads if elements are computed in `compute`.
    fn reads(&self, compute: Dtype) -> Dtype {
        compute.compute()
    }
    /// Returns true if the indices of elements matter.
    fn indexed(&self) -> bool {
        false
    }
    /// Sets the first `n` accumulators to the state of no elements.
    unsafe fn start(&self, accs: Accumulators, n: usize);
    /// Folds row `j` of the tile into accumulator `j`.
    unsafe fn rows(&self, accs: Accumulators, tile: &FoldTile);
    /// Returns the minimum number of columns that the fold processes well, for rows with gaps between them or without.
    fn fewest(&self, _gaps: bool) -> usize {
        8
    }
    /// Returns true if the fold accepts more than [`ROWS`] rows of narrow tiles: up to as many elements as [`ROWS`] rows of [`NARROW`]
    /// columns have.
    fn tall(&self, _gaps: bool) -> bool {
        false
    }
    /// Folds column `j` of the tile into accumulator `j`.
    unsafe fn columns(&self, accs: Accumulators, tile: &FoldTile);
    /// Merges `n` accumulators of `counts[1]` elements each into accumulators of `counts[0]`.
    unsafe fn merge(&self, accs: Accumulators, later: Accumulators, n: usize, counts: [usize; 2]);
    /// Writes the results of `n` accumulators of `count` elements each to one or two runs.
    unsafe fn finish(&self, accs: Accumulators, n: usize, count: usize, out: [*mut u8; 2]);
}

/// The maximum number of rows in a tile whose columns are folded, unless it is narrow and the fold accepts [tall](FoldKernel::tall) tiles.
pub(crate) const ROWS: usize = 128;
/// The maximum number of columns in such a tile.
pub(crate) const COLUMNS: usize = 1024;
/// Rows of fewer columns are narrow.
pub(crate) const NARROW: usize = 64;

/// Rows folded at a time. The accumulators are loaded and stored once for all of them.
pub(super) const UNROLL: usize = 4;

/// Calls `four` for each [`UNROLL`] rows, with the index of the first, and `one` for each remaining row.
#[inline(always)]
pub(super) fn for_rows<T>(tile: &FoldTile, mut four: impl FnMut(usize, [*const T; UNROLL]), mut one: impl FnMut(usize, *const T)) {
    let mut r = 0;
    while r + UNROLL <= tile.rows {
        four(r, std::array::from_fn(|q| tile.row(r + q)));
        r += UNROLL;
    }
    (r..tile.rows).for_each(|r| one(r, tile.row(r)));
}
