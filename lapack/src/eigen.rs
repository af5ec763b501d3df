//! Eigenvalues: of symmetric matrices, and of any.

use crate::float::{Float, bytes, dot, fast, greatest, norm, scale, stack, view, view_mut};
use crate::schur::Schur;
use crate::{Info, NOT_FINITE, Scratch};
use dyn_stack::{MemStack, StackReq};
use faer::diag::DiagMut;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::{temp_mat_uninit, temp_mat_zeroed};
use faer::mat::{AsMatMut, AsMatRef};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Par};

fn wanted(vectors: bool) -> ComputeEigenvectors {
    if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

pub fn syev_bytes<T: Float>(n: usize, vectors: bool) -> usize {
    bytes(evd::self_adjoint_evd_scratch::<T>(n, wanted(vectors), Par::Seq, Default::default()))
}

pub fn syev<T: Float>(a: &mut [T], n: usize, w: &mut [T], z: Option<&mut [T]>, scratch: Scratch<'_>) -> Info {
    // The upper triangle is not looked at, whatever stands there.
    (1..n).for_each(|j| a[j * n..j * n + j].fill(T::default()));
    let factor = match scale(a) {
        Ok(factor) => factor,
        Err(info) => return info,
    };
    let z = z.map(|z| view_mut(z, n, n));
    match evd::self_adjoint_evd(view(a, n, n), DiagMut::from_slice_mut(w), z, Par::Seq, stack(scratch), Default::default()) {
        Ok(()) => {
            w.iter_mut().for_each(|w| *w /= factor);
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
    let factor = match scale(a) {
        Ok(factor) => factor,
        Err(info) => return info,
    };
    let (mut scales, scratch) = stack(scratch).make_with(n, |_| T::ONE);
    let (mut sums, scratch) = scratch.make_with(n, |_| T::default());
    fast(
        #[inline(always)]
        || balance(a, n, &mut scales),
    );
    let (values, imaginary) = (DiagMut::from_slice_mut(re), DiagMut::from_slice_mut(im));
    let mut v = v;
    let vectors = v.as_deref_mut().map(|v| {
        clear::<T>(n, scratch);
        view_mut(v, n, n)
    });
    if evd::evd_real(view(a, n, n), values, imaginary, None, vectors, Par::Seq, scratch, Default::default()).is_err() {
        return 1;
    }
    if !re.iter().chain(im.iter()).all(|x| x.finite()) {
        return NOT_FINITE.abs();
    }
    if let Some(v) = v {
        if !vectors_from_schur(v, n, &mut sums, scratch) {
            return 1;
        }
        v.chunks_exact_mut(n.max(1)).for_each(|column| column.iter_mut().zip(scales.iter()).for_each(|(x, &scale)| *x *= scale));
        normalize(v, n, im);
    }
    re.iter_mut().chain(im).for_each(|x| *x /= factor);
    0
}

/// Makes zeros of what [`vectors_from_schur`] reads.
fn clear<T: Float>(n: usize, stack: &mut MemStack) {
    let (_t, stack) = temp_mat_zeroed::<T, _, _>(n, n, stack);
    let (_z, _) = temp_mat_zeroed::<T, _, _>(n, n, stack);
}

/// The eigenvectors, of Schur's form and vectors, which faer has left in `stack`: they are the first it takes memory for. It has eigenvectors of its
/// own in `v`, but see [`Schur`]. False if the form is none: there was no convergence.
fn vectors_from_schur<T: Float>(v: &mut [T], n: usize, sums: &mut [T], stack: &mut MemStack) -> bool {
    // SAFETY: the memory of t and z was zeros before faer wrote there, that of x is filled before it is read; any bits are a float.
    let (t, stack) = unsafe { temp_mat_uninit::<T, _, _>(n, n, stack) };
    // SAFETY: as above.
    let (z, stack) = unsafe { temp_mat_uninit::<T, _, _>(n, n, stack) };
    // SAFETY: as above.
    let (mut x, _) = unsafe { temp_mat_uninit::<T, _, _>(n, n, stack) };
    let (t, z, mut x) = (t.as_mat_ref(), z.as_mat_ref(), x.as_mat_mut());
    let Some(schur) = Schur::new(t, sums) else { return false };
    schur.vectors(x.rb_mut());
    let (all, upper) = (BlockStructure::Rectangular, BlockStructure::TriangularUpper);
    triangular::matmul(view_mut(v, n, n), all, Accum::Replace, z, all, x.rb(), upper, T::ONE, Par::Seq);
    true
}

/// Makes rows and columns alike in norm, by powers of 2: `a = inverse(D) a D` for a diagonal D, which is multiplied to `scales`.
///
/// The diagonal counts, though scaling leaves it alone: where it is most of a row, making the rest alike would magnify rounding errors by D.
#[inline(always)]
fn balance<T: Float>(a: &mut [T], n: usize, scales: &mut [T]) {
    let (two, limit) = (T::of(2.0), T::of(0.95));
    for _ in 0..20 {
        let mut done = true;
        for i in 0..n {
            // No square overflows: the matrix was scaled.
            let column = &a[i * n..(i + 1) * n];
            let column = dot(column, column).root();
            let row = a.iter().skip(i).step_by(n).fold(T::default(), |sum, &x| sum + x * x).root();
            if column == T::default() || row == T::default() {
                continue;
            }
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

/// Gives each vector the norm 1, and of pairs the greatest element the imaginary part 0.
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
