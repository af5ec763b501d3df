//! Counts of integers, and sums of weights by integer.

use super::copy::convert;
use super::count::{COUNT, CountArgs};
use super::gpu::Gpu;
use super::index::index;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Combine, Index, Move};
use crate::layout::{Dims, Layout};
use crate::operand::Operand;

/// See `Backend::bincount`.
pub fn bincount(gpu: &Gpu, x: &Operand, weights: Option<&Operand>, minlength: i64) -> Result<Operand> {
    let mut args = CountArgs::of(x);
    let mut width = minlength;
    if args.n > 0 {
        let [most, least] = args.found(gpu, "extremes", args.n)?;
        let [most, least] = [most, !least].map(|x| (x ^ 1 << 63).cast_signed());
        if least < 0 {
            bail!(Argument, "element {least} is negative")
        }
        width = most.saturating_add(1).max(minlength);
    }
    let dtype = if weights.is_some() { Dtype::Float64 } else { Dtype::Int64 };
    let made = Operand::new_on(Device::Cuda(gpu.ordinal), dtype, &[width])?;
    // SAFETY: the result is row-major.
    unsafe { gpu.zero(made.first() as u64, width as usize * 8) }?;
    if args.n == 0 {
        return Ok(made);
    }
    match weights {
        Some(weights) => add_weights(gpu, &made, x, weights)?,
        None => {
            (args.to, args.width) = (made.first() as u64, width);
            // SAFETY: every integer is the index of an entry of the result.
            unsafe { gpu.launch(&COUNT, "count_integers", "CountArgs", gpu.blocks_for(args.n), &args)? }
        }
    }
    Ok(made)
}

/// Adds each weight to the entry of its integer, in order and in float64.
fn add_weights(gpu: &Gpu, sums: &Operand, x: &Operand, weights: &Operand) -> Result<()> {
    let n = x.layout().numel();
    let positions = Operand::new_on(sums.device, Dtype::Int64, &[n])?;
    let wide = Operand::new_on(sums.device, Dtype::Float64, &[n])?;
    convert(gpu, &positions, x)?;
    convert(gpu, &wide, weights)?;
    let still = sums.view(Layout { shape: Dims::filled(n, 1), strides: Dims::filled(0, 1), offset: sums.layout().offset });
    index(gpu, &Index { movement: Move::Accumulate(Combine::Add), step: 1, range: None }, &still, [&wide, &positions])
}
