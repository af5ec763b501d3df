//! Products in the instructions that every processor of the architecture has.

use crate::{Plain, Product};

/// The rows and columns of a tile of the result in registers.
const ROWS: usize = 4;
const COLS: usize = 4;

/// # Safety
/// The matrices must exist, and `c` must not overlap the others.
pub unsafe fn run<T: Plain>(p: &mut Product<T>) {
    if p.c.cs.unsigned_abs() < p.c.rs.unsigned_abs() {
        p.transpose();
    }
    // The compiler makes vectors of contiguous rows.
    let is_contiguous = p.a.rs == 1 && p.c.rs == 1;
    let [rows, cols] = [if is_contiguous { p.m / ROWS * ROWS } else { 0 }, p.n / COLS * COLS];
    // SAFETY: the tiles are inside the result, and the caller keeps the contract.
    unsafe {
        for i in (0..rows).step_by(ROWS) {
            (0..cols).step_by(COLS).for_each(|j| tile::<T, ROWS, COLS>(p, [1, 1], [i, j]));
            (cols..p.n).for_each(|j| tile::<T, ROWS, 1>(p, [1, 1], [i, j]));
        }
        for i in rows..p.m {
            (0..cols).step_by(COLS).for_each(|j| tile::<T, 1, COLS>(p, [p.a.rs, p.c.rs], [i, j]));
            (cols..p.n).for_each(|j| tile::<T, 1, 1>(p, [p.a.rs, p.c.rs], [i, j]));
        }
    }
}

/// Computes R rows from row i on in C columns from column j on.
#[inline(always)]
unsafe fn tile<T: Plain, const R: usize, const C: usize>(p: &Product<T>, [a_rs, c_rs]: [isize; 2], [i, j]: [usize; 2]) {
    let mut sums = [[T::default(); R]; C];
    for l in 0..p.k {
        let from = p.a.at(i, l).cast_const();
        // SAFETY: the caller keeps the contract.
        let left: [T; R] = std::array::from_fn(|r| unsafe { *from.wrapping_offset(r as isize * a_rs) });
        for c in 0..C {
            // SAFETY: the caller keeps the contract.
            let right = unsafe { *p.b.at(l, j + c) };
            for r in 0..R {
                sums[c][r] = left[r].mul_add(right, sums[c][r]);
            }
        }
    }
    for c in 0..C {
        let to = p.c.at(i, j + c);
        for r in 0..R {
            let (to, value) = (to.wrapping_offset(r as isize * c_rs), p.factor * sums[c][r]);
            // SAFETY: the caller keeps the contract. Old elements are not multiplied by 0, because they may be NaN.
            unsafe { to.write(if p.keep == T::default() { value } else { p.keep.mul_add(*to, value) }) };
        }
    }
}
