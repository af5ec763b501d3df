//! How rows become C functions: [`row`] explains rows, `args` has the kinds of arguments, `returns` those of returned
//! values; `forms`, `notes` and `nulls` tell programs more.

pub(crate) mod args;
pub(crate) mod callbacks;
pub(crate) mod failure;
#[cfg(any(test, feature = "rows"))]
pub mod forms;
mod function;
pub mod fused;
pub mod generator;
#[cfg(any(test, feature = "rows"))]
pub mod notes;
#[cfg(any(test, feature = "rows"))]
pub mod nulls;
pub mod optim;
pub(crate) mod places;
pub(crate) mod returns;
pub(crate) mod row;
pub mod sparse;
pub(crate) mod word;
