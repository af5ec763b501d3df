//! Reductions.

use super::scans::products_of_others;
use super::writing::{into_zeros, spread_back};
use crate::expr::*;
use crate::grad::formula::Call;
use crate::grad::names::derivatives;
use crate::grad::reduce::{each_dim, expand_back, keep_dims};
use crate::layout::{Dims, wrap_dim};
use crate::ops::reduce::TH_ALL_DIMS;

derivatives! {
    /// The derivatives of reductions.
    REDUCTIONS:

    // Sums, means and products.
    sum { t: |g, t: like, dimension: i32, keepdim: bool| expand_back(g, &t, &along(dimension), keepdim); }
    sumDims { t: |g, t: like, dims: list, keepdim: bool| expand_back(g, &t, dims, keepdim); }
    mean { t: |g, t: like, dimension: i32, keepdim: bool| mean_back(g, &t, &along(dimension), keepdim); }
    meanDims { t: |g, t: like, dims: list, keepdim: bool| mean_back(g, &t, dims, keepdim); }
    nansum { t: |g, t, dimension: i32, keepdim: bool| nansum_back(g, t, &along(dimension), keepdim); }
    nansumDims { t: |g, t, dims: list, keepdim: bool| nansum_back(g, t, dims, keepdim); }
    nanmean { t: |g, t, dimension: i32, keepdim: bool| nanmean_back(g, t, &along(dimension), keepdim); }
    nanmeanDims { t: |g, t, dims: list, keepdim: bool| nanmean_back(g, t, dims, keepdim); }
    prod { t: |g, t: wide, dimension: i32, keepdim: bool| prod_back(g, t, &along(dimension), keepdim); }
    prodDims { t: |g, t: wide, dims: list, keepdim: bool| prod_back(g, t, dims, keepdim); }
    nanprod { t: |g, t: wide, dimension: i32, keepdim: bool| nanprod_back(g, t, &along(dimension), keepdim); }
    nanprodDims { t: |g, t: wide, dims: list, keepdim: bool| nanprod_back(g, t, dims, keepdim); }

    // Variances and standard deviations.
    var { t: |g, t: wide, dimension: i32, biased: bool, keepdim: bool| var_back(g, t, &along(dimension), bessel(biased), keepdim); }
    varDims { t: |g, t: wide, dims: list, biased: bool, keepdim: bool| var_back(g, t, dims, bessel(biased), keepdim); }
    varCorrection { t: |g, t: wide, dimension: i32, correction: f64, keepdim: bool|
        var_back(g, t, &along(dimension), correction, keepdim); }
    varDimsCorrection { t: |g, t: wide, dims: list, correction: f64, keepdim: bool| var_back(g, t, dims, correction, keepdim); }
    std {
        t: |g, t, r, dimension: i32, biased: bool, keepdim: bool| std_back(g, t, r, &along(dimension), bessel(biased), keepdim);
    }
    stdDims { t: |g, t, r, dims: list, biased: bool, keepdim: bool| std_back(g, t, r, dims, bessel(biased), keepdim); }
    stdCorrection {
        t: |g, t, r, dimension: i32, correction: f64, keepdim: bool| std_back(g, t, r, &along(dimension), correction, keepdim);
    }
    stdDimsCorrection { t: |g, t, r, dims: list, correction: f64, keepdim: bool| std_back(g, t, r, dims, correction, keepdim); }
    nanvar { t: |g, t: wide, dimension: i32, correction: f64, keepdim: bool| nanvar_back(g, t, &along(dimension), correction, keepdim); }
    nanvarDims { t: |g, t: wide, dims: list, correction: f64, keepdim: bool| nanvar_back(g, t, dims, correction, keepdim); }
    nanstd { t: |g, t, r, dimension: i32, correction: f64, keepdim: bool| nanstd_back(g, t, r, &along(dimension), correction, keepdim); }
    nanstdDims { t: |g, t, r, dims: list, correction: f64, keepdim: bool| nanstd_back(g, t, r, dims, correction, keepdim); }

    // The greatest and the least: equal ones share, unless the result says which one it is.
    amax { t: |g, t, r, dimension: i32, keepdim: bool| extreme_back(g, t, r, &along(dimension), keepdim); }
    amaxDims { t: |g, t, r, dims: list, keepdim: bool| extreme_back(g, t, r, dims, keepdim); }
    amin { t: |g, t, r, dimension: i32, keepdim: bool| extreme_back(g, t, r, &along(dimension), keepdim); }
    aminDims { t: |g, t, r, dims: list, keepdim: bool| extreme_back(g, t, r, dims, keepdim); }
    nanmax { t: |g, t, r, dimension: i32, keepdim: bool| nan_extreme_back(g, t, r, &along(dimension), keepdim); }
    nanmaxDims { t: |g, t, r, dims: list, keepdim: bool| nan_extreme_back(g, t, r, dims, keepdim); }
    nanmin { t: |g, t, r, dimension: i32, keepdim: bool| nan_extreme_back(g, t, r, &along(dimension), keepdim); }
    nanminDims { t: |g, t, r, dims: list, keepdim: bool| nan_extreme_back(g, t, r, dims, keepdim); }
    aminmax {
        each(t): |call, t: all, least: all, greatest: all, dimension: i32, keepdim: bool|
            aminmax_back(call, t, [least, greatest], &along(dimension), keepdim);
    }
    max { t: |g, t: like, indices, dimension: i32, keepdim: bool| picked_back(g, &t, indices, dimension, keepdim); }
    min { t: |g, t: like, indices, dimension: i32, keepdim: bool| picked_back(g, &t, indices, dimension, keepdim); }

    // Norms.
    norm { t: |g, t, r, value: f64, dimension: i32, keepdim: bool| norm_back(g, t, r, value, &along(dimension), keepdim); }
    normDims { t: |g, t, r, value: f64, dims: list, keepdim: bool| norm_back(g, t, r, value, dims, keepdim); }
    renorm { t: |g, t: wide, value: f64, dimension: i32, maxnorm: f64| renorm_back(g, t, value, dimension, maxnorm); }
    logsumexp { t: |g, t: wide, r: wide, dimension: i32, keepdim: bool| logsumexp_back(g, t, r, &along(dimension), keepdim); }
    logsumexpDims { t: |g, t: wide, r: wide, dims: list, keepdim: bool| logsumexp_back(g, t, r, dims, keepdim); }
}

