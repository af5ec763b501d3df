//! Elements by index, joining and rearranging.

use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{self, In, Value, names};
use crate::layout::Dims;
use crate::ops::index::scatter::{TH_REDUCE_ADD, TH_REDUCE_AMAX, TH_REDUCE_AMIN, TH_REDUCE_MULTIPLY};
use crate::ops::rearrange::{TH_PAD_CIRCULAR, TH_PAD_CONSTANT, TH_PAD_REFLECT, TH_PAD_REPLICATE};
use crate::program::aten::pointwise::{of_dtype, operand};
use crate::program::call::{Call, copy};
use crate::program::frame::Item;
use crate::program::table::aten;

aten! {
    "cat" "tensors dim=0" => catArray "tensors dim";
    "stack" "tensors dim=0" => stack "tensors dim";
    "hstack" "tensors" => hstack "tensors";
    "vstack" "tensors" => vstack "tensors";
    "dstack" "tensors" => dstack "tensors";
    "column_stack" "tensors" => { columns };
    "cartesian_prod" "tensors" => cartesianProd "tensors";
    "flip" "self dims" => flip "self dims";
    "fliplr" "self" => flip "self 1";
    "flipud" "self" => flip "self 0";
    "roll" "self shifts dims" => roll "self shifts dims";
    "roll" "self shifts dims=[]" => roll "self shifts -";
    "rot90" "self k=1 dims=0,1" => { rotate };
    "repeat" "self repeats" => repeat "self repeats";
    "tile" "self dims" => tile "self dims";
    "repeat_interleave.self_int" "self repeats dim output_size=None" => repeatInterleaveValue "self repeats dim";
    "repeat_interleave.self_int" "self repeats dim==None output_size=None" => repeatInterleaveValue "self repeats -2147483648";
    "repeat_interleave.self_Tensor" "self repeats dim output_size=None" => repeatInterleave "self repeats dim";
    "repeat_interleave.self_Tensor" "self repeats dim==None output_size=None" => repeatInterleave "self repeats -2147483648";
    "repeat_interleave.Tensor" "repeats output_size=None" => { repeated_positions };
    "constant_pad_nd" "self pad value=0" => pad "self pad 0 value";
    "pad" "self pad mode==constant value=0" => pad "self pad 0 value";
    "pad" "self pad mode value=None" => { pad_by_mode };
    "reflection_pad1d" "self padding" => pad "self padding 1 0";
    "reflection_pad2d" "self padding" => pad "self padding 1 0";
    "reflection_pad3d" "self padding" => pad "self padding 1 0";
    "replication_pad1d" "self padding" => pad "self padding 2 0";
    "replication_pad2d" "self padding" => pad "self padding 2 0";
    "replication_pad3d" "self padding" => pad "self padding 2 0";
    "diff" "self n=1 dim=-1 prepend==None append==None" => diff "self n dim";
    "diff" "self n=1 dim=-1 prepend=None append=None" => { differences };
    "meshgrid" "tensors" => { meshgrid };
    "meshgrid.indexing" "tensors indexing" => { meshgrid };

    "embedding" "weight indices padding_idx=-1 scale_grad_by_freq=False sparse=False" => embedding "weight indices padding_idx";
    "index.Tensor" "self indices" => index "self indices";
    "_unsafe_index.Tensor" "self indices" => index "self indices";
    "index_put" "self indices values accumulate=False" => indexPut "self indices values accumulate";
    "_unsafe_index_put" "self indices values accumulate=False" => indexPut "self indices values accumulate";
    "index_select" "self dim index" => indexSelect "self dim index";
    "index_add" "self dim index source alpha==1" => indexAdd "self dim index source";
    "index_add" "self dim index source alpha" => indexAddScale "self dim index alpha source";
    "index_copy" "self dim index source" => indexCopy "self dim index source";
    "index_fill.int_Scalar" "self dim index value" => indexFill "self dim index value";
    "index_fill.int_Tensor" "self dim index value" => { index_fill };
    "index_reduce" "self dim index source reduce include_self=True" => { index_reduce };
    "gather" "self dim index sparse_grad=False" => gather "self dim index";
    "take" "self index" => take "self index";
    "take_along_dim" "self indices dim" => takeAlongDim "self indices dim";
    "take_along_dim" "self indices dim==None" => { take_along_all };
    "put" "self index source accumulate=False" => put "self index source accumulate";
    "scatter.src" "self dim index src" => scatter "self dim index src";
    "scatter.value" "self dim index value" => scatterFill "self dim index value";
    "scatter.reduce" "self dim index src reduce==add" => scatterMode "self dim index src 0";
    "scatter.reduce" "self dim index src reduce==multiply" => scatterMode "self dim index src 1";
    "scatter.value_reduce" "self dim index value reduce==add" => scatterFillMode "self dim index value 0";
    "scatter.value_reduce" "self dim index value reduce==multiply" => scatterFillMode "self dim index value 1";
    "scatter_add" "self dim index src" => scatterAdd "self dim index src";
    "scatter_reduce.two" "self dim index src reduce==sum include_self==True" => scatterMode "self dim index src 0";
    "scatter_reduce.two" "self dim index src reduce==prod include_self==True" => scatterMode "self dim index src 1";
    "scatter_reduce.two" "self dim index src reduce==amax include_self==True" => scatterMode "self dim index src 2";
    "scatter_reduce.two" "self dim index src reduce==amin include_self==True" => scatterMode "self dim index src 3";
    "scatter_reduce.two" "self dim index src reduce include_self=True" => { scatter_reduce };
    "masked_select" "self mask" => maskedSelect "self mask";
    "masked_scatter" "self mask source" => maskedScatter "self mask source";
    "nonzero" "self" => nonzero "self";
    "slice_scatter" "self src dim=0 start=0 end=9223372036854775807 step=1" => { slice_scatter };
    "select_scatter" "self src dim index" => { select_scatter };
    "diagonal_scatter" "self src offset=0 dim1=0 dim2=1" => { diagonal_scatter };
    "searchsorted.Tensor" "sorted_sequence self out_int32=False right=False side=None sorter=None" => { search };
    "searchsorted.Scalar" "sorted_sequence self out_int32=False right=False side=None sorter=None" => { search };
    "bucketize.Tensor" "self boundaries out_int32=False right=False" => { bucketize };
    "bucketize.Scalar" "self boundaries out_int32=False right=False" => { bucketize };
}

