//! Elements chosen by a mask.

use super::op::operations;
use super::{compare, number_tensor, promote, promote_scalar};
use crate::cpu::engine::CHEAP;
use crate::cpu::map;
use crate::dtype::{Bool, Dtype, Element, Promotion};
use crate::error::{Result, bail};
use crate::launch::Numbers;
use crate::layout::broadcast_shape;
use crate::ops::copy::{self, check_range};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::work::Work;

/// The dtype of a mask: Bool, or uint8 with the same representation, which TH uses.
pub fn mask_type(mask: &Tensor) -> Result<Dtype> {
    match mask.defined()? {
        mask @ (Dtype::Bool | Dtype::Uint8) => Ok(mask),
        other => bail!(Dtype, "a mask is bool or uint8, got {other}"),
    }
}

/// `r = a where condition, else b`
pub fn choose(r: &Tensor, condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    choose_in(promote(&[a, b])?, r, condition, a, b)
}

/// `r = t where condition, else value`; with `first`, `r = value where condition, else t`
pub fn choose_value(r: &Tensor, condition: &Tensor, t: &Tensor, value: Scalar, first: bool) -> Result<()> {
    let dtype = promote_scalar(t, value)?;
    let number = checked_number(value, dtype)?;
    let (a, b) = if first { (&number, t) } else { (t, &number) };
    choose_in(dtype, r, condition, a, b)
}

/// `r = a where condition, else b`, of two numbers
pub fn choose_values(r: &Tensor, condition: &Tensor, a: Scalar, b: Scalar) -> Result<()> {
    let dtype = Promotion::default().scalar(a).scalar(b).result().unwrap_or(Dtype::Int64);
    choose_in(dtype, r, condition, &checked_number(a, dtype)?, &checked_number(b, dtype)?)
}

/// `r = 0 where a < 0 or NaN, b where a = 0, 1 where a > 0`
pub fn heaviside(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let common = promote(&[a, b])?;
    let (a, zero, positive) = (copy::to_dtype(a, common)?, Tensor::fresh()?, Tensor::fresh()?);
    compare::eqValue.run_inlined([&zero, &a], &[Scalar::Int(0)])?;
    compare::gtValue.run_inlined([&positive, &a], &[Scalar::Int(0)])?;
    choose_in(common, r, &zero, b, &positive)
}

/// A 0-d tensor of a number. Fails if `dtype` cannot hold the number.
fn checked_number(value: Scalar, dtype: Dtype) -> Result<Tensor> {
    check_range(dtype, value)?;
    number_tensor(value, dtype)
}

operations! {
    CHOICES;
    /// `r = a where condition, else b`
    select(r: out, condition: input, a: input, b: input) { moved same CHEAP masked, kernel select_kernel }
    /// `r = value where mask, else t`
    select_number(r: out, mask: input, t: input, value: parameter) { moved same CHEAP masked, kernel select_number_kernel }
}

fn select_kernel<T: Element>(work: &Work<4>, _: &Numbers<'_>) {
    map::map3::<Bool, T, T, T>(
        work,
        #[inline(always)]
        |_, c, a, b| if c.get() { a } else { b },
    )
}

fn select_number_kernel<T: Element>(work: &Work<3>, numbers: &Numbers<'_>) {
    let value: T = numbers.bits(0);
    map::map2::<Bool, T, T>(
        work,
        #[inline(always)]
        move |_, c, x| if c.get() { value } else { x },
    )
}

fn choose_in(dtype: Dtype, r: &Tensor, condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    mask_type(condition)?;
    select.run_in(dtype, &[r, condition, a, b], &[])
}

/// `t = value where mask`; the mask broadcasts to `t`
pub fn masked_fill(t: &Tensor, mask: &Tensor, value: Scalar) -> Result<()> {
    mask_type(mask)?;
    let (dtype, shape) = (t.defined()?, t.layout()?.shape);
    let mask_shape = mask.layout()?.shape;
    if broadcast_shape(&shape, &mask_shape)? != shape {
        bail!(Shape, "a mask of shape {:?} does not broadcast to {:?}", mask_shape.as_slice(), shape.as_slice())
    }
    check_range(dtype, value)?;
    select_number.run_in(dtype, &[t, mask, t], &[value])
}
