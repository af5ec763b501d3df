//! Elementwise losses before the reduction. `ops::losses` checks their parameters.

use super::op::operations;
use crate::cpu::engine::{CHEAP, COSTLY};
use crate::cpu::real::Real;
use crate::dtype::Element;

operations! {
    LOSSES;
    /// `r = (a - b)^2`
    squared(r: out, a: input, b: input) { float same CHEAP, |_, a, b| { let d = a - b; d * d } }
    /// `r = |a - b|`
    distance(r: out, a: input, b: input) { float same CHEAP, |_, a, b| Element::abs(a - b) }
    /// `r = d^2 / (2 beta) where d < beta, else d - beta / 2`, for `d = |a - b|`
    smooth(r: out, a: input, b: input, beta: parameter) {
        float same CHEAP, compact |_, a, b| {
            let d = Element::abs(a - b);
            let half = T::from_f64(0.5);
            if d < beta { half * d * d / beta } else { d - half * beta }
        }
    }
    /// `r = d^2 / 2 where d < delta, else delta * (d - delta / 2)`, for `d = |a - b|`
    huber(r: out, a: input, b: input, delta: parameter) {
        float same CHEAP, compact |_, a, b| {
            let d = Element::abs(a - b);
            let half = T::from_f64(0.5);
            if d < delta { half * d * d } else { delta * (d - half * delta) }
        }
    }
    /// `r = b * log(1 + e^-a) + (1 - b) * log(1 + e^a)`: the cross entropy of the probability `sigmoid(a)` for the truth `b`
    logits(r: out, a: input, b: input) {
        float same COSTLY, compact |isa, a, b| {
            let down = if a > T::ZERO { a.neg() } else { a };
            let tail = Real::softplus(down, T::from_f64(1.0), T::from_f64(1e300), isa);
            let own = if a > T::ZERO { tail } else { tail - a };
            let other = if a > T::ZERO { tail + a } else { tail };
            let rest = T::from_f64(1.0) - b;
            // A term of weight 0 is 0, even if its factor is infinite.
            let own = if b == T::ZERO { b } else { b * own };
            let other = if rest == T::ZERO { rest } else { rest * other };
            own + other
        }
    }
    /// [`logits`] with the factor `p` for the first term
    weighted_logits(r: out, a: input, b: input, p: input) {
        float same COSTLY, compact |isa, a, b, p| {
            let down = if a > T::ZERO { a.neg() } else { a };
            let tail = Real::softplus(down, T::from_f64(1.0), T::from_f64(1e300), isa);
            let own = if a > T::ZERO { tail } else { tail - a };
            let other = if a > T::ZERO { tail + a } else { tail };
            let share = p * b;
            let rest = T::from_f64(1.0) - b;
            let own = if share == T::ZERO { share } else { share * own };
            let other = if rest == T::ZERO { rest } else { rest * other };
            own + other
        }
    }
    /// `r = b * (log(b) - a)`: the divergence of a probability `b` from one whose logarithm is `a`; `b * log(b)` is 0 if `b` is 0
    divergence(r: out, a: input, b: input) {
        float same COSTLY, compact |isa, a, b| {
            let own = b * Real::log(b, isa);
            let own = if b == T::ZERO { T::ZERO } else { own };
            own - b * a
        }
    }
    /// [`divergence`] if `b` is a logarithm, too
    log_divergence(r: out, a: input, b: input) { float same COSTLY, compact |isa, a, b| Real::exp(b, isa) * (b - a) }
    /// `r = (t - mean) * scale`, computed from halves if the difference overflows
    standardized(r: out, t: input, mean: input, scale: input) {
        float same CHEAP, compact |_, t, mean, scale| {
            let difference = t - mean;
            let half = T::from_f64(0.5);
            let halves = (half * t - half * mean) * scale;
            if Element::abs(difference) == T::from_f64(f64::INFINITY) { halves + halves } else { difference * scale }
        }
    }
    /// `r` = a power of 2 that keeps squares of elements up to magnitude `t` from overflowing: 1 unless `t` is large
    shrinking(r: out, t: input) {
        float same CHEAP, |_, t| if t > T::from_f64(1e150) { T::from_f64(2.7133285516175262e-166) } else { T::from_f64(1.0) }
    }
}
