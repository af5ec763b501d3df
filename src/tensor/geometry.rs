//! Changes of a handle's sizes, strides and storage. A change that may fail has two steps: it allocates memory, then it changes the handle.

use super::{Block, TH_TENSOR_SCALAR, Tensor, bytes_of, free_heap_dims};
use crate::alloc;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{Dims, INLINE_DIMS, Layout, MAX_DIMS, checked_numel, contiguous_strides};
use crate::storage::Storage;
use std::ffi::c_int;
use std::ptr::NonNull;

/// Memory for sizes and strides that do not fit into the handle; empty if they fit.
pub struct DimsMemory(Option<Arrays>);

/// A block of memory for `dims` sizes and `dims` strides.
struct Arrays {
    block: NonNull<u8>,
    dims: usize,
}

impl Drop for Arrays {
    fn drop(&mut self) {
        // SAFETY: `dims_memory` allocated the block for `dims` dims.
        unsafe { alloc::release(self.block, bytes_of(self.dims)) }
    }
}

impl Tensor {
    /// Returns memory for `n` dimensions, so that a later change to `n` dimensions cannot fail. The handle is unchanged.
    pub fn dims_memory(&self, n: usize) -> Result<DimsMemory> {
        // SAFETY: every handle is the first field of a `Block`.
        let capacity = unsafe { (*self.as_ptr().cast::<Block>()).heap_dims.max(INLINE_DIMS) };
        if n <= capacity {
            return Ok(DimsMemory(None));
        }
        if n > MAX_DIMS {
            bail!(Shape, "{n} dimensions, at most {MAX_DIMS} are possible")
        }
        match alloc::allocate(bytes_of(n)) {
            Some(block) => Ok(DimsMemory(Some(Arrays { block, dims: n }))),
            None => bail!(NoMem, "out of memory for {n} dimensions"),
        }
    }

    /// Makes the handle a tensor over `storage` with `layout`. `memory` came from [`Tensor::dims_memory`]. Cannot fail.
    #[inline]
    pub fn point_at(&self, memory: DimsMemory, storage: Storage, dtype: Dtype, layout: &Layout) {
        if !self.set_inline(&layout.shape, &layout.strides) {
            self.write_dims(memory, &layout.shape, &layout.strides);
        }
        self.set_elements(storage, dtype, layout.offset);
    }

    /// Replaces sizes and strides. On failure nothing changes.
    #[inline(always)]
    pub fn set_dims(&self, shape: &Dims, strides: &Dims) -> Result<()> {
        if !self.set_inline(shape, strides) {
            self.write_dims(self.dims_memory(shape.len())?, shape, strides);
        }
        Ok(())
    }

    /// Replaces sizes and strides if both the old and the new ones fit into the handle; returns false otherwise.
    #[inline(always)]
    fn set_inline(&self, shape: &Dims, strides: &Dims) -> bool {
        debug_assert_eq!(shape.len(), strides.len());
        let block = self.as_ptr().cast::<Block>();
        // SAFETY: every handle is the first field of a `Block`. Arrays that are not on the heap have room for INLINE_DIMS entries.
        unsafe {
            let (Some(shape_words), Some(stride_words), 0) = (shape.as_inline(), strides.as_inline(), (*block).heap_dims) else {
                return false;
            };
            for d in 0..INLINE_DIMS {
                (*block).head.size.add(d).write_volatile(shape_words[d]);
                (*block).head.stride.add(d).write_volatile(stride_words[d]);
            }
            self.set_ndim(shape.len());
        }
        true
    }

    /// Replaces sizes and strides. The handle or `memory` has room for them.
    #[inline(never)]
    fn write_dims(&self, memory: DimsMemory, shape: &[i64], strides: &[i64]) {
        self.take_memory(memory);
        // SAFETY: the arrays have room for `shape.len()` entries.
        unsafe {
            let raw = self.as_ptr();
            std::ptr::copy_nonoverlapping(shape.as_ptr(), (*raw).size, shape.len());
            std::ptr::copy_nonoverlapping(strides.as_ptr(), (*raw).stride, shape.len());
            self.set_ndim(shape.len());
        }
    }

    /// Points `size` and `stride` at the arrays in `memory`, if there are any. Their contents are then undefined.
    fn take_memory(&self, memory: DimsMemory) {
        let Some(arrays) = memory.0 else { return };
        let block = self.as_ptr().cast::<Block>();
        // SAFETY: `heap_dims` is the capacity of the old arrays, and `arrays.dims` the capacity of the new ones.
        unsafe {
            free_heap_dims(block);
            (*block).heap_dims = arrays.dims;
            (*block).head.size = arrays.block.cast().as_ptr();
            (*block).head.stride = arrays.block.cast::<i64>().as_ptr().add(arrays.dims);
        }
        std::mem::forget(arrays);
    }

