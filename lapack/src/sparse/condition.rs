//! An estimate of the condition number of a sparse matrix.

use super::columns::Columns;
use super::{Failure, filled};

/// The number of random vectors that are multiplied by the inverse.
const PROBES: usize = 3;
/// Matrices with a smaller reciprocal condition number count as singular, because no digit of a solution is certain.
const SINGULAR: f64 = 8.0 * f64::EPSILON;

/// The number of scaling steps that bring the greatest element of each row and column near 1. Each step takes the root of the remaining
/// factor.
const STEPS: usize = 10;

/// Fails if A is singular to the precision of float64. `solve` computes `B = inverse(A) B` for the columns of B, n x k.
///
/// The condition number is the greatest element of `|inverse(A)| |A| w / w`: the effect of relative changes of A's elements on a solution
/// w. It does not depend on the units of rows. It does not depend on the units of columns either, because w has these units: w are the
/// factors of columns that bring all rows and columns to the same size. Random right-hand sides estimate the number within a small factor.
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
