//! Errors of reading and writing files.

use std::fmt;

/// The class of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The operating system, or a function of the caller, failed to read or write.
    Io,
    /// The file is broken, or its format is unknown.
    Format,
    /// The file is valid, but has something that is not supported.
    Unsupported,
    /// Memory could not be allocated.
    NoMem,
}

/// An error, with its place in the file.
#[derive(Debug)]
pub struct Error {
    /// The class of the error.
    pub kind: Kind,
    /// A sentence for people, in lower case and without a period. It names the byte if the error has one.
    pub message: String,
}

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns the error for a broken file. `at` is the byte at which the reader noticed it.
    #[cold]
    pub fn format(at: u64, what: fmt::Arguments<'_>) -> Error {
        Error { kind: Kind::Format, message: format!("byte {at}: {what}") }
    }

    /// Returns the error for a broken file, if no single byte is wrong.
    #[cold]
    pub fn broken(what: fmt::Arguments<'_>) -> Error {
        Error { kind: Kind::Format, message: what.to_string() }
    }

    /// Returns the error for something that is not supported.
    #[cold]
    pub fn unsupported(what: fmt::Arguments<'_>) -> Error {
        Error { kind: Kind::Unsupported, message: what.to_string() }
    }

    /// Returns the error for a failure of the operating system.
    #[cold]
    pub fn io(what: fmt::Arguments<'_>) -> Error {
        Error { kind: Kind::Io, message: what.to_string() }
    }

    /// Returns the error for a failed allocation of `bytes` bytes.
    #[cold]
    pub fn memory(bytes: u64) -> Error {
        Error { kind: Kind::NoMem, message: format!("out of memory: {bytes} bytes could not be allocated") }
    }

    /// Returns the error with the place in front of its message.
    #[cold]
    pub(crate) fn within(self, place: fmt::Arguments<'_>) -> Error {
        Error { message: format!("{place}: {}", self.message), ..self }
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
