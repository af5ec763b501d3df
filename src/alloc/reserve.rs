//! The crate's global allocator, for thorn's own short lists and messages: malloc, and a reserve for when malloc fails.
//!
//! The memory of tensors is allocated fallibly, and so are lists whose length a caller decides. Rust's other lists and strings are not: if
//! malloc fails, the process ends. These lists have at most a few words for each of 1024 dimensions, or hold a message. So [`SLOTS`] small
//! and [`SLOTS`] large blocks are reserved, enough for a call to end with an error. For other crates' infallible allocations, memory is set
//! aside before they are called ([`provision`]).

use super::provision;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// The size of a small block in bytes, enough for lists of few dimensions and most messages.
const SMALL: usize = 4 << 10;
/// The size of a large block in bytes. A loop over four operands takes 40 bytes for each of 1024 dimensions.
const LARGE: usize = 64 << 10;
/// The number of blocks of each size: the bits of a word.
const SLOTS: usize = 64;

/// Blocks for when malloc fails. They use no physical memory before they are first written.
#[repr(C, align(4096))]
struct Reserve<const SIZE: usize> {
    slots: UnsafeCell<[[u8; SIZE]; SLOTS]>,
    /// The bit of a block is set while the block is in use.
    taken: AtomicU64,
}

// SAFETY: only the thread that has set a block's bit uses the block.
unsafe impl<const SIZE: usize> Sync for Reserve<SIZE> {}

impl<const SIZE: usize> Reserve<SIZE> {
    const fn new() -> Reserve<SIZE> {
        Reserve { slots: UnsafeCell::new([[0; SIZE]; SLOTS]), taken: AtomicU64::new(0) }
    }

    /// A block for this layout, or NULL.
    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        if layout.size() > SIZE || layout.align() > SMALL {
            return null_mut();
        }
        let lowest_free = |taken: u64| if taken == u64::MAX { None } else { Some(taken | (taken + 1)) };
        match self.taken.try_update(Acquire, Relaxed, lowest_free) {
            Ok(before) => self.slots.get().cast::<u8>().wrapping_add(SIZE * before.trailing_ones() as usize),
            Err(_) => null_mut(),
        }
    }

    /// The number of the block at `ptr`, if `ptr` is in this reserve.
    #[inline(always)]
    fn slot(&self, ptr: *mut u8) -> Option<usize> {
        let offset = (ptr as usize).wrapping_sub(self.slots.get() as usize);
        (offset < SIZE * SLOTS).then_some(offset / SIZE)
    }

    #[cold]
    fn give_back(&self, slot: usize) {
        self.taken.fetch_and(!(1 << slot), Release);
    }
}

/// The blocks of both sizes, adjacent in memory, so that one comparison shows that an address belongs to neither.
#[repr(C)]
struct Reserves {
    small: Reserve<SMALL>,
    large: Reserve<LARGE>,
}

impl Reserves {
    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        let small = self.small.take(layout);
        if small.is_null() { self.large.take(layout) } else { small }
    }

    /// Returns true if `ptr` is a block of either reserve.
    #[inline(always)]
    fn have(&self, ptr: *mut u8) -> bool {
        (ptr as usize).wrapping_sub(&raw const *self as usize) < size_of::<Reserves>()
    }

    /// Frees a block of either reserve.
    #[cold]
    fn give_back(&self, ptr: *mut u8) {
        if let Some(slot) = self.small.slot(ptr) {
            self.small.give_back(slot);
        } else if let Some(slot) = self.large.slot(ptr) {
            self.large.give_back(slot);
        }
    }
}

static RESERVE: Reserves = Reserves { small: Reserve::new(), large: Reserve::new() };

/// A block for a request that malloc refused.
#[cold]
fn refused(layout: Layout) -> *mut u8 {
    let piece = provision::take(layout);
    if piece.is_null() { RESERVE.take(layout) } else { piece }
}

struct Reserved;

#[global_allocator]
static ALLOCATOR: Reserved = Reserved;

