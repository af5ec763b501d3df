"""Convolutions, pooling, resampling and Fourier transforms."""

from math import prod

import net
from operands import CLASSES, POSITIVE, SMALL, UNIT, WINDOWS, Operand, in_windows, sizes

from .row import over


def windows():
    """Images; `b` are weights."""
    one, two = "(int64_t[]){1}", "(int64_t[]){2}"

    def conv(op, dtypes, shape, weight, thorn, torch, places, **given):
        """`places` is the number of elements of one channel of the result."""
        flops = 2 * places * sizes(shape)[0] * prod(sizes(weight))
        return over(op, dtypes, shape, f"FRESH({thorn})", torch, a=UNIT, b=UNIT.shaped(weight), tolerance=1e-4, flops=flops, **given)

    images, channels = "8x64x56x56", "64x64x3x3"
    plain = f"THTensor_conv2d(r, a, b, NULL, 1, NULL, {one}, NULL, 1)", "torch.conv2d(a, b, None, 1, 1)"
    to_input = f"THTensor_convolutionGradInput(r, a, b, a, 1, NULL, {one}, NULL, 0, NULL, 1)", "torch.nn.grad.conv2d_input(a.shape, b, a, 1, 1)"
    to_weight = f"THTensor_convolutionGradWeight(r, a, a, b, 1, NULL, {one}, NULL, 0, NULL, 1)", "torch.nn.grad.conv2d_weight(a, b.shape, a, 1, 1)"
    first = f"THTensor_conv2d(r, a, b, NULL, 1, {two}, (int64_t[]){{3}}, NULL, 1)", "torch.conv2d(a, b, None, 2, 3)"
    wider = f"THTensor_convTranspose2d(r, a, b, NULL, 1, {two}, {one}, NULL, 1, NULL)", "torch.conv_transpose2d(a, b, None, 2, 1)"
    narrow = "THTensor_conv2d(r, a, b, NULL, 0, NULL, NULL, NULL, 1)", "torch.conv2d(a, b)"
    apart = f"THTensor_conv2d(r, a, b, NULL, 1, NULL, {one}, NULL, 64)", "torch.conv2d(a, b, None, 1, 1, 1, 64)"
    line = f"THTensor_conv1d(r, a, b, NULL, 1, NULL, {one}, NULL, 1)", "torch.conv1d(a, b, None, 1, 1)"
    pool = "FRESH(THTensor_maxPool2d(r, NULL, a, 1, {}, {}, {}, NULL, 0))"
    return [
        *conv("conv2d 3x3", "f32 f64", images, channels, *plain, 56 * 56),
        *conv("conv2d 3x3 to input", "f32", images, channels, *to_input, 56 * 56),
        *conv("conv2d 3x3 to weight", "f32", images, channels, *to_weight, 56 * 56),
        *conv("conv2d 7x7 by 2", "f32", "4x3x224x224", "64x3x7x7", *first, 112 * 112),
        *conv("conv2d 1x1", "f32", "8x256x28x28", "64x256x1x1", *narrow, 28 * 28),
        *conv("conv2d deep", "f32", "1x512x7x7", "512x512x3x3", *plain, 7 * 7),
        *conv("conv2d depthwise", "f32", images, "64x1x3x3", *apart, 56 * 56),
        *conv("transposed 4x4 by 2", "f32", "4x64x28x28", "64x64x4x4", *wider, 28 * 28),
        *conv("conv1d 3", "f32", "16x64x1000", "64x64x3", *line, 1000),
        *over("max pool 2x2", "f32 f64", images, pool.format(two, "NULL", "NULL"), "torch.max_pool2d(a, 2)"),
        *over("max pool 3x3 by 2", "f32", images, pool.format("(int64_t[]){3}", two, one), "torch.max_pool2d(a, 3, 2, 1)"),
        *over("avg pool 2x2", "f32", images, f"FRESH(THTensor_avgPool2d(r, a, 1, {two}, NULL, NULL, 0, 1, 0))", "nn.avg_pool2d(a, 2)"),
        *over("avg pool to 1x1", "f32", images, f"FRESH(THTensor_adaptiveAvgPool2d(r, a, 1, {one}))", "nn.adaptive_avg_pool2d(a, 1)", tolerance=1e-4),
        *interpolated(),
        *small_net(conv, plain, pool.replace("NULL, a", "i, a").format(two, "NULL", "NULL")),
    ]


