//! Handles of exported programs.

use std::sync::atomic::{AtomicI32, Ordering};

/// A program that PyTorch exported: a graph, its parameters and its buffers. Several threads may run one program at the same time.
pub struct THProgram {
    refcount: AtomicI32,
    /// Frees the struct that begins with this handle.
    free: unsafe fn(*mut THProgram),
}

impl THProgram {
    /// Returns the head of a handle with one reference. `free` frees the handle.
    pub fn new(free: unsafe fn(*mut THProgram)) -> THProgram {
        THProgram { refcount: AtomicI32::new(1), free }
    }
}

/// Adds a reference. A count that has reached its maximum no longer changes.
///
/// # Safety
/// `program` is NULL or a live handle.
pub unsafe fn retain(program: *mut THProgram) {
    // SAFETY: the caller passes NULL or a live handle.
    if let Some(program) = unsafe { program.as_ref() } {
        let _ = program.refcount.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_add(1));
    }
}

/// Releases a reference, and frees the handle with the last one.
///
/// # Safety
/// `program` is NULL or a live handle, and the caller owns the reference.
pub unsafe fn release(program: *mut THProgram) {
    // SAFETY: the caller passes NULL or a live handle, and no other thread uses a handle whose last reference is released.
    unsafe {
        let Some(handle) = program.as_ref() else { return };
        if handle.refcount.load(Ordering::Relaxed) != i32::MAX && handle.refcount.fetch_sub(1, Ordering::AcqRel) == 1 {
            (handle.free)(program);
        }
    }
}
