//! Exponential functions.
//!
//! Largest errors in units in the last place (a dense sweep of f32, millions of points of f64): exp 0.99 (with AVX-512 registers 1.16),
//! exp2 1.24, expm1 1.19.

use super::super::simd::Isa;
use super::{LN2_HI_32, LN2_HI_64, LN2_LO_32, LN2_LO_64, poly_f32, poly_f64, poly_split_f64};
use std::f32::consts::{LN_2 as LN_2_32, LOG2_E as LOG2_E_32};
use std::f64::consts::{LN_2 as LN_2_64, LOG2_E as LOG2_E_64};

// Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits. Twice the exponent bias is added, so that each half of such an
// integer, shifted into the exponent, is a power of two. 2^n as a single factor would overflow or be subnormal at the ends of the range.
pub(super) const SHIFT_32: f32 = 12_582_912.0 + 254.0;
pub(super) const SHIFT_64: f64 = 6_755_399_441_055_744.0 + 2046.0;

/// `(exp(r) - 1 - r) / r^2` on |r| <= ln 2 / 2.
const EXP_32: [f32; 5] = [0.5, 0.166_665_17, 4.166_620_2e-2, 8.369_088e-3, 1.395_072_7e-3];
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

/// `(2^r - 1) / r` on |r| <= 1/2.
const EXP2_32: [f32; 6] = [LN_2_32, 0.240_226_5, 5.550_327e-2, 9.618_003e-3, 1.340_050_1e-3, 1.547_654_5e-4];
const EXP2_64: [f64; 11] = [
    LN_2_64,
    2.402_265_069_591_013_3e-1,
    5.550_410_866_482_174e-2,
    9.618_129_107_592_834e-3,
    1.333_355_814_637_852_7e-3,
    1.540_353_045_878_534e-4,
    1.525_273_386_809_246_6e-5,
    1.321_543_443_284_168_2e-6,
    1.017_804_621_675_108_5e-7,
    7.073_930_953_024_694e-9,
    4.457_425_408_742_262_5e-10,
];

/// Returns the powers of two a and b with `a * b = 2^n`, given `t = n + SHIFT`.
#[inline(always)]
fn halves_f32(t: f32) -> (f32, f32) {
    let half = t.to_bits() >> 1;
    let rest = t.to_bits().wrapping_sub(half);
    (f32::from_bits(half << 23), f32::from_bits(rest << 23))
}

#[inline(always)]
fn halves_f64(t: f64) -> (f64, f64) {
    let half = t.to_bits() >> 1;
    let rest = t.to_bits().wrapping_sub(half);
    (f64::from_bits(half << 52), f64::from_bits(rest << 52))
}

/// `x = n LN2_HI + h` exactly and `2^n = a * b`: returns (n, h, a, b). For |x| < 104.
#[inline(always)]
fn exp_reduce_f32(isa: Isa, x: f32) -> (f32, f32, f32, f32) {
    let t = isa.fma_f32(x, LOG2_E_32, SHIFT_32);
    let n = t - SHIFT_32;
    let (a, b) = halves_f32(t);
    (n, isa.fma_f32(n, -LN2_HI_32, x), a, b)
}

#[inline(always)]
pub(super) fn exp_reduce_f64(isa: Isa, x: f64) -> (f64, f64, f64, f64) {
    let t = isa.fma_f64(x, LOG2_E_64, SHIFT_64);
    let n = t - SHIFT_64;
    let (a, b) = halves_f64(t);
    (n, isa.fma_f64(n, -LN2_HI_64, x), a, b)
}

/// `exp(x) = (1 + p) * a * b`: returns p and the powers of two a and b. For |x| < 104.
#[inline(always)]
pub(super) fn exp_parts_f32(isa: Isa, x: f32) -> (f32, f32, f32) {
    let (n, h, a, b) = exp_reduce_f32(isa, x);
    let r = isa.fma_f32(n, -LN2_LO_32, h);
    (isa.fma_f32(r * r, poly_f32(isa, r, EXP_32), r), a, b)
}

#[inline(always)]
pub(super) fn exp_parts_f64(isa: Isa, x: f64) -> (f64, f64, f64) {
    let (n, h, a, b) = exp_reduce_f64(isa, x);
    let r = isa.fma_f64(n, -LN2_LO_64, h);
    (isa.fma_f64(r * r, poly_f64(isa, r, EXP_64), r), a, b)
}

