//! Arithmetic of sparse tensors: functions of the values that map 0 to 0.

use super::form::{coalesced, compressed, coordinates, dense, indices};
use super::{Parts, Places, dimension, keys, order_keys, with};
use crate::api::function::Function;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{In, Like, Value, eq, index_select, join, names, narrow, reshape, select, sum_dims, to_dtype, zeros};
use crate::layout::{Dims, checked_numel};
use crate::tensor::Tensor;

/// Applies a function that maps 0 to 0 to each value. If the function is not linear, the values of one position are summed first.
pub fn mapped(parts: Parts, is_linear: bool, row: &'static Function, numbers: &[f64]) -> Result<Parts> {
    let by_rows = matches!(parts.places, Places::Rows { .. });
    let parts = match is_linear || parts.coalesced {
        true => parts,
        false if by_rows => compressed(coalesced(parts)?)?,
        false => coalesced(parts)?,
    };
    let values = with(&parts.values, |scope| {
        let mut args = vec![In::Tensor(scope.value(parts.values.clone()))];
        args.extend(numbers.iter().map(|&x| In::from(x)));
        scope.made(scope.call(row, &args))
    })?;
    Ok(Parts { values, ..parts })
}

fn same_size(a: &Parts, b: &Parts) -> Result<()> {
    if a.size != b.size || a.sparse != b.sparse {
        let (x, y) = (a.size.as_slice(), b.size.as_slice());
        bail!(Shape, "sizes {x:?} with {} sparse dimensions, and {y:?} with {}", a.sparse, b.sparse)
    }
    Ok(())
}

/// Returns true if `value * b` may be rounded before the addition without changing a bit, compared with the sum of dense tensors.
fn is_exact(a: &Tensor, value: f64, b: &Tensor) -> Result<bool> {
    let (a, b) = (a.defined()?, b.defined()?);
    let is_signed = |dtype| !matches!(dtype, Dtype::Bool | Dtype::Uint8);
    Ok((value.abs() == 1.0 && is_signed(a) && is_signed(b)) || (a == b && matches!(a, Dtype::Float32 | Dtype::Float64)))
}

/// `a + value * b`, or with `minus` `a - value * b`, with the dtypes and roundings of a sum of dense tensors.
pub fn add(a: Parts, value: f64, b: Parts, minus: bool) -> Result<Parts> {
    let (a, b) = (coordinates(a)?, coordinates(b)?);
    same_size(&a, &b)?;
    let places = with(&a.values, |scope| {
        scope.made(join(scope.value(indices(&a)?.clone()), scope.value(indices(&b)?.clone()), 1)).map(Places::Coordinates)
    })?;
    let summed = |values: Tensor| coalesced(Parts { places: places.clone(), values, coalesced: false, ..a.clone() });
    let signed = if minus { -value } else { value };
    if is_exact(&a.values, value, &b.values)? {
        return summed(with(&a.values, |scope| {
            let (own, other) = (scope.value(a.values.clone()), scope.value(b.values.clone()));
            scope.made(join(own, if signed == 1.0 { other } else { other * signed }, 0))
        })?);
    }
    // The entries of both tensors, each with 0 at the positions of the other tensor.
    let own = |of: &Tensor, beside: &Tensor, is_first: bool| {
        summed(with(of, |scope| {
            let (own, other) = (scope.value(of.clone()), scope.value(beside.clone()));
            let none = zeros(own, &Like { shape: other.shape(), ..own.like() });
            scope.made(if is_first { join(own, none, 0) } else { join(none, own, 0) })
        })?)
    };
    let (own, other) = (own(&a.values, &b.values, true)?, own(&b.values, &a.values, false)?);
    let values = with(&own.values, |scope| {
        let [x, y] = [&own.values, &other.values].map(|t| scope.value(t.clone()));
        scope.made(scope.call(if minus { &names::csub::FUNCTION } else { &names::cadd::FUNCTION }, &[x.into(), value.into(), y.into()]))
    })?;
    Ok(Parts { values, ..own })
}

