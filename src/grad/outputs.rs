//! The tensors at which backward begins, and the gradients that a call asks for.

use super::engine::{self, Options, Root};
use super::variable::target;
use crate::error::{Error, Kind, Result};
use crate::tensor::Tensor;

/// The error about a tensor.
pub fn refuse<T>(t: &Tensor, what: std::fmt::Arguments<'_>) -> Result<T> {
    Err(Error::about(t.as_ptr().addr(), Kind::Argument, what))
}

/// Returns the starts of backward: the target of each tensor with its gradient.
pub fn roots(tensors: &[&Tensor], gradients: Option<&[Option<&Tensor>]>) -> Result<Vec<Root>> {
    let root = |k: usize| {
        let Some(to) = target(tensors[k])? else { return refuse(tensors[k], format_args!("requires no gradient")) };
        engine::root(to, tensors[k], gradients.and_then(|gradients| gradients[k]))
    };
    crate::alloc::list(tensors.len(), root)
}

/// The gradients of `outputs` with respect to `inputs`.
pub fn gradients_of(
    outputs: &[&Tensor],
    gradients: Option<&[Option<&Tensor>]>,
    inputs: &[&Tensor],
    options: Options,
    allow_unused: bool,
) -> Result<Vec<Option<Tensor>>> {
    let targets = crate::alloc::list(inputs.len(), |k| match target(inputs[k])? {
        Some(to) => Ok(to),
        None => refuse(inputs[k], format_args!("requires no gradient")),
    })?;
    let unused = |k: usize| match allow_unused {
        true => Ok(()),
        false => refuse(inputs[k], format_args!("has no part in the outputs; pass allowUnused for NULL in its place")),
    };
    engine::gradients(&roots(outputs, gradients)?, &targets, options, &unused)
}
