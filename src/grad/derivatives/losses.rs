//! Losses of single elements, batch normalization and tables of rows.

use super::reductions::{along, norm_back};
use super::writing::{cleared, into_zeros};
use crate::device::{self, DeviceGuard};
use crate::dtype::Dtype;
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;
use crate::grad::reduce::{each_dim, keep_dims};
use crate::layout::{Dims, broadcast_shape};
use crate::ops::index::bags::{Bags, TH_BAG_MAX, TH_BAG_MEAN};
use crate::ops::index::scatter::TH_REDUCE_AMIN;
use crate::ops::loss::{TH_REDUCTION_BATCH_MEAN, TH_REDUCTION_MEAN, TH_REDUCTION_NONE, TH_REDUCTION_SUM};
use crate::ops::similarity::COSINE_EPS;

derivatives! {
    /// The derivatives of losses of single elements, and of layers.
    LOSSES:

    ctcLoss {
        logProbs: |g, logProbs, targets, inputLengths, targetLengths, blank: i64, reduction: i32, zeroInfinity: bool| {
            let tensors = [g.into(), logProbs.into(), targets.into(), inputLengths.into(), targetLengths.into()];
            let arguments: Vec<In<'_, '_>> = tensors.into_iter().chain([blank.into(), reduction.into(), zeroInfinity.into()]).collect();
            g.scope.call(&names::ctcLossGrad::FUNCTION, &arguments)
        };
    }
    mseLoss {
        t: |g, t, target, reduction: i32| each_loss(g * 2.0, reduction, t - target, &[]);
        target: |g, t, target, reduction: i32| each_loss(g * 2.0, reduction, target - t, &[]);
    }
    l1Loss {
        t: |g, t, target, reduction: i32| each_loss(g, reduction, sign(t - target), &[]);
        target: |g, t, target, reduction: i32| each_loss(g, reduction, sign(target - t), &[]);
    }
    smoothL1Loss {
        t: |g, t, target, reduction: i32, beta: f64| smooth(g, reduction, t - target, beta);
        target: |g, t, target, reduction: i32, beta: f64| smooth(g, reduction, target - t, beta);
    }
    huberLoss {
        t: |g, t, target, reduction: i32, delta: f64| each_loss(g, reduction, bounded(t - target, delta), &[]);
        target: |g, t, target, reduction: i32, delta: f64| each_loss(g, reduction, bounded(target - t, delta), &[]);
    }
    bceWithLogits {
        t: |g, t, target, weight: optional, posWeight: optional, reduction: i32| {
            let slope = match posWeight {
                Some(positive) => {
                    let up = positive * target;
                    sigmoid(t) * (up - target + 1.0) - up
                }
                None => sigmoid(t) - target,
            };
            each_loss(g, reduction, weighted(slope, weight), &[])
        };
        target: |g, t, target, weight: optional, posWeight: optional, reduction: i32| {
            let slope = posWeight.map_or(-t, |positive| positive * log_of_exp(-t) - log_of_exp(t));
            each_loss(g, reduction, weighted(slope, weight), &[target])
        };
        weight: |g, t, target, weight, posWeight: optional, reduction: i32| {
            let args: [In<'_, '_>; 5] = [t.into(), target.into(), In::Null, posWeight.into(), TH_REDUCTION_NONE.into()];
            each_loss(g, reduction, g.scope.call(&names::bceWithLogits::FUNCTION, &args), &[weight])
        };
        posWeight: |g, t, target, weight: optional, posWeight, reduction: i32|
            each_loss(g, reduction, weighted(target * log_of_exp(-t), weight), &[posWeight]);
    }
    bce {
        t: |g, t: wide, target, weight: optional, reduction: i32| {
            let slope = (t - target) / clamp_least(t * (-t + 1.0), 1e-12);
            each_loss(g, reduction, weighted(slope, weight), &[])
        };
        target: |g, t: wide, target, weight: optional, reduction: i32| {
            let slope = clamp_least(log1p(-t), -100.0) - clamp_least(log(t), -100.0);
            each_loss(g, reduction, weighted(slope, weight), &[target])
        };
        weight: |g, t, target, weight, reduction: i32| {
            let args: [In<'_, '_>; 4] = [t.into(), target.into(), In::Null, TH_REDUCTION_NONE.into()];
            each_loss(g, reduction, g.scope.call(&names::bce::FUNCTION, &args), &[weight])
        };
    }
    poissonNllLoss {
        t: |g, t: wide, target, logInput: bool, eps: f64, reduction: i32|
            each_loss(g, reduction, if logInput { exp(t) - target } else { -(target / (t + eps)) + 1.0 }, &[]);
        target: |g, t: wide, target: wide, logInput: bool, full: bool, eps: f64, reduction: i32| {
            let slope = if logInput { -t } else { -log(t + eps) };
            let stirling = |y| {
                let counted = clamp_least(y, 1.0);
                choose_or(gt_value(y, 1.0), log(counted) + number_by(counted, 0.5), 0.0)
            };
            if full { each_loss(g, reduction, slope + stirling(target), &[]) } else { each_loss(g, reduction, slope, &[target]) }
        };
    }
    gaussianNllLoss {
        t: |g, t: wide, target, variance, eps: f64, reduction: i32|
            each_loss(g, reduction, (t - target) / clamp_least(variance, eps), &[]);
        target: |g, t: wide, target, variance, eps: f64, reduction: i32|
            each_loss(g, reduction, (target - t) / clamp_least(variance, eps), &[]);
        variance: |g, t: wide, target, variance: wide, eps: f64, reduction: i32| {
            let (d, v) = (t - target, clamp_least(variance, eps));
            each_loss(g, reduction, (-(d * d / v) + 1.0) / (v * 2.0), &[])
        };
    }
    // As in PyTorch, a loss of 0 has the gradient of a positive loss.
    marginRankingLoss {
        a: |g, a: wide, b, target, margin: f64, reduction: i32| each_loss(g, reduction, -ranked(a, b, target, margin, target), &[]);
        b: |g, a: wide, b, target, margin: f64, reduction: i32| each_loss(g, reduction, ranked(a, b, target, margin, target), &[]);
        target: |g, a: wide, b, target, margin: f64, reduction: i32|
            each_loss(g, reduction, ranked(a, b, target, margin, b - a), &[]);
    }
    cosineSimilarity {
        a: |g, a, b, dimension: i32, eps: f64| cosine_back(g, a, float(b, a), dimension, eps);
        b: |g, a, b, dimension: i32, eps: f64| cosine_back(g, b, float(a, b), dimension, eps);
    }
    pairwiseDistance {
        a: |g, a, b, value: f64, eps: f64, keepdim: bool| distance_back(g, [a, b], value, eps, keepdim);
        b: |g, a, b, value: f64, eps: f64, keepdim: bool| -distance_back(g, [a, b], value, eps, keepdim);
    }
    cosineEmbeddingLoss {
        a: |g, a, b, target, margin: f64, reduction: i32| embedding_back(g, [a, float(b, a)], target, margin, reduction);
        b: |g, a, b, target, margin: f64, reduction: i32| embedding_back(g, [b, float(a, b)], target, margin, reduction);
    }
    tripletMarginLoss {
        each(anchor, positive, negative): |call, anchor: wide, positive: wide, negative: wide, margin: f64, value: f64, eps: f64,
            swap: bool, reduction: i32|
            triplet_back(call, [anchor, positive, negative], (margin, value, eps), swap, reduction);
    }
    klDiv {
        t: |g, t, target, logTarget: bool, reduction: i32|
            each_loss(g, reduction, if logTarget { -exp(target) } else { -target }, &[t]);
        target: |g, t, target, logTarget: bool, reduction: i32| {
            let slope = if logTarget { exp(target) * (target - t + 1.0) } else { log(target) - t + 1.0 };
            each_loss(g, reduction, slope, &[])
        };
    }
    crossEntropyLabelSmoothing {
        t: |g, t, target, weight: optional, reduction: i32, ignoreIndex: i64, smoothing: f64| {
            let args: [In<'_, '_>; 6] = [g.into(), t.into(), target.into(), weight.into(), reduction.into(), ignoreIndex.into()];
            let sharp = g.scope.call(&names::crossEntropyGrad::FUNCTION, &args);
            sharp * (1.0 - smoothing) + smooth_part(g, t, target, weight, (reduction, ignoreIndex)) * smoothing
        };
    }
    batchNorm {
        each(t, weight, bias): |call, t: wide, weight: optional, mean: wide, invstd: wide, training: bool|
            batch_norm(call, t, weight, [mean, invstd], training);
    }
    embeddingBag {
        each(weight, perSampleWeights): |call, r, weight, index, offsets: optional, mode: i32, perSampleWeights: optional, paddingIdx: i64|
            bag_gradients(call, [r, weight, index], offsets, perSampleWeights, (mode, paddingIdx));
    }
    embedding {
        weight: |g, weight: like, index, paddingIdx: i64| {
            let (r, count) = (zeros(g, &weight), index.numel());
            let flat = reshape(index, &[count]);
            g.scope.write(r, &names::indexAdd::FUNCTION, &[0.into(), flat.into(), reshape(g, &[count, weight.shape[1]]).into()]);
            if paddingIdx >= 0 {
                let row = narrow(r, 0, paddingIdx, 1);
                g.scope.write(row, &names::copy::FUNCTION, &[zerosLike(row).into()]);
            }
            r
        };
    }
}

