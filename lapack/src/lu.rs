//! LU factors with partial pivoting, triangular systems, and inverses.

use crate::float::{Float, axpy, bytes, fast, stack, view, view_mut};
use crate::{Info, Scratch};
use dyn_stack::StackReq;
use faer::linalg::lu::partial_pivoting::inverse;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve as solve;
use faer::perm::PermRef;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, Par};

/// The largest number of columns that are eliminated one by one.
const NARROW: usize = 8;
/// The largest order whose inverse is computed by solving for the identity.
const SMALL: usize = 32;

pub fn getrf<T: Float>(a: &mut [T], m: usize, n: usize, pivots: &mut [i32]) -> Info {
    let size = m.min(n);
    if size > 0 {
        factor(view_mut(a, m, n), &mut pivots[..size], T::ONE);
    }
    (0..size).find(|&k| a[k + k * m] == T::default()).map_or(0, |k| k as Info + 1)
}

/// Factors the left half, updates the right half, and factors that. A diagonal element is the pivot if its magnitude is at least `share`
/// times the greatest one of the column.
pub fn factor<T: Float>(mut a: MatMut<'_, T>, pivots: &mut [i32], share: T) {
    let size = pivots.len();
    if a.nrows() <= NARROW && a.ncols() <= NARROW {
        return fast(
            #[inline(always)]
            || eliminate_small(a, pivots, share),
        );
    }
    if size <= NARROW {
        return fast(
            #[inline(always)]
            || eliminate(a, pivots, share),
        );
    }
    let half = (size / 2).next_multiple_of(NARROW).min(size - 1);
    let (left, right) = pivots.split_at_mut(half);
    factor(a.rb_mut().get_mut(.., ..half), left, share);
    exchange(a.rb_mut().get_mut(.., half..), left);
    let (a00, mut a01, a10, mut a11) = a.rb_mut().split_at_mut(half, half);
    solve::solve_unit_lower_triangular_in_place(a00.rb(), a01.rb_mut(), Par::Seq);
    matmul(a11.rb_mut(), Accum::Add, a10.rb(), a01.rb(), -T::ONE, Par::Seq);
    factor(a11, right, share);
    exchange(a10, right);
    right.iter_mut().for_each(|pivot| *pivot += half as i32);
}

/// Exchanges rows by the pivots.
fn exchange<T: Float>(a: MatMut<'_, T>, pivots: &[i32]) {
    for col in a.col_iter_mut() {
        let col = col.try_as_col_major_mut().expect("columns are contiguous").as_slice_mut();
        pivots.iter().enumerate().for_each(|(i, &pivot)| col.swap(i, pivot as usize - 1));
    }
}

/// Eliminates one column after the other. A column of zeros is unchanged.
#[inline(always)]
fn eliminate<T: Float>(mut a: MatMut<'_, T>, pivots: &mut [i32], share: T) {
    let n = a.ncols();
    for k in 0..pivots.len() {
        let (mut left, mut right) = a.rb_mut().split_at_col_mut(k + 1);
        let col = column(left.rb_mut(), k);
        let row = pivot_row(col, k, share);
        pivots[k] = row as i32 + 1;
        let pivot = col[row];
        for j in 0..if row == k { 0 } else { k + 1 } {
            column(left.rb_mut(), j).swap(k, row);
        }
        let below = &mut column(left.rb_mut(), k)[k + 1..];
        if pivot != T::default() {
            // The inverse of a subnormal pivot may overflow.
            if pivot.magnitude() >= T::LEAST {
                let inverse = T::ONE / pivot;
                below.iter_mut().for_each(|x| *x *= inverse);
            } else {
                below.iter_mut().for_each(|x| *x /= pivot);
            }
        }
        for j in 0..n - k - 1 {
            let other = column(right.rb_mut(), j);
            other.swap(k, row);
            let factor = other[k];
            if factor != T::default() {
                axpy(&mut other[k + 1..], -factor, below);
            }
        }
    }
}

