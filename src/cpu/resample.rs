//! Weighted sums of elements along a dimension.

use super::engine::{CHEAP, Shared, parallel};
use super::scratch::ThreadScratch;
use super::simd::simd;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::Resample;
use crate::operand::Operand;

/// The elements of a row that are summed together if a sum has many terms, so that the sums stay in the L1 cache.
const PIECE: usize = 512;

/// Rows of the last dimension that are summed side by side, because vectors of their elements need no gathering.
const SIDE: usize = 8;

/// The terms of a row that are worth a part of the rows, [`SIDE`] at a time.
const PART: usize = 1 << 13;

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
        (dtype, _) => Err(Domain::Float.refusal(dtype)),
    }
}

fn sums<X: Pixel<T>, R: Pixel<T>, T: Sum>(work: Resample, r: &Operand, x: &Operand, places: &Operand, weights: &Operand) -> Result<()> {
    let Resample { outer, before, after, inner, taps } = work;
    let (r, x) = (Shared(r.first()), Shared(x.first()));
    if outer * after * inner == 0 {
        return Ok(());
    }
    // SAFETY: the lists are row-major and have this many elements.
    let (places, weights) = unsafe {
        let n = taps * after;
        (std::slice::from_raw_parts(places.first().cast::<i32>(), n), std::slice::from_raw_parts(weights.first().cast::<T>(), n))
    };
    if inner == 1 {
        return along_rows::<X, R, T>(work, (r, x), places, weights);
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
    Ok(())
}

/// The sums along rows, the last dimension.
fn along_rows<X: Pixel<T>, R: Pixel<T>, T: Sum>(work: Resample, (r, x): (Shared, Shared), places: &[i32], weights: &[T]) -> Result<()> {
    let Resample { outer, before, after, taps, .. } = work;
    let blocks = outer.div_ceil(SIDE);
    let parts = (blocks * after * taps / PART).clamp(1, blocks);
    let Some(columns) = before.checked_mul(SIDE * size_of::<T>()).and_then(|bytes| ThreadScratch::new(bytes, parts)) else {
        bail!(NoMem, "out of memory for {SIDE} rows of {before} pixels")
    };
    columns.each(parts, &|part, columns: *mut T| {
        for block in blocks * part / parts..blocks * (part + 1) / parts {
            let first = block * SIDE;
            let rows = SIDE.min(outer - first);
            // SAFETY: the operands have these rows, the scratch memory has `SIDE` of them, and each place is in a row.
            unsafe {
                let (to, from) = (r.get().cast::<R>().add(first * after), x.get().cast::<X>().add(first * before));
                turn(columns, from, rows, before);
                along_columns(to, columns, (rows, after, taps), places, weights);
            }
        }
    });
    Ok(())
}

/// Writes `rows` rows of `n` elements as columns of [`SIDE`] elements. The last row fills the columns.
///
/// # Safety
/// `from` has the rows, at least one, and `columns` has room for `n` columns.
unsafe fn turn<X: Pixel<T>, T: Sum>(columns: *mut T, from: *const X, rows: usize, n: usize) {
    let row: [*const X; SIDE] = std::array::from_fn(|b| from.wrapping_add(b.min(rows - 1) * n));
    simd(
        #[inline(always)]
        move |_| {
            let mut k = 0;
            // SAFETY: the caller's.
            unsafe {
                while n - k >= SIDE {
                    let mut tile = [[T::ZERO; SIDE]; SIDE];
                    for b in 0..SIDE {
                        for j in 0..SIDE {
                            tile[b][j] = row[b].add(k + j).read().value();
                        }
                    }
                    for j in 0..SIDE {
                        for b in 0..SIDE {
                            columns.add((k + j) * SIDE + b).write(tile[b][j]);
                        }
                    }
                    k += SIDE;
                }
                for k in k..n {
                    for b in 0..SIDE {
                        columns.add(k * SIDE + b).write(row[b].add(k).read().value());
                    }
                }
            }
        },
    );
}

/// `to[b][i] = sum over j of weights[j][i] * columns[places[j][i]][b]`, for `rows` rows of `n` elements and `taps` terms.
///
/// # Safety
/// `to` has the rows, at least one, and `columns` has each place.
unsafe fn along_columns<R: Pixel<T>, T: Sum>(
    to: *mut R,
    columns: *const T,
    (rows, n, taps): (usize, usize, usize),
    places: &[i32],
    weights: &[T],
) {
    // The last row may be written several times, with the same elements.
    let row: [*mut R; SIDE] = std::array::from_fn(|b| to.wrapping_add(b.min(rows - 1) * n));
    simd(
        #[inline(always)]
        // SAFETY: the lists have `taps * n` elements, and the caller keeps this function's contract.
        move |_| unsafe {
            for i in 0..n {
                let mut sum = [T::ZERO; SIDE];
                let terms = if *places.get_unchecked(i) < 0 { 0 } else { taps };
                for j in 0..terms {
                    let column = columns.add(*places.get_unchecked(j * n + i) as usize * SIDE);
                    let weight = *weights.get_unchecked(j * n + i);
                    for b in 0..SIDE {
                        let term = weight * column.add(b).read();
                        sum[b] = if j == 0 { term } else { sum[b] + term };
                    }
                }
                for b in 0..SIDE {
                    row[b].add(i).write(R::of(sum[b]));
                }
            }
        },
    );
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
