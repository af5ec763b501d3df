//! Shared libraries that are opened at run time.

use std::ffi::{CStr, CString, c_void};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

/// Opens a library by its path, or by a name that the loader looks for. The initialisers of the library run. The error is the loader's
/// message.
pub fn open_library(path: &Path) -> Result<NonNull<c_void>, String> {
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| "its name has a byte 0")?;
    // The loader copies the path to its stack.
    if name.count_bytes() >= libc::PATH_MAX as usize {
        return Err(format!("a path of {} bytes is too long", name.count_bytes()));
    }
    // For a FIFO, the loader would wait for a writer.
    if name.to_bytes().contains(&b'/') && fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(format!("{} is not a regular file", path.display()));
    }
    // SAFETY: the name is a C string.
    let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    NonNull::new(library).ok_or_else(|| {
        // SAFETY: the loader's last message on this thread is NULL, or a C string that is valid until the next call.
        let message = unsafe { libc::dlerror().as_ref().map(|first| CStr::from_ptr(first)) };
        message.unwrap_or(c"it cannot be loaded").to_string_lossy().into()
    })
}

/// # Safety
/// `library` came from [`open_library`], and nothing refers to it.
pub unsafe fn close_library(library: NonNull<c_void>) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { libc::dlclose(library.as_ptr()) };
}

/// The address of a function of an open library.
///
/// # Safety
/// `library` came from [`open_library`] and is open.
pub unsafe fn symbol(library: NonNull<c_void>, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the library is open, and the name is a C string.
    NonNull::new(unsafe { libc::dlsym(library.as_ptr(), name.as_ptr()) })
}
