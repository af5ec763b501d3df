//! Random fills: each element is a function of the seed, the first block of the fill and its position, the same on every machine.
//!
//! A fill works in groups of [`GROUP`] elements. Pieces that start at multiples of GROUP may be filled in any order by any thread: group
//! `g` of a fill starts at block `block + g * BLOCKS`. Nothing here uses fused multiply-add, so that every [`simd`] level gives the same
//! numbers.

mod draw;
mod pairs;
mod place;
mod sample;
mod source;
mod words;

pub use draw::fill_operand;
pub use pairs::normals;
pub use source::{Binomial, Gamma, Poisson, Source, TruncatedNormal, beta, fill_each};
pub use words::{Chance, DoubleWords, Geometric, LongRange, Range};

use super::simd::{Isa, simd};
use super::vmath::{self, log_parts_f32, log_parts_f64};
use crate::random;
use std::f32::consts::{FRAC_PI_4 as FRAC_PI_4_32, LN_2 as LN_2_32};
use std::f64::consts::{FRAC_PI_2 as FRAC_PI_2_64, LN_2 as LN_2_64};
use std::mem::MaybeUninit;

/// Elements that are computed together. A fill may be cut at multiples of this.
pub(crate) const GROUP: usize = 64;

type Group<T> = [MaybeUninit<T>; GROUP];

/// The distribution of the elements that a fill writes. This is a trait and not a closure, because only a method can be
/// `#[inline(always)]`, which is needed for the vectors of its level.
pub trait Distribution<T>: Copy + Sync {
    /// The number of blocks that a group uses.
    const BLOCKS: u64;

    /// Computes a group from block `first` and the blocks after it. Writes all of `out`.
    fn group(self, seed: u64, first: u64, out: &mut Group<T>);
}

/// Blocks of a group whose elements use one word each.
const WORD_BLOCKS: u64 = GROUP as u64 / 4;
/// Blocks of a group whose elements use two words each.
const DOUBLE_WORD_BLOCKS: u64 = GROUP as u64 / 2;

/// Writes `n` elements group by group; the last group may be incomplete.
///
/// # Safety
/// `dst` must be valid for writes of `n` elements.
pub unsafe fn fill<T: Copy, D: Distribution<T>>(dst: *mut T, n: usize, seed: u64, block: u64, distribution: D) {
    simd(
        #[inline(always)]
        move |_| {
            let groups = n / GROUP;
            for g in 0..groups {
                // SAFETY: group g is inside the caller's n elements, and only this call uses them.
                let out = unsafe { &mut *dst.add(g * GROUP).cast() };
                distribution.group(seed, block.wrapping_add(g as u64 * D::BLOCKS), out);
            }
            let rest = n % GROUP;
            if rest > 0 {
                let mut out = [MaybeUninit::uninit(); GROUP];
                distribution.group(seed, block.wrapping_add(groups as u64 * D::BLOCKS), &mut out);
                // SAFETY: `group` has written all of `out`; its first `rest` elements end at the end of the caller's n elements.
                unsafe { dst.add(groups * GROUP).copy_from_nonoverlapping(out.as_ptr().cast(), rest) }
            }
        },
    )
}

/// Uniform in [from, to), from 24 random bits for f32 and 53 for f64. A range wider than the largest float is computed at half its size.
#[derive(Clone, Copy)]
pub struct Uniform<T> {
    low: T,
    span: T,
    grow: T,
    to: T,
    /// The largest value below `to`, for sums that would round up to `to`.
    last: T,
}

/// Normally distributed. Elements `i` and `i + 32` of a group are one Box-Muller pair. A value is at most 6.7 `std` from `mean` for f32,
/// 9.5 for f64.
#[derive(Clone, Copy)]
pub struct Normal<T> {
    /// Mean.
    pub mean: T,
    /// Standard deviation.
    pub std: T,
}

/// `exp` of normally distributed numbers.
#[derive(Clone, Copy)]
pub struct LogNormal<T> {
    /// The distribution of the logarithm.
    pub log: Normal<T>,
    /// The smallest number drawn, positive: smaller exponentials would be stored as 0.
    pub least: T,
}

/// `-scale * log(u)` of a uniform `u`, at most 22.2 `scale` for f32 and 45.1 for f64.
#[derive(Clone, Copy)]
pub struct Exponential<T> {
    /// Mean.
    pub scale: T,
    /// The smallest number drawn, positive: smaller products would be stored as 0.
    pub least: T,
}

