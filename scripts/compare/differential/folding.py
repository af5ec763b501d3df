"""Cases of reductions, scans and order statistics."""

import math

import numpy
import torch

from ..library import CODES, FLOATS, INTEGERS, TH_ALL_DIMS
from .calls import Call, Expected, MAYBE, R, exactly, native_result, real, saturated
from .oracle_rows import rows


def dims_of(dim, rank):
    return list(range(rank)) if dim == TH_ALL_DIMS else [dim]


def drawn_dim(draw, t):
    return TH_ALL_DIMS if draw.chance(0.2) else draw.dim(len(t.size))


def prod(t, dims, keep, dtype):
    """PyTorch's product works over one dimension only."""
    if not t.dim():
        return torch.prod(t, *dims, dtype=dtype)
    if any(not -t.dim() <= d < t.dim() for d in dims):
        raise IndexError("dimension out of range")
    dims = sorted((d % t.dim() for d in dims), reverse=True)
    if len(set(dims)) < len(dims):
        raise RuntimeError("dim appears multiple times in the list of dims")
    r = torch.prod(t, dims[0], keep, dtype=dtype) if dims else t.clone()
    for d in dims[1:]:
        r = torch.prod(r, d, keep, dtype=dtype)
    return r


def nanmean(t, dims, keep, dtype):
    return torch.nanmean(t, dims, keep, dtype=dtype)


def without_nans(f, worst):
    """A function of maxima or minima, without NaNs: NaN where there is nothing else."""

    def of(t, dims, keep, dtype):
        if not t.is_floating_point():
            return f(t, dims, keep)
        best = f(torch.where(t.isnan(), worst, t).to(t.dtype), dims, keep)
        return torch.where(t.isnan().all(*dims, keep) if len(dims) == 1 else t.isnan().all(dims, keep), math.nan, best).to(t.dtype)

    return of


FOLDS = {
    "sum": lambda t, dims, keep, dtype: torch.sum(t, dims, keep, dtype=dtype),
    "nansum": lambda t, dims, keep, dtype: torch.nansum(t, dims, keep, dtype=dtype),
    "mean": lambda t, dims, keep, dtype: torch.mean(t, dims, keep, dtype=dtype),
    "nanmean": nanmean,
    "amax": lambda t, dims, keep, dtype: torch.amax(t, dims, keep),
    "amin": lambda t, dims, keep, dtype: torch.amin(t, dims, keep),
    "nanmax": without_nans(torch.amax, -math.inf),
    "nanmin": without_nans(torch.amin, math.inf),
    "all": lambda t, dims, keep, dtype: torch.all(t, dims, keep),
    "any": lambda t, dims, keep, dtype: torch.any(t, dims, keep),
    "logsumexp": lambda t, dims, keep, dtype: torch.logsumexp(t, dims, keep),
}


def scale_of(name, t, dims, keep):
    """The magnitude of the terms that cancel: the sum of the absolute values."""
    t = t.abs().nan_to_num(0, 0, 0)
    if name in ("sum", "nansum"):
        return torch.sum(t, dims, keep)
    if name in ("mean", "nanmean"):
        return torch.mean(t, dims, keep)
    if name == "logsumexp":
        return 1 + (torch.amax(t, dims, keep) if t.numel() else torch.zeros(()))
    return None


def fold(name):
    """A reduction over one dimension or all, or over some (`...Dims`)."""
    f = FOLDS.get(name)

    def draw_call(draw):
        t = draw.operand(draw.dtype(), draw.shape(), draw.choice(["plain", "any", "small"]))
        keep = draw.choice([0, 1])
        typed = name in ("sum", "nansum", "mean")
        if draw.chance(0.5):
            dim = drawn_dim(draw, t)
            arguments, dims, dtype = [R, t, dim, keep], dims_of(dim, len(t.size)), None
            if not t.size and dim != TH_ALL_DIMS:
                dims = [dim]
            function = name
        else:
            rank = len(t.size)
            dims = draw.random.sample(range(rank), draw.random.randrange(rank + 1)) if rank else []
            dims = [d - rank if draw.chance(0.3) else d for d in dims]
            dims = dims * 2 if draw.chance(0.02) else dims
            dtype = draw.dtype() if typed and draw.chance(0.4) else None
            arguments = [R, t, len(dims), dims, keep, *([CODES[dtype] if dtype else 0] if typed else [])]
            dims, function = dims or list(range(rank)), name + "Dims"

        def want():
            g = lambda x: f(x, dims, bool(keep), dtype)
            x = saturated(t.value, dtype) if dtype else t.value
            native = native_result(g, [x])
            if not native.is_floating_point():
                return Expected(native)
            # PyTorch rounds to the requested dtype before the sum, thorn once after it.
            wide = [t.value.to(native.dtype).double() if dtype or not t.dtype.is_floating_point else t.value.double(), t.value.double()]
            return Expected(native, [f(x, dims, bool(keep), None) for x in wide], scale_of(name, wide[0], dims, bool(keep)), 2)

        return Call(function, arguments, want)

    return name, draw_call


