//! Locks and handlers for processes that fork.
//!
//! A child of `fork` has one thread. A lock that another thread of the parent held at that moment would stay locked in the child for ever.
//! The handlers below are the only ones that the library registers. Before the fork they wait until no thread is inside a critical section,
//! and keep other threads out of critical sections until the fork is done. So the child finds every [`ForkMutex`] unlocked, and the guarded
//! values whole.
//!
//! A critical section may contain operations, parts of which run on the pool's workers. So workers must not begin critical sections: a
//! worker would wait for the fork, and the fork for the worker.
//!
//! A [`LongMutex`] may be held while a file is written or a function of the caller runs, which a fork cannot wait for. Locking such a mutex
//! fails in the child if a thread of the parent was using it.

use super::cache;
use crate::error::{Error, Kind, Result};
use crate::system;
use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The number of counters of critical sections. Threads are spread over the counters, so that few threads share a cache line.
const SHARDS: usize = 16;

/// A counter in a cache line without other data.
#[repr(align(128))]
struct Shard(AtomicUsize);

/// The number of threads inside critical sections.
static INSIDE: [Shard; SHARDS] = [const { Shard(AtomicUsize::new(0)) }; SHARDS];

/// True while the process forks.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// The number of forks between the first process and this one.
static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Held by the thread that forks. Threads that find the sections closed wait for this lock.
static FORKING: Mutex<()> = Mutex::new(());

thread_local! {
    /// The number of critical sections that this thread is inside, one within the other.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Returns a number that differs between a process and its children.
#[inline(always)]
pub fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// A critical section, which ends when the value is dropped. A fork waits for the end.
pub struct Section {
    /// Sections stay on their thread.
    _here: std::marker::PhantomData<*const ()>,
}

/// The counter of the calling thread. The address of a thread-local variable tells threads apart.
fn shard(depth: &Cell<u32>) -> &'static AtomicUsize {
    let address = std::ptr::from_ref(depth).addr();
    &INSIDE[(address >> 12 ^ address >> 20) % SHARDS].0
}

/// Begins a critical section. A section inside another one costs an addition.
#[inline]
pub fn section() -> Section {
    DEPTH.with(|depth| {
        if depth.replace(depth.get() + 1) == 0 {
            enter(shard(depth));
        }
    });
    Section { _here: std::marker::PhantomData }
}

#[inline]
fn enter(shard: &AtomicUsize) {
    // Both sides write before they read: either `prepare` sees this thread, or this thread sees that the sections are closed.
    shard.fetch_add(1, Ordering::SeqCst);
    if CLOSED.load(Ordering::SeqCst) {
        wait_outside(shard);
    }
}

#[cold]
fn wait_outside(shard: &AtomicUsize) {
    while CLOSED.load(Ordering::SeqCst) {
        shard.fetch_sub(1, Ordering::SeqCst);
        drop(FORKING.lock().unwrap_or_else(PoisonError::into_inner));
        shard.fetch_add(1, Ordering::SeqCst);
    }
}

impl Drop for Section {
    #[inline]
    fn drop(&mut self) {
        DEPTH.with(|depth| {
            depth.set(depth.get() - 1);
            if depth.get() == 0 {
                shard(depth).fetch_sub(1, Ordering::SeqCst);
            }
        });
    }
}

/// Calls `f` inside a critical section.
pub fn within<R>(f: impl FnOnce() -> R) -> R {
    let _section = section();
    f()
}

/// A mutex whose lock is a critical section: no thread holds the mutex while the process forks.
#[derive(Default)]
pub struct ForkMutex<T>(Mutex<T>);

/// The lock of a [`ForkMutex`].
pub struct ForkGuard<'a, T> {
    // Fields are dropped in this order: the mutex is unlocked before the section ends.
    guard: MutexGuard<'a, T>,
    _section: Section,
}

impl<T> ForkMutex<T> {
    /// A mutex around a value.
    pub const fn new(value: T) -> ForkMutex<T> {
        ForkMutex(Mutex::new(value))
    }

    /// Locks the mutex. A panic of another holder is ignored, because the guarded values are consistent at every point.
    #[inline]
    pub fn lock(&self) -> ForkGuard<'_, T> {
        let section = section();
        ForkGuard { guard: self.0.lock().unwrap_or_else(PoisonError::into_inner), _section: section }
    }

    /// The value, which no other thread can reach.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Deref for ForkGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for ForkGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// A mutex that may be held for long. Locking fails in a child of `fork` if another thread of the parent was using the mutex.
pub struct LongMutex<T> {
    mutex: Mutex<T>,
    /// The generation of the process in the upper half, the number of threads that hold the mutex or wait for it in the lower half.
    users: AtomicU64,
}

/// The lock of a [`LongMutex`].
pub struct LongGuard<'a, T> {
    // Fields are dropped in this order: the mutex is unlocked before the user leaves.
    guard: MutexGuard<'a, T>,
    _user: User<'a>,
}

struct User<'a>(&'a AtomicU64);

impl Drop for User<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl<T> LongMutex<T> {
    /// A mutex around a value.
    pub const fn new(value: T) -> LongMutex<T> {
        LongMutex { mutex: Mutex::new(value), users: AtomicU64::new(0) }
    }

