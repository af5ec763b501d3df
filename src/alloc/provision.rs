//! Memory set aside for code that does not bear to be refused any.
//!
//! Some crates allocate in ways that end the process where malloc refuses. What they may need in all is asked for beforehand, in one block
//! that may fail; where malloc then refuses one of their requests, it gets a piece of that block. The block is given back with its last
//! piece, which may be long after.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicIsize, AtomicUsize};

/// Blocks at a time.
const BLOCKS: usize = 16;
const ALIGN: usize = 64;

/// A block, or none.
struct Block {
    /// 0 for none.
    start: AtomicUsize,
    size: AtomicUsize,
    /// How many bytes are in pieces, given back or not.
    used: AtomicUsize,
    /// Pieces that are in use, and one for the thread that the block is for.
    pieces: AtomicUsize,
    /// The thread that the block is for, while it is.
    owner: AtomicUsize,
    /// Bytes that this thread got from malloc meanwhile, less those it gave back.
    held: AtomicIsize,
}

static SET_ASIDE: [Block; BLOCKS] = [const { Block::new() }; BLOCKS];
/// How many there are: mostly none, so that nobody looks for one.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A number of the calling thread, never 0.
fn this_thread() -> usize {
    // SAFETY: takes nothing; what identifies a thread is no NULL.
    unsafe { libc::pthread_self() as usize }
}

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

    /// A piece for the thread that the block is for; NULL where there is too little left.
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
        // Read once more: the size may be that of the next block.
        start != 0 && (ptr as usize).wrapping_sub(start) < size && self.start.load(Relaxed) == start
    }

    /// Gives back a piece, or what the thread has of it; the last one gives back the block.
    fn give_back(&self) {
        if self.pieces.fetch_sub(1, AcqRel) > 1 {
            return;
        }
        let (start, size) = (self.start.load(Relaxed), self.size.load(Relaxed));
        self.start.store(0, Release);
        COUNT.fetch_sub(1, Release);
        // SAFETY: the block was allocated with this layout, and nobody has a piece of it.
        unsafe { System.dealloc(start as *mut u8, Layout::from_size_align_unchecked(size, ALIGN)) }
    }
}

/// The block that was set aside for this thread.
#[cold]
fn own() -> Option<&'static Block> {
    let thread = this_thread();
    SET_ASIDE.iter().find(|block| block.owner.load(Relaxed) == thread)
}

/// A piece of what was set aside for this thread, or NULL.
#[cold]
pub(super) fn take(layout: Layout) -> *mut u8 {
    if COUNT.load(Relaxed) == 0 { null_mut() } else { own().map_or(null_mut(), |block| block.take(layout)) }
}

/// Counts bytes that this thread got from malloc, or gave back, for [`provided`].
#[inline(always)]
pub(super) fn count(bytes: isize) {
    if COUNT.load(Relaxed) != 0
        && let Some(block) = own()
    {
        block.held.fetch_add(bytes, Relaxed);
    }
}

/// The block that `ptr` is a piece of.
#[inline(always)]
fn block_of(ptr: *mut u8) -> Option<&'static Block> {
    if COUNT.load(Acquire) == 0 { None } else { SET_ASIDE.iter().find(|block| block.has(ptr)) }
}

#[inline(always)]
pub(super) fn has(ptr: *mut u8) -> bool {
    block_of(ptr).is_some()
}

/// Takes a piece back, if `ptr` is one.
#[inline(always)]
pub(super) fn give_back(ptr: *mut u8) -> bool {
    block_of(ptr).map(Block::give_back).is_some()
}

/// The share of the thread that a block is for, given back when it is dropped.
struct Own(&'static Block);

impl Drop for Own {
    fn drop(&mut self) {
        self.0.owner.store(0, Relaxed);
        self.0.give_back();
    }
}

/// Calls `f`, whose requests for memory succeed as long as they come to no more than `bytes`, those given back counted too. `None` without
/// `bytes` of memory. Says, too, how many bytes of malloc's what `f` has made takes, unless some of it lies in the block, or they were not
/// counted: that is not to be kept for long.
pub fn provided<R>(bytes: usize, f: impl FnOnce() -> R) -> Option<(R, Option<usize>)> {
    let layout = Layout::from_size_align(bytes.max(1), ALIGN).ok()?;
    // SAFETY: the size is not 0.
    let start = unsafe { System.alloc(layout) };
    if start.is_null() {
        return None;
    }
    // A block without pieces is free.
    let Some(block) = SET_ASIDE.iter().find(|block| block.pieces.compare_exchange(0, 1, AcqRel, Relaxed).is_ok()) else {
        // With all blocks in use, a thread has to do with the fact that the memory was there.
        // SAFETY: the block above.
        unsafe { System.dealloc(start, layout) };
        return Some((f(), None));
    };
    block.size.store(layout.size(), Release);
    block.used.store(0, Relaxed);
    block.held.store(0, Relaxed);
    block.owner.store(this_thread(), Relaxed);
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
