//! Access to elements by index. All positions are checked before anything is written, and elements are moved without conversion.

pub mod advanced;
pub mod bags;
mod fast_path;
pub mod masked;
pub mod scatter;
pub mod select;

use super::copy;
use super::device::{self, Elements};
use super::result::{Inputs, Ready, Writes, ready};
use crate::backend::first_outside;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Index, Move, out_of_range};
use crate::layout::{Dims, Layout};
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
        CheckedIndex::new(Operand::of(index)?, size, range)
    }

    /// [`CheckedIndex::of`] for the operand of an index.
    fn new(mut all: Operand, size: i64, range: Range) -> Result<CheckedIndex> {
        match all.dtype {
            Dtype::Int64 => {}
            Dtype::Int32 => all = Operand::of(&copy::to_dtype(&all.tensor()?, Dtype::Int64)?)?,
            other => bail!(Dtype, "positions are int64 or int32, got {other}"),
        }
        let all = row_major(all)?;
        let least = match range {
            Range::FromStart => 0,
            Range::FromBothEnds => -size,
        };
        let positions = CheckedIndex { all, range: [least, size] };
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

/// The operand. A scalar becomes a vector of one element.
#[inline(always)]
fn vector_at_least(mut operand: Operand) -> Operand {
    if operand.layout().ndim() == 0 {
        operand.set_layout(over(operand.layout(), &Dims::filled(1, 1)));
    }
    operand
}

/// The shape. A scalar becomes a vector of one element.
fn vector_shape(shape: &Dims) -> Dims {
    if shape.is_empty() { Dims::filled(1, 1) } else { shape.clone() }
}

/// The layout over `shape`, which has as many dimensions. A scalar has the stride of a vector.
fn over(layout: &Layout, shape: &Dims) -> Layout {
    let strides = if layout.ndim() == 0 { Dims::filled(1, 1) } else { layout.strides.clone() };
    Layout { shape: shape.clone(), strides, offset: layout.offset }
}

/// The layout over `shape` with stride 0 along `dim`: the kernel adds the offset of each position.
fn with_zero_stride(layout: &Layout, dim: usize, shape: &Dims) -> Layout {
    let mut layout = over(layout, shape);
    layout.strides[dim] = 0;
    layout
}

/// A vector of positions that runs along `dim` of `shape` and is broadcast over the other dimensions.
fn spread_along<'a>(positions: &'a Operand, dim: usize, shape: &Dims) -> View<'a> {
    let mut strides = Dims::filled(0, shape.len());
    strides[dim] = 1;
    positions.view(Layout { shape: shape.clone(), strides, offset: positions.layout().offset })
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

/// The operand if it is row-major, else a row-major copy.
fn row_major(operand: Operand) -> Result<Operand> {
    if operand.layout().is_contiguous() { Ok(operand) } else { Operand::of(&copy::contiguous_copy(&operand.tensor()?)?) }
}

/// The operand of `t`, or of a copy if writing to `to` could change the elements.
fn apart(to: &Operand, t: &Tensor) -> Result<Operand> {
    let operand = Operand::of(t)?;
    if to.storage.as_ref().is_some_and(|own| operand.lies_in(own)) { Operand::of(&copy::contiguous_copy(t)?) } else { Ok(operand) }
}

/// The operand of `src` converted to the dtype of `to`, in memory that does not overlap `to`.
fn written(to: &Operand, src: &Tensor) -> Result<Operand> {
    let have = src.defined()?;
    if !have.can_cast(to.dtype) {
        bail!(Dtype, "elements of {have} cannot be stored in a tensor of {}", to.dtype)
    }
    if have == to.dtype { apart(to, src) } else { Operand::of(&copy::to_dtype(src, to.dtype)?) }
}

/// Checked positions of elements in row-major order. Negative positions count from the end.
pub(super) fn flat_positions(index: &Tensor, numel: i64) -> Result<Vec<i64>> {
    let positions = CheckedIndex::of(index, numel, Range::FromBothEnds)?;
    let list = positions.list()?;
    crate::alloc::list(list.len(), |i| Ok(list[i]))
}
