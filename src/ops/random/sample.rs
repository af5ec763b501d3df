//! Samples: permutations, and draws of categories by their probabilities.

use super::whole::greatest;
use super::{Parameters, Place, by_position, check_all, fill, in_order, is_not_negative, is_probability, make};
use crate::alloc::list;
use crate::cpu::random::{Distribution, DoubleWords, Exponential, GROUP, fill as fill_groups};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::ops::copy;
use crate::ops::result::deliver;
use crate::random::{Generator, Mt19937, Philox};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Hands out 64-bit words of a stream, some at a time.
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
            // SAFETY: the list has so many elements.
            unsafe { fill_groups(self.words.as_mut_ptr(), Words::MANY, self.stream.seed, block, DoubleWords) }
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }
}

/// A word's share of a range: one of `span` integers, and what is left of the word as a number in [0, 1).
fn share(word: u64, span: usize) -> (usize, f64) {
    let product = u128::from(word) * span as u128;
    ((product >> 64) as usize, ((product as u64) >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0))
}

/// `r` = the integers from 0 to `n - 1` in random order; a fresh one takes int64.
pub fn permutation(r: &Tensor, generator: &mut Generator, n: i64) -> Result<()> {
    if n < 0 {
        bail!(Argument, "{n} elements cannot be permuted")
    }
    let dtype = r.dtype().unwrap_or(Dtype::Int64);
    if n as u64 > greatest(dtype).saturating_add(1) {
        bail!(Argument, "{dtype} does not hold all integers below {n}")
    }
    make(r, dtype, true, &[n], |r| {
        let mut order = if r.dtype() == Some(Dtype::Int64) { r.clone() } else { Tensor::empty(Dtype::Int64, &[n])? };
        // SAFETY: `make` passes row-major tensors of n elements, which nobody else knows yet or writes now.
        let order_list = unsafe { integers_mut(&mut order, n) };
        order_list.iter_mut().enumerate().for_each(|(i, x)| *x = i as i64);
        match generator {
            Generator::Mt19937(stream) => shuffle(order_list, |span| stream.word() as usize % span),
            Generator::Philox(stream) => {
                let mut words = Words::new(stream);
                shuffle(order_list, |span| share(words.next(), span).0);
            }
        }
        copy::copy(r, &order)
    })
}

/// # Safety
/// `t` must be a row-major tensor of `n` int64 that nobody else uses meanwhile.
unsafe fn integers_mut(t: &mut Tensor, n: i64) -> &mut [i64] {
    // SAFETY: the caller's; a tensor without elements may have no memory.
    if n == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(t.data().cast(), n as usize) } }
}

/// Exchanges each element but the last with one of those that are left, itself among them.
fn shuffle(order: &mut [i64], mut below: impl FnMut(usize) -> usize) {
    for i in 0..order.len().saturating_sub(1) {
        order.swap(i, i + below(order.len() - i));
    }
}

/// `r` = `n` categories for each row of `p`, by their probabilities; a fresh one takes int64.
pub fn multinomial(r: &Tensor, generator: &mut Generator, p: &Tensor, n: i64, replacement: bool) -> Result<()> {
    let parameters = Parameters::of([p])?;
    let shape = parameters.shape.as_slice();
    let (rows, categories) = match *shape {
        [categories] => (1, categories as usize),
        [rows, categories] => (rows as usize, categories as usize),
        _ => bail!(Shape, "expected probabilities of 1 or 2 dimensions, got shape {shape:?}"),
    };
    if n < 0 {
        bail!(Argument, "{n} samples cannot be drawn")
    }
    check_holds(r, categories as i64)?;
    let p = |row: usize| &parameters.lists()[0][row * categories..][..categories];
    for row in 0..rows {
        let above = check_weights(p(row), row)?;
        if !replacement && n > above as i64 {
            bail!(Argument, "{n} samples without replacement, but row {row} has {above} probabilities above 0")
        }
    }
    let mut sizes = parameters.shape.clone();
    sizes.remove(sizes.len() - 1);
    sizes.push(n);
    let drawn = Tensor::empty(Dtype::Int64, &sizes)?;
    for row in 0..rows {
        let place = Place { at: drawn.data().wrapping_add(row * n as usize * 8), dtype: Dtype::Int64, n: n as usize };
        match generator {
            Generator::Mt19937(stream) => one_by_one(place, stream, p(row), replacement)?,
            Generator::Philox(stream) if replacement && n as usize <= categories / SEARCHED_SHARE => by_search(place, stream, p(row))?,
            Generator::Philox(stream) if replacement => Alias::new(p(row))?.draw(place, stream),
            Generator::Philox(stream) => race(place, stream, p(row))?,
        }
    }
    deliver([Some((r, Dtype::Int64, &drawn))])
}

