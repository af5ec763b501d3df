//! Roots: reciprocal square root and hypotenuse.
//!
//! Largest errors in units in the last place (a dense sweep of f32, millions of points of f64): rsqrt 1.5, with AVX-512 1.0; hypot 0.99,
//! without fma 1.17.

use super::super::simd::{Isa, Level};

/// `1 / sqrt(x)`
#[inline(always)]
pub fn rsqrt_f32(isa: Isa, x: f32) -> f32 {
    if isa.level() != Level::Avx512 {
        return 1.0 / x.sqrt();
    }
    let tiny = x < f32::MIN_POSITIVE;
    let (t, back) = if tiny { (x * 67_108_864.0, 8192.0) } else { (x, 1.0) };
    // Halving the exponent gives the first estimate. With 64-byte registers, Newton's steps take less time than a root and a division.
    let mut y = f32::from_bits(0x5f37_59df_u32.wrapping_sub(t.to_bits() >> 1));
    for _ in 0..2 {
        y *= isa.fma_f32(-0.5 * t * y, y, 1.5);
    }
    let y = isa.fma_f32(0.5 * y, isa.fma_f32(-(t * y), y, 1.0), y) * back;
    let y = if x == 0.0 { f32::INFINITY.copysign(x) } else { y };
    let y = if x == f32::INFINITY { 0.0 } else { y };
    if x >= 0.0 { y } else { f32::NAN }
}

/// `1 / sqrt(x)`
#[inline(always)]
pub fn rsqrt_f64(isa: Isa, x: f64) -> f64 {
    if isa.level() != Level::Avx512 {
        return 1.0 / x.sqrt();
    }
    let tiny = x < f64::MIN_POSITIVE;
    let (t, back) = if tiny { (x * 18_014_398_509_481_984.0, 134_217_728.0) } else { (x, 1.0) };
    let mut y = f64::from_bits(0x5fe6_eb50_c7b5_37a9_u64.wrapping_sub(t.to_bits() >> 1));
    for _ in 0..3 {
        y *= isa.fma_f64(-0.5 * t * y, y, 1.5);
    }
    let y = isa.fma_f64(0.5 * y, isa.fma_f64(-(t * y), y, 1.0), y) * back;
    let y = if x == 0.0 { f64::INFINITY.copysign(x) } else { y };
    let y = if x == f64::INFINITY { 0.0 } else { y };
    if x >= 0.0 { y } else { f64::NAN }
}

/// `sqrt(x^2 + y^2)`
#[inline(always)]
pub fn hypot_f32(isa: Isa, x: f32, y: f32) -> f32 {
    let (x, y) = (x.abs(), y.abs());
    let (m, l) = if x > y { (x, y) } else { (y, x) };
    // The squares of very large and very small values would overflow or lose bits.
    let (scale, back) = if m > 1e18 { (TINY_32, HUGE_32) } else { (1.0, 1.0) };
    let (scale, back) = if m < 1e-15 { (HUGE_32, TINY_32) } else { (scale, back) };
    let (m, l) = (m * scale, l * scale);
    let r = isa.fma_f32(m, m, l * l).sqrt() * back;
    // Infinity wins over NaN.
    if x == f32::INFINITY || y == f32::INFINITY { f32::INFINITY } else { r }
}

/// `sqrt(x^2 + y^2)`
#[inline(always)]
pub fn hypot_f64(isa: Isa, x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let (m, l) = if x > y { (x, y) } else { (y, x) };
    let (scale, back) = if m > 1e150 { (TINY_64, HUGE_64) } else { (1.0, 1.0) };
    let (scale, back) = if m < 1e-130 { (HUGE_64, TINY_64) } else { (scale, back) };
    let (m, l) = (m * scale, l * scale);
    let r = isa.fma_f64(m, m, l * l).sqrt() * back;
    if x == f64::INFINITY || y == f64::INFINITY { f64::INFINITY } else { r }
}

