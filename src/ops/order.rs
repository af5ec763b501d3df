//! Order statistics: kthvalue, median, mode and quantiles along a dimension or over everything.

use super::copy;
use super::lines::{Form, Kernels, Source, Want};
use super::reduce::TH_ALL_DIMS;
use crate::cpu::engine::CHEAP;
use crate::cpu::keys::{Key, Ordered};
use crate::cpu::lines::Line;
use crate::cpu::quantile::{self, Interpolation, Quantiles};
use crate::cpu::real::Real;
use crate::cpu::select::{count_nans, first, scratch_bytes, select};
use crate::cpu::{lines, mode as modes};
use crate::dtype::{Domain, Dtype, Element, dispatch};
use crate::error::{Result, bail};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The way in which a quantile between two elements is chosen.
pub type THInterpolation = i32;

/// `a + (b - a) * fraction` for neighbours a and b.
pub const TH_LINEAR: THInterpolation = 0;
/// The smaller neighbour.
pub const TH_LOWER: THInterpolation = 1;
/// The greater neighbour.
pub const TH_HIGHER: THInterpolation = 2;
/// `(a + b) / 2`
pub const TH_MIDPOINT: THInterpolation = 3;
/// The nearer neighbour; of two the one with the even rank.
pub const TH_NEAREST: THInterpolation = 4;

/// The element of a line that is asked for.
#[derive(Debug, Clone, Copy)]
enum Rank {
    /// With so many before it.
    At(usize),
    /// In the middle, or the one before; a NaN, if there is one.
    Median,
    /// The same among the numbers.
    MedianOfNumbers,
}

/// Where values and indices go; either may be absent.
type Results<'a> = (Option<&'a Tensor>, Option<&'a Tensor>);

/// The `k`-th smallest elements over `dim`, counted from 1, and where each first occurs. NaN is greater than everything.
pub fn kthvalue(results: Results<'_>, t: &Tensor, k: i64, dim: i32, keepdim: bool) -> Result<()> {
    let source = chosen_from(t, dim)?;
    if k < 1 || k > source.n() {
        bail!(Argument, "k = {k} is out of range for {} elements", source.n())
    }
    ranked(results, &source, Rank::At(k as usize - 1), keepdim)
}

/// The medians over `dim`, and where each first occurs; of two middle elements the smaller.
///
/// A NaN is the median of its line, unless `skip_nan` and there is something else.
pub fn median(results: Results<'_>, t: &Tensor, dim: i32, keepdim: bool, skip_nan: bool) -> Result<()> {
    let rank = if skip_nan { Rank::MedianOfNumbers } else { Rank::Median };
    ranked(results, &chosen_from(t, dim)?, rank, keepdim)
}

/// The median of all elements as a number; that of no elements is NaN.
pub fn median_all(t: &Tensor) -> Result<f64> {
    if t.defined()?.is_float() && t.layout()?.numel() == 0 {
        return Ok(f64::NAN);
    }
    let r = Tensor::fresh()?;
    median((Some(&r), None), t, TH_ALL_DIMS, false, false)?;
    Ok(copy::item(&r)?.to_f64())
}

/// The most frequent elements over `dim`, the smallest of several, and where each last occurs.
pub fn mode(results: Results<'_>, t: &Tensor, dim: i32, keepdim: bool) -> Result<()> {
    let source = chosen_from(t, dim)?;
    let (n, wants) = (source.n() as usize, wants(results, source.dtype())?);
    dispatch!(all, source.dtype(), T => {
        let line = |line: Line| {
            // SAFETY: the driver passes lines of `n` elements, the scratch asked for, and results of one element.
            unsafe {
                let (key, at) = modes::mode(elements::<T>(line), line.scratch);
                put(line, 0, T::from_key(key));
                put(line, 1, at as i64);
            }
        };
        source.run(T::DTYPE, Form::One { keepdim }, wants, kernels(&line, modes::scratch_bytes::<T>(n)))
    })
}

/// Lines that have something to choose from.
fn chosen_from(t: &Tensor, dim: i32) -> Result<Source> {
    let source = Source::along(t, dim)?;
    if source.n() == 0 {
        bail!(Argument, "no elements to choose from in shape {:?}", source.shape())
    }
    Ok(source)
}

fn wants(results: Results<'_>, dtype: Dtype) -> Result<[Want<'_>; 2]> {
    let values = Want { r: results.0, dtype, compute: results.0.map(|_| dtype.compute()) };
    let indices = Want::indices(results.1)?;
    Ok([values, Want { compute: indices.compute.filter(|_| results.1.is_some()), ..indices }])
}

fn kernels(line: lines::LineKernel<'_>, scratch: usize) -> Kernels<'_> {
    Kernels { scratch, ..Kernels::line(line, CHEAP / 4) }
}

/// # Safety
/// The line holds elements of `T`.
unsafe fn elements<'a, T>(line: Line) -> &'a [T] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(line.x.cast::<T>(), line.n) }
}

