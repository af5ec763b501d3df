//! QR decompositions: as matrices and in LAPACK's packed form.

use super::{Batch, Matrices, float, sizes, transposed};
use crate::error::{Result, bail};
use crate::launch::Decomposition;
use crate::ops::result::deliver;
use crate::ops::{copy, view};
use crate::tensor::Tensor;

/// `A = Q R`. With `some`, Q has as many columns as the smaller side of A; otherwise it is square.
pub fn qr(rq: Option<&Tensor>, rr: Option<&Tensor>, a: &Tensor, some: bool) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::of(a)?;
    let (m, n, size) = (of.m(), of.n(), of.m().min(of.n()));
    let side = if some { size } else { m };
    let wanted = if rq.is_some() { side } else { 0 };
    let batch = Batch::new(of.batch())?;
    let (work, tau) = (batch.columns(a)?, batch.empty(dtype, &[size as i64])?);
    let (q, r) = (batch.empty(dtype, &[wanted as i64, of.rows])?, batch.empty(dtype, &[of.cols, side as i64])?);
    batch.decompose(Decomposition::Qr { m, n, side, columns: wanted }, [&work, &tau, &q, &r], None)?;
    let (q, r) = (transposed(&q)?, transposed(&r)?);
    deliver([rq.map(|to| (to, dtype, &q)), rr.map(|to| (to, dtype, &r))])
}

/// `ra` = R and the reflectors of Q, packed; `rtau` = the factors of the reflectors
pub fn geqrf(ra: &Tensor, rtau: &Tensor, a: &Tensor) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::of(a)?;
    let batch = Batch::new(of.batch())?;
    let (packed, tau) = (batch.columns(a)?, batch.empty(dtype, &[of.rows.min(of.cols)])?);
    batch.decompose(Decomposition::Geqrf { m: of.m(), n: of.n() }, [&packed, &tau], None)?;
    let packed = transposed(&packed)?;
    deliver([Some((ra, dtype, &packed)), Some((rtau, dtype, &tau))])
}

/// The number of reflectors that each matrix in `a` packs, and their factors.
fn factors(batch: &Batch, of: &Matrices, tau: &Tensor) -> Result<(usize, Tensor)> {
    let shape = tau.layout()?.shape;
    let Some((&k, before)) = shape.split_last() else { bail!(Shape, "tau must be a vector, got a 0-d tensor") };
    if before != of.batch() || k > of.cols || k > of.rows {
        bail!(Shape, "tau of shape {:?} does not fit reflectors of shape {:?}", shape.as_slice(), of.shape.as_slice())
    }
    tau.check_bounds(&tau.layout()?)?;
    let expanded = view::derive(tau, |l| l.expand(&sizes(&batch.sizes, &[k])))?;
    Ok((k as usize, copy::contiguous_copy(&expanded)?))
}

/// `ra` = the first columns of Q, as many as `a` has, for the reflectors packed in `a`
pub fn orgqr(ra: &Tensor, a: &Tensor, tau: &Tensor) -> Result<()> {
    let dtype = float(&[a, tau])?;
    let of = Matrices::of(a)?;
    let (m, n) = (of.m(), of.n());
    if n > m {
        bail!(Shape, "Q of {m} rows has no {n} columns")
    }
    let batch = Batch::new(of.batch())?;
    let (k, tau) = factors(&batch, &of, tau)?;
    let (packed, q) = (batch.columns(a)?, batch.empty(dtype, &[of.cols, of.rows])?);
    batch.decompose(Decomposition::Orgqr { m, n, k }, [&packed, &tau, &q], None)?;
    deliver([Some((ra, dtype, &transposed(&q)?))])
}

/// `ra` = `Q C`, or `C Q` without `left`, for the reflectors packed in `a`. With `transpose`, Q is transposed.
pub fn ormqr(ra: &Tensor, a: &Tensor, tau: &Tensor, c: &Tensor, left: bool, transpose: bool) -> Result<()> {
    let dtype = float(&[a, tau, c])?;
    let (of, of_c) = (Matrices::of(a)?, Matrices::of(c)?);
    let (m, n) = (of_c.m(), of_c.n());
    let side = if left { of_c.rows } else { of_c.cols };
    if of.rows != side {
        bail!(
            Shape,
            "Q of {} rows does not multiply shape {:?} from the {}",
            of.rows,
            of_c.shape.as_slice(),
            if left { "left" } else { "right" }
        )
    }
    let batch = Batch::both(of.batch(), of_c.batch())?;
    let (k, tau) = factors(&batch, &of, tau)?;
    let (packed, product) = (batch.columns(a)?, batch.columns(c)?);
    batch.decompose(Decomposition::Ormqr { m, n, k, left, transposed: transpose }, [&packed, &tau, &product], None)?;
    deliver([Some((ra, dtype, &transposed(&product)?))])
}
