//! Sources of bytes for archives: memory of the caller, and functions of the caller.

use super::types::{THReadFunction, THSeekFunction};
use crate::alloc::fork::LongMutex;
use crate::error::{Result, bail};
use std::ffi::{c_int, c_void};
use thorn_files::{Error, Input, Kind};

/// Functions of the caller, which one thread calls at a time.
pub struct Callbacks {
    read: unsafe extern "C" fn(ctx: *mut c_void, buffer: *mut c_void, size: isize) -> isize,
    seek: unsafe extern "C" fn(ctx: *mut c_void, offset: i64, whence: c_int) -> i64,
    ctx: *mut c_void,
    size: u64,
    calling: LongMutex<()>,
}

// SAFETY: the header states that any thread may call the functions, and `calling` admits one thread at a time.
unsafe impl Sync for Callbacks {}

impl Callbacks {
    /// Returns a source that calls the functions. Determines the size by `seek`.
    ///
    /// # Safety
    /// The functions must comply with the documentation of their types for the lifetime of the value.
    pub unsafe fn new(read: THReadFunction, seek: THSeekFunction, ctx: *mut c_void) -> Result<Callbacks> {
        let Some(read) = read else { bail!(Argument, "argument 'read' is NULL") };
        let Some(seek) = seek else { bail!(Argument, "argument 'seek' is NULL") };
        // SAFETY: the caller guarantees that the function is valid.
        let size = unsafe { seek(ctx, 0, libc::SEEK_END) };
        if size < 0 {
            bail!(Io, "the function 'seek' returned {size} for the end of the file")
        }
        Ok(Callbacks { read, seek, ctx, size: size as u64, calling: LongMutex::new(()) })
    }
}

impl Input for Callbacks {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, to: &mut [u8]) -> thorn_files::Result<()> {
        thorn_files::input::within(self.size, offset, to.len())?;
        let failed = |what: std::fmt::Arguments<'_>| Error { kind: Kind::Io, message: what.to_string() };
        let _calling = self.calling.lock().map_err(|error| failed(format_args!("{}", error.message())))?;
        // SAFETY: the caller of `new` guarantees that the functions are valid. `within` has compared the offset with the size.
        let place = unsafe { (self.seek)(self.ctx, offset as i64, libc::SEEK_SET) };
        if place != offset as i64 {
            return Err(failed(format_args!("the function 'seek' returned {place} for the place {offset}")));
        }
        let mut done = 0;
        while done < to.len() {
            let rest = &mut to[done..];
            // SAFETY: `rest` has space for `rest.len()` bytes.
            let read = unsafe { (self.read)(self.ctx, rest.as_mut_ptr().cast(), rest.len() as isize) };
            if read <= 0 || read as usize > rest.len() {
                let at = offset + done as u64;
                return Err(failed(format_args!("the function 'read' returned {read} for {} bytes at byte {at}", rest.len())));
            }
            done += read as usize;
        }
        Ok(())
    }
}

/// Memory of the caller.
pub struct Memory {
    data: *const u8,
    size: usize,
}

// SAFETY: the memory is only read.
unsafe impl Sync for Memory {}

impl Memory {
    /// # Safety
    /// The memory must be valid and unchanged for the lifetime of the value.
    pub unsafe fn new(data: *const c_void, size: i64) -> Result<Memory> {
        if data.is_null() {
            bail!(Argument, "argument 'data' is NULL")
        }
        if size < 0 {
            bail!(Argument, "size {size} is negative")
        }
        Ok(Memory { data: data.cast(), size: size as usize })
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the caller of `new` guarantees that the memory is valid.
        if self.size == 0 { &[] } else { unsafe { std::slice::from_raw_parts(self.data, self.size) } }
    }
}
