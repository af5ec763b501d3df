//! Histograms: `histc` of floats in equal bins, `bincount` of integers.

use super::copy::item;
use super::dense::dense;
use super::reduce::{TH_ALL_DIMS, aminmax};
use super::result::deliver;
use crate::backend::{self, launch};
use crate::dtype::{Domain, Dtype};
use crate::element::rounded;
use crate::error::{Result, bail};
use crate::launch::Histogram;
use crate::layout::Layout;
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The largest number of bins of a histogram.
const MOST_BINS: i64 = 1 << 30;
/// `r[b]` = the number of elements of `t` in bin `b` of `bins` equal bins from `min` to `max`. If `min` equals `max`, the range of the data
/// is used.
pub fn histc(r: &Tensor, t: &Tensor, bins: i64, min: f64, max: f64) -> Result<()> {
    let t_dense = dense_floats(t)?;
    let n = t_dense.layout()?.numel();
    rows(r, &t_dense, t.defined()?, (1, n), &[bins], (bins, min, max))
}

/// [`histc`] of each row of the last dimension, which the bins replace. All rows share one range.
pub fn bhistc(r: &Tensor, t: &Tensor, bins: i64, min: f64, max: f64) -> Result<()> {
    let t_dense = dense_floats(t)?;
    let mut shape = t_dense.layout()?.shape;
    let Some(&columns) = shape.last() else { bail!(Shape, "expected rows, got a 0-d tensor") };
    shape.remove(shape.len() - 1);
    let count = shape.iter().product();
    shape.push(bins);
    rows(r, &t_dense, t.defined()?, (count, columns), &shape, (bins, min, max))
}

/// `t`, which must be float, row-major and in its compute type.
fn dense_floats(t: &Tensor) -> Result<Tensor> {
    let dtype = Domain::Float.check(t.defined()?)?;
    dense(t, dtype.compute())
}

/// Writes the histograms of `rows` rows of `columns` elements into a result of `shape`.
fn rows(r: &Tensor, t: &Tensor, dtype: Dtype, (rows, columns): (i64, i64), shape: &[i64], (bins, min, max): (i64, f64, f64)) -> Result<()> {
    if !(1..=MOST_BINS).contains(&bins) {
        bail!(Argument, "{bins} bins, expected 1 to {MOST_BINS}")
    }
    let counts = Tensor::empty(Dtype::Int64, shape)?;
    let (low, high) = range(t, min, max)?;
    let x = Operand::of(t)?;
    let rows = x.view(Layout { offset: x.layout().offset, ..Layout::contiguous(&[rows, columns]) });
    launch(&Histogram { n: bins as usize, low, high }, &Operand::of(&counts)?, &[&rows])?;
    deliver([Some((r, dtype, &counts))])
}

/// The range of a histogram, rounded to the type of the data.
fn range(t: &Tensor, min: f64, max: f64) -> Result<(f64, f64)> {
    if min > max {
        bail!(Argument, "min {} is greater than max {}", Scalar::from(min), Scalar::from(max))
    }
    let dtype = t.defined()?;
    let in_type = |x: f64| rounded(dtype, Scalar::Float(x)).to_f64();
    let (mut low, mut high) = (in_type(min), in_type(max));
    if low == high && t.layout()?.numel() > 0 {
        let [least, greatest] = [Tensor::fresh()?, Tensor::fresh()?];
        aminmax(Some(&least), Some(&greatest), t, TH_ALL_DIMS, false)?;
        (low, high) = (item(&least)?.to_f64(), item(&greatest)?.to_f64());
    }
    if !(low.is_finite() && high.is_finite()) {
        bail!(Argument, "the range from {} to {} is not finite", Scalar::from(low), Scalar::from(high))
    }
    if low < high {
        return Ok((low, high));
    }
    // A range of one number is widened by 1, or by more for large numbers, which may not change if 1 is added. It ends at the greatest
    // number.
    let (step, most) = (1f64.max(low.abs() * 2f64.powi(-20)), if dtype == Dtype::Float64 { f64::MAX } else { f64::from(f32::MAX) });
    Ok((in_type((low - step).max(-most)), in_type((high + step).min(most))))
}

/// `r[i]` = the number of elements of `t` that equal `i`, or the sum of their weights
pub fn bincount(r: &Tensor, t: &Tensor, weights: Option<&Tensor>, minlength: i64) -> Result<()> {
    let dtype = Domain::Integer.check(t.defined()?)?;
    if t.ndim() != 1 {
        bail!(Shape, "expected a vector, got shape {:?}", t.layout()?.shape.as_slice())
    }
    if minlength < 0 {
        bail!(Argument, "minlength {minlength} is negative")
    }
    let x = Operand::of(&dense(t, dtype)?)?;
    let weights = match weights {
        None => None,
        Some(weights) => {
            let (shape, want) = (weights.layout()?.shape, &x.layout().shape);
            if shape != *want {
                bail!(Shape, "weights have shape {:?}, expected {:?}", shape.as_slice(), want.as_slice())
            }
            let dtype = if weights.defined()? == Dtype::Float32 { Dtype::Float32 } else { Dtype::Float64 };
            Some(Operand::of(&dense(weights, dtype)?)?)
        }
    };
    let made = backend::on(x.device).bincount(&x, weights.as_ref(), minlength)?;
    deliver([Some((r, weights.map_or(Dtype::Int64, |weights| weights.dtype), &made.tensor()?))])
}
