//! The error function and its kin: erf, erfc, the inverse of erf, and the two forms of gelu.
//!
//! Largest errors in units in the last place, of f32 and f64, with fma (and without): erf 1.57 and 1.63 (1.94 and 1.99), erfc 2.1 and 2.6
//! (2.5 and 2.9), erfinv 1.9 and 2.1 (1.9 and 2.2), gelu 2.8 and 2.8 (2.9 and 3.0), gelu_tanh 0.51 and 2.5: relative ones, also where the results
//! of erfc and gelu are tiny.

use super::exp::{exp_parts_f32, exp_parts_f64};
use super::log::{log_parts_f32, log_parts_f64, log_sum_f32, log_sum_f64};
use super::{poly_f32, poly_f64};
use crate::cpu::simd::Isa;
use std::f32::consts::{FRAC_1_SQRT_2 as FRAC_1_SQRT_2_32, FRAC_2_SQRT_PI as FRAC_2_SQRT_PI_32, LN_2 as LN_2_32, LOG2_E as LOG2_E_32};
use std::f64::consts::{FRAC_1_SQRT_2 as FRAC_1_SQRT_2_64, FRAC_2_SQRT_PI as FRAC_2_SQRT_PI_64, LN_2 as LN_2_64, LOG2_E as LOG2_E_64};

/// `-log(erfc(a)) = 2 / sqrt(pi) a + a^2 P(a)` on 0 <= a <= 3.93 (5.95), where it matters to erf.
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

/// `(exp(r) - 1 - r) / r^2` on |r| <= ln 2 / 2, with the weight that erf gives it.
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

/// What f32 lacks of 2 / sqrt(pi); f64 lacks next to nothing.
const FRAC_2_SQRT_PI_LOW_32: f32 = -5.863_538_3e-8;

// 1.5 * 2^23 (2^52) rounds to an integer and leaves it in the low bits, here with the bias of the exponent.
const SHIFT_32: f32 = 12_582_912.0 + 127.0;
const SHIFT_64: f64 = 6_755_399_441_055_744.0 + 1023.0;

/// `erf(x)`
#[inline(always)]
pub fn erf_f32(isa: Isa, x: f32) -> f32 {
    // 1 - exp(-t) with t = -log(erfc(a)), which is smooth, and proportional to a small a: one expression serves everywhere.
    let a = x.abs();
    let a = if a > 3.93 { 3.93 } else { a };
    let h = a * FRAC_2_SQRT_PI_32;
    let lost = isa.fma_f32(a, FRAC_2_SQRT_PI_LOW_32, product_rest_f32(isa, a, FRAC_2_SQRT_PI_32, h));
    let l = isa.fma_f32(a * a, poly_f32(isa, a, ERF_32), lost);
    let m = isa.fma_f32(h + l, -LOG2_E_32, SHIFT_32);
    // r = -h - l - n ln 2 in two parts: what l has lost against h counts while n is zero.
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
    let l = isa.fma_f64(a * a, poly_f64(isa, a, ERF_64), lost);
    let m = isa.fma_f64(h + l, -LOG2_E_64, SHIFT_64);
    let rh = isa.fma_f64(m - SHIFT_64, -LN_2_64, -h);
    let r = rh - l;
    let p = rh + isa.fma_f64(r * r, poly_f64(isa, r, EXPM1_64), -l);
    let s = f64::from_bits(m.to_bits() << 52);
    isa.fma_f64(-p, s, 1.0 - s).copysign(x)
}

/// `a * b - h` without rounding, h being `a * b` rounded.
#[inline(always)]
fn product_rest_f32(isa: Isa, a: f32, b: f32, h: f32) -> f32 {
    if isa.has_fma() {
        return isa.fma_f32(a, b, -h);
    }
    let (ah, bh) = (f32::from_bits(a.to_bits() & 0xffff_f000), f32::from_bits(b.to_bits() & 0xffff_f000));
    let (al, bl) = (a - ah, b - bh);
    ((ah * bh - h) + ah * bl + al * bh) + al * bl
}

#[inline(always)]
fn product_rest_f64(isa: Isa, a: f64, b: f64, h: f64) -> f64 {
    if isa.has_fma() {
        return isa.fma_f64(a, b, -h);
    }
    const HIGH: u64 = 0xffff_ffff_f800_0000;
    let (ah, bh) = (f64::from_bits(a.to_bits() & HIGH), f64::from_bits(b.to_bits() & HIGH));
    let (al, bl) = (a - ah, b - bh);
    ((ah * bh - h) + ah * bl + al * bh) + al * bl
}

