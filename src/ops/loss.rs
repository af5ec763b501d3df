//! Losses of classes, and their gradients.

use super::dense::{dense, elements, elements_mut, written};
use super::layer_norm::check_row_dtype;
use super::operand::one_dtype;
use super::softmax;
use crate::cpu::loss::Picks;
use crate::cpu::real::Real;
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::tensor::Tensor;

/// The value that a loss function makes of the losses of all positions.
pub type THReduction = i32;
/// Nothing: the result has a loss for each position.
pub const TH_REDUCTION_NONE: THReduction = 0;
/// Their sum, divided by the sum of the weights: of no position NaN.
pub const TH_REDUCTION_MEAN: THReduction = 1;
/// Their sum.
pub const TH_REDUCTION_SUM: THReduction = 2;

/// The arguments of a loss beside the scores.
#[derive(Clone, Copy)]
pub struct Targets<'a> {
    /// The classes that are right.
    pub target: &'a Tensor,
    /// Factors of the classes.
    pub weight: Option<&'a Tensor>,
    /// A constant `TH_REDUCTION_*`.
    pub reduction: THReduction,
    /// The target of positions that do not count.
    pub ignored: i64,
}

/// [`Targets`] that fit scores, row-major.
struct Checked {
    target: Tensor,
    weight: Option<Tensor>,
    /// Of the losses of all positions.
    shape: Dims,
    /// Of the result.
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
            bail!(Argument, "{} is no THReduction", self.reduction)
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
        let result = if self.reduction == TH_REDUCTION_NONE { shape.clone() } else { Dims::new() };
        // A product that overflows is not used: there are no positions then.
        let inner = scores[class + 1..].iter().fold(1, |inner: i64, &n| inner.wrapping_mul(n)) as usize;
        Ok(Checked { target: dense(self.target, Dtype::Int64)?, weight, shape, result, classes: scores[class] as usize, inner })
    }
}

/// The dimension of the classes: the second one, but the only one of a vector.
fn class_dim(scores: &[i64]) -> Result<usize> {
    match scores.len() {
        0 => bail!(Shape, "scores of classes have one dimension at least"),
        ndim => Ok(usize::from(ndim > 1)),
    }
}

impl Checked {
    fn picks<T: Real>(&self, ignored: i64) -> Result<Picks<'_, T>> {
        let weight = self.weight.as_ref().map(elements::<T>).transpose()?;
        let picks = Picks { target: elements(&self.target)?, weight, classes: self.classes, inner: self.inner, ignored };
        picks.check()?;
        Ok(picks)
    }
}

/// `r = -weight[target] * t[target]` for each position, reduced: the negative logarithm of a likelihood, of logarithms `t`; floats only
pub fn nll(r: &Tensor, t: &Tensor, targets: Targets<'_>) -> Result<()> {
    let dtype = t.defined()?;
    nll_as(r, t, targets, dtype)
}

/// [`nll`] with a result of this dtype.
fn nll_as(r: &Tensor, t: &Tensor, targets: Targets<'_>, dtype: Dtype) -> Result<()> {
    dispatch!(float, dtype, T => {
        let checked = targets.checked(t, dtype)?;
        let (picks, scores) = (checked.picks::<T>(targets.ignored)?, dense(t, T::DTYPE)?);
        let (of_scores, n) = (elements::<T>(&scores)?, picks.target.len());
        let inputs = [Some(&scores), Some(&checked.target), checked.weight.as_ref()];
        written(r, (dtype, T::DTYPE), &checked.result, &inputs, &|out| {
            let out = out.cast::<T>();
            let [sum, weights] = match targets.reduction {
                // SAFETY: the result has a place for each position, apart from the inputs.
                TH_REDUCTION_NONE if n > 0 => return picks.each(unsafe { std::slice::from_raw_parts_mut(out, n) }, of_scores),
                TH_REDUCTION_NONE => return,
                _ => picks.total(of_scores),
            };
            let loss = if targets.reduction == TH_REDUCTION_MEAN { sum / weights } else { sum };
            // SAFETY: the result has one element.
            unsafe { out.write(T::from_f64(loss)) };
        })
    })
}

/// [`nll`] of the logarithm of softmax
pub fn cross_entropy(r: &Tensor, t: &Tensor, targets: Targets<'_>) -> Result<()> {
    let dtype = t.defined()?;
    targets.checked(t, dtype)?;
    let logarithms = Tensor::fresh()?;
    softmax::log_softmax(&logarithms, t, class_dim(&t.layout()?.shape)? as i32, Some(dtype.compute()))?;
    nll_as(r, &logarithms, targets, dtype)
}

/// The factors that losses have in what `g` is the gradient of, one for each position.
fn scales<T: Real>(g: &Tensor, checked: &Checked, picks: &Picks<'_, T>, reduction: THReduction) -> Result<Tensor> {
    let have = g.layout()?.shape;
    if have != checked.result {
        bail!(Shape, "a gradient of shape {:?} for a loss of shape {:?}", have.as_slice(), checked.result.as_slice())
    }
    let g = dense(g, T::DTYPE)?;
    let g = elements::<T>(&g)?;
    let mut made = Tensor::empty(T::DTYPE, &checked.shape)?;
    let room = elements_mut::<T>(&mut made)?;
    match reduction {
        TH_REDUCTION_NONE => picks.scales(room, |position| g[position].to_f64()),
        TH_REDUCTION_MEAN => {
            let all = g[0].to_f64() / picks.weights();
            picks.scales(room, |_| all);
        }
        _ => picks.scales(room, |_| g[0].to_f64()),
    }
    Ok(made)
}

/// `r` = the gradient of what [`nll`] was taken of, `t`, of which the shape counts alone
pub fn nll_gradient(r: &Tensor, g: &Tensor, t: &Tensor, targets: Targets<'_>) -> Result<()> {
    let (dtype, shape) = (g.defined()?, t.layout()?.shape);
    dispatch!(float, dtype, T => {
        let checked = targets.checked(t, dtype)?;
        let picks = checked.picks::<T>(targets.ignored)?;
        let made = scales(g, &checked, &picks, targets.reduction)?;
        let inputs = [Some(&made), Some(&checked.target), checked.weight.as_ref()];
        let scales = elements::<T>(&made)?;
        // SAFETY: a row-major result of the scores' shape, and a scale for each position.
        written(r, (dtype, T::DTYPE), &shape, &inputs, &|out| unsafe { picks.spread(out.cast(), scales) })
    })
}

/// `r` = the gradient of what [`cross_entropy`] was taken of, `t`
pub fn cross_entropy_gradient(r: &Tensor, g: &Tensor, t: &Tensor, targets: Targets<'_>) -> Result<()> {
    let (dtype, shape) = (one_dtype(&[g, t])?, t.layout()?.shape);
    dispatch!(float, dtype, T => {
        let checked = targets.checked(t, dtype)?;
        let picks = checked.picks::<T>(targets.ignored)?;
        let made = scales(g, &checked, &picks, targets.reduction)?;
        let p = Tensor::fresh()?;
        softmax::softmax(&p, t, class_dim(&shape)? as i32, Some(T::DTYPE))?;
        let inputs = [Some(&made), Some(&checked.target), checked.weight.as_ref()];
        let (scales, p) = (elements::<T>(&made)?, elements::<T>(&p)?);
        // SAFETY: a row-major result of the scores' shape, as the probabilities are, and a scale for each position.
        written(r, (dtype, T::DTYPE), &shape, &inputs, &|out| unsafe { picks.distances(out.cast(), p.as_ptr(), scales) })
    })
}
