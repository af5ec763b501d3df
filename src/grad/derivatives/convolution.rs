//! Convolution and pooling.
//!
//! Torch7's convolutions of planes have none here: their gradients are others of their family, which programs call by name (conv2DRevger).

use crate::expr::*;
use crate::grad::names::derivatives;
use crate::layout::Dims;

/// Rows that differ in the dimensions of images alone.
macro_rules! for_images {
    ($(#[$doc:meta])* $list:ident:
        convolve { $($convolve:ident)* } transpose { $($transpose:ident)* }
        convolve_uniform { $($uniform:ident)* } transpose_uniform { $($transpose_uniform:ident)* }
        max { $($max:ident $of_max:literal)* } max_uniform { $($max_uniform:ident $of_max_uniform:literal)* }
        adaptive_max { $($adaptive_max:ident $of_adaptive_max:literal)* }
        average { $($average:ident $of_average:literal)* } average_uniform { $($average_uniform:ident $of_average_uniform:literal)* }
        adaptive_average { $($adaptive_average:ident $of_adaptive_average:literal)* }
    ) => { derivatives! {
        $(#[$doc])*
        $list:

        $($convolve {
            input: |g, input: like, weight, stride: list, padding: list, dilation: list, groups: i64|
                of_input(g, weight, &input, &Options { stride, padding, dilation, groups, ..Options::default() });
            weight: |g, input, weight: like, stride: list, padding: list, dilation: list, groups: i64|
                of_weight(g, input, &weight, &Options { stride, padding, dilation, groups, ..Options::default() });
            each(bias): |call, bias: at, weight: shapes| call.give(bias, of_bias(call.g(), call.size_at(weight, 0)));
        })*
        $($transpose {
            input: |g, input: like, weight, stride: list, padding: list, dilation: list, outputPadding: list, groups: i64|
                of_input(g, weight, &input,
                    &Options { stride, padding, dilation, transposed: true, output_padding: outputPadding, groups });
            weight: |g, input, weight: like, stride: list, padding: list, dilation: list, outputPadding: list, groups: i64|
                of_weight(g, input, &weight,
                    &Options { stride, padding, dilation, transposed: true, output_padding: outputPadding, groups });
            each(bias): |call, bias: at, weight: shapes| call.give(bias, of_bias(call.g(), call.size_at(weight, 0)));
        })*
        $($uniform {
            input: |g, input: like, weight, stride: i64, padding: i64|
                of_input(g, weight, &input, &Options::uniform(&[stride], &[padding], false));
            weight: |g, input, weight: like, stride: i64, padding: i64|
                of_weight(g, input, &weight, &Options::uniform(&[stride], &[padding], false));
            each(bias): |call, bias: at, weight: shapes| call.give(bias, of_bias(call.g(), call.size_at(weight, 0)));
        })*
        $($transpose_uniform {
            input: |g, input: like, weight, stride: i64, padding: i64|
                of_input(g, weight, &input, &Options::uniform(&[stride], &[padding], true));
            weight: |g, input, weight: like, stride: i64, padding: i64|
                of_weight(g, input, &weight, &Options::uniform(&[stride], &[padding], true));
            each(bias): |call, bias: at, weight: shapes| call.give(bias, of_bias(call.g(), call.size_at(weight, 0)));
        })*

        $($max { input: |g, indices, input: like| spread(g, indices, &input, $of_max); })*
        $($max_uniform { input: |g, indices, input: like| spread(g, indices, &input, $of_max_uniform); })*
        $($adaptive_max { input: |g, indices, input: like| spread(g, indices, &input, $of_adaptive_max); })*
        $($average {
            input: |g, input: like, kernel: list, stride: list, padding: list, ceilMode: bool, countIncludePad: bool, divisor: i64|
                of_average(g, &input, $of_average, &Means { kernel, stride, padding, ceil: ceilMode, padded: countIncludePad, divisor });
        })*
        $($average_uniform {
            input: |g, input: like, kernel: i64, stride: i64, padding: i64|
                of_average(g, &input, $of_average_uniform, &Means::uniform(&[kernel], &[stride], &[padding]));
        })*
        $($adaptive_average {
            input: |g, input: like| {
                let arguments = [g.into(), shaped(g, &input).into(), $of_adaptive_average.into()];
                g.scope.call(&names::adaptiveAvgPoolGradInput::FUNCTION, &arguments)
            };
        })*
    } };
}

for_images! {
    /// The derivatives of convolutions and poolings of images with a given number of dimensions.
    IMAGES:
    convolve { conv1d conv2d conv3d }
    transpose { convTranspose1d convTranspose2d convTranspose3d }
    convolve_uniform { conv1dUniform conv2dUniform conv3dUniform }
    transpose_uniform { convTranspose1dUniform convTranspose2dUniform convTranspose3dUniform }
    max { maxPool1d 1 maxPool2d 2 maxPool3d 3 }
    max_uniform { maxPool1dUniform 1 maxPool2dUniform 2 maxPool3dUniform 3 }
    adaptive_max { adaptiveMaxPool1d 1 adaptiveMaxPool2d 2 adaptiveMaxPool3d 3 }
    average { avgPool1d 1 avgPool2d 2 avgPool3d 3 }
    average_uniform { avgPool1dUniform 1 avgPool2dUniform 2 avgPool3dUniform 3 }
    adaptive_average { adaptiveAvgPool1d 1 adaptiveAvgPool2d 2 adaptiveAvgPool3d 3 }
}

derivatives! {
    /// The derivatives of other convolutions and poolings, and of their gradients.
    CONVOLUTION:

    convolution {
        input: |g, input: like, weight, stride: list, padding: list, dilation: list, transposed: bool, outputPadding: list, groups: i64|
            of_input(g, weight, &input, &Options { stride, padding, dilation, transposed, output_padding: outputPadding, groups });
        weight: |g, input, weight: like, stride: list, padding: list, dilation: list, transposed: bool, outputPadding: list, groups: i64|
            of_weight(g, input, &weight, &Options { stride, padding, dilation, transposed, output_padding: outputPadding, groups });
        each(bias): |call, bias: at, weight: shapes| call.give(bias, of_bias(call.g(), call.size_at(weight, 0)));
    }
    convolutionGradInput {
        gradOutput: |h, weight, stride: list, padding: list, dilation: list, transposed: bool, outputPadding: list, groups: i64|
            convolved(h, weight, &Options { stride, padding, dilation, transposed, output_padding: outputPadding, groups });
        weight: |h, gradOutput, weight: like, stride: list, padding: list, dilation: list, transposed: bool, outputPadding: list,
            groups: i64|
            of_weight(gradOutput, h, &weight, &Options { stride, padding, dilation, transposed, output_padding: outputPadding, groups });
        input: |h| zerosLike(h);
    }
    convolutionGradWeight {
        gradOutput: |h, input, stride: list, padding: list, dilation: list, transposed: bool, outputPadding: list, groups: i64|
            convolved(input, h, &Options { stride, padding, dilation, transposed, output_padding: outputPadding, groups });
        input: |h, gradOutput, input: like, stride: list, padding: list, dilation: list, transposed: bool, outputPadding: list, groups: i64|
            of_input(gradOutput, h, &input, &Options { stride, padding, dilation, transposed, output_padding: outputPadding, groups });
        weight: |h| zerosLike(h);
    }
    convolutionGradBias { gradOutput: |h, gradOutput: like, imageDims: i32| repeated(h, &gradOutput, imageDims); }
    convolutionGradInputUniform {
        gradOutput: |h, weight, stride: i64, padding: i64| convolved(h, weight, &Options::uniform(&[stride], &[padding], false));
        weight: |h, gradOutput, weight: like, stride: i64, padding: i64|
            of_weight(gradOutput, h, &weight, &Options::uniform(&[stride], &[padding], false));
        input: |h| zerosLike(h);
    }
    convolutionGradWeightUniform {
        gradOutput: |h, input, stride: i64, padding: i64| convolved(input, h, &Options::uniform(&[stride], &[padding], false));
        input: |h, gradOutput, input: like, stride: i64, padding: i64|
            of_input(gradOutput, h, &input, &Options::uniform(&[stride], &[padding], false));
        weight: |h| zerosLike(h);
    }

    // Windows as columns.
    im2col {
        t: |g, t: like, kernel: list, stride: list, padding: list, dilation: list| {
            let sizes = &t.shape[t.shape.len() - kernel.len()..];
            let arguments = [g.into(), sizes.into(), kernel.into(), listed(stride), listed(padding), listed(dilation)];
            g.scope.call(&names::col2im::FUNCTION, &arguments)
        };
    }
    col2im {
        t: |g, kernel: list, stride: list, padding: list, dilation: list|
            g.scope.call(&names::im2col::FUNCTION, &[g.into(), kernel.into(), listed(stride), listed(padding), listed(dilation)]);
    }

    // Poolings.
    maxPoolGradInput { gradOutput: |h, indices, imageDims: i32| picked(h, indices, imageDims as usize); input: |h| zerosLike(h); }
    maxUnpool { t: |g, indices, imageSizes: list| picked(g, indices, imageSizes.len()); }
    avgPoolGradInput {
        gradOutput: |h, kernel: list, stride: list, padding: list, ceilMode: bool, countIncludePad: bool, divisor: i64|
            averaged(h, kernel.len(), &Means { kernel, stride, padding, ceil: ceilMode, padded: countIncludePad, divisor });
        input: |h| zerosLike(h);
    }
    avgPoolGradInputUniform {
        gradOutput: |h, imageDims: i32, kernel: i64, stride: i64, padding: i64|
            averaged(h, imageDims as usize, &Means::uniform(&[kernel], &[stride], &[padding]));
        input: |h| zerosLike(h);
    }
    adaptiveAvgPoolGradInput {
        gradOutput: |h, gradOutput: like, imageDims: i32| adaptively_averaged(h, &gradOutput, imageDims as usize);
        input: |h| zerosLike(h);
    }
}

/// The arguments of a convolution that are no tensors.
struct Options<'a> {
    stride: &'a [i64],
    padding: &'a [i64],
    dilation: &'a [i64],
    transposed: bool,
    output_padding: &'a [i64],
    groups: i64,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options { stride: &[], padding: &[], dilation: &[], transposed: false, output_padding: &[], groups: 1 }
    }
}

