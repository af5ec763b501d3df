//! `THTensor_*`: results made from numbers: constants, progressions, diagonals, triangles, grids. Result first, then inputs, then numbers.

use super::view::handles;
use super::{export, numbers};
use crate::error::{Result, bail};
use crate::ops::{create, diagonal, grid, sequence, triangle};
use crate::scalar::Scalar;
use crate::tensor::THTensor;
use std::ffi::{CStr, c_char, c_int};

export! {
    /// `r = 0` in these sizes. A fresh `r` takes the default dtype, any other keeps its own.
    fn THTensor_zeros(r: *mut THTensor, ndim: c_int, size: *const i64) =
        // SAFETY: `size` holds `ndim` entries.
        create::fill_shape(r, unsafe { numbers("size", ndim, size) }?, Scalar::Int(0));
    /// `r = 1` in these sizes. A fresh `r` takes the default dtype, any other keeps its own.
    fn THTensor_ones(r: *mut THTensor, ndim: c_int, size: *const i64) =
        // SAFETY: `size` holds `ndim` entries.
        create::fill_shape(r, unsafe { numbers("size", ndim, size) }?, Scalar::Int(1));
    /// `r = value` in these sizes. A fresh `r` takes the default dtype, any other keeps its own, and the value is converted as by `THTensor_fill`.
    fn THTensor_full(r: *mut THTensor, ndim: c_int, size: *const i64, value: f64) =
        // SAFETY: `size` holds `ndim` entries.
        create::fill_shape(r, unsafe { numbers("size", ndim, size) }?, value.into());
    /// `r = 0` in the sizes of `t`. A fresh `r` takes dtype and dense strides of `t` too.
    fn THTensor_zerosLike(r: *mut THTensor, t: *const THTensor) = create::fill_like(r, t, Scalar::Int(0));
    /// `r = 1` in the sizes of `t`. A fresh `r` takes dtype and dense strides of `t` too.
    fn THTensor_onesLike(r: *mut THTensor, t: *const THTensor) = create::fill_like(r, t, Scalar::Int(1));
    /// `r = value` in the sizes of `t`. A fresh `r` takes dtype and dense strides of `t` too.
    fn THTensor_fullLike(r: *mut THTensor, t: *const THTensor, value: f64) = create::fill_like(r, t, value.into());

    /// `r[i] = start + i * step`, all numbers before `end`. A fresh `r` takes int64 if all three are whole, else the default dtype; `r` of integers
    /// takes three whole numbers only. A tensor that has as many elements already keeps its shape. It is an error if `step` is 0 or leads away from `end`.
    fn THTensor_arange(r: *mut THTensor, start: f64, end: f64, step: f64) = sequence::arange(r, start.into(), end.into(), step.into());
    /// `r[i] = start + i * step`, all numbers up to and including `end`. A fresh `r` takes the default dtype; else as `THTensor_arange`.
    fn THTensor_range(r: *mut THTensor, start: f64, end: f64, step: f64) = sequence::range(r, start.into(), end.into(), step.into());
    /// `r` = `n` numbers from `start` to `end`, both included, evenly spaced; of one, `start`. Floats only; a fresh `r` takes the default dtype.
    /// A tensor that has `n` elements already keeps its shape.
    fn THTensor_linspace(r: *mut THTensor, start: f64, end: f64, n: i64) = sequence::linspace(r, start, end, n);
    /// `r = 10^x` for the `n` numbers `x` of `THTensor_linspace`.
    fn THTensor_logspace(r: *mut THTensor, start: f64, end: f64, n: i64) = sequence::logspace(r, start, end, 10.0, n);
    /// `r = base^x` for the `n` numbers `x` of `THTensor_linspace`.
    fn THTensor_logspaceBase(r: *mut THTensor, start: f64, end: f64, base: f64, n: i64) = sequence::logspace(r, start, end, base, n);

    /// `r[i, j] = 1` where `i = j`, else 0: `n` rows, `m` columns. A fresh `r` takes the default dtype.
    fn THTensor_eye(r: *mut THTensor, n: i64, m: i64) = diagonal::eye(r, n, m);
    /// Of a matrix, `r` is diagonal `k` copied; of a vector of n elements, `r` is the matrix of n + |k| rows with the vector on diagonal `k` and zeros
    /// elsewhere. Diagonal 0 is the main one, positive ones lie above.
    fn THTensor_diag(r: *mut THTensor, t: *const THTensor, k: i64) = diagonal::diag(r, t, k);
    /// `r` = matrices with the last dimension of `t` on their diagonal `offset` and zeros elsewhere; rows and columns become dimensions `dim1` and
    /// `dim2` of the result, which has one dimension more than `t`.
    fn THTensor_diagEmbed(r: *mut THTensor, t: *const THTensor, offset: i64, dim1: c_int, dim2: c_int) = diagonal::diag_embed(r, t, offset, dim1, dim2);
    /// `sum of t[i, i]` of a matrix, of floats in float64 throughout; NaN on error. Sums of integers that a double cannot
    /// hold: `THTensor_sum` of `THTensor_newDiagonal`.
    fn THTensor_trace(t: *const THTensor) -> f64 = diagonal::trace(t);

    /// `r[.., i, j] = t[.., i, j]` where `j - i <= k`, else 0. `r` may be `t`.
    fn THTensor_tril(r: *mut THTensor, t: *const THTensor, k: i64) = triangle::tril(r, t, k);
    /// `r[.., i, j] = t[.., i, j]` where `j - i >= k`, else 0. `r` may be `t`.
    fn THTensor_triu(r: *mut THTensor, t: *const THTensor, k: i64) = triangle::triu(r, t, k);
    /// `r` = 2 x n: row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i <= offset`, in row-major order. A fresh `r` takes int64.
    fn THTensor_trilIndices(r: *mut THTensor, rows: i64, cols: i64, offset: i64) = triangle::tril_indices(r, rows, cols, offset);
    /// `r` = 2 x n: row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i >= offset`, in row-major order. A fresh `r` takes int64.
    fn THTensor_triuIndices(r: *mut THTensor, rows: i64, cols: i64, offset: i64) = triangle::triu_indices(r, rows, cols, offset);

    /// `rets[k][i0, i1, ...] = tensors[k][ik]`: each of the `count` handles in `rets` becomes a view of the vector at its place, expanded over the
    /// grid of all. `indexing` "ij" keeps the order of dimensions, "xy" swaps the first two. Vectors have one dtype; scalars count as one element.
    fn THTensor_meshgrid(rets: *const *mut THTensor, tensors: *const *mut THTensor, count: c_int, indexing: *const c_char) = {
        // SAFETY: both lists hold `count` handles; `indexing` is a C string.
        let (results, tensors, swapped) = unsafe { (handles("rets", rets, count)?, handles("tensors", tensors, count)?, is_xy(indexing)?) };
        grid::meshgrid(&results, &tensors, swapped)
    };
    /// `r` = every combination of one element of each of the `count` vectors, a row each, the last vector changing fastest; of one vector, a copy.
    fn THTensor_cartesianProd(r: *mut THTensor, tensors: *const *mut THTensor, count: c_int) =
        // SAFETY: the list holds `count` handles.
        grid::cartesian_prod(r, &unsafe { handles("tensors", tensors, count) }?);
    /// `r[.., c] = 1` where `t[..] = c`, else 0, for integers `t` from 0 to `numClasses` - 1; -1 stands for one class more than the greatest.
    /// A fresh `r` takes int64.
    fn THTensor_oneHot(r: *mut THTensor, t: *const THTensor, numClasses: i64) = grid::one_hot(r, t, numClasses);
    /// `r[i, j] = t[i]^(n - 1 - j)`, or `t[i]^j` if `increasing` is not 0, for a vector `t` and `n` columns; -1 stands for the length of `t`.
    /// Integers give int64.
    fn THTensor_vander(r: *mut THTensor, t: *const THTensor, n: i64, increasing: c_int) = grid::vander(r, t, n, increasing != 0);
}

/// Whether the order of dimensions is "xy", not "ij".
///
/// # Safety
/// `indexing` must be NULL or a C string.
unsafe fn is_xy(indexing: *const c_char) -> Result<bool> {
    if indexing.is_null() {
        return Err(super::null_argument("indexing"));
    }
    // SAFETY: the caller's.
    match unsafe { CStr::from_ptr(indexing) }.to_bytes() {
        b"ij" => Ok(false),
        b"xy" => Ok(true),
        other => bail!(Argument, "indexing must be 'ij' or 'xy', got '{}'", String::from_utf8_lossy(other)),
    }
}
