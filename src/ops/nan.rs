//! Reductions and scans that ignore NaNs, composed of functions that do not.

use super::loss::made;
use super::pointwise::{arithmetic, choose, compare, function};
use super::reduce::{self, Over, To, nonzero_everywhere};
use super::result::deliver;
use super::{copy, scan};
use crate::device::Device;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `t` with `value` in place of NaN: `t` itself if the dtype has no NaN.
fn replaced(t: &Tensor, value: Scalar) -> Result<Tensor> {
    if is_whole(t)? {
        return Ok(t.clone());
    }
    let infinity = Scalar::Float(f64::INFINITY);
    made(|r| function::nan_to_num(r, t, value, infinity, Scalar::Float(f64::NEG_INFINITY)))
}

/// Bool: true for each element that is not NaN.
fn numbers(t: &Tensor) -> Result<Tensor> {
    let r = made(|r| compare::isnan.run([r, t], &[]))?;
    compare::logicalNot.run([&r, &r], &[])?;
    Ok(r)
}

/// Returns true if a tensor of this dtype has no NaN. Fails if the tensor has no dtype.
fn is_whole(t: &Tensor) -> Result<bool> {
    Ok(!t.defined()?.is_float())
}

/// Returns the result of `reduction` if it has no NaN, because then the elements have none either. Only on the host: elsewhere the question
/// would wait for the device.
fn without_nan(t: &Tensor, reduction: impl FnMut(&Tensor) -> Result<()>) -> Result<Option<Tensor>> {
    if t.device() != Device::Cpu {
        return Ok(None);
    }
    let made = made(reduction)?;
    Ok(if nonzero_everywhere(&numbers(&made)?)? { Some(made) } else { None })
}

/// `r = product of t over some dims`, ignoring NaNs
pub fn prod(r: &Tensor, t: &Tensor, over: Over<'_>, keepdim: bool, asked: Option<Dtype>) -> Result<()> {
    if is_whole(t)? {
        return reduce::prod(To::tensor(r, keepdim), t, over, asked);
    }
    // Integers have no NaN.
    if asked.is_none_or(Dtype::is_float)
        && let Some(made) = without_nan(t, |r| reduce::prod(To::tensor(r, keepdim), t, over, asked))?
    {
        return deliver([Some((r, made.defined()?, &made))]);
    }
    reduce::prod(To::tensor(r, keepdim), &replaced(t, Scalar::Int(1))?, over, asked)
}

/// `r = greatest or least element of t over some dims`, ignoring NaNs; NaN where all elements are NaN
pub fn extreme(max: bool, r: &Tensor, t: &Tensor, over: Over<'_>, keepdim: bool) -> Result<()> {
    let to = To::tensor(r, keepdim);
    if is_whole(t)? {
        return reduce::extreme(max, to, t, over);
    }
    if let Some(best) = without_nan(t, |r| reduce::extreme(max, To::tensor(r, keepdim), t, over))? {
        return deliver([Some((r, t.defined()?, &best))]);
    }
    let worst = Scalar::Float(if max { f64::NEG_INFINITY } else { f64::INFINITY });
    let best = made(|r| reduce::extreme(max, To::tensor(r, keepdim), &replaced(t, worst)?, over))?;
    let any = made(|r| reduce::logic(false, To::tensor(r, keepdim), &numbers(t)?, over))?;
    let best = made(|r| choose::choose_value(r, &any, &best, Scalar::Float(f64::NAN), false))?;
    deliver([Some((r, t.defined()?, &best))])
}

/// `r = index of the first greatest or least element of t over a dim`, ignoring NaNs. Fails if all elements are NaN.
pub fn extreme_at(max: bool, r: &Tensor, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    if is_whole(t)? {
        return reduce::extreme_at(max, None, Some(r), t, dim, keepdim);
    }
    let over = Over::Dim(dim);
    let best = made(|r| extreme(max, r, t, over, true))?;
    if !nonzero_everywhere(&numbers(&best)?)? {
        bail!(Argument, "all elements of a line are NaN")
    }
    let places = made(|r| compare::eqTensor.run([r, t, &best], &[]))?;
    reduce::extreme_at(true, None, Some(r), &places, dim, keepdim)
}

/// `r = variance of t over some dims`, or with `root` the standard deviation, ignoring NaNs; floats only. NaN where at most `correction`
/// elements are not NaN.
pub fn var(root: bool, r: &Tensor, t: &Tensor, over: Over<'_>, correction: f64, keepdim: bool) -> Result<()> {
    let dtype = Domain::Float.check(t.defined()?)?;
    if correction.is_nan() {
        bail!(Argument, "the correction is NaN")
    }
    let (x, numbers) = (copy::to_dtype(t, Dtype::Float64)?, numbers(t)?);
    // Elements that are the mean do not change the sum of squares.
    let mean = made(|r| reduce::nanmean(To::tensor(r, true), &x, over))?;
    let filled = made(|r| choose::choose(r, &numbers, &x, &mean))?;
    let spread = made(|r| reduce::var(false, To::tensor(r, keepdim), &filled, over, 0.0, None))?;
    let counts = made(|r| reduce::sum(To::tensor(r, keepdim), &numbers, over, None))?;
    let divisor = copy::to_dtype(&counts, Dtype::Float64)?;
    let all = x.layout()?.numel().checked_div(spread.layout()?.numel()).unwrap_or(0);
    arithmetic::sub.run([&divisor, &divisor], &[correction.into()])?;
    let positive = made(|r| compare::gtValue.run([r, &divisor], &[Scalar::Int(0)]))?;
    let divisor = made(|r| choose::choose_value(r, &positive, &divisor, Scalar::Float(f64::NAN), false))?;
    arithmetic::div.run([&divisor, &divisor], &[all.into()])?;
    arithmetic::cdiv.run([&spread, &spread, &divisor], &[])?;
    if root {
        function::sqrt.run([&spread, &spread], &[])?;
    }
    deliver([Some((r, dtype, &spread))])
}

/// `r` = running sums along `dim`; NaN counts as 0
pub fn cumsum(r: &Tensor, t: &Tensor, dim: i32) -> Result<()> {
    scan::cumsum(r, &replaced(t, Scalar::Int(0))?, dim, None)
}
