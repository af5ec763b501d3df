//! The property of threads: lists of released blocks, counters and a text.

use super::class::{self, SMALL_CLASSES};
use super::counters::Counters;
use super::{cache, system};
use crate::error::LONGEST_MESSAGE;
use std::cell::UnsafeCell;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};

/// Classes that have lists: up to 16 KiB.
pub(super) const LISTS: usize = SMALL_CLASSES + 5 * 8;
/// The most bytes a list keeps; all lists of a thread keep at most 1.5 MiB, small blocks 256 KiB of them.
const LIST_BYTES: usize = 32 << 10;

/// A slot of a list: a block, or NULL in the one before the first.
type Slot = AtomicPtr<u8>;

/// A stack of blocks. Only its thread writes it; others read `top` to count what it keeps.
///
/// The blocks stand in slots of their own rather than being chained through their first bytes: taking one does not wait for its memory.
pub(super) struct BlockStack {
    top: AtomicPtr<Slot>,
    end: AtomicPtr<Slot>,
}

impl BlockStack {
    /// Holds nothing and has room for nothing.
    const fn closed() -> BlockStack {
        const BOTTOM: *mut Slot = (&raw const NOTHING).cast_mut();
        BlockStack { top: AtomicPtr::new(BOTTOM), end: AtomicPtr::new(BOTTOM) }
    }

    #[inline(always)]
    pub(super) fn pop(&self) -> Option<NonNull<u8>> {
        let top = self.top.load(Relaxed);
        // SAFETY: `top` is a slot of this list, the one before the first when it is empty.
        let block = NonNull::new(unsafe { (*top).load(Relaxed) })?;
        self.top.store(top.wrapping_sub(1), Relaxed);
        Some(block)
    }

    #[inline(always)]
    pub(super) fn push(&self, block: NonNull<u8>) -> bool {
        let top = self.top.load(Relaxed);
        if top == self.end.load(Relaxed) {
            return false;
        }
        let top = top.wrapping_add(1);
        // SAFETY: slots reach from the one before the first to `end`, and `top` was below it.
        unsafe { (*top).store(block.as_ptr(), Relaxed) };
        self.top.store(top, Relaxed);
        true
    }
}

/// The slot that closed lists point to.
static NOTHING: Slot = AtomicPtr::new(null_mut());

const fn capacity(class: usize) -> usize {
    LIST_BYTES / class::size(class)
}

/// The slots of all lists, with the one before the first of each.
const SLOTS: usize = {
    let (mut slots, mut class) = (0, 0);
    while class < LISTS {
        slots += 1 + capacity(class);
        class += 1;
    }
    slots
};

/// The bytes of a thread's text: a message and the 0 behind it.
const TEXT: usize = LONGEST_MESSAGE + 1;

/// The property of a thread. A thread that ends leaves it, emptied but with its counts, to the next one that starts.
#[repr(C, align(64))]
pub(super) struct Thread {
    pub(super) counters: Counters,
    pub(super) lists: [BlockStack; LISTS],
    /// How many of the requests for its blocks this thread has answered.
    pub(super) drains: AtomicUsize,
    claimed: AtomicBool,
    next: AtomicPtr<Thread>,
    /// For the owner alone; NOBODY's is never touched.
    pub(super) text: UnsafeCell<[u8; TEXT]>,
}

// SAFETY: all but the text is atomic, and that is its owner's.
unsafe impl Sync for Thread {}

/// Stands in for threads without lists: they have not started or are ending, or memory ran out. Any number of them may count here.
pub(super) static NOBODY: Thread = Thread::new();
/// All that threads own, newest first; a list that only grows needs no lock, neither for readers nor across a fork.
static ALL: AtomicPtr<Thread> = AtomicPtr::new((&raw const NOBODY).cast_mut());
impl Thread {
    const fn new() -> Thread {
        Thread {
            counters: Counters::new(),
            lists: [const { BlockStack::closed() }; LISTS],
            drains: AtomicUsize::new(0),
            claimed: AtomicBool::new(true),
            next: AtomicPtr::new(null_mut()),
            text: UnsafeCell::new([0; TEXT]),
        }
    }

