//! The error function and its complement.
//!
//! Largest errors in units in the last place, of f32 and f64, with fma (and without): erf 1.73 and 1.63 (1.97 and 1.99), erfc 1.9 and 1.9
//! (1.7 and 2.0). These are relative errors, also where erfc is tiny.

use super::exp::{exp_parts_f32, exp_parts_f64, exp_terms_f32, exp_terms_f64};
use super::{poly_f32, poly_f64, poly_split_f64};
use crate::cpu::simd::Isa;
use std::f32::consts::{FRAC_2_SQRT_PI as FRAC_2_SQRT_PI_32, LN_2 as LN_2_32, LOG2_E as LOG2_E_32};
use std::f64::consts::{FRAC_2_SQRT_PI as FRAC_2_SQRT_PI_64, LN_2 as LN_2_64, LOG2_E as LOG2_E_64};

/// `-log(erfc(a)) = 2 / sqrt(pi) a + a^2 P(a)` on 0 <= a <= 3.93 for f32 (5.95 for f64), fitted with the weight that erf gives the error.
const ERF_32: [f32; 7] = [6.366_175_4e-1, 1.028_073_1e-1, -1.930_176_1e-2, 1.783_121_6e-4, 1.271_057_6e-3, -3.876_708_2e-4, 4.159_786_5e-5];
const ERF_64: [f64; 22] = [
    6.366_197_723_676_013e-1,
    1.027_726_033_004_333e-1,
    -1.912_844_696_926_411_4e-2,
    -2.091_951_720_927_683e-4,
    1.696_210_183_561_638e-3,
    -5.901_454_096_832_358e-4,
    2.595_114_437_648_012e-5,
    6.429_870_498_335_326e-5,
    -2.933_763_447_111_339_4e-5,
    2.813_489_382_479_985_7e-6,
    3.547_470_840_791_836e-6,
    -2.416_555_222_820_585e-6,
    8.456_551_607_130_601e-7,
    -1.702_087_653_675_340_6e-7,
    6.892_838_454_335_706e-9,
    8.223_248_220_073_098e-9,
    -3.254_691_289_231_733e-9,
    6.987_878_294_409_637e-10,
    -9.773_151_839_957_931e-11,
    8.917_653_252_464_91e-12,
    -4.860_356_106_101_66e-13,
    1.206_173_071_356_279_9e-14,
];

/// `(exp(r) - 1 - r) / r^2` on |r| <= ln 2 / 2, fitted with the weight that erf gives the error.
const EXPM1_32: [f32; 5] = [4.999_998_2e-1, 1.666_651_5e-1, 4.167_073_6e-2, 8.369_067e-3, 1.369_671e-3];
const EXPM1_64: [f64; 10] = [
    5.0e-1,
    1.666_666_666_666_584_7e-1,
    4.166_666_666_659_915_6e-2,
    8.333_333_333_835_093e-3,
    1.388_888_892_885_545_2e-3,
    1.984_126_880_322_097e-4,
    2.480_150_600_461_307e-5,
    2.755_819_107_241_228_5e-6,
    2.762_627_048_280_572_7e-7,
    2.481_475_142_356_790_2e-8,
];

/// The rounding error of 2 / sqrt(pi) in f32. The error in f64 is negligible.
const FRAC_2_SQRT_PI_LOW_32: f32 = -5.863_538_3e-8;

// Adding 1.5 * 2^23 (2^52 for f64) rounds to an integer and leaves it in the low bits, here with the bias of the exponent.
const SHIFT_32: f32 = 12_582_912.0 + 127.0;
pub(super) const SHIFT_64: f64 = 6_755_399_441_055_744.0 + 1023.0;

