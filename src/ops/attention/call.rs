//! The checked arguments of attention.

use super::shapes::{Heads, Shapes};
use crate::device::Device;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::Attention;
use crate::launch::attention::Dropout;
use crate::layout::Dims;
use crate::operand::{Operand, one_dtype};
use crate::ops::loss::made;
use crate::ops::reduce::{self, Over, To};
use crate::ops::{copy, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
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

/// Checked arguments: operands in the compute type.
pub struct Call {
    /// The sizes.
    pub shapes: Shapes,
    /// The dtype of the operands.
    pub dtype: Dtype,
    pub q: Tensor,
    pub k: Tensor,
    pub v: Tensor,
    pub mask: Option<Tensor>,
    /// The work of the host.
    pub work: Attention,
}

impl Call {
    /// Checks the arguments.
    pub fn new(inputs: [&Tensor; 3], options: Options<'_>) -> Result<Call> {
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
    pub fn is_empty(&self) -> bool {
        self.shapes.batch.contains(&0) || self.shapes.l == 0 || self.shapes.s == 0
    }

    /// Returns true if other work does the computation: on a GPU, and for float64, which few programs need here.
    pub fn is_composed(&self) -> bool {
        matches!(self.q.device(), Device::Cuda(_)) || self.dtype == Dtype::Float64
    }

    /// Returns views of the operands with the whole batch.
    pub fn operands(&self) -> Result<SmallVec<[Operand; 4]>> {
        let Shapes { l, s, e, ev, .. } = self.shapes;
        let mask = self.mask.iter().map(|mask| (mask, [l, s], Heads::Query));
        let all = [(&self.q, [l, e], Heads::Query), (&self.k, [s, e], Heads::Key), (&self.v, [s, ev], Heads::Key)].into_iter().chain(mask);
        all.map(|(t, sizes, heads)| self.operand(t, &sizes, heads)).collect()
    }

    /// Returns a view of `t` with the whole batch, whose last sizes are `sizes`.
    pub fn operand(&self, t: &Tensor, sizes: &[i64], heads: Heads) -> Result<Operand> {
        Operand::of(&self.shapes.expanded(t, sizes, heads)?)
    }
}

/// Sums `t` over the dimensions along which an operand of this shape was broadcast.
pub fn sum_to(t: &Tensor, shape: &[i64]) -> Result<Tensor> {
    let have = t.layout()?.shape;
    let front = have.len() - shape.len();
    let dims: Dims = (0..have.len()).filter(|&d| d < front || (shape[d - front] == 1 && have[d] != 1)).map(|d| d as i64).collect();
    if dims.is_empty() {
        return view::alias(t);
    }
    let sum = made(|r| reduce::sum(To::tensor(r, false), t, Over::Dims(&dims), None))?;
    view::reshape(&sum, shape)
}
