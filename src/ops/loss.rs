//! Losses over classes, and their gradients.

use super::dense::{dense, launched};
use super::layer_norm::check_row_dtype;
use super::pointwise::{arithmetic, choose, compare};
use super::reduce::{self, Over, To};
use super::result::deliver;
use super::{create, softmax, view};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::layers::{Loss, LossOp, Reduction};
use crate::layout::Dims;
use crate::operand::one_dtype;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The value that a loss function computes from the losses of all positions.
pub type THReduction = i32;
/// No reduction: the result has a loss for each position.
pub const TH_REDUCTION_NONE: THReduction = 0;
/// The sum of the losses, divided by the sum of the weights; NaN without positions.
pub const TH_REDUCTION_MEAN: THReduction = 1;
/// The sum of the losses.
pub const TH_REDUCTION_SUM: THReduction = 2;
/// The sum of the losses, divided by the first size of the broadcast operands; only for losses of single elements.
pub const TH_REDUCTION_BATCH_MEAN: THReduction = 3;

/// The number of scores up to which computing all logarithms is faster than computing two numbers for each position.
const FEW: i64 = 2048;

/// The arguments of a loss except the scores.
#[derive(Clone, Copy)]
pub struct Targets<'a> {
    /// The correct classes.
    pub target: &'a Tensor,
    /// The weight of each class.
    pub weight: Option<&'a Tensor>,
    /// A constant `TH_REDUCTION_*`.
    pub reduction: THReduction,
    /// The target of positions that are ignored.
    pub ignored: i64,
}

/// [`Targets`] that fit the scores, row-major.
struct Checked {
    target: Tensor,
    weight: Option<Tensor>,
    /// The shape of the result.
    result: Dims,
    classes: usize,
    inner: usize,
}

impl Targets<'_> {
    fn checked(self, t: &Tensor, dtype: Dtype) -> Result<Checked> {
        let scores = t.layout()?.shape;
        let class = class_dim(&scores)?;
        let shape: Dims = scores.iter().enumerate().filter(|&(d, _)| d != class).map(|(_, &n)| n).collect();
        let targets = self.target.layout()?.shape;
        if targets != shape {
            bail!(Shape, "targets of shape {:?} for scores of shape {:?}", targets.as_slice(), scores.as_slice())
        }
        if !matches!(self.target.defined()?, Dtype::Int64 | Dtype::Int32) {
            bail!(Dtype, "targets are int64 or int32, not {}", self.target.defined()?)
        }
        if !(TH_REDUCTION_NONE..=TH_REDUCTION_SUM).contains(&self.reduction) {
            bail!(Argument, "{} is no THReduction of a loss of classes", self.reduction)
        }
        let weight = match self.weight {
            Some(weight) => {
                check_row_dtype("weight", weight, dtype)?;
                let have = weight.layout()?.shape;
                if have.as_slice() != [scores[class]] {
                    bail!(Shape, "weight of shape {:?} for {} classes", have.as_slice(), scores[class])
                }
                Some(dense(weight, dtype.compute())?)
            }
            None => None,
        };
        let result = if self.reduction == TH_REDUCTION_NONE { shape } else { Dims::new() };
        // A product that overflows is not used, because then there are no positions.
        let inner = scores[class + 1..].iter().fold(1, |inner: i64, &n| inner.wrapping_mul(n)) as usize;
        Ok(Checked { target: dense(self.target, Dtype::Int64)?, weight, result, classes: scores[class] as usize, inner })
    }
}

/// The dimension of the classes: the second one, or, for a vector, its only one.
fn class_dim(scores: &[i64]) -> Result<usize> {
    match scores.len() {
        0 => bail!(Shape, "scores of classes have one dimension at least"),
        ndim => Ok(usize::from(ndim > 1)),
    }
}

impl Checked {
    /// The work on these targets.
    fn work(&self, op: LossOp, of: &Targets<'_>) -> Loss {
        let reduction = match of.reduction {
            TH_REDUCTION_NONE => Reduction::None,
            TH_REDUCTION_MEAN => Reduction::Mean,
            _ => Reduction::Sum,
        };
        Loss { op, reduction, classes: self.classes, inner: self.inner, ignored: of.ignored }
    }

    /// Computes `r`, of this shape, from `given`, the targets and the weights.
    fn launch(&self, r: &Tensor, dtype: Dtype, shape: &[i64], given: &[&Tensor], work: &Loss) -> Result<()> {
        let inputs: SmallVec<[&Tensor; 5]> = given.iter().copied().chain([&self.target]).chain(&self.weight).collect();
        launched(r, (dtype, dtype.compute()), shape, [&[], &inputs], work)
    }

    /// The gradient of the loss as a row-major tensor. Fails if it does not have the shape of the loss.
    fn gradient(&self, g: &Tensor, dtype: Dtype) -> Result<Tensor> {
        let have = g.layout()?.shape;
        if have != self.result {
            bail!(Shape, "a gradient of shape {:?} for a loss of shape {:?}", have.as_slice(), self.result.as_slice())
        }
        dense(g, dtype.compute())
    }
}

/// `r = -weight[target] * t[target]` for each position, reduced: the negative log-likelihood for logarithms `t`; floats only
pub fn nll(r: &Tensor, t: &Tensor, targets: Targets<'_>) -> Result<()> {
    nll_as(r, t, targets, t.defined()?)
}

