//! Transposition of matrices, register by register.
//!
//! A register holds one to four lanes of 16 bytes; `E` elements fill a lane. Lane `k` of register `i` takes the first elements of source
//! row `i + k * E`; interleaving the registers pairwise log2(E) times turns rows into columns in every lane, which leaves each register
//! with consecutive elements of one row of the result.

#[cfg(target_arch = "x86_64")]
mod register;

use super::simd::{Level, level};
use super::stream::{self, LINE, to_line};
#[cfg(target_arch = "x86_64")]
use register::Register;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

/// Rows of the result done together: few enough pages for the TLB, and whole cache lines of the source.
const TILE_ROWS: usize = 64;
/// Bytes of a row of the result done together.
const TILE_WIDTH: usize = 512;
/// The same when they go past the caches.
const STREAM_WIDTH: usize = 256;
/// The same when they go through a buffer on machines other than Intel's: measured on a Zen 5, whose first-level cache has 48 KiB.
const WIDE_STREAM: usize = 512;

/// Transpositions of this many bytes, both sides together, gain by [`transpose_stream`].
///
/// That is less than for other operations: the plain stores of a transposition jump from row to row, so each waits for its line.
pub fn stream_threshold() -> usize {
    stream::threshold() / 4
}

/// `dst[r * dst_step + c * size] = src[c * src_step + r * size]` for all `r < rows`, `c < cols`: elements of `size` bytes, steps in bytes.
///
/// # Safety
/// `size` must be 1, 2, 4 or 8; both sides must hold the elements, and not overlap. Nothing needs to be aligned.
pub unsafe fn transpose(size: usize, dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, rows: usize, cols: usize) {
    let matrix = Matrix { dst, dst_step, src, src_step, rows, cols };
    let kernel = direct(level(), size);
    matrix.for_tiles(size, TILE_WIDTH / size, |r, c, rows, cols| {
        // SAFETY: the tile lies inside the caller's matrix; the level is this machine's.
        unsafe { kernel(matrix.part(size, r, c, rows, cols)) }
    })
}

/// [`transpose`] with the result stored past the caches, for matrices too large for them.
///
/// Lines at the ends of a row that are not whole take the slow way: better few matrices of long rows than many of short ones. Other
/// threads may look only after [`stream::fence`] by the calling thread.
///
/// # Safety
/// As for [`transpose`].
pub unsafe fn transpose_stream(size: usize, dst: *mut u8, dst_step: isize, src: *const u8, src_step: isize, rows: usize, cols: usize) {
    if cols * size < STREAM_WIDTH || rows * size < LINE {
        // SAFETY: the caller's.
        return unsafe { transpose(size, dst, dst_step, src, src_step, rows, cols) };
    }
    let matrix = Matrix { dst, dst_step, src, src_step, rows, cols };
    let lines = lines(level(), size).filter(|_| matrix.rows_begin_alike(size));
    let kernels = (staged(level(), size), lines);
    let width = if lines.is_some() || stream::asks_ahead() { STREAM_WIDTH } else { WIDE_STREAM };
    let mut buffer = Buffer([MaybeUninit::uninit(); BUFFER_LEN]);
    let buffer = buffer.0.as_mut_ptr().cast::<u8>();
    // A tile is done when the one after it is known, whose source is asked for meanwhile.
    let mut last = None;
    let mut run = |next: Option<[usize; 4]>| {
        if let Some(tile) = std::mem::replace(&mut last, next) {
            // SAFETY: the tiles lie inside the caller's matrix; the level is this machine's; the buffer is as large as needed.
            unsafe { matrix.stream_part(size, tile, next, buffer, kernels) }
        }
    };
    matrix.for_tiles(size, width / size, |r, c, rows, cols| run(Some([r, c, rows, cols])));
    run(None);
}

/// A tile, and a line more of every row.
const BUFFER_LEN: usize = TILE_ROWS * (WIDE_STREAM + LINE);

#[repr(align(64))]
struct Buffer([MaybeUninit<u8>; BUFFER_LEN]);

/// What to transpose: `rows` x `cols` is the shape of the result.
#[derive(Clone, Copy)]
struct Matrix {
    dst: *mut u8,
    dst_step: isize,
    src: *const u8,
    src_step: isize,
    rows: usize,
    cols: usize,
}

