//! The driver of reductions: folds the elements of every result position, along rows or over columns, on any number of threads.
//!
//! The result does not depend on the number of threads: work is divided at fixed places, and partial results are merged in order.

use super::copy::{Side, TileCopy};
use super::engine::{CHEAP, Shared, parallel};
use super::fold::{Accumulators, COLUMNS, FoldKernel, FoldTile, NARROW, ROWS};
use crate::cpu::tuning::{FOLDED_BLOCK, FOLDED_BLOCKS, FOLDED_COLUMNS, FOLDED_PIECE, FOLDED_ROW, FOLDED_SEGMENT};
use crate::dtype::Dtype;
use crate::layout::INLINE_DIMS;
use crate::plan::Loop;
use smallvec::SmallVec;
use std::mem::MaybeUninit;

/// The number of accumulators in a block of results, all planes together.
const BLOCK_BUFFER: usize = COLUMNS;
/// The number of elements staged at a time.
const STAGE: usize = 2048;

/// Loops over dimensions that are kept: steps of the input and both results, in bytes.
pub type Kept = SmallVec<[Loop<3>; INLINE_DIMS]>;
/// Loops over dimensions that are folded: the step of the input in bytes, and the increment of an element's number.
pub type Folded = SmallVec<[Loop<2>; INLINE_DIMS]>;

/// The loops of a reduction, both kinds fastest first.
pub struct Loops {
    /// The dimensions that are kept.
    pub kept: Kept,
    /// The dimensions that are folded.
    pub folded: Folded,
}

/// A result: its memory, the dtype of its elements in memory, and the dtype that the fold writes.
pub type Out = Option<(*mut u8, Dtype, Dtype)>;

/// A reduction ready to run.
pub struct Reduction<'a> {
    /// The fold to compute.
    pub fold: &'a dyn FoldKernel,
    /// The first element of the input.
    pub data: *const u8,
    /// The dtype of the elements in memory.
    pub dtype: Dtype,
    /// The dtype that the fold reads.
    pub compute: Dtype,
    /// The loops over the dimensions, borrowed because they are long.
    pub loops: &'a mut Loops,
    /// The results.
    pub out: [Out; 2],
}

// SAFETY: threads share it only inside `run`, which divides the results among them.
unsafe impl Sync for Reduction<'_> {}

/// Divides the dimensions of an input into kept ones and folded ones (as `folds` says). `out` are the strides of the results, with the
/// folded dimensions at size 1, and their item sizes. Folded dimensions stay row-major if elements are `numbered`.
pub fn split((shape, strides): (&[i64], &[i64]), item: usize, folds: &[bool], numbered: bool, out: [Option<(&[i64], usize)>; 2]) -> Loops {
    let (mut kept, mut folded, mut weight) = (Kept::new(), Folded::new(), 1);
    for d in (0..shape.len()).rev() {
        let (n, step) = (shape[d] as usize, strides[d] as isize * item as isize);
        if n == 1 {
            continue;
        }
        if folds[d] {
            folded.push(Loop { n, step: [step, if numbered { weight } else { 0 }] });
            weight = weight.wrapping_mul(n as isize);
        } else {
            let at = |o: Option<(&[i64], usize)>| o.map_or(0, |(strides, item)| strides[d] as isize * item as isize);
            kept.push(Loop { n, step: [step, at(out[0]), at(out[1])] });
        }
    }
    // Dimensions of step 0 come last.
    let speed = |step: isize| if step == 0 { isize::MAX } else { step };
    kept.sort_by_key(|l| speed(l.step[0]));
    if !numbered {
        folded.sort_by_key(|l| speed(l.step[0]));
    }
    merge(&mut kept);
    merge(&mut folded);
    // Without elements there is nothing to walk, for any sizes of the other dimensions.
    if count(&folded) == 0 {
        folded = smallvec::smallvec![Loop { n: 0, step: [0; 2] }];
    }
    Loops { kept, folded }
}

/// Merges loops that continue each other.
fn merge<const N: usize>(loops: &mut SmallVec<[Loop<N>; INLINE_DIMS]>) {
    let mut last = 0;
    for i in 1..loops.len() {
        let (inner, outer) = (loops[last], loops[i]);
        if (0..N).all(|k| outer.step[k] == inner.step[k].wrapping_mul(inner.n as isize)) {
            loops[last].n *= outer.n;
        } else {
            last += 1;
            loops[last] = outer;
        }
    }
    loops.truncate(last + 1);
}

