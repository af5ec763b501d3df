//! Tensors of random numbers in a given shape.

use super::{clamped_random, make, normal, uniform};
use crate::dtype::{Dtype, default_dtype};
use crate::error::Result;
use crate::random::Generator;
use crate::tensor::Tensor;

/// The distribution of the elements of a new tensor.
#[derive(Clone, Copy)]
pub enum Law {
    /// Uniform in [0, 1).
    Uniform,
    /// Normal, with mean 0 and standard deviation 1.
    Normal,
    /// Uniform over the integers from the first number up to, but not including, the second.
    Integers(i64, i64),
}

impl Law {
    fn fill(self, r: &Tensor, generator: &mut Generator) -> Result<()> {
        match self {
            Law::Uniform => uniform(r, generator, 0.0, 1.0),
            Law::Normal => normal(r, generator, 0.0, 1.0),
            Law::Integers(from, to) => clamped_random(r, generator, from, to),
        }
    }
}

/// Fills `r` in this shape. A fresh `r` gets the default dtype, or int64 for integers.
pub fn drawn(r: &Tensor, generator: &mut Generator, law: Law, shape: &[i64]) -> Result<()> {
    let whole = matches!(law, Law::Integers(..));
    make(r, if whole { Dtype::Int64 } else { default_dtype() }, whole, shape, |r| law.fill(r, generator))
}

/// Fills `r` in the shape of `t`. A fresh `r` gets the dtype of `t`.
pub fn drawn_like(r: &Tensor, generator: &mut Generator, law: Law, t: &Tensor) -> Result<()> {
    make(r, t.defined()?, matches!(law, Law::Integers(..)), &t.layout()?.shape, |r| law.fill(r, generator))
}

/// A new tensor of random numbers.
pub fn new_drawn(dtype: Dtype, generator: &mut Generator, law: Law, shape: &[i64]) -> Result<Tensor> {
    let t = Tensor::empty(dtype, shape)?;
    law.fill(&t, generator)?;
    Ok(t)
}
