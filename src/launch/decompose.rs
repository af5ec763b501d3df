//! Decompositions of matrices as values: LAPACK's routines, with its names and conventions, and a few others.

/// The `info` of a matrix with an infinity or a NaN, for which no eigenvalues or singular values are computed.
pub(crate) const NOT_FINITE: i32 = -1;

/// The number of columns of orthogonal factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// None.
    No,
    /// min(m, n) columns.
    Some,
    /// Square matrices.
    All,
}

/// The form in which a determinant is returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Determinant {
    /// The determinant itself.
    Value,
    /// The sign of the determinant (1, -1 or 0), and the logarithm of its absolute value: two numbers.
    SignAndLogarithm,
    /// The logarithm of the determinant; NaN if it is negative.
    Logarithm,
}

/// A function of a matrix. Each variant documents its lists and the integers that it returns. The matrix is in `a`, m x n or n x n, which
/// is overwritten. `b` has k columns, which the solutions overwrite. Elements near the ends of the range are scaled internally by powers of
/// 2, without an effect on results.
#[derive(Debug, Clone, Copy)]
pub enum Decomposition {
    /// `[a]`, min(m, n) pivots: packed factors of `A = P L U`.
    Getrf {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
    },
    /// `[a, p, l, u]`, min(m, n) + m integers: the factors as matrices. `p` may be empty if it is not wanted.
    Lu {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
    },
    /// `[a, inverse]`, n pivots: the inverse, or zeros if `info` is not 0.
    Getri {
        /// Rows and columns.
        n: usize,
    },
    /// `[a, numbers]`, n + 1 integers: the determinant as two float64 numbers for each matrix.
    Det {
        /// Rows and columns.
        n: usize,
        /// The form of the determinant.
        form: Determinant,
    },
    /// `[a]`: L of `A = L L'`, from the lower triangle.
    Potrf {
        /// Rows and columns.
        n: usize,
    },
    /// `[l, inverse]`: the inverse of `L L'`.
    Potri {
        /// Rows and columns.
        n: usize,
    },
    /// `[a]`, n pivots and the rank: `P' A P = L L'` with complete pivoting, from the lower triangle.
    Pstrf {
        /// Rows and columns.
        n: usize,
        /// Pivots up to this number count as 0. A negative number means LAPACK's default.
        tol: f64,
    },
    /// `[a, b]`, n pivots and k integers: packed factors of A, and the solutions of `A X = B`.
    Gesv {
        /// Rows and columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
    },
    /// `[lu, b]`, n pivots: the solutions of `A X = B` from packed factors of A.
    Getrs {
        /// Rows and columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
    },
    /// `[a, b]`: the solutions of `A X = B` with a triangle of A.
    Trtrs {
        /// Rows and columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
        /// True for the upper triangle.
        upper: bool,
        /// True to solve with the transposed triangle.
        transposed: bool,
        /// True if all diagonal elements are taken as 1.
        unit: bool,
    },
    /// `[l, b]`: the solutions of `L L' X = B`.
    Potrs {
        /// Rows and columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
    },
    /// `[a, tau, b]`, k integers: solutions of least squares. `b` has max(m, n) rows. If m < n, `a` is the transposed matrix.
    Gels {
        /// Rows.
        m: usize,
        /// Columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
    },
    /// `[a, s, u, v, b, c, x]`, 1 + k integers, the first of which is the rank: `x` has the solutions of least squares with the least norm,
    /// by singular values. `c` is scratch memory of min(m, n) x k.
    Gelsd {
        /// Rows.
        m: usize,
        /// Columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
        /// Singular values up to this number times the greatest one count as 0. A negative number means a default for rounding errors.
        rcond: f64,
    },
    /// `[a, tau, q, r]`: the factors of `A = Q R` as matrices. `q` has the first `columns` columns of Q, `r` has `side` rows.
    Qr {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
        /// Rows of R.
        side: usize,
        /// Columns of Q.
        columns: usize,
    },
    /// `[a, tau]`: R and packed reflectors.
    Geqrf {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
    },
    /// `[a, tau, q]`: the first n columns of the product of the first k reflectors.
    Orgqr {
        /// Rows.
        m: usize,
        /// Columns of Q.
        n: usize,
        /// Reflectors.
        k: usize,
    },
    /// `[a, tau, c]`: the product of the m x n matrix `c` and the first k reflectors.
    Ormqr {
        /// Rows of C.
        m: usize,
        /// Columns of C.
        n: usize,
        /// Reflectors.
        k: usize,
        /// True for the product Q C, false for C Q.
        left: bool,
        /// True to multiply by Q' instead of Q.
        transposed: bool,
    },
    /// `[a, w, z]`: eigenvalues, and eigenvectors if wanted, of a symmetric matrix, from its lower triangle.
    Syev {
        /// Rows and columns.
        n: usize,
        /// True if eigenvectors are wanted.
        vectors: bool,
    },
    /// `[a, w, v]`: eigenvalues, first all real parts and then all imaginary ones, and right eigenvectors in LAPACK's packed form.
    Geev {
        /// Rows and columns.
        n: usize,
        /// True if eigenvectors are wanted.
        vectors: bool,
    },
    /// `[a, s, u, v]`: singular values and vectors.
    Gesvd {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
        /// The number of singular vectors.
        vectors: Vectors,
    },
    /// `[values]`, 1 integer: the rank of an m x n matrix from its singular values, or from its eigenvalues by absolute value.
    Rank {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
        /// Values up to this number count as 0. A negative number means a default for rounding errors.
        tol: f64,
    },
    /// `[u, s, v, inverse]`, 1 integer: the pseudoinverse from the singular value decomposition of a matrix that [`Decomposition::Lascl`]
    /// scaled. The integer is the exponent, which scales the result back.
    Pinverse {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
        /// As for [`Decomposition::Gelsd`].
        rcond: f64,
    },
    /// `[a]`, 1 integer: the matrix times a power of 2 that keeps the squares of its elements in range, and the exponent.
    Lascl {
        /// The number of elements.
        size: usize,
    },
    /// `[a, b, c, d, e, f]`, n pivots: the exponential of `a`. The other lists are scratch memory of n x n.
    Exponential {
        /// Rows and columns.
        n: usize,
    },
}

/// Decomposes each matrix of a batch. Operands are row-major lists with an equal part for each matrix; matrices in a part are column-major.
/// The lists are overwritten with the results. They are the lists that the decomposition names, in float32 or float64; then, if the
/// decomposition has integers, an int32 list of them; then an int32 list with an `info` for each matrix: 0, or LAPACK's error number.
#[derive(Debug, Clone, Copy)]
pub struct Decompose {
    /// The decomposition.
    pub what: Decomposition,
    /// Number of matrices.
    pub count: usize,
}
