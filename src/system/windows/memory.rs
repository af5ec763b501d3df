//! Memory of the process.

use std::ffi::c_void;
use std::ptr::{NonNull, null};
use windows_sys::Win32::System::Memory::{MEM_COMMIT, MEM_RELEASE, MEM_RESERVE, PAGE_READWRITE, VirtualAlloc, VirtualFree};
use windows_sys::Win32::System::SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX};

// The C library has no `aligned_alloc`, and its `free` does not accept these blocks.
unsafe extern "C" {
    fn _aligned_malloc(size: usize, alignment: usize) -> *mut c_void;
    fn _aligned_free(block: *mut c_void);
}

/// A block of exactly `size` bytes, aligned to `align` bytes, a power of two. [`free_aligned`] frees the block.
pub fn aligned(align: usize, size: usize) -> Option<NonNull<u8>> {
    // SAFETY: the function accepts any size.
    NonNull::new(unsafe { _aligned_malloc(size, align) }.cast())
}

/// # Safety
/// `block` came from [`aligned`] and is not used any more.
pub unsafe fn free_aligned(block: NonNull<u8>) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { _aligned_free(block.as_ptr().cast()) }
}

/// A block of exactly `size` bytes that C's `realloc` and `free` accept, with the alignment of `malloc`.
pub fn heap(_align: usize, size: usize) -> Option<NonNull<u8>> {
    // SAFETY: the function accepts any size.
    NonNull::new(unsafe { libc::malloc(size) }.cast())
}

/// A block of `size` bytes of the process's address space, on a boundary of 64 KiB. The system uses huge pages only with a privilege.
pub fn map_memory(_align: usize, size: usize) -> Option<NonNull<u8>> {
    // SAFETY: a new block does not affect existing memory.
    NonNull::new(unsafe { VirtualAlloc(null(), size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) }.cast())
}

/// # Safety
/// `start` came from [`map_memory`] and is not used any more.
pub unsafe fn unmap_memory(start: *mut u8, _size: usize) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { VirtualFree(start.cast(), 0, MEM_RELEASE) };
}

/// The physical memory that this process may use, in bytes.
pub fn memory() -> usize {
    bytes_of_machine()[1]
}

/// The free bytes and all bytes of the machine's memory.
pub fn bytes_of_machine() -> [usize; 2] {
    let mut found = MEMORYSTATUSEX { dwLength: size_of::<MEMORYSTATUSEX>() as u32, ..Default::default() };
    // SAFETY: the struct has the length that it says.
    match unsafe { GlobalMemoryStatusEx(&mut found) } {
        0 => [0, 0],
        _ => [found.ullAvailPhys as usize, found.ullTotalPhys as usize],
    }
}
