//! Memory of GPUs. Freed blocks are kept for reuse, because the driver takes a thousand times as long to allocate one.

use super::blocks::{Blocks, Class};
use super::captures::{graph_of, is_capturing, pool_of};
use super::driver::check;
use super::gpu::{Gpu, gpu};
use crate::alloc::THAllocator;
use crate::device::Device;
use crate::error::{Result, bail};
use cudarc::driver::sys::{self, CUdeviceptr, CUresult, CUstream};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// Sizes and addresses of blocks are multiples of this many bytes.
const UNIT: usize = 512;
/// Smaller requests get small blocks.
const SMALL: usize = 1 << 20;
/// The size of a segment for small blocks. Segments for large blocks are multiples of this size.
const SMALL_SEGMENT: usize = 2 << 20;
/// The size of a segment for requests of less than half this size.
const LARGE_SEGMENT: usize = 20 << 20;

/// True if `TH_CUDA_EXACT` is 1: blocks have exactly the requested size, so that tools see writes beyond their end.
fn exact() -> bool {
    static EXACT: OnceLock<bool> = OnceLock::new();
    *EXACT.get_or_init(|| std::env::var_os("TH_CUDA_EXACT").is_some_and(|value| value == "1"))
}

/// The sizes for a request in bytes: the block, its segment, and the smallest segment, for a GPU that is almost full.
struct Sizes {
    class: Class,
    block: usize,
    segment: usize,
    least: usize,
}

fn sizes(bytes: usize) -> Option<Sizes> {
    let bytes = bytes.max(1);
    if exact() {
        return Some(Sizes { class: Class::Whole, block: bytes, segment: bytes, least: bytes });
    }
    let block = bytes.checked_next_multiple_of(UNIT)?;
    if bytes < SMALL {
        return Some(Sizes { class: Class::Small, block, segment: SMALL_SEGMENT, least: block });
    }
    let least = bytes.checked_next_multiple_of(SMALL_SEGMENT)?;
    Some(Sizes { class: Class::Large, block, segment: if bytes < LARGE_SEGMENT / 2 { LARGE_SEGMENT } else { least }, least })
}

/// Scratch memory of a kind of work. After it is dropped, later work of the stream may reuse the memory.
pub struct Scratch<'a> {
    gpu: &'a Gpu,
    at: CUdeviceptr,
}

impl Scratch<'_> {
    /// The address.
    pub fn ptr(&self) -> CUdeviceptr {
        self.at
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        self.gpu.free(self.at);
    }
}

