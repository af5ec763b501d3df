//! `sin(pi x) / (pi x)`. In f64 only.
//!
//! Largest error in units in the last place (20,000 points of f64 in each of three ranges): 1.58.

use super::super::simd::Isa;
use super::poly_f64;

/// `(sin(pi r) / (pi r) - 1) / r^2` as a polynomial of r^2, on |r| <= 1 / 2.
const SINC: [f64; 8] = [
    -1.644_934_066_848_226_4,
    0.811_742_425_283_346,
    -0.190_751_824_121_672_3,
    0.026_147_847_807_920_784,
    -0.002_346_080_913_235_942_6,
    0.000_148_427_916_713_757_97,
    -6.972_268_306_400_272e-6,
    2.451_847_417_779_688e-7,
];

/// Numbers from here on are integers. Adding this number to a smaller one rounds it to an integer. The lowest bit of the sum is the parity
/// of this integer.
const WHOLE: f64 = 4_503_599_627_370_496.0;

/// `sin(pi x) / (pi x)`, 1 at 0, exactly 0 at the other integers; NaN at the infinities
#[inline(always)]
pub fn sinc(isa: Isa, x: f64) -> f64 {
    let t = x.abs();
    let turns = t + WHOLE;
    let r = if t < WHOLE { t - (turns - WHOLE) } else { 0.0 * t };
    let z = r * r;
    // The rounding error of z matters most where the slope is -1.27.
    let added = isa.fma_f64(-r, r, z);
    let s = isa.fma_f64(z, poly_f64(isa, z, SINC), if isa.has_fma() { 1.27 * added } else { 0.0 });
    // sin(pi t) = sin(pi r), with a sign that the parity of the turns determines.
    let q = if r == t { 1.0 } else { r / t };
    let y = isa.fma_f64(q, s, q);
    // Adding 0 removes the sign of a 0.
    f64::from_bits(y.to_bits() ^ (turns.to_bits() << 63)) + 0.0
}

#[cfg(test)]
mod tests {
    use super::super::super::simd::simd;
    use super::super::check::*;
    use super::*;
    use std::f64::consts::PI;

    /// Computed from the distance to the nearest integer.
    fn exact(x: f64) -> f64 {
        let n = x.round();
        let wave = (PI * (x - n)).sin() * if n % 2.0 == 0.0 { 1.0 } else { -1.0 };
        if x == 0.0 { 1.0 } else { wave / (PI * x) + 0.0 }
    }

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(0.51, |isa, x| sinc(isa, x.into()) as f32, exact);
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(SINC_POINTS, 1.8, sinc);
    }

    #[test]
    fn integers_give_zero() {
        for x in [1.0, -2.0, 3.0, 1e15, -4_503_599_627_370_497.0, 1e300, f64::MAX] {
            assert_eq!(simd(move |isa| sinc(isa, x)).to_bits(), 0, "{x}");
        }
        check_special(sinc, [1.0, 1.0, f64::NAN, f64::NAN, f64::NAN, 0.0, 0.0]);
    }

    const SINC_POINTS: &[(u64, u64, f64)] = &[
        (0x4015_d213_0c9a_daf0, 0xbfad_944e_1363_c966, 0.44),
        (0xc026_d187_fe2f_0af8, 0xbf9b_6a59_b78f_cfc1, 0.45),
        (0x3ff8_0e4a_1411_a148, 0xbfcb_1908_c057_e402, -0.46),
        (0x3ff7_05d6_5156_cbf6, 0xbfcb_cbb4_f7bd_adf2, 0.50),
        (0x3ff9_0336_d542_3686, 0xbfc9_8ca8_fe95_16f4, 0.49),
        (0xbfe4_f401_4f66_ac7c, 0x3fdb_8175_1c94_4978, 0.45),
        (0xc015_c8f4_fa2c_8f70, 0xbfad_7fa1_1431_d6e9, 0.45),
        (0x3ff9_40f4_3914_a5a4, 0xbfc9_0926_edea_9991, 0.44),
        (0xbfe4_52ba_198c_cb32, 0x3fdd_3b0d_b64a_d9fa, -0.44),
        (0x4025_219f_adcc_5b6a, 0x3f9e_3213_78be_c36c, -0.42),
        (0x0000_0000_0000_0001, 0x3ff0_0000_0000_0000, 0.00),
        (0x3fe0_0000_0000_0000, 0x3fe4_5f30_6dc9_c883, -0.35),
        (0x3e11_2e0b_e826_d695, 0x3ff0_0000_0000_0000, -0.01),
        (0x4031_8000_0000_0000, 0xbf92_a02c_471e_e336, -0.38),
        (0x419d_6f34_5500_0000, 0xbe1f_5241_c766_fdee, -0.44),
        (0x432f_ffff_ffff_ffff, 0xbc94_5f30_6dc9_c883, 0.28),
    ];
}
