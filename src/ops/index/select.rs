//! Elements read by index: along a dimension, element by element, or from the flattened tensor.

use super::fast_path::{self, Indexed};
use super::{CheckedIndex, Range, by_offsets, listed, moved, moving, over, spread_along, vector_at_least, vector_shape, with_zero_stride};
use crate::alloc;
use crate::error::{Result, bail};
use crate::launch::{Index, Move};
use crate::layout::{Dims, Layout, broadcast_shape, wrap_dim};
use crate::operand::Operand;
use crate::ops::reduce::TH_ALL_DIMS;
use crate::ops::view;
use crate::tensor::Tensor;

/// `r` = entries `index` of dimension `dim`
pub fn index_select(r: &Tensor, t: &Tensor, dim: i32, index: &Tensor) -> Result<()> {
    if fast_path::gather(r, Indexed { t, dim, index, range: Range::FromStart, whole: true })? {
        return Ok(());
    }
    let from = vector_at_least(Operand::of(t)?);
    let mut shape = from.layout().shape.clone();
    let d = wrap_dim(dim, shape.len())?;
    if index.ndim() > 1 {
        bail!(Shape, "the index is a vector, got shape {:?}", index.layout()?.shape.as_slice())
    }
    let positions = CheckedIndex::of(index, shape[d], Range::FromStart)?;
    shape[d] = positions.len();
    let of_result = if t.ndim() == 0 { &shape[..index.ndim().min(1)] } else { &shape[..] };
    let (inputs, range) = ([from, positions.all], positions.range);
    let ready = moved(r, of_result, &inputs)?;
    let [from, positions] = &inputs;
    let (work, source) = (moving(Move::Gather, from.layout(), d, range), from.view(with_zero_stride(from.layout(), d, &shape)));
    ready.launch_in(|layout| over(layout, &shape), &work, &[&spread_along(positions, d, &shape), &source])
}

/// `r[..i..] = t[..index[..i..]..]` along dimension `dim`, for each position of `index`
pub fn gather(r: &Tensor, t: &Tensor, dim: i32, index: &Tensor) -> Result<()> {
    gather_in(r, t, dim, index, Range::FromStart)
}

fn gather_in(r: &Tensor, t: &Tensor, dim: i32, index: &Tensor, range: Range) -> Result<()> {
    if fast_path::gather(r, Indexed { t, dim, index, range, whole: false })? {
        return Ok(());
    }
    let from = vector_at_least(Operand::of(t)?);
    let have = from.layout().shape.as_slice();
    let d = wrap_dim(dim, have.len())?;
    let of_index = Operand::of(index)?;
    let shape = vector_shape(&of_index.layout().shape);
    if shape.len() != have.len() {
        bail!(Shape, "an index of {} dimensions for a tensor of {}", shape.len(), have.len())
    }
    if let Some(k) = (0..have.len()).find(|&k| k != d && shape[k] > have[k]) {
        bail!(Shape, "the index has size {} in dimension {k}, the tensor {}", shape[k], have[k])
    }
    let positions = CheckedIndex::new(of_index, have[d], range)?;
    let (inputs, range) = ([from, positions.all], positions.range);
    let ready = moved(r, &inputs[1].layout().shape, &inputs)?;
    let [from, positions] = &inputs;
    let (work, source) = (moving(Move::Gather, from.layout(), d, range), from.view(with_zero_stride(from.layout(), d, &shape)));
    let places = positions.view(over(positions.layout(), &shape));
    ready.launch_in(|layout| over(layout, &shape), &work, &[&places, &source])
}

/// [`gather`] of operands that broadcast in all dimensions except `dim`. With `TH_ALL_DIMS` both are flattened.
pub fn take_along_dim(r: &Tensor, t: &Tensor, index: &Tensor, dim: i32) -> Result<()> {
    if dim == TH_ALL_DIMS {
        let row = |t: &Tensor| view::reshape(t, &[-1]);
        return gather_in(r, &row(t)?, 0, &row(index)?, Range::FromBothEnds);
    }
    t.defined()?;
    let (layout, mut of_index) = (t.layout()?, index.layout()?);
    let d = wrap_dim(dim, layout.ndim())?;
    if of_index.ndim() != layout.ndim() || t.ndim() == 0 {
        bail!(Shape, "an index of {} dimensions for a tensor of {}", of_index.ndim(), t.ndim())
    }
    let (mut shape, count) = (layout.shape.clone(), of_index.shape[d]);
    (shape[d], of_index.shape[d]) = (1, 1);
    let mut shape = broadcast_shape(&shape, &of_index.shape)?;
    shape[d] = count;
    let index = view::derive(index, |l| l.expand(&shape))?;
    shape[d] = layout.shape[d];
    gather_in(r, &view::derive(t, |l| l.expand(&shape))?, dim, &index, Range::FromBothEnds)
}

/// The offsets in `layout`, in elements, of positions in row-major order.
pub(super) fn offsets(positions: &CheckedIndex, layout: &Layout) -> Result<Vec<i64>> {
    let numel = layout.numel();
    let list = positions.list()?;
    alloc::list(list.len(), |i| {
        let position = list[i];
        let (mut rest, mut offset) = (if position < 0 { position + numel } else { position }, 0);
        for d in (0..layout.ndim()).rev() {
            offset += rest % layout.shape[d] * layout.strides[d];
            rest /= layout.shape[d];
        }
        Ok(offset)
    })
}

/// `r` = the elements of `t` at row-major positions `index`, in the shape of `index`
pub fn take(r: &Tensor, t: &Tensor, index: &Tensor) -> Result<()> {
    if fast_path::take(r, t, &[Some(index)], true)? {
        return Ok(());
    }
    let layout = t.layout()?;
    let positions = CheckedIndex::of(index, layout.numel(), Range::FromBothEnds)?;
    let from = Operand::of(t)?;
    let offsets = if from.layout().is_contiguous() { None } else { Some(offsets(&positions, from.layout())?) };
    let (inputs, range) = ([from, positions.all], positions.range);
    let shape = &inputs[1].layout().shape;
    let ready = moved(r, shape, &inputs)?;
    let [from, positions] = &inputs;
    let still = from.view(Layout { shape: shape.clone(), strides: Dims::filled(0, shape.len()), offset: from.layout().offset });
    match &offsets {
        Some(offsets) => {
            let list = listed(offsets)?;
            let list = list.view(Layout::contiguous(shape));
            ready.launch(&by_offsets(Move::Gather), &[&list, &still])
        }
        None => {
            let work = Index { movement: Move::Gather, step: 1, range: Some(range) };
            ready.launch(&work, &[positions, &still])
        }
    }
}
