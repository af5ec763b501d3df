//! Convolutions of 8- and 16-bit numbers as products of matrices in the same dtype, for processors with instructions for such products.
//!
//! The matrix of windows has a row for each weight of a channel and a column for each place of the result. Each product has the columns of
//! a part of one image, so that the matrix fits the cache.

use crate::dtype::Dtype;
use crate::error::Result;
use crate::launch::{Convolution, IMAGE_DIMS};
use crate::layout::{Dims, Layout};
use crate::ops::{copy, matmul, view};
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// The bytes of windows that are multiplied at a time.
const PART: usize = 4 << 20;

/// The result of a convolution as a new row-major tensor [images, channels, places]. The weights are row-major, and the sums of products
/// and the addition of the bias are rounded once.
pub(super) fn forward(it: &Convolution, dtype: Dtype, weight: &Tensor, input: &Tensor, bias: Option<&Tensor>) -> Result<Tensor> {
    let (window, rows, places) = (&it.window, it.inputs * it.window.taps(), it.window.places());
    let padded = padded(it, dtype, input)?;
    let of_padded = padded.layout()?;
    let made = Tensor::empty(dtype, &sizes(&[it.batch, it.groups * it.outputs, places]))?;
    // The image is divided along its first dimension that has several places.
    let cut = (0..IMAGE_DIMS).find(|&d| window.out[d] > 1).unwrap_or(0);
    let across = places / window.out[cut].max(1);
    let most = (PART / (rows * across * dtype.size()).max(1)).max(1);
    for (image, group) in (0..it.batch).flat_map(|image| (0..it.groups).map(move |group| (image, group))) {
        let (first, of_group) = (group * it.outputs, Layout::contiguous(&sizes(&[it.outputs, rows])));
        let w = view::of(weight, &Layout { offset: weight.offset() + (first * rows) as i64, ..of_group })?;
        for start in (0..window.out[cut]).step_by(most) {
            let count = most.min(window.out[cut] - start);
            let mut taken = window.out;
            taken[cut] = count;
            let strides = |step: &[usize; IMAGE_DIMS]| (0..IMAGE_DIMS).map(|d| step[d] as i64 * of_padded.strides[2 + d]).collect::<Dims>();
            let mut windows = Layout { shape: sizes(&[it.inputs]), strides: sizes(&[]), offset: 0 };
            windows.strides.push(of_padded.strides[1]);
            windows.shape.extend_from_slice(&sizes(&window.kernel));
            windows.strides.extend_from_slice(&strides(&window.dilation));
            windows.shape.extend_from_slice(&sizes(&taken));
            windows.strides.extend_from_slice(&strides(&window.stride));
            let channel = (image * it.groups + group) * it.inputs;
            windows.offset = channel as i64 * of_padded.strides[1] + (start * window.stride[cut]) as i64 * of_padded.strides[2 + cut];
            let matrix = view::reshape(&copy::contiguous_copy(&view::of(&padded, &windows)?)?, &sizes(&[rows, count * across]))?;
            let mut part = Layout::contiguous(&sizes(&[it.outputs, count * across]));
            part.strides[0] = places as i64;
            part.offset = ((image * it.groups * it.outputs + first) * places + start * across) as i64;
            let r = view::of(&made, &part)?;
            match bias {
                Some(bias) => {
                    let own = bias.layout()?;
                    let (shape, strides) = (part.shape.clone(), Dims::from(&[own.strides[0], 0]));
                    let addend = view::of(bias, &Layout { shape, strides, offset: own.offset + first as i64 * own.strides[0] })?;
                    matmul::addmm(&r, Scalar::Int(1), &addend, Scalar::Int(1), &w, &matrix)?;
                }
                None => matmul::mm(&r, &w, &matrix)?,
            }
        }
    }
    Ok(made)
}

fn sizes(list: &[usize]) -> Dims {
    list.iter().map(|&n| n as i64).collect()
}

