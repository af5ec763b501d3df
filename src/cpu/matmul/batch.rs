//! The products of a batch: computed one after the other, by several threads, or as one product.

#[cfg(test)]
mod tests;

use super::groups::Groups;
use super::kernel::{Kernel, ProductKernel};
use super::product::Product;
use super::vendor::gemm_by_vendor;
use super::{Gemm, Mat, products, scale, tiny};
use crate::cpu::copy::{converted, copy};
use crate::cpu::parallel::{CHEAP, Shared, parallel};
use crate::cpu::simd::level;
use crate::cpu::tuning::{PRODUCT_PER_ELEMENT, PRODUCT_SHARED};
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::launch::{Matmul, ProductDims};
use crate::layout::{Dims, Layout};
use crate::operand::Operand;
use crate::plan::Plan;
use crate::scalar::Scalar;
use std::ops::Range;

/// An element type of products. `alpha` and `beta`, which the caller gives as scalars, are converted to this type.
trait Factor: Gemm {
    fn of_number(x: Scalar) -> Self;
}

macro_rules! factors {
    ($($T:ty)*) => { $(
        impl Factor for $T {
            fn of_number(x: Scalar) -> $T {
                Element::from_scalar(x)
            }
        }
    )* };
}
factors!(f32 f64 i32 i64);

/// The kind of elements in matrices.
#[derive(Clone, Copy)]
enum Elements {
    /// Elements of a dtype that products are computed in.
    Of(Dtype),
    /// Groups, which this kernel multiplies. C has sums.
    Groups(Kernel),
}

/// Runs `$body` with `$T` bound to the type of C, and `$kernel` to the kernel for groups if A and B have groups.
macro_rules! multiplied {
    ($elements:expr, $T:ident, $kernel:ident => $body:expr) => {
        match $elements {
            Elements::Groups(Kernel::Float(kernel)) => {
                type $T = f32;
                let $kernel = Some(kernel);
                $body
            }
            Elements::Groups(Kernel::Integer(kernel)) => {
                type $T = i32;
                let $kernel = Some(kernel);
                $body
            }
            Elements::Of(dtype) => products!(dtype, $T => {
                let $kernel: Option<ProductKernel<$T>> = None;
                $body
            }),
        }
    };
}

/// A matrix in memory: its first element, sizes and strides.
pub type Place = (*mut u8, [i64; 2], [i64; 2]);

/// Multiplies the matrices of a batch. Operands in another type are converted first, which fails if there is no memory.
pub fn launch(work: &Matmul<'_>, c: &Operand, inputs: [&Operand; 2], addend: Option<&Operand>) -> Result<()> {
    let groups = Groups::of(inputs[0].dtype, inputs.map(|t| &t.layout().shape));
    launch_by(groups, work, c, inputs, addend)
}

/// [`launch`] by groups, if they are not `None`.
fn launch_by(groups: Option<Groups>, work: &Matmul<'_>, c: &Operand, inputs: [&Operand; 2], addend: Option<&Operand>) -> Result<()> {
    let compute = c.dtype;
    let converted = match (inputs, &groups) {
        ([a, _], _) if a.dtype == compute => None,
        (_, Some(groups)) => Some(groups.operands(inputs)?),
        ([a, b], None) => Some([converted(a, compute)?, converted(b, compute)?]),
    };
    let [a, b] = converted.as_ref().map_or(inputs, |converted| converted.each_ref());
    if let Some(t) = addend.filter(|t| !c.in_step_with(t)) {
        let layout = t.layout().broadcast_to(&c.layout().shape)?;
        let plan = Plan::new([c.layout(), &layout], [c.dtype.size(), t.dtype.size()]);
        // SAFETY: the operands are inside their storages, and these two do not overlap.
        unsafe { copy(plan, (c.first(), c.dtype), (t.first(), t.dtype)) };
    }
    let beta = addend.map_or(Scalar::Int(0), |_| work.beta);
    let elements = groups.map_or(Elements::Of(compute), |groups| Elements::Groups(groups.kernel));
    if work.batch.is_empty() {
        return one(elements, beta, work.alpha, work.dims, [c, a, b]);
    }
    Batch::new(work.batch, work.dims, [c, a, b])?.multiply(elements, beta, work.alpha)
}

/// Computes a single product `c = beta * c + alpha * (a @ b)` of operands `[c, a, b]` without batch dimensions.
fn one(elements: Elements, beta: Scalar, alpha: Scalar, dims: ProductDims, [c, a, b]: [&Operand; 3]) -> Result<()> {
    // A result without this dimension has one row or column, whose stride does not matter.
    let row = if dims.rows { c.layout().strides[0] } else { 1 };
    let column = if dims.columns { c.layout().strides[c.layout().ndim() - 1] } else { 1 };
    let of = |t: &Operand| (t.first(), [t.layout().shape[0], t.layout().shape[1]], [t.layout().strides[0], t.layout().strides[1]]);
    let (a, b) = (of(a), of(b));
    // SAFETY: every layout was checked against its storage, and the result does not overlap the inputs.
    unsafe { multiply(elements, beta, alpha, [(c.first(), [a.1[0], b.1[1]], [row, column]), a, b]) }
}

