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