/// Fails where `r` has a dtype without numbers for so many categories.
fn check_holds(r: &Tensor, categories: i64) -> Result<()> {
    match r.dtype() {
        Some(dtype) if dtype == Dtype::Bool || (categories - 1).max(0) as u64 > greatest(dtype) => {
            bail!(Dtype, "{dtype} does not hold {categories} categories")
        }
        _ => Ok(()),
    }
}

/// Fails unless there are numbers that are not negative, and some of them not 0; says how many those are.
fn check_weights(p: &[f64], row: usize) -> Result<usize> {
    check_all(p, "probabilities >= 0", is_not_negative)?;
    // From 0, since the sum of nothing is -0.
    let sum = p.iter().fold(0.0, |sum, x| sum + x);
    if !(sum > 0.0 && sum.is_finite()) {
        bail!(Argument, "expected probabilities of a finite sum above 0, those of row {row} sum to {}", Scalar::from(sum))
    }
    Ok(p.iter().filter(|&&x| x > 0.0).count())
}

/// TH's way: a uniform number for each sample, searched in the cumulative sums. What has been drawn is taken out of these.
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

/// The first category whose cumulative sum is not below `u`. The search is TH's, since rounding may leave the sums out of order.
fn first_reaching(cumulative: &mut [f64], u: f64) -> usize {
    let (mut left, mut right) = (0, cumulative.len());
    cumulative[right - 1] = 1.0;
    while left < right {
        let middle = left + (right - left) / 2;
        if cumulative[middle] < u { left = middle + 1 } else { right = middle }
    }
    left
}

/// `k`, or a category beside it where rounding or u = 0 has found one that cannot be.
fn nearest(possible: &[bool], k: usize) -> usize {
    let after = (k..possible.len()).find(|&k| possible[k]);
    after.or_else(|| (0..k).rev().find(|&k| possible[k])).unwrap_or(k.min(possible.len() - 1))
}

/// Takes the share of category `k` out of cumulative sums, which then end at 1 again.
fn take_out(cumulative: &mut [f64], k: usize) {
    let share = cumulative[k] - if k > 0 { cumulative[k - 1] } else { 0.0 };
    let rest = 1.0 - share;
    cumulative[..k].iter_mut().for_each(|c| *c /= rest);
    cumulative[k..].iter_mut().for_each(|c| *c = (*c - share) / rest);
}

/// Each category arrives after a time that is exponentially distributed, at the rate of its probability: the first ones to arrive.
fn race(place: Place, stream: &mut Philox, p: &[f64]) -> Result<()> {
    let mut times = list(p.len(), |_| Ok(0.0))?;
    let law = Exponential::<f64> { scale: 1.0 };
    let block = stream.reserve(p.len().div_ceil(GROUP) as u64 * <Exponential<f64> as Distribution<f64>>::BLOCKS);
    // SAFETY: the list has so many elements.
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
        // SAFETY: the place holds n integers, and no more arrive.
        unsafe { place.at.cast::<i64>().add(i).write(k) }
    }
    Ok(())
}

/// Categories a draw, from which on a search in running sums takes less time than making alias tables.
const SEARCHED_SHARE: usize = 8;

/// A uniform number for each sample, searched in the running sums.
fn by_search(place: Place, stream: &mut Philox, p: &[f64]) -> Result<()> {
    // As shares of the greatest: the sum may be too small to divide.
    let most = p.iter().fold(0.0f64, |most, &x| most.max(x));
    let mut sum = 0.0;
    let sums = list(p.len(), |k| {
        sum += p[k] / most;
        Ok(sum)
    })?;
    let last = p.iter().rposition(|&x| x > 0.0).unwrap_or(0);
    by_position(place, stream, DoubleWords::BLOCKS, &|at: *mut i64, _, n, seed, block| {
        // SAFETY: `by_position` passes pieces of the place or of a buffer; integers are words.
        unsafe {
            fill_groups(at.cast::<u64>(), n, seed, block, DoubleWords);
            for i in 0..n {
                let (_, share) = share(at.add(i).read() as u64, 1);
                // The first sum above belongs to a category that can be; rounding may leave none.
                let k = sums.partition_point(|&x| x <= share * sum).min(last);
                at.add(i).write(k as i64);
            }
        }
    });
    Ok(())
}

/// Walker's tables: a category drawn evenly stays with its probability in `stays`, else gives way to the one in `other`.
struct Alias {
    other: Vec<i64>,
    stays: Vec<f64>,
}

