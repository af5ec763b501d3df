//! Eigenvalues and singular values, and functions computed from them: pseudoinverse, rank, condition number, norms.

use super::factor::{inverses, triangles};
use super::{Batch, Matrices, eigenvalues, float, singular_values, sizes, transposed};
use crate::device::{Device, DeviceGuard};
use crate::dtype::{Dtype, dispatch};
use crate::error::{Result, bail};
use crate::launch::{Decomposition, Vectors};
use crate::layout::Dims;
use crate::ops::device::{elements, on_host, to_device, written};
use crate::ops::reduce::{self, Over, To};
use crate::ops::result::deliver;
use crate::ops::{triangle, view};
use crate::tensor::Tensor;

/// `re` = the eigenvalues of symmetric matrices, ascending; `rv` = the eigenvectors as columns
pub fn syev(re: &Tensor, rv: Option<&Tensor>, a: &Tensor, upper: bool) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::square(a)?;
    let (n, vectors) = (of.n(), rv.is_some());
    let batch = Batch::new(of.batch())?;
    let side = if vectors { of.cols } else { 0 };
    let work = triangles(&batch, a, upper)?;
    let (values, v) = (batch.empty(dtype, &[of.cols])?, batch.empty(dtype, &[side, side])?);
    let infos = batch.decompose(Decomposition::Syev { n, vectors }, [&work, &values, &v], None)?;
    infos.check(eigenvalues)?;
    let v = transposed(&v)?;
    deliver([Some((re, dtype, &values)), rv.map(|r| (r, dtype, &v))])
}

/// `re` = the real and imaginary parts of the eigenvalues; `rv` = the right eigenvectors in LAPACK's packed form
pub fn geev(re: &Tensor, rv: Option<&Tensor>, a: &Tensor) -> Result<()> {
    // Matrices of all devices are decomposed on the host.
    let device = a.device();
    let host = DeviceGuard::on(Device::Cpu);
    let a = &on_host(a)?;
    let dtype = float(&[a])?;
    let of = Matrices::square(a)?;
    let (n, vectors) = (of.n(), rv.is_some());
    let batch = Batch::new(of.batch())?;
    let side = if vectors { of.cols } else { 0 };
    let (work, parts) = (batch.columns(a)?, batch.empty(dtype, &[2, of.cols])?);
    let v = batch.empty(dtype, &[side, side])?;
    let infos = batch.decompose(Decomposition::Geev { n, vectors }, [&work, &parts, &v], None)?;
    infos.check(eigenvalues)?;
    drop(host);
    let there = |t: &Tensor| to_device(&transposed(t)?, device);
    let (values, v) = (there(&parts)?, there(&v)?);
    deliver([Some((re, dtype, &values)), rv.map(|r| (r, dtype, &v))])
}

/// `A = U diag(s) V'`. With `some`, U and V have as many columns as the smaller side of A; otherwise they are square.
pub fn gesvd(ru: Option<&Tensor>, rs: Option<&Tensor>, rv: Option<&Tensor>, a: &Tensor, some: bool) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::of(a)?;
    let small = of.rows.min(of.cols);
    let vectors = match (ru.is_some() || rv.is_some(), some) {
        (false, _) => Vectors::No,
        (true, true) => Vectors::Some,
        (true, false) => Vectors::All,
    };
    let svd = Svd::of(&of, a, dtype, vectors)?;
    let (u, v) = (transposed(&svd.u)?, transposed(&svd.v)?);
    debug_assert_eq!(svd.s.layout()?.shape.last(), Some(&small));
    deliver([ru.map(|r| (r, dtype, &u)), rs.map(|r| (r, dtype, &svd.s)), rv.map(|r| (r, dtype, &v))])
}

/// Singular values and singular vectors, the vectors in column-major order.
struct Svd {
    batch: Batch,
    u: Tensor,
    s: Tensor,
    v: Tensor,
}

impl Svd {
    fn of(of: &Matrices, a: &Tensor, dtype: Dtype, vectors: Vectors) -> Result<Svd> {
        let (m, n, small) = (of.m(), of.n(), of.rows.min(of.cols));
        let [left, right] = match vectors {
            Vectors::No => [0; 2],
            Vectors::Some => [small; 2],
            Vectors::All => [of.rows, of.cols],
        };
        let batch = Batch::new(of.batch())?;
        let work = batch.columns(a)?;
        let (u, v) = (batch.empty(dtype, &[left, of.rows])?, batch.empty(dtype, &[right, of.cols])?);
        let s = batch.empty(dtype, &[small])?;
        let infos = batch.decompose(Decomposition::Gesvd { m, n, vectors }, [&work, &s, &u, &v], None)?;
        infos.check(singular_values)?;
        Ok(Svd { batch, u, s, v })
    }
}

