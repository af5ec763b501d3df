//! Tensors as slices: what is read element by element in one order, made row-major first where it is not.

use super::copy;
use super::operand::Operand;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::tensor::Tensor;

/// `t` row-major and of `dtype`; a copy only where it is neither.
pub(super) fn dense(t: &Tensor, dtype: Dtype) -> Result<Tensor> {
    Operand::of(t)?;
    let t = copy::to_dtype(t, dtype)?;
    if t.layout()?.is_contiguous() { Ok(t) } else { copy::contiguous_copy(&t) }
}

/// The elements of a tensor made by [`dense`].
pub(super) fn elements<T: Element>(t: &Tensor) -> Result<&[T]> {
    assert_eq!(t.dtype(), Some(T::DTYPE));
    let n = t.layout()?.numel() as usize;
    // SAFETY: row-major, of `T`, and inside its storage, which the tensor holds; nobody writes it before the caller is done.
    Ok(if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(t.data().cast::<T>(), n) } })
}

/// The elements of a new tensor, to which there is no other handle.
pub(super) fn elements_mut<T: Element>(t: &mut Tensor) -> Result<&mut [T]> {
    assert_eq!(t.dtype(), Some(T::DTYPE));
    let n = t.layout()?.numel() as usize;
    // SAFETY: `Tensor::empty` made room for so many elements of `T`; any bits are one.
    Ok(if n == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(t.data().cast::<T>(), n) } })
}
