//! The exact gelu, its tanh approximation, and the derivatives of both.
//!
//! Largest errors in units in the last place, of f32 and f64, with fma (and without): gelu 5.4 and 4.1 (6.5 and 5.6), gelu_tanh 0.51 and
//! 1.6. These are relative errors, also where the results are tiny. The derivatives are 0 near -0.752; there their errors are this small
//! only relative to 1.

use super::erf::{SHIFT_64, product_rest_f32, product_rest_f64};
use super::exp::{DOWN_32, DOWN_64, exp_down_f32, exp_down_f64, exp_sum_parts_f64};
use super::{poly_f32, poly_f64, poly_of_square_f32, poly_of_square_f64};
use crate::cpu::simd::Isa;
use std::f64::consts::{LN_2 as LN_2_64, LOG2_E as LOG2_E_64};

/// `exp(a^2 / 2) Phi(-a) = (1 / 2 + a p) / q` for 0 <= a <= 14.4: returns p and q, given `h = a^2`. All coefficients are positive, so no
/// digits are lost.
#[inline(always)]
fn quotient_f32(isa: Isa, a: f32, h: f32) -> (f32, f32) {
    (poly_f32(isa, a, ABOVE_32), poly_of_square_f32(isa, a, h, BELOW_32))
}

/// [`quotient_f32`] for f64 and 0 <= a <= 38.7.
#[inline(always)]
fn quotient_f64(isa: Isa, a: f64, h: f64) -> (f64, f64) {
    (poly_of_square_f64(isa, a, h, ABOVE_64), poly_of_square_f64(isa, a, h, BELOW_64))
}

/// The functions for one type. `$end` is a magnitude with `$end * Phi(-$end)` below the least positive number.
macro_rules! functions {
    ($t:ident, $gelu:ident, $slope:ident, $quotient:ident, $exp_down:ident, $down:ident, $rest:ident, $fma:ident, $end:literal,
     $tau:ident) => {
        /// `x Phi(x)`, the exact gelu. Phi is the normal distribution.
        #[inline(always)]
        pub fn $gelu(isa: Isa, x: $t) -> $t {
            // max(x, 0) - |x| Phi(-|x|) is accurate on both sides. NaN is kept; -inf becomes NaN, as in PyTorch.
            let a = x.abs();
            let a = if a > $end { $end } else { a };
            let h = a * a;
            let (p, b) = $exp_down(isa, -0.5 * h, -0.5 * $rest(isa, a, a, h));
            let (above, below) = $quotient(isa, a, h);
            let y = isa.$fma(h, above, 0.5 * a) / below;
            let base = if x > 0.0 { x } else { 0.0 * x };
            isa.$fma(isa.$fma(y, p, y) * b, -$down, base)
        }

        /// `Phi(x) + x phi(x)`, the derivative of gelu: 1 at inf and 0 at -inf.
        #[inline(always)]
        pub fn $slope(isa: Isa, x: $t) -> $t {
            // Phi(-a) - a phi(a) for a = |x|, or 1 minus this. Both terms have the factor exp(-a^2 / 2).
            let magnitude = x.abs();
            let a = if magnitude > $end { $end } else { magnitude };
            let h = a * a;
            let (p, b) = $exp_down(isa, -0.5 * h, -0.5 * $rest(isa, a, a, h));
            let (above, below) = $quotient(isa, a, h);
            let d = isa.$fma(a, -$tau, isa.$fma(a, above, 0.5) / below);
            let q = isa.$fma(d, p, d) * b * $down;
            let q = if magnitude > $end { -0.0 } else { q };
            if x > 0.0 { 1.0 - q } else { q }
        }
    };
}

functions!(f32, gelu_f32, gelu_slope_f32, quotient_f32, exp_down_f32, DOWN_32, product_rest_f32, fma_f32, 14.4, FRAC_1_SQRT_TAU_32);
functions!(f64, gelu_f64, gelu_slope_f64, quotient_f64, exp_down_f64, DOWN_64, product_rest_f64, fma_f64, 38.7, FRAC_1_SQRT_TAU_64);

/// `exp(-v)` for `v = 2 sqrt(2 / pi) (a + 0.044715 a^3)`, 0 <= a <= 12, accurate to the digits of f32.
#[inline(always)]
fn gelu_tanh_exp_f32(isa: Isa, a: f64) -> f64 {
    // v needs more than 24 bits, since exp multiplies its errors by v.
    let v = a * isa.fma_f64(a * a, GELU_TANH_64[1], GELU_TANH_64[0]);
    let m = isa.fma_f64(v, -LOG2_E_64, SHIFT_64);
    let r = isa.fma_f64(m - SHIFT_64, -LN_2_64, -v);
    let e = isa.fma_f64(r * r, poly_f64(isa, r, EXP_SHORT_64), r) + 1.0;
    e * f64::from_bits(m.to_bits() << 52)
}

