//! Sparse tensors, built on the functions of dense tensors. A handle holds dense tensors of positions and values. Its functions call the
//! functions of dense tensors, so they run on any device, and the gradients of values are recorded.

#[cfg(feature = "files")]
pub mod archive;
#[cfg(feature = "files")]
mod files;
mod form;
pub mod functions;
mod math;
mod products;
mod shape;
mod systems;

use crate::api::sparse::{Parts, Places};
use crate::device::{self, DeviceGuard};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{In, Scope, Value, names};
use crate::layout::{Dims, checked_numel};
use crate::mode;
use crate::ops::device::elements;
use crate::tensor::Tensor;

/// Computes with values on the device of `t`.
fn with<R>(t: &Tensor, compute: impl FnOnce(&Scope) -> Result<R>) -> Result<R> {
    let _there = device::is_used().then(|| DeviceGuard::on(t.device()));
    let scope = Scope::new(mode::flags() != 0);
    let made = compute(&scope)?;
    scope.finish()?;
    Ok(made)
}

/// Returns the dimension `dim`; a negative `dim` counts from the end.
fn dimension(dim: i64, parts: &Parts) -> Result<usize> {
    let n = parts.size.len() as i64;
    if !(-n..n).contains(&dim) {
        bail!(Argument, "dimension {dim} out of range for a tensor with {n} dimensions")
    }
    Ok(if dim < 0 { dim + n } else { dim } as usize)
}

impl Scope {
    /// Returns the tensor of a value, or the error of its computation.
    fn made(&self, value: Value<'_>) -> Result<Tensor> {
        self.finish()?;
        value.tensor().map_or_else(|| bail!(Internal, "a value without a tensor"), Ok)
    }

    /// Returns a number for arithmetic with positions. A double would round numbers beyond 2^53.
    fn position(&self, x: i64) -> Value<'_> {
        self.call(&names::newScalarLong::FUNCTION, &[Dtype::Int64.into(), x.into()])
    }
}

/// The greatest size up to which every size is exact in a double.
const EXACT: i64 = 1 << 53;

/// The least and the greatest position in each sparse dimension.
struct Bounds {
    least: Dims,
    greatest: Dims,
}

impl Bounds {
    /// Returns the bounds of int64 positions; `None` if there are no positions.
    fn of(indices: Value<'_>) -> Result<Option<Bounds>> {
        if indices.numel() == 0 {
            return Ok(None);
        }
        let scope = indices.scope;
        let read = |t| Ok(elements::<i64>(&scope.made(t)?)?.iter().copied().collect());
        let [least, greatest] = scope.call_for_all(&names::aminmax::FUNCTION, 0b11, &[indices.into(), 1.into(), false.into()]);
        Ok(Some(Bounds { least: read(least)?, greatest: read(greatest)? }))
    }

    /// Fails if a position is out of range for dimension `d`.
    fn check(&self, d: usize, size: i64) -> Result<()> {
        if self.least[d] < 0 {
            bail!(Argument, "index {} of dimension {d} is negative", self.least[d])
        }
        if self.greatest[d] >= size {
            bail!(Argument, "index {} is out of range for size {size} of dimension {d}", self.greatest[d])
        }
        Ok(())
    }
}

/// Returns one key for each entry: its row-major index over the dimensions `dims`, each of which has a row of `indices`. Fails if a
/// position is out of range, because another holder of the tensor of positions may have changed it.
fn keys<'s>(indices: Value<'s>, dims: impl IntoIterator<Item = (usize, i64)>) -> Result<Value<'s>> {
    let bounds = Bounds::of(indices)?;
    let scope = indices.scope;
    let row = |d: usize| crate::expr::select(indices, 0, d as i64);
    let mut sum: Option<Value<'s>> = None;
    for (d, size) in dims {
        if let Some(bounds) = &bounds {
            bounds.check(d, size)?;
        }
        sum = Some(match sum {
            None => row(d),
            Some(sum) if size <= EXACT => scope.call(&names::cadd::FUNCTION, &[row(d).into(), (size as f64).into(), sum.into()]),
            Some(sum) => row(d) + sum * scope.position(size),
        });
    }
    Ok(sum.unwrap_or_else(|| {
        let n = indices.shape().get(1).copied().unwrap_or(0);
        scope.call(&names::newZeros::FUNCTION, &[Dtype::Int64.into(), In::List(&[n])])
    }))
}

/// Returns [`keys`] with the order and equality of the positions, for sizes with any product. If the product overflows, the keys are
/// replaced by their ranks.
fn order_keys<'s>(indices: Value<'s>, size: &[i64]) -> Result<Value<'s>> {
    let overflow = match checked_numel(size) {
        Ok(_) => return keys(indices, size.iter().copied().enumerate()),
        Err(overflow) => overflow,
    };
    let (bounds, scope) = (Bounds::of(indices)?, indices.scope);
    let ranks = |key: Value<'s>| {
        let [values, ranks] = scope.call_for_all(&names::unique::FUNCTION, 0b11, &[key.into(), 0.into()]);
        (ranks, values.numel())
    };
    let mut sum: Option<(Value<'s>, i64)> = None;
    for (d, &size) in size.iter().enumerate() {
        if let Some(bounds) = &bounds {
            bounds.check(d, size)?;
        }
        let row = crate::expr::select(indices, 0, d as i64);
        let Some(before) = sum else {
            sum = Some((row, size));
            continue;
        };
        let fits =
            |a: (Value<'s>, i64), b: (Value<'s>, i64)| a.1.checked_mul(b.1).map(|product| (b.0 + a.0 * scope.position(b.1), product));
        let by_rank = || {
            let ranked = ranks(before.0);
            fits(ranked, (row, size)).or_else(|| fits(ranked, ranks(row)))
        };
        match fits(before, (row, size)).or_else(by_rank) {
            None => return Err(overflow),
            both => sum = both,
        }
    }
    sum.map_or_else(|| keys(indices, []), |(key, _)| Ok(key))
}
