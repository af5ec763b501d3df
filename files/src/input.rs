//! Sources of bytes: a file, memory, or functions of the caller.

use crate::error::{Error, Kind, Result};
use crate::{grow, system};
use std::fs::File;

/// Bytes that are read by offset. Several threads may read at a time.
pub trait Input: Sync {
    /// Returns the number of bytes.
    fn size(&self) -> u64;

    /// Fills `to` with the bytes from `offset` on. If fewer bytes are left, the error has the kind [`Kind::Format`].
    fn read_at(&self, offset: u64, to: &mut [u8]) -> Result<()>;

    /// Returns a file with the bytes, which can be mapped; `None` if there is none.
    fn file(&self) -> Option<&File> {
        None
    }
}

/// A regular file. Its size is the size at the time of opening.
pub struct FileInput {
    file: File,
    size: u64,
}

impl FileInput {
    /// Returns an input of an open file.
    pub fn new(file: File) -> Result<FileInput> {
        let size = file.metadata()?.len();
        Ok(FileInput { file, size })
    }
}

impl Input for FileInput {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        within(self.size, offset, to.len())?;
        system::read_at(&self.file, to, offset).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                Error::io(format_args!("the file became shorter while it was read: it had {} bytes", self.size))
            }
            _ => Error::io(format_args!("reading failed: {error}")),
        })
    }

    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }
}

impl<B: AsRef<[u8]> + Sync> Input for B {
    fn size(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn read_at(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        within(self.size(), offset, to.len())?;
        to.copy_from_slice(&self.as_ref()[offset as usize..][..to.len()]);
        Ok(())
    }
}

/// Fails if `len` bytes from `offset` on exceed an input of `size` bytes.
pub fn within(size: u64, offset: u64, len: usize) -> Result<()> {
    if offset > size || len as u64 > size - offset {
        return Err(Error::format(
            offset,
            format_args!("the file ends early: {len} bytes are expected, {} are left", size.saturating_sub(offset)),
        ));
    }
    Ok(())
}

/// A buffered reader of a range of an input.
pub struct Cursor<'a> {
    input: &'a dyn Input,
    /// The offset of the byte that is read next.
    at: u64,
    /// The offset of the first byte after the range.
    end: u64,
    buffer: Vec<u8>,
    /// The offset of the buffer's first byte.
    buffered: u64,
}

const BUFFER: usize = 64 << 10;

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $T:ty;)*) => {
        $($(#[$doc])* pub fn $name(&mut self) -> Result<$T> {
            let mut bytes = [0; size_of::<$T>()];
            self.read(&mut bytes)?;
            Ok(<$T>::from_le_bytes(bytes))
        })*
    };
}

impl<'a> Cursor<'a> {
    /// Returns a reader of the bytes from `at` to `end`, or to the end of the input if it comes first.
    pub fn new(input: &'a dyn Input, at: u64, end: u64) -> Cursor<'a> {
        Cursor { input, at, end: end.min(input.size()), buffer: Vec::new(), buffered: 0 }
    }

    /// Returns the offset of the byte that is read next.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Returns the number of bytes that are left.
    pub fn left(&self) -> u64 {
        self.end.saturating_sub(self.at)
    }

    /// Returns the error for a broken file, at the byte that would be read next.
    #[cold]
    pub fn error(&self, what: std::fmt::Arguments<'_>) -> Error {
        Error::format(self.at, what)
    }

    /// Fills `to` with the next bytes.
    pub fn read(&mut self, to: &mut [u8]) -> Result<()> {
        within(self.end, self.at, to.len())?;
        let from = self.at.wrapping_sub(self.buffered);
        if self.at >= self.buffered && from + to.len() as u64 <= self.buffer.len() as u64 {
            to.copy_from_slice(&self.buffer[from as usize..][..to.len()]);
        } else if to.len() >= BUFFER {
            self.input.read_at(self.at, to)?;
        } else {
            self.fill()?;
            to.copy_from_slice(&self.buffer[..to.len()]);
        }
        self.at += to.len() as u64;
        Ok(())
    }

    /// Fills the buffer with bytes from `at` on. `at` must be less than `end`.
    fn fill(&mut self) -> Result<()> {
        let len = (self.end - self.at).min(BUFFER as u64) as usize;
        if self.buffer.capacity() < len {
            self.buffer = grow::list(len)?;
        }
        self.buffer.resize(len, 0);
        self.buffered = self.at;
        self.input.read_at(self.at, &mut self.buffer).inspect_err(|_| self.buffer.clear())
    }

    /// Returns some of the next bytes, at least one unless none is left. [`Cursor::skip`] moves past them.
    pub fn ahead(&mut self) -> Result<&[u8]> {
        if self.left() == 0 {
            return Ok(&[]);
        }
        if self.at < self.buffered || self.at - self.buffered >= self.buffer.len() as u64 {
            self.fill()?;
        }
        Ok(&self.buffer[(self.at - self.buffered) as usize..])
    }

    /// Returns the next `len` bytes. Fails before it allocates memory if fewer are left.
    pub fn take(&mut self, len: u64) -> Result<Vec<u8>> {
        if len > self.left() {
            return Err(self.error(format_args!("the file ends early: {len} bytes are expected, {} are left", self.left())));
        }
        let mut bytes = grow::zeros(len as usize)?;
        self.read(&mut bytes)?;
        Ok(bytes)
    }

    /// Skips `len` bytes.
    pub fn skip(&mut self, len: u64) -> Result<()> {
        if len > self.left() {
            return Err(self.error(format_args!("the file ends early: {len} bytes are expected, {} are left", self.left())));
        }
        self.at += len;
        Ok(())
    }

    numbers! {
        /// Reads a byte.
        u8: u8;
        /// Reads an unsigned number of two bytes.
        u16: u16;
        /// Reads an unsigned number of four bytes.
        u32: u32;
        /// Reads an unsigned number of eight bytes.
        u64: u64;
        /// Reads a signed number of four bytes.
        i32: i32;
        /// Reads a signed number of eight bytes.
        i64: i64;
        /// Reads a float of four bytes.
        f32: f32;
        /// Reads a float of eight bytes.
        f64: f64;
    }
}

impl std::io::Read for Cursor<'_> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let len = (to.len() as u64).min(self.left()) as usize;
        Cursor::read(self, &mut to[..len]).map_err(into_io)?;
        Ok(len)
    }
}

/// Converts an error to an error of std, for crates that use [`std::io::Read`].
pub fn into_io(error: Error) -> std::io::Error {
    let kind = match error.kind {
        Kind::NoMem => std::io::ErrorKind::OutOfMemory,
        Kind::Format => std::io::ErrorKind::InvalidData,
        _ => std::io::ErrorKind::Other,
    };
    std::io::Error::new(kind, error.message)
}
