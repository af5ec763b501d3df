//! Gradients of layers, which a graph of a training step has.

use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{self, In, Value, names};
use crate::layout::Dims;
use crate::program::call::Call;
use crate::program::frame::Item;

/// Gradients of the input, the weight and the bias, where the list of truth values `k` is true.
pub fn convolution_backward(c: &Call<'_>) -> Result<Item> {
    let (g, x, weight, wanted) = (c.value(0)?, c.value(1)?, c.value(2)?, c.ints(10)?);
    let (stride, padding, dilation, output) = (c.ints(4)?, c.ints(5)?, c.ints(6)?, c.ints(8)?);
    let (transposed, groups) = (c.flag(7)?, c.int(9)?);
    let numbers: [In<'_, '_>; 6] =
        [(&stride).into(), (&padding).into(), (&dilation).into(), transposed.into(), (&output).into(), groups.into()];
    let call = |function, operands: [Value<'_>; 3]| {
        let mut arguments = operands.map(In::from).to_vec();
        arguments.extend(numbers);
        c.scope.call(function, &arguments)
    };
    let nothing = c.scope.nothing();
    let is = |k: usize| wanted.get(k).is_some_and(|&wanted| wanted != 0);
    let input = if is(0) { call(&names::convolutionGradInput::FUNCTION, [g, weight, x]) } else { nothing };
    let kernel = if is(1) { call(&names::convolutionGradWeight::FUNCTION, [g, x, weight]) } else { nothing };
    let dims = weight.ndim() as i32 - 2;
    let bias = if is(2) { c.scope.call(&names::convolutionGradBias::FUNCTION, &[g.into(), dims.into()]) } else { nothing };
    c.done_all(&[input, kernel, bias])
}

/// The gradient of a normalization over `dims`: `g` is the gradient of `normal = (x - mean) * invstd`.
fn of_normal<'s>(g: Value<'s>, normal: Value<'s>, invstd: Value<'s>, dims: &[i64]) -> Value<'s> {
    (g - expr::mean_dims(g, dims, true) - normal * expr::mean_dims(g * normal, dims, true)) * invstd
}

/// The sum over `dims`, in this dtype. An empty list means no dimension.
fn summed<'s>(t: Value<'s>, dims: &[i64], dtype: Dtype) -> Value<'s> {
    expr::to_dtype(if dims.is_empty() { t } else { expr::sum_dims(t, dims, false) }, dtype)
}

pub fn layer_norm_backward(c: &Call<'_>) -> Result<Item> {
    let (g, x, mean, invstd, weight) = (c.value(0)?, c.value(1)?, c.value(3)?, c.value(4)?, c.optional(5)?);
    let (ndim, count) = (x.ndim() as i64, c.list(2)?.len() as i64);
    let rows: Dims = (0..ndim - count).collect();
    let dims: Dims = (ndim - count..ndim).collect();
    let (g, dtype) = (expr::wide(g), x.dtype());
    let normal = (expr::wide(x) - mean) * invstd;
    let scaled = weight.map_or(g, |weight| g * weight);
    let total = |t| summed(t, &rows, dtype);
    c.done_all(&[expr::to_dtype(of_normal(scaled, normal, invstd, &dims), dtype), total(g * normal), total(g)])
}

pub fn group_norm_backward(c: &Call<'_>) -> Result<Item> {
    let (g, x, mean, invstd, weight) = (c.value(0)?, c.value(1)?, c.value(2)?, c.value(3)?, c.optional(4)?);
    let (batch, channels, groups) = (c.int(5)?, c.int(6)?, c.int(8)?);
    let Some(each) = channels.checked_div(groups) else { bail!(Argument, "0 groups") };
    let (shape, dtype) = (x.shape(), x.dtype());
    let split = [batch, groups, each, -1];
    let one = [batch, groups, 1, 1];
    let (g, x) = (expr::reshape(expr::wide(g), &split), expr::reshape(expr::wide(x), &split));
    let invstd = expr::reshape(invstd, &one);
    let normal = (x - expr::reshape(mean, &one)) * invstd;
    let scaled = weight.map_or(g, |weight| g * expr::reshape(weight, &[1, groups, each, 1]));
    let total = |t| expr::reshape(summed(t, &[0, 3], dtype), &[channels]);
    let input = expr::reshape(of_normal(scaled, normal, invstd, &[2, 3]), &shape);
    c.done_all(&[expr::to_dtype(input, dtype), total(g * normal), total(g)])
}
