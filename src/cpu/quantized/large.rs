//! Kernels of AVX2 for blocks of 256 numbers with integer scales: the sum of a block is an integer.

use super::activations::Row;
use super::avx2::{Bytes, nibbles, request, selected, total};
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
                request(w, L::BYTES);
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

/// A structure with a scale for each 16 numbers, and codes from 0 on.
pub trait Sixteen {
    /// The size of a block in bytes.
    const BYTES: usize;
    /// The byte at which the scale of the block begins.
    const SCALE: usize;
    /// The code of 0 is this power of two; `None` if it is 0.
    const ZERO: Option<i32>;
    /// Returns the scales of the 16 groups.
    ///
    /// # Safety
    /// As for [`Large::scale`].
    unsafe fn scales(w: *const u8) -> __m256i;
    /// Returns the codes of numbers `128 * half` to `128 * half + 127`.
    ///
    /// # Safety
    /// As for [`Large::scale`].
    unsafe fn codes(w: *const u8, half: usize) -> [__m256i; 4];
    /// See [`Large::offsets`].
    ///
    /// # Safety
    /// As for [`Large::scale`].
    #[inline(always)]
    unsafe fn least(_w: *const u8) -> Option<(f32, __m256i)> {
        None
    }
}

/// A structure of [`Sixteen`] as a [`Large`] one.
pub struct OfSixteen<S>(PhantomData<S>);

impl<S: Sixteen> Large for OfSixteen<S> {
    const BYTES: usize = S::BYTES;

    #[inline(always)]
    unsafe fn scale(w: *const u8) -> f32 {
        // SAFETY: the caller keeps this function's contract.
        unsafe { half(w.add(S::SCALE)) }
    }

    #[inline(always)]
    unsafe fn sums<B: Bytes, const R: usize>(w: *const u8, a: &[Row; R], at: usize) -> [__m256i; R] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let scales = S::scales(w);
            let mut sums = [_mm256_setzero_si256(); R];
            if let Some(zero) = S::ZERO {
                for r in 0..R {
                    let zeros = _mm256_sll_epi32(_mm256_madd_epi16(scales, group_sums(&a[r], at)), _mm_cvtsi32_si128(zero));
                    sums[r] = _mm256_sub_epi32(sums[r], zeros);
                }
            }
            for half in 0..2 {
                let scales = if half == 0 {
                    _mm256_permute2x128_si256::<0x00>(scales, scales)
                } else {
                    _mm256_permute2x128_si256::<0x11>(scales, scales)
                };
                for (v, weights) in S::codes(w, half).into_iter().enumerate() {
                    // The lower lane has the scale of the first 16 numbers, and the upper lane has the scale of the other 16.
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

    #[inline(always)]
    unsafe fn offsets<const R: usize>(w: *const u8, a: &[Row; R], at: usize) -> Option<(f32, [__m256i; R])> {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let (scale, least) = S::least(w)?;
            Some((scale, std::array::from_fn(|r| _mm256_madd_epi16(least, group_sums(&a[r], at)))))
        }
    }
}

/// Returns the codes of two bits of 32 bytes: each byte has four codes, which are 32 numbers apart.
#[inline(always)]
unsafe fn two_bits(w: *const u8) -> [__m256i; 4] {
    // SAFETY: the caller guarantees 32 bytes and AVX2.
    unsafe {
        let (x, low) = (_mm256_loadu_si256(w.cast()), _mm256_set1_epi8(3));
        let shifted = [x, _mm256_srli_epi16::<2>(x), _mm256_srli_epi16::<4>(x), _mm256_srli_epi16::<6>(x)];
        shifted.map(|x| _mm256_and_si256(x, low))
    }
}

/// Two bits, with a scale and a smallest number of four bits for each 16 numbers.
pub struct Q2K;

impl Sixteen for Q2K {
    const BYTES: usize = 84;
    const SCALE: usize = 80;
    const ZERO: Option<i32> = None;

