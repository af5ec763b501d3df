//! Windows as the caller describes them (kernel, stride, padding and dilation), and the number of windows of an image.

use crate::error::{Result, bail};
use crate::launch::{IMAGE_DIMS, Window};

/// Sizes are below this limit, so that sums of them do not overflow.
const MOST: i64 = i64::MAX / 8;

/// The steps of windows. Each list has a number for each image dimension, or one for all. Absent numbers are 1, absent padding is 0.
#[derive(Clone, Copy, Default)]
pub struct Steps<'a> {
    /// The distance between windows.
    pub stride: Option<&'a [i64]>,
    /// The number of padding elements on each side of an image.
    pub padding: Option<&'a [i64]>,
    /// The distance between the elements of a window.
    pub dilation: Option<&'a [i64]>,
}

/// The rounding of the number of windows if the last one reaches beyond the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// The last window is excluded.
    Down,
    /// The last window is included if it begins in the image or in the padding before it.
    Up,
}

/// Checks the number of image dimensions.
pub fn image_dims(ndim: i64) -> Result<usize> {
    if !(1..=IMAGE_DIMS as i64).contains(&ndim) {
        bail!(Argument, "images have 1 to {IMAGE_DIMS} dimensions, not {ndim}")
    }
    Ok(ndim as usize)
}

/// `list` extended to the largest number of image dimensions; leading dimensions get `first`.
pub fn each(name: &str, list: Option<&[i64]>, default: i64, ndim: usize, least: i64, first: i64) -> Result<[usize; IMAGE_DIMS]> {
    let mut entries = [first as usize; IMAGE_DIMS];
    let list = list.unwrap_or(&[]);
    if list.len() > 1 && list.len() != ndim {
        bail!(Argument, "{name} has {} entries, for {ndim} dimensions", list.len())
    }
    for (d, entry) in entries[IMAGE_DIMS - ndim..].iter_mut().enumerate() {
        let x = list.get(d).or(list.first()).copied().unwrap_or(default);
        if x < least {
            bail!(Argument, "{name} {x} in dimension {d}: at least {least} is needed")
        }
        if x >= MOST {
            bail!(Argument, "{name} {x} in dimension {d} is too large")
        }
        *entry = x as usize;
    }
    Ok(entries)
}

/// The sizes of an image. Missing leading dimensions get size 1.
pub fn image(sizes: &[i64]) -> Result<[usize; IMAGE_DIMS]> {
    if let Some(size) = sizes.iter().find(|&&size| size >= MOST) {
        bail!(Shape, "size {size} of an image is too large")
    }
    each("size", Some(sizes).filter(|sizes| !sizes.is_empty()), 1, sizes.len(), 0, 1)
}

/// A description of windows whose number, `out`, is not computed yet.
pub fn unnumbered(image: [usize; IMAGE_DIMS], kernel: [usize; IMAGE_DIMS], steps: Steps<'_>, ndim: usize) -> Result<Window> {
    let window = Window {
        image,
        kernel,
        out: [1; IMAGE_DIMS],
        stride: each("stride", steps.stride, 1, ndim, 1, 1)?,
        padding: each("padding", steps.padding, 0, ndim, 0, 0)?,
        dilation: each("dilation", steps.dilation, 1, ndim, 1, 1)?,
    };
    for d in 0..IMAGE_DIMS {
        if kernel[d] == 0 {
            bail!(Shape, "a kernel of size 0")
        }
        if extent(&window, d) >= MOST {
            bail!(Argument, "a kernel of size {} with dilation {} is too large", kernel[d], window.dilation[d])
        }
    }
    Ok(window)
}

/// The number of elements from the first to the last element of a window, both included.
pub fn extent(w: &Window, d: usize) -> i64 {
    ((w.kernel[d] - 1) as i64).saturating_mul(w.dilation[d] as i64).saturating_add(1)
}

/// Fails if the number of elements of an image, a window or the result overflows.
pub fn check_counts(w: &Window) -> Result<()> {
    for sizes in [w.image, w.kernel, w.out] {
        if sizes.iter().try_fold(1usize, |n, &size| n.checked_mul(size.max(1))).is_none_or(|n| n as u64 >= MOST as u64) {
            bail!(Shape, "images or windows of sizes {sizes:?} have too many elements")
        }
    }
    Ok(())
}

/// The windows over an image, with their number.
pub fn windows(
    image: [usize; IMAGE_DIMS],
    kernel: [usize; IMAGE_DIMS],
    steps: Steps<'_>,
    ndim: usize,
    rounding: Rounding,
) -> Result<Window> {
    let mut w = unnumbered(image, kernel, steps, ndim)?;
    for d in 0..IMAGE_DIMS {
        let (size, stride, padding) = (w.image[d] as i64, w.stride[d] as i64, w.padding[d] as i64);
        let left = size + 2 * padding - extent(&w, d);
        let more = if rounding == Rounding::Up { stride - 1 } else { 0 };
        if left + more < 0 {
            bail!(Shape, "a kernel of {} elements is greater than the image with its padding, {}", extent(&w, d), size + 2 * padding)
        }
        let mut out = (left + more) / stride + 1;
        if rounding == Rounding::Up && (out - 1).saturating_mul(stride) >= size + padding {
            out -= 1;
        }
        if out < 1 {
            bail!(Shape, "no window begins in the image of size {size}")
        }
        w.out[d] = out as usize;
    }
    check_counts(&w)?;
    Ok(w)
}
