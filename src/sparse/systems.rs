//! Systems of equations of sparse matrices.

use super::form::compressed;
use super::products::{Rows, rows};
use super::{Parts, with};
use crate::api::word::{FromWord, ToWord, Word};
use crate::error::{Result, bail};
use crate::expr::names;
use crate::ops::systems::Iteration;
use crate::tensor::Tensor;

/// Fails unless the matrix is square.
fn square(s: Parts) -> Result<Parts> {
    let s = compressed(s)?;
    if s.size[0] != s.size[1] {
        bail!(Shape, "sizes {:?}, expected a square matrix", s.size.as_slice())
    }
    Ok(s)
}

/// `r` = the X with `s X = b`.
pub fn solve(r: &Tensor, s: Parts, b: &Tensor) -> Result<()> {
    let s = square(s)?;
    with(b, |scope| {
        let Rows { crow, col, values } = rows(scope, &s)?;
        let args = [crow.into(), col.into(), values.into(), scope.value(b.clone()).into(), false.into()];
        scope.write(scope.value(r.clone()), &names::csrSolve::FUNCTION, &args);
        Ok(())
    })
}

/// `r` = the x with `s x = b` by conjugate gradients; see csrCg.
pub fn conjugate_gradients(
    [r, b]: [&Tensor; 2],
    residual: Option<&Tensor>,
    s: Parts,
    start: Option<&Tensor>,
    iteration: &Iteration,
) -> Result<i64> {
    let s = square(s)?;
    with(b, |scope| {
        let Rows { crow, col, values } = rows(scope, &s)?;
        let word = |t: Option<&Tensor>| t.map_or(Word::ZERO, |t| t.as_ptr().word());
        let [crow, col, values] = [crow, col, values].map(|value| word(value.tensor().as_ref()));
        let (function, context) = iteration.progress;
        let numbers = [iteration.tol.word(), iteration.most.word(), function.word(), context.word()];
        let tensors = [word(Some(r)), word(residual), crow, col, values, word(Some(b)), word(start)];
        let words: Vec<Word> = tensors.into_iter().chain(numbers).collect();
        scope.invoke(&names::csrCg::FUNCTION, &words).map(i64::from_word)
    })
}
