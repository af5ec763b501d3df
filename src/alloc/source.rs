//! Blocks from the operating system: by malloc below 2 MiB, by mappings on huge-page boundaries from there on.

use super::class::SMALL_MAX;
use crate::system;
use std::ptr::NonNull;

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
        _ => system::map_memory(HUGE, size),
    }
}

/// Frees a block of [`obtain`].
///
/// # Safety
/// `block` came from `obtain(size)` and is not used any more.
pub(super) unsafe fn give_back(block: NonNull<u8>, size: usize) {
    // SAFETY: each range of sizes is freed as `obtain` allocates it. From HUGE on, this is a mapping of exactly `size` bytes.
    unsafe {
        match size {
            0..=SMALL_MAX => libc::free(block.as_ptr().cast()),
            _ if size < HUGE => system::free_aligned(block),
            _ => system::unmap_memory(block.as_ptr(), size),
        }
    }
}

/// A block of exactly `size` bytes, 64-byte aligned, to be freed by [`system::free_aligned`].
pub(super) fn aligned(size: usize) -> Option<NonNull<u8>> {
    system::aligned(ALIGN, size)
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
