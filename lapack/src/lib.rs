//! Decompositions and solvers with LAPACK's conventions: column-major matrices, pivots that count from 1, packed reflectors, `info`.
//!
//! [`Lapack`] is what there is to call, once for float32 and once for float64. faer computes what takes long, in Rust, one thread and
//! memory the caller brings: Cholesky, triangular systems, eigenvalues, singular values; `schur` and `francis` say what of these it does
//! not. LU and QR are written here, of products and triangular systems, since faer's do not go on behind a pivot or a column of zeros.
//! Products are those [provided](private_gemm_x86::provide).
//!
//! Where a [vendor's](vendor) library was chosen, it computes what it has a routine for.
//!
//! A matrix of m rows and n columns is a slice of m * n elements, column after column. Scratch memory is as long as the function
//! `..._bytes` of the same name says.

mod bidiagonal;
mod cholesky;
mod eigen;
mod float;
mod francis;
mod lu;
mod qr;
mod schur;
pub mod sparse;
mod svd;
pub mod vendor;

pub use private_gemm_x86::{Matrix, Products, provide};

use std::mem::MaybeUninit;

/// Memory for what is computed on the way; any bytes, at any address.
pub type Scratch<'a> = &'a mut [MaybeUninit<u8>];

/// The `info` that LAPACK's drivers return: 0, or a positive one, of which LAPACK's manual tells.
pub type Info = i32;

/// The `info` of a matrix with an infinity or a NaN, of which there are no eigenvalues or singular values.
pub const NOT_FINITE: Info = -1;

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

