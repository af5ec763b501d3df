//! Copies, and elements computed from a number or from their position, as values: fills, progressions, and triangles of matrices.

use crate::scalar::Scalar;
use std::ops::Range;

/// Copies and converts the elements of one input, which has the shape of the result. The input is the result, or does not overlap it.
#[derive(Debug, Clone, Copy)]
pub struct Convert;

/// Stores a number in each element. Several positions may share an element.
#[derive(Debug, Clone, Copy)]
pub struct Fill(pub Scalar);

/// Stores 1 in each row of a row-major result, in the column that the row-major int64 input names.
#[derive(Debug, Clone, Copy)]
pub struct OneHot;

/// Evenly spaced numbers, `anchor + (i - origin) * step`. Each is computed from its position, so that errors do not accumulate.
#[derive(Debug, Clone, Copy)]
pub struct Ramp {
    /// The number at position `origin`.
    pub anchor: f64,
    /// The position of `anchor`.
    pub origin: i64,
    /// The difference between consecutive numbers.
    pub step: f64,
}

/// Numbers on two ramps, or a base raised to their power.
#[derive(Debug, Clone, Copy)]
pub struct Spaced {
    /// The ramp before position `half`.
    pub up: Ramp,
    /// The ramp from position `half` on.
    pub down: Ramp,
    /// The first position of `down`.
    pub half: usize,
    /// The base that is raised to the power of each number, if there is one.
    pub base: Option<f64>,
}

/// A progression in row-major order.
#[derive(Debug, Clone, Copy)]
pub enum Sequence {
    /// Integers: `start + i * step`, wrapping.
    Integers {
        /// The first number.
        start: i64,
        /// The difference between consecutive numbers.
        step: i64,
    },
    /// Floats.
    Spaced(Spaced),
}

/// The positions of a matrix on one side of a diagonal, including the diagonal. As work: copies the elements of matrices at these
/// positions, and stores 0 elsewhere. The input is the result, or does not overlap it.
#[derive(Debug, Clone, Copy)]
pub struct Triangle {
    /// The number of rows of the matrix.
    pub rows: usize,
    /// The number of columns of the matrix.
    pub cols: usize,
    /// The diagonal: 0 is the main one, positive numbers are above it.
    pub k: i64,
    /// True for positions on and above the diagonal, false for those on and below.
    pub upper: bool,
}

/// Writes the int64 rows, and then the int64 columns, of all positions of a triangle.
#[derive(Debug, Clone, Copy)]
pub struct TriangleIndices(pub Triangle);

impl Triangle {
    /// The columns of row `row` that belong to the triangle.
    #[inline(always)]
    pub fn columns(&self, row: usize) -> Range<usize> {
        let at = |k: i64| (row as i64).saturating_add(k).clamp(0, self.cols as i64) as usize;
        if self.upper { at(self.k)..self.cols } else { 0..at(self.k.saturating_add(1)) }
    }

    /// The range of rows that have positions. It is no longer than the number of positions.
    pub fn filled_rows(&self) -> Range<usize> {
        let at = |k: i64| k.clamp(0, self.rows as i64) as usize;
        let (first, end) = match self.upper {
            true => (0, at((self.cols as i64).saturating_sub(self.k))),
            false => (at(self.k.saturating_neg()), self.rows),
        };
        if self.cols == 0 { 0..0 } else { first..end }
    }

    /// The number of positions in the rows before `row`.
    pub fn before(&self, row: usize) -> i128 {
        if self.upper {
            let rest = Triangle { k: self.k.saturating_sub(1), upper: false, ..*self };
            return row as i128 * self.cols as i128 - rest.before(row);
        }
        let (row, cols, k) = (row as i128, self.cols as i128, i128::from(self.k));
        // First rows that are each one column longer than the row before, then full rows.
        let first = (-k).clamp(0, row);
        let full = (cols - k - 1).clamp(first, row);
        let (shortest, longest) = ((first + k + 1).min(cols), full + k);
        (shortest + longest) * (full - first) / 2 + (row - full) * cols
    }

    /// The same positions in the transposed matrix.
    pub fn transposed(self) -> Triangle {
        Triangle { rows: self.cols, cols: self.rows, k: self.k.saturating_neg(), upper: !self.upper }
    }
}
