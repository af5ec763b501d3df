//! Systems of linear equations: square, triangular, by an existing decomposition, and least squares.

use super::factor::triangles;
use super::{Batch, Matrices, Why, float, transposed};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::Decomposition;
use crate::ops::dense::dense;
use crate::ops::device;
use crate::ops::result::deliver;
use crate::ops::{copy, view};
use crate::tensor::Tensor;

/// Right-hand sides. Vectors become matrices of one column.
struct Right {
    tensor: Tensor,
    of: Matrices,
    vectors: bool,
}

impl Right {
    /// The right-hand sides `b` of systems with the matrices `left`. `b` is a vector, a batch of vectors with one element for each row of a
    /// matrix, or matrices.
    fn of(b: &Tensor, left: &Matrices) -> Result<Right> {
        let shape = b.layout()?.shape;
        let vectors = shape.len() == 1 || (shape.len() > 1 && shape.as_slice() == &left.shape[..left.shape.len() - 1]);
        let tensor = if vectors { view::derive(b, |l| l.unsqueeze(-1))? } else { b.clone() };
        let of = Matrices::of(&tensor)?;
        if of.rows != left.rows {
            bail!(Shape, "shapes {:?} and {:?} make no system: {} rows, {}", left.shape.as_slice(), shape.as_slice(), left.rows, of.rows)
        }
        Ok(Right { tensor, of, vectors })
    }

    /// The solutions in the form of the right-hand sides, vectors or matrices, from `columns` in column-major order.
    fn result(&self, columns: &Tensor) -> Result<Tensor> {
        let matrices = transposed(columns)?;
        if self.vectors { view::derive(&matrices, |l| l.select(-1, 0)) } else { Ok(matrices) }
    }
}

/// `rb` = X with `A X = B`; `ra` = the factors of A
pub fn gesv(rb: Option<&Tensor>, ra: Option<&Tensor>, b: &Tensor, a: &Tensor) -> Result<()> {
    let dtype = float(&[a, b])?;
    let left = Matrices::square(a)?;
    let right = Right::of(b, &left)?;
    let (n, k) = (left.n(), right.of.n());
    let batch = Batch::both(left.batch(), right.of.batch())?;
    let (lu, x) = (batch.columns(a)?, batch.columns(&right.tensor)?);
    // Room for the pivots, and an exponent for each column.
    let integers = batch.empty(Dtype::Int32, &[left.cols.saturating_add(right.of.cols)])?;
    let infos = batch.decompose(Decomposition::Gesv { n, k }, [&lu, &x], Some(&integers))?;
    infos.check(Why::Singular)?;
    let (x, lu) = (right.result(&x)?, transposed(&lu)?);
    deliver([rb.map(|r| (r, dtype, &x)), ra.map(|r| (r, dtype, &lu))])
}

/// The triangle of a matrix that a system uses.
#[derive(Clone, Copy)]
pub struct Triangle {
    /// True for the upper triangle.
    pub upper: bool,
    /// True if the triangle is transposed.
    pub transposed: bool,
    /// True if the diagonal consists of ones.
    pub unit: bool,
}

/// `rb` = X with `A X = B` for a triangle of A; `ra` = A
pub fn trtrs(rb: Option<&Tensor>, ra: Option<&Tensor>, b: &Tensor, a: &Tensor, of: Triangle) -> Result<()> {
    let dtype = float(&[a, b])?;
    let left = Matrices::square(a)?;
    let right = Right::of(b, &left)?;
    let (n, k) = (left.n(), right.of.n());
    let batch = Batch::both(left.batch(), right.of.batch())?;
    let (triangle, x) = (batch.columns(a)?, batch.columns(&right.tensor)?);
    let Triangle { upper, transposed: transpose, unit } = of;
    let infos = batch.decompose(Decomposition::Trtrs { n, k, upper, transposed: transpose, unit }, [&triangle, &x], None)?;
    infos.check(Why::SingularTriangle)?;
    let (x, a) = (right.result(&x)?, transposed(&triangle)?);
    deliver([rb.map(|r| (r, dtype, &x)), ra.map(|r| (r, dtype, &a))])
}

/// `rb` = X with `L L' X = B`, or `U' U X = B`, for a factor from potrf
pub fn potrs(rb: &Tensor, b: &Tensor, a: &Tensor, upper: bool) -> Result<()> {
    let dtype = float(&[a, b])?;
    let left = Matrices::square(a)?;
    let right = Right::of(b, &left)?;
    let (n, k) = (left.n(), right.of.n());
    let batch = Batch::both(left.batch(), right.of.batch())?;
    let (factor, x) = (triangles(&batch, a, upper)?, batch.columns(&right.tensor)?);
    let infos = batch.decompose(Decomposition::Potrs { n, k }, [&factor, &x], None)?;
    infos.check(Why::SingularTriangle)?;
    deliver([Some((rb, dtype, &right.result(&x)?))])
}

/// `rb` = X with `A X = B` for factors and pivots from btrifact
pub fn btrisolve(rb: &Tensor, b: &Tensor, atf: &Tensor, pivots: &Tensor) -> Result<()> {
    let dtype = float(&[atf, b])?;
    let left = Matrices::square(atf)?;
    let right = Right::of(b, &left)?;
    let (n, k) = (left.n(), right.of.n());
    let batch = Batch::both(left.batch(), right.of.batch())?;
    let places = pivots_of(&batch, pivots, left.cols, left.batch())?;
    let (lu, x) = (batch.columns(atf)?, batch.columns(&right.tensor)?);
    batch.decompose(Decomposition::Getrs { n, k }, [&lu, &x], Some(&places))?;
    deliver([Some((rb, dtype, &right.result(&x)?))])
}

