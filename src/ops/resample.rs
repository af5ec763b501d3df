//! Images resampled to other sizes, one dimension after the other, and images rearranged between channels and pixels.

use super::convolution::parts;
use super::dense::{launch, operand};
use super::result::deliver;
use super::window::{image, image_dims};
use super::{copy, device, view};
use crate::alloc;
use crate::dtype::{Domain, Dtype};
use crate::error::{Error, Kind, Result, bail};
use crate::launch::Resample;
use crate::layout::{Dims, checked_numel};
use crate::operand::Operand;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The method that computes the pixels of an image of another size.
pub type THResampling = i32;
/// The pixel at `floor(i * scale)`, with `scale = size of t / size of r`.
pub const TH_RESAMPLE_NEAREST: THResampling = 0;
/// The pixel at `floor((i + 0.5) * scale)`, as Pillow and scikit-image choose it.
pub const TH_RESAMPLE_NEAREST_EXACT: THResampling = 1;
/// Linear interpolation along each dimension: bilinear for two dimensions, trilinear for three.
pub const TH_RESAMPLE_LINEAR: THResampling = 2;
/// Cubic convolution of four pixels along each dimension: bicubic for two dimensions.
pub const TH_RESAMPLE_CUBIC: THResampling = 3;
/// The mean of the pixels that a result covers, entirely or partly, as adaptiveAvgPool2d computes it.
pub const TH_RESAMPLE_AREA: THResampling = 4;

/// The method of a resampling.
#[derive(Clone, Copy)]
pub struct Method {
    /// A constant `TH_RESAMPLE_*`.
    pub mode: THResampling,
    /// True if the centres of the corner pixels stay at the corners.
    pub align_corners: bool,
    /// True if a smaller image has means over the pixels that each result covers.
    pub antialias: bool,
    /// The factor of the sizes that the caller states; 0 if the factor follows from the sizes.
    pub factor: f64,
}

/// The cost of a term along the last dimension, in terms of a row.
const ALONG_ROWS: f64 = 4.0;

/// The terms of a result along a dimension: pixels and their weights.
type Terms = Vec<(i32, f64)>;

/// Cubic convolution by R. Keys (1981), with the parameter `a`.
fn cubic(x: f64, a: f64) -> f64 {
    let x = x.abs();
    if x <= 1.0 {
        ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        ((x - 5.0) * x + 8.0) * x * a - 4.0 * a
    } else {
        0.0
    }
}

impl Method {
    fn check(self) -> Result<()> {
        let Method { mode, align_corners, antialias, factor } = self;
        if !(TH_RESAMPLE_NEAREST..=TH_RESAMPLE_AREA).contains(&mode) {
            bail!(Argument, "{mode} is no THResampling, expected {TH_RESAMPLE_NEAREST} to {TH_RESAMPLE_AREA}")
        }
        let smooth = matches!(mode, TH_RESAMPLE_LINEAR | TH_RESAMPLE_CUBIC);
        if (align_corners || antialias) && !smooth {
            let name = if align_corners { "alignCorners" } else { "antialias" };
            bail!(Argument, "{name} is for TH_RESAMPLE_LINEAR and TH_RESAMPLE_CUBIC alone, not for method {mode}")
        }
        if !(factor >= 0.0 && factor.is_finite()) {
            bail!(Argument, "the factor is {}, but must be positive and finite", Scalar::from(factor))
        }
        Ok(())
    }

    /// The distance of neighbouring results in pixels.
    fn scale(self, before: i64, after: i64) -> f64 {
        if self.align_corners {
            if after > 1 { (before - 1) as f64 / (after - 1) as f64 } else { 0.0 }
        } else if self.factor > 0.0 && self.mode != TH_RESAMPLE_AREA {
            1.0 / self.factor
        } else {
            before as f64 / after as f64
        }
    }

