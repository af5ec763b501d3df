#!/usr/bin/env python3
"""The largest errors of the functions of float64, through the exported functions, against mpmath.

    python3 -m venv .venv && .venv/bin/pip install mpmath
    .venv/bin/python scripts/accuracy.py [--library FILE] [--values N] [--write] [NAME ...]

Tries N values (2000 by default) in each range of a function, as many over all exponents, the special values, and some next to each of the
function's points: zeros, poles, ends of the domain. Functions of two arguments get 5 N pairs. `--write` writes the errors to
docs/accuracy.md. TH_SIMD selects the instruction set. The exit status is 1 if an error exceeds its limit.
"""

import argparse
import ctypes
import math
import os
import random
import struct
import sys

import mpmath
from mpmath import mp, mpf

HERE = os.path.dirname(os.path.abspath(__file__))
REPORT = os.path.join(HERE, "..", "docs", "accuracy.md")
FLOAT64 = 9
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 5e-324, -5e-324, 2.0**-1022, 1e-310, -1e-310]
SPECIAL += [sys.float_info.max, -sys.float_info.max]
GAMMA_POLES = [-float(n) for n in range(1, 25)]

mp.prec = 200


def beyond(f, *limits):
    """`f` where it is defined. `limits` are its values at -inf and inf; outside of its domain it is NaN."""

    def at(x):
        if math.isnan(x):
            return mpf("nan")
        if math.isinf(x):
            return mpf(limits[x > 0])
        try:
            y = f(mpf(x))
        except (ValueError, ZeroDivisionError):
            return None
        return y if y is None or isinstance(y, mpf) else mpf("nan")

    return at


def erfc(x):
    """erfc, except for arguments at which mpmath overflows: beyond 30 the nearest float64 is 0, beyond -30 it is 2."""
    return mp.erfc(x) if abs(x) < 30 else mpf(1 - mp.sign(x))


def between_zeros(f):
    """With enough digits for differences of large numbers."""

    def at(x):
        with mp.workprec(350):
            return f(x)

    return at


def log_gamma(x):
    return mpf("inf") if x <= 0 and x == mp.floor(x) else mp.log(abs(mp.gamma(x))) if abs(x) < 1000 else mp.loggamma(x).real


def psi(n):
    def at(x):
        if x <= 0 and x == mp.floor(x):
            # The value of digamma at 0 depends on the sign of 0.
            return mpf("inf" if n % 2 else "-inf") if n else None if x == 0 else mpf("nan")
        return mp.psi(n, x)

    return at


def inverse_erf(x):
    if abs(x) >= 1:
        return x * mpf("inf") if abs(x) == 1 else mpf("nan")
    return mp.erfinv(x) if x else x


def inverse_tanh(x):
    if abs(x) >= 1:
        return x * mpf("inf") if abs(x) == 1 else mpf("nan")
    return mp.atanh(x)


def softplus(x):
    return x if x > 20 else mp.log1p(mp.exp(x))


def gelu_tanh(x):
    return x / (1 + mp.exp(-2 * mp.sqrt(2 / mp.pi) * (x + mpf("0.044715") * x**3)))


def log_or_inf(f, least=0):
    return lambda x: f(x) if x > least else mpf("-inf") if x == least else mpf("nan")


