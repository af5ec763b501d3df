//! Samples of images at places between the pixels.

use super::dense::{launch, operand};
use super::rearrange::{TH_PAD_CONSTANT, TH_PAD_REFLECT, TH_PAD_REPLICATE, THPadMode};
use super::resample::{TH_RESAMPLE_CUBIC, TH_RESAMPLE_LINEAR, TH_RESAMPLE_NEAREST, THResampling};
use super::result::{Inputs, Wanted, Writes, deliver, ready_all};
use super::{copy, device, matmul, view};
use crate::dtype::Domain;
use crate::error::{Result, bail};
use crate::launch::sampling::{Outside, Sampling, SamplingGradient};
use crate::layout::{Dims, checked_numel};
use crate::operand::one_dtype;
use crate::ops::loss::made;
use crate::tensor::Tensor;

/// The arguments of a sampling that are no tensors.
#[derive(Clone, Copy)]
pub struct Options {
    /// `TH_RESAMPLE_*`: nearest, linear or cubic.
    pub mode: THResampling,
    /// `TH_PAD_*`: zeros, the edge or a reflection.
    pub padding: THPadMode,
    /// True if -1 and 1 are the centres of the pixels at the corners.
    pub align_corners: bool,
}

impl Options {
    /// The samples `grid` of the images `t`, and the shape of the result.
    fn work(self, t: &[i64], grid: &[i64]) -> Result<(Sampling, Dims)> {
        let Options { mode, padding, align_corners } = self;
        let dims = t.len().wrapping_sub(2);
        let fits = matches!(dims, 2 | 3) && grid.len() == t.len() && grid.first() == t.first() && grid.last() == Some(&(dims as i64));
        if !fits {
            bail!(Shape, "a grid of shape {grid:?} for images of shape {t:?}, expected [batch, sizes, 2 or 3] for [batch, channels, sizes]")
        }
        if let Some(size) = t[2..].iter().find(|&&size| size < 1) {
            bail!(Shape, "images of shape {t:?}: an image of size {size} has no pixels")
        }
        let along = match mode {
            TH_RESAMPLE_NEAREST => 1,
            TH_RESAMPLE_LINEAR => 2,
            TH_RESAMPLE_CUBIC if dims == 2 => 4,
            TH_RESAMPLE_CUBIC => bail!(Argument, "TH_RESAMPLE_CUBIC is for images of 2 dimensions, not {dims}"),
            _ => bail!(Argument, "method {mode}, expected TH_RESAMPLE_NEAREST, TH_RESAMPLE_LINEAR or TH_RESAMPLE_CUBIC"),
        };
        let outside = match padding {
            TH_PAD_CONSTANT => Outside::Zero,
            TH_PAD_REPLICATE => Outside::Edge,
            TH_PAD_REFLECT => Outside::Reflected,
            _ => bail!(Argument, "padding {padding}, expected TH_PAD_CONSTANT, TH_PAD_REPLICATE or TH_PAD_REFLECT"),
        };
        let sizes = [t[2], t[3], t.get(4).copied().unwrap_or(1)];
        let [images, channels] = [t[0] as usize, t[1] as usize];
        let samples = checked_numel(&grid[1..=dims])? as usize;
        let shape: Dims = t[..2].iter().chain(&grid[1..=dims]).copied().collect();
        checked_numel(&shape)?;
        Ok((Sampling { images, channels, samples, dims, sizes, along, outside, align_corners }, shape))
    }
}

/// Samples of images at the places of a grid
pub fn grid_sample(r: &Tensor, t: &Tensor, grid: &Tensor, options: Options) -> Result<()> {
    let dtype = Domain::Float.check(one_dtype(&[t, grid])?)?;
    let compute = dtype.compute();
    let (work, shape) = options.work(&t.layout()?.shape, &grid.layout()?.shape)?;
    launch(r, (dtype, compute), &shape, &work, &[operand(t, compute)?, operand(grid, compute)?])
}

/// The gradients of [`grid_sample`], of the images and of the grid
pub fn grid_sample_gradient(to: [Option<&Tensor>; 2], g: &Tensor, t: &Tensor, grid: &Tensor, options: Options) -> Result<()> {
    let dtype = Domain::Float.check(one_dtype(&[g, t, grid])?)?;
    let compute = dtype.compute();
    let [of_t, of_grid, of_g] = [t.layout()?.shape, grid.layout()?.shape, g.layout()?.shape];
    let (work, expected) = options.work(&of_t, &of_grid)?;
    if of_g != expected {
        bail!(Shape, "g of shape {:?}, expected {:?}", of_g.as_slice(), expected.as_slice())
    }
    let inputs = [operand(g, compute)?, operand(t, compute)?, operand(grid, compute)?];
    let wanted = |r: Option<_>, shape| r.map(|r| Wanted { r, dtype, shape, writes: Writes::ROW_MAJOR.of(compute) });
    let ready = ready_all([wanted(to[0], &of_t), wanted(to[1], &of_grid)], Inputs::anywhere(&inputs))?;
    ready.launch(&SamplingGradient(work), &inputs.each_ref())
}

/// The coordinates of the pixels of an image with these sizes, the last dimension first, and 1: a row for each pixel.
fn homogeneous(sizes: &[i64], align_corners: bool) -> Result<Tensor> {
    let coordinate = |i: i64, size: i64| match (align_corners, size) {
        (true, 1) => 0.0,
        (true, _) => 2.0 * i as f64 / (size - 1) as f64 - 1.0,
        (false, _) => (2 * i + 1) as f64 / size as f64 - 1.0,
    };
    let (count, width) = (checked_numel(sizes)?, sizes.len() + 1);
    device::written(&[count, width as i64], |to: &mut [f64]| {
        for (at, row) in to.chunks_mut(width).enumerate() {
            let mut at = at as i64;
            for (d, &size) in sizes.iter().rev().enumerate() {
                row[d] = coordinate(at % size, size);
                at /= size;
            }
            row[width - 1] = 1.0;
        }
        Ok(())
    })
}

/// A grid of the places that affine maps give the pixels of images with these sizes
pub fn affine_grid(r: &Tensor, theta: &Tensor, sizes: &[i64], align_corners: bool) -> Result<()> {
    let dtype = Domain::Float.check(theta.defined()?)?;
    let (shape, dims) = (theta.layout()?.shape, sizes.len() as i64);
    if !matches!(dims, 2 | 3) {
        bail!(Argument, "{dims} sizes, expected 2 or 3")
    }
    if let Some(size) = sizes.iter().find(|&&size| size < 1) {
        bail!(Argument, "size {size} of the grid: sizes are at least 1")
    }
    if shape.len() != 3 || shape[1..] != [dims, dims + 1] {
        bail!(Shape, "theta of shape {:?}, expected [batch, {dims}, {}]", shape.as_slice(), dims + 1)
    }
    let all: Dims = [shape[0]].iter().chain(sizes).chain([&dims]).copied().collect();
    checked_numel(&all)?;
    let pixels = copy::to_dtype(&homogeneous(sizes, align_corners)?, dtype.compute())?;
    let maps = view::derive(&copy::to_dtype(theta, dtype.compute())?, |l| l.transpose(1, 2))?;
    let places = made(|r| matmul::forms::matmul(r, &pixels, &maps))?;
    deliver([Some((r, dtype, &view::reshape(&places, &all)?))])
}
