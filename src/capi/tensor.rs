//! `THTensor_*`: making tensors, asking about them, single elements, copies.

use super::{dtype_arg, export, numbers, optional_numbers};
use crate::alloc::THDeleter;
use crate::dtype::{Dtype, THDtype};
use crate::error::{Result, bail};
use crate::layout::{Dims, TH_CONTIGUOUS_FORMAT, TH_PRESERVE_FORMAT, THMemoryFormat, wrap_dim};
use crate::ops::{copy, create, storage, view};
use crate::scalar::Scalar;
use crate::storage::THStorage;
use crate::tensor::{THTensor, Tensor};
use std::ffi::{c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

export! {
    /// A fresh handle: no dtype, no elements. The first operation that writes to it gives it dtype, shape and memory. Returns a new reference.
    fn THTensor_new() -> *mut THTensor = Tensor::fresh();
    /// A second handle on the elements of `tensor`. Returns a new reference.
    fn THTensor_newWithTensor(tensor: *mut THTensor) -> *mut THTensor = view::alias(tensor);
    /// A row-major tensor with undefined elements; `ndim` 0 makes a scalar. Returns a new reference.
    fn THTensor_newWithSizes(dtype: THDtype, ndim: c_int, size: *const i64) -> *mut THTensor =
        // SAFETY: `size` holds `ndim` entries.
        Tensor::empty(dtype_arg(dtype)?, unsafe { numbers("size", ndim, size) }?);
    /// A tensor with undefined elements and the given strides. Returns a new reference.
    fn THTensor_newWithSizesStrides(dtype: THDtype, ndim: c_int, size: *const i64, stride: *const i64) -> *mut THTensor =
        // SAFETY: both arrays hold `ndim` entries.
        unsafe { create::with_strides(dtype_arg(dtype)?, numbers("size", ndim, size)?, numbers("stride", ndim, stride)?) };
    /// A 1-d tensor with undefined elements. Returns a new reference.
    fn THTensor_newWithSize1d(dtype: THDtype, size0: i64) -> *mut THTensor = Tensor::empty(dtype_arg(dtype)?, &[size0]);
    /// A 2-d tensor with undefined elements. Returns a new reference.
    fn THTensor_newWithSize2d(dtype: THDtype, size0: i64, size1: i64) -> *mut THTensor =
        Tensor::empty(dtype_arg(dtype)?, &[size0, size1]);
    /// A 3-d tensor with undefined elements. Returns a new reference.
    fn THTensor_newWithSize3d(dtype: THDtype, size0: i64, size1: i64, size2: i64) -> *mut THTensor =
        Tensor::empty(dtype_arg(dtype)?, &[size0, size1, size2]);
    /// A 4-d tensor with undefined elements. Returns a new reference.
    fn THTensor_newWithSize4d(dtype: THDtype, size0: i64, size1: i64, size2: i64, size3: i64) -> *mut THTensor =
        Tensor::empty(dtype_arg(dtype)?, &[size0, size1, size2, size3]);
    /// A tensor with undefined elements laid out as `format` says. Returns a new reference.
    fn THTensor_newEmpty(dtype: THDtype, ndim: c_int, size: *const i64, format: THMemoryFormat) -> *mut THTensor =
        // SAFETY: `size` holds `ndim` entries.
        create::empty(dtype_arg(dtype)?, unsafe { numbers("size", ndim, size) }?, format);
    /// A row-major tensor with every element `value`. Returns a new reference.
    fn THTensor_newFull(dtype: THDtype, ndim: c_int, size: *const i64, value: f64) -> *mut THTensor =
        // SAFETY: `size` holds `ndim` entries.
        create::full(dtype_arg(dtype)?, unsafe { numbers("size", ndim, size) }?, value.into());
    /// A row-major tensor of zeros. Returns a new reference.
    fn THTensor_newZeros(dtype: THDtype, ndim: c_int, size: *const i64) -> *mut THTensor =
        // SAFETY: `size` holds `ndim` entries.
        create::full(dtype_arg(dtype)?, unsafe { numbers("size", ndim, size) }?, Scalar::Int(0));
    /// A row-major tensor of ones. Returns a new reference.
    fn THTensor_newOnes(dtype: THDtype, ndim: c_int, size: *const i64) -> *mut THTensor =
        // SAFETY: `size` holds `ndim` entries.
        create::full(dtype_arg(dtype)?, unsafe { numbers("size", ndim, size) }?, Scalar::Int(1));
    /// A tensor of the dtype and shape of `tensor` with undefined elements. Strides as newClone. Returns a new reference.
    fn THTensor_newEmptyLike(tensor: *const THTensor) -> *mut THTensor = create::empty_like(tensor);
    /// Like `THTensor_newEmptyLike`, with every element `value`. Returns a new reference.
    fn THTensor_newFullLike(tensor: *const THTensor, value: f64) -> *mut THTensor = create::full_like(tensor, value.into());
    /// Like `THTensor_newEmptyLike`, with zeros. Returns a new reference.
    fn THTensor_newZerosLike(tensor: *const THTensor) -> *mut THTensor = create::full_like(tensor, Scalar::Int(0));
    /// Like `THTensor_newEmptyLike`, with ones. Returns a new reference.
    fn THTensor_newOnesLike(tensor: *const THTensor) -> *mut THTensor = create::full_like(tensor, Scalar::Int(1));
    /// A 0-d tensor. Returns a new reference.
    fn THTensor_newScalar(dtype: THDtype, value: f64) -> *mut THTensor = create::scalar(dtype_arg(dtype)?, value.into());
    /// A 0-d tensor with an integer that a double may not hold. Returns a new reference.
    fn THTensor_newScalarLong(dtype: THDtype, value: i64) -> *mut THTensor = create::scalar(dtype_arg(dtype)?, value.into());
    /// A tensor with a copy of the row-major elements at `data`. Returns a new reference.
    fn THTensor_newFromData(dtype: THDtype, ndim: c_int, size: *const i64, data: *const c_void) -> *mut THTensor =
        // SAFETY: `size` holds `ndim` entries, `data` their elements.
        unsafe { create::from_data(dtype_arg(dtype)?, numbers("size", ndim, size)?, data) };
    /// A tensor that shares `data` with the caller; NULL `stride` means row-major. `deleter(data, context)` is called once, when the last
    /// view is gone; it may be NULL. On error it is not called. Returns a new reference.
    fn THTensor_newFromBlob(
        dtype: THDtype, ndim: c_int, size: *const i64, stride: *const i64, data: *mut c_void, deleter: THDeleter, context: *mut c_void,
    ) -> *mut THTensor =
        // SAFETY: the arrays hold `ndim` entries, `data` their elements.
        unsafe {
            let (size, stride) = (numbers("size", ndim, size)?, optional_numbers("stride", ndim, stride)?);
            create::from_blob(dtype_arg(dtype)?, size, stride, data, deleter, context)
        };
    /// A tensor over `storage`, which grows to hold it where it can; NULL `stride` means row-major. With `ndim` -1 it is 1-d over the whole
    /// storage. Returns a new reference.
    fn THTensor_newWithStorage(storage: *mut THStorage, storageOffset: isize, ndim: c_int, size: *const i64, stride: *const i64) -> *mut THTensor =
        if ndim == -1 {
            view::with_whole_storage(storage)
        } else {
            // SAFETY: the arrays hold `ndim` entries.
            unsafe { view::with_storage(storage, storageOffset as i64, numbers("size", ndim, size)?, optional_numbers("stride", ndim, stride)?) }
        };
    /// A 1-d tensor over `storage`. Returns a new reference.
    fn THTensor_newWithStorage1d(storage: *mut THStorage, storageOffset: isize, size0: i64, stride0: i64) -> *mut THTensor =
        view::with_storage(storage, storageOffset as i64, &[size0], Some(&[stride0]));
    /// A 2-d tensor over `storage`. Returns a new reference.
    fn THTensor_newWithStorage2d(
        storage: *mut THStorage, storageOffset: isize, size0: i64, stride0: i64, size1: i64, stride1: i64,
    ) -> *mut THTensor = view::with_storage(storage, storageOffset as i64, &[size0, size1], Some(&[stride0, stride1]));
    /// A 3-d tensor over `storage`. Returns a new reference.
    fn THTensor_newWithStorage3d(
        storage: *mut THStorage, storageOffset: isize, size0: i64, stride0: i64, size1: i64, stride1: i64, size2: i64, stride2: i64,
    ) -> *mut THTensor = view::with_storage(storage, storageOffset as i64, &[size0, size1, size2], Some(&[stride0, stride1, stride2]));
    /// A 4-d tensor over `storage`. Returns a new reference.
    fn THTensor_newWithStorage4d(
        storage: *mut THStorage, storageOffset: isize, size0: i64, stride0: i64, size1: i64, stride1: i64, size2: i64, stride2: i64, size3: i64,
        stride3: i64,
    ) -> *mut THTensor =
        view::with_storage(storage, storageOffset as i64, &[size0, size1, size2, size3], Some(&[stride0, stride1, stride2, stride3]));
    /// A copy with memory of its own. It has the strides of `tensor` where they are dense; where there are gaps, dense strides in the same order
    /// of dimensions; row-major ones where the dimensions of `tensor` are expanded. Returns a new reference.
    fn THTensor_newClone(tensor: *const THTensor) -> *mut THTensor = copy::clone(tensor, TH_PRESERVE_FORMAT);
    /// A copy with memory of its own laid out as `format` says. Returns a new reference.
    fn THTensor_newCloneFormat(tensor: *const THTensor, format: THMemoryFormat) -> *mut THTensor = copy::clone(tensor, format);
    /// `tensor` itself if it is contiguous already, else a row-major copy. Returns a new reference either way.
    fn THTensor_newContiguous(tensor: *mut THTensor) -> *mut THTensor = copy::contiguous(tensor, TH_CONTIGUOUS_FORMAT);
    /// `tensor` itself if it lies in `format` already, else a copy that does. Returns a new reference either way.
    fn THTensor_newContiguousFormat(tensor: *mut THTensor, format: THMemoryFormat) -> *mut THTensor = copy::contiguous(tensor, format);
    /// `tensor` itself if it has this dtype already, else a converted copy. Returns a new reference either way.
    fn THTensor_newTo(tensor: *mut THTensor, dtype: THDtype) -> *mut THTensor = copy::to_dtype(tensor, dtype_arg(dtype)?);

    /// The storage, or NULL while there is none. Borrowed: valid while the tensor keeps it; retain it to keep it longer.
    fn THTensor_storage(tensor: *const THTensor) -> *mut THStorage = Ok(tensor.storage().map_or(std::ptr::null_mut(), |s| s.as_ptr()));
    /// The position of the first element in the storage; -1 on error.
    fn THTensor_storageOffset(tensor: *const THTensor) -> isize = tensor.layout().map(|l| l.offset as isize);
    /// The number of dimensions; 0 for scalars and for tensors without elements. 0 on error.
    fn THTensor_nDimension(tensor: *const THTensor) -> c_int = Ok(tensor.ndim() as c_int);
    /// `THTensor_nDimension` by PyTorch's name.
    fn THTensor_dim(tensor: *const THTensor) -> c_int = Ok(tensor.ndim() as c_int);
    /// The size of dimension `dim`; -1 on error.
    fn THTensor_size(tensor: *const THTensor, dim: c_int) -> i64 = entry(&dims_of(tensor)?.0, dim);
    /// The stride of dimension `dim`, in elements; -1 on error.
    fn THTensor_stride(tensor: *const THTensor, dim: c_int) -> i64 = entry(&dims_of(tensor)?.1, dim);
    /// All sizes. Borrowed: valid until the tensor is changed or freed. NULL on error.
    // SAFETY: a live handle.
    fn THTensor_sizes(tensor: *const THTensor) -> *const i64 = Ok(unsafe { (*tensor.as_ptr()).size.cast_const() });
    /// All strides, in elements. Borrowed: valid until the tensor is changed or freed. NULL on error.
    // SAFETY: a live handle.
    fn THTensor_strides(tensor: *const THTensor) -> *const i64 = Ok(unsafe { (*tensor.as_ptr()).stride.cast_const() });
    /// The sizes as an int64 storage. Returns a new reference.
    fn THTensor_newSizeOf(tensor: *const THTensor) -> *mut THStorage = storage::with_sizes(&dims_of(tensor)?.0);
    /// The strides as an int64 storage. Returns a new reference.
    fn THTensor_newStrideOf(tensor: *const THTensor) -> *mut THStorage = storage::with_sizes(&dims_of(tensor)?.1);
    /// The number of elements; -1 on error.
    fn THTensor_nElement(tensor: *const THTensor) -> isize = tensor.layout().map(|l| l.numel() as isize);
    /// `THTensor_nElement` by PyTorch's name.
    fn THTensor_numel(tensor: *const THTensor) -> isize = tensor.layout().map(|l| l.numel() as isize);
    /// The first element; NULL when there is no memory. Borrowed: valid until the storage is resized or freed.
    fn THTensor_data(tensor: *const THTensor) -> *mut c_void = Ok(tensor.data().cast::<c_void>());
    /// The element type; `TH_UNDEFINED` before the first write and on error.
    fn THTensor_dtype(tensor: *const THTensor) -> THDtype = Ok(tensor.dtype().map_or(0, Dtype::code));
    /// Bytes an element takes; 0 before the first write and on error.
    fn THTensor_elementSize(tensor: *const THTensor) -> usize = Ok(tensor.dtype().map_or(0, Dtype::size));
    /// `TH_CPU` or `TH_CUDA`; 0 on error.
    fn THTensor_deviceType(tensor: *const THTensor) -> c_int = Ok(c_int::from(tensor.device().codes().0));
    /// The ordinal of the GPU the tensor lives on; -1 and an error on the host.
    fn THTensor_getDevice(tensor: *const THTensor) -> i64 = match tensor.device() {
        crate::device::Device::Cuda(index) => Ok(i64::from(index)),
        // The sentence of the PyTorch documents, word for word.
        crate::device::Device::Cpu => bail!(Device, "get_device is not implemented for type torch.{}Tensor", tensor.defined()?.torch_name()),
    };
    /// 1 if the elements lie row-major without gaps; 0 if not and on error.
    fn THTensor_isContiguous(tensor: *const THTensor) -> c_int = Ok(tensor.layout()?.is_contiguous());
    /// 1 if the elements lie as `format` says; 0 if not and on error. Of an empty tensor the strides tell whether it is channels-last.
    fn THTensor_isContiguousFormat(tensor: *const THTensor, format: THMemoryFormat) -> c_int = tensor.layout()?.has_format(format);
    /// 1 if both have the same sizes; 0 if not and on error.
    fn THTensor_isSameSizeAs(tensor: *const THTensor, src: *const THTensor) -> c_int = Ok(tensor.same_shape(src));
    /// 1 if both show the same elements: storage, offset, sizes and strides agree; 0 if not and on error.
    fn THTensor_isSetTo(tensor: *const THTensor, src: *const THTensor) -> c_int = {
        let storage = |t: &Tensor| t.storage().map(|s| s.as_ptr());
        Ok(storage(tensor).is_some() && storage(tensor) == storage(src) && tensor.layout()? == src.layout()?)
    };
    /// 1 if the sizes are these; 0 if not and on error.
    fn THTensor_isSize(tensor: *const THTensor, ndim: c_int, size: *const i64) -> c_int =
        // SAFETY: `size` holds `ndim` entries.
        Ok(unsafe { numbers("size", ndim, size) }? == dims_of(tensor)?.0.as_slice());
    /// References held now, by anyone; 0 on error.
    // SAFETY: a live handle.
    fn THTensor_refcount(tensor: *const THTensor) -> c_int = Ok(unsafe { std::sync::atomic::AtomicI32::from_ptr(&raw mut (*tensor.as_ptr()).refcount) }.load(std::sync::atomic::Ordering::Relaxed));
    /// Sets `TH_TENSOR_*` bits.
    fn THTensor_setFlag(tensor: *mut THTensor, flag: c_char) = {
        tensor.set_flags(tensor.flags() | flag);
        Ok(())
    };
    /// Clears `TH_TENSOR_*` bits.
    fn THTensor_clearFlag(tensor: *mut THTensor, flag: c_char) = {
        tensor.set_flags(tensor.flags() & !flag);
        Ok(())
    };

    /// The element at `index`, one entry a dimension; negative entries count from the end. NaN on error.
    fn THTensor_get(tensor: *const THTensor, ndim: c_int, index: *const i64) -> f64 =
        // SAFETY: `index` holds `ndim` entries.
        copy::get(tensor, unsafe { numbers("index", ndim, index) }?).map(Scalar::to_f64);
    /// `tensor[x0]`; NaN on error.
    fn THTensor_get1d(tensor: *const THTensor, x0: i64) -> f64 = copy::get(tensor, &[x0]).map(Scalar::to_f64);
    /// `tensor[x0][x1]`; NaN on error.
    fn THTensor_get2d(tensor: *const THTensor, x0: i64, x1: i64) -> f64 = copy::get(tensor, &[x0, x1]).map(Scalar::to_f64);
    /// `tensor[x0][x1][x2]`; NaN on error.
    fn THTensor_get3d(tensor: *const THTensor, x0: i64, x1: i64, x2: i64) -> f64 =
        copy::get(tensor, &[x0, x1, x2]).map(Scalar::to_f64);
    /// `tensor[x0][x1][x2][x3]`; NaN on error.
    fn THTensor_get4d(tensor: *const THTensor, x0: i64, x1: i64, x2: i64, x3: i64) -> f64 =
        copy::get(tensor, &[x0, x1, x2, x3]).map(Scalar::to_f64);
    /// Sets the element at `index`, one entry a dimension; negative entries count from the end.
    fn THTensor_setAt(tensor: *mut THTensor, ndim: c_int, index: *const i64, value: f64) =
        // SAFETY: `index` holds `ndim` entries.
        copy::set(tensor, unsafe { numbers("index", ndim, index) }?, value.into());
    /// `tensor[x0] = value`
    fn THTensor_set1d(tensor: *mut THTensor, x0: i64, value: f64) = copy::set(tensor, &[x0], value.into());
    /// `tensor[x0][x1] = value`
    fn THTensor_set2d(tensor: *mut THTensor, x0: i64, x1: i64, value: f64) = copy::set(tensor, &[x0, x1], value.into());
    /// `tensor[x0][x1][x2] = value`
    fn THTensor_set3d(tensor: *mut THTensor, x0: i64, x1: i64, x2: i64, value: f64) = copy::set(tensor, &[x0, x1, x2], value.into());
    /// `tensor[x0][x1][x2][x3] = value`
    fn THTensor_set4d(tensor: *mut THTensor, x0: i64, x1: i64, x2: i64, x3: i64, value: f64) =
        copy::set(tensor, &[x0, x1, x2, x3], value.into());
    /// The only element of a tensor of any shape; NaN on error.
    fn THTensor_item(tensor: *const THTensor) -> f64 = copy::item(tensor).map(Scalar::to_f64);
    /// The only element as an integer, exact for int64; -1 on error.
    fn THTensor_itemLong(tensor: *const THTensor) -> i64 = copy::item(tensor).map(|x| match x {
        Scalar::Int(x) => x,
        Scalar::Float(x) => x as i64,
    });
    /// Every element `r = value`. An error if `r` holds integers and `value`, cut off to a whole number, is out of their range.
    fn THTensor_fill(r: *mut THTensor, value: f64) = copy::fill(r, value.into());
    /// Every element `r = 0`.
    fn THTensor_zero(r: *mut THTensor) = copy::fill(r, Scalar::Int(0));
    /// `r = src`, converted to the dtype of `r` and broadcast to its shape; any layouts, overlapping or not. A fresh `r` becomes a clone.
    fn THTensor_copy(r: *mut THTensor, src: *const THTensor) = copy::copy(r, src);
    /// Copies `tensor` into `dst` unless they are the same handle, then gives up the reference to `tensor`. NULL `tensor` is an error.
    fn THTensor_freeCopyTo(tensor: *mut THTensor, dst: *mut THTensor) = {
        copy::copy(dst, tensor)?;
        // SAFETY: the caller gives up a reference it holds.
        drop(unsafe { std::ptr::read(tensor) });
        Ok(())
    };
}

/// Sizes and strides as the struct says: none where `nDimension` is 0.
fn dims_of(t: &Tensor) -> Result<(Dims, Dims)> {
    let layout = t.layout()?;
    Ok(if t.ndim() == 0 { Default::default() } else { (layout.shape, layout.strides) })
}

fn entry(dims: &[i64], dim: c_int) -> Result<i64> {
    match dims {
        [] => bail!(Argument, "the tensor has no dimension {dim}"),
        _ => Ok(dims[wrap_dim(dim, dims.len())?]),
    }
}

/// Adds a reference; NULL is ignored. Safe from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn THTensor_retain(tensor: *mut THTensor) {
    if let Some(t) = NonNull::new(tensor) {
        // SAFETY: the caller passes a live tensor; nobody drops the clone: its reference is the caller's.
        let _given = unsafe { ManuallyDrop::new(Tensor::from_raw(t)) }.clone();
    }
}

/// Gives up a reference; the last one frees the tensor and its reference to the storage. NULL is ignored. Safe from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn THTensor_free(tensor: *mut THTensor) {
    if let Some(t) = NonNull::new(tensor) {
        // SAFETY: the caller gives up a reference it holds.
        drop(unsafe { Tensor::from_raw(t) });
    }
}
