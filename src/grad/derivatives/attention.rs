//! The derivative of attention.

use super::reductions::in_dtype_of;
use crate::dtype::Dtype;
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;
use crate::layout::Dims;

derivatives! {
    /// The derivative of attention.
    ATTENTION:

    scaledDotProductAttention {
        each(query, key, value, mask): |call, r, logSumExp, seed, query, key, value, mask: optional, p: f64, causal: bool, scale: f64,
            enableGqa: bool| {
            let numbers = Numbers { p, causal, scale, grouped: enableGqa };
            let of = Operands { y: r, logs: logSumExp, seed, q: query, k: key, v: value, mask };
            if call.scope().recording { recorded(call, &of, numbers) } else { computed(call, &of, numbers) }
        };
    }
}

/// The numbers among the arguments.
#[derive(Clone, Copy)]
struct Numbers {
    p: f64,
    causal: bool,
    scale: f64,
    grouped: bool,
}

/// The operands and results of a call.
struct Operands<'s> {
    y: Value<'s>,
    logs: Value<'s>,
    seed: Value<'s>,
    q: Value<'s>,
    k: Value<'s>,
    v: Value<'s>,
    mask: Option<Value<'s>>,
}

/// The places of the inputs that have gradients.
fn inputs() -> [usize; 4] {
    let names = names::scaledDotProductAttention::FUNCTION.signature.names;
    ["query", "key", "value", "mask"].map(|name| names::place(names, name))
}

/// The gradients of the result and of the logarithms.
fn arrived<'s>(call: &Call<'s>, of: &Operands<'s>) -> (Value<'s>, Option<Value<'s>>) {
    let names = names::scaledDotProductAttention::FUNCTION.signature.names;
    let [g, of_logs] = ["r", "logSumExp"].map(|name| call.grad(names::place(names, name)));
    (g.map_or_else(|| zerosLike(of.y), |g| in_dtype_of(of.y, g)), of_logs.map(|g| in_dtype_of(of.logs, g)))
}

/// Gives all wanted gradients by one call of scaledDotProductAttentionGrad.
fn computed<'s>(call: &Call<'s>, of: &Operands<'s>, numbers: Numbers) {
    let (g, of_logs) = arrived(call, of);
    let wanted = inputs().iter().enumerate().fold(0, |wanted, (k, &input)| wanted | u32::from(call.needs(input)) << k);
    let gradients: [Value<'s>; 4] = gradients(g, of_logs, of, numbers, wanted);
    let given = inputs().into_iter().filter(|&input| call.needs(input));
    given.zip(gradients).for_each(|(input, gradient)| call.give(input, gradient));
}

/// The results at the positions `wanted` of scaledDotProductAttentionGrad.
fn gradients<'s, const N: usize>(
    g: Value<'s>,
    of_logs: Option<Value<'s>>,
    of: &Operands<'s>,
    numbers: Numbers,
    wanted: u32,
) -> [Value<'s>; N] {
    let Numbers { p, causal, scale, grouped } = numbers;
    let operands: [In<'_, '_>; 9] =
        [g.into(), of_logs.into(), of.y.into(), of.logs.into(), of.seed.into(), of.q.into(), of.k.into(), of.v.into(), of.mask.into()];
    let args: Vec<In<'_, '_>> = operands.into_iter().chain([p.into(), causal.into(), scale.into(), grouped.into()]).collect();
    g.scope.call_for_all(&names::scaledDotProductAttentionGrad::FUNCTION, wanted, &args)
}

/// The gradients by functions that have derivatives. The memory grows with `L * S`.
fn recorded<'s>(call: &Call<'s>, of: &Operands<'s>, numbers: Numbers) {
    let (g, of_logs) = arrived(call, of);
    let heads = Heads::of(of, numbers.grouped);
    let [y, g, q] = [of.y, g, of.q].map(|t| heads.divided(wide(t), 2));
    let [k, v] = [of.k, of.v].map(|t| heads.with_group(wide(t)));
    let logs = heads.divided(of.logs, 1);
    let e = q.shape().last().copied().unwrap_or(0);
    let scale = match numbers.scale {
        0.0 if e == 0 => 1.0,
        0.0 => 1.0 / (e as f64).sqrt(),
        scale => scale,
    };
    let mut scores = matmul(q, mt(k)) * scale;
    if let Some(mask) = of.mask {
        let mask = heads.divided(mask, 2);
        scores = if mask.dtype() == Dtype::Bool { choose_or(mask, scores, f64::NEG_INFINITY) } else { scores + mask };
    }
    if numbers.causal {
        let shape = scores.shape();
        let ones = full(scores, &Like { shape: shape[shape.len() - 2..].into(), dtype: Dtype::Bool, ..scores.like() }, 1.0);
        scores = choose_or(tril(ones, 0), scores, f64::NEG_INFINITY);
    }
    // A row without a position has weights 0.
    let less = or_choose(eq_value(logs, f64::NEG_INFINITY), f64::INFINITY, logs);
    let weights = exp(scores - unsqueeze(less, -1));
    let mut delta = sum(g * y, -1, false);
    if let Some(of_logs) = of_logs {
        delta = delta - heads.divided(of_logs, 1);
    }
    let (mut slopes, mut dropped) = (matmul(g, mt(v)), weights);
    if numbers.p > 0.0 {
        let factors = heads.divided(factors(of, numbers.p), 2);
        (slopes, dropped) = (slopes * factors, weights * factors);
    }
    let slopes = weights * (slopes - unsqueeze(delta, -1));
    let [of_q, of_k, of_v, of_mask] = inputs();
    if call.needs(of_q) {
        call.give(of_q, heads.merged(matmul(slopes, k) * scale));
    }
    if call.needs(of_k) {
        call.give(of_k, heads.summed(matmul(mt(slopes), q) * scale));
    }
    if call.needs(of_v) {
        call.give(of_v, heads.summed(matmul(mt(dropped), g)));
    }
    if call.needs(of_mask) {
        call.give(of_mask, heads.merged(slopes));
    }
}

