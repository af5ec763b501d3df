//! Parts of files that are mapped as the memory of storages.

use crate::alloc;
use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result};
use crate::storage::Storage;
use memmap2::{MmapMut, MmapOptions};
use std::ffi::c_void;
use std::fs::File;

/// The number of bytes below which elements are read instead of mapped. Copying few bytes is cheaper than a page of memory and two system
/// calls.
const LEAST: usize = 64 << 10;

/// Maps `len` elements from byte `at` of a file on. Writes to the storage do not change the file. Returns `None` if the elements cannot be
/// mapped, or if reading is cheaper.
pub fn mapped(file: &File, dtype: Dtype, at: u64, len: i64) -> Result<Option<Storage>> {
    let bytes = len as usize * dtype.size();
    if bytes < LEAST || !at.is_multiple_of(dtype.size() as u64) {
        return Ok(None);
    }
    // SAFETY: the header documents the effects of changes to the file. If another process truncates the file, access beyond the new end
    // raises SIGBUS. Other changes may appear as changes of elements.
    let mapping = unsafe { MmapOptions::new().offset(at).len(bytes).no_reserve_swap().map_copy(file) };
    let Ok(mut mapping) = mapping else { return Ok(None) };
    let data = mapping.as_mut_ptr().cast();
    let Some(context) = alloc::boxed(mapping) else { return Err(Error::new(Kind::NoMem, format_args!("out of memory for a mapping"))) };
    let context = Box::into_raw(context);
    // SAFETY: the elements are inside the mapping. `unmap` releases the mapping when the storage is freed.
    let storage = unsafe { Storage::from_blob(dtype, data, len, Some(unmap), context.cast()) };
    if storage.is_err() {
        // SAFETY: `context` is the pointer from above, and no storage owns it.
        drop(unsafe { Box::from_raw(context) });
    }
    storage.map(Some)
}

unsafe extern "C" fn unmap(_data: *mut c_void, context: *mut c_void) {
    // SAFETY: `mapped` created the context for the storage that is being freed.
    drop(unsafe { Box::from_raw(context.cast::<MmapMut>()) });
}
