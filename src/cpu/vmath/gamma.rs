//! The logarithm of the gamma function.
//!
//! Small arguments are moved to an interval around 2 (or 1) by an exact difference. There, a polynomial times the distance from the zero
//! keeps every digit. Larger arguments use Stirling's series with fitted coefficients. Negative arguments are reflected, in sums of two
//! numbers. Near a zero between two poles, the argument is counted from the zero.
//!
//! float32 is computed in float64 and is nearly correctly rounded for all arguments, including near zeros (0.51 units in the last place).
//! Largest errors of float64, with and without fma: 1.4 for positive x, 3.0 for negative x.

use super::double::Double;
use super::erf::product_rest_f64;
use super::gamma_parts::{log_pair, log_short, nearest, sine_over_pi, step, sum};
use super::{poly_f64, poly_split_f64};
use crate::cpu::simd::Isa;

/// `lgamma(2 + t) / t` on -0.65 <= t <= 1/2: the value at t = 0 as a sum of two, and the rest as a polynomial of t.
const AT_2: [f64; 2] = [4.227_843_350_984_671_3e-1, 4.942_915_152_430_645e-18];
const LGAMMA: [f64; 20] = [
    3.224_670_334_241_132_6e-1,
    -6.735_230_105_319_807e-2,
    2.058_080_842_777_827e-2,
    -7.385_551_028_676_681e-3,
    2.890_510_331_077_608_7e-3,
    -1.192_753_911_523_578_1e-3,
    5.096_695_159_348_51e-4,
    -2.231_547_646_642_234_5e-4,
    9.945_764_320_051_384e-5,
    -4.492_611_967_482_954e-5,
    2.050_604_971_316_047_5e-5,
    -9.440_765_638_407_325e-6,
    4.381_211_435_907_583e-6,
    -2.030_905_562_644_335e-6,
    9.346_606_550_245_709e-7,
    -4.811_257_826_817_053e-7,
    2.467_035_268_228_126e-7,
    -3.340_620_661_938_904_5e-8,
    2.884_535_076_079_019_7e-8,
    -8.418_274_272_520_737e-8,
];
/// `lgamma(2 + t) / t` with the bits that f32 needs.
const LGAMMA_SHORT: [f64; 12] = [
    4.227_843_350_866_746e-1,
    3.224_670_331_713_125e-1,
    -6.735_229_878_903_004e-2,
    2.058_082_757_739_955_8e-2,
    -7.385_617_723_885_11e-3,
    2.890_094_540_528_904e-3,
    -1.192_117_292_139_953_4e-3,
    5.134_365_078_401_907e-4,
    -2.251_013_076_845_452e-4,
    8.411_684_907_048_535e-5,
    -4.611_301_866_973_993e-5,
    4.475_384_815_860_210_4e-5,
];
/// `y (lgamma(y) - (y - 1/2) log(y) + y - log(2 pi) / 2)` as a polynomial of 1 / y^2, for y >= 3.5.
const STIRLING: [f64; 10] = [
    8.333_333_333_333_32e-2,
    -2.777_777_777_653_309_3e-3,
    7.936_507_586_750_007e-4,
    -5.952_335_686_414_274e-4,
    8.414_248_463_388_923e-4,
    -1.903_090_229_918_538e-3,
    5.992_859_825_256_315e-3,
    -2.132_297_749_698_358e-2,
    6.345_389_704_246_303e-2,
    -1.022_601_164_721_092_1e-1,
];
const STIRLING_SHORT: [f64; 4] = [8.333_333_313_205_536e-2, -2.777_696_561_098_589e-3, 7.884_670_074_581_073e-4, -4.853_885_782_874_862e-4];
/// `log(2 pi) / 2 - 1/2`, as a sum of two.
const STIRLING_CONSTANT: [f64; 2] = [4.189_385_332_046_727e-1, 1.672_820_965_058_541_3e-17];
/// The way in which lgamma of a number, or of its magnitude y if it is below -1/2, is computed from a logarithm.
struct Way {
    /// True for Stirling's series, `k (log(a) - 1) + w S(w^2) + C` with w = 1 / y; false for `lgamma(2 + t) + k log(a)`.
    large: bool,
    t: f64,
    a: f64,
    k: f64,
}

