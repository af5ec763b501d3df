//! Numbers as text.

use crate::element::Element;
use crate::error::Result;
use crate::pool;
use crate::save::{Output, Save};
use half::{bf16, f16};
use std::io::Write as _;
use std::ops::Range;

/// The number of elements that a thread converts to one text.
pub const PART: usize = 1 << 15;

/// The number of texts that are in memory at a time.
const PARTS: usize = 16;

/// The greatest number of significant digits that a float64 needs.
const MOST_DIGITS: usize = 17;

/// Returns the number of significant digits for floats; `None` for the fewest that identify the float.
pub fn precision(what: &Save<'_>) -> Option<usize> {
    what.precision.map(|digits| digits.clamp(1, MOST_DIGITS))
}

/// Writes the text of `count` items. Threads call `text` for parts of `part` items.
pub fn in_parts(
    count: usize,
    part: usize,
    text: impl Fn(Range<usize>) -> Result<Vec<u8>> + Send + Sync,
    to: &mut dyn Output,
) -> Result<()> {
    for first in (0..count).step_by(part.saturating_mul(PARTS)) {
        let end = count.min(first.saturating_add(part.saturating_mul(PARTS)));
        let parts = (first..end).step_by(part).map(|first| first..end.min(first.saturating_add(part)));
        for text in pool::map(parts.collect(), &text) {
            to.write_all(&text?)?;
        }
    }
    Ok(())
}

/// Appends a line with the elements of a row. The elements have the text of [`numbers`].
pub fn line(row: &[u8], element: Element, precision: Option<usize>, separator: u8, text: &mut Vec<u8>) {
    numbers(row, element, precision, separator, text);
    end_line(text);
}

/// Replaces the last separator by the end of a line.
pub fn end_line(text: &mut [u8]) {
    if let Some(last) = text.last_mut() {
        *last = b'\n';
    }
}

/// Appends elements, each followed by a separator. Floats have `precision` significant digits, or the fewest that identify the float within
/// its type. 16-bit floats have the digits that identify them as float32.
pub fn numbers(row: &[u8], element: Element, precision: Option<usize>, separator: u8, text: &mut Vec<u8>) {
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
}

/// Appends an integer.
pub fn integer(value: impl itoa::Integer, text: &mut Vec<u8>) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a float: its shortest text, or with a precision the text of `wide`, which has the same value. NaN and infinities are `nan` and
/// `inf`, as in NumPy.
fn float(value: impl zmij::Float, wide: f64, precision: Option<usize>, text: &mut Vec<u8>) {
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

/// Appends a float with a number of significant digits, like C's `%.*g`. Trailing zeros are omitted.
fn rounded(value: f64, digits: usize, text: &mut Vec<u8>) {
    let mut buffer = [0; 32];
    let mut left = &mut buffer[..];
    // The buffer has space for a sign, 17 digits, a point and an exponent.
    let _ = write!(left, "{value:.*e}", digits - 1);
    let len = 32 - left.len();
    let written = &mut buffer[..len];
    let Some(at) = written.iter().position(|&byte| byte == b'e') else { return };
    let exponent = str::from_utf8(&written[at + 1..]).ok().and_then(|exponent| exponent.parse::<i32>().ok()).unwrap_or(0);
    let first = usize::from(written[0] == b'-');
    text.extend_from_slice(&written[..first]);
    // Swapping the first digit and the point makes the digits contiguous.
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
