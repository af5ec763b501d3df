//! LAPACK's drivers, called in the library with the meaning of [`crate::Lapack`]. If the library lacks a routine or cannot use the
//! arguments, this crate computes the result.
//!
//! Integers are passed as temporaries, which live until the routine returns.

use super::{Routine, Routines};
use crate::float::{Float, scale, stack};
use crate::{Info, NOT_FINITE, Scratch, Vectors, cholesky, eigen, lu, qr, svd};
use dyn_stack::{MemStack, StackReq};
use std::ffi::{CStr, c_char};

type R<T> = &'static Routines<T>;

/// The value that asks a routine for the size of its work array.
const ASK: i64 = -1;

fn int(size: usize) -> i64 {
    size as i64
}

fn letter(is: bool, yes: &'static CStr, no: &'static CStr) -> *const c_char {
    if is { yes.as_ptr() } else { no.as_ptr() }
}

impl<T> Routines<T> {
    /// The routine, if it exists and accepts matrices of these sizes. Sizes of 0 are not passed to the library.
    fn able<F>(&self, routine: Option<F>, sizes: &[usize]) -> Option<F> {
        routine.filter(|_| !sizes.contains(&0) && self.holds(sizes))
    }

    /// A copy of the pivots as 64-bit integers if the library has those, else an empty list. `None` if memory runs out.
    fn widened(&self, pivots: &[i32]) -> Option<Vec<i64>> {
        let mut wide = Vec::new();
        if self.wide {
            wide.try_reserve_exact(pivots.len()).ok()?;
            wide.extend(pivots.iter().map(|&pivot| i64::from(pivot)));
        }
        Some(wide)
    }

    /// The address of the pivots in the library's integer type.
    fn places(&self, pivots: &[i32], wide: &[i64]) -> *mut i64 {
        if self.wide { wide.as_ptr().cast_mut() } else { pivots.as_ptr().cast_mut().cast() }
    }
}

/// All scratch memory as a routine's work array: its address and its number of elements.
fn work<T: Float>(stack: &mut MemStack) -> (*mut T, usize) {
    let count = (stack.len_bytes() / size_of::<T>()).saturating_sub(1).min(i32::MAX as usize);
    (stack.make_uninit::<T>(count).0.as_mut_ptr().cast(), count)
}

/// The larger of two sizes in bytes: `own`, and the routine's work array of `asked` elements with `others`.
fn at_least<T: Float>(own: usize, others: StackReq, asked: T) -> usize {
    // A float32 may have been rounded down.
    let count = (asked.to_f64() * (1.0 + f64::from(f32::EPSILON))) as usize + 2;
    own.max(others.and(StackReq::new::<T>(count)).unaligned_bytes_required())
}

pub fn getrf<T: Float + Routine>(r: R<T>, a: &mut [T], m: usize, n: usize, pivots: &mut [i32]) -> Info {
    let own = &mut pivots[..m.min(n)];
    let (Some(getrf), Some(mut wide)) = (r.able(r.getrf, &[m, n]), r.widened(own)) else { return lu::getrf(a, m, n, own) };
    assert!(a.len() >= m * n, "the matrix is there");
    let places = if r.wide { wide.as_mut_ptr() } else { own.as_mut_ptr().cast() };
    let mut info = 0;
    // SAFETY: the matrix and the pivots have these sizes.
    unsafe { getrf(&int(m), &int(n), a.as_mut_ptr(), &int(m), places, &mut info) };
    own.iter_mut().zip(&wide).for_each(|(pivot, &wide)| *pivot = wide as i32);
    info as Info
}

pub fn getrs<T: Float + Routine>(r: R<T>, a: &[T], n: usize, pivots: &[i32], b: &mut [T], k: usize) {
    let (Some(getrs), Some(wide)) = (r.able(r.getrs, &[n, k]), r.widened(pivots)) else { return lu::getrs(a, n, pivots, b, k) };
    assert!(a.len() >= n * n && b.len() >= n * k && pivots.len() >= n, "the matrices are there");
    let (places, mut info) = (r.places(pivots, &wide), 0);
    // SAFETY: the matrices and the pivots have these sizes.
    unsafe { getrs(c"N".as_ptr(), &int(n), &int(k), a.as_ptr(), &int(n), places, b.as_mut_ptr(), &int(n), &mut info, 1) };
}

