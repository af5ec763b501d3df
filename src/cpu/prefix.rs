//! Running sums and products of floats in wide registers, where the machine has them.
//!
//! A register is summed in log2 steps, each adding the register to itself shifted by 1, 2, 4, ... lanes; only the total of what came before
//! goes from register to register. That rounds in another order than one element after the other, and an overflow on the way could show
//! where the sum itself has none: such pieces are left to the caller.

use super::simd::{Level, level};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// A float whose running sums and products there are.
pub trait Prefix: Sized {
    /// `out[i] = total * x[0] ... x[i]` or the sum, `total` becomes the last of them. False if nothing was done, save that `out` is undefined.
    ///
    /// # Safety
    /// Both must hold `n` elements and not overlap.
    unsafe fn run<const PRODUCT: bool>(out: *mut Self, x: *const Self, n: usize, total: &mut f64) -> bool;
}

macro_rules! prefix {
    ($($t:ty),*) => { $(
        impl Prefix for $t {
            #[inline(always)]
            unsafe fn run<const PRODUCT: bool>(out: *mut $t, x: *const $t, n: usize, total: &mut f64) -> bool {
                #[cfg(target_arch = "x86_64")]
                if level() == Level::Avx512 {
                    // SAFETY: the machine has the level; the rest is the caller's.
                    return unsafe { wide::<$t, PRODUCT>(out, x, n, total) };
                }
                false
            }
        }
    )* };
}
prefix!(f32, f64);

/// Eight floats as float64.
///
/// # Safety
/// Pointers must be good for the elements with a bit in `mask`; the machine has AVX-512.
#[cfg(target_arch = "x86_64")]
trait Wide {
    /// Whether the product of any eight stays in the range of float64.
    const SAFE: bool;
    unsafe fn load(x: *const Self, mask: u8) -> __m512d;
    unsafe fn store(out: *mut Self, mask: u8, v: __m512d);
}

#[cfg(target_arch = "x86_64")]
impl Wide for f32 {
    const SAFE: bool = true;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn load(x: *const f32, mask: u8) -> __m512d {
        // SAFETY: the caller's.
        _mm512_cvtps_pd(unsafe { _mm256_maskz_loadu_ps(mask, x) })
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn store(out: *mut f32, mask: u8, v: __m512d) {
        // SAFETY: the caller's.
        unsafe { _mm256_mask_storeu_ps(out, mask, _mm512_cvtpd_ps(v)) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Wide for f64 {
    const SAFE: bool = false;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn load(x: *const f64, mask: u8) -> __m512d {
        // SAFETY: the caller's.
        unsafe { _mm512_maskz_loadu_pd(mask, x) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    unsafe fn store(out: *mut f64, mask: u8, v: __m512d) {
        // SAFETY: the caller's.
        unsafe { _mm512_mask_storeu_pd(out, mask, v) }
    }
}

/// Sums or products, eight at a time in float64.
///
/// # Safety
/// As for [`Prefix::run`]; the machine has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn wide<T: Wide, const PRODUCT: bool>(out: *mut T, x: *const T, n: usize, total: &mut f64) -> bool {
    // No product of eight such factors leaves the range of float64.
    let (least, most) = (_mm512_set1_pd(f64::powi(2.0, -120)), _mm512_set1_pd(f64::powi(2.0, 120)));
    let mut sum = _mm512_set1_pd(*total);
    let (mut sound, mut spoilt) = (0xff, _mm512_setzero_pd());
    for at in (0..n).step_by(8) {
        let mask = if n - at >= 8 { 0xff } else { (1u8 << (n - at)) - 1 };
        // SAFETY: the mask ends with the caller's memory.
        let v = unsafe { T::load(x.add(at), mask) };
        let v = if PRODUCT { _mm512_mask_blend_pd(mask, _mm512_set1_pd(1.0), v) } else { v };
        let inside = lanes_f64::<PRODUCT>(v);
        let all = _mm512_permutexvar_pd(_mm512_set1_epi64(7), inside);
        let result = if PRODUCT { _mm512_mul_pd(inside, sum) } else { _mm512_add_pd(inside, sum) };
        sum = if PRODUCT { _mm512_mul_pd(sum, all) } else { _mm512_add_pd(sum, all) };
        if !PRODUCT {
            spoilt = _mm512_fmadd_pd(result, _mm512_setzero_pd(), spoilt);
        } else if !T::SAFE {
            let size = _mm512_abs_pd(v);
            sound &= _mm512_cmp_pd_mask::<_CMP_GE_OQ>(size, least) & _mm512_cmp_pd_mask::<_CMP_LE_OQ>(size, most);
        }
        // SAFETY: as above.
        unsafe { T::store(out.add(at), mask, result) };
    }
    let done = sound == 0xff && _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(spoilt, spoilt) == 0;
    *total = if done { _mm512_cvtsd_f64(sum) } else { *total };
    done
}

/// The running sums or products of eight lanes.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn lanes_f64<const PRODUCT: bool>(v: __m512d) -> __m512d {
    let neutral = _mm512_castpd_si512(_mm512_set1_pd(if PRODUCT { 1.0 } else { 0.0 }));
    macro_rules! step {
        ($v:ident, $lanes:literal) => {{
            let shifted = _mm512_castsi512_pd(_mm512_alignr_epi64::<{ 8 - $lanes }>(_mm512_castpd_si512($v), neutral));
            if PRODUCT { _mm512_mul_pd($v, shifted) } else { _mm512_add_pd($v, shifted) }
        }};
    }
    let v = step!(v, 1);
    let v = step!(v, 2);
    step!(v, 4)
}
