//! Elements by position and by mask, as values.

use crate::error::{Error, Kind};
use crate::layout::Dims;

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
    /// The least valid position and the number of entries. The host has checked its positions; a GPU checks them, and writes nothing
    /// if one is invalid. `None` if the positions are offsets that need no check, and negative ones do not count from the end.
    pub range: Option<[i64; 2]>,
}

impl Index {
    /// The number added to negative positions: the number of entries, or 0 if there are no negative positions.
    pub fn count(&self) -> i64 {
        match self.range {
            Some([least, entries]) if least < 0 => entries,
            _ => 0,
        }
    }
}

/// Place `at` in row-major order in text: `3`, or `[1, 0]`.
pub fn place(at: usize, shape: &[i64]) -> String {
    let (mut rest, mut place) = (at as i64, Dims::filled(0, shape.len()));
    for d in (0..shape.len()).rev() {
        (place[d], rest) = (rest % shape[d], rest / shape[d]);
    }
    match place.as_slice() {
        [] => "0".to_owned(),
        [only] => only.to_string(),
        several => format!("{several:?}"),
    }
}

/// The error for an invalid position, which is at place `at` of the positions.
#[cold]
pub fn out_of_range(value: i64, at: usize, shape: &[i64], entries: i64) -> Error {
    Error::new(Kind::Argument, format_args!("index {value} at position {} is out of range for {entries} entries", place(at, shape)))
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