// Polynomials are taken about points where their value is close to a number: its rounding is the one that every result would feel.
/// `exp(a^2) erfc(a) (a + 2)` as a polynomial of 1 / (a + 2) about a centre, for 0 <= a <= 10.2: its value there, and the rest.
const ERFC_CENTRE_32: f32 = 0.187_504_95;
const ERFC_AT_CENTRE_32: f32 = 8.666_241e-1;
const ERFC_32: [f32; 9] = [2.221_874, 3.923_985, 3.398_019_8, -2.855_033_4, -9.790_074, 3.194_508_8, 31.018_88, -41.517_83, 12.023_519];
/// `exp(a^2) erfc(a) (a + 3.5)` as a polynomial of 1 / (a + 3.5) about a centre, for 0 <= a <= 27.4: its value there, and the rest.
const ERFC_CENTRE_64: f64 = 0.156_250_005_209_585_65;
const ERFC_AT_CENTRE_64: f64 = 1.181_451_725_507_665_3;
const ERFC_64: [f64; 22] = [
    7.561_423_844_143_408,
    40.632_050_186_225_31,
    181.264_191_672_514_3,
    654.495_914_466_152_3,
    1_811.031_329_205_863_4,
    3_321.518_715_354_115,
    1_622.212_113_087_736_5,
    -1.103_424_203_586_983_8e4,
    -2.884_813_695_372_820_4e4,
    1.240_613_216_265_898_7e4,
    1.777_057_543_109_947e5,
    1.034_636_674_700_305_6e5,
    -1.039_907_906_534_705e6,
    -1.203_131_758_898_068_5e6,
    6.808_436_884_623_504e6,
    9.079_282_902_881_1e6,
    -5.045_328_604_766_188e7,
    -5.425_549_751_812_243e7,
    3.683_755_154_691_58e8,
    2.141_187_207_971_049_8e8,
    -1.796_301_078_799_660_4e9,
    -2.025_864_511_754_290_5e8,
];

/// `exp(a^2) erfc(a)` for `a + low`, 0 <= a <= 10.2: a value, what that has lost, and what is missing relative to it.
#[inline(always)]
fn erfcx_f32(isa: Isa, a: f32, low: f32) -> (f32, f32, f32) {
    let d = a + 2.0;
    let w = 1.0 / d;
    let low = low + if a > 2.0 { 2.0 - (d - a) } else { a - (d - 2.0) };
    let wd = w * d;
    let missing = (1.0 - wd) - isa.fma_f32(w, low, product_rest_f32(isa, w, d, wd));
    let u = isa.fma_f32(w, missing, w - ERFC_CENTRE_32);
    let p = poly_f32(isa, u, ERFC_32);
    let g = isa.fma_f32(u, p, ERFC_AT_CENTRE_32);
    let lost = isa.fma_f32(u, p, ERFC_AT_CENTRE_32 - g);
    let y = w * g;
    (y, isa.fma_f32(w, lost, product_rest_f32(isa, w, g, y)), missing)
}

/// `exp(a^2) erfc(a)` for `a + low`, 0 <= a <= 27.4: a value, what that has lost, and what is missing relative to it.
#[inline(always)]
fn erfcx_f64(isa: Isa, a: f64, low: f64) -> (f64, f64, f64) {
    let d = a + 3.5;
    let w = 1.0 / d;
    let low = low + if a > 3.5 { 3.5 - (d - a) } else { a - (d - 3.5) };
    let wd = w * d;
    let missing = (1.0 - wd) - isa.fma_f64(w, low, product_rest_f64(isa, w, d, wd));
    let u = isa.fma_f64(w, missing, w - ERFC_CENTRE_64);
    let p = poly_f64(isa, u, ERFC_64);
    let t = u * p;
    let g = ERFC_AT_CENTRE_64 + t;
    let part = g - ERFC_AT_CENTRE_64;
    let lost = ((ERFC_AT_CENTRE_64 - (g - part)) + (t - part)) + product_rest_f64(isa, u, p, t);
    let y = w * g;
    (y, isa.fma_f64(w, lost, product_rest_f64(isa, w, g, y)), missing)
}

