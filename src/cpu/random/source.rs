//! Distributions that use an unknown number of random words for an element: rejection methods.
//!
//! Sources: Marsaglia and Tsang 2000 (gamma), Hörmann 1993 (Poisson: PTRS, binomial: BTRS), Devroye 1986 (sums of waiting times, sequential
//! search), Robert 1995 (truncated normal).

use super::GROUP;
use crate::cpu::simd::{Isa, simd};
use crate::cpu::vmath::{exp_f64, log_f64};
use crate::random::{Mt19937, block_part};
use std::f64::consts::PI;

/// An unlimited source of uniform numbers.
pub trait Source {
    /// Returns 64 random bits.
    fn bits(&mut self) -> u64;

    /// Returns a uniform number in (0, 1), from 53 bits.
    fn open(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * (1.0 / 4_503_599_627_370_496.0)
    }
}

impl Source for Mt19937 {
    fn bits(&mut self) -> u64 {
        self.double_word()
    }
}

/// The words that belong to one element of a fill.
pub struct Stream {
    seed: u64,
    block: u64,
    /// The part that follows the words in `words`.
    part: u64,
    words: [u64; READY],
    next: usize,
}

/// Double words of each element that a group computes at once: two parts, which are usually enough.
const READY: usize = 4;

/// Returns the double words of a part.
#[inline(always)]
fn part(seed: u64, block: u64, part: u64) -> [u64; 2] {
    let [a, b, c, d] = block_part(seed, block, part);
    [a << 32 | b & 0xffff_ffff, c << 32 | d & 0xffff_ffff]
}

impl Source for Stream {
    fn bits(&mut self) -> u64 {
        if self.next == READY {
            [self.words[READY - 2], self.words[READY - 1]] = part(self.seed, self.block, self.part);
            self.part += 1;
            self.next = READY - 2;
        }
        self.next += 1;
        self.words[self.next - 1]
    }
}

/// Fills `out` with `draw(source, i)` for each position `i`. Element `i` uses the words of block `block + i`, and of further parts of this
/// block.
pub fn fill_each(out: &mut [f64], seed: u64, block: u64, draw: &dyn Fn(&mut dyn Source, usize) -> f64) {
    for (group, out) in out.chunks_mut(GROUP).enumerate() {
        let first = block.wrapping_add((group * GROUP) as u64);
        let mut words = [[0; GROUP]; READY];
        let ready = &mut words;
        simd(
            #[inline(always)]
            move |_| {
                for k in 0..READY / 2 {
                    for i in 0..GROUP {
                        [ready[2 * k][i], ready[2 * k + 1][i]] = part(seed, first.wrapping_add(i as u64), k as u64);
                    }
                }
            },
        );
        for (i, x) in out.iter_mut().enumerate() {
            let words = std::array::from_fn(|k| words[k][i]);
            let mut source = Stream { seed, block: first.wrapping_add(i as u64), part: READY as u64 / 2, words, next: 0 };
            *x = draw(&mut source, group * GROUP + i);
        }
    }
}

// Own logarithm, since the C library's functions differ between machines in the last bit.
fn ln(x: f64) -> f64 {
    log_f64(Isa::plain(), x)
}

#[inline(always)]
fn exp(x: f64) -> f64 {
    exp_f64(Isa::plain(), x)
}

/// Returns a standard normal value, by the polar method.
fn normal(source: &mut dyn Source) -> f64 {
    loop {
        let (x, y) = (2.0 * source.open() - 1.0, 2.0 * source.open() - 1.0);
        let square = x * x + y * y;
        if square < 1.0 && square > 0.0 {
            return x * (-2.0 * ln(square) / square).sqrt();
        }
    }
}

/// The gamma distribution of scale 1.
#[derive(Clone, Copy)]
pub struct Gamma {
    /// `shape - 1/3`; for a shape below 1, computed from `shape + 1`.
    d: f64,
    /// For a shape below 1, the result is multiplied by a uniform number to this power.
    boost: f64,
}

impl Gamma {
    /// `shape` must be positive.
    pub fn new(shape: f64) -> Gamma {
        // For smaller shapes, the logarithms of the values would overflow.
        let shape = shape.max(1e-300);
        let (shape, boost) = if shape < 1.0 { (shape + 1.0, 1.0 / shape) } else { (shape, 0.0) };
        Gamma { d: shape - 1.0 / 3.0, boost }
    }

    /// Returns the logarithm of a value of this distribution. The value itself may underflow.
    fn log(&self, source: &mut dyn Source) -> f64 {
        let large = ln(self.large(source));
        if self.boost == 0.0 { large } else { large + ln(source.open()) * self.boost }
    }

    /// Returns a value of this distribution.
    pub fn draw(&self, source: &mut dyn Source) -> f64 {
        if self.boost == 0.0 { self.large(source) } else { exp(self.log(source)) }
    }

