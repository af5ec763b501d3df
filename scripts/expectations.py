#!/usr/bin/env python3
"""Writes tests/data/expectations.txt, what c_tests/table.lua expects of thorn, as PyTorch, NumPy and mpmath compute it.

    python3 -m venv oracle && oracle/bin/pip install torch==2.15.0 numpy==2.4.6 mpmath
    oracle/bin/python scripts/expectations.py

Always writes the same file. An operation is one line here: its function in C, what PyTorch calls it (or a function that computes it), and the
dtypes it takes; it must refuse the others. c_tests/table.lua explains the lines of the file and lays out operands and results.
"""

import collections
import functools
import itertools
import math
import os

import mpmath
import numpy
import torch

mpmath.mp.prec = 200

OUT = os.path.join(os.path.dirname(__file__), "..", "tests", "data", "expectations.txt")
TH_ALL_DIMS = -(2**31)
ERR_ARGUMENT, ERR_SHAPE, ERR_DTYPE = 1, 2, 3
INF, NAN = math.inf, math.nan

INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
NUMBERS = INTEGERS + FLOATS
ALL = NUMBERS + ["bool"]
WHOLE = INTEGERS + ["bool"]
# One of each kind.
SOME = ["uint8", "int32", "int64", "bfloat16", "float32", "float64", "bool"]

lines = []


# Writing


def dtype_name(t):
    return str(t.dtype).removeprefix("torch.")


def shape_name(t):
    return "x".join(map(str, t.shape)) or "scalar"


def text_of_float(x, dtype):
    """The fewest digits that give `x` in `dtype`."""
    return shortest(x, dtype) if math.isfinite(x) and x != 0 else str(x).removesuffix(".0")


@functools.cache
def shortest(x, dtype):
    if dtype == torch.float64:
        text = repr(x)
    elif dtype == torch.float32:
        text = str(numpy.float32(x))
    else:
        near = (f"{x:.{digits}g}" for digits in range(1, 10))
        text = next(text for text in near if torch.tensor(float(text), dtype=torch.float64).to(dtype).item() == x)
    return text.removesuffix(".0").replace("e+", "e")


def values_text(t):
    if t.is_floating_point():
        return " ".join(text_of_float(x, t.dtype) for x in t.flatten().double().tolist())
    return " ".join(str(int(x)) for x in t.flatten().tolist())


class Operand:
    """A tensor with a name in the file."""

    def __init__(self, name, value, line=None):
        self.name, self.value = name, value
        lines.append(line or f"tensor {name} {dtype_name(value)} {shape_name(value)} {values_text(value)}".rstrip())


def tensor(name, values, dtype, shape=None):
    value = torch.tensor(values, dtype=torch.float64 if dtype in FLOATS else torch.int64).to(getattr(torch, dtype))
    return Operand(name, value if shape is None else value.reshape(shape))


def random(name, dtype, shape, seed, modulus, shift, scale):
    """Multiples of `scale` from `shift` to `shift + modulus - 1`, by a generator that Lua has, too."""
    state, values = seed, []
    for _ in range(math.prod(shape)):
        state = state * 16807 % 2147483647
        values.append((state % modulus + shift) * scale)
    line = f"lcg {name} {dtype} {'x'.join(map(str, shape))} {seed} {modulus} {shift} {text_of_float(float(scale), torch.float64)}"
    value = torch.tensor(values, dtype=torch.float64).to(getattr(torch, dtype)).reshape(shape)
    return Operand(name, value, line)


class Given:
    """A result that has a dtype already."""

    def __init__(self, dtype):
        self.text = f"r:{dtype}"


class Start:
    """A result that starts as a copy of an operand."""

    def __init__(self, operand):
        self.text = f"r=@{operand.name}"


class Raw:
    """An argument in the words of the file."""

    def __init__(self, text):
        self.text = text


R, MAYBE, NULL, ROWS = Raw("r"), Raw("r?"), Raw("null"), Raw('"ij"')


def argument_text(x):
    if isinstance(x, Operand):
        return "@" + x.name
    if isinstance(x, (Raw, Given, Start)):
        return x.text
    if isinstance(x, list):
        return "[" + ",".join(map(str, x)) + "]"
    if isinstance(x, tuple):
        return "(" + ",".join(map(argument_text, x)) + ")"
    return text_of_float(float(x), torch.float64) if isinstance(x, float) else str(int(x))


def result_text(t, every):
    flat = t.flatten()
    if every > 1:
        flat = flat[sorted({*range(0, flat.numel(), every), flat.numel() - 1})]
    return f"{dtype_name(t)} {shape_name(t)} {values_text(flat)}".rstrip()


def expect(function, arguments, *results, options="", more="", ulps=0, every=1):
    """One call, and its results: tensors, ("returns", dtype, number) or ("error", status)."""
    options = f"{options} {more}".strip()
    options = f"{options} ulps={ulps}" if ulps else options
    options = f"{options} every={every}" if every > 1 else options
    parts = [f"call {function} " + " ".join(map(argument_text, arguments)), options.strip()]
    for result in results:
        if isinstance(result, torch.Tensor):
            parts.append(result_text(result, every))
        elif result[0] == "error":
            parts.append(f"error {result[1]}")
        else:
            value = torch.tensor(result[2], dtype=getattr(torch, result[1]))
            parts.append(f"returns {result[1]} {values_text(value)}")
    lines.append(" | ".join(parts))


def refuse(function, arguments, status=ERR_DTYPE):
    expect(function, arguments, ("error", status))


# Operands

LIMITS = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-(2**15), 2**15 - 1), "int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
# Greatest finite number, least normal one, least of all.
ENDS = {"float16": (65504, 2**-14, 2**-24), "bfloat16": (3.3895313892515355e38, 2**-126, 2**-133), "float32": (3.4028234663852886e38, 2**-126, 2**-149),
        "float64": (1.7976931348623157e308, 2**-1022, 2**-1074)}


