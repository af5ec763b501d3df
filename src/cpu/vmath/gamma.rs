//! The gamma function's family: lgamma, digamma, trigamma, polygamma of any order, and mvlgamma.
//!
//! Small arguments are moved to an interval around 2 (or 1) by an exact difference, where a polynomial times the distance from the zero keeps
//! every digit; from there on Stirling's series takes over, its coefficients fitted. Negative arguments are reflected.

use super::{LN2_HI_64, LN2_LO_64, LOG_64, log_f64, log_parts_f64, poly_f64};
use crate::cpu::simd::Isa;

/// `lgamma(2 + t) / t` on |t| <= 1/2.
const LGAMMA: [f64; 18] = [4.227_843_350_984_671_3e-1, 3.224_670_334_241_133e-1, -6.735_230_105_319_497e-2, 2.058_080_842_776_619_3e-2, -7.385_551_028_998_728_5e-3, 2.890_510_331_782_725e-3, -1.192_753_898_774_519_6e-3, 5.096_694_976_918_08e-4, -2.231_550_154_274_049_3e-4, 9.945_789_590_163_855e-5, -4.492_337_906_546_881_6e-5, 2.050_400_920_064_542e-5, -9.458_046_420_741_117e-6, 4.391_106_284_332_574e-6, -1.969_724_674_596_510_6e-6, 9.063_154_978_155_839e-7, -5.859_601_339_511_46e-7, 2.908_656_065_771_885e-7];
/// `y (lgamma(y) - (y - 1/2) log(y) + y - log(2 pi) / 2)` as a polynomial of 1 / y^2, for y >= 3.5.
const STIRLING: [f64; 10] = [8.333_333_333_333_32e-2, -2.777_777_777_653_309_3e-3, 7.936_507_586_750_007e-4, -5.952_335_686_414_274e-4, 8.414_248_463_388_923e-4, -1.903_090_229_918_538e-3, 5.992_859_825_256_315e-3, -2.132_297_749_698_358e-2, 6.345_389_704_246_303e-2, -1.022_601_164_721_092_1e-1];
/// `log(2 pi) / 2 - 1/2`
const STIRLING_CONSTANT: f64 = 4.189_385_332_046_727e-1;
/// `sin(pi r) / (pi r)` as a polynomial of r^2, for |r| <= 1/2.
const SINC: [f64; 9] = [1.0, -1.644_934_066_848_226_4, 8.117_424_252_833_462e-1, -1.907_518_241_216_753_2e-1, 2.614_784_780_794_252e-2, -2.346_080_913_286_947e-3, 1.484_279_165_440_658_2e-4, -6.972_267_199_595_811e-6, 2.451_831_440_451_816_4e-7];

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
fn log_sum(isa: Isa, x: f64) -> (f64, f64) {
    let tiny = x < f64::MIN_POSITIVE;
    let (e, f) = log_parts_f64(if tiny { x * 18_014_398_509_481_984.0 } else { x });
    let e = e - if tiny { 54.0 } else { 0.0 };
    let s = f / (2.0 + f);
    let z = s * s;
    let h = 0.5 * f * f;
    let p = isa.fma_f64(s, isa.fma_f64(z, poly_f64(isa, z, LOG_64), h), e * LN2_LO_64);
    let high = e * LN2_HI_64;
    let sum = high + f;
    (sum, ((high - sum) + f) - (h - p))
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
    let t = if near { x } else { r };
    let a = if n > 2.5 { 2.0 + t } else { 1.0 };
    let a = if n < 1.5 { y } else { a };
    let a = if near { y * (1.0 + x) } else { a };
    let a = if large { y } else { a };
    let (high, low) = log_sum(isa, a);
    // Either k (log(a) - 1) + w S(w^2) + C, or lgamma(2 + t) + k log(a) with k = 1 or -1.
    let k = if n < 1.5 { -1.0 } else { 1.0 };
    let k = if large { y - 0.5 } else { k };
    let high = high - if large { 1.0 } else { 0.0 };
    let w = 1.0 / y;
    let series = isa.fma_f64(w, poly_f64(isa, w * w, STIRLING), STIRLING_CONSTANT);
    let rest = if large { series } else { t * poly_f64(isa, t, LGAMMA) };
    let value = isa.fma_f64(k, high, isa.fma_f64(k, low, rest));
    // |Gamma(-y)| = 1 / (y |r| sinc(r) Gamma(y)); zero at a pole.
    let s = y * r.abs() * poly_f64(isa, r * r, SINC);
    let (high, low) = log_sum(isa, if negative { s } else { 1.0 });
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
const DIGAMMA: [f64; 22] = [9.510_558_760_318_33e-1, -4.236_274_212_814_606e-1, 2.405_424_842_407_289_7e-1, -1.484_049_230_538_754_8e-1, 9.498_872_446_109_778e-2, -6.192_213_327_683_418_5e-2, 4.076_083_348_888_234e-2, -2.697_579_657_446_457e-2, 1.790_726_104_436_374e-2, -1.190_822_260_593_675_2e-2, 7.926_813_565_568_607e-3, -5.279_896_779_479_845e-3, 3.520_219_163_072_6e-3, -2.345_885_610_057_486_5e-3, 1.549_700_874_951_852_3e-3, -1.034_151_417_981_419_7e-3, 7.472_231_893_181_275e-4, -4.941_103_580_213_138e-4, 1.816_825_263_793_135_2e-4, -1.289_238_384_551_675_2e-4, 2.965_415_982_633_856e-4, -1.912_978_455_960_295_5e-4];
/// `(digamma(y) - log(y) + 1 / (2 y)) y^2` as a polynomial of 1 / y^2, for y >= 3.
const DIGAMMA_SERIES: [f64; 11] = [-8.333_333_333_332_069e-2, 8.333_333_326_311_61e-3, -3.968_252_605_307_239_5e-3, 4.166_533_338_633_64e-3, -7.568_046_178_985_865e-3, 2.080_421_896_041_166e-2, -7.591_227_354_717_982e-2, 3.052_809_057_346_551e-1, -1.082_961_782_647_676_5, 2.680_553_982_813_775, -3.249_530_165_618_449_7];
/// `(pi cot(pi r) - 1 / r) / r` as a polynomial of r^2, for |r| <= 1/2.
const COT: [f64; 14] = [-3.289_868_133_696_453, -2.164_646_467_436_336, -2.034_686_121_670_483, -2.008_154_866_806_934_4, -2.001_983_380_170_18, -2.000_628_066_496_529_5, -1.997_968_770_270_945_9, -2.023_847_573_784_576_2, -1.812_984_638_924_075, -3.045_209_118_694_675, 2.099_589_975_563_942_4, -12.875_166_072_496_842, 15.994_351_882_405_036, -17.140_063_179_946_427];

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
const TRIGAMMA: [f64; 17] = [2.103_304_951_225_528_6, 9.396_141_521_068_198e-1, 3.363_968_109_436_588e-2, -1.800_377_823_122_002e-2, 9.315_785_154_076_297e-3, -4.684_133_760_897_578_5e-3, 2.298_259_754_484_511e-3, -1.104_139_815_564_241_2e-3, 5.209_026_179_004_335e-4, -2.418_954_994_073_830_7e-4, 1.107_713_753_371_552_6e-4, -5.020_230_001_643_076e-5, 2.265_042_009_449_233e-5, -9.773_787_554_040_894e-6, 3.899_161_966_310_194e-6, -2.351_172_987_907_676e-6, 1.425_832_225_974_512e-6];
/// `(trigamma(y) - 1 / y - 1 / (2 y^2)) y^3` as a polynomial of 1 / y^2, for y >= 3.
const TRIGAMMA_SERIES: [f64; 11] = [1.666_666_666_664_461_7e-1, -3.333_333_321_041_514e-2, 2.380_949_984_061_720_6e-2, -3.333_097_557_561_683e-2, 7.562_023_284_978_618e-2, -2.479_234_079_911_121_8e-1, 1.031_274_247_175_751, -4.518_273_406_234_146_5, 16.865_098_810_610_785, -43.004_576_055_623_4, 53.082_545_574_963_62];

/// `d/dx digamma(x)`: infinite at 0, the negative integers and -inf.
#[inline(always)]
pub fn trigamma_f64(isa: Isa, x: f64) -> f64 {
    let y = x.abs();
    let (_, r) = nearest(y);
    let negative = x < 0.0;
    let large = y >= 3.0;
    let first = y < 1.0;
    let t = if r < 0.0 { r + 1.0 } else { r };
    // (1 + t)^2 trigamma(1 + t), and with it the step to y, down from 1 + y or up from y - 1: all over the square of one denominator.
    let h = poly_f64(isa, t - 0.5, TRIGAMMA);
    let up = 1.0 + y;
    let (top, d) = if y >= 2.0 { (h - 1.0, y - 1.0) } else { (h, y) };
    let step = if negative { (h, up) } else { (isa.fma_f64(h, y * y, up * up), y * up) };
    let (top, d) = if first { step } else { (top, d) };
    let w = 1.0 / if large { y } else { d };
    let z = w * w;
    let series = isa.fma_f64(isa.fma_f64(poly_f64(isa, z, TRIGAMMA_SERIES), w, 0.5), z, w);
    let value = if large { series } else { top * w * w };
    // trigamma(-y) = (pi / sin(pi y))^2 - trigamma(y) + 1 / y^2.
    let u = r * poly_f64(isa, r * r, SINC);
    let v = if first { 1.0 } else { if y > INTEGERS { INTEGERS } else { y } };
    let top = if first { 1.0 } else { isa.fma_f64(v, v, u * u) };
    let reflection = top / ((u * v) * (u * v));
    if negative { reflection - value } else { value }
}

/// `d/dx digamma(x)`: infinite at 0, the negative integers and -inf.
#[inline(always)]
pub fn trigamma_f32(isa: Isa, x: f32) -> f32 {
    trigamma_f64(isa, f64::from(x)) as f32
}