/// The gradients of the table and of the weights of the positions. The sums are the product of a matrix of compressed rows with the table.
fn bag_gradients<'s>(
    call: &Call<'s>,
    [r, weight, index]: [Value<'s>; 3],
    offsets: Option<Value<'s>>,
    weights: Option<Value<'s>>,
    (mode, padding): (i32, i64),
) {
    let [of_table, of_weights] =
        ["weight", "perSampleWeights"].map(|name| names::place(names::embeddingBag::FUNCTION.signature.names, name));
    let (g, scope, table) = (call.g(), r.scope, weight.shape());
    let Some(positions) = index.tensor() else { return };
    let _there = device::is_used().then(|| DeviceGuard::on(positions.device()));
    let offsets = offsets.and_then(Value::tensor);
    let bags = match Bags::of(&positions, offsets.as_ref(), table[0], padding) {
        Ok(bags) => bags,
        Err(error) => return scope.fail(error),
    };
    let kept = bags.kept.as_ref().map(|kept| scope.value(kept.clone()));
    let (starts, rows) = (scope.value(bags.starts.clone()), scope.value(bags.rows.clone()));
    if mode == TH_BAG_MAX {
        return call.give(of_table, greatest_gradient(g, [r, weight], [starts, rows]));
    }
    let g = if mode == TH_BAG_MEAN { wide(g) / scope.attempt(|| bags.counts(g.dtype().compute())) } else { g };
    if call.needs(of_table) {
        let weights = weights.map(|weights| {
            let all = reshape(weights, &[weights.numel()]);
            let all = kept.map_or(all, |kept| index_select(all, 0, kept));
            if all.dtype() == g.dtype() { all } else { to_dtype(all, g.dtype()) }
        });
        call.give(of_table, csr_matmul_transposed(g, starts, rows, weights, table[0]));
    }
    if call.needs(of_weights) {
        let each = csr_sampled(g, weight, starts, rows);
        let all = Like { shape: Dims::filled(index.numel(), 1), ..each.like() };
        let each = kept.map_or(each, |kept| into_zeros(g, &all, &names::indexCopy::FUNCTION, &[0.into(), kept.into(), each.into()]));
        call.give(of_weights, reshape(each, &index.shape()));
    }
}

