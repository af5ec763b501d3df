//! The number of threads that a call may use.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// The limit of [`set_num_threads`]: more threads than machines of today have, and as many as the pool's seat word can count.
pub(super) const MAX_THREADS: usize = 1024;

/// The number of threads that a call may use; 0 until the first query.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of CPUs that this process may run on, as found by the first call.
pub fn num_cores() -> usize {
    static CORES: AtomicUsize = AtomicUsize::new(0);
    if CORES.load(Relaxed) == 0 {
        CORES.store(thread::available_parallelism().map_or(1, |n| n.get()), Relaxed);
    }
    CORES.load(Relaxed)
}

/// Returns the number of threads that a call may use, including the calling one.
///
/// The initial number is the environment variable `TH_NUM_THREADS`, or else [`num_cores`]. It is lower if the system refused to start more
/// threads.
#[inline]
pub fn num_threads() -> usize {
    match THREADS.load(Relaxed) {
        0 => initial_threads(),
        threads => threads,
    }
}

#[cold]
fn initial_threads() -> usize {
    let wanted = std::env::var("TH_NUM_THREADS").ok().and_then(|text| text.trim().parse().ok());
    let threads = wanted.filter(|&n: &usize| n > 0).unwrap_or_else(num_cores).min(MAX_THREADS);
    // A number that another thread has set meanwhile wins.
    let _ = THREADS.compare_exchange(0, threads, Relaxed, Relaxed);
    THREADS.load(Relaxed)
}

/// Sets the number of threads that a call may use, including the calling one, from the next call on. `n` is clamped to 1 ..= 1024.
pub fn set_num_threads(n: usize) {
    THREADS.store(n.clamp(1, MAX_THREADS), Relaxed);
}

/// Lowers the number of threads to at most `n` until it is set anew.
pub(super) fn lower(n: usize) {
    THREADS.fetch_min(n, Relaxed);
}