    /// The terms of result `i` of `after`, for a dimension of `before` pixels. A pixel may occur several times.
    fn terms(self, i: i64, before: i64, after: i64, add: &mut dyn FnMut(i64, f64)) {
        let scale = self.scale(before, after);
        let by_size = self.factor == 0.0;
        match self.mode {
            TH_RESAMPLE_NEAREST if by_size => add((i128::from(i) * i128::from(before) / i128::from(after)) as i64, 1.0),
            TH_RESAMPLE_NEAREST => add((i as f64 * scale).floor() as i64, 1.0),
            TH_RESAMPLE_NEAREST_EXACT if by_size => {
                add(((2 * i128::from(i) + 1) * i128::from(before) / (2 * i128::from(after))) as i64, 1.0);
            }
            TH_RESAMPLE_NEAREST_EXACT => add(((i as f64 + 0.5) * scale).floor() as i64, 1.0),
            TH_RESAMPLE_AREA => {
                let at = |i: i64| i128::from(i) * i128::from(before);
                let (from, to) = ((at(i) / i128::from(after)) as i64, ((at(i + 1) + i128::from(after) - 1) / i128::from(after)) as i64);
                (from..to).for_each(|place| add(place, 1.0 / (to - from) as f64));
            }
            _ if self.antialias => self.covered(i, scale, before, add),
            _ => {
                let at = if self.align_corners { i as f64 * scale } else { (i as f64 + 0.5) * scale - 0.5 };
                if self.mode == TH_RESAMPLE_LINEAR {
                    let at = at.max(0.0);
                    let rest = at - at.floor();
                    add(at as i64, 1.0 - rest);
                    add((at as i64).saturating_add(1), rest);
                } else {
                    let (first, rest) = (at.floor() as i64, at - at.floor());
                    (-1..=2).for_each(|k| add(first.saturating_add(k), cubic(rest - k as f64, -0.75)));
                }
            }
        }
    }

    /// The terms of an antialiased result: the filter is as wide as a result if that is wider than a pixel.
    fn covered(self, i: i64, scale: f64, before: i64, add: &mut dyn FnMut(i64, f64)) {
        let widened = scale.max(1.0);
        let (support, centre) = (if self.mode == TH_RESAMPLE_LINEAR { 1.0 } else { 2.0 } * widened, scale * (i as f64 + 0.5));
        let from = ((centre - support + 0.5) as i64).max(0);
        let to = ((centre + support + 0.5) as i64).min(before);
        let weight = |place: i64| {
            let x = (place as f64 - centre + 0.5) / widened;
            if self.mode == TH_RESAMPLE_LINEAR { (1.0 - x.abs()).max(0.0) } else { cubic(x, -0.5) }
        };
        let total: f64 = (from..to).map(weight).sum();
        (from..to).for_each(|place| add(place, if total == 0.0 { 0.0 } else { weight(place) / total }));
    }
}

/// Adds a term to a list. Terms of one pixel follow each other and become one term; terms of weight 0 are left out.
fn add_term(list: &mut Terms, (at, weight): (i32, f64)) -> Result<()> {
    match list.last_mut() {
        Some((other, sum)) if *other == at => *sum += weight,
        _ if weight != 0.0 => {
            list.try_reserve(1).map_err(no_memory)?;
            list.push((at, weight));
        }
        _ => {}
    }
    Ok(())
}

#[cold]
fn no_memory(_: std::collections::TryReserveError) -> Error {
    Error::new(Kind::NoMem, format_args!("out of memory for the weights of pixels"))
}

/// The terms of all results along a dimension, as operands of a [`Resample`].
struct Table {
    places: Operand,
    weights: Operand,
    taps: usize,
}

