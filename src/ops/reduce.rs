//! Reductions: sum, mean, max and min over all elements or over one dimension.

use super::prepare::{self, Operand, shape_result};
use crate::cpu::fold::{Extreme, Sum, Summand};
use crate::cpu::reduce::{Fold, Reduction, split};
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::layout::{Dims, Layout, wrap_dim};
use crate::tensor::Tensor;
use std::marker::PhantomData;

/// Stands for every dimension: the result is 0-d, or all ones with `keepdim`.
pub const TH_ALL_DIMS: i32 = i32::MIN;

/// A reduction's input and the shapes of its result.
struct Shapes {
    input: Operand,
    dims: Vec<usize>,
    /// With the folded dims at size 1.
    kept: Dims,
    /// As the caller wants it.
    wanted: Dims,
}

impl Shapes {
    fn new(op: &str, t: &Tensor, dim: i32, keepdim: bool) -> Result<Shapes> {
        prepare::same_device(op, &[t])?;
        let input = Operand::of(op, t)?;
        let ndim = input.layout.ndim();
        let dims: Vec<usize> = match dim {
            TH_ALL_DIMS => (0..ndim).collect(),
            _ if ndim == 0 => {
                wrap_dim(op, dim, 0)?;
                vec![]
            }
            _ => vec![wrap_dim(op, dim, ndim)?],
        };
        let mut kept = input.layout.shape.clone();
        dims.iter().for_each(|&d| kept[d] = 1);
        let wanted = if keepdim { kept.clone() } else { (0..ndim).filter(|d| !dims.contains(d)).map(|d| kept[d]).collect() };
        Ok(Shapes { input, dims, kept, wanted })
    }

    /// Elements that go into each result.
    fn count(&self) -> i64 {
        self.dims.iter().map(|&d| self.input.layout.shape[d]).product()
    }

    /// Fails where results of `dtype` cannot go into `r`, before anything has changed.
    fn check(&self, op: &str, r: &Tensor, dtype: Dtype) -> Result<()> {
        let Some(have) = r.dtype() else { return Ok(()) };
        if !dtype.can_cast(have) {
            bail!(Dtype, "{op}: a result of {dtype} cannot be stored in a tensor of {have}")
        }
        let layout = r.layout()?;
        if layout.shape == self.wanted && layout.overlaps_itself() {
            bail!(Shape, "{op}: several positions of the result share one element (strides {:?})", layout.strides.as_slice())
        }
        if layout.shape == self.wanted { Operand::of(op, r).map(drop) } else { r.check_room(op, &self.wanted) }
    }

    /// Makes the tensor the fold writes for result `r`, of `dtype` if it has none yet: `r` itself, or a new one where `r` lies on the input.
    fn result(&self, op: &str, r: &Tensor, dtype: Dtype) -> Result<Tensor> {
        let have = r.dtype().unwrap_or(dtype);
        if r.dtype().is_some() && r.layout()?.shape == self.wanted {
            let ((a, b), (c, d)) = (Operand::of(op, r)?.span(), self.input.span());
            return if a < d && c < b { Tensor::empty(op, have, &self.wanted) } else { Ok(r.clone()) };
        }
        shape_result(op, r, have, &self.wanted, std::slice::from_ref(&self.input))?;
        Ok(r.clone())
    }

    /// The result's memory with the folded dims back at size 1.
    fn kept_layout(&self, op: &str, r: &Tensor) -> Result<Operand> {
        let mut operand = Operand::of(op, r)?;
        let mut rest = operand.layout.strides.iter().copied();
        let keepdim = operand.layout.ndim() == self.kept.len();
        let strides = (0..self.kept.len()).map(|d| if keepdim || !self.dims.contains(&d) { rest.next().unwrap_or(0) } else { 0 }).collect();
        operand.layout = Layout { shape: self.kept.clone(), strides, offset: operand.layout.offset };
        Ok(operand)
    }

