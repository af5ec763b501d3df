//! Tensors as slices: what is read element by element in one order, made row-major first where it is not.

use super::copy;
use super::operand::Operand;
use super::result::{Target, deliver};
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::storage::Storage;
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

/// Makes a result of the first dtype and of `shape`: `write` computes its elements, row-major and in the second dtype, in memory apart from that of
/// the inputs. What `write` needs it has already: it does not fail.
pub(super) fn written(
    r: &Tensor,
    (dtype, compute): (Dtype, Dtype),
    shape: &[i64],
    inputs: &[Option<&Tensor>],
    write: &dyn Fn(*mut u8),
) -> Result<()> {
    let target = Target::check(r, dtype, shape)?;
    if dtype != compute || target.dtype != dtype {
        let made = Tensor::empty(compute, shape)?;
        write(made.data());
        return deliver([Some((r, dtype, &made))]);
    }
    let read = |own: &Storage| inputs.iter().flatten().any(|t| t.storage().is_some_and(|s| s.overlaps(own)));
    let disjoint = target.kept.as_ref().is_some_and(|kept| !kept.layout.is_contiguous() || kept.storage.as_ref().is_some_and(read));
    let placed = target.place(disjoint, &read)?;
    write(placed.written.first());
    placed.commit()
}
