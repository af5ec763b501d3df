//! The state of a parameter between steps, and the steps of each rule.

use super::counter;
use super::options::{Adam, Rmsprop, Rule, Sgd};
use crate::device::{self, DeviceGuard};
use crate::error::{Error, Kind, Result, bail};
use crate::layout::TH_PRESERVE_FORMAT;
use crate::ops::loss::made;
use crate::ops::pointwise::arithmetic::{addcdiv, addcmul, cadd, cmax, lerp, mul, neg};
use crate::ops::pointwise::step::{running_square, running_sum, scaled_root, scaled_step};
use crate::ops::{copy, create};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The state of a parameter, made by its first step.
#[derive(Default)]
pub struct Memory {
    /// The number of steps. It has no meaning if there is a `counter`.
    steps: i32,
    /// The number of steps, on a GPU, once a step has been captured there.
    counter: Option<Tensor>,
    /// The state tensors, by [`Slot`].
    slots: [Option<Tensor>; 3],
}

/// The place of a state tensor.
#[derive(Clone, Copy, PartialEq)]
pub enum Slot {
    /// The running sum or mean of gradients, or of steps.
    Mean,
    /// The running mean square of gradients.
    Square,
    /// The greatest mean square so far; for RMSprop the running mean of gradients.
    More,
}

impl Rule {
    /// Returns the state tensors: PyTorch's name and the place.
    pub fn slots(&self) -> &'static [(&'static str, Slot)] {
        match self {
            Rule::Sgd(_) => &[("momentum_buffer", Slot::Mean)],
            Rule::Adam(_) => &[("exp_avg", Slot::Mean), ("exp_avg_sq", Slot::Square), ("max_exp_avg_sq", Slot::More)],
            Rule::Rmsprop(_) => &[("square_avg", Slot::Square), ("momentum_buffer", Slot::Mean), ("grad_avg", Slot::More)],
            Rule::Lbfgs(_) => &[],
        }
    }

    /// Returns true if a state is incomplete without this tensor.
    pub fn needs(&self, slot: Slot) -> bool {
        match (self, slot) {
            (Rule::Sgd(_), _) => false,
            (Rule::Adam(adam), Slot::More) => adam.amsgrad,
            (Rule::Rmsprop(rms), Slot::Mean) => rms.momentum != 0.0,
            (Rule::Rmsprop(rms), Slot::More) => rms.centered,
            _ => true,
        }
    }

    /// Returns true if PyTorch's state has a number of steps.
    pub fn counts_steps(&self) -> bool {
        !matches!(self, Rule::Sgd(_))
    }
}

/// `gradient + decay * p`; `None` without a decay.
fn with_decay(gradient: &Tensor, p: &Tensor, decay: f64) -> Result<Option<Tensor>> {
    if decay == 0.0 { Ok(None) } else { made(|r| cadd(r, gradient, decay.into(), p)).map(Some) }
}

/// The state in `place`, which begins as zeros like `p`.
fn zeros<'a>(place: &'a mut Option<Tensor>, p: &Tensor) -> Result<&'a Tensor> {
    if place.is_none() {
        *place = Some(create::full_like(p, Scalar::Int(0))?);
    }
    place.as_ref().ok_or_else(|| Error::new(Kind::Internal, format_args!("a memory that was made is gone")))
}

/// Returns a tensor like `p` with the elements of `values`, which has the same shape.
pub fn like(p: &Tensor, values: &Tensor) -> Result<Tensor> {
    let _there = device::is_used().then(|| DeviceGuard::on(p.device()));
    let r = create::full_like(p, Scalar::Int(0))?;
    copy::copy(&r, values).map(|()| r)
}

impl Memory {
    /// A state with this number of steps and no tensors.
    pub fn new(steps: i32) -> Memory {
        Memory { steps, ..Memory::default() }
    }

    /// The tensor in a place.
    pub fn slot(&self, slot: Slot) -> Option<&Tensor> {
        self.slots[slot as usize].as_ref()
    }

    /// Stores a tensor in a place.
    pub fn set(&mut self, slot: Slot, t: Tensor) {
        self.slots[slot as usize] = Some(t);
    }

    /// Returns true if no step was made.
    pub fn is_new(&self) -> bool {
        self.steps == 0 && self.slots.iter().all(Option::is_none)
    }

    /// The number of steps.
    pub fn steps(&self) -> Result<i64> {
        match &self.counter {
            Some(counter) => Ok(copy::item(counter)?.to_f64() as i64),
            None => Ok(self.steps.into()),
        }
    }

    /// Replaces the state of `p` by another. Tensors that both states have keep their memory, because graphs may refer to it.
    pub fn replace(&mut self, p: &Tensor, other: Memory) -> Result<()> {
        let _there = device::is_used().then(|| DeviceGuard::on(p.device()));
        self.steps = other.steps;
        if let Some(counter) = &self.counter {
            copy::fill(counter, i64::from(other.steps).into())?;
        }
        for (place, new) in self.slots.iter_mut().zip(other.slots) {
            match (&*place, new) {
                (Some(old), Some(new)) => copy::copy(old, &new)?,
                (_, new) => *place = new,
            }
        }
        Ok(())
    }

