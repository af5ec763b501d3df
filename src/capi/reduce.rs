//! `THTensor_*`: reductions over all elements, one dimension or several.

use super::{dtype_arg, export, numbers};
use crate::dtype::{Dtype, TH_UNDEFINED};
use crate::error::Result;
use crate::ops::reduce::{self, Over, TH_ALL_DIMS, To, number};
use crate::tensor::THTensor;
use std::ffi::c_int;
use std::ptr::NonNull;

/// All dimensions.
const ALL: Over<'static> = Over::Dim(TH_ALL_DIMS);

/// The dims in an array of C.
///
/// # Safety
/// `dims` must hold `ndim` entries for as long as the call takes.
unsafe fn listed<'a>(ndim: c_int, dims: *const i64) -> Result<Over<'a>> {
    // SAFETY: the caller's.
    unsafe { numbers("dims", ndim, dims) }.map(Over::Dims)
}

/// The dtype the caller wants, unless undefined.
fn asked(code: c_int) -> Result<Option<Dtype>> {
    if code == TH_UNDEFINED { Ok(None) } else { dtype_arg(code).map(Some) }
}

/// Rows of one result over one dimension and over several: `name, name over several = op`, an op of (to, t, over).
macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident, $(#[$dims_doc:meta])* $dims_name:ident = $op:expr;)*) => { export! { $(
        $(#[$doc])*
        fn $name(r: *mut THTensor, t: *const THTensor, dimension: c_int, keepdim: c_int) =
            $op(To::tensor(r, keepdim != 0), t, Over::Dim(dimension));
        $(#[$dims_doc])*
        fn $dims_name(r: *mut THTensor, t: *const THTensor, ndim: c_int, dims: *const i64, keepdim: c_int) =
            // SAFETY: `dims` holds `ndim` entries.
            $op(To::tensor(r, keepdim != 0), t, unsafe { listed(ndim, dims) }?);
    )* } };
}

plain! {
    /// `r = mean of the elements of t over dimension that are not NaN`, or over all with `TH_ALL_DIMS`. Floats only; where there are none, NaN.
    /// `keepdim` as for sum.
    THTensor_nanmean,
    /// `r = mean of the elements of t over dims that are not NaN`; otherwise as nanmean, dims as for sumDims.
    THTensor_nanmeanDims = reduce::nanmean;
    /// `r = greatest elements of t over dimension`, or over all with `TH_ALL_DIMS`. A NaN beats everything. A dimension without elements is an
    /// error, even where the result has none either. `keepdim` as for sum.
    THTensor_amax,
    /// `r = greatest elements of t over dims`; otherwise as amax, dims as for sumDims.
    THTensor_amaxDims = |to, t, over| reduce::extreme(true, to, t, over);
    /// `r = least elements of t over dimension`; everything else as for amax.
    THTensor_amin,
    /// `r = least elements of t over dims`; otherwise as amin, dims as for sumDims.
    THTensor_aminDims = |to, t, over| reduce::extreme(false, to, t, over);
    /// `r = whether all elements of t over dimension are not 0`, or over all with `TH_ALL_DIMS`. Bool, but uint8 for uint8, unless `r` has a dtype.
    /// NaN is not 0; all of nothing are. `keepdim` as for sum.
    THTensor_all,
    /// `r = whether all elements of t over dims are not 0`; otherwise as all, dims as for sumDims.
    THTensor_allDims = |to, t, over| reduce::logic(true, to, t, over);
    /// `r = whether any element of t over dimension is not 0`; everything else as for all.
    THTensor_any,
    /// `r = whether any element of t over dims is not 0`; otherwise as any, dims as for sumDims.
    THTensor_anyDims = |to, t, over| reduce::logic(false, to, t, over);
}

