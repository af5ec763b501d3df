//! Random numbers: tensors filled by a generator.
//!
//! Philox computes all elements independently. Each is a function of the seed, the number of blocks used before and the element's position:
//! values depend on the seed and the order of calls, but not on threads, strides or instruction sets. MT19937 computes one number after the
//! other, in row-major order, by TH's formulas in float64. If a call fails, [`crate::capi`] restores the generator.

mod chance;
mod floats;
mod initial;
mod make;
mod sample;
mod state;
mod whole;

pub use chance::*;
pub use floats::*;
pub use initial::*;
pub use make::*;
pub use sample::*;
pub use state::*;
pub use whole::*;

use super::copy;
use super::device::{Elements, elements, on_host};
use super::result::{Inputs, Writes, ready};
use crate::alloc::list;
use crate::backend;
use crate::device::Device;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::Draw;
use crate::layout::{Dims, broadcast_shape};
use crate::operand::Operand;
use crate::random::Generator;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// Fills `r`, which has a dtype and a shape, with random numbers. `parameters` are the distribution's parameters by element.
fn fill(r: &Tensor, generator: &mut Generator, draw: Draw, parameters: &[&Operand]) -> Result<()> {
    let out = Operand::of(r)?;
    if out.layout().overlaps_itself() {
        bail!(Shape, "several positions of the result share one element (strides {:?})", out.layout().strides.as_slice())
    }
    if out.device != Device::Cpu && matches!(generator, Generator::Mt19937(_)) {
        return fill_from_host(r, generator, draw, parameters);
    }
    let device = backend::on(out.device);
    if out.layout().is_contiguous() {
        return device.random(draw, generator, &out, parameters);
    }
    let dense = Operand::new_on(out.device, out.dtype, &out.layout().shape)?;
    device.random(draw, generator, &dense, parameters)?;
    copy::copy_elements(&out, &dense)
}

/// [`fill`] of a tensor on a GPU by a sequential generator: the numbers are drawn on the host and copied.
#[inline(never)]
fn fill_from_host(r: &Tensor, generator: &mut Generator, draw: Draw, parameters: &[&Operand]) -> Result<()> {
    let there = list(parameters.len(), |k| on_host(&parameters[k].tensor()?))?;
    let here = list(there.len(), |k| Operand::of(&there[k]))?;
    let drawn = Operand::new_on(Device::Cpu, r.defined()?, &r.layout()?.shape)?;
    backend::on(Device::Cpu).random(draw, generator, &drawn, &here.iter().collect::<SmallVec<[&Operand; 2]>>())?;
    copy::copy(r, &drawn.tensor()?)
}

/// [`fill`] of a float tensor.
fn fill_floats(r: &Tensor, generator: &mut Generator, draw: Draw) -> Result<()> {
    check_float(r)?;
    fill(r, generator, draw, &[])
}

/// Fails for integers, because most distributions are continuous.
fn check_float(r: &Tensor) -> Result<Dtype> {
    Domain::Float.check(r.defined()?)
}

/// The parameters of a distribution for each element, as float64 tensors of their common shape.
struct Parameters<const N: usize> {
    dtype: Dtype,
    shape: Dims,
    values: Vec<Tensor>,
}

impl<const N: usize> Parameters<N> {
    /// Broadcasts `tensors`, which must be floats.
    fn of(tensors: [&Tensor; N]) -> Result<Parameters<N>> {
        let (dtype, shape) = common(tensors)?;
        let values = list(N, |k| {
            let copied = Tensor::empty(Dtype::Float64, &shape)?;
            copy::copy(&copied, tensors[k])?;
            Ok(copied)
        })?;
        Ok(Parameters { dtype, shape, values })
    }

    /// Fills `r` with elements drawn by these parameters. With `whole`, `r` may be an integer tensor.
    fn draw(&self, r: &Tensor, generator: &mut Generator, whole: bool, draw: Draw) -> Result<()> {
        let operands = list(N, |k| Operand::of(&self.values[k]))?;
        let parameters: SmallVec<[&Operand; 2]> = operands.iter().collect();
        make(r, self.dtype, whole, &self.shape, |r| fill(r, generator, draw, &parameters))
    }

    /// The values of parameter `k` in row-major order.
    fn list(&self, k: usize) -> Result<Elements<'_, f64>> {
        elements(&self.values[k])
    }
}

/// The common dtype and the broadcast shape of tensors, which must be float.
fn common<const N: usize>(tensors: [&Tensor; N]) -> Result<(Dtype, Dims)> {
    let (mut dtype, mut shape) = (check_float(tensors[0])?, tensors[0].layout()?.shape);
    for t in &tensors[1..] {
        dtype = dtype.promote(check_float(t)?);
        shape = broadcast_shape(&shape, &t.layout()?.shape)?;
    }
    Ok((dtype, shape))
}

/// Prepares `r` with this shape, and this dtype if it is fresh, and calls `write` to fill it. With `whole`, `r` may be an integer tensor.
/// If `write` fails, it has written nothing.
fn make(r: &Tensor, dtype: Dtype, whole: bool, shape: &[i64], write: impl FnOnce(&Tensor) -> Result<()>) -> Result<()> {
    let dtype = if whole { r.dtype().unwrap_or(dtype) } else { dtype };
    ready(r, (dtype, shape), Writes::ROW_MAJOR, Inputs::NONE)?.write_tensor(write)
}

/// Fails if `fits` is false for a number. `what` describes the expected numbers.
fn check_all(values: &[f64], what: &str, fits: impl Fn(f64) -> bool) -> Result<()> {
    match values.iter().find(|&&x| !fits(x)) {
        None => Ok(()),
        Some(x) => bail!(Argument, "expected {what}, got {}", Scalar::from(*x)),
    }
}

const PROBABILITY: &str = "a probability between 0 and 1";

fn is_probability(x: f64) -> bool {
    (0.0..=1.0).contains(&x)
}

fn is_positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

fn is_not_negative(x: f64) -> bool {
    x >= 0.0 && x.is_finite()
}
