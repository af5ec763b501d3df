//! `THTensor_*`: arithmetic, functions, comparisons, reductions and matrix products. Result first, then inputs, then numbers.

use super::export;
use crate::ops::{matmul, pointwise, reduce};
use crate::tensor::THTensor;
use std::ffi::c_int;
use std::ptr::NonNull;

/// Rows of one result and one input: `name = op`.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident = $op:path;)*) => {
        export! { $( $(#[$doc])* fn $name(r: *mut THTensor, t: *const THTensor) = $op(r, t); )* }
    };
}

unary! {
    /// `r = -t`. Not for Bool.
    THTensor_neg = pointwise::neg;
    /// `r = |t|`. Not for Bool.
    THTensor_abs = pointwise::abs;
    /// `r = sqrt(t)`. Integers give the default dtype.
    THTensor_sqrt = pointwise::sqrt;
    /// `r = e^t`. Integers give the default dtype.
    THTensor_exp = pointwise::exp;
    /// `r = log(t)`, the natural logarithm. Integers give the default dtype.
    THTensor_log = pointwise::log;
    /// `r = tanh(t)`. Integers give the default dtype.
    THTensor_tanh = pointwise::tanh;
    /// `r = 1 / (1 + e^-t)`. Integers give the default dtype.
    THTensor_sigmoid = pointwise::sigmoid;
}

/// Rows of one result, one input and one number: `name = op`.
macro_rules! with_value {
    ($($(#[$doc:meta])* $name:ident = $op:path;)*) => {
        export! { $( $(#[$doc])* fn $name(r: *mut THTensor, t: *const THTensor, value: f64) = $op(r, t, value.into()); )* }
    };
}

with_value! {
    /// `r = t + value`. A whole `value` keeps integers integer, any other makes them the default dtype.
    THTensor_add = pointwise::add;
    /// `r = t - value`. A whole `value` keeps integers integer, any other makes them the default dtype.
    THTensor_sub = pointwise::sub;
    /// `r = t * value`. A whole `value` keeps integers integer, any other makes them the default dtype.
    THTensor_mul = pointwise::mul;
    /// `r = t / value`, true division: integers give the default dtype.
    THTensor_div = pointwise::div;
    /// `r = t < value`, as Bool unless `r` has a dtype.
    THTensor_ltValue = pointwise::lt_value;
    /// `r = t <= value`, as Bool unless `r` has a dtype.
    THTensor_leValue = pointwise::le_value;
    /// `r = t > value`, as Bool unless `r` has a dtype.
    THTensor_gtValue = pointwise::gt_value;
    /// `r = t >= value`, as Bool unless `r` has a dtype.
    THTensor_geValue = pointwise::ge_value;
    /// `r = t == value`, as Bool unless `r` has a dtype.
    THTensor_eqValue = pointwise::eq_value;
    /// `r = t != value`, as Bool unless `r` has a dtype.
    THTensor_neValue = pointwise::ne_value;
}

/// Rows of one result and two inputs: `name = op`.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident = $op:path;)*) => {
        export! { $( $(#[$doc])* fn $name(r: *mut THTensor, a: *const THTensor, b: *const THTensor) = $op(r, a, b); )* }
    };
}

binary! {
    /// `r = a * b`, with broadcasting and promotion; on Bool this is *and*.
    THTensor_cmul = pointwise::cmul;
    /// `r = a / b`, with broadcasting; true division: integers give the default dtype.
    THTensor_cdiv = pointwise::cdiv;
    /// `r = a < b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_ltTensor = pointwise::lt;
    /// `r = a <= b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_leTensor = pointwise::le;
    /// `r = a > b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_gtTensor = pointwise::gt;
    /// `r = a >= b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_geTensor = pointwise::ge;
    /// `r = a == b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_eqTensor = pointwise::eq;
    /// `r = a != b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_neTensor = pointwise::ne;
}

export! {
    /// `r = t + value * src`, with broadcasting and promotion; on Bool this is *or*. For integers `value` must be whole.
    fn THTensor_cadd(r: *mut THTensor, t: *const THTensor, value: f64, src: *const THTensor) = pointwise::cadd(r, t, value.into(), src);
    /// `r = t - value * src`, with broadcasting and promotion. For integers `value` must be whole; not for Bool.
    fn THTensor_csub(r: *mut THTensor, t: *const THTensor, value: f64, src: *const THTensor) = pointwise::csub(r, t, value.into(), src);

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

    /// `r = m1 @ m2` for matrices [n x k] and [k x p] of one dtype; not for Bool. 16-bit floats accumulate in float32, integers wrap.
    fn THTensor_mm(r: *mut THTensor, m1: *const THTensor, m2: *const THTensor) = matmul::mm(r, m1, m2);
    /// `r = mat @ vec` for a matrix [n x k] and a vector [k] of one dtype; not for Bool.
    fn THTensor_mv(r: *mut THTensor, mat: *const THTensor, vec: *const THTensor) = matmul::mv(r, mat, vec);
    /// `r = beta * t + alpha * (m1 @ m2)`; `t` broadcasts to [n x p]. With `beta` 0 the elements of `t` are not looked at. `r` may be `t`.
    fn THTensor_addmm(r: *mut THTensor, beta: f64, t: *const THTensor, alpha: f64, m1: *const THTensor, m2: *const THTensor) =
        matmul::addmm(r, beta.into(), t, alpha.into(), m1, m2);
    /// `r = beta * t + alpha * (mat @ vec)`; `t` broadcasts to [n]. With `beta` 0 the elements of `t` are not looked at. `r` may be `t`.
    fn THTensor_addmv(r: *mut THTensor, beta: f64, t: *const THTensor, alpha: f64, mat: *const THTensor, vec: *const THTensor) =
        matmul::addmv(r, beta.into(), t, alpha.into(), mat, vec);
}
