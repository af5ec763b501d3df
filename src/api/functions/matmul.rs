//! Matrix products.
//!
//! Unless a function says otherwise, all operands have the same dtype, which may be any dtype except Bool. 16-bit floats are summed in
//! float32 and rounded once; integers wrap. Operands may have any strides, and `r` may be one of the operands. If `beta` is 0, the elements
//! of `t` are not read, so NaN in `t` has no effect. Processors that multiply pairs of bfloat16 numbers (AVX512_BF16) treat subnormal
//! bfloat16 numbers as 0.
//!
//! Errors: `TH_ERR_SHAPE`, the shapes of the operands do not fit a product; `TH_ERR_DTYPE`, the operands have different dtypes, an operand
//! is Bool, or `alpha` or `beta` is not whole for integers; `TH_ERR_ARGUMENT`, an invalid dimension, equation or power.

use crate::api::table::table;
use crate::ops::distance;
use crate::ops::matmul;
use crate::ops::matmul::{contract, einsum, forms};

macro_rules! matmul_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r = m1 @ m2` for matrices [n x k] and [k x p] of one dtype except Bool. 16-bit floats accumulate in float32; integers wrap.
            mm(r: out, m1: input, m2: input) = matmul::mm(r, m1, m2);
            /// `r = mat @ vec` for a matrix [n x k] and a vector [k] of one dtype except Bool.
            mv(r: out, mat: input, vec: input) = matmul::mv(r, mat, vec);
            /// `r = beta * t + alpha * (m1 @ m2)`; `t` broadcasts to [n x p]. If `beta` is 0, the elements of `t` are not read. `r` may be
            /// `t`.
            addmm(r: out, beta: number, t: input, alpha: number, m1: input, m2: input) =
                matmul::addmm(r, beta, t, alpha, m1, m2);
            /// `r = beta * t + alpha * (mat @ vec)`; `t` broadcasts to [n]. If `beta` is 0, the elements of `t` are not read. `r` may be
            /// `t`.
            addmv(r: out, beta: number, t: input, alpha: number, mat: input, vec: input) =
                matmul::addmv(r, beta, t, alpha, mat, vec);
            /// `r[i] = b1[i] @ b2[i]` for batches [b x n x k] and [b x k x p] of matrices.
            bmm(r: out, b1: input, b2: input) = forms::bmm(r, b1, b2);
            /// `r[i] = beta * t[i] + alpha * (b1[i] @ b2[i])` for each index `i` of the batch; `t` broadcasts to [b x n x p].
            baddbmm(r: out, beta: number, t: input, alpha: number, b1: input, b2: input) = forms::baddbmm(r, beta, t, alpha, b1, b2);
            /// `r = beta * t + alpha * (b1[0] @ b2[0] + b1[1] @ b2[1] + ...)`; `t` broadcasts to [n x p].
            addbmm(r: out, beta: number, t: input, alpha: number, b1: input, b2: input) = forms::addbmm(r, beta, t, alpha, b1, b2);
            /// `r = a @ b` for matrices in the last two dimensions; the other dimensions broadcast. A vector `a` is treated as a row and a
            /// vector `b` as a column, and the result lacks that dimension.
            matmul(r: out, a: input, b: input) = forms::matmul(r, a, b);
            /// `r = a[0] * b[0] + a[1] * b[1] + ...` for vectors of one size; `r` is a scalar.
            dot(r: out, a: input, b: input) = forms::dot(r, a, b);
            /// The same as dot, because there are no complex numbers to conjugate.
            vdot(r: out, a: input, b: input) = forms::dot(r, a, b);
            /// `r[i, j] = v1[i] * v2[j]` for vectors. The dtypes may differ and are promoted.
            outer(r: out, v1: input, v2: input) = forms::outer(r, v1, v2);
            /// `r[i, j] = v1[i] * v2[j]` for vectors: the BLAS name of outer.
            ger(r: out, v1: input, v2: input) = forms::outer(r, v1, v2);
            /// `r[i, j] = beta * t[i, j] + alpha * v1[i] * v2[j]` for vectors; `t` broadcasts to the sizes of `v1` and `v2`.
            addr(r: out, beta: number, t: input, alpha: number, v1: input, v2: input) = forms::addr(r, beta, t, alpha, v1, v2);
            /// `r` = the sum of `a * b` over the last dimension, for every combination of indices of the other dimensions. The other
            /// dimensions of `a` come first in `r`. A scalar multiplies every element.
            inner(r: out, a: input, b: input) = contract::inner(r, a, b);
            /// `r` = the sum of `a * b` over dimension `dims_a[k]` of `a` and dimension `dims_b[k]` of `b`, for `k` from 0 to `ndim - 1`.
            /// The two dimensions of a pair have the same size, or one of them has size 1 and broadcasts. The remaining dimensions of `a`
            /// come first in `r`, then those that remain of `b`.
            tensordot(r: out, a: input, b: input, ndim: len, dims_a: dims, dims_b: dims) = contract::tensordot(r, a, b, dims_a, dims_b);
            /// `r` = the sum of products of `count` operands that `equation` describes, as in NumPy: "ij,jk->ik" is a matrix product, "ii"
            /// a trace, "bij,bjk->bik" a batch of products.
            ///
            /// The equation has one letter for each dimension, a comma between operands, and the dimensions of the result after "->".
            /// Dimensions that the result lacks are summed. "..." is all dimensions without a letter, which broadcast. Size 1 also
            /// broadcasts to the size that another operand has for the same letter. Blanks are ignored. Without "->" the result has the
            /// ellipsis, followed in alphabetical order by the letters that occur once. Up to 10 operands are multiplied in the order that
            /// needs the fewest multiplications.
            einsum(r: out, equation: text, operands: inputs, count: handle_count) = einsum::einsum(r, equation.to_bytes(), &operands);
            /// `r` = the product of `count` matrices, from 1 to 1000 of them, multiplied in the order that needs the fewest
            /// multiplications. If there are at least two, the first may be a vector, which is treated as a row, and the last may be a
            /// vector, which is treated as a column.
            chainMatmul(r: out, matrices: inputs, count: handle_count) = contract::chain(r, &matrices);
            /// `r` = the `n`-th power of the square matrices in the last two dimensions of `t`. If `n` is 0, the result is the identity. A
            /// negative `n` gives a power of the inverse, for float32 and float64 only.
            matrixPower(r: out, t: input, n: count) = contract::matrix_power(r, t, n);
            /// `r` = the Kronecker product: a block matrix whose block at each index of `a` is `a[index] * b`. The size of each dimension
            /// of `r` is the product of the sizes in `a` and `b`; the operand with fewer dimensions gets leading dimensions of size 1. The
            /// dtypes may differ and are promoted.
            kron(r: out, a: input, b: input) = contract::kron(r, a, b);
            /// `r` = the cross product `a x b` of the vectors along `dimension`, which has size 3. The other dimensions broadcast. Any
            /// dtypes except Bool, which are promoted.
            cross(r: out, a: input, b: input, dimension: dim) = contract::cross(r, a, b, dimension);
            /// `r[i, j]` = the `p`-norm of the difference between row `i` of `a` [.. x n x d] and row `j` of `b` [.. x m x d], whose
            /// leading dimensions broadcast. Floats only; `p` >= 0.
            ///
            /// If `p` is 2 and either operand has more than 25 rows, the result is computed as `sqrt(|x|^2 - 2 x y + |y|^2)` by a matrix
            /// product, as in PyTorch. The mean of the rows of `b` is subtracted from all rows first. The error of a squared distance is a
            /// few eps of the rows' squared distances from this mean. `THTensor_cdistMode` can compute small distances exactly.
            cdist(r: out, a: input, b: input, p: double) = distance::cdist(r, a, b, p, distance::TH_DISTANCE_AUTO);
            /// As cdist, where `mode` selects the method for `p` 2. `TH_DISTANCE_AUTO` selects as cdist does. `TH_DISTANCE_PRODUCT` always
            /// uses the matrix product. `TH_DISTANCE_DIFFERENCES` computes the norms of the differences, with an error of a few eps of each
            /// distance.
            cdistMode(r: out, a: input, b: input, p: double, mode: distance_mode) = distance::cdist(r, a, b, p, mode);
            /// `r[k]` = the `p`-norm of the difference between rows `i` and `j` of `t` [n x d], for each of the n (n - 1) / 2 pairs `i < j`
            /// in row-major order: (0, 1), (0, 2), ..., (1, 2), ... Floats only; `p` >= 0. The norms are always computed from the
            /// differences.
            pdist(r: out, t: input, p: double) = distance::pdist(r, t, p);
        }
    };
}

matmul_functions!(table);
pub(crate) use matmul_functions as functions;
