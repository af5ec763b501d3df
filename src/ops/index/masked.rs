//! Elements by mask: those where it is true, in row-major order, and the places themselves.

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

/// A tensor whose elements lie in a row.
fn row_major(t: &Tensor) -> Result<Tensor> {
    Operand::of(t)?;
    if t.layout()?.is_contiguous() { Ok(t.clone()) } else { copy::contiguous_copy(t) }
}

/// The bytes of a mask, in a row.
struct Mask {
    bytes: Operand,
}

impl Mask {
    fn of(mask: &Tensor, shape: &[i64]) -> Result<Mask> {
        mask_type(mask)?;
        let mask = row_major(&view::derive(mask, |l| l.expand(shape))?)?;
        Ok(Mask { bytes: Operand::of(&mask)? })
    }

    /// The number of places where it is true.
    fn count(&self) -> Result<usize> {
        backend::on(self.bytes.device).count(&self.bytes)
    }

    /// Lets a device do the work.
    fn launch(&self, work: launch::Mask, to: &Operand, from: Option<&Operand>) -> Result<()> {
        let inputs: SmallVec<[&Operand; 2]> = from.into_iter().chain([&self.bytes]).collect();
        backend::launch(&work, to, &inputs)
    }
}

/// `r` = the elements of `t` where `mask`, which broadcast, in a row
pub fn masked_select(r: &Tensor, t: &Tensor, mask: &Tensor) -> Result<()> {
    mask_type(mask)?;
    let shape = broadcast_shape(&t.layout()?.shape, &mask.layout()?.shape)?;
    if nowhere(mask, &shape)? {
        return deliver([Some((r, t.defined()?, &Tensor::empty(t.defined()?, &[0])?))]);
    }
    // The mask may be the result, too.
    let mask = Mask::of(&super::disjoint(r, mask)?, &shape)?;
    let selected = mask.count()?;
    let source = row_major(&view::derive(t, |l| l.expand(&shape))?)?;
    let (from, made) = (Operand::of(&source)?, Tensor::empty(t.defined()?, &[selected as i64])?);
    mask.launch(launch::Mask::Compress, &Operand::of(&made)?, Some(&from))?;
    deliver([Some((r, from.dtype, &made))])
}

/// Elements of `t` where `mask` = those of `src`, in a row
pub fn masked_copy(t: &Tensor, mask: &Tensor, src: &Tensor) -> Result<()> {
    let to = changed(t)?;
    let (shape, mask_shape) = (&to.layout.shape, mask.layout()?.shape);
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
    if to.layout.is_contiguous() {
        return mask.launch(launch::Mask::Expand, &to, Some(&from));
    }
    let row = copy::contiguous_copy(t)?;
    mask.launch(launch::Mask::Expand, &Operand::of(&row)?, Some(&from))?;
    copy::copy(t, &row)
}

/// Where the elements of `t` are not 0, in a row.
fn truth(t: &Tensor) -> Result<Tensor> {
    Operand::of(t)?;
    match t.defined()? {
        Dtype::Bool | Dtype::Uint8 => row_major(t),
        // Converted to Bool, what is not 0 is true.
        _ => {
            let made = Tensor::empty(Dtype::Bool, &t.layout()?.shape)?;
            copy::copy(&made, t)?;
            Ok(made)
        }
    }
}

/// True if `t` is expanded to `shape`, in memory or by broadcasting, and no element of it is true: each is read once, whatever the size of
/// `shape`.
fn nowhere(t: &Tensor, shape: &[i64]) -> Result<bool> {
    let once = view::derive(t, |l| {
        (0..l.ndim()).filter(|&d| l.strides[d] == 0).for_each(|d| l.shape[d] = l.shape[d].min(1));
        Ok(())
    })?;
    let of_once = once.layout()?;
    Ok(of_once.shape.as_slice() != shape && Mask::of(&truth(&once)?, &of_once.shape)?.count()? == 0)
}

/// A new n x d tensor: the indices of each element of `t` that is not 0, in row-major order.
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

/// `r` = the indices of each element of `t` that is not 0, a row each
pub fn nonzero(r: &Tensor, t: &Tensor) -> Result<()> {
    deliver([Some((r, Dtype::Int64, &places(t)?))])
}

/// The indices of each element of `t` that is not 0, a vector for each dimension; of a scalar, those of a vector of one element.
pub fn nonzero_tuple(t: &Tensor) -> Result<Vec<Tensor>> {
    let list = if t.layout()?.ndim() == 0 { places(&view::reshape(t, &[1])?)? } else { places(t)? };
    let columns = list.layout()?.shape[1];
    alloc::list(columns as usize, |d| copy::contiguous_copy(&view::derive(&list, |l| l.select(1, d as i64))?))
}
