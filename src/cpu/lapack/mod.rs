//! Matrices of a batch, decomposed by the threads of the pool: each thread takes whole ones. A single one is shared where it multiplies.

mod determinant;
mod exponential;
mod factors;
mod lists;
mod lu;
mod scale;
mod solve;
mod values;

use super::matmul::{Gemm, Mat, gemm};
use super::parallel::Shared;
use super::pool;
use super::scratch::ThreadScratch;
use crate::dtype::{Element, dispatch};
use crate::error::{Result, bail};
use crate::launch::{self, Decompose, Decomposition};
use crate::operand::Operand;
use lists::{Float, Lists, cube};
use std::mem::MaybeUninit;
use std::slice::from_raw_parts_mut;
use thorn_lapack::{Info, Lapack, Matrix, NOT_FINITE, Products, Scratch, Vectors, provide};

const _: () = assert!(launch::NOT_FINITE == NOT_FINITE, "one number on both sides");

/// Operations, multiplications say, that a thread must have to be worth waking.
const GRAIN: usize = 32 * 1024;

/// Decomposes the matrices whose lists are `out`.
pub fn launch(work: &Decompose, out: &[Option<&Operand>]) -> Result<()> {
    let [blocks @ .., integers, Some(infos)] = out else {
        unreachable!("lists of elements, of integers, and of what became of each matrix")
    };
    let lists = Lists { count: work.count, blocks, integers: *integers, infos };
    dispatch!(float, lists.block(0).dtype, T => decompose::<T>(work.what, &lists))
}

fn decompose<T: Float>(what: Decomposition, lists: &Lists<'_>) -> Result<()> {
    match what {
        Decomposition::Getrf { m, n } => lu::getrf::<T>(lists, m, n),
        Decomposition::Lu { m, n } => lu::lu::<T>(lists, m, n),
        Decomposition::Getri { n } => lu::getri::<T>(lists, n),
        Decomposition::Det { n, form } => determinant::det::<T>(lists, n, form),
        Decomposition::Potrf { n } => lists.each::<T, 1>(cube(n, n) / 2, T::potrf_bytes(n), &|[a], _, scratch| T::potrf(a, n, scratch)),
        Decomposition::Potri { n } => {
            lists.each::<T, 2>(cube(n, n), T::potri_bytes(n), &|[l, inverse], _, scratch| T::potri(inverse, l, n, scratch))
        }
        Decomposition::Pstrf { n, tol } => factors::pstrf::<T>(lists, n, tol),
        Decomposition::Gesv { n, k } => solve::gesv::<T>(lists, n, k),
        Decomposition::Getrs { n, k } => lists.each::<T, 2>(cube(n, k), 0, &|[lu, x], pivots, _| {
            T::getrs(lu, n, pivots, x, k);
            0
        }),
        Decomposition::Trtrs { n, k, upper, transposed, unit } => {
            lists.each::<T, 2>(cube(n, k), 0, &|[a, x], _, _| T::trtrs(a, n, x, k, upper, transposed, unit))
        }
        Decomposition::Potrs { n, k } => lists.each::<T, 2>(cube(n, k), 0, &|[l, x], _, _| T::potrs(l, n, x, k)),
        Decomposition::Gels { m, n, k } => solve::gels::<T>(lists, m, n, k),
        Decomposition::Gelsd { m, n, k, rcond } => solve::gelsd::<T>(lists, [m, n, k], rcond),
        Decomposition::Qr { m, n, side, columns } => factors::qr::<T>(lists, [m, n], side, columns),
        Decomposition::Geqrf { m, n } => factors::geqrf::<T>(lists, m, n),
        Decomposition::Orgqr { m, n, k } => factors::orgqr::<T>(lists, m, n, k),
        Decomposition::Ormqr { m, n, k, left, transposed } => factors::ormqr::<T>(lists, [m, n, k], left, transposed),
        Decomposition::Syev { n, vectors } => values::syev::<T>(lists, n, vectors),
        Decomposition::Geev { n, vectors } => values::geev::<T>(lists, n, vectors),
        Decomposition::Gesvd { m, n, vectors } => {
            let vectors = match vectors {
                launch::Vectors::No => Vectors::No,
                launch::Vectors::Some => Vectors::Some,
                launch::Vectors::All => Vectors::All,
            };
            values::gesvd::<T>(lists, m, n, vectors)
        }
        Decomposition::Rank { m, n, tol } => values::rank::<T>(lists, m, n, tol),
        Decomposition::Pinverse { m, n, rcond } => values::pinverse::<T>(lists, m, n, rcond),
        Decomposition::Lascl { size } => lists.each::<T, 1>(size, 0, &|[a], exponent, _| {
            exponent[0] = T::lascl(a);
            0
        }),
        Decomposition::Exponential { n } => exponential::exponentials::<T>(lists, n),
    }
}

/// The work on all matrices of a batch.
struct Job<'a, T, const N: usize> {
    /// Number of matrices.
    count: usize,
    /// Operations that one matrix takes, by and large.
    cost: usize,
    /// Bytes of scratch memory that one matrix needs.
    scratch: usize,
    /// Elements: an equal part of each list belongs to each matrix.
    blocks: [&'a mut [T]; N],
    /// Pivots, likewise.
    pivots: &'a mut [i32],
    /// The `info` of each matrix.
    infos: &'a mut [Info],
}

/// The work on one matrix: with its part of each list, its pivots, and scratch memory.
type One<'a, T, const N: usize> = &'a (dyn Fn([&mut [T]; N], &mut [i32], Scratch<'_>) -> Info + Sync);

impl<T: Lapack, const N: usize> Job<'_, T, N> {
    /// Does `one` to each matrix.
    fn run(mut self, one: One<'_, T, N>) -> Result<()> {
        provide(Products { f32: product::<f32>, f64: product::<f64> });
        assert_eq!(self.infos.len(), self.count, "an info for each matrix");
        if self.count == 0 {
            return Ok(());
        }
        let parts = match self.count.saturating_mul(self.cost) / GRAIN {
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
struct Multiply {
    /// Rows of the result.
    m: usize,
    /// Columns of the result.
    n: usize,
    /// Products that are summed for each element of the result.
    k: usize,
    /// True for each factor that is transposed: the first is k x m then, the second n x k.
    transposed: [bool; 2],
}

impl Multiply {
    /// `c = a b`, m x n.
    fn run<T: Gemm + Element>(&self, c: &mut [T], a: &[T], b: &[T]) {
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
