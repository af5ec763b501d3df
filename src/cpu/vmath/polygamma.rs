//! trigamma and the higher derivatives of digamma.
//!
//! trigamma is a polynomial or an asymptotic series, reflected for negative arguments. The other derivatives are sums of powers in 106
//! bits, with a remainder from the formula of Euler and Maclaurin. Between two poles the even derivatives are differences, which have a
//! zero.
//!
//! Largest errors of float64 in units in the last place: trigamma 1.6; polygamma 1.0.

use super::double::{Double, Scaled};
use super::erf::product_rest_f64;
use super::gamma_parts::{BERNOULLI, nearest, sine_over_pi};
use super::poly_split_f64;
use crate::cpu::simd::{Isa, simd};

/// `trigamma(1 + t) (1 + t)^2` as a polynomial of t - 1/2, for 0 <= t <= 1.
const TRIGAMMA: [f64; 17] = [
    2.103_304_951_225_528_6,
    9.396_141_521_068_198e-1,
    3.363_968_109_436_588e-2,
    -1.800_377_823_122_002e-2,
    9.315_785_154_076_297e-3,
    -4.684_133_760_897_578_5e-3,
    2.298_259_754_484_511e-3,
    -1.104_139_815_564_241_2e-3,
    5.209_026_179_004_335e-4,
    -2.418_954_994_073_830_7e-4,
    1.107_713_753_371_552_6e-4,
    -5.020_230_001_643_076e-5,
    2.265_042_009_449_233e-5,
    -9.773_787_554_040_894e-6,
    3.899_161_966_310_194e-6,
    -2.351_172_987_907_676e-6,
    1.425_832_225_974_512e-6,
];
/// `(trigamma(y) - 1 / y - 1 / (2 y^2)) y^3` as a polynomial of 1 / y^2, for y >= 2.
const TRIGAMMA_SERIES: [f64; 16] = [
    1.666_666_666_665_334_6e-1,
    -3.333_333_326_463_016_5e-2,
    2.380_951_127_698_343_8e-2,
    -3.333_215_817_616_745_6e-2,
    7.569_051_940_411_897e-2,
    -2.505_398_142_584_137_6e-1,
    1.095_355_453_731_78,
    -5.578_760_240_126_501,
    28.844_732_699_315_138,
    -135.091_889_744_564_7,
    528.583_944_153_283_4,
    -1_627.439_906_163_002_2,
    3_728.882_630_360_61,
    -5_925.441_312_784_81,
    5_797.251_376_858_196,
    -2_621.946_360_270_37,
];

/// `1 / (s + low)^2`, rounded almost once; infinite if it overflows.
#[inline(always)]
fn inverse_square(isa: Isa, s: f64, low: f64) -> f64 {
    let w = 1.0 / s;
    let missing = isa.fma_f64(-w, low, -product_rest_f64(isa, w, s, 1.0));
    let z = w * w;
    let lost = product_rest_f64(isa, w, w, z);
    let y = z + isa.fma_f64(2.0 * z, missing, lost);
    if z < f64::INFINITY { y } else { z }
}