impl Way {
    #[inline(always)]
    fn of(x: f64) -> Way {
        let y = x.abs();
        let large = y >= 3.5;
        // |x| <= 1/2 needs no reflection: lgamma(2 + x) - log(|x| (1 + x)) serves both signs.
        let near = y <= 0.5;
        // y is 1, 2 or 3 plus t, and t is exact; lgamma(y) = lgamma(2 + t) + log(a), or minus log(a) for y below 1.35.
        let (centre, a) = if y > 2.5 { (3.0, y - 1.0) } else { (2.0, 1.0) };
        let (centre, a) = if y < 1.35 { (1.0, y) } else { (centre, a) };
        let t = if near { x } else { y - centre };
        let a = if near { y * (1.0 + x) } else { a };
        let k = if y < 1.35 { -1.0 } else { 1.0 };
        Way { large, t, a: if large { y } else { a }, k: if large { y - 0.5 } else { k } }
    }
}

/// Returns lgamma of x, or of its magnitude if x is below -1/2, as a sum of two numbers.
#[inline(always)]
fn magnitude(isa: Isa, x: f64) -> (f64, f64) {
    let Way { large, t, a, k } = Way::of(x);
    let (log, log_low) = log_pair(isa, a);
    let log = log - if large { 1.0 } else { 0.0 };
    let product = k * log;
    let product_low = isa.fma_f64(k, log_low, product_rest_f64(isa, k, log, product));
    let w = 1.0 / x.abs();
    let (series, series_low) = step(isa, w, poly_f64(isa, w * w, STIRLING), STIRLING_CONSTANT[0]);
    let (p, p_low) = step(isa, t, poly_split_f64(isa, t, LGAMMA), AT_2[0]);
    let small = t * p;
    let small_low = isa.fma_f64(t, p_low + AT_2[1], product_rest_f64(isa, t, p, small));
    let (value, lost) = sum(product, if large { series } else { small });
    let low = lost + (product_low + if large { series_low + STIRLING_CONSTANT[1] } else { small_low });
    (value, if value == f64::INFINITY { 0.0 } else { low })
}

/// `log |Gamma(x)|` for x that are not negative: infinite at 0 and infinity.
#[inline(always)]
pub(super) fn lgamma_positive_f64(isa: Isa, x: f64) -> f64 {
    let (value, low) = magnitude(isa, x);
    if x == 0.0 { f64::INFINITY } else { value + low }
}

/// `log |Gamma(x)|`, except for arguments with [`lgamma_rare_f64`]: infinite at 0, the negative integers and both infinities.
#[inline(always)]
pub fn lgamma_f64(isa: Isa, x: f64) -> f64 {
    let y = x.abs();
    let (_, r) = nearest(y);
    let (value, low) = magnitude(isa, x);
    // |Gamma(-y)| = 1 / (y |sin(pi y) / pi| Gamma(y)). The sine is zero at a pole.
    let (sine, sine_low) = sine_over_pi(isa, r.abs());
    let s = y * sine;
    let (log, log_low) = log_pair(isa, s);
    let log_low = log_low + isa.fma_f64(y, sine_low, product_rest_f64(isa, y, sine, s)) / s;
    let (both, lost) = sum(log, value);
    let reflected = -(both + (lost + (low + log_low)));
    let value = if x < -0.5 { reflected } else { value + low };
    if x <= 0.0 && r == 0.0 { f64::INFINITY } else { value }
}

/// `log |Gamma(x)|`: infinite at 0, the negative integers and both infinities.
#[inline(always)]
pub fn lgamma_f32(isa: Isa, x: f32) -> f32 {
    lgamma_f64(isa, f64::from(x)) as f32
}

/// [`lgamma_f32`] for x that are not negative.
#[inline(always)]
pub(super) fn lgamma_positive_f32(isa: Isa, x: f32) -> f32 {
    let x = f64::from(x);
    let Way { large, t, a, k } = Way::of(x);
    let log = log_short(isa, a) - if large { 1.0 } else { 0.0 };
    let w = 1.0 / x;
    let series = isa.fma_f64(w, poly_f64(isa, w * w, STIRLING_SHORT), STIRLING_CONSTANT[0]);
    let rest = if large { series } else { t * poly_f64(isa, t, LGAMMA_SHORT) };
    let value = isa.fma_f64(k, log, rest);
    let value = if x == f64::INFINITY { x } else { value };
    (if x == 0.0 { f64::INFINITY } else { value }) as f32
}

