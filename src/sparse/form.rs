//! Conversions between the forms of sparse tensors: coordinates, coalesced or not, compressed rows, and dense tensors.

use super::{Bounds, Parts, Places, keys, order_keys, with};
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::{
    In, Scope, Value, csr_matmul, index_select, names, narrow, ne_value, reshape, row_numbers, select, to_dtype, transpose, zeros,
};
use crate::expr::{Like, cumsum};
use crate::layout::{Dims, MAX_DIMS, checked_numel};
use crate::ops::device as read;
use crate::tensor::Tensor;

/// Converts compressed rows to coordinates.
pub fn coordinates(parts: Parts) -> Result<Parts> {
    let Places::Rows { crow, col } = &parts.places else { return Ok(parts) };
    let indices = with(&parts.values, |scope| {
        let (crow, col) = (scope.value(crow.clone()), scope.value(col.clone()));
        scope.made(stacked(scope, &[row_numbers(crow), to_dtype(col, Dtype::Int64)]))
    })?;
    Ok(Parts { places: Places::Coordinates(indices), ..parts })
}

/// Returns a matrix with these vectors as rows.
pub fn stacked<'s>(scope: &'s Scope, rows: &[Value<'s>]) -> Value<'s> {
    scope.call(&names::stack::FUNCTION, &[In::Tensors(rows), 0.into()])
}

/// The coordinates of entries.
pub fn indices(parts: &Parts) -> Result<&Tensor> {
    match &parts.places {
        Places::Coordinates(indices) => Ok(indices),
        Places::Rows { .. } => bail!(Internal, "compressed rows where coordinates are expected"),
    }
}

/// Returns the number and the size of each sparse dimension. Fails if the product of the sizes overflows.
pub fn sparse_dims(parts: &Parts) -> Result<impl Iterator<Item = (usize, i64)>> {
    checked_numel(&parts.size[..parts.sparse])?;
    Ok(parts.size[..parts.sparse].iter().copied().enumerate())
}

/// Returns the values with all dense dimensions merged into one.
pub fn flat<'s>(values: Value<'s>) -> Value<'s> {
    let shape = values.shape();
    if shape.len() == 2 { values } else { reshape(values, &[shape.first().copied().unwrap_or(0), shape.iter().skip(1).product()]) }
}

/// Entries grouped by position.
struct Grouped<'s> {
    /// The index in `order` of the first entry of each position, followed by the number of entries.
    starts: Value<'s>,
    /// The entries sorted by position; entries of one position keep their order.
    order: Value<'s>,
}

impl<'s> Grouped<'s> {
    /// Returns the sum of the values of each position. Many floats of one position are added in float64, because they are added one after
    /// the other.
    fn sums(&self, parts: &Parts) -> Result<Value<'s>> {
        /// The maximum number of values of a position for which a sum in the dtype is accurate enough.
        const FEW: f64 = 32.0;
        let (scope, places, dtype) = (self.starts.scope, self.starts.numel() - 1, parts.values.defined()?);
        let mut values = flat(scope.value(parts.values.clone()));
        let may_be_wide = dtype.is_float() && dtype != Dtype::Float64 && places > 0 && parts.nnz() - places >= FEW as i64;
        let is_wide = may_be_wide && {
            let counts = narrow(self.starts, 0, 1, places) - narrow(self.starts, 0, 0, places);
            scope.number(&names::maxall::FUNCTION, &scope.made(counts)?, &[])? > FEW
        };
        if is_wide {
            values = to_dtype(values, Dtype::Float64);
        }
        let sums = csr_matmul(values, self.starts, self.order, None);
        let shape: Dims = [places].iter().chain(parts.dense()).copied().collect();
        Ok(reshape(if is_wide { to_dtype(sums, dtype) } else { sums }, &shape))
    }
}

