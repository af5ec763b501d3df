//! The inverse of the error function.
//!
//! Largest errors in units in the last place, of f32 and f64: 1.9 and 2.2, with fma or without.

use super::log::{log_parts_f32, log_parts_f64, log_sum_f32, log_sum_f64};
use super::{poly_f32, poly_split_f64};
use crate::cpu::simd::Isa;

const CENTRE_32: f32 = 3.125_047_2;
const CENTRE_64: f64 = 3.125_001_445_412_636;
const TAIL_CENTRE_64: f64 = 4.250_002_652_406_692_5;
/// `erfinv(x) / x` as a polynomial of w = -log(1 - x^2) about CENTRE, for w up to 6.25.
const CENTRAL_32: [f32; 11] = [
    1.653_665_9,
    2.401_576e-1,
    -6.033_788e-3,
    -7.406_634_4e-4,
    1.867_561_2e-4,
    -1.388_741e-5,
    -1.379_833_6e-6,
    4.256_531e-7,
    -2.565_483_5e-8,
    -4.607_316_8e-9,
    6.983_681e-10,
];
const CENTRAL_64: [f64; 25] = [
    1.653_654_909_810_761_6,
    2.401_581_649_832_955_4e-1,
    -6.033_674_083_286_877_5e-3,
    -7.407_014_545_236_344e-4,
    1.867_341_076_896_257_8e-4,
    -1.388_253_523_426_233_9e-5,
    -1.365_464_890_541_609_8e-6,
    4.234_784_786_398_019e-7,
    -2.907_044_547_952_743_2e-8,
    -4.112_643_873_238_251e-9,
    1.051_222_963_454_239_6e-9,
    -5.414_382_147_865_815e-11,
    -1.297_893_155_189_995_3e-11,
    2.630_674_095_459_380_7e-12,
    -8.067_554_592_695_456e-14,
    -4.004_566_728_134_28e-14,
    6.513_880_466_385_611e-15,
    -3.649_333_437_198_607_7e-17,
    -1.213_412_055_325_552_8e-16,
    1.530_435_659_119_035_8e-17,
    5.514_335_791_383_579e-19,
    -3.390_030_767_076_760_4e-19,
    2.219_532_355_298_550_7e-20,
    3.047_353_762_421_821e-21,
    -3.969_967_033_485_914_4e-22,
];
/// `erfinv(x) / x` as a polynomial of sqrt(w) about TAIL_CENTRE, for larger w.
const TAIL_64: [f64; 28] = [
    4.092_226_102_541_276,
    1.009_978_280_942_246_2,
    7.127_451_355_152_868e-4,
    -6.078_917_762_729_073e-4,
    2.121_758_590_691_618_3e-4,
    -6.441_940_182_971_805e-5,
    2.197_993_790_987_617_6e-5,
    -1.019_753_720_270_852_6e-5,
    5.807_195_108_117_616e-6,
    -3.211_101_567_855_33e-6,
    1.490_152_179_011_810_2e-6,
    -5.152_347_138_888_627e-7,
    9.330_271_401_082_617e-8,
    2.558_359_707_795_828_2e-8,
    -3.015_254_474_090_098e-8,
    1.346_020_001_153_098_6e-8,
    -3.060_078_024_586_869_4e-9,
    -2.029_716_657_513_758_6e-10,
    4.594_044_241_647_584_6e-10,
    -1.812_315_502_608_633e-10,
    3.483_416_360_100_37e-11,
    8.426_445_047_630_465e-13,
    -4.253_988_673_263_23e-12,
    1.983_990_098_008_554_6e-12,
    -2.971_098_027_252_284_4e-13,
    -7.839_235_843_123_363e-14,
    3.362_754_063_300_728_3e-14,
    -3.295_308_087_023_339_7e-15,
];

/// Returns true if x needs [`erfinv_slow_f32`] instead of [`erfinv_f32`].
#[inline(always)]
pub fn erfinv_rare_f32(_: Isa, x: f32) -> bool {
    x.abs() > 0.999 || x.is_nan()
}

/// Returns true if x needs [`erfinv_slow_f64`] instead of [`erfinv_f64`].
#[inline(always)]
pub fn erfinv_rare_f64(_: Isa, x: f64) -> bool {
    x.abs() > 0.999 || x.is_nan()
}

/// `erfinv(x)`, the inverse of erf, for |x| <= 0.999.
#[inline(always)]
pub fn erfinv_f32(isa: Isa, x: f32) -> f32 {
    let (e, f) = log_parts_f32((1.0 - x) * (1.0 + x));
    let w = -log_sum_f32(isa, e, f);
    x * poly_f32(isa, w - CENTRE_32, CENTRAL_32)
}

/// `erfinv(x)`, the inverse of erf, for |x| <= 0.999.
#[inline(always)]
pub fn erfinv_f64(isa: Isa, x: f64) -> f64 {
    let (e, f) = log_parts_f64((1.0 - x) * (1.0 + x));
    let w = -log_sum_f64(isa, e, f);
    x * poly_split_f64(isa, w - CENTRE_64, CENTRAL_64)
}