/// The list of the one dimension, or the empty list for all dimensions.
pub(super) fn along(dimension: i32) -> Dims {
    if dimension == TH_ALL_DIMS { Dims::new() } else { Dims::from(&[i64::from(dimension)]) }
}

/// The correction of a variance: 1 unless it is biased.
fn bessel(biased: bool) -> f64 {
    f64::from(u8::from(!biased))
}

/// The number of elements that become one.
fn count(shape: &[i64], dims: &[i64]) -> f64 {
    each_dim(dims, shape.len()).iter().map(|&d| shape.get(d as usize).copied().unwrap_or(1) as f64).product()
}

/// `t` in the dtype of `g`.
pub(super) fn in_dtype_of<'s>(g: Value<'s>, t: Value<'s>) -> Value<'s> {
    if t.dtype() == g.dtype() { t } else { to_dtype(t, g.dtype()) }
}

/// `t`, with 1 in place of 0.
fn nonzero(t: Value<'_>) -> Value<'_> {
    or_choose(eq_value(t, 0.0), 1.0, t)
}

fn mean_back<'s>(g: Value<'s>, t: &Like, dims: &[i64], keepdim: bool) -> Value<'s> {
    expand_back(g / count(&t.shape, dims).max(1.0), t, dims, keepdim)
}

fn nansum_back<'s>(g: Value<'s>, t: Value<'s>, dims: &[i64], keepdim: bool) -> Value<'s> {
    keep_dims(g, t.ndim(), dims, keepdim) * not(is_nan(t))
}

fn nanmean_back<'s>(g: Value<'s>, t: Value<'s>, dims: &[i64], keepdim: bool) -> Value<'s> {
    let numbers = sum_dims(not(is_nan(t)), &each_dim(dims, t.ndim()), true);
    nansum_back(keep_dims(g, t.ndim(), dims, keepdim) / to_dtype(numbers, g.dtype().compute()), t, dims, true)
}

