//! Parts of files as the memory of storages.

use crate::alloc;
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result};
use crate::storage::Storage;
use memmap2::{MmapMut, MmapOptions};
use std::ffi::c_void;
use std::fs::File;

/// Fewer bytes are read: a page of memory and two calls of the system cost more than copying them.
const LEAST: usize = 64 << 10;

/// A storage over `len` elements from byte `at` of a file on; `None` where they are better read, or cannot be mapped. What is written to
/// the storage stays private.
pub fn mapped(file: &File, dtype: Dtype, at: u64, len: i64) -> Result<Option<Storage>> {
    let bytes = len as usize * dtype.size();
    if bytes < LEAST || !at.is_multiple_of(dtype.size() as u64) {
        return Ok(None);
    }
    // SAFETY: who cuts the file short makes access beyond its new end raise SIGBUS, which the header says; other changes of the file may be
    // seen as changes of elements.
    let mapping = unsafe { MmapOptions::new().offset(at).len(bytes).no_reserve_swap().map_copy(file) };
    let Ok(mut mapping) = mapping else { return Ok(None) };
    let data = mapping.as_mut_ptr().cast();
    let Some(context) = alloc::boxed(mapping) else { return Err(Error::new(Kind::NoMem, format_args!("out of memory for a mapping"))) };
    let context = Box::into_raw(context);
    // SAFETY: the elements lie in the mapping, which ends with the storage.
    let storage = unsafe { Storage::from_blob(dtype, data, len, Some(unmap), context.cast()) };
    if storage.is_err() {
        // SAFETY: made above, and nobody else has it.
        drop(unsafe { Box::from_raw(context) });
    }
    storage.map(Some)
}

unsafe extern "C" fn unmap(_data: *mut c_void, context: *mut c_void) {
    // SAFETY: the context of a storage that `mapped` made, which ends.
    drop(unsafe { Box::from_raw(context.cast::<MmapMut>()) });
}
