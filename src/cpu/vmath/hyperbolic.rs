//! Hyperbolic functions.
//!
//! Largest errors (all inputs of f32, eight million of f64): tanh 1.35.

use super::super::simd::Isa;
use super::exp::{exp_parts_f32, exp_parts_f64};
use super::{poly_f32, poly_f64};

/// `(tanh(x) / x - 1) / x^2` as a polynomial of x^2, on |x| <= 0.55.
const TANH_32: [f32; 5] = [-3.333_331_6e-1, 1.333_254_6e-1, -5.384_784e-2, 2.105_237_4e-2, -6.245_768e-3];
const TANH_64: [f64; 10] = [
    -3.333_333_333_333_231_6e-1,
    1.333_333_333_316_893e-1,
    -5.396_825_387_616_148_4e-2,
    2.186_948_597_635_869_3e-2,
    -8.863_194_521_182_708e-3,
    3.591_719_812_339_739_5e-3,
    -1.453_217_234_469_326_5e-3,
    5.791_382_127_287_165e-4,
    -2.103_040_487_176_349_3e-4,
    5.102_243_419_252_139e-5,
];

/// `tanh(x)`
#[inline(always)]
pub fn tanh_f32(isa: Isa, x: f32) -> f32 {
    let t = x.abs();
    let t = if t > 10.0 { 10.0 } else { t };
    let (p, a, b) = exp_parts_f32(isa, 2.0 * t);
    let s = a * b;
    let large = 1.0 - 2.0 / isa.fma_f32(s, p, s + 1.0);
    let z = t * t;
    let small = isa.fma_f32(poly_f32(isa, z, TANH_32) * z, t, t);
    // NaN takes the second arm.
    (if t > 0.55 { large } else { small }).copysign(x)
}

/// `tanh(x)`
#[inline(always)]
pub fn tanh_f64(isa: Isa, x: f64) -> f64 {
    let t = x.abs();
    let t = if t > 20.0 { 20.0 } else { t };
    let (p, a, b) = exp_parts_f64(isa, 2.0 * t);
    let s = a * b;
    let large = 1.0 - 2.0 / isa.fma_f64(s, p, s + 1.0);
    let z = t * t;
    let small = isa.fma_f64(poly_f64(isa, z, TANH_64) * z, t, t);
    // NaN takes the second arm.
    (if t > 0.55 { large } else { small }).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::super::check::*;
    use super::*;

    const NAN: f64 = f64::NAN;

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(1.4, tanh_f32, f64::tanh);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(TANH, 1.4, tanh_f64);
    }

    #[test]
    fn f64_agrees_with_the_standard_library() {
        check_std(tanh_f64, f64::tanh);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_special(tanh_f64, [0.0, -0.0, 1.0, -1.0, NAN, 1.0, -1.0]);
    }

    const TANH: &[(u64, u64, f64)] = &[
        (0xbfe1_b2e7_1154_4f7e, 0xbfe0_1732_2eab_62c7, 0.33),
        (0xbfe1_ba47_a648_282f, 0xbfe0_1cb4_9deb_dd81, 0.30),
        (0x3fe2_431a_b314_5a15, 0x3fe0_81fb_4ab1_fded, 0.27),
        (0x3fe1_c0d9_365d_1aed, 0x3fe0_219b_5e80_98df, 0.27),
        (0xbfe2_7dcd_d4ad_c43b, 0xbfe0_ace6_9efb_4287, 0.26),
        (0x3fe1_fc7a_06d0_0152, 0x3fe0_4deb_46b5_67c3, 0.26),
        (0xbfe1_e463_63b4_c1fe, 0xbfe0_3c0e_ac5e_7a69, 0.26),
        (0x3fe2_e784_1d80_ce93, 0x3fe0_f963_57d9_4625, 0.26),
        (0xbfa1_7096_23d6_99b8, 0xbfa1_6edc_5309_8dcc, 0.28),
        (0xbfd4_775d_096f_25e0, 0xbfd3_cbc8_0f0f_6a9b, -0.25),
        (0x4031_4e0e_1102_421c, 0x3fef_ffff_ffff_ffef, 0.22),
        (0x3f63_de10_70ee_7ab0, 0x3f63_de0d_e36f_5734, 0.19),
        (0x4032_6932_5f39_52ca, 0x3fef_ffff_ffff_fffe, 0.16),
        (0xc033_b75e_82f6_483b, 0xbff0_0000_0000_0000, -0.07),
        (0x3fe2_1e70_eb0f_701e, 0x3fe0_6703_5938_4e91, 0.29),
        (0xbfe2_936a_4a3b_77d5, 0xbfe0_bc9f_30c2_b367, 0.27),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.00),
        (0x3e10_0000_0000_0000, 0x3e10_0000_0000_0000, -0.00),
        (0x3fe1_9999_9999_999a, 0x3fe0_0442_f641_9203, -0.21),
        (0x3fe1_9999_9999_999b, 0x3fe0_0442_f641_9204, -0.46),
        (0x4033_0000_0000_0000, 0x3fef_ffff_ffff_ffff, 0.43),
    ];
}
