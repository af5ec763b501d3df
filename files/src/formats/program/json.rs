//! A reader of JSON that returns values with their offsets, for the graph and the tables of an archive.
//!
//! PyTorch 2.6 writes the numbers `NaN`, `Infinity` and `-Infinity`, which JSON lacks and serde_json refuses. Values have offsets, because
//! a graph is one long line and an error must name the place. Floats are rounded correctly.

use crate::budget::Budget;
use crate::error::{Error, Result};
use std::borrow::Cow;

/// A value and its offset in the text.
#[derive(Debug, PartialEq)]
pub struct Json<'a> {
    /// The offset of the first byte.
    pub at: u64,
    /// The value.
    pub value: Value<'a>,
}

/// A value.
#[derive(Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// A float, or an integer that exceeds an `i64`.
    Float(f64),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    /// The keys and values, in the order of the text.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// The greatest depth of nested values. A graph of a graph adds eight levels.
const DEEPEST: usize = 128;

/// Keys in the metadata of a node whose values are skipped, because a graph mostly consists of them.
const SKIPPED: [&str; 3] = ["nn_module_stack", "torch_fn", "source_fn_stack"];

/// Parses a text. Takes the memory of the values from `budget`.
pub fn parse<'a>(bytes: &'a [u8], budget: &mut Budget) -> Result<Json<'a>> {
    let text =
        std::str::from_utf8(bytes).map_err(|error| Error::format(error.valid_up_to() as u64, format_args!("the text is not UTF-8")))?;
    let mut parser = Parser { text, bytes, at: 0, depth: 0, budget };
    let value = parser.value()?;
    match parser.next() {
        None => Ok(value),
        Some(_) => Err(parser.error("the end of the text is expected")),
    }
}

struct Parser<'a, 'b> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
    budget: &'b mut Budget,
}

impl<'a> Parser<'a, '_> {
    /// Returns an error at the next byte.
    #[cold]
    fn error(&self, what: &str) -> Error {
        Error::format(self.at as u64, format_args!("{what}"))
    }

    /// Skips white space. Returns the next byte.
    fn next(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
        self.bytes.get(self.at).copied()
    }

    /// Skips `token` if it is next.
    fn skips(&mut self, token: &[u8]) -> bool {
        let is_next = self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(token));
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    fn value(&mut self) -> Result<Json<'a>> {
        let first = self.next();
        let at = self.at as u64;
        let value = match first {
            Some(b'"') => Value::Text(self.string()?),
            Some(b'{' | b'[') if self.depth == DEEPEST => return Err(self.error("values are nested too deeply")),
            Some(b'[') => {
                let mut list = Vec::new();
                self.items(b']', |parser| {
                    let item = parser.value()?;
                    parser.budget.push(&mut list, item)
                })?;
                Value::List(list)
            }
            Some(b'{') => {
                let mut entries = Vec::new();
                self.items(b'}', |parser| {
                    if parser.next() != Some(b'"') {
                        return Err(parser.error("a key is expected"));
                    }
                    let key = parser.string()?;
                    if parser.next() != Some(b':') {
                        return Err(parser.error("a colon is expected"));
                    }
                    parser.at += 1;
                    if SKIPPED.contains(&&*key) && parser.next() == Some(b'"') {
                        return parser.skip_string().map(drop);
                    }
                    let value = parser.value()?;
                    parser.budget.push(&mut entries, (key, value))
                })?;
                Value::Object(entries)
            }
            _ if self.skips(b"null") => Value::Null,
            _ if self.skips(b"true") => Value::Bool(true),
            _ if self.skips(b"false") => Value::Bool(false),
            _ if self.skips(b"NaN") => Value::Float(f64::NAN),
            _ if self.skips(b"Infinity") => Value::Float(f64::INFINITY),
            _ if self.skips(b"-Infinity") => Value::Float(f64::NEG_INFINITY),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(_) => return Err(self.error("a value is expected")),
            None => return Err(self.error("the text ends early")),
        };
        Ok(Json { at, value })
    }

    /// Reads items that commas separate, after a bracket, up to the bracket `end`.
    fn items(&mut self, end: u8, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.at += 1;
        self.depth += 1;
        if self.next() != Some(end) {
            loop {
                item(self)?;
                match self.next() {
                    Some(b',') => self.at += 1,
                    Some(byte) if byte == end => break,
                    Some(_) => return Err(self.error("a comma or the closing bracket is expected")),
                    None => return Err(self.error("the text ends early")),
                }
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(())
    }

    fn number(&mut self) -> Result<Value<'a>> {
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')).count();
        let number = &rest[..len];
        let value = match number.parse() {
            Ok(int) => Value::Int(int),
            Err(_) => match fast_float2::parse(number) {
                Ok(float) => Value::Float(float),
                Err(_) => return Err(self.error("a number is expected")),
            },
        };
        self.at += len;
        Ok(value)
    }

    /// Skips a string. Returns its offsets without the quotes, and true if it has escapes.
    fn skip_string(&mut self) -> Result<(usize, usize, bool)> {
        let (start, mut escaped) = (self.at + 1, false);
        let mut at = start;
        loop {
            match memchr::memchr2(b'"', b'\\', self.bytes.get(at..).unwrap_or_default()) {
                Some(len) if self.bytes[at + len] == b'"' => {
                    self.at = at + len + 1;
                    return Ok((start, at + len, escaped));
                }
                Some(len) => (at, escaped) = (at + len + 2, true),
                None => return Err(self.error("a string does not end")),
            }
        }
    }

    fn string(&mut self) -> Result<Cow<'a, str>> {
        let (start, end, escaped) = self.skip_string()?;
        let piece = &self.text[start..end];
        if !escaped {
            return Ok(Cow::Borrowed(piece));
        }
        // Every escape is at least as long as its character in UTF-8.
        self.budget.take(piece.len())?;
        let mut text = String::new();
        text.try_reserve_exact(piece.len()).map_err(|_| Error::memory(piece.len() as u64))?;
        let mut rest = piece;
        while let Some((plain, escape)) = rest.split_once('\\') {
            text.push_str(plain);
            let mut chars = escape.chars();
            let char = match chars.next() {
                Some(same @ ('"' | '\\' | '/')) => same,
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('u') => match unicode(chars.as_str()) {
                    Some((char, len)) => {
                        chars = chars.as_str()[len..].chars();
                        char
                    }
                    None => return Err(Error::format(start as u64, format_args!("a string has an invalid number of a character"))),
                },
                _ => return Err(Error::format(start as u64, format_args!("a string has an unknown escape"))),
            };
            text.push(char);
            rest = chars.as_str();
        }
        text.push_str(rest);
        Ok(Cow::Owned(text))
    }
}