/// The input as a row-major tensor [images, channels, depth, height, width] with its padding.
fn padded(it: &Convolution, dtype: Dtype, input: &Tensor) -> Result<Tensor> {
    let window = &it.window;
    let mut shape = sizes(&[it.batch, it.groups * it.inputs]);
    let mut inner = Layout { shape: shape.clone(), strides: Dims::new(), offset: 0 };
    for d in 0..IMAGE_DIMS {
        shape.push((window.image[d] + 2 * window.padding[d]) as i64);
        inner.shape.push(window.image[d] as i64);
    }
    let image = view::reshape(input, &inner.shape)?;
    if window.padding == [0; IMAGE_DIMS] {
        return if image.layout()?.is_contiguous() { Ok(image) } else { copy::contiguous_copy(&image) };
    }
    let padded = Tensor::empty(dtype, &shape)?;
    copy::fill(&padded, Scalar::Int(0))?;
    inner.strides = padded.layout()?.strides;
    inner.offset = (0..IMAGE_DIMS).map(|d| window.padding[d] as i64 * inner.strides[2 + d]).sum();
    copy::copy(&view::of(&padded, &inner)?, &image)?;
    Ok(padded)
}

#[cfg(test)]
mod tests {
    use super::super::{ConvOptions, convolution};
    use super::*;
    use crate::ops::create;
    use crate::ops::window::Steps;

    /// Small integers, whose products and sums are exact in bfloat16's range of digits.
    fn numbers(dtype: Dtype, shape: &[i64]) -> Tensor {
        let t = create::full(Dtype::Int64, shape, Scalar::Int(0)).unwrap();
        let n: i64 = shape.iter().product();
        // SAFETY: the tensor is new, and has `n` elements.
        let list = unsafe { std::slice::from_raw_parts_mut(t.data().cast::<i64>(), n as usize) };
        list.iter_mut().enumerate().for_each(|(i, x)| *x = (i as i64 * 7 + i as i64 / 5) % 3 - 1);
        copy::to_dtype(&t, dtype).unwrap()
    }

    #[test]
    fn products_are_the_convolution() {
        for (ndim, groups, stride, padding, dilation) in
            [(1, 1, 1, 0, 1), (2, 1, 1, 1, 1), (2, 2, 2, 1, 2), (3, 1, 1, 1, 1), (2, 1, 3, 0, 1)]
        {
            let (steps, pads, dilations) = (vec![stride; ndim], vec![padding; ndim], vec![dilation; ndim]);
            let (mut of_input, mut of_weight) = (vec![2, 4], vec![6, 4 / groups]);
            of_input.extend([9, 8, 7][..ndim].iter());
            of_weight.extend([3, 2, 3][..ndim].iter());
            let steps = Steps { stride: Some(&steps), padding: Some(&pads), dilation: Some(&dilations) };
            let options = ConvOptions { steps, transposed: false, output_padding: None, groups };
            for dtype in [Dtype::Bfloat16, Dtype::Float16] {
                let (x, w, bias) = (numbers(dtype, &of_input), numbers(dtype, &of_weight), numbers(dtype, &[6]));
                let it = options.shapes(&of_input, &of_weight).unwrap().it;
                for bias in [None, Some(&bias)] {
                    let expected = Tensor::fresh().unwrap();
                    convolution(&expected, &x, &w, bias, options).unwrap();
                    let made = forward(&it, dtype, &w, &x, bias).unwrap();
                    let bits = |t: &Tensor| {
                        let n = t.layout().unwrap().numel() as usize;
                        // SAFETY: the tensor is row-major and has `n` elements of 16 bits.
                        unsafe { std::slice::from_raw_parts(t.data().cast::<u16>(), n) }.to_vec()
                    };
                    assert_eq!(bits(&made), bits(&expected), "{ndim} dims, {groups} groups, {dtype}");
                }
            }
        }
    }
}
