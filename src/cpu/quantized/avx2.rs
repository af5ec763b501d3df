//! Instructions of AVX2 and VNNI for blocks.
//!
//! The caller of each function guarantees that the processor has the instructions.

use std::arch::x86_64::*;

/// Instructions that multiply bytes.
pub trait Bytes {
    /// Returns sums of four neighbouring products of bytes.
    ///
    /// # Safety
    /// The processor must have the instructions. Two neighbouring products must have a sum of 16 bits.
    unsafe fn dot(unsigned: __m256i, signed: __m256i) -> __m256i;
    /// Returns the sum of two [`Bytes::dot`]. With `WIDE`, sums of four products may have more than 16 bits.
    ///
    /// # Safety
    /// As for [`Bytes::dot`].
    unsafe fn dots<const WIDE: bool>(unsigned: [__m256i; 2], signed: [__m256i; 2]) -> __m256i;
    /// Returns `sum` plus sums of two neighbouring products of 16 bits.
    ///
    /// # Safety
    /// The processor must have the instructions.
    unsafe fn add_pairs(sum: __m256i, a: __m256i, b: __m256i) -> __m256i;
}

/// AVX2 alone.
pub struct Avx2;

impl Bytes for Avx2 {
    #[inline(always)]
    unsafe fn dot(unsigned: __m256i, signed: __m256i) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_madd_epi16(_mm256_maddubs_epi16(unsigned, signed), _mm256_set1_epi16(1)) }
    }

    #[inline(always)]
    unsafe fn dots<const WIDE: bool>(unsigned: [__m256i; 2], signed: [__m256i; 2]) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if WIDE {
                return _mm256_add_epi32(Self::dot(unsigned[0], signed[0]), Self::dot(unsigned[1], signed[1]));
            }
            let sums = _mm256_add_epi16(_mm256_maddubs_epi16(unsigned[0], signed[0]), _mm256_maddubs_epi16(unsigned[1], signed[1]));
            _mm256_madd_epi16(sums, _mm256_set1_epi16(1))
        }
    }

    #[inline(always)]
    unsafe fn add_pairs(sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)) }
    }
}

/// AVX2 and the VNNI instructions of AVX-512.
pub struct Vnni;

impl Bytes for Vnni {
    #[inline(always)]
    unsafe fn dot(unsigned: __m256i, signed: __m256i) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_dpbusd_epi32(_mm256_setzero_si256(), unsigned, signed) }
    }

    #[inline(always)]
    unsafe fn dots<const WIDE: bool>(unsigned: [__m256i; 2], signed: [__m256i; 2]) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_dpbusd_epi32(Self::dot(unsigned[0], signed[0]), unsigned[1], signed[1]) }
    }

    #[inline(always)]
    unsafe fn add_pairs(sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_dpwssd_epi32(sum, a, b) }
    }
}

/// The distance in bytes between the weights that a kernel multiplies and the weights that it requests from memory.
const AHEAD: usize = 2048;

/// Requests `bytes` bytes of weights, which the kernel reads later. Without requests, a processor waits at each new page.
#[inline(always)]
pub unsafe fn request(w: *const u8, bytes: usize) {
    for line in (0..bytes).step_by(64) {
        // SAFETY: the caller guarantees the instruction, which ignores addresses without memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(w.wrapping_add(AHEAD + line).cast()) }
    }
}

/// Blocks of 32 numbers whose scales are converted together.
pub(crate) const EIGHT: usize = 8;

/// Returns the scales of `count` blocks from `w` on, at most eight, each of `step` bytes: the float16 numbers at byte `at`, followed by two
/// more bytes. `order` has the block of each lane. The other scales are 0.
#[inline(always)]
pub unsafe fn gathered(w: *const u8, at: usize, step: usize, count: usize, order: [usize; EIGHT]) -> __m256 {
    // SAFETY: the caller guarantees that the blocks exist and that the processor has F16C.
    unsafe {
        // The upper halves are not used. Loading them avoids a shuffle.
        let one = |i: usize| if order[i] < count { _mm_loadu_si32(w.add(order[i] * step + at)) } else { _mm_setzero_si128() };
        let two = |i: usize| _mm_unpacklo_epi16(one(i), one(i + 1));
        let four = |i: usize| _mm_unpacklo_epi32(two(i), two(i + 2));
        _mm256_cvtph_ps(_mm_unpacklo_epi64(four(0), four(4)))
    }
}

/// Returns the sum of all lanes.
#[inline(always)]
pub unsafe fn total(x: __m256) -> f32 {
    // SAFETY: the caller guarantees that the processor has AVX2.
    unsafe {
        let x = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x));
        let x = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)))
    }
}

/// Returns the 32 codes of four bits at `w`: the lower halves of the bytes, then the upper halves.
#[inline(always)]
pub unsafe fn nibbles(w: *const u8) -> __m256i {
    // SAFETY: the caller guarantees 16 bytes and AVX2.
    unsafe {
        let x = _mm_loadu_si128(w.cast());
        let both = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(x), _mm_srli_epi16::<4>(x));
        _mm256_and_si256(both, _mm256_set1_epi8(15))
    }
}

/// Returns the numbers of a table that codes of four bits select.
#[inline(always)]
pub unsafe fn selected(table: &[i8; 16], codes: __m256i) -> __m256i {
    // SAFETY: the caller guarantees AVX2.
    unsafe { _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())), codes) }
}
