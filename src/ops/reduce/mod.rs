//! Reductions: one number from many elements, over all dimensions or some.

mod fast_path;
mod result;
mod rule;

use crate::backend;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::{Fold, Root, Term};
use crate::operand::Operand;
use crate::tensor::Tensor;
use rule::Rule;
pub use rule::{Over, TH_ALL_DIMS, To, number};

/// The types of a sum or product of `dtype`. `asked` is the result dtype that the caller asks for.
///
/// If an integer result of floats is asked for, the floats are truncated first. If a float result of integers is asked for, the integers
/// are converted first, so that they cannot overflow.
fn totalled(dtype: Dtype, asked: Option<Dtype>) -> Rule {
    let compute = match asked {
        None => dtype,
        Some(asked) if asked.is_float() => {
            if dtype.is_float() {
                dtype
            } else {
                Dtype::Float64
            }
        }
        Some(asked) if dtype.is_float() || asked == Dtype::Bool => asked,
        Some(_) => dtype,
    };
    let (result, written) = if compute.is_float() { (dtype, Dtype::Float64) } else { (Dtype::Int64, Dtype::Int64) };
    Rule::one(compute, written, asked.unwrap_or(result))
}

/// Returns true if all additions are in float64: if the caller asked for float64, or if the sum is returned as a C double.
fn in_float64(to: To<'_>, asked: Option<Dtype>) -> bool {
    asked == Some(Dtype::Float64) || matches!(to, To::Number(_))
}

/// `r = sum of t over some dims`. Integers and Bool give int64. Floats are summed in float64, or with nearly its precision: see
/// [`in_float64`].
pub fn sum(to: To<'_>, t: &Tensor, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    total(Root::Itself, to, t, over, asked)
}

fn total(root: Root, to: To<'_>, t: &Tensor, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    let fold = Fold::Sum { term: Term::Plain, root, in_float64: in_float64(to, asked) };
    result::run(fold, totalled(t.defined()?, asked), to, t, over)
}

/// `r = product of t over some dims`. Integers and Bool give int64. Floats are multiplied in float64.
pub fn prod(to: To<'_>, t: &Tensor, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    result::run(Fold::Prod, totalled(t.defined()?, asked), to, t, over)
}

/// `r = mean of t over some dims`. Only floats, or elements converted to the float that is asked for. The mean of no elements is NaN.
pub fn mean(to: To<'_>, t: &Tensor, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    let dtype = t.defined()?;
    if !totalled(dtype, asked).compute.is_float() {
        return Err(Domain::Float.refusal(dtype));
    }
    total(Root::Mean, to, t, over, asked)
}

/// `r = sum of t over some dims`, ignoring NaNs
pub fn nansum(to: To<'_>, t: &Tensor, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    let rule = totalled(t.defined()?, asked);
    if !rule.compute.is_float() {
        return total(Root::Itself, to, t, over, asked);
    }
    result::run(Fold::Sum { term: Term::NotNan, root: Root::Itself, in_float64: in_float64(to, asked) }, rule, to, t, over)
}

/// `r = mean of t over some dims`, ignoring NaNs; floats only
pub fn nanmean(to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<()> {
    let rule = totalled(Domain::Float.check(t.defined()?)?, None);
    result::run(Fold::NanMean, rule, to, t, over)
}

/// `r = variance of t over some dims`, or with `root` the standard deviation; floats only. The divisor is the count minus `correction`.
pub fn var(root: bool, to: To<'_>, t: &Tensor, over: Over<'_>, correction: f64, asked: Option<Dtype>) -> Result<()> {
    let dtype = t.defined()?;
    if correction.is_nan() {
        bail!(Argument, "the correction is NaN")
    }
    let rule = Rule::one(Domain::Float.check(dtype)?, Dtype::Float64, asked.unwrap_or(dtype));
    result::run(Fold::Moment { correction, root }, rule, to, t, over)
}

/// `r = (sum of |t|^p)^(1/p) over some dims`. p 0 counts nonzero elements; p infinity and -infinity give the greatest and the least |t|.
pub fn norm(to: To<'_>, t: &Tensor, p: f64, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    let dtype = t.defined()?;
    let result = asked.unwrap_or(dtype);
    if dtype.is_float() && dtype.promote(result) != result {
        bail!(Dtype, "{dtype} does not convert to {result} without loss")
    }
    let rule = Rule { chooses: p < 0.0 || p == f64::INFINITY, ..Rule::one(Domain::Float.check(dtype)?, Dtype::Float64, result) };
    let in_float64 = in_float64(to, asked);
    let sum = |term, root| Fold::Sum { term, root, in_float64 };
    let (fold, written) = match p {
        0.0 => (sum(Term::NonZero, Root::Itself), Dtype::Float64),
        1.0 => (sum(Term::Abs, Root::Itself), Dtype::Float64),
        2.0 => (sum(Term::Square, Root::Sqrt), Dtype::Float64),
        f64::INFINITY | f64::NEG_INFINITY => (Fold::Extreme { max: p > 0.0, magnitude: true }, dtype.compute()),
        _ => (Fold::Powers { p, in_float64: in_float64 || dtype == Dtype::Float64 }, Dtype::Float64),
    };
    result::run(fold, Rule { written: [written; 2], ..rule }, to, t, over)
}

/// `r = greatest or least element of t over some dims`
pub fn extreme(max: bool, to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<()> {
    let dtype = t.defined()?;
    let rule = Rule { chooses: true, ..Rule::one(dtype, dtype.compute(), dtype) };
    result::run(Fold::Extreme { max, magnitude: false }, rule, to, t, over)
}

/// The least and the greatest elements of `t` over `dim`. Either result may be absent.
pub fn aminmax(least: Option<&Tensor>, greatest: Option<&Tensor>, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    let dtype = t.defined()?;
    let rule = Rule { chooses: true, ..Rule::one(dtype, dtype.compute(), dtype) };
    let to = To::Tensors([least, greatest], keepdim);
    result::run(Fold::MinMax, rule, to, t, Over::Dim(dim))
}

/// The greatest or least elements of `t` over `dim`, and their first positions. Either result may be absent. A NaN is chosen before any
/// number.
pub fn extreme_at(max: bool, values: Option<&Tensor>, indices: Option<&Tensor>, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    let dtype = t.defined()?;
    if indices.is_none() {
        return extreme(max, To::Tensors([values, None], keepdim), t, Over::Dim(dim));
    }
    if let Some(have) = indices.and_then(Tensor::dtype)
        && have != Dtype::Int64
    {
        bail!(Dtype, "indices are int64, the tensor given for them is {have}")
    }
    let rule = Rule { compute: dtype, written: [dtype.compute(), Dtype::Int64], result: [dtype, Dtype::Int64], chooses: true };
    let to = To::Tensors([values, indices], keepdim);
    result::run(Fold::ExtremeAt { max }, rule, to, t, Over::Dim(dim))
}

/// Returns true if no element is 0.
pub fn nonzero_everywhere(t: &Tensor) -> Result<bool> {
    match fast_path::all(t) {
        Some(found) => Ok(found),
        None => {
            let x = Operand::of(t)?;
            backend::on(x.device).all(&x)
        }
    }
}

/// `r` is true where all (or any) elements of `t` over some dims are nonzero. The dtype is uint8 for uint8, else Bool. NaN is nonzero.
pub fn logic(all: bool, to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<()> {
    let dtype = t.defined()?;
    let rule = Rule::one(dtype, Dtype::Bool, if dtype == Dtype::Uint8 { dtype } else { Dtype::Bool });
    result::run(Fold::Logic { all }, rule, to, t, over)
}
