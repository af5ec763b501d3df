//! Events that work of one stream, or of the host, waits for in another.

use super::driver::check;
use super::gpu::Gpu;
use crate::error::Result;
use cudarc::driver::sys::{self, CUevent, CUresult, CUstream};
use std::ptr::null_mut;

/// Flag of an event that measures no time.
pub(super) const DISABLE_TIMING: u32 = 2;

/// An event of a GPU, for as long as a function needs it.
pub struct Mark(CUevent);

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: an event of this process; the driver keeps it until work that waits for it has seen it.
        let _ = unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

// SAFETY: events may be used by all threads.
unsafe impl Send for Mark {}

impl Mark {
    /// The event that this one will end.
    pub fn of(event: CUevent) -> Mark {
        Mark(event)
    }

    /// Returns true if the work before has been done. A GPU that failed says so of no work.
    pub fn has_passed(&self) -> bool {
        // SAFETY: an event of this process.
        unsafe { sys::cuEventQuery(self.0) == CUresult::CUDA_SUCCESS }
    }

    /// Puts the event after the work that a stream of the event's GPU has.
    pub fn record(&self, stream: CUstream) -> Result<()> {
        // SAFETY: an event and a stream of one GPU.
        check(unsafe { sys::cuEventRecord(self.0, stream) }, "an event could not be recorded")
    }

    /// Waits until the work before has been done.
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
        // SAFETY: the GPU is bound; the result is written to a variable.
        check(unsafe { sys::cuEventCreate(&mut event, DISABLE_TIMING) }, "an event could not be made")?;
        Ok(Mark(event))
    }

    /// An event after the work that a stream of this GPU has.
    pub(super) fn mark(&self, stream: CUstream) -> Result<Mark> {
        let (_bound, mark) = (self.bind()?, self.new_mark()?);
        mark.record(stream).map(|()| mark)
    }

    /// Work that is given to a stream of this GPU from now on waits for an event of any GPU.
    pub(super) fn wait_for_mark(&self, stream: CUstream, mark: &Mark) -> Result<()> {
        let _bound = self.bind()?;
        // SAFETY: live objects of this process.
        check(unsafe { sys::cuStreamWaitEvent(stream, mark.0, 0) }, "a stream could not wait for another")
    }
}
