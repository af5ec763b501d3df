//! An estimate of the condition number of a sparse matrix.

use super::columns::Columns;
use super::{Failure, filled};

/// Random vectors that the inverse is multiplied by.
const PROBES: usize = 3;
/// Matrices whose reciprocal condition number is below this count as singular: no digit of a solution is certain.
const SINGULAR: f64 = 8.0 * f64::EPSILON;

/// Steps that bring rows and columns to a greatest element of 1; each takes the root of what is left of a factor.
const STEPS: usize = 10;

/// Fails if A is singular to the precision of float64, for a function that computes `B = inverse(A) B` for the columns of B, n x k.
///
/// The condition number is the greatest element of `|inverse(A)| |A| w / w`: how far relative changes of the elements of A change a
/// solution w. The units of rows do not count in it. Nor do those of columns, since w is in these units: the factors of columns that bring
/// all rows and columns to the same size. Random changes find the number to within a small factor.
pub fn check(a: &Columns, solve: impl FnOnce(&mut [f64], usize) -> Result<(), Failure>) -> Result<(), Failure> {
    let n = a.n();
    let (mut rows, mut most, mut w, mut probes) = (filled(n, 1.0f64)?, filled(n, 0.0f64)?, filled(n, 1.0f64)?, filled(n * PROBES, 0.0)?);
    let divide = |x: &mut f64, most: f64| *x /= if most > 0.0 { most.sqrt() } else { 1.0 };
    for _ in 0..STEPS {
        most.fill(0.0);
        for (j, w) in w.iter_mut().enumerate() {
            let column = a.column(j).fold(0.0, |greatest: f64, (i, x)| {
                let size = x.abs() * rows[i] * *w;
                most[i] = most[i].max(size);
                greatest.max(size)
            });
            divide(w, column);
        }
        rows.iter_mut().zip(&most).for_each(|(row, &most)| divide(row, most));
    }
    let sums = &mut most;
    sums.fill(0.0);
    for (j, w) in w.iter().enumerate() {
        a.column(j).for_each(|(i, x)| sums[i] += x.abs() * w);
    }
    let mut state = 1u64;
    for (k, probe) in probes.iter_mut().enumerate() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *probe = sums[k % n] * (state as i64 as f64 / i64::MAX as f64);
    }
    solve(&mut probes, PROBES)?;
    let sizes = probes.iter().enumerate().map(|(k, y)| if y.is_nan() { f64::INFINITY } else { (y / w[k % n]).abs() });
    let rcond = sizes.fold(0.0, f64::max).recip();
    if rcond < SINGULAR { Err(Failure::Condition(rcond)) } else { Ok(()) }
}
