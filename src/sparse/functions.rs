//! Sparse tensors.
//!
//! A `THSTensor` holds the positions and values of some entries; all others are 0. The first dimensions are sparse: `indices`, int64
//! [sparseDim x nnz], has a column of positions for each entry. The others are dense: `values` [nnz x dense sizes] has the elements that
//! an entry has itself. An entry may stand anywhere and several for one position, whose values count as their sum; coalesced, positions
//! ascend in row-major order, each once. A matrix may be compressed by rows (CSR) instead: `crow` has where each row starts among the
//! entries, `col` the column of each. Functions take either form; coordinates are what they make, unless they say otherwise.
//!
//! A handle is counted as tensors are, and its fields may be read. It keeps references to the tensors that it is made of, and no copies:
//! whoever changes these changes it. Results come first; a result may be an operand. What it had is never written to: it is given other
//! positions and values, and those that are an operand's, as positions after `neg`, are shared with that. A result that was written to
//! before keeps its dtype: values are converted, and what it cannot hold is `TH_ERR_DTYPE`. All lies on one device.
//!
//! Gradients are those of the values, a tensor as any other: where `values` requires a gradient, operations on the sparse tensor are
//! recorded. Positions have none.
//!
//! Errors: `TH_ERR_SHAPE`, sizes that do not fit each other; `TH_ERR_ARGUMENT`, a position that is negative or beyond its size, or a
//! dimension that there is not; `TH_ERR_DTYPE`, positions that are no integers, or an operand that nothing was written to yet.

use super::{dimension as wrapped, form, math, products, shape, systems, with};
use crate::api::sparse::{Parts, Places, Sparse};
use crate::api::table::table;
use crate::error::{Result, bail};
use crate::expr::{names, to_dtype};
use crate::ops::systems::Iteration;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// Gives a result its parts. A result that was written to keeps its dtype, as a dense one does.
fn set(r: &Sparse, parts: Result<Parts>) -> Result<()> {
    let parts = parts?;
    let (made, own) = (parts.values.defined()?, r.values().and_then(|values| values.dtype()));
    r.set(match own {
        Some(own) if own != made => {
            if !made.can_cast(own) {
                bail!(Dtype, "a result of {made} cannot be stored in a sparse tensor of {own}")
            }
            let values = with(&parts.values, |scope| scope.made(to_dtype(scope.value(parts.values.clone()), own)))?;
            Parts { values, ..parts }
        }
        _ => parts,
    });
    Ok(())
}

