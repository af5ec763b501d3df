//! Functions around `1 + e^x`.
//!
//! Largest errors in units in the last place (a dense sweep of f32, millions of points of f64): sigmoid 1.91, softplus 1.68 for beta 1 and
//! 1.7 for others.

use super::super::simd::Isa;
use super::erf::{product_rest_f32, product_rest_f64};
use super::exp::{exp_f32, exp_f64, exp_pair_f32, exp_pair_f64};
use super::log::{log_pair_f32, log_pair_f64, log_parts_f32, log_parts_f64};
use super::logaddexp::{log1p_unit_f32, log1p_unit_f64};

/// `1 / (1 + exp(-x))`
#[inline(always)]
pub fn sigmoid_f32(isa: Isa, x: f32) -> f32 {
    // The numerator is e^-|x| or 1, so that nothing overflows and a subnormal result is rounded once.
    let e = exp_f32(isa, -x.abs());
    let d = 1.0 + e;
    let q = (if x < 0.0 { e } else { 1.0 }) / d;
    // Corrects the quotient for the rounding of d, which matters for small e.
    isa.fma_f32(-q, e - (d - 1.0), q)
}

/// `1 / (1 + exp(-x))`
#[inline(always)]
pub fn sigmoid_f64(isa: Isa, x: f64) -> f64 {
    let e = exp_f64(isa, -x.abs());
    let d = 1.0 + e;
    let q = (if x < 0.0 { e } else { 1.0 }) / d;
    // Corrects the quotient for the rounding of d, which matters for small e.
    isa.fma_f64(-q, e - (d - 1.0), q)
}

/// `log(1 + q + low)` for 0 <= q <= 1 and `low` far below q: returns the rounded value, and most of its rounding error.
#[inline(always)]
fn log1p_pair_f32(isa: Isa, q: f32, low: f32) -> (f32, f32) {
    let (e, _) = log_parts_f32(1.0 + q);
    let scale = isa.fma_f32(-0.5, e, 1.0);
    let (high, lost) = log_pair_f32(isa, e, isa.fma_f32(scale, q, scale - 1.0));
    // An approximation of the derivative, exact at 0 and 1.
    (high, isa.fma_f32(low, isa.fma_f32(-0.5, q, 1.0), lost))
}

#[inline(always)]
fn log1p_pair_f64(isa: Isa, q: f64, low: f64) -> (f64, f64) {
    let (e, _) = log_parts_f64(1.0 + q);
    let scale = isa.fma_f64(-0.5, e, 1.0);
    let (high, lost) = log_pair_f64(isa, e, isa.fma_f64(scale, q, scale - 1.0));
    // An approximation of the derivative, exact at 0 and 1.
    (high, isa.fma_f64(low, isa.fma_f64(-0.5, q, 1.0), lost))
}

/// Below this number `log(1 + exp(t))` rounds to `exp(t)`.
const TINY_32: f32 = -30.0;
const TINY_64: f64 = -60.0;
/// Below this number `exp(beta x) / beta` is zero, for finite x and the smallest beta with which `beta x` gets there.
const ZERO_32: f32 = -174.0;
const ZERO_64: f64 = -1416.0;

/// `log(1 + exp(beta x)) / beta`, or `x` if `beta x > threshold`.
#[inline(always)]
pub fn softplus_f32(isa: Isa, x: f32, beta: f32, threshold: f32) -> f32 {
    if beta == 1.0 {
        let r = (if x > 0.0 { x } else { 0.0 }) + log1p_unit_f32(isa, exp_f32(isa, -x.abs()));
        return if x > threshold { x } else { r };
    }
    let t = beta * x;
    // The rounding error of the product is multiplied by the exponential. It may be NaN if the exponential underflows.
    let lost = product_rest_f32(isa, beta, x, t);
    let lost = if t.abs() < 200.0 { lost } else { 0.0 };
    let (base, base_low, against) = if t > 0.0 { (t, lost, -lost) } else { (0.0, 0.0, lost) };
    let down = -t.abs();
    let (high, low, two) = exp_pair_f32(isa, if down < ZERO_32 { ZERO_32 } else { down });
    let two = if down < ZERO_32 { 0.0 } else { two };
    let low = isa.fma_f32(high, against, low);
    let (l, l_low) = log1p_pair_f32(isa, high * two, low * two);
    let (more, less) = if base > l { (base, l) } else { (l, base) };
    let r = more + less;
    let r_low = (more - r) + less;
    let inverse = 1.0 / beta;
    let inverse_low = -inverse * product_rest_f32(isa, inverse, beta, 1.0);
    let y = isa.fma_f32(r, inverse, isa.fma_f32(r, inverse_low, inverse * (r_low + (l_low + base_low))));
    // A number that is subnormal before the division has fewer digits.
    let tiny = isa.fma_f32(high, inverse, isa.fma_f32(high, inverse_low, inverse * low)) * two;
    let y = if t < TINY_32 { tiny } else { y };
    if t > threshold { x } else { y }
}

