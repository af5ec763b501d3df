//! The data that each thread owns: lists of released blocks, counters, and a text.

use super::class::{self, SMALL_CLASSES};
use super::counters::Counters;
use super::{cache, source};
use crate::error::LONGEST_MESSAGE;
use std::cell::UnsafeCell;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize};

/// The number of classes that have lists: up to 16 KiB.
pub(super) const LISTS: usize = SMALL_CLASSES + 5 * 8;
/// The maximum number of bytes that a list keeps. All lists of a thread keep at most 1.5 MiB, 256 KiB of which in small blocks.
const LIST_BYTES: usize = 32 << 10;

/// A slot of a list: the address of a block. The slot before the first one is NULL.
type Slot = AtomicPtr<u8>;

/// A stack of blocks. Only the owning thread writes it; other threads read `top` to count the kept bytes.
///
/// The addresses of blocks are in separate slots, not linked through the blocks' first bytes, so that taking a block does not wait for its
/// memory.
pub(super) struct BlockStack {
    top: AtomicPtr<Slot>,
    end: AtomicPtr<Slot>,
}

impl BlockStack {
    /// An empty stack without room.
    const fn closed() -> BlockStack {
        const BOTTOM: *mut Slot = (&raw const NOTHING).cast_mut();
        BlockStack { top: AtomicPtr::new(BOTTOM), end: AtomicPtr::new(BOTTOM) }
    }

    #[inline(always)]
    pub(super) fn pop(&self) -> Option<NonNull<u8>> {
        let top = self.top.load(Relaxed);
        // SAFETY: `top` is a slot of this list; in an empty list it is the slot before the first one.
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
        // SAFETY: `top` was below `end`, so the next slot is still part of the list.
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

/// The number of slots of all lists, including the one before the first of each.
const SLOTS: usize = {
    let (mut slots, mut class) = (0, 0);
    while class < LISTS {
        slots += 1 + capacity(class);
        class += 1;
    }
    slots
};

/// The size of a thread's text in bytes: a message and the terminating 0.
const TEXT: usize = LONGEST_MESSAGE + 1;

/// The data of a thread. When the thread ends, a later thread may claim the struct, with empty lists but the old counts.
#[repr(C, align(64))]
pub(super) struct Thread {
    pub(super) counters: Counters,
    pub(super) lists: [BlockStack; LISTS],
    /// The number of requests to drain the lists that this thread has answered.
    pub(super) drains: AtomicUsize,
    claimed: AtomicBool,
    next: AtomicPtr<Thread>,
    /// Used by the owning thread. The text of NOBODY is never used.
    pub(super) text: UnsafeCell<[u8; TEXT]>,
}

// SAFETY: all fields are atomic, except the text, which only the owning thread uses.
unsafe impl Sync for Thread {}

/// Serves threads without lists: before their first request, while they end, or if there was no memory for a `Thread`. Many threads may
/// count here at the same time.
pub(super) static NOBODY: Thread = Thread::new();
/// All `Thread`s, newest first. The list only grows, so it needs no lock, neither for readers nor in a forked child.
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

    /// A `Thread` for the calling thread, from a thread that has ended or new. `None` if there is no memory.
    pub(super) fn claim() -> Option<&'static Thread> {
        let left = all().find(|thread| !thread.claimed.load(Relaxed) && !thread.claimed.swap(true, Acquire));
        left.or_else(Thread::make)
    }

    /// A new `Thread`, followed by its slots in memory. It is never freed.
    fn make() -> Option<&'static Thread> {
        let place = source::aligned(size_of::<Thread>() + SLOTS * size_of::<Slot>())?.cast::<Thread>();
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

    /// Empties the lists of the calling thread, publishes its counts, and lets another thread claim the struct.
    pub(super) fn close(&self) {
        // SAFETY: a listed block came from the system with its class's size. Larger ones go to the shared cache.
        self.drain(|block, class| unsafe { forward(block, class) });
        self.counters.publish(false);
        // SAFETY: the calling thread still owns the text.
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

/// All `Thread`s, claimed or not.
pub(super) fn all() -> impl Iterator<Item = &'static Thread> {
    // SAFETY: a `Thread` is initialised before it is listed, and never freed.
    let first = unsafe { ALL.load(Acquire).as_ref() };
    // SAFETY: as above. The acquire load of the head makes all older entries visible.
    std::iter::successors(first, |thread| unsafe { thread.next.load(Relaxed).as_ref() })
}

/// Passes on a block that no thread list keeps: small ones to the system, larger ones to the shared cache.
///
/// # Safety
/// `block` came from `source::obtain(class::size(class))` and is not used any more.
pub(super) unsafe fn forward(block: NonNull<u8>, class: usize) {
    if class < SMALL_CLASSES {
        // SAFETY: the caller meets the conditions above.
        unsafe { source::give_back(block, class::size(class)) }
    } else {
        // SAFETY: the caller meets the conditions above, and the class is above the small sizes.
        unsafe { cache::put(block, class) }
    }
}
