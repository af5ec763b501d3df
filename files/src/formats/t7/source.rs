//! A reader of the numbers and bytes in a file of Torch7, in binary or as text.

use crate::element::{Element, Written};
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::grow;
use crate::input::{Cursor, Input};
use half::f16;
use std::str::FromStr;

/// The encoding of numbers and strings in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Little-endian, with longs of `long` bytes.
    Binary { long: u64 },
    /// Text.
    Ascii,
}

impl Variant {
    /// Returns the file format.
    pub fn format(self) -> Format {
        if self == Variant::Ascii { Format::T7Ascii } else { Format::T7 }
    }
}

pub struct Source<'a> {
    pub cursor: Cursor<'a>,
    pub variant: Variant,
}

/// The length limit of a number's text.
const LONGEST: usize = 512;

impl<'a> Source<'a> {
    pub fn new(input: &'a dyn Input, variant: Variant) -> Source<'a> {
        Source { cursor: Cursor::new(input, 0, u64::MAX), variant }
    }

    pub fn int(&mut self) -> Result<i32> {
        if self.variant == Variant::Ascii { self.number() } else { self.cursor.i32() }
    }

    pub fn long(&mut self) -> Result<i64> {
        match self.variant {
            Variant::Ascii => self.number(),
            Variant::Binary { long: 4 } => self.cursor.i32().map(i64::from),
            Variant::Binary { .. } => self.cursor.i64(),
        }
    }

    pub fn double(&mut self) -> Result<f64> {
        if self.variant == Variant::Ascii { self.number() } else { self.cursor.f64() }
    }

    /// Reads a length, which must not be negative.
    pub fn length(&mut self) -> Result<u64> {
        let at = self.cursor.at();
        let len = self.int()?;
        u64::try_from(len).map_err(|_| Error::format(at, format_args!("length {len} is negative")))
    }

    /// Reads `count` longs. Fails before it allocates memory if too few bytes are left.
    pub fn longs(&mut self, count: usize) -> Result<Vec<i64>> {
        let least = if let Variant::Binary { long } = self.variant { long } else { 2 };
        if (count as u64).saturating_mul(least) > self.cursor.left().saturating_add(1) {
            return Err(self.cursor.error(format_args!("the file ends early: {count} longs are expected")));
        }
        let mut longs = grow::list(count)?;
        for _ in 0..count {
            longs.push(self.long()?);
        }
        Ok(longs)
    }

    /// Reads `len` bytes.
    pub fn bytes(&mut self, len: u64) -> Result<Vec<u8>> {
        let bytes = self.cursor.take(len)?;
        self.end_of_bytes(len)?;
        Ok(bytes)
    }

    /// Skips `len` bytes.
    pub fn skip(&mut self, len: u64) -> Result<()> {
        self.cursor.skip(len)?;
        self.end_of_bytes(len)
    }

    /// Reads `count` elements of a type, or skips them if they can be read later.
    pub fn elements(&mut self, count: u64, element: Element) -> Result<Encoding> {
        if self.variant != Variant::Ascii || element.size() == 1 {
            let at = self.cursor.at();
            let len = count.saturating_mul(element.size() as u64);
            self.skip(len)?;
            return Ok(Encoding::little(at, Written::Same(element)));
        }
        // A number and the following space have at least two bytes.
        if count.saturating_mul(2) > self.cursor.left().saturating_add(1) {
            return Err(self.cursor.error(format_args!("the file ends early: {count} numbers are expected")));
        }
        let mut bytes = grow::list(count as usize * element.size())?;
        for _ in 0..count {
            match element {
                Element::I16 => bytes.extend_from_slice(&self.number::<i16>()?.to_le_bytes()),
                Element::I32 => bytes.extend_from_slice(&self.number::<i32>()?.to_le_bytes()),
                Element::I64 => bytes.extend_from_slice(&self.number::<i64>()?.to_le_bytes()),
                Element::F16 => bytes.extend_from_slice(&f16::from_f32(self.number::<f32>()?).to_le_bytes()),
                Element::F32 => bytes.extend_from_slice(&self.number::<f32>()?.to_le_bytes()),
                _ => bytes.extend_from_slice(&self.number::<f64>()?.to_le_bytes()),
            }
        }
        Ok(Encoding::Bytes(bytes))
    }

    /// Skips the end of line that follows bytes in a text. None follows an empty string.
    fn end_of_bytes(&mut self, len: u64) -> Result<()> {
        if self.variant == Variant::Ascii && len > 0 && self.cursor.ahead()?.first() == Some(&b'\n') {
            self.cursor.skip(1)?;
        }
        Ok(())
    }

    /// Reads the next number of a text, and the end of line after it.
    fn number<T: FromStr>(&mut self) -> Result<T> {
        loop {
            let ahead = self.cursor.ahead()?;
            if ahead.is_empty() {
                return Err(self.cursor.error(format_args!("the file ends early: a number is expected")));
            }
            let spaces = ahead.iter().position(|byte| !byte.is_ascii_whitespace());
            let skipped = spaces.unwrap_or(ahead.len()) as u64;
            self.cursor.skip(skipped)?;
            if spaces.is_some() {
                break;
            }
        }
        let at = self.cursor.at();
        let (mut text, mut len) = ([0; LONGEST], 0);
        let number = loop {
            let ahead = self.cursor.ahead()?;
            let end = ahead.iter().take(LONGEST + 1).position(u8::is_ascii_whitespace);
            let piece = &ahead[..end.unwrap_or(ahead.len())];
            if len == 0 && end.is_some() {
                // The fast path: the buffer contains the whole number.
                let number = parse(piece);
                let skipped = piece.len() as u64 + u64::from(ahead.get(piece.len()) == Some(&b'\n'));
                self.cursor.skip(skipped)?;
                break number;
            }
            let Some(to) = text.get_mut(len..len + piece.len()) else {
                return Err(Error::format(at, format_args!("a number has more than {LONGEST} characters")));
            };
            to.copy_from_slice(piece);
            len += piece.len();
            let (skipped, done) = (piece.len() as u64, end.is_some() || piece.is_empty());
            let newline = end.is_some_and(|end| ahead[end] == b'\n');
            self.cursor.skip(skipped + u64::from(newline))?;
            if done {
                break parse(&text[..len]);
            }
        };
        number.ok_or_else(|| Error::format(at, format_args!("this is no number of the expected type")))
    }
}

fn parse<T: FromStr>(text: &[u8]) -> Option<T> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
