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
    unsafe fn add_pairs(sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_dpwssd_epi32(sum, a, b) }
    }
}

/// Returns `count` numbers of 16 bits, `step` bytes apart, as float32; the other numbers are 0.
#[inline(always)]
pub unsafe fn gathered(w: *const u8, step: usize, count: usize) -> __m256 {
    // SAFETY: the caller guarantees that the numbers exist and that the processor has F16C.
    unsafe {
        let mut halves = [0u16; 8];
        for i in 0..count {
            halves[i] = w.add(i * step).cast::<u16>().read_unaligned();
        }
        _mm256_cvtph_ps(_mm_loadu_si128(halves.as_ptr().cast()))
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