/// The matrices of `t` in column-major order, each scaled by a power of 2, and the exponents. Without elements there are no exponents.
fn scaled(batch: &Batch, t: &Tensor, size: usize) -> Result<(Tensor, Tensor)> {
    let scaled = batch.columns(t)?;
    // A batch of matrices without elements may have any number of matrices.
    let count = if scaled.layout()?.numel() == 0 { 0 } else { batch.count as i64 };
    let exponents = Tensor::empty(Dtype::Int32, &[count])?;
    batch.decompose(Decomposition::Lascl { size }, [&scaled], Some(&exponents))?;
    Ok((scaled, exponents))
}

/// `r` = the pseudoinverse; singular values up to `rcond` times the greatest count as 0
pub fn pinverse(r: &Tensor, t: &Tensor, rcond: f64) -> Result<()> {
    let dtype = float(&[t])?;
    let of = Matrices::of(t)?;
    let (m, n) = (of.m(), of.n());
    let (scaled, exponents) = scaled(&Batch::new(of.batch())?, t, m.saturating_mul(n))?;
    let Svd { batch, u, s, v } = Svd::of(&of, &transposed(&scaled)?, dtype, Vectors::Some)?;
    let inverse = batch.empty(dtype, &[of.rows, of.cols])?;
    batch.decompose(Decomposition::Pinverse { m, n, rcond }, [&u, &s, &v, &inverse], Some(&exponents))?;
    deliver([Some((r, dtype, &transposed(&inverse)?))])
}

/// `r` = the number of singular values greater than `tol`, or, for symmetric matrices, of eigenvalues with a greater magnitude
pub fn matrix_rank(r: &Tensor, t: &Tensor, tol: f64, symmetric: bool) -> Result<()> {
    let dtype = float(&[t])?;
    let of = if symmetric { Matrices::square(t)? } else { Matrices::of(t)? };
    let (batch, lower) = (Batch::new(of.batch())?, Tensor::fresh()?);
    if symmetric {
        // Elements above the diagonal are ignored.
        triangle::tril(&lower, t, 0)?;
    }
    let t = if symmetric { &lower } else { t };
    // With a relative tolerance the matrices may be scaled, so that the greatest value does not overflow.
    let relative = tol < 0.0 || tol.is_nan();
    let scaled = if relative { Some(scaled(&batch, t, of.m().saturating_mul(of.n()))?.0) } else { None };
    let scaled = scaled.map(|scaled| transposed(&scaled)).transpose()?;
    let t = scaled.as_ref().unwrap_or(t);
    let values = if symmetric {
        let values = Tensor::fresh()?;
        syev(&values, None, t, false)?;
        values
    } else {
        Svd::of(&of, t, dtype, Vectors::No)?.s
    };
    let ranks = batch.empty(Dtype::Int32, &[])?;
    batch.decompose(Decomposition::Rank { m: of.m(), n: of.n(), tol }, [&values], Some(&ranks))?;
    deliver([Some((r, Dtype::Int64, &ranks))])
}

/// A norm of matrices.
pub type THMatrixNorm = i32;
/// The square root of the sum of squares.
pub const TH_NORM_FRO: THMatrixNorm = 0;
/// The sum of the singular values.
pub const TH_NORM_NUC: THMatrixNorm = 1;
/// The greatest sum of magnitudes of a column.
pub const TH_NORM_1: THMatrixNorm = 2;
/// The least sum of magnitudes of a column.
pub const TH_NORM_MINUS_1: THMatrixNorm = 3;
/// The greatest singular value.
pub const TH_NORM_2: THMatrixNorm = 4;
/// The least singular value.
pub const TH_NORM_MINUS_2: THMatrixNorm = 5;
/// The greatest sum of magnitudes of a row.
pub const TH_NORM_INF: THMatrixNorm = 6;
/// The least sum of magnitudes of a row.
pub const TH_NORM_MINUS_INF: THMatrixNorm = 7;

/// `r` = a norm of each matrix
pub fn matrix_norm(r: &Tensor, t: &Tensor, p: THMatrixNorm, keepdim: bool) -> Result<()> {
    let dtype = float(&[t])?;
    let of = Matrices::of(t)?;
    let norm = norms(&of, t, dtype, p)?;
    let shape: Dims = if keepdim { sizes(of.batch(), &[1, 1]) } else { of.batch().into() };
    let norm = view::derive(&norm, |l| l.view(&shape))?;
    deliver([Some((r, dtype, &norm))])
}

