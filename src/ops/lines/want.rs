//! Results that callers of operations over lines ask for.

use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::tensor::Tensor;

/// The number of elements that a line becomes in the result, and thereby the result's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineResult {
    /// One for each element of the line: the result has the shape of the input.
    Same,
    /// `n` elements in place of the line's elements.
    Resized {
        /// The number of elements.
        n: i64,
    },
    /// One element: the dims of the line are removed, or kept with size 1.
    One {
        /// True if these dims are kept with size 1.
        keepdim: bool,
    },
    /// `n` elements in a new first dimension. The dims of the line are treated as in `One`.
    Leading {
        /// The number of elements.
        n: i64,
        /// True if the dims of the line are kept with size 1.
        keepdim: bool,
    },
}

/// A result that an operation is asked for.
#[derive(Clone, Copy)]
pub struct Want<'a> {
    /// The handle of the result; `None` if the caller does not want it.
    pub r: Option<&'a Tensor>,
    /// The dtype of a fresh result.
    pub dtype: Dtype,
}

impl<'a> Want<'a> {
    /// No result, for operations that have only one.
    pub(crate) const NOTHING: Want<'static> = Want { r: None, dtype: Dtype::Int64 };

    /// A result of indices. Its dtype must be int64.
    pub fn indices(r: Option<&'a Tensor>) -> Result<Want<'a>> {
        match r.and_then(Tensor::dtype) {
            None | Some(Dtype::Int64) => Ok(Want { r, dtype: Dtype::Int64 }),
            Some(have) => bail!(Dtype, "indices are int64, the tensor given for them is {have}"),
        }
    }
}
