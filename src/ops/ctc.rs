//! Connectionist temporal classification: the probability of a sequence of labels, summed over all its alignments to the steps of an input.
//!
//! The *states* of a sample are its labels with a blank before, between and after them. All steps are computed for the whole batch at once,
//! in logarithms, so that every device can compute them.

use super::dense::dense;
use super::device::{elements, written};
use super::index::scatter::{TH_REDUCE_ADD, scatter_reduce};
use super::index::select::{gather, take};
use super::loss::{TH_REDUCTION_MEAN, TH_REDUCTION_NONE, TH_REDUCTION_SUM, THReduction, made};
use super::pointwise::{arithmetic, choose, compare, function};
use super::reduce::{self, Over, To};
use super::result::deliver;
use super::{copy, create, view};
use crate::alloc;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::layout::checked_numel;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

const ONE: Scalar = Scalar::Int(1);
const NONE: Scalar = Scalar::Float(f64::NEG_INFINITY);

/// The arguments of the loss.
#[derive(Clone, Copy)]
pub struct Ctc<'a> {
    /// Logarithms of probabilities, `[steps, batch, classes]`.
    pub log_probs: &'a Tensor,
    /// The labels: a row for each sample, or all labels one after the other.
    pub targets: &'a Tensor,
    /// The number of steps of each sample.
    pub input_lengths: &'a Tensor,
    /// The number of labels of each sample.
    pub target_lengths: &'a Tensor,
    /// The class of the blank.
    pub blank: i64,
    /// `TH_REDUCTION_*`.
    pub reduction: THReduction,
    /// True if the loss of a sample without an alignment is 0.
    pub zero_infinity: bool,
}

/// The checked labels and lengths of a batch.
struct Samples {
    steps: i64,
    batch: i64,
    /// The greatest number of states.
    states: i64,
    /// The number of steps and of labels of each sample.
    lengths: Vec<[i64; 2]>,
    /// The class of each state, `[batch, states]`, int64.
    classes: Tensor,
    /// 0 where a state may follow the state before the previous one, else minus infinity: `[batch, states]`.
    skips: Tensor,
    /// The logarithms of the probabilities of all states: `[steps, batch, states]`.
    scores: Tensor,
}

/// The elements of a list of integers.
fn integers(t: &Tensor, name: &str) -> Result<Vec<i64>> {
    let dtype = t.defined()?;
    if !matches!(dtype, Dtype::Int64 | Dtype::Int32) {
        bail!(Dtype, "'{name}' is int64 or int32, not {dtype}")
    }
    let t = dense(t, Dtype::Int64)?;
    let all = elements::<i64>(&t)?;
    alloc::list(all.len(), |k| Ok(all[k]))
}

/// The lengths of all samples, from 0 to `most`.
fn lengths(t: &Tensor, name: &str, batch: i64, most: i64) -> Result<Vec<i64>> {
    let shape = t.layout()?.shape;
    if shape.as_slice() != [batch] {
        bail!(Shape, "'{name}' has shape {:?}, expected a length for each of {batch} samples", shape.as_slice())
    }
    let all = integers(t, name)?;
    if let Some(n) = all.iter().position(|length| !(0..=most).contains(length)) {
        bail!(Argument, "'{name}': length {} of sample {n} is not between 0 and {most}", all[n])
    }
    Ok(all)
}

fn narrowed(t: &Tensor, dim: i32, first: i64, length: i64) -> Result<Tensor> {
    view::derive(t, |l| l.narrow(dim, first, length))
}

fn selected(t: &Tensor, dim: i32, at: i64) -> Result<Tensor> {
    view::derive(t, |l| l.select(dim, at))
}

