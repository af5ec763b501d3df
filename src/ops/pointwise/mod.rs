//! Elementwise operations: rows of name, dtype set and expression; the engine owns the loops.
//!
//! A new operation is one row in one of these files, one in `capi/pointwise.rs` and one in the tests.

use crate::dtype::{Dtype, Element, Promotion};
use crate::error::{Result, bail};
use crate::ops::copy::{read_element, write_element};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Fails unless `dtype` is in the set of [`dispatch!`](crate::dtype::dispatch), before anything is touched.
macro_rules! require {
    (all, $dtype:expr) => {};
    (numeric, $dtype:expr) => {
        $crate::ops::pointwise::refuse($dtype.category() == $crate::dtype::Category::Bool, $dtype)?
    };
    (integral, $dtype:expr) => {
        $crate::ops::pointwise::refuse($dtype.is_float(), $dtype)?
    };
    (float, $dtype:expr) => {
        $crate::ops::pointwise::refuse(!$dtype.is_float(), $dtype)?
    };
}

/// One tensor in, one out: `name(numbers): set result grain, |isa, x| expression`.
///
/// `same`: the result has the dtype of the input. `real`: integers and Bool give the default dtype. `Bool`: a truth value.
macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident($($p:ident),*): $set:ident $kind:ident $grain:ident, |$isa:pat_param, $x:ident| $f:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(r: &Tensor, t: &Tensor $(, $p: Scalar)*) -> Result<()> {
            let dtype = unary!(@dtype $kind, t.defined()?);
            require!($set, dtype);
            elementwise([r, t], dtype, unary!(@result $kind, dtype), $grain, &|work| {
                dispatch!($set, dtype, T => {
                $(let $p = T::from_scalar($p);)*
                map::map1::<T, unary!(@type $kind, T)>(work, #[inline(always)] move |$isa, $x| ($f).into())
                });
                Ok(())
            })
        }
    )* };
    (@dtype real, $dtype:expr) => { $dtype.to_float() };
    (@dtype $kind:ident, $dtype:expr) => { $dtype };
    (@result Bool, $dtype:expr) => { Dtype::Bool };
    (@result $kind:ident, $dtype:expr) => { $dtype };
    (@type Bool, $T:ty) => { Bool };
    (@type $kind:ident, $T:ty) => { $T };
}

/// Two tensors in, one out: `name(numbers): set result grain, |isa, a, b| expression`, kinds as in `unary`. `by map2_transposed` after the
/// grain takes another loop than `map2`.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident($($p:ident),*): $set:ident $kind:ident $grain:ident $(by $map:ident)?, |$isa:pat_param, $a:ident, $b:ident| $f:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(r: &Tensor, a: &Tensor, b: &Tensor $(, $p: Scalar)*) -> Result<()> {
            let dtype = unary!(@dtype $kind, promote(&[a, b])?);
            require!($set, dtype);
            elementwise([r, a, b], dtype, unary!(@result $kind, dtype), $grain, &|work| {
                dispatch!($set, dtype, T => {
                $(let $p = T::from_scalar($p);)*
                binary!(@call $($map)?; ::<T, T, unary!(@type $kind, T)>(work, #[inline(always)] move |$isa, $a, $b| ($f).into()))
                });
                Ok(())
            })
        }
    )* };
    (@call; $($arguments:tt)*) => { map::map2 $($arguments)* };
    (@call $map:ident; $($arguments:tt)*) => { map::$map $($arguments)* };
}

/// One tensor and the number `value` in, one out, kinds as in `unary`; the number is `rounded` to the common dtype first, or taken `exact`.
macro_rules! with_value {
    ($($(#[$doc:meta])* $name:ident: $set:ident $kind:ident $grain:ident $number:ident, |$isa:pat_param, $a:ident, $b:ident| $f:expr;)*) => { $(
        $(#[$doc])*
        pub fn $name(r: &Tensor, t: &Tensor, value: Scalar) -> Result<()> {
            let dtype = unary!(@dtype $kind, promote_scalar(t, value)?);
            require!($set, dtype);
            elementwise([r, t], dtype, unary!(@result $kind, dtype), $grain, &|work| {
                dispatch!($set, dtype, T => {
                let $b: T = $number(value, dtype);
                map::map1::<T, unary!(@type $kind, T)>(work, #[inline(always)] move |$isa, $a| ($f).into())
                });
                Ok(())
            })
        }
    )* };
}

/// The same expression with a second tensor and with a number: `tensor_form / number_form: set result grain number, |isa, a, b| expression`.
macro_rules! both {
    ($($(#[$doc:meta])* $tensor:ident / $name:ident: $set:ident $kind:ident $grain:ident $number:ident $(by $map:ident)?, |$isa:pat_param, $a:ident, $b:ident| $f:expr;)*) => { $(
        binary! { $(#[$doc])* $tensor(): $set $kind $grain $(by $map)?, |$isa, $a, $b| $f; }
        with_value! { $(#[$doc])* $name: $set $kind $grain $number, |$isa, $a, $b| $f; }
    )* };
}

pub mod apply;
pub mod arithmetic;
pub mod bits;
pub mod choose;
pub mod compare;
pub mod divide;
pub mod function;

#[cold]
fn undefined(dtype: Dtype) -> Result<()> {
    bail!(Dtype, "not defined for {dtype}")
}

#[inline(always)]
fn refuse(outside: bool, dtype: Dtype) -> Result<()> {
    if outside { undefined(dtype) } else { Ok(()) }
}

/// The common dtype of tensors.
#[inline(always)]
fn promote<const N: usize>(tensors: &[&Tensor; N]) -> Result<Dtype> {
    let first = tensors[0].defined()?;
    if tensors.iter().all(|t| t.dtype() == Some(first)) { Ok(first) } else { promote_mixed(tensors) }
}

#[inline(never)]
fn promote_mixed(tensors: &[&Tensor]) -> Result<Dtype> {
    let mut promotion = Promotion::default();
    for t in tensors {
        promotion = promotion.tensor(t.defined()?, t.ndim());
    }
    match promotion.result() {
        Some(dtype) => Ok(dtype),
        None => tensors[0].defined(),
    }
}

/// The common dtype of a tensor and a number.
#[inline]
fn promote_scalar(t: &Tensor, value: Scalar) -> Result<Dtype> {
    let dtype = t.defined()?;
    Ok(Promotion::default().tensor(dtype, t.ndim()).scalar(value).result().unwrap_or(dtype))
}

/// The number as an element of the common dtype of operands, in its compute type.
#[inline]
fn rounded<T: Element>(value: Scalar, dtype: Dtype) -> T {
    if dtype == dtype.compute() {
        return T::from_scalar(value);
    }
    let mut bits = 0u16;
    let at = (&raw mut bits).cast();
    // SAFETY: room for a 16-bit float.
    T::from_f64(unsafe {
        write_element(at, dtype, value);
        read_element(at, dtype).to_f64()
    })
}

/// The number in the compute type: factors and divisors of 16-bit floats are not rounded to them, in PyTorch neither.
#[inline]
fn exact<T: Element>(value: Scalar, _: Dtype) -> T {
    T::from_scalar(value)
}

/// Fails where the factor of integer tensors is no integer.
fn whole_factor(dtype: Dtype, value: Scalar) -> Result<()> {
    if !value.is_whole() && !dtype.is_float() {
        bail!(Dtype, "the factor {} of {dtype} tensors must be an integer", value.to_f64())
    }
    Ok(())
}
