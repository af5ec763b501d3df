//! The lists of a batch of matrices. Each matrix is decomposed by a function that gets its part of every list.

use super::batch::{Job, One};
use crate::cpu::matmul::Gemm;
use crate::cpu::real::Real;
use crate::error::Result;
use crate::operand::Operand;
use std::array::from_fn;
use std::slice::from_raw_parts_mut;
use thorn_lapack::Lapack;

/// The float types of matrices.
pub trait Float: Lapack + Real + Gemm {}

impl<T: Lapack + Real + Gemm> Float for T {}

/// The lists of a batch, row-major and not overlapping.
pub struct Lists<'a> {
    /// The number of matrices.
    pub count: usize,
    /// The lists of elements.
    pub blocks: &'a [Option<&'a Operand>],
    /// Pivots, exponents and ranks.
    pub integers: Option<&'a Operand>,
    /// An `info` for each matrix.
    pub infos: &'a Operand,
}

impl Lists<'_> {
    /// Returns list `k` of elements.
    pub fn block(&self, k: usize) -> &Operand {
        match self.blocks[k] {
            Some(block) => block,
            None => unreachable!("decompositions do without none of their lists"),
        }
    }

    /// Calls `one` for each matrix. `one` needs `cost` operations and `scratch` bytes of scratch memory.
    pub fn each<T: Float, const N: usize>(&self, cost: usize, scratch: usize, one: One<'_, T, N>) -> Result<()> {
        assert_eq!(self.blocks.len(), N, "the lists of the decomposition");
        // SAFETY: lists do not overlap, and no other thread accesses them.
        let (blocks, pivots, infos) = unsafe {
            let pivots: &mut [i32] = self.integers.map_or(&mut [], |integers| elements(integers));
            (from_fn(|k| elements(self.block(k))), pivots, elements(self.infos))
        };
        Job { count: self.count, cost, scratch, blocks, pivots, infos }.run(one)
    }
}

/// Returns the elements of a row-major operand of `T`.
///
/// # Safety
/// No other thread may access the elements while the slice is used, and the operand must live as long as the slice.
pub unsafe fn elements<'a, T>(operand: &Operand) -> &'a mut [T] {
    assert_eq!(operand.dtype.size(), size_of::<T>(), "elements of this type");
    let n = operand.layout().numel() as usize;
    // SAFETY: the operand is row-major, of `T`, and inside its storage, which it keeps alive; the caller keeps this function's contract.
    if n == 0 { &mut [] } else { unsafe { from_raw_parts_mut(operand.first().cast(), n) } }
}

/// Returns the number of operations for decomposing an m x n matrix.
pub fn cube(m: usize, n: usize) -> usize {
    m.saturating_mul(n).saturating_mul(m.min(n))
}
