//! Elementwise operations: rows of name, dtype set and expression; the engine owns the loops.
//!
//! A new operation is one row here, one in `capi/math.rs` and one in the tests.

use super::prepare::elementwise;
use crate::cpu::engine::{CHEAP, COSTLY};
use crate::cpu::map;
use crate::cpu::real::Real;
use crate::dtype::{Category, Dtype, Element, Promotion, dispatch};
use crate::error::{Result, bail};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Fails unless `dtype` is in the set, before anything is touched.
macro_rules! require {
    (all, $op:expr, $dtype:expr) => {};
    (float, $op:expr, $dtype:expr) => {};
    (numeric, $op:expr, $dtype:expr) => {
        if $dtype.category() == Category::Bool {
            bail!(Dtype, "{}: not defined for {}", $op, $dtype)
        }
    };
}

/// One tensor in, one out, of the same dtype: `name: set, |isa, x| expression`.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident: $set:ident, |$isa:pat_param, $x:ident| $f:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(r: &Tensor, t: &Tensor) -> Result<()> {
            const OP: &str = stringify!($name);
            let dtype = t.defined(OP)?;
            require!($set, OP, dtype);
            elementwise(OP, [r, t], dtype.compute(), dtype, CHEAP, &|work| {
                dispatch!($set, OP, dtype, T => {
                // SAFETY: `elementwise` checked every operand against its storage.
                unsafe { map::map1::<T, T>(work, #[inline(always)] move |$isa, $x| -> T { $f }) }
                });
                Ok(())
            })
        }
    )* };
}

unary! {
    /// `r = -t`
    neg: numeric, |_, x| x.neg();
    /// `r = |t|`
    abs: numeric, |_, x| Element::abs(x);
}

