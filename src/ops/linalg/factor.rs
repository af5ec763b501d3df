//! LU and Cholesky's factors, and the inverses that are made of them.

use super::{Batch, Matrices, Why, cube, float, scale, transposed};
use crate::cpu::lapack::{Info, Lapack};
use crate::dtype::{Dtype, dispatch};
use crate::error::{Result, bail};
use crate::ops::result::deliver;
use crate::ops::view;
use crate::tensor::Tensor;

/// `ra` = the factors of `A = P L U`, packed; `pivots` = LAPACK's; `info` = the first U(k, k) that is 0. Without `info` that is an error.
pub fn btrifact(ra: &Tensor, pivots: &Tensor, info: Option<&Tensor>, pivot: bool, a: &Tensor) -> Result<()> {
    let dtype = float(&[a])?;
    if !pivot {
        bail!(Unsupported, "pivot is 0: factors without pivots are not offered")
    }
    let of = Matrices::of(a)?;
    let (m, n) = (of.m(), of.n());
    let batch = Batch::new(of.batch())?;
    let (mut lu, mut places) = (batch.columns(a)?, batch.empty(Dtype::Int32, &[of.rows.min(of.cols)])?);
    let infos = dispatch!(float, dtype, T => {
        batch.each::<T, 1>(cube(m, n), || 0, [&mut lu], Some(&mut places), &|[lu], pivots, _| factored(lu, m, n, pivots))
    })?;
    let lu = transposed(&lu)?;
    let Some(r) = info else {
        infos.check(Why::Singular)?;
        return deliver([Some((ra, dtype, &lu)), Some((pivots, Dtype::Int32, &places))]);
    };
    let infos = infos.tensor(&batch)?;
    deliver([Some((ra, dtype, &lu)), Some((pivots, Dtype::Int32, &places)), Some((r, Dtype::Int32, &infos))])
}

/// LAPACK's getrf, of the matrix times a power of 2 where elements are very large or small.
fn factored<T: Lapack>(a: &mut [T], m: usize, n: usize, pivots: &mut [i32]) -> Info {
    let exponent = T::headroom(a);
    let info = T::getrf(a, m, n, pivots);
    scale::upper(a, m, -exponent);
    info
}

/// `A = P L U` with the three as matrices.
pub fn lu(p: Option<&Tensor>, l: Option<&Tensor>, u: Option<&Tensor>, a: &Tensor) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::of(a)?;
    let (m, n, size) = (of.m(), of.n(), of.m().min(of.n()));
    let batch = Batch::new(of.batch())?;
    let (mut work, mut pivots) = (batch.columns(a)?, batch.empty(Dtype::Int32, &[of.rows.saturating_add(size as i64)])?);
    let rows = if p.is_some() { of.rows } else { 0 };
    let (mut order, mut lower, mut upper) =
        (batch.empty(dtype, &[rows, rows])?, batch.empty(dtype, &[size as i64, of.rows])?, batch.empty(dtype, &[of.cols, size as i64])?);
    let blocks = [&mut work, &mut order, &mut lower, &mut upper];
    dispatch!(float, dtype, T => batch.each::<T, 4>(cube(m, n), || 0, blocks, Some(&mut pivots), &|[a, p, l, u], places, _| {
        let (pivots, rows) = places.split_at_mut(size);
        factored(a, m, n, pivots);
        for j in 0..size {
            for i in 0..m {
                l[i + j * m] = if i > j { a[i + j * m] } else { (i == j) as u8 as T };
            }
        }
        for j in 0..n {
            (0..size).for_each(|i| u[i + j * size] = if i <= j { a[i + j * m] } else { 0.0 });
        }
        p.fill(0.0);
        if !p.is_empty() {
            (0..m).for_each(|i| rows[i] = i as i32);
            pivots.iter().enumerate().for_each(|(i, &pivot)| rows.swap(i, pivot as usize - 1));
            (0..m).for_each(|j| p[rows[j] as usize + j * m] = 1.0);
        }
        0
    }))?;
    let (order, lower, upper) = (transposed(&order)?, transposed(&lower)?, transposed(&upper)?);
    deliver([p.map(|r| (r, dtype, &order)), l.map(|r| (r, dtype, &lower)), u.map(|r| (r, dtype, &upper))])
}

/// `ra` = the inverse.
pub fn getri(ra: &Tensor, a: &Tensor) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::square(a)?;
    let batch = Batch::new(of.batch())?;
    let (mut inverse, infos) = inverses(&batch, &of, a, dtype)?;
    infos.check(Why::Singular)?;
    inverse = transposed(&inverse)?;
    deliver([Some((ra, dtype, &inverse))])
}

