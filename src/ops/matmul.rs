//! Matrix products.

use super::copy;
use super::prepare::{self, Operand};
use crate::cpu::matmul::{Gemm, Mat, gemm};
use crate::dtype::{Category, Dtype, Element};
use crate::error::{Result, bail};
use crate::layout::{Dims, Layout};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// `r = m1 @ m2`
pub fn mm(r: &Tensor, m1: &Tensor, m2: &Tensor) -> Result<()> {
    product(r, None, Scalar::Int(1), m1, m2, [2, 2])
}

/// `r = mat @ vec`
pub fn mv(r: &Tensor, mat: &Tensor, vec: &Tensor) -> Result<()> {
    product(r, None, Scalar::Int(1), mat, vec, [2, 1])
}

/// `r = beta * t + alpha * (m1 @ m2)`
pub fn addmm(r: &Tensor, beta: Scalar, t: &Tensor, alpha: Scalar, m1: &Tensor, m2: &Tensor) -> Result<()> {
    product(r, Some((beta, t)), alpha, m1, m2, [2, 2])
}

/// `r = beta * t + alpha * (mat @ vec)`
pub fn addmv(r: &Tensor, beta: Scalar, t: &Tensor, alpha: Scalar, mat: &Tensor, vec: &Tensor) -> Result<()> {
    product(r, Some((beta, t)), alpha, mat, vec, [2, 1])
}

/// The type products are computed in: float32 for 16-bit floats, int32 for small integers, whose wrapped sums agree in the low bits.
fn product_type(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::Uint8 | Dtype::Int8 | Dtype::Int16 => Dtype::Int32,
        other => other.compute(),
    }
}

/// All products: `r = beta * t + alpha * (a @ b)`, where `a` and `b` have `ndims` dimensions.
fn product(r: &Tensor, t: Option<(Scalar, &Tensor)>, alpha: Scalar, a: &Tensor, b: &Tensor, ndims: [usize; 2]) -> Result<()> {
    prepare::same_device(&[r, a, b])?;
    let dtype = a.defined()?;
    let inputs = [Operand::of(a)?, Operand::of(b)?];
    let shape = product_shape(&inputs[0].layout, &inputs[1].layout, ndims)?;
    check_types(dtype, &[Some(b), t.map(|(_, t)| t)], &[Some(alpha), t.map(|(beta, _)| beta)])?;
    let addend = t.map(|(_, t)| Operand::of(t)?.layout.broadcast_to(&shape)).transpose()?;
    if let Some(have) = r.dtype()
        && !dtype.can_cast(have)
    {
        bail!(Dtype, "a result of {dtype} cannot be stored in a tensor of {have}")
    }
    let compute = product_type(dtype);
    let converted = match dtype == compute {
        true => None,
        false => Some([Operand::of(&copy::to_dtype(a, compute)?)?, Operand::of(&copy::to_dtype(b, compute)?)?]),
    };
    let [left, right] = converted.as_ref().unwrap_or(&inputs);
    let beta = t.filter(|(beta, _)| beta.to_f64() != 0.0);
    let (target, out) = target(r, dtype, compute, &shape, &[left, right], beta.map(|(_, t)| t))?;
    if let (Some((_, t)), Some(_)) = (beta, addend)
        && !t.is(&target)
    {
        copy::copy(&target, t)?;
    }
    multiply(compute, beta.map_or(Scalar::Int(0), |(beta, _)| beta), &out, alpha, left, right)?;
    if target.is(r) {
        return Ok(());
    }
    // Wrapped or rounded to the common dtype first: what is stored is that, converted.
    prepare::deliver(r, &copy::to_dtype(&target, dtype)?, &inputs)
}

/// Where the product is computed: `r` itself where its memory can be written directly, else a new tensor.
fn target(
    r: &Tensor,
    dtype: Dtype,
    compute: Dtype,
    shape: &[i64],
    inputs: &[&Operand],
    addend: Option<&Tensor>,
) -> Result<(Tensor, Operand)> {
    if r.dtype() == Some(compute) && dtype == compute {
        let out = Operand::of(r)?;
        let (start, end) = out.span();
        let apart = |i: &&Operand| {
            let (a, b) = i.span();
            b <= start || end <= a
        };
        let partly_addend = addend.is_some_and(|t| !t.is(r) && Operand::of(t).is_ok_and(|t| !apart(&&t)));
        if out.layout.shape.as_slice() == shape && !out.layout.overlaps_itself() && inputs.iter().all(apart) && !partly_addend {
            return Ok((r.clone(), out));
        }
    }
    let made = Tensor::empty(compute, shape)?;
    let out = Operand::of(&made)?;
    Ok((made, out))
}

fn product_shape(a: &Layout, b: &Layout, ndims: [usize; 2]) -> Result<Dims> {
    if [a.ndim(), b.ndim()] != ndims {
        bail!(Shape, "expected tensors with {} and {} dimensions, got shapes {:?} and {:?}", ndims[0], ndims[1], &a.shape[..], &b.shape[..])
    }
    if a.shape[1] != b.shape[0] {
        bail!(Shape, "shapes {:?} and {:?} do not multiply: {} columns, {} rows", &a.shape[..], &b.shape[..], a.shape[1], b.shape[0])
    }
    Ok(a.shape[..1].iter().chain(&b.shape[1..]).copied().collect())
}

fn check_types(dtype: Dtype, others: &[Option<&Tensor>], factors: &[Option<Scalar>]) -> Result<()> {
    if dtype.category() == Category::Bool {
        bail!(Dtype, "not defined for {dtype}")
    }
    for other in others.iter().flatten() {
        let other = other.defined()?;
        if other != dtype {
            bail!(Dtype, "expected tensors of one dtype, got {dtype} and {other}")
        }
    }
    for factor in factors.iter().flatten() {
        if !factor.is_whole() && !dtype.is_float() {
            bail!(Dtype, "the factor {} of {dtype} tensors must be an integer", factor.to_f64())
        }
    }
    Ok(())
}

fn multiply(compute: Dtype, beta: Scalar, c: &Operand, alpha: Scalar, a: &Operand, b: &Operand) -> Result<()> {
    macro_rules! run {
        ($T:ty) => {{
            let mats: (Mat<$T>, Mat<$T>, Mat<$T>) = (matrix(c), matrix(a), matrix(b));
            // SAFETY: every layout was checked against its storage; `target` keeps the result off the inputs.
            unsafe { gemm::<$T>(Element::from_scalar(beta), mats.0, Element::from_scalar(alpha), mats.1, mats.2) }
        }};
    }
    match compute {
        Dtype::Float32 => run!(f32),
        Dtype::Float64 => run!(f64),
        Dtype::Int32 => run!(i32),
        Dtype::Int64 => run!(i64),
        other => bail!(Dtype, "not defined for {other}"),
    }
    Ok(())
}

/// A matrix as it lies; a vector is one column.
fn matrix<T: Gemm>(t: &Operand) -> Mat<T> {
    let (shape, strides) = (&t.layout.shape, &t.layout.strides);
    Mat {
        data: t.first().cast(),
        rows: shape[0] as usize,
        cols: shape.get(1).map_or(1, |&n| n as usize),
        row_stride: strides[0] as isize,
        col_stride: strides.get(1).map_or(1, |&s| s as isize),
    }
}
