//! One word that every call reads. It is 0 while all memory is the host's and nobody looks on at calls.

use std::sync::atomic::{AtomicUsize, Ordering};

static WORD: AtomicUsize = AtomicUsize::new(0);
/// Set for good once memory was made on a GPU, or asked for.
pub(crate) const GPUS: usize = 1;
/// Set for good once a program uses gradients.
pub(crate) const GRADIENTS: usize = 2;
/// One thread that notes its work instead of doing it (`launch::record`); such threads are counted above the other bits.
const NOTING: usize = 4;

/// The word.
#[inline(always)]
pub fn word() -> usize {
    WORD.load(Ordering::Relaxed)
}

/// Sets a bit for good.
#[inline(always)]
pub fn set(bit: usize) {
    if word() & bit == 0 {
        WORD.fetch_or(bit, Ordering::Relaxed);
    }
}

/// Counts one thread more that notes its work.
pub fn begin_noting() {
    WORD.fetch_add(NOTING, Ordering::Relaxed);
}

/// Counts one thread less that notes its work.
pub fn end_noting() {
    WORD.fetch_sub(NOTING, Ordering::Relaxed);
}
