//! Losses of single elements, reduced.

use super::loss::{TH_REDUCTION_BATCH_MEAN, TH_REDUCTION_MEAN, TH_REDUCTION_NONE, TH_REDUCTION_SUM, THReduction, made};
use super::pointwise::{arithmetic, loss};
use super::reduce::{self, Over, To};
use crate::error::{Result, bail};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r` = the losses that `compute` writes, reduced.
fn reduced(r: &Tensor, reduction: THReduction, compute: impl FnOnce(&Tensor) -> Result<()>) -> Result<()> {
    let all = Over::Dims(&[]);
    match reduction {
        TH_REDUCTION_NONE => compute(r),
        TH_REDUCTION_MEAN => reduce::mean(To::tensor(r, false), &made(compute)?, all, None),
        TH_REDUCTION_SUM => reduce::sum(To::tensor(r, false), &made(compute)?, all, None),
        TH_REDUCTION_BATCH_MEAN => {
            let losses = made(compute)?;
            let Some(&batch) = losses.layout()?.shape.first() else {
                bail!(Shape, "the loss of a scalar has no batch to take the mean of")
            };
            let sum = made(|r| reduce::sum(To::tensor(r, false), &losses, all, None))?;
            arithmetic::div.run([r, &sum], &[batch.into()])
        }
        _ => bail!(Argument, "{reduction} is no THReduction"),
    }
}

/// `r = (t - target)^2`, reduced
pub fn mse(r: &Tensor, t: &Tensor, target: &Tensor, reduction: THReduction) -> Result<()> {
    reduced(r, reduction, |r| loss::squared.run([r, t, target], &[]))
}

/// `r = |t - target|`, reduced
pub fn l1(r: &Tensor, t: &Tensor, target: &Tensor, reduction: THReduction) -> Result<()> {
    reduced(r, reduction, |r| loss::distance.run([r, t, target], &[]))
}

/// `r = d^2 / (2 beta) where d < beta, else d - beta / 2`, for `d = |t - target|`, reduced
pub fn smooth_l1(r: &Tensor, t: &Tensor, target: &Tensor, reduction: THReduction, beta: f64) -> Result<()> {
    if beta.is_nan() || beta < 0.0 {
        bail!(Argument, "beta is {}, but may not be negative", Scalar::from(beta))
    }
    reduced(r, reduction, |r| loss::smooth.run([r, t, target], &[beta.into()]))
}

/// `r = d^2 / 2 where d < delta, else delta * (d - delta / 2)`, for `d = |t - target|`, reduced
pub fn huber(r: &Tensor, t: &Tensor, target: &Tensor, reduction: THReduction, delta: f64) -> Result<()> {
    if delta.is_nan() || delta <= 0.0 {
        bail!(Argument, "delta is {}, but must be positive", Scalar::from(delta))
    }
    reduced(r, reduction, |r| loss::huber.run([r, t, target], &[delta.into()]))
}

/// `r` = the cross entropy of `sigmoid(t)` for the truth `target`, with factors of the losses and of the positive term, reduced
pub fn bce_with_logits(
    r: &Tensor,
    t: &Tensor,
    target: &Tensor,
    [weight, positive]: [Option<&Tensor>; 2],
    reduction: THReduction,
) -> Result<()> {
    let losses = |r: &Tensor| match positive {
        Some(positive) => loss::weighted_logits.run([r, t, target, positive], &[]),
        None => loss::logits.run([r, t, target], &[]),
    };
    reduced(r, reduction, |r| match weight {
        Some(weight) => arithmetic::cmul.run([r, &made(losses)?, weight], &[]),
        None => losses(r),
    })
}

/// `r` = the divergence of `target` from the probabilities whose logarithms are `t`, reduced
pub fn kl_div(r: &Tensor, t: &Tensor, target: &Tensor, logarithms: bool, reduction: THReduction) -> Result<()> {
    let losses = if logarithms { &loss::log_divergence } else { &loss::divergence };
    reduced(r, reduction, |r| losses.run([r, t, target], &[]))
}
