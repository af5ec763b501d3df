//! Counts and groups of equal elements, as values.

use crate::operand::Operand;

/// Histograms of the rows of a matrix of floats: the elements of each bin of `n` equal ones from `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Histogram {
    /// The number of bins, below 2^30.
    pub n: usize,
    /// The lower edge of the first bin.
    pub low: f64,
    /// The upper edge of the last bin, above `low`.
    pub high: f64,
}

/// Elements or rows that are not equal to each other.
#[derive(Debug)]
pub struct Unique {
    /// One of each.
    pub values: Operand,
    /// The int64 place of each element, or row, among the values, if that was asked for.
    pub inverse: Option<Operand>,
    /// The int64 number of times that each value occurs.
    pub counts: Operand,
}
