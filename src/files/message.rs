//! Conversions of texts between files and C, and error messages about files.

use crate::error::{Error, Kind, Result, bail};
use std::ffi::{CStr, CString};

/// Converts an error of `thorn-files` about the file `path`.
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

/// Returns an error about the file `path`.
#[cold]
pub fn about(kind: Kind, path: Option<&CStr>, what: std::fmt::Arguments<'_>) -> Error {
    match path {
        Some(path) => Error::new(kind, format_args!("\"{}\": {what}", path.to_string_lossy())),
        None => Error::new(kind, what),
    }
}

/// Returns a text as a C string. Bytes of 0, which would end the C string, become U+FFFD.
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

/// Returns the text of a C string, which must be UTF-8. `what` names the text in the error.
pub fn utf8<'a>(text: &'a CStr, what: &str) -> Result<&'a str> {
    match text.to_str() {
        Ok(text) => Ok(text),
        Err(error) => bail!(Argument, "the {what} is not UTF-8 from byte {} on", error.valid_up_to()),
    }
}
