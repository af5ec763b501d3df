//! Linux.

use super::{grow_sparse, physical};
use std::ffi::{CString, c_int, c_void};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::{ffi::OsStrExt, fs::MetadataExt, fs::OpenOptionsExt};
use std::path::Path;

/// Grows a file of `from` bytes to at least `to` bytes. Reserves the space if the file system supports that, so that a full file system is
/// an error here and not a SIGBUS at a later write.
///
/// Other processes may grow the file at the same time, and use the part that they have mapped. So the length is only ever raised, never set
/// to a length that was measured before. A failure does not shorten the file: if a full file system refuses space that seemed free, blocks
/// may stay reserved beyond the end of the file, until it is removed or truncated.
pub fn grow(file: &File, from: u64, to: u64) -> io::Result<()> {
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

/// The maximum length to which this process may grow files. Beyond it, the system sends a signal that ends the process.
fn largest_file() -> u64 {
    let mut limit = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the system fills the struct in.
    if unsafe { libc::getrlimit64(libc::RLIMIT_FSIZE, &mut limit) } == 0 { limit.rlim_cur } else { u64::MAX }
}

/// The space into which a file can grow.
struct Space {
    free: u64,
    /// True if the file system has a size. The one of `memfd_create` has none: its files can use all memory, and space that is reserved
    /// there is lost to other processes, even if it is not used.
    is_bounded: bool,
}

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
        let in_memory = if is_memory { available() as u64 } else { u64::MAX };
        Ok(Space { free: in_system.min(in_memory), is_bounded })
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS))
}

/// `fallocate` with all signals blocked. A signal makes the kernel undo the whole reservation, and signals may arrive faster than the call
/// ends.
fn fallocate(file: &File, mode: c_int, start: u64, length: u64) -> io::Result<()> {
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

/// A new file in memory, without a name, of `bytes` zeros. Seals keep every process from changing its length.
pub fn shared_memory(bytes: usize) -> io::Result<File> {
    // SAFETY: the name is a C string, and the new descriptor has no other owner.
    let file = unsafe {
        match libc::memfd_create(c"thorn".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) {
            -1 => return Err(io::Error::last_os_error()),
            fd => File::from_raw_fd(fd),
        }
    };
    grow(&file, 0, bytes as u64)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: the descriptor is open.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } == -1 { Err(io::Error::last_os_error()) } else { Ok(file) }
}

/// Returns true if the open descriptor is of a file in memory. Only such files have seals.
pub fn is_shared_memory(fd: RawFd) -> bool {
    // SAFETY: the call reads the number of a descriptor.
    unsafe { libc::fcntl(fd, libc::F_GET_SEALS) != -1 }
}

/// Creates a file without a name in a folder. Returns `None` if the system does not support such files, or cannot give them a name later.
pub fn nameless(folder: &Path, mode: u32) -> Option<File> {
    let can_link = Path::new("/proc/self/fd").exists();
    can_link.then(|| OpenOptions::new().read(true).write(true).mode(mode).custom_flags(libc::O_TMPFILE).open(folder).ok()).flatten()
}

/// Gives a file of [`nameless`] the name `path`, which must be new.
pub fn link(file: &File, path: &Path) -> io::Result<()> {
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: both paths are C strings.
    let failed = unsafe { libc::linkat(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::AT_SYMLINK_FOLLOW) } != 0;
    if failed { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Names the calling thread for debuggers.
pub fn name_thread(index: usize) {
    // The last byte stays 0 and ends the name.
    let mut name = [0; 16];
    _ = write!(&mut name[..15], "thorn-{index}");
    // SAFETY: the thread is the calling one, and `name` is a C string.
    unsafe { libc::pthread_setname_np(libc::pthread_self(), name.as_ptr().cast()) };
}

/// Advises the system to use huge pages. If it refuses, nothing happens.
///
/// # Safety
/// The range consists of whole pages of a mapping of this library.
pub unsafe fn advise_huge(start: *mut c_void, size: usize) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { libc::madvise(start, size, libc::MADV_HUGEPAGE) };
}

/// The memory in bytes that Linux reports as available without affecting other processes.
fn available() -> usize {
    let told = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes = |name: &str| -> Option<usize> {
        let line = told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line?.trim().strip_suffix(" kB")?.parse().ok()
    };
    let free = kilobytes("MemAvailable").map_or(usize::MAX, |n| n.saturating_add(kilobytes("SwapFree").unwrap_or(0)).saturating_mul(1024));
    free.min(memory())
}

/// The memory in bytes that this process may use: the machine's, or the limit of its control group.
pub fn memory() -> usize {
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
    group.map_or(physical(), |group: usize| group.min(physical()))
}

/// The free bytes and all bytes of the machine's memory.
pub fn bytes_of_machine() -> [usize; 2] {
    // SAFETY: sysconf only reads its argument.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_AVPHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    [usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(page).unwrap_or(0)), physical()]
}

/// Takes all pending signals of a set, whose signals are blocked.
pub fn take_pending(signals: &libc::sigset_t) {
    let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointers are valid during the call.
    while unsafe { libc::sigtimedwait(signals, std::ptr::null_mut(), &now) } > 0 {}
}

/// Asks for the permission to use the tiles of AMX, for the process. Returns false if the system refuses.
#[cfg(target_arch = "x86_64")]
pub fn permits_tiles() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: the call reads and writes no memory of the process.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_memory_is_available() {
        assert!(available() > 1 << 20 && available() <= memory());
    }
}
