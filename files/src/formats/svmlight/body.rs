//! Counting the rows of a text, and reading the numbers of one part.

use super::line::{Wrong, head, number, pairs, row};
use crate::encoding::Decode;
use crate::error::{Error, Result};
use crate::formats::text::lines::{Count, GROUP, Lines, changed, split};
use crate::grow;
use crate::input::Input;
use crate::pool;
use std::sync::Arc;

/// The rows of a file.
#[derive(Debug)]
pub struct Body {
    /// For each chunk of the text the counts of everything before the chunk. The last entry has the totals.
    places: Vec<Place>,
}

/// The counts of a text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    lines: u64,
    pub rows: u64,
    pub entries: u64,
    /// The number of rows with a `qid`.
    pub queries: u64,
    /// The greatest index.
    pub columns: u64,
}

impl Count for Place {
    fn lines(self) -> u64 {
        self.lines
    }

    fn with(self, more: Place) -> Place {
        Place {
            lines: self.lines + more.lines,
            rows: self.rows + more.rows,
            entries: self.entries + more.entries,
            queries: self.queries + more.queries,
            columns: self.columns.max(more.columns),
        }
    }
}

/// The numbers of a storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The label of each row.
    Labels,
    /// The query of each row.
    Queries,
    /// The index of the first entry of each row, and last the number of entries.
    Starts,
    /// The column of each entry, from 0.
    Columns,
    /// The value of each entry.
    Values,
}

/// The elements of a storage: one part of all rows.
#[derive(Debug)]
pub struct Numbers {
    pub body: Arc<Body>,
    pub part: Part,
}

impl Decode for Numbers {
    fn decode(&self, input: &dyn Input, to: &mut [u8]) -> Result<()> {
        match self.part {
            Part::Starts => {
                let (first, rest) = to.split_first_chunk_mut().ok_or_else(changed)?;
                *first = 0u64.to_le_bytes();
                self.body.read(self.part, input, rest)
            }
            _ => self.body.read(self.part, input, to),
        }
    }
}

/// The memory of the numbers that are not yet read.
struct Left<'a>(&'a mut [u8]);

impl<'a> Left<'a> {
    /// Splits off the memory of the first `count` numbers.
    fn cut(&mut self, count: u64) -> Result<Left<'a>> {
        let (first, rest) = std::mem::take(&mut self.0).split_at_mut_checked(count as usize * 8).ok_or_else(changed)?;
        self.0 = rest;
        Ok(Left(first))
    }

    #[inline(always)]
    fn put(&mut self, word: u64) -> Result<()> {
        let (first, rest) = std::mem::take(&mut self.0).split_first_chunk_mut().ok_or_else(changed)?;
        *first = word.to_le_bytes();
        self.0 = rest;
        Ok(())
    }
}

impl Body {
    /// Checks all lines and counts them.
    pub fn new(input: &dyn Input) -> Result<Body> {
        let lines = Lines::new(input, 0);
        let body = Body { places: lines.totals(count)? };
        let total = body.total();
        if total.queries != 0 && total.queries != total.rows {
            return Err(odd_query(&lines)?);
        }
        Ok(body)
    }

    /// Returns the counts of the file.
    pub fn total(&self) -> Place {
        self.places.last().copied().unwrap_or_default()
    }

    /// Fills `to` with the numbers of a part. Of [`Part::Starts`], the first number is missing.
    fn read(&self, part: Part, input: &dyn Input, to: &mut [u8]) -> Result<()> {
        let lines = Lines::new(input, 0);
        let len = |pair: &[Place]| match (part, pair) {
            (Part::Columns | Part::Values, [first, .., last]) => last.entries - first.entries,
            (_, [first, .., last]) => last.rows - first.rows,
            _ => 0,
        };
        let (mut left, mut groups) = (Left(to), grow::list(self.places.len().div_ceil(GROUP))?);
        for first in (0..self.places.len() - 1).step_by(GROUP) {
            let group = &self.places[first..self.places.len().min(first + GROUP + 1)];
            groups.push((first, group, left.cut(len(group))?));
        }
        let group = |(first, group, mut left): (usize, &[Place], Left<'_>)| {
            let mut text = Vec::new();
            for (i, pair) in group.windows(2).enumerate() {
                let (start, at) = lines.chunk((first + i) as u64, &mut text)?;
                let mut left = left.cut(len(pair))?;
                fill(part, &text[start..], at, pair[0], &mut left)?;
                if !left.0.is_empty() {
                    return Err(changed());
                }
            }
            Ok(())
        };
        pool::map(groups, group).into_iter().collect()
    }
}

