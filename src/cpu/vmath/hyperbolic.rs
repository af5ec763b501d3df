//! Hyperbolic functions.
//!
//! Largest errors (all inputs of f32, eight million of f64): tanh 1.35.

use super::super::simd::Isa;
use super::exp::{exp_reduce_f32, exp_reduce_f64, expm1_near_f32, expm1_near_f64};
use super::{LN2_LO_32, LN2_LO_64, poly_f32, poly_f64};

/// `(cosh(r) - 1) / r^2` as a polynomial of r^2, on |r| <= ln 2 / 2.
const COSH_32: [f32; 3] = [0.5, 4.166_626_6e-2, 1.394_629_2e-3];
const COSH_64: [f64; 5] =
    [5.000_000_000_000_012e-1, 4.166_666_666_651_737_4e-2, 1.388_888_894_680_367e-3, 2.480_148_992_960_948_7e-5, 2.763_135_066_133_256e-7];

/// `(sinh(r) / r - 1) / r^2` likewise.
const SINH_32: [f32; 3] = [0.166_666_67, 8.333_289e-3, 1.990_503e-4];
const SINH_64: [f64; 5] = [
    1.666_666_666_666_667_7e-1,
    8.333_333_333_321_853e-3,
    1.984_126_988_580_833_3e-4,
    2.755_724_433_925_241_3e-6,
    2.510_904_614_211_217e-8,
];

/// `exp(x) = (c + s) * 2^n` with c = cosh(r), s = sinh(r), so that both functions are sums of c and s with `2^n +- 2^-n` as weights.
struct Parts<T> {
    /// `c - 1`
    c: T,
    /// The high part of s; exact.
    h: T,
    /// The low part of s.
    low: T,
    /// `2^n / b`
    a: T,
    /// `2^-n / b`
    w: T,
    /// A power of two that keeps the weights finite.
    b: T,
}

#[inline(always)]
fn parts_f32(isa: Isa, x: f32) -> Parts<f32> {
    let t = x.abs();
    let (n, h, a, b) = exp_reduce_f32(isa, if t > 90.0 { 90.0 } else { t });
    let r = isa.fma_f32(n, -LN2_LO_32, h);
    let z = r * r;
    let c = z * poly_f32(isa, z, COSH_32);
    let low = isa.fma_f32(n, -LN2_LO_32, r * z * poly_f32(isa, z, SINH_32));
    let (one_a, one_b) = (0x7f00_0000_u32.wrapping_sub(a.to_bits()), 0x7f00_0000_u32.wrapping_sub(b.to_bits()));
    let w = f32::from_bits(one_b) * f32::from_bits(one_b) * f32::from_bits(one_a);
    Parts { c, h, low, a, w, b }
}

#[inline(always)]
fn parts_f64(isa: Isa, x: f64) -> Parts<f64> {
    const ONES: u64 = 0x7fe0_0000_0000_0000;
    let t = x.abs();
    let (n, h, a, b) = exp_reduce_f64(isa, if t > 711.0 { 711.0 } else { t });
    let r = isa.fma_f64(n, -LN2_LO_64, h);
    let z = r * r;
    let c = z * poly_f64(isa, z, COSH_64);
    let low = isa.fma_f64(n, -LN2_LO_64, r * z * poly_f64(isa, z, SINH_64));
    let (one_a, one_b) = (ONES.wrapping_sub(a.to_bits()), ONES.wrapping_sub(b.to_bits()));
    let w = f64::from_bits(one_b) * f64::from_bits(one_b) * f64::from_bits(one_a);
    Parts { c, h, low, a, w, b }
}

/// `sinh(x)`
#[inline(always)]
pub fn sinh_f32(isa: Isa, x: f32) -> f32 {
    let p = parts_f32(isa, x);
    let (plus, minus) = (p.a + p.w, p.a - p.w);
    let lost = (p.a - minus) - p.w;
    let high = isa.fma_f32(plus, p.h, minus);
    let low = isa.fma_f32(plus, p.low, isa.fma_f32(minus, p.c, lost));
    ((high + low) * (0.5 * p.b)).copysign(x)
}

/// `sinh(x)`
#[inline(always)]
pub fn sinh_f64(isa: Isa, x: f64) -> f64 {
    let p = parts_f64(isa, x);
    let (plus, minus) = (p.a + p.w, p.a - p.w);
    let lost = (p.a - minus) - p.w;
    let high = isa.fma_f64(plus, p.h, minus);
    let low = isa.fma_f64(plus, p.low, isa.fma_f64(minus, p.c, lost));
    ((high + low) * (0.5 * p.b)).copysign(x)
}

/// `cosh(x)`
#[inline(always)]
pub fn cosh_f32(isa: Isa, x: f32) -> f32 {
    let p = parts_f32(isa, x);
    let (plus, minus) = (p.a + p.w, p.a - p.w);
    let lost = p.w - (plus - p.a);
    let high = isa.fma_f32(minus, p.h, plus);
    let low = isa.fma_f32(minus, p.low, isa.fma_f32(plus, p.c, lost));
    (high + low) * (0.5 * p.b)
}

/// `cosh(x)`
#[inline(always)]
pub fn cosh_f64(isa: Isa, x: f64) -> f64 {
    let p = parts_f64(isa, x);
    let (plus, minus) = (p.a + p.w, p.a - p.w);
    let lost = p.w - (plus - p.a);
    let high = isa.fma_f64(minus, p.h, plus);
    let low = isa.fma_f64(minus, p.low, isa.fma_f64(plus, p.c, lost));
    (high + low) * (0.5 * p.b)
}

/// `tanh(x)`
#[inline(always)]
pub fn tanh_f32(isa: Isa, x: f32) -> f32 {
    let t = x.abs();
    let t = if t > 10.0 { 10.0 } else { t };
    let e = expm1_near_f32(isa, 2.0 * t);
    let q = e / (e + 2.0);
    // The same, but small results come without the rounding of the sum.
    let half = 0.5 * e;
    let small = isa.fma_f32(-half, q, half);
    (if e < 0.5 { small } else { q }).copysign(x)
}

/// `tanh(x)`
#[inline(always)]
pub fn tanh_f64(isa: Isa, x: f64) -> f64 {
    let t = x.abs();
    let t = if t > 20.0 { 20.0 } else { t };
    let e = expm1_near_f64(isa, 2.0 * t);
    let q = e / (e + 2.0);
    let half = 0.5 * e;
    let small = isa.fma_f64(-half, q, half);
    (if e < 0.5 { small } else { q }).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::super::check::*;
    use super::*;

    const NAN: f64 = f64::NAN;

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(1.4, tanh_f32, f64::tanh);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(TANH, 1.4, tanh_f64);
    }

    #[test]
    fn f64_agrees_with_the_standard_library() {
        check_std(tanh_f64, f64::tanh);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_special(tanh_f64, [0.0, -0.0, 1.0, -1.0, NAN, 1.0, -1.0]);
    }

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
}
