//! `THTensor`, the struct that C sees, and [`Tensor`], the counted pointer that Rust uses.

mod fast_path;
mod geometry;

use crate::alloc;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result, bail};
use crate::layout::{Dims, INLINE_DIMS, Layout, checked_numel};
use crate::refcount;
use crate::storage::{Storage, THStorage};
pub use geometry::DimsMemory;
use std::ffi::{c_char, c_int};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// A strided view of a storage. The fields are part of the ABI and at TH's offsets; read them directly, and change them only by functions.
#[repr(C)]
#[derive(Debug)]
pub struct THTensor {
    /// `nDimension` sizes.
    pub size: *mut i64,
    /// `nDimension` strides, in elements.
    pub stride: *mut i64,
    /// The number of dimensions. 0 is either a scalar (`TH_TENSOR_SCALAR`, one element) or a fresh handle, which has no shape before its
    /// first write. A tensor with a size of 0 counts all its dimensions.
    pub nDimension: c_int,
    /// The storage with the elements; NULL until the first write.
    pub storage: *mut THStorage,
    /// Position of the first element in the storage.
    pub storageOffset: isize,
    /// The number of references; changed atomically by retain and free.
    pub refcount: i32,
    /// `TH_TENSOR_*` bits.
    pub flag: c_char,
    /// The element type: a constant of THDtype such as `TH_FLOAT32`, or `TH_UNDEFINED` until the first write.
    pub dtype: u8,
    /// `TH_CPU` or `TH_CUDA`.
    pub deviceType: i8,
    /// The index of the GPU; 0 for the host.
    pub deviceIndex: i8,
}

/// The tensor counts its references; without this flag retain and free have no effect.
pub const TH_TENSOR_REFCOUNTED: c_char = 1;
/// With `nDimension` 0: a scalar with one element.
pub const TH_TENSOR_SCALAR: c_char = 2;

const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(THTensor, size) == 0 && offset_of!(THTensor, stride) == 8);
    assert!(offset_of!(THTensor, nDimension) == 16 && offset_of!(THTensor, storage) == 24);
    assert!(offset_of!(THTensor, storageOffset) == 32 && offset_of!(THTensor, refcount) == 40);
    assert!(offset_of!(THTensor, flag) == 44 && size_of::<THTensor>() == 48);
};

/// The memory block of a handle: the public fields, followed by private ones.
#[repr(C)]
struct Block {
    head: THTensor,
    /// Sizes, then strides, if there are at most `INLINE_DIMS` dimensions.
    dims: [i64; 2 * INLINE_DIMS],
    /// The capacity of `size` and `stride` in dimensions if they are on the heap, else 0.
    heap_dims: usize,
    /// A counted reference to data that another layer attached to the handle; NULL if there is none.
    attached: AtomicPtr<Attached>,
}

/// The first field of any struct that another layer attaches to handles.
#[repr(C)]
#[derive(Debug)]
pub struct Attached {
    /// Gives up the handle's reference.
    pub release: unsafe fn(NonNull<Attached>),
}

/// Releases the data attached to a handle. The function is `extern "C"` so that the many places that drop handles need no unwinding code
/// for it.
///
/// # Safety
/// `attached` is the handle's pointer, and the handle is being freed.
#[cold]
unsafe extern "C" fn release_attached(attached: *mut Attached) {
    // SAFETY: the caller guarantees that `attached` is live and not NULL.
    unsafe { ((*attached).release)(NonNull::new_unchecked(attached)) }
}

/// # Safety
/// `block` must be live; its arrays are not used afterwards unless they are inline.
#[inline(always)]
unsafe fn free_heap_dims(block: *mut Block) {
    // SAFETY: if `heap_dims` is not 0, `size` points to a heap block for that many dimensions.
    unsafe {
        if (*block).heap_dims > 0
            && let Some(heap) = NonNull::new((*block).head.size)
        {
            alloc::release(heap.cast(), bytes_of((*block).heap_dims));
        }
    }
}

/// The size of `n` sizes and `n` strides in bytes.
fn bytes_of(n: usize) -> usize {
    2 * n * size_of::<i64>()
}
/// The contents of a new handle. `ndim` is `None` for a tensor without sizes; `dims(d)` returns size and stride of dimension `d`.
struct Made<F> {
    ndim: Option<usize>,
    dims: F,
    storage: Option<Storage>,
    offset: i64,
    dtype: u8,
    deviceType: i8,
    deviceIndex: i8,
}

