//! Elementwise losses with a reduction.

use super::copy;
use super::loss::{TH_REDUCTION_BATCH_MEAN, TH_REDUCTION_MEAN, TH_REDUCTION_NONE, TH_REDUCTION_SUM, THReduction, made};
use super::pointwise::{arithmetic, choose, compare, function, loss, promote};
use super::reduce::{self, Over, To};
use super::result::deliver;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::Op;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// `r` = the reduced losses that `compute` writes in a given dtype. Losses of 16-bit floats are summed before they are rounded to `common`.
pub(super) fn reduced(r: &Tensor, reduction: THReduction, common: Dtype, compute: &dyn Fn(&Tensor, Dtype) -> Result<()>) -> Result<()> {
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
    reduced(r, reduction, promote(&[t, target])?, &|r, dtype| op.run_in(dtype, &[r, t, target], numbers))
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
    reduced(r, reduction, promote(&operands)?, &|r, dtype| weighted(r, dtype, weight, losses))
}

/// `r` = the losses, multiplied by an optional weight.
fn weighted(r: &Tensor, dtype: Dtype, weight: Option<&Tensor>, losses: impl Fn(&Tensor, Dtype) -> Result<()>) -> Result<()> {
    let Some(weight) = weight else { return losses(r, dtype) };
    let all = made(|r| losses(r, dtype.compute()))?;
    let product = made(|r| arithmetic::cmul.run([r, &all, weight], &[]))?;
    deliver([Some((r, dtype, &product))])
}

/// `r` = the cross entropy of the probabilities `t` and `target`, with a weight of the losses, reduced
pub fn bce(r: &Tensor, t: &Tensor, target: &Tensor, weight: Option<&Tensor>, reduction: THReduction) -> Result<()> {
    let operands: SmallVec<[&Tensor; 3]> = [t, target].into_iter().chain(weight).collect();
    let losses = |r: &Tensor, dtype: Dtype| {
        let wide = dtype.compute();
        let own = made(|r| function::log.run_in(wide, &[r, t], &[]))?;
        let rest = made(|r| arithmetic::mul.run_in(wide, &[r, t], &[(-1.0).into()]))?;
        function::log1p.run([&rest, &rest], &[])?;
        for logarithms in [&own, &rest] {
            arithmetic::cmax_value(logarithms, logarithms, (-100.0).into())?;
        }
        let all = made(|r| arithmetic::lerpTensor.run_in(wide, &[r, &rest, &own, target], &[]))?;
        arithmetic::mul.run([&all, &all], &[(-1.0).into()])?;
        deliver([Some((r, dtype, &all))])
    };
    reduced(r, reduction, Domain::Float.check(promote(&operands)?)?, &|r, dtype| weighted(r, dtype, weight, losses))
}

/// Stirling's approximation of `log(y!)`, `y * log(y) - y + log(2 pi y) / 2` where `y > 1`, else 0
fn stirling(y: &Tensor) -> Result<Tensor> {
    let logarithm = made(|r| function::log.run([r, y], &[]))?;
    let sum = made(|r| arithmetic::add.run([r, y], &[0.5.into()]))?;
    arithmetic::cmul.run([&sum, &sum, &logarithm], &[])?;
    arithmetic::csub(&sum, &sum, 1.into(), y)?;
    arithmetic::add.run([&sum, &sum], &[HALF_LOG_2PI.into()])?;
    let counted = made(|r| compare::gtValue.run([r, y], &[1.into()]))?;
    made(|r| choose::choose_value(r, &counted, &sum, 0.into(), false))
}

/// `log(2 pi) / 2`
const HALF_LOG_2PI: f64 = 0.918_938_533_204_672_8;

/// `r` = the negative log-likelihood of counts `target` for means `t`, or for logarithms of means, reduced. With `full`, the terms of the
/// counts alone are added.
pub fn poisson_nll(r: &Tensor, operands: [&Tensor; 2], [logarithms, full]: [bool; 2], eps: f64, reduction: THReduction) -> Result<()> {
    reduced(r, reduction, Domain::Float.check(promote(&operands)?)?, &|r, dtype| {
        let wide = dtype.compute();
        let (t, target) = (copy::to_dtype(operands[0], wide)?, copy::to_dtype(operands[1], wide)?);
        let (mean, logarithm) = if logarithms {
            (made(|r| function::exp.run([r, &t], &[]))?, t)
        } else {
            let shifted = made(|r| arithmetic::add.run([r, &t], &[eps.into()]))?;
            function::log.run([&shifted, &shifted], &[])?;
            (t, shifted)
        };
        let all = made(|r| arithmetic::addcmul.run([r, &mean, &target, &logarithm], &[(-1).into()]))?;
        if full {
            arithmetic::cadd(&all, &all, 1.into(), &stirling(&target)?)?;
        }
        deliver([Some((r, dtype, &all))])
    })
}

/// `r` = the negative log-likelihood of `target` for normal distributions with means `t` and the variances, reduced. With `full`,
/// `log(2 pi) / 2` is added.
pub fn gaussian_nll(r: &Tensor, operands: [&Tensor; 3], full: bool, eps: f64, reduction: THReduction) -> Result<()> {
    let [t, target, variance] = operands;
    reduced(r, reduction, Domain::Float.check(promote(&operands)?)?, &|r, dtype| {
        let wide = dtype.compute();
        let (variance, squares) = (copy::to_dtype(variance, wide)?, made(|r| loss::squared.run_in(wide, &[r, t, target], &[]))?);
        let bounded = made(|r| arithmetic::cmax_value(r, &variance, eps.into()))?;
        let all = made(|r| arithmetic::cdiv.run([r, &squares, &bounded], &[]))?;
        function::log.run([&bounded, &bounded], &[])?;
        arithmetic::cadd(&all, &all, 1.into(), &bounded)?;
        arithmetic::mul.run([&all, &all], &[0.5.into()])?;
        if full {
            arithmetic::add.run([&all, &all], &[HALF_LOG_2PI.into()])?;
        }
        let valid = made(|r| compare::geValue.run([r, &variance], &[0.into()]))?;
        choose::choose_value(&all, &valid, &all, f64::NAN.into(), false)?;
        deliver([Some((r, dtype, &all))])
    })
}

/// `r = max(margin - target * (a - b), 0)`, reduced
pub fn margin_ranking(r: &Tensor, operands: [&Tensor; 3], margin: f64, reduction: THReduction) -> Result<()> {
    let [a, b, target] = operands;
    reduced(r, reduction, Domain::Float.check(promote(&operands)?)?, &|r, dtype| {
        let wide = dtype.compute();
        let difference = made(|r| arithmetic::csub(r, &copy::to_dtype(b, wide)?, 1.into(), &copy::to_dtype(a, wide)?))?;
        let all = made(|r| arithmetic::cmul.run_in(wide, &[r, &difference, target], &[]))?;
        hinge(&all, margin)?;
        deliver([Some((r, dtype, &all))])
    })
}

/// `t = max(t + margin, 0)`
pub(super) fn hinge(t: &Tensor, margin: f64) -> Result<()> {
    arithmetic::add.run([t, t], &[margin.into()])?;
    arithmetic::cmax_value(t, t, 0.into())
}

/// `r` = the Kullback-Leibler divergence of `target` from probabilities with logarithms `t`, reduced
pub fn kl_div(r: &Tensor, t: &Tensor, target: &Tensor, logarithms: bool, reduction: THReduction) -> Result<()> {
    let losses = if logarithms { &loss::log_divergence } else { &loss::divergence };
    of_pair(r, reduction, losses, [t, target], &[])
}
