//! L-BFGS: a quasi-Newton method that stores the last few differences of gradients.
//!
//! The inverse Hessian is approximated from the last pairs of steps and differences of gradients (Nocedal and Wright, Numerical
//! Optimization, algorithms 7.4 and 3.5). All parameters together form one vector.

use super::options::Lbfgs;
use crate::error::Result;
use crate::ops::loss::made;
use crate::ops::matmul::forms::dot;
use crate::ops::pointwise::arithmetic::{cadd, csub, mul, neg};
use crate::ops::reduce::{self, Over};
use crate::ops::{copy, create, join, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use std::collections::VecDeque;

/// Computes the loss and the gradient of each parameter. A parameter may have no gradient.
pub type Evaluate<'a> = dyn FnMut() -> Result<(f64, Vec<Option<Tensor>>)> + 'a;

/// The state between steps.
#[derive(Default)]
pub struct State {
    /// The number of evaluations in all steps.
    pub evaluations: i64,
    /// The number of iterations in all steps.
    pub iterations: i64,
    /// The state at the end of the last iteration; `None` before the first iteration.
    pub memory: Option<Memory>,
}

/// The state at the end of the last iteration.
pub struct Memory {
    /// The direction of the last iteration.
    pub direction: Tensor,
    /// The length of the step, in units of `direction`.
    pub length: f64,
    /// The last steps, the latest one at the end.
    pub pairs: VecDeque<Pair>,
    /// The factor of the identity with which the inverse Hessian begins.
    pub scale: f64,
    /// The gradient at the beginning of the last iteration.
    pub gradient: Tensor,
    /// The loss at the beginning of the last iteration.
    pub loss: f64,
}

/// A step, and the difference of the gradients at its ends.
pub struct Pair {
    /// The difference of the parameters.
    pub step: Tensor,
    /// The difference of the gradients.
    pub change: Tensor,
    /// The reciprocal of the product of `step` and `change`.
    pub inverse: f64,
}

/// A point of the line search.
#[derive(Clone)]
struct Place {
    at: f64,
    loss: f64,
    gradient: Tensor,
    slope: f64,
}

/// The loss must fall by this fraction of the slope (Armijo's condition).
const DECREASE: f64 = 1e-4;
/// This fraction of the slope may remain (the curvature condition).
const CURVATURE: f64 = 0.9;
/// The largest number of points of a line search.
const MOST_PLACES: usize = 25;
/// The search ends if the interval is shorter than this, in units of the largest entry of the direction.
const LEAST_INTERVAL: f64 = 1e-9;

fn product(a: &Tensor, b: &Tensor) -> Result<f64> {
    Ok(copy::item(&made(|r| dot(r, a, b))?)?.to_f64())
}

/// The norm of order `p`; 0 without elements.
fn norm(t: &Tensor, p: f64) -> Result<f64> {
    if t.layout()?.numel() == 0 { Ok(0.0) } else { reduce::number(|to| reduce::norm(to, t, p, Over::Dims(&[]), None)) }
}

fn negative(t: &Tensor) -> Result<Tensor> {
    made(|r| neg.run([r, t], &[]))
}

/// Returns the elements of all tensors as one vector.
pub fn flat(tensors: &[Tensor]) -> Result<Tensor> {
    let parts = tensors.iter().map(|t| view::reshape(t, &[t.layout()?.numel()])).collect::<Result<Vec<_>>>()?;
    made(|r| join::cat(r, &parts.iter().collect::<Vec<_>>(), 0))
}

/// All parameters as one vector.
struct Line<'a, 'e> {
    params: &'a [Tensor],
    evaluate: &'a mut Evaluate<'e>,
}

impl Line<'_, '_> {
    /// The loss and the gradient at the current parameters.
    fn here(&mut self) -> Result<(f64, Tensor)> {
        let (loss, gradients) = (self.evaluate)()?;
        let whole = |(p, gradient): (&Tensor, &Option<Tensor>)| match gradient {
            Some(gradient) => Ok(gradient.clone()),
            None => create::full_like(p, Scalar::Int(0)),
        };
        let parts = self.params.iter().zip(&gradients).map(whole).collect::<Result<Vec<_>>>()?;
        Ok((loss, flat(&parts)?))
    }

    /// Adds `length * direction` to the parameters.
    fn go(&self, length: f64, direction: &Tensor) -> Result<()> {
        let mut first = 0;
        for p in self.params {
            let (shape, size) = (p.layout()?.shape, p.layout()?.numel());
            let part = view::reshape(&view::derive(direction, |layout| layout.narrow(0, first, size))?, &shape)?;
            cadd(p, p, length.into(), &part)?;
            first += size;
        }
        Ok(())
    }

    /// Evaluates the point at distance `at` from `start`. The parameters are at `start` before and afterwards.
    fn look(&mut self, start: &[Tensor], at: f64, direction: &Tensor) -> Result<Place> {
        self.go(at, direction)?;
        let found = self.here();
        for (p, start) in self.params.iter().zip(start) {
            copy::copy(p, start)?;
        }
        let (loss, gradient) = found?;
        Ok(Place { at, loss, slope: product(&gradient, direction)?, gradient })
    }

    /// Finds a point at which the strong Wolfe conditions hold, beginning with the guess `at`. Also returns the number of evaluated points.
    fn search(&mut self, from: &Place, at: f64, direction: &Tensor) -> Result<(Place, i64)> {
        let start = self.params.iter().map(|p| made(|r| copy::copy(r, p))).collect::<Result<Vec<_>>>()?;
        let too_high = |place: &Place| place.loss > from.loss + DECREASE * place.at * from.slope;
        let flat = |place: &Place| place.slope.abs() <= -CURVATURE * from.slope;
        let (mut before, mut now) = (from.clone(), self.look(&start, at, direction)?);
        let (mut looked, mut round) = (1, 0);
        let (mut low, mut high) = loop {
            if round == MOST_PLACES {
                break (from.clone(), now);
            }
            if too_high(&now) || (round > 1 && now.loss >= before.loss) || (now.slope >= 0.0 && !flat(&now)) {
                break (before, now);
            }
            if flat(&now) {
                return Ok((now, looked));
            }
            let bounds = (now.at + 0.01 * (now.at - before.at), now.at * 10.0);
            let next = least_of_cubic(&before, &now, bounds);
            before = now;
            now = self.look(&start, next, direction)?;
            (looked, round) = (looked + 1, round + 1);
        };
        if low.loss > high.loss {
            std::mem::swap(&mut low, &mut high);
        }
        let (largest, mut stuck) = (norm(direction, f64::INFINITY)?, false);
        while round < MOST_PLACES && (high.at - low.at).abs() * largest >= LEAST_INTERVAL {
            let (left, right) = (low.at.min(high.at), low.at.max(high.at));
            // The order of the two ends does not matter, because the cubic is the same.
            let mut at = least_of_cubic(&low, &high, (left, right));
            let margin = 0.1 * (right - left);
            if (right - at).min(at - left) < margin {
                let inside = at > left && at < right;
                if stuck || !inside {
                    at = if (at - right).abs() < (at - left).abs() { right - margin } else { left + margin };
                    stuck = false;
                } else {
                    stuck = true;
                }
            } else {
                stuck = false;
            }
            let place = self.look(&start, at, direction)?;
            (looked, round) = (looked + 1, round + 1);
            if too_high(&place) || place.loss >= low.loss {
                high = place;
                if low.loss > high.loss {
                    std::mem::swap(&mut low, &mut high);
                }
                continue;
            }
            if flat(&place) {
                return Ok((place, looked));
            }
            if place.slope * (high.at - low.at) >= 0.0 {
                high = low;
            }
            low = place;
        }
        Ok((low, looked))
    }
}

/// The minimum, within bounds, of the cubic through two points with their slopes; the middle of the bounds if the cubic has no minimum.
fn least_of_cubic(a: &Place, b: &Place, (least, most): (f64, f64)) -> f64 {
    let (a, b) = if a.at <= b.at { (a, b) } else { (b, a) };
    let d1 = a.slope + b.slope - 3.0 * (a.loss - b.loss) / (a.at - b.at);
    let square = d1 * d1 - a.slope * b.slope;
    if square.is_nan() || square < 0.0 {
        return (least + most) / 2.0;
    }
    let d2 = square.sqrt();
    let at = b.at - (b.at - a.at) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2));
    at.max(least).min(most)
}

