"""Operations on single elements."""

import itertools
import operator

import mpmath
import numpy
from torch.nn import functional

from .operands import *

mpmath.mp.prec = 200


def unary(function, oracle, dtypes=ALL, operands=lambda dtype: (EDGES[dtype], PLAIN[dtype]), **how):
    if note("unary", function, oracle, dtypes, **how):
        return
    for dtype in ALL:
        if dtype not in dtypes:
            refuse(function, [R, PLAIN[dtype]])
            continue
        for t in operands(dtype):
            expect(function, [R, t], oracle(t.value), options="each", **how)
        if dtype in SOME:
            for t in (ONE, EMPTY, EMPTY3, ALIKE):
                expect(function, [R, t[dtype]], oracle(t[dtype].value), options="each", **how)


def with_value(function, oracle, dtypes, values, operands=EDGES, before=False, after=(), promotes=True, **how):
    """A function of a tensor and a number. If `before`, the number precedes the tensor and may promote it."""
    if note("with_value", function, oracle, dtypes, values=values, before=before, after=after, **how):
        return

    def arguments(t, x):
        return [R, x, t, *after] if before else [R, t, x, *after]

    def one(t, x):
        computed_in = torch.result_type(t.value, scalar(x)) if promotes else t.value.dtype
        if str(computed_in).removeprefix("torch.") in dtypes:
            expect(function, arguments(t, x), oracle(t.value, scalar(x)), options="each", **how)
        else:
            refuse(function, arguments(t, x))

    for dtype in ALL:
        for x in values if dtype in dtypes else values[:1]:
            one(operands.get(dtype, EDGES[dtype]), x)
        if dtype in ("int64", "float32") and dtype in dtypes:
            for operands_of in (ONE, EMPTY, EMPTY3, ALIKE):
                one(operands_of[dtype], values[0])


def promoted(a, b):
    return str(torch.promote_types(getattr(torch, a), getattr(torch, b))).removeprefix("torch.")


def binary(function, oracle, dtypes=ALL, right=RIGHT, between=(), after=(), pairs=True, **how):
    """A function of two tensors: edges, broadcasting, and all pairs of dtypes."""
    if note("binary", function, oracle, dtypes, between=between, after=after, **how):
        return

    def one(a, b):
        expect(function, [R, a, *between, b, *after], oracle(a.value, b.value), options="each", **how)

    for dtype in ALL:
        if dtype not in dtypes:
            refuse(function, [R, EDGES[dtype], *between, RIGHT[dtype], *after])
            continue
        one(EDGES[dtype], right[dtype])
        one(PLAIN[dtype], right[dtype])
        if dtype in FLOATS:
            one(COLUMN[dtype], ROW[dtype])
        if dtype in MINUS_ONES and right is DIVISORS:
            one(EDGES[dtype], MINUS_ONES[dtype])
        if dtype in ("int64", "float32"):
            for a, b in [(ONE, ONE), (EMPTY, ONE), (EMPTY3, SMALL_ROW), (ALIKE, SMALL_ROW)]:
                one(a[dtype], b[dtype])
            refuse(function, [R, PLAIN[dtype], *between, NONZERO[dtype], *after], ERR_SHAPE)
    for a, b in itertools.permutations(ALL, 2) if pairs else ():
        if promoted(a, b) in dtypes:
            one(SMALL[a], SMALL_ROW[b])


def in_float(f):
    """Functions of real numbers: integers become float32."""
    return lambda *operands: f(*(t if t.is_floating_point() else t.float() for t in operands))


def exactly(f, limit):
    """`f` computed by mpmath with one final rounding. At 0, infinities, NaN and poles, `limit`, PyTorch's function, counts."""

    def at(x):
        if x == 0 or not math.isfinite(x):
            return limit(torch.tensor(x, dtype=torch.float64)).item()
        try:
            y = f(mpmath.mpf(x))
        except (ArithmeticError, ValueError):
            return limit(torch.tensor(x, dtype=torch.float64)).item()
        try:
            return float(y.real) if y.imag == 0 else NAN
        except OverflowError:
            return math.copysign(INF, y.real)

    def oracle(t):
        t = t if t.is_floating_point() else t.float()
        return torch.tensor([at(x) for x in t.flatten().tolist()], dtype=torch.float64).reshape(t.shape).to(t.dtype)

    return oracle


def compared(f):
    """A comparison with a number, which is exact for integers of any dtype."""
    return lambda t, x: f(t.long() if isinstance(x, int) and not t.is_floating_point() else t, x)


def shifted(left):
    """Shifts of floats are products with powers of two."""
    by_bits = torch.bitwise_left_shift if left else torch.bitwise_right_shift

    def oracle(a, b):
        b = b if isinstance(b, torch.Tensor) else torch.tensor(b)
        dtype = torch.result_type(a, b)
        if not dtype.is_floating_point:
            return by_bits(a, b)
        x, n = numpy.broadcast_arrays(a.to(dtype).double().numpy(), b.double().numpy() * (1 if left else -1))
        whole = numpy.isfinite(n) & (n == numpy.round(n))
        with numpy.errstate(all="ignore"):
            products = numpy.where(whole, numpy.ldexp(x, numpy.where(whole, n, 0).astype(int)), x * numpy.exp2(n))
        return torch.as_tensor(products).to(dtype)

    return oracle


