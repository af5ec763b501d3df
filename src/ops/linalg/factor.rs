//! LU and Cholesky factors, and inverses computed from them.

use super::{Batch, Matrices, Why, float, transposed};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Decomposition;
use crate::ops::result::deliver;
use crate::ops::view;
use crate::tensor::Tensor;

/// `ra` = the packed factors of `A = P L U`; `pivots` = LAPACK's pivots; `info` = the first k with U(k, k) = 0. Without `info`, such a k is
/// an error.
pub fn btrifact(ra: &Tensor, pivots: &Tensor, info: Option<&Tensor>, pivot: bool, a: &Tensor) -> Result<()> {
    let dtype = float(&[a])?;
    if !pivot {
        bail!(Unsupported, "pivot is 0: factors without pivots are not offered")
    }
    let of = Matrices::of(a)?;
    let batch = Batch::new(of.batch())?;
    let (lu, places) = (batch.columns(a)?, batch.empty(Dtype::Int32, &[of.rows.min(of.cols)])?);
    let infos = batch.decompose(Decomposition::Getrf { m: of.m(), n: of.n() }, [&lu], Some(&places))?;
    let lu = transposed(&lu)?;
    let Some(r) = info else {
        infos.check(Why::Singular)?;
        return deliver([Some((ra, dtype, &lu)), Some((pivots, Dtype::Int32, &places))]);
    };
    let infos = infos.tensor(&batch)?;
    deliver([Some((ra, dtype, &lu)), Some((pivots, Dtype::Int32, &places)), Some((r, Dtype::Int32, &infos))])
}

/// `A = P L U`, with P, L and U as separate matrices
pub fn lu(p: Option<&Tensor>, l: Option<&Tensor>, u: Option<&Tensor>, a: &Tensor) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::of(a)?;
    let (m, n, size) = (of.m(), of.n(), of.m().min(of.n()));
    let batch = Batch::new(of.batch())?;
    let (work, pivots) = (batch.columns(a)?, batch.empty(Dtype::Int32, &[of.rows.saturating_add(size as i64)])?);
    let rows = if p.is_some() { of.rows } else { 0 };
    let (order, lower, upper) =
        (batch.empty(dtype, &[rows, rows])?, batch.empty(dtype, &[size as i64, of.rows])?, batch.empty(dtype, &[of.cols, size as i64])?);
    batch.decompose(Decomposition::Lu { m, n }, [&work, &order, &lower, &upper], Some(&pivots))?;
    let (order, lower, upper) = (transposed(&order)?, transposed(&lower)?, transposed(&upper)?);
    deliver([p.map(|r| (r, dtype, &order)), l.map(|r| (r, dtype, &lower)), u.map(|r| (r, dtype, &upper))])
}

/// `ra` = the inverse
pub fn getri(ra: &Tensor, a: &Tensor) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::square(a)?;
    let batch = Batch::new(of.batch())?;
    let (mut inverse, infos) = inverses(&batch, &of, a, dtype)?;
    infos.check(Why::Singular)?;
    inverse = transposed(&inverse)?;
    deliver([Some((ra, dtype, &inverse))])
}

/// The inverses of square matrices in column-major order, and zeros for a matrix whose `info` is not 0.
pub(super) fn inverses(batch: &Batch, of: &Matrices, a: &Tensor, dtype: Dtype) -> Result<(Tensor, super::Infos)> {
    let (lu, inverse, pivots) = (batch.columns(a)?, batch.empty(dtype, &[of.rows, of.cols])?, batch.empty(Dtype::Int32, &[of.cols])?);
    let infos = batch.decompose(Decomposition::Getri { n: of.n() }, [&lu, &inverse], Some(&pivots))?;
    Ok((inverse, infos))
}

/// Symmetric matrices as lower triangles in column-major order. The upper triangle of A is the lower one of its transpose.
pub(super) fn triangles(batch: &Batch, a: &Tensor, upper: bool) -> Result<Tensor> {
    if upper { batch.rows(a) } else { batch.columns(a) }
}

/// Undoes the order of [`triangles`].
fn matrices(columns: Tensor, upper: bool) -> Result<Tensor> {
    if upper { Ok(columns) } else { transposed(&columns) }
}

/// `ra` = L with `A = L L'`, or U with `A = U' U`
pub fn potrf(ra: &Tensor, a: &Tensor, upper: bool) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::square(a)?;
    let batch = Batch::new(of.batch())?;
    let l = triangles(&batch, a, upper)?;
    let infos = batch.decompose(Decomposition::Potrf { n: of.n() }, [&l], None)?;
    infos.check(Why::Indefinite)?;
    deliver([Some((ra, dtype, &matrices(l, upper)?))])
}

/// `ra` = the inverse of `L L'`, or of `U' U`, for a factor from potrf
pub fn potri(ra: &Tensor, a: &Tensor, upper: bool) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::square(a)?;
    let batch = Batch::new(of.batch())?;
    let (l, inverse) = (triangles(&batch, a, upper)?, batch.empty(dtype, &[of.rows, of.cols])?);
    let infos = batch.decompose(Decomposition::Potri { n: of.n() }, [&l, &inverse], None)?;
    infos.check(Why::SingularTriangle)?;
    deliver([Some((ra, dtype, &inverse))])
}

/// The results of [`pstrf`].
pub struct Pivoted<'a> {
    /// The factor.
    pub factor: &'a Tensor,
    /// The indices from 1 of A's columns in the order of the factor.
    pub pivots: &'a Tensor,
    /// The rank.
    pub rank: Option<&'a Tensor>,
}

/// `P' A P = L L'`, or `U' U`. Each step pivots on the greatest remaining diagonal element.
pub fn pstrf(r: Pivoted<'_>, a: &Tensor, upper: bool, tol: f64) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::square(a)?;
    let batch = Batch::new(of.batch())?;
    // The rank of each matrix follows its pivots.
    let (l, places) = (triangles(&batch, a, upper)?, batch.empty(Dtype::Int32, &[of.cols.saturating_add(1)])?);
    let infos = batch.decompose(Decomposition::Pstrf { n: of.n(), tol }, [&l], Some(&places))?;
    infos.check(|_| Why::NotSemidefinite)?;
    let (l, pivots) = (matrices(l, upper)?, view::derive(&places, |l| l.narrow(-1, 0, of.cols))?);
    let rank = view::derive(&places, |l| l.select(-1, of.cols))?;
    deliver([Some((r.factor, dtype, &l)), Some((r.pivots, Dtype::Int32, &pivots)), r.rank.map(|r| (r, Dtype::Int64, &rank))])
}
