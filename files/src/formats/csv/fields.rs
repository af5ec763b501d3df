//! The lines of a table and their fields.

use crate::formats::text::lines::split;

/// The greatest number of columns with names.
pub const MOST_NAMES: usize = 1 << 17;

/// [`split`] for tables. A comment after the numbers of a line is removed.
pub fn of_table(text: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    split(text).map(|(at, line)| (at, without_comment(line)))
}

/// The texts of spreadsheets for missing values and for errors. pandas reads the first three as missing values, too.
pub const ERRORS: [&[u8]; 9] = [b"#N/A N/A", b"#N/A", b"#NA", b"#REF!", b"#DIV/0!", b"#NAME?", b"#NULL!", b"#NUM!", b"#VALUE!"];

/// Returns true for a line without a row: an empty line or a comment. A line whose first field is one of [`ERRORS`] is no comment.
pub fn skipped(line: &[u8], separator: u8) -> bool {
    // Most lines begin with a digit or a sign.
    let first = match line.first() {
        Some(b' ' | b'\t') => line.iter().position(|&byte| byte != b' ' && (byte != b'\t' || separator == b'\t')),
        Some(_) => Some(0),
        None => None,
    };
    match first {
        Some(at) if line[at] == b'#' => !is_error(&line[at..]),
        first => first.is_none(),
    }
}

/// Returns true if the first field of a text is one of [`ERRORS`], for any separator.
#[cold]
fn is_error(text: &[u8]) -> bool {
    let ends = |&byte: &u8| matches!(byte, b',' | b';' | b'\t' | b' ' | b'\r');
    ERRORS.iter().any(|error| text.strip_prefix(*error).is_some_and(|rest| rest.first().is_none_or(ends)))
}

/// Returns a line without the comment after its numbers. Such a comment begins with `#` after a blank.
fn without_comment(line: &[u8]) -> &[u8] {
    let Some(at) = memchr::memchr(b'#', line) else { return line };
    let before = &line[..at];
    let numeric = |byte: &u8| byte.is_ascii_digit() || b"+-.eE,;\" \t".contains(byte);
    let is_comment = before.last().is_some_and(|&byte| byte == b' ' || byte == b'\t');
    let has_digit = before.iter().any(u8::is_ascii_digit);
    if is_comment && has_digit && before.iter().all(numeric) && !is_error(&line[at..]) { before.trim_ascii_end() } else { line }
}

/// A field of a line.
#[derive(Clone, Copy)]
pub struct Field<'a> {
    /// The text without surrounding blanks and without quotes.
    pub text: &'a [u8],
    pub quoted: bool,
}

/// Returns the fields of a line, and the index of each field.
pub fn fields(line: &[u8], separator: u8) -> impl Iterator<Item = (usize, Field<'_>)> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = blanks(line, next?, separator);
        let (field, after) = field(line, start, separator);
        next = after;
        Some((start, field))
    })
}

/// Returns the index of the first byte from `at` on that is no blank.
pub fn blanks(line: &[u8], at: usize, separator: u8) -> usize {
    let blank = |&byte: &u8| byte == b' ' || byte == b'\t' && separator != b'\t';
    at + line[at..].iter().take_while(|byte| blank(byte)).count()
}

/// Returns the field that begins at the index `at`, and the index after its separator, which is `None` for the last field. No blank may be
/// at `at`.
pub fn field(line: &[u8], at: usize, separator: u8) -> (Field<'_>, Option<usize>) {
    let rest = &line[at..];
    if let Some(quoted) = rest.strip_prefix(b"\"") {
        // Two quotes represent one quote.
        let mut end = 0;
        while let Some(quote) = memchr::memchr(b'"', &quoted[end..]) {
            end += quote + 1;
            if quoted.get(end) != Some(&b'"') {
                let field = Field { text: &quoted[..end - 1], quoted: true };
                if let Some(after) = behind(line, at + 1 + end, separator) {
                    return (field, after);
                }
                break;
            }
            end += 1;
        }
    }
    let ends = |&byte: &u8| byte == separator || byte == b'\t' && separator == b' ';
    let len = rest.iter().position(ends).unwrap_or(rest.len());
    let after = behind(line, at + len, separator).unwrap_or(None);
    (Field { text: trimmed(&rest[..len]), quoted: false }, after)
}

/// Returns the index of the field after a field that ends at the index `at`. Returns `Some(None)` after the last field, and `None` if the
/// field does not end at `at`.
pub fn behind(line: &[u8], at: usize, separator: u8) -> Option<Option<usize>> {
    let after = blanks(line, at, separator);
    match line.get(after) {
        None => Some(None),
        Some(_) if separator == b' ' => (after > at).then_some(Some(after)),
        Some(&byte) => (byte == separator).then_some(Some(after + 1)),
    }
}

/// Returns a text without surrounding blanks.
pub fn trimmed(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}