impl State {
    /// Makes at most `most_iterations` steps, each along a new direction.
    pub fn step(&mut self, options: &Lbfgs, params: &[Tensor], lr: f64, evaluate: &mut Evaluate<'_>) -> Result<()> {
        let mut line = Line { params, evaluate };
        let (mut loss, mut gradient) = line.here()?;
        let before_step = self.evaluations;
        self.evaluations += 1;
        if loss.is_nan() || norm(&gradient, f64::INFINITY)? <= options.least_gradient {
            return Ok(());
        }
        for iteration in 1..=options.most_iterations {
            self.iterations += 1;
            let first = self.memory.is_none();
            let direction = self.direction(&gradient, options.history)?;
            let mut length = if first { (1.0 / norm(&gradient, 1.0)?).min(1.0) * lr } else { lr };
            let slope = product(&gradient, &direction)?;
            let before = Place { at: 0.0, loss, gradient: gradient.clone(), slope };
            self.remember(&direction, length, &before);
            // If the gradient has a NaN, the slope is NaN.
            if slope.is_nan() || slope > -options.least_change {
                break;
            }
            if options.line_search {
                let (place, looked) = line.search(&before, length, &direction)?;
                (length, loss, gradient) = (place.at, place.loss, place.gradient);
                line.go(length, &direction)?;
                self.remember(&direction, length, &before);
                self.evaluations += looked;
            } else {
                line.go(length, &direction)?;
                if iteration == options.most_iterations {
                    break;
                }
                (loss, gradient) = line.here()?;
                self.evaluations += 1;
            }
            // Comparisons with NaN are false, so that only the first test ends the step for a NaN loss.
            let is_done = loss.is_nan()
                || self.evaluations - before_step >= options.most_evaluations
                || norm(&gradient, f64::INFINITY)? <= options.least_gradient
                || norm(&direction, f64::INFINITY)? * length.abs() <= options.least_change
                || (loss - before.loss).abs() < options.least_change;
            if is_done {
                break;
            }
        }
        Ok(())
    }

