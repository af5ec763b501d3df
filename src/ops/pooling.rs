//! Pooling: images made smaller, by the greatest elements or the means of windows.

use super::convolution::{common_type, parts};
use super::dense::{dense, elements, elements_mut, written};
use super::lines::Want;
use super::matmul::{product_type, products};
use super::result::deliver;
use super::window::{Rounding, Steps, each, extent, image, image_dims, windows};
use crate::cpu::pooling::{Adaptive, Divisor, Pooling, Spread};
use crate::cpu::room::Room;
use crate::cpu::window::{IMAGE_DIMS, Window};
use crate::dtype::{Dtype, Element, dispatch};
use crate::error::{Error, Kind, Result, bail};
use crate::layout::{Dims, checked_numel};
use crate::tensor::Tensor;

/// How windows follow each other; without strides they lie side by side.
#[derive(Clone, Copy)]
pub struct Form<'a> {
    /// Elements of a window.
    pub kernel: &'a [i64],
    /// From window to window.
    pub steps: Steps<'a>,
    /// Whether windows count that lie beyond the end in part.
    pub ceil: bool,
}

/// Images in planes, and what becomes of them.
struct Planes {
    planes: usize,
    /// The shape before the sizes of images.
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

    /// The shape with images of other sizes.
    fn resized(&self, sizes: [usize; IMAGE_DIMS]) -> Dims {
        self.lead.iter().copied().chain(sizes.into_iter().skip(IMAGE_DIMS - self.ndim).map(|size| size as i64)).collect()
    }

    fn windows(&self, form: Form<'_>) -> Result<Window> {
        let kernel = each("kernel", Some(form.kernel), 1, self.ndim, 1, 1)?;
        if form.kernel.is_empty() {
            bail!(Argument, "a kernel needs a size")
        }
        let steps = Steps { stride: form.steps.stride.or(Some(form.kernel)), ..form.steps };
        let w = windows(self.image, kernel, steps, self.ndim, if form.ceil { Rounding::Up } else { Rounding::Down })?;
        if let Some(d) = (0..IMAGE_DIMS).find(|&d| w.padding[d] as i64 > extent(&w, d) / 2) {
            bail!(Argument, "padding {} is more than half of a window of {} elements", w.padding[d], extent(&w, d))
        }
        Ok(w)
    }
}

fn room(bytes: usize, parts: usize) -> Result<Room> {
    Room::new(bytes, parts).ok_or_else(|| Error::new(Kind::NoMem, format_args!("no memory for lines of an image")))
}

/// What a window without an element gives: the least number of the dtype, which is computed in another.
fn least(dtype: Dtype) -> f64 {
    match dtype {
        Dtype::Uint8 => 0.0,
        Dtype::Int8 => i8::MIN.into(),
        Dtype::Int16 => i16::MIN.into(),
        _ => f64::NEG_INFINITY,
    }
}

/// `r` = greatest elements of `t` as `run` finds them: values, their places if `indices` are asked for, and of which elements.
fn greatest<T: Element>(
    r: &Tensor,
    indices: Option<&Tensor>,
    t: &Tensor,
    shape: &[i64],
    run: &dyn Fn(*mut T, Option<*mut i64>, *const T),
) -> Result<()> {
    Want::indices(indices)?;
    let (dtype, x) = (t.defined()?, dense(t, T::DTYPE)?);
    let from = x.data().cast_const().cast::<T>();
    let Some(indices) = indices else {
        return written(r, (dtype, T::DTYPE), shape, &[Some(&x)], &|out| run(out.cast(), None, from));
    };
    let (mut values, mut places) = (Tensor::empty(T::DTYPE, shape)?, Tensor::empty(Dtype::Int64, shape)?);
    run(elements_mut::<T>(&mut values)?.as_mut_ptr(), Some(elements_mut::<i64>(&mut places)?.as_mut_ptr()), from);
    deliver([Some((r, dtype, &values)), Some((indices, Dtype::Int64, &places))])
}

/// `r` = the greatest element of each window, `indices` = where it stands in its plane
pub fn max_pool(ndim: usize, r: &Tensor, indices: Option<&Tensor>, t: &Tensor, form: Form<'_>) -> Result<()> {
    let planes = Planes::of(t, ndim)?;
    let window = planes.windows(form)?;
    let shape = planes.resized(window.out);
    let pooling = Pooling::new(window, planes.planes)?;
    let room = room(pooling.tile_bytes::<f64>(), pooling.parts())?;
    let (dtype, least) = (common_type(&[t])?, least(t.defined()?));
    products!(product_type(dtype), T => greatest::<T>(r, indices, t, &shape, &|values, places, x| {
        // SAFETY: row-major tensors of the shapes that the windows were made for; the results lie apart.
        unsafe { pooling.greatest(&room, values, places, x, least) }
    }))
}

/// `r` = the mean of each window
pub fn avg_pool(ndim: usize, r: &Tensor, t: &Tensor, form: Form<'_>, divisor: Divisor) -> Result<()> {
    let planes = Planes::of(t, ndim)?;
    let window = planes.windows(form)?;
    let shape = planes.resized(window.out);
    let pooling = Pooling::new(window, planes.planes)?;
    let room = room(pooling.tile_bytes::<f64>(), pooling.parts())?;
    let (dtype, divisors) = (t.defined()?, pooling.divisors(divisor)?);
    dispatch!(float, dtype, T => {
        let x = dense(t, dtype.compute())?;
        written(r, (dtype, dtype.compute()), &shape, &[Some(&x)], &|out| {
            // SAFETY: as above.
            unsafe { pooling.means(&room, out.cast::<T>(), x.data().cast_const().cast(), &divisors) }
        })
    })
}

