//! Reductions: numbers from many elements, over all of them or over some dimensions.

mod result;

use crate::cpu::fold::{
    Abs, Arg, Extreme, Fold, Lanes, Logic, MinMax, Moment, NanMean, NonZero, NotNan, Ordered, PairwiseSum, Plain, Powers, Product,
    Products, Root, Square, Squares, Sum, Terms, VectorTerm,
};
use crate::dtype::{Domain, Dtype, dispatch};
use crate::error::{Result, bail};
use crate::tensor::Tensor;
use half::{bf16, f16};
use result::Rule;
pub use result::{Over, TH_ALL_DIMS, To, number};
use std::marker::PhantomData;

/// The types of a sum or product of `dtype`; `asked` is the dtype the caller wants of it.
///
/// Floats asked to be integers are cut off first, as if converted; integers asked to be floats are, so that they cannot overflow.
fn totalled(dtype: Dtype, asked: Option<Dtype>) -> Rule {
    let compute = match asked {
        None => dtype,
        Some(asked) if asked.is_float() => {
            if dtype.is_float() {
                dtype
            } else {
                Dtype::Float64
            }
        }
        Some(asked) if dtype.is_float() || asked == Dtype::Bool => asked,
        Some(_) => dtype,
    };
    let (result, written) = if compute.is_float() { (dtype, Dtype::Float64) } else { (Dtype::Int64, Dtype::Int64) };
    Rule::one(compute, written, asked.unwrap_or(result))
}

/// Returns true if the sum is computed in float64 from the first addition: if asked for, or if it is returned as a C double.
fn wide(to: To<'_>, asked: Option<Dtype>) -> bool {
    asked == Some(Dtype::Float64) || matches!(to, To::Number(_))
}

/// Runs the fold that sums terms of floats narrower than 64 bits.
fn pairwise<P: VectorTerm>(compute: Dtype, root: Root, run: impl FnOnce(&dyn Fold) -> Result<()>) -> Result<()> {
    match compute {
        Dtype::Float16 => run(&PairwiseSum::<f16, P>::new(root)),
        Dtype::Bfloat16 => run(&PairwiseSum::<bf16, P>::new(root)),
        _ => run(&PairwiseSum::<f32, P>::new(root)),
    }
}

/// `r = sum of t over some dims`; integers and Bool give int64, floats are summed in float64 where it is [`wide`], else nearly so.
pub fn sum(to: To<'_>, t: &Tensor, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    total(Root::Itself, to, t, over, asked)
}

fn total(root: Root, to: To<'_>, t: &Tensor, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    let rule = totalled(t.defined()?, asked);
    let run = |fold: &dyn Fold| result::run(fold, rule, to, t, over);
    match rule.compute {
        compute if compute.is_float() && (wide(to, asked) || compute == Dtype::Float64) => {
            dispatch!(float, compute, T => run(&Lanes(Terms::<T, _>::new(Plain, root))))
        }
        compute if compute.is_float() => pairwise::<Plain>(compute, root, run),
        compute => dispatch!(integral, compute, T => run(&Lanes(Sum::<T>(PhantomData)))),
    }
}

/// `r = product of t over some dims`; integers and Bool give int64, floats are multiplied in float64.
pub fn prod(to: To<'_>, t: &Tensor, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    let rule = totalled(t.defined()?, asked);
    if rule.compute.compute() == Dtype::Float32 {
        return result::run(&Products, rule, to, t, over);
    }
    dispatch!(all, rule.compute, T => result::run(&Lanes(Product::<T>(PhantomData)), rule, to, t, over))
}

/// `r = mean of t over some dims`; floats only, or converted to the float asked for. The mean of nothing is NaN.
pub fn mean(to: To<'_>, t: &Tensor, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    let dtype = t.defined()?;
    if !totalled(dtype, asked).compute.is_float() {
        return Err(Domain::Float.refusal(dtype));
    }
    total(Root::Mean, to, t, over, asked)
}

/// `r = sum of t over some dims` without the NaNs.
pub fn nansum(to: To<'_>, t: &Tensor, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    let rule = totalled(t.defined()?, asked);
    if !rule.compute.is_float() {
        return total(Root::Itself, to, t, over, asked);
    }
    dispatch!(float, rule.compute, T => result::run(&Lanes(Terms::<T, _>::new(NotNan, Root::Itself)), rule, to, t, over))
}