/// `median + sigma * tan(angle)` of a uniform angle.
#[derive(Clone, Copy)]
pub struct Cauchy<T> {
    /// Median.
    pub median: T,
    /// Half the distance between the quartiles.
    pub sigma: T,
}

macro_rules! distributions {
    ($t:ident $blocks:ident $words:ident $unit:ident $normal_pair:ident $exponential:ident $tangent:ident $exp:path) => {
        impl Uniform<$t> {
            /// Requires `from <= to`, both finite. If they are equal, all values are `from`.
            pub fn new(from: $t, to: $t) -> Uniform<$t> {
                let shrink = if (to - from).is_finite() { 1.0 } else { 0.5 };
                let low = from * shrink;
                Uniform { low, span: to * shrink - low, grow: 1.0 / shrink, to, last: to.next_down().max(from) }
            }

            /// Returns the same distribution with `most` in place of greater values.
            pub fn at_most(self, most: $t) -> Uniform<$t> {
                if most < self.to { Uniform { to: most, last: most, ..self } } else { self }
            }
        }

        impl Distribution<$t> for Uniform<$t> {
            const BLOCKS: u64 = $blocks;

            #[inline(always)]
            fn group(self, seed: u64, first: u64, out: &mut Group<$t>) {
                let words = $words(seed, first);
                for i in 0..GROUP {
                    let x = (self.low + $unit(words[i]) * self.span) * self.grow;
                    out[i].write(if x < self.to { x } else { self.last });
                }
            }
        }

        impl Distribution<$t> for Normal<$t> {
            const BLOCKS: u64 = $blocks;

            #[inline(always)]
            fn group(self, seed: u64, first: u64, out: &mut Group<$t>) {
                let words = $words(seed, first);
                let (left, right) = out.split_at_mut(GROUP / 2);
                for i in 0..GROUP / 2 {
                    let (a, b) = $normal_pair(words[i], words[i + GROUP / 2]);
                    left[i].write(self.mean + self.std * a);
                    right[i].write(self.mean + self.std * b);
                }
            }
        }

        impl Distribution<$t> for LogNormal<$t> {
            const BLOCKS: u64 = $blocks;

            #[inline(always)]
            fn group(self, seed: u64, first: u64, out: &mut Group<$t>) {
                let words = $words(seed, first);
                let (left, right) = out.split_at_mut(GROUP / 2);
                for i in 0..GROUP / 2 {
                    let (a, b) = $normal_pair(words[i], words[i + GROUP / 2]);
                    left[i].write($exp(Isa::plain(), self.log.mean + self.log.std * a).max(self.least));
                    right[i].write($exp(Isa::plain(), self.log.mean + self.log.std * b).max(self.least));
                }
            }
        }

        impl Distribution<$t> for Exponential<$t> {
            const BLOCKS: u64 = $blocks;

            #[inline(always)]
            fn group(self, seed: u64, first: u64, out: &mut Group<$t>) {
                let words = $words(seed, first);
                for i in 0..GROUP {
                    out[i].write(($exponential(words[i]) * (0.5 * self.scale)).max(self.least));
                }
            }
        }

        impl Distribution<$t> for Cauchy<$t> {
            const BLOCKS: u64 = $blocks;

            #[inline(always)]
            fn group(self, seed: u64, first: u64, out: &mut Group<$t>) {
                let words = $words(seed, first);
                for i in 0..GROUP {
                    out[i].write(self.median + self.sigma * $tangent(words[i]));
                }
            }
        }
    };
}
distributions!(f32 WORD_BLOCKS words_32 unit_f32 normal_pair_f32 exponential_f32 tangent_f32 vmath::exp_f32);
distributions!(f64 DOUBLE_WORD_BLOCKS words_64 unit_f64 normal_pair_f64 exponential_f64 tangent_f64 vmath::exp_f64);

/// Returns 64 words from 16 blocks: word `w` of block `first + j` is number `16 w + j`.
#[inline(always)]
fn words_32(seed: u64, first: u64) -> [u32; GROUP] {
    let mut words = [0; GROUP];
    // Two blocks a step, since words are half as wide as the products of Philox.
    for j in 0..8 {
        let a = random::block(seed, first.wrapping_add(j as u64));
        let b = random::block(seed, first.wrapping_add(j as u64 + 8));
        for w in 0..4 {
            words[16 * w + j] = a[w] as u32;
            words[16 * w + j + 8] = b[w] as u32;
        }
    }
    words
}

