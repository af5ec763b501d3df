//! Growth in two steps: allocating the memory, which may fail, and exchanging it, which cannot fail.

use super::{CACHING, Storage, TH_STORAGE_RESIZABLE};
use crate::error::{Result, bail};

impl Storage {
    /// A storage of `len` undefined elements, which is passed to [`Storage::exchange_memory`] later. `None` if this storage has another
    /// allocator than the caching one: only that allocator can grow its memory.
    pub fn larger(&self, len: i64) -> Result<Option<Storage>> {
        // SAFETY: `self` is a live storage.
        let caching = std::ptr::eq(unsafe { (*self.as_ptr()).allocator }, &CACHING);
        if caching { Storage::on_host(self.dtype(), len).map(Some) } else { Ok(None) }
    }

    /// Fails if `len` elements do not fit and the storage is not resizable.
    pub fn check_growth(&self, len: i64) -> Result<()> {
        if len > self.len() && self.flags() & TH_STORAGE_RESIZABLE == 0 {
            bail!(
                Argument,
                "{len} elements are needed, the storage holds {} and is not resizable: its memory is foreign, mapped or shared",
                self.len()
            )
        }
        Ok(())
    }

    /// Exchanges memory and length with `other`, which came from [`Storage::larger`].
    pub fn exchange_memory(&self, other: &Storage) {
        // SAFETY: both storages are live and have the caching allocator, which frees memory by the number of bytes in the context.
        unsafe {
            let (a, b) = (self.as_ptr(), other.as_ptr());
            std::ptr::swap(&raw mut (*a).data, &raw mut (*b).data);
            std::ptr::swap(&raw mut (*a).size, &raw mut (*b).size);
            std::ptr::swap(&raw mut (*a).allocatorContext, &raw mut (*b).allocatorContext);
        }
    }
}
