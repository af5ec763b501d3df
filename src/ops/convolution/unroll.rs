//! Windows of images as columns of a matrix, and such columns added up to images.

use super::{common_type, parts};
use crate::cpu::engine::{CHEAP, Shared, parallel};
use crate::cpu::window::{IMAGE_DIMS, Window};
use crate::dtype::Dtype;
use crate::error::{Result, bail};
use crate::layout::Dims;
use crate::ops::dense::{dense, written};
use crate::ops::matmul::{product_type, products};
use crate::ops::window::{Rest, Steps, each, image, windows};
use crate::tensor::Tensor;

/// Windows of `kernel` taps, which has an entry for each dimension of the images, of `sizes`.
fn window(sizes: &[i64], kernel: &[i64], steps: Steps<'_>) -> Result<Window> {
    if !(1..=IMAGE_DIMS).contains(&kernel.len()) {
        bail!(Argument, "images have 1 to {IMAGE_DIMS} dimensions, not {}", kernel.len())
    }
    windows(image(sizes)?, each("kernel", Some(kernel), 1, kernel.len(), 1, 1)?, steps, kernel.len(), Rest::Left)
}

/// `r` = the windows of `t` as columns, whose rows are channels and taps
pub fn im2col(r: &Tensor, t: &Tensor, kernel: &[i64], steps: Steps<'_>) -> Result<()> {
    let (dtype, shape) = (common_type(&[t])?, t.layout()?.shape);
    let (batch, channels, sizes) = parts(&shape, kernel.len())?;
    let w = window(sizes, kernel, steps)?;
    let Some(rows) = channels.checked_mul(w.taps() as i64) else { bail!(Shape, "too many rows") };
    let Some(places) = w.out.iter().try_fold(1i64, |n, &k| n.checked_mul(k as i64)) else { bail!(Shape, "too many columns") };
    let mut result: Dims = shape.iter().copied().take(shape.len() - kernel.len() - 1).collect();
    result.extend_from_slice(&[rows, places]);
    let compute = product_type(dtype);
    let x = dense(t, compute)?;
    products!(compute, T => {
        written(r, (dtype, compute), &result, &[Some(&x)], &|out| {
            let (out, pixels, taps, places) = (Shared(out), w.pixels(), w.taps(), places as usize);
            if places == 0 {
                return;
            }
            let from = Shared(x.data());
            parallel((batch * channels) as usize, taps.saturating_mul(places), CHEAP, &|images| for k in images {
                let (to, image) = (out.get().cast::<T>().wrapping_add(k * taps * places), from.get().cast::<T>().wrapping_add(k * pixels));
                // SAFETY: row-major tensors of these shapes, of which each thread has channels of its own.
                unsafe { w.unroll(image, 0..taps, 0..places, to, places) }
            });
        })
    })
}

/// `r` = images of `sizes` that are the sums of their windows, the columns of `t`
pub fn col2im(r: &Tensor, t: &Tensor, sizes: &[i64], kernel: &[i64], steps: Steps<'_>) -> Result<()> {
    let (dtype, shape) = (common_type(&[t])?, t.layout()?.shape);
    let w = window(sizes, kernel, steps)?;
    let (batch, rows, columns) = match shape.as_slice() {
        [rows, columns] => (1, *rows, *columns),
        [batch, rows, columns] => (*batch, *rows, *columns),
        other => bail!(Shape, "expected columns of 2 or 3 dimensions, got shape {other:?}"),
    };
    let taps = w.taps() as i64;
    let places = w.out.iter().try_fold(1i64, |n, &k| n.checked_mul(k as i64));
    if rows % taps != 0 || Some(columns) != places {
        bail!(Shape, "columns of shape {:?} for {places:?} windows of {taps} elements", shape.as_slice())
    }
    let channels = rows / taps;
    let mut result: Dims = shape.iter().copied().take(shape.len() - 2).collect();
    result.push(channels);
    result.extend_from_slice(sizes);
    let compute = product_type(dtype);
    let x = dense(t, compute)?;
    products!(compute, T => {
        written(r, (dtype, compute), &result, &[Some(&x)], &|out| {
            let (out, pixels, taps, places) = (Shared(out), w.pixels(), taps as usize, columns as usize);
            let from = Shared(x.data());
            if pixels == 0 {
                return;
            }
            parallel((batch * channels) as usize, taps.saturating_mul(places), CHEAP, &|images| for k in images {
                let (to, columns) = (out.get().cast::<T>().wrapping_add(k * pixels), from.get().cast::<T>().wrapping_add(k * taps * places));
                // SAFETY: as above; any bits but these are no number yet.
                unsafe {
                    to.write_bytes(0, pixels);
                    w.fold(to, 0..taps, 0..places, columns, places)
                }
            });
        })
    })
}
