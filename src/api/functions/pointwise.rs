//! `THTensor_*`: arithmetic, functions and comparisons, element by element. Result first, then inputs, then numbers.

use crate::api::function::Function;
use crate::api::table::table;
use crate::ops::pointwise::compare::Tolerance;
use crate::ops::pointwise::{activation, arithmetic, choose, compare, divide, function};

/// Elementwise operations are declared in the files of `ops/pointwise` that define them.
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
    /// Operations of this chapter and the next three work element by element: operands broadcast, and their dtypes are promoted.
    ///
    /// Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a dtype that the operation does not support, or a result
    /// that cannot be converted to the dtype of `r`; `TH_ERR_ARGUMENT`, an integer divided by 0, or an invalid number.
    sums: arithmetic arithmetic_functions;
    /// Arithmetic.
    quotients: divide divide_functions;
    /// Functions of numbers.
    functions: function function_functions;
    /// Bits.
    ///
    /// Operations on the bits of integers: and, or, exclusive or, not, and shifts.
    ///
    /// Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a float operand, or a number that is not whole.
    bitwise: bits bits_functions;
    /// Comparisons and choices.
    truths: compare compare_functions;
    /// Losses, normalization and gradients.
    ///
    /// Gradients of activations, of softmax, of layerNorm and of losses, for training loops without autograd. Each function computes the
    /// gradient of the forward function's input from `g`, the gradient of the forward function's result. An argument `y` is that result; an
    /// argument `t` is the forward function's input.
    ///
    /// Errors: `TH_ERR_SHAPE`, operands whose shapes do not fit each other; `TH_ERR_DTYPE`, a dtype that the function does not support, or
    /// a target that is not of integers; `TH_ERR_ARGUMENT`, a class, dimension or number out of range.
    gradients: gradient gradient_functions;
}

