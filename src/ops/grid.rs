//! Tensors computed from the values of others: grids, Cartesian products, one-hot rows, Vandermonde matrices.

use super::dense::dense;
use super::device;
use super::result::{Inputs, Writes, deliver, ready};
use super::{copy, pointwise, view};
use crate::alloc;
use crate::backend::launch;
use crate::dtype::{Category, Dtype};
use crate::error::{Result, bail};
use crate::launch::OneHot;
use crate::layout::{Dims, Layout, MAX_DIMS};
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The lengths of vectors of one dtype. A 0-d tensor has length 1.
fn lengths(tensors: &[&Tensor]) -> Result<Dims> {
    let Some(first) = tensors.first() else { bail!(Argument, "expected at least one tensor") };
    if tensors.len() > MAX_DIMS {
        bail!(Shape, "a grid of {} dimensions, at most {MAX_DIMS} are possible", tensors.len())
    }
    let (dtype, mut lengths) = (first.defined()?, Dims::new());
    for (k, t) in tensors.iter().enumerate() {
        let (have, layout) = (t.defined()?, t.layout()?);
        if have != dtype {
            bail!(Dtype, "tensor {k} is {have}, the first one {dtype}; they must be the same")
        }
        if layout.ndim() > 1 {
            bail!(Shape, "expected vectors or scalars, tensor {k} has {} dimensions", layout.ndim())
        }
        lengths.push(layout.numel());
    }
    Ok(lengths)
}

/// The layout of a vector along dimension `d` of a grid of this shape. Strides of the other dimensions are 0.
fn over_grid(vector: &Layout, shape: &[i64], d: usize) -> Layout {
    let mut strides = Dims::filled(0, shape.len());
    strides[d] = vector.strides.first().copied().unwrap_or(1);
    Layout { shape: shape.into(), strides, offset: vector.offset }
}

/// Makes result `k` a view of vector `k`, expanded over the grid of all vectors. `swapped` swaps the first two dimensions.
pub fn meshgrid(results: &[&Tensor], tensors: &[&Tensor], swapped: bool) -> Result<()> {
    let mut shape = lengths(tensors)?;
    let swapped = swapped && tensors.len() > 1;
    if swapped {
        shape.swap(0, 1);
    }
    crate::layout::checked_numel(&shape)?;
    let place = |k: usize| if swapped && k < 2 { 1 - k } else { k };
    // A result may be a later input. Therefore all views are made before the first handle changes.
    let views = alloc::list(tensors.len(), |k| view::of(tensors[k], &over_grid(&tensors[k].layout()?, &shape, place(k))))?;
    view::set_all(results, &views)
}

/// `r` = a row for each combination of one element of each vector; the last vector varies fastest. A single vector is copied.
pub fn cartesian_prod(r: &Tensor, tensors: &[&Tensor]) -> Result<()> {
    let shape = lengths(tensors)?;
    if let Some(k) = tensors.iter().position(|t| t.ndim() != 1) {
        bail!(Shape, "expected vectors, tensor {k} is a scalar")
    }
    let dtype = tensors[0].defined()?;
    let rows = crate::layout::checked_numel(&shape)?;
    let of_result = if tensors.len() == 1 { Dims::filled(rows, 1) } else { [rows, tensors.len() as i64].as_slice().into() };
    let mut sources = alloc::list(tensors.len(), |k| Operand::of(tensors[k]))?;
    let ready = ready(r, (dtype, &of_result), Writes::ROW_MAJOR, Inputs::anywhere(&sources))?;
    ready.write(|to| {
        // Each position of the grid is a row of the result.
        let mut column = Layout { offset: to.layout().offset, ..Layout::contiguous(&shape) };
        column.strides.iter_mut().for_each(|stride| *stride *= sources.len() as i64);
        for (d, source) in sources.iter_mut().enumerate() {
            source.set_layout(over_grid(source.layout(), &shape, d));
            copy::copy_to_part(to, &column, source)?;
            column.offset += 1;
        }
        Ok(())
    })
}

