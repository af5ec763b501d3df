//! Tensors that lie elsewhere than on the host: moves between devices, and elements that operations read or write themselves.

use crate::backend::{self, Backend, launch};
use crate::device::{self, Device};
use crate::dtype::{Dtype, Element};
use crate::element::{read_element, write_element};
use crate::error::{Result, bail};
use crate::launch::Convert;
use crate::layout::{Layout, checked_numel};
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::null_mut;

/// A row-major place in the memory of a device.
type Place<P> = (P, Device);

/// Copies bytes from one device to another, or to the same one.
///
/// # Safety
/// Both sides have this many bytes, and lie apart.
pub(super) unsafe fn transfer(to: Place<*mut u8>, from: Place<*const u8>, bytes: usize) -> Result<()> {
    // SAFETY: the caller's.
    unsafe { transfer_now_or_later(to, from, bytes, true) }
}

/// [`transfer`]; without `waiting` a copy from or to pinned memory of the host is made after this has returned.
///
/// # Safety
/// As for [`transfer`], until the copy is made.
unsafe fn transfer_now_or_later((to, at): Place<*mut u8>, (from, of): Place<*const u8>, bytes: usize, waiting: bool) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller's.
    unsafe {
        match (backend::on(at), backend::on(of), of) {
            (Backend::Host, Backend::Host, _) => to.copy_from_nonoverlapping(from, bytes),
            (Backend::Host, Backend::Other(source), _) => source.download(to, from, bytes, waiting)?,
            (Backend::Other(target), _, Device::Cpu) => target.upload(to, from, bytes, waiting)?,
            (Backend::Other(target), _, Device::Cuda(other)) => target.copy_from(other, to, from, bytes)?,
            (Backend::Other(_), _, Device::Recorder) => bail!(Device, "not available on {of}"),
        }
    }
    Ok(())
}

/// `t` itself if it lies on the device, which is there, else a row-major copy there.
pub fn to_device(t: &Tensor, device: Device) -> Result<Tensor> {
    if t.device() == device {
        return Ok(t.clone());
    }
    moved(t, device, true)
}

/// A storage in pinned memory of the host, which a GPU is there for.
pub(super) fn storage_pinned(dtype: Dtype, len: i64) -> Result<Storage> {
    let allocator = backend::pinned()?;
    // SAFETY: the allocator is a static and keeps malloc's promises.
    unsafe { Storage::with_allocator(dtype, len, allocator, null_mut()) }
}

/// A row-major copy of `t` on another device, which is there. Without `waiting`, see [`transfer_now_or_later`]; one on the host is pinned
/// then.
pub(super) fn moved(t: &Tensor, device: Device, waiting: bool) -> Result<Tensor> {
    let dtype = t.defined()?;
    let mut from = Operand::of(t)?;
    if !from.layout.is_contiguous() {
        let dense = Operand::new_on(from.device, dtype, &from.layout.shape)?;
        launch(&Convert, &dense, &[&from])?;
        from = dense;
    }
    let n = from.layout.numel();
    let storage = if device == Device::Cpu && !waiting { storage_pinned(dtype, n)? } else { Storage::on(device, dtype, n)? };
    let made = Tensor::with_layout(storage, dtype, &Layout::contiguous(&from.layout.shape))?;
    // SAFETY: two row-major tensors of as many elements, one of them new. Memory of a GPU that is given back meanwhile serves its stream,
    // after the copy, and pinned memory waits for it.
    unsafe { transfer_now_or_later((made.data(), device), (from.first(), from.device), n as usize * dtype.size(), waiting)? };
    Ok(made)
}

/// `t` itself if the host has its elements, else a row-major copy.
pub fn on_host(t: &Tensor) -> Result<Tensor> {
    to_device(t, Device::Cpu)
}

/// The elements of `src` broadcast over `to`, which lies on another device.
pub(super) fn copy_across(to: &Operand, src: &Tensor, waiting: bool) -> Result<()> {
    let from = Operand::of(src)?;
    let alike = from.dtype == to.dtype && from.layout.shape == to.layout.shape;
    if alike && from.layout.is_contiguous() && to.layout.is_contiguous() {
        let bytes = to.layout.numel() as usize * to.dtype.size();
        // SAFETY: two row-major operands of as many elements, on two devices; without waiting, the caller sees to it that they stay.
        return unsafe { transfer_now_or_later((to.first(), to.device), (from.first(), from.device), bytes, waiting) };
    }
    let there = Operand::of(&if to.device == Device::Cpu { to_device(src, to.device)? } else { moved(src, to.device, waiting)? })?;
    launch(&Convert, to, &[&there.view(there.layout.broadcast_to(&to.layout.shape)?)])
}

