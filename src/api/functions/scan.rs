//! Scans and softmax.
//!
//! Cumulative sums, products and extremes along a dimension, and softmax.
//!
//! Errors: `TH_ERR_ARGUMENT`, a dimension out of range; `TH_ERR_DTYPE`, a dtype that the function does not support, or a result that cannot
//! be converted to the dtype of `r`; `TH_ERR_SHAPE`, a tensor with too few dimensions.

use crate::api::table::table;
use crate::ops::{nan, scan, softmax};

macro_rules! scan_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r[i] = t[0] + ... + t[i]` along `dimension`; `r` has the shape of `t`. Integers and Bool give int64, which wraps; floats
            /// keep their dtype and are summed in float64.
            cumsum(r: out, t: input, dimension: dim) = scan::cumsum(r, t, dimension, None);
            /// `r[i] = t[0] + ... + t[i]` along `dimension`, where `t` is first converted to `dtype`, the dtype of the result. Otherwise as
            /// cumsum, which is the same as `TH_UNDEFINED`. Integers narrower than int64 wrap. For Bool the result is whether any element
            /// so far is true.
            cumsumDtype(r: out, t: input, dimension: dim, dtype: optional_dtype) = scan::cumsum(r, t, dimension, dtype);
            /// `r[i] = t[0] + ... + t[i]` along `dimension`, where NaN counts as 0; otherwise as cumsum.
            nancumsum(r: out, t: input, dimension: dim) = nan::cumsum(r, t, dimension);
            /// `r[i] = t[0] * ... * t[i]` along `dimension`; otherwise as cumsum.
            cumprod(r: out, t: input, dimension: dim) = scan::cumprod(r, t, dimension, None);
            /// `r[i] = t[0] * ... * t[i]` along `dimension`, where `t` is first converted to `dtype`; otherwise as cumprod, with `dtype` as
            /// for cumsumDtype.
            cumprodDtype(r: out, t: input, dimension: dim, dtype: optional_dtype) = scan::cumprod(r, t, dimension, dtype);
            /// `values[i] = max(t[0], ..., t[i])` along `dimension`; `indices` = its int64 index, the last one among equal elements. Both
            /// results have the shape of `t`; either may be NULL. NaN is greater than every number, so all values after a NaN are NaN.
            cummax(values: optional_out, indices: optional_indices, t: input, dimension: dim) = scan::extremes(true, values, indices, t,
                dimension);
            /// `values[i] = min(t[0], ..., t[i])` along `dimension`; all values after a NaN are NaN. Otherwise as cummax.
            cummin(values: optional_out, indices: optional_indices, t: input, dimension: dim) = scan::extremes(false, values, indices, t,
                dimension);
            /// `r = e^t / sum of e^t` along `dimension`: positive numbers that sum to 1, without overflow. Floats only; `r` has the shape
            /// of `t`.
            softmax(r: out, t: input, dimension: dim) = softmax::softmax(r, t, dimension, None);
            /// `r = e^t / sum of e^t` along `dimension`, where `t` is first converted to the float `dtype`, the dtype of the result.
            /// Otherwise as softmax, which is the same as `TH_UNDEFINED`.
            softmaxDtype(r: out, t: input, dimension: dim, dtype: optional_dtype) = softmax::softmax(r, t, dimension, dtype);
            /// `r = t - log(sum of e^t)` along `dimension`: the logarithm of softmax, accurate even where softmax is tiny. Floats only; `r`
            /// has the shape of `t`.
            logSoftmax(r: out, t: input, dimension: dim) = softmax::log_softmax(r, t, dimension, None);
            /// `r = t - log(sum of e^t)` along `dimension`, where `t` is first converted to `dtype`; otherwise as logSoftmax, with `dtype`
            /// as for softmaxDtype.
            logSoftmaxDtype(r: out, t: input, dimension: dim, dtype: optional_dtype) = softmax::log_softmax(r, t, dimension, dtype);
            /// `r[i] = log(e^t[0] + ... + e^t[i])` along `dimension`, without overflow; computed in float64. Floats only; `r` has the
            /// shape of `t`.
            logcumsumexp(r: out, t: input, dimension: dim) = softmax::logcumsumexp(r, t, dimension);
            /// `r = log(sum of e^t)` over `dimension`, or over all elements with `TH_ALL_DIMS`, without overflow; without elements the
            /// result is minus infinity. Integers and Bool give the default float dtype. With `keepdim` the dimension stays with size 1,
            /// else it is removed.
            logsumexp(r: out, t: input, dimension: dim, keepdim: flag) =
                softmax::logsumexp(r, t, dimension, keepdim);
            /// `r = log(sum of e^t)` over the `ndim` distinct dimensions in `dims`, or over all if `ndim` is 0 and `dims` NULL. Otherwise
            /// as logsumexp.
            logsumexpDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) =
                softmax::logsumexp_dims(r, t, dims, keepdim);
            /// `r = t`, where each slice along `dimension` with a p-norm above `maxnorm` is multiplied by `maxnorm / (norm + 1e-7)`. Floats
            /// with at least two dimensions; the `p` of the norm is `value`, which is positive and may be infinite.
            renorm(r: out, t: input, value: number, dimension: dim, maxnorm: number) =
                softmax::renorm(r, t, value.to_f64(), dimension, maxnorm.to_f64());
        }
    };
}

scan_functions!(table);
pub(crate) use scan_functions as functions;
