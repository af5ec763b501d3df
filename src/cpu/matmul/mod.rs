//! Matrix products of any layout: `gemm` and `gemv` for the types that products are computed in.
//!
//! [`kernel`] multiplies strips. [`product`] divides a product into strips and shares them among threads. [`tiny`] is for the smallest
//! products, [`gathered`] for gathered factors, [`gemv`] for vectors. [`groups`] multiplies 8- and 16-bit numbers by the instructions of
//! `pair` and [`tiles`], and [`grouping`] packs them. [`batch`] computes all products of a call, [`vendor`] calls a BLAS of the machine.

mod batch;
mod gathered;
mod gemv;
mod grouping;
mod groups;
mod kernel;
mod mat;
mod number;
#[cfg(target_arch = "x86_64")]
mod pair;
mod product;
mod tiles;
mod tiny;
mod vendor;

pub use batch::{Place, launch, mm};
pub use gathered::{Gather, Gathered, Gatherer};
pub use gemv::gemv;
pub use mat::Mat;
pub use vendor::gemm_by_vendor;

use super::simd::{Level, level};
use crate::dtype::Dtype;
use kernel::ProductKernel;
use number::Number;
use product::Product;

/// Runs `$body` with `$T` bound to a type that products are computed in.
macro_rules! products {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            $crate::dtype::Dtype::Float32 => {
                type $T = f32;
                $body
            }
            $crate::dtype::Dtype::Float64 => {
                type $T = f64;
                $body
            }
            $crate::dtype::Dtype::Int32 => {
                type $T = i32;
                $body
            }
            $crate::dtype::Dtype::Int64 => {
                type $T = i64;
                $body
            }
            other => return Err($crate::dtype::Domain::Numeric.refusal(other)),
        }
    };
}
pub(crate) use products;

/// Returns true if the processor has matrix instructions for a dtype, and the process may use them.
pub fn has_matrix_instructions(dtype: Dtype) -> bool {
    tiles::kernel(dtype).is_some()
}

/// Element types with a matrix product: f32, f64, i32 and i64, which wrap around.
pub trait Gemm: Number {
    /// Returns the kernel for an instruction set, which the processor must have.
    #[allow(private_interfaces)]
    fn kernel(level: Level) -> ProductKernel<Self>;
}

macro_rules! gemm {
    ($($T:ident [$($lanes:literal)*];)*) => { $(
        impl Gemm for $T {
            #[allow(private_interfaces)]
            #[inline(always)]
            fn kernel(level: Level) -> ProductKernel<$T> {
                kernel::kernel::<$T, $($lanes),*>(level)
            }
        }
    )* };
}

gemm! {
    f32 [16 8 4 2 1];
    f64 [8 4 2 1 1];
    i32 [16 8 4 2 1];
    i64 [8 4 2 1 1];
}

/// `c = beta * c + alpha * a @ b`
///
/// If `beta` is 0, C is written without being read; if `alpha` is 0, A and B are not read. The result does not depend on the number of
/// threads.
///
/// # Safety
/// `a.cols` must equal `b.rows`, and C must have the rows of A and the columns of B. All elements must exist. The elements of C must be
/// distinct and must not be elements of A or B. No other thread may access C, or write A or B, during this call.
pub unsafe fn gemm<T: Gemm>(beta: T, c: Mat<T>, alpha: T, a: Mat<T>, b: Mat<T>) {
    // SAFETY: the caller keeps this function's contract, and this processor has the level.
    unsafe { gemm_at(level(), true, beta, c, alpha, a, b) }
}

/// [`gemm`] on the calling thread alone, without memory of an allocator: for tasks of the pool.
///
/// # Safety
/// As for [`gemm`].
pub unsafe fn gemm_here<T: Gemm>(beta: T, c: Mat<T>, alpha: T, a: Mat<T>, b: Mat<T>) {
    // SAFETY: the caller keeps this function's contract, and this processor has the level.
    unsafe { gemm_at(level(), false, beta, c, alpha, a, b) }
}

