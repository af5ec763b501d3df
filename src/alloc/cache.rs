//! The cache of released blocks above the small sizes, shared by all threads under one lock. The newest block is reused first; the oldest
//! is returned to the system first.

use super::class::{self, CLASSES};
use super::source;
use crate::system;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The header that the cache writes into the first bytes of a kept block.
struct Node {
    links: [Links; 2],
    class: usize,
}

struct Links {
    newer: *mut Node,
    older: *mut Node,
}

/// The index of a node's links in the list of all kept blocks (AGE), and in the list of its class (BIN).
const AGE: usize = 0;
const BIN: usize = 1;

#[derive(Clone, Copy)]
struct List {
    newest: *mut Node,
    oldest: *mut Node,
}

impl List {
    const EMPTY: List = List { newest: null_mut(), oldest: null_mut() };

    /// # Safety
    /// `node` is valid and in no list of this `chain`. All nodes of this list are valid.
    unsafe fn push(&mut self, node: *mut Node, chain: usize) {
        // SAFETY: the caller meets the conditions above.
        unsafe {
            (*node).links[chain] = Links { newer: null_mut(), older: self.newest };
            match self.newest.is_null() {
                true => self.oldest = node,
                false => (*self.newest).links[chain].newer = node,
            }
        }
        self.newest = node;
    }

    /// # Safety
    /// `node` is in this list, whose nodes are valid.
    unsafe fn unlink(&mut self, node: *mut Node, chain: usize) {
        // SAFETY: the caller meets the conditions above. Neighbours of a listed node are listed or null.
        unsafe {
            let Links { newer, older } = (*node).links[chain];
            match newer.is_null() {
                true => self.newest = older,
                false => (*newer).links[chain].older = older,
            }
            match older.is_null() {
                true => self.oldest = newer,
                false => (*older).links[chain].newer = newer,
            }
        }
    }
}

/// The kept blocks, at most `limit` bytes.
pub(super) struct Cache {
    ages: List,
    bins: [List; CLASSES],
    bytes: usize,
}

// SAFETY: the cache alone owns the listed blocks, on any thread.
unsafe impl Send for Cache {}

impl Cache {
    const EMPTY: Cache = Cache { ages: List::EMPTY, bins: [List::EMPTY; CLASSES], bytes: 0 };

    fn take(&mut self, class: usize) -> Option<NonNull<u8>> {
        let node = NonNull::new(self.bins[class].newest)?;
        // SAFETY: listed nodes are valid, because `put` made them from blocks that the cache owns.
        unsafe { self.remove(node.as_ptr()) };
        Some(node.cast())
    }

    /// Keeps `block`. Returns the blocks that must be removed to stay within `limit`.
    ///
    /// # Safety
    /// `block` is an unused block of `class`, above the small sizes. The cache owns it from now on.
    unsafe fn put(&mut self, block: NonNull<u8>, class: usize, limit: usize) -> Evicted {
        let node: *mut Node = block.as_ptr().cast();
        // SAFETY: blocks above the small sizes are larger than a node and 64-byte aligned, and listed nodes are valid.
        unsafe {
            (&raw mut (*node).class).write(class);
            self.ages.push(node, AGE);
            self.bins[class].push(node, BIN);
        }
        self.bytes += class::size(class);
        self.evict(limit)
    }

    /// Removes the oldest blocks until at most `limit` bytes are left.
    fn evict(&mut self, limit: usize) -> Evicted {
        let mut evicted = Evicted(null_mut());
        while self.bytes > limit && !self.ages.oldest.is_null() {
            let node = self.ages.oldest;
            // SAFETY: listed nodes are valid. After its removal, the node belongs to the chain of evicted blocks.
            unsafe {
                self.remove(node);
                (*node).links[AGE].older = evicted.0;
            }
            evicted.0 = node;
        }
        evicted
    }

    /// # Safety
    /// `node` is listed.
    unsafe fn remove(&mut self, node: *mut Node) {
        // SAFETY: every listed node is in both lists.
        unsafe {
            let class = (*node).class;
            self.ages.unlink(node, AGE);
            self.bins[class].unlink(node, BIN);
            self.bytes -= class::size(class);
        }
    }
}

/// A chain of blocks to be returned to the system, which takes too long to be done under the lock.
#[must_use]
struct Evicted(*mut Node);

impl Evicted {
    fn give_back(mut self) {
        while let Some(node) = NonNull::new(self.0) {
            // SAFETY: `evict` unlinked this block and chained it to the next. It came from the system with its class's size.
            unsafe {
                self.0 = (*node.as_ptr()).links[AGE].older;
                source::give_back(node.cast(), class::size((*node.as_ptr()).class));
            }
        }
    }
}

