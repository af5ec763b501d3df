//! Results made of numbers.
//!
//! Constants, progressions, diagonals, triangles and grids.
//!
//! Errors: `TH_ERR_ARGUMENT`, invalid bounds, steps or sizes, or numbers that the dtype cannot hold; `TH_ERR_SHAPE`, an operand with the
//! wrong number of dimensions; `TH_ERR_DTYPE`, an operand of the wrong dtype.

use crate::api::table::table;
use crate::error::{Result, bail};
use crate::ops::{create, diagonal, grid, sequence, triangle};
use crate::scalar::Scalar;
use std::ffi::CStr;

macro_rules! create_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r = 0` with these sizes. A fresh `r` has the default dtype; any other keeps its dtype.
            zeros(r: out, ndim: len, size: sizes) =
                create::fill_shape(r, size, Scalar::Int(0));
            /// `r = 1` with these sizes. A fresh `r` has the default dtype; any other keeps its dtype.
            ones(r: out, ndim: len, size: sizes) =
                create::fill_shape(r, size, Scalar::Int(1));
            /// `r = value` with these sizes. A fresh `r` has the default dtype; any other keeps its dtype, and `value` is converted as by
            /// `THTensor_fill`.
            full(r: out, ndim: len, size: sizes, value: number) =
                create::fill_shape(r, size, value);
            /// `r = 0` with the sizes of `t`. A fresh `r` has the dtype of `t` and, if they are dense, its strides.
            zerosLike(r: out, t: input) = create::fill_like(r, t, Scalar::Int(0));
            /// `r = 1` with the sizes of `t`. A fresh `r` has the dtype of `t` and, if they are dense, its strides.
            onesLike(r: out, t: input) = create::fill_like(r, t, Scalar::Int(1));
            /// `r = value` with the sizes of `t`. A fresh `r` has the dtype of `t` and, if they are dense, its strides.
            fullLike(r: out, t: input, value: number) = create::fill_like(r, t, value);

            /// `r[i] = start + i * step`, all numbers before `end`. A fresh `r` is int64 if all three numbers are whole, else it has the
            /// default dtype. If `r` has an integer dtype, all three numbers must be whole. A tensor that already has the right number of
            /// elements keeps its shape. A `step` of 0, or one that leads away from `end`, is an error.
            arange(r: out, start: number, end: number, step: number) = sequence::arange(r, start, end, step);
            /// `r[i] = start + i * step`, all numbers up to and including `end`. A fresh `r` has the default dtype; otherwise `r` is as for
            /// `THTensor_arange`.
            range(r: out, start: number, end: number, step: number) = sequence::range(r, start, end, step);
            /// `r` = `n` evenly spaced numbers from `start` to `end`, both included; if `n` is 1, `start`. Floats only; a fresh `r` has the
            /// default dtype. A tensor that already has `n` elements keeps its shape.
            linspace(r: out, start: number, end: number, n: size) = sequence::linspace(r, start.to_f64(), end.to_f64(), n);
            /// `r = 10^x` for the `n` numbers `x` of `THTensor_linspace`.
            logspace(r: out, start: number, end: number, n: size) = sequence::logspace(r, start.to_f64(), end.to_f64(), 10.0, n);
            /// `r = base^x` for the `n` numbers `x` of `THTensor_linspace`.
            logspaceBase(r: out, start: number, end: number, base: number, n: size) = sequence::logspace(r, start.to_f64(), end.to_f64(),
                base.to_f64(), n);

            /// `r[i, j] = 1` where `i = j`, else 0, with `n` rows and `m` columns. A fresh `r` has the default dtype.
            eye(r: out, n: size, m: size) = diagonal::eye(r, n, m);
            /// `r` = a copy of diagonal `k` if `t` is a matrix; if `t` is a vector, a matrix with this vector on diagonal `k` and zeros
            /// elsewhere. For a vector of n elements the matrix has n + |k| rows. Diagonal 0 is the main diagonal; positive diagonals are
            /// above it.
            diag(r: out, t: input, k: count) = diagonal::diag(r, t, k);
            /// `r` = matrices with the last dimension of `t` on diagonal `offset` and zeros elsewhere. Their rows and columns are
            /// dimensions `dim1` and `dim2` of the result, which has one dimension more than `t`.
            diagEmbed(r: out, t: input, offset: count, dim1: dim, dim2: dim) = diagonal::diag_embed(r, t, offset, dim1, dim2);
            /// Returns `sum of t[i, i]` of a matrix; NaN on error. Floats are summed in float64. For sums of integers that a double cannot
            /// hold, use `THTensor_sum` of `THTensor_newDiagonal`.
            trace(t: input) -> accumulated = diagonal::trace(t);

            /// `r[.., i, j] = t[.., i, j]` where `j - i <= k`, else 0. `r` may be `t`.
            tril(r: out, t: input, k: count) = triangle::tril(r, t, k);
            /// `r[.., i, j] = t[.., i, j]` where `j - i >= k`, else 0. `r` may be `t`.
            triu(r: out, t: input, k: count) = triangle::triu(r, t, k);
            /// `r` [2 x n] = row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i <= offset`, in row-major order.
            /// A fresh `r` is int64.
            trilIndices(r: out, rows: size, cols: size, offset: count) = triangle::tril_indices(r, rows, cols, offset);
            /// `r` [2 x n] = row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i >= offset`, in row-major order.
            /// A fresh `r` is int64.
            triuIndices(r: out, rows: size, cols: size, offset: count) = triangle::triu_indices(r, rows, cols, offset);

            /// `rets[k][i0, i1, ...] = tensors[k][ik]`: each of the `count` handles in `rets` becomes a view of the vector at the same
            /// index, expanded over the grid of all vectors. `indexing` "ij" keeps the order of dimensions, "xy" swaps the first two.
            /// Vectors have one dtype; a scalar counts as a vector of one element.
            meshgrid(rets: outs, tensors: inputs, count: handle_count, indexing: text) = grid::meshgrid(&rets, &tensors, is_xy(indexing)?);
            /// `r` = all combinations of one element from each of the `count` vectors. Each combination is a row, and the last vector
            /// varies fastest. For one vector `r` is a copy.
            cartesianProd(r: out, tensors: inputs, count: handle_count) = grid::cartesian_prod(r, &tensors);
            /// `r[.., c] = 1` where `t[..] = c`, else 0, for integers `t` from 0 to `numClasses` - 1. If `numClasses` is -1, it is one more
            /// than the largest element. A fresh `r` is int64.
            oneHot(r: out, t: index, numClasses: size) = grid::one_hot(r, t, numClasses);
            /// `r[i, j] = t[i]^(n - 1 - j)`, or `t[i]^j` if `increasing` is not 0, for a vector `t` and `n` columns; if `n` is -1, it is
            /// the length of `t`. Integers give int64.
            vander(r: out, t: input, n: size, increasing: flag) = grid::vander(r, t, n, increasing);
        }
    };
}

create_functions!(table);
pub(crate) use create_functions as functions;

/// Returns true if the order of dimensions is "xy", not "ij".
fn is_xy(indexing: &CStr) -> Result<bool> {
    match indexing.to_bytes() {
        b"ij" => Ok(false),
        b"xy" => Ok(true),
        other => bail!(Argument, "indexing must be 'ij' or 'xy', got '{}'", String::from_utf8_lossy(other)),
    }
}
