//! The calling thread's own lists, from which small requests are served without a lock or a locked instruction: opened at its first
//! request, closed when it ends.

use super::thread::{NOBODY, Thread};
use super::{class, current, system};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

/// How often all threads have been asked to give their blocks back.
static DRAINS: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone, Copy, PartialEq)]
enum State {
    Fresh,
    Open,
    /// The thread is ending, or about to open its lists.
    Closed,
}

thread_local! {
    static STATE: Cell<State> = const { Cell::new(State::Fresh) };
}

/// Closes the lists of the calling thread, which ends: the hook that the C library calls for a thread that has set [`key`].
unsafe extern "C" fn thread_exit(_: *mut c_void) {
    STATE.set(State::Closed);
    current::replace(&NOBODY).close();
}

/// 1 + the key of [`thread_exit`]; 0 before the first thread asks for one, [`NO_KEY`] when there is none any more.
static KEY: AtomicUsize = AtomicUsize::new(0);
const NO_KEY: usize = usize::MAX;

/// The key that threads set in order to be told of their end, after the destructors of thread-locals have run. A destructor of Rust would
/// do as well, but registering one may end the process when memory is short.
fn key() -> Option<libc::pthread_key_t> {
    if KEY.load(Acquire) == 0 {
        let mut key = 0;
        // SAFETY: a place for the key, and functions that never unwind.
        unsafe {
            if libc::pthread_key_create(&mut key, Some(thread_exit)) != 0 {
                return None;
            }
            if KEY.compare_exchange(0, key as usize + 1, AcqRel, Acquire).is_err() {
                // Another thread was first, and no thread has seen this key.
                libc::pthread_key_delete(key);
            } else {
                libc::atexit(forget_key);
            }
        }
    }
    match KEY.load(Acquire) {
        NO_KEY => None,
        key => Some((key - 1) as libc::pthread_key_t),
    }
}

/// Called when the process ends or the library is unloaded: threads that end later must not call [`thread_exit`].
extern "C" fn forget_key() {
    let key = KEY.swap(NO_KEY, AcqRel);
    // SAFETY: a key is deleted once.
    unsafe { libc::pthread_key_delete((key - 1) as libc::pthread_key_t) };
}

/// A block of `class` (below [`LISTS`](super::thread::LISTS)) for a request of `bytes`.
#[inline(always)]
pub(super) fn take(class: usize, bytes: usize) -> Option<NonNull<u8>> {
    let thread = current::get();
    let block = thread.lists[class].pop()?;
    thread.counters.taken(bytes);
    Some(block)
}

/// Keeps a block of `class` (below [`LISTS`](super::thread::LISTS)) that served a request of `bytes`; `false` when there is no room for it.
///
/// # Safety
/// `block` came from `system::obtain(class::size(class))`, and nobody uses it any more.
#[inline(always)]
pub(super) unsafe fn put(block: NonNull<u8>, class: usize, bytes: usize) -> bool {
    let thread = current::get();
    let kept = thread.lists[class].push(block);
    if kept {
        thread.counters.put(bytes);
    }
    kept
}

/// Does the work of a thread that leaves the fast path: opens its lists at first, and answers [`ask_all_to_drain`] later.
pub(super) fn maintain() {
    match STATE.get() {
        State::Fresh => open(),
        State::Open => answer(current::get()),
        State::Closed => {}
    }
}

fn open() {
    // The C library may take memory for the key from an allocator that calls this library. That call must not open the lists again.
    STATE.set(State::Closed);
    // SAFETY: any value that is not NULL has the hook called.
    let told = key().is_some_and(|key| unsafe { libc::pthread_setspecific(key, (&raw const NOBODY).cast()) } == 0);
    STATE.set(State::Fresh);
    if let Some(thread) = told.then(Thread::claim).flatten() {
        thread.drains.store(DRAINS.load(Relaxed), Relaxed);
        current::replace(thread);
        STATE.set(State::Open);
    }
}

/// Returns the address of the calling thread's C string of up to [`LONGEST_MESSAGE`](crate::error::LONGEST_MESSAGE) bytes, "" at
/// first, which stays until the thread ends. `None` for a thread that is ending, or without memory.
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
        // SAFETY: a listed block came from the system with its class's size, and the list has let go of it.
        thread.drain(|block, class| unsafe { system::give_back(block, class::size(class)) });
    }
}

/// Asks every thread to give its blocks back: this one at once, others when they next leave the fast path.
pub(super) fn ask_all_to_drain() {
    DRAINS.fetch_add(1, Relaxed);
    maintain();
}
