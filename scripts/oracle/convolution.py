"""Operations: convolution with its gradients, Torch7's convolutions, windows as columns, pooling, and Fourier transforms."""

import itertools

import numpy
from torch.nn import functional as nn

from .operands import *

CONV = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}
TRANSPOSED = {1: nn.conv_transpose1d, 2: nn.conv_transpose2d, 3: nn.conv_transpose3d}
V, F, X, C = Raw('"V"'), Raw('"F"'), Raw('"X"'), Raw('"C"')


def small(name, dtype, shape, seed):
    """Numbers whose products and sums are exact."""
    return random(f"{name}.{dtype}.{'x'.join(map(str, shape))}.{seed}", dtype, shape, seed, 7 if dtype == "uint8" else 9, 0 if dtype == "uint8" else -4, 1)


def rounded(value, dtype):
    """Converts a result that was computed exactly in float64. Integers wrap."""
    return value.to(getattr(torch, dtype)) if dtype in FLOATS else value.round().long().to(getattr(torch, dtype))


def listed(*lists):
    """The length of the lists, and the lists with a number for each dimension. A list of one number applies to all dimensions."""
    return [max(len(x) for x in lists if x is not None), *(NULL if x is None else [*x] for x in lists)]


def filled(x, default, count):
    """Returns the numbers of a list for each dimension."""
    return (default,) * count if x is None else tuple(x) * (count if len(x) == 1 else 1)


# Sizes of the input and of the weight, stride, padding, dilation and groups. The lists of one case have the same length, or are NULL.
CASES = [
    ((2, 3, 5, 6), (4, 3, 3, 2), (1,), (0,), (1,), 1),
    ((2, 4, 6, 5), (6, 2, 3, 3), (2, 1), (1, 2), (1, 2), 2),
    ((3, 5, 5), (2, 3, 2, 2), None, None, None, 1),
    ((2, 4, 6, 7), (4, 1, 3, 3), None, (1,), None, 4),
    ((1, 3, 6, 9), (6, 1, 3, 2), (2,), (1,), (2,), 3),
    ((2, 3, 4, 5), (5, 3, 1, 1), None, None, None, 1),
    ((1, 3, 4, 5), (2, 3, 1, 1), (2,), (1,), None, 1),
    ((0, 3, 5, 5), (2, 3, 3, 3), None, (1,), None, 1),
    ((1, 2, 2, 2), (3, 2, 5, 5), (3,), (4,), None, 1),
    ((2, 3, 11), (4, 3, 4), (2,), (2,), (2,), 1),
    ((2, 9), (3, 2, 2), None, None, None, 1),
    ((2, 2, 4, 5, 4), (3, 2, 2, 3, 2), (1, 2, 1), (0, 1, 1), (2, 1, 1), 1),
    ((1, 4, 3, 4, 5), (4, 2, 2, 2, 3), (2,), (1,), None, 2),
]
# Several tiles of windows, channels and taps.
LARGE = [
    ((1, 40, 9, 13), (70, 40, 3, 3), None, (1,), None, 1),
    ((2, 5, 301), (3, 5, 4), (2,), (3,), None, 1),
    ((3, 6, 17, 19), (280, 6, 1, 1), None, None, None, 1),
    ((1, 2, 25, 23), (2, 2, 13, 21), None, (6,), None, 1),
    ((2, 34, 12, 9), (34, 1, 3, 3), None, (1,), None, 34),
]


def gradients(f, x, w):
    """The result, a gradient of it, and the gradients of input and weight."""
    x, w = (t.double().requires_grad_() for t in (x, w))
    result = f(x, w)
    grad = torch.arange(result.numel(), dtype=torch.float64).reshape(result.shape) * 5 % 7 - 3
    return (grad, *torch.autograd.grad(result, (x, w), grad)) if result.numel() else (grad, torch.zeros_like(x), torch.zeros_like(w))


