//! Scans and softmax.
//!
//! Errors: `TH_ERR_ARGUMENT`, a dimension out of range; `TH_ERR_DTYPE`, a dtype that the function is not defined for, or that the result
//! cannot take; `TH_ERR_SHAPE`, a tensor with too few dimensions.

use crate::api::table::table;
use crate::ops::{scan, softmax};

macro_rules! scan_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r[i] = t[0] + ... + t[i]` along `dimension`; `r` has the shape of `t`. Integers and Bool give int64, which wraps; floats keep
            /// their dtype and are summed in float64.
            cumsum(r: out, t: input, dimension: dim) = scan::cumsum(r, t, dimension, None);
            /// `r[i] = t[0] + ... + t[i]` along `dimension`, of `t` converted to `dtype`, which the result has; otherwise as cumsum, and with
            /// `TH_UNDEFINED` the same. Integers narrower than int64 wrap, and Bool is whether any element so far is true.
            cumsumDtype(r: out, t: input, dimension: dim, dtype: optional_dtype) = scan::cumsum(r, t, dimension, dtype);
            /// `r[i] = t[0] * ... * t[i]` along `dimension`; everything else as for cumsum.
            cumprod(r: out, t: input, dimension: dim) = scan::cumprod(r, t, dimension, None);
            /// `r[i] = t[0] * ... * t[i]` along `dimension`, of `t` converted to `dtype`; otherwise as cumprod, dtype as for cumsumDtype.
            cumprodDtype(r: out, t: input, dimension: dim, dtype: optional_dtype) = scan::cumprod(r, t, dimension, dtype);
            /// `values[i] = max(t[0], ..., t[i])` along `dimension`, and int64 `indices` of where it is: the last place among equals. Both have
            /// the shape of `t`; either may be NULL. A NaN is greater than everything, so that it stays.
            cummax(values: optional_out, indices: optional_indices, t: input, dimension: dim) = scan::extremes(true, values, indices, t,
                dimension);
            /// `values[i] = min(t[0], ..., t[i])` along `dimension`; everything else as for cummax, NaN too.
            cummin(values: optional_out, indices: optional_indices, t: input, dimension: dim) = scan::extremes(false, values, indices, t,
                dimension);
            /// `r = e^t / sum of e^t` along `dimension`: positive numbers that sum to 1, without overflow. Floats only; `r` has the shape of
            /// `t`.
            softmax(r: out, t: input, dimension: dim) = softmax::softmax(r, t, dimension, None);
            /// `r = e^t / sum of e^t` along `dimension`, of `t` converted to `dtype`, a float, which the result has; otherwise as softmax, and
            /// with `TH_UNDEFINED` the same.
            softmaxDtype(r: out, t: input, dimension: dim, dtype: optional_dtype) = softmax::softmax(r, t, dimension, dtype);
            /// `r = t - log(sum of e^t)` along `dimension`: the logarithm of softmax, exact where that is tiny. Floats only; `r` has the shape
            /// of `t`.
            logSoftmax(r: out, t: input, dimension: dim) = softmax::log_softmax(r, t, dimension, None);
            /// `r = t - log(sum of e^t)` along `dimension`, of `t` converted to `dtype`; otherwise as logSoftmax, dtype as for softmaxDtype.
            logSoftmaxDtype(r: out, t: input, dimension: dim, dtype: optional_dtype) = softmax::log_softmax(r, t, dimension, dtype);
            /// `r[i] = log(e^t[0] + ... + e^t[i])` along `dimension`, without overflow; computed in float64. Floats only; `r` has the
            /// shape of `t`.
            logcumsumexp(r: out, t: input, dimension: dim) = softmax::logcumsumexp(r, t, dimension);
            /// `r = log(sum of e^t)` over `dimension`, or over all with `TH_ALL_DIMS`, without overflow; without elements it is minus infinity.
            /// Integers and Bool give the default float dtype. With `keepdim` the dimension stays with size 1, else it disappears.
            logsumexp(r: out, t: input, dimension: dim, keepdim: flag) =
                softmax::logsumexp(r, t, dimension, keepdim);
            /// `r = log(sum of e^t)` over the `ndim` dimensions in `dims`, each named once; over all with `ndim` 0 and `dims` NULL. Everything
            /// else as for logsumexp.
            logsumexpDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) =
                softmax::logsumexp_dims(r, t, dims, keepdim);
            /// `r = t`, where each slice along `dimension` whose p-norm is greater than `maxnorm` is scaled down to it: by `maxnorm / (norm +
            /// 1e-7)`. Floats of at least two dimensions; `p` is `value`, positive, infinity allowed.
            renorm(r: out, t: input, value: number, dimension: dim, maxnorm: number) =
                softmax::renorm(r, t, value.to_f64(), dimension, maxnorm.to_f64());
        }
    };
}

scan_functions!(table);
pub(crate) use scan_functions as functions;
