//! `log(exp(a) + exp(b))`: the larger operand plus a logarithm. If the larger operand is negative, the two cancel, in places completely.
//!
//! Errors are within 2 units, also where the two cancel. Results of a cancellation are computed again, f32 in f64, f64 in 63 bits, and the
//! few that need more in 106 bits. 106 bits suffice until the result is below 2^-50 of the larger operand; then its absolute error stays
//! below 2^-102.

use super::super::simd::Isa;
use super::double::Double;
use super::erf::product_rest_f64;
use super::exp::{exp_f32, exp_f64, exp_reduce_f64};
use super::log::{log_parts_f32, log_parts_f64, log_sum_f32, log_sum_f64};
use super::{LN2_HI_64, LN2_LO_64, poly_f64};
use crate::dtype::Element;

/// Elements in a piece. Longer pieces make the ends of loops cheaper; shorter ones limit the cost of one slow element.
const PIECE: usize = 256;

/// `log(1 + q)` for 0 <= q <= 1.
#[inline(always)]
pub(super) fn log1p_unit_f32(isa: Isa, q: f32) -> f32 {
    // The exponent of the sum is 0 or 1. It is used as a number, because with a condition the compiler would make two copies of the
    // following code.
    let (e, _) = log_parts_f32(1.0 + q);
    let scale = isa.fma_f32(-0.5, e, 1.0);
    log_sum_f32(isa, e, isa.fma_f32(scale, q, scale - 1.0))
}

#[inline(always)]
pub(super) fn log1p_unit_f64(isa: Isa, q: f64) -> f64 {
    let (e, _) = log_parts_f64(1.0 + q);
    let scale = isa.fma_f64(-0.5, e, 1.0);
    log_sum_f64(isa, e, isa.fma_f64(scale, q, scale - 1.0))
}

/// `log(exp(a) + exp(b))`, with an error of a unit of its operands.
#[inline(always)]
fn rough_f32(isa: Isa, a: f32, b: f32) -> f32 {
    // The difference of equal infinities would be NaN.
    let difference = if a == b { 0.0 } else { a - b };
    (if a > b { a } else { b }) + log1p_unit_f32(isa, exp_f32(isa, -difference.abs()))
}

#[inline(always)]
fn rough_f64(isa: Isa, a: f64, b: f64) -> f64 {
    let difference = if a == b { 0.0 } else { a - b };
    (if a > b { a } else { b }) + log1p_unit_f64(isa, exp_f64(isa, -difference.abs()))
}

/// `1 / k!` from k = 4 on.
const EXP_TAIL: [f64; 12] = {
    let (mut c, mut factorial, mut k) = ([0.0; 12], 6.0, 0);
    while k < 12 {
        factorial *= (k + 4) as f64;
        c[k] = 1.0 / factorial;
        k += 1;
    }
    c
};

/// `2 / (2 k + 5)`, the coefficients of `2 atanh(s)` from the fifth power on.
const ATANH_TAIL: [f64; 9] = {
    let (mut c, mut k) = ([0.0; 9], 0);
    while k < 9 {
        c[k] = 2.0 / (2 * k + 5) as f64;
        k += 1;
    }
    c
};

/// Numbers as sums of two.
type Pair = (f64, f64);
const SIXTH: Pair = (0.166_666_666_666_666_66, 9.251_858_538_542_97e-18);
const TWO_THIRDS: Pair = (0.666_666_666_666_666_6, 3.700_743_415_417_188e-17);

/// Returns `a + b` and its rounding error.
#[inline(always)]
fn sum(a: f64, b: f64) -> Pair {
    let s = Double::sum(a, b);
    (s.high, s.low)
}

/// [`sum`] for `|a| >= |b|`.
#[inline(always)]
fn ordered(a: f64, b: f64) -> Pair {
    let s = a + b;
    (s, (a - s) + b)
}

#[inline(always)]
fn product(isa: Isa, (a, a_low): Pair, (b, b_low): Pair) -> Pair {
    let h = a * b;
    (h, isa.fma_f64(a, b_low, isa.fma_f64(a_low, b, product_rest_f64(isa, a, b, h))))
}

/// `exp(x + low)` to 63 bits, for -1416 < x <= 0.
#[inline(always)]
fn exp_pair(isa: Isa, x: f64, low: f64) -> Pair {
    let (n, h, a, b) = exp_reduce_f64(isa, x);
    let (r, lost) = ordered(h, isa.fma_f64(n, -LN2_LO_64, low));
    let square = r * r;
    let square_low = product_rest_f64(isa, r, r, square);
    let (cube, cube_low) = product(isa, product(isa, (square, square_low), (r, 0.0)), SIXTH);
    let (one, one_low) = ordered(1.0, r);
    let (one, half_low) = ordered(one, 0.5 * square);
    let (one, more_low) = ordered(one, cube);
    let tail = isa.fma_f64(square * square, poly_f64(isa, r, EXP_TAIL), isa.fma_f64(one, lost, isa.fma_f64(0.5, square_low, cube_low)));
    let (e, e_low) = ordered(one, ((one_low + half_low) + more_low) + tail);
    (e * a * b, e_low * a * b)
}

