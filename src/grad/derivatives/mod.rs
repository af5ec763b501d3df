//! The derivatives of operations. For each row: the inputs, and the gradient of each from `g`, that of the result. What broadcasts, and
//! what is converted to another dtype, is undone where the gradient arrives. [`derivatives!`](super::names::derivatives) explains the
//! lines.

mod compressed;
mod convolution;
mod fourier;
mod layers;
mod linalg;
mod losses;
mod moves;
mod order;
mod pointwise;
mod products;
mod reductions;
mod scans;
mod structure;
mod writing;

use super::formula::Derivative;
use crate::api::function::Function;
use crate::expr::names;

/// All derivatives.
pub static DERIVATIVES: &[&[Derivative]] = &[
    pointwise::POINTWISE,
    structure::STRUCTURE,
    reductions::REDUCTIONS,
    scans::SCANS,
    layers::LAYERS,
    losses::LOSSES,
    order::ORDER,
    moves::MOVES,
    products::PRODUCTS,
    compressed::COMPRESSED,
    linalg::LINALG,
    convolution::IMAGES,
    convolution::CONVOLUTION,
    fourier::FOURIER,
];

/// Rows whose results are made of floats, and are constant all the same: nothing depends on the values in a way that has a slope.
pub static CONSTANT: &[&Function] = &[
    &names::zerosLike::FUNCTION,
    &names::onesLike::FUNCTION,
    &names::fullLike::FUNCTION,
    &names::newEmptyLike::FUNCTION,
    &names::newZerosLike::FUNCTION,
    &names::newOnesLike::FUNCTION,
    &names::newFullLike::FUNCTION,
    &names::randLike::FUNCTION,
    &names::randnLike::FUNCTION,
    &names::randintLike::FUNCTION,
    &names::newRandLike::FUNCTION,
    &names::newRandnLike::FUNCTION,
    &names::newRandintLike::FUNCTION,
    &names::all::FUNCTION,
    &names::allDims::FUNCTION,
    &names::any::FUNCTION,
    &names::anyDims::FUNCTION,
];