NAN, INF = "nan", "inf"
# name: function, values at -inf and inf, limit, ranges, points
ROWS = {
    "sqrt": (mp.sqrt, (NAN, INF), 0.5, [(0, 4)], []),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), (NAN, 0), 2, [(0, 4)], []),
    "exp": (mp.exp, (0, INF), 2, [(-745, 710), (-2, 2)], []),
    "exp2": (lambda x: mpf(2) ** x, (0, INF), 2, [(-1075, 1024), (-2, 2)], []),
    "expm1": (mp.expm1, (-1, INF), 2, [(-40, 710), (-2, 2)], []),
    "log": (log_or_inf(mp.log), (NAN, INF), 2, [(0, 4), (0.9, 1.1)], [1.0]),
    "log2": (log_or_inf(lambda x: mp.log(x, 2)), (NAN, INF), 2, [(0, 4), (0.9, 1.1)], [1.0]),
    "log10": (log_or_inf(lambda x: mp.log(x, 10)), (NAN, INF), 2, [(0, 4), (0.9, 1.1)], [1.0]),
    "log1p": (log_or_inf(mp.log1p, -1), (NAN, INF), 2, [(-1, 4), (-0.1, 0.1)], [-1.0]),
    "sin": (mp.sin, (NAN, NAN), 2, [(-10, 10), (-1e9, 1e9)], [math.pi * k / 2 for k in range(1, 50)]),
    "cos": (mp.cos, (NAN, NAN), 2, [(-10, 10), (-1e9, 1e9)], [math.pi * k / 2 for k in range(1, 50)]),
    "tan": (mp.tan, (NAN, NAN), 2, [(-10, 10), (-1e9, 1e9)], [math.pi * k / 2 for k in range(1, 50)]),
    "asin": (mp.asin, (NAN, NAN), 2, [(-1, 1)], [1.0, -1.0, 0.5]),
    "acos": (mp.acos, (NAN, NAN), 2, [(-1, 1)], [1.0, -1.0, 0.5]),
    "atan": (mp.atan, (-mp.pi / 2, mp.pi / 2), 2, [(-1, 1), (-5, 5)], []),
    "sinh": (mp.sinh, ("-inf", INF), 2, [(-5, 5), (-711, 711)], []),
    "cosh": (mp.cosh, (INF, INF), 2, [(-5, 5), (-711, 711)], []),
    "tanh": (mp.tanh, (-1, 1), 2, [(-1, 1), (-20, 20)], []),
    "asinh": (mp.asinh, ("-inf", INF), 2, [(-1, 1), (-20, 20)], []),
    "acosh": (lambda x: mp.acosh(x) if x >= 1 else mpf("nan"), (NAN, INF), 2, [(1, 2), (1, 1000)], [1.0]),
    "atanh": (inverse_tanh, (NAN, NAN), 2, [(-1, 1), (-0.1, 0.1)], [1.0, -1.0, 0.5]),
    "sinc": (mp.sincpi, (NAN, NAN), 2, [(-1, 1), (-20, 20)], [1.0, 2.0, 3.0, 17.0, 0.5, 1.5]),
    "sigmoid": (lambda x: 1 / (1 + mp.exp(-x)), (0, 1), 2, [(-40, 40), (-746, 0)], []),
    "softplus": (softplus, (0, INF), 2, [(-5, 5), (-746, 25)], []),
    "silu": (lambda x: x / (1 + mp.exp(-x)), ("-0", INF), 3, [(-5, 5), (-752, 40)], []),
    "mish": (lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), ("-0", INF), 2, [(-5, 5), (-752, 40)], []),
    "erf": (mp.erf, (-1, 1), 2, [(-1, 1), (-6, 6)], []),
    "erfc": (erfc, (2, 0), 2, [(-6, 6), (0, 28)], []),
    "erfinv": (inverse_erf, (NAN, NAN), 4, [(-1, 1)], [1.0, -1.0]),
    "gelu": (lambda x: x * erfc(-x / mp.sqrt(2)) / 2, (NAN, INF), 7, [(-4, 4), (-38, 0)], []),
    "geluTanh": (gelu_tanh, (NAN, INF), 2, [(-4, 4), (-22, 0)], []),
    "lgamma": (between_zeros(log_gamma), (INF, INF), 4, [(-4, 4), (-30, 60)],
               [*GAMMA_POLES, 1.0, 2.0, -2.4570247382208006, -2.7476826467274126]),
    "digamma": (between_zeros(psi(0)), (NAN, INF), 2, [(-4, 4), (-30, 60)],
                [1.4616321449683622, -0.5040830082644554, -1.5734984731623904, -100.8282]),
    "trigamma": (psi(1), (INF, 0), 2, [(-4, 4), (-30, 60)], []),
    "polygamma 2": (between_zeros(psi(2)), ("-inf", "-0"), 4, [(-4, 4), (0, 30)], []),
    "polygamma 3": (psi(3), (INF, 0), 4, [(-4, 4), (0, 30)], []),
}


def around(chance):
    """Two numbers of any sign: of nearly the same magnitude, or of very different ones."""
    x = chance.choice([-1, 1]) * 2.0 ** chance.uniform(-40, 40)
    spread = chance.choice([2.0**-20, 0.05, 0.7, 8, 60])
    return chance.choice([-1, 1]) * x * 2.0 ** chance.uniform(-spread, spread), x


def base_and_exponent(chance):
    """For powers from 2^-1000 to 2^1000, with some bases near 1."""
    x = 2.0 ** chance.choice([chance.uniform(-1000, 1000), chance.uniform(-2, 2), chance.uniform(-1e-6, 1e-6)])
    return x, chance.uniform(-1000, 1000) / max(abs(math.log2(x)), 1e-9)