/// Transposes a matrix no larger than a tile.
type Kernel = unsafe fn(Matrix);

impl Matrix {
    /// Calls `run(r, c, rows, cols)` for tiles of at most TILE_ROWS x `width` elements, along the rows of the source. Where the result is
    /// narrower than that, tiles are so much higher.
    #[inline(always)]
    fn for_tiles(self, size: usize, width: usize, mut run: impl FnMut(usize, usize, usize, usize)) {
        // Tiles end with lines of the result, if its rows begin alike.
        let lead = self.dst.addr() % LINE / size;
        let height = TILE_ROWS * (width / self.cols.max(1)).max(1);
        let mut c = 0;
        while c < self.cols {
            let cols = if c == 0 { width - lead } else { width }.min(self.cols - c);
            for r in (0..self.rows).step_by(height) {
                run(r, c, height.min(self.rows - r), cols);
            }
            c += cols;
        }
    }

    /// Whether all rows of the result begin in the same place of a line, and elements do not straddle lines.
    #[inline(always)]
    fn rows_begin_alike(self, size: usize) -> bool {
        self.dst_step % LINE as isize == 0 && self.dst.addr().is_multiple_of(size)
    }

    /// `rows` x `cols` elements from row `r` and column `c` of the result.
    ///
    /// # Safety
    /// Both sides hold the first element.
    #[inline(always)]
    unsafe fn part(self, size: usize, r: usize, c: usize, rows: usize, cols: usize) -> Matrix {
        // SAFETY: the caller's.
        unsafe {
            let dst = self.dst.offset(r as isize * self.dst_step).add(c * size);
            Matrix { dst, src: self.src.offset(c as isize * self.src_step).add(r * size), rows, cols, ..self }
        }
    }

    /// Transposes a tile and streams its rows, through `buffer` where they are not whole lines; meanwhile it asks for the source of the `next`,
    /// whose rows are short and far apart, so that the machine would not guess them.
    ///
    /// In the buffer a row takes the lines that begin in its part, the last one with elements of the next: a line not stored as a whole would
    /// be fetched.
    ///
    /// # Safety
    /// As for [`transpose`]; the tiles lie inside; the buffer holds BUFFER_LEN bytes.
    unsafe fn stream_part(
        self,
        size: usize,
        tile: [usize; 4],
        next: Option<[usize; 4]>,
        buffer: *mut u8,
        (staged, lines): (Kernel, Option<Kernel>),
    ) {
        let [r, c, rows, cols] = tile;
        let ask = |at: usize, of: usize| {
            let Some([r, c, height, width]) = next else { return };
            for column in (at..width).step_by(of) {
                // SAFETY: the tile lies inside the matrix.
                stream::prefetch_near(unsafe { self.part(size, r, c + column, height, 1) }.src, height * size);
            }
        };
        let more = if self.rows_begin_alike(size) { 0 } else { (LINE / size).min(self.cols - c - cols) };
        let (own, all) = (cols * size, (cols + more) * size);
        // SAFETY: the caller's; `more` columns are still inside the matrix and the buffer.
        unsafe {
            let part = self.part(size, r, c, rows, cols + more);
            // Lines of the source are read to the end, one of each row, before the next.
            let band = LINE / size;
            if let Some(lines) = lines.filter(|_| to_line(part.dst) == 0 && own.is_multiple_of(LINE) && rows >= band) {
                for (k, row) in steps(rows, band).enumerate() {
                    ask(k, rows.div_ceil(band));
                    lines(part.part(size, row, 0, band, cols));
                }
                return;
            }
            staged(Matrix { dst: buffer, dst_step: all as isize, ..part });
            for i in 0..rows {
                ask(i, rows);
                let row = part.dst.offset(i as isize * self.dst_step);
                let start = if c == 0 { 0 } else { to_line(row).min(all) };
                let end = (own + to_line(row.wrapping_add(own))).min(all);
                stream::copy_stream(row.add(start), buffer.add(i * all + start), end - start);
            }
        }
    }
}