def products(draw):
    t = draw.operand(draw.dtype(), draw.shape(), "plain")
    keep, dim = draw.choice([0, 1]), drawn_dim(draw, t)
    factors = torch.tensor([1.0, 2.0, 0.5, 1.0, -1.0, 1.0]) if t.dtype.is_floating_point else torch.tensor([1, 2, 1, 3, 0, 1])
    # The order of the factors decides whether a long product meets infinity or 0 first.
    factors = factors if t.dtype.is_floating_point or len(t.base) < 100 else torch.tensor([1, 0, 1, 1, 0, 1])
    t.base.copy_(factors[torch.arange(len(t.base)) * 7 % 6])
    rank = len(t.size)
    if draw.chance(0.5):
        dims, dtype = dims_of(dim, rank), None
        arguments, function = [R, t, dim, keep], "prod"
    else:
        some = draw.random.sample(range(rank), draw.random.randrange(rank + 1)) if rank else []
        dtype = draw.dtype() if draw.chance(0.4) else None
        dims, function = some or list(range(rank)), "prodDims"
        arguments = [R, t, len(some), some, keep, CODES[dtype] if dtype else 0]

    def want():
        native = prod(saturated(t.value, dtype or t.dtype), dims, bool(keep), dtype)
        exact = [prod(t.value.to(native.dtype).double(), dims, bool(keep), None)] if native.is_floating_point() else None
        return Expected(native, exact, None, 2)

    return Call(function, arguments, want)


def longest(f, t, dims):
    """`f(array, axes)` in NumPy's longest float type, as float64."""
    x = t.double().numpy().astype(numpy.longdouble)
    axes = tuple({d % t.dim() for d in dims}) if t.dim() else ()
    return torch.as_tensor(numpy.asarray(f(x, axes), dtype=numpy.float64))


def norm_of(x, p, axes, keep):
    if p == 0:
        return numpy.sum(x != 0, axes, keepdims=keep)
    if math.isinf(p):
        return (numpy.max if p > 0 else numpy.min)(numpy.abs(x), axes, keepdims=keep) if x.size else numpy.sum(x, axes, keepdims=keep)
    p = numpy.longdouble(p)
    with numpy.errstate(all="ignore"):
        return numpy.sum(numpy.abs(x) ** p, axes, keepdims=keep) ** (1 / p)


def spread(draw):
    name = draw.choice(["var", "std"])
    t = draw.operand(draw.dtype(FLOATS) if draw.chance(0.9) else draw.dtype(), draw.shape(), "plain")
    biased, keep, dim = draw.choice([0, 1]), draw.choice([0, 1]), drawn_dim(draw, t)
    ending, how = draw.choice([("", biased), ("Correction", draw.choice([0, 1, 0.5, 2]))])
    correction = how if ending else 1 - biased
    if t.dtype in FLOATS[2:] and draw.chance(0.2):
        t.base.add_(1e3 if t.dtype == torch.float32 else 1e8)
    f = getattr(torch, name)
    if draw.chance(0.5):
        dims, arguments, function = dims_of(dim, len(t.size)), [R, t, dim, how, keep], name + ending
    else:
        rank = len(t.size)
        some = draw.random.sample(range(rank), draw.random.randrange(rank + 1)) if rank else []
        dims, arguments, function = some or list(range(rank)), [R, t, len(some), some, how, keep], name + "Dims" + ending
    g = lambda t: f(t, dims, correction=correction, keepdim=bool(keep))
    root = numpy.sqrt if name == "std" else numpy.positive

    def want():
        native = native_result(g, [t.value])
        variance = lambda x, axis: root(numpy.var(x, axis, ddof=correction, keepdims=bool(keep)))
        # Deviations are measured from the first element. If that is an outlier, some digits cancel.
        return Expected(native, [longest(variance, t.value, dims)], None, 32)

    return Call(function, arguments, want)


