//! The steps of an elementwise operation: check the operands, choose dtype and shape of the result, avoid harmful overlap, launch.

use super::copy;
use super::device::to_device;
use super::fast_path::{flat, strided};
use super::result::{Inputs, Writes, ready};
use crate::device::{self, Device};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::{Choice, Map, Numbers, Op};
use crate::layout::{Dims, broadcast_shape};
use crate::operand::Operand;
use crate::plan::each;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::work::Work;
use smallvec::SmallVec;

/// A call of an operation.
#[derive(Clone, Copy)]
struct Call<'a, const N: usize> {
    op: &'static Op<N>,
    choice: &'a Choice<N>,
    common: Dtype,
    numbers: &'a [Scalar],
}

impl<const N: usize> Call<'_, N> {
    #[inline(always)]
    fn run(&self, work: &Work<N>) {
        (self.choice.kernel)(work, &Numbers::new(self.numbers, self.common));
    }
}

/// Computes `tensors[0]` from the other tensors by the kernel that `choice` names, with broadcasting.
pub fn elementwise<const N: usize>(
    op: &'static Op<N>,
    tensors: &[&Tensor; N],
    choice: &Choice<N>,
    common: Dtype,
    numbers: &[Scalar],
) -> Result<()> {
    let (call, signature) = (Call { op, choice, common, numbers }, &choice.signature);
    // SAFETY: the work runs before this function returns.
    if let Some(work) = &unsafe { flat(tensors, signature) } {
        call.run(work);
        return Ok(());
    }
    if signature.types[0] == signature.result && tensors[0].is_unused(signature.result) {
        return fresh(tensors, &call);
    }
    long(tensors, &call)
}

/// [`elementwise`] for operands that differ or are not contiguous. A separate function keeps the fast path short.
#[inline(never)]
fn long<const N: usize>(tensors: &[&Tensor; N], call: &Call<'_, N>) -> Result<()> {
    let signature = &call.choice.signature;
    let (common, result) = (signature.common, signature.result);
    // 16-bit floats are computed in float32. Inputs with more digits are rounded to 16 bits first, and `launched` rounds the results.
    if common != common.compute() && tensors[1..].iter().any(|t| t.dtype().is_some_and(|dtype| dtype != common && dtype.size() > 1)) {
        let converted: SmallVec<[Tensor; 3]> = tensors[1..].iter().map(|t| copy::to_dtype(t, common)).collect::<Result<_>>()?;
        return long(&each(|k| if k == 0 { tensors[0] } else { &converted[k - 1] }), call);
    }
    let rounds = result != signature.types[0] && tensors[0].dtype() != Some(result);
    // SAFETY: the job runs before this function returns.
    match if rounds { None } else { unsafe { strided(tensors, signature) } } {
        Some(job) => {
            call.run(&Work::Planned(job));
            Ok(())
        }
        None => launched(tensors, call),
    }
}

/// Computes a fresh result from inputs of one shape that are contiguous and in the kernel's types: the result gets their shape and takes
/// the fast path.
#[inline(never)]
fn fresh<const N: usize>(tensors: &[&Tensor; N], call: &Call<'_, N>) -> Result<()> {
    let (first, signature) = (tensors[1], &call.choice.signature);
    if (1..N).all(|k| tensors[k].flat_like(signature.types[k], first).is_some()) {
        tensors[0].renew_like(signature.result, first)?;
        // SAFETY: the work runs before this function returns.
        if let Some(work) = &unsafe { flat(tensors, signature) } {
            call.run(work);
            return Ok(());
        }
    }
    long(tensors, call)
}

#[inline(never)]
fn launched<const N: usize>(tensors: &[&Tensor; N], call: &Call<'_, N>) -> Result<()> {
    let signature = &call.choice.signature;
    let mut operands: SmallVec<[Operand; 3]> = SmallVec::new();
    let mut shape = Dims::new();
    for t in &tensors[1..] {
        let operand = Operand::of(t)?;
        shape = if operands.is_empty() { operand.layout().shape.clone() } else { broadcast_shape(&shape, &operand.layout().shape)? };
        operands.push(operand);
    }
    if device::is_used() {
        bring_numbers(&mut operands)?;
    }
    for operand in &mut operands {
        operand.set_layout(operand.layout().broadcast_to(&shape)?);
    }
    let writes = Writes::converted_from(signature.types[0]);
    let ready = ready(tensors[0], (signature.result, &shape), writes, Inputs::in_step(&operands))?;
    let inputs: SmallVec<[&Operand; 3]> = operands.iter().collect();
    ready.launch(&Map { op: call.op.as_elementwise(), common: call.common, numbers: call.numbers }, &inputs)
}

/// Moves 0-d operands of the host to the device of the other operands.
#[inline(never)]
pub(super) fn bring_numbers(operands: &mut [Operand]) -> Result<()> {
    let Some(device) = operands.iter().map(|operand| operand.device).find(|&device| device != Device::Cpu) else { return Ok(()) };
    for operand in operands.iter_mut().filter(|operand| operand.device == Device::Cpu && operand.layout().ndim() == 0) {
        *operand = Operand::of(&to_device(&operand.tensor()?, device)?)?;
    }
    Ok(())
}
