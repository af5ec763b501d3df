//! Files by name.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The path of a name in C.
pub fn path(name: &CStr) -> io::Result<&Path> {
    Ok(Path::new(OsStr::from_bytes(name.to_bytes())))
}

/// Opens a file for reading, without waiting for the other end of a pipe.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

/// Opens something that is no regular file for writing. Opening a pipe without a reader fails at once; writes to a full pipe wait.
pub fn open_to_stream(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    // SAFETY: the descriptor is open. The calls read and set its flags.
    let set = unsafe {
        let flags = libc::fcntl(file.as_raw_fd(), libc::F_GETFL);
        flags >= 0 && libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) >= 0
    };
    if set { Ok(file) } else { Err(io::Error::last_os_error()) }
}

/// Creates a file for reading and writing with these permissions. The name must be new.
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path)
}

/// Fails if this process has no permission to write to a file.
pub fn check_writable(path: &Path) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the path is a C string.
    let refused = unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK, libc::AT_EACCESS) } != 0;
    if refused { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Gives a file the permissions of the file that it replaces.
pub fn copy_permissions(file: &File, from: &Metadata) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(from.mode() & 0o7777))
}

/// Writes the names of the files in a folder to disk. Some file systems do not support this, which is no error.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOTSUP | libc::EACCES)) => Ok(()),
        synced => synced,
    }
}

/// The error for a name that leads through too many links.
pub fn too_many_links() -> io::Error {
    io::Error::from_raw_os_error(libc::ELOOP)
}
