//! Sine, cosine and tangent of every finite argument.
//!
//! `x = m pi + r` with pi in parts and m a multiple of one half; only `r` and the parity of the turns matter. That is exact enough up to
//! [`rare_f32`] and [`rare_f64`]. Beyond, [`Turns`] multiplies by as many digits of `1 / (2 pi)` as it takes, one number at a time.

use super::super::simd::{Isa, simd};
use super::{poly_f32, poly_f64};
use std::f32::consts::FRAC_1_PI as FRAC_1_PI_32;
use std::f64::consts::{FRAC_1_PI as FRAC_1_PI_64, PI as PI_64};

/// pi as a sum. A fused product with a part is exact until the parts cancel, and then the difference is.
const PI_32: [f32; 3] = [3.141_592_7, -8.742_278e-8, -3.430_249e-15];
const PI_FUSED_64: [f64; 3] = [PI_64, 1.224_646_799_147_353_2e-16, -2.994_769_809_718_339_7e-33];
/// The same in parts of 33 bits, whose products with 20 bits need no fma to be exact.
const PI_SHORT_64: [f64; 4] = [3.141_592_653_468_251_2, 1.215_420_101_260_793_2e-10, 4.044_532_497_422_333e-21, 1.695_685_532_073_78e-31];

/// Adding these rounds to an integer, whose parity is the lowest bit of the sum; half of them rounds to halves.
const SHIFT_32: f32 = 12_582_912.0;
const SHIFT_64: f64 = 6_755_399_441_055_744.0;

/// `(sin(r) / r - 1) / r^2` as a polynomial of r^2, on |r| <= pi / 2.
const SIN_32: [f32; 4] = [-1.666_666e-1, 8.333_066_5e-3, -1.980_944e-4, 2.605_140_5e-6];
const SIN_64: [f64; 8] = [
    -0.166_666_666_666_666_66,
    0.008_333_333_333_333_203,
    -0.000_198_412_698_412_105_1,
    2.755_731_921_115_108e-6,
    -2.505_210_686_068_275_6e-8,
    1.605_893_859_139_415_3e-10,
    -7.642_952_147_394_511e-13,
    2.720_672_196_450_599_3e-15,
];

/// `(tan(r) / r - 1) / r^2` as a polynomial of r^2, on |r| <= pi / 4.
const TAN_32: [f32; 7] = [3.333_335_2e-1, 1.333_257_7e-1, 5.406_986_5e-2, 2.123_010_9e-2, 1.097_223_6e-2, -8.487_794e-5, 4.462_929_4e-3];
const TAN_TOP_64: [f64; 4] =
    [0.333_333_333_333_333_3, -0.021_442_803_724_069_648, 0.000_244_891_040_409_933_93, -1.789_651_954_853_610_2e-8];
const TAN_BOTTOM_64: [f64; 4] = [1.0, -0.464_328_411_172_208_63, 0.024_561_275_685_347_436, -0.000_256_048_715_685_977_4];

/// Where the fast functions are not good enough.
#[inline(always)]
pub fn rare_f32(_isa: Isa, x: f32) -> bool {
    x.abs() > 131_072.0
}

/// Where the fast functions are not good enough.
#[inline(always)]
pub fn rare_f64(isa: Isa, x: f64) -> bool {
    x.abs() > if isa.has_fma() { 1_073_741_824.0 } else { 1_048_576.0 }
}

/// `x - m pi`, and what the rounding before the last has lost, which is not to be relied on near 0.
#[inline(always)]
fn reduce_f32(isa: Isa, x: f32, m: f32) -> (f32, f32) {
    let first = isa.fma_f32(m, -PI_32[0], x);
    let second = isa.fma_f32(m, -PI_32[1], first);
    let lost = isa.fma_f32(m, -PI_32[1], first - second);
    (isa.fma_f32(m, -PI_32[2], second), lost)
}

