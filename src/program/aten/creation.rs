//! New tensors of numbers, and random numbers.

use crate::api::function::Function;
use crate::api::word::{ToWord, Word};
use crate::dtype::{Dtype, default_dtype};
use crate::error::Result;
use crate::expr::{self, In, names};
use crate::layout::Dims;
use crate::program::call::{Call, fill};
use crate::program::direct::invoke;
use crate::program::frame::Item;
use crate::program::table::aten;

aten! {
    "full" "size fill_value dtype=None" => { full };
    "zeros" "size dtype=None" => { zeros };
    "ones" "size dtype=None" => { ones };
    "empty.memory_format" "size dtype=None" => { zeros };
    "empty_permuted" "size physical_layout dtype=None" => { empty_permuted };
    "empty_strided" "size stride dtype=None" => { empty_permuted };
    "new_empty_strided" "self size stride dtype=None" => { new_empty_strided };
    "full_like" "self fill_value dtype=None" => { full_like };
    "zeros_like" "self dtype=None" => { zeros_like };
    "ones_like" "self dtype=None" => { ones_like };
    "empty_like" "self dtype=None" => { zeros_like };
    "new_zeros" "self size dtype=None" => { new_zeros };
    "new_ones" "self size dtype=None" => { new_ones };
    "new_empty" "self size dtype=None" => { new_zeros };
    "new_full" "self size fill_value dtype=None" => { new_full };
    "fill.Scalar" "self value" => { filled };
    "fill_.Scalar" "self value" => { fill_in };
    "fill_.Tensor" "self value" => { fill_in };
    "zero" "self" => { zeros_like_self };
    "zero_" "self" => { zero_in };
    "scalar_tensor" "s dtype=None" => { scalar_tensor };
    "arange" "end dtype=None" => { arange };
    "arange.start" "start end dtype=None" => { arange_from };
    "arange.start_step" "start end step=1 dtype=None" => { arange_by };
    "linspace" "start end steps dtype=None" => { linspace };
    "logspace" "start end steps base=10 dtype=None" => { logspace };
    "eye" "n dtype=None" => { eye };
    "eye.m" "n m dtype=None" => { eye };
    "tril" "self diagonal=0" => tril "self diagonal";
    "triu" "self diagonal=0" => triu "self diagonal";
    "tril_indices" "row col offset=0 dtype==None" => trilIndices "row col offset";
    "tril_indices" "row col offset=0 dtype=None" => { lower_indices };
    "triu_indices" "row col offset=0 dtype==None" => triuIndices "row col offset";
    "triu_indices" "row col offset=0 dtype=None" => { upper_indices };
    "one_hot" "self num_classes=-1" => oneHot "self num_classes";
    "rand" "size dtype=None" => { rand };
    "randn" "size dtype=None" => { randn };
    "rand_like" "self dtype=None" => { rand_like };
    "randn_like" "self dtype=None" => { randn_like };
    "randint" "high size dtype=None" => { randint };
    "randint.low" "low high size dtype=None" => { randint_from };
    "randint_like" "self high dtype=None" => { randint_like };
    "randint_like.low_dtype" "self low high dtype=None" => { randint_like_from };
    "randperm" "n dtype=None" => { randperm };
    "bernoulli" "self" => bernoulliTensor "self";
    "bernoulli.p" "self p=0.5" => { bernoulli };
    "multinomial" "self num_samples replacement=False" => multinomial "self num_samples replacement";
    "bernoulli_.float" "self p=0.5" => { bernoulli_in };
    "normal_" "self mean=0 std=1" => { normal_in };
    "uniform_" "self from=0 to=1" => { uniform_in };
    "exponential_" "self lambd=1" => { exponential_in };
    "normal_functional" "self mean=0 std=1" => { normal_like };
    "uniform" "self from=0 to=1" => { uniform_like };
    "exponential" "self lambd=1" => { exponential_like };
    "poisson" "self" => poissonTensor "self";
    "normal.Tensor_float" "mean std=1" => normal_means "mean std";
    "normal.float_Tensor" "mean std" => normal_stddevs "mean std";
    "normal.Tensor_Tensor" "mean std" => normal_means_stddevs "mean std";
    "normal.float_float" "mean std size dtype=None" => { normal_of };
}

