//! Handles of fused expressions.

use crate::alloc;
use crate::error::{Error, Kind, Result};
use crate::ops::fused::Expressed;
use std::sync::atomic::{AtomicI32, Ordering};

/// An expression of elementwise operations, computed in one pass. Several threads may run one expression at the same time.
pub struct THFused {
    refcount: AtomicI32,
    pub(crate) expressed: Expressed,
}

/// Returns a new handle with one reference.
pub fn new_fused(expressed: Expressed) -> Result<*mut THFused> {
    match alloc::boxed(THFused { refcount: AtomicI32::new(1), expressed }) {
        Some(made) => Ok(Box::into_raw(made)),
        None => Err(Error::new(Kind::NoMem, format_args!("out of memory for an expression"))),
    }
}

/// Adds a reference. A count that has reached its maximum no longer changes.
///
/// # Safety
/// `fused` is NULL or a live handle.
pub unsafe fn retain(fused: *mut THFused) {
    // SAFETY: the caller passes NULL or a live handle.
    if let Some(fused) = unsafe { fused.as_ref() } {
        let _ = fused.refcount.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_add(1));
    }
}

/// Releases a reference, and frees the handle with the last one.
///
/// # Safety
/// `fused` is NULL or a live handle, and the caller owns the reference.
pub unsafe fn release(fused: *mut THFused) {
    // SAFETY: the caller passes NULL or a live handle, and no other thread uses a handle whose last reference is released.
    unsafe {
        let Some(handle) = fused.as_ref() else { return };
        if handle.refcount.load(Ordering::Relaxed) != i32::MAX && handle.refcount.fetch_sub(1, Ordering::AcqRel) == 1 {
            drop(Box::from_raw(fused));
        }
    }
}
