//! Growth in two steps: first the memory, which may fail, then the exchange, which may not.

use super::{CACHING, Storage, TH_STORAGE_RESIZABLE};
use crate::error::{Result, bail};

impl Storage {
    /// A storage of `len` undefined elements whose memory this one can take by [`Storage::exchange_memory`]. `None` where the memory is
    /// that of another allocator, which alone can grow it.
    pub fn larger(&self, len: i64) -> Result<Option<Storage>> {
        // SAFETY: a live storage.
        let caching = std::ptr::eq(unsafe { (*self.as_ptr()).allocator }, &CACHING);
        if caching { Storage::on_host(self.dtype(), len).map(Some) } else { Ok(None) }
    }

    /// Fails where the storage must not be made to hold `len` elements.
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
        // SAFETY: two live storages; both kinds of memory are given back alike, by the bytes that the context stands for.
        unsafe {
            let (a, b) = (self.as_ptr(), other.as_ptr());
            std::ptr::swap(&raw mut (*a).data, &raw mut (*b).data);
            std::ptr::swap(&raw mut (*a).size, &raw mut (*b).size);
            std::ptr::swap(&raw mut (*a).allocatorContext, &raw mut (*b).allocatorContext);
        }
    }
}
