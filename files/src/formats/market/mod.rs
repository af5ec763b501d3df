//! Matrix Market: a matrix as text, sparse (`coordinate`) or dense (`array`), with one entry in each line.
//!
//! Source: R. F. Boisvert, R. Pozo, K. A. Remington, The Matrix Market Exchange Formats, NISTIR 5935. The first line tells the form, the
//! type of numbers and the symmetry; lines that begin with `%` are comments; the next line has the sizes.
//!
//! - Real numbers are read as float64, integers as int64, and entries of the type `pattern`, which have no number, as 1 in float64, as
//!   SciPy reads them. Complex numbers are refused.
//! - Of a symmetric or skew-symmetric matrix the file has a triangle. Each entry below the diagonal stands for two, which are read one
//!   after the other.
//! - Entries are read as they stand in the file, duplicates too. A position beyond the sizes is an error.
//! - A file that gzip compressed is read; none is written.
//!
//! Opening a file counts its entries; their positions and values are read when they are asked for, by threads that take chunks of the
//! text, in no other memory than that of the tensors.

mod body;
mod write;

pub use body::{Body, Part};
pub use write::write;

use crate::contents::{Contents, Data, Encoding, Tensor};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::formats::Format;
use crate::grow;
use crate::input::{Cursor, Input};
use crate::sparse::{Form, Sparse};
use flate2::read::MultiGzDecoder;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

/// How a file begins, in any case of letters.
const BANNER: &[u8] = b"%%MatrixMarket";

/// How a file of gzip begins.
const GZIP: &[u8] = b"\x1f\x8b\x08";

/// The longest line before the first entry, in bytes.
const LONGEST: u64 = 1 << 16;

/// Bytes that comments before the sizes may have: few compressed bytes become many.
const COMMENTS: u64 = 16 << 20;

pub fn recognises(head: &[u8], _: u64) -> bool {
    let head = head.trim_ascii_start();
    head.starts_with(GZIP) || head.get(..BANNER.len()).is_some_and(|start| start.eq_ignore_ascii_case(BANNER))
}

/// The type of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Real,
    Integer,
    /// No numbers, which stand for 1.
    Pattern,
}

/// The entries that a file leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Symmetry {
    General,
    Symmetric,
    /// Those above the diagonal are those below with another sign.
    Skew,
}

/// The description of a matrix in the first lines of its file.
#[derive(Debug, Clone, Copy)]
struct Head {
    /// True if each element has a number and no position, column by column.
    dense: bool,
    field: Field,
    symmetry: Symmetry,
    rows: i64,
    columns: i64,
    /// The number of lines with entries.
    lines: u64,
}

impl Head {
    fn element(&self) -> Element {
        if self.field == Field::Integer { Element::I64 } else { Element::F64 }
    }
}

pub fn read(input: &dyn Input) -> Result<Contents> {
    let mut start = [0; GZIP.len()];
    let packed = input.size() >= start.len() as u64 && input.read_at(0, &mut start).map(|()| start == GZIP)?;
    let mut beginning = Beginning { from: BufReader::new(text(input, packed)), at: 0, lines: 0, line: Vec::new() };
    let head = beginning.head()?;
    let (first, before) = (beginning.at, beginning.lines);
    drop(beginning);
    let body = Arc::new(Body::new(input, head, packed, first, before)?);
    let mut contents = Contents::new(Format::MatrixMarket);
    let mut add = |part, element, len| contents.add_storage(element, len, Encoding::Market { body: Arc::clone(&body), part });
    let sizes = grow::copy(&[head.rows, head.columns])?;
    if head.dense {
        let index = add(Part::Values, head.element(), crate::contents::count(&sizes)?)?;
        let strides = grow::copy(&[1, head.rows.max(1)])?;
        grow::push(&mut contents.tensors, Tensor { name: String::new(), sizes, strides, offset: 0, data: Data::Storage(index) })?;
        return Ok(contents);
    }
    let nnz = body.entries();
    let Some(positions) = nnz.checked_mul(2).filter(|&count| count <= i64::MAX as u64) else {
        return Err(Error::broken(format_args!("there are {nnz} entries")));
    };
    let (indices, values) = (add(Part::Indices, Element::I64, positions)?, add(Part::Values, head.element(), nnz)?);
    let mut parts = grow::list(2)?;
    parts.push(Tensor::row_major(String::new(), grow::copy(&[2, nnz as i64])?, indices)?);
    parts.push(Tensor::row_major(String::new(), grow::copy(&[nnz as i64])?, values)?);
    contents.add_sparse(String::new(), sizes, Sparse { form: Form::Coordinates, parts, coalesced: false })?;
    Ok(contents)
}

