//! The gamma function's family: lgamma, digamma, trigamma, polygamma of any order, and mvlgamma.
//!
//! Small arguments are moved to an interval around 2 (or 1) by an exact difference, where a polynomial times the distance from the zero keeps
//! every digit; from there on Stirling's series takes over, its coefficients fitted. Negative arguments are reflected.
//!
//! float32 is computed in float64: all but correctly rounded everywhere (0.51 units in the last place), the zeros included. Largest errors of float64,
//! with and without fma: lgamma 3.6 for x > -2, digamma 3.7 for x > 0, trigamma 5.3. Near the zeros of lgamma below -2 and those of digamma below 0
//! the terms of the reflection cancel: there the error is about one unit of these terms, not of the result.

use super::log::{log_f64, log_parts_f64, log_tail_f64};
use super::{LN2_HI_64, LN2_LO_64, poly_f64};
use crate::cpu::simd::{Isa, simd};

/// `lgamma(2 + t) / t` on -0.65 <= t <= 1/2.
const LGAMMA: [f64; 21] = [
    4.227_843_350_984_671_3e-1,
    3.224_670_334_241_132_6e-1,
    -6.735_230_105_319_513e-2,
    2.058_080_842_777_87e-2,
    -7.385_551_028_967_994e-3,
    2.890_510_330_910_313_7e-3,
    -1.192_753_900_412_067e-3,
    5.096_695_262_401_112e-4,
    -2.231_549_763_133_958e-4,
    9.945_738_172_810_51e-5,
    -4.492_387_836_666_895_4e-5,
    2.050_948_444_586_01e-5,
    -9.454_348_455_019_812e-6,
    4.355_820_618_059_81e-6,
    -1.986_129_747_749_429_7e-6,
    1.041_289_356_043_338e-6,
    -5.427_434_631_811_089e-7,
    9.187_233_669_140_192e-9,
    -6.326_881_582_640_73e-8,
    2.468_233_814_689_346e-7,
    4.078_885_858_744_959e-8,
];
/// `y (lgamma(y) - (y - 1/2) log(y) + y - log(2 pi) / 2)` as a polynomial of 1 / y^2, for y >= 3.5.
const STIRLING: [f64; 10] = [
    8.333_333_333_333_32e-2,
    -2.777_777_777_653_309_3e-3,
    7.936_507_586_750_007e-4,
    -5.952_335_686_414_274e-4,
    8.414_248_463_388_923e-4,
    -1.903_090_229_918_538e-3,
    5.992_859_825_256_315e-3,
    -2.132_297_749_698_358e-2,
    6.345_389_704_246_303e-2,
    -1.022_601_164_721_092_1e-1,
];
/// `log(2 pi) / 2 - 1/2`
const STIRLING_CONSTANT: f64 = 4.189_385_332_046_727e-1;
/// `sin(pi r) / (pi r)` as a polynomial of r^2, for |r| <= 1/2.
const SINC: [f64; 9] = [
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

/// Everything from here on is an integer; adding it rounds to one.
const INTEGERS: f64 = 4_503_599_627_370_496.0;

/// The integer nearest to y >= 0 and the difference, which is exact.
#[inline(always)]
fn nearest(y: f64) -> (f64, f64) {
    let y = if y > INTEGERS { INTEGERS } else { y };
    let n = (y + INTEGERS) - INTEGERS;
    (n, y - n)
}

/// `log(x)` for positive finite x as a sum of two numbers, the second small.
#[inline(always)]
fn log_pair(isa: Isa, x: f64) -> (f64, f64) {
    let tiny = x < f64::MIN_POSITIVE;
    let (e, f) = log_parts_f64(if tiny { x * 18_014_398_509_481_984.0 } else { x });
    let e = e - if tiny { 54.0 } else { 0.0 };
    let high = e * LN2_HI_64;
    let sum = high + f;
    (sum, ((high - sum) + f) + isa.fma_f64(e, LN2_LO_64, log_tail_f64(isa, f)))
}

/// `log |Gamma(x)|`: infinite at 0, the negative integers and both infinities.
#[inline(always)]
pub fn lgamma_f64(isa: Isa, x: f64) -> f64 {
    let y = x.abs();
    let (n, r) = nearest(y);
    let large = y >= 3.5;
    // |x| <= 1/2 needs no reflection: lgamma(2 + x) - log(|x| (1 + x)) serves both signs.
    let near = n == 0.0;
    let negative = x < 0.0 && !near;
    // y = 1, 2 or 3 + t, t being exact; a is what lgamma(2 + t) lacks.
    let (centre, a) = if y > 2.5 { (3.0, y - 1.0) } else { (2.0, 1.0) };
    let (centre, a) = if y < 1.35 { (1.0, y) } else { (centre, a) };
    let t = if near { x } else { y - centre };
    let a = if near { y * (1.0 + x) } else { a };
    let a = if large { y } else { a };
    let (high, low) = log_pair(isa, a);
    // Either k (log(a) - 1) + w S(w^2) + C, or lgamma(2 + t) + k log(a) with k = 1 or -1.
    let k = if y < 1.35 { -1.0 } else { 1.0 };
    let k = if large { y - 0.5 } else { k };
    let high = high - if large { 1.0 } else { 0.0 };
    let w = 1.0 / y;
    let series = isa.fma_f64(w, poly_f64(isa, w * w, STIRLING), STIRLING_CONSTANT);
    let rest = if large { series } else { t * poly_f64(isa, t, LGAMMA) };
    let value = isa.fma_f64(k, high, isa.fma_f64(k, low, rest));
    // |Gamma(-y)| = 1 / (y |r| sinc(r) Gamma(y)); zero at a pole.
    let s = y * r.abs() * poly_f64(isa, r * r, SINC);
    let (high, low) = log_pair(isa, if negative { s } else { 1.0 });
    let reflected = -(value + low) - high;
    let value = if negative { reflected } else { value };
    if x <= 0.0 && r == 0.0 { f64::INFINITY } else { value }
}

/// `log |Gamma(x)|`: infinite at 0, the negative integers and both infinities.
#[inline(always)]
pub fn lgamma_f32(isa: Isa, x: f32) -> f32 {
    lgamma_f64(isa, f64::from(x)) as f32
}

/// The zero of digamma less 1, in two parts.
const ZERO: [f64; 2] = [0.46163214496836236, -1.5522348162858677e-17];
/// `digamma(1 + t) / (t - ZERO)` as a polynomial of t - 1/2, for 0 <= t <= 1.
const DIGAMMA: [f64; 22] = [
    9.510_558_760_318_33e-1,
    -4.236_274_212_814_606e-1,
    2.405_424_842_407_289_7e-1,
    -1.484_049_230_538_754_8e-1,
    9.498_872_446_109_778e-2,
    -6.192_213_327_683_418_5e-2,
    4.076_083_348_888_234e-2,
    -2.697_579_657_446_457e-2,
    1.790_726_104_436_374e-2,
    -1.190_822_260_593_675_2e-2,
    7.926_813_565_568_607e-3,
    -5.279_896_779_479_845e-3,
    3.520_219_163_072_6e-3,
    -2.345_885_610_057_486_5e-3,
    1.549_700_874_951_852_3e-3,
    -1.034_151_417_981_419_7e-3,
    7.472_231_893_181_275e-4,
    -4.941_103_580_213_138e-4,
    1.816_825_263_793_135_2e-4,
    -1.289_238_384_551_675_2e-4,
    2.965_415_982_633_856e-4,
    -1.912_978_455_960_295_5e-4,
];
/// `(digamma(y) - log(y) + 1 / (2 y)) y^2` as a polynomial of 1 / y^2, for y >= 3.
const DIGAMMA_SERIES: [f64; 11] = [
    -8.333_333_333_332_069e-2,
    8.333_333_326_311_61e-3,
    -3.968_252_605_307_239_5e-3,
    4.166_533_338_633_64e-3,
    -7.568_046_178_985_865e-3,
    2.080_421_896_041_166e-2,
    -7.591_227_354_717_982e-2,
    3.052_809_057_346_551e-1,
    -1.082_961_782_647_676_5,
    2.680_553_982_813_775,
    -3.249_530_165_618_449_7,
];
/// `(pi cot(pi r) - 1 / r) / r` as a polynomial of r^2, for |r| <= 1/2.
const COT: [f64; 14] = [
    -3.289_868_133_696_453,
    -2.164_646_467_436_336,
    -2.034_686_121_670_483,
    -2.008_154_866_806_934_4,
    -2.001_983_380_170_18,
    -2.000_628_066_496_529_5,
    -1.997_968_770_270_945_9,
    -2.023_847_573_784_576_2,
    -1.812_984_638_924_075,
    -3.045_209_118_694_675,
    2.099_589_975_563_942_4,
    -12.875_166_072_496_842,
    15.994_351_882_405_036,
    -17.140_063_179_946_427,
];

/// `d/dx log Gamma(x)`: -inf at 0, inf at -0, NaN at the negative integers and -inf.
#[inline(always)]
pub fn digamma_f64(isa: Isa, x: f64) -> f64 {
    let y = x.abs();
    let (_, r) = nearest(y);
    let negative = x < 0.0;
    let large = y >= 3.0;
    let first = y < 1.0;
    // y = 1, 2 or 3 + t - 1, t being the fraction of y.
    let t = if r < 0.0 { r + 1.0 } else { r };
    let small = ((t - ZERO[0]) - ZERO[1]) * poly_f64(isa, t - 0.5, DIGAMMA);
    // One division for 1 / y, for the step from y - 1 to y, and for the one from y + 1, which a reflection would take back.
    let d = if y >= 2.0 { y - 1.0 } else { f64::INFINITY };
    let d = if large { y } else { d };
    let down = if negative { f64::INFINITY } else { -x };
    let w = 1.0 / if first { down } else { d };
    let z = w * w;
    let series = log_f64(isa, y) - isa.fma_f64(0.5, w, -z * poly_f64(isa, z, DIGAMMA_SERIES));
    let value = if large { series } else { small + w };
    // digamma(-y) = digamma(y) + 1 / y + pi cot(pi y).
    let (top, bottom) = if first { (1.0, r) } else { (y + r, y * r) };
    let top = if r == 0.0 { f64::NAN } else { top };
    let reflection = isa.fma_f64(r, poly_f64(isa, r * r, COT), top / bottom);
    value + if negative { reflection } else { 0.0 }
}

/// `d/dx log Gamma(x)`: -inf at 0, inf at -0, NaN at the negative integers and -inf.
#[inline(always)]
pub fn digamma_f32(isa: Isa, x: f32) -> f32 {
    digamma_f64(isa, f64::from(x)) as f32
}

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

/// `d/dx digamma(x)`: infinite at 0, the negative integers and -inf.
#[inline(always)]
pub fn trigamma_f64(isa: Isa, x: f64) -> f64 {
    let y = x.abs();
    let (_, r) = nearest(y);
    let negative = x < 0.0;
    let large = y >= 2.0;
    let first = y < 1.0;
    let t = if r < 0.0 { r + 1.0 } else { r };
    // (1 + t)^2 trigamma(1 + t), and with it the step down from 1 + y to y, over the square of one denominator.
    let h = poly_f64(isa, t - 0.5, TRIGAMMA);
    let up = 1.0 + y;
    let step = if negative { (h, up) } else { (isa.fma_f64(h, y * y, up * up), y * up) };
    let (top, d) = if first { step } else { (h, y) };
    let w = 1.0 / if large { y } else { d };
    let z = w * w;
    let series = isa.fma_f64(isa.fma_f64(poly_f64(isa, z, TRIGAMMA_SERIES), w, 0.5), z, w);
    let value = if large { series } else { top * w * w };
    // trigamma(-y) = (pi / sin(pi y))^2 - trigamma(y) + 1 / y^2.
    let u = r * poly_f64(isa, r * r, SINC);
    let u = u * u;
    let v = if y > INTEGERS { INTEGERS } else { y };
    let v = v * v;
    let (top, bottom) = if first { (1.0, u) } else { (v + u, v * u) };
    let reflection = top / bottom;
    if negative { reflection - value } else { value }
}

/// `d/dx digamma(x)`: infinite at 0, the negative integers and -inf.
#[inline(always)]
pub fn trigamma_f32(isa: Isa, x: f32) -> f32 {
    trigamma_f64(isa, f64::from(x)) as f32
}

/// The n-th derivative of digamma for n >= 2: odd ones are infinite at 0 and the negative integers, even ones -inf (as PyTorch has it).
fn polygamma(n: u64, x: f64) -> f64 {
    let sign = if n % 2 == 1 { 1.0 } else { -1.0 };
    if x > 0.0 || x.is_nan() {
        return sign * power_sum(n, x);
    }
    let d = x - x.round();
    if d == 0.0 || x == f64::NEG_INFINITY {
        return sign * f64::INFINITY;
    }
    // Terms on either side of 0, each a sum over positive numbers: no loop down to x.
    let (above, below) = if d > 0.0 { (d, 1.0 - d) } else { (1.0 + d, -d) };
    let (over, under) = (power_sum(n, above), power_sum(n, below));
    if over.is_infinite() && under.is_infinite() {
        // The nearer pole decides.
        return if above < below { sign * over } else { under };
    }
    sign * over + (under - power_sum(n, 1.0 - x))
}

/// The n-th derivative of digamma. Orders 0 and 1 are [`digamma_f64`] and [`trigamma_f64`].
#[inline(always)]
pub fn polygamma_f64(isa: Isa, n: u64, x: f64) -> f64 {
    match n {
        0 => digamma_f64(isa, x),
        1 => trigamma_f64(isa, x),
        _ => polygamma(n, x),
    }
}

/// The n-th derivative of digamma. Orders 0 and 1 are [`digamma_f32`] and [`trigamma_f32`].
#[inline(always)]
pub fn polygamma_f32(isa: Isa, n: u64, x: f32) -> f32 {
    polygamma_f64(isa, n, f64::from(x)) as f32
}

/// `B_2j / (2j)!`, for the end of a sum that Euler and Maclaurin know.
const BERNOULLI: [f64; 12] = [
    8.333_333_333_333_333e-2,
    -1.388_888_888_888_889e-3,
    3.306_878_306_878_307e-5,
    -8.267_195_767_195_768e-7,
    2.087_675_698_786_81e-8,
    -5.284_190_138_687_493e-10,
    1.338_253_653_068_467_9e-11,
    -3.389_680_296_322_582_7e-13,
    8.586_062_056_277_845e-15,
    -2.174_868_698_558_062e-16,
    5.509_002_828_360_229_5e-18,
    -1.395_446_468_581_252_2e-19,
];

/// `n! (1 / x^(n+1) + 1 / (x+1)^(n+1) + ...)` for positive x and n >= 1.
fn power_sum(n: u64, x: f64) -> f64 {
    if x == f64::INFINITY {
        return 0.0;
    }
    let s = n as f64 + 1.0;
    let power = |k: f64| power(x / (x + k), n.saturating_add(1));
    // Relative to (n - 1)! / x^n, the size of the result for large x, which neither overflows nor vanishes before the result does.
    let head: f64 = (0..10).rev().map(|k| power(f64::from(k))).sum();
    let sum = head * ((s - 1.0) / x) + end_of_sum(s, x + 10.0, power(10.0)) / x;
    let scale = if n <= 170 {
        (1..n).fold(1.0 / x, |f, i| f * (i as f64 / x))
    } else {
        (simd(move |isa| lgamma_f64(isa, s - 1.0)) - (s - 1.0) * x.ln()).exp()
    };
    scale * sum
}

/// `(s - 1) a^s (1 / a^s + 1 / (a+1)^s + ...)` times `weight`, by Euler and Maclaurin.
fn end_of_sum(s: f64, a: f64, weight: f64) -> f64 {
    if weight == 0.0 {
        return 0.0;
    }
    let (mut sum, mut term, mut top) = (a + 0.5 * (s - 1.0), (s - 1.0) * s / a, s);
    for b in BERNOULLI {
        sum += b * term;
        term *= (top + 1.0) * (top + 2.0) / (a * a);
        top += 2.0;
    }
    weight * sum
}

/// `x^n` by squaring.
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

/// `log(pi) / 4`
const QUARTER_LOG_PI: f64 = 2.861_824_714_623_500_4e-1;

/// `log(pi) p (p - 1) / 4 + lgamma(x) + lgamma(x - 1/2) + ... + lgamma(x - (p - 1) / 2)`, the logarithm of the multivariate gamma function, in
/// place for a few elements: loops over them, not over p, become vector code.
#[inline(always)]
pub fn mvlgamma_f64(isa: Isa, p: u64, xs: &mut [f64; 32]) {
    let mut sums = [QUARTER_LOG_PI * p as f64 * (p as f64 - 1.0); 32];
    for k in 0..p {
        let back = 0.5 * k as f64;
        for i in 0..32 {
            sums[i] += lgamma_f64(isa, xs[i] - back);
        }
    }
    *xs = sums;
}

#[cfg(test)]
mod tests {
    use super::super::check::{check_f32, check_f64, check_special};
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    unsafe extern "C" {
        safe fn lgamma(x: f64) -> f64;
    }

    #[test]
    fn f32_lgamma_is_all_but_correctly_rounded() {
        check_f32(0.51, lgamma_f32, |x| lgamma(x));
    }

    #[test]
    fn f64_errors_stay_below_their_limits() {
        check_f64(LGAMMA_POINTS, 4.0, lgamma_f64);
        check_f64(DIGAMMA_POINTS, 4.0, digamma_f64);
        check_f64(TRIGAMMA_POINTS, 5.4, trigamma_f64);
    }

    #[test]
    fn special_values() {
        check_special(lgamma_f64, [INF, INF, INF, INF, NAN, INF, INF]);
        check_special(digamma_f64, [-INF, INF, INF, NAN, NAN, f64::MAX.ln(), NAN]);
        check_special(trigamma_f64, [INF, INF, 0.0, INF, NAN, 1.0 / f64::MAX, INF]);
        for x in [-1.0, -2.0, -7.0, -1e17] {
            let at = |f: fn(Isa, f64) -> f64| simd(move |isa| f(isa, x));
            assert_eq!(at(lgamma_f64), INF);
            assert!(at(digamma_f64).is_nan());
            assert_eq!(at(trigamma_f64), INF);
        }
    }

    #[test]
    fn between_poles_f32_follows_mathematics() {
        // mpmath: digamma and trigamma.
        for (x, psi, psi1) in [
            (0.25_f32, -4.2274537_f32, 17.197329_f32),
            (1.5_f32, 0.036489975_f32, 0.9348022_f32),
            (2.75_f32, 0.818901_f32, 0.43757126_f32),
            (3.5_f32, 1.1031567_f32, 0.33035776_f32),
            (1e+02_f32, 4.600162_f32, 0.010050166_f32),
            (-0.5_f32, 0.036489975_f32, 8.934802_f32),
            (-0.25_f32, 2.914139_f32, 18.54188_f32),
            (-1.75_f32, -2.3226917_f32, 19.301638_f32),
            (-10.5_f32, 2.3982391_f32, 9.778758_f32),
            (-1.5_f32, 0.70315665_f32, 9.379247_f32),
            (-1000.25_f32, 10.050097_f32, 19.738209_f32),
        ] {
            assert!((digamma_f32_at(x) - psi).abs() <= 1e-7 * psi.abs(), "digamma({x})");
            assert!((simd(move |isa| trigamma_f32(isa, x)) - psi1).abs() <= 1e-7 * psi1.abs(), "trigamma({x})");
        }
    }

    fn digamma_f32_at(x: f32) -> f32 {
        simd(move |isa| digamma_f32(isa, x))
    }

    #[test]
    fn polygamma_of_any_order() {
        // mpmath: n! zeta(n + 1, x) and its continuation.
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
            let got = simd(move |isa| polygamma_f64(isa, n, x));
            assert!((got - exact).abs() <= 1e-12 * f64::abs(exact), "polygamma({n}, {x}): {got:e}, not {exact:e}");
        }
        let at = |n, x| simd(move |isa| polygamma_f64(isa, n, x));
        assert_eq!((at(3, 0.0), at(2, -0.0), at(5, -4.0), at(2, INF).to_bits()), (INF, -INF, INF, (-0.0_f64).to_bits()));
        assert_eq!((at(170, -4.01), at(170, -3.99), at(u64::MAX, 0.5)), (INF, -INF, INF));
        assert!(at(4, NAN).is_nan());
    }

    #[test]
    fn mvlgamma_is_a_sum_of_lgammas() {
        // PyTorch: mvlgamma(3, p = 3) and mvlgamma(1.1, p = 3).
        let mut xs = [3.0; 32];
        xs[1] = 1.1;
        simd(|isa| mvlgamma_f64(isa, 3, &mut xs));
        assert!((xs[0] - 2.694_924_83).abs() < 1e-6 && (xs[1] - 4.318_168_6).abs() < 1e-6, "{xs:?}");
    }

    const LGAMMA_POINTS: &[(u64, u64, f64)] = &[
        (0x3ff5_7d48_eeac_4f16, 0xbfbd_4b1f_61a9_c919, -0.29),
        (0x3ff5_03df_b17a_fc09, 0xbfbc_3fbe_8a25_7809, -0.17),
        (0x3ff5_46f4_7517_6f1a, 0xbfbc_db4f_3c74_12c5, -0.16),
        (0x3ff5_4699_4f29_41e1, 0xbfbc_da88_fe4c_59f7, -0.14),
        (0x3ff5_17c2_9d6f_1f1b, 0xbfbc_6fe5_aa0d_b975, -0.14),
        (0x3ff5_2697_8ddc_d1a3, 0xbfbc_92b0_f004_5343, -0.00),
        (0x3ff5_5bf7_07e6_bf9e, 0xbfbd_080a_ffe3_42e5, 0.48),
        (0x3fdb_10db_9e08_5f22, 0x3fe7_aceb_7c35_d46c, -0.25),
        (0x3ff5_5fbf_584a_f452, 0xbfbd_0fe5_522b_52de, 0.13),
        (0x3ff5_24c9_3ca8_d88a, 0xbfbc_8e81_70c0_72ca, -0.10),
        (0xbff6_a8ba_fe6f_6f31, 0x3fee_7938_9195_60ab, 0.36),
        (0xbff8_dd3d_4e80_f5c0, 0x3fea_bf13_34e0_a929, 0.37),
        (0xbff7_129b_abc3_d485, 0x3fed_5517_29e5_35b3, 0.43),
        (0xbffb_0177_e7fc_79e5, 0x3fec_f4a6_401c_fb67, 0.47),
        (0xbff8_2acf_5adb_b60a, 0x3feb_4d7f_a8f8_655d, -0.48),
        (0x0000_0000_0000_0001, 0x4087_4385_446d_71c3, 0.39),
        (0x8000_1268_8b70_e62b, 0x4086_4e69_394d_9508, 0.08),
        (0x3ff0_0000_0000_0001, 0xbca2_788c_fc6f_b617, 0.31),
        (0x3fef_ffff_ffff_ffff, 0x3c92_788c_fc6f_b61a, -0.22),
        (0x4000_0000_0000_0001, 0x3cab_0ee6_0720_93d1, -0.33),
        (0x3fff_ffff_ffff_ffff, 0xbc9b_0ee6_0720_93cd, -0.20),
        (0x3fe0_0000_0000_0000, 0x3fe2_50d0_48e7_a1bd, 0.05),
        (0xbfe0_0000_0000_0000, 0x3ff4_3f89_a3f0_edd6, 0.13),
        (0x400b_ffcb_923a_29c7, 0x3ff3_36bc_6c65_d743, 0.11),
        (0x400c_0000_0000_0000, 0x3ff3_3730_1897_0a36, -0.28),
        (0x4202_a05f_2000_0000, 0x4249_a437_10f4_67c1, 0.13),
        (0x7f56_c8e5_ca23_9029, 0x7fef_3fc8_3052_cbf4, 0.28),
        (0x3ee4_f8b5_88e3_68f1, 0x4027_069d_68f4_ec83, -0.31),
        (0xbfff_ff97_2474_538f, 0x4021_08d9_a49b_bd0f, 0.28),
    ];

    const DIGAMMA_POINTS: &[(u64, u64, f64)] = &[
        (0x4000_00ce_cf64_1254, 0x3fdb_1310_ed58_8d33, 0.37),
        (0x4000_3a3f_c4a3_e702, 0x3fdc_38c9_28ef_f0bf, 0.26),
        (0x4000_2ef0_ca89_f066, 0x3fdb_ff5d_3b27_0059, 0.15),
        (0x4000_2ddc_9458_c044, 0x3fdb_f9e0_146f_7501, 0.13),
        (0x4000_2bc7_606d_abc8, 0x3fdb_ef46_42f4_ccf3, 0.12),
        (0x4000_368b_937b_bb81, 0x3fdc_2600_0173_1c8f, 0.07),
        (0x4000_1968_93fd_c2a0, 0x3fdb_917c_6ddf_c115, -0.50),
        (0x4000_09e6_2318_7d29, 0x3fdb_41e5_13f6_ebf0, -0.37),
        (0x4000_d819_f655_5ab1, 0x3fdf_4685_84cd_344a, 0.32),
        (0x4000_185b_5b3e_736a, 0x3fdb_8c19_e25a_8c52, 0.31),
        (0x3ff7_62d8_6356_be3f, 0xbc9a_a2d9_b3ce_29e0, 0.21),
        (0x3ff7_62d8_6356_be40, 0x3ca1_a5be_ef07_23bb, 0.47),
        (0x01a5_6e1f_c2f8_f359, 0xfe37_e43c_8800_759b, 0.48),
        (0x7e37_e43c_8800_759c, 0x4085_9634_47f8_7fb5, 0.21),
        (0x3fe0_0000_0000_0000, 0xbfff_6a89_7d32_14fc, -0.31),
        (0x3fef_ff2e_48e8_a71e, 0xbfe2_79e5_fa9d_9f50, 0.19),
        (0x4008_0000_0000_0000, 0x3fed_8773_0390_49e7, 0.04),
        (0x4007_ffff_f294_06b3, 0x3fed_8772_ee5c_5b29, 0.43),
    ];

    const TRIGAMMA_POINTS: &[(u64, u64, f64)] = &[
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
}
