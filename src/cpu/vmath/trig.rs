//! Sine, cosine and tangent of every finite argument.
//!
//! `x = m pi + r`, where pi is a sum of parts and m is a multiple of one half. The result depends only on `r` and the parity of the turns.
//! That is accurate enough up to [`huge_angle_f32`] and [`huge_angle_f64`]. Beyond, the slow functions multiply by as many digits of `1 /
//! (2 pi)` as necessary.
//!
//! Largest errors in units in the last place, of f32 and f64 (all inputs of f32, some millions of f64): sin 1.53 and 1.92, cos 1.66 and
//! 1.87, tan 1.81 and 1.83.

use super::super::simd::{Isa, simd};
use super::{poly_f32, poly_f64};
use std::f32::consts::FRAC_1_PI as FRAC_1_PI_32;
use std::f64::consts::{FRAC_1_PI as FRAC_1_PI_64, PI as PI_64};

/// pi as a sum of parts. A fused product with a part is exact until the parts cancel, and then the difference is exact. No part is
/// negative: 0 times the parts, subtracted from -0, must give -0.
const PI_32: [f32; 3] = [3.141_592_5, 1.509_957_9e-7, 1.078_060_5e-14];
const PI_FUSED_64: [f64; 3] = [PI_64, 1.224_646_799_147_353e-16, 2.165_713_347_843_827_8e-32];
/// pi in parts of 33 bits, whose products with numbers of 20 bits are exact without fma.
const PI_SHORT_64: [f64; 4] = [3.141_592_653_468_251_2, 1.215_420_101_260_793_2e-10, 4.044_532_497_422_333e-21, 1.695_685_532_073_78e-31];

/// Adding these numbers rounds to an integer, whose parity is the lowest bit of the sum. Half of them rounds to halves.
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
const TAN_32: [f32; 7] = [3.333_335e-1, 1.333_266_6e-1, 5.406_050_8e-2, 2.127_594e-2, 1.085_802e-2, 5.546_462_5e-5, 4.395_461_6e-3];
/// `(r / tan(r) - 1) / r^2` on the same interval.
const COT_32: [f32; 4] = [-3.333_330_5e-1, -2.222_653_7e-2, -2.096_28e-3, -2.481_942_7e-4];
const TAN_TOP_64: [f64; 4] =
    [0.333_333_333_333_333_3, -0.021_442_803_724_069_648, 0.000_244_891_040_409_933_93, -1.789_651_954_853_610_2e-8];
const TAN_BOTTOM_64: [f64; 4] = [1.0, -0.464_328_411_172_208_63, 0.024_561_275_685_347_436, -0.000_256_048_715_685_977_4];

/// Returns true if x is too large for the fast functions.
#[inline(always)]
pub fn huge_angle_f32(_isa: Isa, x: f32) -> bool {
    x.abs() > 131_072.0
}

/// Returns true if x is too large for the fast functions.
#[inline(always)]
pub fn huge_angle_f64(isa: Isa, x: f64) -> bool {
    x.abs() > if isa.has_fma() { 1_073_741_824.0 } else { 1_048_576.0 }
}

/// `x - m pi`
#[inline(always)]
fn reduce_f32(isa: Isa, x: f32, m: f32) -> f32 {
    PI_32.iter().fold(x, |r, &part| isa.fma_f32(m, -part, r))
}

/// Returns `x - m pi`, the rounding error before the last step, which is not reliable near 0, and the rounding error of the last step.
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
    (if m == 0.0 { x } else { r }, 0.0, low)
}

/// Returns `a + b` and its rounding error.
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
    // The rounding error of z matters most where the slope is -0.13. As +0 it keeps a result of -0.
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

