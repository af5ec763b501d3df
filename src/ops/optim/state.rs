//! The state of a parameter between steps, and the steps of each rule.

use super::counter;
use super::options::{Adadelta, Adafactor, Adagrad, Adam, Group, Lamb, Nadam, Radam, Rmsprop, Rule, Sgd};
use crate::device::{self, DeviceGuard};
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result, bail};
use crate::layout::TH_PRESERVE_FORMAT;
use crate::ops::loss::made;
use crate::ops::pointwise::arithmetic::{addcdiv, addcmul, cadd, cdiv, cmax, cmax_value, cmul, lerp, mul, neg};
use crate::ops::pointwise::function::rsqrt;
use crate::ops::pointwise::step::{balanced_step, running_square, running_sum, scaled_root, scaled_step};
use crate::ops::reduce::{self, Over, To};
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
    slots: [Option<Tensor>; 4],
}

/// The place of a state tensor.
#[derive(Clone, Copy, PartialEq)]
pub enum Slot {
    /// The running sum or mean of gradients, or of steps; for Adadelta the running mean square of steps; for Adafactor the mean squares
    /// of rows.
    Mean,
    /// The sum or running mean of squares of gradients; for Adafactor the mean squares of columns.
    Square,
    /// The greatest mean square so far; for RMSprop the running mean of gradients; for Adafactor the mean squares of a vector.
    More,
    /// The float32 copy of a 16-bit parameter.
    Master,
}

/// The name of the float32 copy in files.
pub const MASTER: &str = "master_param";

impl Rule {
    /// Returns the state tensors: PyTorch's name and the place.
    pub fn slots(&self) -> &'static [(&'static str, Slot)] {
        match self {
            Rule::Sgd(_) => &[("momentum_buffer", Slot::Mean)],
            Rule::Adam(_) => &[("exp_avg", Slot::Mean), ("exp_avg_sq", Slot::Square), ("max_exp_avg_sq", Slot::More)],
            Rule::Rmsprop(_) => &[("square_avg", Slot::Square), ("momentum_buffer", Slot::Mean), ("grad_avg", Slot::More)],
            Rule::Adagrad(_) => &[("sum", Slot::Square)],
            Rule::Adadelta(_) => &[("square_avg", Slot::Square), ("acc_delta", Slot::Mean)],
            Rule::Nadam(_) | Rule::Radam(_) | Rule::Lamb(_) => &[("exp_avg", Slot::Mean), ("exp_avg_sq", Slot::Square)],
            Rule::Adafactor(_) => &[("row_var", Slot::Mean), ("col_var", Slot::Square), ("variance", Slot::More)],
            Rule::Lbfgs(_) => &[],
        }
    }

    /// Returns true if the state of a parameter with `ndim` dimensions is incomplete without this tensor.
    pub fn needs(&self, slot: Slot, ndim: usize) -> bool {
        match (self, slot) {
            (Rule::Sgd(_), _) => false,
            (Rule::Adam(adam), Slot::More) => adam.amsgrad,
            (Rule::Rmsprop(rms), Slot::Mean) => rms.momentum != 0.0,
            (Rule::Rmsprop(rms), Slot::More) => rms.centered,
            (Rule::Adafactor(_), slot) => (slot == Slot::More) == (ndim < 2),
            _ => true,
        }
    }

    /// Returns the size that dimension `d` has in a state tensor. `shape` is the shape of the parameter.
    fn state_size(&self, slot: Slot, shape: &[i64], d: usize) -> i64 {
        let is_folded = match (self, slot) {
            (Rule::Adafactor(_), Slot::Mean) => d + 1 == shape.len(),
            (Rule::Adafactor(_), Slot::Square) => d + 2 == shape.len(),
            _ => false,
        };
        if is_folded { 1 } else { shape[d] }
    }

    /// Returns zeros with the shape of a state tensor.
    pub fn zeros(&self, slot: Slot, p: &Tensor, dtype: Dtype) -> Result<Tensor> {
        let _there = device::is_used().then(|| DeviceGuard::on(p.device()));
        let whole = p.layout()?.shape;
        let mut shape = whole.clone();
        (0..whole.len()).for_each(|d| shape[d] = self.state_size(slot, &whole, d));
        if shape == whole {
            return copy::to_dtype(&create::full_like(p, Scalar::Int(0))?, dtype);
        }
        create::full(dtype, &shape, Scalar::Int(0))
    }

    /// Returns true if a state has the product of all momenta.
    pub fn has_product(&self) -> bool {
        matches!(self, Rule::Nadam(_))
    }

    /// Returns true if a step uses numbers of the host that differ from step to step.
    fn is_counted_on_host(&self) -> bool {
        matches!(self, Rule::Nadam(_) | Rule::Radam(_) | Rule::Lamb(_) | Rule::Adafactor(_))
            || matches!(self, Rule::Adagrad(ada) if ada.rate_decay != 0.0)
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
    begun_as(place, || create::full_like(p, value))
}