    /// Locks the mutex; an error if a thread of the parent process was using the mutex when the process forked.
    pub fn lock(&self) -> Result<LongGuard<'_, T>> {
        let now = u64::from(generation()) << 32;
        let enter = |users: u64| match users as u32 {
            0 => Some(now + 1),
            _ => (users & !u64::from(u32::MAX) == now).then(|| users + 1),
        };
        if self.users.fetch_update(Ordering::Acquire, Ordering::Relaxed, enter).is_err() {
            return Err(left_behind());
        }
        let user = User(&self.users);
        Ok(LongGuard { guard: self.mutex.lock().unwrap_or_else(PoisonError::into_inner), _user: user })
    }
}

#[cold]
fn left_behind() -> Error {
    Error::new(Kind::Argument, format_args!("another thread of the parent process was using the handle when the process forked"))
}

impl<T> Deref for LongGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for LongGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// The value of a cell. The first call computes it by `make`. A fork waits for the end of `make`, so that no child finds the cell half
/// initialised.
#[inline]
pub fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    match cell.get() {
        Some(value) => value,
        None => within(|| cell.get_or_init(make)),
    }
}

/// The locks that are held while the process forks.
struct Held(UnsafeCell<Option<(MutexGuard<'static, ()>, cache::Guard)>>);

// SAFETY: `prepare`, `in_parent` and `in_child` alone touch the guards, while their thread holds FORKING.
unsafe impl Sync for Held {}

static HELD: Held = Held(UnsafeCell::new(None));

/// Registers the handlers when the library is loaded, because another thread may fork during the first allocation. If there is no
/// `.init_array`, or a linker omits the entry, the first allocation registers them.
#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = register;

/// Registers the handlers, once.
pub(super) extern "C" fn register() {
    static DONE: AtomicBool = AtomicBool::new(false);
    if !DONE.load(Ordering::Relaxed) && !DONE.swap(true, Ordering::Relaxed) {
        system::at_fork(prepare, in_parent, in_child);
    }
}

extern "C" fn prepare() {
    let forking = FORKING.lock().unwrap_or_else(PoisonError::into_inner);
    // A function of the caller may fork inside a critical section, a hook of the memory limit for example. Other threads may wait for that
    // section while they are inside sections themselves, so that waiting for all threads would not end.
    if DEPTH.get() == 0 {
        CLOSED.store(true, Ordering::SeqCst);
        for shard in &INSIDE {
            while shard.0.load(Ordering::SeqCst) != 0 {
                std::thread::yield_now();
            }
        }
    }
    let cache = cache::lock();
    // SAFETY: this thread holds FORKING.
    unsafe { *HELD.0.get() = Some((forking, cache)) };
}

extern "C" fn in_parent() {
    open();
}

extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
    // The parent's other threads do not exist in the child, so their counts are removed.
    INSIDE.iter().for_each(|shard| shard.0.store(0, Ordering::SeqCst));
    DEPTH.with(|depth| shard(depth).store(usize::from(depth.get() != 0), Ordering::SeqCst));
    open();
}

fn open() {
    CLOSED.store(false, Ordering::SeqCst);
    // SAFETY: FORKING is held by this thread, or by the parent's thread of which this one is a copy.
    drop(unsafe { (*HELD.0.get()).take() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    /// The exit status of a child in which `test` runs. A child that hangs ends by a signal after ten seconds.
    fn child(test: impl FnOnce() -> bool) -> Option<i32> {
        // SAFETY: the child calls functions of this library and ends at once.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::alarm(10);
                libc::_exit(i32::from(!test()));
            }
            let mut status = 0;
            (libc::waitpid(child, &raw mut status, 0) == child && libc::WIFEXITED(status)).then(|| libc::WEXITSTATUS(status))
        }
    }

    #[test]
    fn a_child_finds_a_mutex_free_and_its_value_whole() {
        register();
        static PAIR: ForkMutex<(u64, u64)> = ForkMutex::new((0, 0));
        let (done, forks) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        let mut outer = PAIR.lock();
                        let _inner = section();
                        outer.0 += 1;
                        std::hint::black_box(&mut *outer);
                        outer.1 += 1;
                    }
                });
            }
            for _ in 0..100 {
                let whole = || {
                    let pair = PAIR.lock();
                    pair.0 == pair.1
                };
                if child(whole) == Some(0) {
                    forks.fetch_add(1, Ordering::Relaxed);
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(forks.into_inner(), 100);
    }

    #[test]
    fn a_long_mutex_of_another_thread_is_an_error_in_the_child() {
        register();
        let (free, used, held) = (LongMutex::new(1), LongMutex::new(2), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let guard = used.lock().expect("nobody has it");
                held.store(true, Ordering::Release);
                while held.load(Ordering::Acquire) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                drop(guard);
            });
            while !held.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            let seen = child(|| free.lock().is_ok_and(|value| *value == 1) && used.lock().is_err() && free.lock().is_ok());
            held.store(false, Ordering::Release);
            assert_eq!(seen, Some(0));
        });
        assert!(used.lock().is_ok_and(|value| *value == 2));
        assert_eq!(child(|| used.lock().is_ok_and(|value| *value == 2)), Some(0));
    }

    #[test]
    fn a_thread_inside_a_section_may_fork() {
        register();
        let section = section();
        assert_eq!(child(|| !super::super::live_bytes().is_negative()), Some(0));
        drop(section);
        assert_eq!(child(|| generation() > 0), Some(0));
    }
}
