//! `THTensor_*`: making tensors, asking about them, single elements, copies.

use crate::api::table::table;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::{Dims, TH_CONTIGUOUS_FORMAT, TH_PRESERVE_FORMAT, wrap_dim};
use crate::ops::{copy, create, diagonal, sequence, storage, view};
use crate::scalar::Scalar;
use crate::tensor::{THTensor, Tensor};
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

macro_rules! handle_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// A fresh handle, without dtype, elements or memory. The first operation that writes to the handle sets its dtype and shape
            /// and allocates its memory. Returns a new reference.
            new() -> new = Tensor::fresh();
            /// A handle with a dtype but without elements. The first operation that writes to the handle sets its shape, allocates its
            /// memory, and converts the result to this dtype. Returns a new reference.
            newWithDtype(dtype: dtype) -> new = Tensor::of_dtype(dtype);
            /// Makes `t` a fresh handle again, as returned by `THTensor_new`: `t` gives up its storage, its sizes and its dtype.
            reset(t: emptied) = {
                t.reset();
                Ok(())
            };
            /// A second handle on the elements of `t`. Returns a new reference.
            newWithTensor(t: shared) -> new = view::alias(t);
            /// The current number of references; 0 on error.
            refcount(t: input) -> int =
                // SAFETY: a live handle.
                Ok(unsafe { AtomicI32::from_ptr(&raw mut (*t.as_ptr()).refcount) }.load(Ordering::Relaxed));
            /// Sets the `TH_TENSOR_*` bits of `flag`.
            setFlag(t: handle, flag: flags) = {
                t.set_flags(t.flags() | flag);
                Ok(())
            };
            /// Clears the `TH_TENSOR_*` bits of `flag`.
            clearFlag(t: handle, flag: flags) = {
                t.set_flags(t.flags() & !flag);
                Ok(())
            };
        }
    };
}

pub mod handles {
    //! Handles and references.
    //!
    //! A `THTensor *` is a reference-counted handle: sizes, strides, an offset and an element type over a storage.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, an unknown flag.
    use super::*;
    handle_functions!(table);
    pub(crate) use handle_functions as functions;
}

