//! Formats of text: lines that are read in chunks, and numbers that are written.

pub mod lines;
pub mod write;
