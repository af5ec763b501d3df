//! Files of Torch7: one Lua value, written by `torch.save` in binary or as text.
//!
//! A value begins with the number of its type. Tables and objects have indices, by which later values refer to them. An object begins with
//! a version and the name of its class. Then follow numbers for a tensor or storage, and a table of fields for other classes.
//!
//! Sources: <https://github.com/torch/torch7>, `doc/serialization.md` and `doc/file.md`. For `tds`, the reader of the Python package
//! torchfile.

mod class;
mod read;
mod source;
mod write;

use crate::contents::Contents;
use crate::error::{Kind, Result};
use crate::input::Input;
use crate::save::{Output, Save};
use class::{BOOLEAN, NUMBER, OBJECT, STRING, TABLE};
use source::Variant;

pub fn recognises(head: &[u8], size: u64) -> bool {
    let int = |at: usize| head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_le_bytes);
    let (Some(code), Some(second)) = (int(0), int(4)) else { return false };
    match code {
        NUMBER => size == 12,
        BOOLEAN => size == 8 && (0..=1).contains(&second),
        STRING => second >= 0 && size == 8 + second as u64,
        TABLE => match int(8) {
            Some(0) => size == 12,
            // A key and a value have at least 16 bytes.
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

/// Returns true for a text that may be a table or an object. A table that has only numbers is not recognised, because its text is also a
/// CSV file of one column.
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

/// Reads a binary file. Longs have eight bytes in most files, and four bytes in files of Windows and 32-bit machines. No field tells the
/// width. With the wrong width, sizes are invalid, so that a file with longs can be read with only one width. With longs of four bytes, the
/// value must be the whole file. Otherwise some broken files would be read as values with short longs.
pub fn read(input: &dyn Input) -> Result<Contents> {
    read::read(input, Variant::Binary { long: 8 }).or_else(|error| match error.kind {
        Kind::Format => read::read(input, Variant::Binary { long: 4 }).map_err(|_| error),
        _ => Err(error),
    })
}

pub fn read_ascii(input: &dyn Input) -> Result<Contents> {
    read::read(input, Variant::Ascii)
}

pub fn write(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    write::write(what, to, false)
}

pub fn write_ascii(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    write::write(what, to, true)
}
