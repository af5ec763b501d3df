//! The inverse trigonometric functions.
//!
//! Largest errors in units in the last place, of f32 and f64 (43 million inputs of f32, some millions of f64): asin 1.16 and 1.25, acos
//! 1.52 and 1.43, atan 1.20 and 1.39, atan2 1.51 and 1.72.

use super::super::simd::Isa;
use super::{poly_f32, poly_f64, poly_split_f64};
use std::f32::consts::{FRAC_PI_2 as FRAC_PI_2_32, PI as PI_32};
use std::f64::consts::{FRAC_PI_2 as FRAC_PI_2_64, PI as PI_64};

const PI_2_LOW_32: f32 = -4.371_139e-8;
pub(super) const PI_2_LOW_64: f64 = 6.123_233_995_736_766e-17;
/// The rounding error of PI, divided by PI.
const PI_LACKS_32: f32 = -2.782_753_4e-8;
const PI_LACKS_64: f64 = 3.898_171_832_519_375_5e-17;
const SIGN_32: u32 = 1 << 31;
const SIGN_64: u64 = 1 << 63;
/// The smallest positive number.
const LEAST_32: f32 = f32::from_bits(1);
const LEAST_64: f64 = f64::from_bits(1);

/// `(asin(s) / s - 1) / s^2` as a polynomial of s^2, on |s| <= 1 / 2.
const ASIN_32: [f32; 5] = [1.666_675_2e-1, 7.495_309_4e-2, 4.546_915e-2, 2.418_478_2e-2, 4.215_829e-2];
pub(super) const ASIN_64: [f64; 13] = [
    0.166_666_666_666_667_6,
    0.074_999_999_999_708_65,
    0.044_642_857_174_563_094,
    0.030_381_942_709_735_047,
    0.022_372_214_940_141_282,
    0.017_351_612_768_870_952,
    0.013_980_812_398_322_304,
    0.011_398_972_973_318_723,
    0.010_779_939_743_929_975,
    0.003_707_503_753_342_432_7,
    0.021_704_964_771_694_85,
    -0.020_995_772_559_233_84,
    0.032_626_688_309_075_83,
];

/// `(atan(q) / q - 1) / q^2` as a polynomial of q^2, on |q| <= 1.
const ATAN_32: [f32; 9] = [
    -3.333_33e-1,
    1.999_853e-1,
    -1.426_401_4e-1,
    1.095_086_1e-1,
    -8.399_209e-2,
    5.787_891e-2,
    -3.109_361_6e-2,
    1.086_634_3e-2,
    -1.782_167_4e-3,
];
const ATAN_LOW_64: [f64; 6] = [
    -0.333_333_333_333_318_6,
    0.199_999_999_997_551_97,
    -0.142_857_142_713_422_92,
    0.111_111_106_789_182_01,
    -0.090_909_012_377_693_2,
    0.076_922_129_530_228_62,
];
/// The coefficients that follow `ATAN_LOW_64`.
const ATAN_HIGH_64: [f64; 13] = [
    -0.066_658_605_143_014_96,
    0.058_773_085_185_456_79,
    -0.052_392_357_803_586_3,
    0.046_739_574_941_421_69,
    -0.040_926_554_432_910_32,
    0.034_068_101_178_621_81,
    -0.025_827_173_390_888_83,
    0.016_978_408_425_542_928,
    -0.009_184_834_939_134_101,
    0.003_856_122_617_804_611_3,
    -0.001_164_125_828_862_028,
    0.000_223_034_493_997_190_42,
    -2.025_979_952_806_724e-5,
];

/// Returns `s`, `asin(s) - s`, and true if `|x|` is beyond one half. Then `asin(|x|) = pi / 2 - 2 asin(s)`, otherwise `asin(|x|) =
/// asin(s)`.
#[inline(always)]
fn arc_f32(isa: Isa, x: f32, low: f32) -> (f32, f32, bool) {
    let t = x.abs();
    let far = t > 0.5;
    let z = if far { isa.fma_f32(t, -0.5, 0.5) } else { t * t };
    let s = if far { z.sqrt() } else { t };
    (s, isa.fma_f32(s * z, poly_f32(isa, z, ASIN_32), if far { -0.5 * low } else { -0.0 }), far)
}

