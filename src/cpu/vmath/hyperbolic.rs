//! Hyperbolic functions.
//!
//! Largest errors in units in the last place (a dense sweep of f32, millions of points of f64): sinh 1.44, cosh 1.40 (with AVX-512
//! registers 1.53), tanh 1.94.

use super::super::simd::Isa;
use super::exp::{SHIFT_32, SHIFT_64, expm1_near_f32, expm1_near_f64};
use super::{LN2_HI_32, LN2_HI_64, LN2_LO_32, LN2_LO_64, poly_f32, poly_f64};

/// `(cosh(r) - 1) / r^2` as a polynomial of r^2, on |r| <= ln 2 / 2.
const COSH_32: [f32; 3] = [0.5, 4.166_626_6e-2, 1.394_629_2e-3];
const COSH_64: [f64; 5] =
    [5.000_000_000_000_012e-1, 4.166_666_666_651_737_4e-2, 1.388_888_894_680_367e-3, 2.480_148_992_960_948_7e-5, 2.763_135_066_133_256e-7];

/// `(sinh(r) / r - 1) / r^2` as a polynomial of r^2, on the same interval.
const SINH_32: [f32; 3] = [0.166_666_67, 8.333_289e-3, 1.990_503e-4];
const SINH_64: [f64; 5] = [
    1.666_666_666_666_667_7e-1,
    8.333_333_333_321_853e-3,
    1.984_126_988_580_833_3e-4,
    2.755_724_433_925_241_3e-6,
    2.510_904_614_211_217e-8,
];

/// `exp(x) = (c + s) * 2^n` with c = cosh(r), s = sinh(r). Both functions are then sums of c and s with the weights `2^n +- 2^-n`. A
/// quarter of the weights is always finite.
struct Parts<T> {
    /// `c - 1`
    c: T,
    /// The high part of s, which is exact.
    h: T,
    /// The low part of s.
    low: T,
    /// `2^n / 4`
    a: T,
    /// `2^-n / 4`
    w: T,
}

#[inline(always)]
fn parts_f32(isa: Isa, x: f32) -> Parts<f32> {
    const SHIFT: f32 = SHIFT_32 - 129.0;
    let t = x.abs();
    let t = if t > 89.5 { 89.5 } else { t };
    let k = isa.fma_f32(t, std::f32::consts::LOG2_E, SHIFT);
    let n = k - SHIFT;
    let h = isa.fma_f32(n, -LN2_HI_32, t);
    let r = isa.fma_f32(n, -LN2_LO_32, h);
    let z = r * r;
    let c = z * poly_f32(isa, z, COSH_32);
    let low = isa.fma_f32(n, -LN2_LO_32, r * z * poly_f32(isa, z, SINH_32));
    let a = f32::from_bits(k.to_bits() << 23);
    let w = f32::from_bits(0x7f00_0000_u32.wrapping_sub(a.to_bits())) * 0.0625;
    Parts { c, h, low, a, w }
}

#[inline(always)]
fn parts_f64(isa: Isa, x: f64) -> Parts<f64> {
    const SHIFT: f64 = SHIFT_64 - 1025.0;
    let t = x.abs();
    let t = if t > 710.5 { 710.5 } else { t };
    let k = isa.fma_f64(t, std::f64::consts::LOG2_E, SHIFT);
    let n = k - SHIFT;
    let h = isa.fma_f64(n, -LN2_HI_64, t);
    let r = isa.fma_f64(n, -LN2_LO_64, h);
    let z = r * r;
    let c = z * poly_f64(isa, z, COSH_64);
    let low = isa.fma_f64(n, -LN2_LO_64, r * z * poly_f64(isa, z, SINH_64));
    let a = f64::from_bits(k.to_bits() << 52);
    let w = f64::from_bits(0x7fe0_0000_0000_0000_u64.wrapping_sub(a.to_bits())) * 0.0625;
    Parts { c, h, low, a, w }
}

