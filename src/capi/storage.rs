//! `THStorage_*`

use super::{dtype_arg, export, null_argument};
use crate::alloc::{THAllocator, THDeleter};
use crate::dtype::THDtype;
use crate::ops::storage as ops;
use crate::storage::{Storage, THStorage};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

export! {
    /// The first element; NULL when the storage is empty. Borrowed: valid until the storage is resized or freed.
    fn THStorage_data(storage: *const THStorage) -> *mut c_void = Ok(storage.data().cast::<c_void>());
    /// The number of elements; -1 on error.
    fn THStorage_size(storage: *const THStorage) -> isize = Ok(storage.len() as isize);
    /// Bytes an element takes; 0 on error.
    fn THStorage_elementSize(storage: *const THStorage) -> usize = Ok(storage.dtype().size());
    /// The element type; `TH_UNDEFINED` on error.
    fn THStorage_dtype(storage: *const THStorage) -> THDtype = Ok(storage.dtype().code());
    /// `TH_CPU` or `TH_CUDA`; 0 on error.
    fn THStorage_deviceType(storage: *const THStorage) -> c_int = Ok(c_int::from(storage.device().codes().0));
    /// References held now, by anyone; 0 on error.
    fn THStorage_refcount(storage: *const THStorage) -> c_int = Ok(storage.refcount());

    /// `storage[index] = value`, converted to the dtype of the storage.
    fn THStorage_set(storage: *mut THStorage, index: isize, value: f64) = ops::set(storage, index as i64, value.into());
    /// `storage[index]`; NaN on error. int64 beyond 2^53 is rounded.
    fn THStorage_get(storage: *const THStorage, index: isize) -> f64 = ops::get(storage, index as i64).map(|x| x.to_f64());

    /// An empty storage. Returns a new reference.
    fn THStorage_new(dtype: THDtype) -> *mut THStorage = Storage::new(dtype_arg(dtype)?);
    /// A storage of `size` elements with undefined values. Returns a new reference.
    fn THStorage_newWithSize(dtype: THDtype, size: isize) -> *mut THStorage = Storage::with_size(dtype_arg(dtype)?, size as i64);
    /// A storage of one given element. Returns a new reference.
    fn THStorage_newWithSize1(dtype: THDtype, v0: f64) -> *mut THStorage = ops::with_values(dtype_arg(dtype)?, &[v0]);
    /// A storage of two given elements. Returns a new reference.
    fn THStorage_newWithSize2(dtype: THDtype, v0: f64, v1: f64) -> *mut THStorage = ops::with_values(dtype_arg(dtype)?, &[v0, v1]);
    /// A storage of three given elements. Returns a new reference.
    fn THStorage_newWithSize3(dtype: THDtype, v0: f64, v1: f64, v2: f64) -> *mut THStorage =
        ops::with_values(dtype_arg(dtype)?, &[v0, v1, v2]);
    /// A storage of four given elements. Returns a new reference.
    fn THStorage_newWithSize4(dtype: THDtype, v0: f64, v1: f64, v2: f64, v3: f64) -> *mut THStorage =
        ops::with_values(dtype_arg(dtype)?, &[v0, v1, v2, v3]);
    /// A storage over a file, or over POSIX shared memory with `TH_ALLOCATOR_MAPPED_SHAREDMEM`; `size` <= 0 takes the whole file. Without
    /// `TH_ALLOCATOR_MAPPED_SHARED` or `SHAREDMEM` the file is read, writes stay private. Pipes, devices and directories are refused. It cannot be
    /// resized. Returns a new reference.
    fn THStorage_newWithMapping(dtype: THDtype, filename: *const c_char, size: isize, flags: c_int) -> *mut THStorage = {
        if filename.is_null() {
            return Err(null_argument("filename"));
        }
        // SAFETY: the caller passes a C string.
        Storage::mapped(dtype_arg(dtype)?, unsafe { CStr::from_ptr(filename) }, size as i64, flags)
    };
    /// A storage that takes over `data`: `size` elements from `THAlloc` or malloc, freed with the storage. On error `data` stays the
    /// caller's. Returns a new reference.
    fn THStorage_newWithData(dtype: THDtype, data: *mut c_void, size: isize) -> *mut THStorage =
        // SAFETY: the caller vouches for `data`.
        unsafe { Storage::with_data(dtype_arg(dtype)?, data, size as i64, &crate::alloc::THDefaultAllocator, std::ptr::null_mut()) };
    /// A storage of `size` elements from `allocator`, which must outlive it. Returns a new reference. `allocatorContext` belongs to
    /// the storage then, whose end calls `free` with it, and with NULL where there is no block. On error `free` has not been called, and the
    /// context is still the caller's.
    fn THStorage_newWithAllocator(dtype: THDtype, size: isize, allocator: *const THAllocator, allocatorContext: *mut c_void) -> *mut THStorage =
        // SAFETY: the caller vouches for the allocator; it is not NULL.
        unsafe { Storage::with_allocator(dtype_arg(dtype)?, size as i64, allocator, allocatorContext) };
    /// A storage that takes over `data`, freed by `allocator` with the storage. On error `data` stays the caller's. Returns a new reference.
    fn THStorage_newWithDataAndAllocator(
        dtype: THDtype, data: *mut c_void, size: isize, allocator: *const THAllocator, allocatorContext: *mut c_void,
    ) -> *mut THStorage =
        // SAFETY: the caller vouches for `data` and the allocator; it is not NULL.
        unsafe { Storage::with_data(dtype_arg(dtype)?, data, size as i64, allocator, allocatorContext) };
    /// A storage that shares `data` with the caller. `deleter(data, context)` is called once, when the last reference is gone; it may be
    /// NULL. On error it is not called. It cannot be resized. Returns a new reference.
    fn THStorage_newFromBlob(dtype: THDtype, data: *mut c_void, size: isize, deleter: THDeleter, context: *mut c_void) -> *mut THStorage =
        // SAFETY: the caller vouches for `data`.
        unsafe { Storage::from_blob(dtype_arg(dtype)?, data, size as i64, deleter, context) };

    /// Sets `TH_STORAGE_*` bits.
    fn THStorage_setFlag(storage: *mut THStorage, flag: c_char) = {
        storage.set_flags(storage.flags() | flag);
        Ok(())
    };
    /// Clears `TH_STORAGE_*` bits.
    fn THStorage_clearFlag(storage: *mut THStorage, flag: c_char) = {
        storage.set_flags(storage.flags() & !flag);
        Ok(())
    };
    /// Exchanges everything but the reference counts, dtypes included.
    fn THStorage_swap(storage1: *mut THStorage, storage2: *mut THStorage) = {
        storage1.swap(storage2);
        Ok(())
    };
    /// Makes room for `size` elements and keeps as many as fit; new ones are undefined. Fails on foreign, mapped and shared memory. An allocator
    /// of the caller's is asked for one byte at least: its block ends with the storage.
    fn THStorage_resize(storage: *mut THStorage, size: isize) = storage.resize(size as i64);
    /// Every element `= value`, in the range that `THTensor_fill` takes.
    fn THStorage_fill(storage: *mut THStorage, value: f64) = ops::fill(storage, value.into());
    /// Copies `size` elements of the storage's own dtype from `src`.
    // SAFETY: the caller vouches for `src`.
    fn THStorage_rawCopy(storage: *mut THStorage, src: *const c_void) = unsafe { ops::raw_copy(storage, src.cast()) };
    /// Copies all elements of `src`, converted from whatever dtype it has; both must have the same size.
    fn THStorage_copy(storage: *mut THStorage, src: *const THStorage) = ops::copy(storage, src);
}

/// Adds a reference; NULL is ignored. Safe from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn THStorage_retain(storage: *mut THStorage) {
    if let Some(storage) = NonNull::new(storage) {
        // SAFETY: the caller passes a live storage; nobody drops the clone: its reference is the caller's.
        let _given = unsafe { ManuallyDrop::new(Storage::from_raw(storage)) }.clone();
    }
}

/// Gives up a reference; the last one frees the storage. NULL is ignored. Safe from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn THStorage_free(storage: *mut THStorage) {
    if let Some(storage) = NonNull::new(storage) {
        // SAFETY: the caller gives up a reference it holds.
        drop(unsafe { Storage::from_raw(storage) });
    }
}
