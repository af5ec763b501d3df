//! Vectors of float32 of each instruction set, for short loops that compilers leave scalar.

use crate::cpu::half::f16_value;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// The most lanes of a vector.
pub(crate) const LANES: usize = 16;

/// As many float32 as a vector holds.
///
/// # Safety
/// Of all functions: the machine has the instruction set, and pointers lead to as many numbers as are read.
#[allow(clippy::missing_safety_doc)]
pub trait Vector: Copy {
    /// Lanes.
    const WIDTH: usize;
    /// As many float64.
    type Sums: Copy;
    /// Zeros.
    unsafe fn nothing() -> Self::Sums;
    /// These float32.
    unsafe fn floats(x: *const f32) -> Self;
    /// These float16.
    unsafe fn halves(x: *const u16) -> Self;
    /// The float32 with these upper halves, and lower halves of 0.
    unsafe fn uppers(x: *const u16) -> Self;
    /// [`Vector::uppers`] of twice as many, in any order.
    unsafe fn more_uppers(x: *const u16) -> [Self; 2];
    /// The bits that both have.
    unsafe fn and(self, bits: Self) -> Self;
    /// `self + other`
    unsafe fn add(self, other: Self) -> Self;
    /// `self^2`
    unsafe fn square(self) -> Self;
    /// `self^2 + other`
    unsafe fn square_onto(self, other: Self) -> Self;
    /// `sums + self`
    unsafe fn sum_onto(self, sums: Self::Sums) -> Self::Sums;
    /// The sum of all lanes.
    unsafe fn together(sums: Self::Sums) -> f64;
    /// Float64 ones.
    unsafe fn ones() -> Self::Sums;
    /// These float32 as float64.
    unsafe fn wide(x: *const f32) -> Self::Sums;
    /// `a * b`
    unsafe fn times(a: Self::Sums, b: Self::Sums) -> Self::Sums;
    /// The product of all lanes.
    unsafe fn product(lanes: Self::Sums) -> f64;
    /// `x` in all lanes.
    unsafe fn all_wide(x: f64) -> Self::Sums;
    /// What these float32 are above `shift`, and the square of that, summed onto `sums` and `squares`.
    unsafe fn above(x: *const f32, shift: Self::Sums, sums: Self::Sums, squares: Self::Sums) -> (Self::Sums, Self::Sums);
}

/// The vectors of AVX-512.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Zmm(__m512);

/// The vectors of AVX2.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
pub struct Ymm(__m256);

/// Four lanes that any compiler makes a vector of.
#[derive(Clone, Copy)]
pub struct Four([f32; 4]);