def exactly_of_two(f, limit):
    """As `exactly`, for two operands; `limit` is NumPy's function."""

    def at(a, b):
        if a == 0 or b == 0 or not math.isfinite(a) or not math.isfinite(b):
            return float(limit(a, b))
        try:
            return float(f(mpmath.mpf(a), mpmath.mpf(b)))
        except OverflowError:
            return INF

    def oracle(a, b):
        dtype = torch.result_type(a, b)
        dtype = dtype if dtype.is_floating_point else torch.float32
        a, b = torch.broadcast_tensors(a.to(dtype), b.to(dtype))
        values = [at(*pair) for pair in zip(a.flatten().tolist(), b.flatten().tolist())]
        return torch.tensor(values, dtype=torch.float64).reshape(a.shape).to(dtype)

    return oracle


def torch_xlogy(a, b):
    return torch.xlogy(torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)).item()


xlogy = exactly_of_two(lambda a, b: a * mpmath.log(b) if b > 0 else mpmath.nan, torch_xlogy)


def xlogy_of_value(t, x):
    dtype = torch.result_type(t, x)
    dtype = dtype if dtype.is_floating_point else torch.float32
    return xlogy(t.to(dtype), torch.tensor(x, dtype=torch.float64).to(dtype))


def heaviside(a, b):
    dtype = torch.promote_types(a.dtype, b.dtype)
    return torch.heaviside(a.to(dtype), b.to(dtype))


def nextafter(a, b):
    dtype = torch.promote_types(a.dtype, b.dtype)
    a, b = torch.broadcast_tensors(a.to(dtype), b.to(dtype))
    following = torch.as_tensor(numpy.nextafter(a.numpy(), b.numpy())) if dtype == torch.float16 else torch.nextafter(a, b)
    return torch.where(a == b, b, following)


