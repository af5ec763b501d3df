//! Eigenvalues of symmetric and general matrices.

use crate::float::{Float, bytes, dot, fast, greatest, norm, rescale, scale, stack, unit, view, view_mut};
use crate::francis;
use crate::schur::{self, Schur};
use crate::{Info, NOT_FINITE, Scratch};
use dyn_stack::{MemStack, StackReq};
use faer::diag::DiagMut;
use faer::linalg::evd::hessenberg::hessenberg_in_place;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::householder::apply_block_householder_sequence_on_the_right_in_place_with_conj as apply_on_the_right;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::qr::no_pivoting::factor::recommended_block_size;
use faer::linalg::{temp_mat_uninit, temp_mat_zeroed};
use faer::mat::{AsMatMut, AsMatRef};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Conj, MatRef, Par};

fn wanted(vectors: bool) -> ComputeEigenvectors {
    if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

pub fn syev_bytes<T: Float>(n: usize, vectors: bool) -> usize {
    bytes(evd::self_adjoint_evd_scratch::<T>(n, wanted(vectors), Par::Seq, Default::default()))
}

pub fn syev<T: Float>(a: &mut [T], n: usize, w: &mut [T], z: Option<&mut [T]>, scratch: Scratch<'_>) -> Info {
    // The upper triangle may contain anything and is ignored.
    (1..n).for_each(|j| a[j * n..j * n + j].fill(T::default()));
    // faer's divide and conquer uses absolute thresholds that suit matrices of norm 1.
    let exponent = match unit(a) {
        Ok(exponent) => exponent,
        Err(info) => return info,
    };
    let z = z.map(|z| view_mut(z, n, n));
    match evd::self_adjoint_evd(view(a, n, n), DiagMut::from_slice_mut(w), z, Par::Seq, stack(scratch), Default::default()) {
        Ok(()) => {
            rescale(w, -exponent);
            0
        }
        Err(_) => 1,
    }
}

pub fn geev_bytes<T: Float>(n: usize, vectors: bool) -> usize {
    let (balanced, sums) = (StackReq::new::<T>(n), StackReq::new::<T>(n));
    bytes(balanced.and(sums).and(evd::evd_scratch::<T>(n, ComputeEigenvectors::No, wanted(vectors), Par::Seq, Default::default())))
}

pub fn geev<T: Float>(a: &mut [T], n: usize, re: &mut [T], im: &mut [T], v: Option<&mut [T]>, scratch: Scratch<'_>) -> Info {
    let exponent = match scale(a) {
        Ok(exponent) => exponent,
        Err(info) => return info,
    };
    let (mut scales, scratch) = stack(scratch).make_with(n, |_| T::ONE);
    let (mut sums, scratch) = scratch.make_with(n, |_| T::default());
    fast(
        #[inline(always)]
        || balance(a, n, &mut scales),
    );
    let mut v = v;
    let way = if francis::suits(n, v.is_some()) { small } else { large };
    if !way(a, n, re, im, v.as_deref_mut(), &mut sums, scratch) {
        return 1;
    }
    if !re.iter().chain(im.iter()).all(|x| x.finite()) {
        return NOT_FINITE.abs();
    }
    if let Some(v) = v {
        v.chunks_exact_mut(n.max(1)).for_each(|column| column.iter_mut().zip(scales.iter()).for_each(|(x, &scale)| *x *= scale));
        normalize(v, n, im);
    }
    unscale(re, im, exponent);
    0
}

/// Removes the power of 2 by which the matrix was multiplied from its eigenvalues.
pub fn unscale<T: Float>(re: &mut [T], im: &mut [T], exponent: i32) {
    rescale(re, -exponent);
    for x in im.iter_mut().filter(|x| **x != T::default()) {
        // A complex pair has two columns of vectors. It stays a pair even if its imaginary part underflows.
        let sign = *x;
        rescale(std::slice::from_mut(x), -exponent);
        *x = if *x == T::default() { (T::LEAST * T::EPS).with_sign(sign) } else { *x };
    }
}

/// Computes eigenvalues and eigenvectors from faer's Schur form. Returns false if there is no convergence.
///
/// faer does not export the Schur form. `evd_real` computes it with many shifts at once, by `schur::real_schur::multishift_qr`. That
/// function is in a private module and has 2000 lines with the functions that it calls. For matrices that `francis::suits` does not accept,
/// it is faster than [`francis`]. Therefore the Schur form is read from where `evd_real` leaves it: from the first two matrices that it
/// allocates in the scratch memory. Cargo.toml pins the version of faer that was examined for this, and a test in thorn's
/// `src/cpu/lapack/values.rs` fails if the order of allocation changes.
fn large<T: Float>(
    a: &mut [T],
    n: usize,
    re: &mut [T],
    im: &mut [T],
    mut v: Option<&mut [T]>,
    sums: &mut [T],
    stack: &mut MemStack,
) -> bool {
    let (values, imaginary) = (DiagMut::from_slice_mut(&mut *re), DiagMut::from_slice_mut(&mut *im));
    let vectors = v.as_deref_mut().map(|v| {
        // Both matrices are zeroed, because faer might leave elements unwritten that are read below.
        let (_t, stack) = temp_mat_zeroed::<T, _, _>(n, n, stack);
        let (_z, _) = temp_mat_zeroed::<T, _, _>(n, n, stack);
        view_mut(v, n, n)
    });
    if evd::evd_real(view(a, n, n), values, imaginary, None, vectors, Par::Seq, stack, Default::default()).is_err() {
        return false;
    }
    let Some(v) = v else { return true };
    // faer also writes eigenvectors to `v`, which are not used: see [`Schur`]. It left the Schur form and the Schur vectors in the memory
    // that it allocated first.
    // SAFETY: the memory was zeroed before faer wrote to it, and any bits are a float.
    let (mut t, stack) = unsafe { temp_mat_uninit::<T, _, _>(n, n, stack) };
    // SAFETY: the same holds for the second matrix.
    let (mut z, stack) = unsafe { temp_mat_uninit::<T, _, _>(n, n, stack) };
    if !schur::is_form(t.as_mat_ref()) {
        return false;
    }
    schur::standardize(t.as_mat_mut(), z.as_mat_mut(), re, im);
    vectors_of(t.as_mat_ref(), z.as_mat_ref(), v, sums, stack);
    true
}

/// Computes eigenvalues and eigenvectors of a small matrix, by the Schur form of [`francis`].
fn small<T: Float>(h: &mut [T], n: usize, re: &mut [T], im: &mut [T], v: Option<&mut [T]>, sums: &mut [T], stack: &mut MemStack) -> bool {
    let (mut z, stack) = stack.make_with(if v.is_some() { n * n } else { 0 }, |at| if at % (n + 1) == 0 { T::ONE } else { T::default() });
    if n > 2 {
        let width = recommended_block_size::<T>(n - 1, n - 1);
        // SAFETY: the reduction writes these floats before it reads them.
        let (mut factors, stack) = unsafe { temp_mat_uninit::<T, _, _>(width, n - 1, stack) };
        let mut factors = factors.as_mat_mut();
        hessenberg_in_place(view_mut(h, n, n), factors.rb_mut(), Par::Seq, stack, Default::default());
        if v.is_some() {
            let reflectors = view(h, n, n).get(1.., ..n - 1);
            apply_on_the_right(reflectors, factors.rb(), Conj::No, view_mut(&mut z, n, n).get_mut(1.., 1..), Par::Seq, stack);
        }
    }
    (0..n).for_each(|j| h[j * n + (j + 2).min(n)..(j + 1) * n].fill(T::default()));
    let turned = v.is_some().then_some(&mut z[..]);
    let done = fast(
        #[inline(always)]
        || francis::schur(h, n, turned, re, im),
    );
    if let (true, Some(v)) = (done, v) {
        vectors_of(view(h, n, n), view(&z, n, n), v, sums, stack);
    }
    done
}

/// The eigenvectors for a Schur form in standard form and its vectors.
fn vectors_of<T: Float>(t: MatRef<'_, T>, z: MatRef<'_, T>, v: &mut [T], sums: &mut [T], stack: &mut MemStack) {
    let n = t.nrows();
    // SAFETY: these floats are written before they are read.
    let (mut x, _) = unsafe { temp_mat_uninit::<T, _, _>(n, n, stack) };
    let mut x = x.as_mat_mut();
    Schur::new(t, sums).vectors(x.rb_mut());
    let (all, upper) = (BlockStructure::Rectangular, BlockStructure::TriangularUpper);
    triangular::matmul(view_mut(v, n, n), all, Accum::Replace, z, all, x.rb(), upper, T::ONE, Par::Seq);
}

/// Makes the norms of rows and columns similar: `a = inverse(D) a D` for a diagonal D of powers of 2, by which `scales` is multiplied.
///
/// The norms include the diagonal, although scaling does not change it. If the diagonal is most of a row, balancing the rest would magnify
/// rounding errors by D.
#[inline(always)]
fn balance<T: Float>(a: &mut [T], n: usize, scales: &mut [T]) {
    let (two, limit) = (T::of(2.0), T::of(0.95));
    for _ in 0..20 {
        let mut done = true;
        for i in 0..n {
            // Squares do not overflow, because the matrix was scaled.
            let (above, below) = a[i * n..(i + 1) * n].split_at(i);
            let column = dot(above, above) + dot(&below[1..], &below[1..]);
            let (left, right) = ((0..i).map(|j| i + j * n), (i + 1..n).map(|j| i + j * n));
            let row = left.chain(right).fold(T::default(), |sum, at| sum + a[at] * a[at]);
            if column == T::default() || row == T::default() {
                continue;
            }
            let diagonal = a[i + i * n] * a[i + i * n];
            let (column, row) = ((column + diagonal).root(), (row + diagonal).root());
            let (mut factor, mut scaled, most) = (T::ONE, column, T::LARGE);
            let mut row_scaled = row;
            while scaled < row_scaled / two && factor < most {
                factor *= two;
                scaled *= two;
                row_scaled /= two;
            }
            while scaled >= row_scaled * two && factor > T::ONE / most {
                factor /= two;
                scaled /= two;
                row_scaled *= two;
            }
            let total = scales[i] * factor;
            if scaled + row_scaled >= limit * (column + row) || total > most || total < T::ONE / most {
                continue;
            }
            done = false;
            scales[i] = total;
            for j in 0..n {
                a[i + j * n] /= factor;
            }
            for j in 0..n {
                a[j + i * n] *= factor;
            }
        }
        if done {
            return;
        }
    }
}

/// Scales each vector to norm 1. A complex vector is multiplied so that its greatest element is real.
fn normalize<T: Float>(v: &mut [T], n: usize, im: &[T]) {
    let mut j = 0;
    while j < n {
        if im[j] == T::default() {
            let column = &mut v[j * n..(j + 1) * n];
            let length = norm(column);
            if length > T::default() {
                column.iter_mut().for_each(|x| *x /= length);
            }
            j += 1;
            continue;
        }
        let (x, y) = v[j * n..(j + 2).min(n) * n].split_at_mut(n);
        let most = greatest(x).length(greatest(y));
        if most > T::default() {
            x.iter_mut().chain(y.iter_mut()).for_each(|x| *x /= most);
            let length = norm(x).length(norm(y));
            let place = (0..n).fold(0, |best, i| if x[i].length(y[i]) > x[best].length(y[best]) { i } else { best });
            let size = x[place].length(y[place]);
            let (cos, sin) = (x[place] / size, y[place] / size);
            for i in 0..n {
                let (re, imaginary) = (x[i] / length, y[i] / length);
                x[i] = re * cos + imaginary * sin;
                y[i] = imaginary * cos - re * sin;
            }
            y[place] = T::default();
        }
        j += 2;
    }
}