/// Rows that take a result dtype over several dimensions: `name, name over several = op`, an op of (to, t, over, dtype).
macro_rules! typed {
    ($($(#[$doc:meta])* $name:ident, $(#[$dims_doc:meta])* $dims_name:ident = $op:expr;)*) => { export! { $(
        $(#[$doc])*
        fn $name(r: *mut THTensor, t: *const THTensor, dimension: c_int, keepdim: c_int) =
            $op(To::tensor(r, keepdim != 0), t, Over::Dim(dimension), None);
        $(#[$dims_doc])*
        fn $dims_name(r: *mut THTensor, t: *const THTensor, ndim: c_int, dims: *const i64, keepdim: c_int, dtype: c_int) =
            // SAFETY: `dims` holds `ndim` entries.
            $op(To::tensor(r, keepdim != 0), t, unsafe { listed(ndim, dims) }?, asked(dtype)?);
    )* } };
}

typed! {
    /// `r = sum of t over dimension`, or over all with `TH_ALL_DIMS`. Integers and Bool give int64, which wraps. With `keepdim` the dimension
    /// stays with size 1, else it disappears.
    ///
    /// Float64 is summed in float64, in parts whose sums are summed in turn. Narrower floats are summed eight to sixteen at a time in float32,
    /// and these sums in float64: the sum differs from the exact one by at most `2^-21 * sum of |t|`, and is rounded once to the dtype of `r`.
    /// For sums in float64 throughout ask for them: sumDims with `TH_FLOAT64`, sumall.
    THTensor_sum,
    /// `r = sum of t over dims`, `ndim` of them, in any order, none twice; over all if `ndim` is 0. The result has `dtype`, or that of sum with
    /// `TH_UNDEFINED`: a float summed as an integer is cut off first, and floats summed as `TH_FLOAT64` are so from the first addition. An `r` of
    /// another dtype than `dtype` gets that result converted. `keepdim` as for sum.
    THTensor_sumDims = reduce::sum;
    /// `r = product of t over dimension`, or over all with `TH_ALL_DIMS`. Integers and Bool give int64; floats are multiplied in float64 and rounded
    /// once. The product of nothing is 1. `keepdim` as for sum.
    THTensor_prod,
    /// `r = product of t over dims`; otherwise as prod, dims and dtype as for sumDims.
    THTensor_prodDims = reduce::prod;
    /// `r = mean of t over dimension`, or over all with `TH_ALL_DIMS`: the sum, as exact as that of sum, by the number of elements. Floats only;
    /// the mean of nothing is NaN. `keepdim` as for sum.
    THTensor_mean,
    /// `r = mean of t over dims`, integers too if `dtype` is a float; otherwise as mean, dims and dtype as for sumDims.
    THTensor_meanDims = reduce::mean;
    /// `r = sum of t over dimension without the NaNs`, or over all with `TH_ALL_DIMS`; all floats are summed in float64. Everything else as for sum.
    THTensor_nansum,
    /// `r = sum of t over dims without the NaNs`; otherwise as nansum, dims and dtype as for sumDims.
    THTensor_nansumDims = reduce::nansum;
}

/// Rows of the variance and its root.
macro_rules! spread {
    ($($(#[$doc:meta])* $name:ident, $(#[$dims_doc:meta])* $dims_name:ident, $(#[$all_doc:meta])* $all_name:ident = $root:expr;)*) => { export! { $(
        $(#[$doc])*
        fn $name(r: *mut THTensor, t: *const THTensor, dimension: c_int, biased: c_int, keepdim: c_int) =
            reduce::var($root, To::tensor(r, keepdim != 0), t, Over::Dim(dimension), biased != 0);
        $(#[$dims_doc])*
        fn $dims_name(r: *mut THTensor, t: *const THTensor, ndim: c_int, dims: *const i64, biased: c_int, keepdim: c_int) =
            // SAFETY: `dims` holds `ndim` entries.
            reduce::var($root, To::tensor(r, keepdim != 0), t, unsafe { listed(ndim, dims) }?, biased != 0);
        $(#[$all_doc])*
        fn $all_name(t: *const THTensor, biased: c_int) -> f64 = number(|to| reduce::var($root, to, t, ALL, biased != 0));
    )* } };
}

spread! {
    /// `r = sum of (t - mean)^2 / (n - 1) over dimension`, or over all with `TH_ALL_DIMS`; `/ n` if `biased`. Floats only, computed in float64. NaN
    /// where there is nothing to divide by. `keepdim` as for sum.
    THTensor_var,
    /// `r = variance of t over dims`; otherwise as var, dims as for sumDims.
    THTensor_varDims,
    /// The variance of all elements, `biased` as for var; NaN on error.
    THTensor_varall = false;
    /// `r = sqrt(variance of t over dimension)`; everything else as for var.
    THTensor_std,
    /// `r = sqrt(variance of t over dims)`; otherwise as var, dims as for sumDims.
    THTensor_stdDims,
    /// The standard deviation of all elements, `biased` as for var; NaN on error.
    THTensor_stdall = true;
}

/// Rows of a greatest or least element and its place.
macro_rules! extremes {
    ($($(#[$doc:meta])* $name:ident, $(#[$arg_doc:meta])* $arg_name:ident, $(#[$all_doc:meta])* $all_name:ident = $max:expr;)*) => { export! { $(
        $(#[$doc])*
        fn $name(
            values: Option<NonNull<THTensor>>, indices: Option<NonNull<THTensor>>, t: *const THTensor, dimension: c_int, keepdim: c_int,
        ) = reduce::extreme_at($max, values, indices, t, dimension, keepdim != 0);
        $(#[$arg_doc])*
        fn $arg_name(r: *mut THTensor, t: *const THTensor, dimension: c_int, keepdim: c_int) =
            reduce::extreme_at($max, None, Some(r), t, dimension, keepdim != 0);
        $(#[$all_doc])*
        fn $all_name(t: *const THTensor) -> f64 = number(|to| reduce::extreme($max, to, t, ALL));
    )* } };
}

extremes! {
    /// `values = greatest elements of t over dimension`, or over all with `TH_ALL_DIMS`, and int64 `indices` of where each first occurs (row-major
    /// over all). Either result may be NULL. Everything else as for amax.
    THTensor_max,
    /// `r = where the greatest elements of t over dimension first occur`, as int64; row-major over all with `TH_ALL_DIMS`.
    /// Everything else as for amax.
    THTensor_argmax,
    /// The greatest element; NaN on error and if one is NaN.
    THTensor_maxall = true;
    /// `values = least elements of t over dimension`; everything else as for max.
    THTensor_min,
    /// `r = where the least elements of t over dimension first occur`; everything else as for argmax.
    THTensor_argmin,
    /// The least element; NaN on error and if one is NaN.
    THTensor_minall = false;
}

export! {
    /// `r = (sum of |t|^value over dimension)^(1/value)`, or over all with `TH_ALL_DIMS`: the number of elements that are not 0 for 0, the greatest
    /// |t| for infinity, the least for -infinity. Floats only. A dimension without elements is an error for negative and infinite `value`. `keepdim` as
    /// for sum.
    ///
    /// For 1 and 2, floats narrower than float64 are summed as by sum: the norm differs from the exact one by at most `2^-21` of it before it is
    /// rounded to the dtype of `r`. Everything else is computed in float64, and powers that would leave its range are scaled.
    fn THTensor_norm(r: *mut THTensor, t: *const THTensor, value: f64, dimension: c_int, keepdim: c_int) =
        reduce::norm(To::tensor(r, keepdim != 0), t, value, Over::Dim(dimension), None);
    /// `r = (sum of |t|^value over dims)^(1/value)`; otherwise as norm, dims as for sumDims. `dtype` may be a wider float: with
    /// `TH_FLOAT64` everything is computed in float64.
    fn THTensor_normDims(
        r: *mut THTensor, t: *const THTensor, value: f64, ndim: c_int, dims: *const i64, keepdim: c_int, dtype: c_int,
    // SAFETY: `dims` holds `ndim` entries.
    ) = reduce::norm(To::tensor(r, keepdim != 0), t, value, unsafe { listed(ndim, dims) }?, asked(dtype)?);
    /// `least, greatest elements of t over dimension`, or over all with `TH_ALL_DIMS`. Either result may be NULL. Everything else as for
    /// amax.
    fn THTensor_aminmax(
        least: Option<NonNull<THTensor>>, greatest: Option<NonNull<THTensor>>, t: *const THTensor, dimension: c_int, keepdim: c_int,
    ) = reduce::aminmax(least, greatest, t, dimension, keepdim != 0);
    /// The sum of all elements, of floats in float64 throughout; NaN on error.
    fn THTensor_sumall(t: *const THTensor) -> f64 = number(|to| reduce::sum(to, t, ALL, None));
    /// The product of all elements; NaN on error.
    fn THTensor_prodall(t: *const THTensor) -> f64 = number(|to| reduce::prod(to, t, ALL, None));
    /// The mean of all elements, computed in float64 throughout; NaN on error.
    fn THTensor_meanall(t: *const THTensor) -> f64 = number(|to| reduce::mean(to, t, ALL, None));
    /// The norm of all elements, `value` as for norm, computed in float64 throughout; NaN on error.
    fn THTensor_normall(t: *const THTensor, value: f64) -> f64 = number(|to| reduce::norm(to, t, value, ALL, None));
    /// `(sum of |a - b|^value)^(1/value)`, the norm of the difference, with broadcasting, computed in float64 throughout; NaN on error.
    fn THTensor_dist(a: *const THTensor, b: *const THTensor, value: f64) -> f64 = reduce::dist(a, b, value);
    /// Whether all elements are not 0; 0 on error.
    fn THTensor_logicalall(t: *const THTensor) -> c_int = number(|to| reduce::logic(true, to, t, ALL)).map(|x| x != 0.0);
    /// Whether any element is not 0; 0 on error.
    fn THTensor_logicalany(t: *const THTensor) -> c_int = number(|to| reduce::logic(false, to, t, ALL)).map(|x| x != 0.0);
}
