//! The matrix products of faer's decompositions, handed to whoever has [provided](provide) them: thorn's own.
//!
//! This stands in for the crate of the same name, of which faer calls `gemm` alone. That one brings 2 MB of kernels for products that thorn
//! has, computes on one thread, and keeps twice the size of the third-level cache for each thread, in memory whose want ends the process.

use std::sync::OnceLock;

/// A strided matrix in memory; strides in elements.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<T> {
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

impl<T> Matrix<T> {
    /// The same elements, rows as columns.
    pub fn transposed(&self) -> Matrix<T> {
        Matrix { data: self.data, rows: self.cols, cols: self.rows, row_stride: self.col_stride, col_stride: self.row_stride }
    }

    fn block(&self, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>) -> Matrix<T> {
        let offset = (rows.start as isize).wrapping_mul(self.row_stride).wrapping_add((cols.start as isize).wrapping_mul(self.col_stride));
        Matrix { data: self.data.wrapping_offset(offset), rows: rows.len(), cols: cols.len(), ..*self }
    }
}

/// `c = beta * c + alpha * a @ b`; with `beta` 0, C is written without being read.
pub type Product<T> = unsafe fn(beta: T, c: Matrix<T>, alpha: T, a: Matrix<T>, b: Matrix<T>);

/// The products.
#[derive(Clone, Copy)]
pub struct Products {
    /// Those of float32.
    pub f32: Product<f32>,
    /// Those of float64.
    pub f64: Product<f64>,
}

static PRODUCTS: OnceLock<Products> = OnceLock::new();

/// Says who computes products; the first call counts.
pub fn provide(products: Products) {
    PRODUCTS.get_or_init(|| products);
}

/// What was provided.
pub fn products() -> &'static Products {
    PRODUCTS.get().expect("products are provided before anything is decomposed")
}

/// What instructions faer has found; thorn looks for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum InstrSet {
    Avx256,
    Avx512,
}

/// The type of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DType {
    F32,
    F64,
    C32,
    C64,
}

/// Whether what is there is replaced or added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Accum {
    Replace,
    Add,
}

/// The type of indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum IType {
    U32,
    U64,
}

/// Which part of the result is written: all, or the triangle with the diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DstKind {
    Lower,
    Upper,
    Full,
}

/// The product faer asks for: `dst = [dst] + alpha * lhs @ rhs`, in a triangle of `dst` or all of it.
///
/// # Safety
/// The matrices must exist, and `dst` lie apart from the others.
pub unsafe fn gemm(
    dtype: DType,
    _itype: IType,
    _instr: InstrSet,
    nrows: usize,
    ncols: usize,
    depth: usize,
    dst: *mut (),
    dst_rs: isize,
    dst_cs: isize,
    dst_row_idx: *const (),
    dst_col_idx: *const (),
    dst_kind: DstKind,
    beta: Accum,
    lhs: *const (),
    lhs_rs: isize,
    lhs_cs: isize,
    _conj_lhs: bool,
    real_diag: *const (),
    _diag_stride: isize,
    rhs: *const (),
    rhs_rs: isize,
    rhs_cs: isize,
    _conj_rhs: bool,
    alpha: *const (),
    _n_threads: usize,
) {
    assert!(dst_row_idx.is_null() && dst_col_idx.is_null() && real_diag.is_null(), "only products of plain matrices are known");
    macro_rules! run {
        ($T:ident) => {{
            let c = Matrix { data: dst.cast::<$T>(), rows: nrows, cols: ncols, row_stride: dst_rs, col_stride: dst_cs };
            let a = Matrix { data: lhs.cast_mut().cast::<$T>(), rows: nrows, cols: depth, row_stride: lhs_rs, col_stride: lhs_cs };
            let b = Matrix { data: rhs.cast_mut().cast::<$T>(), rows: depth, cols: ncols, row_stride: rhs_rs, col_stride: rhs_cs };
            let beta = if beta == Accum::Add { 1.0 } else { 0.0 };
            // SAFETY: the caller's: `alpha` points to an element.
            let alpha = unsafe { *alpha.cast::<$T>() };
            // SAFETY: the caller's.
            unsafe { part(products().$T, dst_kind, beta, c, alpha, a, b) }
        }};
    }
    match dtype {
        DType::F32 => run!(f32),
        DType::F64 => run!(f64),
        DType::C32 | DType::C64 => panic!("products of complex matrices are not known"),
    }
}

/// Rows and columns of a triangle that is computed as a square and copied from that.
const SQUARE: usize = 32;

/// A product, or a triangle of it.
///
/// # Safety
/// As for [`gemm`].
unsafe fn part<T: Copy + Default + PartialEq + std::ops::Add<Output = T>>(
    product: Product<T>,
    kind: DstKind,
    beta: T,
    c: Matrix<T>,
    alpha: T,
    a: Matrix<T>,
    b: Matrix<T>,
) {
    let size = c.rows.min(c.cols);
    if kind == DstKind::Full || size == 0 {
        // SAFETY: the caller's.
        return unsafe { product(beta, c, alpha, a, b) };
    }
    let (rows, cols, depth) = (c.rows, c.cols, a.cols);
    if size <= SQUARE {
        // The square, and what of a rectangle lies beside it.
        let mut square = [T::default(); SQUARE * SQUARE];
        let made = Matrix { data: square.as_mut_ptr(), rows: size, cols: size, row_stride: 1, col_stride: size as isize };
        // SAFETY: the caller's; the square holds as many elements, and those that are copied are in C.
        unsafe {
            product(T::default(), made, alpha, a.block(0..size, 0..depth), b.block(0..depth, 0..size));
            for j in 0..size {
                for i in if kind == DstKind::Lower { j..size } else { 0..j + 1 } {
                    let to = c.block(i..i + 1, j..j + 1).data;
                    let value = square[i + j * size];
                    // `beta` is 0 or 1, and what is there may not be a number.
                    to.write(if beta == T::default() { value } else { *to + value });
                }
            }
        }
    } else {
        let half = size / 2;
        // SAFETY: the caller's; the parts lie in C and do not overlap.
        unsafe {
            part(product, kind, beta, c.block(0..half, 0..half), alpha, a.block(0..half, 0..depth), b.block(0..depth, 0..half));
            part(product, kind, beta, c.block(half..size, half..size), alpha, a.block(half..size, 0..depth), b.block(0..depth, half..size));
            let (low, high) = if kind == DstKind::Lower { (half..size, 0..half) } else { (0..half, half..size) };
            product(beta, c.block(low.clone(), high.clone()), alpha, a.block(low, 0..depth), b.block(0..depth, high));
        }
    }
    // SAFETY: the caller's.
    unsafe {
        if kind == DstKind::Lower && rows > size {
            product(beta, c.block(size..rows, 0..cols), alpha, a.block(size..rows, 0..depth), b);
        }
        if kind == DstKind::Upper && cols > size {
            product(beta, c.block(0..rows, size..cols), alpha, a, b.block(0..depth, size..cols));
        }
    }
}
