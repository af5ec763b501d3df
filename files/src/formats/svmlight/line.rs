//! A line of a data set: a label, a query, and pairs of an index and a value.

/// An error in a line.
pub enum Wrong<'a> {
    /// The text is no number where the label is expected.
    Label(&'a [u8]),
    /// The text after `qid:` is no integer.
    Query(&'a [u8]),
    /// The text is no pair.
    Pair(&'a [u8]),
    /// The text after an index is no number.
    Value(&'a [u8]),
    /// An index does not ascend: the index before it, and the index.
    Order(u64, u64),
}

type Parsed<'a, T> = Result<T, Wrong<'a>>;

/// Returns a line without its comment and without surrounding blanks; `None` for a line without a row.
pub fn row(line: &[u8]) -> Option<&[u8]> {
    let end = memchr::memchr(b'#', line).unwrap_or(line.len());
    let row = line[..end].trim_ascii();
    (!row.is_empty()).then_some(row)
}

/// The beginning of a row.
pub struct Head {
    pub label: f64,
    pub query: Option<i64>,
    /// The index of the first pair in the row.
    pub end: usize,
}

/// A pair of an index and a value.
pub struct Pair<'a> {
    /// The index, from 1.
    pub index: u64,
    /// The text of the value.
    pub value: &'a [u8],
}

/// Returns the text up to the next blank from the index `at` on, and the index of the text after the blanks.
fn word(row: &[u8], at: usize) -> (&[u8], usize) {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let end = row[at..].iter().position(is_blank).map_or(row.len(), |len| at + len);
    let next = row[end..].iter().position(|byte| !is_blank(byte)).map_or(row.len(), |len| end + len);
    (&row[at..end], next)
}

/// Parses the label and the query of a row.
pub fn head(row: &[u8]) -> Parsed<'_, Head> {
    let (label, end) = word(row, 0);
    let label = fast_float2::parse(label).map_err(|_| Wrong::Label(label))?;
    let (text, after) = word(row, end);
    let Some(query) = text.strip_prefix(b"qid:") else { return Ok(Head { label, query: None, end }) };
    let number = str::from_utf8(query).ok().and_then(|query| query.parse().ok());
    Ok(Head { label, query: Some(number.ok_or(Wrong::Query(text))?), end: after })
}

/// Returns the pairs of a row from the index `at` on. Their indices ascend. The values are not parsed.
pub fn pairs(row: &[u8], at: usize) -> impl Iterator<Item = Parsed<'_, Pair<'_>>> {
    let (mut at, mut before) = (at, 0);
    std::iter::from_fn(move || {
        if at == row.len() {
            return None;
        }
        let (text, next) = word(row, at);
        at = next;
        Some(pair(text, &mut before))
    })
}

fn pair<'a>(text: &'a [u8], before: &mut u64) -> Parsed<'a, Pair<'a>> {
    let (mut index, mut len) = (0u64, 0);
    while let Some(digit) = text.get(len).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        index = index.saturating_mul(10).saturating_add(u64::from(digit));
        len += 1;
    }
    if index == 0 || index > i64::MAX as u64 || text.get(len) != Some(&b':') {
        return Err(Wrong::Pair(text));
    }
    if index <= *before {
        return Err(Wrong::Order(*before, index));
    }
    *before = index;
    Ok(Pair { index, value: &text[len + 1..] })
}

/// Parses a value.
pub fn number(value: &[u8]) -> Parsed<'_, f64> {
    fast_float2::parse(value).map_err(|_| Wrong::Value(value))
}
