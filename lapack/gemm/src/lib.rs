//! The matrix products that faer's decompositions need, computed by functions that the program [provides](provide).
//!
//! This crate replaces the crate of the same name; faer calls only `gemm`. The original adds 2 MB of kernels for products that thorn has
//! already, computes on one thread, and keeps twice the size of the third-level cache for each thread, in memory whose failed allocation
//! ends the process.

use std::sync::OnceLock;

/// A strided matrix in memory. Strides are in elements.
#[derive(Debug, Clone, Copy)]
pub struct Matrix<T> {
    /// The element in row 0 and column 0.
    pub data: *mut T,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// The distance between rows, in elements.
    pub row_stride: isize,
    /// The distance between columns, in elements.
    pub col_stride: isize,
}

impl<T> Matrix<T> {
    /// The transposed matrix over the same elements.
    pub fn transposed(&self) -> Matrix<T> {
        Matrix { data: self.data, rows: self.cols, cols: self.rows, row_stride: self.col_stride, col_stride: self.row_stride }
    }

    fn block(&self, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>) -> Matrix<T> {
        let offset = (rows.start as isize).wrapping_mul(self.row_stride).wrapping_add((cols.start as isize).wrapping_mul(self.col_stride));
        Matrix { data: self.data.wrapping_offset(offset), rows: rows.len(), cols: cols.len(), ..*self }
    }
}

/// `c = beta * c + alpha * a @ b`. If `beta` is 0, `c` is overwritten without being read.
pub type Product<T> = unsafe fn(beta: T, c: Matrix<T>, alpha: T, a: Matrix<T>, b: Matrix<T>);

/// The functions that compute products.
#[derive(Clone, Copy)]
pub struct Products {
    /// The function for float32.
    pub f32: Product<f32>,
    /// The function for float64.
    pub f64: Product<f64>,
}

static PRODUCTS: OnceLock<Products> = OnceLock::new();

/// Sets the functions that compute products. Later calls have no effect.
pub fn provide(products: Products) {
    PRODUCTS.get_or_init(|| products);
}

/// The functions that were provided. Panics if there are none.
pub fn products() -> &'static Products {
    PRODUCTS.get().expect("products are provided before anything is decomposed")
}

/// The instruction set that faer found. It is ignored, because the provided functions find it themselves.
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

/// The choice between overwriting the result and adding to it.
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

/// The part of the result that is written: all, or a triangle with the diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DstKind {
    Lower,
    Upper,
    Full,
}

/// The product that faer needs: `dst = [dst] + alpha * lhs @ rhs`, in all of `dst` or in a triangle. If there are lists of rows or columns,
/// element (i, j) of the product belongs to row `dst_row_idx[i]` and column `dst_col_idx[j]` of `dst`.
///
/// # Safety
/// The matrices must exist, and `dst` must not overlap the others. Lists have a position in `dst` for each row or column of the product.
pub unsafe fn gemm(
    dtype: DType,
    itype: IType,
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
    assert!(real_diag.is_null(), "products of three matrices are not known");
    let places = [dst_row_idx, dst_col_idx].map(|list| Places { list, itype });
    macro_rules! run {
        ($T:ident) => {{
            let c = Matrix { data: dst.cast::<$T>(), rows: nrows, cols: ncols, row_stride: dst_rs, col_stride: dst_cs };
            let a = Matrix { data: lhs.cast_mut().cast::<$T>(), rows: nrows, cols: depth, row_stride: lhs_rs, col_stride: lhs_cs };
            let b = Matrix { data: rhs.cast_mut().cast::<$T>(), rows: depth, cols: ncols, row_stride: rhs_rs, col_stride: rhs_cs };
            let beta = if beta == Accum::Add { 1.0 } else { 0.0 };
            // SAFETY: the caller vouches for `alpha`, which points to an element.
            let alpha = unsafe { *alpha.cast::<$T>() };
            // SAFETY: the caller vouches for the matrices and the lists.
            unsafe {
                if dst_row_idx.is_null() && dst_col_idx.is_null() {
                    part(products().$T, dst_kind, beta, c, alpha, a, b)
                } else {
                    scattered(products().$T, dst_kind, beta, c, places, alpha, a, b)
                }
            }
        }};
    }
    match dtype {
        DType::F32 => run!(f32),
        DType::F64 => run!(f64),
        DType::C32 | DType::C64 => panic!("products of complex matrices are not known"),
    }
}

/// The largest order of a triangle that is computed as a full square and copied.
const SQUARE: usize = 32;

