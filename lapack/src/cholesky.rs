//! Cholesky factors, without and with pivoting.

use crate::float::{Float, bytes, rescale, stack, view, view_mut};
use crate::lu::trtrs;
use crate::{Info, Scratch};
use dyn_stack::StackReq;
use faer::Par;
use faer::linalg::cholesky::{llt, llt_pivoting};

/// Sets the elements above the diagonal to 0.
pub fn clear_upper<T: Float>(a: &mut [T], n: usize) {
    (1..n).for_each(|j| a[j * n..j * n + j].fill(T::default()));
}

pub fn potrf_bytes<T: Float>(n: usize) -> usize {
    bytes(llt::factor::cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default()))
}

pub fn potrf<T: Float>(a: &mut [T], n: usize, scratch: Scratch<'_>) -> Info {
    let done = llt::factor::cholesky_in_place(view_mut(a, n, n), Default::default(), Par::Seq, stack(scratch), Default::default());
    clear_upper(a, n);
    match done {
        Ok(_) => 0,
        Err(llt::factor::LltError::NonPositivePivot { index }) => index as Info + 1,
    }
}

pub fn potrs<T: Float>(l: &[T], n: usize, b: &mut [T], k: usize) -> Info {
    match trtrs(l, n, b, k, false, false, false) {
        0 => trtrs(l, n, b, k, false, true, false),
        info => info,
    }
}

pub fn potri_bytes<T: Float>(n: usize) -> usize {
    bytes(llt::inverse::inverse_scratch::<T>(n, Par::Seq))
}

pub fn potri<T: Float>(inverse: &mut [T], l: &[T], n: usize, scratch: Scratch<'_>) -> Info {
    if let Some(zero) = (0..n).find(|&i| l[i + i * n] == T::default()) {
        return zero as Info + 1;
    }
    llt::inverse::inverse(view_mut(inverse, n, n), view(l, n, n), Par::Seq, stack(scratch));
    mirror(inverse, n);
    0
}

/// Copies the lower triangle to the upper one.
pub fn mirror<T: Float>(a: &mut [T], n: usize) {
    for j in 1..n {
        (0..j).for_each(|i| a[i + j * n] = a[j + i * n]);
    }
}

pub fn pstrf_bytes<T: Float>(n: usize) -> usize {
    bytes(StackReq::new::<u32>(n).and(StackReq::new::<u32>(n)).and(llt_pivoting::factor::cholesky_in_place_scratch::<u32, T>(
        n,
        Par::Seq,
        Default::default(),
    )))
}

pub fn pstrf<T: Float>(a: &mut [T], n: usize, pivots: &mut [i32], tol: f64, scratch: Scratch<'_>) -> Option<usize> {
    // faer cannot factor a matrix whose diagonal is 0.
    if (0..n).all(|i| a[i + i * n] == T::default()) {
        pivots.iter_mut().enumerate().for_each(|(i, pivot)| *pivot = i as i32 + 1);
        a.fill(T::default());
        return Some(0);
    }
    // A matrix is scaled by an even power of 2 if the inverse or the square of its greatest diagonal element is not a normal number.
    let most = (0..n).fold(T::default(), |most, i| most.greater(a[i + i * n]));
    let scaled = most.finite() && most > T::default() && !(most < T::LARGE && most > T::ONE / T::LARGE);
    let half = if scaled { -most.exponent() / 2 } else { 0 };
    rescale(a, 2 * half);
    let (mut columns, scratch) = stack(scratch).make_with(n, |_| 0u32);
    let (mut places, scratch) = scratch.make_with(n, |_| 0u32);
    let done = llt_pivoting::factor::cholesky_in_place(view_mut(a, n, n), &mut columns, &mut places, Par::Seq, scratch, Default::default());
    let (info, _) = done.ok()?;
    rescale(a, -half);
    pivots.iter_mut().zip(columns.iter()).for_each(|(pivot, &column)| *pivot = column as i32 + 1);
    // faer also makes columns of zero pivots. A pivot that is not positive ends the factor, for any tolerance.
    let least = |k: usize| a[k + k * n].to_f64().powi(2);
    let rank = (0..info.rank).find(|&k| least(k) <= tol.max(0.0)).unwrap_or(info.rank);
    clear_upper(a, n);
    a[(rank * n).min(n * n)..].fill(T::default());
    Some(rank)
}