impl<'a> Options<'a> {
    fn uniform(stride: &'a [i64], padding: &'a [i64], transposed: bool) -> Options<'a> {
        Options { stride, padding, transposed, ..Options::default() }
    }

    /// A call of a row with three tensors and these options.
    fn call<'s>(&self, row: &'static crate::api::function::Function, tensors: [In<'s, '_>; 3], first: Value<'s>) -> Value<'s> {
        let [a, b, c] = tensors;
        let (stride, padding, dilation) = (listed(self.stride), listed(self.padding), listed(self.dilation));
        first
            .scope
            .call(row, &[a, b, c, stride, padding, dilation, self.transposed.into(), listed(self.output_padding), self.groups.into()])
    }
}

/// A list of a call, NULL if it was.
fn listed<'a>(list: &'a [i64]) -> In<'static, 'a> {
    if list.is_empty() { In::Null } else { In::List(list) }
}

/// A tensor of a shape, which alone counts, with one element in memory.
fn shaped<'s>(g: Value<'s>, like: &Like) -> Value<'s> {
    expand(zeros(g, &Like { shape: Dims::new(), ..like.clone() }), &like.shape)
}

fn convolved<'s>(input: Value<'s>, weight: Value<'s>, options: &Options<'_>) -> Value<'s> {
    options.call(&names::convolution::FUNCTION, [input.into(), weight.into(), In::Null], input)
}