pub fn getri_bytes<T: Float + Routine>(r: R<T>, n: usize) -> usize {
    let own = lu::getri_bytes::<T>(n);
    let Some(getri) = r.able(r.getri, &[n]) else { return own };
    let (mut asked, mut info) = (T::default(), 0);
    // SAFETY: the routine only returns the size of its work array.
    unsafe { getri(&int(n), &mut T::default(), &int(n), &0, &mut asked, &ASK, &mut info) };
    at_least(own, StackReq::EMPTY, asked)
}

pub fn getri<T: Float + Routine>(r: R<T>, inverse: &mut [T], a: &[T], n: usize, pivots: &[i32], scratch: Scratch<'_>) {
    let (memory, length) = work::<T>(stack(scratch));
    let (Some(getri), Some(wide), true) = (r.able(r.getri, &[n]), r.widened(pivots), length >= n) else {
        return lu::getri(inverse, a, n, pivots, scratch);
    };
    assert!(pivots.len() >= n, "the pivots are there");
    inverse[..n * n].copy_from_slice(&a[..n * n]);
    let mut info = 0;
    // SAFETY: the matrix, the pivots and the work have these sizes.
    unsafe { getri(&int(n), inverse.as_mut_ptr(), &int(n), r.places(pivots, &wide), memory, &int(length), &mut info) };
}

pub fn trtrs<T: Float + Routine>(r: R<T>, a: &[T], n: usize, b: &mut [T], k: usize, upper: bool, transposed: bool, unit: bool) -> Info {
    let Some(trtrs) = r.able(r.trtrs, &[n, k]) else { return lu::trtrs(a, n, b, k, upper, transposed, unit) };
    assert!(a.len() >= n * n && b.len() >= n * k, "the matrices are there");
    let (uplo, trans, diagonal) = (letter(upper, c"U", c"L"), letter(transposed, c"T", c"N"), letter(unit, c"U", c"N"));
    let mut info = 0;
    // SAFETY: the matrices have these sizes.
    unsafe { trtrs(uplo, trans, diagonal, &int(n), &int(k), a.as_ptr(), &int(n), b.as_mut_ptr(), &int(n), &mut info, 1, 1, 1) };
    info as Info
}

pub fn potrf<T: Float + Routine>(r: R<T>, a: &mut [T], n: usize, scratch: Scratch<'_>) -> Info {
    let Some(potrf) = r.able(r.potrf, &[n]) else { return cholesky::potrf(a, n, scratch) };
    assert!(a.len() >= n * n, "the matrix is there");
    let mut info = 0;
    // SAFETY: the matrix has this size.
    unsafe { potrf(c"L".as_ptr(), &int(n), a.as_mut_ptr(), &int(n), &mut info, 1) };
    cholesky::clear_upper(a, n);
    info as Info
}

pub fn potrs<T: Float + Routine>(r: R<T>, l: &[T], n: usize, b: &mut [T], k: usize) -> Info {
    // LAPACK's routine does not check for zeros on the diagonal.
    let singular = (0..n).any(|i| l[i + i * n] == T::default());
    let (Some(potrs), false) = (r.able(r.potrs, &[n, k]), singular) else { return cholesky::potrs(l, n, b, k) };
    assert!(l.len() >= n * n && b.len() >= n * k, "the matrices are there");
    let mut info = 0;
    // SAFETY: the matrices have these sizes.
    unsafe { potrs(c"L".as_ptr(), &int(n), &int(k), l.as_ptr(), &int(n), b.as_mut_ptr(), &int(n), &mut info, 1) };
    info as Info
}

pub fn potri<T: Float + Routine>(r: R<T>, inverse: &mut [T], l: &[T], n: usize, scratch: Scratch<'_>) -> Info {
    let Some(potri) = r.able(r.potri, &[n]) else { return cholesky::potri(inverse, l, n, scratch) };
    inverse[..n * n].copy_from_slice(&l[..n * n]);
    let mut info = 0;
    // SAFETY: the matrix has this size.
    unsafe { potri(c"L".as_ptr(), &int(n), inverse.as_mut_ptr(), &int(n), &mut info, 1) };
    cholesky::mirror(inverse, n);
    info as Info
}

