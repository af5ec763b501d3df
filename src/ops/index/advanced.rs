//! Indexing by a list of tensors, one for each dimension, as in NumPy's advanced indexing: `t[rows, columns]`.

use super::scatter::{added, put_walk};
use super::{by_offsets, changed, fast_path, masked, moved, row_major, written};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Move, place};
use crate::layout::{Dims, INLINE_DIMS, Layout, broadcast_shape, checked_numel};
use crate::operand::Operand;
use crate::ops::{copy, device, view};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The elements of a tensor that a list of index tensors selects.
struct Selection {
    /// The shape to which all index tensors broadcast.
    common: Dims,
    /// The offset of the selected element for each position of the common shape, in elements: a vector.
    offsets: Operand,
    /// True for each dimension of the tensor that is indexed.
    indexed: SmallVec<[bool; INLINE_DIMS]>,
    /// The dimension of the result at which the common dimensions begin.
    at: usize,
}

/// The int64 positions for each dimension; `None` for a dimension that stays whole.
type Lists = SmallVec<[Option<Operand>; 3]>;

/// Index tensors for each dimension. A mask of several dimensions becomes one list of positions for each of its dimensions.
fn by_dimension(shape: &[i64], indices: &[Option<&Tensor>]) -> Result<Lists> {
    let mut found = Lists::new();
    let mut d = 0;
    if indices.len() > shape.len() {
        bail!(Shape, "{} indices for a tensor of {} dimensions", indices.len(), shape.len())
    }
    for (k, index) in indices.iter().enumerate() {
        let Some(index) = index else {
            found.push(None);
            d += 1;
            continue;
        };
        match index.defined()? {
            Dtype::Bool | Dtype::Uint8 => {
                let mask = index.layout()?;
                if mask.ndim() == 0 {
                    bail!(Shape, "index {k} is a 0-d mask")
                }
                if shape.get(d..d + mask.ndim()).is_none_or(|have| have != mask.shape.as_slice()) {
                    let (mask, from) = (mask.shape.as_slice(), shape.get(d..).unwrap_or_default());
                    bail!(Shape, "mask {k} of shape {mask:?} does not fit dimensions {d} and up, {from:?}")
                }
                let list = masked::places(index)?;
                for column in 0..mask.ndim() {
                    found.push(Some(Operand::of(&view::derive(&list, |l| l.select(1, column as i64))?)?));
                }
                d += mask.ndim();
            }
            Dtype::Int64 | Dtype::Int32 => {
                found.push(Some(Operand::of(&copy::to_dtype(index, Dtype::Int64)?)?));
                d += 1;
            }
            other => bail!(Dtype, "index {k} is {other}, expected int64, int32, bool or uint8"),
        }
    }
    if d > shape.len() {
        bail!(Shape, "{d} indices for a tensor of {} dimensions", shape.len())
    }
    while found.len() < shape.len() {
        found.push(None);
    }
    Ok(found)
}

impl Selection {
    fn of(layout: &Layout, indices: &[Option<&Tensor>]) -> Result<Selection> {
        let lists = by_dimension(&layout.shape, indices)?;
        let mut common: Option<Dims> = None;
        for list in lists.iter().flatten() {
            let shape = &list.layout().shape;
            common = Some(match common {
                None => shape.clone(),
                Some(common) if common == *shape => common,
                Some(common) => broadcast_shape(&common, shape)?,
            });
        }
        let Some(common) = common else { bail!(Argument, "no index tensor is given") };
        let indexed: SmallVec<[bool; INLINE_DIMS]> = lists.iter().map(Option::is_some).collect();
        let offsets = device::written(&[checked_numel(&common)?], |offsets: &mut [i64]| {
            offsets.fill(0);
            for (d, list) in lists.into_iter().enumerate() {
                let Some(mut list) = list else { continue };
                if list.layout().shape != common {
                    list.set_layout(list.layout().broadcast_to(&common)?);
                }
                let (positions, size) = (row_major(list)?, layout.shape[d]);
                for (i, (offset, &position)) in offsets.iter_mut().zip(device::read::<i64>(&positions)?.iter()).enumerate() {
                    if position < -size || position >= size {
                        let at = place(i, &common);
                        bail!(Argument, "index {position} at position {at} is out of range for dimension {d} of size {size}")
                    }
                    *offset += (if position < 0 { position + size } else { position }) * layout.strides[d];
                }
            }
            Ok(())
        })?;
        let offsets = Operand::of(&offsets)?;
        // The dimensions of adjacent index tensors stay where they are. Otherwise they come first.
        let first = indexed.iter().position(|&is| is).unwrap_or(0);
        let adjacent = indexed[first..].iter().skip_while(|&&is| is).all(|&is| !is);
        Ok(Selection { common, offsets, indexed, at: if adjacent { first } else { 0 } })
    }

