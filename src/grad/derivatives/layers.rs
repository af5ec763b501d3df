//! Normalization and losses.

use super::moves::{pad, windows};
use super::reductions::in_dtype_of;
use super::scans::{log_softmax_grad, log_softmax_grad_back};
use crate::api::function::Function;
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;
use crate::layout::Dims;
use crate::ops::rearrange::TH_PAD_CONSTANT;
use smallvec::SmallVec;

derivatives! {
    /// The derivatives of normalization and of losses.
    LAYERS:

    layerNorm {
        each(t, weight, bias): |call, t, normalizedNdim: i32, weight: optional, eps: f64|
            norm_back(call, (&names::layerNorm::FUNCTION, &names::layerNormGrad::FUNCTION), t, (normalizedNdim.into(), eps), weight);
    }
    layerNormGrad {
        each(g, t, weight): |call, g, t, normalizedNdim: i32, weight: optional, eps: f64|
            norm_grad_back(call, &names::layerNormGrad::FUNCTION, g, &Normalized::last(t, normalizedNdim, eps, true), weight);
    }
    rmsNorm {
        each(t, weight): |call, t, normalizedNdim: i32, weight: optional, eps: f64|
            norm_back(call, (&names::rmsNorm::FUNCTION, &names::rmsNormGrad::FUNCTION), t, (normalizedNdim.into(), eps), weight);
    }
    rmsNormGrad {
        each(g, t, weight): |call, g, t, normalizedNdim: i32, weight: optional, eps: f64|
            norm_grad_back(call, &names::rmsNormGrad::FUNCTION, g, &Normalized::last(t, normalizedNdim, eps, false), weight);
    }
    groupNorm {
        each(t, weight, bias): |call, t, numGroups: i64, weight: optional, eps: f64|
            norm_back(call, (&names::groupNorm::FUNCTION, &names::groupNormGrad::FUNCTION), t, (numGroups.into(), eps), weight);
    }
    groupNormGrad {
        each(g, t, weight): |call, g, t, numGroups: i64, weight: optional, eps: f64|
            norm_grad_back(call, &names::groupNormGrad::FUNCTION, g, &Normalized::groups(t, numGroups, eps), weight);
    }
    instanceNorm {
        each(t, weight, bias): |call, t, weight: optional, eps: f64| {
            let groups = t.shape().get(1).map_or(1, |&channels| channels.max(1));
            norm_back(call, (&names::instanceNorm::FUNCTION, &names::groupNormGrad::FUNCTION), t, (groups.into(), eps), weight)
        };
    }
    localResponseNorm {
        t: |g, t, size: i64, alpha: f64, beta: f64, k: f64| {
            let (t, factor, [before, behind]) = (wide(t), alpha / size as f64, [size / 2, (size - 1) / 2]);
            let g = wide(g);
            let base = sums_of_channels(t * t, [before, behind]) * factor + k;
            let through_sums = sums_of_channels(g * t * power(base, -beta - 1.0), [behind, before]);
            g * power(base, -beta) - t * through_sums * (2.0 * beta * factor)
        };
    }

    nllLoss {
        t: |g, t: like, target, weight: optional, reduction: i32, ignoreIndex: i64|
            Loss { target, weight, reduction, ignore: ignoreIndex }.back(g, &t);
    }
    nllLossGrad {
        g: |h, target, weight: optional, reduction: i32, ignoreIndex: i64| Loss { target, weight, reduction, ignore: ignoreIndex }.of(h);
        t: |h, t: like| zeros(h, &t);
    }
    crossEntropy {
        t: |g, t, target, weight: optional, reduction: i32, ignoreIndex: i64| {
            let g = in_dtype_of(t, g);
            let loss = [g.into(), t.into(), target.into(), weight.into(), reduction.into(), ignoreIndex.into()];
            g.scope.call(&names::crossEntropyGrad::FUNCTION, &loss)
        };
    }
    // It is logSoftmaxGrad of nllLossGrad.
    crossEntropyGrad {
        g: |h, t, target, weight: optional, reduction: i32, ignoreIndex: i64| {
            let classes = class_dim(t.ndim());
            let loss = Loss { target, weight, reduction, ignore: ignoreIndex };
            loss.of(log_softmax_grad_back(in_dtype_of(t, h), log_softmax(t, classes), classes))
        };
        t: |h, g, t, target, weight: optional, reduction: i32, ignoreIndex: i64| {
            let classes = class_dim(t.ndim());
            let loss = Loss { target, weight, reduction, ignore: ignoreIndex };
            let y = log_softmax(t, classes);
            log_softmax_grad(-h * exp(y) * sum(loss.back(g, &t.like()), classes, true), y, classes)
        };
    }
}

