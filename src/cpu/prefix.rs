//! Running sums and products in wide registers, where the machine has them.
//!
//! Of each element and the seven before it the sum is made in log2 steps, each adding neighbours 1, 2 and 4 elements away; a register of such
//! sums, added to the results of the register before, gives the next results, so that only one addition waits for another. That rounds in
//! another order than one element after the other, and an overflow on the way could show where the sum itself has none: such pieces are
//! left to the caller. Float32 lines one after the other have a way without either, [`eight`] of them at once.

// Elsewhere the ways to go are the trait's: none.
#![cfg_attr(not(target_arch = "x86_64"), allow(unused_variables))]

#[cfg(target_arch = "x86_64")]
mod eight;

use super::lines::Stack;
#[cfg(target_arch = "x86_64")]
use super::simd::{Level, level};
use crate::dtype::Bool;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// An element type, and what its running sums and products are kept in and become; there may be a faster way to them.
pub trait Prefix<Total, Out>: Sized {
    /// How many lines of `n` elements [`Prefix::run_lines`] takes together.
    fn together(_n: usize) -> usize {
        1
    }

    /// `out[i] = total * x[0] ... x[i]` or the sum, `total` becomes the last of them. False if nothing was done, save that `out` is undefined.
    ///
    /// # Safety
    /// Both must hold `n` elements and not overlap.
    #[inline(always)]
    unsafe fn run<const PRODUCT: bool>(_out: *mut Out, _x: *const Self, _n: usize, _total: &mut Total) -> bool {
        false
    }

    /// The same for lines one after the other. How many of them, from the first on, are done.
    ///
    /// # Safety
    /// There must be as many lines of as many elements, and results, which do not overlap anything.
    #[inline(always)]
    unsafe fn run_lines<const PRODUCT: bool>(_lines: Stack) -> usize {
        0
    }

    /// The same for lines side by side: `n` of them, with a total each, of which some rows are done. False if nothing was done.
    ///
    /// # Safety
    /// All must hold `n` elements, and results not overlap anything.
    #[inline(always)]
    unsafe fn run_beside<const PRODUCT: bool>(_out: [*mut Out; ROWS], _x: [*const Self; ROWS], _n: usize, _totals: *mut Total) -> bool {
        false
    }
}

impl Prefix<i64, i64> for u8 {}
impl Prefix<i64, i64> for i8 {}
impl Prefix<i64, i64> for i16 {}
impl Prefix<i64, i64> for i32 {}
impl Prefix<i64, i64> for Bool {}

impl Prefix<i64, i64> for i64 {
    #[inline(always)]
    unsafe fn run<const PRODUCT: bool>(out: *mut i64, x: *const i64, n: usize, total: &mut i64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if !PRODUCT && level() == Level::Avx512 {
            // SAFETY: the machine has the level; the rest is the caller's.
            unsafe { integers(out, x, n, total) }
            return true;
        }
        false
    }
}

/// Rows of lines side by side that are done together.
pub(crate) const ROWS: usize = 4;

macro_rules! prefix {
    ($($t:ty $({ $($more:item)* })?),*) => { $(
        impl Prefix<f64, $t> for $t {
            $($($more)*)?

            #[inline(always)]
            unsafe fn run<const PRODUCT: bool>(out: *mut $t, x: *const $t, n: usize, total: &mut f64) -> bool {
                #[cfg(target_arch = "x86_64")]
                if level() == Level::Avx512 {
                    // SAFETY: the machine has the level; the rest is the caller's.
                    return unsafe { wide::<$t, PRODUCT>(out, x, n, total) };
                }
                false
            }

            #[inline(always)]
            unsafe fn run_beside<const PRODUCT: bool>(out: [*mut $t; ROWS], x: [*const $t; ROWS], n: usize, totals: *mut f64) -> bool {
                #[cfg(target_arch = "x86_64")]
                if level() == Level::Avx512 {
                    // SAFETY: the machine has the level; the rest is the caller's.
                    unsafe { wide_beside::<$t, PRODUCT>(out, x, n, totals) }
                    return true;
                }
                false
            }
        }
    )* };
}
prefix!(
    f32 {
        #[cfg(target_arch = "x86_64")]
        fn together(n: usize) -> usize {
            eight::together(n)
        }

        #[cfg(target_arch = "x86_64")]
        #[inline(always)]
        unsafe fn run_lines<const PRODUCT: bool>(lines: Stack) -> usize {
            // SAFETY: the caller's.
            unsafe { eight::run::<PRODUCT>(lines) }
        }
    },
    f64
);

/// Eight floats as float64.
///
/// # Safety
/// Pointers must be good for the elements with a bit in `mask`; the machine has AVX-512.
#[cfg(target_arch = "x86_64")]
trait Wide: Copy {
    /// Whether float64 has room for the sum of any eight.
    const SAFE: bool;
    const ZERO: Self;
    unsafe fn load(x: *const Self, mask: u8) -> __m512d;
    unsafe fn store(out: *mut Self, mask: u8, v: __m512d);
}