def computed(dtype):
    """The dtype in which numbers of a dtype are computed."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def by_formula(f):
    """A formula in the promoted dtype. 16-bit floats are computed in float32, and every step is rounded."""

    def oracle(*operands):
        dtype = operands[0].dtype if isinstance(operands[0], torch.Tensor) else None
        for t in operands:
            dtype = torch.promote_types(dtype, t.dtype) if isinstance(t, torch.Tensor) else dtype
        return f(*(t.to(computed(dtype)) if isinstance(t, torch.Tensor) else t for t in operands)).to(dtype)

    return oracle


def combined(a, value, b):
    if torch.promote_types(a.dtype, b.dtype) == torch.bool:
        return torch.logical_or(a, b)
    return by_formula(lambda a, b: a + value * b)(a, b)


def powers(a, b):
    dtype = torch.result_type(a, b)
    if not dtype.is_floating_point:
        return torch.pow(a, b)
    b = b.double() if isinstance(b, torch.Tensor) else torch.tensor(b, dtype=torch.float64)
    return torch.pow(a.double(), b).to(dtype)


def clamped(t, least, most):
    """Bounds saturate to the range of integers."""
    dtype = t.dtype
    for bound in (least, most):
        dtype = torch.promote_types(dtype, torch.result_type(t, bound)) if bound is not None else dtype
    t = t.to(dtype)
    if not dtype.is_floating_point and dtype != torch.bool:
        ends = torch.iinfo(dtype)
        least, most = (x if x is None else min(max(x, ends.min), ends.max) for x in (least, most))
    t = t if least is None else torch.maximum(t, torch.tensor(least, dtype=dtype))
    return t if most is None else torch.minimum(t, torch.tensor(most, dtype=dtype))


def lerped(a, b, weight):
    near_a = a + weight * (b - a)
    near_b = b - (b - a) * (1 - weight)
    weight = torch.as_tensor(weight)
    near = torch.where((weight.abs() < 0.5) | ((weight < 0) & near_b.isinf()), near_a, near_b)
    # PyTorch has NaN or an infinity where the difference overflows: the sum of the shares, of which one of weight 0 is 0.
    share = lambda t, weight: torch.where((weight == 0) & t.isinf(), 0, t * weight)
    return torch.where((b - a).isfinite(), near, share(a, 1 - weight) + share(b, weight))


def divided(by_python, by_numpy):
    """Integers are computed one by one, because PyTorch traps on the least integer divided by -1; quotients wrap.

    Floats are computed by NumPy, because PyTorch's remainders are not exact for large quotients.
    """

    def oracle(a, b):
        dtype = torch.result_type(a, b)
        a, b = torch.broadcast_tensors(a.to(dtype), torch.as_tensor(b).to(dtype))
        if dtype.is_floating_point:
            with numpy.errstate(all="ignore"):
                return torch.as_tensor(by_numpy(a.to(computed(dtype)).numpy(), b.to(computed(dtype)).numpy())).to(dtype)
        values = [by_python(*pair) for pair in zip(a.flatten().tolist(), b.flatten().tolist())]
        ends = torch.iinfo(dtype)
        values = [ends.min if x == ends.max + 1 else x for x in values]
        return torch.tensor(values, dtype=dtype).reshape(a.shape)

    return oracle


def trunc_div(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def isclose(a, b, rtol, atol, equal_nan):
    dtype = computed(torch.promote_types(a.dtype, b.dtype))
    dtype = dtype if dtype.is_floating_point else torch.float64
    return torch.isclose(*torch.broadcast_tensors(a.to(dtype), b.to(dtype)), rtol=rtol, atol=atol, equal_nan=equal_nan)


# PyTorch's name, mpmath's function, units in the last place.
FUNCTIONS = [
    ("rsqrt", lambda x: 1 / mpmath.sqrt(x), 2),
    ("exp", mpmath.exp, 2), ("exp2", lambda x: mpmath.power(2, x), 2), ("expm1", mpmath.expm1, 2),
    ("log", mpmath.log, 2), ("log1p", mpmath.log1p, 2), ("log2", lambda x: mpmath.log(x) / mpmath.log(2), 2), ("log10", mpmath.log10, 2),
    ("sin", mpmath.sin, 2), ("cos", mpmath.cos, 2), ("tan", mpmath.tan, 2), ("asin", mpmath.asin, 2), ("acos", mpmath.acos, 2),
    ("atan", mpmath.atan, 2), ("sinh", mpmath.sinh, 2), ("cosh", mpmath.cosh, 2), ("tanh", mpmath.tanh, 2),
    ("asinh", mpmath.asinh, 2), ("acosh", mpmath.acosh, 2), ("atanh", mpmath.atanh, 2), ("sinc", mpmath.sincpi, 2),
    ("sigmoid", lambda x: 1 / (1 + mpmath.exp(-x)), 2), ("erf", mpmath.erf, 2), ("erfc", mpmath.erfc, 2), ("erfinv", mpmath.erfinv, 4),
    ("lgamma", lambda x: mpmath.loggamma(x).real, 4), ("digamma", mpmath.digamma, 2),
]


def interesting(dtype):
    """Functions of real numbers convert integers to float32."""
    if dtype in ("float32", "float64"):
        return EDGES[dtype], PLAIN[dtype]
    return (EDGES[dtype],) if dtype in SOME or dtype in FLOATS else (ALIKE[dtype],)


def functions():
    for name, f, ulps in FUNCTIONS:
        unary(name, exactly(f, getattr(torch, name)), operands=interesting, ulps=ulps)
    unary("sqrt", exactly(mpmath.sqrt, torch.sqrt))
    unary("cinv", in_float(torch.reciprocal))
    gelu = exactly(lambda x: x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2, torch.nn.functional.gelu)
    unary("gelu", gelu, FLOATS, ulps=2)
    inner = lambda x: mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3)
    gelu_tanh = exactly(lambda x: x / (1 + mpmath.exp(-2 * inner(x))), lambda t: torch.nn.functional.gelu(t, approximate="tanh"))
    unary("geluTanh", gelu_tanh, FLOATS, ulps=2)
    for n in (0, 1, 2, 5):
        # At its poles PyTorch's trigamma is a large number.
        oracle = exactly(lambda x: mpmath.polygamma(n, x), lambda t: torch.digamma(t) if n == 0 else torch.tensor(INF if n % 2 else -INF))
        for dtype in FLOATS + ["int64"]:
            expect("polygamma", [R, n, PLAIN[dtype]], oracle(PLAIN[dtype].value), options="each", ulps=2)
    for p in (1, 2, 4):
        for dtype in FLOATS + ["int64", "bool"]:
            t = tensor(f"beyond{p}.{dtype}", [p + i % 9 for i in range(35)], dtype, (5, 7))
            total = lambda x: sum(mpmath.loggamma(x - mpmath.mpf(k) / 2) for k in range(p)) + p * (p - 1) * mpmath.log(mpmath.pi) / 4
            expect("mvlgamma", [R, t, p], exactly(total, lambda t: torch.tensor(INF))(t.value), options="each", ulps=8)
    refuse("polygamma", [R, -1, PLAIN["float32"]], ERR_ARGUMENT)
    refuse("mvlgamma", [R, PLAIN["float32"], 0], ERR_ARGUMENT)
    logaddexp = lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b))
    for name, f, ulps in (("atan2", mpmath.atan2, 2), ("hypot", mpmath.hypot, 2), ("logaddexp", logaddexp, 4)):
        binary(name, exactly_of_two(f, getattr(numpy, name)), ulps=ulps, pairs=name == "atan2")
    binary("xlogy", xlogy, ulps=3, pairs=False, more="unsigned")
    with_value("xlogyValue", xlogy_of_value, ALL, [3, 0.5, 0, -1, INF, NAN], ulps=3, more="unsigned")
    binary("copysign", lambda a, b: torch.copysign(a, torch.where(b.isnan(), 1, b)), pairs=False)
    binary("nextafter", nextafter, FLOATS)
    activations()
    with_value("leakyRelu", torch.nn.functional.leaky_relu, FLOATS, [0.25, 0, -1.5], promotes=False)
    elu = lambda t, a: torch.where(t > 0, t.double(), a * torch.expm1(t.double())).to(t.dtype)
    with_value("elu", elu, FLOATS, [1, 0.5, -2], promotes=False, ulps=2)
    for dtype in ALL:
        for beta, threshold in [(1, 20), (2, 5), (0.5, 3)]:
            t = EDGES[dtype]
            if dtype in FLOATS:
                x = t.value.double()
                soft = torch.where(x * beta > threshold, x, torch.log1p(torch.exp(x * beta)) / beta).to(t.value.dtype)
                expect("softplus", [R, t, beta, threshold], soft, options="each", ulps=3)
            else:
                refuse("softplus", [R, t, beta, threshold])


def limits(f, below, above):
    """PyTorch's function with the given limits at -inf and inf."""
    return lambda t: torch.where(t == -INF, below, torch.where(t == INF, above, f(t)))


