//! Foreign memory: thorn calls the owner's function when the memory is no longer used.

use super::{THAllocator, allocate, release};
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

/// Called once, with the data and the caller's context, when foreign memory is no longer needed.
pub type THDeleter = Option<unsafe extern "C" fn(data: *mut c_void, ctx: *mut c_void)>;

/// The context of [`FOREIGN`]: the function to call, and its context.
struct Foreign {
    deleter: THDeleter,
    ctx: *mut c_void,
}

/// An allocator and a context whose `free` calls `deleter(data, ctx)` and frees the context. `free` must be called exactly once. A NULL
/// `deleter` leaves the memory alone. `None` if there is no memory for the context.
pub fn foreign(deleter: THDeleter, ctx: *mut c_void) -> Option<(*const THAllocator, *mut c_void)> {
    let place = allocate(size_of::<Foreign>())?.cast::<Foreign>();
    // SAFETY: a fresh block of this size, 16-byte aligned.
    unsafe { place.write(Foreign { deleter, ctx }) };
    Some((&raw const FOREIGN, place.as_ptr().cast()))
}

/// The allocator of foreign memory, which cannot allocate or grow it.
static FOREIGN: THAllocator = THAllocator { malloc: Some(no_malloc), realloc: Some(no_realloc), free: Some(free) };

unsafe extern "C" fn no_malloc(_ctx: *mut c_void, _size: isize) -> *mut c_void {
    null_mut()
}

unsafe extern "C" fn no_realloc(_ctx: *mut c_void, _ptr: *mut c_void, _size: isize) -> *mut c_void {
    null_mut()
}

unsafe extern "C" fn free(ctx: *mut c_void, data: *mut c_void) {
    let Some(place) = NonNull::new(ctx.cast::<Foreign>()) else { return };
    // SAFETY: `foreign` made the context, which is freed once with its storage. The deleter is called last and does not see it.
    unsafe {
        let Foreign { deleter, ctx } = place.read();
        release(place.cast(), size_of::<Foreign>());
        if let Some(deleter) = deleter {
            deleter(data, ctx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    type Calls = RefCell<Vec<*mut c_void>>;

    unsafe extern "C" fn record(data: *mut c_void, ctx: *mut c_void) {
        // SAFETY: the tests pass their list of calls, which outlives the allocator.
        unsafe { (*ctx.cast::<Calls>()).borrow_mut().push(data) }
    }

    #[test]
    fn the_deleter_is_called_once_with_data_and_context() {
        let calls = Calls::default();
        let mut data = 5u32;
        let data = (&raw mut data).cast();
        let (allocator, ctx) = foreign(Some(record), (&raw const calls).cast_mut().cast()).unwrap();
        // SAFETY: the allocator is static, the context is new, and the memory is `data`.
        unsafe {
            assert!((*allocator).malloc.unwrap()(ctx, 8).is_null());
            assert!((*allocator).realloc.unwrap()(ctx, data, 8).is_null());
            assert!(calls.borrow().is_empty());
            (*allocator).free.unwrap()(ctx, data);
        }
        assert_eq!(*calls.borrow(), [data]);
    }

    #[test]
    fn no_deleter_and_no_context_do_nothing() {
        let (allocator, ctx) = foreign(None, null_mut()).unwrap();
        // SAFETY: the allocator is static, the context is freed once, and NULL is allowed.
        unsafe {
            (*allocator).free.unwrap()(ctx, null_mut());
            (*allocator).free.unwrap()(null_mut(), null_mut());
        }
    }
}
