//! Access to elements by index. All positions are checked before anything is written, and elements are moved without conversion.

pub mod advanced;
pub mod bags;
pub mod masked;
pub mod scatter;
pub mod select;

use super::copy;
use super::create::disjoint;
use super::device::{self, Elements};
use super::result::{Inputs, Ready, Writes, ready};
use crate::backend::first_outside;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Index, Move, out_of_range};
use crate::layout::{Dims, Layout, wrap_dim};
use crate::operand::{Operand, View};
use crate::tensor::Tensor;

/// The positions that are valid for a dimension.
#[derive(Clone, Copy)]
enum Range {
    /// Positions from 0 on.
    FromStart,
    /// Negative positions as well, which count from the end.
    FromBothEnds,
}

/// Positions in row-major order. Those on the host have been checked. A GPU checks them together with the work, so that it need not wait
/// for the host in between.
struct CheckedIndex {
    all: Operand,
    range: [i64; 2],
}

impl CheckedIndex {
    /// Checks the positions in `index` against a dimension of `size` entries.
    fn of(index: &Tensor, size: i64, range: Range) -> Result<CheckedIndex> {
        let dtype = index.defined()?;
        if !matches!(dtype, Dtype::Int64 | Dtype::Int32) {
            bail!(Dtype, "positions are int64 or int32, got {dtype}")
        }
        Operand::of(index)?;
        let mut index = copy::to_dtype(index, Dtype::Int64)?;
        if !index.layout()?.is_contiguous() {
            index = copy::contiguous_copy(&index)?;
        }
        let least = match range {
            Range::FromStart => 0,
            Range::FromBothEnds => -size,
        };
        let positions = CheckedIndex { all: Operand::of(&index)?, range: [least, size] };
        if positions.all.device == Device::Cpu {
            positions.list()?;
        }
        Ok(positions)
    }

    fn len(&self) -> i64 {
        self.all.layout().numel()
    }

    /// The positions themselves, each of them checked.
    fn list(&self) -> Result<Elements<'_, i64>> {
        let (list, [least, size]) = (device::read(&self.all)?, self.range);
        match first_outside(&list, least, size) {
            Some(at) => Err(out_of_range(list[at], at, &self.all.layout().shape, size)),
            None => Ok(list),
        }
    }
}

/// The layout of `t` and the wrapped dimension `dim`. A scalar becomes a vector of one element.
fn along(t: &Tensor, dim: i32) -> Result<(Layout, usize)> {
    t.defined()?;
    let layout = vector_at_least(t.layout()?);
    let d = wrap_dim(dim, layout.ndim())?;
    Ok((layout, d))
}

/// The layout. A scalar becomes a vector of one element.
fn vector_at_least(mut layout: Layout) -> Layout {
    if layout.ndim() == 0 {
        (layout.shape, layout.strides) = (Dims::filled(1, 1), Dims::filled(1, 1));
    }
    layout
}

/// The layout over `shape` with stride 0 along `dim`: the kernel adds the offset of each position.
fn with_zero_stride(layout: &Layout, dim: usize, shape: &[i64]) -> Layout {
    let mut strides = layout.strides.clone();
    strides[dim] = 0;
    Layout { shape: shape.into(), strides, offset: layout.offset }
}

/// A vector of positions that runs along `dim` of `shape` and is broadcast over the other dimensions.
fn spread_along<'a>(positions: &'a Operand, dim: usize, shape: &[i64]) -> View<'a> {
    let mut strides = Dims::filled(0, shape.len());
    strides[dim] = 1;
    positions.view(Layout { shape: shape.into(), strides, offset: positions.layout().offset })
}

/// The movement of elements by positions along dimension `dim` of an operand.
fn moving(movement: Move, layout: &Layout, dim: usize, range: [i64; 2]) -> Index {
    Index { movement, step: layout.strides[dim], range: Some(range) }
}

/// Work that moves elements by offsets in elements.
fn by_offsets(movement: Move) -> Index {
    Index { movement, step: 1, range: None }
}

/// An int64 vector with these offsets.
fn listed(offsets: &[i64]) -> Result<Operand> {
    let copied = |list: &mut [i64]| {
        list.copy_from_slice(offsets);
        Ok(())
    };
    Operand::of(&device::written(&[offsets.len() as i64], copied)?)
}

/// Prepares `r` of this shape for elements of `inputs[0]`, which are moved without conversion.
fn moved<'a>(r: &'a Tensor, shape: &[i64], inputs: &[Operand]) -> Result<Ready<'a, 1>> {
    let dtype = inputs[0].dtype;
    ready(r, (dtype, shape), Writes::STRIDED.of(dtype), Inputs::anywhere(inputs))
}

/// The operand of a tensor that is changed in place. Fails if two of its positions share an element.
fn changed(t: &Tensor) -> Result<Operand> {
    let to = Operand::of(t)?;
    if to.layout().overlaps_itself() {
        bail!(Shape, "several positions of the tensor share one element (strides {:?}); clone it first", to.layout().strides.as_slice())
    }
    Ok(to)
}

/// Returns `src` converted to the dtype of `t`, in memory that does not overlap `t`.
fn written(t: &Tensor, src: &Tensor) -> Result<Tensor> {
    let (have, dtype) = (src.defined()?, t.defined()?);
    if !have.can_cast(dtype) {
        bail!(Dtype, "elements of {have} cannot be stored in a tensor of {dtype}")
    }
    copy::to_dtype(&disjoint(t, src)?, dtype)
}

/// Checked positions of elements in row-major order. Negative positions count from the end.
pub(super) fn flat_positions(index: &Tensor, numel: i64) -> Result<Vec<i64>> {
    let positions = CheckedIndex::of(index, numel, Range::FromBothEnds)?;
    let list = positions.list()?;
    crate::alloc::list(list.len(), |i| Ok(list[i]))
}
