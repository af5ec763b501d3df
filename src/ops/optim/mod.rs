//! Optimizers: they change parameters in place along their gradients.

mod counter;
mod lbfgs;
mod ranges;

use super::loss::made;
use super::pointwise::arithmetic::{addcdiv, addcmul, cadd, cmax, lerp, mul};
use super::pointwise::step::{running_square, running_sum, scaled_root, scaled_step};
use super::{copy, create};
use crate::alloc;
use crate::device::{self, DeviceGuard};
use crate::error::{Error, Kind, Result, bail};
use crate::layout::TH_PRESERVE_FORMAT;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
pub use lbfgs::{Evaluate, Lbfgs};
use ranges::{check, not_negative};

/// Parameters, and an optimizer's state for each of them.
pub struct Optimizer {
    params: Vec<Tensor>,
    memories: Vec<Memory>,
    rule: Rule,
    lr: f64,
}

/// The rule by which parameters are changed.
pub enum Rule {
    /// Stochastic gradient descent.
    Sgd(Sgd),
    /// Adam: running means of gradients and of their squares.
    Adam(Adam),
    /// RMSprop: a running mean of squares.
    Rmsprop(Rmsprop),
    /// L-BFGS: an approximate inverse Hessian.
    Lbfgs(Lbfgs),
}

/// The options of stochastic gradient descent.
pub struct Sgd {
    /// The fraction of the running sum of gradients that a step keeps.
    pub momentum: f64,
    /// The fraction of a gradient that is not added to the running sum.
    pub dampening: f64,
    /// The fraction of the parameter that is added to its gradient.
    pub decay: f64,
    /// True for Nesterov momentum: the step looks ahead by one more step of the running sum.
    pub nesterov: bool,
}

/// The options of RMSprop.
pub struct Rmsprop {
    /// The fraction of the running mean square that a step keeps.
    pub alpha: f64,
    /// A number that is added to the root of the mean square.
    pub eps: f64,
    /// The fraction of the parameter that is added to its gradient.
    pub decay: f64,
    /// The fraction of the running sum of steps that a step keeps.
    pub momentum: f64,
    /// True if the square of the running mean is subtracted from the mean square.
    pub centered: bool,
}

/// The options of Adam.
pub struct Adam {
    /// The fractions of the running mean and of the running mean square that a step keeps.
    pub betas: [f64; 2],
    /// A number that is added to the root of the mean square.
    pub eps: f64,
    /// The fraction of the parameter that is added to its gradient or, if `decoupled`, subtracted from the parameter.
    pub decay: f64,
    /// True if the decay changes the parameter directly, not through the gradient.
    pub decoupled: bool,
    /// True if the greatest mean square so far is used instead of the current one.
    pub amsgrad: bool,
}

/// The state of a parameter, made by its first step.
#[derive(Default)]
struct Memory {
    /// The number of steps. It has no meaning if there is a `counter`.
    steps: i32,
    /// The number of steps, on a GPU, once a step has been captured there.
    counter: Option<Tensor>,
    /// The running sum of gradients, or of steps.
    mean: Option<Tensor>,
    /// The running mean square of gradients.
    square: Option<Tensor>,
    /// The greatest mean square so far; for RMSprop the running mean of gradients.
    more: Option<Tensor>,
}

impl Rule {
    fn check(&self) -> Result<()> {
        match self {
            Rule::Sgd(sgd) => {
                not_negative("momentum", sgd.momentum)?;
                not_negative("weightDecay", sgd.decay)?;
                if sgd.nesterov && (sgd.momentum == 0.0 || sgd.dampening != 0.0) {
                    bail!(Argument, "nesterov takes a momentum, and no dampening")
                }
                Ok(())
            }
            Rule::Adam(adam) => {
                for (name, beta) in [("beta1", adam.betas[0]), ("beta2", adam.betas[1])] {
                    check((0.0..1.0).contains(&beta), name, beta, "0 or more, and less than 1")?;
                }
                not_negative("eps", adam.eps)?;
                not_negative("weightDecay", adam.decay)
            }
            Rule::Rmsprop(rms) => {
                let all = [("alpha", rms.alpha), ("eps", rms.eps), ("weightDecay", rms.decay), ("momentum", rms.momentum)];
                all.into_iter().try_for_each(|(name, value)| not_negative(name, value))
            }
            Rule::Lbfgs(lbfgs) => lbfgs.check(),
        }
    }
}

impl Optimizer {
    /// An optimizer of these parameters. It keeps references to them.
    pub fn new(params: &[&Tensor], lr: f64, rule: Rule) -> Result<Optimizer> {
        not_negative("lr", lr)?;
        rule.check()?;
        if params.is_empty() {
            bail!(Argument, "there are no parameters")
        }
        for (k, t) in params.iter().enumerate() {
            let dtype = t.defined()?;
            if !dtype.is_float() {
                return Err(Error::about(t.as_ptr().addr(), Kind::Dtype, format_args!("has dtype {dtype}: only floats are optimized")));
            }
            if params[..k].iter().any(|other| other.is(t)) {
                bail!(Argument, "entry {k} of 'params' is there twice")
            }
        }
        let memories = alloc::list(params.len(), |_| Ok(Memory::default()))?;
        Ok(Optimizer { params: alloc::list(params.len(), |k| Ok(params[k].clone()))?, memories, rule, lr })
    }

    /// The parameters.
    pub fn params(&self) -> &[Tensor] {
        &self.params
    }

    /// The learning rate.
    pub fn lr(&self) -> f64 {
        self.lr
    }

