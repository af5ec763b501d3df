//! Every exported function as data: [`function`] defines the type, `functions` has the lists of functions, and `table` turns a list into
//! values of this type.
//!
//! `args` has the kinds of arguments, `returns` the kinds of returned values, and `word` the representation of both in calls from C.
//! `forms`, `notes` and `nulls` have further information for bindings of other languages.

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
pub mod program;
pub(crate) mod returns;
pub mod sparse;
pub(crate) mod table;
pub(crate) mod word;

#[cfg(any(test, feature = "api"))]
pub use args::DEFAULTS;
#[cfg(any(test, feature = "api"))]
pub use returns::ON_ERROR;
