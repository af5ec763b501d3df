//! Elements put by index. Of several for one place the last in row-major order stays, or all are combined in that order.

use super::select::offsets;
use super::{Positions, Range, along, changed, disjoint, entries, plan, spread_along, still_along, vector_at_least, written};
use crate::cpu::fold::Ordered;
use crate::cpu::index::{Entries, accumulate, scatter as scatter_elements};
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::layout::{Dims, Layout};
use crate::ops::operand::Operand;
use crate::ops::{copy, pointwise, view};
use crate::plan::Plan;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// How elements for one place are combined.
pub type THReduce = i32;
/// Their sum; of Bool, *or*.
pub const TH_REDUCE_ADD: THReduce = 0;
/// Their product; of Bool, *and*.
pub const TH_REDUCE_MULTIPLY: THReduce = 1;
/// The greatest; NaN if one is.
pub const TH_REDUCE_AMAX: THReduce = 2;
/// The least; NaN if one is.
pub const TH_REDUCE_AMIN: THReduce = 3;

/// The ways to put an element in the place of another one.
#[derive(Clone, Copy)]
enum Put {
    Replace,
    Combine(THReduce),
}

impl Put {
    fn combine(reduce: THReduce) -> Result<Put> {
        match reduce {
            TH_REDUCE_ADD..=TH_REDUCE_AMIN => Ok(Put::Combine(reduce)),
            _ => bail!(Argument, "{reduce} is no THReduce"),
        }
    }
}

/// Puts elements into a tensor of their dtype: `data` are those of the elements, the positions and the tensor.
///
/// # Safety
/// Positions lie inside the tensor, which lies apart from the others.
unsafe fn put_elements(put: Put, dtype: Dtype, plan: &Plan<3>, data: [*mut u8; 3], entries: Entries) -> Result<()> {
    match put {
        // SAFETY: the caller's.
        Put::Replace => unsafe { scatter_elements(plan, dtype.size(), data, entries) },
        // SAFETY: the caller's.
        Put::Combine(reduce) => dispatch!(all, dtype, T => unsafe {
            match reduce {
                TH_REDUCE_ADD => accumulate::<T>(plan, data, entries, Element::add),
                TH_REDUCE_MULTIPLY => accumulate::<T>(plan, data, entries, Element::mul),
                TH_REDUCE_AMAX => accumulate::<T>(plan, data, entries, Ordered::better::<true>),
                _ => accumulate::<T>(plan, data, entries, Ordered::better::<false>),
            }
        }),
    }
    Ok(())
}

/// Runs `body` with `t`, or where 16-bit floats are combined with a copy in float32, which `t` then takes.
fn in_compute_type(t: &Tensor, put: Put, body: impl FnOnce(&Tensor) -> Result<()>) -> Result<()> {
    let dtype = t.defined()?;
    match put {
        Put::Combine(_) if dtype.compute() != dtype => {
            changed(t)?;
            let wide = copy::to_dtype(t, dtype.compute())?;
            body(&wide)?;
            copy::copy(t, &wide)
        }
        _ => body(t),
    }
}

/// Puts the entries of `src` along dimension `dim`; `src` may have stride 0.
fn put_along(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor, put: Put, range: Range) -> Result<()> {
    let (layout, d) = along(t, dim)?;
    if index.ndim() > 1 {
        bail!(Shape, "the index is a vector, got shape {:?}", index.layout()?.shape.as_slice())
    }
    changed(t)?;
    let positions = Positions::of(&disjoint(t, index)?, layout.shape[d], range)?;
    let mut shape = layout.shape;
    shape[d] = positions.len();
    let of_src = vector_at_least(src.layout()?);
    if of_src.shape != shape {
        bail!(Shape, "elements of sizes {:?}, expected {:?}", of_src.shape.as_slice(), shape.as_slice())
    }
    in_compute_type(t, put, |t| {
        let (to, from) = (changed(t)?, Operand::of(&written(t, src)?)?);
        let layout = vector_at_least(to.layout.clone());
        let of_src = Layout { shape: shape.clone(), ..vector_at_least(from.layout.clone()) };
        let walk = plan(&of_src, &spread_along(d, &shape), &still_along(&layout, d, &shape), to.dtype);
        let data = [from.first(), positions.0.first(), to.first()];
        // SAFETY: every position lies inside the dimension, and what is read apart from the tensor.
        unsafe { put_elements(put, to.dtype, &walk, data, entries(&layout, d, to.dtype, range)) }
    })
}

