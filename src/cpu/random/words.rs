//! Fills whose elements are random words, or are chosen by random words.

use super::{DOUBLE_WORD_BLOCKS, Distribution, GROUP, Group, WORD_BLOCKS, minus_two_log_f64, words_32, words_64};
use crate::dtype::Bool;

/// True with a probability that is a multiple of 2^-32.
#[derive(Clone, Copy)]
pub struct Chance {
    /// The number of the 2^32 words that make it true.
    pub of_words: u64,
}

impl Distribution<Bool> for Chance {
    const BLOCKS: u64 = WORD_BLOCKS;

    #[inline(always)]
    fn group(self, seed: u64, first: u64, out: &mut Group<Bool>) {
        let words = words_32(seed, first);
        // The number 2^32 does not fit a word.
        let (always, below) = (self.of_words >> 32 != 0, self.of_words as u32);
        for i in 0..GROUP {
            out[i].write(((words[i] < below) | always).into());
        }
    }
}

/// The number of trials up to the first success, where every trial fails with a probability whose logarithm is `-1 / scale`.
#[derive(Clone, Copy)]
pub struct Geometric {
    /// The factor of the logarithm of a uniform number.
    pub scale: f64,
}

impl Distribution<f64> for Geometric {
    const BLOCKS: u64 = DOUBLE_WORD_BLOCKS;

    #[inline(always)]
    fn group(self, seed: u64, first: u64, out: &mut Group<f64>) {
        let words = words_64(seed, first);
        for i in 0..GROUP {
            out[i].write((minus_two_log_f64(words[i]) * (0.5 * self.scale)).floor() + 1.0);
        }
    }
}

/// 64 random bits.
#[derive(Clone, Copy)]
pub struct DoubleWords;

impl Distribution<u64> for DoubleWords {
    const BLOCKS: u64 = DOUBLE_WORD_BLOCKS;

    #[inline(always)]
    fn group(self, seed: u64, first: u64, out: &mut Group<u64>) {
        let words = words_64(seed, first);
        for i in 0..GROUP {
            out[i].write(words[i]);
        }
    }
}

/// `span` integers from `from` on, for short ranges. Their frequencies are equal except for one part in 2^32 / `span`.
#[derive(Clone, Copy)]
pub struct Range {
    /// The smallest integer.
    pub from: i64,
    /// The number of integers.
    pub span: u32,
}

impl Range {
    /// The longest range. In it no integer is more frequent than another by more than 1 in 256.
    pub(crate) const LONGEST: u64 = 1 << 24;
}

impl Distribution<i64> for Range {
    const BLOCKS: u64 = WORD_BLOCKS;

    #[inline(always)]
    fn group(self, seed: u64, first: u64, out: &mut Group<i64>) {
        let words = words_32(seed, first);
        for i in 0..GROUP {
            out[i].write(self.from.wrapping_add(((u64::from(words[i]) * u64::from(self.span)) >> 32) as i64));
        }
    }
}

/// [`Range`] for any range, from 64 bits.
#[derive(Clone, Copy)]
pub struct LongRange {
    /// The smallest integer.
    pub from: i64,
    /// The number of integers.
    pub span: u64,
}

impl Distribution<i64> for LongRange {
    const BLOCKS: u64 = DOUBLE_WORD_BLOCKS;

    #[inline(always)]
    fn group(self, seed: u64, first: u64, out: &mut Group<i64>) {
        let words = words_64(seed, first);
        // The upper half of word * span. Vectors multiply only 32 bits.
        let short = self.span >> 32 == 0;
        for i in 0..GROUP {
            let (high, low) = (words[i] >> 32, words[i] & 0xffff_ffff);
            let upper = if short {
                (high * self.span + ((low * self.span) >> 32)) >> 32
            } else {
                ((u128::from(words[i]) * u128::from(self.span)) >> 64) as u64
            };
            out[i].write(self.from.wrapping_add(upper as i64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fill;
    use super::*;

    fn filled<T: Copy, D: Distribution<T>>(distribution: D, zero: T) -> Vec<T> {
        let mut out = vec![zero; 10 * GROUP + 3];
        // SAFETY: `out` has `out.len()` elements.
        unsafe { fill(out.as_mut_ptr(), out.len(), 7, 1, distribution) }
        out
    }

    #[test]
    fn chances_are_shares_of_the_words() {
        let truths = |of_words| filled(Chance { of_words }, Bool(7)).iter().filter(|x| x.get()).count();
        assert_eq!((truths(0), truths(1 << 32)), (0, 643));
        assert!((250..400).contains(&truths(1 << 31)));
    }

    #[test]
    fn ranges_are_products_of_words() {
        let words = filled(DoubleWords, 0);
        for span in [1, 2, 1000, u64::from(u32::MAX), 1 << 32, 1 << 63, u64::MAX] {
            for (x, &word) in filled(LongRange { from: -5, span }, 0).into_iter().zip(&words) {
                assert_eq!(x, (-5i64).wrapping_add(((u128::from(word) * u128::from(span)) >> 64) as i64));
            }
        }
        let dice = filled(Range { from: 1, span: 6 }, 0);
        assert!(dice.iter().all(|x| (1..=6).contains(x)) && (1..=6).all(|x| dice.contains(&x)));
    }
}
