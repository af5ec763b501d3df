//! The lines with entries, and reading positions and values from them.

use super::head::{Field, Head, Symmetry};
use super::packed::unpack;
use crate::encoding::Decode;
use crate::error::{Error, Result};
use crate::formats::text::lines::{Count, GROUP, Lines, changed, split};
use crate::grow;
use crate::input::Input;
use crate::pool;
use std::sync::Arc;

/// The lines of a file after the sizes.
#[derive(Debug)]
pub struct Body {
    head: Head,
    /// For each chunk of the text the counts of everything before the chunk. The last entry has the totals. A compressed text is one chunk.
    places: Vec<Place>,
}

/// The numbers of entries that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The positions, in int64: the rows of all entries, then the columns of all entries.
    Indices,
    /// The values.
    Values,
}

/// The elements of a storage: one part of all entries.
#[derive(Debug)]
pub struct Entries {
    pub body: Arc<Body>,
    pub part: Part,
}

impl Decode for Entries {
    fn decode(&self, input: &dyn Input, to: &mut [u8]) -> Result<()> {
        self.body.read(self.part, input, to)
    }
}

/// Numbers of lines, of lines with entries, and of entries. A line with an entry below the diagonal of a symmetric matrix counts as two
/// entries.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    lines: u64,
    used: u64,
    entries: u64,
}

impl Count for Place {
    fn lines(self) -> u64 {
        self.lines
    }

    fn with(self, more: Place) -> Place {
        Place { lines: self.lines + more.lines, used: self.used + more.used, entries: self.entries + more.entries }
    }
}

/// The memory of the entries that are not yet read: rows and columns, or values and nothing.
struct Left<'a>([&'a mut [u8]; 2]);

impl<'a> Left<'a> {
    /// Splits off the memory of the first `entries` entries. `parts` is 2 for rows and columns, and 1 for values.
    fn cut(&mut self, entries: u64, parts: usize) -> Result<Left<'a>> {
        let mut cut = Left([&mut [], &mut []]);
        for (left, cut) in self.0.iter_mut().zip(&mut cut.0).take(parts) {
            let (first, rest) = std::mem::take(left).split_at_mut_checked(entries as usize * 8).ok_or_else(changed)?;
            (*cut, *left) = (first, rest);
        }
        Ok(cut)
    }

    #[inline(always)]
    fn put(&mut self, part: usize, word: u64) -> Result<()> {
        let (first, rest) = std::mem::take(&mut self.0[part]).split_first_chunk_mut().ok_or_else(changed)?;
        *first = word.to_le_bytes();
        self.0[part] = rest;
        Ok(())
    }
}

/// The number of bytes of a compressed text that an entry may have on average. The limit protects against a small file that becomes a huge
/// text.
const LONG: u64 = 1024;

/// The number of additional entries for which the average may be exceeded.
const SPARE: u64 = 1 << 14;

impl Body {
    /// Counts the entries. Their number must be the number in the head.
    pub fn new(input: &dyn Input, head: Head) -> Result<Body> {
        let first = head.first;
        let mut body = Body { head, places: Vec::new() };
        let mut sum = Place::default();
        if head.packed {
            unpack(input, first, |text, at| {
                sum = sum.with(body.count(text, at, sum.lines)?);
                if sum.used > head.lines || (at - first) / LONG > sum.used + SPARE {
                    return Err(Error::format(at, format_args!("the text continues after {} lines with entries", sum.used)));
                }
                Ok(())
            })?;
            body.places = grow::copy(&[Place::default(), sum])?;
        } else {
            body.places = body.lines(input).totals(|text, at, before| body.count(text, at, before))?;
            sum = body.places.last().copied().unwrap_or_default();
        }
        if sum.used != head.lines {
            let (found, said) = (sum.used, head.lines);
            return Err(Error::format(first, format_args!("there are {found} lines with entries, and {said} are expected")));
        }
        Ok(body)
    }

