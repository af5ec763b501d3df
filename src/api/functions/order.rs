//! Order statistics and histograms.
//!
//! Medians, quantiles, most frequent elements, and numbers of elements in intervals.
//!
//! Errors: `TH_ERR_ARGUMENT`, an invalid dimension, rank, quantile or range; `TH_ERR_SHAPE`, operands whose shapes do not fit each other;
//! `TH_ERR_DTYPE`, a dtype that the function does not support.

use crate::api::table::table;
use crate::ops::{histogram, order};

macro_rules! order_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `values = k-th smallest elements of t over dimension`, with `k` from 1, or over all elements with `TH_ALL_DIMS`; `indices` =
            /// the int64 index of the first occurrence of each value, in row-major order over all elements. Either result may be NULL.
            ///
            /// NaN is greater than every other number. -0.0 equals 0.0 and is returned as 0.0. Every dtype except Bool; `values` gets the
            /// dtype of `t` if it has none. With `keepdim` the dimension stays with size 1, else it is removed. A dimension without
            /// elements and a `k` out of range are errors.
            kthvalue(values: optional_out, indices: optional_indices, t: input, k: count, dimension: dim, keepdim: flag) =
                order::kthvalue((values, indices), t, k, dimension, keepdim);
            /// `values = medians of t over dimension`: the middle element in ascending order, or the smaller of the two middle elements. If
            /// a slice contains NaN, its median is NaN. Otherwise as kthvalue.
            median(values: optional_out, indices: optional_indices, t: input, dimension: dim, keepdim: flag) =
                order::median((values, indices), t, dimension, keepdim, false);
            /// `values = medians of t over dimension without the NaNs`; the median of NaNs alone is NaN. Otherwise as kthvalue.
            nanmedian(values: optional_out, indices: optional_indices, t: input, dimension: dim, keepdim: flag) =
                order::median((values, indices), t, dimension, keepdim, true);
            /// The median of all elements; NaN if any element is NaN, if `t` is empty, and on error.
            medianall(t: input) -> number = order::median_all(t);
            /// `values = most frequent elements of t over dimension`, or over all elements with `TH_ALL_DIMS`; of equally frequent
            /// elements, the smallest. `indices` = the int64 index of the last occurrence of each value. NaNs are counted only if all
            /// elements are NaN; `indices` then has the index of the first NaN. Every dtype; the results are as for kthvalue.
            mode(values: optional_out, indices: optional_indices, t: input, dimension: dim, keepdim: flag) =
                order::mode((values, indices), t, dimension, keepdim);
            /// `r = element of rank q * (n - 1) of t over dimension` in ascending order, with ranks from 0, or over all elements with
            /// `TH_ALL_DIMS`; `q` is from 0 to 1.
            ///
            /// Between two ranks, `interpolation`, a constant of THInterpolation, selects the result. `q` is rounded to the type of `t`
            /// (float32 for 16-bit floats); ranks are then computed in float64. Floats only. If a slice contains NaN, every quantile of the
            /// slice is NaN. `keepdim` is as for kthvalue. A dimension without elements is an error.
            quantile(r: out, t: input, q: double, dimension: dim, keepdim: flag, interpolation: interpolation) =
                order::quantile(r, t, q, dimension, keepdim, interpolation, false);
            /// `r = quantile q of t over dimension without the NaNs`; the quantile of NaNs alone is NaN. Otherwise as quantile.
            nanquantile(r: out, t: input, q: double, dimension: dim, keepdim: flag, interpolation: interpolation) =
                order::quantile(r, t, q, dimension, keepdim, interpolation, true);
            /// As quantile for each element of the vector `q` of floats: `r[i]` has the quantiles of `q[i]`. A 0-d `q` adds no dimension.
            quantileTensor(r: out, t: input, q: input, dimension: dim, keepdim: flag, interpolation: interpolation) =
                order::quantiles(r, t, q, dimension, keepdim, interpolation, false);
            /// As quantileTensor without the NaNs; the quantile of NaNs alone is NaN.
            nanquantileTensor(r: out, t: input, q: input, dimension: dim, keepdim: flag, interpolation: interpolation) =
                order::quantiles(r, t, q, dimension, keepdim, interpolation, true);
            /// `r[b] = number of elements x of t with floor((x - min) * bins / (max - min)) == b`; the last bin includes the upper edge
            /// `max`.
            ///
            /// Elements outside [min, max] and NaNs are ignored. If `min` equals `max`, the smallest and the greatest element are used in
            /// their place. If these are equal, too, the range is extended by 1 on both sides. Floats only; the edges are computed in the
            /// dtype of `t`. A fresh `r` gets the dtype of `t`. A range that is not finite is an error.
            histc(r: out, t: input, bins: size, min: number, max: number) = histogram::histc(r, t, bins, min.to_f64(), max.to_f64());
            /// As histc for each row in the last dimension of `t`; this dimension of `r` has size `bins`. If `min` equals `max`, the range
            /// comes from all rows together.
            bhistc(r: out, t: input, bins: size, min: number, max: number) = histogram::bhistc(r, t, bins, min.to_f64(), max.to_f64());
            /// `r[i] = number of elements of t equal to i`, or the sum of the weights of these elements; `weights` may be NULL.
            ///
            /// `t` is a vector of integers >= 0, and `weights` a vector of the same length. `r` has `minlength` elements, or more if the
            /// greatest element of `t` needs them. A fresh `r` is int64 without weights, float32 with float32 weights, and float64 with
            /// other weights. Sums are computed in float64.
            bincount(r: out, t: input, weights: optional_input, minlength: size) =
                histogram::bincount(r, t, weights, minlength);
        }
    };
}

order_functions!(table);
pub(crate) use order_functions as functions;
