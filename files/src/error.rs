//! Why a file could not be read or written.

use std::fmt;

/// The class of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The operating system, or a function of the caller, refused to read or write.
    Io,
    /// The file is broken, or of an unknown format.
    Format,
    /// The file is sound, but says something that is not offered.
    Unsupported,
    /// Memory could not be had.
    NoMem,
}

/// A failure, with its place in the file.
#[derive(Debug)]
pub struct Error {
    /// The class of the failure.
    pub kind: Kind,
    /// A sentence for people in lower case, without a period; it names the byte where there is one.
    pub message: String,
}

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// A broken file; `at` is the byte where it was found to be.
    #[cold]
    pub fn format(at: u64, what: fmt::Arguments<'_>) -> Error {
        Error { kind: Kind::Format, message: format!("byte {at}: {what}") }
    }

    /// A broken file as a whole.
    #[cold]
    pub fn broken(what: fmt::Arguments<'_>) -> Error {
        Error { kind: Kind::Format, message: what.to_string() }
    }

    /// Something that is not offered.
    #[cold]
    pub fn unsupported(what: fmt::Arguments<'_>) -> Error {
        Error { kind: Kind::Unsupported, message: what.to_string() }
    }

    /// A failure of the operating system.
    #[cold]
    pub fn io(what: fmt::Arguments<'_>) -> Error {
        Error { kind: Kind::Io, message: what.to_string() }
    }

    /// Memory that could not be had.
    #[cold]
    pub fn memory(bytes: u64) -> Error {
        Error { kind: Kind::NoMem, message: format!("out of memory: {bytes} bytes could not be allocated") }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    #[cold]
    fn from(error: std::io::Error) -> Error {
        let kind = match error.kind() {
            std::io::ErrorKind::OutOfMemory => Kind::NoMem,
            std::io::ErrorKind::InvalidData | std::io::ErrorKind::UnexpectedEof => Kind::Format,
            _ => Kind::Io,
        };
        Error { kind, message: error.to_string() }
    }
}
