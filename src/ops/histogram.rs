//! Histograms: histc over ranges of floats, bincount over integers.

use super::dense::{dense, elements, elements_mut};
use super::result::deliver;
use crate::cpu::engine::{CHEAP, Shared, parallel};
use crate::cpu::histogram::{Binned, Bins, add_weights, count_integers, extent};
use crate::dtype::{Domain, Dtype, Element, dispatch};
use crate::error::{Error, Kind, Result, bail};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use std::sync::atomic::{AtomicBool, Ordering};

/// The most bins of a histogram.
const MOST_BINS: i64 = 1 << 30;
/// Elements looked at to guess the greatest one.
const LOOK: usize = 4096;
/// Results up to this long are counted before their length is known.
const NARROW: i64 = 1 << 16;

/// `r[b]` = elements of `t` in bin `b` of `bins` equal ones from `min` to `max`; if these are equal, over the range of the data.
pub fn histc(r: &Tensor, t: &Tensor, bins: i64, min: f64, max: f64) -> Result<()> {
    let t_dense = dense_floats(t)?;
    let n = t_dense.layout()?.numel();
    rows(r, &t_dense, t.defined()?, (1, n), &[bins], (bins, min, max))
}

/// As [`histc`], for each row of the last dimension: bins take its place. The range of the data is that of all rows.
pub fn bhistc(r: &Tensor, t: &Tensor, bins: i64, min: f64, max: f64) -> Result<()> {
    let t_dense = dense_floats(t)?;
    let mut shape = t_dense.layout()?.shape;
    let Some(&columns) = shape.last() else { bail!(Shape, "expected rows, got a 0-d tensor") };
    shape.remove(shape.len() - 1);
    let count = shape.iter().product();
    shape.push(bins);
    rows(r, &t_dense, t.defined()?, (count, columns), &shape, (bins, min, max))
}

/// `t` row-major and in its compute type; floats only.
fn dense_floats(t: &Tensor) -> Result<Tensor> {
    let dtype = Domain::Float.check(t.defined()?)?;
    dense(t, dtype.compute())
}

/// Histograms of `rows` x `columns` elements into a result of `shape`.
fn rows(r: &Tensor, t: &Tensor, dtype: Dtype, (rows, columns): (i64, i64), shape: &[i64], (bins, min, max): (i64, f64, f64)) -> Result<()> {
    if !(1..=MOST_BINS).contains(&bins) {
        bail!(Argument, "{bins} bins, expected 1 to {MOST_BINS}")
    }
    let counts = Tensor::empty(Dtype::Int64, shape)?;
    dispatch!(float, dtype, T => {
        let x = elements::<T>(t)?;
        let bins = Bins { n: bins as usize, ..range::<T>(x, min, max)? };
        let (total, columns) = (Shared(counts.data()), columns as usize);
        let failed = AtomicBool::new(false);
        parallel(rows as usize, columns.max(1), CHEAP, &|part| {
            for row in part {
                // SAFETY: each row has its bins of the new tensor to itself.
                let total = unsafe {
                    let first = total.get().cast::<i64>().add(row * bins.n);
                    first.write_bytes(0, bins.n);
                    std::slice::from_raw_parts_mut(first, bins.n)
                };
                if bins.count(&x[row * columns..(row + 1) * columns], total).is_none() {
                    failed.store(true, Ordering::Relaxed);
                }
            }
        });
        if failed.into_inner() {
            return Err(no_memory(bins.n));
        }
    });
    deliver([Some((r, dtype, &counts))])
}

#[cold]
fn no_memory(entries: usize) -> Error {
    Error::new(Kind::NoMem, format_args!("out of memory for {entries} counts"))
}

