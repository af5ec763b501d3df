"""Operations: reductions, scans, order statistics and histograms."""

import collections
import itertools
import warnings

import numpy

from .elementwise import computed, converted
from .operands import *

SHAPE = (3, 4, 5)


def sheet(dtype):
    """A few numbers, many of them equal, of both signs, multiples of 1/4."""
    modulus, shift, scale = (2, 0, 1) if dtype == "bool" else (23, 0, 1) if dtype == "uint8" else (23, -11, 0.25 if dtype in FLOATS else 1)
    return random(f"sheet.{dtype}", dtype, SHAPE, 1, modulus, shift, scale)


SHEET = {d: sheet(d) for d in ALL}
EMPTY_TWICE = {d: tensor(f"empty.twice.{d}", [], d, (0, 0)) for d in SOME}
FACTORS = {d: random(f"factors.{d}", d, SHAPE, 3, *((3, 1, 0.5) if d in FLOATS else (3, 0 if d == "bool" else 1, 1))) for d in ALL}
LONG = {d: random(f"long.{d}", d, (59, 17), 7, *((2, 0, 1) if d == "bool" else (201, 0 if d == "uint8" else -100, 1))) for d in SOME}
LONGEST = {
    d: random(f"longest.{d}", d, (100003,), 11, 201, 0 if d == "uint8" else -100, 0.25 if d in FLOATS else 1)
    for d in ("uint8", "int64", "float32", "float64")
}
# The order of the factors, which the library chooses, decides whether a product of float64 overflows in between. Edge values that could
# cause this are replaced.
FACTORS_IN_RANGE = [x if x == 0 or not numpy.isfinite(x) or 1e-300 < abs(x) < 1e300 else 3.0 for x in EDGES["float64"].value.flatten().tolist()]
PRODUCT_EDGES = {**EDGES, "float64": tensor("product.edges.float64", FACTORS_IN_RANGE, "float64", (5, 7))}
# (dimension, keepdim)
DIMS = [(0, 0), (1, 1), (2, 0), (-1, 1), (-3, 0), (TH_ALL_DIMS, 0), (TH_ALL_DIMS, 1)]


def over(f, t, dim, keepdim):
    """`f(t, dim)`, which removes the dimension. All dimensions are reduced as one, in a flat copy."""
    if dim != TH_ALL_DIMS:
        r = f(t, dim)
        return r.unsqueeze(dim % t.dim()) if keepdim and t.dim() else r
    r = f(t.flatten(), 0)
    return r.reshape([1] * t.dim()) if keepdim else r


def reduced(function, f, dtypes=ALL, before=(), after=(), operands=SHEET, empty=True, results=1, where=DIMS, edges=EDGES, **how):
    """A reduction over each dimension and over all. `f(t, dim)` returns one tensor or, with `results`, several."""
    if note("reduced", function, f, dtypes, before=before, after=after, results=results, **how):
        return

    def one(t, dim, keepdim):
        parts = [over(lambda t, dim: f(t, dim)[k] if results > 1 else f(t, dim), t.value, dim, keepdim) for k in range(results)]
        expect(function, [*[MAYBE if results > 1 else R] * results, t, *before, dim, *after, keepdim], *parts, **how)

    for dtype in ALL:
        if dtype not in dtypes:
            refuse(function, [*[R] * results, SHEET[dtype], *before, 0, *after, 0])
            continue
        for dim, keepdim in where if dtype in SOME else where[:2]:
            one(operands[dtype], dim, keepdim)
        if dtype in edges and dtype in FLOATS:
            one(edges[dtype], 0, 0)
            one(edges[dtype], 1, 0)
        if dtype in SOME:
            one(ALIKE[dtype], 1, 0)
            one(ALIKE[dtype], 0, 0)
            one(ONE[dtype], 0, 0)
            one(ONE[dtype], TH_ALL_DIMS, 0)
            one(EMPTY3[dtype], 0, 0)
            if operands is SHEET:
                one(LONG[dtype], 0, 0)
                one(LONG[dtype], 1, 0)
                one(LONG[dtype], TH_ALL_DIMS, 0)
            if empty:
                one(EMPTY3[dtype], 1, 0)
                one(EMPTY[dtype], 0, 0)
                one(EMPTY[dtype], TH_ALL_DIMS, 0)
            else:
                refuse(function, [*[R] * results, EMPTY3[dtype], *before, 1, *after, 0], ERR_ARGUMENT)
                refuse(function, [*[R] * results, EMPTY_TWICE[dtype], *before, 0, *after, 0], ERR_ARGUMENT)
        if dtype in LONGEST and operands is SHEET:
            one(LONGEST[dtype], 0, 0)
    refuse(function, [*[R] * results, SHEET[dtypes[0]], *before, 3, *after, 0], ERR_ARGUMENT)
    refuse(function, [*[R] * results, SHEET[dtypes[0]], *before, -4, *after, 0], ERR_ARGUMENT)


