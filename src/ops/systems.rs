//! Linear systems with matrices of compressed rows: direct solution and conjugate gradients.

use super::compressed::{check_positions, elsewhere, one_dtype, product};
use super::dense::dense;
use super::device::{on_host, to_device};
use super::matmul::forms;
use super::pointwise::arithmetic::{cadd, cdiv, cmul, csub, mul};
use super::pointwise::choose::choose_value;
use super::pointwise::compare::{eqTensor, gtValue};
use super::reduce::{Over, TH_ALL_DIMS, To, nonzero_everywhere, norm};
use super::result::deliver;
use super::search::searchsorted;
use super::sequence::arange;
use super::{copy, create, view};
use crate::backend::launch;
use crate::device::{Device, DeviceGuard};
use crate::dtype::{Domain, Dtype};
use crate::error::{Error, Result, THStatus, bail};
use crate::launch::System;
use crate::operand::Operand;
use crate::scalar::{Scalar, canonical};
use crate::tensor::Tensor;
use smallvec::SmallVec;
use std::ffi::c_void;

/// Called after each step of an iteration with the step's number, from 1, and the norm of the residual divided by the norm of the
/// right-hand side. The function returns 0 to continue; any other status ends the iteration, and the iterating call fails with that status.
pub type THProgressFunction = Option<unsafe extern "C" fn(iteration: i64, residual: f64, context: *mut c_void) -> THStatus>;

/// A square matrix of compressed rows: starts, columns and values.
pub type Matrix<'a> = [&'a Tensor; 3];

/// Checks a system. Returns its dtype and order.
fn check([crow, col, values]: Matrix<'_>, b: &Tensor, b_dims: &[usize]) -> Result<(Dtype, i64)> {
    elsewhere(&[crow, col, values, b])?;
    check_positions(crow, "crow", 1)?;
    check_positions(col, "col", 0)?;
    let dtype = Domain::Float32And64.check(one_dtype(values, b)?)?;
    let [crow, col, values, b] = [crow.layout()?.shape, col.layout()?.shape, values.layout()?.shape, b.layout()?.shape];
    if values != col {
        bail!(Shape, "values of shape {:?} for {} columns", values.as_slice(), col[0])
    }
    let n = crow[0] - 1;
    if !b_dims.contains(&b.len()) || b[0] != n {
        bail!(Shape, "a right-hand side of shape {:?} for {n} rows", b.as_slice())
    }
    Ok((dtype, n))
}

/// `r` = X with `A X = b`, or `A' X = b` with `transpose`, for a matrix or vector `b`; computed in float64
pub fn solve(r: &Tensor, a: Matrix<'_>, b: &Tensor, transpose: bool) -> Result<()> {
    let (dtype, n) = check(a, b, &[1, 2])?;
    let is_vector = b.ndim() == 1;
    let columns = if is_vector { view::derive(b, |l| l.unsqueeze(0))? } else { view::derive(b, |l| l.transpose(0, 1))? };
    let device = columns.device();
    let inputs = [dense(a[0], Dtype::Int64)?, dense(a[1], Dtype::Int64)?, dense(a[2], Dtype::Float64)?, dense(&columns, Dtype::Float64)?];
    let solved = {
        let _host = DeviceGuard::on(Device::Cpu);
        let inputs = inputs.iter().map(|t| Operand::of(&on_host(t)?)).collect::<Result<SmallVec<[Operand; 4]>>>()?;
        let made = Tensor::empty(Dtype::Float64, &[if is_vector { 1 } else { columns.layout()?.shape[0] }, n])?;
        let refs: SmallVec<[&Operand; 4]> = inputs.iter().collect();
        launch(&System { transposed: transpose }, &Operand::of(&made)?, &refs)?;
        made
    };
    let solved = to_device(&view::derive(&solved, |l| if is_vector { l.select(0, 0) } else { l.transpose(0, 1) })?, device)?;
    deliver([Some((r, dtype, &copy::to_dtype(&solved, dtype)?))])
}

/// The conditions that end an iteration, and the function that observes it.
pub struct Iteration {
    /// The tolerance: the norm of the residual divided by the norm of the right-hand side.
    pub tol: f64,
    /// The largest number of steps.
    pub most: i64,
    /// A function of the caller, and its context argument.
    pub progress: (THProgressFunction, *mut c_void),
}

impl Iteration {
    /// # Safety
    /// The caller's function may be called with its context.
    unsafe fn tell(&self, step: i64, residual: f64) -> Result<()> {
        let (Some(function), context) = self.progress else { return Ok(()) };
        // SAFETY: the caller keeps the same promise.
        match unsafe { function(step, canonical(residual), context) } {
            0 => Ok(()),
            status => Err(Error::from_callback(status, format_args!("the function stopped with {status} after {step} steps"))),
        }
    }
}