impl Ctc<'_> {
    fn samples(&self, dtype: Dtype) -> Result<Samples> {
        let shape = self.log_probs.layout()?.shape;
        let &[steps, batch, classes] = shape.as_slice() else {
            bail!(Shape, "logProbs of shape {:?}, expected [steps, batch, classes]", shape.as_slice())
        };
        if !(0..classes).contains(&self.blank) {
            bail!(Argument, "blank {} is none of {classes} classes", self.blank)
        }
        let of_targets = self.targets.layout()?.shape;
        let (width, total) = match *of_targets.as_slice() {
            [rows, width] if rows == batch => (Some(width), width),
            [total] => (None, total),
            _ => bail!(Shape, "targets of shape {:?}, expected a vector or {batch} rows", of_targets.as_slice()),
        };
        let input = lengths(self.input_lengths, "inputLengths", batch, steps)?;
        let target = lengths(self.target_lengths, "targetLengths", batch, total)?;
        if width.is_none() && target.iter().sum::<i64>() != total {
            bail!(Shape, "targets has {total} labels, and targetLengths {} in total", target.iter().sum::<i64>())
        }
        let labels = integers(self.targets, "targets")?;
        let mut first = 0;
        let starts = alloc::list(batch as usize, |n| {
            let start = width.map_or(first, |width| width * n as i64);
            first += target[n];
            Ok(start as usize)
        })?;
        let of_sample = |n: usize| &labels[starts[n]..starts[n] + target[n] as usize];
        for n in 0..batch as usize {
            if let Some(&label) = of_sample(n).iter().find(|&&label| !(0..classes).contains(&label) || label == self.blank) {
                bail!(Argument, "label {label} of sample {n} is none of {classes} classes, or the blank {}", self.blank)
            }
        }
        let states = 2 * target.iter().copied().max().unwrap_or(0) + 1;
        checked_numel(&[steps, batch, states + 2])?;
        let label = |n: usize, s: usize| if s % 2 == 1 { of_sample(n).get(s / 2).copied() } else { None };
        let every = |at: usize| (at / states as usize, at % states as usize);
        let of_states = written(&[batch, states], |to: &mut [i64]| {
            for (at, to) in to.iter_mut().enumerate() {
                let (n, s) = every(at);
                *to = label(n, s).unwrap_or(self.blank);
            }
            Ok(())
        })?;
        let skips = written(&[batch, states], |to: &mut [f64]| {
            for (at, to) in to.iter_mut().enumerate() {
                let (n, s) = every(at);
                let may = s >= 3 && label(n, s).is_some() && label(n, s) != label(n, s - 2);
                *to = if may { 0.0 } else { f64::NEG_INFINITY };
            }
            Ok(())
        })?;
        let all = copy::to_dtype(self.log_probs, dtype)?;
        let index = view::derive(&of_states, |l| l.expand(&[steps, batch, states]))?;
        let scores = made(|r| gather(r, &all, 2, &index))?;
        let lengths = alloc::list(batch as usize, |n| Ok([input[n], target[n]]))?;
        Ok(Samples { steps, batch, states, lengths, classes: of_states, skips: copy::to_dtype(&skips, dtype)?, scores })
    }

    /// The losses of all samples; infinity for a sample without an alignment.
    fn losses(samples: &Samples, forward: &Tensor) -> Result<Tensor> {
        let width = samples.states + 2;
        // The first two places of a row are minus infinity: there are no states before the first one.
        let ends = |last: i64| {
            written(&[samples.batch], |to: &mut [i64]| {
                for (n, (to, &[steps, labels])) in to.iter_mut().zip(&samples.lengths).enumerate() {
                    let row = ((steps - 1).max(0) * samples.batch + n as i64) * width;
                    *to = row + if steps > 0 && 2 * labels + last >= 0 { 2 + 2 * labels + last } else { 0 };
                }
                Ok(())
            })
        };
        let at = |last: i64| made(|r| take(r, forward, &ends(last)?));
        let losses = made(|r| function::logaddexp.run([r, &at(0)?, &at(-1)?], &[]))?;
        arithmetic::mul.run([&losses, &losses], &[Scalar::Int(-1)])?;
        // Without steps, only a sample without labels has an alignment: the empty one.
        for (n, _) in samples.lengths.iter().enumerate().filter(|(_, lengths)| **lengths == [0, 0]) {
            copy::fill(&selected(&losses, 0, n as i64)?, Scalar::Int(0))?;
        }
        Ok(losses)
    }

    /// The factor of each loss in the result.
    fn factors(&self, samples: &Samples, dtype: Dtype) -> Result<Tensor> {
        let factors = written(&[samples.batch], |to: &mut [f64]| {
            for (to, &[_, labels]) in to.iter_mut().zip(&samples.lengths) {
                let mean = 1.0 / (labels.max(1) as f64 * samples.batch as f64);
                *to = if self.reduction == TH_REDUCTION_MEAN { mean } else { 1.0 };
            }
            Ok(())
        })?;
        copy::to_dtype(&factors, dtype)
    }

    fn dtype(&self) -> Result<Dtype> {
        if !matches!(self.reduction, TH_REDUCTION_NONE | TH_REDUCTION_MEAN | TH_REDUCTION_SUM) {
            bail!(Argument, "{} is no THReduction of this loss", self.reduction)
        }
        Domain::Float.check(self.log_probs.defined()?)
    }
}

