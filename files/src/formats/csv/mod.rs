//! Tables of numbers as text, CSV and TSV, as NumPy and pandas write them. A table is a tensor of float64 with one row for each line.
//!
//! - The separator is a comma, a tab, a semicolon or blanks. The caller passes the separator, or it is guessed from the first lines. Blanks
//!   around fields are ignored. If the separator is a semicolon, numbers may have a decimal comma.
//! - Empty lines are skipped. Lines that begin with `#` are comments, because `numpy.savetxt` writes headers in this form. `#N/A` and other
//!   errors of spreadsheets do not begin a comment. A `#` after a blank begins a comment after the numbers. Lines end with LF or CRLF.
//! - The first line has the names of the columns if one of its fields is no number. The names become the metadata `columns.0`, `columns.1`,
//!   ...
//! - Fields may have quotes. A field in quotes ends on the same line.
//! - Missing values are NaN: empty fields, `NA`, `N/A`, `nan`, `null`, `none`, `#N/A` and `#NA` in upper or lower case.
//!
//! Opening a file counts its lines and reads the first one. The other lines are read on request. Besides the memory of the tensor, reading
//! needs one chunk for each thread.

mod fields;
mod numbers;
mod table;
mod write;

pub use write::{write_csv, write_tsv};

use crate::contents::Contents;
use crate::element::Element;
use crate::encoding::Encoding;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::formats::text::lines::Lines;
use crate::grow;
use crate::input::Input;
use crate::tensor::Tensor;
use fields::{MOST_NAMES, fields, of_table, skipped, trimmed};
use numbers::number;
use table::Table;

/// The separators that can be guessed. The first ones are the least likely in numbers and names. A blank represents any number of blanks.
const SEPARATORS: [u8; 4] = *b";\t, ";

/// The byte order mark, with which UTF-8 files from Windows begin.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The number of lines from which the separator is guessed, and the number of fields of each line.
const SAMPLE: usize = 32;
const SAMPLE_FIELDS: usize = 1000;

/// The length limit of the line with names, in bytes.
const LONGEST_NAMES: usize = 4 << 20;

/// Returns true for a text that may be a table. In a table, the first line, the second line, or all lines of `head` after the first have
/// only numbers, and not only missing ones. A text whose first two lines exceed `head` may be a table, too.
pub fn recognises(head: &[u8], size: u64) -> bool {
    let text = head.strip_prefix(BOM).unwrap_or(head);
    let is_text = |&byte: &u8| byte >= b' ' && byte != 0x7f || matches!(byte, b'\n' | b'\r' | b'\t');
    if !text.iter().all(is_text) {
        return false;
    }
    let whole = size <= head.len() as u64;
    let end = if whole { text.len() } else { text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1) };
    let sample: Vec<&[u8]> = of_table(&text[..end]).map(|(_, line)| line).filter(|line| !skipped(line, b',')).take(SAMPLE).collect();
    // The first two lines may exceed the head.
    if !whole && sample.len() < 2 {
        return true;
    }
    let separator = guess(&sample);
    // A text of words such as `null` is no table.
    let is_value = |text: &[u8]| text.eq_ignore_ascii_case(b"nan") || number(text, separator).is_some_and(|number| !number.is_nan());
    let has_value = |line: &&[u8]| fields(line, separator).any(|(_, field)| is_value(field.text));
    let all_numbers = |lines: &[&[u8]]| lines.iter().all(|line| is_numeric(line, separator)) && lines.iter().any(has_value);
    sample.iter().take(2).any(|line| all_numbers(&[line])) || all_numbers(sample.get(1..).unwrap_or_default())
}

pub fn read(input: &dyn Input) -> Result<Contents> {
    let contents = read_csv(input, None)?;
    match contents.tensors.first() {
        Some(tensor) if tensor.sizes.first() == Some(&0) => Err(Error::broken(format_args!("there are no numbers"))),
        _ => Ok(contents),
    }
}

