//! Linear algebra.
//!
//! Matrices are the last two dimensions; the dimensions before them are a batch. The batches of two operands broadcast. Operands are
//! float32 or float64 and have the same dtype, which is also the dtype of the result. A right-hand side may be a vector, or a batch of
//! vectors if its shape is the shape of the matrices without their last dimension. Results are row-major, as always; packed results have
//! LAPACK's format, and pivots count from 1. A matrix that is singular, not positive definite or, if an iteration is needed, not finite is
//! `TH_ERR_NUMERIC`; the message has LAPACK's number and the index of the matrix in the batch. A result that is NULL is not computed.
//!
//! Other errors: `TH_ERR_SHAPE`, operands that do not fit each other; `TH_ERR_DTYPE`, other dtypes; `TH_ERR_ARGUMENT`, invalid pivots or
//! letters; `TH_ERR_UNSUPPORTED`, more than 2^31 - 1 rows or columns.

use crate::api::table::table;
use crate::ops::linalg::{determinant, eigen, exponential, factor, orthogonal, solve};

macro_rules! linalg_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `rb = the X with a X = b` for square `a`; `ra = the factors of a`, packed as by btrifact. Either may be NULL. The method is LU
        /// with partial pivoting (LAPACK's gesv); a singular `a` is an error. The pivots are not returned. To reuse the factors, call
        /// btrifact and btrisolve.
        gesv(rb: optional_out, ra: optional_out, b: input, a: input) = solve::gesv(rb, ra, b, a);
        /// gesv by PyTorch's name: `x = the X with a X = b`, `lu = the factors of a`.
        solve(x: optional_out, lu: optional_out, b: input, a: input) = solve::gesv(x, lu, b, a);
        /// `rb = the X with a X = b`, or with `transpose` of `a^T X = b`, for the `upper` or lower triangle of square `a`. With
        /// `unitriangular` the diagonal counts as ones. The other elements of `a` are ignored. `ra = a`. Either result may be NULL. A 0 on
        /// the diagonal is an error.
        trtrs(rb: optional_out, ra: optional_out, b: input, a: input, upper: flag, transpose: flag, unitriangular: flag) =
            solve::trtrs(rb, ra, b, a, solve::Triangle { upper, transposed: transpose, unit: unitriangular });
        /// `rb = the X of least |b - a X|` for `a` [m x n] of full rank with m >= n; with m < n the X of least norm with `a X = b`. X is
        /// [n x k] for `b` [m x k]; norms are per column. `ra` = the packed QR factorization of `a`, or for m < n its LQ factorization
        /// (LAPACK's gels). Either may be NULL. An exact 0 on the diagonal of R is an error. Use lstsq for matrices that may not have full
        /// rank.
        gels(rb: optional_out, ra: optional_out, b: input, a: input) = solve::gels(rb, ra, b, a);
        /// `x = the X of least norm among those with least |b - a X|`, for `a` [m x n] of any rank, computed from its singular values `s`,
        /// in descending order. Singular values up to `rcond` times the greatest count as 0; a negative `rcond` means the dtype's epsilon
        /// times the greater of m and n. `rank`, int64, is the number of the other singular values. Each result may be NULL.
        lstsq(x: optional_out, rank: optional_totals, s: optional_out, b: input, a: input, rcond: double) =
            solve::lstsq(solve::Fit { x, rank, s }, b, a, rcond);

        /// `ra = L and U of a = P L U`, packed: U, and L below its diagonal. The diagonal of L is 1. `a` is any [m x n].
        ///
        /// `rpivots`, int32 [.. x min(m, n)]: row i was exchanged with row `rpivots[i]`, counted from 1, for i in ascending order. `rinfo`,
        /// int32: for each matrix the first k for which U(k, k) is 0, or 0 if there is none. If `rinfo` is NULL, a singular matrix is an
        /// error. `pivot` 0 is `TH_ERR_UNSUPPORTED`.
        btrifact(ra: out, rpivots: pivots_out, rinfo: optional_info, pivot: flag, a: input) = factor::btrifact(ra, rpivots, rinfo, pivot,
            a);
        /// `rb = the X with a X = b` for the factors `atf` and `pivots`, int32 or int64, that btrifact computed. If U has a 0 on its
        /// diagonal, elements are divided by 0.
        btrisolve(rb: out, b: input, atf: input, pivots: pivots) = solve::btrisolve(rb, b, atf, pivots);
        /// `a = p l u` with a permutation `p` [m x m], a lower triangular `l` [m x k] with ones on the diagonal, and an upper triangular
        /// `u` [k x n], where k is the lesser of m and n. Each may be NULL. btrifact gives the packed factors.
        lu(p: optional_out, l: optional_out, u: optional_out, a: input) = factor::lu(p, l, u, a);
        /// `ra = the inverse of a`; a singular `a` is an error.
        getri(ra: out, a: input) = factor::getri(ra, a);
        /// getri by PyTorch's name: `r = the inverse of t`.
        inverse(r: out, t: input) = factor::getri(r, t);
        /// `r = the determinant of each square matrix of t`; a single matrix gives a 0-d result. The product is computed in float64 and
        /// rounded once. The determinant of a 0 x 0 matrix is 1.
        det(r: out, t: input) = determinant::det(r, t);
        /// `sign = 1, -1 or 0, logabsdet = log |det t|` of each square matrix; use it where det would overflow or underflow. Either may be
        /// NULL.
        slogdet(sign: optional_out, logabsdet: optional_out, t: input) = determinant::slogdet(sign, logabsdet, t);
        /// `r = log det t` of each square matrix: NaN where the determinant is negative, -inf where it is 0.
        logdet(r: out, t: input) = determinant::logdet(r, t);

        /// `ra = L with a = L L^T`, or with `upper` U with `a = U^T U`, of symmetric positive definite `a` (Cholesky). Only this triangle
        /// of `a` is read; the other triangle of `ra` is zeros. The error's message names the leading minor that is not positive definite.
        potrf(ra: out, a: input, upper: flag) = factor::potrf(ra, a, upper);
        /// potrf by PyTorch's name: `r = L with t = L L^T`, or with `upper` U with `t = U^T U`.
        cholesky(r: out, t: input, upper: flag) = factor::potrf(r, t, upper);
        /// `rb = the X with L L^T X = b`, or with `upper` of `U^T U X = b`, for a factor `a` computed by potrf.
        potrs(rb: out, b: input, a: input, upper: flag) = solve::potrs(rb, b, a, upper);
        /// `ra = the inverse of L L^T`, or with `upper` of `U^T U`, for a factor `a` computed by potrf.
        potri(ra: out, a: input, upper: flag) = factor::potri(ra, a, upper);
        /// `P^T a P = L L^T`, or with `upper` `U^T U`, of symmetric positive semidefinite `a`, with the greatest pivot first. `ra` is the
        /// factor, and `rpiv[i]`, int32, is the column of `a`, counted from 1, that became column i of `P^T a P`.
        ///
        /// `rrank`, int64, which may be NULL, is the number of pivots that are greater than `tol` and greater than n * epsilon * the
        /// greatest diagonal element. The columns of L after the first `rrank` are zeros. A diagonal element that is negative or NaN is an
        /// error.
        pstrf(ra: out, rpiv: pivots_out, rrank: optional_totals, a: input, upper: flag, tol: double) =
            factor::pstrf(factor::Pivoted { factor: ra, pivots: rpiv, rank: rrank }, a, upper, tol);

        /// `a = rq rr` for [m x n]: `rq` has orthonormal columns, and `rr` is upper triangular. With `some` they are [m x k] and [k x n],
        /// where k is the lesser of m and n; else they are [m x m] and [m x n]. Signs are LAPACK's: the diagonal of `rr` may be negative.
        /// Either may be NULL.
        qr(rq: optional_out, rr: optional_out, a: input, some: flag) = orthogonal::qr(rq, rr, a, some);
        /// `ra = R of a = Q R`, and below its diagonal the reflectors whose product is Q = H(1) H(2) ... H(k). `H(i) = 1 - rtau[i] v v^T`,
        /// where v has zeros before row i, 1 in row i, and then the elements of column i of `ra` below the diagonal.
        geqrf(ra: out, rtau: out, a: input) = orthogonal::geqrf(ra, rtau, a);
        /// `ra = the first n columns of Q` for the reflectors packed in `a` [m x n] and `tau`, as geqrf computes them. There may be fewer
        /// than n reflectors.
        orgqr(ra: out, a: input, tau: input) = orthogonal::orgqr(ra, a, tau);
        /// `ra = Q c`, or `c Q` if `left` is 0, for the square Q of the reflectors packed in `a` and `tau`. With `transpose` Q is replaced
        /// by Q^T.
        ormqr(ra: out, a: input, tau: input, c: input, left: flag, transpose: flag) = orthogonal::ormqr(ra, a, tau, c, left, transpose);

        /// `re = the eigenvalues of symmetric a`, ascending, [n]; `rv`, which may be NULL, has orthonormal eigenvectors as columns. Only
        /// the `upper` or lower triangle of `a` is read. The signs of eigenvectors are arbitrary. The errors of eigenvalues are a few
        /// epsilon times the greatest eigenvalue by magnitude, so that small eigenvalues of a graded matrix have fewer correct digits.
        syev(re: out, rv: optional_out, a: input, upper: flag) = eigen::syev(re, rv, a, upper);
        /// syev by PyTorch's name: `e = the eigenvalues of symmetric t`, `v = the eigenvectors`.
        symeig(e: out, v: optional_out, t: input, upper: flag) = eigen::syev(e, v, t, upper);
        /// `re = the eigenvalues of a`, [n x 2]: real and imaginary parts. Conjugate pairs are adjacent, the value with the positive
        /// imaginary part first.
        ///
        /// `rv`, which may be NULL: right eigenvectors of norm 1 as columns. For a conjugate pair in rows i and i + 1 of `re`, the
        /// eigenvectors are `rv[:, i] + i rv[:, i + 1]` and its conjugate, rotated so that the greatest element is real. Residuals are a
        /// few epsilon times the norm of `a`. As with LAPACK, they are larger if the scales of rows or columns of `a` differ by 1e6 and
        /// more. Imaginary parts of pairs that underflow become the least subnormal number. Matrices on a GPU are copied to the host, where
        /// the iteration runs, and the results back.
        geev(re: out, rv: optional_out, a: input) = eigen::geev(re, rv, a);
        /// geev by PyTorch's name: `e = the eigenvalues of t`, `v = the eigenvectors`.
        eig(e: out, v: optional_out, t: input) = eigen::geev(e, v, t);
        /// `a = ru diag(rs) rv^T` for [m x n]: `rs` [k] in descending order, where k is the lesser of m and n. `ru` and `rv` have
        /// orthonormal columns. With `some` they are [m x k] and [n x k], else [m x m] and [n x n]. `rv` is not transposed. Each may be
        /// NULL; singular values alone take less time. Errors are a few epsilon times the greatest singular value.
        gesvd(ru: optional_out, rs: optional_out, rv: optional_out, a: input, some: flag) = eigen::gesvd(ru, rs, rv, a, some);
        /// gesvd by PyTorch's name: `t = u diag(s) v^T`.
        svd(u: optional_out, s: optional_out, v: optional_out, t: input, some: flag) = eigen::gesvd(u, s, v, t, some);
        /// `r = the pseudoinverse of t`, [n x m] for [m x n]. Singular values up to `rcond` times the greatest count as 0; a negative
        /// `rcond` means the dtype's epsilon times the greater of m and n.
        pinverse(r: out, t: input, rcond: double) = eigen::pinverse(r, t, rcond);
        /// `r = the rank of each matrix`, int64: the number of singular values greater than `tol`. If `t` is `symmetric`, of which the
        /// lower triangle is read, eigenvalues by magnitude are counted. A negative `tol` means the greatest of these values times epsilon
        /// times the greater of m and n.
        matrixRank(r: totals, t: input, tol: double, symmetric: flag) = eigen::matrix_rank(r, t, tol, symmetric);
        /// `r = the norm p of each matrix`; with `keepdim` both dimensions remain with size 1.
        matrixNorm(r: out, t: input, p: matrix_norm, keepdim: flag) = eigen::matrix_norm(r, t, p, keepdim);
        /// `r = the norm p of each matrix times the norm p of its inverse`; infinite for a singular matrix. With `TH_NORM_2` it is the
        /// greatest singular value divided by the least, with `TH_NORM_MINUS_2` the reciprocal, for any [m x n]. For other norms matrices
        /// are square.
        cond(r: out, t: input, p: matrix_norm) = eigen::cond(r, t, p);
        /// `r = 1 + t + t t / 2 + t t t / 6 + ...`, the exponential of each square matrix. The method is N. J. Higham, The scaling and
        /// squaring method for the matrix exponential revisited (2005).
        matrixExp(r: out, t: input) = exponential::matrix_exp(r, t);
    } };
}

linalg_functions!(table);
pub(crate) use linalg_functions as functions;
