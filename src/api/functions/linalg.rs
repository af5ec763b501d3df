//! Linear algebra.
//!
//! Matrices are the last two dimensions, those before them number a batch; where there are two operands, their batches broadcast. Operands
//! are float32 or float64 and of one dtype; what is computed has it, too. A right-hand side may be a vector, or a batch of vectors if its
//! shape is that of the matrices without their last dimension. Results are row-major like all others; what LAPACK packs is packed as LAPACK
//! does, and pivots count from 1. A matrix that is singular, not positive definite or, where an iteration is needed, not finite is
//! `TH_ERR_NUMERIC`; the message has LAPACK's number and says which of a batch it was. Where a result may be NULL, it is not computed.
//!
//! Other errors: `TH_ERR_SHAPE`, operands that do not fit each other; `TH_ERR_DTYPE`, other dtypes; `TH_ERR_ARGUMENT`, pivots and
//! letters that mean nothing; `TH_ERR_UNSUPPORTED`, more than 2^31 - 1 rows or columns.

use crate::api::table::table;
use crate::ops::linalg::{determinant, eigen, exponential, factor, orthogonal, solve};

macro_rules! linalg_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `rb = the X with a X = b` for square `a`; `ra = the factors of a`, packed as by btrifact. Either may be NULL. By LU with partial
        /// pivoting (LAPACK's gesv); a singular `a` is an error. The pivots are not given: btrifact and btrisolve solve again with the same
        /// factors.
        gesv(rb: optional_out, ra: optional_out, b: input, a: input) = solve::gesv(rb, ra, b, a);
        /// gesv by PyTorch's name: `x = the X with a X = b`, `lu = the factors of a`.
        solve(x: optional_out, lu: optional_out, b: input, a: input) = solve::gesv(x, lu, b, a);
        /// `rb = the X with a X = b`, or with `transpose` of `a^T X = b`, for the `upper` or lower triangle of square `a`; with
        /// `unitriangular` its diagonal counts as ones. What else `a` has is not looked at. `ra = a`. Either may be NULL. A 0 on the
        /// diagonal is an error.
        trtrs(rb: optional_out, ra: optional_out, b: input, a: input, upper: flag, transpose: flag, unitriangular: flag) =
            solve::trtrs(rb, ra, b, a, solve::Triangle { upper, transposed: transpose, unit: unitriangular });
        /// `rb = the X of least |b - a X|` for `a` [m x n] of full rank with m >= n; with m < n the X of least norm with `a X = b`. X is [n
        /// x k] for `b` [m x k]; norms are those of columns. `ra` = the QR of `a`, or for m < n its LQ, packed (LAPACK's gels). Either may
        /// be NULL. An exact 0 on the diagonal of R is an error; what may lack rank is for lstsq.
        gels(rb: optional_out, ra: optional_out, b: input, a: input) = solve::gels(rb, ra, b, a);
        /// `x = the X of least norm of those with least |b - a X|`, for `a` [m x n] of any rank, by its singular values `s`, descending.
        /// Those up to `rcond` times the greatest count as 0; negative: the dtype's epsilon times the greater of m and n. int64 `rank` is
        /// the number of the others. Each result may be NULL.
        lstsq(x: optional_out, rank: optional_totals, s: optional_out, b: input, a: input, rcond: double) =
            solve::lstsq(solve::Fit { x, rank, s }, b, a, rcond);

        /// `ra = L and U of a = P L U`, packed: U, and below its diagonal L, whose diagonal is 1. For any [m x n].
        ///
        /// int32 `rpivots` [.. x min(m, n)]: row i was exchanged with row `rpivots[i]`, from 1, in this order. int32 `rinfo`: for each
        /// matrix the first k for which U(k, k) is 0, or 0; without it, NULL, a singular matrix is an error. `pivot` 0 is
        /// `TH_ERR_UNSUPPORTED`.
        btrifact(ra: out, rpivots: pivots_out, rinfo: optional_info, pivot: flag, a: input) = factor::btrifact(ra, rpivots, rinfo, pivot,
            a);
        /// `rb = the X with a X = b` for the factors `atf` and `pivots`, int32 or int64, of btrifact. A U with a 0 on its diagonal gives
        /// what division by 0 does.
        btrisolve(rb: out, b: input, atf: input, pivots: pivots) = solve::btrisolve(rb, b, atf, pivots);
        /// `a = p l u` with `p` a permutation, `l` lower triangular with ones on the diagonal, `u` upper triangular: [m x m], [m x k] and
        /// [k x n] for k the lesser of m and n. Each may be NULL. btrifact gives them packed.
        lu(p: optional_out, l: optional_out, u: optional_out, a: input) = factor::lu(p, l, u, a);
        /// `ra = the inverse of a`; a singular one is an error.
        getri(ra: out, a: input) = factor::getri(ra, a);
        /// getri by PyTorch's name: `r = the inverse of t`.
        inverse(r: out, t: input) = factor::getri(r, t);
        /// `r = the determinant of each square matrix of t`: 0-d for one. The product is formed in float64 and rounded once. 1 for 0 x 0.
        det(r: out, t: input) = determinant::det(r, t);
        /// `sign = 1, -1 or 0, logabsdet = log |det t|` of each square matrix, where det would overflow or underflow. Either may be NULL.
        slogdet(sign: optional_out, logabsdet: optional_out, t: input) = determinant::slogdet(sign, logabsdet, t);
        /// `r = log det t` of each square matrix: NaN where the determinant is negative, -inf where it is 0.
        logdet(r: out, t: input) = determinant::logdet(r, t);

        /// `ra = L with a = L L^T`, or with `upper` U with `a = U^T U`, of symmetric positive definite `a`, of which that triangle alone is
        /// looked at; zeros in the other (Cholesky). The leading minor that is not positive definite is named by the error.
        potrf(ra: out, a: input, upper: flag) = factor::potrf(ra, a, upper);
        /// potrf by PyTorch's name: `r = L with t = L L^T`, or with `upper` U with `t = U^T U`.
        cholesky(r: out, t: input, upper: flag) = factor::potrf(r, t, upper);
        /// `rb = the X with L L^T X = b`, or with `upper` of `U^T U X = b`, for a factor `a` of potrf.
        potrs(rb: out, b: input, a: input, upper: flag) = solve::potrs(rb, b, a, upper);
        /// `ra = the inverse of L L^T`, or with `upper` of `U^T U`, for a factor `a` of potrf.
        potri(ra: out, a: input, upper: flag) = factor::potri(ra, a, upper);
        /// `P^T a P = L L^T`, or with `upper` `U^T U`, of symmetric positive semidefinite `a`, the greatest pivot first: `ra` is the
        /// factor, int32 `rpiv[i]` the column of `a`, from 1, that became column i of `P^T a P`.
        ///
        /// int64 `rrank`, which may be NULL: the number of pivots greater than `tol`, and than n * epsilon * the greatest element of the
        /// diagonal, which they must be in any case; columns of L behind are zeros. An element of the diagonal that is negative or not a
        /// number is an error.
        pstrf(ra: out, rpiv: pivots_out, rrank: optional_totals, a: input, upper: flag, tol: double) =
            factor::pstrf(factor::Pivoted { factor: ra, pivots: rpiv, rank: rrank }, a, upper, tol);

        /// `a = rq rr` for [m x n]: `rq` has orthonormal columns, `rr` is upper triangular. With `some` [m x k] and [k x n], k the lesser
        /// of m and n, else [m x m] and [m x n]. Signs are LAPACK's: the diagonal of `rr` may be negative. Either may be NULL.
        qr(rq: optional_out, rr: optional_out, a: input, some: flag) = orthogonal::qr(rq, rr, a, some);
        /// `ra = R of a = Q R`, and below its diagonal the reflectors that Q is the product of, H(1) H(2) ... H(k) with `H(i) = 1 - rtau[i]
        /// v v^T`: v has zeros, then 1 in row i, and behind it what stands in column i of `ra`.
        geqrf(ra: out, rtau: out, a: input) = orthogonal::geqrf(ra, rtau, a);
        /// `ra = the first n columns of Q` for the reflectors that geqrf has packed in `a` [m x n] and `tau`, of which there may be fewer
        /// than n.
        orgqr(ra: out, a: input, tau: input) = orthogonal::orgqr(ra, a, tau);
        /// `ra = Q c`, or with 0 for `left` `c Q`, with `transpose` of Q^T, for the square Q of the reflectors packed in `a` and `tau`.
        ormqr(ra: out, a: input, tau: input, c: input, left: flag, transpose: flag) = orthogonal::ormqr(ra, a, tau, c, left, transpose);

        /// `re = the eigenvalues of symmetric a`, ascending, [n]; `rv`, which may be NULL, has orthonormal eigenvectors as columns. The
        /// `upper` or lower triangle of `a` alone is looked at. The signs of vectors are arbitrary. Errors are some eps of the greatest
        /// eigenvalue by magnitude, so that small ones of a graded matrix have fewer digits.
        syev(re: out, rv: optional_out, a: input, upper: flag) = eigen::syev(re, rv, a, upper);
        /// syev by PyTorch's name: `e = the eigenvalues of symmetric t`, `v = the eigenvectors`.
        symeig(e: out, v: optional_out, t: input, upper: flag) = eigen::syev(e, v, t, upper);
        /// `re = the eigenvalues of a`, [n x 2]: real and imaginary parts, pairs one after the other, that with the positive imaginary part
        /// first.
        ///
        /// `rv`, which may be NULL: right eigenvectors of norm 1 as columns. Those of a pair in columns i and i + 1 are `rv[:, i] + i rv[:,
        /// i + 1]` and its conjugate, turned so that the greatest element is real. Residuals are some eps of the norm of `a`, or more, as
        /// LAPACK's, where its rows or columns grow by 1e6 and beyond; imaginary parts of pairs that underflow are the least subnormal
        /// number. Matrices on a GPU are brought to the host, which has the iteration, and the results back.
        geev(re: out, rv: optional_out, a: input) = eigen::geev(re, rv, a);
        /// geev by PyTorch's name: `e = the eigenvalues of t`, `v = the eigenvectors`.
        eig(e: out, v: optional_out, t: input) = eigen::geev(e, v, t);
        /// `a = ru diag(rs) rv^T` for [m x n]: `rs`, descending, [k], k the lesser of m and n; `ru` and `rv` with orthonormal columns, with
        /// `some` [m x k] and [n x k], else [m x m] and [n x n]. `rv` is not transposed. Each may be NULL; values alone take less time.
        /// Errors are some eps of the greatest singular value.
        gesvd(ru: optional_out, rs: optional_out, rv: optional_out, a: input, some: flag) = eigen::gesvd(ru, rs, rv, a, some);
        /// gesvd by PyTorch's name: `t = u diag(s) v^T`.
        svd(u: optional_out, s: optional_out, v: optional_out, t: input, some: flag) = eigen::gesvd(u, s, v, t, some);
        /// `r = the pseudoinverse of t`, [n x m] for [m x n]; singular values up to `rcond` times the greatest count as 0;
        /// negative: the dtype's epsilon times the greater of m and n.
        pinverse(r: out, t: input, rcond: double) = eigen::pinverse(r, t, rcond);
        /// `r = the rank of each matrix`, int64: the number of singular values greater than `tol`, or of eigenvalues by magnitude if `t` is
        /// `symmetric`, by its lower triangle. A negative `tol` stands for the greatest of them times epsilon times the greater of m and n.
        matrixRank(r: totals, t: input, tol: double, symmetric: flag) = eigen::matrix_rank(r, t, tol, symmetric);
        /// `r = the norm p of each matrix`; with `keepdim` both dimensions stay with size 1.
        matrixNorm(r: out, t: input, p: matrix_norm, keepdim: flag) = eigen::matrix_norm(r, t, p, keepdim);
        /// `r = the norm p of each matrix times that of its inverse`; infinite for a singular one. With `TH_NORM_2` the greatest singular
        /// value by the least, with `TH_NORM_MINUS_2` the reverse, of any [m x n]; for other norms matrices are square.
        cond(r: out, t: input, p: matrix_norm) = eigen::cond(r, t, p);
        /// `r = 1 + t + t t / 2 + t t t / 6 + ...`, the exponential of each square matrix. N. J. Higham, The scaling and squaring method
        /// for the matrix exponential revisited (2005).
        matrixExp(r: out, t: input) = exponential::matrix_exp(r, t);
    } };
}

linalg_functions!(table);
pub(crate) use linalg_functions as functions;