SELU_ALPHA, SELU_SCALE = mpmath.mpf("1.6732632423543772848170429916717"), mpmath.mpf("1.0507009873554804934193349852946")
# mpmath's function, PyTorch's function with its limits, units in the last place.
ACTIVATIONS = {
    "silu": (lambda x: x / (1 + mpmath.exp(-x)), limits(functional.silu, -0.0, INF), 2),
    "mish": (lambda x: x * mpmath.tanh(mpmath.log1p(mpmath.exp(x))), limits(functional.mish, -0.0, INF), 2),
    "hardswish": (lambda x: 0 if x <= -3 else x if x >= 3 else x * (x + 3) / 6, limits(functional.hardswish, 0.0, INF), 2),
    "hardsigmoid": (lambda x: min(max(x + 3, 0), 6) / 6, functional.hardsigmoid, 2),
    "selu": (lambda x: SELU_SCALE * (x if x > 0 else SELU_ALPHA * mpmath.expm1(x)), functional.selu, 3),
    "softsign": (lambda x: x / (1 + abs(x)), limits(functional.softsign, -1.0, 1.0), 2),
    "logSigmoid": (lambda x: -mpmath.log1p(mpmath.exp(-x)), limits(functional.logsigmoid, -INF, -0.0), 2),
}


def activations():
    for name, (f, limit, ulps) in ACTIVATIONS.items():
        unary(name, exactly(f, limit), FLOATS, ulps=ulps, more="unsigned" if name == "hardswish" else "")
    celu = lambda t, a: torch.where(t > 0, t.double(), a * torch.expm1(t.double() / a)).to(t.dtype)
    with_value("celu", celu, FLOATS, [1, 0.5], promotes=False, ulps=2)
    with_value("softshrink", functional.softshrink, FLOATS, [0.5, 0, 2], promotes=False, more="unsigned")
    with_value("hardshrink", functional.hardshrink, FLOATS, [0.5, 0, -1], promotes=False)
    refuse("celu", [R, PLAIN["float32"], 0], ERR_ARGUMENT)
    refuse("softshrink", [R, PLAIN["float32"], -0.5], ERR_ARGUMENT)
    for dtype in FLOATS:
        expect("celu", [R, BENDS[dtype], -8], celu(BENDS[dtype].value, -8), options="each", ulps=2)
    for dtype in ALL:
        for bound, value in ((0.5, -2), (0, 7), (-INF, 1), (NAN, INF)):
            if dtype in FLOATS:
                expect("threshold", [R, EDGES[dtype], bound, value], functional.threshold(EDGES[dtype].value, bound, value), options="each")
            else:
                refuse("threshold", [R, EDGES[dtype], bound, value])
    prelu_and_glu()


