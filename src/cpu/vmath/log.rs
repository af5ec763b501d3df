//! Logarithms.
//!
//! Largest errors in units in the last place (a dense sweep of f32, millions of points of f64): log 0.88, log1p 1.40, log2 1.03, log10
//! 0.95; without fma log2 1.94, log10 1.86; with AVX-512 registers log 1.92, log2 1.71, log10 1.86.

use super::super::simd::Isa;
use super::{LN2_HI_32, LN2_HI_64, LN2_LO_32, LN2_LO_64, poly_f32, poly_f64};

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
/// `(2 atanh(s) / s - 2) / s^2` as a polynomial of s^2, for the s of the same interval.
const LOG_64: [f64; 7] = [
    6.666_666_666_666_735e-1,
    3.999_999_999_940_956e-1,
    2.857_142_874_359_218e-1,
    2.222_219_844_275_105_7e-1,
    1.818_357_146_396_559_5e-1,
    1.531_385_877_225_739e-1,
    1.479_795_895_913_975e-1,
];

// Logarithms of 2 and e as sums of two. High parts that are multiplied by an exponent are short, like the high part of ln 2.
const LOG2_E_32: f32 = std::f32::consts::LOG2_E;
const LOG2_E_LO_32: f32 = 1.925_963e-8;
const LOG2_E_64: f64 = std::f64::consts::LOG2_E;
const LOG2_E_LO_64: f64 = 2.035_527_374_093_103_3e-17;
const LOG10_E_32: f32 = std::f32::consts::LOG10_E;
const LOG10_E_LO_32: f32 = -1.010_305e-8;
const LOG10_E_64: f64 = std::f64::consts::LOG10_E;
const LOG10_E_LO_64: f64 = 1.098_319_650_216_765e-17;
const LOG10_2_HI_32: f32 = 0.301_025_4;
const LOG10_2_LO_32: f32 = 4.605_039e-6;
const LOG10_2_HI_64: f64 = 0.301_029_995_663_839_14;
const LOG10_2_LO_64: f64 = 1.420_502_322_726_61e-13;

const SQRT_HALF_32: u32 = 0x3f35_04f3;
const SQRT_HALF_64: u64 = 0x3fe6_a09e_667f_3bcd;

/// The bias of the exponent that [`log_split_f32`] returns.
const BIAS_32: f32 = 127.0;
const BIAS_64: f64 = 4_503_599_627_370_496.0 + 1023.0;

/// `x = 2^(e - BIAS) (1 + f)` with sqrt(1/2) <= 1 + f < sqrt(2), for positive normal x.
#[inline(always)]
fn log_split_f32(x: f32) -> (f32, f32) {
    let t = x.to_bits().wrapping_add(0x3f80_0000 - SQRT_HALF_32);
    ((t >> 23) as i32 as f32, f32::from_bits((t & 0x7f_ffff).wrapping_add(SQRT_HALF_32)) - 1.0)
}

#[inline(always)]
fn log_split_f64(x: f64) -> (f64, f64) {
    let t = x.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - SQRT_HALF_64);
    // Before AVX-512, vectors cannot convert 64-bit integers. The low bits of 2^52 + e need no conversion.
    let e = f64::from_bits((t >> 52) | 0x4330_0000_0000_0000);
    (e, f64::from_bits((t & 0xf_ffff_ffff_ffff).wrapping_add(SQRT_HALF_64)) - 1.0)
}

/// `x = 2^e (1 + f)` with sqrt(1/2) <= 1 + f < sqrt(2), for positive normal x.
#[inline(always)]
pub(in crate::cpu) fn log_parts_f32(x: f32) -> (f32, f32) {
    let (e, f) = log_split_f32(x);
    (e - BIAS_32, f)
}

#[inline(always)]
pub(in crate::cpu) fn log_parts_f64(x: f64) -> (f64, f64) {
    let (e, f) = log_split_f64(x);
    (e - BIAS_64, f)
}

/// `log(1 + f) - f` for the f of [`log_parts_f32`].
#[inline(always)]
fn log_tail_f32(isa: Isa, f: f32) -> f32 {
    let f2 = f * f;
    isa.fma_f32(f2, -0.5, poly_f32(isa, f, LOG_32) * (f2 * f))
}

