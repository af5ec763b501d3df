//! The similarity and the distance of vectors, and losses of both.

use super::loss::{THReduction, made};
use super::losses::{hinge, reduced};
use super::pointwise::{arithmetic, choose, compare, promote};
use super::reduce::{self, Over, To};
use super::result::deliver;
use super::{copy, view};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::layout::broadcast_shape;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The bound of the norms in [`cosine_embedding`]. In PyTorch, `eps^2` is added to their squares.
pub(crate) const COSINE_EPS: f64 = 1e-6;

/// The promoted float dtype of vectors.
fn common(vectors: &[&Tensor]) -> Result<Dtype> {
    Domain::Float.check(promote(vectors)?)
}

/// The cosines of `a` and `b` along a dim, in `dtype`. Norms are at least `eps`.
fn cosines([a, b]: [&Tensor; 2], dtype: Dtype, dim: i32, eps: f64) -> Result<Tensor> {
    let shape = broadcast_shape(&a.layout()?.shape, &b.layout()?.shape)?;
    let unit = |t: &Tensor| {
        let t = view::derive(&copy::to_dtype(t, dtype)?, |layout| layout.expand(&shape))?;
        let norm = made(|r| reduce::norm(To::tensor(r, true), &t, 2.0, Over::Dim(dim), None))?;
        let norm = made(|r| arithmetic::cmax_value(r, &norm, eps.into()))?;
        made(|r| arithmetic::cdiv.run([r, &t, &norm], &[]))
    };
    let products = made(|r| arithmetic::cmul.run([r, &unit(a)?, &unit(b)?], &[]))?;
    made(|r| reduce::sum(To::tensor(r, false), &products, Over::Dim(dim), None))
}

/// `r = sum of a * b / (max(norm of a, eps) * max(norm of b, eps))` along a dim; floats only
pub fn cosine_similarity(r: &Tensor, vectors: [&Tensor; 2], dim: i32, eps: f64) -> Result<()> {
    let dtype = common(&vectors)?;
    deliver([Some((r, dtype, &cosines(vectors, dtype.compute(), dim, eps)?))])
}

/// The p-norms of `a - b + eps` along the last dim, in `dtype`.
fn distances([a, b]: [&Tensor; 2], dtype: Dtype, p: f64, eps: f64, keepdim: bool) -> Result<Tensor> {
    if a.ndim() == 0 && b.ndim() == 0 {
        bail!(Shape, "the distance of two scalars: vectors have a dimension")
    }
    let difference = made(|r| arithmetic::csub(r, &copy::to_dtype(a, dtype)?, 1.into(), &copy::to_dtype(b, dtype)?))?;
    arithmetic::add.run([&difference, &difference], &[eps.into()])?;
    made(|r| reduce::norm(To::tensor(r, keepdim), &difference, p, Over::Dim(-1), None))
}

/// `r = (sum of |a - b + eps|^p)^(1/p)` along the last dim; floats only
pub fn pairwise_distance(r: &Tensor, vectors: [&Tensor; 2], p: f64, eps: f64, keepdim: bool) -> Result<()> {
    let dtype = common(&vectors)?;
    deliver([Some((r, dtype, &distances(vectors, dtype.compute(), p, eps, keepdim)?))])
}

/// `r = 1 - cosine where target = 1, max(cosine - margin, 0) where target = -1`, along the last dim, reduced
pub fn cosine_embedding(r: &Tensor, vectors: [&Tensor; 2], target: &Tensor, margin: f64, reduction: THReduction) -> Result<()> {
    reduced(r, reduction, common(&vectors)?, &|r, dtype| {
        let wide = dtype.compute();
        let cosines = cosines(vectors, wide, -1, COSINE_EPS)?;
        let (have, want) = (target.layout()?.shape, cosines.layout()?.shape);
        if have != want {
            bail!(Shape, "target of shape {:?} for vectors of shape {:?}", have.as_slice(), want.as_slice())
        }
        let other = made(|r| arithmetic::sub.run([r, &cosines], &[margin.into()]))?;
        hinge(&other, 0.0)?;
        let sign = |value: i64| made(|r| compare::eqValue.run([r, target], &[value.into()]));
        choose::choose_value(&other, &sign(-1)?, &other, 0.into(), false)?;
        arithmetic::mul.run([&cosines, &cosines], &[(-1).into()])?;
        arithmetic::add.run([&cosines, &cosines], &[1.into()])?;
        choose::choose(&other, &sign(1)?, &cosines, &other)?;
        deliver([Some((r, dtype, &other))])
    })
}

/// The parameters of [`triplet_margin`].
#[derive(Clone, Copy)]
pub struct Triplet {
    /// The distance that the negative must be farther away.
    pub margin: f64,
    /// The exponent of the norm.
    pub p: f64,
    /// The number that is added to differences.
    pub eps: f64,
    /// True if the distance from the positive to the negative counts, where that is less than the distance from the anchor.
    pub swap: bool,
}

/// `r = max(margin + distance(anchor, positive) - distance(anchor, negative), 0)`, reduced
pub fn triplet_margin(r: &Tensor, [anchor, positive, negative]: [&Tensor; 3], of: Triplet, reduction: THReduction) -> Result<()> {
    if of.margin.is_nan() || of.margin <= 0.0 {
        bail!(Argument, "margin is {}, but must be positive", Scalar::from(of.margin))
    }
    reduced(r, reduction, common(&[anchor, positive, negative])?, &|r, dtype| {
        let wide = dtype.compute();
        let distance = |a, b| distances([a, b], wide, of.p, of.eps, false);
        let (near, mut far) = (distance(anchor, positive)?, distance(anchor, negative)?);
        if of.swap {
            let other = distance(positive, negative)?;
            far = made(|r| arithmetic::cmin_tensor(r, &far, &other))?;
        }
        let all = made(|r| arithmetic::csub(r, &near, 1.into(), &far))?;
        hinge(&all, of.margin)?;
        deliver([Some((r, dtype, &all))])
    })
}
