//! The two types functions of the reals are computed in.

use super::simd::Isa;
use super::vmath;
use crate::dtype::Element;
use std::ops::Div;

/// f32 or f64 with their vector mathematics.
pub trait Real: Element + Div<Output = Self> {
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// `e^self`
    fn exp(self, isa: Isa) -> Self;
    /// The natural logarithm.
    fn log(self, isa: Isa) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self, isa: Isa) -> Self;
    /// `1 / (1 + e^-self)`
    fn sigmoid(self, isa: Isa) -> Self;
}

macro_rules! real {
    ($t:ident $exp:ident $log:ident $tanh:ident $sigmoid:ident) => {
        impl Real for $t {
            #[inline(always)]
            fn sqrt(self) -> $t {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn exp(self, isa: Isa) -> $t {
                vmath::$exp(isa, self)
            }
            #[inline(always)]
            fn log(self, isa: Isa) -> $t {
                vmath::$log(isa, self)
            }
            #[inline(always)]
            fn tanh(self, isa: Isa) -> $t {
                vmath::$tanh(isa, self)
            }
            #[inline(always)]
            fn sigmoid(self, isa: Isa) -> $t {
                vmath::$sigmoid(isa, self)
            }
        }
    };
}
real!(f32 exp_f32 log_f32 tanh_f32 sigmoid_f32);
real!(f64 exp_f64 log_f64 tanh_f64 sigmoid_f64);
