//! Elementary functions without branches, calls or tables: loops over them become vector code at every level of [`simd`](super::simd).
//!
//! Special values are C99's. Largest errors in units in the last place, subnormal results included, with and without fma (all inputs of f32,
//! eight million of f64): exp 0.99, log 0.88, tanh 1.35, sigmoid 1.44.

pub mod erf;
pub mod gamma;

use super::simd::Isa;
use std::f32::consts::LOG2_E as LOG2_E_32;
use std::f64::consts::LOG2_E as LOG2_E_64;

// ln 2 in two parts; the high one is short, so that its product with any exponent is exact even without fma. Both are positive: an infinite
// exponent, which is how log makes its infinity, must not meet its opposite.
const LN2_HI_32: f32 = 0.693_145_75;
const LN2_LO_32: f32 = 1.428_606_8e-6;
const LN2_HI_64: f64 = 0.693_147_180_369_123_8;
const LN2_LO_64: f64 = 1.908_214_929_270_587_7e-10;

// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits. Twice the exponent bias comes on top, so that each half of such an
// integer, shifted into the exponent, is a power of two: 2^n as one factor would overflow or be subnormal at the ends of the range.
const SHIFT_32: f32 = 12_582_912.0 + 254.0;
const SHIFT_64: f64 = 6_755_399_441_055_744.0 + 2046.0;

/// `(exp(r) - 1 - r) / r^2` on |r| <= ln 2 / 2.
const EXP_32: [f32; 6] = [0.5, 0.166_666_66, 4.166_649_3e-2, 8.333_544e-3, 1.393_233_9e-3, 1.976_335_6e-4];
const EXP_64: [f64; 10] = [
    5.000_000_000_000_011e-1,
    1.666_666_666_666_645_5e-1,
    4.166_666_666_652_804_6e-2,
    8.333_333_333_474_24e-3,
    1.388_888_894_398_462_6e-3,
    1.984_126_954_162_418_4e-4,
    2.480_149_282_902_828_7e-5,
    2.755_756_009_143_523_7e-6,
    2.763_032_717_146_195_3e-7,
    2.500_729_757_458_745_2e-8,
];

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

/// `(log(1 + f) - f + f^2 / 2) / f^3` on sqrt(1/2) <= 1 + f < sqrt(2).
const LOG_32: [f32; 9] = [
    3.333_331_3e-1,
    -2.500_001e-1,
    2.000_207_3e-1,
    -1.666_799_6e-1,
    1.422_032_6e-1,
    -1.240_602_96e-1,
    1.188_358_96e-1,
    -1.167_148_9e-1,
    6.750_943e-2,
];
/// `(2 atanh(s) / s - 2) / s^2` as a polynomial of s^2, on the s of the same interval.
const LOG_64: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_956e-1,
    2.857_142_874_359_218e-1,
    2.222_219_844_275_105_7e-1,
    1.818_357_146_396_559_5e-1,
    1.531_385_877_225_739e-1,
    1.479_795_895_913_975e-1,
];

#[inline(always)]
fn poly_f32<const N: usize>(isa: Isa, x: f32, c: [f32; N]) -> f32 {
    let mut p = c[N - 1];
    for k in (0..N - 1).rev() {
        p = isa.fma_f32(p, x, c[k]);
    }
    p
}

#[inline(always)]
fn poly_f64<const N: usize>(isa: Isa, x: f64, c: [f64; N]) -> f64 {
    let mut p = c[N - 1];
    for k in (0..N - 1).rev() {
        p = isa.fma_f64(p, x, c[k]);
    }
    p
}

/// `exp(x) = (1 + p) * a * b`: returns p and the powers of two a and b. For |x| < 104.
#[inline(always)]
fn exp_parts_f32(isa: Isa, x: f32) -> (f32, f32, f32) {
    let t = isa.fma_f32(x, LOG2_E_32, SHIFT_32);
    let n = t - SHIFT_32;
    let r = isa.fma_f32(n, -LN2_LO_32, isa.fma_f32(n, -LN2_HI_32, x));
    let p = isa.fma_f32(r * r, poly_f32(isa, r, EXP_32), r);
    let half = t.to_bits() >> 1;
    let rest = t.to_bits().wrapping_sub(half);
    (p, f32::from_bits(half << 23), f32::from_bits(rest << 23))
}