/// `tan(r)` for |r| <= pi / 4, or `-1 / tan(r)` if the lowest bit of `turns` is set. r is given with its rounding errors.
#[inline(always)]
fn quarter_tan_f64(isa: Isa, (r, lost, low): (f64, f64, f64), turns: u64) -> f64 {
    let odd = turns & 1 == 1;
    let z = r * r;
    let top = isa.fma_f64(z, isa.fma_f64(r, poly_f64(isa, z, TAN_TOP_64), lost), low);
    let bottom = poly_f64(isa, z, TAN_BOTTOM_64);
    // tan(r) = r + top / bottom = whole / bottom
    let whole = isa.fma_f64(r, bottom, top);
    let inverse = 1.0 / if odd { whole } else { bottom };
    // One Newton step corrects the errors of `whole` and of the quotient.
    let lost = residue_f64(isa, r, bottom, -whole) + top;
    let q = -bottom * inverse;
    let off = isa.fma_f64(q, lost, residue_f64(isa, q, whole, bottom));
    if odd { isa.fma_f64(-off, inverse, q) } else { isa.fma_f64(top, inverse, r).copysign(r) }
}

/// `a * b + c` with an exact product, for sums that are small.
#[inline(always)]
fn residue_f64(isa: Isa, a: f64, b: f64, c: f64) -> f64 {
    if isa.has_fma() {
        return isa.fma_f64(a, b, c);
    }
    let (a1, b1) = (f64::from_bits(a.to_bits() & UPPER), f64::from_bits(b.to_bits() & UPPER));
    let (a2, b2) = (a - a1, b - b1);
    ((a1 * b1 + c) + (a1 * b2 + a2 * b1)) + a2 * b2
}

/// The mask of the upper half of a mantissa. Products of two such halves are exact.
const UPPER: u64 = !0x7ff_ffff;

/// `sin(x)`, if `x` is not [`huge_angle_f32`]
#[inline(always)]
pub fn sin_f32(isa: Isa, x: f32) -> f32 {
    if !isa.has_fma() {
        return sin_f64(isa, f64::from(x)) as f32;
    }
    let t = isa.fma_f32(x, FRAC_1_PI_32, SHIFT_32);
    let r = reduce_f32(isa, x, t - SHIFT_32);
    half_wave_f32(isa, r, t.to_bits())
}

/// `sin(x)`, if `x` is not [`huge_angle_f64`]
#[inline(always)]
pub fn sin_f64(isa: Isa, x: f64) -> f64 {
    let t = isa.fma_f64(x, FRAC_1_PI_64, SHIFT_64);
    let (r, ..) = reduce_f64(isa, x, t - SHIFT_64);
    half_wave_f64(isa, r, t.to_bits())
}

/// `cos(x)`, if `x` is not [`huge_angle_f32`]
#[inline(always)]
pub fn cos_f32(isa: Isa, x: f32) -> f32 {
    if !isa.has_fma() {
        return cos_f64(isa, f64::from(x)) as f32;
    }
    let t = isa.fma_f32(x, FRAC_1_PI_32, 0.5) + SHIFT_32;
    let r = reduce_f32(isa, x, (t - SHIFT_32) - 0.5);
    half_wave_f32(isa, r, t.to_bits())
}

/// `cos(x)`, if `x` is not [`huge_angle_f64`]
#[inline(always)]
pub fn cos_f64(isa: Isa, x: f64) -> f64 {
    let t = isa.fma_f64(x, FRAC_1_PI_64, 0.5) + SHIFT_64;
    let (r, ..) = reduce_f64(isa, x, (t - SHIFT_64) - 0.5);
    half_wave_f64(isa, r, t.to_bits())
}

