//! Eigenvalues and singular values, and results that are computed from them.

use super::lists::{Float, Lists, cube};
use super::multiply::Multiply;
use crate::dtype::Dtype;
use crate::error::Result;
use thorn_lapack::Vectors;

/// Computes eigenvalues, and eigenvectors if wanted, of symmetric n x n matrices.
pub fn syev<T: Float>(lists: &Lists<'_>, n: usize, vectors: bool) -> Result<()> {
    lists.each::<T, 3>(cube(n, n).saturating_mul(4), T::syev_bytes(n, vectors), &|[a, w, z], _, scratch| {
        T::syev(a, n, w, vectors.then_some(z), scratch)
    })
}

/// Computes eigenvalues, and eigenvectors if wanted, of n x n matrices.
pub fn geev<T: Float>(lists: &Lists<'_>, n: usize, vectors: bool) -> Result<()> {
    lists.each::<T, 3>(cube(n, n).saturating_mul(16), T::geev_bytes(n, vectors), &|[a, parts, v], _, scratch| {
        let (real, imaginary) = parts.split_at_mut(n);
        T::geev(a, n, real, imaginary, vectors.then_some(v), scratch)
    })
}

/// Computes singular values, and vectors if wanted, of m x n matrices.
pub fn gesvd<T: Float>(lists: &Lists<'_>, m: usize, n: usize, vectors: Vectors) -> Result<()> {
    let wanted = vectors != Vectors::No;
    lists.each::<T, 4>(cube(m, n).saturating_mul(8), T::gesvd_bytes(m, n, vectors), &|[a, s, u, v], _, scratch| {
        T::gesvd(a, m, n, s, wanted.then_some(u), wanted.then_some(v), vectors, scratch)
    })
}

fn epsilon(dtype: Dtype) -> f64 {
    if dtype == Dtype::Float32 { f32::EPSILON.into() } else { f64::EPSILON }
}

/// Returns the fraction of the greatest singular value up to which others count as 0: `rcond`, or, if that is negative, the effect of
/// rounding.
pub fn tolerance(rcond: f64, dtype: Dtype, m: usize, n: usize) -> f64 {
    if rcond < 0.0 || rcond.is_nan() { epsilon(dtype) * m.max(n) as f64 } else { rcond }
}

/// Computes pseudoinverses of decomposed matrices.
pub fn pinverse<T: Float>(lists: &Lists<'_>, m: usize, n: usize, rcond: f64) -> Result<()> {
    let p = m.min(n);
    lists.each::<T, 4>(cube(m, n), 0, &|[u, s, v, inverse], exponent, _| {
        let least = tolerance(rcond, T::DTYPE, m, n) * s.first().map_or(0.0, |&s| s.to_f64());
        for (column, &s) in v.chunks_exact_mut(n.max(1)).zip(s.iter()) {
            column.iter_mut().for_each(|x| *x = if s.to_f64() > least { *x / s } else { T::from_f64(0.0) });
        }
        Multiply { m: n, n: m, k: p, transposed: [false, true] }.run(inverse, v, u);
        T::rescale(inverse, exponent[0]);
        0
    })
}

/// Counts the values of m x n matrices whose magnitude is greater than `tol`.
pub fn rank<T: Float>(lists: &Lists<'_>, m: usize, n: usize, tol: f64) -> Result<()> {
    lists.each::<T, 1>(m.min(n), 0, &|[values], rank, _| {
        let most = values.iter().fold(0.0, |most: f64, &x| most.max(x.to_f64().abs()));
        let least = if tol >= 0.0 { tol } else { most * epsilon(T::DTYPE) * m.max(n) as f64 };
        rank[0] = values.iter().filter(|x| x.to_f64().abs() > least).count() as i32;
        0
    })
}

#[cfg(test)]
mod tests {
    use super::super::multiply::product;
    use super::*;
    use std::mem::MaybeUninit;
    use thorn_lapack::{Products, provide};

    /// Returns the greatest element of `A V - V E` for eigenvalues E and vectors V of an n x n matrix of numbers up to 1.
    fn residual<T: Float>(n: usize) -> f64 {
        let mut state = 1u32;
        let matrix: Vec<T> = (0..n * n)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                T::from_f64(f64::from(state >> 8) / f64::from(1 << 23) - 1.0)
            })
            .collect();
        let zeros = |count: usize| vec![T::from_f64(0.0); count];
        let (mut a, mut re, mut im, mut v) = (matrix.clone(), zeros(n), zeros(n), zeros(n * n));
        let mut scratch = vec![MaybeUninit::<u8>::uninit(); T::geev_bytes(n, true)];
        assert_eq!(T::geev(&mut a, n, &mut re, &mut im, Some(&mut v), &mut scratch), 0, "eigenvalues are found");
        let (mut worst, mut j) = (0.0f64, 0);
        while j < n {
            // A real eigenvalue has one column. A pair has two: the real and the imaginary part.
            let pair = im[j].to_f64() != 0.0;
            let (e, f) = (re[j].to_f64(), im[j].to_f64());
            let of = |column: usize, i: usize| v[column * n + i].to_f64();
            for i in 0..n {
                let times = |column: usize| (0..n).map(|k| matrix[k * n + i].to_f64() * of(column, k)).sum::<f64>();
                let (x, y) = (of(j, i), if pair { of(j + 1, i) } else { 0.0 });
                worst = worst.max((times(j) - e * x + f * y).abs());
                if pair {
                    worst = worst.max((times(j + 1) - e * y - f * x).abs());
                }
            }
            j += if pair { 2 } else { 1 };
        }
        worst
    }

    /// For large matrices, faer computes eigenvectors in workspace that earlier steps have used.
    #[test]
    fn eigenvectors_belong_to_the_eigenvalues_of_large_matrices() {
        provide(Products { f32: product::<f32>, f64: product::<f64> });
        for n in [99, 100, 101, 160] {
            let (single, double) = (residual::<f32>(n), residual::<f64>(n));
            assert!(single < 1e-3 && double < 1e-11, "{n}: {single} {double}");
        }
    }
}
