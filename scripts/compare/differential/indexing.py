"""Cases of elements by index and mask, and of rearranged tensors."""

import torch

from ..library import ALL
from .calls import Call, Expected, R, summed
from .operand import Operand


def positions(draw, size, shape):
    """An index tensor for `size` entries, sometimes with a position that is too large or negative."""
    least, end = (-size - 1, size + 1) if draw.chance(0.1) else (0, max(size, 1))
    dtype = draw.choice([torch.int64, torch.int64, torch.int64, torch.int32])
    strides, offset, length = draw.layout(shape, False)
    base = torch.tensor([draw.random.randrange(least, end) for _ in range(length)], dtype=dtype)
    return Operand(base, shape, strides, offset)


def drawn(draw):
    return draw.operand(draw.dtype(), draw.shape(large=False))


def sized(t, dim):
    """The size of a dimension; 1 for a scalar."""
    rank = len(t.size)
    return t.size[dim] if -rank <= dim < rank else 1


def known(f, rank, *dims):
    """Returns the result of `f`. PyTorch checks dimensions only if there are elements."""
    if any(not -rank <= dim < rank for dim in dims):
        raise IndexError("dimension out of range")
    return Expected(f())


def index_select(draw):
    # In PyTorch the result for a scalar and one position is a scalar.
    t, dim = draw.operand(draw.dtype(), draw.shape(large=False) or (2,)), draw.dim(draw.random.randrange(4))
    index = positions(draw, sized(t, dim), draw.choice([(), (0,), (1,), (2,), (5,)]))
    return Call("indexSelect", [R, t, dim, index], lambda: Expected(torch.index_select(t.value, dim, index.value)))


def gather(draw):
    # PyTorch accepts a vector of positions for a scalar.
    t, dim = draw.operand(draw.dtype(), draw.shape(large=False) or (2,)), draw.dim(draw.random.randrange(4))
    index = positions(draw, sized(t, dim), tuple(draw.random.randrange(1, n + draw.choice([1, 1, 1, 2])) if n else 0 for n in t.size))

    def want():
        # PyTorch compares shapes only if there are positions.
        if any(index.size[d] > n for d, n in enumerate(t.size) if d != dim % len(t.size)):
            raise RuntimeError("the index is larger than the tensor")
        return Expected(torch.gather(t.value, dim, index.value.long()))

    return Call("gather", [R, t, dim, index], want)


def take(draw):
    t = drawn(draw)
    index = positions(draw, t.value.numel(), draw.shape(large=False))
    return Call("take", [R, t, index], lambda: Expected(torch.take(t.value, index.value.long())))


def masked_select(draw):
    t = draw.operand(draw.dtype(), draw.shape())
    mask = draw.operand(torch.bool, draw.within(t.size))
    return Call("maskedSelect", [R, t, mask], lambda: Expected(torch.masked_select(t.value, mask.value)))


def nonzero(draw):
    t = draw.operand(draw.dtype(), draw.shape(), "small")
    return Call("nonzero", [R, t], lambda: Expected(torch.nonzero(t.value)))


def put(draw):
    """Functions that write to a tensor by index. Positions repeat only if the elements are equal."""
    t, dim, name = draw.operand(draw.dtype(), draw.shape(large=False), "small", written=True), draw.dim(draw.random.randrange(4)), draw.choice(["indexCopy", "indexFill", "scatter"])
    size = sized(t, dim)
    if name == "scatter":
        shape = tuple(draw.random.randrange(n + 1) for n in t.size)
        index = positions(draw, size, shape)
        one = draw.operand(t.dtype, (), "small")
        source = one.value.expand(shape)
        src = Operand(one.base, shape, source.stride(), one.offset)
        return Call("scatter", [t, dim, index, src], lambda: Expected(t.value.clone().scatter_(dim, index.value.long(), source)), into=[t])
    count = draw.random.randrange(size + 1)
    order = torch.tensor(draw.random.sample(range(size), count), dtype=torch.int64)
    index = Operand(order, (count,), (1,), 0)
    if name == "indexFill":
        return Call(name, [t, dim, index, 1], lambda: Expected(t.value.clone().index_fill_(dim, order, 1)), into=[t])
    shape = list(t.size)
    if shape and -len(shape) <= dim < len(shape):
        shape[dim] = count
    src = draw.operand(t.dtype, shape, "small")
    return Call(name, [t, dim, index, src], lambda: Expected(t.value.clone().index_copy_(dim, order, src.value)), into=[t])