def prelu_and_glu():
    prelu = by_formula(lambda t, w: torch.where(t > 0, t, w.reshape(-1, *[1] * (t.dim() - 2)) * t))
    gate = exactly_of_two(lambda a, b: a / (1 + mpmath.exp(-b)), lambda a, b: a * torch.sigmoid(torch.tensor(b, dtype=torch.float64)).item())
    for dtype in ALL:
        if dtype not in FLOATS:
            refuse("prelu", [R, SMALL[dtype], SMALL_ROW[dtype]])
            refuse("glu", [R, SMALL[dtype], 0])
            continue
        cube = tensor(f"channels.{dtype}", EDGES[dtype].value.flatten()[:30].tolist(), dtype, (2, 3, 5))
        weight = tensor(f"slopes.{dtype}", [0.25, -1.5, 0], dtype)
        single = tensor(f"slope.{dtype}", [0.25], dtype)
        infinite = tensor(f"infinite_slopes.{dtype}", [INF, NAN, -0.0], dtype)
        for t, w in [(cube, weight), (cube, infinite), (SMALL[dtype], weight), (cube, single), (cube, ONE[dtype]), (EDGES[dtype], single), (EMPTY3[dtype], single)]:
            expect("prelu", [R, t, w], prelu(t.value, w.value))
        for t in (weight, ONE[dtype], EMPTY[dtype]):
            expect("prelu", [R, t, single], torch.where(t.value > 0, t.value, 0.25 * t.value))
        for t, w in [(EDGES[dtype], weight), (weight, weight), (cube, EMPTY[dtype]), (SMALL[dtype], SMALL[dtype])]:
            refuse("prelu", [R, t, w], ERR_SHAPE)
        left, right = EDGES[dtype].value.flatten()[:20], BENDS[dtype].value.flatten()[:20]
        rows = tensor(f"gates.{dtype}", torch.cat([left, right]).tolist(), dtype, (10, 4))
        columns = tensor(f"side_gates.{dtype}", torch.cat([left.reshape(4, 5), right.reshape(4, 5)], 1).flatten().tolist(), dtype, (4, 10))
        gated = gate(left, right)
        expect("glu", [R, rows, 0], gated.reshape(5, 4), ulps=3)
        for dim in (1, -1):
            expect("glu", [R, columns, dim], gated.reshape(4, 5), ulps=3)
        for t, dim in [(EMPTY[dtype], 0), (EMPTY3[dtype], 0), (EMPTY3[dtype], 1)]:
            expect("glu", [R, t, dim], functional.glu(t.value, dim))
        for t, dim in [(EDGES[dtype], 0), (EMPTY3[dtype], 2), (ONE[dtype], 0)]:
            refuse("glu", [R, t, dim], ERR_SHAPE)
        refuse("glu", [R, rows, 2], ERR_ARGUMENT)
    for a, b in itertools.permutations(FLOATS, 2):
        t, w = SMALL[a], SMALL_ROW[b]
        expect("prelu", [R, t, w], prelu(t.value, w.value))


def arithmetic():
    unary("square", torch.square, NUMBERS)
    unary("neg", torch.neg, NUMBERS)
    unary("abs", torch.abs, NUMBERS)
    unary("sign", lambda t: torch.sign(t) + 0 if t.is_floating_point() else torch.sign(t))
    for name in ("floor", "ceil", "round", "trunc"):
        unary(name, getattr(torch, name), NUMBERS)
    unary("frac", lambda t: torch.where(t.isinf(), NAN, torch.frac(t)), FLOATS)
    unary("relu", torch.relu, NUMBERS, more="unsigned")
    unary("bitwiseNot", torch.bitwise_not, WHOLE)
    for name in ("isnan", "isinf", "isfinite"):
        unary(name, getattr(torch, name))
    # The sign of a NaN depends on the operation that made it.
    numbers = {d: tensor(f"numbers.{d}", [x if x == x else -1 for x in EDGES[d].value.flatten().tolist()], d, (5, 7)) for d in FLOATS}
    unary("signbit", torch.signbit, operands=lambda d: (numbers.get(d, EDGES[d]), PLAIN[d]))
    unary("logicalNot", torch.logical_not)

    for name, f in {"cmul": torch.mul, "cmax": torch.maximum, "cmin": torch.minimum}.items():
        binary(name, f, pairs=name != "cmin", more="unsigned")
    binary("cdiv", torch.div)
    for value in (1, -3):
        binary("cadd", lambda a, b: combined(a, value, b), between=[value], pairs=value == 1)
        binary("csub", lambda a, b: combined(a, -value, b), NUMBERS, between=[value], pairs=False)
        binary("crsub", lambda a, b: combined(b, -value, a), NUMBERS, between=[value], pairs=False)
    binary("cadd", lambda a, b: combined(a, 0.5, b), FLOATS, between=[0.5], pairs=False)
    for name in ("and", "or", "xor"):
        binary(f"cbit{name}", getattr(torch, f"bitwise_{name}"), WHOLE, pairs=name == "and")
        binary(f"logical{name.title()}", getattr(torch, f"logical_{name}"), pairs=name == "xor")
        with_value(f"bit{name}", getattr(torch, f"bitwise_{name}"), WHOLE, [6, -1])
    binary("clshift", shifted(True), NUMBERS, right=SHIFTS, ulps=2)
    binary("crshift", shifted(False), NUMBERS, right=SHIFTS, pairs=False, ulps=2)
    with_value("lshift", shifted(True), NUMBERS, [1, 7, 8, 64, -1])
    with_value("rshift", shifted(False), NUMBERS, [1, 7, 8, 64, -1])
    for dtype, n in itertools.product(FLOATS, (130, -130, 1100, -2000)):
        expect("lshift", [R, EDGES[dtype], n], shifted(True)(EDGES[dtype].value, n), options="each")
        expect("rshift", [R, EDGES[dtype], n], shifted(False)(EDGES[dtype].value, n), options="each")
    binary("cpow", powers, NUMBERS, right={**EXPONENTS, **{d: RIGHT[d] for d in FLOATS}}, ulps=4)
    for name, f in {"add": torch.add, "sub": lambda t, x: t.to(torch.result_type(t, x)) - x, "mul": torch.mul}.items():
        with_value(name, f, ALL, [3, -2, 0.5, INF])
    with_value("rsub", lambda t, x: x - t.to(torch.result_type(t, x)), ALL, [3, -2, 0.5, INF])
    binary("heaviside", heaviside)
    with_value("div", torch.div, ALL, [3, -2, 0, 0.5, INF])
    # The number is not rounded to 16 bits: 4098 / 2 is 2049, and 2050 rounded.
    for dtype in ("float16", "bfloat16"):
        t = tensor(f"over.{dtype}", [2, 3, 0.5, -7], dtype)
        for x in (2049, 4099.5, 0.3):
            expect("rdiv", [R, t, x], (x / t.value.double()).to(t.value.dtype), options="each")
    with_value("pow", powers, NUMBERS, [0, 1, 2, 3, 5, 0.5, 1.25], ulps=4)
    # Numbers that float32 cannot hold, one of them odd.
    for dtype, x in itertools.product(["float32", "float64"], [0.3333, -0.1, 16777217]):
        expect("pow", [R, EDGES[dtype], x], powers(EDGES[dtype].value, x), options="each", ulps=4 if dtype == "float64" else 1)
    for dtype, x in itertools.product(FLOATS, [-1, -2, -0.5, INF, -INF, NAN]):
        expect("pow", [R, EDGES[dtype], x], powers(EDGES[dtype].value, x), options="each", ulps=4)
    bases = {**EXPONENTS, **{d: EDGES[d] for d in FLOATS}}
    with_value("tpow", lambda t, x: powers(torch.tensor(x), t), NUMBERS, [2, 1, 0.5], operands=bases, before=True, ulps=4)
    with_value("cmaxValue", lambda t, x: clamped(t, x, None), ALL, [3, -2, 0.5, NAN], more="unsigned")
    with_value("cminValue", lambda t, x: clamped(t, None, x), ALL, [3, -2, 0.5, NAN], more="unsigned")


