//! Remainders and rounded quotients. Integers refuse to be divided by zero before anything is written.

use super::compare::nonzero_everywhere;
use super::{exact, promote, promote_scalar, rounded};
use crate::cpu::engine::COSTLY;
use crate::cpu::map;
use crate::cpu::number::Number;
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::ops::copy::to_dtype;
use crate::ops::prepare::elementwise;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// How `divMode` rounds a quotient.
pub type THDivMode = i32;
/// Not at all: integers give the default dtype.
pub const TH_DIV_TRUE: THDivMode = 0;
/// Towards zero, as C divides integers.
pub const TH_DIV_TRUNC: THDivMode = 1;
/// Down, as Python's `//`.
pub const TH_DIV_FLOOR: THDivMode = 2;

#[cold]
fn by_zero() -> Result<()> {
    bail!(Argument, "integers divided by zero")
}

/// Fails where integers of `dtype`, of which there are some, are to be divided by the number 0, or by one that the dtype turns into 0.
fn check_divisor(dtype: Dtype, t: &Tensor, value: Scalar) -> Result<()> {
    if dtype.is_float() || is_empty(t) {
        return Ok(());
    }
    let zero = dispatch!(numeric, dtype, T => T::from_scalar(value) == T::ZERO);
    if zero { by_zero() } else { Ok(()) }
}

/// Fails where integers of `dtype`, of which there are some, are to be divided by a tensor with a zero.
fn check_divisors(dtype: Dtype, t: &Tensor, divisors: &Tensor) -> Result<()> {
    // As they will be used: 256 is 0 among uint8.
    let fine = dtype.is_float() || is_empty(t) || nonzero_everywhere(&to_dtype(divisors, dtype)?)?;
    if fine { Ok(()) } else { by_zero() }
}

fn is_empty(t: &Tensor) -> bool {
    t.peek().0.contains(&0)
}

/// The same expression with a second tensor and with a number, for divisors: `tensor_form / number_form: number fast, slow`, numbers as in `with_value`.
macro_rules! dividing {
    ($($(#[$doc:meta])* $tensor:ident / $name:ident: $number:ident $fast:ident, $slow:ident;)*) => { $(
        $(#[$doc])*
        pub fn $tensor(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
            let dtype = promote(&[a, b])?;
            require!(numeric, dtype);
            check_divisors(dtype, a, b)?;
            elementwise([r, a, b], dtype, dtype, COSTLY, &|work| {
                dispatch!(numeric, dtype, T => {
                map::map2_rare::<T, T, T>(
                    work,
                    #[inline(always)] move |isa, a, b| Number::$fast(a, b, isa),
                    #[inline(always)] move |isa, a, b| a.quotient_rare(b, isa),
                    #[inline(always)] move |isa, a, b| Number::$slow(a, b, isa),
                )
                });
                Ok(())
            })
        }

        /// The same with one number for every element.
        pub fn $name(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
            let dtype = promote_scalar(t, value)?;
            require!(numeric, dtype);
            check_divisor(dtype, t, value)?;
            elementwise([r, t], dtype, dtype, COSTLY, &|work| {
                dispatch!(numeric, dtype, T => {
                let b: T = $number(value, dtype);
                map::map1_rare::<T, T>(
                    work,
                    #[inline(always)] move |isa, a| Number::$fast(a, b, isa),
                    #[inline(always)] move |isa, a| a.quotient_rare(b, isa),
                    #[inline(always)] move |isa, a| Number::$slow(a, b, isa),
                )
                });
                Ok(())
            })
        }
    )* };
}

dividing! {
    /// `r = a - b * trunc(a / b)`, with the sign of a
    cfmod / fmod: rounded fmod, fmod_slow;
    /// `r = a - b * floor(a / b)`, with the sign of b
    cremainder / remainder: rounded remainder, remainder_slow;
    /// `r = floor(a / b)`
    cdiv_floor / div_floor: exact floor_div, floor_div_slow;
    /// `r = trunc(a / b)`
    cdiv_trunc / div_trunc: exact trunc_div, trunc_div_slow;
}

/// `r = a / b`, rounded as `mode` says
pub fn cdiv_mode(r: &Tensor, a: &Tensor, b: &Tensor, mode: THDivMode) -> Result<()> {
    match mode {
        TH_DIV_TRUE => super::arithmetic::cdiv(r, a, b),
        TH_DIV_TRUNC => cdiv_trunc(r, a, b),
        TH_DIV_FLOOR => cdiv_floor(r, a, b),
        _ => bail!(Argument, "{mode} is no rounding mode"),
    }
}

/// `r = t / value`, rounded as `mode` says
pub fn div_mode(r: &Tensor, t: &Tensor, value: Scalar, mode: THDivMode) -> Result<()> {
    match mode {
        TH_DIV_TRUE => super::arithmetic::div(r, t, value),
        TH_DIV_TRUNC => div_trunc(r, t, value),
        TH_DIV_FLOOR => div_floor(r, t, value),
        _ => bail!(Argument, "{mode} is no rounding mode"),
    }
}
