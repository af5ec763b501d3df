//! Convolutions of one-, two- and three-dimensional images, and their gradients.

pub mod planes;
mod products;
pub mod unroll;

use super::dense::{dense, launch, operand};
use super::reduce::{self, Over, To};
use super::result::deliver;
use super::view;
use super::window::{Rounding, Steps, check_counts, each, extent, image as image_of, image_dims, unnumbered, windows};
use crate::backend;
use crate::device::Device;
use crate::dtype::{Domain, Dtype};
use crate::error::{Result, bail};
use crate::launch::{Convolution, IMAGE_DIMS, Product, Window};
use crate::layout::Dims;
use crate::operand::{Operand, one_dtype};
use crate::tensor::Tensor;
use smallvec::SmallVec;

/// The steps, the output padding and the groups of a convolution.
#[derive(Clone, Copy)]
pub struct ConvOptions<'a> {
    /// Strides, padding and dilation of the windows.
    pub steps: Steps<'a>,
    /// True if each element of the input is spread over a window of the result. Otherwise each window of the input is summed.
    pub transposed: bool,
    /// The number of entries added at the end of each dimension of a transposed convolution's result.
    pub output_padding: Option<&'a [i64]>,
    /// The number of groups of channels. Each group is convolved separately.
    pub groups: i64,
}

/// The common dtype of the operands. Bool and different dtypes are errors.
pub(super) fn common_type(tensors: &[&Tensor]) -> Result<Dtype> {
    Domain::Numeric.check(one_dtype(tensors)?)
}

/// The work of a convolution and the shape of its result.
struct Shapes {
    it: Convolution,
    /// The shape of the result.
    result: Dims,
}

/// Batch size, channels and image sizes of a shape with or without a batch dimension.
pub(super) fn parts(shape: &[i64], ndim: usize) -> Result<(i64, i64, &[i64])> {
    match shape.len().checked_sub(ndim) {
        Some(1) => Ok((1, shape[0], &shape[1..])),
        Some(2) => Ok((shape[0], shape[1], &shape[2..])),
        _ => bail!(Shape, "expected {} or {} dimensions, got shape {shape:?}", ndim + 1, ndim + 2),
    }
}

/// The number of image dimensions of a weight.
fn dims_of_weight(weight: &[i64]) -> Result<usize> {
    match weight.len() {
        3..=5 => Ok(weight.len() - 2),
        _ => bail!(Shape, "a weight has 3 to 5 dimensions, got shape {weight:?}"),
    }
}

impl ConvOptions<'_> {
    /// The channels of `x` and of `y` in one group. `x` is the image of the windows: the input, or a transposed convolution's result.
    fn channels(&self, weight: &[i64]) -> Result<(usize, usize)> {
        let (first, second) = (weight[0], weight[1]);
        if self.groups < 1 || first % self.groups != 0 {
            bail!(Argument, "{first} channels do not divide into {} groups", self.groups)
        }
        Ok((second as usize, (first / self.groups) as usize))
    }

    /// The windows of a convolution over an image of these sizes. For a transposed one, `sizes` are the input's, and the windows are in the
    /// result.
    fn window(&self, sizes: &[i64], kernel: &[i64]) -> Result<Window> {
        let ndim = kernel.len();
        if !self.transposed {
            return windows(image_of(sizes)?, image_of(kernel)?, self.steps, ndim, Rounding::Down);
        }
        let out = image_of(sizes)?;
        let mut w = unnumbered([1; IMAGE_DIMS], image_of(kernel)?, self.steps, ndim)?;
        let more = each("outputPadding", self.output_padding, 0, ndim, 0, 0)?;
        w.out = out;
        for d in IMAGE_DIMS - ndim..IMAGE_DIMS {
            if more[d] >= w.stride[d].max(w.dilation[d]) {
                bail!(Argument, "outputPadding {} is not less than stride {} or dilation {}", more[d], w.stride[d], w.dilation[d])
            }
            let spread = (out[d] as i64 - 1).saturating_mul(w.stride[d] as i64);
            let size = spread.saturating_add(extent(&w, d) + more[d] as i64) - 2 * w.padding[d] as i64;
            if out[d] == 0 || size < 1 {
                bail!(Shape, "an image of size {} gives a result of size {size}", out[d])
            }
            if size > i64::MAX / 8 {
                bail!(Shape, "the result is too large")
            }
            w.image[d] = size as usize;
        }
        check_counts(&w)?;
        Ok(w)
    }

    fn shapes(&self, input: &[i64], weight: &[i64]) -> Result<Shapes> {
        let ndim = dims_of_weight(weight)?;
        let (batch, channels, sizes) = parts(input, ndim)?;
        let (inputs, outputs) = self.channels(weight)?;
        let (needed, made) = if self.transposed { (outputs, inputs) } else { (inputs, outputs) };
        if Some(channels) != (needed as i64).checked_mul(self.groups) {
            bail!(
                Shape,
                "an input of shape {input:?} has {channels} channels; weights of shape {weight:?} in {} groups need {needed} each",
                self.groups
            )
        }
        let Some(made) = (made as i64).checked_mul(self.groups) else { bail!(Shape, "the result has too many channels") };
        let window = self.window(sizes, &weight[2..])?;
        let mut result = input.iter().copied().take(input.len() - ndim - 1).collect::<Dims>();
        result.push(made);
        let sizes = if self.transposed { window.image } else { window.out };
        sizes[IMAGE_DIMS - ndim..].iter().for_each(|&size| result.push(size as i64));
        let product = if self.transposed { Product::Transposed } else { Product::Forward };
        let it = Convolution { product, window, batch: batch as usize, groups: self.groups as usize, inputs, outputs };
        Ok(Shapes { it, result })
    }
}

