//! Attention: the host has kernels for it; on a GPU it is composed of products and softmax over blocks of rows.

mod composed;
mod shapes;

use super::loss::made;
use super::pointwise::arithmetic;
use super::reduce::{self, Over, To};
use super::result::{Made, deliver};
use super::{copy, create, view};
use crate::backend;
use crate::device::Device;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::attention::Dropout;
use crate::launch::{Attention, AttentionGradient, Launchable};
use crate::layout::Dims;
use crate::operand::{Operand, one_dtype};
use crate::random::{Generator, block};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use shapes::{Heads, Shapes};
use smallvec::SmallVec;

/// The arguments of attention, except the tensors that it multiplies.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// A Bool mask, or numbers that are added to the scores.
    pub mask: Option<&'a Tensor>,
    /// The probability that a weight becomes 0.
    pub p: f64,
    /// True if row `i` excludes the columns after `i`.
    pub causal: bool,
    /// The factor of the products of rows; 0 means the default.
    pub scale: f64,
    /// True if `key` and `value` may have fewer heads than `query`.
    pub grouped: bool,
}

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

/// Checked arguments: operands in the compute type.
struct Call {
    shapes: Shapes,
    /// The dtype of the operands.
    dtype: Dtype,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Option<Tensor>,
    work: Attention,
}

impl Call {
    fn new(inputs: [&Tensor; 3], options: Options<'_>) -> Result<Call> {
        let Options { mask, p, causal, scale, grouped } = options;
        let dtype = Domain::Float.check(one_dtype(&inputs)?)?;
        let compute = dtype.compute();
        let shapes = Shapes::of(inputs, mask, grouped)?;
        if causal && mask.is_some() {
            bail!(Argument, "a mask and causal exclude each other")
        }
        if !(0.0..=1.0).contains(&p) {
            bail!(Argument, "p is a probability from 0 to 1, got {}", Scalar::from(p))
        }
        let mask = mask.map(|mask| match mask.defined()? {
            Dtype::Bool => view::alias(mask),
            have if have == dtype || have == compute => copy::to_dtype(mask, compute),
            have => bail!(Dtype, "mask of {have} beside elements of {dtype}"),
        });
        let scale = match scale {
            0.0 if shapes.e == 0 => 1.0,
            0.0 => 1.0 / (shapes.e as f64).sqrt(),
            scale => scale,
        };
        let [q, k, v] = inputs.map(|t| copy::to_dtype(t, compute));
        let dropout = (p > 0.0).then_some(Dropout { p, seed: 0 });
        Ok(Call { shapes, dtype, q: q?, k: k?, v: v?, mask: mask.transpose()?, work: Attention { scale, causal, dropout } })
    }

    /// Returns true if there are no scores.
    fn is_empty(&self) -> bool {
        self.shapes.batch.contains(&0) || self.shapes.l == 0 || self.shapes.s == 0
    }

    /// Returns true if the operands are on a GPU.
    fn is_composed(&self) -> bool {
        matches!(self.q.device(), Device::Cuda(_))
    }

    /// Returns views of the operands with the whole batch.
    fn operands(&self) -> Result<SmallVec<[Operand; 4]>> {
        let Shapes { l, s, e, ev, .. } = self.shapes;
        let mask = self.mask.iter().map(|mask| (mask, [l, s], Heads::Query));
        let all = [(&self.q, [l, e], Heads::Query), (&self.k, [s, e], Heads::Key), (&self.v, [s, ev], Heads::Key)].into_iter().chain(mask);
        all.map(|(t, sizes, heads)| self.operand(t, &sizes, heads)).collect()
    }

    fn operand(&self, t: &Tensor, sizes: &[i64], heads: Heads) -> Result<Operand> {
        Operand::of(&self.shapes.expanded(t, sizes, heads)?)
    }
}

/// Does work of the host, whose results are `out`.
fn launch(work: &impl Launchable, out: &[Option<Operand>], inputs: &[Operand]) -> Result<()> {
    let out: SmallVec<[Option<&Operand>; 4]> = out.iter().map(Option::as_ref).collect();
    let inputs: SmallVec<[&Operand; 8]> = inputs.iter().collect();
    backend::of(out.iter().copied().flatten().chain(inputs.iter().copied()))?.launch(work, &out, &inputs)
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

/// Sums `t` over the dimensions along which an operand of this shape was broadcast.
fn sum_to(t: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let have = t.layout()?.shape;
    let front = have.len() - shape.len();
    let dims: Dims = (0..have.len()).filter(|&d| d < front || (shape[d - front] == 1 && have[d] != 1)).map(|d| d as i64).collect();
    if dims.is_empty() {
        return view::alias(t);
    }
    let sum = made(|r| reduce::sum(To::tensor(r, false), t, Over::Dims(&dims), None))?;
    view::reshape(&sum, shape)
}
