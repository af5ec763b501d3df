//! Whole AVX-512 registers as numbers, for [`wide`](super::wide): 16 of f32 or 8 of f64.
//!
//! Everything is inlined into functions compiled for AVX-512; nothing here may run on another machine.

use super::wide_tables::{Constants, K32, K64};
use std::arch::x86_64::*;
use std::ops::{Add, Div, Mul, Sub};

/// A register.
pub(super) trait Lanes: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    /// Its elements.
    type Item: Copy + 'static;
    /// How many.
    const COUNT: usize;
    /// What the functions need to know of the type.
    const K: Constants<Self::Item>;

    /// # Safety
    /// `COUNT` elements lie there.
    unsafe fn load(from: *const Self::Item) -> Self;
    /// # Safety
    /// As for [`Lanes::load`].
    unsafe fn store(self, to: *mut Self::Item);
    /// A mask of the first `n` elements.
    #[inline(always)]
    fn first(n: usize) -> u32 {
        (1 << n) - 1
    }
    /// The elements of a mask; the others are 0.
    ///
    /// # Safety
    /// They lie there.
    unsafe fn load_where(mask: u32, from: *const Self::Item) -> Self;
    /// # Safety
    /// As for [`Lanes::load_where`].
    unsafe fn store_where(self, mask: u32, to: *mut Self::Item);
    /// `x` in every element.
    fn all(x: Self::Item) -> Self;
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// `self * b - c`, rounded once.
    fn beyond(self, b: Self, c: Self) -> Self;
    /// `c - self * b`, rounded once.
    fn taken(self, b: Self, c: Self) -> Self;
    /// The smaller one; NaN stays.
    fn at_most(self, limit: Self::Item) -> Self;
    /// The larger one; NaN stays.
    fn at_least(self, limit: Self::Item) -> Self;
    /// Without the sign.
    fn abs(self) -> Self;
    /// `self * 2^floor(n)`, rounded once.
    fn scale(self, n: Self) -> Self;
    /// `self = 2^e m` with 3/4 <= m < 3/2. Zero has the exponent -inf, infinity inf; negative numbers have no mantissa.
    fn split(self) -> (Self, Self);
    /// The elements of a table of `2 * COUNT`, chosen by the lowest bits.
    fn lookup(self, table: &[Self::Item]) -> Self;
    /// With the sign of `b`.
    fn with_sign(self, b: Self) -> Self;
    /// Negated where `b` has the sign.
    fn flipped(self, b: Self) -> Self;
    /// Which are less than those of `b`.
    fn below(self, b: Self) -> u32;
    /// `b` where the mask says so.
    fn or_where(self, mask: u32, b: Self) -> Self;
    /// Which are numbers between `-limit` and `limit`.
    fn inside(self, limit: Self::Item) -> u32;
}

