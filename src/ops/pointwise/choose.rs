//! Elements chosen by a mask.

use super::promote;
use crate::cpu::engine::CHEAP;
use crate::cpu::map;
use crate::dtype::{Bool, Dtype};
use crate::error::{Result, bail};
use crate::layout::broadcast_shape;
use crate::ops::copy::{check_range, write_element};
use crate::ops::fast_path::Signature;
use crate::ops::prepare::elementwise;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Runs `$body` with `$T` bound to an integer as wide as elements of `$dtype`: what is only moved needs no other type, and no conversion.
macro_rules! by_size {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype.size() {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = i16;
                $body
            }
            4 => {
                type $T = i32;
                $body
            }
            _ => {
                type $T = i64;
                $body
            }
        }
    };
}

/// Masks are Bool; TH's are uint8, which has the same form.
pub fn mask_type(mask: &Tensor) -> Result<Dtype> {
    match mask.defined()? {
        mask @ (Dtype::Bool | Dtype::Uint8) => Ok(mask),
        other => bail!(Dtype, "a mask is bool or uint8, got {other}"),
    }
}

/// `r = a where condition, else b`
pub fn choose(r: &Tensor, condition: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let mask = mask_type(condition)?;
    let dtype = promote(&[a, b])?;
    elementwise(&[r, condition, a, b], &Signature::of_types([dtype, mask, dtype, dtype], dtype, CHEAP), &|work| {
        by_size!(dtype, T => {
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
        by_size!(dtype, T => {
            // SAFETY: there are 8 bytes, and any of them make a T.
            let value = unsafe { bytes.as_ptr().cast::<T>().read_unaligned() };
            map::map2::<Bool, T, T>(work, #[inline(always)] move |_, c, x| if c.get() { value } else { x })
        });
        Ok(())
    })
}
