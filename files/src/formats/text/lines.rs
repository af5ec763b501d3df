//! The lines of a text, read in chunks. A chunk has the lines that begin in it, so that threads can read chunks independently.

use crate::error::{Error, Result};
use crate::grow;
use crate::input::Input;
use crate::pool;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The size of a chunk in bytes. A chunk fits the L2 cache.
const CHUNK: u64 = 256 << 10;

/// The size in bytes of a chunk above which threads take turns, because its last line is very long.
const LONG: u64 = 1 << 20;

/// The length limit of a line, in bytes: two million numbers of 16 digits.
pub const LONGEST: usize = 32 << 20;

/// The number of bytes by which a chunk grows until its last line is complete.
const MORE: u64 = 64 << 10;

/// The number of chunks that one thread reads after another.
pub const GROUP: usize = 4;

/// The counts of a text.
pub trait Count: Copy + Default + Send {
    /// Returns the number of lines.
    fn lines(self) -> u64;

    /// Returns the counts of this text together with the text after it.
    fn with(self, more: Self) -> Self;
}

/// The lines of a file from an offset on.
pub struct Lines<'a> {
    pub input: &'a dyn Input,
    /// The offset of the first line.
    pub first: u64,
    /// The number of lines before the first line.
    pub before: u64,
    /// Locked while a thread reads a chunk of more than [`LONG`] bytes, so that only one such chunk is in memory.
    long: Mutex<()>,
}

impl<'a> Lines<'a> {
    pub fn new(input: &'a dyn Input, first: u64) -> Lines<'a> {
        Lines { input, first, before: 0, long: Mutex::new(()) }
    }

    /// Sets the offset of the first line, and the number of lines before it.
    pub fn begin_at(&mut self, first: u64, before: u64) {
        (self.first, self.before) = (first, before);
    }

    /// Returns the number of chunks.
    pub fn chunks(&self) -> u64 {
        self.input.size().saturating_sub(self.first).div_ceil(CHUNK)
    }

    /// Reads the lines that begin in a chunk into a buffer. Returns the index of the first line in the buffer, and its offset in the file.
    pub fn chunk(&self, chunk: u64, text: &mut Vec<u8>) -> Result<(usize, u64)> {
        let size = self.input.size();
        let start = self.first.saturating_add(chunk.saturating_mul(CHUNK)).min(size);
        let end = start.saturating_add(CHUNK).min(size);
        // A line begins at the first byte if the byte before ends a line.
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

    /// Returns for each chunk the counts of everything before the chunk, and last the totals. Threads call `count` for the text of a chunk,
    /// the offset of the text, and the number of lines between the first line and the text.
    pub fn totals<C: Count>(&self, count: impl Fn(&[u8], u64, u64) -> Result<C> + Send + Sync) -> Result<Vec<C>> {
        let chunks = self.chunks();
        let (mut sum, mut totals) = (C::default(), grow::list(chunks as usize + 1)?);
        totals.push(sum);
        let of_group = |group: Range<u64>, mut before: u64| -> Result<Vec<C>> {
            let mut text = Vec::new();
            let of_chunk = |chunk| {
                let (start, at) = self.chunk(chunk, &mut text)?;
                let counts = count(&text[start..], at, before)?;
                before += counts.lines();
                Ok(counts)
            };
            group.map(of_chunk).collect()
        };
        let groups = (0..chunks).step_by(GROUP).map(|first| first..chunks.min(first + GROUP as u64));
        for (group, counted) in pool::map(groups.collect(), |group: Range<u64>| (group.clone(), of_group(group, 0))) {
            // A group that failed is counted again, because the line numbers for its error are known only now.
            for counts in counted.or_else(|_| of_group(group, sum.lines()))? {
                sum = sum.with(counts);
                totals.push(sum);
            }
        }
        Ok(totals)
    }

    /// Completes the last line of a text that begins at the offset `from`. The first line begins at the index `skip`.
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

/// Returns the lines of a text without LF or CRLF, and the index of each line.
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

/// Returns the error for a file that has other lines than at the time of counting.
#[cold]
pub fn changed() -> Error {
    Error::io(format_args!("the file was changed while it was read"))
}
