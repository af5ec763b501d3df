//! Random fills on the host. Philox computes all elements at once. MT19937 computes them one after the other, in row-major order, by TH's
//! formulas.

use super::place::{Place, by_position, in_order};
use super::sample::{alias, categories, permute};
use super::{
    Binomial, Cauchy, Chance, Distribution, Exponential, GROUP, Gamma, Geometric, LogNormal, LongRange, Normal, Poisson, Range, Source,
    TruncatedNormal, Uniform, beta, fill as fill_groups, fill_each as draw_each, normals,
};
use crate::dtype::{Bool, Dtype, Element};
use crate::error::Result;
use crate::launch::Draw;
use crate::operand::Operand;
use crate::random::{Generator, Mt19937, Philox};
use std::f64::consts::PI;

/// The middle of the first of the 2^32 intervals whose lower ends are the unit numbers of MT19937: stands for 0, whose logarithm would give
/// an exponential number of 0.
const HALF_STEP: f64 = 1.0 / 8_589_934_592.0;
/// Deviations from the mean whose square overflows.
const FAR: f64 = 1e150;

/// Fills a row-major operand.
pub fn fill_operand(draw: Draw, generator: &mut Generator, out: &Operand, parameters: &[&Operand]) -> Result<()> {
    let place = Place { at: out.first(), dtype: out.dtype, n: out.layout().numel() as usize };
    // SAFETY: parameters are row-major float64, except alias tables, which are not read by this closure.
    let list = |k: usize| unsafe { parameters[k].elements::<f64>() };
    let single = out.dtype != Dtype::Float64;
    // Positive numbers that would be stored as 0 become the smallest positive one.
    let (least, most) = (out.dtype.least_positive(), out.dtype.below_one());
    match draw {
        Draw::Uniform { from, to, most } => {
            let narrow = Uniform::<f32>::new(from as f32, to as f32).at_most(most as f32);
            floats(place, generator, narrow, Uniform::<f64>::new(from, to), |stream, out| {
                stream.units(out);
                out.iter_mut().for_each(|u| *u = (*u * (to - from) + from).min(most));
            })
        }
        Draw::Normal { mean, std } => {
            let narrow = Normal { mean: mean as f32, std: std as f32 };
            floats(place, generator, narrow, Normal { mean, std }, |stream, out| normals(stream, out, mean, std, single))
        }
        Draw::LogNormal { mean, std } => {
            let narrow = LogNormal { log: Normal { mean: mean as f32, std: std as f32 }, least: least as f32 };
            floats(place, generator, narrow, LogNormal { log: Normal { mean, std }, least }, |stream, out| {
                each(stream, out, |stream| (stream.normal() * std + mean).exp().max(least));
            })
        }
        Draw::Exponential { lambda } => {
            let narrow = Exponential { scale: (1.0 / lambda) as f32, least: least as f32 };
            floats(place, generator, narrow, Exponential { scale: 1.0 / lambda, least }, |stream, out| {
                each(stream, out, |stream| (-1.0 / lambda * (1.0 - stream.unit().max(HALF_STEP)).ln()).max(least));
            })
        }
        Draw::Cauchy { median, sigma } => {
            let narrow = Cauchy { median: median as f32, sigma: sigma as f32 };
            floats(place, generator, narrow, Cauchy { median, sigma }, |stream, out| {
                each(stream, out, |stream| median + sigma * (PI * (stream.unit() - 0.5)).tan());
            })
        }
        Draw::TruncatedNormal { mean, std, from, to } => {
            let (low, high) = ((from - mean) / std, (to - mean) / std);
            // At this distance from the mean, every number except the nearer bound is unlikely, and `std * low` may overflow.
            let only = if low > FAR {
                Some(from)
            } else if high < -FAR {
                Some(to)
            } else {
                None
            };
            let standard = TruncatedNormal::new(low, high);
            by_source(place, generator, &|source, _| only.unwrap_or_else(|| (mean + std * standard.draw(source)).clamp(from, to)))
        }
        Draw::Gamma { shape, scale } => {
            let standard = Gamma::new(shape);
            by_source(place, generator, &|source, _| (scale * standard.draw(source)).max(least))
        }
        Draw::GammaEach => {
            let (shape, scale) = (list(0), list(1));
            by_source(place, generator, &|source, i| (scale[i] * Gamma::new(shape[i]).draw(source)).max(least))
        }
        Draw::Beta { a, b } => {
            let (first, second) = (Gamma::new(a), Gamma::new(b));
            by_source(place, generator, &|source, _| beta(first, second, source).clamp(least, most))
        }
        Draw::BetaEach => {
            let (a, b) = (list(0), list(1));
            by_source(place, generator, &|source, i| beta(Gamma::new(a[i]), Gamma::new(b[i]), source).clamp(least, most))
        }
        Draw::Geometric { p } => match generator {
            Generator::Philox(stream) => at_once(place, stream, Geometric { scale: -1.0 / p.ln() }),
            Generator::Mt19937(stream) => in_order(place, stream, |stream, out: &mut [f64]| {
                each(stream, out, |stream| ((1.0 - stream.unit()).ln() / p.ln()).trunc() + 1.0);
            }),
        },
        Draw::Poisson { rate } => {
            let law = Poisson::new(rate);
            by_source(place, generator, &|source, _| law.draw(source))
        }
        Draw::PoissonEach => {
            let rate = list(0);
            let mut exponential = crate::alloc::list(rate.len(), |_| Ok(0.0))?;
            Poisson::exponentials(&mut exponential, rate);
            by_source(place, generator, &|source, i| Poisson::by(rate[i], exponential[i]).draw(source))
        }
        Draw::Binomial { n, p } => {
            let law = Binomial::new(n, p);
            by_source(place, generator, &|source, _| law.draw(source))
        }
        Draw::BinomialEach => {
            let (n, p) = (list(0), list(1));
            by_source(place, generator, &|source, i| Binomial::new(n[i], p[i]).draw(source))
        }
        Draw::Bernoulli { p } => match generator {
            Generator::Philox(stream) => at_once(place, stream, Chance { of_words: (p * 4_294_967_296.0).round() as u64 }),
            Generator::Mt19937(stream) => in_order(place, stream, |stream, out: &mut [Bool]| {
                out.iter_mut().for_each(|x| *x = stream.chance(p).into());
            }),
        },
        Draw::BernoulliEach => bernoulli_each(place, generator, list(0)),
        Draw::Integers { from, span } => match generator {
            Generator::Philox(stream) if span <= Range::LONGEST => at_once(place, stream, Range { from, span: span as u32 }),
            Generator::Philox(stream) => at_once(place, stream, LongRange { from, span }),
            Generator::Mt19937(stream) => in_order(place, stream, |stream, out: &mut [i64]| remainders(stream, out, from, span)),
        },
        Draw::Permutation => permute(place, generator),
        Draw::Alias => {
            // SAFETY: the operand is row-major int64.
            let (other, stays) = (unsafe { parameters[0].elements::<i64>() }, list(1));
            alias(place, generator, other, stays)
        }
        Draw::Categories { replacement } => return categories(place, generator, parameters[0], replacement),
    }
    Ok(())
}