/// Computes a whole product or one triangle of the product.
///
/// # Safety
/// The same as for [`gemm`].
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
        // SAFETY: the caller vouches for the matrices.
        return unsafe { product(beta, c, alpha, a, b) };
    }
    let (rows, cols, depth) = (c.rows, c.cols, a.cols);
    if size <= SQUARE {
        // The square part. A rectangle that remains follows below.
        let mut square = [T::default(); SQUARE * SQUARE];
        let made = Matrix { data: square.as_mut_ptr(), rows: size, cols: size, row_stride: 1, col_stride: size as isize };
        // SAFETY: the caller vouches for the matrices. `square` has enough elements, and the copied elements are inside `c`.
        unsafe {
            product(T::default(), made, alpha, a.block(0..size, 0..depth), b.block(0..depth, 0..size));
            for j in 0..size {
                for i in if kind == DstKind::Lower { j..size } else { 0..j + 1 } {
                    let to = c.block(i..i + 1, j..j + 1).data;
                    let value = square[i + j * size];
                    // `beta` is 0 or 1. Old elements are not multiplied by 0, because they may be NaN.
                    to.write(if beta == T::default() { value } else { *to + value });
                }
            }
        }
    } else {
        let half = size / 2;
        // SAFETY: the caller vouches for the matrices. The parts are inside `c` and do not overlap.
        unsafe {
            part(product, kind, beta, c.block(0..half, 0..half), alpha, a.block(0..half, 0..depth), b.block(0..depth, 0..half));
            part(product, kind, beta, c.block(half..size, half..size), alpha, a.block(half..size, 0..depth), b.block(0..depth, half..size));
            let (low, high) = if kind == DstKind::Lower { (half..size, 0..half) } else { (0..half, half..size) };
            product(beta, c.block(low.clone(), high.clone()), alpha, a.block(low, 0..depth), b.block(0..depth, high));
        }
    }
    // SAFETY: the caller vouches for the matrices.
    unsafe {
        if kind == DstKind::Lower && rows > size {
            product(beta, c.block(size..rows, 0..cols), alpha, a.block(size..rows, 0..depth), b);
        }
        if kind == DstKind::Upper && cols > size {
            product(beta, c.block(0..rows, size..cols), alpha, a, b.block(0..depth, size..cols));
        }
    }
}

/// The rows and columns of a tile of a product whose elements are scattered.
const TILE: [usize; 2] = [128, 32];
/// The largest number of multiplications of a tile that a simple loop computes. A call of the product would take longer.
const FEW: usize = 8192;

/// The rows, or columns, of the result to which the rows or columns of a product go.
#[derive(Clone, Copy)]
struct Places {
    /// NULL if they are the same rows or columns.
    list: *const (),
    itype: IType,
}

impl Places {
    /// # Safety
    /// The list has an entry `i`.
    #[inline(always)]
    unsafe fn at(self, i: usize) -> usize {
        // SAFETY: the caller vouches for the entry.
        unsafe {
            match self.itype {
                _ if self.list.is_null() => i,
                IType::U32 => *self.list.cast::<u32>().add(i) as usize,
                IType::U64 => *self.list.cast::<u64>().add(i) as usize,
            }
        }
    }
}

/// Computes a whole product, or one triangle, into scattered rows and columns.
///
/// # Safety
/// The same as for [`gemm`].
unsafe fn scattered<T: Copy + Default + PartialEq + std::ops::Add<Output = T> + std::ops::Mul<Output = T>>(
    product: Product<T>,
    kind: DstKind,
    beta: T,
    c: Matrix<T>,
    [to_rows, to_cols]: [Places; 2],
    alpha: T,
    a: Matrix<T>,
    b: Matrix<T>,
) {
    let (mut tile, depth) = ([T::default(); TILE[0] * TILE[1]], a.cols);
    for first_col in (0..b.cols).step_by(TILE[1]) {
        let n = TILE[1].min(b.cols - first_col);
        let rows = match kind {
            DstKind::Full => 0..a.rows,
            DstKind::Lower => first_col.min(a.rows)..a.rows,
            DstKind::Upper => 0..a.rows.min(first_col + n),
        };
        for first_row in rows.clone().step_by(TILE[0]) {
            let m = TILE[0].min(rows.end - first_row);
            let made = Matrix { data: tile.as_mut_ptr(), rows: m, cols: n, row_stride: 1, col_stride: m as isize };
            let (a, b) = (a.block(first_row..first_row + m, 0..depth), b.block(0..depth, first_col..first_col + n));
            // SAFETY: the caller vouches for the matrices and the lists. `tile` has enough elements, and the listed positions are inside
            // `c`.
            unsafe {
                if m * n * depth <= FEW {
                    small(&mut tile, alpha, a, b)
                } else {
                    product(T::default(), made, alpha, a, b)
                }
                for j in 0..n {
                    let column = to_cols.at(first_col + j);
                    let inside = match kind {
                        DstKind::Full => 0..m,
                        DstKind::Lower => (first_col + j).saturating_sub(first_row).min(m)..m,
                        DstKind::Upper => 0..m.min((first_col + j + 1).saturating_sub(first_row)),
                    };
                    for i in inside {
                        let row = to_rows.at(first_row + i);
                        let to = c.data.wrapping_offset(row as isize * c.row_stride + column as isize * c.col_stride);
                        // `beta` is 0 or 1. Old elements are not multiplied by 0, because they may be NaN.
                        to.write(if beta == T::default() { tile[i + j * m] } else { *to + tile[i + j * m] });
                    }
                }
            }
        }
    }
}

