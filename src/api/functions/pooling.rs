//! Pooling.
//!
//! An input has the shape `[batch x] channels x sizes`, where the batch is optional and `sizes` are the 1 to 3 dimensions of an image. A
//! list has `ndim` entries: one for each dimension of an image, or one for all. `stride`, `padding` and `dilation` may be NULL; the
//! defaults are `kernel`, 0 and 1. A window covers `reach = dilation * (kernel - 1) + 1` elements. Each image dimension has `(size + 2 *
//! padding - reach) / stride + 1` windows, rounded down. With `ceilMode` the number is rounded up, but no window begins after the image and
//! its padding in front. `padding` is at most `reach / 2`.
//!
//! Errors: `TH_ERR_SHAPE`, windows that do not fit the image; `TH_ERR_ARGUMENT`, a list of the wrong length, or a number or index out of
//! range; `TH_ERR_DTYPE`, a dtype that the pooling does not support, or indices that are not int64.

use crate::api::table::table;
use crate::launch::IMAGE_DIMS;
use crate::ops::pooling::{self, PoolOptions};
use crate::ops::window::{Steps, image_dims};

/// The options of the functions named Uniform.
fn uniform<'a>(kernel: &'a [i64], stride: &'a [i64], padding: &'a [i64]) -> PoolOptions<'a> {
    let steps = Steps { stride: Some(stride), padding: Some(padding), dilation: None };
    PoolOptions { kernel, steps, ceil: false }
}

