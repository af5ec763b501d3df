//! Products of compressed rows.
//!
//! A matrix of compressed rows (CSR) is three vectors: `crow`, the start of each row among the entries, followed by the number of entries;
//! `col`, the column of each entry; and `values`, the entries. SciPy calls them `indptr`, `indices` and `data`. `crow` and `col` are int64
//! or int32, and are read in place if both have the same dtype. The entries of a row may be in any order, and several entries for one
//! position are summed. These functions use the vectors without a copy; a `THSTensor` holds all three.
//!
//! `values` and dense operands have one dtype. Sums of 16-bit floats are computed in float32 and rounded once; integers wrap. Each row is
//! summed by one thread, so that results do not depend on the number of threads. On a GPU, products with dense operands and softmax run on
//! the GPU. Solvers and products of two compressed matrices are computed on the host: operands are copied to the host, and results back.
//!
//! Errors: `TH_ERR_SHAPE`, operands that do not fit each other; `TH_ERR_DTYPE`, positions that are not integers, or operands of different
//! dtypes; `TH_ERR_ARGUMENT`, row starts that decrease, or a column out of range.

use crate::api::table::table;
use crate::launch::RowSolve;
use crate::ops::compressed::{self, Matrix, SparseResult};
use crate::ops::systems::{self, Iteration};
use crate::tensor::Tensor;

fn matrix_a<'a>(acrow: &'a Tensor, acol: &'a Tensor, avalues: &'a Tensor) -> Matrix<'a> {
    Matrix { positions: [acrow, acol], values: avalues, names: ["acrow", "acol", "avalues"] }
}

fn matrix_b<'a>(bcrow: &'a Tensor, bcol: &'a Tensor, bvalues: &'a Tensor) -> Matrix<'a> {
    Matrix { positions: [bcrow, bcol], values: bvalues, names: ["bcrow", "bcol", "bvalues"] }
}