macro_rules! sparse_functions {
    ($do:ident) => {
        $do! { "THSTensor_";
            /// A fresh handle: the first function that writes to it gives it sizes and entries. Returns a new reference.
            new() -> new_sparse = Sparse::fresh();
            /// Adds a reference; NULL is ignored. Safe from any thread.
            retain(s: sparse_or_null) -> nothing = {
                if let Some(s) = NonNull::new(s) {
                    // SAFETY: the caller passes a live handle; nobody drops the clone: its reference is the caller's.
                    let _given = ManuallyDrop::new(unsafe { ManuallyDrop::new(Sparse::from_raw(s)) }.clone());
                }
                Ok(())
            };
            /// Gives up a reference; the last one frees the handle and gives up what it is made of. NULL is ignored. Safe from any thread.
            free(s: sparse_or_null) -> nothing = {
                if let Some(s) = NonNull::new(s) {
                    // SAFETY: the caller gives up a reference it holds.
                    drop(unsafe { Sparse::from_raw(s) });
                }
                Ok(())
            };
            /// A tensor of sizes without entries: the first `sparseDim` dimensions are sparse. Returns a new reference.
            newWithSize(dtype: dtype, ndim: len, size: sizes, sparseDim: int) -> new_sparse =
                Sparse::new(shape::empty(dtype, size, sparseDim.try_into().unwrap_or(usize::MAX), &Tensor::fresh()?)?);
            /// The least tensor that holds entries at `indices`, [sparse dimensions x nnz] of int64 or int32, with `values` [nnz x ...]. It
            /// keeps references to both, but of int32 positions a copy. Returns a new reference.
            newWithTensor(indices: shared, values: shared) -> new_sparse = Sparse::new(form::of_coordinates(indices, values, None)?);
            /// `newWithTensor` with `ndim` sizes: those of the sparse dimensions, which must hold all positions, then those of `values`.
            newWithTensorAndSize(indices: shared, values: shared, ndim: len, size: sizes) -> new_sparse =
                Sparse::new(form::of_coordinates(indices, values, Some(size))?);
            /// A matrix of compressed rows: `crow` [rows + 1] has where each row starts among the entries, with their number at the end, `col`
            /// the column of each entry; both int64 or int32, as of SciPy. It keeps references to all three. Columns of a row may stand in any
            /// order, and several for one place. Returns a new reference.
            newCsr(crow: shared, col: shared, values: shared, rows: size, columns: size) -> new_sparse =
                Sparse::new(form::of_rows(crow, col, values, rows, columns)?);
            /// The entries of a dense tensor that are not 0, coalesced, with `sparseDim` sparse dimensions: an entry with dense dimensions is
            /// kept if one of its elements is not 0. A negative `sparseDim` stands for all dimensions. Returns a new reference.
            newFromDense(t: input, sparseDim: int) -> new_sparse = {
                let sparse = if sparseDim < 0 { t.ndim() as i64 } else { sparseDim.into() };
                Sparse::new(form::from_dense(t, sparse)?)
            };
            /// A second handle on the positions and values of `s`. Returns a new reference.
            newWithSparse(s: sparse) -> new_sparse = Sparse::new(s.parts()?);
            /// A copy of `s`, with positions and values of its own. Returns a new reference.
            newClone(s: sparse) -> new_sparse = Sparse::new(shape::cloned(s.parts()?)?);
            /// `s` coalesced: values for one position are summed in the order in which they stand. What is coalesced is shared. Returns a new
            /// reference.
            newCoalesce(s: sparse) -> new_sparse = Sparse::new(form::coalesced(s.parts()?)?);
            /// The matrix `s` compressed by rows. Coordinates are coalesced, and become int32 where the sizes and the number of entries allow
            /// it; compressed rows are shared as they stand. Returns a new reference.
            newCompressed(s: sparse) -> new_sparse = Sparse::new(form::compressed(s.parts()?)?);
            /// `s` as coordinates; where it has them they are shared. Returns a new reference.
            newCoordinates(s: sparse) -> new_sparse = Sparse::new(form::coordinates(s.parts()?)?);
            /// A dense tensor of all elements of `s`. Returns a new reference.
            newDense(s: sparse) -> new = form::dense(s.parts()?);

            /// The number of dimensions; 0 on error.
            nDimension(s: sparse) -> int = Ok(s.parts()?.size.len() as i32);
            /// The size of a dimension, which may count from the end; -1 on error.
            size(s: sparse, dimension: dim) -> size = {
                let parts = s.parts()?;
                Ok(parts.size[wrapped(dimension.into(), &parts)?])
            };
            /// The number of entries, as they stand; -1 on error.
            nnz(s: sparse) -> count = Ok(s.parts()?.nnz());
            /// The number of sparse dimensions; 0 on error.
            sparseDim(s: sparse) -> int = Ok(s.parts()?.sparse as i32);
            /// The number of dense dimensions; 0 on error.
            denseDim(s: sparse) -> int = s.parts().map(|parts| (parts.size.len() - parts.sparse) as i32);
            /// 1 if positions ascend in row-major order, each once; 0 if that is not known, and on error.
            isCoalesced(s: sparse) -> flag = Ok(s.parts()?.coalesced);
            /// 1 if the matrix is compressed by rows; 0 if it has coordinates, and on error.
            isCompressed(s: sparse) -> flag = Ok(matches!(s.parts()?.places, Places::Rows { .. }));
            /// The dtype of the values; `TH_UNDEFINED` on error.
            dtype(s: sparse) -> dtype = Ok(s.parts()?.values.defined()? as THDtype);
            /// The positions, int64 [sparseDim x nnz], computed for compressed rows, else those of the handle. Returns a new reference.
            newIndices(s: sparse) -> new = form::indices(&form::coordinates(s.parts()?)?).cloned();
            /// The values of the handle. Returns a new reference.
            newValues(s: sparse) -> new = Ok(s.parts()?.values);
            /// The starts of rows among the entries of compressed rows, with the number of entries at the end. Returns a new reference.
            newCrow(s: sparse) -> new = match s.parts()?.places {
                Places::Rows { crow, .. } => Ok(crow),
                Places::Coordinates(_) => bail!(Argument, "coordinates have no starts of rows: see THSTensor_newCompressed"),
            };
            /// The column of each entry of compressed rows. Returns a new reference.
            newCol(s: sparse) -> new = match s.parts()?.places {
                Places::Rows { col, .. } => Ok(col),
                Places::Coordinates(_) => bail!(Argument, "coordinates have no columns: see THSTensor_newCompressed"),
            };

            /// `r` = a copy of `s`.
            copy(r: sparse_out, s: sparse) = set(r, s.parts().and_then(shape::cloned));
            /// Gives up all entries of `s`, which keeps its sizes and its dtype.
            zero(s: sparse_inout) = {
                let parts = s.parts()?;
                set(s, shape::empty(parts.values.defined()?, &parts.size, parts.sparse, &parts.values))
            };
            /// Changes the sizes of `s`: where it has entries, sparse sizes may grow and others stay.
            resize(s: sparse_inout, ndim: len, size: sizes, sparseDim: int) =
                set(s, shape::resized(&s.parts()?, size, sparseDim.try_into().unwrap_or(usize::MAX)));
            /// `THSTensor_resize` to the sizes of another tensor.
            resizeAs(s: sparse_inout, other: sparse) = {
                let other = other.parts()?;
                set(s, shape::resized(&s.parts()?, &other.size, other.sparse))
            };
            /// `r` = `s` coalesced.
            coalesce(r: sparse_out, s: sparse) = set(r, s.parts().and_then(form::coalesced));
            /// `r` = `s` with two dimensions exchanged, both sparse or both dense.
            transpose(r: sparse_out, s: sparse, dimension1: dim, dimension2: dim) =
                set(r, s.parts().and_then(|parts| shape::transpose(parts, dimension1, dimension2)));
            /// `r` = the part of `s` at position `index` of a dimension, which is gone. A negative index counts from the end.
            select(r: sparse_out, s: sparse, dimension: dim, index: entry) =
                set(r, s.parts().and_then(|parts| shape::select_part(parts, dimension, index)));
            /// `r` = the part of `s` at `size` positions of a dimension, from `firstIndex` on.
            narrow(r: sparse_out, s: sparse, dimension: dim, firstIndex: entry, size: size) =
                set(r, s.parts().and_then(|parts| shape::narrow(parts, dimension, firstIndex, size)));
            /// `r` = `count` tensors one after the other along a dimension; their other sizes, and which are sparse, are the same.
            cat(r: sparse_out, tensors: sparse_inputs, count: handle_count, dimension: dim) = {
                let parts = crate::alloc::list(tensors.len(), |k| tensors[k].parts().and_then(form::coordinates))?;
                set(r, shape::cat(parts, dimension))
            };

            /// `r = a + value * b`, coalesced; sizes and sparse dimensions are the same.
            cadd(r: sparse_out, a: sparse, value: double, b: sparse) = set(r, math::add(a.parts()?, value, b.parts()?, false));
            /// `r = a - value * b`, as cadd.
            csub(r: sparse_out, a: sparse, value: double, b: sparse) = set(r, math::add(a.parts()?, value, b.parts()?, true));
            /// `r = a * b`, coalesced: entries where both have one.
            cmul(r: sparse_out, a: sparse, b: sparse) = set(r, math::multiply(a.parts()?, b.parts()?));
            /// `r = s * t` for a dense tensor, which broadcasts to the sizes of `s`.
            cmulDense(r: sparse_out, s: sparse, t: input) = set(r, math::with_dense(s.parts()?, t, false));
            /// `r = s / t` for a dense tensor, which broadcasts to the sizes of `s`. Positions without an entry stay 0, also where `t` is 0.
            cdivDense(r: sparse_out, s: sparse, t: input) = set(r, math::with_dense(s.parts()?, t, true));
            /// `r = s * value`.
            mul(r: sparse_out, s: sparse, value: double) = set(r, math::mapped(s.parts()?, true, &names::mul::FUNCTION, &[value]));
            /// `r = s / value`.
            div(r: sparse_out, s: sparse, value: double) = set(r, math::mapped(s.parts()?, true, &names::div::FUNCTION, &[value]));
            /// `r = s ^ value` for a value above 0, coalesced.
            pow(r: sparse_out, s: sparse, value: double) = {
                if value.is_nan() || value <= 0.0 {
                    bail!(Argument, "0 to the power {} is not 0", Scalar::from(value))
                }
                set(r, math::mapped(s.parts()?, false, &names::pow::FUNCTION, &[value]))
            };
            /// `r = -s`, in the form of `s`.
            neg(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, true, &names::neg::FUNCTION, &[]));
            /// `r = |s|`, coalesced.
            abs(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::abs::FUNCTION, &[]));
            /// `r` = the sign of `s`, coalesced: -1, 0 or 1.
            sign(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::sign::FUNCTION, &[]));
            /// `r` = the square root of `s`, coalesced.
            sqrt(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::sqrt::FUNCTION, &[]));
            /// `r = e^s - 1`, coalesced.
            expm1(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::expm1::FUNCTION, &[]));
            /// `r = log(1 + s)`, coalesced.
            log1p(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::log1p::FUNCTION, &[]));
            /// `r` = the sine of `s`, coalesced.
            sin(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::sin::FUNCTION, &[]));
            /// `r` = the tangent of `s`, coalesced.
            tan(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::tan::FUNCTION, &[]));
            /// `r` = the inverse sine of `s`, coalesced.
            asin(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::asin::FUNCTION, &[]));
            /// `r` = the inverse tangent of `s`, coalesced.
            atan(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::atan::FUNCTION, &[]));
            /// `r` = the hyperbolic sine of `s`, coalesced.
            sinh(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::sinh::FUNCTION, &[]));
            /// `r` = the hyperbolic tangent of `s`, coalesced.
            tanh(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::tanh::FUNCTION, &[]));
            /// `r = max(s, 0)`, coalesced.
            relu(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::relu::FUNCTION, &[]));
            /// `r` = the largest whole number that is at most `s`, coalesced.
            floor(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::floor::FUNCTION, &[]));
            /// `r` = the least whole number that is at least `s`, coalesced.
            ceil(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::ceil::FUNCTION, &[]));
            /// `r` = `s` rounded to a whole number, ties to the even one, coalesced.
            round(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::round::FUNCTION, &[]));
            /// `r` = `s` without its fraction, coalesced.
            trunc(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::trunc::FUNCTION, &[]));

            /// The sum of all values; NaN on error.
            sumall(s: sparse) -> accumulated = math::total(s.parts()?);
            /// `r` = the sum of `s` over `ndim` dimensions, which are gone, coalesced; integers are summed as int64. Where no sparse dimension
            /// is left, the result has dense dimensions alone, and one entry unless `s` has none.
            sum(r: sparse_out, s: sparse, ndim: len, dims: dims) = set(r, math::sum(s.parts()?, dims));
            /// The norm of all elements of `s`: (the sum of |s|^value)^(1 / value); NaN on error.
            normall(s: sparse, value: double) -> accumulated = math::norm(s.parts()?, value);

            /// `r = s @ m`, dense, for a matrix `s` [n x k] and a dense matrix [k x p] or vector [k]. A row is summed in the order of its
            /// entries: as they stand in compressed rows, by ascending columns otherwise.
            spmm(r: out, s: sparse, m: input) = products::product(r, s.parts()?, m);
            /// `r = s @ vec`, dense, for a matrix `s` [n x k] and a dense vector [k].
            spmv(r: out, s: sparse, vec: input) = {
                if vec.ndim() != 1 {
                    bail!(Shape, "expected a vector, got {} dimensions", vec.ndim())
                }
                products::product(r, s.parts()?, vec)
            };
            /// `r = beta * t + alpha * (s @ m)`, dense; `t` broadcasts. With `beta` 0 the elements of `t` are not looked at.
            spaddmm(r: out, beta: number, t: input, alpha: number, s: sparse, m: input) =
                products::add_product(r, beta, t, alpha, s.parts()?, m);
            /// `r = s @ m` for a dense matrix [k x p], with one sparse dimension, the rows of `s` that have entries, and one dense.
            hspmm(r: sparse_out, s: sparse, m: input) = set(r, products::hybrid_product(s.parts()?, m));
            /// `r = s @ m` for a dense matrix [k x p], with two sparse dimensions: all elements of the rows of `s` that have entries.
            sspmm(r: sparse_out, s: sparse, m: input) = set(r, products::sparse_product(s.parts()?, m));
            /// `r = beta * t + alpha * (s @ m)` for sparse `t` and `s` and a dense matrix `m`, coalesced.
            sspaddmm(r: sparse_out, beta: number, t: sparse, alpha: number, s: sparse, m: input) =
                set(r, products::add_sparse_product(beta, t.parts()?, alpha, s.parts()?, m));
            /// `r = a @ b` for two matrices [n x k] and [k x p], compressed by rows: an entry stands wherever two meet, be their sum 0 or not.
            mm(r: sparse_out, a: sparse, b: sparse) = set(r, a.parts().and_then(|a| products::product_of_two(a, b.parts()?)));
            /// `r` = softmax of each row of a matrix of floats, compressed by rows: elements without an entry take no part, and stay so.
            softmax(r: sparse_out, s: sparse) = set(r, s.parts().and_then(products::softmax));
            /// `rb = the X with s X = b`, or with `transpose` of `s^T X = b`, dense, for the `upper` or lower triangle of a square matrix `s`
            /// [n x n] and a dense matrix `b` [n x p] or vector [n]; with `unitriangular` the diagonal counts as ones. Entries of the other
            /// triangle are not looked at. A diagonal of 0, or without an entry, is `TH_ERR_NUMERIC`, which names the row.
            trtrs(rb: out, b: input, s: sparse, upper: flag, transpose: flag, unitriangular: flag) =
                products::solve_triangle(rb, b, s.parts()?, [upper, transpose, unitriangular]);
            /// `r = the X with s X = b`, dense, for a square matrix `s` [n x n] and a dense matrix `b` [n x p] or vector [n] of float32 or
            /// float64. A symmetric positive definite matrix is decomposed by Cholesky, others by LU with partial pivoting; see csrSolve. A
            /// singular matrix is `TH_ERR_NUMERIC`.
            solve(r: out, s: sparse, b: input) = systems::solve(r, s.parts()?, b);
            /// `r = the x with s x = b`, dense, by conjugate gradients, for a symmetric positive definite matrix `s` [n x n] and a dense vector
            /// `b` [n] of float32 or float64. It begins with `start` [n], or with zeros where that is NULL, and ends when the norm of `b - s x`
            /// is at most `tol` times that of `b`, after `maxIter` steps, or where rounding errors keep the norm from falling further; see
            /// csrCg. `progress`, or NULL, is called after each step. Returns the number of steps; -1 on error.
            ///
            /// `residual`, a float64, becomes the norm of `b - s x` by that of `b`. Where it is above `tol`, `r` is what the steps led to;
            /// where `residual` is NULL this is `TH_ERR_NUMERIC`.
            cg(r: out, residual: optional_out, s: sparse, b: input, start: optional_input, tol: double, maxIter: size, progress: progress,
                context: context) -> count = {
                let iteration = Iteration { tol, most: maxIter, progress: (progress, context) };
                systems::conjugate_gradients([r, b], residual, s.parts()?, start, &iteration)
            };
            /// `r = beta * s + alpha * (m1 @ m2)` at the entries of `s`, coalesced and compressed by rows; `m1` [n x k] and `m2` [k x p] are
            /// dense.
            sampledAddmm(r: sparse_out, beta: number, s: sparse, alpha: number, m1: input, m2: input) =
                set(r, products::sampled_product(beta, s.parts()?, alpha, m1, m2));
            /// `r = t + value * s`, dense, for a dense tensor of the sizes of `s`.
            spcadd(r: out, t: input, value: double, s: sparse) = math::add_to_dense(r, t, value, s.parts()?);
            /// `r` = the elements of the dense tensor `t` at the positions of `mask`, whose values do not matter; sizes are the same.
            sparseMask(r: sparse_out, t: input, mask: sparse) = set(r, math::masked(t, mask.parts()?));
        }
    };
}

sparse_functions!(table);
pub(crate) use sparse_functions as functions;