macro_rules! making_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// A row-major tensor with undefined elements; `ndim` 0 makes a scalar. Returns a new reference.
        newWithSizes(dtype: dtype, ndim: len, size: sizes) -> new =
            Tensor::empty(dtype, size);
        /// A tensor with undefined elements and the given strides. Returns a new reference.
        newWithSizesStrides(dtype: dtype, ndim: len, size: sizes, stride: strides) -> new =
            create::with_strides(dtype, size, stride);
        /// A 1-d tensor with undefined elements. Returns a new reference.
        newWithSize1d(dtype: dtype, size0: size) -> new = Tensor::empty(dtype, &[size0]);
        /// A 2-d tensor with undefined elements. Returns a new reference.
        newWithSize2d(dtype: dtype, size0: size, size1: size) -> new =
            Tensor::empty(dtype, &[size0, size1]);
        /// A 3-d tensor with undefined elements. Returns a new reference.
        newWithSize3d(dtype: dtype, size0: size, size1: size, size2: size) -> new =
            Tensor::empty(dtype, &[size0, size1, size2]);
        /// A 4-d tensor with undefined elements. Returns a new reference.
        newWithSize4d(dtype: dtype, size0: size, size1: size, size2: size, size3: size) -> new =
            Tensor::empty(dtype, &[size0, size1, size2, size3]);
        /// A 5-d tensor with undefined elements. Returns a new reference.
        newWithSize5d(dtype: dtype, size0: size, size1: size, size2: size, size3: size, size4: size) -> new =
            Tensor::empty(dtype, &[size0, size1, size2, size3, size4]);
        /// A tensor with undefined elements in the memory format `format`. Returns a new reference.
        newEmpty(dtype: dtype, ndim: len, size: sizes, format: memory_format) -> new =
            create::empty(dtype, size, format);
        /// A row-major tensor whose elements are all `value`. Returns a new reference.
        newFull(dtype: dtype, ndim: len, size: sizes, value: number) -> new =
            create::full(dtype, size, value);
        /// A row-major tensor of zeros. Returns a new reference.
        newZeros(dtype: dtype, ndim: len, size: sizes) -> new =
            create::full(dtype, size, Scalar::Int(0));
        /// A row-major tensor of ones. Returns a new reference.
        newOnes(dtype: dtype, ndim: len, size: sizes) -> new =
            create::full(dtype, size, Scalar::Int(1));
        /// A vector of the numbers `start + i * step` before `end`, as by `THTensor_arange`. Returns a new reference.
        newArange(dtype: dtype, start: number, end: number, step: number) -> new = {
            let r = Tensor::of_dtype(dtype)?;
            sequence::arange(&r, start, end, step)?;
            Ok(r)
        };
        /// A vector of `n` evenly spaced numbers from `start` to `end`, as by `THTensor_linspace`. Floats only. Returns a new reference.
        newLinspace(dtype: dtype, start: number, end: number, n: size) -> new = {
            let r = Tensor::of_dtype(dtype)?;
            sequence::linspace(&r, start.to_f64(), end.to_f64(), n)?;
            Ok(r)
        };
        /// A matrix of `n` rows and `m` columns with ones on the diagonal and zeros elsewhere. Returns a new reference.
        newEye(dtype: dtype, n: size, m: size) -> new = {
            let r = Tensor::of_dtype(dtype)?;
            diagonal::eye(&r, n, m)?;
            Ok(r)
        };
        /// A tensor of the dtype and shape of `t` with undefined elements. The strides are as for newClone. Returns a new reference.
        newEmptyLike(t: input) -> new = create::empty_like(t);
        /// A tensor as by `THTensor_newEmptyLike` whose elements are all `value`. Returns a new reference.
        newFullLike(t: input, value: number) -> new = create::full_like(t, value);
        /// A tensor of zeros as by `THTensor_newEmptyLike`. Returns a new reference.
        newZerosLike(t: input) -> new = create::full_like(t, Scalar::Int(0));
        /// A tensor of ones as by `THTensor_newEmptyLike`. Returns a new reference.
        newOnesLike(t: input) -> new = create::full_like(t, Scalar::Int(1));
        /// A 0-d tensor with the element `value`. Returns a new reference.
        newScalar(dtype: dtype, value: number) -> new = create::scalar(dtype, value);
        /// A 0-d tensor with an int64 element, which a double may be unable to hold. Returns a new reference.
        newScalarLong(dtype: dtype, value: integer) -> new = create::scalar(dtype, value.into());
        /// A tensor with a copy of the row-major elements at `data`, which need not be aligned. Returns a new reference.
        newFromData(dtype: dtype, ndim: len, size: sizes, data: memory_input) -> new =
            // SAFETY: the caller guarantees that `data` holds the elements of these sizes.
            unsafe { create::from_data(dtype, size, data) };
        /// A tensor that shares `data` with the caller; a NULL `stride` means row-major. `deleter(data, context)` is called once, when the
        /// last view is freed; `deleter` may be NULL. On error it is not called. The address must be a multiple of the element size;
        /// newFromData copies from any address. Returns a new reference.
        newFromBlob(dtype: dtype, ndim: len, size: sizes, stride: optional_strides, data: memory, deleter: deleter,
            context: context) -> new =
            // SAFETY: the caller guarantees that `data` holds the elements of these sizes and strides.
            unsafe { create::from_blob(Device::Cpu, dtype, size, stride, data, deleter, context) };
        /// A tensor over `storage`, which grows if it is too small and can be resized; a NULL `stride` means row-major. With `ndim` -1 the
        /// tensor is 1-d and covers the whole storage. Returns a new reference.
        newWithStorage(storage: storage, storageOffset: offset, ndim: len_or_whole, size: sizes, stride: optional_strides) -> new =
            if ndim == -1 {
                view::with_whole_storage(storage)
            } else {
                view::with_storage(storage, storageOffset, size, stride)
            };
        /// A 1-d tensor over `storage`. Returns a new reference.
        newWithStorage1d(storage: storage, storageOffset: offset, size0: size, stride0: stride) -> new =
            view::with_storage(storage, storageOffset, &[size0], Some(&[stride0]));
        /// A 2-d tensor over `storage`. Returns a new reference.
        newWithStorage2d(storage: storage, storageOffset: offset, size0: size, stride0: stride, size1: size, stride1: stride) -> new =
            view::with_storage(storage, storageOffset, &[size0, size1], Some(&[stride0, stride1]));
        /// A 3-d tensor over `storage`. Returns a new reference.
        newWithStorage3d(
            storage: storage, storageOffset: offset, size0: size, stride0: stride, size1: size, stride1: stride, size2: size,
                stride2: stride,
        ) -> new = view::with_storage(storage, storageOffset, &[size0, size1, size2], Some(&[stride0, stride1, stride2]));
        /// A 4-d tensor over `storage`. Returns a new reference.
        newWithStorage4d(storage: storage, storageOffset: offset, size0: size, stride0: stride, size1: size, stride1: stride, size2: size,
            stride2: stride, size3: size, stride3: stride) -> new =
            view::with_storage(storage, storageOffset, &[size0, size1, size2, size3], Some(&[stride0, stride1, stride2, stride3]));
        /// A 5-d tensor over `storage`. Returns a new reference.
        newWithStorage5d(storage: storage, storageOffset: offset, size0: size, stride0: stride, size1: size, stride1: stride, size2: size,
            stride2: stride, size3: size, stride3: stride, size4: size, stride4: stride) -> new =
            view::with_storage(storage, storageOffset, &[size0, size1, size2, size3, size4], Some(&[stride0, stride1, stride2, stride3,
                stride4]));
    } };
}

