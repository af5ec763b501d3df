//! Pinned host memory, to and from which GPUs copy asynchronously. Freed blocks are kept, and reused when the copies that use them are
//! done.

use super::driver::{check, devices};
use super::gpu::{Bound, Gpu, gpu, opened};
use super::mark::Mark;
use crate::alloc::THAllocator;
use crate::device::{self, Device};
use crate::error::{Error, Kind, Result, bail};
use cudarc::driver::sys::{self, CUpointer_attribute, CUresult, CUstream};
use parking_lot::Mutex;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The minimum size of a block in bytes. Sizes are powers of two.
const LEAST: usize = 4096;
/// The flag for memory that is pinned for all GPUs.
const PORTABLE: u32 = 1;

/// A block, with the copies that use it, and the graphs that copy to or from it at every launch.
struct Block {
    at: usize,
    bytes: usize,
    copies: Vec<Mark>,
    graphs: Vec<usize>,
}

impl Block {
    /// Returns true if no copy and no graph uses the block.
    fn is_idle(&self) -> bool {
        self.graphs.is_empty() && self.copies.iter().all(Mark::has_passed)
    }
}

/// The used blocks, sorted by address, and the free blocks. The second list has capacity for all blocks, because freeing a block must not
/// fail.
static BLOCKS: Mutex<[Vec<Block>; 2]> = Mutex::new([Vec::new(), Vec::new()]);

/// The peak bytes of used blocks.
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The bytes of used blocks, the bytes of free blocks, and the peak bytes of used blocks.
pub fn bytes() -> [usize; 3] {
    let lists = BLOCKS.lock();
    let [used, free] = &*lists;
    let sum = |blocks: &[Block]| blocks.iter().map(|block| block.bytes).sum();
    [sum(used), sum(free), PEAK.load(Ordering::Relaxed)]
}

fn no_room() -> Error {
    Error::new(Kind::NoMem, format_args!("out of memory: the table of pinned memory could not grow"))
}

/// Allocates a block that no copy uses.
pub fn allocate(bytes: usize) -> Result<usize> {
    let Some(bytes) = bytes.max(LEAST).checked_next_power_of_two() else { bail!(NoMem, "{bytes} bytes overflow the address space") };
    let mut lists = BLOCKS.lock();
    let [used, free] = &mut *lists;
    let room = used.try_reserve(1).is_ok() && free.try_reserve(used.len() + 1).is_ok();
    if !room {
        return Err(no_room());
    }
    let found = free.iter().position(|block| block.bytes == bytes && block.is_idle());
    let block = match found {
        Some(k) => Block { copies: Vec::new(), ..free.swap_remove(k) },
        None => {
            let (_bound, mut at) = (bind(false)?, null_mut());
            // SAFETY: a GPU is bound, and the result is written to a variable.
            check(unsafe { sys::cuMemHostAlloc(&mut at, bytes, PORTABLE) }, "memory could not be pinned")?;
            Block { at: at as usize, bytes, copies: Vec::new(), graphs: Vec::new() }
        }
    };
    let (at, k) = (block.at, used.partition_point(|other| other.at < block.at));
    used.insert(k, block);
    PEAK.fetch_max(used.iter().map(|block| block.bytes).sum(), Ordering::Relaxed);
    Ok(at)
}

/// Frees a block.
pub fn release(at: usize) {
    let mut lists = BLOCKS.lock();
    let [used, free] = &mut *lists;
    if let Ok(k) = used.binary_search_by_key(&at, |block| block.at) {
        free.push(used.remove(k));
    }
}

