//! Random elements that are 1 with a given probability.

use super::{PROBABILITY, Parameters, check_all, check_float, fill, is_probability};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::Draw;
use crate::ops::pointwise::arithmetic;
use crate::ops::result::deliver;
use crate::random::Generator;
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

/// `r = t * mask / (1 - p)`, where the mask is 0 with probability `p`, else 1
pub fn dropout(r: &Tensor, mask: Option<&Tensor>, generator: &mut Generator, t: &Tensor, p: f64) -> Result<()> {
    let dtype = check_float(t)?;
    check_all(&[p], PROBABILITY, is_probability)?;
    let shape = t.layout()?.shape;
    let (kept, dropped) = (Tensor::empty(Dtype::Bool, &shape)?, Tensor::empty(dtype, &shape)?);
    bernoulli(&kept, generator, 1.0 - p)?;
    arithmetic::cmul.run([&dropped, t, &kept], &[])?;
    if p < 1.0 {
        arithmetic::mul.run([&dropped, &dropped], &[(1.0 / (1.0 - p)).into()])?;
    }
    deliver([Some((r, dtype, &dropped)), mask.map(|mask| (mask, Dtype::Bool, &kept))])
}
