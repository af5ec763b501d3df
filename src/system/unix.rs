//! Functions of POSIX, for Linux and macOS.

mod files;
mod libraries;
mod memory;
mod object;
mod signals;
mod threads;

pub use files::*;
pub use libraries::{close_library, open_library, symbol};
pub use memory::{aligned, free_aligned, heap, map_memory, unmap_memory};
pub use object::{Object, is_descriptor, names_need_handles, unmap};
pub use signals::{Blocked, without};
pub use threads::{Thread, at_exit, at_fork, at_thread_end, spawn, thread_id};

use std::fs::File;
use std::io;

unsafe extern "C" {
    #[cfg_attr(target_vendor = "apple", link_name = "__stdoutp")]
    static mut stdout: *mut libc::FILE;
}

/// C's stdout.
pub fn c_stdout() -> *mut libc::FILE {
    // SAFETY: `stdout` belongs to the C library. It changes only if the program assigns it, and the program must order that assignment with
    // this read.
    unsafe { stdout }
}

/// Grows a file to at least `to` bytes without reserving the space.
pub fn grow_sparse(file: &File, to: u64) -> io::Result<()> {
    if file.metadata()?.len() < to { file.set_len(to) } else { Ok(()) }
}

/// The physical memory of the machine in bytes.
pub fn physical() -> usize {
    // SAFETY: sysconf only reads its argument.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(page).unwrap_or(0))
}