/// Binds a GPU that this process has used already. If there is none, binds the thread's default GPU, unless `used` is true. So no context
/// is created on a GPU that the program does not use.
fn bind(used: bool) -> Result<Bound> {
    if let Some(gpu) = opened().next() {
        return gpu.bind();
    }
    let has_context = |ordinal: &i8| {
        let (mut device, mut flags, mut active) = (0, 0, 0);
        // SAFETY: results are written to variables.
        unsafe {
            sys::cuDeviceGet(&mut device, (*ordinal).into()) == CUresult::CUDA_SUCCESS
                && sys::cuDevicePrimaryCtxGetState(device, &mut flags, &mut active) == CUresult::CUDA_SUCCESS
                && active != 0
        }
    };
    let others = (0..devices()?.min(i8::MAX.into()) as i8).find(has_context);
    match (others, device::current()) {
        (Some(ordinal), _) => gpu(ordinal)?.bind(),
        (None, _) if used => bail!(Cuda, "no GPU is used yet"),
        (None, Device::Cuda(ordinal)) => gpu(ordinal)?.bind(),
        (None, _) => gpu(0)?.bind(),
    }
}

/// Returns free blocks to the driver when the copies that use them are done. Blocks of graphs are kept.
pub fn empty_cache(gpu: &Gpu) -> Result<()> {
    let _bound = gpu.bind()?;
    let mut lists = BLOCKS.lock();
    let free = &mut lists[1];
    while let Some(k) = free.iter().position(|block| block.graphs.is_empty()) {
        let block = free.swap_remove(k);
        // SAFETY: the driver allocated the block, which is free. The driver waits for copies.
        check(unsafe { sys::cuMemFreeHost(block.at as *mut c_void) }, "pinned memory could not be given back")?;
    }
    Ok(())
}

/// Ends the use of all blocks by a graph.
pub fn end_graph(graph: usize) {
    BLOCKS.lock().iter_mut().flatten().for_each(|block| block.graphs.retain(|other| *other != graph));
}

/// Returns true if an address of the host is in pinned memory, also if another library pinned it.
pub fn is_pinned(at: usize) -> bool {
    let Ok(_bound) = bind(true) else { return false };
    let mut kind = 0u32;
    // SAFETY: the result is written to a variable of the attribute's type.
    let asked = unsafe {
        sys::cuPointerGetAttribute((&raw mut kind).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at as sys::CUdeviceptr)
    };
    asked == CUresult::CUDA_SUCCESS && kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32
}

/// Records that a copy in a stream uses the block at this address. The block is reused only after the copy is done, or after the end of the
/// `graph` that the stream is captured for.
pub fn used_by(at: usize, gpu: &Gpu, stream: CUstream, graph: Option<usize>) -> Result<()> {
    let mut lists = BLOCKS.lock();
    let used = &mut lists[0];
    let k = used.partition_point(|block| block.at <= at);
    // Memory that another library pinned is not managed here.
    let Some(block) = k.checked_sub(1).map(|k| &mut used[k]).filter(|block| at - block.at < block.bytes) else { return Ok(()) };
    if let Some(graph) = graph {
        if block.graphs.try_reserve(1).is_err() {
            return Err(no_room());
        }
        block.graphs.push(graph);
        return Ok(());
    }
    block.copies.retain(|copy| !copy.has_passed());
    if block.copies.try_reserve(1).is_err() {
        return gpu.wait_for(stream);
    }
    block.copies.push(gpu.mark(stream)?);
    Ok(())
}

/// The allocator of pinned memory.
pub static ALLOCATOR: THAllocator = THAllocator { malloc: Some(malloc), realloc: Some(realloc), free: Some(free) };

unsafe extern "C" fn malloc(_: *mut c_void, bytes: isize) -> *mut c_void {
    allocate(bytes.max(0) as usize).map_or(null_mut(), |at| at as *mut c_void)
}

unsafe extern "C" fn realloc(_: *mut c_void, data: *mut c_void, bytes: isize) -> *mut c_void {
    let held = BLOCKS.lock()[0].iter().find(|block| block.at == data as usize).map_or(0, |block| block.bytes);
    let Ok(at) = allocate(bytes.max(0) as usize) else { return null_mut() };
    // SAFETY: both blocks have the bytes that are copied.
    unsafe { (at as *mut u8).copy_from_nonoverlapping(data.cast(), held.min(bytes.max(0) as usize)) };
    release(data as usize);
    at as *mut c_void
}

unsafe extern "C" fn free(_: *mut c_void, data: *mut c_void) {
    release(data as usize);
}
