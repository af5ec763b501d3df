//! Pinned memory of the host, which GPUs copy from and to while the host goes on. Blocks are kept when they are freed, and serve again once
//! the copies that they were used by have been made.

use super::driver::{check, devices};
use super::gpu::{Gpu, gpu};
use super::mark::Mark;
use crate::alloc::THAllocator;
use crate::error::{Error, Kind, Result, bail};
use cudarc::driver::sys::{self, CUpointer_attribute, CUstream};
use parking_lot::Mutex;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Sizes of blocks are powers of two, and not less.
const LEAST: usize = 4096;
/// Flag of memory that is pinned for all GPUs.
const PORTABLE: u32 = 1;

/// A block, with the copies that use it.
struct Block {
    at: usize,
    bytes: usize,
    copies: Vec<Mark>,
}

/// Blocks in use by their addresses, and free ones; there is room for all among the free, since giving one back may not fail.
static BLOCKS: Mutex<[Vec<Block>; 2]> = Mutex::new([Vec::new(), Vec::new()]);

/// The most bytes that blocks in use ever had.
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Bytes of blocks in use, of free blocks, and the most that ever were in use.
pub fn bytes() -> [usize; 3] {
    let lists = BLOCKS.lock();
    let [used, free] = &*lists;
    let sum = |blocks: &[Block]| blocks.iter().map(|block| block.bytes).sum();
    [sum(used), sum(free), PEAK.load(Ordering::Relaxed)]
}

/// Bytes of the machine's memory: free, and all.
pub fn bytes_of_machine() -> [usize; 2] {
    let number = |name| {
        // SAFETY: sysconf only reads its argument.
        usize::try_from(unsafe { libc::sysconf(name) }).unwrap_or(0)
    };
    [libc::_SC_AVPHYS_PAGES, libc::_SC_PHYS_PAGES].map(|pages| number(pages).saturating_mul(number(libc::_SC_PAGESIZE)))
}

fn no_room() -> Error {
    Error::new(Kind::NoMem, format_args!("out of memory: the table of pinned memory could not grow"))
}

fn allocate(bytes: usize) -> Result<usize> {
    let Some(bytes) = bytes.max(LEAST).checked_next_power_of_two() else { bail!(NoMem, "{bytes} bytes overflow the address space") };
    let mut lists = BLOCKS.lock();
    let [used, free] = &mut *lists;
    let room = used.try_reserve(1).is_ok() && free.try_reserve(used.len() + 1).is_ok();
    if !room {
        return Err(no_room());
    }
    let found = free.iter().position(|block| block.bytes == bytes && block.copies.iter().all(Mark::has_passed));
    let block = match found {
        Some(k) => Block { copies: Vec::new(), ..free.swap_remove(k) },
        None => {
            let (_bound, mut at) = (gpu(0)?.bind()?, null_mut());
            // SAFETY: a GPU is bound; the result is written to a variable.
            check(unsafe { sys::cuMemHostAlloc(&mut at, bytes, PORTABLE) }, "memory could not be pinned")?;
            Block { at: at as usize, bytes, copies: Vec::new() }
        }
    };
    let (at, k) = (block.at, used.partition_point(|other| other.at < block.at));
    used.insert(k, block);
    PEAK.fetch_max(used.iter().map(|block| block.bytes).sum(), Ordering::Relaxed);
    Ok(at)
}

fn release(at: usize) {
    let mut lists = BLOCKS.lock();
    let [used, free] = &mut *lists;
    if let Ok(k) = used.binary_search_by_key(&at, |block| block.at) {
        free.push(used.remove(k));
    }
}

/// Gives free blocks back to the driver, once the copies that they were used by have been made.
pub fn empty_cache() -> Result<()> {
    let _bound = gpu(0)?.bind()?;
    let mut lists = BLOCKS.lock();
    let free = &mut lists[1];
    while let Some(block) = free.pop() {
        // SAFETY: a block of the driver's, which nobody uses; the driver waits for copies.
        check(unsafe { sys::cuMemFreeHost(block.at as *mut c_void) }, "pinned memory could not be given back")?;
    }
    Ok(())
}

/// Returns true if an address of the host is in memory that was pinned, by whom it may be.
pub fn is_pinned(at: usize) -> bool {
    let (Ok(_), Ok(_bound)) = (devices(), gpu(0).and_then(Gpu::bind)) else { return false };
    let mut kind = 0u32;
    // SAFETY: the result is written to a variable of the attribute's type.
    let asked = unsafe {
        sys::cuPointerGetAttribute((&raw mut kind).cast(), CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at as sys::CUdeviceptr)
    };
    asked == sys::CUresult::CUDA_SUCCESS && kind == sys::CUmemorytype::CU_MEMORYTYPE_HOST as u32
}

/// A copy in a stream uses the block with this address: it serves others only after the copy.
pub fn used_by(at: usize, gpu: &Gpu, stream: CUstream) -> Result<()> {
    let mut lists = BLOCKS.lock();
    let used = &mut lists[0];
    let k = used.partition_point(|block| block.at <= at);
    // Memory that others pinned is theirs to keep.
    let Some(block) = k.checked_sub(1).map(|k| &mut used[k]).filter(|block| at - block.at < block.bytes) else { return Ok(()) };
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
