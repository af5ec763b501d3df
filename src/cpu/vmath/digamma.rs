//! digamma, the derivative of lgamma.
//!
//! Between 1 and 2 a polynomial times the distance from the zero; up to 3 the same with one recurrence step; from 3 on Stirling's series.
//! Negative arguments are reflected, in sums of two numbers. Between two poles these sums may almost cancel; there the sum is computed
//! again in 106 bits.
//!
//! float32 is computed in float64. Largest errors of float64 in units in the last place: 1.5; near the zeros of large negative arguments 2.

use super::double::Double;
use super::erf::product_rest_f64;
use super::gamma_parts::{BERNOULLI, log_pair_normal, log_short, nearest, step, sum};
use super::{poly_f64, poly_split_f64};
use crate::cpu::simd::{Isa, simd};
use std::f64::consts::PI;

/// The zero minus 1, as a sum of two.
const ZERO: [f64; 2] = [4.616_321_449_683_623_6e-1, -1.552_234_816_285_867_7e-17];
/// `digamma(1 + t) / (t - ZERO)` for 0 <= t <= 1: `CENTRE` is the value at t = 1/2 as a sum of two, `DIGAMMA` the rest as a polynomial of t
/// - 1/2.
const CENTRE: [f64; 2] = [9.510_558_760_318_328e-1, 4.330_743_078_649_653e-17];
const DIGAMMA: [f64; 21] = [
    -4.236_274_212_814_606_4e-1,
    2.405_424_842_407_782_3e-1,
    -1.484_049_230_538_659e-1,
    9.498_872_445_459_039e-2,
    -6.192_213_327_694_662e-2,
    4.076_083_382_636_71e-2,
    -2.697_579_659_843_470_4e-2,
    1.790_725_213_564_174e-2,
    -1.190_822_149_118_467_1e-2,
    7.926_948_619_659_72e-3,
    -5.279_918_684_235_57e-3,
    3.518_973_849_381_883_3e-3,
    -2.345_649_694_134_077e-3,
    1.556_800_113_186_106_6e-3,
    -1.035_645_722_941_309_2e-3,
    7.227_927_403_556_256e-4,
    -4.885_563_818_914_752e-4,
    2.281_807_072_109_955_8e-4,
    -1.401_395_717_752_221_2e-4,
    2.589_640_385_030_022e-4,
    -1.817_953_560_511_312_4e-4,
];
/// `(digamma(y) - log(y) + 1 / (2 y)) y^2` as a polynomial of 1 / y^2, for y >= 3.
const SERIES: [f64; 12] = [
    -8.333_333_333_333_327e-2,
    8.333_333_333_173_406e-3,
    -3.968_253_896_144_479_5e-3,
    4.166_653_760_385_492e-3,
    -7.574_544_606_231_006e-3,
    2.102_395_212_148_106e-2,
    -8.076_573_002_442_523e-2,
    3.764_045_191_817_405e-1,
    -1.768_564_656_200_690_3,
    6.858_410_296_211_629,
    -17.837_587_465_753_874,
    22.239_746_322_412_68,
];
/// The same two polynomials with the bits that f32 needs.
const DIGAMMA_SHORT: [f64; 12] = [
    9.510_558_754_271_259e-1,
    -4.236_274_197_525_471e-1,
    2.405_426_572_096_326_7e-1,
    -1.484_051_284_401_295e-1,
    9.498_074_750_661_116e-2,
    -6.191_479_783_460_54e-2,
    4.089_434_922_058_280_5e-2,
    -2.708_324_559_926_619_8e-2,
    1.691_160_479_599_881_6e-2,
    -1.117_076_951_290_645_4e-2,
    1.122_896_435_807_898e-2,
    -7.588_153_366_729_633e-3,
];
const SERIES_SHORT: [f64; 6] = [
    -8.333_333_331_401_008e-2,
    8.333_320_219_560_184e-3,
    -3.966_792_665_286_49e-3,
    4.105_514_324_427_033e-3,
    -6.350_533_312_586_394e-3,
    8.012_937_966_736_708e-3,
];
/// `(pi cot(pi r) - 1 / r) / r` for |r| <= 1/2: the value at r = 0 as a sum of two, and the rest as a polynomial of r^2.
const COT_AT_0: [f64; 2] = [-3.289_868_133_696_453, -6.081_344_700_796_952e-17];
const COT: [f64; 15] = [
    -2.164_646_467_422_279_4,
    -2.034_686_123_967_673_7,
    -2.008_154_712_570_583_6,
    -2.001_989_137_630_786_3,
    -2.000_492_715_639_876_6,
    -2.000_107_348_376_158_4,
    -2.000_320_520_481_921_4,
    -1.996_074_419_600_787_1,
    -2.038_530_992_040_311,
    -1.725_472_551_814_504_4,
    -3.416_666_585_389_253,
    3.197_715_001_258_968_6,
    -15.023_167_972_755_989,
    18.493_312_232_728_396,
    -18.449_226_976_050_905,
];

