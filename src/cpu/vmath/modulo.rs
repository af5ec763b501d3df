//! Remainders and floored quotients of floats, exact as if the quotient had all its digits.
//!
//! The fast functions are correct while the quotient is small enough to be an exact integer. If `quotient_rare` says that the quotient is
//! not (huge, infinite or NaN), the slow functions are used.

use super::super::simd::Isa;
use super::power::product_f64;

// Adding and subtracting this number rounds to an integer.
const INTEGER_32: f32 = 12_582_912.0;
const INTEGER_64: f64 = 6_755_399_441_055_744.0;

/// Returns true if [`fmod_f32`], [`remainder_f32`] and [`floor_div_f32`] are not correct for `a / b`, and the slow functions are needed.
#[inline(always)]
pub fn quotient_rare_f32(_: Isa, a: f32, b: f32) -> bool {
    // A product, because a quotient takes longer. NaN counts as rare.
    let usual = a.abs() < b.abs() * 2_097_152.0;
    !usual
}

/// [`quotient_rare_f32`] for f64.
#[inline(always)]
pub fn quotient_rare_f64(isa: Isa, a: f64, b: f64) -> bool {
    // Without fma, products close to the largest number might overflow.
    let large = !isa.has_fma() && a.abs() > 0.5 * f64::MAX;
    let usual = a.abs() < b.abs() * 1_125_899_906_842_624.0;
    !usual || large
}

/// Returns n and r with `a = n b + r` exactly, where n is an integer and about -b/2 <= r <= b/2, for b >= 0.
#[inline(always)]
fn divide_f32(isa: Isa, a: f32, b: f32) -> (f32, f32) {
    let n = (a / b + INTEGER_32) - INTEGER_32;
    let r = if isa.has_fma() { (-n).mul_add(b, a) } else { (f64::from(a) - f64::from(n) * f64::from(b)) as f32 };
    // If n is 0, for example because b is infinite, the remainder is a, so that -0 is kept.
    (n, if n == 0.0 { a } else { r })
}

#[inline(always)]
fn divide_f64(isa: Isa, a: f64, b: f64) -> (f64, f64) {
    let n = (a / b + INTEGER_64) - INTEGER_64;
    let (p, low) = product_f64(isa, n, b);
    let r = if isa.has_fma() { (-n).mul_add(b, a) } else { (a - p) - low };
    (n, if n == 0.0 { a } else { r })
}

macro_rules! modulo {
    ($t:ident, $divide:ident, $rare:ident, $fmod:ident, $fmod_slow:ident, $remainder:ident, $remainder_slow:ident,
     $floor_div:ident, $floor_div_slow:ident) => {
        #[doc = concat!("`a - b * trunc(a / b)`, with the sign of a; not where [`", stringify!($rare), "`].")]
        #[inline(always)]
        pub fn $fmod(isa: Isa, a: $t, b: $t) -> $t {
            let b = b.abs();
            let (_, r) = $divide(isa, a.abs(), b);
            (if r < 0.0 { r + b } else { r }).copysign(a)
        }

        #[doc = concat!("[`", stringify!($fmod), "`] for all operands.")]
        pub fn $fmod_slow(_: Isa, a: $t, b: $t) -> $t {
            a % b
        }

        #[doc = concat!("`a - b * floor(a / b)`, with the sign of b, but zero with that of a; not where [`", stringify!($rare), "`].")]
        #[inline(always)]
        pub fn $remainder(isa: Isa, a: $t, b: $t) -> $t {
            // Both are multiplied by the sign of b.
            let sign = (1.0 as $t).copysign(b);
            let (a, b) = (a * sign, b.abs());
            let (_, r) = $divide(isa, a, b);
            let r = if r == 0.0 { r.copysign(a) } else { r };
            sign * if r < 0.0 { r + b } else { r }
        }

        #[doc = concat!("[`", stringify!($remainder), "`] for all operands.")]
        pub fn $remainder_slow(_: Isa, a: $t, b: $t) -> $t {
            let r = a % b;
            if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
        }

        #[doc = concat!("`floor(a / b)`; not where [`", stringify!($rare), "`].")]
        #[inline(always)]
        pub fn $floor_div(isa: Isa, a: $t, b: $t) -> $t {
            let a = a * (1.0 as $t).copysign(b);
            let (n, r) = $divide(isa, a, b.abs());
            // A zero has the sign of the quotient.
            (if r < 0.0 { n - 1.0 } else { n }).copysign(a)
        }

        #[doc = concat!("[`", stringify!($floor_div),
                                            "`] for all operands: the exact quotient, floored and rounded; `a / b` where b is zero.")]
        pub fn $floor_div_slow(_: Isa, a: $t, b: $t) -> $t {
            if b == 0.0 {
                return a / b;
            }
            let r = a % b;
            let q = (a - r) / b;
            let q = if r != 0.0 && (r < 0.0) != (b < 0.0) { q - 1.0 } else { q };
            // The quotient is an integer except for its rounding.
            let n = q.floor();
            if q == 0.0 {
                (0.0 as $t).copysign(a / b)
            } else if q - n > 0.5 {
                n + 1.0
            } else {
                n
            }
        }
    };
}
modulo!(f32, divide_f32, quotient_rare_f32, fmod_f32, fmod_slow_f32, remainder_f32, remainder_slow_f32, floor_div_f32, floor_div_slow_f32);
modulo!(f64, divide_f64, quotient_rare_f64, fmod_f64, fmod_slow_f64, remainder_f64, remainder_slow_f64, floor_div_f64, floor_div_slow_f64);

#[cfg(test)]
mod tests {
    use super::super::super::simd::simd;
    use super::*;

