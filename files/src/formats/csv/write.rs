//! Tables of numbers are written as text.

use super::MOST_NAMES;
use super::numbers::number;
use crate::contents::Save;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::formats::Output;
use crate::pool;
use half::{bf16, f16};
use std::io::Write as _;

/// The number of elements that one thread makes a text of at a time, and of such parts that are held in memory.
pub const PART: usize = 1 << 15;
pub const PARTS: usize = 16;

/// The greatest number of digits that tell floats apart.
pub const MOST_DIGITS: usize = 17;

pub fn write_csv(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    write(what, to, b',')
}

pub fn write_tsv(what: &Save<'_>, to: &mut dyn Output) -> Result<()> {
    write(what, to, b'\t')
}

/// Writes the names of columns, if the metadata has some, and a line for each row. A tensor of one dimension is one column. Floats have
/// as many digits as tell them from their neighbours of the same type, of float32 for those of 16 bits, or as many significant ones as are
/// asked for.
fn write(what: &Save<'_>, to: &mut dyn Output, separator: u8) -> Result<()> {
    let [tensor] = what.tensors else {
        return Err(Error::unsupported(format_args!("tables of text hold one tensor, not {}", what.tensors.len())));
    };
    let columns = match tensor.sizes[..] {
        [_] => 1,
        [_, columns] => columns as usize,
        _ => {
            let dims = tensor.sizes.len();
            return Err(Error::unsupported(format_args!(
                "tables of text have one or two dimensions, and tensor '{}' has {dims}",
                tensor.name
            )));
        }
    };
    let names = header(what, columns, separator)?;
    let (element, bytes) = (what.element(tensor), what.bytes(tensor)?);
    if bytes.is_empty() && (names.is_empty() || tensor.sizes[0] > 0) {
        let sizes = &tensor.sizes;
        let what = "tables of text have at least one row or names of columns, and at least one column";
        return Err(Error::unsupported(format_args!("{what}, and tensor '{}' has sizes {sizes:?}", tensor.name)));
    }
    to.write_all(&names)?;
    if bytes.is_empty() {
        return Ok(());
    }
    let row = columns * element.size();
    let precision = what.precision.map(|digits| digits.clamp(1, MOST_DIGITS));
    let part = (PART / columns).max(1) * row;
    for parts in bytes.chunks(part.saturating_mul(PARTS)) {
        let texts = pool::map(parts.chunks(part).collect(), |part: &[u8]| {
            let mut text = Vec::with_capacity(part.len() / element.size() * 8);
            part.chunks_exact(row).for_each(|row| line(row, element, precision, separator, &mut text));
            text
        });
        texts.iter().try_for_each(|text| to.write_all(text))?;
    }
    Ok(())
}

/// The line with the names of columns, `columns.0` and on; columns without one have an empty name. Where all are empty there is no line.
/// A table without rows may have any number of columns.
fn header<'a>(what: &Save<'a>, columns: usize, separator: u8) -> Result<Vec<u8>> {
    let named = |(key, name): &'a (String, String)| {
        let column = key.strip_prefix("columns.")?.parse().ok().filter(|&column: &usize| column < columns)?;
        (!name.is_empty()).then_some((column, name.as_str()))
    };
    let mut line = Vec::new();
    if what.metadata.iter().find_map(named).is_none() {
        return Ok(line);
    }
    if columns > MOST_NAMES {
        return Err(Error::unsupported(format_args!("at most {MOST_NAMES} columns have names, and there are {columns}")));
    }
    let mut names = vec![""; columns];
    what.metadata.iter().filter_map(named).for_each(|(column, name)| names[column] = name);
    if names.iter().all(|name| number(name.as_bytes(), separator).is_some()) {
        return Err(Error::unsupported(format_args!("all names of columns are numbers, and would be read as a row")));
    }
    for (column, name) in names.into_iter().enumerate() {
        if name.contains(['\n', '\r']) {
            return Err(Error::unsupported(format_args!("the name of column {column} has an end of line")));
        }
        if column > 0 {
            line.push(separator);
        }
        let special = |byte: u8| byte == separator || matches!(byte, b'"' | b'#' | b',' | b';' | b'\t');
        if name.bytes().any(special) || name.trim() != name {
            line.extend_from_slice(format!("\"{}\"", name.replace('"', "\"\"")).as_bytes());
        } else {
            line.extend_from_slice(name.as_bytes());
        }
    }
    line.push(b'\n');
    Ok(line)
}

