//! Work cut into pieces for the threads of the pool.

use super::pool;
pub(crate) use super::tuning::{CHEAP, COSTLY};
use std::ops::Range;

/// Divides `units` pieces of `area` elements among the threads and calls `task` with ranges of them.
pub fn parallel(units: usize, area: usize, grain: usize, task: &(dyn Fn(Range<usize>) + Sync)) {
    let threads = pool::num_threads();
    let worth = (units.saturating_mul(area) / grain).min(units);
    if worth < 2 || threads < 2 {
        return task(0..units);
    }
    // More parts than threads, so that a late or slow thread leaves its share to the others.
    let parts = worth.min(4 * threads);
    pool::run(parts, &|p| {
        let range = units * p / parts..units * (p + 1) / parts;
        if !range.is_empty() {
            task(range)
        }
    });
}

/// A pointer that crosses threads; what it points to is divided among them by the plan.
#[derive(Clone, Copy)]
pub struct Shared(pub *mut u8);

impl Shared {
    /// The pointer. A method, so that closures capture the whole.
    #[inline(always)]
    pub fn get(self) -> *mut u8 {
        self.0
    }
}

// SAFETY: see the type.
unsafe impl Send for Shared {}
// SAFETY: see the type.
unsafe impl Sync for Shared {}
