//! The fast path of `cat`: few contiguous elements of one dtype on the host.

use crate::cpu::small::SMALL;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::layout::{INLINE_DIMS, wrap_dim};
use crate::ops::fast_path::are_apart;
use crate::tensor::Tensor;

/// Joins the tensors along dimension `dim` and returns true, or changes nothing and returns false.
pub(super) fn cat(r: &Tensor, tensors: &[&Tensor], dim: i32) -> Result<bool> {
    let Some(joined) = Joined::of(tensors, dim) else { return Ok(false) };
    if r.is_unused(joined.dtype) {
        r.renew(joined.dtype, joined.shape())?;
    }
    Ok(joined.write(r, tensors).is_some())
}

/// The shape of the result.
struct Joined {
    dtype: Dtype,
    dim: usize,
    ndim: usize,
    sizes: [i64; INLINE_DIMS],
}

impl Joined {
    #[inline(always)]
    fn of(tensors: &[&Tensor], dim: i32) -> Option<Joined> {
        let first = tensors.first()?;
        let (dtype, ndim) = (first.dtype()?, first.ndim());
        if !(1..=INLINE_DIMS).contains(&ndim) {
            return None;
        }
        let mut joined = Joined { dtype, dim: wrap_dim(dim, ndim).ok()?, ndim, sizes: [0; INLINE_DIMS] };
        joined.sizes[..ndim].copy_from_slice(first.peek().0);
        joined.sizes[joined.dim] = 0;
        let mut numel = 0;
        for t in tensors {
            let own = t.peek().0;
            if own.len() != ndim || (0..ndim).any(|k| k != joined.dim && own[k] != joined.sizes[k]) {
                return None;
            }
            numel += t.flat_like(dtype, t)?.1 as usize;
            if numel > SMALL {
                return None;
            }
            joined.sizes[joined.dim] += own[joined.dim];
        }
        Some(joined)
    }

    fn shape(&self) -> &[i64] {
        &self.sizes[..self.ndim]
    }

    /// Copies the elements if `r` is contiguous, has the shape and overlaps no other tensor.
    #[inline(always)]
    fn write(&self, r: &Tensor, tensors: &[&Tensor]) -> Option<()> {
        let size = self.dtype.size();
        let (to, numel) = r.flat_like(self.dtype, r).filter(|_| r.peek().0 == self.shape())?;
        let bytes = numel as usize * size;
        let apart = |t: &Tensor| {
            let (from, n) = t.flat_like(self.dtype, t)?;
            are_apart((to, bytes), (from, n as usize * size)).then_some(())
        };
        tensors.iter().try_for_each(|t| apart(t))?;
        let entries = self.sizes[..self.dim].iter().product::<i64>() as usize;
        let (step, mut at) = (bytes / entries, to);
        for t in tensors {
            let (from, n) = t.flat_like(self.dtype, t)?;
            let part = n as usize * size / entries;
            for i in 0..entries {
                // SAFETY: the result has `entries` parts of `step` bytes, and `t` as many of `part` bytes. They do not overlap.
                unsafe { at.add(i * step).copy_from_nonoverlapping(from.add(i * part), part) }
            }
            at = at.wrapping_add(part);
        }
        Some(())
    }
}
