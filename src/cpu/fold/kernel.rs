//! The kernel of a fold, and the tiles and accumulators that it works on.

use crate::dtype::Dtype;

/// The accumulators of neighbouring results: planes of `capacity` entries of at most 8 bytes.
#[derive(Clone, Copy)]
pub struct Accumulators {
    /// Where the planes begin; aligned to 8.
    pub data: *mut u8,
    /// Entries of a plane.
    pub capacity: usize,
}

impl Accumulators {
    /// The first entry of plane `k`.
    #[inline(always)]
    pub(super) fn plane<T>(self, k: usize) -> *mut T {
        self.data.wrapping_add(k * self.capacity * 8).cast()
    }
}

/// Elements to be folded: `rows` runs of `cols`.
#[derive(Clone, Copy)]
pub struct FoldTile {
    /// The first element.
    pub x: *const u8,
    /// Runs.
    pub rows: usize,
    /// Contiguous elements of a run.
    pub cols: usize,
    /// Bytes from run to run.
    pub step: isize,
    /// Elements every accumulator has taken before.
    pub done: usize,
    /// The number of the first element of a fold, for folds that return places.
    pub index: i64,
    /// How much the number grows from one element of a fold to the next.
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
/// Of all methods: accumulators have room for as many entries as are used and are started, tiles lie inside their memory.
#[allow(clippy::missing_safety_doc)]
pub trait FoldKernel: Sync {
    /// Planes of an accumulator.
    fn planes(&self) -> usize;
    /// The dtype it reads where elements are computed in `compute`.
    fn reads(&self, compute: Dtype) -> Dtype {
        compute.compute()
    }
    /// Returns true if the numbers of elements matter.
    fn indexed(&self) -> bool {
        false
    }
    /// Makes the first `n` accumulators those of no elements.
    unsafe fn start(&self, accs: Accumulators, n: usize);
    /// Folds row `j` of the tile into accumulator `j`.
    unsafe fn rows(&self, accs: Accumulators, tile: &FoldTile);
    /// The fewest columns it folds well, of rows with gaps between them or without.
    fn fewest(&self, _gaps: bool) -> usize {
        8
    }
    /// Returns true if the fold takes more than [`ROWS`] rows of narrow tiles: up to as many elements as [`ROWS`] rows of [`NARROW`]
    /// columns have.
    fn tall(&self, _gaps: bool) -> bool {
        false
    }
    /// Folds column `j` of the tile into accumulator `j`.
    unsafe fn columns(&self, accs: Accumulators, tile: &FoldTile);
    /// Folds `n` accumulators that took `counts[1]` elements each into others that took `counts[0]`.
    unsafe fn merge(&self, accs: Accumulators, later: Accumulators, n: usize, counts: [usize; 2]);
    /// Writes the results of `n` accumulators of `count` elements each to one or two runs.
    unsafe fn finish(&self, accs: Accumulators, n: usize, count: usize, out: [*mut u8; 2]);
}

/// The most rows of a tile whose columns are folded, unless it is narrow and the fold takes [tall](FoldKernel::tall) ones.
pub(crate) const ROWS: usize = 128;
/// The most columns of such a tile.
pub(crate) const COLUMNS: usize = 1024;
/// Rows of fewer columns are narrow.
pub(crate) const NARROW: usize = 64;

/// Rows folded at a time: the accumulators are loaded and stored once for all of them.
pub(super) const UNROLL: usize = 4;

/// Calls `four` for each [`UNROLL`] rows, with the number of the first, and `one` for each row that is left.
#[inline(always)]
pub(super) fn for_rows<T>(tile: &FoldTile, mut four: impl FnMut(usize, [*const T; UNROLL]), mut one: impl FnMut(usize, *const T)) {
    let mut r = 0;
    while r + UNROLL <= tile.rows {
        four(r, std::array::from_fn(|q| tile.row(r + q)));
        r += UNROLL;
    }
    (r..tile.rows).for_each(|r| one(r, tile.row(r)));
}
