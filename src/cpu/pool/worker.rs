//! A worker: a thread of the pool, and the place where it sleeps.

use crate::system::{self, Main, Thread};
use std::cell::UnsafeCell;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The stack of a worker in bytes. Kernels need little, but a task may be a function of the program.
const STACK: usize = 2 << 20;

/// The worker is awake, and no thread has called it since.
const AWAKE: u32 = 0;
/// A thread has called the worker since the worker last slept.
const CALLED: u32 = 1;
/// The worker sleeps, or is about to.
const ASLEEP: u32 = 2;

/// The user of a worker's thread.
pub(super) trait Employer: Sync {
    /// Works on the calling thread, which runs `worker`, until the worker has nothing to do.
    fn work(&self, worker: &Worker);
}

/// Locks a mutex whose value is consistent even after a panic.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread of the pool. This struct outlives the thread, and another thread may be started in its place.
pub(super) struct Worker {
    employer: &'static dyn Employer,
    /// The number of the worker among the threads of the pool; the caller's is 0.
    pub(super) index: usize,
    state: AtomicU32,
    bed: Mutex<()>,
    woken: Condvar,
    /// True if no thread runs here: it has not been started, or is about to return.
    gone: AtomicBool,
    /// The thread that was last started here and is not yet joined.
    thread: UnsafeCell<Option<Thread>>,
}

// SAFETY: only the holder of the pool uses `thread`.
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

    /// Starts a thread, which works until the pool has no more use for it. Returns false if the system refuses.
    ///
    /// # Safety
    /// The caller must hold the pool, and no thread may run here. The worker must not be moved or freed while a thread runs.
    pub(super) unsafe fn start(&self) -> bool {
        // SAFETY: the caller holds the pool, and no thread runs here.
        unsafe { self.join() };
        self.gone.store(false, Relaxed);
        // SAFETY: the caller guarantees that the worker is not moved.
        let thread = unsafe { system::spawn(self, STACK) };
        let is_refused = thread.is_none();
        self.gone.store(is_refused, Relaxed);
        // SAFETY: only the holder of the pool, which is the caller, uses `thread`.
        unsafe { *self.thread.get() = thread };
        !is_refused
    }

    /// Waits until the thread that ran here has returned, unless that is the calling thread.
    ///
    /// # Safety
    /// The caller must hold the pool, and the worker must be gone.
    pub(super) unsafe fn join(&self) {
        // SAFETY: the caller holds the pool.
        if let Some(thread) = unsafe { (*self.thread.get()).take() } {
            thread.join();
        }
    }

    /// Wakes the worker, or keeps it from falling asleep.
    pub(super) fn call(&self) {
        if self.state.swap(CALLED, Release) == ASLEEP {
            // The worker holds the mutex from reading the state until it sleeps. Locking the mutex here ensures that the notification does
            // not fall in between.
            drop(lock(&self.bed));
            self.woken.notify_one();
        }
    }

    /// Sleeps until a thread calls. Returns false if none did within `limit`. Only the worker itself may call this.
    pub(super) fn sleep(&self, limit: Duration) -> bool {
        let bed = lock(&self.bed);
        if self.state.compare_exchange(AWAKE, ASLEEP, Relaxed, Relaxed).is_ok() {
            let asleep = |_: &mut ()| self.state.load(Relaxed) == ASLEEP;
            drop(self.woken.wait_timeout_while(bed, limit, asleep).unwrap_or_else(PoisonError::into_inner));
        }
        self.state.swap(AWAKE, AcqRel) == CALLED
    }
}

impl Main for Worker {
    fn run(&self) {
        system::name_thread(self.index);
        self.employer.work(self);
        self.gone.store(true, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{in_child, runs_concurrently, wait_until, with_threads};
    use super::super::{IDLE_TIME, run};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::thread;
    use std::time::{Duration, Instant};

    /// Returns true if the calling thread does not block `signal`.
    fn takes(signal: i32) -> bool {
        // SAFETY: without a new mask the call only stores the present mask.
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
