//! Triangles of matrices, processed row by row.

use super::copy::{self, Side};
use super::engine::{CHEAP, Shared, parallel};
use crate::launch::sequence::Triangle;
use crate::layout::Layout;
use crate::operand::Operand;
use crate::plan::Plan;
use std::ops::Range;

/// `to` = the elements of `from` inside the triangle, 0 outside. Both must be the same memory, or not overlap.
pub fn part(triangle: Triangle, to: &Operand, from: &Operand) {
    let (shape, last) = (to.layout().shape.clone(), to.layout().ndim() - 1);
    if shape.contains(&0) {
        return;
    }
    let in_place = to.dtype == from.dtype && to.in_step_with(from);
    let mut layouts = [to.layout().clone(), from.layout().clone()];
    // Rows are the dimension in which elements are contiguous.
    let swapped = layouts[0].strides[last] > layouts[0].strides[last - 1];
    if swapped {
        for layout in &mut layouts {
            layout.shape.swap(last - 1, last);
            layout.strides.swap(last - 1, last);
        }
    }
    let triangle = if swapped { triangle.transposed() } else { triangle };
    let [of_result, of_input] = &layouts;
    let at_once = to.dtype == from.dtype && of_result.strides[last] == 1 && of_input.strides[last] == 1;
    if !at_once && !in_place {
        let plan = Plan::new([of_result, of_input], [to.dtype.size(), from.dtype.size()]);
        // SAFETY: the operands are inside their storages and do not overlap.
        unsafe { copy::copy(plan, (to.first(), to.dtype), (from.first(), from.dtype)) };
    }
    let input = (at_once && !in_place).then(|| rows_of(from, of_input));
    let batch = &shape[..last - 1];
    let sides = [(of_result, to.dtype.size()), (of_input, from.dtype.size())];
    let at = |matrix: usize| sides.map(|(layout, size)| (offset(batch, layout, matrix as i64) * size as i64) as isize);
    // SAFETY: both sides are inside their storages, and do not overlap if there is an input.
    unsafe { keep(triangle, to.dtype.size(), rows_of(to, of_result), input, batch.iter().product::<i64>() as usize, &at) };
}

fn rows_of(side: &Operand, layout: &Layout) -> Side {
    let (last, size) = (layout.ndim() - 1, side.dtype.size() as i64);
    let step = |d: usize| (layout.strides[d] * size) as isize;
    Side { data: side.first_of(layout), row_step: step(last - 1), col_step: step(last) }
}

/// Returns the offset in elements of matrix `index`, counted row-major, from the first matrix.
fn offset(batch: &[i64], layout: &Layout, mut index: i64) -> i64 {
    let mut at = 0;
    for d in (0..batch.len()).rev() {
        at += index % batch[d] * layout.strides[d];
        index /= batch[d];
    }
    at
}

/// `dst` = `src` inside the triangle, 0 outside, for each matrix. `at(i)` returns the offsets in bytes of matrix `i` from the first one, on
/// both sides. Without `src`, elements inside the triangle are kept.
///
/// # Safety
/// Both sides must hold the matrices, of elements of `size` bytes. If there is a `src`, columns must be `size` bytes apart on both sides,
/// and the sides must not overlap.
unsafe fn keep(triangle: Triangle, size: usize, dst: Side, src: Option<Side>, matrices: usize, at: &(dyn Fn(usize) -> [isize; 2] + Sync)) {
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
            // SAFETY: the caller keeps this function's contract.
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

/// Writes zeros to these columns of a row.
///
/// # Safety
/// The row must hold the columns, of `size` bytes each.
#[inline(always)]
unsafe fn clear(row: *mut u8, col_step: isize, size: usize, columns: Range<usize>) {
    // SAFETY: the caller keeps this function's contract; the zero of every dtype is all zero bytes.
    unsafe {
        if col_step == size as isize {
            return row.add(columns.start * size).write_bytes(0, columns.len() * size);
        }
        for column in columns {
            row.offset(column as isize * col_step).write_bytes(0, size);
        }
    }
}

/// Writes the rows and columns of the positions of a triangle, in row-major order.
///
/// # Safety
/// Both must have room for the positions of the triangle.
pub unsafe fn indices(triangle: Triangle, rows: *mut i64, columns: *mut i64) {
    let (r, c) = (Shared(rows.cast()), Shared(columns.cast()));
    let filled = triangle.filled_rows();
    parallel(filled.len(), triangle.cols, CHEAP, &move |range| {
        let range = filled.start + range.start..filled.start + range.end;
        let mut at = triangle.before(range.start) as usize;
        for row in range {
            let kept = triangle.columns(row);
            // SAFETY: the caller keeps this function's contract; the rows before hold `at` positions.
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