#[inline(always)]
pub(super) fn log_tail_f64(isa: Isa, f: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    let h = 0.5 * f * f;
    isa.fma_f64(s, isa.fma_f64(z, poly_f64(isa, z, LOG_64), h), -h)
}

/// `e ln 2 + log(1 + f)`
#[inline(always)]
pub(super) fn log_sum_f32(isa: Isa, e: f32, f: f32) -> f32 {
    let tail = isa.fma_f32(e, LN2_LO_32, log_tail_f32(isa, f));
    isa.fma_f32(e, LN2_HI_32, f + tail)
}

#[inline(always)]
pub(super) fn log_sum_f64(isa: Isa, e: f64, f: f64) -> f64 {
    let tail = isa.fma_f64(e, LN2_LO_64, log_tail_f64(isa, f));
    isa.fma_f64(e, LN2_HI_64, f + tail)
}

/// Returns [`log_sum_f32`], and the rounding errors of its two additions.
#[inline(always)]
pub(super) fn log_pair_f32(isa: Isa, e: f32, f: f32) -> (f32, f32) {
    let tail = isa.fma_f32(e, LN2_LO_32, log_tail_f32(isa, f));
    let s = f + tail;
    let r = isa.fma_f32(e, LN2_HI_32, s);
    (r, (isa.fma_f32(e, LN2_HI_32, -r) + s) + ((f - s) + tail))
}

#[inline(always)]
pub(super) fn log_pair_f64(isa: Isa, e: f64, f: f64) -> (f64, f64) {
    let tail = isa.fma_f64(e, LN2_LO_64, log_tail_f64(isa, f));
    let s = f + tail;
    let r = isa.fma_f64(e, LN2_HI_64, s);
    (r, (isa.fma_f64(e, LN2_HI_64, -r) + s) + ((f - s) + tail))
}

/// [`log_parts_f32`] for any x except infinity. -inf and NaN are returned as exponents. If they were selected at the end, the compiler
/// would classify x in a dozen integer instructions.
#[inline(always)]
fn log_reduce_f32(x: f32) -> (f32, f32) {
    let tiny = x < f32::MIN_POSITIVE;
    let (e, f) = log_split_f32(if tiny { x * 33_554_432.0 } else { x });
    let bias = if tiny { BIAS_32 + 25.0 } else { BIAS_32 };
    (e - log_special_f32(x, bias), f)
}

#[inline(always)]
fn log_reduce_f64(x: f64) -> (f64, f64) {
    let tiny = x < f64::MIN_POSITIVE;
    let (e, f) = log_split_f64(if tiny { x * 18_014_398_509_481_984.0 } else { x });
    let bias = if tiny { BIAS_64 + 54.0 } else { BIAS_64 };
    (e - log_special_f64(x, bias), f)
}

/// Returns the number to subtract from the exponent of x: `down`, or a number that turns the result into the logarithm of zero or of a
/// negative number.
#[inline(always)]
fn log_special_f32(x: f32, down: f32) -> f32 {
    let down = if x == 0.0 { f32::INFINITY } else { down };
    if x >= 0.0 { down } else { f32::NAN }
}

#[inline(always)]
fn log_special_f64(x: f64, down: f64) -> f64 {
    let down = if x == 0.0 { f64::INFINITY } else { down };
    if x >= 0.0 { down } else { f64::NAN }
}

/// `log(x)`
#[inline(always)]
pub fn log_f32(isa: Isa, x: f32) -> f32 {
    let (e, f) = log_reduce_f32(x);
    let r = log_sum_f32(isa, e, f);
    if x == f32::INFINITY { x } else { r }
}

/// `log(x)`
#[inline(always)]
pub fn log_f64(isa: Isa, x: f64) -> f64 {
    let (e, f) = log_reduce_f64(x);
    let r = log_sum_f64(isa, e, f);
    if x == f64::INFINITY { x } else { r }
}

