//! Sorting, selection and quantiles.

use super::reductions::picked_back;
use super::writing::spread_back;
use crate::dtype::Dtype;
use crate::expr::*;
use crate::grad::names::derivatives;
use crate::layout::{Dims, wrap_dim};
use crate::ops::order::{
    TH_INTERPOLATION_HIGHER, TH_INTERPOLATION_LOWER, TH_INTERPOLATION_MIDPOINT, TH_INTERPOLATION_NEAREST, THInterpolation,
};
use crate::ops::reduce::TH_ALL_DIMS;

derivatives! {
    /// The derivatives of sorting, selection and quantiles: what was taken from a place has its gradient there.
    ORDER:

    sort { t: |g, t: like, indices, dimension: i32| spread_back(g, &t, dimension, indices); }
    msort { t: |g, t| spread_back(g, &t.like(), 0, order_of(t, 0)); }
    topk { t: |g, t: like, indices, dimension: i32| spread_back(g, &t, dimension, indices); }
    kthvalue { t: |g, t: like, indices, dimension: i32, keepdim: bool| picked_back(g, &t, indices, dimension, keepdim); }
    median { t: |g, t: like, indices, dimension: i32, keepdim: bool| picked_back(g, &t, indices, dimension, keepdim); }
    nanmedian { t: |g, t: like, indices, dimension: i32, keepdim: bool| picked_back(g, &t, indices, dimension, keepdim); }
    mode { t: |g, t: like, indices, dimension: i32, keepdim: bool| picked_back(g, &t, indices, dimension, keepdim); }

    quantile {
        t: |g, t, q: f64, dimension: i32, interpolation: i32| Quantiles::new(t, number(t, q), dimension, interpolation, false).back(g);
    }
    nanquantile {
        t: |g, t, q: f64, dimension: i32, interpolation: i32| Quantiles::new(t, number(t, q), dimension, interpolation, true).back(g);
    }
    quantileTensor {
        t: |g, t, q, dimension: i32, interpolation: i32| Quantiles::new(t, q, dimension, interpolation, false).back(g);
        q: |g, t, q, dimension: i32, interpolation: i32| Quantiles::new(t, q, dimension, interpolation, false).back_to_q(g);
    }
    nanquantileTensor {
        t: |g, t, q, dimension: i32, interpolation: i32| Quantiles::new(t, q, dimension, interpolation, true).back(g);
        q: |g, t, q, dimension: i32, interpolation: i32| Quantiles::new(t, q, dimension, interpolation, true).back_to_q(g);
    }
}

