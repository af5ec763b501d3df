//! The common first half of operations: operands checked, the result typed, shaped and free of harmful overlap.

mod strided;

use super::copy;
use super::result::Target;
use crate::cpu::engine::{Flat, Job, Work};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{Dims, Layout, broadcast_shape};
use crate::plan::{Plan, each};
use crate::storage::Storage;
use crate::tensor::Tensor;
use smallvec::SmallVec;
pub use strided::spread;
use strided::strided;

/// What is done with the work once it is ready. Handed down, not up: the few words of the short way then never move.
type Run<'a, const N: usize> = &'a dyn Fn(&Work<N>) -> Result<()>;

/// Computes `tensors[0] = f(tensors[1..])`: broadcasting, inputs converted to `common` and handed over in its compute type, a result of dtype
/// `result` unless it has one.
pub fn elementwise<const N: usize>(tensors: [&Tensor; N], common: Dtype, result: Dtype, grain: usize, run: Run<'_, N>) -> Result<()> {
    let mut types = [common.compute(); N];
    types[0] = result.compute();
    ready(tensors, types, common, result, grain, run)
}

/// [`elementwise`] with a type of its own for each operand, the first the one of `result`.
pub fn typed<const N: usize>(tensors: [&Tensor; N], types: [Dtype; N], result: Dtype, grain: usize, run: Run<'_, N>) -> Result<()> {
    ready(tensors, types, types[0].compute(), result, grain, run)
}

#[inline(always)]
fn ready<const N: usize>(
    tensors: [&Tensor; N],
    types: [Dtype; N],
    common: Dtype,
    result: Dtype,
    grain: usize,
    run: Run<'_, N>,
) -> Result<()> {
    if let Some(work) = &flat(&tensors, types, result, grain) {
        return run(work);
    }
    if tensors[0].dtype().is_none() && N > 1 && types[0] == result {
        return fresh(tensors, types, common, result, grain, run);
    }
    long(tensors, types, common, result, grain, run)
}

/// Operands that are not all alike and contiguous. Out of the way of those that are.
#[inline(never)]
fn long<const N: usize>(
    tensors: [&Tensor; N],
    types: [Dtype; N],
    common: Dtype,
    result: Dtype,
    grain: usize,
    run: Run<'_, N>,
) -> Result<()> {
    // Where 16-bit floats are computed in float32, inputs that have more digits are rounded all the same; so are results, by the way that is planned.
    if common != common.compute() && tensors[1..].iter().any(|t| t.dtype().is_some_and(|dtype| dtype != common && dtype.size() > 1)) {
        let converted: SmallVec<[Tensor; 3]> = tensors[1..].iter().map(|t| copy::to_dtype(t, common)).collect::<Result<_>>()?;
        return long(each(|k| if k == 0 { tensors[0] } else { &converted[k - 1] }), types, common, result, grain, run);
    }
    let rounds = result != types[0] && tensors[0].dtype() != Some(result);
    match if rounds { None } else { strided(&tensors, types, result, grain) } {
        Some(job) => run(&Work::Planned(job)),
        None => planned(tensors, types, result, grain, run),
    }
}

/// A fresh result beside inputs that are all alike and contiguous takes their shape first, and then the short way.
#[inline(never)]
fn fresh<const N: usize>(
    tensors: [&Tensor; N],
    types: [Dtype; N],
    common: Dtype,
    result: Dtype,
    grain: usize,
    run: Run<'_, N>,
) -> Result<()> {
    let first = tensors[1];
    if (1..N).all(|k| tensors[k].flat_like(types[k], first).is_some()) {
        tensors[0].renew_like(result, first)?;
        if let Some(work) = &flat(&tensors, types, result, grain) {
            return run(work);
        }
    }
    long(tensors, types, common, result, grain, run)
}

/// The short way, for operands that are already all alike and contiguous.
#[inline]
pub fn flat<const N: usize>(tensors: &[&Tensor; N], types: [Dtype; N], result: Dtype, grain: usize) -> Option<Work<N>> {
    if types[0] != result {
        return None;
    }
    let (first, n) = tensors[0].flat_like(types[0], tensors[0])?;
    let mut data = [first; N];
    for k in 1..N {
        (data[k], _) = tensors[k].flat_like(types[k], tensors[0])?;
        let ahead = (data[k] as usize).wrapping_sub(first as usize);
        let apart = ahead >= n as usize * types[0].size() && ahead.wrapping_neg() >= n as usize * types[k].size();
        let in_step = ahead == 0 && types[k].size() == types[0].size();
        if !apart && !in_step {
            return None;
        }
    }
    // SAFETY: `flat_like` found `n` elements of its type in each tensor; inputs lie apart from the result, or in step with it. Callers run the
    // work before they touch the tensors again.
    Some(Work::Flat(unsafe { Flat::new(data, n as usize, types, grain) }))
}