/// Returns the products of two sparse tensors at the positions where both have entries.
pub fn multiply(a: Parts, b: Parts) -> Result<Parts> {
    let (a, b) = (coalesced(a)?, coalesced(b)?);
    same_size(&a, &b)?;
    let (places, values) = with(&a.values, |scope| {
        let (at, other_at) = (scope.value(indices(&a)?.clone()), scope.value(indices(&b)?.clone()));
        let (own, other) = (scope.value(a.values.clone()), scope.value(b.values.clone()));
        let (n, others) = (a.nnz(), b.nnz());
        let keys = order_keys(join(at, other_at, 1), &a.size[..a.sparse])?;
        let (mine, theirs) = (narrow(keys, 0, 0, n), narrow(keys, 0, n, others));
        if theirs.numel() == 0 {
            let none = scope.numbers(0);
            return Ok((scope.made(index_select(at, 1, none))?, scope.made(index_select(own, 0, none) * index_select(other, 0, none))?));
        }
        let place = scope.call(&names::searchsorted::FUNCTION, &[theirs.into(), mine.into(), false.into(), In::Null]);
        let place = scope.call(&names::cminValue::FUNCTION, &[place.into(), (theirs.numel() as f64 - 1.0).into()]);
        let both = eq(index_select(theirs, 0, place), mine);
        let chosen = reshape(scope.call(&names::nonzero::FUNCTION, &[both.into()]), &[-1]);
        let values = index_select(own, 0, chosen) * index_select(other, 0, index_select(place, 0, chosen));
        Ok((scope.made(index_select(at, 1, chosen))?, scope.made(values)?))
    })?;
    Ok(Parts { places: Places::Coordinates(places), values, ..a })
}

/// Returns the elements of a dense tensor, which broadcasts, at the positions of a sparse tensor.
pub fn sampled<'s>(parts: &Parts, dense: Value<'s>, at: Value<'s>) -> Result<Value<'s>> {
    let (shape, all) = (dense.shape(), parts.size.len());
    if shape.len() > all || shape.iter().rev().zip(parts.size.iter().rev()).any(|(&n, &size)| n != size && n != 1) {
        bail!(Shape, "shape {:?} does not broadcast to sizes {:?}", shape.as_slice(), parts.size.as_slice())
    }
    let missing = all - shape.len();
    let own = |d: usize| if d < missing { 1 } else { shape[d - missing] };
    let rows: Dims = [(0..parts.sparse).map(own).product()].into_iter().chain((parts.sparse..all).map(own)).collect();
    let places = keys(at, (0..parts.sparse).filter(|&d| own(d) != 1).map(|d| (d, own(d))))?;
    Ok(index_select(reshape(dense, &rows), 0, places))
}

/// Multiplies or divides the values by the elements of a dense tensor at the same positions.
pub fn with_dense(parts: Parts, dense: &Tensor, divides: bool) -> Result<Parts> {
    let parts = coordinates(parts)?;
    let values = with(&parts.values, |scope| {
        let (own, at) = (scope.value(parts.values.clone()), scope.value(indices(&parts)?.clone()));
        let other = sampled(&parts, scope.value(dense.clone()), at)?;
        scope.made(if divides { own / other } else { own * other })
    })?;
    Ok(Parts { values, ..parts })
}

/// Returns the elements of a dense tensor at the positions of `mask`.
pub fn masked(t: &Tensor, mask: Parts) -> Result<Parts> {
    let mask = coalesced(mask)?;
    if t.layout()?.shape != mask.size {
        bail!(Shape, "shape {:?} for a mask of sizes {:?}", t.layout()?.shape.as_slice(), mask.size.as_slice())
    }
    let values = with(t, |scope| {
        let at = scope.value(indices(&mask)?.clone());
        scope.made(sampled(&mask, scope.value(t.clone()), at)?)
    })?;
    Ok(Parts { values, ..mask })
}

