//! Operands: the tensors of a call, with their device and bounds checked.

use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{Layout, checked_numel};
use crate::storage::Storage;
use crate::tensor::Tensor;
use std::marker::PhantomData;
use std::ops::Deref;

/// Fails if the tensor has elements on another device than the host.
pub fn check_host(t: &Tensor) -> Result<()> {
    match t.device() {
        Device::Cpu => Ok(()),
        _ if t.dtype().is_none() => Ok(()),
        other => bail!(Device, "not available on {other}"),
    }
}

/// The elements of a tensor: their address, device, dtype and a layout that is inside the storage.
#[derive(Debug)]
pub struct Operand {
    /// The storage, if the operand holds a reference. The reference keeps the elements alive when the same tensor is also a result and gets
    /// new memory.
    pub storage: Option<Storage>,
    storage_data: *mut u8,
    /// The size of the storage in bytes, for assertions.
    #[cfg(debug_assertions)]
    bytes: usize,
    /// The device that holds the elements.
    pub device: Device,
    /// The element type.
    pub dtype: Dtype,
    /// Sizes, strides and offset; broadcast dimensions have stride 0.
    layout: Layout,
}

impl Operand {
    /// The operand of `t`. Fails unless every element of `t` is inside its storage.
    pub fn of(t: &Tensor) -> Result<Operand> {
        let dtype = t.defined()?;
        let layout = t.layout_inside()?;
        let storage_data = t.data().wrapping_offset(-(layout.offset as isize * dtype.size() as isize));
        let storage = t.storage();
        Ok(Operand {
            #[cfg(debug_assertions)]
            bytes: storage.as_ref().map_or(0, Storage::bytes),
            storage,
            storage_data,
            device: t.device(),
            dtype,
            layout,
        })
    }

    /// An operand over `storage`. The caller guarantees that `layout` is inside the storage.
    pub fn inside(storage: Storage, dtype: Dtype, layout: Layout) -> Operand {
        let operand = Operand {
            #[cfg(debug_assertions)]
            bytes: storage.bytes(),
            storage_data: storage.data(),
            device: storage.device(),
            storage: Some(storage),
            dtype,
            layout,
        };
        operand.assert_inside(&operand.layout);
        operand
    }

    /// Asserts, in builds with assertions, that a layout is inside the storage.
    #[inline(always)]
    fn assert_inside(&self, layout: &Layout) {
        #[cfg(debug_assertions)]
        {
            let need = layout.end().and_then(|end| end.checked_mul(self.dtype.size() as i64));
            let inside = need.is_some_and(|need| need <= self.bytes as i64) && layout.offset >= 0;
            assert!(inside || layout.shape.contains(&0), "{layout:?} is not inside {} bytes of {}", self.bytes, self.dtype);
        }
        #[cfg(not(debug_assertions))]
        let _ = layout;
    }

    /// A new row-major operand on a device.
    pub fn new_on(device: Device, dtype: Dtype, shape: &[i64]) -> Result<Operand> {
        Ok(Operand::inside(Storage::on(device, dtype, checked_numel(shape)?)?, dtype, Layout::contiguous(shape)))
    }

    /// A new vector on the host.
    pub fn row(dtype: Dtype, n: i64) -> Result<Operand> {
        Ok(Operand::inside(Storage::on_host(dtype, n)?, dtype, Layout::contiguous(&[n])))
    }

    /// An operand over memory of the caller on the host.
    ///
    /// # Safety
    /// `data` holds all elements of the layout while the operand is in use.
    pub unsafe fn of_memory(data: *mut u8, dtype: Dtype, layout: Layout) -> Operand {
        Operand {
            storage: None,
            storage_data: data,
            #[cfg(debug_assertions)]
            bytes: layout.end().unwrap_or(0) as usize * dtype.size(),
            device: Device::Cpu,
            dtype,
            layout,
        }
    }