/// [`eliminate`] for at most [`NARROW`] rows and columns, by rows of constant length. A row is exchanged and updated as a whole, because a
/// vector of which a part was just stored takes long to load.
#[inline(always)]
fn eliminate_small<T: Float>(mut a: MatMut<'_, T>, pivots: &mut [i32], share: T) {
    let (m, n) = (a.nrows(), a.ncols());
    let mut rows = [[T::default(); NARROW]; NARROW];
    for j in 0..n {
        column(a.rb_mut(), j).iter().zip(&mut rows).for_each(|(&x, row)| row[j] = x);
    }
    for k in 0..pivots.len() {
        let mut candidates = [T::default(); NARROW];
        for i in k..m {
            candidates[i] = rows[i][k];
        }
        let row = pivot_row(&candidates[..m], k, share);
        pivots[k] = row as i32 + 1;
        rows.swap(k, row);
        let pivot = candidates[row];
        if pivot == T::default() {
            continue;
        }
        // The elements to the right of the pivot. The other columns get updates of 0.
        let mut top = [T::default(); NARROW];
        for j in 0..NARROW {
            top[j] = if j > k { rows[k][j] } else { top[j] };
        }
        // The inverse of a subnormal pivot may overflow.
        let (inverse, is_normal) = (T::ONE / pivot, pivot.magnitude() >= T::LEAST);
        for row in &mut rows[k + 1..m] {
            let factor = if is_normal { row[k] * inverse } else { row[k] / pivot };
            if factor.finite() {
                (0..NARROW).for_each(|j| row[j] -= factor * top[j]);
            } else {
                (k + 1..n).filter(|&j| top[j] != T::default()).for_each(|j| row[j] -= factor * top[j]);
            }
            row[k] = factor;
        }
    }
    for j in 0..n {
        column(a.rb_mut(), j).iter_mut().zip(&rows).for_each(|(x, row)| *x = row[j]);
    }
}

/// Returns the row of the pivot of column `k`, whose elements are given.
#[inline(always)]
fn pivot_row<T: Float>(column: &[T], k: usize, share: T) -> usize {
    let mut row = k;
    for i in k..column.len() {
        if column[i].magnitude() > column[row].magnitude() {
            row = i;
        }
    }
    if share < T::ONE && column[k].magnitude() >= share * column[row].magnitude() { k } else { row }
}

/// Column j as a slice.
#[inline(always)]
pub fn column<T: Float>(a: MatMut<'_, T>, j: usize) -> &mut [T] {
    let (m, at) = (a.nrows(), a.col_mut(j).as_ptr_mut());
    // SAFETY: matrices here are column-major, so that the rows of a column are contiguous. The function takes the only view of the column.
    unsafe { std::slice::from_raw_parts_mut(at, m) }
}

pub fn getrs<T: Float>(lu: &[T], n: usize, pivots: &[i32], b: &mut [T], k: usize) {
    if n == 0 {
        return;
    }
    exchange(view_mut(b, n, k), pivots);
    solve::solve_unit_lower_triangular_in_place(view(lu, n, n), view_mut(b, n, k), Par::Seq);
    solve::solve_upper_triangular_in_place(view(lu, n, n), view_mut(b, n, k), Par::Seq);
}

pub fn getri_bytes<T: Float>(n: usize) -> usize {
    bytes(StackReq::new::<u32>(n).and(StackReq::new::<u32>(n)).and(inverse::inverse_scratch::<u32, T>(n, Par::Seq)))
}

pub fn getri<T: Float>(inverse: &mut [T], lu: &[T], n: usize, pivots: &[i32], scratch: Scratch<'_>) {
    if n <= SMALL {
        inverse.fill(T::default());
        (0..n).for_each(|i| inverse[i + i * n] = T::ONE);
        return getrs(lu, n, pivots, inverse, n);
    }
    let (mut rows, scratch) = stack(scratch).make_with(n, |i| i as u32);
    let (mut places, scratch) = scratch.make_with(n, |_| 0u32);
    pivots.iter().enumerate().for_each(|(i, &pivot)| rows.swap(i, pivot as usize - 1));
    rows.iter().enumerate().for_each(|(i, &row)| places[row as usize] = i as u32);
    let permutation = PermRef::new_checked(&rows, &places, n);
    inverse::inverse(view_mut(inverse, n, n), view(lu, n, n), view(lu, n, n), permutation, Par::Seq, scratch);
}

pub fn trtrs<T: Float>(a: &[T], n: usize, b: &mut [T], k: usize, upper: bool, transposed: bool, unit: bool) -> Info {
    if let Some(zero) = (0..n).find(|&i| !unit && a[i + i * n] == T::default()) {
        return zero as Info + 1;
    }
    let (a, b) = (view(a, n, n), view_mut(b, n, k));
    let a = if transposed { a.transpose() } else { a };
    match (upper != transposed, unit) {
        (true, false) => solve::solve_upper_triangular_in_place(a, b, Par::Seq),
        (true, true) => solve::solve_unit_upper_triangular_in_place(a, b, Par::Seq),
        (false, false) => solve::solve_lower_triangular_in_place(a, b, Par::Seq),
        (false, true) => solve::solve_unit_lower_triangular_in_place(a, b, Par::Seq),
    }
    0
}
