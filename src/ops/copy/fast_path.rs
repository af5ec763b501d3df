//! The fast paths of copies, clones and fills on the host: few looks at the handles, and no operands.

use crate::cpu::copy::{copy as copy_planned, copy_flat};
use crate::cpu::engine::CHEAP;
use crate::cpu::fill::fill_bits;
use crate::cpu::map;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::launch::Signature;
use crate::ops::fast_path;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::work::Work;

/// Copies and returns true where the result has its shape already and shares no element with `src` but in step; else nothing has happened.
pub fn copy(r: &Tensor, src: &Tensor) -> bool {
    let (Some(to), Some(from)) = (r.dtype(), src.dtype()) else { return false };
    // In step: there is nothing to do, unless it is for another dtype.
    let same = |data: [*mut u8; 2]| data[0] == data[1];
    // SAFETY: all positions lie inside the tensors, and those that are not the same lie apart.
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

/// A clone of what is contiguous.
pub fn clone(t: &Tensor, dtype: Dtype) -> Result<Option<Tensor>> {
    let Some(from) = t.dtype() else { return Ok(None) };
    let Some((data, n)) = t.flat_like(from, t) else { return Ok(None) };
    let (shape, strides) = t.peek();
    let cloned = Tensor::empty(dtype, shape)?;
    if cloned.peek().1 != strides {
        return Ok(None);
    }
    // SAFETY: both tensors hold `n` elements of their dtypes, and the new one lies apart.
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

/// Fills and returns true if no two elements share memory; else nothing has happened.
#[inline(always)]
pub fn fill(r: &Tensor, dtype: Dtype, value: Scalar) -> bool {
    if dtype == dtype.compute()
        // SAFETY: the work runs before anything else.
        && let Some(work) = &unsafe { fast_path::flat(&[r], &Signature::of_types([dtype], dtype, CHEAP)) }
    {
        by_type(work, dtype, value);
        return true;
    }
    // SAFETY: as above.
    let job = unsafe { fast_path::spread(&[r], [dtype], CHEAP) };
    job.map(|job| fill_bits(&Work::Planned(job), dtype, value)).is_some()
}