    /// Runs `fold` into results given as tensor, dtype for a fresh one, and the type the fold writes.
    fn run(&self, op: &str, fold: &dyn Fold, results: [Option<(&Tensor, Dtype, Dtype)>; 2]) -> Result<()> {
        for (r, dtype, _) in results.iter().flatten() {
            self.check(op, r, *dtype)?;
        }
        let [a, b] = results.map(|r| r.map(|(r, dtype, compute)| self.result(op, r, dtype).map(|t| (t, compute))).transpose());
        let made = [a?, b?];
        let operand = |k: usize| made[k].as_ref().map(|(t, _)| self.kept_layout(op, t)).transpose();
        let operands = [operand(0)?, operand(1)?];
        let layouts = [0, 1].map(|k| operands[k].as_ref().map(|o| (&o.layout, o.dtype.size())));
        let (kept, folded) = split(&self.input.layout, self.input.dtype.size(), &self.dims, layouts);
        let out = [0, 1].map(|k| operands[k].as_ref().zip(made[k].as_ref()).map(|(o, m)| (o.first(), o.dtype, m.1)));
        let (dtype, data) = (self.input.dtype, self.input.first());
        let job = Reduction { fold, data, dtype, compute: dtype.compute(), kept, folded, out };
        // SAFETY: every layout was checked against its storage; `result` keeps results off the input.
        unsafe { job.run() };
        for (made, asked) in made.iter().zip(results) {
            if let (Some((made, _)), Some((r, ..))) = (made, asked)
                && !made.is(r)
            {
                super::copy::copy(r, made)?;
            }
        }
        Ok(())
    }
}

fn sum_fold<T: Summand>(divisor: f64) -> Box<dyn Fold> {
    Box::new(Sum::<T>::over(divisor))
}

/// `r = sum of t over dim`; integers and Bool give int64, floats are summed in float64.
pub fn sum(r: &Tensor, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    const OP: &str = "sum";
    let shapes = Shapes::new(OP, t, dim, keepdim)?;
    let dtype = shapes.input.dtype;
    let fold = dispatch!(all, OP, dtype, T => sum_fold::<T>(1.0));
    let (result, total) = if dtype.is_float() { (dtype, Dtype::Float64) } else { (Dtype::Int64, Dtype::Int64) };
    shapes.run(OP, &*fold, [Some((r, result, total)), None])
}

/// `r = mean of t over dim`; floats only. The mean of nothing is NaN.
pub fn mean(r: &Tensor, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    const OP: &str = "mean";
    let shapes = Shapes::new(OP, t, dim, keepdim)?;
    let dtype = shapes.input.dtype;
    let count = shapes.count() as f64;
    let fold = dispatch!(float, OP, dtype, T => sum_fold::<T>(count));
    shapes.run(OP, &*fold, [Some((r, dtype, Dtype::Float64)), None])
}

fn extreme_fold<T: Element>(max: bool) -> Box<dyn Fold> {
    if max { Box::new(Extreme::<T, true>(PhantomData)) } else { Box::new(Extreme::<T, false>(PhantomData)) }
}

/// The greatest or least elements over `dim`, and where each first occurs; either result may be absent. NaN beats everything.
pub fn extreme(max: bool, values: Option<&Tensor>, indices: Option<&Tensor>, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    let op = if max { "max" } else { "min" };
    let shapes = Shapes::new(op, t, dim, keepdim)?;
    if shapes.count() == 0 && shapes.kept.iter().product::<i64>() > 0 {
        bail!(Argument, "{op}: no elements to choose from in shape {:?}", shapes.input.layout.shape.as_slice())
    }
    let dtype = shapes.input.dtype;
    let fold = dispatch!(all, op, dtype, T => extreme_fold::<T>(max));
    if values.zip(indices).is_some_and(|(values, indices)| values.is(indices)) {
        bail!(Argument, "{op}: values and indices need a tensor each")
    }
    if let Some(have) = indices.and_then(Tensor::dtype)
        && have != Dtype::Int64
    {
        bail!(Dtype, "{op}: indices are int64, the tensor given for them is {have}")
    }
    shapes.run(op, &*fold, [values.map(|v| (v, dtype, dtype.compute())), indices.map(|i| (i, Dtype::Int64, Dtype::Int64))])
}

/// One number from all elements of `t`.
pub fn all_of(t: &Tensor, reduce: impl FnOnce(&Tensor) -> Result<()>) -> Result<f64> {
    t.defined("reduction")?;
    let r = Tensor::fresh()?;
    reduce(&r)?;
    Ok(super::copy::item(&r)?.to_f64())
}