impl Table {
    /// The table of a dimension with `before` pixels and `after` results; transposed, the table of the gradient. `compute` is the dtype of
    /// the sums.
    fn new(method: Method, [before, after]: [i64; 2], transposed: bool, compute: Dtype) -> Result<Table> {
        let n = if transposed { before } else { after };
        let mut lists: Vec<Terms> = alloc::list(n as usize, |_| Ok(Terms::new()))?;
        let mut done = Ok(());
        for i in 0..after {
            // Pixels outside the image are those at its edge.
            let mut add = |place: i64, weight: f64| {
                let place = place.clamp(0, before - 1);
                let (list, at) = if transposed { (&mut lists[place as usize], i) } else { (&mut lists[i as usize], place) };
                done = std::mem::replace(&mut done, Ok(())).and_then(|()| add_term(list, (at as i32, weight)));
            };
            method.terms(i, before, after, &mut add);
        }
        done?;
        let taps = lists.iter().map(Vec::len).max().unwrap_or(0).max(1);
        // Short lists repeat their last pixel with halved weights, whose sum is exact. Weights of 0 would make NaN of infinite pixels.
        for list in &mut lists {
            list.try_reserve_exact(taps - list.len()).map_err(no_memory)?;
            match list.pop() {
                None => list.resize(taps, (-1, 0.0)),
                Some((place, mut weight)) => {
                    while list.len() + 1 < taps {
                        weight /= 2.0;
                        list.push((place, weight));
                    }
                    list.push((place, weight));
                }
            }
        }
        // Lists by term, as the kernels read them.
        let n = n as usize;
        let terms = || (0..taps * n).map(|k| lists[k % n][k / n]);
        let size = [taps as i64, n as i64];
        let places = device::written(&size, |to: &mut [i32]| {
            to.iter_mut().zip(terms()).for_each(|(to, (place, _))| *to = place);
            Ok(())
        })?;
        let weights = device::written(&size, |to: &mut [f64]| {
            to.iter_mut().zip(terms()).for_each(|(to, (_, weight))| *to = weight);
            Ok(())
        })?;
        Ok(Table { places: Operand::of(&places)?, weights: operand(&weights, compute)?, taps })
    }
}

/// Images in planes, and the number of their dimensions.
struct Images {
    lead: Dims,
    sizes: Dims,
}

impl Images {
    fn of(t: &Tensor, ndim: usize) -> Result<Images> {
        let shape = t.layout()?.shape;
        let (_, _, sizes) = parts(&shape, ndim)?;
        image(sizes)?;
        if let Some(size) = sizes.iter().find(|&&size| size < 1 || size > i64::from(i32::MAX)) {
            bail!(Shape, "an image of size {size} cannot be resampled; sizes are 1 to {}", i32::MAX)
        }
        Ok(Images { lead: shape.iter().copied().take(shape.len() - ndim).collect(), sizes: sizes.into() })
    }

    fn with(&self, sizes: &[i64]) -> Dims {
        self.lead.iter().chain(sizes).copied().collect()
    }
}

fn check_sizes(sizes: &[i64]) -> Result<()> {
    match sizes.iter().find(|&&size| size < 1 || size > i64::from(i32::MAX)) {
        Some(size) => bail!(Argument, "size {size} of the result: sizes are 1 to {}", i32::MAX),
        None => Ok(()),
    }
}