/// std's mutex, because it is a single word and needs no memory. `fork::prepare` holds the lock while the process forks, so that the child
/// finds the lists whole and unlocked.
static CACHE: Mutex<Cache> = Mutex::new(Cache::EMPTY);

/// The lock of the kept blocks.
pub(super) type Guard = MutexGuard<'static, Cache>;

pub(super) fn lock() -> Guard {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A kept block of `class`.
pub(super) fn take(class: usize) -> Option<NonNull<u8>> {
    if limit() == 0 { None } else { lock().take(class) }
}

/// Keeps `block` for reuse, or returns it to the system if it is larger than the limit.
///
/// # Safety
/// `block` came from `source::obtain(class::size(class))`, is above the small sizes, and is not used any more.
pub(super) unsafe fn put(block: NonNull<u8>, class: usize) {
    let (limit, size) = (limit(), class::size(class));
    if size > limit {
        // SAFETY: the caller meets the conditions above.
        return unsafe { source::give_back(block, size) };
    }
    // SAFETY: the caller meets the conditions above. The lock is released before the system is called.
    let evicted = unsafe { lock().put(block, class, limit) };
    evicted.give_back();
}

/// Returns all kept blocks to the system.
pub(super) fn empty() {
    let evicted = lock().evict(0);
    evicted.give_back();
}

/// The size of all kept blocks in bytes.
pub(super) fn bytes() -> usize {
    lock().bytes
}

/// The maximum size of all kept blocks in bytes: `TH_CACHE_LIMIT`, or an eighth of the memory up to 1 GiB. 0 disables every cache,
/// including the lists of threads.
pub(super) fn limit() -> usize {
    const UNREAD: usize = usize::MAX;
    static LIMIT: AtomicUsize = AtomicUsize::new(UNREAD);
    let limit = LIMIT.load(Relaxed);
    if limit != UNREAD {
        return limit;
    }
    let given = std::env::var("TH_CACHE_LIMIT").ok().and_then(|text| text.trim().parse().ok());
    let limit = given.unwrap_or_else(|| (system::memory() / 8).min(1 << 30)).min(UNREAD - 1);
    // If several threads get here at the same time, all use the value of the first one.
    LIMIT.compare_exchange(UNREAD, limit, Relaxed, Relaxed).map_or_else(|decided| decided, |_| limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(class: usize) -> NonNull<u8> {
        source::obtain(class::size(class)).unwrap()
    }

    #[test]
    fn the_newest_of_a_class_comes_back_first() {
        let mut cache = Box::new(Cache::EMPTY);
        let (a, b, c) = (block(8), block(8), block(9));
        for (block, class) in [(a, 8), (b, 8), (c, 9)] {
            // SAFETY: new blocks of these classes.
            unsafe { cache.put(block, class, 1 << 20).give_back() };
        }
        assert_eq!(cache.bytes, 576 + 576 + 640);
        assert_eq!(cache.take(8), Some(b));
        assert_eq!(cache.take(8), Some(a));
        assert_eq!(cache.take(8), None);
        assert_eq!(cache.bytes, 640);
        for (block, class) in [(a, 8), (b, 8)] {
            // SAFETY: taken above.
            unsafe { source::give_back(block, class::size(class)) };
        }
        cache.evict(0).give_back();
        assert!(cache.bytes == 0 && cache.ages.newest.is_null() && cache.bins[9].newest.is_null());
    }

    #[test]
    fn the_oldest_leave_when_the_limit_is_reached() {
        let mut cache = Box::new(Cache::EMPTY);
        let (limit, mut classes) = (100_000, vec![]);
        for class in (8..32).cycle().take(200) {
            // SAFETY: a new block of this class.
            unsafe { cache.put(block(class), class, limit).give_back() };
            classes.push(class);
            assert!(cache.bytes <= limit);
        }
        let sums = classes.into_iter().rev().scan(0, |sum, class| {
            *sum += class::size(class);
            Some(*sum)
        });
        assert_eq!(Some(cache.bytes), sums.take_while(|&sum| sum <= limit).last());
        cache.evict(0).give_back();
    }

    #[test]
    fn blocks_from_the_middle_leave_both_lists_whole() {
        let mut cache = Box::new(Cache::EMPTY);
        for class in [8, 9, 10, 9, 8] {
            // SAFETY: a new block of this class.
            unsafe { cache.put(block(class), class, 1 << 20).give_back() };
        }
        for class in [9, 10, 9] {
            let block = cache.take(class).unwrap();
            // SAFETY: just taken.
            unsafe { source::give_back(block, class::size(class)) };
        }
        assert_eq!(cache.bytes, 2 * 576);
        cache.evict(576).give_back();
        assert_eq!(cache.bytes, 576);
        assert_eq!(cache.ages.newest, cache.ages.oldest);
        assert_eq!(cache.bins[8].newest, cache.bins[8].oldest);
        cache.evict(0).give_back();
    }
}
