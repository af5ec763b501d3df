//! Fast paths of calls: they read the fields of the handles, allocate no list, and return `None` for every case that needs more work.
//!
//! [`flat`] serves contiguous operands of one shape. [`strided`] serves operands that differ in strides, shapes or dtypes if no temporary
//! is needed: the result has its shape, and each input either shares no element with the result or has the same elements at the same index.

use crate::cpu::engine::{Flat, Job, Work};
use crate::dtype::Dtype;
use crate::launch::Signature;
use crate::layout::INLINE_DIMS;
use crate::plan::{Loop, Plan, each};
use crate::tensor::Tensor;
use std::ptr::null_mut;

/// Returns true if two ranges of memory, each a start and a number of bytes, have no byte in common.
#[inline(always)]
pub fn are_apart((a, n): (*mut u8, usize), (b, m): (*mut u8, usize)) -> bool {
    let ahead = b.addr().wrapping_sub(a.addr());
    ahead >= n && ahead.wrapping_neg() >= m
}

/// The work over operands that are contiguous and have one shape and the kernel's types; `None` for other operands.
///
/// # Safety
/// Until the work has run, no other code accesses the tensors.
#[inline(always)]
pub unsafe fn flat<const N: usize>(tensors: &[&Tensor; N], signature: &Signature<N>) -> Option<Work<N>> {
    let &Signature { types, result, grain, .. } = signature;
    if types[0] != result {
        return None;
    }
    let (first, n) = tensors[0].flat_like(types[0], tensors[0])?;
    let mut data = [first; N];
    for k in 1..N {
        (data[k], _) = tensors[k].flat_like(types[k], tensors[0])?;
        let in_step = data[k] == first && types[k].size() == types[0].size();
        if !in_step && !are_apart((first, n as usize * types[0].size()), (data[k], n as usize * types[k].size())) {
            return None;
        }
    }
    // SAFETY: `flat_like` found `n` elements of its type in each tensor. Each input is disjoint from the result or has the same address.
    // The caller keeps other code away.
    Some(Work::Flat(unsafe { Flat::new(data, n as usize, types, grain) }))
}

/// The job over `tensors`, the result first. `None` if the result does not have the shape to which the inputs broadcast, or if a check
/// fails; the slow path reports the error.
///
/// # Safety
/// The same as for [`flat`].
#[inline(always)]
pub unsafe fn strided<const N: usize>(tensors: &[&Tensor; N], signature: &Signature<N>) -> Option<Box<Job<N>>> {
    let &Signature { types, result, grain, .. } = signature;
    if !result.can_cast(tensors[0].dtype()?) {
        return None;
    }
    let (shape, _) = tensors[0].peek();
    // SAFETY: the caller keeps the same promise.
    let job = unsafe { spread(tensors, types, grain) }?;
    // Along every dim, some input must be as long as the result. Otherwise the result would have to be resized.
    let full =
        |d: usize| tensors[1..].iter().any(|t| (d + t.ndim()).checked_sub(shape.len()).is_some_and(|own| t.peek().0[own] == shape[d]));
    (N == 1 || (0..shape.len()).all(full)).then_some(job)
}

/// The job over `tensors`, the result first, to whose shape the inputs are broadcast. `None` if an operand reaches outside its storage, if
/// two positions of the result share an element, or if an input overlaps the result without having the same elements at the same index.
///
/// # Safety
/// The same as for [`flat`].
#[inline(always)]
pub unsafe fn spread<const N: usize>(tensors: &[&Tensor; N], types: [Dtype; N], grain: usize) -> Option<Box<Job<N>>> {
    let (shape, _) = tensors[0].peek();
    if shape.len() > INLINE_DIMS {
        return None;
    }
    let (mut data, mut dtype, mut ends) = ([null_mut::<u8>(); N], types, [0; N]);
    let mut steps = [[0isize; N]; INLINE_DIMS];
    for k in 0..N {
        let (of, first, capacity) = tensors[k].memory()?;
        let reach = steps_of(tensors[k], shape, k, &mut steps)?;
        if reach >= capacity {
            return None;
        }
        (data[k], dtype[k], ends[k]) = (first, of, (reach + 1) * of.size());
    }
    let item = each(|k| dtype[k].size());
    let (mut loops, mut count) = ([Loop { n: 1, step: [0; N] }; INLINE_DIMS], 0);
    for d in (0..shape.len()).rev() {
        if shape[d] > 1 {
            loops[count] = Loop { n: shape[d] as usize, step: each(|k| steps[d][k] * item[k] as isize) };
            count += 1;
        }
    }
    let loops = &mut loops[..count];
    let in_step = |k: usize| data[k] == data[0] && item[k] == item[0] && loops.iter().all(|l| l.step[k] == l.step[0]);
    if !(1..N).all(|k| are_apart((data[0], ends[0]), (data[k], ends[k])) || in_step(k)) {
        return None;
    }
    let plan = Plan::of_loops(loops, item);
    // No two positions of the result share an element if each loop's step is larger than the reach of the loops inside it.
    let mut reach = 0;
    for l in plan.loops() {
        if l.step[0] <= reach {
            return None;
        }
        reach += (l.n as isize - 1) * l.step[0];
    }
    // SAFETY: each operand's last element is inside its storage. No two positions of the result share an element. Each input is disjoint
    // from the result or has the same elements at the same index. The caller keeps other code away.
    Some(Box::new(unsafe { Job::new(plan, data, dtype, types, grain) }))
}

/// Writes the steps of operand `k` along each dim of `shape`, in elements, and returns the distance from its first element to its last.
/// `None` if the operand does not broadcast to `shape` or has no elements.
#[inline(always)]
fn steps_of<const N: usize>(t: &Tensor, shape: &[i64], k: usize, steps: &mut [[isize; N]; INLINE_DIMS]) -> Option<usize> {
    let (size, stride) = t.peek();
    if size.is_empty() && !t.is_scalar() {
        return None;
    }
    let lead = shape.len().checked_sub(size.len())?;
    let mut reach = 0i64;
    for (d, (&own, &step)) in size.iter().zip(stride).enumerate() {
        let n = shape[lead + d];
        if own <= 0 || step < 0 || (own != 1 && own != n) {
            return None;
        }
        if own > 1 {
            // A step of 0 in the result repeats an element. Its number of positions may overflow any integer.
            if k == 0 && step == 0 {
                return None;
            }
            steps[lead + d][k] = step as isize;
            reach = reach.checked_add((n - 1).checked_mul(step)?)?;
        }
    }
    Some(reach as usize)
}
