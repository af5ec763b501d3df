//! Order statistics along a dimension or over all elements: kthvalue, median, mode and quantiles.

use super::lines::{LineResult, Source};
use super::reduce::TH_ALL_DIMS;
use super::sort::wants;
use super::{copy, create, device};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::lines::{Interpolation, Rank};
use crate::launch::{LineOp, Lines};
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The method that computes a quantile between two elements.
pub type THInterpolation = i32;

/// `a + (b - a) * fraction` for neighbours a and b.
pub const TH_INTERPOLATION_LINEAR: THInterpolation = 0;
/// The smaller neighbour.
pub const TH_INTERPOLATION_LOWER: THInterpolation = 1;
/// The greater neighbour.
pub const TH_INTERPOLATION_HIGHER: THInterpolation = 2;
/// `(a + b) / 2`
pub const TH_INTERPOLATION_MIDPOINT: THInterpolation = 3;
/// The nearer neighbour; if both are equally near, the neighbour with the even rank.
pub const TH_INTERPOLATION_NEAREST: THInterpolation = 4;

/// The handles of the values and of the indices. Either may be absent.
type Results<'a> = (Option<&'a Tensor>, Option<&'a Tensor>);

/// The `k`-th smallest elements over `dim`, counted from 1, and their first positions. NaN is greater than any number.
pub fn kthvalue(results: Results<'_>, t: &Tensor, k: i64, dim: i32, keepdim: bool) -> Result<()> {
    let source = chosen_from(t, dim)?;
    if k < 1 || k > source.n() {
        bail!(Argument, "k = {k} is out of range for {} elements", source.n())
    }
    ranked(results, &source, Rank::At(k as usize - 1), keepdim)
}

/// The medians over `dim` and their first positions. Of two middle elements the smaller one is the median.
///
/// A line with a NaN has the median NaN, unless `skip_nan` is set and the line also has a number.
pub fn median(results: Results<'_>, t: &Tensor, dim: i32, keepdim: bool, skip_nan: bool) -> Result<()> {
    let rank = if skip_nan { Rank::MedianOfNumbers } else { Rank::Median };
    ranked(results, &chosen_from(t, dim)?, rank, keepdim)
}

/// The median of all elements as a number. The median of no elements is NaN.
pub fn median_all(t: &Tensor) -> Result<f64> {
    if t.defined()?.is_float() && t.layout()?.numel() == 0 {
        return Ok(f64::NAN);
    }
    let r = Tensor::fresh()?;
    median((Some(&r), None), t, TH_ALL_DIMS, false, false)?;
    Ok(copy::item(&r)?.to_f64())
}

/// The most frequent elements over `dim` and their last positions. Of equally frequent elements the smallest one is chosen.
pub fn mode(results: Results<'_>, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    let source = chosen_from(t, dim)?;
    chosen(LineOp::Mode, results, &source, keepdim)
}

/// The lines of `t`. Lines without elements are an error.
fn chosen_from(t: &Tensor, dim: i32) -> Result<Source> {
    let source = Source::along(t, dim)?;
    if source.n() == 0 {
        bail!(Argument, "no elements to choose from in shape {:?}", source.shape())
    }
    Ok(source)
}

/// Writes one element of each line, and its position.
fn chosen(op: LineOp<'_>, results: Results<'_>, source: &Source, keepdim: bool) -> Result<()> {
    let work = Lines { op, compute: source.dtype().compute() };
    source.run(work, LineResult::One { keepdim }, wants(results, source.dtype())?)
}

fn ranked(results: Results<'_>, source: &Source, rank: Rank, keepdim: bool) -> Result<()> {
    Domain::Numeric.check(source.dtype())?;
    chosen(LineOp::Select(rank), results, source, keepdim)
}

/// Quantiles over `dim`. A vector `q` adds a first dimension to `r`, with an entry for each of its elements; a 0-d `q` does not.
pub fn quantiles(
    r: &Tensor,
    t: &Tensor,
    q: &Tensor,
    dim: i32,
    keepdim: bool,
    interpolation: THInterpolation,
    skip_nan: bool,
) -> Result<()> {
    let interpolation = match interpolation {
        TH_INTERPOLATION_LINEAR => Interpolation::Linear,
        TH_INTERPOLATION_LOWER => Interpolation::Lower,
        TH_INTERPOLATION_HIGHER => Interpolation::Higher,
        TH_INTERPOLATION_MIDPOINT => Interpolation::Midpoint,
        TH_INTERPOLATION_NEAREST => Interpolation::Nearest,
        other => bail!(Argument, "{other} is no interpolation"),
    };
    let source = chosen_from(t, dim)?;
    let dtype = Domain::Float.check(source.dtype())?;
    let q = shares(q, dtype.compute())?;
    let form = if q.ndim() == 0 { LineResult::One { keepdim } } else { LineResult::Leading { n: q.layout()?.numel(), keepdim } };
    let op = LineOp::Quantiles { shares: &Operand::of(&q)?, interpolation, skip_nan };
    source.run(Lines { op, compute: dtype.compute() }, form, wants((Some(r), None), dtype)?)
}

/// [`quantiles`] for a single number.
pub fn quantile(r: &Tensor, t: &Tensor, q: f64, dim: i32, keepdim: bool, interpolation: THInterpolation, skip_nan: bool) -> Result<()> {
    let q = create::scalar(Dtype::Float64, Scalar::Float(q))?;
    quantiles(r, t, &q, dim, keepdim, interpolation, skip_nan)
}

/// Checks `q`. Returns it contiguous and in the type in which quantiles are computed.
fn shares(q: &Tensor, compute: Dtype) -> Result<Tensor> {
    if !q.defined()?.is_float() || q.ndim() > 1 {
        bail!(Argument, "q is a vector or 0-d tensor of floats, not {} of shape {:?}", q.defined()?, q.layout()?.shape.as_slice())
    }
    let q = copy::to_dtype(&copy::contiguous_copy(q)?, Dtype::Float64)?;
    for &share in device::elements::<f64>(&q)?.iter() {
        if !(0.0..=1.0).contains(&share) {
            bail!(Argument, "q = {} is outside of 0 to 1", Scalar::from(share))
        }
    }
    copy::to_dtype(&q, compute)
}
