//! The error type: a status that C callers can test, and a message for people.

use std::ffi::CStr;
use std::fmt::{self, Write};

/// The result of a function: `TH_OK` or the kind of failure. `THGetLastError` returns the message.
pub type THStatus = i32;

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $code:literal;)*) => {
        $($(#[$doc])* pub const $name: THStatus = $code;)*

        /// The name of a status in the header; `None` for other numbers.
        pub fn status_name(status: THStatus) -> Option<&'static CStr> {
            match status {
                $($code => CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()).ok(),)*
                _ => None,
            }
        }
    };
}

statuses! {
    /// The call did what it says.
    TH_OK = 0;
    /// An argument is NULL, out of range or contradicts another.
    TH_ERR_ARGUMENT = 1;
    /// Shapes, strides or offsets do not fit each other or the storage.
    TH_ERR_SHAPE = 2;
    /// The operation has no meaning for this dtype, or the result's dtype cannot hold it.
    TH_ERR_DTYPE = 3;
    /// The tensors live on different devices, or the device cannot do this.
    TH_ERR_DEVICE = 4;
    /// Memory could not be had.
    TH_ERR_NOMEM = 5;
    /// The operating system refused a file, a mapping or shared memory.
    TH_ERR_IO = 6;
    /// A file is broken or of an unknown format.
    TH_ERR_FORMAT = 7;
    /// Meaningful, but not offered.
    TH_ERR_UNSUPPORTED = 8;
    /// A function passed by the caller reported failure.
    TH_ERR_CALLBACK = 9;
    /// A fault inside thorn, caught at the boundary; please report it.
    TH_ERR_INTERNAL = 10;
    /// A matrix is singular, not positive definite or not finite, or an iteration did not converge.
    TH_ERR_NUMERIC = 11;
    /// CUDA: there is no driver, no GPU, no compiler of kernels, or one of them failed.
    TH_ERR_CUDA = 12;
}

/// The class of a failure; its value is a [`THStatus`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Kind {
    Argument = TH_ERR_ARGUMENT,
    Shape = TH_ERR_SHAPE,
    Dtype = TH_ERR_DTYPE,
    Device = TH_ERR_DEVICE,
    NoMem = TH_ERR_NOMEM,
    Io = TH_ERR_IO,
    Format = TH_ERR_FORMAT,
    Unsupported = TH_ERR_UNSUPPORTED,
    Callback = TH_ERR_CALLBACK,
    Internal = TH_ERR_INTERNAL,
    Numeric = TH_ERR_NUMERIC,
    Cuda = TH_ERR_CUDA,
}

/// The reason why a call failed. It is boxed, so that `Result<()>` is one word.
pub struct Error(Box<Failure>);

struct Failure {
    kind: Kind,
    status: THStatus,
    /// The address of the handle that is the subject of `message`; 0 if `message` is a complete sentence.
    subject: usize,
    message: String,
}

/// `Result` with thorn's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error with this message: what is wrong, and the values; in lower case, without a period. `invoke` adds the name of the C
    /// function.
    #[cold]
    pub fn new(kind: Kind, message: fmt::Arguments<'_>) -> Error {
        Error(Box::new(Failure { kind, status: kind as THStatus, subject: 0, message: bounded(message) }))
    }

    /// An error about the handle at an address. `invoke`, which knows the arguments' names, puts the handle's name in front of `message`.
    #[cold]
    pub fn about(handle: usize, kind: Kind, message: fmt::Arguments<'_>) -> Error {
        Error(Box::new(Failure { kind, status: kind as THStatus, subject: handle, message: bounded(message) }))
    }

    /// The error of a caller's function that stopped the work. The C function returns `status`. Only `TH_ERR_INTERNAL` becomes
    /// `TH_ERR_CALLBACK`, because the fault is not in the library.
    #[cold]
    pub fn from_callback(status: THStatus, message: fmt::Arguments<'_>) -> Error {
        let status = if status == TH_ERR_INTERNAL { TH_ERR_CALLBACK } else { status };
        Error(Box::new(Failure { kind: Kind::Callback, status, subject: 0, message: bounded(message) }))
    }

    /// The class of the failure.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The status that the C function returns.
    pub fn status(&self) -> THStatus {
        self.0.status
    }

    /// The address of the handle that the message is about, if there is one.
    pub fn subject(&self) -> Option<usize> {
        Some(self.0.subject).filter(|&handle| handle != 0)
    }

    /// The message, without its subject if there is one.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.subject().is_some() { "the tensor " } else { "" })?;
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}

/// The message of the operating system, without the error number.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}

/// The maximum length of a message in bytes.
pub(crate) const LONGEST_MESSAGE: usize = 1023;

/// `message`, cut to the maximum length and ended by "..." if it is longer. So the memory of a message is bounded.
pub fn bounded(message: fmt::Arguments<'_>) -> String {
    let mut text = Bounded(String::new());
    // An error means that the text was cut, which is intended.
    _ = text.write_fmt(message);
    text.0
}

struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        const MARK: &str = "...";
        let Bounded(text) = self;
        if text.len() + more.len() <= LONGEST_MESSAGE {
            text.push_str(more);
            return Ok(());
        }
        let end = LONGEST_MESSAGE - MARK.len();
        match end.checked_sub(text.len()) {
            Some(capacity) => text.push_str(&more[..more.floor_char_boundary(capacity)]),
            None => text.truncate(text.floor_char_boundary(end)),
        }
        text.push_str(MARK);
        Err(fmt::Error)
    }
}

/// Returns an [`Error`] of the named [`Kind`] with a formatted message.
macro_rules! bail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::error::Error::new($crate::error::Kind::$kind, format_args!($($message)+)))
    };
}
pub(crate) use bail;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_no_numbers() {
        assert_eq!(reason(&std::io::Error::from_raw_os_error(2)), "No such file or directory");
        assert_eq!(reason(&std::io::ErrorKind::Other.into()), "other error");
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let message = |text: &str| Error::new(Kind::Argument, format_args!("{text}")).message().to_string();
        for length in [0, 1, LONGEST_MESSAGE - 1, LONGEST_MESSAGE] {
            assert_eq!(message(&"x".repeat(length)), "x".repeat(length));
        }
        for length in [LONGEST_MESSAGE + 1, 100_000] {
            assert_eq!(message(&"x".repeat(length)), "x".repeat(LONGEST_MESSAGE - 3) + "...");
        }
        // 1020 bytes are 340 characters of three bytes. After a character of one byte, 339 fit.
        assert_eq!(message(&"\u{20ac}".repeat(400)), "\u{20ac}".repeat(340) + "...");
        assert_eq!(message(&("x".to_string() + &"\u{20ac}".repeat(400))), "x".to_string() + &"\u{20ac}".repeat(339) + "...");
        let pieces = Error::new(Kind::Argument, format_args!("{}{}{}", "x".repeat(1022), "yy", "z"));
        assert_eq!(pieces.message(), "x".repeat(1020) + "...");
    }
}