def one(case, dtype, every):
    of_x, of_w, stride, padding, dilation, groups = case
    x, w = small("conv", dtype, of_x, 3), small("conv", dtype, of_w, 5)
    ndim = len(of_w) - 2
    of = filled(stride, 1, ndim), filled(padding, 0, ndim), filled(dilation, 1, ndim)
    bias = small("conv", dtype, of_w[:1], 11)
    lists = listed(stride, padding, dilation) if stride or padding or dilation else [0, NULL, NULL, NULL]

    def f(x, w, bias=None):
        return CONV[ndim](x.double(), w.double(), bias and bias.value.double(), *of, groups)

    plain = rounded(f(x.value, w.value), dtype)
    expect(f"conv{ndim}d", [R, x, w, NULL, *lists, groups], plain, every=every)
    expect("convolution", [R, x, w, bias, *lists, 0, NULL, groups], rounded(f(x.value, w.value, bias), dtype), every=every)
    grad, of_input, of_weight = gradients(f, x.value, w.value)
    if dtype == "uint8":
        return
    grad = tensor(f"grad.{dtype}", grad.flatten().tolist(), dtype, grad.shape)
    expect("convolutionGradInput", [R, grad, w, x, *lists, 0, NULL, groups], rounded(of_input, dtype), every=every)
    expect("convolutionGradWeight", [R, grad, x, w, *lists, 0, NULL, groups], rounded(of_weight, dtype), every=every)
    dims = [0, *range(2, 2 + ndim)] if len(of_x) == ndim + 2 else [*range(1, ndim + 1)]
    expect("convolutionGradBias", [R, grad, ndim], rounded(grad.value.double().sum(dims), dtype))


# Sizes of the input and of the weight, stride, padding, output padding, groups and dilation.
TRANSPOSED_CASES = [
    ((2, 4, 3, 4), (4, 3, 3, 2), None, None, None, 1, None),
    ((2, 4, 3, 4), (4, 3, 3, 3), (2,), (1,), (1,), 2, (1,)),
    ((1, 2, 3, 3), (2, 3, 2, 3), (3, 1), (1, 0), (2, 1), 1, (1, 2)),
    ((3, 4, 4), (3, 2, 1, 1), None, None, None, 1, None),
    ((2, 4, 5, 5), (4, 1, 3, 3), (2,), (1,), (0,), 4, None),
    ((0, 2, 3, 3), (2, 2, 2, 2), None, None, None, 1, None),
    ((2, 3, 6), (3, 2, 4), (3,), (1,), (2,), 1, None),
    ((1, 2, 3, 2, 3), (2, 4, 2, 2, 2), (2,), (1,), (1,), 1, None),
    ((2, 2, 3, 4), (2, 3, 1, 1), None, None, (1, 2), 1, (2, 3)),
]
TRANSPOSED_LARGE = [
    ((1, 140, 7, 15), (140, 33, 3, 3), (2,), (1,), (1,), 1, None),
    ((1, 2, 5, 5), (2, 3, 17, 19), None, (3,), None, 1, None),
]


def transposed(case, dtype, every):
    of_x, of_w, stride, padding, more, groups, dilation = case
    x, w = small("conv", dtype, of_x, 7), small("conv", dtype, of_w, 13)
    ndim = len(of_w) - 2
    of = filled(stride, 1, ndim), filled(padding, 0, ndim), filled(more, 0, ndim), groups, filled(dilation, 1, ndim)
    bias = small("conv", dtype, (of_w[1] * groups,), 17)
    given = [x for x in (stride, padding, more, dilation) if x]
    count = max(map(len, given), default=0)
    stride, padding, more, dilation = (NULL if x is None else [*x] for x in (stride, padding, more, dilation))

    def f(x, w, bias=None):
        return TRANSPOSED[ndim](x.double(), w.double(), bias and bias.value.double(), *of)

    expect(f"convTranspose{ndim}d", [R, x, w, bias, count, stride, padding, more, groups, dilation], rounded(f(x.value, w.value, bias), dtype), every=every)
    lists = [count, stride, padding, dilation, 1, more, groups]
    expect("convolution", [R, x, w, NULL, *lists], rounded(f(x.value, w.value), dtype), every=every)
    grad, of_input, of_weight = gradients(f, x.value, w.value)
    if dtype != "uint8":
        grad = tensor(f"grad.{dtype}", grad.flatten().tolist(), dtype, grad.shape)
        expect("convolutionGradInput", [R, grad, w, x, *lists], rounded(of_input, dtype), every=every)
        expect("convolutionGradWeight", [R, grad, x, w, *lists], rounded(of_weight, dtype), every=every)


