//! The steps of optimizers, element by element.

use super::op::operations;
use crate::cpu::engine::CHEAP;

operations! {
    STEPS;
    /// `r = keep * t + take * g`: a running sum
    running_sum(r: out, t: input, g: input, keep: parameter, take: parameter) { float same CHEAP, |_, t, g| keep * t + take * g }
    /// `r = keep * t + take * g^2`: a running sum of squares
    running_square(r: out, t: input, g: input, keep: parameter, take: parameter) { float same CHEAP, |_, t, g| keep * t + take * g * g }
    /// `r = t - size * m / (sqrt(v) / root + eps)`: a step along `m`, in units of the root of the mean square `v`
    scaled_step(r: out, t: input, m: input, v: input, size: parameter, root: parameter, eps: parameter) {
        float same CHEAP, |_, t, m, v| t - size * m / (v.sqrt() / root + eps)
    }
    /// `r = first * (sqrt(v) / root + eps)`: the divisor of a step of [`scaled_step`] whose numbers are tensors
    scaled_root(r: out, v: input, first: input, root: input, eps: parameter) {
        float same CHEAP, compact |_, v, first, root| first * (v.sqrt() / root + eps)
    }
    /// `r = sqrt(a + eps) / sqrt(v + eps) * g`: a gradient in units of the root mean square `a` of earlier steps
    balanced_step(r: out, a: input, v: input, g: input, eps: parameter) {
        float same CHEAP, compact |_, a, v, g| (a + eps).sqrt() / (v + eps).sqrt() * g
    }
}