/// The text of a file.
fn text(input: &dyn Input, packed: bool) -> Box<dyn Read + '_> {
    let cursor = Cursor::new(input, 0, u64::MAX);
    if packed { Box::new(MultiGzDecoder::new(cursor)) } else { Box::new(cursor) }
}

/// The error with which a text could not be read.
#[cold]
fn unpacking(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::OutOfMemory | io::ErrorKind::Other => Error::from(error),
        _ => Error::broken(format_args!("compressed data cannot be read: {error}")),
    }
}

/// Reads the lines before the first entry.
struct Beginning<R> {
    from: BufReader<R>,
    /// The offset of the next line in the text, and how many were read.
    at: u64,
    lines: u64,
    line: Vec<u8>,
}

impl<R: Read> Beginning<R> {
    /// Reads the next line; false at the end of the text.
    fn next(&mut self) -> Result<bool> {
        self.line.clear();
        let mut from = self.from.by_ref().take(LONGEST);
        let len = from.read_until(b'\n', &mut self.line).map_err(unpacking)?;
        if len as u64 == LONGEST {
            return Err(Error::format(self.at, format_args!("line {} is longer than {LONGEST} bytes", self.lines + 1)));
        }
        self.at += len as u64;
        self.lines += u64::from(len > 0);
        Ok(len > 0)
    }

    /// An error in the line that was read last.
    #[cold]
    fn wrong<T>(&self, what: std::fmt::Arguments<'_>) -> Result<T> {
        Err(Error::format(self.at - self.line.len() as u64, format_args!("line {}: {what}", self.lines.max(1))))
    }

    fn head(&mut self) -> Result<Head> {
        // White space in front of the banner is skipped.
        while self.next()? && self.line.trim_ascii().is_empty() && self.at <= COMMENTS {}
        let banner = String::from_utf8_lossy(&self.line[..self.line.len().min(256)]).to_ascii_lowercase();
        let mut words = banner.split_ascii_whitespace();
        let mut word = || words.next().unwrap_or("");
        let (name, object, form, field, symmetry) = (word(), word(), word(), word(), word());
        if name.as_bytes() != BANNER.to_ascii_lowercase() {
            return self.wrong(format_args!("a file of gzip that has no Matrix Market file in it"));
        }
        let refused =
            |what: &str| Err(Error::unsupported(format_args!("the file says '{}', and {what}", banner.trim_ascii().escape_debug())));
        let dense = match (object, form) {
            ("matrix", "coordinate") => false,
            ("matrix", "array") => true,
            ("matrix", _) => {
                return self.wrong(format_args!("'coordinate' or 'array' is expected, and there is '{}'", form.escape_debug()));
            }
            _ => return refused("of its objects only a matrix is read"),
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
                return self.sizes(Head { dense, field, symmetry, rows: 0, columns: 0, lines: 0 });
            }
            if self.at > COMMENTS {
                return Err(Error::format(self.at, format_args!("no sizes are in the first {COMMENTS} bytes")));
            }
        }
        Err(Error::format(self.at, format_args!("the file ends early: a line with sizes is expected")))
    }

    /// Reads the sizes in the line.
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

/// The number of elements of a dense matrix that the file has; `None` for too many.
fn stored(head: Head) -> Option<u64> {
    let (rows, columns) = (head.rows as u64, head.columns as u64);
    let all = rows.checked_mul(columns).filter(|&all| all <= i64::MAX as u64)?;
    Some(match head.symmetry {
        Symmetry::General => all,
        // A triangle with its diagonal, and one without.
        Symmetry::Symmetric => (all - rows.min(all)) / 2 + rows.min(all),
        Symmetry::Skew => (all - rows.min(all)) / 2,
    })
}
