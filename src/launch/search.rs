//! Searches as values.

/// Searches for the row-major elements of the second input in ascending row-major sequences, the first input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// The int64 position at which each element can be inserted, before or after equal ones. There is one sequence for all elements, or one
    /// for each row.
    Place {
        /// True for the position after equal elements.
        right: bool,
    },
    /// True for each element that is in the sequence.
    Contains {
        /// True to invert the answer.
        invert: bool,
    },
}
