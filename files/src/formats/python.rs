//! A lexer for Python literals in the headers of NumPy. Brackets are tokens, and nothing is nested.

use crate::error::{Error, Result};
use std::fmt;

/// A token of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// A bracket, a comma or a colon.
    Mark(u8),
    /// A string: the bytes between its quotes.
    Text(&'a [u8]),
    /// A nonnegative integer.
    Number(i64),
    /// `True`, `False`, `None`.
    Word(&'a [u8]),
    /// The end of the text, after blanks.
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |text: &[u8]| text[..text.len().min(32)].escape_ascii().to_string();
        match *self {
            Token::Mark(mark) => write!(f, "'{}'", mark.escape_ascii()),
            Token::Text(text) => write!(f, "the text '{}'", short(text)),
            Token::Number(number) => write!(f, "the number {number}"),
            Token::Word(word) => write!(f, "the word {}", short(word)),
            Token::End => f.write_str("the end of the header"),
        }
    }
}

/// A lexer, which splits a text into tokens.
pub struct Lexer<'a> {
    text: &'a [u8],
    /// The index of the last token.
    last: usize,
    /// The index of the byte that is read next.
    at: usize,
    /// The offset of the text in the file.
    offset: u64,
}

impl<'a> Lexer<'a> {
    /// Returns a lexer of a text that begins at `offset` in the file.
    pub fn new(text: &'a [u8], offset: u64) -> Lexer<'a> {
        Lexer { text, last: 0, at: 0, offset }
    }

    /// Returns the error for a broken header, at the last token.
    #[cold]
    pub fn error(&self, what: fmt::Arguments<'_>) -> Error {
        Error::format(self.offset.saturating_add(self.last as u64), what)
    }

    fn left(&self) -> &'a [u8] {
        &self.text[self.at..]
    }

    /// Reads the bytes before the first byte for which `belongs` is false.
    fn run(&mut self, belongs: fn(&u8) -> bool) -> &'a [u8] {
        let left = self.left();
        let run = &left[..left.iter().position(|byte| !belongs(byte)).unwrap_or(left.len())];
        self.at += run.len();
        run
    }

    /// Reads the next token.
    pub fn next(&mut self) -> Result<Token<'a>> {
        self.run(u8::is_ascii_whitespace);
        self.last = self.at;
        let Some(&first) = self.left().first() else { return Ok(Token::End) };
        match first {
            b'{' | b'}' | b'(' | b')' | b'[' | b']' | b',' | b':' => {
                self.at += 1;
                Ok(Token::Mark(first))
            }
            b'\'' | b'"' => self.quoted(first),
            b'0'..=b'9' => self.number(),
            // Prefixes of texts in Python 2 and of bytes: u'descr', b'descr'.
            b'u' | b'b' if matches!(self.left().get(1), Some(b'\'' | b'"')) => {
                self.at += 1;
                self.quoted(self.text[self.at])
            }
            b'a'..=b'z' | b'A'..=b'Z' => Ok(Token::Word(self.run(u8::is_ascii_alphanumeric))),
            _ => Err(self.error(format_args!("'{}' is unexpected here", first.escape_ascii()))),
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<Token<'a>> {
        self.at += 1;
        let left = self.left();
        let mut escaped = false;
        let end = left.iter().position(|&byte| {
            let ends = byte == quote && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let Some(end) = end else { return Err(self.error(format_args!("a text has no end"))) };
        self.at += end + 1;
        Ok(Token::Text(&left[..end]))
    }

    fn number(&mut self) -> Result<Token<'a>> {
        let digits = self.run(u8::is_ascii_digit);
        let add = |number: i64, digit: &u8| number.checked_mul(10)?.checked_add(i64::from(digit - b'0'));
        let Some(number) = digits.iter().try_fold(0, add) else { return Err(self.error(format_args!("a number is greater than 2^63"))) };
        // Long integers of Python 2 end with an L.
        if matches!(self.left().first(), Some(b'L' | b'l')) {
            self.at += 1;
        }
        Ok(Token::Number(number))
    }

    /// Reads a token, which must be this mark.
    pub fn expect(&mut self, mark: u8) -> Result<()> {
        match self.next()? {
            Token::Mark(found) if found == mark => Ok(()),
            token => Err(self.error(format_args!("'{}' is expected, and there is {token}", mark.escape_ascii()))),
        }
    }

    /// Skips all tokens up to the bracket that closes the last token.
    pub fn close(&mut self) -> Result<()> {
        let mut open = 1u32;
        while open > 0 {
            match self.next()? {
                Token::Mark(b'(' | b'[' | b'{') => open += 1,
                Token::Mark(b')' | b']' | b'}') => open -= 1,
                Token::End => return Err(self.error(format_args!("a bracket is not closed"))),
                _ => {}
            }
        }
        Ok(())
    }
}
