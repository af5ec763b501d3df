//! Normalization over the last dimensions, or over groups of channels, and the gradients.

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

/// Rows to normalize, and the shape of their weights.
struct Form {
    rows: NormRows,
    weights: Dims,
}

/// The product of sizes; 0 for a tensor without elements, because the product of its other sizes may overflow.
fn product(shape: &[i64], sizes: &[i64]) -> usize {
    if shape.contains(&0) { 0 } else { sizes.iter().product::<i64>() as usize }
}

impl Form {
    /// Rows of the last `ndim` dimensions, with a weight for each element.
    fn last(t: &Tensor, ndim: i32, eps: f64, centred: bool) -> Result<Form> {
        let shape = t.layout()?.shape;
        match usize::try_from(ndim) {
            Ok(last) if last > 0 && last <= shape.len() => {
                let (batch, row) = shape.split_at(shape.len() - last);
                let (rows, n) = (product(&shape, batch), product(&shape, row));
                Ok(Form { rows: NormRows { rows, n, eps, centred, groups: 1, span: 1 }, weights: row.into() })
            }
            _ => {
                bail!(Argument, "normalizedNdim {ndim} is not between 1 and the {} dimensions of shape {:?}", shape.len(), shape.as_slice())
            }
        }
    }

    /// Rows of adjacent channels, with a weight for each channel, an entry of the second dimension.
    fn groups(t: &Tensor, groups: i64, eps: f64) -> Result<Form> {
        let shape = t.layout()?.shape;
        let [batch, channels, sizes @ ..] = shape.as_slice() else {
            bail!(Shape, "an input of shape {:?}: channels are the second dimension", shape.as_slice())
        };
        if groups < 1 || groups > (*channels).max(1) || channels % groups != 0 {
            bail!(Argument, "{groups} groups of {channels} channels")
        }
        let span = product(&shape, sizes);
        let (rows, n) = (product(&shape, &[*batch, groups]), product(&shape, &[channels / groups]) * span);
        Ok(Form {
            rows: NormRows { rows, n, eps, centred: true, groups: groups as usize, span: span.max(1) },
            weights: Dims::from(&[*channels]),
        })
    }

    /// The weights or biases, row-major. Without a tensor, all are `default`.
    fn factors(&self, name: &str, given: Option<&Tensor>, dtype: Dtype, default: f64) -> Result<Tensor> {
        let Some(given) = given else {
            return create::full(dtype.compute(), &[self.rows.weights() as i64], Scalar::Float(default));
        };
        check_row_dtype(name, given, dtype)?;
        let shape = given.layout()?.shape;
        if shape != self.weights {
            bail!(Shape, "{name} of shape {:?}, expected {:?}", shape.as_slice(), self.weights.as_slice())
        }
        dense(given, dtype.compute())
    }

    /// `r = normalized rows of t * weight + bias`
    fn normalize(self, r: &Tensor, t: &Tensor, [weight, bias]: [Option<&Tensor>; 2]) -> Result<()> {
        let dtype = Domain::Float.check(t.defined()?)?;
        // Adding -0.0 does not change a number.
        let (weight, bias) = (self.factors("weight", weight, dtype, 1.0)?, self.factors("bias", bias, dtype, -0.0)?);
        let x = dense(t, dtype)?;
        launched(r, (dtype, dtype), &t.layout()?.shape, [&[&x], &[&weight, &bias]], &LayerNorm(self.rows))
    }

    /// The gradients of [`Form::normalize`] from `g`, the gradient of its result.
    fn gradients(self, to: Gradients<'_>, g: &Tensor, t: &Tensor, weight: Option<&Tensor>) -> Result<()> {
        let (dtype, shape) = (one_dtype(&[g, t])?, t.layout()?.shape);
        if g.layout()?.shape != shape {
            bail!(Shape, "a gradient of shape {:?} for an input of shape {:?}", g.layout()?.shape.as_slice(), shape.as_slice())
        }
        let row_dtype = weight.map_or(Ok(dtype), Tensor::defined)?;
        let compute = Domain::Float.check(dtype)?.compute();
        let weight = Operand::of(&self.factors("weight", weight, dtype, 1.0)?)?;
        let inputs = [Operand::of(&dense(g, compute)?)?, Operand::of(&dense(t, compute)?)?];
        let writes = Writes::ROW_MAJOR.of(compute);
        let of_weights = |r| Wanted { r, dtype: row_dtype, shape: &self.weights, writes };
        let of_rows = |r| Wanted { r, dtype, shape: &shape, writes };
        let results = [to.input.map(of_rows), to.weight.map(of_weights), to.bias.map(of_weights)];
        let ready = ready_all(results, Inputs::in_step(&inputs).and_anywhere(std::slice::from_ref(&weight)))?;
        let [g, x] = &inputs;
        ready.launch(&LayerNormGradient(self.rows), &[g, x, &weight])
    }
}

