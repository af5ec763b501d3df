//! Products by the library: matrices one of whose strides is 1.

use super::Routines;
use crate::Matrix;
use std::ffi::c_char;

/// A matrix as BLAS has it: columns of contiguous elements, `ld` apart, or such a matrix transposed.
struct Columns<T> {
    data: *mut T,
    ld: i64,
    transposed: bool,
}

impl<T> Columns<T> {
    /// `None`: no stride is 1, or the other is too short.
    fn of(m: &Matrix<T>) -> Option<Columns<T>> {
        let columns = |transposed: bool, length: usize, count: usize, step: isize, ld: isize| {
            let least = length.max(1) as isize;
            // Steps between single elements and columns mean nothing.
            let ld = if count <= 1 { least } else { ld };
            ((step == 1 || length <= 1) && ld >= least).then_some(Columns { data: m.data, ld: ld as i64, transposed })
        };
        columns(false, m.rows, m.cols, m.row_stride, m.col_stride).or_else(|| columns(true, m.cols, m.rows, m.col_stride, m.row_stride))
    }

    fn letter(&self) -> *const c_char {
        if self.transposed { c"T".as_ptr() } else { c"N".as_ptr() }
    }
}

/// `c = beta * c + alpha * a @ b`, if the library can take the matrices as they lie; says whether it did.
///
/// # Safety
/// The elements exist, C has the rows of A and the columns of B, of which there are as many as rows of B; nobody else touches C.
pub unsafe fn gemm<T>(r: &Routines<T>, beta: &T, c: &Matrix<T>, alpha: &T, a: &Matrix<T>, b: &Matrix<T>) -> bool {
    let (Some(routine), Some(to)) = (r.gemm, Columns::of(c)) else { return false };
    if to.transposed {
        let (c, a, b) = (c.transposed(), b.transposed(), a.transposed());
        // SAFETY: the caller's: this is the same product.
        return unsafe { gemm(r, beta, &c, alpha, &a, &b) };
    }
    let (Some(left), Some(right)) = (Columns::of(a), Columns::of(b)) else { return false };
    let sizes = [c.rows, c.cols, a.cols];
    if sizes.contains(&0) || !r.holds(&sizes) || !r.holds(&[to.ld as usize, left.ld as usize, right.ld as usize]) {
        return false;
    }
    let sizes = sizes.map(|size| size as i64);
    // SAFETY: the caller's; leading dimensions are at least as long as columns.
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

/// `y = beta * y + alpha * a @ x` for vectors with steps, as [`gemm`].
///
/// # Safety
/// As for [`gemm`]; y has an element for each row of A, x for each column.
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
        // Some libraries multiply what is there by 0, and NaN stays NaN.
        // SAFETY: the caller's.
        (0..a.rows as isize).for_each(|i| unsafe { y.0.wrapping_offset(i.wrapping_mul(y.1)).write(beta) });
    }
    let sizes = [m, n].map(|size| size as i64);
    let steps = steps.map(|step| step as i64);
    // SAFETY: the caller's.
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