/// `erfinv(x)` for |x| > 0.999, infinite at -1 and 1, NaN beyond.
#[inline(always)]
pub fn erfinv_slow_f32(_: Isa, x: f32) -> f32 {
    tail(x.into()) as f32
}

/// `erfinv(x)` for |x| > 0.999, infinite at -1 and 1, NaN beyond.
#[inline(always)]
pub fn erfinv_slow_f64(_: Isa, x: f64) -> f64 {
    tail(x)
}

/// [`erfinv_slow_f64`]
fn tail(x: f64) -> f64 {
    if x.abs() == 1.0 {
        return x * f64::INFINITY;
    }
    let w = -((1.0 - x) * (1.0 + x)).ln();
    x * TAIL_64.iter().rev().fold(0.0, |p, c| p * (w.sqrt() - TAIL_CENTRE_64) + c)
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_f64, check_special};
    use super::*;
    use crate::cpu::simd::simd;
    use std::f64::consts::FRAC_2_SQRT_PI;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    unsafe extern "C" {
        safe fn erf(x: f64) -> f64;
    }

    #[inline(always)]
    fn any_f32(isa: Isa, x: f32) -> f32 {
        if erfinv_rare_f32(isa, x) { erfinv_slow_f32(isa, x) } else { erfinv_f32(isa, x) }
    }

    #[inline(always)]
    fn any_f64(isa: Isa, x: f64) -> f64 {
        if erfinv_rare_f64(isa, x) { erfinv_slow_f64(isa, x) } else { erfinv_f64(isa, x) }
    }

    #[test]
    fn f32_inverse_undoes_erf() {
        for k in (-2_500_000..2_500_000_i32).step_by(97) {
            let y = 1e-6 * f64::from(k);
            let x = erf(y) as f32;
            if x.abs() < 1.0 {
                // Rounding erf(y) to x changes y by (x - erf(y)) / erf'(y).
                let exact = y + (f64::from(x) - erf(y)) * (y * y).exp() / FRAC_2_SQRT_PI;
                let got = simd(move |isa| any_f32(isa, x));
                assert!((f64::from(got) - exact).abs() <= 2.5e-7 * exact.abs() + 1e-12 * (y * y).exp(), "{x:e}: {got:e}, not {exact:e}");
            }
        }
        for (x, y) in [(0.0_f32, 0.0_f32), (-0.0, -0.0), (1.0, f32::INFINITY), (-1.0, f32::NEG_INFINITY)] {
            assert_eq!(simd(move |isa| any_f32(isa, x)).to_bits(), y.to_bits());
        }
        assert!([1.5, -2.0, f32::INFINITY, f32::NAN].iter().all(|&x| simd(move |isa| any_f32(isa, x)).is_nan()));
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(POINTS, 2.6, any_f64);
    }

    #[test]
    fn f64_special_values() {
        check_special(any_f64, [0.0, -0.0, NAN, NAN, NAN, NAN, NAN]);
        assert_eq!([1.0, -1.0].map(|x| simd(move |isa| any_f64(isa, x))), [INF, -INF]);
    }

    const POINTS: &[(u64, u64, f64)] = &[
        (0xbfe8_f701_8813_f4b2, 0xbfeb_c327_3327_8c57, -0.13),
        (0xbfb1_0e86_f8a0_3590, 0xbfae_447c_1e7a_425c, 0.14),
        (0x3ead_2a62_e4e9_7548, 0x3ea9_d8e9_9ed2_aaf4, 0.15),
        (0x3fe9_9446_5bf0_592c, 0x3fec_f4d3_0e3e_28d3, 0.15),
        (0x3ee1_a14b_9cc8_ae60, 0x3edf_3f9b_950e_7bfd, 0.16),
        (0xbfe9_8063_e176_b6d8, 0xbfec_cd09_05dc_59be, 0.17),
        (0xbfd0_88d9_affb_1e3c, 0xbfcd_d6ac_0894_c7cf, -0.17),
        (0xbfe7_7a3f_add5_a6e8, 0xbfe9_26d8_fe4f_1f41, -0.21),
        (0x3fea_40a4_451a_2e24, 0x3fee_5d75_818c_ddf0, -0.23),
        (0xbfe8_ea17_9cc3_cdfe, 0xbfeb_aaec_1878_f845, -0.24),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, -0.11),
        (0x3fef_f8a0_902d_e00d, 0x4002_c7f3_b1e2_e8f7, -0.06),
        (0x3fef_fffd_e721_0be9, 0x400b_abd9_6483_0d58, -0.06),
        (0x3fef_ffff_ffff_ffff, 0x4017_744f_8f74_e94a, 0.42),
        (0xbfef_ffff_ffff_ffff, 0xc017_744f_8f74_e94a, 0.42),
        (0x3fef_f7ce_d916_872b, 0x4002_9d31_1405_cdb4, -0.33),
    ];
}
