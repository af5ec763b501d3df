//! Shared memory that counts its users across processes. The last user removes the name.

use super::THAllocator;
use super::map::*;
use crate::error::{Result, bail};
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::time::Duration;

/// The size of the header before the data in bytes. The count is its first four bytes. 64 bytes keep the data aligned.
const HEADER: usize = 64;
/// The count of an object whose last user is removing its name.
const DEAD: c_int = c_int::MIN;

impl THMapAllocatorContext {
    /// Maps `bytes` bytes of a shared memory object, or all its data if `bytes` <= 0, and counts this user.
    pub fn map_refcounted(&mut self, bytes: isize) -> Result<*mut c_void> {
        self.map_counted(bytes).map(|data| data.as_ptr().cast())
    }

    fn map_counted(&mut self, bytes: isize) -> Result<NonNull<u8>> {
        if self.flags() & TH_ALLOCATOR_MAPPED_SHAREDMEM == 0 {
            bail!(Argument, "map {self}: a counted mapping needs TH_ALLOCATOR_MAPPED_SHAREDMEM");
        }
        if self.flags() & (TH_ALLOCATOR_MAPPED_KEEPFD | TH_ALLOCATOR_MAPPED_FROMFD | TH_ALLOCATOR_MAPPED_UNLINK) != 0 {
            bail!(Argument, "map {self}: a counted mapping finds its object by name, without KEEPFD, FROMFD and UNLINK");
        }
        // An object whose last user has left keeps its name for a moment. Afterwards the name is free, or belongs to a new object.
        for _ in 0..100 {
            let data = self.map_after_header(bytes, HEADER)?;
            // SAFETY: the mapping has a header before the data.
            if join(unsafe { count(data.as_ptr().cast()) }) {
                return Ok(data);
            }
            // SAFETY: the mapping was made above, and its address is not used elsewhere.
            unsafe { self.unmap(data.as_ptr().cast()) };
            std::thread::sleep(Duration::from_millis(1));
        }
        bail!(Io, "map {self}: its last user ended while removing it");
    }
}

/// # Safety
/// `data` is the address of a counted mapping that exists for `'a`.
unsafe fn count<'a>(data: *mut c_void) -> &'a AtomicI32 {
    // SAFETY: the header before the data begins with the count, which is aligned and accessed atomically by all processes.
    unsafe { AtomicI32::from_ptr(data.cast::<u8>().sub(HEADER).cast()) }
}

/// Adds a user. Returns false if the object is dead. A new object is all zeros, whichever process created it.
fn join(count: &AtomicI32) -> bool {
    count.try_update(AcqRel, Acquire, |users| users.checked_add(1).filter(|_| users >= 0)).is_ok()
}

/// Removes a user. Returns true for the last one, and marks the object dead, so that no process joins an object whose name is about to be
/// removed.
fn leave(count: &AtomicI32) -> bool {
    let left = count.try_update(AcqRel, Acquire, |users| match users {
        1 => Some(DEAD),
        // The count has overflowed, so the last user is unknown.
        c_int::MAX => None,
        2.. => Some(users - 1),
        // The user's share was given away by `decref`.
        _ => None,
    });
    left == Ok(1)
}

/// Adds a user, for instance for a process that is about to map the object.
///
/// # Safety
/// `data` is the address of a counted mapping that exists.
pub unsafe fn incref(data: *mut c_void) {
    // SAFETY: the caller guarantees an existing counted mapping.
    _ = unsafe { count(data) }.try_update(Relaxed, Relaxed, |users| users.checked_add(1));
}

/// Undoes one [`incref`]. Returns true if the count has reached zero.
///
/// # Safety
/// `data` is the address of a counted mapping that exists.
pub unsafe fn decref(data: *mut c_void) -> bool {
    // SAFETY: the caller guarantees an existing counted mapping.
    unsafe { count(data) }.try_update(AcqRel, Acquire, |users| if users == c_int::MAX { None } else { users.checked_sub(1) }) == Ok(1)
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: isize) -> *mut c_void {
    // SAFETY: callers of the allocator pass its context, which no other thread uses.
    let Some(ctx) = (unsafe { context(ctx) }) else { return null_mut() };
    let mapped = ctx.map_counted(size);
    ctx.or_null(mapped)
}

unsafe extern "C" fn free(ctx: *mut c_void, data: *mut c_void) {
    if ctx.is_null() {
        return;
    }
    // SAFETY: contexts are boxes. `free` consumes its context.
    let mut ctx = unsafe { Box::from_raw(ctx.cast::<THMapAllocatorContext>()) };
    if ctx.size() == 0 || data.is_null() {
        return;
    }
    // SAFETY: `data` is the mapping of this context, and the caller gives it up.
    unsafe {
        if leave(count(data)) {
            ctx.unlink();
        }
        ctx.unmap(data);
    }
}

