//! Kernels of AVX2 for blocks of 32 codes of four or five bits. A register has the halves of two blocks, as the halves of bytes have them,
//! and the activations are paired in the same order: see [`Activations::paired`](super::activations::Activations).

use super::activations::{ORDER, Row};
use super::avx2::{Avx2, Bytes, EIGHT, gathered, request, total};
use super::tile::Dots;
use crate::cpu::simd::with_avx2;
use std::arch::x86_64::*;
use std::marker::PhantomData;
use thorn_blocks::{CURVE, E2M1, half_power};

/// The numbers of codes.
pub enum Numbers {
    /// The code less an integer.
    Less(u8),
    /// The code times the scale, plus the float16 number at byte 2.
    Offset,
    /// The entry of a table.
    Table(&'static [i8; 16]),
}

/// A structure of blocks of 32 numbers, with 16 bytes of codes at its end.
pub trait Paired {
    /// The size of a block in bytes.
    const BYTES: usize;
    /// The numbers of codes.
    const NUMBERS: Numbers;
    /// True if four bytes before the codes have a fifth bit of each.
    const FIVE: bool = false;
    /// True if the scale is the exponent of a power of two; false if it is float16.
    const POWER: bool = false;
}

/// Products with blocks of codes of four or five bits.
pub struct OfPaired<P, B>(PhantomData<(P, B)>);

impl<P, B> Default for OfPaired<P, B> {
    fn default() -> Self {
        OfPaired(PhantomData)
    }
}

/// Returns 16 in the bytes whose bits are set in the words of `bits`, one word for each lane of 128 bits.
#[inline(always)]
unsafe fn fifth(bits: __m256i, upper: bool) -> __m256i {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let (first, second) = if upper { (0x0202_0202_0202_0202, 0x0303_0303_0303_0303) } else { (0, 0x0101_0101_0101_0101) };
        let bit_of_each = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64 as i64);
        let set = _mm256_and_si256(_mm256_shuffle_epi8(bits, _mm256_setr_epi64x(first, second, first, second)), bit_of_each);
        _mm256_and_si256(_mm256_cmpeq_epi8(set, bit_of_each), _mm256_set1_epi8(16))
    }
}

impl<P: Paired, B: Bytes> OfPaired<P, B> {
    /// Returns the first halves of the codes of two blocks, and the second halves. Without `both`, the second block is absent.
    #[inline(always)]
    unsafe fn codes(w: *const u8, both: bool) -> [__m256i; 2] {
        // SAFETY: the caller guarantees that the blocks exist.
        unsafe {
            let at = P::BYTES - 16;
            let second = if both { _mm_loadu_si128(w.add(P::BYTES + at).cast()) } else { _mm_setzero_si128() };
            let bytes = _mm256_set_m128i(second, _mm_loadu_si128(w.add(at).cast()));
            let low = _mm256_set1_epi8(15);
            let mut codes = [_mm256_and_si256(bytes, low), _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low)];
            if P::FIVE {
                let word = |w: *const u8| _mm_set1_epi32(w.add(at - 4).cast::<i32>().read_unaligned());
                let bits = _mm256_set_m128i(if both { word(w.add(P::BYTES)) } else { _mm_setzero_si128() }, word(w));
                codes = [_mm256_or_si256(codes[0], fifth(bits, false)), _mm256_or_si256(codes[1], fifth(bits, true))];
            }
            if let Numbers::Table(table) = P::NUMBERS {
                let table = _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()));
                codes = codes.map(|codes| _mm256_shuffle_epi8(table, codes));
            }
            codes
        }
    }

    /// Returns the scales of `count` blocks.
    #[inline(always)]
    unsafe fn scales(w: *const u8, count: usize) -> __m256 {
        // SAFETY: the caller guarantees that the blocks exist.
        unsafe {
            if P::POWER {
                let scale = |i: usize| if i < count { half_power(*w.add(i * P::BYTES)) } else { 0.0 };
                let scales = ORDER.map(scale);
                return _mm256_loadu_ps(scales.as_ptr());
            }
            gathered(w, 0, P::BYTES, count, ORDER)
        }
    }

    /// Adds the products of `count` blocks, at most eight, from `block` on.
    #[inline(always)]
    unsafe fn add<const R: usize>(w: *const u8, block: usize, count: usize, a: &[Row; R], sums: &mut [__m256; R]) {
        // SAFETY: the caller guarantees that the rows have the blocks; zeros follow the activations.
        unsafe {
            let w = w.add(block * P::BYTES);
            let scales = Self::scales(w, count);
            let of_a: [__m256; R] = std::array::from_fn(|r| _mm256_loadu_ps(a[r].scales.add(block)));
            let factors = of_a.map(|of_a| _mm256_mul_ps(scales, of_a));
            let offsets = match P::NUMBERS {
                Numbers::Less(by) => Some(_mm256_mul_ps(scales, _mm256_set1_ps(-f32::from(by)))),
                Numbers::Offset => Some(gathered(w, 2, P::BYTES, count, ORDER)),
                Numbers::Table(_) => None,
            };
            if let Some(offsets) = offsets {
                for r in 0..R {
                    let of_groups = _mm256_loadu_si256(a[r].sums.add(block * 2).cast());
                    let of_blocks = _mm256_cvtepi32_ps(_mm256_madd_epi16(of_groups, _mm256_set1_epi16(1)));
                    sums[r] = _mm256_fmadd_ps(_mm256_mul_ps(offsets, of_a[r]), of_blocks, sums[r]);
                }
            }
            for pair in 0..count.div_ceil(2) {
                let codes = Self::codes(w.add(2 * pair * P::BYTES), 2 * pair + 1 < count);
                for r in 0..R {
                    let x = [0, 32].map(|i| _mm256_loadu_si256(a[r].codes.add((block + 2 * pair) * 32 + i).cast()));
                    let products = match P::NUMBERS {
                        Numbers::Table(_) => {
                            let x = [_mm256_sign_epi8(x[0], codes[0]), _mm256_sign_epi8(x[1], codes[1])];
                            B::dots::<true>(codes.map(|codes| _mm256_sign_epi8(codes, codes)), x)
                        }
                        _ => B::dots::<false>(codes, x),
                    };
                    let factor = _mm256_permutevar_ps(factors[r], _mm256_set1_epi32(pair as i32));
                    sums[r] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(products), factor, sums[r]);
                }
            }
        }
    }
}

