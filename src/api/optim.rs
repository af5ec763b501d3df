//! Handles of optimizers.

use crate::alloc::{
    self,
    fork::{ForkGuard, ForkMutex},
};
use crate::error::{Error, Kind, Result, bail};
use crate::ops::optim::Optimizer;
use crate::tensor::Tensor;

/// An optimizer: parameters, and the state of each parameter between steps.
pub struct THOptim {
    /// The parameters.
    pub params: Vec<Tensor>,
    /// `None` during a step that calls a function of the caller.
    optimizer: ForkMutex<Option<Optimizer>>,
}

/// Returns a new handle.
pub fn new_optim(optimizer: Optimizer) -> Result<*mut THOptim> {
    let params = alloc::list(optimizer.params().len(), |k| Ok(optimizer.params()[k].clone()))?;
    match alloc::boxed(THOptim { params, optimizer: ForkMutex::new(Some(optimizer)) }) {
        Some(made) => Ok(Box::into_raw(made)),
        None => Err(Error::new(Kind::NoMem, format_args!("out of memory for an optimizer"))),
    }
}

impl THOptim {
    fn lock(&self) -> ForkGuard<'_, Option<Optimizer>> {
        self.optimizer.lock()
    }

    /// Returns the result of `f` for the optimizer, which stays locked meanwhile.
    pub fn with<R>(&self, f: impl FnOnce(&mut Optimizer) -> Result<R>) -> Result<R> {
        match &mut *self.lock() {
            Some(optimizer) => f(optimizer),
            None => bail!(Argument, "the optimizer is in the middle of a step"),
        }
    }

    /// Returns the result of `f` for the optimizer. Meanwhile other calls fail, because the optimizer is in the middle of a step.
    pub fn taken<R>(&self, f: impl FnOnce(&mut Optimizer) -> Result<R>) -> Result<R> {
        let Some(optimizer) = self.lock().take() else { bail!(Argument, "the optimizer is in the middle of a step") };
        let mut taken = Taken(self, Some(optimizer));
        match &mut taken.1 {
            Some(optimizer) => f(optimizer),
            None => bail!(Internal, "the optimizer is gone"),
        }
    }
}

/// Puts an optimizer back when dropped, also after a panic.
struct Taken<'a>(&'a THOptim, Option<Optimizer>);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        *self.0.lock() = self.1.take();
    }
}
