//! Random fills from the counter-based generator: the values depend on the seed and the order of calls, never on threads or instruction sets.

use super::copy;
use super::operand::Operand;
use crate::cpu::engine::{COSTLY, Shared, parallel};
use crate::cpu::random as kernels;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::random::Generator;
use crate::tensor::Tensor;

/// Groups of elements a thread takes at a time.
const PIECE: usize = 64;

/// `r` uniform in [from, to); floats only.
pub fn uniform(r: &Tensor, generator: &mut Generator, from: f64, to: f64) -> Result<()> {
    if !(from <= to && (to - from).is_finite()) {
        bail!(Argument, "expected finite bounds in order, got {from} and {to}")
    }
    let most = r.dtype().map_or(to, |dtype| greatest_below(dtype, to).max(from)) as f32;
    fill(
        r,
        generator,
        |at, n, seed, block| {
            // SAFETY: `fill` passes pieces of the tensor.
            unsafe { kernels::uniform_f32(at, n, seed, block, from as f32, to as f32) };
            if most < to as f32 {
                // SAFETY: as above.
                (0..n).for_each(|i| unsafe { at.add(i).write(at.add(i).read().min(most)) });
            }
        },
        // SAFETY: as above.
        |at, n, seed, block| unsafe { kernels::uniform_f64(at, n, seed, block, from, to) },
    )
}

/// The greatest number below `to` in a 16-bit float, lest a float32 below it be rounded up to it; `to` itself for other types.
fn greatest_below(dtype: Dtype, to: f64) -> f64 {
    let value = |bits: u16| match dtype {
        Dtype::Float16 => half::f16::from_bits(bits).to_f64(),
        _ => half::bf16::from_bits(bits).to_f64(),
    };
    let mut bits = match dtype {
        Dtype::Float16 => half::f16::from_f64(to).to_bits(),
        Dtype::Bfloat16 => half::bf16::from_f64(to).to_bits(),
        _ => return to,
    };
    while value(bits) >= to {
        bits = match bits {
            0 | 0x8000 => 0x8001,
            positive @ ..0x8000 => positive - 1,
            negative => negative + 1,
        };
    }
    value(bits)
}

/// `r` normally distributed; floats only.
pub fn normal(r: &Tensor, generator: &mut Generator, mean: f64, std: f64) -> Result<()> {
    if !(std >= 0.0 && std.is_finite() && mean.is_finite()) {
        bail!(Argument, "expected a finite mean and a standard deviation >= 0, got {mean} and {std}")
    }
    fill(
        r,
        generator,
        // SAFETY: `fill` passes pieces of the tensor.
        |at, n, seed, block| unsafe { kernels::normal_f32(at, n, seed, block, mean as f32, std as f32) },
        // SAFETY: as above.
        |at, n, seed, block| unsafe { kernels::normal_f64(at, n, seed, block, mean, std) },
    )
}

/// Fills `r` in row-major order with what one of the kernels makes.
fn fill(
    r: &Tensor,
    generator: &mut Generator,
    float32: impl Fn(*mut f32, usize, u64, u64) + Sync,
    float64: impl Fn(*mut f64, usize, u64, u64) + Sync,
) -> Result<()> {
    let out = Operand::of(r)?;
    if !out.dtype.is_float() {
        bail!(Dtype, "not defined for {}", out.dtype)
    }
    let compute = out.dtype.compute();
    if out.layout.overlaps_itself() {
        bail!(Shape, "several positions of the result share one element (strides {:?})", out.layout.strides.as_slice())
    }
    if out.dtype != compute || !out.layout.is_contiguous() {
        let dense = Tensor::empty(compute, &out.layout.shape)?;
        fill(&dense, generator, float32, float64)?;
        return copy::copy(r, &dense);
    }
    let (n, seed) = (out.layout.numel() as usize, generator.initial_seed());
    match compute {
        Dtype::Float64 => {
            let block = generator.reserve(kernels::blocks_f64(n));
            by_pieces(out.first(), n, |at: *mut f64, start, len| float64(at, len, seed, block + kernels::blocks_f64(start)));
        }
        _ => {
            let block = generator.reserve(kernels::blocks_f32(n));
            by_pieces(out.first(), n, |at: *mut f32, start, len| float32(at, len, seed, block + kernels::blocks_f32(start)));
        }
    }
    Ok(())
}

/// Calls `fill(address, start, length)` for pieces of `n` elements, on all threads.
fn by_pieces<T>(data: *mut u8, n: usize, fill: impl Fn(*mut T, usize, usize) + Sync) {
    let (data, piece) = (Shared(data), PIECE * kernels::GROUP);
    parallel(n.div_ceil(piece), piece, COSTLY, &|range| {
        let (start, end) = (range.start * piece, (range.end * piece).min(n));
        fill(data.get().cast::<T>().wrapping_add(start), start, end - start)
    });
}