def convolutions():
    for dtype in NUMBERS:
        cases = CASES if dtype in ("float32", "int64") else CASES[:2] + CASES[3:4]
        for case in cases:
            one(case, dtype, 1)
        for case in LARGE if dtype in ("float32", "float64", "int32") else []:
            one(case, dtype, 31)
        for case in TRANSPOSED_CASES if dtype in ("float32", "int64") else TRANSPOSED_CASES[1:2]:
            transposed(case, dtype, 1)
        for case in TRANSPOSED_LARGE if dtype in ("float64", "int32") else []:
            transposed(case, dtype, 31)
    x, w = small("conv", "float32", (2, 3, 5, 6), 3), small("conv", "float32", (4, 3, 3, 2), 5)
    y = small("conv", "float32", (2, 4, 3, 4), 7)
    wrong = [
        ("conv2d", [R, x, small("conv", "float64", (4, 3, 3, 2), 5), NULL, 0, NULL, NULL, NULL, 1], ERR_DTYPE),
        ("conv2d", [R, PLAIN["bool"], PLAIN["bool"], NULL, 0, NULL, NULL, NULL, 1], ERR_SHAPE),
        ("conv1d", [R, x, w, NULL, 0, NULL, NULL, NULL, 1], ERR_SHAPE),
        ("conv2d", [R, x, w, NULL, 1, [0], NULL, NULL, 1], ERR_ARGUMENT),
        ("conv2d", [R, x, w, NULL, 1, NULL, [-1], NULL, 1], ERR_ARGUMENT),
        ("conv2d", [R, x, w, NULL, 1, NULL, NULL, [0], 1], ERR_ARGUMENT),
        ("conv2d", [R, x, w, NULL, 3, [1, 1, 1], NULL, NULL, 1], ERR_ARGUMENT),
        ("conv2d", [R, x, w, NULL, 1, NULL, NULL, [3], 1], ERR_SHAPE),
        ("conv2d", [R, x, w, NULL, 0, NULL, NULL, NULL, 2], ERR_SHAPE),
        ("conv2d", [R, x, w, NULL, 0, NULL, NULL, NULL, 3], ERR_ARGUMENT),
        ("conv2d", [R, x, w, NULL, 0, NULL, NULL, NULL, 0], ERR_ARGUMENT),
        ("conv2d", [R, x, w, small("conv", "float32", (3,), 2), 0, NULL, NULL, NULL, 1], ERR_SHAPE),
        ("conv2d", [R, x, PLAIN["float32"], NULL, 0, NULL, NULL, NULL, 1], ERR_SHAPE),
        ("convTranspose2d", [R, y, w, NULL, 1, [2], NULL, [2], 1, NULL], ERR_ARGUMENT),
        ("convTranspose2d", [R, y, w, NULL, 1, NULL, [9], NULL, 1, NULL], ERR_SHAPE),
        ("convolutionGradInput", [R, x, w, x, 0, NULL, NULL, NULL, 0, NULL, 1], ERR_SHAPE),
        ("convolutionGradWeight", [R, x, x, w, 0, NULL, NULL, NULL, 0, NULL, 1], ERR_SHAPE),
        ("convolutionGradBias", [R, x, 4], ERR_ARGUMENT),
        ("convolutionGradBias", [R, PLAIN["float32"], 2], ERR_SHAPE),
    ]
    for name, arguments, status in wrong:
        refuse(name, arguments, status)


def columns():
    for dtype in NUMBERS:
        for shape, kernel, stride, padding, dilation in (
            ((2, 3, 5, 6), (2, 3), (1, 2), (1, 0), (2, 1)),
            ((2, 4, 4), (3, 3), None, None, None),
            ((0, 2, 4, 4), (2, 2), None, None, None),
        ):
            x = small("columns", dtype, shape, 3)
            of = filled(dilation, 1, 2), filled(padding, 0, 2), filled(stride, 1, 2)
            lists = [NULL if l is None else [*l] for l in (stride, padding, dilation)]
            unrolled = nn.unfold(x.value.double(), kernel, *of)
            expect("im2col", [R, x, 2, [*kernel], *lists], rounded(unrolled, dtype))
            y = tensor(f"unrolled.{dtype}", (unrolled % 5).flatten().tolist(), dtype, unrolled.shape)
            expect("col2im", [R, y, 2, [*shape[-2:]], [*kernel], *lists], rounded(nn.fold(y.value.double(), shape[-2:], kernel, *of), dtype))
        line = small("columns", dtype, (2, 3, 9), 5)
        expect("im2col", [R, line, 1, [4], [2], NULL, NULL], rounded(line.value.double().unfold(2, 4, 2).transpose(2, 3).reshape(2, 12, 3), dtype))
    x = small("columns", "float32", (2, 3, 5, 6), 3)
    refuse("im2col", [R, x, 2, [6, 1], NULL, NULL, NULL], ERR_SHAPE)
    refuse("im2col", [R, x, 2, [0, 1], NULL, NULL, NULL], ERR_ARGUMENT)
    refuse("im2col", [R, x, 4, [1, 1, 1, 1], NULL, NULL, NULL], ERR_SHAPE)
    refuse("col2im", [R, SMALL["float32"], 2, [4, 4], [2, 2], NULL, NULL, NULL], ERR_SHAPE)


