//! The work on each matrix of a batch, divided among the threads of the pool.

use super::multiply::product;
use crate::alloc::fork;
use crate::cpu::parallel::Shared;
use crate::cpu::pool;
use crate::cpu::scratch::ThreadScratch;
use crate::cpu::tuning::DECOMPOSED_WORK;
use crate::error::{Result, bail};
use std::mem::MaybeUninit;
use std::slice::from_raw_parts_mut;
use thorn_lapack::{Info, Lapack, Products, Scratch, provide};

/// The work on all matrices of a batch.
pub(super) struct Job<'a, T, const N: usize> {
    /// The number of matrices.
    pub count: usize,
    /// The approximate number of operations for one matrix.
    pub cost: usize,
    /// Bytes of scratch memory that one matrix needs.
    pub scratch: usize,
    /// The lists of elements. An equal part of each list belongs to each matrix.
    pub blocks: [&'a mut [T]; N],
    /// The pivots, divided like the elements.
    pub pivots: &'a mut [i32],
    /// The `info` of each matrix.
    pub infos: &'a mut [Info],
}

/// The work on one matrix, given its part of each list, its pivots, and scratch memory.
pub(super) type One<'a, T, const N: usize> = &'a (dyn Fn([&mut [T]; N], &mut [i32], Scratch<'_>) -> Info + Sync);

impl<T: Lapack, const N: usize> Job<'_, T, N> {
    /// Calls `one` for each matrix.
    pub(super) fn run(mut self, one: One<'_, T, N>) -> Result<()> {
        fork::within(|| provide(Products { f32: product::<f32>, f64: product::<f64> }));
        assert_eq!(self.infos.len(), self.count, "an info for each matrix");
        if self.count == 0 {
            return Ok(());
        }
        let parts = match self.count.saturating_mul(self.cost) / DECOMPOSED_WORK {
            0 | 1 => 1,
            grains => grains.min(self.count).min(if pool::num_threads() > 1 { 4 * pool::num_threads() } else { 1 }),
        };
        let count = self.count;
        let Some(memory) = ThreadScratch::new(self.scratch, parts) else {
            bail!(NoMem, "out of memory for {} bytes on the way, for each thread", self.scratch)
        };
        let sizes = self.blocks.each_ref().map(|block| block.len() / count);
        let blocks = self.blocks.each_mut().map(|block| Shared(block.as_mut_ptr().cast()));
        let pivots = (Shared(self.pivots.as_mut_ptr().cast()), self.pivots.len() / count);
        let (infos, bytes) = (Shared(self.infos.as_mut_ptr().cast()), self.scratch);
        memory.each::<MaybeUninit<u8>>(parts, &|part, tile| {
            // SAFETY: the tile has this many bytes and belongs to this thread.
            let scratch = unsafe { from_raw_parts_mut(tile, bytes) };
            for i in count * part / parts..count * (part + 1) / parts {
                // SAFETY: matrix i belongs to one part, and its elements are in the lists, which are borrowed exclusively.
                unsafe {
                    let blocks = std::array::from_fn(|k| from_raw_parts_mut(blocks[k].get().cast::<T>().add(i * sizes[k]), sizes[k]));
                    let pivots = from_raw_parts_mut(pivots.0.get().cast::<i32>().add(i * pivots.1), pivots.1);
                    *infos.get().cast::<Info>().add(i) = one(blocks, pivots, scratch);
                }
            }
        });
        Ok(())
    }
}
