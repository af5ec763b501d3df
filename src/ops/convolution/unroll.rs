//! Windows of images as columns of a matrix, and the sums of such columns as images.

use super::{common_type, parts};
use crate::error::{Result, bail};
use crate::launch::{Columns, Window};
use crate::layout::Dims;
use crate::ops::dense::{launch, operand};
use crate::ops::window::{Rounding, Steps, each, image, image_dims, windows};
use crate::tensor::Tensor;

/// The windows of images of these sizes. `kernel` has the number of taps in each image dimension.
fn window(sizes: &[i64], kernel: &[i64], steps: Steps<'_>) -> Result<Window> {
    let ndim = image_dims(kernel.len() as i64)?;
    windows(image(sizes)?, each("kernel", Some(kernel), 1, ndim, 1, 1)?, steps, ndim, Rounding::Down)
}

/// Work that copies windows to columns, or adds columns to images.
fn work(window: Window, images: i64, sums: bool) -> Columns {
    Columns { window, images: images as usize, sums }
}

/// `r` = the windows of `t` as columns, with a row for each channel and tap
pub fn im2col(r: &Tensor, t: &Tensor, kernel: &[i64], steps: Steps<'_>) -> Result<()> {
    let (dtype, shape) = (common_type(&[t])?, t.layout()?.shape);
    let (batch, channels, sizes) = parts(&shape, kernel.len())?;
    let w = window(sizes, kernel, steps)?;
    let Some(rows) = channels.checked_mul(w.taps() as i64) else { bail!(Shape, "too many rows") };
    let mut result: Dims = shape.iter().copied().take(shape.len() - kernel.len() - 1).collect();
    result.extend_from_slice(&[rows, w.places() as i64]);
    let compute = dtype.product_type();
    launch(r, (dtype, compute), &result, &work(w, batch * channels, false), &[operand(t, compute)?])
}

/// `r` = images of `sizes` to which the columns of `t` are added as windows
pub fn col2im(r: &Tensor, t: &Tensor, sizes: &[i64], kernel: &[i64], steps: Steps<'_>) -> Result<()> {
    let (dtype, shape) = (common_type(&[t])?, t.layout()?.shape);
    let w = window(sizes, kernel, steps)?;
    let (batch, rows, columns) = match shape.as_slice() {
        [rows, columns] => (1, *rows, *columns),
        [batch, rows, columns] => (*batch, *rows, *columns),
        other => bail!(Shape, "expected columns of 2 or 3 dimensions, got shape {other:?}"),
    };
    let (taps, places) = (w.taps(), w.places());
    if rows % taps as i64 != 0 || columns != places as i64 {
        bail!(Shape, "columns of shape {:?} for {places} windows of {taps} elements", shape.as_slice())
    }
    let channels = rows / taps as i64;
    let mut result: Dims = shape.iter().copied().take(shape.len() - 2).collect();
    result.push(channels);
    result.extend_from_slice(sizes);
    let compute = dtype.product_type();
    launch(r, (dtype, compute), &result, &work(w, batch * channels, true), &[operand(t, compute)?])
}
