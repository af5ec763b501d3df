//! Matrix products.

use super::copy;
use super::operand::Operand;
use super::result::Target;
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
    let dtype = a.defined()?;
    let inputs = [Operand::of(a)?, Operand::of(b)?];
    let shape = product_shape(&inputs[0].layout, &inputs[1].layout, ndims)?;
    check_types(dtype, &[Some(b), t.map(|(_, t)| t)], &[Some(alpha), t.map(|(beta, _)| beta)])?;
    let addend = t.map(|(_, t)| Operand::of(t)).transpose()?;
    addend.iter().try_for_each(|addend| addend.layout.broadcast_to(&shape).map(drop))?;
    let result = Target::check(r, dtype, &shape)?;
    let compute = product_type(dtype);
    let converted = match dtype == compute {
        true => None,
        false => Some([Operand::of(&copy::to_dtype(a, compute)?)?, Operand::of(&copy::to_dtype(b, compute)?)?]),
    };
    let [left, right] = converted.as_ref().unwrap_or(&inputs);
    let beta = t.filter(|(beta, _)| beta.to_f64() != 0.0);
    let direct = result.dtype == compute && dtype == compute;
    let disjoint = direct && result.kept.as_ref().is_some_and(|out| must_be_disjoint(r, out, [left, right], beta.map(|(_, t)| t)));
    let inputs = [Some(a), Some(b), t.map(|(_, t)| t)];
    let placed = result.place(disjoint, &|own| inputs.iter().flatten().any(|t| t.storage().is_some_and(|s| s.overlaps(own))))?;
    // Where the product is computed: in place of the result, if that has the type for it.
    let made = if direct { None } else { Some(Tensor::empty(compute, &shape)?) };
    let made_operand = made.as_ref().map(Operand::of).transpose()?;
    let out = made_operand.as_ref().unwrap_or(&placed.written);
    if let (Some((_, t)), Some(addend)) = (beta, &addend)
        && !(t.is(r) && out.first() == addend.first())
    {
        copy::copy_elements(out, addend)?;
    }
    multiply(compute, beta.map_or(Scalar::Int(0), |(beta, _)| beta), out, alpha, left, right)?;
    if let Some(made) = &made {
        // Wrapped or rounded to the common dtype first: what is stored is that, converted.
        copy::copy_elements(&placed.written, &Operand::of(&copy::to_dtype(made, dtype)?)?)?;
    }
    placed.commit()
}

/// Whether writing `out`, the elements of `r`, would change what is still to be read.
fn must_be_disjoint(r: &Tensor, out: &Operand, inputs: [&Operand; 2], addend: Option<&Tensor>) -> bool {
    let (start, end) = out.span();
    let overlaps = |i: &Operand| {
        let (a, b) = i.span();
        a < end && start < b
    };
    inputs.into_iter().any(overlaps) || addend.is_some_and(|t| !t.is(r) && Operand::of(t).is_ok_and(|t| overlaps(&t)))
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
            // SAFETY: every layout was checked against its storage; `must_be_disjoint` keeps the result off the inputs.
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
