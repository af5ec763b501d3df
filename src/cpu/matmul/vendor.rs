//! Products by the BLAS that the program has chosen, or by thorn's kernels.

use super::number::Number;
use super::{Gemm, Mat, gemm};
use thorn_lapack::Matrix;
use thorn_lapack::vendor::{self, Routines};

/// [`gemm`] by the chosen BLAS, if there is one and it accepts the layouts of the matrices; otherwise by thorn's kernels.
///
/// # Safety
/// As for [`gemm`].
#[inline]
pub unsafe fn gemm_by_vendor<T: Gemm>(beta: T, c: Mat<T>, alpha: T, a: Mat<T>, b: Mat<T>) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        let routines = vendor::current().and_then(|library| Some(T::ROUTINES?(library)));
        if !routines.is_some_and(|routines| product(routines, beta, c, alpha, a, b)) {
            gemm(beta, c, alpha, a, b)
        }
    }
}

/// Computes the product by the BLAS. Returns false if the BLAS does not accept the matrices.
///
/// # Safety
/// As for [`gemm`].
#[cold]
unsafe fn product<T: Number>(routines: &Routines<T>, beta: T, c: Mat<T>, alpha: T, a: Mat<T>, b: Mat<T>) -> bool {
    if alpha == T::ZERO || a.cols == 0 {
        return false;
    }
    let [c, a, b] = [c, a, b].map(matrix);
    // SAFETY: the caller keeps this function's contract.
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