/// Entries `index` of dimension `dim` of `t` = those of `src`
pub fn index_copy(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor) -> Result<()> {
    put_along(t, dim, index, src, Put::Replace, Range::FromStart)
}

/// Entries `index` of dimension `dim` of `t` += `scale` times those of `src`
pub fn index_add(t: &Tensor, dim: i32, index: &Tensor, scale: Scalar, src: &Tensor) -> Result<()> {
    if scale == Scalar::Int(1) {
        return put_along(t, dim, index, src, Put::Combine(TH_REDUCE_ADD), Range::FromStart);
    }
    let scaled = Tensor::fresh()?;
    // Products of 16-bit floats are not rounded before they are summed.
    pointwise::arithmetic::mul.run([&scaled, &copy::to_dtype(src, src.defined()?.compute())?], &[scale])?;
    put_along(t, dim, index, &scaled, Put::Combine(TH_REDUCE_ADD), Range::FromStart)
}

/// `value` as a tensor of the dtype of `t` that has this shape, without the memory for it.
fn repeated(t: &Tensor, value: Scalar, shape: &[i64]) -> Result<Tensor> {
    let dtype = t.defined()?;
    copy::check_range(dtype, value)?;
    let one = Tensor::empty(dtype, &[])?;
    copy::fill(&one, value)?;
    view::of(&one, &Layout { shape: shape.into(), strides: Dims::filled(0, shape.len()), offset: 0 })
}

/// Entries `index` of dimension `dim` of `t` = `value`
pub fn index_fill(t: &Tensor, dim: i32, index: &Tensor, value: Scalar) -> Result<()> {
    let (layout, d) = along(t, dim)?;
    let mut shape = layout.shape;
    shape[d] = index.layout()?.numel();
    put_along(t, dim, index, &repeated(t, value, &shape)?, Put::Replace, Range::FromBothEnds)
}

/// Puts `src[..i..]` at `t[..index[..i..]..]` for each place of `index`.
fn put_at(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor, put: Put) -> Result<()> {
    let (layout, d) = along(t, dim)?;
    let (of_index, of_src) = (vector_at_least(index.layout()?), vector_at_least(src.layout()?));
    if of_index.ndim() != layout.ndim() || of_src.ndim() != layout.ndim() {
        bail!(Shape, "an index of {} dimensions and elements of {} for a tensor of {}", of_index.ndim(), of_src.ndim(), layout.ndim())
    }
    for k in 0..layout.ndim() {
        if (k != d && of_index.shape[k] > layout.shape[k]) || of_index.shape[k] > of_src.shape[k] {
            let [index, have, from] = [of_index.shape[k], layout.shape[k], of_src.shape[k]];
            bail!(Shape, "the index has size {index} in dimension {k}, the tensor {have}, the elements {from}")
        }
    }
    changed(t)?;
    let positions = Positions::of(&disjoint(t, index)?, layout.shape[d], Range::FromStart)?;
    let shape = of_index.shape;
    in_compute_type(t, put, |t| {
        let (to, from) = (changed(t)?, Operand::of(&written(t, src)?)?);
        let layout = vector_at_least(to.layout.clone());
        let of_src = Layout { shape: shape.clone(), ..vector_at_least(from.layout.clone()) };
        let walk = plan(&of_src, &vector_at_least(positions.0.layout.clone()), &still_along(&layout, d, &shape), to.dtype);
        let data = [from.first(), positions.0.first(), to.first()];
        // SAFETY: as above; the index is no larger than the tensor in other dimensions, nor than the elements.
        unsafe { put_elements(put, to.dtype, &walk, data, entries(&layout, d, to.dtype, Range::FromStart)) }
    })
}