def division():
    truncated = divided(trunc_div, lambda a, b: numpy.trunc(a / b))
    floored = divided(lambda a, b: a // b, numpy.floor_divide)
    for mode, oracle in ((1, truncated), (2, floored)):
        binary("cdivMode", oracle, NUMBERS, right=DIVISORS, after=[mode], pairs=mode == 2)
        with_value("divMode", oracle, NUMBERS, [3, -2, 0.5, INF], after=[mode])
    binary("cdivMode", torch.div, right=RIGHT, after=[0], pairs=False)
    rest = divided(lambda a, b: a - b * trunc_div(a, b), numpy.fmod)
    # A remainder of 0 has the sign of the dividend, as in PyTorch.
    modulo = divided(lambda a, b: a % b, lambda a, b: numpy.where((r := numpy.remainder(a, b)) == 0, numpy.copysign(r, a), r))
    for name, oracle in (("fmod", rest), ("remainder", modulo)):
        binary(f"c{name}", oracle, NUMBERS, right=DIVISORS, pairs=name == "remainder")
        with_value(name, oracle, NUMBERS, [3, -2, 0.75, INF])
    for dtype in INTEGERS:
        # Dividends near multiples of their divisors, where quotients computed as floats would be wrong.
        a, b = MULTIPLES[dtype], DIVISORS[dtype]
        modes = (("cdivMode", truncated, [1]), ("cdivMode", floored, [2]), ("cfmod", rest, []), ("cremainder", modulo, []))
        for function, oracle, after in modes:
            expect(function, [R, a, b, *after], oracle(a.value, b.value), options="each")
    for dtype in INTEGERS:
        a, b = PLAIN[dtype], SMALL[dtype]
        for function, after in (("cfmod", []), ("cremainder", []), ("cdivMode", [1]), ("cdivMode", [2])):
            refuse(function, [R, b, b, *after], ERR_ARGUMENT)
        for function, after in (("fmod", []), ("remainder", []), ("divMode", [1]), ("divMode", [2])):
            refuse(function, [R, a, 0, *after], ERR_ARGUMENT)


def comparison():
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        f = getattr(torch, name)
        binary(f"{name}Tensor", f, pairs=name in ("lt", "eq"))
        with_value(f"{name}Value", compared(f), ALL, [3, -1, 300, 2.5, NAN])
    for dtype in ALL:
        a, b = EDGES[dtype], PLAIN[dtype]
        for rtol, atol, nan in [(1e-5, 1e-8, 0), (0.5, 1, 1), (0, 0, 1), (0, INF, 0)]:
            for x, y in [(a, a), (a, b)]:
                expect("isclose", [R, x, y, rtol, atol, nan], isclose(x.value, y.value, rtol, atol, bool(nan)), options="each")
                alike = isclose(x.value, y.value, rtol, atol, bool(nan)).all()
                expect("allclose", [x, y, rtol, atol, nan], ("returns", "int32", int(alike)))
        expect("equal", [b, b], ("returns", "int32", 1))
        expect("equal", [a, a], ("returns", "int32", int(torch.equal(a.value, a.value))))
        expect("equal", [a, ONE[dtype]], ("returns", "int32", 0))
        expect("equal", [EMPTY[dtype], EMPTY[dtype]], ("returns", "int32", 1))
    refuse("isclose", [R, a, b, -1, 0, 0], ERR_ARGUMENT)
    exact_comparison()


def exact_comparison():
    """Integers beside numbers and 0-d tensors that their dtype does not have, as Python compares them."""
    kinds = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne}
    ends = tensor("ends.int64", [2**63 - 1, 2**63 - 513, 2**62, 2**24 + 1, 0, -1, -(2**63) + 1, -(2**63)], "int64")
    for (name, f), x in itertools.product(kinds.items(), (2.0**63, 1e30, -(2.0**63), -1e30, INF, -INF, 2.0**24 + 0.5, -0.5, NAN)):
        expect(f"{name}Value", [R, ends, x], torch.tensor([f(e, x) for e in ends.value.tolist()]), options="each")
    scalars = [tensor("below.int8", -19, "int8"), tensor("above.int64", 2**40 + 1, "int64"), tensor("above.int16", 256, "int16"), tensor("least.int64", -(2**63), "int64")]
    for dtype, of in itertools.product(INTEGERS, scalars):
        t, x = SMALL[dtype], of.value.item()
        for name, f in kinds.items():
            expect(f"{name}Tensor", [R, t, of], torch.tensor([f(e, x) for e in t.value.flatten().tolist()]).reshape(t.value.shape), options="each")
        expect("logicalAnd", [R, t, of], t.value != 0, options="each")
        limits = torch.iinfo(t.value.dtype)
        nearest = torch.tensor(min(max(x, limits.min), limits.max), dtype=t.value.dtype)
        for function, f in (("cmax", torch.maximum), ("cmin", torch.minimum)):
            expect(function, [R, t, of], f(t.value, nearest), options="each")
            expect(function, [R, of, t], f(t.value, nearest), options="each")
            expect(f"{function}Value", [R, t, float(x)], f(t.value, nearest), options="each")
        expect("clampTensor", [R, t, of, of], nearest.expand_as(t.value), options="each")
    for x in (2.0**63, -1e300):
        limits = torch.iinfo(torch.int64)
        nearest = torch.tensor(limits.max if x > 0 else limits.min)
        expect("cmaxValue", [R, ends, x], torch.maximum(ends.value, nearest), options="each")
        expect("cminValue", [R, ends, x], torch.minimum(ends.value, nearest), options="each")


