//! Elements by mask: those where it is true, in row-major order, and the places themselves.

use super::{changed, written};
use crate::alloc;
use crate::cpu::compress::{compress, count, expand, positions};
use crate::dtype::{Bool, Dtype};
use crate::error::{Result, bail};
use crate::layout::broadcast_shape;
use crate::ops::operand::Operand;
use crate::ops::pointwise::choose::mask_type;
use crate::ops::result::deliver;
use crate::ops::{copy, view};
use crate::tensor::Tensor;

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

    fn as_slice(&self) -> &[Bool] {
        let n = self.bytes.layout.numel() as usize;
        // SAFETY: row-major bytes inside their storage; without elements there may be no memory.
        if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.bytes.first().cast(), n) } }
    }
}

/// `r` = the elements of `t` where `mask`, which broadcast, in a row
pub fn masked_select(r: &Tensor, t: &Tensor, mask: &Tensor) -> Result<()> {
    mask_type(mask)?;
    let shape = broadcast_shape(&t.layout()?.shape, &mask.layout()?.shape)?;
    // The mask may be the result, too.
    let mask = Mask::of(&super::disjoint(r, mask)?, &shape)?;
    let selected = count(mask.as_slice());
    let source = row_major(&view::derive(t, |l| l.expand(&shape))?)?;
    let (from, made) = (Operand::of(&source)?, Tensor::empty(t.defined()?, &[selected as i64])?);
    if selected > 0 {
        // SAFETY: there is room for what is selected, apart from what is read.
        unsafe { compress(from.dtype.size(), made.data(), from.first(), mask.as_slice(), selected) };
    }
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
    let needed = count(mask.as_slice());
    let have = src.layout()?.numel();
    if have < needed as i64 {
        bail!(Shape, "{have} elements for a mask with {needed} places")
    }
    let from = Operand::of(&row_major(&written(t, src)?)?)?;
    // SAFETY: the mask has an entry for each element of `to`, and there are as many elements as it has places.
    let put = |to: &Operand| unsafe { expand(to.dtype.size(), to.first(), from.first(), mask.as_slice()) };
    if to.layout.is_contiguous() {
        put(&to);
        return Ok(());
    }
    let row = copy::contiguous_copy(t)?;
    put(&Operand::of(&row)?);
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

/// A new n x d tensor: the indices of each element of `t` that is not 0, in row-major order.
pub(super) fn places(t: &Tensor) -> Result<Tensor> {
    let shape = t.layout()?.shape;
    // Elements that repeat are looked at once first: there may be no place, whatever their number.
    let once = view::derive(t, |l| {
        (0..l.ndim()).filter(|&d| l.strides[d] == 0).for_each(|d| l.shape[d] = l.shape[d].min(1));
        Ok(())
    })?;
    let of_once = once.layout()?;
    if of_once.shape != shape && count(Mask::of(&truth(&once)?, &of_once.shape)?.as_slice()) == 0 {
        return Tensor::empty(Dtype::Int64, &[0, shape.len() as i64]);
    }
    let truth = truth(t)?;
    let mask = Mask::of(&truth, &shape)?;
    let n = count(mask.as_slice());
    let list = Tensor::empty(Dtype::Int64, &[n as i64, shape.len() as i64])?;
    if n > 0 && !shape.is_empty() {
        // SAFETY: the new tensor has room for `n` rows.
        unsafe { positions(list.data().cast(), mask.as_slice(), &shape) };
    }
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