macro_rules! pooling_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// maxPool2d for images with one dimension.
        maxPool1d(r: out, indices: optional_indices, input: input, ndim: len, kernel: sizes, stride: optional_counts,
            padding: optional_counts,
            dilation: optional_counts, ceilMode: flag) =
            pooling::max_pool(1, r, indices, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation }, ceil: ceilMode });
        /// `r = greatest element of each window`; `indices` = the int64 index of this element within its channel, in row-major order, or
        /// NULL.
        ///
        /// The first of equal elements is chosen. NaN is greater than every number, and of several NaNs the last is chosen. A window
        /// without elements of the image gives the least number of the dtype and the index -1. Every dtype except Bool.
        maxPool2d(r: out, indices: optional_indices, input: input, ndim: len, kernel: sizes, stride: optional_counts,
            padding: optional_counts,
            dilation: optional_counts, ceilMode: flag) =
            pooling::max_pool(2, r, indices, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation }, ceil: ceilMode });
        /// maxPool2d for images with three dimensions.
        maxPool3d(r: out, indices: optional_indices, input: input, ndim: len, kernel: sizes, stride: optional_counts,
            padding: optional_counts,
            dilation: optional_counts, ceilMode: flag) =
            pooling::max_pool(3, r, indices, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation }, ceil: ceilMode });
        /// `r = gradient of the input of a max pooling`, adaptive or not, from the gradient of the result and the indices of the pooling.
        /// Each element of `gradOutput` is added to `r` at its index. The index -1, of a window without elements, is skipped; any other
        /// index outside the image is an error. Only the shape of `input` is used; its images have `imageDims` dimensions.
        maxPoolGradInput(r: out, gradOutput: input, indices: index, input: input, imageDims: int) =
            pooling::max_pool_gradient(r, gradOutput, indices, input, imageDims);
        /// `r[indices[i]] = t[i]`, and 0 elsewhere: a partial inverse of a max pooling. The images of `r` have the `ndim` sizes
        /// `imageSizes`. If an index occurs several times, the last element wins. An index outside the image is an error.
        maxUnpool(r: out, t: input, indices: index, ndim: len, imageSizes: sizes) = pooling::unpool(r, t, indices, imageSizes, false);
        /// avgPool2d for images with one dimension.
        avgPool1d(r: out, input: input, ndim: len, kernel: sizes, stride: optional_counts, padding: optional_counts, ceilMode: flag,
            countIncludePad: flag,
            divisor: count) =
            pooling::avg_pool(1, r, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation: None }, ceil: ceilMode },
                pooling::divisor(countIncludePad, divisor));
        /// `r = mean of each window`: the sum of the window's elements in the image, divided by their number. With `countIncludePad` the
        /// divisor also counts the elements in the padding. A `divisor` other than 0 replaces either number. Floats only; 16-bit floats are
        /// summed in float32.
        avgPool2d(r: out, input: input, ndim: len, kernel: sizes, stride: optional_counts, padding: optional_counts, ceilMode: flag,
            countIncludePad: flag,
            divisor: count) =
            pooling::avg_pool(2, r, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation: None }, ceil: ceilMode },
                pooling::divisor(countIncludePad, divisor));
        /// avgPool2d for images with three dimensions.
        avgPool3d(r: out, input: input, ndim: len, kernel: sizes, stride: optional_counts, padding: optional_counts, ceilMode: flag,
            countIncludePad: flag,
            divisor: count) =
            pooling::avg_pool(3, r, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation: None }, ceil: ceilMode },
                pooling::divisor(countIncludePad, divisor));
        /// `r = gradient of the input of avgPool1d, avgPool2d or avgPool3d`, from the gradient of the result. Only the shape of `input` is
        /// used. `kernel` has an entry for each dimension of the images. `stride`, `padding`, `ceilMode`, `countIncludePad` and `divisor`
        /// are the arguments of the pooling.
        avgPoolGradInput(r: out, gradOutput: input, input: input, ndim: len, kernel: sizes, stride: optional_counts,
            padding: optional_counts, ceilMode: flag,
            countIncludePad: flag, divisor: count) =
            pooling::avg_pool_gradient(r, gradOutput, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation: None },
                ceil: ceilMode },
                pooling::divisor(countIncludePad, divisor));
        /// maxPool1d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and without `ceilMode`. `indices` may be
        /// NULL.
        maxPool1dUniform(r: out, indices: optional_indices, input: input, kernel: size, stride: count, padding: count) =
            pooling::max_pool(1, r, indices, input, uniform(&[kernel], &[stride], &[padding]));
        /// maxPool2d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and without `ceilMode`. `indices` may be
        /// NULL.
        maxPool2dUniform(r: out, indices: optional_indices, input: input, kernel: size, stride: count, padding: count) =
            pooling::max_pool(2, r, indices, input, uniform(&[kernel], &[stride], &[padding]));
        /// maxPool3d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and without `ceilMode`. `indices` may be
        /// NULL.
        maxPool3dUniform(r: out, indices: optional_indices, input: input, kernel: size, stride: count, padding: count) =
            pooling::max_pool(3, r, indices, input, uniform(&[kernel], &[stride], &[padding]));
        /// avgPool1d with the same `kernel`, `stride` and `padding` in each dimension, with `countIncludePad` and without `ceilMode`.
        avgPool1dUniform(r: out, input: input, kernel: size, stride: count, padding: count) =
            pooling::avg_pool(1, r, input, uniform(&[kernel], &[stride], &[padding]), pooling::divisor(true, 0));
        /// avgPool2d with the same `kernel`, `stride` and `padding` in each dimension, with `countIncludePad` and without `ceilMode`.
        avgPool2dUniform(r: out, input: input, kernel: size, stride: count, padding: count) =
            pooling::avg_pool(2, r, input, uniform(&[kernel], &[stride], &[padding]), pooling::divisor(true, 0));
        /// avgPool3d with the same `kernel`, `stride` and `padding` in each dimension, with `countIncludePad` and without `ceilMode`.
        avgPool3dUniform(r: out, input: input, kernel: size, stride: count, padding: count) =
            pooling::avg_pool(3, r, input, uniform(&[kernel], &[stride], &[padding]), pooling::divisor(true, 0));
        /// avgPoolGradInput for avgPool1dUniform, avgPool2dUniform and avgPool3dUniform. Only the shape of `input` is used; its images have
        /// `imageDims` dimensions.
        avgPoolGradInputUniform(r: out, gradOutput: input, input: input, imageDims: int, kernel: size, stride: count, padding: count) = {
            let kernel = [kernel; IMAGE_DIMS];
            let kernel = &kernel[..image_dims(imageDims.into())?];
            pooling::avg_pool_gradient(r, gradOutput, input, uniform(kernel, &[stride], &[padding]), pooling::divisor(true, 0))
        };
        /// adaptiveMaxPool2d for images with one dimension.
        adaptiveMaxPool1d(r: out, indices: optional_indices, input: input, ndim: len, sizes: sizes) = pooling::adaptive_max(1, r, indices,
            input, sizes);
        /// `r = greatest element of each window`, where `sizes` are the numbers of windows: one for each dimension of an image, or one for
        /// all. -1 gives as many windows as the dimension has elements. Window `i` of `n` covers the elements from `i * size / n`, rounded
        /// down, to `(i + 1) * size / n`, rounded up. Otherwise as maxPool2d.
        adaptiveMaxPool2d(r: out, indices: optional_indices, input: input, ndim: len, sizes: sizes) = pooling::adaptive_max(2, r, indices,
            input, sizes);
        /// adaptiveMaxPool2d for images with three dimensions.
        adaptiveMaxPool3d(r: out, indices: optional_indices, input: input, ndim: len, sizes: sizes) = pooling::adaptive_max(3, r, indices,
            input, sizes);
        /// adaptiveAvgPool2d for images with one dimension.
        adaptiveAvgPool1d(r: out, input: input, ndim: len, sizes: sizes) = pooling::adaptive_avg(1, r, input, sizes);
        /// `r = mean of each window`; the windows are as for adaptiveMaxPool2d. Floats only.
        adaptiveAvgPool2d(r: out, input: input, ndim: len, sizes: sizes) = pooling::adaptive_avg(2, r, input, sizes);
        /// adaptiveAvgPool2d for images with three dimensions.
        adaptiveAvgPool3d(r: out, input: input, ndim: len, sizes: sizes) = pooling::adaptive_avg(3, r, input, sizes);
        /// `r = gradient of the input of adaptiveAvgPool1d, adaptiveAvgPool2d or adaptiveAvgPool3d`, from the gradient of the result. Only
        /// the shape of `input` is used; its images have `imageDims` dimensions.
        adaptiveAvgPoolGradInput(r: out, gradOutput: input, input: input, imageDims: int) =
            pooling::adaptive_avg_gradient(r, gradOutput, input, imageDims);
    } };
}

pooling_functions!(table);
pub(crate) use pooling_functions as functions;
