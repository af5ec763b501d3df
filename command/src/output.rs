//! The output of a command: a file, or the standard output as if it were one.

use crate::source::c_path;
use crate::stop::{Result, Stop};
use clap::ValueEnum;
use std::ffi::{CStr, CString, OsStr};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::thread;
use thorn::files::{
    TH_FILE_BY_NAME, TH_FILE_CSV, TH_FILE_MATRIX_MARKET, TH_FILE_NPY, TH_FILE_NPZ, TH_FILE_NPZ_DEFLATED, TH_FILE_PNG, TH_FILE_PNM,
    TH_FILE_PT, TH_FILE_SAFETENSORS, TH_FILE_T7, TH_FILE_T7_ASCII, TH_FILE_TSV, THFileFormat,
};

/// A format that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// PyTorch's, since 1.6
    Pt,
    /// Torch7's, binary
    T7,
    /// Torch7's, as a text
    T7Ascii,
    /// One array of NumPy
    Npy,
    /// Arrays of NumPy
    Npz,
    /// Arrays of NumPy, compressed
    NpzCompressed,
    /// safetensors
    Safetensors,
    /// A matrix of Matrix Market, sparse or dense
    Mtx,
    /// A table with commas
    Csv,
    /// A table with tabulators
    Tsv,
    /// An image: PGM or PPM
    Pnm,
    /// An image
    Png,
}

impl Format {
    /// The library's number.
    pub fn code(self) -> THFileFormat {
        match self {
            Format::Pt => TH_FILE_PT,
            Format::T7 => TH_FILE_T7,
            Format::T7Ascii => TH_FILE_T7_ASCII,
            Format::Npy => TH_FILE_NPY,
            Format::Npz => TH_FILE_NPZ,
            Format::NpzCompressed => TH_FILE_NPZ_DEFLATED,
            Format::Safetensors => TH_FILE_SAFETENSORS,
            Format::Mtx => TH_FILE_MATRIX_MARKET,
            Format::Csv => TH_FILE_CSV,
            Format::Tsv => TH_FILE_TSV,
            Format::Pnm => TH_FILE_PNM,
            Format::Png => TH_FILE_PNG,
        }
    }
}

/// The place where a command writes, and the format.
pub struct Output {
    /// `None` is the standard output.
    path: Option<CString>,
    format: THFileFormat,
}

impl Output {
    /// The file `path`, or the standard output for `-` and its names. A format that is not given is that of the name's ending.
    pub fn new(path: &OsStr, format: Option<Format>) -> Result<Output> {
        let standard = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == *name);
        if standard && format.is_none() {
            return Err(Stop::Failed("the standard output needs a --format".to_owned()));
        }
        let path = if standard { None } else { Some(c_path(path)?) };
        Ok(Output { path, format: format.map_or(TH_FILE_BY_NAME, Format::code) })
    }

    /// The name for people.
    pub fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| "standard output".to_owned(), |path| path.to_string_lossy().into_owned())
    }

    /// Has `write` write to a file of this name, in this format.
    pub fn written<T>(&self, out: &mut dyn Write, write: impl FnOnce(&CStr, THFileFormat) -> Result<T>) -> Result<T> {
        match &self.path {
            Some(path) => write(path, self.format),
            None => through_pipe(out, |path| write(path, self.format)),
        }
    }
}

/// An error of the library about the file `path`, which people call `name`.
pub fn about(path: &CStr, name: &str, error: &thorn::error::Error) -> Stop {
    let text = error.to_string();
    let prefix = format!("\"{}\": ", path.to_string_lossy());
    Stop::file(name, text.strip_prefix(&prefix).unwrap_or(&text))
}

/// Copies what `write` writes to the file that it is given to `out`. The library replaces files and writes to pipes, so it is given a pipe.
fn through_pipe<T>(out: &mut dyn Write, write: impl FnOnce(&CStr) -> Result<T>) -> Result<T> {
    out.flush()?;
    let (mut reader, writer) = io::pipe()?;
    let path = CString::new(format!("/proc/self/fd/{}", writer.as_raw_fd())).unwrap_or_default();
    // `out` is locked by this thread, and empty.
    let mut stdout = std::fs::File::from(duplicate()?);
    thread::scope(|scope| {
        let copying = scope.spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            loop {
                match reader.read(&mut buffer)? {
                    0 => return Ok(()),
                    read => stdout.write_all(&buffer[..read])?,
                }
            }
        });
        let written = write(&path);
        drop(writer);
        let copied: io::Result<()> = copying.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // Where nobody reads the pipe any more, copying tells why.
        copied?;
        written
    })
}

/// Another descriptor of the standard output.
fn duplicate() -> io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::AsFd;
    io::stdout().as_fd().try_clone_to_owned()
}