    /// One for the calling thread: left by another, or fresh. `None` when there is no memory for it.
    pub(super) fn claim() -> Option<&'static Thread> {
        let left = all().find(|thread| !thread.claimed.load(Relaxed) && !thread.claimed.swap(true, Acquire));
        left.or_else(Thread::make)
    }

    /// A fresh one with its slots behind it; they stay for ever.
    fn make() -> Option<&'static Thread> {
        let place = system::aligned(size_of::<Thread>() + SLOTS * size_of::<Slot>())?.cast::<Thread>();
        // SAFETY: the place is 64-byte aligned and has room for the thread and its slots.
        let thread: &'static Thread = unsafe {
            place.write(Thread::new());
            place.add(1).cast::<Slot>().write_bytes(0, SLOTS);
            place.as_ref()
        };
        if cache::limit() > 0 {
            let mut slot = place.as_ptr().wrapping_add(1).cast::<Slot>();
            for (class, list) in thread.lists.iter().enumerate() {
                list.top.store(slot, Relaxed);
                list.end.store(slot.wrapping_add(capacity(class)), Relaxed);
                slot = slot.wrapping_add(1 + capacity(class));
            }
        }
        let mut head = ALL.load(Relaxed);
        loop {
            thread.next.store(head, Relaxed);
            match ALL.compare_exchange_weak(head, place.as_ptr(), AcqRel, Relaxed) {
                Ok(_) => return Some(thread),
                Err(newer) => head = newer,
            }
        }
    }

    /// Empties all lists into `sink`.
    pub(super) fn drain(&self, sink: impl Fn(NonNull<u8>, usize)) {
        for (class, list) in self.lists.iter().enumerate() {
            while let Some(block) = list.pop() {
                sink(block, class);
            }
        }
    }

    /// Ends what the calling thread owns.
    pub(super) fn close(&self) {
        // SAFETY: a listed block came from the system with its class's size; others may still have use for the larger ones.
        self.drain(|block, class| unsafe { forward(block, class) });
        self.counters.publish(false);
        // SAFETY: the calling thread is still the owner.
        unsafe { (*self.text.get())[0] = 0 };
        self.claimed.store(false, Release);
    }

    /// The bytes of all listed blocks.
    pub(super) fn listed_bytes(&self) -> i64 {
        let listed = |(class, list): (usize, &BlockStack)| {
            let left = (list.end.load(Relaxed) as usize).saturating_sub(list.top.load(Relaxed) as usize) / size_of::<Slot>();
            (capacity(class) - left) * class::size(class)
        };
        let open = cache::limit() > 0 && !std::ptr::eq(self, &NOBODY);
        if open { self.lists.iter().enumerate().map(listed).sum::<usize>() as i64 } else { 0 }
    }
}

/// All that threads own, or owned.
pub(super) fn all() -> impl Iterator<Item = &'static Thread> {
    // SAFETY: a thread is written before it is listed and lives for ever.
    let first = unsafe { ALL.load(Acquire).as_ref() };
    // SAFETY: likewise; the acquiring load of the head makes all that it leads to visible.
    std::iter::successors(first, |thread| unsafe { thread.next.load(Relaxed).as_ref() })
}

/// Sends a block that no thread list keeps to where its class belongs next.
///
/// # Safety
/// `block` came from `system::obtain(class::size(class))`, and nobody uses it any more.
pub(super) unsafe fn forward(block: NonNull<u8>, class: usize) {
    if class < SMALL_CLASSES {
        // SAFETY: the caller's promise.
        unsafe { system::give_back(block, class::size(class)) }
    } else {
        // SAFETY: the caller's promise, and the class is above the small sizes.
        unsafe { cache::put(block, class) }
    }
}
