//! The thread pool: divides the parts of one job among the calling thread and a few workers.
//!
//! One job runs at a time. A call that finds the pool busy (with a job of another thread, or with the job that the call is nested in) runs
//! its parts itself. A worker accesses a job only while it holds a seat. One atomic word counts the free and the taken seats: when every
//! part has begun, the caller withdraws the free seats and waits only for the seated workers. A worker that wakes up too late finds no
//! seat, so on a busy machine the caller loses only the help.

mod count;
mod shares;
mod worker;

pub use count::{num_cores, num_threads, set_num_threads};
pub use shares::Shares;

use super::tuning::SPIN_TIME;
use crate::alloc::{self, fork};
use crate::system;
use shares::Padded;
use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{mem, process, ptr, thread};
use worker::{Employer, Worker, lock};

/// The time that a worker sleeps before its thread ends. A thread that stayed would keep a process alive whose other threads have all
/// ended.
const IDLE_TIME: Duration = Duration::from_secs(2);

/// The time that the end of the process waits for idle workers to leave.
const EXIT_TIME: Duration = Duration::from_millis(200);

/// One free seat in `Pool::seats`. The lower bits count the seated workers.
const FREE_SEAT: u32 = 1 << 16;

/// In `Pool::seats`: the caller sleeps until the last worker leaves. Set only when no seat is free.
const CALLER_SLEEPS: u32 = 1 << 15;

static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

/// Runs `task(0), ..., task(parts - 1)`, each exactly once, on the calling thread and the pool's workers; returns when all are done. Each
/// thread begins with its [own parts](Shares), the calling thread with part 0.
///
/// A panic in a task abandons the parts that have not begun, and continues on the calling thread once the other tasks are done.
#[inline]
pub fn run(parts: usize, task: &(dyn Fn(usize) + Sync)) {
    if parts > 1 {
        let threads = num_threads();
        if threads > 1 && Pool::current().is_some_and(|pool| pool.try_run(parts, threads, task)) {
            return;
        }
    }
    (0..parts).for_each(task);
}

/// The call that the pool works on. `task` is on the caller's stack, so only the caller and seated workers read this struct.
#[derive(Clone, Copy)]
struct Call {
    task: *const (dyn Fn(usize) + Sync),
    parts: usize,
    helpers: usize,
}

/// The workers are boxed, so that their addresses, which their threads use, do not change.
#[allow(clippy::vec_box)]
type Workers = Vec<Box<Worker>>;

/// The state of one process's pool. It is never freed, since workers and the exit handler refer to it until the process ends.
struct Pool {
    /// Held by the thread whose job runs. Only the holder may change `job` and `workers`.
    busy: Padded<AtomicBool>,
    /// Free seats (in units of [`FREE_SEAT`]), [`CALLER_SLEEPS`], and the number of seated workers. 0 between jobs.
    seats: Padded<AtomicU32>,
    /// The parts that have not begun.
    shares: Shares,
    job: UnsafeCell<Call>,
    workers: UnsafeCell<Workers>,
    /// The number of workers that have ended because they had no work.
    gone: AtomicUsize,
    /// The last panic of the job.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    gate: Mutex<()>,
    all_left: Condvar,
    /// Tells the workers to return.
    ending: AtomicBool,
    /// The `fork::generation` of the process that made the pool. The workers do not exist in a child of `fork`.
    generation: u32,
    owner: u32,
    /// The pool of the parent process of a `fork`, kept so that leak checkers find its memory.
    _forked_from: *const Pool,
}

// SAFETY: only the holder of `busy` writes `job` and `workers`, while no worker is seated; other threads read them only when seated.
unsafe impl Sync for Pool {}

impl Employer for Pool {
    fn work(&self, worker: &Worker) {
        while self.wait_for_seat(worker) {
            // SAFETY: this thread is seated.
            let job = unsafe { *self.job.get() };
            self.wake(worker.index, job.helpers);
            self.take_parts(worker.index, job);
            self.leave();
        }
        self.count_gone();
    }
}

