//! Activation functions whose arguments are checked, or whose operands are views.

use super::op::operations;
use crate::cpu::engine::{CHEAP, COSTLY};
use crate::cpu::real::Real;
use crate::dtype::Element;
use crate::error::{Result, bail};
use crate::layout::{Dims, wrap_dim};
use crate::ops::view;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

operations! {
    ACTIVATIONS;
    /// `r = t where t > 0, else value * (e^(t / value) - 1)`
    continuous_elu(r: out, t: input, value: parameter) {
        float same COSTLY, compact |isa, t| {
            // Both cases are computed, because a branch would prevent vectorisation.
            let negative = value.mul(Real::expm1(t / value, isa));
            if t > T::ZERO { t } else { negative }
        }
    }
    /// `r = t - lambda where t > lambda, t + lambda where t < -lambda, else 0`; NaN stays NaN
    soft_shrunk(r: out, t: input, lambda: parameter) {
        float same CHEAP, compact |_, t| {
            let from_above = if t > lambda { t - lambda } else { t * T::ZERO };
            if t < -lambda { t + lambda } else { from_above }
        }
    }
    /// `r = value where t <= bound, else t`
    replaced(r: out, t: input, bound: parameter, value: parameter) { float same CHEAP, compact |_, t| if t <= bound { value } else { t } }
    /// `r = t where t > 0, else weight * t`
    leaky(r: out, t: input, weight: input) { float same CHEAP, compact |_, t, weight| if t > T::ZERO { t } else { weight.mul(t) } }
    /// `r = a * sigmoid(b)`
    gated(r: out, a: input, b: input) { float same COSTLY, plain |isa, a, b| a.mul(Real::sigmoid(b, isa)) }
}

/// `r = t where t > 0, else value * (e^(t / value) - 1)`
pub fn celu(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
    let number = value.to_f64();
    if number == 0.0 || number.is_nan() {
        bail!(Argument, "'value' is {value}, but t is divided by it")
    }
    continuous_elu.run([r, t], &[value])
}

/// `r = t` moved towards 0 by `lambda`, at most to 0
pub fn softshrink(r: &Tensor, t: &Tensor, lambda: Scalar) -> Result<()> {
    if lambda.to_f64() < 0.0 || lambda.to_f64().is_nan() {
        bail!(Argument, "'lambda' is {lambda}, expected at least 0")
    }
    soft_shrunk.run([r, t], &[lambda])
}

/// `r = t where t > bound, else value`
pub fn threshold(r: &Tensor, t: &Tensor, bound: Scalar, value: Scalar) -> Result<()> {
    replaced.run([r, t], &[bound, value])
}

/// `r = t where t > 0, else weight * t`, with one weight or a weight for each entry of dimension 1
pub fn prelu(r: &Tensor, t: &Tensor, weight: &Tensor) -> Result<()> {
    let (shape, of_weight) = (t.layout()?.shape, weight.layout()?);
    let channels = shape.get(1).copied().unwrap_or(1);
    let count = of_weight.numel();
    if of_weight.ndim() > 1 || (count != 1 && count != channels) {
        let weights = of_weight.shape.as_slice();
        bail!(Shape, "'weight' has shape {weights:?}, expected one number or one for each of the {channels} channels")
    }
    leaky.run([r, t, &view::reshape(weight, &beside_channels(count, shape.len()))?], &[])
}

/// The shape of `count` weights that broadcasts them along dimension 1 of a tensor with `ndim` dimensions.
pub fn beside_channels(count: i64, ndim: usize) -> Dims {
    let mut shape = Dims::filled(1, ndim.saturating_sub(1));
    if let Some(first) = shape.first_mut() {
        *first = count;
    }
    shape
}

/// `r = a * sigmoid(b)`, where a and b are the first and the second half of `t` along `dim`
pub fn glu(r: &Tensor, t: &Tensor, dim: i32) -> Result<()> {
    let shape = t.layout()?.shape;
    let d = wrap_dim(dim, shape.len())?;
    let Some(&size) = shape.get(d) else { bail!(Shape, "a tensor without dimensions has no halves") };
    if size % 2 != 0 {
        bail!(Shape, "dimension {d} has the odd size {size} and no halves")
    }
    let half = |first| view::derive(t, |layout| layout.narrow(dim, first, size / 2));
    gated.run([r, &half(0)?, &half(size / 2)?], &[])
}