/// The range of a histogram, in the type of the data.
fn range<T: Binned>(x: &[T], min: f64, max: f64) -> Result<Bins<T>> {
    if min > max {
        bail!(Argument, "min {} is greater than max {}", Scalar::from(min), Scalar::from(max))
    }
    let (mut low, mut high) = (T::from_f64(min), T::from_f64(max));
    if low == high && !x.is_empty() {
        (low, high) = extent(x);
    }
    if !(low.to_f64().is_finite() && high.to_f64().is_finite()) {
        bail!(Argument, "the range from {} to {} is not finite", Scalar::from(low.to_f64()), Scalar::from(high.to_f64()))
    }
    if low == high {
        (low, high) = (low.sub(T::from_f64(1.0)), high.add(T::from_f64(1.0)));
    }
    Ok(Bins { n: 1, low, high })
}

/// `r[i]` = elements of `t` that are `i`, or the sum of their weights.
pub fn bincount(r: &Tensor, t: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<()> {
    let dtype = Domain::Integer.check(t.defined()?)?;
    if t.ndim() != 1 {
        bail!(Shape, "expected a vector, got shape {:?}", t.layout()?.shape.as_slice())
    }
    if minlength < 0 {
        bail!(Argument, "minlength {minlength} is negative")
    }
    let x = dense(t, dtype)?;
    match weights {
        None => {
            let counts = dispatch!(numeric, dtype, T => count(elements::<T>(&x)?, minlength)?);
            deliver([Some((r, Dtype::Int64, &counts))])
        }
        Some(weights) => {
            if weights.defined()? != Dtype::Float32 {
                return weigh::<f64>(r, &x, weights, minlength);
            }
            weigh::<f32>(r, &x, weights, minlength)
        }
    }
}

/// A new vector of `n` zeros.
fn zeros<T: Element>(n: i64) -> Result<Tensor> {
    let mut t = Tensor::empty(T::DTYPE, &[n])?;
    elements_mut::<T>(&mut t)?.fill(T::ZERO);
    Ok(t)
}

/// One more than the greatest of `x`, none of which is negative, or `minlength` if that is more.
fn length<T: Element>(x: &[T], minlength: i64) -> Result<i64> {
    if x.is_empty() {
        return Ok(minlength);
    }
    let (least, greatest) = extent(x);
    if least.to_i64() < 0 {
        bail!(Argument, "element {} is negative", least.to_i64())
    }
    Ok(greatest.to_i64().saturating_add(1).max(minlength))
}

fn count<T: Element>(x: &[T], minlength: i64) -> Result<Tensor> {
    // The first elements tell how many counts there probably are: that saves a look at all of them.
    let guess = if x.len() > LOOK { length(&x[..LOOK], 1)?.saturating_mul(2) } else { i64::MAX };
    if guess <= NARROW {
        let mut guessed = zeros::<i64>(guess)?;
        let counts = elements_mut(&mut guessed)?;
        if count_integers(x, counts).ok_or_else(|| no_memory(counts.len()))? {
            let n = counts.iter().rposition(|&n| n != 0).map_or(0, |last| last + 1);
            let length = minlength.max(n as i64);
            let mut exact = zeros::<i64>(length)?;
            elements_mut(&mut exact)?[..n].copy_from_slice(&counts[..n]);
            return Ok(exact);
        }
    }
    let length = length(x, minlength)?;
    let mut t = zeros::<i64>(length)?;
    match count_integers(x, elements_mut(&mut t)?) {
        Some(_) => Ok(t),
        None => Err(no_memory(length as usize)),
    }
}

/// `bincount` with weights read as `W`, which is the type of a fresh result too; sums are float64.
fn weigh<W: Element>(r: &Tensor, x: &Tensor, weights: &Tensor, minlength: i64) -> Result<()> {
    if weights.layout()?.shape != x.layout()?.shape {
        let (shape, want) = (weights.layout()?.shape, x.layout()?.shape);
        bail!(Shape, "weights have shape {:?}, expected {:?}", shape.as_slice(), want.as_slice())
    }
    let weights = dense(weights, W::DTYPE)?;
    let dtype = x.defined()?;
    let made = dispatch!(numeric, dtype, T => {
        let x = elements::<T>(x)?;
        let length = length(x, minlength)?;
        let mut made = zeros::<f64>(length)?;
        add_weights(x, elements::<W>(&weights)?, elements_mut(&mut made)?);
        made
    });
    deliver([Some((r, W::DTYPE, &made))])
}
