//! Order statistics and histograms.
//!
//! Errors: `TH_ERR_ARGUMENT`, a dimension, rank, share or range that there is not; `TH_ERR_SHAPE`, operands that do not fit each other;
//! `TH_ERR_DTYPE`, a dtype that the function is not defined for.

use crate::api::table::table;
use crate::ops::{histogram, order};

macro_rules! order_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `values = k-th smallest elements of t over dimension`, k from 1, or over all with `TH_ALL_DIMS`; int64 `indices` tell where each
            /// first occurs (row-major over all). Either result may be NULL. NaN is greater than everything, -0.0 equals 0.0 and is returned as
            /// that. Every dtype but Bool; `values` get that of `t` if they have none. With `keepdim` the dimension stays with size 1, else it
            /// disappears. A dimension without elements and a `k` out of range are errors.
            kthvalue(values: optional_out, indices: optional_indices, t: input, k: count, dimension: dim, keepdim: flag) =
                order::kthvalue((values, indices), t, k, dimension, keepdim);
            /// `values = medians of t over dimension`: the middle element in order, the smaller of two. A NaN is the median of its line.
            /// Everything else as for kthvalue.
            median(values: optional_out, indices: optional_indices, t: input, dimension: dim, keepdim: flag) =
                order::median((values, indices), t, dimension, keepdim, false);
            /// `values = medians of the numbers in t over dimension`: NaNs are left out, and the result where there is nothing else. Everything
            /// else as for kthvalue.
            nanmedian(values: optional_out, indices: optional_indices, t: input, dimension: dim, keepdim: flag) =
                order::median((values, indices), t, dimension, keepdim, true);
            /// The median of all elements; NaN on error, if one is NaN, and for no floats at all.
            medianall(t: input) -> number = order::median_all(t);
            /// `values = most frequent elements of t over dimension`, the smallest of several, or over all with `TH_ALL_DIMS`; int64 `indices`
            /// tell where each last occurs. No NaN equals another: one counts only where there is nothing else, and then it is the first. Every
            /// dtype; results as for kthvalue.
            mode(values: optional_out, indices: optional_indices, t: input, dimension: dim, keepdim: flag) =
                order::mode((values, indices), t, dimension, keepdim);
            /// `r = element of rank q * (n - 1), from 0, of t over dimension` in ascending order, or over all with `TH_ALL_DIMS`; q from 0 to
            /// 1.
            ///
            /// Between two ranks `interpolation` decides, a constant of THInterpolation. q is rounded to the type of `t` (float32 for 16-bit
            /// floats) before ranks are computed in float64. Floats only; a NaN is every quantile of its line. `keepdim` as for kthvalue. A
            /// dimension without elements is an error.
            quantile(r: out, t: input, q: double, dimension: dim, keepdim: flag, interpolation: interpolation) =
                order::quantile(r, t, q, dimension, keepdim, interpolation, false);
            /// As quantile, of the numbers in `t`: NaNs are left out, and the result where there is nothing else.
            nanquantile(r: out, t: input, q: double, dimension: dim, keepdim: flag, interpolation: interpolation) =
                order::quantile(r, t, q, dimension, keepdim, interpolation, true);
            /// As quantile for each element of `q`, a vector of floats: `r[i]` are the quantiles of `q[i]`. A 0-d `q` adds no dimension.
            quantileTensor(r: out, t: input, q: input, dimension: dim, keepdim: flag, interpolation: interpolation) =
                order::quantiles(r, t, q, dimension, keepdim, interpolation, false);
            /// As quantileTensor, of the numbers in `t`: NaNs are left out, and the result where there is nothing else.
            nanquantileTensor(r: out, t: input, q: input, dimension: dim, keepdim: flag, interpolation: interpolation) =
                order::quantiles(r, t, q, dimension, keepdim, interpolation, true);
            /// `r[b] = number of elements x of t with floor((x - min) * bins / (max - min)) == b`, the upper edge `max` counting to the last
            /// bin.
            ///
            /// Elements outside of min to max and NaNs are left out. If min and max are equal, the least and the greatest element take their
            /// place, and if those are equal, one less and one more. Floats only, in whose type edges are computed; a fresh `r` gets the dtype
            /// of `t`. A range that is not finite is an error.
            histc(r: out, t: input, bins: size, min: number, max: number) = histogram::histc(r, t, bins, min.to_f64(), max.to_f64());
            /// As histc for each row of the last dimension of `t`: `r` has `bins` elements in its place. Without a range it is that of all rows
            /// together.
            bhistc(r: out, t: input, bins: size, min: number, max: number) = histogram::bhistc(r, t, bins, min.to_f64(), max.to_f64());
            /// `r[i] = number of elements of t equal to i`, or with `weights`, which may be NULL, the sum of theirs.
            ///
            /// `t` is a vector of integers that are not negative, `weights` one of the same length. `r` has `minlength` elements, or as many as
            /// the greatest element asks for. A fresh `r` is int64, with float32 weights float32, with others float64; sums are float64 until
            /// stored.
            bincount(r: out, t: input, weights: optional_input, minlength: size) =
                histogram::bincount(r, t, weights, minlength);
        }
    };
}

order_functions!(table);
pub(crate) use order_functions as functions;
