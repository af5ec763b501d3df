//! The parts of elementary functions for which AVX-512 has instructions: exponents and mantissas, signs, and tables in registers.

use super::avx512::{F32x16, F64x8};
use super::{Floats, Mask, Masked, Register};
use std::arch::x86_64::*;
use std::ops::Div;

/// A register of floats in which elementary functions are computed.
pub trait Elementary: Floats + Masked + Div<Output = Self> {
    /// `self * b - c`, rounded once.
    fn fmsub(self, b: Self, c: Self) -> Self;
    /// `c - self * b`, rounded once.
    fn fnmadd(self, b: Self, c: Self) -> Self;
    /// `self * b + c`, rounded once, up.
    fn fma_up(self, b: Self, c: Self) -> Self;
    /// `self * b + c`, rounded once, down.
    fn fma_down(self, b: Self, c: Self) -> Self;
    /// Returns the smaller number. NaN is kept.
    #[inline(always)]
    fn at_most(self, limit: Self::Item) -> Self {
        Self::all(limit).lesser(self)
    }
    /// Returns the larger number. NaN is kept.
    #[inline(always)]
    fn at_least(self, limit: Self::Item) -> Self {
        Self::all(limit).greater(self)
    }
    /// Returns the number without the sign.
    fn abs(self) -> Self;
    /// Returns the magnitude with the sign of `b`.
    fn with_sign(self, b: Self) -> Self;
    /// Returns the number, negated where `b` is negative.
    fn flipped(self, b: Self) -> Self;
    /// Returns a mask of the lanes whose sign bit is set.
    fn negative(self) -> Mask;
    /// Returns a mask of the lanes with numbers between `-limit` and `limit`.
    #[inline(always)]
    fn inside(self, limit: Self::Item) -> Mask {
        self.abs().below(Self::all(limit))
    }
    /// `self * 2^floor(n)`, rounded once.
    fn scale(self, n: Self) -> Self;
    /// `floor(log2 |self|)`; -inf for zero, inf for infinity.
    fn exponent(self) -> Self;
    /// `self / 2^exponent`, from 1 to 2 if `self` is positive.
    fn mantissa(self) -> Self;
    /// Returns the exponent e and the mantissa m of `self = 2^e m` with 3/4 <= m < 3/2. Zero has the exponent -inf, infinity inf. The
    /// mantissa of a negative number is NaN.
    fn split(self) -> (Self, Self);
    /// Returns elements of a table of `2 * LANES`, selected by the lowest bits of each lane.
    fn lookup(self, table: &[Self::Item]) -> Self;
    /// Returns the bits, shifted right by `N`.
    fn shifted_right<const N: u32>(self) -> Self;
}