/// `1 / d` and its rounding error, for finite d.
#[inline(always)]
fn inverse(isa: Isa, d: f64) -> (f64, f64) {
    let w = 1.0 / d;
    (w, -w * product_rest_f64(isa, w, d, 1.0))
}

/// A divisor whose reciprocal is negligible and whose square is finite.
const NONE: f64 = 1e100;

/// Returns `digamma(y + low)` by the series if `large`, otherwise `digamma(1 + t) + 1 / d`, as a sum of two.
#[inline(always)]
fn either(isa: Isa, large: bool, (y, low): (f64, f64), t: f64, d: f64) -> (f64, f64) {
    // The distance from the zero is exact except for small t.
    let from = t - ZERO[0];
    let m = from - ZERO[1];
    let m_low = (from - m) - ZERO[1];
    let (p, p_low) = step(isa, t - 0.5, poly_split_f64(isa, t - 0.5, DIGAMMA), CENTRE[0]);
    let small = m * p;
    let small_low = isa.fma_f64(m, p_low + CENTRE[1], isa.fma_f64(m_low, p, product_rest_f64(isa, m, p, small)));
    let (w, w_low) = inverse(isa, if large { y } else { d });
    let (log, log_low) = log_pair_normal(isa, if large { y } else { 1.0 });
    let z = w * w;
    let rest = isa.fma_f64(w, low, isa.fma_f64(-0.5, w_low, z * poly_f64(isa, z, SERIES)));
    let (high, lost) = sum(if large { log } else { small }, if large { -0.5 * w } else { w });
    (high, lost + if large { log_low + rest } else { small_low + w_low })
}

/// Returns the fraction of y >= 0.
#[inline(always)]
fn fraction(isa: Isa, y: f64) -> f64 {
    // Rounding towards zero is one instruction only on processors with fma.
    if isa.has_fma() {
        return y - y.trunc();
    }
    let (_, r) = nearest(y);
    if r < 0.0 { r + 1.0 } else { r }
}

/// `digamma(x)` for x that are not negative: -inf at 0, inf at -0.
#[inline(always)]
pub(super) fn digamma_positive_f64(isa: Isa, x: f64) -> f64 {
    let t = fraction(isa, x.abs());
    let d = if x >= 2.0 { 1.0 + t } else { NONE };
    let d = if x < 1.0 { -x } else { d };
    let (high, low) = either(isa, x >= 3.0, (x, 0.0), t, d);
    let r = if high.abs() < f64::INFINITY { high + low } else { high };
    if x == f64::INFINITY { x } else { r }
}

/// `digamma(x)`, except for arguments with [`digamma_rare_f64`]: -inf at 0, inf at -0, NaN at the negative integers and -inf.
#[inline(always)]
pub fn digamma_f64(isa: Isa, x: f64) -> f64 {
    let y = x.abs();
    let (_, r) = nearest(y);
    // digamma(-y) = digamma(1 + y) + pi cot(pi y).
    let next = 1.0 + y;
    let lost = if y > 1.0 { 1.0 - (next - y) } else { y - (next - 1.0) };
    let t = fraction(isa, y);
    let (a, a_low) = either(isa, y >= 2.0, (next, lost), t, if y >= 1.0 { 1.0 + t } else { NONE });
    let z = r * r;
    let [first, rest @ ..] = COT;
    let (p, p_low) = step(isa, z, poly_f64(isa, z, rest), first);
    let (q, q_low) = step(isa, z, p, COT_AT_0[0]);
    let q_low = isa.fma_f64(z, p_low, isa.fma_f64(p, product_rest_f64(isa, r, r, z), q_low + COT_AT_0[1]));
    let b = r * q;
    let b_low = isa.fma_f64(r, q_low, product_rest_f64(isa, r, q, b));
    let (w, w_low) = inverse(isa, if r == 0.0 { f64::NAN } else { r });
    // The largest two terms may cancel, and their sum may cancel with the third.
    let (s, s_low) = sum(w, b);
    let (v, v_low) = sum(s, a);
    let reflected = v + (v_low + (s_low + (w_low + b_low + a_low)));
    let reflected = if v.abs() < f64::INFINITY { reflected } else { v };
    if x < 0.0 { reflected } else { digamma_positive_f64(isa, x) }
}