impl<P: Paired, B: Bytes> Dots for OfPaired<P, B> {
    #[inline(always)]
    unsafe fn dots<const R: usize>(&self, w: *const u8, blocks: usize, a: [Row; R]) -> [f32; R] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let mut sums = [_mm256_setzero_ps(); R];
            let whole = blocks - blocks % EIGHT;
            for block in (0..whole).step_by(EIGHT) {
                request(w.add(block * P::BYTES), EIGHT * P::BYTES);
                Self::add(w, block, EIGHT, &a, &mut sums);
            }
            for r in (0..R).filter(|_| whole < blocks) {
                sums[r] = rest::<P>(w, whole, blocks - whole, a[r], sums[r]);
            }
            sums.map(|sums| total(sums))
        }
    }
}

with_avx2! {
    /// Returns `sum` plus the product of the last `count` blocks, fewer than eight. A separate function, because it is seldom called.
    #[inline(never)]
    unsafe fn rest<P: Paired>(w: *const u8, block: usize, count: usize, a: Row, sum: __m256) -> __m256 {
        let mut sums = [sum];
        // SAFETY: the caller keeps the contract of `Dots::dots`.
        unsafe { OfPaired::<P, Avx2>::add(w, block, count, &[a], &mut sums) };
        sums[0]
    }
}

/// Four bits with a scale.
pub struct Q4_0;

impl Paired for Q4_0 {
    const BYTES: usize = 18;
    const NUMBERS: Numbers = Numbers::Less(8);
}

/// Four bits with a scale and a smallest number.
pub struct Q4_1;

impl Paired for Q4_1 {
    const BYTES: usize = 20;
    const NUMBERS: Numbers = Numbers::Offset;
}

/// Five bits with a scale.
pub struct Q5_0;

impl Paired for Q5_0 {
    const BYTES: usize = 22;
    const NUMBERS: Numbers = Numbers::Less(16);
    const FIVE: bool = true;
}

/// Five bits with a scale and a smallest number.
pub struct Q5_1;

impl Paired for Q5_1 {
    const BYTES: usize = 24;
    const NUMBERS: Numbers = Numbers::Offset;
    const FIVE: bool = true;
}

/// Four bits that select one of 16 numbers, with a scale.
pub struct IQ4Nl;

impl Paired for IQ4Nl {
    const BYTES: usize = 18;
    const NUMBERS: Numbers = Numbers::Table(&CURVE);
}

/// Floats of four bits, with a power of two as the scale.
pub struct MXFP4;

impl Paired for MXFP4 {
    const BYTES: usize = 17;
    const NUMBERS: Numbers = Numbers::Table(&E2M1);
    const POWER: bool = true;
}
