//! The kernels of transposition, which transpose a tile, for every element size and every instruction set.
//!
//! A register holds one to four lanes of 16 bytes; `E` elements fill a lane. Lane `k` of register `i` loads the first elements of source
//! row `i + k * E`. Interleaving the registers pairwise log2(E) times turns rows into columns in every lane. Each register then has
//! consecutive elements of one row of the result.

use crate::cpu::simd::Level;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{with_avx2, with_avx512};
#[cfg(target_arch = "x86_64")]
use crate::cpu::stream::{LINE, to_line};
#[cfg(target_arch = "x86_64")]
use crate::cpu::tuning::TRANSPOSED_STREAM_BUFFERED;
#[cfg(target_arch = "x86_64")]
use crate::cpu::vector::{Bytes, transpose_lanes};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m128i, __m256i, __m512i};
#[cfg(target_arch = "x86_64")]
use std::mem::MaybeUninit;

/// A matrix to transpose: `rows` x `cols` is the shape of the result.
#[derive(Clone, Copy)]
pub struct Matrix {
    pub(super) dst: *mut u8,
    pub(super) dst_step: isize,
    pub(super) src: *const u8,
    pub(super) src_step: isize,
    pub(super) rows: usize,
    pub(super) cols: usize,
}

/// Transposes a matrix of at most one tile.
pub type TransposeKernel = unsafe fn(Matrix);
/// Transposes a band. The other arguments are the bytes of each row that are stored, and whether the band is the first of its rows.
pub type BandKernel = unsafe fn(Matrix, usize, bool);

/// Bytes of a row in the buffer: a tile's width and one more line.
#[cfg(target_arch = "x86_64")]
const BUFFER_ROW: usize = TRANSPOSED_STREAM_BUFFERED + LINE;

/// A buffer for a band of LINE rows, the number of rows with elements of one byte.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
struct Buffer([MaybeUninit<u8>; LINE * BUFFER_ROW]);

/// Returns the kernel that stores directly to the result, in whole cache lines.
#[cfg(target_arch = "x86_64")]
pub fn direct(level: Level, size: usize) -> TransposeKernel {
    let kernels: [TransposeKernel; 4] = match level {
        Level::Avx512 => [direct_avx512::<16>, direct_avx512::<8>, direct_avx512::<4>, direct_avx512::<2>],
        Level::Avx2 => [direct_avx2::<16>, direct_avx2::<8>, direct_avx2::<4>, direct_avx2::<2>],
        Level::Baseline => [direct_sse2::<16>, direct_sse2::<8>, direct_sse2::<4>, direct_sse2::<2>],
    };
    kernels[size.ilog2() as usize]
}

/// Returns the kernel that stores whole cache lines past the caches, through a buffer.
#[cfg(target_arch = "x86_64")]
pub fn buffered(level: Level, size: usize) -> BandKernel {
    let kernels: [BandKernel; 4] = match level {
        Level::Avx512 => [buffered_avx512::<16>, buffered_avx512::<8>, buffered_avx512::<4>, buffered_avx512::<2>],
        Level::Avx2 => [buffered_avx2::<16>, buffered_avx2::<8>, buffered_avx2::<4>, buffered_avx2::<2>],
        Level::Baseline => [buffered_sse2::<16>, buffered_sse2::<8>, buffered_sse2::<4>, buffered_sse2::<2>],
    };
    kernels[size.ilog2() as usize]
}

#[cfg(not(target_arch = "x86_64"))]
pub fn direct(_: Level, size: usize) -> TransposeKernel {
    [one_by_one::<16>, one_by_one::<8>, one_by_one::<4>, one_by_one::<2>][size.ilog2() as usize]
}

#[cfg(not(target_arch = "x86_64"))]
pub fn buffered(_: Level, size: usize) -> BandKernel {
    [plain_band::<16>, plain_band::<8>, plain_band::<4>, plain_band::<2>][size.ilog2() as usize]
}

/// Returns the kernel that stores a square, one cache line wide and high, past the caches, if a register holds a cache line.
#[cfg(target_arch = "x86_64")]
pub fn unbuffered(level: Level, size: usize) -> Option<TransposeKernel> {
    let kernels: [TransposeKernel; 3] = [unbuffered_avx512::<8>, unbuffered_avx512::<4>, unbuffered_avx512::<2>];
    (level == Level::Avx512 && size > 1).then(|| kernels[size.ilog2() as usize - 1])
}

#[cfg(not(target_arch = "x86_64"))]
pub fn unbuffered(_: Level, _: usize) -> Option<TransposeKernel> {
    None
}