    /// Moves `p` along its gradient. `k` is the number of the parameter.
    pub fn step(&mut self, k: usize, p: &Tensor, (lr, maximize): (f64, bool), gradient: &Tensor, rule: &Rule) -> Result<()> {
        let _there = device::is_used().then(|| DeviceGuard::on(p.device()));
        if device::is_used() && counter::is_captured(p.device())? {
            self.prepare_capture(k, p, rule)?;
        }
        let negative = if maximize { Some(made(|r| neg.run([r, gradient], &[]))?) } else { None };
        let gradient = negative.as_ref().unwrap_or(gradient);
        match rule {
            Rule::Sgd(sgd) => self.sgd(p, lr, gradient, sgd),
            Rule::Adam(adam) => self.adam(p, lr, gradient, adam),
            Rule::Rmsprop(rmsprop) => self.rmsprop(p, lr, gradient, rmsprop),
            Rule::Lbfgs(_) => bail!(Argument, "L-BFGS takes a closure, see THOptim_stepClosure"),
        }
    }

    /// Prepares a step that is being captured. The first step cannot be captured, because the graph would initialise the state at each
    /// launch. Steps are counted on the GPU from now on.
    fn prepare_capture(&mut self, k: usize, p: &Tensor, rule: &Rule) -> Result<()> {
        if self.is_new() && !matches!(rule, Rule::Sgd(sgd) if sgd.momentum == 0.0) {
            bail!(Argument, "parameter {k} has made no step: make the first step of an optimizer before its steps are captured")
        }
        if self.counter.is_none() && rule.counts_steps() {
            self.counter = Some(counter::counter(p.device(), self.steps)?);
        }
        Ok(())
    }

    /// Counts a step.
    fn count(&mut self) -> Result<()> {
        self.steps = self.steps.saturating_add(1);
        self.counter.as_ref().map_or(Ok(()), counter::increment)
    }

    fn sgd(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, sgd: &Sgd) -> Result<()> {
        let decayed = with_decay(gradient, p, sgd.decay)?;
        let gradient = decayed.as_ref().unwrap_or(gradient);
        if sgd.momentum == 0.0 {
            return cadd(p, p, (-lr).into(), gradient);
        }
        let [sum, ..] = &mut self.slots;
        let first = sum.is_none();
        if first {
            *sum = Some(copy::clone(gradient, TH_PRESERVE_FORMAT)?);
        }
        let sum = zeros(sum, p)?;
        if !first {
            running_sum.run([sum, sum, gradient], &[sgd.momentum.into(), (1.0 - sgd.dampening).into()])?;
        }
        if !sgd.nesterov {
            return cadd(p, p, (-lr).into(), sum);
        }
        let ahead = made(|r| cadd(r, gradient, sgd.momentum.into(), sum))?;
        cadd(p, p, (-lr).into(), &ahead)
    }

    fn adam(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, adam: &Adam) -> Result<()> {
        let decayed = if adam.decoupled { None } else { with_decay(gradient, p, adam.decay)? };
        let gradient = decayed.as_ref().unwrap_or(gradient);
        let [mean, square, more] = &mut self.slots;
        let (mean, square) = (zeros(mean, p)?, zeros(square, p)?);
        let greatest = if adam.amsgrad { zeros(more, p)? } else { square };
        self.steps = self.steps.saturating_add(1);
        if adam.decoupled && adam.decay != 0.0 {
            mul.run([p, p], &[(1.0 - lr * adam.decay).into()])?;
        }
        lerp.run([mean, mean, gradient], &[(1.0 - adam.beta1).into()])?;
        running_square.run([square, square, gradient], &[adam.beta2.into(), (1.0 - adam.beta2).into()])?;
        if adam.amsgrad {
            cmax.run([greatest, greatest, square], &[])?;
        }
        if let Some(counter) = &self.counter {
            counter::increment(counter)?;
            let [first, root] = counter::corrections(counter, [adam.beta1, adam.beta2])?;
            let divisor = made(|r| scaled_root.run([r, greatest, &first, &root], &[adam.eps.into()]))?;
            return addcdiv.run([p, p, mean, &divisor], &[(-lr).into()]);
        }
        let (size, root) = (lr / (1.0 - adam.beta1.powi(self.steps)), (1.0 - adam.beta2.powi(self.steps)).sqrt());
        scaled_step.run([p, p, mean, greatest], &[size.into(), root.into(), adam.eps.into()])
    }

    fn rmsprop(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, rms: &Rmsprop) -> Result<()> {
        let decayed = with_decay(gradient, p, rms.decay)?;
        let gradient = decayed.as_ref().unwrap_or(gradient);
        self.count()?;
        let [steps, square, mean] = &mut self.slots;
        let mut square = zeros(square, p)?;
        running_square.run([square, square, gradient], &[rms.alpha.into(), (1.0 - rms.alpha).into()])?;
        let variance;
        if rms.centered {
            let mean = zeros(mean, p)?;
            lerp.run([mean, mean, gradient], &[(1.0 - rms.alpha).into()])?;
            variance = made(|r| addcmul.run([r, square, mean, mean], &[(-1.0).into()]))?;
            square = &variance;
        }
        let numbers = |size: f64| [size.into(), 1.0.into(), rms.eps.into()];
        if rms.momentum == 0.0 {
            return scaled_step.run([p, p, gradient, square], &numbers(lr));
        }
        let steps = zeros(steps, p)?;
        mul.run([steps, steps], &[rms.momentum.into()])?;
        scaled_step.run([steps, steps, gradient, square], &numbers(-1.0))?;
        cadd(p, p, (-lr).into(), steps)
    }
}
