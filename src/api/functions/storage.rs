//! Storages.
//!
//! A storage owns a block of elements of one dtype. Tensors make theirs as they need it.
//!
//! Errors: `TH_ERR_ARGUMENT`, an index, size or flag out of range, a storage that cannot be resized; `TH_ERR_SHAPE`, storages of
//! different lengths; `TH_ERR_IO`, a file that cannot be mapped.

use crate::api::table::table;
use crate::ops::placement::storage_pinned;
use crate::ops::storage as ops;
use crate::storage::{Storage, THStorage};
use std::ffi::{c_int, c_void};

macro_rules! storage_functions {
    ($do:ident) => { $do! { "THStorage_";
        /// The first element; NULL when the storage is empty. Borrowed: valid until the storage is resized or freed.
        data(storage: storage_input) -> memory = Ok(storage.data().cast::<c_void>());
        /// The number of elements; -1 on error.
        size(storage: storage_input) -> length = Ok(storage.len() as isize);
        /// Bytes an element takes; 0 on error.
        elementSize(storage: storage_input) -> bytes = Ok(storage.dtype().size());
        /// The element type; `TH_UNDEFINED` on error.
        dtype(storage: storage_input) -> dtype = Ok(storage.dtype().code());
        /// `TH_CPU` or `TH_CUDA`; 0 on error.
        deviceType(storage: storage_input) -> device_type = Ok(c_int::from(storage.device().codes().0));
        /// The number of references that are held now; 0 on error.
        refcount(storage: storage_input) -> int = Ok(storage.refcount());

        /// `storage[index] = value`, converted to the dtype of the storage.
        set(storage: storage_out, index: offset, value: number) = ops::set(storage, index, value);
        /// `storage[index] = value`, an int64 that a double may not hold.
        setLong(storage: storage_out, index: offset, value: integer) = ops::set(storage, index, value.into());
        /// `storage[index]`; NaN on error. int64 beyond 2^53 is rounded.
        get(storage: storage_input, index: offset) -> number = ops::get(storage, index).map(|x| x.to_f64());
        /// `storage[index]` as an integer, exact for int64; floats are cut off. -1 on error.
        getLong(storage: storage_input, index: offset) -> integer = ops::get(storage, index).map(|x| x.to_i64());

        /// An empty storage. Returns a new reference.
        new(dtype: dtype) -> new_storage = Storage::new(dtype);
        /// A storage of `size` elements with undefined values. Returns a new reference.
        newWithSize(dtype: dtype, size: length) -> new_storage = Storage::with_size(dtype, size);
        /// A storage of `size` elements with undefined values in pinned memory of the host, from and to which GPUs copy while the host
        /// goes on, and faster. Returns a new reference.
        newPinned(dtype: dtype, size: length) -> new_storage = storage_pinned(dtype, size as i64);
        /// A storage of one given element. Returns a new reference.
        newWithSize1(dtype: dtype, v0: number) -> new_storage = ops::with_values(dtype, &[v0]);
        /// A storage of two given elements. Returns a new reference.
        newWithSize2(dtype: dtype, v0: number, v1: number) -> new_storage = ops::with_values(dtype, &[v0, v1]);
        /// A storage of three given elements. Returns a new reference.
        newWithSize3(dtype: dtype, v0: number, v1: number, v2: number) -> new_storage =
            ops::with_values(dtype, &[v0, v1, v2]);
        /// A storage of four given elements. Returns a new reference.
        newWithSize4(dtype: dtype, v0: number, v1: number, v2: number, v3: number) -> new_storage =
            ops::with_values(dtype, &[v0, v1, v2, v3]);
        /// A storage over a file, or over POSIX shared memory with `TH_ALLOCATOR_MAPPED_SHAREDMEM`; `size` <= 0 takes the whole file.
        /// Without `TH_ALLOCATOR_MAPPED_SHARED` or `SHAREDMEM` the file is read, writes stay private. Pipes, devices and directories are
        /// refused. It cannot be resized. Returns a new reference.
        newWithMapping(dtype: dtype, filename: text, size: length, flags: code) -> new_storage =
            Storage::mapped(dtype, filename, size, flags);
        /// A storage that takes over `data`: `size` elements from `THAlloc` or malloc, freed with the storage. On error `data` stays the
        /// caller's. An address that is no multiple of the element's size is an error. Returns a new reference.
        newWithData(dtype: dtype, data: memory, size: length) -> new_storage =
            // SAFETY: the caller vouches for `data`.
            unsafe { Storage::with_data(dtype, data, size, &crate::alloc::THDefaultAllocator, std::ptr::null_mut()) };
        /// A storage of `size` elements from `allocator`, which must outlive it: one of yours, `THDefaultAllocator`, `THMapAllocator` or
        /// `THRefcountedMapAllocator`. From then on `allocatorContext` belongs to the storage, whose end calls `free` with it, and with
        /// NULL where there is no block. On error `free` has not been called, and the context is still the caller's. Returns a new
        /// reference.
        newWithAllocator(dtype: dtype, size: length, allocator: allocator, allocatorContext: context) -> new_storage =
            // SAFETY: the caller vouches for the allocator; it is not NULL.
            unsafe { Storage::with_allocator(dtype, size, allocator, allocatorContext) };
        /// A storage that takes over `data`, freed by `allocator` with the storage. On error `data` stays the caller's. `data` as for
        /// newWithData. Returns a new reference.
        newWithDataAndAllocator(dtype: dtype, data: memory, size: length, allocator: allocator, allocatorContext: context) -> new_storage =
            // SAFETY: the caller vouches for `data` and the allocator; it is not NULL.
            unsafe { Storage::with_data(dtype, data, size, allocator, allocatorContext) };
        /// A storage that shares `data` with the caller. `deleter(data, context)` is called once, when the last reference is gone; it may
        /// be NULL. On error it is not called. It cannot be resized. `data` as for newWithData. Returns a new reference.
        newFromBlob(dtype: dtype, data: memory, size: length, deleter: deleter, context: context) -> new_storage =
            // SAFETY: the caller vouches for `data`.
            unsafe { Storage::from_blob(dtype, data, size, deleter, context) };

        /// Sets `TH_STORAGE_*` bits.
        setFlag(storage: storage, flag: flags) = {
            storage.set_flags(storage.flags() | flag);
            Ok(())
        };
        /// Clears `TH_STORAGE_*` bits.
        clearFlag(storage: storage, flag: flags) = {
            storage.set_flags(storage.flags() & !flag);
            Ok(())
        };
        /// Exchanges everything but the reference counts, dtypes included.
        swap(storage1: storage_out, storage2: storage_out) = {
            storage1.swap(storage2);
            Ok(())
        };
        /// Makes room for `size` elements and keeps as many as fit; new ones are undefined. Fails on foreign, mapped and shared memory. An
        /// allocator of the caller's is asked for one byte at least: its block ends with the storage.
        resize(storage: storage_out, size: length) = storage.resize(size);
        /// Every element `= value`, in the range that `THTensor_fill` takes.
        fill(storage: storage_out, value: number) = ops::fill(storage, value);
        /// Copies `size` elements of the storage's own dtype from `src`.
        // SAFETY: the caller vouches for `src`.
        rawCopy(storage: storage_out, src: memory_input) = unsafe { ops::raw_copy(storage, src.cast()) };
        /// Copies all elements of `src`, converted from whatever dtype it has; both must have the same size.
        copy(storage: storage_out, src: storage_input) = ops::copy(storage, src);
    } };
}

storage_functions!(table);
pub(crate) use storage_functions as functions;
