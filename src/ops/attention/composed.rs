//! Attention on any device, by products, softmax and sums over blocks of rows.

use super::call::{Call, sum_to};
use super::shapes::Heads;
use crate::backend;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::Draw;
use crate::launch::attention::Dropout;
use crate::layout::Dims;
use crate::operand::Operand;
use crate::ops::loss::made;
use crate::ops::matmul::forms::matmul;
use crate::ops::pointwise::{arithmetic, choose, compare, function};
use crate::ops::reduce::{self, Over, To};
use crate::ops::{copy, create, triangle, view};
use crate::random::{Generator, Philox};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The maximum number of scores at a time, if a row of all batch entries has fewer: on a GPU, and on the host, where a block should fit the
/// caches.
const SCORES: [i64; 2] = [1 << 24, 1 << 17];

/// The operands of a block of rows.
struct Rows<'a> {
    call: &'a Call,
    first: i64,
    count: i64,
    /// The rows of `q`, multiplied by the scale.
    q: Tensor,
    /// The rows of `k` and `v` that the block sees.
    k: Tensor,
    v: Tensor,
}

const INFINITY: Scalar = Scalar::Float(f64::INFINITY);
const NONE: Scalar = Scalar::Float(f64::NEG_INFINITY);

fn narrowed(t: &Tensor, dim: i32, start: i64, length: i64) -> Result<Tensor> {
    view::derive(t, |layout| layout.narrow(dim, start, length))
}

fn transposed(t: &Tensor) -> Result<Tensor> {
    view::derive(t, |layout| layout.transpose(-1, -2))
}

fn product(a: &Tensor, b: &Tensor) -> Result<Tensor> {
    made(|r| matmul(r, a, b))
}

fn unsqueezed(t: &Tensor) -> Result<Tensor> {
    view::derive(t, |layout| layout.unsqueeze(-1))
}

impl<'a> Rows<'a> {
    /// Calls `f` with all blocks of rows.
    fn each(call: &'a Call, mut f: impl FnMut(&Rows<'a>) -> Result<()>) -> Result<()> {
        let entries: i64 = call.shapes.batch.iter().product();
        let most = (SCORES[usize::from(call.q.device() == Device::Cpu)] / entries.saturating_mul(call.shapes.s)).clamp(1, call.shapes.l);
        let [q, k, v] =
            [(&call.q, Heads::Query), (&call.k, Heads::Key), (&call.v, Heads::Key)].map(|(t, heads)| call.shapes.grouped(t, 2, heads));
        let (q, k, v) = (q?, k?, v?);
        let mut first = 0;
        while first < call.shapes.l {
            let count = most.min(call.shapes.l - first);
            let visible = if call.work.causal { call.shapes.s.min(first + count) } else { call.shapes.s };
            let q = made(|r| arithmetic::mul.run([r, &narrowed(&q, -2, first, count)?], &[call.work.scale.into()]))?;
            f(&Rows { call, first, count, q, k: narrowed(&k, -2, 0, visible)?, v: narrowed(&v, -2, 0, visible)? })?;
            first += count;
        }
        Ok(())
    }

    /// Returns these rows of a tensor whose batch is the batch of the result. `last` dimensions follow the batch, first the rows.
    fn of(&self, t: &Tensor, last: i32) -> Result<Tensor> {
        narrowed(&self.call.shapes.grouped(t, last as usize, Heads::Query)?, -last, self.first, self.count)
    }

    /// Returns the number of columns that the block sees.
    fn visible(&self) -> Result<i64> {
        let shape = self.k.layout()?.shape;
        Ok(shape[shape.len() - 2])
    }

    /// Returns the scores, minus infinity at positions that are excluded, of shape `batch x rows x visible`.
    fn scores(&self) -> Result<Tensor> {
        let scores = product(&self.q, &transposed(&self.k)?)?;
        let mut shape = self.call.shapes.divided();
        shape.extend_from_slice(&[self.count, self.visible()?]);
        // The batch of `v` may be larger than the batch of `q` and `k`.
        let scores = if scores.layout()?.shape == shape { scores } else { copy::contiguous_copy(&expanded(&scores, &shape)?)? };
        if self.call.work.causal {
            let ones = create::full(Dtype::Bool, &shape[shape.len() - 2..], Scalar::Int(1))?;
            let seen = made(|r| triangle::tril(r, &ones, self.first))?;
            choose::choose_value(&scores, &seen, &scores, NONE, false)?;
        }
        if let Some(mask) = &self.call.mask {
            let mask = self.call.shapes.expanded(mask, &[self.call.shapes.l, self.call.shapes.s], Heads::Query)?;
            let mask = narrowed(&mask, -2, self.first, self.count)?;
            match mask.defined()? {
                Dtype::Bool => choose::choose_value(&scores, &mask, &scores, NONE, false)?,
                _ => arithmetic::cadd(&scores, &scores, Scalar::Int(1), &mask)?,
            }
        }
        Ok(scores)
    }

    /// Multiplies by 0 where dropout drops a weight, and by `factor` elsewhere.
    fn drop(&self, t: &Tensor, dropout: Dropout, factor: f64) -> Result<()> {
        let (entries, group) = (self.call.shapes.batch.iter().product::<i64>(), Dropout::GROUP as i64);
        let s = self.call.shapes.s;
        let width = (s + group - 1) / group * group;
        let drawn = Operand::new_on(t.device(), Dtype::Bool, &[self.count, entries, width])?;
        let offset = Dropout::block((self.first * entries) as u64, 0, s as usize);
        let mut stream = Generator::Philox(Philox { seed: dropout.seed, offset });
        backend::on(t.device()).random(Draw::Bernoulli { p: 1.0 - dropout.p }, &mut stream, &drawn, &[])?;
        let drawn = narrowed(&drawn.tensor()?, -1, 0, self.visible()?)?;
        let mut shape: Dims = [self.count].as_slice().into();
        shape.extend_from_slice(&self.call.shapes.divided());
        shape.push(self.visible()?);
        let kept = view::derive(&drawn, |layout| {
            // The batch entries are one dimension of one stride, which is divided.
            let (step, ends) = (layout.strides[1], [layout.strides[0], layout.strides[2]]);
            let mut strides = crate::layout::contiguous_strides(&shape[1..shape.len() - 1]);
            strides.iter_mut().for_each(|stride| *stride *= step);
            layout.strides = [ends[0]].into_iter().chain(strides.iter().copied()).chain([ends[1]]).collect();
            layout.shape = shape.clone();
            layout.move_dim(0, shape.len() - 2)
        })?;
        arithmetic::cmul.run([t, t, &kept], &[])?;
        arithmetic::mul.run([t, t], &[factor.into()])
    }
}

