//! Lines of a text and their fields. Chunks of a text are read on their own: each has the lines that begin in it.

use crate::error::{Error, Result};
use crate::grow;
use crate::input::Input;
use std::sync::{Mutex, PoisonError};

/// Bytes of a chunk: it stays in the second-level cache.
const CHUNK: u64 = 256 << 10;

/// A longer text than this has a line that only one thread reads at a time, in bytes.
const LONG: u64 = 1 << 20;

/// The longest line, in bytes: two million numbers of 16 digits.
const LONGEST: usize = 32 << 20;

/// Bytes by which a chunk grows until its last line is whole.
const MORE: u64 = 64 << 10;

/// The lines of a file, from some offset on.
pub struct Lines<'a> {
    pub input: &'a dyn Input,
    /// The offset of the first line.
    pub first: u64,
    /// How many lines are before the first.
    pub before: u64,
    /// Held by who reads a line that is longer than [`LONG`], so that memory has one such line.
    long: Mutex<()>,
}

impl<'a> Lines<'a> {
    pub fn new(input: &'a dyn Input, first: u64) -> Lines<'a> {
        Lines { input, first, before: 0, long: Mutex::new(()) }
    }

    /// Lets the first line be that at an offset, before which there are some.
    pub fn begin_at(&mut self, first: u64, before: u64) {
        (self.first, self.before) = (first, before);
    }

    /// The number of chunks.
    pub fn chunks(&self) -> u64 {
        self.input.size().saturating_sub(self.first).div_ceil(CHUNK)
    }

    /// Reads the lines that begin in a chunk into a buffer. Returns the place of the first in the buffer, and its offset.
    pub fn chunk(&self, chunk: u64, text: &mut Vec<u8>) -> Result<(usize, u64)> {
        let size = self.input.size();
        let start = self.first.saturating_add(chunk.saturating_mul(CHUNK)).min(size);
        let end = start.saturating_add(CHUNK).min(size);
        // A line begins at the first byte if the one before ends a line.
        let from = if chunk == 0 { start } else { start.saturating_sub(1) };
        let len = (end - from) as usize;
        if text.capacity() < len {
            *text = grow::list(len)?;
        }
        text.resize(len, 0);
        self.input.read_at(from, text)?;
        let skip = if chunk == 0 { 0 } else { memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1) };
        if skip < text.len() && text.last() != Some(&b'\n') {
            self.complete(text, from, skip)?;
        }
        Ok((skip, from + skip as u64))
    }

    /// Reads on to the end of the last line of a text that begins at an offset.
    fn complete(&self, text: &mut Vec<u8>, from: u64, skip: usize) -> Result<()> {
        let last = memchr::memrchr(b'\n', text).map_or(skip, |at| at + 1);
        let mut long = None;
        loop {
            let at = from.saturating_add(text.len() as u64);
            let len = MORE.min(self.input.size().saturating_sub(at)) as usize;
            if len == 0 {
                return Ok(());
            }
            if text.len() - last > LONGEST {
                return Err(Error::format(from + last as u64, format_args!("a line is longer than {LONGEST} bytes")));
            }
            if text.len() as u64 >= LONG && long.is_none() {
                long = Some(self.long.lock().unwrap_or_else(PoisonError::into_inner));
            }
            let read = text.len();
            text.try_reserve(len).map_err(|_| Error::memory(len as u64))?;
            text.resize(read + len, 0);
            self.input.read_at(at, &mut text[read..])?;
            if let Some(end) = memchr::memchr(b'\n', &text[read..]) {
                text.truncate(read + end + 1);
                return Ok(());
            }
        }
    }
}

/// The lines of a text, without what ends them, and their places.
pub fn split(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let left = text.get(at..).filter(|left| !left.is_empty())?;
        let len = memchr::memchr(b'\n', left).unwrap_or(left.len());
        let start = at;
        at += len + 1;
        let line = &left[..len];
        Some((start, line.strip_suffix(b"\r").unwrap_or(line)))
    })
}

/// [`split`] for tables, whose numbers may have a comment behind them.
pub fn of_table(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    split(text).map(|(at, line)| (at, without_comment(line)))
}

