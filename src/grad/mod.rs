//! Gradients: calls of functions are recorded, and `derivatives` has the formula of each function for the gradients of its
//! operands.
//!
//! `record` records each call, and `graph` has the variables and nodes of the recorded graph. `engine` runs backward through the nodes.
//! `formula` and `names` are the language of the tables. `geometry` has the gradients of views.

mod arguments;
pub mod calls;
mod converted;
mod counted;
mod custom;
mod derivatives;
mod engine;
mod formula;
pub mod functions;
mod geometry;
mod graph;
mod names;
pub mod optim;
#[cfg(feature = "files")]
pub mod optim_files;
#[cfg(feature = "files")]
mod optim_load;
mod outputs;
mod record;
mod reduce;
pub mod scaling;
pub mod schedule;
mod shared;
mod stand_in;
mod store;
mod switch;
mod variable;
mod views;
mod wanted;
