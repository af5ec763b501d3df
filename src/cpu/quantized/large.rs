//! Kernels of AVX2 for blocks of 256 numbers with integer scales: the sum of a block is an integer.

use super::activations::Row;
use super::avx2::{Bytes, nibbles, selected, total};
use super::tile::Dots;
use std::arch::x86_64::*;
use std::marker::PhantomData;
use thorn_blocks::{CURVE, MOST};

/// A structure of blocks of 256 numbers.
pub trait Large {
    /// The size of a block in bytes.
    const BYTES: usize;
    /// Returns the scale of the block at `w`.
    ///
    /// # Safety
    /// The block must exist, and the processor must have AVX2.
    unsafe fn scale(w: *const u8) -> f32;
    /// Returns eight sums for each row of activations, whose numbers begin at `at`. The product of the block and the row is the scale
    /// times the total of the sums.
    ///
    /// # Safety
    /// As for [`Large::scale`]. The rows must have the numbers.
    unsafe fn sums<B: Bytes, const R: usize>(w: *const u8, a: &[Row; R], at: usize) -> [__m256i; R];
    /// Returns the scale and eight sums for each row of the product with the smallest numbers, if the structure has them.
    ///
    /// # Safety
    /// As for [`Large::sums`].
    #[inline(always)]
    unsafe fn offsets<const R: usize>(_w: *const u8, _a: &[Row; R], _at: usize) -> Option<(f32, [__m256i; R])> {
        None
    }
}

/// Products with blocks of 256 numbers.
pub struct OfLarge<L, B>(PhantomData<(L, B)>);

impl<L, B> Default for OfLarge<L, B> {
    fn default() -> Self {
        OfLarge(PhantomData)
    }
}

impl<L: Large, B: Bytes> Dots for OfLarge<L, B> {
    #[inline(always)]
    unsafe fn dots<const R: usize>(&self, w: *const u8, blocks: usize, a: [Row; R]) -> [f32; R] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let mut totals = [_mm256_setzero_ps(); R];
            for block in 0..blocks {
                let (w, at) = (w.add(block * L::BYTES), block * MOST);
                let scale = L::scale(w);
                let of_a: [f32; R] = std::array::from_fn(|r| *a[r].scales.add(block));
                let sums = L::sums::<B, R>(w, &a, at);
                for r in 0..R {
                    totals[r] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums[r]), _mm256_set1_ps(scale * of_a[r]), totals[r]);
                }
                if let Some((scale, sums)) = L::offsets(w, &a, at) {
                    for r in 0..R {
                        totals[r] = _mm256_fnmadd_ps(_mm256_cvtepi32_ps(sums[r]), _mm256_set1_ps(scale * of_a[r]), totals[r]);
                    }
                }
            }
            totals.map(|sums| total(sums))
        }
    }
}

/// Returns the float16 at `w`.
#[inline(always)]
unsafe fn half(w: *const u8) -> f32 {
    // SAFETY: the caller guarantees that the number exists and that the processor has F16C.
    unsafe { _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(w.cast::<u16>().read_unaligned().into()))) }
}

/// Returns the codes of 32 numbers of a row, from `at` on.
#[inline(always)]
unsafe fn codes(a: &Row, at: usize) -> __m256i {
    // SAFETY: the caller guarantees that the row has the numbers.
    unsafe { _mm256_loadu_si256(a.codes.add(at).cast()) }
}

/// Returns the sums of the 16 groups of a block of a row.
#[inline(always)]
unsafe fn group_sums(a: &Row, at: usize) -> __m256i {
    // SAFETY: the caller guarantees that the row has the block.
    unsafe { _mm256_loadu_si256(a.sums.add(at / 16).cast()) }
}

/// Four or five bits, with a scale and a smallest number of six bits for each 32 numbers.
pub struct Pairs<const FIVE: bool>;

impl<const FIVE: bool> Pairs<FIVE> {
    /// Returns the eight scales, or the eight smallest numbers, as bytes.
    #[inline(always)]
    unsafe fn six_bits(w: *const u8, least: bool) -> __m128i {
        // SAFETY: the caller guarantees that the block exists.
        let [a, b, both] = unsafe { w.add(4).cast::<[u32; 3]>().read_unaligned() };
        let (own, both) = if least { (b, both >> 4) } else { (a, both) };
        let lower = own & 0x3f3f_3f3f;
        let upper = both & 0x0f0f_0f0f | own >> 2 & 0x3030_3030;
        // SAFETY: every x86-64 processor has SSE2.
        unsafe { _mm_set_epi64x(0, (u64::from(upper) << 32 | u64::from(lower)) as i64) }
    }
}

impl<const FIVE: bool> Large for Pairs<FIVE> {
    const BYTES: usize = if FIVE { 176 } else { 144 };

    #[inline(always)]
    unsafe fn scale(w: *const u8) -> f32 {
        // SAFETY: the caller keeps this function's contract.
        unsafe { half(w) }
    }