/// Returns `s`, `asin(s) - s`, and true if `|x|` is beyond one half. Then `asin(|x|) = pi / 2 - 2 asin(s)`, otherwise `asin(|x|) =
/// asin(s)`.
#[inline(always)]
fn arc_f64(isa: Isa, x: f64, low: f64) -> (f64, f64, bool) {
    let t = x.abs();
    let far = t > 0.5;
    let z = if far { isa.fma_f64(t, -0.5, 0.5) } else { t * t };
    let s = if far { z.sqrt() } else { t };
    (s, isa.fma_f64(s * z, poly_f64(isa, z, ASIN_64), if far { -0.5 * low } else { -0.0 }), far)
}

/// `asin(x)`
#[inline(always)]
pub fn asin_f32(isa: Isa, x: f32) -> f32 {
    let (s, rest, far) = arc_f32(isa, x, PI_2_LOW_32);
    let times = if far { -2.0 } else { 1.0 };
    let from = if far { FRAC_PI_2_32 } else { 0.0 };
    let sum = isa.fma_f32(times, s, from);
    let lost = isa.fma_f32(times, s, from - sum);
    (sum + isa.fma_f32(times, rest, lost)).copysign(x)
}

/// `asin(x)`
#[inline(always)]
pub fn asin_f64(isa: Isa, x: f64) -> f64 {
    let (s, rest, far) = arc_f64(isa, x, PI_2_LOW_64);
    let times = if far { -2.0 } else { 1.0 };
    let from = if far { FRAC_PI_2_64 } else { 0.0 };
    let sum = isa.fma_f64(times, s, from);
    let lost = isa.fma_f64(times, s, from - sum);
    (sum + isa.fma_f64(times, rest, lost)).copysign(x)
}

/// `acos(x)`
#[inline(always)]
pub fn acos_f32(isa: Isa, x: f32) -> f32 {
    let (s, rest, far) = arc_f32(isa, x, 0.0);
    let times: f32 = if far { 2.0 } else { -1.0 };
    let times = f32::from_bits(times.to_bits() ^ (x.to_bits() & SIGN_32));
    let from = if far { 0.0 } else { FRAC_PI_2_32 };
    let from = if x < -0.5 { PI_32 } else { from };
    isa.fma_f32(times, rest, isa.fma_f32(times, s, from))
}

/// `acos(x)`
#[inline(always)]
pub fn acos_f64(isa: Isa, x: f64) -> f64 {
    let (s, rest, far) = arc_f64(isa, x, 0.0);
    let times: f64 = if far { 2.0 } else { -1.0 };
    let times = f64::from_bits(times.to_bits() ^ (x.to_bits() & SIGN_64));
    let from = if far { 0.0 } else { FRAC_PI_2_64 };
    let from = if x < -0.5 { PI_64 } else { from };
    isa.fma_f64(times, rest, isa.fma_f64(times, s, from))
}

/// `from + atan(q)`, where `from` is 0, pi / 2 or pi.
#[inline(always)]
fn atan_from_f32(isa: Isa, from: f32, q: f32) -> f32 {
    let z = q * q;
    let rest = isa.fma_f32(q * z, poly_f32(isa, z, ATAN_32), from * PI_LACKS_32);
    from + (q + rest)
}

/// `from + atan(q)`, where `from` is 0, pi / 2 or pi.
#[inline(always)]
fn atan_from_f64(isa: Isa, from: f64, q: f64) -> f64 {
    let z = q * q;
    // The coefficients of even and odd powers differ in sign. The sums of the low ones are large, and would cancel if they were summed
    // separately.
    let mut p = poly_split_f64(isa, z, ATAN_HIGH_64);
    for c in ATAN_LOW_64.into_iter().rev() {
        p = isa.fma_f64(p, z, c);
    }
    let rest = isa.fma_f64(q * z, p, from * PI_LACKS_64);
    from + (q + rest)
}

/// `atan(x)`
#[inline(always)]
pub fn atan_f32(isa: Isa, x: f32) -> f32 {
    let t = x.abs();
    let far = t > 1.0;
    // The smaller of t and 1 divided by the larger; a NaN is kept. As two branches of one condition, compilers would divide in each.
    let q = (if far { 1.0 } else { t }) / (if t < 1.0 { 1.0 } else { t });
    let q = f32::from_bits(q.to_bits() ^ if far { SIGN_32 } else { 0 });
    atan_from_f32(isa, if far { FRAC_PI_2_32 } else { 0.0 }, q).copysign(x)
}

