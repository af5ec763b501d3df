//! Elements by position and by mask, as values.

/// The way elements that are put in one place are combined with those that are there, in row-major order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Combine {
    /// The sum; of Bool, *or*.
    Add,
    /// The product; of Bool, *and*.
    Multiply,
    /// The greatest; NaN if one is.
    Max,
    /// The least; NaN if one is.
    Min,
}

/// The movement of elements between operands of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// The result takes elements of the tensor that is indexed, which is the second input; positions are the first.
    Gather,
    /// The tensor that is indexed, which is the result, takes elements of the first input; positions are the second. Of several for one
    /// place the last in row-major order stays.
    Scatter,
    /// As [`Move::Scatter`], combined with what is there; the dtype is a compute type.
    Accumulate(Combine),
}

/// Elements of one dtype, moved by int64 positions. The layout of the tensor that is indexed has stride 0 where positions lead along; from
/// there a position moves on.
#[derive(Debug, Clone, Copy)]
pub struct Index {
    /// The movement.
    pub movement: Move,
    /// Elements from one entry to the next.
    pub step: i64,
    /// The number added to negative positions: the number of entries, or 0 where there are none.
    pub count: i64,
}

/// Work on a mask: row-major bytes, of which any but 0 is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mask {
    /// The result takes the elements of the first input where the second, a mask, is true.
    Compress,
    /// The result takes the elements of the first input in turn where the second, a mask, is true.
    Expand,
    /// The result has a row for each place where the mask, the input, is true: its int64 indices.
    Positions,
}
