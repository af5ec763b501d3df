//! Scratch memory for the threads of a job: each thread has its own tile.

use super::pool::{self, Shares};
use crate::alloc;
use std::ptr::NonNull;

/// One tile for each thread that has work.
pub struct ThreadScratch {
    ptr: NonNull<u8>,
    bytes: usize,
    tile: usize,
    tiles: usize,
}

// SAFETY: each thread uses a separate tile.
unsafe impl Sync for ThreadScratch {}

/// Alignment of tiles in bytes.
const ALIGN: usize = 64;

impl ThreadScratch {
    /// Allocates tiles of `tile` bytes, for work in `parts` parts. Returns `None` if there is no memory.
    pub fn new(tile: usize, parts: usize) -> Option<ThreadScratch> {
        let (tile, tiles) = (tile.max(1).checked_next_multiple_of(ALIGN)?, pool::num_threads().min(parts.max(1)));
        let bytes = tile.checked_mul(tiles)?;
        alloc::allocate(bytes).map(|ptr| ThreadScratch { ptr, bytes, tile, tiles })
    }

    /// [`ThreadScratch::new`] with all bytes 0.
    pub fn zeroed(tile: usize, parts: usize) -> Option<ThreadScratch> {
        let made = ThreadScratch::new(tile, parts)?;
        // SAFETY: `new` allocated this many bytes.
        unsafe { made.ptr.as_ptr().write_bytes(0, made.bytes) };
        Some(made)
    }

    /// Returns the first tile.
    pub fn start<T>(&self) -> *mut T {
        self.ptr.as_ptr().cast()
    }

    /// Calls `f` with the index of each part and the tile of the thread that does the part.
    pub fn each<T>(&self, parts: usize, f: &(dyn Fn(usize, *mut T) + Sync)) {
        let slots = self.tiles.min(parts);
        let shares = Shares::of(parts, slots);
        let task = |slot: usize| shares.each(slot, |part| f(part, self.ptr.as_ptr().wrapping_add(slot * self.tile).cast()));
        if slots > 1 { pool::run(slots, &task) } else { task(0) }
    }
}

impl Drop for ThreadScratch {
    fn drop(&mut self) {
        // SAFETY: `new` allocated this memory with this size.
        unsafe { alloc::release(self.ptr, self.bytes) };
    }
}

/// A pointer that other threads may use. The parts of a job divide the elements behind it.
pub struct Elements<T>(pub *mut T);

impl<T> Clone for Elements<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Elements<T> {}

impl<T> Elements<T> {
    /// Returns the address of an element.
    #[inline(always)]
    pub fn at(self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}

// SAFETY: the parts of a job divide the elements behind the pointer.
unsafe impl<T> Send for Elements<T> {}
// SAFETY: the parts of a job divide the elements behind the pointer.
unsafe impl<T> Sync for Elements<T> {}