macro_rules! elementary {
    ($($name:ident($t:ident): fmsub $fmsub:ident fnmadd $fnmadd:ident fma_round $fma_round:ident abs $abs:ident scale $scale:ident
       exponent $exponent:ident mantissa $mantissa:ident cmp $cmp:ident mask_add $mask_add:ident lookup $lookup:ident
       bits $bits:ident from_bits $from_bits:ident signs $signs:ident srli $srli:ident;)*) => { $(
        impl Elementary for $name {
            #[inline(always)]
            fn fmsub(self, b: $name, c: $name) -> $name {
                // SAFETY: the processor has AVX-512, which the code that chose the register guarantees, here and below.
                unsafe { $name($fmsub(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn fnmadd(self, b: $name, c: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($fnmadd(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn fma_up(self, b: $name, c: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($fma_round::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn fma_down(self, b: $name, c: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($fma_round::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(self.0, b.0, c.0)) }
            }
            #[inline(always)]
            fn abs(self) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($abs(self.0)) }
            }
            #[inline(always)]
            fn with_sign(self, b: $name) -> $name {
                let sign = $name::all(-0.0);
                // SAFETY: the processor has AVX-512. Takes the sign bit from `b` and the others from `self`.
                unsafe { $name($from_bits(_mm512_ternarylogic_epi64::<0xca>($bits(sign.0), $bits(b.0), $bits(self.0)))) }
            }
            #[inline(always)]
            fn flipped(self, b: $name) -> $name {
                let sign = $name::all(-0.0);
                // SAFETY: the processor has AVX-512. `self ^ (b & sign)`
                unsafe { $name($from_bits(_mm512_ternarylogic_epi64::<0x78>($bits(self.0), $bits(b.0), $bits(sign.0)))) }
            }
            #[inline(always)]
            fn negative(self) -> Mask {
                // SAFETY: the processor has AVX-512.
                Mask::from(unsafe { $signs($bits(self.0)) })
            }
            #[inline(always)]
            fn scale(self, n: $name) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($scale(self.0, n.0)) }
            }
            #[inline(always)]
            fn exponent(self) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($exponent(self.0)) }
            }
            #[inline(always)]
            fn mantissa(self) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($mantissa::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_SRC>(self.0)) }
            }
            #[inline(always)]
            fn split(self) -> ($name, $name) {
                let (e, one) = (self.exponent(), $name::all(1.0));
                // SAFETY: the processor has AVX-512.
                unsafe {
                    let m = $mantissa::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(self.0);
                    ($name($mask_add(e.0, $cmp::<_CMP_LT_OQ>(m, one.0), e.0, one.0)), $name(m))
                }
            }
            #[inline(always)]
            fn lookup(self, table: &[$t]) -> $name {
                assert!(table.len() == 2 * $name::LANES);
                // SAFETY: the processor has AVX-512; the table fills two registers.
                unsafe {
                    let (low, high) = ($name::load(table.as_ptr()), $name::load(table.as_ptr().add($name::LANES)));
                    $name($lookup(low.0, $bits(self.0), high.0))
                }
            }
            #[inline(always)]
            fn shifted_right<const N: u32>(self) -> $name {
                // SAFETY: the processor has AVX-512.
                unsafe { $name($from_bits($srli::<N>($bits(self.0)))) }
            }
        }
    )* };
}
elementary! {
    F32x16(f32): fmsub _mm512_fmsub_ps fnmadd _mm512_fnmadd_ps fma_round _mm512_fmadd_round_ps abs _mm512_abs_ps scale _mm512_scalef_ps
        exponent _mm512_getexp_ps mantissa _mm512_getmant_ps cmp _mm512_cmp_ps_mask mask_add _mm512_mask_add_ps
        lookup _mm512_permutex2var_ps bits _mm512_castps_si512 from_bits _mm512_castsi512_ps
        signs _mm512_movepi32_mask srli _mm512_srli_epi32;
    F64x8(f64): fmsub _mm512_fmsub_pd fnmadd _mm512_fnmadd_pd fma_round _mm512_fmadd_round_pd abs _mm512_abs_pd scale _mm512_scalef_pd
        exponent _mm512_getexp_pd mantissa _mm512_getmant_pd cmp _mm512_cmp_pd_mask mask_add _mm512_mask_add_pd
        lookup _mm512_permutex2var_pd bits _mm512_castpd_si512 from_bits _mm512_castsi512_pd
        signs _mm512_movepi64_mask srli _mm512_srli_epi64;
}

/// Prefetches the cache line at `p` for writing.
#[inline(always)]
pub fn prefetch_to_write(p: *const u8) {
    // SAFETY: prefetching an address does not access it.
    unsafe { _mm_prefetch::<_MM_HINT_ET0>(p.cast()) }
}

impl F64x8 {
    /// `1 / sqrt(self)` with a relative error below 2^-14.
    #[inline(always)]
    pub fn rsqrt_estimate(self) -> F64x8 {
        // SAFETY: the processor has AVX-512.
        unsafe { F64x8(_mm512_rsqrt14_pd(self.0)) }
    }

    /// Returns the square root, correctly rounded.
    #[inline(always)]
    pub fn sqrt(self) -> F64x8 {
        // SAFETY: the processor has AVX-512.
        unsafe { F64x8(_mm512_sqrt_pd(self.0)) }
    }

    /// Returns true if the bits of all lanes, as unsigned integers, are at least `from` and less than `to`.
    #[inline(always)]
    pub fn all_bits_within(self, from: u64, to: u64) -> bool {
        // SAFETY: the processor has AVX-512.
        unsafe {
            let above = _mm512_sub_epi64(_mm512_castpd_si512(self.0), _mm512_set1_epi64(from as i64));
            _mm512_cmpge_epu64_mask(above, _mm512_set1_epi64((to - from) as i64)) == 0
        }
    }
}
