//! Registers of AVX-512.

use super::avx2::{F32x8, Pair};
use super::{Float32s, Floats, Mask, Masked, Partial, Register};
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

/// Operators and [`Register`], by the intrinsics of a type.
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
                // SAFETY: the machine has AVX-512, as whoever picked the register vouches; so below.
                unsafe { $name($add(self.0, b.0)) }
            }
        }

        impl Sub for $name {
            type Output = $name;
            #[inline(always)]
            fn sub(self, b: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($sub(self.0, b.0)) }
            }
        }

        impl Mul for $name {
            type Output = $name;
            #[inline(always)]
            fn mul(self, b: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($mul(self.0, b.0)) }
            }
        }

        impl Register for $name {
            type Item = $t;
            const LANES: usize = $lanes;
            #[inline(always)]
            fn all(x: $t) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($all(x)) }
            }
            #[inline(always)]
            unsafe fn load(x: *const $t) -> $name {
                // SAFETY: the caller's, and AVX-512.
                unsafe { $name($load(x.cast())) }
            }
            #[inline(always)]
            unsafe fn store(self, r: *mut $t) {
                // SAFETY: the caller's, and AVX-512.
                unsafe { $store(r.cast(), self.0) }
            }
            #[inline(always)]
            fn greater(self, other: $name) -> $name {
                // SAFETY: AVX-512. Of unordered numbers the second is the result; so below.
                unsafe { $name($max(self.0, other.0)) }
            }
            #[inline(always)]
            fn lesser(self, other: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($min(self.0, other.0)) }
            }
            #[inline(always)]
            fn equal(self, other: $name) -> Mask {
                // SAFETY: AVX-512.
                Mask::from(unsafe { $equal(self.0, other.0) })
            }
            #[inline(always)]
            fn unordered(self, other: $name) -> Mask {
                // SAFETY: AVX-512.
                Mask::from(unsafe { $unordered(self.0, other.0) })
            }
            #[inline(always)]
            fn sum(self) -> $t {
                // SAFETY: AVX-512.
                unsafe { $sum(self.0) }
            }
            #[inline(always)]
            fn greatest(self) -> $t {
                // SAFETY: AVX-512.
                unsafe { $greatest(self.0) }
            }
            #[inline(always)]
            fn least(self) -> $t {
                // SAFETY: AVX-512.
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
    /// 8 int64.
    I64x8(__m512i): 8 of i64;
    all _mm512_set1_epi64 load _mm512_loadu_epi64 store _mm512_storeu_epi64 add _mm512_add_epi64 sub _mm512_sub_epi64 mul _mm512_mullo_epi64
    max _mm512_max_epi64 min _mm512_min_epi64 equal _mm512_cmpeq_epi64_mask; unordered no_lanes;
    sum _mm512_reduce_add_epi64 greatest _mm512_reduce_max_epi64 least _mm512_reduce_min_epi64
}

/// No integer is NaN.
#[inline(always)]
unsafe fn no_lanes(_: __m512i, _: __m512i) -> __mmask8 {
    0
}

/// [`Masked`] and [`Partial`].
macro_rules! masked {
    ($($name:ident($t:ident, $mask:ident): maskz_load $maskz_load:ident mask_load $mask_load:ident mask_store $mask_store:ident
       blend $blend:ident below $below:expr;)*) => { $(
        impl Masked for $name {
            #[inline(always)]
            unsafe fn load_where(mask: Mask, x: *const $t) -> $name {
                // SAFETY: the caller's, and AVX-512.
                unsafe { $name($maskz_load(mask as $mask, x)) }
            }
            #[inline(always)]
            unsafe fn store_where(self, mask: Mask, r: *mut $t) {
                // SAFETY: the caller's, and AVX-512.
                unsafe { $mask_store(r, mask as $mask, self.0) }
            }
            #[inline(always)]
            fn or_where(self, mask: Mask, b: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($blend(mask as $mask, self.0, b.0)) }
            }
            #[inline(always)]
            fn below(self, b: $name) -> Mask {
                // SAFETY: AVX-512.
                Mask::from(unsafe { $below(self.0, b.0) })
            }
        }

        impl Partial for $name {
            #[inline(always)]
            unsafe fn load_first(self, x: *const $t, n: usize) -> $name {
                if n >= $name::LANES {
                    // SAFETY: the caller's.
                    return unsafe { $name::load(x) };
                }
                // SAFETY: the caller's, and AVX-512.
                unsafe { $name($mask_load(self.0, $name::first(n) as $mask, x)) }
            }
            #[inline(always)]
            unsafe fn store_first(self, r: *mut $t, n: usize) {
                // SAFETY: the caller's.
                unsafe { if n >= $name::LANES { self.store(r) } else { self.store_where($name::first(n), r) } }
            }
        }
    )* };
}
masked! {
    F32x16(f32, __mmask16): maskz_load _mm512_maskz_loadu_ps mask_load _mm512_mask_loadu_ps mask_store _mm512_mask_storeu_ps
        blend _mm512_mask_blend_ps below _mm512_cmp_ps_mask::<_CMP_LT_OQ>;
    F64x8(f64, __mmask8): maskz_load _mm512_maskz_loadu_pd mask_load _mm512_mask_loadu_pd mask_store _mm512_mask_storeu_pd
        blend _mm512_mask_blend_pd below _mm512_cmp_pd_mask::<_CMP_LT_OQ>;
    I64x8(i64, __mmask8): maskz_load _mm512_maskz_loadu_epi64 mask_load _mm512_mask_loadu_epi64 mask_store _mm512_mask_storeu_epi64
        blend _mm512_mask_blend_epi64 below _mm512_cmplt_epi64_mask;
}

