//! Storages.
//!
//! A storage owns a block of elements of one dtype. Tensors allocate their storages themselves.
//!
//! Errors: `TH_ERR_ARGUMENT`, an index, size or flag out of range, or a storage that cannot be resized; `TH_ERR_SHAPE`, storages of
//! different lengths; `TH_ERR_IO`, a file that cannot be mapped.

use crate::api::table::table;
use crate::ops::placement::storage_pinned;
use crate::ops::storage as ops;
use crate::storage::{Storage, THStorage};
use std::ffi::{c_int, c_void};

macro_rules! storage_functions {
    ($do:ident) => { $do! { "THStorage_";
        /// A pointer to the first element; NULL if the storage is empty. Borrowed: valid until the storage is resized or freed.
        data(storage: storage_input) -> memory = Ok(storage.data().cast::<c_void>());
        /// The number of elements; -1 on error.
        size(storage: storage_input) -> length = Ok(storage.len() as isize);
        /// The number of bytes of an element; 0 on error.
        elementSize(storage: storage_input) -> bytes = Ok(storage.dtype().size());
        /// The element type; `TH_UNDEFINED` on error.
        dtype(storage: storage_input) -> dtype = Ok(storage.dtype().code());
        /// `TH_CPU` or `TH_CUDA`; 0 on error.
        deviceType(storage: storage_input) -> device_type = Ok(c_int::from(storage.device().codes().0));
        /// The current number of references; 0 on error.
        refcount(storage: storage_input) -> int = Ok(storage.refcount());

        /// `storage[index] = value`, converted to the dtype of the storage.
        set(storage: storage_out, index: offset, value: number) = ops::set(storage, index, value);
        /// `storage[index] = value` for an int64, which a double may be unable to hold.
        setLong(storage: storage_out, index: offset, value: integer) = ops::set(storage, index, value.into());
        /// `storage[index]`; NaN on error. int64 values beyond 2^53 are rounded.
        get(storage: storage_input, index: offset) -> number = ops::get(storage, index).map(|x| x.to_f64());
        /// `storage[index]` as an integer, exact for int64; floats are truncated. -1 on error.
        getLong(storage: storage_input, index: offset) -> integer = ops::get(storage, index).map(|x| x.to_i64());

        /// An empty storage. Returns a new reference.
        new(dtype: dtype) -> new_storage = Storage::new(dtype);
        /// A storage of `size` elements with undefined values. Returns a new reference.
        newWithSize(dtype: dtype, size: length) -> new_storage = Storage::with_size(dtype, size);
        /// A storage of `size` elements with undefined values in pinned memory of the host. GPUs copy from and to pinned memory faster, and
        /// while the host continues. Returns a new reference.
        newPinned(dtype: dtype, size: length) -> new_storage = storage_pinned(dtype, size as i64);
        /// A storage of one element, `v0`. Returns a new reference.
        newWithSize1(dtype: dtype, v0: number) -> new_storage = ops::with_values(dtype, &[v0]);
        /// A storage of two elements, `v0` and `v1`. Returns a new reference.
        newWithSize2(dtype: dtype, v0: number, v1: number) -> new_storage = ops::with_values(dtype, &[v0, v1]);
        /// A storage of three elements, `v0` to `v2`. Returns a new reference.
        newWithSize3(dtype: dtype, v0: number, v1: number, v2: number) -> new_storage =
            ops::with_values(dtype, &[v0, v1, v2]);
        /// A storage of four elements, `v0` to `v3`. Returns a new reference.
        newWithSize4(dtype: dtype, v0: number, v1: number, v2: number, v3: number) -> new_storage =
            ops::with_values(dtype, &[v0, v1, v2, v3]);
        /// A storage over a file, or over POSIX shared memory with `TH_ALLOCATOR_MAPPED_SHAREDMEM`; `size` <= 0 maps the whole file.
        /// Without `TH_ALLOCATOR_MAPPED_SHARED` and `TH_ALLOCATOR_MAPPED_SHAREDMEM` writes do not reach the file. Pipes, devices and
        /// directories are refused. The storage cannot be resized. Returns a new reference.
        newWithMapping(dtype: dtype, filename: text, size: length, flags: code) -> new_storage =
            Storage::mapped(dtype, filename, size, flags);
        /// A storage that takes over `data`: `size` elements from `THAlloc` or malloc, freed with the storage. On error the caller keeps
        /// `data`. The address must be a multiple of the element size. Returns a new reference.
        newWithData(dtype: dtype, data: memory, size: length) -> new_storage =
            // SAFETY: the caller guarantees valid `data`.
            unsafe { Storage::with_data(dtype, data, size, &crate::alloc::THDefaultAllocator, std::ptr::null_mut()) };
        /// A storage of `size` elements from `allocator`, which must outlive the storage: an allocator of the program,
        /// `THDefaultAllocator`, `THMapAllocator` or `THRefcountedMapAllocator`. The storage takes over `allocatorContext`. When the
        /// storage ends, it calls `free` with this context and the block, or NULL if there is no block. On error `free` is not called, and
        /// the caller keeps the context. Returns a new reference.
        newWithAllocator(dtype: dtype, size: length, allocator: allocator, allocatorContext: context) -> new_storage =
            // SAFETY: the caller guarantees a valid allocator, which is not NULL.
            unsafe { Storage::with_allocator(dtype, size, allocator, allocatorContext) };
        /// A storage that takes over `data`, which `allocator` frees with the storage. On error the caller keeps `data`. `data` is as for
        /// newWithData. Returns a new reference.
        newWithDataAndAllocator(dtype: dtype, data: memory, size: length, allocator: allocator, allocatorContext: context) -> new_storage =
            // SAFETY: the caller guarantees valid `data` and a valid allocator, which is not NULL.
            unsafe { Storage::with_data(dtype, data, size, allocator, allocatorContext) };
        /// A storage that shares `data` with the caller. `deleter(data, context)` is called once, when the last reference is given up;
        /// `deleter` may be NULL. On error it is not called. The storage cannot be resized. `data` is as for newWithData. Returns a new
        /// reference.
        newFromBlob(dtype: dtype, data: memory, size: length, deleter: deleter, context: context) -> new_storage =
            // SAFETY: the caller guarantees valid `data`.
            unsafe { Storage::from_blob(dtype, data, size, deleter, context) };

        /// Sets the `TH_STORAGE_*` bits of `flag`.
        setFlag(storage: storage, flag: flags) = {
            storage.set_flags(storage.flags() | flag);
            Ok(())
        };
        /// Clears the `TH_STORAGE_*` bits of `flag`.
        clearFlag(storage: storage, flag: flags) = {
            storage.set_flags(storage.flags() & !flag);
            Ok(())
        };
        /// Exchanges everything except the reference counts, including the dtypes.
        swap(storage1: storage_out, storage2: storage_out) = {
            storage1.swap(storage2);
            Ok(())
        };
        /// Changes the number of elements to `size`. The first elements are kept; new elements are undefined. Fails on foreign, mapped and
        /// shared memory. An allocator of the program is asked for at least one byte, because its block must exist as long as the storage.
        resize(storage: storage_out, size: length) = storage.resize(size);
        /// `storage[i] = value` for every element; `value` must be in the range that `THTensor_fill` accepts.
        fill(storage: storage_out, value: number) = ops::fill(storage, value);
        /// Copies all elements from `src`, which holds as many elements of the storage's dtype as the storage has.
        // SAFETY: the caller guarantees that `src` holds the elements of the storage.
        rawCopy(storage: storage_out, src: memory_input) = unsafe { ops::raw_copy(storage, src.cast()) };
        /// Copies all elements of `src`, converted from the dtype of `src`; both storages must have the same size.
        copy(storage: storage_out, src: storage_input) = ops::copy(storage, src);
    } };
}

storage_functions!(table);
pub(crate) use storage_functions as functions;