/// The state in `place`, which begins as the tensor that `first` returns.
fn begun_as(place: &mut Option<Tensor>, first: impl FnOnce() -> Result<Tensor>) -> Result<&Tensor> {
    if place.is_none() {
        *place = Some(first()?);
    }
    place.as_ref().ok_or_else(|| Error::new(Kind::Internal, format_args!("a memory that was made is gone")))
}

/// The norm of all elements as one vector.
fn norm(t: &Tensor) -> Result<f64> {
    reduce::number(|to| reduce::norm(to, t, 2.0, Over::Dims(&[]), None))
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
                (Some(old), Some(new)) if old.dtype() == new.dtype() => copy::copy(old, &new)?,
                (_, new) => *place = new,
            }
        }
        Ok(())
    }

    /// Moves `p` along its gradient. `k` is the number of the parameter.
    pub fn step(&mut self, k: usize, p: &Tensor, group: &Group, gradient: &Tensor) -> Result<()> {
        let _there = device::is_used().then(|| DeviceGuard::on(p.device()));
        if device::is_used() && counter::is_captured(p.device())? {
            self.prepare_capture(k, p, group)?;
        }
        let master = self.master(p, group)?;
        let changed = master.as_ref().unwrap_or(p);
        let mut gradient = if master.is_some() { copy::to_dtype(gradient, changed.defined()?)? } else { gradient.clone() };
        if group.maximize {
            gradient = made(|r| neg.run([r, &gradient], &[]))?;
        }
        let (lr, g) = (group.lr, &gradient);
        match &group.rule {
            Rule::Sgd(sgd) => self.sgd(changed, lr, g, sgd),
            Rule::Adam(adam) => self.adam(changed, lr, g, adam),
            Rule::Rmsprop(rmsprop) => self.rmsprop(changed, lr, g, rmsprop),
            Rule::Adagrad(adagrad) => self.adagrad(changed, lr, g, adagrad),
            Rule::Adadelta(adadelta) => self.adadelta(changed, lr, g, adadelta),
            Rule::Nadam(nadam) => self.nadam(changed, lr, g, nadam),
            Rule::Radam(radam) => self.radam(changed, lr, g, radam),
            Rule::Lamb(lamb) => self.lamb(changed, lr, g, lamb),
            Rule::Adafactor(adafactor) => self.adafactor(changed, group, g, adafactor),
            Rule::Lbfgs(_) => bail!(Argument, "L-BFGS takes a closure, see THOptim_stepClosure"),
        }?;
        master.as_ref().map_or(Ok(()), |master| copy::copy(p, master))
    }

    /// Returns the float32 copy of `p`; `None` if steps change `p` itself. If the copy begins or ends here, the state changes its dtype.
    fn master(&mut self, p: &Tensor, group: &Group) -> Result<Option<Tensor>> {
        let (dtype, place) = (group.state_dtype(p)?, Slot::Master as usize);
        let wanted = dtype != p.defined()?;
        if wanted != self.slots[place].is_some() {
            for t in self.slots[..place].iter_mut().flatten() {
                *t = copy::to_dtype(t, dtype)?;
            }
            self.slots[place] = if wanted { Some(copy::to_dtype(p, dtype)?) } else { None };
        }
        Ok(self.slots[place].clone())
    }

    /// Prepares a step that is being captured. The first step cannot be captured, because the graph would initialise the state at each
    /// launch. Steps are counted on the GPU from now on.
    fn prepare_capture(&mut self, k: usize, p: &Tensor, group: &Group) -> Result<()> {
        let is_stateless = matches!(&group.rule, Rule::Sgd(sgd) if sgd.momentum == 0.0);
        let begins_master = (group.state_dtype(p)? != p.defined()?) != self.slots[Slot::Master as usize].is_some();
        if begins_master || (self.is_new() && !is_stateless) {
            bail!(Argument, "parameter {k} has made no step: make the first step of an optimizer before its steps are captured")
        }
        if group.rule.is_counted_on_host() {
            let name = group.rule.name();
            bail!(Unsupported, "{name} computes the size of each step on the host, and a graph would repeat one size")
        }
        if self.counter.is_none() && group.rule.counts_steps() {
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
        let [mean, square, more, _] = &mut self.slots;
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
        let [steps, square, mean, _] = &mut self.slots;
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
        let [_, sum, ..] = &mut self.slots;
        let sum = begun(sum, p, ada.start.into())?;
        running_square.run([sum, sum, gradient], &[1.into(), 1.into()])?;
        scaled_step.run([p, p, gradient, sum], &[size.into(), 1.into(), ada.eps.into()])
    }

    fn adadelta(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, ada: &Adadelta) -> Result<()> {
        let decayed = with_decay(gradient, p, ada.decay)?;
        let gradient = decayed.as_ref().unwrap_or(gradient);
        self.count()?;
        let [steps, square, ..] = &mut self.slots;
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
        let [mean, square, ..] = &mut self.slots;
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

    fn lamb(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, lamb: &Lamb) -> Result<()> {
        self.count()?;
        let n = self.steps;
        let (_, mean, square) = self.means(p, gradient, [lamb.beta1, lamb.beta2], (lr, 0.0, false))?;
        let (first, root) = (1.0 - lamb.beta1.powi(n), (1.0 - lamb.beta2.powi(n)).sqrt());
        let step = made(|r| mul.run([r, p], &[lamb.decay.into()]))?;
        scaled_step.run([&step, &step, mean, square], &[(-1.0 / first).into(), root.into(), lamb.eps.into()])?;
        let (of_p, of_step) = (norm(p)?, norm(&step)?);
        let ratio = if of_p > 0.0 && of_step > 0.0 { of_p / of_step } else { 1.0 };
        cadd(p, p, (-lr * ratio).into(), &step)
    }

    fn adafactor(&mut self, p: &Tensor, group: &Group, gradient: &Tensor, ada: &Adafactor) -> Result<()> {
        self.count()?;
        let (shape, dtype, n) = (p.layout()?.shape, p.defined()?, f64::from(self.steps));
        let taken = n.powf(ada.beta2_decay);
        let root_of_count = (p.layout()?.numel() as f64).sqrt();
        let least = ada.eps1.unwrap_or(2.0 * (1.0 - dtype.below_one()));
        for slot in [Slot::Mean, Slot::Square, Slot::More].into_iter().filter(|&slot| group.rule.needs(slot, shape.len())) {
            begun_as(&mut self.slots[slot as usize], || group.rule.zeros(slot, p, dtype))?;
        }
        if root_of_count == 0.0 {
            return Ok(());
        }
        // `max` ignores NaN, as in PyTorch.
        let size = (norm(p)? / root_of_count).max(ada.eps2) * group.lr.min(1.0 / n.sqrt());
        let [rows, columns, whole, _] = &self.slots;
        let step = match (rows, columns, whole) {
            (Some(rows), Some(columns), _) if shape.len() > 1 => {
                for (place, d) in [(rows, shape.len() - 1), (columns, shape.len() - 2)] {
                    let norms = made(|r| reduce::norm(To::tensor(r, true), gradient, 2.0, Over::Dims(&[d as i64]), None))?;
                    running_square.run([place, place, &norms], &[(1.0 - taken).into(), (taken / shape[d] as f64).into()])?;
                }
                let over = [shape.len() as i64 - 2];
                let means = made(|r| reduce::mean(To::tensor(r, true), rows, Over::Dims(&over), None))?;
                cmax_value(&means, &means, least.into())?;
                let product = made(|r| cmul.run([r, rows, columns], &[]))?;
                cdiv.run([&product, &product, &means], &[])?;
                product
            }
            (_, _, Some(whole)) => {
                running_square.run([whole, whole, gradient], &[(1.0 - taken).into(), taken.into()])?;
                copy::clone(whole, TH_PRESERVE_FORMAT)?
            }
            _ => bail!(Internal, "the state of Adafactor is incomplete"),
        };
        cmax_value(&step, &step, (least * least).into())?;
        rsqrt.run([&step, &step], &[])?;
        cmul.run([&step, &step, gradient], &[])?;
        let length = (norm(&step)? / (root_of_count * ada.threshold)).max(1.0);
        if ada.decay != 0.0 {
            mul.run([p, p], &[(1.0 - group.lr * ada.decay).into()])?;
        }
        cadd(p, p, (-size / length).into(), &step)
    }
}
