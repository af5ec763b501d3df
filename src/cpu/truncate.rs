//! Conversion of floats to integers: truncated, saturated, NaN as 0. There are no branches, so that loops become vectors.

use crate::dtype::{Dtype, Element};

/// Defines the functions that are the same for both floats, with the constants of the type.
macro_rules! truncation {
    ($F:ident, $narrow:ident, $wide:ident, $halves:ident, below 2^31 $below_31:literal, below 2^63 $below_63:literal) => {
        /// Returns `x` as an integer of at most 32 bits.
        #[inline(always)]
        pub fn $narrow<D: Element>(x: $F) -> D {
            const TWO_31: $F = 2_147_483_648.0;
            let (least, most) = match D::DTYPE {
                Dtype::Uint8 => (0.0, 255.0),
                Dtype::Int8 => (-128.0, 127.0),
                Dtype::Int16 => (-32768.0, 32767.0),
                _ => (-TWO_31, $below_31),
            };
            // SAFETY: both bounds fit an int32.
            let int = unsafe { within(x, least, most).to_int_unchecked::<i32>() };
            // The greatest int32 is no float32.
            let int = if D::DTYPE == Dtype::Int32 && $below_31 as f64 <= 2_147_483_646.0 && x >= TWO_31 { i32::MAX } else { int };
            D::from_i64(int.into())
        }

        /// Returns `x` as int64, for processors that convert vectors to int64.
        #[inline(always)]
        pub fn $wide(x: $F) -> i64 {
            const TWO_63: $F = 9_223_372_036_854_775_808.0;
            // SAFETY: both bounds fit an int64.
            let int = unsafe { within(x, -TWO_63, $below_63).to_int_unchecked::<i64>() };
            if x >= TWO_63 { i64::MAX } else { int }
        }

        /// Returns `x` as int64, for processors that convert vectors to int32 only.
        #[inline(always)]
        pub fn $halves(x: $F) -> i64 {
            const TWO_63: $F = 9_223_372_036_854_775_808.0;
            let int = join_halves(f64::from(within(x, -TWO_63, $below_63).trunc()));
            if x >= TWO_63 { i64::MAX } else { int }
        }
    };
}
truncation!(f32, f32_to_narrow, f32_to_i64, f32_halves_to_i64, below 2^31 2_147_483_520.0, below 2^63 9_223_371_487_098_961_920.0);
truncation!(f64, f64_to_narrow, f64_to_i64, f64_halves_to_i64, below 2^31 2_147_483_647.0, below 2^63 9_223_372_036_854_774_784.0);

/// Returns `x` clamped to the bounds, 0 for NaN. Comparisons in this form are single instructions.
#[inline(always)]
fn within<F: PartialOrd + Default + Copy>(x: F, least: F, most: F) -> F {
    // The comparison with `least` is false for NaN, so a least value of 0 is enough.
    let x = if least == F::default() || x.partial_cmp(&x).is_some() { x } else { F::default() };
    let x = if x > least { x } else { least };
    if x < most { x } else { most }
}

/// Returns `whole`, an integer in the range of int64, as an int64 assembled from two halves.
#[inline(always)]
fn join_halves(whole: f64) -> i64 {
    const TWO_32: f64 = 4_294_967_296.0;
    // An integer of less than 51 bits that is added to this number is in the last bits of the sum.
    const SHIFT: f64 = 6_755_399_441_055_744.0;
    let high = whole / TWO_32 + SHIFT;
    let low = whole - (high - SHIFT) * TWO_32;
    // `low` is signed, since `high` was rounded to nearest.
    let low = (low + SHIFT).to_bits().wrapping_sub(SHIFT.to_bits());
    (high.to_bits() << 32).wrapping_add(low) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns values on both sides of every bound, infinities and NaN.
    fn samples() -> Vec<f64> {
        let mut xs = vec![0.0, -0.0, 0.3, 0.999, 1.5, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::INFINITY, f64::NAN, 4503599627370497.5];
        for bits in [7, 8, 15, 16, 31, 32, 52, 53, 62, 63, 64] {
            let bound = 2f64.powi(bits);
            xs.extend([bound, bound - 1.0, bound - 0.5, bound + 1.0, bound.next_down(), bound.next_up()]);
        }
        xs.iter().flat_map(|&x| [x, -x]).collect()
    }

    /// Compares with Rust's `as`, which defines the result: truncating, saturating, 0 for NaN.
    #[test]
    fn every_bound_is_met() {
        for x in samples() {
            let f = x as f32;
            assert_eq!((f64_to_narrow::<u8>(x), f64_to_narrow::<i8>(x)), (x as u8, x as i8), "{x}");
            assert_eq!((f64_to_narrow::<i16>(x), f64_to_narrow::<i32>(x)), (x as i16, x as i32), "{x}");
            assert_eq!((f32_to_narrow::<u8>(f), f32_to_narrow::<i8>(f)), (f as u8, f as i8), "{f}");
            assert_eq!((f32_to_narrow::<i16>(f), f32_to_narrow::<i32>(f)), (f as i16, f as i32), "{f}");
            assert_eq!((f64_to_i64(x), f64_halves_to_i64(x)), (x as i64, x as i64), "{x}");
            assert_eq!((f32_to_i64(f), f32_halves_to_i64(f)), (f as i64, f as i64), "{f}");
        }
    }
}
