//! Products and triangular systems of dense blocks, small and large.

use crate::float::fast;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve as solve;
use faer::{Accum, MatMut, MatRef, Par};

/// The number of multiplications from which a product is computed by the provided kernels.
const LARGE: usize = 4096;

/// A block of a column-major matrix: a slice that begins with its first element, and the distance between columns.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    pub elements: &'a [f64],
    pub stride: usize,
}

impl<'a> Block<'a> {
    fn column(&self, j: usize, rows: usize) -> &'a [f64] {
        &self.elements[j * self.stride..][..rows]
    }

    fn matrix(&self, rows: usize, columns: usize) -> MatRef<'a, f64> {
        MatRef::from_column_major_slice_with_stride(self.elements, rows, columns, self.stride)
    }
}

/// `R = L U` for L m x w and U w x n, in column-major order.
pub fn product(r: &mut [f64], l: Block<'_>, u: Block<'_>, [m, w, n]: [usize; 3]) {
    if m * w * n >= LARGE && w > 2 && n > 1 {
        let r = MatMut::from_column_major_slice_mut(&mut r[..m * n], m, n);
        return matmul(r, Accum::Replace, l.matrix(m, w), u.matrix(w, n), 1.0, Par::Seq);
    }
    fast(
        #[inline(always)]
        || {
            for (j, r) in r[..m * n].chunks_exact_mut(m).enumerate() {
                let u = u.column(j, w);
                let mut k = 0;
                if w % 2 == 1 {
                    r.iter_mut().zip(l.column(0, m)).for_each(|(r, &x)| *r = x * u[0]);
                    k = 1;
                } else {
                    r.fill(0.0);
                }
                while k < w {
                    let (a, b) = (l.column(k, m), l.column(k + 1, m));
                    r.iter_mut().zip(a.iter().zip(b)).for_each(|(r, (&a, &b))| *r += a * u[k] + b * u[k + 1]);
                    k += 2;
                }
            }
        },
    )
}

/// `B = inverse(L) B` for the triangle of L below the diagonal, with ones on the diagonal, and B w x n.
pub fn solve_lower(l: Block<'_>, b: &mut [f64], stride: usize, [w, n]: [usize; 2]) {
    if w * w * n >= LARGE && n > 1 {
        let b = MatMut::from_column_major_slice_with_stride_mut(b, w, n, stride);
        return solve::solve_unit_lower_triangular_in_place(l.matrix(w, w), b, Par::Seq);
    }
    for j in 0..n {
        let b = &mut b[j * stride..][..w];
        for k in 0..w {
            let (top, below) = b.split_at_mut(k + 1);
            let x = top[k];
            below.iter_mut().zip(&l.column(k, w)[k + 1..]).for_each(|(b, &l)| *b -= l * x);
        }
    }
}

/// `B = inverse(U) B` for the triangle of U on and above the diagonal, and B w x n.
pub fn solve_upper(u: Block<'_>, b: &mut [f64], stride: usize, [w, n]: [usize; 2]) {
    if w * w * n >= LARGE && n > 1 {
        let b = MatMut::from_column_major_slice_with_stride_mut(b, w, n, stride);
        return solve::solve_upper_triangular_in_place(u.matrix(w, w), b, Par::Seq);
    }
    for j in 0..n {
        let b = &mut b[j * stride..][..w];
        for k in (0..w).rev() {
            let column = u.column(k, k + 1);
            let x = b[k] / column[k];
            b[k] = x;
            b[..k].iter_mut().zip(column).for_each(|(b, &u)| *b -= u * x);
        }
    }
}
