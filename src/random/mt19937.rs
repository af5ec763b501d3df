//! MT19937, Matsumoto and Nishimura's Mersenne twister, with the seeds, the saved state and the distributions of Torch's TH.

use crate::error::{Result, bail};
use std::f64::consts::PI;

/// The number of words of the state.
const WORDS: usize = 624;
/// The distance to the word that is mixed into the new one.
const AHEAD: usize = 397;

/// A position in the stream of 32-bit words that belongs to a seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Mt19937 {
    seed: u64,
    words: [u32; WORDS],
    /// The index of the next word.
    next: usize,
    /// One more than the number of words left before the state is renewed.
    left: usize,
    /// Normal values are made in pairs: from an angle (in turns) and a uniform number, which determines the radius.
    angle: f64,
    uniform: f64,
    radius: f64,
    /// True if the second value of a pair has not been returned yet.
    pending: bool,
}

impl Mt19937 {
    /// The size of a saved state in bytes: of TH's struct on machines with 64-bit longs.
    pub(crate) const BYTES: usize = 5048;

    /// The start of the stream of `seed`. Only the low 32 bits of the seed matter.
    pub fn new(seed: u64) -> Mt19937 {
        let mut words = [seed as u32; WORDS];
        for i in 1..WORDS {
            let before = words[i - 1];
            words[i] = (before ^ before >> 30).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
        }
        Mt19937 { seed, words, next: 0, left: 1, angle: 0.0, uniform: 0.0, radius: 0.0, pending: false }
    }

    /// The seed with all 64 bits.
    pub fn initial_seed(&self) -> u64 {
        self.seed
    }

    /// Computes the next 624 words of the state.
    fn renew(&mut self) {
        let words = &mut self.words;
        let mix = |word: u32, after: u32| {
            let joined = word & 0x8000_0000 | after & 0x7fff_ffff;
            joined >> 1 ^ if after & 1 == 0 { 0 } else { 0x9908_b0df }
        };
        for i in 0..WORDS - AHEAD {
            words[i] = words[i + AHEAD] ^ mix(words[i], words[i + 1]);
        }
        for i in WORDS - AHEAD..WORDS - 1 {
            words[i] = words[i + AHEAD - WORDS] ^ mix(words[i], words[i + 1]);
        }
        words[WORDS - 1] = words[AHEAD - 1] ^ mix(words[WORDS - 1], words[0]);
        (self.next, self.left) = (0, WORDS + 1);
    }

    /// The next word.
    pub fn word(&mut self) -> u32 {
        let mut word = [0];
        self.words_into(&mut word, |word| word);
        word[0]
    }

    /// Writes `f` of the next `out.len()` words to `out`.
    pub fn words_into<T>(&mut self, out: &mut [T], f: impl Fn(u32) -> T) {
        let mut done = 0;
        while done < out.len() {
            if self.left == 1 {
                self.renew();
            }
            let n = (self.left - 1).min(out.len() - done);
            for (x, &word) in out[done..done + n].iter_mut().zip(&self.words[self.next..self.next + n]) {
                *x = f(tempered(word));
            }
            (self.next, self.left, done) = (self.next + n, self.left - n, done + n);
        }
    }

    /// Two words as one number; the first word is the upper half.
    pub fn double_word(&mut self) -> u64 {
        u64::from(self.word()) << 32 | u64::from(self.word())
    }

    /// Uniform in [0, 1): a word divided by 2^32.
    pub fn unit(&mut self) -> f64 {
        unit(self.word())
    }

