//! erf, erfc and gelu over runs: by tables where one instruction picks from them.
//!
//! With AVX-512 each of 32 (16 for f64) intervals has a polynomial of its own, without exponentials or divisions; other instruction sets take the
//! functions of one element, and so do arguments in the tails. Largest errors: erf 0.8 (f64), erfc 1.3 and 1.9, gelu 1.9 and 2.0.

use super::{erf_f32, erf_f64, erfc_f32, erfc_f64, gelu_f32, gelu_f64};
use crate::cpu::simd::{Isa, Level, level, simd};

#[cfg(target_arch = "x86_64")]
mod coefficients;

macro_rules! runs {
    ($($(#[$doc:meta])* $name:ident: $t:ty, $plain:path $(, $table:path)?;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// `r` and `a` have `n` elements, and are either apart or the same.
        pub unsafe fn $name(r: *mut $t, a: *const $t, n: usize) {
            $(
                #[cfg(target_arch = "x86_64")]
                if level() == Level::Avx512 {
                    // SAFETY: AVX-512 was found; the rest is the caller's.
                    return unsafe { $table(r, a, n) };
                }
            )?
            // SAFETY: the caller's.
            unsafe { plain(r, a, n, $plain) }
        }
    )* };
}

runs! {
    /// `r[i] = erf(a[i])`
    erf_run_f32: f32, erf_f32;
    /// `r[i] = erf(a[i])`
    erf_run_f64: f64, erf_f64, wide::erf_f64;
    /// `r[i] = erfc(a[i])`
    erfc_run_f32: f32, erfc_f32, wide::erfc_f32;
    /// `r[i] = erfc(a[i])`
    erfc_run_f64: f64, erfc_f64, wide::erfc_f64;
    /// `r[i] = a[i] Phi(a[i])`, the exact gelu.
    gelu_run_f32: f32, gelu_f32, wide::gelu_f32;
    /// `r[i] = a[i] Phi(a[i])`, the exact gelu.
    gelu_run_f64: f64, gelu_f64, wide::gelu_f64;
}

/// `r[i] = f(a[i])`
///
/// # Safety
/// `r` and `a` have `n` elements.
#[inline(always)]
unsafe fn plain<T>(r: *mut T, a: *const T, n: usize, f: impl Fn(Isa, T) -> T) {
    simd(
        #[inline(always)]
        move |isa| {
            for i in 0..n {
                // SAFETY: the caller's.
                unsafe { r.add(i).write(f(isa, a.add(i).read())) }
            }
        },
    )
}

/// The tables' side. A kernel takes a vector of arguments within its bound and is only called where AVX-512 is.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::coefficients::{ERF_64, ERFC_32, ERFC_64, GELU_32, GELU_64};
    use super::plain;
    use crate::cpu::simd::Isa;
    use std::arch::x86_64::*;

    // 1.5 * 2^23 (2^52) rounds to an integer and leaves it in the low bits, where the instruction that picks finds the index.
    const SHIFT_32: f32 = 12_582_912.0;
    const SHIFT_64: f64 = 6_755_399_441_055_744.0;
    const UP: i32 = _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC;

    /// Vectors computed side by side: their polynomials hide each other's latency.
    const GROUP: usize = 4;
    /// Bytes between what is computed and what is fetched: the hardware's own prefetching stops at the end of each page.
    const AHEAD: usize = 1024;

    macro_rules! walk {
        ($name:ident, $t:ident, $vector:ident, $zero:ident, $load:ident, $store:ident, $abs:ident, $set1:ident, $compare:ident) => {
            /// `r[i] = kernel(a[i])`, or `rest(a[i])` for groups with elements whose magnitude is not below `bound`.
            ///
            /// # Safety
            /// AVX-512 is there; `r` and `a` have `n` elements, and are either apart or the same.
            #[inline(always)]
            unsafe fn $name(
                r: *mut $t,
                a: *const $t,
                n: usize,
                bound: $t,
                kernel: impl Fn($vector) -> $vector,
                rest: impl Fn(Isa, $t) -> $t + Copy,
            ) {
                const WIDTH: usize = 64 / size_of::<$t>();
                let whole = n - n % (GROUP * WIDTH);
                for start in (0..whole).step_by(GROUP * WIDTH) {
                    // SAFETY: the caller's; prefetching an address does not access it.
                    unsafe {
                        let (r, a) = (r.add(start), a.add(start));
                        let mut xs = [$zero(); GROUP];
                        let mut far = 0;
                        for (i, x) in xs.iter_mut().enumerate() {
                            _mm_prefetch::<_MM_HINT_T0>(a.cast::<i8>().wrapping_add(64 * i + AHEAD));
                            _mm_prefetch::<_MM_HINT_ET0>(r.cast::<i8>().wrapping_add(64 * i + AHEAD));
                            *x = $load(a.add(WIDTH * i));
                            far |= $compare::<_CMP_NLT_UQ>($abs(*x), $set1(bound));
                        }
                        if far != 0 {
                            plain(r, a, GROUP * WIDTH, rest);
                            continue;
                        }
                        for x in &mut xs {
                            *x = kernel(*x);
                        }
                        for (i, x) in xs.into_iter().enumerate() {
                            $store(r.add(WIDTH * i), x);
                        }
                    }
                }
                // SAFETY: the caller's.
                unsafe { plain(r.add(whole), a.add(whole), n - whole, rest) }
            }
        };
    }
    walk!(walk_f32, f32, __m512, _mm512_setzero_ps, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_abs_ps, _mm512_set1_ps, _mm512_cmp_ps_mask);
    walk!(walk_f64, f64, __m512d, _mm512_setzero_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_abs_pd, _mm512_set1_pd, _mm512_cmp_pd_mask);

    macro_rules! functions {
        ($($name:ident($t:ty) = $walk:ident($kernel:ident), below $bound:literal;)*) => { $(
            /// # Safety
            /// AVX-512 is there; `r` and `a` have `n` elements, and are either apart or the same.
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
            pub unsafe fn $name(r: *mut $t, a: *const $t, n: usize) {
                // SAFETY: the caller's.
                unsafe { $walk(r, a, n, $bound, $kernel, super::$name) }
            }
        )* };
    }

    functions! {
        erfc_f32(f32) = walk_f32(erfc_ps), below 3.875;
        gelu_f32(f32) = walk_f32(gelu_ps), below 4.117_187_5;
        erf_f64(f64) = walk_f64(erf_pd), below 1.7e308;
        erfc_f64(f64) = walk_f64(erfc_pd), below 4.218_75;
        gelu_f64(f64) = walk_f64(gelu_pd), below 4.218_75;
    }

    /// Element `index % 32`.
    #[inline(always)]
    fn at_ps(row: &[f32; 32], index: __m512i) -> __m512 {
        // SAFETY: the row is two vectors long.
        unsafe { _mm512_permutex2var_ps(_mm512_loadu_ps(row.as_ptr()), index, _mm512_loadu_ps(row.as_ptr().add(16))) }
    }

    /// Element `index % 16`.
    #[inline(always)]
    fn at_pd(row: &[f64; 16], index: __m512i) -> __m512d {
        // SAFETY: the row is two vectors long.
        unsafe { _mm512_permutex2var_pd(_mm512_loadu_pd(row.as_ptr()), index, _mm512_loadu_pd(row.as_ptr().add(8))) }
    }

    /// Polynomial number `index % 32` at u, as (c, q): `c + u q`.
    #[inline(always)]
    fn pick_ps<const N: usize>(c: &[[f32; 32]; N], index: __m512i, u: __m512) -> (__m512, __m512) {
        let mut p = at_ps(&c[N - 1], index);
        for k in (1..N - 1).rev() {
            // SAFETY: no memory.
            p = unsafe { _mm512_fmadd_ps(p, u, at_ps(&c[k], index)) };
        }
        (at_ps(&c[0], index), p)
    }

    /// Polynomial number `index % 16` at u, as (c, q): `c + u q`. Even and odd powers stay apart but for the first ones, which determine the error.
    #[inline(always)]
    fn pick_pd<const N: usize>(c: &[[f64; 16]; N], index: __m512i, u: __m512d) -> (__m512d, __m512d) {
        let (mut even, mut odd) = (at_pd(&c[N - 1], index), at_pd(&c[N - 2], index));
        // SAFETY: no memory.
        unsafe {
            let v = _mm512_mul_pd(u, u);
            for k in (3..N - 3).rev().step_by(2) {
                even = _mm512_fmadd_pd(even, v, at_pd(&c[k + 1], index));
                odd = _mm512_fmadd_pd(odd, v, at_pd(&c[k], index));
            }
            let mut p = _mm512_fmadd_pd(even, u, odd);
            for k in (1..3).rev() {
                p = _mm512_fmadd_pd(p, u, at_pd(&c[k], index));
            }
            (at_pd(&c[0], index), p)
        }
    }

    /// The number of the interval that a lies in, and the distance to its right end: seen from there the terms of erfc have one sign.
    #[inline(always)]
    fn locate_ps(a: __m512, step: f32) -> (__m512i, __m512) {
        // SAFETY: no memory.
        unsafe {
            let shift = _mm512_set1_ps(SHIFT_32);
            let t = _mm512_fmadd_round_ps::<UP>(a, _mm512_set1_ps(1.0 / step), shift);
            (_mm512_castps_si512(t), _mm512_fmadd_ps(_mm512_sub_ps(t, shift), _mm512_set1_ps(-step), a))
        }
    }

    #[inline(always)]
    fn locate_pd(a: __m512d, step: f64) -> (__m512i, __m512d) {
        // SAFETY: no memory.
        unsafe {
            let shift = _mm512_set1_pd(SHIFT_64);
            let t = _mm512_fmadd_round_pd::<UP>(a, _mm512_set1_pd(1.0 / step), shift);
            (_mm512_castpd_si512(t), _mm512_fmadd_pd(_mm512_sub_pd(t, shift), _mm512_set1_pd(-step), a))
        }
    }

    /// `erf(x)` for all x.
    #[inline(always)]
    fn erf_pd(x: __m512d) -> __m512d {
        const STEP: f64 = 25.0 / 64.0;
        // SAFETY: no memory.
        unsafe {
            // From about the nearest multiple of the step, which is zero for small ones: they keep their relative precision.
            let a = _mm512_min_pd(_mm512_set1_pd(6.0), _mm512_abs_pd(x));
            let shift = _mm512_set1_pd(SHIFT_64);
            let t = _mm512_fmadd_pd(a, _mm512_set1_pd(1.0 / STEP), shift);
            let u = _mm512_fmadd_pd(_mm512_sub_pd(t, shift), _mm512_set1_pd(-STEP), a);
            let (c, q) = pick_pd(&ERF_64.0, _mm512_castpd_si512(t), u);
            let p = _mm512_castpd_si512(_mm512_fmadd_pd(u, q, c));
            // The sign of x, the rest of p.
            _mm512_castsi512_pd(_mm512_ternarylogic_epi64::<0xd8>(p, _mm512_castpd_si512(x), _mm512_set1_epi64(i64::MIN)))
        }
    }

    /// `erfc(x)` for |x| < 3.875.
    #[inline(always)]
    fn erfc_ps(x: __m512) -> __m512 {
        // SAFETY: no memory.
        unsafe {
            let (index, u) = locate_ps(_mm512_abs_ps(x), 1.0 / 8.0);
            let (c, q) = pick_ps(&ERFC_32.0, index, u);
            // Rounding must not lead beyond erfc(0).
            let p = _mm512_min_ps(_mm512_fmadd_ps(u, q, c), _mm512_set1_ps(1.0));
            _mm512_mask_sub_ps(p, _mm512_movepi32_mask(_mm512_castps_si512(x)), _mm512_set1_ps(2.0), p)
        }
    }

    /// `erfc(x)` for |x| < 4.21875.
    #[inline(always)]
    fn erfc_pd(x: __m512d) -> __m512d {
        // SAFETY: no memory.
        unsafe {
            let (index, u) = locate_pd(_mm512_abs_pd(x), 9.0 / 32.0);
            let (c, q) = pick_pd(&ERFC_64.0, index, u);
            let p = _mm512_min_pd(_mm512_fmadd_pd(u, q, c), _mm512_set1_pd(1.0));
            _mm512_mask_sub_pd(p, _mm512_movepi64_mask(_mm512_castpd_si512(x)), _mm512_set1_pd(2.0), p)
        }
    }

    /// `max(x, 0) - |x| Phi(-|x|)` for |x| < 4.1171875.
    #[inline(always)]
    fn gelu_ps(x: __m512) -> __m512 {
        // SAFETY: no memory.
        unsafe {
            let a = _mm512_abs_ps(x);
            let (index, u) = locate_ps(a, 17.0 / 128.0);
            // Of two zeros the maximum is the second.
            let (c, q) = pick_ps(&GELU_32.0, index, u);
            let base = _mm512_max_ps(_mm512_setzero_ps(), x);
            _mm512_fnmadd_ps(a, c, _mm512_fnmadd_ps(_mm512_mul_ps(a, u), q, base))
        }
    }

    /// `max(x, 0) - |x| Phi(-|x|)` for |x| < 4.21875.
    #[inline(always)]
    fn gelu_pd(x: __m512d) -> __m512d {
        // SAFETY: no memory.
        unsafe {
            let a = _mm512_abs_pd(x);
            let (index, u) = locate_pd(a, 9.0 / 32.0);
            let (c, q) = pick_pd(&GELU_64.0, index, u);
            let base = _mm512_max_pd(_mm512_setzero_pd(), x);
            _mm512_fnmadd_pd(a, c, _mm512_fnmadd_pd(_mm512_mul_pd(a, u), q, base))
        }
    }
}
