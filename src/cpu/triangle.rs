//! Triangles of matrices, row by row.

use super::engine::{CHEAP, Shared, parallel};
use std::ops::Range;

/// The positions of a matrix on one side of a diagonal, the diagonal itself included.
#[derive(Debug, Clone, Copy)]
pub struct Triangle {
    /// Rows of the matrix.
    pub rows: usize,
    /// Columns of the matrix.
    pub cols: usize,
    /// The diagonal: 0 is the main one, positive lies above.
    pub k: i64,
    /// On and above the diagonal, not on and below.
    pub upper: bool,
}

impl Triangle {
    /// Columns of row `row` that belong to it.
    #[inline(always)]
    pub fn columns(&self, row: usize) -> Range<usize> {
        let at = |k: i64| (row as i64).saturating_add(k).clamp(0, self.cols as i64) as usize;
        if self.upper { at(self.k)..self.cols } else { 0..at(self.k.saturating_add(1)) }
    }

    /// Rows that have positions: as many at most as there are positions.
    fn filled_rows(&self) -> Range<usize> {
        let at = |k: i64| k.clamp(0, self.rows as i64) as usize;
        let (first, end) = match self.upper {
            true => (0, at((self.cols as i64).saturating_sub(self.k))),
            false => (at(self.k.saturating_neg()), self.rows),
        };
        if self.cols == 0 { 0..0 } else { first..end }
    }

    /// Positions in the rows before `row`.
    pub fn before(&self, row: usize) -> i128 {
        if self.upper {
            let rest = Triangle { k: self.k.saturating_sub(1), upper: false, ..*self };
            return row as i128 * self.cols as i128 - rest.before(row);
        }
        let (row, cols, k) = (row as i128, self.cols as i128, i128::from(self.k));
        // The rows that grow by one column each, then those that are full.
        let first = (-k).clamp(0, row);
        let full = (cols - k - 1).clamp(first, row);
        let (shortest, longest) = ((first + k + 1).min(cols), full + k);
        (shortest + longest) * (full - first) / 2 + (row - full) * cols
    }

    /// The triangle of the transposed matrix that shows the same elements.
    pub fn transposed(self) -> Triangle {
        Triangle { rows: self.cols, cols: self.rows, k: self.k.saturating_neg(), upper: !self.upper }
    }
}

/// One side of the matrices: steps in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    /// The first element of all.
    pub data: *mut u8,
    /// From row to row.
    pub row_step: isize,
    /// From column to column.
    pub col_step: isize,
}

/// `dst` = `src` inside the triangle, 0 outside, for each matrix: `at(i)` says how many bytes matrix `i` lies from the first, on both sides.
/// Without `src` what is inside stays.
///
/// # Safety
/// Both sides must hold the matrices, of elements of `size` bytes; where there is a `src`, columns lie `size` bytes apart on both sides, and the
/// sides do not overlap.
pub unsafe fn keep(
    triangle: Triangle,
    size: usize,
    dst: Rows,
    src: Option<Rows>,
    matrices: usize,
    at: &(dyn Fn(usize) -> [isize; 2] + Sync),
) {
    let Triangle { rows, cols, .. } = triangle;
    let (to, from) = (Shared(dst.data), src.map(|src| (Shared(src.data), src.row_step)));
    let (row_step, col_step) = (dst.row_step, dst.col_step);
    parallel(matrices * rows, cols.max(1), CHEAP, &move |range| {
        let mut shift = (usize::MAX, [0; 2]);
        for unit in range {
            let (matrix, row) = (unit / rows, unit % rows);
            if shift.0 != matrix {
                shift = (matrix, at(matrix));
            }
            let kept = triangle.columns(row);
            let to = to.get().wrapping_offset(shift.1[0] + row as isize * row_step);
            // SAFETY: the caller's.
            unsafe {
                if let Some((from, from_step)) = from {
                    let from = from.get().wrapping_offset(shift.1[1] + row as isize * from_step);
                    let start = kept.start * size;
                    std::ptr::copy_nonoverlapping(from.add(start), to.add(start), kept.len() * size);
                }
                clear(to, col_step, size, 0..kept.start);
                clear(to, col_step, size, kept.end..cols);
            }
        }
    });
}

/// Zeros in these columns of a row.
///
/// # Safety
/// The row must hold the columns, of `size` bytes each.
#[inline(always)]
unsafe fn clear(row: *mut u8, col_step: isize, size: usize, columns: Range<usize>) {
    // SAFETY: the caller's; every dtype's zero is all zero bytes.
    unsafe {
        if col_step == size as isize {
            return row.add(columns.start * size).write_bytes(0, columns.len() * size);
        }
        for column in columns {
            row.offset(column as isize * col_step).write_bytes(0, size);
        }
    }
}

/// Rows and columns of the positions of a triangle, in row-major order.
///
/// # Safety
/// Both must hold as many numbers as the triangle has positions.
pub unsafe fn indices(triangle: Triangle, rows: *mut i64, columns: *mut i64) {
    let (r, c) = (Shared(rows.cast()), Shared(columns.cast()));
    let filled = triangle.filled_rows();
    parallel(filled.len(), triangle.cols, CHEAP, &move |range| {
        let range = filled.start + range.start..filled.start + range.end;
        let mut at = triangle.before(range.start) as usize;
        for row in range {
            let kept = triangle.columns(row);
            // SAFETY: the caller's; the rows before hold `at` positions.
            unsafe {
                let (r, c) = (r.get().cast::<i64>().add(at), c.get().cast::<i64>().add(at));
                for (i, column) in kept.clone().enumerate() {
                    r.add(i).write(row as i64);
                    c.add(i).write(column as i64);
                }
            }
            at += kept.len();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_the_rows() {
        for (rows, cols) in [(0, 3), (3, 0), (1, 1), (4, 4), (3, 7), (7, 3)] {
            for (k, upper) in (-9..=9).chain([i64::MIN, i64::MAX]).flat_map(|k| [(k, false), (k, true)]) {
                let t = Triangle { rows, cols, k, upper };
                let mut sum = 0;
                for row in 0..rows {
                    assert_eq!(t.before(row), sum, "{t:?} before row {row}");
                    let inside =
                        |c: &usize| if upper { *c as i128 - row as i128 >= k.into() } else { *c as i128 - row as i128 <= k.into() };
                    assert!(t.columns(row).eq((0..cols).filter(inside)), "{t:?}, row {row}");
                    sum += t.columns(row).len() as i128;
                }
                assert_eq!(t.before(rows), sum, "{t:?}");
                assert!(t.filled_rows().eq((0..rows).filter(|&row| !t.columns(row).is_empty())), "{t:?}");
            }
        }
    }
}
