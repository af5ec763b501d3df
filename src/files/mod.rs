//! Files of tensors: archives that are read, archives that are written.
//!
//! `thorn-files` knows the formats, and nothing of tensors. Here its contents become tensors, whose elements are mapped or read, and
//! tensors become what it writes. Without the feature `files` only the types are left, which the kinds of arguments name.

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
mod signals;
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