/// `d/dx digamma(x)`: infinite at 0, the negative integers and -inf. Without `signed`, only for positive x.
#[inline(always)]
fn trigamma(isa: Isa, x: f64, signed: bool) -> f64 {
    let y = x.abs();
    let (_, r) = nearest(y);
    let negative = signed && x < 0.0;
    let large = y >= 2.0;
    let first = y < 1.0;
    // Computes trigamma(y), or, for x < 1, trigamma(1 + y), which is less by 1 / y^2.
    let t = if r < 0.0 { r + 1.0 } else { r };
    let [top, rest @ ..] = TRIGAMMA;
    let slope = poly_split_f64(isa, t - 0.5, rest);
    let h = isa.fma_f64(t - 0.5, slope, top);
    let h_low = isa.fma_f64(t - 0.5, slope, top - h);
    let h = if negative && !first { h - 1.0 } else { h };
    let d = if first { 1.0 + y } else { y };
    let w = 1.0 / d;
    let missing = if y < f64::INFINITY { -product_rest_f64(isa, w, d, 1.0) } else { 0.0 };
    let z = w * w;
    let half = if negative { -0.5 } else { 0.5 };
    let series = w + isa.fma_f64(isa.fma_f64(poly_split_f64(isa, z, TRIGAMMA_SERIES), w, half), z, w * missing);
    // h z, corrected for the rounding errors of the divisor and the square.
    let v = h * z;
    let lost = isa.fma_f64(h, product_rest_f64(isa, w, w, z), product_rest_f64(isa, h, z, v));
    let lost = isa.fma_f64(2.0 * v, missing, isa.fma_f64(h_low, z, lost));
    let value = if large { series } else { v + lost };
    // The remaining term is 1 / x^2, or, from trigamma(x) + trigamma(1 - x) = (pi / sin(pi x))^2, that square.
    let (s, low) = if negative { sine_over_pi(isa, r) } else { (y, 0.0) };
    let pole = inverse_square(isa, s, low);
    let pole = if negative || first { pole } else { 0.0 };
    if negative { pole - value } else { pole + value }
}

/// `d/dx digamma(x)`: infinite at 0, the negative integers and -inf.
#[inline(always)]
pub fn trigamma_f64(isa: Isa, x: f64) -> f64 {
    trigamma(isa, x, true)
}

/// [`trigamma_f64`] for x that are not negative.
#[inline(always)]
pub(super) fn trigamma_positive_f64(isa: Isa, x: f64) -> f64 {
    trigamma(isa, x, false)
}

/// `d/dx digamma(x)`: infinite at 0, the negative integers and -inf.
#[inline(always)]
pub fn trigamma_f32(isa: Isa, x: f32) -> f32 {
    trigamma_f64(isa, f64::from(x)) as f32
}

/// [`trigamma_f32`] for x that are not negative.
#[inline(always)]
pub(super) fn trigamma_positive_f32(isa: Isa, x: f32) -> f32 {
    trigamma_positive_f64(isa, f64::from(x)) as f32
}

/// The n-th derivative of digamma, for n >= 2.
#[derive(Debug, Clone, Copy)]
pub struct Polygamma {
    n: u64,
    /// `(n - 1)!`
    factorial: Scaled,
}

impl Polygamma {
    /// Prepares the n-th derivative, in time proportional to n.
    pub fn new(n: u64) -> Polygamma {
        let factorial = (2..n).fold(Scaled::new(Double::ONE, 0), |f, k| f * Scaled::new(Double::from(k as f64), 0));
        Polygamma { n, factorial }
    }

    /// Returns the derivative at x. Odd derivatives are infinite at 0 and the negative integers, even ones -inf (as in PyTorch).
    pub fn at(&self, x: f64) -> f64 {
        simd(
            #[inline(always)]
            move |_| self.at_inline(x),
        )
    }

    #[inline(always)]
    fn at_inline(&self, x: f64) -> f64 {
        let odd = self.n % 2 == 1;
        if x > 0.0 || x.is_nan() {
            let size = if x < f64::INFINITY { self.sum::<55>(x.into()).to_f64() } else { 1.0 / x };
            return if odd { size } else { -size };
        }
        let d = x - x.round();
        if d == 0.0 || x == f64::NEG_INFINITY {
            return if odd { f64::INFINITY } else { f64::NEG_INFINITY };
        }
        // Near a zero more digits are needed.
        let (y, size) = self.between::<55>(x, d);
        if y.abs() > 0.25 * size {
            return y;
        }
        let (y, size) = self.between::<60>(x, d);
        if y.abs() > 0.01 * size { y } else { self.between::<100>(x, d).0 }
    }

