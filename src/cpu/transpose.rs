//! Transposition of matrices: chooses the tiles, and whether to store past the caches.

mod kernel;

use super::simd::{Level, level};
use super::stream::{self, LINE, to_line};
use super::tuning;
#[cfg(target_arch = "x86_64")]
pub use super::vector::Bytes as Register;
use crate::cpu::tuning::{
    TRANSPOSED_ROWS, TRANSPOSED_STREAM_BUFFERED, TRANSPOSED_STREAM_HEIGHT, TRANSPOSED_STREAM_WIDTH, TRANSPOSED_WIDTH,
};
#[cfg(target_arch = "x86_64")]
pub use kernel::square;
pub use kernel::steps;
use kernel::{BandKernel, Matrix, TransposeKernel, buffered, direct, unbuffered};
use std::ops::Range;

/// Bytes of an L1 cache with one line in each of its sets.
const PAGE: isize = 4096;

/// Returns true if lines `step` bytes apart share one set of the L1 cache and so evict each other.
pub fn compete(step: isize) -> bool {
    step % PAGE == 0
}

/// Returns true if a transposition of `bytes`, both sides together, to rows `dst_step` bytes apart gains by [`transpose_stream`].
///
/// Transpositions gain from fewer bytes on than other operations, because their plain stores jump from row to row. On Intel's processors
/// each store waits for its line. A Zen 5 hides this wait for twice as many bytes, unless the rows are whole pages apart and compete for
/// the same sets.
pub fn gains_streamed(bytes: usize, dst_step: isize) -> bool {
    let jumps = tuning::prefetches() || compete(dst_step);
    bytes >= if jumps { tuning::streams_from() / 4 } else { tuning::streams_from() / 2 }
}

/// `dst[r * dst_step + c * size] = src[c * src_step + r * size]` for all `r < rows`, `c < cols`: elements of `size` bytes, steps in bytes.
///
/// # Safety
/// `size` must be 1, 2, 4 or 8; both sides must hold the elements, and not overlap. Nothing needs to be aligned.
pub unsafe fn transpose(size: usize, dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, rows: usize, cols: usize) {
    let matrix = Matrix { dst, dst_step, src, src_step, rows, cols };
    let kernel = direct(level(), size);
    matrix.for_tiles(size, TRANSPOSED_WIDTH / size, TRANSPOSED_ROWS, |r, c, rows, cols| {
        // SAFETY: the tile is inside the caller's matrix, and this processor has the level.
        unsafe { kernel(matrix.part(size, r, c, rows, cols)) }
    })
}

/// [`transpose`] with the result stored past the caches, for matrices that exceed them.
///
/// Incomplete cache lines at the ends of a row are stored slowly, so few matrices of long rows are better than many of short ones. Other
/// threads may read the result only after [`stream::fence`] by the calling thread.
///
/// # Safety
/// As for [`transpose`].
pub unsafe fn transpose_stream(size: usize, dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, rows: usize, cols: usize) {
    if cols * size < TRANSPOSED_STREAM_WIDTH || rows * size < LINE {
        // SAFETY: the caller keeps this function's contract.
        return unsafe { transpose(size, dst, dst_step, src, src_step, rows, cols) };
    }
    let wide = if tuning::prefetches() { TRANSPOSED_STREAM_WIDTH } else { TRANSPOSED_STREAM_BUFFERED };
    // SAFETY: the caller keeps this function's contract, and this processor has the level.
    unsafe { Matrix { dst, dst_step, src, src_step, rows, cols }.stream(level(), size, wide) }
}

impl Matrix {
    /// Calls `run(r, c, rows, cols)` for tiles of at most `height` x `width` elements, along the rows of the source. If the result is
    /// narrower than `width`, tiles are higher in proportion.
    #[inline(always)]
    fn for_tiles(self, size: usize, width: usize, height: usize, mut run: impl FnMut(usize, usize, usize, usize)) {
        // Tiles end at the ends of the result's cache lines, if all rows begin at the same place of a line.
        let lead = self.dst.addr() % LINE / size;
        let height = height * (width / self.cols.max(1)).max(1);
        let mut c = 0;
        while c < self.cols {
            let cols = if c == 0 { width - lead } else { width }.min(self.cols - c);
            for r in (0..self.rows).step_by(height) {
                run(r, c, height.min(self.rows - r), cols);
            }
            c += cols;
        }
    }

