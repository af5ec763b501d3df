//! The lists of a batch of matrices, and the decomposition of each by a function of its part of every list.

use super::batch::{Job, One};
use crate::cpu::matmul::Gemm;
use crate::cpu::real::Real;
use crate::error::Result;
use crate::operand::Operand;
use std::array::from_fn;
use std::slice::from_raw_parts_mut;
use thorn_lapack::Lapack;

/// The floats of matrices.
pub trait Float: Lapack + Real + Gemm {}

impl<T: Lapack + Real + Gemm> Float for T {}

/// The lists of a batch, row-major and apart from each other.
pub struct Lists<'a> {
    /// Number of matrices.
    pub count: usize,
    /// Elements.
    pub blocks: &'a [Option<&'a Operand>],
    /// Pivots, exponents and ranks.
    pub integers: Option<&'a Operand>,
    /// An `info` for each matrix.
    pub infos: &'a Operand,
}

impl Lists<'_> {
    /// List `k` of elements.
    pub fn block(&self, k: usize) -> &Operand {
        match self.blocks[k] {
            Some(block) => block,
            None => unreachable!("decompositions do without none of their lists"),
        }
    }

    /// Does `one`, which takes `cost` operations and bytes of `scratch` memory, to each matrix.
    pub fn each<T: Float, const N: usize>(&self, cost: usize, scratch: usize, one: One<'_, T, N>) -> Result<()> {
        assert_eq!(self.blocks.len(), N, "the lists of the decomposition");
        // SAFETY: lists lie apart, and nobody else touches them.
        let (blocks, pivots, infos) = unsafe {
            let pivots: &mut [i32] = self.integers.map_or(&mut [], |integers| elements(integers));
            (from_fn(|k| elements(self.block(k))), pivots, elements(self.infos))
        };
        Job { count: self.count, cost, scratch, blocks, pivots, infos }.run(one)
    }
}

/// The elements of a row-major operand of `T`.
///
/// # Safety
/// Nobody else may touch them as long as the slice is used, and the operand has to live as long.
pub unsafe fn elements<'a, T>(operand: &Operand) -> &'a mut [T] {
    assert_eq!(operand.dtype.size(), size_of::<T>(), "elements of this type");
    let n = operand.layout.numel() as usize;
    // SAFETY: row-major, of `T`, and inside its storage, which the operand holds; the rest is the caller's.
    if n == 0 { &mut [] } else { unsafe { from_raw_parts_mut(operand.first().cast(), n) } }
}

/// Operations that decomposing an m x n matrix takes.
pub fn cube(m: usize, n: usize) -> usize {
    m.saturating_mul(n).saturating_mul(m.min(n))
}
