//! Elementwise losses with a reduction.

use super::loss::{TH_REDUCTION_BATCH_MEAN, TH_REDUCTION_MEAN, TH_REDUCTION_NONE, TH_REDUCTION_SUM, THReduction, made};
use super::pointwise::{arithmetic, loss, promote};
use super::reduce::{self, Over, To};
use super::result::deliver;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Op;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// `r` = the reduced losses that `compute` writes in a given dtype. Losses of 16-bit floats are summed before they are rounded to `common`.
fn reduced(r: &Tensor, reduction: THReduction, common: Dtype, compute: impl FnOnce(&Tensor, Dtype) -> Result<()>) -> Result<()> {
    let (all, wide) = (Over::Dims(&[]), common.compute());
    let losses = match reduction {
        TH_REDUCTION_NONE => return compute(r, common),
        TH_REDUCTION_MEAN | TH_REDUCTION_SUM | TH_REDUCTION_BATCH_MEAN => made(|r| compute(r, wide))?,
        _ => bail!(Argument, "{reduction} is no THReduction"),
    };
    let total = |r: &Tensor| match reduction {
        TH_REDUCTION_MEAN => reduce::mean(To::tensor(r, false), &losses, all, None),
        TH_REDUCTION_SUM => reduce::sum(To::tensor(r, false), &losses, all, None),
        _ => {
            let Some(&batch) = losses.layout()?.shape.first() else {
                bail!(Shape, "the loss of a scalar has no batch to take the mean of")
            };
            let sum = made(|r| reduce::sum(To::tensor(r, false), &losses, all, None))?;
            arithmetic::div.run([r, &sum], &[batch.into()])
        }
    };
    if common == wide { total(r) } else { deliver([Some((r, common, &made(total)?))]) }
}

/// The reduced losses that `op` computes from `t` and its target.
fn of_pair(r: &Tensor, reduction: THReduction, op: &'static Op<3>, [t, target]: [&Tensor; 2], numbers: &[Scalar]) -> Result<()> {
    reduced(r, reduction, promote(&[t, target])?, |r, dtype| op.run_in(dtype, &[r, t, target], numbers))
}

/// `r = (t - target)^2`, reduced
pub fn mse(r: &Tensor, t: &Tensor, target: &Tensor, reduction: THReduction) -> Result<()> {
    of_pair(r, reduction, &loss::squared, [t, target], &[])
}

/// `r = |t - target|`, reduced
pub fn l1(r: &Tensor, t: &Tensor, target: &Tensor, reduction: THReduction) -> Result<()> {
    of_pair(r, reduction, &loss::distance, [t, target], &[])
}

/// `r = d^2 / (2 beta) where d < beta, else d - beta / 2`, for `d = |t - target|`, reduced
pub fn smooth_l1(r: &Tensor, t: &Tensor, target: &Tensor, reduction: THReduction, beta: f64) -> Result<()> {
    if beta.is_nan() || beta < 0.0 {
        bail!(Argument, "beta is {}, but may not be negative", Scalar::from(beta))
    }
    of_pair(r, reduction, &loss::smooth, [t, target], &[beta.into()])
}

/// `r = d^2 / 2 where d < delta, else delta * (d - delta / 2)`, for `d = |t - target|`, reduced
pub fn huber(r: &Tensor, t: &Tensor, target: &Tensor, reduction: THReduction, delta: f64) -> Result<()> {
    if delta.is_nan() || delta <= 0.0 {
        bail!(Argument, "delta is {}, but must be positive", Scalar::from(delta))
    }
    of_pair(r, reduction, &loss::huber, [t, target], &[delta.into()])
}

/// `r` = the cross entropy of `sigmoid(t)` and the probabilities `target`, with a weight of the losses and one of the positive term,
/// reduced
pub fn bce_with_logits(
    r: &Tensor,
    t: &Tensor,
    target: &Tensor,
    [weight, positive]: [Option<&Tensor>; 2],
    reduction: THReduction,
) -> Result<()> {
    let losses = |r: &Tensor, dtype: Dtype| match positive {
        Some(positive) => loss::weighted_logits.run_in(dtype, &[r, t, target, positive], &[]),
        None => loss::logits.run_in(dtype, &[r, t, target], &[]),
    };
    let operands: SmallVec<[&Tensor; 4]> = [t, target].into_iter().chain(positive).chain(weight).collect();
    reduced(r, reduction, promote(&operands)?, |r, dtype| match weight {
        Some(weight) => {
            let weighted = made(|r| arithmetic::cmul.run([r, &made(|r| losses(r, dtype.compute()))?, weight], &[]))?;
            deliver([Some((r, dtype, &weighted))])
        }
        None => losses(r, dtype),
    })
}

/// `r` = the Kullback-Leibler divergence of `target` from probabilities with logarithms `t`, reduced
pub fn kl_div(r: &Tensor, t: &Tensor, target: &Tensor, logarithms: bool, reduction: THReduction) -> Result<()> {
    let losses = if logarithms { &loss::log_divergence } else { &loss::divergence };
    of_pair(r, reduction, losses, [t, target], &[])
}
