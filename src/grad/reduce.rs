//! Gradients in the shape of their input: what was broadcast is summed, and what was converted is converted back.

use super::switch::Switched;
use crate::api::functions::tensor::copies::table as copies;
use crate::error::{Result, bail};
use crate::expr::{Like, Scope, Value, expand, reshape, sum_dims, to_dtype};
use crate::layout::{Dims, wrap_dim};
use crate::tensor::Tensor;

/// `gradient` in the shape and dtype of an input.
pub fn fit(gradient: Tensor, like: &Like, recording: bool) -> Result<Tensor> {
    let layout = gradient.layout()?;
    if layout.shape == like.shape && gradient.dtype() == Some(like.dtype) {
        return Ok(gradient);
    }
    let scope = Scope::new(recording);
    let mut value = scope.value(gradient);
    if layout.shape != like.shape {
        value = sum_to(value, &like.shape);
    }
    if value.dtype() != like.dtype {
        value = to_dtype(value, like.dtype);
    }
    let fitted = value.tensor();
    scope.finish()?;
    match fitted {
        Some(t) if t.layout()?.shape == like.shape => Ok(t),
        _ => bail!(Shape, "a gradient of shape {:?} for an input of shape {:?}", layout.shape.as_slice(), like.shape.as_slice()),
    }
}

/// `a + b`, recorded.
pub fn add(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let _switched = Switched::to(true);
    let scope = Scope::new(true);
    let sum = (scope.value(a.clone()) + scope.value(b.clone())).tensor();
    scope.finish()?;
    match sum {
        Some(sum) => Ok(sum),
        None => bail!(Internal, "a sum without a result"),
    }
}

/// `t`, or a recorded copy if several positions of `t` share an element, so that later calls can write to the result.
pub fn dense(t: Tensor) -> Result<Tensor> {
    if !t.layout()?.overlaps_itself() {
        return Ok(t);
    }
    let _switched = Switched::to(true);
    let scope = Scope::new(true);
    let copied = scope.call(&copies::newClone::FUNCTION, &[scope.value(t).into()]).tensor();
    scope.finish()?;
    match copied {
        Some(copied) => Ok(copied),
        None => bail!(Internal, "a copy without a result"),
    }
}

/// `t` summed over what was broadcast from `shape`.
pub fn sum_to<'s>(t: Value<'s>, shape: &[i64]) -> Value<'s> {
    let from = t.shape();
    let Some(added) = from.len().checked_sub(shape.len()) else { return reshape(t, shape) };
    let summed: Dims = (0..from.len()).filter(|&d| d < added || (shape[d - added] == 1 && from[d] != 1)).map(|d| d as i64).collect();
    let r = if summed.is_empty() { t } else { sum_dims(t, &summed, true) };
    if added == 0 { r } else { reshape(r, shape) }
}

/// The dimensions `dims` of `ndim`, all for none, from 0 on and in order.
pub fn each_dim(dims: &[i64], ndim: usize) -> Dims {
    if dims.is_empty() {
        return (0..ndim as i64).collect();
    }
    let mut all: Vec<i64> = dims.iter().filter_map(|&d| wrap_dim(d as i32, ndim).ok()).map(|d| d as i64).collect();
    all.sort_unstable();
    all.dedup();
    all[..].into()
}

/// `g`, or another result of a reduction of `t` over `dims`, with those dimensions again, of size 1.
pub fn keep_dims<'s>(g: Value<'s>, ndim: usize, dims: &[i64], keepdim: bool) -> Value<'s> {
    if keepdim || ndim == 0 {
        return g;
    }
    let from = g.shape();
    let reduced = each_dim(dims, ndim);
    let mut kept = from.iter();
    let shape: Dims = (0..ndim as i64).map(|d| if reduced.contains(&d) { 1 } else { kept.next().copied().unwrap_or(1) }).collect();
    reshape(g, &shape)
}

/// The gradient of a sum over `dims`: `g` repeated.
pub fn expand_back<'s>(g: Value<'s>, t: &Like, dims: &[i64], keepdim: bool) -> Value<'s> {
    expand(keep_dims(g, t.shape.len(), dims, keepdim), &t.shape)
}
