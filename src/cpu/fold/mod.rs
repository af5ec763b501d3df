//! Folds: kernels that reduce the elements of each result position, over tiles of one compute type.
//!
//! Accumulators are stored in planes, with the same number of all accumulators in one plane, so that columns are folded by whole vectors.

mod choose;
mod extreme;
mod kernel;
mod line;
mod logic;
mod min_max;
mod moment;
mod pairwise;
mod power;
mod product;
mod reducer;
mod search;
mod total;

pub use choose::{logic, with_kernel};
pub use extreme::{Arg, Extreme, Ordered};
pub use kernel::{Accumulators, FoldKernel, FoldTile};
pub(crate) use kernel::{COLUMNS, NARROW, ROWS};
pub use logic::Logic;
pub use min_max::MinMax;
pub use moment::Moment;
pub use pairwise::{PairwiseSum, VectorTerm};
pub use power::{Powers, Squares};
pub use product::Products;
pub use reducer::{Lanes, Reducer};
pub use total::{Abs, NanMean, NonZero, NotNan, Plain, Product, Square, Sum, Terms};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Bool;
    use crate::launch::Root;
    use std::marker::PhantomData;

    /// Returns the results of `fold` for each column of `rows` x `cols` elements, with the tile divided in two, and for each row.
    fn folded<T, R: Copy + Default>(fold: &dyn FoldKernel, x: &[T], rows: usize, cols: usize) -> [Vec<R>; 2] {
        let step = (cols * size_of::<T>()) as isize;
        let whole = FoldTile { x: x.as_ptr().cast(), rows, cols, step, done: 0, index: 0, weight: 1 };
        let (mut results, mut memory, mut rest) = ([vec![], vec![]], vec![0u64; 3 * COLUMNS], vec![0u64; COLUMNS]);
        let accs = Accumulators { data: memory.as_mut_ptr().cast(), capacity: COLUMNS };
        let cut = rows / 3;
        let parts = [
            FoldTile { rows: cut, ..whole },
            FoldTile { x: whole.row::<u8>(cut), rows: rows - cut, done: cut, index: cut as i64, ..whole },
        ];
        // SAFETY: accumulators and results have room for the rows and the columns.
        unsafe {
            for (side, n, count) in [(0, rows, cols), (1, cols, rows)] {
                fold.start(accs, n);
                match side {
                    0 => fold.rows(accs, &whole),
                    _ => parts.iter().filter(|part| part.rows > 0).for_each(|part| fold.columns(accs, part)),
                }
                results[side] = vec![R::default(); n];
                fold.finish(accs, n, count, [results[side].as_mut_ptr().cast(), rest.as_mut_ptr().cast()]);
            }
        }
        results
    }

    /// Returns the results of a plain formula for the rows and columns of `x`.
    fn plain<T: Copy, R>(x: &[T], rows: usize, cols: usize, f: impl Fn(&[T]) -> R) -> [Vec<R>; 2] {
        let column = |j: usize| (0..rows).map(|r| x[r * cols + j]).collect::<Vec<T>>();
        [(0..rows).map(|r| f(&x[r * cols..][..cols])).collect(), (0..cols).map(|j| f(&column(j))).collect()]
    }

    const SHAPES: [(usize, usize); 6] = [(1, 1), (3, 5), (64, 16), (7, 100), (63, 257), (2, 1000)];

    #[test]
    fn integers_are_summed_beyond_their_type() {
        for (rows, cols) in SHAPES {
            let bytes: Vec<u8> = (0..rows * cols).map(|i| 255 - (i % 7) as u8).collect();
            let expected = plain(&bytes, rows, cols, |x| x.iter().map(|&v| i64::from(v)).sum::<i64>());
            assert_eq!(folded::<u8, i64>(&Lanes(Sum::<u8>(PhantomData)), &bytes, rows, cols), expected);
            let truths: Vec<Bool> = bytes.iter().map(|&v| Bool(v % 3 * 80)).collect();
            let expected = plain(&truths, rows, cols, |x| x.iter().filter(|v| v.get()).count() as i64);
            assert_eq!(folded::<Bool, i64>(&Lanes(Sum::<Bool>(PhantomData)), &truths, rows, cols), expected);
        }
    }

    #[test]
    fn narrow_rows_are_joined() {
        for (rows, cols) in [(1000, 1), (1023, 2), (1000, 3), (700, 7), (384, 16), (255, 32)] {
            let x: Vec<f64> = (0..rows * cols).map(|i| (i * 31 % 1009) as f64 - 500.0).collect();
            let [_, sums] = folded::<f64, f64>(&Lanes(Terms::<f64, _>::new(Plain, Root::Itself)), &x, rows, cols);
            assert_eq!(sums, plain(&x, rows, cols, |x| x.iter().sum::<f64>())[1], "{rows} x {cols}");
            let [_, largest] = folded::<f64, f64>(&Lanes(Extreme::<f64, true>(PhantomData)), &x, rows, cols);
            assert_eq!(largest, plain(&x, rows, cols, |x| x.iter().copied().fold(-1e9, f64::max))[1], "{rows} x {cols}");
            let bytes: Vec<u8> = x.iter().map(|&v| v as i64 as u8).collect();
            let [_, sums] = folded::<u8, i64>(&Lanes(Sum::<u8>(PhantomData)), &bytes, rows, cols);
            assert_eq!(sums, plain(&bytes, rows, cols, |x| x.iter().map(|&v| i64::from(v)).sum::<i64>())[1], "{rows} x {cols}");
        }
    }

    #[test]
    fn a_row_longer_than_lanes_can_hold_is_summed_in_blocks() {
        let least = vec![i8::MIN; 100_000];
        let [total, _] = folded::<i8, i64>(&Lanes(Sum::<i8>(PhantomData)), &least[..COLUMNS], 1, COLUMNS);
        assert_eq!(total, [-128 * COLUMNS as i64]);
        let tile = FoldTile { x: least.as_ptr().cast(), rows: 1, cols: least.len(), step: 0, done: 0, index: 0, weight: 1 };
        let (mut acc, mut sum, fold) = ([0u64; 2], 0i64, Lanes(Sum::<i8>(PhantomData)));
        let accs = Accumulators { data: acc.as_mut_ptr().cast(), capacity: 1 };
        // SAFETY: there is one accumulator and one result.
        unsafe {
            fold.start(accs, 1);
            fold.rows(accs, &tile);
            fold.finish(accs, 1, least.len(), [(&raw mut sum).cast(), accs.data]);
        }
        assert_eq!(sum, -12_800_000);
    }

    #[test]
    fn extremes_and_their_places_agree_with_a_search() {
        for (rows, cols) in SHAPES {
            let x: Vec<f32> = (0..rows * cols).map(|i| if i % 97 == 96 { f32::NAN } else { (i * 31 % 19) as f32 - 9.0 }).collect();
            let first =
                |x: &[f32]| (1..x.len()).fold(0, |best, i| if x[i] > x[best] || (x[i].is_nan() && !x[best].is_nan()) { i } else { best });
            let expected = plain(&x, rows, cols, |x| x[first(x)].to_bits());
            assert_eq!(
                folded::<f32, u32>(&Lanes(Extreme::<f32, true>(PhantomData)), &x, rows, cols).map(sorted_nan),
                expected.map(sorted_nan)
            );
            let values = folded::<f32, u32>(&Arg::<f32, true>(PhantomData), &x, rows, cols);
            assert_eq!(values.map(sorted_nan), plain(&x, rows, cols, |x| x[first(x)].to_bits()).map(sorted_nan));
            // The same in float64. All its NaNs have one bit pattern here.
            let wide: Vec<f64> = x.iter().map(|&x| if x.is_nan() { f64::NAN } else { x.into() }).collect();
            let expected = plain(&x, rows, cols, |x| f64::from(x[first(x)]));
            for found in [
                folded::<f64, f64>(&Lanes(Extreme::<f64, true>(PhantomData)), &wide, rows, cols),
                folded::<f64, f64>(&Arg::<f64, true>(PhantomData), &wide, rows, cols),
            ] {
                let pairs = found.iter().flatten().zip(expected.iter().flatten());
                assert!(pairs.into_iter().all(|(a, b)| a == b || (a.is_nan() && b.is_nan())), "{rows} x {cols}");
            }
        }
    }

    /// Replaces all NaNs by one bit pattern.
    fn sorted_nan(bits: Vec<u32>) -> Vec<u32> {
        bits.into_iter().map(|b| if f32::from_bits(b).is_nan() { u32::MAX } else { b }).collect()
    }

    #[test]
    fn a_large_mean_takes_nothing_from_the_variance() {
        // Numbers near 1e8 are multiples of 2^-26, so the exact variance can be computed with integers.
        for (rows, cols) in [(1000, 1), (1000, 3), (1000, 40), (3, 1000)] {
            let k: Vec<i64> = (0..(rows * cols) as i64).map(|i| i * i % 10_007 + i % 13).collect();
            let x: Vec<f64> = k.iter().map(|&k| 1e8 + k as f64 * 2f64.powi(-26)).collect();
            let expected = plain(&k, rows, cols, |k| {
                let n = k.len() as i128;
                let (sum, squares) = k.iter().fold((0i128, 0i128), |(s, q), &k| (s + i128::from(k), q + i128::from(k) * i128::from(k)));
                (squares * n - sum * sum) as f64 / (n * n) as f64 * 2f64.powi(-52)
            });
            let got = folded::<f64, f64>(&Moment::<f64>::new(0.0, false), &x, rows, cols);
            for (got, expected) in got.iter().flatten().zip(expected.iter().flatten()) {
                assert!((got - expected).abs() <= 8.0 * f64::EPSILON * expected, "{rows} x {cols}: {got:e}, not {expected:e}");
            }
        }
    }

    #[test]
    fn variance_agrees_with_two_passes() {
        for (rows, cols) in SHAPES {
            let x: Vec<f64> = (0..rows * cols).map(|i| 1e6 + (i * 7 % 11) as f64).collect();
            let expected = plain(&x, rows, cols, |x| {
                let mean = x.iter().sum::<f64>() / x.len() as f64;
                x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / x.len() as f64
            });
            let got = folded::<f64, f64>(&Moment::<f64>::new(0.0, false), &x, rows, cols);
            for (got, expected) in got.iter().flatten().zip(expected.iter().flatten()) {
                assert!((got - expected).abs() < 1e-8, "{got} {expected}");
            }
        }
    }
}
