//! Product of a matrix and a vector. Its speed is limited by reading the matrix, which is read once, in memory order.

// Loops with constant bounds over several arrays, which iterators would hide from the vectoriser.
#![allow(clippy::needless_range_loop)]

use super::mat::Mat;
use super::number::Number;

use crate::cpu::parallel::Shared;
use crate::cpu::pool;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::Level;
use crate::cpu::simd::level;
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{with_avx2, with_avx512};
use crate::cpu::tuning::MATRIX_WORK;
use std::mem::MaybeUninit;

/// Elements of a vector that are summed at a time, or copied to be contiguous.
const CHUNK: usize = 1024;
/// Rows whose dot products are computed together.
const DOTS: usize = 4;
/// Columns that are added together.
const COLUMNS: usize = 8;
/// The maximum number of rows that are divided into parts of columns.
const FEW: usize = 8;
/// The minimum number of columns in such a part, and the maximum number of parts.
const PART: usize = 16 * 1024;
const PARTS: usize = 64;

/// `y = beta * y + alpha * a @ x` with vectors given as address and stride.
///
/// If `beta` is 0, y is written without being read; if `alpha` is 0, A and x are not read.
///
/// # Safety
/// x must have the columns of A, and y its rows. All elements must exist. The elements of y must be distinct and must not be elements of A
/// or x. No other thread may access y, or write A or x, during this call.
pub unsafe fn gemv<T: Number>(beta: T, y: (*mut T, isize), alpha: T, a: Mat<T>, x: (*const T, isize)) {
    let a = if alpha == T::ZERO { Mat { cols: 0, ..a } } else { a };
    let adds = a.row_stride == 1 && a.rows > 1;
    let whole = Task { beta, fresh: beta == T::ZERO, y: y.0, y_step: y.1, alpha, a, x: x.0, x_step: x.1, adds };
    if a.rows <= FEW && a.cols >= 2 * PART {
        // SAFETY: the caller keeps this function's contract.
        return unsafe { whole.by_columns() };
    }
    let work = a.rows.saturating_mul(a.cols);
    let threads = if work < 2 * MATRIX_WORK { 1 } else { pool::num_threads() };
    // There are more parts than threads, so that other threads can do the parts of a delayed thread. Parts have whole cache lines of a
    // column.
    let parts = (work / MATRIX_WORK).clamp(1, if threads > 1 { 4 * threads } else { 1 });
    let rows = a.rows.div_ceil(parts).next_multiple_of(if a.row_stride == 1 { 64 / size_of::<T>() } else { DOTS });
    let task = |part: usize| {
        // SAFETY: the caller keeps this function's contract; the rows of parts are distinct.
        unsafe { whole.rows(part * rows, rows).run() };
    };
    match a.rows.div_ceil(rows.max(1)) {
        0 => {}
        1 => task(0),
        parts => pool::run(parts, &task),
    }
}

#[derive(Clone, Copy)]
struct Task<T> {
    beta: T,
    /// True if `beta` is 0: y is written without being read. This is a separate flag, as in the strips of the kernel.
    fresh: bool,
    y: *mut T,
    y_step: isize,
    alpha: T,
    a: Mat<T>,
    x: *const T,
    x_step: isize,
    /// True if columns are added, also in a part that has one row: parts must not change the order of additions.
    adds: bool,
}

// SAFETY: by the contract of `gemv`, threads write distinct rows of y and only read A and x.
unsafe impl<T: Sync> Sync for Task<T> {}

impl<T: Number> Task<T> {
    /// Returns the task for at most `count` rows from `row` on.
    fn rows(&self, row: usize, count: usize) -> Task<T> {
        let y = self.y.wrapping_offset((row as isize).wrapping_mul(self.y_step));
        Task { y, a: self.a.block(row, count.min(self.a.rows - row), 0, self.a.cols), ..*self }
    }

