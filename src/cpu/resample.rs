//! Weighted sums of elements along a dimension.

use super::engine::{CHEAP, COSTLY, Shared, parallel};
use super::simd::simd;
use crate::dtype::{Domain, Dtype};
use crate::error::Result;
use crate::launch::Resample;
use crate::operand::Operand;

/// The elements of a row that are summed together if a sum has many terms, so that the sums stay in the L1 cache.
const PIECE: usize = 512;

/// An element of an image, computed in `T`.
trait Pixel<T>: Copy {
    fn value(self) -> T;
    fn of(sum: T) -> Self;
}

macro_rules! floats {
    ($($t:ty),*) => { $(impl Pixel<$t> for $t {
        #[inline(always)]
        fn value(self) -> $t {
            self
        }

        #[inline(always)]
        fn of(sum: $t) -> $t {
            sum
        }
    })* };
}
floats!(f32, f64);

impl Pixel<f32> for u8 {
    #[inline(always)]
    fn value(self) -> f32 {
        self.into()
    }

    #[inline(always)]
    fn of(sum: f32) -> u8 {
        // Adding 1.5 * 2^23 leaves the integer in the low bits, rounded half to even.
        const SHIFT: f32 = 12_582_912.0;
        (sum.clamp(0.0, 255.0) + SHIFT).to_bits() as u8
    }
}

/// A type in which sums are computed.
trait Sum: Copy + Send + Sync + std::ops::Add<Output = Self> + std::ops::Mul<Output = Self> {
    const ZERO: Self;
}

impl Sum for f32 {
    const ZERO: f32 = 0.0;
}

impl Sum for f64 {
    const ZERO: f64 = 0.0;
}

/// Computes the sums.
pub fn run(work: Resample, r: &Operand, [x, places, weights]: [&Operand; 3]) -> Result<()> {
    match (x.dtype, r.dtype) {
        (Dtype::Float32, Dtype::Float32) => sums::<f32, f32, f32>(work, r, x, places, weights),
        (Dtype::Float64, Dtype::Float64) => sums::<f64, f64, f64>(work, r, x, places, weights),
        (Dtype::Uint8, Dtype::Float32) => sums::<u8, f32, f32>(work, r, x, places, weights),
        (Dtype::Float32, Dtype::Uint8) => sums::<f32, u8, f32>(work, r, x, places, weights),
        (Dtype::Uint8, Dtype::Uint8) => sums::<u8, u8, f32>(work, r, x, places, weights),
        (dtype, _) => return Err(Domain::Float.refusal(dtype)),
    }
    Ok(())
}

fn sums<X: Pixel<T>, R: Pixel<T>, T: Sum>(work: Resample, r: &Operand, x: &Operand, places: &Operand, weights: &Operand) {
    let Resample { outer, before, after, inner, taps } = work;
    let (r, x) = (Shared(r.first()), Shared(x.first()));
    if outer * after * inner == 0 {
        return;
    }
    // SAFETY: the lists are row-major and have this many elements.
    let (places, weights) = unsafe {
        let n = taps * after;
        (std::slice::from_raw_parts(places.first().cast::<i32>(), n), std::slice::from_raw_parts(weights.first().cast::<T>(), n))
    };
    if inner == 1 {
        parallel(outer, after * taps, COSTLY, &|rows| {
            for row in rows {
                // SAFETY: the operands have this row, and each place is in the row.
                unsafe {
                    let (to, from) = (r.get().cast::<R>().add(row * after), x.get().cast::<X>().add(row * before));
                    simd(
                        #[inline(always)]
                        move |_| match taps {
                            1 => along_row::<X, R, T, 1>(to, from, after, places, weights),
                            2 => along_row::<X, R, T, 2>(to, from, after, places, weights),
                            4 => along_row::<X, R, T, 4>(to, from, after, places, weights),
                            _ => along_row::<X, R, T, 0>(to, from, after, places, weights),
                        },
                    );
                }
            }
        });
        return;
    }
    parallel(outer * after, inner * taps, CHEAP, &|rows| {
        for row in rows {
            let (o, i) = (row / after, row % after);
            // SAFETY: the operands have these rows, and each place is in the dimension.
            unsafe {
                let (to, from) = (r.get().cast::<R>().add(row * inner), x.get().cast::<X>().add(o * before * inner));
                simd(
                    #[inline(always)]
                    move |_| match taps {
                        1 => of_rows::<X, R, T, 1>(to, from, inner, (i, after), places, weights),
                        2 => of_rows::<X, R, T, 2>(to, from, inner, (i, after), places, weights),
                        4 => of_rows::<X, R, T, 4>(to, from, inner, (i, after), places, weights),
                        _ => of_many_rows::<X, R, T>(to, from, inner, (i, after), places, weights),
                    },
                );
            }
        }
    });
}

