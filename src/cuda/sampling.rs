//! Samples between the pixels of images on GPUs, and their gradients.

use super::gpu::Gpu;
use super::map::type_name;
use super::order::{ITEMS, Keys, MOST_KEYS, ORDER, Order};
use super::source::{Entry, Source};
use crate::error::{Result, bail};
use crate::launch::sampling::Sampling;
use crate::operand::Operand;

/// The kernels of samples.
pub static SAMPLING: Source = Source { name: "sampling", text: &[ITEMS, ORDER, include_str!("kernels/sampling.cu")], entries };

fn entries() -> Vec<Entry> {
    let kernels = ["samples", "terms_of", "images", "grid"];
    let entry = |t, kernel| Entry::new(format!("sampling_{kernel}<{t}>"), "SamplingArgs", t);
    ["f32", "f64"].into_iter().flat_map(|t| kernels.map(|kernel| entry(t, kernel))).collect()
}

#[repr(C)]
#[derive(Clone, Copy)]
struct SamplingArgs {
    g: u64,
    t: u64,
    grid: u64,
    to: u64,
    weights: u64,
    order: Order,
    sizes: [i64; 3],
    images: i64,
    channels: i64,
    samples: i64,
    pixels: i64,
    taps: i64,
    dims: i32,
    along: i32,
    outside: i32,
    align_corners: i32,
}

impl SamplingArgs {
    fn new(work: &Sampling, to: &Operand, grid: &Operand) -> SamplingArgs {
        SamplingArgs {
            g: 0,
            t: 0,
            grid: grid.first() as u64,
            to: to.first() as u64,
            weights: 0,
            order: Order::NONE,
            sizes: work.sizes,
            images: work.images as i64,
            channels: work.channels as i64,
            samples: work.samples as i64,
            pixels: work.pixels() as i64,
            taps: work.taps() as i64,
            dims: work.dims as i32,
            along: work.along as i32,
            outside: work.outside as i32,
            align_corners: work.align_corners.into(),
        }
    }

    /// Launches a kernel that loops over `items`.
    ///
    /// # Safety
    /// As for [`Gpu::launch`].
    unsafe fn launch(&self, gpu: &Gpu, kernel: &str, grid: &Operand, items: i64) -> Result<()> {
        if items == 0 {
            return Ok(());
        }
        let call = format!("sampling_{kernel}<{}>", type_name(grid.dtype));
        // SAFETY: the caller meets the conditions above.
        unsafe { gpu.launch(&SAMPLING, &call, "SamplingArgs", gpu.blocks_for(items), self) }
    }
}

/// Computes the samples.
pub fn sampling(gpu: &Gpu, work: &Sampling, r: &Operand, [t, grid]: [&Operand; 2]) -> Result<()> {
    let args = SamplingArgs { t: t.first() as u64, ..SamplingArgs::new(work, r, grid) };
    // SAFETY: the operands are row-major with the shapes of the work.
    unsafe { args.launch(gpu, "samples", grid, args.images * args.samples) }
}

/// Computes the gradients.
pub fn gradient(gpu: &Gpu, work: &Sampling, out: [Option<&Operand>; 2], [g, t, grid]: [&Operand; 3]) -> Result<()> {
    if let Some(r) = out[0] {
        of_images(gpu, work, r, g, grid)?;
    }
    if let Some(r) = out[1] {
        let args = SamplingArgs { g: g.first() as u64, t: t.first() as u64, ..SamplingArgs::new(work, r, grid) };
        // SAFETY: the operands are row-major with the shapes of the work.
        unsafe { args.launch(gpu, "grid", grid, args.images * args.samples)? };
    }
    Ok(())
}

/// Computes the gradient of the images. The terms are sorted by their pixels, so that each pixel is a sum in the order of the samples.
fn of_images(gpu: &Gpu, work: &Sampling, r: &Operand, g: &Operand, grid: &Operand) -> Result<()> {
    let mut args = SamplingArgs { g: g.first() as u64, ..SamplingArgs::new(work, r, grid) };
    let terms = args.images * args.samples * args.taps;
    if terms > MOST_KEYS {
        bail!(Shape, "a GPU sorts up to {MOST_KEYS} terms of samples, not {terms}")
    }
    let elements = r.layout().numel();
    if terms == 0 {
        // SAFETY: the operand is row-major and has these elements.
        return unsafe { gpu.zero(args.to, elements as usize * r.dtype.size()) };
    }
    let (sorted, weights) = (Keys::new(gpu, terms)?, gpu.scratch(terms as usize * 8)?);
    (args.order, args.weights) = (sorted.order, weights.ptr());
    // SAFETY: the operands are row-major with the shapes of the work, and there is memory for all terms.
    unsafe { args.launch(gpu, "terms_of", grid, terms)? };
    sorted.sort(gpu, 8)?;
    // SAFETY: the operands are row-major with the shapes of the work.
    unsafe { args.launch(gpu, "images", grid, elements) }
}
