//! The switch by which each thread turns recording on or off.

use std::cell::Cell;

thread_local! {
    static RECORDING: Cell<bool> = const { Cell::new(true) };
    static INFERENCE: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if this thread records operations whose inputs need a gradient.
#[inline(always)]
pub fn is_recording() -> bool {
    RECORDING.get() && !INFERENCE.get()
}

/// Switches recording on this thread on or off.
pub fn set_recording(on: bool) {
    RECORDING.set(on);
}

/// Begins or ends inference on this thread. During inference recording stays off.
pub fn set_inference(on: bool) {
    INFERENCE.set(on);
}

/// Sets recording for this thread. Restores the previous setting when dropped.
pub struct Switched(bool);

impl Switched {
    /// On or off.
    pub fn to(on: bool) -> Switched {
        Switched(RECORDING.replace(on))
    }
}

impl Drop for Switched {
    fn drop(&mut self) {
        RECORDING.set(self.0);
    }
}
