//! Products so small that cutting them into strips would take longer than they do: rows of C of 4 or 8 elements, each kept in registers.

// Loops with constant bounds over arrays, which iterators would hide from the vectoriser.
#![allow(clippy::needless_range_loop)]

use super::Mat;
use super::number::Number;
use crate::cpu::simd::{Level, simd_at};

/// The most rows and depth of such a product.
const MOST: usize = 16;

/// `c = beta * c + alpha * a @ b`, if it is one of these; says whether it was.
///
/// # Safety
/// As for [`super::gemm`]; the machine has the level.
#[inline(always)]
pub(super) unsafe fn product<T: Number>(level: Level, beta: T, c: Mat<T>, alpha: T, a: Mat<T>, b: Mat<T>) -> bool {
    if c.rows > MOST || a.cols > MOST || c.col_stride != 1 || b.col_stride != 1 {
        return false;
    }
    // SAFETY: the caller's; C and B have rows of so many contiguous elements.
    unsafe {
        match c.cols {
            4 => simd_at(
                level,
                #[inline(always)]
                move |isa| rows::<T, 4>(isa.has_fma(), beta, c, alpha, a, b),
            ),
            8 => simd_at(
                level,
                #[inline(always)]
                move |isa| rows::<T, 8>(isa.has_fma(), beta, c, alpha, a, b),
            ),
            _ => return false,
        }
    }
    true
}

/// # Safety
/// As for [`product`], with `N` columns.
#[inline(always)]
unsafe fn rows<T: Number, const N: usize>(fused: bool, beta: T, c: Mat<T>, alpha: T, a: Mat<T>, b: Mat<T>) {
    // Outside of the loop: inside, the compiler may make 0 a factor like others.
    let fresh = beta == T::ZERO;
    for i in 0..c.rows {
        let mut sums = [T::ZERO; N];
        for k in 0..a.cols {
            // SAFETY: the caller's.
            let (x, row) = unsafe { (*a.at(i, k), b.at(k, 0).cast::<[T; N]>().read_unaligned()) };
            for j in 0..N {
                sums[j] = if fused { T::mul_add::<true>(x, row[j], sums[j]) } else { T::mul_add::<false>(x, row[j], sums[j]) };
            }
        }
        let to = c.at(i, 0).cast::<[T; N]>();
        for j in 0..N {
            sums[j] = T::mul(alpha, sums[j]);
        }
        // SAFETY: the caller's.
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
