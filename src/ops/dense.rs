//! Tensors as slices: what is read element by element in one order, made row-major first where it is not.

use super::copy;
use super::operand::Operand;
use super::result::{Inputs, Writes, ready};
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::storage::Storage;
use crate::tensor::Tensor;
use smallvec::SmallVec;

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

/// Makes a result of the first dtype and of `shape`: `write` computes its elements, row-major and in the second dtype, in memory apart from that of
/// the inputs. What `write` needs it has already: it does not fail.
pub(super) fn written(
    r: &Tensor,
    dtypes: (Dtype, Dtype),
    shape: &[i64],
    inputs: &[Option<&Tensor>],
    write: &dyn Fn(*mut u8),
) -> Result<()> {
    written_in_step(r, dtypes, shape, &[], inputs, write)
}

/// [`written`] for functions that read each element of the row-major inputs `in_step` before they write the one at the same place of the result:
/// the result may be one of them.
pub(super) fn written_in_step(
    r: &Tensor,
    (dtype, compute): (Dtype, Dtype),
    shape: &[i64],
    in_step: &[&Tensor],
    inputs: &[Option<&Tensor>],
    write: &dyn Fn(*mut u8),
) -> Result<()> {
    let in_step: SmallVec<[Operand; 2]> = in_step.iter().map(|t| Operand::of(t)).collect::<Result<_>>()?;
    let inputs: SmallVec<[Operand; 3]> = inputs.iter().flatten().map(|t| Operand::of(t)).collect::<Result<_>>()?;
    let all = Inputs::in_step(&in_step).and_anywhere(&inputs);
    ready(r, (dtype, shape), Writes::ROW_MAJOR.of(compute), all)?.write(|to| write(to.first()))
}

/// True if each element of the row-major `t` lies where the result's does, or apart from all of the result.
pub(super) fn steps(own: &Operand, t: &Tensor) -> bool {
    t.data() == own.first() || own.storage.as_ref().is_none_or(|own| !shares(&[Some(t)], own))
}

/// True if an input lies in the storage.
pub(super) fn shares(inputs: &[Option<&Tensor>], own: &Storage) -> bool {
    inputs.iter().flatten().any(|t| t.storage().is_some_and(|s| s.overlaps(own)))
}
