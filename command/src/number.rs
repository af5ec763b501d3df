//! Numbers as texts.

use serde::{Serialize, Serializer};

/// An element, or a number computed from elements.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Number {
    /// An integer.
    Int(i64),
    /// A float of at most 32 bits.
    Single(f32),
    /// A float of 64 bits.
    Double(f64),
}

impl Number {
    /// Returns the number as a float64, which rounds integers above 2^53.
    pub fn float(self) -> f64 {
        match self {
            Number::Int(x) => x as f64,
            Number::Single(x) => x.into(),
            Number::Double(x) => x,
        }
    }

    /// Returns the number for JSON: exact, with as few digits as the type needs.
    pub fn json(self) -> String {
        match self {
            Number::Int(x) => x.to_string(),
            Number::Single(x) if x.is_finite() => format!("{x:?}"),
            Number::Double(x) if x.is_finite() => format!("{x:?}"),
            Number::Single(x) => format!("\"{}\"", special(x.into())),
            Number::Double(x) => format!("\"{}\"", special(x)),
        }
    }

    /// Returns the number with six significant digits. Integers have all digits.
    pub fn short(self) -> String {
        match self {
            Number::Int(x) => x.to_string(),
            Number::Single(x) => short(x.into()),
            Number::Double(x) => short(x),
        }
    }

    /// Returns the number with as many digits as identify it.
    pub fn exact(self) -> String {
        match self {
            Number::Int(x) => x.to_string(),
            Number::Single(x) if x.is_finite() => format!("{x:?}"),
            Number::Double(x) if x.is_finite() => format!("{x:?}"),
            other => other.short(),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match *self {
            Number::Int(x) => to.serialize_i64(x),
            Number::Single(x) if x.is_finite() => to.serialize_f32(x),
            Number::Double(x) if x.is_finite() => to.serialize_f64(x),
            Number::Single(x) => to.serialize_str(special(x.into())),
            Number::Double(x) => to.serialize_str(special(x)),
        }
    }
}

/// Returns the name that JavaScript and Python have for a number that JSON lacks.
fn special(x: f64) -> &'static str {
    match x {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

/// As C's `%.6g`.
fn short(x: f64) -> String {
    if !x.is_finite() {
        return if x.is_nan() { "nan".to_owned() } else { x.to_string() };
    }
    let text = format!("{x:.5e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        return trimmed(&format!("{x:.*}", (5 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

/// Returns a number of bytes in a suitable unit: `1.5 GB`.
pub fn bytes(count: u64) -> String {
    let (mut value, mut units) = (count as f64, ["kB", "MB", "GB", "TB", "PB", "EB"].iter());
    let mut unit = "bytes";
    while value >= 999.5
        && let Some(next) = units.next()
    {
        (value, unit) = (value / 1000.0, next);
    }
    match unit {
        "bytes" if count == 1 => "1 byte".to_owned(),
        "bytes" => format!("{count} bytes"),
        _ if value < 9.95 => format!("{value:.1} {unit}"),
        _ => format!("{value:.0} {unit}"),
    }
}

/// Returns a number with its noun: `1 tensor`, `2 tensors`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_as_printf() {
        let rows = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333"),
            (-123456.7, "-123457"),
            (999999.5, "1e+06"),
            (1234567.0, "1.23457e+06"),
            (0.0001, "0.0001"),
            (0.00001234, "1.234e-05"),
            (1e300, "1e+300"),
            (100000.0, "100000"),
            (f64::NAN, "nan"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (x, text) in rows {
            assert_eq!(Number::Double(x).short(), text);
        }
        assert_eq!(Number::Int(i64::MIN).short(), "-9223372036854775808");
    }

    #[test]
    fn json_is_exact() {
        assert_eq!(Number::Single(0.1).json(), "0.1");
        assert_eq!(Number::Double(f64::from(0.1f32)).json(), "0.10000000149011612");
        assert_eq!(Number::Int(i64::MAX).json(), "9223372036854775807");
        assert_eq!(Number::Double(f64::NAN).json(), "\"NaN\"");
        assert_eq!(Number::Single(f32::NEG_INFINITY).json(), "\"-Infinity\"");
        assert_eq!(serde_json::to_string(&Number::Single(0.1)).unwrap_or_default(), "0.1");
    }

    #[test]
    fn bytes_are_short() {
        for (count, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1000, "1.0 kB"),
            (999_499, "999 kB"),
            (999_500, "1.0 MB"),
            (12_345_678, "12 MB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }
}
