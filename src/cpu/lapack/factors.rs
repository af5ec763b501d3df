//! Cholesky factors, and QR.

use super::lists::{Float, Lists, cube};
use super::scale;
use crate::error::Result;
use thorn_lapack::Scratch;

/// Computes Cholesky factors with complete pivoting of n x n matrices. The rank of each matrix is stored after its pivots.
pub fn pstrf<T: Float>(lists: &Lists<'_>, n: usize, tol: f64) -> Result<()> {
    lists.each::<T, 1>(cube(n, n), T::pstrf_bytes(n), &|[a], integers, scratch| {
        let (pivots, rank) = integers.split_at_mut(n);
        let found = T::pstrf(a, n, pivots, tol, scratch);
        rank[0] = found.unwrap_or(0) as i32;
        found.is_none() as i32
    })
}

/// LAPACK's geqrf, of the matrix times a power of 2 if elements are very large or small.
fn factored<T: Float>(a: &mut [T], m: usize, n: usize, tau: &mut [T], scratch: Scratch<'_>) {
    let exponent = T::headroom(a);
    T::geqrf(a, m, n, tau, scratch);
    scale::upper(a, m, -exponent);
}

/// Computes R and packed reflectors of m x n matrices.
pub fn geqrf<T: Float>(lists: &Lists<'_>, m: usize, n: usize) -> Result<()> {
    lists.each::<T, 2>(cube(m, n), T::geqrf_bytes(m, n), &|[a, tau], _, scratch| {
        factored(a, m, n, tau, scratch);
        0
    })
}

/// Computes the first `columns` of Q and `side` rows of R, as matrices.
pub fn qr<T: Float>(lists: &Lists<'_>, [m, n]: [usize; 2], side: usize, columns: usize) -> Result<()> {
    let size = m.min(n);
    let bytes = T::geqrf_bytes(m, n).max(T::orgqr_bytes(m, columns, size));
    lists.each::<T, 4>(cube(m, n).saturating_mul(2), bytes, &|[a, tau, q, r], _, scratch| {
        factored(a, m, n, tau, scratch);
        for j in 0..n {
            (0..side).for_each(|i| r[i + j * side] = if i <= j { a[i + j * m] } else { T::from_f64(0.0) });
        }
        if columns > 0 {
            T::orgqr(q, m, columns, &a[..m * size], size, tau, scratch);
        }
        0
    })
}

/// Computes the first n columns of the product of k reflectors of m rows.
pub fn orgqr<T: Float>(lists: &Lists<'_>, m: usize, n: usize, k: usize) -> Result<()> {
    lists.each::<T, 3>(cube(m, n), T::orgqr_bytes(m, n, k), &|[a, tau, q], _, scratch| {
        T::orgqr(q, m, n, &a[..m * k], k, tau, scratch);
        0
    })
}

/// Computes the product of k reflectors and an m x n matrix, or of the matrix and the reflectors.
pub fn ormqr<T: Float>(lists: &Lists<'_>, [m, n, k]: [usize; 3], left: bool, transposed: bool) -> Result<()> {
    let rows = if left { m } else { n };
    lists.each::<T, 3>(cube(m, n), T::ormqr_bytes(m, n, k, left), &|[a, tau, c], _, scratch| {
        T::ormqr(c, m, n, &a[..rows * k], k, tau, left, transposed, scratch);
        0
    })
}