def in_double(f):
    """Computes floats in float64, and rounds once. Other dtypes use `f` directly."""
    return lambda t, *args: f(t.double(), *args).to(t.dtype) if t.is_floating_point() else f(t, *args)


def precisely(f):
    """Computes with NumPy's longest float type, and rounds once. `f(array, dim)` is NumPy's function."""

    def oracle(t, dim):
        if t.dim() == 0:
            return oracle(t.reshape(1), 0).reshape(())
        r = f(t.double().numpy().astype(numpy.longdouble), dim)
        return torch.as_tensor(numpy.asarray(r, dtype=numpy.float64)).to(t.dtype)

    return oracle


def several(function, f, dtypes, operands=SHEET, dtype=False, before=(), after=(), **how):
    """A reduction over several dimensions: `f(t, dims, keepdim)`."""
    if note("several", function, f, dtypes, dtype=dtype, before=before, after=after, **how):
        return
    for name in dtypes:
        t = operands[name]
        for dims in ([0], [0, 2], [2, 1], [-1, 0, 1], []):
            for keepdim in (0, 1):
                r = f(t.value, sorted(d % 3 for d in dims) or [0, 1, 2], bool(keepdim))
                expect(function, [R, t, *before, len(dims), dims or NULL, *after, keepdim, *([0] if dtype else [])], r, **how)
    t = operands[dtypes[0]]
    refuse(function, [R, t, *before, 2, [0, 0], *after, 0, *([0] if dtype else [])], ERR_ARGUMENT)
    refuse(function, [R, t, *before, 1, [3], *after, 0, *([0] if dtype else [])], ERR_ARGUMENT)


def first(t, dim, largest):
    """The position of the first maximum. NaN counts as the largest value."""
    a = t.numpy() if t.dtype != torch.bfloat16 else t.float().numpy()
    return torch.as_tensor(numpy.argmax(a, dim) if largest else numpy.argmin(a, dim)).long()


def extreme(largest):
    def f(t, dim):
        if t.dim() == 0:
            return t, torch.tensor(0)
        where = first(t, dim, largest)
        return torch.take_along_dim(t, where.unsqueeze(dim), dim).squeeze(dim), where

    return f


def without_nan(t, value):
    return torch.where(t.isnan(), value, t).to(t.dtype) if t.is_floating_point() else t


def nan_extreme(largest):
    def f(t, dim):
        best = extreme(largest)(without_nan(t, -INF if largest else INF), dim)[0]
        return torch.where(t.isnan().all(dim), NAN, best).to(t.dtype) if t.is_floating_point() else best

    return f


def nan_place(largest):
    """The first position of the extreme. NumPy's functions take a NaN for the infinity that it replaces."""

    def f(t, dim):
        if t.dim() == 0:
            return torch.tensor(0)
        return torch.as_tensor(numpy.argmax((t == nan_extreme(largest)(t, dim).unsqueeze(dim)).numpy(), dim)).long()

    return f