impl Alias {
    /// The tables of probabilities, whatever they sum to. What lacks of the average is filled up by what is above it.
    fn new(p: &[f64]) -> Result<Alias> {
        // As shares of the greatest: the sum may be too small to divide by.
        let most = p.iter().fold(0.0f64, |most, &x| most.max(x));
        let scale = p.len() as f64 / p.iter().map(|x| x / most).sum::<f64>();
        let mut stays = list(p.len(), |k| Ok(p[k] / most * scale))?;
        let mut other = list(p.len(), |k| Ok(k as i64))?;
        let (mut below, mut above) = (list(p.len(), |_| Ok(0))?, list(p.len(), |_| Ok(0))?);
        let (mut smalls, mut larges) = (0, 0);
        for k in 0..p.len() {
            let (stack, top) = if stays[k] < 1.0 { (&mut below, &mut smalls) } else { (&mut above, &mut larges) };
            stack[*top] = k;
            *top += 1;
        }
        while smalls > 0 && larges > 0 {
            let (small, large) = (below[smalls - 1], above[larges - 1]);
            other[small] = large as i64;
            stays[large] -= 1.0 - stays[small];
            if stays[large] < 1.0 {
                below[smalls - 1] = large;
                larges -= 1;
            } else {
                smalls -= 1;
            }
        }
        // The probabilities that are left are 1 but for rounding.
        below[..smalls].iter().chain(&above[..larges]).for_each(|&k| stays[k] = 1.0);
        Ok(Alias { other, stays })
    }

    fn draw(&self, place: Place, stream: &mut Philox) {
        by_position(place, stream, DoubleWords::BLOCKS, &|at: *mut i64, _, n, seed, block| {
            // SAFETY: `by_position` passes pieces of the place or of a buffer; integers are words.
            unsafe {
                fill_groups(at.cast::<u64>(), n, seed, block, DoubleWords);
                for i in 0..n {
                    let (k, rest) = share(at.add(i).read() as u64, self.stays.len());
                    at.add(i).write(if rest < self.stays[k] { k as i64 } else { self.other[k] });
                }
            }
        });
    }
}

/// The alias tables of the probabilities `p`: `stays`, in their dtype, and `other`, int64.
pub fn alias_setup(p: &Tensor, other: &Tensor, stays: &Tensor) -> Result<()> {
    let parameters = Parameters::of([p])?;
    let shape = vector(&parameters.shape)?;
    let weights = parameters.lists()[0];
    check_weights(weights, 0)?;
    let tables = Alias::new(weights)?;
    let n = weights.len() as i64;
    let (mut others, mut probabilities) = (Tensor::empty(Dtype::Int64, shape)?, Tensor::empty(Dtype::Float64, shape)?);
    // SAFETY: new tensors of n elements of 8 bytes.
    unsafe {
        integers_mut(&mut others, n).copy_from_slice(&tables.other);
        integers_mut(&mut probabilities, n).iter_mut().zip(&tables.stays).for_each(|(x, stays)| *x = stays.to_bits() as i64);
    }
    let rounded = copy::to_dtype(&probabilities, parameters.dtype)?;
    deliver([Some((other, Dtype::Int64, &others)), Some((stays, parameters.dtype, &rounded))])
}

fn vector(shape: &[i64]) -> Result<&[i64]> {
    match shape {
        [n] if *n > 0 => Ok(shape),
        _ => bail!(Shape, "expected a vector that is not empty, got shape {shape:?}"),
    }
}

/// `r` = categories drawn by alias tables.
pub fn alias_draw(r: &Tensor, generator: &mut Generator, other: &Tensor, stays: &Tensor) -> Result<()> {
    let parameters = Parameters::of([stays])?;
    let shape = vector(&parameters.shape)?;
    let stays = parameters.lists()[0];
    check_all(stays, super::PROBABILITY, is_probability)?;
    if other.defined()?.is_float() || other.layout()?.shape.as_slice() != shape {
        bail!(
            Shape,
            "expected {} integers beside the probabilities, got {} of shape {:?}",
            stays.len(),
            other.defined()?,
            other.layout()?.shape.as_slice()
        )
    }
    let mut others = Tensor::empty(Dtype::Int64, shape)?;
    copy::copy(&others, other)?;
    // SAFETY: a new tensor of so many elements.
    let others = unsafe { integers_mut(&mut others, stays.len() as i64) };
    let categories = stays.len() as i64;
    if let Some(k) = others.iter().find(|&&k| !(0..categories).contains(&k)) {
        bail!(Argument, "category {k} is none of {categories}")
    }
    r.defined()?;
    check_holds(r, categories)?;
    let tables = Alias { other: list(others.len(), |k| Ok(others[k]))?, stays: list(stays.len(), |k| Ok(stays[k]))? };
    fill(r, |place| match generator {
        Generator::Philox(stream) => tables.draw(place, stream),
        // Two draws: an even one, and whether it stays.
        Generator::Mt19937(stream) => in_order(place, stream, |stream, out: &mut [i64]| {
            for drawn in out {
                let k = (stream.unit() * categories as f64) as usize;
                *drawn = if stream.unit() <= tables.stays[k] { k as i64 } else { tables.other[k] };
            }
        }),
    })
}