/// The scratch memory of `pstrf`: pivots, and two numbers for each column.
fn pstrf_work<T: Float>(n: usize) -> StackReq {
    StackReq::new::<i64>(n).and(StackReq::new::<T>(2 * n))
}

pub fn pstrf_bytes<T: Float + Routine>(_: R<T>, n: usize) -> usize {
    cholesky::pstrf_bytes::<T>(n).max(pstrf_work::<T>(n).unaligned_bytes_required())
}

pub fn pstrf<T: Float + Routine>(r: R<T>, a: &mut [T], n: usize, pivots: &mut [i32], tol: f64, scratch: Scratch<'_>) -> Option<usize> {
    let memory = stack(scratch);
    let (Some(pstrf), true) = (r.able(r.pstrf, &[n]), memory.can_hold(pstrf_work::<T>(n))) else {
        return cholesky::pstrf(a, n, pivots, tol, scratch);
    };
    let positive = |i: usize| Some(a[i + i * n].to_f64()).filter(|&x| x >= 0.0);
    let most = (0..n).try_fold(0.0, |most: f64, i| positive(i).map(|x| most.max(x)))?;
    let (mut places, memory) = memory.make_with(n, |_| 0_i64);
    let (mut work, _) = memory.make_with(2 * n, |_| T::default());
    let least = T::of(tol.max(n as f64 * T::EPS.to_f64() * most));
    let (mut rank, mut info) = (0, 0);
    let (at, work) = (places.as_mut_ptr(), work.as_mut_ptr());
    // SAFETY: the matrix, the pivots and the work have these sizes.
    unsafe { pstrf(c"L".as_ptr(), &int(n), a.as_mut_ptr(), &int(n), at, &mut rank, &least, work, &mut info, 1) };
    for (i, pivot) in pivots.iter_mut().enumerate() {
        // 32-bit pivots are stored in pairs.
        *pivot = if r.wide { places[i] as i32 } else { (places[i / 2] >> (32 * (i % 2))) as i32 };
    }
    let rank = rank as usize;
    cholesky::clear_upper(a, n);
    a[rank * n..].fill(T::default());
    Some(rank)
}

pub fn geqrf_bytes<T: Float + Routine>(r: R<T>, m: usize, n: usize) -> usize {
    let own = qr::geqrf_bytes::<T>(m, n);
    let Some(geqrf) = r.able(r.geqrf, &[m, n]) else { return own };
    let (mut asked, mut info) = (T::default(), 0);
    // SAFETY: the routine only returns the size of its work array.
    unsafe { geqrf(&int(m), &int(n), &mut T::default(), &int(m), &mut T::default(), &mut asked, &ASK, &mut info) };
    at_least(own, StackReq::EMPTY, asked)
}

pub fn geqrf<T: Float + Routine>(r: R<T>, a: &mut [T], m: usize, n: usize, tau: &mut [T], scratch: Scratch<'_>) {
    let (memory, length) = work::<T>(stack(scratch));
    let (Some(geqrf), true) = (r.able(r.geqrf, &[m, n]), length >= n) else { return qr::geqrf(a, m, n, tau, scratch) };
    assert!(a.len() >= m * n && tau.len() >= m.min(n), "the matrix is there");
    let mut info = 0;
    // SAFETY: the matrix, tau and the work have these sizes.
    unsafe { geqrf(&int(m), &int(n), a.as_mut_ptr(), &int(m), tau.as_mut_ptr(), memory, &int(length), &mut info) };
}

/// Returns true if LAPACK's routine supports these sizes: at least as many columns as reflectors, at most as many as rows.
fn generates(m: usize, n: usize, k: usize) -> bool {
    m >= n && n >= k
}