/// `log(1 + exp(beta x)) / beta`, or `x` if `beta x > threshold`.
#[inline(always)]
pub fn softplus_f64(isa: Isa, x: f64, beta: f64, threshold: f64) -> f64 {
    if beta == 1.0 {
        let r = (if x > 0.0 { x } else { 0.0 }) + log1p_unit_f64(isa, exp_f64(isa, -x.abs()));
        return if x > threshold { x } else { r };
    }
    let t = beta * x;
    // The rounding error of the product is multiplied by the exponential. It may be NaN if the exponential underflows.
    let lost = product_rest_f64(isa, beta, x, t);
    let lost = if t.abs() < 1500.0 { lost } else { 0.0 };
    let (base, base_low, against) = if t > 0.0 { (t, lost, -lost) } else { (0.0, 0.0, lost) };
    let down = -t.abs();
    let (high, low, two) = exp_pair_f64(isa, if down < ZERO_64 { ZERO_64 } else { down });
    let two = if down < ZERO_64 { 0.0 } else { two };
    let low = isa.fma_f64(high, against, low);
    let (l, l_low) = log1p_pair_f64(isa, high * two, low * two);
    let (more, less) = if base > l { (base, l) } else { (l, base) };
    let r = more + less;
    let r_low = (more - r) + less;
    let inverse = 1.0 / beta;
    let inverse_low = -inverse * product_rest_f64(isa, inverse, beta, 1.0);
    let y = isa.fma_f64(r, inverse, isa.fma_f64(r, inverse_low, inverse * (r_low + (l_low + base_low))));
    // A number that is subnormal before the division has fewer digits.
    let tiny = isa.fma_f64(high, inverse, isa.fma_f64(high, inverse_low, inverse * low)) * two;
    let y = if t < TINY_64 { tiny } else { y };
    if t > threshold { x } else { y }
}

#[cfg(test)]
mod tests {
    use super::super::super::simd::simd;
    use super::super::check::*;
    use super::*;
    use std::f64::consts::LN_2;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    #[inline(always)]
    fn softplus_1_f32(isa: Isa, x: f32) -> f32 {
        softplus_f32(isa, x, 1.0, f32::INFINITY)
    }

