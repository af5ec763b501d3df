//! The reader of exported programs, whose data types are in [`crate::program`].

mod archive;
mod check;
mod graph;
mod json;
mod names;

pub(super) use archive::{is_program, read_entries};
pub use archive::{read, read_model};