/// The inverses of square matrices, column after column; zeros where `info` is not 0.
pub(super) fn inverses(batch: &Batch, of: &Matrices, a: &Tensor, dtype: Dtype) -> Result<(Tensor, super::Infos)> {
    let n = of.n();
    let (mut lu, mut inverse, mut pivots) =
        (batch.columns(a)?, batch.empty(dtype, &[of.rows, of.cols])?, batch.empty(Dtype::Int32, &[of.cols])?);
    let infos = dispatch!(float, dtype, T => {
        batch.each::<T, 2>(cube(n, n), || T::getri_bytes(n), [&mut lu, &mut inverse], Some(&mut pivots), &|[lu, inverse], pivots, scratch| {
            let exponent = T::headroom(lu);
            let info = T::getrf(lu, n, n, pivots);
            if info == 0 {
                T::getri(inverse, lu, n, pivots, scratch);
                T::rescale(inverse, exponent);
            } else {
                inverse.fill(0.0);
            }
            info
        })
    })?;
    Ok((inverse, infos))
}

/// Symmetric matrices by their lower triangles, column after column. The upper triangle of A is the lower one of its rows.
pub(super) fn triangles(batch: &Batch, a: &Tensor, upper: bool) -> Result<Tensor> {
    if upper { batch.rows(a) } else { batch.columns(a) }
}

/// The matrices that [`triangles`] became.
fn matrices(columns: Tensor, upper: bool) -> Result<Tensor> {
    if upper { Ok(columns) } else { transposed(&columns) }
}

/// `ra` = L with `A = L L'`, or U with `A = U' U`.
pub fn potrf(ra: &Tensor, a: &Tensor, upper: bool) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::square(a)?;
    let n = of.n();
    let batch = Batch::new(of.batch())?;
    let mut l = triangles(&batch, a, upper)?;
    let infos = dispatch!(float, dtype, T => batch.each::<T, 1>(cube(n, n) / 2, || T::potrf_bytes(n), [&mut l], None, &|[a], _, scratch| T::potrf(a, n, scratch)))?;
    infos.check(Why::Indefinite)?;
    deliver([Some((ra, dtype, &matrices(l, upper)?))])
}

/// `ra` = the inverse of `L L'`, or `U' U`, for a factor of potrf.
pub fn potri(ra: &Tensor, a: &Tensor, upper: bool) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::square(a)?;
    let n = of.n();
    let batch = Batch::new(of.batch())?;
    let (mut l, mut inverse) = (triangles(&batch, a, upper)?, batch.empty(dtype, &[of.rows, of.cols])?);
    let infos = dispatch!(float, dtype, T => batch.each::<T, 2>(cube(n, n), || T::potri_bytes(n), [&mut l, &mut inverse], None, &|[l, inverse], _, scratch| {
        T::potri(inverse, l, n, scratch)
    }))?;
    infos.check(Why::SingularTriangle)?;
    deliver([Some((ra, dtype, &inverse))])
}

/// What pstrf gives.
pub struct Pivoted<'a> {
    /// The factor.
    pub factor: &'a Tensor,
    /// The columns of A in the order of the factor, from 1.
    pub pivots: &'a Tensor,
    /// The rank.
    pub rank: Option<&'a Tensor>,
}

/// `P' A P = L L'`, or `U' U`, with the greatest pivot first.
pub fn pstrf(r: Pivoted<'_>, a: &Tensor, upper: bool, tol: f64) -> Result<()> {
    let dtype = float(&[a])?;
    let of = Matrices::square(a)?;
    let n = of.n();
    let batch = Batch::new(of.batch())?;
    // Behind the pivots of each matrix stands its rank.
    let (mut l, mut places) = (triangles(&batch, a, upper)?, batch.empty(Dtype::Int32, &[of.cols.saturating_add(1)])?);
    let infos = dispatch!(float, dtype, T => batch.each::<T, 1>(cube(n, n), || T::pstrf_bytes(n), [&mut l], Some(&mut places), &|[a], places, scratch| {
        let (pivots, rank) = places.split_at_mut(n);
        let found = T::pstrf(a, n, pivots, tol, scratch);
        rank[0] = found.unwrap_or(0) as i32;
        found.is_none() as i32
    }))?;
    infos.check(|_| Why::NotSemidefinite)?;
    let (l, pivots) = (matrices(l, upper)?, view::derive(&places, |l| l.narrow(-1, 0, of.cols))?);
    let rank = view::derive(&places, |l| l.select(-1, of.cols))?;
    deliver([Some((r.factor, dtype, &l)), Some((r.pivots, Dtype::Int32, &pivots)), r.rank.map(|r| (r, Dtype::Int64, &rank))])
}
