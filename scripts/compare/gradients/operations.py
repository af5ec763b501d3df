"""Operations of random programs: their conditions on inputs, and how thorn and PyTorch call them.

An operation is drawn for inputs from the pool: `draw` returns the numbers of the call, or None if the inputs do not fit.
"""

import math
from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as nn


@dataclass
class Operation:
    name: str
    inputs: int
    draw: Callable  # of a random source and PyTorch's inputs: a tuple of numbers, or None
    thorn: Callable  # of the library, handles and numbers: a handle, a list of them, or None
    torch: Callable  # of tensors and numbers: a tensor, a list of them, or None
    kind: str = "fresh"  # or "copy", which may keep its input's layout, "view", "pieces", "detach", or "place": the first input is changed
    integers: tuple = ()  # positions among the inputs that are integers
    masks: tuple = ()  # positions among the inputs that are truth values
    weight: int = 1  # relative frequency


OPERATIONS = {}


def add(*arguments, **options):
    operation = Operation(*arguments, **options)
    OPERATIONS[operation.name] = operation


def always(draw, *inputs):
    return ()


def bounded(low, high):
    """Accepts inputs within bounds."""
    return lambda draw, *inputs: () if all(t.numel() == 0 or (t.min() > low and t.max() < high) for t in inputs) else None


def apart(draw, *inputs):
    """Accepts inputs whose magnitude is not small, so that they are not near 0."""
    return () if all(t.numel() == 0 or t.abs().min() > 0.2 for t in inputs) else None


def decided(draw, t):
    """Accepts inputs whose integer part and sign do not depend on rounding."""
    return () if ((t == 0) | ((t - t.round()).abs() > 1e-3)).all() else None


# Functions of one tensor, also in place.
UNARY = {
    "neg": (torch.neg, always), "abs": (torch.abs, always), "sin": (torch.sin, always), "cos": (torch.cos, always),
    "tanh": (torch.tanh, always), "sigmoid": (torch.sigmoid, always), "relu": (torch.relu, always), "atan": (torch.atan, always),
    "exp": (torch.exp, bounded(-5, 2)), "expm1": (torch.expm1, bounded(-5, 2)), "log": (torch.log, bounded(0.2, 50)),
    "log1p": (torch.log1p, bounded(-0.7, 50)), "sqrt": (torch.sqrt, bounded(0.1, 50)), "rsqrt": (torch.rsqrt, bounded(0.2, 50)),
    "cinv": (torch.reciprocal, apart), "erf": (torch.erf, always), "asinh": (torch.asinh, always), "sinh": (torch.sinh, bounded(-2, 2)),
    "exp2": (torch.exp2, bounded(-5, 3)), "floor": (torch.floor, decided), "sign": (torch.sign, decided), "frac": (torch.frac, decided),
    "gelu": (nn.gelu, always), "silu": (nn.silu, always), "mish": (nn.mish, always), "softsign": (nn.softsign, always),
    "square": (torch.square, bounded(-5, 5)), "logSigmoid": (nn.logsigmoid, always), "asin": (torch.asin, bounded(-0.8, 0.8)), "lgamma": (torch.lgamma, bounded(0.3, 20)),
}
for name, (function, fits) in UNARY.items():
    add(name, 1, fits, lambda th, t, name=name: th.of(name, t), lambda t, f=function: f(t))
    add(name + "_", 1, fits, lambda th, t, name=name: getattr(th, name)(t, t), lambda t, f=function: in_place(t, f), kind="place")


def in_place(t, function):
    """Calls PyTorch's in-place method: the function's name and an underscore."""
    getattr(t, function.__name__ + "_")()


# PyTorch lacks these functions, or their derivatives.
for name in ("gelu_", "silu_", "mish_", "softsign_", "logSigmoid_", "asinh_"):
    del OPERATIONS[name]

