"""Cases of sorting, unique elements, and searching."""

import torch

from ..library import ALL, TH_ALL_DIMS
from .calls import Call, Expected, MAYBE, R
from .operand import Operand


def drawn(draw):
    return draw.operand(draw.dtype(), draw.shape(large=draw.chance(0.3)), draw.choice(["plain", "any", "small"]))


def with_places(values, places):
    return Expected(values), Expected(places, index=True)


def sort(draw):
    t, name = drawn(draw), draw.choice(["sort", "sort", "argsort", "msort"])
    dim, descending, stable = draw.dim(len(t.size)), draw.choice([0, 1]), draw.choice([0, 1])
    f = lambda: torch.sort(t.value, dim=dim, descending=bool(descending), stable=True)
    if name == "msort":
        return Call(name, [R, t], lambda: Expected(torch.sort(t.value, dim=0, stable=True).values))
    if name == "argsort":
        return Call(name, [R, t, dim, descending, stable], lambda: Expected(f().indices, index=True))
    return Call(name, [MAYBE, MAYBE, t, dim, descending, stable], lambda: with_places(*f()))


def topk(draw):
    t, largest, ordered = drawn(draw), draw.choice([0, 1]), draw.choice([0, 1])
    dim = draw.dim(len(t.size))
    length = t.size[dim] if t.size and -len(t.size) <= dim < len(t.size) else 1
    k = draw.random.randrange(length + 1) if draw.chance(0.95) else draw.choice([-1, length + 1])

    def want():
        from oracle import sorting

        x = t.value
        if not x.dim() and k != 1:
            raise RuntimeError("k is out of range")
        torch.topk(x.byte() if x.dtype == torch.bool else x, k, dim, bool(largest))
        return with_places(*sorting.top(x, k, dim, largest, ordered))

    return Call("topk", [MAYBE, MAYBE, t, k, dim, largest, ordered], want)


def unique(draw):
    t, consecutive = drawn(draw), draw.chance(0.4)
    dim = TH_ALL_DIMS if draw.chance(0.6) or not t.size else draw.dim(len(t.size))

    def want():
        from oracle import sorting

        if dim == TH_ALL_DIMS:
            parts = sorting.once(t.value, consecutive)
        else:
            torch.unique(t.value, dim=dim)
            parts = sorting.slices_once(t.value, dim % t.value.dim(), consecutive)
        return Expected(parts[0]), Expected(parts[1], index=True), Expected(parts[2], index=True)

    return Call("uniqueConsecutive" if consecutive else "unique", [MAYBE, MAYBE, MAYBE, t, dim], want)


def isin(draw):
    t, invert, unique_ = drawn(draw), draw.choice([0, 1]), draw.choice([0, 1])
    tests = draw.operand(t.dtype if draw.chance(0.6) else draw.dtype(), draw.shape(large=draw.chance(0.3)), draw.choice(["plain", "any", "small"]))

    def want():
        common = torch.result_type(t.value, tests.value)
        x, y = t.value.to(common), tests.value.to(common)
        return Expected((x.unsqueeze(-1) == y.flatten()).any(-1) != bool(invert))

    return Call("isin", [R, t, tests, unique_, invert], want)


def flat(values):
    """An operand in row-major layout."""
    base = torch.empty(values.numel(), dtype=values.dtype)
    base.copy_(values.reshape(-1))
    return Operand(base, values.shape, base.view(values.shape).stride(), 0)


def searched(draw):
    t, right = drawn(draw), draw.choice([0, 1])
    dtype = t.dtype if draw.chance(0.7) else draw.dtype(ALL)
    shape = (draw.choice([0, 1, 3, 20, 300]),) if draw.chance(0.7) or not t.size else (*t.size[:-1], draw.choice([1, 2, 9]))
    sequence = draw.operand(dtype, shape, "small")
    line, places = torch.sort(sequence.value, dim=-1)
    # Either an unordered sequence with a sorter, or an ordered sequence.
    sorter = flat(places) if draw.chance(0.3) else None
    sequence = sequence if sorter else flat(line)

    def want():
        from oracle import sorting

        common = torch.result_type(line, t.value)
        wide = lambda x: x.to(common).byte() if common == torch.bool else x.to(common)
        native = torch.searchsorted(wide(line).contiguous(), wide(t.value).contiguous(), right=bool(right))
        return Expected(sorting.places_in(line, t.value, right) if native.numel() else native, index=True)

    if sorter is None and len(shape) == 1 and draw.chance(0.4):
        return Call("bucketize", [R, t, sequence, right], want)
    return Call("searchsorted", [R, sequence, t, right, sorter], want)


def families():
    for draw_call in (sort, sort, topk, topk, unique, unique, searched, isin):
        yield draw_call.__name__, draw_call