def integer_edges(dtype):
    low, high = LIMITS[dtype]
    others = [low, low + 1, -100, -9, -8, -7, -5, -3, -2, -1] if low else [128, 129, 150, 199, 200, 201, 248, 250, 251, 253]
    middle = {"int32": [2**24 + 1, 2**30], "int64": [2**53 + 1, 2**31]}.get(dtype, [11, 12])
    return others + [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 31, 32, 63, 64, 100] + [high, high - 1, high // 2, high // 3, high // 7] + middle


def edges(dtype):
    """35 numbers where things happen."""
    if dtype == "bool":
        return [i % 3 == 0 or i % 5 == 1 for i in range(35)]
    if dtype in INTEGERS:
        return integer_edges(dtype)
    greatest, normal, least = ENDS[dtype]
    signed = [1, 0.5, 1.5, 2.5, 3.75, 0.1, 0.999, 1e-3, 7.3, 20.25, 100.5, greatest, normal, least]
    return [0, -0.0, INF, -INF, NAN, *signed, *(-x for x in signed), 88, -9.5]


def plain(dtype):
    """35 numbers of everyday size, both signs."""
    if dtype == "bool":
        return [i % 2 for i in range(35)]
    if dtype in INTEGERS:
        return [(i * 5) % 35 - (0 if dtype == "uint8" else 17) for i in range(35)]
    return [round((-1) ** i * 1.31 ** (i - 20), 4) for i in range(35)]


EDGES = {d: tensor(f"edges.{d}", edges(d), d, (5, 7)) for d in ALL}
PLAIN = {d: tensor(f"plain.{d}", plain(d), d, (5, 7)) for d in ALL}

# Divisors and exponents: pairs with every kind of edge.
RIGHT = {d: tensor(f"right.{d}", list(EDGES[d].value.flatten().roll(11).tolist()), d, (5, 7)) for d in ALL}
DIVISORS = {
    d: RIGHT[d] if d in FLOATS else tensor(f"divisors.{d}", [x or 1 for x in EDGES[d].value.flatten().flip(0).tolist()], d, (5, 7)) for d in NUMBERS
}
MINUS_ONES = {d: tensor(f"minus.{d}", [-1] * 35, d, (5, 7)) for d in INTEGERS[1:]}
SHIFTS = {d: tensor(f"shifts.{d}", [i % 11 - (0 if d == "uint8" else 1) if i % 4 else i * 2 for i in range(35)], d, (5, 7)) for d in NUMBERS}
EXPONENTS = {d: tensor(f"exponents.{d}", [i % 6 for i in range(35)], d, (5, 7)) for d in INTEGERS}
COLUMN = {d: tensor(f"column.{d}", [0, -0.0, 1, -1, INF, -INF, NAN, 2.5, -3], d, (9, 1)) for d in FLOATS}
ROW = {d: tensor(f"row.{d}", [0, -0.0, 1, -1, INF, -INF, NAN, 0.5, -2], d, (9,)) for d in FLOATS}
# For all pairs of dtypes.
SMALL = {d: tensor(f"small.{d}", [1, 2, 3, 4, 5, 0], d, (2, 3)) for d in ALL}
SMALL_ROW = {d: tensor(f"small_row.{d}", [3, 1, 2], d, (3,)) for d in ALL}
NONZERO = {d: tensor(f"nonzero.{d}", [1, 2, 3, 4, 5, 6], d, (2, 3)) for d in ALL}
ONE = {d: tensor(f"one.{d}", 3, d) for d in ALL}
EMPTY = {d: tensor(f"empty.{d}", [], d, (0,)) for d in ALL}
EMPTY3 = {d: tensor(f"empty3.{d}", [], d, (2, 0, 3)) for d in ALL}
ALIKE = {d: tensor(f"alike.{d}", [2, 2, 2, 1, 1, 1], d, (2, 3)) for d in ALL}


def scalar(x):
    """A number as thorn reads it: whole ones are integers."""
    return int(x) if math.isfinite(x) and float(x).is_integer() else float(x)


# Rows: element by element


def shapes_of(function, before, after, oracle, dtype, **how):
    """A function of one operand on shapes of their own: 0-d, empty, alike along a dimension."""
    for operands in (ONE, EMPTY, EMPTY3, ALIKE):
        t = operands[dtype]
        expect(function, [R, *before, t, *after], oracle(t.value), options="each", **how)


def unary(function, oracle, dtypes=ALL, **how):
    for dtype in ALL:
        if dtype not in dtypes:
            refuse(function, [R, PLAIN[dtype]])
            continue
        for t in (EDGES[dtype], PLAIN[dtype]):
            expect(function, [R, t], oracle(t.value), options="each", **how)
        if dtype in SOME:
            shapes_of(function, [], [], oracle, dtype, **how)


def with_value(function, oracle, dtypes, values, operands=EDGES, before=False, after=(), promotes=True, **how):
    """A function of a tensor and a number, which stands before the tensor if `before` and may promote it."""

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
    """For functions of the reals: whole numbers become float32."""
    return lambda *operands: f(*(t if t.is_floating_point() else t.float() for t in operands))


def exactly(f, limit):
    """`f` by mpmath, one rounding at the end; at 0, infinities, NaN and poles it is `limit`, PyTorch's function."""

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


def number_of(dtype_like, x):
    """The number as the tensor's floats have it."""
    return torch.tensor(x, dtype=torch.float64).to(dtype_like.dtype)


def compared(f):
    """A comparison with a number: exact for whole ones, whatever the dtype."""
    return lambda t, x: f(t.long() if isinstance(x, int) and not t.is_floating_point() else t, x)


def shifted(left):
    """Shifts of floats are products with powers of two."""
    by_bits = torch.bitwise_left_shift if left else torch.bitwise_right_shift

    def oracle(a, b):
        b = b if isinstance(b, torch.Tensor) else torch.tensor(b)
        dtype = torch.result_type(a, b)
        if not dtype.is_floating_point:
            return by_bits(a, b)
        return (a.to(dtype) * torch.exp2(b.double() * (1 if left else -1)).to(torch.float64 if dtype == torch.float64 else torch.float32)).to(dtype)

    return oracle


def exactly_of_two(f, limit):
    """As `exactly`, of two operands; `limit` is NumPy's function."""

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


def nextafter(a, b):
    dtype = torch.promote_types(a.dtype, b.dtype)
    a, b = torch.broadcast_tensors(a.to(dtype), b.to(dtype))
    following = torch.from_numpy(numpy.nextafter(a.numpy(), b.numpy())) if dtype == torch.float16 else torch.nextafter(a, b)
    return torch.where(a == b, b, following)


def computed(dtype):
    """What numbers of a dtype are computed in."""
    return torch.float32 if dtype in (torch.float16, torch.bfloat16) else dtype


def by_formula(f):
    """A formula in the promoted dtype, 16-bit floats in float32, every step rounded."""

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
    return torch.pow(torch.as_tensor(a).double(), torch.as_tensor(b, dtype=None if isinstance(b, torch.Tensor) else torch.float64).double()).to(dtype)


def clamped(t, least, most):
    """Bounds saturate in integers."""
    dtype = t.dtype
    for bound in (least, most):
        dtype = torch.promote_types(dtype, torch.result_type(t, bound)) if bound is not None else dtype
    t = t.to(dtype)
    if not dtype.is_floating_point and dtype != torch.bool:
        ends = torch.iinfo(dtype)
        least, most = (x if x is None else min(max(x, ends.min), ends.max) for x in (least, most))
    t = t if least is None else torch.maximum(t, torch.tensor(least, dtype=dtype))
    return t if most is None else torch.minimum(t, torch.tensor(most, dtype=dtype))


def between(a, b, weight):
    near_a = a + weight * (b - a)
    near_b = b - (b - a) * (1 - weight)
    return torch.where(torch.as_tensor(weight).abs() < 0.5, near_a, near_b)


def divided(by_python, by_numpy):
    """Integers one by one, since PyTorch traps on the least one divided by -1; quotients wrap. PyTorch's remainders of floats are not exact."""

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
    ("rsqrt", lambda x: 1 / mpmath.sqrt(x), 2), ("exp", mpmath.exp, 2), ("exp2", lambda x: mpmath.power(2, x), 2), ("expm1", mpmath.expm1, 2),
    ("log", mpmath.log, 2), ("log1p", mpmath.log1p, 2), ("log2", lambda x: mpmath.log(x) / mpmath.log(2), 2), ("log10", mpmath.log10, 2),
    ("sin", mpmath.sin, 2), ("cos", mpmath.cos, 2), ("tan", mpmath.tan, 2), ("asin", mpmath.asin, 2), ("acos", mpmath.acos, 2),
    ("atan", mpmath.atan, 2), ("sinh", mpmath.sinh, 2), ("cosh", mpmath.cosh, 2), ("tanh", mpmath.tanh, 2),
    ("sigmoid", lambda x: 1 / (1 + mpmath.exp(-x)), 2), ("erf", mpmath.erf, 2), ("erfc", mpmath.erfc, 3), ("erfinv", mpmath.erfinv, 4),
    ("lgamma", lambda x: mpmath.loggamma(x).real, 4), ("digamma", mpmath.digamma, 4),
]


