//! How rows become C functions: [`row`] explains rows, `args` has the kinds of arguments.

pub(crate) mod args;
pub(crate) mod failure;
#[cfg(any(test, feature = "rows"))]
pub mod forms;
pub mod generator;
pub(crate) mod row;
pub(crate) mod word;