# Functions of a tensor and a number.
NUMBERS = {
    "add": (torch.add, always), "sub": (torch.sub, always), "mul": (torch.mul, always), "div": (torch.div, always),
    "rsub": (lambda t, x: x - t, always), "cmaxValue": (lambda t, x: t.clamp(min=x), always),
    "cminValue": (lambda t, x: t.clamp(max=x), always), "leakyRelu": (nn.leaky_relu, always), "elu": (nn.elu, always),
    "rdiv": (lambda t, x: torch.full((), x, dtype=t.dtype) / t, apart),
}
for name, entry in NUMBERS.items():
    if entry:
        function, fits = entry
        draw_number = lambda draw, t, fits=fits: None if fits(draw, t) is None else (draw.choice([0.5, 1.5, -0.75, 2.0, -1.0, 0.25]),)
        add(name, 1, draw_number, lambda th, t, x, name=name: th.of(name, t, x), lambda t, x, f=function: f(t, x))
for name, method in {"add": "add_", "sub": "sub_", "mul": "mul_", "div": "div_"}.items():
    draw_number = lambda draw, t: (draw.choice([0.5, 1.5, -0.75, 2.0]),)
    add(name + "_", 1, draw_number, lambda th, t, x, name=name: getattr(th, name)(t, t, x),
        lambda t, x, method=method: getattr(t, method)(x), kind="place")  # fmt: skip
powers = lambda draw, t: (draw.choice([2.0, 3.0, 1.0]),) if t.numel() == 0 or t.abs().max() < 3 else None
add("pow", 1, powers, lambda th, t, x: th.of("pow", t, x), lambda t, x: t.pow(x))
add("pow_", 1, powers, lambda th, t, x: th.pow(t, t, x), lambda t, x: t.pow_(x), kind="place")
add("clamp", 1, lambda draw, t: (-0.8, 0.9), lambda th, t, a, b: th.of("clamp", t, a, b), lambda t, a, b: t.clamp(a, b))
add("hardtanh", 1, lambda draw, t: (-0.8, 0.9), lambda th, t, a, b: th.of("hardtanh", t, a, b), lambda t, a, b: nn.hardtanh(t, a, b))


# Functions of two tensors.
def alike(draw, a, b):
    """Accepts shapes that broadcast together to few elements."""
    try:
        return () if math.prod(torch.broadcast_shapes(a.shape, b.shape)) <= 400 else None
    except RuntimeError:
        return None


def divisible(draw, a, b):
    return alike(draw, a, b) if apart(draw, b) is not None else None


def both_apart(draw, a, b):
    return divisible(draw, a, b) if apart(draw, a) is not None else None


def scaled(draw, a, b):
    return None if alike(draw, a, b) is None else (draw.choice([1.0, 1.0, -0.5, 2.0]),)


BINARY = {
    "cmul": (torch.mul, alike), "cdiv": (torch.div, divisible), "cmax": (torch.maximum, alike), "cmin": (torch.minimum, alike),
    "atan2": (torch.atan2, both_apart), "hypot": (torch.hypot, divisible),
}
for name, (function, fits) in BINARY.items():
    add(name, 2, fits, lambda th, a, b, name=name: th.of(name, a, b), lambda a, b, f=function: f(a, b))
add("cadd", 2, scaled, lambda th, a, b, x: th.of("cadd", a, x, b), lambda a, b, x: torch.add(a, b, alpha=x))
add("csub", 2, scaled, lambda th, a, b, x: th.of("csub", a, x, b), lambda a, b, x: torch.sub(a, b, alpha=x))
weighted = lambda draw, a, b: None if a.dtype != b.dtype or alike(draw, a, b) is None else (0.3,)
add("lerp", 2, weighted, lambda th, a, b, x: th.of("lerp", a, b, x), torch.lerp)


def fits_into(draw, t, src):
    """Accepts a source that broadcasts to the first input."""
    try:
        return () if torch.broadcast_shapes(t.shape, src.shape) == t.shape else None
    except RuntimeError:
        return None


place_scaled = lambda draw, t, src: None if fits_into(draw, t, src) is None else (draw.choice([1.0, -0.5]),)
add("cadd_", 2, place_scaled, lambda th, t, src, x: th.cadd(t, t, x, src), lambda t, src, x: t.add_(src, alpha=x), kind="place")
add("cmul_", 2, fits_into, lambda th, t, src: th.cmul(t, t, src), lambda t, src: t.mul_(src), kind="place")
add("cdiv_", 2, lambda draw, t, src: fits_into(draw, t, src) if apart(draw, src) is not None else None,
    lambda th, t, src: th.cdiv(t, t, src), lambda t, src: t.div_(src), kind="place")  # fmt: skip
