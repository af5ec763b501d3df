//! The kernel of AVX2 for `Q8_0`: 32 signed bytes with a scale.

use super::activations::Row;
use super::avx2::{Avx2, Bytes, EIGHT, gathered, request, total};
use super::tile::Dots;
use crate::cpu::simd::{opaque, with_avx2};
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// Products with blocks of `Q8_0`.
pub struct Q8_0<B>(PhantomData<B>);

impl<B> Default for Q8_0<B> {
    fn default() -> Self {
        Q8_0(PhantomData)
    }
}

/// The size of a block in bytes.
const BYTES: usize = 34;

impl<B: Bytes> Q8_0<B> {
    /// Adds the products of `count` blocks, at most eight, from `block` on. Blocks with even numbers have separate sums, because an
    /// addition has a latency of several cycles.
    #[inline(always)]
    unsafe fn add<const R: usize>(w: *const u8, block: usize, count: usize, a: &[Row; R], [even, odd]: [&mut [__m256; R]; 2]) {
        // SAFETY: the caller guarantees that the rows have the blocks; zeros follow the activations.
        unsafe {
            let w = w.add(block * BYTES);
            let scales = gathered(w, 0, BYTES, count, [0, 1, 2, 3, 4, 5, 6, 7]);
            let factors: [__m256; R] = std::array::from_fn(|r| _mm256_mul_ps(scales, _mm256_loadu_ps(a[r].scales.add(block))));
            // A load from memory fills a register with one factor. The compiler would take it from the register by two shuffles.
            let factors = opaque(&raw const factors);
            let at = |i: usize| (w.add(i * BYTES + 2), (block + i) * 32, factors.cast::<f32>().add(i));
            for i in (0..count / 2 * 2).step_by(2) {
                Self::add_one(at(i), a, even);
                Self::add_one(at(i + 1), a, odd);
            }
            if count % 2 == 1 {
                Self::add_one(at(count - 1), a, even);
            }
        }
    }

    /// Adds the product of the codes at `w` with those from `first` on. The rows have their factors at `factors`, each eight numbers after
    /// the one before.
    #[inline(always)]
    unsafe fn add_one<const R: usize>((w, first, factors): (*const u8, usize, *const f32), a: &[Row; R], sums: &mut [__m256; R]) {
        // SAFETY: the caller guarantees that the rows have the block.
        unsafe {
            let codes = _mm256_loadu_si256(w.cast());
            let magnitudes = _mm256_sign_epi8(codes, codes);
            for r in 0..R {
                let x = _mm256_sign_epi8(_mm256_loadu_si256(a[r].codes.add(first).cast()), codes);
                let products = _mm256_cvtepi32_ps(B::dot(magnitudes, x));
                sums[r] = _mm256_fmadd_ps(products, _mm256_set1_ps(*factors.add(r * EIGHT)), sums[r]);
            }
        }
    }
}

impl<B: Bytes> Dots for Q8_0<B> {
    #[inline(always)]
    unsafe fn dots<const R: usize>(&self, w: *const u8, blocks: usize, a: [Row; R]) -> [f32; R] {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            let (mut even, mut odd) = ([_mm256_setzero_ps(); R], [_mm256_setzero_ps(); R]);
            let whole = blocks - blocks % EIGHT;
            for block in (0..whole).step_by(EIGHT) {
                request(w.add(block * BYTES), EIGHT * BYTES);
                Self::add(w, block, EIGHT, &a, [&mut even, &mut odd]);
            }
            for r in (0..R).filter(|_| whole < blocks) {
                [even[r], odd[r]] = rest(w, whole, blocks - whole, a[r], [even[r], odd[r]]);
            }
            std::array::from_fn(|r| total(_mm256_add_ps(even[r], odd[r])))
        }
    }
}

with_avx2! {
    /// Returns `sums` plus the products of the last `count` blocks, fewer than eight. A separate function, because it is seldom called.
    #[inline(never)]
    unsafe fn rest(w: *const u8, block: usize, count: usize, a: Row, sums: [__m256; 2]) -> [__m256; 2] {
        let [mut even, mut odd] = sums.map(|sum| [sum]);
        // SAFETY: the caller keeps the contract of `Dots::dots`.
        unsafe { Q8_0::<Avx2>::add(w, block, count, &[a], [&mut even, &mut odd]) };
        [even[0], odd[0]]
    }
}
