//! Convolution.
//!
//! Images have 1 to 3 dimensions, preceded by a dimension of channels and an optional batch dimension: `[batch x] channels x sizes`.
//! `weight` is `outputs x (inputs / groups) x kernel`, and in a transposed convolution `inputs x (outputs / groups) x kernel`. Lists of
//! strides, paddings and dilations have `ndim` entries, one for each dimension of an image, or a single entry for all dimensions. NULL
//! means strides and dilations of 1 and no padding. All tensors have one dtype, which is not Bool. 16-bit floats are summed in float32;
//! integers wrap. Padding may be left out of a sum instead of counting as 0: if an infinite weight meets padding, the result may be NaN or
//! not.
//!
//! Errors: `TH_ERR_SHAPE`, images, weights and results that do not fit each other; `TH_ERR_ARGUMENT`, lists of the wrong length, and
//! strides, paddings, dilations and groups out of range; `TH_ERR_DTYPE`, tensors of different dtypes or of Bool.

use crate::api::table::table;
use crate::ops::convolution::planes::{self, Factors, Mode, Pairing};
use crate::ops::convolution::{self, ConvOptions, unroll};
use crate::ops::window::Steps;

/// Returns the options of a convolution that is not transposed.
fn options<'a>(steps: Steps<'a>, groups: i64) -> ConvOptions<'a> {
    ConvOptions { steps, transposed: false, output_padding: None, groups }
}

/// Returns the options of the functions whose names end in Uniform.
fn uniform<'a>(stride: &'a [i64], padding: &'a [i64], transposed: bool) -> ConvOptions<'a> {
    let steps = Steps { stride: Some(stride), padding: Some(padding), dilation: None };
    ConvOptions { steps, transposed, output_padding: None, groups: 1 }
}

