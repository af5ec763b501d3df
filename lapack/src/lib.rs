//! Decompositions and solvers with LAPACK's conventions: column-major matrices, pivots that count from 1, packed reflectors, `info`.
//!
//! The trait [`Lapack`] has all functions, for float32 and float64. faer computes Cholesky factors, triangular systems, eigenvalues and
//! singular values, on one thread and in the caller's memory; the documentation of `schur` and `francis` names the exceptions. LU and QR
//! are implemented here with products and triangular systems, because faer's versions do not continue after a pivot or a column of zeros.
//! The program [provides](private_gemm_x86::provide) the products.
//!
//! If a [vendor's](vendor) library was chosen, its routines are used where they exist.
//!
//! A matrix of m rows and n columns is a slice of m * n elements in column-major order. Scratch memory has the size that the function
//! `..._bytes` of the same name returns.

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

/// Scratch memory: uninitialised bytes at an address of any alignment.
pub type Scratch<'a> = &'a mut [MaybeUninit<u8>];

/// The `info` of LAPACK's drivers: 0 for success, or a positive number that LAPACK's manual explains.
pub type Info = i32;

/// The `info` of a matrix with an infinity or a NaN, which has no eigenvalues or singular values.
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
        /// The functions for each type. They call the implementations of this crate or a vendor's library.
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
    /// `A = P L U` for an m x n matrix, in place: U, and below its diagonal L, whose diagonal is 1. `pivots[i]` is the row, from 1, with
    /// which row i was exchanged, in this order; there are min(m, n). The `info` k > 0 is the first k for which U(k, k) is 0.
    fn getrf(a: &mut [Self], m: usize, n: usize, pivots: &mut [i32]) -> Info = lu::getrf, vendor::getrf;
    /// `B = inverse(A) B` for B n x k, from the factors of A.
    fn getrs(lu: &[Self], n: usize, pivots: &[i32], b: &mut [Self], k: usize) = lu::getrs, vendor::getrs;
    /// The inverse of an n x n matrix from its factors, none of whose pivots is 0.
    fn getri(inverse: &mut [Self], lu: &[Self], n: usize, pivots: &[i32], scratch: Scratch<'_>) = lu::getri, vendor::getri;
    /// The bytes for `getri`.
    fn getri_bytes(n: usize) -> usize = lu::getri_bytes::<Self>, vendor::getri_bytes;
    /// `B = inverse(A) B` for the upper or lower triangle of A, or of its transpose. With `unit`, the diagonal counts as ones.
    /// The `info` k > 0: A(k, k) is 0, and B is unchanged.
    fn trtrs(a: &[Self], n: usize, b: &mut [Self], k: usize, upper: bool, transposed: bool, unit: bool) -> Info = lu::trtrs, vendor::trtrs;

    /// `A = L L'` for the lower triangle of A, n x n, in place. Elements above the diagonal become 0. The `info` k > 0: the leading minor
    /// of order k is not positive definite.
    fn potrf(a: &mut [Self], n: usize, scratch: Scratch<'_>) -> Info = cholesky::potrf, vendor::potrf;
    /// The bytes for `potrf`.
    fn potrf_bytes(n: usize) -> usize = cholesky::potrf_bytes::<Self>;
    /// `B = inverse(L L') B` for B n x k.
    fn potrs(l: &[Self], n: usize, b: &mut [Self], k: usize) -> Info = cholesky::potrs, vendor::potrs;
    /// `inverse(L L')`, both triangles.
    fn potri(inverse: &mut [Self], l: &[Self], n: usize, scratch: Scratch<'_>) -> Info = cholesky::potri, vendor::potri;
    /// The bytes for `potri`.
    fn potri_bytes(n: usize) -> usize = cholesky::potri_bytes::<Self>;
    /// `P' A P = L L'` with complete pivoting for the lower triangle of A. `pivots[i]` is the column of A, from 1, that became column i.
    ///
    /// Returns the rank: the number of pivots greater than `tol` and than n * eps * the greatest diagonal element. Columns of L after the
    /// rank are zeros. `None` if a diagonal element is negative or NaN.
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
    /// `C = Q C` for C m x n, or `C = C Q` without `left`; with `transposed`, Q' replaces Q. Q is the product of the k reflectors of `a`.
    fn ormqr(c: &mut [Self], m: usize, n: usize, a: &[Self], k: usize, tau: &[Self], left: bool, transposed: bool, scratch: Scratch<'_>) =
        qr::ormqr, vendor::ormqr;
    /// The bytes for `ormqr`.
    fn ormqr_bytes(m: usize, n: usize, k: usize, left: bool) -> usize = qr::ormqr_bytes::<Self>, vendor::ormqr_bytes;
    /// The X that minimizes `|B - A X|` for A m x n, m >= n, and B m x k, in the first n rows of `b`. `a` is replaced by the result of
    /// `geqrf`. The `info` i > 0: R(i, i) is 0.
    fn gels(a: &mut [Self], m: usize, n: usize, tau: &mut [Self], b: &mut [Self], k: usize, scratch: Scratch<'_>) -> Info = qr::gels;
    /// The X of least norm, n x k, with `A' X = B`, where A is n x m, n >= m, and B is the first m rows of `b`. Otherwise like `gels`.
    fn gels_least_norm(a: &mut [Self], n: usize, m: usize, tau: &mut [Self], b: &mut [Self], k: usize, scratch: Scratch<'_>) -> Info =
        qr::least_norm;
    /// Multiplies by a power of 2 if squares of the elements would overflow or underflow. Returns the exponent.
    fn lascl(a: &mut [Self]) -> i32 = float::lascl;
    /// Multiplies by a power of 2 if sums of elements would overflow, or if all elements are so small that digits are lost. Returns the
    /// exponent.
    fn headroom(a: &mut [Self]) -> i32 = float::headroom;
    /// `x = x * 2^exponent`
    fn rescale(x: &mut [Self], exponent: i32) = float::rescale;
    /// The bytes for `gels` and `gels_least_norm`.
    fn gels_bytes(m: usize, n: usize, k: usize) -> usize = qr::gels_bytes::<Self>;

    /// The eigenvalues w of the lower triangle of A, n x n, ascending, and on request the eigenvectors as columns of Z. `a` is destroyed.
    /// The `info` > 0: no convergence.
    fn syev(a: &mut [Self], n: usize, w: &mut [Self], z: Option<&mut [Self]>, scratch: Scratch<'_>) -> Info = eigen::syev, vendor::syev;
    /// The bytes for `syev`.
    fn syev_bytes(n: usize, vectors: bool) -> usize = eigen::syev_bytes::<Self>, vendor::syev_bytes;
    /// The eigenvalues re + i im of A, n x n, and on request the right eigenvectors. A real eigenvalue has one column. A complex pair has
    /// two: the real and imaginary part of the vector for im > 0. Vectors have norm 1, and the greatest element of a complex one is real.
    /// `a` is destroyed. The `info` > 0: no convergence.
    fn geev(a: &mut [Self], n: usize, re: &mut [Self], im: &mut [Self], v: Option<&mut [Self]>, scratch: Scratch<'_>) -> Info = eigen::geev,
        vendor::geev;
    /// The bytes for `geev`.
    fn geev_bytes(n: usize, vectors: bool) -> usize = eigen::geev_bytes::<Self>, vendor::geev_bytes;
    /// `A = U diag(s) V'` for A m x n. s is descending; `vectors` says how many columns U and V have. `a` is destroyed. The `info` > 0: no
    /// convergence.
    fn gesvd(a: &mut [Self], m: usize, n: usize, s: &mut [Self], u: Option<&mut [Self]>, v: Option<&mut [Self]>, vectors: Vectors,
        scratch: Scratch<'_>) -> Info = svd::gesvd, vendor::gesvd;
    /// The bytes for `gesvd`.
    fn gesvd_bytes(m: usize, n: usize, vectors: Vectors) -> usize = svd::gesvd_bytes::<Self>, vendor::gesvd_bytes;
}
