//! Memory whose address another library has: it stays where it is, whatever becomes of the storage that it was lent from.

use super::{Storage, TH_STORAGE_FREEMEM, TH_STORAGE_REFCOUNTED, TH_STORAGE_RESIZABLE, TH_STORAGE_VIEW, THStorage};
use crate::alloc::THAllocator;
use crate::error::Result;
use std::ffi::c_char;
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering::*};

impl Storage {
    /// The owner of the memory from now on. This storage is a view of it, which can no longer be resized. Several threads may lend at once.
    pub fn lend(&self) -> Result<Storage> {
        let raw = self.as_ptr();
        // SAFETY: a live storage, whose fields that change here are changed by atomic operations.
        unsafe {
            let view = AtomicPtr::from_ptr(&raw mut (*raw).view);
            let allocator = AtomicPtr::from_ptr((&raw mut (*raw).allocator).cast::<*mut THAllocator>());
            let mut owner = view.load(Acquire);
            if owner.is_null() {
                let (flags, found) = (TH_STORAGE_REFCOUNTED, allocator.load(Relaxed));
                let made = Storage::from_parts(self.dtype(), (*raw).data, self.len(), flags, found, (*raw).allocatorContext)?;
                match view.compare_exchange(null_mut(), made.as_ptr(), AcqRel, Acquire) {
                    Ok(_) => owner = self.hand_over(made, allocator),
                    // Another thread was quicker: what this one has made owns nothing.
                    Err(others) => owner = others,
                }
            }
            let owner = ManuallyDrop::new(Storage(NonNull::new_unchecked(owner)));
            Ok(Storage::clone(&owner))
        }
    }

    /// Makes `owner` the one who frees the memory, and gives the reference to it to this storage.
    fn hand_over(&self, owner: Storage, allocator: &AtomicPtr<THAllocator>) -> *mut THStorage {
        owner.set_flags(owner.flags() | self.flags() & TH_STORAGE_FREEMEM);
        // SAFETY: a live storage.
        let flag = unsafe { AtomicU8::from_ptr((&raw mut (*self.as_ptr()).flag).cast()) };
        let bits = |flags: c_char| flags as u8;
        flag.fetch_or(bits(TH_STORAGE_VIEW), Relaxed);
        flag.fetch_and(!bits(TH_STORAGE_RESIZABLE | TH_STORAGE_FREEMEM), Relaxed);
        // Whoever makes the storage resizable again finds that nobody can grow it.
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
        // SAFETY: the memory has 1000 elements, and the storage that owns it is there.
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