    /// Returns the derivative at a negative x with the distance `d` from an integer, and the size of the largest terms.
    #[inline(always)]
    fn between<const BITS: u32>(&self, x: f64, d: f64) -> (f64, f64) {
        // The terms on either side of 0 are each a sum over positive numbers, so no loop runs down to x.
        let (above, below) = if d > 0.0 { (d.into(), Double::sum(1.0, -d)) } else { (Double::sum(1.0, d), (-d).into()) };
        let mut sums = [self.factorial; 3];
        for (sum, x) in sums.iter_mut().zip([above, below, Double::sum(1.0, -x)]) {
            *sum = self.sum::<BITS>(x);
        }
        let [over, under, beyond] = sums;
        // These two may cancel almost completely, so they are added first.
        let poles = if self.n % 2 == 1 { over + under } else { under + -over };
        ((poles + -beyond).to_f64(), if d > 0.0 { over } else { under }.to_f64())
    }

    /// `n! (1 / x^(n+1) + 1 / (x+1)^(n+1) + ...)` for positive x, to 55, 60 or about 100 bits.
    #[inline(always)]
    fn sum<const BITS: u32>(&self, x: Double) -> Scaled {
        // The sum is relative to (n - 1)! / x^n, the size of the result for large x.
        let (n, s) = (self.n as f64, self.n.saturating_add(1));
        let (from, little) = if BITS == 100 { (24.0 + n, 2f64.powi(-112)) } else { (9.0 + 0.6 * n, 2f64.powi(-64)) };
        let (mut sum, mut k) = (Double::ZERO, 0.0);
        let rest = loop {
            let a = x + Double::from(k);
            let rough = if BITS == 55 { power(x.high / a.high, s) } else { 1.0 };
            let ratio = if rough < 0.125 / n { rough.into() } else { (x / a).power(s) };
            if a.high >= from {
                break ratio * if BITS == 100 { end_of_sum_exactly(n + 1.0, a) } else { end_of_sum(n + 1.0, a) };
            }
            sum = sum + ratio * n.into();
            if ratio.high * a.high < little {
                break Double::ZERO;
            }
            k += 1.0;
        };
        Scaled::new(sum + rest, 0) * self.factorial / Scaled::new(x, 0).power(s)
    }
}

/// `x^n` by squaring.
#[inline(always)]
fn power(mut x: f64, mut n: u64) -> f64 {
    let mut r = 1.0;
    while n > 0 {
        if n & 1 == 1 {
            r *= x;
        }
        x *= x;
        n >>= 1;
    }
    r
}

/// `(s - 1) a^s (1 / a^s + 1 / (a+1)^s + ...)`, by the formula of Euler and Maclaurin, to about 60 bits for a > 8 + 0.6 s.
#[inline(always)]
fn end_of_sum(s: f64, a: Double) -> Double {
    let inverse = 1.0 / a.high;
    let square = inverse * inverse;
    let (mut sum, mut term, mut top) = (0.0, (s - 1.0) * s * inverse, s);
    for (b, _) in &BERNOULLI[..14] {
        sum += b * term;
        // In this order one product waits for the previous one, instead of three.
        term *= (top + 1.0) * (top + 2.0) * square;
        top += 2.0;
    }
    a + Double::sum(0.5 * (s - 1.0), sum)
}

