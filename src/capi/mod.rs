//! The C ABI: every function of the table as a C function, which accepts raw pointers and returns a status.

mod export;
pub mod functions;
// The header has these functions after the others of their chapters.
pub mod by_hand;

pub use functions::{ALL, Chapter};

#[cfg(test)]
mod device_test;
#[cfg(test)]
mod functions_test;