/// Returns the character for the digits after `\u`, and the number of bytes after `\u` that belong to it. Characters beyond U+FFFF are two
/// escapes. Half of such a pair is U+FFFD.
fn unicode(digits: &str) -> Option<(char, usize)> {
    let number = |at: usize| {
        let digits = digits.get(at..at + 4).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        u32::from_str_radix(digits, 16).ok()
    };
    let first = number(0)?;
    let second = if digits.get(4..6) == Some("\\u") { number(6) } else { None };
    if let (0xd800..0xdc00, Some(second @ 0xdc00..0xe000)) = (first, second) {
        let char = char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00));
        return Some((char.unwrap_or(char::REPLACEMENT_CHARACTER), 10));
    }
    Some((char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 4))
}

impl<'a> Json<'a> {
    /// Returns the error for a value that is not `what`.
    #[cold]
    pub fn error(&self, what: &str) -> Error {
        Error::format(self.at, format_args!("{what} is expected"))
    }

    /// Returns the value of a key in an object: the last one, as in Python. `None` if there is none or if it is null.
    pub fn find(&self, key: &str) -> Result<Option<&Json<'a>>> {
        let found = self.object()?.iter().rfind(|(other, _)| other == key);
        Ok(found.map(|(_, value)| value).filter(|value| value.value != Value::Null))
    }

    /// Returns the value of a key, which an object must have.
    pub fn get(&self, key: &str) -> Result<&Json<'a>> {
        self.find(key)?.ok_or_else(|| Error::format(self.at, format_args!("an object with the key '{key}' is expected")))
    }

    /// Returns the only key of an object, and its value: a union of the schema.
    pub fn union(&self) -> Result<(&str, &Json<'a>)> {
        match self.object()? {
            [(key, value)] => Ok((key, value)),
            _ => Err(self.error("an object with one key")),
        }
    }

    pub fn object(&self) -> Result<&[(Cow<'a, str>, Json<'a>)]> {
        if let Value::Object(entries) = &self.value { Ok(entries) } else { Err(self.error("an object")) }
    }

    pub fn list(&self) -> Result<&[Json<'a>]> {
        if let Value::List(list) = &self.value { Ok(list) } else { Err(self.error("a list")) }
    }

    pub fn text(&self) -> Result<&str> {
        if let Value::Text(text) = &self.value { Ok(text) } else { Err(self.error("a text")) }
    }

    pub fn int(&self) -> Result<i64> {
        if let Value::Int(int) = self.value { Ok(int) } else { Err(self.error("an integer")) }
    }

    pub fn bool(&self) -> Result<bool> {
        if let Value::Bool(value) = self.value { Ok(value) } else { Err(self.error("true or false")) }
    }

    /// Returns a float. Since PyTorch 2.7, infinities and NaN are texts.
    pub fn float(&self) -> Result<f64> {
        match &self.value {
            Value::Float(float) => Ok(*float),
            Value::Int(int) => Ok(*int as f64),
            Value::Text(text) => match &**text {
                "Infinity" => Ok(f64::INFINITY),
                "-Infinity" => Ok(f64::NEG_INFINITY),
                "NaN" => Ok(f64::NAN),
                _ => Err(self.error("a number")),
            },
            _ => Err(self.error("a number")),
        }
    }
}
