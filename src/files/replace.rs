//! Files that are written as a whole: a reader sees the old file or the new one, also if the process is killed meanwhile.

use super::message::{about, failed};
use super::signals::Blocked;
use crate::error::{Kind, Result, reason};
use std::ffi::{CStr, OsStr, OsString};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use thorn_files::Output;

/// The bytes that are written at a time.
const BUFFER: usize = 256 << 10;

/// A file that is removed unless it has taken its place.
struct Temporary {
    path: PathBuf,
    placed: bool,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.placed {
            _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes the file `path` by `write`: into a new file beside it, which takes its place when it is whole and on disk. A name that leads to
/// something else than a regular file, as `/dev/stdout` may, is written to.
pub fn replace(path: &CStr, write: impl FnOnce(&mut dyn Output) -> thorn_files::Result<()>) -> Result<()> {
    let _blocked = Blocked::all();
    let failed = |what: &str, error: &io::Error| about(Kind::Io, Some(path), format_args!("{what}: {}", reason(error)));
    // Where the name is a link, the file that it leads to is replaced.
    let given = Path::new(OsStr::from_bytes(path.to_bytes()));
    let target = fs::canonicalize(given).unwrap_or_else(|_| given.to_owned());
    let before = fs::metadata(&target).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return stream(path, &target, write);
    }
    let (mut temporary, file) = beside(&target).map_err(|error| failed("cannot make a file beside it", &error))?;
    written(path, &file, write)?;
    let placed = || {
        if let Some(before) = &before {
            file.set_permissions(Permissions::from_mode(before.mode() & 0o7777))?;
        }
        file.sync_all()?;
        fs::rename(&temporary.path, &target)
    };
    placed().map_err(|error| failed("cannot write", &error))?;
    temporary.placed = true;
    // The name is in its folder, which is on disk by itself.
    let folder = File::open(folder_of(&target)).and_then(|folder| folder.sync_all());
    match folder {
        // Some file systems have no such thing.
        Err(error) if !matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOTSUP | libc::EACCES)) => {
            Err(failed("cannot write its folder", &error))
        }
        _ => Ok(()),
    }
}

/// Writes `file` by `write`.
fn written(path: &CStr, file: &File, write: impl FnOnce(&mut dyn Output) -> thorn_files::Result<()>) -> Result<()> {
    let mut buffered = BufWriter::with_capacity(BUFFER, file);
    write(&mut buffered).map_err(|error| failed(Some(path), error))?;
    buffered.flush().map_err(|error| about(Kind::Io, Some(path), format_args!("cannot write: {}", reason(&error))))
}

/// Writes what cannot be replaced, and perhaps not be gone back in: the bytes are made in a file without a name first.
fn stream(path: &CStr, target: &Path, write: impl FnOnce(&mut dyn Output) -> thorn_files::Result<()>) -> Result<()> {
    let failed = |error: &io::Error| about(Kind::Io, Some(path), format_args!("cannot write: {}", reason(error)));
    // Without a reader at its other end, a pipe is an error at once.
    let opened = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(target);
    let mut to = opened.map_err(|error| failed(&error))?;
    let (temporary, mut from) = beside(&std::env::temp_dir().join("thorn")).map_err(|error| failed(&error))?;
    drop(temporary);
    written(path, &from, write)?;
    let mut copied = || {
        from.seek(SeekFrom::Start(0))?;
        wait_when_full(&to)?;
        io::copy(&mut from, &mut to)?;
        to.flush()
    };
    copied().map_err(|error: io::Error| failed(&error))
}

/// From now on, writing waits while a pipe is full.
fn wait_when_full(file: &File) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open; its flags are read and set.
    let set = unsafe {
        let flags = libc::fcntl(file.as_raw_fd(), libc::F_GETFL);
        flags >= 0 && libc::fcntl(file.as_raw_fd(), libc::F_SETFL, flags & !libc::O_NONBLOCK) >= 0
    };
    if set { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A new file in the folder of `target`, with a name that no other has.
fn beside(target: &Path) -> io::Result<(Temporary, File)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let mut name = OsString::from(".thorn-");
        name.push(format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed)));
        let path = folder_of(target).join(name);
        match OpenOptions::new().read(true).write(true).create_new(true).mode(0o666).open(&path) {
            // Left by a process that was killed and had the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => return opened.map(|file| (Temporary { path, placed: false }, file)),
        }
    }
}