/// `erf(x)`
#[inline(always)]
pub fn erf_f32(isa: Isa, x: f32) -> f32 {
    // erf = 1 - exp(-t) with t = -log(erfc(a)), which is smooth, and proportional to a for small a. So one expression serves all arguments.
    let a = x.abs();
    let a = if a > 3.93 { 3.93 } else { a };
    let h = a * FRAC_2_SQRT_PI_32;
    let lost = isa.fma_f32(a, FRAC_2_SQRT_PI_LOW_32, product_rest_f32(isa, a, FRAC_2_SQRT_PI_32, h));
    let l = isa.fma_f32(a * a, poly_f32(isa, a, ERF_32), lost);
    let m = isa.fma_f32(h + l, -LOG2_E_32, SHIFT_32);
    // r = -h - l - n ln 2 in two parts. The rounding of l relative to h matters only if n is zero.
    let rh = isa.fma_f32(m - SHIFT_32, -LN_2_32, -h);
    let r = rh - l;
    let p = rh + isa.fma_f32(r * r, poly_f32(isa, r, EXPM1_32), -l);
    let s = f32::from_bits(m.to_bits() << 23);
    isa.fma_f32(-p, s, 1.0 - s).copysign(x)
}

/// `erf(x)`
#[inline(always)]
pub fn erf_f64(isa: Isa, x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 5.95 { 5.95 } else { a };
    let h = a * FRAC_2_SQRT_PI_64;
    let lost = product_rest_f64(isa, a, FRAC_2_SQRT_PI_64, h);
    let l = isa.fma_f64(a * a, poly_split_f64(isa, a, ERF_64), lost);
    let m = isa.fma_f64(h + l, -LOG2_E_64, SHIFT_64);
    let rh = isa.fma_f64(m - SHIFT_64, -LN_2_64, -h);
    let r = rh - l;
    let p = rh + isa.fma_f64(r * r, poly_split_f64(isa, r, EXPM1_64), -l);
    let s = f64::from_bits(m.to_bits() << 52);
    isa.fma_f64(-p, s, 1.0 - s).copysign(x)
}

/// Returns `a * b - h` without rounding, where h is `a * b` rounded.
#[inline(always)]
pub(super) fn product_rest_f32(isa: Isa, a: f32, b: f32, h: f32) -> f32 {
    if isa.has_fma() {
        return isa.fma_f32(a, b, -h);
    }
    let (ah, bh) = (f32::from_bits(a.to_bits() & 0xffff_f000), f32::from_bits(b.to_bits() & 0xffff_f000));
    let (al, bl) = (a - ah, b - bh);
    ((ah * bh - h) + ah * bl + al * bh) + al * bl
}

#[inline(always)]
pub(super) fn product_rest_f64(isa: Isa, a: f64, b: f64, h: f64) -> f64 {
    if isa.has_fma() {
        return isa.fma_f64(a, b, -h);
    }
    const HIGH: u64 = 0xffff_ffff_f800_0000;
    let (ah, bh) = (f64::from_bits(a.to_bits() & HIGH), f64::from_bits(b.to_bits() & HIGH));
    let (al, bl) = (a - ah, b - bh);
    ((ah * bh - h) + ah * bl + al * bh) + al * bl
}

// Polynomials are expanded about points where their value is close to a floating-point number, because the rounding of this value affects
// every result.
/// `exp(a^2) erfc(a) (a + 2)` for 0 <= a <= 10.2 as a polynomial of 1 / (a + 2) about a centre: its value there, the next coefficient, and
/// the rest.
const ERFC_CENTRE_32: f32 = 1.966_095e-1;
const ERFC_AT_CENTRE_32: f32 = 8.871_811e-1;
const ERFC_FIRST_32: f32 = 2.294_163_2;
const ERFC_REST_32: [f32; 9] =
    [4.015_294, 3.285_595_7, -3.292_270_4, -9.522_704, 4.613_932, 27.646_076, -23.132_977, -53.076_824, 75.081_73];