/// Writes the one element of result `k`, if that is wanted.
///
/// # Safety
/// The result holds an element of `T`.
unsafe fn put<T>(line: Line, k: usize, value: T) {
    if !line.out[k].is_null() {
        // SAFETY: the caller's.
        unsafe { line.out[k].cast::<T>().write(value) }
    }
}

fn ranked(results: Results<'_>, source: &Source, rank: Rank, keepdim: bool) -> Result<()> {
    let (n, wants) = (source.n() as usize, wants(results, source.dtype())?);
    dispatch!(numeric, source.dtype(), T => {
        let line = |line: Line| {
            // SAFETY: the driver passes lines of `n` elements, the scratch asked for, and results of one element.
            unsafe {
                let x = elements::<T>(line);
                let key = key_of_rank(x, rank, line.scratch);
                put(line, 0, T::from_key(key));
                if !line.out[1].is_null() {
                    put(line, 1, first(x, key) as i64);
                }
            }
        };
        source.run(T::DTYPE, Form::One { keepdim }, wants, kernels(&line, scratch_bytes::<T>(n)))
    })
}

/// # Safety
/// As for [`select`].
unsafe fn key_of_rank<T: Ordered>(line: &[T], rank: Rank, scratch: *mut u8) -> T::Key {
    let k = match rank {
        Rank::At(k) => k,
        Rank::Median => (line.len() - 1) / 2,
        Rank::MedianOfNumbers => (line.len() - count_nans(line)).saturating_sub(1) / 2,
    };
    // SAFETY: the caller's; k < line.len().
    let choice = unsafe { select(line, k, scratch) };
    if choice.nan && matches!(rank, Rank::Median) { T::Key::MAX } else { choice.key }
}

/// Quantiles over `dim`: `r` has one for each element of `q` along a new first dimension, or none such if `q` is a number or 0-d.
pub fn quantiles(
    r: &Tensor,
    t: &Tensor,
    q: &Tensor,
    dim: i32,
    keepdim: bool,
    interpolation: THInterpolation,
    skip_nan: bool,
) -> Result<()> {
    let interpolation = match interpolation {
        TH_LINEAR => Interpolation::Linear,
        TH_LOWER => Interpolation::Lower,
        TH_HIGHER => Interpolation::Higher,
        TH_MIDPOINT => Interpolation::Midpoint,
        TH_NEAREST => Interpolation::Nearest,
        other => bail!(Argument, "{other} is no interpolation"),
    };
    let source = chosen_from(t, dim)?;
    let dtype = Domain::Float.check(source.dtype())?;
    let q = shares(q, dtype.compute())?;
    let form = if q.ndim() == 0 { Form::One { keepdim } } else { Form::Leading { n: q.layout()?.numel(), keepdim } };
    let want = Want { r: Some(r), dtype, compute: Some(dtype.compute()) };
    dispatch!(float, dtype, T => take_quantiles::<T>(&source, form, want, &q, interpolation, skip_nan))
}

/// [`quantiles`] for one number.
pub fn quantile(r: &Tensor, t: &Tensor, q: f64, dim: i32, keepdim: bool, interpolation: THInterpolation, skip_nan: bool) -> Result<()> {
    let q = super::create::scalar(Dtype::Float64, Scalar::Float(q))?;
    quantiles(r, t, &q, dim, keepdim, interpolation, skip_nan)
}

/// `q` contiguous and in the type quantiles are computed in, once it is found to be in order.
fn shares(q: &Tensor, compute: Dtype) -> Result<Tensor> {
    if !q.defined()?.is_float() || q.ndim() > 1 {
        bail!(Argument, "q is a vector or 0-d tensor of floats, not {} of shape {:?}", q.defined()?, q.layout()?.shape.as_slice())
    }
    let q = copy::to_dtype(&copy::contiguous_copy(q)?, Dtype::Float64)?;
    for i in 0..q.layout()?.numel() as usize {
        // SAFETY: a new contiguous tensor of float64.
        let share = unsafe { q.data().cast::<f64>().add(i).read() };
        if !(0.0..=1.0).contains(&share) {
            bail!(Argument, "q = {} is outside of 0 to 1", Scalar::from(share))
        }
    }
    copy::to_dtype(&q, compute)
}

fn take_quantiles<T: Real + Ordered>(
    source: &Source,
    form: Form,
    want: Want<'_>,
    q: &Tensor,
    interpolation: Interpolation,
    skip_nan: bool,
) -> Result<()> {
    // SAFETY: `shares` made a contiguous tensor of `T`.
    let shares = unsafe { std::slice::from_raw_parts(q.data().cast::<T>(), q.layout()?.numel() as usize) };
    let quantiles = Quantiles { shares, interpolation, skip_nan };
    let line = |line: Line| {
        // SAFETY: the driver passes lines of `T`, the scratch asked for, and a result with an element for each share.
        unsafe { quantiles.of(elements::<T>(line), line.out[0].cast(), line.scratch) }
    };
    source.run(T::DTYPE, form, [want, Want::NOTHING], kernels(&line, quantile::scratch_bytes::<T>(source.n() as usize)))
}