/// `r = mean of t over some dims` without the NaNs; floats only.
pub fn nanmean(to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<()> {
    let rule = totalled(t.defined()?, None);
    dispatch!(float, rule.compute, T => result::run(&Lanes(NanMean::<T>(PhantomData)), rule, to, t, over))
}

/// `r = variance of t over some dims`, or with `root` its square root; floats only. The divisor is the count less `correction`.
pub fn var(root: bool, to: To<'_>, t: &Tensor, over: Over<'_>, correction: f64) -> Result<()> {
    let dtype = t.defined()?;
    if correction.is_nan() {
        bail!(Argument, "the correction is NaN")
    }
    let rule = Rule::one(dtype, Dtype::Float64, dtype);
    dispatch!(float, dtype, T => result::run(&Moment::<T>::new(correction, root), rule, to, t, over))
}

/// `r = (sum of |t|^p)^(1/p) over some dims`; the number of elements that are not 0 for p 0, the greatest or least |t| for infinite p.
pub fn norm(to: To<'_>, t: &Tensor, p: f64, over: Over<'_>, asked: Option<Dtype>) -> Result<()> {
    let dtype = t.defined()?;
    let result = asked.unwrap_or(dtype);
    if dtype.is_float() && dtype.promote(result) != result {
        bail!(Dtype, "{dtype} does not convert to {result} without loss")
    }
    let rule = Rule { chooses: p < 0.0 || p == f64::INFINITY, ..Rule::one(dtype, Dtype::Float64, result) };
    dispatch!(float, dtype, T => norm_of::<T>(rule, to, t, p, over, wide(to, asked)))
}

fn norm_of<T: Ordered>(rule: Rule, to: To<'_>, t: &Tensor, p: f64, over: Over<'_>, wide: bool) -> Result<()> {
    let run = |fold: &dyn Fold, rule: Rule| result::run(fold, rule, to, t, over);
    let chosen = Rule { written: [T::DTYPE; 2], ..rule };
    let wide = wide || T::DTYPE == Dtype::Float64;
    match p {
        0.0 => run(&Lanes(Terms::<T, _>::new(NonZero, Root::Itself)), rule),
        2.0 if T::DTYPE == Dtype::Float64 => run(&Squares::default(), rule),
        1.0 if wide => run(&Lanes(Terms::<T, _>::new(Abs, Root::Itself)), rule),
        2.0 if wide => run(&Lanes(Terms::<T, _>::new(Square, Root::Sqrt)), rule),
        1.0 => pairwise::<Abs>(rule.compute, Root::Itself, |fold| run(fold, rule)),
        2.0 => pairwise::<Square>(rule.compute, Root::Sqrt, |fold| run(fold, rule)),
        f64::INFINITY => run(&Lanes(Extreme::<T, true, true>(PhantomData)), chosen),
        f64::NEG_INFINITY => run(&Lanes(Extreme::<T, false, true>(PhantomData)), chosen),
        _ => run(&Powers::<T>::new(p, wide), rule),
    }
}

/// `r = greatest or least element of t over some dims`
pub fn extreme(max: bool, to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<()> {
    let dtype = t.defined()?;
    let rule = Rule { chooses: true, ..Rule::one(dtype, dtype.compute(), dtype) };
    dispatch!(all, dtype, T => match max {
        true => result::run(&Lanes(Extreme::<T, true>(PhantomData)), rule, to, t, over),
        false => result::run(&Lanes(Extreme::<T, false>(PhantomData)), rule, to, t, over),
    })
}

/// The least and the greatest element of `t` over `dim`; either result may be absent.
pub fn aminmax(least: Option<&Tensor>, greatest: Option<&Tensor>, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    let dtype = t.defined()?;
    let rule = Rule { chooses: true, ..Rule::one(dtype, dtype.compute(), dtype) };
    let to = To::Tensors([least, greatest], keepdim);
    dispatch!(all, dtype, T => result::run(&MinMax::<T>::default(), rule, to, t, Over::Dim(dim)))
}

/// The greatest or least elements of `t` over `dim`, and where each first occurs; either result may be absent. NaN beats everything.
pub fn extreme_at(max: bool, values: Option<&Tensor>, indices: Option<&Tensor>, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    let dtype = t.defined()?;
    if indices.is_none() {
        return extreme(max, To::Tensors([values, None], keepdim), t, Over::Dim(dim));
    }
    if let Some(have) = indices.and_then(Tensor::dtype)
        && have != Dtype::Int64
    {
        bail!(Dtype, "indices are int64, the tensor given for them is {have}")
    }
    let rule = Rule { compute: dtype, written: [dtype.compute(), Dtype::Int64], result: [dtype, Dtype::Int64], chooses: true };
    let to = To::Tensors([values, indices], keepdim);
    dispatch!(all, dtype, T => match max {
        true => result::run(&Arg::<T, true>(PhantomData), rule, to, t, Over::Dim(dim)),
        false => result::run(&Arg::<T, false>(PhantomData), rule, to, t, Over::Dim(dim)),
    })
}

/// Returns true if no element is 0.
pub fn nonzero_everywhere(t: &Tensor) -> Result<bool> {
    Ok(number(|to| logic(true, to, t, Over::Dims(&[])))? != 0.0)
}

/// `r = whether all (or any) elements of t over some dims are not 0`; as uint8 for uint8, else as Bool. NaN is not 0.
pub fn logic(all: bool, to: To<'_>, t: &Tensor, over: Over<'_>) -> Result<()> {
    let dtype = t.defined()?;
    let rule = Rule::one(dtype, Dtype::Bool, if dtype == Dtype::Uint8 { dtype } else { Dtype::Bool });
    let run = |fold: &dyn Fold| result::run(fold, rule, to, t, over);
    macro_rules! of {
        ($t:ident) => {{
            let bits: $t = if dtype.is_float() { $t::MAX } else { !0 };
            if all { run(&Lanes(Logic::<$t, true>(bits))) } else { run(&Lanes(Logic::<$t, false>(bits))) }
        }};
    }
    match dtype.size() {
        1 => of!(u8),
        2 => of!(i16),
        4 => of!(i32),
        _ => of!(i64),
    }
}
