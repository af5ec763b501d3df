//! LU with partial pivoting, and its applications.

use super::lists::{Args, DETERMINANT, EXCHANGE_ROWS, Exponents, Filling, LU_PANEL, Lists, Matrices, ORDER_ROWS, PANEL, Scaling};
use super::solve::{Triangle, solve};
use crate::error::Result;
use crate::launch::Determinant;

const LOWER: Triangle = Triangle { upper: false, transposed: false, unit: true };
const UPPER: Triangle = Triangle { upper: true, transposed: false, unit: false };

/// Factors m x n matrices in place, panel by panel. The pivots are the first integers.
pub fn factor(lists: &Lists<'_>, a: Matrices, m: i64, n: i64) -> Result<()> {
    let size = m.min(n);
    for from in (0..size).step_by(PANEL as usize) {
        let width = PANEL.min(size - from);
        let (end, args) = (from + width, Args { a, b: a, m, n: n - width, k: width, from, width, ..lists.args() });
        lists.run(&LU_PANEL, 1, &args)?;
        lists.run(&EXCHANGE_ROWS, n - width, &args)?;
        // Computes the rows of U, and updates the rest of the matrix.
        let corner = lists.part(a, from, from);
        solve(lists, corner, width, (lists.part(a, from, end), n - end), LOWER)?;
        let block = |row, col| lists.part(a, row, col).block();
        lists.multiply([m - end, n - end, width], (1.0, block(end, end)), (-1.0, block(end, from), block(from, end)))?;
    }
    lists.find_zero(a, size)
}

/// Like [`factor`], but scales matrices with very large or small elements by powers of 2.
fn factored(lists: &Lists<'_>, a: Matrices, m: i64, n: i64) -> Result<()> {
    let (_memory, exponents) = lists.exponents()?;
    lists.scale(a, m * n, Scaling::Headroom, exponents)?;
    factor(lists, a, m, n)?;
    lists.rescale_upper(a, [m, n], exponents, -1)
}

/// Computes packed factors.
pub fn getrf(lists: &Lists<'_>, m: i64, n: i64) -> Result<()> {
    factored(lists, lists.matrices(0, m), m, n)
}

/// Computes the three factors as matrices.
pub fn factors(lists: &Lists<'_>, m: i64, n: i64) -> Result<()> {
    let size = m.min(n);
    let (a, p, l, u) = (lists.matrices(0, m), lists.matrices(1, m), lists.matrices(2, m), lists.matrices(3, size));
    factored(lists, a, m, n)?;
    lists.fill(Filling::CopyLower, l, a, [m, size])?;
    lists.fill(Filling::CopyUpper, u, a, [size, n])?;
    // Factors exist even if U has zeros on its diagonal.
    lists.clear_infos()?;
    if p.size == 0 {
        return Ok(());
    }
    let args = Args { a: p, m, n: m, from: size, mode: Filling::Permutation as i32, ..lists.args() };
    lists.run(&ORDER_ROWS, 1, &args)?;
    lists.fill_with(m, &args)
}

/// Permutes the rows of right-hand sides, and solves with packed factors.
pub fn substitute(lists: &Lists<'_>, lu: Matrices, n: i64, (b, k): (Matrices, i64)) -> Result<()> {
    lists.run(&EXCHANGE_ROWS, k, &Args { b, n: k, width: n, ..lists.args() })?;
    solve(lists, lu, n, (b, k), LOWER)?;
    solve(lists, lu, n, (b, k), UPPER)
}

/// Solves equations with given packed factors.
pub fn getrs(lists: &Lists<'_>, n: i64, k: i64) -> Result<()> {
    substitute(lists, lists.matrices(0, n), n, (lists.matrices(1, n), k))
}

/// Computes packed factors, and solves equations.
pub fn gesv(lists: &Lists<'_>, n: i64, k: i64) -> Result<()> {
    let (lu, x) = (lists.matrices(0, n), lists.matrices(1, n));
    let (_memory, exponents) = lists.exponents()?;
    lists.scale(lu, n * n, Scaling::Headroom, exponents)?;
    factor(lists, lu, n, n)?;
    lists.scale_columns(x, n, k, n)?;
    substitute(lists, lu, n, (x, k))?;
    lists.rescale_solutions(x, [n, k], exponents, n)?;
    lists.rescale_upper(lu, [n, n], exponents, -1)
}

/// Computes inverses; zeros for singular matrices.
pub fn getri(lists: &Lists<'_>, n: i64) -> Result<()> {
    let (lu, inverse) = (lists.matrices(0, n), lists.matrices(1, n));
    let (_memory, exponents) = lists.exponents()?;
    lists.scale(lu, n * n, Scaling::Headroom, exponents)?;
    factor(lists, lu, n, n)?;
    lists.fill(Filling::Identity, inverse, inverse, [n, n])?;
    substitute(lists, lu, n, (inverse, n))?;
    lists.rescale(inverse, [n, n], exponents, 1)?;
    lists.fill(Filling::ClearFailed, inverse, inverse, [n, n])
}

/// Computes the determinant of each matrix as two numbers.
pub fn det(lists: &Lists<'_>, n: i64, form: Determinant) -> Result<()> {
    let (a, numbers) = (lists.matrices(0, n), lists.matrices(1, 2));
    let exponents: Exponents = lists.exponents_at(n);
    lists.scale(a, n * n, Scaling::Headroom, exponents)?;
    factor(lists, a, n, n)?;
    lists.clear_infos()?;
    let args = Args { a, b: numbers, n, exponents: exponents.at, exponent_step: exponents.step, mode: form as i32, ..lists.args() };
    lists.run(&DETERMINANT, 1, &args)
}