impl Gpu {
    /// Allocates a block. If there is no memory, free blocks are returned to the driver first.
    pub fn allocate(&self, bytes: usize) -> Result<CUdeviceptr> {
        let Some(sizes) = sizes(bytes) else { bail!(NoMem, "{bytes} bytes overflow the address space") };
        let pool = pool_of(self, self.stream())?;
        let mut blocks = self.blocks.lock();
        blocks.reserve()?;
        if let Some(at) = blocks.take(sizes.block, sizes.class, pool) {
            return Ok(at);
        }
        let _bound = self.bind()?;
        let (mut at, mut segment) = (0, sizes.segment);
        // SAFETY: the GPU is bound.
        let mut made = unsafe { sys::cuMemAlloc_v2(&mut at, segment) };
        if made == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            self.flush(&mut blocks)?;
            segment = sizes.least;
            // SAFETY: as above.
            made = unsafe { sys::cuMemAlloc_v2(&mut at, segment) };
        }
        if made == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let used = blocks.bytes[0];
            drop(blocks);
            let [free, total] = self.memory_of_device()?;
            let device = Device::Cuda(self.ordinal);
            bail!(
                NoMem,
                "out of memory on {device}: {bytes} bytes could not be allocated; {free} of {total} are free, {used} are in use here"
            )
        }
        check(made, "memory of the GPU could not be allocated")?;
        blocks.add(at, segment, sizes.block, sizes.class, pool);
        Ok(at)
    }

    /// Frees a block. A block that a captured stream uses is kept for the graph.
    pub fn free(&self, at: CUdeviceptr) {
        let mut blocks = self.blocks.lock();
        let Some((_, pool)) = blocks.used(at) else { return };
        // Odd numbers are pools of graphs. Their blocks go to the default stream in the end.
        let own = if pool.is_multiple_of(2) { pool as CUstream } else { null_mut() };
        let graph = graph_of(self, own);
        if let Some(graph) = graph {
            blocks.claim(at, graph);
        }
        while let Some(other) = blocks.take_other(at) {
            let other = other as CUstream;
            if let Some(graph) = graph_of(self, other) {
                blocks.claim(at, graph);
                continue;
            }
            // A captured stream cannot wait for work outside its graph. The block goes to the default stream afterwards.
            let own = if graph.is_some() { null_mut() } else { own };
            let waits = self.mark(other).and_then(|mark| self.wait_for_mark(own, &mark));
            if waits.is_err() {
                // An error is ignored, because it means that the GPU has failed before, or that the driver is gone.
                let _ = self.wait_for(other);
            }
        }
        blocks.release(at);
    }

    /// Scratch memory of `bytes` bytes.
    pub fn scratch(&self, bytes: usize) -> Result<Scratch<'_>> {
        Ok(Scratch { gpu: self, at: self.allocate(bytes)? })
    }

    /// Returns all free segments to the driver.
    pub fn give_back_blocks(&self) -> Result<()> {
        let _bound = self.bind()?;
        self.flush(&mut self.blocks.lock())
    }

    fn flush(&self, blocks: &mut Blocks) -> Result<()> {
        // Freeing memory waits for all streams, which would invalidate a capture.
        if is_capturing(self) {
            return Ok(());
        }
        // The driver waits for work that may still use a segment.
        while let Some(at) = blocks.take_segment() {
            // SAFETY: the driver allocated the segment, and none of its blocks is used.
            check(unsafe { sys::cuMemFree_v2(at) }, "memory of the GPU could not be given back")?;
        }
        Ok(())
    }
}

/// The allocator of storages on GPUs. Its context is the GPU's number.
pub static ALLOCATOR: THAllocator = THAllocator { malloc: Some(malloc), realloc: Some(realloc), free: Some(free) };

/// Allocates the memory of a storage on a GPU; see `storage::provide_by`.
pub fn provide(device: Device, bytes: usize) -> Result<(*mut c_void, &'static THAllocator, *mut c_void)> {
    let Device::Cuda(ordinal) = device else { bail!(Device, "{device} is no GPU") };
    let at = if bytes == 0 { 0 } else { gpu(ordinal)?.allocate(bytes)? };
    Ok((at as *mut c_void, &ALLOCATOR, ordinal as usize as *mut c_void))
}

fn of_context(context: *mut c_void) -> Result<&'static Gpu> {
    gpu(context as usize as i8)
}

unsafe extern "C" fn malloc(context: *mut c_void, bytes: isize) -> *mut c_void {
    let made = of_context(context).and_then(|gpu| gpu.allocate(bytes.max(0) as usize));
    made.map_or(null_mut(), |at| at as *mut c_void)
}

unsafe extern "C" fn realloc(context: *mut c_void, data: *mut c_void, bytes: isize) -> *mut c_void {
    moved(context, data as CUdeviceptr, bytes.max(0) as usize).map_or(null_mut(), |at| at as *mut c_void)
}

fn moved(context: *mut c_void, data: CUdeviceptr, bytes: usize) -> Result<CUdeviceptr> {
    let gpu = of_context(context)?;
    let at = gpu.allocate(bytes)?;
    let held = gpu.blocks.lock().used(data).map_or(0, |(held, _)| held);
    // SAFETY: both blocks have the bytes that are copied.
    if let Err(error) = unsafe { gpu.copy(at, data, held.min(bytes)) } {
        gpu.free(at);
        return Err(error);
    }
    gpu.free(data);
    Ok(at)
}

unsafe extern "C" fn free(context: *mut c_void, data: *mut c_void) {
    // A storage may be freed after the driver has ended, which has freed all memory.
    if let Ok(gpu) = of_context(context) {
        gpu.free(data as CUdeviceptr);
    }
}
