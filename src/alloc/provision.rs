//! Memory set aside for code that cannot handle a failed allocation.
//!
//! Some crates end the process if malloc fails. The memory that they may need in total is allocated before they are called, fallibly, in
//! one block. If malloc then refuses one of their requests, they get a piece of that block. The block is freed with its last piece, which
//! may be long after the call.

use crate::system;
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicIsize, AtomicUsize};

/// The maximum number of blocks at the same time.
const BLOCKS: usize = 16;
const ALIGN: usize = 64;

/// The entry of a block, used or free.
struct Block {
    /// The address; 0 for a free entry.
    start: AtomicUsize,
    size: AtomicUsize,
    /// The number of bytes that were given out as pieces, freed or not.
    used: AtomicUsize,
    /// The number of pieces in use, plus one for the owning thread.
    pieces: AtomicUsize,
    /// The owning thread during its call of [`provided`], otherwise 0.
    owner: AtomicUsize,
    /// The bytes that this thread has allocated from malloc during the call, minus those it has freed.
    held: AtomicIsize,
}

static SET_ASIDE: [Block; BLOCKS] = [const { Block::new() }; BLOCKS];
/// The number of blocks. It is usually 0, so that no search is needed.
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Block {
    const fn new() -> Block {
        Block {
            start: AtomicUsize::new(0),
            size: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            pieces: AtomicUsize::new(0),
            owner: AtomicUsize::new(0),
            held: AtomicIsize::new(0),
        }
    }

    /// A piece for the owning thread; NULL if too little is left.
    fn take(&self, layout: Layout) -> *mut u8 {
        let (start, used) = (self.start.load(Relaxed), self.used.load(Relaxed));
        let at = (start + used).next_multiple_of(layout.align()) - start;
        if at.saturating_add(layout.size()) > self.size.load(Relaxed) {
            return null_mut();
        }
        self.used.store(at + layout.size(), Relaxed);
        self.pieces.fetch_add(1, Relaxed);
        (start + at) as *mut u8
    }

    /// Returns true if `ptr` is a piece of this block.
    fn has(&self, ptr: *mut u8) -> bool {
        let (start, size) = (self.start.load(Acquire), self.size.load(Acquire));
        // `start` is read again: if the entry has been reused meanwhile, `size` may belong to a new block.
        start != 0 && (ptr as usize).wrapping_sub(start) < size && self.start.load(Relaxed) == start
    }

    /// Frees a piece, or ends the owning thread's use. The last one frees the block.
    fn give_back(&self) {
        if self.pieces.fetch_sub(1, AcqRel) > 1 {
            return;
        }
        let (start, size) = (self.start.load(Relaxed), self.size.load(Relaxed));
        self.start.store(0, Release);
        COUNT.fetch_sub(1, Release);
        // SAFETY: the block was allocated with this layout, and none of its pieces is in use.
        unsafe { System.dealloc(start as *mut u8, Layout::from_size_align_unchecked(size, ALIGN)) }
    }
}

/// The block that the calling thread owns.
#[cold]
fn own() -> Option<&'static Block> {
    let thread = system::thread_id();
    SET_ASIDE.iter().find(|block| block.owner.load(Relaxed) == thread)
}

/// A piece of the calling thread's block, or NULL.
#[cold]
pub(super) fn take(layout: Layout) -> *mut u8 {
    if COUNT.load(Relaxed) == 0 { null_mut() } else { own().map_or(null_mut(), |block| block.take(layout)) }
}

/// Counts bytes that the calling thread has allocated from malloc (or freed, if negative), for [`provided`].
#[inline(always)]
pub(super) fn count(bytes: isize) {
    if COUNT.load(Relaxed) != 0
        && let Some(block) = own()
    {
        block.held.fetch_add(bytes, Relaxed);
    }
}

/// The block that contains `ptr`.
#[inline(always)]
fn block_of(ptr: *mut u8) -> Option<&'static Block> {
    if COUNT.load(Acquire) == 0 { None } else { SET_ASIDE.iter().find(|block| block.has(ptr)) }
}

#[inline(always)]
pub(super) fn has(ptr: *mut u8) -> bool {
    block_of(ptr).is_some()
}

/// Frees `ptr` if it is a piece. Returns false if it is not.
#[inline(always)]
pub(super) fn give_back(ptr: *mut u8) -> bool {
    block_of(ptr).map(Block::give_back).is_some()
}

