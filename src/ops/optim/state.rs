//! The state of a parameter between steps, and the steps of each rule.

use super::counter;
use super::options::{Adadelta, Adagrad, Adam, Nadam, Radam, Rmsprop, Rule, Sgd};
use crate::device::{self, DeviceGuard};
use crate::error::{Error, Kind, Result, bail};
use crate::layout::TH_PRESERVE_FORMAT;
use crate::ops::loss::made;
use crate::ops::pointwise::arithmetic::{addcdiv, addcmul, cadd, cmax, lerp, mul, neg};
use crate::ops::pointwise::step::{balanced_step, running_square, running_sum, scaled_root, scaled_step};
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
    /// NAdam's product of the momenta of all steps; `None` before the first step.
    product: Option<f64>,
    /// The state tensors, by [`Slot`].
    slots: [Option<Tensor>; 3],
}

/// The place of a state tensor.
#[derive(Clone, Copy, PartialEq)]
pub enum Slot {
    /// The running sum or mean of gradients, or of steps; for Adadelta the running mean square of steps.
    Mean,
    /// The sum or running mean of squares of gradients.
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
            Rule::Adagrad(_) => &[("sum", Slot::Square)],
            Rule::Adadelta(_) => &[("square_avg", Slot::Square), ("acc_delta", Slot::Mean)],
            Rule::Nadam(_) | Rule::Radam(_) => &[("exp_avg", Slot::Mean), ("exp_avg_sq", Slot::Square)],
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

    /// Returns true if a state has the product of all momenta.
    pub fn has_product(&self) -> bool {
        matches!(self, Rule::Nadam(_))
    }

