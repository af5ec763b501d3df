//! Samples of images at places between the pixels. A sample is a row of a matrix of compressed rows, multiplied with a table of the pixels.

use super::dense::{dense, operand};
use super::rearrange::{TH_PAD_CONSTANT, TH_PAD_REFLECT, TH_PAD_REPLICATE, THPadMode};
use super::resample::{TH_RESAMPLE_CUBIC, TH_RESAMPLE_LINEAR, TH_RESAMPLE_NEAREST, THResampling};
use super::result::deliver;
use super::{compressed, copy, create, device, matmul, pointwise, reduce, sequence, view};
use crate::backend;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::sampling::{Outside, Sampling};
use crate::layout::{Dims, checked_numel};
use crate::operand::{Operand, one_dtype};
use crate::ops::loss::made;
use crate::scalar::Scalar;
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
    /// The terms of the samples `grid` of the images `t`.
    fn work(self, t: &[i64], grid: &[i64]) -> Result<Sampling> {
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
        let samples = checked_numel(&grid[..=dims])?;
        let sizes = [t[2], t[3], t.get(4).copied().unwrap_or(1)];
        let work = Sampling { dims, sizes, samples: samples as usize, images: t[0] as usize, along, outside, align_corners };
        checked_numel(&[samples, work.taps() as i64, dims as i64])?;
        Ok(work)
    }
}

/// Samples as compressed rows: an entry for each term. The columns are the pixels of all images, and last a pixel outside.
struct Terms {
    starts: Tensor,
    places: Tensor,
    weights: Tensor,
    slopes: Option<Tensor>,
}

impl Terms {
    fn of(work: Sampling, grid: &Tensor, with_slopes: bool) -> Result<Terms> {
        let (samples, taps, dims) = (work.samples as i64, work.taps() as i64, work.dims as i64);
        let grid = operand(grid, Dtype::Float64)?;
        let starts = made(|r| sequence::arange(r, Scalar::Int(0), Scalar::Int(samples * taps + 1), Scalar::Int(taps)))?;
        let (places, weights) = (Tensor::empty(Dtype::Int64, &[samples * taps])?, Tensor::empty(Dtype::Float64, &[samples * taps])?);
        let slopes = if with_slopes { Some(Tensor::empty(Dtype::Float64, &[samples, taps, dims])?) } else { None };
        if samples > 0 {
            let out = [Operand::of(&places)?, Operand::of(&weights)?];
            let of_slopes = slopes.as_ref().map(Operand::of).transpose()?;
            backend::of(std::iter::once(&grid))?.launch(&work, &[Some(&out[0]), Some(&out[1]), of_slopes.as_ref()], &[&grid])?;
        }
        Ok(Terms { starts, places, weights, slopes })
    }
}

/// The order of dimensions in which `[batch, channels, sizes]` has its channels last.
fn channels_last(ndim: usize) -> Dims {
    [0].into_iter().chain(2..ndim as i64).chain([1]).collect()
}

/// The order of dimensions in which `[batch, sizes, channels]` has its channels after the batch.
fn channels_first(ndim: usize) -> Dims {
    [0, ndim as i64 - 1].into_iter().chain(1..ndim as i64 - 1).collect()
}

/// The channels of all places of `t`, `[batch, channels, sizes]`, as rows of a matrix.
fn rows(t: &Tensor, dtype: Dtype) -> Result<Tensor> {
    let shape = t.layout()?.shape;
    let last = dense(&view::derive(t, |l| l.permute(&channels_last(shape.len())))?, dtype)?;
    let count = shape.iter().enumerate().filter(|&(d, _)| d != 1).map(|(_, &size)| size).product();
    view::reshape(&last, &[count, shape[1]])
}

/// [`rows`] of the images, and last a row of zeros for the pixel outside.
fn table(t: &Tensor, dtype: Dtype) -> Result<Tensor> {
    let rows = rows(t, dtype)?;
    let shape = rows.layout()?.shape;
    let all = create::full(dtype, &[shape[0] + 1, shape[1]], Scalar::Int(0))?;
    copy::copy(&view::derive(&all, |l| l.narrow(0, 0, shape[0]))?, &rows)?;
    Ok(all)
}

/// Samples of images at the places of a grid
pub fn grid_sample(r: &Tensor, t: &Tensor, grid: &Tensor, options: Options) -> Result<()> {
    let dtype = Domain::Float.check(one_dtype(&[t, grid])?)?;
    let (of_t, of_grid) = (t.layout()?.shape, grid.layout()?.shape);
    let work = options.work(&of_t, &of_grid)?;
    let terms = Terms::of(work, grid, false)?;
    let weights = copy::to_dtype(&terms.weights, dtype.compute())?;
    let table = table(t, dtype.compute())?;
    let sums = made(|r| compressed::product(r, &terms.starts, &terms.places, Some(&weights), &table))?;
    let shape: Dims = of_grid[..=work.dims].iter().chain([&of_t[1]]).copied().collect();
    let last = view::reshape(&sums, &shape)?;
    deliver([Some((r, dtype, &view::derive(&last, |l| l.permute(&channels_first(shape.len())))?))])
}

/// The gradients of [`grid_sample`], of the images and of the grid
pub fn grid_sample_gradient(to: [Option<&Tensor>; 2], g: &Tensor, t: &Tensor, grid: &Tensor, options: Options) -> Result<()> {
    let dtype = Domain::Float.check(one_dtype(&[g, t, grid])?)?;
    let compute = dtype.compute();
    let (of_t, of_grid, of_g) = (t.layout()?.shape, grid.layout()?.shape, g.layout()?.shape);
    let work = options.work(&of_t, &of_grid)?;
    let expected: Dims = of_t[..2].iter().chain(&of_grid[1..=work.dims]).copied().collect();
    if of_g != expected {
        bail!(Shape, "g of shape {:?}, expected {:?}", of_g.as_slice(), expected.as_slice())
    }
    let terms = Terms::of(work, grid, to[1].is_some())?;
    let g = rows(g, compute)?;
    let of_images = match to[0] {
        Some(_) => {
            let pixels = work.images as i64 * work.sizes.iter().product::<i64>();
            let weights = copy::to_dtype(&terms.weights, compute)?;
            let sums = made(|r| compressed::transposed_product(r, &terms.starts, &terms.places, Some(&weights), &g, pixels + 1))?;
            let shape: Dims = [of_t[0]].iter().chain(&of_t[2..]).chain([&of_t[1]]).copied().collect();
            let last = view::reshape(&view::derive(&sums, |l| l.narrow(0, 0, pixels))?, &shape)?;
            Some(view::derive(&last, |l| l.permute(&channels_first(shape.len())))?)
        }
        None => None,
    };
    let of_places = match (to[1], &terms.slopes) {
        (Some(_), Some(slopes)) => {
            let each = made(|r| compressed::sampled_product(r, &terms.starts, &terms.places, &g, &table(t, compute)?))?;
            let each = view::reshape(&each, &[work.samples as i64, work.taps() as i64, 1])?;
            let slopes = copy::to_dtype(slopes, compute)?;
            let products = made(|r| pointwise::arithmetic::cmul.run([r, &each, &slopes], &[]))?;
            let sums = made(|r| reduce::sum(reduce::To::tensor(r, false), &products, reduce::Over::Dim(1), None))?;
            Some(view::reshape(&sums, &of_grid)?)
        }
        _ => None,
    };
    deliver([to[0].zip(of_images.as_ref()), to[1].zip(of_places.as_ref())].map(|made| made.map(|(r, of)| (r, dtype, of))))
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
