//! Files of tensors: reading their contents, finding their elements, and writing them.
//!
//! Reading the structure of a file returns [`Contents`]: names, shapes, strides, metadata, and the [`Encoding`] of each storage's elements.
//! No elements are read at this point, except from texts and images whose structure depends on them. If the bytes of elements in the file
//! are those in memory ([`Encoding::plain`]), the caller may map them. [`Contents::read`] reads any elements into memory of the caller.
//!
//! Files are not trusted. A count is compared with the number of bytes that are present before memory is allocated for it, and memory is
//! allocated fallibly ([`grow`]). A broken file is an [`Error`] that names the byte at which the reader noticed it.

#![forbid(unsafe_code)]

mod budget;
pub mod contents;
pub mod deflate;
pub mod element;
pub mod encoding;
pub mod error;
pub mod format;
mod formats;
pub mod grow;
pub mod input;
pub mod nested;
mod pickle;
mod pool;
pub mod program;
pub mod save;
pub mod sparse;
mod system;
pub mod tensor;
pub mod zip;

pub use contents::{Contents, Storage};
pub use element::{Element, Written};
pub use encoding::{Decode, Encoding};
pub use error::{Error, Kind, Result};
pub use format::Format;
pub use formats::{open, open_named, read_csv, read_model, read_program, save, save_nested};
pub use input::Input;
pub use nested::{Nested, NestedEntry};
pub use pool::{Start, set_threads};
pub use save::{Output, Save};
pub use sparse::{Form, Sparse};
pub use tensor::{Data, Opaque, Tensor};
