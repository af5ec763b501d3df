//! The format of one number, as C's printf writes it.

use super::options::MOST_PRECISION;
use crate::alloc::HeapText;
use crate::error::Result;
use crate::scalar::Scalar;
use std::fmt::{self, Write};

/// The form of a number in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `True` or `False`.
    Truth,
    /// `%d`.
    Integer,
    /// A whole float followed by a point: `2.`
    Whole,
    /// `%.4f`, with this number of digits after the point.
    Fixed(usize),
    /// `%.4e`, with this number of digits after the point.
    Scientific(usize),
}

/// The length of the longest number: a sign, the 309 digits of the greatest float64, a point, and the digits after it.
const ROOM: usize = 1 + 309 + 1 + MOST_PRECISION as usize;

/// A buffer for the text of one number, so that formatting allocates nothing.
pub struct Digits {
    bytes: [u8; ROOM],
    len: usize,
}

impl Write for Digits {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let place = self.bytes.get_mut(self.len..self.len + more.len()).ok_or(fmt::Error)?;
        place.copy_from_slice(more.as_bytes());
        self.len += more.len();
        Ok(())
    }
}

impl Digits {
    /// An empty buffer.
    pub fn new() -> Digits {
        Digits { bytes: [0; ROOM], len: 0 }
    }

    /// The text of `value` in this form.
    pub fn format(&mut self, form: Notation, value: Scalar) -> &str {
        self.len = 0;
        // Writing cannot fail, because the buffer holds the longest number.
        _ = match (form, value.to_f64()) {
            (Notation::Truth, x) => self.write_str(if x != 0.0 { "True" } else { "False" }),
            (Notation::Integer, x) => match value {
                Scalar::Int(whole) => write!(self, "{whole}"),
                Scalar::Float(_) => write!(self, "{}", x as i64),
            },
            (_, x) if x.is_nan() => self.write_str("nan"),
            (_, x) if x.is_infinite() => self.write_str(if x > 0.0 { "inf" } else { "-inf" }),
            (Notation::Whole, x) => write!(self, "{x:.0}."),
            (Notation::Fixed(precision), x) => write!(self, "{x:.precision$}"),
            (Notation::Scientific(precision), x) => self.scientific(precision, x),
        };
        self.text()
    }

    /// Writes an exponent as C does: `1.5e+05`, where Rust has `1.5e5`.
    fn scientific(&mut self, precision: usize, x: f64) -> fmt::Result {
        write!(self, "{x:.precision$e}")?;
        let Some((digits, exponent)) = self.text().rsplit_once('e') else { return Ok(()) };
        let (end, exponent) = (digits.len(), exponent.parse::<i32>().unwrap_or_default());
        self.len = end;
        write!(self, "e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

/// The format of all numbers of a tensor. Numbers are aligned on the right.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// The form of each number.
    pub form: Notation,
    /// The minimum width in characters.
    pub width: usize,
}

impl Format {
    /// Appends `value` to `text`.
    pub fn put(&self, text: &mut HeapText, digits: &mut Digits, value: Scalar) -> Result<()> {
        let number = digits.format(self.form, value);
        text.spaces(self.width.saturating_sub(number.len()))?;
        text.push(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(form: Notation, x: f64) -> String {
        Digits::new().format(form, Scalar::Float(x)).to_owned()
    }

    #[test]
    fn floats_are_written_as_by_printf() {
        let fixed = [(0.125, 2, "0.12"), (0.375, 2, "0.38"), (2.5, 0, "2"), (-0.0, 4, "-0.0000"), (1e22, 1, "10000000000000000000000.0")];
        fixed.iter().for_each(|&(x, precision, text)| assert_eq!(shown(Notation::Fixed(precision), x), text));
        let scientific =
            [(0.0, 4, "0.0000e+00"), (1.25, 1, "1.2e+00"), (-1e-5, 2, "-1.00e-05"), (1e300, 0, "1e+300"), (5e-324, 1, "4.9e-324")];
        scientific.iter().for_each(|&(x, precision, text)| assert_eq!(shown(Notation::Scientific(precision), x), text));
        assert_eq!(
            [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(|x| shown(Notation::Whole, x)),
            ["nan", "nan", "inf", "-inf"]
        );
        assert_eq!((shown(Notation::Whole, -3.0), shown(Notation::Whole, -0.0)), ("-3.".to_owned(), "-0.".to_owned()));
    }

    #[test]
    fn the_longest_numbers_have_room() {
        let most = MOST_PRECISION as usize;
        let longest = shown(Notation::Fixed(most), f64::MIN);
        assert_eq!(longest.len(), ROOM);
        assert!(longest.starts_with("-17976931348623157") && longest.ends_with("00000"));
        assert_eq!(shown(Notation::Scientific(most), -5e-324).len(), 1 + 2 + most + 5);
    }
}
