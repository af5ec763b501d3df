//! Windows. The system has no fork and no signals, and descriptors of files belong to C libraries, of which a process may have several.

mod files;
mod libraries;
mod memory;
mod object;
mod threads;

pub use files::*;
pub use libraries::{close_library, open_library, symbol};
pub use memory::{aligned, bytes_of_machine, free_aligned, heap, map_memory, memory, unmap_memory};
pub use object::{Object, is_descriptor, names_need_handles, unmap};
pub use threads::{Thread, at_exit, at_fork, at_thread_end, name_thread, spawn, thread_id};

use std::ffi::{CStr, OsStr, c_int};
use std::io;
use std::os::windows::ffi::OsStrExt;

unsafe extern "C" {
    fn __acrt_iob_func(index: c_int) -> *mut libc::FILE;
}

/// C's stdout.
pub fn c_stdout() -> *mut libc::FILE {
    // SAFETY: the C library has three standard streams; 1 is stdout.
    unsafe { __acrt_iob_func(1) }
}

/// A name in the system's encoding, ended by 0. Fails for a name that contains a 0.
fn wide(name: &OsStr) -> io::Result<Vec<u16>> {
    let mut wide: Vec<u16> = name.encode_wide().collect();
    if wide.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name has a character 0"));
    }
    wide.push(0);
    Ok(wide)
}

/// The text of a name in C, which is UTF-8.
fn utf8(name: &CStr) -> io::Result<&str> {
    name.to_str().map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, "the name is not UTF-8"))
}

/// Does nothing, because there are no signals.
pub struct Blocked;

impl Blocked {
    /// Returns the value.
    pub fn of_writes() -> Blocked {
        Blocked
    }
}

/// Calls `start`, because there are no signals to block.
pub fn without(start: &mut dyn FnMut()) {
    start();
}

/// Returns false: the permission to use the tiles of AMX is not asked for.
#[cfg(target_arch = "x86_64")]
pub fn permits_tiles() -> bool {
    false
}
