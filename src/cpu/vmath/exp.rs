//! Exponential functions.
//!
//! Largest errors (all inputs of f32, eight million of f64): exp 0.99.

use super::super::simd::Isa;
use super::{LN2_HI_32, LN2_HI_64, LN2_LO_32, LN2_LO_64, poly_f32, poly_f64};
use std::f32::consts::LOG2_E as LOG2_E_32;
use std::f64::consts::LOG2_E as LOG2_E_64;

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

/// `exp(x) = (1 + p) * a * b`: returns p and the powers of two a and b. For |x| < 104.
#[inline(always)]
pub(super) fn exp_parts_f32(isa: Isa, x: f32) -> (f32, f32, f32) {
    let t = isa.fma_f32(x, LOG2_E_32, SHIFT_32);
    let n = t - SHIFT_32;
    let r = isa.fma_f32(n, -LN2_LO_32, isa.fma_f32(n, -LN2_HI_32, x));
    let p = isa.fma_f32(r * r, poly_f32(isa, r, EXP_32), r);
    let half = t.to_bits() >> 1;
    let rest = t.to_bits().wrapping_sub(half);
    (p, f32::from_bits(half << 23), f32::from_bits(rest << 23))
}

#[inline(always)]
pub(super) fn exp_parts_f64(isa: Isa, x: f64) -> (f64, f64, f64) {
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

#[cfg(test)]
mod tests {
    use super::super::check::*;
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(1.0, exp_f32, f64::exp);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(EXP, 1.0, exp_f64);
    }

    #[test]
    fn f64_agrees_with_the_standard_library() {
        check_std(exp_f64, f64::exp);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_special(exp_f64, [1.0, 1.0, INF, 0.0, NAN, INF, 0.0]);
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
}
