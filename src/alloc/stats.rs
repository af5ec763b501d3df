//! Memory statistics. Each thread updates its own counters; readers add them up.

use super::counters::{Counters, peak};
use super::thread::{self, NOBODY};
use super::{cache, current, kept, limit};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Memory statistics of the process, as reported by `THMemory_stats`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct THMemoryStats {
    /// The number of allocated bytes, including memory of other allocators. Exact while no thread allocates.
    pub live_bytes: i64,
    /// The greatest observed value of `live_bytes`. Threads report every 64 KiB, but not while they reuse small blocks.
    pub peak_bytes: i64,
    /// The number of bytes kept for reuse: freed blocks, including the lists of all threads, and plans of Fourier transforms.
    pub cached_bytes: i64,
    /// The maximum number of bytes in the cache that all threads share.
    pub cache_limit: i64,
    /// The number of allocated blocks so far.
    pub allocations: i64,
    /// The number of allocated blocks so far that were reused.
    pub cache_hits: i64,
}

/// Adds to the calling thread's counters, and informs the soft limit of a rise.
fn count(live: i64, allocations: i64, misses: i64) {
    let thread = current::get();
    let shared = std::ptr::eq(thread, &NOBODY);
    if let Some(sum) = thread.counters.add(live, allocations, misses, shared) {
        limit::rose(sum, live_bytes);
    }
}

/// Counts an allocation of `bytes` that the thread's lists did not serve. May call the soft limit's hook.
pub(super) fn allocated(bytes: usize, hit: bool) {
    count(bytes as i64, 1, i64::from(!hit));
}

/// Counts the release of `bytes` to another place than the thread's lists.
pub(super) fn released(bytes: usize) {
    count(-(bytes as i64), 0, 0);
}

/// Adds to the live bytes memory of other allocators: mappings, foreign memory, a user's allocator. May call the soft limit's hook.
pub fn adjust_live(delta: isize) {
    count(delta as i64, 0, 0);
}

fn sum(counter: impl Fn(&Counters) -> &AtomicI64) -> i64 {
    thread::all().map(|thread| counter(&thread.counters).load(Relaxed)).fold(0, i64::wrapping_add)
}

/// The number of bytes that are allocated and not yet released.
pub fn live_bytes() -> i64 {
    sum(|counters| &counters.live)
}

/// The current statistics.
pub fn stats() -> THMemoryStats {
    let (live, allocations) = (live_bytes(), sum(|counters| &counters.allocations));
    THMemoryStats {
        live_bytes: live,
        peak_bytes: peak(live),
        cached_bytes: thread::all().map(|thread| thread.listed_bytes()).sum::<i64>() + cache::bytes() as i64 + kept::bytes(),
        cache_limit: i64::try_from(cache::limit()).unwrap_or(i64::MAX),
        allocations,
        cache_hits: allocations.wrapping_sub(sum(|counters| &counters.misses)),
    }
}