/// A system that conjugate gradients solve, preconditioned by its diagonal.
struct Gradients<'a> {
    /// Starts, columns and values, row-major.
    matrix: [Tensor; 3],
    /// The reciprocal of each diagonal element.
    inverse: Tensor,
    b: Tensor,
    /// The norm of `b`, by which norms of residuals are divided; 1 if `b` is 0.
    scale: f64,
    /// The distance from 1 to the next number of the dtype.
    epsilon: f64,
    iteration: &'a Iteration,
}

impl Gradients<'_> {
    /// Writes `b - A x`, computed in float64, to `rest`. Returns its norm divided by the norm of `b`.
    fn residual(&self, x: &Tensor, rest: &Tensor) -> Result<f64> {
        let [crow, col, values] = &self.matrix;
        let (values, x) = (copy::to_dtype(values, Dtype::Float64)?, copy::to_dtype(x, Dtype::Float64)?);
        let exact = made(|r| product(r, crow, col, Some(&values), &x))?;
        csub(&exact, &copy::to_dtype(&self.b, Dtype::Float64)?, Scalar::Int(1), &exact)?;
        copy::copy(rest, &exact)?;
        Ok(dot(&exact, &exact)?.sqrt() / self.scale)
    }

    /// Improves `x` by conjugate gradients that begin with its residual `rest`, whose relative norm is `exact`. The steps end when the
    /// residual of the recurrence is at most the tolerance, or epsilon times the first residual, below which it has no meaning. If a
    /// direction shows that the matrix is singular to the precision of the dtype, returns the curvature along it.
    ///
    /// # Safety
    /// The caller's function may be called with its context.
    unsafe fn cycle(&self, x: &Tensor, rest: &Tensor, exact: f64, steps: &mut i64) -> Result<Option<f64>> {
        let (&Iteration { tol, most, .. }, [crow, col, values]) = (self.iteration, &self.matrix);
        // Scaling keeps squares of a small residual from underflowing.
        let unit = unit(rest)?;
        mul.run([rest, rest], &[Scalar::Float(unit)])?;
        let conditioned = made(|r| cmul.run([r, rest, &self.inverse], &[]))?;
        let (direction, applied) = (copy::contiguous_copy(&conditioned)?, Tensor::fresh()?);
        let (mut left, mut energy) = (exact, dot(rest, &conditioned)?);
        while left > tol.max(self.epsilon * exact) && *steps < most {
            product(&applied, crow, col, Some(values), &direction)?;
            let curvature = dot(&direction, &applied)?;
            if curvature <= 0.0 {
                let noise = self.epsilon * (x.layout()?.numel() as f64).sqrt();
                if curvature < -noise * dot(&direction, &made(|r| cdiv.run([r, &direction, &self.inverse], &[]))?)? {
                    bail!(Numeric, "the matrix is not positive definite: step {} found a direction of curvature {curvature}", *steps + 1)
                }
                return Ok(Some(curvature));
            }
            let along = energy / curvature;
            cadd(x, x, Scalar::Float(along / unit), &direction)?;
            csub(rest, rest, Scalar::Float(along), &applied)?;
            left = dot(rest, rest)?.sqrt() / (self.scale * unit);
            *steps += 1;
            // SAFETY: the caller keeps the same promise.
            unsafe { self.iteration.tell(*steps, left)? };
            cmul.run([&conditioned, rest, &self.inverse], &[])?;
            let next = dot(rest, &conditioned)?;
            cadd(&direction, &conditioned, Scalar::Float(next / energy), &direction)?;
            energy = next;
        }
        Ok(None)
    }
}

/// The dot product of two vectors.
fn dot(a: &Tensor, b: &Tensor) -> Result<f64> {
    copy::item(&made(|r| forms::dot(r, a, b))?).map(Scalar::to_f64)
}