/// A norm of each matrix of a batch, in row-major order.
fn norms(of: &Matrices, t: &Tensor, dtype: Dtype, p: THMatrixNorm) -> Result<Tensor> {
    let norm = Tensor::fresh()?;
    let last = of.shape.len() as i64 - 1;
    let to = To::tensor(&norm, false);
    match p {
        TH_NORM_FRO => reduce::norm(to, t, 2.0, Over::Dims(&[last - 1, last]), None)?,
        TH_NORM_NUC => reduce::sum(to, &Svd::of(of, t, dtype, Vectors::No)?.s, Over::Dim(-1), None)?,
        TH_NORM_1 | TH_NORM_MINUS_1 | TH_NORM_INF | TH_NORM_MINUS_INF => {
            let (sums, columns) = (Tensor::fresh()?, matches!(p, TH_NORM_1 | TH_NORM_MINUS_1));
            reduce::norm(To::tensor(&sums, false), t, 1.0, Over::Dim(if columns { -2 } else { -1 }), None)?;
            extreme_norm(matches!(p, TH_NORM_1 | TH_NORM_INF), &norm, &sums)?;
        }
        TH_NORM_2 | TH_NORM_MINUS_2 => {
            let s = Svd::of(of, t, dtype, Vectors::No)?.s;
            extreme_norm(p == TH_NORM_2, &norm, &s)?;
        }
        _ => bail!(Argument, "{p} is no THMatrixNorm"),
    }
    Ok(norm)
}

/// The greatest or least norm of each line. The greatest of no norms is 0.
fn extreme_norm(greatest: bool, r: &Tensor, t: &Tensor) -> Result<()> {
    let to = To::tensor(r, false);
    match greatest && t.layout()?.shape.last() == Some(&0) {
        true => reduce::sum(to, t, Over::Dim(-1), None),
        false => reduce::extreme(greatest, to, t, Over::Dim(-1)),
    }
}

/// `r` = the norm of each matrix times the norm of its inverse; infinite for singular matrices
pub fn cond(r: &Tensor, t: &Tensor, p: THMatrixNorm) -> Result<()> {
    let dtype = float(&[t])?;
    let batch = Batch::new(Matrices::of(t)?.batch())?;
    if matches!(p, TH_NORM_2 | TH_NORM_MINUS_2) {
        let of = Matrices::of(t)?;
        let small = of.m().min(of.n());
        if small == 0 && batch.count > 0 {
            bail!(Shape, "matrices of shape {:?} have no singular values", of.shape.as_slice())
        }
        // Scaling prevents an overflow of the greatest value if the ratio is finite.
        let (scaled, _) = scaled(&batch, t, of.m().saturating_mul(of.n()))?;
        let s = Svd::of(&of, &transposed(&scaled)?, dtype, Vectors::No)?.s;
        let condition = dispatch!(float, dtype, T => {
            let s = elements::<T>(&s)?;
            written::<T>(&batch.sizes, |condition| {
                for (r, s) in condition.iter_mut().zip(s.chunks_exact(small.max(1))) {
                    let (most, least) = (s[0], s[small - 1]);
                    *r = match (p == TH_NORM_2, most == 0.0) {
                        (true, true) => T::INFINITY,
                        (true, false) => most / least,
                        (false, true) => 0.0,
                        (false, false) => least / most,
                    };
                }
                Ok(())
            })
        })?;
        return deliver([Some((r, dtype, &condition))]);
    }
    let of = Matrices::square(t)?;
    // Scaling prevents an overflow of one of the norms if their product is finite.
    let (scaled, _) = scaled(&batch, t, of.m().saturating_mul(of.n()))?;
    let t = &transposed(&scaled)?;
    let norm = norms(&of, t, dtype, p)?;
    let (inverse, infos) = inverses(&batch, &of, t, dtype)?;
    // `inverse` is in column-major order.
    let other = norms(&of, &transposed(&inverse)?, dtype, p)?;
    let infos = infos.list()?;
    let is_singular = |i: usize| infos.as_ref().and_then(|infos| infos.get(i)).is_some_and(|&info| info != 0);
    let condition = dispatch!(float, dtype, T => {
        let (norm, other) = (elements::<T>(&norm)?, elements::<T>(&other)?);
        written::<T>(&batch.sizes, |condition| {
            for (i, r) in condition.iter_mut().enumerate() {
                *r = if is_singular(i) { T::INFINITY } else { norm[i] * other[i] };
            }
            Ok(())
        })
    })?;
    deliver([Some((r, dtype, &condition))])
}