add("copy_", 2, fits_into, lambda th, t, src: th.copy(t, src), lambda t, src: t.copy_(src), kind="place", weight=10)


# Reductions.
def one_dim(draw, t):
    return (draw.choice(range(t.dim())), draw.choice([0, 1])) if t.dim() and t.numel() else None


def on_dim(draw, t):
    return (draw.choice(range(t.dim())),) if t.dim() and t.numel() else None


def some_dims(draw, t):
    if not t.dim() or not t.numel():
        return None
    return sorted(draw.sample(range(t.dim()), draw.randint(1, t.dim()))), draw.choice([0, 1])


for name, function in {"sum": torch.sum, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin, "prod": torch.prod,
                       "logsumexp": torch.logsumexp}.items():  # fmt: skip
    add(name, 1, one_dim, lambda th, t, d, keep, name=name: th.of(name, t, d, keep), lambda t, d, keep, f=function: f(t, d, bool(keep)))
for name, function in {"sumDims": torch.sum, "meanDims": torch.mean}.items():
    add(name, 1, some_dims, lambda th, t, dims, keep, name=name: th.of(name, t, len(dims), dims, keep, 0),
        lambda t, dims, keep, f=function: f(t, dims, bool(keep)))  # fmt: skip
add("sumall", 1, always, lambda th, t: th.of("sumDims", t, 0, None, 0, 0), torch.sum)
for name, function in {"max": torch.max, "min": torch.min}.items():
    add(name, 1, one_dim, lambda th, t, d, keep, name=name: th.of(name, None, t, d, keep),
        lambda t, d, keep, f=function: f(t, d, bool(keep))[0])  # fmt: skip
for name, function in {"cumsum": torch.cumsum, "softmax": torch.softmax, "logSoftmax": torch.log_softmax,
                       "logcumsumexp": torch.logcumsumexp}.items():  # fmt: skip
    add(name, 1, on_dim, lambda th, t, d, name=name: th.of(name, t, d), lambda t, d, f=function: f(t, d))
spread = lambda draw, t: one_dim(draw, t) if t.dim() and min(t.shape) > 1 and t.std() > 0.3 else None
add("norm", 1, spread, lambda th, t, d, keep: th.of("norm", t, 2.0, d, keep),
    lambda t, d, keep: torch.linalg.vector_norm(t, 2, d, bool(keep)))  # fmt: skip
add("var", 1, spread, lambda th, t, d, keep: th.of("var", t, d, 0, keep), lambda t, d, keep: t.var(d, keepdim=bool(keep)))


# Products.
def shapes(check):
    return lambda draw, *inputs: () if len({t.dtype for t in inputs}) == 1 and check(*(tuple(t.shape) for t in inputs)) else None


add("mm", 2, shapes(lambda a, b: len(a) == len(b) == 2 and a[1] == b[0]), lambda th, a, b: th.of("mm", a, b), torch.mm)
add("mv", 2, shapes(lambda a, b: len(a) == 2 and len(b) == 1 and a[1] == b[0]), lambda th, a, b: th.of("mv", a, b), torch.mv)
add("dot", 2, shapes(lambda a, b: len(a) == len(b) == 1 and a == b), lambda th, a, b: th.of("dot", a, b), torch.dot)
add("bmm", 2, shapes(lambda a, b: len(a) == len(b) == 3 and a[0] == b[0] and a[2] == b[1]), lambda th, a, b: th.of("bmm", a, b), torch.bmm)
add("outer", 2, shapes(lambda a, b: len(a) == len(b) == 1), lambda th, a, b: th.of("outer", a, b), torch.outer)


def multiplies(a, b):
    if not a or not b or a[-1] != b[-2 if len(b) > 1 else 0]:
        return False
    try:
        torch.broadcast_shapes(a[:-2], b[:-2])
        return True
    except RuntimeError:
        return False


