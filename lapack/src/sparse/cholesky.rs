//! Sparse Cholesky decomposition, by faer.

use super::columns::Columns;
use super::{Failure, condition, filled};
use crate::float::{stack, view_mut};
use dyn_stack::StackReq;
use faer::sparse::linalg::cholesky::{SymmetricOrdering, factorize_symbolic_cholesky};
use faer::sparse::{FaerError, SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, Par, Side};
use std::mem::MaybeUninit;

impl From<FaerError> for Failure {
    fn from(_: FaerError) -> Failure {
        // Indices are as wide as addresses. Therefore an index can only overflow if the memory is too small.
        Failure::Memory
    }
}

/// The pattern of a matrix in faer's form.
pub fn pattern(a: &Columns) -> SymbolicSparseColMatRef<'_, usize> {
    // SAFETY: starts ascend from 0 to the number of entries. The rows in each column ascend and are less than the number of rows.
    unsafe { SymbolicSparseColMatRef::new_unchecked(a.n(), a.n(), &a.starts, None, &a.rows) }
}

/// Allocates scratch memory.
pub fn scratch(required: StackReq) -> Result<Vec<MaybeUninit<u8>>, Failure> {
    filled(required.unaligned_bytes_required(), MaybeUninit::uninit())
}

/// `B = inverse(A) B` for a symmetric matrix A and the columns of B, n x k. Returns false and leaves B unchanged if A is not positive
/// definite.
pub fn solve(a: &Columns, b: &mut [f64], k: usize) -> Result<bool, Failure> {
    let pattern = pattern(a);
    let symbolic = factorize_symbolic_cholesky(pattern, Side::Lower, SymmetricOrdering::Amd, Default::default())?;
    let mut values = filled(symbolic.len_val(), 0.0)?;
    let mut memory = scratch(symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()))?;
    let (matrix, regularization) = (SparseColMatRef::new(pattern, &a.values[..]), Default::default());
    let (memory, params) = (stack(&mut memory), Default::default());
    let factors = symbolic.factorize_numeric_llt(&mut values, matrix, Side::Lower, regularization, Par::Seq, memory, params);
    let Ok(factors) = factors else { return Ok(false) };
    let solve = |b: &mut [f64], k: usize| {
        let mut memory = scratch(symbolic.solve_in_place_scratch::<f64>(k, Par::Seq))?;
        factors.solve_in_place_with_conj(Conj::No, view_mut(b, a.n(), k), Par::Seq, stack(&mut memory));
        Ok(())
    };
    condition::check(a, solve)?;
    solve(b, k)?;
    Ok(true)
}