/// Returns 64 double words from 32 blocks: the first two words of block `first + j` are number `j`, the other two number `32 + j`, high
/// word first.
#[inline(always)]
fn words_64(seed: u64, first: u64) -> [u64; GROUP] {
    let mut words = [0; GROUP];
    for j in 0..GROUP / 2 {
        let [a, b, c, d] = random::block(seed, first.wrapping_add(j as u64));
        words[j] = a << 32 | (b & 0xffff_ffff);
        words[j + GROUP / 2] = c << 32 | (d & 0xffff_ffff);
    }
    words
}

/// Returns the top 24 bits as a number in [0, 1).
#[inline(always)]
fn unit_f32(word: u32) -> f32 {
    (word >> 8) as i32 as f32 * (1.0 / 16_777_216.0)
}

/// Returns the top 53 bits as a number in [0, 1). Before AVX-512 vectors cannot convert 64-bit integers. Therefore 52 bits become the
/// mantissa of a number in [1, 2), and the last bit selects whether 1 or the next smaller number is subtracted.
#[inline(always)]
fn unit_f64(word: u64) -> f64 {
    f64::from_bits(ONE_64 | word >> 12) - f64::from_bits(ONE_64 - (word >> 11 & 1))
}

const ONE_64: u64 = 0x3ff0_0000_0000_0000;

/// `-2 log(1 + f) / f` on sqrt(1/2) <= 1 + f < sqrt(2).
const LOG_32: [f32; 8] =
    [-1.999_999_9, 1.000_007_2, -6.667_015e-1, 4.994_035_7e-1, -3.980_022e-1, 3.449_652_8e-1, -3.244_333_6e-1, 2.022_459_8e-1];
/// `-4 atanh(s) / s` as a polynomial of s^2, for s = f / (2 + f) on the same interval.
const LOG_64: [f64; 7] = [
    -4.000_000_000_000_001,
    -1.333_333_333_330_843_5,
    -8.000_000_012_986_035e-1,
    -5.714_283_123_790_803e-1,
    -4.444_691_807_675_636e-1,
    -3.624_244_498_528_400_6e-1,
    -3.369_116_511_236_344_7e-1,
];
/// `(sin(x) / x - 1) / x^2` and `(cos(x) - 1) / x^2` as polynomials of x^2, on |x| <= pi / 4.
const SIN_32: [f32; 3] = [-1.666_665_5e-1, 8.332_189e-3, -1.951_828_6e-4];
const COS_32: [f32; 3] = [-4.999_988_4e-1, 4.165_572_3e-2, -1.359_120_2e-3];
const SIN_64: [f64; 6] = [
    -1.666_666_666_666_663e-1,
    8.333_333_333_321_872e-3,
    -1.984_126_982_940_839_6e-4,
    2.755_731_356_327_790_7e-6,
    -2.505_073_927_149_608_2e-8,
    1.589_576_679_542_313_8e-10,
];
const COS_64: [f64; 6] = [
    -4.999_999_999_999_941e-1,
    4.166_666_666_648_731e-2,
    -1.388_888_887_055_046_6e-3,
    2.480_157_863_547_638_2e-5,
    -2.755_524_027_786_441e-7,
    2.063_051_434_422_244_6e-9,
];

/// `-2 log(u)` for u in (0, 1], with the same relative resolution near 0 as elsewhere, since values near 0 give the tails of a
/// distribution.
#[inline(always)]
fn minus_two_log_f32(word: u32) -> f32 {
    let u = ((word >> 1) as i32 as f32 + 0.5) * (1.0 / 2_147_483_648.0);
    let (e, f) = log_parts_f32(u);
    e * (-2.0 * LN_2_32) + f * poly(f, LOG_32)
}

/// [`minus_two_log_f32`] with twice the bits in the argument and the result.
#[inline(always)]
fn minus_two_log_f64(word: u64) -> f64 {
    minus_two_log_of_f64((word as f64 + 0.5) * (1.0 / 18_446_744_073_709_551_616.0))
}

/// [`minus_two_log_f32`], positive for every word. A `u` so near 1 that it is rounded to 1 leaves `-2 log(u) = 2 (1 - u)`.
#[inline(always)]
fn exponential_f32(word: u32) -> f32 {
    let (x, from_one) = (minus_two_log_f32(word), ((!word >> 1) as i32 as f32 + 0.5) * (1.0 / 1_073_741_824.0));
    if x > 0.0 { x } else { from_one }
}

