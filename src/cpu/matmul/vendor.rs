//! Products by the library that the host has chosen, or by ours.

use super::number::Number;
use super::{Gemm, Mat, gemm};
use thorn_lapack::Matrix;
use thorn_lapack::vendor::{self, Routines};

/// As [`gemm`], by the vendor's library where one is chosen that can take the matrices as they lie.
///
/// # Safety
/// As for [`gemm`].
#[inline]
pub unsafe fn gemm_by_vendor<T: Gemm>(beta: T, c: Mat<T>, alpha: T, a: Mat<T>, b: Mat<T>) {
    // SAFETY: the caller's.
    unsafe {
        let routines = vendor::current().and_then(|library| Some(T::ROUTINES?(library)));
        if !routines.is_some_and(|routines| product(routines, beta, c, alpha, a, b)) {
            gemm(beta, c, alpha, a, b)
        }
    }
}

/// Says whether the library has computed it.
///
/// # Safety
/// As for [`gemm`].
#[cold]
unsafe fn product<T: Number>(routines: &Routines<T>, beta: T, c: Mat<T>, alpha: T, a: Mat<T>, b: Mat<T>) -> bool {
    if alpha == T::ZERO || a.cols == 0 {
        return false;
    }
    let [c, a, b] = [c, a, b].map(matrix);
    // SAFETY: the caller's.
    unsafe {
        match (c.rows, c.cols) {
            (_, 1) => vendor::gemv(routines, beta, (c.data, c.row_stride), alpha, &a, (b.data, b.row_stride)),
            (1, _) => vendor::gemv(routines, beta, (c.data, c.col_stride), alpha, &b.transposed(), (a.data, a.col_stride)),
            _ => vendor::gemm(routines, &beta, &c, &alpha, &a, &b),
        }
    }
}

fn matrix<T>(m: Mat<T>) -> Matrix<T> {
    Matrix { data: m.data, rows: m.rows, cols: m.cols, row_stride: m.row_stride, col_stride: m.col_stride }
}
