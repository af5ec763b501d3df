//! Pooling, resampling and rearranging of images.

use crate::error::{Result, bail};
use crate::expr::{self, names};
use crate::layout::Dims;
use crate::ops::rearrange::{TH_PAD_CONSTANT, TH_PAD_REFLECT, TH_PAD_REPLICATE};
use crate::ops::resample::{TH_RESAMPLE_CUBIC, TH_RESAMPLE_LINEAR, TH_RESAMPLE_NEAREST, TH_RESAMPLE_NEAREST_EXACT};
use crate::program::call::Call;
use crate::program::frame::Item;
use crate::program::table::aten;

aten! {
    "max_pool1d" "self kernel_size stride=[] padding=0 dilation=1 ceil_mode=False"
        => maxPool1d "self kernel_size stride padding dilation ceil_mode";
    "max_pool2d" "self kernel_size stride=[] padding=0,0 dilation=1,1 ceil_mode=False"
        => maxPool2d "self kernel_size stride padding dilation ceil_mode";
    "max_pool3d" "self kernel_size stride=[] padding=0,0,0 dilation=1,1,1 ceil_mode=False"
        => maxPool3d "self kernel_size stride padding dilation ceil_mode";
    "max_pool2d_with_indices" "self kernel_size stride=[] padding=0,0 dilation=1,1 ceil_mode=False"
        => maxPool2d "self kernel_size stride padding dilation ceil_mode";
    "max_pool1d_with_indices" "self kernel_size stride=[] padding=0 dilation=1 ceil_mode=False"
        => maxPool1d "self kernel_size stride padding dilation ceil_mode";
    "max_pool2d_with_indices_backward" "grad_output self kernel_size stride padding dilation ceil_mode indices"
        => maxPoolGradInput "grad_output indices self 2";
    "max_pool3d_with_indices_backward" "grad_output self kernel_size stride padding dilation ceil_mode indices"
        => maxPoolGradInput "grad_output indices self 3";
    "max_unpool2d" "self indices output_size" => maxUnpool "self indices output_size";
    "max_unpool3d" "self indices output_size stride padding" => maxUnpool "self indices output_size";
    "avg_pool2d_backward" "grad_output self kernel_size stride padding ceil_mode count_include_pad divisor_override==None"
        => avgPoolGradInput "grad_output self kernel_size stride padding ceil_mode count_include_pad 0";
    "avg_pool2d_backward" "grad_output self kernel_size stride padding ceil_mode count_include_pad divisor_override"
        => avgPoolGradInput "grad_output self kernel_size stride padding ceil_mode count_include_pad divisor_override";
    "avg_pool3d_backward" "grad_output self kernel_size stride padding ceil_mode count_include_pad divisor_override==None"
        => avgPoolGradInput "grad_output self kernel_size stride padding ceil_mode count_include_pad 0";
    "_adaptive_avg_pool2d_backward" "grad_output self" => adaptiveAvgPoolGradInput "grad_output self 2";
    "_adaptive_avg_pool3d_backward" "grad_output self" => adaptiveAvgPoolGradInput "grad_output self 3";
    "max_pool3d_with_indices" "self kernel_size stride=[] padding=0,0,0 dilation=1,1,1 ceil_mode=False"
        => maxPool3d "self kernel_size stride padding dilation ceil_mode";
    "avg_pool1d" "self kernel_size stride=[] padding=0 ceil_mode=False count_include_pad=True"
        => avgPool1d "self kernel_size stride padding ceil_mode count_include_pad 0";
    "avg_pool2d" "self kernel_size stride=[] padding=0,0 ceil_mode=False count_include_pad=True divisor_override==None"
        => avgPool2d "self kernel_size stride padding ceil_mode count_include_pad 0";
    "avg_pool2d" "self kernel_size stride=[] padding=0,0 ceil_mode=False count_include_pad=True divisor_override"
        => avgPool2d "self kernel_size stride padding ceil_mode count_include_pad divisor_override";
    "avg_pool3d" "self kernel_size stride=[] padding=0,0,0 ceil_mode=False count_include_pad=True divisor_override==None"
        => avgPool3d "self kernel_size stride padding ceil_mode count_include_pad 0";
    "avg_pool3d" "self kernel_size stride=[] padding=0,0,0 ceil_mode=False count_include_pad=True divisor_override"
        => avgPool3d "self kernel_size stride padding ceil_mode count_include_pad divisor_override";
    "adaptive_avg_pool1d" "self output_size" => adaptiveAvgPool1d "self output_size";
    "adaptive_avg_pool2d" "self output_size" => adaptiveAvgPool2d "self output_size";
    "adaptive_avg_pool3d" "self output_size" => adaptiveAvgPool3d "self output_size";
    "_adaptive_avg_pool2d" "self output_size" => adaptiveAvgPool2d "self output_size";
    "_adaptive_avg_pool3d" "self output_size" => adaptiveAvgPool3d "self output_size";
    "adaptive_max_pool1d" "self output_size" => adaptiveMaxPool1d "self output_size";
    "adaptive_max_pool2d" "self output_size" => adaptiveMaxPool2d "self output_size";
    "adaptive_max_pool3d" "self output_size" => adaptiveMaxPool3d "self output_size";

    "upsample_nearest1d.vec" "input output_size scale_factors" => { nearest };
    "upsample_nearest2d.vec" "input output_size scale_factors" => { nearest };
    "upsample_nearest3d.vec" "input output_size scale_factors" => { nearest };
    "_upsample_nearest_exact1d.vec" "input output_size scale_factors" => { nearest_exact };
    "_upsample_nearest_exact2d.vec" "input output_size scale_factors" => { nearest_exact };
    "_upsample_nearest_exact3d.vec" "input output_size scale_factors" => { nearest_exact };
    "upsample_linear1d.vec" "input output_size align_corners scale_factors" => { linear };
    "upsample_bilinear2d.vec" "input output_size align_corners scale_factors" => { linear };
    "upsample_trilinear3d.vec" "input output_size align_corners scale_factors" => { linear };
    "upsample_bicubic2d.vec" "input output_size align_corners scale_factors" => { cubic };
    "_upsample_bilinear2d_aa.vec" "input output_size align_corners scale_factors" => { linear_antialiased };
    "_upsample_bicubic2d_aa.vec" "input output_size align_corners scale_factors" => { cubic_antialiased };
    "upsample_nearest2d" "self output_size scales_h=None scales_w=None" => { nearest_by_scales };
    "upsample_bilinear2d" "self output_size align_corners scales_h=None scales_w=None" => { linear_by_scales };
    "upsample_bicubic2d" "self output_size align_corners scales_h=None scales_w=None" => { cubic_by_scales };
    "upsample_nearest1d" "self output_size scales=None" => { nearest_by_scales };
    "upsample_nearest3d" "self output_size scales_d=None scales_h=None scales_w=None" => { nearest_by_scales };
    "_upsample_nearest_exact1d" "self output_size scales=None" => { exact_by_scales };
    "_upsample_nearest_exact2d" "self output_size scales_h=None scales_w=None" => { exact_by_scales };
    "_upsample_nearest_exact3d" "self output_size scales_d=None scales_h=None scales_w=None" => { exact_by_scales };
    "upsample_linear1d" "self output_size align_corners scales=None" => { linear_by_scales };
    "upsample_trilinear3d" "self output_size align_corners scales_d=None scales_h=None scales_w=None" => { linear_by_scales };
    "_upsample_bilinear2d_aa" "self output_size align_corners scales_h=None scales_w=None" => { antialiased_linear_by_scales };
    "_upsample_bicubic2d_aa" "self output_size align_corners scales_h=None scales_w=None" => { antialiased_cubic_by_scales };
    "grid_sampler_2d" "input grid interpolation_mode padding_mode align_corners" => { grid_sample };
    "grid_sampler_3d" "input grid interpolation_mode padding_mode align_corners" => { grid_sample };
    "grid_sampler" "input grid interpolation_mode padding_mode align_corners" => { grid_sample };
    "affine_grid_generator" "theta size align_corners" => { affine_grid };
    "pixel_shuffle" "self upscale_factor" => pixelShuffle "self upscale_factor";
    "pixel_unshuffle" "self downscale_factor" => pixelUnshuffle "self downscale_factor";
    "channel_shuffle" "self groups" => channelShuffle "self groups";
    "im2col" "self kernel_size dilation padding stride" => im2col "self kernel_size stride padding dilation";
    "col2im" "self output_size kernel_size dilation padding stride" => col2im "self output_size kernel_size stride padding dilation";
}

