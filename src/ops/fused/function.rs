//! The functions that expressions call.

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
pub trait Function: Sync {
    /// Its name.
    fn name(&self) -> &'static str;
    /// Returns true if it takes these arguments behind the result, some of which are numbers.
    fn takes(&self, numbers: &[bool]) -> bool;
    /// Its name and arguments, for messages; `None` if expressions cannot call it.
    fn shown(&self) -> Option<String>;
    /// Calls it.
    fn call(&'static self, r: &Tensor, arguments: &[Argument<'_>]) -> Result<()>;
}