/// Resamples each dimension from `images` to `sizes`, or back if `transposed`: `t` has the shape of the gradient then.
fn resampled(r: &Tensor, t: &Tensor, images: &Images, sizes: &[i64], method: Method, transposed: bool) -> Result<()> {
    let dtype = t.defined()?;
    let compute = if dtype == Dtype::Uint8 { Dtype::Float32 } else { dtype.compute() };
    let (from, to) = if transposed { (sizes, &images.sizes[..]) } else { (&images.sizes[..], sizes) };
    checked_numel(&images.with(to))?;
    // The order of the least work: a dimension that shrinks comes early. Sums along the last dimension cost more, because their terms are
    // no rows.
    let mut order: Vec<usize> = alloc::list(to.len(), Ok)?;
    let saved = |d: usize| {
        let shrinks = from[d] as f64 / to[d] as f64;
        let terms = if method.antialias { shrinks.max(1.0) } else { 1.0 };
        (shrinks - 1.0) / (terms * if d + 1 == to.len() { ALONG_ROWS } else { 1.0 })
    };
    order.sort_by(|&a, &b| saved(b).total_cmp(&saved(a)).then(b.cmp(&a)));
    // A dimension of the same size stays as it is. If all do, one pass copies the images.
    let changed = |d: usize| from[d] != to[d] || (method.factor != 0.0 && method.factor != 1.0);
    let first = order[0];
    order.retain(|&d| changed(d));
    if order.is_empty() {
        order.push(first);
    }
    let (mut now, mut sizes_now) = (t.clone(), Dims::from(from));
    for (k, &d) in order.iter().enumerate() {
        let is_last = k + 1 == order.len();
        let table = Table::new(method, [images.sizes[d], sizes[d]], transposed, compute)?;
        let planes: i64 = images.lead.iter().product();
        let work = Resample {
            outer: (planes * sizes_now[..d].iter().product::<i64>()) as usize,
            before: from[d] as usize,
            after: to[d] as usize,
            inner: sizes_now[d + 1..].iter().product::<i64>() as usize,
            taps: table.taps,
        };
        sizes_now[d] = to[d];
        let x = operand(&now, if now.defined()? == Dtype::Uint8 { Dtype::Uint8 } else { compute })?;
        let shape = images.with(&sizes_now);
        let inputs = [x, table.places, table.weights];
        if is_last {
            let written = if dtype == Dtype::Uint8 { dtype } else { compute };
            return launch(r, (dtype, written), &shape, &work, &inputs);
        }
        let made = Tensor::fresh()?;
        launch(&made, (compute, compute), &shape, &work, &inputs)?;
        now = made;
    }
    Ok(())
}

fn check_dtype(t: &Tensor, integers: bool) -> Result<()> {
    let dtype = t.defined()?;
    if !(dtype.is_float() || (integers && dtype == Dtype::Uint8)) {
        return Err(Domain::Float.refusal(dtype));
    }
    Ok(())
}

/// `r` = the images of `t` with these sizes.
pub fn interpolate(r: &Tensor, t: &Tensor, sizes: &[i64], method: Method) -> Result<()> {
    check_dtype(t, true)?;
    method.check()?;
    let images = Images::of(t, image_dims(sizes.len() as i64)?)?;
    check_sizes(sizes)?;
    resampled(r, t, &images, sizes, method, false)
}

/// `r` = the images of `t` with `floor(factor * size)` pixels in each dimension.
pub fn interpolate_by(r: &Tensor, t: &Tensor, ndim: i32, method: Method) -> Result<()> {
    check_dtype(t, true)?;
    method.check()?;
    if method.factor == 0.0 {
        bail!(Argument, "the factor is 0, but must be positive")
    }
    let images = Images::of(t, image_dims(ndim.into())?)?;
    let sizes: Dims = images.sizes.iter().map(|&size| (size as f64 * method.factor).floor() as i64).collect();
    check_sizes(&sizes)?;
    resampled(r, t, &images, &sizes, method, false)
}

/// `r` = the gradient of `t`, the operand of [`interpolate`] or [`interpolate_by`], from the gradient `g` of the result. Only the shape of
/// `t` is used.
pub fn interpolate_gradient(r: &Tensor, g: &Tensor, t: &Tensor, ndim: i32, method: Method) -> Result<()> {
    check_dtype(g, false)?;
    method.check()?;
    let ndim = image_dims(ndim.into())?;
    let (images, of_g) = (Images::of(t, ndim)?, Images::of(g, ndim)?);
    if images.lead != of_g.lead {
        bail!(Shape, "a gradient of shape {:?} for images of shape {:?}", &g.layout()?.shape[..], &t.layout()?.shape[..])
    }
    resampled(r, g, &images, &of_g.sizes, method, true)
}