/// Maps counted shared memory as its context, a `THMapAllocatorContext`, says; `free` ends the mapping and the context,
/// and the object with its last user.
#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
pub static THRefcountedMapAllocator: THAllocator = THAllocator { malloc: Some(malloc), realloc: Some(no_realloc), free: Some(free) };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::THMapAllocatorContext;
    use std::ffi::CString;

    fn name(test: &str) -> CString {
        CString::new(format!("/thorn-shared-{}-{test}", std::process::id())).unwrap()
    }

    fn map(name: &CString, flags: c_int, bytes: isize) -> Result<(*mut c_void, *mut c_void)> {
        let mut ctx = THMapAllocatorContext::new(Some(name), TH_ALLOCATOR_MAPPED_SHAREDMEM | flags)?;
        let data = ctx.map_refcounted(bytes)?;
        Ok((Box::into_raw(ctx).cast(), data))
    }

    fn end((ctx, data): (*mut c_void, *mut c_void)) {
        // SAFETY: the tests free each mapping once.
        unsafe { free(ctx, data) }
    }

    fn exists(name: &CString) -> bool {
        std::path::Path::new("/dev/shm").join(&name.to_str().unwrap()[1..]).exists()
    }

    #[test]
    fn the_last_user_removes_the_name() {
        let name = name("last");
        let first = map(&name, TH_ALLOCATOR_MAPPED_EXCLUSIVE, 1000).unwrap();
        let second = map(&name, TH_ALLOCATOR_MAPPED_NOCREATE, 0).unwrap();
        // SAFETY: both mappings and their contexts exist.
        unsafe {
            assert_eq!(first.1 as usize % 64, 0);
            assert_eq!(context(second.0).unwrap().size(), 1000);
            first.1.cast::<u8>().add(999).write(7);
            assert_eq!(second.1.cast::<u8>().add(999).read(), 7);
            assert_eq!(count(first.1).load(Relaxed), 2);
            incref(first.1);
            assert!(!decref(second.1));
        }
        end(first);
        assert!(exists(&name));
        end(second);
        assert!(!exists(&name));
        assert!(map(&name, TH_ALLOCATOR_MAPPED_NOCREATE, 8).is_err());
    }

    #[test]
    fn a_share_given_away_keeps_the_object() {
        let name = name("share");
        let sender = map(&name, TH_ALLOCATOR_MAPPED_EXCLUSIVE, 64).unwrap();
        // SAFETY: the mapping exists.
        unsafe { incref(sender.1) };
        end(sender);
        assert!(exists(&name));
        let receiver = map(&name, TH_ALLOCATOR_MAPPED_NOCREATE, 64).unwrap();
        // SAFETY: the mapping exists.
        assert!(!unsafe { decref(receiver.1) });
        end(receiver);
        assert!(!exists(&name));
    }

    #[test]
    fn counted_mappings_need_shared_memory_by_name() {
        for flags in [TH_ALLOCATOR_MAPPED_KEEPFD, TH_ALLOCATOR_MAPPED_UNLINK] {
            assert!(map(&name("flags"), flags, 8).is_err());
        }
        let mut file = THMapAllocatorContext::new(Some(c"/nonexistent"), TH_ALLOCATOR_MAPPED_SHARED).unwrap();
        assert!(file.map_refcounted(8).unwrap_err().message().contains("SHAREDMEM"));
        let mut missing =
            THMapAllocatorContext::new(Some(&name("null")), TH_ALLOCATOR_MAPPED_SHAREDMEM | TH_ALLOCATOR_MAPPED_NOCREATE).unwrap();
        // SAFETY: the context is alive, and NULL is allowed.
        unsafe {
            assert!(malloc((&raw mut *missing).cast(), 8).is_null());
            assert!(malloc(null_mut(), 8).is_null());
            free(null_mut(), null_mut());
        }
        assert!(missing.take_error().is_some());
    }

    #[test]
    fn nobody_joins_a_dying_object() {
        let name = name("dying");
        let dying = map(&name, 0, 8).unwrap();
        // SAFETY: the mapping exists.
        assert!(leave(unsafe { count(dying.1) }));
        let next = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(5));
                // SAFETY: the name ends with NUL.
                unsafe { libc::shm_unlink(name.as_ptr()) };
            });
            map(&name, 0, 8).unwrap()
        });
        // SAFETY: the mapping exists.
        assert_eq!(unsafe { count(next.1) }.load(Relaxed), 1);
        end(dying);
        assert!(exists(&name), "a dead object's last mapping leaves the new name alone");
        end(next);
        assert!(!exists(&name));
    }

    #[test]
    fn users_come_and_go_at_once() {
        let name = name("crowd");
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        end(map(&name, 0, 100).unwrap());
                    }
                });
            }
        });
        assert!(!exists(&name));
    }
}