pub fn orgqr_bytes<T: Float + Routine>(r: R<T>, m: usize, n: usize, k: usize) -> usize {
    let own = qr::orgqr_bytes::<T>(m, n, k);
    let (Some(orgqr), true) = (r.able(r.orgqr, &[m, n, k]), generates(m, n, k)) else { return own };
    let (mut asked, mut info) = (T::default(), 0);
    // SAFETY: the routine only returns the size of its work array.
    unsafe { orgqr(&int(m), &int(n), &int(k), &mut T::default(), &int(m), &T::default(), &mut asked, &ASK, &mut info) };
    at_least(own, StackReq::EMPTY, asked)
}

pub fn orgqr<T: Float + Routine>(r: R<T>, q: &mut [T], m: usize, n: usize, a: &[T], k: usize, tau: &[T], scratch: Scratch<'_>) {
    let (memory, length) = work::<T>(stack(scratch));
    let (Some(orgqr), true) = (r.able(r.orgqr, &[m, n, k]), generates(m, n, k) && length >= n) else {
        return qr::orgqr(q, m, n, a, k, tau, scratch);
    };
    assert!(q.len() >= m * n && tau.len() >= k, "the matrix is there");
    q[..m * k].copy_from_slice(&a[..m * k]);
    let mut info = 0;
    // SAFETY: the matrix, tau and the work have these sizes.
    unsafe { orgqr(&int(m), &int(n), &int(k), q.as_mut_ptr(), &int(m), tau.as_ptr(), memory, &int(length), &mut info) };
}

pub fn ormqr_bytes<T: Float + Routine>(r: R<T>, m: usize, n: usize, k: usize, left: bool) -> usize {
    let (own, rows) = (qr::ormqr_bytes::<T>(m, n, k, left), if left { m } else { n });
    let (Some(ormqr), true) = (r.able(r.ormqr, &[m, n, k]), k <= rows) else { return own };
    let (side, trans, a, mut c) = (letter(left, c"L", c"R"), c"N".as_ptr(), T::default(), T::default());
    let (mut asked, mut info) = (T::default(), 0);
    // SAFETY: the routine only returns the size of its work array.
    unsafe { ormqr(side, trans, &int(m), &int(n), &int(k), &a, &int(rows), &a, &mut c, &int(m), &mut asked, &ASK, &mut info, 1, 1) };
    at_least(own, StackReq::new::<T>(rows * k), asked)
}

pub fn ormqr<T: Float + Routine>(
    r: R<T>,
    c: &mut [T],
    m: usize,
    n: usize,
    a: &[T],
    k: usize,
    tau: &[T],
    left: bool,
    transposed: bool,
    scratch: Scratch<'_>,
) {
    let ((rows, other), memory) = (if left { (m, n) } else { (n, m) }, stack(scratch));
    let enough = memory.can_hold(StackReq::new::<T>(rows * k).and(StackReq::new::<T>(other + 1)));
    let (Some(ormqr), true) = (r.able(r.ormqr, &[m, n, k]), k <= rows && enough) else {
        return qr::ormqr(c, m, n, a, k, tau, left, transposed, scratch);
    };
    assert!(c.len() >= m * n && tau.len() >= k, "the matrices are there");
    // LAPACK gets a copy, because it temporarily writes ones to the diagonal.
    let (mut vectors, memory) = memory.make_with(rows * k, |i| a[i]);
    let (memory, length) = work::<T>(memory);
    let (side, trans, a, c) = (letter(left, c"L", c"R"), letter(transposed, c"T", c"N"), vectors.as_mut_ptr(), c.as_mut_ptr());
    let (tau, mut info) = (tau.as_ptr(), 0);
    // SAFETY: the matrices, tau and the work have these sizes.
    unsafe { ormqr(side, trans, &int(m), &int(n), &int(k), a, &int(rows), tau, c, &int(m), memory, &int(length), &mut info, 1, 1) };
}

/// The smallest scratch memory of `syevd`: the numbers of elements and of integers.
fn syevd_least(n: usize, vectors: bool) -> [usize; 2] {
    match (n, vectors) {
        (0 | 1, _) => [1, 1],
        (_, false) => [2 * n + 1, 1],
        (_, true) => [1 + 6 * n + 2 * n * n, 3 + 5 * n],
    }
}

