//! Tensors made of random numbers.

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
    /// Normal, of mean 0 and deviation 1.
    Normal,
    /// Integers from the first to the one before the second.
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

/// `r` in this shape; a fresh one takes the default dtype, of integers int64.
pub fn drawn(r: &Tensor, generator: &mut Generator, law: Law, shape: &[i64]) -> Result<()> {
    let whole = matches!(law, Law::Integers(..));
    make(r, if whole { Dtype::Int64 } else { default_dtype() }, whole, shape, |r| law.fill(r, generator))
}

/// `r` in the shape of `t`; a fresh one takes its dtype.
pub fn drawn_like(r: &Tensor, generator: &mut Generator, law: Law, t: &Tensor) -> Result<()> {
    make(r, t.defined()?, matches!(law, Law::Integers(..)), &t.layout()?.shape, |r| law.fill(r, generator))
}

/// A tensor of this dtype and shape.
pub fn new_drawn(dtype: Dtype, generator: &mut Generator, law: Law, shape: &[i64]) -> Result<Tensor> {
    let t = Tensor::empty(dtype, shape)?;
    law.fill(&t, generator)?;
    Ok(t)
}
