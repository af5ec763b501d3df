//! Lent memory. Another library knows its address, so it is never moved or freed when the lending storage is resized, swapped or freed.

use super::{Storage, TH_STORAGE_FREEMEM, TH_STORAGE_REFCOUNTED, TH_STORAGE_RESIZABLE, TH_STORAGE_VIEW, THStorage};
use crate::alloc::THAllocator;
use crate::error::Result;
use std::ffi::c_char;
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::*};

impl Storage {
    /// Returns a new storage that owns the memory. This storage becomes a view of the new one and can no longer be resized. Threads may
    /// call this function at the same time: all get the same owner.
    pub fn lend(&self) -> Result<Storage> {
        let raw = self.as_ptr();
        // SAFETY: `self` is a live storage. The fields that change here are only changed by atomic operations.
        unsafe {
            let view = AtomicPtr::from_ptr(&raw mut (*raw).view);
            let allocator = AtomicPtr::from_ptr((&raw mut (*raw).allocator).cast::<*mut THAllocator>());
            let mut owner = view.load(Acquire);
            if owner.is_null() {
                let (flags, found) = (TH_STORAGE_REFCOUNTED, allocator.load(Relaxed));
                let made = Storage::from_parts(self.dtype(), (*raw).data, self.len(), flags, found, (*raw).allocatorContext)?;
                match view.compare_exchange(null_mut(), made.as_ptr(), AcqRel, Acquire) {
                    Ok(_) => owner = self.hand_over(made, allocator),
                    // Another thread was faster. `made` has no FREEMEM flag, so dropping it frees only its struct.
                    Err(others) => owner = others,
                }
            }
            let owner = ManuallyDrop::new(Storage(NonNull::new_unchecked(owner)));
            Ok(Storage::clone(&owner))
        }
    }

    /// Passes the duty to free the memory to `owner`. This storage keeps the reference to `owner` as its `view`.
    fn hand_over(&self, owner: Storage, allocator: &AtomicPtr<THAllocator>) -> *mut THStorage {
        owner.set_flags(owner.flags() | self.flags() & TH_STORAGE_FREEMEM);
        // SAFETY: `self` is a live storage.
        let flag = unsafe { AtomicU8::from_ptr((&raw mut (*self.as_ptr()).flag).cast()) };
        let bits = |flags: c_char| flags as u8;
        flag.fetch_or(bits(TH_STORAGE_VIEW), Relaxed);
        flag.fetch_and(!bits(TH_STORAGE_RESIZABLE | TH_STORAGE_FREEMEM), Relaxed);
        // Without an allocator, `resize` fails even if the program sets RESIZABLE again.
        allocator.store(null_mut(), Relaxed);
        owner.into_raw()
    }
}

#[cfg(test)]
mod tests {
    use crate::dtype::Dtype;
    use crate::storage::{Storage, TH_STORAGE_RESIZABLE};

    #[test]
    fn lent_memory_stays_where_it_is() {
        let (storage, other) = (Storage::with_size(Dtype::Int32, 1000).unwrap(), Storage::with_size(Dtype::Int32, 5).unwrap());
        let data = storage.data();
        let lent = storage.lend().unwrap();
        assert_eq!((lent.data(), storage.data()), (data, data));
        assert_eq!(storage.lend().unwrap().as_ptr(), lent.as_ptr());
        assert!(storage.resize(2000).is_err());
        storage.set_flags(storage.flags() | TH_STORAGE_RESIZABLE);
        assert!(storage.resize(2000).is_err());
        storage.swap(&other);
        drop((storage, other));
        // SAFETY: the memory has 1000 elements, and `lent` keeps it alive.
        unsafe { data.cast::<i32>().add(999).write(7) }
        assert_eq!((lent.len(), lent.refcount()), (1000, 1));
    }

    #[test]
    fn threads_lend_at_once() {
        for _ in 0..100 {
            let storage = Storage::with_size(Dtype::Uint8, 100).unwrap();
            let owners: Vec<usize> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| storage.lend().unwrap().as_ptr().addr())).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert!(owners.iter().all(|&owner| owner == owners[0]));
        }
    }
}
