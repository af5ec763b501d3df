//! Memory that other modules keep for reuse. It is counted as cached memory, and freed when the cache is emptied.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicI64, AtomicPtr, Ordering::Relaxed};

static BYTES: AtomicI64 = AtomicI64::new(0);
/// The function that frees the kept memory, or NULL.
static GIVE_UP: AtomicPtr<()> = AtomicPtr::new(null_mut());

/// Adds `bytes`, which may be negative, to the number of kept bytes. `give_up`, always the same function, frees all kept memory.
pub fn keep(bytes: i64, give_up: fn()) {
    GIVE_UP.store(give_up as *mut (), Relaxed);
    BYTES.fetch_add(bytes, Relaxed);
}

/// The number of kept bytes.
pub(super) fn bytes() -> i64 {
    BYTES.load(Relaxed)
}

/// Frees the kept memory.
pub(super) fn empty() {
    let give_up = GIVE_UP.load(Relaxed);
    if !give_up.is_null() {
        // SAFETY: `keep` stored a function of this type.
        unsafe { std::mem::transmute::<*mut (), fn()>(give_up)() };
    }
}
