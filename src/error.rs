//! One error type: a kind C callers can switch on and a sentence people can read.

use std::fmt;

/// What a function returns: `TH_OK` or the kind of failure. The sentence is in `THGetLastError`.
pub type THStatus = i32;

/// The call did what it says.
pub const TH_OK: THStatus = 0;
/// An argument is NULL, out of range or contradicts another.
pub const TH_ERR_ARGUMENT: THStatus = 1;
/// Shapes, strides or offsets do not fit each other or the storage.
pub const TH_ERR_SHAPE: THStatus = 2;
/// The operation has no meaning for this dtype, or the result's dtype cannot hold it.
pub const TH_ERR_DTYPE: THStatus = 3;
/// The tensors live on different devices, or the device cannot do this.
pub const TH_ERR_DEVICE: THStatus = 4;
/// Memory could not be had.
pub const TH_ERR_NOMEM: THStatus = 5;
/// The operating system refused a file, a mapping or shared memory.
pub const TH_ERR_IO: THStatus = 6;
/// A file is broken or of an unknown format.
pub const TH_ERR_FORMAT: THStatus = 7;
/// Meaningful, but not offered.
pub const TH_ERR_UNSUPPORTED: THStatus = 8;
/// A function passed by the caller reported failure.
pub const TH_ERR_CALLBACK: THStatus = 9;
/// A fault inside thorn, caught at the boundary; please report it.
pub const TH_ERR_INTERNAL: THStatus = 10;

/// The class of a failure; its value is the [`THStatus`].
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
}

/// Why a call failed. Boxed, so that `Result<()>` stays one word on the way of a call that succeeds.
pub struct Error(Box<Failure>);

struct Failure {
    kind: Kind,
    status: THStatus,
    message: String,
}

/// `Result` with thorn's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `kind` that reads `message`: what is wrong, values; lower case, no period. The C function is named where it is called.
    #[cold]
    pub fn new(kind: Kind, message: String) -> Error {
        Error(Box::new(Failure { kind, status: kind as THStatus, message }))
    }

    /// A function of the caller stopped the work; its `status` is what the caller gets back.
    #[cold]
    pub fn from_callback(status: THStatus, message: String) -> Error {
        Error(Box::new(Failure { kind: Kind::Callback, status, message }))
    }

    /// The class of the failure.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// What the C function returns.
    pub fn status(&self) -> THStatus {
        self.0.status
    }

    /// The sentence for people.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}

/// Returns an [`Error`] of the named [`Kind`] with a formatted message.
macro_rules! bail {
    ($kind:ident, $($message:tt)+) => {
        return Err($crate::error::Error::new($crate::error::Kind::$kind, format!($($message)+)))
    };
}
pub(crate) use bail;
