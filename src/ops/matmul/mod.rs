//! Matrix products of two operands, with or without batch dimensions.
//!
//! Every product has the form `r = beta * t + alpha * (a @ b)`. The last two dimensions of `a` and `b` are matrices, and their leading
//! dimensions broadcast. A vector is passed as a matrix of one row or column; the result then lacks this dimension.

pub mod contract;
pub mod einsum;
mod fast_path;
pub mod forms;

use super::pointwise::check_whole;
use super::result::{Inputs, Writes, ready};
use crate::device::Device;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::{Matmul, ProductDims};
use crate::layout::{Dims, broadcast_shape};
use crate::operand::{Operand, same_dtype};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

pub use forms::{addmm, addmv, mm, mv};

const MATRICES: ProductDims = ProductDims { rows: true, columns: true, batch: true };
const SUM: ProductDims = ProductDims { batch: false, ..MATRICES };

/// `beta` and `t` of the addend `beta * t`.
type Addend<'a> = Option<(Scalar, &'a Tensor)>;

/// `r = beta * t + alpha * (a @ b)`, where `a` and `b` have at least two dimensions
fn product(r: &Tensor, t: Addend<'_>, alpha: Scalar, a: &Tensor, b: &Tensor, dims: ProductDims) -> Result<()> {
    let dtype = a.defined()?;
    let inputs = [Operand::of(a)?, Operand::of(b)?];
    let [of_a, of_b] = [&inputs[0].layout().shape, &inputs[1].layout().shape];
    let (ends, starts) = (of_a.len() - 2, of_b.len() - 2);
    let ([m, columns], [rows, n]) = ([of_a[ends], of_a[ends + 1]], [of_b[starts], of_b[starts + 1]]);
    if columns != rows {
        // The message shows vectors without the added dimension.
        let (a, b) = (&of_a[if dims.rows { 0 } else { 1 }..], &of_b[..of_b.len() - if dims.columns { 0 } else { 1 }]);
        bail!(Shape, "shapes {a:?} and {b:?} do not multiply: {columns} columns, {rows} rows")
    }
    let batch = if ends + starts == 0 { Dims::new() } else { broadcast_shape(&of_a[..ends], &of_b[..starts])? };
    let mut shape = if dims.batch { batch.clone() } else { Dims::new() };
    [(dims.rows, m), (dims.columns, n)].into_iter().filter(|(has, _)| *has).for_each(|(_, size)| shape.push(size));
    check_types(dtype, &[Some(b), t.map(|(_, t)| t)], &[Some(alpha), t.map(|(beta, _)| beta)])?;
    let addend = t.map(|(_, t)| Operand::of(t)).transpose()?;
    addend.iter().try_for_each(|addend| addend.layout().broadcast_to(&shape).map(drop))?;
    let beta = t.filter(|(beta, _)| beta.to_f64() != 0.0).map(|(beta, _)| beta);
    let added = addend.as_slice();
    let reads = Inputs::in_step(if beta.is_some() { added } else { &[] }).and_anywhere(&inputs);
    // The kernels of a GPU round each element when they store it, unless the products of a batch are summed one after the other.
    let rounds = inputs[0].device != Device::Cpu && dims.batch && r.dtype().is_none_or(|own| own == dtype);
    let written = if rounds { dtype } else { dtype.product_type() };
    let ready = ready(r, (dtype, &shape), Writes::STRIDED.of(written), reads)?;
    let work = Matmul { beta: beta.unwrap_or(Scalar::Int(0)), alpha, dims, batch: &batch };
    let [a, b] = &inputs;
    match added {
        [addend] if beta.is_some() => ready.launch(&work, &[a, b, addend]),
        _ => ready.launch(&work, &[a, b]),
    }
}

/// The dtype in which a product of several factors is computed: 16-bit floats are rounded only after the last factor.
fn compute_dtype(dtype: Dtype, factors: u64) -> Result<Dtype> {
    Domain::Numeric.check(dtype)?;
    Ok(if factors > 2 { dtype.compute() } else { dtype })
}

fn check_types(dtype: Dtype, others: &[Option<&Tensor>], factors: &[Option<Scalar>]) -> Result<()> {
    Domain::Numeric.check(dtype)?;
    others.iter().flatten().try_for_each(|other| same_dtype(dtype, other))?;
    factors.iter().flatten().try_for_each(|&factor| check_whole(dtype, factor))
}