/// Returns `exp(-v)` in the parts of [`exp_parts_f64`], for `v = 2 sqrt(2 / pi) (a + 0.044715 a^3)`, 0 <= a <= 21.8.
#[inline(always)]
fn gelu_tanh_exp_f64(isa: Isa, a: f64) -> (f64, f64, f64) {
    // v is a sum of two, since exp multiplies its errors by v.
    let z = a * a;
    let zl = product_rest_f64(isa, a, a, z);
    let [k0, k1, l0, l1] = GELU_TANH_64;
    let t = z * k1;
    let tl = isa.fma_f64(zl, k1, isa.fma_f64(z, l1, l0)) + product_rest_f64(isa, z, k1, t);
    let (more, less) = if t > k0 { (t, k0) } else { (k0, t) };
    let q = more + less;
    let ql = ((more - q) + less) + tl;
    let v = a * q;
    let vl = isa.fma_f64(a, ql, product_rest_f64(isa, a, q, v));
    exp_sum_parts_f64(isa, -v, -vl)
}

/// The derivative of [`gelu_tanh_f32`]: 1 at inf and 0 at -inf.
#[inline(always)]
pub fn gelu_tanh_slope_f32(isa: Isa, x: f32) -> f32 {
    let a = f64::from(x.abs());
    let a = if a > 12.0 { 12.0 } else { a };
    let (e, slope) = (gelu_tanh_exp_f32(isa, a), isa.fma_f64(a * a, 3.0 * GELU_TANH_64[1], GELU_TANH_64[0]));
    let d = 1.0 / (1.0 + e);
    let q = e * d * isa.fma_f64(-a * slope, d, 1.0);
    (if x > 0.0 { 1.0 - q } else { q }) as f32
}

/// The derivative of [`gelu_tanh_f64`]: 1 at inf and 0 at -inf.
#[inline(always)]
pub fn gelu_tanh_slope_f64(isa: Isa, x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 21.8 { 21.8 } else { a };
    let (p, b, c) = gelu_tanh_exp_f64(isa, a);
    let (e, slope) = (b * c, isa.fma_f64(a * a, 3.0 * GELU_TANH_64[1], GELU_TANH_64[0]));
    let d = 1.0 / (1.0 + isa.fma_f64(e, p, e));
    let q = isa.fma_f64(d, p, d) * isa.fma_f64(-a * slope, d, 1.0) * b * c;
    if x > 0.0 { 1.0 - q } else { q }
}

/// `x / (1 + exp(-v))` with `v = 2 sqrt(2 / pi) (x + 0.044715 x^3)`: the tanh approximation of gelu.
#[inline(always)]
pub fn gelu_tanh_f32(isa: Isa, x: f32) -> f32 {
    let a = f64::from(x.abs());
    let a = if a > 12.0 { 12.0 } else { a };
    let e = gelu_tanh_exp_f32(isa, a);
    let base = if x > 0.0 { x } else { 0.0 * x };
    (f64::from(base) - a * e / (1.0 + e)) as f32
}

/// `x / (1 + exp(-v))` with `v = 2 sqrt(2 / pi) (x + 0.044715 x^3)`: the tanh approximation of gelu.
#[inline(always)]
pub fn gelu_tanh_f64(isa: Isa, x: f64) -> f64 {
    let a = x.abs();
    let a = if a > 21.8 { 21.8 } else { a };
    let (p, b, c) = gelu_tanh_exp_f64(isa, a);
    // a e / (1 + e) with e = (1 + p) b c.
    let e = b * c;
    let more = isa.fma_f64(e, p, e);
    let d = 1.0 + more;
    let w = 1.0 / d;
    let top = isa.fma_f64(a, p, a);
    let r = top * w;
    // The rounding errors of the quotient and of the divisor.
    let lost = -product_rest_f64(isa, r, d, top) - r * ((1.0 - d) + more);
    let base = if x > 0.0 { x } else { 0.0 * x };
    base - isa.fma_f64(w, lost, r) * b * c
}

