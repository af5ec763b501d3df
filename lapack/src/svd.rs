//! Singular values and vectors.
//!
//! A tall matrix is reduced to R by this crate's QR, and a wide matrix to R of its transpose. faer's QR is not used for this, because it
//! skips a column whose norm is below 16 epsilon times the number of rows, and singular values of this size would be lost.
//!
//! faer's divide and conquer is fast. For some clustered and graded matrices, faer returns wrong vectors, NaN, or values out of order.
//! Therefore random vectors check the result. If the check fails, and if only values are wanted, the iteration of [`bidiagonal`] is used
//! instead.

use crate::bidiagonal;
use crate::float::{Float, bytes, norm, rescale, stack, unit, view, view_mut};
use crate::qr::{geqrf, geqrf_bytes, ormqr, ormqr_bytes};
use crate::{Info, Scratch, Vectors};
use dyn_stack::{MemStack, StackReq};
use faer::diag::DiagMut;
use faer::linalg::householder::{
    apply_block_householder_sequence_on_the_left_in_place_scratch as apply_on_the_left_scratch,
    apply_block_householder_sequence_on_the_left_in_place_with_conj as apply_on_the_left,
};
use faer::linalg::matmul::matmul;
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::linalg::svd::bidiag::{bidiag_in_place, bidiag_in_place_scratch};
use faer::linalg::svd::{self, ComputeSvdVectors, SvdParams};
use faer::linalg::{temp_mat_scratch, temp_mat_uninit};
use faer::mat::AsMatMut;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Auto, Conj, MatMut, MatRef, Par, Spec};

/// The order below which a bidiagonal matrix is not divided further. faer decomposes the parts by QR iteration, whose errors grow with the
/// order: for parts of up to 127 rows they are ten times LAPACK's errors.
const LEAF: usize = 16;
/// The number of random vectors with which a decomposition is checked.
const PROBES: usize = 4;

fn wanted(vectors: Vectors) -> ComputeSvdVectors {
    match vectors {
        Vectors::No => ComputeSvdVectors::No,
        Vectors::Some => ComputeSvdVectors::Thin,
        Vectors::All => ComputeSvdVectors::Full,
    }
}

/// Parameters of faer's decomposition that disable its own QR.
fn params<T: Float>() -> Spec<SvdParams, T> {
    let auto = <SvdParams as Auto<T>>::auto();
    Spec::new(SvdParams { recursion_threshold: LEAF, qr_ratio_threshold: f64::INFINITY, ..auto })
}

/// Returns true if a QR decomposition first saves time.
fn is_tall(tall: usize, small: usize) -> bool {
    small > 0 && tall > small + small * 5 / 6
}

pub fn gesvd_bytes<T: Float>(m: usize, n: usize, vectors: Vectors) -> usize {
    let (tall, small) = (m.max(n), m.min(n));
    if !is_tall(tall, small) {
        return bytes(required::<T>(m, n, vectors));
    }
    let columns = if vectors == Vectors::All { tall } else { small };
    let factored = geqrf_bytes::<T>(tall, small).max(ormqr_bytes::<T>(tall, columns, small, true));
    let upper = StackReq::all_of(&[StackReq::new::<T>(small * small), required::<T>(small, small, vectors)]);
    let turned = StackReq::new::<T>(if m < n { m * n } else { 0 });
    bytes(StackReq::all_of(&[turned, StackReq::new::<T>(small), StackReq::any_of(&[StackReq::new::<u8>(factored), upper])]))
}

/// The scratch memory of [`square`] for m x n, m >= n.
fn required<T: Float>(m: usize, n: usize, vectors: Vectors) -> StackReq {
    let divided = svd::svd_scratch::<T>(m, n, wanted(vectors), wanted(vectors), Par::Seq, params());
    let probes = StackReq::new::<T>(m * PROBES).array(3);
    let block = recommended_block_size::<T>(m, n);
    let turned = if vectors == Vectors::No { 0 } else { n * n };
    let apply = apply_on_the_left_scratch::<T>(m, block, if vectors == Vectors::All { m } else { n });
    let values = StackReq::all_of(&[StackReq::new::<f64>(n).array(2), StackReq::new::<T>(turned).array(2), apply]);
    let iterated = StackReq::all_of(&[
        temp_mat_scratch::<T>(m, n),
        temp_mat_scratch::<T>(block, n).array(2),
        StackReq::any_of(&[bidiag_in_place_scratch::<T>(m, n, Par::Seq, Default::default()), values]),
    ]);
    StackReq::any_of(&[divided, probes, iterated])
}