fn rotate(c: &Call<'_>) -> Result<Item> {
    let (t, k, dims) = (c.value(0)?, c.int(1)?, c.ints(2)?);
    let [a, b] = dims[..] else { bail!(Argument, "{} dimensions, expected two", dims.len()) };
    c.done(c.scope.call(&names::rot90::FUNCTION, &[t.into(), k.into(), (a as i32).into(), (b as i32).into()]))
}

fn pad_by_mode(c: &Call<'_>) -> Result<Item> {
    let mode = match c.text(2)? {
        "constant" => TH_PAD_CONSTANT,
        "reflect" => TH_PAD_REFLECT,
        "replicate" => TH_PAD_REPLICATE,
        "circular" => TH_PAD_CIRCULAR,
        other => bail!(Unsupported, "the padding mode {other}"),
    };
    let (t, pads, value) = (c.value(0)?, c.ints(1)?, c.optional_number(3)?.unwrap_or(0.0));
    c.done(c.scope.call(&names::pad::FUNCTION, &[t.into(), (&pads).into(), mode.into(), value.into()]))
}

fn differences(c: &Call<'_>) -> Result<Item> {
    let (n, dim) = (c.int(1)?, c.dim(2)?);
    let parts: Vec<Value<'_>> = [c.optional(3)?, Some(c.value(0)?), c.optional(4)?].into_iter().flatten().collect();
    let joined = c.scope.call(&names::catArray::FUNCTION, &[In::Tensors(&parts), dim.into()]);
    c.done(c.scope.call(&names::diff::FUNCTION, &[joined.into(), n.into(), dim.into()]))
}

