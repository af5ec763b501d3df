//! Reductions.
//!
//! Over one dimension, over several, or over all elements.
//!
//! Errors: `TH_ERR_ARGUMENT`, a dimension out of range or without elements to choose from; `TH_ERR_SHAPE`, operands that do not broadcast,
//! or a result several positions of which share an element; `TH_ERR_DTYPE`, a dtype that the reduction is not defined for, or that the
//! result cannot take.

use crate::api::table::table;
use crate::ops::distance;
use crate::ops::reduce::{self, Over, TH_ALL_DIMS, To, number};

/// All dimensions.
const ALL: Over<'static> = Over::Dim(TH_ALL_DIMS);

macro_rules! reduce_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `r = mean of the elements of t over dimension that are not NaN`, or over all with `TH_ALL_DIMS`. Floats only; where there are
        /// none, NaN. `keepdim` as for sum.
        nanmean(r: out, t: input, dimension: dim, keepdim: flag) = reduce::nanmean(To::tensor(r, keepdim), t, Over::Dim(dimension));
        /// `r = mean of the elements of t over dims that are not NaN`; otherwise as nanmean, dims as for sumDims.
        nanmeanDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) = reduce::nanmean(To::tensor(r, keepdim), t, Over::Dims(dims));
        /// `r = greatest elements of t over dimension`, or over all with `TH_ALL_DIMS`. A NaN beats everything. A dimension without
        /// elements is an error, even where the result has none either. `keepdim` as for sum.
        amax(r: out, t: input, dimension: dim, keepdim: flag) = reduce::extreme(true, To::tensor(r, keepdim), t, Over::Dim(dimension));
        /// `r = greatest elements of t over dims`; otherwise as amax, dims as for sumDims.
        amaxDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) =
            reduce::extreme(true, To::tensor(r, keepdim), t, Over::Dims(dims));
        /// `r = least elements of t over dimension`; everything else as for amax.
        amin(r: out, t: input, dimension: dim, keepdim: flag) = reduce::extreme(false, To::tensor(r, keepdim), t, Over::Dim(dimension));
        /// `r = least elements of t over dims`; otherwise as amin, dims as for sumDims.
        aminDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) =
            reduce::extreme(false, To::tensor(r, keepdim), t, Over::Dims(dims));
        /// `r = whether all elements of t over dimension are not 0`, or over all with `TH_ALL_DIMS`. Bool, but uint8 for uint8, unless `r`
        /// has a dtype. NaN is not 0; without elements the result is true. `keepdim` as for sum.
        all(r: out, t: input, dimension: dim, keepdim: flag) = reduce::logic(true, To::tensor(r, keepdim), t, Over::Dim(dimension));
        /// `r = whether all elements of t over dims are not 0`; otherwise as all, dims as for sumDims.
        allDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) = reduce::logic(true, To::tensor(r, keepdim), t, Over::Dims(dims));
        /// `r = whether any element of t over dimension is not 0`; without elements it is false. Everything else as for all.
        any(r: out, t: input, dimension: dim, keepdim: flag) = reduce::logic(false, To::tensor(r, keepdim), t, Over::Dim(dimension));
        /// `r = whether any element of t over dims is not 0`; otherwise as any, dims as for sumDims.
        anyDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag) =
            reduce::logic(false, To::tensor(r, keepdim), t, Over::Dims(dims));
        /// `r = sum of t over dimension`, or over all with `TH_ALL_DIMS`. Integers and Bool give int64, which wraps. With `keepdim` the
        /// dimension stays with size 1, else it disappears.
        ///
        /// Float64 is summed in float64, in parts whose sums are summed in turn. Narrower floats are summed eight to sixteen at a time in
        /// float32, and these sums in float64: the sum differs from the exact one by at most `2^-21 * sum of |t|`, and is rounded once to
        /// the dtype of `r`. For sums in float64 throughout ask for them: sumDims with `TH_FLOAT64`, sumall.
        sum(r: out, t: input, dimension: dim, keepdim: flag) = reduce::sum(To::tensor(r, keepdim), t, Over::Dim(dimension), None);
        /// `r = sum of t over dims`, `ndim` of them, in any order, none twice; over all if `ndim` is 0. The result has `dtype`, or that of
        /// sum with `TH_UNDEFINED`: a float summed as an integer is cut off first, and floats summed as `TH_FLOAT64` are so from the first
        /// addition. An `r` of another dtype than `dtype` gets that result converted. `keepdim` as for sum.
        sumDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            reduce::sum(To::tensor(r, keepdim), t, Over::Dims(dims), dtype);
        /// `r = product of t over dimension`, or over all with `TH_ALL_DIMS`. Integers and Bool give int64; floats are multiplied in
        /// float64 and rounded once. The product of no elements is 1. `keepdim` as for sum.
        prod(r: out, t: input, dimension: dim, keepdim: flag) = reduce::prod(To::tensor(r, keepdim), t, Over::Dim(dimension), None);
        /// `r = product of t over dims`; otherwise as prod, dims and dtype as for sumDims.
        prodDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            reduce::prod(To::tensor(r, keepdim), t, Over::Dims(dims), dtype);
        /// `r = mean of t over dimension`, or over all with `TH_ALL_DIMS`: the sum, as exact as that of sum, by the number of elements.
        /// Floats only; the mean of no elements is NaN. `keepdim` as for sum. In another dtype, and of integers: meanDims.
        mean(r: out, t: input, dimension: dim, keepdim: flag) = reduce::mean(To::tensor(r, keepdim), t, Over::Dim(dimension), None);
        /// `r = mean of t over dims`, integers too if `dtype` is a float; otherwise as mean, dims and dtype as for sumDims.
        meanDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            reduce::mean(To::tensor(r, keepdim), t, Over::Dims(dims), dtype);
        /// `r = sum of t over dimension without the NaNs`, or over all with `TH_ALL_DIMS`; all floats are summed in float64. Everything
        /// else as for sum.
        nansum(r: out, t: input, dimension: dim, keepdim: flag) = reduce::nansum(To::tensor(r, keepdim), t, Over::Dim(dimension), None);
        /// `r = sum of t over dims without the NaNs`; otherwise as nansum, dims and dtype as for sumDims.
        nansumDims(r: out, t: input, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            reduce::nansum(To::tensor(r, keepdim), t, Over::Dims(dims), dtype);
        /// `r = sum of (t - mean)^2 / (n - 1) over dimension`, or over all with `TH_ALL_DIMS`; `/ n` if `biased`. Floats only, computed in
        /// float64. NaN where there is nothing to divide by. `keepdim` as for sum.
        var(r: out, t: input, dimension: dim, biased: flag, keepdim: flag) =
            reduce::var(false, To::tensor(r, keepdim), t, Over::Dim(dimension), correction(biased), None);
        /// `r = variance of t over dims`; otherwise as var, dims as for sumDims.
        varDims(r: out, t: input, ndim: len, dims: dims, biased: flag, keepdim: flag) =
            reduce::var(false, To::tensor(r, keepdim), t, Over::Dims(dims), correction(biased), None);
        /// The variance of all elements, `biased` as for var; NaN on error.
        varall(t: input, biased: flag) -> accumulated = number(|to| reduce::var(false, to, t, ALL, correction(biased), None));
        /// `r = sum of (t - mean)^2 / (n - correction) over dimension`, otherwise as var, where the correction is 1, or 0 if `biased`. The
        /// divisor is never less than 0; a correction that is NaN is an error.
        varCorrection(r: out, t: input, dimension: dim, correction: double, keepdim: flag) =
            reduce::var(false, To::tensor(r, keepdim), t, Over::Dim(dimension), correction, None);
        /// `r = variance of t over dims`; otherwise as varCorrection, dims as for sumDims.
        varDimsCorrection(r: out, t: input, ndim: len, dims: dims, correction: double, keepdim: flag) =
            reduce::var(false, To::tensor(r, keepdim), t, Over::Dims(dims), correction, None);
        /// The variance of all elements, `correction` as for varCorrection; NaN on error.
        varallCorrection(t: input, correction: double) -> accumulated = number(|to| reduce::var(false, to, t, ALL, correction, None));
        /// `r = sqrt(variance of t over dimension)`; everything else as for var.
        std(r: out, t: input, dimension: dim, biased: flag, keepdim: flag) =
            reduce::var(true, To::tensor(r, keepdim), t, Over::Dim(dimension), correction(biased), None);
        /// `r = sqrt(variance of t over dims)`; otherwise as var, dims as for sumDims.
        stdDims(r: out, t: input, ndim: len, dims: dims, biased: flag, keepdim: flag) =
            reduce::var(true, To::tensor(r, keepdim), t, Over::Dims(dims), correction(biased), None);
        /// The standard deviation of all elements, `biased` as for var; NaN on error.
        stdall(t: input, biased: flag) -> accumulated = number(|to| reduce::var(true, to, t, ALL, correction(biased), None));
        /// `r = sqrt(variance of t over dimension)`; everything else as for varCorrection.
        stdCorrection(r: out, t: input, dimension: dim, correction: double, keepdim: flag) =
            reduce::var(true, To::tensor(r, keepdim), t, Over::Dim(dimension), correction, None);
        /// `r = sqrt(variance of t over dims)`; otherwise as varCorrection, dims as for sumDims.
        stdDimsCorrection(r: out, t: input, ndim: len, dims: dims, correction: double, keepdim: flag) =
            reduce::var(true, To::tensor(r, keepdim), t, Over::Dims(dims), correction, None);
        /// The standard deviation of all elements, `correction` as for varCorrection; NaN on error.
        stdallCorrection(t: input, correction: double) -> accumulated = number(|to| reduce::var(true, to, t, ALL, correction, None));
        /// `values = greatest elements of t over dimension`, or over all with `TH_ALL_DIMS`, and int64 `indices` of where each first occurs
        /// (row-major over all). Either result may be NULL. Everything else as for amax.
        max(values: optional_out, indices: optional_indices, t: input, dimension: dim, keepdim: flag) =
            reduce::extreme_at(true, values, indices, t, dimension, keepdim);
        /// `r = where the greatest elements of t over dimension first occur`, as int64; row-major over all with `TH_ALL_DIMS`.
        /// Everything else as for amax.
        argmax(r: indices, t: input, dimension: dim, keepdim: flag) = reduce::extreme_at(true, None, Some(r), t, dimension, keepdim);
        /// The greatest element; NaN on error and if one is NaN.
        maxall(t: input) -> number = number(|to| reduce::extreme(true, to, t, ALL));
        /// `values = least elements of t over dimension`; everything else as for max.
        min(values: optional_out, indices: optional_indices, t: input, dimension: dim, keepdim: flag) =
            reduce::extreme_at(false, values, indices, t, dimension, keepdim);
        /// `r = where the least elements of t over dimension first occur`; everything else as for argmax.
        argmin(r: indices, t: input, dimension: dim, keepdim: flag) = reduce::extreme_at(false, None, Some(r), t, dimension, keepdim);
        /// The least element; NaN on error and if one is NaN.
        minall(t: input) -> number = number(|to| reduce::extreme(false, to, t, ALL));
        /// `r = (sum of |t|^value over dimension)^(1/value)`, or over all with `TH_ALL_DIMS`: the number of elements that are not 0 for 0,
        /// the greatest |t| for infinity, the least for -infinity. Floats only. A dimension without elements is an error for negative and
        /// infinite `value`. `keepdim` as for sum.
        ///
        /// For 1 and 2, floats narrower than float64 are summed as by sum: the norm differs from the exact one by at most `2^-21` of it
        /// before it is rounded to the dtype of `r`. Everything else is computed in float64, and powers that would leave its range are
        /// scaled.
        norm(r: out, t: input, value: number, dimension: dim, keepdim: flag) =
            reduce::norm(To::tensor(r, keepdim), t, value.to_f64(), Over::Dim(dimension), None);
        /// `r = (sum of |t|^value over dims)^(1/value)`; otherwise as norm, dims as for sumDims. `dtype` may be a wider float: with
        /// `TH_FLOAT64` everything is computed in float64.
        normDims(r: out, t: input, value: number, ndim: len, dims: dims, keepdim: flag, dtype: optional_dtype) =
            reduce::norm(To::tensor(r, keepdim), t, value.to_f64(), Over::Dims(dims), dtype);
        /// `least, greatest elements of t over dimension`, or over all with `TH_ALL_DIMS`. Either result may be NULL. Everything else as
        /// for amax.
        aminmax(least: optional_out, greatest: optional_out, t: input, dimension: dim, keepdim: flag) =
            reduce::aminmax(least, greatest, t, dimension, keepdim);
        /// The sum of all elements, of floats in float64 throughout; NaN on error.
        sumall(t: input) -> accumulated = number(|to| reduce::sum(to, t, ALL, None));
        /// The product of all elements; NaN on error.
        prodall(t: input) -> accumulated = number(|to| reduce::prod(to, t, ALL, None));
        /// The mean of all elements, computed in float64 throughout; NaN on error.
        meanall(t: input) -> accumulated = number(|to| reduce::mean(to, t, ALL, None));
        /// The norm of all elements, `value` as for norm, computed in float64 throughout; NaN on error.
        normall(t: input, value: number) -> accumulated = number(|to| reduce::norm(to, t, value.to_f64(), ALL, None));
        /// `(sum of |a - b|^value)^(1/value)`, the norm of the difference, with broadcasting, computed in float64 throughout; NaN on error.
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
