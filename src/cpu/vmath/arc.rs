//! The inverse trigonometric functions.

use super::super::simd::Isa;
use super::{poly_f32, poly_f64};
use std::f32::consts::{FRAC_PI_2 as FRAC_PI_2_32, PI as PI_32};
use std::f64::consts::{FRAC_PI_2 as FRAC_PI_2_64, PI as PI_64};

const PI_2_LOW_32: f32 = -4.371_139e-8;
const PI_2_LOW_64: f64 = 6.123_233_995_736_766e-17;
const SIGN_32: u32 = 1 << 31;
const SIGN_64: u64 = 1 << 63;
/// The least positive number.
const LEAST_32: f32 = f32::from_bits(1);
const LEAST_64: f64 = f64::from_bits(1);

/// `(asin(s) / s - 1) / s^2` as a polynomial of s^2, on |s| <= 1 / 2.
const ASIN_32: [f32; 5] = [1.666_675_2e-1, 7.495_309_4e-2, 4.546_915e-2, 2.418_478_2e-2, 4.215_829e-2];
const ASIN_64: [f64; 13] = [
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
const ATAN_64: [f64; 19] = [
    -0.333_333_333_333_318_6,
    0.199_999_999_997_551_97,
    -0.142_857_142_713_422_92,
    0.111_111_106_789_182_01,
    -0.090_909_012_377_693_2,
    0.076_922_129_530_228_62,
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

/// Returns `s` and `asin(s) - s`, where `asin(|x|) = asin(s)` or, beyond one half, `pi / 2 - 2 asin(s)`; and which of them holds.
#[inline(always)]
fn arc_f32(isa: Isa, x: f32, low: f32) -> (f32, f32, bool) {
    let t = x.abs();
    let far = t > 0.5;
    let z = if far { isa.fma_f32(t, -0.5, 0.5) } else { t * t };
    let s = if far { z.sqrt() } else { t };
    (s, isa.fma_f32(s * z, poly_f32(isa, z, ASIN_32), if far { -0.5 * low } else { -0.0 }), far)
}

/// Returns `s` and `asin(s) - s`, where `asin(|x|) = asin(s)` or, beyond one half, `pi / 2 - 2 asin(s)`; and which of them holds.
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

/// `from + atan(q)`
#[inline(always)]
fn atan_from_f32(isa: Isa, from: f32, q: f32) -> f32 {
    let z = q * q;
    isa.fma_f32(q * z, poly_f32(isa, z, ATAN_32), from + q)
}

/// `from + atan(q)`
#[inline(always)]
fn atan_from_f64(isa: Isa, from: f64, q: f64) -> f64 {
    let z = q * q;
    isa.fma_f64(q * z, poly_f64(isa, z, ATAN_64), from + q)
}

/// `atan(x)`
#[inline(always)]
pub fn atan_f32(isa: Isa, x: f32) -> f32 {
    let t = x.abs();
    let far = t > 1.0;
    let q = (if far { -1.0 } else { t }) / (if far { t } else { 1.0 });
    atan_from_f32(isa, if far { FRAC_PI_2_32 } else { 0.0 }, q).copysign(x)
}

/// `atan(x)`
#[inline(always)]
pub fn atan_f64(isa: Isa, x: f64) -> f64 {
    let t = x.abs();
    let far = t > 1.0;
    let q = (if far { -1.0 } else { t }) / (if far { t } else { 1.0 });
    atan_from_f64(isa, if far { FRAC_PI_2_64 } else { 0.0 }, q).copysign(x)
}

/// The angle of the point `(x, y)`, from -pi to pi
#[inline(always)]
pub fn atan2_f32(isa: Isa, y: f32, x: f32) -> f32 {
    let (b, a) = (y.abs(), x.abs());
    let steep = b > a;
    let top = if steep { a } else { b };
    let bottom = if steep { b } else { a };
    // 0 / 0 counts as 0, and infinity / infinity as 1.
    let bottom = if bottom < LEAST_32 { LEAST_32 } else { bottom };
    let q = if top == f32::INFINITY { 1.0 } else { top / bottom };
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
    // 0 / 0 counts as 0, and infinity / infinity as 1.
    let bottom = if bottom < LEAST_64 { LEAST_64 } else { bottom };
    let q = if top == f64::INFINITY { 1.0 } else { top / bottom };
    let left = x.to_bits() & SIGN_64;
    let flip = if steep { SIGN_64 } else { 0 };
    let from = if left != 0 { PI_64 } else { 0.0 };
    let from = if steep { FRAC_PI_2_64 } else { from };
    atan_from_f64(isa, from, f64::from_bits(q.to_bits() ^ left ^ flip)).copysign(y)
}
