//! Files of tensors: reading and writing archives.
//!
//! The crate `thorn-files` implements the formats and does not depend on this crate's tensors. This module converts the contents of a file
//! to tensors, whose elements are mapped or read, and tensors to the contents of a file. Without the feature `files`, only the types
//! remain, because the kinds of arguments refer to them.

mod types;

pub use types::*;

/// A collection of named tensors.
#[cfg(not(feature = "files"))]
pub struct THArchive(());

#[cfg(feature = "files")]
mod callbacks;
#[cfg(feature = "files")]
mod format;
#[cfg(feature = "files")]
mod handle;
#[cfg(feature = "files")]
mod map;
#[cfg(feature = "files")]
mod message;
#[cfg(feature = "files")]
mod read;
#[cfg(feature = "files")]
mod replace;
#[cfg(feature = "files")]
mod sparse;
#[cfg(feature = "files")]
mod write;

#[cfg(feature = "files")]
pub use {
    callbacks::{Callbacks, Memory},
    handle::THArchive,
    read::Reading,
    sparse::{Form, Sparse},
    write::{Writing, save, save_sparse},
};