def interpolated():
    """A picture with three channels, with twice as many pixels in both dimensions, with half as many, and sampled at random places."""
    size = "(int64_t[]){%d, %d}"
    resize = "FRESH(THTensor_interpolate(r, a, 2, %s, %s, 0, %d))"
    torch = 'torch.nn.functional.interpolate(a, size=(%d, %d), mode="%s", antialias=%s)'
    modes = {"bilinear": "TH_RESAMPLE_LINEAR", "bicubic": "TH_RESAMPLE_CUBIC"}
    made = []
    for name, mode in modes.items():
        for to in (1024, 256):
            smooth = to < 512
            call, peer = resize % (size % (to, to), mode, smooth), torch % (to, to, name, smooth)
            made += over(f"{name} 512 to {to}", "f32", "1x3x512x512", call, peer, tolerance=1e-3)
            # PyTorch rounds the bytes between the dimensions, and limits them to 0 and 255.
            made += over(f"{name} 512 to {to}", "u8", "1x3x512x512", call, peer, tolerance=48)
    places = {"a": POSITIVE, "b": UNIT.shaped("1x512x512x2"), "tolerance": 1e-3}
    for name, mode, number in (("", "LINEAR", 0), (" nearest", "NEAREST", 1), (" cubic", "CUBIC", 2)):
        sample = f"FRESH(THTensor_gridSample(r, a, b, TH_RESAMPLE_{mode}, TH_PAD_CONSTANT, 0))", f"torch.grid_sampler(a, b, {number}, 0, False)"
        # PyTorch rounds places to float32, which changes the nearest pixel and cancelling sums of a few.
        made += over(f"grid sample{name}", "f32", "1x3x512x512", *sample, **places | {"tolerance": 1e-2}, checked=("none",) if number else ())
    back = "FRESH(THTensor_gridSampleGrad(%s, c, a, b, TH_RESAMPLE_LINEAR, TH_PAD_CONSTANT, 0))"
    torch_back = "torch.ops.aten.grid_sampler_2d_backward(c, a, b, 0, 0, False, [%s])[%d]"
    return [
        *made,
        *over("grid sample to image", "f32", "1x3x512x512", back % "r, NULL", torch_back % ("True, False", 0), c=POSITIVE, **places),
        *over("grid sample to grid", "f32", "1x3x512x512", back % "NULL, r", torch_back % ("False, True", 1), c=UNIT, checked=("none",), **places),
        *over("affine grid", "f32", "8x2x3", "FRESH(THTensor_affineGrid(r, a, 2, (int64_t[]){256, 256}, 0))", "torch.nn.functional.affine_grid(a, (8, 1, 256, 256), False)", tolerance=1e-3),
        *over("channel shuffle", "f32", "8x64x56x56", "FRESH(THTensor_channelShuffle(r, a, 4))", "torch.nn.functional.channel_shuffle(a, 4)"),
        *over("pixel shuffle", "f32", "8x64x56x56", "FRESH(THTensor_pixelShuffle(r, a, 2))", "torch.pixel_shuffle(a, 2)"),
    ]


