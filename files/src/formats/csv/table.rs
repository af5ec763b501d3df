//! The rows of a table and their places in the text.

use super::fields::{Field, field, fields, of_table, skipped};
use super::numbers::{Wrong, number, row};
use crate::encoding::Decode;
use crate::error::{Error, Result};
use crate::formats::text::lines::{GROUP, Lines, changed};
use crate::grow;
use crate::input::Input;
use crate::pool;

/// A table of numbers in a text.
#[derive(Debug)]
pub struct Table {
    /// The offset of the first line, and the number of lines before it.
    first: u64,
    before: u64,
    separator: u8,
    columns: usize,
    /// For each chunk of the text the numbers of lines and rows before the chunk. The last entry has the totals.
    places: Vec<Place>,
}

/// A number of lines, and the number of rows among them.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    lines: u64,
    rows: u64,
}

/// A line that is too short: its offset, its number in the chunk, and the number of its fields.
struct Short {
    at: u64,
    line: u64,
    fields: usize,
}

impl Table {
    /// Counts the lines. A line that is too short for its fields is an error, so that the number of elements is limited by the size of the
    /// file.
    pub fn new(lines: &Lines<'_>, separator: u8, columns: usize) -> Result<Table> {
        let mut table = Table { first: lines.first, before: lines.before, separator, columns, places: Vec::new() };
        let chunks = lines.chunks();
        table.places = grow::list(chunks as usize + 1)?;
        let mut sum = Place::default();
        table.places.push(sum);
        let groups = (0..chunks).step_by(GROUP).map(|first| first..chunks.min(first + GROUP as u64));
        for counts in pool::map(groups.collect(), |group| {
            let mut text = Vec::new();
            group.map(|chunk| table.count(lines, chunk, &mut text)).collect::<Result<Vec<_>>>()
        }) {
            for (count, short) in counts? {
                if let Some(Short { at, line, fields }) = short {
                    return Err(table.ragged(at, sum.lines + line, fields));
                }
                sum = Place { lines: sum.lines + count.lines, rows: sum.rows + count.rows };
                table.places.push(sum);
            }
        }
        Ok(table)
    }

    /// Counts the lines of a chunk, up to the first line that is too short.
    fn count(&self, lines: &Lines<'_>, chunk: u64, text: &mut Vec<u8>) -> Result<(Place, Option<Short>)> {
        let (start, from) = lines.chunk(chunk, text)?;
        let mut place = Place::default();
        for (at, line) in of_table(&text[start..]) {
            if !skipped(line, self.separator) {
                if line.len() + 1 < self.columns {
                    let short = Short { at: from + at as u64, line: place.lines, fields: fields(line, self.separator).count() };
                    return Ok((place, Some(short)));
                }
                place.rows += 1;
            }
            place.lines += 1;
        }
        Ok((place, None))
    }

    /// Checks the first row, so that a text without numbers is refused.
    pub fn check_first(&self, lines: &Lines<'_>) -> Result<()> {
        let Some(chunk) = self.places.windows(2).position(|pair| pair[1].rows > pair[0].rows) else { return Ok(()) };
        let mut text = Vec::new();
        let (start, from) = lines.chunk(chunk as u64, &mut text)?;
        let first = of_table(&text[start..]).enumerate().find(|(_, (_, line))| !skipped(line, self.separator));
        let Some((place, (at, line))) = first else { return Err(changed()) };
        let text = |(_, (_, field)): &(usize, (usize, Field<'_>))| number(field.text, self.separator).is_none();
        let wrong = if fields(line, self.separator).count() != self.columns {
            Wrong::Fields
        } else {
            let Some((column, (at, _))) = fields(line, self.separator).enumerate().find(text) else { return Ok(()) };
            Wrong::Text { column, at }
        };
        Err(self.wrong(wrong, line, from + at as u64, self.places[chunk].lines + place as u64))
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.places.last().map_or(0, |place| place.rows)
    }

    /// Returns the number of elements.
    pub fn elements(&self) -> u64 {
        self.rows().saturating_mul(self.columns as u64)
    }

    /// Returns the size in bytes of the elements between the first and the last place.
    fn bytes(&self, places: &[Place]) -> usize {
        let rows = places.last().map_or(0, |last| last.rows - places[0].rows);
        (rows as usize).saturating_mul(self.columns).saturating_mul(8)
    }

    /// Fills `to` with the numbers of a chunk.
    fn chunk(&self, lines: &Lines<'_>, chunk: usize, text: &mut Vec<u8>, to: &mut [u8]) -> Result<()> {
        let (start, from) = lines.chunk(chunk as u64, text)?;
        let mut rows = to.chunks_exact_mut(self.columns * 8);
        for (place, (at, line)) in of_table(&text[start..]).enumerate() {
            if !skipped(line, self.separator) {
                let to = rows.next().ok_or_else(changed)?;
                row(line, self.separator, to)
                    .map_err(|wrong| self.wrong(wrong, line, from + at as u64, self.places[chunk].lines + place as u64))?;
            }
        }
        if rows.next().is_some() { Err(changed()) } else { Ok(()) }
    }

    /// Returns the error for the line at the offset `at`. `number` is the number of the line, from 0.
    #[cold]
    fn wrong(&self, wrong: Wrong, line: &[u8], at: u64, number: u64) -> Error {
        match wrong {
            Wrong::Fields => self.ragged(at, number, fields(line, self.separator).count()),
            Wrong::Text { column, at: place } => {
                let text = field(line, place, self.separator).0.text;
                let text = String::from_utf8_lossy(&text[..text.len().min(40)]);
                let (line, column) = (self.before + number + 1, column + 1);
                Error::format(at + place as u64, format_args!("line {line}, column {column}: '{}' is no number", text.escape_debug()))
            }
        }
    }

    #[cold]
    fn ragged(&self, at: u64, number: u64, found: usize) -> Error {
        let (line, columns) = (self.before + number + 1, self.columns);
        Error::format(at, format_args!("line {line} has {found} fields, and the first has {columns}"))
    }
}

impl Decode for Table {
    fn decode(&self, input: &dyn Input, to: &mut [u8]) -> Result<()> {
        let mut lines = Lines::new(input, 0);
        lines.begin_at(self.first, self.before);
        let mut groups = grow::list(self.places.len().div_ceil(GROUP))?;
        let mut left = to;
        for first in (0..self.places.len() - 1).step_by(GROUP) {
            let group = &self.places[first..self.places.len().min(first + GROUP + 1)];
            let (part, rest) = left.split_at_mut_checked(self.bytes(group)).ok_or_else(changed)?;
            left = rest;
            groups.push((first, group, part));
        }
        let group = |(first, group, mut left): (usize, &[Place], &mut [u8])| {
            let mut text = Vec::new();
            for (i, pair) in group.windows(2).enumerate() {
                let (part, rest) = left.split_at_mut_checked(self.bytes(pair)).ok_or_else(changed)?;
                self.chunk(&lines, first + i, &mut text, part)?;
                left = rest;
            }
            Ok(())
        };
        pool::map(groups, group).into_iter().collect()
    }
}
