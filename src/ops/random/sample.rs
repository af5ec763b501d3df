//! Samples: permutations, and categories drawn by probability.

use super::whole::greatest;
use super::{Parameters, check_all, fill, is_not_negative, is_probability, make};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Draw;
use crate::layout::Layout;
use crate::operand::Operand;
use crate::ops::copy;
use crate::ops::device;
use crate::ops::result::deliver;
use crate::random::{Alias, Generator};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r` = the integers from 0 to `n - 1` in random order. A fresh `r` gets int64.
pub fn permutation(r: &Tensor, generator: &mut Generator, n: i64) -> Result<()> {
    if n < 0 {
        bail!(Argument, "{n} elements cannot be permuted")
    }
    let dtype = r.dtype().unwrap_or(Dtype::Int64);
    if n as u64 > greatest(dtype).saturating_add(1) {
        bail!(Argument, "{dtype} does not hold all integers below {n}")
    }
    make(r, dtype, true, &[n], |r| {
        let order = if r.dtype() == Some(Dtype::Int64) { r.clone() } else { Tensor::empty(Dtype::Int64, &[n])? };
        fill(&order, generator, Draw::Permutation, &[])?;
        copy::copy(r, &order)
    })
}

/// `r` = `n` categories for each row of probabilities `p`. A fresh `r` gets int64.
pub fn multinomial(r: &Tensor, generator: &mut Generator, p: &Tensor, n: i64, replacement: bool) -> Result<()> {
    let parameters = Parameters::of([p])?;
    let shape = parameters.shape.as_slice();
    let (rows, categories) = match *shape {
        [categories] => (1, categories as usize),
        [rows, categories] => (rows as usize, categories as usize),
        _ => bail!(Shape, "expected probabilities of 1 or 2 dimensions, got shape {shape:?}"),
    };
    if n < 0 {
        bail!(Argument, "{n} samples cannot be drawn")
    }
    check_holds(r, categories as i64)?;
    let probabilities = parameters.list(0)?;
    let p = |row: usize| &probabilities[row * categories..][..categories];
    for row in 0..rows {
        let above = check_weights(p(row), row)?;
        if !replacement && n > above as i64 {
            bail!(Argument, "{n} samples without replacement, but row {row} has {above} probabilities above 0")
        }
    }
    let mut sizes = parameters.shape.clone();
    sizes.remove(sizes.len() - 1);
    sizes.push(n);
    let drawn = Tensor::empty(Dtype::Int64, &sizes)?;
    let p = Operand::of(&parameters.values[0])?;
    let p = p.view(Layout::contiguous(&[rows as i64, categories as i64]));
    fill(&drawn, generator, Draw::Categories { replacement }, &[&p])?;
    deliver([Some((r, Dtype::Int64, &drawn))])
}

/// Fails if the dtype of `r` cannot hold `categories` distinct numbers.
fn check_holds(r: &Tensor, categories: i64) -> Result<()> {
    match r.dtype() {
        Some(dtype) if dtype == Dtype::Bool || (categories - 1).max(0) as u64 > greatest(dtype) => {
            bail!(Dtype, "{dtype} does not hold {categories} categories")
        }
        _ => Ok(()),
    }
}

/// Fails if a probability is negative, or if their sum is 0 or not finite. Returns the number of nonzero probabilities.
fn check_weights(p: &[f64], row: usize) -> Result<usize> {
    check_all(p, "probabilities >= 0", is_not_negative)?;
    // The sum begins with 0, because `sum` of nothing is -0.
    let sum = p.iter().fold(0.0, |sum, x| sum + x);
    if !(sum > 0.0 && sum.is_finite()) {
        bail!(Argument, "expected probabilities of a finite sum above 0, those of row {row} sum to {}", Scalar::from(sum))
    }
    Ok(p.iter().filter(|&&x| x > 0.0).count())
}

/// The alias tables of probabilities `p`: `stays` in their dtype, and `other` as int64.
pub fn alias_setup(p: &Tensor, other: &Tensor, stays: &Tensor) -> Result<()> {
    let parameters = Parameters::of([p])?;
    let shape = vector(&parameters.shape)?;
    let weights = parameters.list(0)?;
    check_weights(&weights, 0)?;
    let tables = Alias::new(&weights)?;
    let others = device::written(shape, |list: &mut [i64]| {
        list.copy_from_slice(&tables.other);
        Ok(())
    })?;
    let probabilities = device::written(shape, |list: &mut [f64]| {
        list.copy_from_slice(&tables.stays);
        Ok(())
    })?;
    let rounded = copy::to_dtype(&probabilities, parameters.dtype)?;
    deliver([Some((other, Dtype::Int64, &others)), Some((stays, parameters.dtype, &rounded))])
}

fn vector(shape: &[i64]) -> Result<&[i64]> {
    match shape {
        [n] if *n > 0 => Ok(shape),
        _ => bail!(Shape, "expected a vector that is not empty, got shape {shape:?}"),
    }
}

/// `r` = categories drawn by alias tables
pub fn alias_draw(r: &Tensor, generator: &mut Generator, other: &Tensor, stays: &Tensor) -> Result<()> {
    let parameters = Parameters::of([stays])?;
    let shape = vector(&parameters.shape)?;
    let stays = parameters.list(0)?;
    check_all(&stays, super::PROBABILITY, is_probability)?;
    if other.defined()?.is_float() || other.layout()?.shape.as_slice() != shape {
        bail!(
            Shape,
            "expected {} integers beside the probabilities, got {} of shape {:?}",
            stays.len(),
            other.defined()?,
            other.layout()?.shape.as_slice()
        )
    }
    let kept = Tensor::empty(Dtype::Int64, shape)?;
    copy::copy(&kept, other)?;
    let categories = stays.len() as i64;
    if let Some(k) = device::elements::<i64>(&kept)?.iter().find(|&&k| !(0..categories).contains(&k)) {
        bail!(Argument, "category {k} is none of {categories}")
    }
    r.defined()?;
    check_holds(r, categories)?;
    fill(r, generator, Draw::Alias, &[&Operand::of(&kept)?, &Operand::of(&parameters.values[0])?])
}
