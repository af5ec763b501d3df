//! Memory that each thread of a job has to itself while it computes its parts.

use super::pool::{self, Shares};
use crate::alloc;
use std::ptr::NonNull;

/// A tile for each thread that has work.
pub struct ThreadScratch {
    ptr: NonNull<u8>,
    bytes: usize,
    tile: usize,
    tiles: usize,
}

// SAFETY: an address; each thread has a tile of its own behind it.
unsafe impl Sync for ThreadScratch {}

/// Alignment of tiles in bytes.
const ALIGN: usize = 64;

impl ThreadScratch {
    /// Tiles of `tile` bytes, for work in `parts` parts; none where the memory cannot be had.
    pub fn new(tile: usize, parts: usize) -> Option<ThreadScratch> {
        let (tile, tiles) = (tile.max(1).checked_next_multiple_of(ALIGN)?, pool::num_threads().min(parts.max(1)));
        let bytes = tile.checked_mul(tiles)?;
        alloc::allocate(bytes).map(|ptr| ThreadScratch { ptr, bytes, tile, tiles })
    }

    /// [`ThreadScratch::new`] with all bytes 0.
    pub fn zeroed(tile: usize, parts: usize) -> Option<ThreadScratch> {
        let made = ThreadScratch::new(tile, parts)?;
        // SAFETY: allocated for as many bytes.
        unsafe { made.ptr.as_ptr().write_bytes(0, made.bytes) };
        Some(made)
    }

    /// The first tile.
    pub fn start<T>(&self) -> *mut T {
        self.ptr.as_ptr().cast()
    }

    /// Calls `f` with the number of each part and the tile of the thread that does it.
    pub fn each<T>(&self, parts: usize, f: &(dyn Fn(usize, *mut T) + Sync)) {
        let slots = self.tiles.min(parts);
        let shares = Shares::of(parts, slots);
        let task = |slot: usize| shares.each(slot, |part| f(part, self.ptr.as_ptr().wrapping_add(slot * self.tile).cast()));
        if slots > 1 { pool::run(slots, &task) } else { task(0) }
    }
}

impl Drop for ThreadScratch {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` for as many bytes.
        unsafe { alloc::release(self.ptr, self.bytes) };
    }
}

/// A pointer that crosses threads; parts divide what it points to.
pub struct Elements<T>(pub *mut T);

impl<T> Clone for Elements<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Elements<T> {}

impl<T> Elements<T> {
    /// The address of an element.
    #[inline(always)]
    pub fn at(self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}

// SAFETY: see the type.
unsafe impl<T> Send for Elements<T> {}
// SAFETY: see the type.
unsafe impl<T> Sync for Elements<T> {}
