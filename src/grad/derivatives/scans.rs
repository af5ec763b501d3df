//! Scans and softmax.

use super::writing::spread_back;
use crate::expr::*;
use crate::grad::names::derivatives;
use crate::layout::wrap_dim;

derivatives! {
    /// The derivatives of scans and of softmax.
    SCANS:

    cumsum { t: |g, dimension: i32| sums_from(g, dimension); }
    cumsumDtype { t: |g, dimension: i32| sums_from(g, dimension); }
    nancumsum { t: |g, t, dimension: i32| sums_from(g, dimension) * not(is_nan(t)); }
    cumprod { t: |g, t, r, dimension: i32| cumprod_back(g, t, r, dimension); }
    cumprodDtype { t: |g, t, r, dimension: i32| cumprod_back(g, to_dtype(t, g.dtype()), r, dimension); }
    cummax { t: |g, t: like, indices, dimension: i32| spread_back(g, &t, dimension, indices); }
    cummin { t: |g, t: like, indices, dimension: i32| spread_back(g, &t, dimension, indices); }
    logcumsumexp { t: |g, t, r, dimension: i32| logcumsumexp_back(g, t, r, dimension); }

    softmax { t: |g, r, dimension: i32| softmax_grad(g, r, dimension); }
    softmaxDtype { t: |g, r, dimension: i32| softmax_grad(g, r, dimension); }
    logSoftmax { t: |g, r, dimension: i32| log_softmax_grad(g, r, dimension); }
    logSoftmaxDtype { t: |g, r, dimension: i32| log_softmax_grad(g, r, dimension); }
    softmaxGrad {
        g: |h, y, dimension: i32| softmax_grad(h, y, dimension);
        y: |h, g, y, dimension: i32| h * (g - sum(g * y, dimension, true)) - g * sum(h * y, dimension, true);
    }
    logSoftmaxGrad {
        g: |h, y, dimension: i32| log_softmax_grad_back(h, y, dimension);
        y: |h, g, y, dimension: i32| -h * exp(y) * sum(g, dimension, true);
    }
}

/// The gradient of logSoftmaxGrad with respect to `g`.
pub(super) fn log_softmax_grad_back<'s>(h: Value<'s>, y: Value<'s>, dimension: i32) -> Value<'s> {
    h - sum(h * exp(y), dimension, true)
}

/// The sums of each element and all behind it.
fn sums_from(g: Value<'_>, dimension: i32) -> Value<'_> {
    backwards(g, dimension, |g| cumsum(g, dimension))
}

/// A scan from the last element to the first.
fn backwards<'s>(t: Value<'s>, dimension: i32, scan: impl FnOnce(Value<'s>) -> Value<'s>) -> Value<'s> {
    if t.ndim() == 0 {
        return scan(t);
    }
    let dims = [i64::from(dimension)];
    flip(scan(flip(t, &dims)), &dims)
}

/// The number of elements along a dimension, and 1 for a scalar.
fn size_along(t: Value<'_>, dimension: i32) -> i64 {
    wrap_dim(dimension, t.ndim()).ok().and_then(|dim| t.shape().get(dim).copied()).unwrap_or(1)
}

/// The products of all elements before each, from the products up to each.
fn products_before(products: Value<'_>, dimension: i32) -> Value<'_> {
    let n = size_along(products, dimension);
    if products.ndim() == 0 {
        return onesLike(products);
    }
    if n == 0 {
        return products;
    }
    join(onesLike(narrow(products, dimension, 0, 1)), narrow(products, dimension, 0, n - 1), dimension)
}

/// The products of all elements but each, along a dimension.
pub(super) fn products_of_others(t: Value<'_>, dimension: i32) -> Value<'_> {
    let before = products_before(cumprod(t, dimension), dimension);
    before * backwards(t, dimension, |t| products_before(cumprod(t, dimension), dimension))
}

/// `r[i] = g[i] + a[i] * r[i + 1]` along a dimension, from the last element, whose `a` does not count, to the first.
///
/// Each step doubles the number of terms that have been summed, so that there are no quotients, which zeros would spoil, and as many steps
/// as the size has binary digits.
fn recurrence<'s>(mut g: Value<'s>, mut a: Value<'s>, dimension: i32) -> Value<'s> {
    if g.ndim() == 0 {
        return g;
    }
    let n = size_along(g, dimension);
    let part = |t, first, size| narrow(t, dimension, first, size);
    let mut step = 1;
    while step < n {
        let summed = part(g, 0, n - step) + part(a, 0, n - step) * part(g, step, n - step);
        g = join(summed, part(g, n - step, step), dimension);
        if 2 * step < n {
            a = part(a, 0, n - 2 * step) * part(a, step, n - 2 * step);
        }
        step *= 2;
    }
    g
}

/// Each element of `t` replaced by the next along a dimension, and the last by itself.
fn next(t: Value<'_>, dimension: i32) -> Value<'_> {
    let n = size_along(t, dimension);
    if t.ndim() == 0 || n < 2 {
        return t;
    }
    join(narrow(t, dimension, 1, n - 1), narrow(t, dimension, n - 1, 1), dimension)
}

/// The gradient of cumulated products: exact where factors are 0.
fn cumprod_back<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>, dimension: i32) -> Value<'s> {
    products_before(r, dimension) * recurrence(g, next(t, dimension), dimension)
}

/// The gradient of `r[i] = log(e^t[0] + ... + e^t[i])`. All exponents are negative, as `r` grows.
fn logcumsumexp_back<'s>(g: Value<'s>, t: Value<'s>, r: Value<'s>, dimension: i32) -> Value<'s> {
    let (t, given) = (wide(t), t.dtype());
    // A result of 16 bits is too coarse for the differences of large numbers.
    let r = if t.dtype() == given { r } else { g.scope.call(&names::logcumsumexp::FUNCTION, &[t.into(), dimension.into()]) };
    let g = wide(g);
    // If all summands are minus infinity, the result is constant.
    let nothing = eq_value(r, f64::NEG_INFINITY);
    let share = |a: Value<'s>, b: Value<'s>| or_choose(nothing, 0.0, exp(a - b));
    let finite = or_choose(nothing, 0.0, r);
    let sums = recurrence(g, share(finite, next(finite, dimension)), dimension);
    share(t, finite) * sums
}

/// `softmaxGrad`.
pub(super) fn softmax_grad<'s>(g: Value<'s>, y: Value<'s>, dimension: i32) -> Value<'s> {
    g.scope.call(&names::softmaxGrad::FUNCTION, &[g.into(), y.into(), dimension.into()])
}

/// `logSoftmaxGrad`.
pub(super) fn log_softmax_grad<'s>(g: Value<'s>, y: Value<'s>, dimension: i32) -> Value<'s> {
    g.scope.call(&names::logSoftmaxGrad::FUNCTION, &[g.into(), y.into(), dimension.into()])
}
