//! Products with a gathered left factor: element (i, k) is at the sum of a row offset and a column offset, like the elements of an image's
//! windows.

// Loops with constant bounds over several arrays, which iterators would hide from the vectoriser.
#![allow(clippy::needless_range_loop)]

use super::Gemm;
use super::kernel::{SHORT, TALL};
use super::number::Number;
use crate::cpu::simd::{Level, level, opaque};
#[cfg(target_arch = "x86_64")]
use crate::cpu::simd::{with_avx2, with_avx512};

/// `c[i][j] = sum over k of a[rows[i] + cols[k]] * b[k][j]`, or `c` plus this sum. B and C have contiguous rows of `width` elements.
#[derive(Clone, Copy)]
pub struct Gathered<T> {
    /// The element that offsets are counted from.
    pub a: *const T,
    /// The offset of each row in elements.
    pub rows: *const usize,
    /// The number of rows, at least one.
    pub count: usize,
    /// The offset of each column in elements.
    pub cols: *const usize,
    /// The number of columns of A and rows of B.
    pub depth: usize,
    /// The right factor.
    pub b: *const T,
    /// The number of columns of B and C: a [`Gatherer::width`].
    pub width: usize,
    /// The result.
    pub c: *mut T,
    /// True if C is written without being read.
    pub fresh: bool,
}

/// The kernel for one type and instruction set.
#[derive(Clone, Copy)]
pub struct Gatherer<T> {
    vector: usize,
    run: unsafe fn(&Gathered<T>),
}

impl<T> Gatherer<T> {
    /// Returns the number of columns of the next strip if `left` columns are left: a quarter of a vector, a half, one or two vectors,
    /// whichever is the narrowest that holds them.
    pub fn width(&self, left: usize) -> usize {
        let least = (self.vector / 4).max(1);
        [least, 2 * least, self.vector].into_iter().find(|&width| width >= left).unwrap_or(2 * self.vector)
    }

    /// Returns the number of columns of the widest strip.
    pub fn most(&self) -> usize {
        2 * self.vector
    }

    /// Computes a product.
    ///
    /// # Safety
    /// All elements must exist, and no other thread may access C.
    #[inline(always)]
    pub unsafe fn run(&self, task: &Gathered<T>) {
        // SAFETY: the caller keeps this function's contract, and the kernel is for this processor.
        unsafe { (self.run)(task) }
    }
}

/// Rows of the tile for rows that are left after whole tiles, if whole tiles are [`TALL`].
const FEW: usize = 8;
/// The same if whole tiles have [`SHORT`] rows.
const FEW_SHORT: usize = 3;
const BASE: usize = if cfg!(target_arch = "aarch64") { TALL } else { SHORT };
const BASE_FEW: usize = if cfg!(target_arch = "aarch64") { FEW } else { FEW_SHORT };
const BASE_FUSED: bool = cfg!(target_arch = "aarch64");

/// Element types that may have such products.
pub trait Gather: Gemm {
    /// Returns the kernel for an instruction set, which the processor must have.
    fn gatherer_at(_: Level) -> Option<Gatherer<Self>> {
        None
    }

    /// Returns the kernel for this processor.
    fn gatherer() -> Option<Gatherer<Self>> {
        Self::gatherer_at(level())
    }
}

impl Gather for f32 {
    fn gatherer_at(level: Level) -> Option<Gatherer<f32>> {
        Some(gatherer::<f32, 16, 8, 4, 2, 1>(level))
    }
}

impl Gather for f64 {
    fn gatherer_at(level: Level) -> Option<Gatherer<f64>> {
        Some(gatherer::<f64, 8, 4, 2, 1, 1>(level))
    }
}

// Integers are rarely convolved; kernels for them would double the code.
impl Gather for i32 {}
impl Gather for i64 {}

/// Returns the kernel for an instruction set. The numbers are the elements in 64, 32, ... 4 bytes, at least one.
#[inline(always)]
fn gatherer<T: Number, const N64: usize, const N32: usize, const N16: usize, const N8: usize, const N4: usize>(
    level: Level,
) -> Gatherer<T> {
    match level {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => Gatherer { vector: N64, run: run_avx512::<T, N64, N32, N16> },
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => Gatherer { vector: N32, run: run_avx2::<T, N32, N16, N8> },
        _ => Gatherer { vector: N16, run: run::<T, BASE_FUSED, BASE, BASE_FEW, N16, N8, N4> },
    }
}

#[cfg(target_arch = "x86_64")]
with_avx512! {
    unsafe fn run_avx512<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Gathered<T>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { run::<T, true, TALL, FEW, N, HALF, QUARTER>(task) }
    }
}

#[cfg(target_arch = "x86_64")]
with_avx2! {
    unsafe fn run_avx2<T: Number, const N: usize, const HALF: usize, const QUARTER: usize>(task: &Gathered<T>) {
        // SAFETY: the caller keeps this function's contract.
        unsafe { run::<T, true, SHORT, FEW_SHORT, N, HALF, QUARTER>(task) }
    }
}

#[inline(always)]
unsafe fn run<
    T: Number,
    const FUSED: bool,
    const ROWS: usize,
    const FEW: usize,
    const N: usize,
    const HALF: usize,
    const QUARTER: usize,
