//! Stores past the caches (non-temporal stores), for results so large that they would only evict other data.
//!
//! A plain store first fetches the cache line that it writes. A whole line that is stored past the caches is not fetched, which saves a
//! third to a half of the traffic. The line is in no cache afterwards, so such stores pay only above a threshold. Only x86-64 has such
//! stores here; on other processors these functions are plain copies, and the threshold is never reached.

use super::simd::{Level, level};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Bytes of a cache line, which leave the core together.
pub(super) const LINE: usize = 64;

/// This many bytes contain a whole cache line at any alignment.
const SHORT: usize = 2 * LINE;

/// Returns the number of bytes from `p` to the next cache line.
#[inline(always)]
pub fn to_line(p: *const u8) -> usize {
    p.addr().wrapping_neg() % LINE
}

/// `dst[..bytes] = src[..bytes]`, with whole cache lines stored past the caches.
///
/// Other threads may read the result only after [`fence`] by the calling thread.
///
/// # Safety
/// Both sides must hold `bytes` bytes, of any alignment, and not overlap.
pub unsafe fn copy_stream(dst: *mut u8, src: *const u8, bytes: usize) {
    // SAFETY: the caller guarantees both sides, and `level` returns a level of this processor.
    unsafe { copy_at(level(), dst, src, bytes) }
}

/// # Safety
/// As for [`copy_stream`]; the processor must have the level.
unsafe fn copy_at(level: Level, dst: *mut u8, src: *const u8, bytes: usize) {
    if bytes < SHORT {
        // SAFETY: the caller guarantees `bytes` bytes on both sides.
        return unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes) };
    }
    let head = to_line(dst);
    let lines = (bytes - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: head, lines and tail together are the caller's bytes; the lines of `dst` are aligned.
    unsafe {
        if head > 0 {
            std::ptr::copy_nonoverlapping(src, dst, head);
        }
        copy_lines(level, dst.add(head), src.add(head), lines);
        if tail < bytes {
            std::ptr::copy_nonoverlapping(src.add(tail), dst.add(tail), bytes - tail);
        }
    }
}

/// Writes the eight bytes of `pattern` `count` times by `rep stos`. The processor then knows that whole cache lines are overwritten, and
/// chooses the cache to leave them in. This is slow if [`fills_long`](super::tuning::fills_long) is false.
///
/// # Safety
/// `dst` must hold `8 * count` bytes, of any alignment.
pub unsafe fn fill_long(dst: *mut u8, pattern: u64, count: usize) {
    // SAFETY: the caller guarantees the bytes. The ABI guarantees that the direction flag is clear.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("rep stosq", inout("rcx") count => _, inout("rdi") dst => _, in("rax") pattern, options(nostack, preserves_flags));
        #[cfg(not(target_arch = "x86_64"))]
        (0..count).for_each(|i| dst.cast::<u64>().add(i).write_unaligned(pattern));
    }
}

/// Prefetches `bytes` bytes from `at` on. Any address is allowed, since an unreadable address is ignored.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
pub fn prefetch(at: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    hint::<_MM_HINT_T0>(at, bytes);
}

/// [`prefetch`] to the L2 cache only. In the L1 cache, lines a power of two apart would evict each other.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
pub fn prefetch_near(at: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    hint::<_MM_HINT_T1>(at, bytes);
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn hint<const WHERE: i32>(at: *const u8, bytes: usize) {
    for offset in (0..bytes).step_by(LINE) {
        // SAFETY: prefetching never faults.
        unsafe { _mm_prefetch::<WHERE>(at.wrapping_add(offset).cast()) }
    }
}

/// Makes this thread's streamed stores visible before its later stores. Call it once per thread, after the last streamed piece.
pub fn fence() {
    // SAFETY: SSE is part of x86-64.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        _mm_sfence()
    }
}

