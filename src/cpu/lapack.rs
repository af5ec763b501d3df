//! Matrices of a batch, decomposed by the threads of the pool: each thread takes whole ones. A single one is shared where it multiplies.

use super::matmul::{Gemm, Mat, gemm};
use super::parallel::Shared;
use super::pool;
use super::room::Room;
use crate::dtype::Element;
use crate::error::{Result, bail};
use std::mem::MaybeUninit;
use std::slice::from_raw_parts_mut;
pub use thorn_lapack::vendor;
pub use thorn_lapack::{Info, Lapack, NOT_FINITE, Scratch, Vectors};
use thorn_lapack::{Matrix, Products, provide};

/// Operations, multiplications say, that a thread must have to be worth waking.
const WORTH: usize = 32 * 1024;

/// What is done to each matrix of a batch.
pub struct Job<'a, T, const N: usize> {
    /// How many matrices there are.
    pub count: usize,
    /// Operations that one takes, by and large.
    pub cost: usize,
    /// Bytes of scratch memory that one needs.
    pub scratch: usize,
    /// Elements: an equal part of each list belongs to each matrix.
    pub blocks: [&'a mut [T]; N],
    /// Pivots, likewise.
    pub pivots: &'a mut [i32],
    /// What became of each.
    pub infos: &'a mut [Info],
}

/// What is done to one matrix: with its part of each list, its pivots, and scratch memory.
pub type One<'a, T, const N: usize> = &'a (dyn Fn([&mut [T]; N], &mut [i32], Scratch<'_>) -> Info + Sync);

impl<T: Lapack, const N: usize> Job<'_, T, N> {
    /// Does `one` to each matrix.
    pub fn run(mut self, one: One<'_, T, N>) -> Result<()> {
        provide(Products { f32: product::<f32>, f64: product::<f64> });
        assert_eq!(self.infos.len(), self.count, "an info for each matrix");
        if self.count == 0 {
            return Ok(());
        }
        let parts = match self.count.saturating_mul(self.cost) / WORTH {
            0 | 1 => 1,
            worth => worth.min(self.count).min(if pool::num_threads() > 1 { 4 * pool::num_threads() } else { 1 }),
        };
        let count = self.count;
        let Some(room) = Room::new(self.scratch, parts) else {
            bail!(NoMem, "out of memory for {} bytes on the way, for each thread", self.scratch)
        };
        let sizes = self.blocks.each_ref().map(|block| block.len() / count);
        let blocks = self.blocks.each_mut().map(|block| Shared(block.as_mut_ptr().cast()));
        let pivots = (Shared(self.pivots.as_mut_ptr().cast()), self.pivots.len() / count);
        let (infos, bytes) = (Shared(self.infos.as_mut_ptr().cast()), self.scratch);
        room.each::<MaybeUninit<u8>>(parts, &|part, tile| {
            // SAFETY: the thread's own, for as many bytes.
            let scratch = unsafe { from_raw_parts_mut(tile, bytes) };
            for i in count * part / parts..count * (part + 1) / parts {
                // SAFETY: matrix i belongs to one part, and its elements lie in the lists, which nobody else has.
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

/// The products that decompositions are made of.
unsafe fn product<T: Gemm>(beta: T, c: Matrix<T>, alpha: T, a: Matrix<T>, b: Matrix<T>) {
    let mat = |m: Matrix<T>| Mat { data: m.data, rows: m.rows, cols: m.cols, row_stride: m.row_stride, col_stride: m.col_stride };
    // SAFETY: the caller's.
    unsafe { gemm(beta, mat(c), alpha, mat(a), mat(b)) }
}

/// A product of matrices that lie column after column.
pub struct Multiply {
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// What is summed over.
    pub k: usize,
    /// Which of the two is transposed: the first is k x m then, the second n x k.
    pub transposed: [bool; 2],
}

impl Multiply {
    /// `c = a b`, m x n.
    pub fn run<T: Gemm + Element>(&self, c: &mut [T], a: &[T], b: &[T]) {
        let &Multiply { m, n, k, transposed } = self;
        assert!(c.len() >= m * n && a.len() >= m * k && b.len() >= k * n, "the matrices are there");
        let mat = |data: *const T, rows: usize, cols: usize, transposed: bool| {
            let (row_stride, col_stride) = if transposed { (cols as isize, 1) } else { (1, rows as isize) };
            Mat { data: data.cast_mut(), rows, cols, row_stride, col_stride }
        };
        let (zero, one) = (T::from_f64(0.0), T::from_f64(1.0));
        // SAFETY: the slices hold the matrices, and the first is nobody else's.
        unsafe {
            gemm(zero, mat(c.as_mut_ptr(), m, n, false), one, mat(a.as_ptr(), m, k, transposed[0]), mat(b.as_ptr(), k, n, transposed[1]))
        }
    }
}
