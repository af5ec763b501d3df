//! Shared memory that counts its users across processes: the last one to leave removes the name.

use super::THAllocator;
use super::map::*;
use crate::error::{Result, bail};
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicI32;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::time::Duration;

/// Bytes before the data; the count is their first four. 64, so that the data stay aligned.
const HEADER: usize = 64;
/// The count of an object whose last user is removing its name.
const DEAD: c_int = c_int::MIN;

impl THMapAllocatorContext {
    /// Maps `bytes` bytes of a shared memory object, or with `bytes` <= 0 all its data, and counts this user.
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
        // A dying object keeps its name for an instant; then the name is free, or someone else's.
        for _ in 0..100 {
            let data = self.map_after_header(bytes, HEADER)?;
            // SAFETY: the mapping has a header before the data.
            if join(unsafe { count(data.as_ptr().cast()) }) {
                return Ok(data);
            }
            // SAFETY: mapped above, and nobody else has seen it.
            unsafe { self.unmap(data.as_ptr().cast()) };
            std::thread::sleep(Duration::from_millis(1));
        }
        bail!(Io, "map {self}: its last user ended while removing it");
    }
}

/// # Safety
/// `data` is what a counted mapping gave, and the mapping stands for `'a`.
unsafe fn count<'a>(data: *mut c_void) -> &'a AtomicI32 {
    // SAFETY: the header before the data begins with the count, page-aligned, and all processes touch it atomically.
    unsafe { AtomicI32::from_ptr(data.cast::<u8>().sub(HEADER).cast()) }
}

/// Counts a user; `false` when the object is dead. A fresh object is all zeros, whoever made it.
fn join(count: &AtomicI32) -> bool {
    count.try_update(AcqRel, Acquire, |users| users.checked_add(1).filter(|_| users >= 0)).is_ok()
}

/// Uncounts a user; `true` for the last one, who marks the object dead so that nobody joins it under a name about to go.
fn leave(count: &AtomicI32) -> bool {
    let left = count.try_update(AcqRel, Acquire, |users| match users {
        1 => Some(DEAD),
        // The users were too many to be counted: nobody is the last.
        c_int::MAX => None,
        2.. => Some(users - 1),
        // Its share was given away with `decref`.
        _ => None,
    });
    left == Ok(1)
}

/// Counts one more user, for instance a process that is about to map the object.
///
/// # Safety
/// `data` is what a counted mapping gave, and the mapping stands.
pub unsafe fn incref(data: *mut c_void) {
    // SAFETY: the caller's promise.
    _ = unsafe { count(data) }.try_update(Relaxed, Relaxed, |users| users.checked_add(1));
}

/// Undoes one [`incref`]; `true` when the count has reached zero.
///
/// # Safety
/// `data` is what a counted mapping gave, and the mapping stands.
pub unsafe fn decref(data: *mut c_void) -> bool {
    // SAFETY: the caller's promise.
    unsafe { count(data) }.try_update(AcqRel, Acquire, |users| if users == c_int::MAX { None } else { users.checked_sub(1) }) == Ok(1)
}

unsafe extern "C" fn malloc(ctx: *mut c_void, size: isize) -> *mut c_void {
    // SAFETY: who calls through the allocator passes its context, alone.
    let Some(ctx) = (unsafe { context(ctx) }) else { return null_mut() };
    let mapped = ctx.map_counted(size);
    ctx.or_null(mapped)
}

unsafe extern "C" fn free(ctx: *mut c_void, data: *mut c_void) {
    if ctx.is_null() {
        return;
    }
    // SAFETY: contexts are boxes; the one passed to `free` ends with its mapping.
    let mut ctx = unsafe { Box::from_raw(ctx.cast::<THMapAllocatorContext>()) };
    if ctx.size() == 0 || data.is_null() {
        return;
    }
    // SAFETY: `data` is what the allocator gave for this context; the caller ends it.
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
        // SAFETY: the tests end each of their mappings once.
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
        // SAFETY: both mappings stand, their contexts too.
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
        // SAFETY: the mapping stands.
        unsafe { incref(sender.1) };
        end(sender);
        assert!(exists(&name));
        let receiver = map(&name, TH_ALLOCATOR_MAPPED_NOCREATE, 64).unwrap();
        // SAFETY: the mapping stands.
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
        // SAFETY: the context is alive; NULL is none.
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
        // SAFETY: the mapping stands.
        assert!(leave(unsafe { count(dying.1) }));
        let next = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(5));
                // SAFETY: the name ends with NUL.
                unsafe { libc::shm_unlink(name.as_ptr()) };
            });
            map(&name, 0, 8).unwrap()
        });
        // SAFETY: the mapping stands.
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
