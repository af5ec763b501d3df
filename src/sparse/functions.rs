//! Sparse tensors.
//!
//! A `THSTensor` holds the positions and values of some entries; all other elements are 0. The first dimensions are sparse: `indices`,
//! int64 [sparseDim x nnz], has one column with the position of each entry. The remaining dimensions are dense: `values` [nnz x dense
//! sizes] has the dense elements of each entry. Entries may be in any order. If several entries have the same position, the element is the
//! sum of their values. In a coalesced tensor the positions are distinct and ascend in row-major order.
//!
//! A matrix may instead be compressed by rows (CSR): `crow` has the index of the first entry of each row, and `col` the column of each
//! entry. Functions accept both forms, and their results have coordinates unless they say otherwise.
//!
//! A handle is reference-counted, and its fields may be read. A handle holds references to its component tensors, not copies, so a change
//! of these tensors changes the sparse tensor. Results come first, and a result may be an operand. The old components of a result are never
//! written to: the result gets new positions and values. Components that equal the components of an operand, such as the positions after
//! `neg`, are shared with the operand. A result that was written to before keeps its dtype: values are converted, or the call fails with
//! `TH_ERR_DTYPE`. All components are on one device.
//!
//! Gradients are the gradients of the values: if `values` requires a gradient, operations on the sparse tensor are recorded. Positions have
//! no gradients.
//!
//! Errors: `TH_ERR_SHAPE`, sizes that do not fit each other; `TH_ERR_ARGUMENT`, a position that is negative or out of range, or an invalid
//! dimension; `TH_ERR_DTYPE`, positions that are not integers, or an operand that is a fresh handle.

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