def missing():
    """Lines of NaNs, and lines with few numbers."""
    for dtype in FLOATS:
        rows = [[NAN] * 4, [NAN, -INF, NAN, -INF], [INF, NAN, INF, NAN], [NAN, 2, NAN, NAN], [1.5, NAN, -2, 4], [INF, 1, 2, NAN]]
        t = tensor(f"missing.{dtype}", rows, dtype)
        for name, largest in (("max", True), ("min", False)):
            expect(f"nan{name}", [R, t, 1, 0], nan_extreme(largest)(t.value, 1), more="unsigned")
            some = tensor(f"missing.some.{dtype}", rows[1:], dtype)
            expect(f"nanarg{name}", [R, some, 1, 0], nan_place(largest)(some.value, 1), more="strict")
            refuse(f"nanarg{name}", [R, t, 1, 0], ERR_ARGUMENT)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for correction in (0, 1, 2):
                expect("nanvar", [R, t, 1, correction, 0], precisely(lambda t, dim: numpy.nanvar(t, dim, ddof=correction))(t.value, 1), ulps=2)
        refuse("nanvar", [R, t, 1, NAN, 0], ERR_ARGUMENT)
        # Far from 0, the deviations equal the elements' own deviations.
        far = tensor(f"missing.far.{dtype}", [NAN if i % 3 == 0 else 2**7 + i % 4 / 2 for i in range(40)], dtype)
        expect("nanvar", [R, far, 0, 1, 0], precisely(lambda t, dim: numpy.nanvar(t, dim, ddof=1))(far.value, 0), ulps=4)


def norm(p):
    def f(t, dim):
        if p == 0:
            return numpy.sum(t != 0, dim)
        if math.isinf(p):
            return (numpy.max if p > 0 else numpy.min)(numpy.abs(t), dim) if t.size else numpy.zeros(numpy.sum(t, dim).shape)
        return numpy.sum(numpy.abs(t) ** numpy.longdouble(p), dim) ** (1 / numpy.longdouble(p))

    return precisely(f)


def logsumexp(t, *args):
    return in_double(torch.logsumexp)(t if t.is_floating_point() else t.float(), *args)