    /// Returns true if all rows of the result begin at the same place of a cache line, and no element straddles two lines.
    #[inline(always)]
    fn rows_begin_alike(self, size: usize) -> bool {
        self.dst_step % LINE as isize == 0 && self.dst.addr().is_multiple_of(size)
    }

    /// Returns the part of `rows` x `cols` elements from row `r` and column `c` of the result on.
    ///
    /// # Safety
    /// Both sides must hold the first element.
    #[inline(always)]
    unsafe fn part(self, size: usize, r: usize, c: usize, rows: usize, cols: usize) -> Matrix {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let dst = self.dst.offset(r as isize * self.dst_step).add(c * size);
            Matrix { dst, src: self.src.offset(c as isize * self.src_step).add(r * size), rows, cols, ..self }
        }
    }

    /// Transposes in tiles that are `wide` bytes wide if rows go through the buffer.
    ///
    /// # Safety
    /// As for [`transpose_stream`]; the processor must have the level; `wide` must be a number of cache lines, at most
    /// TRANSPOSED_STREAM_BUFFERED bytes.
    unsafe fn stream(self, level: Level, size: usize, wide: usize) {
        let unbuffered = unbuffered(level, size).filter(|_| self.rows_begin_alike(size));
        let kernels = (buffered(level, size), unbuffered);
        let width = if unbuffered.is_some() { TRANSPOSED_STREAM_WIDTH } else { wide };
        // A tile is transposed when the next tile is known, whose source is prefetched meanwhile.
        let mut last = None;
        let mut run = |next: Option<[usize; 4]>| {
            if let Some(tile) = std::mem::replace(&mut last, next) {
                // SAFETY: the tiles are inside the caller's matrix and at most `TRANSPOSED_STREAM_BUFFERED` bytes wide.
                unsafe { self.stream_part(size, tile, next, kernels) }
            }
        };
        self.for_tiles(size, width / size, TRANSPOSED_STREAM_HEIGHT / size, |r, c, rows, cols| run(Some([r, c, rows, cols])));
        run(None);
    }

    /// Transposes a tile and streams its rows, in bands that are one cache line of the source high. Rows that are not whole cache lines go
    /// through a buffer. Meanwhile prefetches the source of the `next` tile, because its rows are too short and too far apart for the
    /// hardware prefetcher.
    ///
    /// # Safety
    /// As for [`transpose`]; the tiles must be inside the matrix and at most TRANSPOSED_STREAM_BUFFERED bytes wide.
    unsafe fn stream_part(
        self,
        size: usize,
        tile: [usize; 4],
        next: Option<[usize; 4]>,
        (buffered, unbuffered): (BandKernel, Option<TransposeKernel>),
    ) {
        let [r, c, rows, cols] = tile;
        let prefetch = |columns: Range<usize>, at: usize, of: usize| {
            let Some([r, c, height, width]) = next else { return };
            for column in (columns.start + at..columns.end.min(width)).step_by(of) {
                // SAFETY: the tile is inside the matrix.
                stream::prefetch_near(unsafe { self.part(size, r, c + column, height, 1) }.src, height * size);
            }
        };
        let band = LINE / size;
        let bands = rows.div_ceil(band);
        // The last cache line of a row ends in the next tile, unless tiles end at the ends of lines.
        let more = if self.rows_begin_alike(size) { 0 } else { band.min(self.cols - c - cols) };
        // SAFETY: the caller keeps this function's contract; `more` columns are still inside the matrix.
        unsafe {
            let part = self.part(size, r, c, rows, cols + more);
            if let Some(unbuffered) = unbuffered.filter(|_| to_line(part.dst) == 0 && cols.is_multiple_of(band) && rows >= band) {
                for (k, top) in steps(rows, band).enumerate() {
                    for left in (0..cols).step_by(band) {
                        // Prefetches the rows of the source next to the rows that this band reads, whose pages are in the TLB.
                        prefetch(left..left + band, k, bands);
                        unbuffered(part.part(size, top, left, band, band));
                    }
                }
                return;
            }
            for k in 0..bands {
                prefetch(0..cols, k, bands);
                let top = k * band;
                buffered(part.part(size, top, 0, band.min(rows - top), cols + more), cols * size, c == 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two matrices, each in one block of memory, with `gap` bytes between rows and the first element at `offset`.
    struct Case {
        size: usize,
        rows: usize,
        cols: usize,
        gap: usize,
        offset: usize,
    }

    #[derive(Clone)]
    #[repr(align(64))]
    struct Aligned(#[allow(dead_code)] [u8; LINE]);

    impl Case {
        fn check(&self, run: impl Fn(Matrix)) {
            let &Case { size, rows, cols, gap, offset } = self;
            let (dst_step, src_step) = (cols * size + gap, rows * size + gap);
            let src: Vec<u8> =
                (0..offset + cols * src_step + 8).map(|i| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]).collect();
            // The result begins at `offset` in a cache line, so it is determined which kernels run.
            let mut lines = vec![Aligned([0xaa; LINE]); (offset + rows * dst_step + 8).div_ceil(LINE)];
            let bytes = lines.len() * LINE;
            // SAFETY: the lines have `bytes` bytes.
            let dst = unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<u8>(), bytes) };
            let mut expected = dst.to_vec();
            for (r, c) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
                let (to, from) = (offset + r * dst_step + c * size, offset + c * src_step + r * size);
                expected[to..to + size].copy_from_slice(&src[from..from + size]);
            }
            let (dst_step, src_step) = (dst_step as isize, src_step as isize);
            run(Matrix { dst: dst[offset..].as_mut_ptr(), dst_step, src: src[offset..].as_ptr(), src_step, rows, cols });
            assert!(dst == expected, "size {size}, {rows} x {cols}, gap {gap}, offset {offset}");
        }
    }

    fn cases(shapes: &[(usize, usize)]) -> impl Iterator<Item = Case> {
        let places = [(0, 0), (0, 16), (24, 0), (0, 3), (5, 1)];
        let all = [1, 2, 4, 8].into_iter().flat_map(move |size| places.map(move |(gap, offset)| (size, gap, offset)));
        all.flat_map(move |(size, gap, offset)| shapes.iter().map(move |&(rows, cols)| Case { size, rows, cols, gap, offset }))
    }

    fn levels() -> impl Iterator<Item = Level> {
        [Level::Baseline, Level::Avx2, Level::Avx512].into_iter().filter(|&at| at <= level())
    }

    #[test]
    fn every_kernel_of_every_level() {
        let lengths = [1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 70];
        let shapes: Vec<_> = lengths.iter().flat_map(|&r| lengths.map(|c| (r, c))).collect();
        for at in levels() {
            for case in cases(&shapes) {
                // SAFETY: the matrices hold the elements, and the machine has the level.
                case.check(|m| unsafe { direct(at, case.size)(m) });
            }
        }
    }

    #[test]
    fn matrices_of_many_tiles() {
        for case in cases(&[(0, 5), (5, 0), (130, 700), (70, 640), (600, 192), (257, 65), (3, 1500), (1000, 3)]) {
            // SAFETY: the matrices hold the elements.
            case.check(|m| unsafe { transpose(case.size, m.dst, m.dst_step, m.src, m.src_step, m.rows, m.cols) });
            for at in levels() {
                // SAFETY: the matrices hold the elements, and the processor has the level.
                case.check(|m| unsafe {
                    m.stream(at, case.size, TRANSPOSED_STREAM_WIDTH);
                    stream::fence();
                });
                // SAFETY: the matrices hold the elements, and the processor has the level.
                case.check(|m| unsafe {
                    m.stream(at, case.size, TRANSPOSED_STREAM_BUFFERED);
                    stream::fence();
                });
            }
        }
    }

    #[test]
    fn steps_may_be_negative() {
        let src: Vec<u32> = (0..100 * 100).collect();
        for streamed in [false, true] {
            let mut dst = vec![0u32; 100 * 100];
            // SAFETY: counted back from the last row, both matrices hold 100 rows of 100 elements.
            unsafe {
                let (last_dst, last_src) = (dst[9900..].as_mut_ptr().cast(), src[9900..].as_ptr().cast());
                (if streamed { transpose_stream } else { transpose })(4, last_dst, -400, last_src, -400, 100, 100);
            }
            stream::fence();
            assert!((0..10_000).all(|i| dst[i] as usize == (99 - i % 100) * 100 + (99 - i / 100)), "streamed {streamed}");
        }
    }
}
