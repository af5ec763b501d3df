//! Functions of single elements.

use crate::expr::*;
use crate::grad::names::derivatives;
use crate::layout::{Dims, wrap_dim};
use crate::ops::pointwise::activation;
use std::f64::consts::{LN_2, LN_10, PI};

/// The slopes of selu above 0 and just below.
const SELU: [f64; 2] = [1.0507009873554805, 1.7580993408473768];

/// 2 / sqrt(pi)
const TWO_BY_SQRT_PI: f64 = std::f64::consts::FRAC_2_SQRT_PI;

derivatives! {
    /// The derivatives of elementwise operations.
    POINTWISE:

    // Sums.
    cadd { t: |g| g; src: |g, value: f64| g * value; }
    csub { t: |g| g; src: |g, value: f64| g * -value; }
    crsub { t: |g, value: f64| g * -value; src: |g| g; }
    add { t: |g| g; }
    sub { t: |g| g; }
    rsub { t: |g| -g; }
    neg { t: |g| -g; }

    // Products and quotients.
    mul { t: |g, value: f64| if value == 1.0 { g } else { g * value }; }
    cmul { a: |g, b| g * b; b: |g, a| g * a; }
    div { t: |g, value: f64| g / value; }
    rdiv { t: |g, t: wide, value: f64| g * number_by(t, -value) / t; }
    cdiv { a: |g, b| g / b; b: |g, a: wide, b: wide| -g * ((a / b) / b); }
    cinv { t: |g, r: wide| -g * r * r; }
    addcmul { t: |g| g; a: |g, value: f64, b| g * (b * value); b: |g, value: f64, a| g * (a * value); }
    addcdiv {
        t: |g| g;
        a: |g, value: f64, b| g * value / b;
        b: |g, value: f64, a: wide, b: wide| -g * value * ((a / b) / b);
    }
    lerp { a: |g, weight: f64| g * (1.0 - weight); b: |g, weight: f64| g * weight; }
    lerpTensor { a: |g, weight| g * less_than_one(weight); b: |g, weight| g * weight; weight: |g, a, b| g * (b - a); }
    divMode { t: |g, value: f64, mode: i32| if mode == 0 { g / value } else { zerosLike(g) }; }
    cdivMode {
        a: |g, b, mode: i32| if mode == 0 { g / b } else { zerosLike(g) };
        b: |g, a: wide, b: wide, mode: i32| if mode == 0 { -g * ((a / b) / b) } else { zerosLike(g) };
    }
    fmod { t: |g| g; }
    cfmod { a: |g| g; b: |g, a: wide, b: wide| -g * rounded((a - fmod(a, b)) / b); }
    remainder { t: |g| g; }
    cremainder { a: |g| g; b: |g, a: wide, b: wide| -g * floor_of_quotient(a, b); }

    // Powers.
    square { t: |g, t| g * (t * 2.0); }
    pow { t: |g, t: wide, value: f64| if value == 0.0 { zerosLike(g) } else { g * (power(t, value - 1.0) * value) }; }
    cpow {
        a: |g, a: wide, b: wide| {
            // The reciprocal of a small number is infinite, and no number times the exponent 0.
            let power = cpow(a, b - 1.0);
            g * or_choose(both(eq_value(b, 0.0), not(is_finite(power))), 0.0, b * power)
        };
        b: |g, a: wide, b, r: wide| {
            let nothing = both(eq_value(a, 0.0), ge_value(b, 0.0));
            g * or_choose(nothing, 0.0, r * log(or_choose(nothing, 1.0, a)))
        };
    }
    tpow { t: |g, value: f64, t, r: wide| g * tpow_slope(value, t, r); }
    sqrt { t: |g, r| g / (r * 2.0); }
    rsqrt { t: |g, r: wide| g * (power(r, 3.0) * -0.5); }
    hypot { a: |g, a: wide, b: wide| g * safely(a, hypot(a, b)); b: |g, a: wide, b: wide| g * safely(b, hypot(a, b)); }

    // Steps, whose slope is 0.
    sign { t: |g| zerosLike(g); }
    floor { t: |g| zerosLike(g); }
    ceil { t: |g| zerosLike(g); }
    round { t: |g| zerosLike(g); }
    trunc { t: |g| zerosLike(g); }
    heaviside { a: |g| zerosLike(g); b: |g, a| choose_or(eq_value(a, 0.0), g, 0.0); }
    frac { t: |g| g; }
    abs { t: |g, t| g * sign(t); }

    // The greater and the smaller: equal operands share the gradient. If an operand is NaN, both receive the whole gradient.
    cmax { a: |g, a, b| share(g, lt(a, b), eq(a, b)); b: |g, a, b| share(g, lt(b, a), eq(a, b)); }
    cmin { a: |g, a, b| share(g, gt(a, b), eq(a, b)); b: |g, a, b| share(g, gt(b, a), eq(a, b)); }
    // At a bound the gradient is 0, as PyTorch's.
    cmaxValue { t: |g, t, value: f64| choose_or(gt_value(t, value), g, 0.0); }
    cminValue { t: |g, t, value: f64| choose_or(lt_value(t, value), g, 0.0); }
    clamp {
        t: |g, t, minimum: f64, maximum: f64| {
            let above = if minimum.is_nan() { le_value(t, f64::INFINITY) } else { gt_value(t, minimum) };
            choose_or(if maximum.is_nan() { above } else { both(above, lt_value(t, maximum)) }, g, 0.0)
        };
    }
    clampTensor {
        t: |g, t, minimum: optional, maximum: optional| {
            let inside = minimum.map(|minimum| ge(t, minimum)).into_iter().chain(maximum.map(|maximum| le(t, maximum))).reduce(both);
            inside.map_or(g, |inside| choose_or(inside, g, 0.0))
        };
        minimum: |g, t, minimum, maximum: optional| {
            let below = lt(t, minimum);
            choose_or(maximum.map_or(below, |maximum| both(below, lt(minimum, maximum))), g, 0.0)
        };
        maximum: |g, t, minimum: optional, maximum| {
            let above = gt(t, maximum);
            choose_or(minimum.map_or(above, |minimum| either(above, gt(minimum, maximum))), g, 0.0)
        };
    }
    // The input is compared and not the result: a result at a bound is rounded, and may compare as inside.
    hardtanh { t: |g, t, minimum: f64, maximum: f64| hardtanh_grad(g, t, minimum, maximum); }

    // Exponentials and logarithms.
    exp { t: |g, r| g * r; }
    exp2 { t: |g, r: wide| g * (r * LN_2); }
    expm1 { t: |g, r: wide| g * (r + 1.0); }
    log { t: |g, t| g / t; }
    log1p { t: |g, t: wide| g / (t + 1.0); }
    log2 { t: |g, t: wide| g / t / LN_2; }
    log10 { t: |g, t: wide| g / t / LN_10; }
    // A gradient of 0 stays 0 where the logarithm is not finite.
    xlogy {
        a: |g, a, b| or_choose(both(eq_value(a, 0.0), le_value(b, 0.0)), 0.0, xlogy(g, b));
        b: |g, a: wide, b: wide| g * (a / b);
    }
    xlogyValue { a: |g, a, value: f64|
        if value <= 0.0 { or_choose(eq_value(a, 0.0), 0.0, xlogy_value(g, value)) } else { g * value.ln() }; }
    // The result is rounded, and infinite if an operand is: the difference of the operands gives the shares.
    logaddexp { a: |g, a: wide, b: wide| g * share_of_sum(a, b); b: |g, a: wide, b: wide| g * share_of_sum(b, a); }

    // Functions of angles.
    sin { t: |g, t| g * cos(t); }
    cos { t: |g, t| g * -sin(t); }
    tan { t: |g, r: wide| g * (r * r + 1.0); }
    asin { t: |g, t: wide| g * rsqrt(one_less_square(t)); }
    acos { t: |g, t: wide| -g * rsqrt(one_less_square(t)); }
    atan { t: |g, t: wide| g / (t * t + 1.0); }
    atan2 {
        a: |g, a: wide, b: wide| g * by_squares(b, hypot(a, b));
        b: |g, a: wide, b: wide| g * by_squares(-a, hypot(a, b));
    }
    sinh { t: |g, t| g * cosh(t); }
    cosh { t: |g, t| g * sinh(t); }
    tanh { t: |g, r| tanh_grad(g, r); }
    // Squares of large numbers would be infinite.
    asinh { t: |g, t: wide| g / hypot(t, onesLike(t)); }
    acosh { t: |g, t: wide| g * rsqrt(t - 1.0) * rsqrt(t + 1.0); }
    atanh { t: |g, t: wide| g / one_less_square(t); }
    sinc { t: |g, t: wide| g * sinc_slope(t); }

    // Activations.
    sigmoid { t: |g, r| sigmoid_grad(g, r); }
    relu { t: |g, r| relu_grad(g, r); }
    leakyRelu { t: |g, t, value: f64| leaky_relu_grad(g, t, value); }
    elu { t: |g, t, value: f64| elu_grad(g, t, value); }
    softplus { t: |g, t, beta: f64, threshold: f64| softplus_grad(g, t, beta, threshold); }
    gelu { t: |g, t| gelu_grad(g, t); }
    geluTanh { t: |g, t| gelu_tanh_grad(g, t); }
    silu { t: |g, t| silu_grad(g, t); }
    mish { t: |g, t: wide| g * mish_slope(t); }
    hardswish { t: |g, t| hardswish_grad(g, t); }
    hardsigmoid { t: |g, t| hardtanh_grad(g / 6.0, t, -3.0, 3.0); }
    selu { t: |g, t: wide| g * or_choose(gt_value(t, 0.0), SELU[0], exp(below(t)) * SELU[1]); }
    celu { t: |g, t: wide, value: f64| g * exp(below(t) / value); }
    prelu {
        t: |g, t, weight| choose(gt_value(t, 0.0), g, g * beside_channels(weight, t.ndim()));
        weight: |g, t: wide, weight: like| over_channels(or_choose(gt_value(t, 0.0), 0.0, g * t), &weight.shape);
    }
    glu { t: |g, t: wide, dimension: i32| glu_back(g, t, dimension); }
    softsign { t: |g, t: wide| g / (abs(t) + 1.0) / (abs(t) + 1.0); }
    logSigmoid { t: |g, t| g * sigmoid(-t); }
    softshrink { t: |g, t, lambda: f64| choose_or(gt_value(abs(t), lambda), g, 0.0); }
    hardshrink { t: |g, t, lambda: f64| choose_or(gt_value(abs(t), lambda), g, 0.0); }
    threshold { t: |g, t, threshold: f64| or_choose(le_value(t, threshold), 0.0, g); }

    // Their gradients.
    sigmoidGrad { g: |h, y: wide| h * (y * less_than_one(y)); y: |h, g, y: wide| h * g * (y * -2.0 + 1.0); }
    tanhGrad { g: |h, y: wide| h * one_less_square(y); y: |h, g, y| h * g * (y * -2.0); }
    reluGrad { g: |h, t| relu_grad(h, t); t: |h| zerosLike(h); }
    leakyReluGrad { g: |h, t, value: f64| leaky_relu_grad(h, t, value); t: |h| zerosLike(h); }
    hardtanhGrad { g: |h, t, minimum: f64, maximum: f64| hardtanh_grad(h, t, minimum, maximum); t: |h| zerosLike(h); }
    eluGrad {
        g: |h, t, value: f64| elu_grad(h, t, value);
        t: |h, g, t: wide, value: f64| choose_or(lt_value(t, 0.0), h * g * (exp(t) * value), 0.0);
    }
    softplusGrad {
        g: |h, t, beta: f64, threshold: f64| softplus_grad(h, t, beta, threshold);
        t: |h, g, t: wide, beta: f64, threshold: f64| {
            let s = sigmoid(t * beta);
            choose_or(le_value(t * beta, threshold), h * g * (s * less_than_one(s) * beta), 0.0)
        };
    }
    geluGrad {
        g: |h, t| gelu_grad(h, t);
        // The density of the normal distribution times 2 - t^2.
        t: |h, g, t: wide| h * g * (normal_density(t) * (t * t * -1.0 + 2.0));
    }
    geluTanhGrad { g: |h, t| gelu_tanh_grad(h, t); t: |h, g, t: wide| h * g * gelu_tanh_curvature(t); }
    siluGrad { g: |h, t| silu_grad(h, t); t: |h, g, t: wide| h * g * silu_curvature(t); }
    hardswishGrad { g: |h, t| hardswish_grad(h, t); t: |h, g, t| choose_or(lt_value(abs(t), 3.0), h * g / 3.0, 0.0); }

    // Special functions.
    erf { t: |g, t: wide| g * (exp(-(t * t)) * TWO_BY_SQRT_PI); }
    erfc { t: |g, t: wide| -g * (exp(-(t * t)) * TWO_BY_SQRT_PI); }
    erfinv { t: |g, r: wide| g * (exp(r * r) / TWO_BY_SQRT_PI); }
    lgamma { t: |g, t| g * digamma(t); }
    digamma { t: |g, t| g * polygamma(t, 1); }
    polygamma { t: |g, n: i64, t| g * polygamma(t, n + 1); }
    mvlgamma {
        t: |g, t: wide, p: i64| {
            let terms = (0..p).map(|k| digamma(t - k as f64 / 2.0));
            terms.reduce(|a, b| a + b).map_or(g, |slope| g * slope)
        };
    }
    copysign {
        a: |g, a, r| g * or_choose(eq_value(a, 0.0), 0.0, sign(a) * sign(r));
        b: |g| zerosLike(g);
    }
    nanToNum { t: |g, t| choose_or(is_finite(t), g, 0.0); }

    // Choices.
    choose { a: |g, condition| choose_or(condition, g, 0.0); b: |g, condition| or_choose(condition, 0.0, g); }
    whereValue { a: |g, condition| choose_or(condition, g, 0.0); }
    whereValueTensor { b: |g, condition| or_choose(condition, 0.0, g); }
    maskedFill { t: |g, mask| or_choose(mask, 0.0, g); }
}

