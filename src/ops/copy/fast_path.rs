//! Fast paths of copies, clones and fills on the host: they read few fields of the handles and make no operands.

use crate::cpu::copy::{copy as copy_planned, copy_flat};
use crate::cpu::engine::CHEAP;
use crate::cpu::fill::fill_bits;
use crate::cpu::map;
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::launch::Signature;
use crate::layout::Layout;
use crate::operand::Operand;
use crate::ops::fast_path;
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::work::Work;

/// Copies and returns true if `r` has its shape already and either shares no element with `src` or has the same elements at the same index.
/// Otherwise returns false and changes nothing.
pub fn copy(r: &Tensor, src: &Tensor) -> bool {
    let (Some(to), Some(from)) = (r.dtype(), src.dtype()) else { return false };
    // `r` and `src` have the same elements at the same index: nothing is copied, and two different dtypes take the slow path.
    let same = |data: [*mut u8; 2]| data[0] == data[1];
    // SAFETY: all positions are inside the tensors, and elements that are not identical do not overlap.
    unsafe {
        if let Some(Work::Flat(flat)) = fast_path::flat(&[r, src], &Signature::of_types([to, from], to, CHEAP)) {
            let row = flat.row();
            if same(row.at) {
                return to == from;
            }
            copy_flat(row.cols, (row.at[0], to), (row.at[1], from));
        } else if let Some(job) = fast_path::spread(&[r, src], [to; 2], CHEAP) {
            let (plan, data) = job.into_parts();
            if same(data) {
                return to == from;
            }
            copy_planned(plan, (data[0], to), (data[1], from));
        } else {
            return false;
        }
    }
    true
}

/// Copies the elements of `from` in the order of `layout`, another layout of them, and returns true if `r` is contiguous, has the shape and
/// the dtype already, and overlaps no element. Otherwise returns false and changes nothing.
pub fn reorder(r: &Tensor, from: &Operand, layout: &Layout) -> bool {
    let Some((data, n)) = r.flat_like(from.dtype, r) else { return false };
    let bytes = n as usize * from.dtype.size();
    if from.device != Device::Cpu || r.peek().0 != layout.shape.as_slice() || from.reaches_into(data.addr(), data.addr() + bytes) {
        return false;
    }
    let plan = Plan::new([&Layout::contiguous(&layout.shape), layout], [from.dtype.size(); 2]);
    // SAFETY: `flat_like` found the elements of `r`, and `layout` has the elements of `from`. They do not overlap.
    unsafe { copy_planned(plan, (data, from.dtype), (from.first_of(layout), from.dtype)) };
    true
}

/// A clone of a contiguous tensor; `None` for others.
pub fn clone(t: &Tensor, dtype: Dtype) -> Result<Option<Tensor>> {
    let Some(from) = t.dtype() else { return Ok(None) };
    let Some((data, n)) = t.flat_like(from, t) else { return Ok(None) };
    let (shape, strides) = t.peek();
    let cloned = Tensor::empty(dtype, shape)?;
    if cloned.peek().1 != strides {
        return Ok(None);
    }
    // SAFETY: both tensors hold `n` elements of their dtypes, and the new one is disjoint.
    unsafe { copy_flat(n as usize, (cloned.data(), dtype), (data, from)) };
    Ok(Some(cloned))
}

/// Fills elements of a compute type.
#[inline(always)]
fn by_type(work: &Work<1>, dtype: Dtype, value: Scalar) {
    match dtype {
        Dtype::Float32 => map::fill::<f32>(work, Element::from_scalar(value)),
        Dtype::Float64 => map::fill::<f64>(work, Element::from_scalar(value)),
        _ => fill_bits(work, dtype, value),
    }
}

/// Fills and returns true if no two positions share an element. Otherwise returns false and changes nothing.
#[inline(always)]
pub fn fill(r: &Tensor, dtype: Dtype, value: Scalar) -> bool {
    if dtype == dtype.compute()
        // SAFETY: the work runs before this function returns.
        && let Some(work) = &unsafe { fast_path::flat(&[r], &Signature::of_types([dtype], dtype, CHEAP)) }
    {
        by_type(work, dtype, value);
        return true;
    }
    // SAFETY: the work runs before this function returns.
    let job = unsafe { fast_path::spread(&[r], [dtype], CHEAP) };
    job.map(|job| fill_bits(&Work::Planned(job), dtype, value)).is_some()
}
