//! Searches as values.

/// Searches in ascending row-major sequences, the first input, for the row-major elements of the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// The int64 place of each element: before those equal to it, or behind them. One sequence is for all, or each row has its own.
    Place {
        /// True for behind.
        right: bool,
    },
    /// True if an element is in the sequence.
    Contains {
        /// True if the opposite is asked for.
        invert: bool,
    },
}
