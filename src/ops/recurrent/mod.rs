//! Recurrent layers over sequences: LSTM, GRU and simple layers, and their gradients.
//!
//! All sequences are packed: step after step, without padding ([`packing`]). One product
//! multiplies all steps of the input. Each step then adds the product of the previous state, and applies the gates ([`forward`]). The
//! gradients are computed step by step from the last to the first, from the gates that the forward call keeps ([`backward`]).

mod backward;
mod cell;
mod forward;
mod kept;
mod network;
mod packing;

pub use backward::{Arriving, Gradients, backward};
pub use cell::Cell;
pub use forward::{States, forward, single};
pub use network::Network;

use super::view;
use crate::error::Result;
use crate::tensor::Tensor;

/// Entries `start` to `start + length` of dimension `dim`.
fn part(t: &Tensor, dim: i32, start: i64, length: i64) -> Result<Tensor> {
    view::derive(t, |l| l.narrow(dim, start, length))
}
