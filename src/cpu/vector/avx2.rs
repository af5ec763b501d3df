//! Registers of AVX2 with FMA, and pairs of registers.

use super::{Float32s, Float64s, Floats, Mask, Partial, Register};
use std::arch::x86_64::*;
use std::ops::{Add, Mul, Sub};

/// Implements operators, [`Register`] and [`Floats`] by the intrinsics of a type. Reductions over all lanes combine halves.
macro_rules! register {
    ($(#[$doc:meta])* $name:ident($register:ident): $lanes:literal of $t:ident;
     all $all:ident load $load:ident store $store:ident add $add:ident sub $sub:ident mul $mul:ident max $max:ident min $min:ident
     fma $fma:ident cmp $cmp:ident bits $bits:ident first $first:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name(pub(super) $register);

        impl Add for $name {
            type Output = $name;
            #[inline(always)]
            fn add(self, b: $name) -> $name {
                // SAFETY: the processor has AVX2 and FMA, which the code that chose the register guarantees, here and below.
                unsafe { $name($add(self.0, b.0)) }
            }
        }

        impl Sub for $name {
            type Output = $name;
            #[inline(always)]
            fn sub(self, b: $name) -> $name {
                // SAFETY: the processor has AVX2.
                unsafe { $name($sub(self.0, b.0)) }
            }
        }

        impl Mul for $name {
            type Output = $name;
            #[inline(always)]
            fn mul(self, b: $name) -> $name {
                // SAFETY: the processor has AVX2.
                unsafe { $name($mul(self.0, b.0)) }
            }
        }

        impl $name {
            /// Reduces all lanes to one.
            #[inline(always)]
            fn fold(self, f: impl Fn($name, $name) -> $name) -> $t {
                let r = self.halved(f);
                // SAFETY: the processor has AVX2.
                unsafe { $first(r.0) }
            }
        }

        impl Register for $name {
            type Item = $t;
            const LANES: usize = $lanes;
            #[inline(always)]
            fn all(x: $t) -> $name {
                // SAFETY: the processor has AVX2.
                unsafe { $name($all(x)) }
            }
            #[inline(always)]
            unsafe fn load(x: *const $t) -> $name {
                // SAFETY: the caller keeps this function's contract, and the processor has AVX2.
                unsafe { $name($load(x)) }
            }
            #[inline(always)]
            unsafe fn store(self, r: *mut $t) {
                // SAFETY: the caller keeps this function's contract, and the processor has AVX2.
                unsafe { $store(r, self.0) }
            }
            #[inline(always)]
            fn greater(self, other: $name) -> $name {
                // SAFETY: the processor has AVX2. If a number is NaN, the instruction returns the second operand, here and below.
                unsafe { $name($max(self.0, other.0)) }
            }
            #[inline(always)]
            fn lesser(self, other: $name) -> $name {
                // SAFETY: the processor has AVX2.
                unsafe { $name($min(self.0, other.0)) }
            }
            #[inline(always)]
            fn equal(self, other: $name) -> Mask {
                // SAFETY: the processor has AVX2.
                unsafe { $bits($cmp::<_CMP_EQ_OQ>(self.0, other.0)) as Mask }
            }
            #[inline(always)]
            fn unordered(self, other: $name) -> Mask {
                // SAFETY: the processor has AVX2.
                unsafe { $bits($cmp::<_CMP_UNORD_Q>(self.0, other.0)) as Mask }
            }
            #[inline(always)]
            fn sum(self) -> $t {
                self.fold($name::add)
            }
            #[inline(always)]
            fn greatest(self) -> $t {
                self.fold($name::greater)
            }
            #[inline(always)]
            fn least(self) -> $t {
                self.fold($name::lesser)
            }
        }

        impl Floats for $name {
            #[inline(always)]
            fn fma(self, b: $name, c: $name) -> $name {
                // SAFETY: the processor has FMA.
                unsafe { $name($fma(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn product(self) -> $t {
                self.fold($name::mul)
            }
        }
    };
}

register! {
    /// 8 float32.
    F32x8(__m256): 8 of f32;
    all _mm256_set1_ps load _mm256_loadu_ps store _mm256_storeu_ps add _mm256_add_ps sub _mm256_sub_ps mul _mm256_mul_ps
    max _mm256_max_ps min _mm256_min_ps fma _mm256_fmadd_ps cmp _mm256_cmp_ps bits _mm256_movemask_ps first _mm256_cvtss_f32
}
register! {
    /// 4 float64.
    F64x4(__m256d): 4 of f64;
    all _mm256_set1_pd load _mm256_loadu_pd store _mm256_storeu_pd add _mm256_add_pd sub _mm256_sub_pd mul _mm256_mul_pd
    max _mm256_max_pd min _mm256_min_pd fma _mm256_fmadd_pd cmp _mm256_cmp_pd bits _mm256_movemask_pd first _mm256_cvtsd_f64
}

/// Masks: from index `LANES - n` on, the first `n` lanes are selected.
static FIRST_32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
static FIRST_64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];

/// Implements [`Partial`] by loads and stores with a mask.
macro_rules! partial {
    ($($name:ident($t:ident): first $first:ident load $load:ident store $store:ident blend $blend:ident as_mask $as_mask:ident;)*) => { $(
        impl $name {
            /// Returns a mask of the first `n` lanes, fewer than all.
            #[inline(always)]
            fn first(n: usize) -> __m256i {
                // SAFETY: the processor has AVX2, and the table has as many numbers from every start below `LANES`.
                unsafe { _mm256_loadu_si256($first.as_ptr().add($name::LANES - n).cast()) }
            }
        }

        impl Partial for $name {
            #[inline(always)]
            unsafe fn load_first(self, x: *const $t, n: usize) -> $name {
                // SAFETY: the caller keeps this function's contract, and the processor has AVX2.
                unsafe {
                    if n >= $name::LANES {
                        return $name::load(x);
                    }
                    let mask = $name::first(n);
                    $name($blend(self.0, $load(x, mask), $as_mask(mask)))
                }
            }
            #[inline(always)]
            unsafe fn store_first(self, r: *mut $t, n: usize) {
                // SAFETY: the caller keeps this function's contract, and the processor has AVX2.
                unsafe { if n >= $name::LANES { self.store(r) } else { $store(r, $name::first(n), self.0) } }
            }
        }
    )* };
}
partial! {
    F32x8(f32): first FIRST_32 load _mm256_maskload_ps store _mm256_maskstore_ps blend _mm256_blendv_ps as_mask _mm256_castsi256_ps;
    F64x4(f64): first FIRST_64 load _mm256_maskload_pd store _mm256_maskstore_pd blend _mm256_blendv_pd as_mask _mm256_castsi256_pd;
}

impl F32x8 {
    /// Returns the columns of a square as rows.
    #[inline(always)]
    pub fn transposed(rows: [F32x8; 8]) -> [F32x8; 8] {
        let (a, b) = (Self::columns(&rows[..4]), Self::columns(&rows[4..]));
        let mut columns = rows;
        for k in 0..4 {
            // SAFETY: the processor has AVX2.
            unsafe {
                columns[k] = F32x8(_mm256_permute2f128_ps::<0x20>(a[k], b[k]));
                columns[k + 4] = F32x8(_mm256_permute2f128_ps::<0x31>(a[k], b[k]));
            }
        }
        columns
    }

    /// Returns columns 0 to 3 of four rows in the lower halves, and columns 4 to 7 in the upper halves.
    #[inline(always)]
    fn columns(rows: &[F32x8]) -> [__m256; 4] {
        // SAFETY: the processor has AVX2.
        unsafe {
            let (ab, more_ab) = (_mm256_unpacklo_ps(rows[0].0, rows[1].0), _mm256_unpackhi_ps(rows[0].0, rows[1].0));
            let (cd, more_cd) = (_mm256_unpacklo_ps(rows[2].0, rows[3].0), _mm256_unpackhi_ps(rows[2].0, rows[3].0));
            [
                _mm256_shuffle_ps::<0x44>(ab, cd),
                _mm256_shuffle_ps::<0xee>(ab, cd),
                _mm256_shuffle_ps::<0x44>(more_ab, more_cd),
                _mm256_shuffle_ps::<0xee>(more_ab, more_cd),
            ]
        }
    }

    /// Reduces all lanes, with the result in each: halves are combined, then pairs, then neighbours.
    #[inline(always)]
    fn halved(self, f: impl Fn(F32x8, F32x8) -> F32x8) -> F32x8 {
        // SAFETY: the processor has AVX2.
        unsafe {
            let x = f(self, F32x8(_mm256_permute2f128_ps::<1>(self.0, self.0)));
            let x = f(x, F32x8(_mm256_permute_ps::<0b01_00_11_10>(x.0)));
            f(x, F32x8(_mm256_permute_ps::<0b10_11_00_01>(x.0)))
        }
    }
}

impl F64x4 {
    /// Reduces all lanes, with the result in each: halves are combined, then neighbours.
    #[inline(always)]
    fn halved(self, f: impl Fn(F64x4, F64x4) -> F64x4) -> F64x4 {
        // SAFETY: the processor has AVX2.
        unsafe {
            let x = f(self, F64x4(_mm256_permute2f128_pd::<1>(self.0, self.0)));
            f(x, F64x4(_mm256_permute_pd::<0b0101>(x.0)))
        }
    }
}

impl Float32s for F32x8 {
    type Wide = Pair<F64x4>;
    #[inline(always)]
    fn widen(self) -> Pair<F64x4> {
        // SAFETY: the processor has AVX2.
        unsafe {
            let (low, high) = (_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
            Pair(F64x4(_mm256_cvtps_pd(low)), F64x4(_mm256_cvtps_pd(high)))
        }
    }
    #[inline(always)]
    unsafe fn load_wide(x: *const f32) -> Pair<F64x4> {
        // SAFETY: the caller keeps this function's contract, and the processor has AVX2.
        unsafe { Pair(F64x4(_mm256_cvtps_pd(_mm_loadu_ps(x))), F64x4(_mm256_cvtps_pd(_mm_loadu_ps(x.add(4))))) }
    }
    #[inline(always)]
    unsafe fn load_f16(x: *const u16) -> F32x8 {
        // SAFETY: the caller keeps this function's contract, and the processor has AVX2 with F16C.
        unsafe { F32x8(_mm256_cvtph_ps(_mm_loadu_si128(x.cast()))) }
    }
    #[inline(always)]
    unsafe fn store_f16(self, r: *mut u16) {
        // SAFETY: the caller keeps this function's contract, and the processor has AVX2 with F16C.
        unsafe { _mm_storeu_si128(r.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0)) }
    }
    #[inline(always)]
    unsafe fn load_bf16(x: *const u16) -> F32x8 {
        // SAFETY: the caller keeps this function's contract, and the processor has AVX2.
        unsafe { F32x8(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(_mm_loadu_si128(x.cast()))))) }
    }
    #[inline(always)]
    unsafe fn load_bf16_unordered(x: *const u16) -> [F32x8; 2] {
        // SAFETY: the caller keeps this function's contract, and the processor has AVX2.
        unsafe {
            let pairs = _mm256_loadu_si256(x.cast());
            let (first, second) = (_mm256_slli_epi32::<16>(pairs), _mm256_and_si256(pairs, _mm256_set1_epi32(-1 << 16)));
            [F32x8(_mm256_castsi256_ps(first)), F32x8(_mm256_castsi256_ps(second))]
        }
    }
    #[inline(always)]
    fn and(self, bits: F32x8) -> F32x8 {
        // SAFETY: the processor has AVX2.
        unsafe { F32x8(_mm256_and_ps(self.0, bits.0)) }
    }
}

/// Two registers as one: the lanes of the first, followed by the lanes of the second.
#[derive(Clone, Copy)]
pub struct Pair<V>(pub(super) V, pub(super) V);

impl<V: Register> Add for Pair<V> {
    type Output = Self;
    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Pair(self.0 + b.0, self.1 + b.1)
    }
}

impl<V: Register> Sub for Pair<V> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Pair(self.0 - b.0, self.1 - b.1)
    }
}

