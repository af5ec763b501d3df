//! Numbers of a text.

use super::lines::{behind, blanks, field};

/// Texts that stand for missing values.
const MISSING: [&[u8]; 5] = [b"na", b"n/a", b"nan", b"null", b"none"];

/// The longest number with a decimal comma.
const LONGEST: usize = 64;

/// The number that a field is, NaN if it is missing; `None` if it is neither.
pub fn number(field: &[u8], separator: u8) -> Option<f64> {
    // Quotes may have blanks in them.
    let field = field.trim_ascii();
    if let Ok(number) = fast_float2::parse(field) {
        return Some(number);
    }
    if field.is_empty() || MISSING.iter().any(|missing| field.eq_ignore_ascii_case(missing)) {
        return Some(f64::NAN);
    }
    if separator == b';' && field.len() <= LONGEST && !field.contains(&b'.') {
        let mut point = [0; LONGEST];
        let point = &mut point[..field.len()];
        point.copy_from_slice(field);
        *point.iter_mut().find(|byte| **byte == b',')? = b'.';
        return fast_float2::parse(&*point).ok();
    }
    None
}

/// The integer of at most 15 digits, which are exact, that a text begins with, and its length.
#[inline(always)]
fn integer(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let digits = &text[usize::from(negative)..];
    let (mut number, mut len) = (0u64, 0);
    for digit in digits.iter().map(|byte| byte.wrapping_sub(b'0')).take_while(|&digit| digit < 10) {
        if len == 15 {
            return None;
        }
        number = number * 10 + u64::from(digit);
        len += 1;
    }
    let value = if negative { -(number as f64) } else { number as f64 };
    (len > 0).then_some((value, len + usize::from(negative)))
}

/// What is wrong with a line.
pub enum Wrong {
    /// The field that begins at `at` is no number.
    Text { column: usize, at: usize },
    /// There are more or fewer fields.
    Fields,
}

/// Fills `to` with the numbers of a line, eight bytes each.
pub fn row(line: &[u8], separator: u8, to: &mut [u8]) -> Result<(), Wrong> {
    let mut next = Some(0);
    for (column, to) in to.chunks_exact_mut(8).enumerate() {
        let Some(start) = next else { return Err(Wrong::Fields) };
        let at = blanks(line, start, separator);
        // Integers need no more, and take a third of the time.
        if let Some((number, len)) = integer(&line[at..])
            && line.get(at + len).is_none_or(|&byte| byte == separator)
            && separator != b' '
        {
            to.copy_from_slice(&number.to_le_bytes());
            next = if at + len < line.len() { Some(at + len + 1) } else { None };
            continue;
        }
        let (number, after) = match fast_float2::parse_partial::<f64, _>(&line[at..]).ok().map(|(number, len)| (number, at + len)) {
            // Nearly all fields.
            Some((number, end)) if line.get(end) == Some(&separator) && separator != b' ' => (number, Some(end + 1)),
            Some((number, end)) if end == line.len() => (number, None),
            parsed => match parsed.and_then(|(number, end)| Some((number, behind(line, end, separator)?))) {
                Some(parsed) => parsed,
                None => {
                    let (field, after) = field(line, at, separator);
                    (number(field.text, separator).ok_or(Wrong::Text { column, at })?, after)
                }
            },
        };
        to.copy_from_slice(&number.to_le_bytes());
        next = after;
    }
    if next.is_some() { Err(Wrong::Fields) } else { Ok(()) }
}