/// Returns entries that may be summed in another dtype. Several Bool entries of one position become one entry.
fn addends(parts: Parts) -> Result<Parts> {
    if parts.values.defined()? == Dtype::Bool { coalesced(parts) } else { Ok(parts) }
}

/// Returns the sum over `dims`, which are removed. If no sparse dimension remains, all dimensions of the result are dense.
pub fn sum(parts: Parts, dims: &[i64]) -> Result<Parts> {
    let parts = coordinates(addends(parts)?)?;
    let mut gone = vec![false; parts.size.len()];
    for &dim in dims {
        let d = dimension(dim, &parts)?;
        if std::mem::replace(&mut gone[d], true) {
            bail!(Argument, "dimension {d} is named twice")
        }
    }
    let kept: Vec<usize> = (0..parts.sparse).filter(|&d| !gone[d]).collect();
    let dense: Dims = (parts.sparse..gone.len()).filter(|&d| gone[d]).map(|d| (d - parts.sparse + 1) as i64).collect();
    let (places, values) = with(&parts.values, |scope| {
        let (at, own) = (scope.value(indices(&parts)?.clone()), scope.value(parts.values.clone()));
        let own = if dense.is_empty() { own } else { sum_dims(own, &dense, false) };
        let rows: Vec<Value<'_>> = kept.iter().map(|&d| select(at, 0, d as i64)).collect();
        // A sum of all entries is an entry, if there are any.
        let own = if rows.is_empty() && parts.nnz() > 0 { sum_dims(own, &[0], true) } else { own };
        let places = if rows.is_empty() {
            scope.call(&names::newZeros::FUNCTION, &[Dtype::Int64.into(), In::List(&[0, parts.nnz().min(1)])])
        } else {
            super::form::stacked(scope, &rows)
        };
        // The sum of integers or Bool has the dtype int64.
        let own = if own.dtype().is_float() { own } else { to_dtype(own, Dtype::Int64) };
        Ok((scope.made(places)?, scope.made(own)?))
    })?;
    let size: Dims = (0..gone.len()).filter(|&d| !gone[d]).map(|d| parts.size[d]).collect();
    let coalesced_still = kept.is_empty() || (parts.coalesced && kept.len() == parts.sparse);
    coalesced(Parts { size, sparse: kept.len(), places: Places::Coordinates(places), values, coalesced: coalesced_still })
}

/// The sum of all values.
pub fn total(parts: Parts) -> Result<f64> {
    let parts = addends(parts)?;
    with(&parts.values, |scope| scope.number(&names::sumall::FUNCTION, &parts.values, &[]))
}

/// The norm of all elements.
pub fn norm(parts: Parts, p: f64) -> Result<f64> {
    let parts = coalesced(parts)?;
    let entries = parts.values.layout()?.numel();
    // Elements without an entry are zeros: they are the least elements, and the only elements if there are no entries.
    if checked_numel(&parts.size).ok() != Some(entries) && (p < 0.0 || (entries == 0 && !p.is_nan())) {
        return Ok(0.0);
    }
    with(&parts.values, |scope| scope.number(&names::normall::FUNCTION, &parts.values, &[p]))
}

/// `r = t + value * s`.
pub fn add_to_dense(r: &Tensor, t: &Tensor, value: f64, s: Parts) -> Result<()> {
    if t.layout()?.shape != s.size {
        bail!(Shape, "shape {:?} and sizes {:?}", t.layout()?.shape.as_slice(), s.size.as_slice())
    }
    let filled = dense(s)?;
    with(t, |scope| {
        let [to, t, filled] = [r, t, &filled].map(|t| scope.value(t.clone()));
        scope.write(to, &names::cadd::FUNCTION, &[t.into(), value.into(), filled.into()]);
        Ok(())
    })
}
