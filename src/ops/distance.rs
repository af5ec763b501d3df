//! Distances between tensors, and between the rows of matrices.

use super::loss::made;
use super::matmul::forms::matmul;
use super::pointwise::arithmetic::{cadd, clamp, cmul, csub, mul, sub_tensor};
use super::pointwise::choose::choose_value;
use super::pointwise::compare::isfinite;
use super::pointwise::function::sqrt;
use super::reduce::{Over, To, mean, norm, number, sum};
use super::result::deliver;
use super::{copy, view};
use crate::device::Device;
use crate::dtype::{Domain, Dtype, Promotion};
use crate::error::{Result, bail};
use crate::layout::{Dims, broadcast_shape};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The p-norm of `a - b`, with broadcasting. The difference of floats and its norm are computed in float64.
pub fn dist(a: &Tensor, b: &Tensor, p: f64) -> Result<f64> {
    let (of_a, of_b) = (a.defined()?, b.defined()?);
    let common = Promotion::default().tensor(of_a, a.ndim()).tensor(of_b, b.ndim()).result().unwrap_or(of_a);
    let wide = if common.is_float() { Dtype::Float64 } else { common };
    let (a, b) = (copy::to_dtype(a, common)?, copy::to_dtype(b, common)?);
    let difference = |a: &Tensor, b: &Tensor| made(|r| sub_tensor.run_in(wide, &[r, a, b], &[]));
    let (shape, n) = (a.layout()?.shape, a.layout()?.numel());
    if n <= DIFFERENCES || b.layout()?.shape != shape || a.device() != Device::Cpu {
        let difference = difference(&a, &b)?;
        return number(|to| norm(to, &difference, p, Over::Dims(&[]), None));
    }
    // The norm of the norms of parts. For p = 0, a norm is a count, so the counts are added.
    let (a, b) = (view::reshape(&a, &[-1])?, view::reshape(&b, &[-1])?);
    let norms = Tensor::empty(Dtype::Float64, &[(n - 1) / DIFFERENCES + 1])?;
    for (k, first) in (0..n).step_by(DIFFERENCES as usize).enumerate() {
        let part = |t: &Tensor| view::derive(t, |l| l.narrow(0, first, DIFFERENCES.min(n - first)));
        let place = view::derive(&norms, |l| l.select(0, k as i64))?;
        norm(To::tensor(&place, false), &difference(&part(&a)?, &part(&b)?)?, p, Over::Dims(&[]), Some(Dtype::Float64))?;
    }
    if p == 0.0 { number(|to| sum(to, &norms, Over::Dims(&[]), None)) } else { number(|to| norm(to, &norms, p, Over::Dims(&[]), None)) }
}

/// The number of differences that are computed at a time.
const DIFFERENCES: i64 = 64 * 1024;
/// If a side has more rows than this, Euclidean distances are computed by a matrix product, unless the mode says otherwise.
const BY_PRODUCT: i64 = 25;

/// The method that `cdistMode` uses for Euclidean distances. Other norms are always computed from the differences.
pub type THDistanceMode = i32;
/// A matrix product if either operand has more than 25 rows, otherwise the differences.
pub const TH_DISTANCE_AUTO: THDistanceMode = 0;
/// A matrix product, which is faster for many rows. The error of a squared distance is a few eps of the rows' squared distances from the
/// mean.
pub const TH_DISTANCE_PRODUCT: THDistanceMode = 1;
/// The differences of all pairs of rows, which are exact for small distances.
pub const TH_DISTANCE_DIFFERENCES: THDistanceMode = 2;

/// Returns true if distances are computed by a matrix product. `rows` are the numbers of rows of both sides.
pub(crate) fn is_product(p: f64, mode: THDistanceMode, rows: [i64; 2]) -> bool {
    let many = rows.into_iter().any(|n| n > BY_PRODUCT);
    p == 2.0 && (mode == TH_DISTANCE_PRODUCT || (mode == TH_DISTANCE_AUTO && many))
}

fn check_norm(p: f64) -> Result<()> {
    if p.is_nan() || p < 0.0 {
        bail!(Argument, "expected a norm of p >= 0, got {}", Scalar::from(p))
    }
    Ok(())
}

/// `r[k]` = the p-norm of the difference of rows `i` and `j` of `t`, for each pair `i < j` in row-major order
pub fn pdist(r: &Tensor, t: &Tensor, p: f64) -> Result<()> {
    let (dtype, shape) = (Domain::Float.check(t.defined()?)?, t.layout()?.shape);
    check_norm(p)?;
    let [rows, width] = shape[..] else { bail!(Shape, "expected a matrix of rows, got shape {:?}", shape.as_slice()) };
    // The product can only overflow if rows are empty, because memory cannot hold this many rows.
    let Some(pairs) = rows.checked_mul((rows - 1).max(0)).map(|n| n / 2) else {
        bail!(Shape, "the pairs of {rows} rows are more than 2^62")
    };
    let t = copy::to_dtype(t, dtype.compute())?;
    let made = Tensor::empty(dtype.compute(), &[pairs])?;
    if width == 0 {
        copy::fill(&made, Scalar::Int(0))?;
    } else {
        let mut first = 0;
        for i in 0..rows - 1 {
            let left = rows - 1 - i;
            let part = |t: &Tensor, from, n| view::derive(t, |l| l.narrow(0, from, n));
            let difference = Tensor::fresh()?;
            csub(&difference, &part(&t, i, 1)?, Scalar::Int(1), &part(&t, i + 1, left)?)?;
            norm(To::Tensors([Some(&part(&made, first, left)?), None], false), &difference, p, Over::Dim(-1), None)?;
            first += left;
        }
    }
    deliver([Some((r, dtype, &copy::to_dtype(&made, dtype)?))])
}