    /// The same memory with another layout, which must be inside the storage.
    #[inline(always)]
    pub fn view(&self, layout: Layout) -> View<'_> {
        self.assert_inside(&layout);
        View { operand: Operand { storage: None, layout, ..*self }, of: PhantomData }
    }

    /// Like [`Operand::view`], but the result holds its own reference to the storage.
    pub fn with_layout(&self, layout: Layout) -> Operand {
        self.assert_inside(&layout);
        Operand { storage: self.storage.clone(), layout, ..*self }
    }

    /// Gives the operand another layout, which must be inside the storage.
    pub fn set_layout(&mut self, layout: Layout) {
        self.assert_inside(&layout);
        self.layout = layout;
    }

    /// A tensor over these elements.
    pub fn tensor(&self) -> Result<Tensor> {
        match &self.storage {
            Some(storage) => Tensor::with_layout(storage.clone(), self.dtype, &self.layout),
            None => Tensor::empty(self.dtype, &self.layout.shape),
        }
    }

    /// The elements of a row-major operand on the host.
    ///
    /// # Safety
    /// `T` is the operand's dtype, and no thread writes the elements while the slice is in use.
    pub unsafe fn elements<T>(&self) -> &[T] {
        let n = self.layout.numel() as usize;
        // SAFETY: the elements are inside the storage. An operand without elements, which may have no memory, is handled first.
        if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.first().cast_const().cast(), n) } }
    }

    /// The elements of a row-major operand on the host, for writing.
    ///
    /// # Safety
    /// `T` is the operand's dtype, and no one else reads or writes the elements while the slice is in use.
    pub unsafe fn elements_mut<T>(&mut self) -> &mut [T] {
        let n = self.layout.numel() as usize;
        // SAFETY: as in `elements`; the caller guarantees exclusive access.
        if n == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(self.first().cast(), n) } }
    }

    /// Sizes, strides and offset, all inside the storage; broadcast dimensions have stride 0.
    #[inline(always)]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The address of the first element.
    pub fn first(&self) -> *mut u8 {
        self.first_of(&self.layout)
    }

    /// The address of the first element of another layout of the same storage.
    pub fn first_of(&self, layout: &Layout) -> *mut u8 {
        self.storage_data.wrapping_offset(layout.offset as isize * self.dtype.size() as isize)
    }

    /// The addresses of the first byte and of the byte after the last.
    #[inline]
    pub fn span(&self) -> (usize, usize) {
        let start = self.first() as usize;
        let end = self.layout.end().unwrap_or(0);
        if end == 0 { (start, start) } else { (start, start + (end - self.layout.offset) as usize * self.dtype.size()) }
    }

    /// Returns true if the spans of the two operands have bytes in common.
    pub fn overlaps(&self, other: &Operand) -> bool {
        let (a, b) = self.span();
        other.reaches_into(a, b)
    }

    /// Returns true if the span of the operand has bytes from address `start` to before `end`.
    #[inline]
    pub fn reaches_into(&self, start: usize, end: usize) -> bool {
        let (a, b) = self.span();
        a < end && start < b
    }

    /// Returns true if both operands have the same elements at the same positions: equal address, shape, strides and element size.
    pub fn in_step_with(&self, other: &Operand) -> bool {
        let same = self.dtype.size() == other.dtype.size() && self.layout.strides == other.layout.strides;
        same && self.layout.shape == other.layout.shape && self.first() == other.first()
    }

    /// Returns true if the operand's storage has bytes in common with `own`.
    pub fn lies_in(&self, own: &Storage) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.overlaps(own))
    }
}

/// Another layout of an operand's memory. It borrows the operand, which keeps the elements alive, so no reference is counted.
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

/// The dtype of all operands; an error if they differ.
pub fn one_dtype(tensors: &[&Tensor]) -> Result<Dtype> {
    let dtype = tensors[0].defined()?;
    tensors[1..].iter().try_for_each(|other| same_dtype(dtype, other))?;
    Ok(dtype)
}

/// Fails if `other` has another dtype.
pub fn same_dtype(dtype: Dtype, other: &Tensor) -> Result<()> {
    match other.defined()? {
        same if same == dtype => Ok(()),
        other => bail!(Dtype, "expected tensors of one dtype, got {dtype} and {other}"),
    }
}
