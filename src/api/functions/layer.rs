//! Losses, normalization and gradients.

use crate::api::generator::with;
use crate::api::table::table;
use crate::ops::attention::{self, Options, Saved};
use crate::ops::layer_norm::{self, Gradients};
use crate::ops::loss::{self, Targets};
use crate::ops::response_norm;
use crate::ops::softmax;

macro_rules! layer_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `r = y * (g - sum of g * y)` along `dimension`: the gradient of softmax, computed from its result `y` and the gradient `g` of
        /// the result. `g` and `y` have the same shape and the same dtype, a float.
        softmaxGrad(r: out, g: input, y: input, dimension: dim) = softmax::softmax_gradient(r, g, y, dimension);
        /// `r = g - e^y * sum of g` along `dimension`: the gradient of logSoftmax, computed from its result `y` and the gradient `g` of the
        /// result. `g` and `y` have the same shape and the same dtype, a float.
        logSoftmaxGrad(r: out, g: input, y: input, dimension: dim) = softmax::log_softmax_gradient(r, g, y, dimension);

        /// `r = (t - mean) / sqrt(variance + eps) * weight + bias`, with mean and biased variance over the last `normalizedNdim` dimensions
        /// of `t`, at least 1. `weight` and `bias` have the sizes of these dimensions and the dtype of `t`, or float32 if `t` is a 16-bit
        /// float; NULL means 1 and 0. Floats only; computed in float32 or float64, with sums in float64.
        layerNorm(r: out, t: input, normalizedNdim: int, weight: optional_input, bias: optional_input, eps: double) =
            layer_norm::layer_norm(r, t, normalizedNdim, [weight, bias], eps);
        /// The gradients of layerNorm, computed from the gradient `g` of its result: `gradInput` of `t`, `gradWeight` of `weight` and
        /// `gradBias` of `bias`. The last two have the dtype of `weight`, or of `t` if `weight` is NULL. Each of the three results may be
        /// NULL. The other arguments are as for layerNorm.
        ///
        /// With `x` = the normalized elements of a row, `h = g * weight`, and means over a row: `gradInput = (h - mean of h - x * mean of
        /// (h * x)) / sqrt(variance + eps)`. Summed over all rows: `gradWeight = sum of g * x` and `gradBias = sum of g`.
        layerNormGrad(gradInput: optional_out, gradWeight: optional_out, gradBias: optional_out, g: input, t: input, normalizedNdim: int,
            weight: optional_input, eps: double) =
            layer_norm::layer_norm_gradient(Gradients { input: gradInput, weight: gradWeight, bias: gradBias }, g, t, normalizedNdim,
                weight, eps);

        /// `r = softmax(query @ key^T * scale + mask) @ value` along the last dimension: attention of `L` rows of `query` to `S` rows of
        /// `key` and `value`. Shapes: `query` is `[batch..., H, L, E]`, `key` is `[batch..., H, S, E]`, `value` is `[batch..., H, S, Ev]`,
        /// and `r` is `[batch..., H, L, Ev]`. Dimensions before the last two broadcast, and may be absent. Floats of one dtype only;
        /// 16-bit floats are computed in float32.
        ///
        /// `mask` broadcasts to `[batch..., H, L, S]`. A Bool mask excludes the positions that are false. Other masks have the dtype of
        /// `query`, or float32 if `query` is a 16-bit float, and are added. NULL means no mask. With `causal`, row `i` excludes the columns
        /// after `i`; `mask` must be NULL then. A row that excludes all columns has the result 0. The factor `scale` is `1 / sqrt(E)` if 0
        /// is given. With `enableGqa`, `key` and `value` may have fewer heads, `H / n` for a whole `n`: each serves `n` heads of `query`,
        /// one after the other.
        ///
        /// Each weight becomes 0 with probability `p`, and the other weights are divided by `1 - p`. The weights that become 0 are a
        /// function of a seed, which is drawn from `generator` if `p` is greater than 0.
        ///
        /// The memory does not grow with `L * S`, because the weights are computed by blocks (Milakov and Gimelshein 2018; Dao et al.
        /// 2022). `logSumExp` and `seed` are for scaledDotProductAttentionGrad, and may be NULL. `logSumExp` receives the logarithm of the
        /// sum of exponentials of each row, `[batch..., H, L]`, in the dtype of the computation; minus infinity for a row that excludes
        /// all columns. `seed` receives the seed as int64, or 0.
        scaledDotProductAttention(r: out, logSumExp: optional_out, seed: optional_totals, generator: generator, query: input, key: input,
            value: input, mask: optional_input, p: double, causal: flag, scale: double, enableGqa: flag) =
            with(generator, |g| attention::attention(r, Saved { logs: logSumExp, seed }, g, [query, key, value],
                Options { mask, p, causal, scale, grouped: enableGqa }));
        /// The gradients of scaledDotProductAttention, from the gradient `g` of its result `y`, and the gradient `gLogSumExp` of
        /// `logSumExp`, or NULL: `gradQuery` of `query`, `gradKey` of `key`, `gradValue` of `value`, and `gradMask` of a mask that is not
        /// Bool. Each of the four results may be NULL, and has the shape and the dtype of its operand. `y`, `logSumExp` and `seed` are
        /// results of scaledDotProductAttention; `seed` may be NULL if `p` is 0. The other arguments are as for scaledDotProductAttention.
        ///
        /// With the weights `w`, which are computed again by blocks, the weights `d` after dropout, and `s` = the scores, the gradient of
        /// `s` is `gs = d * (g @ value^T) - w * (sum of g * y - gLogSumExp)`, with the sum over a row. Then `gradQuery = scale * gs @
        /// key`, `gradKey = scale * gs^T @ query`, `gradValue = d^T @ g` and `gradMask = gs`, summed over dimensions that were broadcast.
        scaledDotProductAttentionGrad(gradQuery: optional_out, gradKey: optional_out, gradValue: optional_out, gradMask: optional_out,
            g: input, gLogSumExp: optional_input, y: input, logSumExp: input, seed: optional_input, query: input, key: input,
            value: input, mask: optional_input, p: double, causal: flag, scale: double, enableGqa: flag) =
            attention::gradient(attention::Gradients { query: gradQuery, key: gradKey, value: gradValue, mask: gradMask },
                attention::Computed { g, of_logs: gLogSumExp, y, logs: logSumExp, seed }, [query, key, value],
                Options { mask, p, causal, scale, grouped: enableGqa });
        /// `r = t / sqrt(mean of t^2 + eps) * weight`, with the mean over the last `normalizedNdim` dimensions of `t` (Zhang and Sennrich,
        /// "Root Mean Square Layer Normalization", 2019). Without a bias, otherwise as layerNorm.
        rmsNorm(r: out, t: input, normalizedNdim: int, weight: optional_input, eps: double) =
            layer_norm::rms_norm(r, t, normalizedNdim, weight, eps);
        /// The gradients of rmsNorm, computed from the gradient `g` of its result. Without a bias, otherwise as layerNormGrad.
        ///
        /// With `x` = the normalized elements of a row, `h = g * weight`, and means over a row: `gradInput = (h - x * mean of (h * x)) /
        /// sqrt(mean of t^2 + eps)`. Summed over all rows: `gradWeight = sum of g * x`.
        rmsNormGrad(gradInput: optional_out, gradWeight: optional_out, g: input, t: input, normalizedNdim: int, weight: optional_input,
            eps: double) =
            layer_norm::rms_norm_gradient(Gradients { input: gradInput, weight: gradWeight, bias: None }, g, t, normalizedNdim, weight,
                eps);
        /// `r = (t - mean) / sqrt(variance + eps) * weight + bias`, with mean and biased variance over each group of adjacent channels and
        /// the dimensions after the channels (Wu and He, "Group Normalization", 2018). `t` has the shape `[batch, channels, sizes...]`, and
        /// `numGroups` divides the number of channels.
        ///
        /// `weight` and `bias` have an element for each channel, and the dtype of `t`, or float32 if `t` is a 16-bit float; NULL means 1
        /// and 0. Floats only; computed in float32 or float64, with sums in float64. A group of one element gives `bias`.
        groupNorm(r: out, t: input, numGroups: entry, weight: optional_input, bias: optional_input, eps: double) =
            layer_norm::group_norm(r, t, numGroups, [weight, bias], eps);
        /// The gradients of groupNorm, computed from the gradient `g` of its result. The formulas and the results are as for layerNormGrad,
        /// with rows that are groups, and sums over all elements of a channel for `gradWeight` and `gradBias`.
        groupNormGrad(gradInput: optional_out, gradWeight: optional_out, gradBias: optional_out, g: input, t: input, numGroups: entry,
            weight: optional_input, eps: double) =
            layer_norm::group_norm_gradient(Gradients { input: gradInput, weight: gradWeight, bias: gradBias }, g, t, numGroups, weight,
                eps);
        /// groupNorm with a group for each channel: the statistics are of each image and channel, without running statistics (Ulyanov,
        /// Vedaldi and Lempitsky, "Instance Normalization", 2016). `t` has the shape `[batch, channels, sizes...]`, with a size at least.
        instanceNorm(r: out, t: input, weight: optional_input, bias: optional_input, eps: double) =
            layer_norm::instance_norm(r, t, [weight, bias], eps);
        /// `r = t / (k + alpha / size * sum of t^2)^beta`, with the sum over `size` channels, from `size / 2` channels before to
        /// `(size - 1) / 2` channels after the element's own; absent channels count as 0 (Krizhevsky, Sutskever and Hinton, "ImageNet
        /// Classification with Deep Convolutional Neural Networks", 2012, without the division by `size`). `t` has the shape `[batch,
        /// channels, sizes...]`. Floats only; computed in float32 or float64.
        localResponseNorm(r: out, t: input, size: entry, alpha: double, beta: double, k: double) =
            response_norm::local_response_norm(r, t, size, [alpha, beta, k]);

        /// `r = -weight[c] * t[c]` for each position, where `c` is the position's class in `target`: the negative log-likelihood loss of
        /// log-probabilities `t`, which logSoftmax computes. `t` has the shape `[classes]`, `[batch, classes]` or
        /// `[batch, classes, sizes...]`. Floats only; sums are in float64.
        ///
        /// `target`, int64 or int32, has the shape of `t` without the dimension of classes. A class that is out of range is an error,
        /// except `ignoreIndex`, usually -100: its positions have the loss 0 and do not count. `weight` has a factor for each class, in the
        /// dtype of `t`, or in float32 if `t` is a 16-bit float; NULL means 1. With `TH_REDUCTION_NONE` the result has the shape of
        /// `target`, else it is a scalar.
        nllLoss(r: out, t: input, target: index, weight: optional_input, reduction: reduction, ignoreIndex: entry) =
            loss::nll(r, t, Targets { target, weight, reduction, ignored: ignoreIndex });
        /// `r = -g * weight[c]` at the class `c` of each position, and 0 elsewhere: the gradient of nllLoss. With `TH_REDUCTION_MEAN` it is
        /// divided by the sum of the weights. `g`, the gradient of the loss, has the shape of the loss and the dtype of `r`. Only the shape
        /// of `t` is used. The other arguments are as for nllLoss.
        nllLossGrad(r: out, g: input, t: input, target: index, weight: optional_input, reduction: reduction, ignoreIndex: entry) =
            loss::nll_gradient(r, g, t, Targets { target, weight, reduction, ignored: ignoreIndex });
        /// nllLoss of `logSoftmax(t)` along the classes: the loss of scores `t`. For 16-bit floats the logarithms are not rounded before
        /// use. All else is as for nllLoss.
        crossEntropy(r: out, t: input, target: index, weight: optional_input, reduction: reduction, ignoreIndex: entry) =
            loss::cross_entropy(r, t, Targets { target, weight, reduction, ignored: ignoreIndex });
        /// `r = g * weight[c] * (softmax(t) - 1 at the class c of each position)`, and 0 at ignored positions: the gradient of
        /// crossEntropy. With `TH_REDUCTION_MEAN` it is divided by the sum of the weights. `g`, the gradient of the loss, has the shape of
        /// the loss and the dtype of `t`. The other arguments are as for nllLoss.
        crossEntropyGrad(r: out, g: input, t: input, target: index, weight: optional_input, reduction: reduction, ignoreIndex: entry) =
            loss::cross_entropy_gradient(r, g, t, Targets { target, weight, reduction, ignored: ignoreIndex });
    } };
}

layer_functions!(table);
pub(crate) use layer_functions as functions;
