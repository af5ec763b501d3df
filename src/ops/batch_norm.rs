//! Normalization over all dimensions except the channels, with running statistics.

use super::layer_norm::check_row_dtype;
use super::loss::made;
use super::pointwise::{arithmetic, function, loss};
use super::reduce::{self, Over, To};
use super::result::deliver;
use super::{copy, view};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::tensor::Tensor;

/// The arguments of a normalization, except the input.
#[derive(Clone, Copy)]
pub struct Channels<'a> {
    /// The factor of each channel; 1 if absent.
    pub weight: Option<&'a Tensor>,
    /// The summand of each channel; 0 if absent.
    pub bias: Option<&'a Tensor>,
    /// The running mean.
    pub mean: Option<&'a Tensor>,
    /// The running variance: a mean of unbiased variances.
    pub variance: Option<&'a Tensor>,
    /// True if the input's own statistics are used, and the running ones are updated by them.
    pub training: bool,
    /// The weight of the input's statistics in the running ones.
    pub momentum: f64,
    /// A number that is added to variances.
    pub eps: f64,
}

/// The statistics that [`batch_norm`] used, as further results.
#[derive(Clone, Copy)]
pub struct Used<'a> {
    /// The mean.
    pub mean: Option<&'a Tensor>,
    /// The reciprocal of the root of the variance plus `eps`.
    pub inverse: Option<&'a Tensor>,
}

impl Channels<'_> {
    fn check(&self, dtype: Dtype, count: i64) -> Result<()> {
        let all = [("weight", self.weight), ("bias", self.bias), ("runningMean", self.mean), ("runningVar", self.variance)];
        for (name, t) in all.into_iter().filter_map(|(name, t)| Some((name, t?))) {
            check_row_dtype(name, t, dtype)?;
            let shape = t.layout()?.shape;
            if shape.as_slice() != [count] {
                bail!(Shape, "{name} of shape {:?} for {count} channels", shape.as_slice())
            }
        }
        Ok(())
    }

    /// The mean, the variance and `1 / sqrt(variance + eps)` of each channel of `x`. Each channel has `n` elements.
    fn statistics(&self, x: &Tensor, ndim: usize, n: i64) -> Result<[Tensor; 3]> {
        let compute = x.defined()?;
        if !self.training {
            let (Some(mean), Some(variance)) = (self.mean, self.variance) else {
                bail!(Argument, "'runningMean' and 'runningVar' may be NULL in training alone")
            };
            let variance = copy::to_dtype(variance, compute)?;
            let inverse = self.inverse(&variance)?;
            return Ok([copy::to_dtype(mean, compute)?, variance, inverse]);
        }
        if n == 1 {
            bail!(Argument, "training takes more than one element of each channel")
        }
        let dims: Dims = (0..ndim as i64).filter(|&d| d != 1).collect();
        let over = Over::Dims(&dims);
        // The variance of float32 is computed in float64, so that the inverse exists even if the variance exceeds float32. Channels of
        // float64 are scaled by a factor instead.
        if compute != Dtype::Float64 {
            let mean = made(|r| reduce::mean(To::tensor(r, false), x, over, None))?;
            let variance = made(|r| reduce::var(false, To::tensor(r, false), x, over, 0.0, Some(Dtype::Float64)))?;
            let inverse = copy::to_dtype(&self.inverse(&variance)?, compute)?;
            return Ok([mean, copy::to_dtype(&variance, compute)?, inverse]);
        }
        let factor = made(|r| reduce::norm(To::tensor(r, true), x, f64::INFINITY, over, None))?;
        loss::shrinking.run([&factor, &factor], &[])?;
        let x = made(|r| arithmetic::cmul.run([r, x, &factor], &[]))?;
        let factor = view::reshape(&factor, &[factor.layout()?.numel()])?;
        let mean = made(|r| reduce::mean(To::tensor(r, false), &x, over, None))?;
        let variance = made(|r| reduce::var(false, To::tensor(r, false), &x, over, 0.0, None))?;
        // `factor / sqrt(variance + eps * factor^2)`
        let inverse = made(|r| arithmetic::addcmul.run([r, &variance, &factor, &factor], &[self.eps.into()]))?;
        function::rsqrt.run([&inverse, &inverse], &[])?;
        arithmetic::cmul.run([&inverse, &inverse, &factor], &[])?;
        for (t, divisions) in [(&mean, 1), (&variance, 2)] {
            (0..divisions).try_for_each(|_| arithmetic::cdiv.run([t, t, &factor], &[]))?;
        }
        Ok([mean, variance, inverse])
    }

    /// `1 / sqrt(variance + eps)`
    fn inverse(&self, variance: &Tensor) -> Result<Tensor> {
        let inverse = made(|r| arithmetic::add.run([r, variance], &[self.eps.into()]))?;
        function::rsqrt.run([&inverse, &inverse], &[])?;
        Ok(inverse)
    }

    /// The updated running mean and running variance: in training, those that are given are moved towards the statistics of the input.
    fn moved(&self, mean: &Tensor, variance: &Tensor, n: i64) -> Result<[Option<Tensor>; 2]> {
        if !self.training {
            return Ok([None, None]);
        }
        let unbiased = made(|r| arithmetic::mul.run([r, variance], &[(n as f64 / (n - 1) as f64).into()]))?;
        let moved = |running: Option<&Tensor>, own: &Tensor| {
            let Some(running) = running else { return Ok(None) };
            made(|r| arithmetic::lerp.run([r, running, own], &[self.momentum.into()])).map(Some)
        };
        Ok([moved(self.mean, mean)?, moved(self.variance, &unbiased)?])
    }
}