/// `exp(a^2) erfc(a) (a + 3.5)` for 0 <= a <= 27.4 as a polynomial of 1 / (a + 3.5) about a centre: its value there, the next coefficient,
/// and the rest.
const ERFC_CENTRE_64: f64 = 1.611_000_000_120_605_7e-1;
const ERFC_AT_CENTRE_64: f64 = 1.219_101_403_542_851_6;
const ERFC_FIRST_64: f64 = 7.968_649_375_313_967;
const ERFC_REST_64: [f64; 21] = [
    43.363_907_178_750_91,
    194.395_006_089_885_16,
    699.591_371_276_515,
    1_908.416_250_603_555_7,
    3_369.050_500_542_373,
    1_169.857_630_911_525_1,
    -1.227_696_002_474_656_8e4,
    -2.801_435_792_962_753_5e4,
    2.201_280_200_314_164e4,
    1.817_748_510_698_495_4e5,
    3.568_513_091_131_209_5e4,
    -1.104_294_888_211_979_8e6,
    -6.863_154_671_704_051e5,
    7.348_849_142_079_477e6,
    4.773_488_536_901_255e6,
    -5.374_630_629_206_575e7,
    -1.990_954_707_868_442_7e7,
    3.815_155_531_624_716_5e8,
    3.473_289_001_194_028_6e7,
    -1.828_803_625_105_331_4e9,
    -2.222_255_903_851_910_8e8,
];

/// Returns `c + u q` and its rounding error.
#[inline(always)]
fn step_f32(isa: Isa, u: f32, q: f32, c: f32) -> (f32, f32) {
    let t = u * q;
    let g = c + t;
    let part = g - c;
    (g, ((c - (g - part)) + (t - part)) + product_rest_f32(isa, u, q, t))
}

#[inline(always)]
fn step_f64(isa: Isa, u: f64, q: f64, c: f64) -> (f64, f64) {
    let t = u * q;
    let g = c + t;
    let part = g - c;
    (g, ((c - (g - part)) + (t - part)) + product_rest_f64(isa, u, q, t))
}

/// `exp(a^2) erfc(a)` of `a + low`, for 0 <= a <= 10.2: returns a value, its rounding error, and the remaining relative error.
#[inline(always)]
pub(super) fn erfcx_f32(isa: Isa, a: f32, low: f32) -> (f32, f32, f32) {
    let d = a + 2.0;
    let w = 1.0 / d;
    let low = low + if a > 2.0 { 2.0 - (d - a) } else { a - (d - 2.0) };
    let wd = w * d;
    let missing = (1.0 - wd) - isa.fma_f32(w, low, product_rest_f32(isa, w, d, wd));
    let u = isa.fma_f32(w, missing, w - ERFC_CENTRE_32);
    let rest = poly_f32(isa, u, ERFC_REST_32);
    let (g, lost) = if isa.has_fma() {
        let p = isa.fma_f32(u, rest, ERFC_FIRST_32);
        let p_lost = isa.fma_f32(u, rest, ERFC_FIRST_32 - p);
        let g = isa.fma_f32(u, p, ERFC_AT_CENTRE_32);
        (g, isa.fma_f32(u, p_lost, isa.fma_f32(u, p, ERFC_AT_CENTRE_32 - g)))
    } else {
        // The roundings of this polynomial leave no margin for the rounding of the second sum.
        let (p, p_lost) = step_f32(isa, u, rest, ERFC_FIRST_32);
        let (g, lost) = step_f32(isa, u, p, ERFC_AT_CENTRE_32);
        (g, u * p_lost + lost)
    };
    let y = w * g;
    (y, isa.fma_f32(w, lost, product_rest_f32(isa, w, g, y)), missing)
}

