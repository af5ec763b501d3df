//! Tensors joined along a dimension, and split again.

mod fast_path;

use super::copy;
use super::pointwise::promote;
use super::result::{Inputs, Writes, ready};
use super::view;
use crate::alloc;
use crate::dtype::{Dtype, Promotion};
use crate::error::{Result, bail};
use crate::layout::wrap_dim;
use crate::operand::Operand;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The dtype to which the tensors promote. A fresh handle is ignored, because it has neither dtype nor elements.
fn promoted(tensors: &[&Tensor]) -> Result<Dtype> {
    let with = |all: Promotion, t: &&Tensor| t.dtype().map_or(all, |dtype| all.tensor(dtype, t.ndim()));
    match tensors.iter().fold(Promotion::default(), with).result() {
        Some(dtype) => Ok(dtype),
        None => tensors[0].defined(),
    }
}

/// Returns true if `cat` skips the tensor: a fresh handle or a vector without elements fits any shape.
fn is_left_out(t: &Tensor) -> bool {
    !t.has_sizes() || t.peek().0 == [0]
}

/// `r` = the tensors joined along dimension `dim`
pub fn cat(r: &Tensor, tensors: &[&Tensor], dim: i32) -> Result<()> {
    if tensors.is_empty() {
        bail!(Argument, "expected at least one tensor")
    }
    if fast_path::cat(r, tensors, dim)? {
        return Ok(());
    }
    let dtype = promoted(tensors)?;
    let (mut shape, mut sources) = (None, SmallVec::<[Operand; 2]>::new());
    if sources.try_reserve(tensors.len()).is_err() {
        bail!(NoMem, "out of memory for a list of {}", tensors.len())
    }
    for (k, t) in tensors.iter().enumerate() {
        if t.is_scalar() {
            bail!(Shape, "tensor {k} is a scalar, which has no dimension to go along")
        }
        if is_left_out(t) {
            continue;
        }
        sources.push(Operand::of(t)?);
        let layout = sources[sources.len() - 1].layout();
        let Some((first, d, total)) = &mut shape else {
            let d = wrap_dim(dim, layout.ndim())?;
            shape = Some((layout.shape.clone(), d, layout.shape[d]));
            continue;
        };
        let same = |k: usize| k == *d || layout.shape[k] == first[k];
        if layout.ndim() != first.len() || !(0..first.len()).all(same) {
            bail!(
                Shape,
                "tensor {k} has shape {:?}, the first one {:?}: they may differ in dimension {d} only",
                layout.shape.as_slice(),
                first.as_slice()
            )
        }
        let Some(sum) = total.checked_add(layout.shape[*d]) else { bail!(Shape, "dimension {d} overflows") };
        *total = sum;
    }
    let Some((mut shape, d, total)) = shape else {
        return ready(r, (dtype, &[0]), Writes::STRIDED, Inputs::NONE)?.write(|_| Ok(()));
    };
    shape[d] = total;
    ready(r, (dtype, &shape), Writes::STRIDED, Inputs::anywhere(&sources))?.write(|to| {
        let mut part = to.layout().clone();
        for source in &sources {
            part.shape[d] = source.layout().shape[d];
            copy::copy_to_part(to, &part, source)?;
            part.offset += part.shape[d] * part.strides[d];
        }
        Ok(())
    })
}

/// `r` = tensors of one shape along a new dimension `dim`
pub fn stack(r: &Tensor, tensors: &[&Tensor], dim: i32) -> Result<()> {
    let Some(first) = tensors.first() else { bail!(Argument, "expected at least one tensor") };
    let shape = first.layout()?.shape;
    let d = wrap_dim(dim, shape.len() + 1)?;
    for (k, t) in tensors.iter().enumerate() {
        let have = t.layout()?.shape;
        if have != shape {
            bail!(Shape, "tensor {k} has shape {:?}, the first one {:?}", have.as_slice(), shape.as_slice())
        }
    }
    promote(tensors)?;
    joined(r, tensors, d as i32, |t| view::derive(t, |l| l.unsqueeze(d as i32)))
}

/// [`cat`] of views of the tensors.
fn joined(r: &Tensor, tensors: &[&Tensor], dim: i32, view: impl Fn(&Tensor) -> Result<Tensor>) -> Result<()> {
    let views = alloc::list(tensors.len(), |k| view(tensors[k]))?;
    let views: Vec<&Tensor> = alloc::list(views.len(), |k| Ok(&views[k]))?;
    cat(r, &views, dim)
}