/// Fills with floats: by Philox from the distribution for the type they are computed in, by MT19937 with `next` numbers in order.
fn floats(
    place: Place,
    generator: &mut Generator,
    single: impl Distribution<f32>,
    double: impl Distribution<f64>,
    next: impl FnMut(&mut Mt19937, &mut [f64]),
) {
    match generator {
        Generator::Mt19937(stream) => in_order(place, stream, next),
        Generator::Philox(stream) if place.dtype == Dtype::Float64 => at_once(place, stream, double),
        Generator::Philox(stream) => at_once(place, stream, single),
    }
}

fn each(stream: &mut Mt19937, out: &mut [f64], next: impl Fn(&mut Mt19937) -> f64) {
    out.iter_mut().for_each(|x| *x = next(stream));
}

/// Fills with values of a distribution, converted to the dtype of the place.
fn at_once<T: Element, D: Distribution<T>>(place: Place, stream: &mut Philox, distribution: D) {
    by_position(place, stream, D::BLOCKS, &|at, _, n, seed, block| {
        // SAFETY: `by_position` passes pieces of the place.
        unsafe { fill_groups(at, n, seed, block, distribution) }
    });
}

/// Fills with `draw(source, i)` for each position `i`. `draw` may use any number of words.
fn by_source(place: Place, generator: &mut Generator, draw: &(dyn Fn(&mut dyn Source, usize) -> f64 + Sync)) {
    match generator {
        Generator::Mt19937(stream) => {
            let mut i = 0;
            in_order(place, stream, |stream, out: &mut [f64]| {
                for x in out {
                    *x = draw(stream, i);
                    i += 1;
                }
            });
        }
        Generator::Philox(stream) => by_position(place, stream, GROUP as u64, &|at: *mut f64, first, n, seed, block| {
            // SAFETY: `by_position` passes pieces of the place.
            let out = unsafe { std::slice::from_raw_parts_mut(at, n) };
            draw_each(out, seed, block, &|source, i| draw(source, first + i));
        }),
    }
}

fn bernoulli_each(place: Place, generator: &mut Generator, p: &[f64]) {
    let uniform = Uniform::<f64>::new(0.0, 1.0);
    match generator {
        Generator::Philox(stream) => {
            by_position(place, stream, <Uniform<f64> as Distribution<f64>>::BLOCKS, &|at: *mut f64, first, n, seed, block| {
                // SAFETY: `by_position` passes pieces of the place, and there are as many probabilities as elements.
                unsafe {
                    fill_groups(at, n, seed, block, uniform);
                    (0..n).for_each(|i| at.add(i).write(f64::from(u8::from(at.add(i).read() < p[first + i]))));
                }
            })
        }
        Generator::Mt19937(stream) => {
            let mut rest = p.iter();
            in_order(place, stream, |stream, out: &mut [Bool]| {
                out.iter_mut().zip(&mut rest).for_each(|(x, &p)| *x = stream.chance(p).into());
            })
        }
    }
}

/// TH's method: the remainder of a word. If a word has too few bits, the remainder of two words.
fn remainders(stream: &mut Mt19937, out: &mut [i64], from: i64, span: u64) {
    if span > 1 << 32 {
        out.iter_mut().for_each(|x| *x = from.wrapping_add((stream.double_word() % span) as i64));
    } else {
        stream.words_into(out, |word| from.wrapping_add((u64::from(word) % span) as i64));
    }
}