fn expanded(t: &Tensor, shape: &[i64]) -> Result<Tensor> {
    view::of(t, &t.layout()?.broadcast_to(shape)?)
}

/// Replaces elements that equal `from` by `to`.
fn replaced(t: &Tensor, from: Scalar, to: Scalar) -> Result<Tensor> {
    let equal = made(|r| compare::eqValue.run([r, t], &[from]))?;
    made(|r| choose::choose_value(r, &equal, t, to, true))
}

/// Replaces `t` by `e^(t - less)`.
fn exponentials(t: &Tensor, less: &Tensor) -> Result<()> {
    arithmetic::csub(t, t, Scalar::Int(1), less)?;
    function::exp.run([t, t], &[])
}

/// Writes the result and the logarithms of the sums.
pub fn forward(call: &Call, y: &Tensor, logs: &Tensor) -> Result<()> {
    Rows::each(call, |rows| {
        let weights = rows.scores()?;
        let most = made(|r| reduce::extreme(true, To::tensor(r, true), &weights, Over::Dim(-1)))?;
        let less = replaced(&most, NONE, Scalar::Int(0))?;
        exponentials(&weights, &less)?;
        let total = made(|r| reduce::sum(To::tensor(r, true), &weights, Over::Dim(-1), None))?;
        let log = made(|r| function::log.run([r, &total], &[]))?;
        arithmetic::cadd(&log, &log, Scalar::Int(1), &less)?;
        copy::copy(&unsqueezed(&rows.of(logs, 1)?)?, &log)?;
        if let Some(dropout) = call.work.dropout {
            rows.drop(&weights, dropout, dropout.factor())?;
        }
        let result = product(&weights, &rows.v)?;
        // A row without a position has a total of 0, and sums of 0.
        let total = replaced(&total, Scalar::Int(0), Scalar::Int(1))?;
        arithmetic::cdiv.run([&result, &result, &total], &[])?;
        copy::copy(&rows.of(y, 2)?, &result)
    })
}

/// Writes the gradients of `q`, `k`, `v` and the mask, from the gradient of the result, the logarithms and delta.
pub fn gradient(call: &Call, out: &[Option<Tensor>; 4], [g, logs, delta]: [&Tensor; 3]) -> Result<()> {
    let [of_q, of_k, of_v, of_mask] = out;
    for t in [of_k, of_v, of_mask].into_iter().flatten() {
        copy::fill(t, Scalar::Int(0))?;
    }
    Rows::each(call, |rows| {
        let (weights, g) = (rows.scores()?, rows.of(g, 2)?);
        // A row without a position has weights 0.
        exponentials(&weights, &replaced(&unsqueezed(&rows.of(logs, 1)?)?, NONE, INFINITY)?)?;
        let slopes = product(&g, &transposed(&rows.v)?)?;
        if let Some(dropout) = call.work.dropout {
            rows.drop(&slopes, dropout, dropout.factor())?;
        }
        arithmetic::csub(&slopes, &slopes, Scalar::Int(1), &unsqueezed(&rows.of(delta, 1)?)?)?;
        arithmetic::cmul.run([&slopes, &slopes, &weights], &[])?;
        if let Some(dropout) = call.work.dropout {
            rows.drop(&weights, dropout, dropout.factor())?;
        }
        if let Some(of_q) = of_q {
            let result = product(&slopes, &rows.k)?;
            arithmetic::mul.run([&result, &result], &[call.work.scale.into()])?;
            copy::copy(&rows.of(of_q, 2)?, &result)?;
        }
        for (of, left, right) in [(of_k, &slopes, &rows.q), (of_v, &weights, &g)] {
            if let Some(of) = of {
                let of = narrowed(&call.shapes.grouped(of, 2, Heads::Key)?, -2, 0, rows.visible()?)?;
                let sum = sum_to(&product(&transposed(left)?, right)?, &of.layout()?.shape)?;
                arithmetic::cadd(&of, &of, Scalar::Int(1), &sum)?;
            }
        }
        if let Some(of_mask) = of_mask {
            let all = call.shapes.grouped(of_mask, 2, Heads::Query)?;
            let shape = all.layout()?.shape;
            let of = if shape[shape.len() - 2] == 1 { all } else { narrowed(&all, -2, rows.first, rows.count)? };
            arithmetic::cadd(&of, &of, Scalar::Int(1), &sum_to(&slopes, &of.layout()?.shape)?)?;
        }
        Ok(())
    })
}