/// Resamples to the sizes `k`, or by the factors after the last argument, which PyTorch uses for the coordinates, too.
fn resample(c: &Call<'_>, mode: i32, align: Option<usize>, antialias: bool) -> Result<Item> {
    let t = c.value(0)?;
    let align = align.map_or(Ok(false), |k| c.flag(k))?;
    if let Some(sizes) = c.optional_ints(1)? {
        let arguments = [t.into(), (&sizes).into(), mode.into(), align.into(), antialias.into()];
        return c.done(c.scope.call(&names::interpolate::FUNCTION, &arguments));
    }
    let factors = c.list(c.arguments.len() - 1)?;
    by_factors(c, factors.iter().map(Item::number), mode, align, antialias)
}

fn by_factors(c: &Call<'_>, factors: impl Iterator<Item = Option<f64>>, mode: i32, align: bool, antialias: bool) -> Result<Item> {
    let t = c.value(0)?;
    let factors: Vec<Option<f64>> = factors.collect();
    let Some(Some(first)) = factors.first().copied() else { bail!(Argument, "neither sizes nor factors") };
    let shape = t.shape();
    let before = shape.len().saturating_sub(factors.len());
    let grown = |k: usize| (shape[before + k] as f64 * factors[k].unwrap_or(1.0)).floor() as i64;
    // Linear resampling of PyTorch copies a dimension whose size does not change. So does `nearest` with up to two dimensions.
    let may_copy = mode == TH_RESAMPLE_LINEAR || (mode == TH_RESAMPLE_NEAREST && factors.len() < 3);
    let copied = |k: usize| may_copy && grown(k) == shape[before + k];
    let copies = (0..factors.len()).any(copied);
    if factors.iter().all(|factor| *factor == Some(first)) && !copies {
        let dims = factors.len() as i32;
        let arguments = [t.into(), dims.into(), first.into(), mode.into(), align.into(), antialias.into()];
        return c.done(c.scope.call(&names::interpolateFactor::FUNCTION, &arguments));
    }
    if mode == TH_RESAMPLE_CUBIC || antialias {
        bail!(Unsupported, "cubic or antialiased resampling with different factors")
    }
    // The other methods resample one dimension after the other.
    let mut r = expr::clone(t);
    for k in (0..factors.len()).filter(|&k| !copied(k)) {
        let dim = (before + k) as i32;
        let turned = expr::transpose(r, dim, -1);
        let mut sizes = turned.shape();
        let last = sizes.len() - 1;
        let lines = expr::reshape(turned, &[-1, 1, sizes[last]]);
        let arguments = [lines.into(), 1.into(), factors[k].unwrap_or(1.0).into(), mode.into(), align.into(), false.into()];
        sizes[last] = grown(k);
        r = expr::transpose(expr::reshape(c.scope.call(&names::interpolateFactor::FUNCTION, &arguments), &sizes), dim, -1);
    }
    c.done(r)
}

