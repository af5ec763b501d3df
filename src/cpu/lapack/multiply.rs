//! Products of matrices in memory, within decompositions and as separate steps.

use crate::cpu::matmul::{Gemm, Mat, gemm};
use crate::dtype::Element;
use thorn_lapack::Matrix;

/// The product that decompositions call.
pub(super) unsafe fn product<T: Gemm>(beta: T, c: Matrix<T>, alpha: T, a: Matrix<T>, b: Matrix<T>) {
    let mat = |m: Matrix<T>| Mat { data: m.data, rows: m.rows, cols: m.cols, row_stride: m.row_stride, col_stride: m.col_stride };
    // SAFETY: the caller keeps this function's contract.
    unsafe { gemm(beta, mat(c), alpha, mat(a), mat(b)) }
}

/// A product of column-major matrices.
pub(super) struct Multiply {
    /// The number of rows of the result.
    pub m: usize,
    /// The number of columns of the result.
    pub n: usize,
    /// The number of products that are summed for each element of the result.
    pub k: usize,
    /// True for each factor that is transposed. The first is then k x m, the second n x k.
    pub transposed: [bool; 2],
}

impl Multiply {
    /// `c = a b`, m x n.
    pub(super) fn run<T: Gemm + Element>(&self, c: &mut [T], a: &[T], b: &[T]) {
        let &Multiply { m, n, k, transposed } = self;
        assert!(c.len() >= m * n && a.len() >= m * k && b.len() >= k * n, "the matrices are there");
        let mat = |data: *const T, rows: usize, cols: usize, transposed: bool| {
            let (row_stride, col_stride) = if transposed { (cols as isize, 1) } else { (1, rows as isize) };
            Mat { data: data.cast_mut(), rows, cols, row_stride, col_stride }
        };
        let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
        // SAFETY: the slices hold the matrices, and the first is borrowed exclusively.
        unsafe {
            gemm(zero, mat(c.as_mut_ptr(), m, n, false), one, mat(a.as_ptr(), m, k, transposed[0]), mat(b.as_ptr(), k, n, transposed[1]))
        }
    }
}