impl<V: Register> Mul for Pair<V> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, b: Self) -> Self {
        Pair(self.0 * b.0, self.1 * b.1)
    }
}

impl<V: Register> Register for Pair<V> {
    type Item = V::Item;
    const LANES: usize = 2 * V::LANES;
    #[inline(always)]
    fn all(x: V::Item) -> Self {
        Pair(V::all(x), V::all(x))
    }
    #[inline(always)]
    unsafe fn load(x: *const V::Item) -> Self {
        // SAFETY: the caller keeps this function's contract.
        unsafe { Pair(V::load(x), V::load(x.add(V::LANES))) }
    }
    #[inline(always)]
    unsafe fn store(self, r: *mut V::Item) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            self.0.store(r);
            self.1.store(r.add(V::LANES));
        }
    }
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        Pair(self.0.greater(other.0), self.1.greater(other.1))
    }
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        Pair(self.0.lesser(other.0), self.1.lesser(other.1))
    }
    #[inline(always)]
    fn equal(self, other: Self) -> Mask {
        self.0.equal(other.0) | self.1.equal(other.1) << V::LANES
    }
    #[inline(always)]
    fn unordered(self, other: Self) -> Mask {
        self.0.unordered(other.0) | self.1.unordered(other.1) << V::LANES
    }
    #[inline(always)]
    fn sum(self) -> V::Item {
        (self.0 + self.1).sum()
    }
    #[inline(always)]
    fn greatest(self) -> V::Item {
        self.0.greater(self.1).greatest()
    }
    #[inline(always)]
    fn least(self) -> V::Item {
        self.0.lesser(self.1).least()
    }
}

impl<V: Floats> Floats for Pair<V> {
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Pair(self.0.fma(b.0, c.0), self.1.fma(b.1, c.1))
    }
    #[inline(always)]
    fn product(self) -> V::Item {
        (self.0 * self.1).product()
    }
}

impl Float64s for Pair<F64x4> {
    type Narrow = F32x8;
    #[inline(always)]
    fn of(x: F32x8) -> Self {
        x.widen()
    }
    #[inline(always)]
    fn narrow(self) -> F32x8 {
        // SAFETY: the processor has AVX2.
        unsafe { F32x8(_mm256_set_m128(_mm256_cvtpd_ps(self.1.0), _mm256_cvtpd_ps(self.0.0))) }
    }
}
