//! Decompositions of the matrices of a batch by the threads of the pool. Each thread decomposes whole matrices. The products within a
//! single matrix are divided among the threads.

mod batch;
mod determinant;
mod exponential;
mod factors;
mod lists;
mod lu;
mod multiply;
mod scale;
mod solve;
mod sparse;
mod values;

use crate::dtype::dispatch;
use crate::error::Result;
use crate::launch::{self, Decompose, Decomposition};
use crate::operand::Operand;
use lists::{Float, Lists, cube};
pub use sparse::system;
use thorn_lapack::{NOT_FINITE, Vectors};

const _: () = assert!(launch::NOT_FINITE == NOT_FINITE, "one number on both sides");

/// Decomposes the matrices whose lists are `out`.
pub fn launch(work: &Decompose, out: &[Option<&Operand>]) -> Result<()> {
    let [blocks @ .., integers, Some(infos)] = out else {
        unreachable!("lists of elements, of integers, and of what became of each matrix")
    };
    let lists = Lists { count: work.count, blocks, integers: *integers, infos };
    dispatch!(float, lists.block(0).dtype, T => decompose::<T>(work.what, &lists))
}

fn decompose<T: Float>(what: Decomposition, lists: &Lists<'_>) -> Result<()> {
    match what {
        Decomposition::Getrf { m, n } => lu::getrf::<T>(lists, m, n),
        Decomposition::Lu { m, n } => lu::lu::<T>(lists, m, n),
        Decomposition::Getri { n } => lu::getri::<T>(lists, n),
        Decomposition::Det { n, form } => determinant::det::<T>(lists, n, form),
        Decomposition::Potrf { n } => lists.each::<T, 1>(cube(n, n) / 2, T::potrf_bytes(n), &|[a], _, scratch| T::potrf(a, n, scratch)),
        Decomposition::Potri { n } => {
            lists.each::<T, 2>(cube(n, n), T::potri_bytes(n), &|[l, inverse], _, scratch| T::potri(inverse, l, n, scratch))
        }
        Decomposition::Pstrf { n, tol } => factors::pstrf::<T>(lists, n, tol),
        Decomposition::Gesv { n, k } => solve::gesv::<T>(lists, n, k),
        Decomposition::Getrs { n, k } => lists.each::<T, 2>(cube(n, k), 0, &|[lu, x], pivots, _| {
            T::getrs(lu, n, pivots, x, k);
            0
        }),
        Decomposition::Trtrs { n, k, upper, transposed, unit } => {
            lists.each::<T, 2>(cube(n, k), 0, &|[a, x], _, _| T::trtrs(a, n, x, k, upper, transposed, unit))
        }
        Decomposition::Potrs { n, k } => lists.each::<T, 2>(cube(n, k), 0, &|[l, x], _, _| T::potrs(l, n, x, k)),
        Decomposition::Gels { m, n, k } => solve::gels::<T>(lists, m, n, k),
        Decomposition::Gelsd { m, n, k, rcond } => solve::gelsd::<T>(lists, [m, n, k], rcond),
        Decomposition::Qr { m, n, side, columns } => factors::qr::<T>(lists, [m, n], side, columns),
        Decomposition::Geqrf { m, n } => factors::geqrf::<T>(lists, m, n),
        Decomposition::Orgqr { m, n, k } => factors::orgqr::<T>(lists, m, n, k),
        Decomposition::Ormqr { m, n, k, left, transposed } => factors::ormqr::<T>(lists, [m, n, k], left, transposed),
        Decomposition::Syev { n, vectors } => values::syev::<T>(lists, n, vectors),
        Decomposition::Geev { n, vectors } => values::geev::<T>(lists, n, vectors),
        Decomposition::Gesvd { m, n, vectors } => {
            let vectors = match vectors {
                launch::Vectors::No => Vectors::No,
                launch::Vectors::Some => Vectors::Some,
                launch::Vectors::All => Vectors::All,
            };
            values::gesvd::<T>(lists, m, n, vectors)
        }
        Decomposition::Rank { m, n, tol } => values::rank::<T>(lists, m, n, tol),
        Decomposition::Pinverse { m, n, rcond } => values::pinverse::<T>(lists, m, n, rcond),
        Decomposition::Lascl { size } => lists.each::<T, 1>(size, 0, &|[a], exponent, _| {
            exponent[0] = T::lascl(a);
            0
        }),
        Decomposition::Exponential { n } => exponential::exponentials::<T>(lists, n),
    }
}
