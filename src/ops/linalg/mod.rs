//! Linear algebra. Matrices are the last two dimensions of a tensor; the dimensions before them form a batch.
//!
//! Operands are copied into column-major order, which decompositions need, and decomposed in place. The results of the caller change when
//! all matrices of the batch are done.

pub mod blas;
pub mod determinant;
pub mod eigen;
pub mod exponential;
pub mod factor;
pub mod orthogonal;
pub mod solve;

use super::copy::contiguous_copy;
use super::device::{Elements, elements};
use super::{create, view};
use crate::backend;
use crate::dtype::{Domain, Dtype};
use crate::error::{Error, Kind, Result, bail};
use crate::launch::{Decompose, Decomposition, NOT_FINITE};
use crate::layout::{Dims, Layout, broadcast_shape, checked_numel};
use crate::operand::{Operand, one_dtype};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use std::fmt;

/// The largest number of lists of elements that a decomposition works on.
const MOST_LISTS: usize = 7;

/// The common dtype of the operands: float32 or float64.
fn float(operands: &[&Tensor]) -> Result<Dtype> {
    Domain::Float32And64.check(one_dtype(operands)?)
}

/// The shape of a batch of matrices, and the number of rows and columns of each matrix.
struct Matrices {
    shape: Dims,
    rows: i64,
    cols: i64,
}

impl Matrices {
    fn of(t: &Tensor) -> Result<Matrices> {
        let shape = t.layout()?.shape;
        match *shape.as_slice() {
            // LAPACK's pivots have 32 bits.
            [.., rows, cols] if rows.max(cols) > i32::MAX.into() && rows.min(cols) > 0 => {
                bail!(Unsupported, "matrices of shape {:?}, at most {} rows and columns", shape.as_slice(), i32::MAX)
            }
            [.., rows, cols] => Ok(Matrices { shape, rows, cols }),
            _ => bail!(Shape, "expected a matrix or a batch of them, got shape {:?}", shape.as_slice()),
        }
    }

    fn square(t: &Tensor) -> Result<Matrices> {
        let matrices = Matrices::of(t)?;
        if matrices.rows != matrices.cols {
            bail!(Shape, "expected square matrices, got shape {:?}", matrices.shape.as_slice())
        }
        Ok(matrices)
    }

    fn batch(&self) -> &[i64] {
        &self.shape[..self.shape.len() - 2]
    }

    fn m(&self) -> usize {
        self.rows as usize
    }

    fn n(&self) -> usize {
        self.cols as usize
    }
}

/// The sizes of a batch, followed by others.
fn sizes(batch: &[i64], others: &[i64]) -> Dims {
    batch.iter().chain(others).copied().collect()
}

/// The sizes of a batch and the number of its matrices.
struct Batch {
    sizes: Dims,
    count: usize,
}

impl Batch {
    fn new(sizes: &[i64]) -> Result<Batch> {
        Ok(Batch { sizes: sizes.into(), count: checked_numel(sizes)? as usize })
    }

    /// The batch to which two batches broadcast.
    fn both(a: &[i64], b: &[i64]) -> Result<Batch> {
        Batch::new(&broadcast_shape(a, b)?)
    }

    /// A new tensor with elements of shape `others` for each matrix.
    fn empty(&self, dtype: Dtype, others: &[i64]) -> Result<Tensor> {
        Tensor::empty(dtype, &sizes(&self.sizes, others))
    }

    /// The matrices of `t` in column-major order: a new row-major tensor with rows and columns swapped.
    fn columns(&self, t: &Tensor) -> Result<Tensor> {
        contiguous_copy(&transposed(&self.expanded(t)?)?)
    }

    /// The matrices of `t` in row-major order: the transposed matrices in column-major order.
    fn rows(&self, t: &Tensor) -> Result<Tensor> {
        contiguous_copy(&self.expanded(t)?)
    }

    fn expanded(&self, t: &Tensor) -> Result<Tensor> {
        let matrices = Matrices::of(t)?;
        t.check_bounds(&t.layout()?)?;
        view::derive(t, |l| l.expand(&sizes(&self.sizes, &[matrices.rows, matrices.cols])))
    }