def norm(draw):
    t = draw.operand(draw.dtype(FLOATS) if draw.chance(0.9) else draw.dtype(), draw.shape(), "plain")
    p, keep = draw.choice([2, 1, 0, 3, 0.5, math.inf, -math.inf, -1]), draw.choice([0, 1])
    dtype = None
    if draw.chance(0.5):
        dim = drawn_dim(draw, t)
        dims, arguments, function = dims_of(dim, len(t.size)), [R, t, p, dim, keep], "norm"
    else:
        rank = len(t.size)
        some = draw.random.sample(range(rank), draw.random.randrange(rank + 1)) if rank else []
        dtype = draw.choice([None, None, torch.float32, torch.float64])
        dims, arguments, function = some or list(range(rank)), [R, t, p, len(some), some, keep, CODES[dtype] if dtype else 0], "normDims"

    def want():
        f = lambda t: torch.linalg.vector_norm(t, p, dims, bool(keep), dtype=dtype)
        native = native_result(f, [t.value])
        wide = t.value.to(native.dtype)
        return Expected(native, [longest(lambda x, axis: norm_of(x, p, axis, bool(keep)), wide, dims)], None, 10)

    return Call(function, arguments, want)


def ordered(row):
    """Functions that return values and their positions. The oracle tells which of several equal elements is chosen; PyTorch leaves that
    open."""
    name, results = row.function, row.options["results"]

    def draw_call(draw):
        shape = draw.shape(large=draw.chance(0.2))
        t = draw.operand(draw.dtype(), shape, draw.choice(["plain", "any", "small"]))
        keep, dim = draw.choice([0, 1]), drawn_dim(draw, t)
        k = [draw.choice([1, 1, 2, 3])] if name == "kthvalue" else []
        heads = [MAYBE] * 2 if results == 2 else [R]

        def want():
            x, d = (t.value.reshape(-1), 0) if dim == TH_ALL_DIMS else (t.value, dim)
            # PyTorch has no argmax of Bool; thorn supports every dtype.
            own = x.byte() if name.startswith("arg") and x.dtype == torch.bool else x
            native = native_result(lambda x: getattr(torch, name)(x, *k, d), [own])
            from oracle import reductions

            if name == "kthvalue":
                f = reductions.by_line(reductions.kth(k[0]))
            elif name in ("max", "min", "argmax", "argmin"):
                f = reductions.extreme(name.endswith("max"))
            else:
                f = reductions.by_line({"median": reductions.median, "nanmedian": reductions.nanmedian, "mode": reductions.mode}[name])
            if t.value.numel() == 0:
                parts = [torch.empty(p.shape, dtype=p.dtype) for p in (native if isinstance(native, tuple) else [native])]
                parts = parts[-1:] * 2 if name.startswith("arg") else parts
            else:
                parts = f(x, d % max(x.dim(), 1))
            parts = [p.unsqueeze(d % x.dim()) if keep and x.dim() else p for p in parts]
            if keep and dim == TH_ALL_DIMS:
                parts = [p.reshape([1] * t.value.dim()) for p in parts]
            both = [Expected(parts[0]), Expected(parts[-1], index=True)]
            return tuple(both[1:] if name.startswith("arg") else both)

        return Call(name, [*heads, t, *k, dim, keep], want)

    return name, draw_call


def aminmax(draw):
    t = draw.operand(draw.dtype(), draw.shape(), "any")
    keep, dim = draw.choice([0, 1]), drawn_dim(draw, t)

    def want():
        parts = torch.aminmax(t.value, dim=dim, keepdim=bool(keep)) if dim != TH_ALL_DIMS else torch.aminmax(t.value)
        parts = [p.reshape([1] * t.value.dim()) if keep and dim == TH_ALL_DIMS else p for p in parts]
        return tuple(map(Expected, parts))

    return Call("aminmax", [MAYBE, MAYBE, t, dim, keep], want)


OF_ALL = [
    "sumall", "meanall", "prodall", "maxall", "minall", "normall", "medianall", "logicalall", "logicalany", "varall", "stdall", "dist", "trace",
]


