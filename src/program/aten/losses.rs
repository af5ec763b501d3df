//! Losses and bags of embeddings.

use crate::dtype::Dtype;
use crate::error::Result;
use crate::expr::{self, Value, names};
use crate::program::call::Call;
use crate::program::frame::Item;

/// The elements, their mean or their sum: reduction 0, 1 or 2.
fn reduced(t: Value<'_>, reduction: i64) -> Value<'_> {
    match reduction {
        0 => t,
        1 => expr::mean_dims(t, &[], false),
        _ => expr::sum_dims(t, &[], false),
    }
}

/// The loss, and the sum of the weights of the targets.
pub fn nll_loss_forward(c: &Call<'_>) -> Result<Item> {
    let (t, target, weight, reduction, ignored) = (c.value(0)?, c.value(1)?, c.optional(2)?, c.int(3)?, c.int(4)?);
    let arguments = [t.into(), target.into(), weight.into(), (reduction as i32).into(), ignored.into()];
    let r = c.scope.call(&names::nllLoss::FUNCTION, &arguments);
    let counted = expr::ne_value(target, ignored as f64);
    let weights = match weight {
        _ if reduction == 0 => expr::reshape(expr::to_dtype(counted, t.dtype()), &[-1]) * 0.0,
        Some(weight) => expr::take(weight, expr::choose_or(counted, target, 0.0)) * expr::to_dtype(counted, t.dtype()),
        None => expr::to_dtype(counted, t.dtype()),
    };
    c.done_all(&[r, expr::sum_dims(weights, &[], false)])
}

/// The targets are classes, or probabilities of classes.
pub fn cross_entropy(c: &Call<'_>) -> Result<Item> {
    let (t, target, weight, reduction, smoothing) = (c.value(0)?, c.value(1)?, c.optional(2)?, c.int(3)?, c.number(5)?);
    if !target.dtype().is_float() {
        let arguments = [t.into(), target.into(), weight.into(), (reduction as i32).into(), c.int(4)?.into(), smoothing.into()];
        return c.done(c.scope.call(&names::crossEntropyLabelSmoothing::FUNCTION, &arguments));
    }
    let dim = i32::from(t.ndim() > 1);
    let shape = t.shape();
    let classes = shape[dim as usize];
    let target = if smoothing > 0.0 { target * (1.0 - smoothing) + smoothing / classes as f64 } else { target };
    let mut terms = target * c.scope.call(&names::logSoftmax::FUNCTION, &[t.into(), dim.into()]);
    if let Some(weight) = weight {
        let mut sizes = shape.clone();
        sizes.iter_mut().enumerate().for_each(|(k, size)| *size = if k == dim as usize { classes } else { 1 });
        terms = terms * expr::reshape(weight, &sizes);
    }
    c.done(reduced(-expr::sum(terms, dim, false), reduction))
}

pub fn soft_margin_loss(c: &Call<'_>) -> Result<Item> {
    let t = -(c.value(0)? * c.value(1)?);
    c.done(reduced(c.scope.call(&names::softplus::FUNCTION, &[t.into(), 1.0.into(), 20.0.into()]), c.int(2)?))
}

pub fn hinge_embedding_loss(c: &Call<'_>) -> Result<Item> {
    let (t, target) = (c.value(0)?, c.value(1)?);
    let below = expr::clamp_least(c.scope.call(&names::rsub::FUNCTION, &[t.into(), c.number(2)?.into()]), 0.0);
    let near = expr::choose_or(expr::ne_value(target, -1.0), t, 0.0);
    let far = expr::choose_or(expr::ne_value(target, 1.0), below, 0.0);
    c.done(reduced(near + far, c.int(3)?))
}

/// The bags. The other results are memory for a derivative, which thorn does not need.
pub fn embedding_bag(c: &Call<'_>) -> Result<Item> {
    let (weight, index, mut offsets) = (c.value(0)?, c.value(1)?, c.value(2)?);
    if c.flag(7)? {
        offsets = expr::narrow(offsets, 0, 0, offsets.numel() - 1);
    }
    let padding = if c.arguments.len() > 8 { c.optional_number(8)?.unwrap_or(-1.0) as i64 } else { -1 };
    let arguments = [weight.into(), index.into(), offsets.into(), c.dim(4)?.into(), c.optional(6)?.into(), padding.into()];
    let nothing = c.scope.nothing();
    c.done_all(&[c.scope.call(&names::embeddingBag::FUNCTION, &arguments), nothing, nothing, nothing])
}

/// The gradient of the weights of an embedding: the sum of the gradients of the rows with an index.
pub fn embedding_backward(c: &Call<'_>) -> Result<Item> {
    let (g, index, rows, padding) = (c.value(0)?, c.value(1)?, c.int(2)?, c.int(3)?);
    let columns = g.shape().last().copied().unwrap_or(1);
    let (index, mut g) = (expr::reshape(index, &[-1]), expr::reshape(g, &[-1, columns]));
    if padding >= 0 {
        let used = expr::unsqueeze(expr::ne_value(index, padding as f64), 1);
        g = g * expr::to_dtype(used, g.dtype());
    }
    let shape = [rows, columns];
    let r = c.scope.call(&names::newFull::FUNCTION, &[g.dtype().into(), (&shape[..]).into(), 0.0.into()]);
    c.scope.write(r, &names::indexAdd::FUNCTION, &[0.into(), expr::to_dtype(index, Dtype::Int64).into(), g.into()]);
    c.done(r)
}