/// `exp(a^2) erfc(a)` of `a + low`, for 0 <= a <= 27.4: returns a value, its rounding error, and the remaining relative error.
#[inline(always)]
pub(super) fn erfcx_f64(isa: Isa, a: f64, low: f64) -> (f64, f64, f64) {
    let d = a + 3.5;
    let w = 1.0 / d;
    let low = low + if a > 3.5 { 3.5 - (d - a) } else { a - (d - 3.5) };
    let wd = w * d;
    let missing = (1.0 - wd) - isa.fma_f64(w, low, product_rest_f64(isa, w, d, wd));
    let u = isa.fma_f64(w, missing, w - ERFC_CENTRE_64);
    let rest = poly_f64(isa, u, ERFC_REST_64);
    let (g, lost) = if isa.has_fma() {
        let p = isa.fma_f64(u, rest, ERFC_FIRST_64);
        let p_lost = isa.fma_f64(u, rest, ERFC_FIRST_64 - p);
        let (g, lost) = step_f64(isa, u, p, ERFC_AT_CENTRE_64);
        (g, isa.fma_f64(u, p_lost, lost))
    } else {
        // The roundings of this polynomial leave no margin for the rounding of the second sum.
        let (p, p_lost) = step_f64(isa, u, rest, ERFC_FIRST_64);
        let (g, lost) = step_f64(isa, u, p, ERFC_AT_CENTRE_64);
        (g, u * p_lost + lost)
    };
    let y = w * g;
    (y, isa.fma_f64(w, lost, product_rest_f64(isa, w, g, y)), missing)
}

/// `erfc(x)`
#[inline(always)]
pub fn erfc_f32(isa: Isa, x: f32) -> f32 {
    let a = x.abs();
    let a = if a > 10.2 { 10.2 } else { a };
    let h = a * a;
    let (y, lost, missing) = erfcx_f32(isa, a, 0.0);
    let missing = missing - product_rest_f32(isa, a, a, h);
    let r = if isa.has_fma() {
        let (p, b, c) = exp_parts_f32(isa, -h);
        (y + isa.fma_f32(y, p, isa.fma_f32(y, isa.fma_f32(p, missing, missing), lost))) * b * c
    } else {
        // Enough has been rounded, so the sum of e and its tail must not be.
        let (e, e_lost, tail, b, c) = exp_terms_f32(isa, -h);
        let missing = missing + e_lost;
        (y + (y * e + (y * ((e + tail) * missing + (missing + tail)) + lost))) * b * c
    };
    // Rounding must not exceed erfc(0).
    let r = if r > 1.0 { 1.0 } else { r };
    if x < 0.0 { 2.0 - r } else { r }
}

