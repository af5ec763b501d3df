//! Files and objects of shared memory, which can be mapped.
//!
//! A mapping is a view of a section. Shared memory is a section without a file. Its name lasts as long as a handle of the section. Its
//! length is a number of whole pages, and it cannot grow.

use super::{files, utf8, wide};
use crate::system::Access;
use std::cell::OnceCell;
use std::ffi::{CStr, OsStr, c_int};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{NonNull, null};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use windows_sys::Win32::Foundation::{ERROR_ALREADY_EXISTS, ERROR_INVALID_HANDLE, HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Memory::{
    CreateFileMappingW, FILE_MAP_COPY, FILE_MAP_READ, FILE_MAP_WRITE, MEMORY_BASIC_INFORMATION, MEMORY_MAPPED_VIEW_ADDRESS, MapViewOfFile,
    OpenFileMappingW, PAGE_READWRITE, PAGE_WRITECOPY, UnmapViewOfFile, VirtualQuery,
};

/// Returns true: the name of shared memory lasts as long as its handles.
pub const fn names_need_handles() -> bool {
    true
}

/// An open file or object of shared memory.
pub enum Object {
    /// A file.
    File(File),
    /// Shared memory.
    Memory(Memory),
}

/// Shared memory with a name.
pub struct Memory {
    name: String,
    /// The section. New shared memory has none before it is mapped, because a section is created with its length.
    section: OnceCell<OwnedHandle>,
    is_exclusive: bool,
}

impl Object {
    /// Opens the file `name`, or the object of shared memory with this name. The flag is true if this call created a file.
    pub fn open(name: &CStr, is_memory: bool, access: Access) -> io::Result<(Object, bool)> {
        if is_memory {
            return Ok((Object::Memory(Memory::open(utf8(name)?, access)?), false));
        }
        let path = files::path(name)?;
        let mut how = OpenOptions::new();
        how.read(true).write(access != Access::Read);
        if !matches!(access, Access::Create | Access::New) {
            return Ok((Object::File(how.open(path)?), false));
        }
        match how.create_new(true).open(path) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && access == Access::Create => {
                Ok((Object::File(how.create_new(false).create(true).open(path)?), false))
            }
            opened => Ok((Object::File(opened?), true)),
        }
    }

    /// Opens memory that another process shares under a name.
    pub fn open_shared(name: &CStr) -> io::Result<Option<Object>> {
        Memory::open(utf8(name)?, Access::Write).map(|memory| Some(Object::Memory(memory)))
    }

    /// Removes the name of a file. The name of shared memory ends with its last handle. A name that is already removed is no error.
    pub fn remove(name: &CStr, is_memory: bool) {
        if !is_memory && let Ok(path) = files::path(name) {
            _ = std::fs::remove_file(path);
        }
    }

    /// New shared memory of `bytes` zeros, under a name that no other memory has.
    pub fn anonymous(bytes: usize) -> io::Result<Object> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let name = format!("thorn-{}-{}", std::process::id(), NUMBER.fetch_add(1, Relaxed));
            let memory = Memory { name, section: OnceCell::new(), is_exclusive: true };
            match memory.section(bytes) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
                Ok(_) => return Ok(Object::Memory(memory)),
            }
        }
    }

    /// Is never called, because [`is_descriptor`] accepts no descriptor.
    ///
    /// # Safety
    /// The descriptor is open and has no other owner.
    pub unsafe fn own(_fd: c_int) -> Object {
        unreachable!("there are no descriptors")
    }

    /// Fails, because there are no descriptors.
    pub fn duplicate(_fd: c_int) -> io::Result<Object> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "Windows shares memory by names, not by descriptors"))
    }

    /// Returns -1, because there are no descriptors.
    pub fn descriptor(&self) -> c_int {
        -1
    }

    /// A name by which other processes can open shared memory.
    pub fn shared_name(&self) -> Option<String> {
        if let Object::Memory(memory) = self { Some(memory.name.clone()) } else { None }
    }

    /// The number of bytes; `None` if this is neither a regular file nor shared memory.
    pub fn length(&self) -> io::Result<Option<u64>> {
        match self {
            Object::File(file) => {
                let found = file.metadata()?;
                Ok(found.is_file().then_some(found.len()))
            }
            Object::Memory(memory) => memory.length().map(Some),
        }
    }

    /// Maps the first `size` bytes. If there are fewer bytes, a file that is `shared` grows. Writes reach the object if it is `shared`.
    pub fn map(&self, size: usize, shared: bool) -> io::Result<NonNull<u8>> {
        let file = match self {
            Object::Memory(memory) => return view(memory.section(size)?, FILE_MAP_READ | FILE_MAP_WRITE, size),
            Object::File(file) => file,
        };
        let before = file.metadata()?.len();
        let (protection, access) = if shared { (PAGE_READWRITE, FILE_MAP_READ | FILE_MAP_WRITE) } else { (PAGE_WRITECOPY, FILE_MAP_COPY) };
        // SAFETY: a section has no preconditions. A new handle has no other owner.
        let section = unsafe { owned(CreateFileMappingW(file.as_raw_handle(), null(), protection, high(size), low(size), null()))? };
        view(section.as_raw_handle(), access, size).inspect_err(|_| {
            drop(section);
            // The section has grown the file.
            if before < size as u64 {
                _ = file.set_len(before);
            }
        })
    }

    /// Does nothing: [`Object::map`] has grown the file.
    pub fn grow(&self, _from: u64, _to: u64) -> io::Result<()> {
        Ok(())
    }

    /// The file, for tests.
    #[cfg(test)]
    pub fn file(&self) -> &File {
        match self {
            Object::File(file) => file,
            Object::Memory(_) => panic!("shared memory is no file"),
        }
    }
}

