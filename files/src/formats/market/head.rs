//! The first lines of a file: the banner, comments and sizes.

use super::packed::{GZIP, text, unreadable};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::input::Input;
use std::io::{BufRead, BufReader, Read};

/// The beginning of a file. Letters have any case.
pub const BANNER: &[u8] = b"%%MatrixMarket";

/// The length limit of a line before the first entry, in bytes.
const LONGEST: u64 = 1 << 16;

/// The number of bytes before the sizes that are read at most. A few compressed bytes can become many comments.
const COMMENTS: u64 = 16 << 20;

/// The type of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Real,
    Integer,
    /// Entries have no numbers. Their values are 1.
    Pattern,
}

/// The relation between the elements below the diagonal and those above, which the file omits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// There is no relation, and the file omits nothing.
    General,
    Symmetric,
    /// Elements above the diagonal have the opposite sign.
    Skew,
}

/// The description of a matrix in the first lines of its file.
#[derive(Debug, Clone, Copy)]
pub struct Head {
    /// True if the file has all elements column by column, without positions.
    pub dense: bool,
    pub field: Field,
    pub symmetry: Symmetry,
    pub rows: i64,
    pub columns: i64,
    /// The number of lines with entries.
    pub lines: u64,
    /// True if gzip compressed the text.
    pub packed: bool,
    /// The offset in the text of the line after the sizes.
    pub first: u64,
    /// The number of lines before that line.
    pub before: u64,
}

impl Head {
    /// Reads the first lines of a file.
    pub fn read(input: &dyn Input) -> Result<Head> {
        let mut start = [0; GZIP.len()];
        let packed = input.size() >= start.len() as u64 && input.read_at(0, &mut start).map(|()| start == GZIP)?;
        let mut lines = Lines { from: BufReader::new(text(input, packed)), at: 0, lines: 0, line: Vec::new() };
        lines.head().map(|head| Head { packed, ..head })
    }

    /// Returns the type of the elements.
    pub fn element(&self) -> Element {
        if self.field == Field::Integer { Element::I64 } else { Element::F64 }
    }
}

/// A reader of the lines before the first entry.
struct Lines<R> {
    from: BufReader<R>,
    /// The offset of the next line in the text.
    at: u64,
    /// The number of lines that were read.
    lines: u64,
    /// The line that was read last.
    line: Vec<u8>,
}

impl<R: Read> Lines<R> {
    /// Reads the next line. Returns false at the end of the text.
    fn next(&mut self) -> Result<bool> {
        self.line.clear();
        let mut from = self.from.by_ref().take(LONGEST);
        let len = from.read_until(b'\n', &mut self.line).map_err(unreadable)?;
        if len as u64 == LONGEST {
            return Err(Error::format(self.at, format_args!("line {} is longer than {LONGEST} bytes", self.lines + 1)));
        }
        self.at += len as u64;
        self.lines += u64::from(len > 0);
        Ok(len > 0)
    }

    /// Returns an error in the line that was read last.
    #[cold]
    fn wrong<T>(&self, what: std::fmt::Arguments<'_>) -> Result<T> {
        Err(Error::format(self.at - self.line.len() as u64, format_args!("line {}: {what}", self.lines.max(1))))
    }

    /// Reads the banner, comments and sizes.
    fn head(&mut self) -> Result<Head> {
        // Empty lines before the banner are skipped.
        while self.next()? && self.line.trim_ascii().is_empty() && self.at <= COMMENTS {}
        let banner = String::from_utf8_lossy(&self.line[..self.line.len().min(256)]).to_ascii_lowercase();
        let mut words = banner.split_ascii_whitespace();
        let mut word = || words.next().unwrap_or("");
        let (name, object, form, field, symmetry) = (word(), word(), word(), word(), word());
        if name.as_bytes() != BANNER.to_ascii_lowercase() {
            return self.wrong(format_args!("the gzip file contains no Matrix Market file"));
        }
        let refused =
            |what: &str| Err(Error::unsupported(format_args!("the file says '{}', and {what}", banner.trim_ascii().escape_debug())));
        let dense = match (object, form) {
            ("matrix", "coordinate") => false,
            ("matrix", "array") => true,
            ("matrix", _) => {
                return self.wrong(format_args!("'coordinate' or 'array' is expected, and there is '{}'", form.escape_debug()));
            }
            _ => return refused("only the object 'matrix' is supported"),
        };
        let field = match field {
            "real" | "double" => Field::Real,
            "integer" | "unsigned-integer" => Field::Integer,
            "pattern" if !dense => Field::Pattern,
            "complex" => return refused("there are no complex tensors"),
            _ => return self.wrong(format_args!("'real', 'integer' or 'pattern' is expected, and there is '{}'", field.escape_debug())),
        };
        let symmetry = match symmetry {
            "general" | "" => Symmetry::General,
            "symmetric" => Symmetry::Symmetric,
            "skew-symmetric" => Symmetry::Skew,
            "hermitian" => return refused("there are no complex tensors"),
            _ => return self.wrong(format_args!("the symmetry '{}' is unknown", symmetry.escape_debug())),
        };
        while self.next()? {
            let line = self.line.trim_ascii();
            if !line.is_empty() && line[0] != b'%' {
                return self.sizes(Head {
                    dense,
                    field,
                    symmetry,
                    rows: 0,
                    columns: 0,
                    lines: 0,
                    packed: false,
                    first: self.at,
                    before: self.lines,
                });
            }
            if self.at > COMMENTS {
                return Err(Error::format(self.at, format_args!("the first {COMMENTS} bytes have no sizes")));
            }
        }
        Err(Error::format(self.at, format_args!("the file ends early: a line with sizes is expected")))
    }

    /// Reads the sizes in the line that was read last.
    fn sizes(&self, mut head: Head) -> Result<Head> {
        let text = String::from_utf8_lossy(&self.line);
        let numbers: Option<Vec<i64>> =
            text.split_ascii_whitespace().take(4).map(|word| word.parse().ok().filter(|&size: &i64| size >= 0)).collect();
        let lines = match (numbers.as_deref(), head.dense) {
            (Some(&[rows, columns, lines]), false) => {
                (head.rows, head.columns) = (rows, columns);
                u64::try_from(lines).ok()
            }
            (Some(&[rows, columns]), true) => {
                (head.rows, head.columns) = (rows, columns);
                stored(head)
            }
            _ => None,
        };
        if head.symmetry != Symmetry::General && head.rows != head.columns {
            return self.wrong(format_args!("a matrix of sizes {} x {} has no symmetry", head.rows, head.columns));
        }
        match lines {
            Some(lines) => Ok(Head { lines, ..head }),
            None => {
                let text = text.trim_ascii();
                let text: String = text.chars().take(40).collect();
                self.wrong(format_args!("sizes are expected, and there is '{}'", text.escape_debug()))
            }
        }
    }
}

/// Returns the number of elements that the file of a dense matrix has; `None` for more than 63 bits.
fn stored(head: Head) -> Option<u64> {
    let (rows, columns) = (head.rows as u64, head.columns as u64);
    let all = rows.checked_mul(columns).filter(|&all| all <= i64::MAX as u64)?;
    Some(match head.symmetry {
        Symmetry::General => all,
        // A triangle with the diagonal, and one without.
        Symmetry::Symmetric => (all - rows.min(all)) / 2 + rows.min(all),
        Symmetry::Skew => (all - rows.min(all)) / 2,
    })
}