pub mod making {
    //! Making tensors.
    //!
    //! Every function of this chapter returns a new reference, or NULL on error. The caller gives the reference up with `THTensor_free`.
    //!
    //! Errors: `TH_ERR_SHAPE`, sizes and strides that are negative, overflow or reach beyond the given memory; `TH_ERR_ARGUMENT`, a number
    //! that the dtype cannot hold, or memory that is NULL or not aligned; `TH_ERR_DTYPE`, a `t` without a dtype.
    use super::*;
    making_functions!(table);
    pub(crate) use making_functions as functions;
}

macro_rules! asking_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// The storage, or NULL if the tensor has none. Borrowed: valid while the tensor keeps the storage; retain the storage to keep
            /// it longer.
            storage(t: input) -> borrowed_storage = Ok(t.storage().map_or(std::ptr::null_mut(), |s| s.as_ptr()));
            /// The position of the first element in the storage; -1 on error.
            storageOffset(t: input) -> offset = t.layout().map(|l| l.offset as isize);
            /// The number of dimensions; 0 for a scalar, for a handle that has no shape yet, and on error. A tensor of the sizes [0, 3] has
            /// 2 dimensions.
            nDimension(t: input) -> int = Ok(t.ndim() as c_int);
            /// The PyTorch name of `THTensor_nDimension`.
            dim(t: input) -> int = Ok(t.ndim() as c_int);
            /// The size of dimension `dim`; -1 on error.
            size(t: input, dim: dim) -> size = entry(&dims_of(t)?.0, dim);
            /// The stride of dimension `dim`, in elements; -1 on error.
            stride(t: input, dim: dim) -> stride = entry(&dims_of(t)?.1, dim);
            /// A pointer to all sizes. Borrowed: valid until the tensor is changed or freed. NULL on error.
            // SAFETY: a live handle.
            sizes(t: input) -> borrowed_sizes = Ok(unsafe { (*t.as_ptr()).size.cast_const() });
            /// A pointer to all strides, in elements. Borrowed: valid until the tensor is changed or freed. NULL on error.
            // SAFETY: a live handle.
            strides(t: input) -> borrowed_sizes = Ok(unsafe { (*t.as_ptr()).stride.cast_const() });
            /// The sizes as an int64 storage. Returns a new reference.
            newSizeOf(t: input) -> new_storage = storage::with_sizes(&dims_of(t)?.0);
            /// The strides as an int64 storage. Returns a new reference.
            newStrideOf(t: input) -> new_storage = storage::with_sizes(&dims_of(t)?.1);
            /// The number of elements; -1 on error.
            nElement(t: input) -> length = t.layout().map(|l| l.numel() as isize);
            /// The PyTorch name of `THTensor_nElement`.
            numel(t: input) -> length = t.layout().map(|l| l.numel() as isize);
            /// A pointer to the first element; NULL if there is no memory. Borrowed: valid until the storage is resized or freed.
            data(t: input) -> memory = Ok(t.data().cast::<c_void>());
            /// The element type; `TH_UNDEFINED` before the first write and on error.
            dtype(t: input) -> dtype = Ok(t.dtype().map_or(0, Dtype::code));
            /// The number of bytes of an element; 0 before the first write and on error.
            elementSize(t: input) -> bytes = Ok(t.dtype().map_or(0, Dtype::size));
            /// `TH_CPU` or `TH_CUDA`; 0 on error.
            deviceType(t: input) -> device_type = Ok(c_int::from(t.device().codes().0));
            /// The index of the GPU that holds the tensor. A tensor of the host is an error; -1 on error.
            getDevice(t: input) -> count = match t.device() {
                crate::device::Device::Cuda(index) => Ok(i64::from(index)),
                // The sentence of the PyTorch documents, word for word.
                _ => bail!(Device, "get_device is not implemented for type torch.{}Tensor", t.defined()?.torch_name()),
            };
            /// 1 if the elements are stored in row-major order without gaps; 0 if not and on error.
            isContiguous(t: input) -> flag = Ok(t.layout()?.is_contiguous());
            /// 1 if the elements are stored in the memory format `format`; 0 if not and on error. For an empty tensor the strides decide
            /// whether the format is channels-last.
            isContiguousFormat(t: input, format: memory_format) -> flag = t.layout()?.has_format(format);
            /// 1 if both tensors have the same sizes; 0 if not and on error.
            isSameSizeAs(t: input, src: input) -> flag = Ok(t.same_shape(src));
            /// 1 if both tensors have the same storage, offset, sizes and strides; 0 if not and on error.
            isSetTo(t: input, src: input) -> flag = {
                let storage = |t: &Tensor| t.storage().map(|s| s.as_ptr());
                Ok(storage(t).is_some() && storage(t) == storage(src) && t.layout()? == src.layout()?)
            };
            /// 1 if the tensor has these sizes; 0 if not and on error.
            isSize(t: input, ndim: len, size: sizes) -> flag =
                Ok(size == dims_of(t)?.0.as_slice());
        }
    };
}

