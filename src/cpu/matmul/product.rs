//! Divides a product into parts for threads, and parts into blocks and strips that fit the caches.
//!
//! A part of C is computed in steps of [`PRODUCT_DEPTH`] columns of A. In each step the block of A stays in the L2 cache, while strips of
//! B, as wide as the kernel, pass through the L1 cache. A strip is packed if that pays, or if its rows are not contiguous. So is the block
//! of A, if there is memory for it.

use super::kernel::{Merge, Packing, ProductKernel, Strip};
use super::mat::Mat;
use super::number::Number;
use crate::alloc;
use crate::cpu::pool::{self, Shares};
use crate::cpu::stream;
use crate::cpu::transpose;
use crate::cpu::tuning::{
    PRODUCT_AHEAD, PRODUCT_COLS, PRODUCT_CUT_ROWS, PRODUCT_DEPTH, PRODUCT_ROWS, PRODUCT_SHALLOW, PRODUCT_SPARE_WORK, PRODUCT_WORK,
};
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// Bytes in three of the widest vectors: the longest row of a strip.
const WIDTH: usize = 192;
/// Rows computed at a time if C cannot hold the rows of a strip: whole tiles of either height.
const CHUNK: usize = 56;
/// Rows that are a multiple of this many bytes apart compete for the same sets of a cache.
const ALIAS: isize = 4096;
/// Bytes between the rows of a packed block of A, so that rows do not compete.
const PAD: usize = 64;

#[repr(align(64))]
struct Aligned<const N: usize>([MaybeUninit<u8>; N]);

impl<const N: usize> Aligned<N> {
    #[inline(always)]
    fn new() -> Aligned<N> {
        Aligned([MaybeUninit::uninit(); N])
    }
}

/// `c = beta * c + alpha * a @ b`, where no dimension has size 0.
#[derive(Clone, Copy)]
pub(super) struct Product<T> {
    pub kernel: ProductKernel<T>,
    pub beta: T,
    pub c: Mat<T>,
    pub alpha: T,
    pub a: Mat<T>,
    pub b: Mat<T>,
}

// SAFETY: by the contract of `run`, threads write different parts of C, and only read A and B.
unsafe impl<T: Sync> Sync for Product<T> {}

impl<T: Number> Product<T> {
    /// Computes the product, on several threads if that is faster.
    ///
    /// # Safety
    /// As for [`super::gemm`].
    pub unsafe fn run(&self) {
        let work = self.c.rows.saturating_mul(self.c.cols).saturating_mul(self.a.cols);
        // SAFETY: the caller keeps this function's contract.
        unsafe { if work >= 2 * PRODUCT_WORK { self.parts(work, pool::num_threads()) } else { self.run_here() } }
    }

