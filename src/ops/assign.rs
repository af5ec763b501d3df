//! Assignment of a tensor to a result.

use super::result::{Inputs, Writes, ready};
use crate::error::Result;
use crate::launch::Convert;
use crate::operand::Operand;
use crate::tensor::Tensor;

/// `r = src`, in the shape of `src`.
pub fn assign(r: &Tensor, src: &Tensor) -> Result<()> {
    let from = Operand::of(src)?;
    let ready = ready(r, (from.dtype, &from.layout().shape), Writes::STRIDED, Inputs::in_step(std::slice::from_ref(&from)))?;
    ready.launch(&Convert, &[&from])
}
