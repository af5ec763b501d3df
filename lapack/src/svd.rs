//! Singular values.

use crate::float::{Float, bytes, rescale, scale, stack, view, view_mut};
use crate::{Info, Scratch, Vectors};
use faer::diag::DiagMut;
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::{MatMut, Par};

fn wanted(vectors: Vectors) -> ComputeSvdVectors {
    match vectors {
        Vectors::No => ComputeSvdVectors::No,
        Vectors::Some => ComputeSvdVectors::Thin,
        Vectors::All => ComputeSvdVectors::Full,
    }
}

pub fn gesvd_bytes<T: Float>(m: usize, n: usize, vectors: Vectors) -> usize {
    bytes(svd::svd_scratch::<T>(m, n, wanted(vectors), wanted(vectors), Par::Seq, Default::default()))
}

fn zeros<T: Float>(x: &mut [T], m: usize, n: usize) -> MatMut<'_, T> {
    x.fill(T::default());
    view_mut(x, m, n)
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
    let exponent = match scale(a) {
        Ok(exponent) => exponent,
        Err(info) => return info,
    };
    let columns = |rows: usize| if vectors == Vectors::All { rows } else { m.min(n) };
    // faer completes what is zeros.
    let u = u.map(|u| zeros(u, m, columns(m)));
    let v = v.map(|v| zeros(v, n, columns(n)));
    match svd::svd(view(a, m, n), DiagMut::from_slice_mut(s), u, v, Par::Seq, stack(scratch), Default::default()) {
        Ok(()) => {
            rescale(s, -exponent);
            0
        }
        Err(_) => 1,
    }
}