def small_net(conv, plain, pool):
    """The operations of a net with two convolutions on pictures of 8 x 8, forward and the gradients of the second one, and a training
    step."""
    one, rest = "(int64_t[]){1}", "1, NULL, (int64_t[]){1}, NULL, 0, NULL, 1"
    grad, unit = "50x32x4x4", {"a": UNIT, "b": UNIT.shaped("32x16x3x3")}
    unpool = "torch.ops.aten.max_pool2d_with_indices_backward(c, a, 2, 2, 0, 1, False, i)"
    gradients = {"c": UNIT.shaped(grad), "tolerance": 1e-4, "flops": 2 * 16 * 50 * 32 * 16 * 9}
    return [
        *conv("net conv 1", "f32", "50x1x8x8", "16x1x3x3", *plain, 8 * 8),
        *conv("net conv 2", "f32", "50x16x4x4", "32x16x3x3", *plain, 4 * 4),
        *over("net to input", "f32", "50x16x4x4", f"FRESH(THTensor_convolutionGradInput(r, c, b, a, {rest}))", "torch.nn.grad.conv2d_input(a.shape, b, c, 1, 1)", **unit, **gradients),
        *over("net to weight", "f32", "50x16x4x4", f"FRESH(THTensor_convolutionGradWeight(r, c, a, b, {rest}))", "torch.nn.grad.conv2d_weight(a, b.shape, c, 1, 1)", **unit, **gradients),
        *over("net pool", "f32", "50x16x8x8", pool, "torch.nn.functional.max_pool2d(a, 2, return_indices=True)[0]"),
        *over("net pool to input", "f32", "50x16x8x8", "FRESH(THTensor_maxPoolGradInput(r, c, i, a, 2))", unpool, c=UNIT.shaped("50x16x4x4"), i=WINDOWS),
        *over("net training step", "f32", "50x1x8x8", "netStep(r, a, b)", "net.step(r, a, b)", r=SMALL.shaped(f"{sum(net.COUNTS)}"), b=CLASSES, flops=net.FLOPS),
    ]


def fourier():
    complex_ = "torch.view_as_real(torch.fft.{}(torch.view_as_complex(a){}))"
    return [
        *over("fft", "f32 f64", "1048576x2 4096x256x2", "FRESH(THTensor_fft(r, a, 1, 1))", complex_.format("fft", ", norm='ortho'"), tolerance=1e-3),
        *over("fft of two", "f32", "1024x1024x2", "FRESH(THTensor_fft(r, a, 2, 1))", complex_.format("fft2", ", norm='ortho'"), tolerance=1e-3),
        *over("rfft", "f32", "1048576", "FRESH(THTensor_rfft(r, a, 1, 1, 1))", "torch.view_as_real(torch.fft.rfft(a, norm='ortho'))", tolerance=1e-3),
    ]