/// Reads the structure of a table of numbers. A blank as separator represents any number of blanks and tabs. Without a separator, it is
/// guessed.
pub fn read_csv(input: &dyn Input, separator: Option<u8>) -> Result<Contents> {
    if let Some(byte) = separator
        && (byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"+-.\"#\r\n".contains(&byte))
    {
        return Err(Error::unsupported(format_args!("'{}' does not separate fields", byte.escape_ascii())));
    }
    let mut head = [0; BOM.len()];
    let head = &mut head[..BOM.len().min(input.size() as usize)];
    input.read_at(0, head)?;
    let mut lines = Lines::new(input, if head == BOM { BOM.len() as u64 } else { 0 });
    let (text, at, line) = beginning(&lines)?;
    let sample = || of_table(&text).filter(|(_, line)| !skipped(line, separator.unwrap_or(b',')));
    let separator = separator.unwrap_or_else(|| guess(&sample().map(|(_, line)| line).take(SAMPLE).collect::<Vec<_>>()));
    let Some((first_at, first)) = sample().next() else { return Err(Error::broken(format_args!("there are no lines with numbers"))) };
    let columns = fields(first, separator).count();
    let mut contents = Contents::new(if separator == b'\t' { Format::Tsv } else { Format::Csv });
    let before = line + of_table(&text[..first_at]).count() as u64;
    let named = !is_numeric(first, separator);
    if !named {
        lines.begin_at(at + first_at as u64, before);
    } else {
        names(&mut contents, first, separator, at + first_at as u64)?;
        let after = of_table(&text).map(|(at, _)| at).find(|&at| at > first_at).unwrap_or(text.len());
        lines.begin_at(at + after as u64, before + 1);
    }
    drop(text);
    let table = Table::new(&lines, separator, columns)?;
    if named {
        table.check_first(&lines)?;
    }
    let (rows, len) = (table.rows() as i64, table.elements());
    let storage = contents.add_storage(Element::F64, len, Encoding::Format(Box::new(table)))?;
    grow::push(&mut contents.tensors, Tensor::row_major(String::new(), vec![rows, columns as i64], storage)?)?;
    Ok(contents)
}

/// Returns lines from the beginning of the file, of which at least one has fields. Also returns the offset and the number, from 0, of the
/// first of these lines.
fn beginning(lines: &Lines<'_>) -> Result<(Vec<u8>, u64, u64)> {
    let (mut number, mut text) = (0, Vec::new());
    for chunk in 0..lines.chunks() {
        let (start, at) = lines.chunk(chunk, &mut text)?;
        text.drain(..start);
        if of_table(&text).any(|(_, line)| !skipped(line, b',')) {
            return Ok((text, at, number));
        }
        number += of_table(&text).count() as u64;
    }
    Ok((Vec::new(), 0, 0))
}

/// Adds the names of columns to the metadata.
fn names(contents: &mut Contents, line: &[u8], separator: u8, at: u64) -> Result<()> {
    if line.len() > LONGEST_NAMES {
        return Err(Error::format(at, format_args!("a line with texts is longer than {LONGEST_NAMES} bytes")));
    }
    for (column, (_, field)) in fields(line, separator).enumerate() {
        if column == MOST_NAMES {
            return Err(Error::format(at, format_args!("a line with texts has more than {MOST_NAMES} fields")));
        }
        let name = String::from_utf8_lossy(field.text);
        let name = if field.quoted { name.replace("\"\"", "\"") } else { name.into_owned() };
        contents.add_metadata(format!("columns.{column}"), name)?;
    }
    Ok(())
}

/// Returns true if all fields of a line are numbers, or missing ones.
fn is_numeric(line: &[u8], separator: u8) -> bool {
    fields(line, separator).all(|(_, field)| number(field.text, separator).is_some())
}

/// Guesses the separator. The first line of the sample may have names. The choices, in this order:
///
/// 1. the first separator by which all lines have equally many fields, at least two, and lines after the first have only numbers;
/// 2. a comma, if each line after the first is one number;
/// 3. the first separator by which all lines have equally many fields, at least two;
/// 4. the first separator that occurs in a line;
/// 5. a comma.
fn guess(sample: &[&[u8]]) -> u8 {
    let data = if sample.len() > 1 { &sample[1..] } else { sample };
    let equal = |separator: u8| {
        let mut counts = sample.iter().map(|line| fields(line, separator).take(SAMPLE_FIELDS).count());
        let first = counts.next().unwrap_or(0);
        first > 1 && counts.all(|count| count == first)
    };
    let numeric = |separator: u8| {
        data.iter().all(|line| fields(line, separator).take(SAMPLE_FIELDS).all(|(_, field)| number(field.text, separator).is_some()))
    };
    let sound = SEPARATORS.into_iter().find(|&separator| equal(separator) && numeric(separator));
    if sound.is_none() && data.iter().all(|line| number(trimmed(line), b',').is_some()) {
        return b',';
    }
    let occurs = |separator: &u8| sample.iter().any(|line| fields(line, *separator).nth(1).is_some());
    sound
        .or_else(|| SEPARATORS.into_iter().find(|&separator| equal(separator)))
        .or_else(|| SEPARATORS.into_iter().find(occurs))
        .unwrap_or(b',')
}