pub fn syev_bytes<T: Float + Routine>(r: R<T>, n: usize, vectors: bool) -> usize {
    let (own, [_, integers]) = (eigen::syev_bytes::<T>(n, vectors), syevd_least(n, vectors));
    let Some(syevd) = r.able(r.syevd, &[n]) else { return own };
    let (jobz, uplo, a, w) = (letter(vectors, c"V", c"N"), c"L".as_ptr(), &mut T::default(), &mut T::default());
    let (mut asked, mut info) = (T::default(), 0);
    // SAFETY: the routine only returns the size of its work array.
    unsafe { syevd(jobz, uplo, &int(n), a, &int(n), w, &mut asked, &ASK, &mut 0, &ASK, &mut info, 1, 1) };
    at_least(own, StackReq::new::<i64>(integers), asked)
}

pub fn syev<T: Float + Routine>(r: R<T>, a: &mut [T], n: usize, w: &mut [T], z: Option<&mut [T]>, scratch: Scratch<'_>) -> Info {
    let (memory, [elements, integers]) = (stack(scratch), syevd_least(n, z.is_some()));
    let enough = memory.can_hold(StackReq::new::<i64>(integers).and(StackReq::new::<T>(elements + 1)));
    let (Some(syevd), true) = (r.able(r.syevd, &[n]), enough) else { return eigen::syev(a, n, w, z, scratch) };
    assert!(a.len() >= n * n && w.len() >= n, "the matrix is there");
    (1..n).for_each(|j| a[j * n..j * n + j].fill(T::default()));
    if !a.iter().all(|x| x.finite()) {
        return NOT_FINITE;
    }
    let (mut iwork, memory) = memory.make_with(integers, |_| 0_i64);
    let (memory, length) = work::<T>(memory);
    let (jobz, uplo, at, mut info) = (letter(z.is_some(), c"V", c"N"), c"L".as_ptr(), a.as_mut_ptr(), 0);
    let (iwork, liwork, w) = (iwork.as_mut_ptr(), int(integers), w.as_mut_ptr());
    // SAFETY: the matrix, the values and the work have these sizes.
    unsafe { syevd(jobz, uplo, &int(n), at, &int(n), w, memory, &int(length), iwork, &liwork, &mut info, 1, 1) };
    if let Some(z) = z {
        z[..n * n].copy_from_slice(&a[..n * n]);
    }
    info as Info
}

pub fn geev_bytes<T: Float + Routine>(r: R<T>, n: usize, vectors: bool) -> usize {
    let own = eigen::geev_bytes::<T>(n, vectors);
    let Some(geev) = r.able(r.geev, &[n]) else { return own };
    let (left, right, mut x) = (c"N".as_ptr(), letter(vectors, c"V", c"N"), [T::default(); 5]);
    let ([a, re, im, vl, vr], mut asked, mut info) = (x.each_mut(), T::default(), 0);
    // SAFETY: the routine only returns the size of its work array.
    unsafe { geev(left, right, &int(n), a, &int(n), re, im, vl, &int(n), vr, &int(n), &mut asked, &ASK, &mut info, 1, 1) };
    at_least(own, StackReq::EMPTY, asked)
}

pub fn geev<T: Float + Routine>(
    r: R<T>,
    a: &mut [T],
    n: usize,
    re: &mut [T],
    im: &mut [T],
    v: Option<&mut [T]>,
    scratch: Scratch<'_>,
) -> Info {
    let (memory, length) = work::<T>(stack(scratch));
    let (Some(geev), true) = (r.able(r.geev, &[n]), length >= 4 * n) else { return eigen::geev(a, n, re, im, v, scratch) };
    assert!(a.len() >= n * n && re.len() >= n && im.len() >= n && v.as_ref().is_none_or(|v| v.len() >= n * n), "the matrix is there");
    let exponent = match scale(a) {
        Ok(exponent) => exponent,
        Err(info) => return info,
    };
    let (left, right, mut none, mut info) = (c"N".as_ptr(), letter(v.is_some(), c"V", c"N"), T::default(), 0);
    let vr = v.map_or(&raw mut none, |v| v.as_mut_ptr());
    let (a, wr, wi, mut other) = (a.as_mut_ptr(), re.as_mut_ptr(), im.as_mut_ptr(), T::default());
    // SAFETY: the matrices, the values and the work have these sizes.
    unsafe { geev(left, right, &int(n), a, &int(n), wr, wi, &mut other, &int(n), vr, &int(n), memory, &int(length), &mut info, 1, 1) };
    eigen::unscale(re, im, exponent);
    info as Info
}

