//! The two types functions of the reals are computed in.

use super::simd::Isa;
use super::vmath::{self, plain};
use crate::dtype::Element;
use std::ops::Div;

/// The functions: `name(arguments) = kernel for f32, kernel for f64`.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($self:ident $(, $b:ident)?) = $f32:path, $f64:path;)*) => {
        /// f32 or f64 with their vector mathematics.
        pub trait Real: Element + Div<Output = Self> {
            /// The square root, correctly rounded.
            fn sqrt(self) -> Self;
            /// The magnitude of `self` with the sign of `sign`.
            fn copysign(self, sign: Self) -> Self;
            /// Whether it is neither infinite nor NaN.
            fn is_finite(self) -> bool;
            $($(#[$doc])* fn $name(self $(, $b: Self)?, isa: Isa) -> Self;)*
        }
        functions! { @for f32 $($name($self $(, $b)?) = $f32;)* }
        functions! { @for f64 $($name($self $(, $b)?) = $f64;)* }
    };
    (@for $t:ident $($name:ident($self:ident $(, $b:ident)?) = $f:path;)*) => {
        impl Real for $t {
            #[inline(always)]
            fn sqrt(self) -> $t {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn copysign(self, sign: $t) -> $t {
                $t::copysign(self, sign)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $t::is_finite(self)
            }
            $(
                #[inline(always)]
                fn $name($self $(, $b: $t)?, isa: Isa) -> $t {
                    $f(isa, $self $(, $b)?)
                }
            )*
        }
    };
}

functions! {
    /// `e^self`
    exp(self) = vmath::exp_f32, vmath::exp_f64;
    /// `e^self - 1`
    expm1(self) = plain::expm1_f32, plain::expm1_f64;
    /// The natural logarithm.
    log(self) = vmath::log_f32, vmath::log_f64;
    /// `log(1 + self)`
    log1p(self) = plain::log1p_f32, plain::log1p_f64;
    /// The logarithm to base 2.
    log2(self) = plain::log2_f32, plain::log2_f64;
    /// The logarithm to base 10.
    log10(self) = plain::log10_f32, plain::log10_f64;
    /// `1 / sqrt(self)`
    rsqrt(self) = plain::rsqrt_f32, plain::rsqrt_f64;
    /// The sine.
    sin(self) = plain::sin_f32, plain::sin_f64;
    /// The cosine.
    cos(self) = plain::cos_f32, plain::cos_f64;
    /// The tangent.
    tan(self) = plain::tan_f32, plain::tan_f64;
    /// The inverse sine.
    asin(self) = plain::asin_f32, plain::asin_f64;
    /// The inverse cosine.
    acos(self) = plain::acos_f32, plain::acos_f64;
    /// The inverse tangent.
    atan(self) = plain::atan_f32, plain::atan_f64;
    /// The hyperbolic sine.
    sinh(self) = plain::sinh_f32, plain::sinh_f64;
    /// The hyperbolic cosine.
    cosh(self) = plain::cosh_f32, plain::cosh_f64;
    /// The hyperbolic tangent.
    tanh(self) = vmath::tanh_f32, vmath::tanh_f64;
    /// `1 / (1 + e^-self)`
    sigmoid(self) = vmath::sigmoid_f32, vmath::sigmoid_f64;
    /// The angle of the point (`x`, `self`).
    atan2(self, x) = plain::atan2_f32, plain::atan2_f64;
    /// `sqrt(self^2 + b^2)` without overflow on the way.
    hypot(self, b) = plain::hypot_f32, plain::hypot_f64;
    /// `log(e^self + e^b)`
    logaddexp(self, b) = plain::logaddexp_f32, plain::logaddexp_f64;
    /// `self^b`
    pow(self, b) = plain::pow_f32, plain::pow_f64;
    /// The exact remainder of truncated division.
    fmod(self, b) = plain::fmod_f32, plain::fmod_f64;
    /// The exact remainder of floored division.
    remainder(self, b) = plain::remainder_f32, plain::remainder_f64;
    /// The quotient rounded down.
    div_floor(self, b) = plain::div_floor_f32, plain::div_floor_f64;
}
