//! Pooling: images are reduced to the maxima or the means of windows.

use super::convolution::{common_type, parts};
use super::dense::{launch, operand};
use super::lines::Want;
use super::result::{Inputs, Wanted, Writes, ready_all};
use super::window::{Rounding, Steps, each, extent, image, image_dims, windows};
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::{Adaptive, Divisor, IMAGE_DIMS, Pool, PoolOp, Unpool, Window, Windows};
use crate::layout::{Dims, checked_numel};
use crate::tensor::Tensor;

/// The windows of a pooling. The default stride is the kernel, so that windows are adjacent.
#[derive(Clone, Copy)]
pub struct PoolOptions<'a> {
    /// The size of a window.
    pub kernel: &'a [i64],
    /// Stride, padding and dilation of the windows.
    pub steps: Steps<'a>,
    /// True if windows that reach beyond the end of the image are included.
    pub ceil: bool,
}

/// Images in planes.
struct Planes {
    planes: usize,
    /// The dimensions before the image dimensions.
    lead: Dims,
    image: [usize; IMAGE_DIMS],
    ndim: usize,
}

impl Planes {
    fn of(t: &Tensor, ndim: usize) -> Result<Planes> {
        let shape = t.layout()?.shape;
        let (batch, channels, sizes) = parts(&shape, ndim)?;
        if sizes.contains(&0) {
            bail!(Shape, "images without elements, of shape {:?}", shape.as_slice())
        }
        let planes = (batch * channels) as usize;
        Ok(Planes { planes, lead: shape.iter().copied().take(shape.len() - ndim).collect(), image: image(sizes)?, ndim })
    }

    /// The shape of the planes with images of other sizes.
    fn resized(&self, sizes: [usize; IMAGE_DIMS]) -> Dims {
        self.lead.iter().copied().chain(sizes.into_iter().skip(IMAGE_DIMS - self.ndim).map(|size| size as i64)).collect()
    }

    /// The work that pools these planes.
    fn pool(&self, op: PoolOp, windows: Windows) -> Pool {
        Pool { op, windows, planes: self.planes }
    }

    fn windows(&self, options: PoolOptions<'_>) -> Result<Window> {
        let kernel = each("kernel", Some(options.kernel), 1, self.ndim, 1, 1)?;
        if options.kernel.is_empty() {
            bail!(Argument, "a kernel needs a size")
        }
        let steps = Steps { stride: options.steps.stride.or(Some(options.kernel)), ..options.steps };
        let w = windows(self.image, kernel, steps, self.ndim, if options.ceil { Rounding::Up } else { Rounding::Down })?;
        if let Some(d) = (0..IMAGE_DIMS).find(|&d| w.padding[d] as i64 > extent(&w, d) / 2) {
            bail!(Argument, "padding {} is more than half of a window of {} elements", w.padding[d], extent(&w, d))
        }
        Ok(w)
    }
}

/// The maximum of a window without elements: the least number of `dtype`. The elements are computed in another dtype.
fn least(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::Uint8 => 0.0,
        Dtype::Int8 => i8::MIN.into(),
        Dtype::Int16 => i16::MIN.into(),
        _ => f64::NEG_INFINITY,
    }
}

/// Writes the maxima of windows of `t` to `r`, and their positions to `indices`.
fn greatest(r: &Tensor, indices: Option<&Tensor>, t: &Tensor, shape: &[i64], work: &Pool) -> Result<()> {
    let dtype = common_type(&[t])?;
    Want::indices(indices)?;
    let compute = dtype.product_type();
    let x = [operand(t, compute)?];
    let values = Wanted { r, dtype, shape, writes: Writes::ROW_MAJOR.of(compute) };
    let places = indices.map(|r| Wanted { r, dtype: Dtype::Int64, shape, writes: Writes::ROW_MAJOR });
    ready_all([Some(values), places], Inputs::anywhere(&x))?.launch(work, &[&x[0]])
}

/// Writes the result of `work` on `t`, which must be float, to `r`.
fn of_floats(r: &Tensor, t: &Tensor, shape: &[i64], work: &Pool) -> Result<()> {
    let dtype = Domain::Float.check(t.defined()?)?;
    launch(r, (dtype, dtype.compute()), shape, work, &[operand(t, dtype.compute())?])
}

/// `r` = the maximum of each window, `indices` = its position in the plane
pub fn max_pool(ndim: usize, r: &Tensor, indices: Option<&Tensor>, t: &Tensor, options: PoolOptions<'_>) -> Result<()> {
    let planes = Planes::of(t, ndim)?;
    let window = planes.windows(options)?;
    let op = PoolOp::Max { least: least(t.defined()?) };
    greatest(r, indices, t, &planes.resized(window.out), &planes.pool(op, Windows::Strided(window)))
}

/// `r` = the mean of each window
pub fn avg_pool(ndim: usize, r: &Tensor, t: &Tensor, options: PoolOptions<'_>, divisor: Divisor) -> Result<()> {
    let planes = Planes::of(t, ndim)?;
    let window = planes.windows(options)?;
    of_floats(r, t, &planes.resized(window.out), &planes.pool(PoolOp::Mean(divisor), Windows::Strided(window)))
}

/// The divisor of a mean: `number` if it is not 0, otherwise the number of elements of the window, with padding if `padded`.
pub fn divisor(padded: bool, number: i64) -> Divisor {
    match (number, padded) {
        (0, false) => Divisor::Inside,
        (0, true) => Divisor::Padded,
        _ => Divisor::Given(number as f64),
    }
}

