"""Operations: images resampled to other sizes, and rearranged between channels and pixels."""

from torch.nn import functional as nn

from .convolution import distinct
from .operands import *

# The names of torch.nn.functional.interpolate, by the number of image dimensions where they differ.
MODES = {
    "TH_RESAMPLE_NEAREST": "nearest",
    "TH_RESAMPLE_NEAREST_EXACT": "nearest-exact",
    "TH_RESAMPLE_LINEAR": {1: "linear", 2: "bilinear", 3: "trilinear"},
    "TH_RESAMPLE_CUBIC": {2: "bicubic"},
    "TH_RESAMPLE_AREA": "area",
}
NEAREST, EXACT, LINEAR, CUBIC, AREA = range(5)
NAMES = list(MODES.values())

# The shape of the images, sizes of the result, and methods with the flags alignCorners and antialias.
PLAIN_METHODS = [(NEAREST, 0, 0), (EXACT, 0, 0), (LINEAR, 0, 0), (LINEAR, 1, 0), (AREA, 0, 0)]
SMOOTH_METHODS = [(LINEAR, 0, 1), (LINEAR, 1, 1), (CUBIC, 0, 0), (CUBIC, 1, 0), (CUBIC, 0, 1), (CUBIC, 1, 1)]
CASES = [
    ((2, 3, 9), (6,), PLAIN_METHODS),
    ((1, 2, 7), (1,), PLAIN_METHODS),
    ((2, 3, 6, 7), (9, 5), PLAIN_METHODS + SMOOTH_METHODS),
    ((1, 2, 6, 37), (3, 80), PLAIN_METHODS + SMOOTH_METHODS),
    ((1, 1, 5, 4), (5, 4), PLAIN_METHODS + SMOOTH_METHODS),
    ((1, 1, 1, 3), (4, 1), PLAIN_METHODS + SMOOTH_METHODS),
    ((1, 2, 3, 1100), (2, 1100), [(LINEAR, 0, 0), (LINEAR, 0, 1), (CUBIC, 0, 0)]),
    ((1, 2, 4, 5, 3), (3, 8, 4), PLAIN_METHODS),
]


def resize(t, mode, corners, antialias, **sizes):
    """PyTorch's result. The flags are None where PyTorch allows no value."""
    name = NAMES[mode] if isinstance(NAMES[mode], str) else NAMES[mode][t.ndim - 2]
    smooth = mode in (LINEAR, CUBIC)
    return nn.interpolate(t, mode=name, align_corners=bool(corners) if smooth else None, antialias=bool(antialias), **sizes)


def precision(dtype):
    """The weights of float32 are rounded."""
    return {"ulps": 2, "more": "unsigned abs=%g" % {"float64": 1e-12, "float32": 3e-5, "float16": 3e-2, "bfloat16": 0.25}[dtype]}


def resampled(shape, sizes, method, dtype):
    t, ndim = distinct("resample", dtype, shape, 3), len(sizes)
    x = t.value.double().requires_grad_()
    r = resize(x, *method, size=sizes)
    if dtype == "uint8":
        # Numbers in the middle of two integers are rounded to either.
        wanted = r.detach().clamp(0, 255).round().to(torch.uint8)
        if ((r - r.floor() - 0.5).abs() > 1e-6).all():
            expect("interpolate", [R, t, ndim, [*sizes], *method], wanted)
        return
    expect("interpolate", [R, t, ndim, [*sizes], *method], r.detach().to(t.value.dtype), **precision(dtype))
    g = tensor(f"resampled.{dtype}", (torch.arange(r.numel()) % 7 - 3).tolist(), dtype, r.shape)
    of_x = torch.autograd.grad(r, x, g.value.double())[0].to(t.value.dtype)
    expect("interpolateGrad", [R, g, t, ndim, 0, *method], of_x, **precision(dtype))


def by_factor(shape, factor, method, dtype):
    t, ndim = distinct("resample", dtype, shape, 4), len(shape) - 2
    x = t.value.double().requires_grad_()
    r = resize(x, *method, scale_factor=factor)
    expect("interpolateFactor", [R, t, ndim, factor, *method], r.detach().to(t.value.dtype), **precision(dtype))
    g = tensor(f"resampled.{dtype}", (torch.arange(r.numel()) % 7 - 3).tolist(), dtype, r.shape)
    of_x = torch.autograd.grad(r, x, g.value.double())[0].to(t.value.dtype)
    expect("interpolateGrad", [R, g, t, ndim, factor, *method], of_x, **precision(dtype))