/// `sinh(x)`
#[inline(always)]
pub fn sinh_f32(isa: Isa, x: f32) -> f32 {
    let p = parts_f32(isa, x);
    let (plus, minus) = (p.a + p.w, p.a - p.w);
    let lost = (p.a - minus) - p.w;
    let high = isa.fma_f32(plus, p.h, minus);
    let low = isa.fma_f32(plus, p.low, isa.fma_f32(minus, p.c, lost));
    // If x is so small that its square does not matter, the result is x. The weights would lose its last bits.
    (if x.abs() < 1e-4 { x } else { 2.0 * (high + low) }).copysign(x)
}

/// `sinh(x)`
#[inline(always)]
pub fn sinh_f64(isa: Isa, x: f64) -> f64 {
    let p = parts_f64(isa, x);
    let (plus, minus) = (p.a + p.w, p.a - p.w);
    let lost = (p.a - minus) - p.w;
    let high = isa.fma_f64(plus, p.h, minus);
    let low = isa.fma_f64(plus, p.low, isa.fma_f64(minus, p.c, lost));
    (if x.abs() < 1e-9 { x } else { 2.0 * (high + low) }).copysign(x)
}

/// `cosh(x)`
#[inline(always)]
pub fn cosh_f32(isa: Isa, x: f32) -> f32 {
    let p = parts_f32(isa, x);
    let (plus, minus) = (p.a + p.w, p.a - p.w);
    let lost = p.w - (plus - p.a);
    let high = isa.fma_f32(minus, p.h, plus);
    let low = isa.fma_f32(minus, p.low, isa.fma_f32(plus, p.c, lost));
    2.0 * (high + low)
}

/// `cosh(x)`
#[inline(always)]
pub fn cosh_f64(isa: Isa, x: f64) -> f64 {
    let p = parts_f64(isa, x);
    let (plus, minus) = (p.a + p.w, p.a - p.w);
    let lost = p.w - (plus - p.a);
    let high = isa.fma_f64(minus, p.h, plus);
    let low = isa.fma_f64(minus, p.low, isa.fma_f64(plus, p.c, lost));
    2.0 * (high + low)
}