    /// Computes the product on the calling thread, without packing A.
    ///
    /// # Safety
    /// As for [`super::gemm`].
    pub unsafe fn run_here(&self) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { if self.a.cols <= PRODUCT_DEPTH { self.strips() } else { self.part(None) } }
    }

    /// Computes the product in parts for this number of threads.
    ///
    /// # Safety
    /// As for [`super::gemm`].
    pub unsafe fn parts(&self, work: usize, threads: usize) {
        let parts = Parts::new(self.c.rows, self.c.cols, &self.kernel, work, threads);
        let slots = threads.min(parts.count());
        let block = if self.packs_a(&parts) { parts.rows * (PRODUCT_DEPTH * size_of::<T>() + PAD) } else { 0 };
        // The memory is allocated on the calling thread, because the hook of the soft limit may run, which must not happen on a thread of
        // the pool.
        let memory = Memory::new(block.saturating_mul(slots));
        let shares = Shares::of(parts.count(), slots);
        let task = |slot: usize| {
            shares.each(slot, |part| {
                let Some((row, rows, col, cols)) = parts.get(part) else { return };
                let (a, b) = (self.a.block(row, rows, 0, self.a.cols), self.b.block(0, self.b.rows, col, cols));
                let packed = memory.as_ref().map(|memory| memory.at(slot * block));
                // SAFETY: the caller keeps this function's contract; parts are distinct, and so are slots.
                unsafe { Product { c: self.c.block(row, rows, col, cols), a, b, ..*self }.part(packed) };
            });
        };
        if slots > 1 { pool::run(slots, &task) } else { task(0) }
    }

    /// Returns true if A is packed, block by block: if its rows are not contiguous or evict each other from the cache, and the block serves
    /// enough columns of C.
    fn packs_a(&self, parts: &Parts) -> bool {
        let least = if self.a.col_stride != 1 {
            64
        } else if self.a.row_stride.wrapping_mul(size_of::<T>() as isize) % ALIAS == 0 {
            128
        } else {
            return false;
        };
        parts.cols >= least && parts.rows > CHUNK && self.a.cols > PRODUCT_SHALLOW
    }

    /// Returns true if B is packed, strip by strip.
    fn packs_b(&self) -> bool {
        self.b.col_stride != 1 || self.c.rows >= if self.a.cols > PRODUCT_SHALLOW { 32 } else { 128 }
    }

    /// Computes a part, one step of its depth after the other. Packs A in `packed` if that is not `None`.
    unsafe fn part(&self, packed: Option<*mut u8>) {
        let total = self.a.cols;
        let most = total.div_ceil(total.div_ceil(PRODUCT_DEPTH)).next_multiple_of(self.kernel.deep);
        let mut done = 0;
        while done < total {
            let depth = most.min(total - done);
            let mut step = *self;
            step.a = self.a.block(0, self.a.rows, done, depth);
            step.b = self.b.block(done, depth, 0, self.b.cols);
            // SAFETY: the caller keeps this function's contract; the room is for PRODUCT_DEPTH columns.
            unsafe {
                if let Some(packed) = packed {
                    let a = packed.cast::<T>();
                    let row = depth + PAD / size_of::<T>();
                    lay_out(a, row, step.a);
                    step.a = Mat { data: a, row_stride: row as isize, col_stride: 1, ..step.a };
                }
                if done > 0 {
                    step.beta = T::ONE;
                }
                step.strips();
            }
            done += depth;
        }
    }

    /// Computes a part whose depth is at most PRODUCT_DEPTH, strip by strip.
    unsafe fn strips(&self) {
        let pack = self.packs_b();
        let mut packed = Aligned::<{ WIDTH * PRODUCT_DEPTH }>::new();
        let packed = packed.0.as_mut_ptr().cast::<T>();
        let mut col = 0;
        while col < self.c.cols {
            let cols = self.kernel.step(self.c.cols - col);
            let mut strip = self.strip(col, cols);
            // SAFETY: the caller keeps this function's contract; the room is for a strip of PRODUCT_DEPTH rows.
            unsafe {
                let whole = strip.cols == cols && self.c.col_stride == 1;
                if pack && whole && self.b.col_stride == 1 {
                    strip.packed = packed;
                } else if pack || strip.cols != cols {
                    self.lay_out_strip(packed, strip.cols, self.b.block(0, self.b.rows, col, cols));
                    (strip.b, strip.b_row) = (packed, strip.cols as isize);
                }
                if whole {
                    strip.next_rows = if pack { self.rows_ahead(col + cols) } else { 0 };
                    (self.kernel.strip)(&strip);
                } else {
                    self.merged(strip, col, cols);
                }
            }
            col += cols;
        }
    }

    /// Returns the strip of `cols` columns from `col` on.
    #[inline(always)]
    fn strip(&self, col: usize, cols: usize) -> Strip<T> {
        Strip {
            alpha: self.alpha,
            beta: self.beta,
            fresh: self.beta == T::ZERO,
            depth: self.a.cols,
            rows: self.c.rows,
            cols: self.kernel.width(cols),
            a: self.a.data,
            a_row: self.a.row_stride,
            a_col: self.a.col_stride,
            b: self.b.at(0, col),
            b_row: self.b.row_stride,
            packed: std::ptr::null_mut(),
            c: self.c.at(0, col),
            c_row: self.c.row_stride,
            next: self.b.at(0, col + cols),
            next_row: self.b.row_stride,
            next_rows: 0,
        }
    }

    /// Returns how many rows of the strip from `col` on are prefetched with each row of C of the strip before. 0 if B is not row-major or C
    /// has few rows.
    fn rows_ahead(&self, col: usize) -> usize {
        if self.b.col_stride == 1 && self.c.rows > CHUNK && col < self.c.cols { self.b.rows.div_ceil(self.c.rows) } else { 0 }
    }

    unsafe fn lay_out_strip(&self, packed: *mut T, width: usize, b: Mat<T>) {
        // SAFETY: the caller guarantees that the room holds the strip.
        unsafe {
            if b.col_stride == 1 {
                (self.kernel.lay_out)(&Packing { rows: b.rows, cols: b.cols, dst: packed, src: b.data, src_row: b.row_stride });
            } else {
                if width != b.cols {
                    packed.write_bytes(0, b.rows * width);
                }
                lay_out(packed, width, b);
            }
        }
    }

    /// Computes a strip whose `cols` columns, from `col` on, are fewer than the kernel's or not contiguous in C.
    unsafe fn merged(&self, strip: Strip<T>, col: usize, cols: usize) {
        let mut sums = Aligned::<{ WIDTH * CHUNK }>::new();
        let sums = sums.0.as_mut_ptr().cast::<T>();
        let mut strip = Strip { alpha: T::ONE, beta: T::ZERO, fresh: true, c: sums, c_row: strip.cols as isize, next_rows: 0, ..strip };
        let mut row = 0;
        while row < self.c.rows {
            strip.rows = CHUNK.min(self.c.rows - row);
            strip.a = self.a.at(row, 0);
            let c = self.c.block(row, strip.rows, col, cols);
            let merge = Merge {
                alpha: self.alpha,
                beta: self.beta,
                fresh: self.beta == T::ZERO,
                sums,
                rows: c.rows,
                cols,
                c: c.data,
                c_row: c.row_stride,
                c_col: c.col_stride,
            };
            // SAFETY: the caller keeps this function's contract; the sums have room for the rows of the strip.
            unsafe {
                (self.kernel.strip)(&strip);
                (self.kernel.merge)(&merge);
            }
            row += strip.rows;
        }
    }
}