/// The coefficients of the quotients, with relative errors of the quotients below 2^-27 and 2^-54.
const ABOVE_32: [f32; 4] = [0.437_390_92, 0.182_531_94, 0.040_386_427, 0.004_076_781_7];
const BELOW_32: [f32; 6] = [1.0, 1.672_666_7, 1.199_655, 0.467_605_5, 0.101_240_38, 0.010_218_853];
const ABOVE_64: [f64; 9] = [
    0.774_815_803_242_519,
    0.593_961_638_866_918_5,
    0.289_271_866_982_173_6,
    0.097_671_906_287_564_14,
    0.023_613_976_363_941_958,
    0.004_087_501_290_081_021,
    0.000_490_151_867_307_168,
    0.000_037_229_611_651_471_305,
    1.384_577_837_132_759_4e-6,
];
const BELOW_64: [f64; 11] = [
    1.0,
    2.347_516_167_287_894,
    2.560_970_183_848_276,
    1.714_105_740_953_121_8,
    0.781_866_195_671_539_3,
    0.254_886_354_885_827_94,
    0.060_413_148_543_448_52,
    0.010_339_167_092_268_067,
    0.001_232_099_151_611_217_6,
    0.000_093_320_797_216_953_15,
    3.470_621_954_994_853e-6,
];

/// `1 / sqrt(2 pi)`
const FRAC_1_SQRT_TAU_32: f32 = 0.398_942_3;
const FRAC_1_SQRT_TAU_64: f64 = 0.398_942_280_401_432_7;

/// `2 sqrt(2 / pi)` and 0.044715 times that, followed by their rounding errors in f64.
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
    use std::f64::consts::FRAC_1_SQRT_2;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    unsafe extern "C" {
        safe fn erfc(x: f64) -> f64;
    }

    fn gelu_tanh(x: f64) -> f64 {
        x / (1.0 + (-(8.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).exp())
    }

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(7.0, gelu_f32, |x| 0.5 * x * erfc(-x * FRAC_1_SQRT_2));
        check_f32(0.51, gelu_tanh_f32, gelu_tanh);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(GELU_POINTS, 7.0, gelu_f64);
        check_f64(GELU_TANH_POINTS, 2.0, gelu_tanh_f64);
    }

    #[test]
    fn f64_special_values() {
        check_special(gelu_f64, [0.0, -0.0, INF, NAN, NAN, f64::MAX, -0.0]);
        check_special(gelu_tanh_f64, [0.0, -0.0, INF, NAN, NAN, f64::MAX, -0.0]);
    }

    /// Checks a derivative. At x < 0 it is `q`, a difference of two terms, and its error is small relative to their sum. At x > 0 it is 1 -
    /// q.
    #[track_caller]
    fn check_slope(limit: f64, eps: f64, f: impl Fn(f64) -> f64, terms: impl Fn(f64) -> (f64, f64)) {
        for i in -14_000..=14_000 {
            let x = f64::from(i) / 1024.0;
            let (more, less) = terms(x.abs());
            let exact = if x > 0.0 { 1.0 - (more - less) } else { more - less };
            let scale = if x > 0.0 { 1.0 } else { more + less };
            // Errors of twice the spacing of subnormal numbers are accepted.
            let error = (f(x) - exact).abs() - 3e-45;
            assert!(error <= limit * eps * scale, "{x}: {:e}, not {exact:e}", f(x));
        }
    }

    #[test]
    fn slopes_are_those_of_the_formulas() {
        use super::super::super::simd::simd;
        // Phi(-a) and a phi(a).
        let exact = |a: f64| (0.5 * erfc(a * FRAC_1_SQRT_2), a * FRAC_1_SQRT_TAU_64 * (-0.5 * a * a).exp());
        check_slope(4.0, f32::EPSILON.into(), |x| simd(move |isa| gelu_slope_f32(isa, x as f32)).into(), exact);
        check_slope(200.0, f64::EPSILON, |x| simd(move |isa| gelu_slope_f64(isa, x)), exact);
        let by_tanh = |a: f64| {
            let (root, cubic) = ((8.0 / std::f64::consts::PI).sqrt(), 0.044715 * a * a);
            let e = (-root * a * (1.0 + cubic)).exp();
            (e / (1.0 + e), a * root * (1.0 + 3.0 * cubic) * e / (1.0 + e) / (1.0 + e))
        };
        check_slope(2.0, f32::EPSILON.into(), |x| simd(move |isa| gelu_tanh_slope_f32(isa, x as f32)).into(), by_tanh);
        check_slope(2000.0, f64::EPSILON, |x| simd(move |isa| gelu_tanh_slope_f64(isa, x)), by_tanh);
    }

    #[test]
    fn slopes_have_their_limits_where_x_is_infinite() {
        check_special(gelu_slope_f64, [0.5, 0.5, 1.0, -0.0, NAN, 1.0, -0.0]);
        check_special(gelu_tanh_slope_f64, [0.5, 0.5, 1.0, -0.0, NAN, 1.0, -0.0]);
    }

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
}
