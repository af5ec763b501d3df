//! Matrix products.
//!
//! Unless a function says otherwise, operands have one dtype, any but Bool. 16-bit floats are summed in float32 and rounded once, integers
//! wrap. Any strides are taken as they are, and `r` may be an operand. With `beta` 0 the elements of `t` are not looked at, so that NaN
//! there does no harm. Processors that multiply pairs of bfloat16 (AVX512_BF16) take subnormal ones for 0.
//!
//! Errors: `TH_ERR_SHAPE`, operands that do not multiply; `TH_ERR_DTYPE`, operands of several dtypes or of Bool, and factors of integers
//! that are not whole; `TH_ERR_ARGUMENT`, dimensions, equations and powers that mean nothing.

use crate::api::table::table;
use crate::ops::distance;
use crate::ops::matmul;
use crate::ops::matmul::{contract, einsum, forms};

macro_rules! matmul_functions {
    ($do:ident) => {
        $do! { "THTensor_";
            /// `r = m1 @ m2` for matrices [n x k] and [k x p] of one dtype; not for Bool. 16-bit floats accumulate in float32, integers wrap.
            mm(r: out, m1: input, m2: input) = matmul::mm(r, m1, m2);
            /// `r = mat @ vec` for a matrix [n x k] and a vector [k] of one dtype; not for Bool.
            mv(r: out, mat: input, vec: input) = matmul::mv(r, mat, vec);
            /// `r = beta * t + alpha * (m1 @ m2)`; `t` broadcasts to [n x p]. With `beta` 0 the elements of `t` are not looked at. `r` may be
            /// `t`.
            addmm(r: out, beta: number, t: input, alpha: number, m1: input, m2: input) =
                matmul::addmm(r, beta, t, alpha, m1, m2);
            /// `r = beta * t + alpha * (mat @ vec)`; `t` broadcasts to [n]. With `beta` 0 the elements of `t` are not looked at. `r` may be
            /// `t`.
            addmv(r: out, beta: number, t: input, alpha: number, mat: input, vec: input) =
                matmul::addmv(r, beta, t, alpha, mat, vec);
            /// `r[i] = b1[i] @ b2[i]` for batches [b x n x k] and [b x k x p] of matrices.
            bmm(r: out, b1: input, b2: input) = forms::bmm(r, b1, b2);
            /// `r = beta * t + alpha * (b1[i] @ b2[i])` for each place `i` of the batch; `t` broadcasts to [b x n x p].
            baddbmm(r: out, beta: number, t: input, alpha: number, b1: input, b2: input) = forms::baddbmm(r, beta, t, alpha, b1, b2);
            /// `r = beta * t + alpha * (b1[0] @ b2[0] + b1[1] @ b2[1] + ...)`; `t` broadcasts to [n x p].
            addbmm(r: out, beta: number, t: input, alpha: number, b1: input, b2: input) = forms::addbmm(r, beta, t, alpha, b1, b2);
            /// `r = a @ b` for matrices in the last two dimensions, whose dimensions in front broadcast. A vector on the left is a row, a
            /// vector on the right a column, and the result lacks that dimension.
            matmul(r: out, a: input, b: input) = forms::matmul(r, a, b);
            /// `r`, a scalar, = the sum of `a[i] * b[i]` for vectors of one size.
            dot(r: out, a: input, b: input) = forms::dot(r, a, b);
            /// As dot: there are no complex numbers to conjugate.
            vdot(r: out, a: input, b: input) = forms::dot(r, a, b);
            /// `r[i, j] = v1[i] * v2[j]` for vectors. Any dtypes, promoted.
            outer(r: out, v1: input, v2: input) = forms::outer(r, v1, v2);
            /// `r[i, j] = v1[i] * v2[j]` for vectors: outer, by the name it has in BLAS.
            ger(r: out, v1: input, v2: input) = forms::outer(r, v1, v2);
            /// `r[i, j] = beta * t[i, j] + alpha * v1[i] * v2[j]` for vectors; `t` broadcasts to the sizes of both.
            addr(r: out, beta: number, t: input, alpha: number, v1: input, v2: input) = forms::addr(r, beta, t, alpha, v1, v2);
            /// `r` = the sum of `a * b` over the last dimension of both, for all pairs of the others, those of `a` first. A scalar multiplies
            /// every element.
            inner(r: out, a: input, b: input) = contract::inner(r, a, b);
            /// `r` = the sum of `a * b` over dimension `dims_a[k]` of `a` and `dims_b[k]` of `b`, for all `ndim` of these pairs, whose sizes
            /// are equal or one of them 1, which broadcasts; the other dimensions remain, those of `a` first.
            tensordot(r: out, a: input, b: input, ndim: len, dims_a: dims, dims_b: dims) = contract::tensordot(r, a, b, dims_a, dims_b);
            /// `r` = the sum of products of `count` operands that `equation` describes, as in NumPy: a letter for each dimension, operands
            /// separated by commas, and behind "->" the dimensions of the result; what is not there is summed over. "ij,jk->ik" is a matrix
            /// product, "ii" a trace, "bij,bjk->bik" a batch of products. "..." stands for all dimensions without a letter, which broadcast; so
            /// does size 1 where another operand has more for the same letter. Blanks do not count. Without "->" the result has the ellipsis
            /// and, in alphabetical order, the letters that occur once. Up to 10 operands are multiplied in the order that takes the fewest
            /// multiplications.
            einsum(r: out, equation: text, operands: inputs, count: handle_count) = einsum::einsum(r, equation.to_bytes(), &operands);
            /// `r` = the product of `count` matrices, 1 to 1000, in the order that takes the fewest multiplications. Of several, the first may
            /// be a vector, which is a row, and the last one, a column.
            chainMatmul(r: out, matrices: inputs, count: handle_count) = contract::chain(r, &matrices);
            /// `r` = the `n`-th power of the square matrices in the last two dimensions of `t`; the identity for `n` 0, for a negative `n` that
            /// of the inverse, float32 and float64 only.
            matrixPower(r: out, t: input, n: count) = contract::matrix_power(r, t, n);
            /// Kronecker's product: each element of `a` times all of `b`, as a block in its place. `r` has the sizes of `a` times those of `b`,
            /// where the one with fewer dimensions gets new ones in front. Any dtypes, promoted.
            kron(r: out, a: input, b: input) = contract::kron(r, a, b);
            /// `r` = the cross product `a x b` of the vectors along `dimension`, which has 3 entries; the others broadcast. Any dtypes but
            /// Bool, promoted.
            cross(r: out, a: input, b: input, dimension: dim) = contract::cross(r, a, b, dimension);
            /// `r[i, j]` = the `p`-norm of the difference between row `i` of `a` [.. x n x d] and row `j` of `b` [.. x m x d], whose dimensions
            /// in front broadcast; floats only, `p` >= 0. With more than 25 rows on one side and `p` 2, it is `sqrt(|x|^2 - 2 x y + |y|^2)`, as
            /// in PyTorch, a matrix product, of rows less the mean of the rows of `b`. The squared distance then has an error of some eps of
            /// the squared distances from this mean; `THTensor_cdistMode` computes near distances exactly.
            cdist(r: out, a: input, b: input, p: double) = distance::cdist(r, a, b, p, distance::TH_DISTANCE_AUTO);
            /// cdist with a choice for `p` 2: `TH_DISTANCE_AUTO`, as cdist; `TH_DISTANCE_PRODUCT`, always the matrix product;
            /// `TH_DISTANCE_DIFFERENCES`, the norms of the differences, whose error is some eps of each distance.
            cdistMode(r: out, a: input, b: input, p: double, mode: distance_mode) = distance::cdist(r, a, b, p, mode);
            /// `r[k]` = the `p`-norm of the difference between rows `i` and `j` of `t` [n x d], for each of the n (n - 1) / 2 pairs `i < j` in
            /// row-major order: (0, 1), (0, 2), ..., (1, 2), ... Floats only, `p` >= 0; always the norms of the differences.
            pdist(r: out, t: input, p: double) = distance::pdist(r, t, p);
        }
    };
}

matmul_functions!(table);
pub(crate) use matmul_functions as functions;