def reductions():
    reduced("sum", in_double(torch.sum), ulps=1, more="unsigned")
    reduced("prod", in_double(torch.prod), operands=FACTORS, edges=PRODUCT_EDGES, ulps=1)
    reduced("mean", in_double(torch.mean), FLOATS, ulps=1, more="unsigned")
    reduced("nansum", in_double(torch.nansum), ulps=1, more="unsigned")
    reduced("nanmean", in_double(torch.nanmean), FLOATS, ulps=1, more="unsigned")
    reduced("nanprod", lambda t, dim: in_double(torch.prod)(without_nan(t, 1), dim), operands=FACTORS, edges=PRODUCT_EDGES, ulps=1)
    for name, largest in (("nanmax", True), ("nanmin", False)):
        reduced(name, nan_extreme(largest), empty=False, where=DIMS[1::2], more="unsigned")
    for name, largest in (("nanargmax", True), ("nanargmin", False)):
        reduced(name, nan_place(largest), empty=False, where=DIMS[1::2], more="strict")
    for correction, name in itertools.product((0, 1, 3), ("nanvar", "nanstd")):
        root = numpy.sqrt if name == "nanstd" else numpy.positive
        spread = precisely(lambda t, dim: root(numpy.nanvar(t, dim, ddof=correction).astype(numpy.float64)))
        reduced(name, spread, FLOATS, after=[correction], ulps=4)
    missing()
    for biased, name in itertools.product((0, 1), ("var", "std")):
        # The variance is a float64 before its root is taken.
        root = numpy.sqrt if name == "std" else numpy.positive
        spread = precisely(lambda t, dim: root(numpy.var(t, dim, ddof=1 - biased).astype(numpy.float64)))
        reduced(name, spread, FLOATS, after=[biased], ulps=2)
    for correction, name in itertools.product((0.5, 3), ("var", "std")):
        root = numpy.sqrt if name == "std" else numpy.positive
        spread = precisely(lambda t, dim: root(numpy.var(t, dim, ddof=correction).astype(numpy.float64)))
        reduced(f"{name}Correction", spread, FLOATS, after=[correction], ulps=4)
    for p in (2, 1, 0, 2.5, INF, -INF):
        most = {"edges": PLAIN} if p == 2 else {"operands": FACTORS, "edges": {}, "where": DIMS[:2]}
        reduced("norm", norm(p), FLOATS, before=[p], empty=p >= 0 and p != INF, ulps=8, **most)
    reduced("all", torch.all)
    reduced("any", torch.any)
    for name, largest in (("max", True), ("min", False)):
        reduced(name, extreme(largest), results=2, empty=False, more="unsigned")
        reduced(f"a{name}", lambda t, dim: extreme(largest)(t, dim)[0], empty=False, where=DIMS[1::2], more="unsigned")
        reduced(f"arg{name}", lambda t, dim: extreme(largest)(t, dim)[1], empty=False, where=DIMS[1::2], more="strict")
    both = lambda t, dim: (extreme(False)(t, dim)[0], extreme(True)(t, dim)[0])
    reduced("aminmax", both, results=2, where=DIMS[1::2], empty=False, more="unsigned")
    reduced("logsumexp", logsumexp, ulps=2, more="abs=2.5e-7")

    several("sumDims", in_double(torch.sum), SOME, dtype=True, ulps=1)
    several("nansumDims", in_double(torch.nansum), SOME, dtype=True, ulps=1)
    several("meanDims", in_double(torch.mean), FLOATS, dtype=True, ulps=1)
    several("nanmeanDims", in_double(torch.nanmean), FLOATS, ulps=1)
    several("prodDims", in_double(product_over), SOME, operands=FACTORS, dtype=True, ulps=1)
    several("nanprodDims", lambda t, dims, keep: in_double(product_over)(without_nan(t, 1), dims, keep), SOME, operands=FACTORS, dtype=True, ulps=1)
    several("nanmaxDims", torch.amax, SOME)
    several("nanminDims", torch.amin, SOME)
    for name in ("nanvar", "nanstd"):
        f = getattr(numpy, name)
        spread = lambda t, dims, keep: precisely(lambda t, dims: f(t, tuple(dims), ddof=1, keepdims=keep))(t, dims)
        several(f"{name}Dims", spread, FLOATS, after=[1], ulps=4)
    several("amaxDims", torch.amax, SOME)
    several("aminDims", torch.amin, SOME)
    several("allDims", torch.all, SOME)
    several("anyDims", torch.any, SOME)
    for name in ("var", "std"):
        f = getattr(numpy, name)
        spread = lambda t, dims, keep: precisely(lambda t, dims: f(t, tuple(dims), ddof=1, keepdims=keep))(t, dims)
        several(f"{name}Dims", spread, FLOATS, after=[0], ulps=2)
        wider = lambda t, dims, keep: precisely(lambda t, dims: f(t, tuple(dims), ddof=1.5, keepdims=keep))(t, dims)
        several(f"{name}DimsCorrection", wider, FLOATS, after=[1.5], ulps=2)
        refuse(f"{name}Correction", [R, SHEET["float32"], 0, NAN, 0], ERR_ARGUMENT)
        for dtype in FLOATS:
            for biased in (0, 1):
                value = precisely(lambda t, _: f(t, ddof=1 - biased))(SHEET[dtype].value, 0).item()
                expect(f"{name}all", [SHEET[dtype], biased], ("returns", dtype, value), ulps=2)
                expect(f"{name}allCorrection", [SHEET[dtype], 1 - biased], ("returns", dtype, value), ulps=2)
    norms = in_double(lambda t, dims, keep: torch.linalg.vector_norm(t, 2, dims, keep))
    several("normDims", norms, FLOATS, before=[2.0], dtype=True, ulps=2)
    several("logsumexpDims", logsumexp, SOME, ulps=2, more="abs=2.5e-7")
    other_dtypes()
    numbers_of_all()