# Torch7's convolutions, by definition.


def plane(t, k, steps, full, convolves):
    """One image and one kernel."""
    ndim = t.dim()
    if full != convolves:
        k = k.flip([*range(ndim)])
    if full:
        return TRANSPOSED[ndim](t[None, None], k[None, None], stride=steps)[0, 0]
    return CONV[ndim](t[None, None], k[None, None], stride=steps)[0, 0]


def spread_taps(t, k, steps):
    return CONV[t.dim()](t[None, None], k[None, None], dilation=steps)[0, 0]


def stacked(f, *sizes):
    """The images whose elements are `f` of their indices."""
    images = [f(*i) for i in itertools.product(*map(range, sizes))]
    return torch.stack(images).reshape(*sizes, *images[0].shape)


PAIRS = {
    "mul": ((), (), lambda f, t, k: f(t, k)),
    "cmul": ((3,), (3,), lambda f, t, k: stacked(lambda p: f(t[p], k[p]), 3)),
    "ger": ((2,), (3,), lambda f, t, k: stacked(lambda o, p: f(t[p], k[o]), 3, 2)),
    "mv": ((3,), (2, 3), lambda f, t, k: stacked(lambda o: sum(f(t[p], k[o, p]) for p in range(3)), 2)),
    "mm": ((2, 3), (4, 3), lambda f, t, k: stacked(lambda n, o: sum(f(t[n, p], k[o, p]) for p in range(3)), 2, 4)),
}
MAP = [(1, 2), (2, 1), (3, 2)]


def by_map(f, t, k):
    images = [f(t[a - 1], k[n]) for n, (a, _) in enumerate(MAP)]
    return torch.stack([sum((image for image, (_, to) in zip(images, MAP) if to == o), torch.zeros_like(images[0])) for o in (1, 2, 3)])


def torch7(ndim, dtype):
    of_t, of_k, steps = ((5, 6), (3, 2), (2, 1)) if ndim == 2 else ((4, 5, 4), (2, 3, 2), (1, 2, 1))
    word = f"conv{ndim}D"
    pairs = {**PAIRS, "map": ((3,), (3,), by_map)}
    if ndim == 3:
        del pairs["mm"]
    map_ = tensor(f"map.{dtype}", [x for pair in MAP for x in pair], "int64", (3, 2))
    for name, (lead_t, lead_k, pair) in pairs.items():
        t, k = small("planes", dtype, lead_t + of_t, 3), small("kernels", dtype, lead_k + of_k, 5)
        for full, convolves in itertools.product((False, True), (False, True)):
            modes = [*steps, F if full else V, C if convolves else X]
            made = pair(lambda t, k: plane(t, k, steps, full, convolves), t.value.double(), k.value.double())
            operands = [t, k, map_] if name == "map" else [t, k]
            expect(word + name, [R, 0, 1, *operands, *modes], rounded(made, dtype))
            if full or dtype in ("uint8", "int8", "bfloat16", "float16"):
                continue
            start = small("start", dtype, made.shape, 7)
            expect(word + name, [Start(start), 2, 3, *operands, *modes], rounded(2 * start.value.double() + 3 * made, dtype))
            expect(word + name, [R, 2, -1, *operands, *modes], rounded(-made, dtype), options="fresh unsigned")
    t, k = small("planes", dtype, (2, *of_t), 3), small("kernels", dtype, (3, *of_k), 5)
    steps = (1, 2) if ndim == 2 else (2, 1, 2)
    made = stacked(lambda o, p: spread_taps(t.value[p].double(), k.value[o].double(), steps), 3, 2)
    expect(word + "Revger", [R, 0, 1, t, k, *steps], rounded(made, dtype))
    if ndim == 2:
        t, k = small("planes", dtype, (2, 3, *of_t), 3), small("kernels", dtype, (2, 4, *of_k), 5)
        made = stacked(lambda o, p: sum(spread_taps(t.value[n, p].double(), k.value[n, o].double(), steps) for n in range(2)), 4, 3)
        expect("conv2DRevgerm", [R, 0, 1, t, k, *steps], rounded(made, dtype))


