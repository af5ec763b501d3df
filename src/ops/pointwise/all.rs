//! The index of all elementwise operations.

use super::{activation, arithmetic, bits, choose, compare, divide, function, gradient, loss, recurrent, step};
use crate::launch::Elementwise;

/// All operations, for devices that compile kernels from their definitions.
pub static OPERATIONS: &[&[Elementwise]] = &[
    activation::ACTIVATIONS,
    arithmetic::ARITHMETIC,
    arithmetic::SUMS,
    arithmetic::BOUNDS,
    arithmetic::POWERS,
    bits::BITS,
    choose::CHOICES,
    compare::COMPARISONS,
    compare::CLOSENESS,
    divide::QUOTIENTS,
    divide::DIVISIONS,
    function::FUNCTIONS,
    function::DERIVED,
    function::GAMMA,
    function::NUMBERS,
    gradient::GRADIENTS,
    loss::LOSSES,
    recurrent::RECURRENT,
    step::STEPS,
];
