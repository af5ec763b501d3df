//! Elements by position and by mask, as values.

/// The function that combines an element with the element that is already at its position, in row-major order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// The sum; for Bool, *or*.
    Add,
    /// The product; for Bool, *and*.
    Multiply,
    /// The greatest; NaN if either is NaN.
    Max,
    /// The least; NaN if either is NaN.
    Min,
}

/// The direction in which elements are moved between operands of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Copies elements of the indexed tensor, the second input, to the result. Positions are the first input.
    Gather,
    /// Copies elements of the first input to the indexed tensor, the result. Positions are the second input. If several elements are
    /// written to one position, the last one in row-major order wins.
    Scatter,
    /// Like [`Move::Scatter`], but combines each element with the one at its position. The dtype is a compute type.
    Accumulate(Combine),
}

/// Moves elements of one dtype by int64 positions. The layout of the indexed tensor has stride 0 in the indexed dimensions; each position,
/// multiplied by `step`, is added to the offset.
#[derive(Debug, Clone, Copy)]
pub struct Index {
    /// The movement.
    pub movement: Move,
    /// The distance between entries of the indexed tensor, in elements.
    pub step: i64,
    /// The number added to negative positions: the number of entries, or 0 if there are no negative positions.
    pub count: i64,
}

/// Work on a mask: row-major bytes. Every byte except 0 is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// Copies the elements of the first input at which the mask, the second input, is true to consecutive elements of the result.
    Compress,
    /// Copies consecutive elements of the first input to the result's elements at which the mask, the second input, is true.
    Expand,
    /// The int64 indices of all positions at which the mask, the input, is true: one row of the result for each.
    Positions,
}
