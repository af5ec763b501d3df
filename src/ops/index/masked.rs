//! Elements selected by a mask, in row-major order, and the indices of nonzero elements.

use super::{changed, written};
use crate::alloc;
use crate::backend;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch;
use crate::layout::broadcast_shape;
use crate::operand::Operand;
use crate::ops::pointwise::choose::mask_type;
use crate::ops::result::deliver;
use crate::ops::{copy, view};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Returns `t` if it is row-major, else a row-major copy.
fn row_major(t: &Tensor) -> Result<Tensor> {
    Operand::of(t)?;
    if t.layout()?.is_contiguous() { Ok(t.clone()) } else { copy::contiguous_copy(t) }
}

/// The bytes of a mask in row-major order.
struct Mask {
    bytes: Operand,
}

impl Mask {
    fn of(mask: &Tensor, shape: &[i64]) -> Result<Mask> {
        mask_type(mask)?;
        let mask = row_major(&view::derive(mask, |l| l.expand(shape))?)?;
        Ok(Mask { bytes: Operand::of(&mask)? })
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
    let shape = broadcast_shape(&t.layout()?.shape, &mask.layout()?.shape)?;
    if nowhere(mask, &shape)? {
        return deliver([Some((r, t.defined()?, &Tensor::empty(t.defined()?, &[0])?))]);
    }
    // The mask may also be the result.
    let mask = Mask::of(&super::disjoint(r, mask)?, &shape)?;
    let selected = mask.count()?;
    let source = row_major(&view::derive(t, |l| l.expand(&shape))?)?;
    let (from, made) = (Operand::of(&source)?, Tensor::empty(t.defined()?, &[selected as i64])?);
    mask.launch(launch::Mask::Compress, &Operand::of(&made)?, Some(&from))?;
    deliver([Some((r, from.dtype, &made))])
}

/// Replaces the elements of `t` at which `mask` is true by the first elements of `src`, in row-major order.
pub fn masked_copy(t: &Tensor, mask: &Tensor, src: &Tensor) -> Result<()> {
    let to = changed(t)?;
    let (shape, mask_shape) = (&to.layout().shape, mask.layout()?.shape);
    if broadcast_shape(shape, &mask_shape)? != *shape {
        bail!(Shape, "a mask of shape {:?} does not broadcast to {:?}", mask_shape.as_slice(), shape.as_slice())
    }
    let mask = Mask::of(&super::disjoint(t, mask)?, shape)?;
    let needed = mask.count()?;
    let have = src.layout()?.numel();
    if have < needed as i64 {
        bail!(Shape, "{have} elements for a mask with {needed} places")
    }
    let from = Operand::of(&row_major(&written(t, src)?)?)?;
    if to.layout().is_contiguous() {
        return mask.launch(launch::Mask::Expand, &to, Some(&from));
    }
    let row = copy::contiguous_copy(t)?;
    mask.launch(launch::Mask::Expand, &Operand::of(&row)?, Some(&from))?;
    copy::copy(t, &row)
}

/// A row-major mask that is true for the nonzero elements of `t`.
fn truth(t: &Tensor) -> Result<Tensor> {
    Operand::of(t)?;
    match t.defined()? {
        Dtype::Bool | Dtype::Uint8 => row_major(t),
        // Conversion to Bool makes nonzero elements true.
        _ => {
            let made = Tensor::empty(Dtype::Bool, &t.layout()?.shape)?;
            copy::copy(&made, t)?;
            Ok(made)
        }
    }
}

/// Returns true if `t` is smaller than `shape`, or expanded by strides of 0, and has no true element. Reads each element once, however
/// large `shape` is.
fn nowhere(t: &Tensor, shape: &[i64]) -> Result<bool> {
    let once = view::derive(t, |l| {
        (0..l.ndim()).filter(|&d| l.strides[d] == 0).for_each(|d| l.shape[d] = l.shape[d].min(1));
        Ok(())
    })?;
    let of_once = once.layout()?;
    Ok(of_once.shape.as_slice() != shape && Mask::of(&truth(&once)?, &of_once.shape)?.count()? == 0)
}

/// A new `n` x `d` tensor with a row for each nonzero element of `t`: its indices, in row-major order.
pub(super) fn places(t: &Tensor) -> Result<Tensor> {
    let shape = t.layout()?.shape;
    if nowhere(t, &shape)? {
        return Tensor::empty(Dtype::Int64, &[0, shape.len() as i64]);
    }
    let truth = truth(t)?;
    let mask = Mask::of(&truth, &shape)?;
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
