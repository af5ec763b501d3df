//! Powers with real exponents: 2^(y log2 x), where the logarithm is a sum of two numbers.
//!
//! Largest errors in units in the last place (hundreds of thousands of pairs): 1.26, without fma 1.30; with AVX-512 registers 2.56 for f32
//! if x is next to 1 and y some thousands, otherwise 1.0.

use super::super::simd::Isa;
use super::exp::{exp2_sum_f32, exp2_sum_f64};
use super::log::{log_parts_f32, log_parts_f64};
use super::{poly_f32, poly_f64};

/// `(atanh(s) / s - 1 - s^2 / 3) / s^4` as a polynomial of s^2, for the s of sqrt(1/2) <= (1 + s) / (1 - s) < sqrt(2).
const ATANH_32: [f32; 3] = [0.200_000_76, 0.142_735_66, 0.117_093_26];
const ATANH_64: [f64; 7] = [
    2.000_000_000_000_112e-1,
    1.428_571_428_505_337_5e-1,
    1.111_111_125_942_208_8e-1,
    9.090_892_224_254_447e-2,
    7.693_377_022_487_392e-2,
    6.628_442_819_259_25e-2,
    6.597_882_265_627_011e-2,
];

// 1/3 and 2 / ln 2 as sums of two.
const THIRD_32: (f32, f32) = (0.333_333_34, -9.934_108e-9);
const THIRD_64: (f64, f64) = (0.333_333_333_333_333_3, 1.850_371_707_708_594e-17);
const SCALE_32: (f32, f32) = (2.885_39, 3.851_926e-8);
const SCALE_64: (f64, f64) = (2.885_390_081_777_926_8, 4.071_054_748_186_207e-17);

macro_rules! power {
    ($t:ident: $pow:ident, $log2:ident, $product:ident, $trunc:ident;
     of $fma:ident, $poly:ident, $parts:ident, $exp2_sum:ident, $atanh:ident, $third:ident, $scale:ident;
     half $half:literal; integers $integers:literal; tiny $up:literal = 2^$log_up:literal; exponents $least:literal to $most:literal) => {
        /// Returns `a * b` as a sum of two, of which the first is rounded.
        #[inline(always)]
        pub(super) fn $product(isa: Isa, a: $t, b: $t) -> ($t, $t) {
            let p = a * b;
            if isa.has_fma() {
                return (p, a.mul_add(b, -p));
            }
            let high = |x: $t| $t::from_bits(x.to_bits() >> $half << $half);
            let (ah, bh) = (high(a), high(b));
            let (al, bl) = (a - ah, b - bh);
            (p, al * bl + (al * bh + (ah * bl + (ah * bh - p))))
        }

        /// Returns `log2(x)` as a sum of two, for x >= 0.
        #[inline(always)]
        fn $log2(isa: Isa, x: $t) -> ($t, $t) {
            let tiny = x < $t::MIN_POSITIVE;
            let (e, f) = $parts(if tiny { x * $up } else { x });
            let e = if tiny { e - $log_up } else { e };
            // log(1 + f) = 2 atanh(s) with s = f / (2 + f). The rounding error of each step is kept.
            let d = 2.0 + f;
            let one = 1.0 / d;
            let s = f * one;
            let rest = if isa.has_fma() {
                (-s).mul_add(d, f)
            } else {
                let (p, p_low) = $product(isa, s, d);
                (f - p) - p_low
            };
            let s_low = isa.$fma(-s, f - (d - 2.0), rest) * one;
            let (z, z_low) = $product(isa, s, s);
            let z_low = isa.$fma(s + s, s_low, z_low);
            // u = 1/3 + z/5 + ..., t = z u, atanh(s) = s + s t
            let w = isa.$fma(z, $poly(isa, z, $atanh), $third.1);
            let u = $third.0 + w;
            let u_low = ($third.0 - u) + w;
            let (t, t_low) = $product(isa, z, u);
            let t_low = isa.$fma(z, u_low, isa.$fma(z_low, u, t_low));
            let (v, v_low) = $product(isa, s, t);
            let v_low = isa.$fma(s, t_low, isa.$fma(s_low, t, v_low));
            let a = s + v;
            let a_low = ((s - a) + v) + (v_low + s_low);
            let (g, g_low) = $product(isa, a, $scale.0);
            let g_low = isa.$fma(a, $scale.1, isa.$fma(a_low, $scale.0, g_low));
            let r = e + g;
            (r, ((e - r) + g) + g_low)
        }

        /// Returns `x` without its fraction.
        #[inline(always)]
        fn $trunc(isa: Isa, x: $t) -> $t {
            if isa.has_fma() {
                return x.trunc();
            }
            let t = x.abs();
            if t < $integers { ((t + $integers) - $integers).copysign(x) } else { x }
        }

        /// `pow(x, y)`
        #[inline(always)]
        pub fn $pow(isa: Isa, x: $t, y: $t) -> $t {
            let size = x.abs();
            let (log, log_low) = $log2(isa, size);
            // Replaces the logarithms of zero, infinity and NaN.
            let log = if size.to_bits().wrapping_sub(1) < $t::MAX.to_bits() { log } else { (size - 1.0) * $t::INFINITY };
            // The largest finite y gives the result of an infinite y. It also gives 1 for |x| = 1, where infinity times the logarithm would
            // be NaN.
            let t = if y > $t::MAX { $t::MAX } else { y };
            let t = if t < $t::MIN { $t::MIN } else { t };
            let (q, q_low) = $product(isa, t, log);
            let q_low = isa.$fma(t, log_low, q_low);
            let q_low = if q.abs() < -$least { q_low } else { 0.0 };
            let q = if q > $most { $most } else { q };
            let q = if q < $least { $least } else { q };
            let r = $exp2_sum(isa, q, q_low);
            // A negative x gives its sign for odd y, and NaN for y that is not an integer, unless x is infinite. An infinite x is
            // recognised by its logarithm, because the compiler would classify x itself in integer instructions.
            let whole = $trunc(isa, y) == y;
            let odd = whole && $trunc(isa, 0.5 * y) != 0.5 * y;
            let r = if odd { r.copysign(x) } else { r };
            let r = if x < 0.0 && !whole && log < $t::MAX { $t::NAN } else { r };
            if y == 0.0 || x == 1.0 { 1.0 } else { r }
        }
    };
}
power! {
    f32: pow_f32, log2_double_f32, product_f32, trunc_f32;
    of fma_f32, poly_f32, log_parts_f32, exp2_sum_f32, ATANH_32, THIRD_32, SCALE_32;
    half 12; integers 8_388_608.0; tiny 33_554_432.0 = 2^25.0; exponents -151.0 to 129.0
}
power! {
    f64: pow_f64, log2_double_f64, product_f64, trunc_f64;
    of fma_f64, poly_f64, log_parts_f64, exp2_sum_f64, ATANH_64, THIRD_64, SCALE_64;
    half 27; integers 4_503_599_627_370_496.0; tiny 18_014_398_509_481_984.0 = 2^54.0; exponents -1076.0 to 1025.0
}