/// What spreadsheets show for a value that is missing or could not be computed. The first three are missing values of pandas as well.
pub const ERRORS: [&[u8]; 9] = [b"#N/A N/A", b"#N/A", b"#NA", b"#REF!", b"#DIV/0!", b"#NAME?", b"#NULL!", b"#NUM!", b"#VALUE!"];

/// Returns true for lines that are passed over: empty ones and comments. A line whose first field is one of [`ERRORS`] is no comment.
pub fn skipped(line: &[u8], separator: u8) -> bool {
    // Most lines begin with a digit or a sign.
    let first = match line.first() {
        Some(b' ' | b'\t') => line.iter().position(|&byte| byte != b' ' && (byte != b'\t' || separator == b'\t')),
        Some(_) => Some(0),
        None => None,
    };
    match first {
        Some(at) if line[at] == b'#' => !is_error(&line[at..]),
        first => first.is_none(),
    }
}

/// Returns true if the first field of a text is one of [`ERRORS`], whatever the separator is.
#[cold]
fn is_error(text: &[u8]) -> bool {
    let ends = |&byte: &u8| matches!(byte, b',' | b';' | b'\t' | b' ' | b'\r');
    ERRORS.iter().any(|error| text.strip_prefix(*error).is_some_and(|rest| rest.first().is_none_or(ends)))
}

/// A line without the comment behind its numbers, which a `#` behind a blank begins.
fn without_comment(line: &[u8]) -> &[u8] {
    let Some(at) = memchr::memchr(b'#', line) else { return line };
    let before = &line[..at];
    let numeric = |byte: &u8| byte.is_ascii_digit() || b"+-.eE,;\" \t".contains(byte);
    let is_comment = before.last().is_some_and(|&byte| byte == b' ' || byte == b'\t');
    let has_digit = before.iter().any(u8::is_ascii_digit);
    if is_comment && has_digit && before.iter().all(numeric) && !is_error(&line[at..]) { before.trim_ascii_end() } else { line }
}

/// A field of a line.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// Without blanks around it, and without its quotes.
    pub text: &'a [u8],
    pub quoted: bool,
}

/// The fields of a line, and their places.
pub fn fields(line: &[u8], separator: u8) -> impl Iterator<Item = (usize, Field<'_>)> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = blanks(line, next?, separator);
        let (field, after) = field(line, start, separator);
        next = after;
        Some((start, field))
    })
}

/// The place of the first byte from `at` on that is no blank.
pub fn blanks(line: &[u8], at: usize, separator: u8) -> usize {
    let blank = |&byte: &u8| byte == b' ' || byte == b'\t' && separator != b'\t';
    at + line[at..].iter().take_while(|byte| blank(byte)).count()
}

/// The field that begins at `at`, where no blank is, and the place after its separator, or `None` if it is the last.
pub fn field(line: &[u8], at: usize, separator: u8) -> (Field<'_>, Option<usize>) {
    let rest = &line[at..];
    if let Some(quoted) = rest.strip_prefix(b"\"") {
        // Two quotes stand for one.
        let mut end = 0;
        while let Some(quote) = memchr::memchr(b'"', &quoted[end..]) {
            end += quote + 1;
            if quoted.get(end) != Some(&b'"') {
                let field = Field { text: &quoted[..end - 1], quoted: true };
                if let Some(after) = behind(line, at + 1 + end, separator) {
                    return (field, after);
                }
                break;
            }
            end += 1;
        }
    }
    let ends = |&byte: &u8| byte == separator || byte == b'\t' && separator == b' ';
    let len = rest.iter().position(ends).unwrap_or(rest.len());
    let after = behind(line, at + len, separator).unwrap_or(None);
    (Field { text: trimmed(&rest[..len]), quoted: false }, after)
}

/// The place of the next field, `Some(None)` if there is none, behind one that ends at `at`; `None` if it does not end there.
pub fn behind(line: &[u8], at: usize, separator: u8) -> Option<Option<usize>> {
    let after = blanks(line, at, separator);
    match line.get(after) {
        None => Some(None),
        Some(_) if separator == b' ' => (after > at).then_some(Some(after)),
        Some(&byte) => (byte == separator).then_some(Some(after + 1)),
    }
}

/// A text without blanks around it.
pub fn trimmed(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}