    /// True with probability `p`, by TH's comparison of a unit number, which may be 0; never for a `p` of 0.
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() <= p && p > 0.0
    }

    /// Writes the next `out.len()` numbers of [`Mt19937::unit`] to `out`.
    pub fn units(&mut self, out: &mut [f64]) {
        self.words_into(out, unit);
    }

    /// A standard normal number. Two words give two of them: first the one with the cosine, then the one with the sine.
    pub fn normal(&mut self) -> f64 {
        if self.pending {
            self.pending = false;
            return self.radius * (2.0 * PI * self.angle).sin();
        }
        let (angle, uniform) = (self.word(), self.word());
        let (radius, turn) = Mt19937::radius_and_turn(angle, uniform);
        (self.angle, self.uniform, self.radius, self.pending) = (unit(angle), unit(uniform), radius, true);
        radius * turn.cos()
    }

    /// Radius and angle (in radians) of the pair of normal numbers that two words give.
    pub fn radius_and_turn(angle: u32, uniform: u32) -> (f64, f64) {
        ((-2.0 * (1.0 - unit(uniform)).ln()).sqrt(), 2.0 * PI * unit(angle))
    }

    /// Returns true if the next normal number is the first of a pair.
    pub fn between_pairs(&self) -> bool {
        !self.pending
    }

    /// The state as TH's struct: seed, `left`, whether it has been seeded, `next`, the words as longs, then angle, uniform number and
    /// radius of the normal pair, and whether the second of the pair is pending.
    pub fn save(&self) -> [u8; Mt19937::BYTES] {
        let mut bytes = [0; Mt19937::BYTES];
        let mut put = |at: usize, x: u64| bytes[at..at + 8].copy_from_slice(&x.to_ne_bytes());
        put(0, self.seed);
        put(16, self.next as u64);
        self.words.iter().enumerate().for_each(|(i, &word)| put(24 + 8 * i, word.into()));
        for (k, x) in [self.angle, self.uniform, self.radius].into_iter().enumerate() {
            put(5016 + 8 * k, x.to_bits());
        }
        let mut put = |at: usize, x: i32| bytes[at..at + 4].copy_from_slice(&x.to_ne_bytes());
        put(8, self.left as i32);
        put(12, 1);
        put(5040, self.pending.into());
        bytes
    }

    /// The stream of a saved state.
    pub fn restore(bytes: &[u8; Mt19937::BYTES]) -> Result<Mt19937> {
        let long = |at: usize| u64::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
        let int = |at: usize| i32::from_ne_bytes(std::array::from_fn(|i| bytes[at + i]));
        let (left, seeded, next) = (int(8), int(12), long(16));
        // The words that have not been read must be inside the state.
        if seeded != 1 || !(1..=WORDS as i32).contains(&left) || next > (WORDS + 1 - left as usize) as u64 {
            bail!(Argument, "the state is not of an MT19937 generator: seeded {seeded}, {left} words left, word {next} next")
        }
        let mut words = [0; WORDS];
        for (i, word) in words.iter_mut().enumerate() {
            match u32::try_from(long(24 + 8 * i)) {
                Ok(x) => *word = x,
                Err(_) => bail!(Argument, "the state is not of an MT19937 generator: word {i} has more than 32 bits"),
            }
        }
        let [angle, uniform, radius] = [5016, 5024, 5032].map(|at| f64::from_bits(long(at)));
        Ok(Mt19937 { seed: long(0), words, next: next as usize, left: left as usize, angle, uniform, radius, pending: int(5040) != 0 })
    }
}

#[inline(always)]
fn tempered(mut y: u32) -> u32 {
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c_5680;
    y ^= y << 15 & 0xefc6_0000;
    y ^ y >> 18
}

#[inline(always)]
fn unit(word: u32) -> f64 {
    f64::from(word) * (1.0 / 4_294_967_296.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_published_ones() {
        let mut stream = Mt19937::new(5489);
        assert_eq!([0; 3].map(|_| stream.word()), [3_499_211_612, 581_869_302, 3_890_346_734]);
        let mut stream = Mt19937::new(5489);
        // The C++ standard gives the 10000th word of the default seed.
        (1..10_000).for_each(|_| _ = stream.word());
        assert_eq!(stream.word(), 4_123_659_995);
        assert_eq!((Mt19937::new(1 << 32 | 7).word(), Mt19937::new(1 << 32).initial_seed()), (Mt19937::new(7).word(), 1 << 32));
    }

    #[test]
    fn many_words_are_single_words_in_a_row() {
        let (mut whole, mut single) = (Mt19937::new(1), Mt19937::new(1));
        for n in [0, 1, 622, 1, 1, 2000, 3] {
            let mut out = vec![0; n];
            whole.words_into(&mut out, |word| word);
            assert!(out.iter().all(|&word| word == single.word()));
            assert_eq!(whole, single);
        }
    }

    #[test]
    fn what_is_saved_goes_on_as_it_would_have() {
        let mut stream = Mt19937::new(u64::MAX);
        for drawn in [0, 1, 622, 623, 5] {
            (0..drawn).for_each(|_| _ = stream.word());
            stream.normal();
            let mut back = Mt19937::restore(&stream.save()).unwrap();
            assert_eq!(back, stream);
            assert_eq!((back.normal(), back.word()), (stream.normal(), stream.word()));
        }
    }

    #[test]
    fn what_cannot_be_a_state_is_refused() {
        let good = Mt19937::new(3).save();
        let refused = |at: usize, value: u8| {
            let mut bytes = good;
            bytes[at] = value;
            Mt19937::restore(&bytes).is_err()
        };
        assert!(!refused(0, 9) && !refused(16, 7));
        // No words left, too many words left, not seeded, `next` outside the state, a word of 33 bits.
        assert!(refused(8, 0) && refused(9, 0xff) && refused(12, 0) && refused(18, 1) && refused(24 + 8 * 600 + 4, 1));
    }
}
