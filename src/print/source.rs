//! The tensors that are printed.

use crate::dtype::Dtype;
use crate::layout::Layout;
use crate::scalar::Scalar;

/// The elements to print.
pub struct Source<'a> {
    /// The element type.
    pub dtype: Dtype,
    /// The geometry of the elements.
    pub layout: &'a Layout,
    /// True for a scalar or a handle without sizes. Torch7 prints both as a tensor with no dimension.
    pub no_dimension: bool,
    /// Returns the element at a position of the storage.
    pub at: &'a dyn Fn(i64) -> Scalar,
}

/// A sparse tensor to print.
pub struct SparseSource<'a> {
    /// The tensors of positions and of values, each with its name.
    pub parts: &'a [(&'static str, Source<'a>)],
    /// The sizes.
    pub size: &'a [i64],
    /// The number of entries.
    pub nnz: i64,
    /// The dtype of the values.
    pub dtype: Dtype,
    /// The name of the layout: `sparse_coo`.
    pub name: &'static str,
    /// True if the sizes begin a new line.
    pub breaks: bool,
}
