//! Linear systems with sparse matrices, in float64.
//!
//! faer computes Cholesky factors, and column orders that keep factors sparse. LU is implemented here. faer's LU ends the process if memory
//! runs out, and has no column order for nearly symmetric patterns; such an order halves the factors.

mod cholesky;
mod columns;
mod condition;
mod dense;
mod lu;
mod order;

use crate::float::{headroom, rescale};
pub use columns::Rows;
use std::collections::TryReserveError;

/// The reason why a system was not solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Failure {
    /// Memory ran out.
    Memory,
    /// The matrix has 2^32 rows or more.
    Large,
    /// An entry is infinite or NaN.
    NotFinite,
    /// This column depends on others. In a transposed system it is a row.
    Singular(usize),
    /// The reciprocal condition number is this, so small that no digit of a solution is certain.
    Condition(f64),
}

impl From<TryReserveError> for Failure {
    fn from(_: TryReserveError) -> Failure {
        Failure::Memory
    }
}

/// An empty list with room for `n` elements.
fn room<T>(n: usize) -> Result<Vec<T>, Failure> {
    let mut list = Vec::new();
    list.try_reserve_exact(n)?;
    Ok(list)
}

/// A list of `n` copies of `x`.
fn filled<T: Clone>(n: usize, x: T) -> Result<Vec<T>, Failure> {
    let mut list = room(n)?;
    list.resize(n, x);
    Ok(list)
}

/// A copy of a slice.
fn copied<T: Copy>(from: &[T]) -> Result<Vec<T>, Failure> {
    let mut list = room(from.len())?;
    list.extend_from_slice(from);
    Ok(list)
}

/// `B = inverse(A) B`, or `inverse(A') B` with `transpose`, for a square matrix A of compressed rows and the columns of B, n x k. Uses
/// Cholesky if A is symmetric and positive definite, else LU with partial pivoting. Entries of a row may be in any order. Several entries
/// of one position are added up.
pub fn solve(a: Rows<'_>, transpose: bool, b: &mut [f64], k: usize) -> Result<(), Failure> {
    let n = a.starts.len() - 1;
    if n == 0 {
        return Ok(());
    }
    if u32::try_from(n).is_err() {
        return Err(Failure::Large);
    }
    let mut columns = a.transposed()?;
    columns.merge();
    if !columns.values.iter().all(|x| x.is_finite()) {
        return Err(Failure::NotFinite);
    }
    let exponent = headroom(&mut columns.values);
    let rows = columns.as_rows().transposed()?;
    let mut exponents = filled(k, 0)?;
    b.chunks_exact_mut(n).zip(&mut exponents).for_each(|(column, of_b)| *of_b = headroom(column));
    let may_be_definite = columns.has_positive_diagonal() && columns == rows;
    if !(may_be_definite && cholesky::solve(&columns, b, k)?) {
        let [of, other] = if transpose { [&rows, &columns] } else { [&columns, &rows] };
        let factors = lu::Factors::of(of, &order::Order::of(of, other)?)?;
        condition::check(of, |probes, k| factors.solve(probes, k))?;
        factors.solve(b, k)?;
    }
    b.chunks_exact_mut(n).zip(exponents).for_each(|(column, of_b)| rescale(column, exponent - of_b));
    Ok(())
}