def more_windows():
    """Convolutions, pooling and transforms of one and of three dimensions, by uniform sizes, and their gradients."""
    line, plane, volume = "16x64x1000", "8x64x56x56", "2x16x16x32x32"
    one, two = "(int64_t[]){1}", "(int64_t[]){2}"

    def conv(op, shape, weight, thorn, torch, places, **given):
        flops = 2 * places * sizes(shape)[0] * prod(sizes(weight))
        return over(op, "f32", shape, f"FRESH(THTensor_{thorn})", torch, a=UNIT, b=UNIT.shaped(weight), **{"tolerance": 1e-3, "flops": flops, **given})

    def pool(op, shape, thorn, torch, **given):
        return over(op, "f32", shape, f"FRESH(THTensor_{thorn})", torch, tolerance=1e-3, **given)

    cube, row, square = "16x16x3x3x3", "64x64x3", "64x64x3x3"
    inside = 16 * 32 * 32
    rest = f"{two}, NULL, NULL, 0, 1, 0"
    return [
        *conv("convolution", plane, square, f"convolution(r, a, b, NULL, 1, NULL, {one}, NULL, 0, NULL, 1)", "torch.conv2d(a, b, None, 1, 1)", 56 * 56),
        *conv("conv3d 3x3x3", volume, cube, f"conv3d(r, a, b, NULL, 1, NULL, {one}, NULL, 1)", "torch.conv3d(a, b, None, 1, 1)", inside),
        *conv("transposed 1d", line, row, f"convTranspose1d(r, a, b, NULL, 1, NULL, {one}, NULL, 1, NULL)", "torch.conv_transpose1d(a, b, None, 1, 1)", 1000),
        *conv("transposed 3d", volume, cube, f"convTranspose3d(r, a, b, NULL, 1, NULL, {one}, NULL, 1, NULL)", "torch.conv_transpose3d(a, b, None, 1, 1)", inside),
        *pool("im2col", "8x16x56x56", f"im2col(r, a, 2, (int64_t[]){{3, 3}}, NULL, (int64_t[]){{1, 1}}, NULL)", "torch.nn.functional.unfold(a, 3, 1, 1)"),
        *pool("col2im", "8x144x3136", "col2im(r, a, 2, (int64_t[]){56, 56}, (int64_t[]){3, 3}, NULL, (int64_t[]){1, 1}, NULL)", "torch.nn.functional.fold(a, (56, 56), 3, 1, 1)"),
        *pool("fold", "16x333x4", "fold(r, a, 1, 3)", "torch.nn.functional.fold(a.mT, (1, 1000), (1, 4), stride=(1, 3)).view(16, 1000)"),
        *conv("conv2Dmul", "256x256", "5x5", 'conv2Dmul(r, 0, 1, a, b, 1, 1, "V", "X")', "torch.conv2d(a[None, None], b[None, None])[0, 0]", 252 * 252, flops=2 * 252 * 252 * 25),
        *conv("conv2Dcmul", "64x56x56", "64x3x3", 'conv2Dcmul(r, 0, 1, a, b, 1, 1, "V", "X")', "torch.conv2d(a[None], b[:, None], None, 1, 0, 1, 64)[0]", 54 * 54, flops=2 * 54 * 54 * 64 * 9),
        *conv("conv2Dger", "16x56x56", "16x3x3", 'conv2Dger(r, 0, 1, a, b, 1, 1, "V", "X")', "torch.conv2d(a[:, None], b[:, None]).transpose(0, 1).contiguous()", 54 * 54, flops=2 * 54 * 54 * 256 * 9),
        *conv("conv2DRevger", "16x56x56", "16x54x54", "conv2DRevger(r, 0, 1, a, b, 1, 1)", "torch.conv2d(a[:, None], b[:, None]).transpose(0, 1).contiguous()", 9, flops=2 * 54 * 54 * 256 * 9),
        *conv("conv2DRevgerm", "8x16x56x56", "8x16x54x54", "conv2DRevgerm(r, 0, 1, a, b, 1, 1)", "torch.conv2d(a.transpose(0, 1), b.transpose(0, 1)).transpose(0, 1).contiguous()", 9, flops=2 * 8 * 54 * 54 * 256 * 9),
        *conv("conv2Dmv", "64x56x56", square, 'conv2Dmv(r, 0, 1, a, b, 1, 1, "V", "X")', "torch.conv2d(a[None], b)[0]", 54 * 54, flops=2 * 54 * 54 * 4096 * 9),
        *conv("conv2Dmm", plane, square, 'conv2Dmm(r, 0, 1, a, b, 1, 1, "V", "X")', "torch.conv2d(a, b)", 54 * 54),
        *conv("conv3Dmul", "32x64x64", "3x3x3", 'conv3Dmul(r, 0, 1, a, b, 1, 1, 1, "V", "X")', "torch.conv3d(a[None, None], b[None, None])[0, 0]", 1, flops=2 * 30 * 62 * 62 * 27),
        *conv("conv3Dcmul", "16x16x32x32", "16x3x3x3", 'conv3Dcmul(r, 0, 1, a, b, 1, 1, 1, "V", "X")', "torch.conv3d(a[None], b[:, None], None, 1, 0, 1, 16)[0]", 1, flops=2 * 16 * 14 * 30 * 30 * 27),
        *conv("conv3Dger", "4x16x32x32", "4x3x3x3", 'conv3Dger(r, 0, 1, a, b, 1, 1, 1, "V", "X")', "torch.conv3d(a[:, None], b[:, None]).transpose(0, 1).contiguous()", 1, flops=2 * 16 * 14 * 30 * 30 * 27),
        *conv("conv3DRevger", "4x16x32x32", "4x14x30x30", "conv3DRevger(r, 0, 1, a, b, 1, 1, 1)", "torch.conv3d(a[:, None], b[:, None]).transpose(0, 1).contiguous()", 1, flops=2 * 16 * 14 * 30 * 30 * 27),
        *conv("conv3Dmv", "16x16x32x32", cube, 'conv3Dmv(r, 0, 1, a, b, 1, 1, 1, "V", "X")', "torch.conv3d(a[None], b)[0]", 1, flops=2 * 256 * 14 * 30 * 30 * 27),
        *pool("max pool 1d", line, f"maxPool1d(r, NULL, a, 1, {two}, NULL, NULL, NULL, 0)", "torch.max_pool1d(a, 2)"),
        *pool("max pool 3d", volume, f"maxPool3d(r, NULL, a, 1, {two}, NULL, NULL, NULL, 0)", "torch.max_pool3d(a, 2)"),
        *pool("max unpool", "8x64x28x28", "maxUnpool(r, a, i, 2, (int64_t[]){56, 56})", "torch.nn.functional.max_unpool2d(a, i, 2)", i=Operand(in_windows, (28,), "i64", "8x64x28x28")),
        *pool("avg pool 1d", line, f"avgPool1d(r, a, 1, {rest})", "torch.nn.functional.avg_pool1d(a, 2)"),
        *pool("avg pool 3d", volume, f"avgPool3d(r, a, 1, {rest})", "torch.nn.functional.avg_pool3d(a, 2)"),
        *pool("avg pool to input", plane, f"avgPoolGradInput(r, b, a, 2, (int64_t[]){{2, 2}}, NULL, NULL, 0, 1, 0)", "torch.ops.aten.avg_pool2d_backward(b, a, (2, 2), (2, 2), (0, 0), False, True, None)", b=UNIT.shaped("8x64x28x28")),
        *pool("adaptive max 1d", line, "adaptiveMaxPool1d(r, NULL, a, 1, (int64_t[]){100})", "torch.adaptive_max_pool1d(a, 100)[0]"),
        *pool("adaptive max 2d", plane, "adaptiveMaxPool2d(r, NULL, a, 2, (int64_t[]){7, 7})", "nn.adaptive_max_pool2d(a, (7, 7))[0]"),
        *pool("adaptive max 3d", volume, "adaptiveMaxPool3d(r, NULL, a, 3, (int64_t[]){4, 4, 4})", "nn.adaptive_max_pool3d(a, (4, 4, 4))[0]"),
        *pool("adaptive avg 1d", line, "adaptiveAvgPool1d(r, a, 1, (int64_t[]){100})", "torch.adaptive_avg_pool1d(a, 100)"),
        *pool("adaptive avg 3d", volume, "adaptiveAvgPool3d(r, a, 3, (int64_t[]){4, 4, 4})", "nn.adaptive_avg_pool3d(a, (4, 4, 4))"),
        *pool("adaptive avg to input", plane, "adaptiveAvgPoolGradInput(r, b, a, 2)", "torch.ops.aten._adaptive_avg_pool2d_backward(b, a)", b=UNIT.shaped("8x64x7x7")),
        *pool("bilinear by 2", "1x3x512x512", "interpolateFactor(r, a, 2, 2, TH_RESAMPLE_LINEAR, 0, 0)", "torch.nn.functional.interpolate(a, scale_factor=2, mode='bilinear')"),
        *pool("bilinear by 2 to input", "1x3x256x256", "interpolateGrad(r, b, a, 2, 0, TH_RESAMPLE_LINEAR, 0, 0)", "torch.ops.aten.upsample_bilinear2d_backward(b, (512, 512), (1, 3, 256, 256), False)", b=UNIT.shaped("1x3x512x512")),
    ]


def more_fourier():
    complex_ = "torch.view_as_real(torch.fft.{}(torch.view_as_complex(a), norm='ortho'))"
    return [
        *over("inverse fft", "f32 f64", "1048576x2", "FRESH(THTensor_ifft(r, a, 1, 1))", complex_.format("ifft"), tolerance=1e-2),
        *over("fft2", "f32", "1024x1024x2", "FRESH(THTensor_fft2(r, a))", "torch.view_as_real(torch.fft.fft2(torch.view_as_complex(a)))", tolerance=1e-1, checked=("none",)),
        *over("inverse fft2", "f32", "1024x1024x2", "FRESH(THTensor_ifft2(r, a))", "torch.view_as_real(torch.fft.ifft2(torch.view_as_complex(a)))", tolerance=1e-1, checked=("none",)),
        *over("inverse rfft", "f32", "524289x2", "FRESH(THTensor_irfft(r, a, 1, 1, 1, 0, NULL))", "torch.fft.irfft(torch.view_as_complex(a), norm='ortho')", tolerance=1e-2),
    ]
