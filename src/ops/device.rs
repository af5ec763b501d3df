//! Transfers between devices, and access of the host to single elements and row-major elements of any device.

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

/// An address in the memory of a device.
type Place<P> = (P, Device);

/// Copies bytes from one device to another, or within one device.
///
/// # Safety
/// Both memories have `bytes` bytes, and they do not overlap.
pub(super) unsafe fn transfer(to: Place<*mut u8>, from: Place<*const u8>, bytes: usize) -> Result<()> {
    // SAFETY: the caller keeps the same promise.
    unsafe { transfer_now_or_later(to, from, bytes, true) }
}

/// [`transfer`] that may return early: without `waiting`, a copy from or to pinned memory of the host may run after the call.
///
/// # Safety
/// The same as for [`transfer`], until the copy has run.
unsafe fn transfer_now_or_later((to, at): Place<*mut u8>, (from, of): Place<*const u8>, bytes: usize, waiting: bool) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller keeps the same promise.
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

/// Returns `t` if it is on `device`, else a row-major copy there. The device must be available.
pub fn to_device(t: &Tensor, device: Device) -> Result<Tensor> {
    if t.device() == device {
        return Ok(t.clone());
    }
    moved(t, device, true)
}

/// A storage in pinned memory of the host. A GPU must be available.
pub(super) fn storage_pinned(dtype: Dtype, len: i64) -> Result<Storage> {
    let allocator = backend::pinned()?;
    // SAFETY: the allocator is a static and keeps malloc's promises.
    unsafe { Storage::with_allocator(dtype, len, allocator, null_mut()) }
}

/// A row-major copy of `t` on `device`, which must be available. Without `waiting`, the copy may run later, as in
/// [`transfer_now_or_later`], and a copy on the host is pinned.
pub(super) fn moved(t: &Tensor, device: Device, waiting: bool) -> Result<Tensor> {
    let dtype = t.defined()?;
    let mut from = Operand::of(t)?;
    if !from.layout().is_contiguous() {
        let dense = Operand::new_on(from.device, dtype, &from.layout().shape)?;
        launch(&Convert, &dense, &[&from])?;
        from = dense;
    }
    let n = from.layout().numel();
    let storage = if device == Device::Cpu && !waiting { storage_pinned(dtype, n)? } else { Storage::on(device, dtype, n)? };
    let made = Tensor::with_layout(storage, dtype, &Layout::contiguous(&from.layout().shape))?;
    // SAFETY: both tensors are row-major with equally many elements, and one of them is new. Memory freed before the copy has run is reused
    // safely: GPU memory only by later work of the same stream, pinned memory only after its events.
    unsafe { transfer_now_or_later((made.data(), device), (from.first(), from.device), n as usize * dtype.size(), waiting)? };
    Ok(made)
}

/// Returns `t` if it is on the host, else a row-major copy there.
pub fn on_host(t: &Tensor) -> Result<Tensor> {
    to_device(t, Device::Cpu)
}

/// Copies `src`, broadcast, to `to`, which is on another device.
pub(super) fn copy_across(to: &Operand, src: &Tensor, waiting: bool) -> Result<()> {
    let from = Operand::of(src)?;
    let alike = from.dtype == to.dtype && from.layout().shape == to.layout().shape;
    if alike && from.layout().is_contiguous() && to.layout().is_contiguous() {
        let bytes = to.layout().numel() as usize * to.dtype.size();
        // SAFETY: both operands are row-major with equally many elements, on two devices. Without waiting, the caller keeps them alive.
        return unsafe { transfer_now_or_later((to.first(), to.device), (from.first(), from.device), bytes, waiting) };
    }
    let there = Operand::of(&if to.device == Device::Cpu { to_device(src, to.device)? } else { moved(src, to.device, waiting)? })?;
    launch(&Convert, to, &[&there.view(there.layout().broadcast_to(&to.layout().shape)?)])
}

/// Reads the element at an address of a device.
///
/// # Safety
/// `at` is the address of an element of `dtype`.
pub(super) unsafe fn read_at(at: *const u8, device: Device, dtype: Dtype) -> Result<Scalar> {
    let mut bytes = [0u8; 8];
    // SAFETY: the caller vouches for the element. Eight bytes hold an element of any dtype.
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
/// `at` is the address of an element of `dtype`.
pub(super) unsafe fn write_at(at: *mut u8, device: Device, dtype: Dtype, value: Scalar) -> Result<()> {
    let mut bytes = [0u8; 8];
    // SAFETY: the caller vouches for the element. Eight bytes hold an element of any dtype.
    unsafe {
        if device == Device::Cpu {
            write_element(at, dtype, value);
            return Ok(());
        }
        write_element(bytes.as_mut_ptr(), dtype, value);
        transfer((at, device), (bytes.as_ptr(), Device::Cpu), dtype.size())
    }
}

/// Row-major elements that the host can read: a tensor's own elements, or a copy if the tensor is on another device.
pub struct Elements<'a, T> {
    at: *const T,
    len: usize,
    /// Keeps the copy alive.
    _copy: Option<Storage>,
    of: PhantomData<&'a T>,
}

impl<T> Deref for Elements<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the elements belong to a tensor that outlives `self`, or to the copy. A tensor without elements may have no memory.
        if self.len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.at, self.len) } }
    }
}

/// The elements of a row-major tensor. They must not be written while the caller reads them.
pub fn elements<T: Element>(t: &Tensor) -> Result<Elements<'_, T>> {
    // SAFETY: `t` keeps the storage alive.
    unsafe { outliving(&Operand::of(t)?) }
}

/// [`elements`] of an operand.
pub(super) fn read<T: Element>(from: &Operand) -> Result<Elements<'_, T>> {
    // SAFETY: `from` keeps the storage alive.
    unsafe { outliving(from) }
}

/// # Safety
/// The storage lives as long as the returned elements.
unsafe fn outliving<'a, T: Element>(from: &Operand) -> Result<Elements<'a, T>> {
    assert_eq!(from.dtype, T::DTYPE);
    let len = from.layout().numel() as usize;
    if from.device == Device::Cpu {
        return Ok(Elements { at: from.first().cast_const().cast(), len, _copy: None, of: PhantomData });
    }
    let copy = Storage::on_host(from.dtype, len as i64)?;
    // SAFETY: source and copy have the same number of elements.
    unsafe { transfer((copy.data(), Device::Cpu), (from.first(), from.device), len * from.dtype.size())? };
    Ok(Elements { at: copy.data().cast_const().cast(), len, _copy: Some(copy), of: PhantomData })
}

/// A row-major tensor on the device of the call, whose elements `write` computes on the host.
pub(super) fn written<T: Element>(shape: &[i64], write: impl FnOnce(&mut [T]) -> Result<()>) -> Result<Tensor> {
    let n = checked_numel(shape)?;
    let storage = Storage::on_host(T::DTYPE, n)?;
    // SAFETY: the storage is new and has `n` elements, for which any bits are valid. Without elements it may have no memory.
    write(if n == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(storage.data().cast(), n as usize) } })?;
    let made = Tensor::with_layout(storage, T::DTYPE, &Layout::contiguous(shape))?;
    to_device(&made, device::current())
}

/// Fails if a result that has memory is on another device than the operands of the call.
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