/// `c = a @ b` for matrices of a dtype that products are computed in. Fails for any other dtype.
///
/// # Safety
/// The matrices must have elements of this dtype and matching sizes, and C must not overlap A or B.
pub unsafe fn mm(dtype: Dtype, places: [Place; 3]) -> Result<()> {
    // SAFETY: the caller keeps this function's contract.
    unsafe { multiply(Elements::Of(dtype), Scalar::Int(0), Scalar::Int(1), places) }
}

/// `c = beta * c + alpha * (a @ b)`
///
/// # Safety
/// The matrices must have elements of this type and matching sizes, and C must not overlap A or B.
unsafe fn multiply(elements: Elements, beta: Scalar, alpha: Scalar, places: [Place; 3]) -> Result<()> {
    multiplied!(elements, T, kernel => {
        let matrices = places.map(|(data, sizes, strides)| matrix::<T>(data, sizes, strides));
        // SAFETY: the caller keeps this function's contract.
        unsafe { gemm_of(kernel, (T::of_number(beta), T::of_number(alpha)), matrices) }
    });
    Ok(())
}

fn matrix<T: Gemm>(data: *mut u8, [rows, cols]: [i64; 2], [row_stride, col_stride]: [i64; 2]) -> Mat<T> {
    Mat { data: data.cast(), rows: rows as usize, cols: cols as usize, row_stride: row_stride as isize, col_stride: col_stride as isize }
}

/// Matrices in memory: the address of the first element, and a layout of the batch dimensions and the two dimensions of matrices.
struct Matrices {
    first: Shared,
    size: usize,
    layout: Layout,
}

impl Matrices {
    fn of(t: &Operand, layout: Layout) -> Matrices {
        Matrices { first: Shared(t.first()), size: t.dtype.size(), layout }
    }

    /// Returns the matrix that begins `offset` elements after the first.
    fn matrix<T: Gemm>(&self, offset: i64) -> Mat<T> {
        let (shape, strides) = (&self.layout.shape, &self.layout.strides);
        let [row, col] = [shape.len() - 2, shape.len() - 1];
        let data = self.first.get().wrapping_offset(offset as isize * self.size as isize);
        matrix(data, [shape[row], shape[col]], [strides[row], strides[col]])
    }

    /// Merges the batch dimensions and the rows into one dimension of rows, if they are contiguous with each other.
    fn stacked(&self) -> Option<Matrices> {
        let (shape, strides) = (&self.layout.shape, &self.layout.strides);
        let last = shape.len() - 1;
        let (mut rows, mut step) = (1, 1);
        for d in (0..last).rev().filter(|&d| shape[d] != 1) {
            match rows {
                1 => (rows, step) = (shape[d], strides[d]),
                _ if strides[d] == step * rows => rows *= shape[d],
                _ => return None,
            }
        }
        let layout = Layout { shape: (&[rows, shape[last]][..]).into(), strides: (&[step, strides[last]][..]).into(), offset: 0 };
        Some(Matrices { layout, ..*self })
    }

    /// Returns true if the whole batch is one matrix.
    fn is_single(&self) -> bool {
        (0..self.layout.ndim() - 2).all(|d| self.layout.strides[d] == 0 || self.layout.shape[d] == 1)
    }
}

/// `c = beta * c + alpha * (a @ b)` for each index of a batch.
struct Batch {
    shape: Dims,
    c: Matrices,
    a: Matrices,
    b: Matrices,
    summed: bool,
}

impl Batch {
    /// Prepares the products of operands `[c, a, b]`. `dims` says which dimensions `c` has.
    fn new(batch: &[i64], dims: ProductDims, [c, a, b]: [&Operand; 3]) -> Result<Batch> {
        let over = |t: &Operand| -> Result<Layout> {
            let mut shape = Dims::from(batch);
            shape.extend_from_slice(&t.layout().shape[t.layout().ndim() - 2..]);
            t.layout().broadcast_to(&shape)
        };
        let mut of_c = c.layout().clone();
        if !dims.columns {
            of_c.unsqueeze(-1)?;
        }
        if !dims.rows {
            of_c.unsqueeze(-2)?;
        }
        let (of_a, of_b) = (over(a)?, over(b)?);
        let mut all = Batch {
            shape: batch.into(),
            c: Matrices::of(c, of_c),
            a: Matrices::of(a, of_a),
            b: Matrices::of(b, of_b),
            summed: !dims.batch,
        };
        // If one matrix on the right serves all rows on the left, this is a single product.
        if !all.summed
            && all.b.is_single()
            && let (Some(c), Some(a)) = (all.c.stacked(), all.a.stacked())
            && c.layout.shape[0] == a.layout.shape[0]
        {
            let matrix = all.b.layout.ndim() - 2;
            let layout = Layout { shape: all.b.layout.shape[matrix..].into(), strides: all.b.layout.strides[matrix..].into(), offset: 0 };
            all = Batch { shape: Dims::new(), c, a, b: Matrices { layout, ..all.b }, summed: false };
        }
        Ok(all)
    }

