//! Registers of AVX-512.

use super::avx2::{F32x8, Pair};
use super::half_bits::{HALF_ULP, QUIET};
use super::{Float32s, Float64s, Floats, Mask, Masked, Partial, Register};
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

/// Implements operators and [`Register`] by the intrinsics of a type.
macro_rules! register {
    ($(#[$doc:meta])* $name:ident($register:ident): $lanes:literal of $t:ident;
     all $all:ident load $load:ident store $store:ident add $add:ident sub $sub:ident mul $mul:ident max $max:ident min $min:ident
     equal $equal:expr; unordered $unordered:expr; sum $sum:ident greatest $greatest:ident least $least:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name(pub(super) $register);

        impl Add for $name {
            type Output = $name;
            #[inline(always)]
            fn add(self, b: $name) -> $name {
                // SAFETY: the processor has AVX-512, which the code that chose the register guarantees, here and below.
                unsafe { $name($add(self.0, b.0)) }
            }
        }

        impl Sub for $name {
            type Output = $name;
            #[inline(always)]
            fn sub(self, b: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($sub(self.0, b.0)) }
            }
        }

        impl Mul for $name {
            type Output = $name;
            #[inline(always)]
            fn mul(self, b: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($mul(self.0, b.0)) }
            }
        }

        impl Register for $name {
            type Item = $t;
            const LANES: usize = $lanes;
            #[inline(always)]
            fn all(x: $t) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($all(x)) }
            }
            #[inline(always)]
            unsafe fn load(x: *const $t) -> $name {
                // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
                unsafe { $name($load(x.cast())) }
            }
            #[inline(always)]
            unsafe fn store(self, r: *mut $t) {
                // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
                unsafe { $store(r.cast(), self.0) }
            }
            #[inline(always)]
            fn greater(self, other: $name) -> $name {
                // SAFETY: the processor has AVX-512. If a number is NaN, the instruction returns the second operand, here and below.
                unsafe { $name($max(self.0, other.0)) }
            }
            #[inline(always)]
            fn lesser(self, other: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($min(self.0, other.0)) }
            }
            #[inline(always)]
            fn equal(self, other: $name) -> Mask {
                // SAFETY: the processor has AVX-512.
                Mask::from(unsafe { $equal(self.0, other.0) })
            }
            #[inline(always)]
            fn unordered(self, other: $name) -> Mask {
                // SAFETY: the processor has AVX-512.
                Mask::from(unsafe { $unordered(self.0, other.0) })
            }
            #[inline(always)]
            fn sum(self) -> $t {
                // SAFETY: the processor has AVX-512.
                unsafe { $sum(self.0) }
            }
            #[inline(always)]
            fn greatest(self) -> $t {
                // SAFETY: the processor has AVX-512.
                unsafe { $greatest(self.0) }
            }
            #[inline(always)]
            fn least(self) -> $t {
                // SAFETY: the processor has AVX-512.
                unsafe { $least(self.0) }
            }
        }
    };
}

