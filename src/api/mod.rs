//! Every exported function as data: [`function`] has the type, `table` makes values of it from lists, and `functions` has the lists.
//!
//! `args` has the kinds of arguments, `returns` the kinds of returned values, and `word` the form in which both cross the boundary to C.
//! `forms`, `notes` and `nulls` have further facts for bindings of other languages.

pub(crate) mod args;
pub(crate) mod callable;
pub(crate) mod callbacks;
pub(crate) mod failure;
#[cfg(any(test, feature = "api"))]
pub mod forms;
pub mod function;
pub mod functions;
pub mod fused;
pub mod generator;
#[cfg(any(test, feature = "api"))]
pub mod notes;
#[cfg(any(test, feature = "api"))]
pub mod nulls;
pub mod optim;
pub(crate) mod places;
pub(crate) mod returns;
pub mod sparse;
pub(crate) mod table;
pub(crate) mod word;

#[cfg(any(test, feature = "api"))]
pub use args::DEFAULTS;
#[cfg(any(test, feature = "api"))]
pub use returns::ON_ERROR;