    /// Computes a few long rows: the sums of parts of the columns, which threads share, then the sums of these. The parts depend on the
    /// number of columns alone.
    unsafe fn by_columns(&self) {
        let mut sums = [[T::ZERO; FEW]; PARTS];
        let cols = self.a.cols.div_ceil(PARTS).max(PART);
        let parts = self.a.cols.div_ceil(cols);
        let at = Shared(sums.as_mut_ptr().cast());
        pool::run(parts, &|part| {
            let col = part * cols;
            let a = self.a.block(0, self.a.rows, col, cols.min(self.a.cols - col));
            let x = self.x.wrapping_offset((col as isize).wrapping_mul(self.x_step));
            let y = at.get().cast::<T>().wrapping_add(part * FEW);
            // SAFETY: the caller keeps this function's contract; each part has its own sums.
            unsafe { Task { beta: T::ZERO, fresh: true, y, y_step: 1, alpha: T::ONE, a, x, ..*self }.run() };
        });
        for row in 0..self.a.rows {
            let sum = sums[..parts].iter().fold(T::ZERO, |sum, part| T::add(sum, part[row]));
            // SAFETY: the caller keeps this function's contract.
            unsafe { self.store(row, sum) };
        }
    }

    unsafe fn run(&self) {
        // SAFETY: the caller keeps this function's contract, and this processor has the level.
        unsafe {
            match level() {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => avx512(self),
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => avx2(self),
                _ => self.run_in::<{ cfg!(target_arch = "aarch64") }>(),
            }
        }
    }

