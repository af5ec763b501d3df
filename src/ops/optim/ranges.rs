//! Range checks of the options of optimizers.

use crate::error::{Result, bail};
use crate::scalar::Scalar;

/// Fails if `holds` is false.
pub fn check(holds: bool, name: &str, value: f64, expected: &str) -> Result<()> {
    if holds { Ok(()) } else { bail!(Argument, "{name} is {}, expected {expected}", Scalar::from(value)) }
}

/// Fails for negative numbers and NaN.
pub fn not_negative(name: &str, value: f64) -> Result<()> {
    check(value >= 0.0, name, value, "0 or more")
}