/// `x - m pi`, `lost` as for f32, and what the last rounding has lost.
#[inline(always)]
fn reduce_f64(isa: Isa, x: f64, m: f64) -> (f64, f64, f64) {
    if isa.has_fma() {
        let first = isa.fma_f64(m, -PI_FUSED_64[0], x);
        let second = isa.fma_f64(m, -PI_FUSED_64[1], first);
        let lost = isa.fma_f64(m, -PI_FUSED_64[1], first - second);
        let r = isa.fma_f64(m, -PI_FUSED_64[2], second);
        return (r, lost, isa.fma_f64(m, -PI_FUSED_64[2], second - r));
    }
    let (first, lost) = sum_f64(x - m * PI_SHORT_64[0], -m * PI_SHORT_64[1]);
    let (second, more) = sum_f64(first, -m * PI_SHORT_64[2]);
    let (r, low) = sum_f64(second, lost + more - m * PI_SHORT_64[3]);
    (r, 0.0, low)
}

/// `a + b` and what its rounding has lost.
#[inline(always)]
fn sum_f64(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let of_b = s - a;
    (s, (a - (s - of_b)) + (b - of_b))
}

/// `sin(r)` for |r| <= pi / 2, negated if the lowest bit of `turns` is set.
#[inline(always)]
fn half_wave_f32(isa: Isa, r: f32, turns: u32) -> f32 {
    let z = r * r;
    // What rounding has added to z counts most where the slope is -0.13. As +0 it keeps a result of -0.
    let added = isa.fma_f32(-r, r, z);
    let y = isa.fma_f32(r, isa.fma_f32(z, poly_f32(isa, z, SIN_32), 0.13 * added), r);
    f32::from_bits(y.to_bits() ^ (turns << 31))
}

#[inline(always)]
fn half_wave_f64(isa: Isa, r: f64, turns: u64) -> f64 {
    let z = r * r;
    let added = residue_f64(isa, -r, r, z);
    let y = isa.fma_f64(r, isa.fma_f64(z, poly_f64(isa, z, SIN_64), 0.13 * added), r);
    f64::from_bits(y.to_bits() ^ (turns << 63))
}

/// `tan(r)` for |r| <= pi / 4, or `-1 / tan(r)` if the lowest bit of `turns` is set; r comes with what it has lost.
#[inline(always)]
fn quarter_tan_f32(isa: Isa, (r, lost): (f32, f32), turns: u32) -> f32 {
    let z = r * r;
    let rest = z * isa.fma_f32(r, poly_f32(isa, z, TAN_32), lost);
    let high = r + rest;
    let low = rest - (high - r);
    let q = -1.0 / high;
    // One step of Newton's takes in what `high` and the quotient lack.
    let off = isa.fma_f32(q, low, isa.fma_f32(q, high, 1.0));
    let q = isa.fma_f32(q, off, q);
    if turns & 1 == 1 { q } else { high }
}

#[inline(always)]
fn quarter_tan_f64(isa: Isa, (r, lost, low): (f64, f64, f64), turns: u64) -> f64 {
    let odd = turns & 1 == 1;
    let z = r * r;
    let top = isa.fma_f64(z, isa.fma_f64(r, poly_f64(isa, z, TAN_TOP_64), lost), low);
    let bottom = poly_f64(isa, z, TAN_BOTTOM_64);
    // tan(r) = r + top / bottom = whole / bottom
    let whole = isa.fma_f64(r, bottom, top);
    let inverse = 1.0 / if odd { whole } else { bottom };
    // One step of Newton's takes in what `whole` and the quotient lack.
    let lost = residue_f64(isa, r, bottom, -whole) + top;
    let q = -bottom * inverse;
    let off = isa.fma_f64(q, lost, residue_f64(isa, q, whole, bottom));
    if odd { isa.fma_f64(-off, inverse, q) } else { isa.fma_f64(top, inverse, r) }
}

