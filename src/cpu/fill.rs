//! Fills: one number in every element.

use super::engine::{CHEAP, Flat, Job, Work};
use super::index::by_size;
use super::map;
use crate::dtype::{Dtype, Element};
use crate::element::bits;
use crate::operand::Operand;
use crate::plan::Plan;
use crate::scalar::Scalar;

/// Fills with the bits of the value.
pub fn fill_bits(work: &Work<1>, dtype: Dtype, value: Scalar) {
    let bits = bits(dtype, value).cast_signed();
    by_size!(dtype.size(), T => map::fill::<T>(work, T::from_i64(bits)))
}

/// Sets every element of `to` to `value`. Strides may overlap.
pub fn fill_operand(to: &Operand, value: Scalar) {
    let work = match to.layout().is_contiguous() {
        // SAFETY: the layout is inside the storage of the operand, which lives while the work runs.
        true => Work::Flat(unsafe { Flat::new([to.first()], to.layout().numel() as usize, [to.dtype], CHEAP) }),
        false => Work::Planned(every_element(to)),
    };
    fill_bits(&work, to.dtype, value)
}

/// Returns a job that visits every element of `to` at least once.
#[inline(never)]
fn every_element(to: &Operand) -> Box<Job<1>> {
    let mut layout = to.layout().clone();
    // A dimension of stride 0 would only write the same elements again.
    for d in 0..layout.ndim() {
        if layout.strides[d] == 0 && layout.shape[d] > 1 {
            layout.shape[d] = 1;
        }
    }
    // Two threads must not write one element, not even the same value.
    let grain = if layout.overlaps_itself() { usize::MAX } else { CHEAP };
    let (plan, dtype) = (Plan::new([&layout], [to.dtype.size()]), [to.dtype]);
    // SAFETY: the operand's layout is inside the storage, which the operand keeps alive. If positions share elements, one thread does all.
    Box::new(unsafe { Job::new(plan, [to.first()], dtype, dtype, grain) })
}