fn count<const N: usize>(loops: &[Loop<N>]) -> usize {
    loops.iter().map(|l| l.n).product()
}

/// Returns the offset of position `index` of some loops, for each operand.
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
    /// All positions must be inside their memory. Results must overlap neither each other nor the input.
    pub unsafe fn run(self) {
        if count(&self.loops.kept) == 0 {
            return;
        }
        let cut = Cut::new(self);
        // SAFETY: the caller keeps this function's contract.
        unsafe { if cut.segments == 1 || cut.blocks >= FOLDED_BLOCKS { cut.by_blocks() } else { cut.by_segments() } }
    }
}

/// A reduction divided into blocks of neighbouring results, with their elements divided into chunks, and chunks grouped into segments.
struct Cut<'a> {
    of: Reduction<'a>,
    /// True if tiles have a row for each result, false if they have a column.
    rows: bool,
    /// True if tiles are first copied into the fold's form.
    staged: bool,
    /// The loop over the results of a block; `of.loops.kept` has the other loops.
    across: Loop<3>,
    /// The loop over the elements of a chunk; `of.loops.folded` has the other loops.
    along: Loop<2>,
    /// The number of results in a block.
    block: usize,
    blocks: usize,
    /// The number of elements in a chunk, for each result.
    chunk: usize,
    chunks: usize,
    /// The number of chunks in a segment.
    segment: usize,
    segments: usize,
    /// The number of elements of a result.
    count: usize,
}

impl<'a> Cut<'a> {
    fn new(of: Reduction<'a>) -> Cut<'a> {
        let size = of.dtype.size() as isize;
        let Loops { kept, folded } = &mut *of.loops;
        let count_folded = count(folded);
        let run = folded.iter().position(|l| l.step[0] == size);
        // If few columns are staged, they may be staged as rows as well.
        let gaps = |n: usize| of.dtype != of.compute || folded.first().is_none_or(|l| l.step[0] != n as isize * size);
        let least = |n: usize| of.fold.fewest(gaps(n));
        let many = kept.iter().position(|l| l.n >= FOLDED_COLUMNS);
        let high = folded.first().map_or(1, |l| l.n);
        let worth = |n: usize| n >= FOLDED_COLUMNS || (n >= least(n) && (many.is_none() || n * high >= FOLDED_BLOCK));
        let column = kept.iter().position(|l| l.step[0] == size && worth(l.n));
        let many = many.or(column);
        // Long runs are folded row by row. Short or interrupted runs are folded side by side with many neighbours, preferably adjacent
        // ones.
        let rows = match run {
            Some(r) => folded[r].n >= FOLDED_COLUMNS || many.is_none(),
            None => many.is_none(),
        };
        let across = if rows { 0 } else { column.or(many).unwrap_or(0) };
        let across = if kept.is_empty() { Loop { n: 1, step: [0; 3] } } else { kept.remove(across) };
        let along = run.unwrap_or(0);
        let along = if folded.is_empty() { Loop { n: 1, step: [size, 0] } } else { folded.remove(along) };
        let contiguous = if rows { along.step[0] == size || along.n == 1 } else { across.step[0] == size };
        let staged = !contiguous || of.dtype != of.compute;
        let most = BLOCK_BUFFER / of.fold.planes() / FOLDED_COLUMNS * FOLDED_COLUMNS;
        let even = |n: usize, most: usize| n.div_ceil(n.div_ceil(most));
        let (block, chunk) = match (rows, staged) {
            (true, false) => ((FOLDED_ROW / along.n.max(1)).clamp(1, most.min(256)), FOLDED_PIECE),
            (true, true) => ((STAGE / along.n.max(1)).clamp(1, most), STAGE),
            (false, false) => (even(across.n, most).next_multiple_of(FOLDED_COLUMNS), ROWS),
            (false, true) => (even(across.n, most.min(STAGE / 8)).next_multiple_of(FOLDED_COLUMNS).min(STAGE / 8), ROWS),
        };
        let block = block.min(across.n);
        let tall = !rows && of.fold.tall(!staged && along.step[0] != block as isize * size);
        let chunk = if tall { chunk * (NARROW / block).max(1) } else { chunk };
        let chunk = chunk.min(along.n).max(1);
        let chunk = if staged { chunk.min(STAGE / block) } else { chunk };
        let blocks = across.n.div_ceil(block) * count(kept);
        let chunks = along.n.div_ceil(chunk) * count(folded);
        let segment = (FOLDED_SEGMENT / (chunk * block)).max(1);
        let segments = chunks.div_ceil(segment).max(1);
        Cut { of, rows, staged, across, along, block, blocks, chunk, chunks, segment, segments, count: count_folded }
    }

    /// Each thread folds whole blocks.
    unsafe fn by_blocks(&self) {
        parallel(self.blocks, self.block * self.count.max(1), CHEAP, &|range| {
            for b in range {
                let mut buffer = BlockBuffer::new();
                let accs = buffer.accs(self.block);
                // SAFETY: the caller keeps this function's contract; each block is written by one thread.
                unsafe {
                    self.fold(b, 0, accs);
                    if self.segments > 1 {
                        self.rest(b, accs);
                    }
                    self.store(b, accs);
                }
            }
        });
    }

    /// Folds the segments of block `b` after the first, one after the other.
    #[inline(never)]
    unsafe fn rest(&self, b: usize, accs: Accumulators) {
        let mut buffer = BlockBuffer::new();
        let part = buffer.accs(self.block);
        for s in 1..self.segments {
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                self.fold(b, s, part);
                self.meet(b, s, accs, part);
            }
        }
    }