def other_dtypes():
    """Reductions over several dims in a requested dtype."""
    for one, (other, code) in itertools.product(SOME, {"int64": 5, "float32": 8, "float64": 9}.items()):
        dtype = getattr(torch, other)
        t = SHEET[one].value.to(dtype)
        expect("sumDims", [R, SHEET[one], 2, [0, 2], 0, code], t.sum((0, 2)), ulps=1)
        expect("prodDims", [R, FACTORS[one], 1, [1], 1, code], FACTORS[one].value.to(dtype).prod(1, True), ulps=1)
        if other in FLOATS:
            expect("meanDims", [R, SHEET[one], 2, [0, 2], 0, code], t.mean((0, 2)), ulps=2)
    # Sums wrap if they do not fit, and become true if they are not 0.
    for one, (other, code) in itertools.product(SOME, {"uint8": 1, "bool": 10}.items()):
        dtype = getattr(torch, other)
        if one not in FLOATS or other == "bool":
            expect("sumDims", [R, LONG[one], 1, [0], 0, code], LONG[one].value.to(dtype).sum(0, dtype=dtype))
        expect("prodDims", [R, FACTORS[one], 1, [1], 1, code], FACTORS[one].value.to(dtype).prod(1, True, dtype=dtype))
    t = SHEET["float32"]
    expect("normDims", [R, t, 2.0, 1, [1], 0, 9], norm(2)(t.value.double(), 1), ulps=2)


def product_over(t, dims, keep):
    for dim in reversed(dims):
        t = torch.prod(t, dim, keep)
    return t


def numbers_of_all():
    wide = lambda dtype: dtype if dtype in FLOATS else "float64"
    for dtype in ALL:
        t, x = SHEET[dtype], SHEET[dtype].value
        expect("sumall", [t], ("returns", wide(dtype), in_double(torch.sum)(x).item()), ulps=1)
        expect("prodall", [FACTORS[dtype]], ("returns", wide(dtype), in_double(torch.prod)(FACTORS[dtype].value).item()), ulps=1)
        expect("maxall", [t], ("returns", wide(dtype), x.max().item()))
        expect("minall", [t], ("returns", wide(dtype), x.min().item()))
        expect("logicalall", [t], ("returns", "int32", int(x.all())))
        expect("logicalany", [t], ("returns", "int32", int(x.any())))
        if dtype != "bool":
            expect("medianall", [t], ("returns", wide(dtype), x.median().item()))
        if dtype in FLOATS:
            expect("meanall", [t], ("returns", dtype, in_double(torch.mean)(x).item()), ulps=1)
            for p in (1, 2, 3.5, INF):
                expect("normall", [t, p], ("returns", dtype, norm(p)(x.flatten(), 0).item()), ulps=4)
                apart = torch.dist(x.double(), FACTORS[dtype].value.double(), p).to(x.dtype).item()
                expect("dist", [t, FACTORS[dtype], p], ("returns", dtype, apart), ulps=4)


def scanned(function, f, dtypes=ALL, operands=SHEET, results=1, **how):
    if note("scanned", function, f, dtypes, results=results, **how):
        return

    def one(t, dim, every=1):
        parts = f(t.value, dim)
        expect(function, [*[MAYBE if results > 1 else R] * results, t, dim], *(parts if results > 1 else [parts]), every=every, **how)

    for dtype in ALL:
        if dtype not in dtypes:
            refuse(function, [*[R] * results, SHEET[dtype], 0])
            continue
        for dim in (0, 1, -1) if dtype in SOME else (1,):
            one(operands[dtype], dim)
        if dtype in FLOATS:
            one(EDGES[dtype], 0)
            one(EDGES[dtype], 1)
        if dtype in SOME:
            for t in (ONE, EMPTY, EMPTY3, ALIKE):
                one(t[dtype], 0)
            if operands is SHEET:
                one(LONG[dtype], 0, 51)
                one(LONG[dtype], 1, 51)
        if dtype in LONGEST and operands is SHEET and dtype in dtypes:
            one(LONGEST[dtype], 0, 5003)
    refuse(function, [*[R] * results, SHEET[dtypes[0]], 3], ERR_ARGUMENT)


