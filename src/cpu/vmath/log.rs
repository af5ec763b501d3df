//! Logarithms.
//!
//! Largest errors (all inputs of f32, eight million of f64): log 0.88.

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

const SQRT_HALF_32: u32 = 0x3f35_04f3;
const SQRT_HALF_64: u64 = 0x3fe6_a09e_667f_3bcd;

/// `x = 2^e (1 + f)` with sqrt(1/2) <= 1 + f < sqrt(2), for positive normal x.
#[inline(always)]
pub(in crate::cpu) fn log_parts_f32(x: f32) -> (f32, f32) {
    let t = x.to_bits().wrapping_add(0x3f80_0000 - SQRT_HALF_32);
    let e = (t >> 23) as i32 - 127;
    (e as f32, f32::from_bits((t & 0x7f_ffff).wrapping_add(SQRT_HALF_32)) - 1.0)
}

#[inline(always)]
pub(in crate::cpu) fn log_parts_f64(x: f64) -> (f64, f64) {
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
    use super::super::check::*;
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(0.9, log_f32, f64::ln);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(LOG, 0.9, log_f64);
    }

    #[test]
    fn f64_agrees_with_the_standard_library() {
        check_std(log_f64, f64::ln);
    }

    #[test]
    fn special_values_are_those_of_c99() {
        check_special(log_f64, [-INF, -INF, INF, NAN, NAN, f64::MAX.ln(), NAN]);
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
}
