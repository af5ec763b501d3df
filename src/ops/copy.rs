//! Copies and conversions: `copy`, `clone`, `contiguous`, `to_dtype`, `fill`; single elements.

mod fast_path;
pub(super) use fast_path::reorder;

use super::device::{copy_across, read_at, write_at};
use crate::backend::launch;
use crate::device::{Device, DeviceGuard};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Convert, Fill};
use crate::layout::{Layout, TH_CONTIGUOUS_FORMAT, TH_PRESERVE_FORMAT, THMemoryFormat, format_strides};
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r = src`, converted to the dtype of `r` and broadcast to its shape. A fresh `r` becomes a clone. An `r` without sizes gets the sizes of
/// `src`.
pub fn copy(r: &Tensor, src: &Tensor) -> Result<()> {
    copy_now_or_later(r, src, true)
}

/// [`copy()`] that may return early: without `waiting`, a copy between a GPU and pinned memory of the host may run after the call.
pub fn copy_now_or_later(r: &Tensor, src: &Tensor, waiting: bool) -> Result<()> {
    if r.is(src) || fast_path::copy(r, src) {
        return Ok(());
    }
    let from = Operand::of(src)?;
    if !r.has_sizes() {
        r.renew(r.dtype().unwrap_or(from.dtype), &from.layout().shape)?;
    }
    let to = Operand::of(r)?;
    if to.layout().overlaps_itself() {
        bail!(Shape, "several positions of the result share one element (strides {:?})", to.layout().strides.as_slice())
    }
    if to.device != from.device {
        return copy_across(&to, src, waiting);
    }
    if to.overlaps(&from) {
        let disjoint = contiguous_copy(src)?;
        return copy_elements(&to, &Operand::of(&disjoint)?);
    }
    copy_elements(&to, &from)
}

/// Copies the elements of `from`, broadcast, to `to`. The two do not overlap.
pub(super) fn copy_elements(to: &Operand, from: &Operand) -> Result<()> {
    launch(&Convert, to, &[&from.view(from.layout().broadcast_to(&to.layout().shape)?)])
}

/// Copies the elements of `from` to a part of `to` of the same shape. They do not overlap, except for identical elements at the same index.
pub(super) fn copy_to_part(to: &Operand, part: &Layout, from: &Operand) -> Result<()> {
    launch(&Convert, &to.view(part.clone()), &[from])
}

/// Sets every element of a part of `to` to `value`, which its dtype can hold.
pub(super) fn fill_part(to: &Operand, part: &Layout, value: Scalar) -> Result<()> {
    launch(&Fill(value), &to.view(part.clone()), &[])
}

/// A new row-major tensor with the elements of `t`.
pub fn contiguous_copy(t: &Tensor) -> Result<Tensor> {
    clone_as(t, t.defined()?, TH_CONTIGUOUS_FORMAT)
}

fn clone_as(t: &Tensor, dtype: Dtype, format: THMemoryFormat) -> Result<Tensor> {
    let _there = DeviceGuard::on(t.device());
    if (format == TH_CONTIGUOUS_FORMAT || format == TH_PRESERVE_FORMAT)
        && let Some(cloned) = fast_path::clone(t, dtype)?
    {
        return Ok(cloned);
    }
    let from = Operand::of(t)?;
    let strides = format_strides(&from.layout().shape, format, Some(from.layout()))?;
    let copied = Tensor::empty_strided(dtype, &from.layout().shape, &strides)?;
    copy_elements(&Operand::of(&copied)?, &from)?;
    Ok(copied)
}

/// A new tensor with the elements of `t` in `format`; a fresh handle clones to a fresh handle.
pub fn clone(t: &Tensor, format: THMemoryFormat) -> Result<Tensor> {
    match t.dtype() {
        None => Tensor::fresh(),
        Some(dtype) => clone_as(t, dtype, format),
    }
}

/// Returns `t` if its elements are already in `format`, else a clone.
pub fn contiguous(t: &Tensor, format: THMemoryFormat) -> Result<Tensor> {
    let layout = t.layout()?;
    if layout.has_format(format)? {
        return Ok(t.clone());
    }
    clone(t, format)
}

/// Returns `t` if it has this dtype, else a converted copy that keeps the strides if they are dense.
pub fn to_dtype(t: &Tensor, dtype: Dtype) -> Result<Tensor> {
    if t.defined()? == dtype { Ok(t.clone()) } else { clone_as(t, dtype, TH_PRESERVE_FORMAT) }
}

/// Fails if integers of `dtype` cannot hold the number, truncated to an integer. As in PyTorch, uint8 accepts the integers from -255 to -1,
/// which wrap, and no other negative numbers.
pub fn check_range(dtype: Dtype, value: Scalar) -> Result<()> {
    let (least, most) = match dtype {
        Dtype::Uint8 => (-255, 255),
        Dtype::Int8 => (i8::MIN.into(), i8::MAX.into()),
        Dtype::Int16 => (i16::MIN.into(), i16::MAX.into()),
        Dtype::Int32 => (i32::MIN.into(), i32::MAX.into()),
        Dtype::Int64 => (i64::MIN, i64::MAX),
        _ => return Ok(()),
    };
    let fits = match value {
        Scalar::Int(x) => (least..=most).contains(&x),
        Scalar::Float(x) if dtype == Dtype::Uint8 && x < 0.0 && x.fract() != 0.0 => false,
        // Beyond int64, `as` would saturate.
        Scalar::Float(x) => x.abs() < -(i64::MIN as f64) && (least..=most).contains(&(x as i64)),
    };
    if fits { Ok(()) } else { bail!(Argument, "{value} is out of the range of {dtype}") }
}

/// Sets every element to `value`. Writing through an expanded tensor is allowed.
pub fn fill(r: &Tensor, value: Scalar) -> Result<()> {
    let dtype = r.defined()?;
    check_range(dtype, value)?;
    if fast_path::fill(r, dtype, value) {
        return Ok(());
    }
    launch(&Fill(value), &Operand::of(r)?, &[])
}

/// The address of the element at `index`, checked.
fn element(t: &Tensor, index: &[i64]) -> Result<(*mut u8, Device, Dtype)> {
    let at = Operand::of(t)?;
    let layout = at.layout();
    if index.len() != t.ndim() {
        bail!(Argument, "{} indices given for a tensor with {} dimensions", index.len(), t.ndim())
    }
    let mut offset = 0;
    for (d, &i) in index.iter().enumerate() {
        let n = layout.shape[d];
        let i = if i < 0 { i.saturating_add(n) } else { i };
        if i < 0 || i >= n {
            bail!(Argument, "index {} out of range for size {n} of dimension {d}", index[d])
        }
        offset += i * layout.strides[d];
    }
    if layout.numel() == 0 {
        bail!(Argument, "the tensor has no elements")
    }
    Ok((at.first().wrapping_offset(offset as isize * at.dtype.size() as isize), at.device, at.dtype))
}

/// The element at `index`.
pub fn get(t: &Tensor, index: &[i64]) -> Result<Scalar> {
    let (at, device, dtype) = element(t, index)?;
    // SAFETY: `element` returns addresses inside the storage.
    unsafe { read_at(at, device, dtype) }
}

/// Sets the element at `index`.
pub fn set(t: &Tensor, index: &[i64], value: Scalar) -> Result<()> {
    let (at, device, dtype) = element(t, index)?;
    check_range(dtype, value)?;
    // SAFETY: `element` returns addresses inside the storage.
    unsafe { write_at(at, device, dtype, value) }
}

/// The only element of a tensor of any shape.
pub fn item(t: &Tensor) -> Result<Scalar> {
    let at = Operand::of(t)?;
    if at.layout().numel() != 1 {
        bail!(Argument, "only one element tensors have an item, this one has shape {:?}", at.layout().shape.as_slice())
    }
    // SAFETY: `Operand::of` checked that the element is inside the storage.
    unsafe { read_at(at.first(), at.device, at.dtype) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_have_elements_of_their_own_and_the_strides_of_the_formats() {
        let t = Tensor::empty(Dtype::Int64, &[1, 3]).unwrap();
        (0..3).for_each(|i| set(&t, &[0, i], Scalar::Int(i + 5)).unwrap());
        let row = Layout { shape: [1, 3].as_slice().into(), strides: [7, 1].as_slice().into(), offset: 0 };
        let odd = Tensor::with_layout(t.storage().unwrap(), Dtype::Int64, &row).unwrap();
        let formats = [(&t, TH_PRESERVE_FORMAT, [3, 1]), (&odd, TH_PRESERVE_FORMAT, [7, 1]), (&odd, TH_CONTIGUOUS_FORMAT, [3, 1])];
        for (from, format, strides) in formats {
            let cloned = clone(from, format).unwrap();
            set(from, &[0, 1], Scalar::Int(0)).unwrap();
            assert_eq!(cloned.layout().unwrap().strides.as_slice(), strides);
            assert!((0..3).all(|i| matches!(get(&cloned, &[0, i]), Ok(Scalar::Int(x)) if x == i + 5)));
            set(from, &[0, 1], Scalar::Int(6)).unwrap();
        }
    }
}