/// `atan(x)`
#[inline(always)]
pub fn atan_f64(isa: Isa, x: f64) -> f64 {
    let t = x.abs();
    let far = t > 1.0;
    // The smaller of t and 1 divided by the larger; a NaN is kept. As two branches of one condition, compilers would divide in each.
    let q = (if far { 1.0 } else { t }) / (if t < 1.0 { 1.0 } else { t });
    let q = f64::from_bits(q.to_bits() ^ if far { SIGN_64 } else { 0 });
    atan_from_f64(isa, if far { FRAC_PI_2_64 } else { 0.0 }, q).copysign(x)
}

/// The angle of the point `(x, y)`, from -pi to pi
#[inline(always)]
pub fn atan2_f32(isa: Isa, y: f32, x: f32) -> f32 {
    let (b, a) = (y.abs(), x.abs());
    let steep = b > a;
    let top = if steep { a } else { b };
    let bottom = if steep { b } else { a };
    // 0 / 0 is replaced by 0, and infinity / infinity by 1.
    let bottom = if bottom < LEAST_32 { LEAST_32 } else { bottom };
    let q = if top == f32::INFINITY && bottom == f32::INFINITY { 1.0 } else { top / bottom };
    let left = x.to_bits() & SIGN_32;
    let flip = if steep { SIGN_32 } else { 0 };
    let from = if left != 0 { PI_32 } else { 0.0 };
    let from = if steep { FRAC_PI_2_32 } else { from };
    atan_from_f32(isa, from, f32::from_bits(q.to_bits() ^ left ^ flip)).copysign(y)
}

/// The angle of the point `(x, y)`, from -pi to pi
#[inline(always)]
pub fn atan2_f64(isa: Isa, y: f64, x: f64) -> f64 {
    let (b, a) = (y.abs(), x.abs());
    let steep = b > a;
    let top = if steep { a } else { b };
    let bottom = if steep { b } else { a };
    // 0 / 0 is replaced by 0, and infinity / infinity by 1.
    let bottom = if bottom < LEAST_64 { LEAST_64 } else { bottom };
    let q = if top == f64::INFINITY && bottom == f64::INFINITY { 1.0 } else { top / bottom };
    let left = x.to_bits() & SIGN_64;
    let flip = if steep { SIGN_64 } else { 0 };
    let from = if left != 0 { PI_64 } else { 0.0 };
    let from = if steep { FRAC_PI_2_64 } else { from };
    atan_from_f64(isa, from, f64::from_bits(q.to_bits() ^ left ^ flip)).copysign(y)
}