/// `digamma(x)`: -inf at 0, inf at -0, NaN at the negative integers and -inf.
#[inline(always)]
pub fn digamma_f32(isa: Isa, x: f32) -> f32 {
    digamma_f64(isa, f64::from(x)) as f32
}

/// [`digamma_f32`] for x that are not negative.
#[inline(always)]
pub(super) fn digamma_positive_f32(isa: Isa, x: f32) -> f32 {
    let x = f64::from(x);
    let large = x >= 3.0;
    let t = fraction(isa, x.abs());
    let small = ((t - ZERO[0]) - ZERO[1]) * poly_f64(isa, t - 0.5, DIGAMMA_SHORT);
    let d = if x >= 2.0 { 1.0 + t } else { NONE };
    let d = if x < 1.0 { -x } else { d };
    let w = 1.0 / if large { x } else { d };
    let z = w * w;
    let series = log_short(isa, if large { x } else { 1.0 }) + isa.fma_f64(-0.5, w, z * poly_f64(isa, z, SERIES_SHORT));
    let value = if large { series } else { small + w };
    (if x == f64::INFINITY { x } else { value }) as f32
}

/// Returns true if x, whose [`digamma_f64`] is `r`, is too close to a zero between two poles.
#[inline(always)]
pub(super) fn digamma_rare_f64(x: f64, r: f64) -> bool {
    x < 0.0 && r.abs() < 0.0625
}

/// The numbers so close to a zero that 106 bits are not enough for their digamma, with the results.
const CLOSEST: [(f64, f64); 3] = [
    (-5.040_830_082_644_554e-1, 7.289_763_902_976_895e-17),
    (-1.573_498_473_162_390_4, 1.564_978_848_183_845_4e-16),
    (-5.667_162_441_556_885_5, 4.186_779_446_452_480_4e-17),
];

/// `digamma(x)` for negative x near a zero.
pub(super) fn digamma_slow_f64(x: f64) -> f64 {
    if let Some((_, r)) = CLOSEST.iter().find(|closest| closest.0 == x) {
        return *r;
    }
    simd(
        #[inline(always)]
        move |_| {
            let y = -x;
            let r = y - y.round();
            let mut a = Double::sum(1.0, y);
            let mut below = Double::ZERO;
            while a.high < 24.0 {
                below = below + Double::ONE / a;
                a = a + Double::ONE;
            }
            let r = a.log() - Double::from(0.5) / a - end_of_series(a) - below + cot_pi(r);
            r.high + r.low
        },
    )
}

/// `B_2 / (2 a^2) + B_4 / (4 a^4) + ...` for a >= 24.
#[inline(always)]
fn end_of_series(a: Double) -> Double {
    let z = Double::ONE / (a * a);
    let (mut sum, mut factorials) = (Double::ZERO, [1.0; 15]);
    for j in 1..15 {
        factorials[j] = factorials[j - 1] * (2 * j * (2 * j + 1)) as f64;
    }
    for (&(high, low), factorial) in BERNOULLI.iter().zip(factorials).rev() {
        sum = (sum + Double { high, low } * Double::from(factorial)) * z;
    }
    sum
}

/// `pi cot(pi r)` for |r| <= 1/2.
#[inline(always)]
fn cot_pi(r: f64) -> Double {
    let pi = Double { high: PI, low: 1.224_646_799_147_353_2e-16 };
    // Sine and cosine are computed for half the angle.
    let angle = pi * Double::from(0.5 * r);
    let z = angle * angle;
    let (mut s, mut c) = (Double::ONE, Double::ONE);
    for k in (1..15).rev() {
        let k = 2.0 * f64::from(k);
        c = Double::ONE - c * z / Double::from(k * (k - 1.0));
        s = Double::ONE - s * z / Double::from(k * (k + 1.0));
    }
    let s = s * angle;
    pi * (c * c - s * s) / (s * c).scaled(1)
}

