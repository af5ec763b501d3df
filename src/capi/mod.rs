//! The C ABI: raw pointers in, status out. Nothing here computes. `rows` has the functions as data, `face` makes C functions of them, and
//! [`ALL`] lists them. `words` calls rows from Rust.

pub mod face;
#[macro_use]
pub mod rows;
#[cfg(feature = "grad")]
pub mod grad;
pub mod sparse;
mod words;
#[macro_use]
mod all;
#[cfg(feature = "typed")]
pub mod typed;

pub use all::ALL;
#[cfg(any(test, feature = "rows"))]
pub use face::args::DEFAULTS;
pub use face::args::{Kind, Signature};
#[cfg(any(test, feature = "rows"))]
pub use face::nulls::{NULL_IF_EMPTY, NULL_REFUSED, NULL_TAKEN};
#[cfg(any(test, feature = "rows"))]
pub use face::returns::ON_ERROR;
pub use face::returns::Return;
pub use face::row::{Area, Body, Face, Row};

#[cfg(test)]
mod device_test;
#[cfg(test)]
mod rows_test;