/// `tanh(x)`
#[inline(always)]
pub fn tanh_f32(isa: Isa, x: f32) -> f32 {
    let t = x.abs();
    let t = if t > 10.0 { 10.0 } else { t };
    let e = expm1_near_f32(isa, 2.0 * t);
    let q = e / (e + 2.0);
    // The same value, computed so that small results do not have the rounding error of the sum.
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
    use super::super::runs::*;
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(1.5, sinh_f32, f64::sinh);
        check_f32(1.5, alone!(cosh_run_f32), f64::cosh);
        check_f32(1.99, alone!(tanh_run_f32), f64::tanh);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(SINH, 1.5, sinh_f64);
        check_f64(COSH, 1.5, alone!(cosh_run_f64));
        check_f64(TANH, 1.99, tanh_f64);
    }

    #[test]
    fn f64_agrees_with_the_standard_library() {
        check_std(sinh_f64, f64::sinh);
        check_std(alone!(cosh_run_f64), f64::cosh);
        check_std(tanh_f64, f64::tanh);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_special(sinh_f64, [0.0, -0.0, INF, -INF, NAN, INF, -INF]);
        check_special(alone!(cosh_run_f64), [1.0, 1.0, INF, INF, NAN, INF, INF]);
        check_special(tanh_f64, [0.0, -0.0, 1.0, -1.0, NAN, 1.0, -1.0]);
    }
    const SINH: &[(u64, u64, f64)] = &[
        (0x3fd7_b501_2a32_3e72, 0x3fd8_40c0_379b_a0f1, 0.21),
        (0xbfda_5c70_1000_af42, 0xbfdb_1ce1_714f_1e15, 0.14),
        (0x3ff0_f272_a386_826c, 0x3ff4_4c64_e4b1_5c25, -0.12),
        (0x3ff1_638c_0945_2124, 0x3ff5_0518_ee61_b439, 0.11),
        (0xbffc_903d_19dc_992f, 0xc007_2c21_be19_0fef, 0.11),
        (0xc003_6f25_97a7_e821, 0xc016_8666_bb43_ac79, -0.10),
        (0xbffc_929b_f7b5_5510, 0xc007_2fc3_cf81_dea5, 0.10),
        (0x3ff1_6185_d2c6_2744, 0x3ff5_01c1_82b1_b0c5, 0.10),
        (0x3ffc_64c0_1d26_9a10, 0x4006_e9d5_8e67_ea9f, 0.09),
        (0x3ff1_8563_79ab_2924, 0x3ff5_3d27_c622_7843, 0.09),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.00),
        (0x01a5_6e1f_c2f8_f359, 0x01a5_6e1f_c2f8_f359, 0.00),
        (0x4032_1999_9999_999a, 0x4181_4d0b_c17d_4211, 0.22),
        (0xc032_1999_9999_999a, 0xc181_4d0b_c17d_4211, 0.22),
        (0x4086_2f33_3333_3333, 0x7fe1_fdb7_1f93_35ba, -0.04),
        (0xc086_3333_3333_3333, 0xffed_a98a_7371_610b, 0.03),
    ];
    const COSH: &[(u64, u64, f64)] = &[
        (0x3ff0_e28a_ce97_0594, 0x3ff9_c47f_0d59_53fb, -0.14),
        (0x3ff0_d540_3872_a084, 0x3ff9_b3c0_8d70_41f9, -0.14),
        (0x3ffc_6bf8_230c_4270, 0x4008_4f6c_7dd1_90b9, 0.13),
        (0xbfd9_4753_4dad_9978, 0x3ff1_43ad_faf1_f553, 0.12),
        (0xbff1_5763_5341_20dc, 0x3ffa_5ab4_86ed_5e09, 0.11),
        (0xbff0_2a68_c53a_c0a2, 0x3ff8_e2a3_2a8a_5fbd, -0.10),
        (0x4004_18f9_9880_4da0, 0x4018_d37c_2fc6_86da, -0.10),
        (0x3ffc_e21f_ce5f_e7f0, 0x4008_fb8f_af7e_1e25, 0.10),
        (0x3ffd_4296_7bf1_9510, 0x4009_8c09_6511_7759, -0.10),
        (0x3ff1_a209_b28d_b754, 0x3ffa_bd89_5aad_0bcd, -0.09),
        (0x3e11_2e0b_e826_d695, 0x3ff0_0000_0000_0000, 0.00),
        (0x4032_1999_9999_999a, 0x4181_4d0b_c17d_4213, 0.07),
        (0x4086_2f33_3333_3333, 0x7fe1_fdb7_1f93_35ba, -0.04),
        (0xc086_3333_3333_3333, 0x7fed_a98a_7371_610b, 0.03),
    ];
    const TANH: &[(u64, u64, f64)] = &[
        (0xbfca_5fdd_7928_9f40, 0xbfca_01e7_fd1e_a29d, -0.10),
        (0xbfcb_875c_f24e_c810, 0xbfcb_1cad_e041_79e3, -0.13),
        (0xbfcb_77c4_089f_9348, 0xbfcb_0dc7_b82e_7d67, -0.13),
        (0x3fca_c340_9b43_70e0, 0x3fca_6121_a51e_a8a8, -0.13),
        (0xbfcd_8944_7fe5_bbb0, 0xbfcd_05dc_c9f5_8e6e, 0.14),
        (0xbfca_475c_b415_dee0, 0xbfc9_ea69_4479_c85d, -0.15),
        (0x3fcf_e9fa_15f4_6298, 0x3fcf_44ca_0e53_ccfd, -0.15),
        (0xbfca_38bb_63d2_6210, 0xbfc9_dc61_28cf_af73, -0.16),
        (0xbfcc_a946_fb8d_8068, 0xbfcc_310f_b544_37ec, 0.16),
        (0x3fd0_4e43_53f7_1690, 0x3fcf_ec75_5c47_6b41, -0.17),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.00),
        (0x3bc7_9ca1_0c92_4223, 0x3bc7_9ca1_0c92_4223, 0.00),
        (0x4033_0000_0000_0000, 0x3fef_ffff_ffff_ffff, 0.43),
        (0xc032_b333_3333_3333, 0xbfef_ffff_ffff_ffff, -0.03),
        (0x3fd0_5879_3dd9_7f63, 0x3fcf_ff9b_3e30_a278, -0.01),
    ];
}
