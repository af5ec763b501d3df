//! Functions of the standard library, one element at a time.

use super::super::simd::Isa;

macro_rules! plain {
    ($($t:ident { $($name:ident = $f:expr, $args:tt;)* })*) => { $($(plain! { @one $t $name $f, $args })*)* };
    (@one $t:ident $name:ident $f:expr, 1) => {
        #[doc = concat!("`", stringify!($name), "`")]
        pub fn $name(_: Isa, x: $t) -> $t { let f: fn($t) -> $t = $f; f(x) }
    };
    (@one $t:ident $name:ident $f:expr, 2) => {
        #[doc = concat!("`", stringify!($name), "`")]
        pub fn $name(_: Isa, a: $t, b: $t) -> $t { let f: fn($t, $t) -> $t = $f; f(a, b) }
    };
}
plain! {
    f32 { sin_f32 = f32::sin, 1; cos_f32 = f32::cos, 1; tan_f32 = f32::tan, 1; asin_f32 = f32::asin, 1; acos_f32 = f32::acos, 1; atan_f32 = f32::atan, 1;
    sinh_f32 = f32::sinh, 1; cosh_f32 = f32::cosh, 1; expm1_f32 = f32::exp_m1, 1; log1p_f32 = f32::ln_1p, 1; log2_f32 = f32::log2, 1; log10_f32 = f32::log10, 1;
    rsqrt_f32 = |x| 1.0 / x.sqrt(), 1; atan2_f32 = f32::atan2, 2; hypot_f32 = f32::hypot, 2; pow_f32 = f32::powf, 2; fmod_f32 = |a, b| a % b, 2;
    remainder_f32 = |a, b| { let r = a % b; if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r } }, 2;
    div_floor_f32 = |a, b| (a / b).floor(), 2; logaddexp_f32 = |a, b| { let m = a.max(b); m + ((a - m).exp() + (b - m).exp()).ln() }, 2;
    } f64 { sin_f64 = f64::sin, 1; cos_f64 = f64::cos, 1; tan_f64 = f64::tan, 1; asin_f64 = f64::asin, 1; acos_f64 = f64::acos, 1; atan_f64 = f64::atan, 1;
    sinh_f64 = f64::sinh, 1; cosh_f64 = f64::cosh, 1; expm1_f64 = f64::exp_m1, 1; log1p_f64 = f64::ln_1p, 1; log2_f64 = f64::log2, 1; log10_f64 = f64::log10, 1;
    rsqrt_f64 = |x| 1.0 / x.sqrt(), 1; atan2_f64 = f64::atan2, 2; hypot_f64 = f64::hypot, 2; pow_f64 = f64::powf, 2; fmod_f64 = |a, b| a % b, 2;
    remainder_f64 = |a, b| { let r = a % b; if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r } }, 2;
    div_floor_f64 = |a, b| (a / b).floor(), 2; logaddexp_f64 = |a, b| { let m = a.max(b); m + ((a - m).exp() + (b - m).exp()).ln() }, 2;
}}
