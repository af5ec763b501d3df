//! Pooling.
//!
//! Images have 1 to 3 dimensions behind their channels, and those a batch before them, which may be missing: `[batch x] channels x sizes`.
//! Lists have `ndim` entries, one for each dimension of an image or one for all. `stride` may be NULL and is that of `kernel` then,
//! `padding` and `dilation` too: 0 and 1. A window reaches over `reach = dilation * (kernel - 1) + 1` elements, and in each dimension there
//! are `(size + 2 * padding - reach) / stride + 1` of them, rounded down, or up with `ceilMode` unless the last one would begin behind the
//! image and what pads it in front. `padding` is half of a window at most.
//!
//! Errors: `TH_ERR_SHAPE`, windows that do not fit the image; `TH_ERR_ARGUMENT`, lists of the wrong length, numbers and indices out of
//! range; `TH_ERR_DTYPE`, a dtype that the pooling is not defined for, or indices that are not int64.

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
        /// maxPool2d of images with one dimension.
        maxPool1d(r: out, indices: optional_indices, input: input, ndim: len, kernel: sizes, stride: optional_counts,
            padding: optional_counts,
            dilation: optional_counts, ceilMode: flag) =
            pooling::max_pool(1, r, indices, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation }, ceil: ceilMode });
        /// `r = greatest element of each window`; int64 `indices`, which may be NULL, tell where it stands in its plane, counted in
        /// row-major order.
        ///
        /// Of equal elements the first one counts, of NaNs the last, and a NaN is greater than everything. A window that has no element of
        /// the image gives the least number there is, and -1. Every dtype but Bool.
        maxPool2d(r: out, indices: optional_indices, input: input, ndim: len, kernel: sizes, stride: optional_counts,
            padding: optional_counts,
            dilation: optional_counts, ceilMode: flag) =
            pooling::max_pool(2, r, indices, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation }, ceil: ceilMode });
        /// maxPool2d of images with three dimensions.
        maxPool3d(r: out, indices: optional_indices, input: input, ndim: len, kernel: sizes, stride: optional_counts,
            padding: optional_counts,
            dilation: optional_counts, ceilMode: flag) =
            pooling::max_pool(3, r, indices, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation }, ceil: ceilMode });
        /// `r = gradient of the input of a pooling by maxima`, adaptive or not, from that of its result and from its indices: each element
        /// is added where its index leads, and nowhere where that is -1, of a window without an element. Another index outside of an image
        /// is an error. Of `input`, whose images have `imageDims` dimensions, the shape counts alone.
        maxPoolGradInput(r: out, gradOutput: input, indices: index, input: input, imageDims: int) =
            pooling::max_pool_gradient(r, gradOutput, indices, input, imageDims);
        /// The inverse of a pooling by maxima as far as there is one: `r` = images of the sizes `imageSizes`, `ndim` entries, with each
        /// element of `t` where its index leads, and 0 elsewhere. Of elements for one place the last counts. An index outside of an image
        /// is an error.
        maxUnpool(r: out, t: input, indices: index, ndim: len, imageSizes: sizes) = pooling::unpool(r, t, indices, imageSizes, false);
        /// avgPool2d of images with one dimension.
        avgPool1d(r: out, input: input, ndim: len, kernel: sizes, stride: optional_counts, padding: optional_counts, ceilMode: flag,
            countIncludePad: flag,
            divisor: count) =
            pooling::avg_pool(1, r, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation: None }, ceil: ceilMode },
                pooling::divisor(countIncludePad, divisor));
        /// `r = mean of each window`: the sum of its elements in the image, divided by their number, or with `countIncludePad` by the
        /// number of those in the image and its padding, or by `divisor` if that is not 0. Floats only; sums of 16-bit floats in float32.
        avgPool2d(r: out, input: input, ndim: len, kernel: sizes, stride: optional_counts, padding: optional_counts, ceilMode: flag,
            countIncludePad: flag,
            divisor: count) =
            pooling::avg_pool(2, r, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation: None }, ceil: ceilMode },
                pooling::divisor(countIncludePad, divisor));
        /// avgPool2d of images with three dimensions.
        avgPool3d(r: out, input: input, ndim: len, kernel: sizes, stride: optional_counts, padding: optional_counts, ceilMode: flag,
            countIncludePad: flag,
            divisor: count) =
            pooling::avg_pool(3, r, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation: None }, ceil: ceilMode },
                pooling::divisor(countIncludePad, divisor));
        /// `r = gradient of the input of avgPool1d, avgPool2d or avgPool3d`, from that of its result. Of `input` the shape counts alone;
        /// `kernel` has an entry for each dimension of its images. `stride`, `padding`, `ceilMode`, `countIncludePad` and `divisor` are
        /// those that the pooling was given.
        avgPoolGradInput(r: out, gradOutput: input, input: input, ndim: len, kernel: sizes, stride: optional_counts,
            padding: optional_counts, ceilMode: flag,
            countIncludePad: flag, divisor: count) =
            pooling::avg_pool_gradient(r, gradOutput, input, PoolOptions { kernel, steps: Steps { stride, padding, dilation: None },
                ceil: ceilMode },
                pooling::divisor(countIncludePad, divisor));
        /// maxPool1d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and as many windows as fit. `indices` may
        /// be NULL.
        maxPool1dUniform(r: out, indices: optional_indices, input: input, kernel: size, stride: count, padding: count) =
            pooling::max_pool(1, r, indices, input, uniform(&[kernel], &[stride], &[padding]));
        /// maxPool2d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and as many windows as fit. `indices` may
        /// be NULL.
        maxPool2dUniform(r: out, indices: optional_indices, input: input, kernel: size, stride: count, padding: count) =
            pooling::max_pool(2, r, indices, input, uniform(&[kernel], &[stride], &[padding]));
        /// maxPool3d with the same `kernel`, `stride` and `padding` in each dimension, dilation 1 and as many windows as fit. `indices` may
        /// be NULL.
        maxPool3dUniform(r: out, indices: optional_indices, input: input, kernel: size, stride: count, padding: count) =
            pooling::max_pool(3, r, indices, input, uniform(&[kernel], &[stride], &[padding]));
        /// avgPool1d with the same `kernel`, `stride` and `padding` in each dimension, and as many windows as fit; the padding counts as
        /// elements.
        avgPool1dUniform(r: out, input: input, kernel: size, stride: count, padding: count) =
            pooling::avg_pool(1, r, input, uniform(&[kernel], &[stride], &[padding]), pooling::divisor(true, 0));
        /// avgPool2d with the same `kernel`, `stride` and `padding` in each dimension, and as many windows as fit; the padding counts as
        /// elements.
        avgPool2dUniform(r: out, input: input, kernel: size, stride: count, padding: count) =
            pooling::avg_pool(2, r, input, uniform(&[kernel], &[stride], &[padding]), pooling::divisor(true, 0));
        /// avgPool3d with the same `kernel`, `stride` and `padding` in each dimension, and as many windows as fit; the padding counts as
        /// elements.
        avgPool3dUniform(r: out, input: input, kernel: size, stride: count, padding: count) =
            pooling::avg_pool(3, r, input, uniform(&[kernel], &[stride], &[padding]), pooling::divisor(true, 0));
        /// avgPoolGradInput of avgPool1dUniform, avgPool2dUniform or avgPool3dUniform. Of `input`, whose images have `imageDims`
        /// dimensions, the shape counts alone.
        avgPoolGradInputUniform(r: out, gradOutput: input, input: input, imageDims: int, kernel: size, stride: count, padding: count) = {
            let kernel = [kernel; IMAGE_DIMS];
            let kernel = &kernel[..image_dims(imageDims.into())?];
            pooling::avg_pool_gradient(r, gradOutput, input, uniform(kernel, &[stride], &[padding]), pooling::divisor(true, 0))
        };
        /// adaptiveMaxPool2d of images with one dimension.
        adaptiveMaxPool1d(r: out, indices: optional_indices, input: input, ndim: len, sizes: sizes) = pooling::adaptive_max(1, r, indices,
            input, sizes);
        /// `r = greatest element of each window`, of as many windows as `sizes` say, for each dimension or one for all, -1 for as many as
        /// there are elements: output `i` of `n` sees the elements from `i * size / n`, rounded down, to `(i + 1) * size / n`, rounded up.
        /// All else is as for maxPool2d.
        adaptiveMaxPool2d(r: out, indices: optional_indices, input: input, ndim: len, sizes: sizes) = pooling::adaptive_max(2, r, indices,
            input, sizes);
        /// adaptiveMaxPool2d of images with three dimensions.
        adaptiveMaxPool3d(r: out, indices: optional_indices, input: input, ndim: len, sizes: sizes) = pooling::adaptive_max(3, r, indices,
            input, sizes);
        /// adaptiveAvgPool2d of images with one dimension.
        adaptiveAvgPool1d(r: out, input: input, ndim: len, sizes: sizes) = pooling::adaptive_avg(1, r, input, sizes);
        /// `r = mean of each window`; windows as for adaptiveMaxPool2d. Floats only.
        adaptiveAvgPool2d(r: out, input: input, ndim: len, sizes: sizes) = pooling::adaptive_avg(2, r, input, sizes);
        /// adaptiveAvgPool2d of images with three dimensions.
        adaptiveAvgPool3d(r: out, input: input, ndim: len, sizes: sizes) = pooling::adaptive_avg(3, r, input, sizes);
        /// `r = gradient of the input of adaptiveAvgPool1d, adaptiveAvgPool2d or adaptiveAvgPool3d`, from that of its result. Of `input`,
        /// whose images have `imageDims` dimensions, the shape counts alone.
        adaptiveAvgPoolGradInput(r: out, gradOutput: input, input: input, imageDims: int) =
            pooling::adaptive_avg_gradient(r, gradOutput, input, imageDims);
    } };
}

pooling_functions!(table);
pub(crate) use pooling_functions as functions;
