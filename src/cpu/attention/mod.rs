//! Attention by blocks of rows and columns, with a running maximum and sum of each row. Memory for weights is needed for one block of each
//! thread.
//!
//! M. Milakov, N. Gimelshein: Online normalizer calculation for softmax, 2018. T. Dao, D. Y. Fu, S. Ermon, A. Rudra, C. Re:
//! FlashAttention, 2022.
//!
//! [`forward`] divides the rows of all batch entries among threads, [`gradient`] the columns. The size of blocks and the order of sums
//! depend on shapes alone.

mod block;
mod forward;
mod gradient;

pub use forward::forward;
pub use gradient::gradient;

use super::matmul::Mat;
use super::parallel::Shared;
use crate::dtype::{Dtype, Element};
use crate::launch::Attention;
use crate::layout::{Dims, Layout};
use crate::operand::Operand;

/// An operand with the dimensions of the batch in front.
struct Side {
    first: Shared,
    dtype: Dtype,
    layout: Layout,
}

impl Side {
    fn of(t: &Operand) -> Side {
        Side { first: Shared(t.first()), dtype: t.dtype, layout: t.layout().clone() }
    }

    /// Returns the address of the first element of batch entry `b`.
    fn entry(&self, batch: &[i64], b: usize) -> *mut u8 {
        let (mut rest, mut offset) = (b as i64, 0);
        for d in (0..batch.len()).rev() {
            offset += rest % batch[d] * self.layout.strides[d];
            rest /= batch[d];
        }
        self.first.get().wrapping_offset(offset as isize * self.dtype.size() as isize)
    }

    /// Returns the matrix of batch entry `b`.
    fn matrix<T>(&self, batch: &[i64], b: usize) -> Mat<T> {
        let (shape, strides) = (&self.layout.shape[batch.len()..], &self.layout.strides[batch.len()..]);
        Mat {
            data: self.entry(batch, b).cast(),
            rows: shape[0] as usize,
            cols: shape[1] as usize,
            row_stride: strides[0] as isize,
            col_stride: strides[1] as isize,
        }
    }

    /// Returns the vector of batch entry `b` as a matrix of one column.
    fn vector<T>(&self, batch: &[i64], b: usize) -> Mat<T> {
        let (rows, row_stride) = (self.layout.shape[batch.len()] as usize, self.layout.strides[batch.len()] as isize);
        Mat { data: self.entry(batch, b).cast(), rows, cols: 1, row_stride, col_stride: 1 }
    }
}

/// The work and the sizes of its operands.
struct Problem {
    work: Attention,
    batch: Dims,
    /// The number of batch entries.
    entries: usize,
    l: usize,
    s: usize,
    e: usize,
    ev: usize,
}

impl Problem {
    fn new(work: Attention, [q, k, v]: [&Operand; 3]) -> Problem {
        let size = |t: &Operand, from_end: usize| t.layout().shape[t.layout().ndim() - from_end] as usize;
        let batch: Dims = q.layout().shape[..q.layout().ndim() - 2].into();
        // The product may overflow if the operands have no elements.
        let entries = batch.iter().fold(1, |n: usize, &size| n.saturating_mul(size as usize));
        Problem { work, batch, entries, l: size(q, 2), s: size(k, 2), e: size(q, 1), ev: size(v, 1) }
    }

    /// Returns the number of columns that a block of rows up to `end` can see.
    fn visible(&self, end: usize) -> usize {
        if self.work.causal { self.s.min(end) } else { self.s }
    }
}

/// Places of several arrays in one piece of memory.
struct Rooms<const N: usize> {
    offsets: [usize; N],
    bytes: usize,
}

impl<const N: usize> Rooms<N> {
    /// Returns places for arrays of these sizes in bytes. If the sum overflows, `bytes` is the greatest number.
    fn new(sizes: [usize; N]) -> Rooms<N> {
        const ALIGN: usize = 64;
        let mut bytes: usize = 0;
        let offsets = sizes.map(|size| {
            let offset = bytes;
            bytes = bytes.saturating_add(size.checked_next_multiple_of(ALIGN).unwrap_or(usize::MAX));
            offset
        });
        Rooms { offsets, bytes }
    }

    /// Returns the address of array `k`.
    fn at<T>(&self, start: *mut u8, k: usize) -> *mut T {
        start.wrapping_add(self.offsets[k]).cast()
    }
}

/// Returns the number of bytes of a matrix of these sizes.
fn bytes<T>(rows: usize, cols: usize) -> usize {
    rows.saturating_mul(cols).saturating_mul(size_of::<T>())
}

/// Elements between the rows of a block of `cols` columns. The distance is not a multiple of a page, so that rows do not compete for the
/// same sets of a cache.
fn pitch(cols: usize) -> usize {
    cols.next_multiple_of(16) + 16
}

/// Copies a matrix to rows that are `row` elements apart.
///
/// # Safety
/// `to` must have room for the rows and not overlap the matrix, whose elements must exist.
unsafe fn copy_rows<T: Element>(to: *mut T, row: usize, from: Mat<T>) -> Mat<T> {
    for i in 0..from.rows {
        let (to, from_row) = (to.wrapping_add(i * row), from.at(i, 0));
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if from.col_stride == 1 {
                to.copy_from_nonoverlapping(from_row, from.cols);
            } else {
                (0..from.cols).for_each(|j| to.add(j).write(from.at(i, j).read()));
            }
        }
    }
    Mat { data: to, row_stride: row as isize, col_stride: 1, ..from }
}
