//! Copies of short rows, for which a call each would take longer than the copy.

use crate::cpu::simd::simd;

/// One side of a tile: its first element and steps in bytes.
#[derive(Clone, Copy)]
pub struct Side {
    /// The first element.
    pub data: *mut u8,
    /// Bytes from row to row.
    pub row_step: isize,
    /// Bytes from element to element.
    pub col_step: isize,
}

/// Copies `rows` rows of `bytes` bytes, each contiguous on both sides.
///
/// # Safety
/// Both sides hold the rows and do not overlap.
pub unsafe fn copy_rows(dst: Side, src: Side, rows: usize, bytes: usize) {
    // SAFETY: the caller keeps this function's contract; a chunk is at most as long as a row.
    unsafe {
        match bytes {
            64.. => chunks::<[u64; 8]>(dst, src, rows, bytes),
            32.. => chunks::<[u64; 4]>(dst, src, rows, bytes),
            16.. => chunks::<[u64; 2]>(dst, src, rows, bytes),
            8.. => chunks::<u64>(dst, src, rows, bytes),
            4.. => chunks::<u32>(dst, src, rows, bytes),
            2.. => chunks::<u16>(dst, src, rows, bytes),
            _ => chunks::<u8>(dst, src, rows, bytes),
        }
    }
}

/// Copies rows in chunks `C`. The last chunk of a row may overlap the one before.
///
/// # Safety
/// As for [`copy_rows`]; rows must have at least the length of a chunk.
unsafe fn chunks<C: Copy>(dst: Side, src: Side, rows: usize, bytes: usize) {
    let last = bytes - size_of::<C>();
    simd(
        #[inline(always)]
        move |_| {
            let (mut to, mut from) = (dst.data, src.data.cast_const());
            for _ in 0..rows {
                let mut at = 0;
                while at < last {
                    // SAFETY: the caller keeps this function's contract.
                    unsafe { to.add(at).cast::<C>().write_unaligned(from.add(at).cast::<C>().read_unaligned()) }
                    at += size_of::<C>();
                }
                // SAFETY: the caller keeps this function's contract.
                unsafe { to.add(last).cast::<C>().write_unaligned(from.add(last).cast::<C>().read_unaligned()) }
                (to, from) = (to.wrapping_offset(dst.row_step), from.wrapping_offset(src.row_step));
            }
        },
    )
}

/// `dst[i][j] = src[i]` for rows of `cols` elements, at least eight, contiguous in `dst`.
///
/// # Safety
/// Both sides must hold the elements, of size `size`, and not overlap.
pub unsafe fn fill_rows(size: usize, dst: Side, src: Side, rows: usize, cols: usize) {
    // SAFETY: the caller keeps this function's contract; a chunk is at most as long as a row.
    unsafe {
        match (size, cols) {
            (1, 64..) => filled::<u8, 64>(dst, src, rows, cols),
            (1, _) => filled::<u8, 8>(dst, src, rows, cols),
            (2, 32..) => filled::<u16, 32>(dst, src, rows, cols),
            (2, _) => filled::<u16, 8>(dst, src, rows, cols),
            (4, 16..) => filled::<u32, 16>(dst, src, rows, cols),
            (4, _) => filled::<u32, 8>(dst, src, rows, cols),
            _ => filled::<u64, 8>(dst, src, rows, cols),
        }
    }
}

/// Fills rows in chunks of `CHUNK` elements. The last chunk of a row may overlap the one before.
///
/// # Safety
/// As for [`fill_rows`]; rows must have at least the length of a chunk.
unsafe fn filled<T: Copy, const CHUNK: usize>(dst: Side, src: Side, rows: usize, cols: usize) {
    let last = cols - CHUNK;
    simd(
        #[inline(always)]
        move |_| {
            let (mut to, mut from) = (dst.data.cast::<T>(), src.data.cast_const());
            for _ in 0..rows {
                // SAFETY: the caller keeps this function's contract; elements may be unaligned in foreign memory.
                unsafe {
                    let chunk = [from.cast::<T>().read_unaligned(); CHUNK];
                    let mut at = 0;
                    while at < last {
                        to.add(at).cast::<[T; CHUNK]>().write_unaligned(chunk);
                        at += CHUNK;
                    }
                    to.add(last).cast::<[T; CHUNK]>().write_unaligned(chunk);
                }
                (to, from) = (to.wrapping_byte_offset(dst.row_step), from.wrapping_offset(src.row_step));
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::tuning::COPY_SHORT_ROW;

    /// Runs `copy(dst, src)` between rows `dst_step` and `src_step` bytes apart, and checks every byte of the result, including the gaps
    /// between the rows.
    fn check(rows: usize, bytes: usize, steps: [usize; 2], expected: impl Fn(usize, usize) -> u8, copy: impl Fn(Side, Side)) {
        let mut src: Vec<u8> = (0..rows * steps[1] + 8).map(|i| (i * 7 + i / 256) as u8).collect();
        let mut dst = vec![0xaa; rows * steps[0] + bytes + 8];
        let side = |data: &mut [u8], step: usize| Side { data: data[3..].as_mut_ptr(), row_step: step as isize, col_step: 0 };
        copy(side(&mut dst, steps[0]), side(&mut src, steps[1]));
        for (at, &found) in dst.iter().enumerate() {
            let (row, col) = (at.wrapping_sub(3) / steps[0], at.wrapping_sub(3) % steps[0]);
            let inside = at >= 3 && row < rows && col < bytes;
            assert_eq!(found, if inside { expected(row, col) } else { 0xaa }, "{rows} rows of {bytes} bytes, {steps:?} apart, byte {at}");
        }
    }

    fn byte(at: usize) -> u8 {
        ((at + 3) * 7 + (at + 3) / 256) as u8
    }

    #[test]
    fn rows_of_every_length_are_copied() {
        for bytes in (1..200).chain([255, 256, 300, COPY_SHORT_ROW]) {
            for [rows, gap, other] in [[1, 0, 0], [3, 0, 5], [5, 1, 0], [4, 64, 3]] {
                let steps = [bytes + gap, bytes + other];
                // SAFETY: both vectors hold the rows.
                check(rows, bytes, steps, |r, c| byte(r * steps[1] + c), |dst, src| unsafe { copy_rows(dst, src, rows, bytes) });
            }
        }
    }

    #[test]
    fn a_value_for_each_row_fills_it() {
        for size in [1, 2, 4, 8] {
            for cols in (8..80).chain([100, 128]) {
                let (bytes, steps) = (cols * size, [cols * size + 5, size + 3]);
                // SAFETY: both vectors hold the rows.
                check(3, bytes, steps, |r, c| byte(r * steps[1] + c % size), |dst, src| unsafe { fill_rows(size, dst, src, 3, cols) });
            }
        }
    }
}