/// [`gemm`], or [`gemm_here`] if not `shared`, with the kernels of a level, which the processor must have.
#[inline(always)]
unsafe fn gemm_at<T: Gemm>(level: Level, shared: bool, beta: T, c: Mat<T>, alpha: T, a: Mat<T>, b: Mat<T>) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        if c.rows == 0 || c.cols == 0 {
            return;
        }
        if a.cols == 0 || alpha == T::ZERO {
            return scale(beta, c);
        }
        if c.cols == 1 {
            return gemv(beta, (c.data, c.row_stride), alpha, a, (b.data, b.row_stride));
        }
        if c.rows == 1 {
            return gemv(beta, (c.data, c.col_stride), alpha, b.transposed(), (a.data, a.col_stride));
        }
        if let Some(tiny) = tiny::kernel(&c, &a, &b) {
            return tiny.run(level, (beta, alpha), [c, a, b], 0..1, |_| [0; 3]);
        }
        let kernel = T::kernel(level);
        // Rows of C should be contiguous. If its columns are, the transposed product is computed.
        let product = if c.row_stride == 1 && c.col_stride != 1 {
            Product { kernel, beta, c: c.transposed(), alpha, a: b.transposed(), b: a.transposed() }
        } else {
            Product { kernel, beta, c, alpha, a, b }
        };
        if shared { product.run() } else { product.run_here() }
    }
}