/// The gradient of the table for the greatest elements `r`. The first row of a bag that has the greatest element gets the gradient.
fn greatest_gradient<'s>(g: Value<'s>, [r, weight]: [Value<'s>; 2], [starts, rows]: [Value<'s>; 2]) -> Value<'s> {
    let (scope, n) = (g.scope, rows.numel());
    if n == 0 {
        return zeros(g, &weight.like());
    }
    let (bags, elements) = (row_numbers(starts), index_select(weight, 0, rows));
    let shape = elements.shape();
    let is_greatest = either(eq(elements, index_select(r, 0, bags)), is_nan(elements));
    let column = |t: Value<'s>| expand(reshape(t, &[n, 1]), &shape);
    let places = or_choose(not(is_greatest), n as f64, column(scope.numbers(n)));
    let none = full(g, &Like { dtype: Dtype::Int64, ..g.like() }, n as f64);
    let first = cleared(none, &names::scatterMode::FUNCTION, &[0.into(), column(bags).into(), places.into(), TH_REDUCE_AMIN.into()]);
    // Bags without positions have no first row.
    let has = lt_value(first, n as f64);
    let first = or_choose(not(has), 0.0, first);
    let of_table = reshape(take(rows, first), &first.shape());
    into_zeros(g, &weight.like(), &names::scatterAdd::FUNCTION, &[0.into(), of_table.into(), choose_or(has, g, 0.0).into()])
}

