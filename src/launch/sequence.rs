//! Copies, and elements that follow from a number or from their position, as values: progressions and triangles of matrices.

use crate::scalar::Scalar;
use std::ops::Range;

/// Copies and converts the elements of one input of the shape of the result. Both may be the same, or lie apart.
#[derive(Debug, Clone, Copy)]
pub struct Convert;

/// Stores a number in each element, of which several may share memory.
#[derive(Debug, Clone, Copy)]
pub struct Fill(pub Scalar);

/// Stores 1 in each row of a row-major result at the column that the input says, row-major int64.
#[derive(Debug, Clone, Copy)]
pub struct OneHot;

/// Evenly spaced numbers: the one at position `origin` is `anchor`. Each is computed from its position, so that errors do not add up.
#[derive(Debug, Clone, Copy)]
pub struct Ramp {
    /// The number at `origin`.
    pub anchor: f64,
    /// The position of `anchor`.
    pub origin: i64,
    /// From one number to the next.
    pub step: f64,
}

/// The numbers of two lines that meet, or their powers.
#[derive(Debug, Clone, Copy)]
pub struct Spaced {
    /// Before position `half`.
    pub up: Ramp,
    /// From position `half` on.
    pub down: Ramp,
    /// Where `down` begins.
    pub half: usize,
    /// The base that is raised to the power of each number.
    pub base: Option<f64>,
}

/// A progression in row-major order.
#[derive(Debug, Clone, Copy)]
pub enum Sequence {
    /// `start + i * step`, wrapping: integers.
    Integers {
        /// The first number.
        start: i64,
        /// From one number to the next.
        step: i64,
    },
    /// Floats.
    Spaced(Spaced),
}

/// The positions of a matrix on one side of a diagonal, the diagonal itself included. As work: copies the elements of matrices at these
/// positions, and stores 0 elsewhere. The input may be the result, or lies apart.
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

/// Writes the int64 rows, and then the columns, of the positions of a triangle.
#[derive(Debug, Clone, Copy)]
pub struct TriangleIndices(pub Triangle);

impl Triangle {
    /// Columns of row `row` that belong to it.
    #[inline(always)]
    pub fn columns(&self, row: usize) -> Range<usize> {
        let at = |k: i64| (row as i64).saturating_add(k).clamp(0, self.cols as i64) as usize;
        if self.upper { at(self.k)..self.cols } else { 0..at(self.k.saturating_add(1)) }
    }

    /// Rows that have positions: as many at most as there are positions.
    pub fn filled_rows(&self) -> Range<usize> {
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
