//! Values that rows write to: what elements by index, and the reductions that pick elements, give back.

use crate::api::function::Function;
use crate::expr::*;
use crate::layout::Dims;
use crate::ops::rearrange::TH_PAD_CONSTANT;

/// Zeros of a shape, after a row wrote to them.
pub(super) fn into_zeros<'s>(g: Value<'s>, like: &Like, row: &'static Function, args: &[In<'s, '_>]) -> Value<'s> {
    let r = zeros(g, like);
    g.scope.write(r, row, args);
    r
}

/// A copy of `g`, after a row wrote to it.
pub(super) fn cleared<'s>(g: Value<'s>, row: &'static Function, args: &[In<'s, '_>]) -> Value<'s> {
    let r = clone(g);
    g.scope.write(r, row, args);
    r
}

/// The gradient of the elements of `t` that a row took along a dimension.
pub(super) fn spread_back<'s>(g: Value<'s>, t: &Like, dimension: i32, indices: Value<'s>) -> Value<'s> {
    let to = Like { dtype: g.dtype(), ..t.clone() };
    into_zeros(g, &to, &names::scatterAdd::FUNCTION, &[dimension.into(), indices.into(), g.into()])
}

/// `g`, with zeros behind it in each dimension to the shape of `like`.
pub(super) fn followed_by_zeros<'s>(g: Value<'s>, like: &Like) -> Value<'s> {
    let shape = g.shape();
    let pads: Dims = (0..shape.len()).rev().flat_map(|d| [0, like.shape[d] - shape[d]]).collect();
    if shape == like.shape {
        return g;
    }
    g.scope.call(&names::pad::FUNCTION, &[g.into(), (&pads).into(), TH_PAD_CONSTANT.into(), 0.0.into()])
}