    #[inline(always)]
    unsafe fn scales(w: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_and_si256(_mm256_cvtepu8_epi16(_mm_loadu_si128(w.cast())), _mm256_set1_epi16(15)) }
    }

    #[inline(always)]
    unsafe fn codes(w: *const u8, half: usize) -> [__m256i; 4] {
        // SAFETY: the caller keeps this function's contract.
        unsafe { two_bits(w.add(16 + 32 * half)) }
    }

    #[inline(always)]
    unsafe fn least(w: *const u8) -> Option<(f32, __m256i)> {
        // SAFETY: the caller keeps this function's contract.
        unsafe { Some((half(w.add(82)), _mm256_srli_epi16::<4>(_mm256_cvtepu8_epi16(_mm_loadu_si128(w.cast()))))) }
    }
}

/// Three bits, with a scale of six bits for each 16 numbers; code 4 means 0.
pub struct Q3K;

impl Sixteen for Q3K {
    const BYTES: usize = 110;
    const SCALE: usize = 108;
    const ZERO: Option<i32> = Some(2);

    #[inline(always)]
    unsafe fn scales(w: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            // The first 8 of 12 bytes have four bits of each scale, and the last 4 bytes have two.
            let [a, b, c] = w.add(96).cast::<[u32; 3]>().read_unaligned();
            let scale = |lower: u32, upper: u32| (lower & 0x0f0f_0f0f | (upper & 0x0303_0303) << 4) as i32;
            let scales = _mm_setr_epi32(scale(a, c), scale(b, c >> 2), scale(a >> 4, c >> 4), scale(b >> 4, c >> 6));
            _mm256_sub_epi16(_mm256_cvtepu8_epi16(scales), _mm256_set1_epi16(32))
        }
    }

    #[inline(always)]
    unsafe fn codes(w: *const u8, half: usize) -> [__m256i; 4] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let (bits, four) = (_mm256_loadu_si256(w.cast()), _mm256_set1_epi8(4));
            // The third bits of the numbers of this half are bits 0 to 3 or 4 to 7.
            let bits = if half == 0 { bits } else { _mm256_srli_epi16::<4>(bits) };
            let third = [_mm256_slli_epi16::<2>(bits), _mm256_slli_epi16::<1>(bits), bits, _mm256_srli_epi16::<1>(bits)];
            let codes = two_bits(w.add(32 + 32 * half));
            std::array::from_fn(|v| _mm256_or_si256(codes[v], _mm256_and_si256(third[v], four)))
        }
    }
}

/// Six bits, with a scale of eight bits for each 16 numbers; code 32 means 0.
pub struct Q6K;

impl Sixteen for Q6K {
    const BYTES: usize = 210;
    const SCALE: usize = 208;
    const ZERO: Option<i32> = Some(5);

    #[inline(always)]
    unsafe fn scales(w: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_cvtepi8_epi16(_mm_loadu_si128(w.add(192).cast())) }
    }

    #[inline(always)]
    unsafe fn codes(w: *const u8, half: usize) -> [__m256i; 4] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let (low, high) = (_mm256_set1_epi8(15), _mm256_set1_epi8(0x30));
            let [x, y] = [0, 32].map(|i| _mm256_loadu_si256(w.add(64 * half + i).cast()));
            let upper = _mm256_loadu_si256(w.add(128 + 32 * half).cast());
            let upper = [_mm256_slli_epi16::<4>(upper), _mm256_slli_epi16::<2>(upper), upper, _mm256_srli_epi16::<2>(upper)];
            let lower = [x, y, _mm256_srli_epi16::<4>(x), _mm256_srli_epi16::<4>(y)];
            std::array::from_fn(|v| _mm256_or_si256(_mm256_and_si256(lower[v], low), _mm256_and_si256(upper[v], high)))
        }
    }
}

/// -1, 0, 1 or 2 in two bits, with a scale; code 1 means 0.
pub struct TQ2_0;

impl Sixteen for TQ2_0 {
    const BYTES: usize = 66;
    const SCALE: usize = 64;
    const ZERO: Option<i32> = Some(0);