/// Transposes a square, one cache line wide and high, and calls `take` with the index of each row of the result, and the row.
///
/// # Safety
/// The source, whose columns are `src_step` bytes apart, must hold the square. The processor must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn square<const E: usize>(src: *const u8, src_step: isize, take: impl Fn(usize, __m512i)) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if E <= 4 {
            // Whole cache lines are read, as many as fit the registers. Lines that are a power of two apart would evict each other from the
            // L1 cache before a second read.
            let mut x = [[__m512i::load(src); E]; 4];
            for k in 0..4 {
                for i in 0..E {
                    x[k][i] = __m512i::load(src.offset((k * E + i) as isize * src_step));
                }
                x[k] = interleave_rounds(x[k]);
            }
            for i in 0..E {
                let rows = transpose_lanes([x[0][i], x[1][i], x[2][i], x[3][i]]);
                for k in 0..4 {
                    take(k * E + i, rows[k]);
                }
            }
        } else {
            for r in (0..4 * E).step_by(E) {
                let rows = transposed_rows::<__m512i, E>(src.add(r * (16 / E)), src_step);
                for i in 0..E {
                    take(r + i, rows[i]);
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
with_avx512! {
    unsafe fn direct_avx512<const E: usize>(m: Matrix) {
        // SAFETY: the caller keeps this function's contract. 16 registers of 64 bytes and their successors would be more registers than the
        // processor has.
        unsafe {
            let done = if E == 16 { blocks::<__m256i, E, 2>(m) } else { blocks::<__m512i, E, 1>(m) };
            if !(done || blocks::<__m128i, E, 1>(m)) {
                panel::<E>(m)
            }
        }
    }

    unsafe fn buffered_avx512<const E: usize>(m: Matrix, own: usize, first: bool) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { if E == 16 { band::<__m128i, __m512i, E>(m, own, first) } else { band::<__m512i, __m512i, E>(m, own, first) } }
    }

    unsafe fn unbuffered_avx512<const E: usize>(m: Matrix) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { square::<E>(m.src, m.src_step, #[inline(always)] |i, line| line.store::<true>(m.dst.offset(i as isize * m.dst_step))) }
    }
}

#[cfg(target_arch = "x86_64")]
with_avx2! {
    unsafe fn direct_avx2<const E: usize>(m: Matrix) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if !(blocks::<__m256i, E, 2>(m) || blocks::<__m128i, E, 1>(m)) {
                panel::<E>(m)
            }
        }
    }

    unsafe fn buffered_avx2<const E: usize>(m: Matrix, own: usize, first: bool) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { if E == 16 { band::<__m128i, __m256i, E>(m, own, first) } else { band::<__m256i, __m256i, E>(m, own, first) } }
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn direct_sse2<const E: usize>(m: Matrix) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if !(blocks::<__m128i, E, 4>(m) || blocks::<__m128i, E, 1>(m)) {
            panel::<E>(m)
        }
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn buffered_sse2<const E: usize>(m: Matrix, own: usize, first: bool) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { band::<__m128i, __m128i, E>(m, own, first) }
}

/// Transposes a band of at most one cache line of rows, and stores by registers `S` the cache lines that begin in the first `own` bytes of
/// each row. If the band is the `first` of its rows, also stores the bytes before the first line. The rows in the buffer, which registers
/// `V` write, are longer, so that the last line is whole: a line that is not stored as a whole would be fetched.
///
/// # Safety
/// As for [`transpose`]; rows must fit the buffer; the processor must have the registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn band<V: Bytes, S: Bytes, const E: usize>(m: Matrix, own: usize, first: bool) {
    let all = m.cols * (16 / E);
    let mut buffer = Buffer([MaybeUninit::uninit(); _]);
    let buffer = buffer.0.as_mut_ptr().cast::<u8>();
    let within = Matrix { dst: buffer, dst_step: BUFFER_ROW as isize, ..m };
    // SAFETY: the caller keeps this function's contract; whole lines are aligned to registers.
    unsafe {
        if !(blocks::<V, E, 1>(within) || blocks::<__m128i, E, 1>(within)) {
            panel::<E>(within)
        }
        let store_lines = |dst: *mut u8, src: *const u8, bytes: usize| {
            for at in (0..bytes).step_by(16 * S::LANES) {
                S::load(src.add(at)).store::<true>(dst.add(at));
            }
        };
        for i in 0..m.rows {
            let (row, from) = (m.dst.offset(i as isize * m.dst_step), buffer.add(i * BUFFER_ROW));
            let start = to_line(row);
            if !first && all == own + LINE {
                store_lines(row.add(start), from.add(start), own);
                continue;
            }
            let start = start.min(all);
            let end = (own + to_line(row.wrapping_add(own))).min(all);
            let tail = start + end.saturating_sub(start) / LINE * LINE;
            if first {
                std::ptr::copy_nonoverlapping(from, row, start);
            }
            store_lines(row.add(start), from.add(start), tail - start);
            if tail < end {
                std::ptr::copy_nonoverlapping(from.add(tail), row.add(tail), end - tail);
            }
        }
    }
}

/// Stores all of a band at once, on processors without stores past the caches.
///
/// # Safety
/// As for [`transpose`].
#[cfg(not(target_arch = "x86_64"))]
unsafe fn plain_band<const E: usize>(m: Matrix, own: usize, _: bool) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { one_by_one::<E>(Matrix { cols: own / (16 / E), ..m }) }
}

