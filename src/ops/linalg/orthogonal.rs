//! QR: as matrices, and as LAPACK packs it.

use super::{Batch, Matrices, cube, float, scale, sizes, transposed};
use crate::cpu::lapack::{Lapack, Scratch};
use crate::dtype::dispatch;
use crate::error::{Result, bail};
use crate::ops::result::deliver;
use crate::ops::{copy, view};
use crate::tensor::Tensor;

/// `A = Q R`; with `some` Q has as many columns as the smaller side of A, else it is square.
pub fn qr(rq: Option<&Tensor>, rr: Option<&Tensor>, a: &Tensor, some: bool) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::of(a)?;
    let (m, n, size) = (of.m(), of.n(), of.m().min(of.n()));
    let side = if some { size } else { m };
    let wanted = if rq.is_some() { side } else { 0 };
    let batch = Batch::new(of.batch())?;
    let (mut work, mut tau) = (batch.columns(a)?, batch.empty(dtype, &[size as i64])?);
    let (mut q, mut r) = (batch.empty(dtype, &[wanted as i64, of.rows])?, batch.empty(dtype, &[of.cols, side as i64])?);
    dispatch!(float, dtype, T => batch.each::<T, 4>(cube(m, n).saturating_mul(2), || T::geqrf_bytes(m, n).max(T::orgqr_bytes(m, wanted, size)), [&mut work, &mut tau, &mut q, &mut r], None, &|[a, tau, q, r], _, scratch| {
        factored(a, m, n, tau, scratch);
        for j in 0..n {
            (0..side).for_each(|i| r[i + j * side] = if i <= j { a[i + j * m] } else { 0.0 });
        }
        if wanted > 0 {
            T::orgqr(q, m, wanted, &a[..m * size], size, tau, scratch);
        }
        0
    }))?;
    let (q, r) = (transposed(&q)?, transposed(&r)?);
    deliver([rq.map(|to| (to, dtype, &q)), rr.map(|to| (to, dtype, &r))])
}

/// LAPACK's geqrf, of the matrix times a power of 2 where elements are very large or small.
fn factored<T: Lapack>(a: &mut [T], m: usize, n: usize, tau: &mut [T], scratch: Scratch<'_>) {
    let exponent = T::headroom(a);
    T::geqrf(a, m, n, tau, scratch);
    scale::upper(a, m, -exponent);
}

/// `ra` = R and the reflectors of Q, packed; `rtau` = their factors.
pub fn geqrf(ra: &Tensor, rtau: &Tensor, a: &Tensor) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::of(a)?;
    let (m, n) = (of.m(), of.n());
    let batch = Batch::new(of.batch())?;
    let (mut packed, mut tau) = (batch.columns(a)?, batch.empty(dtype, &[of.rows.min(of.cols)])?);
    dispatch!(float, dtype, T => batch.each::<T, 2>(cube(m, n), || T::geqrf_bytes(m, n), [&mut packed, &mut tau], None, &|[a, tau], _, scratch| {
        factored(a, m, n, tau, scratch);
        0
    }))?;
    let packed = transposed(&packed)?;
    deliver([Some((ra, dtype, &packed)), Some((rtau, dtype, &tau))])
}

/// The factors of reflectors packed in `a`: how many there are for each matrix, and all of them.
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

/// `ra` = the first columns of Q, as many as `a` has, for the reflectors packed in it.
pub fn orgqr(ra: &Tensor, a: &Tensor, tau: &Tensor) -> Result<()> {
    let dtype = float(&[a, tau])?;
    let of = Matrices::of(a)?;
    let (m, n) = (of.m(), of.n());
    if n > m {
        bail!(Shape, "Q of {m} rows has no {n} columns")
    }
    let batch = Batch::new(of.batch())?;
    let (k, mut tau) = factors(&batch, &of, tau)?;
    let (mut packed, mut q) = (batch.columns(a)?, batch.empty(dtype, &[of.cols, of.rows])?);
    dispatch!(float, dtype, T => batch.each::<T, 3>(cube(m, n), || T::orgqr_bytes(m, n, k), [&mut packed, &mut tau, &mut q], None, &|[a, tau, q], _, scratch| {
        T::orgqr(q, m, n, &a[..m * k], k, tau, scratch);
        0
    }))?;
    deliver([Some((ra, dtype, &transposed(&q)?))])
}

/// `ra = Q C`, or `C Q` without `left`, or either with Q transposed, for the reflectors packed in `a`.
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
    let (k, mut tau) = factors(&batch, &of, tau)?;
    let rows = of.m();
    let (mut packed, mut product) = (batch.columns(a)?, batch.columns(c)?);
    let blocks = [&mut packed, &mut tau, &mut product];
    dispatch!(float, dtype, T => batch.each::<T, 3>(cube(m, n), || T::ormqr_bytes(m, n, k, left), blocks, None, &|[a, tau, c], _, scratch| {
        T::ormqr(c, m, n, &a[..rows * k], k, tau, left, transpose, scratch);
        0
    }))?;
    deliver([Some((ra, dtype, &transposed(&product)?))])
}