    #[inline(always)]
    unsafe fn run_in<const FUSED: bool>(&self) {
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if self.adds {
                self.add_columns::<FUSED>();
            } else {
                self.dot_rows::<FUSED>();
            }
        }
    }

    /// `y[row] = beta * y[row] + alpha * sum`
    #[inline(always)]
    unsafe fn store(&self, row: usize, sum: T) {
        let y = self.y.wrapping_offset((row as isize).wrapping_mul(self.y_step));
        let sum = T::mul(self.alpha, sum);
        // SAFETY: the caller keeps this function's contract.
        unsafe { *y = if self.fresh { sum } else { T::add(T::mul(self.beta, *y), sum) } };
    }

    #[inline(always)]
    unsafe fn x(&self, i: usize) -> T {
        // SAFETY: the caller keeps this function's contract.
        unsafe { *self.x.offset(i as isize * self.x_step) }
    }

    /// For contiguous columns: adds a few columns at a time to the sums of a piece of the rows.
    #[inline(always)]
    unsafe fn add_columns<const FUSED: bool>(&self) {
        let mut sums = [T::ZERO; CHUNK];
        for row in (0..self.a.rows).step_by(CHUNK) {
            let rows = CHUNK.min(self.a.rows - row);
            let sums = &mut sums[..rows];
            sums.fill(T::ZERO);
            let mut col = 0;
            while col + COLUMNS <= self.a.cols {
                // SAFETY: the caller keeps this function's contract.
                unsafe { self.add::<FUSED, COLUMNS>(sums, row, col) };
                col += COLUMNS;
            }
            while col < self.a.cols {
                // SAFETY: the caller keeps this function's contract.
                unsafe { self.add::<FUSED, 1>(sums, row, col) };
                col += 1;
            }
            for (i, sum) in sums.iter().enumerate() {
                // SAFETY: the caller keeps this function's contract.
                unsafe { self.store(row + i, *sum) };
            }
        }
    }

    /// Adds N columns from `col` on, times their elements of x, to the sums of the rows from `row` on.
    #[inline(always)]
    unsafe fn add<const FUSED: bool, const N: usize>(&self, sums: &mut [T], row: usize, col: usize) {
        // SAFETY: the caller keeps this function's contract.
        let x: [T; N] = std::array::from_fn(|j| unsafe { self.x(col + j) });
        let columns: [*const T; N] = std::array::from_fn(|j| self.a.at(row, col + j).cast_const());
        for (i, sum) in sums.iter_mut().enumerate() {
            for j in 0..N {
                // SAFETY: the caller keeps this function's contract.
                *sum = T::mul_add::<FUSED>(unsafe { *columns[j].add(i) }, x[j], *sum);
            }
        }
    }

    /// For all other layouts: computes dot products of a few rows at a time, with pieces of x copied to be contiguous.
    #[inline(always)]
    unsafe fn dot_rows<const FUSED: bool>(&self) {
        let mut copy = [const { MaybeUninit::uninit() }; CHUNK];
        let mut part = *self;
        let mut col = 0;
        loop {
            let cols = if self.x_step == 1 { self.a.cols } else { CHUNK.min(self.a.cols - col) };
            if self.x_step != 1 {
                for (i, element) in copy[..cols].iter_mut().enumerate() {
                    // SAFETY: the caller keeps this function's contract.
                    element.write(unsafe { self.x(col + i) });
                }
                part.x = copy.as_ptr().cast();
                part.x_step = 1;
            }
            part.a = self.a.block(0, self.a.rows, col, cols);
            // SAFETY: the caller keeps this function's contract.
            unsafe { part.dots::<FUSED>() };
            (part.beta, part.fresh) = (T::ONE, false);
            col += cols;
            if col >= self.a.cols {
                break;
            }
        }
    }

    #[inline(always)]
    unsafe fn dots<const FUSED: bool>(&self) {
        let mut row = 0;
        while row < self.a.rows {
            // SAFETY: the caller keeps this function's contract.
            unsafe {
                if row + DOTS <= self.a.rows {
                    self.dots_of::<FUSED, DOTS>(row);
                    row += DOTS;
                } else {
                    self.dots_of::<FUSED, 1>(row);
                    row += 1;
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn dots_of<const FUSED: bool, const R: usize>(&self, row: usize) {
        // SAFETY: the caller keeps this function's contract.
        let sums = unsafe {
            match size_of::<T>() {
                _ if self.a.col_stride != 1 || self.a.cols < 16 => dot::<T, FUSED, R, 1>(&self.a, row, self.x),
                // A single row needs more sums, because additions to one sum wait for each other.
                4 if R == 1 && self.a.cols >= 64 => dot::<T, FUSED, R, 64>(&self.a, row, self.x),
                4 => dot::<T, FUSED, R, 16>(&self.a, row, self.x),
                _ if R == 1 && self.a.cols >= 32 => dot::<T, FUSED, R, 32>(&self.a, row, self.x),
                _ => dot::<T, FUSED, R, 8>(&self.a, row, self.x),
            }
        };
        for (i, sum) in sums.into_iter().enumerate() {
            // SAFETY: the caller keeps this function's contract.
            unsafe { self.store(row + i, sum) };
        }
    }
}

#[cfg(target_arch = "x86_64")]
with_avx512! {
    unsafe fn avx512<T: Number>(task: &Task<T>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { task.run_in::<true>() }
    }
}

#[cfg(target_arch = "x86_64")]
with_avx2! {
    unsafe fn avx2<T: Number>(task: &Task<T>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { task.run_in::<true>() }
    }
}

/// Returns dot products of R rows with x, `N` elements at a time. `N` is greater than one only for contiguous rows.
#[inline(always)]
unsafe fn dot<T: Number, const FUSED: bool, const R: usize, const N: usize>(a: &Mat<T>, row: usize, x: *const T) -> [T; R] {
    let mut sums = [[T::ZERO; N]; R];
    let mut col = 0;
    while col + N <= a.cols {
        // SAFETY: the caller keeps this function's contract.
        let x = unsafe { x.add(col).cast::<[T; N]>().read_unaligned() };
        for r in 0..R {
            // SAFETY: the caller keeps this function's contract.
            let left = unsafe { a.at(row + r, col).cast::<[T; N]>().read_unaligned() };
            for l in 0..N {
                sums[r][l] = T::mul_add::<FUSED>(left[l], x[l], sums[r][l]);
            }
        }
        col += N;
    }
    // A copy, whose address is taken below, so that the sums of the loop above stay in registers.
    let sums = sums;
    let mut totals = if N == 1 { std::array::from_fn(|r| sums[r][0]) } else { totals(&sums) };
    while col < a.cols {
        for r in 0..R {
            // SAFETY: the caller keeps this function's contract.
            totals[r] = unsafe { T::mul_add::<FUSED>(*a.at(row + r, col), *x.add(col), totals[r]) };
        }
        col += 1;
    }
    totals
}

/// Returns the sum of each row. A separate function, because the compiler would otherwise vectorise [`dot`] across the rows.
#[inline(never)]
fn totals<T: Number, const R: usize, const N: usize>(sums: &[[T; N]; R]) -> [T; R] {
    sums.map(|mut row| {
        let mut half = N / 2;
        while half > 0 {
            for l in 0..half {
                row[l] = T::add(row[l], row[l + half]);
            }
            half /= 2;
        }
        row[0]
    })
}
