//! Softmax and related functions, and vectors scaled down to a norm.

use super::copy;
use super::dense::{dense, launched};
use super::device;
use super::lines::{LineResult, Source, Want, along, rounded};
use super::pointwise::arithmetic;
use super::reduce::{Over, TH_ALL_DIMS, To, norm};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::layers::LineShape;
use crate::launch::lines::Softmax as Kind;
use crate::launch::{LineOp, Lines, SoftmaxGradient};
use crate::layout::wrap_dim;
use crate::operand::one_dtype;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The dimension or dimensions over which to sum.
#[derive(Clone, Copy)]
enum Along<'a> {
    Dim(i32),
    Dims(&'a [i64]),
}

/// `r = e^t / sum of e^t along dim`; floats only, or converted to the float `asked` for
pub fn softmax(r: &Tensor, t: &Tensor, dim: i32, asked: Option<Dtype>) -> Result<()> {
    along_in(Kind::Softmax, r, t, dim, asked)
}

/// `r = t - log(sum of e^t along dim)`; floats only, or converted to the float `asked` for
pub fn log_softmax(r: &Tensor, t: &Tensor, dim: i32, asked: Option<Dtype>) -> Result<()> {
    along_in(Kind::LogSoftmax, r, t, dim, asked)
}

fn along_in(kind: Kind, r: &Tensor, t: &Tensor, dim: i32, asked: Option<Dtype>) -> Result<()> {
    let rounded = rounded(t, asked)?;
    run(kind, r, rounded.as_ref().unwrap_or(t), asked.unwrap_or(t.defined()?), Along::Dim(dim), LineResult::Same)
}

/// `r = log(sum of e^t over dim)`; integers and Bool give the default float dtype
pub fn logsumexp(r: &Tensor, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    run(Kind::LogSumExp, r, t, t.defined()?.to_float(), Along::Dim(dim), LineResult::One { keepdim })
}

/// The numbers of [`Kind::Parts`] for each line of `t` along `dim`; floats only.
pub(super) fn parts(t: &Tensor, dim: i32) -> Result<[Tensor; 2]> {
    let (parts, dtype) = ([Tensor::fresh()?, Tensor::fresh()?], Domain::Float.check(t.defined()?)?.compute());
    let wants = parts.each_ref().map(|r| Want { r: Some(r), dtype });
    along(t, dim, Lines { op: LineOp::Softmax(Kind::Parts), compute: dtype }, LineResult::One { keepdim: false }, wants)?;
    Ok(parts)
}

/// [`logsumexp`] over several dims; no dims means all.
pub fn logsumexp_dims(r: &Tensor, t: &Tensor, dims: &[i64], keepdim: bool) -> Result<()> {
    run(Kind::LogSumExp, r, t, t.defined()?.to_float(), Along::Dims(dims), LineResult::One { keepdim })
}

/// Runs one of the three kinds on `t`, read as `dtype`.
fn run(kind: Kind, r: &Tensor, t: &Tensor, dtype: Dtype, lines: Along<'_>, form: LineResult) -> Result<()> {
    let work = Lines { op: LineOp::Softmax(kind), compute: Domain::Float.check(dtype)?.compute() };
    let wants = [Want { r: Some(r), dtype }, Want::NOTHING];
    match lines {
        Along::Dim(dim) => along(t, dim, work, form, wants),
        Along::Dims(dims) => Source::over(t, dims)?.run(work, form, wants),
    }
}

/// `r = y * (g - sum of g * y along dim)`: the gradient of [`softmax`] from its result; floats only
pub fn softmax_gradient(r: &Tensor, g: &Tensor, y: &Tensor, dim: i32) -> Result<()> {
    gradient(Kind::Softmax, r, g, y, dim)
}

/// `r = g - e^y * sum of g along dim`: the gradient of [`log_softmax`] from its result; floats only
pub fn log_softmax_gradient(r: &Tensor, g: &Tensor, y: &Tensor, dim: i32) -> Result<()> {
    gradient(Kind::LogSoftmax, r, g, y, dim)
}

fn gradient(kind: Kind, r: &Tensor, g: &Tensor, y: &Tensor, dim: i32) -> Result<()> {
    let (dtype, shape) = (one_dtype(&[g, y])?, y.layout()?.shape);
    if dim == TH_ALL_DIMS {
        bail!(Argument, "needs one dimension, not all")
    }
    let dim = wrap_dim(dim, shape.len())?;
    if g.layout()?.shape != shape {
        bail!(Shape, "a gradient of shape {:?} for a result of shape {:?}", g.layout()?.shape.as_slice(), shape.as_slice())
    }
    let size = |sizes: &[i64]| sizes.iter().product::<i64>() as usize;
    let lines = match shape.split_at(dim) {
        // A tensor without elements has no lines. The product of its other sizes may overflow.
        _ if shape.contains(&0) => LineShape { outer: 0, n: 0, inner: 1 },
        (before, [n, after @ ..]) => LineShape { outer: size(before), n: *n as usize, inner: size(after) },
        (_, []) => LineShape { outer: 1, n: 1, inner: 1 },
    };
    let compute = Domain::Float.check(dtype)?.compute();
    let (g, y) = (dense(g, compute)?, dense(y, compute)?);
    launched(r, (dtype, compute), &shape, [&[&g, &y], &[]], &SoftmaxGradient { of: kind, lines })
}

/// `r[i] = log(e^t[0] + ... + e^t[i])` along `dim`; floats only
pub fn logcumsumexp(r: &Tensor, t: &Tensor, dim: i32) -> Result<()> {
    let dtype = t.defined()?;
    let work = Lines { op: LineOp::LogSums, compute: Domain::Float.check(dtype)?.compute() };
    along(t, dim, work, LineResult::Same, [Want { r: Some(r), dtype }, Want::NOTHING])
}

/// `r = t`, with each slice along `dim` scaled down to p-norm `maxnorm` if its norm is greater
pub fn renorm(r: &Tensor, t: &Tensor, p: f64, dim: i32, maxnorm: f64) -> Result<()> {
    let (dtype, shape) = (t.defined()?, t.layout()?.shape);
    let dim = wrap_dim(dim, shape.len())?;
    if shape.len() < 2 {
        bail!(Shape, "needs at least 2 dimensions, got shape {:?}", shape.as_slice())
    }
    if p.is_nan() || p <= 0.0 || maxnorm.is_nan() || maxnorm < 0.0 {
        bail!(Argument, "p must be positive and maxnorm not negative, got {} and {}", Scalar::from(p), Scalar::from(maxnorm))
    }
    Domain::Float.check(dtype)?;
    if shape.contains(&0) {
        return arithmetic::cmul.run([r, t, t], &[]);
    }
    let others: Vec<i64> = (0..shape.len() as i64).filter(|&d| d != dim as i64).collect();
    let norms = Tensor::fresh()?;
    norm(To::tensor(&norms, true), t, p, Over::Dims(&others), Some(Dtype::Float64))?;
    let factors = device::written::<f64>(&norms.layout()?.shape, |factors| {
        for (factor, &norm) in factors.iter_mut().zip(device::elements::<f64>(&norms)?.iter()) {
            // TH adds 1e-7 to the divisor, too.
            *factor = if norm > maxnorm { maxnorm / (norm + 1e-7) } else { 1.0 };
        }
        Ok(())
    })?;
    arithmetic::cmul.run([r, t, &copy::to_dtype(&factors, dtype)?], &[])
}