#[cfg(target_arch = "x86_64")]
impl Wide for f32 {
    const SAFE: bool = true;
    const ZERO: f32 = 0.0;

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
    const ZERO: f64 = 0.0;

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
    let neutral = _mm512_set1_pd(if PRODUCT { 1.0 } else { 0.0 });
    let mut sums = Sums::<PRODUCT> { twos: neutral, fours: neutral, results: _mm512_set1_pd(*total) };
    let (mut sound, mut spoilt, mut at) = (true, _mm512_setzero_pd(), 0);
    let mut check = |v: __m512d, result: __m512d| {
        if PRODUCT {
            sound &= moderate(v);
        } else if !T::SAFE {
            spoilt = _mm512_fmadd_pd(result, _mm512_setzero_pd(), spoilt);
        }
    };
    // SAFETY: the caller's; masks end with its memory, the element before the first is left out.
    unsafe {
        while n - at >= 8 {
            let v = T::load(x.add(at), 0xff);
            let before = if at == 0 { shifted(v, neutral) } else { T::load(x.add(at).sub(1), 0xff) };
            let result = sums.push(v, before);
            check(v, result);
            T::store(out.add(at), 0xff, result);
            at += 8;
        }
        if at < n {
            let mask = (1u8 << (n - at)) - 1;
            let v = _mm512_mask_blend_pd(mask, neutral, T::load(x.add(at), mask));
            let last = if at == 0 { neutral } else { T::load(x.add(at).sub(1), 1) };
            let before = shifted(v, _mm512_permutexvar_pd(_mm512_setzero_si512(), last));
            let result = sums.push(v, before);
            check(v, result);
            // Masked stores are slow on AMD's machines.
            let mut rest = [T::ZERO; 8];
            T::store(rest.as_mut_ptr(), 0xff, result);
            (at..n).for_each(|i| out.add(i).write(rest[i - at]));
        }
    }
    let done = sound && _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(spoilt, spoilt) == 0;
    if done {
        *total = _mm512_cvtsd_f64(_mm512_permutexvar_pd(_mm512_set1_epi64(7), sums.results));
    }
    done
}

/// Sums of eight are made in three steps, then moved by the total: one addition and one move wait for another, not eight additions.
///
/// # Safety
/// As for [`Prefix::run`]; the machine has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn integers(out: *mut i64, x: *const i64, n: usize, total: &mut i64) {
    let (zero, last) = (_mm512_setzero_si512(), _mm512_set1_epi64(7));
    let (mut before, mut at) = (_mm512_set1_epi64(*total), 0);
    // SAFETY: the caller's.
    unsafe {
        while n - at >= 8 {
            let v = _mm512_loadu_epi64(x.add(at));
            let twos = _mm512_add_epi64(v, _mm512_alignr_epi64::<7>(v, zero));
            let fours = _mm512_add_epi64(twos, _mm512_alignr_epi64::<6>(twos, zero));
            let sums = _mm512_add_epi64(fours, _mm512_alignr_epi64::<4>(fours, zero));
            _mm512_storeu_epi64(out.add(at), _mm512_add_epi64(before, sums));
            before = _mm512_add_epi64(before, _mm512_permutexvar_epi64(last, sums));
            at += 8;
        }
        let mut sum = _mm_cvtsi128_si64(_mm512_castsi512_si128(before));
        while at < n {
            sum = sum.wrapping_add(x.add(at).read());
            out.add(at).write(sum);
            at += 1;
        }
        *total = sum;
    }
}

/// Totals of eight lines stay in a register from row to row.
///
/// # Safety
/// As for [`Prefix::run_beside`]; the machine has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn wide_beside<T: Wide, const PRODUCT: bool>(out: [*mut T; ROWS], x: [*const T; ROWS], n: usize, totals: *mut f64) {
    for at in (0..n).step_by(8) {
        let mask = if n - at >= 8 { 0xff } else { (1u8 << (n - at)) - 1 };
        // SAFETY: the caller's; masks end with its memory.
        unsafe {
            let mut total = f64::load(totals.add(at), mask);
            for k in 0..ROWS {
                let v = T::load(x[k].add(at), mask);
                total = if PRODUCT { _mm512_mul_pd(total, v) } else { _mm512_add_pd(total, v) };
                T::store(out[k].add(at), mask, total);
            }
            f64::store(totals.add(at), mask, total);
        }
    }
}

/// `v` one lane further on, after the last one of `before`.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn shifted(v: __m512d, before: __m512d) -> __m512d {
    _mm512_castsi512_pd(_mm512_alignr_epi64::<7>(_mm512_castpd_si512(v), _mm512_castpd_si512(before)))
}

/// Whether no product of eight such factors leaves the range of float64.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn moderate(v: __m512d) -> bool {
    let (least, most) = (_mm512_set1_pd(f64::powi(2.0, -120)), _mm512_set1_pd(f64::powi(2.0, 120)));
    let size = _mm512_abs_pd(v);
    _mm512_cmp_pd_mask::<_CMP_GE_OQ>(size, least) & _mm512_cmp_pd_mask::<_CMP_LE_OQ>(size, most) == 0xff
}

/// What the next register needs to know of the last one.
#[cfg(target_arch = "x86_64")]
struct Sums<const PRODUCT: bool> {
    /// Of each element and the one before.
    twos: __m512d,
    /// Of each element and three before.
    fours: __m512d,
    /// Of all elements so far.
    results: __m512d,
}

#[cfg(target_arch = "x86_64")]
impl<const PRODUCT: bool> Sums<PRODUCT> {
    /// The next results, from elements and those before each.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn push(&mut self, v: __m512d, before: __m512d) -> __m512d {
        let join = |a, b| if PRODUCT { _mm512_mul_pd(a, b) } else { _mm512_add_pd(a, b) };
        let (twos, fours) = (_mm512_castpd_si512(self.twos), _mm512_castpd_si512(self.fours));
        self.twos = join(v, before);
        let earlier = _mm512_alignr_epi64::<6>(_mm512_castpd_si512(self.twos), twos);
        self.fours = join(self.twos, _mm512_castsi512_pd(earlier));
        let earlier = _mm512_alignr_epi64::<4>(_mm512_castpd_si512(self.fours), fours);
        self.results = join(self.results, join(self.fours, _mm512_castsi512_pd(earlier)));
        self.results
    }
}