/// A copy of `t` whose dimensions have been split into `split`, permuted by `order`, and merged into `shape`.
fn rearranged(r: &Tensor, t: &Tensor, split: &[i64], order: &[i64], shape: &[i64]) -> Result<()> {
    checked_numel(shape)?;
    let parts = view::derive(&view::reshape(t, split)?, |l| l.permute(order))?;
    let copied = copy::contiguous_copy(&parts)?;
    deliver([Some((r, t.defined()?, &view::reshape(&copied, shape)?))])
}

fn channels_and_pixels(t: &Tensor) -> Result<(Dims, [i64; 3])> {
    t.defined()?;
    let shape = t.layout()?.shape;
    match shape.as_slice() {
        [lead @ .., channels, height, width] => Ok((lead.into(), [*channels, *height, *width])),
        _ => bail!(Shape, "expected at least 3 dimensions, got shape {:?}", shape.as_slice()),
    }
}

/// The order of dimensions in which the last `order.len()` of them are permuted, behind `lead` others.
fn behind(lead: usize, order: &[i64]) -> Dims {
    (0..lead as i64).chain(order.iter().map(|d| d + lead as i64)).collect()
}

/// `r[.., c, y * factor + i, x * factor + j] = t[.., (c * factor + i) * factor + j, y, x]`
pub fn pixel_shuffle(r: &Tensor, t: &Tensor, factor: i64) -> Result<()> {
    let (lead, [channels, height, width]) = channels_and_pixels(t)?;
    let Some(square) = (factor >= 1).then(|| factor.checked_mul(factor)).flatten().filter(|square| channels % square == 0) else {
        bail!(Shape, "{channels} channels do not divide into squares of {factor} x {factor}")
    };
    let with = |sizes: &[i64]| -> Dims { lead.iter().chain(sizes).copied().collect() };
    let split = with(&[channels / square, factor, factor, height, width]);
    rearranged(r, t, &split, &behind(lead.len(), &[0, 3, 1, 4, 2]), &with(&[channels / square, height * factor, width * factor]))
}

/// The inverse of [`pixel_shuffle`].
pub fn pixel_unshuffle(r: &Tensor, t: &Tensor, factor: i64) -> Result<()> {
    let (lead, [channels, height, width]) = channels_and_pixels(t)?;
    if factor < 1 || height % factor != 0 || width % factor != 0 {
        bail!(Shape, "images of {height} x {width} do not divide into squares of {factor} x {factor}")
    }
    let (rows, columns) = (height / factor, width / factor);
    let Some(more) = factor.checked_mul(factor).and_then(|square| square.checked_mul(channels)) else { bail!(Shape, "too many channels") };
    let with = |sizes: &[i64]| -> Dims { lead.iter().chain(sizes).copied().collect() };
    let split = with(&[channels, rows, factor, columns, factor]);
    rearranged(r, t, &split, &behind(lead.len(), &[0, 2, 4, 1, 3]), &with(&[more, rows, columns]))
}

/// `r` = `t` whose channels, numbered `group * size + k`, are numbered `k * groups + group`.
pub fn channel_shuffle(r: &Tensor, t: &Tensor, groups: i64) -> Result<()> {
    t.defined()?;
    let shape = t.layout()?.shape;
    let Some(&channels) = shape.get(1) else { bail!(Shape, "expected at least 2 dimensions, got shape {:?}", shape.as_slice()) };
    if groups < 1 || channels % groups != 0 {
        bail!(Argument, "{channels} channels do not divide into {groups} groups")
    }
    let split: Dims = [shape[0], groups, channels / groups].iter().chain(&shape[2..]).copied().collect();
    let order: Dims = [0, 2, 1].into_iter().chain(3..split.len() as i64).collect();
    rearranged(r, t, &split, &order, &shape)
}
