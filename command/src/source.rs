//! Files that are read.

use crate::{Result, Stop};
use std::ffi::{CString, OsStr};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use thorn::dtype::Dtype;
use thorn::error::Error;
use thorn::files::{Memory, Reading};
use thorn::tensor::Tensor;

/// An open file, with what it needs.
pub struct Source {
    archive: Reading,
    /// The standard input as it was read; the archive reads from here.
    _bytes: Vec<u8>,
}

/// A name for the library.
pub fn c_path(path: &OsStr) -> Result<CString> {
    CString::new(path.as_bytes()).map_err(|_| Stop::Failed("a file name has a byte of 0".to_owned()))
}

impl Source {
    /// Opens a file; `-` is the standard input, which is read to its end.
    pub fn open(path: &OsStr) -> Result<Source> {
        if path != "-" {
            return Ok(Source { archive: Reading::open(&c_path(path)?)?, _bytes: Vec::new() });
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        // SAFETY: the bytes are dropped after the archive, and a vector that moves leaves its elements where they are.
        let memory = unsafe { Memory::new(bytes.as_ptr().cast(), bytes.len() as i64)? };
        Ok(Source { archive: Reading::of_memory(memory)?, _bytes: bytes })
    }

    /// The archive.
    pub fn archive(&self) -> &Reading {
        &self.archive
    }

    /// The number of the tensor called `name`, or of the only one.
    pub fn find(&self, name: Option<&str>) -> Result<i64> {
        match name {
            Some(name) => {
                let name = CString::new(name).map_err(|_| Stop::Failed("a tensor's name has no byte of 0".to_owned()))?;
                Ok(self.archive.found(&name)?)
            }
            None if self.archive.count() == 1 => Ok(0),
            None => Err(Stop::Failed(format!("the file has {} tensors: name one", self.archive.count()))),
        }
    }

    /// What is to be told of each tensor.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        (0..self.archive.count())
            .map(|index| {
                let sizes = self.archive.sizes(index)?.to_vec();
                let elements = sizes.iter().product();
                let dtype = self.archive.dtype(index);
                Ok(Entry { index, name: self.archive.name(index)?.to_string_lossy().into_owned(), dtype, sizes, elements })
            })
            .collect()
    }
}

/// A tensor of a file.
pub struct Entry {
    /// Its number.
    pub index: i64,
    /// Its name.
    pub name: String,
    /// Its dtype, or why it cannot be read.
    pub dtype: thorn::error::Result<Dtype>,
    /// Its sizes.
    pub sizes: Vec<i64>,
    /// The number of its elements.
    pub elements: i64,
}

impl Entry {
    /// The bytes that its elements take.
    pub fn bytes(&self) -> i64 {
        self.dtype.as_ref().map_or(0, |dtype| self.elements * dtype.size() as i64)
    }

    /// The tensor.
    pub fn tensor(&self, source: &Source) -> std::result::Result<Tensor, Error> {
        source.archive().tensor(self.index)
    }
}

/// Sizes as people write them: `[2, 3]`.
pub fn shape(sizes: &[i64]) -> String {
    format!("{sizes:?}")
}