/// `log2(x)`
#[inline(always)]
pub fn log2_f32(isa: Isa, x: f32) -> f32 {
    let (e, f) = log_reduce_f32(x);
    let low = isa.fma_f32(f, LOG2_E_LO_32, log_tail_f32(isa, f) * LOG2_E_32);
    let r = e + isa.fma_f32(f, LOG2_E_32, low);
    if x == f32::INFINITY { x } else { r }
}

/// `log2(x)`
#[inline(always)]
pub fn log2_f64(isa: Isa, x: f64) -> f64 {
    let (e, f) = log_reduce_f64(x);
    let low = isa.fma_f64(f, LOG2_E_LO_64, log_tail_f64(isa, f) * LOG2_E_64);
    let r = e + isa.fma_f64(f, LOG2_E_64, low);
    if x == f64::INFINITY { x } else { r }
}

/// `log10(x)`
#[inline(always)]
pub fn log10_f32(isa: Isa, x: f32) -> f32 {
    let (e, f) = log_reduce_f32(x);
    let low = isa.fma_f32(log_tail_f32(isa, f), LOG10_E_32, e * LOG10_2_LO_32);
    let low = isa.fma_f32(f, LOG10_E_LO_32, low);
    let r = isa.fma_f32(e, LOG10_2_HI_32, isa.fma_f32(f, LOG10_E_32, low));
    if x == f32::INFINITY { x } else { r }
}

/// `log10(x)`
#[inline(always)]
pub fn log10_f64(isa: Isa, x: f64) -> f64 {
    let (e, f) = log_reduce_f64(x);
    let low = isa.fma_f64(log_tail_f64(isa, f), LOG10_E_64, e * LOG10_2_LO_64);
    let low = isa.fma_f64(f, LOG10_E_LO_64, low);
    let r = isa.fma_f64(e, LOG10_2_HI_64, isa.fma_f64(f, LOG10_E_64, low));
    if x == f64::INFINITY { x } else { r }
}

/// `log(1 + x)`
#[inline(always)]
pub fn log1p_f32(isa: Isa, x: f32) -> f32 {
    let u = 1.0 + x;
    let (e, f) = log_split_f32(u);
    // The rounding error of the sum is added to f, in units of 2^e. Beyond the bound it is zero, and the power must stay finite.
    let bound = if u > 1e30 { 1e30 } else { u };
    let scale = f32::from_bits((1.0 + f).to_bits().wrapping_sub(bound.to_bits()).wrapping_add(0x3f80_0000));
    let f = isa.fma_f32(x - (u - 1.0), scale, f);
    let r = log_sum_f32(isa, e - log_special_f32(u, BIAS_32), f).copysign(x);
    if x == f32::INFINITY { x } else { r }
}

/// `log(1 + x)`
#[inline(always)]
pub fn log1p_f64(isa: Isa, x: f64) -> f64 {
    let u = 1.0 + x;
    let (e, f) = log_split_f64(u);
    let bound = if u > 1e300 { 1e300 } else { u };
    let scale = f64::from_bits((1.0 + f).to_bits().wrapping_sub(bound.to_bits()).wrapping_add(0x3ff0_0000_0000_0000));
    let f = isa.fma_f64(x - (u - 1.0), scale, f);
    let r = log_sum_f64(isa, e - log_special_f64(u, BIAS_64), f).copysign(x);
    if x == f64::INFINITY { x } else { r }
}

