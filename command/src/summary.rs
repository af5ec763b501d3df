//! The minimum, maximum and mean of a tensor's elements, and the number of NaNs.

use crate::elements::{Elements, Values};
use crate::number::Number;
use crate::progress::Progress;
use crate::stop::Result;
use std::num::NonZero;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::thread;

/// A summary of a tensor's elements.
#[derive(Debug, Clone, Copy)]
pub struct Summary {
    /// The number of NaNs.
    pub nans: u64,
    /// The summary of the other elements, if there are any.
    pub rest: Option<Rest>,
}

/// A summary of the elements that are not NaN.
#[derive(Debug, Clone, Copy)]
pub struct Rest {
    /// The smallest one.
    pub least: Number,
    /// The largest one.
    pub greatest: Number,
    /// Their mean.
    pub mean: f64,
}

/// The summary of a part of the elements.
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

/// The number of parallel sums, which the compiler keeps in vectors.
const LANES: usize = 16;

impl Summary {
    /// Summarises all elements.
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

/// Returns the summary of each piece, in order. Each thread takes the next piece.
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
            Values::Singles(xs) => floats(xs),
            Values::Doubles(xs) => floats(xs),
        }
    }

    fn with(self, next: Part) -> Part {
        let sum = match (self.sum, next.sum) {
            (Sum::Int(a), Sum::Int(b)) => Sum::Int(a + b),
            (Sum::Float(a), Sum::Float(b)) => Sum::Float(a + b),
            // All pieces of a tensor have the same type.
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

/// The float types that elements are widened to.
trait Float: Copy + PartialOrd + Into<f64> {
    const NAN: Self;
    const INFINITY: Self;
    const NEG_INFINITY: Self;
    fn number(self) -> Number;
}

impl Float for f32 {
    const NAN: f32 = f32::NAN;
    const INFINITY: f32 = f32::INFINITY;
    const NEG_INFINITY: f32 = f32::NEG_INFINITY;
    fn number(self) -> Number {
        Number::Single(self)
    }
}

impl Float for f64 {
    const NAN: f64 = f64::NAN;
    const INFINITY: f64 = f64::INFINITY;
    const NEG_INFINITY: f64 = f64::NEG_INFINITY;
    fn number(self) -> Number {
        Number::Double(self)
    }
}

fn floats<T: Float>(xs: &[T]) -> Part {
    let (mut least, mut greatest) = ([T::INFINITY; LANES], [T::NEG_INFINITY; LANES]);
    let (mut sums, mut nans) = ([0.0f64; LANES], [0u32; LANES]);
    // A separate loop for each lets the compiler use vectors. A NaN is neither less nor greater than another number.
    let mut take = |row: &[T; LANES]| {
        for (least, &x) in least.iter_mut().zip(row) {
            *least = if x < *least { x } else { *least };
        }
        for (greatest, &x) in greatest.iter_mut().zip(row) {
            *greatest = if x > *greatest { x } else { *greatest };
        }
        for (sum, &x) in sums.iter_mut().zip(row) {
            let x: f64 = x.into();
            *sum += if x.is_nan() { 0.0 } else { x };
        }
        for (nans, &x) in nans.iter_mut().zip(row) {
            *nans += u32::from(x.partial_cmp(&x).is_none());
        }
    };
    let (rows, rest) = xs.as_chunks::<LANES>();
    rows.iter().for_each(&mut take);
    // Padded with NaNs, which are subtracted from the count.
    let mut last = [T::NAN; LANES];
    last[..rest.len()].copy_from_slice(rest);
    take(&last);
    Part {
        count: xs.len() as u64,
        nans: nans.iter().map(|&count| u64::from(count)).sum::<u64>() - (LANES - rest.len()) as u64,
        sum: Sum::Float(sums.iter().sum()),
        least: least.into_iter().fold(T::INFINITY, |a, b| if b < a { b } else { a }).number(),
        greatest: greatest.into_iter().fold(T::NEG_INFINITY, |a, b| if b > a { b } else { a }).number(),
    }
}