def functions():
    for name, f, ulps in FUNCTIONS:
        unary(name, exactly(f, getattr(torch, name)), ulps=ulps, more="abs=1e-15" if name == "lgamma" else "")
    unary("sqrt", exactly(mpmath.sqrt, torch.sqrt))
    unary("cinv", in_float(torch.reciprocal))
    gelu = exactly(lambda x: x * (1 + mpmath.erf(x / mpmath.sqrt(2))) / 2 if x > 0 else x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2, torch.nn.functional.gelu)
    unary("gelu", gelu, FLOATS, ulps=4)
    inner = lambda x: mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(0.044715) * x**3)
    gelu_tanh = exactly(lambda x: x / (1 + mpmath.exp(-2 * inner(x))), lambda t: torch.nn.functional.gelu(t, approximate="tanh"))
    # Far below 0 the exponential magnifies how its argument was rounded.
    unary("geluTanh", gelu_tanh, FLOATS, ulps=512)
    for n in (0, 1, 2, 3, 5):
        # At its poles PyTorch's trigamma is some large number.
        oracle = exactly(lambda x: mpmath.polygamma(n, x), lambda t: torch.digamma(t) if n == 0 else torch.tensor(INF if n % 2 else -INF))
        for dtype in ALL:
            expect("polygamma", [R, n, PLAIN[dtype]], oracle(PLAIN[dtype].value), options="each", ulps=64 if n > 1 else 8)
    for p in (1, 2, 4):
        for dtype in ALL:
            t = tensor(f"beyond{p}.{dtype}", [p + i % 9 for i in range(35)], dtype, (5, 7))
            total = lambda x: sum(mpmath.loggamma(x - mpmath.mpf(k) / 2) for k in range(p)) + p * (p - 1) * mpmath.log(mpmath.pi) / 4
            expect("mvlgamma", [R, t, p], exactly(total, lambda t: torch.tensor(INF))(t.value), options="each", ulps=8)
    refuse("polygamma", [R, -1, PLAIN["float32"]], ERR_ARGUMENT)
    refuse("mvlgamma", [R, PLAIN["float32"], 0], ERR_ARGUMENT)
    in_floats = {"atan2": (mpmath.atan2, 2), "hypot": (mpmath.hypot, 2), "logaddexp": (lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b)), 4)}
    for name, (f, ulps) in in_floats.items():
        binary(name, exactly_of_two(f, getattr(numpy, name)), ulps=ulps, pairs=name == "atan2")
    binary("copysign", lambda a, b: torch.copysign(a, torch.where(b.isnan(), 1, b)), pairs=False)
    binary("nextafter", nextafter, FLOATS)
    with_value("leakyRelu", torch.nn.functional.leaky_relu, FLOATS, [0.25, 0, -1.5], promotes=False)
    with_value("elu", lambda t, a: torch.where(t > 0, t.double(), a * torch.expm1(t.double())).to(t.dtype), FLOATS, [1, 0.5, -2], promotes=False, ulps=2)
    for dtype in ALL:
        for beta, threshold in [(1, 20), (2, 5), (0.5, 3)]:
            t = EDGES[dtype]
            if dtype in FLOATS:
                x = t.value.double()
                soft = torch.where(x * beta > threshold, x, torch.log1p(torch.exp(x * beta)) / beta).to(t.value.dtype)
                expect("softplus", [R, t, beta, threshold], soft, options="each", ulps=3)
            else:
                refuse("softplus", [R, t, beta, threshold])


