//! Sparse tensors in files.

use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::tensor::Tensor;
pub use thorn_files::Form;

/// A sparse tensor of a file. Its positions are not checked and may be out of range.
#[derive(Debug)]
pub struct Sparse {
    /// The sizes of the sparse dimensions, and then of the dense dimensions.
    pub sizes: Dims,
    /// The form of the positions.
    pub form: Form,
    /// The positions in this form, and then the values.
    pub parts: Vec<Tensor>,
    /// True if the file states that the positions ascend in row-major order without duplicates.
    pub coalesced: bool,
}

impl Sparse {
    /// Returns the positions and the values.
    pub fn split(&self) -> Result<(&[Tensor], &Tensor)> {
        match &self.parts[..] {
            [places @ .., values] => Ok((places, values)),
            [] => bail!(Internal, "a sparse tensor without values"),
        }
    }
}