/// `erfc(x)`
#[inline(always)]
pub fn erfc_f32(isa: Isa, x: f32) -> f32 {
    let a = x.abs();
    let a = if a > 10.2 { 10.2 } else { a };
    let h = a * a;
    let (p, b, c) = exp_parts_f32(isa, -h);
    let (y, lost, missing) = erfcx_f32(isa, a, 0.0);
    let q = missing - product_rest_f32(isa, a, a, h);
    let r = (y + isa.fma_f32(y, isa.fma_f32(p, q, p + q), lost)) * b * c;
    // Rounding must not lead beyond erfc(0).
    let r = if r > 1.0 { 1.0 } else { r };
    if x < 0.0 { 2.0 - r } else { r }
}

/// `erfc(x)`
#[inline(always)]
pub fn erfc_f64(isa: Isa, x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 27.4 { 27.4 } else { a };
    let h = a * a;
    let (p, b, c) = exp_parts_f64(isa, -h);
    let (y, lost, missing) = erfcx_f64(isa, a, 0.0);
    let q = missing - product_rest_f64(isa, a, a, h);
    let r = (y + isa.fma_f64(y, isa.fma_f64(p, q, p + q), lost)) * b * c;
    // Rounding must not lead beyond erfc(0).
    let r = if r > 1.0 { 1.0 } else { r };
    if x < 0.0 { 2.0 - r } else { r }
}

