//! Memory that processes share by a descriptor, either created here or received from another process.
//!
//! The memory is a file without a name. It is freed when the last process with a descriptor or a mapping ends, even if that process is
//! killed. An object in `/dev/shm` would keep its name and stay.

use super::{FROMFD, KEEPFD, SHARED, SHAREDMEM, THMapAllocatorContext};
use crate::error::{Error, Kind, Result, bail, reason};
use crate::system::Object;
use std::ffi::{CStr, c_int};
use std::io;

/// The flags for memory that is shared by a descriptor, which stays open with the mapping.
const BY_FD: c_int = SHAREDMEM | FROMFD | KEEPFD;

impl THMapAllocatorContext {
    /// A context for new shared memory of `bytes` zeros, whose length no process can change.
    pub fn anonymous(bytes: usize) -> Result<Box<THMapAllocatorContext>> {
        let failed = |error: io::Error| Error::new(Kind::Io, format_args!("{bytes} bytes of shared memory: {}", reason(&error)));
        let mut context = Self::checked(None, BY_FD)?;
        context.file = Some(Object::anonymous(bytes).map_err(failed)?);
        Ok(context)
    }

    /// A context for the memory of a descriptor, which is duplicated. Fails if there are fewer than `bytes` bytes.
    pub fn of_shared_fd(fd: c_int, bytes: usize) -> Result<Box<THMapAllocatorContext>> {
        let mut context = Self::checked(None, BY_FD)?;
        let failed = |error: io::Error| Error::new(Kind::Io, format_args!("descriptor {fd}: {}", reason(&error)));
        let file = Object::duplicate(fd).map_err(failed)?;
        check_length(&file, bytes, format_args!("descriptor {fd}"))?;
        context.file = Some(file);
        Ok(context)
    }

    /// A context for memory that another process shares under a name, which is not removed: the name of a descriptor, `/proc/PID/fd/N`, or
    /// of shared memory. Fails if there are fewer than `bytes` bytes.
    pub fn of_shared_name(name: &CStr, bytes: usize) -> Result<Box<THMapAllocatorContext>> {
        let mut context = Self::checked(Some(name), BY_FD)?;
        let Some(file) = Object::open_shared(name).map_err(|error| context.failed("cannot open", error))? else {
            bail!(Io, "map {context}: it is no shared memory")
        };
        check_length(&file, bytes, format_args!("{context}"))?;
        context.file = Some(file);
        Ok(context)
    }

    /// Returns true if other processes can see the memory.
    pub fn is_shared(&self) -> bool {
        self.flags & (SHARED | SHAREDMEM) != 0
    }

    /// A path to the descriptor of the memory, which other processes can open. `None` if no descriptor is kept.
    pub fn name_of_descriptor(&self) -> Option<String> {
        self.file.as_ref().and_then(Object::shared_name)
    }

    /// Returns true if the memory can be opened by the context's name. With FROMFD, the name is not used for opening.
    pub fn has_name(&self) -> bool {
        self.filename.is_some() && self.flags & FROMFD == 0
    }
}

fn check_length(file: &Object, bytes: usize, of: std::fmt::Arguments<'_>) -> Result<()> {
    match file.length() {
        Ok(None) => bail!(Io, "{of} is neither a regular file nor shared memory"),
        Ok(Some(length)) if length < bytes.max(1) as u64 => bail!(Io, "{of} has {length} bytes, {} are needed", bytes.max(1)),
        Ok(_) => Ok(()),
        Err(error) => bail!(Io, "{of}: {}", reason(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_can_change_the_length_of_anonymous_memory() {
        let context = THMapAllocatorContext::anonymous(5000).unwrap();
        let file = context.file.as_ref().unwrap().file();
        assert!(file.set_len(10).is_err() && file.set_len(10_000).is_err());
        assert_eq!(file.metadata().unwrap().len(), 5000);
    }

    #[test]
    fn a_descriptor_shorter_than_said_is_an_error() {
        let mut first = THMapAllocatorContext::anonymous(100).unwrap();
        let data = first.map(100).unwrap();
        assert!(THMapAllocatorContext::of_shared_fd(first.fd(), 101).err().unwrap().message().contains("has 100 bytes, 101 are needed"));
        let mut second = THMapAllocatorContext::of_shared_fd(first.fd(), 100).unwrap();
        let same = second.map(100).unwrap();
        // SAFETY: both mappings have 100 bytes.
        unsafe {
            data.cast::<u8>().add(99).write(7);
            assert_eq!(same.cast::<u8>().add(99).read(), 7);
            first.unmap(data);
            assert_eq!(same.cast::<u8>().add(99).read(), 7, "memory outlives the one who made it");
            second.unmap(same);
        }
    }
}