register! {
    /// 16 float32.
    F32x16(__m512): 16 of f32;
    all _mm512_set1_ps load _mm512_loadu_ps store _mm512_storeu_ps add _mm512_add_ps sub _mm512_sub_ps mul _mm512_mul_ps
    max _mm512_max_ps min _mm512_min_ps equal _mm512_cmp_ps_mask::<_CMP_EQ_OQ>; unordered _mm512_cmp_ps_mask::<_CMP_UNORD_Q>;
    sum _mm512_reduce_add_ps greatest _mm512_reduce_max_ps least _mm512_reduce_min_ps
}
register! {
    /// 8 float64.
    F64x8(__m512d): 8 of f64;
    all _mm512_set1_pd load _mm512_loadu_pd store _mm512_storeu_pd add _mm512_add_pd sub _mm512_sub_pd mul _mm512_mul_pd
    max _mm512_max_pd min _mm512_min_pd equal _mm512_cmp_pd_mask::<_CMP_EQ_OQ>; unordered _mm512_cmp_pd_mask::<_CMP_UNORD_Q>;
    sum _mm512_reduce_add_pd greatest _mm512_reduce_max_pd least _mm512_reduce_min_pd
}
register! {
    /// 16 int32.
    I32x16(__m512i): 16 of i32;
    all _mm512_set1_epi32 load _mm512_loadu_epi32 store _mm512_storeu_epi32 add _mm512_add_epi32 sub _mm512_sub_epi32 mul _mm512_mullo_epi32
    max _mm512_max_epi32 min _mm512_min_epi32 equal _mm512_cmpeq_epi32_mask; unordered no_lanes;
    sum _mm512_reduce_add_epi32 greatest _mm512_reduce_max_epi32 least _mm512_reduce_min_epi32
}
register! {
    /// 8 int64.
    I64x8(__m512i): 8 of i64;
    all _mm512_set1_epi64 load _mm512_loadu_epi64 store _mm512_storeu_epi64 add _mm512_add_epi64 sub _mm512_sub_epi64 mul _mm512_mullo_epi64
    max _mm512_max_epi64 min _mm512_min_epi64 equal _mm512_cmpeq_epi64_mask; unordered no_lanes;
    sum _mm512_reduce_add_epi64 greatest _mm512_reduce_max_epi64 least _mm512_reduce_min_epi64
}

/// Returns no lanes, because no integer is NaN.
#[inline(always)]
unsafe fn no_lanes(_: __m512i, _: __m512i) -> __mmask8 {
    0
}

/// Implements [`Masked`] and [`Partial`].
macro_rules! masked {
    ($($name:ident($t:ident, $mask:ident): maskz_load $maskz_load:ident mask_load $mask_load:ident mask_store $mask_store:ident
       blend $blend:ident below $below:expr; up_to $up_to:expr; pack $pack:ident;)*) => { $(
        impl Masked for $name {
            #[inline(always)]
            unsafe fn load_where(mask: Mask, x: *const $t) -> $name {
                // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
                unsafe { $name($maskz_load(mask as $mask, x)) }
            }
            #[inline(always)]
            unsafe fn store_where(self, mask: Mask, r: *mut $t) {
                // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
                unsafe { $mask_store(r, mask as $mask, self.0) }
            }
            #[inline(always)]
            fn or_where(self, mask: Mask, b: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($blend(mask as $mask, self.0, b.0)) }
            }
            #[inline(always)]
            fn below(self, b: $name) -> Mask {
                // SAFETY: the processor has AVX-512.
                Mask::from(unsafe { $below(self.0, b.0) })
            }
            #[inline(always)]
            fn up_to(self, b: $name) -> Mask {
                // SAFETY: the processor has AVX-512.
                Mask::from(unsafe { $up_to(self.0, b.0) })
            }
            #[inline(always)]
            fn packed(self, mask: Mask) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($pack(mask as $mask, self.0)) }
            }
        }

        impl Partial for $name {
            #[inline(always)]
            unsafe fn load_first(self, x: *const $t, n: usize) -> $name {
                if n >= $name::LANES {
                    // SAFETY: the caller keeps this function's contract.
                    return unsafe { $name::load(x) };
                }
                // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
                unsafe { $name($mask_load(self.0, $name::first(n) as $mask, x)) }
            }
            #[inline(always)]
            unsafe fn store_first(self, r: *mut $t, n: usize) {
                // SAFETY: the caller keeps this function's contract.
                unsafe { if n >= $name::LANES { self.store(r) } else { self.store_where($name::first(n), r) } }
            }
        }
    )* };
}
masked! {
    F32x16(f32, __mmask16): maskz_load _mm512_maskz_loadu_ps mask_load _mm512_mask_loadu_ps mask_store _mm512_mask_storeu_ps
        blend _mm512_mask_blend_ps below _mm512_cmp_ps_mask::<_CMP_LT_OQ>; up_to _mm512_cmp_ps_mask::<_CMP_LE_OQ>;
        pack _mm512_maskz_compress_ps;
    F64x8(f64, __mmask8): maskz_load _mm512_maskz_loadu_pd mask_load _mm512_mask_loadu_pd mask_store _mm512_mask_storeu_pd
        blend _mm512_mask_blend_pd below _mm512_cmp_pd_mask::<_CMP_LT_OQ>; up_to _mm512_cmp_pd_mask::<_CMP_LE_OQ>;
        pack _mm512_maskz_compress_pd;
    I32x16(i32, __mmask16): maskz_load _mm512_maskz_loadu_epi32 mask_load _mm512_mask_loadu_epi32 mask_store _mm512_mask_storeu_epi32
        blend _mm512_mask_blend_epi32 below _mm512_cmplt_epi32_mask; up_to _mm512_cmple_epi32_mask; pack _mm512_maskz_compress_epi32;
    I64x8(i64, __mmask8): maskz_load _mm512_maskz_loadu_epi64 mask_load _mm512_mask_loadu_epi64 mask_store _mm512_mask_storeu_epi64
        blend _mm512_mask_blend_epi64 below _mm512_cmplt_epi64_mask; up_to _mm512_cmple_epi64_mask; pack _mm512_maskz_compress_epi64;
}

