"""Cases of convolutions, their gradients, windows as columns, and poolings. The reference computes in float64, which holds the integers."""

import math

import torch
from torch.nn import functional as nn

from ..library import FLOATS
from .calls import Call, Expected, R, MAYBE, of_products, one_dtype, summed
from .multiplying import checked

CONV = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}
TRANSPOSED = {1: nn.conv_transpose1d, 2: nn.conv_transpose2d, 3: nn.conv_transpose3d}
MAX = {1: nn.max_pool1d, 2: nn.max_pool2d, 3: nn.max_pool3d}
ADAPTIVE_MAX = {1: nn.adaptive_max_pool1d, 2: nn.adaptive_max_pool2d, 3: nn.adaptive_max_pool3d}
ADAPTIVE_AVG = {1: nn.adaptive_avg_pool1d, 2: nn.adaptive_avg_pool2d, 3: nn.adaptive_avg_pool3d}


class Lists:
    """Numbers for each dimension, as in C: all lists have one length, `ndim` or 1, or are NULL."""

    def __init__(self, draw, ndim, **values):
        """`values` maps a name to the numbers to choose from and to the meaning of NULL; None forbids NULL."""
        self.count = draw.choice([1, ndim, ndim]) if draw.chance(0.99) else ndim + 1
        self.given, self.meant = {}, {}
        for name, (among, default) in values.items():
            absent = default is not None and draw.chance(0.3)
            entries = None if absent else [draw.choice(among) for _ in range(self.count)]
            self.given[name] = entries
            self.meant[name] = [default] * ndim if absent else entries * ndim if self.count == 1 else entries

    def __getitem__(self, name):
        return self.meant[name]

    def arguments(self, *names):
        return [self.given[name] for name in names]


def images(draw, ndim, channels, least=1):
    """The shape of some images: rarely without a batch, rarely large."""
    large = draw.chance(0.08)
    most = {1: 300, 2: 24, 3: 9}[ndim] if large else {1: 12, 2: 8, 3: 5}[ndim]
    front = [draw.choice([1, 2, 3])] if draw.chance(0.8) else []
    front = [0] if front and draw.chance(0.03) else front
    sizes = [draw.random.randrange(least, most + 1) for _ in range(ndim)]
    if draw.chance(0.01):
        sizes[0] = 0
    return [*front, channels, *sizes]


def batched(t, ndim):
    return t if t.dim() == ndim + 2 else t.unsqueeze(0)


def row_major(t):
    """A copy whose strides are contiguous in each dimension, also of size 1: PyTorch selects kernels by strides."""
    return t.clone(memory_format=torch.contiguous_format)