/// One tensor in, one out, through the reals: integers and Bool give the default dtype.
macro_rules! real {
    ($($(#[$doc:meta])* $name:ident: $grain:expr, |$isa:pat_param, $x:ident| $f:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(r: &Tensor, t: &Tensor) -> Result<()> {
            const OP: &str = stringify!($name);
            let dtype = t.defined(OP)?.to_float();
            elementwise(OP, [r, t], dtype.compute(), dtype, $grain, &|work| {
                dispatch!(float, OP, dtype, T => {
                // SAFETY: `elementwise` checked every operand against its storage.
                unsafe { map::map1::<T, T>(work, #[inline(always)] move |$isa, $x| -> T { $f }) }
                });
                Ok(())
            })
        }
    )* };
}

real! {
    /// `r = sqrt(t)`
    sqrt: CHEAP, |_, x| x.sqrt();
    /// `r = e^t`
    exp: COSTLY, |isa, x| Real::exp(x, isa);
    /// `r = log(t)`
    log: COSTLY, |isa, x| Real::log(x, isa);
    /// `r = tanh(t)`
    tanh: COSTLY, |isa, x| Real::tanh(x, isa);
    /// `r = 1 / (1 + e^-t)`
    sigmoid: COSTLY, |isa, x| Real::sigmoid(x, isa);
}

/// The common dtype of two tensors.
fn promote(op: &str, a: &Tensor, b: &Tensor) -> Result<Dtype> {
    let (x, y) = (a.defined(op)?, b.defined(op)?);
    if x == y {
        return Ok(x);
    }
    Ok(Promotion::default().tensor(x, a.ndim()).tensor(y, b.ndim()).result().unwrap_or(x))
}

/// The common dtype of a tensor and a number.
fn promote_scalar(op: &str, t: &Tensor, value: Scalar) -> Result<Dtype> {
    let dtype = t.defined(op)?;
    Ok(Promotion::default().tensor(dtype, t.ndim()).scalar(value).result().unwrap_or(dtype))
}

/// An operation of two numbers in both its forms: `tensor_form "name" / scalar_form: set, |isa, a, b| expression`.
macro_rules! arithmetic {
    ($($(#[$doc:meta])* $tensor:ident $name:literal / $scalar:ident: $set:ident, |$isa:pat_param, $a:ident, $b:ident| $f:expr;)*) => { $(
        $(#[$doc])*
        pub fn $tensor(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
            const OP: &str = $name;
            let dtype = arithmetic!(@dtype $set, promote(OP, a, b)?);
            require!($set, OP, dtype);
            elementwise(OP, [r, a, b], dtype.compute(), dtype, CHEAP, &|work| {
                dispatch!($set, OP, dtype, T => {
                // SAFETY: `elementwise` checked every operand against its storage.
                unsafe { map::map2::<T, T>(work, #[inline(always)] move |$isa, $a, $b| -> T { $f }) }
                });
                Ok(())
            })
        }

        /// The same with one number for every element.
        pub fn $scalar(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
            const OP: &str = stringify!($scalar);
            let dtype = arithmetic!(@dtype $set, promote_scalar(OP, t, value)?);
            require!($set, OP, dtype);
            elementwise(OP, [r, t], dtype.compute(), dtype, CHEAP, &|work| {
                dispatch!($set, OP, dtype, T => {
                let $b = T::from_scalar(value);
                // SAFETY: `elementwise` checked every operand against its storage.
                unsafe { map::map1::<T, T>(work, #[inline(always)] move |$isa, $a| -> T { $f }) }
                });
                Ok(())
            })
        }
    )* };
    (@dtype float, $dtype:expr) => { $dtype.to_float() };
    (@dtype $set:ident, $dtype:expr) => { $dtype };
}
arithmetic! {
    /// `r = a + b`; on Bool this is *or*.
    sum_of "cadd" / add: all, |_, a, b| a.add(b);
    /// `r = a - b`
    difference "csub" / sub: numeric, |_, a, b| a.sub(b);
    /// `r = a * b`; on Bool this is *and*.
    cmul "cmul" / mul: all, |_, a, b| a.mul(b);
    /// `r = a / b`, true division: integers give the default dtype.
    cdiv "cdiv" / div: float, |_, a, b| a / b;
}

/// `r = t + value * src`
pub fn cadd(r: &Tensor, t: &Tensor, value: Scalar, src: &Tensor) -> Result<()> {
    if value == Scalar::Int(1) { sum_of(r, t, src) } else { scaled("cadd", r, t, value, src, false) }
}

/// `r = t - value * src`
pub fn csub(r: &Tensor, t: &Tensor, value: Scalar, src: &Tensor) -> Result<()> {
    if value == Scalar::Int(1) { difference(r, t, src) } else { scaled("csub", r, t, value, src, true) }
}

fn scaled(op: &str, r: &Tensor, t: &Tensor, value: Scalar, src: &Tensor, minus: bool) -> Result<()> {
    let dtype = promote(op, t, src)?;
    if minus {
        require!(numeric, op, dtype);
    }
    if matches!(value, Scalar::Float(_)) && !dtype.is_float() {
        bail!(Dtype, "{op}: the factor {} of {dtype} tensors must be an integer", value.to_f64())
    }
    elementwise(op, [r, t, src], dtype.compute(), dtype, CHEAP, &|work| {
        dispatch!(all, op, dtype, T => {
        let factor = T::from_scalar(value);
        let factor = if minus { factor.neg() } else { factor };
        // SAFETY: `elementwise` checked every operand against its storage.
        unsafe { map::map2::<T, T>(work, #[inline(always)] move |_, a, b| a.add(factor.mul(b))) }
        });
        Ok(())
    })
}

/// `dtype`, or int64 where the number lies beyond an integer type: 300 is greater than every uint8, not 44.
fn comparable(dtype: Dtype, value: Scalar) -> Dtype {
    let fits = match (dtype, value) {
        (Dtype::Uint8, Scalar::Int(x)) => u8::try_from(x).is_ok(),
        (Dtype::Int8, Scalar::Int(x)) => i8::try_from(x).is_ok(),
        (Dtype::Int16, Scalar::Int(x)) => i16::try_from(x).is_ok(),
        (Dtype::Int32, Scalar::Int(x)) => i32::try_from(x).is_ok(),
        _ => true,
    };
    if fits { dtype } else { Dtype::Int64 }
}

/// A comparison with a tensor and with a number; the result is Bool unless it has a dtype: `tensor_form / scalar_form: |a, b| expression`.
macro_rules! comparison {
    ($($(#[$doc:meta])* $tensor:ident / $scalar:ident: |$a:ident, $b:ident| $f:expr;)*) => { $(
        $(#[$doc])*
        pub fn $tensor(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
            const OP: &str = stringify!($tensor);
            let dtype = promote(OP, a, b)?;
            elementwise(OP, [r, a, b], dtype.compute(), Dtype::Bool, CHEAP, &|work| {
                dispatch!(all, OP, dtype, T => {
                // SAFETY: `elementwise` checked every operand against its storage.
                unsafe { map::map2::<T, crate::dtype::Bool>(work, #[inline(always)] move |_, $a, $b| ($f).into()) }
                });
                Ok(())
            })
        }

        /// The same with one number for every element.
        pub fn $scalar(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
            const OP: &str = stringify!($scalar);
            let dtype = comparable(promote_scalar(OP, t, value)?, value);
            elementwise(OP, [r, t], dtype.compute(), Dtype::Bool, CHEAP, &|work| {
                dispatch!(all, OP, dtype, T => {
                let $b = T::from_scalar(value);
                // SAFETY: `elementwise` checked every operand against its storage.
                unsafe { map::map1::<T, crate::dtype::Bool>(work, #[inline(always)] move |_, $a| ($f).into()) }
                });
                Ok(())
            })
        }
    )* };
}

comparison! {
    /// `r = a < b`
    lt / lt_value: |a, b| a < b;
    /// `r = a <= b`
    le / le_value: |a, b| a <= b;
    /// `r = a > b`
    gt / gt_value: |a, b| a > b;
    /// `r = a >= b`
    ge / ge_value: |a, b| a >= b;
    /// `r = a == b`
    eq / eq_value: |a, b| a == b;
    /// `r = a != b`
    ne / ne_value: |a, b| a != b;
}