def arithmetic():
    unary("neg", torch.neg, NUMBERS)
    unary("abs", torch.abs, NUMBERS)
    unary("sign", lambda t: torch.sign(t) + 0 if t.is_floating_point() else torch.sign(t))
    for name in ("floor", "ceil", "round", "trunc"):
        unary(name, getattr(torch, name), NUMBERS)
    unary("frac", lambda t: torch.where(t.isinf(), NAN, torch.frac(t)), FLOATS)
    unary("relu", torch.relu, NUMBERS, more="unsigned")
    unary("bitnot", torch.bitwise_not, WHOLE)
    for name in ("isnan", "isinf", "isfinite"):
        unary(name, getattr(torch, name))
    unary("logicalNot", torch.logical_not)

    for name, f in {"cmul": torch.mul, "cmax": torch.maximum, "cmin": torch.minimum}.items():
        binary(name, f, pairs=name != "cmin", more="unsigned")
    binary("cdiv", torch.div)
    for value in (1, 2, -3):
        binary("cadd", lambda a, b: combined(a, value, b), between=[value], pairs=value == 1)
        binary("csub", lambda a, b: combined(a, -value, b), NUMBERS, between=[value], pairs=False)
    binary("cadd", lambda a, b: combined(a, 0.5, b), FLOATS, between=[0.5], pairs=False)
    for name in ("and", "or", "xor"):
        binary(f"cbit{name}", getattr(torch, f"bitwise_{name}"), WHOLE, pairs=name == "and")
        binary(f"logical{name.title()}", getattr(torch, f"logical_{name}"), pairs=name == "xor")
        with_value(f"bit{name}", getattr(torch, f"bitwise_{name}"), WHOLE, [6, 1, 0, -1])
    binary("clshift", shifted(True), NUMBERS, right=SHIFTS)
    binary("crshift", shifted(False), NUMBERS, right=SHIFTS, pairs=False)
    with_value("lshift", shifted(True), NUMBERS, [0, 1, 3, 7, 8, 31, 63, 64, -1])
    with_value("rshift", shifted(False), NUMBERS, [0, 1, 3, 7, 8, 31, 63, 64, -1])
    binary("cpow", powers, NUMBERS, right={**EXPONENTS, **{d: RIGHT[d] for d in FLOATS}}, ulps=4)
    for name, f in {"add": torch.add, "sub": lambda t, x: t.to(torch.result_type(t, x)) - x, "mul": torch.mul}.items():
        with_value(name, f, ALL, [3, -2, 0, 0.5, INF, NAN])
    with_value("div", torch.div, ALL, [3, -2, 0, 0.5, INF])
    with_value("pow", powers, NUMBERS, [0, 1, 2, 3, 5, 0.5, 1.25], ulps=4)
    for dtype, x in itertools.product(FLOATS, [-1, -2, -0.5, INF, -INF, NAN]):
        expect("pow", [R, EDGES[dtype], x], powers(EDGES[dtype].value, x), options="each", ulps=4)
    with_value("tpow", lambda t, x: powers(torch.tensor(x), t), NUMBERS, [2, 1, 0.5], operands={**EXPONENTS, **{d: EDGES[d] for d in FLOATS}}, before=True, ulps=4)
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
    # A remainder of 0 has the sign of the dividend, as PyTorch's.
    modulo = divided(lambda a, b: a % b, lambda a, b: numpy.where((r := numpy.remainder(a, b)) == 0, numpy.copysign(r, a), r))
    for name, oracle in (("fmod", rest), ("remainder", modulo)):
        binary(f"c{name}", oracle, NUMBERS, right=DIVISORS, pairs=name == "remainder")
        with_value(name, oracle, NUMBERS, [3, -2, 0.75, INF])
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
        with_value(f"{name}Value", compared(f), ALL, [3, 0, -1, 300, 2.5, INF, -INF, NAN])
    for dtype in ALL:
        a, b = EDGES[dtype], PLAIN[dtype]
        for rtol, atol, nan in [(1e-5, 1e-8, 0), (0.5, 1, 1), (0, 0, 1)]:
            for x, y in [(a, a), (a, b)]:
                expect("isclose", [R, x, y, rtol, atol, nan], isclose(x.value, y.value, rtol, atol, bool(nan)), options="each")
                alike = isclose(x.value, y.value, rtol, atol, bool(nan)).all()
                expect("allclose", [x, y, rtol, atol, nan], ("returns", "int32", int(alike)))
        expect("equal", [b, b], ("returns", "int32", 1))
        expect("equal", [a, a], ("returns", "int32", int(torch.equal(a.value, a.value))))
        expect("equal", [a, ONE[dtype]], ("returns", "int32", 0))
        expect("equal", [EMPTY[dtype], EMPTY[dtype]], ("returns", "int32", 1))
    refuse("isclose", [R, a, b, -1, 0, 0], ERR_ARGUMENT)


