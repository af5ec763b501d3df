//! Triangular systems.

use super::lists::{Args, Lists, Matrices, PANEL, SOLVE_PANEL};
use crate::cuda::loops::div_up;
use crate::error::Result;

/// The triangle of a matrix, and its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Triangle {
    pub upper: bool,
    pub transposed: bool,
    /// True if all diagonal elements are taken as 1.
    pub unit: bool,
}

/// Solves equations with a triangle.
pub fn trtrs(lists: &Lists<'_>, n: i64, k: i64, triangle: Triangle) -> Result<()> {
    let (a, b) = (lists.matrices(0, n), lists.matrices(1, n));
    if !triangle.unit {
        lists.find_zero(a, n)?;
    }
    solve(lists, a, n, (b, k), triangle)
}

/// Solves n equations with k right-hand sides, panel by panel. After each panel, a product updates the remaining equations.
pub fn solve(lists: &Lists<'_>, a: Matrices, n: i64, (b, k): (Matrices, i64), triangle: Triangle) -> Result<()> {
    let Triangle { upper, transposed, unit } = triangle;
    let panels = div_up(n, PANEL);
    let (of_a, of_b) = (if transposed { a.block().transposed() } else { a.block() }, b.block());
    for number in 0..panels {
        // An upper triangle is solved from the last equation on.
        let backwards = upper != transposed;
        let from = PANEL * if backwards { panels - 1 - number } else { number };
        let (width, end) = (PANEL.min(n - from), n.min(from + PANEL));
        let args = Args { a, b, k, from, width, upper: upper.into(), transposed: transposed.into(), unit: unit.into(), ..lists.args() };
        lists.run(&SOLVE_PANEL, k, &args)?;
        let (first, rows) = if backwards { (0, from) } else { (end, n - end) };
        let block = |row, col| of_a.from(lists.dtype, row, col);
        let at = |row| of_b.from(lists.dtype, row, 0);
        lists.multiply([rows, k, width], (1.0, at(first)), (-1.0, block(first, from), at(from)))?;
    }
    Ok(())
}
