//! The parts that lgamma and its derivatives share: distances from poles, logarithms, sums with their rounding errors, and Bernoulli
//! numbers.

use super::erf::product_rest_f64;
use super::log::{log_parts_f64, log_tail_f64};
use super::{LN2_HI_64, LN2_LO_64, poly_f64};
use crate::cpu::simd::Isa;

/// `sin(pi r) / (pi r)` as a polynomial of r^2, for |r| <= 1/2.
pub(super) const SINC: [f64; 9] = [
    1.0,
    -1.644_934_066_848_226_4,
    8.117_424_252_833_462e-1,
    -1.907_518_241_216_753_2e-1,
    2.614_784_780_794_252e-2,
    -2.346_080_913_286_947e-3,
    1.484_279_165_440_658_2e-4,
    -6.972_267_199_595_811e-6,
    2.451_831_440_451_816_4e-7,
];

/// Every number from here on is an integer. Adding it rounds a smaller number to an integer.
const INTEGERS: f64 = 4_503_599_627_370_496.0;

/// Returns the integer nearest to y >= 0 and the difference, which is exact.
#[inline(always)]
pub(super) fn nearest(y: f64) -> (f64, f64) {
    let y = if y > INTEGERS { INTEGERS } else { y };
    let n = (y + INTEGERS) - INTEGERS;
    (n, y - n)
}

/// `sin(pi r) / pi` as a sum of two, for |r| <= 1/2.
#[inline(always)]
pub(super) fn sine_over_pi(isa: Isa, r: f64) -> (f64, f64) {
    let z = r * r;
    let [first, rest @ ..] = SINC;
    let p = poly_f64(isa, z, rest);
    let t = z * p;
    let sinc = first + t;
    let low = ((first - sinc) + t) + isa.fma_f64(product_rest_f64(isa, r, r, z), p, product_rest_f64(isa, z, p, t));
    let s = r * sinc;
    (s, isa.fma_f64(r, low, product_rest_f64(isa, r, sinc, s)))
}

/// Returns `a + b` and its rounding error.
#[inline(always)]
pub(super) fn sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let part = s - a;
    (s, (a - (s - part)) + (b - part))
}

/// Returns `c + u q` and its rounding error, for `|c| >= |u q|`.
#[inline(always)]
pub(super) fn step(isa: Isa, u: f64, q: f64, c: f64) -> (f64, f64) {
    let t = u * q;
    let s = c + t;
    (s, ((c - s) + t) + product_rest_f64(isa, u, q, t))
}

/// Returns `log(x)` for positive finite x as a sum of two numbers, of which the second is small.
#[inline(always)]
pub(super) fn log_pair(isa: Isa, x: f64) -> (f64, f64) {
    let tiny = x < f64::MIN_POSITIVE;
    let (e, f) = log_parts_f64(if tiny { x * 18_014_398_509_481_984.0 } else { x });
    log_pair_of(isa, e - if tiny { 54.0 } else { 0.0 }, f)
}

/// [`log_pair`] for normal x.
#[inline(always)]
pub(super) fn log_pair_normal(isa: Isa, x: f64) -> (f64, f64) {
    let (e, f) = log_parts_f64(x);
    log_pair_of(isa, e, f)
}

/// Returns `e log(2) + log(1 + f)`, given the parts of a number.
#[inline(always)]
fn log_pair_of(isa: Isa, e: f64, f: f64) -> (f64, f64) {
    let high = e * LN2_HI_64;
    let sum = high + f;
    (sum, ((high - sum) + f) + isa.fma_f64(e, LN2_LO_64, log_tail_f64(isa, f)))
}

/// Returns `log(x)` for positive normal x, accurate to 33 bits.
#[inline(always)]
pub(super) fn log_short(isa: Isa, x: f64) -> f64 {
    let (e, f) = log_parts_f64(x);
    let s = f / (2.0 + f);
    let z = s * s;
    isa.fma_f64(e, std::f64::consts::LN_2, s * isa.fma_f64(z, poly_f64(isa, z, LOG_SHORT), 2.0))
}

/// `(2 atanh(s) / s - 2) / s^2` as a polynomial of s^2, for the s of [`log_short`].
const LOG_SHORT: [f64; 4] = [6.666_666_655_337_942e-1, 4.000_012_253_257_498_3e-1, 2.855_075_724_275_475_4e-1, 2.333_192_518_785_68e-1];

/// `B_2j / (2j)!` as sums of two.
pub(super) const BERNOULLI: [(f64, f64); 20] = [
    (8.333_333_333_333_333e-2, 4.625_929_269_271_485e-18),
    (-1.388_888_888_888_889e-3, 5.300_543_954_373_577e-20),
    (3.306_878_306_878_307e-5, -2.230_071_928_855_766_5e-21),
    (-8.267_195_767_195_768e-7, 3.457_597_454_003_665e-23),
    (2.087_675_698_786_81e-8, -1.207_345_059_113_259_9e-24),
    (-5.284_190_138_687_493e-10, 3.517_096_671_929_869e-27),
    (1.338_253_653_068_467_9e-11, -2.828_354_019_907_999e-29),
    (-3.389_680_296_322_582_7e-13, -1.498_692_840_996_429_5e-29),
    (8.586_062_056_277_845e-15, -6.052_523_743_819_74e-31),
    (-2.174_868_698_558_062e-16, 4.961_617_782_549_996e-33),
    (5.509_002_828_360_229_5e-18, -1.498_271_521_944_99e-35),
    (-1.395_446_468_581_252_2e-19, -1.035_059_049_725_625_1e-35),
    (3.534_707_039_629_467e-21, 1.894_231_142_684_204e-37),
    (-8.953_517_427_037_546e-23, -5.728_752_743_153_026e-39),
    (2.267_952_452_337_683e-24, 1.304_345_846_261_956_3e-40),
    (-5.744_790_668_872_202e-26, 1.663_242_973_708_004e-43),
    (1.455_172_475_614_865e-27, -5.613_265_715_443_096e-44),
    (-3.685_994_940_665_310_3e-29, 1.077_825_641_355_419_7e-45),
    (9.336_734_257_095_045e-31, -3.934_797_021_073_187_7e-47),
    (-2.365_022_415_700_63e-32, 2.034_717_093_153_249_4e-49),
];