/// What a mean is divided by: all of a window or what lies in the image, or a number if that is not 0.
pub fn divisor(padded: bool, number: i64) -> Divisor {
    match (number, padded) {
        (0, false) => Divisor::Inside,
        (0, true) => Divisor::Padded,
        _ => Divisor::Given(number as f64),
    }
}

/// `r` = the gradient of what [`avg_pool`] was taken of, `t`, of which the shape counts alone
pub fn avg_pool_gradient(r: &Tensor, grad: &Tensor, t: &Tensor, form: Form<'_>, divisor: Divisor) -> Result<()> {
    let planes = Planes::of(t, image_dims(form.kernel.len() as i64)?)?;
    let window = planes.windows(form)?;
    check_shape(grad, &planes.resized(window.out))?;
    let pooling = Pooling::new(window, planes.planes)?;
    let (room, divisors) = (room(1, planes.planes)?, pooling.divisors(divisor)?);
    let dtype = grad.defined()?;
    dispatch!(float, dtype, T => {
        let grad = dense(grad, dtype.compute())?;
        written(r, (dtype, dtype.compute()), &planes.resized(planes.image), &[Some(&grad)], &|out| {
            // SAFETY: as above.
            unsafe { pooling.spread_means(&room, out.cast::<T>(), grad.data().cast_const().cast(), &divisors) }
        })
    })
}

fn check_shape(t: &Tensor, expected: &[i64]) -> Result<()> {
    let have = t.layout()?.shape;
    if have.as_slice() != expected {
        bail!(Shape, "expected a tensor of shape {expected:?}, got {:?}", have.as_slice())
    }
    Ok(())
}

/// Windows that make images of these sizes, one for each dimension or one for all; -1 keeps a size.
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

/// `r` = the greatest elements of as many windows as `sizes` say, `indices` = where they stand in their planes
pub fn adaptive_max(ndim: usize, r: &Tensor, indices: Option<&Tensor>, t: &Tensor, sizes: &[i64]) -> Result<()> {
    let planes = Planes::of(t, ndim)?;
    let windows = adaptive(&planes, sizes)?;
    let shape = planes.resized(windows.out);
    let (dtype, room) = (common_type(&[t])?, room(1, planes.planes)?);
    products!(product_type(dtype), T => greatest::<T>(r, indices, t, &shape, &|values, places, x| {
        // SAFETY: as above.
        unsafe { windows.greatest(&room, planes.planes, values, places, x) }
    }))
}

/// `r` = the means of as many windows as `sizes` say
pub fn adaptive_avg(ndim: usize, r: &Tensor, t: &Tensor, sizes: &[i64]) -> Result<()> {
    let planes = Planes::of(t, ndim)?;
    let windows = adaptive(&planes, sizes)?;
    let shape = planes.resized(windows.out);
    let (room, dtype) = (room(1, planes.planes)?, t.defined()?);
    dispatch!(float, dtype, T => {
        let x = dense(t, dtype.compute())?;
        written(r, (dtype, dtype.compute()), &shape, &[Some(&x)], &|out| {
            // SAFETY: as above.
            unsafe { windows.means(&room, planes.planes, out.cast::<T>(), x.data().cast_const().cast()) }
        })
    })
}

/// `r` = the gradient of what [`adaptive_avg`] was taken of, `t`, of which the shape counts alone
pub fn adaptive_avg_gradient(r: &Tensor, grad: &Tensor, t: &Tensor, ndim: i32) -> Result<()> {
    let planes = Planes::of(t, image_dims(ndim.into())?)?;
    let of_grad = grad.layout()?.shape;
    let (_, _, sizes) = parts(&of_grad, planes.ndim)?;
    let windows = adaptive(&planes, sizes)?;
    check_shape(grad, &planes.resized(windows.out))?;
    let (room, dtype) = (room(1, planes.planes)?, grad.defined()?);
    dispatch!(float, dtype, T => {
        let grad = dense(grad, dtype.compute())?;
        written(r, (dtype, dtype.compute()), &planes.resized(planes.image), &[Some(&grad)], &|out| {
            // SAFETY: as above.
            unsafe { windows.spread_means(&room, planes.planes, out.cast::<T>(), grad.data().cast_const().cast()) }
        })
    })
}

/// `r` = images of `sizes` with each element of `t` where `indices` say, or with `adds` the sum of those of one place, where -1 is no place
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
    let compute = product_type(dtype);
    let (t, indices) = (dense(t, compute)?, dense(indices, Dtype::Int64)?);
    let (places, pixels) = (of_plane.iter().product::<i64>() as usize, planes.image.iter().product());
    let spread = Spread { indices: elements::<i64>(&indices)?, places, pixels, planes: planes.planes, adds };
    spread.check()?;
    let room = room(1, planes.planes)?;
    products!(compute, T => {
        written(r, (dtype, compute), &result, &[Some(&t), Some(&indices)], &|out| {
            // SAFETY: row-major tensors of these shapes; the indices were checked.
            unsafe { spread.run(&room, out.cast::<T>(), t.data().cast_const().cast()) }
        })
    })
}

/// [`unpool`] with sums, to the shape of `t`
pub fn max_pool_gradient(r: &Tensor, grad: &Tensor, indices: &Tensor, t: &Tensor, ndim: i32) -> Result<()> {
    let (shape, of_grad, ndim) = (t.layout()?.shape, grad.layout()?.shape, image_dims(ndim.into())?);
    let (_, _, sizes) = parts(&shape, ndim)?;
    let lead = shape.len() - ndim;
    if of_grad.len() != shape.len() || of_grad[..lead] != shape[..lead] {
        bail!(Shape, "a gradient of shape {:?} for an input of shape {:?}", of_grad.as_slice(), shape.as_slice())
    }
    unpool(r, grad, indices, sizes, true)
}