fn of_input<'s>(g: Value<'s>, weight: Value<'s>, input: &Like, options: &Options<'_>) -> Value<'s> {
    options.call(&names::convolutionGradInput::FUNCTION, [g.into(), weight.into(), shaped(g, input).into()], g)
}

fn of_weight<'s>(g: Value<'s>, input: Value<'s>, weight: &Like, options: &Options<'_>) -> Value<'s> {
    options.call(&names::convolutionGradWeight::FUNCTION, [g.into(), input.into(), shaped(g, weight).into()], g)
}

fn of_bias<'s>(g: Value<'s>, weight: &[i64]) -> Value<'s> {
    g.scope.call(&names::convolutionGradBias::FUNCTION, &[g.into(), (weight.len() as i32 - 2).into()])
}

/// A number for each channel, at each place of the images.
fn repeated<'s>(h: Value<'s>, like: &Like, dims: i32) -> Value<'s> {
    let shape: Dims = h.shape().iter().copied().chain((0..dims).map(|_| 1)).collect();
    expand(reshape(h, &shape), &like.shape)
}

/// `g`, each element added where its index leads.
fn spread<'s>(g: Value<'s>, indices: Value<'s>, input: &Like, dims: i32) -> Value<'s> {
    g.scope.call(&names::maxPoolGradInput::FUNCTION, &[g.into(), indices.into(), shaped(g, input).into(), dims.into()])
}