/// The numbers of columns of U and of rows of V' for m x n.
fn sides(m: usize, n: usize, vectors: Vectors) -> [usize; 2] {
    if vectors == Vectors::All { [m, n] } else { [m.min(n); 2] }
}

fn job(vectors: Vectors) -> *const c_char {
    match vectors {
        Vectors::No => c"N".as_ptr(),
        Vectors::Some => c"S".as_ptr(),
        Vectors::All => c"A".as_ptr(),
    }
}

/// The scratch memory for V' as the library writes it, and for integers.
fn gesdd_others<T: Float>(m: usize, n: usize, vectors: Vectors) -> StackReq {
    let turned = if vectors == Vectors::No { 1 } else { sides(m, n, vectors)[1] * n };
    StackReq::new::<T>(turned).and(StackReq::new::<i64>(8 * m.min(n)))
}

pub fn gesvd_bytes<T: Float + Routine>(r: R<T>, m: usize, n: usize, vectors: Vectors) -> usize {
    let own = svd::gesvd_bytes::<T>(m, n, vectors);
    let (Some(gesdd), [_, rows]) = (r.able(r.gesdd, &[m, n]), sides(m, n, vectors)) else { return own };
    let (jobz, mut x, mut asked, mut info) = (job(vectors), [T::default(); 4], T::default(), 0);
    let [a, s, u, vt] = x.each_mut();
    // SAFETY: the routine only returns the size of its work array.
    unsafe { gesdd(jobz, &int(m), &int(n), a, &int(m), s, u, &int(m), vt, &int(rows), &mut asked, &ASK, &mut 0, &mut info, 1) };
    at_least(own, gesdd_others::<T>(m, n, vectors), asked)
}

pub fn gesvd<T: Float + Routine>(
    r: R<T>,
    a: &mut [T],
    m: usize,
    n: usize,
    s: &mut [T],
    u: Option<&mut [T]>,
    v: Option<&mut [T]>,
    vectors: Vectors,
    scratch: Scratch<'_>,
) -> Info {
    let (memory, small, [cols, rows]) = (stack(scratch), m.min(n), sides(m, n, vectors));
    // The size from LAPACK's manual, rounded up.
    let least = 5 * small * small + 14 * small + m.max(n);
    let enough = memory.can_hold(gesdd_others::<T>(m, n, vectors).and(StackReq::new::<T>(least + 1)));
    let wanted = vectors != Vectors::No;
    let (Some(gesdd), true) = (r.able(r.gesdd, &[m, n]), enough && u.is_some() == wanted && v.is_some() == wanted) else {
        return svd::gesvd(a, m, n, s, u, v, vectors, scratch);
    };
    assert!(a.len() >= m * n && s.len() >= small && u.as_ref().is_none_or(|u| u.len() >= m * cols), "the matrix is there");
    if !a.iter().all(|x| x.finite()) {
        return NOT_FINITE;
    }
    let (mut turned, memory) = memory.make_with(if wanted { rows * n } else { 1 }, |_| T::default());
    let (mut integers, memory) = memory.make_with(8 * small, |_| 0_i64);
    let ((memory, length), mut none, mut info) = (work::<T>(memory), T::default(), 0);
    let (left, vt, iwork) = (u.map_or(&raw mut none, |u| u.as_mut_ptr()), turned.as_mut_ptr(), integers.as_mut_ptr());
    let (jobz, a, s) = (job(vectors), a.as_mut_ptr(), s.as_mut_ptr());
    // SAFETY: the matrices, the values and the work have these sizes.
    unsafe {
        gesdd(jobz, &int(m), &int(n), a, &int(m), s, left, &int(m), vt, &int(rows), memory, &int(length), iwork, &mut info, 1);
    }
    if let Some(v) = v {
        (0..rows).for_each(|j| (0..n).for_each(|i| v[i + j * n] = turned[j + i * rows]));
    }
    info as Info
}