#[cfg(test)]
mod tests {
    use super::super::super::simd::simd;
    use super::super::check::{alone, check_f32, check_f64, check_special, check_std, ulps};
    use super::super::runs::*;
    use super::*;

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(1.2, asin_f32, f64::asin);
        check_f32(1.6, acos_f32, f64::acos);
        check_f32(1.2, atan_f32, f64::atan);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(ASIN, 1.1, alone!(asin_run_f64));
        check_f64(ACOS, 1.5, alone!(acos_run_f64));
        check_f64(ATAN, 1.4, atan_f64);
    }

    #[test]
    fn f64_agrees_with_the_standard_library() {
        check_std(alone!(asin_run_f64), f64::asin);
        check_std(alone!(acos_run_f64), f64::acos);
        check_std(atan_f64, f64::atan);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        let (nan, right) = (f64::NAN, FRAC_PI_2_64);
        check_special(alone!(asin_run_f64), [0.0, -0.0, nan, nan, nan, nan, nan]);
        check_special(alone!(acos_run_f64), [right, right, nan, nan, nan, nan, nan]);
        check_special(atan_f64, [0.0, -0.0, right, -right, nan, right, -right]);
        let ends = simd(
            #[inline(always)]
            move |isa| {
                [
                    alone!(asin_run_f64)(isa, 1.0),
                    alone!(asin_run_f64)(isa, -1.0),
                    alone!(acos_run_f64)(isa, 1.0),
                    alone!(acos_run_f64)(isa, -1.0),
                ]
            },
        );
        assert_eq!(ends.map(f64::to_bits), [right, -right, 0.0, PI_64].map(f64::to_bits));
    }

    #[test]
    fn angles_of_special_points_are_those_of_c99() {
        let (inf, pi) = (f64::INFINITY, PI_64);
        let points = [
            (0.0, 0.0, 0.0),
            (0.0, -0.0, pi),
            (0.0, -1.0, pi),
            (0.0, 1.0, 0.0),
            (0.0, -inf, pi),
            (1.0, 0.0, pi / 2.0),
            (1.0, -0.0, pi / 2.0),
            (inf, 1.0, pi / 2.0),
            (inf, -1.0, pi / 2.0),
            (1.0, inf, 0.0),
            (1.0, -inf, pi),
            (inf, inf, pi / 4.0),
            (inf, -inf, 3.0 * pi / 4.0),
            (f64::MAX, f64::MAX, pi / 4.0),
            (5e-324, 5e-324, pi / 4.0),
            (5e-324, f64::MAX, 0.0),
            (5e-324, -1.0, pi),
            (f64::NAN, 1.0, f64::NAN),
            (f64::NAN, 0.0, f64::NAN),
            (f64::NAN, inf, f64::NAN),
        ];
        for (y, x, angle) in points {
            for (y, angle) in [(y, angle), (-y, -angle)] {
                let (wide, narrow) = simd(
                    #[inline(always)]
                    move |isa| (atan2_f64(isa, y, x), atan2_f32(isa, y as f32, x as f32)),
                );
                assert!(wide.to_bits() == angle.to_bits() || (wide.is_nan() && angle.is_nan()), "({x}, {y}): {wide}, not {angle}");
                // The largest and smallest f64 are infinity and 0 in f32.
                if y.abs() != f64::MAX && y.abs() != 5e-324 && x != f64::MAX {
                    let angle = angle as f32;
                    assert!(
                        narrow.to_bits().abs_diff(angle.to_bits()) <= 1 || (narrow.is_nan() && angle.is_nan()),
                        "({x}, {y}): {narrow}, not {angle}"
                    );
                }
            }
        }
        assert!(simd(move |isa| atan2_f64(isa, 1.0, f64::NAN)).is_nan());
        assert!(
            simd(move |isa| atan2_f64(isa, f64::INFINITY, f64::NAN)).is_nan()
                && simd(move |isa| atan2_f32(isa, f32::NAN, f32::INFINITY)).is_nan()
        );
    }

    #[test]
    fn angles_have_small_errors() {
        let mut bits = 1_u64;
        for _ in 0..200_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Points in all directions, some of them close to an axis.
            let (y, x) = ((bits >> 40) as f32 - 8_388_608.0, (bits as u32 >> 8) as f32 - 8_388_608.0);
            let x = if bits & 7 == 0 { x / 1e6 } else { x };
            let exact = f64::from(y).atan2(f64::from(x));
            let (wide, narrow) = simd(
                #[inline(always)]
                move |isa| (atan2_f64(isa, y.into(), x.into()), atan2_f32(isa, y, x)),
            );
            assert!(ulps(narrow, exact) <= 1.6, "({x}, {y}): {narrow:e}, not {exact:e}");
            assert!(wide.to_bits().abs_diff(exact.to_bits()) <= 2, "({x}, {y}): {wide:e}, not {exact:e}");
        }
    }

    const ASIN: &[(u64, u64, f64)] = &[
        (0x3fe0_3ffe_3307_1f82, 0x3fe1_0b68_8729_c42d, 0.08),
        (0x3fe2_676b_87a5_ddde, 0x3fe3_9bb3_3380_7883, 0.07),
        (0xbfe1_947c_31ea_633c, 0xbfe2_9c9a_df09_3e8b, 0.07),
        (0x3fe2_778c_553f_15ce, 0x3fe3_af6e_8351_badf, 0.07),
        (0x3fe0_0000_0000_0000, 0x3fe0_c152_382d_7366, -0.48),
        (0xbfe0_0000_0000_0000, 0xbfe0_c152_382d_7366, -0.48),
        (0x3fe0_0000_0000_0001, 0x3fe0_c152_382d_7367, -0.33),
        (0x3fef_ffff_ffff_ffff, 0x3ff9_21fb_5044_2d18, 0.28),
        (0xbfef_ffff_ffff_ffff, 0xbff9_21fb_5044_2d18, 0.28),
        (0x3e45_798e_e230_8c3a, 0x3e45_798e_e230_8c3a, 0.10),
        (0x01a5_6e1f_c2f8_f359, 0x01a5_6e1f_c2f8_f359, 0.00),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.00),
        (0x3fef_ff2e_48e8_a71e, 0x3ff8_e80e_1a01_556a, -0.31),
    ];
    const ACOS: &[(u64, u64, f64)] = &[
        (0xbfe1_c671_622b_2246, 0x4001_4720_1a55_7501, 0.41),
        (0xbfeb_8251_d469_625c, 0x4004_d7da_1d44_3c92, 0.40),
        (0xbfe0_1ed4_c951_8f9c, 0x4000_ca3b_8b1c_44cd, 0.40),
        (0xbfe1_9a95_953b_15f4, 0x4001_39f7_adc7_0765, 0.40),
        (0x3fe0_0000_0000_0000, 0x3ff0_c152_382d_7366, -0.48),
        (0xbfe0_0000_0000_0000, 0x4000_c152_382d_7366, -0.48),
        (0x3fe0_0000_0000_0001, 0x3ff0_c152_382d_7365, -0.06),
        (0x3fef_ffff_ffff_ffff, 0x3e50_0000_0000_0000, 0.04),
        (0xbfef_ffff_ffff_ffff, 0x4009_21fb_5244_2d18, 0.28),
        (0x3e45_798e_e230_8c3a, 0x3ff9_21fb_5194_fb3c, 0.00),
        (0x01a5_6e1f_c2f8_f359, 0x3ff9_21fb_5444_2d18, 0.28),
        (0x0000_0000_0000_0001, 0x3ff9_21fb_5444_2d18, 0.28),
        (0x3fef_ff2e_48e8_a71e, 0x3f8c_f69d_216b_d74b, 0.45),
    ];
    const ATAN: &[(u64, u64, f64)] = &[
        (0xbff0_39ac_1543_1e04, 0xbfe9_5b3f_f5be_b0e3, -0.30),
        (0xbff1_5daa_4a96_fe2c, 0xbfea_7125_518a_3219, 0.27),
        (0xbff0_db7c_82ba_bf08, 0xbfe9_f7b1_430b_1605, -0.25),
        (0xbff2_0dad_a606_8f8c, 0xbfeb_0f5d_3617_6327, -0.23),
        (0x3ff0_c607_0747_5daa, 0x3fe9_e34c_a0e6_694f, -0.32),
        (0xbff0_114d_5989_e50a, 0xbfe9_333f_5643_3cc3, 0.31),
        (0x3ff0_7daa_9a37_0c78, 0x3fe9_9dbd_79c0_d9f5, 0.30),
        (0x3ff0_0811_e0c0_9974, 0x3fe9_2a0b_2c61_ffb1, 0.30),
        (0xbff0_6e90_2dc3_f120, 0xbfe9_8f10_effd_e2d1, 0.38),
        (0xbff1_4adc_7811_dd67, 0xbfea_5fd6_d435_8ab3, 0.34),
        (0x3ff0_0000_0000_0000, 0x3fe9_21fb_5444_2d18, 0.28),
        (0xbff0_0000_0000_0000, 0xbfe9_21fb_5444_2d18, 0.28),
        (0x3ff0_0000_0000_0001, 0x3fe9_21fb_5444_2d19, 0.28),
        (0x3fef_ffff_ffff_ffff, 0x3fe9_21fb_5444_2d18, -0.22),
        (0x4341_c379_37e0_8000, 0x3ff9_21fb_5444_2d18, -0.17),
        (0xfe37_e43c_8800_759c, 0xbff9_21fb_5444_2d18, 0.28),
        (0x3e45_798e_e230_8c3a, 0x3e45_798e_e230_8c3a, -0.20),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.00),
        (0x3fef_a665_6364_b76e, 0x3fe8_f4ef_11ae_a887, -0.33),
        (0x3fef_dac1_134d_a460, 0x3fe9_0f51_0336_c9b6, -0.35),
        (0xbfef_df70_2e8a_acd0, 0xbfe9_11ab_202f_f0cd, 0.49),
        (0x4004_0000_0000_0000, 0x3ff3_0b6d_796a_4da8, 0.35),
    ];
}
