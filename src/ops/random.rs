//! Random numbers: fills of tensors, and what is made of them.
//!
//! Philox makes all elements at once, each a function of the seed, of the blocks handed out before and of its position: the values depend on
//! the seed and the order of calls, never on threads, strides or instruction sets. MT19937 makes one number after the other, in row-major
//! order, by TH's formulas in float64. Where a call fails, [`crate::capi`] sets the generator back.

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
use super::operand::Operand;
use super::result::Target;
use crate::alloc::list;
use crate::cpu::convert::converter;
use crate::cpu::engine::COSTLY;
use crate::cpu::random::{Distribution, GROUP, Source, fill as fill_groups, fill_each as draw_each};
use crate::cpu::sequence::generate;
use crate::dtype::{Domain, Dtype, Element};
use crate::error::{Result, bail};
use crate::layout::{Dims, broadcast_shape};
use crate::random::{Generator, Mt19937, Philox};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// Where the elements of a fill go: row-major memory inside of a tensor or of a buffer.
#[derive(Clone, Copy)]
struct Place {
    at: *mut u8,
    dtype: Dtype,
    n: usize,
}

/// Lets `write` fill `r` in row-major order; `r` has dtype and shape.
fn fill(r: &Tensor, write: impl FnOnce(Place)) -> Result<()> {
    let out = Operand::of(r)?;
    if out.layout.overlaps_itself() {
        bail!(Shape, "several positions of the result share one element (strides {:?})", out.layout.strides.as_slice())
    }
    let (dtype, n) = (out.dtype, out.layout.numel() as usize);
    if out.layout.is_contiguous() {
        write(Place { at: out.first(), dtype, n });
        return Ok(());
    }
    let dense = Tensor::empty(dtype, &out.layout.shape)?;
    write(Place { at: dense.data(), dtype, n });
    copy::copy(r, &dense)
}

/// Fails for integers, which most distributions have no values in.
fn check_float(r: &Tensor) -> Result<Dtype> {
    Domain::Float.check(r.defined()?)
}

/// Fills with floats: by Philox from the distribution for the type they are computed in, by MT19937 with `next` numbers in order.
fn fill_floats(
    r: &Tensor,
    generator: &mut Generator,
    single: impl Distribution<f32>,
    double: impl Distribution<f64>,
    next: impl FnMut(&mut Mt19937, &mut [f64]),
) -> Result<()> {
    let dtype = check_float(r)?;
    fill(r, |place| match generator {
        Generator::Mt19937(stream) => in_order(place, stream, next),
        Generator::Philox(stream) if dtype == Dtype::Float64 => at_once(place, stream, double),
        Generator::Philox(stream) => at_once(place, stream, single),
    })
}

/// Fills with what a distribution makes, converted.
fn at_once<T: Element, D: Distribution<T>>(place: Place, stream: &mut Philox, distribution: D) {
    by_position(place, stream, D::BLOCKS, &|at, _, n, seed, block| {
        // SAFETY: `by_position` passes pieces of the place.
        unsafe { fill_groups(at, n, seed, block, distribution) }
    });
}

/// Fills with what `make(at, first, n, seed, block)` writes for the `n` elements from position `first`, a multiple of GROUP, on; a group takes
/// `blocks` blocks.
fn by_position<T: Element>(place: Place, stream: &mut Philox, blocks: u64, make: &(dyn Fn(*mut T, usize, usize, u64, u64) + Sync)) {
    let Place { at, dtype, n } = place;
    let seed = stream.seed;
    let block = stream.reserve((n.div_ceil(GROUP) as u64).wrapping_mul(blocks));
    // SAFETY: the place holds n elements.
    unsafe {
        generate::<T>(at, dtype, n, COSTLY, &|at, first, len| {
            make(at, first, len, seed, block.wrapping_add(((first / GROUP) as u64).wrapping_mul(blocks)));
        })
    }
}

/// Fills with what `next` writes, a list after the other, on this thread.
fn in_order<T: Element>(place: Place, stream: &mut Mt19937, mut next: impl FnMut(&mut Mt19937, &mut [T])) {
    let mut buffer = [T::ZERO; 512];
    let (convert, size) = (converter(place.dtype, T::DTYPE), place.dtype.size());
    for first in (0..place.n).step_by(buffer.len()) {
        let made = &mut buffer[..(place.n - first).min(512)];
        next(stream, made);
        // SAFETY: the place holds n elements, of which these are some.
        unsafe { convert(place.at.add(first * size), size as isize, made.as_ptr().cast(), size_of::<T>() as isize, made.len()) }
    }
}

/// Fills with `draw(source, i)` for each position `i`, which may draw any number of words.
fn fill_each(r: &Tensor, generator: &mut Generator, draw: &(dyn Fn(&mut dyn Source, usize) -> f64 + Sync)) -> Result<()> {
    fill(r, |place| match generator {
        Generator::Mt19937(stream) => {
            let mut i = 0;
            in_order(place, stream, |stream, out: &mut [f64]| {
                for x in out {
                    *x = draw(stream, i);
                    i += 1;
                }
            });
        }
        Generator::Philox(stream) => by_position(place, stream, GROUP as u64, &|at: *mut f64, first, n, seed, block| {
            // SAFETY: `by_position` passes pieces of the place.
            let out = unsafe { std::slice::from_raw_parts_mut(at, n) };
            draw_each(out, seed, block, &|source, i| draw(source, first + i));
        }),
    })
}

/// Numbers that elements are drawn by, in float64 and in the shape of all of them together.
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

    /// The numbers of each, in row-major order.
    fn lists(&self) -> [&[f64]; N] {
        // SAFETY: the tensors are ours, row-major and of this dtype; nobody writes them.
        std::array::from_fn(|k| unsafe { doubles(&self.values[k]) })
    }
}

/// The dtype and the shape of tensors together, which must be floats.
fn common<const N: usize>(tensors: [&Tensor; N]) -> Result<(Dtype, Dims)> {
    let (mut dtype, mut shape) = (check_float(tensors[0])?, tensors[0].layout()?.shape);
    for t in &tensors[1..] {
        dtype = dtype.promote(check_float(t)?);
        shape = broadcast_shape(&shape, &t.layout()?.shape)?;
    }
    Ok((dtype, shape))
}

/// The elements of a row-major tensor of float64.
///
/// # Safety
/// It must be one, and nobody may write it meanwhile.
unsafe fn doubles(t: &Tensor) -> &[f64] {
    let n = t.layout().map_or(0, |layout| layout.numel()) as usize;
    // SAFETY: the caller's; a tensor without elements may have no memory.
    if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(t.data().cast(), n) } }
}

/// Lets `write` fill `r`, which gets this shape, and this dtype if it has none. Whole numbers may become integers. Where
/// `write` fails, it does so before it writes.
fn make(r: &Tensor, dtype: Dtype, whole: bool, shape: &[i64], write: impl FnOnce(&Tensor) -> Result<()>) -> Result<()> {
    let dtype = if whole { r.dtype().unwrap_or(dtype) } else { dtype };
    let target = Target::check(r, dtype, shape)?;
    let disjoint = target.kept.as_ref().is_some_and(|kept| !kept.layout.is_contiguous());
    let placed = target.place(disjoint, &|_| false)?;
    write(&placed.tensor()?)?;
    placed.commit()
}

/// Fails where one of the numbers is not as `fits` wants it, which `what` says.
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