/// The factors of dropout, `batch x L x S`: 0 or `1 / (1 - p)`.
///
/// With equal scores, the weights are `1 / S`, and the gradient of `value` for the identity as the gradient of the result is the transpose
/// of the weights after dropout.
fn factors<'s>(of: &Operands<'s>, p: f64) -> Value<'s> {
    let (batch, s) = (of.logs.shape(), of.k.shape());
    let (l, s) = (batch.last().copied().unwrap_or(0), s[s.len() - 2]);
    let like = of.logs.like();
    let of_shape = |rows: i64, cols: i64| {
        let shape: Dims = batch[..batch.len() - 1].iter().copied().chain([rows, cols]).collect();
        Like { shape, ..like.clone() }
    };
    let identity = diag_embed(full(of.logs, &Like { shape: [l].as_slice().into(), ..like.clone() }, 1.0), 0, 0, 1);
    let equal = Operands {
        y: zeros(of.logs, &of_shape(l, l)),
        logs: full(of.logs, &like, (s as f64).ln()),
        seed: of.seed,
        q: zeros(of.logs, &of_shape(l, 1)),
        k: zeros(of.logs, &of_shape(s, 1)),
        v: zeros(of.logs, &of_shape(s, l)),
        mask: None,
    };
    let numbers = Numbers { p, causal: false, scale: 1.0, grouped: false };
    let [dropped] = gradients(expand(identity, &of_shape(l, l).shape), None, &equal, numbers, 1 << 2);
    let none = zeros(of.logs, &Like { shape: Dims::new(), ..like });
    or_choose(gt_value(mt(dropped), 0.0), if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 }, none)
}

/// The heads of `key`, and the heads of `query` for each of them, if they differ.
struct Heads(Option<[i64; 2]>);

impl Heads {
    fn of(of: &Operands<'_>, grouped: bool) -> Heads {
        let heads = |t: Value<'_>| t.shape().iter().rev().nth(2).copied().unwrap_or(1);
        let (all, few) = (heads(of.q), heads(of.k).max(heads(of.v)));
        Heads((grouped && all != few && few > 1 && all % few == 0).then(|| [few, all / few]))
    }

    /// Divides the heads of `query`; `last` dimensions follow.
    fn divided<'s>(&self, t: Value<'s>, last: usize) -> Value<'s> {
        let shape = t.shape();
        let (Some(groups), Some(d)) = (self.0, shape.len().checked_sub(last + 1)) else { return t };
        let groups = if shape[d] == 1 { [1, 1] } else { groups };
        let shape: Dims = shape[..d].iter().chain(&groups).chain(&shape[d + 1..]).copied().collect();
        reshape(t, &shape)
    }

    /// Adds a dimension of size 1 after the heads of `key`.
    fn with_group<'s>(&self, t: Value<'s>) -> Value<'s> {
        if self.0.is_some() && t.ndim() > 2 { unsqueeze(t, -3) } else { t }
    }

    /// Merges the dimensions of divided heads.
    fn merged<'s>(&self, t: Value<'s>) -> Value<'s> {
        if self.0.is_none() {
            return t;
        }
        let shape = t.shape();
        let d = shape.len() - 4;
        let shape: Dims = shape[..d].iter().copied().chain([shape[d] * shape[d + 1]]).chain(shape[d + 2..].iter().copied()).collect();
        reshape(t, &shape)
    }

    /// Sums the heads of `query` for each head of `key`.
    fn summed<'s>(&self, t: Value<'s>) -> Value<'s> {
        if self.0.is_some() { sum(t, -3, false) } else { t }
    }
}
