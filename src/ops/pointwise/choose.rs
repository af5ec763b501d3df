//! Elements chosen by a mask.

use super::promote;
use crate::cpu::engine::CHEAP;
use crate::cpu::map;
use crate::dtype::{Bool, Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::layout::broadcast_shape;
use crate::ops::prepare::typed;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Masks are Bool; TH's are uint8, which has the same form.
fn mask_type(op: &str, mask: &Tensor) -> Result<Dtype> {
    match mask.defined(op)? {
        mask @ (Dtype::Bool | Dtype::Uint8) => Ok(mask),
        other => bail!(Dtype, "{op}: a mask is bool or uint8, got {other}"),
    }
}

/// `r = a where condition, else b`
pub fn choose(r: &Tensor, condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    const OP: &str = "where";
    let mask = mask_type(OP, condition)?;
    let dtype = promote(OP, &[a, b])?;
    let compute = dtype.compute();
    typed(OP, [r, condition, a, b], [compute, mask, compute, compute], dtype, CHEAP, &|work| {
        dispatch!(all, OP, dtype, T => {
        // SAFETY: `typed` checked every operand against its storage.
        unsafe { map::map3::<Bool, T, T, T>(work, #[inline(always)] move |_, c, a, b| if c.get() { a } else { b }) }
        });
        Ok(())
    })
}

/// `t = value where mask`; the mask broadcasts to `t`
pub fn masked_fill(t: &Tensor, mask: &Tensor, value: Scalar) -> Result<()> {
    const OP: &str = "maskedFill";
    let mask_dtype = mask_type(OP, mask)?;
    let (dtype, shape) = (t.defined(OP)?, t.layout()?.shape);
    let mask_shape = mask.layout()?.shape;
    if broadcast_shape(OP, &shape, &mask_shape)? != shape {
        bail!(Shape, "{OP}: a mask of shape {:?} does not broadcast to {:?}", mask_shape.as_slice(), shape.as_slice())
    }
    let compute = dtype.compute();
    typed(OP, [t, mask, t], [compute, mask_dtype, compute], dtype, CHEAP, &|work| {
        dispatch!(all, OP, dtype, T => {
        let value = T::from_scalar(value);
        // SAFETY: `typed` checked every operand against its storage.
        unsafe { map::map2::<Bool, T, T>(work, #[inline(always)] move |_, c, x| if c.get() { value } else { x }) }
        });
        Ok(())
    })
}
