//! `THTensor_*`: scans, softmax and its kin.

use super::{export, numbers};
use crate::ops::{scan, softmax};
use crate::tensor::THTensor;
use std::ffi::c_int;
use std::ptr::NonNull;

export! {
    /// `r[i] = t[0] + ... + t[i]` along `dimension`; `r` has the shape of `t`. Integers and Bool give int64, which wraps; floats keep their
    /// dtype and are summed in float64.
    fn THTensor_cumsum(r: *mut THTensor, t: *const THTensor, dimension: c_int) = scan::cumsum(r, t, dimension);
    /// `r[i] = t[0] * ... * t[i]` along `dimension`; everything else as for cumsum.
    fn THTensor_cumprod(r: *mut THTensor, t: *const THTensor, dimension: c_int) = scan::cumprod(r, t, dimension);
    /// `values[i] = max(t[0], ..., t[i])` along `dimension`, and int64 `indices` of where it is: the last place among equals. Both have the shape
    /// of `t`; either may be NULL. A NaN is greater than everything, so that it stays.
    fn THTensor_cummax(
        values: Option<NonNull<THTensor>>, indices: Option<NonNull<THTensor>>, t: *const THTensor, dimension: c_int,
    ) = scan::cummax(values, indices, t, dimension);
    /// `values[i] = min(t[0], ..., t[i])` along `dimension`; everything else as for cummax, NaN too.
    fn THTensor_cummin(
        values: Option<NonNull<THTensor>>, indices: Option<NonNull<THTensor>>, t: *const THTensor, dimension: c_int,
    ) = scan::cummin(values, indices, t, dimension);
    /// `r = e^t / sum of e^t` along `dimension`: positive numbers that sum to 1, without overflow. Floats only; `r` has the shape of `t`.
    fn THTensor_softmax(r: *mut THTensor, t: *const THTensor, dimension: c_int) = softmax::softmax(r, t, dimension);
    /// `r = t - log(sum of e^t)` along `dimension`: the logarithm of softmax, exact where that is tiny. Floats only; `r` has the shape of `t`.
    fn THTensor_logSoftmax(r: *mut THTensor, t: *const THTensor, dimension: c_int) = softmax::log_softmax(r, t, dimension);
    /// `r[i] = log(e^t[0] + ... + e^t[i])` along `dimension`, without overflow; computed in float64. Floats only; `r` has the
    /// shape of `t`.
    fn THTensor_logcumsumexp(r: *mut THTensor, t: *const THTensor, dimension: c_int) = softmax::logcumsumexp(r, t, dimension);
    /// `r = log(sum of e^t)` over `dimension`, or over all with `TH_ALL_DIMS`, without overflow; of nothing minus infinity. Integers and Bool
    /// give the default float dtype. With `keepdim` the dimension stays with size 1, else it disappears.
    fn THTensor_logsumexp(r: *mut THTensor, t: *const THTensor, dimension: c_int, keepdim: c_int) =
        softmax::logsumexp(r, t, dimension, keepdim != 0);
    /// `r = log(sum of e^t)` over the `ndim` dimensions in `dims`, each named once; over all with `ndim` 0 and `dims` NULL. Everything else as
    /// for logsumexp.
    fn THTensor_logsumexpDims(r: *mut THTensor, t: *const THTensor, ndim: c_int, dims: *const i64, keepdim: c_int) =
        // SAFETY: the caller says that `dims` has `ndim` entries.
        softmax::logsumexp_dims(r, t, unsafe { numbers("dims", ndim, dims) }?, keepdim != 0);
    /// `r = t`, where each slice along `dimension` whose p-norm is greater than `maxnorm` is scaled down to it: by `maxnorm / (norm + 1e-7)`. Floats
    /// of at least two dimensions; `p` is `value`, positive, infinity allowed.
    fn THTensor_renorm(r: *mut THTensor, t: *const THTensor, value: f64, dimension: c_int, maxnorm: f64) =
        softmax::renorm(r, t, value, dimension, maxnorm);
}
