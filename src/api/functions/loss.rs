//! Losses, normalization and gradients.

use crate::api::table::table;
use crate::ops::batch_norm::{self, Channels, Used};
use crate::ops::ctc::{self, Ctc};
use crate::ops::embedding;
use crate::ops::index::bags::{self, Options};
use crate::ops::loss::{self, Targets};
use crate::ops::losses;
use crate::ops::similarity::{self, Triplet};

macro_rules! loss_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// crossEntropy with smoothed targets: the class of a position counts `1 - smoothing`, and each of the `classes` classes, including
        /// this one, counts `smoothing / classes`, multiplied by its weight. With `TH_REDUCTION_MEAN` the sum is divided by the sum of the
        /// weights of the targets. `smoothing` is from 0 to 1; all else is as for nllLoss.
        crossEntropyLabelSmoothing(r: out, t: input, target: index, weight: optional_input, reduction: reduction, ignoreIndex: entry,
            smoothing: double) =
            loss::smoothed_cross_entropy(r, t, Targets { target, weight, reduction, ignored: ignoreIndex }, smoothing);
        /// `r = (t - target)^2`, reduced: the squared error. Operands of elementwise losses broadcast and are promoted. At least
        /// one is a float.
        mseLoss(r: out, t: input, target: input, reduction: reduction) = losses::mse(r, t, target, reduction);
        /// `r = |t - target|`, reduced.
        l1Loss(r: out, t: input, target: input, reduction: reduction) = losses::l1(r, t, target, reduction);
        /// `r = d^2 / (2 * beta) where d < beta, else d - beta / 2`, for `d = |t - target|`, reduced. A `beta` of 0 gives l1Loss.
        smoothL1Loss(r: out, t: input, target: input, reduction: reduction, beta: double) =
            losses::smooth_l1(r, t, target, reduction, beta);
        /// `r = d^2 / 2 where d < delta, else delta * (d - delta / 2)`, for `d = |t - target|`, reduced. `delta` is positive.
        huberLoss(r: out, t: input, target: input, reduction: reduction, delta: double) = losses::huber(r, t, target, reduction, delta);
        /// `r = weight * (posWeight * target * log(1 + e^-t) + (1 - target) * log(1 + e^t))`, reduced: the cross entropy of the probability
        /// `sigmoid(t)`, for `target` from 0 to 1. `weight` and `posWeight` broadcast, too; NULL means 1.
        bceWithLogits(r: out, t: input, target: input, weight: optional_input, posWeight: optional_input, reduction: reduction) =
            losses::bce_with_logits(r, t, target, [weight, posWeight], reduction);
        /// `r = target * (log(target) - t)`, reduced: the Kullback-Leibler divergence of the probabilities `target` from the probabilities
        /// whose logarithms are `t`. `target * log(target)` is 0 where `target` is 0. With `logTarget`, `target` contains logarithms as
        /// well. `TH_REDUCTION_BATCH_MEAN` gives the mean of the divergences of the rows.
        klDiv(r: out, t: input, target: input, logTarget: flag, reduction: reduction) = losses::kl_div(r, t, target, logTarget, reduction);
        /// `r = -weight * (target * log(t) + (1 - target) * log(1 - t))`, reduced: the cross entropy of the probability `t`, for `target`
        /// from 0 to 1. Logarithms are at least -100. A `t` that is no probability gives NaN. `weight` broadcasts, too; NULL means 1.
        bce(r: out, t: input, target: input, weight: optional_input, reduction: reduction) = losses::bce(r, t, target, weight, reduction);
        /// `r = e^t - target * t` with `logInput`, else `r = t - target * log(t + eps)`, reduced: the negative log-likelihood of a count
        /// `target` of a Poisson distribution whose mean is `e^t` or `t`, without the term `log(target!)`. `full` adds its approximation
        /// `target * log(target) - target + log(2 * pi * target) / 2`, where `target` exceeds 1.
        poissonNllLoss(r: out, t: input, target: input, logInput: flag, full: flag, eps: double, reduction: reduction) =
            losses::poisson_nll(r, [t, target], [logInput, full], eps, reduction);
        /// `r = (log(v) + (t - target)^2 / v) / 2`, with `v = max(variance, eps)`, reduced: the negative log-likelihood of `target` of a
        /// normal distribution with the mean `t`, without the term `log(2 * pi) / 2`, which `full` adds. NaN where the variance is
        /// negative. The gradient of `variance` is computed as if `v` were the variance, as in PyTorch.
        gaussianNllLoss(r: out, t: input, target: input, variance: input, full: flag, eps: double, reduction: reduction) =
            losses::gaussian_nll(r, [t, target, variance], full, eps, reduction);
        /// `r = -log(P)` for each sample, reduced, where `P` is the probability of the labels of the sample, summed over all alignments:
        /// the loss of connectionist temporal classification (A. Graves et al., 2006). An alignment gives each step a label or the blank;
        /// equal neighbours count once, and blanks do not count. `TH_REDUCTION_MEAN` divides each loss by the number of labels, at least
        /// 1, and takes the mean.
        ///
        /// `logProbs` has the shape `[steps, batch, classes]`, also for a single sample, and contains logarithms of probabilities, for
        /// example of logSoftmax. The targets are int64 or int32: a row for each sample, or a vector of the labels of all samples, one
        /// after the other. The lengths, `[batch]`, are the numbers of steps and of labels that count. A sample without an alignment has
        /// the loss infinity, or 0 with `zeroInfinity`. Floats only; 16-bit floats are computed in float32.
        ///
        /// Errors: `TH_ERR_ARGUMENT`, a length, a label or a blank out of range, a label that is the blank, or another reduction;
        /// `TH_ERR_SHAPE`, shapes that do not fit; `TH_ERR_DTYPE`, logarithms that are not floats.
        ctcLoss(r: out, logProbs: input, targets: index, inputLengths: index, targetLengths: index, blank: entry, reduction: reduction,
            zeroInfinity: flag) =
            ctc::ctc(r, &Ctc { log_probs: logProbs, targets, input_lengths: inputLengths, target_lengths: targetLengths, blank, reduction,
                zero_infinity: zeroInfinity });
        /// `r` = the gradient of `logProbs` from the gradient `g` of ctcLoss; 0 for a sample without an alignment. The other arguments are
        /// as for ctcLoss. PyTorch adds `e^logProbs * g`, which makes no difference to the gradient of the argument of a logSoftmax.
        ctcLossGrad(r: out, g: input, logProbs: input, targets: index, inputLengths: index, targetLengths: index, blank: entry,
            reduction: reduction, zeroInfinity: flag) =
            ctc::ctc_gradient(r, g, &Ctc { log_probs: logProbs, targets, input_lengths: inputLengths, target_lengths: targetLengths, blank,
                reduction, zero_infinity: zeroInfinity });
        /// `r = max(margin - target * (a - b), 0)`, reduced: the loss of a ranking, where `target` is 1 if `a` should be greater than `b`,
        /// and -1 if `b` should be greater.
        marginRankingLoss(r: out, a: input, b: input, target: input, margin: double, reduction: reduction) =
            losses::margin_ranking(r, [a, b, target], margin, reduction);
        /// `r = sum of a * b / (max(norm of a, eps) * max(norm of b, eps))` along `dimension`: the cosine of the angle between vectors. `a`
        /// and `b` broadcast, and at least one is a float. `dimension` is one of the result of broadcasting. Computed in float32 or
        /// float64.
        cosineSimilarity(r: out, a: input, b: input, dimension: dim, eps: double) =
            similarity::cosine_similarity(r, [a, b], dimension, eps);
        /// `r = (sum of |a - b + eps|^value)^(1/value)` along the last dimension: the distance of vectors. `a` and `b` broadcast, and
        /// at least one is a float. With `keepdim` the dimension stays with size 1. Computed in float32 or float64. The gradient is 0
        /// where the distance is 0.
        pairwiseDistance(r: out, a: input, b: input, value: double, eps: double, keepdim: flag) =
            similarity::pairwise_distance(r, [a, b], value, eps, keepdim);
        /// `r = 1 - c where target is 1, max(c - margin, 0) where target is -1, else 0`, reduced, for `c` = the cosineSimilarity of `a` and
        /// `b` along the last dimension, with an `eps` of 1e-6. `target` has a number for each pair of vectors, and has no gradient.
        cosineEmbeddingLoss(r: out, a: input, b: input, target: input, margin: double, reduction: reduction) =
            similarity::cosine_embedding(r, [a, b], target, margin, reduction);
        /// `r = max(margin + d(anchor, positive) - d(anchor, negative), 0)`, reduced, for the pairwiseDistance `d` with `value` and `eps`.
        /// With `swap`, `d(positive, negative)` is used instead of `d(anchor, negative)` where it is less (Balntas and others, "Learning
        /// local feature descriptors with triplets", 2016). `margin` is positive.
        tripletMarginLoss(r: out, anchor: input, positive: input, negative: input, margin: double, value: double, eps: double, swap: flag,
            reduction: reduction) =
            similarity::triplet_margin(r, [anchor, positive, negative], Triplet { margin, p: value, eps, swap }, reduction);

        /// `r = (t - mean) * invstd * weight + bias` for each channel, an entry of dimension 1 of `t`: batch normalization.
        ///
        /// In training, `mean` is the mean of the channel and `invstd = 1 / sqrt(variance + eps)`, with the biased variance. Then
        /// `runningMean = (1 - momentum) * runningMean + momentum * mean`, and `runningVar` is updated likewise with the unbiased variance;
        /// either may be NULL. Otherwise mean and variance are `runningMean` and `runningVar`, which do not change.
        ///
        /// `weight`, `bias`, `runningMean` and `runningVar` have one element for each channel, and the dtype of `t`, or float32 if `t` is a
        /// 16-bit float. `weight` and `bias` may be NULL, which means 1 and 0. The results `mean` and `invstd` receive the values used, and
        /// may be NULL. Floats only; computed in float32 or float64.
        batchNorm(r: out, mean: optional_out, invstd: optional_out, t: input, weight: optional_input, bias: optional_input,
            runningMean: optional_state, runningVar: optional_state, training: flag, momentum: double, eps: double) =
            batch_norm::batch_norm(r, Used { mean, inverse: invstd }, t,
                Channels { weight, bias, mean: runningMean, variance: runningVar, training, momentum, eps });

        /// `r[i..., :] = weight[index[i...], :]`: rows of a table. The index, int64 or int32, has any shape. The row `paddingIdx` gets no
        /// gradient; -1 means no such row.
        embedding(r: out, weight: input, index: index, paddingIdx: entry) = embedding::embedding(r, weight, index, paddingIdx);
        /// `r[b, :] = sum of weight[index[i], :]` over the positions `i` of bag `b`: sums of rows of a table of floats. The index, int64 or
        /// int32, is a matrix whose rows are the bags, or a vector with `offsets`, int64 or int32: bag `b` begins at position `offsets[b]`
        /// and ends before `offsets[b + 1]`, the last one at the end of the index. The first offset is 0, and offsets do not descend.
        /// Without `offsets`, pass NULL.
        ///
        /// `TH_BAG_MEAN` divides each sum by the number of its positions. `TH_BAG_MAX` computes the greatest elements instead, NaN if any
        /// is NaN. The result of a bag without positions is 0. `perSampleWeights`, NULL or a tensor of the shape of the index and the dtype
        /// of the table, is multiplied with the rows before the sum, and is only for `TH_BAG_SUM`. Positions with the index `paddingIdx` do
        /// not count, as if they were not there; -1 means no such row. 16-bit floats are summed in float32. The gradient of a maximum goes
        /// to the first of equal elements. With `TH_BAG_MAX` and for 16-bit floats, the rows of all positions are copied first.
        ///
        /// Errors: `TH_ERR_ARGUMENT`, a position or offset out of range, or weights for another mode than `TH_BAG_SUM`; `TH_ERR_SHAPE`,
        /// shapes that do not fit; `TH_ERR_DTYPE`, a table that is not of floats, or weights of another dtype.
        embeddingBag(r: out, weight: input, index: index, offsets: optional_index, mode: bag_mode, perSampleWeights: optional_input,
            paddingIdx: entry) =
            bags::embedding_bag(r, weight, index, offsets, Options { mode, weights: perSampleWeights, padding: paddingIdx });
    } };
}

loss_functions!(table);
pub(crate) use loss_functions as functions;
