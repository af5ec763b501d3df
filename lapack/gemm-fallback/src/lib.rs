//! The matrix products that faer needs on processors without AVX2, computed by the functions provided to `private-gemm-x86`.
//!
//! This crate replaces the crate of the same name; faer calls only the two functions here. The original adds 0.6 MB of kernels for products
//! that thorn has already, and ends the process if it cannot allocate memory.

use private_gemm_x86::{Matrix, Product, products};
use std::any::TypeId;

/// The number of threads that faer asks for. It is ignored, because thorn decides about threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallelism {
    /// The calling thread.
    None,
    /// This number of threads.
    Rayon(usize),
}

/// The number of operations from which more threads are worthwhile. faer asks for it, but does not use it on one thread.
pub fn get_threading_threshold() -> usize {
    usize::MAX
}

/// `dst = alpha * dst + beta * lhs @ rhs`, where `dst` is m x n, and the factors have k columns and k rows. Without `read_dst`, `dst` is
/// overwritten without being read.
///
/// # Safety
/// The matrices must exist, and `dst` must not overlap the others.
pub unsafe fn gemm<T: 'static>(
    m: usize,
    n: usize,
    k: usize,
    dst: *mut T,
    dst_cs: isize,
    dst_rs: isize,
    read_dst: bool,
    lhs: *const T,
    lhs_cs: isize,
    lhs_rs: isize,
    rhs: *const T,
    rhs_cs: isize,
    rhs_rs: isize,
    alpha: T,
    beta: T,
    _conj_dst: bool,
    _conj_lhs: bool,
    _conj_rhs: bool,
    _parallelism: Parallelism,
) {
    macro_rules! run {
        ($F:ident) => {{
            let matrix =
                |data: *mut T, rows, cols, row_stride, col_stride| Matrix { data: data.cast::<$F>(), rows, cols, row_stride, col_stride };
            let product: Product<$F> = products().$F;
            // SAFETY: `T` is this type.
            let (alpha, beta) = unsafe { (std::mem::transmute_copy::<T, $F>(&alpha), std::mem::transmute_copy::<T, $F>(&beta)) };
            let (c, a, b) = (
                matrix(dst, m, n, dst_rs, dst_cs),
                matrix(lhs.cast_mut(), m, k, lhs_rs, lhs_cs),
                matrix(rhs.cast_mut(), k, n, rhs_rs, rhs_cs),
            );
            // SAFETY: the caller vouches for the matrices.
            unsafe { product(if read_dst { alpha } else { 0.0 }, c, beta, a, b) }
        }};
    }
    if TypeId::of::<T>() == TypeId::of::<f64>() {
        run!(f64)
    } else if TypeId::of::<T>() == TypeId::of::<f32>() {
        run!(f32)
    } else {
        panic!("products of complex matrices are not known")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use private_gemm_x86::{Products, provide};

    /// The product by its definition.
    unsafe fn plain<T: Copy + Default + PartialEq + std::ops::Add<Output = T> + std::ops::Mul<Output = T>>(
        beta: T,
        c: Matrix<T>,
        alpha: T,
        a: Matrix<T>,
        b: Matrix<T>,
    ) {
        let at = |m: &Matrix<T>, i: usize, j: usize| m.data.wrapping_offset(i as isize * m.row_stride + j as isize * m.col_stride);
        for i in 0..c.rows {
            for j in 0..c.cols {
                // SAFETY: the elements are inside the matrices.
                unsafe {
                    let sum = (0..a.cols).fold(T::default(), |sum, k| sum + *at(&a, i, k) * *at(&b, k, j));
                    let old = if beta == T::default() { T::default() } else { beta * *at(&c, i, j) };
                    at(&c, i, j).write(old + alpha * sum);
                }
            }
        }
    }

    /// A matrix of small integers with other elements in between, and the index of its first element. Its strides have the signs `signs`.
    struct Laid {
        data: Vec<f64>,
        first: usize,
        rs: isize,
        cs: isize,
    }

    fn laid(rows: usize, cols: usize, by_rows: bool, signs: [isize; 2], fill: impl Fn(usize, usize) -> f64) -> Laid {
        let (rs, cs) = if by_rows { (2 * cols as isize + 1, 2) } else { (2, 2 * rows as isize + 1) };
        let last = (rows as isize - 1) * rs + (cols as isize - 1) * cs;
        let first =
            (if signs[0] < 0 { (rows as isize - 1) * rs } else { 0 } + if signs[1] < 0 { (cols as isize - 1) * cs } else { 0 }) as usize;
        let mut m = Laid { data: vec![f64::NAN; last as usize + 1], first, rs: rs * signs[0], cs: cs * signs[1] };
        for i in 0..rows {
            for j in 0..cols {
                let at = m.at(i, j);
                m.data[at] = fill(i, j);
            }
        }
        m
    }

    impl Laid {
        fn at(&self, i: usize, j: usize) -> usize {
            (self.first as isize + i as isize * self.rs + j as isize * self.cs) as usize
        }
    }

    /// All strides, signs and factors, compared with a sum that is computed directly.
    #[test]
    fn strides_of_both_signs_and_all_factors() {
        provide(Products { f32: plain::<f32>, f64: plain::<f64> });
        let (m, n, k) = (3, 4, 5);
        let (a_of, b_of) = (|i: usize, j: usize| (i * 7 + j * 3) as f64 - 9.0, |i: usize, j: usize| (i * 5 + j * 11) as f64 - 20.0);
        for case in 0..512 {
            let bit = |k: usize| case >> k & 1 == 1;
            let signs = |k: usize| [if bit(k) { -1 } else { 1 }, if bit(k + 1) { -1 } else { 1 }];
            let a = laid(m, k, bit(0), signs(1), a_of);
            let b = laid(k, n, bit(3), signs(4), b_of);
            for (read, alpha, beta) in [(false, 0.0, 1.0), (true, 1.0, 1.0), (true, 1.0, -1.0), (true, -2.0, 3.0), (false, 1.0, 2.0)] {
                let c_of = |i: usize, j: usize| if read { (i + 2 * j) as f64 } else { f64::NAN };
                let mut c = laid(m, n, bit(6), signs(7), c_of);
                let before = c.data.clone();
                // SAFETY: the vectors hold the matrices.
                unsafe {
                    let to = c.data.as_mut_ptr().add(c.first);
                    let (lhs, rhs) = (a.data.as_ptr().add(a.first), b.data.as_ptr().add(b.first));
                    gemm(
                        m,
                        n,
                        k,
                        to,
                        c.cs,
                        c.rs,
                        read,
                        lhs,
                        a.cs,
                        a.rs,
                        rhs,
                        b.cs,
                        b.rs,
                        alpha,
                        beta,
                        false,
                        false,
                        false,
                        Parallelism::None,
                    );
                }
                let mut written = vec![false; before.len()];
                for i in 0..m {
                    for j in 0..n {
                        let sum: f64 = (0..k).map(|l| a_of(i, l) * b_of(l, j)).sum();
                        let old = if read { alpha * c_of(i, j) } else { 0.0 };
                        assert_eq!(c.data[c.at(i, j)], old + beta * sum, "case {case}, ({i}, {j})");
                        written[c.at(i, j)] = true;
                    }
                }
                for (at, &written) in written.iter().enumerate() {
                    assert!(written || c.data[at].to_bits() == before[at].to_bits(), "case {case}: wrote between the elements");
                }
            }
        }
    }

    #[test]
    fn float32_is_known_and_complex_numbers_are_not() {
        provide(Products { f32: plain::<f32>, f64: plain::<f64> });
        let (a, b, mut c) = ([1f32, 2.0], [3f32, 4.0], [5f32]);
        // SAFETY: the matrices are a row of two and a column of two elements.
        unsafe {
            gemm(1, 1, 2, c.as_mut_ptr(), 1, 1, true, a.as_ptr(), 1, 1, b.as_ptr(), 1, 1, 1.0, 2.0, false, false, false, Parallelism::None)
        };
        assert_eq!(c, [27.0]);
        let complex = std::panic::catch_unwind(|| {
            let mut c = [[0f32; 2]];
            let (a, at) = ([[1f32; 2]], c.as_mut_ptr());
            // SAFETY: the matrices have one element.
            unsafe {
                gemm(1, 1, 1, at, 1, 1, false, a.as_ptr(), 1, 1, a.as_ptr(), 1, 1, a[0], a[0], false, false, false, Parallelism::None)
            };
        });
        assert!(complex.is_err());
    }
}