/// [`end_of_sum`] to about 100 bits for a > s + 23.
#[inline(always)]
fn end_of_sum_exactly(s: f64, a: Double) -> Double {
    let (mut sum, mut term, mut top) = (a + Double::from(0.5 * (s - 1.0)), Double::product(s - 1.0, s) / a, s);
    let square = a * a;
    for (high, low) in BERNOULLI {
        sum = sum + Double { high, low } * term;
        term = term * Double::product(top + 1.0, top + 2.0) / square;
        top += 2.0;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::check::{alone, check_f64, check_special};
    use super::super::{trigamma_run_f32, trigamma_run_f64};
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    #[test]
    fn trigamma_errors_stay_below_their_limits() {
        check_f64(POINTS, 1.7, alone!(trigamma_run_f64));
    }

    #[test]
    fn trigamma_of_special_values() {
        check_special(alone!(trigamma_run_f64), [INF, INF, 0.0, INF, NAN, 1.0 / f64::MAX, INF]);
        assert!([-1.0, -2.0, -7.0, -1e17].iter().all(|&x| simd(move |isa| alone!(trigamma_run_f64)(isa, x)) == INF));
    }

    #[test]
    fn trigamma_of_f32_follows_mathematics() {
        // From mpmath.
        for (x, psi) in [
            (0.25, 17.197329),
            (1.5, 0.9348022),
            (2.75, 0.43757126),
            (100.0, 0.010050166),
            (-0.5, 8.934802),
            (-0.25, 18.54188),
            (-1.75, 19.301638),
            (-10.5, 9.778758),
            (-1000.25, 19.738209),
        ] {
            let got = simd(move |isa| alone!(trigamma_run_f32)(isa, x));
            assert!((got - psi).abs() <= 1e-7 * f32::abs(psi), "trigamma({x}): {got}, not {psi}");
        }
    }

    #[test]
    fn polygamma_of_any_order() {
        // From mpmath: n! zeta(n + 1, x) and its continuation.
        for (n, x, exact) in [
            (2, 0.5, -16.82879664423432),
            (2, 1.0, -2.4041138063191885),
            (2, 7.25, -0.02182895229519774),
            (3, 0.75, 19.7633125348506),
            (3, -2.5, 194.74787621918762),
            (2, -1.25, 123.72136678366236),
            (4, -10.3, 9738.759863954216),
            (5, 0.001, 1.1999999999999998e+20),
            (10, 20.5, -3.5036001352094345e-08),
            (33, 130.25, 4.857620667701654e-35),
            (100, 3.5, -1.0450358166692752e+103),
            (170, 60.0, -666.0567445274287),
            (2, 10000000000.0, -1.0000000001e-20),
        ] {
            let got = Polygamma::new(n).at(x);
            assert!((got - exact).abs() <= 2.5e-16 * f64::abs(exact), "polygamma({n}, {x}): {got:e}, not {exact:e}");
        }
        let at = |n, x| Polygamma::new(n).at(x);
        assert_eq!((at(3, 0.0), at(2, -0.0), at(5, -4.0), at(2, INF).to_bits()), (INF, -INF, INF, (-0.0_f64).to_bits()));
        assert_eq!((at(170, -4.01), at(170, -3.99), at(1000, 0.5)), (INF, -INF, -INF));
        assert!(at(4, NAN).is_nan());
    }

    #[test]
    fn even_derivatives_keep_their_digits_beside_zeros() {
        // From mpmath.
        for (n, x, exact) in ZEROS {
            let got = Polygamma::new(n).at(f64::from_bits(x));
            assert!(got.to_bits().abs_diff(exact) <= 4, "polygamma({n}, {:e}): {got:e}", f64::from_bits(x));
        }
    }

    const POINTS: &[(u64, u64, f64)] = &[
        (0x3ee7_42b1_f0f4_9e76, 0x41fe_4820_0ee0_c3e7, -0.47),
        (0x3fd9_386e_c862_b040, 0x401d_e217_2b8c_13b4, 0.46),
        (0x3f07_0d43_ddea_8e74, 0x41be_d522_d1ab_b147, 0.33),
        (0x3f80_6caa_ded8_9af4, 0x40ce_5ed9_4077_755b, -0.12),
        (0x3fa0_cdc2_3050_4620, 0x408d_0fa1_2bb7_f0e2, 0.05),
        (0x3e97_7638_7ccc_9d7f, 0x429d_c3b0_7cf7_31b2, 0.14),
        (0x3fc7_f7c0_2200_8060, 0x403d_ceb6_ab4a_439a, -0.14),
        (0x3fb0_7d8e_bfd9_c50b, 0x406e_5008_b175_6ee1, -0.09),
        (0x3ed0_3e8a_0708_1df6, 0x422f_0b75_4594_c437, -0.05),
        (0x3f28_0380_fa30_845e, 0x417c_697a_dce4_afa9, -0.02),
        (0xc016_d2f4_aba8_dc28, 0x402e_b182_487f_da7d, 0.00),
        (0xc02a_9a1a_6073_c956, 0x402d_e123_898f_a6a2, -0.01),
        (0xc02b_6b2f_7b86_573a, 0x402f_5ff7_b714_6aa4, -0.15),
        (0xc030_4ca1_bcc2_121f, 0x402e_216f_7b01_8462, 0.25),
        (0xc005_9d92_1e86_76e0, 0x402d_cf18_8d12_9df5, 0.27),
        (0x2b2b_ff2e_e48e_0530, 0x6974_e718_d7d7_625a, -0.06),
        (0x7e37_e43c_8800_759c, 0x01a5_6e1f_c2f8_f359, -0.47),
        (0x3fe0_0000_0000_0000, 0x4013_bd3c_c9be_45de, 0.35),
        (0x4000_0000_0000_0000, 0x3fe4_a34c_c4a6_0fa6, 0.27),
        (0x3fff_ffff_e528_0d65, 0x3fe4_a34c_da58_28ca, 0.24),
        (0xbfe0_0000_0000_0000, 0x4021_de9e_64df_22ef, 0.18),
        (0xbee4_f8b5_88e3_68f1, 0x4202_a05f_200d_28df, -0.06),
        (0xc024_9999_9999_999a, 0x402d_f949_42f0_3f8e, 0.24),
    ];

    const ZEROS: [(u64, u64, u64); 27] = [
        (2, 0xbfdf_b9ce_3f1d_2f24, 0xbcf3_a204_9fb4_ba31),
        (2, 0xbfdf_b9ce_3f1d_2f23, 0x3cfc_c03d_f40a_ee01),
        (2, 0xbfdf_b9a4_4db2_1d5d, 0x3f5f_b578_f596_fc9e),
        (2, 0xbff7_fb07_3b6f_7e21, 0xbd16_2478_13f9_6b1a),
        (2, 0xbff7_fb07_3b6f_7e20, 0x3d1a_8243_f4c7_f94d),
        (2, 0xbff7_fafc_bf14_b9af, 0x3f5f_e256_b2f3_c5e5),
        (2, 0xc015_ffda_e05f_0df8, 0x3d1c_28a0_6eff_ba1b),
        (2, 0xc015_ffda_e05f_0df7, 0x3d4b_def9_097b_c803),
        (2, 0xc015_ffd8_4148_5cdc, 0x3f5f_eae3_ff94_bdf7),
        (4, 0xbfdf_fc4b_fc33_5dcd, 0xbd21_9a54_dc65_af09),
        (4, 0xbfdf_fc4b_fc33_5dcc, 0x3d6c_ebf0_692d_5082),
        (4, 0xbfdf_fc22_0ac8_4c06, 0x3fc3_acd3_6589_9e2f),
        (4, 0xbff7_ffea_9c6f_114b, 0x3d5e_d56e_0bb4_8b0e),
        (4, 0xbff7_ffea_9c6f_114a, 0x3d90_f2c0_6a92_40b2),
        (4, 0xbff7_ffe0_2014_4cd9, 0x3fc3_b042_4452_c3ec),
        (4, 0xc015_ffff_ec41_257e, 0xbd86_cf95_68ea_3500),
        (4, 0xc015_ffff_ec41_257d, 0x3da8_5737_5585_b45d),
        (4, 0xc015_fffd_4d2a_7462, 0x3fc3_b072_7c85_dff3),
        (10, 0xbfdf_ffff_75ba_efbc, 0xbeb8_6209_e85e_a2ff),
        (10, 0xbfdf_ffff_75ba_efbb, 0x3ef1_8288_8e96_1e57),
        (10, 0xbfdf_ffd5_844f_ddf5, 0x4148_f2b1_aff1_a21b),
        (10, 0xbff7_ffff_ffdf_2b05, 0x3ef9_90f2_55e9_2317),
        (10, 0xbff7_ffff_ffdf_2b04, 0x3f19_6ce6_ef07_20a1),
        (10, 0xbff7_fff5_8384_6693, 0x4148_f2b3_3997_5fe7),
        (10, 0xc015_ffff_ffff_ffee, 0xbf18_868a_565b_264e),
        (10, 0xc015_ffff_ffff_ffed, 0x3f29_ce0f_8941_2dfe),
        (10, 0xc015_fffd_60e9_4ed2, 0x4148_f2b3_3a6e_1e99),
    ];
}
