#!/usr/bin/env python3
"""Writes tests/data/expectations.txt, what c_tests/table.lua expects of thorn, as PyTorch, NumPy and mpmath compute it.

    python3 -m venv oracle && oracle/bin/pip install torch==2.15.0 numpy==2.4.6 mpmath
    oracle/bin/python scripts/expectations.py

Always writes the same file. An operation is one line here: its function in C, what PyTorch calls it (or a function that computes it), and the
dtypes it takes; it must refuse the others. c_tests/table.lua explains the lines of the file and lays out operands and results.
"""

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


@functools.cache
def text_of_float(x, dtype):
    """The fewest digits that give `x` in `dtype`."""
    if not math.isfinite(x) or x == 0:
        return {"inf": "inf", "-inf": "-inf", "nan": "nan", "0.0": "0", "-0.0": "-0"}[str(x)]
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
    """`f` by mpmath, one rounding at the end; at 0, infinities and NaN it is `limit`, PyTorch's function."""

    def at(x):
        if x == 0 or not math.isfinite(x):
            return limit(torch.tensor(x, dtype=torch.float64)).item()
        try:
            y = f(mpmath.mpf(x))
        except OverflowError:
            return limit(torch.tensor(x, dtype=torch.float64)).item()
        except (ValueError, ZeroDivisionError, mpmath.libmp.libhyper.NoConvergence):
            return NAN
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
    """As exactly, of two operands."""

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
    ("lgamma", lambda x: mpmath.loggamma(x).real if x > 0 or x != mpmath.floor(x) else mpmath.inf, 4), ("digamma", mpmath.digamma, 4),
]


def functions():
    for name, f, ulps in FUNCTIONS:
        unary(name, exactly(f, getattr(torch, name)), ulps=ulps)
    unary("sqrt", exactly(mpmath.sqrt, torch.sqrt))
    unary("cinv", in_float(torch.reciprocal))
    gelu = exactly(lambda x: x * (1 + mpmath.erf(x / mpmath.sqrt(2))) / 2 if x > 0 else x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2, torch.nn.functional.gelu)
    unary("gelu", gelu, FLOATS, ulps=4)
    inner = lambda x: mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(0.044715) * x**3)
    gelu_tanh = exactly(lambda x: x / (1 + mpmath.exp(-2 * inner(x))), lambda t: torch.nn.functional.gelu(t, approximate="tanh"))
    unary("geluTanh", gelu_tanh, FLOATS, ulps=4)
    for n in (0, 1, 2, 3, 5):
        for dtype in ALL:
            t = PLAIN[dtype]
            oracle = exactly(lambda x: mpmath.polygamma(n, x), lambda t: torch.polygamma(n, t))
            expect("polygamma", [R, n, t], oracle(t.value), options="each", ulps=8)
    for p in (1, 2, 4):
        for dtype in ALL:
            t = tensor(f"beyond{p}.{dtype}", [p + i % 9 for i in range(35)], dtype, (5, 7))
            total = lambda x: sum(mpmath.loggamma(x - mpmath.mpf(k) / 2) for k in range(p)) + p * (p - 1) * mpmath.log(mpmath.pi) / 4
            expect("mvlgamma", [R, t, p], exactly(total, torch.lgamma)(t.value), options="each", ulps=8)
    refuse("polygamma", [R, -1, PLAIN["float32"]], ERR_ARGUMENT)
    refuse("mvlgamma", [R, PLAIN["float32"], 0], ERR_ARGUMENT)
    in_floats = {"atan2": (mpmath.atan2, 2), "hypot": (mpmath.hypot, 2), "logaddexp": (lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b)), 4)}
    for name, (f, ulps) in in_floats.items():
        binary(name, exactly_of_two(f, getattr(numpy, name, None) or numpy.arctan2), ulps=ulps)
    binary("copysign", lambda a, b: torch.copysign(a, torch.where(b.isnan(), 1, b)))
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
        binary(name, f, more="unsigned")
    binary("cdiv", torch.div)
    for value in (1, 2, -3):
        binary("cadd", lambda a, b: combined(a, value, b), between=[value], pairs=value == 1)
        binary("csub", lambda a, b: combined(a, -value, b), NUMBERS, between=[value], pairs=value == 1)
    binary("cadd", lambda a, b: combined(a, 0.5, b), FLOATS, between=[0.5], pairs=False)
    for name in ("and", "or", "xor"):
        binary(f"cbit{name}", getattr(torch, f"bitwise_{name}"), WHOLE)
        binary(f"logical{name.title()}", getattr(torch, f"logical_{name}"))
        with_value(f"bit{name}", getattr(torch, f"bitwise_{name}"), WHOLE, [6, 1, 0, -1])
    binary("clshift", shifted(True), NUMBERS, right=SHIFTS)
    binary("crshift", shifted(False), NUMBERS, right=SHIFTS)
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
    modulo = divided(lambda a, b: a % b, numpy.remainder)
    for name, oracle in (("fmod", rest), ("remainder", modulo)):
        binary(f"c{name}", oracle, NUMBERS, right=DIVISORS)
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
        binary(f"{name}Tensor", f)
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


def main():
    rows = [functions, arithmetic, division, comparison, choice, three_operands, callbacks]
    for row in rows:
        row()
    with open(OUT, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
