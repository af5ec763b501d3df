//! Reductions.
//!
//! Over one dimension, over several, or over all elements.
//!
//! Errors: `TH_ERR_ARGUMENT`, a dimension that is out of range, or that has no element to choose from; `TH_ERR_SHAPE`, operands that do not
//! broadcast, or several positions of `r` that share an element; `TH_ERR_DTYPE`, a dtype that the reduction does not support, or a result
//! that cannot be converted to the dtype of `r`.

use crate::api::table::table;
use crate::ops::distance;
use crate::ops::nan;
use crate::ops::reduce::{self, Over, TH_ALL_DIMS, To, number};

/// All dimensions.
const ALL: Over<'static> = Over::Dim(TH_ALL_DIMS);

macro_rules! reduce_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `r = mean of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`. Floats only; the mean of NaNs alone is
        /// NaN. `keepdim` is as for sum.
        nanmean(r: out, t: input, dimension: dim, keepdim: flag) = reduce::nanmean(To::tensor(r, keepdim), t, Over::Dim(dimension));
        /// `r = mean of t over dims without the NaNs`; otherwise as nanmean, with `dims` as for sumDims.
        nanmeanDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) = reduce::nanmean(To::tensor(r, keepdim), t, Over::Dims(dims));
        /// `r = product of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`. Otherwise as prod.
        nanprod(r: out, t: input, dimension: dim, keepdim: flag) = nan::prod(r, t, Over::Dim(dimension), keepdim, None);
        /// `r = product of t over dims without the NaNs`; otherwise as nanprod, with `dims` and `dtype` as for sumDims.
        nanprodDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            nan::prod(r, t, Over::Dims(dims), keepdim, dtype);
        /// `r = greatest elements of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`. The greatest of NaNs
        /// alone is NaN. Otherwise as amax.
        nanmax(r: out, t: input, dimension: dim, keepdim: flag) = nan::extreme(true, r, t, Over::Dim(dimension), keepdim);
        /// `r = greatest elements of t over dims without the NaNs`; otherwise as nanmax, with `dims` as for sumDims.
        nanmaxDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) = nan::extreme(true, r, t, Over::Dims(dims), keepdim);
        /// `r = least elements of t over dimension without the NaNs`; otherwise as nanmax.
        nanmin(r: out, t: input, dimension: dim, keepdim: flag) = nan::extreme(false, r, t, Over::Dim(dimension), keepdim);
        /// `r = least elements of t over dims without the NaNs`; otherwise as nanmin, with `dims` as for sumDims.
        nanminDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) = nan::extreme(false, r, t, Over::Dims(dims), keepdim);
        /// `r = index of the first greatest element of t over dimension without the NaNs`; otherwise as argmax. A line whose elements are
        /// all NaN is an error, as in NumPy. A GPU waits for this check.
        nanargmax(r: indices, t: input, dimension: dim, keepdim: flag) = nan::extreme_at(true, r, t, dimension, keepdim);
        /// `r = index of the first least element of t over dimension without the NaNs`; otherwise as nanargmax.
        nanargmin(r: indices, t: input, dimension: dim, keepdim: flag) = nan::extreme_at(false, r, t, dimension, keepdim);
        /// `r = sum of (t - mean)^2 / (n - correction) over dimension`, or over all elements with `TH_ALL_DIMS`, with the mean, the sum and
        /// the number `n` of the elements that are not NaN. NaN where `n` is at most `correction`. NumPy's default correction is 0.
        /// Floats only, computed in float64; a correction that is NaN is an error. `keepdim` is as for sum.
        nanvar(r: out, t: input, dimension: dim, correction: double, keepdim: flag) =
            nan::var(false, r, t, Over::Dim(dimension), correction, keepdim);
        /// `r = variance of t over dims without the NaNs`; otherwise as nanvar, with `dims` as for sumDims.
        nanvarDims(r: out, t: input, ndim: len, dims: dims, correction: double, keepdim: flag) =
            nan::var(false, r, t, Over::Dims(dims), correction, keepdim);
        /// `r = sqrt(variance of t over dimension without the NaNs)`; otherwise as nanvar.
        nanstd(r: out, t: input, dimension: dim, correction: double, keepdim: flag) =
            nan::var(true, r, t, Over::Dim(dimension), correction, keepdim);
        /// `r = sqrt(variance of t over dims without the NaNs)`; otherwise as nanstd, with `dims` as for sumDims.
        nanstdDims(r: out, t: input, ndim: len, dims: dims, correction: double, keepdim: flag) =
            nan::var(true, r, t, Over::Dims(dims), correction, keepdim);
        /// `r = greatest elements of t over dimension`, or over all elements with `TH_ALL_DIMS`. NaN is greater than every number. A
        /// dimension without elements is an error, even if the result is empty. `keepdim` is as for sum.
        amax(r: out, t: input, dimension: dim, keepdim: flag) = reduce::extreme(true, To::tensor(r, keepdim), t, Over::Dim(dimension));
        /// `r = greatest elements of t over dims`; otherwise as amax, with `dims` as for sumDims.
        amaxDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) =
            reduce::extreme(true, To::tensor(r, keepdim), t, Over::Dims(dims));
        /// `r = least elements of t over dimension`; NaN if any element is NaN. Otherwise as amax.
        amin(r: out, t: input, dimension: dim, keepdim: flag) = reduce::extreme(false, To::tensor(r, keepdim), t, Over::Dim(dimension));
        /// `r = least elements of t over dims`; otherwise as amin, with `dims` as for sumDims.
        aminDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) =
            reduce::extreme(false, To::tensor(r, keepdim), t, Over::Dims(dims));
        /// `r = whether all elements of t over dimension are not 0`, or over all elements with `TH_ALL_DIMS`. If `r` has no dtype, the
        /// result is Bool, or uint8 for a `t` of uint8. NaN is not 0. Without elements the result is true. `keepdim` is as for sum.
        all(r: out, t: input, dimension: dim, keepdim: flag) = reduce::logic(true, To::tensor(r, keepdim), t, Over::Dim(dimension));
        /// `r = whether all elements of t over dims are not 0`; otherwise as all, with `dims` as for sumDims.
        allDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) = reduce::logic(true, To::tensor(r, keepdim), t, Over::Dims(dims));
        /// `r = whether any element of t over dimension is not 0`; without elements the result is false. Otherwise as all.
        any(r: out, t: input, dimension: dim, keepdim: flag) = reduce::logic(false, To::tensor(r, keepdim), t, Over::Dim(dimension));
        /// `r = whether any element of t over dims is not 0`; otherwise as any, with `dims` as for sumDims.
        anyDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) =
            reduce::logic(false, To::tensor(r, keepdim), t, Over::Dims(dims));
        /// `r = sum of t over dimension`, or over all elements with `TH_ALL_DIMS`. Integers and Bool give int64, which wraps. With
        /// `keepdim` the dimension stays with size 1, else it is removed.
        ///
        /// Float64 is summed in float64, in parts whose sums are summed in turn. Groups of eight to sixteen narrower floats are summed in
        /// float32, and the sums of the groups in float64. The error of such a sum is at most `2^-21 * sum of |t|` before it is rounded
        /// once to the dtype of `r`. sumDims with `TH_FLOAT64` and sumall compute every addition in float64.
        sum(r: out, t: input, dimension: dim, keepdim: flag) = reduce::sum(To::tensor(r, keepdim), t, Over::Dim(dimension), None);
        /// `r = sum of t over dims`: `ndim` distinct dimensions in any order, or all if `ndim` is 0. The result has `dtype`; with
        /// `TH_UNDEFINED` it has the dtype that sum gives. The elements are converted to `dtype` before they are summed: floats are
        /// truncated for an integer `dtype`, and every addition is in float64 for `TH_FLOAT64`. If `r` has another dtype, the result is
        /// converted. `keepdim` is as for sum.
        sumDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            reduce::sum(To::tensor(r, keepdim), t, Over::Dims(dims), dtype);
        /// `r = product of t over dimension`, or over all elements with `TH_ALL_DIMS`. Integers and Bool give int64; floats are multiplied
        /// in float64 and rounded once. The product of no elements is 1. `keepdim` is as for sum.
        prod(r: out, t: input, dimension: dim, keepdim: flag) = reduce::prod(To::tensor(r, keepdim), t, Over::Dim(dimension), None);
        /// `r = product of t over dims`; otherwise as prod, with `dims` and `dtype` as for sumDims.
        prodDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            reduce::prod(To::tensor(r, keepdim), t, Over::Dims(dims), dtype);
        /// `r = mean of t over dimension`, or over all elements with `TH_ALL_DIMS`: the sum, computed as by sum, divided by the number of
        /// elements. Floats only; the mean of no elements is NaN. `keepdim` is as for sum. meanDims also gives the mean in another dtype
        /// and of integers.
        mean(r: out, t: input, dimension: dim, keepdim: flag) = reduce::mean(To::tensor(r, keepdim), t, Over::Dim(dimension), None);
        /// `r = mean of t over dims`; `t` may be of integers if `dtype` is a float. Otherwise as mean, with `dims` and `dtype` as for
        /// sumDims.
        meanDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            reduce::mean(To::tensor(r, keepdim), t, Over::Dims(dims), dtype);
        /// `r = sum of t over dimension without the NaNs`, or over all elements with `TH_ALL_DIMS`; all floats are summed in float64.
        /// Otherwise as sum.
        nansum(r: out, t: input, dimension: dim, keepdim: flag) = reduce::nansum(To::tensor(r, keepdim), t, Over::Dim(dimension), None);
        /// `r = sum of t over dims without the NaNs`; otherwise as nansum, with `dims` and `dtype` as for sumDims.
        nansumDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            reduce::nansum(To::tensor(r, keepdim), t, Over::Dims(dims), dtype);
        /// `r = sum of (t - mean)^2 / (n - 1) over dimension`, or over all elements with `TH_ALL_DIMS`; the divisor is `n` if `biased`.
        /// Floats only, computed in float64. The result is NaN if the divisor is 0. `keepdim` is as for sum.
        var(r: out, t: input, dimension: dim, biased: flag, keepdim: flag) =
            reduce::var(false, To::tensor(r, keepdim), t, Over::Dim(dimension), correction(biased), None);
        /// `r = variance of t over dims`; otherwise as var, with `dims` as for sumDims.
        varDims(r: out, t: input, ndim: len, dims: dims, biased: flag, keepdim: flag) =
            reduce::var(false, To::tensor(r, keepdim), t, Over::Dims(dims), correction(biased), None);
        /// The variance of all elements, with `biased` as for var; NaN on error.
        varall(t: input, biased: flag) -> accumulated = number(|to| reduce::var(false, to, t, ALL, correction(biased), None));
        /// `r = sum of (t - mean)^2 / (n - correction) over dimension`; otherwise as var, whose correction is 1, or 0 if `biased`. The
        /// divisor is at least 0; a correction that is NaN is an error.
        varCorrection(r: out, t: input, dimension: dim, correction: double, keepdim: flag) =
            reduce::var(false, To::tensor(r, keepdim), t, Over::Dim(dimension), correction, None);
        /// `r = variance of t over dims`; otherwise as varCorrection, with `dims` as for sumDims.
        varDimsCorrection(r: out, t: input, ndim: len, dims: dims, correction: double, keepdim: flag) =
            reduce::var(false, To::tensor(r, keepdim), t, Over::Dims(dims), correction, None);
        /// The variance of all elements, with `correction` as for varCorrection; NaN on error.
        varallCorrection(t: input, correction: double) -> accumulated = number(|to| reduce::var(false, to, t, ALL, correction, None));
        /// `r = sqrt(variance of t over dimension)`; otherwise as var.
        std(r: out, t: input, dimension: dim, biased: flag, keepdim: flag) =
            reduce::var(true, To::tensor(r, keepdim), t, Over::Dim(dimension), correction(biased), None);
        /// `r = sqrt(variance of t over dims)`; otherwise as var, with `dims` as for sumDims.
        stdDims(r: out, t: input, ndim: len, dims: dims, biased: flag, keepdim: flag) =
            reduce::var(true, To::tensor(r, keepdim), t, Over::Dims(dims), correction(biased), None);
        /// The standard deviation of all elements, with `biased` as for var; NaN on error.
        stdall(t: input, biased: flag) -> accumulated = number(|to| reduce::var(true, to, t, ALL, correction(biased), None));
        /// `r = sqrt(variance of t over dimension)`; otherwise as varCorrection.
        stdCorrection(r: out, t: input, dimension: dim, correction: double, keepdim: flag) =
            reduce::var(true, To::tensor(r, keepdim), t, Over::Dim(dimension), correction, None);
        /// `r = sqrt(variance of t over dims)`; otherwise as varCorrection, with `dims` as for sumDims.
        stdDimsCorrection(r: out, t: input, ndim: len, dims: dims, correction: double, keepdim: flag) =
            reduce::var(true, To::tensor(r, keepdim), t, Over::Dims(dims), correction, None);
        /// The standard deviation of all elements, with `correction` as for varCorrection; NaN on error.
        stdallCorrection(t: input, correction: double) -> accumulated = number(|to| reduce::var(true, to, t, ALL, correction, None));
        /// `values = greatest elements of t over dimension`, or over all elements with `TH_ALL_DIMS`; `indices` = the int64 index of the
        /// first occurrence of each value, in row-major order over all elements. Either result may be NULL. Otherwise as amax.
        max(values: optional_out, indices: optional_indices, t: input, dimension: dim, keepdim: flag) =
            reduce::extreme_at(true, values, indices, t, dimension, keepdim);
        /// `r = index of the first greatest element of t over dimension`, as int64, or in row-major order over all elements with
        /// `TH_ALL_DIMS`. Otherwise as amax.
        argmax(r: indices, t: input, dimension: dim, keepdim: flag) = reduce::extreme_at(true, None, Some(r), t, dimension, keepdim);
        /// The greatest element; NaN if any element is NaN, and on error.
        maxall(t: input) -> number = number(|to| reduce::extreme(true, to, t, ALL));
        /// `values = least elements of t over dimension`; otherwise as max.
        min(values: optional_out, indices: optional_indices, t: input, dimension: dim, keepdim: flag) =
            reduce::extreme_at(false, values, indices, t, dimension, keepdim);
        /// `r = index of the first least element of t over dimension`; otherwise as argmax.
        argmin(r: indices, t: input, dimension: dim, keepdim: flag) = reduce::extreme_at(false, None, Some(r), t, dimension, keepdim);
        /// The least element; NaN if any element is NaN, and on error.
        minall(t: input) -> number = number(|to| reduce::extreme(false, to, t, ALL));
        /// `r = (sum of |t|^value over dimension)^(1/value)`, or over all elements with `TH_ALL_DIMS`. A `value` of 0 gives the number of
        /// elements that are not 0, infinity the greatest |t|, and -infinity the least |t|. Floats only. A dimension without elements is an
        /// error for a negative or infinite `value`. `keepdim` is as for sum.
        ///
        /// For a `value` of 1 or 2, floats narrower than float64 are summed as by sum, and the relative error of the norm is at most
        /// `2^-21` before it is rounded to the dtype of `r`. All other norms are computed in float64; powers that would overflow or
        /// underflow are scaled.
        norm(r: out, t: input, value: number, dimension: dim, keepdim: flag) =
            reduce::norm(To::tensor(r, keepdim), t, value.to_f64(), Over::Dim(dimension), None);
        /// `r = (sum of |t|^value over dims)^(1/value)`; otherwise as norm, with `dims` as for sumDims. `dtype` may be a wider float; with
        /// `TH_FLOAT64` the whole computation is in float64.
        normDims(r: out, t: input, value: number, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            reduce::norm(To::tensor(r, keepdim), t, value.to_f64(), Over::Dims(dims), dtype);
        /// `least, greatest = least and greatest elements of t over dimension`, or over all elements with `TH_ALL_DIMS`. Either result may
        /// be NULL. Otherwise as amax.
        aminmax(least: optional_out, greatest: optional_out, t: input, dimension: dim, keepdim: flag) =
            reduce::aminmax(least, greatest, t, dimension, keepdim);
        /// The sum of all elements; floats are summed in float64 throughout. NaN on error.
        sumall(t: input) -> accumulated = number(|to| reduce::sum(to, t, ALL, None));
        /// The product of all elements; NaN on error.
        prodall(t: input) -> accumulated = number(|to| reduce::prod(to, t, ALL, None));
        /// The mean of all elements, computed in float64 throughout; NaN on error.
        meanall(t: input) -> accumulated = number(|to| reduce::mean(to, t, ALL, None));
        /// The norm of all elements, with `value` as for norm, computed in float64 throughout; NaN on error.
        normall(t: input, value: number) -> accumulated = number(|to| reduce::norm(to, t, value.to_f64(), ALL, None));
        /// `(sum of |a - b|^value)^(1/value)`: the norm of the difference, with broadcasting, computed in float64 throughout; NaN on error.
        dist(a: input, b: input, value: number) -> accumulated = distance::dist(a, b, value.to_f64());
        /// Returns 1 if no element is 0, else 0; 0 on error.
        logicalall(t: input) -> flag = number(|to| reduce::logic(true, to, t, ALL)).map(|x| x != 0.0);
        /// Returns 1 if any element is not 0, else 0; 0 on error.
        logicalany(t: input) -> flag = number(|to| reduce::logic(false, to, t, ALL)).map(|x| x != 0.0);
    } };
}

reduce_functions!(table);
pub(crate) use reduce_functions as functions;

/// Returns by how much the divisor of a variance is less than the number of elements.
fn correction(biased: bool) -> f64 {
    if biased { 0.0 } else { 1.0 }
}
