//! Functions around `1 + e^x`.
//!
//! Largest errors (a dense sweep of f32, millions of points of f64): sigmoid 1.91, softplus 1.63 at beta 1 and 2.6 at others. logaddexp is within 1.2
//! units of the larger of its result and its operands: where the result is the small difference of a negative maximum and a positive logarithm, it
//! has the error of these.

use super::super::simd::Isa;
use super::erf::{product_rest_f32, product_rest_f64};
use super::exp::{exp_f32, exp_f64};
use super::log::{log_parts_f32, log_parts_f64, log_sum_f32, log_sum_f64};

/// `1 / (1 + exp(-x))`
#[inline(always)]
pub fn sigmoid_f32(isa: Isa, x: f32) -> f32 {
    // One of e^-|x| and 1 is the numerator, so that nothing overflows and a subnormal result is rounded once.
    let e = exp_f32(isa, -x.abs());
    let d = 1.0 + e;
    let q = (if x < 0.0 { e } else { 1.0 }) / d;
    // The quotient without the rounding of d, where that counts: at small e.
    isa.fma_f32(-q, e - (d - 1.0), q)
}

/// `1 / (1 + exp(-x))`
#[inline(always)]
pub fn sigmoid_f64(isa: Isa, x: f64) -> f64 {
    let e = exp_f64(isa, -x.abs());
    let d = 1.0 + e;
    let q = (if x < 0.0 { e } else { 1.0 }) / d;
    // The quotient without the rounding of d, where that counts: at small e.
    isa.fma_f64(-q, e - (d - 1.0), q)
}

/// `log(1 + q)` for 0 <= q <= 1.
#[inline(always)]
fn log1p_unit_f32(isa: Isa, q: f32) -> f32 {
    // The exponent of the sum is 0 or 1. As numbers: from a condition, the compiler would make two copies of what follows.
    let (e, _) = log_parts_f32(1.0 + q);
    let scale = isa.fma_f32(-0.5, e, 1.0);
    log_sum_f32(isa, e, isa.fma_f32(scale, q, scale - 1.0))
}

#[inline(always)]
fn log1p_unit_f64(isa: Isa, q: f64) -> f64 {
    let (e, _) = log_parts_f64(1.0 + q);
    let scale = isa.fma_f64(-0.5, e, 1.0);
    log_sum_f64(isa, e, isa.fma_f64(scale, q, scale - 1.0))
}

/// `log(1 + exp(beta x)) / beta`, and `x` where `beta x > threshold`.
#[inline(always)]
pub fn softplus_f32(isa: Isa, x: f32, beta: f32, threshold: f32) -> f32 {
    if beta == 1.0 {
        let r = (if x > 0.0 { x } else { 0.0 }) + log1p_unit_f32(isa, exp_f32(isa, -x.abs()));
        return if x > threshold { x } else { r };
    }
    let t = beta * x;
    // What the product has lost is multiplied by the exponential; where that vanishes it may be NaN.
    let lost = product_rest_f32(isa, beta, x, t);
    let lost = if t.abs() < 200.0 { lost } else { 0.0 };
    let (base, base_low, against) = if t > 0.0 { (t, lost, -lost) } else { (0.0, 0.0, lost) };
    let q = exp_f32(isa, -t.abs());
    let r = base + (log1p_unit_f32(isa, isa.fma_f32(q, against, q)) + base_low);
    let inverse = 1.0 / beta;
    let low = -inverse * product_rest_f32(isa, inverse, beta, 1.0);
    if t > threshold { x } else { isa.fma_f32(r, inverse, r * low) }
}

/// `log(1 + exp(beta x)) / beta`, and `x` where `beta x > threshold`.
#[inline(always)]
pub fn softplus_f64(isa: Isa, x: f64, beta: f64, threshold: f64) -> f64 {
    if beta == 1.0 {
        let r = (if x > 0.0 { x } else { 0.0 }) + log1p_unit_f64(isa, exp_f64(isa, -x.abs()));
        return if x > threshold { x } else { r };
    }
    let t = beta * x;
    // What the product has lost is multiplied by the exponential; where that vanishes it may be NaN.
    let lost = product_rest_f64(isa, beta, x, t);
    let lost = if t.abs() < 1000.0 { lost } else { 0.0 };
    let (base, base_low, against) = if t > 0.0 { (t, lost, -lost) } else { (0.0, 0.0, lost) };
    let q = exp_f64(isa, -t.abs());
    let r = base + (log1p_unit_f64(isa, isa.fma_f64(q, against, q)) + base_low);
    let inverse = 1.0 / beta;
    let low = -inverse * product_rest_f64(isa, inverse, beta, 1.0);
    if t > threshold { x } else { isa.fma_f64(r, inverse, r * low) }
}

