//! Elements chosen by a mask.

use super::{compare, number_tensor, promote, promote_scalar};
use crate::cpu::engine::CHEAP;
use crate::cpu::index::by_size;
use crate::cpu::map;
use crate::dtype::{Bool, Dtype, Promotion};
use crate::error::{Result, bail};
use crate::layout::broadcast_shape;
use crate::ops::copy::{self, check_range, write_element};
use crate::ops::fast_path::Signature;
use crate::ops::prepare::elementwise;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Masks are Bool; TH's are uint8, which has the same form.
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

/// `r = t where condition, else value`, or the other way round if `first` is the number
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
    compare::eqValue.run([&zero, &a], &[Scalar::Int(0)])?;
    compare::gtValue.run([&positive, &a], &[Scalar::Int(0)])?;
    choose_in(common, r, &zero, b, &positive)
}

/// A number that is stored as it is.
fn checked_number(value: Scalar, dtype: Dtype) -> Result<Tensor> {
    check_range(dtype, value)?;
    number_tensor(value, dtype)
}

fn choose_in(dtype: Dtype, r: &Tensor, condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let mask = mask_type(condition)?;
    elementwise(&[r, condition, a, b], &Signature::of_types([dtype, mask, dtype, dtype], dtype, CHEAP), &|work| {
        by_size!(dtype.size(), T => {
            map::map3::<Bool, T, T, T>(work, #[inline(always)] move |_, c, a, b| if c.get() { a } else { b })
        });
        Ok(())
    })
}

/// `t = value where mask`; the mask broadcasts to `t`
pub fn masked_fill(t: &Tensor, mask: &Tensor, value: Scalar) -> Result<()> {
    let mask_dtype = mask_type(mask)?;
    let (dtype, shape) = (t.defined()?, t.layout()?.shape);
    let mask_shape = mask.layout()?.shape;
    if broadcast_shape(&shape, &mask_shape)? != shape {
        bail!(Shape, "a mask of shape {:?} does not broadcast to {:?}", mask_shape.as_slice(), shape.as_slice())
    }
    check_range(dtype, value)?;
    let mut bytes = [0u8; 8];
    // SAFETY: room for an element of any dtype.
    unsafe { write_element(bytes.as_mut_ptr(), dtype, value) };
    elementwise(&[t, mask, t], &Signature::of_types([dtype, mask_dtype, dtype], dtype, CHEAP), &|work| {
        by_size!(dtype.size(), T => {
            // SAFETY: there are 8 bytes, and any of them make a T.
            let value = unsafe { bytes.as_ptr().cast::<T>().read_unaligned() };
            map::map2::<Bool, T, T>(work, #[inline(always)] move |_, c, x| if c.get() { value } else { x })
        });
        Ok(())
    })
}