/// Memory that is freed when this value is dropped.
struct Memory {
    ptr: NonNull<u8>,
    bytes: usize,
}

// SAFETY: each thread uses a separate slot of the memory.
unsafe impl Sync for Memory {}

impl Memory {
    /// Returns `None` if there is no memory, or `bytes` is 0.
    fn new(bytes: usize) -> Option<Memory> {
        if bytes == 0 { None } else { alloc::allocate(bytes).map(|ptr| Memory { ptr, bytes }) }
    }

    fn at(&self, offset: usize) -> *mut u8 {
        self.ptr.as_ptr().wrapping_add(offset)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `new` allocated this memory with this size.
        unsafe { alloc::release(self.ptr, self.bytes) };
    }
}

/// A matrix divided into a grid of parts of equal size, except for the last of a row or column.
struct Parts {
    shape: (usize, usize),
    rows: usize,
    cols: usize,
}

impl Parts {
    fn new<T>(rows: usize, cols: usize, kernel: &ProductKernel<T>, work: usize, threads: usize) -> Parts {
        let wanted = match threads {
            1 => 1,
            _ => (work / PRODUCT_WORK).clamp(1, if work < PRODUCT_SPARE_WORK { threads } else { 2 * threads }),
        };
        let (mut down, mut across) = (rows.div_ceil(PRODUCT_ROWS / size_of::<T>()), cols.div_ceil(PRODUCT_COLS / size_of::<T>()));
        loop {
            let parts = Parts {
                shape: (rows, cols),
                rows: rows.div_ceil(down).next_multiple_of(kernel.rows),
                cols: cols.div_ceil(across).next_multiple_of(kernel.vector),
            };
            if parts.count() >= wanted {
                return parts;
            }
            let cut_cols = parts.cols > kernel.cols && (parts.cols >= parts.rows || parts.rows <= 2 * kernel.rows);
            if parts.rows >= PRODUCT_CUT_ROWS || (!cut_cols && parts.rows > kernel.rows) {
                down *= 2;
            } else if cut_cols {
                across *= 2;
            } else {
                return parts;
            }
        }
    }

    fn across(&self) -> usize {
        self.shape.1.div_ceil(self.cols)
    }

    fn count(&self) -> usize {
        self.shape.0.div_ceil(self.rows) * self.across()
    }

    /// Returns first row, rows, first column and columns of a part.
    fn get(&self, part: usize) -> Option<(usize, usize, usize, usize)> {
        let (row, col) = (part / self.across() * self.rows, part % self.across() * self.cols);
        let rows = self.shape.0.checked_sub(row).filter(|&left| left > 0)?;
        Some((row, rows.min(self.rows), col, (self.shape.1 - col).min(self.cols)))
    }
}

/// Copies a matrix to contiguous rows, `row` elements apart.
///
/// # Safety
/// Both sides must hold the elements, and must not overlap.
unsafe fn lay_out<T: Number>(dst: *mut T, row: usize, src: Mat<T>) {
    let size = size_of::<T>();
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if src.col_stride == 1 {
            for i in 0..src.rows {
                stream::prefetch_near(src.at(i + PRODUCT_AHEAD, 0).cast(), src.cols * size);
                dst.add(i * row).copy_from_nonoverlapping(src.at(i, 0), src.cols);
            }
        } else if src.row_stride == 1 {
            let step = src.col_stride.wrapping_mul(size as isize);
            transpose::transpose(size, dst.cast(), (row * size) as isize, src.data.cast(), step, src.rows, src.cols);
        } else {
            for i in 0..src.rows {
                for j in 0..src.cols {
                    *dst.add(i * row + j) = *src.at(i, j);
                }
            }
        }
    }
}
