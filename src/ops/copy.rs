//! Copies and conversions: copy, clone, contiguous, to, fill.

use super::fast_path::{self, Signature};
use super::operand::Operand;
use crate::cpu;
use crate::cpu::engine::{CHEAP, Flat, Job, Work};
use crate::cpu::index::by_size;
use crate::dtype::{Bool, Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::layout::{Layout, TH_CONTIGUOUS_FORMAT, TH_PRESERVE_FORMAT, THMemoryFormat, format_strides};
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r = src`, converted to the dtype of `r` and broadcast to its shape. A fresh `r` becomes a clone, one without sizes takes those of `src`.
pub fn copy(r: &Tensor, src: &Tensor) -> Result<()> {
    if r.is(src) || copied_at_once(r, src) {
        return Ok(());
    }
    let from = Operand::of(src)?;
    if !r.has_sizes() {
        r.renew(r.dtype().unwrap_or(from.dtype), &from.layout.shape)?;
    }
    let to = Operand::of(r)?;
    if to.layout.overlaps_itself() {
        bail!(Shape, "several positions of the result share one element (strides {:?})", to.layout.strides.as_slice())
    }
    let ((a, b), (c, d)) = (to.span(), from.span());
    if a < d && c < b {
        let disjoint = contiguous_copy(src)?;
        return copy_elements(&to, &Operand::of(&disjoint)?);
    }
    copy_elements(&to, &from)
}

/// Copies without further ado where the result has its shape already and shares no element with `src` but in step.
fn copied_at_once(r: &Tensor, src: &Tensor) -> bool {
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
            cpu::copy::copy_flat(row.cols, (row.at[0], to), (row.at[1], from));
        } else if let Some(job) = fast_path::spread(&[r, src], [to; 2], CHEAP) {
            let (plan, data) = job.into_parts();
            if same(data) {
                return to == from;
            }
            cpu::copy::copy(plan, (data[0], to), (data[1], from));
        } else {
            return false;
        }
    }
    true
}

/// The elements of `from` broadcast over `to`; they do not overlap.
pub(super) fn copy_elements(to: &Operand, from: &Operand) -> Result<()> {
    let layout = from.layout.broadcast_to(&to.layout.shape)?;
    let plan = Plan::new([&to.layout, &layout], [to.dtype.size(), from.dtype.size()]);
    // SAFETY: `Operand::of` checked both layouts against their storages; callers exclude overlap.
    unsafe { cpu::copy::copy(plan, (to.first(), to.dtype), (from.first(), from.dtype)) };
    Ok(())
}

/// Copies the elements of `from` to a part of `to` that has their shape; they do not overlap but in step.
pub(super) fn copy_to_part(to: &Operand, part: &Layout, from: &Operand) {
    if part.is_contiguous() && from.layout.is_contiguous() && part.numel() > 0 {
        // SAFETY: as below.
        return unsafe { cpu::copy::copy_flat(part.numel() as usize, (to.first_of(part), to.dtype), (from.first(), from.dtype)) };
    }
    let plan = Plan::new([part, &from.layout], [to.dtype.size(), from.dtype.size()]);
    // SAFETY: layouts of operands lie inside their storages, and so do their parts; callers exclude overlap.
    unsafe { cpu::copy::copy(plan, (to.first_of(part), to.dtype), (from.first(), from.dtype)) };
}

/// A new row-major tensor with the elements of `t`.
pub fn contiguous_copy(t: &Tensor) -> Result<Tensor> {
    clone_as(t, t.defined()?, TH_CONTIGUOUS_FORMAT)
}

fn clone_as(t: &Tensor, dtype: Dtype, format: THMemoryFormat) -> Result<Tensor> {
    if (format == TH_CONTIGUOUS_FORMAT || format == TH_PRESERVE_FORMAT)
        && let Some(cloned) = cloned_at_once(t, dtype)?
    {
        return Ok(cloned);
    }
    let from = Operand::of(t)?;
    let strides = format_strides(&from.layout.shape, format, Some(&from.layout))?;
    let copied = Tensor::empty_strided(dtype, &from.layout.shape, &strides)?;
    copy_elements(&Operand::of(&copied)?, &from)?;
    Ok(copied)
}

/// Clones what is contiguous without further ado.
fn cloned_at_once(t: &Tensor, dtype: Dtype) -> Result<Option<Tensor>> {
    let Some(from) = t.dtype() else { return Ok(None) };
    let Some((data, n)) = t.flat_like(from, t) else { return Ok(None) };
    let (shape, strides) = t.peek();
    let cloned = Tensor::empty(dtype, shape)?;
    if cloned.peek().1 != strides {
        return Ok(None);
    }
    // SAFETY: both tensors hold `n` elements of their dtypes, and the new one lies apart.
    unsafe { cpu::copy::copy_flat(n as usize, (cloned.data(), dtype), (data, from)) };
    Ok(Some(cloned))
}

/// A new tensor with the elements of `t` in `format`; a fresh handle clones to a fresh handle.
pub fn clone(t: &Tensor, format: THMemoryFormat) -> Result<Tensor> {
    match t.dtype() {
        None => Tensor::fresh(),
        Some(dtype) => clone_as(t, dtype, format),
    }
}

/// `t` itself if its elements lie in `format` already, else a clone.
pub fn contiguous(t: &Tensor, format: THMemoryFormat) -> Result<Tensor> {
    let layout = t.layout()?;
    if layout.has_format(format)? {
        return Ok(t.clone());
    }
    clone(t, format)
}

/// `t` itself if it has this dtype, else a converted copy that keeps the strides where they are dense.
pub fn to_dtype(t: &Tensor, dtype: Dtype) -> Result<Tensor> {
    if t.defined()? == dtype { Ok(t.clone()) } else { clone_as(t, dtype, TH_PRESERVE_FORMAT) }
}

/// Fails where integers of `dtype` cannot hold the number, cut off to a whole one. As in PyTorch, uint8 takes the whole numbers from -255 to
/// -1, which wrap, and no other ones below 0.
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

/// Every element `r = value`. Writing through an expanded tensor is allowed.
pub fn fill(r: &Tensor, value: Scalar) -> Result<()> {
    let dtype = r.defined()?;
    check_range(dtype, value)?;
    if dtype == dtype.compute()
        // SAFETY: the work runs before anything else.
        && let Some(work) = &unsafe { fast_path::flat(&[r], &Signature::of_types([dtype], dtype, CHEAP)) }
    {
        dispatch!(all, dtype, T => {
            cpu::map::fill::<T>(work, T::from_scalar(value))
        });
        return Ok(());
    }
    // SAFETY: as above.
    match unsafe { fast_path::spread(&[r], [dtype], CHEAP) } {
        Some(job) => fill_work(&Work::Planned(job), dtype, value),
        None => {
            let to = Operand::of(r)?;
            fill_part(&to, &to.layout, value);
        }
    }
    Ok(())
}

/// Every element of a part of `to` = `value`, which its dtype holds.
pub(super) fn fill_part(to: &Operand, part: &Layout, value: Scalar) {
    let work = match part.is_contiguous() {
        // SAFETY: the layout lies inside the storage of the operand, which lives while the work runs.
        true => Work::Flat(unsafe { Flat::new([to.first_of(part)], part.numel() as usize, [to.dtype], CHEAP) }),
        false => Work::Planned(every_element(to, part)),
    };
    fill_work(&work, to.dtype, value)
}

/// Fills with the bits of the value.
fn fill_work(work: &Work<1>, dtype: Dtype, value: Scalar) {
    let mut bits = 0u64;
    let at = (&raw mut bits).cast::<u8>();
    // SAFETY: eight bytes hold an element of any dtype.
    by_size!(dtype.size(), T => unsafe {
        write_element(at, dtype, value);
        cpu::map::fill::<T>(work, at.cast::<T>().read())
    })
}

/// `value` as `dtype` stores it.
pub(super) fn rounded(dtype: Dtype, value: Scalar) -> Scalar {
    let mut bits = 0u64;
    let at = (&raw mut bits).cast::<u8>();
    // SAFETY: eight bytes hold an element of any dtype.
    unsafe {
        write_element(at, dtype, value);
        read_element(at, dtype)
    }
}

/// A job that reaches every element of a part of `to` at least once, however its strides overlap.
#[inline(never)]
fn every_element(to: &Operand, part: &Layout) -> Box<Job<1>> {
    let mut layout = part.clone();
    // A dim that stands still would only write the same elements again.
    for d in 0..layout.ndim() {
        if layout.strides[d] == 0 && layout.shape[d] > 1 {
            layout.shape[d] = 1;
        }
    }
    // Two threads must not write one element, not even the same value.
    let grain = if layout.overlaps_itself() { usize::MAX } else { CHEAP };
    let (plan, dtype) = (Plan::new([&layout], [to.dtype.size()]), [to.dtype]);
    // SAFETY: the operand's layout lies inside the storage, which it keeps alive; where elements are shared, one thread does all.
    Box::new(unsafe { Job::new(plan, [to.first_of(part)], dtype, dtype, grain) })
}

/// The value of an element that lies in memory as `dtype`.
///
/// # Safety
/// `at` must be readable for one element.
pub unsafe fn read_element(at: *const u8, dtype: Dtype) -> Scalar {
    // SAFETY: the caller's.
    unsafe {
        match dtype {
            Dtype::Float16 => Scalar::Float(half::f16::from_bits(at.cast::<u16>().read_unaligned()).to_f64()),
            Dtype::Bfloat16 => Scalar::Float(half::bf16::from_bits(at.cast::<u16>().read_unaligned()).to_f64()),
            Dtype::Float32 => Scalar::Float(at.cast::<f32>().read_unaligned().into()),
            Dtype::Float64 => Scalar::Float(at.cast::<f64>().read_unaligned()),
            Dtype::Uint8 => Scalar::Int(at.read().into()),
            Dtype::Int8 => Scalar::Int(at.cast::<i8>().read().into()),
            Dtype::Int16 => Scalar::Int(at.cast::<i16>().read_unaligned().into()),
            Dtype::Int32 => Scalar::Int(at.cast::<i32>().read_unaligned().into()),
            Dtype::Int64 => Scalar::Int(at.cast::<i64>().read_unaligned()),
            Dtype::Bool => Scalar::Int(Bool(at.read()).to_i64()),
        }
    }
}

/// Stores `value` as an element of `dtype`.
///
/// # Safety
/// `at` must be writable for one element.
pub unsafe fn write_element(at: *mut u8, dtype: Dtype, value: Scalar) {
    // SAFETY: the caller's.
    unsafe {
        match dtype {
            // The crate's conversion from f64 rounds twice.
            Dtype::Float16 | Dtype::Bfloat16 => {
                let value = value.to_f64();
                cpu::convert::converter(dtype, Dtype::Float64)(at, 2, (&raw const value).cast(), 8, 1)
            }
            Dtype::Float32 => at.cast::<f32>().write_unaligned(Element::from_scalar(value)),
            Dtype::Float64 => at.cast::<f64>().write_unaligned(Element::from_scalar(value)),
            Dtype::Uint8 => at.write(Element::from_scalar(value)),
            Dtype::Int8 => at.cast::<i8>().write(Element::from_scalar(value)),
            Dtype::Int16 => at.cast::<i16>().write_unaligned(Element::from_scalar(value)),
            Dtype::Int32 => at.cast::<i32>().write_unaligned(Element::from_scalar(value)),
            Dtype::Int64 => at.cast::<i64>().write_unaligned(Element::from_scalar(value)),
            Dtype::Bool => at.write(<Bool as Element>::from_scalar(value).0),
        }
    }
}

/// The address of the element at `index`, checked.
fn element(t: &Tensor, index: &[i64]) -> Result<(*mut u8, Dtype)> {
    let at = Operand::of(t)?;
    let layout = &at.layout;
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
    Ok((at.first().wrapping_offset(offset as isize * at.dtype.size() as isize), at.dtype))
}

/// The element at `index`.
pub fn get(t: &Tensor, index: &[i64]) -> Result<Scalar> {
    let (at, dtype) = element(t, index)?;
    // SAFETY: `element` returns addresses inside the storage.
    Ok(unsafe { read_element(at, dtype) })
}

/// Sets the element at `index`.
pub fn set(t: &Tensor, index: &[i64], value: Scalar) -> Result<()> {
    let (at, dtype) = element(t, index)?;
    check_range(dtype, value)?;
    // SAFETY: `element` returns addresses inside the storage.
    unsafe { write_element(at, dtype, value) };
    Ok(())
}

/// The only element of a tensor of any shape.
pub fn item(t: &Tensor) -> Result<Scalar> {
    let at = Operand::of(t)?;
    if at.layout.numel() != 1 {
        bail!(Argument, "only one element tensors have an item, this one has shape {:?}", at.layout.shape.as_slice())
    }
    // SAFETY: `Operand::of` checked that the element lies inside the storage.
    Ok(unsafe { read_element(at.first(), at.dtype) })
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
