//! The output of a command: a file, or the standard output, which is treated as a file.

use crate::source::c_path;
use crate::stop::{Result, Stop};
use clap::ValueEnum;
use std::ffi::{CStr, CString, OsStr};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::thread;
use thorn::files::{
    TH_FILE_BY_NAME, TH_FILE_CSV, TH_FILE_MATRIX_MARKET, TH_FILE_NPY, TH_FILE_NPZ, TH_FILE_NPZ_DEFLATED, TH_FILE_PNG, TH_FILE_PNM,
    TH_FILE_PT, TH_FILE_SAFETENSORS, TH_FILE_SVMLIGHT, TH_FILE_T7, TH_FILE_T7_ASCII, TH_FILE_TSV, THFileFormat,
};

/// An output format.
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
    /// A data set of svmlight: labels and a sparse matrix
    Svm,
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
    /// Returns the library's code of the format.
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
            Format::Svm => TH_FILE_SVMLIGHT,
            Format::Csv => TH_FILE_CSV,
            Format::Tsv => TH_FILE_TSV,
            Format::Pnm => TH_FILE_PNM,
            Format::Png => TH_FILE_PNG,
        }
    }
}

/// The destination of a command's output, and its format.
pub struct Output {
    /// `None` is the standard output.
    path: Option<CString>,
    format: THFileFormat,
}

impl Output {
    /// Opens the file `path`, or the standard output for `-` and its names. The default format follows from the suffix of the name.
    pub fn new(path: &OsStr, format: Option<Format>) -> Result<Output> {
        let standard = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == *name);
        if standard && format.is_none() {
            return Err(Stop::Failed("the standard output needs a --format".to_owned()));
        }
        let path = if standard { None } else { Some(c_path(path)?) };
        Ok(Output { path, format: format.map_or(TH_FILE_BY_NAME, Format::code) })
    }

    /// Returns the name for messages.
    pub fn name(&self) -> String {
        self.path.as_ref().map_or_else(|| "standard output".to_owned(), |path| path.to_string_lossy().into_owned())
    }

    /// Calls `write` with a file name and the format. The file is then the output.
    pub fn written<T>(&self, out: &mut dyn Write, write: impl FnOnce(&CStr, THFileFormat) -> Result<T>) -> Result<T> {
        match &self.path {
            Some(path) => write(path, self.format),
            None => through_pipe(out, |path| write(path, self.format)),
        }
    }
}

/// Converts the library's error about the file `path`, which messages call `name`.
pub fn about(path: &CStr, name: &str, error: &thorn::error::Error) -> Stop {
    let text = error.to_string();
    let prefix = format!("\"{}\": ", path.to_string_lossy());
    Stop::file(name, text.strip_prefix(&prefix).unwrap_or(&text))
}

/// Copies to `out` the output of `write` to a file name. The name is a pipe, because the library replaces files but writes to pipes.
fn through_pipe<T>(out: &mut dyn Write, write: impl FnOnce(&CStr) -> Result<T>) -> Result<T> {
    out.flush()?;
    let (mut reader, writer) = io::pipe()?;
    let path = CString::new(format!("/proc/self/fd/{}", writer.as_raw_fd())).unwrap_or_default();
    // This thread has locked `out`, which is empty.
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
        // If the reader of the pipe has gone, the error of the copy tells the reason.
        copied?;
        written
    })
}

/// Returns a duplicate of the standard output's descriptor.
fn duplicate() -> io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::AsFd;
    io::stdout().as_fd().try_clone_to_owned()
}
