//! Events: work of one stream, or the host, waits for work of another stream.

use super::driver::check;
use super::gpu::Gpu;
use crate::error::Result;
use cudarc::driver::sys::{self, CUevent, CUresult, CUstream};
use std::ptr::null_mut;

/// The flag of an event that measures no time.
pub(super) const DISABLE_TIMING: u32 = 2;

/// An event of a GPU, which is destroyed when dropped.
pub struct Mark(CUevent);

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: the event is live. The driver keeps it until all work that waits for it has passed it.
        let _ = unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

// SAFETY: all threads may use an event.
unsafe impl Send for Mark {}

impl Mark {
    /// Takes ownership of a driver's event.
    pub fn of(event: CUevent) -> Mark {
        Mark(event)
    }

    /// Returns true if the work before the event is done; false if the GPU has failed.
    pub fn has_passed(&self) -> bool {
        // SAFETY: an event of this process.
        unsafe { sys::cuEventQuery(self.0) == CUresult::CUDA_SUCCESS }
    }

    /// Records the event after the current work of a stream of the event's GPU.
    pub fn record(&self, stream: CUstream) -> Result<()> {
        // SAFETY: event and stream belong to one GPU.
        check(unsafe { sys::cuEventRecord(self.0, stream) }, "an event could not be recorded")
    }

    /// Waits until the work before the event is done.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: an event of this process.
        check(unsafe { sys::cuEventSynchronize(self.0) }, "the GPU failed")
    }
}

impl Gpu {
    /// An event that has not been recorded.
    pub(super) fn new_mark(&self) -> Result<Mark> {
        let _bound = self.bind()?;
        let mut event = null_mut();
        // SAFETY: the GPU is bound, and the result is written to a variable.
        check(unsafe { sys::cuEventCreate(&mut event, DISABLE_TIMING) }, "an event could not be made")?;
        Ok(Mark(event))
    }

    /// A new event after the current work of a stream of this GPU.
    pub(super) fn mark(&self, stream: CUstream) -> Result<Mark> {
        let (_bound, mark) = (self.bind()?, self.new_mark()?);
        mark.record(stream).map(|()| mark)
    }

    /// Makes later work of a stream of this GPU wait for an event of any GPU.
    pub(super) fn wait_for_mark(&self, stream: CUstream, mark: &Mark) -> Result<()> {
        let _bound = self.bind()?;
        // SAFETY: stream and event are live.
        check(unsafe { sys::cuStreamWaitEvent(stream, mark.0, 0) }, "a stream could not wait for another")
    }
}
