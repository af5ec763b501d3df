//! Files of tensors: what is in them, where its elements lie, and how they are written.
//!
//! A reader looks at the structure of a file and returns [`Contents`]: names, shapes, strides, metadata, and for each storage the
//! [`Encoding`] of its elements. It reads no elements, except of texts and images, which have no structure without them. The caller maps
//! elements that lie in the file as in memory, or has them read into its own memory by [`Contents::read`].
//!
//! Nothing in a file is trusted. Counts are compared with the bytes that are there before memory is asked for, and memory is asked for in
//! ways that may fail ([`grow`]). What is wrong is an [`Error`] with the byte at which it was found.

#![forbid(unsafe_code)]

pub mod blocks;
mod budget;
pub mod contents;
pub mod element;
pub mod error;
mod formats;
pub mod grow;
pub mod input;
mod pickle;
mod pool;
pub mod sparse;
pub mod zip;

pub use contents::{Contents, Data, Encoding, Opaque, Save, Storage, Tensor};
pub use element::{Element, Written};
pub use error::{Error, Kind, Result};
pub use formats::{Format, Output, open, read_csv, save};
pub use input::Input;
pub use pool::{Start, set_threads};
pub use sparse::{Form, Sparse};