/// `1 - t`
fn less_than_one(t: Value<'_>) -> Value<'_> {
    -t + 1.0
}

/// `1 - t^2`, to the last digits where `t` is near 1.
fn one_less_square(t: Value<'_>) -> Value<'_> {
    less_than_one(t) * (t + 1.0)
}

/// `e^a / (e^a + e^b)`, half where both are the same infinity.
fn share_of_sum<'s>(a: Value<'s>, b: Value<'s>) -> Value<'s> {
    let difference = a - b;
    sigmoid(or_choose(both(eq(a, b), is_nan(difference)), 0.0, difference))
}

/// `a / h^2`, and 0 where `h` is 0. The square itself may be out of range.
fn by_squares<'s>(a: Value<'s>, h: Value<'s>) -> Value<'s> {
    safely(safely(a, h), h)
}

/// The coefficients of the derivative of `sin(x) / x`, divided by `x`, as a function of `x^2`: `(-1)^k 2k / (2k + 1)!` from `k = 1`.
const SINC_SERIES: [f64; 10] = [
    -1.0 / 3.0,
    1.0 / 30.0,
    -1.0 / 840.0,
    1.0 / 45360.0,
    -1.0 / 3991680.0,
    1.0 / 518918400.0,
    -1.0 / 93405312000.0,
    1.0 / 22230464256000.0,
    -1.0 / 6758061133824000.0,
    1.0 / 2554547108585472000.0,
];

/// The derivative of `sin(pi t) / (pi t)`. For small arguments the closed form is a difference of almost equal numbers: a series serves.
fn sinc_slope(t: Value<'_>) -> Value<'_> {
    let small = le_value(abs(t), 1.0 / PI);
    let near = choose_or(small, t, 0.0) * PI;
    let square = near * near;
    let [first, rest @ ..] = &SINC_SERIES;
    let highest = rest[rest.len() - 1];
    let series = rest.iter().rev().skip(1).fold(square * highest, |sum, &c| (sum + c) * square) + *first;
    let far = or_choose(small, 1.0, t);
    // Whole periods are taken off before the factor is rounded.
    let angle = (far - rounded(far * 0.5) * 2.0) * PI;
    let closed = (cos(angle) - sin(angle) / (far * PI)) / far;
    choose(small, near * series * PI, closed)
}

/// `a / b`, and 0 where `b` is 0, with derivatives that are 0 there as well.
fn safely<'s>(a: Value<'s>, b: Value<'s>) -> Value<'s> {
    let nothing = eq_value(b, 0.0);
    or_choose(nothing, 0.0, a / or_choose(nothing, 1.0, b))
}

/// Returns `g`, 0 where `other` was taken, and half of `g` where both are equal.
fn share<'s>(g: Value<'s>, other: Value<'s>, equal: Value<'s>) -> Value<'s> {
    choose(equal, g * 0.5, or_choose(other, 0.0, g))
}

/// The derivative of `x ^ t`, with the result `r`: 0 where `x` is 0 and `t` is not negative.
fn tpow_slope<'s>(x: f64, t: Value<'s>, r: Value<'s>) -> Value<'s> {
    if x == 0.0 { or_choose(ge_value(t, 0.0), 0.0, r * f64::NEG_INFINITY) } else { r * x.ln() }
}

/// `e^(-t^2 / 2) / sqrt(2 pi)`
fn normal_density(t: Value<'_>) -> Value<'_> {
    exp(t * t * -0.5) * (TWO_BY_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2 / 2.0)
}

/// The second derivative of `t / 2 * (1 + tanh u)` with `u = c * (t + k * t^3)`.
fn gelu_tanh_curvature(t: Value<'_>) -> Value<'_> {
    let (c, k) = ((2.0 / PI).sqrt(), 0.044715);
    let squared = t * t;
    let y = tanh((t + t * squared * k) * c);
    let (slope, curvature) = ((squared * (3.0 * k) + 1.0) * c, t * (6.0 * k * c));
    let s = less_than_one(y * y);
    s * slope + t * s * (curvature - y * slope * slope * 2.0) * 0.5
}

/// `t`, limited to numbers at which the derivatives of silu and mish have reached their limits. Formulas would be NaN at infinities.
fn bounded(t: Value<'_>) -> Value<'_> {
    clamp(t, -1e3, 1e3)
}

/// The second derivative of `t * s` with `s = sigmoid(t)`.
fn silu_curvature(t: Value<'_>) -> Value<'_> {
    let t = bounded(t);
    let s = sigmoid(t);
    s * less_than_one(s) * (t * (s * -2.0 + 1.0) + 2.0)
}

/// The derivative of `t * tanh(log(1 + e^t))`. With `n = sigmoid(-t)` the factor of `t` is `(1 - n^2) / (1 + n^2)`.
fn mish_slope(t: Value<'_>) -> Value<'_> {
    let t = bounded(t);
    let (s, n) = (sigmoid(t), sigmoid(-t));
    let d = n * n + 1.0;
    let q = n / d;
    s * ((n + 1.0) / d + t * (q * q) * 4.0)
}

/// `min(t, 0)`
fn below(t: Value<'_>) -> Value<'_> {
    or_choose(gt_value(t, 0.0), 0.0, t)
}

/// The weights of prelu, with the shape that broadcasts them along dimension 1 of a tensor with `ndim` dimensions.
fn beside_channels(weight: Value<'_>, ndim: usize) -> Value<'_> {
    reshape(weight, &activation::beside_channels(weight.numel(), ndim))
}

/// The sum of `t` for each weight of prelu, as a tensor of the shape of the weights.
fn over_channels<'s>(t: Value<'s>, weights: &[i64]) -> Value<'s> {
    let one = weights.iter().product::<i64>() == 1;
    let dims: Dims = (0..t.ndim() as i64).filter(|&d| one || d != 1).collect();
    reshape(if dims.is_empty() { t } else { sum_dims(t, &dims, false) }, weights)
}

/// The gradient of glu: of both halves, joined.
fn glu_back<'s>(g: Value<'s>, t: Value<'s>, dimension: i32) -> Value<'s> {
    let half = g.shape()[wrap_dim(dimension, g.ndim()).unwrap_or(0)];
    let (a, s) = (narrow(t, dimension, 0, half), sigmoid(narrow(t, dimension, half, half)));
    join(g * s, sigmoid_grad(g * a, s), dimension)
}
