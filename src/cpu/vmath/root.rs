//! Roots: reciprocal square root and hypotenuse.
//!
//! @@

use super::super::simd::Isa;

/// `1 / sqrt(x)`
#[inline(always)]
pub fn rsqrt_f32(_: Isa, x: f32) -> f32 {
    1.0 / x.sqrt()
}

/// `1 / sqrt(x)`
#[inline(always)]
pub fn rsqrt_f64(_: Isa, x: f64) -> f64 {
    1.0 / x.sqrt()
}

/// `sqrt(x^2 + y^2)`
#[inline(always)]
pub fn hypot_f32(isa: Isa, x: f32, y: f32) -> f32 {
    let (x, y) = (x.abs(), y.abs());
    let (m, l) = if x > y { (x, y) } else { (y, x) };
    // Squares of very large and very small values would overflow or lose bits.
    let (scale, back) = if m > 1e18 { (TINY_32, HUGE_32) } else { (1.0, 1.0) };
    let (scale, back) = if m < 1e-15 { (HUGE_32, TINY_32) } else { (scale, back) };
    let (m, l) = (m * scale, l * scale);
    let r = isa.fma_f32(m, m, l * l).sqrt() * back;
    // Infinity wins over NaN.
    if x == f32::INFINITY || y == f32::INFINITY { f32::INFINITY } else { r }
}

/// `sqrt(x^2 + y^2)`
#[inline(always)]
pub fn hypot_f64(isa: Isa, x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let (m, l) = if x > y { (x, y) } else { (y, x) };
    let (scale, back) = if m > 1e150 { (TINY_64, HUGE_64) } else { (1.0, 1.0) };
    let (scale, back) = if m < 1e-130 { (HUGE_64, TINY_64) } else { (scale, back) };
    let (m, l) = (m * scale, l * scale);
    let r = isa.fma_f64(m, m, l * l).sqrt() * back;
    if x == f64::INFINITY || y == f64::INFINITY { f64::INFINITY } else { r }
}

// 2^-96 and 2^96; 2^-600 and 2^600.
const TINY_32: f32 = f32::from_bits((127 - 96) << 23);
const HUGE_32: f32 = f32::from_bits((127 + 96) << 23);
const TINY_64: f64 = f64::from_bits((1023 - 600) << 52);
const HUGE_64: f64 = f64::from_bits((1023 + 600) << 52);
