//! Normalization and losses.

use super::reductions::in_dtype_of;
use super::scans::{log_softmax_grad, log_softmax_grad_back};
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;
use crate::layout::Dims;

derivatives! {
    /// The derivatives of normalization and of losses.
    LAYERS:

    layerNorm {
        each(t, weight, bias): |call, t, normalizedNdim: i32, weight: optional, eps: f64|
            layer_norm_back(call, t, normalizedNdim, weight, eps);
    }
    layerNormGrad {
        each(g, t, weight): |call, g, t, normalizedNdim: i32, weight: optional, eps: f64|
            layer_norm_grad_back(call, g, &Normalized::new(t, normalizedNdim, eps), weight);
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

/// Gives all wanted gradients by one call of layerNormGrad.
fn layer_norm_back<'s>(call: &Call<'s>, t: Value<'s>, normalized: i32, weight: Option<Value<'s>>, eps: f64) {
    let names = names::layerNorm::FUNCTION.signature.names;
    let inputs = ["t", "weight", "bias"].map(|name| names::place(names, name));
    let wanted = inputs.iter().enumerate().fold(0, |wanted, (k, &input)| wanted | u32::from(call.needs(input)) << k);
    let args = [in_dtype_of(t, call.g()).into(), t.into(), normalized.into(), weight.into(), eps.into()];
    let gradients: [Value<'s>; 3] = call.scope().call_for_all(&names::layerNormGrad::FUNCTION, wanted, &args);
    let wanted = inputs.iter().filter(|&&input| call.needs(input));
    wanted.zip(gradients).for_each(|(&input, gradient)| call.give(input, gradient));
}

/// Rows of `t` normalized.
struct Normalized<'s> {
    /// The dimensions of a row.
    dims: Dims,
    /// The dimensions of all rows.
    rows: Dims,
    /// `(t - mean) * scale`
    x: Value<'s>,
    /// `1 / sqrt(variance + eps)`
    scale: Value<'s>,
}

impl<'s> Normalized<'s> {
    fn new(t: Value<'s>, normalized: i32, eps: f64) -> Normalized<'s> {
        let ndim = t.ndim() as i64;
        let first = ndim - i64::from(normalized);
        let dims: Dims = (first..ndim).collect();
        let centred = t - mean_dims(t, &dims, true);
        let scale = rsqrt(mean_dims(centred * centred, &dims, true) + eps);
        Normalized { rows: (0..first).collect(), x: centred * scale, scale, dims }
    }

    fn mean(&self, t: Value<'s>) -> Value<'s> {
        mean_dims(t, &self.dims, true)
    }

    fn over_rows(&self, t: Value<'s>) -> Value<'s> {
        if self.rows.is_empty() { t } else { sum_dims(t, &self.rows, false) }
    }

    /// `h` without its mean and without its component along `x`: up to the scale, the gradient of rows before normalization. The function
    /// is self-adjoint.
    fn project(&self, h: Value<'s>) -> Value<'s> {
        h - self.mean(h) - self.x * self.mean(h * self.x)
    }
}

/// The gradients of layerNormGrad, whose results are `scale * project(g * weight)` and the sums over rows of `g * x` and of `g`.
fn layer_norm_grad_back<'s>(call: &Call<'s>, g: Value<'s>, rows: &Normalized<'s>, weight: Option<Value<'s>>) {
    let names = names::layerNormGrad::FUNCTION.signature.names;
    let at = |name| names::place(names, name);
    let [of_input, of_weight, of_bias] = ["gradInput", "gradWeight", "gradBias"].map(|name| call.grad(at(name)));
    let (x, scale) = (rows.x, rows.scale);
    let weighted = |t: Value<'s>| weight.map_or(t, |weight| t * weight);
    let projected = of_input.map(|h| rows.project(h) * scale);
    let sum = |terms: [Option<Value<'s>>; 3]| terms.into_iter().flatten().reduce(|a, b| a + b);
    let give = |name, gradient: Option<Value<'s>>| {
        if let Some(gradient) = gradient {
            call.give(at(name), gradient);
        }
    };
    if call.needs(at("g")) {
        give("g", sum([projected.map(weighted), of_weight.map(|u| x * u), of_bias.map(|v| expand(v, &x.shape()))]));
    }
    if call.needs(at("weight")) {
        give("weight", projected.map(|projected| rows.over_rows(projected * g)));
    }
    if call.needs(at("t")) {
        // Through `x`, and through the scale.
        let through_input = of_input.map(|h| {
            let wg = weighted(g);
            let of_x = -scale * (h * rows.mean(wg * x) + wg * rows.mean(h * x));
            let of_scale = rows.mean(h * rows.project(wg));
            scale * rows.project(of_x) - scale * scale * x * of_scale
        });
        give("t", sum([through_input, of_weight.map(|u| rows.project(g * u) * scale), None]));
    }
}
