//! Files of Torch7: one Lua value, written by `torch.save` in binary or as text.
//!
//! A value is a number for its type and what belongs to it. Tables and objects of classes have indices, by which later values refer to
//! them. An object of a class is a version, the name of the class, and what the class writes: tensors and storages write their numbers,
//! and other classes a table of their fields.
//!
//! Sources: <https://github.com/torch/torch7>, `doc/serialization.md` and `doc/file.md`; for `tds` the reader of the Python package
//! torchfile.

mod read;
mod source;
mod write;

use crate::contents::{Contents, Save};
use crate::element::Element;
use crate::error::{Kind, Result};
use crate::formats::{Format, Output};
use crate::input::Input;
use source::Form;

const NIL: i32 = 0;
const NUMBER: i32 = 1;
const STRING: i32 = 2;
const TABLE: i32 = 3;
const OBJECT: i32 = 4;
const BOOLEAN: i32 = 5;
/// Functions of three ages. Only the oldest has no index.
const FUNCTION: i32 = 6;
const FUNCTIONS: [i32; 2] = [7, 8];

/// The key of the metadata that hold the name of a class.
const TYPENAME: &str = "__typename";

pub fn recognises(head: &[u8], size: u64) -> bool {
    let int = |at: usize| head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_le_bytes);
    let (Some(code), Some(second)) = (int(0), int(4)) else { return false };
    match code {
        NUMBER => size == 12,
        BOOLEAN => size == 8 && (0..=1).contains(&second),
        STRING => second >= 0 && size == 8 + second as u64,
        TABLE => match int(8) {
            Some(0) => size == 12,
            // A key and a value take 16 bytes or more.
            Some(entries) => entries > 0 && entries as u64 <= size / 8 && int(12).is_some_and(|key| (NUMBER..=BOOLEAN).contains(&key)),
            None => false,
        },
        OBJECT => int(8).is_some_and(|len| {
            let name = (1..=256).contains(&len).then(|| head.get(12..12 + len as usize)).flatten();
            name.is_some_and(|name| name.iter().all(|byte| (b' '..0x7f).contains(byte)))
        }),
        _ => false,
    }
}

/// Texts with tables of numbers only look like CSV files of one column, and are taken for such.
pub fn recognises_ascii(head: &[u8], _: u64) -> bool {
    let number = |line: &[u8]| std::str::from_utf8(line).is_ok_and(|line| line.parse::<f64>().is_ok());
    let lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').take(6).collect();
    let [code @ (b"3" | b"4"), index, count, rest @ ..] = &lines[..] else { return false };
    if !number(index) || !number(count) {
        return false;
    }
    match (*code, rest) {
        (b"4", [class, ..]) => class.starts_with(b"V ") || class.contains(&b'.') && !number(class),
        (_, [b"2", len, key]) if !number(key) && *len == key.len().to_string().as_bytes() => true,
        (_, [b""]) => *count == b"0",
        _ => head.windows(5).any(|bytes| bytes == b"\n3\nV "),
    }
}

/// Longs have eight bytes in most files, and four in those of Windows and of machines of 32 bits. No file says which. Sizes of the
/// other width are absurd, so that a file can be read with one width only, unless it has no longs. A value with longs of four bytes
/// must be the whole file, or broken files would pass for such.
pub fn read(input: &dyn Input) -> Result<Contents> {
    read::read(input, Form::Binary { long: 8 }).or_else(|error| match error.kind {
        Kind::Format => read::read(input, Form::Binary { long: 4 }).map_err(|_| error),
        _ => Err(error),
    })
}

pub fn read_ascii(input: &dyn Input) -> Result<Contents> {
    read::read(input, Form::Ascii)
}

pub fn write(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    write::write(what, to, false)
}

pub fn write_ascii(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    write::write(what, to, true)
}

/// Names of types in the names of classes.
const TYPES: [(&str, Element); 8] = [
    ("Byte", Element::U8),
    ("Char", Element::I8),
    ("Short", Element::I16),
    ("Int", Element::I32),
    ("Long", Element::I64),
    ("Float", Element::F32),
    ("Double", Element::F64),
    ("Half", Element::F16),
];

/// The classes that have a form of their own.
enum Class {
    Tensor(Element),
    Storage(Element),
    Vec,
    Hash,
}

impl Class {
    /// The class with this name. Classes of GPU memory are written as those of the CPU, and `torch.CudaTensor` has floats.
    fn of(name: &str, form: Form) -> Option<Class> {
        match name {
            "tds.Vec" => return Some(Class::Vec),
            "tds.Hash" => return Some(Class::Hash),
            _ => {}
        }
        let name = name.strip_prefix("torch.")?;
        let (name, class): (&str, fn(Element) -> Class) = match name.strip_suffix("Tensor") {
            Some(name) => (name, Class::Tensor),
            None => (name.strip_suffix("Storage")?, Class::Storage),
        };
        let name = match name.strip_prefix("Cuda") {
            Some("") => "Float",
            Some(name) => name,
            None => name,
        };
        let (_, element) = TYPES.iter().find(|(known, _)| *known == name)?;
        // A long of four bytes is an int32.
        Some(class(if *element == Element::I64 && form == (Form::Binary { long: 4 }) { Element::I32 } else { *element }))
    }

    /// The name of a type; bool is written as Torch7 has it, in bytes.
    fn name_of(element: Element) -> Option<&'static str> {
        let element = if element == Element::Bool { Element::U8 } else { element };
        TYPES.iter().find(|(_, known)| *known == element).map(|(name, _)| *name)
    }
}

impl Form {
    fn format(self) -> Format {
        if self == Form::Ascii { Format::T7Ascii } else { Format::T7 }
    }
}