fn filled_with(c: &Call<'_>, size: &Dims, dtype: Dtype, value: f64) -> Result<Item> {
    c.done(c.scope.call(&names::newFull::FUNCTION, &[dtype.into(), size.into(), value.into()]))
}

/// The dtype that PyTorch infers from a number.
pub fn of_number(c: &Call<'_>, k: usize) -> Dtype {
    match c.arguments[k] {
        Item::Bool(_) => Dtype::Bool,
        Item::Int(_) => Dtype::Int64,
        _ => c.frame.dtype(default_dtype()),
    }
}

fn float(c: &Call<'_>) -> Dtype {
    c.frame.dtype(default_dtype())
}

fn full(c: &Call<'_>) -> Result<Item> {
    let (size, dtype) = (c.ints(0)?, c.dtype(2)?.unwrap_or(of_number(c, 1)));
    match c.arguments[1] {
        // A float64 cannot represent the number.
        Item::Int(x) if x as f64 as i64 != x => {
            let number = c.scope.call(&names::newScalarLong::FUNCTION, &[dtype.into(), x.into()]);
            c.done(expr::clone(expr::expand(number, &size)))
        }
        _ => filled_with(c, &size, dtype, c.number(1)?),
    }
}

fn zeros(c: &Call<'_>) -> Result<Item> {
    filled_with(c, &c.ints(0)?, c.dtype(1)?.unwrap_or(float(c)), 0.0)
}

fn ones(c: &Call<'_>) -> Result<Item> {
    filled_with(c, &c.ints(0)?, c.dtype(1)?.unwrap_or(float(c)), 1.0)
}

fn empty_permuted(c: &Call<'_>) -> Result<Item> {
    filled_with(c, &c.ints(0)?, c.dtype(2)?.unwrap_or(float(c)), 0.0)
}

/// A tensor of the sizes of `self`, with the dtype of argument `k`, or else of `self`.
fn shaped_like(c: &Call<'_>, k: usize, value: f64) -> Result<Item> {
    let t = c.value(0)?;
    filled_with(c, &t.shape(), c.dtype(k)?.unwrap_or(t.dtype()), value)
}

fn full_like(c: &Call<'_>) -> Result<Item> {
    shaped_like(c, 2, c.number(1)?)
}

fn zeros_like(c: &Call<'_>) -> Result<Item> {
    shaped_like(c, 1, 0.0)
}

fn ones_like(c: &Call<'_>) -> Result<Item> {
    shaped_like(c, 1, 1.0)
}

fn zeros_like_self(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    filled_with(c, &t.shape(), t.dtype(), 0.0)
}

fn filled(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    filled_with(c, &t.shape(), t.dtype(), c.number(1)?)
}

fn new_zeros(c: &Call<'_>) -> Result<Item> {
    filled_with(c, &c.ints(1)?, c.dtype(2)?.unwrap_or(c.value(0)?.dtype()), 0.0)
}

fn new_ones(c: &Call<'_>) -> Result<Item> {
    filled_with(c, &c.ints(1)?, c.dtype(2)?.unwrap_or(c.value(0)?.dtype()), 1.0)
}

fn new_full(c: &Call<'_>) -> Result<Item> {
    filled_with(c, &c.ints(1)?, c.dtype(3)?.unwrap_or(c.value(0)?.dtype()), c.number(2)?)
}

fn fill_in(c: &Call<'_>) -> Result<Item> {
    let t = c.tensor(0)?;
    match &c.arguments[1] {
        Item::Tensor(value) => crate::program::call::copy(t, value)?,
        _ => fill(t, c.number(1)?)?,
    }
    Ok(Item::Tensor(t.clone()))
}