/// `r` = x with `A x = b`, by conjugate gradients from `start`, or from 0. A is symmetric and positive definite, and its diagonal is the
/// preconditioner. Returns the number of steps. `residual` gets the norm of `b - A x` divided by the norm of `b`; without it, a system that
/// is not solved is an error.
///
/// The recurrence does not include rounding errors of `x`. Therefore the residual of `x` is computed when the residual of the recurrence is
/// small, and the recurrence restarts with it as long as it halves.
///
/// # Safety
/// The caller's function may be called with its context.
pub unsafe fn conjugate_gradients(
    [r, b]: [&Tensor; 2],
    residual: Option<&Tensor>,
    a: Matrix<'_>,
    start: Option<&Tensor>,
    iteration: &Iteration,
) -> Result<i64> {
    let (dtype, n) = check(a, b, &[1])?;
    let &Iteration { tol, most, .. } = iteration;
    if tol.is_nan() || tol < 0.0 || most < 0 {
        bail!(Argument, "a tolerance of {} and {most} steps", Scalar::from(tol))
    }
    if let Some(start) = start
        && (start.defined()? != dtype || start.layout()?.shape.as_slice() != [n])
    {
        let shape = start.layout()?.shape;
        bail!(Shape, "a start of shape {:?} and {}, expected [{n}] and {dtype}", shape.as_slice(), start.defined()?)
    }
    let matrix = [dense(a[0], a[0].defined()?)?, dense(a[1], a[1].defined()?)?, dense(a[2], dtype)?];
    let inverse = inverse_diagonal(matrix.each_ref(), dtype, n)?;
    let unit = unit(b)?;
    let b = made(|r| mul.run([r, b], &[Scalar::Float(unit)]))?;
    let norm = dot(&b, &b)?.sqrt();
    let epsilon = if dtype == Dtype::Float32 { f32::EPSILON.into() } else { f64::EPSILON };
    let system = Gradients { matrix, inverse, b, scale: if norm == 0.0 { 1.0 } else { norm }, epsilon, iteration };
    let (x, rest) = (create::full(dtype, &[n], Scalar::Int(0))?, copy::contiguous_copy(&system.b)?);
    // If the right-hand side is 0, x is 0, and `start` is ignored.
    let mut exact = norm / system.scale;
    if let Some(start) = start.filter(|_| norm != 0.0) {
        cadd(&x, &x, Scalar::Float(unit), start)?;
        exact = system.residual(&x, &rest)?;
    }
    let (mut steps, mut stalled) = (0, false);
    while exact > tol && steps < most && !stalled {
        let before = copy::contiguous_copy(&x)?;
        // SAFETY: the caller keeps the same promise.
        let flat = unsafe { system.cycle(&x, &rest, exact, &mut steps)? };
        let now = system.residual(&x, &rest)?;
        stalled = (steps < most || flat.is_some()) && now > tol && now > exact / 2.0;
        if let (Some(curvature), true) = (flat, stalled) {
            bail!(
                Numeric,
                "the matrix is singular to the precision of {dtype}, or not positive definite: step {} found a direction of curvature \
                 {curvature}",
                steps + 1
            )
        }
        if stalled && now > exact {
            copy::copy(&x, &before)?;
        } else {
            exact = now;
        }
    }
    if exact.is_nan() {
        bail!(Numeric, "the residual is not a number after {steps} steps")
    }
    if residual.is_none() && exact > tol {
        let why = if stalled { "; rounding errors keep it from falling further" } else { "" };
        bail!(Numeric, "{steps} steps left a residual of {exact:e}, more than the tolerance of {tol:e}{why}")
    }
    let exact = create::full(Dtype::Float64, &[], Scalar::Float(exact))?;
    mul.run([&x, &x], &[Scalar::Float(unit.recip())])?;
    deliver([Some((r, dtype, &x)), residual.map(|t| (t, Dtype::Float64, &exact))])?;
    Ok(steps)
}

/// The power of 2 that scales the greatest magnitude of `b` to about 1. Squares then neither underflow nor overflow.
fn unit(b: &Tensor) -> Result<f64> {
    if b.layout()?.numel() == 0 {
        return Ok(1.0);
    }
    let greatest = Tensor::fresh()?;
    norm(To::tensor(&greatest, false), b, f64::INFINITY, Over::Dim(TH_ALL_DIMS), Some(Dtype::Float64))?;
    let greatest = copy::item(&greatest)?.to_f64();
    if greatest == 0.0 || !greatest.is_finite() {
        return Ok(1.0);
    }
    // The reciprocal of the power must be a normal number of the dtype, too.
    let most = if b.defined()? == Dtype::Float32 { 126.0 } else { 1022.0 };
    Ok((-greatest.log2().floor()).clamp(-most, most).exp2())
}

/// A new tensor that `write` fills.
fn made(write: impl FnOnce(&Tensor) -> Result<()>) -> Result<Tensor> {
    let r = Tensor::fresh()?;
    write(&r)?;
    Ok(r)
}

/// The reciprocal of each diagonal element. Fails if one of them is not positive.
fn inverse_diagonal([crow, col, values]: Matrix<'_>, dtype: Dtype, n: i64) -> Result<Tensor> {
    let (ends, ones) = (view::derive(crow, |l| l.narrow(0, 1, n))?, create::full(dtype, &[n], Scalar::Int(1))?);
    let numbers = made(|r| arange(r, Scalar::Int(0), Scalar::Int(col.layout()?.numel()), Scalar::Int(1)))?;
    let row = made(|r| searchsorted(r, &ends, &numbers, true, None))?;
    let is_diagonal = made(|r| eqTensor.run([r, &row, col], &[]))?;
    let own = made(|r| choose_value(r, &is_diagonal, values, Scalar::Int(0), false))?;
    let diagonal = made(|r| product(r, crow, col, Some(&own), &ones))?;
    if !nonzero_everywhere(&made(|r| gtValue.run([r, &diagonal], &[Scalar::Int(0)]))?)? {
        bail!(Numeric, "the matrix is not positive definite: an element of its diagonal is not positive")
    }
    made(|r| cdiv.run([r, &ones, &diagonal], &[]))
}