/// The indices that sort `t`.
fn order_of(t: Value<'_>, dimension: i32) -> Value<'_> {
    t.scope.call(&names::argsort::FUNCTION, &[t.into(), dimension.into(), false.into(), true.into()])
}

/// A scalar on the device of `t`.
fn number(t: Value<'_>, x: f64) -> Value<'_> {
    full(t, &Like { shape: Dims::new(), dtype: Dtype::Float64, ..t.like() }, x)
}

/// The quantiles of lines of `t`, each an element or between two of them.
struct Quantiles<'s> {
    t: Like,
    q: Like,
    /// The dimension of the lines of `t`; `None` if all elements are one line.
    dim: Option<usize>,
    /// `t` with lines along the last dimension; the following have quantiles there, or one entry for all.
    lines: Value<'s>,
    /// The places of the elements, or of the smaller neighbours.
    below: Value<'s>,
    /// The places of the greater neighbours, and their shares.
    above: Option<(Value<'s>, Value<'s>)>,
    /// The slope of the share as a function of `q`.
    slope: Option<Value<'s>>,
}

impl<'s> Quantiles<'s> {
    fn new(t: Value<'s>, q: Value<'s>, dimension: i32, interpolation: THInterpolation, skip_nan: bool) -> Quantiles<'s> {
        let dim = if dimension == TH_ALL_DIMS { None } else { wrap_dim(dimension, t.ndim()).ok() };
        let lines = dim.map_or_else(|| reshape(t, &[t.numel()]), |dim| reordered(t, dim, t.ndim().max(1) - 1));
        let (rank, span) = ranks(lines, q, skip_nan);
        let order = order_of(lines, -1);
        let place = |rank| gather(order, -1, to_dtype(rank, Dtype::Int64));
        let share = |x| to_dtype(x, t.dtype());
        let (below, above, slope) = match interpolation {
            TH_INTERPOLATION_LOWER => (floored(rank), None, None),
            TH_INTERPOLATION_HIGHER => (ceiled(rank), None, None),
            TH_INTERPOLATION_NEAREST => (rounded(rank), None, None),
            TH_INTERPOLATION_MIDPOINT => (floored(rank), Some(share(onesLike(rank) * 0.5)), None),
            _ => (floored(rank), Some(share(rank - floored(rank))), Some(share(span))),
        };
        let above = above.map(|share| (place(ceiled(rank)), share));
        Quantiles { t: t.like(), q: q.like(), dim, lines, below: place(below), above, slope }
    }

    /// `g` with the quantiles of a line along the last dimension.
    fn by_lines(&self, g: Value<'s>) -> Value<'s> {
        let lines = self.lines.shape();
        let lines = &lines[..lines.len() - 1];
        if self.q.shape.is_empty() {
            let shape: Dims = lines.iter().copied().chain([1]).collect();
            return reshape(g, &shape);
        }
        let shape: Dims = self.q.shape.iter().chain(lines).copied().collect();
        reordered(reshape(g, &shape), 0, lines.len())
    }

    /// The gradient of `t`.
    fn back(&self, g: Value<'s>) -> Value<'s> {
        let (g, lines) = (self.by_lines(g), self.lines.like());
        let gradient = match self.above {
            None => spread_back(g, &lines, -1, self.below),
            Some((above, share)) => spread_back(g * (-share + 1.0), &lines, -1, self.below) + spread_back(g * share, &lines, -1, above),
        };
        match self.dim {
            Some(dim) => reordered(gradient, self.t.shape.len().max(1) - 1, dim),
            None => reshape(gradient, &self.t.shape),
        }
    }

    /// The gradient of `q`.
    fn back_to_q(&self, g: Value<'s>) -> Value<'s> {
        let (Some(slope), Some((above, _))) = (self.slope, self.above) else { return zeros(g, &self.q) };
        let between = gather(self.lines, -1, above) - gather(self.lines, -1, self.below);
        let each = or_choose(eq_value(slope, 0.0), 0.0, self.by_lines(g) * between * slope);
        let lines: Dims = (0..each.ndim() as i64 - 1).collect();
        reshape(if lines.is_empty() { each } else { sum_dims(each, &lines, false) }, &self.q.shape)
    }
}

/// The ranks of the quantiles `q` of lines, from 0, and their slope as a function of `q`. A NaN is every quantile of its line, unless NaNs
/// are left out.
fn ranks<'s>(lines: Value<'s>, q: Value<'s>, skip_nan: bool) -> (Value<'s>, Value<'s>) {
    // The function rounds `q` to the dtype it computes in.
    let rounded = if lines.dtype() == Dtype::Float64 { q } else { to_dtype(q, Dtype::Float32) };
    let q = reshape(to_dtype(rounded, Dtype::Float64), &[q.numel()]);
    let numbers = sum_dims(not(is_nan(lines)), &[-1], true);
    if skip_nan {
        let span = clamp_least(to_dtype(numbers, Dtype::Float64) - 1.0, 0.0);
        return (q * span, span);
    }
    let n = lines.shape().last().copied().unwrap_or(1) as f64;
    let span = to_dtype(eq_value(numbers, n), Dtype::Float64) * (n - 1.0);
    (q * span + (-span + (n - 1.0)), span)
}

/// `t` with a dimension in another place, the others in their order.
fn reordered(t: Value<'_>, from: usize, to: usize) -> Value<'_> {
    if t.ndim() == 0 {
        return reshape(t, &[1]);
    }
    let mut order: Vec<i64> = (0..t.ndim() as i64).collect();
    let moved = order.remove(from);
    order.insert(to, moved);
    permute(t, &order)
}
