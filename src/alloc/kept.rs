//! Memory that other modules keep for reuse: it is counted with the cache, and given up with it.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering::Relaxed};

static BYTES: AtomicI64 = AtomicI64::new(0);
/// The function that gives up what is kept, or NULL.
static GIVE_UP: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// Counts bytes that are kept from now on, or no longer where there are less than 0; `give_up`, always the same function, lets go of them.
pub fn keep(bytes: i64, give_up: fn()) {
    GIVE_UP.store(give_up as *mut (), Relaxed);
    BYTES.fetch_add(bytes, Relaxed);
}

/// Bytes that are kept.
pub(super) fn bytes() -> i64 {
    BYTES.load(Relaxed)
}

/// Lets go of them.
pub(super) fn empty() {
    let give_up = GIVE_UP.load(Relaxed);
    if !give_up.is_null() {
        // SAFETY: `keep` stored a function of this type.
        unsafe { std::mem::transmute::<*mut (), fn()>(give_up)() };
    }
}