#[inline(never)]
fn planned<const N: usize>(tensors: [&Tensor; N], types: [Dtype; N], result: Dtype, grain: usize, run: Run<'_, N>) -> Result<()> {
    same_device(&tensors)?;
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
        if target.kept.as_ref().is_some_and(|kept| harms(kept, operand)) {
            operand.copy(t)?;
        }
    }
    let placed = target.place_as(types[0], false, &|own| read(&operands, own))?;
    let all: [&Operand; N] = each(|k| if k == 0 { &placed.written } else { &operands[k - 1] });
    let dtype: [Dtype; N] = each(|k| all[k].dtype);
    let plan = Plan::new(each(|k| &all[k].layout), each(|k| dtype[k].size()));
    // SAFETY: `Operand::of` and `Target` checked every layout against its storage, which the operands keep alive; inputs that `harms` found
    // were copied.
    let job = unsafe { Job::new(plan, each(|k| all[k].first()), dtype, types, grain) };
    run(&Work::Planned(Box::new(job)))?;
    placed.commit()
}

/// Whether writing `to` would change elements of `input` that are still to be read.
fn harms(to: &Operand, input: &Operand) -> bool {
    let ((a, b), (c, d)) = (to.span(), input.span());
    let in_step = to.first() == input.first() && to.dtype.size() == input.dtype.size() && to.layout.strides == input.layout.strides;
    a < d && c < b && !in_step
}

/// Fails unless all tensors live on the same device, and that device is the host.
pub fn same_device(tensors: &[&Tensor]) -> Result<()> {
    for t in tensors {
        if t.dtype().is_some() && t.device() != Device::Cpu {
            bail!(Device, "not available on {}", t.device())
        }
    }
    Ok(())
}

/// An operand that may be read: inside its storage, with a geometry of its own.
pub struct Operand {
    /// Keeps the elements alive when the tensor is a result too and gets new memory.
    pub(super) storage: Option<Storage>,
    storage_data: *mut u8,
    /// Its element type.
    pub dtype: Dtype,
    /// Its geometry, broadcast or not.
    pub layout: Layout,
}

impl Operand {
    /// Checks that every element of `t` lies inside its storage.
    pub fn of(t: &Tensor) -> Result<Operand> {
        Operand::with(t, t.defined()?, t.layout()?)
    }

    /// [`Operand::of`] for a tensor whose dtype and layout are known.
    pub fn with(t: &Tensor, dtype: Dtype, layout: Layout) -> Result<Operand> {
        t.check_bounds(&layout)?;
        let storage_data = t.data().wrapping_offset(-(layout.offset as isize * dtype.size() as isize));
        Ok(Operand { storage: t.storage(), storage_data, dtype, layout })
    }

    /// A layout that lies inside `storage`.
    pub fn inside(storage: Storage, dtype: Dtype, layout: Layout) -> Operand {
        let storage_data = storage.data();
        Operand { storage: Some(storage), storage_data, dtype, layout }
    }

    /// The address of the first element.
    pub fn first(&self) -> *mut u8 {
        self.storage_data.wrapping_offset(self.layout.offset as isize * self.dtype.size() as isize)
    }

    /// First byte and one past the last.
    pub fn span(&self) -> (usize, usize) {
        let start = self.first() as usize;
        let end = self.layout.end().unwrap_or(0);
        if end == 0 { (start, start) } else { (start, start + (end - self.layout.offset) as usize * self.dtype.size()) }
    }

    /// Replaces the operand, which is `t`, by a contiguous copy.
    fn copy(&mut self, t: &Tensor) -> Result<()> {
        let copied = Operand::of(&copy::contiguous_copy(t)?)?;
        let layout = copied.layout.broadcast_to(&self.layout.shape)?;
        *self = Operand { layout, ..copied };
        Ok(())
    }
}

/// Whether elements of `inputs` lie in `storage`.
fn read(inputs: &[Operand], storage: &Storage) -> bool {
    inputs.iter().any(|input| input.storage.as_ref().is_some_and(|s| s.overlaps(storage)))
}