    /// Computes the products in this type, which all operands have. If c has no elements, nothing is written; if the sums are empty, `c =
    /// beta * c`.
    fn multiply(&self, elements: Elements, beta: Scalar, alpha: Scalar) -> Result<()> {
        multiplied!(elements, T, kernel => self.run::<T>(kernel, beta, alpha));
        Ok(())
    }

    fn run<T: Factor>(&self, kernel: Option<ProductKernel<T>>, beta: Scalar, alpha: Scalar) {
        let (beta, alpha) = (T::of_number(beta), T::of_number(alpha));
        let count = self.shape.iter().product::<i64>() as usize;
        let (c, a) = (self.c.matrix::<T>(0), self.a.matrix::<T>(0));
        if c.rows == 0 || c.cols == 0 {
            return;
        }
        let matrices = || [&self.c, &self.a, &self.b].map(|t| t.matrix::<T>(0));
        let offsets = |i: usize| self.offsets(i).map(|offset| offset as isize);
        // SAFETY: every layout was checked against its storage, and the result does not overlap the inputs.
        let several = |beta: T, products: Range<usize>| unsafe { gemm_batch(kernel, (beta, alpha), matrices(), products, offsets) };
        if self.summed {
            if count == 0 || a.cols == 0 {
                // SAFETY: every layout was checked against its storage; with 0 columns of a, neither a nor b is read.
                return unsafe { gemm_by_vendor(beta, c, alpha, Mat { cols: 0, ..a }, Mat { rows: 0, ..self.b.matrix(0) }) };
            }
            several(beta, 0..1);
            return several(T::of_number(Scalar::Int(1)), 1..count);
        }
        let work = c.rows.saturating_mul(c.cols).saturating_mul(a.cols);
        let each = |range: Range<usize>| several(beta, range);
        if count == 1 || work >= PRODUCT_SHARED { each(0..count) } else { parallel(count, work / PRODUCT_PER_ELEMENT + 1, CHEAP, &each) }
    }

    /// Returns where the matrices of index `i` begin.
    fn offsets(&self, i: usize) -> [i64; 3] {
        let (mut offsets, mut rest) = ([0; 3], i);
        let mut walk = |d: usize, at: usize| {
            for (offset, t) in offsets.iter_mut().zip([&self.c, &self.a, &self.b]) {
                *offset += at as i64 * t.layout.strides[d];
            }
        };
        for d in (1..self.shape.len()).rev() {
            let size = self.shape[d] as usize;
            walk(d, rest % size);
            rest /= size;
        }
        if !self.shape.is_empty() {
            walk(0, rest);
        }
        if self.summed {
            offsets[0] = 0;
        }
        offsets
    }
}

/// `c = beta * c + alpha * (a @ b)` for matrices `[c, a, b]`, by the kernel for groups if there is one
///
/// # Safety
/// As for [`super::gemm`]. With a kernel, C must have elements, and A and B groups.
unsafe fn gemm_of<T: Gemm>(kernel: Option<ProductKernel<T>>, (beta, alpha): (T, T), [c, a, b]: [Mat<T>; 3]) {
    // SAFETY: the caller keeps this function's contract.
    unsafe {
        match kernel {
            None => gemm_by_vendor(beta, c, alpha, a, b),
            Some(_) if alpha == T::ZERO => scale(beta, c),
            Some(kernel) => Product { kernel, beta, c, alpha, a, b }.run(),
        }
    }
}

/// [`gemm_of`] for several products of matrices of equal layouts. `at` returns where each product's matrices begin, in
/// elements from the first. A BLAS that the program has chosen computes them if it can ([`gemm_by_vendor`]).
///
/// # Safety
/// As for [`super::gemm`], for every product.
unsafe fn gemm_batch<T: Gemm>(
    kernel: Option<ProductKernel<T>>,
    (beta, alpha): (T, T),
    [c, a, b]: [Mat<T>; 3],
    products: Range<usize>,
    at: impl Fn(usize) -> [isize; 3],
) {
    let empty = a.cols == 0 || alpha == T::ZERO || c.rows == 1 || thorn_lapack::vendor::current().is_some();
    if !empty
        && kernel.is_none()
        && let Some(tiny) = tiny::kernel(&c, &a, &b)
    {
        // SAFETY: the caller keeps this function's contract, and this processor has the level.
        return unsafe { tiny.run(level(), (beta, alpha), [c, a, b], products, at) };
    }
    for i in products {
        let at = at(i);
        let matrices = [(c, at[0]), (a, at[1]), (b, at[2])].map(|(m, at)| Mat { data: m.data.wrapping_offset(at), ..m });
        // SAFETY: the caller keeps this function's contract.
        unsafe { gemm_of(kernel, (beta, alpha), matrices) };
    }
}
