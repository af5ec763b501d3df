//! Normalization over the last dimensions, and its gradients.

use super::create;
use super::dense::{dense, launched};
use super::result::{Inputs, Wanted, Writes, ready_all};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::layers::NormRows;
use crate::launch::{LayerNorm, LayerNormGradient};
use crate::layout::Dims;
use crate::operand::{Operand, one_dtype};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The rows of `t` and the shape of a row: the last `ndim` dimensions.
fn rows(t: &Tensor, ndim: i32, eps: f64) -> Result<(NormRows, Dims)> {
    let shape = t.layout()?.shape;
    match usize::try_from(ndim) {
        Ok(last) if last > 0 && last <= shape.len() => {
            let (batch, row) = shape.split_at(shape.len() - last);
            // A tensor without elements has no rows. The product of its other sizes may overflow.
            let size = |sizes: &[i64]| if shape.contains(&0) { 0 } else { sizes.iter().product::<i64>() as usize };
            Ok((NormRows { rows: size(batch), n: size(row), eps }, row.into()))
        }
        _ => bail!(Argument, "normalizedNdim {ndim} is not between 1 and the {} dimensions of shape {:?}", shape.len(), shape.as_slice()),
    }
}

/// The factors or summands of a row, row-major. Without a tensor, all are `default`.
fn factors(name: &str, given: Option<&Tensor>, dtype: Dtype, (row, n): (&Dims, usize), default: f64) -> Result<Tensor> {
    let Some(given) = given else { return create::full(dtype.compute(), &[n as i64], Scalar::Float(default)) };
    check_row_dtype(name, given, dtype)?;
    let shape = given.layout()?.shape;
    if shape != *row {
        bail!(Shape, "{name} of shape {:?} for rows of shape {:?}", shape.as_slice(), row.as_slice())
    }
    dense(given, dtype.compute())
}

/// Fails if `t` does not have the dtype of the elements. For 16-bit floats, float32 is allowed, too.
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
    let (dtype, part) = (Domain::Float.check(dtype)?, (&row, rows.n));
    // Adding -0.0 does not change a number.
    let (weight, bias) = (factors("weight", weight, dtype, part, 1.0)?, factors("bias", bias, dtype, part, -0.0)?);
    let x = dense(t, dtype)?;
    launched(r, (dtype, dtype), &shape, [&[&x], &[&weight, &bias]], &LayerNorm(rows))
}

/// The results of [`layer_norm_gradient`]. Each is optional.
#[derive(Clone, Copy)]
pub struct Gradients<'a> {
    /// The gradient of the input.
    pub input: Option<&'a Tensor>,
    /// The gradient of the weight.
    pub weight: Option<&'a Tensor>,
    /// The gradient of the bias.
    pub bias: Option<&'a Tensor>,
}

/// The gradients of [`layer_norm`] from `g`, the gradient of its result
pub fn layer_norm_gradient(to: Gradients<'_>, g: &Tensor, t: &Tensor, ndim: i32, weight: Option<&Tensor>, eps: f64) -> Result<()> {
    let (dtype, shape) = (one_dtype(&[g, t])?, t.layout()?.shape);
    let (rows, row) = rows(t, ndim, eps)?;
    if g.layout()?.shape != shape {
        bail!(Shape, "a gradient of shape {:?} for an input of shape {:?}", g.layout()?.shape.as_slice(), shape.as_slice())
    }
    let row_dtype = weight.map_or(Ok(dtype), Tensor::defined)?;
    let compute = Domain::Float.check(dtype)?.compute();
    let weight = Operand::of(&factors("weight", weight, dtype, (&row, rows.n), 1.0)?)?;
    let inputs = [Operand::of(&dense(g, compute)?)?, Operand::of(&dense(t, compute)?)?];
    let writes = Writes::ROW_MAJOR.of(compute);
    let of_row = |r| Wanted { r, dtype: row_dtype, shape: &row, writes };
    let of_rows = |r| Wanted { r, dtype, shape: &shape, writes };
    let results = [to.input.map(of_rows), to.weight.map(of_row), to.bias.map(of_row)];
    let ready = ready_all(results, Inputs::in_step(&inputs).and_anywhere(std::slice::from_ref(&weight)))?;
    let [g, x] = &inputs;
    ready.launch(&LayerNormGradient(rows), &[g, x, &weight])
}
