//! Conversions of formats and element types between thorn and thorn-files.

use super::types::{TH_FILE_BY_NAME, THFileFormat};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::system;
use std::ffi::CStr;
use std::path::Path;
use thorn_files::{Element, Format};

/// Returns the format to write: the format with this code, or the format of the file name's ending. Fails for a format that is only read.
pub fn for_writing(code: THFileFormat, path: &CStr) -> Result<Format> {
    let format = if code == TH_FILE_BY_NAME {
        let name = system::path(path).ok().and_then(Path::file_name).unwrap_or_default();
        let Some(format) = Format::of_path(name.as_encoded_bytes()) else {
            bail!(
                Argument,
                "the ending of \"{}\" names no format; the endings of formats that are written are {}",
                path.to_string_lossy(),
                Format::writable_endings()
            )
        };
        format
    } else {
        let Some(format) = Format::from_code(code) else { bail!(Argument, "{code} is no format of files") };
        format
    };
    if !format.writable() {
        bail!(Unsupported, "{} files are only read", format.name())
    }
    Ok(format)
}

/// Returns the dtype for a type of elements in a file.
pub fn dtype(element: Element) -> Dtype {
    match element {
        Element::Bool => Dtype::Bool,
        Element::U8 => Dtype::Uint8,
        Element::I8 => Dtype::Int8,
        Element::I16 => Dtype::Int16,
        Element::I32 => Dtype::Int32,
        Element::I64 => Dtype::Int64,
        Element::F16 => Dtype::Float16,
        Element::BF16 => Dtype::Bfloat16,
        Element::F32 => Dtype::Float32,
        Element::F64 => Dtype::Float64,
    }
}

/// Returns the type of elements in a file for a dtype.
pub fn element(of: Dtype) -> Element {
    Element::ALL.into_iter().find(|&element| dtype(element) == of).unwrap_or(Element::U8)
}