/// `erfc(x)`
#[inline(always)]
pub fn erfc_f64(isa: Isa, x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 27.4 { 27.4 } else { a };
    let h = a * a;
    let (y, lost, missing) = erfcx_f64(isa, a, 0.0);
    let missing = missing - product_rest_f64(isa, a, a, h);
    let r = if isa.has_fma() {
        let (p, b, c) = exp_parts_f64(isa, -h);
        (y + isa.fma_f64(y, p, isa.fma_f64(y, isa.fma_f64(p, missing, missing), lost))) * b * c
    } else {
        // Enough has been rounded, so the sum of e and its tail must not be.
        let (e, e_lost, tail, b, c) = exp_terms_f64(isa, -h);
        let missing = missing + e_lost;
        (y + (y * e + (y * ((e + tail) * missing + (missing + tail)) + lost))) * b * c
    };
    // Rounding must not exceed erfc(0).
    let r = if r > 1.0 { 1.0 } else { r };
    if x < 0.0 { 2.0 - r } else { r }
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_f32, check_f64, check_special};
    use super::*;

    const NAN: f64 = f64::NAN;

    unsafe extern "C" {
        safe fn erf(x: f64) -> f64;
        safe fn erfc(x: f64) -> f64;
    }

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(2.0, erf_f32, |x| erf(x));
        check_f32(2.0, erfc_f32, |x| erfc(x));
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(ERF_POINTS, 2.0, erf_f64);
        check_f64(ERFC_POINTS, 2.0, erfc_f64);
    }

    #[test]
    fn f64_special_values() {
        check_special(erf_f64, [0.0, -0.0, 1.0, -1.0, NAN, 1.0, -1.0]);
        check_special(erfc_f64, [1.0, 1.0, 0.0, 2.0, NAN, 0.0, 2.0]);
    }

    const ERF_POINTS: &[(u64, u64, f64)] = &[
        (0x3fca_2c8b_8509_0d04, 0x3fcd_20ae_c9ca_7a6a, -0.38),
        (0x3fd3_2035_6324_07a0, 0x3fd4_f4a0_fe1b_c700, 0.42),
        (0xbfd3_f9fb_d339_53c0, 0xbfd5_d476_ddd5_622c, 0.42),
        (0x3fd3_dc86_c4b9_9172, 0x3fd5_b64b_49a8_4b52, 0.44),
        (0xbfc9_f82d_5e8a_d700, 0xbfcc_e7fe_52d8_395e, -0.45),
        (0xbfca_3724_491f_5860, 0xbfcd_2c26_44a9_1c28, -0.45),
        (0xbfd3_8e14_f6b9_5bc0, 0xbfd5_65c9_79f5_5456, 0.46),
        (0xbfd3_d5b9_5152_15c0, 0xbfd5_af52_75c6_d63c, 0.47),
        (0x3fcb_6731_41cd_5980, 0x3fce_7481_b355_6228, -0.47),
        (0xbfca_09d9_7a11_54c0, 0xbfcc_fb20_d451_2f17, -0.49),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.13),
        (0x3e45_798e_e230_8c3a, 0x3e48_3b54_7fb7_9514, -0.36),
        (0x3fe0_0000_0000_0000, 0x3fe0_a7ef_5c18_edd2, 0.17),
        (0x3ff0_0000_0000_0000, 0x3fea_f767_a741_088b, -0.22),
        (0x4017_9999_9999_999a, 0x3fef_ffff_ffff_ffff, 0.35),
        (0xc008_0000_0000_0000, 0xbfef_ffd1_ac41_35f9, 0.48),
    ];

    const ERFC_POINTS: &[(u64, u64, f64)] = &[
        (0x3e76_412c_c7ef_6662, 0x3fef_ffff_cdc6_da5f, -0.47),
        (0x3f72_d25d_5b47_9c78, 0x3fef_d586_3120_55db, 0.48),
        (0x3e4e_67b4_b2c8_299c, 0x3fef_ffff_f76c_41d2, 0.50),
        (0x3e9a_c0bd_cb2a_99f4, 0x3fef_ffff_0e80_2ee9, -0.45),
        (0x3eab_b04c_6dbf_f376, 0x3fef_fffe_0c1b_62a8, 0.45),
        (0x3f13_8e67_5bd9_2a62, 0x3fef_ff4f_7706_cdd5, -0.45),
        (0x3f7f_0742_7ce0_5ca2, 0x3fef_b9fa_5348_1f1e, -0.44),
        (0x3d13_8f8a_a6e5_cdbe, 0x3fef_ffff_ffff_ff4f, 0.42),
        (0x3ec4_89ee_6f2e_971c, 0x3fef_fffa_34c3_d32e, -0.42),
        (0x3da8_73f1_3d58_5624, 0x3fef_ffff_fffe_4687, -0.42),
        (0x403a_8000_0000_0000, 0x0043_df67_25a6_0cf5, 0.06),
        (0x403b_3851_eb85_1eb8, 0x0000_0000_0000_0001, -0.31),
        (0xbfd3_3333_3333_3333, 0x3ff5_420e_2207_7a84, -0.15),
        (0x3bc7_9ca1_0c92_4223, 0x3ff0_0000_0000_0000, -0.00),
        (0x3fe0_0000_0000_0000, 0x3fde_b021_47ce_245c, -0.34),
        (0x4016_0000_0000_0000, 0x3d00_9182_b326_b229, -0.14),
    ];
}
