//! Counters of memory. Each thread updates its own, and adds them to a common sum from time to time.

use super::limit;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// The counters of one thread.
pub(super) struct Counters {
    pub(super) live: AtomicI64,
    pub(super) allocations: AtomicI64,
    pub(super) misses: AtomicI64,
    /// The part of `live` that has been added to [`LIVE`].
    published: AtomicI64,
}

/// The sum of all threads' `live`. The part of each thread is late by less than [`STEP`], and by the small blocks that the thread reuses.
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

/// The change of a thread's `live`, in bytes, from which it is added to [`LIVE`].
const STEP: u64 = 64 << 10;

/// Adds to a counter that no other thread writes, so that no locked instruction is needed.
#[inline(always)]
fn bump(counter: &AtomicI64, delta: i64) {
    counter.store(counter.load(Relaxed).wrapping_add(delta), Relaxed);
}

impl Counters {
    pub(super) const fn new() -> Counters {
        Counters { live: AtomicI64::new(0), allocations: AtomicI64::new(0), misses: AtomicI64::new(0), published: AtomicI64::new(0) }
    }

    /// Counts a request of `bytes` that the owner's lists served.
    #[inline(always)]
    pub(super) fn taken(&self, bytes: usize) {
        bump(&self.live, bytes as i64);
        bump(&self.allocations, 1);
    }

    /// Counts the release of `bytes` to the owner's lists.
    #[inline(always)]
    pub(super) fn put(&self, bytes: usize) {
        bump(&self.live, -(bytes as i64));
    }

    /// Adds the change of `live` since the last call to [`LIVE`]. `shared` is true if other threads use these counters. Returns the new sum
    /// if it has grown.
    pub(super) fn publish(&self, shared: bool) -> Option<i64> {
        let live = self.live.load(Relaxed);
        let published = if shared {
            self.published.swap(live, Relaxed)
        } else {
            let published = self.published.load(Relaxed);
            self.published.store(live, Relaxed);
            published
        };
        let delta = live.wrapping_sub(published);
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

    /// Adds to all three counters. `shared` is true if other threads use them. Returns the new sum if the change was added to [`LIVE`] and
    /// the sum has grown.
    pub(super) fn add(&self, live: i64, allocations: i64, misses: i64, shared: bool) -> Option<i64> {
        for (counter, delta) in [(&self.live, live), (&self.allocations, allocations), (&self.misses, misses)] {
            match shared {
                true => _ = counter.fetch_add(delta, Relaxed),
                false => bump(counter, delta),
            }
        }
        let unpublished = self.live.load(Relaxed).wrapping_sub(self.published.load(Relaxed)).unsigned_abs();
        if unpublished >= STEP { self.publish(shared) } else { None }
    }
}

/// The maximum of live memory so far; `live` is its current value.
pub(super) fn peak(live: i64) -> i64 {
    PEAK.fetch_max(live, Relaxed).max(live)
}