add("matmul", 2, shapes(multiplies), lambda th, a, b: th.of("matmul", a, b), torch.matmul)

# Copies and arrangements.
add("newClone", 1, always, lambda th, t: th.made("newClone", t), torch.clone, kind="copy")
add("newContiguous", 1, always, lambda th, t: th.made("newContiguous", t), lambda t: t.contiguous(), kind="copy")
add("newTo", 1, lambda draw, t: (9 if t.dtype == torch.float32 else 8,), lambda th, t, code: th.made("newTo", t, code),
    lambda t, code: t.to(torch.float64 if code == 9 else torch.float32), kind="copy")  # fmt: skip
same_rank = lambda draw, a, b: on_dim(draw, a) if a.dtype == b.dtype and a.shape == b.shape else None
add("cat", 2, same_rank, lambda th, a, b, d: th.of("cat", a, b, d), lambda a, b, d: torch.cat([a, b], d))
add("stack", 2, same_rank, lambda th, a, b, d: th.of("stack", (a, b), 2, d), lambda a, b, d: torch.stack([a, b], d))
add("flip", 1, on_dim, lambda th, t, d: th.of("flip", t, 1, [d]), lambda t, d: t.flip([d]))
add("roll", 1, on_dim, lambda th, t, d: th.of("roll", t, 1, [1], [d]), lambda t, d: t.roll([1], [d]))
matrices = lambda draw, t: (draw.choice([-1, 0, 1]),) if t.dim() >= 2 else None
add("tril", 1, matrices, lambda th, t, k: th.of("tril", t, k), torch.tril)
add("triu", 1, matrices, lambda th, t, k: th.of("triu", t, k), torch.triu)
add("repeat", 1, lambda draw, t: ([2] * t.dim(),) if t.dim() and t.numel() < 60 else None,
    lambda th, t, sizes: th.of("repeat", t, len(sizes), sizes), lambda t, sizes: t.repeat(sizes))  # fmt: skip


# Functions by index and mask. Indices are below 2, so that they fit any dimension of at least two.
def wide_dim(draw, t, *more):
    dims = [d for d in range(t.dim()) if t.shape[d] >= 2]
    return (draw.choice(dims),) if dims and t.numel() else None


vector = lambda draw, t, index: wide_dim(draw, t) if index.dim() == 1 else None
add("indexSelect", 2, vector, lambda th, t, index, d: th.of("indexSelect", t, d, index), lambda t, index, d: t.index_select(d, index),
    integers=(1,))  # fmt: skip
add("indexFill_", 2, lambda draw, t, index: vector(draw, t, index) and (*vector(draw, t, index), 0.5),
    lambda th, t, index, d, x: th.indexFill(t, d, index, x), lambda t, index, d, x: t.index_fill_(d, index, x),
    kind="place", integers=(1,))  # fmt: skip


def slab(draw, t, index, src):
    """Accepts a source with the size of the index along the dimension."""
    d = wide_dim(draw, t) if index.dim() == 1 and src.dtype == t.dtype else None
    return d if d and tuple(src.shape) == (*t.shape[: d[0]], len(index), *t.shape[d[0] + 1 :]) else None


add("indexAdd_", 3, slab, lambda th, t, index, src, d: th.indexAdd(t, d, index, src), lambda t, index, src, d: t.index_add_(d, index, src),
    kind="place", integers=(1,))  # fmt: skip
masked = lambda draw, t, mask: () if t.shape == mask.shape else None
add("maskedFill_", 2, lambda draw, t, mask: (0.5,) if t.shape == mask.shape else None, lambda th, t, mask, x: th.maskedFill(t, mask, x),
    lambda t, mask, x: t.masked_fill_(mask, x), kind="place", masks=(1,))  # fmt: skip
add("maskedSelect", 2, masked, lambda th, t, mask: th.of("maskedSelect", t, mask), lambda t, mask: t.masked_select(mask), masks=(1,))
add("where", 3, lambda draw, mask, a, b: () if mask.shape == a.shape == b.shape else None,
    lambda th, mask, a, b: th.of("where", mask, a, b), torch.where, masks=(0,))  # fmt: skip