/// Checks and counts the lines of a text. The text begins at the offset `at`, after `before` lines.
fn count(text: &[u8], at: u64, before: u64) -> Result<Place> {
    let mut place = Place::default();
    for (start, line) in split(text) {
        if let Some(row) = row(line) {
            counted(row, &mut place).map_err(|what| wrong(what, at + start as u64, before + place.lines))?;
        }
        place.lines += 1;
    }
    Ok(place)
}

fn counted<'a>(row: &'a [u8], place: &mut Place) -> std::result::Result<(), Wrong<'a>> {
    let head = head(row)?;
    for pair in pairs(row, head.end) {
        let pair = pair?;
        number(pair.value)?;
        place.entries += 1;
        place.columns = place.columns.max(pair.index);
    }
    place.rows += 1;
    place.queries += u64::from(head.query.is_some());
    Ok(())
}

/// Reads the numbers of a text. The text begins at the offset `at`, after the lines that `before` counts.
fn fill(part: Part, text: &[u8], at: u64, before: Place, left: &mut Left<'_>) -> Result<()> {
    let mut entries = before.entries;
    for (k, (start, line)) in split(text).enumerate() {
        let Some(row) = row(line) else { continue };
        let wrong = |what: Wrong<'_>| wrong(what, at + start as u64, before.lines + k as u64);
        let head = head(row).map_err(wrong)?;
        match part {
            Part::Labels => left.put(head.label.to_bits())?,
            Part::Queries => left.put(head.query.ok_or_else(changed)? as u64)?,
            Part::Starts => {
                entries += memchr::memchr_iter(b':', &row[head.end..]).count() as u64;
                left.put(entries)?;
            }
            Part::Columns => pairs(row, head.end).try_for_each(|pair| left.put(pair.map_err(wrong)?.index - 1))?,
            Part::Values => pairs(row, head.end).try_for_each(|pair| {
                let value = pair.and_then(|pair| number(pair.value)).map_err(wrong)?;
                left.put(value.to_bits())
            })?,
        }
    }
    Ok(())
}

/// Returns the error for the first row that has a `qid` and whose predecessors have none, or the reverse.
#[cold]
fn odd_query(lines: &Lines<'_>) -> Result<Error> {
    let (mut text, mut number, mut first) = (Vec::new(), 0, None);
    for chunk in 0..lines.chunks() {
        let (start, at) = lines.chunk(chunk, &mut text)?;
        for (start, line) in split(&text[start..]) {
            number += 1;
            let Some(head) = row(line).and_then(|row| head(row).ok()) else { continue };
            let has = head.query.is_some();
            let (had, before) = *first.get_or_insert((has, number));
            if had != has {
                let (here, there) = if has { ("a qid", "none") } else { ("no qid", "one") };
                return Ok(Error::format(at + start as u64, format_args!("line {number} has {here}, and line {before} has {there}")));
            }
        }
    }
    Ok(changed())
}

/// Returns the error for the line at the offset `at`, after `before` lines.
#[cold]
fn wrong(what: Wrong<'_>, at: u64, before: u64) -> Error {
    let line = before + 1;
    let short = |text: &[u8]| String::from_utf8_lossy(&text[..text.len().min(40)]).escape_debug().to_string();
    match what {
        Wrong::Label(text) => Error::format(at, format_args!("line {line}: the label '{}' is not one number", short(text))),
        Wrong::Query(text) => Error::format(at, format_args!("line {line}: '{}' has no integer of 64 bits", short(text))),
        Wrong::Pair(text) => {
            Error::format(at, format_args!("line {line}: '{}' is no pair index:value with an index from 1 on", short(text)))
        }
        Wrong::Value(text) => Error::format(at, format_args!("line {line}: the value '{}' is no number", short(text))),
        Wrong::Order(before, index) => {
            Error::format(at, format_args!("line {line}: index {index} follows index {before}, and indices must ascend"))
        }
    }
}