def of_all(draw):
    """Functions that return a number."""
    t = draw.operand(draw.dtype(), draw.shape(), draw.choice(["small", "plain"]))
    kind = draw.choice(OF_ALL)
    x = t.value
    if kind in ("logicalall", "logicalany"):
        return Call(kind, [t], lambda: Expected(getattr(torch, kind.removeprefix("logical"))(x)), returns="int")
    scale = lambda: x.double().abs().sum()
    if kind in ("sumall", "meanall"):
        f = getattr(torch, kind.removesuffix("all"))

        def want():
            native = native_result(f, [x])
            exact = [f(x.double())]
            return Expected(exact[0] if native.is_floating_point() else native, exact, scale(), 16)

        return Call(kind, [t], want, returns="double")
    if kind == "prodall":
        t.base.copy_(torch.tensor([1.0, 2.0, 0.5, 1.0, -1.0, 1.0])[torch.arange(len(t.base)) * 7 % 6])
        # A vector of twos and halves: a vectorized product of many twos would overflow.
        t.base[600:] = 1
        product = lambda: torch.prod(x.double() if x.dtype.is_floating_point else x)
        return Call(kind, [t], lambda: Expected(product()), returns="double")
    if kind in ("maxall", "minall", "medianall"):
        return Call(kind, [t], lambda: exactly(getattr(torch, kind.removesuffix("all")), x), returns="double")
    if kind in ("varall", "stdall"):
        biased = draw.choice([0, 1])
        g = lambda t: getattr(torch, kind.removesuffix("all"))(t, correction=1 - biased)
        root = numpy.sqrt if kind == "stdall" else numpy.positive
        exact = lambda: longest(lambda y, _: root(numpy.var(y, ddof=1 - biased)), x, [])
        return Call(kind, [t, biased], lambda: Expected(native_result(g, [x]).double(), [exact()], None, 8), returns="double")
    p = draw.choice([2, 1, 0, 3, math.inf])
    if kind == "normall":
        g = lambda t: torch.linalg.vector_norm(t, p)
        exact = lambda: longest(lambda y, _: norm_of(y, p, None, False), x, [])
        return Call(kind, [t, p], lambda: Expected(native_result(g, [x]).double(), [exact()], None, 16), returns="double")
    if kind == "trace":
        t = draw.operand(t.dtype, draw.shape(rank=draw.choice([1, 2, 2, 2])), "small")
        return Call("trace", [t], lambda: Expected(torch.trace(t.value).double(), [torch.trace(t.value.double())], None, 64), returns="double")
    u = draw.operand(draw.dtype(FLOATS), draw.within(t.size), "small")

    def apart():
        native = native_result(lambda a, b: torch.dist(a, b, p), [x, u.value])
        common = torch.result_type(x, u.value)
        return Expected(native.double(), [torch.dist(x.to(common).double(), u.value.to(common).double(), p)], None, 64)

    return Call("dist", [t, u, p], apart, returns="double")


def nancumsum(t, dim):
    return torch.cumsum(torch.where(t.isnan(), 0, t).to(t.dtype) if t.is_floating_point() else t, dim)


def scan(row):
    name = row.function
    f = nancumsum if name == "nancumsum" else getattr(torch, {"logSoftmax": "log_softmax"}.get(name, name))

    def draw_call(draw):
        values = "small" if name == "cumprod" else draw.choice(["plain", "any", "small"])
        exponents = name in ("softmax", "logSoftmax", "logcumsumexp")
        t = draw.operand(draw.floats() if exponents and draw.chance(0.9) else draw.dtype(), draw.shape(), values)
        if name == "cumprod":
            t.base.copy_(torch.tensor([1.0, 2.0, 0.5, 1.0, -1.0, 1.0])[torch.arange(len(t.base)) * 7 % 6])
        dim = draw.dim(len(t.size))
        asked = draw.choice(FLOATS) if name in ("cumsum", "cumprod", "softmax", "logSoftmax") and draw.chance(0.3) else None
        x = t.value.to(asked) if asked else t.value
        function, more = (f"{name}Dtype", [CODES[asked]]) if asked else (name, [])
        if name in ("cummax", "cummin"):
            def places():
                values, indices = f(x, dim)
                return Expected(values), Expected(indices, index=True)

            return Call(name, [MAYBE, MAYBE, t, dim], places)

        def scale(t):
            t = t.nan_to_num(0, 0, 0)
            if name in ("cumsum", "nancumsum"):
                return torch.cumsum(t.abs(), dim)
            if name == "logcumsumexp":
                return torch.cummax(t, dim).values
            if not t.numel() or name == "cumprod":
                return torch.zeros(())
            # The difference to the maximum is rounded before it becomes an exponent.
            below = t.amax(dim, True) - t
            return below * torch.softmax(t, dim) if name == "softmax" else 1 + t.abs() + below

        # PyTorch also adds float64 sequentially.
        sums = {"cumsum": numpy.cumsum, "nancumsum": numpy.nancumsum}.get(name)
        precise = (lambda t: longest(lambda x, _: sums(x, dim), t, [])) if sums and len(t.size) else None
        # Sums of float64 round at each addition. Sums of narrower floats are computed in float64.
        added = 32 if x.dtype == torch.float64 else 2
        ulps = {"softmax": 16, "logSoftmax": 8, "logcumsumexp": added, "cumsum": added, "nancumsum": added}.get(name, 2)
        return Call(function, [R, t, dim, *more], lambda: real(lambda t: f(t, dim), x, ulps=ulps, scale=scale, precise=precise))

    return name, draw_call


