//! Copies between the host and GPUs, and between GPUs.

use super::captures::graph_of;
use super::driver::check;
use super::gpu::Gpu;
use super::pinned;
use crate::error::Result;
use cudarc::driver::sys::{self, CUdeviceptr};

impl Gpu {
    /// Copies from the GPU to the host, after all earlier work of the stream. Without `waiting`, a copy to pinned memory may continue after
    /// this function has returned.
    ///
    /// # Safety
    /// Source and destination have this many bytes until the copy is done.
    pub unsafe fn download(&self, to: *mut u8, from: CUdeviceptr, bytes: usize, waiting: bool) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (_bound, stream) = (self.bind()?, self.stream());
        // SAFETY: the caller meets the conditions above.
        check(unsafe { sys::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream) }, "a copy to the host failed")?;
        self.end_copy(to as usize, waiting)
    }

    /// Copies from the host to the GPU; see [`Gpu::download`].
    ///
    /// # Safety
    /// Source and destination have this many bytes, and the host's bytes do not change, until the copy is done.
    pub unsafe fn upload(&self, to: CUdeviceptr, from: *const u8, bytes: usize, waiting: bool) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let (_bound, stream) = (self.bind()?, self.stream());
        // SAFETY: the caller meets the conditions above.
        check(unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream) }, "a copy to the GPU failed")?;
        self.end_copy(from as usize, waiting)
    }

    /// Waits for a copy that uses this address of the host, unless the copy may be asynchronous.
    fn end_copy(&self, host: usize, waiting: bool) -> Result<()> {
        match !waiting && pinned::is_pinned(host) {
            true => pinned::used_by(host, self, self.stream(), graph_of(self, self.stream())),
            false => self.wait(),
        }
    }

    /// Copies within the GPU.
    ///
    /// # Safety
    /// Source and destination have this many bytes and do not overlap.
    pub unsafe fn copy(&self, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let _bound = self.bind()?;
        // SAFETY: the caller meets the conditions above.
        check(unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, self.stream()) }, "a copy on the GPU failed")
    }

    /// Copies from another GPU, after the current work of this thread's streams on both GPUs, and before their later work.
    ///
    /// # Safety
    /// Source and destination have this many bytes.
    pub unsafe fn copy_from(&self, other: &Gpu, to: CUdeviceptr, from: CUdeviceptr, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        self.wait_for_mark(self.stream(), &other.mark(other.stream())?)?;
        let bound = self.bind()?;
        // SAFETY: the caller meets the conditions above.
        let copied = unsafe { sys::cuMemcpyPeerAsync(to, self.context(), from, other.context(), bytes, self.stream()) };
        check(copied, "a copy between GPUs failed")?;
        drop(bound);
        other.wait_for_mark(other.stream(), &self.mark(self.stream())?)
    }

    /// Reads elements, after all earlier work of the stream.
    ///
    /// # Safety
    /// Memory of this GPU has these elements at `at`.
    pub unsafe fn read<T: Copy>(&self, at: CUdeviceptr, out: &mut [T]) -> Result<()> {
        // SAFETY: the caller meets the condition above.
        unsafe { self.download(out.as_mut_ptr().cast(), at, size_of_val(out), true) }
    }

    /// Writes elements.
    ///
    /// # Safety
    /// Memory of this GPU has room for these elements at `at`.
    pub unsafe fn write<T: Copy>(&self, at: CUdeviceptr, from: &[T]) -> Result<()> {
        // SAFETY: the caller meets the condition above.
        unsafe { self.upload(at, from.as_ptr().cast(), size_of_val(from), true) }
    }
}
