//! `THTensor_*`: arithmetic, functions and comparisons, element by element. Result first, then inputs, then numbers.

use crate::api::function::Function;
use crate::api::table::table;
use crate::ops::pointwise::compare::Tolerance;
use crate::ops::pointwise::{arithmetic, choose, compare, divide, function};

/// Elementwise operations have their lines where they are defined.
macro_rules! elementwise {
    ($d:tt $($(#[$title:meta])* $module:ident: $area:ident $lines:ident;)*) => { $(
        $(#[$title])*
        pub mod $module {
            use crate::api::table::table;
            macro_rules! functions {
                ($d do:ident) => { $crate::ops::pointwise::$area::$lines!($d do "THTensor_" $crate::ops::pointwise::$area;); };
            }
            functions!(table);
            pub(crate) use functions;
        }
    )* };
}

elementwise! { $
    /// Arithmetic.
    ///
    /// Operations of this chapter and the next three work element by element: operands broadcast, and dtypes are promoted.
    ///
    /// Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a dtype that the operation is not defined for, or that the
    /// result cannot take; `TH_ERR_ARGUMENT`, integers divided by 0, and numbers that an operation does not take.
    sums: arithmetic arithmetic_functions;
    /// Arithmetic.
    quotients: divide divide_functions;
    /// Functions of numbers.
    functions: function function_functions;
    /// Bits.
    ///
    /// Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, floats, and numbers that are not whole.
    bitwise: bits bits_functions;
    /// Comparisons and choices.
    truths: compare compare_functions;
    /// Losses, normalization and gradients.
    ///
    /// Gradients of activations, of softmax, of layerNorm and of losses, for training loops that are written by hand: each is the gradient
    /// of the forward function's input, from `g`, that of its result. With `y` as an argument the result itself is asked for, with `t` the
    /// input.
    ///
    /// Errors: `TH_ERR_SHAPE`, operands that do not fit each other; `TH_ERR_DTYPE`, a dtype that the function is not defined for, or a
    /// target that is not of integers; `TH_ERR_ARGUMENT`, a class, dimension or number out of range.
    gradients: gradient gradient_functions;
}

macro_rules! scaled_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `r = t + value * src`, with broadcasting and promotion; on Bool this is *or*. For integers `value` must be whole.
        cadd(r: out, t: input, value: number, src: input) = arithmetic::cadd(r, t, value, src);
        /// `r = t - value * src`, with broadcasting and promotion. For integers `value` must be whole; not for Bool.
        csub(r: out, t: input, value: number, src: input) = arithmetic::csub(r, t, value, src);
        /// `r = value - t`. A whole `value` keeps integers integer and makes Bool int64; any other makes both the default dtype.
        rsub(r: out, t: input, value: number) = arithmetic::rsub(r, t, value);
        /// `r = value / t`, true division: integers give the default dtype.
        rdiv(r: out, t: input, value: number) = arithmetic::rdiv(r, t, value);
        /// `r = src - value * t`, otherwise as csub.
        crsub(r: out, t: input, value: number, src: input) = arithmetic::csub(r, src, value, t);
        /// `r = t^value`. Integers wrap and have no negative powers. A whole `value` keeps integers integer and makes Bool int64; any other
        /// makes both the default dtype. The exponent stays a double for float32, too.
        pow(r: out, t: input, value: number) = arithmetic::pow(r, t, value);
        /// `r = the larger of a and b`, with broadcasting and promotion; NaN if one is. A 0-d integer tensor out of the range of the common
        /// dtype counts as the nearest integer of it.
        cmax(r: out, a: input, b: input) = arithmetic::cmax_tensor(r, a, b);
        /// `r = the smaller of a and b`, with broadcasting and promotion; NaN if one is. 0-d integer tensors as in cmax.
        cmin(r: out, a: input, b: input) = arithmetic::cmin_tensor(r, a, b);
        /// `r = the larger of t and value`; NaN if one is. A whole `value` keeps integers integer, any other makes them the default dtype.
        /// Of integers, a whole `value` out of range counts as the nearest integer of the dtype.
        cmaxValue(r: out, t: input, value: number) = arithmetic::cmax_value(r, t, value);
        /// `r = the smaller of t and value`; NaN if one is. `value` as in cmaxValue.
        cminValue(r: out, t: input, value: number) = arithmetic::cmin_value(r, t, value);
        /// `r = min(max(t, minimum), maximum)`: `maximum` where the bounds are not in order; NaN stays. -inf as minimum and inf as maximum
        /// bound nothing, and integers stay integers; cmaxValue and cminValue have one bound only. Whole bounds keep integers integer,
        /// others make them the default dtype.
        clamp(r: out, t: input, minimum: number, maximum: number) = arithmetic::clamp(r, t, minimum, maximum);
        /// `r = min(max(t, minimum), maximum)` with bounds for each element, with broadcasting and promotion; NaN if one is. A bound that
        /// is NULL bounds nothing; there must be one.
        clampTensor(r: out, t: input, minimum: optional_input, maximum: optional_input) = arithmetic::clamp_tensor(r, t, minimum, maximum);
        /// `r = min(max(t, minimum), maximum)`, as clamp, with bounds that must be in order.
        hardtanh(r: out, t: input, minimum: number, maximum: number) = arithmetic::hardtanh(r, t, minimum, maximum);
        /// `r = t / value`, rounded as `mode` says: `TH_DIV_TRUE` as div; `TH_DIV_TRUNC` towards zero and `TH_DIV_FLOOR` down, where
        /// integers stay integer and refuse 0. Not for Bool, but for `TH_DIV_TRUE`.
        divMode(r: out, t: input, value: number, mode: div_mode) = divide::div_mode(r, t, value, mode);
        /// `r = a / b`, with broadcasting and promotion, rounded as `mode` says; see divMode.
        cdivMode(r: out, a: input, b: input, mode: div_mode) = divide::cdiv_mode(r, a, b, mode);
    } };
}

