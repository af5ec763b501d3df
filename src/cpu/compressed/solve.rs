//! Systems of equations with a triangle of a matrix of compressed rows, by substitution.
//!
//! Each row depends on earlier ones, so threads solve separate blocks of right-hand sides.

use super::{Outside, Position, Rows, Starts, WIDTH};
use crate::cpu::engine::{CHEAP, Shared, parallel};
use crate::cpu::real::Real;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::RowSolve;
use crate::operand::Operand;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Solves the system; see [`RowSolve`].
pub fn solve(work: RowSolve, out: &Operand, matrix: [&Operand; 3], b: &Operand) -> Result<()> {
    match (matrix[0].dtype, b.dtype) {
        (Dtype::Int32, Dtype::Float32) => with_types::<i32, f32>(work, out, matrix, b),
        (Dtype::Int32, _) => with_types::<i32, f64>(work, out, matrix, b),
        (_, Dtype::Float32) => with_types::<i64, f32>(work, out, matrix, b),
        _ => with_types::<i64, f64>(work, out, matrix, b),
    }
}

fn with_types<I: Position, T: Real>(work: RowSolve, out: &Operand, [starts, columns, entries]: [&Operand; 3], b: &Operand) -> Result<()> {
    // SAFETY: the operands are row-major and of these types.
    let (matrix, b, p) = unsafe {
        let matrix =
            Rows { starts: Starts(starts.elements::<I>()), columns: columns.elements::<I>(), entries: Some(entries.elements::<T>()) };
        (matrix, b.elements::<T>(), b.layout().shape[1] as usize)
    };
    let (n, outside) = (matrix.starts.count(), Outside::new());
    matrix.starts.check(matrix.columns.len())?;
    matrix.starts.each_piece(1, &|rows| _ = matrix.inside(rows, n, &outside));
    outside.finish(matrix.columns, n)?;
    let (r, singular) = (Shared(out.first()), AtomicUsize::new(usize::MAX));
    if p == 0 && !work.unit {
        // Nothing is divided by the diagonal, which is looked at all the same.
        let row = (0..n).find(|&i| diagonal(&matrix, i) == T::ZERO);
        singular.store(row.unwrap_or(usize::MAX), Ordering::Relaxed);
    }
    parallel(p.div_ceil(WIDTH), (matrix.columns.len() + n).saturating_mul(WIDTH.min(p)), CHEAP / 4, &|blocks| {
        for block in blocks {
            let first = block * WIDTH;
            let side = Sides { r: r.get().cast::<T>().wrapping_add(first), step: p, width: WIDTH.min(p - first) };
            // SAFETY: blocks of columns of the result are disjoint, and columns of the matrix were compared with its size.
            if let Err(row) = unsafe { side.solve(work, &matrix, &b[first.min(b.len())..]) } {
                singular.store(row, Ordering::Relaxed);
            }
        }
    });
    match singular.into_inner() {
        usize::MAX => Ok(()),
        row => bail!(Numeric, "row {row} has 0 on the diagonal"),
    }
}

/// Some columns of the result.
struct Sides<T> {
    r: *mut T,
    /// Elements from one row to the next.
    step: usize,
    /// The number of columns, at most [`WIDTH`].
    width: usize,
}

impl<T: Real> Sides<T> {
    /// Returns the elements of a row.
    ///
    /// # Safety
    /// The result must have this row, and no other thread may use it.
    #[inline(always)]
    unsafe fn row<'a>(&self, i: usize) -> &'a mut [T] {
        // SAFETY: the caller keeps this function's contract.
        unsafe { std::slice::from_raw_parts_mut(self.r.add(i * self.step), self.width) }
    }

    /// Solves for these columns. Returns the first row whose diagonal is 0 as an error.
    ///
    /// # Safety
    /// Columns of the matrix must be rows of the result, which no other thread may use. `b` must begin with the first of the columns.
    unsafe fn solve<I: Position>(&self, work: RowSolve, matrix: &Rows<'_, I, T>, b: &[T]) -> std::result::Result<(), usize> {
        let (n, columns, entries) = (matrix.starts.count(), matrix.columns, matrix.entries.unwrap_or_default());
        let among = |i: usize, j: usize| if work.upper { j > i } else { j < i };
        if work.transposed {
            for i in 0..n {
                // SAFETY: the caller keeps this function's contract.
                unsafe { self.row(i) }.copy_from_slice(&b[i * self.step..][..self.width]);
            }
        }
        for k in 0..n {
            // The first row has only its diagonal in the triangle, or in the transposed triangle.
            let i = if work.upper == work.transposed { k } else { n - 1 - k };
            let range = matrix.starts.row(i);
            // SAFETY: the caller keeps this function's contract.
            let row = unsafe { self.row(i) };
            let mut diagonal = T::ZERO;
            if work.transposed {
                diagonal = self::diagonal(matrix, i);
            } else {
                row.copy_from_slice(&b[i * self.step..][..self.width]);
                for at in range.clone() {
                    let j = columns[at].place();
                    if among(i, j) {
                        // SAFETY: `j` is another row than `i`.
                        subtract(row, entries[at], unsafe { self.row(j) });
                    } else if j == i {
                        diagonal = diagonal.add(entries[at]);
                    }
                }
            }
            if !work.unit {
                if diagonal == T::ZERO {
                    return Err(i);
                }
                row.iter_mut().for_each(|x| *x = *x / diagonal);
            }
            if work.transposed {
                for at in range {
                    let j = columns[at].place();
                    if among(i, j) {
                        // SAFETY: `j` is another row than `i`.
                        subtract(unsafe { self.row(j) }, entries[at], row);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The element of the diagonal in a row.
fn diagonal<I: Position, T: Real>(matrix: &Rows<'_, I, T>, i: usize) -> T {
    let entries = matrix.entries.unwrap_or_default();
    let own = matrix.starts.row(i).filter(|&at| matrix.columns[at].place() == i);
    own.fold(T::ZERO, |sum, at| sum.add(entries[at]))
}

/// `r = r - a * x`
#[inline(always)]
fn subtract<T: Real>(r: &mut [T], a: T, x: &[T]) {
    if let ([r], [x]) = (&mut *r, x) {
        *r = r.sub(a.mul(*x));
        return;
    }
    r.iter_mut().zip(x).for_each(|(r, &x)| *r = r.sub(a.mul(x)));
}