/// `log(1 + x + low) + n ln 2` for `x` from -1 to 1e300; NaN for smaller `x`. `low` must be small compared with `x`.
#[inline(always)]
pub(super) fn log1p_sum_f64(isa: Isa, x: f64, low: f64, n: f64) -> f64 {
    let u = 1.0 + x;
    let (e, near) = log_split_f64(u);
    let bound = if u > 1e300 { 1e300 } else { u };
    let scale = f64::from_bits((1.0 + near).to_bits().wrapping_sub(bound.to_bits()).wrapping_add(0x3ff0_0000_0000_0000));
    // As in `log1p_f64`, the rounding error of the sum is added to f. Errors too small for f are added to the tail.
    let lost = (x - (u - 1.0) + low) * scale;
    let f = near + lost;
    let rest = lost - (f - near);
    let e = e - log_special_f64(u, BIAS_64 - n);
    let tail = isa.fma_f64(e, LN2_LO_64, log_tail_f64(isa, f) + rest);
    isa.fma_f64(e, LN2_HI_64, f + tail)
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
        check_f32(1.6, alone!(log_run_f32), f64::ln);
        check_f32(1.9, alone!(log2_run_f32), f64::log2);
        check_f32(1.9, alone!(log10_run_f32), f64::log10);
        check_f32(1.45, log1p_f32, f64::ln_1p);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(LOG, 0.9, alone!(log_run_f64));
        check_f64(LOG2, 1.95, alone!(log2_run_f64));
        check_f64(LOG10, 1.9, alone!(log10_run_f64));
        check_f64(LOG1P, 1.4, log1p_f64);
    }

    #[test]
    fn f64_agrees_with_the_standard_library() {
        check_std(alone!(log_run_f64), f64::ln);
        check_std(alone!(log2_run_f64), f64::log2);
        check_std(alone!(log10_run_f64), f64::log10);
        check_std(log1p_f64, f64::ln_1p);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_special(alone!(log_run_f64), [-INF, -INF, INF, NAN, NAN, f64::MAX.ln(), NAN]);
        check_special(alone!(log2_run_f64), [-INF, -INF, INF, NAN, NAN, 1024.0, NAN]);
        check_special(alone!(log10_run_f64), [-INF, -INF, INF, NAN, NAN, f64::MAX.log10(), NAN]);
        check_special(log1p_f64, [0.0, -0.0, INF, NAN, NAN, f64::MAX.ln(), NAN]);
        for x in [-1.0, -1.5] {
            let got = simd(move |isa| (log1p_f64(isa, x), log1p_f32(isa, x as f32)));
            assert!(if x == -1.0 { got == (-INF, f32::NEG_INFINITY) } else { got.0.is_nan() && got.1.is_nan() });
        }
    }

    #[test]
    fn logarithms_of_powers_are_exact() {
        for n in -1074..1024 {
            let x = if n < -1022 { f64::from_bits(1 << (n + 1074)) } else { f64::from_bits(((n + 1023) as u64) << 52) };
            assert_eq!(simd(move |isa| alone!(log2_run_f64)(isa, x)), f64::from(n));
            if (-149..128).contains(&n) {
                assert_eq!(simd(move |isa| alone!(log2_run_f32)(isa, x as f32)), n as f32);
            }
        }
        for n in 0..=22 {
            assert_eq!(simd(move |isa| alone!(log10_run_f64)(isa, 10f64.powi(n))), f64::from(n));
            if n <= 10 {
                assert_eq!(simd(move |isa| alone!(log10_run_f32)(isa, 10f32.powi(n))), n as f32);
            }
        }
    }

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
    const LOG2: &[(u64, u64, f64)] = &[
        (0x3ff6_072a_ebc4_4d39, 0x3fdd_8564_0427_bf72, 0.04),
        (0x3fe5_c405_5c93_568a, 0xbfe1_cae0_0abd_ed17, -0.04),
        (0x3ff7_3847_e193_f06b, 0x3fe1_3173_8ff3_77c3, 0.05),
        (0x3ff6_9635_7228_1fa0, 0x3fdf_d57b_b75e_97bb, 0.06),
        (0x3ff5_a399_1fc9_3821, 0x3fdb_e04e_91c1_00aa, 0.06),
        (0x3ff6_7cfe_5bd9_bdc4, 0x3fdf_6e2e_3c04_1274, 0.06),
        (0x3ff6_8686_c8e4_913e, 0x3fdf_9549_dec8_fc72, 0.06),
        (0x3ff5_fa7d_facd_734e, 0x3fdd_5033_38e5_ab8a, 0.06),
        (0x3ff6_2060_6e3c_3ff4, 0x3fdd_eed2_3de9_c56c, 0.07),
        (0x3fe5_d5e2_da23_06a2, 0xbfe1_a50a_f07b_3b61, -0.07),
        (0x4008_0000_0000_0000, 0x3ff9_5c01_a39f_bd68, 0.48),
        (0x0000_0000_0000_0001, 0xc090_c800_0000_0000, 0.00),
        (0x7fe1_ccf3_85eb_c8a0, 0x408f_f93b_1766_58a4, 0.40),
        (0x3fef_ffff_ffff_ffff, 0xbca7_1547_652b_82fe, 0.45),
        (0x3ff0_0000_0000_0001, 0x3cb7_1547_652b_82fd, 0.37),
    ];
    const LOG10: &[(u64, u64, f64)] = &[
        (0x3fe5_12b1_61ce_60d2, 0xbfc7_38e0_3f73_bd4f, -0.09),
        (0x3ff7_ffb2_5af8_f4d5, 0x3fc6_8974_b254_8185, -0.12),
        (0x3fe5_370b_3ffd_d557, 0xbfc6_d94e_1dfb_be25, 0.12),
        (0x3fe5_3341_1a4e_30f0, 0xbfc6_e33d_14a5_fa43, -0.12),
        (0x3ff8_8dba_caf6_853f, 0x3fc7_ceb5_713f_d611, 0.13),
        (0x3fe4_f53d_8b21_0745, 0xbfc7_86c8_8077_3ed3, -0.14),
        (0x3fe4_f511_b369_feff, 0xbfc7_873c_cb22_f863, -0.14),
        (0x3fe4_792e_192d_a5de, 0xbfc8_d3b5_a4bd_5633, -0.15),
        (0x3ff8_b0af_6fd5_677f, 0x3fc8_1da1_255f_cf99, 0.15),
        (0x3ff8_9e2d_3a76_fddc, 0x3fc7_f3e5_7735_ff89, 0.15),
        (0x408f_4000_0000_0000, 0x4008_0000_0000_0000, 0.00),
        (0x3ee4_f8b5_88e3_68f1, 0xc014_0000_0000_0000, -0.04),
        (0x0000_0000_0000_0001, 0xc074_34e6_420f_4374, -0.10),
        (0x7fe1_ccf3_85eb_c8a0, 0x4073_4000_0000_0000, 0.00),
        (0x3fef_ffff_ffff_ffff, 0xbc8b_cb7b_1526_e50f, -0.37),
        (0x3ff0_0000_0000_0001, 0x3c9b_cb7b_1526_e50d, 0.33),
    ];
    const LOG1P: &[(u64, u64, f64)] = &[
        (0x3fda_cf1e_ed31_61fd, 0x3fd6_645e_788c_371e, -0.11),
        (0xbfd2_fbf0_dd2c_7150, 0xbfd6_8502_9f5d_0bc1, 0.20),
        (0x3ffb_66c5_8463_ee7e, 0x3fef_eed4_b481_780d, -0.20),
        (0xbfd2_ef82_b746_59c4, 0xbfd6_7358_eee2_57af, 0.21),
        (0xbfd7_6fa4_638e_8db5, 0xbfdd_2f2e_0837_7c21, 0.21),
        (0xbfd7_9a9b_8806_a059, 0xbfdd_731c_0380_eabf, 0.22),
        (0xbfd7_8cbf_dd1d_6d10, 0xbfdd_5d2b_2946_7041, 0.22),
        (0xbfd3_4eb8_4ea1_1893, 0xbfd6_fb1f_ad60_4dff, 0.22),
        (0x3ffb_4dca_afa2_3e16, 0x3fef_dc64_78c9_8c03, -0.22),
        (0xbfd7_c1f1_cdc0_5ca6, 0xbfdd_b18c_e55c_abf3, 0.22),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.00),
        (0x81a5_6e1f_c2f8_f359, 0x81a5_6e1f_c2f8_f359, 0.00),
        (0x3c67_0ef5_4646_d497, 0x3c67_0ef5_4646_d497, -0.03),
        (0xbfef_ffff_ffff_ffff, 0xc042_5e4f_7b27_37fa, 0.09),
        (0x430c_6bf5_2634_0000, 0x4041_44f6_9ff9_ffc4, 0.31),
        (0x4340_0000_0000_0000, 0x4042_5e4f_7b27_37fa, 0.11),
        (0x7fef_ffff_ffff_ffff, 0x4086_2e42_fefa_39ef, 0.21),
    ];
}
