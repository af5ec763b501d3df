//! Quantiles of a line: elements of a rank that need not be whole, interpolated between two elements.

use super::keys::{Ordered, to_keys};
use super::real::Real;
use super::select::{self, count_nans, next, select};
use super::{mode, radix};
use crate::cpu::tuning::SELECTED_QUANTILES;
use crate::launch::lines::Interpolation;

/// The quantiles to compute.
#[derive(Debug, Clone, Copy)]
pub struct Quantiles<'a, T> {
    /// The share of the line below each quantile, in 0 to 1.
    pub shares: &'a [T],
    /// The method of interpolation between two elements.
    pub interpolation: Interpolation,
    /// True if NaNs are left out. Otherwise one NaN makes every quantile NaN.
    pub skip_nan: bool,
}

/// Returns the bytes of scratch that quantiles of `n` elements need.
pub fn scratch_bytes<T: Ordered>(n: usize) -> usize {
    mode::scratch_bytes::<T>(n).max(select::scratch_bytes::<T>(n))
}

impl<T: Real + Ordered> Quantiles<'_, T> {
    /// `out[i]` = the quantile of `shares[i]`.
    ///
    /// # Safety
    /// `line` must not be empty. `out` must have room for an element for each share, and `scratch` the bytes of [`scratch_bytes`], aligned
    /// to 8.
    pub unsafe fn of(&self, line: &[T], out: *mut T, scratch: *mut u8) {
        let numbers = line.len() - count_nans(line);
        // SAFETY: the caller keeps this function's contract.
        let out = unsafe { std::slice::from_raw_parts_mut(out, self.shares.len()) };
        if numbers == 0 || (numbers < line.len() && !self.skip_nan) {
            return out.fill(T::from_f64(f64::NAN));
        }
        if self.shares.len() > SELECTED_QUANTILES {
            let keys = scratch.cast::<T::Key>();
            // SAFETY: the scratch has room for the keys twice, and all keys are written before they are read.
            let sorted = unsafe {
                let other = keys.add(line.len());
                to_keys(line, keys);
                other.write_bytes(0, line.len());
                radix::sorted(std::slice::from_raw_parts_mut(keys, line.len()), std::slice::from_raw_parts_mut(other, line.len()))
            };
            return self.fill(out, numbers, |k| (sorted[k], sorted[(k + 1).min(numbers - 1)]));
        }
        self.fill(out, numbers, |k| {
            // SAFETY: the caller keeps this function's contract; `k` < `numbers`.
            let key = unsafe { select(line, k, scratch) }.key;
            (key, if k + 1 < numbers { next(line, key, k) } else { key })
        })
    }

    /// Writes the quantiles of `numbers` elements, given the keys of any two neighbours in order.
    fn fill(&self, out: &mut [T], numbers: usize, neighbours: impl Fn(usize) -> (T::Key, T::Key)) {
        for (r, &share) in out.iter_mut().zip(self.shares) {
            let (k, fraction) = self.place(share, numbers);
            let (below, above) = neighbours(k);
            *r = between(T::from_key(below), T::from_key(above), fraction);
        }
    }

    /// Returns the rank of the lower neighbour of a quantile of `numbers` elements, and the fraction of the way to the upper neighbour.
    fn place(&self, share: T, numbers: usize) -> (usize, T) {
        let rank = share.to_f64() * (numbers - 1) as f64;
        let whole = match self.interpolation {
            Interpolation::Higher => rank.ceil(),
            Interpolation::Nearest => rank.round_ties_even(),
            _ => rank.floor(),
        };
        let fraction = match self.interpolation {
            Interpolation::Linear => rank - whole,
            Interpolation::Midpoint if rank > whole => 0.5,
            _ => 0.0,
        };
        ((whole as usize).min(numbers - 1), T::from_f64(fraction))
    }
}

/// From `a` to `b`, exact at both ends. Equal infinities stay what they are, and so does one infinity on its side of a number. The sum of
/// shares is used where the difference overflows.
fn between<T: Real>(a: T, b: T, fraction: T) -> T {
    let step = b.sub(a);
    match fraction.to_f64() {
        0.0 => a,
        _ if a == b => a,
        _ if step == T::from_f64(f64::INFINITY) => a.mul(T::from_f64(1.0).sub(fraction)).add(b.mul(fraction)),
        f if f < 0.5 => a.add(fraction.mul(step)),
        _ => b.sub(T::from_f64(1.0).sub(fraction).mul(step)),
    }
}