/// `a * b + c` with an exact product, where the sum is small.
#[inline(always)]
fn residue_f64(isa: Isa, a: f64, b: f64, c: f64) -> f64 {
    if isa.has_fma() {
        return isa.fma_f64(a, b, c);
    }
    let (a1, b1) = (f64::from_bits(a.to_bits() & UPPER), f64::from_bits(b.to_bits() & UPPER));
    let (a2, b2) = (a - a1, b - b1);
    ((a1 * b1 + c) + (a1 * b2 + a2 * b1)) + a2 * b2
}

/// The upper half of a mantissa, whose products with another are exact.
const UPPER: u64 = !0x7ff_ffff;

/// `sin(x)`, where `x` is not [`rare_f32`]
#[inline(always)]
pub fn sin_f32(isa: Isa, x: f32) -> f32 {
    if !isa.has_fma() {
        return sin_f64(isa, f64::from(x)) as f32;
    }
    let t = isa.fma_f32(x, FRAC_1_PI_32, SHIFT_32);
    let (r, _) = reduce_f32(isa, x, t - SHIFT_32);
    half_wave_f32(isa, r, t.to_bits())
}

/// `sin(x)`, where `x` is not [`rare_f64`]
#[inline(always)]
pub fn sin_f64(isa: Isa, x: f64) -> f64 {
    let t = isa.fma_f64(x, FRAC_1_PI_64, SHIFT_64);
    let (r, ..) = reduce_f64(isa, x, t - SHIFT_64);
    half_wave_f64(isa, r, t.to_bits())
}

/// `cos(x)`, where `x` is not [`rare_f32`]
#[inline(always)]
pub fn cos_f32(isa: Isa, x: f32) -> f32 {
    if !isa.has_fma() {
        return cos_f64(isa, f64::from(x)) as f32;
    }
    let t = isa.fma_f32(x, FRAC_1_PI_32, 0.5) + SHIFT_32;
    let (r, _) = reduce_f32(isa, x, (t - SHIFT_32) - 0.5);
    half_wave_f32(isa, r, t.to_bits())
}

/// `cos(x)`, where `x` is not [`rare_f64`]
#[inline(always)]
pub fn cos_f64(isa: Isa, x: f64) -> f64 {
    let t = isa.fma_f64(x, FRAC_1_PI_64, 0.5) + SHIFT_64;
    let (r, ..) = reduce_f64(isa, x, (t - SHIFT_64) - 0.5);
    half_wave_f64(isa, r, t.to_bits())
}

/// `tan(x)`, where `x` is not [`rare_f32`]
#[inline(always)]
pub fn tan_f32(isa: Isa, x: f32) -> f32 {
    if !isa.has_fma() {
        return tan_f64(isa, f64::from(x)) as f32;
    }
    let t = isa.fma_f32(x, FRAC_1_PI_32, SHIFT_32 / 2.0);
    quarter_tan_f32(isa, reduce_f32(isa, x, t - SHIFT_32 / 2.0), t.to_bits())
}

/// `tan(x)`, where `x` is not [`rare_f64`]
#[inline(always)]
pub fn tan_f64(isa: Isa, x: f64) -> f64 {
    let t = isa.fma_f64(x, FRAC_1_PI_64, SHIFT_64 / 2.0);
    quarter_tan_f64(isa, reduce_f64(isa, x, t - SHIFT_64 / 2.0), t.to_bits())
}

/// `sin(x)` for finite |x| > 1; NaN of infinity
#[cold]
pub fn sin_slow_f64(x: f64) -> f64 {
    Turns::of(x).map_or(f64::NAN, Turns::sin)
}

/// `cos(x)` for finite |x| > 1; NaN of infinity
#[cold]
pub fn cos_slow_f64(x: f64) -> f64 {
    Turns::of(x).map_or(f64::NAN, |turns| turns.quarter_on().sin())
}

/// `tan(x)` for finite |x| > 1; NaN of infinity
#[cold]
pub fn tan_slow_f64(x: f64) -> f64 {
    Turns::of(x).map_or(f64::NAN, Turns::tan)
}

/// `sin(x)` for finite |x| > 1; NaN of infinity
#[inline(always)]
pub fn sin_slow_f32(x: f32) -> f32 {
    sin_slow_f64(f64::from(x)) as f32
}

