//! The allocator of thorn's own short lists and error texts: malloc, and a reserve for when memory has run out.
//!
//! The memory of tensors is asked for in ways that may fail. Rust's lists and strings may not: where malloc refuses them, the process
//! ends. So [`SLOTS`] blocks lie ready, enough for a call to end with a message.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// The bytes of a block.
const SLOT: usize = 4096;
/// How many there are: the bits of a word.
const SLOTS: usize = 64;

/// Blocks for when malloc has none. Memory of the system only once it is used.
#[repr(align(4096))]
struct Reserve {
    slots: UnsafeCell<[[u8; SLOT]; SLOTS]>,
    /// The bit of a block is set while somebody has it.
    taken: AtomicU64,
}

// SAFETY: a block belongs to whoever has set its bit.
unsafe impl Sync for Reserve {}

impl Reserve {
    const fn new() -> Reserve {
        Reserve { slots: UnsafeCell::new([[0; SLOT]; SLOTS]), taken: AtomicU64::new(0) }
    }

    /// A block for this layout, or NULL.
    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > SLOT || layout.align() > SLOT {
            return std::ptr::null_mut();
        }
        let lowest_free = |taken: u64| if taken == u64::MAX { None } else { Some(taken | (taken + 1)) };
        match self.taken.fetch_update(Acquire, Relaxed, lowest_free) {
            Ok(before) => self.slots.get().cast::<u8>().wrapping_add(SLOT * before.trailing_ones() as usize),
            Err(_) => std::ptr::null_mut(),
        }
    }

    /// The number of the block at `ptr`, if it is one of these.
    #[inline(always)]
    fn slot(&self, ptr: *mut u8) -> Option<usize> {
        let offset = (ptr as usize).wrapping_sub(self.slots.get() as usize);
        (offset < SLOT * SLOTS).then_some(offset / SLOT)
    }

    #[cold]
    fn give_back(&self, slot: usize) {
        self.taken.fetch_and(!(1 << slot), Release);
    }
}

static RESERVE: Reserve = Reserve::new();

struct Reserved;

#[global_allocator]
static ALLOCATOR: Reserved = Reserved;

// SAFETY: blocks are malloc's or the reserve's, which an address tells apart; both are as large and aligned as asked for.
unsafe impl GlobalAlloc for Reserved {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() { RESERVE.take(layout) } else { block }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        match RESERVE.slot(ptr) {
            Some(slot) => RESERVE.give_back(slot),
            // SAFETY: the caller's; not of the reserve, hence malloc's.
            None => unsafe { System.dealloc(ptr, layout) },
        }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if RESERVE.slot(ptr).is_none() {
            // SAFETY: the caller's; not of the reserve, hence malloc's.
            let block = unsafe { System.realloc(ptr, layout, size) };
            if !block.is_null() {
                return block;
            }
        }
        // SAFETY: the caller's: `size` is not 0 and no more than an isize when rounded up to the alignment.
        let block = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !block.is_null() {
            // SAFETY: both blocks have so many bytes, and are distinct; the old one is the caller's.
            unsafe {
                block.copy_from_nonoverlapping(ptr, layout.size().min(size));
                self.dealloc(ptr, layout);
            }
        }
        block
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SMALL: Layout = Layout::new::<[u64; 10]>();

    #[test]
    fn blocks_are_distinct_and_come_back() {
        let reserve = Reserve::new();
        for _ in 0..2 {
            let blocks: BTreeSet<_> = (0..SLOTS).map(|_| reserve.take(SMALL)).collect();
            assert_eq!(blocks.len(), SLOTS);
            assert!(blocks.iter().all(|&block| !block.is_null() && block.align_offset(SLOT) == 0));
            assert!(reserve.take(SMALL).is_null());
            let slots: BTreeSet<_> = blocks.iter().filter_map(|&block| reserve.slot(block)).collect();
            assert_eq!(slots, (0..SLOTS).collect());
            slots.into_iter().for_each(|slot| reserve.give_back(slot));
        }
    }

    #[test]
    fn the_reserve_is_for_small_blocks() {
        let reserve = Reserve::new();
        assert!(reserve.take(Layout::new::<[u8; SLOT + 1]>()).is_null());
        assert!(!reserve.take(Layout::new::<[u8; SLOT]>()).is_null());
    }

    #[test]
    fn the_blocks_of_others_are_not_of_the_reserve() {
        let reserve = Reserve::new();
        let first = reserve.take(SMALL);
        assert_eq!(reserve.slot(first.wrapping_sub(1)), None);
        assert_eq!(reserve.slot(first.wrapping_add(SLOT * SLOTS)), None);
        assert_eq!(reserve.slot(std::ptr::null_mut()), None);
    }

    #[test]
    fn a_block_of_the_reserve_grows_into_one_of_malloc() {
        let block = RESERVE.take(SMALL);
        let slot = RESERVE.slot(block).unwrap();
        // SAFETY: the block has 80 bytes, then 8000.
        unsafe {
            (0..80).for_each(|i| block.add(i).write(i as u8));
            let grown = ALLOCATOR.realloc(block, SMALL, 8000);
            assert!(!grown.is_null() && RESERVE.slot(grown).is_none());
            assert!((0..80).all(|i| grown.add(i).read() == i as u8));
            ALLOCATOR.dealloc(grown, Layout::from_size_align_unchecked(8000, SMALL.align()));
        }
        assert_eq!(RESERVE.taken.load(Relaxed) & 1 << slot, 0);
    }
}