/// Returns true if entries may be compressed by the first dimension: on the host, unless the dimension is far larger than the number of
/// entries.
fn compresses(parts: &Parts) -> bool {
    const MOST: i64 = 1 << 32;
    let nnz = parts.nnz();
    let is_short = parts.sparse > 0 && parts.size[0] <= nnz.saturating_mul(8).saturating_add(1 << 16);
    is_short && is_narrow(&parts.size[1..parts.sparse], MOST) && nnz < MOST && parts.values.device() == Device::Cpu
}

/// Returns true if tensors of these sizes have at most `most` elements.
fn is_narrow(sizes: &[i64], most: i64) -> bool {
    checked_numel(sizes).is_ok_and(|n| n <= most)
}

/// Compresses entries by the first dimension. Returns the index of the first position of each row, the column of each position, and the
/// grouped entries.
fn by_rows<'s>(places: Value<'s>, parts: &Parts) -> Result<(Value<'s>, Value<'s>, Grouped<'s>)> {
    let columns = keys(places, (1..parts.sparse).map(|d| (d, parts.size[d])))?;
    let args = [select(places, 0, 0).into(), columns.into(), parts.size[0].into()];
    let [crow, col, starts, order] = places.scope.call_for_all(&names::csrCompress::FUNCTION, 0b1111, &args);
    Ok((crow, col, Grouped { starts, order }))
}

/// Coalesces a tensor: positions become distinct and ascend in row-major order. The values of one position are summed in the order of the
/// entries.
pub fn coalesced(parts: Parts) -> Result<Parts> {
    let parts = coordinates(parts)?;
    if parts.coalesced {
        return Ok(parts);
    }
    let compresses = compresses(&parts);
    let (indices, values) = with(&parts.values, |scope| {
        let places = scope.value(indices(&parts)?.clone());
        let firsts =
            |groups: &Grouped<'_>| scope.made(index_select(groups.order, 0, narrow(groups.starts, 0, 0, groups.starts.numel() - 1)));
        if compresses {
            let (crow, col, groups) = by_rows(places, &parts)?;
            let indices = match parts.sparse {
                2 => stacked(scope, &[row_numbers(crow), col]),
                _ => index_select(places, 1, scope.value(firsts(&groups)?)),
            };
            return Ok((scope.made(indices)?, scope.made(groups.sums(&parts)?)?));
        }
        let keys = order_keys(places, &parts.size[..parts.sparse])?;
        let [sorted, order] = scope.call_for_all(&names::sort::FUNCTION, 0b11, &[keys.into(), 0.into(), false.into(), true.into()]);
        let [counts] = scope.call_for_all(&names::uniqueConsecutive::FUNCTION, 0b100, &[sorted.into(), 0.into()]);
        let groups = Grouped { starts: starts_of(scope, counts), order };
        let indices = index_select(places, 1, scope.value(firsts(&groups)?));
        Ok((scope.made(indices)?, scope.made(groups.sums(&parts)?)?))
    })?;
    Ok(Parts { places: Places::Coordinates(indices), values, coalesced: true, ..parts })
}