/// A guard of the owning thread's use of a block.
struct Own(&'static Block);

impl Drop for Own {
    fn drop(&mut self) {
        self.0.owner.store(0, Relaxed);
        self.0.give_back();
    }
}

/// Calls `f` with `bytes` of memory set aside: its allocations succeed as long as they sum up to at most `bytes`, including those that it
/// frees again. Returns `None` if this memory cannot be allocated. Also returns the number of bytes of malloc's that `f` still holds at its
/// end. This number is `None` if pieces of the block are still in use, or if nothing was counted; such a result must not be kept for long.
pub fn provided<R>(bytes: usize, f: impl FnOnce() -> R) -> Option<(R, Option<usize>)> {
    let layout = Layout::from_size_align(bytes.max(1), ALIGN).ok()?;
    // SAFETY: the size is not 0.
    let start = unsafe { System.alloc(layout) };
    if start.is_null() {
        return None;
    }
    // An entry without pieces is free.
    let Some(block) = SET_ASIDE.iter().find(|block| block.pieces.compare_exchange(0, 1, AcqRel, Relaxed).is_ok()) else {
        // All entries are in use. This thread has checked that there was enough memory, and runs without a block.
        // SAFETY: `start` was allocated above with this layout.
        unsafe { System.dealloc(start, layout) };
        return Some((f(), None));
    };
    block.size.store(layout.size(), Release);
    block.used.store(0, Relaxed);
    block.held.store(0, Relaxed);
    block.owner.store(system::thread_id(), Relaxed);
    COUNT.fetch_add(1, AcqRel);
    block.start.store(start as usize, Release);
    let own = Own(block);
    let made = f();
    let held = (block.pieces.load(Relaxed) == 1).then(|| block.held.load(Relaxed).max(0) as usize);
    drop(own);
    Some((made, held))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn pieces_lie_apart_in_a_block_and_outlive_the_call() {
        let pieces = provided(1000, || {
            let pieces = [layout(100, 8), layout(1, 1), layout(200, 64)].map(|layout| (take(layout), layout));
            for (k, (ptr, layout)) in pieces.iter().enumerate() {
                assert!(!ptr.is_null() && ptr.align_offset(layout.align()) == 0 && has(*ptr));
                for (other, size) in pieces.iter().skip(k + 1).map(|(other, layout)| (*other, layout.size())) {
                    assert!(*ptr as usize + layout.size() <= other as usize || other as usize + size <= *ptr as usize);
                }
            }
            assert!(take(layout(1000, 8)).is_null(), "there is less left");
            let from_another = std::thread::scope(|scope| scope.spawn(|| take(layout(1, 1)) as usize).join());
            assert_eq!(from_another.unwrap(), 0);
            pieces.map(|(ptr, _)| ptr as usize)
        });
        let (pieces, held) = pieces.unwrap();
        let pieces = pieces.map(|ptr| ptr as *mut u8);
        assert_eq!(held, None, "they lie in the block");
        assert!(take(layout(1, 1)).is_null(), "the call is over");
        assert!(pieces.iter().all(|&ptr| has(ptr)));
        assert!(pieces.iter().all(|&ptr| give_back(ptr)));
        assert!(!pieces.iter().any(|&ptr| has(ptr)));
    }

    #[test]
    fn what_no_memory_has_is_not_provided() {
        assert!(provided(isize::MAX as usize - 4096, || ()).is_none());
        assert_eq!(provided(0, || 5), Some((5, Some(0))));
    }

    #[test]
    fn what_is_made_is_measured() {
        let (list, held) = provided(10_000, || {
            drop(vec![0u8; 500]);
            let mut list = Vec::<u8>::with_capacity(1000);
            list.reserve_exact(3000);
            list
        })
        .unwrap();
        assert_eq!(held, Some(list.capacity()));
    }

    #[test]
    fn more_blocks_than_there_are_places_for_are_asked_for_and_given_back() {
        fn deep(levels: usize) -> usize {
            if levels == 0 { 0 } else { provided(10, || 1 + deep(levels - 1)).map_or(0, |(depth, _)| depth) }
        }
        assert_eq!(deep(BLOCKS + 5), BLOCKS + 5);
    }
}