    #[inline(always)]
    unsafe fn sums<B: Bytes, const R: usize>(w: *const u8, a: &[Row; R], at: usize) -> [__m256i; R] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let scales = _mm256_broadcastsi128_si256(_mm_cvtepu8_epi16(Self::six_bits(w, false)));
            let low = _mm256_set1_epi8(15);
            let mut fifth = if FIVE { _mm256_loadu_si256(w.add(16).cast()) } else { low };
            let mut sums = [_mm256_setzero_si256(); R];
            for j in 0..4 {
                let bytes = _mm256_loadu_si256(w.add(if FIVE { 48 } else { 16 } + 32 * j).cast());
                let (mut first, mut second) = (_mm256_and_si256(bytes, low), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low));
                if FIVE {
                    let bit = _mm256_set1_epi8(16);
                    first = _mm256_or_si256(first, _mm256_and_si256(_mm256_slli_epi16::<4>(fifth), bit));
                    second = _mm256_or_si256(second, _mm256_and_si256(_mm256_slli_epi16::<3>(fifth), bit));
                    fifth = _mm256_srli_epi16::<2>(fifth);
                }
                let scale = |g: usize| _mm256_shuffle_epi8(scales, _mm256_set1_epi16((0x0100 + 0x0202 * g) as i16));
                let (of_first, of_second) = (scale(2 * j), scale(2 * j + 1));
                for r in 0..R {
                    let x = _mm256_maddubs_epi16(first, codes(&a[r], at + 64 * j));
                    let y = _mm256_maddubs_epi16(second, codes(&a[r], at + 64 * j + 32));
                    sums[r] = B::add_pairs(B::add_pairs(sums[r], x, of_first), y, of_second);
                }
            }
            sums
        }
    }

    #[inline(always)]
    unsafe fn offsets<const R: usize>(w: *const u8, a: &[Row; R], at: usize) -> Option<(f32, [__m256i; R])> {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let least = Self::six_bits(w, true);
            let of_groups = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(least, least));
            Some((half(w.add(2)), std::array::from_fn(|r| _mm256_madd_epi16(of_groups, group_sums(&a[r], at)))))
        }
    }
}

/// Six bits, with a scale of eight bits for each 16 numbers; code 32 means 0.
pub struct Q6K;

impl Large for Q6K {
    const BYTES: usize = 210;

    #[inline(always)]
    unsafe fn scale(w: *const u8) -> f32 {
        // SAFETY: the caller keeps this function's contract.
        unsafe { half(w.add(208)) }
    }

    #[inline(always)]
    unsafe fn sums<B: Bytes, const R: usize>(w: *const u8, a: &[Row; R], at: usize) -> [__m256i; R] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let scales = _mm256_cvtepi8_epi16(_mm_loadu_si128(w.add(192).cast()));
            let (low, high) = (_mm256_set1_epi8(15), _mm256_set1_epi8(0x30));
            let mut sums: [__m256i; R] = std::array::from_fn(|r| {
                let offsets = _mm256_madd_epi16(scales, group_sums(&a[r], at));
                _mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32::<5>(offsets))
            });
            for half in 0..2 {
                let [x, y] = [0, 32].map(|i| _mm256_loadu_si256(w.add(64 * half + i).cast()));
                let upper = _mm256_loadu_si256(w.add(128 + 32 * half).cast());
                let scales = if half == 0 {
                    _mm256_permute2x128_si256::<0x00>(scales, scales)
                } else {
                    _mm256_permute2x128_si256::<0x11>(scales, scales)
                };
                let weights = [
                    _mm256_or_si256(_mm256_and_si256(x, low), _mm256_and_si256(_mm256_slli_epi16::<4>(upper), high)),
                    _mm256_or_si256(_mm256_and_si256(y, low), _mm256_and_si256(_mm256_slli_epi16::<2>(upper), high)),
                    _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16::<4>(x), low), _mm256_and_si256(upper, high)),
                    _mm256_or_si256(
                        _mm256_and_si256(_mm256_srli_epi16::<4>(y), low),
                        _mm256_and_si256(_mm256_srli_epi16::<2>(upper), high),
                    ),
                ];
                for (v, weights) in weights.into_iter().enumerate() {
                    // The scale of the first 16 numbers in the lower lane, that of the others in the upper lane.
                    let index = |g: usize| _mm_set1_epi16((0x0100 + 0x0202 * g) as i16);
                    let scale = _mm256_shuffle_epi8(scales, _mm256_set_m128i(index(2 * v + 1), index(2 * v)));
                    for r in 0..R {
                        let products = _mm256_maddubs_epi16(weights, codes(&a[r], at + 128 * half + 32 * v));
                        sums[r] = B::add_pairs(sums[r], products, scale);
                    }
                }
            }
            sums
        }
    }
}

/// Four bits that select one of 16 numbers, with a scale of six bits for each 32 numbers.
pub struct IQ4Xs;

impl Large for IQ4Xs {
    const BYTES: usize = 136;

    #[inline(always)]
    unsafe fn scale(w: *const u8) -> f32 {
        // SAFETY: the caller keeps this function's contract.
        unsafe { half(w) }
    }

    #[inline(always)]
    unsafe fn sums<B: Bytes, const R: usize>(w: *const u8, a: &[Row; R], at: usize) -> [__m256i; R] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let (upper, lower) = (w.add(2).cast::<u16>().read_unaligned(), w.add(4).cast::<u32>().read_unaligned());
            let mut sums = [_mm256_setzero_si256(); R];
            for g in 0..8 {
                let scale = (lower >> (4 * g) & 15) as i16 | (upper >> (2 * g) & 3) as i16 * 16;
                let scale = _mm256_set1_epi16(scale - 32);
                let weights = selected(&CURVE, nibbles(w.add(8 + 16 * g)));
                let magnitudes = _mm256_sign_epi8(weights, weights);
                for r in 0..R {
                    let x = _mm256_sign_epi8(codes(&a[r], at + 32 * g), weights);
                    sums[r] = B::add_pairs(sums[r], _mm256_maddubs_epi16(magnitudes, x), scale);
                }
            }
            sums
        }
    }
}
