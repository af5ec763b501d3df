//! The lists of the calling thread. They serve small requests without a lock or a locked instruction. They are opened at the thread's first
//! request and closed when it ends.

use super::thread::{NOBODY, Thread};
use super::{class, current, source};
use crate::system;
use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The number of requests to all threads to return their blocks.
static DRAINS: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone, Copy, PartialEq)]
enum State {
    Fresh,
    Open,
    /// The thread is ending, or is opening its lists right now.
    Closed,
}

thread_local! {
    static STATE: Cell<State> = const { Cell::new(State::Fresh) };
}

/// Closes the lists of the calling thread, which ends.
fn thread_ends() {
    STATE.set(State::Closed);
    current::replace(&NOBODY).close();
}

/// A block of `class` (below [`LISTS`](super::thread::LISTS)) for a request of `bytes`.
#[inline(always)]
pub(super) fn take(class: usize, bytes: usize) -> Option<NonNull<u8>> {
    let thread = current::get();
    let block = thread.lists[class].pop()?;
    thread.counters.taken(bytes);
    Some(block)
}

/// Keeps a block of `class` (below [`LISTS`](super::thread::LISTS)) that served a request of `bytes`. Returns false if its list is full.
///
/// # Safety
/// `block` came from `source::obtain(class::size(class))` and is not used any more.
#[inline(always)]
pub(super) unsafe fn put(block: NonNull<u8>, class: usize, bytes: usize) -> bool {
    let thread = current::get();
    let kept = thread.lists[class].push(block);
    if kept {
        thread.counters.put(bytes);
    }
    kept
}

/// Runs when a request is not served by the thread's lists: opens them at the first request, and answers [`ask_all_to_drain`] later.
pub(super) fn maintain() {
    match STATE.get() {
        State::Fresh => open(),
        State::Open => answer(current::get()),
        State::Closed => {}
    }
}

fn open() {
    // The C library may allocate memory for the call by an allocator that calls this library. Such a call must not open the lists again.
    STATE.set(State::Closed);
    let told = system::at_thread_end(thread_ends);
    STATE.set(State::Fresh);
    if let Some(thread) = told.then(Thread::claim).flatten() {
        thread.drains.store(DRAINS.load(Relaxed), Relaxed);
        current::replace(thread);
        STATE.set(State::Open);
    }
}

/// The address of the calling thread's C string of up to [`LONGEST_MESSAGE`](crate::error::LONGEST_MESSAGE) bytes, initially "". It is
/// valid until the thread ends. `None` if the thread is ending, or if there is no memory.
pub fn text() -> Option<*mut u8> {
    if STATE.get() == State::Fresh {
        open();
    }
    let thread = current::get();
    if std::ptr::eq(thread, &NOBODY) { None } else { Some(thread.text.get().cast()) }
}

fn answer(thread: &Thread) {
    let drains = DRAINS.load(Relaxed);
    if thread.drains.swap(drains, Relaxed) != drains {
        // SAFETY: a listed block came from the system with its class's size, and it has been removed from its list.
        thread.drain(|block, class| unsafe { source::give_back(block, class::size(class)) });
    }
}

/// Requests all threads to return their blocks to the system: this thread at once, others when their lists next cannot serve a request.
pub(super) fn ask_all_to_drain() {
    DRAINS.fetch_add(1, Relaxed);
    maintain();
}