def choice():
    MASK = {d: tensor(f"mask.{d}", [i % 3 == 1 for i in range(35)], d, (5, 7)) for d in ("bool", "uint8")}
    MASK_ROW = tensor("mask_row", [1, 0, 0, 1, 1, 0, 1], "bool", (7,))
    MASK3 = tensor("mask3", [0, 1, 1], "bool", (3,))
    for dtype in ALL:
        a, b = EDGES[dtype], PLAIN[dtype]
        for mask in (*MASK.values(), MASK_ROW):
            expect("where", [R, mask, a, b], torch.where(mask.value.bool(), a.value, b.value), options="each")
            expect("maskedFill", [Start(a), mask, 3], torch.masked_fill(a.value, mask.value.bool(), 3), options="each")
        expect("maskedFill", [Start(a), MASK_ROW, 0.5], torch.where(MASK_ROW.value, torch.tensor(0.5).to(a.value.dtype), a.value))
        expect("where", [R, MASK_ROW, a, ONE[dtype]], torch.where(MASK_ROW.value, a.value, ONE[dtype].value), options="each")
        for low, high in [(-2, 5), (0, 3), (4, 1), (-INF, 3), (1, INF), (-1.5, 2.5), (-300, 70000)]:
            least, most = None if low == -INF else low, None if high == INF else high
            expect("clamp", [R, a, low, high], clamped(a.value, least, most), options="each unsigned")
            if low <= high:
                expect("hardtanh", [R, a, low, high], clamped(a.value, least, most), options="each unsigned")
        refuse("hardtanh", [R, a, 3, 1], ERR_ARGUMENT)
        refuse("where", [R, PLAIN["int32"], a, b])
        refuse("maskedFill", [Start(a), PLAIN["float32"], 1])
    for a, b in itertools.permutations(ALL, 2):
        expect("where", [R, MASK3, SMALL[a], SMALL_ROW[b]], torch.where(MASK3.value, SMALL[a].value, SMALL_ROW[b].value), options="each")
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
        for weight in (0, 0.25, 0.5, 1, -2, 3.5) if dtype in FLOATS else ():
            oracle = by_formula(lambda a, b: between(a, b, weight))
            expect("lerp", [R, t, a, weight], oracle(t.value, a.value), options="each unsigned")
        if dtype in FLOATS:
            expect("lerpTensor", [R, a, t, b], by_formula(between)(a.value, t.value, b.value), options="each unsigned")
        else:
            refuse("addcdiv", [R, t, 1, a, b])
            refuse("lerp", [R, t, a, 0.5])
            refuse("lerpTensor", [R, t, a, b])
    refuse("addcmul", [R, PLAIN["bool"], 1, PLAIN["bool"], PLAIN["bool"]])
    for one, other in itertools.permutations(NUMBERS, 2):
        t, a, b = SMALL[one], SMALL_ROW[other], ONE[other]
        dtype = torch.result_type(torch.result_type(t.value, a.value) and t.value + a.value, b.value)
        expect("addcmul", [R, t, 2, a, b], t.value + 2 * a.value * b.value, options="each")


def callbacks():
    for dtype in SOME:
        a, b, row = PLAIN[dtype], EDGES[dtype], SMALL_ROW[dtype]
        t = SMALL[dtype]
        if dtype == "bool":
            continue
        expect("apply", [Start(t), Raw("&twice"), NULL], t.value * 2)
        expect("map", [Start(t), row, Raw("&difference"), NULL], t.value - row.value if dtype != "uint8" else (t.value.int() - row.value).clamp(0).to(torch.uint8))
        expect("map2", [Start(t), row, ONE[dtype], Raw("&product_sum"), NULL], t.value + row.value * ONE[dtype].value)


# Rows: reductions, scans, order

SHAPE = (3, 4, 5)


def sheet(dtype, seed=1):
    """A few numbers, many of them alike, both signs, multiples of 1/4."""
    modulus, shift, scale = (2, 0, 1) if dtype == "bool" else (23, 0, 1) if dtype == "uint8" else (23, -11, 0.25 if dtype in FLOATS else 1)
    return random(f"sheet{seed}.{dtype}", dtype, SHAPE, seed, modulus, shift, scale)


SHEET = {d: sheet(d) for d in ALL}
FACTORS = {d: random(f"factors.{d}", d, SHAPE, 3, *((3, 1, 0.5) if d in FLOATS else (3, 0 if d == "bool" else 1, 1))) for d in ALL}
LONG = {d: random(f"long.{d}", d, (59, 17), 7, *((2, 0, 1) if d == "bool" else (201, 0 if d == "uint8" else -100, 1))) for d in SOME}
LONGEST = {d: random(f"longest.{d}", d, (100003,), 11, 201, 0 if d == "uint8" else -100, 0.25 if d in FLOATS else 1) for d in ("uint8", "int64", "float32", "float64")}
# (dimension, keepdim)
DIMS = [(0, 0), (1, 1), (2, 0), (-1, 1), (-3, 0), (TH_ALL_DIMS, 0), (TH_ALL_DIMS, 1)]


def over(f, t, dim, keepdim):
    """`f(t, dim)`, which drops the dimension; all of them by way of a flat copy."""
    if dim != TH_ALL_DIMS:
        r = f(t, dim)
        return r.unsqueeze(dim % t.dim()) if keepdim and t.dim() else r
    r = f(t.flatten(), 0)
    return r.reshape([1] * t.dim()) if keepdim else r


def reduced(function, f, dtypes=ALL, before=(), after=(), operands=SHEET, empty=True, results=1, where=DIMS, **how):
    """A reduction over each dimension and all of them. `f(t, dim)` gives one tensor or, with `results`, several."""

    def one(t, dim, keepdim):
        parts = [over(lambda t, dim: f(t, dim)[k] if results > 1 else f(t, dim), t.value, dim, keepdim) for k in range(results)]
        expect(function, [*[MAYBE if results > 1 else R] * results, t, *before, dim, *after, keepdim], *parts, **how)

    for dtype in ALL:
        if dtype not in dtypes:
            refuse(function, [*[R] * results, SHEET[dtype], *before, 0, *after, 0])
            continue
        for dim, keepdim in where:
            one(operands[dtype], dim, keepdim)
        if dtype in FLOATS:
            one(EDGES[dtype], 0, 0)
            one(EDGES[dtype], 1, 0)
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
                refuse(function, [*[R] * results, EMPTY3[dtype], *before, 1, *after, 0], ERR_SHAPE)
        if dtype in LONGEST and operands is SHEET:
            one(LONGEST[dtype], 0, 0)
    refuse(function, [*[R] * results, SHEET[dtypes[0]], *before, 3, *after, 0], ERR_ARGUMENT)
    refuse(function, [*[R] * results, SHEET[dtypes[0]], *before, -4, *after, 0], ERR_ARGUMENT)