class Convolution:
    """The arguments of a convolution, transposed or not."""

    def __init__(self, draw, transposed):
        ndim = self.ndim = draw.choice([1, 2, 2, 2, 3])
        self.groups = draw.choice([1, 1, 1, 2, 3, 4]) if draw.chance(0.98) else 0
        wide = draw.chance(0.04)
        per_group = lambda: draw.choice([33, 50] if wide else [1, 1, 2, 3, 4])
        of_input, of_output = self.groups * per_group(), self.groups * per_group()
        of_input = of_input if draw.chance(0.98) else of_input + 1
        self.transposed = transposed
        kernel = [draw.choice([1, 1, 2, 3, 3, 4]) for _ in range(ndim)]
        front = [of_input, of_output // max(self.groups, 1)] if transposed else [of_output, of_input // max(self.groups, 1)]
        if not transposed and of_output and draw.chance(0.05):
            kernel = [draw.choice([5, 7, 9]) for _ in range(ndim)]
        self.of_x, self.of_w = images(draw, ndim, of_input), [*front, *kernel]
        self.lists = Lists(draw, ndim, stride=([1, 1, 2, 3], 1), padding=([0, 1, 1, 2, 3], 0), dilation=([1, 1, 1, 2, 3], 1), more=([0, 0, 0, 1, 2] if transposed else [0], 0))
        dtype = draw.dtype()
        operand = lambda shape: draw.operand(dtype if draw.chance(0.985) else draw.dtype(), shape, "small")
        self.x, self.w = operand(self.of_x), operand(self.of_w)
        self.bias = operand((of_output if draw.chance(0.98) else of_output + 1,)) if draw.chance(0.5) else None
        self.taps = math.prod(kernel)
        self.length = self.taps * max(front) + 1
        self.operand = operand

    def numbers(self):
        stride, padding, dilation, more = (self.lists[name] for name in ("stride", "padding", "dilation", "more"))
        read = [entries for name, entries in self.lists.given.items() if name != "more" or self.transposed]
        if self.lists.count not in (1, self.ndim) and any(read):
            raise RuntimeError("a list of another length")
        return stride, padding, dilation, more

    def f(self, x, w, bias=None):
        stride, padding, dilation, more = self.numbers()
        if self.groups < 1:
            raise RuntimeError("no groups")
        if self.transposed:
            return TRANSPOSED[self.ndim](x, w, bias, stride, padding, more, self.groups, dilation)
        return CONV[self.ndim](x, w, bias, stride, padding, dilation, self.groups)

    def result(self):
        """The shape of the result; raises an error if there is none."""
        return self.f(torch.zeros(self.of_x, dtype=torch.float64), torch.zeros(self.of_w, dtype=torch.float64)).shape

    def backward(self, grad, x, w, of_weight):
        stride, padding, dilation, more = self.numbers()
        front = x.dim() == self.ndim + 2
        grads = torch.ops.aten.convolution_backward(
            row_major(batched(grad, self.ndim)), row_major(batched(x, self.ndim)), row_major(w), None, stride, padding, dilation, self.transposed, more, self.groups,
            [not of_weight, of_weight, False])
        return grads[1] if of_weight else grads[0] if front else grads[0][0]

    def generic(self):
        return [self.lists.count, *self.lists.arguments("stride", "padding", "dilation"), int(self.transposed), self.lists.given["more"], self.groups]


def forward(draw):
    of = Convolution(draw, draw.chance(0.4))
    operands = [of.x, of.w, *([of.bias] if of.bias else [])]
    want = lambda: of_products(of.f, operands, of.length, torch.float64)
    if draw.chance(0.3):
        # The number of dimensions is determined by the weight.
        return Call("convolution", [R, of.x, of.w, of.bias, *of.generic()], want)
    lists = of.lists
    if draw.chance(0.01):
        # A weight for images with fewer dimensions.
        of.w = operands[1] = of.operand(of.of_w[:-1])
        want = lambda: of_products(checked(of.f, len(of.of_x), of.ndim + 2), operands, of.length, torch.float64)
    if of.transposed:
        more = [lists.count, *lists.arguments("stride", "padding", "more"), of.groups, lists.given["dilation"]]
        return Call(f"convTranspose{of.ndim}d", [R, of.x, of.w, of.bias, *more], want)
    return Call(f"conv{of.ndim}d", [R, of.x, of.w, of.bias, lists.count, *lists.arguments("stride", "padding", "dilation"), of.groups], want)


def shape_or_one(f, ndim, draw):
    """The shape, or another one if that is an error."""
    try:
        return list(f())
    except (RuntimeError, ValueError, IndexError, TypeError):
        return [1, 1] + [2] * ndim


def gradient(draw):
    """Gradients of the input and of the weight."""
    of = Convolution(draw, draw.chance(0.4))
    shape = shape_or_one(of.result, of.ndim, draw)
    if draw.chance(0.03):
        shape[-1] += 1
    grad, of_weight = of.operand(shape), draw.chance(0.5)
    other, like = (of.x, of.w) if of_weight else (of.w, of.x)
    # The gradient depends only on the shape of its operand, not on the dtype.
    shaped = torch.zeros(like.size, dtype=torch.float64)
    length = of.length if not of_weight else math.prod(shape[:1] + shape[2:])

    def f(grad, other):
        if list(of.result()) != shape:
            raise RuntimeError("the gradient has another shape")
        return of.backward(grad, *((other, shaped) if of_weight else (shaped, other)), of_weight)

    want = lambda: of_products(f, [grad, other], length, torch.float64)
    name = "convolutionGradWeight" if of_weight else "convolutionGradInput"
    return Call(name, [R, grad, other, like, *of.generic()], want)


def gradient_of_bias(draw):
    ndim = draw.choice([1, 2, 3])
    grad = draw.operand(draw.dtype(), images(draw, ndim, draw.choice([1, 2, 5, 40])) if draw.chance(0.97) else draw.shape(), "small")

    def f(t):
        if t.dim() not in (ndim + 1, ndim + 2):
            raise RuntimeError("no images")
        return batched(t, ndim).sum([0, *range(2, ndim + 2)])

    return Call("convolutionGradBias", [R, grad, ndim], lambda: of_products(f, [grad], math.prod(grad.size)))


def unfolded(t, ndim, kernel, stride, padding, dilation):
    """Windows as columns: a convolution with one kernel for each tap."""
    lead = t.shape[: t.dim() - ndim]
    taps = math.prod(kernel)
    w = torch.eye(taps, dtype=t.dtype).reshape(taps, 1, *kernel)
    made = CONV[ndim](t.reshape(math.prod(lead), 1, *t.shape[t.dim() - ndim :]), w, None, stride, padding, dilation)
    return made.reshape(*lead[:-1], lead[-1] * taps, math.prod(made.shape[2:]))


def columns(draw):
    """im2col, and col2im, which is the gradient of im2col."""
    ndim, back = draw.choice([1, 2, 2, 3]), draw.chance(0.5)
    kernel = [draw.choice([1, 2, 2, 3, 4]) for _ in range(ndim)]
    lists = Lists(draw, ndim, stride=([1, 1, 2, 3], 1), padding=([0, 0, 1, 2], 0), dilation=([1, 1, 2, 3], 1))
    # Here, lists have the length of the kernel.
    for name in lists.given:
        values = lists[name] if len(lists[name]) == ndim else (lists[name] * ndim)[:ndim]
        lists.meant[name], lists.given[name] = values, None if lists.given[name] is None else values
    more = lists.arguments("stride", "padding", "dilation")
    of_x = images(draw, ndim, draw.choice([1, 2, 3, 20]))
    f = lambda t: unfolded(t, ndim, kernel, *(lists[name] for name in ("stride", "padding", "dilation")))
    shape = shape_or_one(lambda: f(torch.zeros(of_x, dtype=torch.float64)).shape, 1, draw)
    if not back:
        t = draw.operand(draw.dtype(), of_x, "small")
        return Call("im2col", [R, t, ndim, kernel, *more], lambda: of_products(f, [t], 1, torch.float64))
    shape[-1] += draw.chance(0.03)
    t = draw.operand(draw.dtype(), shape, "small")

    def folded(t):
        x = torch.zeros(of_x, dtype=torch.float64, requires_grad=True)
        made = f(x)
        if made.shape != t.shape:
            raise RuntimeError("columns of other images")
        return torch.autograd.grad(made, x, t)[0]

    return Call("col2im", [R, t, ndim, of_x[-ndim:], kernel, *more], lambda: of_products(folded, [t], math.prod(kernel), torch.float64))


def least(dtype):
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def maxima(f, t):
    """Maxima and their positions. A window without an element has the smallest value, at position -1."""
    dtype, x = one_dtype([t]), row_major(t.value.double())
    (values, at), seen = f(x), f(torch.zeros_like(x))[0]
    at = torch.where(seen == -math.inf, -1, at)
    exact = torch.where(at < 0, torch.zeros_like(values), values).to(dtype)
    return Expected(torch.where(at < 0, torch.full_like(exact, least(dtype)), exact)), Expected(at, index=True)


class Pool:
    def __init__(self, draw):
        ndim = self.ndim = draw.choice([1, 2, 2, 3])
        self.lists = Lists(draw, ndim, kernel=([1, 2, 2, 3, 3, 5], None), stride=([1, 1, 2, 3], 0), padding=([0, 0, 1, 1, 2], 0), dilation=([1, 1, 1, 2, 3], 1))
        if draw.chance(0.3):
            # Padding that is too large is drawn too often.
            self.lists.given["padding"], self.lists.meant["padding"] = None, [0] * ndim
        self.shape = images(draw, ndim, draw.choice([1, 2, 3, 17]))
        self.ceil = draw.choice([0, 0, 1])

    def of(self):
        """Kernel, stride and padding."""
        if self.lists.count not in (1, self.ndim):
            raise RuntimeError("a list of another length")
        kernel = self.lists["kernel"]
        return kernel, self.lists["stride"] if self.lists.given["stride"] else kernel, self.lists["padding"]


def max_pool(draw):
    pool = Pool(draw)
    dtype = draw.dtype()
    t = draw.operand(dtype, pool.shape, "any" if dtype in FLOATS else "plain")
    f = lambda x: MAX[pool.ndim](x, *pool.of(), pool.lists["dilation"], ceil_mode=bool(pool.ceil), return_indices=True)

    lists = pool.lists
    return Call(f"maxPool{pool.ndim}d", [R, MAYBE, t, lists.count, *lists.arguments("kernel", "stride", "padding", "dilation"), pool.ceil], lambda: maxima(f, t))


def avg(pool, padded, divisor):
    """avg_pool of any images. One-dimensional images are planes of one row, which allows a divisor."""

    def f(x):
        kernel, stride, padding = pool.of()
        more = dict(ceil_mode=bool(pool.ceil), count_include_pad=bool(padded), divisor_override=divisor or None)
        if pool.ndim == 3:
            return nn.avg_pool3d(x, kernel, stride, padding, **more)
        if pool.ndim == 2:
            return nn.avg_pool2d(x, kernel, stride, padding, **more)
        return nn.avg_pool2d(x.unsqueeze(-2), [1, *kernel], [1, *stride], [0, *padding], **more).squeeze(-2)

    return f


def avg_pool(draw):
    pool, padded, divisor = Pool(draw), draw.choice([0, 1]), draw.choice([0, 0, 1, 3, -2])
    f, lists = avg(pool, padded, divisor), pool.lists
    dtype = draw.floats() if draw.chance(0.97) else draw.dtype()
    length = math.prod(lists["kernel"]) + 2
    if draw.chance(0.6):
        t = draw.operand(dtype, pool.shape, "small")
        return Call(f"avgPool{pool.ndim}d", [R, t, lists.count, *lists.arguments("kernel", "stride", "padding"), pool.ceil, padded, divisor],
                    lambda: floats(f, [t], length))
    shape = shape_or_one(lambda: f(torch.zeros(pool.shape, dtype=torch.float64)).shape, pool.ndim, draw)
    shape[-1] += draw.chance(0.03)
    grad, like = draw.operand(dtype, shape, "small"), draw.operand(dtype if draw.chance(0.97) else draw.dtype(), pool.shape, "small")
    # The kernel determines the number of dimensions.
    more = [None if x is None else (x * pool.ndim)[: pool.ndim] if lists.count == 1 else x for x in lists.arguments("kernel", "stride", "padding")]
    return Call("avgPoolGradInput", [R, grad, like, len(more[0]), *more, pool.ceil, padded, divisor],
                lambda: floats(lambda grad: derivative(f, pool.shape, grad), [grad], length))


def floats(f, operands, length):
    if not one_dtype(operands).is_floating_point:
        raise RuntimeError("floats only")
    return of_products(f, operands, length)


def derivative(f, shape, grad):
    x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
    made = f(x)
    if made.shape != grad.shape:
        raise RuntimeError("the gradient has another shape")
    return torch.autograd.grad(made, x, grad)[0]


def adaptive_pool(draw):
    ndim = draw.choice([1, 2, 2, 3])
    count = draw.choice([1, ndim])
    given = [draw.choice([1, 1, 2, 3, 5, 7, -1]) for _ in range(count)]
    shape, kind = images(draw, ndim, draw.choice([1, 2, 3, 17])), draw.choice(["max", "avg", "grad"])
    sizes = [None if n < 0 else n for n in (given * ndim if count == 1 else given)]
    sizes = sizes[0] if ndim == 1 else sizes
    if kind == "max":
        dtype = draw.dtype()
        t = draw.operand(dtype, shape, "any" if dtype in FLOATS else "plain")
        of = [shape[-1] if sizes is None else sizes] if ndim == 1 else [sizes]
        f = lambda x: ADAPTIVE_MAX[ndim](x, *of, return_indices=True)
        return Call(f"adaptiveMaxPool{ndim}d", [R, MAYBE, t, count, given], lambda: maxima(f, t))
    dtype = draw.floats() if draw.chance(0.97) else draw.dtype()
    f = lambda x: ADAPTIVE_AVG[ndim](x, x.shape[-1] if ndim == 1 and sizes is None else sizes)
    t, length = draw.operand(dtype, shape, "small"), math.prod(shape[-ndim:]) + 2
    if kind == "avg":
        return Call(f"adaptiveAvgPool{ndim}d", [R, t, count, given], lambda: floats(f, [t], length))
    of_grad = shape_or_one(lambda: f(torch.zeros(shape, dtype=torch.float64)).shape, ndim, draw)
    grad = draw.operand(dtype, of_grad, "small")
    return Call("adaptiveAvgPoolGradInput", [R, grad, t, ndim], lambda: floats(lambda grad: derivative(f, shape, grad), [grad], length))


def by_places(draw):
    """maxPoolGradInput and maxUnpool: elements are added at given indices."""
    ndim = draw.choice([1, 2, 3])
    of_image = images(draw, ndim, draw.choice([1, 2, 3]))
    plane, lead = math.prod(of_image[-ndim:]), of_image[:-ndim]
    shape = [*lead, *(draw.random.randrange(1, 5) for _ in range(ndim))]
    shape[0] += draw.chance(0.02)
    dtype = draw.dtype()
    t = draw.operand(dtype, shape, "small")
    from .indexing import positions

    index = positions(draw, plane, shape)
    if (index.base < 0).any() and not draw.chance(0.2):
        index.base.clamp_(min=0)
    unpool = draw.chance(0.5)

    def want():
        one_dtype([t])
        if index.dtype != torch.int64:
            raise RuntimeError("indices are int64")
        if shape[:-ndim] != lead and not unpool:
            raise RuntimeError("another shape")
        count = math.prod(shape[:-ndim]), math.prod(shape[-ndim:])
        at, exact = index.value.reshape(count), t.value.reshape(count)
        # -1 is the position for a window without elements.
        if at.numel() and (at.min() < (0 if unpool else -1) or at.max() >= plane):
            raise IndexError("an index outside of an image")
        if unpool:
            made = torch.zeros(len(at), plane, dtype=dtype)
            for line, places, values in zip(made.numpy() if dtype != torch.bfloat16 else made, at, exact):
                for place, value in zip(places.tolist(), values):
                    line[place] = value
            return Expected(made.reshape(*shape[:-ndim], *of_image[-ndim:]))
        wide = torch.float64 if dtype.is_floating_point else torch.int64
        counts = lambda t: torch.where(at < 0, 0, t.to(wide))
        added = lambda t: torch.zeros(len(at), plane, dtype=wide).scatter_add(-1, at.clamp(min=0), counts(t)).reshape(of_image)
        return summed(dtype, added(exact), added(exact.abs()), exact.shape[-1]) if dtype.is_floating_point else Expected(added(exact).to(dtype))

    if unpool:
        return Call("maxUnpool", [R, t, index, ndim, of_image[-ndim:]], want)
    like = draw.operand(dtype, of_image, "small")
    return Call("maxPoolGradInput", [R, t, index, like, ndim], want)


def families():
    often = {forward: 6, gradient: 5, max_pool: 3, avg_pool: 3, columns: 3, adaptive_pool: 3}
    for draw_call in (forward, gradient, gradient_of_bias, columns, max_pool, avg_pool, adaptive_pool, by_places):
        for _ in range(often.get(draw_call, 1)):
            yield draw_call.__name__, draw_call