/// Fails if `t` does not have the dtype of the elements. For 16-bit floats, float32 is allowed, too.
pub(super) fn check_row_dtype(name: &str, t: &Tensor, dtype: Dtype) -> Result<()> {
    match t.defined()? {
        have if have == dtype || have == dtype.compute() => Ok(()),
        have => bail!(Dtype, "{name} of {have} beside elements of {dtype}"),
    }
}

/// The results of a gradient. Each is optional.
#[derive(Clone, Copy)]
pub struct Gradients<'a> {
    /// The gradient of the input.
    pub input: Option<&'a Tensor>,
    /// The gradient of the weight.
    pub weight: Option<&'a Tensor>,
    /// The gradient of the bias.
    pub bias: Option<&'a Tensor>,
}

/// `r = (t - mean) / sqrt(variance + eps) * weight + bias` over the last `ndim` dimensions; floats only
pub fn layer_norm(r: &Tensor, t: &Tensor, ndim: i32, of_elements: [Option<&Tensor>; 2], eps: f64) -> Result<()> {
    Form::last(t, ndim, eps, true)?.normalize(r, t, of_elements)
}

/// The gradients of [`layer_norm`] from `g`, the gradient of its result
pub fn layer_norm_gradient(to: Gradients<'_>, g: &Tensor, t: &Tensor, ndim: i32, weight: Option<&Tensor>, eps: f64) -> Result<()> {
    Form::last(t, ndim, eps, true)?.gradients(to, g, t, weight)
}

/// `r = t / sqrt(mean of t^2 + eps) * weight` over the last `ndim` dimensions; floats only
pub fn rms_norm(r: &Tensor, t: &Tensor, ndim: i32, weight: Option<&Tensor>, eps: f64) -> Result<()> {
    Form::last(t, ndim, eps, false)?.normalize(r, t, [weight, None])
}

/// The gradients of [`rms_norm`] from `g`, the gradient of its result
pub fn rms_norm_gradient(to: Gradients<'_>, g: &Tensor, t: &Tensor, ndim: i32, weight: Option<&Tensor>, eps: f64) -> Result<()> {
    Form::last(t, ndim, eps, false)?.gradients(to, g, t, weight)
}

/// `r = (t - mean) / sqrt(variance + eps) * weight + bias` over groups of adjacent channels; floats only
pub fn group_norm(r: &Tensor, t: &Tensor, groups: i64, of_channels: [Option<&Tensor>; 2], eps: f64) -> Result<()> {
    Form::groups(t, groups, eps)?.normalize(r, t, of_channels)
}

/// The gradients of [`group_norm`] from `g`, the gradient of its result
pub fn group_norm_gradient(to: Gradients<'_>, g: &Tensor, t: &Tensor, groups: i64, weight: Option<&Tensor>, eps: f64) -> Result<()> {
    Form::groups(t, groups, eps)?.gradients(to, g, t, weight)
}

/// [`group_norm`] with a group for each channel
pub fn instance_norm(r: &Tensor, t: &Tensor, of_channels: [Option<&Tensor>; 2], eps: f64) -> Result<()> {
    let shape = t.layout()?.shape;
    match shape.as_slice() {
        // Without channels there is no element, and the number of groups has no effect.
        [_, channels, _, ..] => group_norm(r, t, (*channels).max(1), of_channels, eps),
        shape => bail!(Shape, "an input of shape {shape:?}: sizes follow the second dimension, the channels"),
    }
}
