//! Losses, normalization and gradients.

use crate::api::table::table;
use crate::ops::layer_norm::{self, Gradients};
use crate::ops::loss::{self, Targets};
use crate::ops::softmax;

macro_rules! layer_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `r = y * (g - sum of g * y)` along `dimension`: the gradient of softmax, from its result `y`. Both have one shape and one dtype,
        /// a float.
        softmaxGrad(r: out, g: input, y: input, dimension: dim) = softmax::softmax_gradient(r, g, y, dimension);
        /// `r = g - e^y * sum of g` along `dimension`: the gradient of logSoftmax, from its result `y`. Both have one shape and one dtype,
        /// a float.
        logSoftmaxGrad(r: out, g: input, y: input, dimension: dim) = softmax::log_softmax_gradient(r, g, y, dimension);

        /// `r = (t - mean) / sqrt(variance + eps) * weight + bias`, with mean and variance, the biased one, over the last `normalizedNdim`
        /// dimensions of `t`, 1 at least. `weight` and `bias` have the sizes of these dimensions and the dtype of `t`, or float32 beside
        /// 16-bit floats; NULL stands for 1 and
        /// 0. Floats only; computed in float32 or float64, with sums in float64.
        layerNorm(r: out, t: input, normalizedNdim: int, weight: optional_input, bias: optional_input, eps: double) =
            layer_norm::layer_norm(r, t, normalizedNdim, weight, bias, eps);
        /// The gradients of layerNorm from `g`, that of its result: `gradInput` that of `t`, `gradWeight` and `gradBias` those of `weight`
        /// and `bias`, of the dtype of `weight` or else of `t`. Each of the three may be NULL. The other arguments are those of layerNorm;
        /// with the `n` elements of a row, `x` = the row normalized and `h = g * weight`, `gradInput = (h - mean of h - x * mean of (h *
        /// x)) / sqrt(variance + eps)`, and over all rows `gradWeight = sum of g * x`, `gradBias = sum of g`.
        layerNormGrad(gradInput: optional_out, gradWeight: optional_out, gradBias: optional_out, g: input, t: input, normalizedNdim: int,
            weight: optional_input, eps: double) =
            layer_norm::layer_norm_gradient(Gradients { input: gradInput, weight: gradWeight, bias: gradBias }, g, t, normalizedNdim,
                weight, eps);

        /// `r = -weight[c] * t[c]` for each position, `c` being its class in `target`: the loss of log-probabilities `t`, which logSoftmax
        /// makes, of shape `[classes]`, `[batch, classes]` or `[batch, classes, sizes...]`. Floats only; sums in float64.
        ///
        /// `target`, int64 or int32, has the shape of `t` without the classes. A class that is not in `t` is an error, but `ignoreIndex`,
        /// whose positions have the loss 0 and do not count; -100 is usual. `weight` has a factor for each class, of the dtype of `t` or
        /// float32 beside 16-bit floats; NULL stands for 1. With `TH_REDUCTION_NONE` the result has the shape of `target`, else it is a
        /// scalar.
        nllLoss(r: out, t: input, target: index, weight: optional_input, reduction: reduction, ignoreIndex: entry) =
            loss::nll(r, t, Targets { target, weight, reduction, ignored: ignoreIndex });
        /// `r = -g * weight[c]` at the class `c` of each position, and 0 elsewhere; with `TH_REDUCTION_MEAN` divided by the sum of the
        /// weights: the gradient of nllLoss. Of `t` the shape counts alone, `g` has the shape of the loss, and its dtype is that of `r`.
        /// The other arguments are those of nllLoss.
        nllLossGrad(r: out, g: input, t: input, target: index, weight: optional_input, reduction: reduction, ignoreIndex: entry) =
            loss::nll_gradient(r, g, t, Targets { target, weight, reduction, ignored: ignoreIndex });
        /// nllLoss of `logSoftmax(t)` along the classes: the loss of scores `t`, from the logarithms before they are rounded to 16 bits.
        /// All else is as for nllLoss.
        crossEntropy(r: out, t: input, target: index, weight: optional_input, reduction: reduction, ignoreIndex: entry) =
            loss::cross_entropy(r, t, Targets { target, weight, reduction, ignored: ignoreIndex });
        /// `r = g * weight[c] * (softmax(t) - 1 at the class c of each position)`, and 0 where the position does not count; with
        /// `TH_REDUCTION_MEAN` divided by the sum of the weights: the gradient of crossEntropy. `g` has the shape of the loss and the dtype
        /// of `t`. The other arguments are those of nllLoss.
        crossEntropyGrad(r: out, g: input, t: input, target: index, weight: optional_input, reduction: reduction, ignoreIndex: entry) =
            loss::cross_entropy_gradient(r, g, t, Targets { target, weight, reduction, ignored: ignoreIndex });
    } };
}

layer_functions!(table);
pub(crate) use layer_functions as functions;
