//! Normalization over the last dimensions, and its gradients.

use super::dense::{dense, elements_mut, shares, steps, written_in_step};
use super::operand::one_dtype;
use super::result::{Target, deliver, deliver_beside};
use crate::cpu::layer_norm::{Rows, added, forward, gradient};
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::tensor::Tensor;
use std::ptr::null_mut;

/// The rows of `t` and the shape of one: its last `ndim` dimensions.
fn rows(t: &Tensor, ndim: i32, eps: f64) -> Result<(Rows, Dims)> {
    let shape = t.layout()?.shape;
    match usize::try_from(ndim) {
        Ok(last) if last > 0 && last <= shape.len() => {
            let (batch, row) = shape.split_at(shape.len() - last);
            // Without elements there are no rows, whatever their number and length.
            let size = |sizes: &[i64]| if shape.contains(&0) { 0 } else { sizes.iter().product::<i64>() as usize };
            Ok((Rows { rows: size(batch), n: size(row), eps }, row.into()))
        }
        _ => bail!(Argument, "normalizedNdim {ndim} is not between 1 and the {} dimensions of shape {:?}", shape.len(), shape.as_slice()),
    }
}

/// The factors or summands of a row, row-major; all of them `default` where there is no tensor.
fn of_row<T: Element>(name: &str, given: Option<&Tensor>, dtype: Dtype, (row, n): (&Dims, usize), default: f64) -> Result<Tensor> {
    let Some(given) = given else {
        let mut made = Tensor::empty(T::DTYPE, &[n as i64])?;
        elements_mut::<T>(&mut made)?.fill(T::from_f64(default));
        return Ok(made);
    };
    check_row_dtype(name, given, dtype)?;
    let shape = given.layout()?.shape;
    if shape != *row {
        bail!(Shape, "{name} of shape {:?} for rows of shape {:?}", shape.as_slice(), row.as_slice())
    }
    dense(given, T::DTYPE)
}

/// Fails where a tensor has neither the dtype of the elements nor, beside 16-bit floats, float32.
pub(super) fn check_row_dtype(name: &str, t: &Tensor, dtype: Dtype) -> Result<()> {
    match t.defined()? {
        have if have == dtype || have == dtype.compute() => Ok(()),
        have => bail!(Dtype, "{name} of {have} beside elements of {dtype}"),
    }
}

/// `r = (t - mean) / sqrt(variance + eps) * weight + bias` over the last `ndim` dimensions; floats only
pub fn layer_norm(r: &Tensor, t: &Tensor, ndim: i32, weight: Option<&Tensor>, bias: Option<&Tensor>, eps: f64) -> Result<()> {
    let (dtype, shape) = (t.defined()?, t.layout()?.shape);
    let (rows, row) = rows(t, ndim, eps)?;
    dispatch!(float, dtype, T => {
        // Adding -0.0 changes nothing.
        let part = (&row, rows.n);
        let (weight, bias) = (of_row::<T>("weight", weight, dtype, part, 1.0)?, of_row::<T>("bias", bias, dtype, part, -0.0)?);
        let x = dense(t, T::DTYPE)?;
        written_in_step(r, (dtype, T::DTYPE), &shape, &[&x], &[Some(&weight), Some(&bias)], &|out| {
            let [x, weight, bias] = [&x, &weight, &bias].map(|t| t.data().cast_const().cast());
            // SAFETY: row-major tensors of these rows and of one; the result is the input or apart from all.
            unsafe { forward::<T>(rows, out.cast(), x, weight, bias) }
        })
    })
}

/// Results of [`layer_norm_gradient`], each of which may be left out.
#[derive(Clone, Copy)]
pub struct Gradients<'a> {
    /// Of the input.
    pub input: Option<&'a Tensor>,
    /// Of the weight.
    pub weight: Option<&'a Tensor>,
    /// Of the bias.
    pub bias: Option<&'a Tensor>,
}

/// The gradients of [`layer_norm`] from `g`, that of its result
pub fn layer_norm_gradient(to: Gradients<'_>, g: &Tensor, t: &Tensor, ndim: i32, weight: Option<&Tensor>, eps: f64) -> Result<()> {
    let (dtype, shape) = (one_dtype(&[g, t])?, t.layout()?.shape);
    let (rows, row) = rows(t, ndim, eps)?;
    if g.layout()?.shape != shape {
        bail!(Shape, "a gradient of shape {:?} for an input of shape {:?}", g.layout()?.shape.as_slice(), shape.as_slice())
    }
    let row_dtype = weight.map_or(Ok(dtype), Tensor::defined)?;
    dispatch!(float, dtype, T => {
        let weight = of_row::<T>("weight", weight, dtype, (&row, rows.n), 1.0)?;
        let (g, x) = (dense(g, T::DTYPE)?, dense(t, T::DTYPE)?);
        let wanted = to.weight.is_some() || to.bias.is_some();
        let sums = Tensor::empty(Dtype::Float64, &[if wanted { rows.parts() } else { 0 } as i64, rows.sums_of_part() as i64])?;
        let of_rows = if wanted { row.clone() } else { Dims::filled(0, 1) };
        let (mut of_weight, mut of_bias) = (Tensor::empty(T::DTYPE, &of_rows)?, Tensor::empty(T::DTYPE, &of_rows)?);
        // Sums over no rows.
        let [weights, biases] = [elements_mut::<T>(&mut of_weight)?, elements_mut::<T>(&mut of_bias)?];
        weights.fill(T::ZERO);
        biases.fill(T::ZERO);
        let ends = [weights.as_mut_ptr(), biases.as_mut_ptr()];
        let write = |out: *mut u8| {
            let at = if wanted { sums.data().cast::<f64>() } else { null_mut() };
            let [g, x, weight] = [&g, &x, &weight].map(|t| t.data().cast_const().cast());
            // SAFETY: row-major tensors of these rows, of one, and of sums of all parts; the result is an input or apart from all.
            unsafe { gradient::<T>(rows, out.cast(), at, g, x, weight) };
            if wanted {
                // SAFETY: the sums are those written just now, and there is a row at either end.
                unsafe { added(rows, at, ends) };
            }
        };
        let beside = [to.weight.map(|r| (r, row_dtype, &of_weight)), to.bias.map(|r| (r, row_dtype, &of_bias))];
        let Some(r) = to.input else {
            write(null_mut());
            return deliver(beside);
        };
        let target = Target::check(r, dtype, &shape)?;
        if dtype != T::DTYPE || target.dtype != dtype {
            let made = Tensor::empty(T::DTYPE, &shape)?;
            write(made.data());
            return deliver([Some((r, dtype, &made)), beside[0], beside[1]]);
        }
        let results = [to.weight, to.bias];
        let taken = |own: &_| shares(&[Some(&g), Some(&x), Some(&weight), results[0], results[1]], own);
        let disjoint = target.kept.as_ref().is_some_and(|kept| {
            let apart = || kept.storage.as_ref().is_some_and(|own| shares(&[Some(&weight), results[0], results[1]], own));
            !kept.layout.is_contiguous() || !steps(kept, &g) || !steps(kept, &x) || apart()
        });
        deliver_beside(target.place(disjoint, &taken)?, beside, &write)
    })
}