/// The gradient of a product, which is exact where factors are 0: `g` times the product of the other elements.
fn prod_back<'s>(g: Value<'s>, t: Value<'s>, dims: &[i64], keepdim: bool) -> Value<'s> {
    let (g, ndim) = (wide(g), t.ndim());
    let t = in_dtype_of(g, t);
    let reduced = each_dim(dims, ndim);
    if ndim == 0 {
        return g;
    }
    let g = keep_dims(g, ndim, dims, keepdim);
    if let [dim] = reduced[..] {
        return g * products_of_others(t, dim as i32);
    }
    // The reduced dimensions become the last, and one.
    let order: Dims = (0..ndim as i64).filter(|d| !reduced.contains(d)).chain(reduced.iter().copied()).collect();
    let mut inverse = order.clone();
    order.iter().enumerate().for_each(|(k, &d)| inverse[d as usize] = k as i64);
    let moved = permute(t, &order);
    let apart = moved.shape();
    let kept = ndim - reduced.len();
    let together: Dims = apart[..kept].iter().copied().chain([apart[kept..].iter().product()]).collect();
    let others = products_of_others(reshape(moved, &together), kept as i32);
    g * permute(reshape(others, &apart), &inverse)
}

fn nanprod_back<'s>(g: Value<'s>, t: Value<'s>, dims: &[i64], keepdim: bool) -> Value<'s> {
    let missing = is_nan(t);
    or_choose(missing, 0.0, prod_back(g, or_choose(missing, 1.0, t), dims, keepdim))
}

fn var_back<'s>(g: Value<'s>, t: Value<'s>, dims: &[i64], correction: f64, keepdim: bool) -> Value<'s> {
    let centred = t - mean_dims(t, &each_dim(dims, t.ndim()), true);
    centred * (keep_dims(g, t.ndim(), dims, keepdim) * (2.0 / (count(&t.shape(), dims) - correction)))
}

/// The gradient of a standard deviation. A result of 16 bits may have lost its digits, so that it is computed again.
fn std_back<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>, dims: &[i64], correction: f64, keepdim: bool) -> Value<'s> {
    let (t, given) = (wide(t), t.dtype());
    let again = || g.scope.call(&names::stdDimsCorrection::FUNCTION, &[t.into(), dims.into(), correction.into(), keepdim.into()]);
    let r = if t.dtype() == given { r } else { again() };
    var_back(root_back(g, r), t, dims, correction, keepdim)
}

/// The gradient of a variance without NaNs: 0 for NaN.
fn nanvar_back<'s>(g: Value<'s>, t: Value<'s>, dims: &[i64], correction: f64, keepdim: bool) -> Value<'s> {
    let (missing, reduced) = (is_nan(t), each_dim(dims, t.ndim()));
    let count = to_dtype(sum_dims(not(missing), &reduced, true), t.dtype());
    let mean = g.scope.call(&names::nanmeanDims::FUNCTION, &[t.into(), (&reduced).into(), true.into()]);
    or_choose(missing, 0.0, (t - mean) * (keep_dims(g, t.ndim(), dims, keepdim) * 2.0 / (count - correction)))
}

/// The gradient of a standard deviation without NaNs. A result of 16 bits may have lost its digits, so that it is computed again.
fn nanstd_back<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>, dims: &[i64], correction: f64, keepdim: bool) -> Value<'s> {
    let (t, given) = (wide(t), t.dtype());
    let again = || g.scope.call(&names::nanstdDims::FUNCTION, &[t.into(), dims.into(), correction.into(), keepdim.into()]);
    let r = if t.dtype() == given { r } else { again() };
    nanvar_back(root_back(g, r), t, dims, correction, keepdim)
}

/// The gradient of a root, with the result `r`: 0 where that is 0.
fn root_back<'s>(g: Value<'s>, r: Value<'s>) -> Value<'s> {
    or_choose(eq_value(r, 0.0), 0.0, g / (nonzero(r) * 2.0))
}

/// The gradient of a reduction to the elements of `t` that equal the result, which share it.
fn extreme_back<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>, dims: &[i64], keepdim: bool) -> Value<'s> {
    shared_by(eq(t, keep_dims(r, t.ndim(), dims, keepdim)), keep_dims(g, t.ndim(), dims, keepdim), dims)
}

/// [`extreme_back`] for a reduction without NaNs: 0 for lines of NaNs alone.
fn nan_extreme_back<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>, dims: &[i64], keepdim: bool) -> Value<'s> {
    let mask = eq(t, keep_dims(r, t.ndim(), dims, keepdim));
    let sharers = to_dtype(sum_dims(mask, &each_dim(dims, t.ndim()), true), g.dtype().compute());
    choose_or(mask, keep_dims(g, t.ndim(), dims, keepdim), 0.0) / nonzero(sharers)
}