macro_rules! convolution_functions {
    ($do:ident) => { $do! { "THTensor_";
        /// `r[n][o][y] = bias[o] + sum over c, k of weight[o][c][k] * input[n][c][y * stride + k * dilation - padding]`, with zeros in the
        /// padding, and separately for each of `groups` groups of channels. The dimensions of `weight` choose between conv1d, conv2d and
        /// conv3d.
        ///
        /// Each dimension of the result has `(size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1` elements, rounded down; an
        /// empty result is an error. `bias` may be NULL. With `transposed` the function computes convTranspose2d or its forms of 1 and 3
        /// dimensions; `outputPadding` is used only then.
        convolution(r: out, input: input, weight: input, bias: optional_input, ndim: len, stride: optional_counts, padding: optional_counts,
            dilation: optional_counts, transposed: flag, outputPadding: optional_counts, groups: count) =
            convolution::convolution(r, input, weight, bias,
                ConvOptions { steps: Steps { stride, padding, dilation }, transposed, output_padding: outputPadding, groups });
        /// convolution of images with one dimension.
        conv1d(r: out, input: input, weight: input, bias: optional_input, ndim: len, stride: optional_counts, padding: optional_counts,
            dilation: optional_counts, groups: count) =
            convolution::of_dims(1, r, input, weight, bias, options(Steps { stride, padding, dilation }, groups));
        /// convolution of images with two dimensions.
        conv2d(r: out, input: input, weight: input, bias: optional_input, ndim: len, stride: optional_counts, padding: optional_counts,
            dilation: optional_counts, groups: count) =
            convolution::of_dims(2, r, input, weight, bias, options(Steps { stride, padding, dilation }, groups));
        /// convolution of images with three dimensions.
        conv3d(r: out, input: input, weight: input, bias: optional_input, ndim: len, stride: optional_counts, padding: optional_counts,
            dilation: optional_counts, groups: count) =
            convolution::of_dims(3, r, input, weight, bias, options(Steps { stride, padding, dilation }, groups));
        /// convTranspose2d of images with one dimension.
        convTranspose1d(r: out, input: input, weight: input, bias: optional_input, ndim: len, stride: optional_counts,
            padding: optional_counts,
            outputPadding: optional_counts, groups: count, dilation: optional_counts) =
            convolution::of_dims(1, r, input, weight, bias,
                ConvOptions { steps: Steps { stride, padding, dilation }, transposed: true, output_padding: outputPadding, groups });
        /// Spreads each element of the input over a window of the result: `input[n][c][y] * weight[c][o][k]` is added to
        /// `r[n][o][y * stride + k * dilation - padding]` for all `c`, `y` and `k`, and `bias[o]` to each element.
        ///
        /// Each dimension of the result has `(size - 1) * stride - 2 * padding + dilation * (kernel - 1) + outputPadding + 1` elements.
        /// conv2d maps several shapes to the shape of `input`, and `outputPadding` chooses among them. `outputPadding` is less than the
        /// stride or the dilation, and NULL means 0.
        convTranspose2d(r: out, input: input, weight: input, bias: optional_input, ndim: len, stride: optional_counts,
            padding: optional_counts,
            outputPadding: optional_counts, groups: count, dilation: optional_counts) =
            convolution::of_dims(2, r, input, weight, bias,
                ConvOptions { steps: Steps { stride, padding, dilation }, transposed: true, output_padding: outputPadding, groups });
        /// convTranspose2d of images with three dimensions.
        convTranspose3d(r: out, input: input, weight: input, bias: optional_input, ndim: len, stride: optional_counts,
            padding: optional_counts,
            outputPadding: optional_counts, groups: count, dilation: optional_counts) =
            convolution::of_dims(3, r, input, weight, bias,
                ConvOptions { steps: Steps { stride, padding, dilation }, transposed: true, output_padding: outputPadding, groups });
        /// `r = gradient of the input of a convolution`, computed from the gradient of its result. Only the shape of `input` is used. The
        /// other arguments are as for the convolution.
        convolutionGradInput(r: out, gradOutput: input, weight: input, input: input, ndim: len, stride: optional_counts,
            padding: optional_counts, dilation: optional_counts, transposed: flag, outputPadding: optional_counts, groups: count) =
            convolution::gradient_of_input(r, gradOutput, weight, input,
                ConvOptions { steps: Steps { stride, padding, dilation }, transposed, output_padding: outputPadding, groups });
        /// `r = gradient of the weight of a convolution`, summed over the batch, computed from its input and the gradient of its result.
        /// The other arguments are as for the convolution. Only the shape of `weight` is used.
        convolutionGradWeight(r: out, gradOutput: input, input: input, weight: input, ndim: len, stride: optional_counts,
            padding: optional_counts, dilation: optional_counts, transposed: flag, outputPadding: optional_counts, groups: count) =
            convolution::gradient_of_weight(r, gradOutput, input, weight,
                ConvOptions { steps: Steps { stride, padding, dilation }, transposed, output_padding: outputPadding, groups });
        /// `r = gradient of the bias of a convolution`: the gradient of its result, summed over the batch and over the `imageDims`
        /// dimensions of the images.
        convolutionGradBias(r: out, gradOutput: input, imageDims: int) = convolution::gradient_of_bias(r, gradOutput, imageDims);
        /// conv1d with the same `stride` and `padding` in each dimension, dilation 1 and one group, as in most nets. `bias` may be NULL.
        conv1dUniform(r: out, input: input, weight: input, bias: optional_input, stride: count, padding: count) =
            convolution::of_dims(1, r, input, weight, bias, uniform(&[stride], &[padding], false));
        /// conv2d with the same `stride` and `padding` in each dimension, dilation 1 and one group, as in most nets. `bias` may be NULL.
        conv2dUniform(r: out, input: input, weight: input, bias: optional_input, stride: count, padding: count) =
            convolution::of_dims(2, r, input, weight, bias, uniform(&[stride], &[padding], false));
        /// conv3d with the same `stride` and `padding` in each dimension, dilation 1 and one group, as in most nets. `bias` may be NULL.
        conv3dUniform(r: out, input: input, weight: input, bias: optional_input, stride: count, padding: count) =
            convolution::of_dims(3, r, input, weight, bias, uniform(&[stride], &[padding], false));
        /// convTranspose1d with the same `stride` and `padding` in each dimension, dilation 1, no output padding and one group. `bias` may
        /// be NULL.
        convTranspose1dUniform(r: out, input: input, weight: input, bias: optional_input, stride: count, padding: count) =
            convolution::of_dims(1, r, input, weight, bias, uniform(&[stride], &[padding], true));
        /// convTranspose2d with the same `stride` and `padding` in each dimension, dilation 1, no output padding and one group. `bias` may
        /// be NULL.
        convTranspose2dUniform(r: out, input: input, weight: input, bias: optional_input, stride: count, padding: count) =
            convolution::of_dims(2, r, input, weight, bias, uniform(&[stride], &[padding], true));
        /// convTranspose3d with the same `stride` and `padding` in each dimension, dilation 1, no output padding and one group. `bias` may
        /// be NULL.
        convTranspose3dUniform(r: out, input: input, weight: input, bias: optional_input, stride: count, padding: count) =
            convolution::of_dims(3, r, input, weight, bias, uniform(&[stride], &[padding], true));
        /// convolutionGradInput of conv1dUniform, conv2dUniform or conv3dUniform: the gradient of `input`, of which only the shape is used.
        convolutionGradInputUniform(r: out, gradOutput: input, weight: input, input: input, stride: count, padding: count) =
            convolution::gradient_of_input(r, gradOutput, weight, input, uniform(&[stride], &[padding], false));
        /// convolutionGradWeight of conv1dUniform, conv2dUniform or conv3dUniform: the gradient of `weight`, of which only the shape is
        /// used.
        convolutionGradWeightUniform(r: out, gradOutput: input, input: input, weight: input, stride: count, padding: count) =
            convolution::gradient_of_weight(r, gradOutput, input, weight, uniform(&[stride], &[padding], false));
        /// `r[n][c * taps + k][y] = t[n][c][y * stride + k * dilation - padding]`, with zeros in the padding: the windows of images as
        /// columns (PyTorch's unfold).
        ///
        /// `kernel` has an entry for each of the `ndim` dimensions of an image, and `taps` is the product of these entries. `k` and `y` are
        /// counted in row-major order.
        im2col(r: out, t: input, ndim: len, kernel: sizes, stride: optional_counts, padding: optional_counts, dilation: optional_counts) =
            unroll::im2col(r, t, kernel, Steps { stride, padding, dilation });
        /// The transpose of im2col: each element of `r` is the sum of the elements of `t` that im2col would copy from it (PyTorch's fold of
        /// images). `r` consists of images of the sizes `imageSizes`.
        col2im(r: out, t: input, ndim: len, imageSizes: sizes, kernel: sizes, stride: optional_counts, padding: optional_counts,
            dilation: optional_counts) =
            unroll::col2im(r, t, imageSizes, kernel, Steps { stride, padding, dilation });
        /// `r = beta * r + alpha * (t * k)`: the plane `t` convolved with the kernel `k`, both matrices. The following holds for all of
        /// Torch7's convolutions.
        ///
        /// `vf` is `"V"` for valid or `"F"` for full. Valid: `r[y][x] = sum of t[y * srow + i][x * scol + j] * k[i][j]`, with
        /// `(size - kernel) / stride + 1` elements in each dimension. Full: `t[y][x] * k[i][j]` is added to
        /// `r[y * srow + i][x * scol + j]`, with `(size - 1) * stride + kernel` elements in each dimension. `xc` is `"X"` for
        /// cross-correlation or `"C"` for convolution: the kernel is reversed by `"C"` with `"V"` and by `"X"` with `"F"`. Only the first
        /// letter counts. If `r` has another shape than the result, or `beta` is 0, the elements of `r` are not read. Dtypes are as for
        /// convolution.
        conv2Dmul(r: out, beta: number, alpha: number, t: input, k: input, srow: count, scol: count, vf: text, xc: text) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::One, Mode::named(&[srow, scol], vf, xc)?);
        /// conv2Dmul of each plane with the kernel at the same index: `r[p] = beta * r[p] + alpha * (t[p] * k[p])`.
        conv2Dcmul(r: out, beta: number, alpha: number, t: input, k: input, srow: count, scol: count, vf: text, xc: text) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::Same, Mode::named(&[srow, scol], vf, xc)?);
        /// conv2Dmul of each plane with each kernel, as an outer product: `r[o][p] = beta * r[o][p] + alpha * (t[p] * k[o])`.
        conv2Dger(r: out, beta: number, alpha: number, t: input, k: input, srow: count, scol: count, vf: text, xc: text) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::Each, Mode::named(&[srow, scol], vf, xc)?);
        /// conv2Dger with `srow` and `scol` as the distances of taps: `r[o][p][y][x] = beta * r[o][p][y][x] + alpha * sum of
        /// t[p][y + srow * i][x + scol * j] * k[o][i][j]`, with `size - (kernel - 1) * stride` elements in each dimension. This is the
        /// gradient of the kernels of conv2Dmv, computed from planes and the gradient of the result.
        conv2DRevger(r: out, beta: number, alpha: number, t: input, k: input, srow: count, scol: count) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::Each, Mode::reverse(&[srow, scol]));
        /// The sum of conv2DRevger over a batch, the first dimension of `t` and `k`.
        conv2DRevgerm(r: out, beta: number, alpha: number, t: input, k: input, srow: count, scol: count) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::EachOfBatch, Mode::reverse(&[srow, scol]));
        /// conv2Dmul as a matrix of kernels times a vector of planes: `r[o] = beta * r[o] + alpha * sum over p of t[p] * k[o][p]`.
        conv2Dmv(r: out, beta: number, alpha: number, t: input, k: input, srow: count, scol: count, vf: text, xc: text) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::Summed, Mode::named(&[srow, scol], vf, xc)?);
        /// conv2Dmv for each entry of a batch, the first dimension of `t` and `r`.
        conv2Dmm(r: out, beta: number, alpha: number, t: input, k: input, srow: count, scol: count, vf: text, xc: text) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::SummedOfBatch, Mode::named(&[srow, scol], vf, xc)?);
        /// conv2Dmul by a map: for each row `n` of `map`, the pair `from` and `to`, `alpha * (t[from] * k[n])` is added to `beta * r[to]`.
        /// Planes are counted from 1, as in Torch7. `map`, int64 or int32, has a row for each kernel, and `r` has as many planes as there
        /// are kernels. All planes of `r` are multiplied by `beta` first.
        conv2Dmap(r: out, beta: number, alpha: number, t: input, k: input, map: index, srow: count, scol: count, vf: text, xc: text) =
            planes::convolve_mapped(r, Factors { beta, alpha }, t, k, map, Mode::named(&[srow, scol], vf, xc)?);
        /// `r = beta * r + alpha * (t * k)`: the volume `t` convolved with the kernel `k`, both with three dimensions. `vf` and `xc` are as
        /// for conv2Dmul.
        conv3Dmul(r: out, beta: number, alpha: number, t: input, k: input, sdepth: count, srow: count, scol: count, vf: text, xc: text) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::One, Mode::named(&[sdepth, srow, scol], vf, xc)?);
        /// `r[p] = beta * r[p] + alpha * (t[p] * k[p])`: each volume `t[p]` convolved with the kernel `k[p]`. `vf` and `xc` are as for
        /// conv2Dmul.
        conv3Dcmul(r: out, beta: number, alpha: number, t: input, k: input, sdepth: count, srow: count, scol: count, vf: text, xc: text) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::Same, Mode::named(&[sdepth, srow, scol], vf, xc)?);
        /// `r[o][p] = beta * r[o][p] + alpha * (t[p] * k[o])`: each volume `t[p]` convolved with each kernel `k[o]`. `vf` and `xc` are as
        /// for conv2Dmul.
        conv3Dger(r: out, beta: number, alpha: number, t: input, k: input, sdepth: count, srow: count, scol: count, vf: text, xc: text) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::Each, Mode::named(&[sdepth, srow, scol], vf, xc)?);
        /// conv3Dger with `sdepth`, `srow` and `scol` as the distances of taps, and `size - (kernel - 1) * stride` elements in each
        /// dimension. This is the gradient of the kernels of conv3Dmv, computed from volumes and the gradient of the result.
        conv3DRevger(r: out, beta: number, alpha: number, t: input, k: input, sdepth: count, srow: count, scol: count) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::Each, Mode::reverse(&[sdepth, srow, scol]));
        /// `r[o] = beta * r[o] + alpha * sum over p of t[p] * k[o][p]` for volumes `t[p]`. `vf` and `xc` are as for conv2Dmul.
        conv3Dmv(r: out, beta: number, alpha: number, t: input, k: input, sdepth: count, srow: count, scol: count, vf: text, xc: text) =
            planes::convolve(r, Factors { beta, alpha }, t, k, Pairing::Summed, Mode::named(&[sdepth, srow, scol], vf, xc)?);
        /// For each row `n` of `map`, the pair `from` and `to`, adds `alpha * (t[from] * k[n])` to the volume `beta * r[to]`. `map` is as
        /// for conv2Dmap, `vf` and `xc` as for conv2Dmul.
        conv3Dmap(r: out, beta: number, alpha: number, t: input, k: input, map: index, sdepth: count, srow: count, scol: count, vf: text,
            xc: text) =
            planes::convolve_mapped(r, Factors { beta, alpha }, t, k, map, Mode::named(&[sdepth, srow, scol], vf, xc)?);
    } };
}

convolution_functions!(table);
pub(crate) use convolution_functions as functions;