def shuffled(dtype):
    for shape, factor in (((2, 8, 3, 2), 2), ((9, 2, 2), 3), ((1, 2, 3, 4), 1), ((0, 4, 2, 2), 2)):
        t = distinct("shuffle", dtype, shape, 5)
        expect("pixelShuffle", [R, t, factor], nn.pixel_shuffle(t.value, factor))
    for shape, factor in (((2, 2, 6, 4), 2), ((1, 3, 9), 3)):
        t = distinct("shuffle", dtype, shape, 6)
        expect("pixelUnshuffle", [R, t, factor], nn.pixel_unshuffle(t.value, factor))
    # PyTorch leaves the shape of images without elements unchanged.
    nothing = distinct("shuffle", dtype, (0, 1, 2, 2), 6)
    expect("pixelUnshuffle", [R, nothing, 2], nothing.value.reshape(0, 4, 1, 1))
    for shape, groups in (((2, 6, 3, 2), 3), ((1, 8, 5), 2), ((3, 4), 4), ((2, 3, 2), 1)):
        t = distinct("shuffle", dtype, shape, 7)
        want = t.value.reshape(shape[0], groups, shape[1] // groups, *shape[2:]).transpose(1, 2).reshape(shape)
        expect("channelShuffle", [R, t, groups], want)


def rows():
    for dtype in [*FLOATS, "uint8"]:
        for shape, sizes, methods in CASES:
            for method in methods if dtype in ("float32", "float64") or shape[0] == 2 else methods[2:3]:
                resampled(shape, sizes, method, dtype)
    for dtype in FLOATS:
        for factor, method in ((2, (NEAREST, 0, 0)), (1.5, (EXACT, 0, 0)), (1.3, (LINEAR, 0, 0)), (0.6, (CUBIC, 0, 0)), (0.45, (LINEAR, 0, 1)), (2.5, (AREA, 0, 0))):
            by_factor((2, 3, 6, 7), factor, method, dtype)
    for dtype in NUMBERS:
        shuffled(dtype)
    # Only the pixels of a sum are infinite, because terms of weight 0 are left out.
    bright = tensor("bright", [1, INF, 2, 3], "float32", (1, 1, 4))
    expect("interpolate", [R, bright, 1, [4], LINEAR, 0, 0], bright.value)
    expect("interpolate", [R, bright, 1, [2], NEAREST, 0, 0], torch.tensor([[[1.0, 2.0]]]))
    t, whole = distinct("resample", "float32", (2, 3, 6, 7), 3), distinct("resample", "int32", (2, 3, 6, 7), 3)
    wrong = [
        ("interpolate", [R, t, 2, [0, 3], LINEAR, 0, 0], ERR_ARGUMENT),
        ("interpolate", [R, t, 2, [3, 3], 5, 0, 0], ERR_ARGUMENT),
        ("interpolate", [R, t, 2, [3, 3], NEAREST, 1, 0], ERR_ARGUMENT),
        ("interpolate", [R, t, 2, [3, 3], AREA, 0, 1], ERR_ARGUMENT),
        ("interpolate", [R, t, 0, [], LINEAR, 0, 0], ERR_ARGUMENT),
        ("interpolate", [R, PLAIN["float32"], 2, [3, 3], LINEAR, 0, 0], ERR_SHAPE),
        ("interpolate", [R, whole, 2, [3, 3], LINEAR, 0, 0], ERR_DTYPE),
        ("interpolate", [R, distinct("resample", "float32", (1, 2, 0, 3), 3), 2, [3, 3], LINEAR, 0, 0], ERR_SHAPE),
        ("interpolateFactor", [R, t, 2, 0, LINEAR, 0, 0], ERR_ARGUMENT),
        ("interpolateFactor", [R, t, 2, -1, LINEAR, 0, 0], ERR_ARGUMENT),
        ("interpolateFactor", [R, t, 2, NAN, LINEAR, 0, 0], ERR_ARGUMENT),
        ("interpolateFactor", [R, t, 2, 0.1, LINEAR, 0, 0], ERR_ARGUMENT),
        ("interpolateGrad", [R, PLAIN["float32"], t, 2, 0, LINEAR, 0, 0], ERR_SHAPE),
        ("interpolateGrad", [R, whole, whole, 2, 0, LINEAR, 0, 0], ERR_DTYPE),
        ("pixelShuffle", [R, t, 2], ERR_SHAPE),
        ("pixelShuffle", [R, t, 0], ERR_SHAPE),
        ("pixelShuffle", [R, PLAIN["float32"], 1], ERR_SHAPE),
        ("pixelUnshuffle", [R, t, 2], ERR_SHAPE),
        ("channelShuffle", [R, t, 2], ERR_ARGUMENT),
        ("channelShuffle", [R, t, 0], ERR_ARGUMENT),
        ("channelShuffle", [R, distinct("resample", "float32", (3,), 3), 1], ERR_SHAPE),
    ]
    for name, arguments, status in wrong:
        refuse(name, arguments, status)
