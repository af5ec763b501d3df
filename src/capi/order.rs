//! `THTensor_*`: order statistics and histograms.

use super::export;
use crate::ops::{histogram, order};
use crate::tensor::THTensor;
use std::ffi::c_int;
use std::ptr::NonNull;

export! {
    /// `values = k-th smallest elements of t over dimension`, k from 1, or over all with `TH_ALL_DIMS`; int64 `indices` tell where each first
    /// occurs (row-major over all). Either result may be NULL. NaN is greater than everything, -0.0 equals 0.0 and is returned as that. Every
    /// dtype but Bool; `values` get that of `t` if they have none. With `keepdim` the dimension stays with size 1, else it disappears. A
    /// dimension without elements and a `k` out of range are errors.
    fn THTensor_kthvalue(
        values: Option<NonNull<THTensor>>, indices: Option<NonNull<THTensor>>, t: *const THTensor, k: i64, dimension: c_int, keepdim: c_int,
    ) = order::kthvalue((values, indices), t, k, dimension, keepdim != 0);
    /// `values = medians of t over dimension`: the middle element in order, the smaller of two. A NaN is the median of its line. Everything else
    /// as for kthvalue.
    fn THTensor_median(
        values: Option<NonNull<THTensor>>, indices: Option<NonNull<THTensor>>, t: *const THTensor, dimension: c_int, keepdim: c_int,
    ) = order::median((values, indices), t, dimension, keepdim != 0, false);
    /// `values = medians of the numbers in t over dimension`: NaNs are left out, and the result where there is nothing else. Everything else as
    /// for kthvalue.
    fn THTensor_nanmedian(
        values: Option<NonNull<THTensor>>, indices: Option<NonNull<THTensor>>, t: *const THTensor, dimension: c_int, keepdim: c_int,
    ) = order::median((values, indices), t, dimension, keepdim != 0, true);
    /// The median of all elements; NaN on error, if one is NaN, and for no floats at all.
    fn THTensor_medianall(t: *const THTensor) -> f64 = order::median_all(t);
    /// `values = most frequent elements of t over dimension`, the smallest of several, or over all with `TH_ALL_DIMS`; int64 `indices` tell where
    /// each last occurs. No NaN equals another: one counts only where there is nothing else, and then it is the first. Every dtype; results as
    /// for kthvalue.
    fn THTensor_mode(
        values: Option<NonNull<THTensor>>, indices: Option<NonNull<THTensor>>, t: *const THTensor, dimension: c_int, keepdim: c_int,
    ) = order::mode((values, indices), t, dimension, keepdim != 0);
    /// `r = element of rank q * (n - 1), from 0, of t over dimension` in ascending order, or over all with `TH_ALL_DIMS`; q from 0 to 1.
    ///
    /// Between two ranks `interpolation` decides: `TH_LINEAR`, `TH_LOWER`, `TH_HIGHER`, `TH_MIDPOINT` or `TH_NEAREST`. q is rounded to the type
    /// of `t` (float32 for 16-bit floats) before ranks are computed in float64. Floats only; a NaN is every quantile of its line. `keepdim` as for kthvalue. A dimension without
    /// elements is an error.
    fn THTensor_quantile(r: *mut THTensor, t: *const THTensor, q: f64, dimension: c_int, keepdim: c_int, interpolation: c_int) =
        order::quantile(r, t, q, dimension, keepdim != 0, interpolation, false);
    /// As quantile, of the numbers in `t`: NaNs are left out, and the result where there is nothing else.
    fn THTensor_nanquantile(r: *mut THTensor, t: *const THTensor, q: f64, dimension: c_int, keepdim: c_int, interpolation: c_int) =
        order::quantile(r, t, q, dimension, keepdim != 0, interpolation, true);
    /// As quantile for each element of `q`, a vector of floats: `r[i]` are the quantiles of `q[i]`. A 0-d `q` adds no dimension.
    fn THTensor_quantiles(
        r: *mut THTensor, t: *const THTensor, q: *const THTensor, dimension: c_int, keepdim: c_int, interpolation: c_int,
    ) = order::quantiles(r, t, q, dimension, keepdim != 0, interpolation, false);
    /// As quantiles, of the numbers in `t`: NaNs are left out, and the result where there is nothing else.
    fn THTensor_nanquantiles(
        r: *mut THTensor, t: *const THTensor, q: *const THTensor, dimension: c_int, keepdim: c_int, interpolation: c_int,
    ) = order::quantiles(r, t, q, dimension, keepdim != 0, interpolation, true);
    /// `r[b] = number of elements x of t with floor((x - min) * bins / (max - min)) == b`, the upper edge `max` counting to the last bin.
    ///
    /// Elements outside of min to max and NaNs are left out. If min and max are equal, the least and the greatest element take their place, and
    /// if those are equal, one less and one more. Floats only, in whose type edges are computed; a fresh `r` gets the dtype of `t`. A range that
    /// is not finite is an error.
    fn THTensor_histc(r: *mut THTensor, t: *const THTensor, bins: i64, min: f64, max: f64) = histogram::histc(r, t, bins, min, max);
    /// As histc for each row of the last dimension of `t`: `r` has `bins` elements in its place. Without a range it is that of all rows together.
    fn THTensor_bhistc(r: *mut THTensor, t: *const THTensor, bins: i64, min: f64, max: f64) = histogram::bhistc(r, t, bins, min, max);
    /// `r[i] = number of elements of t equal to i`, or with `weights`, which may be NULL, the sum of theirs.
    ///
    /// `t` is a vector of integers that are not negative, `weights` one of the same length. `r` has `minlength` elements, or as many as the
    /// greatest element asks for. A fresh `r` is int64, with float32 weights float32, with others float64; sums are float64 until stored.
    fn THTensor_bincount(r: *mut THTensor, t: *const THTensor, weights: Option<NonNull<THTensor>>, minlength: i64) =
        histogram::bincount(r, t, weights, minlength);
}
