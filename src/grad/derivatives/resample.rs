//! Resampling of images. Each pixel is a sum with fixed weights, so that the gradient of a gradient is a resampling.

use crate::expr::*;
use crate::grad::names::derivatives;
use crate::layout::Dims;

derivatives! {
    /// The derivatives of resampling.
    RESAMPLE:

    interpolate {
        t: |g, t: like, sizes: list, mode: i32, alignCorners: bool, antialias: bool|
            Resampling { factor: 0.0, mode, corners: alignCorners, antialias }.back(g, &t, sizes.len() as i32);
    }
    interpolateFactor {
        t: |g, t: like, imageDims: i32, factor: f64, mode: i32, alignCorners: bool, antialias: bool|
            Resampling { factor, mode, corners: alignCorners, antialias }.back(g, &t, imageDims);
    }
    interpolateGrad {
        g: |h, g: like, imageDims: i32, factor: f64, mode: i32, alignCorners: bool, antialias: bool|
            Resampling { factor, mode, corners: alignCorners, antialias }.of(h, &g.shape, imageDims);
        t: |h, t: like| zeros(h, &t);
    }
    gridSample {
        each(t, grid): |call, t, grid, mode: i32, paddingMode: i32, alignCorners: bool| {
            let names = names::gridSample::FUNCTION.signature.names;
            let inputs = ["t", "grid"].map(|name| names::place(names, name));
            let wanted = u32::from(call.needs(inputs[0])) | u32::from(call.needs(inputs[1])) << 1;
            let arguments = [call.g().into(), t.into(), grid.into(), mode.into(), paddingMode.into(), alignCorners.into()];
            let gradients: [Value<'_>; 2] = call.scope().call_for_all(&names::gridSampleGrad::FUNCTION, wanted, &arguments);
            let given = inputs.into_iter().filter(|&input| call.needs(input));
            given.zip(gradients).for_each(|(input, gradient)| call.give(input, gradient));
        };
    }
    affineGrid { theta: |g, theta: like, sizes: list, alignCorners: bool| affine_grid_back(g, &theta, sizes, alignCorners); }
    pixelShuffle { t: |g, factor: i64| g.scope.call(&names::pixelUnshuffle::FUNCTION, &[g.into(), factor.into()]); }
    pixelUnshuffle { t: |g, factor: i64| g.scope.call(&names::pixelShuffle::FUNCTION, &[g.into(), factor.into()]); }
    channelShuffle {
        t: |g, groups: i64| {
            let channels = g.shape()[1];
            g.scope.call(&names::channelShuffle::FUNCTION, &[g.into(), (channels / groups).into()])
        };
    }
}

/// The arguments of a resampling that are no tensors.
struct Resampling {
    factor: f64,
    mode: i32,
    corners: bool,
    antialias: bool,
}

impl Resampling {
    /// The gradient of images with the shape of `t`.
    fn back<'s>(&self, g: Value<'s>, t: &Like, ndim: i32) -> Value<'s> {
        let images = expand(zeros(g, &Like { shape: Dims::new(), ..t.clone() }), &t.shape);
        let Resampling { factor, mode, corners, antialias } = *self;
        let arguments = [g.into(), images.into(), ndim.into(), factor.into(), mode.into(), corners.into(), antialias.into()];
        g.scope.call(&names::interpolateGrad::FUNCTION, &arguments)
    }

    /// The images `t` in the shape of a result.
    fn of<'s>(&self, t: Value<'s>, shape: &[i64], ndim: i32) -> Value<'s> {
        let Resampling { factor, mode, corners, antialias } = *self;
        if factor > 0.0 {
            let arguments = [t.into(), ndim.into(), factor.into(), mode.into(), corners.into(), antialias.into()];
            return t.scope.call(&names::interpolateFactor::FUNCTION, &arguments);
        }
        let sizes = &shape[shape.len() - ndim as usize..];
        t.scope.call(&names::interpolate::FUNCTION, &[t.into(), sizes.into(), mode.into(), corners.into(), antialias.into()])
    }
}

/// The gradient of affine maps: the sums of the products of `g` with the coordinates of the pixels.
fn affine_grid_back<'s>(g: Value<'s>, theta: &Like, sizes: &[i64], align_corners: bool) -> Value<'s> {
    let (batch, dims) = (theta.shape[0], theta.shape[1]);
    let pixels = sizes.iter().product::<i64>();
    // The coordinates are the grid of the map that changes nothing.
    let like = Like { shape: [dims, dims].as_slice().into(), ..wide(g).like() };
    let identity = diag_embed(full(g, &Like { shape: [dims].as_slice().into(), ..like.clone() }, 1.0), 0, 0, 1);
    let map = reshape(join(identity, zeros(g, &Like { shape: [dims, 1].as_slice().into(), ..like }), 1), &[1, dims, dims + 1]);
    let places = g.scope.call(&names::affineGrid::FUNCTION, &[map.into(), sizes.into(), align_corners.into()]);
    let g = reshape(wide(g), &[batch, pixels, dims]);
    let products = matmul(mt(g), reshape(places, &[pixels, dims]));
    join(products, unsqueeze(sum(g, 1, false), -1), -1)
}