/// Stores the components of a result. A result that was written to before keeps its dtype, like a dense result.
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
            /// A fresh handle. The first function that writes to the handle sets its sizes and entries. Returns a new reference.
            new() -> new_sparse = Sparse::fresh();
            /// Adds a reference; NULL is ignored. May be called on any thread.
            retain(s: sparse_or_null) -> nothing = {
                if let Some(s) = NonNull::new(s) {
                    // SAFETY: the caller passes a live handle. The clone is not dropped, because the caller owns its reference.
                    let _given = ManuallyDrop::new(unsafe { ManuallyDrop::new(Sparse::from_raw(s)) }.clone());
                }
                Ok(())
            };
            /// Gives up a reference. The last one frees the handle and gives up its components. NULL is ignored. May be called on any
            /// thread.
            free(s: sparse_or_null) -> nothing = {
                if let Some(s) = NonNull::new(s) {
                    // SAFETY: the caller owns the reference and gives it up.
                    drop(unsafe { Sparse::from_raw(s) });
                }
                Ok(())
            };
            /// A tensor of the given sizes without entries; the first `sparseDim` dimensions are sparse. Returns a new reference.
            newWithSize(dtype: dtype, ndim: len, size: sizes, sparseDim: int) -> new_sparse =
                Sparse::new(shape::empty(dtype, size, sparseDim.try_into().unwrap_or(usize::MAX), &Tensor::fresh()?)?);
            /// A tensor with entries at `indices`, int64 or int32 [sparseDim x nnz], and with `values` [nnz x dense sizes]; its sparse
            /// sizes are the smallest that hold all positions. The tensor holds references to both; int32 positions are copied. Returns a
            /// new reference.
            newWithTensor(indices: shared, values: shared) -> new_sparse = Sparse::new(form::of_coordinates(indices, values, None)?);
            /// `newWithTensor` with `ndim` given sizes: the sparse sizes, which must hold all positions, then the dense sizes of `values`.
            /// Returns a new reference.
            newWithTensorAndSize(indices: shared, values: shared, ndim: len, size: sizes) -> new_sparse =
                Sparse::new(form::of_coordinates(indices, values, Some(size))?);
            /// A matrix compressed by rows, with references to `crow`, `col` and `values`. `crow` [rows + 1] has the index of the first
            /// entry of each row, followed by the number of entries. `col` has the column of each entry. Both are int64 or int32, as in
            /// SciPy. The columns of a row may be in any order and may repeat. Returns a new reference.
            newCsr(crow: shared, col: shared, values: shared, rows: size, columns: size) -> new_sparse =
                Sparse::new(form::of_rows(crow, col, values, rows, columns)?);
            /// The entries of the dense tensor `t` that are not 0, coalesced, with `sparseDim` sparse dimensions. With dense dimensions, an
            /// entry is kept if any of its elements is not 0. A negative `sparseDim` makes all dimensions sparse. Returns a new reference.
            newFromDense(t: input, sparseDim: int) -> new_sparse = {
                let sparse = if sparseDim < 0 { t.ndim() as i64 } else { sparseDim.into() };
                Sparse::new(form::from_dense(t, sparse)?)
            };
            /// A second handle on the positions and values of `s`. Returns a new reference.
            newWithSparse(s: sparse) -> new_sparse = Sparse::new(s.parts()?);
            /// A copy of `s` with copied positions and values. Returns a new reference.
            newClone(s: sparse) -> new_sparse = Sparse::new(shape::cloned(s.parts()?)?);
            /// `s` coalesced: the values of one position are summed in the order of the entries. A coalesced `s` shares its components with
            /// the result. Returns a new reference.
            newCoalesce(s: sparse) -> new_sparse = Sparse::new(form::coalesced(s.parts()?)?);
            /// The matrix `s` compressed by rows. Coordinates are coalesced, and become int32 if the sizes and the number of entries allow
            /// it. A compressed `s` shares its components with the result. Returns a new reference.
            newCompressed(s: sparse) -> new_sparse = Sparse::new(form::compressed(s.parts()?)?);
            /// `s` with coordinates. If `s` has coordinates, they are shared. Returns a new reference.
            newCoordinates(s: sparse) -> new_sparse = Sparse::new(form::coordinates(s.parts()?)?);
            /// A dense tensor of all elements of `s`. Returns a new reference.
            newDense(s: sparse) -> new = form::dense(s.parts()?);

            /// The number of dimensions; 0 on error.
            nDimension(s: sparse) -> int = Ok(s.parts()?.size.len() as i32);
            /// The size of dimension `dimension`; -1 on error.
            size(s: sparse, dimension: dim) -> size = {
                let parts = s.parts()?;
                Ok(parts.size[wrapped(dimension.into(), &parts)?])
            };
            /// The number of entries, where entries of the same position count separately; -1 on error.
            nnz(s: sparse) -> count = Ok(s.parts()?.nnz());
            /// The number of sparse dimensions; 0 on error.
            sparseDim(s: sparse) -> int = Ok(s.parts()?.sparse as i32);
            /// The number of dense dimensions; 0 on error.
            denseDim(s: sparse) -> int = s.parts().map(|parts| (parts.size.len() - parts.sparse) as i32);
            /// 1 if the tensor is known to be coalesced: its positions are distinct and ascend in row-major order; 0 if not and on error.
            isCoalesced(s: sparse) -> flag = Ok(s.parts()?.coalesced);
            /// 1 if the matrix is compressed by rows; 0 if it has coordinates, and on error.
            isCompressed(s: sparse) -> flag = Ok(matches!(s.parts()?.places, Places::Rows { .. }));
            /// The dtype of the values; `TH_UNDEFINED` on error.
            dtype(s: sparse) -> dtype = Ok(s.parts()?.values.defined()? as THDtype);
            /// The positions, int64 [sparseDim x nnz]: the component of the handle, or computed if the matrix is compressed by rows.
            /// Returns a new reference.
            newIndices(s: sparse) -> new = form::indices(&form::coordinates(s.parts()?)?).cloned();
            /// The values, a component of the handle. Returns a new reference.
            newValues(s: sparse) -> new = Ok(s.parts()?.values);
            /// `crow` of a matrix compressed by rows: the index of the first entry of each row, followed by the number of entries. Returns
            /// a new reference.
            newCrow(s: sparse) -> new = match s.parts()?.places {
                Places::Rows { crow, .. } => Ok(crow),
                Places::Coordinates(_) => bail!(Argument, "coordinates have no starts of rows: see THSTensor_newCompressed"),
            };
            /// `col` of a matrix compressed by rows: the column of each entry. Returns a new reference.
            newCol(s: sparse) -> new = match s.parts()?.places {
                Places::Rows { col, .. } => Ok(col),
                Places::Coordinates(_) => bail!(Argument, "coordinates have no columns: see THSTensor_newCompressed"),
            };

            /// `r` = a copy of `s`.
            copy(r: sparse_out, s: sparse) = set(r, s.parts().and_then(shape::cloned));
            /// Removes all entries of `s`, which keeps its sizes and its dtype.
            zero(s: sparse_inout) = {
                let parts = s.parts()?;
                set(s, shape::empty(parts.values.defined()?, &parts.size, parts.sparse, &parts.values))
            };
            /// Changes the sizes of `s`. If `s` has entries, its sparse sizes may only grow, and the other sizes must not change.
            resize(s: sparse_inout, ndim: len, size: sizes, sparseDim: int) =
                set(s, shape::resized(&s.parts()?, size, sparseDim.try_into().unwrap_or(usize::MAX)));
            /// `THSTensor_resize` to the sizes of `other`.
            resizeAs(s: sparse_inout, other: sparse) = {
                let other = other.parts()?;
                set(s, shape::resized(&s.parts()?, &other.size, other.sparse))
            };
            /// `r` = `s` coalesced, as by newCoalesce.
            coalesce(r: sparse_out, s: sparse) = set(r, s.parts().and_then(form::coalesced));
            /// `r` = `s` with two dimensions swapped, both sparse or both dense.
            transpose(r: sparse_out, s: sparse, dimension1: dim, dimension2: dim) =
                set(r, s.parts().and_then(|parts| shape::transpose(parts, dimension1, dimension2)));
            /// `r` = the part of `s` at index `index` of dimension `dimension`, which is removed. A negative index counts from the end.
            select(r: sparse_out, s: sparse, dimension: dim, index: entry) =
                set(r, s.parts().and_then(|parts| shape::select_part(parts, dimension, index)));
            /// `r` = the part of `s` at the `size` indices of dimension `dimension` from `firstIndex`.
            narrow(r: sparse_out, s: sparse, dimension: dim, firstIndex: entry, size: size) =
                set(r, s.parts().and_then(|parts| shape::narrow(parts, dimension, firstIndex, size)));
            /// `r` = `count` tensors concatenated along `dimension`. The other sizes and the number of sparse dimensions are the same for
            /// all tensors.
            cat(r: sparse_out, tensors: sparse_inputs, count: handle_count, dimension: dim) = {
                let parts = crate::alloc::list(tensors.len(), |k| tensors[k].parts().and_then(form::coordinates))?;
                set(r, shape::cat(parts, dimension))
            };

            /// `r = a + value * b`, coalesced; `a` and `b` have the same sizes and the same number of sparse dimensions.
            cadd(r: sparse_out, a: sparse, value: double, b: sparse) = set(r, math::add(a.parts()?, value, b.parts()?, false));
            /// `r = a - value * b`; otherwise as cadd.
            csub(r: sparse_out, a: sparse, value: double, b: sparse) = set(r, math::add(a.parts()?, value, b.parts()?, true));
            /// `r = a * b`, coalesced, with entries at the positions where both have an entry.
            cmul(r: sparse_out, a: sparse, b: sparse) = set(r, math::multiply(a.parts()?, b.parts()?));
            /// `r = s * t` for a dense tensor `t`, which broadcasts to the sizes of `s`.
            cmulDense(r: sparse_out, s: sparse, t: input) = set(r, math::with_dense(s.parts()?, t, false));
            /// `r = s / t` for a dense tensor `t`, which broadcasts to the sizes of `s`. Positions without an entry stay 0, even if `t` is
            /// 0 there.
            cdivDense(r: sparse_out, s: sparse, t: input) = set(r, math::with_dense(s.parts()?, t, true));
            /// `r = s * value`.
            mul(r: sparse_out, s: sparse, value: double) = set(r, math::mapped(s.parts()?, true, &names::mul::FUNCTION, &[value]));
            /// `r = s / value`.
            div(r: sparse_out, s: sparse, value: double) = set(r, math::mapped(s.parts()?, true, &names::div::FUNCTION, &[value]));
            /// `r = s ^ value` for a `value` > 0, coalesced.
            pow(r: sparse_out, s: sparse, value: double) = {
                if value.is_nan() || value <= 0.0 {
                    bail!(Argument, "0 to the power {} is not 0", Scalar::from(value))
                }
                set(r, math::mapped(s.parts()?, false, &names::pow::FUNCTION, &[value]))
            };
            /// `r = -s`, with coordinates or compressed by rows like `s`.
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
            /// `r = floor(s)`, the largest whole number <= `s`, coalesced.
            floor(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::floor::FUNCTION, &[]));
            /// `r = ceil(s)`, the smallest whole number >= `s`, coalesced.
            ceil(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::ceil::FUNCTION, &[]));
            /// `r` = `s` rounded to the nearest whole number, ties to even, coalesced.
            round(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::round::FUNCTION, &[]));
            /// `r` = `s` rounded towards zero, coalesced.
            trunc(r: sparse_out, s: sparse) = set(r, math::mapped(s.parts()?, false, &names::trunc::FUNCTION, &[]));

            /// The sum of all values; NaN on error.
            sumall(s: sparse) -> accumulated = math::total(s.parts()?);
            /// `r` = the sum of `s` over the `ndim` dimensions `dims`, which are removed, coalesced; integers are summed in int64. If no
            /// sparse dimension remains, all dimensions of the result are dense, and the result has one entry, or no entry if `s` has none.
            sum(r: sparse_out, s: sparse, ndim: len, dims: dims) = set(r, math::sum(s.parts()?, dims));
            /// The norm of all elements of `s`, (sum of |s|^value)^(1 / value); NaN on error.
            normall(s: sparse, value: double) -> accumulated = math::norm(s.parts()?, value);

            /// `r = s @ m`, dense, for a matrix `s` [n x k] and a dense matrix `m` [k x p] or vector [k]. The products of a row are summed
            /// in the order of its entries if `s` is compressed by rows, otherwise by ascending column.
            spmm(r: out, s: sparse, m: input) = products::product(r, s.parts()?, m);
            /// `r = s @ vec`, dense, for a matrix `s` [n x k] and a dense vector [k].
            spmv(r: out, s: sparse, vec: input) = {
                if vec.ndim() != 1 {
                    bail!(Shape, "expected a vector, got {} dimensions", vec.ndim())
                }
                products::product(r, s.parts()?, vec)
            };
            /// `r = beta * t + alpha * (s @ m)`, dense; `t` broadcasts. If `beta` is 0, the elements of `t` are not read.
            spaddmm(r: out, beta: number, t: input, alpha: number, s: sparse, m: input) =
                products::add_product(r, beta, t, alpha, s.parts()?, m);
            /// `r = s @ m` for a dense matrix `m` [k x p]. `r` has one sparse dimension, with an entry for each row of `s` that has
            /// entries, and one dense dimension.
            hspmm(r: sparse_out, s: sparse, m: input) = set(r, products::hybrid_product(s.parts()?, m));
            /// `r = s @ m` for a dense matrix `m` [k x p]. `r` has two sparse dimensions, with entries for all elements of the rows of `s`
            /// that have entries.
            sspmm(r: sparse_out, s: sparse, m: input) = set(r, products::sparse_product(s.parts()?, m));
            /// `r = beta * t + alpha * (s @ m)` for sparse `t` and `s` and a dense matrix `m`, coalesced.
            sspaddmm(r: sparse_out, beta: number, t: sparse, alpha: number, s: sparse, m: input) =
                set(r, products::add_sparse_product(beta, t.parts()?, alpha, s.parts()?, m));
            /// `r = a @ b` for two matrices [n x k] and [k x p], compressed by rows. `r` has an entry wherever an entry of `a` meets an
            /// entry of `b`, even if the sum is 0.
            mm(r: sparse_out, a: sparse, b: sparse) = set(r, a.parts().and_then(|a| products::product_of_two(a, b.parts()?)));
            /// `r` = the softmax of each row of a matrix of floats, compressed by rows. Elements without an entry are ignored and stay
            /// without an entry.
            softmax(r: sparse_out, s: sparse) = set(r, s.parts().and_then(products::softmax));
            /// `rb = the X with s X = b`, or with `transpose` `s^T X = b`, dense, for the `upper` or lower triangle of a square matrix `s`
            /// [n x n] and a dense matrix `b` [n x p] or vector [n]. Entries of the other triangle are ignored. With `unitriangular` all
            /// diagonal elements count as 1. Otherwise a diagonal element that is 0 or has no entry is `TH_ERR_NUMERIC`, and the message
            /// names the row.
            trtrs(rb: out, b: input, s: sparse, upper: flag, transpose: flag, unitriangular: flag) =
                products::solve_triangle(rb, b, s.parts()?, [upper, transpose, unitriangular]);
            /// `r = the X with s X = b`, dense, for a square matrix `s` [n x n] and a dense matrix `b` [n x p] or vector [n] of float32 or
            /// float64. A symmetric positive definite matrix is decomposed by Cholesky, any other matrix by LU with partial pivoting; see
            /// csrSolve. A singular matrix is `TH_ERR_NUMERIC`.
            solve(r: out, s: sparse, b: input) = systems::solve(r, s.parts()?, b);
            /// `r = the x with s x = b`, dense, by conjugate gradients, for a symmetric positive definite matrix `s` [n x n] and a dense
            /// vector `b` [n] of float32 or float64. The iteration begins with `start` [n], or with zeros if `start` is NULL. It ends when
            /// the norm of `b - s x` is at most `tol` times the norm of `b`, after `maxIter` steps, or when rounding errors keep the norm
            /// from decreasing further; see csrCg. `progress`, unless NULL, is called after each step. Returns the number of steps; -1 on
            /// error.
            ///
            /// `residual`, a float64, becomes the norm of `b - s x` divided by the norm of `b`. If this exceeds `tol`, `r` is the last
            /// iterate; if `residual` is NULL, the call fails with `TH_ERR_NUMERIC` instead.
            cg(r: out, residual: optional_out, s: sparse, b: input, start: optional_input, tol: double, maxIter: size, progress: progress,
                context: context) -> count = {
                let iteration = Iteration { tol, most: maxIter, progress: (progress, context) };
                systems::conjugate_gradients([r, b], residual, s.parts()?, start, &iteration)
            };
            /// `r = beta * s + alpha * (m1 @ m2)` at the entries of `s`, coalesced and compressed by rows; `m1` [n x k] and `m2` [k x p]
            /// are dense.
            sampledAddmm(r: sparse_out, beta: number, s: sparse, alpha: number, m1: input, m2: input) =
                set(r, products::sampled_product(beta, s.parts()?, alpha, m1, m2));
            /// `r = t + value * s`, dense, for a dense tensor `t` of the sizes of `s`.
            spcadd(r: out, t: input, value: double, s: sparse) = math::add_to_dense(r, t, value, s.parts()?);
            /// `r` = the elements of the dense tensor `t` at the positions of `mask`; the values of `mask` are ignored. Both have the same
            /// sizes.
            sparseMask(r: sparse_out, t: input, mask: sparse) = set(r, math::masked(t, mask.parts()?));
        }
    };
}

sparse_functions!(table);
pub(crate) use sparse_functions as functions;