/// `t[..index[..i..]..] = src[..i..]`
pub fn scatter(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor) -> Result<()> {
    put_at(t, dim, index, src, Put::Replace)
}

/// `t[..index[..i..]..]` combined with `src[..i..]`
pub fn scatter_reduce(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor, reduce: THReduce) -> Result<()> {
    put_at(t, dim, index, src, Put::combine(reduce)?)
}

/// `t[..index[..i..]..] = value`
pub fn scatter_fill(t: &Tensor, dim: i32, index: &Tensor, value: Scalar) -> Result<()> {
    put_at(t, dim, index, &repeated(t, value, &index.layout()?.shape)?, Put::Replace)
}

/// `t[..index[..i..]..]` combined with `value`
pub fn scatter_fill_reduce(t: &Tensor, dim: i32, index: &Tensor, value: Scalar, reduce: THReduce) -> Result<()> {
    put_at(t, dim, index, &repeated(t, value, &index.layout()?.shape)?, Put::combine(reduce)?)
}

/// Elements of `t`, counted in row-major order, `index` = those of `src`, or += them.
pub fn put(t: &Tensor, index: &Tensor, src: &Tensor, accumulate: bool) -> Result<()> {
    let layout = changed(t)?.layout;
    let positions = Positions::of(&disjoint(t, index)?, layout.numel(), Range::FromBothEnds)?;
    let have = src.layout()?.numel();
    if have != positions.len() {
        bail!(Shape, "{have} elements for {} positions", positions.len())
    }
    let put = if accumulate { Put::Combine(TH_REDUCE_ADD) } else { Put::Replace };
    in_compute_type(t, put, |t| {
        let mut src = written(t, src)?;
        if !src.layout()?.is_contiguous() {
            src = copy::contiguous_copy(&src)?;
        }
        let (to, from) = (changed(t)?, Operand::of(&src)?);
        // Of a contiguous tensor positions are offsets.
        let listed = if to.layout.is_contiguous() { None } else { Some(offsets(&positions, &to.layout)?) };
        let (list, count) = match &listed {
            Some(offsets) => (offsets.as_ptr().cast_mut().cast(), 0),
            None => (positions.0.first(), to.layout.numel()),
        };
        let row = Layout::contiguous(&[positions.len()]);
        let walk = plan(&row, &row, &Layout { strides: Dims::filled(0, 1), ..row.clone() }, to.dtype);
        let entries = Entries { step: to.dtype.size() as isize, count };
        // SAFETY: the offsets are those of elements, and the elements lie apart from the tensor.
        unsafe { put_elements(put, to.dtype, &walk, [from.first(), list, to.first()], entries) }
    })
}

/// Puts `values`, row-major before they were broadcast to the shape of `walked`, at `offsets` along some dimensions of it: [`super::advanced`].
pub(super) fn put_walk(t: &Tensor, accumulate: bool, values: &Tensor, offsets: &[i64], layouts: [&Layout; 3]) -> Result<()> {
    let put = if accumulate { Put::Combine(TH_REDUCE_ADD) } else { Put::Replace };
    let [of_values, of_offsets, of_t] = layouts;
    let (to, from) = (changed(t)?, Operand::of(values)?);
    let walk = plan(of_values, of_offsets, of_t, to.dtype);
    let data = [from.first(), offsets.as_ptr().cast_mut().cast(), to.first()];
    // SAFETY: as above.
    unsafe { put_elements(put, to.dtype, &walk, data, Entries { step: to.dtype.size() as isize, count: 0 }) }
}