#[cfg(test)]
mod tests {
    use super::super::super::simd::simd;
    use super::super::check::*;
    use super::super::runs::*;
    use super::*;

    macro_rules! pow_alone {
        ($alone:ident($t:ident) = $run:ident) => {
            fn $alone(isa: Isa, x: $t, y: $t) -> $t {
                let mut r = 0.0;
                // SAFETY: each operand is one element.
                unsafe { $run(isa, &raw mut r, [&raw const x, &raw const y], [1, 1], 1) };
                r
            }
        };
    }
    pow_alone!(pow_alone_f32(f32) = pow_run_f32);
    pow_alone!(pow_alone_f64(f64) = pow_run_f64);

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32_2(1.5, pow_f32, f64::powf);
        check_f32(1.5, |isa, x| pow_alone_f32(isa, 1.000_1, x), |x| f64::from(1.000_1_f32).powf(x));
        check_f32(1.5, |isa, x| pow_alone_f32(isa, x, 1.0), |x| x);
        check_f32(1.5, |isa, x| pow_alone_f32(isa, x, -3.0), |x| x.powi(-3));
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64_2(POW, 1.5, pow_alone_f64);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        // The standard library's pow is C's. Its errors are below the rounding of these powers.
        let values = [
            0.0,
            1.0,
            0.5,
            2.0,
            3.0,
            4.0,
            1.5,
            1e300,
            1e-300,
            5e-324,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
            8_388_607.0,
            16_777_217.0,
            9_007_199_254_740_991.0,
            9_007_199_254_740_992.0,
            4_503_599_627_370_495.5,
        ];
        let signed = || values.into_iter().flat_map(|x| [x, -x]);
        for x in signed() {
            for y in signed() {
                let (got, exact) = (simd(move |isa| pow_alone_f64(isa, x, y)), x.powf(y));
                let same = got.to_bits().abs_diff(exact.to_bits()) <= 1 || (got.is_nan() && exact.is_nan());
                assert!(same, "pow({x:e}, {y:e}) = {got:e}, not {exact:e}");
                let (x, y) = (x as f32, y as f32);
                let (got, exact) = (simd(move |isa| pow_alone_f32(isa, x, y)), x.powf(y));
                let same = got.to_bits().abs_diff(exact.to_bits()) <= 1 || (got.is_nan() && exact.is_nan());
                assert!(same, "pow({x:e}f32, {y:e}) = {got:e}, not {exact:e}");
            }
        }
    }

    #[test]
    fn small_powers_of_integers_are_exact() {
        for (x, y, r) in [(2.0, 10.0, 1024.0), (3.0, 4.0, 81.0), (10.0, 3.0, 1000.0), (-2.0, 3.0, -8.0), (7.0, 2.0, 49.0), (4.0, 0.5, 2.0)]
        {
            assert_eq!(simd(move |isa| pow_alone_f64(isa, x, y)), r);
            assert_eq!(simd(move |isa| pow_alone_f32(isa, x as f32, y as f32)), r as f32);
        }
    }
    const POW: &[(u64, u64, u64, f64)] = &[
        (0x4022_3fc3_2b55_dc6a, 0x403b_bfb7_1900_cffc, 0x4576_d131_0b0f_2571, -0.17),
        (0x40f8_efce_5fed_59c4, 0xc042_57f5_05b7_351a, 0x19c6_ea23_d1cc_36dd, -0.17),
        (0x40b5_88af_e605_ffc5, 0x4054_779f_fce1_7da2, 0x7f86_d89e_1a58_14b7, -0.15),
        (0x3fed_32c9_eafd_bb22, 0xc099_1f7b_b9ff_1d9a, 0x4d37_26d4_3fa4_a623, -0.15),
        (0x401b_22f6_7c10_b6d4, 0x401a_d4c7_7174_7b08, 0x4117_124d_8959_96e3, -0.15),
        (0x3fe3_8919_fbc4_f002, 0x3fe5_8ab2_98c2_1bc0, 0x3fe6_f464_fd59_64e7, -0.14),
        (0x4016_996d_1e35_589f, 0x4035_d34a_7872_3f3c, 0x4357_02e0_62d8_09f1, -0.13),
        (0x401a_4fef_5401_59de, 0xc03b_0b65_223b_3054, 0x3b56_a93c_9bc3_f1c7, -0.13),
        (0x3f5d_c899_7386_a327, 0xc051_1176_504b_f2bc, 0x66c7_0823_7699_3a11, -0.12),
        (0x4020_4e5d_dff9_5b07, 0x3ff2_8d2d_9454_cac0, 0x4026_c954_1938_12e3, -0.12),
        (0x4024_0000_0000_0000, 0x4073_4000_0000_0000, 0x7fe1_ccf3_85eb_c8a0, -0.06),
        (0x4024_0000_0000_0000, 0xc074_0000_0000_0000, 0x0000_0000_0000_07e8, 0.02),
        (0x3ff0_0000_0000_0001, 0x43c4_d112_0d7b_1600, 0x7c00_5021_74a9_bef1, 0.20),
        (0x3fef_ffff_ffff_ffff, 0x43d6_8d28_e3f0_0280, 0x0000_0001_d939_ead4, -0.31),
        (0x0000_0000_0000_0001, 0x3ff0_0000_0000_0000, 0x0000_0000_0000_0001, 0.00),
        (0x0000_0000_0000_0001, 0xbfec_cccc_cccc_cccd, 0x7c58_4060_03b2_aecd, 0.26),
        (0xc008_0000_0000_0000, 0x4040_8000_0000_0000, 0xc333_bfef_a65a_bb83, 0.00),
        (0xc008_0000_0000_0000, 0xc044_0000_0000_0000, 0x3bf8_46d5_50e3_7b50, 0.39),
        (0x7fe1_ccf3_85eb_c8a0, 0x3ff0_0000_0000_0000, 0x7fe1_ccf3_85eb_c8a0, 0.00),
        (0x4000_0000_0000_0000, 0x3fe0_0000_0000_0000, 0x3ff6_a09e_667f_3bcd, -0.44),
    ];
}