/// The kernel that stores to the result itself, in whole cache lines.
#[cfg(target_arch = "x86_64")]
fn direct(level: Level, size: usize) -> Kernel {
    let kernels: [Kernel; 4] = match level {
        Level::Avx512 => [direct_avx512::<16>, direct_avx512::<8>, direct_avx512::<4>, direct_avx512::<2>],
        Level::Avx2 => [direct_avx2::<16>, direct_avx2::<8>, direct_avx2::<4>, direct_avx2::<2>],
        Level::Baseline => [direct_sse2::<16>, direct_sse2::<8>, direct_sse2::<4>, direct_sse2::<2>],
    };
    kernels[size.ilog2() as usize]
}

/// The kernel that stores to a buffer. It reads few rows of the source at a time, so that their lines stay until they are read to the end:
/// with a power of two for a step they compete for one set of the cache.
#[cfg(target_arch = "x86_64")]
fn staged(level: Level, size: usize) -> Kernel {
    let kernels: [Kernel; 4] = match level {
        Level::Avx512 | Level::Avx2 => [staged_avx2::<16>, staged_avx2::<8>, staged_avx2::<4>, staged_avx2::<2>],
        Level::Baseline => [staged_sse2::<16>, staged_sse2::<8>, staged_sse2::<4>, staged_sse2::<2>],
    };
    kernels[size.ilog2() as usize]
}

#[cfg(not(target_arch = "x86_64"))]
fn direct(_: Level, size: usize) -> Kernel {
    [one_by_one::<16>, one_by_one::<8>, one_by_one::<4>, one_by_one::<2>][size.ilog2() as usize]
}

#[cfg(not(target_arch = "x86_64"))]
fn staged(level: Level, size: usize) -> Kernel {
    direct(level, size)
}

/// The kernel that stores whole lines of the result past the caches, where a register is one: for a line's worth of rows or more, and columns
/// that are whole lines.
#[cfg(target_arch = "x86_64")]
fn lines(level: Level, size: usize) -> Option<Kernel> {
    let kernels: [Kernel; 3] = [lines_avx512::<8>, lines_avx512::<4>, lines_avx512::<2>];
    (level == Level::Avx512 && size > 1).then(|| kernels[size.ilog2() as usize - 1])
}

