"""Operations: samples between the pixels of images, and grids of affine maps."""

from torch.nn import functional as nn

from .convolution import distinct
from .operands import *
from .resample import AREA, CUBIC, LINEAR, NEAREST, precision

MODES = {NEAREST: "nearest", LINEAR: "bilinear", CUBIC: "bicubic"}
PADDINGS = {0: "zeros", 2: "border", 1: "reflection"}
CIRCULAR = 3

# The shapes of the images and of the grid without its coordinates.
CASES = [((2, 2, 4, 5), (2, 3, 4)), ((1, 2, 1, 3), (1, 2, 3)), ((2, 2, 3, 4, 2), (2, 1, 3, 2)), ((1, 70, 3, 2), (1, 1, 2))]


def grid(dtype, shape):
    """Places of which some are outside the image, and few close to a pixel or the middle between pixels."""
    count = torch.Size(shape).numel() * (len(shape) - 1)
    coordinates = [(k * 37 % 101) / 34 - 1.48 for k in range(count)]
    return tensor(f"grid.{dtype}.{'x'.join(map(str, shape))}", coordinates, dtype, (*shape, len(shape) - 1))


def sampled(shape, size, mode, padding, corners, dtype):
    t, places = distinct("sample", dtype, shape, 3), grid(dtype, size)
    x, at = t.value.double().requires_grad_(), places.value.double().requires_grad_()
    r = nn.grid_sample(x, at, mode=MODES[mode], padding_mode=PADDINGS[padding], align_corners=bool(corners))
    options = [mode, padding, corners]
    expect("gridSample", [R, t, places, *options], r.detach().to(t.value.dtype), **precision(dtype))
    g = tensor(f"sampled.{dtype}", (torch.arange(r.numel()) % 7 - 3).tolist(), dtype, r.shape)
    of_x, of_places = (part.to(t.value.dtype) for part in torch.autograd.grad(r, (x, at), g.value.double()))
    expect("gridSampleGrad", [MAYBE, NULL, g, t, places, *options], of_x, **precision(dtype))
    # Sums of products that cancel each other.
    rounding = {"float64": 1e-9, "float32": 0.02, "float16": 2, "bfloat16": 16}[dtype]
    expect("gridSampleGrad", [NULL, MAYBE, g, t, places, *options], of_places, ulps=4, more=f"unsigned abs={rounding:g}")


def mapped(dtype):
    for shape, sizes in (((2, 2, 3), (3, 4)), ((1, 3, 4), (2, 1, 3)), ((0, 2, 3), (2, 2))):
        theta = distinct("theta", dtype, shape, 5)
        for corners in (0, 1):
            want = nn.affine_grid(theta.value.double(), (max(shape[0], 1), 1, *sizes), bool(corners)) if shape[0] else torch.zeros(0, *sizes, shape[1])
            expect("affineGrid", [R, theta, len(sizes), [*sizes], corners], want.to(theta.value.dtype), **precision(dtype))


def rows():
    for dtype in FLOATS:
        for shape, size in CASES:
            for mode in MODES:
                if (mode == CUBIC and len(shape) == 5) or (mode != LINEAR and shape[1] == 70):
                    continue
                for padding in PADDINGS:
                    for corners in (0, 1):
                        if dtype in ("float32", "float64") or (shape[0] == 2 and corners == 0):
                            sampled(shape, size, mode, padding, corners, dtype)
        mapped(dtype)
    t = distinct("sample", "float32", (1, 1, 2, 3), 3)
    # PyTorch's result at a NaN depends on the path that it chooses, and so does a result at an infinite place.
    special = tensor("grid.special", [NAN, 0, 0, NAN, INF, 0, 0, -INF], "float32", (1, 2, 2, 2))
    nothing = torch.tensor([[[[NAN, NAN], [0.0, 0.0]]]])
    for mode in (NEAREST, LINEAR):
        expect("gridSample", [R, t, special, mode, 0, 0], nothing)
    # An infinite place at the edge is the pixel there: coordinates x, then y.
    corner = tensor("grid.corner", [INF, -INF, -INF, INF], "float32", (1, 1, 2, 2))
    expect("gridSample", [R, t, corner, LINEAR, 2, 1], torch.stack([t.value[0, 0, 0, 2], t.value[0, 0, 1, 0]]).reshape(1, 1, 1, 2))
    none = distinct("sample", "float32", (0, 2, 3, 3), 3)
    expect("gridSample", [R, none, tensor("grid.none", [], "float32", (0, 2, 2, 2)), LINEAR, 0, 0], torch.zeros(0, 2, 2, 2))
    expect("gridSample", [R, t, tensor("grid.nowhere", [], "float32", (1, 0, 2, 2)), LINEAR, 0, 0], torch.zeros(1, 1, 0, 2))
    places, wide = grid("float32", (1, 2, 2)), grid("float64", (1, 2, 2))
    volume, inside = distinct("sample", "float32", (1, 1, 2, 2, 2), 3), grid("float32", (1, 1, 2, 2))
    whole = distinct("sample", "int32", (1, 1, 2, 3), 3)
    wrong = [
        ("gridSample", [R, t, places, AREA, 0, 0], ERR_ARGUMENT),
        ("gridSample", [R, t, places, LINEAR, CIRCULAR, 0], ERR_ARGUMENT),
        ("gridSample", [R, volume, inside, CUBIC, 0, 0], ERR_ARGUMENT),
        ("gridSample", [R, volume, places, LINEAR, 0, 0], ERR_SHAPE),
        ("gridSample", [R, t, PLAIN["float32"], LINEAR, 0, 0], ERR_SHAPE),
        ("gridSample", [R, distinct("sample", "float32", (1, 1, 0, 3), 3), places, LINEAR, 0, 0], ERR_SHAPE),
        ("gridSample", [R, t, wide, LINEAR, 0, 0], ERR_DTYPE),
        ("gridSample", [R, whole, whole, LINEAR, 0, 0], ERR_DTYPE),
        ("gridSampleGrad", [R, R, t, t, places, LINEAR, 0, 0], ERR_SHAPE),
        ("affineGrid", [R, distinct("theta", "float32", (2, 2, 3), 5), 3, [2, 2, 2], 0], ERR_SHAPE),
        ("affineGrid", [R, distinct("theta", "float32", (2, 2, 3), 5), 2, [2, 0], 0], ERR_ARGUMENT),
        ("affineGrid", [R, distinct("theta", "float32", (2, 2, 3), 5), 1, [2], 0], ERR_ARGUMENT),
        ("affineGrid", [R, distinct("theta", "int32", (2, 2, 3), 5), 2, [2, 2], 0], ERR_DTYPE),
    ]
    for name, arguments, status in wrong:
        refuse(name, arguments, status)