macro_rules! lapack {
    ($($(#[doc = $doc:literal])* fn $name:ident($($arg:ident: $T:ty),*) $(-> $R:ty)? = $own:path $(, $vendors:path)?;)*) => {
        /// The functions, for the types that have them: our own, and what calls a library's.
        pub trait Lapack: Copy + PartialOrd + 'static {
            $($(#[doc = $doc])* fn $name($($arg: $T),*) $(-> $R)?;)*
        }
        lapack!(@of f32 $(fn $name($($arg: $T),*) $(-> $R)? = $own $(, $vendors)?;)*);
        lapack!(@of f64 $(fn $name($($arg: $T),*) $(-> $R)? = $own $(, $vendors)?;)*);
    };
    (@of $F:ident $(fn $name:ident($($arg:ident: $T:ty),*) $(-> $R:ty)? = $own:path $(, $vendors:path)?;)*) => {
        impl Lapack for $F {
            $(lapack!(@one $F, fn $name($($arg: $T),*) $(-> $R)? = $own $(, $vendors)?);)*
        }
    };
    (@one $F:ident, fn $name:ident($($arg:ident: $T:ty),*) $(-> $R:ty)? = $own:path) => {
        fn $name($($arg: $T),*) $(-> $R)? { $own($($arg),*) }
    };
    (@one $F:ident, fn $name:ident($($arg:ident: $T:ty),*) $(-> $R:ty)? = $own:path, $vendors:path) => {
        fn $name($($arg: $T),*) $(-> $R)? {
            match vendor::routines::<$F>() {
                Some(routines) => $vendors(routines, $($arg),*),
                None => $own($($arg),*),
            }
        }
    };
}

lapack! {
    /// `A = P L U` for m x n, in place of A: U, and below its diagonal L, whose diagonal is 1. `pivots[i]` is the row, from 1, that row i
    /// was exchanged with, in this order; there are min(m, n). The `info` k > 0: U(k, k) is 0, the first to be so.
    fn getrf(a: &mut [Self], m: usize, n: usize, pivots: &mut [i32]) -> Info = lu::getrf, vendor::getrf;
    /// `B = inverse(A) B` for n x k, of the factors of an n x n matrix.
    fn getrs(lu: &[Self], n: usize, pivots: &[i32], b: &mut [Self], k: usize) = lu::getrs, vendor::getrs;
    /// The inverse of an n x n matrix of its factors, none of whose pivots is 0.
    fn getri(inverse: &mut [Self], lu: &[Self], n: usize, pivots: &[i32], scratch: Scratch<'_>) = lu::getri, vendor::getri;
    /// The bytes for `getri`.
    fn getri_bytes(n: usize) -> usize = lu::getri_bytes::<Self>, vendor::getri_bytes;
    /// `B = inverse(A) B`, or of the transposed A, for the upper or lower triangle of A, whose diagonal is taken for 1 with `unit`.
    /// The `info` k > 0: A(k, k) is 0, and B as it was.
    fn trtrs(a: &[Self], n: usize, b: &mut [Self], k: usize, upper: bool, transposed: bool, unit: bool) -> Info = lu::trtrs, vendor::trtrs;

    /// `A = L L'` for the lower triangle of A, n x n, in place; above the diagonal are zeros then.
    /// The `info` k > 0: the leading minor of order k is not positive definite.
    fn potrf(a: &mut [Self], n: usize, scratch: Scratch<'_>) -> Info = cholesky::potrf, vendor::potrf;
    /// The bytes for `potrf`.
    fn potrf_bytes(n: usize) -> usize = cholesky::potrf_bytes::<Self>;
    /// `B = inverse(L L') B` for n x k.
    fn potrs(l: &[Self], n: usize, b: &mut [Self], k: usize) -> Info = cholesky::potrs, vendor::potrs;
    /// `inverse(L L')`, both triangles.
    fn potri(inverse: &mut [Self], l: &[Self], n: usize, scratch: Scratch<'_>) -> Info = cholesky::potri, vendor::potri;
    /// The bytes for `potri`.
    fn potri_bytes(n: usize) -> usize = cholesky::potri_bytes::<Self>;
    /// `P' A P = L L'` with complete pivoting for the lower triangle of A. `pivots[i]` is the column of A, from 1, that became column i.
    ///
    /// Returns the rank, the number of pivots greater than `tol`, or than n * eps * greatest diagonal element if that is greater; columns
    /// of L behind it are zeros. `None`: a diagonal element is negative or not a number.
    fn pstrf(a: &mut [Self], n: usize, pivots: &mut [i32], tol: f64, scratch: Scratch<'_>) -> Option<usize> = cholesky::pstrf,
        vendor::pstrf;
    /// The bytes for `pstrf`.
    fn pstrf_bytes(n: usize) -> usize = cholesky::pstrf_bytes::<Self>, vendor::pstrf_bytes;

    /// `A = Q R` for m x n, in place of A: R, and below its diagonal the vectors v of the reflectors `I - tau v v'`, whose product is Q.
    fn geqrf(a: &mut [Self], m: usize, n: usize, tau: &mut [Self], scratch: Scratch<'_>) = qr::geqrf, vendor::geqrf;
    /// The bytes for `geqrf`.
    fn geqrf_bytes(m: usize, n: usize) -> usize = qr::geqrf_bytes::<Self>, vendor::geqrf_bytes;
    /// The first n columns, m x n, of the product of the k reflectors below the diagonal of `a`, m x k.
    fn orgqr(q: &mut [Self], m: usize, n: usize, a: &[Self], k: usize, tau: &[Self], scratch: Scratch<'_>) = qr::orgqr, vendor::orgqr;
    /// The bytes for `orgqr`.
    fn orgqr_bytes(m: usize, n: usize, k: usize) -> usize = qr::orgqr_bytes::<Self>, vendor::orgqr_bytes;
    /// `C = Q C` for C m x n or, with `left` false, `C Q`; with `transposed` of Q'. Q is the product of the k reflectors of `a`.
    fn ormqr(c: &mut [Self], m: usize, n: usize, a: &[Self], k: usize, tau: &[Self], left: bool, transposed: bool, scratch: Scratch<'_>) =
        qr::ormqr, vendor::ormqr;
    /// The bytes for `ormqr`.
    fn ormqr_bytes(m: usize, n: usize, k: usize, left: bool) -> usize = qr::ormqr_bytes::<Self>, vendor::ormqr_bytes;
    /// The X of least `|B - A X|` for A m x n, m >= n, and B m x k, in the first n rows of `b`. `a` becomes what `geqrf` makes of it.
    /// The `info` i > 0: R(i, i) is 0.
    fn gels(a: &mut [Self], m: usize, n: usize, tau: &mut [Self], b: &mut [Self], k: usize, scratch: Scratch<'_>) -> Info = qr::gels;
    /// The X of least norm, n x k, with `A' X = B` for A n x m, n >= m, and B the first m rows of `b`, n x k. As `gels` otherwise.
    fn gels_least_norm(a: &mut [Self], n: usize, m: usize, tau: &mut [Self], b: &mut [Self], k: usize, scratch: Scratch<'_>) -> Info =
        qr::least_norm;
    /// Multiplies by a power of 2, whose exponent it returns, where squares of the elements would overflow or underflow.
    fn lascl(a: &mut [Self]) -> i32 = float::lascl;
    /// Multiplies by a power of 2, whose exponent it returns, where sums of elements would overflow, or all are so small that digits are
    /// lost.
    fn headroom(a: &mut [Self]) -> i32 = float::headroom;
    /// `x = x * 2^exponent`
    fn rescale(x: &mut [Self], exponent: i32) = float::rescale;
    /// The bytes for `gels` and `gels_least_norm`.
    fn gels_bytes(m: usize, n: usize, k: usize) -> usize = qr::gels_bytes::<Self>;

    /// The eigenvalues w, ascending, of the lower triangle of A, n x n, and if asked for the eigenvectors as columns of Z. `a` is
    /// destroyed. The `info` > 0: no convergence.
    fn syev(a: &mut [Self], n: usize, w: &mut [Self], z: Option<&mut [Self]>, scratch: Scratch<'_>) -> Info = eigen::syev, vendor::syev;
    /// The bytes for `syev`.
    fn syev_bytes(n: usize, vectors: bool) -> usize = eigen::syev_bytes::<Self>, vendor::syev_bytes;
    /// The eigenvalues re + i im of A, n x n, and if asked for the right eigenvectors: a column for a real one, two for a pair, real and
    /// imaginary part of that with im > 0. Their norms are 1, and the greatest element of complex ones is real. `a` is destroyed. The
    /// `info` > 0: no convergence.
    fn geev(a: &mut [Self], n: usize, re: &mut [Self], im: &mut [Self], v: Option<&mut [Self]>, scratch: Scratch<'_>) -> Info = eigen::geev,
        vendor::geev;
    /// The bytes for `geev`.
    fn geev_bytes(n: usize, vectors: bool) -> usize = eigen::geev_bytes::<Self>, vendor::geev_bytes;
    /// `A = U diag(s) V'` for m x n: s descending, U and V with as many columns as `vectors` says. `a` is destroyed. The `info` > 0: no
    /// convergence.
    fn gesvd(a: &mut [Self], m: usize, n: usize, s: &mut [Self], u: Option<&mut [Self]>, v: Option<&mut [Self]>, vectors: Vectors,
        scratch: Scratch<'_>) -> Info = svd::gesvd, vendor::gesvd;
    /// The bytes for `gesvd`.
    fn gesvd_bytes(m: usize, n: usize, vectors: Vectors) -> usize = svd::gesvd_bytes::<Self>, vendor::gesvd_bytes;
}
