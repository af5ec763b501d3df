//! Results of operations over lines, as the caller asks for them.

use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::tensor::Tensor;

/// The shape of the result of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineResult {
    /// As many elements as it has: the result has the shape of the input.
    Same,
    /// `n` elements in their place.
    Resized {
        /// Elements.
        n: i64,
    },
    /// One element: the dims of the line disappear, or stay with size 1.
    One {
        /// True if these dimensions stay, with size 1.
        keepdim: bool,
    },
    /// `n` elements in a new first dimension; else as `One`.
    Leading {
        /// Elements.
        n: i64,
        /// As in `One`.
        keepdim: bool,
    },
}

/// A result of an operation.
#[derive(Clone, Copy)]
pub struct Want<'a> {
    /// Where it goes; `None` if the caller does without.
    pub r: Option<&'a Tensor>,
    /// The dtype of a fresh one.
    pub dtype: Dtype,
}

impl<'a> Want<'a> {
    /// For operations of a single result.
    pub(crate) const NOTHING: Want<'static> = Want { r: None, dtype: Dtype::Int64 };

    /// Indices: int64, and nothing else.
    pub fn indices(r: Option<&'a Tensor>) -> Result<Want<'a>> {
        match r.and_then(Tensor::dtype) {
            None | Some(Dtype::Int64) => Ok(Want { r, dtype: Dtype::Int64 }),
            Some(have) => bail!(Dtype, "indices are int64, the tensor given for them is {have}"),
        }
    }
}