/// The gradient from the slopes of the losses of single elements, where `g` is the gradient of the loss. The losses have the shape of the
/// slopes and `others`, broadcast.
fn each_loss<'s>(g: Value<'s>, reduction: i32, slope: Value<'s>, others: &[Value<'s>]) -> Value<'s> {
    let (g, slope) = (wide(g), wide(slope));
    if reduction == TH_REDUCTION_NONE {
        return slope * g;
    }
    let from = slope.shape();
    let shape = others.iter().fold(from.clone(), |shape, other| broadcast_shape(&shape, &other.shape()).unwrap_or(shape));
    let slope = if shape == from { slope } else { expand(slope, &shape) };
    let count = match reduction {
        TH_REDUCTION_SUM => 1,
        TH_REDUCTION_BATCH_MEAN => shape.first().copied().unwrap_or(1),
        _ => shape.iter().product(),
    };
    slope * if count == 1 { g } else { g / count as f64 }
}

/// `t` within `-most` and `most`; the slope at the ends is 0.
fn bounded(t: Value<'_>, most: f64) -> Value<'_> {
    t.scope.call(&names::hardtanh::FUNCTION, &[t.into(), (-most).into(), most.into()])
}

/// The gradient of the smooth distance, for differences `d`.
fn smooth<'s>(g: Value<'s>, reduction: i32, d: Value<'s>, beta: f64) -> Value<'s> {
    if beta == 0.0 { each_loss(g, reduction, sign(d), &[]) } else { each_loss(g / beta, reduction, bounded(d, beta), &[]) }
}

/// `slope` where the loss of a ranking is not bounded by 0.
fn ranked<'s>(a: Value<'s>, b: Value<'s>, target: Value<'s>, margin: f64, slope: Value<'s>) -> Value<'s> {
    choose_or(le_value(target * (a - b), margin), slope, 0.0)
}

/// The gradient of `a`, one of two vectors whose cosine has the gradient `g`. Norms up to `eps` are constant.
fn cosine_back<'s>(g: Value<'s>, a: Value<'s>, b: Value<'s>, dimension: i32, eps: f64) -> Value<'s> {
    let shape = broadcast_shape(&a.shape(), &b.shape()).unwrap_or_default();
    let (g, a, b) = (wide(g), expand(wide(a), &shape), expand(wide(b), &shape));
    let dims = along(dimension);
    let norm = |t: Value<'s>| g.scope.call(&names::normDims::FUNCTION, &[t.into(), 2.0.into(), (&dims).into(), true.into(), In::Null]);
    let of_a = norm(a);
    let bounded = clamp_least(of_a, eps);
    let (x, y) = (a / bounded, b / clamp_least(norm(b), eps));
    let cosine = choose_or(gt_value(of_a, eps), sum_dims(x * y, &each_dim(&dims, shape.len()), true), 0.0);
    keep_dims(g, shape.len(), &dims, false) * ((y - x * cosine) / bounded)
}

/// `t`, converted to the dtype of `like` if its elements are integers.
fn float<'s>(t: Value<'s>, like: Value<'s>) -> Value<'s> {
    if t.dtype().is_float() { t } else { to_dtype(t, like.dtype()) }
}

/// The gradient of `a` in cosineEmbeddingLoss of `a` and `b`, in either order.
fn embedding_back<'s>(g: Value<'s>, [a, b]: [Value<'s>; 2], target: Value<'s>, margin: f64, reduction: i32) -> Value<'s> {
    cosine_back(of_cosine(g, a, b, target, margin, reduction), a, b, -1, COSINE_EPS)
}