/// Coordinates of a grid: each vector is expanded along its own dimension.
fn meshgrid(c: &Call<'_>) -> Result<Item> {
    let vectors = c.all_values(0)?;
    let swapped = c.arguments.len() > 1 && c.text(1)? == "xy" && vectors.len() > 1;
    // With `xy`, the first two dimensions change places.
    let place = |k: usize| if swapped && k < 2 { 1 - k } else { k };
    let mut shape: Dims = vectors.iter().map(|v| v.numel()).collect();
    if swapped {
        shape.swap(0, 1);
    }
    let grid = |(k, v): (usize, &Value<'_>)| {
        let mut sizes: Dims = shape.iter().map(|_| 1).collect();
        sizes[place(k)] = v.numel();
        (sizes, k)
    };
    let views: Vec<(Dims, usize)> = vectors.iter().enumerate().map(grid).collect();
    let grids: Vec<Value<'_>> = views.iter().map(|(sizes, k)| expr::expand(expr::reshape(vectors[*k], sizes), &shape)).collect();
    c.done_all(&grids)
}

/// A copy of `self` in which a slice is replaced.
fn slice_scatter(c: &Call<'_>) -> Result<Item> {
    let r = expr::clone(c.value(0)?);
    let dim = c.dim(2)?;
    let arguments = [r.into(), dim.into(), c.int(3)?.into(), c.int(4)?.into(), c.int(5)?.into()];
    let part = c.scope.call(&names::newSlice::FUNCTION, &arguments);
    written(c, r, part)
}

/// A copy of `self` in which an entry of a dimension is replaced.
fn select_scatter(c: &Call<'_>) -> Result<Item> {
    let r = expr::clone(c.value(0)?);
    written(c, r, expr::select(r, c.dim(2)?, c.int(3)?))
}

/// Copies `src`, argument 1, to a view of `r`, and returns `r`.
fn written(c: &Call<'_>, r: Value<'_>, part: Value<'_>) -> Result<Item> {
    c.scope.finish()?;
    if let Some(part) = part.tensor() {
        copy(&part, c.tensor(1)?)?;
    }
    c.done(r)
}

/// The tensors as columns: a vector is one column.
fn columns(c: &Call<'_>) -> Result<Item> {
    let tensors = c.all_values(0)?;
    let parts: Vec<Value<'_>> = tensors.iter().map(|&t| if t.ndim() < 2 { expr::reshape(t, &[-1, 1]) } else { t }).collect();
    c.done(c.scope.call(&names::catArray::FUNCTION, &[In::Tensors(&parts), 1.into()]))
}

/// Each position, as often as its entry says.
fn repeated_positions(c: &Call<'_>) -> Result<Item> {
    let repeats = c.value(0)?;
    c.done(c.scope.call(&names::repeatInterleave::FUNCTION, &[c.scope.numbers(repeats.numel()).into(), repeats.into(), 0.into()]))
}

fn index_fill(c: &Call<'_>) -> Result<Item> {
    let (t, index) = (c.value(0)?, c.value(2)?);
    let mut shape = t.shape();
    let dim = super::views::wrapped(c.int(1)?, shape.len())?;
    if let Some(size) = shape.get_mut(dim) {
        *size = index.numel();
    }
    let src = expr::expand(of_dtype(c, 3, t.dtype())?, &shape);
    let r = expr::clone(t);
    c.scope.write(r, &names::indexCopy::FUNCTION, &[(dim as i32).into(), index.into(), src.into()]);
    c.done(r)
}

fn take_along_all(c: &Call<'_>) -> Result<Item> {
    c.done(expr::take(c.value(0)?, expr::reshape(c.value(1)?, &[-1])))
}

