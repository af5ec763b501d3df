//! Attention: the host has kernels for it; on a GPU it is composed of products and softmax over blocks of rows.

mod call;
mod composed;
mod shapes;

use super::loss::made;
use super::pointwise::arithmetic;
use super::reduce::{self, Over, To};
use super::result::{Made, deliver};
use super::{copy, create};
use crate::backend;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{AttentionGradient, Launchable};
use crate::layout::Dims;
use crate::operand::Operand;
use crate::random::{Generator, block};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
pub use call::Options;
use call::{Call, sum_to};
use shapes::{Heads, Shapes};
use smallvec::SmallVec;

/// The results that the gradient needs, besides the result.
#[derive(Clone, Copy)]
pub struct Saved<'a> {
    /// The logarithms of the sums of exponentials.
    pub logs: Option<&'a Tensor>,
    /// The seed of dropout.
    pub seed: Option<&'a Tensor>,
}

/// The results of [`gradient`]. Each is optional.
#[derive(Clone, Copy)]
pub struct Gradients<'a> {
    /// The gradient of `query`.
    pub query: Option<&'a Tensor>,
    /// The gradient of `key`.
    pub key: Option<&'a Tensor>,
    /// The gradient of `value`.
    pub value: Option<&'a Tensor>,
    /// The gradient of a mask that is added.
    pub mask: Option<&'a Tensor>,
}

/// Results of [`attention`] and their gradients.
#[derive(Clone, Copy)]
pub struct Computed<'a> {
    /// The gradient of the result.
    pub g: &'a Tensor,
    /// The gradient of the logarithms.
    pub of_logs: Option<&'a Tensor>,
    /// The result.
    pub y: &'a Tensor,
    /// The logarithms.
    pub logs: &'a Tensor,
    /// The seed of dropout.
    pub seed: Option<&'a Tensor>,
}

/// Does work of the host, whose results are `out`.
fn launch(work: &impl Launchable, out: &[Option<Operand>], inputs: &[Operand]) -> Result<()> {
    let out: SmallVec<[Option<&Operand>; 4]> = out.iter().map(Option::as_ref).collect();
    let inputs: SmallVec<[&Operand; 8]> = inputs.iter().collect();
    backend::of_all(&out, &inputs)?.launch(work, &out, &inputs)
}

/// Returns 64 bits of a generator.
fn drawn(generator: &mut Generator) -> u64 {
    match generator {
        Generator::Philox(stream) => {
            let [low, high, ..] = block(stream.seed, stream.reserve(1));
            u64::from(low as u32) | high << 32
        }
        Generator::Mt19937(stream) => stream.double_word(),
    }
}

/// `r = softmax(query @ key^T * scale + mask) @ value`, with dropout of the weights
pub fn attention(r: &Tensor, saved: Saved<'_>, generator: &mut Generator, inputs: [&Tensor; 3], options: Options<'_>) -> Result<()> {
    if let Some(Some(have)) = saved.seed.map(Tensor::dtype)
        && have != Dtype::Int64
    {
        bail!(Dtype, "a seed is int64, and cannot be stored in a tensor of {have}")
    }
    let mut call = Call::new(inputs, options)?;
    let mut seed = 0;
    if let Some(dropout) = &mut call.work.dropout {
        seed = drawn(generator);
        dropout.seed = seed;
    }
    let Shapes { l, ev, .. } = call.shapes;
    let (shape, rows, compute) = (call.shapes.with_batch(&[l, ev]), call.shapes.with_batch(&[l]), call.dtype.compute());
    let (y, logs) = if call.is_empty() {
        (create::full(compute, &shape, Scalar::Int(0))?, create::full(compute, &rows, Scalar::Float(f64::NEG_INFINITY))?)
    } else {
        let (y, logs) = (Tensor::empty(compute, &shape)?, Tensor::empty(compute, &rows)?);
        if call.is_composed() {
            composed::forward(&call, &y, &logs)?;
        } else {
            let out = [call.operand(&y, &[l, ev], Heads::Query)?, call.operand(&logs, &[l], Heads::Query)?].map(Some);
            launch(&call.work, &out, &call.operands()?)?;
        }
        (y, logs)
    };
    let seed = saved.seed.map(|r| Ok((r, create::full(Dtype::Int64, &[], Scalar::Int(seed as i64))?))).transpose()?;
    let y = copy::to_dtype(&y, call.dtype)?;
    let seed = seed.as_ref().map(|(r, seed)| (*r, Dtype::Int64, seed));
    deliver([Some((r, call.dtype, &y)), saved.logs.map(|r| (r, compute, &logs)), seed])
}