/// [`exponential_f32`] from and in twice the bits.
#[inline(always)]
fn exponential_f64(word: u64) -> f64 {
    let (x, from_one) = (minus_two_log_f64(word), (!word as f64 + 0.5) * (1.0 / 9_223_372_036_854_775_808.0));
    if x > 0.0 { x } else { from_one }
}

#[inline(always)]
fn minus_two_log_of_f64(u: f64) -> f64 {
    let (e, f) = log_parts_f64(u);
    let s = f / (2.0 + f);
    e * (-2.0 * LN_2_64) + s * poly(s * s, LOG_64)
}

/// Returns sine and cosine for `|x| <= pi / 4`.
#[inline(always)]
fn sin_cos_f32(x: f32) -> (f32, f32) {
    let z = x * x;
    (x + x * (z * poly(z, SIN_32)), 1.0 + z * poly(z, COS_32))
}

/// [`sin_cos_f32`] with twice the bits.
#[inline(always)]
fn sin_cos_f64(x: f64) -> (f64, f64) {
    let z = x * x;
    (x + x * (z * poly(z, SIN_64)), 1.0 + z * poly(z, COS_64))
}

/// Returns two independent standard normal values: a random radius times a random point on the unit circle.
#[inline(always)]
fn normal_pair_f32(radius: u32, angle: u32) -> (f32, f32) {
    let r = minus_two_log_f32(radius).sqrt();
    // 30 bits give an angle within pi / 4 of the axis. The other two bits select one of the four quarters, by swapping and negating.
    let (sin, cos) = sin_cos_f32((angle << 2) as i32 as f32 * (FRAC_PI_4_32 / 2_147_483_648.0));
    let (a, b) = if (angle as i32) < 0 { (sin, cos) } else { (cos, sin) };
    let r = f32::from_bits(r.to_bits() ^ ((angle << 1) & 0x8000_0000));
    (r * a, r * b)
}

/// [`normal_pair_f32`] with twice the bits in the arguments and the result.
#[inline(always)]
fn normal_pair_f64(radius: u64, angle: u64) -> (f64, f64) {
    let r = minus_two_log_f64(radius).sqrt();
    // 52 bits, centred on the axis, through the mantissa as in `unit_f64`.
    let (sin, cos) = sin_cos_f64((f64::from_bits((angle >> 12) | ONE_64) - 1.5) * FRAC_PI_2_64);
    let (a, b) = if angle & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let r = f64::from_bits(r.to_bits() ^ ((angle << 62) & 0x8000_0000_0000_0000));
    (r * a, r * b)
}

/// Returns the tangent of a uniform angle. One bit says whether the angle is within pi / 4 of the axis. The tangent is never infinite,
/// because no angle is 0.
#[inline(always)]
fn tangent_f32(word: u32) -> f32 {
    let (sin, cos) = sin_cos_f32((word << 1 | 1) as i32 as f32 * (FRAC_PI_4_32 / 2_147_483_648.0));
    if (word as i32) < 0 { cos / sin } else { sin / cos }
}

/// [`tangent_f32`] with twice the bits in the argument and the result.
#[inline(always)]
fn tangent_f64(word: u64) -> f64 {
    let (sin, cos) = sin_cos_f64((f64::from_bits((word >> 12) | 1 | ONE_64) - 1.5) * FRAC_PI_2_64);
    if word & 1 == 0 { sin / cos } else { cos / sin }
}

