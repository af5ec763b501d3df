//! The elements that are printed.

use crate::dtype::Dtype;
use crate::layout::Layout;
use crate::scalar::Scalar;

/// The elements to print.
pub struct Source<'a> {
    /// The element type.
    pub dtype: Dtype,
    /// The geometry of the elements.
    pub layout: &'a Layout,
    /// True for a scalar or a handle without elements: what Torch7 calls a tensor with no dimension.
    pub no_dimension: bool,
    /// The element at a position of the storage.
    pub at: &'a dyn Fn(i64) -> Scalar,
}
