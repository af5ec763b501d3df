//! Gradients: operations are recorded where a face calls a row, and `derivatives` says what becomes of the gradient of a result.
//!
//! `record` looks at each call, `graph` has what it leaves: variables and nodes. `engine` runs through nodes, `formula` and `names` are
//! the language of the tables, and `geometry` has the gradients of views.

mod arguments;
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
mod outputs;
mod record;
mod reduce;
pub mod rows;
mod shared;
mod stand_in;
mod store;
mod switch;
mod variable;
mod views;
mod wanted;
