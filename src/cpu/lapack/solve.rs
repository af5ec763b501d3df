//! Systems of equations: square, and least squares.

use super::lists::{Float, Lists, cube};
use super::multiply::Multiply;
use super::scale;
use super::values::tolerance;
use crate::error::Result;
use thorn_lapack::Vectors;

/// Solves square systems of n equations with k right-hand sides.
pub fn gesv<T: Float>(lists: &Lists<'_>, n: usize, k: usize) -> Result<()> {
    lists.each::<T, 2>(cube(n, n.saturating_add(k)), 0, &|[lu, x], integers, _| {
        let (pivots, exponents) = integers.split_at_mut(n);
        let of_a = T::headroom(lu);
        let info = T::getrf(lu, n, n, pivots);
        if info == 0 {
            scale::columns(x, n, n, exponents);
            T::getrs(lu, n, pivots, x, k);
            scale::solutions(x, n, of_a, exponents);
            scale::upper(lu, n, -of_a);
        }
        info
    })
}

/// Solves least squares problems of m equations, n unknowns and k right-hand sides, by QR.
pub fn gels<T: Float>(lists: &Lists<'_>, m: usize, n: usize, k: usize) -> Result<()> {
    let rows = m.max(n);
    let cost = cube(m, n).saturating_add(cube(rows, k));
    lists.each::<T, 3>(cost, T::gels_bytes(rows, m.min(n), k), &|[a, tau, b], exponents, scratch| {
        let of_a = T::headroom(a);
        scale::columns(b, rows, m, exponents);
        let info = match m >= n {
            true => T::gels(a, m, n, tau, b, k, scratch),
            false => T::gels_least_norm(a, n, m, tau, b, k, scratch),
        };
        scale::solutions(b, rows, of_a, exponents);
        scale::upper(a, rows, -of_a);
        info
    })
}

/// Solves the same least squares problems by singular values.
pub fn gelsd<T: Float>(lists: &Lists<'_>, [m, n, k]: [usize; 3], rcond: f64) -> Result<()> {
    let (p, limit) = (m.min(n), tolerance(rcond, T::DTYPE, m, n));
    // A matrix without rows or columns has no singular values, and its other size may be huge.
    let bytes = if p == 0 { 0 } else { T::gesvd_bytes(m, n, Vectors::Some) };
    lists.each::<T, 7>(cube(m, n).saturating_mul(8), bytes, &|[a, s, u, v, b, turned, x], integers, scratch| {
        let (rank, exponents) = integers.split_at_mut(1);
        // Both sides are scaled to be near 1 until the end. The greatest singular value may exceed the range, and still has to count.
        let of_a = T::lascl(a);
        scale::columns(b, m, m, exponents);
        let info = if p == 0 { 0 } else { T::gesvd(a, m, n, s, Some(u), Some(v), Vectors::Some, scratch) };
        if info == 0 {
            let least = limit * s.first().map_or(0.0, |&s| s.to_f64());
            let count = s.iter().take_while(|&&s| s.to_f64() > least).count();
            rank[0] = count as i32;
            Multiply { m: p, n: k, k: m, transposed: [true, false] }.run(turned, u, b);
            for column in turned.chunks_exact_mut(p.max(1)) {
                for (i, x) in column.iter_mut().enumerate() {
                    *x = if i < count { *x / s[i] } else { T::from_f64(0.0) };
                }
            }
            Multiply { m: n, n: k, k: p, transposed: [false, false] }.run(x, v, turned);
            scale::solutions(x, n, of_a, exponents);
            T::rescale(s, -of_a);
        }
        info
    })
}