/// One counted reference to a `THTensor`. It never gives out `&mut THTensor`, because in C a result may be the same handle as an input.
#[derive(Debug)]
#[repr(transparent)]
pub struct Tensor(NonNull<THTensor>);

// SAFETY: the reference count is atomic. The C header requires the program to order accesses to the elements.
unsafe impl Send for Tensor {}
// SAFETY: as for `Send`.
unsafe impl Sync for Tensor {}

impl Tensor {
    /// A fresh handle: without dtype, storage and elements.
    #[inline]
    pub fn fresh() -> Result<Tensor> {
        Tensor::bare(0)
    }

    /// A handle with a dtype, but without storage and elements.
    pub fn of_dtype(dtype: Dtype) -> Result<Tensor> {
        Tensor::bare(dtype as u8)
    }

    #[inline(always)]
    fn bare(dtype: u8) -> Result<Tensor> {
        let (deviceType, deviceIndex) = Device::Cpu.codes();
        Tensor::made(Made { ndim: None, dims: |_| (0, 0), storage: None, offset: 0, dtype, deviceType, deviceIndex })
    }

    /// A new handle whose sizes and strides are inside its block.
    #[inline(always)]
    fn made<F: Fn(usize) -> (i64, i64)>(made: Made<F>) -> Result<Tensor> {
        let Some(block) = alloc::allocate(size_of::<Block>()) else { bail!(NoMem, "out of memory") };
        let block = block.cast::<Block>();
        // SAFETY: the block is fresh, large enough and aligned to 16.
        unsafe {
            let raw = block.as_ptr();
            let size = (&raw mut (*raw).dims).cast::<i64>();
            let stride = size.add(INLINE_DIMS);
            // Sizes and strides are copied word by word here, in `set_dims` and in `dims`: a vector load shortly after narrow stores to the
            // same address stalls, because store forwarding fails.
            for d in 0..INLINE_DIMS {
                let (n, step) = (made.dims)(d);
                size.add(d).write_volatile(n);
                stride.add(d).write_volatile(step);
            }
            (&raw mut (*raw).heap_dims).write(0);
            (&raw mut (*raw).attached).write(AtomicPtr::new(null_mut()));
            (&raw mut (*raw).head).write(THTensor {
                size,
                stride,
                nDimension: made.ndim.unwrap_or(0) as c_int,
                storage: made.storage.map_or(null_mut(), Storage::into_raw),
                storageOffset: made.offset as isize,
                refcount: 1,
                flag: TH_TENSOR_REFCOUNTED | if made.ndim == Some(0) { TH_TENSOR_SCALAR } else { 0 },
                dtype: made.dtype,
                deviceType: made.deviceType,
                deviceIndex: made.deviceIndex,
            });
        }
        Ok(Tensor(block.cast()))
    }

    /// A new tensor over `storage`. The caller has checked that `layout` is inside the storage.
    #[inline]
    pub fn with_layout(storage: Storage, dtype: Dtype, layout: &Layout) -> Result<Tensor> {
        let (Some(shape), Some(strides)) = (layout.shape.as_inline(), layout.strides.as_inline()) else {
            let t = Tensor::fresh()?;
            t.set_dims(&layout.shape, &layout.strides)?;
            t.set_elements(storage, dtype, layout.offset);
            return Ok(t);
        };
        let (deviceType, deviceIndex) = storage.device().codes();
        Tensor::made(Made {
            ndim: Some(layout.ndim()),
            dims: |d| (shape[d], strides[d]),
            storage: Some(storage),
            offset: layout.offset,
            dtype: dtype as u8,
            deviceType,
            deviceIndex,
        })
    }

    /// A new row-major tensor with undefined elements.
    pub fn empty(dtype: Dtype, shape: &[i64]) -> Result<Tensor> {
        if shape.len() > INLINE_DIMS {
            let numel = checked_numel(shape)?;
            let t = Tensor::fresh()?;
            t.set_dims_contiguous(shape)?;
            t.set_elements(Storage::with_size(dtype, numel)?, dtype, 0);
            return Ok(t);
        }
        let (mut dims, mut next, mut sound, mut full) = ([(0, 0); INLINE_DIMS], 1i64, true, true);
        for d in (0..shape.len()).rev() {
            dims[d] = (shape[d], next);
            let (product, overflows) = next.overflowing_mul(shape[d].max(1));
            sound &= (shape[d] >= 0) & !overflows;
            full &= shape[d] != 0;
            next = product;
        }
        let numel = if sound { next * full as i64 } else { checked_numel(shape)? };
        let storage = Storage::with_size(dtype, numel)?;
        let (deviceType, deviceIndex) = storage.device().codes();
        Tensor::made(Made {
            ndim: Some(shape.len()),
            dims: |d| dims[d],
            storage: Some(storage),
            offset: 0,
            dtype: dtype as u8,
            deviceType,
            deviceIndex,
        })
    }