add("fill_", 1, lambda draw, t: (draw.choice([0.0, 1.5]),), lambda th, t, x: th.fill(t, x), lambda t, x: t.fill_(x), kind="place")
add("zero_", 1, always, lambda th, t: th.zero(t), lambda t: t.zero_(), kind="place")


# Views.
def view(name, draw, thorn_arguments, function, weight=2):
    add(name, 1, draw, lambda th, t, *x: th.made(name, t, *thorn_arguments(*x)), function, kind="view", weight=weight)


def span(draw, t):
    d = on_dim(draw, t)
    if d is None:
        return None
    first = draw.randint(0, t.shape[d[0]] - 1)
    return d[0], first, draw.randint(1, t.shape[d[0]] - first)


select_at = lambda draw, t: (lambda d: d and (d[0], draw.randint(0, t.shape[d[0]] - 1)))(on_dim(draw, t))
view("newSelect", select_at, lambda d, i: (d, i), lambda t, d, i: t.select(d, i), weight=6)
view("newNarrow", span, lambda d, i, n: (d, i, n), lambda t, d, i, n: t.narrow(d, i, n), weight=4)
stepped = lambda draw, t: (lambda d: (d[0], draw.choice([0, 1]), t.shape[d[0]], 2) if d and t.shape[d[0]] > 1 else None)(on_dim(draw, t))
slices = lambda t, d, a, b, s: t[(slice(None),) * d + (slice(a, b, s),)]
view("newSlice", stepped, lambda d, a, b, s: (d, a, b, s), slices)
two_dims = lambda draw, t: tuple(draw.sample(range(t.dim()), 2)) if t.dim() >= 2 else None
view("newTranspose", two_dims, lambda a, b: (a, b), lambda t, a, b: t.transpose(a, b), weight=4)
shuffled = lambda draw, t: (draw.sample(range(t.dim()), t.dim()),) if t.dim() else None
view("newPermute", shuffled, lambda dims: (len(dims), dims), lambda t, dims: t.permute(dims))
view("newDiagonal", lambda draw, t: (x := two_dims(draw, t)) and (draw.choice([0, 0, 1, -1]), *x) if t.numel() else None,
     lambda k, a, b: (k, a, b), lambda t, k, a, b: t.diagonal(k, a, b))  # fmt: skip
windows = lambda draw, t: (lambda d: (d[0], 2, draw.choice([1, 2])) if d and t.shape[d[0]] >= 2 else None)(on_dim(draw, t))
view("newUnfold", windows, lambda d, n, s: (d, n, s), lambda t, d, n, s: t.unfold(d, n, s))
view("newUnsqueeze1d", lambda draw, t: (draw.randint(0, t.dim()),) if t.dim() < 4 else None, lambda d: (d,), lambda t, d: t.unsqueeze(d))
view("newSqueeze1d", on_dim, lambda d: (d,), lambda t, d: t.squeeze(d))
larger = lambda draw, t: ([draw.choice([2, 3]), *(3 if n == 1 else n for n in t.shape)],) if t.dim() < 4 and t.numel() < 60 else None
view("newExpand", larger, lambda size: (len(size), size), lambda t, size: t.expand(size))  # fmt: skip
flat = lambda draw, t: ([t.numel()],) if t.is_contiguous() and t.numel() else None
view("newView", flat, lambda size: (len(size), size), lambda t, size: t.view(size))
add("newReshape", 1, lambda draw, t: ([-1],) if t.numel() and t.is_contiguous() else None,
    lambda th, t, size: th.made("newReshape", t, 1, size), lambda t, size: t.reshape(size), kind="view")  # fmt: skip
add("unbind", 1, lambda draw, t: on_dim(draw, t) if t.numel() and max(t.shape or [9]) < 5 else None,
    lambda th, t, d: th.pieces("unbind", t, d), lambda t, d: list(t.unbind(d)), kind="pieces")  # fmt: skip
add("split", 1, on_dim, lambda th, t, d: th.pieces("split", t, 2, d), lambda t, d: list(t.split(2, d)), kind="pieces")
add("newDetach", 1, always, lambda th, t: th.made("newDetach", t), lambda t: t.detach(), kind="detach")