    fn large(&self, source: &mut dyn Source) -> f64 {
        let c = 1.0 / (9.0 * self.d).sqrt();
        loop {
            let x = normal(source);
            let v = 1.0 + c * x;
            if v <= 0.0 {
                continue;
            }
            let v = v * v * v;
            let u = source.open();
            if u < 1.0 - 0.0331 * (x * x) * (x * x) || ln(u) < 0.5 * x * x + self.d * (1.0 - v + ln(v)) {
                return self.d * v;
            }
        }
    }
}

/// Returns a beta distributed value: the share of the first of two gamma values in their sum. It is computed from logarithms, because both
/// values may underflow.
pub fn beta(a: Gamma, b: Gamma, source: &mut dyn Source) -> f64 {
    let (x, y) = (a.log(source), b.log(source));
    1.0 / (1.0 + exp(y - x))
}

/// Returns the error of Stirling's formula: `log(k!) = log(sqrt(2 pi)) + (k + 1/2) log(k + 1) - (k + 1) + stirling(k)`.
fn stirling(k: f64) -> f64 {
    const FIRST: [f64; 10] = [
        0.081_061_466_795_327_26,
        0.041_340_695_955_409_29,
        0.027_677_925_684_998_34,
        0.020_790_672_103_765_09,
        0.016_644_691_189_821_19,
        0.013_876_128_823_070_75,
        0.011_896_709_945_891_77,
        0.010_411_265_261_972_09,
        0.009_255_462_182_712_733,
        0.008_330_563_433_362_87,
    ];
    if k < 10.0 {
        return FIRST[k as usize];
    }
    let next = k + 1.0;
    let square = next * next;
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / next
}

/// The Poisson distribution.
#[derive(Clone, Copy)]
pub struct Poisson {
    rate: f64,
    /// `exp(-rate)` of a rate below 10, `log(rate)` of a greater one.
    known: f64,
}

impl Poisson {
    /// `rate` must not be negative.
    pub fn new(rate: f64) -> Poisson {
        Poisson::by(rate, exp(-rate))
    }

    /// [`Poisson::new`] for a rate whose `exp(-rate)` is known.
    pub fn by(rate: f64, exponential: f64) -> Poisson {
        Poisson { rate, known: if rate < 10.0 { exponential } else { ln(rate) } }
    }

    /// Writes `exp(-rate)` for each rate, for [`Poisson::by`], in a third of the time that single calls take.
    pub fn exponentials(r: &mut [f64], rates: &[f64]) {
        simd(
            #[inline(always)]
            move |_| r.iter_mut().zip(rates).for_each(|(r, rate)| *r = exp(-rate)),
        );
    }

    /// Returns a value of this distribution.
    pub fn draw(&self, source: &mut dyn Source) -> f64 {
        if self.rate < 10.0 { self.by_search(source) } else { self.by_rejection(source) }
    }

    /// Returns the smallest `k` for which the sum of the probabilities of 0 to `k` reaches a uniform number.
    fn by_search(&self, source: &mut dyn Source) -> f64 {
        // 1 / k, because a division takes longer than everything else. Entries from 60 on are never used.
        const INVERSES: [f64; 64] = {
            let mut inverses = [0.0; 64];
            let mut k = 0;
            while k < 64 {
                inverses[k] = 1.0 / (k + 1) as f64;
                k += 1;
            }
            inverses
        };
        let (mut left, mut probability, mut k) = (source.open() - self.known, self.known, 0);
        // As far as the resolution of 53 bits. Probabilities below 1e-18 change nothing.
        while left > 0.0 && (probability > 1e-18 || (k as f64) < self.rate) {
            probability *= self.rate * INVERSES[k & 63];
            left -= probability;
            k += 1;
        }
        k as f64
    }

    fn by_rejection(&self, source: &mut dyn Source) -> f64 {
        let b = 0.931 + 2.53 * self.rate.sqrt();
        let a = -0.059 + 0.024_83 * b;
        let (scale, most) = (1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0));
        loop {
            let (u, v) = (source.open() - 0.5, source.open());
            let us = 0.5 - u.abs();
            let k = ((2.0 * a / us + b) * u + self.rate + 0.43).floor();
            if us >= 0.07 && v <= most {
                return k;
            }
            if k < 0.0 || (us < 0.013 && v > us) {
                continue;
            }
            let log_probability = 0.5 * ln((k + 1.0) / (2.0 * PI)) - deviance(k + 1.0, self.rate) - self.known - stirling(k);
            if ln(v * scale / (a / (us * us) + b)) <= log_probability {
                return k;
            }
        }
    }
}

/// `x ln(x / mean) + mean - x`, with full relative precision also for x near the mean. (C. Loader, Fast and accurate computation of
/// binomial probabilities, 2000.)
fn deviance(x: f64, mean: f64) -> f64 {
    // 1 / (n (n - 1)) with alternating signs.
    const SERIES: [f64; 10] = {
        let mut series = [0.0; 10];
        let mut k = 0;
        while k < 10 {
            let n = (k + 2) as f64;
            series[k] = if k % 2 == 0 { 1.0 } else { -1.0 } / (n * (n - 1.0));
            k += 1;
        }
        series
    };
    let off = (x - mean) / mean;
    if off.abs() < 0.05 {
        return mean * off * off * SERIES.iter().rev().fold(0.0, |sum, term| sum * off + term);
    }
    x * ln(x / mean) + mean - x
}

