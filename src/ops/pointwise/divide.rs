//! Remainders and rounded quotients. An integer division by zero is reported before anything is written.

use super::arithmetic::{cdiv, div};
use super::op::operations;
use crate::cpu::engine::COSTLY;
use crate::cpu::number::Number;
use crate::error::{Result, bail};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The rounding of a quotient by `divMode`.
pub type THDivMode = i32;
/// No rounding; integers give the default dtype.
pub const TH_DIV_TRUE: THDivMode = 0;
/// Rounds towards zero, as C divides integers.
pub const TH_DIV_TRUNC: THDivMode = 1;
/// Rounds down, as Python's `//`.
pub const TH_DIV_FLOOR: THDivMode = 2;

macro_rules! divide_functions {
    ($do:ident $($to:tt)*) => { $do! { $($to)*
        /// `r = t - value * trunc(t / value)`, exact, with the sign of `t`. For integers a `value` of 0 is an error. With a whole `value`
        /// integers keep their dtype and Bool gives int64; any other `value` gives the default dtype for both.
        fmod(r: out, t: input, value: number) {
            numeric same COSTLY dividing, slow_path(|isa, t| Number::fmod(t, value, isa), t.quotient_rare(value, isa), Number::fmod_slow(t,
                value, isa))
        }
        /// `r = a - b * trunc(a / b)`, exact, with the sign of `a`, with broadcasting and promotion. Not for Bool; for integers a 0 in `b`
        /// is an error.
        cfmod(r: out, a: input, b: input) {
            numeric same COSTLY dividing, slow_path(|isa, a, b| Number::fmod(a, b, isa), a.quotient_rare(b, isa), Number::fmod_slow(a, b,
                isa))
        }
        /// `r = t - value * floor(t / value)`, exact, with the sign of `value`; a zero has the sign of `t`. For integers a `value` of 0 is
        /// an error. With a whole `value` integers keep their dtype and Bool gives int64; any other `value` gives the default dtype for
        /// both.
        remainder(r: out, t: input, value: number) {
            numeric same COSTLY dividing,
            slow_path(|isa, t| Number::remainder(t, value, isa), t.quotient_rare(value, isa), Number::remainder_slow(t, value, isa))
        }
        /// `r = a - b * floor(a / b)`, exact, with the sign of `b`, with broadcasting and promotion; a zero has the sign of `a`. Not for
        /// Bool; for integers a 0 in `b` is an error.
        cremainder(r: out, a: input, b: input) {
            numeric same COSTLY dividing,
            slow_path(|isa, a, b| Number::remainder(a, b, isa), a.quotient_rare(b, isa), Number::remainder_slow(a, b, isa))
        }
    } };
}
pub(crate) use divide_functions;

divide_functions!(operations QUOTIENTS;);

operations! {
    DIVISIONS;
    /// `r = floor(t / value)`
    div_floor(r: out, t: input, value: factor) {
        numeric same COSTLY dividing,
        slow_path(|isa, t| Number::floor_div(t, value, isa), t.quotient_rare(value, isa), Number::floor_div_slow(t, value, isa))
    }
    /// `r = floor(a / b)`
    cdiv_floor(r: out, a: input, b: input) {
        numeric same COSTLY dividing,
        slow_path(|isa, a, b| Number::floor_div(a, b, isa), a.quotient_rare(b, isa), Number::floor_div_slow(a, b, isa))
    }
    /// `r = trunc(t / value)`
    div_trunc(r: out, t: input, value: factor) {
        numeric same COSTLY dividing,
        slow_path(|isa, t| Number::trunc_div(t, value, isa), t.quotient_rare(value, isa), Number::trunc_div_slow(t, value, isa))
    }
    /// `r = trunc(a / b)`
    cdiv_trunc(r: out, a: input, b: input) {
        numeric same COSTLY dividing,
        slow_path(|isa, a, b| Number::trunc_div(a, b, isa), a.quotient_rare(b, isa), Number::trunc_div_slow(a, b, isa))
    }
}

/// `r = a / b`, rounded as `mode` says
pub fn cdiv_mode(r: &Tensor, a: &Tensor, b: &Tensor, mode: THDivMode) -> Result<()> {
    match mode {
        TH_DIV_TRUE => cdiv.run_inlined([r, a, b], &[]),
        TH_DIV_TRUNC => cdiv_trunc.run_inlined([r, a, b], &[]),
        TH_DIV_FLOOR => cdiv_floor.run_inlined([r, a, b], &[]),
        _ => bail!(Argument, "{mode} is no rounding mode"),
    }
}

/// `r = t / value`, rounded as `mode` says
pub fn div_mode(r: &Tensor, t: &Tensor, value: Scalar, mode: THDivMode) -> Result<()> {
    match mode {
        TH_DIV_TRUE => div.run_inlined([r, t], &[value]),
        TH_DIV_TRUNC => div_trunc.run_inlined([r, t], &[value]),
        TH_DIV_FLOOR => div_floor.run_inlined([r, t], &[value]),
        _ => bail!(Argument, "{mode} is no rounding mode"),
    }
}