# name: function, its name in C, limit, operands
PAIRS = {
    "atan2": (mp.atan2, "atan2", 2, around),
    "hypot": (mp.hypot, "hypot", 2, around),
    "pow": (mp.power, "cpow", 4, base_and_exponent),
}
# Arguments of the call before and after the tensors.
BEFORE = {"trigamma": (ctypes.c_int64(1),), "polygamma 2": (ctypes.c_int64(2),), "polygamma 3": (ctypes.c_int64(3),)}
AFTER = {"softplus": (ctypes.c_double(1), ctypes.c_double(20))}


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.THTensor_newWithSize1d.restype = self.c.THTensor_data.restype = ctypes.c_void_p

    def call(self, name, *operands):
        of = PAIRS[name][1] if name in PAIRS else {"trigamma": "polygamma"}.get(name, name.split()[0])
        count = len(operands[0])
        tensors = [ctypes.c_void_p(self.c.THTensor_newWithSize1d(FLOAT64, ctypes.c_int64(count))) for _ in range(1 + len(operands))]
        data = ctypes.c_double * count
        for tensor, values in zip(tensors[1:], operands):
            data.from_address(self.c.THTensor_data(tensor))[:] = values
        r, *inputs = tensors
        status = getattr(self.c, f"THTensor_{of}")(r, *BEFORE.get(name, ()), *inputs, *AFTER.get(name, ()))
        values = list(data.from_address(self.c.THTensor_data(r)))
        for tensor in tensors:
            self.c.THTensor_free(tensor)
        assert status == 0, name
        return values


def values(ranges, points, n):
    chance = random.Random(1)
    xs = SPECIAL + [chance.choice([-1, 1]) * 2.0 ** chance.uniform(-60, 10) for _ in range(n)]
    xs += [x for x in (struct.unpack("d", chance.randbytes(8))[0] for _ in range(n // 10)) if x == x]
    for low, high in ranges:
        xs += [chance.uniform(low, high) for _ in range(n)]
    for point in points:
        xs += [point] + [point * (1 + 2.0 ** chance.uniform(-53, -5) * chance.choice([-1, 1])) for _ in range(n // 40)]
    return xs


def error(got, exact):
    """In units in the last place; infinity counts as 2^1024."""
    if mpmath.isnan(exact) or math.isnan(got):
        return 0.0 if mpmath.isnan(exact) and math.isnan(got) else math.inf
    end = mpf(2) ** 1024
    exact = max(-end, min(end, exact))
    got = max(-end, min(end, mpf(got)))
    exponent = max(min(int(mp.floor(mp.log(abs(exact), 2))), 1023), -1022) if exact else -1022
    return float(abs(got - exact) / mpf(2) ** (exponent - 52))


def measure(library, name, n):
    f, limits, _, ranges, points = ROWS[name]
    f, worst = beyond(f, *limits), (0.0, 0.0)
    xs = values(ranges, points, n)
    for x, got in zip(xs, library.call(name, xs)):
        exact = f(x)
        if exact is not None:
            worst = max(worst, (error(got, exact), x))
    return *worst, len(xs)


def measure_pairs(library, name, n):
    f, _, _, operands = PAIRS[name]
    chance = random.Random(1)
    # Five times as many as in one range of a function of one argument, because pairs fill a plane.
    pairs = [operands(chance) for _ in range(5 * n)]
    got = library.call(name, *map(list, zip(*pairs)))
    return *max((error(y, f(*map(mpf, pair))), pair) for pair, y in zip(pairs, got)), len(pairs)


def note(name, level, largest, at, n):
    """Writes a line of the report's table. It replaces the line of the same function, dtype and instruction set, as in
    benches/accuracy.rs."""
    key = f"| {name} | float64 | {level} |"
    with open(REPORT) as file:
        lines = file.read().splitlines()
    table = [line for line in lines if line.startswith("| ") and not line.startswith("| function")]
    head = [line for line in lines if line not in table]
    table = sorted([line for line in table if not line.startswith(key)] + [f"{key} {largest:.2f} | {at!r} | {n} |"])
    with open(REPORT, "w") as file:
        file.write("\n".join(head + table) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", default=os.path.join(HERE, "..", "target", "release", "libthorn.so"))
    parser.add_argument("--values", type=int, default=2000)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    library, ok = Library(given.library), True
    # The default is the machine's widest.
    level = os.environ.get("TH_SIMD", "avx512")
    for name in given.names or [*ROWS, *PAIRS]:
        largest, at, n = (measure_pairs if name in PAIRS else measure)(library, name, given.values)
        limit = (PAIRS if name in PAIRS else ROWS)[name][2]
        verdict = "ok" if largest <= limit + 0.01 else "MISS"
        print(f"{name:12} {largest:9.4f} ulp at {str(at):<24} of {n} limit {limit} {verdict}", flush=True)
        ok &= largest <= limit + 0.01
        if given.write:
            note(name, level, largest, at, n)
    sys.exit(not ok)


if __name__ == "__main__":
    main()