/// [`nll`] with a result of `dtype`.
fn nll_as(r: &Tensor, t: &Tensor, targets: Targets<'_>, dtype: Dtype) -> Result<()> {
    let checked = targets.checked(t, Domain::Float.check(dtype)?)?;
    let (work, scores) = (checked.work(LossOp::NegativeLogLikelihood, &targets), dense(t, dtype.compute())?);
    checked.launch(r, dtype, &checked.result, &[&scores], &work)
}

/// [`nll`] of log-softmax
pub fn cross_entropy(r: &Tensor, t: &Tensor, targets: Targets<'_>) -> Result<()> {
    let dtype = t.defined()?;
    let checked = targets.checked(t, dtype)?;
    let layout = t.layout()?;
    let class = class_dim(&layout.shape)? as i32;
    if layout.numel() <= FEW {
        let logarithms = made(|r| softmax::log_softmax(r, t, class, Some(dtype.compute())))?;
        return checked.launch(r, dtype, &checked.result, &[&logarithms], &checked.work(LossOp::NegativeLogLikelihood, &targets));
    }
    let [most, logs] = softmax::parts(t, class)?;
    let work = checked.work(LossOp::CrossEntropy, &targets);
    checked.launch(r, dtype, &checked.result, &[&dense(t, dtype)?, &most, &logs], &work)
}

/// `r = (1 - smoothing) * cross entropy + smoothing / classes * sum of -weight * log(softmax(t)) over all classes`, reduced
pub fn smoothed_cross_entropy(r: &Tensor, t: &Tensor, targets: Targets<'_>, smoothing: f64) -> Result<()> {
    let dtype = t.defined()?;
    let checked = targets.checked(t, Domain::Float.check(dtype)?)?;
    if !(0.0..=1.0).contains(&smoothing) {
        bail!(Argument, "a label smoothing of {}, expected 0 to 1", Scalar::from(smoothing))
    }
    let (scores, compute) = (t.layout()?.shape, dtype.compute());
    let class = class_dim(&scores)?;
    let targets = Targets { weight: checked.weight.as_ref(), ..targets };
    let logarithms = made(|r| softmax::log_softmax(r, t, class as i32, Some(compute)))?;
    let sharp = made(|r| nll_as(r, &logarithms, targets, compute))?;
    if let Some(weight) = targets.weight {
        let shape: Dims = (0..scores.len()).map(|d| if d == class { scores[d] } else { 1 }).collect();
        arithmetic::cmul.run([&logarithms, &logarithms, &view::reshape(weight, &shape)?], &[])?;
    }
    let sums = made(|r| reduce::sum(To::tensor(r, false), &logarithms, Over::Dim(class as i32), None))?;
    let counts = made(|r| compare::neValue.run([r, &checked.target], &[targets.ignored.into()]))?;
    let mut smooth = made(|r| choose::choose_value(r, &counts, &sums, Scalar::Int(0), false))?;
    if targets.reduction != TH_REDUCTION_NONE {
        smooth = made(|r| reduce::sum(To::tensor(r, false), &smooth, Over::Dims(&[]), None))?;
    }
    if targets.reduction == TH_REDUCTION_MEAN {
        // [`nll`] of logarithms that are all -1 is the sum of the weights.
        let one = create::scalar(compute, Scalar::Int(-1))?;
        let ones = view::derive(&one, |layout| layout.expand(&scores))?;
        let weights = made(|r| nll_as(r, &ones, Targets { reduction: TH_REDUCTION_SUM, ..targets }, compute))?;
        arithmetic::cdiv.run([&smooth, &smooth, &weights], &[])?;
    }
    arithmetic::mul.run([&sharp, &sharp], &[(1.0 - smoothing).into()])?;
    let loss = made(|r| arithmetic::csub(r, &sharp, (smoothing / checked.classes as f64).into(), &smooth))?;
    deliver([Some((r, dtype, &loss))])
}

/// A new tensor that `compute` writes.
pub(super) fn made(mut compute: impl FnMut(&Tensor) -> Result<()>) -> Result<Tensor> {
    made_by(&mut compute)
}

/// [`made`] in one copy for all functions.
fn made_by(compute: &mut dyn FnMut(&Tensor) -> Result<()>) -> Result<Tensor> {
    let r = Tensor::fresh()?;
    compute(&r)?;
    Ok(r)
}

/// `r` = the gradient of `t`, the first operand of [`nll`]. Only the shape of `t` is used.
pub fn nll_gradient(r: &Tensor, g: &Tensor, t: &Tensor, targets: Targets<'_>) -> Result<()> {
    let (dtype, shape) = (Domain::Float.check(g.defined()?)?, t.layout()?.shape);
    let checked = targets.checked(t, dtype)?;
    let g = checked.gradient(g, dtype)?;
    checked.launch(r, dtype, &shape, &[&g], &checked.work(LossOp::NegativeLogLikelihoodGradient, &targets))
}

/// `r` = the gradient of `t`, the first operand of [`cross_entropy`]
pub fn cross_entropy_gradient(r: &Tensor, g: &Tensor, t: &Tensor, targets: Targets<'_>) -> Result<()> {
    let (dtype, shape) = (Domain::Float.check(one_dtype(&[g, t])?)?, t.layout()?.shape);
    let checked = targets.checked(t, dtype)?;
    let (g, p) = (checked.gradient(g, dtype)?, Tensor::fresh()?);
    softmax::softmax(&p, t, class_dim(&shape)? as i32, Some(dtype.compute()))?;
    checked.launch(r, dtype, &shape, &[&p, &g], &checked.work(LossOp::CrossEntropyGradient, &targets))
}