    /// Returns true if a step uses numbers of the host that differ from step to step.
    fn is_counted_on_host(&self) -> bool {
        matches!(self, Rule::Nadam(_) | Rule::Radam(_)) || matches!(self, Rule::Adagrad(ada) if ada.rate_decay != 0.0)
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
    begun(place, p, Scalar::Int(0))
}

/// The state in `place`, which begins as a tensor like `p` with this value everywhere.
fn begun<'a>(place: &'a mut Option<Tensor>, p: &Tensor, value: Scalar) -> Result<&'a Tensor> {
    if place.is_none() {
        *place = Some(create::full_like(p, value)?);
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
    /// A state with this number of steps, this product of momenta and no tensors.
    pub fn new(steps: i32, product: Option<f64>) -> Memory {
        Memory { steps, product, ..Memory::default() }
    }

    /// The product of the momenta of all steps.
    pub fn product(&self) -> f64 {
        self.product.unwrap_or(1.0)
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
        (self.steps, self.product) = (other.steps, other.product);
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
            Rule::Adagrad(adagrad) => self.adagrad(p, lr, gradient, adagrad),
            Rule::Adadelta(adadelta) => self.adadelta(p, lr, gradient, adadelta),
            Rule::Nadam(nadam) => self.nadam(p, lr, gradient, nadam),
            Rule::Radam(radam) => self.radam(p, lr, gradient, radam),
            Rule::Lbfgs(_) => bail!(Argument, "L-BFGS takes a closure, see THOptim_stepClosure"),
        }
    }

    /// Prepares a step that is being captured. The first step cannot be captured, because the graph would initialise the state at each
    /// launch. Steps are counted on the GPU from now on.
    fn prepare_capture(&mut self, k: usize, p: &Tensor, rule: &Rule) -> Result<()> {
        if self.is_new() && !matches!(rule, Rule::Sgd(sgd) if sgd.momentum == 0.0) {
            bail!(Argument, "parameter {k} has made no step: make the first step of an optimizer before its steps are captured")
        }
        if rule.is_counted_on_host() {
            bail!(Unsupported, "{} computes the size of each step on the host, and a graph would repeat one size", rule.name())
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

    fn adagrad(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, ada: &Adagrad) -> Result<()> {
        let decayed = with_decay(gradient, p, ada.decay)?;
        let gradient = decayed.as_ref().unwrap_or(gradient);
        let size = lr / (1.0 + f64::from(self.steps) * ada.rate_decay);
        self.count()?;
        let [_, sum, _] = &mut self.slots;
        let sum = begun(sum, p, ada.start.into())?;
        running_square.run([sum, sum, gradient], &[1.into(), 1.into()])?;
        scaled_step.run([p, p, gradient, sum], &[size.into(), 1.into(), ada.eps.into()])
    }

    fn adadelta(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, ada: &Adadelta) -> Result<()> {
        let decayed = with_decay(gradient, p, ada.decay)?;
        let gradient = decayed.as_ref().unwrap_or(gradient);
        self.count()?;
        let [steps, square, _] = &mut self.slots;
        let (steps, square) = (zeros(steps, p)?, zeros(square, p)?);
        let mean = [ada.rho.into(), (1.0 - ada.rho).into()];
        running_square.run([square, square, gradient], &mean)?;
        let step = made(|r| balanced_step.run([r, steps, square, gradient], &[ada.eps.into()]))?;
        running_square.run([steps, steps, &step], &mean)?;
        cadd(p, p, (-lr).into(), &step)
    }

    /// Updates the running mean and mean square for NAdam and RAdam. Returns the gradient with its decay, the mean and the mean square.
    fn means<'a>(
        &'a mut self,
        p: &Tensor,
        gradient: &Tensor,
        [beta1, beta2]: [f64; 2],
        (lr, decay, decoupled): (f64, f64, bool),
    ) -> Result<(Tensor, &'a Tensor, &'a Tensor)> {
        let decayed = if decoupled { None } else { with_decay(gradient, p, decay)? };
        let gradient = decayed.unwrap_or_else(|| gradient.clone());
        if decoupled && decay != 0.0 {
            mul.run([p, p], &[(1.0 - lr * decay).into()])?;
        }
        let [mean, square, _] = &mut self.slots;
        let (mean, square) = (zeros(mean, p)?, zeros(square, p)?);
        lerp.run([mean, mean, &gradient], &[(1.0 - beta1).into()])?;
        running_square.run([square, square, &gradient], &[beta2.into(), (1.0 - beta2).into()])?;
        Ok((gradient, mean, square))
    }

    fn nadam(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, adam: &Nadam) -> Result<()> {
        self.count()?;
        let momentum = |n: f64| adam.beta1 * (1.0 - 0.5 * 0.96f64.powf(n * adam.momentum_decay));
        let (now, next) = (momentum(self.steps.into()), momentum(f64::from(self.steps) + 1.0));
        let (product, root) = (self.product() * now, (1.0 - adam.beta2.powi(self.steps)).sqrt());
        self.product = Some(product);
        let (gradient, mean, square) = self.means(p, gradient, [adam.beta1, adam.beta2], (lr, adam.decay, adam.decoupled))?;
        let step = |along: &Tensor, size: f64| scaled_step.run([p, p, along, square], &[size.into(), root.into(), adam.eps.into()]);
        step(&gradient, lr * (1.0 - now) / (1.0 - product))?;
        step(mean, lr * next / (1.0 - product * next))
    }

    fn radam(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, adam: &Radam) -> Result<()> {
        self.count()?;
        let n = self.steps;
        let (_, mean, square) = self.means(p, gradient, [adam.beta1, adam.beta2], (lr, adam.decay, adam.decoupled))?;
        let (first, second) = (1.0 - adam.beta1.powi(n), 1.0 - adam.beta2.powi(n));
        let most = 2.0 / (1.0 - adam.beta2) - 1.0;
        let length = most - 2.0 * f64::from(n) * adam.beta2.powi(n) / second;
        if length <= 5.0 {
            return cadd(p, p, (-lr / first).into(), mean);
        }
        let rectified = ((length - 4.0) * (length - 2.0) * most / ((most - 4.0) * (most - 2.0) * length)).sqrt();
        let size = lr / first * second.sqrt() * rectified;
        scaled_step.run([p, p, mean, square], &[size.into(), 1.into(), adam.eps.into()])
    }
}