/// # Safety
/// Both sides must hold `lines` lines; `dst` must be aligned to a line; the processor must have the level.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_lines(level: Level, dst: *mut u8, src: *const u8, lines: usize) {
    // SAFETY: the caller guarantees both sides, the alignment and the level.
    unsafe {
        match level {
            Level::Avx512 => copy_lines_avx512(dst, src, lines),
            Level::Avx2 => copy_lines_avx2(dst, src, lines),
            Level::Baseline => copy_lines_sse2(dst, src, lines),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn copy_lines_avx512(dst: *mut u8, src: *const u8, lines: usize) {
    for i in 0..lines {
        // SAFETY: the caller guarantees both sides, the alignment and AVX-512.
        unsafe { _mm512_stream_si512(dst.add(i * LINE).cast(), _mm512_loadu_si512(src.add(i * LINE).cast())) }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn copy_lines_avx2(dst: *mut u8, src: *const u8, lines: usize) {
    for i in 0..lines {
        // SAFETY: the caller guarantees both sides, the alignment and AVX2.
        unsafe {
            let (to, from) = (dst.add(i * LINE).cast::<__m256i>(), src.add(i * LINE).cast::<__m256i>());
            let (a, b) = (_mm256_loadu_si256(from), _mm256_loadu_si256(from.add(1)));
            _mm256_stream_si256(to, a);
            _mm256_stream_si256(to.add(1), b);
        }
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn copy_lines_sse2(dst: *mut u8, src: *const u8, lines: usize) {
    for i in 0..lines {
        // SAFETY: the caller guarantees both sides and the alignment.
        unsafe {
            let (to, from) = (dst.add(i * LINE).cast::<__m128i>(), src.add(i * LINE).cast::<__m128i>());
            let quarters: [__m128i; 4] = std::array::from_fn(|k| _mm_loadu_si128(from.add(k)));
            for (k, quarter) in quarters.into_iter().enumerate() {
                _mm_stream_si128(to.add(k), quarter);
            }
        }
    }
}

/// # Safety
/// Both sides must hold `lines` lines; `dst` must be aligned to a line.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_lines(_: Level, dst: *mut u8, src: *const u8, lines: usize) {
    // SAFETY: the caller guarantees `lines` lines on both sides.
    unsafe { std::ptr::copy_nonoverlapping(src, dst, lines * LINE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 1024;

    /// Calls `test(level, offset, bytes)` for every level of this processor, with pieces of all lengths and alignments that matter.
    fn pieces(test: impl Fn(Level, usize, usize)) {
        for at in [Level::Baseline, Level::Avx2, Level::Avx512].into_iter().filter(|&at| at <= level()) {
            for offset in [0, 1, 2, 7, 8, 31, 32, 60, 63] {
                for bytes in (0..300).chain([512, 640, 900]) {
                    test(at, offset, bytes);
                }
            }
        }
    }

    #[test]
    fn copies_exactly_the_piece() {
        let src: Vec<u8> = (0..ROOM).map(|i| (i * 7 + i / 256) as u8).collect();
        pieces(|at, offset, bytes| {
            for from in [offset, 0, 5] {
                let mut dst = vec![0xaa; ROOM];
                // SAFETY: the piece ends at most 63 + 900 bytes after the beginning of each side.
                unsafe { copy_at(at, dst[offset..].as_mut_ptr(), src[from..].as_ptr(), bytes) };
                fence();
                let inside = offset..offset + bytes;
                assert!(dst[inside.clone()] == src[from..from + bytes], "{at:?}, {bytes} bytes at {offset} from {from}");
                assert!((0..ROOM).all(|i| inside.contains(&i) || dst[i] == 0xaa), "{at:?}, outside {bytes} bytes at {offset}");
            }
        });
    }

    #[test]
    fn long_fills_write_what_they_should() {
        for (offset, count) in [(0, 0), (0, 1), (3, 7), (8, 100), (63, 120)] {
            let mut dst = vec![0xaa; ROOM];
            let inside = offset..offset + 8 * count;
            // SAFETY: the pattern ends at most 63 + 960 bytes after the beginning.
            unsafe { fill_long(dst[offset..].as_mut_ptr(), 0x0807_0605_0403_0201, count) }
            let expected = |i: usize| if inside.contains(&i) { (i - offset) as u8 % 8 + 1 } else { 0xaa };
            assert!((0..ROOM).all(|i| dst[i] == expected(i)), "{count} at {offset}");
        }
    }
}