fn scatter_reduce(c: &Call<'_>) -> Result<Item> {
    reduced(c, c.value(0)?, c.dim(1)?, c.value(2)?, c.value(3)?)
}

/// index_reduce is scatter_reduce with an index that is equal along the other dimensions.
fn index_reduce(c: &Call<'_>) -> Result<Item> {
    let (index, src) = (c.value(2)?, c.value(3)?);
    let mut shape: Dims = Dims::filled(1, src.ndim());
    let dim = super::views::wrapped(c.int(1)?, src.ndim())?;
    if let Some(size) = shape.get_mut(dim) {
        *size = index.numel();
    }
    reduced(c, c.value(0)?, dim as i32, expr::expand(expr::reshape(index, &shape), &src.shape()), src)
}

/// Reduces the elements of `src` with the same position by the reduction of argument 4, and with the element of `t` if argument 5 is true.
fn reduced<'s>(c: &'s Call<'_>, t: Value<'s>, dim: i32, index: Value<'s>, src: Value<'s>) -> Result<Item> {
    let (mode, neutral) = match c.text(4)? {
        "sum" | "mean" => (TH_REDUCE_ADD, 0.0),
        "prod" => (TH_REDUCE_MULTIPLY, 1.0),
        "amax" => (TH_REDUCE_AMAX, f64::NEG_INFINITY),
        "amin" => (TH_REDUCE_AMIN, f64::INFINITY),
        other => bail!(Unsupported, "the reduction {other}"),
    };
    let include = c.flag(5)?;
    let scatter = |t: Value<'s>, src: Value<'s>, mode: i32| {
        let r = expr::clone(t);
        c.scope.write(r, &names::scatterMode::FUNCTION, &[dim.into(), index.into(), src.into(), mode.into()]);
        r
    };
    let fill = |t: Value<'s>, value: f64| {
        let r = expr::clone(t);
        c.scope.write(r, &names::scatterFill::FUNCTION, &[dim.into(), index.into(), value.into()]);
        r
    };
    if !include && neutral.is_infinite() && !t.dtype().is_float() {
        bail!(Unsupported, "{} of integers without self", c.text(4)?)
    }
    let r = scatter(if include { t } else { fill(t, neutral) }, src, mode);
    if c.text(4)? != "mean" {
        return c.done(r);
    }
    let one = |t: Value<'s>| c.scope.call(&names::onesLike::FUNCTION, &[t.into()]);
    let count = scatter(if include { one(t) } else { fill(one(t), 0.0) }, one(src), TH_REDUCE_ADD);
    let count = expr::clamp_least(count, 1.0);
    c.done(if t.dtype().is_float() { r / count } else { expr::floor_of_quotient(r, count) })
}

/// A copy of `self` in which a diagonal is replaced.
fn diagonal_scatter(c: &Call<'_>) -> Result<Item> {
    let r = expr::clone(c.value(0)?);
    written(c, r, expr::diagonal(r, c.int(2)?, c.dim(3)?, c.dim(4)?))
}

/// Indices as int64, or as int32 if argument 2 is true.
fn found(c: &Call<'_>, r: Value<'_>) -> Result<Item> {
    c.done(if c.flag(2)? { expr::to_dtype(r, Dtype::Int32) } else { r })
}

fn search(c: &Call<'_>) -> Result<Item> {
    let right = c.flag(3)? || matches!(&c.arguments[4], Item::Text(side) if &**side == "right");
    let steps = c.value(0)?;
    let arguments = [steps.into(), operand(c, 1, steps.dtype())?.into(), right.into(), c.optional(5)?.into()];
    found(c, c.scope.call(&names::searchsorted::FUNCTION, &arguments))
}

fn bucketize(c: &Call<'_>) -> Result<Item> {
    let steps = c.value(1)?;
    let arguments = [operand(c, 0, steps.dtype())?.into(), steps.into(), c.flag(3)?.into()];
    found(c, c.scope.call(&names::bucketize::FUNCTION, &arguments))
}
