"""Cases of samples between the pixels of images, their gradients, losses, and normalizations."""

import torch
from torch.nn import functional as nn

from ..library import FLOATS
from .calls import Call, Expected, MAYBE, R, one_dtype, real, summed
from .operand import Operand

MODES = {0: "nearest", 2: "bilinear", 3: "bicubic"}
PADDINGS = {0: "zeros", 2: "border", 1: "reflection"}


class Sampled:
    """Images, places of which some are outside, and the arguments of a sampling."""

    def __init__(self, draw):
        self.ndim = draw.choice([2, 2, 3])
        self.mode, self.padding, self.corners = draw.choice([*MODES]), draw.choice([*PADDINGS]), draw.random.randrange(2)
        most = 40 if draw.chance(0.1) and self.ndim == 2 else 6
        sizes = lambda least: [draw.random.randrange(least, most) for _ in range(self.ndim)]
        batch, channels, dtype = draw.choice([0, 1, 1, 2, 3]), draw.random.randrange(1, 4), draw.choice(FLOATS)
        self.t = draw.operand(dtype, (batch, channels, *sizes(1)), "small")
        of_r = sizes(0 if draw.chance(0.05) else 1)
        shape = (batch, *of_r, self.ndim)
        strides, offset, length = draw.layout(shape, False)
        reach = draw.choice([0.8, 1.5, 4])
        base = torch.tensor([draw.random.uniform(-reach, reach) for _ in range(length)], dtype=dtype)
        self.grid = Operand(base, shape, strides, offset)
        self.of_g = (batch, channels, *of_r)
        self.numbers = [self.mode, self.padding, self.corners]
        # Rows and weights of cubic convolution are at most 1.25 times as large as 1 along each dimension.
        self.terms = 2 * 4**self.ndim

    def __call__(self, t, grid):
        if self.mode == 3 and self.ndim == 3:
            raise RuntimeError("no cubic convolution in three dimensions")
        if not grid.numel():
            return torch.zeros(self.of_g, dtype=t.dtype)
        return nn.grid_sample(t, grid, MODES[self.mode], PADDINGS[self.padding], bool(self.corners))


def grid_sample(draw):
    it = Sampled(draw)

    def want():
        exact = it(it.t.value.double(), it.grid.value.double())
        most = it.t.value.double().abs().amax() if it.t.value.numel() else torch.tensor(0.0)
        return summed(it.t.dtype, exact, torch.full_like(exact, float(most)), it.terms)

    return Call("gridSample", [R, it.t, it.grid, *it.numbers], want)


def grid_sample_gradient(draw):
    it = Sampled(draw)
    g = draw.operand(it.t.dtype, it.of_g, "small")

    def want():
        one_dtype([g, it.t, it.grid])
        t, grid = it.t.value.double().requires_grad_(), it.grid.value.double().requires_grad_()
        r = it(t, grid)
        if not g.value.numel() or not t.numel():
            return Expected(torch.zeros_like(it.t.value)), Expected(torch.zeros_like(it.grid.value))
        gradients = torch.autograd.grad(r, (t, grid), g.value.double())
        of_g, of_t = float(g.value.double().abs().sum()), float(it.t.value.double().abs().amax())
        sizes = [of_g, of_g * of_t * max(it.t.size[2:])]
        return tuple(summed(it.t.dtype, exact, torch.full_like(exact, size), it.terms) for exact, size in zip(gradients, sizes))

    return Call("gridSampleGrad", [MAYBE, MAYBE, g, it.t, it.grid, *it.numbers], want)


LOSSES = {
    "mseLoss": (nn.mse_loss, []),
    "l1Loss": (nn.l1_loss, []),
    "smoothL1Loss": (lambda a, b, beta: nn.smooth_l1_loss(a, b, beta=beta, reduction="none"), [0, 0.5, 2]),
    "huberLoss": (lambda a, b, delta: nn.huber_loss(a, b, delta=delta, reduction="none"), [0.5, 2]),
}


def loss(draw):
    name = draw.choice([*LOSSES])
    f, numbers = LOSSES[name]
    dtype, shape = draw.choice(FLOATS), draw.shape(large=False)
    a, b = draw.operand(dtype, shape, "small"), draw.operand(dtype, shape, "small")
    if not numbers:
        return Call(name, [R, a, b, 0], lambda: real(lambda a, b: f(a, b, reduction="none"), a.value, b.value, ulps=2))
    number = draw.choice(numbers)
    scale = lambda a, b: f(a, b, number).abs() + number
    return Call(name, [R, a, b, 0, number], lambda: real(lambda a, b: f(a, b, number), a.value, b.value, ulps=4, scale=scale))


def ctc(draw):
    steps, batch, classes = draw.random.randrange(1, 9), draw.random.randrange(1, 4), draw.random.randrange(2, 6)
    blank = draw.random.randrange(classes)
    inputs, lengths = ([draw.random.randrange(most + 1) for _ in range(batch)] for most in (steps, 5))
    labels = [draw.choice([label for label in range(classes) if label != blank]) for _ in range(sum(lengths))]
    vector = lambda values, dtype: Operand(torch.tensor(values, dtype=dtype), (len(values),), (1,), 0)
    targets, given, found = (vector(values, draw.choice([torch.int32, torch.int64])) for values in (labels, inputs, lengths))
    x = draw.operand(draw.choice(FLOATS), (steps, batch, classes), "small")
    reduction, zero = draw.random.randrange(3), draw.random.randrange(2)

    def want():
        args = (targets.value.long(), given.value.long(), found.value.long(), blank, ["none", "mean", "sum"][reduction], bool(zero))
        exact = nn.ctc_loss(x.value.double(), *args)
        # A loss is the logarithm of a sum of products. Each of its steps adds logarithms.
        size = x.value.double().abs().amax() * steps + 8
        return summed(x.dtype, exact, torch.full_like(exact, float(size)) * (batch if reduction == 2 else 1), 4 * steps)

    return Call("ctcLoss", [R, x, targets, given, found, blank, reduction, zero], want)


def rms_norm(draw):
    shape = [*draw.shape(large=False)][-3:] or [3]
    last, eps = draw.random.randrange(1, len(shape) + 1), draw.choice([1e-5, 0.25])
    t = draw.operand(draw.choice(FLOATS), shape, "small")
    want = lambda: real(lambda t: nn.rms_norm(t, shape[len(shape) - last:], eps=eps), t.value, ulps=8)
    return Call("rmsNorm", [R, t, last, None, eps], want)


def response_norm(draw):
    shape = [draw.random.randrange(4), draw.random.randrange(1, 7), *(draw.random.randrange(1, 4) for _ in range(draw.random.randrange(3)))]
    t = draw.operand(draw.choice(FLOATS), shape, "small")
    size, alpha, beta, k = draw.random.randrange(1, 40), draw.choice([1e-4, 1]), draw.choice([0.75, 1.5]), draw.choice([1, 2])

    def exact(t):
        # PyTorch needs three dimensions.
        return nn.local_response_norm(t.reshape(*t.shape, *[1] * (3 - t.dim())), size, alpha, beta, k).reshape(t.shape)

    return Call("localResponseNorm", [R, t, size, alpha, beta, k], lambda: real(exact, t.value, ulps=16))


def families():
    for draw_call in (grid_sample, grid_sample, grid_sample_gradient, grid_sample_gradient, loss, ctc, rms_norm, response_norm):
        yield draw_call.__name__, draw_call
