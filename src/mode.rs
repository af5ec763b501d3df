//! Process-wide flags, tested with one load at each call. 0 means no GPU, no gradients and no recording thread.

use std::sync::atomic::{AtomicUsize, Ordering};

static FLAGS: AtomicUsize = AtomicUsize::new(0);
/// Set at the first use of memory on a GPU; never cleared.
pub(crate) const GPUS: usize = 1;
/// Set at the first use of gradients; never cleared.
pub(crate) const GRADIENTS: usize = 2;
/// The unit of the count of threads that record work instead of doing it (`launch::record`). The count is above the other bits.
const NOTING: usize = 4;

/// The flags.
#[inline(always)]
pub fn flags() -> usize {
    FLAGS.load(Ordering::Relaxed)
}

/// Sets a flag. Flags are never cleared.
#[inline(always)]
pub fn set(bit: usize) {
    if flags() & bit == 0 {
        FLAGS.fetch_or(bit, Ordering::Relaxed);
    }
}

/// Adds one to the number of recording threads.
pub fn begin_noting() {
    FLAGS.fetch_add(NOTING, Ordering::Relaxed);
}

/// Subtracts one from the number of recording threads.
pub fn end_noting() {
    FLAGS.fetch_sub(NOTING, Ordering::Relaxed);
}
