//! Texts of files and of C, and messages about files.

use crate::error::{Error, Kind, Result, bail};
use std::ffi::{CStr, CString};

/// An error of `thorn-files` about a file of this name.
#[cold]
pub fn failed(path: Option<&CStr>, error: thorn_files::Error) -> Error {
    let kind = match error.kind {
        thorn_files::Kind::Io => Kind::Io,
        thorn_files::Kind::Format => Kind::Format,
        thorn_files::Kind::Unsupported => Kind::Unsupported,
        thorn_files::Kind::NoMem => Kind::NoMem,
    };
    about(kind, path, format_args!("{}", error.message))
}

/// An error about a file of this name.
#[cold]
pub fn about(kind: Kind, path: Option<&CStr>, what: std::fmt::Arguments<'_>) -> Error {
    match path {
        Some(path) => Error::new(kind, format_args!("\"{}\": {what}", path.to_string_lossy())),
        None => Error::new(kind, what),
    }
}

/// A text as a C string. Bytes of 0, which would end it, become U+FFFD.
pub fn c_string(text: &str) -> Result<CString> {
    let zeros = text.bytes().filter(|&byte| byte == 0).count();
    let mut bytes = Vec::new();
    let room = text.len() + 2 * zeros + 1;
    if bytes.try_reserve_exact(room).is_err() {
        bail!(NoMem, "out of memory: {room} bytes could not be allocated")
    }
    for (k, piece) in text.split('\0').enumerate() {
        if k > 0 {
            bytes.extend_from_slice("\u{fffd}".as_bytes());
        }
        bytes.extend_from_slice(piece.as_bytes());
    }
    Ok(CString::new(bytes).unwrap_or_default())
}

/// The text of a C string, which must be UTF-8.
pub fn utf8<'a>(text: &'a CStr, what: &str) -> Result<&'a str> {
    match text.to_str() {
        Ok(text) => Ok(text),
        Err(error) => bail!(Argument, "the {what} is no UTF-8 from byte {} on", error.valid_up_to()),
    }
}