/// `exp(x + low) = (1 + p) * b * DOWN_32` for -120 <= x <= 0: returns p and the power of two b, which is not subnormal.
#[inline(always)]
pub(super) fn exp_down_f32(isa: Isa, x: f32, low: f32) -> (f32, f32) {
    const SHIFT: f32 = SHIFT_32 - 254.0 + 127.0 + 96.0;
    let t = isa.fma_f32(x, LOG2_E_32, SHIFT);
    let n = t - SHIFT;
    let r = isa.fma_f32(n, -LN2_LO_32, isa.fma_f32(n, -LN2_HI_32, x)) + low;
    (isa.fma_f32(r * r, poly_f32(isa, r, EXP_32), r), f32::from_bits(t.to_bits() << 23))
}

/// [`exp_down_f32`] with `DOWN_64`, for -770 <= x <= 0.
#[inline(always)]
pub(super) fn exp_down_f64(isa: Isa, x: f64, low: f64) -> (f64, f64) {
    const SHIFT: f64 = SHIFT_64 - 2046.0 + 1023.0 + 96.0;
    let t = isa.fma_f64(x, LOG2_E_64, SHIFT);
    let n = t - SHIFT;
    let r = isa.fma_f64(n, -LN2_LO_64, isa.fma_f64(n, -LN2_HI_64, x)) + low;
    (isa.fma_f64(r * r, poly_split_f64(isa, r, EXP_64), r), f64::from_bits(t.to_bits() << 52))
}

/// 2^-96, the factor that [`exp_down_f32`] and [`exp_down_f64`] leave to the last multiplication, which rounds a subnormal result.
pub(super) const DOWN_32: f32 = f32::from_bits((127 - 96) << 23);
pub(super) const DOWN_64: f64 = f64::from_bits((1023 - 96) << 52);

/// [`exp_parts_f32`] of `x + low` for f64.
#[inline(always)]
pub(super) fn exp_sum_parts_f64(isa: Isa, x: f64, low: f64) -> (f64, f64, f64) {
    let (n, h, a, b) = exp_reduce_f64(isa, x);
    let r = h + isa.fma_f64(n, -LN2_LO_64, low);
    (isa.fma_f64(r * r, poly_f64(isa, r, EXP_64), r), a, b)
}

/// `exp(x) = (1 + r + lost + tail) * a * b`: returns these five. The tail is far below 1, and `lost` is negligible. For |x| < 104.
#[inline(always)]
pub(super) fn exp_terms_f32(isa: Isa, x: f32) -> (f32, f32, f32, f32, f32) {
    let (n, h, a, b) = exp_reduce_f32(isa, x);
    let r = isa.fma_f32(n, -LN2_LO_32, h);
    let lost = isa.fma_f32(n, -LN2_LO_32, h - r);
    (r, lost, r * r * poly_f32(isa, r, EXP_32), a, b)
}

#[inline(always)]
pub(super) fn exp_terms_f64(isa: Isa, x: f64) -> (f64, f64, f64, f64, f64) {
    let (n, h, a, b) = exp_reduce_f64(isa, x);
    let r = isa.fma_f64(n, -LN2_LO_64, h);
    let lost = isa.fma_f64(n, -LN2_LO_64, h - r);
    (r, lost, r * r * poly_f64(isa, r, EXP_64), a, b)
}

/// `exp(x)`
#[inline(always)]
pub fn exp_f32(isa: Isa, x: f32) -> f32 {
    // Beyond these ends the result is infinite or rounds to zero. The comparisons keep NaN.
    let x = if x > 89.0 { 89.0 } else { x };
    let x = if x < -104.0 { -104.0 } else { x };
    let (p, a, b) = exp_parts_f32(isa, x);
    isa.fma_f32(p, a, a) * b
}

/// `exp(x)`
#[inline(always)]
pub fn exp_f64(isa: Isa, x: f64) -> f64 {
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let (p, a, b) = exp_parts_f64(isa, x);
    isa.fma_f64(p, a, a) * b
}

/// `exp(x) = (high + low) * b`: b is a power of two, `high` is rounded, and `low` is its rounding error. For |x| < 174, where results of
/// [`exp_f32`] have long underflowed, but other results have not.
#[inline(always)]
pub(super) fn exp_pair_f32(isa: Isa, x: f32) -> (f32, f32, f32) {
    let (p, a, b) = exp_parts_f32(isa, x);
    let high = isa.fma_f32(p, a, a);
    (high, isa.fma_f32(p, a, a - high), b)
}

/// [`exp_pair_f32`] for f64, and |x| < 1417.
#[inline(always)]
pub(super) fn exp_pair_f64(isa: Isa, x: f64) -> (f64, f64, f64) {
    let (p, a, b) = exp_parts_f64(isa, x);
    let high = isa.fma_f64(p, a, a);
    (high, isa.fma_f64(p, a, a - high), b)
}

