//! The common first half of operations: operands checked, the result typed, shaped and free of harmful overlap.

use super::copy;
use super::fast_path::{Signature, flat, strided};
use super::operand::Operand;
use super::result::Target;
use crate::cpu::engine::{Job, Work};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::layout::{Dims, broadcast_shape};
use crate::plan::{Plan, each};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The callback that gets the work once it is ready: returning the work would copy it.
type Run<'a, const N: usize> = &'a dyn Fn(&Work<N>) -> Result<()>;

/// Computes `tensors[0] = f(tensors[1..])`, with broadcasting.
pub fn elementwise<const N: usize>(tensors: &[&Tensor; N], signature: &Signature<N>, run: Run<'_, N>) -> Result<()> {
    // SAFETY: the work runs at once.
    if let Some(work) = &unsafe { flat(tensors, signature) } {
        return run(work);
    }
    if tensors[0].dtype().is_none() && N > 1 && signature.types[0] == signature.result {
        return fresh(tensors, signature, run);
    }
    long(tensors, signature, run)
}

/// [`elementwise`] for operands that are not all alike and contiguous: a function of its own, so that the fast path stays short.
#[inline(never)]
fn long<const N: usize>(tensors: &[&Tensor; N], signature: &Signature<N>, run: Run<'_, N>) -> Result<()> {
    let &Signature { types, common, result, .. } = signature;
    // Where 16-bit floats are computed in float32, inputs that have more digits are rounded all the same; so are results, by the way that is planned.
    if common != common.compute() && tensors[1..].iter().any(|t| t.dtype().is_some_and(|dtype| dtype != common && dtype.size() > 1)) {
        let converted: SmallVec<[Tensor; 3]> = tensors[1..].iter().map(|t| copy::to_dtype(t, common)).collect::<Result<_>>()?;
        return long(&each(|k| if k == 0 { tensors[0] } else { &converted[k - 1] }), signature, run);
    }
    let rounds = result != types[0] && tensors[0].dtype() != Some(result);
    // SAFETY: the job runs at once.
    match if rounds { None } else { unsafe { strided(tensors, signature) } } {
        Some(job) => run(&Work::Planned(job)),
        None => planned(tensors, signature, run),
    }
}

/// A fresh result beside inputs that are all alike and contiguous takes their shape first, and then the fast path.
#[inline(never)]
fn fresh<const N: usize>(tensors: &[&Tensor; N], signature: &Signature<N>, run: Run<'_, N>) -> Result<()> {
    let first = tensors[1];
    if (1..N).all(|k| tensors[k].flat_like(signature.types[k], first).is_some()) {
        tensors[0].renew_like(signature.result, first)?;
        // SAFETY: the work runs at once.
        if let Some(work) = &unsafe { flat(tensors, signature) } {
            return run(work);
        }
    }
    long(tensors, signature, run)
}

#[inline(never)]
fn planned<const N: usize>(tensors: &[&Tensor; N], signature: &Signature<N>, run: Run<'_, N>) -> Result<()> {
    let &Signature { types, result, grain, .. } = signature;
    let mut operands: SmallVec<[Operand; 4]> = SmallVec::new();
    let mut shape: Option<Dims> = None;
    for t in &tensors[1..] {
        let operand = Operand::of(t)?;
        shape = Some(match shape {
            None => operand.layout.shape.clone(),
            Some(shape) => broadcast_shape(&shape, &operand.layout.shape)?,
        });
        operands.push(operand);
    }
    let r = tensors[0];
    let shape = match shape {
        Some(shape) => shape,
        None => r.layout()?.shape,
    };
    for operand in &mut operands {
        operand.layout = operand.layout.broadcast_to(&shape)?;
    }
    let target = Target::check(r, result, &shape)?;
    for (operand, t) in operands.iter_mut().zip(&tensors[1..]) {
        if target.kept.as_ref().is_some_and(|kept| kept.overlaps(operand) && !kept.in_step_with(operand)) {
            *operand = copied(operand, t)?;
        }
    }
    let placed = target.place_as(types[0], false, &|own| operands.iter().any(|input| input.lies_in(own)))?;
    let all: [&Operand; N] = each(|k| if k == 0 { &placed.written } else { &operands[k - 1] });
    let dtype: [Dtype; N] = each(|k| all[k].dtype);
    let plan = Plan::new(each(|k| &all[k].layout), each(|k| dtype[k].size()));
    // SAFETY: `Operand::of` and `Target` checked every layout against its storage, which the operands keep alive; inputs that `overlaps` found
    // were copied.
    let job = unsafe { Job::new(plan, each(|k| all[k].first()), dtype, types, grain) };
    run(&Work::Planned(Box::new(job)))?;
    placed.commit()
}

/// A contiguous copy of an operand, which is `t`.
fn copied(operand: &Operand, t: &Tensor) -> Result<Operand> {
    let mut copied = Operand::of(&copy::contiguous_copy(t)?)?;
    let layout = copied.layout.broadcast_to(&operand.layout.shape)?;
    copied.layout = layout;
    Ok(copied)
}
