//! Elements selected by a mask, in row-major order, and the indices of nonzero elements.

use super::{apart, changed, row_major, written};
use crate::alloc;
use crate::backend;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch;
use crate::layout::{Layout, broadcast_shape, checked_numel};
use crate::operand::Operand;
use crate::ops::pointwise::choose::mask_type;
use crate::ops::result::{Inputs, Writes, deliver, ready};
use crate::ops::{copy, view};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The operand of `t`, expanded to `shape` and row-major.
fn expanded(t: Operand, shape: &[i64]) -> Result<Operand> {
    if t.layout().shape.as_slice() == shape {
        return row_major(t);
    }
    checked_numel(shape)?;
    let layout = t.layout().broadcast_to(shape)?;
    row_major(t.with_layout(layout))
}

/// The bytes of a mask in row-major order.
struct Mask {
    bytes: Operand,
}

impl Mask {
    fn of(mask: Operand, shape: &[i64]) -> Result<Mask> {
        expanded(mask, shape).map(|bytes| Mask { bytes })
    }

    /// The number of positions at which the mask is true.
    fn count(&self) -> Result<usize> {
        backend::on(self.bytes.device).count(&self.bytes)
    }

    /// Runs `work` on the device of the mask.
    fn launch(&self, work: launch::Mask, to: &Operand, from: Option<&Operand>) -> Result<()> {
        let inputs: SmallVec<[&Operand; 2]> = from.into_iter().chain([&self.bytes]).collect();
        backend::launch(&work, to, &inputs)
    }
}

/// `r` = a vector of the elements of `t` at which `mask` is true; both broadcast
pub fn masked_select(r: &Tensor, t: &Tensor, mask: &Tensor) -> Result<()> {
    mask_type(mask)?;
    let (from, mask) = (Operand::of(t)?, Operand::of(mask)?);
    let shape = broadcast_shape(&from.layout().shape, &mask.layout().shape)?;
    let (dtype, writes) = (from.dtype, Writes::ROW_MAJOR.of(from.dtype));
    if nowhere(&mask, &shape)? {
        return ready(r, (dtype, &[0]), writes, Inputs::NONE)?.write(|_| Ok(()));
    }
    let mask = Mask::of(mask, &shape)?;
    let selected = mask.count()? as i64;
    let inputs = [expanded(from, &shape)?, mask.bytes];
    ready(r, (dtype, &[selected]), writes, Inputs::anywhere(&inputs))?.launch(&launch::Mask::Compress, &inputs.each_ref())
}

/// Replaces the elements of `t` at which `mask` is true by the first elements of `src`, in row-major order.
pub fn masked_copy(t: &Tensor, mask: &Tensor, src: &Tensor) -> Result<()> {
    let to = changed(t)?;
    let (shape, mask_shape) = (&to.layout().shape, mask.layout()?.shape);
    if broadcast_shape(shape, &mask_shape)? != *shape {
        bail!(Shape, "a mask of shape {:?} does not broadcast to {:?}", mask_shape.as_slice(), shape.as_slice())
    }
    mask_type(mask)?;
    let mask = Mask::of(apart(&to, mask)?, shape)?;
    let needed = mask.count()?;
    let have = src.layout()?.numel();
    if have < needed as i64 {
        bail!(Shape, "{have} elements for a mask with {needed} places")
    }
    let from = row_major(written(&to, src)?)?;
    if to.layout().is_contiguous() {
        return mask.launch(launch::Mask::Expand, &to, Some(&from));
    }
    let row = copy::contiguous_copy(t)?;
    mask.launch(launch::Mask::Expand, &Operand::of(&row)?, Some(&from))?;
    copy::copy(t, &row)
}

/// A row-major mask that is true for the nonzero elements of `t`.
fn truth(t: Operand) -> Result<Mask> {
    let bytes = match t.dtype {
        Dtype::Bool | Dtype::Uint8 => row_major(t)?,
        // Conversion to Bool makes nonzero elements true.
        _ => {
            let made = Operand::of(&Tensor::empty(Dtype::Bool, &t.layout().shape)?)?;
            copy::copy_elements(&made, &t)?;
            made
        }
    };
    Ok(Mask { bytes })
}

/// Returns true if `t` is smaller than `shape`, or expanded by strides of 0, and has no true element. Reads each element once, however
/// large `shape` is.
fn nowhere(t: &Operand, shape: &[i64]) -> Result<bool> {
    let (own, strides) = (t.layout().shape.as_slice(), t.layout().strides.as_slice());
    let repeats = |d: usize| strides[d] == 0 && own[d] > 1;
    if own == shape && !(0..own.len()).any(repeats) {
        return Ok(false);
    }
    let once = (0..own.len()).map(|d| if repeats(d) { 1 } else { own[d] }).collect();
    Ok(truth(t.with_layout(Layout { shape: once, ..t.layout().clone() }))?.count()? == 0)
}

/// A new `n` x `d` tensor with a row for each nonzero element of `t`: its indices, in row-major order.
pub(super) fn places(t: &Tensor) -> Result<Tensor> {
    let t = Operand::of(t)?;
    let shape = t.layout().shape.clone();
    if nowhere(&t, &shape)? {
        return Tensor::empty(Dtype::Int64, &[0, shape.len() as i64]);
    }
    let mask = truth(t)?;
    let n = mask.count()?;
    let list = Tensor::empty(Dtype::Int64, &[n as i64, shape.len() as i64])?;
    mask.launch(launch::Mask::Positions, &Operand::of(&list)?, None)?;
    Ok(list)
}

/// `r` = a row of indices for each nonzero element of `t`
pub fn nonzero(r: &Tensor, t: &Tensor) -> Result<()> {
    deliver([Some((r, Dtype::Int64, &places(t)?))])
}

/// The indices of the nonzero elements of `t`, a vector for each dimension. A scalar is treated as a vector of one element.
pub fn nonzero_tuple(t: &Tensor) -> Result<Vec<Tensor>> {
    let list = if t.layout()?.ndim() == 0 { places(&view::reshape(t, &[1])?)? } else { places(t)? };
    let columns = list.layout()?.shape[1];
    alloc::list(columns as usize, |d| copy::contiguous_copy(&view::derive(&list, |l| l.select(1, d as i64))?))
}