pub fn gesvd<T: Float>(
    a: &mut [T],
    m: usize,
    n: usize,
    s: &mut [T],
    u: Option<&mut [T]>,
    v: Option<&mut [T]>,
    vectors: Vectors,
    scratch: Scratch<'_>,
) -> Info {
    let exponent = match unit(a) {
        Ok(exponent) => exponent,
        Err(info) => return info,
    };
    let stack = stack(scratch);
    // U and V of a wide matrix are V and U of its transpose.
    let (wide, large, small) = (m < n, m.max(n), m.min(n));
    let (u, v) = if wide { (v, u) } else { (u, v) };
    let info = if !is_tall(large, small) {
        let of = if wide { view(a, m, n).transpose() } else { view(a, m, n) };
        let u = u.map(|u| view_mut(u, large, if vectors == Vectors::All { large } else { small }));
        square(of, s, u, v.map(|v| view_mut(v, small, small)), stack)
    } else if wide {
        let (mut turned, stack) = stack.make_with(m * n, |at| a[at / n + at % n * m]);
        tall(&mut turned, large, small, s, u, v, stack)
    } else {
        tall(a, large, small, s, u, v, stack)
    };
    rescale(s, -exponent);
    info
}

/// Decomposes an m x n matrix, m >= n, through its R.
fn tall<T: Float>(
    a: &mut [T],
    m: usize,
    n: usize,
    s: &mut [T],
    mut u: Option<&mut [T]>,
    v: Option<&mut [T]>,
    stack: &mut MemStack,
) -> Info {
    let columns = u.as_ref().map_or(0, |u| u.len() / m);
    let (mut tau, stack) = stack.make_with(n, |_| T::default());
    {
        let (scratch, _) = stack.make_uninit::<u8>(geqrf_bytes::<T>(m, n));
        geqrf(a, m, n, &mut tau, scratch);
    }
    let info = {
        let (r, stack) = stack.make_with(n * n, |at| if at % n <= at / n { a[at % n + at / n * m] } else { T::default() });
        let u = u.as_deref_mut().map(|u| view_mut(u, m, columns).get_mut(..n, ..n));
        square(view(&r, n, n), s, u, v.map(|v| view_mut(v, n, n)), stack)
    };
    if let Some(u) = u {
        for (j, column) in u.chunks_exact_mut(m).enumerate() {
            column[if j < n { n } else { 0 }..].fill(T::default());
            if j >= n {
                column[j] = T::ONE;
            }
        }
        let (scratch, _) = stack.make_uninit::<u8>(ormqr_bytes::<T>(m, columns, n, true));
        ormqr(u, m, columns, a, n, &tau, true, false, scratch);
    }
    info
}

/// Decomposes a nearly square matrix, m >= n, whose greatest element is about 1.
fn square<T: Float>(
    a: MatRef<'_, T>,
    s: &mut [T],
    mut u: Option<MatMut<'_, T>>,
    mut v: Option<MatMut<'_, T>>,
    stack: &mut MemStack,
) -> Info {
    if s.is_empty() {
        // If the matrix has no rows or no columns, the other factor is an identity.
        if let Some(u) = &mut u {
            u.fill(T::default());
            u.rb_mut().diagonal_mut().fill(T::ONE);
        }
        return 0;
    }
    if let (true, Some(u), Some(v)) = (s.len() >= LEAF, &mut u, &mut v) {
        let done = svd::svd(a, DiagMut::from_slice_mut(s), Some(u.rb_mut()), Some(v.rb_mut()), Par::Seq, stack, params());
        if done.is_ok() && is_right(a, s, u.as_ref(), v.as_ref(), stack) {
            return 0;
        }
    }
    // The reduction makes NaN from subnormal rows. Elements below `negligible` are far below the rounding errors of the greatest element.
    let negligible = T::LEAST.root() / T::EPS;
    match [T::default(), negligible].into_iter().any(|least| iterated(a, least, s, &mut u, &mut v, stack)) {
        true => 0,
        false => 1,
    }
}

