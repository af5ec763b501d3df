//! Row-major operands for work that reads its inputs as slices.

use super::copy;
use super::result::{Inputs, Writes, ready};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::Launchable;
use crate::operand::Operand;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Returns `t` if it is row-major and of `dtype`, else a copy that is.
pub(super) fn dense(t: &Tensor, dtype: Dtype) -> Result<Tensor> {
    Operand::of(t)?;
    let t = copy::to_dtype(t, dtype)?;
    if t.layout()?.is_contiguous() { Ok(t) } else { copy::contiguous_copy(&t) }
}

/// [`dense`] as an operand.
pub(super) fn operand(t: &Tensor, dtype: Dtype) -> Result<Operand> {
    Operand::of(&dense(t, dtype)?)
}

/// Prepares `r` as a result of the first dtype and of `shape`. A device writes the elements, row-major and in the second dtype, from
/// operands that do not overlap the result.
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

/// Prepares `r` as a result of the first dtype and of `shape`. A device writes it row-major and in the second dtype. The row-major inputs
/// `in_step` are read at the index that is written, before it is written. `others`, which follow them in the list of inputs, are read in
/// any order.
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
