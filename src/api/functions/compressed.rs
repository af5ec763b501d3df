//! Products of compressed rows.
//!
//! A matrix of compressed rows (CSR) is three vectors: `crow`, where each row starts among the entries, with their number at the end;
//! `col`, the column of each entry; and `values`, the entries. SciPy calls them `indptr`, `indices` and `data`. `crow` and `col` are int64
//! or int32, and read as they lie where they have one dtype; entries of a row may stand in any order and several for one place, which are
//! summed. These functions take such vectors as they are, without a copy; `THSTensor` holds them together.
//!
//! `values` and dense operands have one dtype. Sums of 16-bit floats are computed in float32 and rounded once, integers wrap. Each row is
//! summed by one thread, so that results do not depend on the number of threads. On a GPU products with dense operands, and softmax, run
//! there; systems and products of two compressed matrices are brought to the host, which computes them, and the results back.
//!
//! Errors: `TH_ERR_SHAPE`, operands that do not fit each other; `TH_ERR_DTYPE`, positions that are no integers, operands of several
//! dtypes; `TH_ERR_ARGUMENT`, rows that do not follow each other, a column that lies outside.

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
            /// Compresses coordinates by rows: entry `k` of a matrix of `size` rows stands in row `rows[k]` and column `columns[k]`, both less
            /// than 2^32. `crow` [size + 1] and `col` become the places that have entries, by ascending columns in each row, each once. `order`
            /// is the entries by their places, those of one place as they stand, and `starts` where those of each place start in it, with the
            /// number of entries at the end: csrMatmul of `starts`, `order`, NULL and the values sums these for each place. On the host.
            csrCompress(crow: totals, col: indices, starts: totals, order: indices, rows: index, columns: index, size: size) =
                compressed::compress([crow, col, starts, order], rows, columns, size);
            /// `r = A @ m` for the matrix A [n x k] of compressed rows and a matrix `m` [k x p] or a vector [k]. Without `values`, NULL, each
            /// entry of A is 1: the sum of the rows of `m` that `col` lists.
            csrMatmul(r: out, crow: index, col: index, values: optional_input, m: input) =
                compressed::product(r, crow, col, values, m);
            /// `r = A^T @ m` for the transpose of the matrix A [n x columns] of compressed rows and a matrix `m` [n x p] or a vector [n].
            /// Without `values`, NULL, each entry of A is 1.
            csrMatmulTransposed(r: out, crow: index, col: index, values: optional_input, m: input, columns: size) =
                compressed::transposed_product(r, crow, col, values, m, columns);
            /// `r[k]` = the sum of `a[i] * b[j]` over their elements, for each entry `k` of a pattern, which stands in row `i` and column `j`;
            /// `a` [n x p] and `b` [m x p] are matrices, or vectors as matrices of one column: the entries of `a @ b^T` that the pattern has.
            csrSampled(r: out, crow: index, col: index, a: input, b: input) = compressed::sampled_product(r, crow, col, a, b);
            /// `r` = softmax of the entries of each row: `e^x` by the sum of `e^x` over the row, of floats. `crow` [rows + 1] has where rows
            /// start; columns do not matter, and elements without an entry take no part.
            csrSoftmax(r: out, crow: index, values: input) = compressed::softmax(r, crow, values);
            /// `r = y * (g - sum of g * y)` over each row: the gradient of csrSoftmax, from its result `y`.
            csrSoftmaxGrad(r: out, crow: index, g: input, y: input) = compressed::softmax_gradient(r, crow, g, y);
            /// `r = the X with A X = b`, or with `transpose` of `A^T X = b`, for the `upper` or lower triangle of the square matrix A [n x n]
            /// of compressed rows, and a matrix `b` [n x p] or a vector [n] of floats; with `unitriangular` the diagonal counts as ones.
            /// Entries of the other triangle are not looked at, as by trtrs. A diagonal of 0, or without an entry, is `TH_ERR_NUMERIC`, which
            /// names the row. Rows follow from each other: threads divide the columns of `b`.
            csrTrtrs(r: out, crow: index, col: index, values: input, b: input, upper: flag, transpose: flag, unitriangular: flag) =
                compressed::solve(r, [crow, col, values], b, RowSolve { upper, transposed: transpose, unit: unitriangular });
            /// `r = the X with A X = b`, or with `transpose` of `A^T X = b`, for the square matrix A [n x n] of compressed rows, and a matrix
            /// `b` [n x p] or a vector [n]; float32 or float64. A is decomposed by Cholesky if it is symmetric, to the last bit, and positive
            /// definite, else by LU with partial pivoting. Its columns are put in an order before that keeps the factors sparse: minimum
            /// degree of A + A^T where most entries have one on the other side of the diagonal, of A^T A for others. All is computed in
            /// float64, on the host, and rounded once. A singular matrix, and one with infinities or NaN, is `TH_ERR_NUMERIC`. Singular is also
            /// a matrix whose reciprocal condition number is below 2e-15, by an estimate that does not depend on the units of rows and columns.
            csrSolve(r: out, crow: index, col: index, values: input, b: input, transpose: flag) =
                systems::solve(r, [crow, col, values], b, transpose);
            /// `r = the x with A x = b` by conjugate gradients, preconditioned by the diagonal, for the symmetric positive definite matrix A
            /// [n x n] of compressed rows and a vector `b` [n] of float32 or float64. It begins with `start` [n], or with zeros where that is
            /// NULL, and ends when the norm of `b - A x` is at most `tol` times that of `b`, after `maxIter` steps, or where rounding errors of
            /// `x` keep the norm from falling further, as with a `tol` of 0. The norm is computed in float64 from `x`; while it is above `tol`
            /// and falls, the iteration begins anew with `b - A x`. `progress`, or NULL, is called after each step with the norm that the
            /// iteration itself knows of, without rounding errors of `x`. For a `b` of 0 `r` is 0. Returns the number of steps; -1 on error.
            ///
            /// `residual`, a float64, becomes the norm of `b - A x` by that of `b`. Where it is above `tol`, `r` is what the steps led to;
            /// where `residual` is NULL this is `TH_ERR_NUMERIC`, as it always is if A is found not to be positive definite, or to be singular.
            csrCg(r: out, residual: optional_out, crow: index, col: index, values: input, b: input, start: optional_input, tol: double,
                maxIter: size, progress: progress, context: context) -> count = {
                let iteration = Iteration { tol, most: maxIter, progress: (progress, context) };
                // SAFETY: the caller's, as the type of the function asks.
                unsafe { systems::conjugate_gradients([r, b], residual, [crow, col, values], start, &iteration) }
            };
            /// `r` = the entries of A @ B, the product of two matrices of compressed rows, which is another one: `rcrow` has where its rows
            /// start, `rcol` the column of each entry. B has `columns` columns. Entries of a row stand by ascending columns, each once, and one
            /// stands wherever two entries meet, be their sum 0 or not. Positions are int32 where all that are given are, and the entries are
            /// less than 2^31; else int64. Handles for them are fresh, int64, or int32 where all fit. A row costs one step for each two entries
            /// that meet.
            csrMatmulCsr(r: out, rcrow: indices, rcol: indices, acrow: index, acol: index, avalues: input, bcrow: index, bcol: index,
                bvalues: input, columns: size) = {
                let (a, b) = (matrix_a(acrow, acol, avalues), matrix_b(bcrow, bcol, bvalues));
                compressed::sparse_product(SparseResult { starts: rcrow, columns: rcol, values: r }, a, b, columns)
            };
            /// `r[k]` = element [i, j] of A @ B for each entry `k` of a pattern, which stands in row `i` and column `j`: csrSampled for
            /// matrices of compressed rows. With `transposeA` it is A^T @ B, with `transposeB` A @ B^T; both at once are `TH_ERR_UNSUPPORTED`.
            /// B as it stands has `columns` columns.
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
