//! Named products: of matrices, of vectors, of batches, and `matmul`, which accepts all of these.

use super::{Addend, MATRICES, SUM, check_types, fast_path, product};
use crate::device::Device;
use crate::error::{Result, bail};
use crate::launch::ProductDims;
use crate::ops::pointwise::arithmetic::{addcmul, cmul};
use crate::ops::view;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

const ONE: Scalar = Scalar::Int(1);

/// `r = m1 @ m2`
pub fn mm(r: &Tensor, m1: &Tensor, m2: &Tensor) -> Result<()> {
    if fast_path::mm(r, m1, m2).is_some() {
        return Ok(());
    }
    of_matrices(r, None, ONE, m1, m2)
}

/// `r = mat @ vec`
pub fn mv(r: &Tensor, mat: &Tensor, vec: &Tensor) -> Result<()> {
    of_vector(r, None, ONE, mat, vec)
}

/// `r = beta * t + alpha * (m1 @ m2)`
pub fn addmm(r: &Tensor, beta: Scalar, t: &Tensor, alpha: Scalar, m1: &Tensor, m2: &Tensor) -> Result<()> {
    of_matrices(r, Some((beta, t)), alpha, m1, m2)
}

/// `r = beta * t + alpha * (mat @ vec)`
pub fn addmv(r: &Tensor, beta: Scalar, t: &Tensor, alpha: Scalar, mat: &Tensor, vec: &Tensor) -> Result<()> {
    of_vector(r, Some((beta, t)), alpha, mat, vec)
}

/// `r = b1 @ b2` for each entry of a batch
pub fn bmm(r: &Tensor, b1: &Tensor, b2: &Tensor) -> Result<()> {
    of_batches(r, None, ONE, b1, b2, MATRICES)
}

/// `r = beta * t + alpha * (b1 @ b2)` for each entry of a batch
pub fn baddbmm(r: &Tensor, beta: Scalar, t: &Tensor, alpha: Scalar, b1: &Tensor, b2: &Tensor) -> Result<()> {
    of_batches(r, Some((beta, t)), alpha, b1, b2, MATRICES)
}

/// `r = beta * t + alpha * (b1[0] @ b2[0] + b1[1] @ b2[1] + ...)`
pub fn addbmm(r: &Tensor, beta: Scalar, t: &Tensor, alpha: Scalar, b1: &Tensor, b2: &Tensor) -> Result<()> {
    of_batches(r, Some((beta, t)), alpha, b1, b2, SUM)
}

/// `r = beta * t + alpha * (v1 @ v2^T)`
pub fn addr(r: &Tensor, beta: Scalar, t: &Tensor, alpha: Scalar, v1: &Tensor, v2: &Tensor) -> Result<()> {
    check_ndims([v1, v2], [1, 1])?;
    // One elementwise pass, because each element of the product has a single term. The kernels of products round differently on a GPU.
    if beta == ONE && alpha.to_f64() != 0.0 && t.device() == Device::Cpu {
        let dtype = v1.defined()?;
        check_types(dtype, &[Some(v2), Some(t)], &[Some(alpha)])?;
        t.layout()?.broadcast_to(&[v1.layout()?.shape[0], v2.layout()?.shape[0]])?;
        return addcmul.run_in(dtype, &[r, t, &column(v1)?, v2], &[alpha]);
    }
    product(r, Some((beta, t)), alpha, &column(v1)?, &row(v2)?, MATRICES)
}

/// `r[i, j] = v1[i] * v2[j]`, in the promoted dtype
pub fn outer(r: &Tensor, v1: &Tensor, v2: &Tensor) -> Result<()> {
    check_ndims([v1, v2], [1, 1])?;
    cmul.run([r, &column(v1)?, v2], &[])
}

/// `r` = the sum of `a[i] * b[i]`
pub fn dot(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    check_ndims([a, b], [1, 1])?;
    let (of_a, of_b) = (a.layout()?.shape[0], b.layout()?.shape[0]);
    if of_a != of_b {
        bail!(Shape, "vectors of {of_a} and {of_b} elements")
    }
    product(r, None, ONE, &row(a)?, &column(b)?, ProductDims { rows: false, columns: false, batch: true })
}

/// `r = a @ b`. A vector is a row on the left and a column on the right; leading dimensions broadcast.
pub fn matmul(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let (rows, columns) = (a.ndim() > 1, b.ndim() > 1);
    if a.ndim() == 0 || b.ndim() == 0 {
        bail!(Shape, "a scalar is no matrix; multiply by cmul")
    }
    let left = if rows { a.clone() } else { row(a)? };
    let right = if columns { b.clone() } else { column(b)? };
    product(r, None, ONE, &left, &right, ProductDims { rows, columns, batch: true })
}

fn of_matrices(r: &Tensor, t: Addend<'_>, alpha: Scalar, a: &Tensor, b: &Tensor) -> Result<()> {
    check_ndims([a, b], [2, 2])?;
    product(r, t, alpha, a, b, MATRICES)
}

fn of_vector(r: &Tensor, t: Addend<'_>, alpha: Scalar, mat: &Tensor, vec: &Tensor) -> Result<()> {
    check_ndims([mat, vec], [2, 1])?;
    let right = column(vec)?;
    product(r, t, alpha, mat, &right, ProductDims { columns: false, ..MATRICES })
}

fn of_batches(r: &Tensor, t: Addend<'_>, alpha: Scalar, a: &Tensor, b: &Tensor, dims: ProductDims) -> Result<()> {
    check_ndims([a, b], [3, 3])?;
    let (of_a, of_b) = (a.layout()?.shape, b.layout()?.shape);
    if of_a[0] != of_b[0] {
        bail!(Shape, "batches of {} and {} matrices", of_a[0], of_b[0])
    }
    product(r, t, alpha, a, b, dims)
}

/// A vector as a matrix of one row.
fn row(t: &Tensor) -> Result<Tensor> {
    view::derive(t, |l| l.unsqueeze(0))
}

/// A vector as a matrix of one column.
fn column(t: &Tensor) -> Result<Tensor> {
    view::derive(t, |l| l.unsqueeze(1))
}

fn check_ndims(tensors: [&Tensor; 2], expected: [usize; 2]) -> Result<()> {
    tensors.iter().try_for_each(|t| t.defined().map(drop))?;
    if [tensors[0].ndim(), tensors[1].ndim()] != expected {
        let ([a, b], [x, y]) = ([tensors[0].layout()?, tensors[1].layout()?], expected);
        bail!(Shape, "expected tensors with {x} and {y} dimensions, got shapes {:?} and {:?}", &a.shape[..], &b.shape[..])
    }
    Ok(())
}