// 2^-96 and 2^96; 2^-600 and 2^600.
const TINY_32: f32 = f32::from_bits((127 - 96) << 23);
const HUGE_32: f32 = f32::from_bits((127 + 96) << 23);
const TINY_64: f64 = f64::from_bits((1023 - 600) << 52);
const HUGE_64: f64 = f64::from_bits((1023 + 600) << 52);

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
        check_f32(1.5, rsqrt_f32, |x| 1.0 / x.sqrt());
        check_f32_2(1.2, hypot_f32, f64::hypot);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(RSQRT, 1.5, rsqrt_f64);
        check_f64_2(HYPOT, 1.2, hypot_f64);
    }

    #[test]
    fn square_roots_are_correctly_rounded() {
        let root = |x: f64| simd(move |isa| alone!(sqrt_run_f64)(isa, x));
        for bits in (0..=u64::MAX).step_by(0x0000_4001_2345_6789) {
            let x = f64::from_bits(bits);
            assert!(root(x).to_bits() == x.sqrt().to_bits() || (root(x).is_nan() && x.sqrt().is_nan()), "{x:e}: {:e}", root(x));
        }
        // The hardest numbers, see `wide::sqrt`: their roots are next to the middle of two numbers.
        let mut hardest = 0;
        for bits in [54, 55] {
            for rest in (-1023_i64..1024).step_by(8) {
                for j in roots_modulo(rest, bits).into_iter().filter(|j| (1 << 53..1 << 54).contains(j)) {
                    let x = (i128::from(j) * i128::from(j) - i128::from(rest)) as u128;
                    if x.ilog2() == 52 + bits && x.trailing_zeros() >= bits {
                        hardest += 1;
                        assert_eq!(root(x as f64).to_bits(), (x as f64).sqrt().to_bits(), "{x:e}");
                    }
                }
            }
        }
        assert!(hardest > 200, "{hardest}");
    }

    /// Returns the odd j below 2^bits whose squares, divided by 2^bits, leave the remainder `rest`, which is 1 modulo 8.
    fn roots_modulo(rest: i64, bits: u32) -> [i64; 4] {
        let mut j = 1_i64;
        for k in 3..bits {
            // j^2 is correct in k bits. A step of 2^(k - 1) inverts the next bit.
            if (j.wrapping_mul(j).wrapping_sub(rest) >> k) & 1 == 1 {
                j += 1 << (k - 1);
            }
        }
        let all = (1_i64 << bits) - 1;
        let half = 1_i64 << (bits - 1);
        [j, -j, j + half, half - j].map(|j| j & all)
    }

    #[test]
    fn special_values_are_those_of_c99() {
        for (x, y) in [(0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, NAN), (NAN, NAN), (-1.0, NAN), (f64::MIN, NAN)] {
            let (got, got_32) = simd(move |isa| (rsqrt_f64(isa, x), rsqrt_f32(isa, x as f32)));
            assert!((got == y && got_32 == y as f32) || (got.is_nan() && got_32.is_nan() && y.is_nan()), "rsqrt({x}) = {got}, {got_32}");
        }
        check_special(|isa, x| hypot_f64(isa, x, INF), [INF; 7]);
        check_special(|isa, x| hypot_f64(isa, -INF, x), [INF; 7]);
        check_special(|isa, x| hypot_f64(isa, x, NAN), [NAN, NAN, INF, INF, NAN, NAN, NAN]);
        check_special(|isa, x| hypot_f64(isa, -0.0, x), [0.0, 0.0, INF, INF, NAN, f64::MAX, f64::MAX]);
        assert_eq!(simd(|isa| (hypot_f32(isa, 3e38, 2e38), hypot_f32(isa, 3e-45, 4e-45))), (f32::INFINITY, 5e-45));
        assert_eq!(simd(|isa| hypot_f64(isa, 3.0, -4.0)), 5.0);
    }
    const RSQRT: &[(u64, u64, f64)] = &[
        (0x3fb0_0155_99ab_e430, 0x400f_feaa_7bb0_80c7, 0.49),
        (0x3ff0_09f6_0b0a_8622, 0x3fef_f60e_993c_0cd7, 0.44),
        (0x3ff0_5ca9_ee11_982c, 0x3fef_a4e1_2002_5e68, 0.44),
        (0x3ff0_3ef1_7c25_22aa, 0x3fef_c1c5_e16b_45af, 0.44),
        (0x3ff0_c615_f276_5ed0, 0x3fef_40d2_36bf_013c, -0.43),
        (0x3ff0_1eea_0af8_aa0a, 0x3fef_e142_79a5_afde, 0.43),
        (0x3ff0_3fc5_861f_c127, 0x3fef_c0f6_aafa_fd82, -0.42),
        (0x3ff1_23da_a55e_3b44, 0x3fee_eade_ebb2_bfbe, 0.42),
        (0x3fb0_73ef_4332_e7e6, 0x400f_8e78_465e_edd8, 0.42),
        (0x3ff0_2364_0100_1576, 0x3fef_dcd6_498f_a433, -0.42),
        (0x0000_0000_0000_0001, 0x6180_0000_0000_0000, 0.00),
        (0x4010_0000_0000_0000, 0x3fe0_0000_0000_0000, 0.00),
        (0x7fe1_ccf3_85eb_c8a0, 0x1ff5_73d6_8f90_3ea2, 0.13),
    ];
    const HYPOT: &[(u64, u64, u64, f64)] = &[
        (0x4020_6d82_2ba1_db4a, 0x4020_3297_bc76_47ae, 0x4027_11f9_6d71_4b0f, -0.04),
        (0x4010_3434_6877_7a0f, 0x4010_32b1_d5a1_f684, 0x4016_e961_3420_3c56, 0.06),
        (0x4021_2d1c_b821_e6c6, 0x4021_f066_247a_4529, 0x4028_d60b_4691_f3f1, 0.07),
        (0x4020_3fbf_bbae_7cda, 0x4021_1ac3_4087_645c, 0x4027_97a0_1609_67b1, 0.07),
        (0x4020_ad38_b4f8_3137, 0x4021_d192_30ab_49fe, 0x4028_67bb_f56c_b75d, -0.09),
        (0x4020_310a_d909_65d9, 0x4022_61be_f17a_c7f1, 0x4028_7eff_94de_5e5f, 0.09),
        (0x4020_685e_2ffe_9caf, 0x4022_c32c_d654_9b61, 0x4028_ecb8_3545_389b, 0.09),
        (0x4020_a9cb_4346_5317, 0x4021_c217_e380_9adf, 0x4028_5a18_c782_5d35, 0.09),
        (0x4021_9609_5018_5971, 0x4021_dcf6_091f_1235, 0x4029_1130_2eba_7bc3, -0.09),
        (0x4020_1bdc_5390_f4ed, 0x4020_2bd6_d118_721f, 0x4026_d354_3e32_7d61, -0.09),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0x0000_0000_0000_0001, 0.41),
        (0x0000_1268_8b70_e62b, 0x0000_24d1_16e1_cc56, 0x0000_2929_91fd_ae04, -0.32),
        (0x7fe1_ccf3_85eb_c8a0, 0x7fe1_ccf3_85eb_c8a0, 0x7fe9_2c80_954c_51f5, -0.33),
        (0x7e37_e43c_8800_759c, 0xfe03_1cfd_3999_f7b0, 0x7e38_02bd_d6d6_67ba, 0.10),
        (0x1682_5eed_8ffb_39c1, 0x1688_7e92_154e_f7ac, 0x168e_9e36_9aa2_b597, 0.00),
        (0x6974_e718_d7d7_625a, 0x1668_7e92_154e_f7ac, 0x6974_e718_d7d7_625a, 0.00),
    ];
}