def in_double(f):
    """Floats by way of float64, rounded once; of anything else `f` itself."""
    return lambda t, *args: f(t.double(), *args).to(t.dtype) if t.is_floating_point() else f(t, *args)


def several(function, f, dtypes, operands=SHEET, dtype=False, before=(), after=(), **how):
    """A reduction over several dimensions: `f(t, dims, keepdim)`."""
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
    """Where the greatest element first is; NaN beats everything."""
    a = t.numpy() if t.dtype != torch.bfloat16 else t.float().numpy()
    return torch.as_tensor(numpy.argmax(a, dim) if largest else numpy.argmin(a, dim)).long()


def extreme(largest):
    def f(t, dim):
        if t.dim() == 0:
            return t, torch.tensor(0)
        where = first(t, dim, largest)
        return torch.take_along_dim(t, where.unsqueeze(dim), dim).squeeze(dim), where

    return f


def norm(p):
    def f(t, dim):
        if t.numel() == 0 and p in (INF, -INF):
            return torch.zeros(torch.sum(t, dim).shape, dtype=t.dtype)
        return torch.linalg.vector_norm(t, p, dim)

    return in_double(f)


def reductions():
    reduced("sum", in_double(torch.sum), ulps=1, more="unsigned")
    reduced("prod", in_double(torch.prod), operands=FACTORS, ulps=1)
    reduced("mean", in_double(torch.mean), FLOATS, ulps=1, more="unsigned")
    reduced("nansum", in_double(torch.nansum), ulps=1, more="unsigned")
    reduced("nanmean", in_double(torch.nanmean), FLOATS, ulps=1, more="unsigned")
    for biased, name in itertools.product((0, 1), ("var", "std")):
        f = getattr(torch, name)
        reduced(name, in_double(lambda t, dim: f(t, dim, correction=1 - biased)), FLOATS, after=[biased], ulps=8)
    for p in (2, 1, 0, 3, 0.5, INF, -INF, -1):
        reduced("norm", norm(p), FLOATS, before=[p], ulps=4, empty=p >= 0 and p != INF, where=DIMS if p == 2 else DIMS[:2])
    reduced("all", torch.all)
    reduced("any", torch.any)
    for name, largest in (("max", True), ("min", False)):
        reduced(name, extreme(largest), results=2, empty=False, more="unsigned")
        reduced(f"a{name}", lambda t, dim: extreme(largest)(t, dim)[0], empty=False, more="unsigned")
        reduced(f"arg{name}", lambda t, dim: extreme(largest)(t, dim)[1], empty=False)
    reduced("aminmax", lambda t, dim: (extreme(False)(t, dim)[0], extreme(True)(t, dim)[0]), results=2, empty=False, more="unsigned")
    reduced("logsumexp", lambda t, dim: in_double(lambda t, dim: torch.logsumexp(t, dim))(t if t.is_floating_point() else t.float(), dim), ulps=2, more="abs=1e-7")

    several("sumDims", lambda t, dims, keep: in_double(lambda t: torch.sum(t, dims, keep))(t), ALL, dtype=True, ulps=1)
    several("nansumDims", lambda t, dims, keep: in_double(lambda t: torch.nansum(t, dims, keep))(t), ALL, dtype=True, ulps=1)
    several("meanDims", lambda t, dims, keep: in_double(lambda t: torch.mean(t, dims, keep))(t), FLOATS, dtype=True, ulps=1)
    several("nanmeanDims", lambda t, dims, keep: in_double(lambda t: torch.nanmean(t, dims, keep))(t), FLOATS, ulps=1)
    several("prodDims", lambda t, dims, keep: in_double(product_over)(t, dims, keep), ALL, operands=FACTORS, dtype=True, ulps=1)
    several("amaxDims", torch.amax, ALL)
    several("aminDims", torch.amin, ALL)
    several("allDims", torch.all, ALL)
    several("anyDims", torch.any, ALL)
    for name in ("var", "std"):
        f = getattr(torch, name)
        several(f"{name}Dims", lambda t, dims, keep: in_double(lambda t: f(t, dims, keepdim=keep))(t), FLOATS, after=[0], ulps=2)
        for dtype in FLOATS:
            for biased in (0, 1):
                value = f(SHEET[dtype].value.double(), correction=1 - biased).to(SHEET[dtype].value.dtype).item()
                expect(f"{name}all", [SHEET[dtype], biased], ("returns", dtype, value), ulps=2)
    several("normDims", lambda t, dims, keep: in_double(lambda t: torch.linalg.vector_norm(t, 2, dims, keep))(t), FLOATS, before=[2.0], dtype=True, ulps=2)
    several("logsumexpDims", lambda t, dims, keep: in_double(lambda t: torch.logsumexp(t, dims, keep))(t if t.is_floating_point() else t.float()), ALL, ulps=2)
    numbers_of_all()


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
    def one(t, dim, every=1):
        parts = f(t.value, dim)
        expect(function, [*[MAYBE if results > 1 else R] * results, t, dim], *(parts if results > 1 else [parts]), every=every, **how)

    for dtype in ALL:
        if dtype not in dtypes:
            refuse(function, [*[R] * results, SHEET[dtype], 0])
            continue
        for dim in (0, 1, -1):
            one(operands[dtype], dim)
        if dtype in FLOATS:
            one(EDGES[dtype], 0)
            one(EDGES[dtype], 1)
        if dtype in SOME:
            for t in (ONE, EMPTY, EMPTY3, ALIKE):
                one(t[dtype], 0)
            if operands is SHEET:
                one(LONG[dtype], 0, 17)
                one(LONG[dtype], 1, 17)
        if dtype in LONGEST and operands is SHEET and dtype in dtypes:
            one(LONGEST[dtype], 0, 5003)
    refuse(function, [*[R] * results, SHEET[dtypes[0]], 3], ERR_ARGUMENT)


