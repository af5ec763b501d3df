//! Files and objects of shared memory, which can be mapped.

use crate::system::{self, Access};
use std::ffi::{CStr, c_int};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{NonNull, null_mut};

/// Returns false: the name of shared memory lasts until it is removed.
pub const fn names_need_handles() -> bool {
    false
}

/// An open file or object of shared memory.
pub struct Object(File);

impl Object {
    /// Opens the file `name`, or the object of shared memory with this name. The flag is true if this call created it.
    pub fn open(name: &CStr, is_memory: bool, access: Access) -> io::Result<(Object, bool)> {
        let found = |how| Ok((Object::open_as(name, is_memory, how)?, false));
        match access {
            Access::Read => found(libc::O_RDONLY),
            Access::Write => found(libc::O_RDWR),
            Access::Create | Access::New => match Object::open_as(name, is_memory, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL) {
                // Another process was faster, or the name is a symbolic link to a file that does not exist yet.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && access == Access::Create => {
                    found(libc::O_RDWR | libc::O_CREAT)
                }
                opened => Ok((opened?, true)),
            },
        }
    }

    /// Opens with O_NONBLOCK: opening a pipe, for instance, could wait for ever for its other end.
    fn open_as(name: &CStr, is_memory: bool, how: c_int) -> io::Result<Object> {
        let how = how | libc::O_CLOEXEC | libc::O_NONBLOCK;
        loop {
            // SAFETY: the name ends with NUL.
            let fd = unsafe {
                if is_memory { libc::shm_open(name.as_ptr(), how, 0o600) } else { libc::open(name.as_ptr(), how | libc::O_NOCTTY, 0o600) }
            };
            if fd >= 0 {
                // SAFETY: the descriptor was just opened and has no other owner.
                return Ok(unsafe { Object::own(fd) });
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }

    /// Opens memory that another process shares under a name: the name of a descriptor, `/proc/PID/fd/N`, or a name of `shm_open`. Returns
    /// `None` if the name is of another file.
    pub fn open_shared(name: &CStr) -> io::Result<Option<Object>> {
        let of_descriptor = name.to_bytes().starts_with(b"/proc/");
        let object = Object::open_as(name, !of_descriptor, libc::O_RDWR)?;
        Ok(Some(object).filter(|object| !of_descriptor || system::is_shared_memory(object.descriptor())))
    }

    /// Removes the name of a file or of an object of shared memory. A name that is already removed is no error.
    pub fn remove(name: &CStr, is_memory: bool) {
        // SAFETY: the name ends with NUL.
        unsafe { if is_memory { libc::shm_unlink(name.as_ptr()) } else { libc::unlink(name.as_ptr()) } };
    }

    /// New shared memory without a name, of `bytes` zeros.
    pub fn anonymous(bytes: usize) -> io::Result<Object> {
        system::shared_memory(bytes).map(Object)
    }

    /// The object of a descriptor.
    ///
    /// # Safety
    /// The descriptor is open and has no other owner.
    pub unsafe fn own(fd: c_int) -> Object {
        // SAFETY: the caller keeps this function's contract.
        Object(unsafe { File::from_raw_fd(fd) })
    }

    /// The object of a descriptor, which is duplicated.
    pub fn duplicate(fd: c_int) -> io::Result<Object> {
        // SAFETY: the call accepts any number, and a new descriptor has no other owner.
        match unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: a new descriptor has no other owner.
            duplicate => Ok(unsafe { Object::own(duplicate) }),
        }
    }

    /// The open descriptor.
    pub fn descriptor(&self) -> c_int {
        self.0.as_raw_fd()
    }

    /// A path to the descriptor, which other processes can open.
    pub fn shared_name(&self) -> Option<String> {
        Some(format!("/proc/{}/fd/{}", std::process::id(), self.descriptor()))
    }

    /// The number of bytes; `None` if this is neither a regular file nor shared memory.
    pub fn length(&self) -> io::Result<Option<u64>> {
        let found = self.0.metadata()?;
        Ok(found.is_file().then_some(found.len()))
    }

    /// Maps the first `size` bytes, which may be more than there are. Writes reach the object if it is `shared`.
    pub fn map(&self, size: usize, shared: bool) -> io::Result<NonNull<u8>> {
        // A private mapping is mostly read. Reserving memory for all its pages would make files larger than the machine's memory fail.
        let how = if shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE | libc::MAP_NORESERVE };
        // SAFETY: a new mapping does not affect existing memory.
        let start = unsafe { libc::mmap(null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, how, self.descriptor(), 0) };
        if start == libc::MAP_FAILED {
            Err(io::Error::last_os_error())
        } else {
            NonNull::new(start.cast()).ok_or_else(|| io::ErrorKind::Other.into())
        }
    }

    /// Grows the object of `from` bytes to at least `to` bytes.
    pub fn grow(&self, from: u64, to: u64) -> io::Result<()> {
        system::grow(&self.0, from, to)
    }

    /// The file, for tests.
    #[cfg(test)]
    pub fn file(&self) -> &File {
        &self.0
    }
}

/// Ends a mapping.
///
/// # Safety
/// [`Object::map`] made the mapping, which has `size` bytes and is not used any more.
pub unsafe fn unmap(start: NonNull<u8>, size: usize) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { libc::munmap(start.as_ptr().cast(), size) };
}

/// Returns true if the number is of an open descriptor.
pub fn is_descriptor(fd: c_int) -> bool {
    // SAFETY: fcntl with F_GETFD accepts any number.
    unsafe { libc::fcntl(fd, libc::F_GETFD) != -1 }
}
