//! Copies between the host and GPUs, and between GPUs.

use super::captures::graph_of;
use super::driver::check;
use super::gpu::Gpu;
use super::pinned;
use crate::error::Result;
use cudarc::driver::sys::{self, CUdeviceptr};

impl Gpu {
    /// Copies from the GPU to the host, once all work before has run. Without `waiting`, and if the host's memory is pinned, the copy is
    /// made after this has returned.
    ///
    /// # Safety
    /// Both sides have this many bytes, until the copy is made.
    pub unsafe fn download(&self, to: *mut u8, from: CUdeviceptr, bytes: usize, waiting: bool) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (_bound, stream) = (self.bind()?, self.stream());
        // SAFETY: the caller's.
        check(unsafe { sys::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream) }, "a copy to the host failed")?;
        self.end_copy(to as usize, waiting)
    }

    /// Copies from the host to the GPU; see [`Gpu::download`].
    ///
    /// # Safety
    /// Both sides have this many bytes, and the host's stays as it is, until the copy is made.
    pub unsafe fn upload(&self, to: CUdeviceptr, from: *const u8, bytes: usize, waiting: bool) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (_bound, stream) = (self.bind()?, self.stream());
        // SAFETY: the caller's.
        check(unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream) }, "a copy to the GPU failed")?;
        self.end_copy(from as usize, waiting)
    }

    /// Waits for a copy from or to an address of the host, unless it may be made later.
    fn end_copy(&self, host: usize, waiting: bool) -> Result<()> {
        match !waiting && pinned::is_pinned(host) {
            true => pinned::used_by(host, self, self.stream(), graph_of(self, self.stream())),
            false => self.wait(),
        }
    }

    /// Copies within the GPU.
    ///
    /// # Safety
    /// Both sides have this many bytes, and lie apart.
    pub unsafe fn copy(&self, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.bind()?;
        // SAFETY: the caller's.
        check(unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, self.stream()) }, "a copy on the GPU failed")
    }

    /// Copies from another GPU, after the work that this thread's streams of both have, and before the work that they get.
    ///
    /// # Safety
    /// Both sides have this many bytes.
    pub unsafe fn copy_from(&self, other: &Gpu, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.wait_for_mark(self.stream(), &other.mark(other.stream())?)?;
        let bound = self.bind()?;
        // SAFETY: the caller's.
        let copied = unsafe { sys::cuMemcpyPeerAsync(to, self.context(), from, other.context(), bytes, self.stream()) };
        check(copied, "a copy between GPUs failed")?;
        drop(bound);
        other.wait_for_mark(other.stream(), &self.mark(self.stream())?)
    }

    /// Reads elements, once all work before has run.
    pub fn read<T: Copy>(&self, at: CUdeviceptr, out: &mut [T]) -> Result<()> {
        // SAFETY: callers name memory of the GPU that holds the elements.
        unsafe { self.download(out.as_mut_ptr().cast(), at, size_of_val(out), true) }
    }

    /// Writes elements.
    pub fn write<T: Copy>(&self, at: CUdeviceptr, from: &[T]) -> Result<()> {
        // SAFETY: callers name memory of the GPU that holds the elements.
        unsafe { self.upload(at, from.as_ptr().cast(), size_of_val(from), true) }
    }
}
