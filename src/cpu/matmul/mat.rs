//! Matrices in memory.

/// A strided matrix in memory. Strides are in elements, of any sign or zero.
#[derive(Debug, Clone, Copy)]
pub struct Mat<T> {
    /// The element in row 0 and column 0.
    pub data: *mut T,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub cols: usize,
    /// Elements from one row to the next.
    pub row_stride: isize,
    /// Elements from one column to the next.
    pub col_stride: isize,
}

impl<T: Copy> Mat<T> {
    /// Returns the transposed matrix, of the same elements.
    pub fn transposed(self) -> Mat<T> {
        Mat { rows: self.cols, cols: self.rows, row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    /// Returns the address of an element, which need not exist.
    #[inline(always)]
    pub fn at(self, row: usize, col: usize) -> *mut T {
        let rows = (row as isize).wrapping_mul(self.row_stride);
        let cols = (col as isize).wrapping_mul(self.col_stride);
        self.data.wrapping_offset(rows.wrapping_add(cols))
    }

    /// Returns the block of `rows` x `cols` elements that begins at `row` and `col`.
    #[inline(always)]
    pub fn block(self, row: usize, rows: usize, col: usize, cols: usize) -> Mat<T> {
        Mat { data: self.at(row, col), rows, cols, ..self }
    }
}
