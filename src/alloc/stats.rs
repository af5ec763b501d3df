//! Counting memory: each thread writes counters of its own, and who asks adds them up.

use super::thread::{self, NOBODY};
use super::{cache, current, limit};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// Memory held and kept, as `THMemory_stats` reports it.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct THMemoryStats {
    /// Bytes asked for and not yet released, memory of other allocators included. Exact while no thread allocates.
    pub live_bytes: i64,
    /// The most that `live_bytes` has been, as far as noticed: threads report every 64 KiB, and not while they reuse small blocks.
    pub peak_bytes: i64,
    /// Bytes of released blocks kept for reuse, the lists of all threads included.
    pub cached_bytes: i64,
    /// The most bytes that the cache shared by all threads keeps.
    pub cache_limit: i64,
    /// Blocks handed out so far.
    pub allocations: i64,
    /// Those among them that were reused ones.
    pub cache_hits: i64,
}

/// One thread's counters.
pub(super) struct Counters {
    live: AtomicI64,
    allocations: AtomicI64,
    misses: AtomicI64,
    /// The part of `live` that [`LIVE`] knows of.
    settled: AtomicI64,
}

/// The sum of all `live`, behind by less than [`STEP`] and what small blocks are being reused, for each thread.
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

/// How far a thread's count may move before it tells [`LIVE`].
const STEP: u64 = 64 << 10;

/// Adds to a counter that no other thread writes: no locked instruction.
#[inline(always)]
fn bump(counter: &AtomicI64, delta: i64) {
    counter.store(counter.load(Relaxed).wrapping_add(delta), Relaxed);
}

impl Counters {
    pub(super) const fn new() -> Counters {
        Counters { live: AtomicI64::new(0), allocations: AtomicI64::new(0), misses: AtomicI64::new(0), settled: AtomicI64::new(0) }
    }

    /// A block left the owner's lists for a request of `bytes`.
    #[inline(always)]
    pub(super) fn taken(&self, bytes: usize) {
        bump(&self.live, bytes as i64);
        bump(&self.allocations, 1);
    }

    /// A block that served a request of `bytes` joined the owner's lists.
    #[inline(always)]
    pub(super) fn put(&self, bytes: usize) {
        bump(&self.live, -(bytes as i64));
    }

    /// Tells [`LIVE`] what was counted since the last time, `shared` if other threads count here too; the new sum when it has grown.
    pub(super) fn settle(&self, shared: bool) -> Option<i64> {
        let live = self.live.load(Relaxed);
        let settled = if shared {
            self.settled.swap(live, Relaxed)
        } else {
            let settled = self.settled.load(Relaxed);
            self.settled.store(live, Relaxed);
            settled
        };
        let delta = live.wrapping_sub(settled);
        let sum = LIVE.fetch_add(delta, Relaxed).wrapping_add(delta);
        if delta <= 0 {
            limit::fell(sum);
            return None;
        }
        if sum > PEAK.load(Relaxed) {
            PEAK.fetch_max(sum, Relaxed);
        }
        Some(sum)
    }
}

/// Changes the calling thread's counters, and once it is worth it tells [`LIVE`] and the soft limit.
fn count(live: i64, allocations: i64, misses: i64) {
    let thread = current::get();
    let counters = &thread.counters;
    let shared = std::ptr::eq(thread, &NOBODY);
    for (counter, delta) in [(&counters.live, live), (&counters.allocations, allocations), (&counters.misses, misses)] {
        match shared {
            true => _ = counter.fetch_add(delta, Relaxed),
            false => bump(counter, delta),
        }
    }
    let unsettled = counters.live.load(Relaxed).wrapping_sub(counters.settled.load(Relaxed)).unsigned_abs();
    if unsettled >= STEP
        && let Some(sum) = counters.settle(shared)
    {
        limit::rose(sum);
    }
}

/// A block for a request of `bytes` came from elsewhere than the thread's lists. May call the soft limit's hook.
pub(super) fn allocated(bytes: usize, hit: bool) {
    count(bytes as i64, 1, i64::from(!hit));
}

/// A block that served a request of `bytes` went elsewhere than to the thread's lists.
pub(super) fn released(bytes: usize) {
    count(-(bytes as i64), 0, 0);
}

/// Counts memory that thorn holds through other allocators: mappings, foreign data, a user's own. May call the soft limit's hook.
pub fn adjust_live(delta: isize) {
    count(delta as i64, 0, 0);
}

fn sum(counter: impl Fn(&Counters) -> &AtomicI64) -> i64 {
    thread::all().map(|thread| counter(&thread.counters).load(Relaxed)).fold(0, i64::wrapping_add)
}

/// The bytes asked for and not yet released.
pub fn live_bytes() -> i64 {
    sum(|counters| &counters.live)
}

/// Memory held and kept.
pub fn stats() -> THMemoryStats {
    let (live, allocations) = (live_bytes(), sum(|counters| &counters.allocations));
    THMemoryStats {
        live_bytes: live,
        peak_bytes: PEAK.fetch_max(live, Relaxed).max(live),
        cached_bytes: thread::all().map(|thread| thread.listed_bytes()).sum::<i64>() + cache::bytes() as i64,
        cache_limit: i64::try_from(cache::limit()).unwrap_or(i64::MAX),
        allocations,
        cache_hits: allocations.wrapping_sub(sum(|counters| &counters.misses)),
    }
}
