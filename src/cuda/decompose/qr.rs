//! QR by Householder reflectors, and least squares.

use super::lists::{Args, Filling, Lists, Matrices, PANEL, QR_BLOCK, QR_PANEL, Scaling};
use super::solve::{Triangle, solve};
use crate::cuda::loops::div_up;
use crate::cuda::products::Block;
use crate::error::Result;

const UPPER: Triangle = Triangle { upper: true, transposed: false, unit: false };

/// Reflectors, packed below the diagonal of `a`, which has `rows` rows, with a number tau for each.
#[derive(Debug, Clone, Copy)]
pub struct Reflectors {
    pub a: Matrices,
    pub tau: Matrices,
    pub rows: i64,
}

impl Reflectors {
    /// Computes `C = Q C`, or `Q' C` if `transposed`, for the product Q of `width` reflectors from number `from` on. C is the first `n`
    /// columns of `c` from row `from` on.
    fn apply(&self, lists: &Lists<'_>, [from, width]: [i64; 2], transposed: bool, c: Block, n: i64) -> Result<()> {
        let rows = self.rows - from;
        if n == 0 || rows == 0 {
            return Ok(());
        }
        let (_full, v) = lists.memory(rows, width)?;
        let (_upper, t) = lists.memory(width, width)?;
        let (_first, w) = lists.memory(width, n)?;
        let (_second, tw) = lists.memory(width, n)?;
        let args = Args { a: self.a, b: v, c: t, d: self.tau, m: self.rows, from, width, ..lists.args() };
        lists.run(&QR_BLOCK, 1, &args)?;
        let [v, t, w, tw] = [v, t, w, tw].map(Matrices::block);
        lists.multiply([width, n, rows], (0.0, w), (1.0, v.transposed(), c))?;
        lists.multiply([width, n, width], (0.0, tw), (1.0, if transposed { t.transposed() } else { t }, w))?;
        lists.multiply([rows, n, width], (1.0, c), (-1.0, v, tw))
    }

    /// Factors matrices with `n` columns in place, panel by panel.
    pub fn factor(&self, lists: &Lists<'_>, n: i64) -> Result<()> {
        let size = self.rows.min(n);
        for from in (0..size).step_by(PANEL as usize) {
            let width = PANEL.min(size - from);
            let args = Args { a: self.a, d: self.tau, m: self.rows, from, width, ..lists.args() };
            lists.run(&QR_PANEL, 1, &args)?;
            let rest = lists.part(self.a, from, from + width).block();
            self.apply(lists, [from, width], true, rest, n - from - width)?;
        }
        Ok(())
    }

    /// Like [`Reflectors::factor`], but scales matrices with very large or small elements by powers of 2.
    fn factor_any(&self, lists: &Lists<'_>, n: i64) -> Result<()> {
        let (_memory, exponents) = lists.exponents()?;
        lists.scale(self.a, self.rows * n, Scaling::Headroom, exponents)?;
        self.factor(lists, n)?;
        lists.rescale_upper(self.a, [self.rows, n], exponents, -1)
    }

    /// Computes `C = Q C`, or `Q' C`, for all `k` reflectors and `n` columns.
    pub fn multiply(&self, lists: &Lists<'_>, k: i64, transposed: bool, c: Block, n: i64) -> Result<()> {
        let panels = div_up(k, PANEL);
        for number in 0..panels {
            let from = PANEL * if transposed { number } else { panels - 1 - number };
            self.apply(lists, [from, PANEL.min(k - from)], transposed, c.from(lists.dtype, from, 0), n)?;
        }
        Ok(())
    }

    /// Writes the first `n` columns of the product of `k` reflectors to `q`.
    fn columns(&self, lists: &Lists<'_>, k: i64, q: Matrices, n: i64) -> Result<()> {
        lists.fill(Filling::Identity, q, q, [self.rows, n])?;
        let panels = div_up(k, PANEL);
        for from in (0..panels).rev().map(|number| number * PANEL) {
            // Left of the panel and above it, elements are still equal to the identity's.
            let part = lists.part(q, from, from).block();
            self.apply(lists, [from, PANEL.min(k - from)], false, part, (n - from).max(0))?;
        }
        Ok(())
    }
}

fn reflectors(lists: &Lists<'_>, rows: i64) -> Reflectors {
    Reflectors { a: lists.matrices(0, rows), tau: lists.matrices(1, 1), rows }
}

/// Computes R and packed reflectors.
pub fn geqrf(lists: &Lists<'_>, m: i64, n: i64) -> Result<()> {
    reflectors(lists, m).factor_any(lists, n)
}

/// Computes the first `columns` columns of Q, and `side` rows of R, as matrices.
pub fn qr(lists: &Lists<'_>, [m, n, side, columns]: [i64; 4]) -> Result<()> {
    let (all, q, r) = (reflectors(lists, m), lists.matrices(2, m), lists.matrices(3, side));
    all.factor_any(lists, n)?;
    lists.fill(Filling::CopyUpper, r, all.a, [side, n])?;
    all.columns(lists, m.min(n), q, columns)
}

/// Computes the first n columns of the product of k reflectors.
pub fn orgqr(lists: &Lists<'_>, [m, n, k]: [i64; 3]) -> Result<()> {
    reflectors(lists, m).columns(lists, k, lists.matrices(2, m), n)
}

/// Multiplies an m x n matrix by the product of k reflectors from the left or the right.
pub fn ormqr(lists: &Lists<'_>, [m, n, k]: [i64; 3], left: bool, transposed: bool) -> Result<()> {
    let c = lists.matrices(2, m).block();
    // C Q is the transpose of Q' C'.
    let (c, rows, columns, transposed) = if left { (c, m, n, transposed) } else { (c.transposed(), n, m, !transposed) };
    reflectors(lists, rows).multiply(lists, k, transposed, c, columns)
}

/// Solves least squares of m equations, n unknowns and k right-hand sides. If m < n, the matrix is given transposed.
pub fn gels(lists: &Lists<'_>, [m, n, k]: [i64; 3]) -> Result<()> {
    let (rows, small) = (m.max(n), m.min(n));
    let (all, b) = (reflectors(lists, rows), lists.matrices(2, rows));
    let (_memory, exponents) = lists.exponents()?;
    lists.scale(all.a, rows * small, Scaling::Headroom, exponents)?;
    lists.scale_columns(b, m, k, 0)?;
    all.factor(lists, small)?;
    lists.find_zero(all.a, small)?;
    if m >= n {
        all.multiply(lists, n, true, b.block(), k)?;
        solve(lists, all.a, n, (b, k), UPPER)?;
    } else {
        let args = Args { a: b, m: rows, n: k, from: m, mode: Filling::ClearBelow as i32, ..lists.args() };
        lists.fill_with(k, &args)?;
        solve(lists, all.a, m, (b, k), Triangle { transposed: true, ..UPPER })?;
        all.multiply(lists, m, false, b.block(), k)?;
    }
    lists.rescale_solutions(b, [rows, k], exponents, 0)?;
    lists.rescale_upper(all.a, [rows, small], exponents, -1)
}
