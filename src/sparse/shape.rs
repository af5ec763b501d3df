//! Sparse tensors in other shapes: transposed, sliced and concatenated.

use super::form::{coordinates, indices, stacked};
use super::{Parts, Places, dimension, with};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{In, Scope, Value, both, eq, ge, index_select, lt, names, reshape, select, transpose as transposed};
use crate::layout::{Dims, MAX_DIMS};
use crate::tensor::Tensor;

/// Swaps two dimensions, both sparse or both dense.
pub fn transpose(parts: Parts, dim0: i32, dim1: i32) -> Result<Parts> {
    let mut parts = coordinates(parts)?;
    let (a, b) = (dimension(dim0.into(), &parts)?, dimension(dim1.into(), &parts)?);
    if (a < parts.sparse) != (b < parts.sparse) {
        bail!(Argument, "dimension {a} and dimension {b}: one is sparse and one is dense")
    }
    if a == b {
        return Ok(parts);
    }
    let (places, values) = with(&parts.values, |scope| {
        if a >= parts.sparse {
            let (a, b) = (a - parts.sparse + 1, b - parts.sparse + 1);
            let values = scope.made(transposed(scope.value(parts.values.clone()), a as i32, b as i32))?;
            return Ok((indices(&parts)?.clone(), values));
        }
        let places = scope.value(indices(&parts)?.clone());
        let order = |d: usize| {
            if d == a {
                b
            } else if d == b {
                a
            } else {
                d
            }
        };
        let rows: Vec<Value<'_>> = (0..parts.sparse).map(|d| select(places, 0, order(d) as i64)).collect();
        Ok((scope.made(stacked(scope, &rows))?, parts.values.clone()))
    })?;
    parts.coalesced &= a >= parts.sparse || parts.nnz() <= 1;
    parts.size.swap(a, b);
    Ok(Parts { places: Places::Coordinates(places), values, ..parts })
}

/// Returns the indices of the entries for which a mask is true.
fn found(mask: Value<'_>) -> Value<'_> {
    reshape(mask.scope.call(&names::nonzero::FUNCTION, &[mask.into()]), &[-1])
}

/// Returns the entries at index `at` of a dimension, which is removed.
pub fn select_part(parts: Parts, dim: i32, at: i64) -> Result<Parts> {
    let mut parts = coordinates(parts)?;
    let dim = dimension(dim.into(), &parts)?;
    let size = parts.size[dim];
    if !(-size..size).contains(&at) {
        bail!(Argument, "index {at} is out of range for size {size} of dimension {dim}")
    }
    let at = if at < 0 { at + size } else { at };
    let (places, values) = with(&parts.values, |scope| {
        let (places, values) = (scope.value(indices(&parts)?.clone()), scope.value(parts.values.clone()));
        if dim >= parts.sparse {
            let values = select(values, (dim - parts.sparse + 1) as i32, at);
            return Ok((indices(&parts)?.clone(), scope.made(values)?));
        }
        let chosen = found(eq(select(places, 0, dim as i64), scope.position(at)));
        let rows: Vec<Value<'_>> = (0..parts.sparse).filter(|&d| d != dim).map(|d| select(places, 0, d as i64)).collect();
        let kept = if rows.is_empty() {
            scope.call(&names::newZeros::FUNCTION, &[Dtype::Int64.into(), In::List(&[0, chosen.numel()])])
        } else {
            index_select(stacked(scope, &rows), 1, chosen)
        };
        Ok((scope.made(kept)?, scope.made(index_select(values, 0, chosen))?))
    })?;
    parts.size.remove(dim);
    parts.sparse -= usize::from(dim < parts.sparse);
    Ok(Parts { places: Places::Coordinates(places), values, ..parts })
}

/// Returns the entries at `length` indices of a dimension from `start`.
pub fn narrow(parts: Parts, dim: i32, start: i64, length: i64) -> Result<Parts> {
    let mut parts = coordinates(parts)?;
    let dim = dimension(dim.into(), &parts)?;
    let size = parts.size[dim];
    if start < 0 || length < 0 || start.checked_add(length).is_none_or(|end| end > size) {
        bail!(Argument, "start {start} + length {length} exceeds size {size} of dimension {dim}")
    }
    let (places, values) = with(&parts.values, |scope| {
        let (places, values) = (scope.value(indices(&parts)?.clone()), scope.value(parts.values.clone()));
        if dim >= parts.sparse {
            let values = crate::expr::narrow(values, (dim - parts.sparse + 1) as i32, start, length);
            return Ok((indices(&parts)?.clone(), scope.made(values)?));
        }
        let row = select(places, 0, dim as i64);
        let chosen = found(both(ge(row, scope.position(start)), lt(row, scope.position(start + length))));
        let kept = index_select(places, 1, chosen);
        Ok((scope.made(moved(kept, dim, -start))?, scope.made(index_select(values, 0, chosen))?))
    })?;
    parts.size[dim] = length;
    Ok(Parts { places: Places::Coordinates(places), values, ..parts })
}

/// Adds `distance` to the positions in one sparse dimension.
fn moved<'s>(places: Value<'s>, dim: usize, distance: i64) -> Value<'s> {
    let rows: Vec<Value<'s>> = (0..places.shape().first().map_or(0, |&n| n as usize))
        .map(|d| if d == dim { select(places, 0, d as i64) + places.scope.position(distance) } else { select(places, 0, d as i64) })
        .collect();
    stacked(places.scope, &rows)
}

