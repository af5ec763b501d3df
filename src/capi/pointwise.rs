//! `THTensor_*`: arithmetic, functions and comparisons, element by element. Result first, then inputs, then numbers.

use super::export;
use crate::ops::pointwise;
use crate::tensor::THTensor;

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
}
