//! Files by name.

use super::utf8;
use std::ffi::CStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use windows_sys::Win32::Foundation::ERROR_CANT_RESOLVE_FILENAME;

/// The path of a name in C, which is UTF-8.
pub fn path(name: &CStr) -> io::Result<&Path> {
    utf8(name).map(Path::new)
}

/// Opens a file for reading.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Opens something that is no regular file for writing.
pub fn open_to_stream(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

/// Creates a file for reading and writing, with the permissions of its folder. The name must be new.
pub fn create(path: &Path, _mode: u32) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).open(path)
}

/// Fails if this process has no permission to write to a file.
pub fn check_writable(path: &Path) -> io::Result<()> {
    OpenOptions::new().append(true).open(path).map(|_| ())
}

/// Does nothing: a new file has the permissions of its folder.
pub fn copy_permissions(_file: &File, _from: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Does nothing: the system writes folders to disk itself.
pub fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// The error for a name that leads through too many links.
pub fn too_many_links() -> io::Error {
    io::Error::from_raw_os_error(ERROR_CANT_RESOLVE_FILENAME as i32)
}

/// Returns `None`, because the system has no files without a name.
pub fn nameless(_folder: &Path, _mode: u32) -> Option<File> {
    None
}

/// Fails, because there are no files of [`nameless`].
pub fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