/// `cos(x)` for finite |x| > 1; NaN of infinity
#[inline(always)]
pub fn cos_slow_f32(x: f32) -> f32 {
    cos_slow_f64(f64::from(x)) as f32
}

/// `tan(x)` for finite |x| > 1; NaN of infinity
#[inline(always)]
pub fn tan_slow_f32(x: f32) -> f32 {
    tan_slow_f64(f64::from(x)) as f32
}

/// An angle without its whole turns, in units of 2^-128 turns.
#[derive(Clone, Copy)]
struct Turns(u128);

impl Turns {
    /// `x / (2 pi)` modulo 1; none for infinity.
    fn of(x: f64) -> Option<Turns> {
        if !x.is_finite() {
            return None;
        }
        // x = mantissa * 2^exponent: the bits before `at` make whole turns.
        let mantissa = u128::from(x.to_bits() & 0xf_ffff_ffff_ffff | 0x10_0000_0000_0000);
        let at = (x.to_bits() >> 52 & 0x7ff) as usize - (1075 - 64);
        let digits = |k: usize| {
            let two = u128::from(PER_TURN[at / 64 + k]) << 64 | u128::from(PER_TURN[at / 64 + k + 1]);
            two << (at % 64) >> 64
        };
        let turns = (mantissa * digits(0) << 64).wrapping_add(mantissa * digits(1)).wrapping_add(mantissa * digits(2) >> 64);
        Some(Turns(if x > 0.0 { turns } else { turns.wrapping_neg() }))
    }

    fn quarter_on(self) -> Turns {
        Turns(self.0.wrapping_add(1 << 126))
    }

    fn sin(self) -> f64 {
        // Counted from the next half turn.
        let (r, _) = fraction_of_pi((self.0 << 1) as i128);
        let turns = (self.0.wrapping_add(1 << 126) >> 127) as u64;
        simd(
            #[inline(always)]
            move |isa| half_wave_f64(isa, r, turns),
        )
    }

    fn tan(self) -> f64 {
        // Counted from the next quarter turn.
        let (r, low) = fraction_of_pi((self.0 << 2) as i128);
        let turns = (self.0.wrapping_add(1 << 125) >> 126) as u64;
        simd(
            #[inline(always)]
            move |isa| quarter_tan_f64(isa, (r / 2.0, 0.0, low / 2.0), turns),
        )
    }
}

/// `part * pi / 2^128` and what its rounding has lost.
fn fraction_of_pi(part: i128) -> (f64, f64) {
    let high = part as f64;
    let low = part.wrapping_sub(high as i128) as f64;
    let product = high * PI_64;
    let rest = high.mul_add(PI_64, -product) + (high * PI_FUSED_64[1] + low * PI_64);
    let (r, lost) = sum_f64(product, rest);
    (r / 2f64.powi(128), lost / 2f64.powi(128))
}

/// `1 / (2 pi)`, the point standing after the first word.
const PER_TURN: [u64; 21] = [
    0,
    0x28be_60db_9391_054a,
    0x7f09_d5f4_7d4d_3770,
    0x36d8_a566_4f10_e410,
    0x7f94_58ea_f7ae_f158,
    0x6dc9_1b8e_9093_74b8,
    0x0192_4bba_8274_6487,
    0x3f87_7ac7_2c4a_69cf,
    0xba20_8d7d_4bae_d121,
    0x3a67_1c09_ad17_df90,
    0x4e64_758e_60d4_ce7d,
    0x2721_17e2_ef7e_4a0e,
    0xc7fe_25ff_f781_6603,
    0xfbcb_c462_d682_9b47,
    0xdb4d_9fb3_c9f2_c26d,
    0xd3d1_8fd9_a797_fa8b,
    0x5d49_eeb1_faf9_7c5e,
    0xcf41_ce7d_e294_a4ba,
    0x9afe_d7ec_47e3_5742,
    0x1580_cc11_bf1e_daea,
    0xfc33_ef08_26bd_0d87,
];