#[cfg(not(target_arch = "x86_64"))]
fn lines(_: Level, _: usize) -> Option<Kernel> {
    None
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx2")]
unsafe fn lines_avx512<const E: usize>(m: Matrix) {
    // SAFETY: the caller's.
    unsafe { blocks::<__m512i, E, 1, true>(m) };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx2")]
unsafe fn direct_avx512<const E: usize>(m: Matrix) {
    // SAFETY: the caller's. 16 registers of 64 bytes and their successors are more than there are.
    unsafe {
        let done = if E == 16 { blocks::<__m256i, E, 2, false>(m) } else { blocks::<__m512i, E, 1, false>(m) };
        if !(done || blocks::<__m128i, E, 1, false>(m)) {
            slivers::<E>(m)
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn direct_avx2<const E: usize>(m: Matrix) {
    // SAFETY: the caller's.
    unsafe {
        if !(blocks::<__m256i, E, 2, false>(m) || blocks::<__m128i, E, 1, false>(m)) {
            slivers::<E>(m)
        }
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn direct_sse2<const E: usize>(m: Matrix) {
    // SAFETY: the caller's.
    unsafe {
        if !(blocks::<__m128i, E, 4, false>(m) || blocks::<__m128i, E, 1, false>(m)) {
            slivers::<E>(m)
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn staged_avx2<const E: usize>(m: Matrix) {
    // SAFETY: the caller's.
    unsafe {
        if !(E < 16 && blocks::<__m256i, E, 1, false>(m) || blocks::<__m128i, E, 1, false>(m)) {
            slivers::<E>(m)
        }
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn staged_sse2<const E: usize>(m: Matrix) {
    // SAFETY: the caller's.
    unsafe {
        if !blocks::<__m128i, E, 1, false>(m) {
            slivers::<E>(m)
        }
    }
}

/// Transposes in blocks of E rows and `SIDE` registers' width, if there is room for one; the last ones overlap those before them. `PAST` the
/// caches, where registers begin with lines of the result.
///
/// # Safety
/// As for [`transpose`]; the machine has the registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn blocks<V: Register, const E: usize, const SIDE: usize, const PAST: bool>(m: Matrix) -> bool {
    let width = V::LANES * E;
    if m.rows < E || m.cols < SIDE * width {
        return false;
    }
    for c in steps(m.cols, SIDE * width) {
        for r in steps(m.rows, E) {
            for side in 0..SIDE {
                // SAFETY: the block lies inside the matrix.
                unsafe { block::<V, E, PAST>(m.part(16 / E, r, c + side * width, E, width)) }
            }
        }
    }
    true
}

/// Where pieces of length `by` begin that cover `n`, which is at least one piece.
#[inline(always)]
fn steps(n: usize, by: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(by).map(move |i| i.min(n - by))
}

/// # Safety
/// As for [`transpose`]: E rows and a register's width of columns; the machine has the registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn block<V: Register, const E: usize, const PAST: bool>(m: Matrix) {
    // Loops over indices: the closure of `array::from_fn` would be compiled without the instructions, and iterators keep the registers in
    // memory.
    // SAFETY: the caller's.
    unsafe {
        let mut x = [V::gather(m.src, E as isize * m.src_step); E];
        for i in 1..E {
            x[i] = V::gather(m.src.offset(i as isize * m.src_step), E as isize * m.src_step);
        }
        x = interleave_rounds(x);
        for i in 0..E {
            x[i].store::<PAST>(m.dst.offset(i as isize * m.dst_step));
        }
    }
}

/// Turns E x E elements in every lane.
///
/// # Safety
/// The machine has the registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn interleave_rounds<V: Register, const E: usize>(mut x: [V; E]) -> [V; E] {
    // Not a loop: it would stay one, and the registers in memory.
    // SAFETY: the caller's.
    unsafe {
        x = interleave_all(x);
        if E >= 4 {
            x = interleave_all(x);
        }
        if E >= 8 {
            x = interleave_all(x);
        }
        if E >= 16 {
            x = interleave_all(x);
        }
    }
    x
}

/// # Safety
/// The machine has the registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn interleave_all<V: Register, const E: usize>(x: [V; E]) -> [V; E] {
    let mut out = x;
    for i in 0..E / 2 {
        // SAFETY: the caller's.
        (out[2 * i], out[2 * i + 1]) = unsafe { x[i].interleave::<E>(x[i + E / 2]) };
    }
    out
}

/// Matrices too narrow for a block, such as the channels of an image: if the short side lies dense, registers reach across several rows of it.
/// What is read too much is dropped, what is written too much the next row corrects.
///
/// # Safety
/// As for [`transpose`].
#[cfg(target_arch = "x86_64")]
unsafe fn slivers<const E: usize>(m: Matrix) {
    let size = 16 / E;
    let dense = |short: usize, step: isize| short < E && step == (short * size) as isize;
    let tall = dense(m.cols, m.dst_step);
    let (long, short) = if tall { (m.rows, m.cols) } else { (m.cols, m.rows) };
    // So many begin at least a register before the end.
    let inside = (long * short * size).saturating_sub(16) / (short * size).max(1) + 1;
    // SAFETY: the caller's; the parts lie inside the matrix.
    unsafe {
        if inside < E || !(tall || dense(m.rows, m.src_step)) {
            return one_by_one::<E>(m);
        }
        for at in steps(inside, E) {
            sliver::<E>(if tall { m.part(size, at, 0, E, m.cols) } else { m.part(size, 0, at, m.rows, E) });
        }
        let rest = long - inside;
        one_by_one::<E>(if tall { m.part(size, inside, 0, rest, m.cols) } else { m.part(size, 0, inside, m.rows, rest) });
    }
}

/// A block with rows or columns missing: the last column stands for those after it, and rows after the last are not stored.
///
/// # Safety
/// Each of the columns of the result may be read, and each of its rows written, for 16 bytes.
#[cfg(target_arch = "x86_64")]
unsafe fn sliver<const E: usize>(m: Matrix) {
    // SAFETY: the caller's.
    unsafe {
        let mut x = [__m128i::gather(m.src, 0); E];
        for i in 1..E {
            x[i] = __m128i::gather(m.src.offset(i.min(m.cols - 1) as isize * m.src_step), 0);
        }
        x = interleave_rounds(x);
        for i in 0..E.min(m.rows) {
            x[i].store::<false>(m.dst.offset(i as isize * m.dst_step));
        }
    }
}

/// Element by element, the shorter side inside.
///
/// # Safety
/// As for [`transpose`].
unsafe fn one_by_one<const E: usize>(m: Matrix) {
    // SAFETY: the caller's.
    unsafe {
        match E {
            16 => elements::<u8>(m),
            8 => elements::<u16>(m),
            4 => elements::<u32>(m),
            _ => elements::<u64>(m),
        }
    }
}

/// # Safety
/// As for [`transpose`].
#[inline(always)]
unsafe fn elements<T: Copy>(m: Matrix) {
    let moved = |r, c| {
        // SAFETY: the caller's; elements may be unaligned.
        unsafe {
            let at = m.part(size_of::<T>(), r, c, 1, 1);
            at.dst.cast::<T>().write_unaligned(at.src.cast::<T>().read_unaligned());
        }
    };
    if m.rows < m.cols {
        (0..m.cols).for_each(|c| (0..m.rows).for_each(|r| moved(r, c)));
    } else {
        (0..m.rows).for_each(|r| (0..m.cols).for_each(|c| moved(r, c)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two matrices in one stretch of memory each, `gap` bytes between rows, first element at `offset`.
    struct Case {
        size: usize,
        rows: usize,
        cols: usize,
        gap: usize,
        offset: usize,
    }

    impl Case {
        fn check(&self, run: impl Fn(Matrix)) {
            let &Case { size, rows, cols, gap, offset } = self;
            let (dst_step, src_step) = (cols * size + gap, rows * size + gap);
            let src: Vec<u8> =
                (0..offset + cols * src_step + 8).map(|i| (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0]).collect();
            let mut expected = vec![0xaa; offset + rows * dst_step + 8];
            let mut dst = expected.clone();
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
        let places = [(0, 0), (24, 0), (0, 3), (5, 1)];
        let all = [1, 2, 4, 8].into_iter().flat_map(move |size| places.map(move |(gap, offset)| (size, gap, offset)));
        all.flat_map(move |(size, gap, offset)| shapes.iter().map(move |&(rows, cols)| Case { size, rows, cols, gap, offset }))
    }

    #[test]
    fn every_kernel_of_every_level() {
        let lengths = [1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 64, 70];
        let shapes: Vec<_> = lengths.iter().flat_map(|&r| lengths.map(|c| (r, c))).collect();
        for at in [Level::Baseline, Level::Avx2, Level::Avx512].into_iter().filter(|&at| at <= level()) {
            for case in cases(&shapes) {
                // SAFETY: the matrices hold the elements, and the machine has the level.
                case.check(|m| unsafe { direct(at, case.size)(m) });
                // SAFETY: as above.
                case.check(|m| unsafe { staged(at, case.size)(m) });
            }
        }
    }

    #[test]
    fn matrices_of_many_tiles() {
        for case in cases(&[(0, 5), (5, 0), (130, 700), (70, 640), (257, 65), (3, 1500), (1000, 3)]) {
            // SAFETY: the matrices hold the elements.
            case.check(|m| unsafe { transpose(case.size, m.dst, m.dst_step, m.src, m.src_step, m.rows, m.cols) });
            // SAFETY: as above.
            case.check(|m| unsafe {
                transpose_stream(case.size, m.dst, m.dst_step, m.src, m.src_step, m.rows, m.cols);
                stream::fence();
            });
        }
    }

    #[test]
    fn steps_may_be_negative() {
        let src: Vec<u32> = (0..100 * 100).collect();
        let mut dst = vec![0u32; 100 * 100];
        // SAFETY: from the last row backwards, both hold 100 rows of 100 elements.
        unsafe {
            let (last_dst, last_src) = (dst[9900..].as_mut_ptr(), src[9900..].as_ptr());
            transpose(4, last_dst.cast(), -400, last_src.cast(), -400, 100, 100);
        }
        assert!((0..10_000).all(|i| dst[i] as usize == (99 - i % 100) * 100 + (99 - i / 100)));
    }
}