/// `c = beta * c`
///
/// # Safety
/// The elements must exist, and no other thread may access them.
unsafe fn scale<T: Number>(beta: T, c: Mat<T>) {
    // `beta == 0` is tested once, outside the loop. Inside, the compiler may multiply by 0 like by any other number.
    let fresh = beta == T::ZERO;
    for i in 0..c.rows {
        if fresh {
            // SAFETY: the caller keeps this function's contract.
            (0..c.cols).for_each(|j| unsafe { c.at(i, j).write(T::ZERO) });
        } else {
            // SAFETY: the caller keeps this function's contract.
            (0..c.cols).for_each(|j| unsafe { c.at(i, j).write(T::mul(beta, *c.at(i, j))) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    /// Small integers: all sums are exact in every type.
    trait Value: Gemm + Debug + From<i8> {}
    impl<T: Gemm + Debug + From<i8>> Value for T {}

    /// The layout of a matrix in its buffer.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Lie {
        Rows,
        Columns,
        Apart,
        Backwards,
        SameRows,
        SameColumns,
    }
    use Lie::*;

    struct Buffer<T> {
        data: Vec<T>,
        first: isize,
        shape: (usize, usize),
        strides: (isize, isize),
    }

    impl<T: Value> Buffer<T> {
        fn new(rows: usize, cols: usize, lie: Lie) -> Buffer<T> {
            let (m, n) = (rows as isize, cols as isize);
            let (first, row, col, len) = match lie {
                Rows => (1, n + 1, 1, m * (n + 1)),
                Columns => (0, 1, m, m * n),
                Apart => (3, 2 * n + 1, 2, m * (2 * n + 1)),
                Backwards => (m * n - 1, -n, -1, m * n),
                SameRows => (0, 0, 1, n),
                SameColumns => (0, 1, 0, m),
            };
            let data = (0..len + 8).map(|i| T::from(((i * 7 + m + 3 * n) % 9 - 4) as i8)).collect();
            Buffer { data, first, shape: (rows, cols), strides: (row, col) }
        }

        fn mat(&mut self) -> Mat<T> {
            let data = self.data.as_mut_ptr().wrapping_offset(self.first);
            Mat { data, rows: self.shape.0, cols: self.shape.1, row_stride: self.strides.0, col_stride: self.strides.1 }
        }

        fn index(&self, row: usize, col: usize) -> usize {
            (self.first + row as isize * self.strides.0 + col as isize * self.strides.1) as usize
        }

        /// Returns `beta * self + alpha * a @ b`, computed one element after the other.
        fn expected(&self, beta: T, alpha: T, a: &Buffer<T>, b: &Buffer<T>) -> Vec<T> {
            let mut data = self.data.clone();
            for i in 0..self.shape.0 {
                for j in 0..self.shape.1 {
                    let products = (0..a.shape.1).map(|k| T::mul(a.data[a.index(i, k)], b.data[b.index(k, j)]));
                    let sum = T::mul(alpha, products.fold(T::ZERO, T::add));
                    let c = &mut data[self.index(i, j)];
                    *c = if beta == T::ZERO { sum } else { T::add(T::mul(beta, *c), sum) };
                }
            }
            data
        }
    }

    fn check<T: Value>(level: Level, [m, n, k]: [usize; 3], [lc, la, lb]: [Lie; 3], beta: i8, alpha: i8) {
        let (beta, alpha) = (T::from(beta), T::from(alpha));
        let (mut a, mut b, mut c) = (Buffer::<T>::new(m, k, la), Buffer::<T>::new(k, n, lb), Buffer::<T>::new(m, n, lc));
        let expected = c.expected(beta, alpha, &a, &b);
        // SAFETY: the buffers hold the matrices.
        unsafe { gemm_at(level, true, beta, c.mat(), alpha, a.mat(), b.mat()) };
        assert_eq!(c.data, expected, "{level:?} {m} x {n} x {k}, C {lc:?}, A {la:?}, B {lb:?}, beta {beta:?}, alpha {alpha:?}");
    }

    fn levels() -> impl Iterator<Item = Level> {
        [Level::Baseline, Level::Avx2, Level::Avx512].into_iter().filter(|&l| l <= level())
    }

    #[test]
    fn every_layout_at_every_level() {
        for level in levels() {
            for lc in [Rows, Columns, Apart, Backwards] {
                for la in [Rows, Columns, Apart, Backwards, SameRows, SameColumns] {
                    for lb in [Rows, Columns, Apart, Backwards, SameRows, SameColumns] {
                        check::<f32>(level, [15, 35, 9], [lc, la, lb], 1, 1);
                        check::<i64>(level, [7, 11, 5], [lc, la, lb], 0, 2);
                    }
                }
            }
        }
    }

    #[test]
    fn every_width_and_height() {
        for level in levels() {
            for n in 0..70 {
                check::<f32>(level, [3, n, 4], [Rows; 3], 2, 1);
                // Enough rows and depth for the first tile to pack B.
                check::<f32>(level, [33, n, 130], [Rows; 3], 1, 1);
                check::<f64>(level, [n, 5, 3], [Columns, Rows, Columns], 1, -1);
                check::<i32>(level, [n, n, 2], [Rows, Columns, Rows], 0, 1);
            }
        }
    }

    #[test]
    fn factors() {
        for (beta, alpha) in [(0, 1), (0, 0), (1, 0), (2, 0), (1, 1), (-1, 2), (3, -1)] {
            for shape in [[5, 6, 7], [5, 6, 0], [1, 6, 7], [6, 1, 7], [40, 33, 20]] {
                check::<f32>(level(), shape, [Rows; 3], beta, alpha);
                check::<i32>(level(), shape, [Apart, Columns, Rows], beta, alpha);
            }
        }
    }

    #[test]
    fn large_enough_for_threads_blocks_and_steps() {
        for layouts in [[Rows, Rows, Rows], [Columns, Rows, Columns], [Rows, Columns, Columns], [Apart, Apart, Backwards]] {
            check::<f32>(level(), [97, 131, 300], layouts, 1, 1);
            check::<f64>(level(), [300, 65, 129], layouts, 0, 1);
        }
        // Rows of A are 4096 bytes apart.
        check::<f32>(level(), [90, 192, 1023], [Rows; 3], 0, 1);
    }

    #[test]
    fn garbage_is_not_read() {
        for (m, n, k) in [(3, 5, 4), (20, 32, 8), (1, 9, 3), (9, 1, 3), (4, 4, 0)] {
            let (mut a, mut b, mut c) = (Buffer::<f64>::new(m, k, Rows), Buffer::<f64>::new(k, n, Rows), Buffer::<f64>::new(m, n, Rows));
            c.data.fill(f64::NAN);
            // SAFETY: the buffers hold the matrices.
            unsafe { gemm(0.0, c.mat(), 1.0, a.mat(), b.mat()) };
            assert!((0..m).all(|i| (0..n).all(|j| !c.data[c.index(i, j)].is_nan())), "{m} x {n} x {k}");
            a.data.fill(f64::NAN);
            // SAFETY: the buffers hold the matrices.
            unsafe { gemm(1.0, c.mat(), 0.0, a.mat(), b.mat()) };
            assert!((0..m).all(|i| (0..n).all(|j| !c.data[c.index(i, j)].is_nan())), "{m} x {n} x {k}: alpha 0");
        }
    }

    #[test]
    fn infinities_and_nans_stay_in_their_rows() {
        let (mut a, mut b, mut c) = (Buffer::<f32>::new(20, 6, Rows), Buffer::<f32>::new(6, 21, Rows), Buffer::<f32>::new(20, 21, Rows));
        let at = a.index(13, 2);
        a.data[at] = f32::NAN;
        // SAFETY: the buffers hold the matrices.
        unsafe { gemm(0.0, c.mat(), 1.0, a.mat(), b.mat()) };
        assert!((0..20).all(|i| (0..21).all(|j| c.data[c.index(i, j)].is_nan() == (i == 13))));
    }

    #[test]
    fn integers_wrap() {
        for n in [1, 2, 40] {
            let (mut a, mut b, mut c) = (vec![i32::MAX; 2 * n], vec![3; n * n], vec![1; 2 * n]);
            let mat = |data: &mut [i32], rows| Mat { data: data.as_mut_ptr(), rows, cols: n, row_stride: n as isize, col_stride: 1 };
            // SAFETY: the vectors hold the matrices.
            unsafe { gemm(i32::MIN, mat(&mut c, 2), 2, mat(&mut a, 2), mat(&mut b, n)) };
            let sum = i32::MAX.wrapping_mul(3).wrapping_mul(n as i32).wrapping_mul(2);
            assert_eq!(c, vec![i32::MIN.wrapping_add(sum); 2 * n]);
        }
    }

    fn check_vector<T: Value>(m: usize, n: usize, layout: Lie, steps: (isize, isize), beta: i8, alpha: i8) {
        let (beta, alpha) = (T::from(beta), T::from(alpha));
        let mut a = Buffer::<T>::new(m, n, layout);
        let vector = |len: usize, step: isize| {
            let mut vector = Buffer::<T>::new(len, 3, Rows);
            vector.shape.1 = 1;
            vector.strides.0 = step;
            vector.first = if step < 0 { (1 - len as isize) * step } else { 0 };
            vector
        };
        let (mut x, mut y) = (vector(n.max(1), steps.0), vector(m.max(1), steps.1));
        (x.shape.0, y.shape.0) = (n, m);
        let expected = y.expected(beta, alpha, &a, &x);
        // SAFETY: the buffers hold the matrix and the vectors.
        unsafe { gemv(beta, (y.mat().data, steps.1), alpha, a.mat(), (x.mat().data.cast_const(), steps.0)) };
        assert_eq!(y.data, expected, "{m} x {n} {layout:?}, steps {steps:?}, beta {beta:?}, alpha {alpha:?}");
    }

    #[test]
    fn vectors() {
        for layout in [Rows, Columns, Apart, Backwards, SameRows, SameColumns] {
            for (m, n) in [(0, 3), (3, 0), (1, 1), (1, 40), (40, 1), (5, 17), (33, 9), (6, 1030), (1030, 6), (300, 301)] {
                for steps in [(1, 1), (2, 1), (1, 3), (-1, 2), (3, -2)] {
                    check_vector::<f32>(m, n, layout, steps, 0, 1);
                    check_vector::<i64>(m, n, layout, steps, -2, 3);
                }
                check_vector::<f64>(m, n, layout, (0, 1), 1, 0);
            }
            // Rows that are divided into parts of columns.
            for (m, n) in [(1, 32_768), (1, 70_001), (8, 40_000), (3, 33_000)] {
                check_vector::<f64>(m, n, layout, (1, 1), 1, 2);
                check_vector::<i32>(m, n, layout, (-2, 3), 0, 1);
            }
        }
    }
}
