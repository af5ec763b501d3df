//! Grows a file before it is mapped.
//!
//! Other processes may grow the file at the same time, and use the part that they have mapped. So the length is only ever raised, never set
//! to a length that was measured before. A failure does not shorten the file: if a full file system refuses space that seemed free, blocks
//! may stay reserved beyond the end of the file, until it is removed or truncated.

use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::os::{fd::AsRawFd, unix::fs::MetadataExt};

/// Grows a file of `from` bytes to at least `to` bytes. Reserves the space if the file system supports that, so that a full file system is
/// an error here and not a SIGBUS at a later write.
#[cfg(target_os = "linux")]
pub(super) fn grow(file: &File, from: u64, to: u64) -> io::Result<()> {
    if to > largest_file() {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let space = Space::of(file)?;
    // Measured after the free space, because space that another process has reserved for the same file in the meantime serves both.
    let now = file.metadata()?;
    let there = now.len().max(now.blocks().saturating_mul(512));
    if to.saturating_sub(there) > space.free {
        return Err(io::ErrorKind::StorageFull.into());
    }
    if space.is_bounded {
        match fallocate(file, libc::FALLOC_FL_KEEP_SIZE, from, to - from) {
            Err(error) if !is_unsupported(&error) => return Err(error),
            _ => {}
        }
    }
    match fallocate(file, 0, to - 1, 1) {
        Err(error) if is_unsupported(&error) => grow_sparse(file, to),
        done => done,
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn grow(file: &File, _from: u64, to: u64) -> io::Result<()> {
    grow_sparse(file, to)
}

/// The maximum length to which this process may grow files. Beyond it, the system sends a signal that ends the process.
#[cfg(target_os = "linux")]
fn largest_file() -> u64 {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the system fills the struct in.
    if unsafe { libc::getrlimit64(libc::RLIMIT_FSIZE, &mut limit) } == 0 { limit.rlim_cur } else { u64::MAX }
}

/// Grows a file if `fallocate` is not supported.
fn grow_sparse(file: &File, to: u64) -> io::Result<()> {
    if file.metadata()?.len() < to { file.set_len(to) } else { Ok(()) }
}

/// The space into which a file can grow.
#[cfg(target_os = "linux")]
struct Space {
    free: u64,
    /// True if the file system has a size. The one of `memfd_create` has none: its files can use all memory, and space that is reserved
    /// there is lost to other processes, even if it is not used.
    is_bounded: bool,
}

#[cfg(target_os = "linux")]
impl Space {
    fn of(file: &File) -> io::Result<Space> {
        let mut system = std::mem::MaybeUninit::<libc::statfs64>::uninit();
        // SAFETY: the descriptor is open as long as `file`, and the call fills the struct.
        let system = unsafe {
            if libc::fstatfs64(file.as_raw_fd(), system.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error());
            }
            system.assume_init()
        };
        let is_bounded = system.f_blocks > 0;
        // The C libraries differ in the sign of the type.
        let is_memory = [libc::TMPFS_MAGIC, libc::HUGETLBFS_MAGIC].into_iter().any(|magic| magic as u64 == system.f_type as u64);
        let block = if system.f_frsize > 0 { system.f_frsize } else { system.f_bsize };
        // SAFETY: the call has no preconditions. Some space is reserved for the administrator.
        let blocks = if unsafe { libc::geteuid() } == 0 { system.f_bfree } else { system.f_bavail };
        let in_system = if is_bounded { blocks.saturating_mul(block as u64) } else { u64::MAX };
        let in_memory = if is_memory { super::super::system::available() as u64 } else { u64::MAX };
        Ok(Space { free: in_system.min(in_memory), is_bounded })
    }
}

#[cfg(target_os = "linux")]
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS))
}

/// `fallocate` with all signals blocked. A signal makes the kernel undo the whole reservation, and signals may arrive faster than the call
/// ends.
#[cfg(target_os = "linux")]
fn fallocate(file: &File, mode: libc::c_int, start: u64, length: u64) -> io::Result<()> {
    let (Ok(start), Ok(length)) = (libc::off64_t::try_from(start), libc::off64_t::try_from(length)) else {
        return Err(io::ErrorKind::FileTooLarge.into());
    };
    let (mut all, mut before) = (std::mem::MaybeUninit::uninit(), std::mem::MaybeUninit::uninit());
    // SAFETY: the descriptor is open as long as `file`. Each mask is initialised by the call that first uses it.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let (mut failed, mut error) = (true, io::Error::from_raw_os_error(libc::EINTR));
        // Signals that cannot be blocked, such as SIGSTOP, may still interrupt the call.
        while failed && error.raw_os_error() == Some(libc::EINTR) {
            failed = libc::fallocate64(file.as_raw_fd(), mode, start, length) != 0;
            error = io::Error::last_os_error();
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        if failed { Err(error) } else { Ok(()) }
    }
}