/// The gradient of the cosines in cosineEmbeddingLoss.
fn of_cosine<'s>(g: Value<'s>, a: Value<'s>, b: Value<'s>, target: Value<'s>, margin: f64, reduction: i32) -> Value<'s> {
    let cosine = g.scope.call(&names::cosineSimilarity::FUNCTION, &[wide(a).into(), wide(b).into(), (-1).into(), COSINE_EPS.into()]);
    let apart = both(eq_value(target, -1.0), ge_value(cosine, margin));
    let slope = to_dtype(apart, cosine.dtype()) - to_dtype(eq_value(target, 1.0), cosine.dtype());
    each_loss(g, reduction, slope, &[cosine])
}

/// The gradient of `a` in the distance from `a` to `b`.
fn distance_back<'s>(g: Value<'s>, [a, b]: [Value<'s>; 2], p: f64, eps: f64, keepdim: bool) -> Value<'s> {
    let difference = wide(a) - wide(b) + eps;
    let last: &[i64] = &[-1];
    let norm = [difference.into(), p.into(), last.into(), true.into(), In::Null];
    let r = g.scope.call(&names::normDims::FUNCTION, &norm);
    let g = if keepdim { g } else { unsqueeze(g, -1) };
    norm_back(g, difference, r, p, &[difference.ndim() as i64 - 1], true)
}

/// The gradients of the three operands of tripletMarginLoss. Equal distances share.
fn triplet_back<'s>(call: &Call<'s>, operands: [Value<'s>; 3], (margin, p, eps): (f64, f64, f64), swap: bool, reduction: i32) {
    let [anchor, positive, negative] = operands;
    let scope = call.scope();
    let distance = |a: Value<'s>, b: Value<'s>| {
        scope.call(&names::pairwiseDistance::FUNCTION, &[a.into(), b.into(), p.into(), eps.into(), false.into()])
    };
    let (near, own) = (distance(anchor, positive), distance(anchor, negative));
    let dtype = near.dtype();
    let as_number = |mask: Value<'s>| to_dtype(mask, dtype);
    let (far, share) = if swap {
        let other = distance(positive, negative);
        let share = (as_number(lt(own, other)) + as_number(le(own, other))) * 0.5;
        (scope.call(&names::cmin::FUNCTION, &[own.into(), other.into()]), Some(share))
    } else {
        (own, None)
    };
    let g = each_loss(call.g(), reduction, as_number(ge_value(near - far, -margin)), &[]);
    let of_own = share.map_or(g, |share| g * share);
    let back = |g: Value<'s>, a: Value<'s>, b: Value<'s>| distance_back(g, [a, b], p, eps, false);
    let (to_near, to_own) = (back(g, anchor, positive), back(of_own, anchor, negative));
    let to_other = share.map(|share| back(g * (-share + 1.0), positive, negative));
    let names = names::tripletMarginLoss::FUNCTION.signature.names;
    let give =
        |name, sum: Value<'s>, other: Option<Value<'s>>| call.give(names::place(names, name), other.map_or(sum, |other| sum + other));
    give("anchor", to_near - to_own, None);
    give("positive", -to_near, to_other.map(|other| -other));
    give("negative", to_own, to_other);
}

fn weighted<'s>(slope: Value<'s>, weight: Option<Value<'s>>) -> Value<'s> {
    weight.map_or(slope, |weight| slope * weight)
}

/// `log(1 + e^t)`
fn log_of_exp(t: Value<'_>) -> Value<'_> {
    t.scope.call(&names::softplus::FUNCTION, &[t.into(), 1.0.into(), f64::INFINITY.into()])
}

/// The gradient of the mean of `-weight * log(softmax(t))` over the classes, at the positions that count.
fn smooth_part<'s>(
    g: Value<'s>,
    t: Value<'s>,
    target: Value<'s>,
    weight: Option<Value<'s>>,
    (reduction, ignored): (i32, i64),
) -> Value<'s> {
    let shape = t.shape();
    let class = usize::from(shape.len() > 1);
    let counts = ne_value(target, ignored as f64);
    let mut each = if reduction == TH_REDUCTION_NONE { g } else { expand(g, &target.shape()) };
    if reduction == TH_REDUCTION_MEAN {
        // The sum of the weights of the targets is the loss of logarithms that are -1.
        let (dtype, sum) = (t.dtype().compute(), TH_REDUCTION_SUM);
        let ones = full(g, &Like { dtype, ..t.like() }, -1.0);
        let weight = weight.map(|weight| to_dtype(weight, dtype));
        let total = g.scope.call(&names::nllLoss::FUNCTION, &[ones.into(), target.into(), weight.into(), sum.into(), ignored.into()]);
        each = each / total;
    }
    let each = unsqueeze(choose_or(counts, each, 0.0), class as i32) * (-1.0 / shape[class] as f64);
    let along: Dims = (0..shape.len()).map(|d| if d == class { shape[d] } else { 1 }).collect();
    let down = weight.map_or(each, |weight| each * reshape(weight, &along));
    let (down, y) = (expand(down, &shape), g.scope.call(&names::logSoftmax::FUNCTION, &[t.into(), (class as i32).into()]));
    let down = if down.dtype() == y.dtype() { down } else { to_dtype(down, y.dtype()) };
    g.scope.call(&names::logSoftmaxGrad::FUNCTION, &[down.into(), y.into(), (class as i32).into()])
}

