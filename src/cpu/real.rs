//! The two types in which functions of real numbers are computed.

use super::simd::Isa;
use super::vmath;
use crate::dtype::Element;
use std::ops::Div;

/// The functions: `name(arguments) = kernel for f32, kernel for f64`. The kernels of `careful` functions are correct for most arguments. A
/// predicate finds the other arguments, which are left to a scalar function. `runs` are kernels over many elements, which are faster than a
/// loop on processors with wide registers.
macro_rules! functions {
    (
        vector { $($(#[$doc:meta])* $name:ident($self:ident $(, $b:ident)*) = $f32:path, $f64:path;)* }
        runs { $($(#[$run_doc:meta])* $run:ident = $run32:path, $run64:path;)* }
        rare { $($(#[$rare_doc:meta])* $rare:ident($rare_self:ident $(, $rare_b:ident)?) = $rare32:path, $rare64:path;)* }
        careful { $($(#[$slow_doc:meta])* $slow:ident($slow_self:ident $(, $slow_b:ident)?) = $slow32:path, $slow64:path;)* }
    ) => {
        /// f32 or f64 with its vectorised functions.
        pub trait Real: Element + Div<Output = Self> {
            /// Returns the square root, correctly rounded.
            fn sqrt(self) -> Self;
            /// Returns the magnitude of `self` with the sign of `sign`.
            fn copysign(self, sign: Self) -> Self;
            /// Returns true if the number is neither infinite nor NaN.
            fn is_finite(self) -> bool;
            $($(#[$doc])* fn $name(self $(, $b: Self)*, isa: Isa) -> Self;)*
            $(
                $(#[$run_doc])*
                ///
                /// # Safety
                /// `r` and `a` must have `n` elements; `r` must be `a` or not overlap it.
                unsafe fn $run(isa: Isa, r: *mut Self, a: *const Self, n: usize);
            )*
            /// `r[i] = a[i]^b[i]`. An operand with step 0 is one element for all `i`; other steps are 1.
            ///
            /// # Safety
            /// The operands must have `n` elements or one; `r` must be an operand, or overlap none.
            unsafe fn pow_run(isa: Isa, r: *mut Self, operands: [*const Self; 2], steps: [usize; 2], n: usize);
            $($(#[$rare_doc])* fn $rare(self $(, $rare_b: Self)?, isa: Isa) -> bool;)*
            $($(#[$slow_doc])* fn $slow(self $(, $slow_b: Self)?, isa: Isa) -> Self;)*
        }
        functions! { @for f32
            vector { $($name($self $(, $b)*) = $f32;)* } runs { $($run = $run32;)* } pow vmath::pow_run_f32; rare { $($rare($rare_self $(,
                $rare_b)?) = $rare32;)* }
            careful { $($slow($slow_self $(, $slow_b)?) = $slow32;)* }
        }
        functions! { @for f64
            vector { $($name($self $(, $b)*) = $f64;)* } runs { $($run = $run64;)* } pow vmath::pow_run_f64; rare { $($rare($rare_self $(,
                $rare_b)?) = $rare64;)* }
            careful { $($slow($slow_self $(, $slow_b)?) = $slow64;)* }
        }
    };
    (@for $t:ident
        vector { $($name:ident($self:ident $(, $b:ident)*) = $f:path;)* }
        runs { $($run:ident = $run_f:path;)* } pow $pow_run:path;
        rare { $($rare:ident($rare_self:ident $(, $rare_b:ident)?) = $r:path;)* }
        careful { $($slow:ident($slow_self:ident $(, $slow_b:ident)?) = $s:path;)* }
    ) => {
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
                fn $name($self $(, $b: $t)*, isa: Isa) -> $t {
                    $f(isa, $self $(, $b)*)
                }
            )*
            $(
                #[inline(always)]
                unsafe fn $run(isa: Isa, r: *mut $t, a: *const $t, n: usize) {
                    // SAFETY: the caller keeps this function's contract.
                    unsafe { $run_f(isa, r, a, n) }
                }
            )*
            #[inline(always)]
            unsafe fn pow_run(isa: Isa, r: *mut $t, operands: [*const $t; 2], steps: [usize; 2], n: usize) {
                // SAFETY: the caller keeps this function's contract.
                unsafe { $pow_run(isa, r, operands, steps, n) }
            }
            $(
                #[inline(always)]
                fn $rare($rare_self $(, $rare_b: $t)?, isa: Isa) -> bool {
                    $r(isa, $rare_self $(, $rare_b)?)
                }
            )*
            $(
                #[inline(always)]
                fn $slow($slow_self $(, $slow_b: $t)?, isa: Isa) -> $t {
                    $s(isa, $slow_self $(, $slow_b)?)
                }
            )*
        }
    };
}

functions! {
    vector {
        /// `e^self`
        exp(self) = vmath::exp_f32, vmath::exp_f64;
        /// `e^self - 1`
        expm1(self) = vmath::expm1_f32, vmath::expm1_f64;
        /// `2^self`
        exp2(self) = vmath::exp2_f32, vmath::exp2_f64;
        /// The natural logarithm.
        log(self) = vmath::log_f32, vmath::log_f64;
        /// `1 / sqrt(self)`
        rsqrt(self) = vmath::rsqrt_f32, vmath::rsqrt_f64;
        /// The sine, unless [`Real::huge_angle`].
        sin(self) = vmath::sin_f32, vmath::sin_f64;
        /// The cosine, unless [`Real::huge_angle`].
        cos(self) = vmath::cos_f32, vmath::cos_f64;
        /// The tangent, unless [`Real::huge_angle`].
        tan(self) = vmath::tan_f32, vmath::tan_f64;
        /// The inverse tangent.
        atan(self) = vmath::atan_f32, vmath::atan_f64;
        /// The hyperbolic sine.
        sinh(self) = vmath::sinh_f32, vmath::sinh_f64;
        /// `log(1 + e^(beta self)) / beta`, or `self` if `beta self` is above the threshold.
        softplus(self, beta, threshold) = vmath::softplus_f32, vmath::softplus_f64;
        /// The approximation of gelu with tanh.
        gelu_tanh(self) = vmath::gelu_tanh_f32, vmath::gelu_tanh_f64;
        /// The derivative of gelu.
        gelu_slope(self) = vmath::gelu_slope_f32, vmath::gelu_slope_f64;
        /// The derivative of the approximation of gelu with tanh.
        gelu_tanh_slope(self) = vmath::gelu_tanh_slope_f32, vmath::gelu_tanh_slope_f64;
        /// `self / (1 + e^-self)`
        silu(self) = vmath::silu_f32, vmath::silu_f64;
        /// The derivative of silu.
        silu_slope(self) = vmath::silu_slope_f32, vmath::silu_slope_f64;
        /// `self * tanh(log(1 + e^self))`
        mish(self) = vmath::mish_f32, vmath::mish_f64;
        /// `1 / (1 + e^-self)`
        sigmoid(self) = vmath::sigmoid_f32, vmath::sigmoid_f64;
        /// The angle of the point (`x`, `self`).
        atan2(self, x) = vmath::atan2_f32, vmath::atan2_f64;
        /// `sqrt(self^2 + b^2)` without intermediate overflow.
        hypot(self, b) = vmath::hypot_f32, vmath::hypot_f64;
        /// `self^b`
        pow(self, b) = vmath::pow_f32, vmath::pow_f64;
        /// The exact remainder of truncated division, unless [`Real::quotient_rare`].
        fmod(self, b) = vmath::fmod_f32, vmath::fmod_f64;
        /// The exact remainder of floored division, unless [`Real::quotient_rare`].
        remainder(self, b) = vmath::remainder_f32, vmath::remainder_f64;
        /// The quotient rounded down, unless [`Real::quotient_rare`].
        floor_div(self, b) = vmath::floor_div_f32, vmath::floor_div_f64;
    }

    runs {
        /// The inverse cosine of `n` elements.
        acos_run = vmath::acos_run_f32, vmath::acos_run_f64;
        /// The inverse sine of `n` elements.
        asin_run = vmath::asin_run_f32, vmath::asin_run_f64;
        /// [`Real::exp`] of `n` elements.
        exp_run = vmath::exp_run_f32, vmath::exp_run_f64;
        /// [`Real::log`] of `n` elements.
        log_run = vmath::log_run_f32, vmath::log_run_f64;
        /// `log(1 + a)` of `n` elements.
        log1p_run = vmath::log1p_run_f32, vmath::log1p_run_f64;
        /// The logarithm to base 2 of `n` elements.
        log2_run = vmath::log2_run_f32, vmath::log2_run_f64;
        /// The logarithm to base 10 of `n` elements.
        log10_run = vmath::log10_run_f32, vmath::log10_run_f64;
        /// The hyperbolic cosine of `n` elements.
        cosh_run = vmath::cosh_run_f32, vmath::cosh_run_f64;
        /// The hyperbolic tangent of `n` elements.
        tanh_run = vmath::tanh_run_f32, vmath::tanh_run_f64;
        /// `1 / (1 + e^-a)` of `n` elements.
        sigmoid_run = vmath::sigmoid_run_f32, vmath::sigmoid_run_f64;
        /// [`Real::sqrt`] of `n` elements.
        sqrt_run = vmath::sqrt_run_f32, vmath::sqrt_run_f64;
        /// The error function of `n` elements.
        erf_run = vmath::erf_run_f32, vmath::erf_run_f64;
        /// `1 - erf(a)` of `n` elements.
        erfc_run = vmath::erfc_run_f32, vmath::erfc_run_f64;
        /// The inverse of erf, of `n` elements.
        erfinv_run = vmath::erfinv_run_f32, vmath::erfinv_run_f64;
        /// `a * (1 + erf(a / sqrt 2)) / 2` of `n` elements.
        gelu_run = vmath::gelu_run_f32, vmath::gelu_run_f64;
        /// The logarithm of the absolute value of the gamma function, of `n` elements.
        lgamma_run = vmath::lgamma_run_f32, vmath::lgamma_run_f64;
        /// The derivative of lgamma, of `n` elements.
        digamma_run = vmath::digamma_run_f32, vmath::digamma_run_f64;
        /// The derivative of digamma, of `n` elements.
        trigamma_run = vmath::trigamma_run_f32, vmath::trigamma_run_f64;
    }

    rare {
        /// Returns true if an angle is too large for the fast functions.
        huge_angle(self) = vmath::huge_angle_f32, vmath::huge_angle_f64;
        /// Returns true if a quotient is too large for the fast functions.
        quotient_rare(self, b) = vmath::quotient_rare_f32, vmath::quotient_rare_f64;
    }

    careful {
        /// The sine of a large angle.
        sin_slow(self) = vmath::sin_slow_f32, vmath::sin_slow_f64;
        /// The cosine of a large angle.
        cos_slow(self) = vmath::cos_slow_f32, vmath::cos_slow_f64;
        /// The tangent of a large angle.
        tan_slow(self) = vmath::tan_slow_f32, vmath::tan_slow_f64;
        /// [`Real::fmod`] for all arguments.
        fmod_slow(self, b) = vmath::fmod_slow_f32, vmath::fmod_slow_f64;
        /// [`Real::remainder`] for all arguments.
        remainder_slow(self, b) = vmath::remainder_slow_f32, vmath::remainder_slow_f64;
        /// [`Real::floor_div`] for all arguments.
        floor_div_slow(self, b) = vmath::floor_div_slow_f32, vmath::floor_div_slow_f64;
    }
}