#[cfg(target_arch = "x86_64")]
impl Vector for Zmm {
    const WIDTH: usize = 16;
    type Sums = [__m512d; 2];
    #[inline(always)]
    unsafe fn nothing() -> [__m512d; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm512_setzero_pd(); 2] }
    }
    #[inline(always)]
    unsafe fn floats(x: *const f32) -> Zmm {
        // SAFETY: the caller's.
        unsafe { Zmm(_mm512_loadu_ps(x)) }
    }
    #[inline(always)]
    unsafe fn halves(x: *const u16) -> Zmm {
        // SAFETY: the caller's.
        unsafe { Zmm(_mm512_cvtph_ps(_mm256_loadu_si256(x.cast()))) }
    }
    #[inline(always)]
    unsafe fn uppers(x: *const u16) -> Zmm {
        // SAFETY: the caller's.
        unsafe { Zmm(_mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(_mm256_loadu_si256(x.cast()))))) }
    }
    #[inline(always)]
    unsafe fn more_uppers(x: *const u16) -> [Zmm; 2] {
        // SAFETY: the caller's.
        unsafe {
            let pairs = _mm512_loadu_si512(x.cast());
            let (first, second) = (_mm512_slli_epi32::<16>(pairs), _mm512_and_si512(pairs, _mm512_set1_epi32(-1 << 16)));
            [Zmm(_mm512_castsi512_ps(first)), Zmm(_mm512_castsi512_ps(second))]
        }
    }
    #[inline(always)]
    unsafe fn and(self, bits: Zmm) -> Zmm {
        // SAFETY: the caller's.
        unsafe { Zmm(_mm512_and_ps(self.0, bits.0)) }
    }
    #[inline(always)]
    unsafe fn add(self, other: Zmm) -> Zmm {
        // SAFETY: the caller's.
        unsafe { Zmm(_mm512_add_ps(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn square(self) -> Zmm {
        // SAFETY: the caller's.
        unsafe { Zmm(_mm512_mul_ps(self.0, self.0)) }
    }
    #[inline(always)]
    unsafe fn square_onto(self, other: Zmm) -> Zmm {
        // SAFETY: the caller's.
        unsafe { Zmm(_mm512_fmadd_ps(self.0, self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sum_onto(self, sums: [__m512d; 2]) -> [__m512d; 2] {
        // SAFETY: the caller's.
        unsafe {
            let (low, high) = (_mm512_castps512_ps256(self.0), _mm512_extractf32x8_ps::<1>(self.0));
            [_mm512_add_pd(sums[0], _mm512_cvtps_pd(low)), _mm512_add_pd(sums[1], _mm512_cvtps_pd(high))]
        }
    }
    #[inline(always)]
    unsafe fn together(sums: [__m512d; 2]) -> f64 {
        // SAFETY: the caller's.
        unsafe { _mm512_reduce_add_pd(_mm512_add_pd(sums[0], sums[1])) }
    }
    #[inline(always)]
    unsafe fn ones() -> [__m512d; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm512_set1_pd(1.0); 2] }
    }
    #[inline(always)]
    unsafe fn wide(x: *const f32) -> [__m512d; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm512_cvtps_pd(_mm256_loadu_ps(x)), _mm512_cvtps_pd(_mm256_loadu_ps(x.add(8)))] }
    }
    #[inline(always)]
    unsafe fn times(a: [__m512d; 2], b: [__m512d; 2]) -> [__m512d; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm512_mul_pd(a[0], b[0]), _mm512_mul_pd(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn all_wide(x: f64) -> [__m512d; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm512_set1_pd(x); 2] }
    }
    #[inline(always)]
    unsafe fn above(x: *const f32, shift: [__m512d; 2], sums: [__m512d; 2], squares: [__m512d; 2]) -> ([__m512d; 2], [__m512d; 2]) {
        // SAFETY: the caller's.
        unsafe {
            let x = Self::wide(x);
            let [a, b] = [_mm512_sub_pd(x[0], shift[0]), _mm512_sub_pd(x[1], shift[1])];
            ([_mm512_add_pd(sums[0], a), _mm512_add_pd(sums[1], b)], [_mm512_fmadd_pd(a, a, squares[0]), _mm512_fmadd_pd(b, b, squares[1])])
        }
    }
    #[inline(always)]
    unsafe fn product(lanes: [__m512d; 2]) -> f64 {
        // SAFETY: the caller's.
        unsafe { _mm512_reduce_mul_pd(_mm512_mul_pd(lanes[0], lanes[1])) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Vector for Ymm {
    const WIDTH: usize = 8;
    type Sums = [__m256d; 2];
    #[inline(always)]
    unsafe fn nothing() -> [__m256d; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm256_setzero_pd(); 2] }
    }
    #[inline(always)]
    unsafe fn floats(x: *const f32) -> Ymm {
        // SAFETY: the caller's.
        unsafe { Ymm(_mm256_loadu_ps(x)) }
    }
    #[inline(always)]
    unsafe fn halves(x: *const u16) -> Ymm {
        // SAFETY: the caller's.
        unsafe { Ymm(_mm256_cvtph_ps(_mm_loadu_si128(x.cast()))) }
    }
    #[inline(always)]
    unsafe fn uppers(x: *const u16) -> Ymm {
        // SAFETY: the caller's.
        unsafe { Ymm(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(_mm_loadu_si128(x.cast()))))) }
    }
    #[inline(always)]
    unsafe fn more_uppers(x: *const u16) -> [Ymm; 2] {
        // SAFETY: the caller's.
        unsafe {
            let pairs = _mm256_loadu_si256(x.cast());
            let (first, second) = (_mm256_slli_epi32::<16>(pairs), _mm256_and_si256(pairs, _mm256_set1_epi32(-1 << 16)));
            [Ymm(_mm256_castsi256_ps(first)), Ymm(_mm256_castsi256_ps(second))]
        }
    }
    #[inline(always)]
    unsafe fn and(self, bits: Ymm) -> Ymm {
        // SAFETY: the caller's.
        unsafe { Ymm(_mm256_and_ps(self.0, bits.0)) }
    }
    #[inline(always)]
    unsafe fn add(self, other: Ymm) -> Ymm {
        // SAFETY: the caller's.
        unsafe { Ymm(_mm256_add_ps(self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn square(self) -> Ymm {
        // SAFETY: the caller's.
        unsafe { Ymm(_mm256_mul_ps(self.0, self.0)) }
    }
    #[inline(always)]
    unsafe fn square_onto(self, other: Ymm) -> Ymm {
        // SAFETY: the caller's.
        unsafe { Ymm(_mm256_fmadd_ps(self.0, self.0, other.0)) }
    }
    #[inline(always)]
    unsafe fn sum_onto(self, sums: [__m256d; 2]) -> [__m256d; 2] {
        // SAFETY: the caller's.
        unsafe {
            let (low, high) = (_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
            [_mm256_add_pd(sums[0], _mm256_cvtps_pd(low)), _mm256_add_pd(sums[1], _mm256_cvtps_pd(high))]
        }
    }
    #[inline(always)]
    unsafe fn together(sums: [__m256d; 2]) -> f64 {
        // SAFETY: the caller's.
        unsafe {
            let four = _mm256_add_pd(sums[0], sums[1]);
            let two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
            _mm_cvtsd_f64(_mm_add_pd(two, _mm_unpackhi_pd(two, two)))
        }
    }
    #[inline(always)]
    unsafe fn ones() -> [__m256d; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm256_set1_pd(1.0); 2] }
    }
    #[inline(always)]
    unsafe fn wide(x: *const f32) -> [__m256d; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm256_cvtps_pd(_mm_loadu_ps(x)), _mm256_cvtps_pd(_mm_loadu_ps(x.add(4)))] }
    }
    #[inline(always)]
    unsafe fn times(a: [__m256d; 2], b: [__m256d; 2]) -> [__m256d; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm256_mul_pd(a[0], b[0]), _mm256_mul_pd(a[1], b[1])] }
    }
    #[inline(always)]
    unsafe fn all_wide(x: f64) -> [__m256d; 2] {
        // SAFETY: the caller's.
        unsafe { [_mm256_set1_pd(x); 2] }
    }
    #[inline(always)]
    unsafe fn above(x: *const f32, shift: [__m256d; 2], sums: [__m256d; 2], squares: [__m256d; 2]) -> ([__m256d; 2], [__m256d; 2]) {
        // SAFETY: the caller's.
        unsafe {
            let x = Self::wide(x);
            let [a, b] = [_mm256_sub_pd(x[0], shift[0]), _mm256_sub_pd(x[1], shift[1])];
            ([_mm256_add_pd(sums[0], a), _mm256_add_pd(sums[1], b)], [_mm256_fmadd_pd(a, a, squares[0]), _mm256_fmadd_pd(b, b, squares[1])])
        }
    }
    #[inline(always)]
    unsafe fn product(lanes: [__m256d; 2]) -> f64 {
        // SAFETY: the caller's.
        unsafe {
            let four = _mm256_mul_pd(lanes[0], lanes[1]);
            let two = _mm_mul_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd::<1>(four));
            _mm_cvtsd_f64(_mm_mul_pd(two, _mm_unpackhi_pd(two, two)))
        }
    }
}