#[inline(always)]
fn exp_parts_f64(isa: Isa, x: f64) -> (f64, f64, f64) {
    let t = isa.fma_f64(x, LOG2_E_64, SHIFT_64);
    let n = t - SHIFT_64;
    let r = isa.fma_f64(n, -LN2_LO_64, isa.fma_f64(n, -LN2_HI_64, x));
    let p = isa.fma_f64(r * r, poly_f64(isa, r, EXP_64), r);
    let half = t.to_bits() >> 1;
    let rest = t.to_bits().wrapping_sub(half);
    (p, f64::from_bits(half << 52), f64::from_bits(rest << 52))
}

/// `exp(x)`
#[inline(always)]
pub fn exp_f32(isa: Isa, x: f32) -> f32 {
    // Beyond these ends the result is infinite or rounds to zero. The comparisons let NaN pass.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    let (p, a, b) = exp_parts_f32(isa, x);
    (1.0 + p) * a * b
}

/// `exp(x)`
#[inline(always)]
pub fn exp_f64(isa: Isa, x: f64) -> f64 {
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (p, a, b) = exp_parts_f64(isa, x);
    (1.0 + p) * a * b
}

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

/// `1 / (1 + exp(-x))`
#[inline(always)]
pub fn sigmoid_f32(isa: Isa, x: f32) -> f32 {
    let x = if x > 104.0 { 104.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    // 1 / (1 + (1 + p) a b) with both sides divided by b: nothing overflows, and a subnormal result is rounded once.
    let (p, a, b) = exp_parts_f32(isa, -x);
    let c = f32::from_bits(0x7f00_0000_u32.wrapping_sub(b.to_bits()));
    // The reciprocal doubles what the rounding of the sum loses: find out how much that is, and correct the quotient by it.
    let sum = a + c;
    let lost = if a < c { a - (sum - c) } else { c - (sum - a) };
    let d = isa.fma_f32(a, p, sum);
    let lost = isa.fma_f32(a, p, sum - d) + lost;
    let q = c / d;
    isa.fma_f32(-q, q * (lost * b), q)
}

/// `1 / (1 + exp(-x))`
#[inline(always)]
pub fn sigmoid_f64(isa: Isa, x: f64) -> f64 {
    let x = if x > 746.0 { 746.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (p, a, b) = exp_parts_f64(isa, -x);
    let c = f64::from_bits(0x7fe0_0000_0000_0000_u64.wrapping_sub(b.to_bits()));
    let sum = a + c;
    let lost = if a < c { a - (sum - c) } else { c - (sum - a) };
    let d = isa.fma_f64(a, p, sum);
    let lost = isa.fma_f64(a, p, sum - d) + lost;
    let q = c / d;
    isa.fma_f64(-q, q * (lost * b), q)
}

const SQRT_HALF_32: u32 = 0x3f35_04f3;
const SQRT_HALF_64: u64 = 0x3fe6_a09e_667f_3bcd;

/// `x = 2^e (1 + f)` with sqrt(1/2) <= 1 + f < sqrt(2), for positive normal x.
#[inline(always)]
pub(super) fn log_parts_f32(x: f32) -> (f32, f32) {
    let t = x.to_bits().wrapping_add(0x3f80_0000 - SQRT_HALF_32);
    let e = (t >> 23) as i32 - 127;
    (e as f32, f32::from_bits((t & 0x7f_ffff).wrapping_add(SQRT_HALF_32)) - 1.0)
}

#[inline(always)]
pub(super) fn log_parts_f64(x: f64) -> (f64, f64) {
    let t = x.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - SQRT_HALF_64);
    // No vector conversion from 64-bit integers before AVX-512: as the low bits of 2^52 + e it is a subtraction.
    let e = f64::from_bits((t >> 52) | 0x4330_0000_0000_0000) - (4_503_599_627_370_496.0 + 1023.0);
    (e, f64::from_bits((t & 0xf_ffff_ffff_ffff).wrapping_add(SQRT_HALF_64)) - 1.0)
}

/// `log(x)`
#[inline(always)]
pub fn log_f32(isa: Isa, x: f32) -> f32 {
    let tiny = x < f32::MIN_POSITIVE;
    let (e, f) = log_parts_f32(if tiny { x * 33_554_432.0 } else { x });
    // -inf and NaN enter as exponents: selected last, the compiler would classify x in a dozen integer instructions.
    let down = if tiny { 25.0 } else { 0.0 };
    let down = if x == 0.0 { f32::INFINITY } else { down };
    let e = e - if x >= 0.0 { down } else { f32::NAN };
    let f2 = f * f;
    let p = isa.fma_f32(f2, -0.5, poly_f32(isa, f, LOG_32) * (f2 * f));
    let r = isa.fma_f32(e, LN2_HI_32, f + isa.fma_f32(e, LN2_LO_32, p));
    if x == f32::INFINITY { x } else { r }
}

/// `log(x)`
#[inline(always)]
pub fn log_f64(isa: Isa, x: f64) -> f64 {
    let tiny = x < f64::MIN_POSITIVE;
    let (e, f) = log_parts_f64(if tiny { x * 18_014_398_509_481_984.0 } else { x });
    let down = if tiny { 54.0 } else { 0.0 };
    let down = if x == 0.0 { f64::INFINITY } else { down };
    let e = e - if x >= 0.0 { down } else { f64::NAN };
    let s = f / (2.0 + f);
    let z = s * s;
    let h = 0.5 * f * f;
    let p = isa.fma_f64(s, isa.fma_f64(z, poly_f64(isa, z, LOG_64), h), e * LN2_LO_64);
    let r = isa.fma_f64(e, LN2_HI_64, f - (h - p));
    if x == f64::INFINITY { x } else { r }
}

#[cfg(test)]
mod tests {
    use super::super::simd::simd;
    use super::*;

    /// Units in the last place of f32 between `got` and `exact`, infinity counting as 2^128.
    fn ulps(got: f32, exact: f64) -> f64 {
        let end = 2f64.powi(128);
        let exponent = ((exact.to_bits() >> 52) as i32 & 0x7ff) - 1023;
        let ulp = 2f64.powi(exponent.clamp(-126, 127) - 23);
        (f64::from(got).clamp(-end, end) - exact.clamp(-end, end)).abs() / ulp
    }

    /// A sweep over all of f32, every sign, exponent and special value.
    fn check_f32(limit: f64, f: impl Fn(Isa, f32) -> f32 + Copy, exact: fn(f64) -> f64) {
        for bits in (0..=u32::MAX).step_by(16_411).chain([0x7f80_0000, 0xff80_0000, 0x8000_0000, 1, 0x8000_0001]) {
            let x = f32::from_bits(bits);
            let (got, exact) = (
                simd(
                    #[inline(always)]
                    move |isa| f(isa, x),
                ),
                exact(f64::from(x)),
            );
            let same = got.is_nan() && exact.is_nan();
            assert!(
                same || (ulps(got, exact) <= limit && got.is_sign_negative() == exact.is_sign_negative()),
                "{x:e}: {got:e}, not {exact:e}"
            );
        }
    }

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(1.0, exp_f32, f64::exp);
        check_f32(0.9, log_f32, f64::ln);
        check_f32(1.4, tanh_f32, f64::tanh);
        check_f32(1.5, sigmoid_f32, |x| 1.0 / (1.0 + (-x).exp()));
    }

    /// Points (x, y, rest): the exact result is y + rest units in its last place. Half of them are the worst that random search has found.
    fn check_f64(points: &[(u64, u64, f64)], limit: f64, f: impl Fn(Isa, f64) -> f64 + Copy) {
        for &(x, exact, rest) in points {
            let got = simd(
                #[inline(always)]
                move |isa| f(isa, f64::from_bits(x)),
            );
            let error = got.to_bits().wrapping_sub(exact) as i64 as f64 - rest;
            assert!(error.abs() <= limit, "{:e}: {got:e} is off by {error}", f64::from_bits(x));
        }
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(EXP, 1.0, exp_f64);
        check_f64(LOG, 0.9, log_f64);
        check_f64(TANH, 1.4, tanh_f64);
        check_f64(SIGMOID, 1.4, sigmoid_f64);
    }

    #[test]
    fn f64_agrees_with_the_standard_library() {
        let close = |got: f64, exact: f64, x: f64| {
            let apart = got.to_bits().abs_diff(exact.to_bits());
            assert!(apart <= 2 || (got.is_nan() && exact.is_nan()), "{x:e}: {got:e}, not {exact:e}");
        };
        // Steps that visit every exponent, with bits moving in all of the mantissa.
        for bits in (0..=u64::MAX).step_by(0x0000_4001_2345_6789) {
            let x = f64::from_bits(bits);
            close(simd(move |isa| exp_f64(isa, x)), x.exp(), x);
            close(simd(move |isa| log_f64(isa, x)), x.ln(), x);
            close(simd(move |isa| tanh_f64(isa, x)), x.tanh(), x);
        }
    }

    /// The results at 0, -0, inf, -inf, NaN and the largest values of both signs.
    fn check_special(f: impl Fn(Isa, f64) -> f64 + Copy, expected: [f64; 7]) {
        let inputs = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN];
        for (x, y) in inputs.into_iter().zip(expected) {
            let got = simd(move |isa| f(isa, x));
            assert!(got.to_bits() == y.to_bits() || (got.is_nan() && y.is_nan()), "at {x}: {got}, not {y}");
        }
    }

    #[test]
    fn f64_special_values_are_those_of_c99() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        check_special(exp_f64, [1.0, 1.0, inf, 0.0, nan, inf, 0.0]);
        check_special(log_f64, [-inf, -inf, inf, nan, nan, f64::MAX.ln(), nan]);
        check_special(tanh_f64, [0.0, -0.0, 1.0, -1.0, nan, 1.0, -1.0]);
        check_special(sigmoid_f64, [0.5, 0.5, 1.0, 0.0, nan, 1.0, 0.0]);
    }

    const EXP: &[(u64, u64, f64)] = &[
        (0x4084_ce2d_7849_5af4, 0x7bf6_b9c9_0115_eddb, 0.04),
        (0x3fd6_f3d0_2a24_ac27, 0x3ff6_e6e2_f266_5371, 0.05),
        (0xc085_7f21_c437_670e, 0x01e7_f4ef_b512_779f, -0.05),
        (0x3fd6_c3ed_f01c_d2b2, 0x3ff6_d5c6_d702_9f37, 0.05),
        (0xc081_6726_8617_0b03, 0x0db7_c94d_8cee_0d09, -0.05),
        (0x3fd7_0e97_6973_90d0, 0x3ff6_f07a_0ca5_25eb, 0.05),
        (0xc060_5475_ade4_125e, 0x3427_0f03_48af_3b6f, 0.05),
        (0x4070_d53e_82a7_e9d1, 0x5837_8d83_2f88_055f, -0.06),
        (0xc07d_0721_944b_66e1, 0x160e_d5bf_55d0_4ec2, -0.30),
        (0xc080_1bd5_96ff_115b, 0x1173_fb39_81b1_2fee, -0.27),
        (0x3fb7_c100_9290_e734, 0x3ff1_8e40_f066_d8e9, 0.24),
        (0xc086_4f03_8d34_4fd9, 0x0000_1112_7ab6_de50, -0.22),
        (0xbf8a_900b_b449_ad34, 0x3fef_966f_7371_4e09, -0.19),
        (0xc086_f841_7489_4260, 0x0000_0000_0000_2f9b, -0.17),
        (0xc069_dbc2_652a_fab9, 0x2d47_7aae_3ea3_4031, -0.06),
        (0x4083_e000_e0ed_d8f1, 0x7947_8051_3c5a_d6db, -0.06),
        (0xc087_4910_d52d_3051, 0x0000_0000_0000_0001, -0.50),
        (0x4086_2e42_fefa_39ef, 0x7fef_ffff_ffff_ff2a, 0.11),
    ];
    const LOG: &[(u64, u64, f64)] = &[
        (0x3ff6_933e_968b_e791, 0x3fd6_0863_cbb5_103b, 0.20),
        (0x3fe4_1968_5613_b2eb, 0xbfdd_c36f_b313_ea87, 0.23),
        (0x3fe6_7cef_f969_ff14, 0xbfd6_937e_f48d_86ef, 0.23),
        (0x3ff6_56c2_2b8f_7a2d, 0x3fd5_5c02_8f47_9a5b, 0.23),
        (0x3ff6_77c1_e97e_3f7d, 0x3fd5_ba47_6bc9_af7b, 0.23),
        (0x3fe6_9c7e_563d_eaa1, 0xbfd6_39ef_0f0a_8d2f, -0.23),
        (0x3ff4_8803_73c0_5aa0, 0x3fcf_eb17_b98c_cf01, -0.23),
        (0x3ff6_8c6e_9f01_d84b, 0x3fd5_f510_c7e7_f7c9, -0.23),
        (0x1553_1887_0a5e_c959, 0xc07d_88ca_bd41_ccad, -0.32),
        (0x3fef_ffff_967c_7d85, 0xbe8a_60e0_ca3d_24f7, 0.29),
        (0x365f_fbca_b4c9_f5e8, 0xc05a_8354_7feb_3d50, 0.27),
        (0x3fef_ffff_ffff_ffff, 0xbca0_0000_0000_0000, 0.25),
        (0x3ffd_3c07_e20d_a003, 0x3fe3_49d0_abed_c090, -0.23),
        (0x3ff1_86f8_357e_3854, 0x3fb7_56b2_b080_a3b6, -0.20),
        (0x3ff6_973e_446d_ff3e, 0x3fd6_13b8_e511_d83d, -0.23),
        (0x0000_0000_0000_0001, 0xc087_4385_446d_71c3, 0.39),
        (0x7fef_ffff_ffff_ffff, 0x4086_2e42_fefa_39ef, 0.21),
        (0x3fef_ffff_ffff_ffff, 0xbca0_0000_0000_0000, 0.25),
        (0x3ff0_0000_0000_0001, 0x3caf_ffff_ffff_ffff, 0.00),
    ];
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
    const SIGMOID: &[(u64, u64, f64)] = &[
        (0xc030_fe9a_a798_d2fe, 0x3e66_58ff_1fb2_8a39, 0.33),
        (0xc086_1ae7_2117_fbcd, 0x0026_7d0e_3688_d5ae, -0.31),
        (0xc035_d5e6_5715_ed5a, 0x3df6_9875_4daf_e14e, 0.31),
        (0xc00e_ad5c_03ba_cf0e, 0x3f95_a8d6_0081_418a, -0.30),
        (0xc02f_4761_93fa_73fc, 0x3e85_a975_b6e2_6055, -0.30),
        (0xc039_50b0_84f8_e83e, 0x3da6_488b_549e_df5f, 0.30),
        (0xc021_5b08_56be_830c, 0x3f26_5235_9330_2e30, 0.30),
        (0xc031_011b_f424_21f6, 0x3e66_2149_7ed0_12cc, 0.30),
        (0xc086_f80a_1b91_224f, 0x0000_0000_0000_30e9, -0.33),
        (0xbff3_eb9e_bc97_47f6, 0x3fcc_9db3_331a_66a7, 0.29),
        (0xc085_f49a_8212_7a55, 0x0095_14d0_183b_edac, 0.26),
        (0xbff9_5314_44ef_b9fe, 0x3fc5_cfb9_14cd_35f6, -0.23),
        (0x3ff6_7852_f0b7_6a34, 0x3fe9_b12b_e288_1530, 0.20),
        (0x3fcb_e7ce_8af8_5e68, 0x3fe1_bcba_5507_2c95, -0.17),
        (0xc086_19e1_7552_ddb2, 0x0029_8db0_0920_eb95, 0.37),
        (0xc042_8dca_464c_f45b, 0x3c96_1535_4c7b_1740, -0.33),
        (0xc086_1a45_b25f_7c28, 0x0028_5537_8178_f343, 0.33),
        (0xc087_4000_0000_0000, 0x0000_0000_0000_0002, -0.45),
        (0x3c30_0000_0000_0000, 0x3fe0_0000_0000_0000, 0.00),
        (0x4042_5000_0000_0000, 0x3fef_ffff_ffff_ffff, -0.12),
        (0xc042_5000_0000_0000, 0x3ca1_e483_dd1a_2e92, 0.43),
    ];
}
