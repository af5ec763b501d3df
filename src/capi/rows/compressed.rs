//! Products of compressed rows.
//!
//! A matrix of compressed rows (CSR) is three vectors: `crow`, where each row starts among the entries, with their number at the end;
//! `col`, the column of each entry; and `values`, the entries. SciPy calls them `indptr`, `indices` and `data`. `crow` and `col` are int64
//! or int32, and read as they lie where they have one dtype; entries of a row may stand in any order and several for one place, which are
//! summed. These functions take such vectors as they are, without a copy; `THSTensor` holds them together.
//!
//! `values` and dense operands have one dtype. Sums of 16-bit floats are computed in float32 and rounded once, integers wrap. Each row is
//! summed by one thread, so that results do not depend on the number of threads.
//!
//! Errors: `TH_ERR_SHAPE`, operands that do not fit each other; `TH_ERR_DTYPE`, positions that are no integers, operands of several
//! dtypes; `TH_ERR_ARGUMENT`, rows that do not follow each other, a column that lies outside.

use crate::capi::face::row::export;
use crate::ops::compressed;

macro_rules! compressed_rows {
    ($face:ident $($to:tt)*) => { $face! { $($to)*
        /// `r = A @ m` for the matrix A [n x k] of compressed rows and a matrix `m` [k x p] or a vector [k]. Without `values`, NULL, each
        /// entry of A is 1: the sum of the rows of `m` that `col` lists.
        csrMatmul(r: out, crow: index, col: index, values: optional_input, m: input) =
            compressed::product(r, crow, col, values, m);
        /// `r = A' @ m` for the transpose of the matrix A [n x columns] of compressed rows and a matrix `m` [n x p] or a vector [n].
        /// Without `values`, NULL, each entry of A is 1.
        csrMatmulTransposed(r: out, crow: index, col: index, values: optional_input, m: input, columns: size) =
            compressed::transposed_product(r, crow, col, values, m, columns);
        /// `r[k]` = the sum of `a[i] * b[j]` over their elements, for each entry `k` of a pattern, which stands in row `i` and column `j`;
        /// `a` [n x p] and `b` [m x p] are matrices, or vectors as matrices of one column: the entries of `a @ b'` that the pattern has.
        csrSampled(r: out, crow: index, col: index, a: input, b: input) = compressed::sampled_product(r, crow, col, a, b);
    } };
}

compressed_rows!(export "THTensor_";);