/// `tile = alpha * a @ b`, in column-major order.
///
/// # Safety
/// The matrices must exist, and `tile` must be at least as large as their product.
unsafe fn small<T: Copy + Default + std::ops::Add<Output = T> + std::ops::Mul<Output = T>>(
    tile: &mut [T],
    alpha: T,
    a: Matrix<T>,
    b: Matrix<T>,
) {
    let m = a.rows;
    for (j, column) in tile[..m * b.cols].chunks_exact_mut(m).enumerate() {
        column.fill(T::default());
        for k in 0..a.cols {
            // SAFETY: the caller vouches for the matrices. If the row stride is 1, a column of `a` is contiguous.
            unsafe {
                let x = alpha * *b.block(k..k + 1, j..j + 1).data;
                let from = a.block(0..1, k..k + 1).data.cast_const();
                if a.row_stride == 1 {
                    let from = std::slice::from_raw_parts(from, m);
                    column.iter_mut().zip(from).for_each(|(to, &from)| *to = *to + from * x);
                } else {
                    (0..m).for_each(|i| column[i] = column[i] + *from.wrapping_offset(i as isize * a.row_stride) * x);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The product by its definition.
    unsafe fn plain(beta: f64, c: Matrix<f64>, alpha: f64, a: Matrix<f64>, b: Matrix<f64>) {
        for i in 0..c.rows {
            for j in 0..c.cols {
                let at = |t: &Matrix<f64>, i: usize, j: usize| t.block(i..i + 1, j..j + 1).data;
                // SAFETY: the matrices exist.
                unsafe {
                    let sum: f64 = (0..a.cols).map(|k| *at(&a, i, k) * *at(&b, k, j)).sum();
                    let to = at(&c, i, j);
                    to.write(alpha * sum + if beta == 0.0 { 0.0 } else { beta * *to });
                }
            }
        }
    }

    fn column_major(elements: &mut [f64], rows: usize, cols: usize) -> Matrix<f64> {
        Matrix { data: elements.as_mut_ptr(), rows, cols, row_stride: 1, col_stride: rows as isize }
    }

    #[test]
    fn rows_and_columns_go_to_their_places() {
        for [rows, cols, depth] in [[1, 1, 1], [5, 3, 2], [40, 33, 1], [150, 40, 7], [300, 70, 3], [3, 5, 2]] {
            let mut a: Vec<f64> = (0..rows * depth).map(|i| (i * 7 % 11) as f64 - 5.0).collect();
            let mut b: Vec<f64> = (0..depth * cols).map(|i| (i * 5 % 13) as f64 - 6.0).collect();
            // Every second row of a matrix of twice the height, and columns in reverse order.
            let to_rows: Vec<u64> = (0..rows as u64).map(|i| 2 * i).collect();
            let to_cols: Vec<u32> = (0..cols as u32).rev().collect();
            for kind in [DstKind::Full, DstKind::Lower, DstKind::Upper] {
                for beta in [0.0, 1.0] {
                    let mut c = vec![3.0; 2 * rows * cols];
                    let mut expected = c.clone();
                    let mut whole = vec![0.0; rows * cols];
                    let places = [
                        Places { list: to_rows.as_ptr().cast(), itype: IType::U64 },
                        Places { list: to_cols.as_ptr().cast(), itype: IType::U32 },
                    ];
                    let (left, right) = (column_major(&mut a, rows, depth), column_major(&mut b, depth, cols));
                    let target = column_major(&mut c, 2 * rows, cols);
                    // SAFETY: the matrices have these sizes, and the listed positions are inside the result.
                    unsafe {
                        scattered(plain, kind, beta, target, places, -2.0, left, right);
                        plain(0.0, column_major(&mut whole, rows, cols), -2.0, left, right);
                    }
                    for i in 0..rows {
                        for j in 0..cols {
                            let is_inside = match kind {
                                DstKind::Full => true,
                                DstKind::Lower => i >= j,
                                DstKind::Upper => i <= j,
                            };
                            let to = &mut expected[2 * i + (cols - 1 - j) * 2 * rows];
                            *to = if is_inside { beta * *to + whole[i + j * rows] } else { *to };
                        }
                    }
                    assert_eq!(c, expected, "{rows} x {cols} x {depth}, {kind:?}, {beta}");
                }
            }
        }
    }
}
