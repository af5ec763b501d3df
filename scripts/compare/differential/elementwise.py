"""Cases of elementwise operations. Names, dtypes and bounds are taken from scripts/oracle; PyTorch computes the results."""

import functools
import math

import mpmath
import torch
import torch.nn.functional as nn

from oracle.elementwise import ACTIVATIONS

from ..library import ALL, FLOATS, INTEGERS
from .calls import Call, Expected, R, exactly, real
from .operand import Operand
from .oracle_rows import rows

# For int8, uint8, int16 or int32.
OUT_OF_RANGE = [256, -129, -1, 70000, 2**53]
TRUNC, FLOOR = "trunc", "floor"


def only(dtypes, f):
    """PyTorch's function, which accepts more dtypes than thorn's."""

    def g(t, *numbers):
        if t.dtype not in dtypes:
            raise TypeError(f"no {t.dtype}")
        return f(t, *numbers)

    return g


# PyTorch's calls for operations whose oracle is not PyTorch (mpmath, a formula), or whose name differs.
TORCH = {
    "cinv": torch.reciprocal, "frac": torch.frac, "sign": torch.sign, "gelu": nn.gelu,
    "geluTanh": functools.partial(nn.gelu, approximate="tanh"), "celu": None, "hardshrink": nn.hardshrink, "softshrink": nn.softshrink,
    "square": only(FLOATS + INTEGERS, torch.square), **{name: only(FLOATS, f) for name, (_, f, _) in ACTIVATIONS.items()},
    "leakyRelu": nn.leaky_relu, "elu": nn.elu, "add": torch.add, "sub": torch.sub, "mul": torch.mul, "pow": torch.pow,
    "tpow": lambda t, x: torch.pow(x, t),
    "fmod": torch.fmod, "remainder": torch.remainder, "lshift": lambda t, x: t << x, "rshift": lambda t, x: t >> x,
    "cmaxValue": lambda t, x: torch.clamp(t, min=x), "cminValue": lambda t, x: torch.clamp(t, max=x),
    "cfmod": torch.fmod, "cremainder": torch.remainder, "clshift": lambda a, b: a << b, "crshift": lambda a, b: a >> b,
    "cpow": torch.pow, "cadd": None, "csub": None, "crsub": None, "divMode": None, "xlogyValue": torch.xlogy, "cdivMode": None,
    **{f"{name}Value": getattr(torch, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
}
# PyTorch's float64 is inaccurate for these. The oracle's mpmath computes them for few elements, because it is slow.
PRECISE = {"gelu", "geluTanh", "silu", "mish", "digamma", "sinc"}
# Functions that are defined only for some numbers, and values that avoid undefined behaviour in PyTorch.
NO_EDGES = {"cfmod", "cremainder", "cpow", "fmod", "remainder", "pow", "tpow", "clshift", "crshift", "lshift", "rshift", "divMode", "cdivMode"}


def torch_call(row):
    if row.function in TORCH:
        return TORCH[row.function]
    if "<locals>" not in getattr(row.oracle, "__qualname__", "") and row.oracle.__module__ != "oracle.elementwise":
        return row.oracle
    return getattr(torch, row.function)


def bound(row):
    """The tolerance in units in the last place. It includes the errors of PyTorch's float64, the reference."""
    return row.options.get("ulps", 0) + (2.01 if "shift" in row.function else 1.01)


def unary(row):
    f = torch_call(row)
    ulps, precise = bound(row), row.oracle if row.function in PRECISE else None

    def draw_call(draw):
        t = draw.operand(draw.dtype(), draw.shape(large=not precise))
        return Call(row.function, [R, t], lambda: real(f, t.value, ulps=ulps, precise=precise))

    return row.function, draw_call


def with_value(row):
    f, name = torch_call(row), row.function
    ulps, before = bound(row), row.options.get("before")

    # An exponent is used as a float64, without rounding.
    as_given = name == "pow"

    def draw_call(draw):
        dtype = draw.dtype()
        t = draw.operand(dtype, draw.shape(), "plain" if name in NO_EDGES else "any")
        more = [0.1, 5, 0.3333] if name in NO_EDGES else [0.1, 300, 1e-3]
        x = draw.number(more if name in NO_EDGES | {"elu", "leakyRelu", "softshrink"} else [*more, math.inf, -math.inf, math.nan])
        arguments = [R, x, t] if before else [R, t, x]
        return Call(name, arguments, lambda f: real(f, t.value, x, ulps=ulps, as_given=as_given), f=f)

    return name, draw_call


def two(draw, values="any"):
    """Two operands that broadcast, of one dtype or of two."""
    shape = draw.shape()
    a = draw.dtype()
    b = a if draw.chance(0.5) else draw.dtype()
    first, second = (shape, draw.within(shape)) if draw.chance(0.6) else (draw.within(shape), shape)
    return draw.operand(a, first, values), draw.operand(b, second, values)


def binary(row):
    f, name, ulps = torch_call(row), row.function, bound(row)

    def draw_call(draw):
        a, b = two(draw, "plain" if name in NO_EDGES else "any")
        if name == "nextafter":
            common = torch.result_type(a.value, b.value)
            return Call(name, [R, a, b], lambda: exactly(row.oracle, a.value.to(common), b.value.to(common)))
        # The result vanishes if one exponential is 1 minus the other.
        scale = torch.maximum if name == "logaddexp" else None
        return Call(name, [R, a, b], lambda f: real(f, a.value, b.value, ulps=ulps, scale=scale), f=f)

    return name, draw_call


def scaled_sum(draw):
    a, b = two(draw, "small" if draw.chance(0.5) else "any")
    value = draw.number()
    name, f = draw.choice([("cadd", torch.add), ("csub", torch.sub), ("crsub", torch.rsub)])
    a, b = (b, a) if name == "crsub" else (a, b)
    scale = lambda x, y: torch.maximum(x.abs(), (value * y).abs())
    f = functools.partial(f, alpha=value)
    return Call(name, [R, a, value, b], lambda f: real(f, a.value, b.value, ulps=1.01, scale=scale), f=f)


def in_single(f):
    """16-bit floats are computed in float32, and rounded once. PyTorch rounds a quotient to 16 bits before truncating it."""

    def g(a, b):
        native = f(a, b)
        narrow = lambda x: x.float() if isinstance(x, torch.Tensor) and x.dtype.is_floating_point else x
        return f(narrow(a), narrow(b)).to(native.dtype) if native.dtype in FLOATS[:2] else native

    return g


def divided(draw):
    mode = draw.choice([None, TRUNC, FLOOR])
    code = {None: 0, TRUNC: 1, FLOOR: 2}[mode]
    f = in_single(lambda a, b: torch.div(a, b, rounding_mode=mode))
    if draw.chance(0.5):
        t, x = draw.operand(draw.dtype(), draw.shape(), "plain"), draw.number([0.1])
        return Call("divMode", [R, t, x, code], lambda f: exactly(f, t.value, x) if mode else real(f, t.value, x), f=f)
    a, b = two(draw, "plain")
    return Call("cdivMode", [R, a, b, code], lambda f: exactly(f, a.value, b.value) if mode else real(f, a.value, b.value), f=f)


def three(draw, dtypes=ALL, values="plain"):
    shape, dtype = draw.shape(), draw.dtype(dtypes)
    other = lambda: dtype if draw.chance(0.8) else draw.dtype(dtypes)
    return [draw.operand(other(), shape if draw.chance(0.6) else draw.within(shape), values) for _ in range(3)]


def addcmul(draw):
    t, a, b = three(draw)
    value = draw.number()
    f = lambda t, a, b: torch.addcmul(t, a, b, value=value)
    size = lambda t, a, b: t.abs() + (value * a * b).abs()
    return Call("addcmul", [R, t, value, a, b], lambda f: real(f, t.value, a.value, b.value, ulps=2, scale=size), f=f)


def addcdiv(draw):
    t, a, b = three(draw, FLOATS if draw.chance(0.8) else ALL)
    value = draw.number()
    f = lambda t, a, b: torch.addcdiv(t, a, b, value=value)
    size = lambda t, a, b: t.abs() + (value * a / b).abs()
    return Call("addcdiv", [R, t, value, a, b], lambda f: real(f, t.value, a.value, b.value, ulps=2, scale=size), f=f)


def lerp(draw):
    a, b, w = three(draw, FLOATS if draw.chance(0.8) else ALL)
    size = lambda a, b, w: a.abs() * (1 + abs(w)) + (w * b).abs()
    if draw.chance(0.4):
        return Call("lerpTensor", [R, a, b, w], lambda f: real(f, a.value, b.value, w.value, ulps=2, scale=size), f=torch.lerp)
    x = draw.number()
    return Call("lerp", [R, a, b, x], lambda f: real(f, a.value, b.value, x, ulps=2, scale=size), f=torch.lerp)


def clamp(draw):
    """Infinite bounds have no effect, and integers stay integers."""
    t = draw.operand(draw.dtype(), draw.shape())
    low, high = draw.number([-math.inf]), draw.number([math.inf, 100])
    low, high = (low, high) if draw.chance(0.2) else (min(low, high), max(low, high))
    name = draw.choice(["clamp", "hardtanh"])
    bounds = {"min": None if low == -math.inf else low, "max": None if high == math.inf else high}
    f = (lambda t: torch.clamp(t, **bounds)) if any(x is not None for x in bounds.values()) else torch.clone
    f = (lambda t: nn.hardtanh(t, low, high)) if name == "hardtanh" and low > high else f
    return Call(name, [R, t, low, high], lambda f: real(f, t.value), f=f)


def where(draw):
    _, a, b = three(draw, values="any")
    mask = draw.operand(draw.choice([torch.bool] * 4 + [torch.uint8] * 2 + [torch.int32]), draw.within(a.size), "plain")
    return Call("where", [R, mask, a, b], lambda: exactly(torch.where, mask.value, a.value, b.value))


def where_value(draw):
    """A number that the integer dtype cannot hold is refused, as by maskedFill. PyTorch wraps it."""
    t, x, y = draw.operand(draw.dtype(), draw.shape()), draw.number(), draw.number()
    mask = draw.operand(draw.choice([torch.bool] * 5 + [torch.uint8, torch.int32]), draw.within(t.size), "plain")
    name = draw.choice(["whereValue", "whereValueTensor", "whereValues"])
    arguments = {"whereValue": [t, x], "whereValueTensor": [x, t], "whereValues": [x, y]}[name]
    values = lambda: [a.value if isinstance(a, Operand) else a for a in arguments]
    return Call(name, [R, mask, *arguments], lambda: exactly(torch.where, mask.value, *values()))


def clamp_tensor(draw):
    t, low, high = three(draw, values="any")
    low, high = draw.choice([(low, high), (low, None), (None, high)])
    f = lambda t, *bounds: torch.clamp(t, **dict(zip(["min"] * bool(low) + ["max"] * bool(high), bounds)))
    return Call("clampTensor", [R, t, low, high], lambda f: exactly(f, t.value, *(b.value for b in (low, high) if b)), f=f)


def nan_to_num(draw):
    t = draw.operand(draw.dtype(), draw.shape())
    numbers = [draw.choice([0, 1.5, math.nan, -2]) for _ in range(3)]
    f = lambda t: torch.nan_to_num(t, numbers[0], *(None if math.isnan(x) else x for x in numbers[1:]))
    return Call("nanToNum", [R, t, *numbers], lambda: exactly(f, t.value))


def masked_fill(draw):
    t = draw.operand(draw.dtype(), draw.shape(), written=True)
    mask = draw.operand(draw.choice([torch.bool] * 5 + [torch.int32]), draw.within(t.size))
    x = draw.number() if t.dtype in FLOATS else draw.choice([0, 1, 100, 7, *OUT_OF_RANGE]) if t.dtype in INTEGERS else draw.choice([0, 1])
    # In place, so that the mask cannot enlarge the result.
    f = lambda: Expected(t.value.clone().masked_fill_(mask.value, x))
    return Call("maskedFill", [t, mask, x], f, into=[t])


def isclose(draw):
    a, b = two(draw)
    rtol, atol, nan = draw.choice([1e-5, 0.5, 0, -1]), draw.choice([1e-8, 1, 0]), draw.choice([0, 1])
    f = lambda a, b: torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=bool(nan))
    if draw.chance(0.3):
        return Call("allclose", [a, b, rtol, atol, nan], lambda f: Expected(f(a.value, b.value).all()), returns="int", f=f)
    return Call("isclose", [R, a, b, rtol, atol, nan], lambda f: exactly(f, a.value, b.value), f=f)


def equal(draw):
    a, b = two(draw)
    b = Operand(a.base, a.size, a.stride, a.offset) if draw.chance(0.4) else b
    alike = lambda: a.value.shape == b.value.shape and bool((a.value == b.value).all())
    return Call("equal", [a, b], lambda: Expected(torch.tensor(alike())), returns="int")


def softplus(draw):
    t = draw.operand(draw.dtype(FLOATS + [torch.int32]), draw.shape())
    beta, threshold = draw.choice([1, 2, 0.5]), draw.choice([20, 5])
    return Call("softplus", [R, t, beta, threshold], lambda: real(lambda t: nn.softplus(t, beta, threshold), t.value, ulps=4))


def activation(draw):
    """Activations with more arguments than a tensor and a number."""
    t = draw.operand(draw.dtype(FLOATS + [torch.int32]), draw.shape())
    name = draw.choice(["celu", "threshold", "prelu", "glu"])
    if name == "celu":
        alpha = draw.choice([1, 0.3, 2.5, 0])
        return Call(name, [R, t, alpha], lambda: real(lambda t: nn.celu(t, alpha), t.value, ulps=4))
    if name == "threshold":
        bound, value = draw.choice([0.5, 0, -1]), draw.choice([7, -0.25, math.nan])
        f = only(FLOATS, lambda t: nn.threshold(t, bound, value))
        return Call(name, [R, t, bound, value], lambda: exactly(f, t.value))
    if name == "prelu":
        channels = t.value.shape[1] if t.value.dim() > 1 else 1
        weight = draw.operand(t.dtype, draw.choice([(1,), (channels,), (2,)]), "plain")
        return Call(name, [R, t, weight], lambda f: real(f, t.value, weight.value), f=only(FLOATS, torch.prelu))
    dim = draw.choice([-1, 0, 1])
    return Call(name, [R, t, dim], lambda: real(only(FLOATS, lambda t: nn.glu(t, dim)), t.value, ulps=4))


def by_mpmath(f, t, limit=math.inf):
    """A function of real numbers, computed by mpmath instead of PyTorch; `limit` at poles."""
    from oracle.elementwise import exactly as rounded

    native, pole = torch.sqrt(t), limit
    limit = lambda x: torch.full_like(x, pole)
    return Expected(native, [rounded(f, limit)(t.to(native.dtype).double())], torch.ones(()), 8)


def gammas(draw):
    """PyTorch's polygamma has errors of 1e-9. Few elements, because mpmath is slow."""
    t = draw.operand(draw.dtype(), draw.shape(large=False), "positive")
    if draw.chance(0.5):
        n = draw.choice([0, 1, 2, 3, -1])

        def want():
            if n < 0:
                raise ValueError("no derivative")
            return by_mpmath(lambda x: mpmath.polygamma(n, x), t.value, math.inf if n % 2 else -math.inf)

        return Call("polygamma", [R, n, t], want)
    p = draw.choice([1, 2, 3, 0])
    p = min(p, 1) if t.dtype == torch.bool else p
    t.base.copy_(p + t.base if t.dtype != torch.bool else torch.ones_like(t.base))

    def total():
        if p < 1:
            raise ValueError("no dimension")
        f = lambda x: sum(mpmath.loggamma(x - mpmath.mpf(k) / 2) for k in range(p)) + p * (p - 1) * mpmath.log(mpmath.pi) / 4
        return by_mpmath(f, t.value)

    return Call("mvlgamma", [R, t, p], total)


def families():
    """(name, function that draws a call) for each operation."""
    kinds = {"unary": unary, "with_value": with_value, "binary": binary}
    for row in rows():
        if row.kind in kinds and torch_call(row) is not None:
            yield kinds[row.kind](row)
    own = [scaled_sum, divided, addcmul, addcdiv, lerp, clamp, clamp_tensor, where, where_value, nan_to_num, masked_fill, isclose, equal, softplus, activation, gammas]
    for draw_call in own:
        for _ in range(3):
            yield draw_call.__name__, draw_call