/// The pivots of a batch of n x n matrices: the index of the row with which each row is swapped.
fn pivots_of(batch: &Batch, pivots: &Tensor, n: i64, of: &[i64]) -> Result<Tensor> {
    let (dtype, shape) = (pivots.defined()?, pivots.layout()?.shape);
    if !matches!(dtype, Dtype::Int32 | Dtype::Int64) {
        bail!(Dtype, "pivots must be int32 or int64, got {dtype}")
    }
    if shape.as_slice() != &super::sizes(of, &[n])[..] {
        bail!(Shape, "pivots of shape {:?} for matrices of {n} rows in a batch {of:?}", shape.as_slice())
    }
    pivots.check_bounds(&pivots.layout()?)?;
    let expanded = view::derive(pivots, |l| l.expand(&super::sizes(&batch.sizes, &[n])))?;
    let wide = dense(&expanded, Dtype::Int64)?;
    for (at, &pivot) in device::elements::<i64>(&wide)?.iter().enumerate() {
        if pivot < 1 || pivot > n {
            bail!(Argument, "pivot {pivot} at {} of matrix {} is not a row from 1 to {n}", at as i64 % n, at as i64 / n)
        }
    }
    copy::to_dtype(&wide, Dtype::Int32)
}

/// `rb` = the X that minimizes `|B - A X|`, or the X of least norm with `A X = B`; `ra` = the QR or LQ decomposition of A
pub fn gels(rb: Option<&Tensor>, ra: Option<&Tensor>, b: &Tensor, a: &Tensor) -> Result<()> {
    let dtype = float(&[a, b])?;
    let left = Matrices::of(a)?;
    let right = Right::of(b, &left)?;
    let (m, n, k) = (left.m(), left.n(), right.of.n());
    let batch = Batch::both(left.batch(), right.of.batch())?;
    let tall = m >= n;
    let tau = batch.empty(dtype, &[left.rows.min(left.cols)])?;
    let (qr, x) = if tall {
        (batch.columns(a)?, batch.columns(&right.tensor)?)
    } else {
        // The solution has `n` rows, which are more than B has.
        let x = batch.empty(dtype, &[right.of.cols, left.cols])?;
        copy::copy(&view::derive(&x, |l| l.narrow(-1, 0, left.rows))?, &transposed(&batch.expanded(&right.tensor)?)?)?;
        (batch.rows(a)?, x)
    };
    let exponents = batch.empty(Dtype::Int32, &[right.of.cols])?;
    let infos = batch.decompose(Decomposition::Gels { m, n, k }, [&qr, &tau, &x], Some(&exponents))?;
    infos.check(Why::DeficientRank)?;
    let x = right.result(&if tall { view::derive(&x, |l| l.narrow(-1, 0, left.cols))? } else { x })?;
    let factors = if tall { transposed(&qr)? } else { qr };
    deliver([rb.map(|r| (r, dtype, &x)), ra.map(|r| (r, dtype, &factors))])
}

/// The results of [`lstsq`].
pub struct Fit<'a> {
    /// The solutions.
    pub x: Option<&'a Tensor>,
    /// The rank of each matrix.
    pub rank: Option<&'a Tensor>,
    /// The singular values of each matrix.
    pub s: Option<&'a Tensor>,
}

/// The X of least norm among those that minimize `|B - A X|`. Singular values up to `rcond` times the greatest count as 0.
pub fn lstsq(fit: Fit<'_>, b: &Tensor, a: &Tensor, rcond: f64) -> Result<()> {
    let dtype = float(&[a, b])?;
    let left = Matrices::of(a)?;
    let right = Right::of(b, &left)?;
    let (m, n, k) = (left.m(), left.n(), right.of.n());
    let p = m.min(n);
    let batch = Batch::both(left.batch(), right.of.batch())?;
    let (work, sides) = (batch.columns(a)?, batch.columns(&right.tensor)?);
    let (u, v) = (batch.empty(dtype, &[p as i64, left.rows])?, batch.empty(dtype, &[p as i64, left.cols])?);
    let (s, turned) = (batch.empty(dtype, &[p as i64])?, batch.empty(dtype, &[right.of.cols, p as i64])?);
    // Room for the rank, and an exponent for each column.
    let (x, ranks) = (batch.empty(dtype, &[right.of.cols, left.cols])?, batch.empty(Dtype::Int32, &[right.of.cols.saturating_add(1)])?);
    let lists = [&work, &s, &u, &v, &sides, &turned, &x];
    let infos = batch.decompose(Decomposition::Gelsd { m, n, k, rcond }, lists, Some(&ranks))?;
    infos.check(super::singular_values)?;
    let (x, ranks) = (right.result(&x)?, view::derive(&ranks, |l| l.select(-1, 0))?);
    deliver([fit.x.map(|r| (r, dtype, &x)), fit.rank.map(|r| (r, Dtype::Int64, &ranks)), fit.s.map(|r| (r, dtype, &s))])
}
