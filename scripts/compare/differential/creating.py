"""Cases of tensors made from numbers, diagonals, triangles and grids."""

import torch
import torch.nn.functional as nn

from ..library import INTEGERS
from .calls import Call, Expected, R, exactly, saturated
from .elementwise import OUT_OF_RANGE


def sized(draw):
    name = draw.choice(["zeros", "ones", "full"])
    size = list(draw.shape())
    value = draw.choice([0, 1, 7, 2.5, -3])
    more = [value] if name == "full" else []
    value = {"zeros": 0, "ones": 1}.get(name, value)
    return Call(name, [R, len(size), size, *more], lambda: Expected(torch.full(size, float(value))), keeps=True)


def like(draw):
    t = draw.operand(draw.dtype(), draw.shape())
    name, value = draw.choice([("zerosLike", 0), ("onesLike", 1), ("fullLike", 2)])

    def want():
        # A result keeps its dtype unless it is fresh, and the number is converted to that dtype.
        return Expected(torch.full_like(t.value, value), [torch.full(t.size, float(value), dtype=torch.float64)])

    return Call(name, [R, t, *([2] if name == "fullLike" else [])], want, keeps=True)


def sequence(draw):
    name = draw.choice(["arange", "range"])
    whole = draw.chance(0.6)
    numbers = [0, 1, 5, -3, 10, 2, 100] if whole else [0, 0.5, 2.5, -1.25, 3, 1]
    start, end, step = draw.choice(numbers), draw.choice(numbers), draw.choice([1, 1, 2, -1, 3, 0] if whole else [0.25, 1, -0.5, 0.3])

    def want():
        f = torch.arange if name == "arange" else torch.range
        native = f(start, end, step)
        return Expected(native, [f(start, end, step, dtype=torch.float64)], torch.tensor(float(abs(start) + abs(end))), 2, adapts=True)

    fractional = any(x != int(x) for x in (start, end, step))
    refuses = lambda dtype: dtype == torch.bool and "numbers are not Bool" or dtype in INTEGERS and fractional and "integers take whole numbers"
    return Call(name, [R, start, end, step], want, keeps=True, counts=True, refuses=refuses)


def spaced(draw):
    name = draw.choice(["linspace", "logspace", "logspaceBase"])
    start, end, n = draw.choice([0, 1, -2, 0.5]), draw.choice([1, 3, -1, 0.5]), draw.choice([0, 1, 2, 5, 50, -1])
    more = {"logspace": [10], "logspaceBase": [2]}.get(name, [])
    f = getattr(torch, name.removesuffix("Base"))

    def want():
        exact = f(start, end, n, *more, dtype=torch.float64)
        return Expected(exact.float(), [exact], torch.tensor(float(abs(start) + abs(end))) if not more else None, 4, adapts=True)

    return Call(name, [R, start, end, *([2] if name.endswith("Base") else []), n], want, counts=True)


def eye(draw):
    n, m = draw.choice([0, 1, 3, -1, 40]), draw.choice([0, 2, 3, 5])
    return Call("eye", [R, n, m], lambda: exactly(lambda: torch.eye(n, m)), keeps=True)


def triangle(draw):
    name = draw.choice(["tril", "triu"])
    t = draw.operand(draw.dtype(), draw.shape())
    k = draw.choice([0, 1, -1, 2, -4])
    return Call(name, [R, t, k], lambda: exactly(lambda t: getattr(torch, name)(t, k), t.value))


def diagonal(draw):
    t = draw.operand(draw.dtype(), draw.shape(rank=draw.choice([1, 1, 2, 2, 3])))
    k = draw.choice([0, 1, -1, 2, -3])
    if draw.chance(0.5):
        return Call("diag", [R, t, k], lambda: exactly(lambda t: torch.diag(t, k), t.value))
    one, two = draw.choice([(0, 1), (-2, -1), (1, 0), (0, -1), (0, 0), (1, 2)])
    return Call("diagEmbed", [R, t, k, one, two], lambda: exactly(lambda t: torch.diag_embed(t, k, one, two), t.value))


def indices(draw):
    name = draw.choice(["tril", "triu"])
    rows, cols, offset = draw.choice([0, 1, 3, 4]), draw.choice([0, 2, 5]), draw.choice([0, 1, -1, -3])
    f = getattr(torch, f"{name}_indices")
    return Call(f"{name}Indices", [R, rows, cols, offset], lambda: exactly(lambda: f(rows, cols, offset)))


def one_hot(draw):
    t = draw.operand(draw.dtype(INTEGERS + [torch.float32]), draw.shape(large=False), "plain")
    if t.dtype in INTEGERS:
        t.base.copy_(torch.arange(len(t.base)) * 5 % 4)
    n = draw.choice([-1, -1, 4, 6, 2])

    def want():
        if t.dtype not in INTEGERS:
            raise RuntimeError("an index is an integer")
        return Expected(nn.one_hot(t.value.long(), n))

    return Call("oneHot", [R, t, n], want)


def vander(draw):
    t = draw.operand(draw.dtype(), draw.shape(rank=1), "small")
    n, increasing = draw.choice([-1, 0, 1, 3]), draw.choice([0, 1])

    def want():
        native = torch.vander(t.value, None if n < 0 else n, bool(increasing))
        if native.is_floating_point():
            return Expected(native.to(t.dtype), [torch.vander(t.value.double(), None if n < 0 else n, bool(increasing))], None, 4)
        return Expected(native.long())

    return Call("vander", [R, t, n, increasing], want)


def copy(draw):
    """Copies between dtypes. The result has its dtype and shape already. Floats saturate in integers, which PyTorch leaves undefined."""
    shape = draw.shape()
    r = draw.operand(draw.dtype(), shape, "small", written=True)
    t = draw.operand(draw.dtype(), draw.within(shape))
    strides, offset, length = draw.layout(shape, written=True)
    if draw.chance(0.25) and length <= len(t.base):
        # Both in the same memory: the result is as if the source had been copied first.
        r = t.beside(shape, strides, offset + draw.random.randrange(len(t.base) - length + 1))

    def want():
        return Expected(saturated(t.value.broadcast_to(shape), r.dtype))

    return Call("copy", [r, t], want, into=[r])


def fill(draw):
    """Numbers of all kinds written to a tensor. In expanded tensors an element has several positions."""
    r = draw.operand(draw.dtype(), draw.shape(), "small", written=True)
    value = draw.choice([0, 1, 7, 2.5, 100, 1e10, *OUT_OF_RANGE])
    if draw.chance(0.3):
        return Call("zero", [r], lambda: Expected(torch.zeros_like(r.value)), into=[r])

    def want():
        # Floats overflow to infinity, as results do. PyTorch refuses that for float16.
        wide = r.dtype.is_floating_point or r.dtype == torch.bool
        return Expected(torch.full(r.size, value, dtype=torch.float64).to(r.dtype) if wide else torch.zeros(r.size, dtype=r.dtype).fill_(value))

    return Call("fill", [r, value], want, into=[r])


def families():
    for draw_call in (sized, like, sequence, spaced, eye, triangle, triangle, diagonal, diagonal, indices, one_hot, vander, fill):
        yield draw_call.__name__, draw_call
    for _ in range(8):
        yield "copy", copy