impl Pool {
    /// Returns the pool that was made last: by this process, or by a parent process before a `fork`.
    #[inline]
    fn latest() -> Option<&'static Pool> {
        // SAFETY: pools are never freed once they are in POOL.
        unsafe { POOL.load(Acquire).as_ref() }
    }

    /// Returns the pool of this process, or `None` if there is no memory for it.
    #[inline]
    fn current() -> Option<&'static Pool> {
        match Pool::latest() {
            Some(pool) if pool.generation == fork::generation() => Some(pool),
            forked_from => Pool::create(forked_from.map_or(ptr::null_mut(), |pool| ptr::from_ref(pool).cast_mut())),
        }
    }

    #[cold]
    fn create(forked_from: *mut Pool) -> Option<&'static Pool> {
        register_handler();
        let pool = Box::into_raw(alloc::boxed(Pool {
            busy: Padded(AtomicBool::new(false)),
            seats: Padded(AtomicU32::new(0)),
            shares: Shares::of(0, 1),
            job: UnsafeCell::new(Call { task: &|_| (), parts: 0, helpers: 0 }),
            workers: UnsafeCell::new(Vec::new()),
            gone: AtomicUsize::new(0),
            panic: Mutex::new(None),
            gate: Mutex::new(()),
            all_left: Condvar::new(),
            ending: AtomicBool::new(false),
            generation: fork::generation(),
            owner: process::id(),
            _forked_from: forked_from,
        })?);
        if POOL.compare_exchange(forked_from, pool, AcqRel, Acquire).is_err() {
            // SAFETY: another thread was first, so no thread has seen this pool.
            drop(unsafe { Box::from_raw(pool) });
        }
        Pool::latest()
    }

    fn take(&self) -> bool {
        !self.busy.0.load(Relaxed) && !self.busy.0.swap(true, Acquire)
    }

    /// Runs the job and returns true, unless the pool is busy or has no workers.
    fn try_run(&'static self, parts: usize, threads: usize, task: &(dyn Fn(usize) + Sync)) -> bool {
        if !self.take() {
            return false;
        }
        let helpers = self.spawn_workers(threads.min(parts) - 1);
        if helpers == 0 {
            self.busy.0.store(false, Release);
            return false;
        }
        // SAFETY: only the type loses the lifetime; `fork_join` returns after the last seated worker has left, so no thread uses `task`
        // later.
        let task = unsafe { mem::transmute::<*const (dyn Fn(usize) + Sync + '_), *const (dyn Fn(usize) + Sync)>(task) };
        // SAFETY: this thread holds `busy`, and no worker is seated.
        unsafe { *self.job.get() = Call { task, parts, helpers } };
        let panic = self.fork_join();
        self.busy.0.store(false, Release);
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
        true
    }

    /// Runs the job in `self.job`. Returns the last panic.
    fn fork_join(&self) -> Option<Box<dyn Any + Send>> {
        // SAFETY: this thread holds `busy`.
        let job = unsafe { *self.job.get() };
        self.shares.deal(job.parts, job.helpers + 1);
        self.seats.0.store(job.helpers as u32 * FREE_SEAT, Release);
        self.wake(0, job.helpers);
        self.take_parts(0, job);
        if !self.wait_for_workers() {
            return Some(Box::new("a parallel task forked the process: the parts of the other threads are lost"));
        }
        lock(&self.panic).take()
    }

    /// Runs parts as thread `index` until no part is left to begin.
    fn take_parts(&self, index: usize, job: Call) {
        // SAFETY: `run` returns, and drops the task, only after this thread has left.
        let task = unsafe { &*job.task };
        let take = || self.shares.each(index, task);
        if let Err(payload) = catch_unwind(AssertUnwindSafe(take)) {
            self.shares.abandon();
            // An earlier payload is leaked: dropping it may panic again, and a worker must not unwind past its seat.
            mem::forget(lock(&self.panic).replace(payload));
        }
    }

    /// Withdraws the free seats and waits until the seated workers have left. Returns false if they never will.
    fn wait_for_workers(&self) -> bool {
        let seated = self.seats.0.fetch_and(FREE_SEAT - 1, Acquire) % FREE_SEAT;
        if seated == 0 || spin_until(|| self.seats.0.load(Acquire) == 0) {
            return true;
        }
        self.seats.0.fetch_or(CALLER_SLEEPS, Relaxed);
        let mut gate = lock(&self.gate);
        while self.seats.0.load(Acquire) != CALLER_SLEEPS && self.generation == fork::generation() {
            gate = self.all_left.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        self.seats.0.swap(0, Relaxed) == CALLER_SLEEPS
    }

    /// Wakes the workers below thread `index` in the binary tree of threads (0 is the caller), so that no thread wakes all others.
    ///
    /// This is for the caller and seated workers only.
    fn wake(&self, index: usize, helpers: usize) {
        // SAFETY: `workers` does not change while a job runs, and this thread is part of a running job.
        let workers = unsafe { &*self.workers.get() };
        workers.iter().take(helpers).skip(2 * index).take(2).for_each(|worker| worker.call());
    }

    /// Starts workers until there are `wanted`, or until the system refuses, and returns the number of workers. Only the holder of `busy`
    /// may call this.
    fn spawn_workers(&'static self, wanted: usize) -> usize {
        // SAFETY: this thread holds `busy`, and no worker is seated.
        let workers = unsafe { &mut *self.workers.get() };
        if workers.len() >= wanted && self.gone.load(Relaxed) == 0 {
            return wanted;
        }
        let there = (0..wanted).find(|&k| !self.make_sure_of(workers, k)).unwrap_or(wanted);
        if there < wanted && there == workers.len() {
            // If the system refuses a new worker, the number of threads is lowered until it is set anew, since otherwise every call would
            // try again. A worker that existed before may be started again at any time.
            count::lower(there + 1);
        }
        there
    }

    /// Starts worker `k` unless it is running. All workers before it must exist. Returns false if the system refuses.
    fn make_sure_of(&'static self, workers: &mut Workers, k: usize) -> bool {
        if let Some(worker) = workers.get(k) {
            if !worker.is_gone() {
                return true;
            }
            // SAFETY: this thread holds `busy`, no thread runs in the worker, and the worker stays in its box.
            let started = unsafe { worker.start() };
            self.gone.fetch_sub(usize::from(started), Relaxed);
            return started;
        }
        if workers.try_reserve(1).is_err() {
            return false;
        }
        let Some(worker) = alloc::boxed(Worker::new(self, k + 1)) else { return false };
        workers.push(worker);
        // SAFETY: this thread holds `busy`, the worker is new, and it stays in its box.
        let started = unsafe { workers[k].start() };
        if !started {
            workers.pop();
        }
        started
    }

    /// Waits for a seat and takes it. Returns false if the worker must return, because the pool ends or has not called it for a long time.
    ///
    /// A job that expects a worker which is about to return is done without this worker, as if it had woken up too late.
    fn wait_for_seat(&self, worker: &Worker) -> bool {
        // No seat can be taken once `ending` is set, so `ending` tells afterwards whether a seat was taken.
        let called = || self.take_seat() || self.ending.load(Acquire);
        if !spin_until(called) {
            while !called() {
                if !worker.sleep(IDLE_TIME) {
                    return false;
                }
            }
        }
        !self.ending.load(Acquire)
    }

    /// Counts a worker that is about to return.
    fn count_gone(&self) {
        self.gone.fetch_add(1, Relaxed);
    }

    fn take_seat(&self) -> bool {
        self.seats.0.fetch_update(Acquire, Relaxed, |seats| (seats >= FREE_SEAT).then(|| seats - FREE_SEAT + 1)).is_ok()
    }

    /// Gives up the seat. The job may be gone after this.
    fn leave(&self) {
        if self.seats.0.fetch_sub(1, Release) == CALLER_SLEEPS + 1 {
            // The caller holds the gate from reading the seats until it sleeps. Locking the gate here ensures that the notification does
            // not fall in between.
            drop(lock(&self.gate));
            self.all_left.notify_one();
        }
    }

    /// Makes the workers return and keeps the pool busy, so that later calls run on their own thread.
    ///
    /// Does nothing while a job runs (`exit` was called inside a task, or concurrently with one), and in a process without workers because
    /// it was copied without running the fork handlers.
    fn end(&self) {
        if self.owner != process::id() || !self.take() {
            return;
        }
        self.ending.store(true, Release);
        // SAFETY: this thread holds `busy` for ever, and no worker is seated.
        let workers = unsafe { &mut *self.workers.get() };
        workers.iter().for_each(|worker| worker.call());
        let start = Instant::now();
        while !workers.iter().all(|worker| worker.is_gone()) {
            if start.elapsed() > EXIT_TIME {
                return;
            }
            thread::sleep(Duration::from_micros(20));
        }
        // SAFETY: this thread holds `busy`, and all workers are gone.
        workers.drain(..).for_each(|worker| unsafe { worker.join() });
    }
}

/// Spins for a short time until `ready` returns true. Returns false if it never did.
fn spin_until(ready: impl Fn() -> bool) -> bool {
    let mut start = None;
    loop {
        for _ in 0..32 {
            if ready() {
                return true;
            }
            std::hint::spin_loop();
        }
        if start.get_or_insert_with(Instant::now).elapsed() > SPIN_TIME {
            return false;
        }
    }
}

/// Registers a handler for the end of the process, or for the unloading of this library by `dlclose`.
fn register_handler() {
    static REGISTERED: AtomicBool = AtomicBool::new(false);
    if !REGISTERED.load(Acquire) {
        // Two threads may both get here, and the call may fail without memory. The handler may run twice. Without the handler workers run
        // on at exit.
        system::at_exit(at_exit);
        REGISTERED.store(true, Release);
    }
}

extern "C" fn at_exit() {
    if let Some(pool) = Pool::latest() {
        pool.end();
    }
}

#[cfg(test)]
mod tests {
    use super::count::MAX_THREADS;
    use super::*;
    use std::collections::HashSet;
    use std::sync::atomic::AtomicI32;

    /// Serialises tests that set the number of threads, or need the pool for themselves.
    static TURN: Mutex<()> = Mutex::new(());

    pub(super) fn with_threads(n: usize, test: impl FnOnce()) {
        let _turn = lock(&TURN);
        set_num_threads(n);
        test();
        set_num_threads(num_cores());
    }

    fn each_once(parts: usize) {
        let counts: Vec<AtomicUsize> = (0..parts).map(|_| AtomicUsize::new(0)).collect();
        run(parts, &|part| {
            counts[part].fetch_add(1, Relaxed);
        });
        assert!(counts.iter().all(|count| count.load(Relaxed) == 1), "{parts} parts: {counts:?}");
    }

    pub(super) fn wait_until(ready: impl Fn() -> bool) {
        while !ready() {
            thread::yield_now();
        }
    }

    /// Returns true if `n` threads run one job concurrently. Other tests may use the pool, so this tries for a while.
    pub(super) fn runs_concurrently(n: usize) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(5) {
            let (inside, met) = (AtomicUsize::new(0), AtomicBool::new(false));
            run(n, &|_| {
                inside.fetch_add(1, Relaxed);
                let entered = Instant::now();
                wait_until(|| met.fetch_or(inside.load(Relaxed) == n, Relaxed) || entered.elapsed() > Duration::from_millis(20));
                inside.fetch_sub(usize::from(!met.load(Relaxed)), Relaxed);
            });
            if met.into_inner() {
                return true;
            }
        }
        false
    }

    #[test]
    fn every_part_runs_exactly_once() {
        with_threads(3, || (0..70).chain([255, 1000, 4096]).for_each(each_once));
    }

    #[test]
    fn callers_may_come_from_many_threads() {
        with_threads(3, || {
            thread::scope(|scope| {
                for caller in 0..8 {
                    scope.spawn(move || (0..200).for_each(|round| each_once((caller + round) % 17)));
                }
            })
        });
    }

    /// Checks that a call runs on the calling thread alone.
    fn runs_alone() {
        let me = thread::current().id();
        run(20, &|_| assert_eq!(thread::current().id(), me));
    }

    #[test]
    fn nested_calls_run_on_their_own_thread() {
        let task = |_| {
            runs_alone();
            each_once(7);
        };
        with_threads(3, || run(5, &task));
    }

    /// Panics without a message on the terminal.
    fn fail(now: bool, part: usize) {
        if now {
            resume_unwind(Box::new(part));
        }
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_pool_survives() {
        with_threads(3, || {
            for bad in [0, 1, 7, 63] {
                let panic = catch_unwind(|| run(64, &|part| fail(part == bad, part))).expect_err("the panic was swallowed");
                assert_eq!(panic.downcast_ref(), Some(&bad));
                each_once(64);
            }
            assert!(catch_unwind(|| run(64, &|part| fail(true, part))).is_err() && runs_concurrently(3));
        });
    }

    #[test]
    fn the_number_of_threads_is_kept_within_bounds_and_obeyed() {
        with_threads(0, || {
            assert_eq!(num_threads(), 1);
            runs_alone();
            set_num_threads(usize::MAX);
            assert_eq!(num_threads(), MAX_THREADS);
            set_num_threads(5);
            assert!(runs_concurrently(5));
            set_num_threads(2);
            let threads = Mutex::new(HashSet::new());
            run(100, &|_| lock(&threads).extend([thread::current().id()]));
            assert!(lock(&threads).len() <= 2);
        });
    }

    /// Forks. A child that hangs is killed.
    fn fork() -> i32 {
        // SAFETY: the child uses only the pool and the allocator, which both support fork, and exits in `in_child`.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::alarm(10);
            }
            child
        }
    }

    fn exit_status(child: i32) -> Option<i32> {
        let mut status = 0;
        // SAFETY: `child` is a child of this process, and no other thread waits for it.
        unsafe { libc::waitpid(child, &mut status, 0) };
        libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status))
    }

    /// Runs `test` in a child process and returns the exit status of the child: 0 if `test` returned true.
    pub(super) fn in_child(test: impl FnOnce() -> bool) -> Option<i32> {
        match fork() {
            // SAFETY: `exit` runs the exit handlers, including the pool's, and never returns.
            0 => unsafe { libc::exit(if matches!(catch_unwind(AssertUnwindSafe(test)), Ok(true)) { 0 } else { 1 }) },
            child => exit_status(child),
        }
    }

    #[test]
    fn a_forked_child_has_a_pool_of_its_own() {
        with_threads(3, || {
            let generations = || runs_concurrently(3) && in_child(|| runs_concurrently(3)) == Some(0);
            assert!(runs_concurrently(3) && in_child(generations) == Some(0) && runs_concurrently(3));
        });
    }

    #[test]
    fn a_child_forked_beside_a_job_does_not_hang() {
        with_threads(3, || {
            let stop = AtomicBool::new(false);
            thread::scope(|scope| {
                scope.spawn(|| {
                    while !stop.load(Relaxed) {
                        each_once(9)
                    }
                });
                let fine = (0..10).all(|_| in_child(|| runs_concurrently(2)) == Some(0));
                stop.store(true, Relaxed);
                assert!(fine);
            });
        });
    }

    #[test]
    fn a_child_forked_inside_a_job_misses_the_parts_of_others_but_does_not_hang() {
        let fork_inside = || {
            let (me, inside, child) = (thread::current().id(), AtomicUsize::new(0), AtomicI32::new(-1));
            let task = |_| {
                inside.fetch_add(1, Relaxed);
                wait_until(|| inside.load(Relaxed) == 2);
                if thread::current().id() == me {
                    child.store(fork(), Relaxed);
                }
                wait_until(|| child.load(Relaxed) >= 0);
            };
            let result = catch_unwind(AssertUnwindSafe(|| run(2, &task)));
            match child.into_inner() {
                0 => result.is_err() && runs_concurrently(2),
                child => result.is_ok() && exit_status(child) == Some(0),
            }
        };
        with_threads(2, || assert_eq!(in_child(fork_inside), Some(0)));
    }

    #[test]
    fn the_pool_ends_once_and_calls_go_on_alone() {
        let ends = || {
            let met = runs_concurrently(3);
            let Some(pool) = Pool::current() else { return false };
            pool.end();
            pool.end();
            runs_alone();
            // SAFETY: the workers are gone, and this is the only thread of its process.
            met && unsafe { &*pool.workers.get() }.is_empty()
        };
        with_threads(3, || assert_eq!(in_child(ends), Some(0)));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_the_system_refuses_is_done_without() {
        let starved = || {
            let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
            let limit = pages.unwrap_or(0) * 4096 + (16 << 20);
            // SAFETY: the pointer is valid during the call, and the limit is set for this child only.
            unsafe { libc::setrlimit(libc::RLIMIT_AS, &libc::rlimit { rlim_cur: limit, rlim_max: limit }) };
            set_num_threads(500);
            each_once(1000);
            let found = num_threads();
            each_once(1000);
            found < 500 && found == num_threads()
        };
        with_threads(3, || assert_eq!(in_child(starved), Some(0)));
    }
}