    /// A new tensor with undefined elements and these strides, with a storage that ends at the last element.
    pub fn empty_strided(dtype: Dtype, shape: &[i64], strides: &[i64]) -> Result<Tensor> {
        checked_numel(shape)?;
        let layout = Layout { shape: shape.into(), strides: strides.into(), offset: 0 };
        let Some(end) = layout.end() else { bail!(Shape, "shape {shape:?} with strides {strides:?} overflows") };
        Tensor::with_layout(Storage::with_size(dtype, end)?, dtype, &layout)
    }

    /// Passes the reference to C.
    pub fn into_raw(self) -> *mut THTensor {
        let raw = self.0.as_ptr();
        std::mem::forget(self);
        raw
    }

    /// Takes over one reference held by `raw`.
    ///
    /// # Safety
    /// `raw` must point to a live tensor, and the caller must own the reference.
    pub unsafe fn from_raw(raw: NonNull<THTensor>) -> Tensor {
        Tensor(raw)
    }

    /// The address of the struct.
    #[inline(always)]
    pub fn as_ptr(&self) -> *mut THTensor {
        self.0.as_ptr()
    }

    /// The address of the storage; 0 without one.
    #[inline(always)]
    pub fn storage_address(&self) -> usize {
        // SAFETY: `self` is a live tensor.
        unsafe { (*self.as_ptr()).storage.addr() }
    }

    /// The version of the storage; `None` without one.
    #[inline(always)]
    pub fn version(&self) -> Option<&AtomicU64> {
        self.borrow_storage().map(Storage::version)
    }

    /// The pointer to the attached data. Code that replaces the pointer must release the old reference.
    #[inline(always)]
    pub fn attached(&self) -> &AtomicPtr<Attached> {
        // SAFETY: every handle is the first field of a `Block`, and the block lives at least as long as `self`.
        unsafe { &(*self.as_ptr().cast::<Block>()).attached }
    }

    /// Returns true if both are the same C handle.
    pub fn is(&self, other: &Tensor) -> bool {
        self.0 == other.0
    }

    /// The element type; `None` before the first write.
    #[inline(always)]
    pub fn dtype(&self) -> Option<Dtype> {
        // SAFETY: `self` is a live tensor.
        Dtype::from_code(unsafe { (*self.as_ptr()).dtype }.into())
    }

    /// The element type; an error before the first write.
    #[inline(always)]
    pub fn defined(&self) -> Result<Dtype> {
        match self.dtype() {
            Some(dtype) => Ok(dtype),
            None => Err(self.undefined()),
        }
    }

    #[cold]
    fn undefined(&self) -> Error {
        let what = format_args!("has no dtype yet: it is a fresh handle that nothing was written to");
        Error::about(self.as_ptr().addr(), Kind::Dtype, what)
    }

    /// The device of the elements.
    #[inline(always)]
    pub fn device(&self) -> Device {
        // SAFETY: `self` is a live tensor.
        unsafe { Device::from_codes((*self.as_ptr()).deviceType, (*self.as_ptr()).deviceIndex) }
    }

    /// The field `nDimension`; it is 0 both for scalars and for fresh handles.
    #[inline(always)]
    pub fn ndim(&self) -> usize {
        // SAFETY: `self` is a live tensor.
        (unsafe { (*self.as_ptr()).nDimension }).max(0) as usize
    }

    /// Returns true if this is a 0-d tensor with one element. Only this function tells a scalar from a tensor without sizes.
    #[inline(always)]
    pub fn is_scalar(&self) -> bool {
        // SAFETY: `self` is a live tensor.
        self.ndim() == 0 && unsafe { (*self.as_ptr()).flag } & TH_TENSOR_SCALAR != 0
    }

    /// Returns true if the tensor has sizes; a scalar has, with 0 dimensions. A tensor without sizes gets them by the first write.
    #[inline(always)]
    pub fn has_sizes(&self) -> bool {
        self.ndim() > 0 || self.is_scalar()
    }

