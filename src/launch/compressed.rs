//! Compressed rows as operands of work.
//!
//! A matrix of compressed rows is two or three inputs in a row: where each row starts among the entries, with their number at the end; the
//! column of each entry; and the entries, of which some kinds of work need none. Positions are row-major int32 or int64, of one dtype for
//! all matrices of a call. Entries and dense operands are row-major and of one dtype among float32, float64 and int64.
//!
//! Columns and starts that lead nowhere are an error, before which a part of the result may have been written.

/// Coordinates compressed by rows. The inputs are the row and the column of each entry, below 2^32, vectors of int64. The results are
/// int64, too: where each row starts among the places that have entries, with the number of places at the end; the column of each place;
/// where its entries start among all in order, with their number behind the last place; and the entries in order: by row, column, and as
/// they stand. The second and the third result have room for a place an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compress;

/// Products with a matrix A. The inputs are its starts and columns, then dense matrices, and last the entries; without them each is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compressed {
    /// `r = A m`.
    Product,
    /// `r = A' m`.
    Transposed,
    /// `r[k] = a[i] . b[j]` for entry `k` in row `i` and column `j`; there are two dense operands and no entries.
    Sampled,
}

/// Softmax of the entries of each row: the inputs are starts and entries, or for the gradient starts, the result's gradient, and the
/// result. Entries are floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSoftmax {
    /// True for the gradient, `y * (g - sum of g * y)`.
    pub gradient: bool,
}

/// The X with `A X = B` for a triangle of a square matrix A: the inputs are A and the row-major matrix B. Entries are floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSolve {
    /// True for the triangle above the diagonal, else the one below.
    pub upper: bool,
    /// True for the X with `A' X = B`.
    pub transposed: bool,
    /// True if the diagonal counts as ones.
    pub unit: bool,
}

/// The X with `A X = B`, each column a row of the operands: the inputs are A, whose positions are int64 and entries float64, and B; entries
/// of B and X are float64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct System {
    /// True for the X with `A' X = B`.
    pub transposed: bool,
}

/// Products of two matrices of compressed rows, A and B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SparseProduct {
    /// The result is int64: where each row of `A B` starts, with the number of all entries at the end. The inputs are A and B, without
    /// entries.
    Starts {
        /// The number of columns of B.
        columns: i64,
    },
    /// The results are the columns, ascending in each row, and the entries of `A B`. The inputs are A, B, and what `Starts` made.
    Entries {
        /// The number of columns of B.
        columns: i64,
    },
    /// The result is `op(A) op(B)` at the entries of a pattern; the inputs are the starts and columns of the pattern, then A and B.
    Sampled {
        /// The number of columns of B.
        columns: i64,
        /// The operands that stand for their transposes.
        of: Sides,
    },
}

/// The operand of a sampled product that stands for its transpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    /// `A B`.
    Plain,
    /// `A' B`.
    FirstTransposed,
    /// `A B'`.
    SecondTransposed,
}
