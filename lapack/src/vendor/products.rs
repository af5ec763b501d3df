//! Products computed by the library, for matrices one of whose strides is 1.

use super::Routines;
use crate::Matrix;
use std::ffi::c_char;

/// A matrix in BLAS's form: contiguous columns at a distance of `ld`, or the transpose of such a matrix.
struct Columns<T> {
    data: *mut T,
    ld: i64,
    transposed: bool,
}

impl<T> Columns<T> {
    /// Converts a matrix. `None` if no stride is 1, or if the other stride is too short.
    fn of(m: &Matrix<T>) -> Option<Columns<T>> {
        let columns = |transposed: bool, length: usize, count: usize, step: isize, ld: isize| {
            let least = length.max(1) as isize;
            // If there is one column, the distance between columns has no meaning.
            let ld = if count <= 1 { least } else { ld };
            ((step == 1 || length <= 1) && ld >= least).then_some(Columns { data: m.data, ld: ld as i64, transposed })
        };
        columns(false, m.rows, m.cols, m.row_stride, m.col_stride).or_else(|| columns(true, m.cols, m.rows, m.col_stride, m.row_stride))
    }

    fn letter(&self) -> *const c_char {
        if self.transposed { c"T".as_ptr() } else { c"N".as_ptr() }
    }
}

/// `c = beta * c + alpha * a @ b` if the library can use the matrices without a copy. Returns true if it did.
///
/// # Safety
/// The matrices exist. `c` has the rows of `a` and the columns of `b`; `a` has as many columns as `b` has rows. No other thread accesses
/// `c`.
pub unsafe fn gemm<T>(r: &Routines<T>, beta: &T, c: &Matrix<T>, alpha: &T, a: &Matrix<T>, b: &Matrix<T>) -> bool {
    let (Some(routine), Some(to)) = (r.gemm, Columns::of(c)) else { return false };
    if to.transposed {
        let (c, a, b) = (c.transposed(), b.transposed(), a.transposed());
        // SAFETY: the caller vouches for the matrices, and this is the same product transposed.
        return unsafe { gemm(r, beta, &c, alpha, &a, &b) };
    }
    let (Some(left), Some(right)) = (Columns::of(a), Columns::of(b)) else { return false };
    let sizes = [c.rows, c.cols, a.cols];
    if sizes.contains(&0) || !r.holds(&sizes) || !r.holds(&[to.ld as usize, left.ld as usize, right.ld as usize]) {
        return false;
    }
    let sizes = sizes.map(|size| size as i64);
    // SAFETY: the caller vouches for the matrices. Leading dimensions are at least as long as columns.
    unsafe {
        routine(
            left.letter(),
            right.letter(),
            &raw const sizes[0],
            &raw const sizes[1],
            &raw const sizes[2],
            alpha,
            left.data,
            &raw const left.ld,
            right.data,
            &raw const right.ld,
            beta,
            to.data,
            &raw const to.ld,
            1,
            1,
        );
    }
    true
}

/// `y = beta * y + alpha * a @ x` for strided vectors. Returns true if the library computed it.
///
/// # Safety
/// The same as for [`gemm`]. `y` has an element for each row of `a`, and `x` for each column.
pub unsafe fn gemv<T: Copy + PartialEq + Default>(
    r: &Routines<T>,
    beta: T,
    y: (*mut T, isize),
    alpha: T,
    a: &Matrix<T>,
    x: (*const T, isize),
) -> bool {
    let (Some(routine), Some(matrix)) = (r.gemv, Columns::of(a)) else { return false };
    let steps = [x.1, y.1];
    if a.rows == 0 || a.cols == 0 || steps.iter().any(|&step| step <= 0) {
        return false;
    }
    let (m, n) = if matrix.transposed { (a.cols, a.rows) } else { (a.rows, a.cols) };
    if !r.holds(&[m, n, matrix.ld as usize, steps[0] as usize, steps[1] as usize]) {
        return false;
    }
    if beta == T::default() {
        // Old elements are set to 0 first, because some libraries multiply them by `beta` = 0, which keeps a NaN.
        // SAFETY: the caller vouches for `y`.
        (0..a.rows as isize).for_each(|i| unsafe { y.0.wrapping_offset(i.wrapping_mul(y.1)).write(beta) });
    }
    let sizes = [m, n].map(|size| size as i64);
    let steps = steps.map(|step| step as i64);
    // SAFETY: the caller vouches for the matrix and the vectors.
    unsafe {
        routine(
            matrix.letter(),
            &raw const sizes[0],
            &raw const sizes[1],
            &raw const alpha,
            matrix.data,
            &raw const matrix.ld,
            x.0,
            &raw const steps[0],
            &raw const beta,
            y.0,
            &raw const steps[1],
            1,
        );
    }
    true
}