macro_rules! floats {
    ($($name:ident($t:ident): div $div:ident fma $fma:ident product $product:ident;)*) => { $(
        impl Div for $name {
            type Output = $name;
            #[inline(always)]
            fn div(self, b: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($div(self.0, b.0)) }
            }
        }

        impl Floats for $name {
            #[inline(always)]
            fn fma(self, b: $name, c: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($fma(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn product(self) -> $t {
                // SAFETY: the processor has AVX-512.
                unsafe { $product(self.0) }
            }
        }
    )* };
}
floats! {
    F32x16(f32): div _mm512_div_ps fma _mm512_fmadd_ps product _mm512_reduce_mul_ps;
    F64x8(f64): div _mm512_div_pd fma _mm512_fmadd_pd product _mm512_reduce_mul_pd;
}

impl Float64s for F64x8 {
    type Narrow = F32x8;
    #[inline(always)]
    fn of(x: F32x8) -> F64x8 {
        // SAFETY: the processor has AVX-512.
        unsafe { F64x8(_mm512_cvtps_pd(x.0)) }
    }
    #[inline(always)]
    fn narrow(self) -> F32x8 {
        // SAFETY: the processor has AVX-512.
        unsafe { F32x8(_mm512_cvtpd_ps(self.0)) }
    }
}

impl F32x8 {
    /// [`Masked::load_where`], by an instruction of AVX-512.
    ///
    /// # Safety
    /// As for [`Masked::load_where`]; the processor must have AVX-512.
    #[inline(always)]
    pub unsafe fn load_where(mask: Mask, x: *const f32) -> F32x8 {
        // SAFETY: the caller keeps this function's contract.
        unsafe { F32x8(_mm256_maskz_loadu_ps(mask as __mmask8, x)) }
    }

    /// [`Masked::store_where`], by an instruction of AVX-512.
    ///
    /// # Safety
    /// As for [`Masked::store_where`]; the processor must have AVX-512.
    #[inline(always)]
    pub unsafe fn store_where(self, mask: Mask, r: *mut f32) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { _mm256_mask_storeu_ps(r, mask as __mmask8, self.0) }
    }
}

/// Moves lanes within a register of eight.
macro_rules! moved {
    ($($name:ident($t:ident): bits $bits:expr; from_bits $from_bits:expr; last $last:ident;)*) => { $(
        impl $name {
            /// Returns the last `BY` lanes of `before`, followed by the lanes of `self`. `BY` is 1, 2 or 4.
            #[inline(always)]
            pub fn delayed<const BY: usize>(self, before: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe {
                    let (x, before) = ($bits(self.0), $bits(before.0));
                    $name($from_bits(match BY {
                        1 => _mm512_alignr_epi64::<7>(x, before),
                        2 => _mm512_alignr_epi64::<6>(x, before),
                        4 => _mm512_alignr_epi64::<4>(x, before),
                        _ => unreachable!("moved by 1, 2 or 4"),
                    }))
                }
            }

            /// Returns the last lane in all lanes.
            #[inline(always)]
            pub fn all_last(self) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($last(_mm512_set1_epi64(7), self.0)) }
            }
        }
    )* };
}
moved! {
    F64x8(f64): bits _mm512_castpd_si512; from_bits _mm512_castsi512_pd; last _mm512_permutexvar_pd;
    I64x8(i64): bits std::convert::identity; from_bits std::convert::identity; last _mm512_permutexvar_epi64;
}