/// Transposes in blocks of E rows and the width of `SIDE` registers. Returns false if the matrix is smaller than a block. The last blocks
/// overlap those before them.
///
/// # Safety
/// As for [`transpose`]; the processor must have the registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn blocks<V: Bytes, const E: usize, const SIDE: usize>(m: Matrix) -> bool {
    let width = V::LANES * E;
    if m.rows < E || m.cols < SIDE * width {
        return false;
    }
    // Cache lines of the source are read to the end, one line of each row, before the next lines.
    let band = LINE / (16 / E);
    for top in (0..m.rows).step_by(band) {
        // The last band may be lower than a block; the block then begins before the band.
        let top = top.min(m.rows - E);
        for c in steps(m.cols, SIDE * width) {
            for r in steps(band.min(m.rows - top), E) {
                for side in 0..SIDE {
                    // SAFETY: the block is inside the matrix.
                    unsafe { block::<V, E>(m.part(16 / E, top + r, c + side * width, E, width)) }
                }
            }
        }
    }
    true
}

/// Returns where pieces of length `by` begin that cover `n`. `n` must be at least `by`.
#[inline(always)]
pub fn steps(n: usize, by: usize) -> impl Iterator<Item = usize> {
    (0..n).step_by(by).map(move |i| i.min(n - by))
}

/// Transposes E rows and a register's width of columns.
///
/// # Safety
/// As for [`transpose`]; the machine has the registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn block<V: Bytes, const E: usize>(m: Matrix) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let rows = transposed_rows::<V, E>(m.src, m.src_step);
        for i in 0..E {
            rows[i].store::<false>(m.dst.offset(i as isize * m.dst_step));
        }
    }
}

/// Returns E rows of the result, one register wide.
///
/// # Safety
/// As for [`transpose`]; the machine has the registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn transposed_rows<V: Bytes, const E: usize>(src: *const u8, src_step: isize) -> [V; E] {
    // Loops over indices: the closure of `array::from_fn` would be compiled without the instructions, and iterators keep the registers in
    // memory. SAFETY: the caller keeps this function's contract.
    unsafe {
        let mut x = [V::gather(src, E as isize * src_step); E];
        for i in 1..E {
            x[i] = V::gather(src.offset(i as isize * src_step), E as isize * src_step);
        }
        interleave_rounds(x)
    }
}

/// Transposes E x E elements in every lane.
///
/// # Safety
/// The machine has the registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn interleave_rounds<V: Bytes, const E: usize>(mut x: [V; E]) -> [V; E] {
    // Not a loop: compilers would not unroll it, and would keep the registers in memory. SAFETY: the caller keeps this function's contract.
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
unsafe fn interleave_all<V: Bytes, const E: usize>(x: [V; E]) -> [V; E] {
    let mut out = x;
    for i in 0..E / 2 {
        // SAFETY: the caller keeps this function's contract.
        (out[2 * i], out[2 * i + 1]) = unsafe { x[i].interleave::<E>(x[i + E / 2]) };
    }
    out
}

/// Transposes a panel: a matrix too narrow for a block, such as the channels of an image. If the short side is dense, a register covers
/// several of its rows. Excess elements that are read are dropped; excess elements that are written are overwritten by the next row.
///
/// # Safety
/// As for [`transpose`].
#[cfg(target_arch = "x86_64")]
unsafe fn panel<const E: usize>(m: Matrix) {
    let size = 16 / E;
    let dense = |short: usize, step: isize| short < E && step == (short * size) as isize;
    let tall = dense(m.cols, m.dst_step);
    let (long, short) = if tall { (m.rows, m.cols) } else { (m.cols, m.rows) };
    // The number of rows or columns that begin at least a register before the end.
    let inside = (long * short * size).saturating_sub(16) / (short * size).max(1) + 1;
    // SAFETY: the caller keeps this function's contract; the parts are inside the matrix.
    unsafe {
        if inside < E || !(tall || dense(m.rows, m.src_step)) {
            return one_by_one::<E>(m);
        }
        for at in steps(inside, E) {
            partial_block::<E>(if tall { m.part(size, at, 0, E, m.cols) } else { m.part(size, 0, at, m.rows, E) });
        }
        let rest = long - inside;
        one_by_one::<E>(if tall { m.part(size, inside, 0, rest, m.cols) } else { m.part(size, 0, inside, m.rows, rest) });
    }
}

/// Transposes a block with rows or columns missing. The last column is read in place of the missing ones, and missing rows are not stored.
///
/// # Safety
/// 16 bytes of each column of the result must be readable, and 16 bytes of each of its rows writable.
#[cfg(target_arch = "x86_64")]
unsafe fn partial_block<const E: usize>(m: Matrix) {
    // SAFETY: the caller keeps this function's contract.
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

/// Transposes element by element, with the shorter side in the inner loop.
///
/// # Safety
/// As for [`transpose`].
unsafe fn one_by_one<const E: usize>(m: Matrix) {
    // SAFETY: the caller keeps this function's contract.
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
        // SAFETY: the caller keeps this function's contract; reads and writes allow unaligned elements.
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