/// The element at an address of a device.
///
/// # Safety
/// There is one.
pub(super) unsafe fn read_at(at: *const u8, device: Device, dtype: Dtype) -> Result<Scalar> {
    let mut bytes = [0u8; 8];
    // SAFETY: the caller's; eight bytes hold an element of any dtype.
    unsafe {
        if device == Device::Cpu {
            return Ok(read_element(at, dtype));
        }
        transfer((bytes.as_mut_ptr(), Device::Cpu), (at, device), dtype.size())?;
        Ok(read_element(bytes.as_ptr(), dtype))
    }
}

/// Stores `value` at an address of a device.
///
/// # Safety
/// There is an element.
pub(super) unsafe fn write_at(at: *mut u8, device: Device, dtype: Dtype, value: Scalar) -> Result<()> {
    let mut bytes = [0u8; 8];
    // SAFETY: the caller's; eight bytes hold an element of any dtype.
    unsafe {
        if device == Device::Cpu {
            write_element(at, dtype, value);
            return Ok(());
        }
        write_element(bytes.as_mut_ptr(), dtype, value);
        transfer((at, device), (bytes.as_ptr(), Device::Cpu), dtype.size())
    }
}

/// Row-major elements that the host reads: those of a tensor, or a copy of them where they lie elsewhere.
pub struct Elements<'a, T> {
    at: *const T,
    len: usize,
    /// Holds the copy.
    _copy: Option<Storage>,
    of: PhantomData<&'a T>,
}

impl<T> Deref for Elements<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: elements of `T` in a tensor that outlives this, or in the copy; without any there may be no memory.
        if self.len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.at, self.len) } }
    }
}

/// The elements of a row-major tensor, which nobody writes before the caller is done.
pub fn elements<T: Element>(t: &Tensor) -> Result<Elements<'_, T>> {
    // SAFETY: the tensor holds the storage.
    unsafe { outliving(&Operand::of(t)?) }
}

/// [`elements`] of an operand.
pub(super) fn read<T: Element>(from: &Operand) -> Result<Elements<'_, T>> {
    // SAFETY: the operand holds the storage.
    unsafe { outliving(from) }
}

/// # Safety
/// The storage lives as long as what is returned.
unsafe fn outliving<'a, T: Element>(from: &Operand) -> Result<Elements<'a, T>> {
    assert_eq!(from.dtype, T::DTYPE);
    let len = from.layout.numel() as usize;
    if from.device == Device::Cpu {
        return Ok(Elements { at: from.first().cast_const().cast(), len, _copy: None, of: PhantomData });
    }
    let copy = Storage::on_host(from.dtype, len as i64)?;
    // SAFETY: as many elements on both sides.
    unsafe { transfer((copy.data(), Device::Cpu), (from.first(), from.device), len * from.dtype.size())? };
    Ok(Elements { at: copy.data().cast_const().cast(), len, _copy: Some(copy), of: PhantomData })
}

/// A row-major tensor, on the device of the call, of elements that the host writes.
pub(super) fn written<T: Element>(shape: &[i64], write: impl FnOnce(&mut [T]) -> Result<()>) -> Result<Tensor> {
    let n = checked_numel(shape)?;
    let storage = Storage::on_host(T::DTYPE, n)?;
    // SAFETY: a new storage of as many elements, any bits of which are one; without any there may be no memory.
    write(if n == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(storage.data().cast(), n as usize) } })?;
    let made = Tensor::with_layout(storage, T::DTYPE, &Layout::contiguous(shape))?;
    to_device(&made, device::current())
}

/// Fails where a result that has memory lies on another device than the operands of the call.
#[inline(always)]
pub(super) fn check_result(r: &Tensor) -> Result<()> {
    if device::is_used() { check_device(r) } else { Ok(()) }
}

#[inline(never)]
fn check_device(r: &Tensor) -> Result<()> {
    let (have, call) = (r.device(), device::current());
    if have != call && r.dtype().is_some() && r.storage().is_some() {
        bail!(Device, "expected tensors on one device, got a result on {have} and operands on {call}")
    }
    Ok(())
}