/// `g` for those that `mask` names, divided by their number along `dims`.
fn shared_by<'s>(mask: Value<'s>, g: Value<'s>, dims: &[i64]) -> Value<'s> {
    let sharers = sum_dims(mask, &each_dim(dims, mask.ndim()), true);
    choose_or(mask, g, 0.0) / to_dtype(sharers, g.dtype().compute())
}

fn aminmax_back(call: &Call<'_>, t: usize, results: [usize; 2], dims: &[i64], keepdim: bool) {
    let each = results.iter().filter_map(|&r| Some(extreme_back(call.grad(r)?, call.kept(t), call.kept(r), dims, keepdim)));
    if let Some(sum) = each.reduce(|a, b| a + b) {
        call.give(t, sum);
    }
}

/// The gradient of elements of `t` at `indices` along a dimension, or of the one at a position among all.
pub(super) fn picked_back<'s>(g: Value<'s>, t: &Like, indices: Value<'s>, dimension: i32, keepdim: bool) -> Value<'s> {
    if dimension == TH_ALL_DIMS {
        let to = Like { dtype: g.dtype(), ..t.clone() };
        return into_zeros(g, &to, &names::put::FUNCTION, &[reshape(indices, &[1]).into(), reshape(g, &[1]).into(), true.into()]);
    }
    let (ndim, dims) = (t.shape.len(), along(dimension));
    spread_back(keep_dims(g, ndim, &dims, keepdim), t, dimension, keep_dims(indices, ndim, &dims, keepdim))
}

/// The gradient of a p-norm with the result `r`: 0 for elements that are 0.
pub(super) fn norm_back<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>, p: f64, dims: &[i64], keepdim: bool) -> Value<'s> {
    let (t, given) = (wide(t), t.dtype());
    // A result of 16 bits may have lost its digits.
    let r = if t.dtype() == given {
        r
    } else {
        g.scope.call(&names::normDims::FUNCTION, &[t.into(), p.into(), dims.into(), keepdim.into(), In::Null])
    };
    let g = wide(g);
    let t = in_dtype_of(g, t);
    let (g, r) = (keep_dims(g, t.ndim(), dims, keepdim), keep_dims(r, t.ndim(), dims, keepdim));
    if p == 0.0 {
        return zerosLike(t);
    }
    if p == 1.0 {
        return sign(t) * g;
    }
    if p == 2.0 {
        return t * (g / nonzero(r));
    }
    if p.is_infinite() {
        let greatest = either(eq(abs(t), r), both(is_nan(t), is_nan(r)));
        return sign(t) * shared_by(greatest, g, dims);
    }
    let flat = either(eq_value(t, 0.0), eq_value(r, 0.0));
    let share = or_choose(flat, 1.0, abs(t) / nonzero(r));
    or_choose(flat, 0.0, g * (sign(t) * power(share, p - 1.0)))
}

/// The gradient of slices that are scaled down to `maxnorm`.
fn renorm_back<'s>(g: Value<'s>, t: Value<'s>, p: f64, dimension: i32, maxnorm: f64) -> Value<'s> {
    let Ok(dim) = wrap_dim(dimension, t.ndim()) else { return g };
    let dims: Dims = (0..t.ndim() as i64).filter(|&d| d != dim as i64).collect();
    let norm = g.scope.call(&names::normDims::FUNCTION, &[t.into(), p.into(), (&dims).into(), true.into(), In::Null]);
    let through_norm = norm_back(sum_dims(t * g, &dims, true), t, norm, p, &dims, true);
    let inverse = cinv(norm + 1e-7);
    choose(gt_value(norm, maxnorm), (g - inverse * through_norm) * (inverse * maxnorm), g)
}

fn logsumexp_back<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>, dims: &[i64], keepdim: bool) -> Value<'s> {
    let (g, r) = (keep_dims(g, t.ndim(), dims, keepdim), keep_dims(r, t.ndim(), dims, keepdim));
    // If all elements are minus infinity, the gradient is 0.
    let powers = exp(t - or_choose(eq_value(r, f64::NEG_INFINITY), 0.0, r));
    // `r` is rounded. The error is a common factor of all powers, which the division by the sum removes.
    let total = sum_dims(powers, &each_dim(dims, t.ndim()), true);
    g * (powers / nonzero(total))
}
