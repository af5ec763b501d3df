//! Sparse tensors in files.

use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::tensor::Tensor;
pub use thorn_files::Form;

/// A sparse tensor of a file. Its positions are as the file has them, in range or not.
#[derive(Debug)]
pub struct Sparse {
    /// Sizes of the sparse dimensions, then of the dense ones.
    pub sizes: Dims,
    /// The form of positions.
    pub form: Form,
    /// Positions as the form has them, and the values at the end.
    pub parts: Vec<Tensor>,
    /// True if positions are said to ascend in row-major order, each once.
    pub coalesced: bool,
}

impl Sparse {
    /// The positions and the values.
    pub fn split(&self) -> Result<(&[Tensor], &Tensor)> {
        match &self.parts[..] {
            [places @ .., values] => Ok((places, values)),
            [] => bail!(Internal, "a sparse tensor without values"),
        }
    }
}