macro_rules! floats {
    ($($name:ident($t:ident): div $div:ident fma $fma:ident product $product:ident;)*) => { $(
        impl Div for $name {
            type Output = $name;
            #[inline(always)]
            fn div(self, b: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($div(self.0, b.0)) }
            }
        }

        impl Floats for $name {
            #[inline(always)]
            fn fma(self, b: $name, c: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($fma(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn product(self) -> $t {
                // SAFETY: AVX-512.
                unsafe { $product(self.0) }
            }
        }
    )* };
}
floats! {
    F32x16(f32): div _mm512_div_ps fma _mm512_fmadd_ps product _mm512_reduce_mul_ps;
    F64x8(f64): div _mm512_div_pd fma _mm512_fmadd_pd product _mm512_reduce_mul_pd;
}

impl F64x8 {
    /// Float32 as float64.
    #[inline(always)]
    pub fn of(x: F32x8) -> F64x8 {
        // SAFETY: AVX-512.
        unsafe { F64x8(_mm512_cvtps_pd(x.0)) }
    }

    /// The numbers rounded to float32.
    #[inline(always)]
    pub fn narrow(self) -> F32x8 {
        // SAFETY: AVX-512.
        unsafe { F32x8(_mm512_cvtpd_ps(self.0)) }
    }
}

impl Float32s for F32x16 {
    type Wide = Pair<F64x8>;
    #[inline(always)]
    fn widen(self) -> Pair<F64x8> {
        // SAFETY: AVX-512.
        let (low, high) = unsafe { (_mm512_castps512_ps256(self.0), _mm512_extractf32x8_ps::<1>(self.0)) };
        Pair(F64x8::of(F32x8(low)), F64x8::of(F32x8(high)))
    }
    #[inline(always)]
    unsafe fn load_wide(x: *const f32) -> Pair<F64x8> {
        // SAFETY: the caller's.
        unsafe { Pair(F64x8::of(F32x8::load(x)), F64x8::of(F32x8::load(x.add(8)))) }
    }
    #[inline(always)]
    unsafe fn load_f16(x: *const u16) -> F32x16 {
        // SAFETY: the caller's, and AVX-512.
        unsafe { F32x16(_mm512_cvtph_ps(_mm256_loadu_si256(x.cast()))) }
    }
    #[inline(always)]
    unsafe fn load_bf16(x: *const u16) -> F32x16 {
        // SAFETY: the caller's, and AVX-512.
        unsafe { F32x16(_mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(_mm256_loadu_si256(x.cast()))))) }
    }
    #[inline(always)]
    unsafe fn load_bf16_unordered(x: *const u16) -> [F32x16; 2] {
        // SAFETY: the caller's, and AVX-512.
        unsafe {
            let pairs = _mm512_loadu_si512(x.cast());
            let (first, second) = (_mm512_slli_epi32::<16>(pairs), _mm512_and_si512(pairs, _mm512_set1_epi32(-1 << 16)));
            [F32x16(_mm512_castsi512_ps(first)), F32x16(_mm512_castsi512_ps(second))]
        }
    }
    #[inline(always)]
    fn and(self, bits: F32x16) -> F32x16 {
        // SAFETY: AVX-512.
        unsafe { F32x16(_mm512_and_ps(self.0, bits.0)) }
    }
}
