//! Blocks from the operating system: by malloc below 2 MiB, by mappings on huge-page boundaries from there on.

use super::class::SMALL_MAX;
use crate::system;
use libc::c_void;
use std::ptr::{NonNull, null_mut};

/// Blocks of at least this size, which is the size of a huge page, are separate mappings.
const HUGE: usize = 2 << 20;
/// The best alignment for vector loads, in bytes: a cache line.
pub(super) const ALIGN: usize = 64;

/// A new block of `size` bytes, 64-byte aligned above the small sizes, 16-byte aligned below.
pub(super) fn obtain(size: usize) -> Option<NonNull<u8>> {
    match size {
        // SAFETY: malloc accepts any size.
        0..=SMALL_MAX => NonNull::new(unsafe { libc::malloc(size) }.cast()),
        _ if size < HUGE => aligned(size),
        _ => map(size),
    }
}

/// Frees a block of [`obtain`].
///
/// # Safety
/// `block` came from `obtain(size)` and is not used any more.
pub(super) unsafe fn give_back(block: NonNull<u8>, size: usize) {
    if size < HUGE {
        // SAFETY: below HUGE, `obtain` gets blocks from malloc.
        unsafe { libc::free(block.as_ptr().cast()) }
    } else {
        // SAFETY: from HUGE on, `obtain` makes a mapping of exactly `size` bytes.
        unsafe { unmap(block.as_ptr(), size) }
    }
}

/// A block of exactly `size` bytes, 64-byte aligned, to be freed by `free`.
pub(super) fn aligned(size: usize) -> Option<NonNull<u8>> {
    let mut block: *mut c_void = null_mut();
    // SAFETY: `block` is a valid out pointer, and the alignment is a power of two and a multiple of the word size.
    let failed = unsafe { libc::posix_memalign(&mut block, ALIGN, size) } != 0;
    if failed { None } else { NonNull::new(block.cast()) }
}

/// A mapping of `size` bytes (a multiple of the page size) that starts on a huge-page boundary, with the advice to use huge pages.
fn map(size: usize) -> Option<NonNull<u8>> {
    let reserved = size.checked_add(HUGE)?;
    // SAFETY: a new anonymous mapping does not affect existing memory.
    let start =
        unsafe { libc::mmap(null_mut(), reserved, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let start: *mut u8 = start.cast();
    let before = start.align_offset(HUGE);
    let block = start.wrapping_add(before);
    // SAFETY: both ranges are parts of the mapping made above, outside the block, and unused.
    unsafe {
        unmap(start, before);
        unmap(block.wrapping_add(size), HUGE - before);
    }
    // SAFETY: the range is the mapping itself.
    unsafe { system::advise_huge(block.cast(), size) };
    NonNull::new(block)
}

/// # Safety
/// The range is empty, or consists of whole pages of unused mappings.
unsafe fn unmap(start: *mut u8, size: usize) {
    if size > 0 {
        // SAFETY: the caller guarantees that the range is unused.
        unsafe { libc::munmap(start.cast(), size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_writable_to_the_end() {
        for (size, align) in [(64, 16), (512, 16), (576, 64), (1 << 20, 64), (HUGE, HUGE), (9 << 18, HUGE), (16 << 20, HUGE)] {
            let block = obtain(size).unwrap();
            assert_eq!(block.as_ptr() as usize % align, 0, "{size}");
            // SAFETY: the block has `size` bytes and is freed once.
            unsafe {
                block.write(1);
                block.add(size - 1).write(2);
                give_back(block, size);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(obtain(1 << 60).is_none());
        assert!(obtain(usize::MAX - 64).is_none());
    }
}