def choice():
    masks = [tensor(f"mask.{d}", [i % 3 == 1 for i in range(35)], d, (5, 7)) for d in ("bool", "uint8")]
    mask_row = tensor("mask_row", [1, 0, 0, 1, 1, 0, 1], "bool", (7,))
    mask3 = tensor("mask3", [0, 1, 1], "bool", (3,))
    for dtype in ALL:
        a, b = EDGES[dtype], PLAIN[dtype]
        for mask in (*masks, mask_row):
            expect("where", [R, mask, a, b], torch.where(mask.value.bool(), a.value, b.value), options="each")
            expect("maskedFill", [Start(a), mask, 3], torch.masked_fill(a.value, mask.value.bool(), 3), options="each")
        expect("maskedFill", [Start(a), mask_row, 0.5], torch.where(mask_row.value, torch.tensor(0.5).to(a.value.dtype), a.value))
        expect("where", [R, mask_row, a, ONE[dtype]], torch.where(mask_row.value, a.value, ONE[dtype].value), options="each")
        for x in (3, 0.5, -INF):
            expect("whereValue", [R, mask_row, a, x], torch.where(mask_row.value, a.value, x), options="each")
            expect("whereValueTensor", [R, masks[1], x, a], torch.where(masks[1].value.bool(), x, a.value), options="each")
        for nan, most, least in [(0, NAN, NAN), (1.5, INF, -INF), (7, 100, -100), (NAN, 3, NAN)]:
            or_none = lambda x: None if math.isnan(x) else x
            oracle = torch.nan_to_num(a.value, nan, or_none(most), or_none(least))
            expect("nanToNum", [R, a, nan, most, least], oracle, options="each")
        bounds = tensor(f"least.{dtype}", [2] * 35, dtype, (5, 7)), RIGHT[dtype]
        for least, most in [bounds, bounds[::-1], (ONE[dtype], b), (b, NULL), (NULL, b)]:
            r = a.value if least is NULL else torch.maximum(a.value, least.value)
            r = r if most is NULL else torch.minimum(r, most.value)
            expect("clampTensor", [R, a, least, most], r, options="each unsigned")
        for low, high in [(-2, 5), (0, 3), (4, 1), (-INF, 3), (1, INF), (-1.5, 2.5), (-300, 70000)]:
            least, most = None if low == -INF else low, None if high == INF else high
            expect("clamp", [R, a, low, high], clamped(a.value, least, most), options="each unsigned")
            if low in (-2, -1.5):
                expect("hardtanh", [R, a, low, high], clamped(a.value, least, most), options="each unsigned")
        refuse("hardtanh", [R, a, 3, 1], ERR_ARGUMENT)
        refuse("where", [R, PLAIN["int32"], a, b])
        refuse("maskedFill", [Start(a), PLAIN["float32"], 1])
    for x, y in [(1, 0), (1, 0.5), (INF, -2), (2**40, 7)]:
        expect("whereValues", [R, mask_row, x, y], torch.where(mask_row.value, x, y), options="each")
    for function, arguments in (("whereValue", [EDGES["uint8"], 300]), ("whereValueTensor", [-129, EDGES["int8"]])):
        refuse(function, [R, mask_row, *arguments], ERR_ARGUMENT)
    refuse("clampTensor", [R, a, NULL, NULL], ERR_ARGUMENT)
    refuse("clampTensor", [R, PLAIN["float32"], NONZERO["float32"], NULL], ERR_SHAPE)
    for a, b in itertools.permutations(ALL, 2):
        t, row = SMALL[a], SMALL_ROW[b]
        expect("where", [R, mask3, t, row], torch.where(mask3.value, t.value, row.value), options="each")
        expect("clampTensor", [R, t, row, ONE[b]], torch.minimum(torch.maximum(t.value, row.value), ONE[b].value), options="each")
    for a, b in itertools.permutations(SOME, 2):
        expect("cmax", [R, SMALL[a], ONE[b]], torch.maximum(SMALL[a].value, ONE[b].value), options="each")
        expect("cmax", [R, ONE[a], SMALL[b]], torch.maximum(ONE[a].value, SMALL[b].value), options="each")


