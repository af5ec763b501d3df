//! Products so small that dividing them into strips would take longer than the product: four rows of C, of 4, 8 or 16 elements, at a time
//! in registers.

// Loops with constant bounds over arrays, which iterators would hide from the vectoriser.
#![allow(clippy::needless_range_loop)]

use super::mat::Mat;
use super::number::Number;
use crate::cpu::simd::{Level, simd_at};
use std::ops::Range;

/// The maximum number of rows, and the maximum depth, of such a product.
const MOST: usize = 16;

/// Returns the kernel for products of these sizes, if they are small enough.
#[inline(always)]
pub(super) fn kernel<T: Number>(c: &Mat<T>, a: &Mat<T>, b: &Mat<T>) -> Option<Tiny> {
    if c.rows > MOST || a.cols > MOST || c.col_stride != 1 || b.col_stride != 1 {
        return None;
    }
    match c.cols {
        4 => Some(Tiny::Four),
        8 => Some(Tiny::Eight),
        16 => Some(Tiny::Sixteen),
        _ => None,
    }
}

/// The number of columns.
#[derive(Clone, Copy)]
pub(super) enum Tiny {
    Four,
    Eight,
    Sixteen,
}

impl Tiny {
    /// `c = beta * c + alpha * a @ b` for `count` products of equal shapes. `at` returns where each begins, in elements from the first.
    ///
    /// # Safety
    /// As for [`super::gemm`], for every product. The sizes must match this kernel. The processor must have the level.
    #[inline(always)]
    pub unsafe fn run<T: Number>(
        self,
        level: Level,
        (beta, alpha): (T, T),
        [c, a, b]: [Mat<T>; 3],
        products: Range<usize>,
        at: impl Fn(usize) -> [isize; 3],
    ) {
        // SAFETY: the caller keeps this function's contract; rows of C and B have as many contiguous elements as the kernel reads.
        unsafe {
            match self {
                Tiny::Four => simd_at(
                    level,
                    #[inline(always)]
                    move |isa| each::<T, 4>(isa.has_fma(), (beta, alpha), [c, a, b], products, at),
                ),
                Tiny::Eight => simd_at(
                    level,
                    #[inline(always)]
                    move |isa| each::<T, 8>(isa.has_fma(), (beta, alpha), [c, a, b], products, at),
                ),
                Tiny::Sixteen => simd_at(
                    level,
                    #[inline(always)]
                    move |isa| each::<T, 16>(isa.has_fma(), (beta, alpha), [c, a, b], products, at),
                ),
            }
        }
    }
}

#[inline(always)]
unsafe fn each<T: Number, const N: usize>(
    fused: bool,
    factors: (T, T),
    matrices: [Mat<T>; 3],
    products: Range<usize>,
    at: impl Fn(usize) -> [isize; 3],
) {
    for i in products {
        let at = at(i);
        let [c, a, b] = [0, 1, 2].map(|k| Mat { data: matrices[k].data.wrapping_offset(at[k]), ..matrices[k] });
        let mut row = 0;
        // SAFETY: the caller keeps this function's contract; at least as many rows are left as each call computes.
        unsafe {
            while row + ROWS <= c.rows {
                rows::<T, N, ROWS>(fused, factors, c.block(row, ROWS, 0, N), a.block(row, ROWS, 0, a.cols), b);
                row += ROWS;
            }
            while row < c.rows {
                rows::<T, N, 1>(fused, factors, c.block(row, 1, 0, N), a.block(row, 1, 0, a.cols), b);
                row += 1;
            }
        }
    }
}

/// Rows computed at a time. The sums of one row alone would wait for each other.
const ROWS: usize = 4;

/// # Safety
/// As for [`Tiny::run`], with `N` columns and `R` rows.
#[inline(always)]
unsafe fn rows<T: Number, const N: usize, const R: usize>(fused: bool, (beta, alpha): (T, T), c: Mat<T>, a: Mat<T>, b: Mat<T>) {
    // `beta == 0` is tested outside the loop. Inside, the compiler may multiply by 0 like by any other number.
    let fresh = beta == T::ZERO;
    let mut sums = [[T::ZERO; N]; R];
    for k in 0..a.cols {
        // SAFETY: the caller keeps this function's contract.
        let right = unsafe { b.at(k, 0).cast::<[T; N]>().read_unaligned() };
        for i in 0..R {
            // SAFETY: the caller keeps this function's contract.
            let left = unsafe { *a.at(i, k) };
            for j in 0..N {
                sums[i][j] =
                    if fused { T::mul_add::<true>(left, right[j], sums[i][j]) } else { T::mul_add::<false>(left, right[j], sums[i][j]) };
            }
        }
    }
    for i in 0..R {
        let (to, mut sums) = (c.at(i, 0).cast::<[T; N]>(), sums[i]);
        for j in 0..N {
            sums[j] = T::mul(alpha, sums[j]);
        }
        // SAFETY: the caller keeps this function's contract.
        unsafe {
            if !fresh {
                let before = to.read_unaligned();
                for j in 0..N {
                    sums[j] = T::add(T::mul(beta, before[j]), sums[j]);
                }
            }
            to.write_unaligned(sums);
        }
    }
}
