//! The functions behind `THAlloc` and `THDefaultAllocator`: plain heap blocks, which clients may also pass to `realloc` and `free`.

use super::{THAllocator, retry, source};
use crate::system;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

/// Blocks above this size are 64-byte aligned, except on Windows, whose `free` accepts no aligned blocks.
const ALIGNED_ABOVE: usize = 5120;

/// A heap block of `size` bytes, 64-byte aligned above 5120. Returns NULL if there is no memory, for 0, and for a negative `size`, which
/// the caller reports.
pub fn th_alloc(size: isize) -> *mut c_void {
    let block = match usize::try_from(size) {
        Ok(0) | Err(_) => None,
        // SAFETY: malloc accepts any size.
        Ok(size @ ..=ALIGNED_ABOVE) => retry(|| NonNull::new(unsafe { libc::malloc(size) })),
        Ok(size) => retry(|| system::heap(source::ALIGN, size)).map(NonNull::cast),
    };
    block.map_or(null_mut(), NonNull::as_ptr)
}

/// Resizes the heap block `ptr` to `size` bytes. The block may move, and then has malloc's alignment. If NULL is returned, the block is
/// unchanged, except that `size` 0 frees it. A NULL `ptr` allocates a new block.
///
/// # Safety
/// `ptr` is NULL or a block of the malloc family that no other thread uses.
pub unsafe fn th_realloc(ptr: *mut c_void, size: isize) -> *mut c_void {
    if ptr.is_null() {
        return th_alloc(size);
    }
    match usize::try_from(size) {
        Err(_) => null_mut(),
        Ok(0) => {
            // SAFETY: the caller guarantees NULL or an unused block of the malloc family.
            unsafe { th_free(ptr) };
            null_mut()
        }
        // SAFETY: the caller guarantees a block of the malloc family. A realloc that fails leaves the block for the second attempt.
        Ok(size) => retry(|| NonNull::new(unsafe { libc::realloc(ptr, size) })).map_or(null_mut(), NonNull::as_ptr),
    }
}

/// Frees a heap block; NULL is ignored.
///
/// # Safety
/// `ptr` is NULL or a block of the malloc family that is not used any more.
pub unsafe fn th_free(ptr: *mut c_void) {
    // SAFETY: the caller guarantees NULL or an unused block of the malloc family.
    unsafe { libc::free(ptr) }
}

unsafe extern "C" fn default_malloc(_ctx: *mut c_void, size: isize) -> *mut c_void {
    th_alloc(size)
}

unsafe extern "C" fn default_realloc(_ctx: *mut c_void, ptr: *mut c_void, size: isize) -> *mut c_void {
    // SAFETY: callers of the allocator pass its blocks.
    unsafe { th_realloc(ptr, size) }
}

unsafe extern "C" fn default_free(_ctx: *mut c_void, ptr: *mut c_void) {
    // SAFETY: callers of the allocator pass its blocks.
    unsafe { th_free(ptr) }
}

/// The malloc family as an allocator; its context is ignored.
#[allow(non_upper_case_globals)]
#[unsafe(no_mangle)]
pub static THDefaultAllocator: THAllocator =
    THAllocator { malloc: Some(default_malloc), realloc: Some(default_realloc), free: Some(default_free) };

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_decide_what_comes_back() {
        assert!(th_alloc(0).is_null() && th_alloc(-1).is_null() && th_alloc(isize::MIN).is_null());
        assert!(th_alloc(isize::MAX).is_null());
        for size in [1, 5120, 5121, 100_000] {
            let block = th_alloc(size);
            assert!(!block.is_null() && (size <= 5120 || (block as usize).is_multiple_of(64)));
            // SAFETY: `free` accepts every block of the family.
            unsafe { libc::free(block) };
        }
    }

    #[test]
    fn realloc_keeps_the_contents() {
        // SAFETY: one block is resized and freed, and reads stay inside it.
        unsafe {
            let block = th_realloc(null_mut(), 100).cast::<u8>();
            block.write_bytes(7, 100);
            assert!(th_realloc(block.cast(), -1).is_null());
            assert!(th_realloc(block.cast(), isize::MAX).is_null());
            let block = th_realloc(block.cast(), 100_000).cast::<u8>();
            assert!((0..100).all(|i| block.add(i).read() == 7));
            assert!(th_realloc(block.cast(), 0).is_null());
            th_free(null_mut());
        }
    }

    #[test]
    fn the_default_allocator_is_the_family() {
        let THAllocator { malloc, realloc, free } = THDefaultAllocator;
        // SAFETY: one block is resized and freed.
        unsafe {
            let block = malloc.unwrap()(null_mut(), 6000);
            let block = realloc.unwrap()(null_mut(), block, 10);
            assert!(!block.is_null());
            free.unwrap()(null_mut(), block);
        }
    }
}