/// The dimension of the classes.
fn class_dim(ndim: usize) -> i32 {
    i32::from(ndim > 1)
}

fn log_softmax(t: Value<'_>, dimension: i32) -> Value<'_> {
    t.scope.call(&names::logSoftmax::FUNCTION, &[t.into(), dimension.into()])
}

/// A loss as a linear function of log-probabilities.
struct Loss<'s> {
    target: Value<'s>,
    weight: Option<Value<'s>>,
    reduction: i32,
    ignore: i64,
}

impl<'s> Loss<'s> {
    /// The loss of `t`.
    fn of(&self, t: Value<'s>) -> Value<'s> {
        let loss = [t.into(), self.target.into(), self.weight.into(), self.reduction.into(), self.ignore.into()];
        t.scope.call(&names::nllLoss::FUNCTION, &loss)
    }

    /// The gradient of log-probabilities `t`, of which the shape counts alone.
    fn back(&self, g: Value<'s>, t: &Like) -> Value<'s> {
        let g = if g.dtype() == t.dtype { g } else { to_dtype(g, t.dtype) };
        let shape = expand(zeros(g, &Like { shape: Dims::new(), ..t.clone() }), &t.shape);
        let loss = [g.into(), shape.into(), self.target.into(), self.weight.into(), self.reduction.into(), self.ignore.into()];
        g.scope.call(&names::nllLossGrad::FUNCTION, &loss)
    }
}

/// For each channel, the sum over the channels from `before` ones before to `behind` ones after. Channels are the second dimension.
fn sums_of_channels(t: Value<'_>, [before, behind]: [i64; 2]) -> Value<'_> {
    let pads: Dims = (2..t.ndim()).flat_map(|_| [0, 0]).chain([before, behind]).collect();
    sum(windows(pad(t, &pads, TH_PAD_CONSTANT), 1, before + behind + 1, 1), -1, false)
}

/// Gives all wanted gradients of a normalization by one call of the function for its gradients. `form` is the argument after `t`.
fn norm_back<'s>(
    call: &Call<'s>,
    (function, gradient): (&'static Function, &'static Function),
    t: Value<'s>,
    (form, eps): (In<'s, '_>, f64),
    weight: Option<Value<'s>>,
) {
    let names = function.signature.names;
    let inputs: SmallVec<[usize; 3]> = ["t", "weight", "bias"].iter().filter_map(|name| names::find(names, name)).collect();
    let wanted = inputs.iter().enumerate().fold(0, |wanted, (k, &input)| wanted | u32::from(call.needs(input)) << k);
    let args = [in_dtype_of(t, call.g()).into(), t.into(), form, weight.into(), eps.into()];
    let gradients: [Value<'s>; 3] = call.scope().call_for_all(gradient, wanted, &args);
    let wanted = inputs.iter().filter(|&&input| call.needs(input));
    wanted.zip(gradients).for_each(|(&input, gradient)| call.give(input, gradient));
}

/// Rows of `t` normalized.
struct Normalized<'s> {
    /// The shape of all elements, with separate dimensions for rows and for equal weights.
    shape: Dims,
    /// The shape of the weights, which broadcasts to `shape`.
    weights: Dims,
    /// The dimensions of a row.
    dims: Dims,
    /// The dimensions along which elements have the same weight.
    repeated: Dims,
    /// True if the mean is subtracted.
    centred: bool,
    /// `(t - mean) * scale`
    x: Value<'s>,
    /// `1 / sqrt(variance + eps)`
    scale: Value<'s>,
}

impl<'s> Normalized<'s> {
    /// Rows of the last dimensions.
    fn last(t: Value<'s>, normalized: i32, eps: f64, centred: bool) -> Normalized<'s> {
        let (shape, ndim) = (t.shape(), t.ndim() as i64);
        let first = ndim - i64::from(normalized);
        let weights = Dims::from(&shape[first as usize..]);
        Normalized::new(t, [shape, weights, (first..ndim).collect(), (0..first).collect()], eps, centred)
    }

    /// Rows of groups of channels.
    fn groups(t: Value<'s>, groups: i64, eps: f64) -> Normalized<'s> {
        let shape = t.shape();
        let (channels, span) = (shape[1] / groups, shape[2..].iter().product::<i64>());
        let apart = Dims::from(&[shape[0], groups, channels, span]);
        Normalized::new(
            reshape(t, &apart),
            [apart, Dims::from(&[groups, channels, 1]), Dims::from(&[2, 3]), Dims::from(&[0, 3])],
            eps,
            true,
        )
    }

    fn new(t: Value<'s>, [shape, weights, dims, repeated]: [Dims; 4], eps: f64, centred: bool) -> Normalized<'s> {
        let off = if centred { t - mean_dims(t, &dims, true) } else { t };
        let scale = rsqrt(mean_dims(off * off, &dims, true) + eps);
        Normalized { shape, weights, repeated, centred, x: off * scale, scale, dims }
    }

    fn mean(&self, t: Value<'s>) -> Value<'s> {
        mean_dims(t, &self.dims, true)
    }

    /// The sums of the elements that have the same weight.
    fn by_weight(&self, t: Value<'s>) -> Value<'s> {
        if self.repeated.is_empty() { t } else { sum_dims(t, &self.repeated, false) }
    }

    /// `h` without its mean, if rows are centred, and without its component along `x`: up to the scale, the gradient of rows before
    /// normalization. The function is self-adjoint.
    fn project(&self, h: Value<'s>) -> Value<'s> {
        let off = if self.centred { h - self.mean(h) } else { h };
        off - self.x * self.mean(h * self.x)
    }
}

/// The gradients of the function `gradient`, whose results are `scale * project(g * weight)` and the sums of `g * x` and of `g` over the
/// elements of each weight.
fn norm_grad_back<'s>(call: &Call<'s>, gradient: &'static Function, g: Value<'s>, rows: &Normalized<'s>, weight: Option<Value<'s>>) {
    let names = gradient.signature.names;
    let at = |name| names::place(names, name);
    let result = |name| names::find(names, name).and_then(|at| call.grad(at));
    let (elements, weights) = (|t: Value<'s>| reshape(t, &rows.shape), |t: Value<'s>| reshape(t, &rows.weights));
    let of_input = result("gradInput").map(elements);
    let [of_weight, of_bias] = ["gradWeight", "gradBias"].map(|name| result(name).map(weights));
    let (x, scale, shape, given) = (rows.x, rows.scale, g.shape(), weight);
    let (g, weight) = (elements(g), weight.map(weights));
    let weighted = |t: Value<'s>| weight.map_or(t, |weight| t * weight);
    let projected = of_input.map(|h| rows.project(h) * scale);
    let sum = |terms: [Option<Value<'s>>; 3]| terms.into_iter().flatten().reduce(|a, b| a + b);
    let give = |name, shape: &Dims, gradient: Option<Value<'s>>| {
        if let Some(gradient) = gradient {
            call.give(at(name), reshape(gradient, shape));
        }
    };
    if call.needs(at("g")) {
        give("g", &shape, sum([projected.map(weighted), of_weight.map(|u| x * u), of_bias.map(|v| expand(v, &rows.shape))]));
    }
    if let Some(given) = given.filter(|_| call.needs(at("weight"))) {
        give("weight", &given.shape(), projected.map(|projected| rows.by_weight(projected * g)));
    }
    if call.needs(at("t")) {
        // Through `x`, and through the scale.
        let through_input = of_input.map(|h| {
            let wg = weighted(g);
            let of_x = -scale * (h * rows.mean(wg * x) + wg * rows.mean(h * x));
            let of_scale = rows.mean(h * rows.project(wg));
            scale * rows.project(of_x) - scale * scale * x * of_scale
        });
        give("t", &shape, sum([through_input, of_weight.map(|u| rows.project(g * u) * scale), None]));
    }
}