    pub(super) fn set_dims_contiguous(&self, shape: &[i64]) -> Result<()> {
        self.take_memory(self.dims_memory(shape.len())?);
        let mut next = 1i64;
        // SAFETY: the arrays have room for `shape.len()` entries.
        unsafe {
            let raw = self.as_ptr();
            for d in (0..shape.len()).rev() {
                (*raw).size.add(d).write(shape[d]);
                (*raw).stride.add(d).write(next);
                next = next.saturating_mul(shape[d].max(1));
            }
            self.set_ndim(shape.len());
        }
        Ok(())
    }

    /// # Safety
    /// `size` and `stride` must hold `n` valid entries.
    #[inline(always)]
    unsafe fn set_ndim(&self, n: usize) {
        // SAFETY: `self` is a live tensor.
        unsafe {
            let raw = self.as_ptr();
            (*raw).nDimension = n as c_int;
            (*raw).flag = if n == 0 { (*raw).flag | TH_TENSOR_SCALAR } else { (*raw).flag & !TH_TENSOR_SCALAR };
        }
    }

    /// Makes the handle a row-major tensor of this dtype and shape with a new storage. On failure nothing changes.
    pub fn renew(&self, dtype: Dtype, shape: &[i64]) -> Result<()> {
        let storage = Storage::with_size(dtype, checked_numel(shape)?)?;
        self.set_dims_contiguous(shape)?;
        self.set_elements(storage, dtype, 0);
        Ok(())
    }

    /// Like [`Tensor::renew`], with the shape of `other`.
    pub fn renew_like(&self, dtype: Dtype, other: &Tensor) -> Result<()> {
        let layout = other.layout()?;
        self.renew(dtype, &layout.shape)
    }

    /// Sets the dtype of a handle that has no elements.
    pub fn set_dtype(&self, dtype: Option<Dtype>) {
        // SAFETY: `self` is a live tensor; the caller orders writes to it.
        unsafe { (*self.as_ptr()).dtype = dtype.map_or(0, |dtype| dtype as u8) }
    }

    /// Makes the handle a fresh one: without dtype, storage, sizes and elements.
    pub fn reset(&self) {
        let block = self.as_ptr().cast::<Block>();
        // SAFETY: every handle is the first field of a `Block`. The tensor owns the storage reference, which is dropped last.
        unsafe {
            free_heap_dims(block);
            (*block).heap_dims = 0;
            let head = &raw mut (*block).head;
            (*head).size = (&raw mut (*block).dims).cast();
            (*head).stride = (*head).size.add(INLINE_DIMS);
            ((*head).nDimension, (*head).storageOffset, (*head).dtype) = (0, 0, 0);
            (*head).flag &= !TH_TENSOR_SCALAR;
            ((*head).deviceType, (*head).deviceIndex) = Device::Cpu.codes();
            let storage = std::mem::replace(&mut (*head).storage, std::ptr::null_mut());
            drop(NonNull::new(storage).map(|storage| Storage::from_raw(storage)));
        }
    }

    /// Gives the tensor this shape and grows the storage if necessary. Elements keep their positions in the storage. If `strides` is
    /// `None`, an unchanged shape keeps its strides and a new one becomes row-major. A fresh handle gets the dtype `fresh`. On failure
    /// nothing changes.
    pub fn resize(&self, fresh: Dtype, shape: &[i64], strides: Option<&[i64]>) -> Result<()> {
        let dtype = self.dtype().unwrap_or(fresh);
        checked_numel(shape)?;
        let same = self.has_sizes() && self.peek().0 == shape;
        let strides = match strides {
            Some(strides) => strides.into(),
            None if same => self.peek().1.into(),
            None => contiguous_strides(shape),
        };
        let layout = Layout { shape: shape.into(), strides, offset: self.offset().max(0) };
        let Some(end) = layout.end() else { bail!(Shape, "shape {shape:?} with strides {:?} overflows", layout.strides.as_slice()) };
        let storage = match self.storage() {
            Some(storage) => storage,
            None => Storage::new(dtype)?,
        };
        let memory = self.dims_memory(shape.len())?;
        let len = (storage.bytes() / dtype.size()) as i64;
        if end > len {
            storage.resize(if storage.dtype().size() == dtype.size() { end } else { bail!(Dtype, "the storage holds another dtype") })?;
        }
        self.point_at(memory, storage, dtype, &layout);
        Ok(())
    }
}
