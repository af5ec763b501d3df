//! Normalization by the squares of neighbouring channels.

use super::loss::made;
use super::pointwise::arithmetic;
use super::rearrange::{self, TH_PAD_CONSTANT};
use super::reduce::{self, Over, To};
use super::result::deliver;
use super::{copy, view};
use crate::dtype::Domain;
use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r = t / (k + alpha / size * sum of t^2 over size channels)^beta`; floats only
pub fn local_response_norm(r: &Tensor, t: &Tensor, size: i64, [alpha, beta, k]: [f64; 3]) -> Result<()> {
    let (dtype, shape) = (Domain::Float.check(t.defined()?)?, t.layout()?.shape);
    if size < 1 {
        bail!(Argument, "a size of {size}, but must be positive")
    }
    let &[_, channels, ref sizes @ ..] = shape.as_slice() else {
        bail!(Shape, "an input of shape {:?}: channels are the second dimension", shape.as_slice())
    };
    let x = copy::to_dtype(t, dtype.compute())?;
    if shape.contains(&0) {
        return deliver([Some((r, dtype, &Tensor::empty(dtype, &shape)?))]);
    }
    let squares = made(|r| arithmetic::square.run([r, &x], &[]))?;
    // A window that reaches beyond the channels covers all of them. The pads of the dimensions after the channels are 0.
    let [before, after] = [size / 2, (size - 1) / 2].map(|pad| pad.min(channels));
    let pads: Dims = std::iter::repeat_n(0, 2 * sizes.len()).chain([before, after]).collect();
    let padded = made(|r| rearrange::pad(r, &squares, &pads, TH_PAD_CONSTANT, Scalar::Int(0)))?;
    let windows = view::derive(&padded, |layout| layout.unfold(1, before + 1 + after, 1))?;
    let sums = made(|r| reduce::sum(To::tensor(r, false), &windows, Over::Dim(-1), None))?;
    arithmetic::mul.run([&sums, &sums], &[(alpha / size as f64).into()])?;
    arithmetic::add.run([&sums, &sums], &[k.into()])?;
    let divisor = made(|r| arithmetic::pow(r, &sums, beta.into()))?;
    let y = made(|r| arithmetic::cdiv.run([r, &x, &divisor], &[]))?;
    deliver([Some((r, dtype, &y))])
}