impl F64x8 {
    /// Returns the first lane.
    #[inline(always)]
    pub fn first_lane(self) -> f64 {
        // SAFETY: the processor has AVX-512.
        unsafe { _mm512_cvtsd_f64(self.0) }
    }
}

impl I64x8 {
    /// Returns the first lane.
    #[inline(always)]
    pub fn first_lane(self) -> i64 {
        // SAFETY: the processor has AVX-512.
        unsafe { _mm_cvtsi128_si64(_mm512_castsi512_si128(self.0)) }
    }
}

impl F32x16 {
    /// Stores 32 numbers rounded to bfloat16.
    ///
    /// # Safety
    /// `r` must have room for 32 numbers.
    #[inline(always)]
    pub unsafe fn store_bf16(x: [F32x16; 2], r: *mut u16) {
        /// The indices of the upper halves of 32 numbers of 32 bits.
        const UPPER: [u16; 32] = {
            let mut at = [0; 32];
            let mut i = 0;
            while i < 32 {
                at[i] = 2 * i as u16 + 1;
                i += 1;
            }
            at
        };
        // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
        unsafe {
            let mut rounded = [_mm512_setzero_si512(); 2];
            for i in 0..2 {
                let bits = _mm512_castps_si512(x[i].0);
                let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
                let up = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(HALF_ULP as i32)), odd);
                rounded[i] = _mm512_mask_or_epi32(up, x[i].unordered(x[i]) as __mmask16, bits, _mm512_set1_epi32(QUIET as i32));
            }
            let upper = _mm512_permutex2var_epi16(rounded[0], _mm512_loadu_si512(UPPER.as_ptr().cast()), rounded[1]);
            _mm512_storeu_si512(r.cast(), upper);
        }
    }
}

impl Float32s for F32x16 {
    type Wide = Pair<F64x8>;
    #[inline(always)]
    fn widen(self) -> Pair<F64x8> {
        // SAFETY: the processor has AVX-512.
        let (low, high) = unsafe { (_mm512_castps512_ps256(self.0), _mm512_extractf32x8_ps::<1>(self.0)) };
        Pair(F64x8::of(F32x8(low)), F64x8::of(F32x8(high)))
    }
    #[inline(always)]
    unsafe fn load_wide(x: *const f32) -> Pair<F64x8> {
        // SAFETY: the caller keeps this function's contract.
        unsafe { Pair(F64x8::of(F32x8::load(x)), F64x8::of(F32x8::load(x.add(8)))) }
    }
    #[inline(always)]
    unsafe fn load_f16(x: *const u16) -> F32x16 {
        // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
        unsafe { F32x16(_mm512_cvtph_ps(_mm256_loadu_si256(x.cast()))) }
    }
    #[inline(always)]
    unsafe fn store_f16(self, r: *mut u16) {
        // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
        unsafe { _mm256_storeu_si256(r.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0)) }
    }
    #[inline(always)]
    unsafe fn load_bf16(x: *const u16) -> F32x16 {
        // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
        unsafe { F32x16(_mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(_mm256_loadu_si256(x.cast()))))) }
    }
    #[inline(always)]
    unsafe fn load_bf16_unordered(x: *const u16) -> [F32x16; 2] {
        // SAFETY: the caller keeps this function's contract, and the processor has AVX-512.
        unsafe {
            let pairs = _mm512_loadu_si512(x.cast());
            let (first, second) = (_mm512_slli_epi32::<16>(pairs), _mm512_and_si512(pairs, _mm512_set1_epi32(-1 << 16)));
            [F32x16(_mm512_castsi512_ps(first)), F32x16(_mm512_castsi512_ps(second))]
        }
    }
    #[inline(always)]
    fn and(self, bits: F32x16) -> F32x16 {
        // SAFETY: the processor has AVX-512.
        unsafe { F32x16(_mm512_and_ps(self.0, bits.0)) }
    }
}
