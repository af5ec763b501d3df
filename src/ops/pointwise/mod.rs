//! Elementwise operations, defined by their arguments, dtypes and formulas. The engine has the loops.
//!
//! A new operation is one definition in one of these files and a line in the tests. `op` explains definitions.

pub mod op;

pub mod activation;
#[cfg(feature = "cuda")]
pub mod all;
pub mod apply;
pub mod arithmetic;
pub mod bits;
pub mod choose;
pub mod compare;
pub mod divide;
mod divisor;
pub mod function;
pub mod gradient;
pub mod loss;
pub mod recurrent;
pub mod step;

use crate::device::{Device, DeviceGuard};
use crate::dtype::{Dtype, Promotion};
use crate::element::write_element;
use crate::error::{Result, bail};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The common dtype of one or more tensors.
#[inline(always)]
pub(super) fn promote(tensors: &[&Tensor]) -> Result<Dtype> {
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

/// The number as a 0-d tensor on the host, wrapped or rounded to `dtype`.
fn number_tensor(value: Scalar, dtype: Dtype) -> Result<Tensor> {
    let _host = DeviceGuard::on(Device::Cpu);
    let number = Tensor::empty(dtype, &[])?;
    // SAFETY: a new tensor of one element on the host.
    unsafe { write_element(number.data(), dtype, value) };
    Ok(number)
}

/// The dtype in which elements of `t` and a number are compared exactly, and the number in this dtype. A number out of range of an integer
/// dtype is compared in int64: 300 is greater than every uint8, and does not wrap to 44. A number that is not an int64 is compared in
/// float64. A number beyond int64 becomes an infinity there, because the greatest int64 is rounded to 2^63.
#[inline]
fn comparable(t: &Tensor, value: Scalar) -> Result<(Dtype, Scalar)> {
    let dtype = promote_scalar(t, value)?;
    let fits = match (dtype, value) {
        (Dtype::Uint8, Scalar::Int(x)) => u8::try_from(x).is_ok(),
        (Dtype::Int8, Scalar::Int(x)) => i8::try_from(x).is_ok(),
        (Dtype::Int16, Scalar::Int(x)) => i16::try_from(x).is_ok(),
        (Dtype::Int32, Scalar::Int(x)) => i32::try_from(x).is_ok(),
        (_, Scalar::Float(x)) if !t.defined()?.is_float() => {
            let beyond = x.abs() >= -(i64::MIN as f64);
            return Ok((Dtype::Float64, Scalar::Float(if beyond { f64::INFINITY.copysign(x) } else { x })));
        }
        _ => true,
    };
    Ok((if fits { dtype } else { Dtype::Int64 }, value))
}

/// The dtype in which integers of two tensors, 0-d ones included, are compared exactly: it holds the elements of both.
fn comparable_tensors(common: Dtype, tensors: &[&Tensor]) -> Result<Dtype> {
    if common.is_float() {
        return Ok(common);
    }
    tensors.iter().try_fold(common, |common, t| Ok(common.promote(t.defined()?)))
}

/// Fails if a factor of integer tensors is not an integer.
pub(super) fn check_whole(dtype: Dtype, value: Scalar) -> Result<()> {
    if !value.is_whole() && !dtype.is_float() {
        bail!(Dtype, "the factor {value} of {dtype} tensors must be an integer of 64 bits")
    }
    Ok(())
}