/// `log(1 + q + low)` to 63 bits, for 0 <= q <= 1.
#[inline(always)]
fn log1p_pair(isa: Isa, (q, low): Pair) -> Pair {
    let (e, _) = log_parts_f64(1.0 + q);
    let scale = isa.fma_f64(-0.5, e, 1.0);
    let f = isa.fma_f64(scale, q, scale - 1.0);
    let f_low = ((scale - 1.0 - f) + scale * q) + scale * low;
    // 2 atanh(s) with s = f / (2 + f)
    let (d, d_low) = ordered(2.0, f);
    let inverse = 1.0 / d;
    let s = f * inverse;
    let t = s * d;
    let s_low = (((f - t) - product_rest_f64(isa, s, d, t)) - s * d_low) * inverse;
    let z = s * s;
    let (cube, cube_low) = product(isa, product(isa, (z, product_rest_f64(isa, s, s, z)), (s, 0.0)), TWO_THIRDS);
    let tail = isa.fma_f64(s * z * z, poly_f64(isa, z, ATANH_TAIL), isa.fma_f64(e, LN2_LO_64, f_low / (1.0 + f)));
    let (high, lost) = sum(e * LN2_HI_64, 2.0 * s);
    let (high, more) = sum(high, cube);
    (high, (lost + more) + (isa.fma_f64(2.0 * s_low, 1.0 + z, cube_low) + tail))
}

/// `log(exp(a) + exp(b))` for a small result, to 63 bits of the logarithm that cancels.
#[inline(always)]
fn near_f64(isa: Isa, a: f64, b: f64) -> f64 {
    let (most, least) = if a > b { (a, b) } else { (b, a) };
    let (difference, difference_low) = sum(least, -most);
    let q = exp_pair(isa, if difference < -1416.0 { -1416.0 } else { difference }, difference_low);
    let (l, l_low) = log1p_pair(isa, q);
    let (r, lost) = sum(most, l);
    r + (lost + l_low)
}

/// `log(exp(a) + exp(b))` for a result near 0, to 100 bits of the larger operand.
#[cold]
fn slow(a: f64, b: f64) -> f64 {
    let (most, least) = if a > b { (a, b) } else { (b, a) };
    let r = Double::from(most) + Double::sum(least, -most).exp().log1p();
    r.high + r.low
}

