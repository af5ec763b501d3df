//! `THTensor_*`: arithmetic, functions and comparisons, element by element. Result first, then inputs, then numbers.

use super::export;
use crate::ops::pointwise::compare::Tolerance;
use crate::ops::pointwise::divide::THDivMode;
use crate::ops::pointwise::{arithmetic, bits, choose, compare, divide, function};
use crate::tensor::THTensor;
use std::ffi::c_int;

/// Rows of one result and one input: `name = op`.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident = $op:path;)*) => {
        export! { $( $(#[$doc])* fn $name(r: *mut THTensor, t: *const THTensor) = $op(r, t); )* }
    };
}

unary! {
    /// `r = -t`. Not for Bool.
    THTensor_neg = arithmetic::neg;
    /// `r = |t|`. Not for Bool.
    THTensor_abs = arithmetic::abs;
    /// `r = -1, 0 or 1`, as `t` is negative, neither (NaN too), or positive.
    THTensor_sign = arithmetic::sign;
    /// `r = floor(t)`. Not for Bool; integers stay as they are.
    THTensor_floor = arithmetic::floor;
    /// `r = ceil(t)`. Not for Bool; integers stay as they are.
    THTensor_ceil = arithmetic::ceil;
    /// `r = the integer nearest to t`, ties to even. Not for Bool; integers stay as they are.
    THTensor_round = arithmetic::round;
    /// `r = t rounded towards zero`. Not for Bool; integers stay as they are.
    THTensor_trunc = arithmetic::trunc;
    /// `r = t - trunc(t)`. Floats only.
    THTensor_frac = arithmetic::frac;
    /// `r = 1 / t`. Integers give the default dtype.
    THTensor_cinv = arithmetic::cinv;
    /// `r = sqrt(t)`. Integers give the default dtype.
    THTensor_sqrt = function::sqrt;
    /// `r = 1 / sqrt(t)`. Integers give the default dtype.
    THTensor_rsqrt = function::rsqrt;
    /// `r = e^t`. Integers give the default dtype.
    THTensor_exp = function::exp;
    /// `r = 2^t`. Integers give the default dtype.
    THTensor_exp2 = function::exp2;
    /// `r = e^t - 1`, exact near 0. Integers give the default dtype.
    THTensor_expm1 = function::expm1;
    /// `r = log(t)`, the natural logarithm. Integers give the default dtype.
    THTensor_log = function::log;
    /// `r = log(1 + t)`, exact near 0. Integers give the default dtype.
    THTensor_log1p = function::log1p;
    /// `r = log2(t)`. Integers give the default dtype.
    THTensor_log2 = function::log2;
    /// `r = log10(t)`. Integers give the default dtype.
    THTensor_log10 = function::log10;
    /// `r = sin(t)`, in radians. Integers give the default dtype.
    THTensor_sin = function::sin;
    /// `r = cos(t)`, in radians. Integers give the default dtype.
    THTensor_cos = function::cos;
    /// `r = tan(t)`, in radians. Integers give the default dtype.
    THTensor_tan = function::tan;
    /// `r = asin(t)`; NaN outside [-1, 1]. Integers give the default dtype.
    THTensor_asin = function::asin;
    /// `r = acos(t)`; NaN outside [-1, 1]. Integers give the default dtype.
    THTensor_acos = function::acos;
    /// `r = atan(t)`. Integers give the default dtype.
    THTensor_atan = function::atan;
    /// `r = sinh(t)`. Integers give the default dtype.
    THTensor_sinh = function::sinh;
    /// `r = cosh(t)`. Integers give the default dtype.
    THTensor_cosh = function::cosh;
    /// `r = tanh(t)`. Integers give the default dtype.
    THTensor_tanh = function::tanh;
    /// `r = 1 / (1 + e^-t)`. Integers give the default dtype.
    THTensor_sigmoid = function::sigmoid;
    /// `r = erf(t)`, the error function. Integers give the default dtype.
    THTensor_erf = function::erf;
    /// `r = 1 - erf(t)`, exact where that is small. Integers give the default dtype.
    THTensor_erfc = function::erfc;
    /// `r = the number whose erf is t`; NaN outside [-1, 1]. Integers give the default dtype.
    THTensor_erfinv = function::erfinv;
    /// `r = log |gamma(t)|`; inf at 0, -1, -2, ... Integers give the default dtype.
    THTensor_lgamma = function::lgamma;
    /// `r = the derivative of lgamma at t`; NaN at -1, -2, ..., -inf at 0. Integers give the default dtype.
    THTensor_digamma = function::digamma;
    /// `r = t * (1 + erf(t / sqrt 2)) / 2`. Floats only.
    THTensor_gelu = function::gelu;
    /// `r = t * (1 + tanh(sqrt(2 / pi) * (t + 0.044715 t^3))) / 2`, the common approximation of gelu. Floats only.
    THTensor_geluTanh = function::gelu_tanh;
    /// `r = max(t, 0)`; NaN stays. Not for Bool.
    THTensor_relu = function::relu;
    /// `r = ~t`, bit by bit; on Bool this is *not*. Not for floats.
    THTensor_bitnot = bits::bitnot;
    /// `r = whether t is 0`, as Bool unless `r` has a dtype.
    THTensor_logicalNot = compare::logical_not;
    /// `r = whether t is NaN`, as Bool unless `r` has a dtype.
    THTensor_isnan = compare::isnan;
    /// `r = whether t is inf or -inf`, as Bool unless `r` has a dtype.
    THTensor_isinf = compare::isinf;
    /// `r = whether t is neither infinite nor NaN`, as Bool unless `r` has a dtype.
    THTensor_isfinite = compare::isfinite;
}

/// Rows of one result, one input and one number: `name = op`.
macro_rules! with_value {
    ($($(#[$doc:meta])* $name:ident = $op:path;)*) => {
        export! { $( $(#[$doc])* fn $name(r: *mut THTensor, t: *const THTensor, value: f64) = $op(r, t, value.into()); )* }
    };
}

with_value! {
    /// `r = t + value`. A whole `value` keeps integers integer, any other makes them the default dtype.
    THTensor_add = arithmetic::add;
    /// `r = t - value`. A whole `value` keeps integers integer, any other makes them the default dtype.
    THTensor_sub = arithmetic::sub;
    /// `r = t * value`. A whole `value` keeps integers integer, any other makes them the default dtype.
    THTensor_mul = arithmetic::mul;
    /// `r = t / value`, true division: integers give the default dtype.
    THTensor_div = arithmetic::div;
    /// `r = t - value * trunc(t / value)`, exact, with the sign of `t`. Not for Bool; integers refuse 0. A whole `value` keeps integers
    /// integer, any other makes them the default dtype.
    THTensor_fmod = divide::fmod;
    /// `r = t - value * floor(t / value)`, exact, with the sign of `value`; a zero has that of `t`. Not for Bool; integers refuse 0. A whole
    /// `value` keeps integers integer, any other makes them the default dtype.
    THTensor_remainder = divide::remainder;
    /// `r = t^value`. Not for Bool; integers wrap and have no negative powers. A whole `value` keeps integers integer, any other makes them
    /// the default dtype. Of float32 too, the exponent is the double it is.
    THTensor_pow = arithmetic::pow;
    /// `r = the larger of t and value`; NaN if one is. A whole `value` keeps integers integer, any other makes them the default dtype.
    THTensor_cmaxValue = arithmetic::cmax_value;
    /// `r = the smaller of t and value`; NaN if one is. A whole `value` keeps integers integer, any other makes them the default dtype.
    THTensor_cminValue = arithmetic::cmin_value;
    /// `r = t & value`, bit by bit; on Bool this is *and*. Not for floats.
    THTensor_bitand = bits::bitand;
    /// `r = t | value`, bit by bit; on Bool this is *or*. Not for floats.
    THTensor_bitor = bits::bitor;
    /// `r = t ^ value`, bit by bit. Not for floats.
    THTensor_bitxor = bits::bitxor;
    /// `r = t << value`; integers lose all bits if `value` is negative or not below their width. Floats: `r = t * 2^value`,
    /// rounded once if `value` is whole. Not for Bool.
    THTensor_lshift = bits::lshift;
    /// `r = t >> value`, with the sign; if `value` is negative or not below the width nothing but the sign stays. Floats: `r = t /
    /// 2^value`, rounded once if `value` is whole. Not for Bool.
    THTensor_rshift = bits::rshift;
    /// `r = t where t > 0, else value * t`. Floats only.
    THTensor_leakyRelu = function::leaky_relu;
    /// `r = t where t > 0, else value * (e^t - 1)`. Floats only.
    THTensor_elu = function::elu;
    /// `r = t < value`, as Bool unless `r` has a dtype. A whole `value` out of the range of integers is compared as it is: 300 is greater than
    /// every uint8. So in the other five comparisons with a number.
    THTensor_ltValue = compare::lt_value;
    /// `r = t <= value`, as Bool unless `r` has a dtype.
    THTensor_leValue = compare::le_value;
    /// `r = t > value`, as Bool unless `r` has a dtype.
    THTensor_gtValue = compare::gt_value;
    /// `r = t >= value`, as Bool unless `r` has a dtype.
    THTensor_geValue = compare::ge_value;
    /// `r = t == value`, as Bool unless `r` has a dtype.
    THTensor_eqValue = compare::eq_value;
    /// `r = t != value`, as Bool unless `r` has a dtype.
    THTensor_neValue = compare::ne_value;
}

/// Rows of one result and two inputs: `name = op`.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident = $op:path;)*) => {
        export! { $( $(#[$doc])* fn $name(r: *mut THTensor, a: *const THTensor, b: *const THTensor) = $op(r, a, b); )* }
    };
}

binary! {
    /// `r = a * b`, with broadcasting and promotion; on Bool this is *and*.
    THTensor_cmul = arithmetic::cmul;
    /// `r = a / b`, with broadcasting; true division: integers give the default dtype.
    THTensor_cdiv = arithmetic::cdiv;
    /// `r = a - b * trunc(a / b)`, exact, with the sign of `a`, with broadcasting and promotion. Not for Bool; integers refuse a 0 in `b`.
    THTensor_cfmod = divide::cfmod;
    /// `r = a - b * floor(a / b)`, exact, with the sign of `b`, a zero with that of `a`; with broadcasting and promotion. Not for Bool;
    /// integers refuse a 0 in `b`.
    THTensor_cremainder = divide::cremainder;
    /// `r = a^b`, with broadcasting and promotion. Not for Bool; integers wrap, and a negative power of one is 1 divided by it, rounded
    /// towards zero (0 for 0).
    THTensor_cpow = arithmetic::cpow;
    /// `r = the larger of a and b`, with broadcasting and promotion; NaN if one is.
    THTensor_cmax = arithmetic::cmax;
    /// `r = the smaller of a and b`, with broadcasting and promotion; NaN if one is.
    THTensor_cmin = arithmetic::cmin;
    /// `r = a & b`, bit by bit, with broadcasting and promotion; on Bool this is *and*. Not for floats.
    THTensor_cbitand = bits::cbitand;
    /// `r = a | b`, bit by bit, with broadcasting and promotion; on Bool this is *or*. Not for floats.
    THTensor_cbitor = bits::cbitor;
    /// `r = a ^ b`, bit by bit, with broadcasting and promotion. Not for floats.
    THTensor_cbitxor = bits::cbitxor;
    /// `r = a << b`, with broadcasting and promotion; see lshift.
    THTensor_clshift = bits::clshift;
    /// `r = a >> b`, with broadcasting and promotion; see rshift.
    THTensor_crshift = bits::crshift;
    /// `r = the angle of the point (b, a)` in (-pi, pi], with broadcasting. Integers give the default dtype.
    THTensor_atan2 = function::atan2;
    /// `r = sqrt(a^2 + b^2)` without overflow on the way, with broadcasting. Integers give the default dtype.
    THTensor_hypot = function::hypot;
    /// `r = log(e^a + e^b)` without overflow on the way, with broadcasting. Integers give the default dtype.
    THTensor_logaddexp = function::logaddexp;
    /// `r = |a| with the sign of b`, with broadcasting. Integers give the default dtype.
    THTensor_copysign = function::copysign;
    /// `r = the number next to a, towards b`, with broadcasting and promotion. Floats only.
    THTensor_nextafter = function::nextafter;
    /// `r = a and b`, where what is not 0 is true; with broadcasting, as Bool unless `r` has a dtype.
    THTensor_logicalAnd = compare::logical_and;
    /// `r = a or b`, where what is not 0 is true; with broadcasting, as Bool unless `r` has a dtype.
    THTensor_logicalOr = compare::logical_or;
    /// `r = either a or b`, where what is not 0 is true; with broadcasting, as Bool unless `r` has a dtype.
    THTensor_logicalXor = compare::logical_xor;
    /// `r = a < b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_ltTensor = compare::lt_tensor;
    /// `r = a <= b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_leTensor = compare::le_tensor;
    /// `r = a > b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_gtTensor = compare::gt_tensor;
    /// `r = a >= b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_geTensor = compare::ge_tensor;
    /// `r = a == b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_eqTensor = compare::eq_tensor;
    /// `r = a != b`, with broadcasting, as Bool unless `r` has a dtype.
    THTensor_neTensor = compare::ne_tensor;
}

export! {
    /// `r = t + value * src`, with broadcasting and promotion; on Bool this is *or*. For integers `value` must be whole.
    fn THTensor_cadd(r: *mut THTensor, t: *const THTensor, value: f64, src: *const THTensor) = arithmetic::cadd(r, t, value.into(), src);
    /// `r = t - value * src`, with broadcasting and promotion. For integers `value` must be whole; not for Bool.
    fn THTensor_csub(r: *mut THTensor, t: *const THTensor, value: f64, src: *const THTensor) = arithmetic::csub(r, t, value.into(), src);
    /// `r = t + value * a * b`, with broadcasting and promotion. For integers `value` must be whole; not for Bool.
    fn THTensor_addcmul(r: *mut THTensor, t: *const THTensor, value: f64, a: *const THTensor, b: *const THTensor) =
        arithmetic::addcmul(r, t, value.into(), a, b);
    /// `r = t + value * a / b`, with broadcasting and promotion. Floats only.
    fn THTensor_addcdiv(r: *mut THTensor, t: *const THTensor, value: f64, a: *const THTensor, b: *const THTensor) =
        arithmetic::addcdiv(r, t, value.into(), a, b);
    /// `r = a + weight * (b - a)`, exact for weights 0 and 1, with broadcasting and promotion. Floats only.
    fn THTensor_lerp(r: *mut THTensor, a: *const THTensor, b: *const THTensor, weight: f64) = arithmetic::lerp(r, a, b, weight.into());
    /// `r = a + weight * (b - a)` with a weight for each element, with broadcasting and promotion. Floats only.
    fn THTensor_lerpTensor(r: *mut THTensor, a: *const THTensor, b: *const THTensor, weight: *const THTensor) =
        arithmetic::lerp_tensor(r, a, b, weight);
    /// `r = value^t`. Not for Bool; negative powers of integers as in cpow.
    fn THTensor_tpow(r: *mut THTensor, value: f64, t: *const THTensor) = arithmetic::tpow(r, t, value.into());
    /// `r = min(max(t, minimum), maximum)`: `maximum` where the bounds are not in order; NaN stays. -inf as minimum and inf
    /// as maximum bound nothing, and integers stay integers; cmaxValue and cminValue have one bound only. Whole bounds keep integers integer, others make them the default dtype.
    fn THTensor_clamp(r: *mut THTensor, t: *const THTensor, minimum: f64, maximum: f64) =
        arithmetic::clamp(r, t, minimum.into(), maximum.into());
    /// `r = min(max(t, minimum), maximum)`, as clamp, with bounds that must be in order.
    fn THTensor_hardtanh(r: *mut THTensor, t: *const THTensor, minimum: f64, maximum: f64) =
        arithmetic::hardtanh(r, t, minimum.into(), maximum.into());
    /// `r = log(1 + e^(beta * t)) / beta`, or `t` itself where `beta * t > threshold` (PyTorch's defaults are 1 and 20). Floats only.
    fn THTensor_softplus(r: *mut THTensor, t: *const THTensor, beta: f64, threshold: f64) =
        function::softplus(r, t, beta.into(), threshold.into());
    /// `r = the n-th derivative of digamma at t`, `n` from 0 to 2^20: the polygamma function. Integers give the default dtype.
    fn THTensor_polygamma(r: *mut THTensor, n: i64, t: *const THTensor) = function::polygamma(r, n, t);
    /// `r = log(pi) * p * (p - 1) / 4 + lgamma(t) + lgamma(t - 1/2) + ... + lgamma(t - (p - 1) / 2)`, the logarithm of the multivariate gamma function
    /// of dimension `p`, 1 to 65536. Integers give the default dtype. Within 2 units in the last place of float64 where `t > (p - 1) / 2`; below that
    /// terms of both signs cancel, and errors are as small beside the largest of them only.
    fn THTensor_mvlgamma(r: *mut THTensor, t: *const THTensor, p: i64) = function::mvlgamma(r, t, p);
    /// `r = t / value`, rounded as `mode` says: `TH_DIV_TRUE` as div; `TH_DIV_TRUNC` towards zero and `TH_DIV_FLOOR` down, where integers stay
    /// integer and refuse 0. Not for Bool, but for `TH_DIV_TRUE`.
    fn THTensor_divMode(r: *mut THTensor, t: *const THTensor, value: f64, mode: THDivMode) = divide::div_mode(r, t, value.into(), mode);
    /// `r = a / b`, with broadcasting and promotion, rounded as `mode` says; see divMode.
    fn THTensor_cdivMode(r: *mut THTensor, a: *const THTensor, b: *const THTensor, mode: THDivMode) = divide::cdiv_mode(r, a, b, mode);

    /// `r = a where condition, else b`, with broadcasting of all three and promotion of `a` with `b`. The condition is Bool or uint8.
    fn THTensor_where(r: *mut THTensor, condition: *const THTensor, a: *const THTensor, b: *const THTensor) =
        choose::choose(r, condition, a, b);
    /// `t = value where mask`, converted as fill does. The mask is Bool or uint8 and broadcasts to the shape of `t`.
    fn THTensor_maskedFill(t: *mut THTensor, mask: *const THTensor, value: f64) = choose::masked_fill(t, mask, value.into());

    /// `r = |a - b| <= atol + rtol * |b|`, with broadcasting, as Bool unless `r` has a dtype. Infinities are close to themselves only,
    /// whatever the tolerance, NaN to nothing unless `equalNan` is not 0. Integers are compared as float64. Negative tolerances are errors.
    fn THTensor_isclose(r: *mut THTensor, a: *const THTensor, b: *const THTensor, rtol: f64, atol: f64, equalNan: c_int) =
        compare::isclose(r, a, b, Tolerance { relative: rtol, absolute: atol, nan: equalNan != 0 });
    /// Whether all elements are close in the sense of isclose; 0 on error.
    fn THTensor_allclose(a: *const THTensor, b: *const THTensor, rtol: f64, atol: f64, equalNan: c_int) -> c_int =
        compare::allclose(a, b, Tolerance { relative: rtol, absolute: atol, nan: equalNan != 0 });
    /// Whether both tensors have the same shape and equal elements, whatever their dtypes; NaN equals nothing. 0 on error.
    fn THTensor_equal(a: *const THTensor, b: *const THTensor) -> c_int = compare::equal(a, b);
}
