//! Handles of optimizers.

use crate::alloc::{
    self,
    fork::{ForkGuard, ForkMutex},
};
use crate::error::{Error, Kind, Result, bail};
use crate::ops::optim::Optimizer;
use crate::tensor::Tensor;

/// An optimizer: parameters, and the state of each parameter between steps.
pub struct THOptim(ForkMutex<Held>);

struct Held {
    /// `None` during a step that calls a function of the caller.
    optimizer: Option<Optimizer>,
    /// The parameters during such a step.
    params: Vec<Tensor>,
}

/// Returns a new handle.
pub fn new_optim(optimizer: Optimizer) -> Result<*mut THOptim> {
    match alloc::boxed(THOptim(ForkMutex::new(Held { optimizer: Some(optimizer), params: Vec::new() }))) {
        Some(made) => Ok(Box::into_raw(made)),
        None => Err(Error::new(Kind::NoMem, format_args!("out of memory for an optimizer"))),
    }
}

impl THOptim {
    fn lock(&self) -> ForkGuard<'_, Held> {
        self.0.lock()
    }

    /// Returns the result of `f` for the optimizer, which stays locked meanwhile.
    pub fn with<R>(&self, f: impl FnOnce(&mut Optimizer) -> Result<R>) -> Result<R> {
        match &mut self.lock().optimizer {
            Some(optimizer) => f(optimizer),
            None => bail!(Argument, "the optimizer is in the middle of a step"),
        }
    }

    /// Returns the result of `f` for the parameters, also in the middle of a step. The optimizer stays locked meanwhile.
    pub fn with_params<R>(&self, f: impl FnOnce(&[Tensor]) -> Result<R>) -> Result<R> {
        let held = self.lock();
        f(held.optimizer.as_ref().map_or(&held.params, |optimizer| optimizer.params()))
    }

    /// Returns the result of `f` for the optimizer. Meanwhile other calls fail, because the optimizer is in the middle of a step.
    pub fn taken<R>(&self, f: impl FnOnce(&mut Optimizer) -> Result<R>) -> Result<R> {
        let params = self.with(|optimizer| optimizer.params_again())?;
        let taken = {
            let mut held = self.lock();
            let taken = held.optimizer.take();
            if taken.is_some() {
                held.params = params;
            }
            taken
        };
        let mut taken = Taken(self, taken);
        match &mut taken.1 {
            Some(optimizer) => f(optimizer),
            None => bail!(Argument, "the optimizer is in the middle of a step"),
        }
    }
}

/// Puts an optimizer back when dropped, also after a panic.
struct Taken<'a>(&'a THOptim, Option<Optimizer>);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        if let Some(optimizer) = self.1.take() {
            let mut held = self.0.lock();
            held.optimizer = Some(optimizer);
            let params = std::mem::take(&mut held.params);
            drop(held);
            drop(params);
        }
    }
}