/// `r` = the gradient of `t`, the operand of [`avg_pool`]. Only the shape of `t` is used.
pub fn avg_pool_gradient(r: &Tensor, grad: &Tensor, t: &Tensor, options: PoolOptions<'_>, divisor: Divisor) -> Result<()> {
    let planes = Planes::of(t, image_dims(options.kernel.len() as i64)?)?;
    let window = planes.windows(options)?;
    check_shape(grad, &planes.resized(window.out))?;
    let work = planes.pool(PoolOp::MeanGradient(divisor), Windows::Strided(window));
    of_floats(r, grad, &planes.resized(planes.image), &work)
}

fn check_shape(t: &Tensor, expected: &[i64]) -> Result<()> {
    let have = t.layout()?.shape;
    if have.as_slice() != expected {
        bail!(Shape, "expected a tensor of shape {expected:?}, got {:?}", have.as_slice())
    }
    Ok(())
}

/// Windows that make images of `sizes`, which has one size for each dimension or one for all. -1 keeps a size.
fn adaptive(planes: &Planes, sizes: &[i64]) -> Result<Adaptive> {
    if sizes.is_empty() {
        bail!(Argument, "the result needs a size")
    }
    let mut out = each("size", Some(sizes), 1, planes.ndim, -1, 1)?;
    for d in 0..IMAGE_DIMS {
        if out[d] as i64 == -1 {
            out[d] = planes.image[d];
        }
    }
    Ok(Adaptive { image: planes.image, out })
}

/// `r` = the maxima of as many windows as `sizes` say, `indices` = their positions in the planes
pub fn adaptive_max(ndim: usize, r: &Tensor, indices: Option<&Tensor>, t: &Tensor, sizes: &[i64]) -> Result<()> {
    let planes = Planes::of(t, ndim)?;
    let windows = adaptive(&planes, sizes)?;
    let op = PoolOp::Max { least: f64::NEG_INFINITY };
    greatest(r, indices, t, &planes.resized(windows.out), &planes.pool(op, Windows::Adaptive(windows)))
}

/// `r` = the means of as many windows as `sizes` say
pub fn adaptive_avg(ndim: usize, r: &Tensor, t: &Tensor, sizes: &[i64]) -> Result<()> {
    let planes = Planes::of(t, ndim)?;
    let windows = adaptive(&planes, sizes)?;
    let work = planes.pool(PoolOp::Mean(Divisor::Inside), Windows::Adaptive(windows));
    of_floats(r, t, &planes.resized(windows.out), &work)
}

/// `r` = the gradient of `t`, the operand of [`adaptive_avg`]. Only the shape of `t` is used.
pub fn adaptive_avg_gradient(r: &Tensor, grad: &Tensor, t: &Tensor, ndim: i32) -> Result<()> {
    let planes = Planes::of(t, image_dims(ndim.into())?)?;
    let of_grad = grad.layout()?.shape;
    let (_, _, sizes) = parts(&of_grad, planes.ndim)?;
    let windows = adaptive(&planes, sizes)?;
    check_shape(grad, &planes.resized(windows.out))?;
    let work = planes.pool(PoolOp::MeanGradient(Divisor::Inside), Windows::Adaptive(windows));
    of_floats(r, grad, &planes.resized(planes.image), &work)
}

/// `r` = images of `sizes` with the elements of `t` at `indices`. With `adds`, elements of equal index are added, and index -1 is skipped.
pub fn unpool(r: &Tensor, t: &Tensor, indices: &Tensor, sizes: &[i64], adds: bool) -> Result<()> {
    let (dtype, ndim) = (common_type(&[t])?, image_dims(sizes.len() as i64)?);
    if indices.defined()? != Dtype::Int64 {
        bail!(Dtype, "indices are int64, not {}", indices.defined()?)
    }
    let shape = t.layout()?.shape;
    check_shape(indices, &shape)?;
    let (batch, channels, of_plane) = parts(&shape, ndim)?;
    let planes = Planes {
        planes: (batch * channels) as usize,
        lead: shape.iter().copied().take(shape.len() - ndim).collect(),
        image: image(sizes)?,
        ndim,
    };
    let result = planes.resized(planes.image);
    checked_numel(&result)?;
    let compute = dtype.product_type();
    let inputs = [operand(t, compute)?, operand(indices, Dtype::Int64)?];
    let (places, pixels) = (of_plane.iter().product::<i64>() as usize, planes.image.iter().product());
    let work = Unpool { places, pixels, planes: planes.planes, adds };
    launch(r, (dtype, compute), &result, &work, &inputs)
}

/// [`unpool`] with sums, into the shape of `t`
pub fn max_pool_gradient(r: &Tensor, grad: &Tensor, indices: &Tensor, t: &Tensor, ndim: i32) -> Result<()> {
    let (shape, of_grad, ndim) = (t.layout()?.shape, grad.layout()?.shape, image_dims(ndim.into())?);
    let (_, _, sizes) = parts(&shape, ndim)?;
    let lead = shape.len() - ndim;
    if of_grad.len() != shape.len() || of_grad[..lead] != shape[..lead] {
        bail!(Shape, "a gradient of shape {:?} for an input of shape {:?}", of_grad.as_slice(), shape.as_slice())
    }
    unpool(r, grad, indices, sizes, true)
}