pub mod asking {
    //! Looking at tensors.
    //!
    //! The fields of `THTensor` are public; these functions return the same values, and check the handle.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, a dimension that the tensor does not have; `TH_ERR_SHAPE`, a damaged handle; `TH_ERR_DTYPE`, a tensor
    //! without a dtype; `TH_ERR_DEVICE`, a question about a GPU to a tensor of the host.
    use super::*;
    asking_functions!(table);
    pub(crate) use asking_functions as functions;
}

macro_rules! element_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// The element at `index`, which has one entry for each dimension; negative entries count from the end. NaN on error.
            getAt(t: input, ndim: len, index: entries) -> number =
                copy::get(t, index).map(Scalar::to_f64);
            /// `t[x0]`; NaN on error.
            get1d(t: input, x0: entry) -> number = copy::get(t, &[x0]).map(Scalar::to_f64);
            /// `t[x0][x1]`; NaN on error.
            get2d(t: input, x0: entry, x1: entry) -> number = copy::get(t, &[x0, x1]).map(Scalar::to_f64);
            /// `t[x0][x1][x2]`; NaN on error.
            get3d(t: input, x0: entry, x1: entry, x2: entry) -> number =
                copy::get(t, &[x0, x1, x2]).map(Scalar::to_f64);
            /// `t[x0][x1][x2][x3]`; NaN on error.
            get4d(t: input, x0: entry, x1: entry, x2: entry, x3: entry) -> number =
                copy::get(t, &[x0, x1, x2, x3]).map(Scalar::to_f64);
            /// `t[x0][x1][x2][x3][x4]`; NaN on error.
            get5d(t: input, x0: entry, x1: entry, x2: entry, x3: entry, x4: entry) -> number =
                copy::get(t, &[x0, x1, x2, x3, x4]).map(Scalar::to_f64);
            /// The element at `index` as an integer, exact for int64; floats are truncated. `index` is as for getAt; -1 on error.
            getAtLong(t: input, ndim: len, index: entries) -> integer = copy::get(t, index).map(Scalar::to_i64);
            /// `t[index] = value`; `index` has one entry for each dimension, and negative entries count from the end.
            setAt(t: inout, ndim: len, index: entries, value: number) =
                copy::set(t, index, value);
            /// `t[x0] = value`
            set1d(t: inout, x0: entry, value: number) = copy::set(t, &[x0], value);
            /// `t[x0][x1] = value`
            set2d(t: inout, x0: entry, x1: entry, value: number) = copy::set(t, &[x0, x1], value);
            /// `t[x0][x1][x2] = value`
            set3d(t: inout, x0: entry, x1: entry, x2: entry, value: number) = copy::set(t, &[x0, x1, x2], value);
            /// `t[x0][x1][x2][x3] = value`
            set4d(t: inout, x0: entry, x1: entry, x2: entry, x3: entry, value: number) =
                copy::set(t, &[x0, x1, x2, x3], value);
            /// `t[x0][x1][x2][x3][x4] = value`
            set5d(t: inout, x0: entry, x1: entry, x2: entry, x3: entry, x4: entry, value: number) =
                copy::set(t, &[x0, x1, x2, x3, x4], value);
            /// `t[index] = value` for an int64, which a double may be unable to hold. `index` is as for setAt.
            setAtLong(t: inout, ndim: len, index: entries, value: integer) = copy::set(t, index, value.into());
            /// The only element of a tensor of any shape; NaN on error.
            item(t: input) -> number = copy::item(t).map(Scalar::to_f64);
            /// The only element as an integer, exact for int64; floats are truncated. -1 on error.
            itemLong(t: input) -> integer = copy::item(t).map(Scalar::to_i64);
            /// `r = value` for every element. If `r` is of integers, `value` truncated to a whole number must be in the range of the dtype.
            /// As in PyTorch, uint8 also accepts the whole numbers from -255 to -1, which wrap, and no other negative numbers.
            fill(r: out, value: number) = copy::fill(r, value);
            /// `r = value` for every element, where `value` is an int64 that a double may be unable to hold. Otherwise as fill.
            fillLong(r: out, value: integer) = copy::fill(r, value.into());
            /// `r = 0` for every element.
            zero(r: out) = copy::fill(r, Scalar::Int(0));
        }
    };
}