/// `exp(x) - 1` for |x| < 87, where one power of two is enough.
#[inline(always)]
pub(super) fn expm1_near_f32(isa: Isa, x: f32) -> f32 {
    const SHIFT: f32 = SHIFT_32 - 127.0;
    let t = isa.fma_f32(x, LOG2_E_32, SHIFT);
    let n = t - SHIFT;
    let h = isa.fma_f32(n, -LN2_HI_32, x);
    let r = isa.fma_f32(n, -LN2_LO_32, h);
    let low = isa.fma_f32(n, -LN2_LO_32, r * r * poly_f32(isa, r, EXP_32));
    let s = f32::from_bits(t.to_bits() << 23);
    isa.fma_f32(s, low, isa.fma_f32(s, h, s - 1.0))
}

/// [`expm1_near_f32`] for f64, and |x| < 708.
#[inline(always)]
pub(super) fn expm1_near_f64(isa: Isa, x: f64) -> f64 {
    const SHIFT: f64 = SHIFT_64 - 1023.0;
    let t = isa.fma_f64(x, LOG2_E_64, SHIFT);
    let n = t - SHIFT;
    let h = isa.fma_f64(n, -LN2_HI_64, x);
    let r = isa.fma_f64(n, -LN2_LO_64, h);
    let low = isa.fma_f64(n, -LN2_LO_64, r * r * poly_f64(isa, r, EXP_64));
    let s = f64::from_bits(t.to_bits() << 52);
    isa.fma_f64(s, low, isa.fma_f64(s, h, s - 1.0))
}

/// `exp2(x)`
#[inline(always)]
pub fn exp2_f32(isa: Isa, x: f32) -> f32 {
    let x = if x > 129.0 { 129.0 } else { x };
    let x = if x < -151.0 { -151.0 } else { x };
    exp2_sum_f32(isa, x, 0.0)
}

/// `exp2(x)`
#[inline(always)]
pub fn exp2_f64(isa: Isa, x: f64) -> f64 {
    let x = if x > 1025.0 { 1025.0 } else { x };
    let x = if x < -1076.0 { -1076.0 } else { x };
    exp2_sum_f64(isa, x, 0.0)
}

/// `exp2(x + low)`, for |x| < 200 and `low` far below 1.
#[inline(always)]
pub(super) fn exp2_sum_f32(isa: Isa, x: f32, low: f32) -> f32 {
    let t = x + SHIFT_32;
    let r = (x - (t - SHIFT_32)) + low;
    let p = r * poly_f32(isa, r, EXP2_32);
    let (a, b) = halves_f32(t);
    isa.fma_f32(p, a, a) * b
}

/// [`exp2_sum_f32`] for f64, and |x| < 1100.
#[inline(always)]
pub(super) fn exp2_sum_f64(isa: Isa, x: f64, low: f64) -> f64 {
    let t = x + SHIFT_64;
    let r = (x - (t - SHIFT_64)) + low;
    let p = r * poly_f64(isa, r, EXP2_64);
    let (a, b) = halves_f64(t);
    isa.fma_f64(p, a, a) * b
}

/// `exp(x) - 1`
#[inline(always)]
pub fn expm1_f32(isa: Isa, x: f32) -> f32 {
    let t = if x > 89.0 { 89.0 } else { x };
    let t = if t < -20.0 { -20.0 } else { t };
    let (n, h, a, b) = exp_reduce_f32(isa, t);
    let r = isa.fma_f32(n, -LN2_LO_32, h);
    let low = isa.fma_f32(n, -LN2_LO_32, r * r * poly_f32(isa, r, EXP_32));
    // ((1 + h + low) a - 1 / b) b: the large parts are added first, where they cancel exactly.
    let c = f32::from_bits(0x7f00_0000_u32.wrapping_sub(b.to_bits()));
    let high = isa.fma_f32(a, h, a - c);
    (isa.fma_f32(a, low, high) * b).copysign(x)
}