def scans():
    scanned("cumsum", in_double(torch.cumsum), ulps=1)
    scanned("cumprod", in_double(torch.cumprod), operands=FACTORS, ulps=1)
    scanned("cummax", torch.cummax, results=2, more="unsigned")
    scanned("cummin", torch.cummin, results=2, more="unsigned")
    scanned("softmax", in_double(torch.softmax), FLOATS, ulps=4)
    scanned("logSoftmax", in_double(torch.log_softmax), FLOATS, ulps=4, more="abs=1e-7")
    scanned("logcumsumexp", in_double(torch.logcumsumexp), FLOATS, ulps=4, more="abs=1e-7")
    for dtype in ALL:
        for p, dim, most in ((2, 0, 5), (1, 1, 20), (3.5, 2, 4), (INF, -1, 1), (2, 0, 1e6)):
            t = SHEET[dtype]
            if dtype in FLOATS:
                expect("renorm", [R, t, p, dim, most], torch.renorm(t.value.double(), p, dim % 3, most).to(t.value.dtype), ulps=2)
            else:
                refuse("renorm", [R, t, p, dim, most])


def sorted_line(values):
    """Values in ascending order with their places, equal ones in order of place; NaN last."""
    return sorted(range(len(values)), key=lambda i: (math.isnan(values[i]), 0 if math.isnan(values[i]) else values[i], i))


def by_line(choose):
    """For `choose(values)`, the place of an element in a line."""

    def f(t, dim):
        if t.dim() == 0:
            return t, torch.tensor(0)
        lines_of_t = t.movedim(dim, -1)
        flat = lines_of_t.reshape(-1, t.shape[dim])
        places = torch.tensor([choose(line.tolist()) for line in flat], dtype=torch.int64).reshape(lines_of_t.shape[:-1])
        values = torch.take_along_dim(lines_of_t, places.unsqueeze(-1), -1).squeeze(-1)
        return values, places

    return f


def kth(k):
    return lambda line: sorted_line(line)[k - 1]