    /// Sets the learning rate of all later steps.
    pub fn set_lr(&mut self, lr: f64) -> Result<()> {
        not_negative("lr", lr)?;
        self.lr = lr;
        Ok(())
    }

    /// Returns true if a step needs a function that evaluates the loss.
    pub fn needs_closure(&self) -> bool {
        matches!(self.rule, Rule::Lbfgs(_))
    }

    /// Moves parameter `k` along its gradient.
    pub fn step(&mut self, k: usize, gradient: &Tensor) -> Result<()> {
        let Optimizer { params, memories, rule, lr } = self;
        let (p, memory) = (&params[k], &mut memories[k]);
        let _there = device::is_used().then(|| DeviceGuard::on(p.device()));
        if device::is_used() && counter::is_captured(p.device())? {
            memory.prepare_capture(k, p, rule)?;
        }
        match rule {
            Rule::Sgd(sgd) => memory.sgd(p, *lr, gradient, sgd),
            Rule::Adam(adam) => memory.adam(p, *lr, gradient, adam),
            Rule::Rmsprop(rmsprop) => memory.rmsprop(p, *lr, gradient, rmsprop),
            Rule::Lbfgs(_) => bail!(Argument, "L-BFGS takes a closure, see THOptim_stepClosure"),
        }
    }

    /// Changes all parameters so that the loss falls. `evaluate` returns the loss and the gradients at the current parameters.
    pub fn minimize(&mut self, evaluate: &mut Evaluate<'_>) -> Result<()> {
        match &mut self.rule {
            Rule::Lbfgs(lbfgs) => lbfgs.step(&self.params, self.lr, evaluate),
            _ => bail!(Internal, "an optimizer that takes gradients alone"),
        }
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

impl Memory {
    /// Prepares a step that is being captured. The first step cannot be captured, because the graph would initialise the state at each
    /// launch. Steps are counted on the GPU from now on.
    fn prepare_capture(&mut self, k: usize, p: &Tensor, rule: &Rule) -> Result<()> {
        let is_new = self.mean.is_none() && self.square.is_none();
        if is_new && !matches!(rule, Rule::Sgd(sgd) if sgd.momentum == 0.0) {
            bail!(Argument, "parameter {k} has made no step: make the first step of an optimizer before its steps are captured")
        }
        if self.counter.is_none() && matches!(rule, Rule::Adam(_)) {
            self.counter = Some(counter::counter(p.device(), self.steps)?);
        }
        Ok(())
    }

    fn sgd(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, sgd: &Sgd) -> Result<()> {
        let decayed = with_decay(gradient, p, sgd.decay)?;
        let gradient = decayed.as_ref().unwrap_or(gradient);
        if sgd.momentum == 0.0 {
            return cadd(p, p, (-lr).into(), gradient);
        }
        let first = self.mean.is_none();
        if first {
            self.mean = Some(copy::clone(gradient, TH_PRESERVE_FORMAT)?);
        }
        let sum = zeros(&mut self.mean, p)?;
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
        let (gradient, [beta1, beta2]) = (decayed.as_ref().unwrap_or(gradient), adam.betas);
        let (mean, square) = (zeros(&mut self.mean, p)?, zeros(&mut self.square, p)?);
        let greatest = if adam.amsgrad { zeros(&mut self.more, p)? } else { square };
        self.steps = self.steps.saturating_add(1);
        if adam.decoupled && adam.decay != 0.0 {
            mul.run([p, p], &[(1.0 - lr * adam.decay).into()])?;
        }
        lerp.run([mean, mean, gradient], &[(1.0 - beta1).into()])?;
        running_square.run([square, square, gradient], &[beta2.into(), (1.0 - beta2).into()])?;
        if adam.amsgrad {
            cmax.run([greatest, greatest, square], &[])?;
        }
        if let Some(counter) = &self.counter {
            let [first, root] = counter::corrections(counter, adam.betas)?;
            let divisor = made(|r| scaled_root.run([r, greatest, &first, &root], &[adam.eps.into()]))?;
            return addcdiv.run([p, p, mean, &divisor], &[(-lr).into()]);
        }
        let (size, root) = (lr / (1.0 - beta1.powi(self.steps)), (1.0 - beta2.powi(self.steps)).sqrt());
        scaled_step.run([p, p, mean, greatest], &[size.into(), root.into(), adam.eps.into()])
    }

    fn rmsprop(&mut self, p: &Tensor, lr: f64, gradient: &Tensor, rms: &Rmsprop) -> Result<()> {
        let decayed = with_decay(gradient, p, rms.decay)?;
        let gradient = decayed.as_ref().unwrap_or(gradient);
        let mut square = zeros(&mut self.square, p)?;
        running_square.run([square, square, gradient], &[rms.alpha.into(), (1.0 - rms.alpha).into()])?;
        let variance;
        if rms.centered {
            let mean = zeros(&mut self.more, p)?;
            lerp.run([mean, mean, gradient], &[(1.0 - rms.alpha).into()])?;
            variance = made(|r| addcmul.run([r, square, mean, mean], &[(-1.0).into()]))?;
            square = &variance;
        }
        let numbers = |size: f64| [size.into(), 1.0.into(), rms.eps.into()];
        if rms.momentum == 0.0 {
            return scaled_step.run([p, p, gradient, square], &numbers(lr));
        }
        let steps = zeros(&mut self.mean, p)?;
        mul.run([steps, steps], &[rms.momentum.into()])?;
        scaled_step.run([steps, steps, gradient, square], &numbers(-1.0))?;
        cadd(p, p, (-lr).into(), steps)
    }
}
