"""Cases of sorting, of what is there once, and of searching."""

import torch

from .calls import Call, Expected, MAYBE, R
from .library import ALL, TH_ALL_DIMS


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


def families():
    for draw_call in (sort, sort, topk, topk, unique, unique, isin):
        yield draw_call.__name__, draw_call
