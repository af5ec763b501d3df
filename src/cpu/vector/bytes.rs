//! Registers of bytes, for moving elements of any size, without arithmetic.

use std::arch::x86_64::*;

/// A register of lanes of 16 bytes.
///
/// # Safety
/// The processor must have the registers; pointers must be valid for 16 bytes a lane.
pub trait Bytes: Copy {
    /// The number of lanes.
    const LANES: usize;
    /// Loads all lanes from `src` on.
    unsafe fn load(src: *const u8) -> Self;
    /// Loads lane `k` from `src + k * step`.
    unsafe fn gather(src: *const u8, step: isize) -> Self;
    /// Stores all lanes, with `PAST` past the caches; `dst` must then be aligned to the register.
    unsafe fn store<const PAST: bool>(self, dst: *mut u8);
    /// In every lane, interleaves the E elements of `self` and `other`. Returns the first halves and the second halves.
    unsafe fn interleave<const E: usize>(self, other: Self) -> (Self, Self);
}

impl Bytes for __m128i {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm_loadu_si128(src.cast()) }
    }

    #[inline(always)]
    unsafe fn gather(src: *const u8, _step: isize) -> Self {
        // SAFETY: the caller keeps this function's contract.
        unsafe { Self::load(src) }
    }

    #[inline(always)]
    unsafe fn store<const PAST: bool>(self, dst: *mut u8) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { if PAST { _mm_stream_si128(dst.cast(), self) } else { _mm_storeu_si128(dst.cast(), self) } }
    }

    #[inline(always)]
    unsafe fn interleave<const E: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            match E {
                16 => (_mm_unpacklo_epi8(self, other), _mm_unpackhi_epi8(self, other)),
                8 => (_mm_unpacklo_epi16(self, other), _mm_unpackhi_epi16(self, other)),
                4 => (_mm_unpacklo_epi32(self, other), _mm_unpackhi_epi32(self, other)),
                _ => (_mm_unpacklo_epi64(self, other), _mm_unpackhi_epi64(self, other)),
            }
        }
    }
}

impl Bytes for __m256i {
    const LANES: usize = 2;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_loadu_si256(src.cast()) }
    }

    #[inline(always)]
    unsafe fn gather(src: *const u8, step: isize) -> Self {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(__m128i::gather(src, 0)), __m128i::gather(src.offset(step), 0)) }
    }

    #[inline(always)]
    unsafe fn store<const PAST: bool>(self, dst: *mut u8) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { if PAST { _mm256_stream_si256(dst.cast(), self) } else { _mm256_storeu_si256(dst.cast(), self) } }
    }

    #[inline(always)]
    unsafe fn interleave<const E: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            match E {
                16 => (_mm256_unpacklo_epi8(self, other), _mm256_unpackhi_epi8(self, other)),
                8 => (_mm256_unpacklo_epi16(self, other), _mm256_unpackhi_epi16(self, other)),
                4 => (_mm256_unpacklo_epi32(self, other), _mm256_unpackhi_epi32(self, other)),
                _ => (_mm256_unpacklo_epi64(self, other), _mm256_unpackhi_epi64(self, other)),
            }
        }
    }
}

impl Bytes for __m512i {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn load(src: *const u8) -> Self {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm512_loadu_si512(src.cast()) }
    }

    #[inline(always)]
    unsafe fn gather(src: *const u8, step: isize) -> Self {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let x = _mm512_castsi128_si512(__m128i::gather(src, 0));
            let x = _mm512_inserti32x4::<1>(x, __m128i::gather(src.offset(step), 0));
            let x = _mm512_inserti32x4::<2>(x, __m128i::gather(src.offset(2 * step), 0));
            _mm512_inserti32x4::<3>(x, __m128i::gather(src.offset(3 * step), 0))
        }
    }

    #[inline(always)]
    unsafe fn store<const PAST: bool>(self, dst: *mut u8) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { if PAST { _mm512_stream_si512(dst.cast(), self) } else { _mm512_storeu_si512(dst.cast(), self) } }
    }

    #[inline(always)]
    unsafe fn interleave<const E: usize>(self, other: Self) -> (Self, Self) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            match E {
                16 => (_mm512_unpacklo_epi8(self, other), _mm512_unpackhi_epi8(self, other)),
                8 => (_mm512_unpacklo_epi16(self, other), _mm512_unpackhi_epi16(self, other)),
                4 => (_mm512_unpacklo_epi32(self, other), _mm512_unpackhi_epi32(self, other)),
                _ => (_mm512_unpacklo_epi64(self, other), _mm512_unpackhi_epi64(self, other)),
            }
        }
    }
}

/// Returns the columns of 4 x 4 lanes of 16 bytes as rows.
#[inline(always)]
pub fn transpose_lanes([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    // SAFETY: the processor has AVX-512, which the code that made the registers guarantees.
    unsafe {
        let (even, odd) = (_mm512_shuffle_i32x4::<EVEN>(a, b), _mm512_shuffle_i32x4::<ODD>(a, b));
        let (more_even, more_odd) = (_mm512_shuffle_i32x4::<EVEN>(c, d), _mm512_shuffle_i32x4::<ODD>(c, d));
        [
            _mm512_shuffle_i32x4::<EVEN>(even, more_even),
            _mm512_shuffle_i32x4::<EVEN>(odd, more_odd),
            _mm512_shuffle_i32x4::<ODD>(even, more_even),
            _mm512_shuffle_i32x4::<ODD>(odd, more_odd),
        ]
    }
}