pub mod scaled {
    //! Arithmetic.
    use super::*;
    scaled_functions!(table);
    pub(crate) use scaled_functions as functions;
}

macro_rules! special_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r = t`, with `nan` in place of NaN, `posinf` of inf and `neginf` of -inf. A `posinf` that is NaN stands for the greatest finite
            /// number of the dtype of `t`, a `neginf` that is NaN for the least. Integers and Bool stay as they are.
            nanToNum(r: out, t: input, nan: number, posinf: number, neginf: number) = function::nan_to_num(r, t, nan, posinf, neginf);
            /// `r = a * log(value)`, otherwise as xlogy.
            xlogyValue(r: out, a: input, value: number) = function::xlogy_value(r, a, value);
            /// `r = the n-th derivative of digamma at t`, `n` from 0 to 2^20: the polygamma function. Integers give the default dtype.
            polygamma(r: out, n: count, t: input) = function::polygamma(r, n, t);
            /// `r = log(pi) * p * (p - 1) / 4 + lgamma(t) + lgamma(t - 1/2) + ... + lgamma(t - (p - 1) / 2)`, the logarithm of the multivariate
            /// gamma function of dimension `p`, 1 to 65536. Integers give the default dtype. Within 2 units in the last place of float64 where
            /// `t > (p - 1) / 2`; below that terms of both signs cancel, and errors are as small beside the largest of them only.
            mvlgamma(r: out, t: input, p: count) = function::mvlgamma(r, t, p);
        }
    };
}

pub mod special {
    //! Functions of numbers.
    //!
    //! Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a dtype that the function is not defined for, or that the
    //! result cannot take; `TH_ERR_ARGUMENT`, numbers that a function does not take; `TH_ERR_UNSUPPORTED`, a derivative of too
    //! high an order.
    use super::*;
    special_functions!(table);
    pub(crate) use special_functions as functions;
}

macro_rules! choice_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r = a where condition, else b`, with broadcasting of all three and promotion of `a` with `b`. The condition is Bool or uint8.
            choose as "where"(r: out, condition: mask, a: input, b: input) = choose::choose(r, condition, a, b);
            /// `r = a where condition, else value`, otherwise as where. A whole `value` keeps integers integer and must lie in their range, any
            /// other makes them the default dtype.
            whereValue(r: out, condition: mask, a: input, value: number) = choose::choose_value(r, condition, a, value, false);
            /// `r = value where condition, else b`, as whereValue.
            whereValueTensor(r: out, condition: mask, value: number, b: input) = choose::choose_value(r, condition, b, value, true);
            /// `r = a where condition, else b`, of two numbers: int64 if both are whole, else the default dtype.
            whereValues(r: out, condition: mask, a: number, b: number) = choose::choose_values(r, condition, a, b);
            /// `r = 0 where a < 0 or NaN, b where a = 0, 1 where a > 0`, with broadcasting and promotion: Heaviside's step with the value `b`
            /// at 0.
            heaviside(r: out, a: input, b: input) = choose::heaviside(r, a, b);
            /// `t = value where mask`, converted as fill does. The mask is Bool or uint8 and broadcasts to the shape of `t`.
            maskedFill(t: inout, mask: mask, value: number) = choose::masked_fill(t, mask, value);
            /// `r = whether the sign bit of t is set`, as Bool unless `r` has a dtype: of negative numbers, of -0.0, and of NaN that is
            /// negative.
            signbit(r: truth, t: input) = compare::signbit(r, t);
            /// `r = |a - b| <= atol + rtol * |b|`, with broadcasting, as Bool unless `r` has a dtype. Infinities are close to themselves only,
            /// whatever the tolerance, NaN to nothing unless `equalNan` is not 0. Integers are compared as float64. Negative tolerances are
            /// errors.
            isclose(r: truth, a: input, b: input, rtol: double, atol: double, equalNan: flag) =
                compare::isclose(r, a, b, Tolerance { relative: rtol, absolute: atol, nan: equalNan });
            /// Returns 1 if all elements are close in the sense of isclose, else 0; 0 on error.
            allclose(a: input, b: input, rtol: double, atol: double, equalNan: flag) -> flag =
                compare::allclose(a, b, Tolerance { relative: rtol, absolute: atol, nan: equalNan });
            /// Returns 1 if both tensors have the same shape and equal elements, whatever their dtypes, else 0; NaN equals nothing. 0 on error.
            equal(a: input, b: input) -> flag = compare::equal(a, b);
        }
    };
}

pub mod choices {
    //! Comparisons and choices.
    //!
    //! Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a result that does not take truth values, a condition that
    //! is neither Bool nor uint8; `TH_ERR_ARGUMENT`, tolerances that are negative.
    use super::*;
    choice_functions!(table);
    pub(crate) use choice_functions as functions;
}

/// The rows of the chapters whose functions work element by element.
pub static ELEMENTWISE: &[&[&Function]] = &[
    sums::FUNCTIONS,
    quotients::FUNCTIONS,
    scaled::FUNCTIONS,
    functions::FUNCTIONS,
    special::FUNCTIONS,
    bitwise::FUNCTIONS,
    truths::FUNCTIONS,
    choices::FUNCTIONS,
    gradients::FUNCTIONS,
];