    /// Divides the segments of each block among the threads, if there is memory for their accumulators.
    unsafe fn by_segments(&self) {
        let size = self.block * self.of.fold.planes();
        let mut memory: Vec<MaybeUninit<u64>> = Vec::new();
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if self.segments.checked_mul(size).is_none_or(|n| memory.try_reserve_exact(n).is_err()) {
                return self.by_blocks();
            }
            let parts = Shared(memory.as_mut_ptr().cast());
            let part = |s: usize| Accumulators { data: parts.get().add(s * size * 8), capacity: self.block };
            for b in 0..self.blocks {
                parallel(self.segments, self.segment * self.chunk * self.block, CHEAP, &|range| {
                    range.for_each(|s| self.fold(b, s, part(s)));
                });
                (1..self.segments).for_each(|s| self.meet(b, s, part(0), part(s)));
                self.store(b, part(0));
            }
        }
    }

    /// Returns the number of results of block `b`, and the offsets of its first element and first results.
    fn place(&self, b: usize) -> (usize, [isize; 3]) {
        let per_row = self.across.n.div_ceil(self.block);
        let start = b % per_row * self.block;
        let mut at = position(&self.of.loops.kept, b / per_row);
        (0..3).for_each(|k| at[k] += start as isize * self.across.step[k]);
        (self.block.min(self.across.n - start), at)
    }

    /// Returns the number of elements in the chunks before chunk `c`.
    fn before(&self, c: usize) -> usize {
        let per_run = self.along.n.div_ceil(self.chunk).max(1);
        c / per_run * self.along.n + c % per_run * self.chunk
    }

    /// Merges the accumulators of segment `s` into the accumulators of all segments before it.
    unsafe fn meet(&self, b: usize, s: usize, accs: Accumulators, part: Accumulators) {
        let (done, end) = (self.before(s * self.segment), self.before(self.chunks.min((s + 1) * self.segment)));
        // SAFETY: the caller keeps this function's contract.
        unsafe { self.of.fold.merge(accs, part, self.place(b).0, [done, end - done]) }
    }

    /// Starts accumulators and folds segment `s` of block `b` into them.
    unsafe fn fold(&self, b: usize, s: usize, accs: Accumulators) {
        let (n, at) = self.place(b);
        let per_run = self.along.n.div_ceil(self.chunk).max(1);
        let first = s * self.segment;
        // SAFETY: the caller guarantees that all positions are inside the input.
        unsafe {
            self.of.fold.start(accs, n);
            for c in first..self.chunks.min(first + self.segment) {
                let (start, [outer, number]) = (c % per_run * self.chunk, position(&self.of.loops.folded, c / per_run));
                let tile = FoldTile {
                    x: self.of.data.offset(at[0] + outer + start as isize * self.along.step[0]),
                    rows: n,
                    cols: self.chunk.min(self.along.n - start),
                    step: self.across.step[0],
                    done: self.before(c) - self.before(first),
                    index: (number + start as isize * self.along.step[1]) as i64,
                    weight: self.along.step[1] as i64,
                };
                match (self.staged, self.rows) {
                    (true, _) => self.staged(accs, tile),
                    (_, true) => self.of.fold.rows(accs, &tile),
                    (_, false) => self.of.fold.columns(accs, &FoldTile { rows: tile.cols, cols: n, step: self.along.step[0], ..tile }),
                }
            }
        }
    }

    /// Folds a tile, given as if of rows, through a buffer.
    #[inline(never)]
    unsafe fn staged(&self, accs: Accumulators, tile: FoldTile) {
        let mut stage = Stage::new();
        let compute = self.of.compute.size() as isize;
        let (data, copy) = (tile.x.cast_mut(), TileCopy::new(self.of.compute, self.of.dtype));
        let (outer, inner) = (self.across.step[0], self.along.step[0]);
        let (rows, cols, from) = match self.rows {
            true => (tile.rows, tile.cols, Side { data, row_step: outer, col_step: inner }),
            false => (tile.cols, tile.rows, Side { data, row_step: inner, col_step: outer }),
        };
        let step = cols as isize * compute;
        let tile = FoldTile { x: stage.data(), rows, cols, step, ..tile };
        // SAFETY: the caller keeps this function's contract; the buffer has room for a tile.
        unsafe {
            copy.copy(Side { data: stage.data(), row_step: step, col_step: compute }, from, rows, cols);
            if self.rows { self.of.fold.rows(accs, &tile) } else { self.of.fold.columns(accs, &tile) }
        }
    }

    /// Writes the results of block `b`.
    unsafe fn store(&self, b: usize, accs: Accumulators) {
        let (n, at) = self.place(b);
        let mut results = [const { BlockBuffer::new() }; 2];
        let [first, second] = &mut results;
        let runs = [first.data(), second.data()];
        // SAFETY: a block's results fit the buffers, and the caller keeps this function's contract.
        unsafe {
            self.of.fold.finish(accs, n, self.count, runs);
            for k in 0..2 {
                if let Some((data, dtype, written)) = self.of.out[k] {
                    let (to, step) = (data.offset(at[k + 1]), self.across.step[k + 1]);
                    TileCopy::new(dtype, written).run(to, step, runs[k], written.size() as isize, n);
                }
            }
        }
    }
}