/// `r[.., i, j]` = the p-norm of the difference of row `i` of `a` and row `j` of `b`
pub fn cdist(r: &Tensor, a: &Tensor, b: &Tensor, p: f64, mode: THDistanceMode) -> Result<()> {
    let (dtype, of_b) = (a.defined()?, b.defined()?);
    if !dtype.is_float() || of_b != dtype {
        bail!(Dtype, "expected floats of one dtype, got {dtype} and {of_b}")
    }
    check_norm(p)?;
    if !(TH_DISTANCE_AUTO..=TH_DISTANCE_DIFFERENCES).contains(&mode) {
        bail!(Argument, "{mode} is no THDistanceMode, expected {TH_DISTANCE_AUTO} to {TH_DISTANCE_DIFFERENCES}")
    }
    let (of_a, of_b) = (a.layout()?.shape, b.layout()?.shape);
    let (Some(x), Some(y)) = (of_a.len().checked_sub(2), of_b.len().checked_sub(2)) else {
        bail!(Shape, "expected matrices of rows, got shapes {:?} and {:?}", &of_a[..], &of_b[..])
    };
    let (width, rows, others) = (of_a[x + 1], of_a[x], of_b[y]);
    if of_b[y + 1] != width {
        bail!(Shape, "rows of {width} and {} elements", of_b[y + 1])
    }
    let batch = broadcast_shape(&of_a[..x], &of_b[..y])?;
    let shape = |ends: [i64; 2]| -> Dims { batch.iter().copied().chain(ends).collect() };
    let result = shape([rows, others]);
    let wide =
        |t: &Tensor, ends: [i64; 2]| -> Result<Tensor> { copy::to_dtype(&view::derive(t, |l| l.expand(&shape(ends)))?, dtype.compute()) };
    let (a, b) = (wide(a, [rows, width])?, wide(b, [others, width])?);
    let made = Tensor::empty(dtype.compute(), &result)?;
    if result.contains(&0) {
        // The result has no elements.
    } else if width == 0 {
        copy::fill(&made, Scalar::Int(0))?;
    } else if is_product(p, mode, [rows, others]) {
        by_product(&made, &a, &b)?;
    } else {
        by_differences(&made, &a, &b, p)?;
    }
    deliver([Some((r, dtype, &copy::to_dtype(&made, dtype)?))])
}

/// `sqrt(|x|^2 - 2 x y + |y|^2)` for rows from which the mean of the rows of `b` is subtracted, because rounding errors grow with the
/// squares. Sums that rounding makes negative become 0.
fn by_product(r: &Tensor, a: &Tensor, b: &Tensor) -> Result<()> {
    let centre = Tensor::fresh()?;
    mean(To::tensor(&centre, true), b, Over::Dim(-2), None)?;
    // A mean that is not finite would make all distances NaN, so it is replaced by 0.
    let finite = Tensor::fresh()?;
    isfinite.run([&finite, &centre], &[])?;
    choose_value(&centre, &finite, &centre, Scalar::Int(0), false)?;
    let centred = |t: &Tensor| -> Result<Tensor> {
        let r = Tensor::fresh()?;
        csub(&r, t, Scalar::Int(1), &centre)?;
        Ok(r)
    };
    let (a, b) = (&centred(a)?, &centred(b)?);
    let squares = |t: &Tensor, dim: i32| -> Result<Tensor> {
        let norms = Tensor::fresh()?;
        norm(To::Tensors([Some(&norms), None], false), t, 2.0, Over::Dim(-1), None)?;
        cmul.run([&norms, &norms, &norms], &[])?;
        view::derive(&norms, |l| l.unsqueeze(dim))
    };
    matmul(r, a, &view::derive(b, |l| l.transpose(-2, -1))?)?;
    mul.run([r, r], &[Scalar::Int(-2)])?;
    cadd(r, r, Scalar::Int(1), &squares(a, -1)?)?;
    cadd(r, r, Scalar::Int(1), &squares(b, -2)?)?;
    clamp(r, r, Scalar::Int(0), Scalar::Float(f64::INFINITY))?;
    sqrt.run([r, r], &[])
}

/// Distances from differences. The number of rows at a time is chosen so that the differences stay in the caches.
fn by_differences(r: &Tensor, a: &Tensor, b: &Tensor, p: f64) -> Result<()> {
    let shape = b.layout()?.shape;
    let each = (DIFFERENCES / shape.iter().product::<i64>().max(1)).max(1);
    let rows = a.layout()?.shape[a.ndim() - 2];
    let b = view::derive(b, |l| l.unsqueeze(-3))?;
    for first in (0..rows).step_by(each as usize) {
        let part = |t: &Tensor| view::derive(t, |l| l.narrow(-2, first, each.min(rows - first)));
        let (place, a) = (part(r)?, view::derive(&part(a)?, |l| l.unsqueeze(-2))?);
        let difference = Tensor::fresh()?;
        csub(&difference, &a, Scalar::Int(1), &b)?;
        norm(To::Tensors([Some(&place), None], false), &difference, p, Over::Dim(-1), None)?;
    }
    Ok(())
}
