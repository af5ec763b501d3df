//! Matrix products: one, or one for each place of a batch.
//!
//! Every product has the form `r = beta * t + alpha * (a @ b)` with matrices in the last two dimensions of `a` and `b`, whose dimensions in front
//! broadcast. Vectors are matrices of one row or column, which the result then lacks.

mod batch;
pub mod contract;
pub mod einsum;
pub mod forms;
mod pairs;

use super::copy;
use super::operand::{Operand, same_dtype};
use super::pointwise::check_whole;
use super::result::Target;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::layout::{Dims, broadcast_shape};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use batch::{Batch, Elements};

pub use forms::{addmm, addmv, mm, mv};

/// The type products are computed in: float32 for 16-bit floats, int32 for small integers, whose wrapped sums agree in the low bits.
pub(super) fn product_type(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::Uint8 | Dtype::Int8 | Dtype::Int16 => Dtype::Int32,
        other => other.compute(),
    }
}

/// Runs `$body` with `$T` bound to a type that products are computed in.
macro_rules! products {
    ($dtype:expr, $T:ident => $body:expr) => {
        match $dtype {
            Dtype::Float32 => {
                type $T = f32;
                $body
            }
            Dtype::Float64 => {
                type $T = f64;
                $body
            }
            Dtype::Int32 => {
                type $T = i32;
                $body
            }
            Dtype::Int64 => {
                type $T = i64;
                $body
            }
            other => return Err($crate::dtype::Domain::Numeric.refusal(other)),
        }
    };
}
pub(super) use products;

/// Which dimensions a result has.
#[derive(Clone, Copy)]
struct Form {
    /// That of the rows of `a`.
    rows: bool,
    /// That of the columns of `b`.
    columns: bool,
    /// Those of the batch; without them the products are summed.
    batch: bool,
}

impl Form {
    const MATRICES: Form = Form { rows: true, columns: true, batch: true };
    const SUM: Form = Form { batch: false, ..Form::MATRICES };
}

/// `beta * t`, what a product is added to.
type Addend<'a> = Option<(Scalar, &'a Tensor)>;

/// All products: `r = beta * t + alpha * (a @ b)`, where `a` and `b` end in matrices that multiply.
fn product(r: &Tensor, t: Addend<'_>, alpha: Scalar, a: &Tensor, b: &Tensor, form: Form) -> Result<()> {
    let dtype = a.defined()?;
    let inputs = [Operand::of(a)?, Operand::of(b)?];
    let [of_a, of_b] = [&inputs[0].layout.shape, &inputs[1].layout.shape];
    let (ends, starts) = (of_a.len() - 2, of_b.len() - 2);
    let ([m, columns], [rows, n]) = ([of_a[ends], of_a[ends + 1]], [of_b[starts], of_b[starts + 1]]);
    if columns != rows {
        // A vector as it was given.
        let (a, b) = (&of_a[if form.rows { 0 } else { 1 }..], &of_b[..of_b.len() - if form.columns { 0 } else { 1 }]);
        bail!(Shape, "shapes {a:?} and {b:?} do not multiply: {columns} columns, {rows} rows")
    }
    let batch = if ends + starts == 0 { Dims::new() } else { broadcast_shape(&of_a[..ends], &of_b[..starts])? };
    let mut shape = if form.batch { batch.clone() } else { Dims::new() };
    [(form.rows, m), (form.columns, n)].into_iter().filter(|(has, _)| *has).for_each(|(_, size)| shape.push(size));
    check_types(dtype, &[Some(b), t.map(|(_, t)| t)], &[Some(alpha), t.map(|(beta, _)| beta)])?;
    let addend = t.map(|(_, t)| Operand::of(t)).transpose()?;
    addend.iter().try_for_each(|addend| addend.layout.broadcast_to(&shape).map(drop))?;
    let result = Target::check(r, dtype, &shape)?;
    let compute = product_type(dtype);
    let in_pairs = pairs::are_multiplied(dtype, [m, n, rows]);
    let converted = match dtype == compute {
        true => None,
        false if in_pairs => Some(pairs::of(&inputs)?),
        false => Some([Operand::of(&copy::to_dtype(a, compute)?)?, Operand::of(&copy::to_dtype(b, compute)?)?]),
    };
    let [left, right] = converted.as_ref().unwrap_or(&inputs);
    let beta = t.filter(|(beta, _)| beta.to_f64() != 0.0);
    let direct = result.dtype == compute && dtype == compute;
    let disjoint = direct && result.kept.as_ref().is_some_and(|out| must_be_disjoint(r, out, [left, right], beta.map(|(_, t)| t)));
    let tensors = [Some(a), Some(b), t.map(|(_, t)| t)];
    let placed = result.place(disjoint, &|own| tensors.iter().flatten().any(|t| t.storage().is_some_and(|s| s.overlaps(own))))?;
    // Where the product is computed: in place of the result, if that has the type for it.
    let made = if direct { None } else { Some(Tensor::empty(compute, &shape)?) };
    let made_operand = made.as_ref().map(Operand::of).transpose()?;
    let out = made_operand.as_ref().unwrap_or(&placed.written);
    if let (Some((_, t)), Some(addend)) = (beta, &addend)
        && !(t.is(r) && out.first() == addend.first())
    {
        copy::copy_elements(out, addend)?;
    }
    let beta = beta.map_or(Scalar::Int(0), |(beta, _)| beta);
    let elements = if in_pairs { Elements::Pairs } else { Elements::Of(compute) };
    if batch.is_empty() {
        batch::one(elements, beta, alpha, form, [out, left, right])?;
    } else {
        Batch::new(&batch, form, [out, left, right])?.multiply(elements, beta, alpha)?;
    }
    if let Some(made) = &made {
        // Wrapped or rounded to the common dtype first: what is stored is that, converted.
        let rounded = if placed.written.dtype == dtype { made.clone() } else { copy::to_dtype(made, dtype)? };
        copy::copy_elements(&placed.written, &Operand::of(&rounded)?)?;
    }
    placed.commit()
}

/// Returns true if writing `out`, the elements of `r`, would change what is still to be read.
fn must_be_disjoint(r: &Tensor, out: &Operand, inputs: [&Operand; 2], addend: Option<&Tensor>) -> bool {
    let (start, end) = out.span();
    let overlaps = |i: &Operand| {
        let (a, b) = i.span();
        a < end && start < b
    };
    inputs.into_iter().any(overlaps) || addend.is_some_and(|t| !t.is(r) && Operand::of(t).is_ok_and(|t| overlaps(&t)))
}

/// The dtype that a product of several factors is computed in: 16-bit floats are rounded once, behind the last one.
fn wide(dtype: Dtype, factors: u64) -> Result<Dtype> {
    Domain::Numeric.check(dtype)?;
    Ok(if factors > 2 { dtype.compute() } else { dtype })
}

fn check_types(dtype: Dtype, others: &[Option<&Tensor>], factors: &[Option<Scalar>]) -> Result<()> {
    Domain::Numeric.check(dtype)?;
    others.iter().flatten().try_for_each(|other| same_dtype(dtype, other))?;
    factors.iter().flatten().try_for_each(|&factor| check_whole(dtype, factor))
}
