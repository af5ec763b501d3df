//! TH's convolutions of planes and volumes. Each is one of [`Convolution`]'s products, times a factor, added to the previous result.

use super::common_type;
use crate::backend;
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::launch::{Convolution, IMAGE_DIMS, Product, Window};
use crate::layout::{Dims, Layout};
use crate::operand::Operand;
use crate::ops::dense::dense;
use crate::ops::device;
use crate::ops::pointwise::{arithmetic, check_whole};
use crate::ops::result::deliver;
use crate::ops::window::{Rounding, Steps, check_counts, extent, image, unnumbered, windows};
use crate::ops::{copy, create, rearrange, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use std::ffi::CStr;

/// The pairs of planes and kernels that are convolved.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// One plane with one kernel.
    One,
    /// Each plane with the kernel of the same index.
    Same,
    /// Each plane with every kernel. The result is a matrix of planes.
    Each,
    /// Each plane with every kernel, summed over a leading batch dimension.
    EachOfBatch,
    /// A matrix of kernels times a vector of planes.
    Summed,
    /// `Summed` for each entry of a batch.
    SummedOfBatch,
}

/// The kind of convolution.
#[derive(Clone, Copy)]
pub struct Mode<'a> {
    /// The distance between windows, or, for [`Mode::reverse`], between taps.
    pub steps: &'a [i64],
    /// True if each element is spread over a window, which makes the result larger than the plane.
    pub full: bool,
    /// True if the kernel is flipped.
    pub turned: bool,
    /// True if `steps` is the distance between taps.
    pub reverse: bool,
}

