//! Sparse tensors of files.

use super::form::{contiguous, coordinates, of_coordinates, of_rows, stacked};
use super::{Parts, Places, shape, with};
use crate::alloc;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::expr::to_dtype;
use crate::files::{Form, Sparse};
use crate::layout::Dims;
use crate::ops::device as read;
use crate::tensor::Tensor;
use std::cmp::Ordering;

/// Returns the components in a file after a check of the positions. A matrix that is compressed by columns gets coordinates.
pub fn of_file(sparse: &Sparse) -> Result<Parts> {
    let (places, values) = sparse.split()?;
    let sizes = sparse.sizes.as_slice();
    let parts = match (sparse.form, places) {
        (Form::Coordinates, [indices]) => of_coordinates(indices, values, Some(sizes))?,
        (Form::Vectors, _) => {
            let indices = with(values, |scope| {
                let rows = alloc::list(places.len(), |d| Ok(to_dtype(scope.value(places[d].clone()), Dtype::Int64)))?;
                scope.made(stacked(scope, &rows))
            })?;
            of_coordinates(&indices, values, Some(sizes))?
        }
        (Form::Rows, [crow, col]) => of_rows(crow, col, values, sizes[0], sizes[1])?,
        (Form::Columns, [ccol, row]) => shape::transpose(of_rows(ccol, row, values, sizes[1], sizes[0])?, 0, 1)?,
        _ => bail!(Internal, "a sparse tensor of {} parts", places.len() + 1),
    };
    let coalesced = parts.coalesced || ascend(&parts)?;
    Ok(Parts { coalesced, ..parts })
}

/// Returns true if the positions are distinct and ascend in row-major order.
fn ascend(parts: &Parts) -> Result<bool> {
    let long = |t: &Tensor| with(&parts.values, |scope| scope.made(contiguous(to_dtype(scope.value(t.clone()), Dtype::Int64))));
    match &parts.places {
        Places::Coordinates(indices) => {
            let indices = long(indices)?;
            let (all, dims, nnz) = (read::elements::<i64>(&indices)?, parts.sparse, parts.nnz() as usize);
            // The first dimension in which two neighbours differ tells their order.
            let order = |k: usize| (0..dims).map(|d| all[d * nnz + k - 1].cmp(&all[d * nnz + k])).find(|order| order.is_ne());
            Ok((1..nnz).all(|k| order(k) == Some(Ordering::Less)))
        }
        Places::Rows { crow, col } => {
            let (crow, col) = (long(crow)?, long(col)?);
            let (starts, columns) = (read::elements::<i64>(&crow)?, read::elements::<i64>(&col)?);
            let row = |pair: &[i64]| columns.get(usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?);
            Ok(starts.windows(2).all(|pair| row(pair).is_some_and(|row| row.is_sorted_by(|a, b| a < b))))
        }
    }
}

/// Returns the components for a file. `crow` and `col` of a compressed matrix get one dtype. Rows whose columns are not distinct and
/// ascending become coordinates, because PyTorch refuses such rows.
pub fn to_file(parts: Parts) -> Result<Sparse> {
    let is_whole = matches!(parts.places, Places::Coordinates(_)) || parts.coalesced || ascend(&parts)?;
    let parts = if is_whole { parts } else { coordinates(parts)? };
    let (form, places) = match &parts.places {
        Places::Coordinates(indices) => (Form::Coordinates, [Some(indices.clone()), None]),
        Places::Rows { crow, col } if crow.defined()? == col.defined()? => (Form::Rows, [Some(crow.clone()), Some(col.clone())]),
        Places::Rows { crow, col } => with(&parts.values, |scope| {
            let long = |t: &Tensor| scope.made(to_dtype(scope.value(t.clone()), Dtype::Int64)).map(Some);
            Ok((Form::Rows, [long(crow)?, long(col)?]))
        })?,
    };
    let count = if form == Form::Rows { 3 } else { 2 };
    let mut all = places.into_iter().flatten().chain([parts.values.clone()]);
    let all = alloc::list(count, |_| all.next().map_or_else(|| bail!(Internal, "a part is missing"), Ok))?;
    Ok(Sparse { sizes: Dims::from(parts.size.as_slice()), form, parts: all, coalesced: parts.coalesced })
}
