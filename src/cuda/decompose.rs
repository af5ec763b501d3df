//! Decompositions on GPUs: one block factors a panel of columns, and matrix products update the rest.
//!
//! Eigenvalues of nonsymmetric matrices are not supported.

mod cholesky;
mod exponential;
mod lists;
mod lu;
mod qr;
mod solve;
mod values;

pub use lists::{EXPONENTIAL, LU, QR, SCALE, VALUES};

use super::gpu::Gpu;
use crate::error::Result;
use crate::launch::{Decompose, Decomposition};
use crate::operand::Operand;
use lists::Lists;

/// Decomposes the matrices whose lists are `out`.
pub fn decompose(gpu: &Gpu, work: &Decompose, out: &[Option<&Operand>]) -> Result<()> {
    let [blocks @ .., integers, Some(infos)] = out else {
        unreachable!("lists of elements, of integers, and of what became of each matrix")
    };
    let lists = Lists::new(gpu, work.count, blocks, *integers, infos)?;
    if work.count == 0 {
        return Ok(());
    }
    match work.what {
        Decomposition::Getrf { m, n } => lu::getrf(&lists, m as i64, n as i64),
        Decomposition::Lu { m, n } => lu::factors(&lists, m as i64, n as i64),
        Decomposition::Getri { n } => lu::getri(&lists, n as i64),
        Decomposition::Det { n, form } => lu::det(&lists, n as i64, form),
        Decomposition::Potrf { n } => cholesky::potrf(&lists, n as i64),
        Decomposition::Potri { n } => cholesky::potri(&lists, n as i64),
        Decomposition::Potrs { n, k } => cholesky::potrs(&lists, n as i64, k as i64),
        Decomposition::Pstrf { n, tol } => cholesky::pstrf(&lists, n as i64, tol),
        Decomposition::Gesv { n, k } => lu::gesv(&lists, n as i64, k as i64),
        Decomposition::Getrs { n, k } => lu::getrs(&lists, n as i64, k as i64),
        Decomposition::Trtrs { n, k, upper, transposed, unit } => {
            let triangle = solve::Triangle { upper, transposed, unit };
            solve::trtrs(&lists, n as i64, k as i64, triangle)
        }
        Decomposition::Gels { m, n, k } => qr::gels(&lists, [m, n, k].map(|n| n as i64)),
        Decomposition::Qr { m, n, side, columns } => qr::qr(&lists, [m, n, side, columns].map(|n| n as i64)),
        Decomposition::Geqrf { m, n } => qr::geqrf(&lists, m as i64, n as i64),
        Decomposition::Orgqr { m, n, k } => qr::orgqr(&lists, [m, n, k].map(|n| n as i64)),
        Decomposition::Ormqr { m, n, k, left, transposed } => qr::ormqr(&lists, [m, n, k].map(|n| n as i64), left, transposed),
        Decomposition::Syev { n, vectors } => values::syev(&lists, n as i64, vectors),
        Decomposition::Geev { .. } => gpu.refuse(),
        Decomposition::Gesvd { m, n, vectors } => values::gesvd(&lists, m as i64, n as i64, vectors),
        Decomposition::Gelsd { m, n, k, rcond } => values::gelsd(&lists, [m, n, k].map(|n| n as i64), rcond),
        Decomposition::Rank { m, n, tol } => values::rank(&lists, m as i64, n as i64, tol),
        Decomposition::Pinverse { m, n, rcond } => values::pinverse(&lists, m as i64, n as i64, rcond),
        Decomposition::Lascl { size } => values::lascl(&lists, size as i64),
        Decomposition::Exponential { n } => exponential::exponentials(&lists, n as i64),
    }
}