>(
    task: &Gathered<T>,
) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if task.width > N {
            tiles::<T, FUSED, ROWS, FEW, 2, N>(task)
        } else if task.width > HALF {
            tiles::<T, FUSED, ROWS, FEW, 1, N>(task)
        } else if task.width > QUARTER {
            tiles::<T, FUSED, ROWS, 0, 1, HALF>(task)
        } else {
            tiles::<T, FUSED, ROWS, 0, 1, QUARTER>(task)
        }
    }
}

#[inline(always)]
unsafe fn tiles<T: Number, const FUSED: bool, const ROWS: usize, const FEW: usize, const VECTORS: usize, const N: usize>(
    task: &Gathered<T>,
) {
    let mut row = 0;
    // SAFETY: the caller keeps this function's contract; `row` is less than the count.
    unsafe {
        while row + FEW < task.count {
            tile::<T, FUSED, ROWS, VECTORS, N>(task, row);
            row += ROWS;
        }
        if FEW > 0 && row < task.count {
            tile::<T, FUSED, FEW, VECTORS, N>(task, row);
        }
    }
}

/// Computes up to `ROWS` rows from `row` on. If there are fewer, the last row is computed again.
#[inline(always)]
unsafe fn tile<T: Number, const FUSED: bool, const ROWS: usize, const VECTORS: usize, const N: usize>(task: &Gathered<T>, row: usize) {
    // Pointers to all rows would not fit the registers and would be read again for each column, so offsets are added instead.
    let mut ends = [0; ROWS];
    let mut rows = task.rows.wrapping_add(row);
    if row + ROWS > task.count {
        for i in 0..ROWS {
            // SAFETY: the caller guarantees the row, which is at most the last.
            ends[i] = unsafe { *task.rows.add((row + i).min(task.count - 1)) };
        }
        rows = ends.as_ptr();
    }
    let mut b = task.b.cast::<[[T; N]; VECTORS]>();
    let mut sums = [[[T::ZERO; N]; VECTORS]; ROWS];
    for k in 0..task.depth {
        // SAFETY: the caller guarantees the column and the row of B.
        let (col, right) = unsafe { (*task.cols.add(k), b.read_unaligned()) };
        b = b.wrapping_add(1);
        for i in 0..ROWS {
            // An optimisation barrier: the compiler must not combine elements of different rows in one vector, which would take longer than
            // everything else. SAFETY: the caller guarantees the element of A.
            let left = unsafe { *opaque(task.a.wrapping_add(*rows.add(i) + col)) };
            for v in 0..VECTORS {
                sums[i][v] = T::mul_add_vector::<FUSED, N>(left, right[v], sums[i][v]);
            }
        }
    }
    let c = task.c.cast::<[[T; N]; VECTORS]>();
    for i in 0..ROWS {
        if row + i < task.count {
            // SAFETY: the caller guarantees the row of C.
            unsafe { put(c.wrapping_add(row + i), sums[i], task.fresh) };
        }
    }
}

/// Writes a row of C, or adds to it.
#[inline(always)]
unsafe fn put<T: Number, const VECTORS: usize, const N: usize>(c: *mut [[T; N]; VECTORS], sums: [[T; N]; VECTORS], fresh: bool) {
    let mut new = sums;
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if !fresh {
            let old = c.read_unaligned();
            for v in 0..VECTORS {
                for l in 0..N {
                    new[v][l] = T::add(old[v][l], sums[v][l]);
                }
            }
        }
        c.write_unaligned(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    fn check<T: Gather + Debug + From<i8>>(level: Level, count: usize, depth: usize, wanted: usize, fresh: bool) {
        let gatherer = T::gatherer_at(level).unwrap();
        let width = gatherer.width(wanted);
        let value = |i: usize| T::from((i * 7 % 9) as i8 - 4);
        let a: Vec<T> = (0..3 * count + 5 * depth).map(value).collect();
        let (rows, cols): (Vec<usize>, Vec<usize>) = ((0..count).map(|i| i * 5 % 3 + i).collect(), (0..depth).map(|k| 5 * k).collect());
        let b: Vec<T> = (0..depth * width).map(|i| value(i + 2)).collect();
        let mut c: Vec<T> = (0..count * width).map(|i| value(i + 1)).collect();
        let expected: Vec<T> = (0..count * width)
            .map(|at| {
                let first = if fresh { T::ZERO } else { c[at] };
                let (i, j) = (at / width, at % width);
                (0..depth).fold(first, |sum, k| T::add(sum, T::mul(a[rows[i] + cols[k]], b[k * width + j])))
            })
            .collect();
        let (rows, cols) = (rows.as_ptr(), cols.as_ptr());
        let task = Gathered { a: a.as_ptr(), rows, count, cols, depth, b: b.as_ptr(), width, c: c.as_mut_ptr(), fresh };
        // SAFETY: the vectors have the sizes that the task says.
        unsafe { gatherer.run(&task) };
        assert_eq!(c, expected, "{level:?} {count} x {width} x {depth}, fresh {fresh}");
    }

    #[test]
    fn every_height_and_width_at_every_level() {
        for level in [Level::Baseline, Level::Avx2, Level::Avx512].into_iter().filter(|&l| l <= level()) {
            for count in 1..32 {
                for wanted in [1, 2, 4, 7, 8, 16, 40] {
                    check::<f32>(level, count, 9, wanted, true);
                    check::<f64>(level, count, 5, wanted, false);
                    check::<f64>(level, count, 0, wanted, true);
                }
            }
        }
    }
}