    /// Returns true if both have the same sizes.
    #[inline(always)]
    pub fn same_shape(&self, other: &Tensor) -> bool {
        self.ndim() == other.ndim() && self.is_scalar() == other.is_scalar() && self.peek().0.iter().eq(other.peek().0)
    }

    /// A copy of the geometry. Fails if a size, a stride or the offset is negative or the number of elements overflows.
    #[inline(always)]
    pub fn layout(&self) -> Result<Layout> {
        let (shape, strides) = self.peek();
        // SAFETY: `self` is a live tensor.
        let offset = unsafe { (*self.as_ptr()).storageOffset } as i64;
        if !self.has_sizes() {
            return Ok(Layout { shape: Dims::filled(0, 1), strides: Dims::filled(1, 1), offset });
        }
        let (mut sound, mut numel) = (offset >= 0 && shape.len() == self.ndim(), 1i64);
        for d in 0..shape.len().min(strides.len()) {
            let (product, overflows) = numel.overflowing_mul(shape[d].max(1));
            sound &= ((shape[d] | strides[d]) >= 0) & !overflows;
            numel = product;
        }
        if !sound {
            return Err(self.damage(offset));
        }
        let (shape, strides) = self.dims();
        Ok(Layout { shape, strides, offset })
    }

    /// [`Tensor::layout`] that also fails unless every element is inside the storage, with one pass over the dimensions.
    #[inline(always)]
    pub fn layout_inside(&self) -> Result<Layout> {
        let (shape, strides) = self.peek();
        let offset = self.offset();
        let (mut sound, mut numel, mut last, mut empty) =
            (offset >= 0 && shape.len() == self.ndim() && self.has_sizes(), 1i64, offset, false);
        for d in 0..shape.len().min(strides.len()) {
            let n = shape[d].max(1);
            let (product, overflows) = numel.overflowing_mul(n);
            let (reach, exceeds) = (n - 1).overflowing_mul(strides[d]);
            let (next, leaves) = last.overflowing_add(reach);
            sound &= ((shape[d] | strides[d]) >= 0) & !(overflows | exceeds | leaves);
            empty |= shape[d] == 0;
            (numel, last) = (product, next);
        }
        let size = self.dtype().map_or(1, Dtype::size) as i64;
        let have = self.borrow_storage().map_or(0, Storage::bytes) as i64;
        if !sound || (!empty && last.saturating_add(1).saturating_mul(size) > have) {
            return self.layout_with_checks();
        }
        let (shape, strides) = self.dims();
        Ok(Layout { shape, strides, offset })
    }

    /// The checks of [`Tensor::layout_inside`] one after the other, for the layouts that need an error message.
    #[cold]
    #[inline(never)]
    fn layout_with_checks(&self) -> Result<Layout> {
        let layout = self.layout()?;
        self.check_bounds(&layout).map(|()| layout)
    }

    /// The error message for an invalid geometry.
    #[cold]
    fn damage(&self, offset: i64) -> Error {
        let (shape, strides) = self.peek();
        let error = checked_numel(shape).err().filter(|_| offset >= 0 && strides.iter().all(|&s| s >= 0));
        error.unwrap_or_else(|| {
            let ndim = self.ndim();
            Error::new(Kind::Shape, format_args!("the handle is damaged: offset {offset}, strides {strides:?}, {ndim} dimensions"))
        })
    }

    /// Sizes and strides, unchecked.
    #[inline(always)]
    fn dims(&self) -> (Dims, Dims) {
        let n = self.ndim();
        // SAFETY: every handle is the first field of a `Block`. Arrays that are not on the heap have INLINE_DIMS initialised entries.
        unsafe {
            let raw = self.as_ptr();
            if n <= INLINE_DIMS && (*raw.cast::<Block>()).heap_dims == 0 {
                let whole = |p: *mut i64| Dims::from_inline(std::array::from_fn(|d| p.add(d).read_volatile()), n);
                return (whole((*raw).size), whole((*raw).stride));
            }
        }
        let (shape, strides) = self.peek();
        (shape.into(), strides.into())
    }

    /// The position of the first element in the storage, in elements.
    #[inline(always)]
    pub fn offset(&self) -> i64 {
        // SAFETY: `self` is a live tensor.
        (unsafe { (*self.as_ptr()).storageOffset }) as i64
    }

