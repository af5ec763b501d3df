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
use crate::capi::face::row::Row;
use crate::capi::words::names;

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
pub static CONSTANT: &[&Row] = &[
    &names::zerosLike::ROW,
    &names::onesLike::ROW,
    &names::fullLike::ROW,
    &names::newEmptyLike::ROW,
    &names::newZerosLike::ROW,
    &names::newOnesLike::ROW,
    &names::newFullLike::ROW,
    &names::randLike::ROW,
    &names::randnLike::ROW,
    &names::randintLike::ROW,
    &names::newRandLike::ROW,
    &names::newRandnLike::ROW,
    &names::newRandintLike::ROW,
    &names::all::ROW,
    &names::allDims::ROW,
    &names::any::ROW,
    &names::anyDims::ROW,
];
