//! Softmax, its logarithm, and logarithms of sums of exponentials.

use super::lines::{Form, Kernels, Source, Want};
use crate::cpu::engine::COSTLY;
use crate::cpu::softmax::{self, Kind};
use crate::dtype::{Element, dispatch};
use crate::error::Result;
use crate::tensor::Tensor;

/// Lines side by side that stay in the second-level cache from one pass to the next.
const BESIDE: usize = 256;

/// `r = e^t / sum of e^t along dim`; floats only.
pub fn softmax(r: &Tensor, t: &Tensor, dim: i32) -> Result<()> {
    const OP: &str = "softmax";
    run(OP, Kind::Softmax, r, &Source::one(OP, t, dim)?, Form::Same)
}

/// `r = t - log(sum of e^t along dim)`; floats only.
pub fn log_softmax(r: &Tensor, t: &Tensor, dim: i32) -> Result<()> {
    const OP: &str = "logSoftmax";
    run(OP, Kind::LogSoftmax, r, &Source::one(OP, t, dim)?, Form::Same)
}

/// `r = log(sum of e^t over dim)`; integers and Bool give the default float dtype.
pub fn logsumexp(r: &Tensor, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    const OP: &str = "logsumexp";
    run(OP, Kind::LogSumExp, r, &Source::along(OP, t, dim)?, Form::One { keepdim })
}

/// [`logsumexp`] over several dims, or over all if none is given.
pub fn logsumexp_dims(r: &Tensor, t: &Tensor, dims: &[i64], keepdim: bool) -> Result<()> {
    const OP: &str = "logsumexp";
    run(OP, Kind::LogSumExp, r, &Source::over(OP, t, dims)?, Form::One { keepdim })
}

fn run(op: &str, kind: Kind, r: &Tensor, source: &Source, form: Form) -> Result<()> {
    let dtype = source.dtype();
    let dtype = if kind == Kind::LogSumExp { dtype.to_float() } else { dtype };
    dispatch!(float, op, dtype, T => {
        let (line, panel) = (move |l| softmax::line::<T>(kind, l), move |p| softmax::panel::<T>(kind, p));
        let kernels = Kernels { panel: Some(&panel), beside: BESIDE, ..Kernels::line(&line, COSTLY) };
        source.run(op, T::DTYPE, form, [Some(Want { r: Some(r), dtype, compute: T::DTYPE }), None], kernels)
    })
}
