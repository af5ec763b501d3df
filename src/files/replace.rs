//! Atomic replacement of files: a reader sees the old file or the new one, even if the process is killed while it writes.

use super::message::{about, failed};
use crate::error::{Kind, Result, reason};
use crate::system::{self, Blocked, link, nameless};
use std::ffi::CStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use thorn_files::Output;

/// The size of the write buffer, in bytes.
const BUFFER: usize = 256 << 10;

/// A temporary file. It is removed unless `place` has given it its final name.
struct Temporary {
    file: File,
    /// `None` if the file has no name yet. The system removes such a file when the process ends in any way.
    path: Option<PathBuf>,
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            _ = fs::remove_file(path);
        }
    }
}

impl Temporary {
    /// Creates a file with these permissions in the folder of `target`.
    fn beside(target: &Path, mode: u32) -> io::Result<Temporary> {
        if let Some(file) = nameless(folder_of(target), mode) {
            return Ok(Temporary { file, path: None });
        }
        let (path, file) = named(target, |path| system::create(path, mode))?;
        Ok(Temporary { file, path: Some(path) })
    }

    /// Gives the file the name `target`.
    fn place(mut self, target: &Path) -> io::Result<()> {
        if self.path.is_none() {
            self.path = Some(named(target, |path| link(&self.file, path))?.0);
        }
        if let Some(path) = &self.path {
            fs::rename(path, target)?;
        }
        self.path = None;
        Ok(())
    }
}

/// Calls `make` with unused names in the folder of `target` until it succeeds. Returns the name and the result of `make`.
fn named<T>(target: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let path = folder_of(target).join(format!(".thorn-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed)));
        match make(&path) {
            // An earlier process with the same number was killed and left the file.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => return made.map(|made| (path, made)),
        }
    }
}

/// The maximum number of links that are followed, as in Linux.
const MOST_LINKS: usize = 40;

/// Returns the target of a name that may be a link. The target may not exist yet.
fn followed(given: &Path) -> io::Result<PathBuf> {
    if let Ok(target) = fs::canonicalize(given) {
        return Ok(target);
    }
    let mut target = given.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(system::too_many_links())
}

/// Writes the file `path` by `write`. A temporary file in the same folder replaces the file once it is complete and on disk. If `path` is
/// no regular file, such as a pipe at `/dev/stdout`, the bytes are written to it.
pub fn replace(path: &CStr, write: impl FnOnce(&mut dyn Output) -> thorn_files::Result<()>) -> Result<()> {
    let _blocked = Blocked::of_writes();
    let failed = |what: &str, error: &io::Error| about(Kind::Io, Some(path), format_args!("{what}: {}", reason(error)));
    let given = system::path(path).map_err(|error| failed("cannot write", &error))?;
    let before = fs::metadata(given).ok();
    // The link `/dev/stdout` to a pipe has no path as its target, so `given` is opened.
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return stream(path, given, write);
    }
    // If the name is a link, its target is replaced.
    let target = followed(given).map_err(|error| failed("cannot follow its links", &error))?;
    if before.is_some() {
        system::check_writable(&target).map_err(|error| failed("cannot write", &error))?;
    }
    // An incomplete file that replaces another is accessible only to this user.
    let mode = if before.is_some() { 0o600 } else { 0o666 };
    let temporary = Temporary::beside(&target, mode).map_err(|error| failed("cannot create a temporary file in its folder", &error))?;
    written(path, &temporary.file, write)?;
    let placed = || {
        if let Some(before) = &before {
            system::copy_permissions(&temporary.file, before)?;
        }
        temporary.file.sync_all()?;
        temporary.place(&target)
    };
    placed().map_err(|error| failed("cannot write", &error))?;
    // The name of the file is data of the folder, which is written to disk separately.
    system::sync_folder(folder_of(&target)).map_err(|error| failed("cannot write its folder", &error))
}

/// Writes `file` by `write`.
fn written(path: &CStr, file: &File, write: impl FnOnce(&mut dyn Output) -> thorn_files::Result<()>) -> Result<()> {
    let mut buffered = BufWriter::with_capacity(BUFFER, file);
    write(&mut buffered).map_err(|error| failed(Some(path), error))?;
    buffered.flush().map_err(|error| about(Kind::Io, Some(path), format_args!("cannot write: {}", reason(&error))))
}

/// Writes to a target that cannot be replaced and may not support seeking. The bytes are first written to a temporary file.
fn stream(path: &CStr, target: &Path, write: impl FnOnce(&mut dyn Output) -> thorn_files::Result<()>) -> Result<()> {
    let failed = |error: &io::Error| about(Kind::Io, Some(path), format_args!("cannot write: {}", reason(error)));
    let mut to = system::open_to_stream(target).map_err(|error| failed(&error))?;
    let temporary = Temporary::beside(&std::env::temp_dir().join("thorn"), 0o600).map_err(|error| failed(&error))?;
    written(path, &temporary.file, write)?;
    let mut from = &temporary.file;
    let mut copied = || {
        from.seek(SeekFrom::Start(0))?;
        io::copy(&mut from, &mut to)?;
        to.flush()
    };
    copied().map_err(|error: io::Error| failed(&error))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