    /// A new reference to the storage; `None` if the tensor has no storage yet.
    #[inline(always)]
    pub fn storage(&self) -> Option<Storage> {
        Some(self.borrow_storage()?.clone())
    }

    /// The storage, borrowed from the handle.
    #[inline(always)]
    pub(crate) fn borrow_storage(&self) -> Option<&Storage> {
        // SAFETY: `Storage` is a transparent non-null pointer to a live THStorage; the field has the same form, or is NULL, which is
        // `None`.
        unsafe { (*(&raw const (*self.as_ptr()).storage).cast::<Option<Storage>>()).as_ref() }
    }

    /// The address of the first element; NULL if there is no memory.
    #[inline(always)]
    pub fn data(&self) -> *mut u8 {
        let Some(storage) = self.borrow_storage() else { return null_mut() };
        let size = self.dtype().map_or(1, Dtype::size) as isize;
        // SAFETY: `self` is a live tensor. The address is only used after `check_bounds`.
        storage.data().wrapping_offset(unsafe { (*self.as_ptr()).storageOffset }.wrapping_mul(size))
    }

    /// Fails unless every element of `layout` is inside the storage.
    pub fn check_bounds(&self, layout: &Layout) -> Result<()> {
        let size = self.dtype().map_or(1, Dtype::size) as i64;
        let have = self.borrow_storage().map_or(0, Storage::bytes) as i64;
        match layout.end().and_then(|end| end.checked_mul(size)) {
            Some(need) if need <= have => Ok(()),
            _ => bail!(
                Shape,
                "shape {:?} with strides {:?} and offset {} reaches beyond the storage of {have} bytes",
                layout.shape.as_slice(),
                layout.strides.as_slice(),
                layout.offset
            ),
        }
    }

    /// Replaces the storage, dtype, offset and device of the handle.
    #[inline]
    pub fn set_elements(&self, storage: Storage, dtype: Dtype, offset: i64) {
        let (deviceType, deviceIndex) = storage.device().codes();
        // SAFETY: `self` is a live tensor. The tensor owned the old storage reference, which is dropped after it has been replaced.
        unsafe {
            let raw = self.as_ptr();
            let old = std::mem::replace(&mut (*raw).storage, storage.into_raw());
            (*raw).storageOffset = offset as isize;
            (*raw).dtype = dtype as u8;
            ((*raw).deviceType, (*raw).deviceIndex) = (deviceType, deviceIndex);
            if let Some(old) = NonNull::new(old) {
                drop(Storage::from_raw(old));
            }
        }
    }

    /// The `TH_TENSOR_*` bits.
    pub fn flags(&self) -> c_char {
        // SAFETY: `self` is a live tensor.
        unsafe { (*self.as_ptr()).flag }
    }

    /// Returns true if nothing else refers to the handle or to its elements, which are not mapped.
    pub(crate) fn is_alone(&self) -> bool {
        // SAFETY: `self` is a live tensor.
        let alone = unsafe { (*self.as_ptr()).refcount } == 1;
        alone
            && self
                .borrow_storage()
                .is_some_and(|storage| storage.refcount() == 1 && storage.flags() & crate::storage::TH_STORAGE_VIEW == 0)
    }

    /// Replaces the `TH_TENSOR_*` bits.
    pub fn set_flags(&self, flags: c_char) {
        // SAFETY: `self` is a live tensor; the caller orders writes to it.
        unsafe { (*self.as_ptr()).flag = flags }
    }
}

impl Clone for Tensor {
    #[inline(always)]
    fn clone(&self) -> Tensor {
        // SAFETY: `self` is a live tensor.
        unsafe { refcount::retain(&raw mut (*self.as_ptr()).refcount, (*self.as_ptr()).flag & TH_TENSOR_REFCOUNTED != 0) }
        Tensor(self.0)
    }
}

impl Drop for Tensor {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: `self` owns one reference, which ends here. The last reference also owns the block and what it points to.
        unsafe {
            let raw = self.as_ptr();
            if refcount::release(&raw mut (*raw).refcount, (*raw).flag & TH_TENSOR_REFCOUNTED != 0) {
                if let Some(storage) = NonNull::new((*raw).storage) {
                    drop(Storage::from_raw(storage));
                }
                let attached = self.attached().load(Ordering::Acquire);
                if !attached.is_null() {
                    release_attached(attached);
                }
                free_heap_dims(raw.cast());
                alloc::release(self.0.cast(), size_of::<Block>());
            }
        }
    }
}