def renorm(draw):
    t = draw.operand(draw.dtype(FLOATS) if draw.chance(0.9) else draw.dtype(), draw.shape(), "plain")
    p, most, dim = draw.choice([2, 1, 3, math.inf]), draw.choice([1, 5, 20]), draw.dim(len(t.size))
    return Call("renorm", [R, t, p, dim, most], lambda: real(lambda t: torch.renorm(t, p, dim, most), t.value, ulps=32))


INTERPOLATIONS = ["linear", "lower", "higher", "midpoint", "nearest"]


def quantile(draw):
    name = draw.choice(["quantile", "nanquantile"])
    # PyTorch's interpolation turns infinities into NaN, also where no interpolation is needed.
    t = draw.operand(draw.dtype(FLOATS), draw.shape(), "plain")
    if draw.chance(0.3) and len(t.base):
        t.base[:: draw.choice([1, 2, 5])] = math.nan
    q, keep, dim, how = draw.choice([0, 0.25, 0.5, 0.3, 1, 1.5]), draw.choice([0, 1]), drawn_dim(draw, t), draw.choice(range(5))
    wide = lambda t: t if t.dtype == torch.float64 else t.float()

    def f(q):
        x = wide(t.value)
        over = None if dim == TH_ALL_DIMS else dim
        return getattr(torch, name)(x, torch.as_tensor(q, dtype=x.dtype), over, keepdim=bool(keep), interpolation=INTERPOLATIONS[how])

    def want(q):
        r = f(q)
        return Expected(r.to(t.dtype), [r.double()], None, 2)

    if draw.chance(0.5):
        return Call(name, [R, t, q, dim, keep, how], lambda: want(q))
    qs = draw.operand(t.dtype, draw.choice([(), (1,), (3,), (0,)]), "plain")
    qs.base.copy_(torch.tensor([0.0, 1.0, 0.25, 0.5])[torch.arange(len(qs.base)) % 4])
    return Call(name + "Tensor", [R, t, qs, dim, keep, how], lambda: want(qs.value))


def histogram(draw):
    t = draw.operand(draw.dtype(FLOATS[2:]), draw.shape(), "small")
    bins, (low, high) = draw.choice([1, 3, 10, 0]), draw.choice([(-4, 4), (0, 1), (0, 0), (2, 1), (-1.5, 2)])
    if draw.chance(0.5) or not t.size:
        return Call("histc", [R, t, bins, low, high], lambda: exactly(lambda t: torch.histc(t, bins, low, high), t.value))

    def rows():
        x = t.value
        torch.histc(x, bins, low, high)
        ends = (low, high) if low != high or not x.numel() else (x.min().item(), x.max().item())
        lines = [torch.histc(line, bins, *ends) for line in x.reshape(math.prod(x.shape[:-1]), x.shape[-1])]
        return Expected(torch.stack(lines).reshape(*x.shape[:-1], bins) if lines else x.new_zeros(*x.shape[:-1], bins))

    return Call("bhistc", [R, t, bins, low, high], rows)


def bincount(draw):
    t = draw.operand(draw.dtype(INTEGERS), (draw.choice([0, 1, 3, 50]),), "plain")
    weights = draw.operand(draw.choice([torch.float32, torch.float64, torch.int32]), t.size, "small") if draw.chance(0.5) else None
    least = draw.choice([0, 5, 20, -1])
    return Call("bincount", [R, t, weights, least], lambda: Expected(torch.bincount(t.value, weights.value if weights else None, least), ulps=4))


def families():
    for name in FOLDS:
        yield fold(name)
        yield fold(name)
    for row in rows():
        if row.kind == "scanned":
            yield scan(row)
            yield scan(row)
        elif row.kind == "reduced" and (row.options["results"] == 2 or row.function.startswith("arg")) and row.function != "aminmax":
            yield ordered(row)
    for draw_call in (products, spread, norm, aminmax, of_all, renorm, quantile, histogram, bincount):
        for _ in range(8 if draw_call is of_all else 2):
            yield draw_call.__name__, draw_call
