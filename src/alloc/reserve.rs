//! The allocator of thorn's own short lists and error texts: malloc, and a reserve for when memory has run out.
//!
//! The memory of tensors is asked for in ways that may fail, and so are lists of as many entries as a caller says. Rust's other lists and
//! strings may not: where malloc refuses them, the process ends. They have at most a few words for each of 1024 dimensions, or a message.
//! So [`SLOTS`] small and as many large blocks lie ready, enough for a call to end with a message. What other crates allocate in such ways
//! is set aside before they are called ([`provision`]).

use super::provision;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release};

/// The bytes of a small block: all that lists of few dimensions and most texts need.
const SMALL: usize = 4 << 10;
/// The bytes of a large block: a loop over four operands is 40 bytes in each of 1024 dimensions.
const LARGE: usize = 64 << 10;
/// How many there are of each: the bits of a word.
const SLOTS: usize = 64;

/// Blocks for when malloc has none. They take no memory of the system until they are used.
#[repr(C, align(4096))]
struct Reserve<const SIZE: usize> {
    slots: UnsafeCell<[[u8; SIZE]; SLOTS]>,
    /// The bit of a block is set while somebody has it.
    taken: AtomicU64,
}

// SAFETY: a block belongs to whoever has set its bit.
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

    /// The number of the block at `ptr`, if it is one of these.
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

/// The blocks of both sizes, side by side, so that one comparison tells that an address is of neither.
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

    /// Returns true if `ptr` is a block of these reserves.
    #[inline(always)]
    fn have(&self, ptr: *mut u8) -> bool {
        (ptr as usize).wrapping_sub(&raw const *self as usize) < size_of::<Reserves>()
    }

    /// Takes a block back that these have.
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

/// A block where malloc has none.
#[cold]
fn refused(layout: Layout) -> *mut u8 {
    let piece = provision::take(layout);
    if piece.is_null() { RESERVE.take(layout) } else { piece }
}

struct Reserved;

#[global_allocator]
static ALLOCATOR: Reserved = Reserved;

// SAFETY: blocks are malloc's, the reserve's or a provision's, which an address tells apart; both are as large and aligned as asked for.
unsafe impl GlobalAlloc for Reserved {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
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
        // SAFETY: the caller's; neither of the reserve nor of a provision, hence malloc's.
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
        // SAFETY: the caller's: `size` is not 0 and no more than an isize when rounded up to the alignment.
        let block = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !block.is_null() {
            // SAFETY: both blocks have as many bytes as are copied, and are distinct; the old one is the caller's.
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
