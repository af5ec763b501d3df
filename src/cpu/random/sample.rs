//! Samples on the host: permutations, and draws of categories by their probabilities.

use super::place::{Place, by_position, in_order};
use super::{Distribution, DoubleWords, Exponential, GROUP, fill as fill_groups};
use crate::alloc::list;
use crate::cpu::tuning::SEARCHED_SHARE;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::operand::Operand;
use crate::random::{Alias, Generator, Mt19937, Philox};

/// Fills a row-major place of int64 with the integers from 0 on, in random order.
pub(super) fn permute(place: Place, generator: &mut Generator) {
    let order: &mut [i64] = match place.n {
        0 => &mut [],
        // SAFETY: the place holds int64, and no other thread uses it during this call.
        n => unsafe { std::slice::from_raw_parts_mut(place.at.cast(), n) },
    };
    order.iter_mut().enumerate().for_each(|(i, x)| *x = i as i64);
    match generator {
        Generator::Mt19937(stream) => shuffle(order, |span| stream.word() as usize % span),
        Generator::Philox(stream) => {
            let mut words = Words::new(stream);
            shuffle(order, |span| share(words.next(), span).0);
        }
    }
}

/// Draws categories for each row of the probabilities.
pub(super) fn categories(place: Place, generator: &mut Generator, p: &Operand, replacement: bool) -> Result<()> {
    let [rows, count] = [0, 1].map(|d| p.layout().shape[d] as usize);
    let n = place.n / rows.max(1);
    for row in 0..rows {
        // SAFETY: the operand is a row-major matrix of float64.
        let p = &unsafe { p.elements::<f64>() }[row * count..][..count];
        let place = Place { at: place.at.wrapping_add(row * n * 8), dtype: Dtype::Int64, n };
        match generator {
            Generator::Mt19937(stream) => one_by_one(place, stream, p, replacement)?,
            Generator::Philox(stream) if replacement && n <= count / SEARCHED_SHARE => by_search(place, stream, p)?,
            Generator::Philox(_) if replacement => {
                let tables = Alias::new(p)?;
                alias(place, generator, &tables.other, &tables.stays);
            }
            Generator::Philox(stream) => race(place, stream, p)?,
        }
    }
    Ok(())
}

/// Fills with categories: a category `k` is drawn evenly, kept with probability `stays[k]`, and otherwise replaced by `other[k]`.
pub(super) fn alias(place: Place, generator: &mut Generator, other: &[i64], stays: &[f64]) {
    match generator {
        Generator::Philox(stream) => by_position(place, stream, DoubleWords::BLOCKS, &|at: *mut i64, _, n, seed, block| {
            // SAFETY: `by_position` passes pieces of the place or of a buffer; int64 and u64 have the same size.
            unsafe {
                fill_groups(at.cast::<u64>(), n, seed, block, DoubleWords);
                for i in 0..n {
                    let (k, rest) = share(at.add(i).read() as u64, stays.len());
                    at.add(i).write(if rest < stays[k] { k as i64 } else { other[k] });
                }
            }
        }),
        // Two draws: an even one, and whether to keep it.
        Generator::Mt19937(stream) => in_order(place, stream, |stream, out: &mut [i64]| {
            for drawn in out {
                let k = (stream.unit() * stays.len() as f64) as usize;
                *drawn = if stream.chance(stays[k]) { k as i64 } else { other[k] };
            }
        }),
    }
}

/// Returns the 64-bit words of a stream one by one; computes several at a time.
struct Words<'a> {
    stream: &'a mut Philox,
    words: [u64; Words::MANY],
    used: usize,
}

impl Words<'_> {
    const MANY: usize = 8 * GROUP;

    fn new(stream: &mut Philox) -> Words<'_> {
        Words { stream, words: [0; Words::MANY], used: Words::MANY }
    }

    fn next(&mut self) -> u64 {
        if self.used == Words::MANY {
            let block = self.stream.reserve((Words::MANY / GROUP) as u64 * DoubleWords::BLOCKS);
            // SAFETY: the list has `MANY` elements.
            unsafe { fill_groups(self.words.as_mut_ptr(), Words::MANY, self.stream.seed, block, DoubleWords) }
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }
}

/// Returns one of `span` integers, and the rest of the word as a number in [0, 1).
fn share(word: u64, span: usize) -> (usize, f64) {
    let product = u128::from(word) * span as u128;
    ((product >> 64) as usize, ((product as u64) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0))
}

/// Exchanges each element, except the last, with a random one of the elements from it on.
fn shuffle(order: &mut [i64], mut below: impl FnMut(usize) -> usize) {
    for i in 0..order.len().saturating_sub(1) {
        order.swap(i, i + below(order.len() - i));
    }
}