/// `r[.., c] = 1` where `t[..] = c`, else 0. `classes` -1 means one more than the greatest value.
pub fn one_hot(r: &Tensor, t: &Tensor, classes: i64) -> Result<()> {
    let dtype = t.defined()?;
    if dtype.category() != Category::Integer {
        bail!(Dtype, "classes must be integers, not {dtype}")
    }
    // A copy even if the dtype matches, so that writing to `r` cannot change it.
    let list = copy::contiguous_copy(&copy::to_dtype(t, Dtype::Int64)?)?;
    let source = Operand::of(&list)?;
    let classes = check_classes(&device::read::<i64>(&source)?, classes)?;
    let mut shape = source.layout().shape.clone();
    shape.push(classes);
    ready(r, (Dtype::Int64, &shape), Writes::ROW_MAJOR, Inputs::NONE)?.write(|to| {
        copy::fill_part(to, to.layout(), Scalar::Int(0))?;
        launch(&OneHot, to, &[&source])
    })
}

/// Checks that every value is a valid class. Returns the number of classes.
fn check_classes(values: &[i64], classes: i64) -> Result<i64> {
    let least = values.iter().copied().fold(i64::MAX, i64::min);
    let greatest = values.iter().copied().fold(i64::MIN, i64::max);
    if classes < -1 {
        bail!(Argument, "the number of classes {classes} is negative")
    }
    if values.is_empty() && classes <= 0 {
        bail!(Argument, "the number of classes cannot be inferred from a tensor without elements")
    }
    if !values.is_empty() && least < 0 {
        bail!(Argument, "class {least} is negative")
    }
    let Some(needed) = greatest.max(-1).checked_add(1) else { bail!(Argument, "class {greatest} is too large") };
    if classes >= 0 && needed > classes {
        bail!(Argument, "class {greatest} is not smaller than the number of classes {classes}")
    }
    Ok(if classes == -1 { needed } else { classes })
}

/// `r[i, j] = t[i]^(columns - 1 - j)`, or `t[i]^j` with `increasing`. `columns` -1 means the length of `t`.
pub fn vander(r: &Tensor, t: &Tensor, columns: i64, increasing: bool) -> Result<()> {
    let (dtype, layout) = (t.defined()?, t.layout()?);
    if layout.ndim() != 1 {
        bail!(Shape, "expected a vector, got {} dimensions", layout.ndim())
    }
    if columns < -1 {
        bail!(Argument, "the number of columns {columns} is negative")
    }
    let columns = if columns == -1 { layout.shape[0] } else { columns };
    if dtype.is_float() {
        return float_powers(r, t, columns, increasing);
    }
    let dtype = Dtype::Int64;
    let powers = Tensor::empty(dtype, &[columns, layout.shape[0]])?;
    let row = |j: i64| view::derive(&powers, |l| l.select(0, if increasing { j } else { columns - 1 - j }));
    // A matrix without rows may have any number of columns.
    for j in 0..if layout.shape[0] > 0 { columns } else { 0 } {
        match j {
            0 => copy::fill(&row(0)?, Scalar::Int(1))?,
            _ => pointwise::arithmetic::cmul.run([&row(j)?, &row(j - 1)?, t], &[])?,
        }
    }
    deliver([Some((r, dtype, &view::derive(&powers, |l| l.transpose(0, 1))?))])
}

/// [`vander`] of floats. Powers are computed with 106 bits, so that each result is rounded once.
fn float_powers(r: &Tensor, t: &Tensor, columns: i64, increasing: bool) -> Result<()> {
    let dtype = t.defined()?;
    let t = dense(t, Dtype::Float64)?;
    let x = device::elements::<f64>(&t)?;
    let powers = device::written::<f64>(&[x.len() as i64, columns], |powers| {
        for (row, &x) in powers.chunks_exact_mut(columns.max(1) as usize).zip(x.iter()) {
            let (mut high, mut low) = (1.0, 0.0);
            for j in 0..row.len() {
                row[if increasing { j } else { row.len() - 1 - j }] = high;
                (high, low) = times(high, low, x);
            }
        }
        Ok(())
    })?;
    deliver([Some((r, dtype, &powers))])
}

/// `(high + low) * x` as a sum of two numbers, the first of which is the rounded product.
fn times(high: f64, low: f64, x: f64) -> (f64, f64) {
    let product = high * x;
    let rest = high.mul_add(x, -product) + low * x;
    let sum = product + rest;
    // If the product overflows, the remainder is 0.
    if sum.is_finite() { (sum, rest - (sum - product)) } else { (product, 0.0) }
}
