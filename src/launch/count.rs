//! Counts and groups of equal elements, as values.

use crate::operand::Operand;

/// Histograms of the rows of a float matrix: the numbers of elements in `n` bins of equal width from `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Histogram {
    /// The number of bins, below 2^30.
    pub n: usize,
    /// The lower edge of the first bin.
    pub low: f64,
    /// The upper edge of the last bin, above `low`.
    pub high: f64,
}

/// The distinct elements of a vector, or rows of a matrix.
#[derive(Debug)]
pub struct Unique {
    /// The distinct values.
    pub values: Operand,
    /// The int64 index into `values` of each element, or row, if requested.
    pub inverse: Option<Operand>,
    /// The int64 number of occurrences of each value. `None` only if the number is not requested.
    pub counts: Option<Operand>,
}
