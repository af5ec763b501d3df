//! Elements written by index. If several are written to one position, the last one in row-major order wins, or all are combined in this
//! order.

use super::fast_path::{self, Indexed};
use super::select::offsets;
use super::{
    CheckedIndex, Range, apart, by_offsets, changed, listed, moving, over, row_major, spread_along, vector_at_least, vector_shape,
    with_zero_stride, written,
};
use crate::backend::launch;
use crate::error::{Result, bail};
use crate::launch::{Combine, Index, Move};
use crate::layout::{Dims, Layout, wrap_dim};
use crate::operand::Operand;
use crate::ops::{copy, pointwise, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The operation that combines several elements for one position.
pub type THReduce = i32;
/// The sum; for Bool, *or*.
pub const TH_REDUCE_ADD: THReduce = 0;
/// The product; for Bool, *and*.
pub const TH_REDUCE_MULTIPLY: THReduce = 1;
/// The greatest element; NaN if any element is NaN.
pub const TH_REDUCE_AMAX: THReduce = 2;
/// The least element; NaN if any element is NaN.
pub const TH_REDUCE_AMIN: THReduce = 3;

/// The movement that combines elements with those at their positions.
fn combined(reduce: THReduce) -> Result<Move> {
    Ok(Move::Accumulate(match reduce {
        TH_REDUCE_ADD => Combine::Add,
        TH_REDUCE_MULTIPLY => Combine::Multiply,
        TH_REDUCE_AMAX => Combine::Max,
        TH_REDUCE_AMIN => Combine::Min,
        _ => bail!(Argument, "{reduce} is no THReduce"),
    }))
}

/// The movement that adds elements to those at their positions, or replaces them.
pub(super) fn added(accumulate: bool) -> Move {
    if accumulate { Move::Accumulate(Combine::Add) } else { Move::Scatter }
}

/// Runs `body` on the operand of `t`. If 16-bit floats are accumulated, runs `body` on a float32 copy and converts the result back into
/// `t`. `body` gets scalars as vectors.
fn in_compute_type(t: &Tensor, to: &Operand, put: Move, body: impl FnOnce(&Operand) -> Result<()>) -> Result<()> {
    match put {
        Move::Accumulate(_) if to.dtype.compute() != to.dtype => {
            let wide = copy::to_dtype(t, to.dtype.compute())?;
            body(&vector_at_least(Operand::of(&wide)?))?;
            copy::copy(t, &wide)
        }
        _ => body(to),
    }
}

/// Writes entries of `src` to entries `index` of dimension `dim`. `src` may have stride 0.
fn put_along(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor, put: Move, range: Range) -> Result<()> {
    if fast_path::put(put, src, Indexed { t, dim, index, range, whole: true })? {
        return Ok(());
    }
    let to = vector_at_least(changed(t)?);
    let mut shape = to.layout().shape.clone();
    let d = wrap_dim(dim, shape.len())?;
    if index.ndim() > 1 {
        bail!(Shape, "the index is a vector, got shape {:?}", index.layout()?.shape.as_slice())
    }
    let positions = CheckedIndex::new(apart(&to, index)?, shape[d], range)?;
    shape[d] = positions.len();
    let of_src = vector_shape(&src.layout()?.shape);
    if of_src != shape {
        bail!(Shape, "elements of sizes {:?}, expected {:?}", of_src.as_slice(), shape.as_slice())
    }
    in_compute_type(t, &to, put, |to| {
        let (work, from) = (moving(put, to.layout(), d, positions.range), written(to, src)?);
        let (to, from) = (to.view(with_zero_stride(to.layout(), d, &shape)), from.view(over(from.layout(), &shape)));
        launch(&work, &to, &[&from, &spread_along(&positions.all, d, &shape)])
    })
}

/// Entries `index` of dimension `dim` of `t` = the entries of `src`
pub fn index_copy(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor) -> Result<()> {
    put_along(t, dim, index, src, Move::Scatter, Range::FromStart)
}

/// Entries `index` of dimension `dim` of `t` += `scale` times the entries of `src`
pub fn index_add(t: &Tensor, dim: i32, index: &Tensor, scale: Scalar, src: &Tensor) -> Result<()> {
    if scale == Scalar::Int(1) {
        return put_along(t, dim, index, src, Move::Accumulate(Combine::Add), Range::FromStart);
    }
    let scaled = Tensor::fresh()?;
    // Products of 16-bit floats are not rounded before the sum.
    pointwise::arithmetic::mul.run([&scaled, &copy::to_dtype(src, src.defined()?.compute())?], &[scale])?;
    put_along(t, dim, index, &scaled, Move::Accumulate(Combine::Add), Range::FromStart)
}

/// `value` in the dtype of `t` and expanded to `shape`, in the memory of one element.
fn repeated(t: &Tensor, value: Scalar, shape: &[i64]) -> Result<Tensor> {
    let dtype = t.defined()?;
    copy::check_range(dtype, value)?;
    let one = Tensor::empty(dtype, &[])?;
    copy::fill(&one, value)?;
    view::of(&one, &Layout { shape: shape.into(), strides: Dims::filled(0, shape.len()), offset: 0 })
}

/// Entries `index` of dimension `dim` of `t` combined with the entries of `src`
pub(super) fn index_reduce(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor, reduce: THReduce) -> Result<()> {
    put_along(t, dim, index, src, combined(reduce)?, Range::FromStart)
}

/// Entries `index` of dimension `dim` of `t` = `value`
pub fn index_fill(t: &Tensor, dim: i32, index: &Tensor, value: Scalar) -> Result<()> {
    t.defined()?;
    let mut shape = vector_shape(&t.layout()?.shape);
    let d = wrap_dim(dim, shape.len())?;
    shape[d] = index.layout()?.numel();
    put_along(t, dim, index, &repeated(t, value, &shape)?, Move::Scatter, Range::FromBothEnds)
}

/// Writes `src[..i..]` to `t[..index[..i..]..]` for each position of `index`.
fn put_at(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor, put: Move) -> Result<()> {
    if fast_path::put(put, src, Indexed { t, dim, index, range: Range::FromStart, whole: false })? {
        return Ok(());
    }
    let to = vector_at_least(changed(t)?);
    let have = to.layout().shape.as_slice();
    let d = wrap_dim(dim, have.len())?;
    let of_index = apart(&to, index)?;
    let (shape, of_src) = (vector_shape(&of_index.layout().shape), vector_shape(&src.layout()?.shape));
    if shape.len() != have.len() || of_src.len() != have.len() {
        bail!(Shape, "an index of {} dimensions and elements of {} for a tensor of {}", shape.len(), of_src.len(), have.len())
    }
    for k in 0..have.len() {
        if (k != d && shape[k] > have[k]) || shape[k] > of_src[k] {
            let [index, have, from] = [shape[k], have[k], of_src[k]];
            bail!(Shape, "the index has size {index} in dimension {k}, the tensor {have}, the elements {from}")
        }
    }
    let positions = CheckedIndex::new(of_index, have[d], Range::FromStart)?;
    in_compute_type(t, &to, put, |to| {
        let (work, from) = (moving(put, to.layout(), d, positions.range), written(to, src)?);
        let (to, from) = (to.view(with_zero_stride(to.layout(), d, &shape)), from.view(over(from.layout(), &shape)));
        launch(&work, &to, &[&from, &positions.all.view(over(positions.all.layout(), &shape))])
    })
}

/// `t[..index[..i..]..] = src[..i..]`
pub fn scatter(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor) -> Result<()> {
    put_at(t, dim, index, src, Move::Scatter)
}

/// `t[..index[..i..]..]` combined with `src[..i..]`
pub fn scatter_reduce(t: &Tensor, dim: i32, index: &Tensor, src: &Tensor, reduce: THReduce) -> Result<()> {
    put_at(t, dim, index, src, combined(reduce)?)
}

/// `t[..index[..i..]..] = value`
pub fn scatter_fill(t: &Tensor, dim: i32, index: &Tensor, value: Scalar) -> Result<()> {
    put_at(t, dim, index, &repeated(t, value, &index.layout()?.shape)?, Move::Scatter)
}

/// `t[..index[..i..]..]` combined with `value`
pub fn scatter_fill_reduce(t: &Tensor, dim: i32, index: &Tensor, value: Scalar, reduce: THReduce) -> Result<()> {
    put_at(t, dim, index, &repeated(t, value, &index.layout()?.shape)?, combined(reduce)?)
}

/// Elements `index` of `t` in row-major order = the elements of `src`; with `accumulate`, `+=`
pub fn put(t: &Tensor, index: &Tensor, src: &Tensor, accumulate: bool) -> Result<()> {
    if fast_path::put_all(added(accumulate), t, &[Some(index)], true, src)? {
        return Ok(());
    }
    let to = vector_at_least(changed(t)?);
    let positions = CheckedIndex::new(apart(&to, index)?, to.layout().numel(), Range::FromBothEnds)?;
    let have = src.layout()?.numel();
    if have != positions.len() {
        bail!(Shape, "{have} elements for {} positions", positions.len())
    }
    let put = added(accumulate);
    in_compute_type(t, &to, put, |to| {
        let from = row_major(written(to, src)?)?;
        // Of a contiguous tensor positions are offsets.
        let list = if to.layout().is_contiguous() { None } else { Some(listed(&offsets(&positions, to.layout())?)?) };
        let (list, range) = match &list {
            None => (&positions.all, Some(positions.range)),
            Some(list) => (list, None),
        };
        let row = |operand: &Operand| Layout { offset: operand.layout().offset, ..Layout::contiguous(&positions.all.layout().shape) };
        let still = Layout { strides: Dims::filled(0, positions.all.layout().ndim()), ..row(to) };
        let work = Index { movement: put, step: 1, range };
        launch(&work, &to.view(still), &[&from.view(row(&from)), &list.view(row(list))])
    })
}

/// Writes `values` to elements of `t` at `offsets` plus the offsets of the remaining dimensions, for [`super::advanced`]. `layouts` has
/// the layouts of the values, the offsets and `t`, broadcast to one shape. `values` is row-major before it is broadcast.
pub(super) fn put_walk(to: &Operand, accumulate: bool, values: &Operand, offsets: &Operand, layouts: [Layout; 3]) -> Result<()> {
    let [of_values, of_offsets, of_t] = layouts;
    let [of_values, of_t] =
        [(of_values, values.layout().offset), (of_t, to.layout().offset)].map(|(layout, offset)| Layout { offset, ..layout });
    launch(&by_offsets(added(accumulate)), &to.view(of_t), &[&values.view(of_values), &offsets.view(of_offsets)])
}