def median(line):
    order = sorted_line(line)
    return order[-1 if False else (len(line) - 1) // 2] if not any(map(math.isnan, line)) else next(i for i, x in enumerate(line) if math.isnan(x))


def nanmedian(line):
    count = sum(not math.isnan(x) for x in line)
    return sorted_line(line)[(count - 1) // 2] if count else 0


def mode(line):
    counts = collections.Counter(x for x in line if not math.isnan(x))
    if not counts:
        return 0
    best = min(counts, key=lambda x: (-counts[x], x))
    return max(i for i, x in enumerate(line) if x == best)


INTERPOLATIONS = ["linear", "lower", "higher", "midpoint", "nearest"]


def quantile(f, q, how):
    """16-bit floats by way of float32."""

    def oracle(t, dim):
        wide = t if t.dtype == torch.float64 else t.float()
        return f(wide, torch.as_tensor(q, dtype=wide.dtype), dim, interpolation=how).to(t.dtype)

    return oracle


def order():
    for k in (1, 2, 3):
        reduced("kthvalue", by_line(kth(k)), NUMBERS, before=[k], results=2, empty=False, more="unsigned", where=DIMS[:6] if k == 2 else DIMS[:2]) if k < 2 else kth_rows(k)
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
        for name, f in (("quantiles", torch.quantile), ("nanquantiles", torch.nanquantile)):
            q = tensor(f"{name}.{dtype}", [0, 0.25, 1], dtype)
            expect(name, [R, t, q, 1, 0, 0], quantile(f, q.value.tolist(), "linear")(t.value, 1), ulps=1)
            expect(name, [R, EDGES[dtype], q, 1, 0, 1], quantile(f, q.value.tolist(), "lower")(EDGES[dtype].value, 1), ulps=1)
        refuse("quantile", [R, t, 1.5, 0, 0, 0], ERR_ARGUMENT)
        refuse("quantile", [R, t, 0.5, 0, 0, 9], ERR_ARGUMENT)
        refuse("quantile", [R, EMPTY[dtype], 0.5, 0, 0, 0], ERR_SHAPE)
        for bins, low, high in ((4, -1, 1), (10, 0, 0), (7, -2.5, 2.75), (100, -3, 3)):
            expect("histc", [R, t, bins, low, high], torch.histc(t.value.to(computed(t.value.dtype)), bins, low, high).to(t.value.dtype))
            least, most = (low, high) if low != high else (t.value.min().item(), t.value.max().item())
            rows = [torch.histc(row.to(computed(row.dtype)), bins, least, most) for row in t.value.reshape(-1, 5)]
            expect("bhistc", [R, t, bins, low, high], torch.stack(rows).reshape(3, 4, bins).to(t.value.dtype))
        refuse("histc", [R, t, 0, 0, 1], ERR_ARGUMENT)
        refuse("histc", [R, t, 4, 2, 1], ERR_ARGUMENT)
    counting()


def kth_rows(k):
    for dtype in NUMBERS:
        t = SHEET[dtype]
        for dim, keepdim in DIMS[:6]:
            parts = [over(lambda t, dim: by_line(kth(k))(t, dim)[i], t.value, dim, keepdim) for i in range(2)]
            expect("kthvalue", [MAYBE, MAYBE, t, k, dim, keepdim], *parts, options="unsigned")
        refuse("kthvalue", [R, R, t, 0, 0, 0], ERR_ARGUMENT)
        refuse("kthvalue", [R, R, t, 4, 0, 0], ERR_ARGUMENT)


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


# Rows: creation


def made(function, arguments, result, dtypes=ALL, typed_only=False, **how):
    """A tensor made of numbers: fresh, and in a result of each dtype."""
    options = how.pop("options", "any keeps")
    if not typed_only:
        expect(function, [R, *arguments], result, options=options, **how)
    for dtype in dtypes:
        expect(function, [Given(dtype), *arguments], result.to(getattr(torch, dtype)), options=options, **how)


def creation():
    for size in ([], [0], [3], [2, 0, 3], [2, 3]):
        made("zeros", [len(size), size or NULL], torch.zeros(size), options="any")
        made("ones", [len(size), size or NULL], torch.ones(size), options="any")
    made("full", [2, [2, 3], 7], torch.full((2, 3), 7), options="any")
    made("full", [1, [3], 2.5], torch.full((3,), 2.5), options="any")
    refuse("zeros", [R, 1, [-1]], ERR_SHAPE)
    refuse("ones", [R, 2, [2**40, 2**40]], ERR_SHAPE)
    for dtype in ALL:
        for t in (SHEET[dtype], ONE[dtype], EMPTY3[dtype]):
            expect("zerosLike", [R, t], torch.zeros_like(t.value), options="any")
            expect("onesLike", [R, t], torch.ones_like(t.value), options="any")
            expect("fullLike", [R, t, 3], torch.full_like(t.value, 3), options="any")
    for start, end, step in ((0, 7, 1), (3, -8, -2), (5, 5, 1), (-100, 100, 7), (0, 1003, 1)):
        sparse = {"every": 17} if end > 1000 else {}
        wide = ["float32", "float64", "int32", "int64"]
        made("arange", [start, end, step], torch.arange(start, end, step), NUMBERS if (start, step) == (0, 1) and end < 100 else wide, **sparse)
        made("range", [start, end, step], torch.arange(start, end + (1 if step > 0 else -1), step).float(), wide, **sparse)
    for start, end, step in ((0, 1, 0.25), (0.5, -3, -0.75), (0, 1, 0.1)):
        made("arange", [start, end, step], torch.arange(start, end, step, dtype=torch.float64).float(), ["float64"] if step == 0.25 else [], ulps=1)
    for bad in ((0, 1, 0), (0, 1, -1), (1, 0, 1), (0, INF, 1), (NAN, 1, 1)):
        refuse("arange", [R, *bad], ERR_ARGUMENT)
        refuse("range", [R, *bad], ERR_ARGUMENT)
    for start, end, n in ((0, 1, 5), (-3, 7, 11), (2, 2, 4), (5, 1, 1), (0, 1, 0), (-1, 1, 1003)):
        for name, f, bound in (("linspace", numpy.linspace, 2), ("logspace", numpy.logspace, 4)):
            values = torch.from_numpy(f(start, end, n))
            every = 17 if n > 100 else 1
            expect(name, [R, start, end, n], values.float(), options="keeps abs=1e-7", ulps=bound, every=every)
            for dtype in FLOATS:
                expect(name, [Given(dtype), start, end, n], values.to(getattr(torch, dtype)), options="keeps abs=1e-7", ulps=bound, every=every)
    expect("logspaceBase", [R, 0, 8, 2, 9], 2.0 ** torch.arange(9), options="keeps", ulps=2)
    refuse("linspace", [R, 0, 1, -1], ERR_ARGUMENT)
    for n, m in ((3, 3), (2, 4), (4, 2), (0, 3)):
        made("eye", [n, m], torch.eye(n, m), options="any")
    matrices()


def matrices():
    for dtype in ALL:
        t, matrix = SHEET[dtype], EDGES[dtype]
        vector = tensor(f"vector.{dtype}", [1, 0, 1, 1], dtype)
        for k in (0, 1, -2, 9):
            for name in ("tril", "triu"):
                f = getattr(torch, name)
                expect(name, [R, t if k else matrix, k], f((t if k else matrix).value, k))
            expect("diag", [R, vector, k], torch.diag(vector.value, k))
            if k < 7:
                expect("diag", [R, matrix, k], torch.diag(matrix.value, k))
                expect("diagonal", [R, matrix, k, 0, 1], torch.diagonal(matrix.value, k), options="fresh")
        expect("diagEmbed", [R, t, 1, 0, -1], torch.diag_embed(t.value, 1, 0, -1))
        expect("diagEmbed", [R, vector, -2, 0, 1], torch.diag_embed(vector.value, -2))
        total = torch.trace(SMALL[dtype].value.double()).item()
        expect("trace", [SMALL[dtype]], ("returns", "float64", total))
        expect("cartesianProd", [R, (vector, vector), 2], torch.cartesian_prod(vector.value, vector.value))
        for indexing in ("ij", "xy"):
            grids = torch.meshgrid(vector.value, SMALL_ROW[dtype].value, indexing=indexing)
            expect("meshgrid", [(R, R), (vector, SMALL_ROW[dtype]), 2, Raw(f'"{indexing}"')], *grids, options="fresh")
        if dtype in INTEGERS:
            expect("oneHot", [R, SMALL[dtype], -1], torch.nn.functional.one_hot(SMALL[dtype].value.long()), options="any")
            expect("oneHot", [R, SMALL[dtype], 8], torch.nn.functional.one_hot(SMALL[dtype].value.long(), 8), options="any")
            refuse("oneHot", [R, SMALL[dtype], 3], ERR_ARGUMENT)
        elif dtype in FLOATS:
            refuse("oneHot", [R, SMALL[dtype], -1])
        if dtype != "bool":
            for n, increasing in ((-1, 0), (3, 1)):
                columns = torch.vander(SMALL_ROW[dtype].value, None if n < 0 else n, bool(increasing)).to(SMALL_ROW[dtype].value.dtype)
                expect("vander", [R, SMALL_ROW[dtype], n, increasing], columns if dtype in FLOATS else columns.long())
    for rows, cols, offset in ((3, 4, 0), (4, 3, -1), (2, 5, 2), (0, 3, 0)):
        made("trilIndices", [rows, cols, offset], torch.tril_indices(rows, cols, offset), ["int32"], options="any")
        made("triuIndices", [rows, cols, offset], torch.triu_indices(rows, cols, offset), ["int32"], options="any")


def main():
    rows = [functions, arithmetic, division, comparison, choice, three_operands, callbacks, reductions, scans, order, creation]
    for row in rows:
        row()
    with open(OUT, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