macro_rules! compressed_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// Compresses coordinates by rows: entry `k` of a matrix of `size` rows is in row `rows[k]` and column `columns[k]`, both less
            /// than 2^32.
            ///
            /// `crow` [size + 1] and `col` describe the distinct positions, each once, with ascending columns in each row. `order` lists
            /// the entries sorted by position; entries of one position keep their order. `starts` has the start of each position in
            /// `order`, followed by the number of entries. csrMatmul of `starts`, `order`, NULL and the values computes the sum for each
            /// position. Computed on the host.
            csrCompress(crow: totals, col: indices, starts: totals, order: indices, rows: index, columns: index, size: size) =
                compressed::compress([crow, col, starts, order], rows, columns, size);
            /// `r = A @ m` for the matrix A [n x k] of compressed rows and a matrix `m` [k x p] or a vector [k]. If `values` is NULL, each
            /// entry of A is 1, and each row of `r` is the sum of the rows of `m` that `col` lists.
            csrMatmul(r: out, crow: index, col: index, values: optional_input, m: input) =
                compressed::product(r, crow, col, values, m);
            /// `r = A^T @ m` for the transpose of the matrix A [n x columns] of compressed rows and a matrix `m` [n x p] or a vector [n].
            /// If `values` is NULL, each entry of A is 1.
            csrMatmulTransposed(r: out, crow: index, col: index, values: optional_input, m: input, columns: size) =
                compressed::transposed_product(r, crow, col, values, m, columns);
            /// `r[k] = sum of a[i] * b[j]`, the dot product of row `i` of `a` and row `j` of `b`, for each entry `k` of a pattern, in row
            /// `i` and column `j`: the elements of `a @ b^T` at the entries of the pattern. `a` [n x p] and `b` [m x p] are matrices; a
            /// vector counts as a matrix of one column.
            csrSampled(r: out, crow: index, col: index, a: input, b: input) = compressed::sampled_product(r, crow, col, a, b);
            /// `r = e^x / sum of e^x` over the entries of each row: the softmax of floats. `crow` [rows + 1] has the starts of the rows.
            /// Columns are not needed, because elements without an entry do not contribute.
            csrSoftmax(r: out, crow: index, values: input) = compressed::softmax(r, crow, values);
            /// `r = y * (g - sum of g * y)` over each row: the gradient of csrSoftmax, computed from its result `y` and the gradient `g` of
            /// the result.
            csrSoftmaxGrad(r: out, crow: index, g: input, y: input) = compressed::softmax_gradient(r, crow, g, y);
            /// `r = the X with A X = b`, or with `transpose` of `A^T X = b`, for the `upper` or lower triangle of the square matrix A
            /// [n x n] of compressed rows, and a matrix `b` [n x p] or a vector [n] of floats. With `unitriangular` the diagonal counts as
            /// ones. Entries of the other triangle are ignored, as by trtrs. A diagonal element that is 0 or has no entry is
            /// `TH_ERR_NUMERIC`, and the message names the row. Rows are solved one after the other; threads divide the columns of `b`.
            csrTrtrs(r: out, crow: index, col: index, values: input, b: input, upper: flag, transpose: flag, unitriangular: flag) =
                compressed::solve(r, [crow, col, values], b, RowSolve { upper, transposed: transpose, unit: unitriangular });
            /// `r = the X with A X = b`, or with `transpose` of `A^T X = b`, for the square matrix A [n x n] of compressed rows, and a
            /// matrix `b` [n x p] or a vector [n] of float32 or float64.
            ///
            /// A is factored by Cholesky if it is exactly symmetric and positive definite, else by LU with partial pivoting. Before that,
            /// its columns are reordered so that the factors stay sparse: by minimum degree of A + A^T if most entries have a counterpart
            /// across the diagonal, else of A^T A. Everything is computed in float64 on the host and rounded once. A matrix that is
            /// singular or has infinities or NaN is `TH_ERR_NUMERIC`. A matrix counts as singular, too, if its estimated reciprocal
            /// condition number is below 2e-15. The estimate does not depend on the scale of rows and columns.
            csrSolve(r: out, crow: index, col: index, values: input, b: input, transpose: flag) =
                systems::solve(r, [crow, col, values], b, transpose);
            /// `r = the x with A x = b` by conjugate gradients, preconditioned by the diagonal, for the symmetric positive definite matrix
            /// A [n x n] of compressed rows and a vector `b` [n] of float32 or float64. Returns the number of steps; -1 on error.
            ///
            /// The iteration begins with `start` [n], or with zeros if `start` is NULL. It ends when the norm of `b - A x` is at most `tol`
            /// times the norm of `b`, after `maxIter` steps, or when rounding errors of `x` keep the norm from falling further, as with a
            /// `tol` of 0. The norm is computed in float64 from `x`. While it falls but is above `tol`, the iteration restarts with
            /// `b - A x`. After each step `progress`, if not NULL, is called with the iteration's own estimate of the norm, which does not
            /// include rounding errors of `x`. If `b` is 0, so is `r`.
            ///
            /// `residual`, a float64, becomes the norm of `b - A x` divided by the norm of `b`. If this quotient is above `tol`, `r` is the
            /// result of the last step. If `residual` is NULL, a quotient above `tol` is `TH_ERR_NUMERIC`. A matrix found to be singular or
            /// not positive definite is always `TH_ERR_NUMERIC`.
            csrCg(r: out, residual: optional_out, crow: index, col: index, values: input, b: input, start: optional_input, tol: double,
                maxIter: size, progress: progress, context: context) -> count = {
                let iteration = Iteration { tol, most: maxIter, progress: (progress, context) };
                // SAFETY: the caller passes a progress function that keeps the rules of `THProgressFunction`.
                unsafe { systems::conjugate_gradients([r, b], residual, [crow, col, values], start, &iteration) }
            };
            /// `r` = the entries of A @ B, the product of two matrices of compressed rows, as a matrix of compressed rows with the row
            /// starts `rcrow` and the columns `rcol`. B has `columns` columns. The entries of a row have ascending columns, each once. The
            /// result has an entry wherever two entries are multiplied, even if their sum is 0.
            ///
            /// Positions are int32 if all given positions are int32 and there are fewer than 2^31 entries; else they are int64. Handles for
            /// positions are fresh, int64, or int32 if all positions fit. The cost of a row is one step for each product of two entries.
            csrMatmulCsr(r: out, rcrow: indices, rcol: indices, acrow: index, acol: index, avalues: input, bcrow: index, bcol: index,
                bvalues: input, columns: size) = {
                let (a, b) = (matrix_a(acrow, acol, avalues), matrix_b(bcrow, bcol, bvalues));
                compressed::sparse_product(SparseResult { starts: rcrow, columns: rcol, values: r }, a, b, columns)
            };
            /// `r[k]` = element [i, j] of A @ B for each entry `k` of a pattern, in row `i` and column `j`: csrSampled for matrices of
            /// compressed rows. With `transposeA` A^T @ B is computed, with `transposeB` A @ B^T; both together are `TH_ERR_UNSUPPORTED`.
            /// B, before transposition, has `columns` columns.
            csrSampledCsr(r: out, crow: index, col: index, acrow: index, acol: index, avalues: input, bcrow: index, bcol: index,
                bvalues: input, columns: size, transposeA: flag, transposeB: flag) = {
                let of = [matrix_a(acrow, acol, avalues), matrix_b(bcrow, bcol, bvalues)];
                compressed::sampled_sparse_product(r, (crow, col), of, columns, [transposeA, transposeB])
            };
        }
    };
}

compressed_functions!(table);
pub(crate) use compressed_functions as functions;
