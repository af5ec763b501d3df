//! The text of a file, which gzip may have compressed.

use crate::error::{Error, Result};
use crate::grow;
use crate::input::{Cursor, Input};
use flate2::read::MultiGzDecoder;
use std::io::{self, Read};

/// The first bytes of a gzip file.
pub const GZIP: &[u8] = b"\x1f\x8b\x08";

/// The number of bytes of a compressed text that are in memory at a time. No line is longer.
const PIECE: usize = 256 << 10;

/// Returns a reader of a file's text, decompressed.
pub fn text(input: &dyn Input, packed: bool) -> Box<dyn Read + '_> {
    let cursor = Cursor::new(input, 0, u64::MAX);
    if packed { Box::new(MultiGzDecoder::new(cursor)) } else { Box::new(cursor) }
}

/// Returns the error for a text that could not be read.
#[cold]
pub fn unreadable(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::OutOfMemory | io::ErrorKind::Other => Error::from(error),
        _ => Error::broken(format_args!("compressed data cannot be read: {error}")),
    }
}

/// Decompresses a text from the offset `first` on. Calls `work` with pieces of whole lines, and the offset of each piece in the text.
pub fn unpack(input: &dyn Input, first: u64, mut work: impl FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
    let mut from = text(input, true);
    let (mut at, mut kept, mut piece) = (first, 0, grow::zeros(PIECE)?);
    io::copy(&mut from.by_ref().take(first), &mut io::sink()).map_err(unreadable)?;
    loop {
        let mut end = kept;
        while end < piece.len() {
            match from.read(&mut piece[end..]).map_err(unreadable)? {
                0 => break,
                read => end += read,
            }
        }
        let is_last = end < piece.len();
        let whole = if is_last { end } else { memchr::memrchr(b'\n', &piece).map_or(0, |last| last + 1) };
        if whole == 0 && !is_last {
            return Err(Error::format(at, format_args!("a line is longer than {PIECE} bytes")));
        }
        work(&piece[..whole], at)?;
        if is_last {
            return Ok(());
        }
        piece.copy_within(whole..end, 0);
        (at, kept) = (at + whole as u64, end - whole);
    }
}