const CENTRE_32: f32 = 2.500_017_6;
const TAIL_CENTRE_32: f32 = 3.000_011_4;
const CENTRE_64: f64 = 3.125_001_445_412_636;
const TAIL_CENTRE_64: f64 = 4.250_002_652_406_692_5;
/// `erfinv(x) / x` as a polynomial about CENTRE of w = -log(1 - x^2) up to 5 (6.25).
const CENTRAL_32: [f32; 10] = [
    1.501_413_7,
    2.466_401_5e-1,
    -4.177_422_7e-3,
    -1.252_729_4e-3,
    2.183_234e-4,
    -4.964_494_6e-6,
    -3.457_876_8e-6,
    4.665_943_4e-7,
    2.287_517e-8,
    -8.830_759e-9,
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
/// `erfinv(x) / x` as a polynomial about TAIL_CENTRE of sqrt(w) for larger w.
const TAIL_32: [f32; 10] = [
    2.832_988_3,
    1.001_675_2,
    9.445_234e-3,
    -7.638_048_4e-3,
    5.684_81e-3,
    -3.592_691_4e-3,
    1.490_459_5e-3,
    -6.526_802_5e-5,
    -3.140_233_5e-4,
    1.213_430_4e-4,
];
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

/// `erfinv(x)`, the inverse of erf: infinite at -1 and 1, NaN beyond.
#[inline(always)]
pub fn erfinv_f32(isa: Isa, x: f32) -> f32 {
    let a = x.abs();
    // The special values enter as a factor.
    let limit = if a == 1.0 { x * f32::INFINITY } else { f32::NAN };
    let x = if a < 1.0 { x } else { limit };
    let (e, f) = log_parts_f32((1.0 - a) * (1.0 + a));
    let w = -log_sum_f32(isa, e, f);
    let central = poly_f32(isa, w - CENTRE_32, CENTRAL_32);
    let tail = poly_f32(isa, w.sqrt() - TAIL_CENTRE_32, TAIL_32);
    x * if w < 5.0 { central } else { tail }
}

/// Whether [`erfinv_f64`] does not serve x and [`erfinv_slow_f64`] must.
#[inline(always)]
pub fn erfinv_rare_f64(_: Isa, x: f64) -> bool {
    x.abs() > 0.999 || x.is_nan()
}

/// `erfinv(x)` for |x| <= 0.999.
#[inline(always)]
pub fn erfinv_f64(isa: Isa, x: f64) -> f64 {
    let (e, f) = log_parts_f64((1.0 - x) * (1.0 + x));
    let w = -log_sum_f64(isa, e, f);
    x * poly_f64(isa, w - CENTRE_64, CENTRAL_64)
}

/// [`erfinv_f32`] serves all.
#[inline(always)]
pub fn erfinv_rare_f32(_: Isa, _: f32) -> bool {
    false
}

/// `erfinv(x)` for |x| > 0.999, infinite at -1 and 1, NaN beyond.
pub fn erfinv_slow_f64(_: Isa, x: f64) -> f64 {
    if x.abs() == 1.0 {
        return x * f64::INFINITY;
    }
    let w = -((1.0 - x) * (1.0 + x)).ln();
    x * TAIL_64.iter().rev().fold(0.0, |p, c| p * (w.sqrt() - TAIL_CENTRE_64) + c)
}

/// `exp(-a^2 / 2) erfc(a / sqrt 2)`, twice the weight of the normal distribution beyond a: for 0 <= a <= 14.4.
#[inline(always)]
fn normal_tail_f32(isa: Isa, a: f32) -> (f32, f32, f32) {
    let h = a * a;
    let (p, b, c) = exp_parts_f32(isa, -0.5 * h);
    let s = a * FRAC_1_SQRT_2_32;
    let low = isa.fma_f32(a, SQRT_HALF_LOW_32, product_rest_f32(isa, a, FRAC_1_SQRT_2_32, s));
    let (y, lost, missing) = erfcx_f32(isa, s, low);
    let q = isa.fma_f32(product_rest_f32(isa, a, a, h), -0.5, missing);
    (y + isa.fma_f32(y, isa.fma_f32(p, q, p + q), lost), b, c)
}

/// `exp(-a^2 / 2) erfc(a / sqrt 2)` as a product; for 0 <= a <= 38.7.
#[inline(always)]
fn normal_tail_f64(isa: Isa, a: f64) -> (f64, f64, f64) {
    let h = a * a;
    let (p, b, c) = exp_parts_f64(isa, -0.5 * h);
    let s = a * FRAC_1_SQRT_2_64;
    let low = isa.fma_f64(a, SQRT_HALF_LOW_64, product_rest_f64(isa, a, FRAC_1_SQRT_2_64, s));
    let (y, lost, missing) = erfcx_f64(isa, s, low);
    let q = isa.fma_f64(product_rest_f64(isa, a, a, h), -0.5, missing);
    (y + isa.fma_f64(y, isa.fma_f64(p, q, p + q), lost), b, c)
}

/// `x Phi(x)`, Phi being the normal distribution: the exact gelu.
#[inline(always)]
pub fn gelu_f32(isa: Isa, x: f32) -> f32 {
    // max(x, 0) - |x| Phi(-|x|): precise on both sides. NaN passes; -inf becomes NaN, as in PyTorch.
    let a = x.abs();
    let a = if a > 14.4 { 14.4 } else { a };
    let (y, b, c) = normal_tail_f32(isa, a);
    let base = if x > 0.0 { x } else { 0.0 * x };
    base - 0.5 * a * y * b * c
}

/// `x Phi(x)`, Phi being the normal distribution: the exact gelu.
#[inline(always)]
pub fn gelu_f64(isa: Isa, x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 38.7 { 38.7 } else { a };
    let (y, b, c) = normal_tail_f64(isa, a);
    let base = if x > 0.0 { x } else { 0.0 * x };
    base - 0.5 * a * y * b * c
}

/// `x / (1 + exp(-v))` with `v = 2 sqrt(2 / pi) (x + 0.044715 x^3)`: gelu by its tanh approximation.
#[inline(always)]
pub fn gelu_tanh_f32(isa: Isa, x: f32) -> f32 {
    // v needs more than 24 bits, since exp multiplies its errors by v.
    let a = f64::from(x.abs());
    let a = if a > 12.0 { 12.0 } else { a };
    let v = a * isa.fma_f64(a * a, GELU_TANH_64[1], GELU_TANH_64[0]);
    let m = isa.fma_f64(v, -LOG2_E_64, SHIFT_64);
    let r = isa.fma_f64(m - SHIFT_64, -LN_2_64, -v);
    let e = isa.fma_f64(r * r, poly_f64(isa, r, EXP_SHORT_64), r) + 1.0;
    let e = e * f64::from_bits(m.to_bits() << 52);
    let base = if x > 0.0 { x } else { 0.0 * x };
    (f64::from(base) - a * e / (1.0 + e)) as f32
}

/// `x / (1 + exp(-v))` with `v = 2 sqrt(2 / pi) (x + 0.044715 x^3)`: gelu by its tanh approximation.
#[inline(always)]
pub fn gelu_tanh_f64(isa: Isa, x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 21.8 { 21.8 } else { a };
    // v in two parts, since exp multiplies its errors by v.
    let z = a * a;
    let zl = product_rest_f64(isa, a, a, z);
    let [k0, k1, l0, l1] = GELU_TANH_64;
    let t = z * k1;
    let tl = product_rest_f64(isa, z, k1, t) + isa.fma_f64(zl, k1, z * l1);
    let q = k0 + t;
    let ql = if t > k0 { k0 - (q - t) } else { t - (q - k0) } + (tl + l0);
    let v = a * q;
    let vl = isa.fma_f64(a, ql, product_rest_f64(isa, a, q, v));
    let (p, b, c) = exp_parts_f64(isa, -v);
    let p = p - vl * (1.0 + p);
    // a e / (1 + e) with e = (1 + p) b c.
    let e = b * c;
    let d = isa.fma_f64(e, p, 1.0 + e);
    let base = if x > 0.0 { x } else { 0.0 * x };
    base - isa.fma_f64(a, p, a) / d * b * c
}

/// What FRAC_1_SQRT_2 lacks.
const SQRT_HALF_LOW_32: f32 = 1.210_161_75e-8;
const SQRT_HALF_LOW_64: f64 = -4.833_646_656_726_457e-17;

/// `2 sqrt(2 / pi)` and 0.044715 times that, and what f64 lacks of them.
const GELU_TANH_64: [f64; 4] = [1.595_769_121_605_730_8, 7.135_481_627_260_025e-2, -9.969_308_809_110_92e-17, -6.175_149_918_155_315e-19];
const EXP_SHORT_64: [f64; 6] = [
    5.000_000_077_910_037e-1,
    1.666_666_686_016_258_5e-1,
    4.166_626_994_193_796e-2,
    8.333_264_441_327_046e-3,
    1.394_607_224_879_899_8e-3,
    1.991_835_022_971_527e-4,
];

#[cfg(test)]
mod tests {
    use super::super::check::{check_f32, check_f64, check_special};
    use super::*;
    use crate::cpu::simd::simd;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    unsafe extern "C" {
        safe fn erf(x: f64) -> f64;
        safe fn erfc(x: f64) -> f64;
    }

    #[inline(always)]
    fn erfinv_any(isa: Isa, x: f64) -> f64 {
        if erfinv_rare_f64(isa, x) { erfinv_slow_f64(isa, x) } else { erfinv_f64(isa, x) }
    }

    fn gelu_tanh(x: f64) -> f64 {
        x / (1.0 + (-(8.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).exp())
    }

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(2.0, erf_f32, |x| erf(x));
        check_f32(2.6, erfc_f32, |x| erfc(x));
        check_f32(3.0, gelu_f32, |x| 0.5 * x * erfc(-x * FRAC_1_SQRT_2_64));
        check_f32(0.51, gelu_tanh_f32, gelu_tanh);
    }

    #[test]
    fn f32_inverse_undoes_erf() {
        for k in -2_500_000..2_500_000_i32 {
            let y = 1e-6 * f64::from(k);
            let x = erf(y) as f32;
            if k % 97 == 0 && x.abs() < 1.0 {
                // What rounding erf(y) to x does to y: (x - erf(y)) / erf'(y).
                let exact = y + (f64::from(x) - erf(y)) * (y * y).exp() / FRAC_2_SQRT_PI_64;
                let got = simd(move |isa| erfinv_f32(isa, x));
                assert!((f64::from(got) - exact).abs() <= 2.5e-7 * exact.abs() + 1e-12 * (y * y).exp(), "{x:e}: {got:e}, not {exact:e}");
            }
        }
        for (x, y) in [(0.0_f32, 0.0_f32), (-0.0, -0.0), (1.0, f32::INFINITY), (-1.0, f32::NEG_INFINITY)] {
            assert_eq!(simd(move |isa| erfinv_f32(isa, x)).to_bits(), y.to_bits());
        }
        assert!([1.5, -2.0, f32::INFINITY, f32::NAN].iter().all(|&x| simd(move |isa| erfinv_f32(isa, x)).is_nan()));
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(ERF_POINTS, 2.0, erf_f64);
        check_f64(ERFC_POINTS, 3.0, erfc_f64);
        check_f64(GELU_POINTS, 3.1, gelu_f64);
        check_f64(GELU_TANH_POINTS, 2.6, gelu_tanh_f64);
        check_f64(ERFINV_POINTS, 2.3, erfinv_any);
    }

    #[test]
    fn f64_special_values() {
        check_special(erf_f64, [0.0, -0.0, 1.0, -1.0, NAN, 1.0, -1.0]);
        check_special(erfc_f64, [1.0, 1.0, 0.0, 2.0, NAN, 0.0, 2.0]);
        check_special(gelu_f64, [0.0, -0.0, INF, NAN, NAN, f64::MAX, -0.0]);
        check_special(gelu_tanh_f64, [0.0, -0.0, INF, NAN, NAN, f64::MAX, -0.0]);
        check_special(erfinv_any, [0.0, -0.0, NAN, NAN, NAN, NAN, NAN]);
        assert_eq!([1.0, -1.0].map(|x| simd(move |isa| erfinv_slow_f64(isa, x))), [INF, -INF]);
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

    const GELU_POINTS: &[(u64, u64, f64)] = &[
        (0xbecf_fda5_2c43_3355, 0xbebf_fd9e_cb22_5bca, 0.29),
        (0xbd5c_e607_347a_12c0, 0xbd4c_e607_347a_0857, -0.34),
        (0xbd7d_a1dd_d064_ecb2, 0xbd6d_a1dd_d064_c0e8, 0.39),
        (0xbede_d62e_6b3e_6655, 0xbece_d622_906a_02da, -0.42),
        (0xbfaf_e67f_dc98_b365, 0xbf9e_50c8_d060_1b29, -0.43),
        (0x3efe_0949_352e_d6a0, 0x3eee_0976_3285_8c4e, 0.45),
        (0xbebf_f318_3880_41b3, 0xbeaf_f315_0a0a_188b, -0.48),
        (0xbe1e_61db_a35c_17b9, 0xbe0e_61db_a2a3_f6ec, -0.48),
        (0xc039_05f7_3c14_10be, 0xa39f_c0fc_a697_13d7, 0.49),
        (0xbffd_595f_05a7_7960, 0xbfaf_470b_c55c_beb2, 0.50),
        (0xc043_3333_3333_3333, 0x8000_0000_0000_0201, 0.09),
        (0x8000_1268_8b70_e62b, 0x8000_0934_45b8_7316, -0.50),
        (0x4008_0000_0000_0000, 0x4007_f7b4_cb42_6ddc, -0.19),
        (0x01a5_6e1f_c2f8_f359, 0x0195_6e1f_c2f8_f359, 0.00),
        (0xbfe0_0000_0000_0000, 0xbfc3_bf14_3b9a_a712, 0.26),
    ];

    const GELU_TANH_POINTS: &[(u64, u64, f64)] = &[
        (0xbff5_9880_0368_6390, 0xbfbe_a82c_f044_b612, -0.41),
        (0xbff5_b4cd_be9b_1fb0, 0xbfbe_6e2c_98a3_ee23, 0.32),
        (0xbff5_0f8b_b99b_72b0, 0xbfbf_bf4e_d92c_4562, -0.28),
        (0xbff5_8c42_7dcc_0280, 0xbfbe_c13a_f9d8_30e6, -0.26),
        (0xbff5_da43_d4ed_caf0, 0xbfbe_2147_3f4c_e588, 0.25),
        (0xbffd_69f6_7739_7a00, 0xbfaf_156d_aed1_ed56, 0.22),
        (0xc015_2efa_4213_cf58, 0xbe5e_53a9_bb94_cbc7, 0.21),
        (0xbff5_a378_44f2_59a0, 0xbfbe_91b4_d6db_e0c3, 0.17),
        (0xc015_e4c0_1288_933c, 0xbe3f_6148_b6d5_1458, 0.15),
        (0xbffd_6968_8be3_ec80, 0xbfaf_1742_0e70_d6a5, 0.13),
        (0xc035_6666_6666_6666, 0x8000_0000_0013_55b1, 0.20),
        (0xbff0_0000_0000_0000, 0xbfc4_53d2_2357_147a, 0.09),
        (0x4008_0000_0000_0000, 0x4007_f88c_f57f_ba7b, 0.32),
    ];

    const ERFINV_POINTS: &[(u64, u64, f64)] = &[
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