/// Returns true if x, whose [`lgamma_f64`] is `r`, is too close to a zero between two poles.
#[inline(always)]
pub(super) fn lgamma_rare_f64(x: f64, r: f64) -> bool {
    // Below -18 no number is that close to a zero.
    x < -2.0 && x > -18.0 && r.abs() < 0.1 - 0.015 * x
}

/// `log |Gamma(x)|` for -18 < x < -2. The argument is counted from the zero on the same side of the same pole.
pub(super) fn lgamma_slow_f64(x: f64) -> f64 {
    // Between the first two zeros, this is the nearer zero, which is not always next to the nearer pole.
    let n = if x > -2.6 { 2.0 } else { -x.round() };
    let r = x + n;
    let [below, above] = ZEROS[n as usize - 2];
    let (zero, zero_low) = if r < 0.0 { below } else { above };
    let zero = Double { high: zero, low: zero_low };
    let d = Double::from(r) - zero;
    // Gamma(-n + r) = Gamma(2 + r) / (r (1 + r) (r - 1) ... (r - n)), which is 1 or -1 at the zero. The quotient of the denominators, minus
    // 1, is
    let mut e = d * (zero.scaled(1) + Double::ONE + d) / (zero * (Double::ONE + zero));
    for k in 1..=n as i32 {
        let factor = d / (zero - Double::from(f64::from(k)));
        e = e + factor + e * factor;
    }
    // The quotient of the numerators: lgamma(2 + t) = t P(t) at both points. The difference of the two values is d times
    let (mut slope, mut value) = (0.0, 0.0);
    for c in LGAMMA.iter().rev().chain([&AT_2[0], &0.0]) {
        slope = slope * r + value;
        value = value * zero.high + c;
    }
    d.high * slope - e.high.ln_1p()
}

/// The zeros of lgamma below and above the poles from -2 to -17, as distances in two parts. There is no zero above -2.
const ZEROS: [[(f64, f64); 2]; 16] = [
    [(-4.570_247_382_208_006_4e-1, 1.843_554_041_574_456e-17), (-4.570_247_382_208_006_4e-1, 1.843_554_041_574_456e-17)],
    [(-1.435_808_883_499_800_6e-1, 3.862_806_401_714_152e-18), (2.523_173_532_725_874e-1, -2.046_889_916_913_25e-17)],
    [(-3.936_183_974_053_688e-2, 3.273_137_922_589_163_6e-18), (4.470_571_514_140_207e-2, 8.223_977_942_582_053e-19)],
    [(-8.218_168_322_593_521e-3, -5.582_665_915_956_405e-19), (8.455_359_439_952_277e-3, 8.231_751_957_350_036e-19)],
    [(-1.385_294_453_155_097_2e-3, -2.629_573_181_144_607_7e-20), (1.392_519_919_124_370_6e-3, -7.090_441_230_646_531e-20)],
    [(-1.983_334_073_247_516_2e-4, 1.182_057_340_156_096_3e-20), (1.984_921_093_623_021e-4, 6.263_909_978_492_175e-21)],
    [(-2.480_027_068_195_97e-5, 1.008_397_425_116_408_5e-21), (2.480_290_417_933_584_5e-5, 3.153_977_135_959_63e-22)],
    [(-2.755_714_822_650_346_3e-6, -5.624_459_871_432_079e-23), (2.755_749_022_531_805_7e-6, -6.500_300_408_654_724e-23)],
    [(-2.755_730_136_466_002e-7, -2.447_252_678_340_356_3e-23), (2.755_733_708_335_316_3e-7, 1.450_265_843_495_571_3e-23)],
    [(-2.505_210_685_240_754_6e-8, 1.292_486_862_085_380_2e-24), (2.505_210_991_847_622_6e-8, -6.807_394_864_189_793e-25)],
    [(-2.087_675_687_777_539e-9, -4.849_684_877_236_172e-26), (2.087_675_709_796_081e-9, -8.658_839_215_884_982e-26)],
    [(-1.605_904_383_010_887_5e-10, 7.046_449_983_196_074e-27), (1.605_904_384_353_435_5e-10, 6.465_141_936_497_467e-27)],
    [(-1.147_074_559_737_784e-11, 4.194_056_116_105_366e-28), (1.147_074_559_808_161e-11, -7.830_340_218_001_236e-28)],
    [(-7.647_163_731_803_788e-13, 4.886_154_187_641_447e-29), (7.647_163_731_835_846e-13, -3.803_518_491_518_774_5e-29)],
    [(-4.779_477_332_386_745e-14, -1.811_833_433_216_651e-30), (4.779_477_332_388_026e-14, -9.319_923_331_229_129e-31)],
    [(-2.811_457_254_345_498e-15, -2.287_820_641_000_547_8e-32), (2.811_457_254_345_543_5e-15, -8.713_180_440_266_469e-32)],
];

