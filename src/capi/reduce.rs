//! `THTensor_*`: reductions over all elements, one dimension or several.

use super::export;
use crate::ops::reduce;
use crate::tensor::THTensor;
use std::ffi::c_int;
use std::ptr::NonNull;

export! {
    /// `r = sum of t over dimension`, or over all with `TH_ALL_DIMS`. Integers and Bool give int64; floats are summed in float64 and rounded
    /// once. With `keepdim` the dimension stays with size 1, else it disappears.
    fn THTensor_sum(r: *mut THTensor, t: *const THTensor, dimension: c_int, keepdim: c_int) = reduce::sum(r, t, dimension, keepdim != 0);
    /// `r = mean of t over dimension`, or over all with `TH_ALL_DIMS`. Floats only; the mean of nothing is NaN. `keepdim` as for sum.
    fn THTensor_mean(r: *mut THTensor, t: *const THTensor, dimension: c_int, keepdim: c_int) = reduce::mean(r, t, dimension, keepdim != 0);
    /// `values = greatest elements of t over dimension`, or over all with `TH_ALL_DIMS`, and int64 `indices` of where each first occurs (row-major
    /// over all). Either result may be NULL. A NaN beats everything. `keepdim` as for sum.
    fn THTensor_max(
        values: Option<NonNull<THTensor>>, indices: Option<NonNull<THTensor>>, t: *const THTensor, dimension: c_int, keepdim: c_int,
    ) = reduce::extreme(true, values, indices, t, dimension, keepdim != 0);
    /// `values = least elements of t over dimension`; everything else as for max.
    fn THTensor_min(
        values: Option<NonNull<THTensor>>, indices: Option<NonNull<THTensor>>, t: *const THTensor, dimension: c_int, keepdim: c_int,
    ) = reduce::extreme(false, values, indices, t, dimension, keepdim != 0);
    /// The sum of all elements; NaN on error.
    fn THTensor_sumall(t: *const THTensor) -> f64 = reduce::all_of(t, |r| reduce::sum(r, t, reduce::TH_ALL_DIMS, false));
    /// The mean of all elements; NaN on error.
    fn THTensor_meanall(t: *const THTensor) -> f64 = reduce::all_of(t, |r| reduce::mean(r, t, reduce::TH_ALL_DIMS, false));
    /// The greatest element; NaN on error and if one is NaN.
    fn THTensor_maxall(t: *const THTensor) -> f64 =
        reduce::all_of(t, |r| reduce::extreme(true, Some(r), None, t, reduce::TH_ALL_DIMS, false));
    /// The least element; NaN on error and if one is NaN.
    fn THTensor_minall(t: *const THTensor) -> f64 =
        reduce::all_of(t, |r| reduce::extreme(false, Some(r), None, t, reduce::TH_ALL_DIMS, false));
}