    #[inline(always)]
    fn softplus_1_f64(isa: Isa, x: f64) -> f64 {
        softplus_f64(isa, x, 1.0, f64::INFINITY)
    }

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(1.95, sigmoid_f32, |x| 1.0 / (1.0 + (-x).exp()));
        check_f32(1.7, softplus_1_f32, |x| x.max(0.0) + (-x.abs()).exp().ln_1p());
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(SIGMOID, 1.95, sigmoid_f64);
        check_f64(SOFTPLUS, 1.7, softplus_1_f64);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_special(sigmoid_f64, [0.5, 0.5, 1.0, 0.0, NAN, 1.0, 0.0]);
        check_special(softplus_1_f64, [LN_2, LN_2, INF, 0.0, NAN, f64::MAX, 0.0]);
    }

    #[test]
    fn softplus_knows_what_the_product_with_beta_has_lost() {
        // From mpmath, for the doubles 0.7 and -10.1 or -1000.1.
        for (x, exact) in [(-10.1, 0.001214102665347148), (-1000.1, 1.3133002108105018e-304)] {
            let got = simd(move |isa| softplus_f64(isa, x, 0.7, 20.0));
            assert!((got / exact - 1.0).abs() <= 5e-16, "{x}: {got:e}");
        }
        assert_eq!(simd(|isa| (softplus_f64(isa, -INF, 0.7, 20.0), softplus_f64(isa, INF, 0.7, 20.0))), (0.0, INF));
        assert_eq!(simd(|isa| softplus_f32(isa, f32::NEG_INFINITY, 0.7, 20.0)), 0.0);
        assert!(simd(|isa| softplus_f64(isa, NAN, 0.7, 20.0).is_nan() && softplus_f32(isa, f32::NAN, 0.7, 20.0).is_nan()));
        // e^(beta x) is subnormal or underflows, but a thousand times that does not. From mpmath.
        for (x, exact) in [(-100_000.0_f32, 3.720_058e-41), (-105_000.0, 2.506_555e-43)] {
            let got = simd(move |isa| softplus_f32(isa, x, 1e-3, 20.0));
            assert!((f64::from(got) - exact).abs() <= 1.5e-45, "{x}: {got:e}");
        }
    }

    #[test]
    fn softplus_is_the_identity_above_its_threshold() {
        let f = |x: f64, beta: f64, threshold: f64| simd(move |isa| softplus_f64(isa, x, beta, threshold));
        assert_eq!(f(3.0, 1.0, 2.0), 3.0);
        assert_eq!(f(3.0, 2.0, 5.5), 3.0);
        // log(1 + e^6) / 2
        assert!((f(3.0, 2.0, 20.0) - 3.001_237_842_568_865).abs() < 1e-15);
        assert!((f(-1.0, 0.5, 20.0) - 0.948_153_968_360_213_4).abs() < 1e-15);
        let g = |x: f32| simd(move |isa| softplus_f32(isa, x, 2.0, 20.0));
        assert_eq!((g(10.5), g(3.0)), (10.5, 3.001_237_9));
    }

    const SIGMOID: &[(u64, u64, f64)] = &[
        (0xc030_fe9a_a798_d2fe, 0x3e66_58ff_1fb2_8a39, 0.33),
        (0xc086_1ae7_2117_fbcd, 0x0026_7d0e_3688_d5ae, -0.31),
        (0xc035_d5e6_5715_ed5a, 0x3df6_9875_4daf_e14e, 0.31),
        (0xc00e_ad5c_03ba_cf0e, 0x3f95_a8d6_0081_418a, -0.30),
        (0xc02f_4761_93fa_73fc, 0x3e85_a975_b6e2_6055, -0.30),
        (0xc039_50b0_84f8_e83e, 0x3da6_488b_549e_df5f, 0.30),
        (0xc021_5b08_56be_830c, 0x3f26_5235_9330_2e30, 0.30),
        (0xc031_011b_f424_21f6, 0x3e66_2149_7ed0_12cc, 0.30),
        (0xc086_f80a_1b91_224f, 0x0000_0000_0000_30e9, -0.33),
        (0xbff3_eb9e_bc97_47f6, 0x3fcc_9db3_331a_66a7, 0.29),
        (0xc085_f49a_8212_7a55, 0x0095_14d0_183b_edac, 0.26),
        (0xbff9_5314_44ef_b9fe, 0x3fc5_cfb9_14cd_35f6, -0.23),
        (0x3ff6_7852_f0b7_6a34, 0x3fe9_b12b_e288_1530, 0.20),
        (0x3fcb_e7ce_8af8_5e68, 0x3fe1_bcba_5507_2c95, -0.17),
        (0xc086_19e1_7552_ddb2, 0x0029_8db0_0920_eb95, 0.37),
        (0xc042_8dca_464c_f45b, 0x3c96_1535_4c7b_1740, -0.33),
        (0xc086_1a45_b25f_7c28, 0x0028_5537_8178_f343, 0.33),
        (0xc087_4000_0000_0000, 0x0000_0000_0000_0002, -0.45),
        (0x3c30_0000_0000_0000, 0x3fe0_0000_0000_0000, 0.00),
        (0x4042_5000_0000_0000, 0x3fef_ffff_ffff_ffff, -0.12),
        (0xc042_5000_0000_0000, 0x3ca1_e483_dd1a_2e92, 0.43),
    ];
    const SOFTPLUS: &[(u64, u64, f64)] = &[
        (0xbfe7_3955_3a72_2f60, 0x3fd9_4305_49b0_4b5a, -0.41),
        (0xbfeb_4738_ceba_e8bc, 0x3fd6_ba83_5b40_6176, -0.42),
        (0xbfdc_314b_7fb5_b6d8, 0x3fdf_ce1d_27f1_d22c, -0.43),
        (0xbfe7_4952_bfa7_d8e8, 0x3fd9_3899_0474_19d6, -0.44),
        (0xbfea_e199_72d5_913c, 0x3fd6_f788_24e7_a164, 0.44),
        (0xbfec_33e2_6ef6_abc0, 0x3fd6_2e74_2c01_9b32, -0.45),
        (0xbfe6_c824_5f5b_7bb0, 0x3fd9_8d31_c486_ff6a, -0.45),
        (0xbfea_0818_874d_4978, 0x3fd7_7beb_24d2_8cbc, 0.47),
        (0xbfe6_4a65_16e0_b68c, 0x3fd9_e068_0603_11f3, -0.48),
        (0xbfdc_1065_3a28_f690, 0x3fdf_db01_7fbe_f9f2, -0.48),
        (0xc087_4800_0000_0000, 0x0000_0000_0000_0001, -0.43),
        (0xc042_0000_0000_0000, 0x3cb0_b6c3_afdd_e063, -0.04),
        (0x4044_0000_0000_0000, 0x4044_0000_0000_0000, 0.00),
        (0xc086_2400_0000_0000, 0x000e_6cf6_d088_97ac, -0.31),
        (0x3bc7_9ca1_0c92_4223, 0x3fe6_2e42_fefa_39ef, 0.21),
    ];
}
