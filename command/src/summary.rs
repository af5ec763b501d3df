//! Least, greatest and mean of a tensor's elements, and how many are NaN.

use crate::elements::{Elements, Values};
use crate::number::Number;
use crate::progress::Progress;
use crate::stop::Result;
use std::num::NonZero;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::thread;

/// What is told of a tensor's elements.
#[derive(Debug, Clone, Copy)]
pub struct Summary {
    /// How many are NaN.
    pub nans: u64,
    /// What is told of the others, if there are any.
    pub rest: Option<Rest>,
}

/// What is told of elements that are no NaN.
#[derive(Debug, Clone, Copy)]
pub struct Rest {
    /// The least.
    pub least: Number,
    /// The greatest.
    pub greatest: Number,
    /// Their mean.
    pub mean: f64,
}

/// What is known of some elements.
#[derive(Debug, Clone, Copy)]
struct Part {
    count: u64,
    nans: u64,
    sum: Sum,
    least: Number,
    greatest: Number,
}

#[derive(Debug, Clone, Copy)]
enum Sum {
    Int(i128),
    Float(f64),
}

/// Sums beside each other, which the compiler keeps in vectors.
const LANES: usize = 16;

impl Summary {
    /// Looks at all elements, of which each has so many bytes.
    pub fn of(elements: &Elements<'_>, progress: &Progress) -> Result<Summary> {
        let parts = parts(elements, progress)?;
        let nans = parts.iter().map(|part| part.nans).sum();
        let rest = parts.into_iter().filter(|part| part.count > part.nans).reduce(Part::with);
        let rest = rest.map(|all| {
            let count = (all.count - all.nans) as f64;
            let mean = match all.sum {
                Sum::Int(sum) => sum as f64 / count,
                Sum::Float(sum) => sum / count,
            };
            Rest { least: all.least, greatest: all.greatest, mean }
        });
        Ok(Summary { nans, rest })
    }
}

/// What is known of each piece, in their order. Threads take one after the other.
fn parts(elements: &Elements<'_>, progress: &Progress) -> Result<Vec<Part>> {
    let pieces = elements.pieces();
    let (next, threads) = (AtomicI64::new(0), thread::available_parallelism().map_or(1, NonZero::get).min(8).min(pieces.max(1) as usize));
    let work = || -> Result<Vec<(i64, Part)>> {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= pieces {
                return Ok(done);
            }
            let (_, piece) = elements.piece(number)?;
            let widened = piece.widened()?;
            done.push((number, Part::of(&widened.values())));
            progress.add(piece.bytes().len() as u64);
        }
    };
    let mut all = if threads == 1 {
        work()?
    } else {
        let results: Vec<_> = thread::scope(|scope| {
            let started: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            started.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        });
        let mut all = Vec::new();
        for result in results {
            all.extend(result?);
        }
        all
    };
    all.sort_unstable_by_key(|&(number, _)| number);
    Ok(all.into_iter().map(|(_, part)| part).collect())
}

impl Part {
    fn of(values: &Values<'_>) -> Part {
        match values {
            Values::Ints(xs) => Part {
                count: xs.len() as u64,
                nans: 0,
                sum: Sum::Int(xs.iter().map(|&x| i128::from(x)).sum()),
                least: Number::Int(xs.iter().copied().min().unwrap_or(0)),
                greatest: Number::Int(xs.iter().copied().max().unwrap_or(0)),
            },
            Values::Singles(xs) => floats(xs, f32::INFINITY, f32::NEG_INFINITY, Number::Single),
            Values::Doubles(xs) => floats(xs, f64::INFINITY, f64::NEG_INFINITY, Number::Double),
        }
    }

    fn with(self, next: Part) -> Part {
        let sum = match (self.sum, next.sum) {
            (Sum::Int(a), Sum::Int(b)) => Sum::Int(a + b),
            (Sum::Float(a), Sum::Float(b)) => Sum::Float(a + b),
            // All pieces of a tensor have one type.
            (sum, _) => sum,
        };
        Part {
            count: self.count + next.count,
            nans: self.nans + next.nans,
            sum,
            least: if next.least < self.least { next.least } else { self.least },
            greatest: if next.greatest > self.greatest { next.greatest } else { self.greatest },
        }
    }
}

fn floats<T: Copy + PartialOrd + Into<f64>>(xs: &[T], infinity: T, negative: T, number: fn(T) -> Number) -> Part {
    let (mut least, mut greatest) = ([infinity; LANES], [negative; LANES]);
    let (mut sums, mut nans) = ([0.0f64; LANES], [0u32; LANES]);
    let mut take = |lane: usize, x: T| {
        let wide: f64 = x.into();
        // A NaN is neither less nor greater.
        least[lane] = if x < least[lane] { x } else { least[lane] };
        greatest[lane] = if x > greatest[lane] { x } else { greatest[lane] };
        sums[lane] += if wide.is_nan() { 0.0 } else { wide };
        nans[lane] += u32::from(wide.is_nan());
    };
    let (rows, rest) = xs.as_chunks::<LANES>();
    for row in rows {
        for lane in 0..LANES {
            take(lane, row[lane]);
        }
    }
    for (lane, &x) in rest.iter().enumerate() {
        take(lane, x);
    }
    Part {
        count: xs.len() as u64,
        nans: nans.iter().map(|&count| u64::from(count)).sum(),
        sum: Sum::Float(sums.iter().sum()),
        least: number(least.into_iter().fold(infinity, |a, b| if b < a { b } else { a })),
        greatest: number(greatest.into_iter().fold(negative, |a, b| if b > a { b } else { a })),
    }
}
