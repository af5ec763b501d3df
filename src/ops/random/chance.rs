//! Random elements that are 1 with a given probability.

use super::{PROBABILITY, Parameters, check_all, check_float, fill, is_probability};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Draw;
use crate::layout::Dims;
use crate::ops::pointwise::{arithmetic, choose};
use crate::ops::result::deliver;
use crate::random::Generator;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r` = 1 with probability `p`, else 0
pub fn bernoulli(r: &Tensor, generator: &mut Generator, p: f64) -> Result<()> {
    check_all(&[p], PROBABILITY, is_probability)?;
    fill(r, generator, Draw::Bernoulli { p }, &[])
}

/// [`bernoulli`] with a probability for each element.
pub fn bernoulli_tensor(r: &Tensor, generator: &mut Generator, p: &Tensor) -> Result<()> {
    let parameters = Parameters::of([p])?;
    check_all(&parameters.list(0)?, PROBABILITY, is_probability)?;
    parameters.draw(r, generator, true, Draw::BernoulliEach)
}

/// The kind of a dropout.
#[derive(Clone, Copy)]
pub struct Dropout {
    /// True if the elements of a channel, an entry of the second dimension, are dropped together.
    pub channels: bool,
    /// True if the mean 0 and the variance 1 of the elements are kept.
    pub alpha: bool,
}

/// The limit of selu for minus infinity, which replaces elements in a dropout of kind `alpha`.
const DROPPED: f64 = -1.758_099_340_847_376_6;

/// The factor of elements that are kept by [`dropout`]; 0 if all elements are dropped.
pub fn kept_by(p: f64, alpha: bool) -> f64 {
    match (p < 1.0, alpha) {
        (false, _) => 0.0,
        (true, false) => 1.0 / (1.0 - p),
        (true, true) => 1.0 / ((DROPPED * DROPPED * p + 1.0) * (1.0 - p)).sqrt(),
    }
}

/// `r = t * mask / (1 - p)`, where the mask is 0 with probability `p`, else 1; or for the kind `alpha`, `r = a * (t - s * p)` where the
/// mask is 1, else `a * s * (1 - p)`, with the factor `a` of [`kept_by`] and the limit `s` of selu
pub fn dropout(r: &Tensor, mask: Option<&Tensor>, generator: &mut Generator, t: &Tensor, p: f64, kind: Dropout) -> Result<()> {
    let dtype = check_float(t)?;
    check_all(&[p], PROBABILITY, is_probability)?;
    let shape = t.layout()?.shape;
    let of_mask: Dims = match shape.as_slice() {
        [batch, channels, sizes @ ..] if kind.channels => [*batch, *channels].into_iter().chain(sizes.iter().map(|_| 1)).collect(),
        shape if kind.channels => bail!(Shape, "an input of shape {shape:?}: channels are the second dimension"),
        _ => shape.clone(),
    };
    let wide = if kind.alpha { dtype.compute() } else { dtype };
    let (kept, dropped) = (Tensor::empty(Dtype::Bool, &of_mask)?, Tensor::empty(wide, &shape)?);
    bernoulli(&kept, generator, 1.0 - p)?;
    let factor = kept_by(p, kind.alpha);
    if kind.alpha {
        let limit = factor * DROPPED;
        arithmetic::mul.run_in(wide, &[&dropped, t], &[factor.into()])?;
        arithmetic::add.run([&dropped, &dropped], &[(-limit * p).into()])?;
        choose::choose_value(&dropped, &kept, &dropped, Scalar::Float(limit - limit * p), false)?;
    } else {
        arithmetic::cmul.run([&dropped, t, &kept], &[])?;
        arithmetic::mul.run([&dropped, &dropped], &[factor.into()])?;
    }
    deliver([Some((r, dtype, &dropped)), mask.map(|mask| (mask, Dtype::Bool, &kept))])
}