/// `tan(x)`, if `x` is not [`huge_angle_f32`]
#[inline(always)]
pub fn tan_f32(isa: Isa, x: f32) -> f32 {
    if !isa.has_fma() {
        return tan_f64(isa, f64::from(x)) as f32;
    }
    let t = isa.fma_f32(x, FRAC_1_PI_32, SHIFT_32 / 2.0);
    let m = t - SHIFT_32 / 2.0;
    let first = isa.fma_f32(m, -PI_32[0], x);
    let r = isa.fma_f32(m, -PI_32[1], first);
    // The rounding error of r, which is not reliable near 0, where it hardly matters. If x is -0, every term is -0.
    let added = isa.fma_f32(m, PI_32[1], r - first);
    let (z, third) = (r * r, m * -PI_32[2]);
    let low = isa.fma_f32(-z, added, third);
    let (tan, cot) = (poly_f32(isa, z, TAN_32), poly_f32(isa, z, COT_32));
    // Approximately -1 / (r + low), which does not wait for `low`. One Newton step corrects the error.
    let q = -1.0 / (r + third);
    let off = isa.fma_f32(q, low, isa.fma_f32(q, r, 1.0));
    // tan(r) or, after an odd number of quarter turns, -1 / tan(r)
    let (base, low, rest) = if t.to_bits() & 1 == 1 { (q, q * off, cot) } else { (r, low, tan) };
    base + isa.fma_f32(base * z, rest, low)
}

/// `tan(x)`, where `x` is not [`huge_angle_f64`]
#[inline(always)]
pub fn tan_f64(isa: Isa, x: f64) -> f64 {
    let t = isa.fma_f64(x, FRAC_1_PI_64, SHIFT_64 / 2.0);
    quarter_tan_f64(isa, reduce_f64(isa, x, t - SHIFT_64 / 2.0), t.to_bits())
}

/// `sin(x)`, if `x` is [`huge_angle_f64`]
#[cold]
pub fn sin_slow_f64(_: Isa, x: f64) -> f64 {
    Turns::of(x).map_or(f64::NAN, Turns::sin)
}

/// `cos(x)`, if `x` is [`huge_angle_f64`]
#[cold]
pub fn cos_slow_f64(_: Isa, x: f64) -> f64 {
    Turns::of(x).map_or(f64::NAN, |turns| turns.quarter_on().sin())
}

/// `tan(x)`, if `x` is [`huge_angle_f64`]
#[cold]
pub fn tan_slow_f64(_: Isa, x: f64) -> f64 {
    Turns::of(x).map_or(f64::NAN, Turns::tan)
}

/// `sin(x)`, if `x` is [`huge_angle_f32`]
#[inline(always)]
pub fn sin_slow_f32(isa: Isa, x: f32) -> f32 {
    sin_turns_f32(isa, turns_f32(x), x)
}

/// `cos(x)`, if `x` is [`huge_angle_f32`]
#[inline(always)]
pub fn cos_slow_f32(isa: Isa, x: f32) -> f32 {
    sin_turns_f32(isa, turns_f32(x).wrapping_add(1 << 62), x)
}

/// `tan(x)`, if `x` is [`huge_angle_f32`]
#[inline(always)]
pub fn tan_slow_f32(isa: Isa, x: f32) -> f32 {
    let turns = turns_f32(x);
    // The angle from the nearest quarter turn.
    let r = (turns << 2) as i64 as f64 * (PI_64 / 2f64.powi(65));
    let y = quarter_tan_f64(isa, (r, 0.0, 0.0), turns.wrapping_add(1 << 61) >> 62) as f32;
    if x.abs() == f32::INFINITY { f32::NAN } else { y }
}

#[inline(always)]
fn sin_turns_f32(isa: Isa, turns: u64, x: f32) -> f32 {
    // The angle from the nearest half turn.
    let r = (turns << 1) as i64 as f64 * (PI_64 / 2f64.powi(64));
    let y = half_wave_f64(isa, r, turns.wrapping_add(1 << 62) >> 63) as f32;
    if x.abs() == f32::INFINITY { f32::NAN } else { y }
}

/// Returns `x / (2 pi)` modulo 1, in units of 2^-64. There are no branches, so that loops over it become vector code.
#[inline(always)]
fn turns_f32(x: f32) -> u64 {
    let mantissa = u64::from(x.to_bits() & 0x7f_ffff | 0x80_0000);
    let (high, low) = TURN_DIGITS_32[(x.to_bits() >> 23 & 127) as usize];
    let turns = mantissa.wrapping_mul(high).wrapping_add((mantissa * low) >> 32);
    if x > 0.0 { turns } else { turns.wrapping_neg() }
}

