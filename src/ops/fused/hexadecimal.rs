//! Hexadecimal floating-point numbers, parsed as C's `strtod` does: `0x1.8p3`.

/// Reads the number at the beginning of `text`, rounded to the nearest double, ties to even. Returns the number and its length in bytes;
/// `None` if `text` does not begin with a hexadecimal number.
pub fn read(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    if !matches!(bytes, [b'0', b'x' | b'X', ..]) {
        return None;
    }
    let (mut at, mut mantissa, mut exponent) = (2, 0u64, 0i64);
    let (mut has_digits, mut has_point) = (false, false);
    while let Some(&byte) = bytes.get(at) {
        if byte == b'.' && !has_point {
            has_point = true;
        } else if let Some(digit) = char::from(byte).to_digit(16) {
            has_digits = true;
            if mantissa >> 59 == 0 {
                mantissa = mantissa << 4 | u64::from(digit);
                exponent -= if has_point { 4 } else { 0 };
            } else {
                // The digit is below the precision of a double. The lowest bit is a sticky bit: it is set if a dropped digit is not 0.
                mantissa |= u64::from(digit != 0);
                exponent += if has_point { 0 } else { 4 };
            }
        } else {
            break;
        }
        at += 1;
    }
    if let (true, Some(b'p' | b'P')) = (has_digits, bytes.get(at)) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let digits = bytes[at + 1 + sign..].iter().take_while(|byte| byte.is_ascii_digit());
        let (mut count, mut power) = (0, 0i64);
        for digit in digits {
            count += 1;
            power = power.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(1 << 40);
        }
        if count > 0 {
            exponent += if bytes[at + 1] == b'-' { -power } else { power };
            at += 1 + sign + count;
        }
    }
    has_digits.then(|| (rounded(mantissa, exponent), at))
}

/// `mantissa * 2^exponent`
fn rounded(mantissa: u64, exponent: i64) -> f64 {
    let bits = i64::from(64 - mantissa.leading_zeros());
    // The exponent of the double's last bit.
    let last = (exponent + bits - 53).max(-1074);
    let whole = match last - exponent {
        shift @ ..=0 => mantissa.unbounded_shl(shift.unsigned_abs().min(64) as u32),
        // The number is less than half of the last bit.
        65.. => 0,
        shift => {
            let (wide, shift) = (u128::from(mantissa), shift as u32);
            let (whole, rest, half) = (wide >> shift, wide & ((1 << shift) - 1), 1 << (shift - 1));
            (whole + u128::from(rest > half || (rest == half && whole & 1 == 1))) as u64
        }
    };
    // Two exact multiplications, because 2^-1074 and 2^1024 are not normal doubles.
    let last = last.min(1100) as i32;
    whole as f64 * 2f64.powi(last / 2) * 2f64.powi(last - last / 2)
}

#[cfg(test)]
mod tests {
    use super::read;

    fn value(text: &str) -> f64 {
        let (value, length) = read(text).unwrap();
        assert_eq!(length, text.len(), "{text}");
        value
    }

    #[test]
    fn numbers_are_those_of_c() {
        let expected = [
            ("0x10", 16.0),
            ("0XfF", 255.0),
            ("0x.8", 0.5),
            ("0x1.8p3", 12.0),
            ("0x1.8P+3", 12.0),
            ("0x3p-1", 1.5),
            ("0x0p99999999999999999999", 0.0),
            ("0x0000000000000000000000000000001p0", 1.0),
            ("0x100000000000000000000p-80", 1.0),
            ("0x1.fffffffffffffp1023", f64::MAX),
            ("0x1p1024", f64::INFINITY),
            ("0x1.fffffffffffff8p1023", f64::INFINITY),
            ("0x1p99999999999999999999", f64::INFINITY),
            ("0x1p-1022", f64::MIN_POSITIVE),
            ("0x1p-1074", 5e-324),
            ("0x3p-1075", 1e-323),
            ("0x1p-1075", 0.0),
            ("0x1.00000000000000000001p-1075", 5e-324),
            ("0x1p-99999999999999999999", 0.0),
            // Half of the last bit after an even and an odd bit, and slightly more than half.
            ("0x1.00000000000008p0", 1.0),
            ("0x1.00000000000018p0", 1.0 + 2.0 * f64::EPSILON),
            ("0x1.000000000000080000000000000000000001p0", 1.0 + f64::EPSILON),
        ];
        for (text, expected) in expected {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    #[test]
    fn what_follows_is_left() {
        assert_eq!(read("0x1p"), Some((1.0, 3)));
        assert_eq!(read("0x1p+ 2"), Some((1.0, 3)));
        assert_eq!(read("0x1.8.2"), Some((1.5, 5)));
        assert_eq!(read("0xg"), None);
        assert_eq!(read("0x."), None);
        assert_eq!(read("0x"), None);
        assert_eq!(read("1.5"), None);
    }
}
