//! Memory that other modules keep for reuse: it is counted with the cache, and given up with it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

static BYTES: AtomicI64 = AtomicI64::new(0);
static GIVE_UP: OnceLock<fn()> = OnceLock::new();

/// Counts bytes that are kept from now on, or no longer where there are less than 0; `give_up`, always the same function, lets go of them.
pub fn keep(bytes: i64, give_up: fn()) {
    super::fork::once(&GIVE_UP, || give_up);
    BYTES.fetch_add(bytes, Relaxed);
}

/// Bytes that are kept.
pub(super) fn bytes() -> i64 {
    BYTES.load(Relaxed)
}

/// Lets go of them.
pub(super) fn empty() {
    if let Some(give_up) = GIVE_UP.get() {
        give_up();
    }
}