/// Appends a line with the elements of a row.
fn line(row: &[u8], element: Element, precision: Option<usize>, separator: u8, text: &mut Vec<u8>) {
    macro_rules! each {
        ($T:ty, |$value:ident, $text:ident| $append:expr) => {
            for bytes in row.as_chunks::<{ size_of::<$T>() }>().0 {
                let ($value, $text) = (<$T>::from_le_bytes(*bytes), &mut *text);
                $append;
                $text.push(separator);
            }
        };
    }
    match element {
        Element::Bool => each!(u8, |value, text| integer(u8::from(value != 0), text)),
        Element::U8 => each!(u8, |value, text| integer(value, text)),
        Element::I8 => each!(i8, |value, text| integer(value, text)),
        Element::I16 => each!(i16, |value, text| integer(value, text)),
        Element::I32 => each!(i32, |value, text| integer(value, text)),
        Element::I64 => each!(i64, |value, text| integer(value, text)),
        Element::F16 => each!(f16, |value, text| float(value.to_f32(), f64::from(value), precision, text)),
        Element::BF16 => each!(bf16, |value, text| float(value.to_f32(), f64::from(value), precision, text)),
        Element::F32 => each!(f32, |value, text| float(value, f64::from(value), precision, text)),
        Element::F64 => each!(f64, |value, text| float(value, value, precision, text)),
    }
    if let Some(last) = text.last_mut() {
        *last = b'\n';
    }
}

/// Appends an integer.
pub fn integer(value: impl itoa::Integer, text: &mut Vec<u8>) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a float: its shortest text, or the text of `wide`, its value, with a number of digits. Missing values and infinities are `nan`
/// and `inf`, as NumPy has them.
pub fn float(value: impl zmij::Float, wide: f64, precision: Option<usize>, text: &mut Vec<u8>) {
    if !wide.is_finite() {
        let name = if wide.is_nan() {
            "nan"
        } else if wide > 0.0 {
            "inf"
        } else {
            "-inf"
        };
        text.extend_from_slice(name.as_bytes());
        return;
    }
    match precision {
        None => text.extend_from_slice(zmij::Buffer::new().format_finite(value).as_bytes()),
        Some(digits) => rounded(wide, digits, text),
    }
}

/// Appends a float with a number of significant digits, without zeros at the end: as C's `%.*g`.
fn rounded(value: f64, digits: usize, text: &mut Vec<u8>) {
    let mut buffer = [0; 32];
    let mut left = &mut buffer[..];
    // A sign, 17 digits, a point and an exponent fit.
    let _ = write!(left, "{value:.*e}", digits - 1);
    let len = 32 - left.len();
    let written = &mut buffer[..len];
    let Some(at) = written.iter().position(|&byte| byte == b'e') else { return };
    let exponent = str::from_utf8(&written[at + 1..]).ok().and_then(|exponent| exponent.parse::<i32>().ok()).unwrap_or(0);
    let first = usize::from(written[0] == b'-');
    text.extend_from_slice(&written[..first]);
    // The first digit moves over the point, so that all are together.
    if at > first + 1 {
        written.swap(first, first + 1);
    }
    let figures = if at > first + 1 { &written[first + 1..at] } else { &written[first..at] };
    let figures = &figures[..figures.iter().rposition(|&figure| figure != b'0').map_or(1, |last| last + 1)];
    let zeros = |text: &mut Vec<u8>, count: usize| text.resize(text.len() + count, b'0');
    let pointed = |text: &mut Vec<u8>, whole: usize| {
        let (before, after) = figures.split_at(whole.min(figures.len()));
        text.extend_from_slice(before);
        zeros(text, whole - before.len());
        if !after.is_empty() {
            text.push(b'.');
            text.extend_from_slice(after);
        }
    };
    match exponent {
        -4..0 => {
            text.extend_from_slice(b"0.");
            zeros(text, exponent.unsigned_abs() as usize - 1);
            text.extend_from_slice(figures);
        }
        0.. if exponent < digits as i32 => pointed(text, exponent as usize + 1),
        _ => {
            pointed(text, 1);
            text.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
            zeros(text, usize::from(exponent.unsigned_abs() < 10));
            integer(exponent.unsigned_abs(), text);
        }
    }
}