def planes():
    for ndim, dtype in itertools.product((2, 3), NUMBERS):
        if ndim == 2 or dtype in ("float32", "int32"):
            torch7(ndim, dtype)
    t, k = small("planes", "float32", (5, 6), 3), small("kernels", "float32", (3, 2), 5)
    expect("conv2Dmul", [R, 0, 0.5, t, k, 1, 1, V, X], plane(t.value.double(), k.value.double(), (1, 1), False, False).mul(0.5).float())
    refuse("conv2Dmul", [R, 0, 1, k, t, 1, 1, V, X], ERR_SHAPE)
    refuse("conv2Dmul", [R, 0, 1, t, k, 0, 1, V, X], ERR_ARGUMENT)
    refuse("conv2Dmul", [R, 0, 1, t, k, 1, 1, X, X], ERR_ARGUMENT)
    refuse("conv2Dmul", [R, 0, 1, t, k, 1, 1, V, V], ERR_ARGUMENT)
    refuse("conv2Dcmul", [R, 0, 1, t, k, 1, 1, V, X], ERR_SHAPE)
    whole = small("planes", "int32", (5, 6), 3)
    refuse("conv2Dmul", [R, 0, 0.5, whole, small("kernels", "int32", (3, 2), 5), 1, 1, V, X])
    images, kernels = small("planes", "float32", (3, 5, 6), 3), small("kernels", "float32", (3, 3, 2), 5)
    refuse("conv2Dmap", [R, 0, 1, images, kernels, tensor("map.bad", [1, 1, 2, 4, 3, 3], "int64", (3, 2)), 1, 1, V, X], ERR_ARGUMENT)
    refuse("conv2Dmap", [R, 0, 1, images, kernels, tensor("map.short", [1, 1], "int64", (1, 2)), 1, 1, V, X], ERR_SHAPE)


# Pooling.

MAX = {1: nn.max_pool1d, 2: nn.max_pool2d, 3: nn.max_pool3d}
AVG = {1: nn.avg_pool1d, 2: nn.avg_pool2d, 3: nn.avg_pool3d}
ADAPTIVE_MAX = {1: nn.adaptive_max_pool1d, 2: nn.adaptive_max_pool2d, 3: nn.adaptive_max_pool3d}
ADAPTIVE_AVG = {1: nn.adaptive_avg_pool1d, 2: nn.adaptive_avg_pool2d, 3: nn.adaptive_avg_pool3d}
UNPOOL = {1: nn.max_unpool1d, 2: nn.max_unpool2d, 3: nn.max_unpool3d}

# Sizes, kernel, stride, padding, dilation, whether rounded up.
POOLS = [
    ((2, 3, 6, 7), (2,), None, None, None, 0),
    ((2, 3, 6, 7), (3, 2), (2, 1), (1, 1), (1, 2), 0),
    ((2, 7, 7), (3,), (2,), (1,), None, 1),
    ((1, 2, 6, 37), (3,), (1,), (1,), None, 0),
    ((1, 2, 5, 20), (2,), (3,), None, None, 1),
    ((2, 2, 9), (3,), (2,), (1,), (2,), 1),
    ((2, 9), (2,), None, None, None, 0),
    ((1, 2, 4, 5, 6), (2, 3, 2), (1, 2, 2), (1, 1, 0), None, 0),
    ((0, 2, 4, 4), (2,), None, None, None, 0),
]


def distinct(name, dtype, shape, seed):
    """Numbers of both signs, few of which are equal."""
    return random(f"{name}.{dtype}.{'x'.join(map(str, shape))}", dtype, shape, seed, 101, 0 if dtype == "uint8" else -50, 1)


def image_dims(shape, kernel):
    """Images have all dimensions of the shape, except channels and a batch of at most 2."""
    return {2: 1, 3: 2 if shape[1] > 2 else 1, 4: 2, 5: 3}[len(shape)]


