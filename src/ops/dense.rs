//! Tensors as slices: what is read element by element in one order, made row-major first where it is not.

use super::copy;
use super::result::{Inputs, Writes, ready};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::Launchable;
use crate::operand::Operand;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// `t` row-major and of `dtype`; a copy only where it is neither.
pub(super) fn dense(t: &Tensor, dtype: Dtype) -> Result<Tensor> {
    Operand::of(t)?;
    let t = copy::to_dtype(t, dtype)?;
    if t.layout()?.is_contiguous() { Ok(t) } else { copy::contiguous_copy(&t) }
}

/// [`dense`] as an operand.
pub(super) fn operand(t: &Tensor, dtype: Dtype) -> Result<Operand> {
    Operand::of(&dense(t, dtype)?)
}

/// Makes a result of the first dtype and of `shape`: a device writes its elements, row-major and in the second dtype, from operands that
/// lie apart.
pub(super) fn launch(
    r: &Tensor,
    (dtype, compute): (Dtype, Dtype),
    shape: &[i64],
    work: &impl Launchable,
    inputs: &[Operand],
) -> Result<()> {
    let refs: SmallVec<[&Operand; 3]> = inputs.iter().collect();
    ready(r, (dtype, shape), Writes::ROW_MAJOR.of(compute), Inputs::anywhere(inputs))?.launch(work, &refs)
}

/// Makes a result of the first dtype and of `shape`: a device writes it row-major and in the second dtype, reading each element of the
/// row-major inputs `in_step` before it writes the one at the same place, and `others`, which are listed behind them, in any order.
pub(super) fn launched(
    r: &Tensor,
    (dtype, compute): (Dtype, Dtype),
    shape: &[i64],
    [in_step, others]: [&[&Tensor]; 2],
    work: &impl Launchable,
) -> Result<()> {
    let operands = |tensors: &[&Tensor]| tensors.iter().map(|t| Operand::of(t)).collect::<Result<SmallVec<[Operand; 3]>>>();
    let (in_step, others) = (operands(in_step)?, operands(others)?);
    let ready = ready(r, (dtype, shape), Writes::ROW_MAJOR.of(compute), Inputs::in_step(&in_step).and_anywhere(&others))?;
    let inputs: SmallVec<[&Operand; 4]> = in_step.iter().chain(&others).collect();
    ready.launch(work, &inputs)
}
