//! Memory of the process.

use crate::system::advise_huge;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

/// A block of exactly `size` bytes, aligned to `align` bytes, a power of two and a multiple of 8. [`free_aligned`] frees the block.
pub fn aligned(align: usize, size: usize) -> Option<NonNull<u8>> {
    heap(align, size)
}

/// # Safety
/// `block` came from [`aligned`] and is not used any more.
pub unsafe fn free_aligned(block: NonNull<u8>) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { libc::free(block.as_ptr().cast()) }
}

/// As [`aligned`], for blocks that C's `realloc` and `free` accept.
pub fn heap(align: usize, size: usize) -> Option<NonNull<u8>> {
    let mut block: *mut c_void = null_mut();
    // SAFETY: `block` is a valid out pointer, and the alignment is a power of two and a multiple of the word size.
    let failed = unsafe { libc::posix_memalign(&mut block, align, size) } != 0;
    if failed { None } else { NonNull::new(block.cast()) }
}

/// A mapping of `size` bytes (a multiple of the page size) that starts on a boundary of `align` bytes, the size of a huge page, with the
/// advice to use huge pages.
pub fn map_memory(align: usize, size: usize) -> Option<NonNull<u8>> {
    let reserved = size.checked_add(align)?;
    // SAFETY: a new anonymous mapping does not affect existing memory.
    let start =
        unsafe { libc::mmap(null_mut(), reserved, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let start: *mut u8 = start.cast();
    let before = start.align_offset(align);
    let block = start.wrapping_add(before);
    // SAFETY: both ranges are parts of the mapping made above, outside the block, and unused.
    unsafe {
        unmap_memory(start, before);
        unmap_memory(block.wrapping_add(size), align - before);
    }
    // SAFETY: the range is the mapping itself.
    unsafe { advise_huge(block.cast(), size) };
    NonNull::new(block)
}

/// # Safety
/// The range is empty, or a mapping of [`map_memory`] that is not used any more.
pub unsafe fn unmap_memory(start: *mut u8, size: usize) {
    if size > 0 {
        // SAFETY: the caller guarantees that the range is unused.
        unsafe { libc::munmap(start.cast(), size) };
    }
}
