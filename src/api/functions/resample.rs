//! Resampling of images.
//!
//! Images have the shape `[batch x] channels x sizes`, where the batch is optional and `sizes` are 1 to 3 dimensions. The dimensions are
//! resampled one after the other, in float32 or float64. Result `i` along a dimension is at the place `x = (i + 0.5) * scale - 0.5` in `t`,
//! with `scale = size of t / size of r`; with `alignCorners`, at `x = i * (size of t - 1) / (size of r - 1)`. `TH_RESAMPLE_LINEAR` weights
//! the two pixels next to `x` by `1 - distance`. `TH_RESAMPLE_CUBIC` weights four pixels by the cubic convolution of R. Keys, Cubic
//! convolution interpolation for digital image processing, 1981, with parameter -0.75. Pixels outside the image are those at its edge.
//! With `antialias`, an image that becomes smaller has weights over all pixels within `scale` (linear) or `2 * scale` (cubic, with
//! parameter -0.5) of `x`, as in Pillow.
//!
//! Floats, and uint8 for results that are not differentiated: those are rounded to the nearest integer, and limited to 0 to 255. 16-bit
//! floats are rounded once, at the end.
//!
//! Errors: `TH_ERR_SHAPE`, images without pixels, or of another number of dimensions; `TH_ERR_ARGUMENT`, sizes below 1, an unknown method,
//! or `alignCorners` or `antialias` for a method other than linear and cubic; `TH_ERR_DTYPE`, integers other than uint8.

use crate::api::table::table;
use crate::ops::resample::{self, Method};
use crate::ops::sampling::{self, Options};

macro_rules! resample_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `r` = the images of `t` with the `ndim` sizes `sizes`.
        interpolate(r: out, t: input, ndim: len, sizes: sizes, mode: resampling, alignCorners: flag, antialias: flag) =
            resample::interpolate(r, t, sizes, Method { mode, align_corners: alignCorners, antialias, factor: 0.0 });
        /// interpolate to `floor(factor * size)` pixels along each of the `imageDims` dimensions, with `scale = 1 / factor`.
        /// `TH_RESAMPLE_AREA` and `alignCorners` use the scale of interpolate.
        interpolateFactor(r: out, t: input, imageDims: int, factor: double, mode: resampling, alignCorners: flag, antialias: flag) =
            resample::interpolate_by(r, t, imageDims, Method { mode, align_corners: alignCorners, antialias, factor });
        /// `r` = the gradient of `t`, the operand of interpolate or interpolateFactor, from the gradient `g` of the result: the sum of
        /// `weight * g` of each pixel. Only the shape of `t` is used. `factor` is 0 for interpolate. Floats only.
        interpolateGrad(r: out, g: input, t: input, imageDims: int, factor: double, mode: resampling, alignCorners: flag, antialias: flag) =
            resample::interpolate_gradient(r, g, t, imageDims, Method { mode, align_corners: alignCorners, antialias, factor });
        /// `r[n, c, y, x]` = the image `t[n, c]` at the place `grid[n, y, x]` between its pixels; with three dimensions,
        /// `r[n, c, z, y, x]`. `t` has the shape `[batch, channels, sizes]`, `grid` has the shape `[batch, sizes of r, dims]`, and both
        /// have one dtype, a float. A place has the coordinate of the last dimension first. A coordinate is -1 and 1 at the ends of the
        /// dimension: at the centres of the first and the last pixel with `alignCorners`, otherwise at the corners of these pixels. The
        /// result is NaN at a place with a NaN, and at an infinite place with `TH_PAD_REFLECT`.
        ///
        /// `mode` is `TH_RESAMPLE_NEAREST`, `TH_RESAMPLE_LINEAR`, or `TH_RESAMPLE_CUBIC` (parameter -0.75) for two dimensions.
        /// `paddingMode` is the value of pixels outside the image: `TH_PAD_CONSTANT` 0, `TH_PAD_REPLICATE` the pixel at the edge,
        /// `TH_PAD_REFLECT` a reflection at the ends. M. Jaderberg et al., Spatial transformer networks, 2015.
        gridSample(r: out, t: input, grid: input, mode: resampling, paddingMode: pad_mode, alignCorners: flag) =
            sampling::grid_sample(r, t, grid, Options { mode, padding: paddingMode, align_corners: alignCorners });
        /// The gradients of gridSample, from the gradient `g` of the result: `gradInput` of `t`, and `gradGrid` of `grid`, which is 0 for
        /// `TH_RESAMPLE_NEAREST`. Each of the two results may be NULL. The other arguments are as for gridSample.
        gridSampleGrad(gradInput: optional_out, gradGrid: optional_out, g: input, t: input, grid: input, mode: resampling,
            paddingMode: pad_mode, alignCorners: flag) =
            sampling::grid_sample_gradient([gradInput, gradGrid], g, t, grid,
                Options { mode, padding: paddingMode, align_corners: alignCorners });
        /// `r[n, y, x] = theta[n] @ (u, v, 1)`: a grid for gridSample of the places that affine maps give the pixels of images with the 2
        /// or 3 sizes `sizes`. `u` and `v` are the coordinates of the pixel, from -1 to 1 as in gridSample. `theta` has the shape
        /// `[batch, dims, dims + 1]`, and `r` has the shape `[batch, sizes, dims]`.
        affineGrid(r: out, theta: input, ndim: len, sizes: sizes, alignCorners: flag) =
            sampling::affine_grid(r, theta, sizes, alignCorners);
        /// `r[.., c, y * factor + i, x * factor + j] = t[.., (c * factor + i) * factor + j, y, x]`: images with `factor` times as many rows
        /// and columns, from `factor^2` times as many channels. Every dtype. W. Shi et al., Real-time single image and video
        /// super-resolution using an efficient sub-pixel convolutional neural network, 2016.
        pixelShuffle(r: out, t: input, factor: count) = resample::pixel_shuffle(r, t, factor);
        /// The inverse of pixelShuffle: `r[.., (c * factor + i) * factor + j, y, x] = t[.., c, y * factor + i, x * factor + j]`.
        pixelUnshuffle(r: out, t: input, factor: count) = resample::pixel_unshuffle(r, t, factor);
        /// `r[n, k * groups + i] = t[n, i * (channels / groups) + k]`: the channels of `groups` groups in turn. Every dtype. X. Zhang et
        /// al., ShuffleNet: an extremely efficient convolutional neural network for mobile devices, 2018.
        channelShuffle(r: out, t: input, groups: count) = resample::channel_shuffle(r, t, groups);
    } };
}

resample_functions!(table);
pub(crate) use resample_functions as functions;
