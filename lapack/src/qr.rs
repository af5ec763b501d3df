//! QR by Householder reflectors in LAPACK's packed form, and least squares.
//!
//! A block of reflectors is `I - V T V'` with a triangular T, which is computed from the vectors and tau when it is needed.

use crate::float::{Float, axpy, bytes, dot, fast, greatest, norm, rescale, view, view_mut};
use crate::lu::column;
use crate::{Info, Lapack, Scratch};
use dyn_stack::{MemStack, StackReq};
use faer::linalg::matmul::matmul;
use faer::linalg::{temp_mat_scratch, temp_mat_uninit, temp_mat_zeroed};
use faer::mat::AsMatMut;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par};

/// The number of reflectors in a block, for a matrix with k reflectors.
fn width(k: usize) -> usize {
    if k <= 16 { k.max(1) } else { 32.min(k) }
}

pub fn geqrf_bytes<T: Float>(m: usize, n: usize) -> usize {
    ormqr_bytes::<T>(m, n, m.min(n), true)
}

pub fn geqrf<T: Float>(a: &mut [T], m: usize, n: usize, tau: &mut [T], scratch: Scratch<'_>) {
    let (size, stack) = (m.min(n), MemStack::new(scratch));
    let block = width(size);
    let mut a = view_mut(a, m, n);
    for start in (0..size).step_by(block) {
        let end = size.min(start + block);
        let (panel, rest) = a.rb_mut().get_mut(start.., start..).split_at_col_mut(end - start);
        let mut panel = panel;
        fast(
            #[inline(always)]
            || reflect(panel.rb_mut(), &mut tau[start..end]),
        );
        apply(panel.rb(), &tau[start..end], true, rest, stack);
    }
}

/// Factors a panel column by column.
#[inline(always)]
fn reflect<T: Float>(mut a: MatMut<'_, T>, tau: &mut [T]) {
    for k in 0..tau.len() {
        let (mut left, mut right) = a.rb_mut().split_at_col_mut(k + 1);
        let col = &mut column(left.rb_mut(), k)[k..];
        tau[k] = reflector(col);
        if tau[k] == T::default() {
            continue;
        }
        for j in 0..right.ncols() {
            let (head, other) = column(right.rb_mut(), j)[k..].split_at_mut(1);
            let sum = tau[k] * (head[0] + dot(&col[1..], other));
            head[0] -= sum;
            axpy(other, -sum, &col[1..]);
        }
    }
}

/// Replaces a column by its reflected first element, followed by the vector of the reflector. Returns tau. LAPACK's larfg.
#[inline(always)]
fn reflector<T: Float>(col: &mut [T]) -> T {
    let (head, tail) = col.split_at_mut(1);
    let below = norm(tail);
    if below == T::default() {
        return T::default();
    }
    let alpha = head[0];
    let beta = -alpha.length(below).with_sign(alpha);
    if beta.magnitude() < T::LEAST / T::EPS || !beta.finite() {
        return scaled_reflector(col);
    }
    let factor = T::ONE / (alpha - beta);
    tail.iter_mut().for_each(|x| *x *= factor);
    head[0] = beta;
    (beta - alpha) / beta
}

/// [`reflector`] for a column whose norm is too small to be exact, or too large. It scales the column by a power of 2.
#[cold]
#[inline(never)]
fn scaled_reflector<T: Float>(col: &mut [T]) -> T {
    let most = greatest(col);
    if !most.finite() {
        col.fill(T::of(f64::NAN));
        return T::of(f64::NAN);
    }
    let exponent = most.exponent() + 1;
    rescale(col, -exponent);
    let (head, tail) = col.split_at_mut(1);
    let alpha = head[0];
    let beta = -alpha.length(norm(tail)).with_sign(alpha);
    let divisor = alpha - beta;
    tail.iter_mut().for_each(|x| *x /= divisor);
    head[0] = beta;
    rescale(head, exponent);
    (beta - alpha) / beta
}

/// The scratch memory of [`apply`] for reflectors of m rows, in blocks for `k` reflectors, and a matrix of n columns.
fn apply_scratch<T: Float>(m: usize, n: usize, k: usize) -> StackReq {
    let block = width(k);
    StackReq::all_of(&[
        temp_mat_scratch::<T>(m, block),
        temp_mat_scratch::<T>(block, block),
        temp_mat_scratch::<T>(block, n),
        temp_mat_scratch::<T>(block, n),
    ])
}