/// The gradients of [`attention`]
pub fn gradient(to: Gradients<'_>, of: Computed<'_>, inputs: [&Tensor; 3], options: Options<'_>) -> Result<()> {
    let mut call = Call::new(inputs, options)?;
    let Shapes { l, s, e, ev, .. } = call.shapes;
    let compute = call.dtype.compute();
    let (shape, rows) = (call.shapes.with_batch(&[l, ev]), call.shapes.with_batch(&[l]));
    let given = [
        ("g", Some(of.g), call.dtype, &shape),
        ("y", Some(of.y), call.dtype, &shape),
        ("logSumExp", Some(of.logs), compute, &rows),
        ("gLogSumExp", of.of_logs, compute, &rows),
    ];
    for (name, t, dtype, shape) in given {
        let Some(t) = t else { continue };
        let (have, sizes) = (t.defined()?, t.layout()?.shape);
        if have != dtype {
            bail!(Dtype, "{name} of {have}, expected {dtype}")
        }
        if sizes != *shape {
            bail!(Shape, "{name} of shape {:?}, expected {:?}", sizes.as_slice(), shape.as_slice())
        }
    }
    if to.mask.is_some() && options.mask.is_none_or(|mask| mask.dtype() == Some(Dtype::Bool)) {
        bail!(Argument, "gradMask needs a mask of floats")
    }
    if let Some(dropout) = &mut call.work.dropout {
        dropout.seed = match of.seed {
            Some(seed) if seed.defined()? != Dtype::Int64 => bail!(Dtype, "seed of {}, expected int64", seed.defined()?),
            Some(seed) => copy::item(seed)?.to_i64() as u64,
            None => bail!(Argument, "seed may be NULL only if p is 0"),
        };
    }
    let wanted = [
        (to.query, inputs[0], call.shapes.with_batch(&[l, e])),
        (to.key, inputs[1], call.shapes.with_keys(&[s, e])),
        (to.value, inputs[2], call.shapes.with_keys(&[s, ev])),
        (to.mask, options.mask.unwrap_or(inputs[0]), options.mask.map_or(Ok(Dims::new()), of_mask)?),
    ];
    let mut gradients: [Option<Tensor>; 4] = [const { None }; 4];
    for (gradient, (r, _, shape)) in gradients.iter_mut().zip(&wanted) {
        let fresh = || if call.is_empty() { create::full(compute, shape, Scalar::Int(0)) } else { Tensor::empty(compute, shape) };
        *gradient = r.map(|_| fresh()).transpose()?;
    }
    if !call.is_empty() && gradients.iter().any(Option::is_some) {
        let g = copy::to_dtype(of.g, compute)?;
        let delta = delta(&g, &copy::to_dtype(of.y, compute)?, of.of_logs)?;
        if call.is_composed() {
            composed::gradient(&call, &gradients, [&g, of.logs, &delta])?;
        } else {
            let sizes = [([l, e], Heads::Query), ([s, e], Heads::Key), ([s, ev], Heads::Key), ([l, s], Heads::Query)];
            let mut out: [Option<Operand>; 4] = [const { None }; 4];
            for ((out, gradient), (sizes, heads)) in out.iter_mut().zip(&gradients).zip(sizes) {
                *out = gradient.as_ref().map(|t| call.operand(t, &sizes, heads)).transpose()?;
            }
            let rows = |t: &Tensor| call.operand(t, &[l], Heads::Query);
            let mut operands = vec![call.operand(&g, &[l, ev], Heads::Query)?, rows(of.logs)?, rows(&delta)?];
            operands.extend(call.operands()?);
            launch(&AttentionGradient(call.work), &out, &operands)?;
        }
    }
    let mut results: [Option<Tensor>; 4] = [const { None }; 4];
    for ((result, gradient), (_, operand, _)) in results.iter_mut().zip(&gradients).zip(&wanted) {
        *result = gradient.as_ref().map(|t| copy::to_dtype(&sum_to(t, &operand.layout()?.shape)?, operand.defined()?)).transpose()?;
    }
    let mut made: [Option<Made<'_>>; 4] = [None; 4];
    for ((made, result), (r, operand, _)) in made.iter_mut().zip(&results).zip(&wanted) {
        *made = match (r, result) {
            (Some(r), Some(result)) => Some((*r, operand.defined()?, result)),
            _ => None,
        };
    }
    deliver(made)
}

/// The shape of a mask with at least two dimensions.
fn of_mask(mask: &Tensor) -> Result<Dims> {
    let shape = mask.layout()?.shape;
    Ok(std::iter::repeat_n(1, 2usize.saturating_sub(shape.len())).chain(shape.iter().copied()).collect())
}

/// The sum of `g * y` over each row, less the gradient of the logarithm.
fn delta(g: &Tensor, y: &Tensor, of_logs: Option<&Tensor>) -> Result<Tensor> {
    let products = made(|r| arithmetic::cmul.run([r, g, y], &[]))?;
    let delta = made(|r| reduce::sum(To::tensor(r, false), &products, Over::Dim(-1), None))?;
    if let Some(of_logs) = of_logs {
        arithmetic::csub(&delta, &delta, Scalar::Int(1), of_logs)?;
    }
    Ok(delta)
}
