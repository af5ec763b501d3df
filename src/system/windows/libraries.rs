//! Shared libraries that are opened at run time.

use super::wide;
use std::ffi::{CStr, c_void};
use std::io;
use std::path::Path;
use std::ptr::{NonNull, null_mut};
use windows_sys::Win32::Foundation::FreeLibrary;
use windows_sys::Win32::System::Diagnostics::Debug::{SEM_FAILCRITICALERRORS, SetThreadErrorMode};
use windows_sys::Win32::System::LibraryLoader::{GetProcAddress, LOAD_WITH_ALTERED_SEARCH_PATH, LoadLibraryExW};

/// Opens a library by its path, or by a name that the loader looks for. The initialisers of the library run. The error is the system's
/// message.
pub fn open_library(path: &Path) -> Result<NonNull<c_void>, String> {
    let name = wide(path.as_os_str()).map_err(|error| error.to_string())?;
    // The loader finds the library's own libraries in the same folder.
    let flags = if path.is_absolute() { LOAD_WITH_ALTERED_SEARCH_PATH } else { 0 };
    let mut before = 0;
    // SAFETY: the name ends with 0. Without the mode, the system shows a window for some broken files, and waits for the user.
    unsafe {
        SetThreadErrorMode(SEM_FAILCRITICALERRORS, &mut before);
        let library = LoadLibraryExW(name.as_ptr(), null_mut(), flags);
        let error = io::Error::last_os_error();
        SetThreadErrorMode(before, null_mut());
        NonNull::new(library).ok_or_else(|| format!("{}: {}", path.display(), error))
    }
}

/// # Safety
/// `library` came from [`open_library`], and nothing refers to it.
pub unsafe fn close_library(library: NonNull<c_void>) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { FreeLibrary(library.as_ptr()) };
}

/// The address of a function of an open library.
///
/// # Safety
/// `library` came from [`open_library`] and is open.
pub unsafe fn symbol(library: NonNull<c_void>, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the library is open, and the name is a C string.
    let found = unsafe { GetProcAddress(library.as_ptr(), name.as_ptr().cast()) };
    found.and_then(|function| NonNull::new(function as *mut c_void))
}
