//! Operands: where tensors are taken, their device and bounds are checked.

use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{Layout, checked_numel};
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::marker::PhantomData;
use std::ops::Deref;

/// Fails unless a tensor that has elements has them in the host's memory.
pub fn check_host(t: &Tensor) -> Result<()> {
    match t.device() {
        Device::Cpu => Ok(()),
        _ if t.dtype().is_none() => Ok(()),
        other => bail!(Device, "not available on {other}"),
    }
}

/// An operand that may be read: inside its storage, with a geometry of its own.
#[derive(Debug)]
pub struct Operand {
    /// Keeps the elements alive when the tensor is a result too and gets new memory.
    pub storage: Option<Storage>,
    storage_data: *mut u8,
    /// The device that holds the elements.
    pub device: Device,
    /// Its element type.
    pub dtype: Dtype,
    /// Its geometry, broadcast or not.
    pub layout: Layout,
}

impl Operand {
    /// Checks that every element of `t` lies inside its storage.
    pub fn of(t: &Tensor) -> Result<Operand> {
        Operand::with(t, t.defined()?, t.layout()?)
    }

    /// [`Operand::of`] for a tensor whose dtype and layout are known.
    pub fn with(t: &Tensor, dtype: Dtype, layout: Layout) -> Result<Operand> {
        t.check_bounds(&layout)?;
        let storage_data = t.data().wrapping_offset(-(layout.offset as isize * dtype.size() as isize));
        Ok(Operand { storage: t.storage(), storage_data, device: t.device(), dtype, layout })
    }

    /// A layout that lies inside `storage`.
    pub fn inside(storage: Storage, dtype: Dtype, layout: Layout) -> Operand {
        let (storage_data, device) = (storage.data(), storage.device());
        Operand { storage: Some(storage), storage_data, device, dtype, layout }
    }

    /// A new row-major operand on a device.
    pub fn new_on(device: Device, dtype: Dtype, shape: &[i64]) -> Result<Operand> {
        Ok(Operand::inside(Storage::on(device, dtype, checked_numel(shape)?)?, dtype, Layout::contiguous(shape)))
    }

    /// A new vector on the host.
    pub fn row(dtype: Dtype, n: i64) -> Result<Operand> {
        Ok(Operand::inside(Storage::on_host(dtype, n)?, dtype, Layout::contiguous(&[n])))
    }

    /// Memory of the caller.
    ///
    /// # Safety
    /// While the operand lives, the elements of the layout lie in memory at `data`.
    pub unsafe fn of_memory(data: *mut u8, dtype: Dtype, layout: Layout) -> Operand {
        Operand { storage: None, storage_data: data, device: Device::Cpu, dtype, layout }
    }

    /// The same memory in another layout, which lies inside the storage.
    #[inline(always)]
    pub fn view(&self, layout: Layout) -> View<'_> {
        View { operand: Operand { storage: None, layout, ..*self }, of: PhantomData }
    }

    /// [`Operand::view`] that keeps the storage alive by itself.
    pub fn with_layout(&self, layout: Layout) -> Operand {
        Operand { storage: self.storage.clone(), layout, ..*self }
    }

    /// A tensor of these elements.
    pub fn tensor(&self) -> Result<Tensor> {
        match &self.storage {
            Some(storage) => Tensor::with_layout(storage.clone(), self.dtype, &self.layout),
            None => Tensor::empty(self.dtype, &self.layout.shape),
        }
    }

    /// The elements of a row-major operand on the host.
    ///
    /// # Safety
    /// The dtype is that of `T`, and nobody writes the elements.
    pub unsafe fn elements<T>(&self) -> &[T] {
        let n = self.layout.numel() as usize;
        // SAFETY: elements lie inside the storage; without any there may be no memory.
        if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.first().cast_const().cast(), n) } }
    }

    /// [`Operand::elements`] that nobody else reads or writes.
    ///
    /// # Safety
    /// The dtype is that of `T`.
    pub unsafe fn elements_mut<T>(&mut self) -> &mut [T] {
        let n = self.layout.numel() as usize;
        // SAFETY: as above.
        if n == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(self.first().cast(), n) } }
    }

    /// The address of the first element.
    pub fn first(&self) -> *mut u8 {
        self.first_of(&self.layout)
    }

    /// The address of the first element of another layout of the same storage.
    pub fn first_of(&self, layout: &Layout) -> *mut u8 {
        self.storage_data.wrapping_offset(layout.offset as isize * self.dtype.size() as isize)
    }

    /// First byte and one past the last.
    pub fn span(&self) -> (usize, usize) {
        let start = self.first() as usize;
        let end = self.layout.end().unwrap_or(0);
        if end == 0 { (start, start) } else { (start, start + (end - self.layout.offset) as usize * self.dtype.size()) }
    }

    /// True if the spans of two operands have bytes in common.
    pub fn overlaps(&self, other: &Operand) -> bool {
        let ((a, b), (c, d)) = (self.span(), other.span());
        a < d && c < b
    }

    /// True if each element lies where the element of `other` at the same place lies.
    pub fn in_step_with(&self, other: &Operand) -> bool {
        let same = self.dtype.size() == other.dtype.size() && self.layout.strides == other.layout.strides;
        same && self.layout.shape == other.layout.shape && self.first() == other.first()
    }

    /// True if the operand's storage has bytes in common with `own`.
    pub fn lies_in(&self, own: &Storage) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.overlaps(own))
    }
}

/// Another layout of an operand's memory. The operand keeps the elements alive: to make a view of it counts no references.
#[derive(Debug)]
pub struct View<'a> {
    operand: Operand,
    of: PhantomData<&'a Operand>,
}

impl Deref for View<'_> {
    type Target = Operand;

    #[inline(always)]
    fn deref(&self) -> &Operand {
        &self.operand
    }
}

/// The dtype that all operands have.
pub fn one_dtype(tensors: &[&Tensor]) -> Result<Dtype> {
    let dtype = tensors[0].defined()?;
    tensors[1..].iter().try_for_each(|other| same_dtype(dtype, other))?;
    Ok(dtype)
}

/// Fails where a tensor has another dtype.
pub fn same_dtype(dtype: Dtype, other: &Tensor) -> Result<()> {
    match other.defined()? {
        same if same == dtype => Ok(()),
        other => bail!(Dtype, "expected tensors of one dtype, got {dtype} and {other}"),
    }
}
