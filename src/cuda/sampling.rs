//! Samples between the pixels of images on GPUs.

use super::gpu::Gpu;
use super::order::ITEMS;
use super::source::{Entry, Source};
use crate::error::Result;
use crate::launch::sampling::Sampling;
use crate::operand::Operand;

/// The kernel of the terms of samples.
pub static SAMPLING: Source = Source { name: "sampling", text: &[ITEMS, include_str!("kernels/sampling.cu")], entries };

fn entries() -> Vec<Entry> {
    vec![Entry::new("sampling", "SamplingArgs", "f64")]
}

#[repr(C)]
#[derive(Clone, Copy)]
struct SamplingArgs {
    grid: u64,
    places: u64,
    weights: u64,
    slopes: u64,
    sizes: [i64; 3],
    samples: i64,
    images: i64,
    dims: i32,
    along: i32,
    outside: i32,
    align_corners: i32,
}

/// Computes the terms of all samples.
pub fn sampling(gpu: &Gpu, work: &Sampling, [places, weights]: [&Operand; 2], slopes: Option<&Operand>, grid: &Operand) -> Result<()> {
    let args = SamplingArgs {
        grid: grid.first() as u64,
        places: places.first() as u64,
        weights: weights.first() as u64,
        slopes: slopes.map_or(0, |slopes| slopes.first() as u64),
        sizes: work.sizes,
        samples: work.samples as i64,
        images: work.images as i64,
        dims: work.dims as i32,
        along: work.along as i32,
        outside: work.outside as i32,
        align_corners: work.align_corners.into(),
    };
    // SAFETY: the operands are row-major with the shapes of the work.
    unsafe { gpu.launch(&SAMPLING, "sampling", "SamplingArgs", gpu.blocks_for(args.samples), &args) }
}