/// `to[i] = sum over j of weights[j][i] * from[places[j][i]]`, with `TAPS` terms, or as many as the lists have if `TAPS` is 0.
///
/// # Safety
/// `to` has `n` elements, and `from` has each place.
#[inline(always)]
unsafe fn along_row<X: Pixel<T>, R: Pixel<T>, T: Sum, const TAPS: usize>(
    to: *mut R,
    from: *const X,
    n: usize,
    places: &[i32],
    weights: &[T],
) {
    let taps = if TAPS == 0 { places.len() / n } else { TAPS };
    for i in 0..n {
        let mut sum = T::ZERO;
        // SAFETY: the lists have `taps * n` elements; the rest is the caller's promise.
        unsafe {
            if *places.get_unchecked(i) >= 0 {
                for j in 0..taps {
                    let at = *places.get_unchecked(j * n + i) as usize;
                    let term = *weights.get_unchecked(j * n + i) * from.add(at).read().value();
                    sum = if j == 0 { term } else { sum + term };
                }
            }
            to.add(i).write(R::of(sum));
        }
    }
}

/// `to[k] = sum over j of weights[j][i] * from[places[j][i]][k]`, for rows of `n` elements and lists of `after` entries for each term.
///
/// # Safety
/// `to` has `n` elements, and `from` has the row of each place.
#[inline(always)]
unsafe fn of_rows<X: Pixel<T>, R: Pixel<T>, T: Sum, const TAPS: usize>(
    to: *mut R,
    from: *const X,
    n: usize,
    (i, after): (usize, usize),
    places: &[i32],
    weights: &[T],
) {
    let (mut at, mut weight) = ([0; TAPS], [T::ZERO; TAPS]);
    for j in 0..TAPS {
        (at[j], weight[j]) = (places[j * after + i].max(0) as usize * n, weights[j * after + i]);
    }
    if places[i] < 0 {
        // SAFETY: the caller's row.
        (0..n).for_each(|k| unsafe { to.add(k).write(R::of(T::ZERO)) });
        return;
    }
    for k in 0..n {
        // SAFETY: the caller guarantees these elements.
        unsafe {
            let mut sum = weight[0] * from.add(at[0] + k).read().value();
            for j in 1..TAPS {
                sum = sum + weight[j] * from.add(at[j] + k).read().value();
            }
            to.add(k).write(R::of(sum));
        }
    }
}

/// [`of_rows`] with any number of terms.
///
/// # Safety
/// As for [`of_rows`].
#[inline(always)]
unsafe fn of_many_rows<X: Pixel<T>, R: Pixel<T>, T: Sum>(
    to: *mut R,
    from: *const X,
    n: usize,
    (i, after): (usize, usize),
    places: &[i32],
    weights: &[T],
) {
    let taps = if places[i] < 0 { 0 } else { places.len() / after };
    let mut sums = [T::ZERO; PIECE];
    for first in (0..n).step_by(PIECE) {
        let sums = &mut sums[..PIECE.min(n - first)];
        sums.fill(T::ZERO);
        for j in 0..taps {
            let (at, weight) = (places[j * after + i] as usize * n + first, weights[j * after + i]);
            for (k, sum) in sums.iter_mut().enumerate() {
                // SAFETY: the caller guarantees the row.
                *sum = *sum + weight * unsafe { from.add(at + k).read() }.value();
            }
        }
        for (k, &sum) in sums.iter().enumerate() {
            // SAFETY: the caller guarantees the row.
            unsafe { to.add(first + k).write(R::of(sum)) };
        }
    }
}