    /// Decomposes each matrix in place. The lists are new tensors with a part for each matrix. Does nothing if no list has elements.
    fn decompose<const N: usize>(&self, what: Decomposition, lists: [&Tensor; N], integers: Option<&Tensor>) -> Result<Infos> {
        let mut out = [const { None }; MOST_LISTS + 2];
        for (to, t) in out.iter_mut().zip(lists) {
            *to = Some(list(t)?);
        }
        out[N] = integers.map(list).transpose()?;
        if out.iter().flatten().all(|list| list.layout().numel() == 0) {
            return Ok(Infos { batch: self.sizes.clone(), infos: None });
        }
        let infos = Tensor::empty(Dtype::Int32, &[self.count as i64])?;
        out[N + 1] = Some(list(&infos)?);
        let out = out.each_ref().map(Option::as_ref);
        let work = Decompose { what, count: self.count };
        backend::of(out.iter().copied().flatten())?.launch(&work, &out[..N + 2], &[])?;
        Ok(Infos { batch: self.sizes.clone(), infos: Some(infos) })
    }
}

/// The elements of a new row-major tensor as a one-dimensional operand.
fn list(t: &Tensor) -> Result<Operand> {
    let (dtype, n) = (t.defined()?, t.peek().0.iter().product());
    let Some(storage) = t.storage().filter(|storage| t.offset() == 0 && n <= storage.len()) else {
        bail!(Internal, "lists are new tensors")
    };
    Ok(Operand::inside(storage, dtype, Layout::contiguous(&[n])))
}

/// The `info` of each matrix of a batch.
struct Infos {
    batch: Dims,
    infos: Option<Tensor>,
}

impl Infos {
    fn list(&self) -> Result<Option<Elements<'_, i32>>> {
        self.infos.as_ref().map(elements).transpose()
    }

    /// The `info` of each matrix.
    fn tensor(self, batch: &Batch) -> Result<Tensor> {
        let none = || create::full(Dtype::Int32, &batch.sizes, Scalar::Int(0));
        self.infos.map_or_else(none, |infos| view::derive(&infos, |l| l.view(&batch.sizes)))
    }

    /// Fails with the error of the first matrix whose `info` is not 0.
    fn check(self, why: impl Fn(i32) -> Why) -> Result<()> {
        let infos = self.list()?;
        let failed = infos.iter().flat_map(|infos| infos.iter().enumerate()).find(|&(_, &info)| info != 0).map(|(i, &info)| (i, info));
        match failed {
            None => Ok(()),
            Some((_, info)) if self.batch.is_empty() => Err(Error::new(Kind::Numeric, format_args!("{}", why(info)))),
            Some((i, info)) => Err(Error::new(Kind::Numeric, format_args!("matrix {i} of the batch: {}", why(info)))),
        }
    }
}

/// The reason why a matrix could not be decomposed. Numbers are LAPACK's `info`.
enum Why {
    Singular(i32),
    SingularTriangle(i32),
    Indefinite(i32),
    DeficientRank(i32),
    NotSemidefinite,
    NotFinite,
    Eigenvalues,
    SingularValues,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Singular(k) => write!(f, "U({k}, {k}) is 0: the matrix is singular"),
            Why::SingularTriangle(k) => write!(f, "A({k}, {k}) is 0: the triangle is singular"),
            Why::Indefinite(k) => write!(f, "the leading minor of order {k} is not positive definite"),
            Why::DeficientRank(k) => write!(f, "R({k}, {k}) is 0: the matrix does not have full rank"),
            Why::NotSemidefinite => f.write_str("the matrix is not positive semidefinite"),
            Why::NotFinite => f.write_str("the matrix has elements that are infinite or not a number"),
            Why::Eigenvalues => f.write_str("the iteration for the eigenvalues did not converge"),
            Why::SingularValues => f.write_str("the iteration for the singular values did not converge"),
        }
    }
}

/// The reason why the eigenvalues could not be computed.
fn eigenvalues(info: i32) -> Why {
    if info == NOT_FINITE { Why::NotFinite } else { Why::Eigenvalues }
}

/// The reason why the singular values could not be computed.
fn singular_values(info: i32) -> Why {
    if info == NOT_FINITE { Why::NotFinite } else { Why::SingularValues }
}

/// The view with rows and columns swapped. It turns column-major matrices into row-major ones.
fn transposed(t: &Tensor) -> Result<Tensor> {
    view::derive(t, |l| l.transpose(-2, -1))
}
