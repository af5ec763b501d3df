//! Input files.

use crate::stop::{Result, Stop};
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use thorn::dtype::Dtype;
use thorn::error::Error;
use thorn::files::{Memory, Reading, Sparse, TH_FILE_PT2};
use thorn::program::Program;
use thorn::program::describe::Description;
use thorn::tensor::Tensor;

/// An open file.
pub struct Source {
    /// Declared first, because the archive must be dropped before the bytes that it reads.
    archive: Reading,
    /// The bytes that were read from a pipe.
    bytes: Vec<u8>,
    /// The path of a file that is no pipe.
    path: Option<CString>,
    /// The name in messages.
    name: String,
    /// The beginning of the library's messages.
    prefix: String,
}

/// Converts a name for the library.
pub fn c_path(path: &OsStr) -> Result<CString> {
    CString::new(path.as_bytes()).map_err(|_| Stop::file(&path.to_string_lossy(), "a file name has a byte of 0"))
}

impl Source {
    /// Opens a file; `-` is the standard input. A pipe is read to its end.
    pub fn open(path: &OsStr) -> Result<Source> {
        if path == "-" {
            return Source::standard_input();
        }
        let name = path.to_string_lossy().into_owned();
        if std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo()) {
            let file = File::open(path).map_err(|error| Stop::io(&name, &error))?;
            return Source::of_pipe(name, file);
        }
        let path = c_path(path)?;
        let archive = Reading::open(&path)?;
        Ok(Source { archive, bytes: Vec::new(), path: Some(path), prefix: format!("\"{name}\": "), name })
    }

    fn standard_input() -> Result<Source> {
        let name = "standard input".to_owned();
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Err(Stop::file(&name, "it is a terminal"));
        }
        // A file can be mapped if it is read from its beginning.
        let mut file = File::from(stdin.as_fd().try_clone_to_owned().map_err(|error| Stop::io(&name, &error))?);
        if file.metadata().is_ok_and(|found| found.is_file())
            && file.stream_position().is_ok_and(|at| at == 0)
            && let Ok(archive) = Reading::open(c"/proc/self/fd/0")
        {
            let path = Some(c"/proc/self/fd/0".to_owned());
            return Ok(Source { archive, bytes: Vec::new(), path, prefix: "\"/proc/self/fd/0\": ".to_owned(), name });
        }
        Source::of_pipe(name, file)
    }

    fn of_pipe(name: String, mut pipe: File) -> Result<Source> {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).map_err(|error| Stop::io(&name, &error))?;
        // SAFETY: the archive is dropped before the bytes, and moving a vector does not move its elements.
        let memory = unsafe { Memory::new(bytes.as_ptr().cast(), bytes.len() as i64)? };
        let archive = Reading::of_memory(memory).map_err(|error| Stop::file(&name, error))?;
        Ok(Source { archive, bytes, path: None, name, prefix: String::new() })
    }

    /// Returns true if the file is an exported program.
    pub fn is_program(&self) -> bool {
        self.archive.format() == TH_FILE_PT2
    }

    /// Opens the exported program in the file.
    pub fn program(&self) -> Result<Program> {
        self.opened(Program::open, Program::of_memory)
    }

    /// Describes the exported program in the file.
    pub fn description(&self) -> Result<Description> {
        self.opened(Description::open, Description::of_memory)
    }

    fn opened<T>(&self, open: fn(&CStr) -> thorn::error::Result<T>, of_memory: fn(Memory) -> thorn::error::Result<T>) -> Result<T> {
        let made = match &self.path {
            Some(path) => open(path),
            // SAFETY: the result does not refer to the bytes, because elements of a file in memory are copied.
            None => unsafe { Memory::new(self.bytes.as_ptr().cast(), self.bytes.len() as i64) }.and_then(of_memory),
        };
        made.map_err(|error| Stop::file(&self.name, self.reason(&error)))
    }

    /// The archive.
    pub fn archive(&self) -> &Reading {
        &self.archive
    }

    /// Returns the file's name for messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a message of the library about this file, without the file's name.
    fn reason(&self, error: &Error) -> String {
        let text = error.to_string();
        text.strip_prefix(&self.prefix).map_or_else(|| text.clone(), str::to_owned)
    }

    /// Returns an error about a tensor of this file.
    pub fn stop(&self, entry: &Entry, reason: &str) -> Stop {
        Stop::file(&self.name, format_args!("tensor '{}': {reason}", entry.name))
    }

    /// Converts the library's error about a tensor of this file.
    pub fn failed(&self, entry: &Entry, error: &Error) -> Stop {
        self.stop(entry, &self.reason(error))
    }

    /// Returns the keys and values.
    pub fn metadata(&self) -> Result<Vec<(String, String)>> {
        (0..self.archive.keys())
            .map(|index| {
                let (key, value) = self.archive.metadata(index)?;
                Ok((key.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
            })
            .collect()
    }

    /// Returns the value of a key.
    pub fn value(&self, key: &str) -> Option<String> {
        let key = CString::new(key).ok()?;
        self.archive.value(&key).map(|value| value.to_string_lossy().into_owned())
    }

    /// Returns the description of each tensor.
    pub fn entries(&self) -> Result<Vec<Entry>> {
        (0..self.archive.count()).map(|index| self.entry(index)).collect()
    }

    fn entry(&self, index: i64) -> Result<Entry> {
        let name = self.archive.name(index)?.to_string_lossy().into_owned();
        let sizes = self.archive.sizes(index)?.to_vec();
        let dtype = self.archive.dtype(index).map_err(|error| {
            let reason = self.reason(&error);
            reason.strip_prefix(&format!("tensor '{name}': ")).unwrap_or(&reason).to_owned()
        });
        let nnz = self.archive.entries(index)?;
        let dtype = match nnz {
            Some(nnz) => dtype.and_then(|dtype| Err(format!("sparse, {} of {dtype}", counted_entries(nnz)))),
            None => dtype,
        };
        let elements = sizes.iter().fold(1, |product: i64, &size| product.saturating_mul(size));
        Ok(Entry { index, elements, name, dtype, sizes, is_sparse: nnz.is_some() })
    }

    /// Returns the description of the tensor called `name`, or of the only tensor.
    pub fn find(&self, name: Option<&str>) -> Result<Entry> {
        let count = self.archive.count();
        let Some(name) = name else {
            return match count {
                1 => self.entry(0),
                0 => Err(Stop::file(&self.name, "it has no tensors")),
                _ => Err(Stop::file(&self.name, format_args!("it has {count} tensors: name one"))),
            };
        };
        let found = CString::new(name).ok().and_then(|name| self.archive.find(&name));
        match found {
            Some(index) => self.entry(index),
            None => Err(Stop::file(&self.name, format_args!("no tensor is named '{name}'{}", self.nearest(name)?))),
        }
    }

    /// Returns the names that contain this one, for a message.
    fn nearest(&self, name: &str) -> Result<String> {
        let entries = self.entries()?;
        let mut like = entries.iter().map(|entry| &entry.name).filter(|known| !name.is_empty() && known.contains(name)).take(3);
        Ok(like
            .next()
            .map_or_else(String::new, |first| like.fold(format!("; there is '{first}'"), |text, next| text + &format!(", '{next}'"))))
    }

    /// Returns a sparse tensor, whose parts are mapped if possible.
    pub fn sparse(&self, entry: &Entry) -> Result<Sparse> {
        self.archive.sparse(entry.index).map_err(|error| self.failed(entry, &error))
    }

    /// Returns a tensor, whose elements are mapped if possible.
    pub fn tensor(&self, entry: &Entry) -> Result<Tensor> {
        if let Err(reason) = &entry.dtype {
            return Err(self.stop(entry, reason));
        }
        self.archive.tensor(entry.index).map_err(|error| self.failed(entry, &error))
    }
}

/// Returns a number of entries as text.
fn counted_entries(nnz: i64) -> String {
    if nnz == 1 { "1 entry".to_owned() } else { format!("{nnz} entries") }
}

/// The description of a tensor.
pub struct Entry {
    /// The index in the file.
    pub index: i64,
    /// The name; empty if the file is one tensor.
    pub name: String,
    /// The dtype, or the reason why the tensor cannot be read as a dense tensor.
    pub dtype: std::result::Result<Dtype, String>,
    /// True if the tensor is sparse.
    pub is_sparse: bool,
    /// The sizes.
    pub sizes: Vec<i64>,
    /// The number of elements.
    pub elements: i64,
}

impl Entry {
    /// Returns the bytes of the elements in memory. A file may repeat a few elements any number of times.
    pub fn bytes(&self) -> u64 {
        self.dtype.as_ref().map_or(0, |dtype| (self.elements as u64).saturating_mul(dtype.size() as u64))
    }

    /// Returns the sizes as text: `[2, 3]`.
    pub fn shape(&self) -> String {
        format!("{:?}", self.sizes)
    }
}

/// Returns the bytes in memory of all these tensors' elements.
pub fn total<'a>(entries: impl Iterator<Item = &'a Entry>) -> u64 {
    entries.fold(0, |sum, entry| sum.saturating_add(entry.bytes()))
}
