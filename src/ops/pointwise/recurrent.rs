//! The steps of recurrent layers, element by element, and factors of their gradients.

use super::op::operations;
use crate::cpu::engine::CHEAP;
use crate::dtype::Element;

operations! {
    RECURRENT;
    /// `r = n + z * (h - n)`: the state of a GRU, from the candidate, the update gate and the previous state
    blended(r: out, n: input, z: input, h: input) { float same CHEAP, |_, n, z, h| n + z * (h - n) }
    /// `r = (1 - z) * (1 - n^2)`: the slope of [`blended`] with respect to the argument of the tanh that gave `n`
    candidate_slope(r: out, z: input, n: input) {
        // A product of sum and difference, because a difference of squares loses digits if n is close to 1.
        float same CHEAP, compact |_, z, n| (T::from_f64(1.0) - z) * ((T::from_f64(1.0) - n) * (T::from_f64(1.0) + n))
    }
    /// `r = (h - n) * z * (1 - z)`: the slope of [`blended`] with respect to the argument of the sigmoid that gave `z`
    update_slope(r: out, h: input, n: input, z: input) { float same CHEAP, compact |_, h, n, z| (h - n) * (T::from_f64(1.0) - z) * z }
}