/// Returns `t`, or a contiguous copy if `t` is not contiguous.
pub fn contiguous(t: Value<'_>) -> Value<'_> {
    t.scope.call(&names::newContiguous::FUNCTION, &[t.into()])
}

/// Returns the start of each part with these lengths, followed by the end of the last part.
pub fn starts_of<'s>(scope: &'s Scope, counts: Value<'s>) -> Value<'s> {
    let zero = scope.call(&names::newZeros::FUNCTION, &[Dtype::Int64.into(), In::List(&[1])]);
    crate::expr::join(zero, cumsum(counts, 0), 0)
}

/// Compresses a matrix by rows. The columns of a row are distinct and ascend. The indices are int32 if the sizes and the number of entries
/// allow it.
pub fn compressed(parts: Parts) -> Result<Parts> {
    if matches!(parts.places, Places::Rows { .. }) {
        return Ok(parts);
    }
    if parts.size.len() != 2 || parts.sparse != 2 {
        bail!(Shape, "{} sparse and {} dense dimensions, expected a matrix", parts.sparse, parts.size.len() - parts.sparse)
    }
    let direct = !parts.coalesced && compresses(&parts);
    let parts = if direct { parts } else { coalesced(parts)? };
    let fits = parts.size.iter().all(|&n| n < i64::from(i32::MAX)) && parts.nnz() < i64::from(i32::MAX);
    let dtype = if fits { Dtype::Int32 } else { Dtype::Int64 };
    let (crow, col, values) = with(&parts.values, |scope| {
        let places = scope.value(indices(&parts)?.clone());
        let (crow, col, values) = if direct {
            let (crow, col, groups) = by_rows(places, &parts)?;
            (crow, col, groups.sums(&parts)?)
        } else {
            let all = scope.numbers(parts.size[0] + 1);
            let crow = scope.call(&names::searchsorted::FUNCTION, &[select(places, 0, 0).into(), all.into(), false.into(), In::Null]);
            (crow, select(places, 0, 1), scope.value(parts.values.clone()))
        };
        Ok((scope.made(to_dtype(crow, dtype))?, scope.made(to_dtype(col, dtype))?, scope.made(values)?))
    })?;
    Ok(Parts { places: Places::Rows { crow, col }, values, coalesced: true, ..parts })
}

/// Returns the dense tensor, with 0 at positions without an entry.
pub fn dense(parts: Parts) -> Result<Tensor> {
    let parts = coordinates(parts)?;
    with(&parts.values, |scope| {
        let keys = keys(scope.value(indices(&parts)?.clone()), sparse_dims(&parts)?)?;
        let values = scope.value(parts.values.clone());
        let shape: Dims = [parts.size[..parts.sparse].iter().product()].iter().chain(parts.dense()).copied().collect();
        let filled = zeros(values, &Like { shape, ..values.like() });
        scope.write(filled, &names::indexAdd::FUNCTION, &[0.into(), keys.into(), values.into()]);
        scope.made(reshape(filled, &parts.size))
    })
}

/// Returns the entries of a dense tensor that are not 0, with `sparse` sparse dimensions. With dense dimensions, an entry is kept if any of
/// its elements is not 0.
pub fn from_dense(t: &Tensor, sparse: i64) -> Result<Parts> {
    let size = t.layout()?.shape;
    let sparse = match usize::try_from(sparse) {
        Ok(n) if n <= size.len() && (n > 0 || size.is_empty()) => n,
        _ => bail!(Argument, "{sparse} sparse dimensions of {}", size.len()),
    };
    checked_numel(&size[..sparse])?;
    let (indices, values) = with(t, |scope| {
        let t = scope.value(t.clone());
        let rows: Dims = [size[..sparse].iter().product()].iter().chain(&size[sparse..]).copied().collect();
        let flat = reshape(t, &rows);
        let set = ne_value(flat, 0.0);
        let dims: Dims = (1..rows.len() as i64).collect();
        let any = if dims.is_empty() { set } else { scope.call(&names::anyDims::FUNCTION, &[set.into(), (&dims).into(), false.into()]) };
        let places = scope.call(&names::nonzero::FUNCTION, &[reshape(any, &size[..sparse]).into()]);
        let indices = contiguous(transpose(places, 0, 1));
        let keys = keys(indices, size[..sparse].iter().copied().enumerate())?;
        Ok((scope.made(indices)?, scope.made(index_select(flat, 0, keys))?))
    })?;
    Ok(Parts { size, sparse, places: Places::Coordinates(indices), values, coalesced: true })
}

/// Returns a sparse tensor with these positions and values. If no sizes are given, the sparse sizes are the smallest that hold all
/// positions.
pub fn of_coordinates(indices: &Tensor, values: &Tensor, size: Option<&[i64]>) -> Result<Parts> {
    let (dtype, places, shape) = (indices.defined()?, indices.layout()?.shape, values.layout()?.shape);
    if !matches!(dtype, Dtype::Int64 | Dtype::Int32) {
        bail!(Dtype, "indices are int64 or int32, not {dtype}")
    }
    values.defined()?;
    if places.len() != 2 {
        bail!(Shape, "indices have shape {:?}, expected a row for each sparse dimension", places.as_slice())
    }
    let (sparse, nnz) = (places[0] as usize, places[1]);
    if sparse > MAX_DIMS {
        bail!(Shape, "{sparse} dimensions, at most {MAX_DIMS} are possible")
    }
    if shape.first() != Some(&nnz) {
        bail!(Shape, "values have shape {:?} for {nnz} positions", shape.as_slice())
    }
    let (indices, bounds) = with(values, |scope| {
        let indices = to_dtype(scope.value(indices.clone()), Dtype::Int64);
        Ok((scope.made(indices)?, Bounds::of(indices)?))
    })?;
    // If no sizes are given, the size of a dimension must also be representable.
    let check =
        |size: &dyn Fn(usize) -> i64| bounds.as_ref().map_or(Ok(()), |bounds| (0..sparse).try_for_each(|d| bounds.check(d, size(d))));
    check(&|_| i64::MAX)?;
    let size: Dims = match (size, &bounds) {
        (Some(size), _) => size.iter().copied().collect(),
        (None, Some(bounds)) => bounds.greatest.iter().map(|&n| n + 1).chain(shape[1..].iter().copied()).collect(),
        (None, None) => std::iter::repeat_n(0, sparse).chain(shape[1..].iter().copied()).collect(),
    };
    if size.len() < sparse || size[sparse..] != shape[1..] || size.iter().any(|&n| n < 0) {
        bail!(Shape, "sizes {:?} for {sparse} sparse dimensions and values of shape {:?}", size.as_slice(), shape.as_slice())
    }
    check(&|d| size[d])?;
    Ok(Parts { coalesced: nnz == 0, size, sparse, places: Places::Coordinates(indices), values: values.clone() })
}

/// Returns a matrix compressed by rows after a check of its components.
pub fn of_rows(crow: &Tensor, col: &Tensor, values: &Tensor, rows: i64, columns: i64) -> Result<Parts> {
    for (t, name) in [(crow, "crow"), (col, "col")] {
        if !matches!(t.defined()?, Dtype::Int64 | Dtype::Int32) {
            bail!(Dtype, "'{name}' is int64 or int32, not {}", t.defined()?)
        }
    }
    values.defined()?;
    if rows < 0 || columns < 0 {
        bail!(Argument, "{rows} rows and {columns} columns")
    }
    let nnz = values.layout()?.shape.as_slice().to_owned();
    let [nnz] = nnz.as_slice() else { bail!(Shape, "values have shape {nnz:?}, expected a vector") };
    let places = Places::Rows { crow: crow.clone(), col: col.clone() };
    let parts = Parts { size: [rows, columns].into_iter().collect(), sparse: 2, places, values: values.clone(), coalesced: false };
    parts.check_shapes()?;
    let starts = with(values, |scope| scope.made(contiguous(to_dtype(scope.value(crow.clone()), Dtype::Int64))))?;
    let starts = read::elements::<i64>(&starts)?;
    if starts.first() != Some(&0) || starts.last() != Some(nnz) || !starts.is_sorted() {
        bail!(Argument, "rows start at 0, ascend, and end at the number of entries, {nnz}")
    }
    if *nnz > 0 {
        let (least, most) = with(values, |scope| {
            let col = scope.value(col.clone());
            let extreme = |row| scope.call(row, &[col.into(), 0.into(), false.into()]);
            let bounds = [extreme(&names::amin::FUNCTION), extreme(&names::amax::FUNCTION)].map(|t| to_dtype(t, Dtype::Int64));
            Ok((read::elements::<i64>(&scope.made(bounds[0])?)?[0], read::elements::<i64>(&scope.made(bounds[1])?)?[0]))
        })?;
        if least < 0 || most >= columns {
            bail!(Argument, "column {} is out of range for {columns} columns", if least < 0 { least } else { most })
        }
    }
    Ok(parts)
}
