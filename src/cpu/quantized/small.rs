//! Kernels of AVX2 for blocks of 32 numbers.

use super::activations::Row;
use super::avx2::{Bytes, gathered, nibbles, selected, total};
use super::tile::Dots;
use std::arch::x86_64::*;
use std::marker::PhantomData;
use thorn_blocks::{CURVE, E2M1, half_power};

/// A structure of blocks of 32 numbers.
pub trait Small {
    /// The size of a block in bytes.
    const BYTES: usize;
    /// True if codes are signed bytes; false if they are less than 64.
    const SIGNED: bool;
    /// Returns the codes of the block at `w`.
    ///
    /// # Safety
    /// The block must exist, and the processor must have AVX2.
    unsafe fn codes(w: *const u8) -> __m256i;
    /// Returns the scales of `count` blocks from `w` on, at most eight; the other scales are 0.
    ///
    /// # Safety
    /// As for [`Small::codes`].
    #[inline(always)]
    unsafe fn scales(w: *const u8, count: usize) -> __m256 {
        // SAFETY: the caller keeps this function's contract.
        unsafe { gathered(w, Self::BYTES, count) }
    }
    /// Returns the offsets of eight blocks with these scales, if the structure has offsets: a number is `scale * code + offset`.
    ///
    /// # Safety
    /// As for [`Small::codes`].
    #[inline(always)]
    unsafe fn offsets(_scales: __m256, _w: *const u8, _count: usize) -> Option<__m256> {
        None
    }
}

/// Products with blocks of 32 numbers.
pub struct OfSmall<S, B>(PhantomData<(S, B)>);

impl<S, B> Default for OfSmall<S, B> {
    fn default() -> Self {
        OfSmall(PhantomData)
    }
}

/// Blocks whose scales are converted together.
const EIGHT: usize = 8;

impl<S: Small, B: Bytes> OfSmall<S, B> {
    /// Adds the products of `count` blocks, at most eight, from `block` on.
    #[inline(always)]
    unsafe fn add<const R: usize>(w: *const u8, block: usize, count: usize, a: &[Row; R], sums: &mut [__m256; R]) {
        // SAFETY: the caller guarantees that the rows have the blocks; zeros follow the activations.
        unsafe {
            let w = w.add(block * S::BYTES);
            let scales = S::scales(w, count);
            let of_a: [__m256; R] = std::array::from_fn(|r| _mm256_loadu_ps(a[r].scales.add(block)));
            let mut factors = [[0f32; EIGHT]; R];
            for r in 0..R {
                _mm256_storeu_ps(factors[r].as_mut_ptr(), _mm256_mul_ps(scales, of_a[r]));
            }
            if let Some(offsets) = S::offsets(scales, w, count) {
                for r in 0..R {
                    let of_groups = _mm256_loadu_si256(a[r].sums.add(block * 2).cast());
                    let of_blocks = _mm256_cvtepi32_ps(_mm256_madd_epi16(of_groups, _mm256_set1_epi16(1)));
                    sums[r] = _mm256_fmadd_ps(_mm256_mul_ps(offsets, of_a[r]), of_blocks, sums[r]);
                }
            }
            for i in 0..count {
                let codes = S::codes(w.add(i * S::BYTES));
                let magnitudes = if S::SIGNED { _mm256_sign_epi8(codes, codes) } else { codes };
                for r in 0..R {
                    let x = _mm256_loadu_si256(a[r].codes.add((block + i) * 32).cast());
                    let x = if S::SIGNED { _mm256_sign_epi8(x, codes) } else { x };
                    let products = _mm256_cvtepi32_ps(B::dot(magnitudes, x));
                    sums[r] = _mm256_fmadd_ps(products, _mm256_set1_ps(factors[r][i]), sums[r]);
                }
            }
        }
    }
}

impl<S: Small, B: Bytes> Dots for OfSmall<S, B> {
    #[inline(always)]
    unsafe fn dots<const R: usize>(&self, w: *const u8, blocks: usize, a: [Row; R]) -> [f32; R] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let mut sums = [_mm256_setzero_ps(); R];
            let whole = blocks - blocks % EIGHT;
            for block in (0..whole).step_by(EIGHT) {
                Self::add(w, block, EIGHT, &a, &mut sums);
            }
            if whole < blocks {
                Self::add(w, whole, blocks - whole, &a, &mut sums);
            }
            sums.map(|sum| total(sum))
        }
    }
}

/// Signed bytes with a scale.
pub struct Q8_0;