def scans():
    sums = lambda t, dim: precisely(numpy.cumsum)(t, dim) if t.is_floating_point() else torch.cumsum(t, dim)
    scanned("cumsum", sums, ulps=1, more="unsigned abs=1e-15")
    scanned("nancumsum", lambda t, dim: sums(without_nan(t, 0), dim), ulps=1, more="unsigned abs=1e-15")
    scanned("cumprod", in_double(torch.cumprod), operands=FACTORS, ulps=1)
    scanned("cummax", torch.cummax, results=2, more="unsigned")
    scanned("cummin", torch.cummin, results=2, more="unsigned")
    # e^(t - max), whose difference is rounded.
    scanned("softmax", in_double(torch.softmax), FLOATS, ulps=16)
    scanned("logSoftmax", in_double(torch.log_softmax), FLOATS, ulps=4, more="abs=1e-7 unsigned")
    scanned("logcumsumexp", in_double(torch.logcumsumexp), FLOATS, ulps=4, more="abs=1e-7 unsigned")
    for dtype in FLOATS:
        # Next to 1, the rest is small.
        t = tensor(f"rest.{dtype}", [0, -18], dtype)
        r = torch.tensor([0, math.log1p(math.exp(-18))], dtype=torch.float64)
        expect("logcumsumexp", [R, t, 0], r.to(t.value.dtype), ulps=2)
        t = tensor(f"falling.{dtype}", [0, -5, -18, -30, -3], dtype)
        expect("logcumsumexp", [R, t, 0], in_double(torch.logcumsumexp)(t.value, 0), ulps=2)
    for dtype in ALL:
        for p, dim, most in ((2, 0, 5), (1, 1, 20), (3.5, 2, 4), (INF, -1, 1), (2, 0, 1e6)):
            t = SHEET[dtype]
            if dtype in FLOATS:
                expect("renorm", [R, t, p, dim, most], torch.renorm(t.value.double(), p, dim % 3, most).to(t.value.dtype), ulps=2)
            else:
                refuse("renorm", [R, t, p, dim, most])


def scans_in_other_dtypes():
    """Running sums and softmax in a requested dtype."""
    for one, (other, code) in itertools.product(SOME, {"uint8": 1, "int32": 4, "float16": 6, "float32": 8, "float64": 9, "bool": 10}.items()):
        t, factors = (converted(operand[one].value, other) for operand in (SHEET, FACTORS))
        if other in FLOATS:
            sums, products = precisely(numpy.cumsum)(t, 1), in_double(torch.cumprod)(factors, 1)
        else:
            sums, products = (f(x.long(), 1).to(x.dtype) for f, x in ((torch.cumsum, t), (torch.cumprod, factors)))
        expect("cumsumDtype", [R, SHEET[one], 1, code], sums, ulps=1, more="unsigned abs=1e-15")
        expect("cumprodDtype", [R, FACTORS[one], 1, code], products, ulps=1)
        if other in FLOATS:
            expect("softmaxDtype", [R, SHEET[one], -1, code], in_double(torch.softmax)(t, -1), ulps=16)
            expect("logSoftmaxDtype", [R, SHEET[one], 0, code], in_double(torch.log_softmax)(t, 0), ulps=4, more="abs=1e-7 unsigned")
        else:
            refuse("softmaxDtype", [R, SHEET[one], -1, code])
    for dtype in SOME:
        t = SHEET[dtype]
        expect("cumsumDtype", [R, t, 0, 0], in_double(torch.cumsum)(t.value, 0), ulps=1, more="unsigned abs=1e-15")
    refuse("softmaxDtype", [R, SHEET["int32"], 0, 0])