macro_rules! lanes {
    ($(#[$doc:meta])* $name:ident($register:ident) of $count:literal $item:ident, $mask:ident, $k:ident;
     $loadu:ident $storeu:ident $maskz_loadu:ident $mask_storeu:ident $set1:ident $add:ident $sub:ident $mul:ident $div:ident $fma:ident $fms:ident $fnma:ident
     $min:ident $max:ident $abs:ident $scalef:ident $getexp:ident $getmant:ident $cmp:ident $mask_add:ident $lookup:ident $cast:ident $uncast:ident $blend:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(super) struct $name(pub(super) $register);

        impl Add for $name {
            type Output = $name;
            #[inline(always)]
            fn add(self, b: $name) -> $name {
                // SAFETY: the module is for AVX-512 only; so below.
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
        impl Div for $name {
            type Output = $name;
            #[inline(always)]
            fn div(self, b: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($div(self.0, b.0)) }
            }
        }
        impl Lanes for $name {
            type Item = $item;
            const COUNT: usize = $count;
            const K: Constants<$item> = $k;

            #[inline(always)]
            unsafe fn load(from: *const $item) -> $name {
                // SAFETY: the caller's, and AVX-512.
                unsafe { $name($loadu(from)) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $item) {
                // SAFETY: the caller's, and AVX-512.
                unsafe { $storeu(to, self.0) }
            }
            #[inline(always)]
            unsafe fn load_where(mask: u32, from: *const $item) -> $name {
                // SAFETY: the caller's, and AVX-512.
                unsafe { $name($maskz_loadu(mask as $mask, from)) }
            }
            #[inline(always)]
            unsafe fn store_where(self, mask: u32, to: *mut $item) {
                // SAFETY: the caller's, and AVX-512.
                unsafe { $mask_storeu(to, mask as $mask, self.0) }
            }
            #[inline(always)]
            fn all(x: $item) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($set1(x)) }
            }
            #[inline(always)]
            fn fma(self, b: $name, c: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($fma(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn beyond(self, b: $name, c: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($fms(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn taken(self, b: $name, c: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($fnma(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn at_most(self, limit: $item) -> $name {
                // SAFETY: AVX-512. Of unordered operands the second is the result.
                unsafe { $name($min($set1(limit), self.0)) }
            }
            #[inline(always)]
            fn at_least(self, limit: $item) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($max($set1(limit), self.0)) }
            }
            #[inline(always)]
            fn abs(self) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($abs(self.0)) }
            }
            #[inline(always)]
            fn scale(self, n: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($scalef(self.0, n.0)) }
            }
            #[inline(always)]
            fn split(self) -> ($name, $name) {
                // SAFETY: AVX-512.
                unsafe {
                    let (e, one) = ($getexp(self.0), $set1(1.0));
                    let m = $getmant::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(self.0);
                    let e = $mask_add(e, $cmp::<_CMP_LT_OQ>(m, one), e, one);
                    ($name(e), $name(m))
                }
            }
            #[inline(always)]
            fn lookup(self, table: &[$item]) -> $name {
                assert!(table.len() == 2 * $count);
                // SAFETY: AVX-512; the table fills two registers.
                unsafe {
                    let (low, high) = ($loadu(table.as_ptr()), $loadu(table.as_ptr().add($count)));
                    $name($lookup(low, $cast(self.0), high))
                }
            }
            #[inline(always)]
            fn with_sign(self, b: $name) -> $name {
                // SAFETY: AVX-512. Where the first bits are set, those of `b`, else those of `self`.
                unsafe { $name($uncast(_mm512_ternarylogic_epi64::<0xca>($cast($set1(-0.0)), $cast(b.0), $cast(self.0)))) }
            }
            #[inline(always)]
            fn flipped(self, b: $name) -> $name {
                // SAFETY: AVX-512. `self ^ (b & sign)`
                unsafe { $name($uncast(_mm512_ternarylogic_epi64::<0x78>($cast(self.0), $cast(b.0), $cast($set1(-0.0))))) }
            }
            #[inline(always)]
            fn below(self, b: $name) -> u32 {
                // SAFETY: AVX-512.
                unsafe { u32::from($cmp::<_CMP_LT_OQ>(self.0, b.0)) }
            }
            #[inline(always)]
            fn or_where(self, mask: u32, b: $name) -> $name {
                // SAFETY: AVX-512.
                unsafe { $name($blend(mask as $mask, self.0, b.0)) }
            }
            #[inline(always)]
            fn inside(self, limit: $item) -> u32 {
                // SAFETY: AVX-512.
                unsafe { u32::from($cmp::<_CMP_LT_OQ>($abs(self.0), $set1(limit))) }
            }
        }
    };
}
lanes! {
    /// 16 of f32.
    X32(__m512) of 16 f32, __mmask16, K32;
    _mm512_loadu_ps _mm512_storeu_ps _mm512_maskz_loadu_ps _mm512_mask_storeu_ps _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps
    _mm512_fmadd_ps _mm512_fmsub_ps _mm512_fnmadd_ps _mm512_min_ps _mm512_max_ps _mm512_abs_ps _mm512_scalef_ps _mm512_getexp_ps _mm512_getmant_ps
    _mm512_cmp_ps_mask _mm512_mask_add_ps _mm512_permutex2var_ps _mm512_castps_si512 _mm512_castsi512_ps _mm512_mask_blend_ps
}
lanes! {
    /// 8 of f64.
    X64(__m512d) of 8 f64, __mmask8, K64;
    _mm512_loadu_pd _mm512_storeu_pd _mm512_maskz_loadu_pd _mm512_mask_storeu_pd _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd
    _mm512_fmadd_pd _mm512_fmsub_pd _mm512_fnmadd_pd _mm512_min_pd _mm512_max_pd _mm512_abs_pd _mm512_scalef_pd _mm512_getexp_pd _mm512_getmant_pd
    _mm512_cmp_pd_mask _mm512_mask_add_pd _mm512_permutex2var_pd _mm512_castpd_si512 _mm512_castsi512_pd _mm512_mask_blend_pd
}