/// The 64 digits of `1 / (2 pi)` that matter for mantissas of f32, and the 32 digits after them. The index is the lower bits of the
/// exponent, for exponents from 2^1 on.
const TURN_DIGITS_32: [(u64, u64); 128] = {
    let mut digits = [(0, 0); 128];
    let mut k = 0;
    while k < 128 {
        // The mantissa counts units of 2^(k - 22).
        let at = 64 + k - 22;
        digits[k] = (digits_per_turn(at), digits_per_turn(at + 64) >> 32);
        k += 1;
    }
    digits
};

/// Returns 64 bits of [`PER_TURN`], from the given bit on.
#[inline(always)]
const fn digits_per_turn(at: usize) -> u64 {
    let two = (PER_TURN[at / 64] as u128) << 64 | PER_TURN[at / 64 + 1] as u128;
    (two << (at % 64) >> 64) as u64
}

/// An angle without its whole turns, in units of 2^-128 turns.
#[derive(Clone, Copy)]
struct Turns(u128);

impl Turns {
    /// Returns `x / (2 pi)` modulo 1, or `None` if x is not finite.
    fn of(x: f64) -> Option<Turns> {
        if !x.is_finite() {
            return None;
        }
        // x = mantissa * 2^exponent. The bits before `at` give whole turns.
        let mantissa = u128::from(x.to_bits() & 0xf_ffff_ffff_ffff | 0x10_0000_0000_0000);
        let at = (x.to_bits() >> 52 & 0x7ff) as usize - (1075 - 64);
        let digits = |k: usize| u128::from(digits_per_turn(at + 64 * k));
        let turns = ((mantissa * digits(0)) << 64).wrapping_add(mantissa * digits(1)).wrapping_add((mantissa * digits(2)) >> 64);
        Some(Turns(if x > 0.0 { turns } else { turns.wrapping_neg() }))
    }

    fn quarter_on(self) -> Turns {
        Turns(self.0.wrapping_add(1 << 126))
    }

    fn sin(self) -> f64 {
        // The angle from the nearest half turn.
        let (r, _) = fraction_of_pi((self.0 << 1) as i128);
        let turns = (self.0.wrapping_add(1 << 126) >> 127) as u64;
        simd(
            #[inline(always)]
            move |isa| half_wave_f64(isa, r, turns),
        )
    }

    fn tan(self) -> f64 {
        // The angle from the nearest quarter turn.
        let (r, low) = fraction_of_pi((self.0 << 2) as i128);
        let turns = (self.0.wrapping_add(1 << 125) >> 126) as u64;
        simd(
            #[inline(always)]
            move |isa| quarter_tan_f64(isa, (r / 2.0, 0.0, low / 2.0), turns),
        )
    }
}

/// Returns `part * pi / 2^128` and its rounding error.
fn fraction_of_pi(part: i128) -> (f64, f64) {
    let high = part as f64;
    let low = part.wrapping_sub(high as i128) as f64;
    let product = high * PI_64;
    let rest = high.mul_add(PI_64, -product) + (high * PI_FUSED_64[1] + low * PI_64);
    let (r, lost) = sum_f64(product, rest);
    (r / 2f64.powi(128), lost / 2f64.powi(128))
}

/// `1 / (2 pi)`. The first word is the integer part.
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

