//! The derivatives of operations. Each entry has the inputs of a function, and the gradient of each input from `g`, the gradient of the
//! result. Broadcasting and conversions are undone where the gradient arrives. [`derivatives!`](super::names::derivatives) explains the
//! entries.

mod attention;
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
mod recurrent;
mod reductions;
mod resample;
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
    attention::ATTENTION,
    layers::LAYERS,
    losses::LOSSES,
    recurrent::RECURRENT,
    order::ORDER,
    moves::MOVES,
    products::PRODUCTS,
    compressed::COMPRESSED,
    linalg::LINALG,
    convolution::IMAGES,
    convolution::CONVOLUTION,
    resample::RESAMPLE,
    fourier::FOURIER,
];

/// Functions with float operands whose results are piecewise constant, so that their gradients are 0.
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