macro_rules! scaled_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `r = t + value * src`, with broadcasting and promotion; on Bool this is *or*. For integers `value` must be whole.
        cadd(r: out, t: input, value: number, src: input) = arithmetic::cadd(r, t, value, src);
        /// `r = t - value * src`, with broadcasting and promotion. For integers `value` must be whole; not for Bool.
        csub(r: out, t: input, value: number, src: input) = arithmetic::csub(r, t, value, src);
        /// `r = value - t`. With a whole `value` integers keep their dtype and Bool gives int64; any other `value` gives the default dtype
        /// for both.
        rsub(r: out, t: input, value: number) = arithmetic::rsub(r, t, value);
        /// `r = value / t`, true division: integers give the default dtype.
        rdiv(r: out, t: input, value: number) = arithmetic::rdiv(r, t, value);
        /// `r = src - value * t`; otherwise as csub.
        crsub(r: out, t: input, value: number, src: input) = arithmetic::csub(r, src, value, t);
        /// `r = t^value`. Integers wrap and have no negative powers. With a whole `value` integers keep their dtype and Bool gives int64;
        /// any other `value` gives the default dtype for both. The exponent is a double even if `t` is float32.
        pow(r: out, t: input, value: number) = arithmetic::pow(r, t, value);
        /// `r = the larger of a and b`, with broadcasting and promotion; NaN if either is NaN. A 0-d integer tensor outside the range of
        /// the common dtype counts as the nearest integer in that range.
        cmax(r: out, a: input, b: input) = arithmetic::cmax_tensor(r, a, b);
        /// `r = the smaller of a and b`, with broadcasting and promotion; NaN if either is NaN. 0-d integer tensors are as for cmax.
        cmin(r: out, a: input, b: input) = arithmetic::cmin_tensor(r, a, b);
        /// `r = the larger of t and value`; NaN if either is NaN. With a whole `value` integers keep their dtype, otherwise they give the
        /// default dtype. If `t` is of integers, a whole `value` outside the range of its dtype counts as the nearest integer in that
        /// range.
        cmaxValue(r: out, t: input, value: number) = arithmetic::cmax_value(r, t, value);
        /// `r = the smaller of t and value`; NaN if either is NaN. `value` is as for cmaxValue.
        cminValue(r: out, t: input, value: number) = arithmetic::cmin_value(r, t, value);
        /// `r = min(max(t, minimum), maximum)`; if `minimum > maximum`, the result is `maximum`. NaN stays NaN. A `minimum` of -inf and a
        /// `maximum` of inf have no effect, and integers keep their dtype. With whole bounds integers keep their dtype, otherwise they give
        /// the default dtype. cmaxValue and cminValue have only one bound.
        clamp(r: out, t: input, minimum: number, maximum: number) = arithmetic::clamp(r, t, minimum, maximum);
        /// `r = min(max(t, minimum), maximum)` with bounds for each element, with broadcasting and promotion; NaN if any of the three is
        /// NaN. One of the two bounds may be NULL, and then has no effect.
        clampTensor(r: out, t: input, minimum: optional_input, maximum: optional_input) = arithmetic::clamp_tensor(r, t, minimum, maximum);
        /// `r = min(max(t, minimum), maximum)`; `minimum > maximum` is an error. Otherwise as clamp.
        hardtanh(r: out, t: input, minimum: number, maximum: number) = arithmetic::hardtanh(r, t, minimum, maximum);
        /// `r = t / value`, rounded by `mode`: `TH_DIV_TRUE` does not round, as div; `TH_DIV_TRUNC` rounds towards zero and `TH_DIV_FLOOR`
        /// down. With the last two, integers keep their dtype and a `value` of 0 is an error for them. Bool is only supported by
        /// `TH_DIV_TRUE`.
        divMode(r: out, t: input, value: number, mode: div_mode) = divide::div_mode(r, t, value, mode);
        /// `r = a / b`, with broadcasting and promotion, rounded by `mode` as for divMode.
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
            /// `r = t`, where NaN becomes `nan`, inf becomes `posinf` and -inf becomes `neginf`. If `posinf` is NaN, inf becomes the
            /// greatest finite number of the dtype of `t`; if `neginf` is NaN, -inf becomes the least finite number. Integers and Bool are
            /// unchanged.
            nanToNum(r: out, t: input, nan: number, posinf: number, neginf: number) = function::nan_to_num(r, t, nan, posinf, neginf);
            /// `r = t where t > 0, else value * (e^(t / value) - 1)`: elu with a continuous slope (Barron, 2017). A `value` of 0 is an
            /// error. Floats only.
            celu(r: out, t: input, value: number) = activation::celu(r, t, value);
            /// `r = t - lambda where t > lambda, t + lambda where t < -lambda, else 0`; NaN stays NaN. A negative `lambda` is an error.
            /// Floats only.
            softshrink(r: out, t: input, lambda: number) = activation::softshrink(r, t, lambda);
            /// `r = t where t > threshold, else value`; NaN stays NaN. Floats only.
            threshold(r: out, t: input, threshold: number, value: number) = activation::threshold(r, t, threshold, value);
            /// `r = t where t > 0, else weight * t` (He et al., 2015), with promotion; `r` has the shape of `t`. `weight` has one element,
            /// or one dimension with an element for each channel, which is an entry of dimension 1 of `t`. A tensor with fewer than two
            /// dimensions has one channel. Floats only.
            prelu(r: out, t: input, weight: input) = activation::prelu(r, t, weight);
            /// `r = a / (1 + e^-b)`, where `a` and `b` are the first and the second half of `t` along `dimension`: the gated linear unit
            /// (Dauphin et al., 2017). `dimension` has an even size, and half of this size in `r`. Floats only.
            glu(r: out, t: input, dimension: dim) = activation::glu(r, t, dimension);
            /// `r = a * log(value)`; otherwise as xlogy.
            xlogyValue(r: out, a: input, value: number) = function::xlogy_value(r, a, value);
            /// `r = the n-th derivative of digamma at t`, the polygamma function, for `n` from 0 to 2^20. Integers give the default dtype.
            polygamma(r: out, n: count, t: input) = function::polygamma(r, n, t);
            /// `r = log(pi) * p * (p - 1) / 4 + lgamma(t) + lgamma(t - 1/2) + ... + lgamma(t - (p - 1) / 2)`, the logarithm of the
            /// multivariate gamma function of dimension `p`, for `p` from 1 to 65536. Integers give the default dtype. Where `t > (p - 1) /
            /// 2`, the error is at most 2 units in the last place of float64. For smaller `t`, terms of both signs cancel, and the error is
            /// only small relative to the largest term.
            mvlgamma(r: out, t: input, p: count) = function::mvlgamma(r, t, p);
        }
    };
}