/// TH's method: a uniform number for each sample is searched in the cumulative sums. Without replacement, a drawn category is removed from
/// the sums.
fn one_by_one(place: Place, stream: &mut Mt19937, p: &[f64], replacement: bool) -> Result<()> {
    let mut sum = 0.0;
    let mut cumulative = list(p.len(), |k| {
        sum += p[k];
        Ok(sum)
    })?;
    cumulative.iter_mut().for_each(|c| *c /= sum);
    let mut possible = list(p.len(), |k| Ok(p[k] > 0.0))?;
    in_order(place, stream, |stream, out: &mut [i64]| {
        for drawn in out {
            let k = nearest(&possible, first_reaching(&mut cumulative, stream.unit()));
            *drawn = k as i64;
            if !replacement {
                possible[k] = false;
                take_out(&mut cumulative, k);
            }
        }
    });
    Ok(())
}

/// Returns the first category whose cumulative sum is at least `u`. The search is TH's, because rounding may leave the sums out of order.
fn first_reaching(cumulative: &mut [f64], u: f64) -> usize {
    let (mut left, mut right) = (0, cumulative.len());
    cumulative[right - 1] = 1.0;
    while left < right {
        let middle = left + (right - left) / 2;
        if cumulative[middle] < u { left = middle + 1 } else { right = middle }
    }
    left
}

/// Returns `k`, or the nearest possible category if rounding or u = 0 has found an impossible one.
fn nearest(possible: &[bool], k: usize) -> usize {
    let after = (k..possible.len()).find(|&k| possible[k]);
    after.or_else(|| (0..k).rev().find(|&k| possible[k])).unwrap_or(k.min(possible.len() - 1))
}

/// Removes the share of category `k` from cumulative sums, which then end at 1 again.
fn take_out(cumulative: &mut [f64], k: usize) {
    let share = cumulative[k] - if k > 0 { cumulative[k - 1] } else { 0.0 };
    let rest = 1.0 - share;
    cumulative[..k].iter_mut().for_each(|c| *c /= rest);
    cumulative[k..].iter_mut().for_each(|c| *c = (*c - share) / rest);
}

/// Draws without replacement: each category arrives after an exponentially distributed time, at the rate of its probability. The first to
/// arrive are drawn.
fn race(place: Place, stream: &mut Philox, p: &[f64]) -> Result<()> {
    let mut times = list(p.len(), |_| Ok(0.0))?;
    let law = Exponential::<f64> { scale: 1.0, least: 0.0 };
    let block = stream.reserve(p.len().div_ceil(GROUP) as u64 * <Exponential<f64> as Distribution<f64>>::BLOCKS);
    // SAFETY: the list has an element for each category.
    unsafe { fill_groups(times.as_mut_ptr(), p.len(), stream.seed, block, law) }
    let mut arrivals = list(p.len(), |k| Ok((times[k] / p[k], k as i64)))?;
    arrivals.retain(|&(_, k)| p[k as usize] > 0.0);
    let earlier = |a: &(f64, i64), b: &(f64, i64)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    if place.n < arrivals.len() {
        arrivals.select_nth_unstable_by(place.n, earlier);
    }
    arrivals.truncate(place.n);
    arrivals.sort_unstable_by(earlier);
    for (i, &(_, k)) in arrivals.iter().enumerate() {
        // SAFETY: the place holds n integers, and at most n are written.
        unsafe { place.at.cast::<i64>().add(i).write(k) }
    }
    Ok(())
}

/// Searches a uniform number for each sample in the running sums.
fn by_search(place: Place, stream: &mut Philox, p: &[f64]) -> Result<()> {
    // Probabilities are divided by the greatest, since the sum may be too small to divide by.
    let most = p.iter().fold(0.0f64, |most, &x| most.max(x));
    let mut sum = 0.0;
    let sums = list(p.len(), |k| {
        sum += p[k] / most;
        Ok(sum)
    })?;
    let last = p.iter().rposition(|&x| x > 0.0).unwrap_or(0);
    by_position(place, stream, DoubleWords::BLOCKS, &|at: *mut i64, _, n, seed, block| {
        // SAFETY: `by_position` passes pieces of the place or of a buffer; int64 and u64 have the same size.
        unsafe {
            fill_groups(at.cast::<u64>(), n, seed, block, DoubleWords);
            for i in 0..n {
                let (_, share) = share(at.add(i).read() as u64, 1);
                // The first greater sum belongs to a possible category. Rounding may leave no greater sum.
                let k = sums.partition_point(|&x| x <= share * sum).min(last);
                at.add(i).write(k as i64);
            }
        }
    });
    Ok(())
}
