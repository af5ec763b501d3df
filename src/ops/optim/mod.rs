//! Optimizers: they change parameters in place along their gradients.

mod counter;
mod lbfgs;
mod options;
mod ranges;
mod state;

use crate::alloc;
use crate::error::{Error, Kind, Result, bail};
use crate::tensor::Tensor;
pub use lbfgs::{Evaluate, Memory as LbfgsMemory, Pair, State as LbfgsState, flat};
pub use options::{Adadelta, Adafactor, Adagrad, Adam, Field, Group, Lamb, Lbfgs, Nadam, Name, Radam, Rmsprop, Rule, Sgd};
pub use state::{MASTER, Memory, Slot, like};

/// Parameters, their hyperparameters, and an optimizer's state for each of them.
pub struct Optimizer {
    params: Vec<Tensor>,
    groups: Vec<Group>,
    memories: Vec<Memory>,
    lbfgs: LbfgsState,
}

/// The hyperparameters and the state of an optimizer, to be exchanged for others.
pub struct Loaded {
    /// The groups, as many as the optimizer has.
    pub groups: Vec<Group>,
    /// The state of each parameter.
    pub memories: Vec<Memory>,
    /// The state of L-BFGS.
    pub lbfgs: LbfgsState,
}

/// Fails if `params` has a tensor that cannot be optimised, or a tensor twice. `known` are the parameters of other groups.
fn check_params(params: &[&Tensor], known: &[Tensor]) -> Result<()> {
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
        if known.iter().any(|other| other.is(t)) {
            bail!(Argument, "entry {k} of 'params' is a parameter of another group")
        }
    }
    Ok(())
}

impl Optimizer {
    /// An optimizer of these parameters. It keeps references to them.
    pub fn new(params: &[&Tensor], lr: f64, rule: Rule) -> Result<Optimizer> {
        let group = Group { end: params.len(), lr, maximize: false, master: false, rule };
        group.check()?;
        check_params(params, &[])?;
        let groups = alloc::list(1, |_| Ok(group.clone()))?;
        let memories = alloc::list(params.len(), |_| Ok(Memory::default()))?;
        Ok(Optimizer { params: alloc::list(params.len(), |k| Ok(params[k].clone()))?, groups, memories, lbfgs: LbfgsState::default() })
    }

    /// Adds parameters with the hyperparameters of the first group. Returns the number of the new group.
    pub fn add_group(&mut self, params: &[&Tensor]) -> Result<i64> {
        if self.needs_closure() {
            bail!(Argument, "L-BFGS has one group of parameters")
        }
        check_params(params, &self.params)?;
        let group = Group { end: self.params.len() + params.len(), ..self.groups[0].clone() };
        let reserved = self.params.try_reserve(params.len()).and_then(|()| self.memories.try_reserve(params.len()));
        if reserved.and_then(|()| self.groups.try_reserve(1)).is_err() {
            bail!(NoMem, "out of memory for {} parameters", params.len())
        }
        self.params.extend(params.iter().map(|&t| t.clone()));
        self.memories.extend(params.iter().map(|_| Memory::default()));
        self.groups.push(group);
        Ok(self.groups.len() as i64 - 1)
    }

    /// The parameters.
    pub fn params(&self) -> &[Tensor] {
        &self.params
    }

    /// A list of the parameters that does not depend on the optimizer.
    pub fn params_again(&self) -> Result<Vec<Tensor>> {
        alloc::list(self.params.len(), |k| Ok(self.params[k].clone()))
    }

    /// The groups of parameters.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The state of each parameter.
    pub fn memories(&self) -> &[Memory] {
        &self.memories
    }

    /// The state of L-BFGS.
    pub fn lbfgs(&self) -> &LbfgsState {
        &self.lbfgs
    }

    fn group(&mut self, index: i64) -> Result<&mut Group> {
        let count = self.groups.len();
        match usize::try_from(index).ok().and_then(|index| self.groups.get_mut(index)) {
            Some(group) => Ok(group),
            None => bail!(Argument, "group {index} of {count}: out of range"),
        }
    }

    /// Returns a hyperparameter of a group.
    pub fn get(&mut self, group: i64, name: &str) -> Result<f64> {
        self.group(group)?.value(name, None)
    }

    /// Sets a hyperparameter of a group for all later steps.
    pub fn set(&mut self, group: i64, name: &str, value: f64) -> Result<()> {
        let group = self.group(group)?;
        let mut changed = group.clone();
        changed.value(name, Some(value))?;
        changed.check()?;
        *group = changed;
        Ok(())
    }

    /// Sets the learning rate of all groups for all later steps.
    pub fn set_lr(&mut self, lr: f64) -> Result<()> {
        ranges::not_negative("lr", lr)?;
        self.groups.iter_mut().for_each(|group| group.lr = lr);
        Ok(())
    }

    /// Returns true if a step needs a function that evaluates the loss.
    pub fn needs_closure(&self) -> bool {
        matches!(self.groups[0].rule, Rule::Lbfgs(_))
    }

    /// Moves parameter `k` along its gradient.
    pub fn step(&mut self, k: usize, gradient: &Tensor) -> Result<()> {
        let group = &self.groups[self.groups.partition_point(|group| group.end <= k)];
        self.memories[k].step(k, &self.params[k], group, gradient)
    }

    /// Changes all parameters so that the loss falls. `evaluate` returns the loss and the gradients at the current parameters.
    pub fn minimize(&mut self, evaluate: &mut Evaluate<'_>) -> Result<()> {
        let Group { lr, rule, .. } = &self.groups[0];
        match rule {
            Rule::Lbfgs(options) => self.lbfgs.step(options, &self.params, *lr, evaluate),
            _ => bail!(Internal, "an optimizer that takes gradients alone"),
        }
    }

    /// Replaces the hyperparameters and the state.
    pub fn replace(&mut self, loaded: Loaded) -> Result<()> {
        self.groups = loaded.groups;
        self.lbfgs = loaded.lbfgs;
        let changed = self.memories.iter_mut().zip(&self.params).zip(loaded.memories);
        changed.map(|((memory, p), new)| memory.replace(p, new)).try_for_each(|done| done)
    }
}
