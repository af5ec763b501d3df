//! Compressed sparse rows (CSR) as operands of work.
//!
//! A matrix of compressed rows is two or three consecutive inputs: the starts, which are the index of each row's first entry, followed by
//! the number of entries; the column of each entry; and the values of the entries, which some kinds of work do not need. Starts and columns
//! are row-major int32 or int64, with one dtype for all matrices of a call. Values and dense operands are row-major, with one dtype among
//! float32, float64 and int64.
//!
//! Columns and starts that are out of range are an error. A part of the result may have been written by then.

/// Compresses coordinates into rows, and merges entries with equal coordinates. The inputs are two int64 vectors, the row and the column of
/// each entry, below 2^32. A place is a distinct pair of row and column. The four results are int64: the index of each row's first place,
/// followed by the number of places; the column of each place; the index of each place's first entry in sorted order, followed by the
/// number of entries; and the indices of the entries in sorted order: by row, then by column, then by index. The second and third result
/// have room for as many places as there are entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compress;

/// Products with a matrix A. The inputs are its starts and columns, then dense matrices, and last its values; without values all are 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compressed {
    /// `r = A m`.
    Product,
    /// `r = A' m`.
    Transposed,
    /// `r[k] = a[i] . b[j]` for entry `k` in row `i` and column `j`. There are two dense operands and no values.
    Sampled,
}

/// Softmax of the entries of each row. The inputs are starts and values; for the gradient starts, the gradient of the result, and the
/// result. Values are floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSoftmax {
    /// True for the gradient, `y * (g - sum of g * y)`.
    pub gradient: bool,
}

/// Solves `A X = B` with a triangle of a square matrix A. The inputs are A and the row-major matrix B. Values are floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSolve {
    /// True for the upper triangle, false for the lower one.
    pub upper: bool,
    /// True to solve `A' X = B` instead.
    pub transposed: bool,
    /// True if all diagonal elements are taken as 1.
    pub unit: bool,
}

/// Solves `A X = B`. The inputs are A, with int64 positions and float64 values, and B. B and X are float64; each row of these operands is a
/// column of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct System {
    /// True to solve `A' X = B` instead.
    pub transposed: bool,
}

/// Products of two matrices of compressed rows, A and B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SparseProduct {
    /// The starts of the rows of `A B`, followed by the number of entries: one int64 result. The inputs are A and B, without values.
    Starts {
        /// The number of columns of B.
        columns: i64,
    },
    /// The columns of `A B`, ascending in each row, and the values: two results. The inputs are A, B, and the result of `Starts`.
    Entries {
        /// The number of columns of B.
        columns: i64,
    },
    /// The values of `op(A) op(B)` at the entries of a pattern. The inputs are the starts and columns of the pattern, then A and B.
    Sampled {
        /// The number of columns of B.
        columns: i64,
        /// The operand that is transposed.
        of: Sides,
    },
}

/// The operand of a sampled product that is transposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// `A B`.
    Plain,
    /// `A' B`.
    FirstTransposed,
    /// `A B'`.
    SecondTransposed,
}