#[cfg(test)]
mod tests {
    use super::super::check::{alone, check_f32, check_f64, check_special};
    use super::super::{lgamma_run_f32, lgamma_run_f64};
    use crate::cpu::simd::simd;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    unsafe extern "C" {
        safe fn lgamma(x: f64) -> f64;
    }

    #[test]
    fn f32_is_all_but_correctly_rounded() {
        check_f32(0.52, alone!(lgamma_run_f32), |x| lgamma(x));
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(POINTS, 2.0, alone!(lgamma_run_f64));
        check_f64(BESIDE_ZEROS, 3.5, alone!(lgamma_run_f64));
    }

    #[test]
    fn special_values() {
        check_special(alone!(lgamma_run_f64), [INF, INF, INF, INF, NAN, INF, INF]);
        for x in [-1.0, -2.0, -7.0, -1e17] {
            assert_eq!(simd(move |isa| alone!(lgamma_run_f64)(isa, x)), INF);
        }
    }

    #[test]
    fn pieces_with_negative_elements_agree_with_each_alone() {
        let a: Vec<f64> = (0..700).map(|i| if i < 300 { f64::from(i) * 0.1 } else { 20.0 - 0.0667 * f64::from(i) }).collect();
        let one = |x: f64| simd(move |isa| alone!(lgamma_run_f64)(isa, x));
        let (mut r, n) = (a.clone(), a.len());
        let data = r.as_mut_ptr();
        // SAFETY: `data` has `n` elements, and the function works in place.
        simd(move |isa| unsafe { lgamma_run_f64(isa, data, data, n) });
        assert!(a.iter().zip(&r).all(|(&x, &y)| (y - one(x)).abs() <= 1e-15 * y.abs() || y == one(x)));
    }

    const POINTS: &[(u64, u64, f64)] = &[
        (0x3ff5_7d48_eeac_4f16, 0xbfbd_4b1f_61a9_c919, -0.29),
        (0x3ff5_03df_b17a_fc09, 0xbfbc_3fbe_8a25_7809, -0.17),
        (0x3ff5_46f4_7517_6f1a, 0xbfbc_db4f_3c74_12c5, -0.16),
        (0x3ff5_4699_4f29_41e1, 0xbfbc_da88_fe4c_59f7, -0.14),
        (0x3ff5_17c2_9d6f_1f1b, 0xbfbc_6fe5_aa0d_b975, -0.14),
        (0x3ff5_2697_8ddc_d1a3, 0xbfbc_92b0_f004_5343, -0.00),
        (0x3ff5_5bf7_07e6_bf9e, 0xbfbd_080a_ffe3_42e5, 0.48),
        (0x3fdb_10db_9e08_5f22, 0x3fe7_aceb_7c35_d46c, -0.25),
        (0x3ff5_5fbf_584a_f452, 0xbfbd_0fe5_522b_52de, 0.13),
        (0x3ff5_24c9_3ca8_d88a, 0xbfbc_8e81_70c0_72ca, -0.10),
        (0xbff6_a8ba_fe6f_6f31, 0x3fee_7938_9195_60ab, 0.36),
        (0xbff8_dd3d_4e80_f5c0, 0x3fea_bf13_34e0_a929, 0.37),
        (0xbff7_129b_abc3_d485, 0x3fed_5517_29e5_35b3, 0.43),
        (0xbffb_0177_e7fc_79e5, 0x3fec_f4a6_401c_fb67, 0.47),
        (0xbff8_2acf_5adb_b60a, 0x3feb_4d7f_a8f8_655d, -0.48),
        (0x0000_0000_0000_0001, 0x4087_4385_446d_71c3, 0.39),
        (0x8000_1268_8b70_e62b, 0x4086_4e69_394d_9508, 0.08),
        (0x3ff0_0000_0000_0001, 0xbca2_788c_fc6f_b617, 0.31),
        (0x3fef_ffff_ffff_ffff, 0x3c92_788c_fc6f_b61a, -0.22),
        (0x4000_0000_0000_0001, 0x3cab_0ee6_0720_93d1, -0.33),
        (0x3fff_ffff_ffff_ffff, 0xbc9b_0ee6_0720_93cd, -0.20),
        (0x3fe0_0000_0000_0000, 0x3fe2_50d0_48e7_a1bd, 0.05),
        (0xbfe0_0000_0000_0000, 0x3ff4_3f89_a3f0_edd6, 0.13),
        (0x400b_ffcb_923a_29c7, 0x3ff3_36bc_6c65_d743, 0.11),
        (0x400c_0000_0000_0000, 0x3ff3_3730_1897_0a36, -0.28),
        (0x4202_a05f_2000_0000, 0x4249_a437_10f4_67c1, 0.13),
        (0x7f56_c8e5_ca23_9029, 0x7fef_3fc8_3052_cbf4, 0.28),
        (0x3ee4_f8b5_88e3_68f1, 0x4027_069d_68f4_ec83, -0.31),
        (0xbfff_ff97_2474_538f, 0x4021_08d9_a49b_bd0f, 0.28),
    ];

