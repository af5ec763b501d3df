//! Decompositions of matrices as values: the routines of LAPACK and a few beyond, with its names and conventions.

/// The `info` of a matrix with an infinity or a NaN, of which there are no eigenvalues or singular values.
pub(crate) const NOT_FINITE: i32 = -1;

/// The shape of orthogonal factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// None.
    No,
    /// As many columns as the smaller side of the matrix.
    Some,
    /// Square.
    All,
}

/// The number that is made of a determinant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Determinant {
    /// The determinant itself.
    Value,
    /// Its sign, or 0, and the logarithm of its magnitude: two numbers.
    SignAndLogarithm,
    /// Its logarithm, NaN if it is negative.
    Logarithm,
}

/// A function of a matrix, with the lists it works on and the numbers in the list of integers. It is in `a`, m x n or n x n, which is
/// overwritten; `b` has k columns, and solutions overwrite it. Powers of 2 by which elements near the ends of the range are multiplied on
/// the way do not show.
#[derive(Debug, Clone, Copy)]
pub enum Decomposition {
    /// `[a]`, min(m, n) pivots: packed factors of `A = P L U`.
    Getrf {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
    },
    /// `[a, p, l, u]`, min(m, n) + m integers: the factors as matrices, `p` if it is not empty.
    Lu {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
    },
    /// `[a, inverse]`, n pivots: the inverse; zeros where `info` is not 0.
    Getri {
        /// Rows and columns.
        n: usize,
    },
    /// `[a, numbers]`, n + 1 integers. The numbers are float64, two for each matrix.
    Det {
        /// Rows and columns.
        n: usize,
        /// The numbers.
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
        /// Pivots up to it count as 0; LAPACK's default if it is negative.
        tol: f64,
    },
    /// `[a, b]`, n pivots and k integers: packed factors, and the solutions of `A X = B`.
    Gesv {
        /// Rows and columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
    },
    /// `[lu, b]`, n pivots: the solutions for packed factors.
    Getrs {
        /// Rows and columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
    },
    /// `[a, b]`: the solutions for a triangle.
    Trtrs {
        /// Rows and columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
        /// True for the upper triangle.
        upper: bool,
        /// True for its transpose.
        transposed: bool,
        /// True if the diagonal counts as ones.
        unit: bool,
    },
    /// `[l, b]`: the solutions of `L L' X = B`.
    Potrs {
        /// Rows and columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
    },
    /// `[a, tau, b]`, k integers: the solutions of least squares of max(m, n) rows. Of m < n, `a` is the transposed matrix.
    Gels {
        /// Rows.
        m: usize,
        /// Columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
    },
    /// `[a, s, u, v, b, c, x]`, 1 + k integers, the first the rank: the solutions of least squares and least norm, `x`, by singular values.
    /// `c` is scratch memory of min(m, n) x k.
    Gelsd {
        /// Rows.
        m: usize,
        /// Columns of A.
        n: usize,
        /// Columns of B.
        k: usize,
        /// Singular values up to it times the greatest count as 0; what rounding leaves if it is negative.
        rcond: f64,
    },
    /// `[a, tau, q, r]`: the factors of `A = Q R` as matrices of `side` columns and rows, of Q only the first `columns`.
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
    /// `[a, tau, q]`: the first n columns of the product of the k first reflectors.
    Orgqr {
        /// Rows.
        m: usize,
        /// Columns of Q.
        n: usize,
        /// Reflectors.
        k: usize,
    },
    /// `[a, tau, c]`: the m x n matrix `c` times the product of the k first reflectors.
    Ormqr {
        /// Rows of C.
        m: usize,
        /// Columns of C.
        n: usize,
        /// Reflectors.
        k: usize,
        /// True if C stands on the right.
        left: bool,
        /// True for the transposed product.
        transposed: bool,
    },
    /// `[a, w, z]`: eigenvalues, and eigenvectors, of the lower triangle of a symmetric matrix.
    Syev {
        /// Rows and columns.
        n: usize,
        /// True if eigenvectors are wanted.
        vectors: bool,
    },
    /// `[a, w, v]`: eigenvalues, real parts and then imaginary ones, and right eigenvectors as LAPACK packs them.
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
        /// The vectors.
        vectors: Vectors,
    },
    /// `[values]`, 1 integer: the rank of an m x n matrix by singular values or, as magnitudes, eigenvalues.
    Rank {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
        /// Values up to it count as 0; what rounding leaves if it is negative.
        tol: f64,
    },
    /// `[u, s, v, inverse]`, 1 integer: the pseudoinverse of a decomposed matrix, scaled back by the exponent of [`Decomposition::Lascl`].
    Pinverse {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
        /// As for [`Decomposition::Gelsd`].
        rcond: f64,
    },
    /// `[a]`, 1 integer: the matrix times a power of 2, so that squares of its elements stay in range, and the exponent.
    Lascl {
        /// Elements.
        size: usize,
    },
    /// `[a, b, c, d, e, f]`, n pivots: the exponential of `a`; the others are scratch memory of n x n.
    Exponential {
        /// Rows and columns.
        n: usize,
    },
}

/// The decomposition of each matrix of a batch. Operands are row-major lists, of which an equal part belongs to each matrix; in a part,
/// matrices lie column after column. Results are the lists that the decomposition names, float32 or float64, then one of int32 for its
/// integers, if it has any, and one of int32 for an `info` of each matrix: 0, or LAPACK's number of what is wrong with it. Lists are
/// overwritten.
#[derive(Debug, Clone, Copy)]
pub struct Decompose {
    /// The decomposition.
    pub what: Decomposition,
    /// Number of matrices.
    pub count: usize,
}