/// The gradients of `y = (t - mean) * invstd * weight + bias`. In training `mean` and `invstd` come from `t`; their gradients are those
/// that they have in the formula, and those that arrive.
fn batch_norm<'s>(call: &Call<'s>, t: Value<'s>, weight: Option<Value<'s>>, [mean, invstd]: [Value<'s>; 2], training: bool) {
    const RESULTS: [usize; 3] = [0, 1, 2];
    let [of_t, of_weight, of_bias] = ["t", "weight", "bias"].map(|name| names::place(names::batchNorm::FUNCTION.signature.names, name));
    let shape = t.shape();
    let along: Dims = (1..shape.len()).map(|d| if d == 1 { shape[1] } else { 1 }).collect();
    let over: Dims = (0..shape.len() as i64).filter(|&d| d != 1).collect();
    let [g, g_mean, g_invstd] = RESULTS.map(|place| call.grad(place));
    let (mean, scale) = (reshape(mean, &along), reshape(invstd, &along));
    let centred = t - mean;
    if call.needs(of_bias) {
        call.give(of_bias, g.map_or_else(|| zeros(t, &call.like(of_bias)), |g| sum_dims(g, &over, false)));
    }
    if call.needs(of_weight) {
        let slope = g.map_or_else(|| zeros(t, &call.like(of_weight)), |g| sum_dims(g * (centred * scale), &over, false));
        call.give(of_weight, slope);
    }
    if !call.needs(of_t) {
        return;
    }
    let n = shape.iter().enumerate().filter(|&(d, _)| d != 1).map(|(_, &n)| n).product::<i64>() as f64;
    let weighted = g.map(|g| weight.map_or(g, |weight| g * reshape(weight, &along)));
    let mut terms: Vec<Value<'s>> = weighted.map(|g| g * scale).into_iter().collect();
    if training {
        // A gradient of the mean goes to all elements alike, and one of invstd by its derivative, -invstd^3 * (t - mean) / n.
        let own = weighted.map(|g| -sum_dims(g, &over, true) * scale);
        let arrived = g_mean.map(|g| reshape(g, &along));
        terms.extend(own.into_iter().chain(arrived).map(|g| g / n));
        let own = weighted.map(|g| sum_dims(g * centred, &over, true));
        let arrived = g_invstd.map(|g| reshape(g, &along));
        terms.extend(own.into_iter().chain(arrived).map(|g| centred * (g * (power(scale, 3.0) / -n))));
    }
    let sum = terms.into_iter().reduce(|a, b| a + b);
    let sum = sum.unwrap_or_else(|| zeros(t, &t.like()));
    call.give(of_t, if sum.shape() == shape { sum } else { expand(sum, &shape) });
}