fn zero_in(c: &Call<'_>) -> Result<Item> {
    let t = c.tensor(0)?;
    fill(t, 0.0)?;
    Ok(Item::Tensor(t.clone()))
}

fn scalar_tensor(c: &Call<'_>) -> Result<Item> {
    // Without a dtype, PyTorch takes the default dtype for every number.
    let dtype = c.dtype(1)?.unwrap_or(float(c));
    filled_with(c, &Dims::new(), dtype, c.number(0)?)
}

fn range(c: &Call<'_>, start: f64, end: f64, step: f64, numbers: usize) -> Result<Item> {
    let whole = c.arguments[..numbers].iter().all(|item| matches!(item, Item::Int(_) | Item::Bool(_)));
    let dtype = c.dtype(numbers)?.unwrap_or(if whole { Dtype::Int64 } else { float(c) });
    c.done(c.scope.call(&names::newArange::FUNCTION, &[dtype.into(), start.into(), end.into(), step.into()]))
}

fn arange(c: &Call<'_>) -> Result<Item> {
    range(c, 0.0, c.number(0)?, 1.0, 1)
}

fn arange_from(c: &Call<'_>) -> Result<Item> {
    range(c, c.number(0)?, c.number(1)?, 1.0, 2)
}

fn arange_by(c: &Call<'_>) -> Result<Item> {
    range(c, c.number(0)?, c.number(1)?, c.number(2)?, 3)
}

fn linspace(c: &Call<'_>) -> Result<Item> {
    let dtype = c.dtype(3)?.unwrap_or(float(c));
    let made = if dtype.is_float() { dtype } else { Dtype::Float64 };
    let arguments = [made.into(), c.number(0)?.into(), c.number(1)?.into(), c.int(2)?.into()];
    c.done(expr::to_dtype(c.scope.call(&names::newLinspace::FUNCTION, &arguments), dtype))
}

fn eye(c: &Call<'_>) -> Result<Item> {
    let last = c.arguments.len() - 1;
    let (rows, columns) = (c.int(0)?, c.int(last - 1)?);
    let dtype = c.dtype(last)?.unwrap_or(float(c));
    c.done(c.scope.call(&names::newEye::FUNCTION, &[dtype.into(), rows.into(), columns.into()]))
}

fn rand(c: &Call<'_>) -> Result<Item> {
    drawn(c, &names::newRand::FUNCTION, &c.ints(0)?, float(c))
}

fn randn(c: &Call<'_>) -> Result<Item> {
    drawn(c, &names::newRandn::FUNCTION, &c.ints(0)?, float(c))
}

fn random_integers(c: &Call<'_>, low: i64, high: i64, size: &Dims, dtype: Dtype) -> Result<Item> {
    let arguments = [dtype.into(), In::Null, low.into(), high.into(), size.into()];
    c.done(c.scope.call(&names::newRandint::FUNCTION, &arguments))
}

fn randint(c: &Call<'_>) -> Result<Item> {
    random_integers(c, 0, c.int(0)?, &c.ints(1)?, c.dtype(2)?.unwrap_or(Dtype::Int64))
}

fn randint_from(c: &Call<'_>) -> Result<Item> {
    random_integers(c, c.int(0)?, c.int(1)?, &c.ints(2)?, c.dtype(3)?.unwrap_or(Dtype::Int64))
}

fn randperm(c: &Call<'_>) -> Result<Item> {
    let dtype = c.dtype(1)?.unwrap_or(Dtype::Int64);
    c.done(c.scope.call(&names::newRandperm::FUNCTION, &[dtype.into(), In::Null, c.int(0)?.into()]))
}

fn bernoulli(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    let p = expr::full(t, &t.like(), c.number(1)?);
    c.done(c.scope.call(&names::bernoulliTensor::FUNCTION, &[In::Null, p.into()]))
}

fn new_empty_strided(c: &Call<'_>) -> Result<Item> {
    filled_with(c, &c.ints(1)?, c.dtype(3)?.unwrap_or(c.value(0)?.dtype()), 0.0)
}

