//! Gradients of activation functions: the input's gradient from the result's.
//!
//! The kernels are plain loops, which need a buffer in place: a fifth of the code of loops over rows.

use super::op::operations;
use crate::cpu::engine::{CHEAP, COSTLY};
use crate::cpu::real::Real;
use crate::dtype::Element;

macro_rules! gradient_functions {
    ($do:ident $($to:tt)*) => { $do! { $($to)*
        /// `r = 0 where t <= 0, else g`: the gradient of relu. Floats only.
        reluGrad(r: out, g: input, t: input) { float same CHEAP, plain |_, g, t| if t <= T::ZERO { T::ZERO } else { g } }
        /// `r = g where t > 0, else value * g`: the gradient of leakyRelu. Floats only.
        leakyReluGrad(r: out, g: input, t: input, value: parameter) {
            float same CHEAP, plain |_, g, t| if t > T::ZERO { g } else { value.mul(g) }
        }
        /// `r = 0 where t <= minimum or t >= maximum, else g`: the gradient of hardtanh. Floats only.
        hardtanhGrad(r: out, g: input, t: input, minimum: parameter, maximum: parameter) {
            float same CHEAP, plain |_, g, t| if (t <= minimum) | (t >= maximum) { T::ZERO } else { g }
        }
        /// `r = value * e^t * g where t <= 0, else g`: the gradient of elu. Floats only.
        eluGrad(r: out, g: input, t: input, value: parameter) {
            float same COSTLY, plain |isa, g, t| {
                // Both cases are computed, because a branch would prevent vectorisation.
                let negative = value.mul(Real::exp(t, isa)).mul(g);
                if t <= T::ZERO { negative } else { g }
            }
        }
        /// `r = g / (1 + e^(-beta * t))`, or `g` where `beta * t > threshold`: the gradient of softplus. Floats only.
        softplusGrad(r: out, g: input, t: input, beta: parameter, threshold: parameter) {
            float same COSTLY, plain |isa, g, t| {
                let scaled = beta.mul(t);
                let below = g.mul(Real::sigmoid(scaled, isa));
                if scaled > threshold { g } else { below }
            }
        }
        /// `r = g * y * (1 - y)`: the gradient of sigmoid, from its result `y`. Floats only.
        sigmoidGrad(r: out, g: input, y: input) { float same CHEAP, plain |_, g, y| g.mul(T::from_f64(1.0).sub(y)).mul(y) }
        /// `r = g * (1 - y^2)`: the gradient of tanh, from its result `y`. Floats only.
        tanhGrad(r: out, g: input, y: input) {
            // A product of sum and difference, because a difference of squares loses digits if y is close to 1.
            float same CHEAP, plain |_, g, y| g.mul(T::from_f64(1.0).sub(y).mul(T::from_f64(1.0).add(y)))
        }
        /// `r = g * (Phi(t) + t * phi(t))`, with the distribution function Phi and the density phi of the standard normal distribution: the
        /// gradient of gelu. At inf and -inf the factor has its limits 1 and 0, where PyTorch gives NaN. Floats only.
        geluGrad(r: out, g: input, t: input) { float same COSTLY, plain |isa, g, t| g.mul(Real::gelu_slope(t, isa)) }
        /// `r = g * the derivative of geluTanh at t`, whose limits 1 and 0 are used at inf and -inf. Floats only.
        geluTanhGrad(r: out, g: input, t: input) { float same COSTLY, plain |isa, g, t| g.mul(Real::gelu_tanh_slope(t, isa)) }
        /// `r = g * s * (1 + t * (1 - s))` with `s = 1 / (1 + e^-t)`: the gradient of silu. At inf and -inf the factor has its limits 1 and
        /// 0, where PyTorch gives NaN. Floats only.
        siluGrad(r: out, g: input, t: input) { float same COSTLY, plain |isa, g, t| g.mul(Real::silu_slope(t, isa)) }
        /// `r = 0 where t <= -3, g where t >= 3, else g * (2 * t + 3) / 6`: the gradient of hardswish. Floats only.
        hardswishGrad(r: out, g: input, t: input) {
            float same CHEAP, plain |_, g, t| {
                let middle = (t + t + 3.0) / 6.0 * g;
                let from_below = if t >= T::from_f64(3.0) { g } else { middle };
                if t <= T::from_f64(-3.0) { T::ZERO } else { from_below }
            }
        }
    } };
}
pub(crate) use gradient_functions;

gradient_functions!(operations GRADIENTS;);