    fn lines<'a>(&self, input: &'a dyn Input) -> Lines<'a> {
        let mut lines = Lines::new(input, 0);
        lines.begin_at(self.head.first, self.head.before);
        lines
    }

    /// Returns the number of entries.
    pub fn entries(&self) -> u64 {
        self.places.last().map_or(0, |place| place.entries)
    }

    /// Returns true if an entry off the diagonal is read as two entries.
    fn mirrors(&self) -> bool {
        !self.head.dense && self.head.symmetry != Symmetry::General
    }

    /// Counts the entries of a text. The text begins at the offset `at`, after `before` lines of the body.
    fn count(&self, text: &[u8], at: u64, before: u64) -> Result<Place> {
        let mut place = Place::default();
        for (start, line) in split(text) {
            if is_entry(line) {
                place.used += 1;
                place.entries += 1;
                if self.mirrors() {
                    let (row, column, _) =
                        self.position(line).map_err(|what| self.wrong(what, line, at + start as u64, before + place.lines))?;
                    place.entries += u64::from(row != column);
                }
            }
            place.lines += 1;
        }
        Ok(place)
    }

    /// Fills `to` with positions or values.
    fn read(&self, part: Part, input: &dyn Input, to: &mut [u8]) -> Result<()> {
        if self.head.field == Field::Pattern && part == Part::Values {
            to.as_chunks_mut().0.fill(1f64.to_le_bytes());
            return Ok(());
        }
        if self.head.dense && self.head.symmetry != Symmetry::General {
            // The triangle is read into the end of `to`. `spread` then fills `to` from its beginning on.
            let start = to.len().checked_sub(self.entries() as usize * 8).ok_or_else(changed)?;
            self.fill(input, part, Left([&mut to[start..], &mut []]))?;
            spread(to, self.head);
            return Ok(());
        }
        let left = match part {
            Part::Values => Left([to, &mut []]),
            Part::Indices => {
                let half = to.len() / 2;
                let (rows, columns) = to.split_at_mut(half);
                Left([rows, columns])
            }
        };
        self.fill(input, part, left)
    }

    fn fill(&self, input: &dyn Input, part: Part, mut left: Left<'_>) -> Result<()> {
        if self.head.packed {
            let mut lines = 0;
            unpack(input, self.head.first, |text, at| {
                lines += self.fill_text(part, text, at, lines, &mut left)?;
                Ok(())
            })?;
            return if left.0.iter().all(|left| left.is_empty()) { Ok(()) } else { Err(changed()) };
        }
        let lines = self.lines(input);
        let mut groups = grow::list(self.places.len().div_ceil(GROUP))?;
        let parts = if part == Part::Indices { 2 } else { 1 };
        for first in (0..self.places.len() - 1).step_by(GROUP) {
            let group = &self.places[first..self.places.len().min(first + GROUP + 1)];
            let entries = group.last().map_or(0, |last| last.entries) - group[0].entries;
            groups.push((first, group, left.cut(entries, parts)?));
        }
        let group = |(first, group, mut left): (usize, &[Place], Left<'_>)| {
            let mut text = Vec::new();
            for (i, pair) in group.windows(2).enumerate() {
                let (start, at) = lines.chunk((first + i) as u64, &mut text)?;
                let mut part_left = left.cut(pair[1].entries - pair[0].entries, parts)?;
                self.fill_text(part, &text[start..], at, pair[0].lines, &mut part_left)?;
                if part_left.0.iter().any(|left| !left.is_empty()) {
                    return Err(changed());
                }
            }
            Ok(())
        };
        pool::map(groups, group).into_iter().collect()
    }

    /// Reads the entries of a text. The text begins at the offset `at`, after `before` lines of the body. Returns the number of lines.
    fn fill_text(&self, part: Part, text: &[u8], at: u64, before: u64, left: &mut Left<'_>) -> Result<u64> {
        let (mut lines, mut start, mirrors) = (0, 0, self.mirrors());
        while start < text.len() {
            let (row, column, word) = match self.usual(part, &text[start..]) {
                Some((entry, len)) => {
                    start += len;
                    entry
                }
                None => {
                    let line = &text[start..];
                    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len())];
                    let place = at + start as u64;
                    start += line.len() + 1;
                    if !is_entry(line) {
                        lines += 1;
                        continue;
                    }
                    self.entry(part, line).map_err(|what| self.wrong(what, line, place, before + lines))?
                }
            };
            lines += 1;
            match part {
                Part::Indices => {
                    left.put(0, row)?;
                    left.put(1, column)?;
                    if mirrors && row != column {
                        left.put(0, column)?;
                        left.put(1, row)?;
                    }
                }
                Part::Values => {
                    left.put(0, word)?;
                    if mirrors && row != column {
                        left.put(0, mirrored(self.head, word))?;
                    }
                }
            }
        }
        Ok(lines)
    }

    /// Parses a line. Returns the row, the column, and for `Part::Values` the bits of the number.
    fn entry(&self, part: Part, line: &[u8]) -> Parsed<(u64, u64, u64)> {
        let (row, column, end) = if self.head.dense { (0, 0, 0) } else { self.position(line)? };
        if self.head.field == Field::Pattern && !line[end..].trim_ascii().is_empty() {
            return Err(Wrong::More);
        }
        Ok((row, column, if part == Part::Values { value(self.head, &line[end..])? } else { 0 }))
    }

    /// Parses the first line of a text if its last number ends the line, as in most files. Returns the entry and the length of the line;
    /// `None` for other lines.
    #[inline(always)]
    fn usual(&self, part: Part, text: &[u8]) -> Option<((u64, u64, u64), usize)> {
        if part == Part::Values && self.head.field == Field::Integer {
            return None;
        }
        let (row, column, end) = if self.head.dense { (0, 0, 0) } else { self.position(text).ok()? };
        if part == Part::Indices && self.head.field != Field::Pattern {
            let len = memchr::memchr(b'\n', &text[end..])?;
            return Some(((row, column, 0), end + len + 1));
        }
        let (word, len) = if part == Part::Values {
            let start = end + text[end..].iter().take_while(|&&byte| byte == b' ').count();
            let (number, len) = fast_float2::parse_partial::<f64, _>(&text[start..]).ok()?;
            (number.to_bits(), start + len)
        } else {
            (0, end)
        };
        (text.get(len) == Some(&b'\n')).then_some(((row, column, word), len + 1))
    }

    /// Parses a position. Returns the row and the column, from 0, and the index after both in the line.
    #[inline(always)]
    fn position(&self, line: &[u8]) -> Parsed<(u64, u64, usize)> {
        let (row, end) = digits(line, 0).ok_or(Wrong::Position)?;
        let (column, end) = digits(line, end).ok_or(Wrong::Position)?;
        let inside = |position: u64, size: i64| position.wrapping_sub(1) < size as u64;
        if !inside(row, self.head.rows) || !inside(column, self.head.columns) {
            return Err(Wrong::Beyond(row, column));
        }
        Ok((row - 1, column - 1, end))
    }

    /// Returns the error for the line at the offset `at`, after `before` lines of the body.
    #[cold]
    fn wrong(&self, what: Wrong, line: &[u8], at: u64, before: u64) -> Error {
        let number = self.head.before + before + 1;
        let text = String::from_utf8_lossy(&line[..line.len().min(40)]);
        let (text, rows, columns) = (text.trim_ascii().escape_debug(), self.head.rows, self.head.columns);
        match what {
            Wrong::Position => Error::format(at, format_args!("line {number}: '{text}' does not begin with a row and a column")),
            Wrong::Beyond(row, column) => Error::format(
                at,
                format_args!("line {number}: the position {row}, {column} is out of range for sizes {rows} x {columns}, counted from 1"),
            ),
            Wrong::Number => Error::format(at, format_args!("line {number}: '{text}' has no number where one is expected")),
            Wrong::Integer => Error::format(at, format_args!("line {number}: '{text}' has no integer of 64 bits where one is expected")),
            Wrong::More => Error::format(at, format_args!("line {number}: '{text}' has more than one entry")),
        }
    }
}

