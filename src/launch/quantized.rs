//! Quantised numbers as values.

use thorn_blocks::Blocks;

/// Work with rows of blocks, which are row-major bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantized {
    /// The structure of the blocks.
    pub blocks: Blocks,
    /// The work.
    pub task: QuantizedTask,
}

/// The kinds of work with blocks. Numbers are row-major float32, and rows of numbers have whole blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuantizedTask {
    /// `r = a @ W^T`. The inputs are `a` and the bytes of W. The last dimensions of `r` and `a` have the rows and the columns of W.
    Product,
    /// Encodes the numbers of the input.
    Encode,
    /// Decodes the bytes of the input.
    Decode,
}
