//! Tensors and storages as text, in two layouts: PyTorch's and Torch7's. This module reads no memory: a function of the caller returns the
//! elements, and the text is appended to a `HeapText`.
#![forbid(unsafe_code)]

mod number;
mod options;
mod pytorch;
mod source;
mod torch7;
mod walk;

pub use options::{Options, TH_PRINT_PYTORCH, TH_PRINT_TORCH7, THPrintOptions, default_options, set_default_options};
pub use source::{Source, SparseSource};

use crate::alloc::HeapText;
use crate::error::Result;
use options::Style;

/// The text of a tensor, without a newline at its end.
pub fn tensor(source: &Source<'_>, options: &Options) -> Result<HeapText> {
    match options.style {
        Style::Pytorch => pytorch::tensor(source, options),
        Style::Torch7 => torch7::tensor(source, options),
    }
}

/// The text of a sparse tensor in PyTorch's layout. Torch7 has no sparse tensors.
pub fn sparse(source: &SparseSource<'_>, options: &Options) -> Result<HeapText> {
    pytorch::sparse(source, options)
}

/// The text of a storage with one element a line, as in Torch7, without a newline at its end. `source` has one dimension.
pub fn storage(source: &Source<'_>, options: &Options) -> Result<HeapText> {
    torch7::storage(source, options)
}
