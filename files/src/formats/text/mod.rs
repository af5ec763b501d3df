//! Formats of text: lines that are read in chunks, and positions and numbers that are written.

pub mod lines;
pub mod places;
pub mod write;