/// Returns true if a convolution is fastest as products of matrices in its own dtype.
fn has_products(it: &Convolution, dtype: Dtype, device: Device) -> bool {
    // A tile of the instructions has 16 rows of 64 bytes.
    let worth = it.outputs >= 16 && it.inputs * it.window.taps() >= 32 && it.batch * it.window.places() > 0;
    worth && dtype != dtype.product_type() && backend::on(device).has_matrix_instructions(dtype)
}

/// `r` = the convolution of `input` with `weight`, plus `bias` in each channel
pub fn convolution(r: &Tensor, input: &Tensor, weight: &Tensor, bias: Option<&Tensor>, options: ConvOptions<'_>) -> Result<()> {
    let (of_input, of_weight) = (input.layout()?.shape, weight.layout()?.shape);
    let dtype = common_type(&[input, weight, bias.unwrap_or(weight)])?;
    let Shapes { it, result } = options.shapes(&of_input, &of_weight)?;
    let channels = result[result.len() + 1 - of_weight.len()];
    if let Some(shape) = bias.map(|bias| bias.layout()).transpose()?.map(|l| l.shape)
        && shape.as_slice() != [channels]
    {
        bail!(Shape, "a bias of shape {:?} for {channels} channels", shape.as_slice())
    }
    if !options.transposed && has_products(&it, dtype, input.device()) {
        let made = products::forward(&it, dtype, &dense(weight, dtype)?, input, bias)?;
        return deliver([Some((r, dtype, &view::reshape(&made, &result)?))]);
    }
    let compute = dtype.product_type();
    let mut inputs = SmallVec::<[Operand; 3]>::new();
    for t in [Some(weight), Some(input), bias].into_iter().flatten() {
        inputs.push(operand(t, compute)?);
    }
    launch(r, (dtype, compute), &result, &it, &inputs)
}

/// [`convolution`] of images with `ndim` dimensions.
pub fn of_dims(ndim: usize, r: &Tensor, input: &Tensor, weight: &Tensor, bias: Option<&Tensor>, options: ConvOptions<'_>) -> Result<()> {
    if weight.ndim() != ndim + 2 {
        bail!(Shape, "a weight of {} dimensions is expected, got shape {:?}", ndim + 2, weight.layout()?.shape.as_slice())
    }
    convolution(r, input, weight, bias, options)
}

/// Fails if a gradient does not have the shape of the result.
fn check_gradient(grad: &[i64], expected: &[i64]) -> Result<()> {
    if grad != expected {
        bail!(Shape, "a gradient of shape {grad:?} for a result of shape {expected:?}")
    }
    Ok(())
}

/// `r` = the gradient of `input` from the gradient of the result. Only the shape of `input` is used.
pub fn gradient_of_input(r: &Tensor, grad: &Tensor, weight: &Tensor, input: &Tensor, options: ConvOptions<'_>) -> Result<()> {
    let (of_grad, of_weight, input) = (grad.layout()?.shape, weight.layout()?.shape, input.layout()?.shape);
    let dtype = common_type(&[grad, weight])?;
    let Shapes { it, result } = options.shapes(&input, &of_weight)?;
    check_gradient(&of_grad, &result)?;
    let compute = dtype.product_type();
    let product = if options.transposed { Product::Forward } else { Product::Transposed };
    launch(r, (dtype, compute), &input, &Convolution { product, ..it }, &[operand(weight, compute)?, operand(grad, compute)?])
}

/// `r` = the gradient of `weight` from the gradient of the result and the input. Only the shape of `weight` is used.
pub fn gradient_of_weight(r: &Tensor, grad: &Tensor, input: &Tensor, weight: &Tensor, options: ConvOptions<'_>) -> Result<()> {
    let (of_grad, of_input, weight) = (grad.layout()?.shape, input.layout()?.shape, weight.layout()?.shape);
    let dtype = common_type(&[grad, input])?;
    let Shapes { it, result } = options.shapes(&of_input, &weight)?;
    check_gradient(&of_grad, &result)?;
    let compute = dtype.product_type();
    let (y, x) = if options.transposed { (input, grad) } else { (grad, input) };
    let it = Convolution { product: Product::Weights, ..it };
    launch(r, (dtype, compute), &weight, &it, &[operand(y, compute)?, operand(x, compute)?])
}

/// `r` = the gradient of the bias: the gradient of the result summed over all dimensions except the channels, which precede the last `ndim`
pub fn gradient_of_bias(r: &Tensor, grad: &Tensor, ndim: i32) -> Result<()> {
    let (dtype, shape) = (common_type(&[grad])?, grad.layout()?.shape);
    let ndim = image_dims(ndim.into())?;
    parts(&shape, ndim)?;
    let channels = shape.len() - ndim - 1;
    let dims: SmallVec<[i64; 4]> = (0..shape.len()).filter(|&d| d != channels).map(|d| d as i64).collect();
    reduce::sum(To::tensor(r, false), grad, Over::Dims(&dims), Some(dtype))
}