#[inline(always)]
fn poly<T: Copy + std::ops::Mul<Output = T> + std::ops::Add<Output = T>, const N: usize>(x: T, c: [T; N]) -> T {
    let mut p = c[N - 1];
    for k in (0..N - 1).rev() {
        p = p * x + c[k];
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! fills {
        ($($name:ident $t:ident |$a:ident, $b:ident| $distribution:expr;)+) => {
            mod fill {
                use super::*;
                $(pub fn $name(n: usize, seed: u64, block: u64, $a: $t, $b: $t) -> Vec<$t> {
                    let mut out = vec![0.0; n];
                    // SAFETY: `out` has n elements.
                    unsafe { fill(out.as_mut_ptr(), n, seed, block, $distribution) }
                    out
                })+
            }
        };
    }
    fills! {
        uniform_f32 f32 |from, to| Uniform::<f32>::new(from, to);
        uniform_f64 f64 |from, to| Uniform::<f64>::new(from, to);
        normal_f32 f32 |mean, std| Normal { mean, std };
        normal_f64 f64 |mean, std| Normal { mean, std };
    }

    #[test]
    fn words_are_those_of_the_blocks() {
        let (seed, first) = (0x1234_5678_9abc_def0, u64::MAX - 3);
        let (words, double) = (words_32(seed, first), words_64(seed, first));
        for j in 0..GROUP / 2 {
            let block = random::block(seed, first.wrapping_add(j as u64)).map(|word| word as u32);
            assert_eq!([double[j], double[j + 32]], [0, 2].map(|w| u64::from(block[w]) << 32 | u64::from(block[w + 1])));
            if j < GROUP / 4 {
                assert_eq!([0, 1, 2, 3].map(|w| words[16 * w + j]), block);
            }
        }
    }

    /// Values that are required on every level and every machine.
    #[test]
    fn values_are_the_same_everywhere() {
        fn digest(bits: impl Iterator<Item = u64>) -> u64 {
            bits.fold(0xcbf2_9ce4_8422_2325, |hash, x| (hash ^ x).wrapping_mul(0x0100_0000_01b3))
        }
        let uniform = fill::uniform_f32(10_000, 42, 7, -1.0, 2.5);
        let normal = fill::normal_f32(10_000, 42, 7, 0.5, 2.0);
        assert_eq!(digest(uniform.iter().map(|x| u64::from(x.to_bits()))), 0xa160_da45_406c_baa2);
        assert_eq!(digest(normal.iter().map(|x| u64::from(x.to_bits()))), 0xae79_84d9_73c0_a6b8);
        let uniform = fill::uniform_f64(10_000, 42, 7, -1.0, 2.5);
        let normal = fill::normal_f64(10_000, 42, 7, 0.5, 2.0);
        assert_eq!(digest(uniform.iter().map(|x| x.to_bits())), 0xbdbc_452e_ed75_1a82);
        assert_eq!(digest(normal.iter().map(|x| x.to_bits())), 0x0748_faea_6b33_940d);
    }

    #[test]
    fn pieces_make_the_same_values_as_one_fill() {
        let (n, seed, block) = (5 * GROUP + 17, 3, u64::MAX - 20);
        let whole = fill::normal_f32(n, seed, block, 0.0, 1.0);
        let whole_64 = fill::uniform_f64(n, seed, block, 0.0, 1.0);
        for cut in (0..n).step_by(GROUP) {
            let start = block.wrapping_add((cut / GROUP) as u64 * WORD_BLOCKS);
            assert_eq!(fill::normal_f32(n - cut, seed, start, 0.0, 1.0), whole[cut..]);
            let start = block.wrapping_add((cut / GROUP) as u64 * DOUBLE_WORD_BLOCKS);
            assert_eq!(fill::uniform_f64(n - cut, seed, start, 0.0, 1.0), whole_64[cut..]);
        }
    }

    #[test]
    fn short_fills_are_the_beginning_of_long_ones_and_write_nothing_else() {
        let whole = fill::uniform_f32(3 * GROUP, 9, 0, 0.0, 1.0);
        for n in 0..2 * GROUP + 3 {
            let mut out = vec![-1.0; n + 1];
            // SAFETY: `out` has more than n elements.
            unsafe { fill(out.as_mut_ptr(), n, 9, 0, Uniform::<f32>::new(0.0, 1.0)) }
            assert_eq!(out[..n], whole[..n]);
            assert_eq!(out[n], -1.0);
        }
    }

    #[test]
    fn seeds_and_blocks_make_the_values() {
        let base = fill::uniform_f64(100, 1, 0, 0.0, 1.0);
        assert_eq!(fill::uniform_f64(100, 1, 0, 0.0, 1.0), base);
        for (seed, block) in [(2, 0), (1 + (1 << 32), 0), (1, 64), (1, 1 << 32)] {
            let other = fill::uniform_f64(100, seed, block, 0.0, 1.0);
            assert!(other.iter().zip(&base).all(|(a, b)| a != b), "seed {seed}, block {block}");
        }
    }

    /// Checks counts that should all be equal: Pearson's statistic is about the number of counts, plus or minus its square root.
    fn assert_even(counts: &[u32]) {
        let n: u32 = counts.iter().sum();
        let expected = f64::from(n) / counts.len() as f64;
        let chi2: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        let freedom = (counts.len() - 1) as f64;
        assert!((chi2 - freedom).abs() < 4.0 * (2.0 * freedom).sqrt(), "chi^2 {chi2} for {freedom} degrees of freedom");
    }

    #[test]
    fn uniform_values_are_spread_evenly() {
        let mut counts = [[0; 256]; 4];
        for x in fill::uniform_f32(100_000, 11, 0, 0.0, 1.0) {
            assert!((0.0..1.0).contains(&x));
            let k = (x * 16_777_216.0) as usize;
            counts[0][k >> 16] += 1;
            counts[1][k & 255] += 1;
        }
        for x in fill::uniform_f64(100_000, 11, 0, 0.0, 1.0) {
            assert!((0.0..1.0).contains(&x));
            let k = (x * 9_007_199_254_740_992.0) as usize;
            counts[2][k >> 45] += 1;
            counts[3][k & 255] += 1;
        }
        counts.iter().for_each(|counts| assert_even(counts));
    }

    #[test]
    fn units_reach_from_zero_to_just_below_one() {
        assert_eq!((unit_f32(0), unit_f32(u32::MAX)), (0.0, 1.0f32.next_down()));
        assert_eq!((unit_f64(0), unit_f64(u64::MAX)), (0.0, 1.0f64.next_down()));
        assert_eq!((unit_f32(1 << 8), unit_f64(1 << 11), unit_f64(3 << 11)), (2f32.powi(-24), 2f64.powi(-53), 3.0 * 2f64.powi(-53)));
    }

    #[test]
    fn uniform_values_stay_below_the_end_of_any_range() {
        let up = 1.0f32.next_up();
        assert!(fill::uniform_f32(1000, 1, 0, 1.0, up).iter().all(|&x| x == 1.0));
        assert!(fill::uniform_f32(1000, 1, 0, -2.5, -2.5).iter().all(|&x| x == -2.5));
        let few = fill::uniform_f32(1000, 1, 0, 1.0, up.next_up());
        assert!(few.iter().all(|&x| x == 1.0 || x == up) && few.contains(&1.0) && few.contains(&up));
        let wide = fill::uniform_f32(1000, 1, 0, f32::MIN, f32::MAX);
        assert!(wide.iter().all(|x| x.is_finite()) && wide.iter().any(|&x| x > f32::MAX / 2.0) && wide.iter().any(|&x| x < f32::MIN / 2.0));
        let wide = fill::uniform_f64(1000, 1, 0, f64::MIN, f64::MAX);
        assert!(wide.iter().all(|x| x.is_finite()) && wide.iter().any(|&x| x > f64::MAX / 2.0) && wide.iter().any(|&x| x < f64::MIN / 2.0));
    }

    /// The quantiles of the positive half of the normal distribution at 1/16, 2/16, ....
    const SIXTEENTHS: [f64; 7] = [0.157_310_68, 0.318_639_36, 0.488_776_41, 0.674_489_75, 0.887_146_56, 1.150_349_38, 1.534_120_54];

    fn check_normal(values: &[f64]) {
        let n = values.len() as f64;
        for (power, moment, spread) in [(1, 0.0, 1.0), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            let mean = values.iter().map(|x| x.powi(power)).sum::<f64>() / n;
            assert!((mean - moment).abs() < 4.0 * f64::sqrt(spread / n), "moment {power}: {mean}");
        }
        let mut counts = [0; 16];
        for x in values {
            let above = SIXTEENTHS.iter().filter(|&&edge| x.abs() > edge).count();
            counts[if *x < 0.0 { 7 - above } else { 8 + above }] += 1;
        }
        assert_even(&counts);
        for (edge, mass) in [(3.0, 2.699_796e-3), (4.0, 6.334_248e-5)] {
            let (count, expected) = (values.iter().filter(|x| x.abs() > edge).count() as f64, mass * n);
            assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{count} beyond {edge}, not {expected}");
        }
        // The two values of a pair are uncorrelated, and so are their squares.
        let pairs = values.chunks_exact(GROUP).flat_map(|group| group[..32].iter().zip(&group[32..]));
        let (xy, sizes) = pairs.fold((0.0, 0.0), |(xy, sizes), (x, y)| (xy + x * y, sizes + (x * x - 1.0) * (y * y - 1.0)));
        assert!(xy.abs() < 4.0 * f64::sqrt(n / 2.0) && sizes.abs() < 8.0 * f64::sqrt(n / 2.0), "correlations {xy}, {sizes}");
    }

    #[test]
    fn normal_values_have_the_moments_and_the_shape() {
        let n = 2500 * GROUP;
        check_normal(&fill::normal_f64(n, 5, 0, 0.0, 1.0));
        let narrow: Vec<f64> = fill::normal_f32(n, 5, 0, 3.0, 0.5).iter().map(|&x| (f64::from(x) - 3.0) * 2.0).collect();
        check_normal(&narrow);
    }

    #[test]
    fn normal_pairs_are_points_of_the_right_radius_and_angle() {
        for [a, b, c, d] in (0..2000).map(|block| random::block(8, block)) {
            let (radius, angle) = (a as u32, b as u32);
            let (x, y) = normal_pair_f32(radius, angle);
            let u = ((radius >> 1) as f32 + 0.5) / 2f32.powi(31);
            let r = (-2.0 * f64::from(u).ln()).sqrt();
            assert!((f64::from(x).hypot(y.into()) / r - 1.0).abs() < 1e-6);
            let (radius, angle) = (a << 32 | c, b << 32 | d);
            let (x, y) = normal_pair_f64(radius, angle);
            let r = (-2.0 * ((radius as f64 + 0.5) / 2f64.powi(64)).ln()).sqrt();
            assert!((x.hypot(y) / r - 1.0).abs() < 1e-14);
            let phi = ((angle >> 12) as f64 / 2f64.powi(52) - 0.5) * FRAC_PI_2_64;
            let (sin, cos) = phi.sin_cos();
            let (p, q) = if angle & 1 == 0 { (sin, cos) } else { (cos, sin) };
            let r = if angle & 2 == 0 { r } else { -r };
            assert!((x - r * p).abs() < 1e-14 && (y - r * q).abs() < 1e-14);
        }
    }

    #[test]
    fn normal_tails_end_where_the_bits_do() {
        let (far, far_64) = (normal_pair_f32(0, 0).0, normal_pair_f64(0, 1 << 63 | 1).0);
        assert!((far - (64.0 * LN_2_32).sqrt()).abs() < 1e-6 && (far_64 - (130.0 * LN_2_64).sqrt()).abs() < 1e-14, "{far} {far_64}");
        assert_eq!((normal_pair_f32(u32::MAX, 5), normal_pair_f64(u64::MAX, 5)), ((0.0, 0.0), (0.0, 0.0)));
    }

    #[test]
    fn exponential_numbers_are_positive() {
        for k in 0..300u32 {
            let expected = -2.0 * (-(f64::from(k >> 1) + 0.5) / 2_147_483_648.0).ln_1p();
            let x = f64::from(exponential_f32(u32::MAX - k));
            assert!(x > 0.0 && (x - expected).abs() <= 2f64.powi(-23), "{k}: {x}, not {expected}");
            if k < 64 {
                assert!((x / expected - 1.0).abs() < 1e-6, "{k}: {x}, not {expected}");
            }
        }
        for k in (0..6000u64).step_by(7) {
            let (x, expected) = (exponential_f64(u64::MAX - k), (k as f64 + 0.5) * 2f64.powi(-63));
            assert!(x > 0.0 && (x - expected).abs() <= 2f64.powi(-52), "{k}: {x}, not {expected}");
        }
        assert_eq!((exponential_f32(1 << 20), exponential_f64(1 << 50)), (minus_two_log_f32(1 << 20), minus_two_log_f64(1 << 50)));
    }

    #[test]
    fn tangents_reach_far_but_never_to_infinity() {
        assert!((0..64).all(|bit| tangent_f64(1 << bit).is_finite() && tangent_f64(!(1 << bit)).is_finite()));
        assert!((0..32).all(|bit| tangent_f32(1 << bit).is_finite() && tangent_f32(!(1 << bit)).is_finite()));
        // The angles next to the axis are pi / 2 times 2^-32 and 2^-52.
        assert!((tangent_f32(1 << 31) / 2.734_261_2e9 - 1.0).abs() < 1e-5, "{}", tangent_f32(1 << 31));
        let largest = tangent_f64(1 << 63 | 1) * (FRAC_PI_2_64 * f64::EPSILON);
        assert!((largest - 1.0).abs() < 1e-9, "{largest}");
    }
}