impl Samples {
    /// The logarithm of the probability of all alignments that end in each state at each step: `[steps, batch, states + 2]`. The first two
    /// places of a row are minus infinity.
    fn forward(&self, dtype: Dtype) -> Result<Tensor> {
        let Samples { steps, batch, states, .. } = *self;
        let all = create::full(dtype, &[steps, batch, states + 2], NONE)?;
        for t in 0..steps {
            let (now, scores) = (selected(&all, 0, t)?, selected(&self.scores, 0, t)?);
            if t == 0 {
                let count = states.min(2);
                copy::copy(&narrowed(&now, 1, 2, count)?, &narrowed(&scores, 1, 0, count)?)?;
                continue;
            }
            let before = selected(&all, 0, t - 1)?;
            let from = |first: i64| narrowed(&before, 1, first, states);
            let skipped = made(|r| arithmetic::cadd(r, &from(0)?, ONE, &self.skips))?;
            function::logaddexp.run([&skipped, &skipped, &from(1)?], &[])?;
            function::logaddexp.run([&skipped, &skipped, &from(2)?], &[])?;
            arithmetic::cadd(&narrowed(&now, 1, 2, states)?, &skipped, ONE, &scores)?;
        }
        Ok(all)
    }

    /// The logarithm of the probability of all alignments that continue after each state at each step: `[steps, batch, states]`.
    fn backward(&self, dtype: Dtype) -> Result<Tensor> {
        let Samples { steps, batch, states, .. } = *self;
        let all = create::full(dtype, &[steps, batch, states], NONE)?;
        // The states of the next step with their scores, and two states after the last one.
        let next = create::full(dtype, &[batch, states + 2], NONE)?;
        let skips = create::full(dtype, &[batch, states], NONE)?;
        if states > 2 {
            copy::copy(&narrowed(&skips, 1, 0, states - 2)?, &narrowed(&self.skips, 1, 2, states - 2)?)?;
        }
        let ends = self.ends(dtype)?;
        let last = written(&[batch, 1], |to: &mut [i64]| {
            to.iter_mut().zip(&self.lengths).for_each(|(to, &[steps, _])| *to = steps - 1);
            Ok(())
        })?;
        for t in (0..steps).rev() {
            let now = selected(&all, 0, t)?;
            if t + 1 < steps {
                arithmetic::cadd(&narrowed(&next, 1, 0, states)?, &selected(&all, 0, t + 1)?, ONE, &selected(&self.scores, 0, t + 1)?)?;
                let from = |first: i64| narrowed(&next, 1, first, states);
                arithmetic::cadd(&now, &from(2)?, ONE, &skips)?;
                function::logaddexp.run([&now, &now, &from(1)?], &[])?;
                function::logaddexp.run([&now, &now, &from(0)?], &[])?;
            }
            let is_last = made(|r| compare::eqValue.run([r, &last], &[Scalar::Int(t)]))?;
            choose::choose(&now, &is_last, &ends, &now)?;
        }
        Ok(all)
    }