fn nearest(c: &Call<'_>) -> Result<Item> {
    resample(c, TH_RESAMPLE_NEAREST, None, false)
}

fn nearest_exact(c: &Call<'_>) -> Result<Item> {
    resample(c, TH_RESAMPLE_NEAREST_EXACT, None, false)
}

fn linear(c: &Call<'_>) -> Result<Item> {
    resample(c, TH_RESAMPLE_LINEAR, Some(2), false)
}

fn cubic(c: &Call<'_>) -> Result<Item> {
    resample(c, TH_RESAMPLE_CUBIC, Some(2), false)
}

fn linear_antialiased(c: &Call<'_>) -> Result<Item> {
    resample(c, TH_RESAMPLE_LINEAR, Some(2), true)
}

fn cubic_antialiased(c: &Call<'_>) -> Result<Item> {
    resample(c, TH_RESAMPLE_CUBIC, Some(2), true)
}

/// Resamples to sizes. If scales are given, the scales determine the coordinates.
fn by_scales(c: &Call<'_>, mode: i32, align: Option<usize>, antialias: bool) -> Result<Item> {
    let (t, sizes) = (c.value(0)?, c.ints(1)?);
    let scales = (c.arguments.len() - sizes.len()..c.arguments.len()).map(|k| c.optional_number(k)).collect::<Result<Vec<_>>>()?;
    let align = align.map_or(Ok(false), |k| c.flag(k))?;
    if scales.iter().all(Option::is_some) && !scales.is_empty() {
        return by_factors(c, scales.into_iter(), mode, align, antialias);
    }
    let arguments = [t.into(), (&sizes).into(), mode.into(), align.into(), antialias.into()];
    c.done(c.scope.call(&names::interpolate::FUNCTION, &arguments))
}