#[cfg(test)]
mod tests {
    use super::Interpolation::*;
    use super::*;

    fn quantiles(line: &[f64], shares: &[f64], interpolation: Interpolation, skip_nan: bool) -> Vec<f64> {
        let mut out = vec![0.0; shares.len()];
        let mut scratch = vec![0u64; scratch_bytes::<f64>(line.len()).div_ceil(8)];
        // SAFETY: result and scratch have the required sizes.
        unsafe { Quantiles { shares, interpolation, skip_nan }.of(line, out.as_mut_ptr(), scratch.as_mut_ptr().cast()) };
        out
    }

    #[test]
    fn every_interpolation_is_pytorchs() {
        let (line, shares) = ([4.0, 3.0, 9.0], [0.0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0]);
        let expected = [
            (Linear, [3.0, 3.25, 3.5, 3.75, 4.0, 5.25, 6.5, 7.75, 9.0]),
            (Lower, [3.0, 3.0, 3.0, 3.0, 4.0, 4.0, 4.0, 4.0, 9.0]),
            (Higher, [3.0, 4.0, 4.0, 4.0, 4.0, 9.0, 9.0, 9.0, 9.0]),
            (Midpoint, [3.0, 3.5, 3.5, 3.5, 4.0, 6.5, 6.5, 6.5, 9.0]),
            (Nearest, [3.0, 3.0, 3.0, 4.0, 4.0, 4.0, 9.0, 9.0, 9.0]),
        ];
        for (how, values) in expected {
            assert_eq!(quantiles(&line, &shares, how, false), values, "{how:?}");
            // Few quantiles are selected, many are read from the sorted line.
            for i in 0..9 {
                assert_eq!(quantiles(&line, &shares[i..=i], how, false), values[i..=i], "{how:?} {i}");
            }
        }
    }

    #[test]
    fn nan_spoils_or_is_left_out() {
        let line = [1.0, f64::NAN, 2.0];
        assert!(quantiles(&line, &[0.0, 0.3], Linear, false).iter().all(|x| x.is_nan()));
        assert_eq!(quantiles(&line, &[0.0, 0.25, 1.0], Linear, true), [1.0, 1.25, 2.0]);
        assert_eq!(quantiles(&line, &[0.0, 0.1, 0.2, 0.25, 0.3, 0.5, 1.0], Lower, true), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]);
        assert!(quantiles(&[f64::NAN; 3], &[0.5], Nearest, true)[0].is_nan());
    }

    #[test]
    fn differences_may_overflow() {
        assert_eq!(quantiles(&[-1e308, 1e308], &[0.25, 0.5, 0.75], Linear, false), [-5e307, 0.0, 5e307]);
        assert_eq!(quantiles(&[-1.5e308, 1.5e308], &[0.25, 0.75], Midpoint, false), [0.0, 0.0]);
    }

    #[test]
    fn infinities_are_no_differences() {
        let line = [1.0, f64::INFINITY, f64::INFINITY, 0.0];
        assert_eq!(quantiles(&line, &[0.9, 1.0, 0.0], Linear, false), [f64::INFINITY, f64::INFINITY, 0.0]);
        let shares = [0.2, 0.4, 0.5, 0.9];
        assert_eq!(quantiles(&[0.0, f64::INFINITY], &shares, Linear, false), [f64::INFINITY; 4]);
        assert_eq!(quantiles(&[0.0, f64::NEG_INFINITY], &shares, Linear, false), [f64::NEG_INFINITY; 4]);
        assert_eq!(quantiles(&[5.0, f64::INFINITY, 4.0], &[0.6, 0.7, 0.8, 0.9], Linear, true), [f64::INFINITY; 4]);
        assert!(quantiles(&[f64::INFINITY, f64::NEG_INFINITY], &shares, Linear, false).iter().all(|x| x.is_nan()));
    }
}
