//! A number passed by the caller, before it has a dtype.

use std::fmt;

/// A number from C: a `double`, and whether it counts as an integer.
///
/// The C functions have one number type, so the value decides: with an integer tensor 2.0 is the integer 2, and 2.5 is a float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// A whole number that int64 represents exactly, except -0.0.
    Int(i64),
    /// Any other value, including -0.0, infinities and NaN.
    Float(f64),
}

impl Scalar {
    /// The scalar as f64.
    #[inline(always)]
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Int(x) => x as f64,
            Scalar::Float(x) => x,
        }
    }

    /// The scalar as int64. Floats are truncated and saturate; NaN becomes 0.
    pub fn to_i64(self) -> i64 {
        match self {
            Scalar::Int(x) => x,
            Scalar::Float(x) => x as i64,
        }
    }

    /// Returns true if the number counts as an integer in type promotion. -0.0 does, although it is stored as a float to keep its sign.
    #[inline]
    pub fn is_whole(self) -> bool {
        match self {
            Scalar::Int(_) => true,
            Scalar::Float(x) => x == 0.0,
        }
    }
}

/// The text of the number in messages. Floats have at most 17 digits; very large and very small ones have an exponent.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Scalar::Int(x) => write!(f, "{x}"),
            Scalar::Float(x) if x == 0.0 || !x.is_finite() || (1e-5..1e17).contains(&x.abs()) => write!(f, "{x}"),
            Scalar::Float(x) => write!(f, "{x:e}"),
        }
    }
}

/// Returns `x`; every NaN becomes the quiet one without a sign or payload.
///
/// Doubles that leave the library pass through this function: LuaJIT takes a NaN with other bits for a value of another type, at an
/// address that the payload names.
#[inline(always)]
pub fn canonical(x: f64) -> f64 {
    if x.is_nan() { f64::NAN } else { x }
}

impl From<f64> for Scalar {
    #[inline(always)]
    fn from(x: f64) -> Scalar {
        let int = x as i64;
        // As an integer, -0.0 would lose its sign. No f64 equals i64::MAX; the cast gives it only by saturation.
        if int as f64 == x && int != i64::MAX && (int != 0 || x.is_sign_positive()) { Scalar::Int(int) } else { Scalar::Float(x) }
    }
}

impl From<i64> for Scalar {
    fn from(x: i64) -> Scalar {
        Scalar::Int(x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_show_at_most_17_digits() {
        let shown = |x: f64| Scalar::from(x).to_string();
        assert_eq!([shown(3.0), shown(-0.5), shown(1e-5)], ["3", "-0.5", "0.00001"]);
        assert_eq!([shown(-1.7e308), shown(5e-324), shown(1e300 / 3.0)], ["-1.7e308", "5e-324", "3.3333333333333335e299"]);
        assert_eq!([shown(f64::NAN), shown(f64::NEG_INFINITY), shown(-0.0)], ["NaN", "-inf", "-0"]);
    }

    #[test]
    fn integral_doubles_are_integers() {
        assert_eq!(Scalar::from(2.0), Scalar::Int(2));
        assert_eq!(Scalar::from(-3.0), Scalar::Int(-3));
        assert_eq!(Scalar::from(2.5), Scalar::Float(2.5));
        assert_eq!(Scalar::from(1e300), Scalar::Float(1e300));
        assert_eq!(Scalar::from(9_223_372_036_854_775_808.0), Scalar::Float(9_223_372_036_854_775_808.0));
        assert!(matches!(Scalar::from(-0.0), Scalar::Float(x) if x.is_sign_negative()));
        assert!(Scalar::from(-0.0).is_whole() && Scalar::from(3.0).is_whole() && !Scalar::from(0.5).is_whole());
        assert!(matches!(Scalar::from(f64::NAN), Scalar::Float(x) if x.is_nan()));
    }
}
