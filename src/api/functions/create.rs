//! Results made of numbers.
//!
//! Constants, progressions, diagonals, triangles and grids.
//!
//! Errors: `TH_ERR_ARGUMENT`, bounds, steps or sizes that make no list, numbers that the dtype does not hold; `TH_ERR_SHAPE`, an operand
//! with the wrong number of dimensions; `TH_ERR_DTYPE`, an operand of the wrong dtype.

use crate::api::table::table;
use crate::error::{Result, bail};
use crate::ops::{create, diagonal, grid, sequence, triangle};
use crate::scalar::Scalar;
use std::ffi::CStr;

macro_rules! create_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r = 0` in these sizes. A fresh `r` takes the default dtype, any other keeps its own.
            zeros(r: out, ndim: len, size: sizes) =
                create::fill_shape(r, size, Scalar::Int(0));
            /// `r = 1` in these sizes. A fresh `r` takes the default dtype, any other keeps its own.
            ones(r: out, ndim: len, size: sizes) =
                create::fill_shape(r, size, Scalar::Int(1));
            /// `r = value` in these sizes. A fresh `r` takes the default dtype, any other keeps its own, and the value is converted as by
            /// `THTensor_fill`.
            full(r: out, ndim: len, size: sizes, value: number) =
                create::fill_shape(r, size, value);
            /// `r = 0` in the sizes of `t`. A fresh `r` takes dtype and dense strides of `t` too.
            zerosLike(r: out, t: input) = create::fill_like(r, t, Scalar::Int(0));
            /// `r = 1` in the sizes of `t`. A fresh `r` takes dtype and dense strides of `t` too.
            onesLike(r: out, t: input) = create::fill_like(r, t, Scalar::Int(1));
            /// `r = value` in the sizes of `t`. A fresh `r` takes dtype and dense strides of `t` too.
            fullLike(r: out, t: input, value: number) = create::fill_like(r, t, value);

            /// `r[i] = start + i * step`, all numbers before `end`. A fresh `r` takes int64 if all three are whole, else the default dtype; `r`
            /// of integers takes three whole numbers only. A tensor that has as many elements already keeps its shape. It is an error if `step`
            /// is 0 or leads away from `end`.
            arange(r: out, start: number, end: number, step: number) = sequence::arange(r, start, end, step);
            /// `r[i] = start + i * step`, all numbers up to and including `end`. A fresh `r` takes the default dtype; else as
            /// `THTensor_arange`.
            range(r: out, start: number, end: number, step: number) = sequence::range(r, start, end, step);
            /// `r` = `n` numbers from `start` to `end`, both included, evenly spaced; of one, `start`. Floats only; a fresh `r` takes the
            /// default dtype. A tensor that has `n` elements already keeps its shape.
            linspace(r: out, start: number, end: number, n: size) = sequence::linspace(r, start.to_f64(), end.to_f64(), n);
            /// `r = 10^x` for the `n` numbers `x` of `THTensor_linspace`.
            logspace(r: out, start: number, end: number, n: size) = sequence::logspace(r, start.to_f64(), end.to_f64(), 10.0, n);
            /// `r = base^x` for the `n` numbers `x` of `THTensor_linspace`.
            logspaceBase(r: out, start: number, end: number, base: number, n: size) = sequence::logspace(r, start.to_f64(), end.to_f64(),
                base.to_f64(), n);

            /// `r[i, j] = 1` where `i = j`, else 0: `n` rows, `m` columns. A fresh `r` takes the default dtype.
            eye(r: out, n: size, m: size) = diagonal::eye(r, n, m);
            /// Of a matrix, `r` is diagonal `k` copied; of a vector of n elements, `r` is the matrix of n + |k| rows with the vector on
            /// diagonal `k` and zeros elsewhere. Diagonal 0 is the main one, positive ones lie above.
            diag(r: out, t: input, k: count) = diagonal::diag(r, t, k);
            /// `r` = matrices with the last dimension of `t` on their diagonal `offset` and zeros elsewhere; rows and columns become dimensions
            /// `dim1` and `dim2` of the result, which has one dimension more than `t`.
            diagEmbed(r: out, t: input, offset: count, dim1: dim, dim2: dim) = diagonal::diag_embed(r, t, offset, dim1, dim2);
            /// `sum of t[i, i]` of a matrix, of floats in float64 throughout; NaN on error. Sums of integers that a double cannot
            /// hold: `THTensor_sum` of `THTensor_newDiagonal`.
            trace(t: input) -> accumulated = diagonal::trace(t);

            /// `r[.., i, j] = t[.., i, j]` where `j - i <= k`, else 0. `r` may be `t`.
            tril(r: out, t: input, k: count) = triangle::tril(r, t, k);
            /// `r[.., i, j] = t[.., i, j]` where `j - i >= k`, else 0. `r` may be `t`.
            triu(r: out, t: input, k: count) = triangle::triu(r, t, k);
            /// `r` = 2 x n: row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i <= offset`, in row-major order. A
            /// fresh `r` takes int64.
            trilIndices(r: out, rows: size, cols: size, offset: count) = triangle::tril_indices(r, rows, cols, offset);
            /// `r` = 2 x n: row `i` and column `j` of each element of a `rows` x `cols` matrix with `j - i >= offset`, in row-major order. A
            /// fresh `r` takes int64.
            triuIndices(r: out, rows: size, cols: size, offset: count) = triangle::triu_indices(r, rows, cols, offset);

            /// `rets[k][i0, i1, ...] = tensors[k][ik]`: each of the `count` handles in `rets` becomes a view of the vector at its place,
            /// expanded over the grid of all. `indexing` "ij" keeps the order of dimensions, "xy" swaps the first two. Vectors have one dtype;
            /// scalars count as one element.
            meshgrid(rets: outs, tensors: inputs, count: handle_count, indexing: text) = grid::meshgrid(&rets, &tensors, is_xy(indexing)?);
            /// `r` = every combination of one element of each of the `count` vectors, a row each, the last vector changing fastest; of one
            /// vector, a copy.
            cartesianProd(r: out, tensors: inputs, count: handle_count) = grid::cartesian_prod(r, &tensors);
            /// `r[.., c] = 1` where `t[..] = c`, else 0, for integers `t` from 0 to `numClasses` - 1; -1 stands for one class more than the
            /// greatest. A fresh `r` takes int64.
            oneHot(r: out, t: index, numClasses: size) = grid::one_hot(r, t, numClasses);
            /// `r[i, j] = t[i]^(n - 1 - j)`, or `t[i]^j` if `increasing` is not 0, for a vector `t` and `n` columns; -1 stands for the length
            /// of `t`. Integers give int64.
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
