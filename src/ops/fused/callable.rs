//! The interface of functions that expressions call.

use crate::error::Result;
use crate::tensor::Tensor;

/// An argument of a function.
#[derive(Clone, Copy)]
pub enum Argument<'a> {
    /// An operand.
    Tensor(&'a Tensor),
    /// A number.
    Number(f64),
}

/// A function that computes a result from tensors and numbers element by element.
pub trait Callable: Sync {
    /// The name of the function.
    fn name(&self) -> &'static str;
    /// Returns true if the function accepts these arguments after the result. `numbers[k]` is true if argument `k` is a number.
    fn takes(&self, numbers: &[bool]) -> bool;
    /// The name and the arguments, for messages; `None` if expressions cannot call the function.
    fn shown(&self) -> Option<String>;
    /// Calls the function.
    fn call(&'static self, r: &Tensor, arguments: &[Argument<'_>]) -> Result<()>;
}