/// Decomposes like [`square`], by QR iteration. Elements below `least` count as 0. Returns false if the iteration does not converge.
fn iterated<T: Float>(
    a: MatRef<'_, T>,
    least: T,
    s: &mut [T],
    u: &mut Option<MatMut<'_, T>>,
    v: &mut Option<MatMut<'_, T>>,
    stack: &mut MemStack,
) -> bool {
    let (m, n) = (a.nrows(), a.ncols());
    let block = recommended_block_size::<T>(m, n);
    // SAFETY: these floats are written before they are read.
    let (mut reduced, stack) = unsafe { temp_mat_uninit::<T, _, _>(m, n, stack) };
    // SAFETY: these floats are written before they are read.
    let (mut left, stack) = unsafe { temp_mat_uninit::<T, _, _>(block, n, stack) };
    // SAFETY: these floats are written before they are read.
    let (mut right, stack) = unsafe { temp_mat_uninit::<T, _, _>(block, n - 1, stack) };
    let (mut reduced, mut left, mut right) = (reduced.as_mat_mut(), left.as_mat_mut(), right.as_mat_mut());
    for j in 0..n {
        for i in 0..m {
            reduced[(i, j)] = if a[(i, j)].magnitude() < least { T::default() } else { a[(i, j)] };
        }
    }
    bidiag_in_place(reduced.rb_mut(), left.rb_mut(), right.rb_mut(), Par::Seq, stack, Default::default());
    let reduced = reduced.rb();
    let (mut d, stack) = stack.make_with(n, |i| reduced[(i, i)].to_f64());
    let (mut e, stack) = stack.make_with(n - 1, |i| reduced[(i, i + 1)].to_f64());
    if !d.iter().chain(e.iter()).all(|x| x.is_finite()) {
        return false;
    }
    let one = |at: usize| if at.is_multiple_of(n + 1) { T::ONE } else { T::default() };
    let (mut x, stack) = stack.make_with(if u.is_some() { n * n } else { 0 }, one);
    let (mut y, stack) = stack.make_with(if v.is_some() { n * n } else { 0 }, one);
    if !bidiagonal::singular(&mut d, &mut e, u.is_some().then_some(&mut *x), v.is_some().then_some(&mut *y)) {
        return false;
    }
    s.iter_mut().zip(d.iter()).for_each(|(s, &d)| *s = T::of(d));
    if let Some(u) = u {
        u.fill(T::default());
        u.rb_mut().get_mut(..n, ..n).copy_from(view(&x, n, n));
        (n..u.ncols()).for_each(|j| u[(j, j)] = T::ONE);
        apply_on_the_left(reduced, left.rb(), Conj::No, u.rb_mut(), Par::Seq, stack);
    }
    if let Some(v) = v {
        v.copy_from(view(&y, n, n));
        let reflectors = reduced.get(..n - 1, 1..).transpose();
        apply_on_the_left(reflectors, right.rb(), Conj::No, v.rb_mut().get_mut(1.., ..), Par::Seq, stack);
    }
    true
}

/// Checks with random vectors that the singular values descend, that the columns of U and V are orthonormal, and that U diag(s) V' is A.
///
/// For a matrix E of errors and a vector x of random signs, the mean of the squared norm of E x is the squared Frobenius norm of E. The
/// bound is 4 epsilon times the root of the order, relative to the Frobenius norm of A, U or V. Errors of a stable decomposition that
/// accumulate randomly stay below a quarter of this bound; LAPACK's tests allow 30 epsilon times the order.
fn is_right<T: Float>(a: MatRef<'_, T>, s: &[T], u: MatRef<'_, T>, v: MatRef<'_, T>, stack: &mut MemStack) -> bool {
    let (m, n) = (a.nrows(), a.ncols());
    if !s[0].finite() || !s.windows(2).all(|pair| pair[0] >= pair[1]) {
        return false;
    }
    let mut state = 1u64;
    let (x, stack) = stack.make_with(m * PROBES, |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if state >> 63 == 0 { T::ONE } else { -T::ONE }
    });
    let (mut y, stack) = stack.make_with(m * PROBES, |_| T::default());
    let (mut z, _) = stack.make_with(m * PROBES, |_| T::default());
    let bound = T::of(4.0) * T::EPS * T::of(m as f64).root();
    // The errors U diag(s) V' x - A x.
    let (x, mut y, mut z) = (view(&x, m, PROBES), view_mut(&mut y, m, PROBES), view_mut(&mut z, m, PROBES));
    let mut turned = y.rb_mut().get_mut(..n, ..);
    matmul(turned.rb_mut(), Accum::Replace, v.transpose(), x.get(..n, ..), T::ONE, Par::Seq);
    for j in 0..PROBES {
        (0..n).for_each(|i| turned[(i, j)] *= s[i]);
    }
    matmul(z.rb_mut(), Accum::Replace, u.get(.., ..n), turned.rb(), T::ONE, Par::Seq);
    matmul(z.rb_mut(), Accum::Add, a, x.get(..n, ..), -T::ONE, Par::Seq);
    let short = |errors: MatRef<'_, T>, bound: T| (0..PROBES).all(|j| errors.col(j).norm_l2() <= bound);
    let mut right = short(z.rb(), bound * norm(s));
    // The errors Q' Q x - x.
    for q in [u, v] {
        let (rows, columns) = (q.nrows(), q.ncols());
        let x = x.get(..columns, ..);
        let (mut y, mut z) = (y.rb_mut().get_mut(..rows, ..), z.rb_mut().get_mut(..columns, ..));
        matmul(y.rb_mut(), Accum::Replace, q, x, T::ONE, Par::Seq);
        z.copy_from(x);
        matmul(z.rb_mut(), Accum::Add, q.transpose(), y.rb(), -T::ONE, Par::Seq);
        right &= short(z.rb(), bound * T::of(columns as f64).root());
    }
    right
}