/// An error in a line.
enum Wrong {
    Position,
    /// The row and the column, from 1.
    Beyond(u64, u64),
    Number,
    Integer,
    More,
}

type Parsed<T> = std::result::Result<T, Wrong>;

/// Returns true for lines that are neither empty nor comments.
#[inline(always)]
fn is_entry(line: &[u8]) -> bool {
    match line.first() {
        // The fast path for most lines.
        Some(b'0'..=b'9' | b'-') => true,
        _ => line.trim_ascii_start().first().is_some_and(|&byte| byte != b'%'),
    }
}

/// Parses a whole number after blanks, from the index `at` on. A blank or the end of the line must follow. Returns the number and the index
/// after it.
#[inline(always)]
fn digits(line: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut end = at;
    while matches!(line.get(end), Some(b' ' | b'\t')) {
        end += 1;
    }
    let (start, mut number) = (end, 0u64);
    while let Some(digit) = line.get(end).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    let ends = matches!(line.get(end), None | Some(b' ' | b'\t' | b'\r' | b'\n'));
    (ends && (1..=19).contains(&(end - start))).then_some((number, end))
}

/// Parses a number. Returns its bits.
#[inline(always)]
fn value(head: Head, text: &[u8]) -> Parsed<u64> {
    let text = text.trim_ascii();
    match head.field {
        Field::Integer => {
            let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<i64>().ok());
            // The smallest int64 cannot be negated.
            number.filter(|&n| head.symmetry != Symmetry::Skew || n != i64::MIN).map(|n| n as u64).ok_or(Wrong::Integer)
        }
        _ => fast_float2::parse::<f64, _>(text).map(f64::to_bits).map_err(|_| Wrong::Number),
    }
}

/// Returns the value at the mirrored position.
fn mirrored(head: Head, word: u64) -> u64 {
    match (head.symmetry, head.field) {
        (Symmetry::Skew, Field::Integer) => (word as i64).wrapping_neg() as u64,
        (Symmetry::Skew, _) => (-f64::from_bits(word)).to_bits(),
        _ => word,
    }
}

/// Converts a lower triangle, column by column at the end of `to`, to a whole matrix.
fn spread(to: &mut [u8], head: Head) {
    let n = head.rows as usize;
    let words = to.as_chunks_mut::<8>().0;
    let skew = usize::from(head.symmetry == Symmetry::Skew);
    let triangle = n * (n + 1) / 2 - n * skew;
    let mut from = words.len() - triangle;
    // No unread element is overwritten, because a column of the matrix has at least as many elements as a column of the triangle.
    for column in 0..n {
        let (first, count) = (column + skew, n - column - skew.min(n - column));
        words.copy_within(from..from + count, column * n + first);
        from += count;
        if skew == 1 {
            words[column * n + column] = [0; 8];
        }
    }
    for column in 0..n {
        for row in column + 1..n {
            let word = u64::from_le_bytes(words[column * n + row]);
            words[row * n + column] = mirrored(head, word).to_le_bytes();
        }
    }
}