/// `exp(x) - 1`
#[inline(always)]
pub fn expm1_f64(isa: Isa, x: f64) -> f64 {
    let t = if x > 710.0 { 710.0 } else { x };
    let t = if t < -40.0 { -40.0 } else { t };
    let (n, h, a, b) = exp_reduce_f64(isa, t);
    let r = isa.fma_f64(n, -LN2_LO_64, h);
    let low = isa.fma_f64(n, -LN2_LO_64, r * r * poly_f64(isa, r, EXP_64));
    let c = f64::from_bits(0x7fe0_0000_0000_0000_u64.wrapping_sub(b.to_bits()));
    let high = isa.fma_f64(a, h, a - c);
    (isa.fma_f64(a, low, high) * b).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::super::super::simd::simd;
    use super::super::check::*;
    use super::super::runs::*;
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(1.0, alone!(exp_run_f32), f64::exp);
        check_f32(1.25, exp2_f32, f64::exp2);
        check_f32(1.25, expm1_f32, f64::exp_m1);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(EXP, 1.0, alone!(exp_run_f64));
        check_f64(EXP2, 1.2, exp2_f64);
        check_f64(EXPM1, 1.3, expm1_f64);
    }

    #[test]
    fn f64_agrees_with_the_standard_library() {
        check_std(alone!(exp_run_f64), f64::exp);
        check_std(exp2_f64, f64::exp2);
        check_std(expm1_f64, f64::exp_m1);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_special(alone!(exp_run_f64), [1.0, 1.0, INF, 0.0, NAN, INF, 0.0]);
        check_special(exp2_f64, [1.0, 1.0, INF, 0.0, NAN, INF, 0.0]);
        check_special(expm1_f64, [0.0, -0.0, INF, -1.0, NAN, INF, -1.0]);
    }

    #[test]
    fn powers_of_two_are_exact() {
        for n in -1074..1024 {
            let exact = if n < -1022 { f64::from_bits(1 << (n + 1074)) } else { f64::from_bits(((n + 1023) as u64) << 52) };
            assert_eq!(simd(move |isa| exp2_f64(isa, f64::from(n))), exact);
            if (-149..128).contains(&n) {
                assert_eq!(simd(move |isa| exp2_f32(isa, n as f32)), exact as f32);
            }
        }
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
    const EXP2: &[(u64, u64, f64)] = &[
        (0x407c_e84e_42c3_fc14, 0x5cd6_edd8_4449_9f21, -0.10),
        (0x4058_a208_c405_48b0, 0x4617_21a7_fc60_537d, -0.07),
        (0x408c_2c18_e432_ab0c, 0x7846_d19f_f819_c9bd, -0.05),
        (0xc064_cebb_18f3_a4b0, 0x3587_4212_6efa_1913, -0.04),
        (0x408f_e435_e07b_8198, 0x7fb7_0b36_d419_9d0b, -0.04),
        (0x408d_e426_8a94_bab8, 0x7bb6_ecac_b4a6_d527, -0.04),
        (0x4085_6c32_2880_0cb0, 0x6ac7_03cb_4d6e_67ab, -0.04),
        (0xc07f_77ee_4743_b1a4, 0x2076_b204_3f59_66c5, -0.03),
        (0x4083_bc1b_9f3d_8388, 0x6766_d706_afb5_66c9, -0.02),
        (0x4072_c82e_aa6b_7bac, 0x52b6_ce8b_5646_e157, -0.02),
        (0x3fe0_0000_0000_0000, 0x3ff6_a09e_667f_3bcd, -0.44),
        (0xc090_c933_3333_3333, 0x0000_0000_0000_0001, -0.19),
        (0x408f_ffff_ffff_ffff, 0x7fef_ffff_ffff_fd3a, 0.22),
        (0x3c67_0ef5_4646_d497, 0x3ff0_0000_0000_0000, 0.03),
    ];
    const EXPM1: &[(u64, u64, f64)] = &[
        (0xbfd6_5e8e_56b2_44a7, 0xbfd2_e0dc_87e5_157f, -0.19),
        (0xbfd6_3bef_9611_e37f, 0xbfd2_c86d_7528_e6ab, -0.12),
        (0xbfd6_3731_1db0_c4db, 0xbfd2_c513_4a2a_6a25, -0.08),
        (0xbfdd_d27b_3135_7939, 0xbfd7_d6a1_5875_2795, 0.07),
        (0xbfde_94ab_010b_865d, 0xbfd8_4fc4_9c8c_9a31, 0.07),
        (0xbfd6_e28b_d9d9_49d5, 0xbfd3_3d8b_4cc6_c669, 0.06),
        (0xbfde_550a_0ff9_aec1, 0xbfd8_283b_b02b_3df2, 0.06),
        (0xbfdc_f487_3bb6_cb19, 0xbfd7_4a66_caa8_0455, 0.04),
        (0xbfdf_f853_627f_5389, 0xbfd9_29f2_263b_a563, 0.04),
        (0xbfdf_2619_eb3e_fc95, 0xbfd8_a98e_8017_8d8f, 0.04),
        (0x01a5_6e1f_c2f8_f359, 0x01a5_6e1f_c2f8_f359, 0.00),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.00),
        (0xbbc7_9ca1_0c92_4223, 0xbbc7_9ca1_0c92_4223, -0.00),
        (0xc042_0000_0000_0000, 0xbfef_ffff_ffff_fffe, -0.09),
        (0xc042_c000_0000_0000, 0xbff0_0000_0000_0000, -0.23),
        (0x4086_2e3d_70a3_d70a, 0x7fef_e9ce_5c4c_52b4, 0.41),
        (0x4039_8000_0000_0000, 0x423b_a406_8aab_2b6e, 0.25),
    ];
}
