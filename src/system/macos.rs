//! macOS, and other systems of Unix that are not Linux.

use super::{grow_sparse, physical};
use std::ffi::{CString, c_void};
use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, RawFd};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Grows a file to at least `to` bytes. The system has no call that reserves space.
pub fn grow(file: &File, _from: u64, to: u64) -> io::Result<()> {
    grow_sparse(file, to)
}

/// A new object of shared memory, of `bytes` zeros. Its name is removed at once.
pub fn shared_memory(bytes: usize) -> io::Result<File> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        // A name has at most 31 bytes on macOS.
        let name = CString::new(format!("/thorn-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed)))?;
        // SAFETY: the name is a C string, and the new descriptor has no other owner.
        let file = unsafe {
            match libc::shm_open(name.as_ptr(), libc::O_RDWR | libc::O_CREAT | libc::O_EXCL, 0o600) {
                -1 => Err(io::Error::last_os_error()),
                fd => {
                    libc::shm_unlink(name.as_ptr());
                    Ok(File::from_raw_fd(fd))
                }
            }
        };
        match file {
            // An earlier process with the same number was killed and left the object.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
            Ok(file) => return file.set_len(bytes as u64).map(|()| file),
        }
    }
}

/// Returns true if the open descriptor is of shared memory. The system has no names of descriptors, so the function is never called.
pub fn is_shared_memory(_fd: RawFd) -> bool {
    false
}

/// Returns `None`, because the system has no files without a name.
pub fn nameless(_folder: &Path, _mode: u32) -> Option<File> {
    None
}

/// Fails, because there are no files of [`nameless`].
pub fn link(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Names the calling thread for debuggers.
pub fn name_thread(index: usize) {
    #[cfg(target_os = "macos")]
    if let Ok(name) = CString::new(format!("thorn-{index}")) {
        // SAFETY: the name is a C string.
        unsafe { libc::pthread_setname_np(name.as_ptr()) };
    }
    #[cfg(not(target_os = "macos"))]
    let _ = index;
}

/// Does nothing: the system chooses the size of pages.
///
/// # Safety
/// There are no preconditions. Other systems have some.
pub unsafe fn advise_huge(_start: *mut c_void, _size: usize) {}

/// The memory in bytes that this process may use.
pub fn memory() -> usize {
    physical()
}

/// The free bytes and all bytes of the machine's memory.
#[cfg(target_os = "macos")]
pub fn bytes_of_machine() -> [usize; 2] {
    // SAFETY: the structure is plain numbers, which the call fills in. sysconf only reads its argument.
    let (pages, page) = unsafe {
        let mut found: libc::vm_statistics64 = std::mem::zeroed();
        let mut words = libc::HOST_VM_INFO64_COUNT;
        #[allow(deprecated, reason = "the crate recommends another crate for this function")]
        let host = libc::mach_host_self();
        match libc::host_statistics64(host, libc::HOST_VM_INFO64, (&raw mut found).cast(), &mut words) {
            libc::KERN_SUCCESS => (found.free_count as usize + found.inactive_count as usize, libc::sysconf(libc::_SC_PAGESIZE)),
            _ => (0, 0),
        }
    };
    [pages.saturating_mul(usize::try_from(page).unwrap_or(0)).min(physical()), physical()]
}

/// All bytes of the machine's memory, twice: the number of free bytes is unknown.
#[cfg(not(target_os = "macos"))]
pub fn bytes_of_machine() -> [usize; 2] {
    [physical(); 2]
}

/// Takes all pending signals of a set, whose signals are blocked.
pub fn take_pending(signals: &libc::sigset_t) {
    // SAFETY: the sets are plain bits, and the pointers are valid during the calls. A signal that is pending ends the wait at once.
    unsafe {
        for signal in 1..32 {
            let (mut pending, mut taken) = (std::mem::zeroed(), 0);
            libc::sigpending(&mut pending);
            if libc::sigismember(signals, signal) == 1 && libc::sigismember(&pending, signal) == 1 {
                libc::sigwait(signals, &mut taken);
            }
        }
    }
}

/// Returns false: the system has no such permission.
#[cfg(target_arch = "x86_64")]
pub fn permits_tiles() -> bool {
    false
}