impl Four {
    #[inline(always)]
    fn of(lane: impl Fn(usize) -> f32) -> Four {
        Four([lane(0), lane(1), lane(2), lane(3)])
    }
}

impl Vector for Four {
    const WIDTH: usize = 4;
    type Sums = [f64; 4];
    #[inline(always)]
    unsafe fn nothing() -> [f64; 4] {
        [0.0; 4]
    }
    #[inline(always)]
    unsafe fn floats(x: *const f32) -> Four {
        // SAFETY: the caller's.
        Four::of(|k| unsafe { x.add(k).read() })
    }
    #[inline(always)]
    unsafe fn halves(x: *const u16) -> Four {
        // SAFETY: the caller's.
        Four::of(|k| f16_value(unsafe { x.add(k).read() }))
    }
    #[inline(always)]
    unsafe fn uppers(x: *const u16) -> Four {
        // SAFETY: the caller's.
        Four::of(|k| f32::from_bits(u32::from(unsafe { x.add(k).read() }) << 16))
    }
    #[inline(always)]
    unsafe fn more_uppers(x: *const u16) -> [Four; 2] {
        // SAFETY: the caller's.
        unsafe { [Four::uppers(x), Four::uppers(x.add(4))] }
    }
    #[inline(always)]
    unsafe fn and(self, bits: Four) -> Four {
        Four::of(|k| f32::from_bits(self.0[k].to_bits() & bits.0[k].to_bits()))
    }
    #[inline(always)]
    unsafe fn add(self, other: Four) -> Four {
        Four::of(|k| self.0[k] + other.0[k])
    }
    #[inline(always)]
    unsafe fn square(self) -> Four {
        Four::of(|k| self.0[k] * self.0[k])
    }
    #[inline(always)]
    unsafe fn square_onto(self, other: Four) -> Four {
        Four::of(|k| self.0[k] * self.0[k] + other.0[k])
    }
    #[inline(always)]
    unsafe fn sum_onto(self, sums: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| sums[k] + f64::from(self.0[k]))
    }
    #[inline(always)]
    unsafe fn together(sums: [f64; 4]) -> f64 {
        (sums[0] + sums[2]) + (sums[1] + sums[3])
    }
    #[inline(always)]
    unsafe fn ones() -> [f64; 4] {
        [1.0; 4]
    }
    #[inline(always)]
    unsafe fn wide(x: *const f32) -> [f64; 4] {
        // SAFETY: the caller's.
        std::array::from_fn(|k| f64::from(unsafe { x.add(k).read() }))
    }
    #[inline(always)]
    unsafe fn times(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|k| a[k] * b[k])
    }
    #[inline(always)]
    unsafe fn all_wide(x: f64) -> [f64; 4] {
        [x; 4]
    }
    #[inline(always)]
    unsafe fn above(x: *const f32, shift: [f64; 4], mut sums: [f64; 4], mut squares: [f64; 4]) -> ([f64; 4], [f64; 4]) {
        // SAFETY: the caller's.
        let x = unsafe { Self::wide(x) };
        for k in 0..4 {
            let above = x[k] - shift[k];
            sums[k] += above;
            squares[k] += above * above;
        }
        (sums, squares)
    }
    #[inline(always)]
    unsafe fn product(lanes: [f64; 4]) -> f64 {
        (lanes[0] * lanes[2]) * (lanes[1] * lanes[3])
    }
}

/// The loop a level's vectors run: `with_vectors!(isa, V => f::<V>(..))`. For kernels that are inlined into one of [`simd`](crate::cpu::simd::simd).
macro_rules! with_vectors {
    ($isa:expr, $V:ident => $body:expr) => {
        match $isa.level() {
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::simd::Level::Avx512 => {
                type $V = $crate::cpu::fold::vector::Zmm;
                $body
            }
            #[cfg(target_arch = "x86_64")]
            $crate::cpu::simd::Level::Avx2 => {
                type $V = $crate::cpu::fold::vector::Ymm;
                $body
            }
            _ => {
                type $V = $crate::cpu::fold::vector::Four;
                $body
            }
        }
    };
}
pub(super) use with_vectors;
