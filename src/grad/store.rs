//! The end of backward: gradients are stored with their leaves. All that may fail comes before the first gradient is stored.

use super::counted::Counted;
use super::graph::{Slot, Variable};
use super::record::count_write;
use super::reduce::{add, dense};
use super::wanted::out_of_memory;
use crate::device::{Device, DeviceGuard};
use crate::error::Result;
use crate::ops::{copy, pointwise};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Selects the device of an operation, including the host, for new tensors, because a graph may use several devices.
pub fn making(device: Device) -> DeviceGuard {
    DeviceGuard::on(device)
}

/// Returns true if `t` is the only handle on its memory and can be added to in place.
pub fn is_own(t: &Tensor) -> bool {
    // SAFETY: a live handle.
    let alone = unsafe { (*t.as_ptr()).refcount } == 1 && t.storage().is_some_and(|storage| storage.refcount() == 2);
    alone && t.layout().is_ok_and(|layout| layout.is_dense())
}

/// Returns true if `gradient` can be added to `before` in place, without memory for a copy.
fn adds_in_place(before: &Tensor, gradient: &Tensor) -> bool {
    before.dtype() == gradient.dtype()
        && before.same_shape(gradient)
        && before.storage_address() != gradient.storage_address()
        && before.layout().is_ok_and(|layout| !layout.overlaps_itself())
}

/// Returns `a + b` in new memory, unrecorded.
fn sum(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let _there = making(a.device());
    let r = Tensor::fresh()?;
    pointwise::arithmetic::cadd(&r, a, Scalar::Int(1), b)?;
    Ok(r)
}

/// A gradient that is ready to be stored.
struct Ready {
    leaf: Counted<Variable>,
    gradient: Tensor,
    /// True if the gradient includes the earlier gradient of the leaf.
    is_sum: bool,
}

/// Adds gradients to the gradients of leaves and of results. With `create` the gradients have histories.
pub fn store(leaves: Vec<(Counted<Variable>, Tensor)>, results: Vec<(Counted<Slot>, Tensor)>, create: bool) -> Result<()> {
    let (mut ready, mut kept): (Vec<Ready>, Vec<(Counted<Slot>, Tensor)>) = (Vec::new(), Vec::new());
    if ready.try_reserve_exact(leaves.len()).is_err() || kept.try_reserve_exact(results.len()).is_err() {
        return Err(out_of_memory());
    }
    for (leaf, gradient) in leaves {
        let before = leaf.lock().grad.clone();
        let _there = making(gradient.device());
        let (gradient, is_sum) = match before {
            Some(before) if create => (add(&before, &gradient)?, true),
            Some(before) if !adds_in_place(&before, &gradient) => (sum(&before, &gradient)?, true),
            None if create => (dense(gradient)?, false),
            // A gradient with other references is copied.
            None if !is_own(&gradient) => (copy::contiguous_copy(&gradient)?, false),
            _ => (gradient, false),
        };
        ready.push(Ready { leaf, gradient, is_sum });
    }
    for (slot, gradient) in results {
        let _there = making(gradient.device());
        let before = slot.0.lock().clone();
        let gradient = match before {
            Some(before) if create => add(&before, &gradient)?,
            Some(before) => sum(&before, &gradient)?,
            None if create => dense(gradient)?,
            None => copy::contiguous_copy(&gradient)?,
        };
        kept.push((slot, gradient));
    }
    ready.into_iter().try_for_each(put)?;
    for (slot, gradient) in kept {
        let old = slot.0.lock().replace(gradient);
        drop(old);
    }
    Ok(())
}

fn put(Ready { leaf, gradient, is_sum }: Ready) -> Result<()> {
    // Two threads may add to one leaf.
    let mut state = leaf.lock();
    let before = state.grad.clone().filter(|_| !is_sum);
    if let Some(before) = before {
        let _there = making(before.device());
        if adds_in_place(&before, &gradient) {
            pointwise::arithmetic::cadd(&before, &before, Scalar::Int(1), &gradient)?;
            count_write(&before);
            return Ok(());
        }
        // Another thread has stored this gradient meanwhile.
        state.grad = Some(sum(&before, &gradient)?);
        return Ok(());
    }
    let old = state.grad.replace(gradient);
    drop(state);
    drop(old);
    Ok(())
}
