//! erf, erfc, erfinv and gelu over runs: by tables if one instruction can select from them.
//!
//! With AVX-512 each of 32 intervals (16 for f64) has a separate polynomial, without exponentials or divisions. Other instruction sets use
//! the functions of one element, and so do arguments in the tails. Largest errors of the tables in units in the last place: erf 1.4 (f64),
//! erfc 1.2 and 1.6, erfinv 2.2 (f64), gelu 1.5 and 1.7.

use super::runs::run_with_rare;
use super::{erf_f32, erf_f64, erfc_f32, erfc_f64, erfinv_f32, erfinv_f64, gelu_f32, gelu_f64};
use super::{erfinv_rare_f32, erfinv_rare_f64, erfinv_slow_f32, erfinv_slow_f64};
use crate::cpu::simd::{Isa, simd};
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{Level, level};

#[cfg(target_arch = "x86_64")]
mod coefficients;

macro_rules! runs {
    ($($(#[$doc:meta])* $name:ident: $t:ty, $loop:ident($f:path) $(, $table:path)?;)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// `r` and `a` must have `n` elements, and be either disjoint or the same.
        pub unsafe fn $name(_: Isa, r: *mut $t, a: *const $t, n: usize) {
            $(
                #[cfg(target_arch = "x86_64")]
                if level() == Level::Avx512 {
                    // SAFETY: the processor has AVX-512, and the caller keeps this function's contract.
                    return unsafe { $table(r, a, n) };
                }
            )?
            // SAFETY: the caller keeps this function's contract.
            unsafe { $loop(r, a, n, $f) }
        }
    )* };
}

runs! {
    /// `r[i] = erf(a[i])`
    erf_run_f32: f32, plain(erf_f32);
    /// `r[i] = erf(a[i])`
    erf_run_f64: f64, plain(erf_f64), wide::erf_f64;
    /// `r[i] = erfc(a[i])`
    erfc_run_f32: f32, plain(erfc_f32), wide::erfc_f32;
    /// `r[i] = erfc(a[i])`
    erfc_run_f64: f64, plain(erfc_f64), wide::erfc_f64;
    /// `r[i] = erfinv(a[i])`
    erfinv_run_f32: f32, steep_f32(erfinv_f32);
    /// `r[i] = erfinv(a[i])`
    erfinv_run_f64: f64, steep_f64(erfinv_f64), wide::erfinv_f64;
    /// `r[i] = a[i] Phi(a[i])`, the exact gelu.
    gelu_run_f32: f32, plain(gelu_f32), wide::gelu_f32;
    /// `r[i] = a[i] Phi(a[i])`, the exact gelu.
    gelu_run_f64: f64, plain(gelu_f64), wide::gelu_f64;
}

/// `r[i] = f(a[i])`
///
/// # Safety
/// `r` and `a` must have `n` elements.
#[inline(always)]
unsafe fn plain<T>(r: *mut T, a: *const T, n: usize, f: impl Fn(Isa, T) -> T) {
    simd(
        #[inline(always)]
        move |isa| {
            for i in 0..n {
                // SAFETY: the caller keeps this function's contract.
                unsafe { r.add(i).write(f(isa, a.add(i).read())) }
            }
        },
    )
}

macro_rules! steep {
    ($name:ident, $t:ty, $rare:path, $slow:path) => {
        /// [`plain`] for erfinv, which is steep near its ends.
        ///
        /// # Safety
        /// `r` and `a` must have `n` elements, and be either disjoint or the same.
        #[inline(always)]
        unsafe fn $name(r: *mut $t, a: *const $t, n: usize, f: impl Fn(Isa, $t) -> $t + Copy) {
            // SAFETY: the caller keeps this function's contract.
            unsafe { run_with_rare(r, a, n, f, $rare, $slow) }
        }
    };
}
steep!(steep_f32, f32, erfinv_rare_f32, erfinv_slow_f32);
steep!(steep_f64, f64, erfinv_rare_f64, erfinv_slow_f64);

/// The kernels with tables. A kernel gets a register of arguments within its bound. It must only be called if the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
mod wide {
    use super::coefficients::{ERF_64, ERFC_32, ERFC_64, ERFINV_64, GELU_32, GELU_64, LOG_64};
    use super::{plain, steep_f64};
    use crate::cpu::simd::with_avx512;
    use crate::cpu::stream;
    use crate::cpu::vector::{Elementary, F32x16, F64x8, Floats, Register, prefetch_to_write};
    use std::f64::consts::LN_2;

    // Adding 1.5 * 2^23 (2^52 for f64) rounds to an integer and leaves it in the low bits, where the table instructions expect the index.
    const SHIFT_32: f32 = 12_582_912.0;
    const SHIFT_64: f64 = 6_755_399_441_055_744.0;

    /// Registers computed side by side. While one polynomial waits for a result, the others continue.
    const GROUP: usize = 4;
    /// Distance in bytes between the elements computed and the elements prefetched: the hardware prefetcher stops at the end of each page.
    const AHEAD: usize = 1024;

    /// `r[i] = kernel(a[i])`, or `rest(a[i])` for groups with elements whose magnitude is not below `bound`.
    ///
    /// # Safety
    /// The processor must have AVX-512. `r` and `a` must have `n` elements, and be either disjoint or the same.
    #[inline(always)]
    unsafe fn walk<V: Elementary>(
        r: *mut V::Item,
        a: *const V::Item,
        n: usize,
        bound: V::Item,
        kernel: impl Fn(V) -> V,
        rest: unsafe fn(*mut V::Item, *const V::Item, usize),
    ) {
        let whole = n - n % (GROUP * V::LANES);
        for start in (0..whole).step_by(GROUP * V::LANES) {
            // SAFETY: the caller keeps this function's contract; prefetching an address does not access it.
            unsafe {
                let (r, a) = (r.add(start), a.add(start));
                let mut xs = [V::all(bound); GROUP];
                let mut near = V::first(V::LANES);
                for (i, x) in xs.iter_mut().enumerate() {
                    stream::prefetch(a.wrapping_add(V::LANES * i).wrapping_byte_add(AHEAD).cast(), 1);
                    prefetch_to_write(r.wrapping_add(V::LANES * i).wrapping_byte_add(AHEAD).cast());
                    *x = V::load(a.add(V::LANES * i));
                    near &= x.inside(bound);
                }
                if near != V::first(V::LANES) {
                    rest(r, a, GROUP * V::LANES);
                    continue;
                }
                for x in &mut xs {
                    *x = kernel(*x);
                }
                for (i, x) in xs.into_iter().enumerate() {
                    x.store(r.add(V::LANES * i));
                }
            }
        }
        // SAFETY: the caller keeps this function's contract.
        unsafe { rest(r.add(whole), a.add(whole), n - whole) }
    }

    macro_rules! functions {
        ($($name:ident($t:ty) = $kernel:ident of $V:ident, below $bound:literal, else $rest:ident;)*) => { with_avx512! { $(
            /// # Safety
            /// The processor must have AVX-512. `r` and `a` must have `n` elements, and be either disjoint or the same.
            pub unsafe fn $name(r: *mut $t, a: *const $t, n: usize) {
                unsafe fn rest(r: *mut $t, a: *const $t, n: usize) {
                    // SAFETY: the caller keeps this function's contract.
                    unsafe { $rest(r, a, n, super::$name) }
                }
                // SAFETY: the caller keeps this function's contract.
                unsafe { walk::<$V>(r, a, n, $bound, #[inline(always)] |x| $kernel(x), rest) }
            }
        )* } };
    }

    functions! {
        erfc_f32(f32) = erfc_32 of F32x16, below 3.875, else plain;
        gelu_f32(f32) = gelu_32 of F32x16, below 4.117_187_5, else plain;
        erf_f64(f64) = erf_64 of F64x8, below 1.7e308, else plain;
        erfc_f64(f64) = erfc_64 of F64x8, below 4.218_75, else plain;
        gelu_f64(f64) = gelu_64 of F64x8, below 4.218_75, else plain;
        erfinv_f64(f64) = erfinv_64 of F64x8, below 0.999, else steep_f64;
    }

    /// Returns the polynomial whose number is in the lowest bits of `index`, at u, as (c, q) with the value `c + u q`.
    #[inline(always)]
    fn pick_32<const N: usize>(c: &[[f32; 32]; N], index: F32x16, u: F32x16) -> (F32x16, F32x16) {
        let mut p = index.lookup(&c[N - 1]);
        for k in (1..N - 1).rev() {
            p = p.fma(u, index.lookup(&c[k]));
        }
        (index.lookup(&c[0]), p)
    }

    /// [`pick_32`] for f64. Even and odd powers are summed separately, except the first ones, which determine the error.
    #[inline(always)]
    fn pick_64<const N: usize>(c: &[[f64; 16]; N], index: F64x8, u: F64x8) -> (F64x8, F64x8) {
        const { assert!(N % 2 == 1) };
        let (mut even, mut odd) = (index.lookup(&c[N - 1]), index.lookup(&c[N - 2]));
        let v = u * u;
        for k in (3..N - 3).rev().step_by(2) {
            even = even.fma(v, index.lookup(&c[k + 1]));
            odd = odd.fma(v, index.lookup(&c[k]));
        }
        let mut p = even.fma(u, odd);
        for k in (1..3).rev() {
            p = p.fma(u, index.lookup(&c[k]));
        }
        (index.lookup(&c[0]), p)
    }

    /// Returns the number of the interval that contains a, and the distance to its right end. Counted from there, the terms of erfc have
    /// one sign.
    #[inline(always)]
    fn locate<V: Elementary>(a: V, [inverse, minus_step, shift]: [V::Item; 3]) -> (V, V) {
        let index = a.fma_up(V::all(inverse), V::all(shift));
        (index, (index - V::all(shift)).fma(V::all(minus_step), a))
    }

    /// [`locate`] for steps of f32.
    #[inline(always)]
    fn locate_32(a: F32x16, step: f32) -> (F32x16, F32x16) {
        locate(a, [1.0 / step, -step, SHIFT_32])
    }

    /// [`locate`] for steps of f64.
    #[inline(always)]
    fn locate_64(a: F64x8, step: f64) -> (F64x8, F64x8) {
        locate(a, [1.0 / step, -step, SHIFT_64])
    }

    /// `erf(x)` for all x.
    #[inline(always)]
    fn erf_64(x: F64x8) -> F64x8 {
        // erf of the first multiples of this step is very close to a number of f64.
        const STEP: f64 = 0.390_263_080_596_923_83;
        // The distance is counted from approximately the nearest multiple of the step. This is zero for small numbers, which keep their
        // relative precision.
        let a = x.abs().at_most(6.0);
        let index = a.fma(F64x8::all(1.0 / STEP), F64x8::all(SHIFT_64));
        let u = (index - F64x8::all(SHIFT_64)).fma(F64x8::all(-STEP), a);
        let (c, q) = pick_64(&ERF_64.0, index, u);
        u.fma(q, c).with_sign(x)
    }

    /// `(log(1 + r) - r) / r^2` for -1/32 <= r <= 1/16.
    const LOG1P: [f64; 8] = [
        -5.000_000_000_000_149e-1,
        3.333_333_333_345_597e-1,
        -2.499_999_997_620_416_2e-1,
        1.999_999_913_507_830_6e-1,
        -1.666_671_865_035_100_3e-1,
        1.428_753_989_261_167e-1,
        -1.247_977_056_485_210_9e-1,
        9.972_086_298_717_188e-2,
    ];

    /// `erfinv(x)` for |x| < 0.999: x times a function of `w = -log(1 - x^2)`, in which an absolute error hardly matters.
    #[inline(always)]
    fn erfinv_64(x: F64x8) -> F64x8 {
        const STEP: f64 = 25.0 / 64.0;
        let one = F64x8::all(1.0);
        let z = x.fnmadd(x, one);
        // The first four bits of the mantissa select the entry.
        let index = z.shifted_right::<48>();
        let r = z.mantissa().fmsub(index.lookup(&LOG_64.0[0]), one);
        let mut p = F64x8::all(LOG1P[7]);
        for &c in LOG1P[..7].iter().rev() {
            p = p.fma(r, F64x8::all(c));
        }
        let l = (r * r).fma(p, r);
        let w = z.exponent().fnmadd(F64x8::all(LN_2), index.lookup(&LOG_64.0[1])) - l;
        let index = w.fma_down(F64x8::all(1.0 / STEP), F64x8::all(SHIFT_64));
        let u = (index - F64x8::all(SHIFT_64)).fma(F64x8::all(-STEP), w);
        let (c, q) = pick_64(&ERFINV_64.0, index, u);
        x * u.fma(q, c)
    }

    /// Returns `erfc(x)`, given `p`, the `erfc` of |x|. The result is at most erfc(0).
    #[inline(always)]
    fn mirrored<V: Elementary>(x: V, p: V, [one, two]: [V::Item; 2]) -> V {
        let p = p.at_most(one);
        p.or_where(x.negative(), V::all(two) - p)
    }

    /// `erfc(x)` for |x| < 3.875.
    #[inline(always)]
    fn erfc_32(x: F32x16) -> F32x16 {
        let (index, u) = locate_32(x.abs(), 1.0 / 8.0);
        let (c, q) = pick_32(&ERFC_32.0, index, u);
        mirrored(x, u.fma(q, c), [1.0, 2.0])
    }

    /// `erfc(x)` for |x| < 4.21875.
    #[inline(always)]
    fn erfc_64(x: F64x8) -> F64x8 {
        let (index, u) = locate_64(x.abs(), 9.0 / 32.0);
        let (c, q) = pick_64(&ERFC_64.0, index, u);
        mirrored(x, u.fma(q, c), [1.0, 2.0])
    }

    /// `max(x, 0) - |x| Phi(-|x|)` for |x| < 4.1171875.
    #[inline(always)]
    fn gelu_32(x: F32x16) -> F32x16 {
        let a = x.abs();
        let (index, u) = locate_32(a, 17.0 / 128.0);
        let (c, q) = pick_32(&GELU_32.0, index, u);
        // The maximum of two zeros is the second one.
        let base = F32x16::all(0.0).greater(x);
        // Phi and its rounding error, which matters if there is no base.
        let p = u.fma(q, c);
        let low = u.fma(q, c - p);
        a.fnmadd(p, a.fnmadd(low, base))
    }

    /// `max(x, 0) - |x| Phi(-|x|)` for |x| < 4.21875.
    #[inline(always)]
    fn gelu_64(x: F64x8) -> F64x8 {
        let a = x.abs();
        let (index, u) = locate_64(a, 9.0 / 32.0);
        let (c, q) = pick_64(&GELU_64.0, index, u);
        a.fnmadd(u.fma(q, c), F64x8::all(0.0).greater(x))
    }
}

#[cfg(test)]
mod tests {
    use super::super::check::ulps;
    use super::*;
    use std::f64::consts::FRAC_1_SQRT_2;

    unsafe extern "C" {
        safe fn erf(x: f64) -> f64;
        safe fn erfc(x: f64) -> f64;
    }

    type Function<T> = unsafe fn(Isa, *mut T, *const T, usize);

    fn results<T: Copy>(run: Function<T>, xs: &[T]) -> Vec<T> {
        let mut ys = xs.to_vec();
        // SAFETY: both have this many elements, and do not overlap.
        unsafe { simd(|isa| run(isa, ys.as_mut_ptr(), xs.as_ptr(), xs.len())) };
        ys
    }

    fn check_f32(run: Function<f32>, limit: f64, exact: fn(f64) -> f64) {
        let xs: Vec<f32> = (0..=u32::MAX).step_by(16_411).map(f32::from_bits).collect();
        for (&x, y) in xs.iter().zip(results(run, &xs)) {
            let exact = exact(x.into());
            let same = (y.is_nan() && exact.is_nan()) || y.is_sign_negative() == exact.is_sign_negative();
            assert!(same && (y.is_nan() || ulps(y, exact) <= limit), "{x:e}: {y:e}, not {exact:e}");
        }
    }

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(erf_run_f32, 2.0, |x| erf(x));
        check_f32(erfc_run_f32, 2.6, |x| erfc(x));
        check_f32(gelu_run_f32, 3.0, |x| 0.5 * x * erfc(-x * FRAC_1_SQRT_2));
    }

    /// Checks points as [`check_f64`](super::super::check::check_f64) does, none in a tail.
    fn check_f64(run: Function<f64>, limit: f64, points: &[(u64, u64, f64)]) {
        let points: Vec<_> = points.iter().cycle().take(64).copied().collect();
        let xs: Vec<f64> = points.iter().map(|p| f64::from_bits(p.0)).collect();
        for (&(x, exact, rest), y) in points.iter().zip(results(run, &xs)) {
            let error = y.to_bits().wrapping_sub(exact) as i64 as f64 - rest;
            assert!(error.abs() <= limit, "{:e}: {y:e} is off by {error}", f64::from_bits(x));
        }
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(erf_run_f64, 2.0, ERF);
        check_f64(erfc_run_f64, 2.6, ERFC);
        check_f64(gelu_run_f64, 2.8, GELU);
        check_f64(erfinv_run_f64, 2.6, ERFINV);
    }

    #[test]
    fn tails_and_special_values_share_a_run_with_others() {
        let mut xs = vec![0.5; 101];
        (xs[3], xs[40], xs[41], xs[99]) = (f64::NAN, f64::INFINITY, -0.0, 30.0);
        let at = |run: Function<f64>| {
            let ys = results(run, &xs);
            assert!(ys[3].is_nan());
            [ys[0], ys[40], ys[41], ys[99], ys[100]]
        };
        assert_eq!(at(erf_run_f64), [0.5204998778130465, 1.0, -0.0, 1.0, 0.5204998778130465]);
        assert_eq!(at(erfc_run_f64)[1..4], [0.0, 1.0, 0.0]);
        assert_eq!(at(gelu_run_f64)[1..4], [f64::INFINITY, -0.0, 30.0]);
        assert!(at(gelu_run_f64)[2].is_sign_negative() && at(erf_run_f64)[2].is_sign_negative());
        assert!(at(erfinv_run_f64)[1].is_nan());
    }

    const ERF: &[(u64, u64, f64)] = &[
        (0xbfca_2542_48dd_e8f6, 0xbfcd_18cc_31e7_9690, 0.34),
        (0xbfc9_886f_9aee_0e60, 0xbfcc_6ee8_8a4a_accf, 0.35),
        (0x3fc9_ba87_ccfd_daaa, 0x3fcc_a536_5b07_25c5, 0.47),
        (0x3fc9_c04a_3086_0c3a, 0x3fcc_ab74_175d_7603, -0.50),
        (0x3fcb_2232_7acd_ef9e, 0x3fce_2a1b_af6a_4057, -0.43),
        (0x3fc9_029a_beae_0178, 0x3fcb_ddab_4cc5_0428, -0.40),
        (0xbfca_b08c_d543_67a4, 0xbfcd_af6a_9858_0883, -0.30),
        (0x3faa_09fa_24f3_5dce, 0x3fad_5b45_1294_9952, 0.29),
        (0x3e11_2e0b_e826_d695, 0x3e13_62a9_ffc6_10dd, -0.08),
        (0xbff7_9999_9999_999a, 0xbfee_d10b_8ef8_c920, 0.23),
        (0x4007_9999_9999_999a, 0x3fef_ffc0_a8dd_81cd, -0.02),
        (0xc017_5d2f_1a9f_be77, 0xbfef_ffff_ffff_ffff, -0.31),
    ];
    const ERFC: &[(u64, u64, f64)] = &[
        (0x4008_c2d3_4492_18f4, 0x3ee9_36af_cf4f_bc90, -0.22),
        (0x400f_c557_1f12_00af, 0x3e54_f11b_7ac5_f0d5, 0.22),
        (0x4009_7bb8_a92a_c239, 0x3edb_dbbc_b649_db7e, -0.18),
        (0x4009_532a_4aa7_6a97, 0x3edf_c604_2ffc_1752, -0.14),
        (0x400d_463d_8c71_aa7c, 0x3e8e_95ce_449f_d59f, 0.13),
        (0x4008_e4fc_55cf_3207, 0x3ee6_9f45_bc6e_2f32, -0.10),
        (0x400b_0263_73d3_31ea, 0x3ebe_34f3_91cc_f6fe, -0.08),
        (0x4004_ed16_99bd_ea2d, 0x3f2c_57af_ca7c_facd, -0.07),
        (0x3e11_2e0b_e826_d695, 0x3fef_ffff_ff64_eab0, 0.01),
        (0xbff0_df3b_645a_1cac, 0x3ffd_d369_5d2c_500e, 0.39),
        (0x4000_df3b_645a_1cac, 0x3f67_6a5b_d25f_d84a, 0.22),
        (0x0000_0000_0000_0000, 0x3ff0_0000_0000_0000, 0.00),
        (0xc010_b40a_2877_ee4e, 0x3fff_ffff_ff0e_6616, -0.17),
    ];
    const GELU: &[(u64, u64, f64)] = &[
        (0xc00d_4394_7b6f_f9db, 0xbf3e_780a_a93e_19cb, -0.01),
        (0x3fb6_8d8d_00fd_306b, 0x3fa8_22db_b8dc_d1ab, 0.38),
        (0x3fa8_541d_9fa7_1a55, 0x3f99_4027_1831_0848, 0.48),
        (0x3fc5_f12d_f416_cf5b, 0x3fb8_edb9_d919_2b96, 0.48),
        (0x3fca_df3a_0b1e_4492, 0x3fbf_5720_ca48_0aa2, -0.49),
        (0xc002_527b_e5ca_cc5d, 0xbf99_cdcf_5682_97d9, 0.48),
        (0x3fc8_7de2_7b24_1020, 0x3fbc_354a_49b1_b7cb, -0.48),
        (0x3fbc_8557_40e7_5f04, 0x3faf_0d08_1674_7f6a, -0.46),
        (0x3e11_2e0b_e826_d695, 0x3e01_2e0b_e861_b632, -0.01),
        (0xbff0_df3b_645a_1cac, 0xbfc3_aee2_de6a_73ee, -0.02),
        (0x4000_df3b_645a_1cac, 0x4000_93c3_df0f_a42c, -0.21),
        (0xc010_b40a_2877_ee4e, 0xbf10_4049_0fc0_e676, 0.41),
    ];
    const ERFINV: &[(u64, u64, f64)] = &[
        (0xbfe9_e142_a135_3705, 0xbfed_9246_93ea_95f7, -0.14),
        (0xbfea_002e_b6be_651a, 0xbfed_d31e_bf3e_c79d, -0.17),
        (0xbfe9_a490_4cd7_aae0, 0xbfed_15ae_4ef6_c2b8, -0.17),
        (0x3fe8_8a3f_f20c_c4e1, 0x3fea_fad5_178b_bffa, -0.20),
        (0x3fe9_2eab_1a25_d1cd, 0x3fec_2d0c_77ef_62e8, -0.25),
        (0x3fe9_7597_2cb6_0004, 0x3fec_b791_fa3d_9751, -0.25),
        (0xbfef_d3dd_fa69_b992, 0xbfff_7c2d_b0b8_3221, -0.27),
        (0xbfe9_c445_9454_9b91, 0xbfed_5656_0d03_98d8, -0.28),
        (0x3e11_2e0b_e826_d695, 0x3e0e_7355_a028_75c3, 0.35),
        (0xbfcf_f6fd_21ff_2e49, 0xbfcc_ce9f_c233_f662, -0.20),
        (0x3fdf_f6fd_21ff_2e49, 0x3fde_7c19_e4e0_0fe2, 0.11),
        (0xbfef_a528_ae74_f2f1, 0xbffc_bc48_6c82_3b3d, -0.23),
    ];
}
