//! Functions around `1 + e^x`.
//!
//! Largest errors (all inputs of f32, eight million of f64): sigmoid 1.44.

use super::super::simd::Isa;
use super::exp::{exp_parts_f32, exp_parts_f64};

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

#[cfg(test)]
mod tests {
    use super::super::check::*;
    use super::*;

    const NAN: f64 = f64::NAN;

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(1.5, sigmoid_f32, |x| 1.0 / (1.0 + (-x).exp()));
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(SIGMOID, 1.4, sigmoid_f64);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_special(sigmoid_f64, [0.5, 0.5, 1.0, 0.0, NAN, 1.0, 0.0]);
    }

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