fn logspace(c: &Call<'_>) -> Result<Item> {
    let arguments = [c.number(0)?.into(), c.number(1)?.into(), c.number(3)?.into(), c.int(2)?.into()];
    c.done(expr::to_dtype(c.scope.call(&names::logspaceBase::FUNCTION, &arguments), c.dtype(4)?.unwrap_or(float(c))))
}

/// The indices of a triangle, as integers of another dtype.
fn indices(c: &Call<'_>, function: &'static Function) -> Result<Item> {
    let made = c.scope.call(function, &[c.int(0)?.into(), c.int(1)?.into(), c.int(2)?.into()]);
    c.done(expr::to_dtype(made, c.dtype(3)?.unwrap_or(Dtype::Int64)))
}

fn lower_indices(c: &Call<'_>) -> Result<Item> {
    indices(c, &names::trilIndices::FUNCTION)
}

fn upper_indices(c: &Call<'_>) -> Result<Item> {
    indices(c, &names::triuIndices::FUNCTION)
}

/// Random numbers of the dtype that argument 1 names.
fn drawn(c: &Call<'_>, function: &'static Function, size: &Dims, default: Dtype) -> Result<Item> {
    c.done(c.scope.call(function, &[c.dtype(1)?.unwrap_or(default).into(), In::Null, size.into()]))
}

fn rand_like(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    drawn(c, &names::newRand::FUNCTION, &t.shape(), t.dtype())
}

fn randn_like(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    drawn(c, &names::newRandn::FUNCTION, &t.shape(), t.dtype())
}

fn randint_like(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    random_integers(c, 0, c.int(1)?, &t.shape(), c.dtype(2)?.unwrap_or(t.dtype()))
}

fn randint_like_from(c: &Call<'_>) -> Result<Item> {
    let t = c.value(0)?;
    random_integers(c, c.int(1)?, c.int(2)?, &t.shape(), c.dtype(3)?.unwrap_or(t.dtype()))
}

/// Overwrites `t` with random numbers of a distribution with the parameters from argument `first` on.
fn draw(c: &Call<'_>, t: Item, function: &'static Function, first: usize, count: usize) -> Result<Item> {
    let Item::Tensor(t) = t else { return Ok(Item::None) };
    let mut words = vec![t.as_ptr().word(), Word::ZERO];
    for k in first..first + count {
        words.push(c.number(k)?.word());
    }
    invoke(function, &words)?;
    Ok(Item::Tensor(t))
}

fn bernoulli_in(c: &Call<'_>) -> Result<Item> {
    draw(c, c.arguments[0].clone(), &names::bernoulli::FUNCTION, 1, 1)
}

fn normal_in(c: &Call<'_>) -> Result<Item> {
    draw(c, c.arguments[0].clone(), &names::normal::FUNCTION, 1, 2)
}

fn uniform_in(c: &Call<'_>) -> Result<Item> {
    draw(c, c.arguments[0].clone(), &names::uniform::FUNCTION, 1, 2)
}

fn exponential_in(c: &Call<'_>) -> Result<Item> {
    draw(c, c.arguments[0].clone(), &names::exponential::FUNCTION, 1, 1)
}

fn normal_like(c: &Call<'_>) -> Result<Item> {
    draw(c, zeros_like_self(c)?, &names::normal::FUNCTION, 1, 2)
}

fn uniform_like(c: &Call<'_>) -> Result<Item> {
    draw(c, zeros_like_self(c)?, &names::uniform::FUNCTION, 1, 2)
}

fn exponential_like(c: &Call<'_>) -> Result<Item> {
    draw(c, zeros_like_self(c)?, &names::exponential::FUNCTION, 1, 1)
}

fn normal_of(c: &Call<'_>) -> Result<Item> {
    let made = filled_with(c, &c.ints(2)?, c.dtype(3)?.unwrap_or(float(c)), 0.0)?;
    draw(c, made, &names::normal::FUNCTION, 0, 2)
}