def flip(draw):
    t = draw.operand(draw.dtype(), draw.shape())
    dims = [draw.dim(len(t.size)) for _ in range(draw.random.randrange(len(t.size) + 1))]
    return Call("flip", [R, t, len(dims), dims], lambda: Expected(torch.flip(t.value, dims)))


def roll(draw):
    t = draw.operand(draw.dtype(), draw.shape() or (3,))
    dims = [draw.dim(len(t.size)) for _ in range(draw.random.randrange(1, len(t.size) + 2))]
    shifts = [draw.random.randrange(-5, 9) for _ in dims]
    return Call("roll", [R, t, len(dims), shifts, dims], lambda: known(lambda: torch.roll(t.value, shifts, dims), len(t.size), *dims))


def rot90(draw):
    t, k = draw.operand(draw.dtype(), draw.shape()), draw.random.randrange(-5, 6)
    a, b = draw.dim(len(t.size)), draw.dim(len(t.size))
    return Call("rot90", [R, t, k, a, b], lambda: Expected(torch.rot90(t.value, k, [a, b])))


def diff(draw):
    t, n = draw.operand(draw.dtype(), draw.shape(), "small"), draw.choice([0, 1, 1, 2, 3])
    dim = draw.dim(len(t.size))
    return Call("diff", [R, t, n, dim], lambda: known(lambda: torch.diff(t.value, n, dim), len(t.size), dim))


def repeat(draw):
    t = drawn(draw)
    counts = [draw.choice([0, 1, 1, 2, 3]) for _ in range(max(0, len(t.size) + draw.choice([-1, 0, 0, 0, 1])))]
    return Call("repeat", [R, t, len(counts), counts], lambda: Expected(t.value.repeat(counts)))


def embedding_bag(draw):
    table = draw.operand(draw.dtype(), (draw.random.randrange(1, 6), draw.random.randrange(5)), "small")
    matrix, mode = draw.chance(0.4), draw.random.randrange(3)
    index = positions(draw, table.size[0], tuple(draw.random.randrange(1, 5) for _ in range(2)) if matrix else (draw.random.randrange(9),))
    count = index.value.numel()
    inner = sorted(draw.random.randrange(count + 1) for _ in range(draw.random.randrange(4)))
    offsets = None if matrix else Operand(torch.tensor([0, *inner], dtype=torch.int64), (1 + len(inner),), (1,), 0)
    weights = draw.operand(table.dtype, index.size, "small") if mode == 0 and draw.chance(0.5) else None
    padding = draw.choice([-1, -1, 0, table.size[0] - 1])

    def want():
        if not table.dtype.is_floating_point:
            raise RuntimeError("not a table of floats")

        def bag(f):
            # PyTorch needs one dtype for positions and offsets.
            starts = offsets and offsets.value
            return torch.nn.functional.embedding_bag(index.value.long(), f(table.value.double()), starts, mode=("sum", "mean", "max")[mode],
                                                     per_sample_weights=weights and f(weights.value.double()), padding_idx=None if padding < 0 else padding)

        return Expected(bag(lambda x: x).to(table.dtype)) if mode == 2 else summed(table.dtype, bag(lambda x: x), bag(torch.abs), count)

    return Call("embeddingBag", [R, table, index, offsets, mode, weights, padding], want)


def families():
    for draw_call in (embedding_bag, index_select, gather, take, masked_select, nonzero, put, put, flip, roll, rot90, diff, repeat):
        yield draw_call.__name__, draw_call