/// `log(exp(a) + exp(b))`
#[inline(always)]
pub fn logaddexp_f32(isa: Isa, a: f32, b: f32) -> f32 {
    // Equal infinities have no difference.
    let apart = if a == b { 0.0 } else { a - b };
    (if a > b { a } else { b }) + log1p_unit_f32(isa, exp_f32(isa, -apart.abs()))
}

/// `log(exp(a) + exp(b))`
#[inline(always)]
pub fn logaddexp_f64(isa: Isa, a: f64, b: f64) -> f64 {
    let apart = if a == b { 0.0 } else { a - b };
    (if a > b { a } else { b }) + log1p_unit_f64(isa, exp_f64(isa, -apart.abs()))
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
        check_f64_2(LOGADDEXP, 1.2, logaddexp_f64);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_special(sigmoid_f64, [0.5, 0.5, 1.0, 0.0, NAN, 1.0, 0.0]);
        check_special(softplus_1_f64, [LN_2, LN_2, INF, 0.0, NAN, f64::MAX, 0.0]);
        check_special(|isa, x| logaddexp_f64(isa, x, x), [LN_2, LN_2, INF, -INF, NAN, f64::MAX, f64::MIN]);
        check_special(|isa, x| logaddexp_f64(isa, x, -INF), [0.0, 0.0, INF, -INF, NAN, f64::MAX, f64::MIN]);
        check_special(|isa, x| logaddexp_f64(isa, INF, x), [INF, INF, INF, INF, NAN, INF, INF]);
    }

    #[test]
    fn softplus_knows_what_the_product_with_beta_has_lost() {
        // mpmath, of the doubles 0.7 and -10.1 or -1000.1.
        for (x, exact) in [(-10.1, 0.001214102665347148), (-1000.1, 1.3133002108105018e-304)] {
            let got = simd(move |isa| softplus_f64(isa, x, 0.7, 20.0));
            assert!((got / exact - 1.0).abs() <= 5e-16, "{x}: {got:e}");
        }
        assert_eq!(simd(|isa| (softplus_f64(isa, -INF, 0.7, 20.0), softplus_f64(isa, INF, 0.7, 20.0))), (0.0, INF));
        assert_eq!(simd(|isa| softplus_f32(isa, f32::NEG_INFINITY, 0.7, 20.0)), 0.0);
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
    const LOGADDEXP: &[(u64, u64, u64, f64)] = &[
        (0x3fd8_64c6_19d1_f504, 0x3fb1_1326_41e3_d1f0, 0x3fed_bd7d_ae41_b4a3, 0.11),
        (0x3fe7_6fd8_8fcd_ad4a, 0x3fd4_0fd6_c3c7_ecc4, 0x3ff3_ce48_573e_cb65, -0.11),
        (0x3ff2_786b_ef93_3632, 0x3fed_740c_42ae_9db0, 0x3ffb_cc52_34be_4367, 0.12),
        (0x3fc6_6dde_b900_58e0, 0x3fd5_f9c8_63eb_81ac, 0x3fee_975b_88d5_ce03, 0.13),
        (0x3fd2_e17a_2254_875c, 0x3fe5_cebd_af98_3cc0, 0x3ff3_3300_d5d3_a52d, -0.13),
        (0x3fd1_1ded_679a_1310, 0x3ff1_e2a8_03fc_115c, 0x3ff7_93ce_e93d_ca77, 0.13),
        (0x3fcf_1f1c_8152_99d8, 0x3fdb_0036_0c4d_6874, 0x3ff0_7970_78a1_9057, -0.13),
        (0x3fd9_e51d_a17e_2ef4, 0x3fd9_95e6_867b_c318, 0x3ff1_8685_14dd_fa2b, -0.14),
        (0x3fc0_bc5e_a1ec_bec8, 0x3fe2_0fa4_7ae9_1d90, 0x3ff1_065b_66a4_b631, -0.14),
        (0x3fe6_9593_e7d7_7626, 0x3fd1_50c2_a45a_e664, 0x3ff3_46d6_c862_d233, -0.14),
        (0x408f_4000_0000_0000, 0x408f_4000_0000_0000, 0x408f_458b_90bf_be8e, 0.48),
        (0xc08f_4000_0000_0000, 0xc08f_4400_0000_0000, 0xc08f_3c35_1720_4948, -0.05),
        (0x0000_0000_0000_0000, 0xc087_4800_0000_0000, 0x0000_0000_0000_0001, -0.43),
        (0x7e37_e43c_8800_759c, 0x7e37_e43c_8800_759c, 0x7e37_e43c_8800_759c, 0.00),
    ];
}
