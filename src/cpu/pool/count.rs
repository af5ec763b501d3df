//! How many threads a call may use.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// More threads than any machine this runs on has; the pool's seat word has room for this many.
pub(super) const MAX_THREADS: usize = 1024;

/// Threads a call may use; 0 until first asked for.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The number of CPUs this process may run on, as found by the first call.
pub fn num_cores() -> usize {
    static CORES: AtomicUsize = AtomicUsize::new(0);
    if CORES.load(Relaxed) == 0 {
        CORES.store(thread::available_parallelism().map_or(1, |n| n.get()), Relaxed);
    }
    CORES.load(Relaxed)
}

/// The number of threads a call may use, the calling one included.
///
/// Initially the environment variable `TH_NUM_THREADS`, or else [`num_cores`]; less when the system refused to start more.
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
    // A number set meanwhile prevails.
    let _ = THREADS.compare_exchange(0, threads, Relaxed, Relaxed);
    THREADS.load(Relaxed)
}

/// Sets how many threads a call may use, the calling one included, from the next call on; clamped to 1 ..= 1024.
pub fn set_num_threads(n: usize) {
    THREADS.store(n.clamp(1, MAX_THREADS), Relaxed);
}

/// Makes do with `n` threads until the number is set anew.
pub(super) fn lower(n: usize) {
    THREADS.fetch_min(n, Relaxed);
}
