//! silu with its derivative, and mish: products with a factor between 0 and 1 that falls like `e^x`.
//!
//! Largest errors in units in the last place, of f32 and f64, with fma (and without): silu 2.6 and 1.7 (2.8 and 1.7), mish 1.3 and 1.0 (1.6
//! and 1.1). These are relative errors, also where the results are tiny. The derivative of silu is 0 near -1.28; there its error is this
//! small only relative to 1.

use super::super::simd::Isa;
use super::erf::{product_rest_f32, product_rest_f64};
use super::exp::{DOWN_32, DOWN_64, exp_down_f32, exp_down_f64, exp_parts_f32, exp_parts_f64};

/// The functions for one type. `$end` is a magnitude with `$end * exp(-$end)` below the least positive number.
macro_rules! functions {
    ($t:ident, $silu:ident, $silu_slope:ident, $mish:ident, $exp_parts:ident, $exp_down:ident, $down:ident,
     $product_rest:ident, $fma:ident, $end:literal) => {
        /// `x / (1 + exp(-x))`; -0 at -inf.
        #[inline(always)]
        pub fn $silu(isa: Isa, x: $t) -> $t {
            let a = x.abs();
            let a = if a > $end { $end } else { a };
            let (p, b) = $exp_down(isa, -a, 0.0);
            let y = a / (1.0 + isa.$fma(p, b, b) * $down);
            // A negative x is multiplied by exp(x) in its parts, so that a subnormal result is rounded once.
            let y = if x < 0.0 { isa.$fma(y, p, y) * b * $down } else { y };
            if x > $end { x } else { y.copysign(x) }
        }

        /// The derivative of silu: 1 at inf and 0 at -inf.
        #[inline(always)]
        pub fn $silu_slope(isa: Isa, x: $t) -> $t {
            let a = x.abs();
            let a = if a > $end { $end } else { a };
            let (p, b, c) = $exp_parts(isa, -a);
            let d = 1.0 / (1.0 + isa.$fma(p, b, b) * c);
            // The derivative at -a.
            let q = isa.$fma(d, p, d) * isa.$fma(-a, d, 1.0) * b * c;
            if x > 0.0 { 1.0 - q } else { q }
        }

        /// `x tanh(log(1 + exp(x)))`; -0 at -inf.
        #[inline(always)]
        pub fn $mish(isa: Isa, x: $t) -> $t {
            let a = x.abs();
            let a = if a > $end { $end } else { a };
            let (p, b, c) = $exp_parts(isa, -a);
            let u = isa.$fma(p, b, b) * c;
            // The factor is (1 + 2u) / (1 + 2u + 2u^2) for u = exp(-x), and u (2 + u) / (2 + u (2 + u)) for u = exp(x).
            let negative = x < 0.0;
            let (whole, part) = if negative { (2.0, u) } else { (1.0, u + u) };
            let n = whole + part;
            let n_low = part - (n - whole);
            let (m, rest) = if negative { (n, 2.0) } else { (part, n) };
            let h = u * m;
            let d = h + rest;
            let d_low = ((rest - d) + h) + $product_rest(isa, u, m, h) + if negative { u * n_low } else { n_low };
            let w = 1.0 / d;
            let q = n * w;
            let q_low = (n_low - q * d_low - $product_rest(isa, q, d, n)) * w;
            // A negative x is multiplied by exp(x) in its parts, so that a subnormal result is rounded once.
            let (top, p) = if negative { (-a, p) } else { (x, 0.0) };
            let (b, c) = if negative { (b, c) } else { (1.0, 1.0) };
            let t = top * q;
            let t_low = isa.$fma(top, q_low, $product_rest(isa, top, q, t));
            let y = (t + isa.$fma(t, p, isa.$fma(t_low, p, t_low))) * b * c;
            if x > $end { x } else { y.copysign(x) }
        }
    };
}

functions!(f32, silu_f32, silu_slope_f32, mish_f32, exp_parts_f32, exp_down_f32, DOWN_32, product_rest_f32, fma_f32, 120.0);
functions!(f64, silu_f64, silu_slope_f64, mish_f64, exp_parts_f64, exp_down_f64, DOWN_64, product_rest_f64, fma_f64, 770.0);

#[cfg(test)]
mod tests {
    use super::super::super::simd::simd;
    use super::super::check::{check_f32, check_special};
    use super::*;

    const INF: f64 = f64::INFINITY;
    const NAN: f64 = f64::NAN;

    fn silu(x: f64) -> f64 {
        if x == -INF { -0.0 } else { x / (1.0 + (-x).exp()) }
    }

    fn mish(x: f64) -> f64 {
        if x == -INF { -0.0 } else { x * x.exp().ln_1p().tanh() }
    }

    #[test]
    fn f32_errors_stay_below_their_limits() {
        check_f32(3.0, silu_f32, silu);
        check_f32(2.0, mish_f32, mish);
    }

    #[test]
    fn special_values_are_limits() {
        check_special(silu_f64, [0.0, -0.0, INF, -0.0, NAN, f64::MAX, -0.0]);
        check_special(mish_f64, [0.0, -0.0, INF, -0.0, NAN, f64::MAX, -0.0]);
        check_special(silu_slope_f64, [0.5, 0.5, 1.0, -0.0, NAN, 1.0, -0.0]);
    }

    #[test]
    fn slope_is_that_of_the_formula() {
        for i in -120_000..=120_000 {
            let x = f64::from(i) / 1024.0;
            let s = 1.0 / (1.0 + x.abs().exp());
            let tail = s - x.abs() * s * (1.0 - s);
            let exact = if x > 0.0 { 1.0 - tail } else { tail };
            // The derivative at -|x| is a difference of two terms.
            let scale = if x > 0.0 { 1.0 } else { s + x.abs() * s };
            let (single, double) = simd(move |isa| (silu_slope_f32(isa, x as f32), silu_slope_f64(isa, x)));
            assert!((f64::from(single) - exact).abs() <= 2.0 * f64::from(f32::EPSILON) * scale + 3e-45, "{x}: {single:e}, not {exact:e}");
            assert!((double - exact).abs() <= 4.0 * f64::EPSILON * scale, "{x}: {double:e}, not {exact:e}");
        }
    }
}
