//! Measures of errors that the tests of this directory share.

use super::super::simd::{Isa, simd};

/// Turns the run of a function into a function of one value: `alone!(exp_run_f32)`.
macro_rules! alone {
    ($run:ident) => {
        |isa, x| {
            let mut r = x;
            // SAFETY: `r` and `x` are one element each.
            unsafe { $run(isa, &raw mut r, &raw const x, 1) };
            r
        }
    };
}
pub(super) use alone;

/// Returns the distance in units in the last place of f32 between `got` and `exact`, where infinity counts as 2^128.
pub fn ulps(got: f32, exact: f64) -> f64 {
    let end = 2f64.powi(128);
    let exponent = ((exact.to_bits() >> 52) as i32 & 0x7ff) - 1023;
    let ulp = 2f64.powi(exponent.clamp(-126, 127) - 23);
    (f64::from(got).clamp(-end, end) - exact.clamp(-end, end)).abs() / ulp
}

/// Checks values across all of f32: every sign, exponent and special value.
pub fn check_f32(limit: f64, f: impl Fn(Isa, f32) -> f32 + Copy, exact: fn(f64) -> f64) {
    let special = [0x7f80_0000, 0xff80_0000, 0x8000_0000, 1, 0x8000_0001];
    check_f32_at((0..=u32::MAX).step_by(16_411).chain(special).map(f32::from_bits), limit, f, exact);
}

/// Checks the given values.
pub fn check_f32_at(values: impl IntoIterator<Item = f32>, limit: f64, f: impl Fn(Isa, f32) -> f32 + Copy, exact: fn(f64) -> f64) {
    for x in values {
        let (got, exact) = (
            simd(
                #[inline(always)]
                move |isa| f(isa, x),
            ),
            exact(f64::from(x)),
        );
        let same = got.is_nan() && exact.is_nan();
        assert!(same || (ulps(got, exact) <= limit && got.is_sign_negative() == exact.is_sign_negative()), "{x:e}: {got:e}, not {exact:e}");
    }
}

/// Checks points (x, y, rest), where the exact result is y + rest units in its last place. Half of the points are the worst that a random
/// search has found.
pub fn check_f64(points: &[(u64, u64, f64)], limit: f64, f: impl Fn(Isa, f64) -> f64 + Copy) {
    for &(x, exact, rest) in points {
        let got = simd(
            #[inline(always)]
            move |isa| f(isa, f64::from_bits(x)),
        );
        let error = got.to_bits().wrapping_sub(exact) as i64 as f64 - rest;
        assert!(error.abs() <= limit, "{:e}: {got:e} is off by {error}", f64::from_bits(x));
    }
}

/// [`check_f32`] for two arguments, at 700 x 700 points.
pub fn check_f32_2(limit: f64, f: impl Fn(Isa, f32, f32) -> f32 + Copy, exact: fn(f64, f64) -> f64) {
    let steps = || (0..=u32::MAX).step_by(6_133_001).map(f32::from_bits);
    for x in steps() {
        for y in steps() {
            let (got, exact) = (simd(move |isa| f(isa, x, y)), exact(f64::from(x), f64::from(y)));
            let same = got.is_nan() && exact.is_nan();
            let close = ulps(got, exact) <= limit && got.is_sign_negative() == exact.is_sign_negative();
            assert!(same || close, "{x:e}, {y:e}: {got:e}, not {exact:e}");
        }
    }
}

/// [`check_f64`] for two arguments: points (x, y, z, rest), where the exact result is z + rest units in its last place.
pub fn check_f64_2(points: &[(u64, u64, u64, f64)], limit: f64, f: impl Fn(Isa, f64, f64) -> f64 + Copy) {
    for &(x, y, exact, rest) in points {
        let (x, y) = (f64::from_bits(x), f64::from_bits(y));
        let got = simd(move |isa| f(isa, x, y));
        let error = got.to_bits().wrapping_sub(exact) as i64 as f64 - rest;
        assert!(error.abs() <= limit, "{x:e}, {y:e}: {got:e} is off by {error}");
    }
}

/// Checks f64 values of every exponent, with varying bits in the whole mantissa: at most 3 units from the standard library, whose
/// hyperbolic functions have errors of 2 units themselves.
pub fn check_std(f: impl Fn(Isa, f64) -> f64 + Copy, exact: fn(f64) -> f64) {
    for bits in (0..=u64::MAX).step_by(0x0000_4001_2345_6789) {
        let x = f64::from_bits(bits);
        let (got, exact) = (simd(move |isa| f(isa, x)), exact(x));
        let ulps = got.to_bits().abs_diff(exact.to_bits());
        assert!(ulps <= 3 || (got.is_nan() && exact.is_nan()), "{x:e}: {got:e}, not {exact:e}");
    }
}

/// Checks the results at 0, -0, inf, -inf, NaN and the largest values of both signs.
pub fn check_special(f: impl Fn(Isa, f64) -> f64 + Copy, expected: [f64; 7]) {
    let inputs = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MAX, f64::MIN];
    for (x, y) in inputs.into_iter().zip(expected) {
        let got = simd(move |isa| f(isa, x));
        assert!(got.to_bits() == y.to_bits() || (got.is_nan() && y.is_nan()), "at {x}: {got}, not {y}");
    }
}