/// Concatenates sparse tensors along a dimension; their other sizes are equal.
pub fn cat(all: Vec<Parts>, dim: i32) -> Result<Parts> {
    let Some(first) = all.first() else { bail!(Argument, "expected at least one tensor") };
    let (size, sparse) = (first.size.clone(), first.sparse);
    let dim = dimension(dim.into(), first)?;
    let mut total = 0i64;
    for (k, part) in all.iter().enumerate() {
        let fits = part.size.len() == size.len() && part.sparse == sparse;
        if !fits || (0..size.len()).any(|d| d != dim && part.size[d] != size[d]) {
            bail!(Shape, "tensor {k} has sizes {:?}, tensor 0 {:?}", part.size.as_slice(), size.as_slice())
        }
        total = match total.checked_add(part.size[dim]) {
            Some(total) => total,
            None => bail!(Shape, "dimension {dim} overflows"),
        };
    }
    let (places, values) = with(&first.values, |scope| {
        let (mut places, mut values, mut start) = (Vec::new(), Vec::new(), 0);
        for part in &all {
            let (at, mut own) = (scope.value(indices(part)?.clone()), scope.value(part.values.clone()));
            let at = if dim < sparse { moved(at, dim, start) } else { at };
            if dim >= sparse {
                own = padded(own, dim - sparse + 1, start, total);
            }
            places.push(at);
            values.push(own);
            start += part.size[dim];
        }
        Ok((scope.made(joined(scope, &places, 1))?, scope.made(joined(scope, &values, 0))?))
    })?;
    let mut size = size;
    size[dim] = total;
    let coalesced = places_ascend(&all, dim, sparse);
    Ok(Parts { size, sparse, places: Places::Coordinates(places), values, coalesced })
}

/// Returns true if concatenated positions ascend without sorting: along the first dimension, or for a single tensor.
fn places_ascend(all: &[Parts], dim: usize, sparse: usize) -> bool {
    all.iter().all(|part| part.coalesced) && ((dim == 0 && sparse > 0) || all.len() == 1)
}

/// Pads values along a dense dimension with zeros on both sides to the size `total`.
fn padded<'s>(values: Value<'s>, dim: usize, start: i64, total: i64) -> Value<'s> {
    let mut shape = values.shape();
    let own = shape[dim];
    let scope = values.scope;
    let zeros = |n: i64, shape: &mut Dims| {
        shape[dim] = n;
        crate::expr::zeros(values, &crate::expr::Like { shape: shape.clone(), ..values.like() })
    };
    let (front, behind) = (zeros(start, &mut shape), zeros(total - start - own, &mut shape));
    joined(scope, &[front, values, behind], dim as i32)
}

/// Concatenates dense tensors.
fn joined<'s>(scope: &'s Scope, all: &[Value<'s>], dim: i32) -> Value<'s> {
    scope.call(&names::catArray::FUNCTION, &[In::Tensors(all), dim.into()])
}

/// Fails unless a tensor may have these sizes.
fn check_sizes(size: &[i64], sparse: usize) -> Result<()> {
    if size.len() > MAX_DIMS {
        bail!(Shape, "{} dimensions, at most {MAX_DIMS} are possible", size.len())
    }
    if sparse > size.len() || size.iter().any(|&n| n < 0) {
        bail!(Shape, "{sparse} sparse dimensions of sizes {size:?}")
    }
    Ok(())
}

/// Changes the sizes: sparse sizes may grow, and without entries all sizes may change.
pub fn resized(parts: &Parts, size: &[i64], sparse: usize) -> Result<Parts> {
    check_sizes(size, sparse)?;
    if parts.nnz() == 0 {
        return empty(parts.values.defined()?, size, sparse, &parts.values);
    }
    let parts = coordinates(parts.clone())?;
    let grows = (0..sparse).all(|d| parts.size.get(d).is_some_and(|&n| size[d] >= n));
    if sparse != parts.sparse || size.len() != parts.size.len() || !grows || size[sparse..] != parts.size[sparse..] {
        bail!(Shape, "sizes {:?} with entries cannot become {size:?}: sparse sizes may grow, others stay", parts.size.as_slice())
    }
    Ok(Parts { size: size.iter().copied().collect(), ..parts })
}

/// Returns a tensor without entries on the device of `like`.
pub fn empty(dtype: Dtype, size: &[i64], sparse: usize, like: &Tensor) -> Result<Parts> {
    check_sizes(size, sparse)?;
    let shape: Dims = [0].iter().chain(&size[sparse..]).copied().collect();
    let (indices, values) = with(like, |_| Ok((Tensor::empty(Dtype::Int64, &[sparse as i64, 0])?, Tensor::empty(dtype, &shape)?)))?;
    Ok(Parts { size: size.iter().copied().collect(), sparse, places: Places::Coordinates(indices), values, coalesced: true })
}

/// Returns a copy with copied positions and values.
pub fn cloned(parts: Parts) -> Result<Parts> {
    let copy = |t: &Tensor| with(t, |scope| scope.made(crate::expr::clone(scope.value(t.clone()))));
    let places = match &parts.places {
        Places::Coordinates(indices) => Places::Coordinates(copy(indices)?),
        Places::Rows { crow, col } => Places::Rows { crow: copy(crow)?, col: copy(col)? },
    };
    Ok(Parts { places, values: copy(&parts.values)?, ..parts })
}