/// `C = Q C`, or `Q' C` if `transposed`, where Q is the product of the reflectors below the diagonal of `v`.
fn apply<T: Float>(v: MatRef<'_, T>, tau: &[T], transposed: bool, mut c: MatMut<'_, T>, stack: &mut MemStack) {
    let (m, n, k) = (c.nrows(), c.ncols(), tau.len());
    if n == 0 || m == 0 || k == 0 {
        return;
    }
    let (mut full, stack) = temp_mat_zeroed::<T, _, _>(m, k, stack);
    let (mut t, stack) = temp_mat_zeroed::<T, _, _>(k, k, stack);
    // SAFETY: these floats are written before they are read.
    let (mut w, stack) = unsafe { temp_mat_uninit::<T, _, _>(k, n, stack) };
    // SAFETY: these floats are written before they are read.
    let (mut tw, _) = unsafe { temp_mat_uninit::<T, _, _>(k, n, stack) };
    let (mut full, mut t, mut w, mut tw) = (full.as_mat_mut(), t.as_mat_mut(), w.as_mat_mut(), tw.as_mat_mut());
    // V with explicit ones and zeros.
    for j in 0..k {
        full.rb_mut().col_mut(j).get_mut(j + 1..).copy_from(v.col(j).get(j + 1..));
        full[(j, j)] = T::ONE;
    }
    // Column j of T is -tau[j] T V' v_j above the diagonal, and tau[j] on it.
    let full = full.rb();
    matmul(t.rb_mut(), Accum::Replace, full.transpose(), full, T::ONE, Par::Seq);
    for j in 0..k {
        for i in 0..j {
            let sum = (i..j).fold(T::default(), |sum, l| sum + t[(i, l)] * t[(l, j)]);
            t[(i, j)] = -tau[j] * sum;
        }
        t[(j, j)] = tau[j];
        (j + 1..k).for_each(|i| t[(i, j)] = T::default());
    }
    matmul(w.rb_mut(), Accum::Replace, full.transpose(), c.rb(), T::ONE, Par::Seq);
    let t = if transposed { t.rb().transpose() } else { t.rb() };
    matmul(tw.rb_mut(), Accum::Replace, t, w.rb(), T::ONE, Par::Seq);
    matmul(c.rb_mut(), Accum::Add, full, tw.rb(), -T::ONE, Par::Seq);
}

pub fn orgqr_bytes<T: Float>(m: usize, n: usize, k: usize) -> usize {
    ormqr_bytes::<T>(m, n, k, true)
}

pub fn orgqr<T: Float>(q: &mut [T], m: usize, n: usize, a: &[T], k: usize, tau: &[T], scratch: Scratch<'_>) {
    let stack = MemStack::new(scratch);
    q.fill(T::default());
    (0..m.min(n)).for_each(|i| q[i + i * m] = T::ONE);
    let (mut q, a, block) = (view_mut(q, m, n), view(a, m, k), width(k));
    // Blocks are applied from the last one. Until then, the rows above and the columns to the left are the identity.
    for start in (0..k).step_by(block).rev() {
        let end = k.min(start + block);
        apply(a.get(start.., start..end), &tau[start..end], false, q.rb_mut().get_mut(start.., start..), stack);
    }
}

pub fn ormqr_bytes<T: Float>(m: usize, n: usize, k: usize, left: bool) -> usize {
    let (rows, cols) = if left { (m, n) } else { (n, m) };
    bytes(apply_scratch::<T>(rows, cols, k))
}

pub fn ormqr<T: Float>(c: &mut [T], m: usize, n: usize, a: &[T], k: usize, tau: &[T], left: bool, transposed: bool, scratch: Scratch<'_>) {
    let stack = MemStack::new(scratch);
    // C Q is the transpose of Q' C'.
    let c = view_mut(c, m, n);
    let (mut c, rows, transposed) = if left { (c, m, transposed) } else { (c.transpose_mut(), n, !transposed) };
    let (a, block) = (view(a, rows, k), width(k));
    let mut one = |start: usize| {
        let end = k.min(start + block);
        apply(a.get(start.., start..end), &tau[start..end], transposed, c.rb_mut().get_mut(start.., ..), stack);
    };
    match transposed {
        true => (0..k).step_by(block).for_each(&mut one),
        false => (0..k).step_by(block).rev().for_each(&mut one),
    }
}

pub fn gels_bytes<T: Float + Lapack>(m: usize, n: usize, k: usize) -> usize {
    T::geqrf_bytes(m, n).max(T::ormqr_bytes(m, k, m.min(n), true))
}

pub fn gels<T: Float + Lapack>(a: &mut [T], m: usize, n: usize, tau: &mut [T], b: &mut [T], k: usize, scratch: Scratch<'_>) -> Info {
    T::geqrf(a, m, n, tau, scratch);
    let zero = (0..n).find(|&i| a[i + i * m] == T::default());
    if zero.is_none() {
        T::ormqr(b, m, k, a, n, tau, true, true, scratch);
        let x = view_mut(b, m, k).get_mut(..n, ..);
        faer::linalg::triangular_solve::solve_upper_triangular_in_place(view(a, m, n).get(..n, ..), x, Par::Seq);
    }
    zero.map_or(0, |zero| zero as Info + 1)
}

pub fn least_norm<T: Float + Lapack>(a: &mut [T], n: usize, m: usize, tau: &mut [T], b: &mut [T], k: usize, scratch: Scratch<'_>) -> Info {
    (0..k).for_each(|j| b[j * n + m..(j + 1) * n].fill(T::default()));
    T::geqrf(a, n, m, tau, scratch);
    let zero = (0..m).find(|&i| a[i + i * n] == T::default());
    if zero.is_none() {
        let y = view_mut(b, n, k).get_mut(..m, ..);
        faer::linalg::triangular_solve::solve_lower_triangular_in_place(view(a, n, m).get(..m, ..).transpose(), y, Par::Seq);
        T::ormqr(b, n, k, a, m, tau, true, false, scratch);
    }
    zero.map_or(0, |zero| zero as Info + 1)
}
