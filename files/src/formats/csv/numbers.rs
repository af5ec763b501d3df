//! Reading the numbers of a table.

use super::fields::{behind, blanks, field};

/// The texts for missing values.
const MISSING: [&[u8]; 8] = [b"na", b"n/a", b"nan", b"null", b"none", b"#n/a", b"#na", b"#n/a n/a"];

/// The length limit of a number with a decimal comma.
const LONGEST: usize = 64;

/// Parses a field. Returns NaN for a missing value, and `None` for a text that is no number.
pub fn number(field: &[u8], separator: u8) -> Option<f64> {
    // Blanks can be inside quotes.
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

/// Powers of ten that are exact in float64.
const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Parses a number of at most 15 digits without an exponent at the beginning of a text. Returns the number and its length. The integer of
/// its digits and the power of ten are exact, so that their quotient is rounded once.
#[inline(always)]
fn short(text: &[u8]) -> Option<(f64, usize)> {
    let start = usize::from(text.first() == Some(&b'-'));
    let (whole, mut end) = digits(0, text, start)?;
    let mut value = whole as f64;
    let mut count = end - start;
    if text.get(end) == Some(&b'.') {
        // Most numbers of more than 15 digits have 16 digits after the point.
        if text.get(end + 8..end + 16).is_some_and(|bytes| bytes.iter().fold(true, |all, byte| all & byte.is_ascii_digit())) {
            return None;
        }
        let point = end + 1;
        let all;
        (all, end) = digits(whole, text, point)?;
        count += end - point;
        value = all as f64 / POWERS[end - point];
    }
    (1..=15).contains(&count).then_some((if start == 1 { -value } else { value }, end))
}

/// Appends the digits from the index `at` on to a number. Returns the number and the index after the digits; `None` for more than 15
/// digits.
#[inline(always)]
fn digits(mut number: u64, text: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut end = at;
    for digit in text.get(at..)?.iter().map(|byte| byte.wrapping_sub(b'0')).take_while(|&digit| digit < 10) {
        if end - at == 15 {
            return None;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    Some((number, end))
}

/// An error in a line.
pub enum Wrong {
    /// The field that begins at the index `at` is no number.
    Text { column: usize, at: usize },
    /// The line has more or fewer fields than there are columns.
    Fields,
}

/// Fills `to` with the numbers of a line, eight bytes each.
pub fn row(line: &[u8], separator: u8, to: &mut [u8]) -> Result<(), Wrong> {
    let mut next = Some(0);
    for (column, to) in to.chunks_exact_mut(8).enumerate() {
        let Some(start) = next else { return Err(Wrong::Fields) };
        let at = blanks(line, start, separator);
        // The fast path for short numbers.
        if let Some((number, len)) = short(&line[at..])
            && line.get(at + len).is_none_or(|&byte| byte == separator)
            && separator != b' '
        {
            to.copy_from_slice(&number.to_le_bytes());
            next = if at + len < line.len() { Some(at + len + 1) } else { None };
            continue;
        }
        let (number, after) = match fast_float2::parse_partial::<f64, _>(&line[at..]).ok().map(|(number, len)| (number, at + len)) {
            // Most fields take this path.
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