/// `t` with new dimensions of size 1 until it has `ndim`. As in NumPy, a scalar or vector becomes a row.
fn at_least(t: &Tensor, ndim: usize) -> Result<Tensor> {
    view::derive(t, |l| {
        while l.ndim() < ndim {
            let place = match (ndim, l.ndim()) {
                (3, 2) => 2,
                _ => 0,
            };
            l.unsqueeze(place)?;
        }
        Ok(())
    })
}

/// `r` = the tensors joined along dimension 1, vectors along dimension 0
pub fn hstack(r: &Tensor, tensors: &[&Tensor]) -> Result<()> {
    let Some(first) = tensors.first() else { bail!(Argument, "expected at least one tensor") };
    joined(r, tensors, i32::from(first.ndim() > 1), |t| at_least(t, 1))
}

/// `r` = the tensors joined along dimension 0, vectors as rows
pub fn vstack(r: &Tensor, tensors: &[&Tensor]) -> Result<()> {
    joined(r, tensors, 0, |t| at_least(t, 2))
}

/// `r` = the tensors joined along dimension 2
pub fn dstack(r: &Tensor, tensors: &[&Tensor]) -> Result<()> {
    joined(r, tensors, 2, |t| at_least(t, 3))
}

/// The size of dimension `dim` of `t`. Fails if `t` is a scalar.
fn length(t: &Tensor, dim: i32) -> Result<i64> {
    t.defined()?;
    let layout = t.layout()?;
    let d = wrap_dim(dim, layout.ndim())?;
    if layout.ndim() == 0 { bail!(Shape, "a 0-d tensor has no entries") } else { Ok(layout.shape[d]) }
}

/// Checks the sizes. Returns the number of pieces that [`split_sizes`] makes.
pub fn check_sizes(t: &Tensor, sizes: &[i64], dim: i32) -> Result<i64> {
    let n = length(t, dim)?;
    if let Some(k) = sizes.iter().position(|&size| size < 0) {
        bail!(Argument, "size {} of piece {k} is negative", sizes[k])
    }
    let total = sizes.iter().try_fold(0i64, |sum, &size| sum.checked_add(size));
    if total != Some(n) {
        bail!(Shape, "sizes {sizes:?} do not add up to {n}, the size of dimension {dim}")
    }
    Ok(sizes.len() as i64)
}

/// Pieces of `t` with these sizes along `dim`. The sizes must add up to the size of `dim`.
pub fn split_sizes(t: &Tensor, sizes: &[i64], dim: i32) -> Result<Vec<Tensor>> {
    check_sizes(t, sizes, dim)?;
    let mut start = 0;
    alloc::list(sizes.len(), |k| {
        let piece = view::derive(t, |l| l.narrow(dim, start, sizes[k]));
        start += sizes[k];
        piece
    })
}

/// Checks the number. Returns the number of pieces that [`tensor_split`] makes.
pub fn sections(t: &Tensor, sections: i64, dim: i32) -> Result<i64> {
    length(t, dim)?;
    if sections < 1 { bail!(Argument, "{sections} sections: at least 1 is needed") } else { Ok(sections) }
}

/// `sections` pieces along `dim`. If the size is not divisible, the first pieces are longer by one.
pub fn tensor_split(t: &Tensor, sections: i64, dim: i32) -> Result<Vec<Tensor>> {
    let n = length(t, dim)?;
    let (each, longer) = (n / sections, n % sections);
    alloc::list(sections as usize, |k| {
        let k = k as i64;
        let start = k * each + k.min(longer);
        view::derive(t, |l| l.narrow(dim, start, each + i64::from(k < longer)))
    })
}

/// Returns the number of pieces that [`tensor_split_indices`] makes.
pub fn check_indices(t: &Tensor, ends: &[i64], dim: i32) -> Result<i64> {
    length(t, dim).map(|_| ends.len() as i64 + 1)
}

/// Pieces along `dim`: one ends before each of `ends`, the last one at the end. Bounds work as in Python's slices.
pub fn tensor_split_indices(t: &Tensor, ends: &[i64], dim: i32) -> Result<Vec<Tensor>> {
    let n = length(t, dim)?;
    alloc::list(ends.len() + 1, |k| {
        let start = if k == 0 { 0 } else { ends[k - 1] };
        let end = if k == ends.len() { n } else { ends[k] };
        view::derive(t, |l| l.slice(dim, start, end, 1))
    })
}
