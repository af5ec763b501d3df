//! The lists of the calling thread. They serve small requests without a lock or a locked instruction. They are opened at the thread's first
//! request and closed when it ends.

use super::thread::{NOBODY, Thread};
use super::{class, current, source};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};

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

/// Closes the lists of the calling thread, which ends. The C library calls this function for threads that have set [`key`].
unsafe extern "C" fn thread_exit(_: *mut c_void) {
    STATE.set(State::Closed);
    current::replace(&NOBODY).close();
}

/// 1 + the key of [`thread_exit`]; 0 before the first thread needs it, [`NO_KEY`] after it was deleted.
static KEY: AtomicUsize = AtomicUsize::new(0);
const NO_KEY: usize = usize::MAX;

/// The pthread key whose destructor is called at the end of a thread, after the destructors of thread-locals. A Rust destructor would work,
/// too, but registering one may end the process if memory is short.
fn key() -> Option<libc::pthread_key_t> {
    if KEY.load(Acquire) == 0 {
        let mut key = 0;
        // SAFETY: `key` is a valid out pointer, and the functions never unwind.
        unsafe {
            if libc::pthread_key_create(&mut key, Some(thread_exit)) != 0 {
                return None;
            }
            if KEY.compare_exchange(0, key as usize + 1, AcqRel, Acquire).is_err() {
                // Another thread was first. No thread has used this key.
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

/// Called when the process ends or the library is unloaded. Threads that end later must not call [`thread_exit`].
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
    // The C library may allocate memory for the key by an allocator that calls this library. Such a call must not open the lists again.
    STATE.set(State::Closed);
    // SAFETY: the value is only compared with NULL; if it is not NULL, the destructor is called.
    let told = key().is_some_and(|key| unsafe { libc::pthread_setspecific(key, (&raw const NOBODY).cast()) } == 0);
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