macro_rules! runs {
    ($($run:ident($t:ident) = $rough:ident, $near:ident, deep below $deep:literal;)*) => { $(
        /// `r[i] = log(exp(a[i]) + exp(b[i]))`
        ///
        /// # Safety
        /// The operands must have `n` elements; `r` must be an operand, or overlap none.
        #[inline(always)]
        pub unsafe fn $run(isa: Isa, r: *mut $t, [a, b]: [*const $t; 2], n: usize) {
            for start in (0..n).step_by(PIECE) {
                let len = PIECE.min(n - start);
                let (mut values, mut small) = ([0.0; PIECE], false);
                for i in 0..len {
                    // SAFETY: the caller keeps this function's contract.
                    let (x, y) = unsafe { (a.add(start + i).read(), b.add(start + i).read()) };
                    values[i] = $rough(isa, x, y);
                    small |= small_rest(x, y, values[i]);
                }
                if small {
                    // SAFETY: the caller keeps this function's contract.
                    unsafe { redo(&mut values[..len], [a.add(start), b.add(start)], #[inline(always)] |x, y| $near(isa, x, y), $deep) }
                }
                for i in 0..len {
                    // SAFETY: the caller keeps this function's contract; `r` may be an operand, whose elements have been read.
                    unsafe { r.add(start + i).write(values[i]) }
                }
            }
        }
    )* };
}

/// Computes again the values that are small differences and so show the errors of their terms: by `near`, and in 106 bits if they are below
/// `deep` times the larger operand.
///
/// # Safety
/// The operands must have as many elements as there are values, at most a piece.
#[inline(always)]
unsafe fn redo<T: Element>(values: &mut [T], [a, b]: [*const T; 2], near: impl Fn(f64, f64) -> f64, deep: f64) {
    let mut small = [0u8; PIECE];
    for i in 0..values.len() {
        // SAFETY: the caller keeps this function's contract.
        let (x, y) = unsafe { (a.add(i).read(), b.add(i).read()) };
        small[i] = u8::from(small_rest(x, y, values[i]));
    }
    // The few values to be computed again are collected, so that they are computed side by side.
    let (mut at, mut count) = ([0u8; PIECE], 0);
    for i in 0..values.len() {
        at[count & (PIECE - 1)] = i as u8;
        count += usize::from(small[i]);
    }
    let (mut xs, mut ys, mut rs) = ([0.0; PIECE], [0.0; PIECE], [0.0; PIECE]);
    for (k, &i) in at[..count].iter().enumerate() {
        // SAFETY: the caller keeps this function's contract.
        (xs[k], ys[k]) = unsafe { (a.add(i.into()).read().to_f64(), b.add(i.into()).read().to_f64()) };
    }
    for k in 0..count {
        rs[k] = near(xs[k], ys[k]);
    }
    for k in 0..count {
        let most = if xs[k] > ys[k] { xs[k] } else { ys[k] };
        values[usize::from(at[k])] = T::from_f64(if rs[k].abs() < -deep * most { slow(xs[k], ys[k]) } else { rs[k] });
    }
}

/// Returns true if `r = log(exp(a) + exp(b))` shows the errors of the values that it is computed from.
#[inline(always)]
fn small_rest<T: Element>(a: T, b: T, r: T) -> bool {
    let most = if a > b { a } else { b };
    // True if the logarithm matters, and `r` is a difference or shows the rounding of `a - b`.
    let counts = r.sub(most) > most.abs().mul(T::from_f64(0.05));
    counts & (r > T::from_f64(-1.0)) & ((most < T::ZERO) | (r < T::from_f64(0.5)))
}

runs! {
    logaddexp_run_f32(f32) = rough_f32, rough_f64, deep below 1e-7;
    logaddexp_run_f64(f64) = rough_f64, near_f64, deep below 0.005;
}

#[cfg(test)]
mod tests {
    use super::super::super::simd::simd;
    use super::super::check::*;
    use super::*;
    use std::f64::consts::LN_2;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    fn alone_f64(isa: Isa, x: f64, y: f64) -> f64 {
        let mut r = x;
        // SAFETY: each operand is one element.
        unsafe { logaddexp_run_f64(isa, &raw mut r, [&raw const x, &raw const y], 1) };
        r
    }

    fn alone_f32(isa: Isa, x: f32, y: f32) -> f32 {
        let mut r = x;
        // SAFETY: each operand is one element.
        unsafe { logaddexp_run_f32(isa, &raw mut r, [&raw const x, &raw const y], 1) };
        r
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64_2(POINTS, 1.2, alone_f64);
        check_f64_2(CANCELLING, 1.2, alone_f64);
    }

    #[test]
    fn f32_errors_stay_below_their_limits() {
        let mut state = 1u32;
        for _ in 0..40_000 {
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 * -1.5 / 16_777_216.0
            };
            let (x, y) = (next(), next());
            // Accurate to 16 digits, though not relative to the result itself.
            let exact = (f64::from(x).exp() + f64::from(y).exp()).ln();
            let got = simd(move |isa| alone_f32(isa, x, y));
            assert!(exact.abs() < 1e-7 || ulps(got, exact) <= 2.0, "{x:e}, {y:e}: {got:e}, not {exact:e}");
        }
    }

    #[test]
    fn special_values_are_those_of_the_formula() {
        check_special(|isa, x| alone_f64(isa, x, x), [LN_2, LN_2, INF, -INF, NAN, f64::MAX, f64::MIN]);
        check_special(|isa, x| alone_f64(isa, x, -INF), [0.0, 0.0, INF, -INF, NAN, f64::MAX, f64::MIN]);
        check_special(|isa, x| alone_f64(isa, INF, x), [INF, INF, INF, INF, NAN, INF, INF]);
        check_special(|isa, x| alone_f64(isa, -0.5, x), [0.474_076_984_180_106_7, 0.474_076_984_180_106_7, INF, -0.5, NAN, f64::MAX, -0.5]);
    }

    #[test]
    fn an_element_that_cancels_leaves_the_others_of_its_run_alone() {
        let (mut a, b) = (vec![-2.0; 300], vec![1.5; 300]);
        (a[7], a[299]) = (NAN, INF);
        let whole = a.clone();
        let (mut c, mut d) = (whole.clone(), b.clone());
        (c[100], d[100]) = (-0.880_266_826_032_303_7, -0.501_939_179_254_435_4);
        let run = |x: &[f64], y: &[f64]| {
            let mut r = vec![0.0; x.len()];
            let (to, from) = (r.as_mut_ptr(), [x.as_ptr(), y.as_ptr()]);
            // SAFETY: all have as many elements.
            simd(|isa| unsafe { logaddexp_run_f64(isa, to, from, x.len()) });
            r
        };
        let (plain, mixed) = (run(&whole, &b), run(&c, &d));
        assert_eq!(mixed[100], 0.019_829_959_544_559_607);
        assert!((0..300).all(|i| i == 100 || plain[i].to_bits() == mixed[i].to_bits()));
    }

    const POINTS: &[(u64, u64, u64, f64)] = &[
        (0x3fd8_64c6_19d1_f504, 0x3fb1_1326_41e3_d1f0, 0x3fed_bd7d_ae41_b4a3, 0.11),
        (0x3fe7_6fd8_8fcd_ad4a, 0x3fd4_0fd6_c3c7_ecc4, 0x3ff3_ce48_573e_cb65, -0.11),
        (0x3ff2_786b_ef93_3632, 0x3fed_740c_42ae_9db0, 0x3ffb_cc52_34be_4367, 0.12),
        (0x3fc6_6dde_b900_58e0, 0x3fd5_f9c8_63eb_81ac, 0x3fee_975b_88d5_ce03, 0.13),
        (0x3fd2_e17a_2254_875c, 0x3fe5_cebd_af98_3cc0, 0x3ff3_3300_d5d3_a52d, -0.13),
        (0x3fd1_1ded_679a_1310, 0x3ff1_e2a8_03fc_115c, 0x3ff7_93ce_e93d_ca77, 0.13),
        (0x3fcf_1f1c_8152_99d8, 0x3fdb_0036_0c4d_6874, 0x3ff0_7970_78a1_9057, -0.13),
        (0x3fd9_e51d_a17e_2ef4, 0x3fd9_95e6_867b_c318, 0x3ff1_8685_14dd_fa2b, -0.14),
        (0x3fc0_bc5e_a1ec_bec8, 0x3fe2_0fa4_7ae9_1d90, 0x3ff1_065b_66a4_b631, -0.14),
        (0x3fe6_9593_e7d7_7626, 0x3fd1_50c2_a45a_e664, 0x3ff3_46d6_c862_d233, -0.14),
        (0x408f_4000_0000_0000, 0x408f_4000_0000_0000, 0x408f_458b_90bf_be8e, 0.48),
        (0xc08f_4000_0000_0000, 0xc08f_4400_0000_0000, 0xc08f_3c35_1720_4948, -0.05),
        (0x0000_0000_0000_0000, 0xc087_4800_0000_0000, 0x0000_0000_0000_0001, -0.43),
        (0x7e37_e43c_8800_759c, 0x7e37_e43c_8800_759c, 0x7e37_e43c_8800_759c, 0.00),
    ];
    // From mpmath. The results become smaller and smaller.
    const CANCELLING: &[(u64, u64, u64, f64)] = &[
        (0xbfdd_5b97_9c0c_c391, 0xbff3_2da6_4292_b55b, 0xbfb1_8fee_4855_867f, 0.44),
        (0xbff0_922b_a941_a70d, 0xbfde_afb2_14cd_a2e3, 0xbf9a_e12d_66a4_241c, 0.49),
        (0xbfe3_1d82_a850_8bb3, 0xbfea_72e3_77e2_65b6, 0xbf89_1194_93ce_bcaa, 0.29),
        (0xbfe4_c234_ccd7_4e67, 0xbfe8_0945_aef6_3a5f, 0xbf76_5ea9_64ac_ab09, 0.39),
        (0xbfd1_fa80_95ae_a360, 0xbff6_6d11_1d6a_53cc, 0x3f55_1a59_e180_e966, 0.18),
        (0xbfe2_84f5_4529_c854, 0xbfea_4d87_3041_906f, 0x3f27_3ce9_1e9b_2a70, 0.12),
        (0xbfe9_c559_2af3_988d, 0xbfe2_f393_b6e5_4f24, 0x3efb_9ee4_45ca_0b46, 0.35),
        (0xbfce_6ed7_a3fc_27ae, 0xbff8_d93a_b6c0_9cb2, 0xbeb7_1321_cb36_8772, -0.31),
        (0xbfb2_2b95_f22a_a607, 0xc005_7203_6fb0_bb14, 0xbe56_3901_df68_ca98, 0.08),
        (0xbfe1_551a_0721_178d, 0xbfeb_e5a2_e9a8_9ae6, 0xbe0e_2dd2_3914_f72a, 0.33),
        (0xbfe9_e4aa_8154_b17c, 0xbfe2_dabf_0964_3b98, 0xbda4_780c_3938_8df8, 0.45),
        (0xbfdd_8b0b_e32a_f9ff, 0xbfef_d6d4_1b9d_57b3, 0xbd44_a4b3_69ea_a839, -0.07),
        (0xbfe4_01d6_0b38_363e, 0xbfe8_8340_e759_1ba9, 0x3cef_2f34_dd32_9aa7, -0.28),
    ];
}