pub mod elements {
    //! Single elements.
    //!
    //! To access all elements of a tensor, use its memory directly: `THTensor_data`, `THTensor_size` and `THTensor_stride`.
    //!
    //! Errors: `TH_ERR_ARGUMENT`, an index out of range, or a number that the dtype cannot hold; `TH_ERR_SHAPE`, a number of indices other
    //! than the number of dimensions; `TH_ERR_DTYPE`, a tensor without a dtype.
    use super::*;
    element_functions!(table);
    pub(crate) use element_functions as functions;
}

macro_rules! copy_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// A copy of `t` in new memory. If the strides of `t` are dense, the copy has the same strides. If `t` has gaps, the copy has
            /// dense strides in the same order of dimensions. If dimensions of `t` are expanded, the copy is row-major. Returns a new
            /// reference.
            newClone(t: input) -> new = copy::clone(t, TH_PRESERVE_FORMAT);
            /// A copy of `t` in new memory, in the memory format `format`. Returns a new reference.
            newCloneFormat(t: input, format: memory_format) -> new = copy::clone(t, format);
            /// `t` itself if it is contiguous, else a row-major copy. Returns a new reference in both cases.
            newContiguous(t: shared) -> new = copy::contiguous(t, TH_CONTIGUOUS_FORMAT);
            /// `t` itself if it is stored in `format`, else a copy in this format. Returns a new reference in both cases.
            newContiguousFormat(t: shared, format: memory_format) -> new = copy::contiguous(t, format);
            /// `t` itself if it has this dtype, else a converted copy. Returns a new reference in both cases.
            newTo(t: shared, dtype: other_dtype) -> new = copy::to_dtype(t, dtype);
            /// `r = t`, converted to the dtype of `r` and broadcast to its shape; any layouts, overlapping or not. A fresh `r` becomes a
            /// clone of `t`. A handle of `THTensor_newWithDtype` gets the shape of `t`.
            copy(r: out, t: input) = copy::copy(r, t);
            /// Copies `t` into `dst` unless both are the same handle, then gives up the reference to `t`. A NULL `t` is an error.
            freeCopyTo(t: shared, dst: inout) = {
                copy::copy(dst, t)?;
                // SAFETY: the caller owns the reference and gives it up.
                drop(unsafe { std::ptr::read(t) });
                Ok(())
            };
        }
    };
}

pub mod copies {
    //! Copies and conversions.
    //!
    //! Copies of tensors, also with another dtype or in another order in memory.
    //!
    //! Errors: `TH_ERR_SHAPE`, a source that does not broadcast to the result; `TH_ERR_DTYPE`, a source without a dtype; `TH_ERR_ARGUMENT`,
    //! an invalid code of a dtype or memory format.
    use super::*;
    copy_functions!(table);
    pub(crate) use copy_functions as functions;
}

/// Returns the sizes and strides of the struct; both are empty if `nDimension` is 0.
fn dims_of(t: &Tensor) -> Result<(Dims, Dims)> {
    let layout = t.layout()?;
    Ok(if t.ndim() == 0 { Default::default() } else { (layout.shape, layout.strides) })
}

fn entry(dims: &[i64], dim: c_int) -> Result<i64> {
    match dims {
        [] => bail!(Argument, "a tensor with 0 dimensions has no dimension {dim}"),
        _ => Ok(dims[wrap_dim(dim, dims.len())?]),
    }
}