def pool(case, dtype):
    shape, kernel, stride, padding, dilation, ceil = case
    t = distinct("pool", dtype, shape, 3)
    ndim = image_dims(shape, kernel)
    of = [filled(kernel, 1, ndim), filled(stride or kernel, 1, ndim), filled(padding, 0, ndim)]
    lists = [NULL if l is None else [*l] for l in (kernel, stride, padding, dilation)]
    count = len(kernel)
    if shape[0]:
        values, places = MAX[ndim](t.value.double(), *of, filled(dilation, 1, ndim), ceil_mode=bool(ceil), return_indices=True)
    else:
        values = places = torch.zeros(*shape[:2], *(n // kernel[0] for n in shape[2:]))
    expect(f"maxPool{ndim}d", [R, MAYBE, t, count, *lists, ceil], rounded(values, dtype), places.long())
    grad = tensor(f"pooled.{dtype}", (torch.arange(values.numel()) % 5).tolist(), dtype, values.shape)
    index = tensor(f"places.{dtype}", places.flatten().long().tolist(), "int64", places.shape)
    added = torch.zeros(*shape[:-ndim], math.prod(shape[-ndim:]), dtype=torch.float64)
    added.scatter_add_(-1, index.value.flatten(-ndim), grad.value.double().flatten(-ndim))
    expect("maxPoolGradInput", [R, grad, index, t, ndim], rounded(added.reshape(shape), dtype))
    if dtype not in FLOATS or not shape[0]:
        return
    for padded, divisor in ((0, 0), (1, 0), (0, 3)):
        x = t.value.double().requires_grad_()
        if divisor and ndim == 1:
            continue
        more = {"divisor_override": divisor} if divisor else {}
        mean = AVG[ndim](x, *of, ceil_mode=bool(ceil), count_include_pad=bool(padded), **more)
        arguments = [count, *lists[:3], ceil, padded, divisor]
        expect(f"avgPool{ndim}d", [R, t, *arguments], mean.detach().to(t.value.dtype), ulps=2)
        grad = tensor(f"mean.{dtype}", (torch.arange(mean.numel()) % 7 - 3).tolist(), dtype, mean.shape)
        of_x = torch.autograd.grad(mean, x, grad.value.double())[0].to(t.value.dtype)
        whole = [*arguments]
        whole[:2] = [ndim, [*of[0]]]
        whole[2:4] = [[*of[1]], [*of[2]]]
        expect("avgPoolGradInput", [R, grad, t, *whole], of_x, ulps=3, more="unsigned abs=1e-2" if dtype.endswith("16") else "unsigned abs=1e-6")


def adaptive(shape, sizes, dtype):
    t = distinct("pool", dtype, shape, 5)
    ndim = len(shape) - 2
    out = [n if size == -1 else size for n, size in zip(shape[2:], filled(sizes, 1, ndim))]
    values, places = ADAPTIVE_MAX[ndim](t.value.double(), out if ndim > 1 else out[0], return_indices=True)
    expect(f"adaptiveMaxPool{ndim}d", [R, MAYBE, t, len(sizes), [*sizes]], rounded(values, dtype), places)
    if dtype in FLOATS:
        x = t.value.double().requires_grad_()
        mean = ADAPTIVE_AVG[ndim](x, out)
        expect(f"adaptiveAvgPool{ndim}d", [R, t, len(sizes), [*sizes]], mean.detach().to(t.value.dtype), ulps=2)
        grad = tensor(f"mean.{dtype}", (torch.arange(mean.numel()) % 7 - 3).tolist(), dtype, mean.shape)
        of_x = torch.autograd.grad(mean, x, grad.value.double())[0].to(t.value.dtype)
        expect("adaptiveAvgPoolGradInput", [R, grad, t, ndim], of_x, ulps=3, more="unsigned abs=1e-2" if dtype.endswith("16") else "unsigned abs=1e-6")


def pooling():
    for dtype in NUMBERS:
        for case in POOLS if dtype in ("uint8", "int64", "float32", "float64") else POOLS[1:3]:
            pool(case, dtype)
        for shape, sizes in (((2, 3, 5, 7), (3, 2)), ((1, 2, 6, 35), (1,)), ((2, 3, 8), (5,)), ((1, 2, 4, 5, 3), (2, -1, 2))):
            if dtype in SOME or len(shape) == 4:
                adaptive(shape, sizes, dtype)
        t = distinct("pool", dtype, (2, 3, 6, 7), 3)
        values, places = nn.max_pool2d(t.value.double(), 2, return_indices=True)
        pooled, index = (tensor(f"{n}.{dtype}", x.flatten().tolist(), d, x.shape) for n, x, d in (("pooled", values, dtype), ("places", places, "int64")))
        expect("maxUnpool", [R, pooled, index, 2, [6, 7]], rounded(nn.max_unpool2d(values, places, 2, output_size=(6, 7)), dtype))
        # Windows over rows 0 and 2 of a padded image of one row contain no elements.
        least, flat = LIMITS[dtype][0] if dtype in LIMITS else -INF, distinct("pool", dtype, (1, 2, 1, 3), 3)
        nothing = torch.full((1, 2, 1, 2), least, dtype=flat.value.dtype), torch.full((1, 2, 1, 2), -1)
        expect("maxPool2d", [R, MAYBE, flat, 1, [2], NULL, [1], [2], 0], *nothing)
        lost, nowhere = tensor(f"lost.{dtype}", [1, 2, 3, 4], dtype, (1, 2, 1, 2)), tensor("nowhere", [-1, 0, 2, -1], "int64", (1, 2, 1, 2))
        expect("maxPoolGradInput", [R, lost, nowhere, flat, 2], torch.tensor([2, 0, 0, 0, 0, 3], dtype=flat.value.dtype).reshape(1, 2, 1, 3))
        if dtype in FLOATS:
            odd = tensor(f"odd.{dtype}", [NAN, 1, -INF, -INF, 2, NAN, NAN, -INF, -INF, INF, 0.0, -0.0], dtype, (1, 2, 6))
            for kernel in (1, 2, 3):
                values, places = nn.max_pool1d(odd.value.float(), kernel, return_indices=True)
                expect("maxPool1d", [R, MAYBE, odd, 1, [kernel], NULL, NULL, NULL, 0], values.to(odd.value.dtype), places)
    t = distinct("pool", "float32", (2, 3, 6, 7), 3)
    index = tensor("index.far", [99] * 252, "int64", (2, 3, 6, 7))
    wrong = [
        ("maxPool2d", [R, MAYBE, t, 1, [0], NULL, NULL, NULL, 0], ERR_ARGUMENT),
        ("maxPool2d", [R, MAYBE, t, 1, [2], NULL, [2], NULL, 0], ERR_ARGUMENT),
        ("maxPool2d", [R, MAYBE, t, 1, [8], NULL, NULL, NULL, 0], ERR_SHAPE),
        ("maxPool2d", [R, MAYBE, t, 0, [], NULL, NULL, NULL, 0], ERR_ARGUMENT),
        ("maxPool3d", [R, MAYBE, EMPTY3["float32"], 1, [2], NULL, NULL, NULL, 0], ERR_SHAPE),
        ("maxPool1d", [R, MAYBE, tensor("truths", [0, 1], "bool", (1, 2)), 1, [2], NULL, NULL, NULL, 0], ERR_DTYPE),
        ("avgPool2d", [R, distinct("pool", "int32", (2, 3, 6, 7), 3), 1, [2], NULL, NULL, 0, 0, 0], ERR_DTYPE),
        ("adaptiveAvgPool2d", [R, t, 1, [-2]], ERR_ARGUMENT),
        ("maxUnpool", [R, t, index, 2, [9, 9]], ERR_ARGUMENT),
        ("maxUnpool", [R, t, t, 2, [9, 9]], ERR_DTYPE),
        ("maxPoolGradInput", [R, t, index, PLAIN["float32"], 2], ERR_SHAPE),
    ]
    for name, arguments, status in wrong:
        refuse(name, arguments, status)


# Fourier transforms: NumPy's, in float64.


def pairs(z, dtype):
    """Complex numbers as a last dimension."""
    return torch.from_numpy(numpy.stack([z.real, z.imag], -1)).to(getattr(torch, dtype))


def fourier():
    tolerance = {"float16": 2e-1, "bfloat16": 2.0, "float32": 1e-4, "float64": 1e-12}
    for dtype in FLOATS:
        more = f"unsigned abs={tolerance[dtype]:g}"
        for shape, dims in (((8,), 1), ((2, 7), 1), ((3, 4, 6), 2), ((2, 5), 2), ((2, 3, 4, 5), 3), ((1,), 1), ((3, 30), 2), ((0, 4), 1), ((2, 97), 1)):
            if dtype not in ("float32", "float64") and len(shape) != 3:
                continue
            axes = [*range(len(shape) - dims, len(shape))]
            t = random(f"signal.{dtype}.{'x'.join(map(str, shape))}", dtype, (*shape, 2), 3, 17, -8, 0.25)
            z = t.value.double().numpy()[..., 0] + 1j * t.value.double().numpy()[..., 1]
            for normalized in (0, 1):
                norm = "ortho" if normalized else "backward"
                expect("fft", [R, t, dims, normalized], pairs(numpy.fft.fftn(z, axes=axes, norm=norm), dtype), more=more, ulps=1)
                expect("ifft", [R, t, dims, normalized], pairs(numpy.fft.ifftn(z, axes=axes, norm=norm), dtype), more=more, ulps=1)
            if dims == 2:
                expect("fft2", [R, t], pairs(numpy.fft.fft2(z), dtype), more=more, ulps=1)
                expect("ifft2", [R, t], pairs(numpy.fft.ifft2(z), dtype), more=more, ulps=1)
            real = random(f"real.{dtype}.{'x'.join(map(str, shape))}", dtype, shape, 5, 17, -8, 0.25)
            x = real.value.double().numpy()
            for normalized, onesided in itertools.product((0, 1), (0, 1)):
                norm = "ortho" if normalized else "backward"
                transformed = (numpy.fft.rfftn if onesided else numpy.fft.fftn)(x, axes=axes, norm=norm)
                expect("rfft", [R, real, dims, normalized, onesided], pairs(transformed, dtype), more=more, ulps=1)
                half = tensor(f"half.{dtype}", pairs(transformed, "float32").flatten().tolist(), dtype, (*transformed.shape, 2))
                h = half.value.double().numpy()
                h = h[..., 0] + 1j * h[..., 1]
                sizes = [*shape[-dims:]]
                back = numpy.fft.irfftn(h, sizes, axes, norm) if onesided else numpy.fft.ifftn(h, axes=axes, norm=norm).real
                expect("irfft", [R, half, dims, normalized, onesided, dims, sizes], torch.from_numpy(back).to(half.value.dtype), more=more, ulps=1)
                if shape[-1] % 2 == 0 or not onesided:
                    expect("irfft", [R, half, dims, normalized, onesided, 0, NULL], torch.from_numpy(back).to(half.value.dtype), more=more, ulps=1)
    for dtype, n in (("float32", 4096), ("float64", 3 * 1024), ("float64", 5003)):
        t = random(f"long.{dtype}.{n}", dtype, (2, n, 2), 3, 17, -8, 0.25)
        z = t.value.double().numpy()[..., 0] + 1j * t.value.double().numpy()[..., 1]
        limit = "unsigned abs=3e-3" if dtype == "float32" else "unsigned abs=1e-10"
        expect("fft", [R, t, 1, 0], pairs(numpy.fft.fft(z), dtype), more=limit, ulps=1, every=101)
        expect("fft", [R, t, 2, 0], pairs(numpy.fft.fft2(z), dtype), more=limit, ulps=1, every=101)
    t = random("signal.float32.8", "float32", (8, 2), 3, 17, -8, 0.25)
    wrong = [
        ("fft", [R, t, 2, 0], ERR_ARGUMENT),
        ("fft", [R, t, 0, 0], ERR_ARGUMENT),
        ("fft", [R, PLAIN["float32"], 1, 0], ERR_SHAPE),
        ("fft", [R, SMALL["int64"], 1, 0], ERR_SHAPE),
        ("rfft", [R, PLAIN["int64"], 1, 0, 1], ERR_DTYPE),
        ("rfft", [R, EMPTY["float32"], 1, 0, 1], ERR_SHAPE),
        ("irfft", [R, t, 1, 0, 1, 1, [16]], ERR_SHAPE),
        ("irfft", [R, t, 1, 0, 0, 1, [7]], ERR_SHAPE),
        ("irfft", [R, t, 1, 0, 1, 1, [0]], ERR_SHAPE),
    ]
    for name, arguments, status in wrong:
        refuse(name, arguments, status)


def rows():
    for part in (convolutions, columns, planes, pooling, fourier):
        part()