#[cfg(test)]
mod tests {
    use super::super::check::{alone, check_f64, check_special};
    use super::super::{digamma_run_f32, digamma_run_f64};
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(POINTS, 1.2, alone!(digamma_run_f64));
        check_f64(BESIDE_ZEROS, 2.0, alone!(digamma_run_f64));
    }

    #[test]
    fn special_values() {
        check_special(alone!(digamma_run_f64), [-INF, INF, INF, NAN, NAN, f64::MAX.ln(), NAN]);
        assert!([-1.0, -2.0, -7.0, -1e17].iter().all(|&x| simd(move |isa| alone!(digamma_run_f64)(isa, x)).is_nan()));
    }

    #[test]
    fn f32_follows_mathematics() {
        // mpmath
        for (x, psi) in [
            (0.25, -4.2274537),
            (1.5, 0.036489975),
            (2.75, 0.818901),
            (3.5, 1.1031567),
            (1e+02, 4.600162),
            (-0.5, 0.036489975),
            (-0.25, 2.914139),
            (-1.75, -2.3226917),
            (-10.5, 2.3982391),
            (-1.5, 0.70315665),
            (-1000.25, 10.050097),
        ] {
            let got = simd(move |isa| alone!(digamma_run_f32)(isa, x));
            assert!((got - psi).abs() <= 1e-7 * f32::abs(psi), "digamma({x}): {got}, not {psi}");
        }
        assert_eq!(simd(|isa| alone!(digamma_run_f32)(isa, 0.0)), f32::NEG_INFINITY);
    }

    const POINTS: &[(u64, u64, f64)] = &[
        (0x4000_00ce_cf64_1254, 0x3fdb_1310_ed58_8d33, 0.37),
        (0x4000_3a3f_c4a3_e702, 0x3fdc_38c9_28ef_f0bf, 0.26),
        (0x4000_2ef0_ca89_f066, 0x3fdb_ff5d_3b27_0059, 0.15),
        (0x4000_2ddc_9458_c044, 0x3fdb_f9e0_146f_7501, 0.13),
        (0x4000_2bc7_606d_abc8, 0x3fdb_ef46_42f4_ccf3, 0.12),
        (0x4000_368b_937b_bb81, 0x3fdc_2600_0173_1c8f, 0.07),
        (0x4000_1968_93fd_c2a0, 0x3fdb_917c_6ddf_c115, -0.50),
        (0x4000_09e6_2318_7d29, 0x3fdb_41e5_13f6_ebf0, -0.37),
        (0x4000_d819_f655_5ab1, 0x3fdf_4685_84cd_344a, 0.32),
        (0x4000_185b_5b3e_736a, 0x3fdb_8c19_e25a_8c52, 0.31),
        (0x3ff7_62d8_6356_be3f, 0xbc9a_a2d9_b3ce_29e0, 0.21),
        (0x3ff7_62d8_6356_be40, 0x3ca1_a5be_ef07_23bb, 0.47),
        (0x01a5_6e1f_c2f8_f359, 0xfe37_e43c_8800_759b, 0.48),
        (0x7e37_e43c_8800_759c, 0x4085_9634_47f8_7fb5, 0.21),
        (0x3fe0_0000_0000_0000, 0xbfff_6a89_7d32_14fc, -0.31),
        (0x3fef_ff2e_48e8_a71e, 0xbfe2_79e5_fa9d_9f50, 0.19),
        (0x4008_0000_0000_0000, 0x3fed_8773_0390_49e7, 0.04),
        (0x4007_ffff_f294_06b3, 0x3fed_8772_ee5c_5b29, 0.43),
    ];

    const BESIDE_ZEROS: &[(u64, u64, f64)] = &[
        (0xbfe0_2172_b05e_e260, 0x3c95_02e5_780c_52da, 0.31),
        (0xbfe0_2172_b05e_e25f, 0x3cd3_315b_9e56_7356, -0.15),
        (0xbfe0_2170_977f_ee49, 0x3ee2_bf84_726d_9d29, -0.25),
        (0xbfe0_29a3_d748_5b35, 0xbf82_4f78_68ef_ba0e, 0.25),
        (0xbff9_2d0c_bc28_9d4a, 0x3ca6_8dc0_bb58_132f, -0.16),
        (0xbff9_2d0c_bc28_9d49, 0x3ce5_4aea_1e4f_c550, -0.38),
        (0xbff9_2d0b_afb9_233f, 0x3ee4_d94e_27a3_3bca, 0.27),
        (0xbff9_3125_4f9d_59b4, 0xbf84_6053_fb2a_6cf6, 0.43),
        (0xc004_e2c1_9f67_9e5a, 0xbcd3_4fda_cb52_af39, 0.25),
        (0xc004_e2c1_9f67_9e59, 0x3cf0_de61_742d_0bb2, 0.43),
        (0xc004_e2c1_192f_e154, 0x3ee6_c025_33b3_6a2f, -0.39),
        (0xc004_e4cd_e921_fc8f, 0xbf86_3e5e_fd55_35d6, -0.28),
        (0xc00d_1514_b041_b2a8, 0xbcc6_e558_8902_67e6, -0.15),
        (0xc00d_1514_b041_b2a7, 0x3cf4_709c_db5a_7792, 0.23),
        (0xc00d_1514_2a09_f5a2, 0x3ee8_6f0a_95af_d206, -0.13),
        (0xc00d_1720_f9fc_10dd, 0xbf87_e55c_883b_7b47, -0.46),
        (0xc01e_c04b_952a_5368, 0x3ce1_407c_46c1_71a0, -0.29),
        (0xc01e_c04b_952a_5367, 0x3d10_53ec_83a8_6d4f, 0.48),
        (0xc01e_c04b_520e_74e5, 0x3eed_b82a_17fb_7e93, 0.24),
        (0xc01e_c151_ba07_8283, 0xbf8d_15af_eb71_1b40, -0.47),
        (0xc034_bee0_bf2c_8a59, 0xbd14_3787_acfb_65fa, -0.12),
        (0xc034_bee0_bf2c_8a58, 0x3d2c_37c6_8a3d_c871, 0.44),
        (0xc034_bee0_ae65_92b8, 0x3ef4_180e_a50c_94d1, -0.44),
        (0xc034_bf22_4863_d620, 0xbf93_aef6_b2a2_11a4, 0.18),
        (0xc050_32de_1d24_ccdc, 0xbd2c_8c31_1061_54a1, 0.44),
        (0xc050_32de_1d24_ccdb, 0x3d57_bfcd_67bb_a884, 0.23),
        (0xc050_32de_18f3_0ef4, 0x3efc_a500_e1e9_25da, -0.42),
        (0xc050_32ee_7f72_9fce, 0xbf9c_1742_22af_f653, 0.01),
        (0xc06f_fac0_2972_4764, 0xbd3c_893a_1e6a_dfe1, -0.35),
        (0xc06f_fac0_2972_4763, 0x3d72_87f7_9e7b_1334, 0.34),
        (0xc06f_fac0_2759_6870, 0x3f05_4d22_a2e5_496d, -0.19),
        (0xc06f_fac8_5a99_30dd, 0xbfa4_eb14_508a_79c4, -0.18),
        (0xc08f_46e9_cc1e_410a, 0x3d7f_3ae8_422e_e807, -0.24),
        (0xc08f_46e9_cc1e_4109, 0x3da2_4e0d_9178_b6b5, -0.23),
        (0xc08f_46e9_cb98_094d, 0x3f0e_337e_c8fd_ebda, 0.26),
        (0xc08f_46eb_d867_fb68, 0xbfad_b2e5_4032_ffae, -0.32),
        (0xc0c8_1cf2_e2ce_1136, 0xbd88_09ee_5d89_0c7c, -0.15),
        (0xc0c8_1cf2_e2ce_1135, 0x3de8_47f9_5690_4d57, -0.37),
        (0xc0c8_1cf2_e2c5_adba, 0x3f19_daaf_d4a2_983b, 0.37),
        (0xc0c8_1cf3_0392_acdc, 0xbfb9_7d1d_9c26_7cb0, 0.03),
        (0xbfe0_0000_0000_0000, 0x3fa2_aed0_59bd_608a, 0.03),
        (0xbf50_624d_d2f1_a9fc, 0x408f_3b5e_7db4_1851, 0.21),
        (0xbff0_0000_0000_1000, 0x4270_0000_0000_06c4, -0.28),
        (0xc006_0000_0000_0000, 0xbfff_584a_5562_319c, -0.36),
        (0xc0f8_6a04_cccc_cccd, 0x402b_9743_248a_2802, -0.47),
        (0xc012_992b_da48_3538, 0x3fa7_0481_d6b7_ebb3, -0.45),
        (0xc00d_0c95_561c_71c3, 0x3fa8_9a96_c189_e45e, -0.12),
    ];
}