def sorted_line(values):
    """Positions of the values in ascending order. Equal values are ordered by position, and NaN is last."""
    return sorted(range(len(values)), key=lambda i: (math.isnan(values[i]), 0 if math.isnan(values[i]) else values[i], i))


def by_line(choose):
    """Statistics for which `choose(values)` returns the position of an element in a line."""

    def f(t, dim):
        if t.dim() == 0:
            return t, torch.tensor(0)
        lines_of_t = t.movedim(dim, -1)
        flat = lines_of_t.reshape(-1, t.shape[dim])
        places = torch.tensor([choose(line.tolist()) for line in flat], dtype=torch.int64).reshape(lines_of_t.shape[:-1])
        values = torch.take_along_dim(lines_of_t, places.unsqueeze(-1), -1).squeeze(-1)
        return values, places

    return f


def ranked(rank):
    """The first position of the element with a rank, which may depend on the line."""

    def choose(line):
        x = line[sorted_line(line)[rank(line)]]
        return next(i for i, y in enumerate(line) if y == x or math.isnan(x) and math.isnan(y))

    return choose


def kth(k):
    return ranked(lambda line: k - 1)


median = ranked(lambda line: -1 if any(map(math.isnan, line)) else (len(line) - 1) // 2)
nanmedian = ranked(lambda line: max(sum(not math.isnan(x) for x in line) - 1, 0) // 2)


def mode(line):
    counts = collections.Counter(x for x in line if not math.isnan(x))
    if not counts:
        return 0
    best = min(counts, key=lambda x: (-counts[x], x))
    return max(i for i, x in enumerate(line) if x == best)


INTERPOLATIONS = ["linear", "lower", "higher", "midpoint", "nearest"]


def quantile(f, q, how):
    """Computes 16-bit floats in float32."""

    def oracle(t, dim):
        wide = t if t.dtype == torch.float64 else t.float()
        return f(wide, torch.as_tensor(q, dtype=wide.dtype), dim, interpolation=how).to(t.dtype)

    return oracle


def order():
    reduced("kthvalue", by_line(kth(1)), NUMBERS, before=[1], results=2, empty=False, more="unsigned")
    for dtype, k, (dim, keepdim) in itertools.product(NUMBERS, (2, 3), DIMS[:3]):
        parts = [over(lambda t, dim: by_line(kth(k))(t, dim)[i], SHEET[dtype].value, dim, keepdim) for i in range(2)]
        expect("kthvalue", [MAYBE, MAYBE, SHEET[dtype], k, dim, keepdim], *parts, options="unsigned")
    for k in (0, 4):
        refuse("kthvalue", [R, R, SHEET["float32"], k, 0, 0], ERR_ARGUMENT)
    reduced("median", by_line(median), NUMBERS, results=2, empty=False, more="unsigned")
    reduced("nanmedian", by_line(nanmedian), NUMBERS, results=2, empty=False, more="unsigned")
    reduced("mode", by_line(mode), ALL, results=2, empty=False, more="unsigned")
    for dtype in ALL:
        t = SHEET[dtype]
        if dtype not in FLOATS:
            refuse("quantile", [R, t, 0.5, 0, 0, 0])
            refuse("histc", [R, t, 4, -1, 1])
            continue
        for q, dim, how in itertools.product((0.3, 1), (2, TH_ALL_DIMS), range(5)):
            for name, f in (("quantile", torch.quantile), ("nanquantile", torch.nanquantile)):
                expect(name, [R, t, q, dim, 0, how], over(quantile(f, q, INTERPOLATIONS[how]), t.value, dim, 0), ulps=1)
        for name, f in (("quantileTensor", torch.quantile), ("nanquantileTensor", torch.nanquantile)):
            q = tensor(f"{name}.{dtype}", [0, 0.25, 1], dtype)
            expect(name, [R, t, q, 1, 0, 0], quantile(f, q.value.tolist(), "linear")(t.value, 1), ulps=1)
            expect(name, [R, EDGES[dtype], q, 1, 0, 1], quantile(f, q.value.tolist(), "lower")(EDGES[dtype].value, 1), ulps=1)
        great = math.ldexp(torch.finfo(t.value.dtype).max, -1) * 1.5
        pair, half = tensor(f"pair.{dtype}", [-great, great], dtype), tensor(f"half.{dtype}", [INF, 5, 4], dtype)
        for name, q in itertools.product(("quantile", "nanquantile"), (0.25, 0.5, 0.75)):
            expect(name, [R, pair, q, 0, 0, 0], ((2 * q - 1) * pair.value[1].double()).to(t.value.dtype), ulps=1)
            expect(name, [R, half, 0.5 + q / 2, 0, 0, 0], half.value[0])
            expect(name, [R, tensor(f"less.{dtype}", [-INF, 3], dtype), q, 0, 0, 0], -half.value[0])
            expect(name, [R, pair, q, 0, 0, 3], torch.zeros((), dtype=t.value.dtype))
        if dtype in ("float32", "float64"):
            edges = tensor(f"wide.{dtype}", [-great, 0, great], dtype)
            for low in (great, great / 1.9):
                expect("histc", [R, edges, 3, -low, low], torch.tensor([1, 1, 1] if low == great else [0, 1, 0], dtype=t.value.dtype))
            expect("bhistc", [R, edges, 3, -great, great], torch.ones(3, dtype=t.value.dtype))
            same = tensor(f"same.{dtype}", [great, great], dtype)
            expect("histc", [R, same, 2, 0, 0], torch.tensor([0, 2], dtype=t.value.dtype))
        refuse("quantile", [R, t, 1.5, 0, 0, 0], ERR_ARGUMENT)
        refuse("quantile", [R, t, 0.5, 0, 0, 9], ERR_ARGUMENT)
        refuse("quantile", [R, EMPTY[dtype], 0.5, 0, 0, 0], ERR_ARGUMENT)
        for bins, low, high in ((4, -1, 1), (10, 0, 0), (7, -2.5, 2.75), (100, -3, 3)):
            expect("histc", [R, t, bins, low, high], torch.histc(t.value.to(computed(t.value.dtype)), bins, low, high).to(t.value.dtype))
            if bins > 10:
                continue
            least, most = (low, high) if low != high else (t.value.min().item(), t.value.max().item())
            rows = [torch.histc(row.to(computed(row.dtype)), bins, least, most) for row in t.value.reshape(-1, 5)]
            expect("bhistc", [R, t, bins, low, high], torch.stack(rows).reshape(3, 4, bins).to(t.value.dtype))
        refuse("histc", [R, t, 0, 0, 1], ERR_ARGUMENT)
        refuse("histc", [R, t, 4, 2, 1], ERR_ARGUMENT)


def counting():
    for dtype in INTEGERS:
        t = random(f"counts.{dtype}", dtype, (1003,), 5, 50, 0, 1)
        expect("bincount", [R, t, NULL, 0], torch.bincount(t.value))
        expect("bincount", [R, t, NULL, 70], torch.bincount(t.value, minlength=70))
        for weights in ("float32", "float64", "int32"):
            w = random(f"weights.{dtype}.{weights}", weights, (1003,), 9, 101, -50, 0.25 if weights in FLOATS else 1)
            expect("bincount", [R, t, w, 0], torch.bincount(t.value, w.value), ulps=1)
        if dtype != "uint8":
            refuse("bincount", [R, PLAIN[dtype], NULL, 0], ERR_SHAPE)
            refuse("bincount", [R, MINUS_ONES[dtype], NULL, 0], ERR_SHAPE)
    for dtype in FLOATS:
        refuse("bincount", [R, EMPTY[dtype], NULL, 0])


def rows():
    for part in (reductions, scans, scans_in_other_dtypes, order, counting):
        part()
