//! Threads, and functions that the system calls at the end of a thread, at the end of the process, and when it forks.
//!
//! Threads are started by the C library and not by std, because std's threads and their handles allocate memory infallibly.

use crate::system::Main;
use std::ffi::c_void;
use std::mem::{MaybeUninit, transmute};
use std::ptr::null_mut;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire};

/// A running thread, which must be joined.
pub struct Thread(libc::pthread_t);

extern "C" fn begin<M: Main>(main: *mut c_void) -> *mut c_void {
    // SAFETY: `spawn` passes a value that outlives this thread.
    unsafe { &*main.cast::<M>() }.run();
    null_mut()
}

/// Starts a thread with `stack` bytes of stack, which blocks signals, since their handlers belong to the program and must run on its own
/// threads. Returns `None` if the system refuses.
///
/// # Safety
/// `main` must not be moved or freed while the thread runs.
pub unsafe fn spawn<M: Main>(main: &M, stack: usize) -> Option<Thread> {
    let (mut attributes, mut thread) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: each variable is initialised by the first call that gets it, before others read it. The new thread inherits this thread's
    // mask.
    unsafe {
        if libc::pthread_attr_init(attributes.as_mut_ptr()) != 0 {
            return None;
        }
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), stack);
        libc::sigfillset(all.as_mut_ptr());
        // Signals that a thread's own instructions raise stay unblocked for the program's handlers. If blocked, they would end the process
        // at once.
        for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS] {
            libc::sigdelset(all.as_mut_ptr(), fault);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let argument = std::ptr::from_ref(main).cast_mut().cast();
        let refused = libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), begin::<M>, argument) != 0;
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if refused { None } else { Some(Thread(thread.assume_init())) }
    }
}

impl Thread {
    /// Waits until the thread has ended, unless it is the calling thread. POSIX does not define what a thread does that joins itself.
    pub fn join(self) {
        // SAFETY: `self` is consumed, so a thread is joined once.
        unsafe {
            if self.0 != libc::pthread_self() {
                libc::pthread_join(self.0, null_mut());
            }
        }
    }
}

/// A number that identifies the calling thread among those that run, never 0.
pub fn thread_id() -> usize {
    // SAFETY: the function has no preconditions.
    unsafe { libc::pthread_self() as usize }
}

/// 1 + the key whose destructor is [`thread_ends`]; 0 before the first thread needs it, [`NO_KEY`] after it was deleted.
static KEY: AtomicUsize = AtomicUsize::new(0);
const NO_KEY: usize = usize::MAX;

/// Calls the function that the thread has stored under the key.
unsafe extern "C" fn thread_ends(end: *mut c_void) {
    // SAFETY: only `at_thread_end` stores values.
    let end = unsafe { transmute::<*mut c_void, fn()>(end) };
    end();
}

/// The key whose destructor is called at the end of a thread, after the destructors of thread-locals.
fn key() -> Option<libc::pthread_key_t> {
    if KEY.load(Acquire) == 0 {
        let mut key = 0;
        // SAFETY: `key` is a valid out pointer, and the functions never unwind.
        unsafe {
            if libc::pthread_key_create(&mut key, Some(thread_ends)) != 0 {
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

/// Called when the process ends or the library is unloaded. Threads that end later must not call [`thread_ends`].
extern "C" fn forget_key() {
    let key = KEY.swap(NO_KEY, AcqRel);
    // SAFETY: a key is deleted once.
    unsafe { libc::pthread_key_delete((key - 1) as libc::pthread_key_t) };
}

/// Makes the calling thread call `end` when it ends. The function is the same in all calls. Returns false if the system refuses. A Rust
/// destructor would work, too, but registering one may end the process if memory is short.
pub fn at_thread_end(end: fn()) -> bool {
    // SAFETY: the value is a function.
    key().is_some_and(|key| unsafe { libc::pthread_setspecific(key, end as *const c_void) } == 0)
}

/// Makes the end of the process, or the unloading of this library by `dlclose`, call `end`. If there is no memory, nothing happens.
pub fn at_exit(end: extern "C" fn()) {
    // SAFETY: the function never unwinds.
    unsafe { libc::atexit(end) };
}

/// Makes each fork of the process call the three functions: before the fork, after it in the parent, and after it in the child.
pub fn at_fork(prepare: unsafe extern "C" fn(), parent: unsafe extern "C" fn(), child: unsafe extern "C" fn()) {
    // SAFETY: the handlers are functions of this library. glibc removes them if the library is unloaded.
    unsafe { libc::pthread_atfork(Some(prepare), Some(parent), Some(child)) };
}