/// The binomial distribution.
#[derive(Clone, Copy)]
pub struct Binomial {
    n: f64,
    /// The smaller of the probabilities of success and of failure.
    p: f64,
    /// True if `p` is the probability of failure.
    mirrored: bool,
}

impl Binomial {
    /// `n` must be whole and not negative, `p` in [0, 1].
    pub fn new(n: f64, p: f64) -> Binomial {
        Binomial { n, p: p.min(1.0 - p), mirrored: p > 0.5 }
    }

    /// Returns a value of this distribution.
    pub fn draw(&self, source: &mut dyn Source) -> f64 {
        let k = match () {
            _ if self.p == 0.0 => 0.0,
            _ if self.n * self.p < 10.0 => self.by_waiting(source),
            _ => self.by_rejection(source),
        };
        if self.mirrored { self.n - k } else { k }
    }

    /// Counts successes in `n` trials by drawing the number of trials between two successes.
    fn by_waiting(&self, source: &mut dyn Source) -> f64 {
        // log(1 - p), also for a p too small to change 1.
        let log_failure = if self.p < 1e-5 { -self.p * (1.0 + 0.5 * self.p) } else { ln(1.0 - self.p) };
        let (mut trials, mut k) = (0.0, 0.0);
        loop {
            trials += (ln(source.open()) / log_failure).floor() + 1.0;
            if trials > self.n {
                return k;
            }
            k += 1.0;
        }
    }

    /// Returns the logarithm of the probability of k, except for a term that does not depend on k.
    fn log_weight(&self, k: f64) -> f64 {
        let (successes, failures, all) = (k + 1.0, self.n - k + 1.0, self.n + 2.0);
        0.5 * ln(successes * failures)
            - deviance(successes, all * self.p)
            - deviance(failures, all * (1.0 - self.p))
            - stirling(k)
            - stirling(self.n - k)
    }

    fn by_rejection(&self, source: &mut dyn Source) -> f64 {
        let (n, p) = (self.n, self.p);
        let spread = (n * p * (1.0 - p)).sqrt();
        let b = 1.15 + 2.53 * spread;
        let a = -0.0873 + 0.0248 * b + 0.01 * p;
        let (scale, most) = ((2.83 + 5.1 / b) * spread, 0.92 - 4.2 / b);
        let of_mode = self.log_weight(((n + 1.0) * p).floor());
        loop {
            let (u, v) = (source.open() - 0.5, source.open());
            let us = 0.5 - u.abs();
            let k = ((2.0 * a / us + b) * u + n * p + 0.5).floor();
            if us >= 0.07 && v <= most {
                return k;
            }
            if k < 0.0 || k > n {
                continue;
            }
            if ln(v * scale / (a / (us * us) + b)) <= self.log_weight(k) - of_mode {
                return k;
            }
        }
    }
}

/// The standard normal distribution between two bounds.
#[derive(Clone, Copy)]
pub struct TruncatedNormal {
    from: f64,
    to: f64,
    /// True if the interval was mirrored, so that `from` is the bound nearest to the mean if the mean is outside.
    mirrored: bool,
}

impl TruncatedNormal {
    /// Requires `from < to`, which may be infinite. If the mean is outside, the square of the nearer bound must not overflow.
    pub fn new(from: f64, to: f64) -> TruncatedNormal {
        let mirrored = to < 0.0;
        let (from, to) = if mirrored { (-to, -from) } else { (from, to) };
        TruncatedNormal { from, to, mirrored }
    }

    /// Returns a value of this distribution.
    pub fn draw(&self, source: &mut dyn Source) -> f64 {
        let x = self.drawn(source).clamp(self.from, self.to);
        if self.mirrored { -x } else { x }
    }

    fn drawn(&self, source: &mut dyn Source) -> f64 {
        let TruncatedNormal { from, to, .. } = *self;
        if from <= 0.0 && to - from > (2.0 * PI).sqrt() {
            // The interval contains a large part of the distribution.
            return loop {
                let x = normal(source);
                if x >= from && x <= to {
                    break x;
                }
            };
        }
        // The maximum of the density in the interval, and the rate of an exponential that is above the density from there on.
        let peak = from.max(0.0);
        let steep = 0.5 * (peak + (peak * peak + 4.0).sqrt());
        if from > 0.0 && (to - from) * steep > 1.0 {
            return loop {
                let x = from - ln(source.open()) / steep;
                if x <= to && ln(source.open()) <= -0.5 * (x - steep) * (x - steep) {
                    break x;
                }
            };
        }
        loop {
            let x = from + (to - from) * source.open();
            if ln(source.open()) <= 0.5 * (peak - x) * (peak + x) {
                return x;
            }
        }
    }
}
