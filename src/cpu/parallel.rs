//! Divides work among the threads of the pool.

use super::pool;
pub(crate) use super::tuning::{CHEAP, COSTLY};
use std::ops::Range;

/// Divides `units` pieces of `area` elements among the threads and calls `task` with ranges of pieces.
pub fn parallel(units: usize, area: usize, grain: usize, task: &(dyn Fn(Range<usize>) + Sync)) {
    let threads = pool::num_threads();
    let worth = (units.saturating_mul(area) / grain).min(units);
    if worth < 2 || threads < 2 {
        return task(0..units);
    }
    // There are more parts than threads, so that other threads can do the parts of a late or slow thread.
    let parts = worth.min(4 * threads);
    pool::run(parts, &|p| {
        let range = units * p / parts..units * (p + 1) / parts;
        if !range.is_empty() {
            task(range)
        }
    });
}

/// A pointer that other threads may use. The plan divides the memory behind the pointer among the threads.
#[derive(Clone, Copy)]
pub struct Shared(pub *mut u8);

impl Shared {
    /// Returns the pointer. This is a method, so that closures capture the whole `Shared`.
    #[inline(always)]
    pub fn get(self) -> *mut u8 {
        self.0
    }
}

// SAFETY: the plan divides the memory behind the pointer among the threads.
unsafe impl Send for Shared {}
// SAFETY: the plan divides the memory behind the pointer among the threads.
unsafe impl Sync for Shared {}