    /// Calls the fast function or the slow one, as the loops do.
    macro_rules! calls {
        ($($name:ident, $t:ident, $rare:ident, $fast:ident, $slow:ident;)*) => { $(
            fn $name(a: $t, b: $t) -> $t {
                simd(
                    #[inline(always)]
                    move |isa| if $rare(isa, a, b) { $slow(isa, a, b) } else { $fast(isa, a, b) },
                )
            }
        )* };
    }
    calls! {
        fmod, f64, quotient_rare_f64, fmod_f64, fmod_slow_f64;
        remainder, f64, quotient_rare_f64, remainder_f64, remainder_slow_f64;
        floor_div, f64, quotient_rare_f64, floor_div_f64, floor_div_slow_f64;
        fmod32, f32, quotient_rare_f32, fmod_f32, fmod_slow_f32;
        remainder32, f32, quotient_rare_f32, remainder_f32, remainder_slow_f32;
        floor_div32, f32, quotient_rare_f32, floor_div_f32, floor_div_slow_f32;
    }

    fn same(got: f64, expected: f64) -> bool {
        got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan())
    }

    #[test]
    fn special_operands_give_what_pytorch_gives() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let rows = [
            (-4.0, 2.0, -0.0, -0.0, -2.0),
            (4.0, -2.0, 0.0, 0.0, -2.0),
            (-0.0, 1.0, -0.0, -0.0, -0.0),
            (0.0, -1.0, 0.0, 0.0, -0.0),
            (-0.0, -1.0, -0.0, -0.0, 0.0),
            (1.0, inf, 1.0, 1.0, 0.0),
            (-1.0, inf, -1.0, inf, -1.0),
            (1.0, -inf, 1.0, -inf, -1.0),
            (-1.0, 0.0, nan, nan, -inf),
            (1.0, 0.0, nan, nan, inf),
            (0.0, 0.0, nan, nan, nan),
            (inf, 2.0, nan, nan, nan),
            (inf, inf, nan, nan, nan),
            (nan, 1.0, nan, nan, nan),
            (1.0, nan, nan, nan, nan),
            (7.5, 2.0, 1.5, 1.5, 3.0),
            (-7.5, 2.0, -1.5, 0.5, -4.0),
            (7.5, -2.0, 1.5, -0.5, -4.0),
            (-7.5, -2.0, -1.5, -1.5, 3.0),
            (1e30, 3.0, (1e30f64) % 3.0, 1.0, 3.333333333333333e29),
        ];
        for (a, b, f, r, q) in rows {
            assert!(same(fmod(a, b), f), "fmod({a}, {b}) = {}", fmod(a, b));
            assert!(same(remainder(a, b), r), "remainder({a}, {b}) = {}", remainder(a, b));
            assert!(same(floor_div(a, b), q), "floor_div({a}, {b}) = {}", floor_div(a, b));
            let (a, b) = (a as f32, b as f32);
            if a.abs() != 1e30 {
                assert!(same(f64::from(fmod32(a, b)), f), "fmod({a}f32, {b}) = {}", fmod32(a, b));
                assert!(same(f64::from(remainder32(a, b)), r), "remainder({a}f32, {b}) = {}", remainder32(a, b));
                assert!(same(f64::from(floor_div32(a, b)), q), "floor_div({a}f32, {b}) = {}", floor_div32(a, b));
            }
        }
    }

    #[test]
    fn remainders_are_those_of_long_division_for_quotients_of_any_size() {
        let mut bits = 0x0123_4567_89ab_cdef_u64;
        for round in 0..200_000_u64 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mantissa = |k: u64| (bits.rotate_left(k as u32) >> 12) | (bits << 63);
            let near = 1023 - 30 + round % 61;
            let a = f64::from_bits(mantissa(7) | (near + round % 52) << 52);
            let b = f64::from_bits(mantissa(31) | near << 52);
            assert!(same(fmod(a, b), simd(move |isa| fmod_slow_f64(isa, a, b))), "fmod({a:e}, {b:e})");
            assert!(same(remainder(a, b), simd(move |isa| remainder_slow_f64(isa, a, b))), "remainder({a:e}, {b:e})");
            assert!(same(floor_div(a, b), simd(move |isa| floor_div_slow_f64(isa, a, b))), "floor_div({a:e}, {b:e})");
            let (a, b) = (a as f32, b as f32);
            assert!(same(f64::from(fmod32(a, b)), f64::from(simd(move |isa| fmod_slow_f32(isa, a, b)))), "fmod({a:e}f32, {b:e})");
            assert!(
                same(f64::from(remainder32(a, b)), f64::from(simd(move |isa| remainder_slow_f32(isa, a, b)))),
                "remainder({a:e}f32, {b:e})"
            );
            assert!(
                same(f64::from(floor_div32(a, b)), f64::from(simd(move |isa| floor_div_slow_f32(isa, a, b)))),
                "floor_div({a:e}f32, {b:e})"
            );
        }
    }

    #[test]
    fn ends_of_the_range_divide_exactly() {
        let values = [f64::MAX, f64::MIN, 5e-324, -5e-324, 1.5e-323, f64::MIN_POSITIVE, 1e308, 3.0, 0.1, 9_007_199_254_740_991.0];
        for a in values {
            for b in values {
                assert!(same(fmod(a, b), simd(move |isa| fmod_slow_f64(isa, a, b))), "fmod({a:e}, {b:e}) = {}", fmod(a, b));
                assert!(
                    same(remainder(a, b), simd(move |isa| remainder_slow_f64(isa, a, b))),
                    "remainder({a:e}, {b:e}) = {}",
                    remainder(a, b)
                );
                assert!(
                    same(floor_div(a, b), simd(move |isa| floor_div_slow_f64(isa, a, b))),
                    "floor_div({a:e}, {b:e}) = {}",
                    floor_div(a, b)
                );
            }
        }
    }
}