impl Memory {
    fn open(name: &str, access: Access) -> io::Result<Memory> {
        let name = name.strip_prefix('/').unwrap_or(name).to_owned();
        let wide = wide(OsStr::new(&name))?;
        // SAFETY: the name ends with 0. A new handle has no other owner.
        let found = unsafe { owned(OpenFileMappingW(FILE_MAP_READ | FILE_MAP_WRITE, 0, wide.as_ptr())) };
        let is_exclusive = access == Access::New;
        match found {
            Ok(_) if is_exclusive => Err(io::Error::from_raw_os_error(ERROR_ALREADY_EXISTS as i32)),
            Ok(section) => Ok(Memory { name, section: OnceCell::from(section), is_exclusive }),
            Err(error) if error.kind() == io::ErrorKind::NotFound && matches!(access, Access::New | Access::Create) => {
                Ok(Memory { name, section: OnceCell::new(), is_exclusive })
            }
            Err(error) => Err(error),
        }
    }

    /// The section, which is created with `size` bytes if there is none.
    fn section(&self, size: usize) -> io::Result<HANDLE> {
        if let Some(section) = self.section.get() {
            return Ok(section.as_raw_handle());
        }
        let name = wide(OsStr::new(&self.name))?;
        // SAFETY: the name ends with 0. A new handle has no other owner.
        let section = unsafe {
            let section = CreateFileMappingW(INVALID_HANDLE_VALUE, null(), PAGE_READWRITE, high(size), low(size), name.as_ptr());
            let error = io::Error::last_os_error();
            if section.is_null() {
                return Err(error);
            }
            let section = OwnedHandle::from_raw_handle(section);
            if self.is_exclusive && error.raw_os_error() == Some(ERROR_ALREADY_EXISTS as i32) {
                return Err(error);
            }
            section
        };
        Ok(self.section.get_or_init(|| section).as_raw_handle())
    }

    /// The length of a section is the length of its view.
    fn length(&self) -> io::Result<u64> {
        let Some(section) = self.section.get() else { return Ok(0) };
        let start = view(section.as_raw_handle(), FILE_MAP_READ, 0)?;
        let mut found = MEMORY_BASIC_INFORMATION::default();
        // SAFETY: the view exists, and is used nowhere else.
        let filled = unsafe {
            let filled = VirtualQuery(start.as_ptr().cast(), &mut found, size_of::<MEMORY_BASIC_INFORMATION>());
            unmap(start, 0);
            filled
        };
        if filled == 0 { Err(io::Error::from_raw_os_error(ERROR_INVALID_HANDLE as i32)) } else { Ok(found.RegionSize as u64) }
    }
}

fn high(size: usize) -> u32 {
    (size as u64 >> 32) as u32
}

fn low(size: usize) -> u32 {
    size as u32
}

/// Maps the first `size` bytes of a section, or all if `size` is 0.
fn view(section: HANDLE, access: u32, size: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a new view does not affect existing memory.
    let start = unsafe { MapViewOfFile(section, access, 0, 0, size) };
    NonNull::new(start.Value.cast()).ok_or_else(io::Error::last_os_error)
}

/// # Safety
/// `handle` is NULL, or open and without another owner.
unsafe fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller keeps this function's contract.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Ends a mapping.
///
/// # Safety
/// [`Object::map`] made the mapping, which is not used any more.
pub unsafe fn unmap(start: NonNull<u8>, _size: usize) {
    // SAFETY: the caller keeps this function's contract.
    unsafe { UnmapViewOfFile(MEMORY_MAPPED_VIEW_ADDRESS { Value: start.as_ptr().cast() }) };
}

/// Returns false, because there are no descriptors.
pub fn is_descriptor(_fd: c_int) -> bool {
    false
}
