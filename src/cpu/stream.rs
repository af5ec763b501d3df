//! Stores that go past the caches: for results so large that they would only push other data out.
//!
//! A plain store first fetches the line it writes to; a whole line stored past the caches is not fetched, which saves a third to a half of
//! the traffic. In return the line is in no cache afterwards, hence the threshold. Only x86-64 has such stores here; elsewhere these are
//! plain copies, and the threshold is never reached.

use super::simd::{Level, level};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Bytes that leave the core as one piece.
pub(super) const LINE: usize = 64;

/// From here on there is a whole line, however the ends lie.
const SHORT: usize = 2 * LINE;

/// Bytes from `p` to the next line.
#[inline(always)]
pub fn to_line(p: *const u8) -> usize {
    p.addr().wrapping_neg() % LINE
}

/// `dst[..bytes] = src[..bytes]`, whole lines past the caches.
///
/// Other threads may look only after [`fence`] by the calling thread.
///
/// # Safety
/// Both sides must hold `bytes` bytes, of any alignment, and not overlap.
pub unsafe fn copy_stream(dst: *mut u8, src: *const u8, bytes: usize) {
    // SAFETY: the caller's.
    unsafe { copy_at(level(), dst, src, bytes) }
}

/// # Safety
/// As for [`copy_stream`]; the machine has the level.
unsafe fn copy_at(level: Level, dst: *mut u8, src: *const u8, bytes: usize) {
    if bytes < SHORT {
        // SAFETY: the caller's.
        return unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes) };
    }
    let head = to_line(dst);
    let lines = (bytes - head) / LINE;
    let tail = head + lines * LINE;
    // SAFETY: head, lines and tail divide the bytes of the caller; the lines of `dst` are aligned.
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

/// Writes the eight bytes of `pattern` over and over by the machine's own loop, which knows that whole lines are overwritten, and which
/// cache to leave them in. Where [`fills_long`](super::tuning::fills_long) is false it is slow.
///
/// # Safety
/// `dst` must hold `8 * count` bytes, of any alignment.
pub unsafe fn fill_long(dst: *mut u8, pattern: u64, count: usize) {
    // SAFETY: the caller's; the direction flag is clear, as everywhere.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("rep stosq", inout("rcx") count => _, inout("rdi") dst => _, in("rax") pattern, options(nostack, preserves_flags));
        #[cfg(not(target_arch = "x86_64"))]
        (0..count).for_each(|i| dst.cast::<u64>().add(i).write_unaligned(pattern));
    }
}

/// Asks for `bytes` bytes from `at` on, wherever that is: an address nobody may read is ignored.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]
pub fn prefetch(at: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    hint::<_MM_HINT_T0>(at, bytes);
}

/// [`prefetch`] to the second-level cache only: in the first, lines a power of two apart would drive each other out.
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

/// Makes what this thread streamed visible before anything it stores later. Call it once per thread, after the last streamed piece.
pub fn fence() {
    // SAFETY: SSE is part of x86-64.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        _mm_sfence()
    }
}

/// # Safety
/// Both sides hold `lines` lines; `dst` starts on a line; the machine has the level.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_lines(level: Level, dst: *mut u8, src: *const u8, lines: usize) {
    // SAFETY: the caller's.
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
        // SAFETY: the caller's.
        unsafe { _mm512_stream_si512(dst.add(i * LINE).cast(), _mm512_loadu_si512(src.add(i * LINE).cast())) }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn copy_lines_avx2(dst: *mut u8, src: *const u8, lines: usize) {
    for i in 0..lines {
        // SAFETY: the caller's.
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
        // SAFETY: the caller's.
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
/// Both sides hold `lines` lines; `dst` starts on a line.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_lines(_: Level, dst: *mut u8, src: *const u8, lines: usize) {
    // SAFETY: the caller's.
    unsafe { std::ptr::copy_nonoverlapping(src, dst, lines * LINE) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 1024;

    /// Calls `test(level, offset, bytes)` for every level of this machine, and pieces of all lengths and alignments that matter.
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
                // SAFETY: at most 63 + 900 bytes of each.
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
            // SAFETY: at most 63 + 960 bytes.
            unsafe { fill_long(dst[offset..].as_mut_ptr(), 0x0807_0605_0403_0201, count) }
            let expected = |i: usize| if inside.contains(&i) { (i - offset) as u8 % 8 + 1 } else { 0xaa };
            assert!((0..ROOM).all(|i| dst[i] == expected(i)), "{count} at {offset}");
        }
    }
}