pub mod special {
    //! Functions of numbers.
    //!
    //! Functions of each element: roots, exponentials, logarithms, trigonometric and special functions, activations.
    //!
    //! Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a dtype that the function does not support, or a result that
    //! cannot be converted to the dtype of `r`; `TH_ERR_ARGUMENT`, an invalid number; `TH_ERR_UNSUPPORTED`, a derivative of too high an
    //! order.
    use super::*;
    special_functions!(table);
    pub(crate) use special_functions as functions;
}

macro_rules! choice_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r = condition ? a : b`, with broadcasting of all three and promotion of `a` with `b`. The condition is Bool or uint8.
            choose as "where"(r: out, condition: mask, a: input, b: input) = choose::choose(r, condition, a, b);
            /// `r = condition ? a : value`; otherwise as where. With a whole `value`, which must be in the range of their dtype, integers
            /// keep their dtype; otherwise they give the default dtype.
            whereValue(r: out, condition: mask, a: input, value: number) = choose::choose_value(r, condition, a, value, false);
            /// `r = condition ? value : b`; otherwise as whereValue.
            whereValueTensor(r: out, condition: mask, value: number, b: input) = choose::choose_value(r, condition, b, value, true);
            /// `r = condition ? a : b` for two numbers; the result is int64 if both are whole, else the default dtype.
            whereValues(r: out, condition: mask, a: number, b: number) = choose::choose_values(r, condition, a, b);
            /// `r = 0 where a < 0 or NaN, b where a = 0, 1 where a > 0`: the Heaviside step function with the value `b` at 0, with
            /// broadcasting and promotion.
            heaviside(r: out, a: input, b: input) = choose::heaviside(r, a, b);
            /// `t = value where mask is true`; `value` is converted as by fill. The mask is Bool or uint8 and broadcasts to the shape of
            /// `t`.
            maskedFill(t: inout, mask: mask, value: number) = choose::masked_fill(t, mask, value);
            /// `r = whether the sign bit of t is set`. The result is Bool unless `r` has a dtype. The sign bit is set for negative numbers,
            /// for -0.0, and for a NaN whose sign is negative.
            signbit(r: truth, t: input) = compare::signbit(r, t);
            /// `r = |a - b| <= atol + rtol * |b|`, with broadcasting. The result is Bool unless `r` has a dtype. With any tolerance, an
            /// infinity is only close to itself. NaN is close to no number, and to NaN only if `equalNan` is not 0. Integers are compared
            /// as float64. Negative tolerances are errors.
            isclose(r: truth, a: input, b: input, rtol: double, atol: double, equalNan: flag) =
                compare::isclose(r, a, b, Tolerance { relative: rtol, absolute: atol, nan: equalNan });
            /// Returns 1 if all elements of `a` and `b` are close as defined by isclose, else 0; 0 on error.
            allclose(a: input, b: input, rtol: double, atol: double, equalNan: flag) -> flag =
                compare::allclose(a, b, Tolerance { relative: rtol, absolute: atol, nan: equalNan });
            /// Returns 1 if both tensors have the same shape and equal elements, else 0; 0 on error. The dtypes may differ. NaN equals no
            /// number.
            equal(a: input, b: input) -> flag = compare::equal(a, b);
        }
    };
}

pub mod choices {
    //! Comparisons and choices.
    //!
    //! Comparisons and tests of elements, and choices by the resulting truth values.
    //!
    //! Errors: `TH_ERR_SHAPE`, operands that do not broadcast; `TH_ERR_DTYPE`, a dtype of `r` that cannot hold truth values, or a condition
    //! that is neither Bool nor uint8; `TH_ERR_ARGUMENT`, a negative tolerance.
    use super::*;
    choice_functions!(table);
    pub(crate) use choice_functions as functions;
}

/// The functions of the elementwise chapters.
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