    #[inline(always)]
    unsafe fn scales(_: *const u8) -> __m256i {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_set1_epi16(1) }
    }

    #[inline(always)]
    unsafe fn codes(w: *const u8, half: usize) -> [__m256i; 4] {
        // SAFETY: the caller keeps this function's contract.
        unsafe { two_bits(w.add(32 * half)) }
    }
}

/// -1, 0 or 1 as digits of base 3, five in a byte, with a scale.
pub struct TQ1_0;

impl TQ1_0 {
    /// Returns the first digits of bytes, which are fractions of 256.
    #[inline(always)]
    unsafe fn digits(x: __m256i) -> __m256i {
        // SAFETY: the caller guarantees AVX2.
        unsafe {
            // Three times the byte is at least 256 from 86 on, and at least 512 from 171 on.
            let reaches = |least: u8| _mm256_cmpeq_epi8(_mm256_max_epu8(x, _mm256_set1_epi8(least as i8)), x);
            _mm256_sub_epi8(_mm256_sub_epi8(_mm256_setzero_si256(), reaches(86)), reaches(171))
        }
    }

    /// Returns digits `128 * half` to `128 * half + 127` of the block at `w`.
    #[inline(always)]
    unsafe fn codes(w: *const u8, half: usize) -> [__m256i; 4] {
        // SAFETY: the caller guarantees the block and AVX2.
        unsafe {
            // Without its first digit, a byte is three times as large, modulo 256.
            let next = |x: __m256i| _mm256_add_epi8(x, _mm256_add_epi8(x, x));
            let first = _mm256_loadu_si256(w.cast());
            let second = next(first);
            let third = next(second);
            let fourth = next(third);
            if half == 0 {
                return [first, second, third, fourth].map(|x| Self::digits(x));
            }
            // Digits of 16 bytes, and four digits of the last 4 bytes.
            let once = |x: __m128i| _mm256_castsi256_si128(next(_mm256_castsi128_si256(x)));
            let x = _mm_loadu_si128(w.add(32).cast());
            let digits = _mm256_set_m128i(once(x), x);
            let later = next(next(digits));
            let last = _mm256_castsi256_si128(next(next(later)));
            let few = _mm_set1_epi32(w.add(48).cast::<i32>().read_unaligned());
            let powers = _mm256_setr_epi16(1, 1, 1, 1, 3, 3, 3, 3, 9, 9, 9, 9, 27, 27, 27, 27);
            let products = _mm256_and_si256(_mm256_mullo_epi16(_mm256_cvtepu8_epi16(few), powers), _mm256_set1_epi16(255));
            let few = _mm_packus_epi16(_mm256_castsi256_si128(products), _mm256_extracti128_si256::<1>(products));
            [next(fourth), digits, later, _mm256_set_m128i(few, last)].map(|x| Self::digits(x))
        }
    }
}

impl Large for TQ1_0 {
    const BYTES: usize = 54;

    #[inline(always)]
    unsafe fn scale(w: *const u8) -> f32 {
        // SAFETY: the caller keeps this function's contract.
        unsafe { half(w.add(52)) }
    }

    #[inline(always)]
    unsafe fn sums<B: Bytes, const R: usize>(w: *const u8, a: &[Row; R], at: usize) -> [__m256i; R] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let mut sums = [_mm256_setzero_si256(); R];
            for half in 0..2 {
                for (v, digits) in Self::codes(w, half).into_iter().enumerate() {
                    let weights = _mm256_sub_epi8(digits, _mm256_set1_epi8(1));
                    for r in 0..R {
                        let products = _mm256_sign_epi8(codes(&a[r], at + 128 * half + 32 * v), weights);
                        let pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), products);
                        sums[r] = B::add_pairs(sums[r], pairs, _mm256_set1_epi16(1));
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
                let scale = (lower >> (4 * g) & 15) as i16 + 16 * (upper >> (2 * g) & 3) as i16;
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