// SAFETY: a block is malloc's, the reserve's or a provision's. Its address tells which. All have the requested size and alignment.
unsafe impl GlobalAlloc for Reserved {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        let block = unsafe { System.alloc(layout) };
        if block.is_null() {
            return refused(layout);
        }
        provision::count(layout.size() as isize);
        block
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        if RESERVE.have(ptr) {
            return RESERVE.give_back(ptr);
        }
        if provision::give_back(ptr) {
            return;
        }
        provision::count(-(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `GlobalAlloc`. The block is neither the reserve's nor a provision's, so it is malloc's.
        unsafe { System.dealloc(ptr, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.have(ptr) && !provision::has(ptr) {
            // SAFETY: as in `dealloc`.
            let block = unsafe { System.realloc(ptr, layout, size) };
            if !block.is_null() {
                provision::count(size as isize - layout.size() as isize);
                return block;
            }
        }
        // SAFETY: the contract of `GlobalAlloc`: `size` is not 0, and at most isize::MAX when rounded up to the alignment.
        let block = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !block.is_null() {
            // SAFETY: both blocks have the bytes that are copied, and are distinct. The caller gives up the old one.
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

    const FEW: Layout = Layout::new::<[u64; 10]>();

    fn blocks_are_distinct_and_come_back<const SIZE: usize>(reserve: &Reserve<SIZE>) {
        for _ in 0..2 {
            let blocks: BTreeSet<_> = (0..SLOTS).map(|_| reserve.take(FEW)).collect();
            assert_eq!(blocks.len(), SLOTS);
            assert!(blocks.iter().all(|&block| !block.is_null() && block.align_offset(SMALL) == 0));
            assert!(reserve.take(FEW).is_null());
            let slots: BTreeSet<_> = blocks.iter().filter_map(|&block| reserve.slot(block)).collect();
            assert_eq!(slots, (0..SLOTS).collect());
            slots.into_iter().for_each(|slot| reserve.give_back(slot));
        }
    }

    #[test]
    fn blocks_of_both_sizes_are_distinct_and_come_back() {
        static OURS: Reserves = Reserves { small: Reserve::new(), large: Reserve::new() };
        blocks_are_distinct_and_come_back(&OURS.small);
        blocks_are_distinct_and_come_back(&OURS.large);
    }

    #[test]
    fn what_is_too_large_for_one_block_gets_another_or_none() {
        static OURS: Reserves = Reserves { small: Reserve::new(), large: Reserve::new() };
        assert!(OURS.take(Layout::new::<[u8; LARGE + 1]>()).is_null());
        let is_large = |block| OURS.have(block) && OURS.large.slot(block).is_some() && OURS.small.slot(block).is_none();
        let is_small = |block| OURS.have(block) && OURS.large.slot(block).is_none() && OURS.small.slot(block).is_some();
        assert!(is_small(OURS.take(Layout::new::<[u8; SMALL]>())));
        let large = OURS.take(Layout::new::<[u8; SMALL + 1]>());
        assert!(is_large(large) && is_large(OURS.take(Layout::new::<[u8; LARGE]>())));
        assert_eq!(OURS.large.taken.load(Relaxed), 0b11);
        OURS.give_back(large);
        assert_eq!(OURS.large.taken.load(Relaxed), 0b10);
        (1..SLOTS).for_each(|_| assert!(is_small(OURS.take(FEW))));
        assert!(is_large(OURS.take(FEW)), "when the small ones are gone");
    }

    #[test]
    fn the_blocks_of_others_are_not_of_the_reserve() {
        static OURS: Reserves = Reserves { small: Reserve::new(), large: Reserve::new() };
        let first = (&raw const OURS).cast_mut().cast::<u8>();
        assert!(OURS.have(first) && !OURS.have(first.wrapping_sub(1)));
        assert!(!OURS.have(first.wrapping_add(size_of::<Reserves>())) && !OURS.have(null_mut()));
        assert!(size_of::<Reserves>() - SLOTS * (SMALL + LARGE) <= 2 * 4096);
    }

    #[test]
    fn a_block_of_the_reserve_grows_into_one_of_malloc() {
        let block = RESERVE.take(FEW);
        assert!(RESERVE.have(block));
        // SAFETY: the block has 80 bytes, then 8000.
        unsafe {
            (0..80).for_each(|i| block.add(i).write(i as u8));
            let grown = ALLOCATOR.realloc(block, FEW, 8000);
            assert!(!grown.is_null() && !RESERVE.have(grown));
            assert!((0..80).all(|i| grown.add(i).read() == i as u8));
            ALLOCATOR.dealloc(grown, Layout::from_size_align_unchecked(8000, FEW.align()));
        }
        assert_eq!(RESERVE.small.taken.load(Relaxed), 0);
    }
}