    /// 0 for the states in which an alignment may end, else minus infinity.
    fn ends(&self, dtype: Dtype) -> Result<Tensor> {
        let states = self.states as usize;
        let ends = written(&[self.batch, self.states], |to: &mut [f64]| {
            for (at, to) in to.iter_mut().enumerate() {
                let (labels, s) = (self.lengths[at / states][1], (at % states) as i64);
                *to = if s == 2 * labels || s == 2 * labels - 1 { 0.0 } else { f64::NEG_INFINITY };
            }
            Ok(())
        })?;
        copy::to_dtype(&ends, dtype)
    }
}

/// True where a loss is infinite.
fn infinite(losses: &Tensor) -> Result<Tensor> {
    made(|r| compare::eqValue.run([r, losses], &[Scalar::Float(f64::INFINITY)]))
}

/// `r` = minus the logarithm of the probability of the labels, reduced
pub fn ctc(r: &Tensor, loss: &Ctc<'_>) -> Result<()> {
    let dtype = loss.dtype()?;
    let compute = dtype.compute();
    let samples = loss.samples(compute)?;
    let losses = Ctc::losses(&samples, &samples.forward(compute)?)?;
    if loss.zero_infinity {
        choose::choose_value(&losses, &infinite(&losses)?, &losses, Scalar::Int(0), true)?;
    }
    if loss.reduction == TH_REDUCTION_NONE {
        return deliver([Some((r, dtype, &losses))]);
    }
    arithmetic::cmul.run([&losses, &losses, &loss.factors(&samples, compute)?], &[])?;
    let sum = made(|r| reduce::sum(To::tensor(r, false), &losses, Over::Dims(&[]), None))?;
    deliver([Some((r, dtype, &sum))])
}

/// The gradient of [`ctc`] with respect to the logarithms
pub fn ctc_gradient(r: &Tensor, g: &Tensor, loss: &Ctc<'_>) -> Result<()> {
    let dtype = loss.dtype()?;
    let compute = dtype.compute();
    let samples = loss.samples(compute)?;
    let of_g = g.layout()?.shape;
    let expected: &[i64] = if loss.reduction == TH_REDUCTION_NONE { &[samples.batch] } else { &[] };
    if of_g.as_slice() != expected {
        bail!(Shape, "a gradient of shape {:?} for a loss of shape {expected:?}", of_g.as_slice())
    }
    let (steps, batch, states) = (samples.steps, samples.batch, samples.states);
    let forward = samples.forward(compute)?;
    let losses = Ctc::losses(&samples, &forward)?;
    // A sample without an alignment has no states with a probability, and the gradient 0.
    choose::choose_value(&losses, &infinite(&losses)?, &losses, Scalar::Int(0), true)?;
    let shares = samples.backward(compute)?;
    arithmetic::cadd(&shares, &shares, ONE, &narrowed(&forward, 2, 2, states)?)?;
    arithmetic::cadd(&shares, &shares, ONE, &view::reshape(&losses, &[batch, 1])?)?;
    function::exp.run([&shares, &shares], &[])?;
    let factors = loss.factors(&samples, compute)?;
    arithmetic::cmul.run([&factors, &factors, &copy::to_dtype(g, compute)?], &[])?;
    arithmetic::mul.run([&factors, &factors], &[Scalar::Int(-1)])?;
    arithmetic::cmul.run([&shares, &shares, &view::reshape(&factors, &[batch, 1])?], &[])?;
    let gradient = create::full(compute, &loss.log_probs.layout()?.shape, Scalar::Int(0))?;
    let index = view::derive(&samples.classes, |l| l.expand(&[steps, batch, states]))?;
    scatter_reduce(&gradient, 2, &index, &shares, TH_REDUCE_ADD)?;
    deliver([Some((r, dtype, &gradient))])
}