impl Small for Q8_0 {
    const BYTES: usize = 34;
    const SIGNED: bool = true;
    #[inline(always)]
    unsafe fn codes(w: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_loadu_si256(w.add(2).cast()) }
    }
}

/// Four bits with a scale; code 8 means 0.
pub struct Q4_0;

impl Small for Q4_0 {
    const BYTES: usize = 18;
    const SIGNED: bool = false;
    #[inline(always)]
    unsafe fn codes(w: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { nibbles(w.add(2)) }
    }
    #[inline(always)]
    unsafe fn offsets(scales: __m256, _: *const u8, _: usize) -> Option<__m256> {
        // SAFETY: the caller keeps this function's contract.
        Some(unsafe { _mm256_mul_ps(scales, _mm256_set1_ps(-8.0)) })
    }
}

/// Four bits with a scale and a smallest number.
pub struct Q4_1;

impl Small for Q4_1 {
    const BYTES: usize = 20;
    const SIGNED: bool = false;
    #[inline(always)]
    unsafe fn codes(w: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { nibbles(w.add(4)) }
    }
    #[inline(always)]
    unsafe fn offsets(_: __m256, w: *const u8, count: usize) -> Option<__m256> {
        // SAFETY: the caller keeps this function's contract.
        Some(unsafe { gathered(w.add(2), Self::BYTES, count) })
    }
}

/// Returns 16 in the bytes whose bits are set in the 32 bits at `w`, and 0 in the others.
#[inline(always)]
unsafe fn fifth_bits(w: *const u8) -> __m256i {
    // SAFETY: the caller guarantees 4 bytes and AVX2.
    unsafe {
        let bits = _mm256_set1_epi32(w.cast::<i32>().read_unaligned());
        let byte_of_each = _mm256_setr_epi64x(0, 0x0101_0101_0101_0101, 0x0202_0202_0202_0202, 0x0303_0303_0303_0303);
        let bit_of_each = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        let set = _mm256_and_si256(_mm256_shuffle_epi8(bits, byte_of_each), bit_of_each);
        _mm256_and_si256(_mm256_cmpeq_epi8(set, bit_of_each), _mm256_set1_epi8(16))
    }
}

/// Five bits with a scale; code 16 means 0.
pub struct Q5_0;

impl Small for Q5_0 {
    const BYTES: usize = 22;
    const SIGNED: bool = false;
    #[inline(always)]
    unsafe fn codes(w: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_or_si256(nibbles(w.add(6)), fifth_bits(w.add(2))) }
    }
    #[inline(always)]
    unsafe fn offsets(scales: __m256, _: *const u8, _: usize) -> Option<__m256> {
        // SAFETY: the caller keeps this function's contract.
        Some(unsafe { _mm256_mul_ps(scales, _mm256_set1_ps(-16.0)) })
    }
}

/// Five bits with a scale and a smallest number.
pub struct Q5_1;

impl Small for Q5_1 {
    const BYTES: usize = 24;
    const SIGNED: bool = false;
    #[inline(always)]
    unsafe fn codes(w: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_or_si256(nibbles(w.add(8)), fifth_bits(w.add(4))) }
    }
    #[inline(always)]
    unsafe fn offsets(_: __m256, w: *const u8, count: usize) -> Option<__m256> {
        // SAFETY: the caller keeps this function's contract.
        Some(unsafe { gathered(w.add(2), Self::BYTES, count) })
    }
}

/// Four bits that select one of 16 numbers, with a scale.
pub struct IQ4Nl;

impl Small for IQ4Nl {
    const BYTES: usize = 18;
    const SIGNED: bool = true;
    #[inline(always)]
    unsafe fn codes(w: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { selected(&CURVE, nibbles(w.add(2))) }
    }
}

/// Floats of four bits, with a power of two as the scale.
pub struct MXFP4;

impl Small for MXFP4 {
    const BYTES: usize = 17;
    const SIGNED: bool = true;
    #[inline(always)]
    unsafe fn codes(w: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { selected(&E2M1, nibbles(w.add(1))) }
    }
    #[inline(always)]
    unsafe fn scales(w: *const u8, count: usize) -> __m256 {
        let mut scales = [0.0; EIGHT];
        for i in 0..count {
            // SAFETY: the caller keeps this function's contract.
            scales[i] = half_power(unsafe { *w.add(i * Self::BYTES) });
        }
        // SAFETY: the array has eight numbers.
        unsafe { _mm256_loadu_ps(scales.as_ptr()) }
    }
}