    /// The shape of the result, and over it the strides of the offsets and the strides of the tensor.
    fn walk(&self, layout: &Layout) -> [Dims; 3] {
        let (mut shape, mut of_offsets, mut of_t) = (Dims::new(), Dims::new(), Dims::new());
        let common = Layout::contiguous(&self.common);
        let mut rest = (0..layout.ndim()).filter(|&d| !self.indexed[d]);
        for _ in 0..self.at {
            push(&mut rest, layout, [&mut shape, &mut of_offsets, &mut of_t]);
        }
        for d in 0..common.ndim() {
            shape.push(common.shape[d]);
            of_offsets.push(common.strides[d]);
            of_t.push(0);
        }
        while push(&mut rest, layout, [&mut shape, &mut of_offsets, &mut of_t]) {}
        [shape, of_offsets, of_t]
    }
}

/// Adds the next dimension that is not indexed.
fn push(rest: &mut impl Iterator<Item = usize>, layout: &Layout, [shape, of_offsets, of_t]: [&mut Dims; 3]) -> bool {
    let Some(d) = rest.next() else { return false };
    shape.push(layout.shape[d]);
    of_offsets.push(0);
    of_t.push(layout.strides[d]);
    true
}

/// `r = t[indices]`
pub fn index(r: &Tensor, t: &Tensor, indices: &[Option<&Tensor>]) -> Result<()> {
    if fast_path::take(r, t, indices, false)? {
        return Ok(());
    }
    let from = Operand::of(t)?;
    let selection = Selection::of(from.layout(), indices)?;
    let [shape, of_offsets, of_t] = selection.walk(from.layout());
    let over = |strides: Dims, offset: i64| Layout { shape: shape.clone(), strides, offset };
    let ready = moved(r, &shape, std::slice::from_ref(&from))?;
    let list = selection.offsets.view(over(of_offsets, 0));
    ready.launch(&by_offsets(Move::Gather), &[&list, &from.view(over(of_t, from.layout().offset))])
}

/// `t[indices] = values`, or `+=`
pub fn index_put(t: &Tensor, indices: &[Option<&Tensor>], values: &Tensor, accumulate: bool) -> Result<()> {
    if fast_path::put_all(added(accumulate), t, indices, false, values)? {
        return Ok(());
    }
    let to = changed(t)?;
    let wide = if accumulate && to.dtype.compute() != to.dtype { Some(copy::to_dtype(t, to.dtype.compute())?) } else { None };
    let to = if let Some(wide) = &wide { Operand::of(wide)? } else { to };
    let selection = Selection::of(to.layout(), indices)?;
    let [shape, of_offsets, of_t] = selection.walk(to.layout());
    let of_values = values.layout()?.shape;
    if broadcast_shape(&shape, &of_values)? != shape {
        bail!(Shape, "values of shape {:?} do not broadcast to {:?}", of_values.as_slice(), shape.as_slice())
    }
    // Row-major values: if several are written to one element, the last one wins.
    let values = row_major(written(&to, values)?)?;
    let over = |strides: Dims| Layout { shape: shape.clone(), strides, offset: 0 };
    let of_values = values.layout().broadcast_to(&shape)?;
    put_walk(&to, accumulate, &values, &selection.offsets, [of_values, over(of_offsets), over(of_t)])?;
    wide.map_or(Ok(()), |wide| copy::copy(t, &wide))
}