/// A buffer for the accumulators or the results of a block.
#[repr(align(64))]
struct BlockBuffer(MaybeUninit<[u64; BLOCK_BUFFER]>);

impl BlockBuffer {
    const fn new() -> BlockBuffer {
        BlockBuffer(MaybeUninit::uninit())
    }

    fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }

    fn accs(&mut self, capacity: usize) -> Accumulators {
        Accumulators { data: self.data(), capacity }
    }
}

/// A buffer for STAGE elements of a compute type.
#[repr(align(64))]
struct Stage(MaybeUninit<[u64; STAGE]>);

impl Stage {
    const fn new() -> Stage {
        Stage(MaybeUninit::uninit())
    }

    fn data(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::fold::{Lanes, Sum};
    use crate::dtype::Bool;
    use crate::layout::Layout;
    use std::marker::PhantomData;

    fn layout(shape: &[i64], strides: &[i64]) -> Layout {
        Layout { shape: shape.into(), strides: strides.into(), offset: 0 }
    }

    fn split_layout(of: &Layout, item: usize, folds: &[bool], numbered: bool, out: Option<(&[i64], usize)>) -> Loops {
        split((&of.shape, &of.strides), item, folds, numbered, [out, None])
    }

    #[test]
    fn folded_dims_that_continue_each_other_merge() {
        let Loops { kept, folded } = split_layout(&Layout::contiguous(&[2, 3, 4]), 4, &[true, true, true], true, None);
        assert_eq!((kept.len(), folded.as_slice()), (0, &[Loop { n: 24, step: [4, 1] }][..]));
        // Memory order is not row-major in a transposed layout. Numbered elements are folded in row-major order.
        let turned = layout(&[3, 2], &[1, 3]);
        assert_eq!(split_layout(&turned, 1, &[true, true], false, None).folded.as_slice(), [Loop { n: 6, step: [1, 0] }]);
        let numbered = split_layout(&turned, 1, &[true, true], true, None).folded;
        assert_eq!(numbered.as_slice(), [Loop { n: 2, step: [3, 1] }, Loop { n: 3, step: [1, 2] }]);
    }

    /// Compares sums of the numbers 0, 1, 2, ... at `strides`, over the dimensions of `shape` in `folds`, with plain loops.
    fn check(shape: [i64; 3], strides: [i64; 3], folds: [bool; 3]) {
        let input = layout(&shape, &strides);
        let x: Vec<i32> = (0..input.end().unwrap_or(0) as i32).collect();
        let kept_shape: Vec<i64> = (0..3).map(|d| if folds[d] { 1 } else { shape[d] }).collect();
        let out = Layout::contiguous(&kept_shape);
        let (mut got, mut expected) = (vec![0i64; out.numel() as usize], vec![0i64; out.numel() as usize]);
        for (i, j, k) in (0..shape[0]).flat_map(|i| (0..shape[1]).flat_map(move |j| (0..shape[2]).map(move |k| (i, j, k)))) {
            let at: i64 = [i, j, k].iter().enumerate().map(|(d, i)| if folds[d] { 0 } else { i * out.strides[d] }).sum();
            expected[at as usize] += i64::from(x[(i * strides[0] + j * strides[1] + k * strides[2]) as usize]);
        }
        let mut loops = split_layout(&input, 4, &folds, false, Some((&out.strides, 8)));
        let out = [Some((got.as_mut_ptr().cast(), Dtype::Int64, Dtype::Int64)), None];
        let (fold, data) = (Lanes(Sum::<i32>(PhantomData)), x.as_ptr().cast());
        // SAFETY: `x` and `got` have room for every position.
        unsafe { Reduction { fold: &fold, data, dtype: Dtype::Int32, compute: Dtype::Int32, loops: &mut loops, out }.run() };
        assert_eq!(got, expected, "{shape:?} {strides:?} {folds:?}");
    }

    #[test]
    fn every_cut_covers_every_element_once() {
        let cases = [
            ([5, 7, 40], [280, 40, 1]),
            ([40, 3, 50], [1, 2000, 40]),
            ([3, 70, 33], [5000, 70, 2]),
            ([2, 3000, 20], [60000, 20, 1]),
            ([30, 40, 3], [0, 3, 1]),
        ];
        for (shape, strides) in cases {
            for mask in 0..8 {
                check(shape, strides, [mask & 1 > 0, mask & 2 > 0, mask & 4 > 0]);
            }
        }
        check([300_000, 1, 2], [2, 1, 1], [true, true, false]);
        check([1, 1, 300_000], [1, 1, 1], [true, true, true]);
        check([4, 0, 3], [0, 3, 1], [false, true, false]);
    }

    #[test]
    fn bytes_of_narrow_rows_are_counted_in_full() {
        for (rows, cols, stride) in [(1000, 8, 9), (1000, 8, 8), (5000, 3, 3), (5000, 2, 40), (20_000, 12, 13), (20_000, 31, 31)] {
            let input = layout(&[rows, cols], &[stride, 1]);
            let most = vec![255u8; (rows * stride) as usize];
            for (fold, dtype, each) in
                [(&Lanes(Sum::<u8>(PhantomData)) as &dyn FoldKernel, Dtype::Uint8, 255), (&Lanes(Sum::<Bool>(PhantomData)), Dtype::Bool, 1)]
            {
                let (mut got, data) = (vec![0i64; cols as usize], most.as_ptr());
                let mut loops = split_layout(&input, 1, &[true, false], false, Some((&[cols, 1], 8)));
                let out = [Some((got.as_mut_ptr().cast(), Dtype::Int64, Dtype::Int64)), None];
                // SAFETY: `most` and `got` have room for every position.
                unsafe { Reduction { fold, data, dtype, compute: dtype, loops: &mut loops, out }.run() };
                assert!(got.iter().all(|&n| n == each * rows), "{rows} x {cols}, {stride} apart: {got:?}");
            }
        }
    }
}