#[cfg(test)]
mod tests {
    use super::super::check::{check_f32, check_f32_at, check_f64, check_std};
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    /// Combines a fast and a slow function, as `map1_rare` does.
    macro_rules! whole {
        ($fast:ident, $huge:ident, $slow:ident) => {
            #[inline(always)]
            |isa, x| if $huge(isa, x) { $slow(isa, x) } else { $fast(isa, x) }
        };
    }

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(1.6, whole!(sin_f32, huge_angle_f32, sin_slow_f32), f64::sin);
        check_f32(1.7, whole!(cos_f32, huge_angle_f32, cos_slow_f32), f64::cos);
        check_f32(1.9, whole!(tan_f32, huge_angle_f32, tan_slow_f32), f64::tan);
    }

    /// Near quarter turns the results are near 0 or infinite, and the reduced angle is very small.
    #[test]
    fn f32_errors_stay_below_their_limits_beside_quarter_turns() {
        let beside = || (1..=100_000).map(|k| (f64::from(k) * FRAC_PI_2) as f32).flat_map(|x| [x.next_down(), x, x.next_up(), -x]);
        check_f32_at(beside(), 1.6, whole!(sin_f32, huge_angle_f32, sin_slow_f32), f64::sin);
        check_f32_at(beside(), 1.7, whole!(cos_f32, huge_angle_f32, cos_slow_f32), f64::cos);
        check_f32_at(beside(), 1.9, whole!(tan_f32, huge_angle_f32, tan_slow_f32), f64::tan);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(SIN, 1.9, whole!(sin_f64, huge_angle_f64, sin_slow_f64));
        check_f64(COS, 1.9, whole!(cos_f64, huge_angle_f64, cos_slow_f64));
        check_f64(TAN, 1.9, whole!(tan_f64, huge_angle_f64, tan_slow_f64));
    }

    #[test]
    fn f64_agrees_with_the_standard_library() {
        check_std(whole!(sin_f64, huge_angle_f64, sin_slow_f64), f64::sin);
        check_std(whole!(cos_f64, huge_angle_f64, cos_slow_f64), f64::cos);
        check_std(whole!(tan_f64, huge_angle_f64, tan_slow_f64), f64::tan);
    }

    /// Checks the results at 0, -0, infinity, -infinity and NaN.
    fn check_ends(f: impl Fn(Isa, f64) -> f64 + Copy, at_zero: [f64; 2]) {
        let at = |x: f64| simd(move |isa| f(isa, x));
        assert_eq!([at(0.0), at(-0.0)].map(f64::to_bits), at_zero.map(f64::to_bits));
        assert!([f64::INFINITY, f64::NEG_INFINITY, f64::NAN].into_iter().all(|x| at(x).is_nan()));
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_ends(whole!(sin_f64, huge_angle_f64, sin_slow_f64), [0.0, -0.0]);
        check_ends(whole!(cos_f64, huge_angle_f64, cos_slow_f64), [1.0, 1.0]);
        check_ends(whole!(tan_f64, huge_angle_f64, tan_slow_f64), [0.0, -0.0]);
    }

    const SIN: &[(u64, u64, f64)] = &[
        (0xc022_b97a_79de_71af, 0xbfaf_fcaf_40f8_541c, 0.41),
        (0x3ff9_1296_81b9_bf3e, 0x3fef_fff1_307b_0e56, 0.35),
        (0x4012_e1c3_93b9_cc79, 0xbfef_ffbb_7b13_a4e4, 0.34),
        (0xbff9_4010_0572_7162, 0xbfef_ffc7_725d_7847, -0.34),
        (0xc13a_02ec_78de_31ab, 0x3fcf_b686_c55a_d080, -0.43),
        (0xc142_3266_ed6e_f5b2, 0x3fef_ffff_ff70_ed86, 0.40),
        (0xc12d_9c8d_78ed_abff, 0x3fef_ffff_ffff_5446, -0.39),
        (0xc128_f090_22b2_c5cc, 0xbfef_ffff_fffe_a1a5, -0.38),
        (0x3ffb_5d23_29a5_aaf4, 0x3fef_b07c_5869_032e, 0.12),
        (0xbffb_2f92_e065_5514, 0xbfef_bca6_3e87_c8c4, 0.20),
        (0x411d_781d_97e4_498d, 0xbfef_c27e_877f_817a, 0.13),
        (0x412b_e0c0_b854_d8c1, 0xbfef_d8d9_1f23_f876, -0.14),
        (0x7506_ac5b_262c_a1ff, 0x3ff0_0000_0000_0000, -0.00),
        (0x4480_f0cf_064d_d592, 0xbfeb_453a_b76b_f397, 0.06),
        (0x7fef_ffff_ffff_ffff, 0x3f74_52fc_98b3_4e97, -0.29),
        (0xfe37_e43c_8800_759c, 0x3fea_2c16_b010_e385, 0.43),
        (0x7e70_0000_0000_0000, 0xbfc4_60b8_ae1c_886e, 0.30),
        (0x41cd_cd65_0000_0000, 0x3fe1_778c_ae83_c69b, 0.06),
        (0x41e6_5a0b_c000_0000, 0x3fef_958b_458c_c91b, -0.21),
        (0xc130_0001_8000_0000, 0xbfee_dfd3_04b9_53b9, -0.09),
        (0x4009_21fb_5444_2d18, 0x3ca1_a626_3314_5c07, -0.12),
        (0x3ff9_21fb_5444_2d18, 0x3ff0_0000_0000_0000, -0.00),
        (0x4076_3000_0000_0000, 0xbeff_9bd0_307d_1de3, -0.38),
        (0x01a5_6e1f_c2f8_f359, 0x01a5_6e1f_c2f8_f359, 0.00),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.00),
        (0x41d0_0000_0020_0000, 0xbfc5_1133_4524_78d7, 0.22),
        (0x3fe9_21fb_5444_2d18, 0x3fe6_a09e_667f_3bcc, 0.37),
        (0x44a9_79c0_0000_0000, 0xbfd7_e4ea_2522_99b9, -0.48),
    ];
    const COS: &[(u64, u64, f64)] = &[
        (0xc01e_69de_dc30_7384, 0x3fcf_bdbd_9dbb_9e46, -0.45),
        (0xc01e_6807_ac5f_160f, 0x3fcf_f6c9_465e_3341, -0.43),
        (0x4020_3577_8040_755d, 0xbfcf_b915_49e6_71eb, 0.43),
        (0xc01e_68c0_93ef_2cac, 0x3fcf_e067_4468_896b, -0.43),
        (0x41ad_0582_aa82_a582, 0xbfcf_b892_87f6_f288, 0.45),
        (0xc1cb_2c84_29b0_f084, 0x3fcf_bb0e_97d4_1c9b, 0.44),
        (0xc1c3_ebcd_560b_a6b2, 0xbfcf_c8bd_1066_3c7f, 0.44),
        (0xc1cd_7070_a3c5_ec62, 0x3fcf_ddc9_1e62_a8d3, -0.43),
        (0x4022_abb6_f40e_6c2b, 0xbfef_df49_66fc_bc68, 0.13),
        (0xc023_1408_5d49_2db0, 0xbfef_ca80_3aa9_ed7e, 0.19),
        (0xc120_0fbb_0405_f660, 0xbfef_e2b0_1d0f_b752, -0.15),
        (0xc117_2549_a831_7a88, 0xbfef_dc51_04a7_f616, -0.20),
        (0x7506_ac5b_262c_a1ff, 0xbc21_4ae7_2e6b_a22f, -0.05),
        (0x4480_f0cf_064d_d592, 0x3fe0_be2c_ef01_c8f4, -0.42),
        (0x7fef_ffff_ffff_ffff, 0xbfef_ffe6_2ecf_ab75, 0.23),
        (0xfe37_e43c_8800_759c, 0xbfe2_6990_22ad_c4c1, -0.24),
        (0x7e70_0000_0000_0000, 0x3fef_9785_160c_8815, 0.09),
        (0x41cd_cd65_0000_0000, 0x3fea_cff8_c736_4234, -0.49),
        (0x41e6_5a0b_c000_0000, 0xbfc4_917f_746f_a4f0, 0.46),
        (0xc130_0001_8000_0000, 0xbfd0_d366_9fe6_c521, 0.02),
        (0x4009_21fb_5444_2d18, 0xbff0_0000_0000_0000, -0.00),
        (0x3ff9_21fb_5444_2d18, 0x3c91_a626_3314_5c07, -0.12),
        (0x4076_3000_0000_0000, 0xbfef_ffff_ffc1_8e4c, -0.10),
        (0x01a5_6e1f_c2f8_f359, 0x3ff0_0000_0000_0000, 0.00),
        (0x0000_0000_0000_0001, 0x3ff0_0000_0000_0000, 0.00),
        (0x41d0_0000_0020_0000, 0x3fef_9048_17b5_69bf, -0.50),
        (0x3fe9_21fb_5444_2d18, 0x3fe6_a09e_667f_3bcd, -0.24),
        (0x44a9_79c0_0000_0000, 0x3fed_afa6_c86a_d469, -0.19),
    ];
    const TAN: &[(u64, u64, f64)] = &[
        (0x41ca_d933_af0d_4ca7, 0xbfed_f8bb_dbff_c636, -0.32),
        (0xc1a8_03ac_fc28_f788, 0x3fed_6dff_8ef2_8fc9, -0.35),
        (0xc1cc_8d6b_6c65_c443, 0x3fef_c424_c352_4b8d, -0.39),
        (0xc1c2_6533_d4be_9469, 0x3fef_19e1_f7ff_c006, -0.39),
        (0x40fe_176e_0c3a_0258, 0x3fef_3dd9_dcf4_78a9, -0.18),
        (0xc127_018c_3ba0_616a, 0x3fed_3644_9fc4_5ef2, -0.27),
        (0xc11d_0b73_50e7_df14, 0x3fef_711c_2366_f53e, -0.35),
        (0xc11c_31cb_feed_a9f8, 0x3fef_f6b3_c74e_973f, -0.36),
        (0xc11d_a842_8d17_5669, 0xbfef_fd64_2859_2324, -0.28),
        (0xc115_564f_29d5_0527, 0xbfef_fbbd_be4a_a382, -0.34),
        (0xc13a_4fb6_7108_5d89, 0xbfef_4410_0ed6_5123, 0.46),
        (0xc11f_06f6_fe2a_885b, 0x3fef_e69c_ae00_b427, 0.41),
        (0x7506_ac5b_262c_a1ff, 0xc3bd_9ba9_a797_5636, -0.36),
        (0x4480_f0cf_064d_d592, 0xbffa_0f79_c1b6_b257, 0.46),
        (0x7fef_ffff_ffff_ffff, 0xbf74_530c_fe72_9484, -0.28),
        (0xfe37_e43c_8800_759c, 0xbff6_be41_1f37_ac77, -0.34),
        (0x7e70_0000_0000_0000, 0xbfc4_a41d_560c_08cc, -0.10),
        (0x41cd_cd65_0000_0000, 0x3fe4_d8b2_49e3_dba7, -0.32),
        (0x41e6_5a0b_c000_0000, 0xc018_91b2_89d2_4f04, -0.06),
        (0xc130_0001_8000_0000, 0x400d_5bea_900d_6e49, 0.22),
        (0x4009_21fb_5444_2d18, 0xbca1_a626_3314_5c07, -0.12),
        (0x3ff9_21fb_5444_2d18, 0x434d_0296_7c31_cdb5, -0.12),
        (0x4076_3000_0000_0000, 0x3eff_9bd0_30ba_cc16, 0.09),
        (0x01a5_6e1f_c2f8_f359, 0x01a5_6e1f_c2f8_f359, 0.00),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.00),
        (0x41d0_0000_0020_0000, 0xbfc5_5bc4_5604_bd22, -0.09),
        (0x3fe9_21fb_5444_2d18, 0x3fef_ffff_ffff_ffff, 0.45),
        (0x44a9_79c0_0000_0000, 0xbfd9_c1b1_43fe_7c77, 0.14),
    ];
}