def three_operands():
    for dtype in ALL:
        t, a, b = PLAIN[dtype], EDGES[dtype], DIVISORS[dtype] if dtype in NUMBERS else RIGHT[dtype]
        for value in (1, -2):
            if dtype in NUMBERS:
                oracle = by_formula(lambda t, a, b: t + value * a * b)
                expect("addcmul", [R, t, value, a, b], oracle(t.value, a.value, b.value), options="each unsigned")
            if dtype in FLOATS:
                oracle = by_formula(lambda t, a, b: t + value * a / b)
                expect("addcdiv", [R, t, value, a, b], oracle(t.value, a.value, b.value), options="each unsigned")
        if dtype in ("float32", "float64"):
            # The difference from the far end exceeds the largest number.
            large = torch.finfo(getattr(torch, dtype)).max * 0.875
            zero, end = tensor(f"zero.{dtype}", [0], dtype), tensor(f"end.{dtype}", [large], dtype)
            expect("lerp", [R, zero, end, -0.875], end.value * -0.875, ulps=1)
            low = tensor(f"low.{dtype}", [-large], dtype)
            for weight in (0, 0.25, 0.5, 0.75, 1):
                expect("lerp", [R, low, end, weight], torch.tensor([(2 * weight - 1) * large], dtype=end.value.dtype), ulps=1)
        for weight in (0, 0.25, 0.5, 1, -2, 3.5) if dtype in FLOATS else ():
            oracle = by_formula(lambda a, b: lerped(a, b, weight))
            expect("lerp", [R, t, a, weight], oracle(t.value, a.value), options="each unsigned")
        if dtype in FLOATS:
            expect("lerpTensor", [R, a, t, b], by_formula(lerped)(a.value, t.value, b.value), options="each unsigned")
        else:
            refuse("addcdiv", [R, t, 1, a, b])
            refuse("lerp", [R, t, a, 0.5])
            refuse("lerpTensor", [R, t, a, b])
    refuse("addcmul", [R, PLAIN["bool"], 1, PLAIN["bool"], PLAIN["bool"]])
    for one, other in itertools.permutations(NUMBERS, 2):
        t, a, b = SMALL[one], SMALL_ROW[other], ONE[other]
        expect("addcmul", [R, t, 2, a, b], t.value + 2 * a.value * b.value, options="each")


def converted(t, name):
    """Floats saturate to the range of integers; NaN becomes 0."""
    dtype = getattr(torch, name)
    if not t.is_floating_point() or dtype.is_floating_point or dtype == torch.bool:
        return t.to(dtype)
    ends = torch.iinfo(dtype)
    values = [0 if math.isnan(x) else int(min(max(x, ends.min), ends.max)) for x in t.flatten().tolist()]
    return torch.tensor([min(x, ends.max) for x in values], dtype=dtype).reshape(t.shape)


def conversions():
    for one, other in itertools.product(ALL, SOME):
        expect("copy", [Start(PLAIN[other]), EDGES[one]], converted(EDGES[one].value, other))


def callbacks():
    for dtype in SOME:
        t, row, one = SMALL[dtype], SMALL_ROW[dtype], ONE[dtype]
        if dtype == "bool":
            continue
        expect("apply", [Start(t), Raw("&twice"), NULL], t.value * 2)
        expect("map", [Start(t), row, Raw("&difference"), NULL], converted(t.value.double() - row.value, dtype))
        expect("map2", [Start(t), row, one, Raw("&product_sum"), NULL], t.value + row.value * one.value)


def rows():
    for part in (functions, arithmetic, division, comparison, choice, three_operands, conversions, callbacks):
        part()