fn nearest_by_scales(c: &Call<'_>) -> Result<Item> {
    by_scales(c, TH_RESAMPLE_NEAREST, None, false)
}

fn linear_by_scales(c: &Call<'_>) -> Result<Item> {
    by_scales(c, TH_RESAMPLE_LINEAR, Some(2), false)
}

fn cubic_by_scales(c: &Call<'_>) -> Result<Item> {
    by_scales(c, TH_RESAMPLE_CUBIC, Some(2), false)
}

fn grid_sample(c: &Call<'_>) -> Result<Item> {
    let mode = match c.int(2)? {
        0 => TH_RESAMPLE_LINEAR,
        1 => TH_RESAMPLE_NEAREST,
        2 => TH_RESAMPLE_CUBIC,
        other => bail!(Unsupported, "the interpolation mode {other}"),
    };
    let padding = match c.int(3)? {
        0 => TH_PAD_CONSTANT,
        1 => TH_PAD_REPLICATE,
        2 => TH_PAD_REFLECT,
        other => bail!(Unsupported, "the padding mode {other}"),
    };
    let arguments = [c.value(0)?.into(), c.value(1)?.into(), mode.into(), padding.into(), c.flag(4)?.into()];
    c.done(c.scope.call(&names::gridSample::FUNCTION, &arguments))
}

fn exact_by_scales(c: &Call<'_>) -> Result<Item> {
    by_scales(c, TH_RESAMPLE_NEAREST_EXACT, None, false)
}

fn antialiased_linear_by_scales(c: &Call<'_>) -> Result<Item> {
    by_scales(c, TH_RESAMPLE_LINEAR, Some(2), true)
}

fn antialiased_cubic_by_scales(c: &Call<'_>) -> Result<Item> {
    by_scales(c, TH_RESAMPLE_CUBIC, Some(2), true)
}

/// The sizes of PyTorch begin with the batch and the channels.
fn affine_grid(c: &Call<'_>) -> Result<Item> {
    let sizes = c.ints(1)?;
    let image: Dims = sizes.iter().skip(2).copied().collect();
    c.done(c.scope.call(&names::affineGrid::FUNCTION, &[c.value(0)?.into(), (&image).into(), c.flag(2)?.into()]))
}
