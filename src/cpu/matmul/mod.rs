//! Matrix products of any layout: `gemm` and `gemv` for the types products are computed in.
//!
//! [`kernel`] multiplies strips, [`product`] cuts a product into strips and shares them between threads, [`gemv`] is for vectors.

mod gemv;
mod kernel;
mod product;

pub use gemv::gemv;

use kernel::Kernel;
use product::Product;

/// A strided matrix in memory; strides in elements, any sign or zero.
#[derive(Debug, Clone, Copy)]
pub struct Mat<T> {
    /// The element in row 0 and column 0.
    pub data: *mut T,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Elements from row to row.
    pub row_stride: isize,
    /// Elements from column to column.
    pub col_stride: isize,
}

impl<T: Copy> Mat<T> {
    fn transposed(self) -> Mat<T> {
        Mat { rows: self.cols, cols: self.rows, row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    /// The address of an element, which need not exist.
    #[inline(always)]
    fn at(self, row: usize, col: usize) -> *mut T {
        let rows = (row as isize).wrapping_mul(self.row_stride);
        let cols = (col as isize).wrapping_mul(self.col_stride);
        self.data.wrapping_offset(rows.wrapping_add(cols))
    }

    /// The block of `rows` x `cols` elements that begins at `row` and `col`.
    #[inline(always)]
    fn block(self, row: usize, rows: usize, col: usize, cols: usize) -> Mat<T> {
        Mat { data: self.at(row, col), rows, cols, ..self }
    }
}

/// Element types with a matrix product: f32, f64, and i32, i64, which wrap around.
pub trait Gemm: Number {}

impl<T: Number> Gemm for T {}

use number::Number;

mod number {
    use super::Kernel;

    /// Arithmetic of [`super::Gemm`]; not to be named outside.
    pub trait Number: Copy + PartialEq + Send + Sync + 'static {
        const ZERO: Self;
        const ONE: Self;
        fn add(a: Self, b: Self) -> Self;
        fn mul(a: Self, b: Self) -> Self;
        /// `a * b + c`, rounded once if `FUSED`, which only instruction sets that have it should ask for.
        fn mul_add<const FUSED: bool>(a: Self, b: Self, c: Self) -> Self;
        #[allow(private_interfaces)]
        fn kernel() -> Kernel<Self>;
    }
}

macro_rules! number {
    ($T:ident, $zero:literal, $one:literal, [$($lanes:literal)*], |$a:ident, $b:ident, $c:ident| $add:expr, $mul:expr, $fused:expr) => {
        impl Number for $T {
            const ZERO: $T = $zero;
            const ONE: $T = $one;
            #[inline(always)]
            fn add($a: $T, $b: $T) -> $T {
                $add
            }
            #[inline(always)]
            fn mul($a: $T, $b: $T) -> $T {
                $mul
            }
            #[inline(always)]
            fn mul_add<const FUSED: bool>($a: $T, $b: $T, $c: $T) -> $T {
                if FUSED { $fused } else { Self::add(Self::mul($a, $b), $c) }
            }
            #[allow(private_interfaces)]
            #[inline(always)]
            fn kernel() -> Kernel<$T> {
                kernel::kernel::<$T, $($lanes),*>()
            }
        }
    };
}

number!(f32, 0.0, 1.0, [16 8 4 2 1], |a, b, c| a + b, a * b, a.mul_add(b, c));
number!(f64, 0.0, 1.0, [8 4 2 1 1], |a, b, c| a + b, a * b, a.mul_add(b, c));
number!(i32, 0, 1, [16 8 4 2 1], |a, b, c| a.wrapping_add(b), a.wrapping_mul(b), a.wrapping_mul(b).wrapping_add(c));
number!(i64, 0, 1, [8 4 2 1 1], |a, b, c| a.wrapping_add(b), a.wrapping_mul(b), a.wrapping_mul(b).wrapping_add(c));

/// `c = beta * c + alpha * a @ b`
///
/// With `beta` 0, C is written without being read; with `alpha` 0, A and B are not read. C is computed the same way whatever the number of
/// threads.
///
/// # Safety
/// `a.cols == b.rows`, and C has the rows of A and the columns of B. All elements must exist; nobody else may touch those of C, which are
/// distinct and none of A or B, nor write to A and B meanwhile.
pub unsafe fn gemm<T: Gemm>(beta: T, c: Mat<T>, alpha: T, a: Mat<T>, b: Mat<T>) {
    // SAFETY: the caller's.
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
        let kernel = T::kernel();
        // Rows of C should be contiguous; where its columns are, compute the transposed.
        if c.row_stride == 1 && c.col_stride != 1 {
            Product { kernel, beta, c: c.transposed(), alpha, a: b.transposed(), b: a.transposed() }.run();
        } else {
            Product { kernel, beta, c, alpha, a, b }.run();
        }
    }
}

/// `c = beta * c`
///
/// # Safety
/// The elements must exist, and nobody else may touch them.
unsafe fn scale<T: Number>(beta: T, c: Mat<T>) {
    for i in 0..c.rows {
        for j in 0..c.cols {
            let c = c.at(i, j);
            // SAFETY: the caller's.
            unsafe { *c = if beta == T::ZERO { T::ZERO } else { T::mul(beta, *c) } };
        }
    }
}
