//! LU: packed factors, factors as matrices, and inverses.

use super::lists::{Float, Lists, cube};
use super::scale;
use crate::error::Result;
use thorn_lapack::Info;

/// Computes packed factors of m x n matrices.
pub fn getrf<T: Float>(lists: &Lists<'_>, m: usize, n: usize) -> Result<()> {
    lists.each::<T, 1>(cube(m, n), 0, &|[lu], pivots, _| factored(lu, m, n, pivots))
}

/// LAPACK's getrf, of the matrix times a power of 2 if elements are very large or small.
fn factored<T: Float>(a: &mut [T], m: usize, n: usize, pivots: &mut [i32]) -> Info {
    let exponent = T::headroom(a);
    let info = T::getrf(a, m, n, pivots);
    scale::upper(a, m, -exponent);
    info
}

/// Computes the three factors as matrices.
pub fn lu<T: Float>(lists: &Lists<'_>, m: usize, n: usize) -> Result<()> {
    let size = m.min(n);
    let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
    lists.each::<T, 4>(cube(m, n), 0, &|[a, p, l, u], integers, _| {
        let (pivots, rows) = integers.split_at_mut(size);
        factored(a, m, n, pivots);
        for j in 0..size {
            for i in 0..m {
                l[i + j * m] = if i > j { a[i + j * m] } else { T::from_f64(f64::from(i == j)) };
            }
        }
        for j in 0..n {
            (0..size).for_each(|i| u[i + j * size] = if i <= j { a[i + j * m] } else { zero });
        }
        p.fill(zero);
        if !p.is_empty() {
            (0..m).for_each(|i| rows[i] = i as i32);
            pivots.iter().enumerate().for_each(|(i, &pivot)| rows.swap(i, pivot as usize - 1));
            (0..m).for_each(|j| p[rows[j] as usize + j * m] = one);
        }
        0
    })
}

/// Computes inverses of n x n matrices.
pub fn getri<T: Float>(lists: &Lists<'_>, n: usize) -> Result<()> {
    lists.each::<T, 2>(cube(n, n), T::getri_bytes(n), &|[lu, inverse], pivots, scratch| {
        let exponent = T::headroom(lu);
        let info = T::getrf(lu, n, n, pivots);
        if info == 0 {
            T::getri(inverse, lu, n, pivots, scratch);
            T::rescale(inverse, exponent);
        } else {
            inverse.fill(T::from_f64(0.0));
        }
        info
    })
}
