//! A worker: a thread of the pool, and the place where it sleeps.
//!
//! The C library starts it, not std: std's threads and their handles take memory in ways that may not fail.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The stack of a worker: kernels need little, but tasks may be the caller's functions.
const STACK: usize = 2 << 20;

/// Nobody has called, and the worker is awake.
const AWAKE: u32 = 0;
/// Somebody has called since the worker last slept.
const CALLED: u32 = 1;
/// The worker sleeps, or is about to.
const ASLEEP: u32 = 2;

/// The user of a worker's thread.
pub(super) trait Employer: Sync {
    /// Works on the calling thread, which is that of `worker`, until the worker is of no more use.
    fn work(&self, worker: &Worker);
}

/// Locks where a panic cannot have left anything half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread of the pool. Its place outlives it: another thread may be started there.
pub(super) struct Worker {
    employer: &'static dyn Employer,
    /// Its number among the threads of the pool; the caller's is 0.
    pub(super) index: usize,
    state: AtomicU32,
    bed: Mutex<()>,
    woken: Condvar,
    /// No thread runs here: it has not been started, or is about to return.
    gone: AtomicBool,
    /// The thread last started here and not yet joined.
    thread: UnsafeCell<Option<libc::pthread_t>>,
}

// SAFETY: `thread` is used by the holder of the pool alone.
unsafe impl Sync for Worker {}

impl Worker {
    pub(super) fn new(employer: &'static dyn Employer, index: usize) -> Worker {
        Worker {
            employer,
            index,
            state: AtomicU32::new(AWAKE),
            bed: Mutex::new(()),
            woken: Condvar::new(),
            gone: AtomicBool::new(true),
            thread: UnsafeCell::new(None),
        }
    }

    /// Returns true if no thread runs here.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Acquire)
    }

    /// Starts a thread, which works until the pool has no more use for it; false when the system refuses.
    ///
    /// # Safety
    /// Only for the holder of the pool, where no thread runs; the worker is never moved or freed while one does.
    pub(super) unsafe fn start(&self) -> bool {
        // SAFETY: the caller's.
        unsafe { self.join() };
        self.gone.store(false, Relaxed);
        // SAFETY: the worker stays where it is, as the caller says.
        let thread = unsafe { spawn(begin, (&raw const *self).cast_mut().cast()) };
        self.gone.store(thread.is_none(), Relaxed);
        // SAFETY: the caller's.
        unsafe { *self.thread.get() = thread };
        thread.is_some()
    }

    /// Waits until the thread that ran here has returned, unless it is the calling one.
    ///
    /// # Safety
    /// Only for the holder of the pool, once the worker is gone.
    pub(super) unsafe fn join(&self) {
        // SAFETY: the caller's; a thread is joined once. One that would wait for itself is refused.
        unsafe {
            if let Some(thread) = (*self.thread.get()).take() {
                libc::pthread_join(thread, null_mut());
            }
        }
    }

    /// Wakes the worker up, or keeps it from falling asleep.
    pub(super) fn call(&self) {
        if self.state.swap(CALLED, Release) == ASLEEP {
            // The worker holds the mutex from its look at the state until it sleeps. Passing the mutex makes sure that the notification
            // does not come in between.
            drop(lock(&self.bed));
            self.woken.notify_one();
        }
    }

    /// Sleeps until called; false when nobody did in `limit`. Only for the worker itself.
    pub(super) fn sleep(&self, limit: Duration) -> bool {
        let bed = lock(&self.bed);
        if self.state.compare_exchange(AWAKE, ASLEEP, Relaxed, Relaxed).is_ok() {
            let asleep = |_: &mut ()| self.state.load(Relaxed) == ASLEEP;
            drop(self.woken.wait_timeout_while(bed, limit, asleep).unwrap_or_else(PoisonError::into_inner));
        }
        self.state.swap(AWAKE, AcqRel) == CALLED
    }
}

extern "C" fn begin(worker: *mut c_void) -> *mut c_void {
    // SAFETY: `start` passes a worker that stays in its place until this thread is gone.
    let worker = unsafe { &*worker.cast::<Worker>() };
    name_thread(worker.index);
    worker.employer.work(worker);
    worker.gone.store(true, Release);
    null_mut()
}

/// Starts a thread that takes no signals: their handlers are the program's, and belong on its own threads.
///
/// # Safety
/// `main` may be called with `argument` on another thread.
unsafe fn spawn(main: extern "C" fn(*mut c_void) -> *mut c_void, argument: *mut c_void) -> Option<libc::pthread_t> {
    let (mut attributes, mut thread) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: each is initialised by the call that takes it first, before others read it. The new thread inherits the mask of this one.
    unsafe {
        if libc::pthread_attr_init(attributes.as_mut_ptr()) != 0 {
            return None;
        }
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK);
        libc::sigfillset(all.as_mut_ptr());
        // Signals that a thread's own instructions raise are for the handlers of the host; blocked, they would end the process at once.
        for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS] {
            libc::sigdelset(all.as_mut_ptr(), fault);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let refused = libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), main, argument) != 0;
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if refused { None } else { Some(thread.assume_init()) }
    }
}

/// Names the calling thread, for debuggers.
#[cfg(target_os = "linux")]
fn name_thread(index: usize) {
    use std::io::Write;
    // The last byte stays 0, which ends the name.
    let mut name = [0; 16];
    _ = write!(&mut name[..15], "thorn-{index}");
    // SAFETY: the calling thread, and a C string.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr().cast()) };
}

#[cfg(not(target_os = "linux"))]
fn name_thread(_index: usize) {}

#[cfg(test)]
mod tests {
    use super::super::tests::{in_child, runs_concurrently, wait_until, with_threads};
    use super::super::{IDLE_TIME, run};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::thread;
    use std::time::{Duration, Instant};

    /// Returns true if the calling thread takes `signal`.
    fn takes(signal: i32) -> bool {
        // SAFETY: without a new mask the call only stores the present one.
        unsafe {
            let mut mask = std::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &mut mask);
            libc::sigismember(&mask, signal) == 0
        }
    }

    #[test]
    fn workers_take_no_signals() {
        const SIGNALS: [i32; 7] = [libc::SIGINT, libc::SIGTERM, libc::SIGUSR1, libc::SIGCHLD, libc::SIGALRM, libc::SIGPROF, libc::SIGPIPE];
        let check = || {
            let (me, seen, taken) = (thread::current().id(), AtomicUsize::new(0), AtomicUsize::new(0));
            while seen.load(Relaxed) == 0 {
                run(3, &|_| {
                    if thread::current().id() != me {
                        taken.fetch_add(SIGNALS.iter().filter(|&&signal| takes(signal)).count(), Relaxed);
                        seen.fetch_add(1, Relaxed);
                    }
                    thread::sleep(Duration::from_millis(1));
                });
            }
            taken.into_inner() == 0 && SIGNALS.iter().all(|&signal| takes(signal))
        };
        with_threads(3, || assert_eq!(in_child(check), Some(0)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn workers_without_work_end_and_come_back() {
        let threads = || std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
        let rests = || {
            let met = runs_concurrently(3) && threads() == 3;
            let start = Instant::now();
            wait_until(|| threads() == 1 || start.elapsed() > 2 * IDLE_TIME);
            met && threads() == 1 && start.elapsed() > IDLE_TIME / 2 && runs_concurrently(3) && threads() == 3
        };
        with_threads(3, || assert_eq!(in_child(rests), Some(0)));
    }
}