impl<'a> Mode<'a> {
    /// A mode by TH's letters: `V` for valid or `F` for full, `X` for cross-correlation or `C` for convolution.
    pub fn named(steps: &'a [i64], vf: &CStr, xc: &CStr) -> Result<Mode<'a>> {
        let full = match vf.to_bytes().first() {
            Some(b'V') => false,
            Some(b'F') => true,
            _ => bail!(Argument, "vf is \"V\" for valid or \"F\" for full, not {vf:?}"),
        };
        let convolution = match xc.to_bytes().first() {
            Some(b'X') => false,
            Some(b'C') => true,
            _ => bail!(Argument, "xc is \"X\" for cross-correlation or \"C\" for convolution, not {xc:?}"),
        };
        // Spreading elements by a kernel that is not flipped is a convolution.
        Ok(Mode { steps, full, turned: convolution != full, reverse: false })
    }

    /// Valid cross-correlation in which `steps` is the distance between taps, for gradients of weights.
    pub fn reverse(steps: &'a [i64]) -> Mode<'a> {
        Mode { steps, full: false, turned: false, reverse: true }
    }
}

/// A view of `t` with leading dimensions `lead`, followed by its `ndim` image dimensions.
fn led(t: &Tensor, lead: &[i64], ndim: usize) -> Result<Tensor> {
    let layout = t.layout()?;
    let shape: Dims = lead.iter().chain(&layout.shape[layout.ndim() - ndim..]).copied().collect();
    view::of(t, &Layout { offset: layout.offset, ..Layout::contiguous(&shape) })
}

/// The windows of kernels in images of these sizes. For a full convolution, the windows are in the result.
fn window(sizes: &[i64], kernel: &[i64], mode: Mode<'_>) -> Result<Window> {
    let (ndim, sizes, kernel) = (mode.steps.len(), image(sizes)?, image(kernel)?);
    let steps = match mode.reverse {
        true => Steps { dilation: Some(mode.steps), ..Steps::default() },
        false => Steps { stride: Some(mode.steps), ..Steps::default() },
    };
    if !mode.full {
        return windows(sizes, kernel, steps, ndim, Rounding::Down);
    }
    let mut w = Window { out: sizes, ..unnumbered([1; IMAGE_DIMS], kernel, steps, ndim)? };
    for d in IMAGE_DIMS - ndim..IMAGE_DIMS {
        let size = (sizes[d] as i64 - 1).saturating_mul(w.stride[d] as i64).saturating_add(extent(&w, d));
        if sizes[d] == 0 || size > i64::MAX / 8 {
            bail!(Shape, "an image of size {} gives a result of size {size}", sizes[d])
        }
        w.image[d] = size as usize;
    }
    check_counts(&w)?;
    Ok(w)
}

/// The image sizes of the result.
fn sizes_made(w: &Window, mode: Mode<'_>) -> impl Iterator<Item = i64> {
    let made = if mode.full { w.image } else { w.out };
    made.into_iter().skip(IMAGE_DIMS - mode.steps.len()).map(|size| size as i64)
}

/// `alpha` times the convolution of images [batch][channels] with kernels [outputs][channels / groups]. The operands are row-major and in
/// the type of products; the result is [batch][outputs]. Kernels of a full convolution are [channels][outputs / groups].
fn convolved(alpha: Scalar, t: &Tensor, k: &Tensor, groups: i64, mode: Mode<'_>) -> Result<Tensor> {
    let (of_t, of_k) = (t.layout()?.shape, k.layout()?.shape);
    let window = window(&of_t[2..], &of_k[2..], mode)?;
    let mut shape = Dims::filled(of_t[0], 1);
    shape.push(if mode.full { of_k[1] * groups } else { of_k[0] });
    sizes_made(&window, mode).for_each(|size| shape.push(size));
    let out = Tensor::empty(t.defined()?, &shape)?;
    let [batch, groups, inputs, outputs] = [of_t[0], groups, of_k[1], of_k[0] / groups.max(1)].map(|n| n as usize);
    let product = if mode.full { Product::Transposed } else { Product::Forward };
    let it = Convolution { product, window, batch, groups, inputs, outputs };
    let (to, inputs) = (Operand::of(&out)?, [Operand::of(k)?, Operand::of(t)?]);
    backend::on(to.device).launch(&it, &[Some(&to)], &[&inputs[0], &inputs[1]])?;
    if alpha != Scalar::Int(1) {
        arithmetic::mul.run([&out, &out], &[alpha])?;
    }
    Ok(out)
}

/// Planes and kernels arranged for [`convolved`], both row-major.
struct Operands {
    t: Tensor,
    k: Tensor,
    groups: i64,
    /// The leading dimensions of the result, before the image sizes.
    lead: Dims,
    /// True if the two leading dimensions of the result must be swapped.
    swapped: bool,
}

/// A row-major copy with the first two dimensions swapped.
fn swapped(t: &Tensor) -> Result<Tensor> {
    copy::contiguous_copy(&view::derive(t, |l| l.transpose(0, 1))?)
}

impl Pairing {
    /// The number of leading dimensions of the planes and of the kernels.
    fn leads(self) -> (usize, usize) {
        match self {
            Pairing::One => (0, 0),
            Pairing::Same | Pairing::Each => (1, 1),
            Pairing::EachOfBatch | Pairing::SummedOfBatch => (2, 2),
            Pairing::Summed => (1, 2),
        }
    }

    /// Arranges planes and kernels. With `full`, kernels get the order of a transposed convolution.
    fn operands(self, t: &Tensor, k: &Tensor, ndim: usize, full: bool) -> Result<Operands> {
        let (of_t, of_k) = (t.layout()?.shape, k.layout()?.shape);
        let (a, b) = self.leads();
        if of_t.len() != a + ndim || of_k.len() != b + ndim {
            let (t, k) = (of_t.as_slice(), of_k.as_slice());
            bail!(Shape, "expected {} and {} dimensions, got shapes {t:?} and {k:?}", a + ndim, b + ndim)
        }
        let same = |planes: i64, kernels: i64| {
            if planes != kernels {
                bail!(Shape, "{planes} planes for {kernels} kernels")
            }
            Ok(())
        };
        let of =
            |t: Tensor, k: Tensor, groups, lead: &[i64]| Operands { t, k, groups, lead: lead.iter().copied().collect(), swapped: false };
        Ok(match self {
            Pairing::One => of(led(t, &[1, 1], ndim)?, led(k, &[1, 1], ndim)?, 1, &[]),
            Pairing::Same => {
                same(of_t[0], of_k[0])?;
                of(led(t, &[1, of_t[0]], ndim)?, led(k, &[of_k[0], 1], ndim)?, of_t[0], &of_t[..1])
            }
            Pairing::Each => {
                let lead = if full { [1, of_k[0]] } else { [of_k[0], 1] };
                let made = of(led(t, &[of_t[0], 1], ndim)?, led(k, &lead, ndim)?, 1, &[of_k[0], of_t[0]]);
                Operands { swapped: true, ..made }
            }
            Pairing::EachOfBatch => {
                same(of_t[0], of_k[0])?;
                Operands { swapped: true, ..of(swapped(t)?, swapped(k)?, 1, &[of_k[1], of_t[1]]) }
            }
            Pairing::Summed => {
                same(of_t[0], of_k[1])?;
                let k = if full { swapped(k)? } else { k.clone() };
                of(led(t, &[1, of_t[0]], ndim)?, k, 1, &of_k[..1])
            }
            Pairing::SummedOfBatch => {
                same(of_t[1], of_k[1])?;
                let k = if full { swapped(k)? } else { k.clone() };
                of(t.clone(), k, 1, &[of_t[0], of_k[0]])
            }
        })
    }
}

/// The factors of the previous result and of the convolution, whose sum is the result.
#[derive(Clone, Copy)]
pub struct Factors {
    /// The factor of the previous result.
    pub beta: Scalar,
    /// The factor of the convolution.
    pub alpha: Scalar,
}

impl Factors {
    fn check(self, dtype: Dtype) -> Result<()> {
        [self.beta, self.alpha].into_iter().try_for_each(|factor| check_whole(dtype, factor))
    }

    /// `r = beta * r + made` if `r` has the shape of `made`, else `r = made`
    fn deliver(self, r: &Tensor, dtype: Dtype, made: &Tensor) -> Result<()> {
        let counts = self.beta.to_f64() != 0.0 && r.dtype().is_some() && r.same_shape(made);
        if counts {
            let before = dense(r, made.defined()?)?;
            arithmetic::cadd(made, made, self.beta, &before)?;
        }
        deliver([Some((r, dtype, made))])
    }
}

/// Planes and kernels, row-major and in the type of products. Kernels are flipped if the mode requires it.
fn prepared(t: &Tensor, k: &Tensor, mode: Mode<'_>, compute: Dtype) -> Result<(Tensor, Tensor)> {
    let (t, mut k) = (dense(t, compute)?, dense(k, compute)?);
    if mode.turned {
        let ndim = k.ndim() as i64;
        let dims: Dims = (ndim - (mode.steps.len() as i64).min(ndim)..ndim).collect();
        let turned = Tensor::fresh()?;
        rearrange::flip(&turned, &k, &dims)?;
        k = turned;
    }
    Ok((t, k))
}

/// `r = beta * r + alpha * conv(t, k)`, where the pairing says which planes of `t` meet which kernels of `k`
pub fn convolve(r: &Tensor, factors: Factors, t: &Tensor, k: &Tensor, pairing: Pairing, mode: Mode<'_>) -> Result<()> {
    let dtype = common_type(&[t, k])?;
    factors.check(dtype)?;
    let (t, k) = prepared(t, k, mode, dtype.product_type())?;
    let operands = pairing.operands(&t, &k, mode.steps.len(), mode.full)?;
    let made = convolved(factors.alpha, &operands.t, &operands.k, operands.groups, mode)?;
    let made = if operands.swapped { swapped(&made)? } else { made };
    factors.deliver(r, dtype, &led(&made, &operands.lead, mode.steps.len())?)
}

/// `r = beta * r + alpha * conv(t, k)`, where row `n` of `map` names a plane of `t` and a plane of `r`, counted from 1: the plane of `t` is
/// convolved with kernel `n` and added to the plane of `r`. `r` has as many planes as there are kernels.
pub fn convolve_mapped(r: &Tensor, factors: Factors, t: &Tensor, k: &Tensor, map: &Tensor, mode: Mode<'_>) -> Result<()> {
    let (dtype, ndim) = (common_type(&[t, k])?, mode.steps.len());
    factors.check(dtype)?;
    let (of_map, of_index) = (map.layout()?.shape, map.defined()?);
    if !matches!(of_index, Dtype::Int64 | Dtype::Int32) {
        bail!(Dtype, "a map is int64 or int32, got {of_index}")
    }
    let (t, k) = prepared(t, k, mode, dtype.product_type())?;
    let (of_t, of_k) = (t.layout()?.shape, k.layout()?.shape);
    if of_t.len() != ndim + 1 || of_k.len() != ndim + 1 || of_map.as_slice() != [of_k[0], 2] {
        let (t, k, map) = (of_t.as_slice(), of_k.as_slice(), of_map.as_slice());
        bail!(Shape, "expected planes, kernels, and a row with two entries for each kernel, got shapes {t:?}, {k:?} and {map:?}")
    }
    let window = window(&of_t[1..], &of_k[1..], mode)?;
    let shape: Dims = of_k[..1].iter().copied().chain(sizes_made(&window, mode)).collect();
    let made = create::full(t.defined()?, &shape, Scalar::Int(0))?;
    let map = dense(map, Dtype::Int64)?;
    for (n, pair) in device::elements::<i64>(&map)?.chunks_exact(2).enumerate() {
        let (from, to) = (pair[0].wrapping_sub(1), pair[1].wrapping_sub(1));
        if !(0..of_t[0]).contains(&from) || !(0..of_k[0]).contains(&to) {
            bail!(Argument, "row {n} of the map leads from plane {} to {}, of {} and {}", pair[0], pair[1], of_t[0], of_k[0])
        }
        let plane = led(&view::derive(&t, |l| l.select(0, from))?, &[1, 1], ndim)?;
        let kernel = led(&view::derive(&k, |l| l.select(0, n as i64))?, &[1, 1], ndim)?;
        let sum = view::derive(&made, |l| l.select(0, to))?;
        arithmetic::cadd(&sum, &sum, Scalar::Int(1), &led(&convolved(factors.alpha, &plane, &kernel, 1, mode)?, &[], ndim)?)?;
    }
    factors.deliver(r, dtype, &made)
}