    const BESIDE_ZEROS: &[(u64, u64, f64)] = &[
        (0xc005_fb41_0a1b_d901, 0x3ca8_fb85_30ba_7689, -0.33),
        (0xc005_fb41_0a1b_d900, 0xbcc8_624c_5cd6_13df, -0.22),
        (0xc009_260d_bc9e_59af, 0x3cde_9605_e3ae_7a62, -0.13),
        (0xc009_260d_bc9e_59ae, 0x3cf7_35d4_a883_74d0, -0.30),
        (0xc017_fe92_f591_f40d, 0xbd50_b134_f9ff_c148, -0.18),
        (0xc017_fe92_f591_f40c, 0xbd6e_ba91_213a_30f9, 0.39),
        (0xc018_016b_2589_7c8d, 0xbd2a_23d2_367f_f1e9, 0.45),
        (0xc018_016b_2589_7c8c, 0x3d64_fba7_7ad2_fa59, -0.03),
        (0xc021_ffff_a388_4bd0, 0xbdd6_211e_6b51_db52, 0.35),
        (0xc021_ffff_a388_4bcf, 0xbe08_ea11_c9a7_c552, -0.37),
        (0xc022_0000_5c77_68fb, 0x3dc2_ef5e_a4b4_dd94, 0.22),
        (0xc022_0000_5c77_68fa, 0x3e07_5507_edfe_d1d0, -0.13),
        (0xc027_ffff_ffee_1127, 0xbe69_c4f8_9e03_9ea6, 0.31),
        (0xc027_ffff_ffee_1126, 0xbeae_294a_a20b_e05c, 0.02),
        (0xc028_0000_0011_eed9, 0xbe6f_6e87_484c_2c6d, -0.21),
        (0xc028_0000_0011_eed8, 0x3eaa_9614_4046_9256, 0.22),
        (0xc02d_ffff_ffff_fe52, 0x3f52_ed7d_83e6_1be3, -0.36),
        (0xc02d_ffff_ffff_fe51, 0xbf53_2161_69d8_ee75, 0.38),
        (0xc02e_0000_0000_01ae, 0x3f52_ed7d_82bf_7333, -0.18),
        (0xc02e_0000_0000_01ad, 0x3f6c_8985_cd4f_f7d2, -0.36),
        (0xc004_02e8_a2cf_f23b, 0xbfad_9813_ee1b_8d7b, -0.46),
        (0xc026_0000_0092_d5ca, 0x3fd8_7699_afeb_bffb, -0.01),
        (0xc005_64af_612a_0fc6, 0xbfb8_715b_2fac_ecaa, 0.42),
        (0xc000_6666_6666_6666, 0x4002_14a0_29b3_42aa, -0.41),
        (0xc007_9999_9999_999a, 0x3ff4_541f_9aa5_d8bd, 0.25),
        (0xc00c_0000_0000_0000, 0xbff4_f1b0_fe64_a5d8, 0.40),
        (0xc010_cccc_cccc_cccd, 0xbffc_eb96_973c_55dc, -0.44),
        (0xc031_8000_0000_0000, 0xc040_e638_0ffe_8140, 0.43),
        (0xc040_a666_6666_6666, 0xc055_302a_db32_87d4, 0.05),
    ];
}