    /// Stores the state for the next iteration. `from` is the place where the iteration began.
    fn remember(&mut self, direction: &Tensor, length: f64, from: &Place) {
        let (pairs, scale) = self.memory.take().map_or((VecDeque::new(), 1.0), |memory| (memory.pairs, memory.scale));
        let (gradient, loss) = (from.gradient.clone(), from.loss);
        self.memory = Some(Memory { direction: direction.clone(), length, pairs, scale, gradient, loss });
    }

    /// The direction of the next step: the negative gradient in the first iteration, later times the inverse Hessian.
    fn direction(&mut self, gradient: &Tensor, history: i64) -> Result<Tensor> {
        let Some(memory) = &mut self.memory else { return negative(gradient) };
        let change = made(|r| csub(r, gradient, Scalar::Int(1), &memory.gradient))?;
        let step = made(|r| mul.run([r, &memory.direction], &[memory.length.into()]))?;
        let along = product(&change, &step)?;
        if along > 1e-10 {
            while memory.pairs.len() as i64 >= history {
                memory.pairs.pop_front();
            }
            memory.scale = along / product(&change, &change)?;
            memory.pairs.push_back(Pair { step, change, inverse: 1.0 / along });
        }
        let r = negative(gradient)?;
        let mut shares = Vec::with_capacity(memory.pairs.len());
        for pair in memory.pairs.iter().rev() {
            let share = product(&pair.step, &r)? * pair.inverse;
            cadd(&r, &r, (-share).into(), &pair.change)?;
            shares.push(share);
        }
        mul.run([&r, &r], &[memory.scale.into()])?;
        for (pair, share) in memory.pairs.iter().zip(shares.iter().rev()) {
            let back = product(&pair.change, &r)? * pair.inverse;
            cadd(&r, &r, (share - back).into(), &pair.step)?;
        }
        Ok(r)
    }
}