/// The elements of the images `t` that `indices` lead to; 0 for -1, the index of a window without an element.
fn picked<'s>(t: Value<'s>, indices: Value<'s>, dims: usize) -> Value<'s> {
    let flat = |t: Value<'s>| {
        let shape = t.shape();
        let (front, image) = shape.split_at(shape.len().saturating_sub(dims));
        let shape: Dims = front.iter().copied().chain([image.iter().product()]).collect();
        reshape(t, &shape)
    };
    let places = flat(clamp_least(indices, 0.0));
    or_choose(lt_value(indices, 0.0), 0.0, reshape(gather(flat(t), -1, places), &indices.shape()))
}

/// The arguments of a pooling by means.
struct Means<'a> {
    kernel: &'a [i64],
    stride: &'a [i64],
    padding: &'a [i64],
    ceil: bool,
    /// True if the padding counts.
    padded: bool,
    divisor: i64,
}

impl<'a> Means<'a> {
    fn uniform(kernel: &'a [i64], stride: &'a [i64], padding: &'a [i64]) -> Means<'a> {
        Means { kernel, stride, padding, ceil: false, padded: true, divisor: 0 }
    }

    /// The arguments as they follow the tensors, with an entry for each of `dims` dimensions in each list.
    fn call<'s>(&self, row: &'static crate::api::function::Function, tensors: &[In<'s, '_>], first: Value<'s>, dims: usize) -> Value<'s> {
        let each = |list: &[i64]| -> Dims { if list.len() == 1 { (0..dims).map(|_| list[0]).collect() } else { list.into() } };
        let (kernel, stride, padding) = (each(self.kernel), each(self.stride), each(self.padding));
        let rest = [(&kernel).into(), listed(&stride), listed(&padding), self.ceil.into(), self.padded.into(), self.divisor.into()];
        first.scope.call(row, &[tensors, &rest[..]].concat())
    }
}

fn of_average<'s>(g: Value<'s>, input: &Like, dims: usize, means: &Means<'_>) -> Value<'s> {
    means.call(&names::avgPoolGradInput::FUNCTION, &[g.into(), shaped(g, input).into()], g, dims)
}

fn averaged<'s>(t: Value<'s>, dims: usize, means: &Means<'_>) -> Value<'s> {
    let row = match dims {
        1 => &names::avgPool1d::FUNCTION,
        2 => &names::avgPool2d::FUNCTION,
        _ => &names::avgPool3d::FUNCTION,
    };
    means.call(row, &[t.into()], t, dims)
}

fn adaptively_averaged<'s>(t: Value<'s>, like: &Like, dims: usize) -> Value<'s> {
    let row = match dims {
        1 => &names::adaptiveAvgPool1d::FUNCTION,
        2 => &names::adaptiveAvgPool2d::FUNCTION,
        _ => &names::adaptiveAvgPool3d::FUNCTION,
    };
    t.scope.call(row, &[t.into(), In::List(&like.shape[like.shape.len().saturating_sub(dims)..])])
}