/// `r = (t - mean) / sqrt(variance + eps) * weight + bias` with statistics for each entry of the second dimension; floats only
pub fn batch_norm(r: &Tensor, used: Used<'_>, t: &Tensor, channels: Channels<'_>) -> Result<()> {
    let (dtype, shape) = (Domain::Float.check(t.defined()?)?, t.layout()?.shape);
    if shape.len() < 2 {
        bail!(Shape, "an input of shape {:?}: channels are the second dimension", shape.as_slice())
    }
    channels.check(dtype, shape[1])?;
    let x = copy::to_dtype(t, dtype.compute())?;
    // The product can only overflow if the input has no elements.
    let n = shape.iter().enumerate().filter(|&(d, _)| d != 1).fold(1, |n: i64, (_, &size)| n.wrapping_mul(size));
    let [mean, variance, inverse] = channels.statistics(&x, shape.len(), n)?;
    let scale = match channels.weight {
        Some(weight) => made(|r| arithmetic::cmul.run([r, &inverse, weight], &[]))?,
        None => inverse.clone(),
    };
    // One entry for each channel, followed by dimensions of size 1.
    let along: Dims = (1..shape.len()).map(|d| if d == 1 { shape[1] } else { 1 }).collect();
    let (centre, scale) = (view::reshape(&mean, &along)?, view::reshape(&scale, &along)?);
    let mut y = made(|r| loss::standardized.run([r, &x, &centre, &scale], &[]))?;
    if let Some(bias) = channels.bias {
        let bias = view::reshape(&copy::to_dtype(bias, dtype.compute())?, &along)?;
        arithmetic::cadd(&y, &y, 1.0.into(), &bias)?;
    }
    if dtype != dtype.compute() {
        y = copy::to_dtype(&y, dtype)?;
    }
    let moved = channels.moved(&mean, &variance, n)?;
    // All results change together. If a running statistic cannot be written, none changes.
    let compute = dtype.compute();
    let running = [channels.mean, channels.variance];
    let [of_mean, of_variance] = [0, 1].map(|k| running[k].zip(moved[k].as_ref()).map(|(running, moved)| (running, compute, moved)));
    let used = [used.mean.map(|r| (r, compute, &mean)), used.inverse.map(|r| (r, compute, &inverse))];
    deliver([Some((r, dtype, &y)), used[0], used[1], of_mean, of_variance])
}
