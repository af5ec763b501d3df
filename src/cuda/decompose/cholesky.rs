//! Cholesky factors, without and with pivots.

use super::lists::{Args, CHOLESKY_PANEL, Filling, Lists, PANEL, PIVOTED_CHOLESKY};
use super::solve::{Triangle, solve};
use crate::error::Result;

const LOWER: Triangle = Triangle { upper: false, transposed: false, unit: false };

/// Computes L of `A = L L'`, panel by panel.
pub fn potrf(lists: &Lists<'_>, n: i64) -> Result<()> {
    let a = lists.matrices(0, n);
    for from in (0..n).step_by(PANEL as usize) {
        let (width, end) = (PANEL.min(n - from), n.min(from + PANEL));
        lists.run(&CHOLESKY_PANEL, 1, &Args { a, n, from, width, ..lists.args() })?;
        let (below, rest) = (lists.part(a, end, from).block(), lists.part(a, end, end).block());
        lists.multiply([n - end, n - end, width], (1.0, rest), (-1.0, below, below.transposed()))?;
    }
    lists.fill(Filling::ClearUpper, a, a, [n, n])
}

/// Solves `L L' X = B`.
fn substitute(lists: &Lists<'_>, n: i64, k: i64) -> Result<()> {
    let (l, x) = (lists.matrices(0, n), lists.matrices(1, n));
    lists.find_zero(l, n)?;
    solve(lists, l, n, (x, k), LOWER)?;
    solve(lists, l, n, (x, k), Triangle { transposed: true, ..LOWER })
}

/// Solves equations with given Cholesky factors.
pub fn potrs(lists: &Lists<'_>, n: i64, k: i64) -> Result<()> {
    substitute(lists, n, k)
}

/// Computes the inverses of `L L'`.
pub fn potri(lists: &Lists<'_>, n: i64) -> Result<()> {
    let inverse = lists.matrices(1, n);
    lists.fill(Filling::Identity, inverse, inverse, [n, n])?;
    substitute(lists, n, n)?;
    lists.fill(Filling::Mirror, inverse, inverse, [n, n])
}

/// Factors matrices with complete pivoting. The rank of each matrix follows its pivots.
pub fn pstrf(lists: &Lists<'_>, n: i64, tol: f64) -> Result<()> {
    lists.run(&PIVOTED_CHOLESKY, 1, &Args { a: lists.matrices(0, n), n, number: tol, ..lists.args() })
}
